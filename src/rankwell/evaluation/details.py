"""Details: the first items of each query and every judged one, with rank, score, grade and state; the rows of details.parquet."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, repeat
from operator import gt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell.core.tables import Bools, Floats, Ints, Judgments, running_sum
from rankwell.core.tables.ranking import Hits, Ranking
from rankwell.core.views.judged import JudgedRankings


class Details(NamedTuple):
    """Columns of equal length, by query and rank, items that were not retrieved last. rank and score: NaN where not retrieved.

    state: `relevant`, `nonrelevant`, `unjudged` (also where pooled but not judged) or `junk`. grade: NaN where unjudged or junk.
    """

    query: list[str]
    item: list[str]
    rank: Floats
    score: Floats
    grade: Floats
    state: list[str]


_STATES = np.array(["relevant", "nonrelevant", "unjudged", "junk"], dtype=object)


def details_of(judgments: Judgments, hits: Hits, view: JudgedRankings) -> Details:
    """The details of one ranking; `hits.top` gives the first items of each query, `view` the ranks after junk is gone."""
    n = len(judgments.items)
    # Items that are not judged have the row -1, that of the entry behind the last.
    junk = np.append(np.zeros(n, dtype=np.bool_) if judgments.junk is None else judgments.junk, False)
    grades, (ranks, scores) = np.append(judgments.grades, np.nan), np.full((2, n + 1), np.nan)
    # Of an item that appears twice in a list the first place counts, which is assigned last.
    ranks[view.items[::-1]], scores[view.items[::-1]] = view.ranks[::-1], view.scores[::-1]
    first = _first_items(judgments, hits.top, junk)
    listed = np.zeros(n + 1, dtype=np.bool_)
    listed[first.row] = True
    rest = np.flatnonzero(~listed[:n])
    row, query = np.concatenate([first.row, rest]), np.concatenate([first.query, judgments.query_of_row[rest]])
    item = np.concatenate([first.item, np.array(judgments.items, dtype=object)[rest]])
    is_junk, grade, rank, score = junk[row], grades[row], ranks[row], scores[row]
    for column, own in ((rank, first.rank), (score, first.score)):
        open_ = np.flatnonzero(np.isnan(column[: len(own)]))
        column[open_] = own[open_]
    order = _order(query, rank, len(first.row), item)
    state = np.full(len(row), 2, dtype=np.int8)
    state[grade >= 0] = 1
    state[grade > 0] = 0
    state[is_junk], grade[is_junk] = 3, np.nan
    return Details(
        query=np.array(judgments.queries, dtype=object)[query[order]].tolist(),
        item=item[order].tolist(),
        rank=rank[order],
        score=score[order],
        grade=grade[order],
        state=_STATES[state[order]].tolist(),
    )


class _FirstItems(NamedTuple):
    """The first items of queries, each once. row: of the judgments, -1 where unjudged. rank: NaN of junk."""

    query: Ints
    item: NDArray[Any]
    row: Ints
    rank: Floats
    score: Floats


def _first_items(judgments: Judgments, top: Ranking | None, junk: Bools) -> _FirstItems:
    """Junk takes no rank. junk: (rows + 1,), the last entry for items that are not judged."""
    if top is None:
        none = np.zeros(0, dtype=np.int64)
        return _FirstItems(none, none.astype(object), none, np.zeros(0), np.zeros(0))
    own = list(map(judgments.index.__getitem__, top.queries))
    found, again = list[int](), list[int]()
    bounds, judged = top.offsets.tolist(), judgments.offsets.tolist()
    for position, start, stop in zip(own, bounds, bounds[1:], strict=False):
        rows = range(judged[position], judged[position + 1])
        known = dict(zip(judgments.items[rows.start : rows.stop], rows, strict=True))
        items = top.items[start:stop]
        found += map(known.get, items, repeat(-1))
        if len(set(items)) < len(items):
            seen: dict[str, int] = {}
            again += [place for place, item in enumerate(items, start) if seen.setdefault(item, place) != place]
    row = np.array(found, dtype=np.int64)
    rank = running_sum((~junk[row]).astype(np.int64), top.offsets).astype(np.float64)
    rank[junk[row]] = np.nan
    query = np.repeat(np.array(own, dtype=np.int64), np.diff(top.offsets))
    kept = np.delete(np.arange(len(row)), again)
    return _FirstItems(query[kept], np.array(top.items, dtype=object)[kept], row[kept], rank[kept], top.scores[kept])


def _order(query: Ints, rank: Floats, n_listed: int, item: NDArray[Any]) -> Ints:
    """The order of rows: by query and rank, equal ranks by id; then junk of the first `n_listed` rows, then the rest by id."""
    last = np.nanmax(rank, initial=0.0) + 1
    key, none = query * int(last + n_listed + 1), np.isnan(rank)
    key[~none] += rank[~none].astype(np.int64)
    key[none] += int(last) + np.minimum(np.flatnonzero(none), n_listed)
    order = np.argsort(key, kind="stable")
    key, item = key[order], item[order]
    alike = np.flatnonzero(key[1:] == key[:-1])
    if any(map(gt, item[alike], item[alike + 1])):
        for start, stop in pairwise([0, *(np.flatnonzero(np.diff(key)) + 1).tolist(), len(key)]):
            if stop - start > 1:
                order[start:stop] = order[start + np.array(sorted(range(stop - start), key=item[start:stop].__getitem__))]
    return order


DETAIL_COLUMNS = ("run", "query", "item", "rank", "score", "grade", "state", "detail")

COMPLETE = {"unjudged": "nonrelevant"}
"""The states where the judgments are complete: an item that they do not list is not relevant."""


def detail_columns(
    parts: Iterable[tuple[str, Details, Sequence[str | None] | str | None]], *, states: Mapping[str, str] | None = None
) -> dict[str, list[Any]]:
    """The columns of details.parquet; NaN becomes None. states: state -> the task's word for it, such as `COMPLETE`.

    parts: the name of a run, its details, and what the task knows of the rows as JSON: one text each, one for all, or None.
    """
    columns: dict[str, list[Any]] = {name: [] for name in DETAIL_COLUMNS}
    for run, details, attributes in parts:
        n = len(details.query)
        columns["run"] += [run] * n
        columns["detail"] += [attributes] * n if attributes is None or isinstance(attributes, str) else list(attributes)
        for name, values in details._asdict().items():
            listed = values if isinstance(values, list) else np.where(np.isnan(values), np.array(None), values).tolist()
            columns[name] = columns[name] + listed if columns[name] else listed
    if states:
        columns["state"] = [states.get(state, state) for state in columns["state"]]
    return columns
