"""Extractive answers: SQuAD 1.1 and 2.0, MLQA, and French."""

from rankwell.conventions import Convention, convention
from rankwell.tasks.answers.conventions import AnswerConvention

_PLAIN = {"exact_match": "AnswerEM", "f1": "AnswerF1"}
_GROUPS = {"": "", "HasAns_": ",population='answerable'", "NoAns_": ",population='impossible'"}
_LABELS = tuple(f"{group}{name}" for group in _GROUPS for name in ("exact", "f1"))


def _words_by_group(rules: str) -> dict[str, str]:
    """Exact match and F1 of all questions, of those with an answer and of those without, under the same rules."""
    measures = [(f"{group}{name}", name, population) for group, population in _GROUPS.items() for name in ("exact", "f1")]
    return {word: f"{'AnswerEM' if name == 'exact' else 'AnswerF1'}({rules}{each})@1" for word, name, each in measures}


# SQuAD 1.1: the official script.
convention(
    Convention(
        name="squad1",
        title="SQuAD 1.1, evaluate-v1.1.py",
        source="Rajpurkar and others 2016, SQuAD: 100,000+ questions for machine comprehension of text",
        words={name: f"{measure}(no_answer='refuse')@1" for name, measure in _PLAIN.items()},
        defaults=("exact_match", "f1"),
        unit="percent",
        tasks={"answers": AnswerConvention(labels=("exact_match", "f1"))},
        notes=(
            "Answers that normalise to nothing on both sides have exact_match 100 and f1 0.",
            "A question without a right answer is an error; one without a prediction is 0.",
        ),
    )
)


# SQuAD 2.0: the official script.
convention(
    Convention(
        name="squad2",
        title="SQuAD 2.0, evaluate-v2.0.py",
        source="Rajpurkar, Jia and Liang 2018, Know what you don't know: Unanswerable questions for SQuAD",
        words=_words_by_group("no_answer='squad2',na_threshold=1"),
        defaults=("exact", "f1"),
        unit="percent",
        tasks={"answers": AnswerConvention(labels=_LABELS)},
        notes=(
            "No answer is given where the no-answer probability is above the threshold, which is 1 unless it is set.",
            "The script's best_exact and best_f1 depend on the order of the file where probabilities tie; ours do not.",
            "The script fails on a question without a prediction; here it is 0, or the value requested.",
        ),
    )
)


# French answers: rules of rankwell's own, since no published ones treat elisions and typographic apostrophes.
convention(
    Convention(
        name="french",
        title="French, rankwell's own rules",
        source="rankwell 2025, after the French of FQuAD and PIAF",
        words=_words_by_group("normalizer='french',no_answer='normalized'"),
        defaults=("exact", "f1"),
        unit="percent",
        tasks={"answers": AnswerConvention(labels=_LABELS, languages={"fr": "french"})},
        notes=(
            "L'Ouganda, L’Ouganda and Ouganda are one answer; an answer that would vanish keeps its last form.",
            "FQuAD scored submissions privately; parity with its script is not claimed.",
        ),
    )
)


# MLQA: the official script, with rules for seven languages.
convention(
    Convention(
        name="mlqa",
        title="MLQA, mlqa_evaluation_v1.py",
        source="Lewis and others 2020, MLQA: Evaluating cross-lingual extractive question answering",
        words={name: f"{measure}(normalizer='mlqa-en',no_answer='refuse')@1" for name, measure in _PLAIN.items()},
        defaults=("exact_match", "f1"),
        unit="percent",
        tasks={
            "answers": AnswerConvention(
                labels=("exact_match", "f1"),
                languages={language: f"mlqa-{language}" for language in ("en", "ar", "de", "es", "hi", "vi", "zh")},
            )
        },
        notes=(
            "The language is the answers', English unless it is set; there are no rules for French (the convention french has).",
            "Unicode punctuation is deleted, so that English values differ a little from SQuAD's.",
        ),
    )
)
