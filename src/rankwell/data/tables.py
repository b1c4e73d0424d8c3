"""Frozen columnar tables: flat arrays with offsets, the order of ids (their UTF-8 bytes), and
sums that are rounded once, whatever the order of their terms.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby, islice, pairwise
from math import isfinite, isnan
from numbers import Integral
from typing import Any, Literal, NamedTuple, Self, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwell.data.frames import Framed
from rankwell.errors import BadInput, BadUsage, DuplicateItem, UnknownName
from rankwell.store import encode_id


def id_text(value: object) -> str | None:
    """An id as text: strings unchanged, integers written out; None for anything else."""
    if not isinstance(value, bool) and isinstance(value, Integral):
        with suppress(ValueError):  # Python writes only so many digits
            return str(int(value))
    return str(value) if isinstance(value, str) else None


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Column = TypeVar("Column", Ints, Floats)
Key = TypeVar("Key")
Entry = TypeVar("Entry")

TieRule = Literal["id-desc", "id-asc", "input", "expected", "optimistic", "pessimistic", "error"]
TIE_RULES: tuple[TieRule, ...] = get_args(TieRule)
MatrixTies = TieRule | Literal["input-desc"]
"""Ties in a score matrix: `input` and `input-desc` put the lower and the higher position in the
gallery first.
"""


def refuse_masked(array_like: Any, noun: str = "the array") -> None:
    """Raises BadInput naming the first masked entry of an array, or of the rows in a list: without
    a mask it is a number as any.

    A ranking has a number for every item: an item that is not retrieved is left out of lists, a
    matrix cannot leave one out.
    """
    rows = (
        list(array_like)
        if isinstance(array_like, (list, tuple)) and np.ma.MaskedArray in set(map(type, array_like))
        else []
    )
    for row_index, array in (
        ((), array_like),
        *(((row,), array_row) for row, array_row in enumerate(rows)),
    ):
        if isinstance(array, np.ma.MaskedArray) and (mask := np.ma.getmaskarray(array)).any():
            axes = (*row_index, *np.argwhere(mask)[0].tolist())
            where = (
                f"row {axes[0]}"
                if len(axes) == 1
                else f"row {axes[0]}, column {axes[1]}"
                if len(axes) == 2
                else f"place {axes}"
            )
            raise BadInput(
                f"{noun} is masked in {where} (from 0); expected a number in every place: fill it "
                "(array.filled(value)), or leave the row or column out."
            )


def is_missing(value: Any) -> bool:
    """Whether a cell is empty: as None, NaN, or the marks of NumPy and pandas for what is not
    there.
    """
    marks = ("MaskedConstant", "NAType", "NaTType")
    return (
        value is None
        or (isinstance(value, float) and value != value)
        or type(value).__name__ in marks
    )


def unmasked(array_like: Any, noun: str, dtype: Any = None) -> NDArray[Any]:
    """The thing as an array. Raises BadInput for a masked entry, and as NumPy for what cannot be
    one.
    """
    refuse_masked(array_like, noun)
    return np.asarray(array_like, dtype=dtype)


def positions_by_id(ids: Iterable[Key]) -> dict[Key, int]:
    """The position of each id, from 0."""
    return {name: position for position, name in enumerate(ids)}


def grouped(pairs: Iterable[tuple[Key, Entry]]) -> dict[Key, list[Entry]]:
    """The entries of each key, in the order of first sight."""
    entries: dict[Key, list[Entry]] = {}
    for key, entry in pairs:
        entries.setdefault(key, []).append(entry)
    return entries


def without_none(by_name: Mapping[Key, Entry | None]) -> dict[Key, Entry]:
    """The entries that are not None."""
    return {name: entry for name, entry in by_name.items() if entry is not None}


def is_number(cell: Any) -> bool:
    """Whether a cell is a number; a truth value is none."""
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)


def sort_ids(ids: Iterable[str]) -> list[str]:
    """The ids in ascending order of their bytes, as `strcmp` and trec_eval order them."""
    id_list = list(ids)
    # Code point order equals byte order except where an id holds a lone surrogate, that is a byte
    # that is not UTF-8.
    return sorted(id_list) if all(map(str.isascii, id_list)) else sorted(id_list, key=encode_id)


def order_ids(*columns: Sequence[str]) -> Ints:
    """Permutation that sorts rows by the first column's bytes, then by the second's, and so on."""
    ascii_only = all(all(map(str.isascii, column)) for column in columns)
    keys = columns if ascii_only else [[encode_id(text) for text in column] for column in columns]
    row_keys = keys[0] if len(keys) == 1 else list(zip(*keys, strict=True))
    return np.array(sorted(range(len(row_keys)), key=row_keys.__getitem__), dtype=np.int64)


def order_distinct(problem: str, *columns: Sequence[str]) -> list[int]:
    """The same permutation. Raises DuplicateItem for two rows that are alike; problem: says it,
    with braces for their cells.
    """
    rows = order_ids(*columns).tolist()
    keys = list(zip(*columns, strict=True))
    for row, following in pairwise(rows):
        if keys[row] == keys[following]:
            first, second = sorted((row + 1, following + 1))
            raise DuplicateItem(
                f"{problem.format(*keys[row])}, in rows {first} and {second}; keep one of them."
            )
    return rows


def first_repeated(ids: Sequence[str]) -> tuple[str, int, int] | None:
    """The first id that is there before, with both positions."""
    if len(set(ids)) == len(ids):
        return None
    first_row: dict[str, int] = {}
    for row, name in enumerate(ids):
        if first_row.setdefault(name, row) != row:
            return name, first_row[name], row
    return None


def first_true(mask: ArrayLike) -> int:
    """The position of the first true value; -1 without one."""
    positions = np.flatnonzero(mask)
    return int(positions[0]) if len(positions) else -1


def equal_runs(rows: Ints, *keys: Ints) -> list[Ints]:
    """Rows that are in the order of some keys, in groups of equal keys."""
    changes = np.any([np.diff(key[rows]) != 0 for key in keys], axis=0)
    return np.split(rows, np.flatnonzero(changes) + 1) if len(rows) else []


def tie_order(ties: str, names: Sequence[str]) -> Ints | None:
    """Place of each item among items of equal score where the rule names one; None for the order of
    the table.
    """
    if ties == "input-desc":
        return np.arange(len(names))[::-1].copy()
    if ties not in ("id-asc", "id-desc"):
        return None
    ordinals = np.empty(len(names), dtype=np.int64)
    ordinals[order_ids(list(names))] = np.arange(len(names))
    return ordinals if ties == "id-asc" else len(names) - 1 - ordinals


def segment_offsets(counts: Ints) -> Ints:
    """Beginning of each of n consecutive segments of these lengths, and the end of the last: (n +
    1,).
    """
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def index_queries(
    queries: Sequence[str], extra: Iterable[str] = ()
) -> tuple[tuple[str, ...], Ints]:
    """The queries of rows and further ones, in the order of their ids, and (rows,) the position of
    each row's query.
    """
    names = tuple(sort_ids({*queries, *extra}))
    index = positions_by_id(names)
    return names, np.fromiter(
        (index[query] for query in queries), dtype=np.int64, count=len(queries)
    )


def columns_of(rows: Iterable[tuple[Any, ...]], n: int) -> list[list[Any]]:
    """The n columns of rows, of which there may be none."""
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(n)]


def nested_columns(mapping: Mapping[str, Any], depth: int) -> list[list[Any]]:
    """The rows of nested mappings as columns: the keys of each level, and the values."""
    rows: list[tuple[Any, ...]] = [(mapping,)]
    for _ in range(depth):
        rows = [(*keys, key, value) for *keys, inner in rows for key, value in inner.items()]
    return columns_of(rows, depth + 1)


def offsets_from_rows(owner: Ints, n: int) -> Ints:
    """Beginning of the rows of each of n segments, by the segment of each row, and the end: (n +
    1,).
    """
    return segment_offsets(np.bincount(owner, minlength=n).astype(np.int64))


def segment_of_row(offsets: Ints) -> Ints:
    """The segment of each row."""
    return np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))


def sum_by(owner: Ints, values: Floats | Bools | Ints, n: int) -> Floats:
    """Sum of each of n owners' values, added in the order of the rows; 0 without rows."""
    # bincount of nothing gives integers, whatever the weights are.
    return np.bincount(owner, weights=values, minlength=n).astype(np.float64, copy=False)


def position_in_segment(offsets: Ints) -> Ints:
    """Position of each row in its segment, from 0."""
    counts = np.diff(offsets)
    return np.arange(int(offsets[-1]), dtype=np.int64) - np.repeat(offsets[:-1], counts)


def take_segments(offsets: Ints, segments: Ints) -> tuple[Ints, Ints]:
    """The rows of the chosen segments, one after the other, and where each begins."""
    counts = np.diff(offsets)[segments]
    new = segment_offsets(counts)
    return position_in_segment(new) + np.repeat(offsets[segments], counts), new


_DEEPEST = 10_000_000


def ranks_to(k: int) -> Floats:
    """Ranks from 1 to k, for measures that compute every rank down to their cut-off. Raises
    BadUsage above 10 million.
    """
    if k > _DEEPEST:
        raise BadUsage(
            f"@{k}: this measure computes every rank down to its cut-off; expected at most "
            f"{_DEEPEST}."
        )
    return np.arange(1.0, k + 1)


def running_sum(values: Column, offsets: Ints) -> Column:
    """Running sum within each segment; the same bytes however segments are grouped."""
    result = np.empty_like(values)
    if not np.issubdtype(values.dtype, np.integer):
        # Summing across segments and subtracting would leave rounding of one query in the next, so
        # floats go segment by segment.
        for start, stop in pairwise(np.unique(offsets).tolist()):
            np.cumsum(values[start:stop], out=result[start:stop])
        return result
    np.cumsum(values, out=result)
    before = np.concatenate([np.zeros(1, dtype=values.dtype), result])[offsets[:-1]]
    np.subtract(result, np.repeat(before, np.diff(offsets)), out=result)
    return result


def columns_at(table: Any, rows: Ints, *names: str) -> dict[str, Any]:
    """Some rows of a table's columns, by name."""
    return {name: getattr(table, name)[rows] for name in names}


def ratio(dividend: Floats | Ints, divisor: Floats | Ints | int) -> Floats:
    """The quotient, 0 where the divisor is 0: what trec_eval gives a query that has nothing to
    divide by.
    """
    below = np.broadcast_to(np.asarray(divisor, dtype=np.float64), dividend.shape)
    return np.divide(dividend, below, out=np.zeros(dividend.shape), where=below != 0)


class RankCounts(NamedTuple):
    """The counts that place items among all items of their queries; arrays of one shape, with -1,
    and a score of NaN, for no item.

    scores: scores of the items.
    above: number of items that score higher.
    tied: number of items that score the same, the item itself included.
    before: number of the tied items that are placed earlier.
    """

    scores: Floats
    above: Ints
    tied: Ints
    before: Ints


def tie_rule(name: str) -> TieRule:
    """The tie rule of this name. Raises UnknownName."""
    if name in TIE_RULES:
        return name
    raise UnknownName(f"unknown tie rule {name!r}; choose one of {', '.join(TIE_RULES)}.")


Summary = Literal["mean", "sum", "median", "median_low", "median_floor", "geometric"]
Unit = Literal["share", "percent", "rank", "count", "score", "ms", "s", "queries/s", "MB"]


@dataclass(frozen=True, eq=False)
class Values:
    """One number per query for one run and one measure.

    Raises BadInput where the lengths differ, a value is infinite, or a weight is negative or not
    finite.

    run: name of the run.
    measure: exact name of the measure.
    label: the convention's word for the measure; the exact name where it has none.
    unit: unit of the values; percentages are 0 to 100.
    summary: how the queries become one figure.
    queries: ids of the queries.
    values: (queries,) NaN where a query is not counted.
    weights: (queries,) make the mean a ratio of sums, Σ weight · value / Σ weight; finite and not
        negative where counted. None for a plain mean.

    >>> import numpy as np
    >>> import rankwell as rw
    >>> values = rw.Values(
    ...     "mine", "RR", "RR", "share", "mean", ("q1", "q2"), np.array([1.0, np.nan])
    ... )
    >>> values.counted.tolist()
    [True, False]
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
                raise BadInput(
                    f"{where}: {name} have the shape {column.shape}; expected one per query, "
                    f"({len(self.queries)},)."
                )
        if (row := first_true(np.isinf(self.values))) >= 0:
            raise BadInput(
                f"{where}: query {self.queries[row]!r} has an infinite value; use NaN for a query "
                "that is not counted."
            )
        if self.weights is not None:
            if self.summary != "mean":
                raise BadInput(
                    f"{where}: weights require the summary 'mean', not {self.summary!r}."
                )
            is_weight = (self.weights >= 0) & np.isfinite(self.weights)
            if (row := first_true(self.counted & ~is_weight)) >= 0:
                raise BadInput(
                    f"{where}: query {self.queries[row]!r} has the weight {self.weights[row]}; "
                    "weights are finite, from 0."
                )

    @cached_property
    def counted(self) -> Bools:
        """Whether each query has a value."""
        return ~np.isnan(self.values)


class ValueRows(Sequence[dict[str, Any]]):
    """The values of single queries as rows, by run, query and measure; a row is made when it is
    read.

    groups: (runs,) the values of each run, all of the same queries. `value` is None where a query
    is not counted.
    """

    columns = ("run", "query", "measure", "label", "value", "unit")

    def __init__(self, values: Sequence[Values]) -> None:
        self.groups = [list(group) for _, group in groupby(values, key=lambda values_: values_.run)]

    def __len__(self) -> int:
        return sum(len(values.queries) for group in self.groups for values in group)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for group in self.groups:
            numbers = [values.values.tolist() for values in group]
            for query, *cells in zip(group[0].queries, *numbers, strict=True):
                for values, value in zip(group, cells, strict=True):
                    yield {
                        "run": values.run,
                        "query": query,
                        "measure": values.measure,
                        "label": values.label,
                        "value": None if isnan(value) else value,
                        "unit": values.unit,
                    }

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return list(self)[index]
        return next(islice(self, range(len(self))[index], None))


@dataclass(frozen=True, eq=False)
class QueryRows:
    """Rows by query.

    queries: every query, also one without rows.
    offsets: (queries + 1,) where the rows of each query begin.
    """

    queries: tuple[str, ...]
    offsets: Ints

    @cached_property
    def index(self) -> dict[str, int]:
        """The position of each query in `queries`."""
        return positions_by_id(self.queries)

    def rows_of(self, query: str) -> slice:
        """The rows of a query; none for an unknown query."""
        at = self.index.get(query)
        return slice(0, 0) if at is None else slice(*self.offsets[at : at + 2].tolist())

    @cached_property
    def query_of_row(self) -> Ints:
        """Index of each row's query."""
        return segment_of_row(self.offsets)

    @property
    def row_queries(self) -> list[str]:
        """Id of each row's query."""
        return [self.queries[query] for query in self.query_of_row.tolist()]

    def sum_rows(self, values: Floats | Bools | Ints) -> Floats:
        """Sum of the rows' values of each query, added in order of rank; 0 without rows."""
        return sum_by(self.query_of_row, values, len(self.queries))

    def by_query(self, items: Sequence[str], numbers: Floats) -> dict[str, dict[str, float]]:
        """The mapping query -> item -> number, from the items and numbers of all rows."""
        cells = numbers.tolist()
        return {
            query: dict(zip(items[start:stop], cells[start:stop], strict=True))
            for query, (start, stop) in zip(
                self.queries, pairwise(self.offsets.tolist()), strict=True
            )
        }


@dataclass(frozen=True, eq=False)
class Judgments(Framed, QueryRows):
    """Judgments: the judged items of each query with their grades.

    `read_judgments` makes them from a file, a mapping or a data frame. Rows are sorted by the bytes
    of query, aspect and item, so that the order of the input does not matter.

    queries: every query, also one without rows.
    offsets: (queries + 1,) where the rows of each query begin.
    items: (rows,) ids of the items.
    grades: (rows,) finite grades; an item with a grade below 0 is never relevant.
    aspects: (rows,) the judgment group or the intent (subtopic) of a row, or None where a query's
        items are judged once.
    junk: (rows,) items to remove from every ranking and from the truth (the query itself, its own
        recording or camera); None for none.
    hidden: (rows,) items to remove from every ranking, while the truth keeps them; None for none.

    >>> import rankwell as rw
    >>> judgments = rw.Judgments.from_dict({"q1": {"b": 2, "a": 1}})
    >>> judgments.items, judgments.grades.tolist()
    (['a', 'b'], [1.0, 2.0])
    """

    items: Sequence[str]
    grades: Floats
    aspects: Sequence[str] | None = None
    junk: Bools | None = None
    hidden: Bools | None = None

    @classmethod
    def from_rows(
        cls,
        queries: Sequence[str],
        items: Sequence[str],
        grades: Sequence[float] | Floats,
        *,
        aspects: Sequence[str] | None = None,
        junk: Sequence[bool] | Bools | None = None,
        all_queries: Iterable[str] = (),
    ) -> Self:
        """The table of rows given in any order; `all_queries` adds queries that have no row.

        Raises DuplicateItem if a query judges an item twice (within one aspect), BadInput if a
        grade is not finite.
        """
        grade = unmasked(grades, "the column of grades", np.float64)
        if (row := first_true(~np.isfinite(grade))) >= 0:
            raise BadInput(
                f"query {queries[row]!r}, item {items[row]!r}: the grade is {grade[row]}; "
                "grades are finite numbers."
            )
        ids = (queries, items) if aspects is None else (queries, aspects, items)
        rows = order_distinct(f"query {{0!r}} judges item {{{len(ids) - 1}!r}} twice", *ids)
        names, owner = index_queries(queries, all_queries)
        return cls(
            queries=names,
            offsets=offsets_from_rows(owner, len(names)),
            items=[items[row] for row in rows],
            grades=grade[rows],
            aspects=None if aspects is None else [aspects[row] for row in rows],
            junk=None if junk is None else np.asarray(junk, dtype=np.bool_)[rows],
        )

    @classmethod
    def from_dict(cls, judgments: Mapping[str, Mapping[str, float]]) -> Self:
        """The table of a mapping query -> item -> grade."""
        return cls.from_rows(*nested_columns(judgments, 2), all_queries=judgments)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """The mapping query -> item -> grade; for an item judged under several aspects, its highest
        grade.
        """
        flat = self.flat
        return flat.by_query(flat.items, flat.grades)

    def to_columns(self) -> dict[str, list[Any]]:
        """The columns query, item and grade, and aspect where there is one; `to_pandas`,
        `to_polars` give data frames.
        """
        aspects = {} if self.aspects is None else {"aspect": list(self.aspects)}
        return {
            "query": self.row_queries,
            **aspects,
            "item": list(self.items),
            "grade": self.grades.tolist(),
        }

    @cached_property
    def flat(self) -> "Judgments":
        """One row per query and item: an item judged under several aspects keeps its highest
        grade.
        """
        if self.aspects is None:
            return self
        row_of_pair = positions_by_id(dict.fromkeys(self.pairs))
        rows = [row_of_pair[pair] for pair in self.pairs]
        grades, junk = np.full(len(row_of_pair), -np.inf), np.zeros(len(row_of_pair), np.bool_)
        np.maximum.at(grades, rows, self.grades)
        junk[np.array(rows, dtype=np.int64)[~self.real]] = True
        queries, items = columns_of(row_of_pair, 2)
        return Judgments.from_rows(
            queries,
            items,
            grades,
            junk=None if self.junk is None else junk,
            all_queries=self.queries,
        )

    @property
    def pairs(self) -> Iterator[tuple[str, str]]:
        """Query and item of each row."""
        return zip(self.row_queries, self.items, strict=True)

    def rows_in(self, flat: "Judgments") -> Ints:
        """Row of each row's query and item in a flat table of the same queries, which has one row
        for each pair.
        """
        if self.aspects is None and len(flat.items) == len(self.items):
            return np.arange(len(self.items), dtype=np.int64)
        row_of_pair = positions_by_id(flat.pairs)
        return np.array([row_of_pair[pair] for pair in self.pairs], dtype=np.int64)

    def with_junk(self, excluded: Mapping[str, Iterable[str]]) -> "Judgments":
        """The same truth with further items of some queries marked as junk, whether they are judged
        or not.

        excluded: query -> items that must not count in it, such as the query itself. Unknown
        queries are skipped.
        """
        if self.aspects is not None:
            raise BadInput(
                "items cannot be excluded from judgments with groups or intents; use the flat "
                "table."
            )
        marks = {
            (query, item)
            for query, items in excluded.items()
            if query in self.index
            for item in items
        }
        pairs = list(self.pairs)
        pairs += sorted(marks.difference(pairs))
        new_grades = np.zeros(len(pairs) - len(self.items))
        is_marked = np.array([pair in marks for pair in pairs], dtype=np.bool_)
        queries, items = columns_of(pairs, 2)
        return Judgments.from_rows(
            queries,
            items,
            np.append(self.grades, new_grades),
            junk=np.append(~self.real, new_grades > 0) | is_marked,
            all_queries=self.queries,
        )

    @cached_property
    def real(self) -> Bools:
        """Whether each row belongs to the truth."""
        return np.ones(len(self.items), dtype=np.bool_) if self.junk is None else ~self.junk

    @cached_property
    def unranked(self) -> Bools:
        """Whether each row's item is removed from every ranking."""
        return ~self.real if self.hidden is None else ~self.real | self.hidden

    def hide_queries(self) -> "Judgments":
        """The same truth with each query's own item (that with its id) removed from its ranking;
        its judgment stays.
        """
        judged_alone = {query for query, item in self.pairs if query == item}
        table = self.with_junk(
            {query: [query] for query in self.queries if query not in judged_alone}
        )
        is_own = np.array([query == item for query, item in table.pairs], dtype=np.bool_)
        return replace(table, hidden=is_own)


def rounded(value: float) -> float:
    """The value with 10 significant digits, as every figure that comes out of a matrix product is
    written.
    """
    return float(f"{value:.10g}")


MISSING = "–"
"""An undefined figure, as people read it; where programs read it is null or empty."""
_DECIMALS = {
    "percent": 2,
    "rank": 2,
    "count": 2,
    "effect": 2,
    "ms": 3,
    "s": 2,
    "MB": 2,
    "queries/s": 1,
}


def format_value(
    value: float | None, unit: str, *, signed: bool = False, digits: int | None = None
) -> str:
    """A number as people read it everywhere: 4 decimals, percentages and ranks 2, times 3 or 2,
    counts none where they are whole.

    It is rounded to the nearest; of two that are equally near the even one is taken, as C and
    trec_eval do: 78.125 is 78.12. Zero has no sign. `reporting/page/assets/numbers.js` is the same
    for pages. signed: gains have a plus sign. digits: decimals in place of those of the unit.
    """
    if value is None or not isfinite(value):
        return MISSING
    decimals = _DECIMALS.get(unit, 4) if digits is None else digits
    if unit == "count" and float(value).is_integer():
        decimals = 0
    text = f"{float(value):z.{decimals}f}"
    return f"+{text}" if signed and float(text) > 0 else text


def p_value(p: float | None) -> str:
    """A p-value as people read it."""
    return "< 0.0001" if p is not None and p < 0.0001 else format_value(p, "share")


def p_text(p: float | None) -> str:
    """A p-value in a sentence."""
    return "no p-value" if p is None else f"p {p_value(p)}" if p < 0.0001 else f"p = {p_value(p)}"


_LARGEST = 2.0**960
"""Above it the extraction could overflow."""
_UNITS = 1 << 1074
"""Units in 1: each float64 is an integer number of them."""


def exact_sum(values: Floats) -> float:
    """Σ values, (n,), rounded once; NaN or infinite where a value is, and infinite above the
    largest float64.
    """
    units = _units(values)
    return float(values.sum()) if units is None else _quotient(units, _UNITS)


def exact_mean(values: Floats, weights: Floats | None = None) -> float:
    """Σ values / n, or Σ values · weights / Σ weights, rounded once; NaN of no values, and where
    all weights are 0.

    Of weighted values, each product is rounded as well.
    """
    return exact_ratio(values if weights is None else values * weights, weights)


def exact_ratio(sums: Floats, sizes: Floats | None) -> float:
    """Σ sums / Σ sizes, rounded once; NaN where the sizes add up to 0. sizes: (n,) None where each
    is 1.
    """
    units, total = _units(sums), len(sums) * _UNITS if sizes is None else _units(sizes)
    if total == 0:
        return math.nan
    if units is not None and total is not None:
        return _quotient(units, total)
    return exact_sum(sums) / (len(sums) if sizes is None else exact_sum(sizes))


def exact_means(table: Floats, weights: Floats | None = None) -> Floats:
    """Mean of each column of a table, as `exact_mean`. weights: in the table's shape."""
    column_weights = [None] * table.shape[1] if weights is None else weights.T
    columns = zip(table.T, column_weights, strict=True)
    return np.array([exact_mean(*column) for column in columns], dtype=np.float64)


def exact_sd(values: Floats, *, population: bool = False) -> float:
    """The standard deviation, divided by n - 1 (`population`: by n); 0 of equal values, NaN where
    that divisor is not above 0.

    The sum of squared deviations from the mean is rounded once.
    """
    n = len(values)
    freedom = n if population else n - 1
    if freedom < 1:
        return math.nan
    off = values - exact_mean(values)
    exponent = math.frexp(float(np.abs(off).max()))[1]
    # Squares of very large or small deviations stay in range.
    off = np.ldexp(off, -exponent)
    squares, apart = _units(off * off), _units(off)
    if squares is None or apart is None:
        return math.nan
    # What the mean was rounded by is in every deviation.
    variance = _quotient(n * _UNITS * squares - apart**2, n * freedom * _UNITS**2)
    return math.ldexp(math.sqrt(variance), exponent)


def _units(values: Floats) -> int | None:
    """Σ values in `_UNITS`, exactly; None where a value is NaN or infinite.

    The leading bits of all values, so few that no sum of them is rounded, are added up, then the
    next, until nothing is left. Source: Rump, Ogita and Oishi 2008, Accurate floating-point
    summation part I, algorithm 3.2.
    """
    remainder = np.asarray(values, dtype=np.float64)
    largest = float(np.abs(remainder).max(initial=0.0))
    if not math.isfinite(largest):
        return None
    if largest > _LARGEST:
        return sum(map(_units_of, remainder.tolist()))
    # All values are below `2 ** exponent`, n of them below `2 ** (exponent + bits)`.
    units, bits = 0, math.ceil(math.log2(len(remainder) + 2))
    while largest:
        edge = math.ldexp(1.0, math.frexp(largest)[1] + bits)
        leading = (edge + remainder) - edge
        units += _units_of(float(leading.sum()))
        remainder = remainder - leading
        largest = float(np.abs(remainder).max())
    return units


def _units_of(number: float) -> int:
    numerator, denominator = number.as_integer_ratio()
    return numerator * (_UNITS // denominator)


def _quotient(numerator: int, denominator: int) -> float:
    """The nearest float64, infinite above the largest one."""
    try:
        return numerator / denominator
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf


def is_rows(thing: Any) -> bool:
    """Whether this is a list of rows whose cells have names: named tuples as of ir_measures, or
    mappings of column to cell.
    """
    if not isinstance(thing, (list, tuple)) or not thing:
        return False
    first: Any = thing[0]
    is_mapping = isinstance(first, Mapping)
    cells: Iterable[Any] = first.values() if is_mapping else first
    return (is_mapping or hasattr(first, "_fields")) and not any(
        hasattr(cell, "__len__") and not isinstance(cell, (str, bytes)) for cell in cells
    )
