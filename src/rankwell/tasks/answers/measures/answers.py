"""Whether the answers that a reader gives are right: exactly, in part, or at all."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from rankwell.core.registry import Measure, measure
from rankwell.core.tables import Bools, Floats, ratio
from rankwell.errors import BadUsage
from rankwell.media.texts import NormalizerName
from rankwell.tasks.answers.answer_pairs import AnswerPairs, NoAnswer, Rule, Scores

Population = Literal["all", "answerable", "impossible"]
Retrieval = Literal["ignored", "only", "required"]

_EXEMPT = {
    "empty": "an impossible question is answered rightly by an empty list",
    "unjudged tail": "an empty list is no answer, a list with something in it is",
}
_SQUAD = "Rajpurkar and others 2016, SQuAD: 100,000+ questions for machine comprehension of text"
_PIAF = "Haystack 0.9 eval.py, deepset 2021, which PIAF's evaluation calls"


def _best(view: AnswerPairs, scores: Scores, k: int | None) -> Floats:
    """(questions,) the best of the first k answers; what an empty list gets where there is none."""
    shown = np.ones(len(view.texts), dtype=np.bool_) if k is None else view.ranks <= k
    value = scores.bare.copy()
    filled = np.flatnonzero(np.diff(view.offsets))
    if len(filled):
        value[filled] = np.maximum.reduceat(np.where(shown, scores.rows, 0.0), view.offsets[:-1][filled])
    return value


def _mean(view: AnswerPairs, scores: Scores, k: int | None) -> Floats:
    """(questions,) the mean over the first k answers; what an empty list gets where there is none."""
    counts = np.diff(view.offsets)
    shown = np.ones(len(view.texts), dtype=np.bool_) if k is None else view.ranks <= k
    total = np.bincount(view.question_of_row, weights=np.where(shown, scores.rows, 0.0), minlength=len(view.queries))
    return np.where(counts == 0, scores.bare, ratio(total, counts if k is None else np.minimum(counts, k)))


def _counted(view: AnswerPairs, population: Population, retrieval: Retrieval) -> Bools:
    counted = np.ones(len(view.queries), dtype=np.bool_)
    if population != "all":
        counted = view.impossible if population == "impossible" else ~view.impossible
    return counted & _retrieved(view) if retrieval == "only" else counted


def _retrieved(view: AnswerPairs) -> Bools:
    if view.retrieved is None:
        raise BadUsage("this measure asks whether a relevant document was retrieved; give the retriever's run (--retrieved).")
    return view.retrieved


def _finish(
    view: AnswerPairs,
    value: Floats,
    population: Population,
    retrieval: Retrieval,
    no_answer: NoAnswer,
    na_threshold: float | None,
) -> Floats:
    """(questions,) with abstentions, questions without a prediction, and NaN where a question is not counted."""
    counted = _counted(view, population, retrieval)
    if no_answer == "refuse" and (counted & view.impossible).any():
        query = view.queries[int(np.flatnonzero(counted & view.impossible)[0])]
        raise BadUsage(
            f"question {query!r} has no right answer, which this convention has no rule for; take squad2, or leave it out."
        )
    if na_threshold is not None:
        abstained = np.nan_to_num(view.no_answer, nan=-np.inf) > na_threshold
        value = np.where(abstained, view.impossible, value)
    value = np.where(view.missing, 0.0, value)
    if retrieval == "required":
        value = np.where(_retrieved(view), value, 0.0)
    return np.where(counted, value, np.nan)


def _normal(name: NormalizerName | None, positions: bool) -> str:
    """The normaliser's name. Positions are compared as they are; `strip` then says which answers are blank."""
    if positions and name is not None:
        raise BadUsage(f"normalizer={name!r}: positions are compared, not texts; leave the normalizer out.")
    return "strip" if positions else name or "squad"


@measure("AnswerEM", source=_SQUAD + "; match='offset': " + _PIAF, aliases=("exact_match",), exempt=_EXEMPT)
def answer_em(
    pairs: AnswerPairs,
    *,
    match: Literal["text", "offset"] = "text",
    normalizer: NormalizerName | None = None,
    no_answer: NoAnswer = "blank",
    na_threshold: float | None = None,
    population: Population = "all",
    retrieval: Retrieval = "ignored",
    k: int | None = None,
) -> Floats:
    """1 if one of the first `k` answers is exactly a right one, else 0; an impossible question asks for no answer.

    match: the same `text` in its normal form (normalizer: `squad` unless given), or the same `offset`s in the same document.
    no_answer: what is right for an impossible question: a `blank` answer (None, "", white space) or an empty list; only an
    `explicit` None; what is nothing once `normalized`; `squad2`: likewise, and right answers that normalise to nothing are
    dropped; `wrong`: nothing is right; `never`: nothing is, and a blank answer is right nowhere; `refuse`: an error.
    na_threshold: no answer is given where the probability of there being none is greater. population: questions of another one
    are not counted. retrieval: `only` counts questions for which what they need was retrieved; `required` makes the others 0.
    A question without a prediction is 0.

    >>> from rankwell.tasks.answers.answer_pairs import answer_pairs
    >>> pairs = answer_pairs({"q": ["the Paris metro", "Paris"]}, {"q": ["Lyon", "Paris Metro!"]})
    >>> answer_em(pairs, k=1).tolist(), answer_em(pairs).tolist(), answer_em(pairs, normalizer="none").tolist()
    ([0.0], [1.0], [0.0])
    """
    rule: Rule = "span" if match == "offset" else "text"
    value = _best(pairs, pairs.scores(rule, _normal(normalizer, match == "offset"), no_answer), k)
    return _finish(pairs, value, population, retrieval, no_answer, na_threshold)


@measure(
    "AnswerF1", source=_SQUAD + "; unit='offset': " + _PIAF, aliases={"token_f1": "", "char_f1": "unit='char'"}, exempt=_EXEMPT
)
def answer_f1(
    pairs: AnswerPairs,
    *,
    unit: Literal["token", "char", "offset"] = "token",
    normalizer: NormalizerName | None = None,
    over: Literal["best", "mean"] = "best",
    no_answer: NoAnswer = "blank",
    na_threshold: float | None = None,
    population: Population = "all",
    retrieval: Retrieval = "ignored",
    k: int | None = None,
) -> Floats:
    """The best F1 among the first `k` answers, each with the right one that it shares most with; repeated units count repeatedly.

    F1 is 2 P R / (P + R) of what an answer and a right one share: `token`s of their normal forms, `char`acters of them, or
    characters at the same place of the same document (`offset`). over: `mean` is the mean over the first `k` answers instead.
    Two texts that are both empty in their normal form share all, but nothing under no_answer `wrong`, `never` and `refuse`.
    no_answer, na_threshold, population, retrieval, normalizer: see AnswerEM.

    >>> from rankwell.tasks.answers.answer_pairs import answer_pairs
    >>> pairs = answer_pairs({"q": ["Paris"]}, {"q": ["Paris, France", "Lyon"]})
    >>> answer_f1(pairs).round(4).tolist(), answer_f1(pairs, over="mean").round(4).tolist()
    ([0.6667], [0.3333])
    >>> (answer_f1(pairs, unit="char", normalizer="none") * 18).round(9).tolist()
    [10.0]
    """
    rules: dict[str, Rule] = {"token": "token-f1", "char": "char-f1", "offset": "span-f1"}
    scores = pairs.scores(rules[unit], _normal(normalizer, unit == "offset"), no_answer)
    value = _best(pairs, scores, k) if over == "best" else _mean(pairs, scores, k)
    return _finish(pairs, value, population, retrieval, no_answer, na_threshold)


@measure("AnswerAccuracy", source=_PIAF + "; match='contains': KILT, Petroni and others 2021", exempt=_EXEMPT)
def answer_accuracy(
    pairs: AnswerPairs,
    *,
    match: Literal["overlap", "intersect", "contains", "contains-tokens", "either"] = "overlap",
    normalizer: NormalizerName | None = None,
    no_answer: NoAnswer = "blank",
    na_threshold: float | None = None,
    population: Population = "all",
    retrieval: Retrieval = "ignored",
    k: int | None = None,
) -> Floats:
    """1 if one of the first `k` answers is right in part, else 0; an impossible question asks for no answer.

    match: the positions of the answer and a right one in the same document `overlap` or touch, or `intersect` in a character at
    least; the answer's normal form `contains` a right one's, or `contains-tokens` of a right one in a row, or `either` contains
    the other. no_answer, na_threshold, population, retrieval, normalizer: see AnswerEM.

    >>> from rankwell.tasks.answers.answer_pairs import answer_pairs
    >>> pairs = answer_pairs({"q": ["Paris"]}, {"q": ["in Parisian style", "in Paris itself"]})
    >>> answer_accuracy(pairs, match="contains", k=1).tolist(), answer_accuracy(pairs, match="contains-tokens", k=1).tolist()
    ([1.0], [0.0])
    """
    scores = pairs.scores(match, _normal(normalizer, match in ("overlap", "intersect")), no_answer)
    return _finish(pairs, _best(pairs, scores, k), population, retrieval, no_answer, na_threshold)


def sweep(asked: Measure, pairs: AnswerPairs, ks: Sequence[int]) -> Floats:
    """(ks, questions) a measure at every cut-off; how right the answers are is worked out once for all of them."""
    return np.stack([asked.with_parameters(k=k)(pairs) for k in ks]) if ks else np.zeros((0, len(pairs.queries)))
