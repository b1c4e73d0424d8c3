"""No-answer numbers as a decision: the best threshold on them, and precision against recall of
answering.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwell.conventions import Convention, LabelledMeasure
from rankwell.core.exact import exact_mean, exact_ratio
from rankwell.core.figures import FIGURES
from rankwell.core.tables import Bools, Floats
from rankwell.errors import BadInput, NothingToEvaluate
from rankwell.tasks.answers.outcomes import ReaderRun, over_all_questions

ThresholdTies = Literal["whole", "official"]


class BestThreshold(NamedTuple):
    """value: the mean of the scores, a share, where no answer is given to questions above the
    threshold.
    """

    value: float
    threshold: float


class PrecisionRecall(NamedTuple):
    """Precision and recall after each threshold; at the first point nothing is answered, and the
    threshold is NaN.
    """

    thresholds: Floats
    precision: Floats
    recall: Floats
    average_precision: float


class MeasureThreshold(NamedTuple):
    """The values of one measure. now: without a threshold. best: with the best one. curve: None
    where nothing is answerable.
    """

    measure: LabelledMeasure
    now: float
    best: BestThreshold
    curve: PrecisionRecall | None


class ThresholdSearch(NamedTuple):
    """The search for every measure, over the questions with a number: `numbers`. oracle: a system
    that answers all rightly.
    """

    run: str
    searches: tuple[MeasureThreshold, ...]
    oracle: PrecisionRecall | None
    answerable: Bools
    numbers: Floats
    notes: tuple[str, ...]

    @property
    def curves(self) -> dict[str, PrecisionRecall]:
        """The curve of each measure by its label, then that of the oracle."""
        every = {each.measure.label: each.curve for each in self.searches} | {"oracle": self.oracle}
        return {label: curve for label, curve in every.items() if curve is not None}


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
    impossible questions with a score). Raises NothingToEvaluate without questions, BadInput where
    one has no such number.
    """
    _check(scores, answerable, no_answer)
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
    if totals[best] > nothing or (totals[best] == nothing and not silent):
        # The official script adds up row by row; else equal sums give equal means, whatever the
        # order.
        exact = exact_ratio(np.append(nothing, gains[: best + 1]), np.array([float(len(scores))]))
        return BestThreshold(
            float(totals[best]) / len(scores) if ties == "official" else exact,
            float(sorted_numbers[best]),
        )
    return BestThreshold(
        nothing / len(scores), 0.0 if silent else float(np.nextafter(lowest, -np.inf))
    )


def precision_recall(scores: Floats, answerable: Bools, no_answer: Floats) -> PrecisionRecall:
    """Precision and recall of answering, from the questions that are least likely to have no answer
    on (SQuAD 2.0, 2018).

    There is a point only where the next question has another number. scores: 1 for each answerable
    one gives the curve of an oracle. Raises NothingToEvaluate without an answerable question,
    BadInput where a question has no number.
    """
    _check(scores, answerable, no_answer)
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


def _check(scores: Floats, answerable: Bools, no_answer: Floats) -> None:
    if not len(scores) == len(answerable) == len(no_answer):
        raise BadInput(
            f"{len(scores)} scores, {len(answerable)} flags and {len(no_answer)} numbers; one "
            "each per question."
        )
    if not len(scores):
        raise NothingToEvaluate("there is no question to choose a threshold for.")
    lost = int(np.count_nonzero(np.isnan(no_answer)))
    if lost:
        raise BadInput(
            f"{lost} of {len(scores)} questions have no no-answer probability; complete the "
            "file, or leave them out."
        )


def search_thresholds(
    reader: ReaderRun,
    measures: Sequence[LabelledMeasure],
    *,
    ties: ThresholdTies,
    order: Sequence[str],
) -> ThresholdSearch | None:
    """The best thresholds for the first answers' exact match and F1; None without numbers or
    measures. order: ids, `official`.
    """
    known, pairs = (
        [each for each in measures if each.measure.name in ("AnswerEM", "AnswerF1")],
        reader.pairs,
    )
    chosen = [
        each
        for each in known
        if each.measure.cutoff == 1 and over_all_questions(each.measure) == each.measure
    ]
    rows = np.flatnonzero(~np.isnan(pairs.no_answer))
    if not chosen or not len(rows):
        return None
    notes: list[str] = []
    if len(rows) < len(pairs.queries):
        notes.append(
            f"{reader.name}: {len(pairs.queries) - len(rows)} questions without a no-answer "
            "number choose no threshold"
        )
    if not order and len(rows) > 1 and len(set(pairs.no_answer[rows].tolist())) == 1:
        value = pairs.no_answer[rows[0]]
        notes.append(
            f"{reader.name}: all {len(rows)} no-answer numbers are {value:g}, so that they "
            "distinguish nothing"
        )
    if ties == "official":
        place = {name: number for number, name in enumerate(order or pairs.queries)}
        rows = rows[
            np.argsort(
                [place.get(pairs.queries[row], len(place)) for row in rows.tolist()], kind="stable"
            )
        ]
    some = pairs.take(rows)
    answerable, numbers = ~some.impossible, some.no_answer
    # The official script takes an answer of blanks alone for an answer, though its normal form is
    # none.
    starts = some.offsets[:-1].tolist()
    blank = np.array(
        [
            listed == 0 or not some.texts[row]
            for row, listed in zip(starts, np.diff(some.offsets).tolist(), strict=True)
        ]
    )
    found: list[MeasureThreshold] = []
    for each in chosen:
        scores = over_all_questions(each.measure).with_parameters(na_threshold=None)(some)
        best = best_threshold(scores, answerable, numbers, ties=ties, blank=blank)
        curve = precision_recall(scores, answerable, numbers) if answerable.any() else None
        found.append(MeasureThreshold(each, exact_mean(scores), best, curve))
    oracle = (
        precision_recall(answerable.astype(np.float64), answerable, numbers)
        if answerable.any()
        else None
    )
    return ThresholdSearch(reader.name, tuple(found), oracle, answerable, numbers, tuple(notes))


def threshold_rows(search: ThresholdSearch, convention: Convention) -> list[dict[str, Any]]:
    """Summary rows: best value, its threshold and the area below precision and recall by measure,
    then the oracle's area.
    """
    factor, unit = convention.shows("share")
    rows: list[tuple[str, str, float, str]] = []
    exact = {each.measure.label: str(each.measure.measure) for each in search.searches}
    for label, best in ((each.measure.label, each.best) for each in search.searches):
        rows.append((f"Best({exact[label]})", f"best_{label}", factor * best.value, unit))
        rows.append(
            (f"BestThreshold({exact[label]})", f"best_{label}_thresh", best.threshold, "score")
        )
    for label, curve in search.curves.items():
        rows.append(
            (
                f"AnswerAP({exact.get(label, label)})",
                f"pr_{label}_ap",
                factor * curve.average_precision,
                unit,
            )
        )
    empty = dict.fromkeys(("sd", "ci_low", "ci_high"))
    n = len(search.numbers)
    return [
        {
            "run": search.run,
            "measure": measure,
            "label": label,
            "mean": mean,
            **empty,
            "n": n,
            "unit": own,
            "part": "reader",
        }
        for measure, label, mean, own in rows
    ]


def threshold_definitions(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """The definition of the measure of each row, by its exact name."""
    known = {row["measure"]: FIGURES[row["measure"].partition("(")[0]] for row in rows}
    return {name: {"definition": each.text, "source": each.source} for name, each in known.items()}


def curve_rows(search: ThresholdSearch) -> list[dict[str, Any]]:
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
        for threshold, recall, precision in np.stack(
            (curve.thresholds, curve.recall, curve.precision), axis=1
        ).tolist()
    ]
