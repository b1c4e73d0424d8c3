"""One comparison of two tables of vectors, and what a part of it computes: for a range of queries
among a range of the items.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell._native.products import Groups
from rankwell._native.similarity import Metric, Space, score_pairs
from rankwell.data.arrays import map_npy
from rankwell.data.matrices import Positions, Positives, row_blocks
from rankwell.data.tables import Floats, Ints, segment_offsets
from rankwell.runtime.parts import Json
from rankwell.runtime.parts.lists import PartGrid, lists_of
from rankwell.runtime.parts.places import local_file
from rankwell.runtime.parts.vectors import VectorFiles, VectorRange, checksum, read_range
from rankwell.vectors.neighbours import RankTargets, search
from rankwell.vectors.neighbours.positive_counts import (
    WantedPairs,
    by_vectors,
    count_groups_among,
    count_pairs,
)

PRINT = 16
"""Bytes of a row's print."""
_PAIRS = 1 << 14
"""Pairs that are scored at a time where their vectors are chosen."""


@dataclass(frozen=True, kw_only=True)
class PartComparison:
    """Queries compared with items, or with groups of them. All but `what` and `width` are names of
    tables or arrays, "" for none.

    what: `prints` of the items, by which equal ones are found; `scores` of pairs; `counts` of what
    is above wanted pairs (or, of groups, above a query's own); `lists` of the best. width: counted
    items of a query, or the length of its list.
    pairs: (2, pairs) a query, ascending, and its item. scores: (pairs,), or with groups (queries,).
    places: (items,) or (groups,) those among items of equal score. rows: (queries,) which ones of
    the table, in place of all. members: (2, n) a group, ascending, and its item. own: (queries,)
    the item that is left out. labels: (queries + items,) numbers; an item is left out for a query
    with the same, -1 for none.
    """

    what: Literal["prints", "scores", "counts", "lists"]
    items: str
    queries: str = ""
    width: int = 1
    pairs: str = ""
    scores: str = ""
    places: str = ""
    rows: str = ""
    members: str = ""
    own: str = ""
    labels: str = ""

    @property
    def json(self) -> dict[str, Json]:
        """The fields that say something."""
        return {name: value for name, value in asdict(self).items() if value != ""}


class PartTable(NamedTuple):
    """A table of vectors that parts read in ranges. path: absolute, or an address. label: its name
    in messages.
    """

    path: str
    label: str


@dataclass(frozen=True, eq=False, kw_only=True)
class _ChosenRows(VectorRange):
    """Vectors of some rows of a table. rows: their numbers."""

    rows: Ints

    def place(self, row: int) -> str:
        """The row of the file, or of the shard, that this row of the choice is, for messages."""
        shard = None if self.files is None else self.files.shard(int(self.rows[row]))
        return f"{self.file}, row {self.rows[row]}" if shard is None else shard


class Compared:
    """A comparison with the tables and arrays that it names.

    options: those of the kind `counts`. layouts: what `VectorFiles.described` has returned for each
    table.
    """

    def __init__(
        self, options: Mapping[str, Json], comparison: PartComparison, layouts: Mapping[str, Json]
    ) -> None:
        self.is_of = comparison
        self.metric: Metric = options["metric"]
        self._options, self._layouts = options, layouts
        self._digests: dict[str, str] = {}

    def array(self, name: str) -> NDArray[Any]:
        """An array, mapped into memory."""
        return map_npy(local_file(self._options["arrays"][name]))

    def table(self, name: str) -> PartTable:
        """A table."""
        return PartTable(*self._options["tables"][name])

    def files(self, name: str) -> VectorFiles:
        """The files of a table."""
        return VectorFiles(self.table(name).path, self._layouts[name])

    def shape(self, name: str) -> tuple[int, int, int]:
        """The number of a table's vectors, that of their dimensions, and the bytes of one."""
        files = self.files(name)
        rows, dimensions = files.shape
        return rows, dimensions, dimensions * files.dtype.itemsize

    @property
    def n_queries(self) -> int:
        """Number of queries; none for prints."""
        if not self.is_of.queries:
            return 0
        if self.is_of.rows:
            return len(self.array(self.is_of.rows))
        return self.shape(self.is_of.queries)[0]

    @property
    def n_items(self) -> int:
        """Number of items that are read."""
        if self.is_of.members:
            return self.array(self.is_of.members).shape[1]
        return self.shape(self.is_of.items)[0]

    @property
    def _tie_ranks(self) -> NDArray[Any] | None:
        """Ranks of the items, or groups, among those of equal score."""
        return self.array(self.is_of.places) if self.is_of.places else None

    def pairs_of(self, queries: slice) -> slice:
        """The place of some queries' pairs among all."""
        owner = self.array(self.is_of.pairs)[0]
        return slice(*np.searchsorted(owner, [queries.start, queries.stop]).tolist())

    def scores_of(self, owner: Ints, items: Ints) -> Floats:
        """The exact score of each pair; only their vectors are read."""
        query_files = self.files(self.is_of.queries)
        item_files = self.files(self.is_of.items)
        rows = self.array(self.is_of.rows)[owner] if self.is_of.rows else owner
        scores = np.empty(len(owner))
        for start in range(0, len(owner), _PAIRS):
            block = slice(start, start + _PAIRS)
            (query_rows, query_indices), (item_rows, item_indices) = (
                np.unique(numbers[block], return_inverse=True) for numbers in (rows, items)
            )
            scores[block] = score_pairs(
                query_files.take(query_rows),
                item_files.take(item_rows),
                query_indices,
                item_indices,
                self.metric,
            )
        return scores

    def whole_groups(self, grid: PartGrid) -> PartGrid:
        """The grid with ranges of items, in the order of their groups, that divide no group."""
        if not self.is_of.members:
            return grid
        groups = self.array(self.is_of.members)[0]
        inner = (
            np.searchsorted(groups, groups[np.array(grid.items[1:-1], dtype=np.int64)])
            if len(groups)
            else []
        )
        return grid._replace(items=[0, *map(int, inner), grid.items[-1]])

    def part(self, queries: slice, items: slice) -> tuple[NDArray[Any], Mapping[str, str]]:
        """The result for some queries among some items, and the digests of the vectors read."""
        compute = {
            "prints": self._prints,
            "scores": self._scores,
            "counts": self._counts,
            "lists": self._lists,
        }
        array = compute[self.is_of.what](queries, items)
        return array, self._digests

    def _read(self, name: str, rows: slice, ids: Sequence[str] | None = None) -> VectorRange:
        path, label = self.table(name)
        vectors, digest = read_range(path, rows, ids, self._layouts[name])
        self._digests[f"{name} {rows.start}-{rows.stop}"] = digest
        return replace(vectors, file=label)

    def _read_rows(self, name: str, rows: Ints) -> VectorRange:
        """Vectors of any rows; those that follow each other are read as a range."""
        first = int(rows[0]) if len(rows) else 0
        if np.array_equal(rows, np.arange(first, first + len(rows))):
            return self._read(name, slice(first, first + len(rows)))
        files = self.files(name)
        vectors = files.take(rows)
        self._digests[f"{name} rows {hashlib.sha256(rows.tobytes()).hexdigest()[:8]}"] = checksum(
            vectors
        )
        return _ChosenRows(None, vectors, file=self.table(name).label, files=files, rows=rows)

    def _queries(self, rows: slice) -> VectorRange:
        array_name = self.is_of.own
        ids = Positions(self.array(array_name)[rows].tolist()) if array_name else None
        if self.is_of.rows:
            return replace(
                self._read_rows(self.is_of.queries, np.asarray(self.array(self.is_of.rows)[rows])),
                ids=ids,
            )
        return self._read(self.is_of.queries, rows, ids)

    def _exclusion(self, queries: slice, items: slice) -> dict[str, Any]:
        """The options that leave out each query's own item, and those of its label."""
        labels = self.is_of.labels
        groups = None
        if labels:
            all_labels = self.array(labels)
            of_items = all_labels[len(all_labels) - self.shape(self.is_of.items)[0] :][items]
            groups = Groups(
                *(
                    [None if label < 0 else label for label in side_labels.tolist()]
                    for side_labels in (all_labels[queries], of_items)
                )
            )
        return {
            "metric": self.metric,
            "exclude": "self" if self.is_of.own else "none",
            "groups": groups,
        }

    def _items(self, items: slice) -> VectorRange:
        return self._read(
            self.is_of.items,
            items,
            Positions(range(items.start, items.stop)) if self.is_of.own else None,
        )

    def _groups(self, items: slice) -> tuple[VectorRange, Ints, int]:
        """The items of a range in the order of their groups, where each group ends, and the number
        of the first.
        """
        members = np.asarray(self.array(self.is_of.members)[:, items])
        first = int(members[0, 0]) if members.size else 0
        return (
            self._read_rows(self.is_of.items, members[1]),
            np.cumsum(np.bincount(members[0] - first)),
            first,
        )

    def _pairs(self, queries: slice) -> tuple[Ints, Ints]:
        """The pairs of some queries: the query's row among these, and the item."""
        owner, items = self.array(self.is_of.pairs)[:, self.pairs_of(queries)]
        return owner - queries.start, np.asarray(items)

    def _prints(self, _: slice, items: slice) -> NDArray[Any]:
        """The hash of each row's bytes: (items, 16)."""
        table = self._read(self.is_of.items, items)
        prints = [
            hashlib.blake2b(row.tobytes(), digest_size=PRINT).digest() for row in table.vectors
        ]
        return np.frombuffer(b"".join(prints), dtype=np.uint8).reshape(-1, PRINT)

    def _scores(self, queries: slice, items: slice) -> NDArray[Any]:
        """The exact scores of the pairs with these items, in order. Raises as `search` for
        vectors that have none.
        """
        query_vectors = self._queries(queries)
        item_vectors = self._items(items)
        space = Space(query_vectors, item_vectors, self.metric)
        for table, check_rows in ((query_vectors, space.queries), (item_vectors, space.items)):
            for block in row_blocks(table.n, table.dimensions):
                check_rows(block.start, block.stop)
        owner, target = self._pairs(queries)
        inside = (target >= items.start) & (target < items.stop)
        return score_pairs(
            query_vectors.vectors,
            item_vectors.vectors,
            owner[inside],
            target[inside] - items.start,
            self.metric,
        )

    def _counts(self, queries: slice, items: slice) -> NDArray[Any]:
        """The numbers above, tied and before among these items: (3, pairs or queries)."""
        query_vectors = self._queries(queries)
        tie_ranks = self._tie_ranks
        if self.is_of.members:
            grouped_items, ends, first = self._groups(items)
            scores = np.asarray(self.array(self.is_of.scores)[queries])
            group_ranks = (
                np.arange(first, first + len(ends))
                if tie_ranks is None
                else tie_ranks[first : first + len(ends)]
            )
            query_ranks = (
                np.arange(queries.start, queries.stop) if tie_ranks is None else tie_ranks[queries]
            )
            wanted = RankTargets(scores, query_ranks)
            return np.array(
                count_groups_among(
                    query_vectors,
                    grouped_items,
                    ends,
                    wanted,
                    places=group_ranks,
                    metric=self.metric,
                ),
                dtype="<i8",
            )
        owner, target = self._pairs(queries)
        scores = np.asarray(self.array(self.is_of.scores)[self.pairs_of(queries)])
        item_ranks = None if tie_ranks is None else np.asarray(tie_ranks[items])
        wanted = WantedPairs(
            owner, scores, target - items.start if tie_ranks is None else tie_ranks[target]
        )
        counts = count_pairs(
            query_vectors,
            self._items(items),
            wanted,
            places=item_ranks,
            **self._exclusion(queries, items),
        )
        return np.array(counts, dtype="<i8")

    def _lists(self, queries: slice, items: slice) -> NDArray[Any]:
        """The best items or groups, as `lists_of`."""
        query_vectors = self._queries(queries)
        tie_ranks = self._tie_ranks
        if self.is_of.members:
            grouped_items, ends, first = self._groups(items)
            depth = min(self.is_of.width, len(ends))
            if not depth:
                return lists_of(
                    np.empty((query_vectors.n, 0), dtype=np.int64),
                    np.empty((query_vectors.n, 0)),
                    0,
                    0,
                )
            groups = Positives(
                segment_offsets(np.diff(ends, prepend=0)),
                np.arange(grouped_items.n),
                grouped_items.n,
            )
            order = None if tie_ranks is None else np.asarray(tie_ranks[first : first + len(ends)])
            return lists_of(
                *by_vectors(grouped_items, query_vectors, self.metric).first_groups(
                    groups, depth, order=order
                ),
                first,
                depth,
            )
        item_vectors = self._items(items)
        depth = min(self.is_of.width, item_vectors.n)
        order = None if tie_ranks is None else np.argsort(tie_ranks[items])
        if order is not None:
            rows = order + items.start
            item_vectors = _ChosenRows(
                None,
                item_vectors.vectors[order],
                file=item_vectors.file,
                files=item_vectors.files,
                rows=rows,
            )
        top_k = search(
            query_vectors, item_vectors, k=max(depth, 1), **self._exclusion(queries, items)
        )
        positions = (
            top_k.positions
            if order is None
            else np.where(top_k.positions >= 0, order[top_k.positions], -1)
        )
        return lists_of(positions, top_k.scores, items.start, depth)
