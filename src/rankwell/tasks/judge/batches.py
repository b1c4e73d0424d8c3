"""Batches: what is judged next, by whom, and which of them are finished. Of the pool only the rows
that a judge needs are read.
"""

from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np

from rankwell.data.columns import parquet
from rankwell.data.tables import Bools, Ints
from rankwell.io.line_files import append_rows, records_in
from rankwell.store.locks import locked
from rankwell.tasks.judge.folder import (
    LEASES,
    JournalLine,
    Pair,
    Study,
    StudyAnswers,
    check_judge,
    last_answers,
    now,
    outside_pool,
    read_journals,
    table_session,
)

_LASTING = timedelta(hours=24)
_FEWEST_TOGETHER = 10
NOTHING_LEFT = "nothing is left for this judge: every batch is finished, or another judge has it"


class Progress(NamedTuple):
    """The progress of judging in the last round. The design `reading`, which reads runs down to
    their first relevant items, has no fixed batches.

    batches: number of all batches; 0 for `reading`.
    finished: number of finished batches, counted from the first without a gap; 0 for `reading`.
    judged: number of answered items.
    items: number of items to judge; for `reading`, of items that are judged or next in turn.
    """

    batches: int
    finished: int
    judged: int
    items: int


def finished_batches(batches: Ints, answered: Bools) -> int:
    """The number of batches of a round that are finished one after the other from the first.
    batches, answered: (items,).
    """
    open_ = batches[(batches >= 0) & ~answered]
    return int(open_.min()) if len(open_) else int(batches.max(initial=-1)) + 1


def progress(study: Study, lines: Sequence[JournalLine]) -> Progress:
    """The progress of judging. Raises BadInput as `StudyAnswers.of`."""
    if study.design == "reading":
        answers = StudyAnswers.of(study, lines)
        judged, next_rows = answers.answered, needed_rows(study, answers)
        return Progress(0, 0, int(judged.sum()), int((judged | next_rows).sum()))
    sizes, judged = _judged_of_batches(study, lines)
    done = int(np.argmax(np.append(judged < sizes, True)))
    return Progress(len(sizes), done, int(judged.sum()), int(sizes.sum()))


def _judged_of_batches(study: Study, lines: Sequence[JournalLine]) -> tuple[Ints, Ints]:
    """The numbers of items and of answered ones in the batches of the last round, (batches,) each;
    the pool is not read as a whole.
    """
    sizes, pairs = batch_sizes(study), last_answers(lines)
    batches = batches_of(study, pairs)
    lost = min(pairs.keys() - batches.keys(), default=None)
    if lost is not None:
        raise outside_pool(study, lost)
    judged = np.array([number for number in batches.values() if number >= 0], dtype=np.int64)
    return sizes, np.bincount(judged, minlength=len(sizes))


def queries_read_together(study: Study) -> int:
    """The number of queries in a batch of reading down: their first items fill it. It is finished
    when all are read down.
    """
    return max(_FEWEST_TOGETHER, study.batch // len(study.runs))


def needed_rows(study: Study, answers: StudyAnswers) -> Bools:
    """The items to ask next when reading down, (items,): the next one of each run that has not
    reached one that is relevant for sure.
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


def batch_sizes(study: Study) -> Ints:
    """The number of items in each batch of the last round: (batches,)."""
    rows = _rows(
        study,
        "SELECT count(*) FROM {pool} WHERE {batch} IS NOT NULL GROUP BY {batch} ORDER BY {batch}",
    )
    return np.array(rows, dtype=np.int64).reshape(-1)


def batch_pairs(study: Study, number: int) -> tuple[Pair, ...]:
    """The pairs of query and item of a batch of the last round, by query, then by u."""
    query = "SELECT query, item FROM {pool} WHERE {batch} = {number} ORDER BY query, u"
    return tuple(_rows(study, query, number=number))


def batches_of(study: Study, pairs: Collection[Pair]) -> dict[Pair, int]:
    """The batch of the last round of each pair in the pool, -1 where it is never asked."""
    if not pairs:
        return {}
    ids = np.array(list(pairs), dtype=object)
    rows = _rows(
        study,
        "SELECT query, item, coalesce({batch}, -1) FROM {pool} SEMI JOIN pairs USING (query, item)",
        {"query": ids[:, 0], "item": ids[:, 1]},
    )
    return {(query, item): batch for query, item, batch in rows}


def _rows(study: Study, query: str, pairs: Any = None, **numbers: int) -> list[Any]:
    """The rows of a query over {pool}, whose last round is {batch}."""
    pool, batch = parquet(study.pool_file), f"batch_{study.rounds}"
    with table_session(study.pool_file) as session:
        if pairs is not None:
            session.register("pairs", pairs)
        return session.execute(query.format(pool=pool, batch=batch, **numbers)).fetchall()


class Lease(NamedTuple):
    """A batch that a judge has taken.

    time: when it was taken.
    judge: name of the judge.
    round: number of the round, from 1.
    batch: number in the round, from 0.
    pairs: query and item of the batch, by query, then by u. The file has them only where the batch
        depends on answers.
    """

    time: str
    judge: str
    round: int
    batch: int
    pairs: tuple[Pair, ...] = ()


def lease_batch(study: Study, judge: str) -> Lease | None:
    """The batch that a judge works on: the judge's own unfinished one, else the next that no other
    judge has; None for none.
    """
    check_judge(judge)
    with locked(study.folder, wait=10):
        lines = read_journals(study).lines
        leases = records_in(
            study.folder / LEASES,
            "a lease",
            lambda row: Lease(
                str(row["time"]),
                str(row["judge"]),
                int(row["round"]),
                int(row["batch"]),
                tuple((str(query), str(item)) for query, item in row.get("pairs", ())),
            ),
            "remove the line",
        )
        latest = {line.judge: line.time for line in sorted(lines, key=lambda line: line.time)}
        limit = now(_LASTING)
        # A lease holds for 24 hours from it and from the judge's last line.
        held = [
            lease
            for lease in leases
            if lease.round == study.rounds and max(lease.time, latest.get(lease.judge, "")) > limit
        ]
        if study.design == "reading":
            number = max((lease.batch for lease in leases), default=-1) + 1
            return _lease_read_down(study, judge, number, held, StudyAnswers.of(study, lines))
        sizes, judged = _judged_of_batches(study, lines)
        unfinished = np.flatnonzero(judged < sizes).tolist()
        leased = {lease.batch: lease for lease in held}
        of_judge = [n for n in unfinished if n in leased and leased[n].judge == judge]
        free = [number for number in unfinished if number not in leased]
        if of_judge:
            lease = leased[of_judge[0]]
        elif free:
            lease = Lease(now(), judge, study.rounds, free[0])
            _append(study, lease)
        else:
            return None
        return lease._replace(pairs=batch_pairs(study, lease.batch))


def _lease_read_down(
    study: Study, judge: str, number: int, held: Sequence[Lease], answers: StudyAnswers
) -> Lease | None:
    """A batch of the items that reading down asks for next. number: that of a new one."""
    pool, rows = study.pool, np.flatnonzero(needed_rows(study, answers))
    row_of = dict(zip(study.pairs(rows), rows.tolist(), strict=True))
    for lease in held:
        left = tuple(pair for pair in lease.pairs if pair in row_of)
        if lease.judge == judge and left:
            return lease._replace(pairs=left)
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
    lease = Lease(now(), judge, study.rounds, number, tuple(study.pairs(next_rows[order])))
    _append(study, lease)
    return lease


def _append(study: Study, lease: Lease) -> None:
    row = {name: value for name, value in lease._asdict().items() if name != "pairs" or value}
    append_rows(study.folder / LEASES, [row])
