"""No-answer numbers as a decision: the best threshold on them, and precision against recall of
answering.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rankwell.conventions import Convention, LabelledMeasure, Measures
from rankwell.data.findings import Finding
from rankwell.data.registry import FIGURES
from rankwell.data.tables import (
    Bools,
    Floats,
    exact_mean,
    exact_ratio,
    positions_by_id,
    without_none,
)
from rankwell.errors import NothingToEvaluate
from rankwell.reporting import Row
from rankwell.stats import SummaryRow
from rankwell.tasks.qa.conventions import ThresholdTies
from rankwell.tasks.qa.findings import no_answer_numbers
from rankwell.tasks.qa.outcomes import ReaderRun
from rankwell.tasks.qa.plan import over_all_questions


class BestThreshold(NamedTuple):
    """The best threshold for giving no answer.

    value: the mean score, a share, where questions above the threshold get no answer.
    threshold: a probability or score that there is no answer.
    """

    value: float
    threshold: float


class PrecisionRecall(NamedTuple):
    """Precision and recall of answers at each threshold for giving no answer.

    thresholds: (points,) ascending; NaN at the first point, where nothing is answered.
    precision, recall: (points,) precision and recall, as shares.
    average_precision: the area below the curve.
    """

    thresholds: Floats
    precision: Floats
    recall: Floats
    average_precision: float


class MeasureThreshold(NamedTuple):
    """The values of one measure with and without a threshold.

    measure: the measure with the word for it.
    now: the mean without a threshold, a share.
    best: the mean with the best threshold.
    curve: precision and recall at each threshold; None where nothing is answerable.
    """

    measure: LabelledMeasure
    now: float
    best: BestThreshold
    curve: PrecisionRecall | None


class ThresholdSearch(NamedTuple):
    """The search for the best threshold of every measure, over the questions with a no-answer
    number.

    run: name of the reader's run.
    searches: one for each searched measure.
    oracle: the curve of a system whose answers are all right; None where nothing is answerable.
    answerable: (questions,) whether the question has a right answer.
    numbers: (questions,) probability or score that there is no answer.
    findings: findings on questions without a number, and on numbers that are all equal.
    """

    run: str
    searches: tuple[MeasureThreshold, ...]
    oracle: PrecisionRecall | None
    answerable: Bools
    numbers: Floats
    findings: tuple[Finding, ...]

    @property
    def curves(self) -> dict[str, PrecisionRecall]:
        """The curve of each measure by its label, then that of the oracle."""
        curves = {search.measure.label: search.curve for search in self.searches}
        curves["oracle"] = self.oracle
        return without_none(curves)


def best_threshold(
    scores: Floats,
    answerable: Bools,
    no_answer: Floats,
    *,
    ties: ThresholdTies = "whole",
    blank: Bools | None = None,
) -> BestThreshold:
    """The threshold above which giving no answer makes the mean score greatest, the lowest of
    equally good ones.

    scores: (questions,) without a threshold. no_answer: (questions,) the probability or score of
    there being no answer. Where giving no answer at all is best, the threshold is 0, or just below
    the lowest number if that is not above 0 (`official`: 0). ties: `official` is SQuAD 2.0's script
    (Rajpurkar and others 2018), which tries a threshold after each question even among equal ones,
    so that the order of the rows decides; there `blank` says which answers are "" (by default: the
    impossible questions with a score).
    """
    order = np.argsort(no_answer, kind="stable")
    sorted_numbers = no_answer[order]
    right = scores > 0 if blank is None else blank
    lost = scores - 1 if ties == "whole" else np.where(right, 0.0, -1.0)
    # Answering a question more gains its score; where it is impossible, it loses what giving no
    # answer had.
    gains = np.where(answerable, scores, lost)[order]
    nothing = float(np.count_nonzero(~answerable))
    totals = np.cumsum(np.append(nothing, gains))[1:]
    if ties == "whole":
        totals[:-1][sorted_numbers[1:] == sorted_numbers[:-1]] = -np.inf
    best = int(np.argmax(totals))
    lowest = float(sorted_numbers[0])
    silent = lowest > 0 or ties == "official"
    if totals[best] < nothing or (totals[best] == nothing and silent):
        threshold = 0.0 if silent else float(np.nextafter(lowest, -np.inf))
        return BestThreshold(nothing / len(scores), threshold)
    if ties == "official":
        # The official script adds up row by row.
        mean = float(totals[best]) / len(scores)
    else:
        # Equal sums give equal means, whatever the order.
        mean = exact_ratio(np.append(nothing, gains[: best + 1]), np.array([float(len(scores))]))
    return BestThreshold(mean, float(sorted_numbers[best]))


def precision_recall(scores: Floats, answerable: Bools, no_answer: Floats) -> PrecisionRecall:
    """Precision and recall of answering, from the questions that are least likely to have no answer
    on (SQuAD 2.0, 2018).

    There is a point only where the next question has another number. scores: 1 for each answerable
    one gives the curve of an oracle. Raises NothingToEvaluate without an answerable question.
    """
    if not answerable.any():
        raise NothingToEvaluate("no question is answerable, so that there is no recall to draw.")
    order = np.argsort(no_answer, kind="stable")
    numbers = no_answer[order]
    gained = np.cumsum(np.where(answerable, scores, 0.0)[order])
    last = np.flatnonzero(np.append(numbers[1:] != numbers[:-1], True))
    precision = np.append(1.0, gained[last] / (last + 1.0))
    recall = np.append(0.0, gained[last] / np.count_nonzero(answerable))
    area = float(np.cumsum(precision[1:] * np.diff(recall))[-1])
    return PrecisionRecall(np.append(np.nan, numbers[last]), precision, recall, area)


def search_thresholds(
    reader: ReaderRun, measures: Measures, *, ties: ThresholdTies, order: Sequence[str]
) -> ThresholdSearch | None:
    """The best thresholds for the first answers' exact match and F1; None without numbers or
    measures. order: ids, `official`.
    """
    pairs = reader.pairs
    searched = [
        labelled
        for labelled in measures
        if labelled.measure.name in ("AnswerEM", "AnswerF1")
        and labelled.measure.cutoff == 1
        and over_all_questions(labelled.measure) == labelled.measure
    ]
    rows = np.flatnonzero(~np.isnan(pairs.no_answer))
    if not searched or not len(rows):
        return None
    findings: list[Finding] = []
    if len(rows) < len(pairs.queries):
        n_missing = len(pairs.queries) - len(rows)
        problem = f"{n_missing} questions without a no-answer number choose no threshold"
        findings.append(no_answer_numbers(reader.name, problem))
    if len(rows) > 1 and len(set(pairs.no_answer[rows].tolist())) == 1:
        value = f"{pairs.no_answer[rows[0]]:g}"
        problem = f"all {len(rows)} no-answer numbers are {value}, so that they distinguish nothing"
        findings.append(no_answer_numbers(reader.name, problem))
    if ties == "official":
        ranks = positions_by_id(order or pairs.queries)
        keys = [ranks.get(pairs.queries[row], len(ranks)) for row in rows.tolist()]
        rows = rows[np.argsort(keys, kind="stable")]
    pairs = pairs.take(rows)
    answerable, numbers = ~pairs.impossible, pairs.no_answer
    # The official script takes an answer of blanks alone for an answer, though its normal form is
    # none.
    bounds = pairwise(pairs.offsets.tolist())
    blank = np.array([start == stop or not pairs.texts[start] for start, stop in bounds])

    def _curve(scores: Floats) -> PrecisionRecall | None:
        return precision_recall(scores, answerable, numbers) if answerable.any() else None

    searches: list[MeasureThreshold] = []
    for labelled in searched:
        scores = over_all_questions(labelled.measure).with_parameters(na_threshold=None)(pairs)
        best = best_threshold(scores, answerable, numbers, ties=ties, blank=blank)
        searches.append(MeasureThreshold(labelled, exact_mean(scores), best, _curve(scores)))
    oracle = _curve(answerable.astype(np.float64))
    return ThresholdSearch(
        reader.name, tuple(searches), oracle, answerable, numbers, tuple(findings)
    )


def threshold_rows(search: ThresholdSearch, convention: Convention) -> list[Row]:
    """Summary rows: best value, its threshold and the area below precision and recall by measure,
    then the oracle's area.
    """
    factor, unit = convention.shows("share")
    rows: list[tuple[str, str, float, str]] = []
    names: dict[str, str] = {}
    for (measure, label), _, best, _ in search.searches:
        names[label] = str(measure)
        rows.append((f"Best({measure})", f"best_{label}", factor * best.value, unit))
        name = f"BestThreshold({measure})"
        rows.append((name, f"best_{label}_thresh", best.threshold, "score"))
    for label, curve in search.curves.items():
        name = f"AnswerAP({names.get(label, label)})"
        rows.append((name, f"pr_{label}_ap", factor * curve.average_precision, unit))
    n = len(search.numbers)
    return [
        {**SummaryRow.of(search.run, *row[:3], None, None, None, n, row[3]), "part": "reader"}
        for row in rows
    ]


def threshold_definitions(rows: Sequence[Row]) -> dict[str, dict[str, str]]:
    """The definition of the measure of each row, by its exact name."""
    figures = {row["measure"]: FIGURES[row["measure"].partition("(")[0]] for row in rows}
    return {
        name: {"definition": figure.text, "source": figure.source}
        for name, figure in figures.items()
    }


def curve_rows(search: ThresholdSearch) -> list[Row]:
    """The points of precision and recall: `label, threshold, recall, precision`, shares; a
    threshold of None answers nothing.
    """
    return [
        {
            "label": label,
            "threshold": None if np.isnan(threshold) else threshold,
            "recall": recall,
            "precision": precision,
        }
        for label, curve in search.curves.items()
        for threshold, precision, recall in np.stack(curve[:3], axis=1).tolist()
    ]
