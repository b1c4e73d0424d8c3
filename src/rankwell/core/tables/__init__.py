"""Frozen columnar tables: flat arrays with offsets, the order of ids and of tied items, and values per query.

Ids are text; every order of ids is the order of their UTF-8 bytes. Rank counts place an item among the items of its query under
every tie rule, and sort no more than they must: a rank is one more than the number of items before it.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import Any, Literal, NamedTuple, TypeVar, get_args, overload

import numpy as np
from numpy.typing import NDArray

from rankwell.errors import BadInput, UnknownName
from rankwell.store import encode_id

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Column = TypeVar("Column", Ints, Floats)

TieRule = Literal["id-desc", "id-asc", "input", "expected", "optimistic", "pessimistic", "error"]
TIE_RULES: tuple[TieRule, ...] = get_args(TieRule)
MatrixTies = TieRule | Literal["input-desc", "averaged", "multiplied"]
"""Ties in a score matrix: `input` and `input-desc` put the lower and the higher position in the gallery first; `averaged` places
all tied items at the middle of their places (MMT); `multiplied` counts a query once for each place of its tie (CLIP4Clip)."""


def sort_ids(ids: Iterable[str]) -> list[str]:
    """The ids in ascending order of their bytes, as `strcmp` and trec_eval order them."""
    listed = list(ids)
    # Code point order equals byte order except where an id holds a lone surrogate, that is a byte that is not UTF-8.
    return sorted(listed) if all(map(str.isascii, listed)) else sorted(listed, key=encode_id)


def order_ids(*columns: Sequence[str]) -> Ints:
    """(rows,) the permutation that sorts rows by the first column's bytes, then by the second's, and so on."""
    rows = range(len(columns[0]))
    ascii_only = all(all(map(str.isascii, column)) for column in columns)
    keys = columns if ascii_only else [[encode_id(text) for text in column] for column in columns]
    if len(keys) == 1:
        return np.array(sorted(rows, key=keys[0].__getitem__), dtype=np.int64)
    joined = list(zip(*keys, strict=True))
    return np.array(sorted(rows, key=joined.__getitem__), dtype=np.int64)


def tie_order(ties: MatrixTies, names: Sequence[str]) -> Ints | None:
    """(items,) the place of each item among items of equal score where the rule names one; None for the order of the table."""
    if ties == "input-desc":
        return np.arange(len(names))[::-1].copy()
    if ties not in ("id-asc", "id-desc"):
        return None
    place = np.empty(len(names), dtype=np.int64)
    place[order_ids(list(names))] = np.arange(len(names))
    return place if ties == "id-asc" else len(names) - 1 - place


def query_counts(queries: Sequence[str], further: Iterable[str] = ()) -> tuple[list[str], Ints]:
    """The queries of rows and further ones, in the order of their ids, and how many rows each has."""
    names = sort_ids({*queries, *further})
    index = {name: position for position, name in enumerate(names)}
    return names, np.bincount([index[query] for query in queries], minlength=len(names)).astype(np.int64)


def offsets_of(counts: Ints) -> Ints:
    """(n + 1,) where each of n consecutive segments of the given lengths begins, and where the last one ends."""
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def position_in_segment(offsets: Ints) -> Ints:
    """(rows,) 0, 1, 2, … restarting at each offset."""
    counts = np.diff(offsets)
    return np.arange(int(offsets[-1]), dtype=np.int64) - np.repeat(offsets[:-1], counts)


def gather(offsets: Ints, segments: Ints) -> tuple[Ints, Ints]:
    """The rows of the chosen segments, one after the other, and where each begins."""
    counts = np.diff(offsets)[segments]
    new = offsets_of(counts)
    return position_in_segment(new) + np.repeat(offsets[segments], counts), new


def running_sum(values: Column, offsets: Ints) -> Column:
    """(rows,) the sum of a segment's values up to and including each row; the same bytes however segments are grouped."""
    result = np.empty_like(values)
    counts = np.diff(offsets)
    if not np.issubdtype(values.dtype, np.integer):
        # Summing across segments and subtracting would leave rounding of one query in the next, so floats go segment by segment.
        for start, stop in zip(offsets[:-1][counts > 0].tolist(), offsets[1:][counts > 0].tolist(), strict=True):
            np.cumsum(values[start:stop], out=result[start:stop])
        return result
    np.cumsum(values, out=result)
    before = np.concatenate([np.zeros(1, dtype=values.dtype), result])[offsets[:-1]]
    np.subtract(result, np.repeat(before, counts), out=result)
    return result


def ratio(part: Floats | Ints, whole: Floats | Ints | int) -> Floats:
    """The quotient, 0 where the divisor is 0: what trec_eval gives a query that has nothing to divide by."""
    below = np.broadcast_to(np.asarray(whole, dtype=np.float64), part.shape)
    return np.divide(part, below, out=np.zeros(part.shape), where=below != 0)


class RankCounts(NamedTuple):
    """Numbers of items that score higher than an item, that score the same (itself too), and of those before it in the order.

    Of any one shape; -1, and a score of NaN, for no item.
    """

    above: Ints
    tied: Ints
    scores: Floats
    before: Ints


def tie_rule(name: str) -> TieRule:
    """The tie rule of this name. Raises UnknownName."""
    for rule in TIE_RULES:
        if rule == name:
            return rule
    raise UnknownName(f"unknown tie rule {name!r}; choose one of {', '.join(TIE_RULES)}.")


def rank_counts(scores: Floats, offsets: Ints, targets: Ints, item_bytes: Callable[[int], bytes], ties: TieRule) -> RankCounts:
    """The counts of the target rows within their queries.

    scores: (rows,) of whole queries in input order. offsets: (queries + 1,) where each query's rows begin.
    targets: (hits,) rows, ascending. item_bytes: row -> id, called for rows inside a tie only.
    Under `expected`, `optimistic`, `pessimistic` and `error`, `before` is that of input order: the view resolves them.
    """
    query = np.searchsorted(offsets, targets, side="right") - 1
    start, stop = offsets[query], offsets[query + 1]
    falls = scores[1:] <= scores[:-1]
    if len(scores) > 1:
        inner = offsets[(offsets > 0) & (offsets < len(scores))]
        falls[inner - 1] = True
    # climbs[i] counts the rows before i that are lower than their successor: a query without any is already sorted.
    climbs = np.concatenate([[0], np.cumsum(~falls)]) if len(scores) else np.zeros(1, dtype=np.int64)
    is_sorted = climbs[np.maximum(stop - 1, 0)] == climbs[start]
    above, tied = _counts_in_sorted(scores, offsets, targets, start)
    unsorted = query[~is_sorted]
    for each in unsorted[np.diff(unsorted, prepend=-1) != 0].tolist():
        mine = slice(*np.searchsorted(query, [each, each + 1]).tolist())
        ordered = np.sort(scores[offsets[each] : offsets[each + 1]])
        left = np.searchsorted(ordered, scores[targets[mine]], side="left")
        right = np.searchsorted(ordered, scores[targets[mine]], side="right")
        above[mine], tied[mine] = len(ordered) - right, right - left
    before = np.zeros(len(targets), dtype=np.int64)
    in_ties = np.flatnonzero(tied > 1)
    # A tie is named by its query and the items above it; its members are put in order once, however many of them are targets.
    order = in_ties[np.lexsort((above[in_ties], start[in_ties]))]
    cuts = np.flatnonzero(np.diff(start[order]) | np.diff(above[order])) + 1
    for group in np.split(order, cuts) if len(order) else ():
        first = int(group[0])
        rivals = start[first] + np.flatnonzero(scores[start[first] : stop[first]] == scores[targets[first]])
        before[group] = _places(targets[group], rivals, item_bytes, ties)
    return RankCounts(above, tied, scores[targets], before)


def _counts_in_sorted(scores: Floats, offsets: Ints, targets: Ints, start: Ints) -> tuple[Ints, Ints]:
    """Rows above and rows tied of the target rows, right where the query's scores never rise."""
    new = np.ones(len(scores) + 1, dtype=np.bool_)
    if len(scores):
        np.not_equal(scores[1:], scores[:-1], out=new[1:-1])
        new[offsets] = True
    runs = np.flatnonzero(new)
    run = np.searchsorted(runs, targets, side="right") - 1
    return runs[run] - start, runs[np.minimum(run + 1, len(runs) - 1)] - runs[run]


def _places(targets: Ints, rivals: Ints, item_bytes: Callable[[int], bytes], ties: TieRule) -> Ints:
    """The place of each target row, from 0, among the rows it is tied with."""
    if ties not in ("id-desc", "id-asc"):
        return np.searchsorted(rivals, targets)
    ordered = sorted(rivals.tolist(), key=item_bytes, reverse=ties == "id-desc")
    place = {row: position for position, row in enumerate(ordered)}
    return np.array([place[row] for row in targets.tolist()], dtype=np.int64)


def arrange(scores: Floats, item_bytes: Callable[[int], bytes], ties: TieRule) -> Ints:
    """(rows,) the rows of one query from first to last: by score, then by the tie rule (`input` where it names no order)."""
    rows = np.argsort(-scores, kind="stable")
    if ties not in ("id-desc", "id-asc"):
        return rows
    # Compared, not subtracted: scores beyond single precision are infinite there, and all the same.
    ordered = scores[rows]
    edges = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1], [True]]))
    for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        if last - first > 1:
            rows[first:last] = sorted(rows[first:last].tolist(), key=item_bytes, reverse=ties == "id-desc")
    return rows


Summary = Literal["mean", "sum", "median", "median_low", "median_floor", "geometric"]
Unit = Literal["share", "percent", "rank", "count", "score"]


@dataclass(frozen=True, eq=False)
class Values:
    """One number per query for one run and one measure, in the unit that is named: percentages are 0 to 100.

    run: its name. measure: the exact name. label: the word that the convention uses for it, the same where there is no other.
    summary: how the queries become one figure. queries: ids. values: (queries,) NaN where a query is not counted.
    weights: (queries,) make the mean a ratio of sums, Σ weight · value / Σ weight; finite and not negative where counted.
    Raises BadInput where the lengths differ, a value is infinite, or a weight cannot be one.
    """

    run: str
    measure: str
    label: str
    unit: Unit
    summary: Summary
    queries: tuple[str, ...]
    values: Floats
    weights: Floats | None = None

    def __post_init__(self) -> None:
        where = f"run {self.run!r}, measure {self.measure!r}"
        for name, column in (("values", self.values), ("weights", self.weights)):
            if column is not None and column.shape != (len(self.queries),):
                raise BadInput(f"{where}: {name} have the shape {column.shape}; expected one per query, ({len(self.queries)},).")
        if np.isinf(self.values).any():
            query = self.queries[int(np.flatnonzero(np.isinf(self.values))[0])]
            raise BadInput(f"{where}: query {query!r} has an infinite value; use NaN for a query that is not counted.")
        if self.weights is not None:
            if self.summary != "mean":
                raise BadInput(f"{where}: weights require the summary 'mean', not {self.summary!r}.")
            wrong = self.counted & ~((self.weights >= 0) & np.isfinite(self.weights))
            if wrong.any():
                row = int(np.flatnonzero(wrong)[0])
                raise BadInput(
                    f"{where}: query {self.queries[row]!r} has the weight {self.weights[row]}; weights are finite, from 0."
                )

    @cached_property
    def counted(self) -> Bools:
        """(queries,) whether a query has a value."""
        return ~np.isnan(self.values)


class ValueRows(Sequence[dict[str, Any]]):
    """The values of single queries as rows, by run, query and measure; a row is made when it is read.

    groups: (runs,) the values of each run, all of the same queries. `value` is None where a query is not counted.
    """

    columns = ("run", "query", "measure", "label", "value", "unit")

    def __init__(self, values: Sequence[Values]) -> None:
        self.groups = [list(group) for _, group in itertools.groupby(values, key=lambda each: each.run)]

    def __len__(self) -> int:
        return sum(len(each.queries) for group in self.groups for each in group)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for group in self.groups:
            numbers = [each.values.tolist() for each in group]
            for position, query in enumerate(group[0].queries):
                for each, values in zip(group, numbers, strict=True):
                    value = values[position]
                    yield {
                        "run": each.run,
                        "query": query,
                        "measure": each.measure,
                        "label": each.label,
                        "value": None if isnan(value) else value,
                        "unit": each.unit,
                    }

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(index, slice):
            return list(self)[index]
        return next(itertools.islice(self, range(len(self))[index], None))
