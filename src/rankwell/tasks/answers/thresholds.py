"""How well a system knows that there is no answer: the best threshold on its no-answer numbers, and precision against recall."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rankwell.conventions import Convention, LabelledMeasure
from rankwell.core.tables import Bools, Floats
from rankwell.tasks.answers.measures.answers_thresholds import BestThreshold, Curve, Groups, best_threshold, precision_recall
from rankwell.tasks.answers.reading import Readings, whole

DEFINITIONS: Mapping[str, str] = {
    "Best": "the greatest mean that a threshold on the no-answer numbers reaches, questions above it being answered by nothing",
    "BestThreshold": "the threshold of the greatest mean, the lowest of equally good ones",
    "AnswerAP": "the sum of precision × gain of recall over all thresholds, answering the surest questions first",
}
_SOURCE = "Rajpurkar, Jia and Liang 2018, evaluate-v2.0.py; equal numbers stay on one side of a threshold"


class Search(NamedTuple):
    """What one measure reaches. now: without a threshold. best: with the best one. curve: None where nothing is answerable."""

    asked: LabelledMeasure
    now: float
    best: BestThreshold
    curve: Curve | None


class Searched(NamedTuple):
    """The search for every measure, over the questions with a number: `numbers`. oracle: who answers all of them rightly."""

    run: str
    searches: tuple[Search, ...]
    oracle: Curve | None
    answerable: Bools
    numbers: Floats
    notes: tuple[str, ...]


def search(readings: Readings, asked: Sequence[LabelledMeasure], *, ties: Groups, order: Sequence[str]) -> Searched | None:
    """The best thresholds for the first answers' exact match and F1; None where there are no numbers, or none of these measures.

    ties: `official` is SQuAD's script, whose result depends on the order of rows where numbers are equal: `order`, ids.
    """
    chosen = [each for each in asked if _fits(each)]
    pairs = readings.pairs
    rows = np.flatnonzero(~np.isnan(pairs.no_answer))
    if not chosen or not len(rows):
        return None
    notes: list[str] = []
    if len(rows) < len(pairs.queries):
        notes.append(f"{readings.run}: {len(pairs.queries) - len(rows)} questions without a no-answer number choose no threshold")
    if not order and len(rows) > 1 and len(set(pairs.no_answer[rows].tolist())) == 1:
        value = pairs.no_answer[rows[0]]
        notes.append(f"{readings.run}: all {len(rows)} no-answer numbers are {value:g}, so that they tell nothing apart")
    if ties == "official":
        place = {name: number for number, name in enumerate(order or pairs.queries)}
        rows = rows[np.argsort([place.get(pairs.queries[row], len(place)) for row in rows.tolist()], kind="stable")]
    some = pairs.take(rows)
    answerable, numbers = ~some.impossible, some.no_answer
    blank = readings.silent[rows]
    found: list[Search] = []
    for each in chosen:
        scores = whole(each.measure).with_parameters(na_threshold=None)(some)
        best = best_threshold(scores, answerable, numbers, ties=ties, blank=blank)
        curve = precision_recall(scores, answerable, numbers) if answerable.any() else None
        found.append(Search(each, float(scores.mean()), best, curve))
    oracle = precision_recall(answerable.astype(np.float64), answerable, numbers) if answerable.any() else None
    return Searched(readings.run, tuple(found), oracle, answerable, numbers, tuple(notes))


def _fits(asked: LabelledMeasure) -> bool:
    given = asked.measure.parameters
    every = given.get("population") == "all" and given.get("retrieval") == "ignored"
    return asked.measure.name in ("AnswerEM", "AnswerF1") and every and asked.measure.cutoff == 1


def figure_rows(searched: Searched, convention: Convention) -> list[dict[str, Any]]:
    """Summary rows: best value, its threshold and the area below precision and recall by measure, then the oracle's area."""
    (factor, unit), n = convention.shows("share"), len(searched.numbers)
    rows: list[dict[str, Any]] = []

    def _add(measure: str, label: str, mean: float, unit: str) -> None:
        empty = dict.fromkeys(("sd", "ci_low", "ci_high"))
        rows.append({"run": searched.run, "measure": measure, "label": label, "mean": mean, **empty, "n": n, "unit": unit})

    for each in searched.searches:
        name, label = str(each.asked.measure), each.asked.label
        _add(f"Best({name})", f"best_{label}", factor * each.best.value, unit)
        _add(f"BestThreshold({name})", f"best_{label}_thresh", each.best.threshold, "score")
    for each in searched.searches:
        if each.curve is not None:
            _add(f"AnswerAP({each.asked.measure})", f"pr_{each.asked.label}_ap", factor * each.curve.average_precision, unit)
    if searched.oracle is not None:
        _add("AnswerAP(oracle)", "pr_oracle_ap", factor * searched.oracle.average_precision, unit)
    return rows


def definitions(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """The definition of each figure, by its exact name."""
    return {row["measure"]: {"definition": DEFINITIONS[row["measure"].partition("(")[0]], "source": _SOURCE} for row in rows}


def curve_rows(searched: Searched) -> list[dict[str, Any]]:
    """The points of precision and recall: `label, threshold, recall, precision`, shares; a threshold of None answers nothing."""
    curves = [(each.asked.label, each.curve) for each in searched.searches] + [("oracle", searched.oracle)]
    return [
        {"label": label, "threshold": None if np.isnan(threshold) else threshold, "recall": recall, "precision": precision}
        for label, curve in curves
        if curve is not None
        for threshold, recall, precision in zip(
            curve.thresholds.tolist(), curve.recall.tolist(), curve.precision.tolist(), strict=True
        )
    ]
