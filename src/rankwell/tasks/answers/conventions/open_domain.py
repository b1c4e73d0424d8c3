"""Open-domain answers: NQ-open, TriviaQA, DPR and KILT."""

from rankwell.conventions import Convention, convention
from rankwell.tasks.answers.conventions import AnswerConvention

# Natural Questions, open domain: the script of ORQA and EfficientQA.
convention(
    Convention(
        name="nq-open",
        title="NQ-open exact match",
        source="Lee, Chang and Toutanova 2019, Latent retrieval for weakly supervised open domain question answering",
        words={"exact_match": "AnswerEM(normalizer='nq-open',no_answer='wrong')@1"},
        defaults=("exact_match",),
        tasks={"answers": AnswerConvention(labels=("exact_match",))},
        notes=("The script joins by the text of the question; here questions have ids, and equal texts are not merged.",),
    )
)

# TriviaQA: the official script.
convention(
    Convention(
        name="triviaqa",
        title="TriviaQA, triviaqa_evaluation.py",
        source="Joshi and others 2017, TriviaQA: A large scale distantly supervised challenge dataset",
        words={
            name: f"{measure}(normalizer='triviaqa',no_answer='wrong')@1"
            for name, measure in (("exact_match", "AnswerEM"), ("f1", "AnswerF1"))
        },
        defaults=("exact_match", "f1"),
        unit="percent",
        tasks={"answers": AnswerConvention(labels=("exact_match", "f1"))},
        notes=("Right answers are the aliases and the answers that people gave; punctuation becomes a blank.",),
    )
)

# DPR: passages that hold the answer, and the reader's exact match.
convention(
    Convention(
        name="dpr",
        title="DPR, top-k retrieval accuracy and reader exact match",
        source="Karpukhin and others 2020, Dense passage retrieval for open-domain question answering",
        ties="input",
        words={"accuracy": "Success", "exact_match": "AnswerEM(no_answer='wrong')@1"},
        defaults=("accuracy@1", "accuracy@5", "accuracy@20", "accuracy@100"),
        tasks={"answers": AnswerConvention(labels=("exact_match",), retriever=("accuracy",), relevance="dpr")},
        notes=(
            "A passage is relevant if it contains the tokens of an answer in a row, so some hits are accidental.",
            "`accuracy` is the share of questions with such a passage among the first k, not the share of passages.",
        ),
    )
)

_KILT = "no_answer='never'"
_STRIPPED = f"normalizer='strip',{_KILT}"
_NEEDED = ",retrieval='required'"

# KILT: answers, pages of evidence, and answers that count only with their evidence.
convention(
    Convention(
        name="kilt",
        title="KILT, eval_downstream.py and eval_retrieval.py",
        source="Petroni and others 2021, KILT: a benchmark for knowledge intensive language tasks",
        ties="input",
        words={
            "accuracy": f"AnswerEM({_STRIPPED})@1",
            "em": f"AnswerEM({_KILT})@1",
            "f1": f"AnswerF1({_KILT})@1",
            "KILT-accuracy": f"AnswerEM({_STRIPPED}{_NEEDED})@1",
            "KILT-em": f"AnswerEM({_KILT}{_NEEDED})@1",
            "KILT-f1": f"AnswerF1({_KILT}{_NEEDED})@1",
            "Rprec": "EvidenceRprec",
            "precision": "EvidenceP",
            "recall": "EvidenceR",
            "success_rate": "EvidenceSuccess",
        },
        defaults=("Rprec", "recall@5"),
        tasks={
            "answers": AnswerConvention(
                labels=("accuracy", "em", "f1", "KILT-accuracy", "KILT-em", "KILT-f1"),
                retriever=("Rprec", "precision@", "recall@", "success_rate@"),
            )
        },
        notes=(
            "A KILT- measure is 0 unless Rprec is 1, that is unless the first pages are just a set of evidence.",
            "KILT's ROUGE-L is not offered; its script refuses lists too short for a robust recall, ours does not.",
        ),
    )
)
