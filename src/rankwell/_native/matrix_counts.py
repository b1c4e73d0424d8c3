"""Rank counts of the positives of each query in a matrix of scores: counted block by block in two
threads, never sorted whole.

A query is a row of the matrix, or a column (`transposed`): the matrix is read in its own order
either way.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell._native import native
from rankwell._native.products import greater_counts
from rankwell.data.matrices import Positions, Positives, Scores
from rankwell.data.tables import Floats, Ints, segment_offsets
from rankwell.errors import BadScore
from rankwell.threads import in_threads, processors

# Called with the rows read and the rows in all.
Progress = Callable[[int, int], None]
Reals = NDArray[Any]
_CELLS = 1 << 18
"""Scores that are compared at a time: they and their marks stay in the processor's cache."""
_SHORT = 2048
_SAMPLED = 64
_COMPARED = 4
"""Up to so many positives of a query are each compared with all scores; from there on sorting the
query's scores is faster.
"""


class PositiveCounts(NamedTuple):
    """For some pairs of a query and its positive: pairs, as positions in the table of positives,
    ascending; the score of each; the numbers of items that score higher, that score the same
    (itself included), and of those before it in the named order.
    """

    pairs: Ints
    scores: Floats
    above: Ints
    tied: Ints
    before: Ints


class Side(NamedTuple):
    """A matrix seen from its queries. transposed: whether they are the columns. rows: those that
    take part; None for all.
    """

    scores: Scores
    rows: Ints | None
    transposed: bool

    @property
    def n_rows(self) -> int:
        """Number of rows of the matrix that take part."""
        return self.scores.matrix.shape[0] if self.rows is None else len(self.rows)

    def block(self, start: int, stop: int) -> Reals:
        """The rows from start to stop of those that take part, each checked."""
        selected_rows = slice(start, stop) if self.rows is None else self.rows[start:stop]
        return self.checked(comparable(self.scores.matrix[selected_rows]), start)

    def checked(self, block: Reals, row: int, column: int = 0) -> Reals:
        """A block that begins at a row and a column. Raises BadScore naming those of its first
        score that is NaN or infinite.
        """
        if block.dtype.kind == "f":
            with np.errstate(invalid="ignore", over="ignore"):
                # A sum is finite only if all its parts are, and costs less than looking at each.
                odd = None if np.isfinite(block.sum()) else np.argwhere(~np.isfinite(block))
            if odd is not None and len(odd):
                first, second = map(int, odd[0])
                raise _non_finite(
                    self.scores,
                    row + first if self.rows is None else int(self.rows[row + first]),
                    column + second,
                )
        return block

    def of(self, queries: Ints, items: Ints) -> Reals:
        """Scores of pairs."""
        rows, columns = (items, queries) if self.transposed else (queries, items)
        return comparable(
            self.scores.matrix[rows if self.rows is None else self.rows[rows], columns]
        )

    def all_of(self, query: int) -> Reals:
        """Scores of one query with all items."""
        if not self.transposed:
            return comparable(
                self.scores.matrix[query if self.rows is None else int(self.rows[query])]
            )
        column = self.scores.matrix[:, query]
        return comparable(column if self.rows is None else column[self.rows])


def _non_finite(scores: Scores, row: int, column: int) -> BadScore:
    problem = f"{scores.place(row, column)}: the score is {scores.matrix[row, column]}"
    return BadScore(f"{problem}; expected finite scores. Correct it, or mask its row.")


def refuse_non_finite_scores(
    scores: Scores, rows: Ints | None = None, columns: Ints | None = None
) -> None:
    """Raises BadScore naming the first score of some rows and columns that is NaN or infinite, by
    its place in the matrix.
    """
    for row in range(scores.matrix.shape[0]) if rows is None else map(int, rows):
        odd = np.flatnonzero(~np.isfinite(scores.matrix[row]))
        odd = odd if columns is None else odd[np.isin(odd, columns)]
        if len(odd):
            raise _non_finite(scores, row, int(odd[0]))


def comparable(scores: Reals) -> Reals:
    """Scores of a kind that the processor compares as it is, and in the order of its bytes."""
    kind = scores.dtype.newbyteorder("=")
    return scores.astype({"e": "f4", "?": "u1"}.get(kind.char, kind), copy=False)


@dataclass(frozen=True, eq=False)
class ComparedScores:
    """Queries (rows) compared with items (columns), or `transposed`. order: (items,) places among
    equal scores.
    """

    scores: Scores
    rows: Ints | None = None

    @property
    def names(self) -> tuple[Sequence[str], Sequence[str]]:
        """The names of rows and columns."""
        return names_of(self.scores.query_names, self.rows), self.scores.item_names

    def count(
        self,
        positives: Positives,
        *,
        transposed: bool,
        best: bool,
        order: Ints | None = None,
        progress: Progress | None = None,
    ) -> PositiveCounts:
        """The counts of every positive, or of each query's `best` one alone with those that tie;
        BadScore as `Side.checked`.
        """
        side = Side(self.scores, self.rows, transposed)
        all_scores = side.of(positives.owner, positives.items)
        pairs = (
            np.flatnonzero(positives.is_best(all_scores)) if best else np.arange(len(all_scores))
        )
        owner, scores = positives.owner[pairs], all_scores[pairs]
        most = 1 if best else int(positives.counts.max(initial=0))
        if most > _COMPARED:
            above, tied = _by_sorting(
                side,
                segment_offsets(np.bincount(owner, minlength=positives.n_queries)),
                scores,
                progress,
            )
        else:
            level = (
                np.zeros(len(pairs), dtype=np.int64) if best else pairs - positives.offsets[owner]
            )
            wanted = np.zeros((positives.n_queries, max(most, 1)), dtype=scores.dtype)
            wanted[owner, level] = scores
            higher, as_high = (_in_columns if transposed else _in_rows)(side, wanted, progress)
            above = higher[owner, level]
            tied = as_high[owner, level] - above
        before = _before(side, positives, pairs, scores, tied, order)
        return PositiveCounts(pairs, scores.astype(np.float64), above, tied, before)

    def count_groups(
        self, groups: Positives, *, order: Ints | None = None, progress: Progress | None = None
    ) -> PositiveCounts:
        """The counts of each column among all columns' groups of rows, a group's score being the
        greatest of its rows.

        groups: the rows (of those that take part) of each column's group; columns without any take
        no part. order: (columns,). `pairs` are columns. Source: Luo and others 2021, CLIP4Clip,
        multi-sentence.
        """
        side, rows = Side(self.scores, self.rows, transposed=True), self.rows
        members = np.flatnonzero(groups.counts)
        starts, width = groups.offsets[members], self.scores.matrix.shape[1]
        row_scores = side.of(groups.owner, groups.items)
        wanted = np.zeros(width, dtype=row_scores.dtype)
        if len(members):
            wanted[members] = np.maximum.reduceat(row_scores, starts)
        tie_places = np.arange(width) if order is None else order
        totals = np.zeros((3, width), dtype=np.int64)
        for first, last in lots(groups.offsets[members + 1], max(1, 4 * _CELLS // width)):
            begin = int(starts[first])
            group_rows = groups.items[begin : int(groups.offsets[members[last - 1] + 1])]
            block = Side(
                self.scores, group_rows if rows is None else rows[group_rows], transposed=True
            ).block(0, len(group_rows))
            best = np.maximum.reduceat(block, starts[first:last] - begin, axis=0)
            same = best == wanted
            totals[0] += np.add.reduce((best > wanted).view(np.uint8), axis=0, dtype=np.uint8)
            totals[1] += np.add.reduce(same.view(np.uint8), axis=0, dtype=np.uint8)
            row, column = np.nonzero(same)
            early = tie_places[members[first:last]][row] < tie_places[column]
            totals[2] += np.bincount(column[early], minlength=width)
            if progress is not None:
                progress(last, len(members))
        return PositiveCounts(members, wanted[members].astype(np.float64), *totals[:, members])

    def first_items(
        self, depth: int, *, transposed: bool, order: Ints | None = None
    ) -> tuple[Ints, Floats]:
        """Positions of each query's first items, best first, and their scores, each (queries,
        depth); not more than there are.
        """
        side, n_columns = Side(self.scores, self.rows, transposed), self.scores.matrix.shape[1]
        n_queries, n_items = (n_columns, side.n_rows) if transposed else (side.n_rows, n_columns)
        tie_places = np.arange(n_items) if order is None else order
        positions, scores = (
            np.empty((n_queries, depth), dtype=np.int64),
            np.empty((n_queries, depth)),
        )

        def _work(part: range) -> None:
            block = _of_queries(side, part.start, part.stop)
            lowest = np.partition(block, n_items - depth, axis=1)[:, n_items - depth]
            for query, row, low in zip(part, block, lowest, strict=True):
                best_items = np.flatnonzero(row >= low)
                best_items = best_items[
                    np.lexsort((tie_places[best_items], -row[best_items].astype(np.float64)))
                ][:depth]
                positions[query], scores[query] = best_items, row[best_items]

        for parts in _pieces(n_queries, max(1, min(64, _CELLS // n_items)), None):
            in_threads(_work, parts)
        return positions, scores

    def first_groups(
        self, groups: Positives, depth: int, *, order: Ints | None = None
    ) -> tuple[Ints, Floats]:
        """Positions and scores of each column's first groups of rows (`count_groups`), best first,
        each (columns, depth).
        """
        n = Side(self.scores, self.rows, transposed=True).n_rows
        return first_groups(
            lambda wide: self.first_items(wide, transposed=True), n, groups, depth, order
        )

    def copies(self, *, transposed: bool) -> Ints | None:
        """First query that is the same as each to the last byte; None where coarse scores make all
        alike.
        """
        matrix = self.scores.matrix
        if matrix.dtype.kind != "f":
            return None
        return equal_rows(matrix.T) if transposed else equal_rows(matrix, self.rows)

    def same(self, row: int, other_row: int) -> bool:
        """Whether two rows are the same to the last byte."""
        side = Side(self.scores, self.rows, transposed=False)
        return np.array_equal(side.all_of(row), side.all_of(other_row))


def names_of(names: Sequence[str], rows: Ints | None) -> Sequence[str]:
    """The names of some rows, all of them for None."""
    if rows is None:
        return names
    row_list: list[int] = rows.tolist()
    return Positions(row_list) if isinstance(names, Positions) else [names[row] for row in row_list]


def _pieces(n: int, size: int, progress: Progress | None) -> Iterator[list[range]]:
    """The rows in parts of a size, as many at once as there are processors; reports progress after
    each lot.
    """
    at_once = processors()
    for start in range(0, n, size * at_once):
        stop = min(start + size * at_once, n)
        yield [range(first, min(first + size, stop)) for first in range(start, stop, size)]
        if progress is not None:
            progress(stop, n)


def _in_rows(side: Side, target_scores: Reals, progress: Progress | None) -> tuple[Ints, Ints]:
    """Numbers of scores of a row above its targets, and at least as high, each (queries, m)."""
    n, width = side.n_rows, side.scores.matrix.shape[1]
    higher, as_high = (
        np.zeros(target_scores.shape, dtype=np.int64),
        np.zeros(target_scores.shape, dtype=np.int64),
    )
    step = max(1, min(64, _CELLS // width))
    natively = native.library is not None

    def _work(part: range) -> None:
        marks = np.empty((step, width), dtype=np.bool_)
        for start in range(part.start, part.stop, step):
            rows = slice(start, min(start + step, part.stop))
            block = side.block(rows.start, rows.stop)
            if natively and block.dtype == np.float32 and block.flags.c_contiguous:
                higher[rows], as_high[rows] = greater_counts(block, target_scores[rows])
                continue
            for level in range(target_scores.shape[1]):
                for counts, compare in ((higher, np.greater), (as_high, np.greater_equal)):
                    marked = compare(
                        block, target_scores[rows, level, None], out=marks[: len(block)]
                    )
                    # Row by row is several times as fast as along an axis, except in short rows.
                    by_row = None if width < _SHORT else list(map(np.count_nonzero, marked))
                    counts[rows, level] = (
                        np.count_nonzero(marked, axis=1) if by_row is None else by_row
                    )

    for parts in _pieces(n, 32 * step, progress):
        in_threads(_work, parts)
    return higher, as_high


def _in_columns(side: Side, target_scores: Reals, progress: Progress | None) -> tuple[Ints, Ints]:
    """The same for columns: each part of the rows is compared with one number per column, and the
    counts are added up.
    """
    n, width = side.n_rows, side.scores.matrix.shape[1]
    totals = np.zeros((2, *target_scores.shape[::-1]), dtype=np.int64)
    levels = np.ascontiguousarray(target_scores.T)
    step = max(1, min(255, _CELLS // width))

    def _work(part: range) -> Ints:
        marks, part_counts = np.empty((step, width), dtype=np.bool_), np.zeros_like(totals)
        for start in range(part.start, part.stop, step):
            block = side.block(start, min(start + step, part.stop))
            room = marks[: len(block)]
            for level_number, level in enumerate(levels):
                for comparison, compare in enumerate((np.greater, np.greater_equal)):
                    compare(block, level, out=room)
                    part_counts[comparison, level_number] += np.add.reduce(
                        room.view(np.uint8), axis=0, dtype=np.uint8
                    )
        return part_counts

    for parts in _pieces(n, 64 * step, progress):
        for counts_of_part in in_threads(_work, parts):
            totals += counts_of_part
    return totals[0].T, totals[1].T


def _by_sorting(
    side: Side, offsets: Ints, scores: Reals, progress: Progress | None
) -> tuple[Ints, Ints]:
    """Numbers of scores of each pair's query above its own, and equal to it, from the query's
    sorted scores.
    """
    n_queries = len(offsets) - 1
    above, tied = np.empty(len(scores), dtype=np.int64), np.empty(len(scores), dtype=np.int64)
    n_items = side.n_rows if side.transposed else side.scores.matrix.shape[1]
    step = max(1, min(64, _CELLS // n_items))

    def _work(part: range) -> None:
        for start in range(part.start, part.stop, step):
            stop = min(start + step, part.stop)
            ordered = np.sort(_of_queries(side, start, stop), axis=1)
            for query in range(start, stop):
                query_pairs = slice(int(offsets[query]), int(offsets[query + 1]))
                right = np.searchsorted(ordered[query - start], scores[query_pairs], side="right")
                above[query_pairs] = n_items - right
                tied[query_pairs] = right - np.searchsorted(
                    ordered[query - start], scores[query_pairs], side="left"
                )

    for parts in _pieces(n_queries, 4 * step, progress):
        in_threads(_work, parts)
    return above, tied


def _of_queries(side: Side, start: int, stop: int) -> Reals:
    """Scores of some queries with all items, each checked."""
    if not side.transposed:
        return side.block(start, stop)
    columns = side.scores.matrix[:, start:stop]
    block = side.checked(comparable(columns if side.rows is None else columns[side.rows]), 0, start)
    return np.ascontiguousarray(block.T)


def _before(
    side: Side, positives: Positives, pairs: Ints, scores: Reals, tied: Ints, order: Ints | None
) -> Ints:
    """Number of items with each pair's score that come before it."""
    before = np.zeros(len(pairs), dtype=np.int64)
    in_ties = np.flatnonzero(tied > 1)
    owner = positives.owner[pairs[in_ties]]
    for query in np.unique(owner).tolist():
        query_pairs = in_ties[slice(*np.searchsorted(owner, [query, query + 1]).tolist())]
        query_scores = side.all_of(query)
        for score in np.unique(scores[query_pairs]):
            same = query_pairs[scores[query_pairs] == score]
            rivals, targets = np.flatnonzero(query_scores == score), positives.items[pairs[same]]
            before[same] = (
                np.searchsorted(rivals, targets)
                if order is None
                else np.searchsorted(np.sort(order[rivals]), order[targets])
            )
    return before


def lots(ends: Ints, most: int) -> Iterator[tuple[int, int]]:
    """The groups in lots of at most so many rows, and of 255 groups, which bytes can count; a
    larger one is a lot by itself.
    """
    first = 0
    while first < len(ends):
        begin = int(ends[first - 1]) if first else 0
        last = int(np.searchsorted(ends, begin + most, side="right"))
        last = min(max(last, first + 1), first + 255)
        yield first, last
        first = last


def equal_rows(matrix: NDArray[Any], rows: Ints | None = None) -> Ints:
    """First row that is the same as each row that takes part to the last byte; a sample of wide
    rows is read first.
    """
    selected_rows = np.arange(len(matrix)) if rows is None else rows
    width = matrix.shape[1]
    sampled_columns = np.unique(np.linspace(0, width - 1, min(width, _SAMPLED)).astype(np.int64))
    first, alike = np.arange(len(selected_rows)), dict[bytes, list[int]]()
    for start in range(0, len(selected_rows), 1024):
        part = np.ascontiguousarray(
            matrix[np.ix_(selected_rows[start : start + 1024], sampled_columns)]
        )
        for offset, row in enumerate(part):
            alike.setdefault(row.tobytes(), []).append(start + offset)
    for sample_rows in alike.values():
        first_by_bytes: dict[bytes, int] = {}
        for row in sample_rows if len(sample_rows) > 1 else ():
            first[row] = first_by_bytes.setdefault(
                np.ascontiguousarray(matrix[int(selected_rows[row])]).tobytes(), row
            )
    return first


def first_groups(
    first_items: Callable[[int], tuple[Ints, Floats]],
    n: int,
    groups: Positives,
    depth: int,
    order: Ints | None,
) -> tuple[Ints, Floats]:
    """(queries, depth) positions and scores of the first groups of each query, which score as the
    best of their items.

    first_items: the first so many of n items of each query, best first, and their scores. order: of
    groups of equal score.
    """
    by_item = groups.transposed
    owners = [
        by_item.items[start:stop].tolist() for start, stop in pairwise(by_item.offsets.tolist())
    ]
    group_places = range(groups.n_queries) if order is None else order.tolist()
    # If every item has a group, no more items than these stand before the first one of the last
    # group.
    wide = min(n, (depth - 1) * int(groups.counts.max(initial=1)) + 2)
    while True:
        items, scores = first_items(wide)
        group_lists = [
            _collapsed(zip(*row, strict=True), owners, group_places, depth)
            for row in zip(items.tolist(), scores.tolist(), strict=True)
        ]
        if wide == n or all(is_sure for _, is_sure in group_lists):
            break
        wide = min(n, 2 * wide)
    table = np.array([group_list for group_list, _ in group_lists]).reshape(-1, depth, 2)
    return table[:, :, 0].astype(np.int64), table[:, :, 1]


def _collapsed(
    items: Iterable[tuple[int, float]],
    owners: Sequence[Sequence[int]],
    group_places: Sequence[int],
    depth: int,
) -> tuple[list[tuple[int, float]], bool]:
    """The first groups, of the first items with their scores; and whether no further item can
    change them.
    """
    best: dict[int, float] = {}
    last, is_sure = -np.inf, False
    for item, score in items:
        is_sure = len(best) >= depth and score < last
        if is_sure:
            break
        last = score if len(best) < depth else last
        for group in owners[item]:
            best.setdefault(group, score)
    return sorted(best.items(), key=lambda pair: (-pair[1], group_places[pair[0]]))[:depth], is_sure
