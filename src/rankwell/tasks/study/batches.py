"""Batches: what is judged next, by whom, and which of them are finished."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np

from rankwell.data.tables import Bools, Ints
from rankwell.io.line_files import append_rows, records_in
from rankwell.store.locks import locked
from rankwell.tasks.study.answers import StudyAnswers, outside_pool
from rankwell.tasks.study.folder import LEASES, Pair, Study
from rankwell.tasks.study.journal import JournalLine, check_judge, last_answers, now, read_journals
from rankwell.tasks.study.pool_rows import batch_pairs, batch_sizes, batches_of

_LASTING = timedelta(hours=24)
_FEWEST_TOGETHER = 10


class Lease(NamedTuple):
    """A batch that a judge has taken. pairs: its queries and items where what is asked depends on
    answers, else none.
    """

    time: str
    judge: str
    round: int
    batch: int
    pairs: tuple[Pair, ...] = ()


class Batch(NamedTuple):
    """A batch to judge: its round from 1, its number from 0, and its pairs of query and item, by
    query, then by u.
    """

    round: int
    number: int
    pairs: tuple[Pair, ...]


class Progress(NamedTuple):
    """Batches of the last round: all of them, and the finished ones; items that are judged, and all
    that are to be.
    """

    batches: int
    finished: int
    judged: int
    items: int


def finished_batches(study: Study, answered: Bools, number: int) -> int:
    """The number of batches of a round, from 1, that are finished one after the other from the
    first.
    """
    batches = study.pool.batches[:, number - 1]
    open_ = batches[(batches >= 0) & ~answered]
    return int(open_.min()) if len(open_) else int(batches.max(initial=-1)) + 1


def progress(study: Study, lines: Sequence[JournalLine]) -> Progress:
    """The progress of judging. Raises BadInput as `StudyAnswers.of`."""
    if study.design == "reading":
        answers = StudyAnswers.of(study, lines)
        judged, next_rows = answers.answered, needed_rows(study, answers)
        return Progress(0, 0, int(judged.sum()), int((judged | next_rows).sum()))
    sizes, judged = _judged_of_batches(study, lines)
    unfinished = np.flatnonzero(judged < sizes)
    done = int(unfinished[0]) if len(unfinished) else len(sizes)
    return Progress(len(sizes), done, int(judged.sum()), int(sizes.sum()))


def _judged_of_batches(study: Study, lines: Sequence[JournalLine]) -> tuple[Ints, Ints]:
    """(batches,) of the last round the numbers of items, and of answered ones; the pool is not read
    as a whole.
    """
    sizes, pairs = batch_sizes(study), last_answers(lines)
    batches = batches_of(study, pairs)
    lost = min(pairs.keys() - batches.keys(), default=None)
    if lost is not None:
        raise outside_pool(study, *lost)
    judged = np.array([number for number in batches.values() if number >= 0], dtype=np.int64)
    return sizes, np.bincount(judged, minlength=len(sizes))


def queries_read_together(study: Study) -> int:
    """The number of queries in a batch of reading down: their first items fill it. It is finished
    when all are read down.
    """
    return max(_FEWEST_TOGETHER, study.batch // len(study.runs))


def needed_rows(study: Study, answers: StudyAnswers) -> Bools:
    """(items,) of reading down: the next item of each run that has not reached one that is relevant
    for sure.
    """
    pool, rel = study.pool, study.parsed_measure.parameters["rel"]
    is_needed = np.zeros(len(pool.item), dtype=np.bool_)
    ends = ~answers.answered | (np.nan_to_num(answers.grade, nan=-1.0) >= rel)
    for ranks in pool.ranks.T:
        rows = np.flatnonzero((ranks > 0) & ends)
        rows = rows[np.lexsort((ranks[rows], pool.query[rows]))]
        _, first = np.unique(pool.query[rows], return_index=True)
        is_needed[rows[first]] |= ~answers.answered[rows[first]]
    return is_needed


def _lease_of(row: Any) -> Lease:
    pairs = tuple((str(query), str(item)) for query, item in row.get("pairs", ()))
    return Lease(str(row["time"]), str(row["judge"]), int(row["round"]), int(row["batch"]), pairs)


def lease_batch(study: Study, judge: str) -> Batch | None:
    """The batch that a judge works on: the judge's own unfinished one, else the next that no other
    judge has; None for none.
    """
    check_judge(judge)
    with locked(study.place, wait=10):
        lines = read_journals(study).lines
        leases = records_in(study.place / LEASES, "a lease", _lease_of, "remove the line")
        held = _holders(leases, lines, study)
        if study.design == "reading":
            return _lease_needed(study, judge, held, leases, StudyAnswers.of(study, lines))
        sizes, judged = _judged_of_batches(study, lines)
        unfinished = np.flatnonzero(judged < sizes).tolist()
        of_judge = [number for number in unfinished if held.get(number) == judge]
        free = [number for number in unfinished if number not in held]
        if not of_judge and not free:
            return None
        number = (of_judge or free)[0]
        if not of_judge:
            _append(study, Lease(now(), judge, study.rounds, number))
        return Batch(study.rounds, number, batch_pairs(study, number))


def _lease_needed(
    study: Study,
    judge: str,
    held: Mapping[int, str],
    leases: Sequence[Lease],
    answers: StudyAnswers,
) -> Batch | None:
    """A batch of the items that reading down asks for next."""
    pool, rows = study.pool, np.flatnonzero(needed_rows(study, answers))
    row_of = dict(zip(study.pairs(rows), rows.tolist(), strict=True))
    for lease in leases:
        if lease.batch not in held or lease.round != study.rounds:
            continue
        left = [pair for pair in lease.pairs if pair in row_of]
        if held[lease.batch] == judge and left:
            return Batch(study.rounds, lease.batch, tuple(left))
        for pair in left:
            del row_of[pair]
    free = np.array(sorted(row_of.values()), dtype=np.int64)
    if not len(free):
        return None
    # One batch of queries after the other: those that end early are the easy ones.
    drawn = pool.query[np.sort(np.unique(pool.query, return_index=True)[1])]
    together = np.argsort(drawn)[pool.query[free]] // queries_read_together(study)
    next_rows = free[together == together[0]][: study.batch]
    order = np.lexsort((pool.u[next_rows], pool.query[next_rows]))
    pairs = tuple(study.pairs(next_rows[order]))
    number = max((lease.batch for lease in leases), default=-1) + 1
    _append(study, Lease(now(), judge, study.rounds, number, pairs))
    return Batch(study.rounds, number, pairs)


def _holders(
    leases: Sequence[Lease], lines: Sequence[JournalLine], study: Study
) -> Mapping[int, str]:
    """The judge of each batch of the last round whose lease still holds: 24 hours from the lease
    and the judge's last line.
    """
    latest: dict[str, str] = {}
    for line in lines:
        latest[line.judge] = max(latest.get(line.judge, ""), line.time)
    limit = (datetime.now(UTC) - _LASTING).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {
        lease.batch: lease.judge
        for lease in leases
        if lease.round == study.rounds and max(lease.time, latest.get(lease.judge, "")) > limit
    }


def _append(study: Study, lease: Lease) -> None:
    row = {name: value for name, value in lease._asdict().items() if name != "pairs" or value}
    append_rows(study.place / LEASES, [row])
