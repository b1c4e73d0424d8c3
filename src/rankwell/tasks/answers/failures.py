"""Who failed: for each question whether the retriever, the reader or its choice to be silent is to blame, or nobody."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from rankwell.core.registry import Measure
from rankwell.tasks.answers.reading import Readings
from rankwell.tasks.answers.retrieval import Retrieval

Failed = Literal["retriever", "reader", "no-answer", "none"]
_RIGHT_FROM = 0.5
_ORDER = ("retriever", "reader", "no-answer", "none")


class Outcome(NamedTuple):
    """What became of a question. failed: who, None where it is not counted. why: in words.

    value: how right the answer is. partial: how right in part. later: how right the best of the further answers is. alone: how
    right the answer from the right passage is, partial_alone: in part. None where unknown.
    """

    query: str
    impossible: bool
    failed: Failed | None
    why: str
    value: float | None = None
    partial: float | None = None
    later: float | None = None
    alone: float | None = None
    partial_alone: float | None = None


class Judge(NamedTuple):
    """How right answers are: `right` decides, from 0.5 on; `partial` tells how much of them is; `later` looks further down.

    label: the word of the convention for what decides, over all questions.
    """

    right: Measure
    partial: Measure
    later: Measure
    label: str

    @property
    def na_threshold(self) -> float | None:
        """The number above which no answer is given."""
        return self.right.parameters.get("na_threshold")


class _Read(NamedTuple):
    """One reader's answer to one question."""

    value: float
    partial: float
    later: float
    silent: bool
    missing: bool


def outcomes(
    queries: Sequence[str],
    impossible: Sequence[bool],
    *,
    retrieval: Retrieval | None,
    readings: Readings | None,
    isolated: Readings | None,
    judge: Judge | None,
) -> list[Outcome]:
    """The outcome of every question, by the first stage that failed it.

    An answerable question that was answered wrongly is the retriever's where no relevant document was found, else the fault of
    silence where nothing was answered, else the reader's. An impossible one that was answered is that of silence, too. Without
    answers the retriever alone is judged.
    """
    found = dict(zip(queries, map(bool, retrieval.found), strict=True)) if retrieval is not None else None
    if readings is None or judge is None:
        retrieved = {} if found is None else found
        return [_retrieved_only(query, none, retrieved[query]) for query, none in zip(queries, impossible, strict=True)]
    integrated = _read(readings, judge)
    alone = {} if isolated is None else _read(isolated, judge)
    result: list[Outcome] = []
    for query, none in zip(queries, impossible, strict=True):
        mine, other = integrated.get(query), alone.get(query)
        if mine is None:
            result.append(Outcome(query, none, None, "left out, as it has no prediction"))
            continue
        failed, why = _attribute(mine, none, None if found is None else found[query])
        ends = (None, None) if other is None else (other.value, other.partial)
        result.append(Outcome(query, none, failed, why, mine.value, mine.partial, mine.later, *ends))
    return result


def _retrieved_only(query: str, impossible: bool, found: bool) -> Outcome:
    return Outcome(query, impossible, "none" if found else "retriever", "retrieved" if found else "document not retrieved")


def _attribute(read: _Read, impossible: bool, found: bool | None) -> tuple[Failed, str]:
    if read.value >= _RIGHT_FROM:
        if impossible:
            return "none", "rightly silent"
        return "none", "right without its document" if found is False else "right"
    if impossible:
        if read.missing:
            return "no-answer", "no prediction"
        # Some conventions want an explicit None, others know no right answer to such a question.
        return "no-answer", "silent, in a way that counts wrong" if read.silent else "answered, though impossible"
    if found is False:
        return "retriever", "document not retrieved"
    if read.missing:
        return "reader", "no prediction"
    if read.silent:
        return "no-answer", "silent, though answerable"
    if read.later >= _RIGHT_FROM:
        return "reader", "right, but not first"
    return "reader", "partly right" if read.partial > 0 else "wrong answer"


def _read(readings: Readings, judge: Judge) -> dict[str, _Read]:
    pairs = readings.pairs
    values = (judge.right(pairs), judge.partial(pairs), judge.later(pairs))
    columns = (*values, readings.abstained(judge.na_threshold), pairs.missing)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {query: _Read(*row) for query, row in zip(pairs.queries, rows, strict=True)}


def failure_rows(found: Sequence[Outcome]) -> list[dict[str, Any]]:
    """How many questions each stage failed, and why: `failed, why, questions, share`, and how many of them are right `alone`.

    `right_alone`, the questions that the reader answers rightly from the right passage, stands there where that is known.
    """
    counted = [each for each in found if each.failed is not None]
    groups = Counter((each.failed, each.why) for each in counted)
    rows: list[dict[str, Any]] = []
    for (failed, why), n in sorted(groups.items(), key=lambda each: (_ORDER.index(each[0][0] or "none"), -each[1], each[0][1])):
        row: dict[str, Any] = {"failed": failed, "why": why, "questions": n, "share": n / len(counted)}
        if any(each.alone is not None for each in counted):
            mine = [each for each in counted if (each.failed, each.why) == (failed, why)]
            row["right_alone"] = sum(each.alone is not None and each.alone >= _RIGHT_FROM for each in mine)
        rows.append(row)
    return rows


def hardest(found: Sequence[Outcome]) -> list[Outcome]:
    """The questions that somebody failed, the hardest first: not right further down, least right in part, then least so from the
    right passage.

    Those that are equally hard take turns by who failed them, and then stand in the order of their ids.
    """
    wrong = [each for each in found if each.failed not in (None, "none")]
    keys = [_hardness(each) for each in wrong]
    turns: Counter[Any] = Counter()
    placed: list[tuple[Any, ...]] = []
    for place, (each, key) in enumerate(zip(wrong, keys, strict=True)):
        turns[key, each.failed] += 1
        placed.append((*key, turns[key, each.failed], _ORDER.index(each.failed or "none"), place))
    return [wrong[row[-1]] for row in sorted(placed)]


def _hardness(each: Outcome) -> tuple[float, float, float]:
    return (each.later or 0.0, each.partial or 0.0, each.partial_alone or 0.0)
