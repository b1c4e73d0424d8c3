"""Rank counts of the positives of each query in a matrix of scores: counted block by block in two
threads, never sorted whole.

A query is a row of the matrix, or a column (`transposed`): the matrix is read in its own order
either way.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell._native import native
from rankwell._native.products import greater_counts
from rankwell.data.matrices import Positions, Positives, Scores, first_non_finite
from rankwell.data.tables import (
    Floats,
    Ints,
    equal_runs,
    offsets_from_rows,
    position_in_segment,
    segment_of_row,
    take_segments,
)
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
    """Rank counts of some pairs of a query and its positive.

    positions: (n,) positions of the pairs in the table of positives, ascending; for groups of rows,
        positions of columns.
    scores: (n,) the score of each pair.
    above: (n,) items that score higher.
    tied: (n,) items that score the same, the positive itself included.
    before: (n,) tied items that come earlier in the order in force.
    """

    positions: Ints
    scores: Floats
    above: Ints
    tied: Ints
    before: Ints


def _non_finite(scores: Scores, row: int, column: int) -> BadScore:
    return BadScore(
        f"{scores.place(row, column)}: the score is {scores.matrix[row, column]}; expected finite "
        "scores. Correct it, or mask its row."
    )


def refuse_non_finite_scores(
    scores: Scores, rows: Ints | None, columns: Ints | None = None
) -> None:
    """Raises BadScore naming the first score of some rows and columns that is NaN or infinite, by
    its place in the matrix.
    """
    for row in range(scores.matrix.shape[0]) if rows is None else map(int, rows):
        odd = np.flatnonzero(~np.isfinite(scores.matrix[row]))
        odd = odd if columns is None else odd[np.isin(odd, columns)]
        if len(odd):
            raise _non_finite(scores, row, int(odd[0]))


def _comparable(scores: Reals) -> Reals:
    """Scores of a kind that the processor compares as it is, and in the order of its bytes."""
    kind = scores.dtype.newbyteorder("=")
    return scores.astype({"e": "f4", "?": "u1"}.get(kind.char, kind), copy=False)


@dataclass(frozen=True, eq=False)
class ComparedScores:
    """Queries compared with items: the rows of a matrix with its columns, or `transposed`.

    scores: the matrix with the names of its rows and columns.
    rows: positions of the rows that take part; None for all.

    Methods take an order: (items,) the places of items among equal scores; None for the order of
    the matrix.
    """

    scores: Scores
    rows: Ints | None = None

    @property
    def names(self) -> tuple[Sequence[str], Sequence[str]]:
        """The names of rows and columns."""
        return names_of(self.scores.query_names, self.rows), self.scores.item_names

    def _shape(self, transposed: bool) -> tuple[int, int]:
        """Numbers of queries and of items."""
        n_rows, n_columns = self.scores.matrix.shape
        n_rows = n_rows if self.rows is None else len(self.rows)
        return (n_columns, n_rows) if transposed else (n_rows, n_columns)

    def _in_matrix(self, rows: Any) -> Any:
        """The rows of the matrix that some of those that take part are."""
        return rows if self.rows is None else self.rows[rows]

    def _checked(self, block: Reals, row: int, column: int) -> Reals:
        """A block that begins at a row and a column. Raises BadScore naming those of its first
        score that is NaN or infinite.
        """
        block = _comparable(block)
        if odd := first_non_finite(block):
            raise _non_finite(self.scores, int(self._in_matrix(row + odd[0])), column + odd[1])
        return block

    def _block(self, rows: range) -> Reals:
        """Some of the rows that take part, each checked."""
        selected_rows = self._in_matrix(slice(rows.start, rows.stop))
        return self._checked(self.scores.matrix[selected_rows], rows.start, 0)

    def _of(self, queries: Any, items: Any, *, transposed: bool) -> Reals:
        """Scores of pairs, or of a query with all items, `slice(None)`."""
        if transposed:
            return _comparable(self.scores.matrix[self._in_matrix(items), queries])
        return _comparable(self.scores.matrix[self._in_matrix(queries), items])

    def _of_queries(self, queries: range, *, transposed: bool) -> Reals:
        """Scores of some queries with all items, each checked."""
        if not transposed:
            return self._block(queries)
        columns = self.scores.matrix[:, queries.start : queries.stop]
        block = self._checked(columns[self._in_matrix(slice(None))], 0, queries.start)
        return np.ascontiguousarray(block.T)

    def count(
        self,
        positives: Positives,
        *,
        transposed: bool,
        best: bool,
        order: Ints | None = None,
        progress: Progress | None = None,
    ) -> PositiveCounts:
        """The counts of every positive, or of each query's `best` one alone with those that tie.
        Raises BadScore for a score that is NaN or infinite.
        """
        scores = self._of(positives.owner, positives.items, transposed=transposed)
        pairs = np.flatnonzero(positives.is_best(scores)) if best else np.arange(len(scores))
        owner, scores = positives.owner[pairs], scores[pairs]
        most = 1 if best else int(positives.counts.max(initial=1))
        if most > _COMPARED:
            above, tied = self._by_sorting(positives.offsets, scores, transposed, progress)
        else:
            cells = owner, 0 if best else pairs - positives.offsets[owner]
            wanted = np.zeros((positives.n_queries, most), dtype=scores.dtype)
            wanted[cells] = scores
            count_targets = self._in_columns if transposed else self._in_rows
            above, as_high = (counts[cells] for counts in count_targets(wanted, progress))
            tied = as_high - above
        before = np.zeros(len(pairs), dtype=np.int64)
        for tie in equal_runs(np.flatnonzero(tied > 1), owner):
            all_scores = self._of(int(owner[tie[0]]), slice(None), transposed=transposed)
            for score in np.unique(scores[tie]):
                same = tie[scores[tie] == score]
                rivals, targets = np.flatnonzero(all_scores == score), positives.items[pairs[same]]
                if order is not None:
                    rivals, targets = np.sort(order[rivals]), order[targets]
                before[same] = np.searchsorted(rivals, targets)
        return PositiveCounts(pairs, scores.astype(np.float64), above, tied, before)

    def count_groups(
        self, groups: Positives, *, order: Ints | None = None, progress: Progress | None = None
    ) -> PositiveCounts:
        """The counts of each column among all columns' groups of rows, a group's score being the
        greatest of its rows.

        groups: for each column the rows of its group, among those that take part; a column without
        rows takes no part. order: (columns,) places among equal scores. The `positions` of the
        result are columns.
        """
        members = np.flatnonzero(groups.counts)
        starts, width = groups.offsets[members], self.scores.matrix.shape[1]
        row_scores = self._of(groups.owner, groups.items, transposed=True)
        wanted = np.zeros(width, dtype=row_scores.dtype)
        wanted[members] = groups.best(row_scores)
        tie_places = np.arange(width) if order is None else order
        totals = np.zeros((3, width), dtype=np.int64)
        for first, last in lots(groups.offsets[members + 1], max(1, 4 * _CELLS // width)):
            begin = int(starts[first])
            group_rows = groups.items[begin : int(groups.offsets[members[last - 1] + 1])]
            members_alone = ComparedScores(self.scores, self._in_matrix(group_rows))
            best = np.maximum.reduceat(
                members_alone._block(range(len(group_rows))), starts[first:last] - begin, axis=0
            )
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
        n_queries, n_items = self._shape(transposed)
        tie_places = np.arange(n_items) if order is None else order
        positions = np.empty((n_queries, depth), dtype=np.int64)
        scores = np.empty((n_queries, depth))

        def _work(part: range) -> None:
            block = self._of_queries(part, transposed=transposed)
            lowest = np.partition(block, n_items - depth, axis=1)[:, n_items - depth]
            for query, row, low in zip(part, block, lowest, strict=True):
                best_items = np.flatnonzero(row >= low)
                best_items = best_items[
                    np.lexsort((tie_places[best_items], -row[best_items].astype(np.float64)))
                ][:depth]
                positions[query], scores[query] = best_items, row[best_items]

        for parts in _pieces(n_queries, _rows_at_once(n_items), None):
            in_threads(_work, parts)
        return positions, scores

    def first_groups(
        self: Any, groups: Positives, depth: int, *, order: Ints | None = None
    ) -> tuple[Ints, Floats]:
        """Positions and scores of each column's first groups of rows (`count_groups`), best first,
        each (columns, depth); groups score as the best of their rows.
        """
        n = len(self.names[0])
        by_item, n_groups = groups.transposed, groups.n_queries
        group_places = np.arange(n_groups) if order is None else order
        # If every item has a group, no more items than these stand before the first one of the last
        # group.
        wide = min(n, (depth - 1) * int(groups.counts.max(initial=1)) + 2)
        while True:
            items, scores = self.first_items(wide, transposed=True)
            rows, offsets = take_segments(by_item.offsets, items.ravel())
            cell, group = segment_of_row(offsets), by_item.items[rows]
            # A group scores as the first of its items.
            _, first = np.unique(cell // wide * n_groups + group, return_index=True)
            query, group, score = cell[first] // wide, group[first], scores.ravel()[cell[first]]
            best = np.lexsort((group_places[group], -score, query))
            best = best[position_in_segment(offsets_from_rows(query, len(items))) < depth]
            is_whole = len(best) == depth * len(items)
            # Further items cannot change lists whose last group scores above the last item.
            if wide == n or (is_whole and (score[best[depth - 1 :: depth]] > scores[:, -1]).all()):
                return group[best].reshape(-1, depth), score[best].reshape(-1, depth)
            wide = min(n, 2 * wide)

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
        rows = self._in_matrix(np.array([row, other_row]))
        return np.array_equal(*_comparable(self.scores.matrix[rows]))

    def _in_rows(self, targets: Reals, progress: Progress | None) -> tuple[Ints, Ints]:
        """Numbers of scores of a row above its targets, and at least as high, each (queries, m)."""
        n, width = self._shape(False)
        higher = np.zeros(targets.shape, dtype=np.int64)
        as_high = np.zeros_like(higher)
        step = _rows_at_once(width)
        natively = native.library is not None

        def _work(part: range) -> None:
            marks = np.empty((step, width), dtype=np.bool_)
            for block_rows in _cut(part, step):
                rows, block = slice(block_rows.start, block_rows.stop), self._block(block_rows)
                if natively and block.dtype == np.float32 and block.flags.c_contiguous:
                    higher[rows], as_high[rows] = greater_counts(block, targets[rows])
                    continue
                for level in range(targets.shape[1]):
                    for counts, compare in ((higher, np.greater), (as_high, np.greater_equal)):
                        marked = compare(block, targets[rows, level, None], out=marks[: len(block)])
                        # Row by row is several times as fast as along an axis, except in short
                        # rows.
                        counts[rows, level] = (
                            np.count_nonzero(marked, axis=1)
                            if width < _SHORT
                            else list(map(np.count_nonzero, marked))
                        )

        for parts in _pieces(n, 32 * step, progress):
            in_threads(_work, parts)
        return higher, as_high

    def _in_columns(self, targets: Reals, progress: Progress | None) -> tuple[Ints, Ints]:
        """The same for columns: each part of the rows is compared with one number per column, and
        the counts are added up.
        """
        n, width = self._shape(False)
        levels = np.ascontiguousarray(targets.T)
        totals = np.zeros((2, *levels.shape), dtype=np.int64)
        step = max(1, min(255, _CELLS // width))

        def _work(part: range) -> Ints:
            marks, part_counts = np.empty((step, width), dtype=np.bool_), np.zeros_like(totals)
            for rows in _cut(part, step):
                block, room = self._block(rows), marks[: len(rows)]
                for comparison, compare in enumerate((np.greater, np.greater_equal)):
                    for level, level_targets in enumerate(levels):
                        compare(block, level_targets, out=room)
                        part_counts[comparison, level] += np.add.reduce(
                            room.view(np.uint8), axis=0, dtype=np.uint8
                        )
            return part_counts

        for parts in _pieces(n, 64 * step, progress):
            for counts_of_part in in_threads(_work, parts):
                totals += counts_of_part
        return totals[0].T, totals[1].T

    def _by_sorting(
        self, offsets: Ints, scores: Reals, transposed: bool, progress: Progress | None
    ) -> tuple[Ints, Ints]:
        """Numbers of scores of each pair's query above its own, and equal to it, from the query's
        sorted scores.
        """
        above = np.empty(len(scores), dtype=np.int64)
        tied = np.empty_like(above)
        n_queries, n_items = self._shape(transposed)
        step = _rows_at_once(n_items)

        def _work(part: range) -> None:
            for queries in _cut(part, step):
                ordered = np.sort(self._of_queries(queries, transposed=transposed), axis=1)
                for query, query_scores in zip(queries, ordered, strict=True):
                    pairs = slice(int(offsets[query]), int(offsets[query + 1]))
                    right = np.searchsorted(query_scores, scores[pairs], side="right")
                    above[pairs] = n_items - right
                    tied[pairs] = right - np.searchsorted(query_scores, scores[pairs])

        for parts in _pieces(n_queries, 4 * step, progress):
            in_threads(_work, parts)
        return above, tied


def names_of(names: Sequence[str], rows: Ints | None) -> Sequence[str]:
    """The names of some rows, all of them for None."""
    if rows is None:
        return names
    row_list: list[int] = rows.tolist()
    return Positions(row_list) if isinstance(names, Positions) else [names[row] for row in row_list]


def _rows_at_once(width: int) -> int:
    return max(1, min(64, _CELLS // width))


def _cut(rows: range, size: int) -> list[range]:
    """The rows in parts of a size."""
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _pieces(n: int, size: int, progress: Progress | None) -> Iterator[list[range]]:
    """The rows in parts of a size, as many at once as there are processors; reports progress after
    each lot.
    """
    for lot in _cut(range(n), size * processors()):
        yield _cut(lot, size)
        if progress is not None:
            progress(lot.stop, n)


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
    first, alike = np.arange(len(selected_rows)), defaultdict[bytes, list[int]](list)
    for rows_at_once in _cut(range(len(selected_rows)), 1024):
        part = selected_rows[rows_at_once.start : rows_at_once.stop]
        for row, sample in zip(rows_at_once, matrix[np.ix_(part, sampled_columns)], strict=True):
            alike[sample.tobytes()].append(row)
    for sample_rows in alike.values():
        first_by_bytes = dict[bytes, int]()
        for row in sample_rows if len(sample_rows) > 1 else ():
            first[row] = first_by_bytes.setdefault(matrix[int(selected_rows[row])].tobytes(), row)
    return first
