"""Details: the first items of each query and every judged one, with rank, score, grade and state;
the rows of details.parquet.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from operator import gt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell.data.frames import Joined
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.rankings import Hits, Ranking
from rankwell.data.tables import Bools, Floats, Ints, Judgments, running_sum

Texts = Sequence[str] | NDArray[Any]
Columns = dict[str, list[Any]]
"""The columns of a table, by name."""


class Details(NamedTuple):
    """The judged and listed items of all queries, as columns of equal length, by query and rank.
    Items that were not retrieved come last.

    query: ids of the queries.
    item: ids of the items.
    rank: ranks from 1; NaN where not retrieved.
    score: scores of the run; NaN where not retrieved.
    grade: judged grades; NaN where unjudged or junk.
    state: `relevant`, `nonrelevant`, `unjudged` or `junk`.
    """

    query: Texts
    item: Texts
    rank: Floats
    score: Floats
    grade: Floats
    state: Texts


_STATES = np.array(["relevant", "nonrelevant", "unjudged", "junk"], dtype=object)


def details_of(
    judgments: Judgments, hits: Hits, view: JudgedRankings, relevant_from: float = 1
) -> Details:
    """The details of one ranking. hits: in the order of `top`, the first items of each query. view:
    the ranks without junk. relevant_from: the lowest relevant grade; up to 1 every grade above 0
    is.
    """
    n = len(judgments.items)
    # Items that are not judged have the row -1, that of the entry behind the last.
    is_unranked = np.append(judgments.unranked, False)
    grades, (ranks, scores) = np.append(judgments.grades, np.nan), np.full((2, n + 1), np.nan)
    # Of an item that appears twice in a list the first place counts, which is assigned last.
    ranks[view.items[::-1]], scores[view.items[::-1]] = view.ranks[::-1], view.scores[::-1]
    query, item, row, listed_ranks, listed_scores = _first_items(judgments, hits, is_unranked)
    is_listed, n_listed = np.zeros(n + 1, dtype=np.bool_), len(row)
    is_listed[row] = True
    unlisted_rows = np.flatnonzero(~is_listed[:n])
    row = np.concatenate([row, unlisted_rows])
    query = np.concatenate([query, judgments.query_of_row[unlisted_rows]])
    item = np.concatenate([item, np.array(judgments.items, dtype=object)[unlisted_rows]])
    is_junk, grade, rank, score = is_unranked[row], grades[row], ranks[row], scores[row]
    for column, listed_values in ((rank, listed_ranks), (score, listed_scores)):
        missing = np.flatnonzero(np.isnan(column[:n_listed]))
        column[missing] = listed_values[missing]
    order = _order(query, rank, n_listed, item)
    is_relevant = grade > 0 if relevant_from <= 1 else grade >= relevant_from
    state = np.select([is_junk, is_relevant, grade >= view.least_judged], [3, 0, 1], 2)
    grade[is_junk] = np.nan
    return Details(
        query=np.array(judgments.queries, dtype=object)[query[order]],
        item=item[order],
        rank=rank[order],
        score=score[order],
        grade=grade[order],
        state=_STATES[state[order]],
    )


def _first_items(
    judgments: Judgments, hits: Hits, junk: Bools
) -> tuple[Ints, NDArray[Any], Ints, Floats, Floats]:
    """Query, item, row of the judgments (-1 where unjudged), rank and score of the first items of
    queries, each once.

    Junk has no rank. junk: (rows + 1,), the last entry for items that are not judged.
    """
    top = hits.top or Ranking((), np.zeros(1, dtype=np.int64), [], np.zeros(0))
    query_index = np.array(list(map(judgments.index.__getitem__, top.queries)), dtype=np.int64)
    start, size = np.zeros((2, len(judgments.queries)), dtype=np.int64)
    start[query_index], size[query_index] = top.offsets[:-1], np.diff(top.offsets)
    position = hits.above + hits.before
    in_list = position < size[hits.query]
    row = np.full(len(top.items), -1)
    row[start[hits.query[in_list]] + position[in_list]] = hits.row[in_list]
    rank = running_sum((~junk[row]).astype(np.int64), top.offsets).astype(np.float64)
    rank[junk[row]] = np.nan
    items, is_first = top.items, np.ones(len(top.items), dtype=np.bool_)
    for begin, end in pairwise(top.offsets.tolist()):
        if len({*items[begin:end]}) < end - begin:
            earlier = set[str]()
            for position, item in enumerate(items[begin:end], begin):
                is_first[position] = item not in earlier
                earlier.add(item)
    rows, query = np.flatnonzero(is_first), query_index.repeat(np.diff(top.offsets))
    return query[rows], np.array(items, dtype=object)[rows], row[rows], rank[rows], top.scores[rows]


def _order(query: Ints, rank: Floats, n_listed: int, item: NDArray[Any]) -> Ints:
    """The order of rows: by query and rank, equal ranks by id; then junk of the first `n_listed`
    rows, then the rest by id.
    """
    last = np.nanmax(rank, initial=0.0) + 1
    unranked_place = last + np.minimum(np.arange(len(rank)), n_listed)
    place = np.where(np.isnan(rank), unranked_place, rank).astype(np.int64)
    key = query * int(last + n_listed + 1) + place
    order = np.argsort(key, kind="stable")
    key = key[order]
    equal_keys = np.flatnonzero(key[1:] == key[:-1])
    if any(map(gt, item[order[equal_keys]], item[order[equal_keys + 1]])):
        for start, stop in pairwise([0, *(np.flatnonzero(np.diff(key)) + 1).tolist(), len(key)]):
            if stop - start > 1:
                order[start:stop] = sorted(order[start:stop], key=item.__getitem__)
    return order


DETAIL_COLUMNS = ("run", "query", "item", "rank", "score", "grade", "state", "detail")

COMPLETE = {"unjudged": "nonrelevant"}
"""The states where the judgments are complete: an item that they do not list is not relevant."""


class DetailColumns(Mapping[str, list[Any]]):
    """The columns of details.parquet, NaN as None; each is made of those of `arrays`, which are
    written, when first read.

    sizes: the number of rows of each run by its name, in order.
    """

    def __init__(self, arrays: Mapping[str, Joined], sizes: Sequence[tuple[str, int]]) -> None:
        self.arrays, self._sizes, self._listed = arrays, sizes, Columns()

    def by_run(self, *names: str) -> Iterator[tuple[str, dict[str, NDArray[Any]]]]:
        """Some columns of the rows of each run, one after the other."""
        start = 0
        for run, size in self._sizes:
            yield run, {name: self.arrays[name][start : start + size] for name in names}
            start += size

    def __getitem__(self, name: str) -> list[Any]:
        if name not in self._listed:
            array = self.arrays[name][:]
            cells = array.astype(object)
            cells[array != array] = None
            self._listed[name] = cells.tolist()
        return self._listed[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)


def compact(details: Details) -> Details:
    """The same in a fifth of the memory, its columns made when they are read: item by item the
    texts are one.
    """
    n = len(details.query)
    query, item = (np.asarray(column, dtype=object) for column in (details.query, details.item))
    starts = np.append(0, np.flatnonzero(query[1:] != query[:-1]) + 1)[:n]
    owners, sizes = query[starts], np.diff(np.append(starts, n)).astype(np.int32)
    texts = "".join(item.tolist())
    ends = np.cumsum(np.fromiter(map(len, item.tolist()), dtype=np.int64, count=n))
    state = np.asarray(details.state, dtype=object)
    codes = np.select([state == name for name in _STATES], range(len(_STATES))).astype(np.int8)
    rank = details.rank.astype(np.float32)

    def _items(_: int) -> NDArray[Any]:
        edges = pairwise([0, *ends.tolist()])
        return np.array([texts[start:end] for start, end in edges], dtype=object)

    makers: dict[str, Callable[[int], NDArray[Any]]] = {
        "query": lambda _: owners.repeat(sizes),
        "item": _items,
        "rank": lambda _: rank.astype(np.float64),
        "state": lambda _: _STATES[codes],
    }
    return details._replace(**{name: Joined([n], make) for name, make in makers.items()})


def detail_columns(
    parts: Iterable[tuple[str, Details, Sequence[str | None] | str | None]],
    *,
    states: Mapping[str, str] | None = None,
) -> DetailColumns:
    """The columns of details.parquet. states: state -> the task's word for it, such as `COMPLETE`.

    parts: the name of a run, its details, and what the task knows of the rows as JSON: one text
    each, one for all, or None.
    """
    run_parts = list(parts)
    sizes = [len(details.query) for _, details, _ in run_parts]

    def _column(name: str, index: int) -> NDArray[Any]:
        run, details, attributes = run_parts[index]
        cells = {**details._asdict(), "run": run, "detail": attributes}[name]
        if cells is None or isinstance(cells, str):
            return np.broadcast_to(np.array([cells], dtype=object), sizes[index])
        array = np.asarray(cells, dtype=None if isinstance(cells, np.ndarray | Joined) else object)
        if name != "state" or not states:
            return array
        words = array.copy()
        for state, word in states.items():
            words[array == state] = word
        return words

    arrays = {name: Joined(sizes, partial(_column, name)) for name in DETAIL_COLUMNS}
    return DetailColumns(
        arrays, [(run, size) for (run, *_), size in zip(run_parts, sizes, strict=True)]
    )
