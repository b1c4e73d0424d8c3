"""How well a system knows that there is no answer: the best threshold, and precision against recall, over the whole set."""

from typing import Literal, NamedTuple

import numpy as np

from rankwell.core.tables import Bools, Floats
from rankwell.errors import BadInput, NothingToEvaluate

Groups = Literal["whole", "official"]


class BestThreshold(NamedTuple):
    """value: the mean of the scores, a share, where no answer is given to questions above the threshold."""

    value: float
    threshold: float


class Curve(NamedTuple):
    """Precision and recall after each threshold, from the first point, where nothing is answered (precision 1, recall 0).

    thresholds: (points,) NaN for the first. average_precision: a share, the sum of precision x gain of recall.
    """

    thresholds: Floats
    precision: Floats
    recall: Floats
    average_precision: float


def best_threshold(
    scores: Floats, answerable: Bools, no_answer: Floats, *, ties: Groups = "whole", blank: Bools | None = None
) -> BestThreshold:
    """The threshold above which giving no answer makes the mean score greatest, the lowest of equally good ones.

    scores: (questions,) how right the answers are without a threshold. answerable: (questions,). no_answer: (questions,) the
    probability or score of there being no answer. Questions with the same one fall on the same side of every threshold. Where
    giving no answer at all is best, the threshold is 0, or just below the lowest number if that is not above 0 (`official`: 0).
    ties: `official` is SQuAD 2.0's script (Rajpurkar and others 2018), which tries a threshold after each question even among
    equal ones, so that the order of the rows decides; there `blank` says which answers are "" (by default: the impossible
    questions with a score). Raises NothingToEvaluate without questions, BadInput where one has no such number.
    """
    _check(scores, answerable, no_answer)
    order = np.argsort(no_answer, kind="stable")
    sorted_numbers = no_answer[order]
    right = scores > 0 if blank is None else blank
    lost = scores - 1 if ties == "whole" else np.where(right, 0.0, -1.0)
    # Answering a question more gains its score; where it is impossible, it loses what giving no answer had.
    gains = np.where(answerable, scores, lost)[order]
    nothing = float(np.count_nonzero(~answerable))
    totals = np.cumsum(np.append(nothing, gains))[1:]
    if ties == "whole":
        totals[:-1][sorted_numbers[1:] == sorted_numbers[:-1]] = -np.inf
    best = int(np.argmax(totals))
    lowest = float(sorted_numbers[0])
    silent = lowest > 0 or ties == "official"
    if totals[best] > nothing or (totals[best] == nothing and not silent):
        return BestThreshold(float(totals[best]) / len(scores), float(sorted_numbers[best]))
    return BestThreshold(nothing / len(scores), 0.0 if silent else float(np.nextafter(lowest, -np.inf)))


def precision_recall(scores: Floats, answerable: Bools, no_answer: Floats) -> Curve:
    """Precision and recall of answering, from the questions that are least likely to have no answer on (SQuAD 2.0, 2018).

    precision: scores of the answerable questions among those answered, over all answered; recall: over all answerable questions.
    A point stands only where the next question has another number. scores: (questions,), 1 for each answerable one gives the
    curve of an oracle that answers every answerable question rightly.
    Raises NothingToEvaluate without an answerable question, BadInput where a question has no number.
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
    return Curve(np.append(np.nan, numbers[last]), precision, recall, area)


def _check(scores: Floats, answerable: Bools, no_answer: Floats) -> None:
    if not len(scores) == len(answerable) == len(no_answer):
        raise BadInput(f"{len(scores)} scores, {len(answerable)} flags and {len(no_answer)} numbers; one each per question.")
    if not len(scores):
        raise NothingToEvaluate("there is no question to choose a threshold for.")
    lost = int(np.count_nonzero(np.isnan(no_answer)))
    if lost:
        raise BadInput(f"{lost} of {len(scores)} questions have no no-answer probability; complete the file, or leave them out.")
