"""Comparisons of two tables of vectors in parts, each for a range of queries among a range of the
items. Ranks of given items come of exact scores from the ranges that have the items, then of what
is above them in every range.

Options: `metric`; `tables`, name -> place and name in messages; `arrays`, name -> file; `first`,
the comparisons of the first round; `then`, those of the second, each with the number of the first
one whose `scores` or `lists` are its pairs.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell._native.products import Groups, no_items, width
from rankwell._native.similarity import Metric, Space, score_pairs
from rankwell.data.matrices import Positions, Positives, map_npy, row_blocks
from rankwell.data.tables import Floats, Ints, offsets_from_rows, segment_offsets
from rankwell.errors import BadInput
from rankwell.runtime.parts import (
    KINDS,
    SECOND,
    Amounts,
    Cut,
    Json,
    Limits,
    PartContent,
    PartInputs,
    PartKind,
    PlanOptions,
    SecondRound,
    WorkPlace,
    local_file,
)
from rankwell.runtime.parts.execution import PartArrays
from rankwell.runtime.parts.plans import read_plan
from rankwell.runtime.parts.vectors import (
    PartGrid,
    PartTable,
    VectorFiles,
    VectorRange,
    checksum,
    lists_of,
    merged_lists,
    read_range,
    vector_paths,
    write_array,
)
from rankwell.vectors.neighbours import RankTargets, search
from rankwell.vectors.neighbours.positive_counts import by_vectors, count_groups_among, count_pairs

PRINT = 16
"""Bytes of a row's print."""
_PAIRS = 1 << 14
"""Pairs that are scored at a time where their vectors are chosen."""


@dataclass(frozen=True, kw_only=True)
class PartComparison:
    """A comparison of queries with items, or with groups of items. All fields but `what` and
    `width` are names of tables or arrays, "" for none.

    what: `prints` computes fingerprints of the items, which find equal ones; `scores` those of
        pairs; `counts` the numbers of items above wanted pairs, or of groups above a query's own;
        `lists` the best items.
    items: the table of vectors that are compared with the queries.
    queries: the table of the queries' vectors; "" for `prints`.
    width: number of counted items of a query, or the length of its list.
    pairs: (2, pairs) the query of each pair, ascending, and its item.
    scores: (pairs,), or with groups (queries,).
    places: (items,) or (groups,) places among items of equal score.
    rows: (queries,) rows of the table to compare, in place of all.
    members: (2, n) the group of each member, ascending, and its item.
    own: (queries,) the item that is left out.
    labels: (queries + items,) numbers; an item is left out for a query with the same number, -1
        stands for no label.
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


@dataclass(frozen=True, eq=False, kw_only=True)
class _ChosenRows(VectorRange):
    """Vectors of some rows of a table.

    rows: numbers of the rows.
    """

    rows: Ints

    def place(self, row: int) -> str:
        """The row of the file, or of the shard, that this row of the choice is, for messages."""
        return self._named_row(int(self.rows[row]))


@dataclass(frozen=True, eq=False, kw_only=True)
class Compared(PartComparison):
    """A comparison with the tables and arrays that it names.

    options: the options of the kind `counts`.
    layouts: table -> the result of `VectorFiles.described`.
    digests: digests of the vectors that have been read.
    """

    options: PlanOptions
    layouts: PlanOptions
    digests: dict[str, str] = field(default_factory=dict)

    @property
    def metric(self) -> Metric:
        """The metric of the scores."""
        return self.options["metric"]

    def array(self, name: str) -> NDArray[Any]:
        """An array, mapped into memory."""
        return map_npy(local_file(self.options["arrays"][name]))

    def table(self, name: str) -> PartTable:
        """A table."""
        return PartTable(*self.options["tables"][name])

    def files(self, name: str) -> VectorFiles:
        """The files of a table."""
        return VectorFiles(self.table(name).path, self.layouts[name])

    def shape(self, name: str) -> tuple[int, int, int]:
        """The number of a table's vectors, that of their dimensions, and the bytes of one."""
        files = self.files(name)
        return *files.shape, files.shape[1] * files.dtype.itemsize

    @property
    def n_queries(self) -> int:
        """Number of queries; none for prints."""
        if not self.queries:
            return 0
        if self.rows:
            return len(self.array(self.rows))
        return self.shape(self.queries)[0]

    @property
    def n_items(self) -> int:
        """Number of items that are read."""
        if self.members:
            return self.array(self.members).shape[1]
        return self.shape(self.items)[0]

    @property
    def _tie_ranks(self) -> NDArray[Any] | None:
        """Ranks of the items, or groups, among those of equal score."""
        return self.array(self.places) if self.places else None

    def pairs_of(self, queries: slice) -> slice:
        """The place of some queries' pairs among all."""
        return slice(
            *np.searchsorted(self.array(self.pairs)[0], [queries.start, queries.stop]).tolist()
        )

    def scores_of(self, owner: Ints, items: Ints) -> Floats:
        """The exact score of each pair; only their vectors are read."""
        query_files, item_files = self.files(self.queries), self.files(self.items)
        rows = self.array(self.rows)[owner] if self.rows else owner
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
        if not self.members:
            return grid
        groups = self.array(self.members)[0]
        inner = (
            np.searchsorted(groups, groups[np.array(grid.items[1:-1], dtype=np.int64)])
            if len(groups)
            else []
        )
        return grid._replace(items=[0, *map(int, inner), grid.items[-1]])

    def part(self, queries: slice, items: slice) -> tuple[NDArray[Any], Mapping[str, str]]:
        """The result for some queries among some items, and the digests of the vectors read."""
        return getattr(self, f"_{self.what}")(queries, items), self.digests

    def _read(self, name: str, rows: slice, ids: Sequence[str] | None = None) -> VectorRange:
        path, label = self.table(name)
        vectors, digest = read_range(path, rows, ids, self.layouts[name])
        self.digests[f"{name} {rows.start}-{rows.stop}"] = digest
        return replace(vectors, table_path=label)

    def _read_rows(self, name: str, rows: Ints) -> VectorRange:
        """Vectors of any rows; those that follow each other are read as a range."""
        first = int(rows[0]) if len(rows) else 0
        if np.array_equal(rows, np.arange(first, first + len(rows))):
            return self._read(name, slice(first, first + len(rows)))
        files = self.files(name)
        vectors = files.take(rows)
        self.digests[f"{name} rows {hashlib.sha256(rows.tobytes()).hexdigest()[:8]}"] = checksum(
            vectors
        )
        return _ChosenRows(None, vectors, table_path=self.table(name).label, files=files, rows=rows)

    def _queries(self, rows: slice) -> VectorRange:
        ids = Positions(self.array(self.own)[rows].tolist()) if self.own else None
        if self.rows:
            return replace(
                self._read_rows(self.queries, np.asarray(self.array(self.rows)[rows])), ids=ids
            )
        return self._read(self.queries, rows, ids)

    def _exclusion(self, queries: slice, items: slice) -> dict[str, Any]:
        """The options that leave out each query's own item, and those of its label."""
        groups = None
        if self.labels:
            labels = self.array(self.labels)
            of_items = labels[len(labels) - self.shape(self.items)[0] :][items]
            groups = Groups(
                *(
                    [None if label < 0 else label for label in side_labels.tolist()]
                    for side_labels in (labels[queries], of_items)
                )
            )
        return {"metric": self.metric, "exclude": "self" if self.own else "none", "groups": groups}

    def _items(self, items: slice) -> VectorRange:
        return self._read(
            self.items, items, Positions(range(items.start, items.stop)) if self.own else None
        )

    def _groups(self, items: slice) -> tuple[VectorRange, Ints, int]:
        """The items of a range in the order of their groups, where each group ends, and the number
        of the first.
        """
        members = np.asarray(self.array(self.members)[:, items])
        first = int(members[0, 0]) if members.size else 0
        return (
            self._read_rows(self.items, members[1]),
            np.cumsum(np.bincount(members[0] - first)),
            first,
        )

    def _pairs(self, queries: slice) -> tuple[Ints, Ints]:
        """The pairs of some queries: the query's row among these, and the item."""
        owner, items = self.array(self.pairs)[:, self.pairs_of(queries)]
        return owner - queries.start, np.asarray(items)

    def _prints(self, _: slice, items: slice) -> NDArray[Any]:
        """The hash of each row's bytes: (items, 16)."""
        table = self._read(self.items, items)
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
        if self.members:
            grouped_items, ends, first = self._groups(items)
            scores = np.asarray(self.array(self.scores)[queries])
            if tie_ranks is None:
                group_ranks = np.arange(first, first + len(ends))
                query_ranks = np.arange(queries.start, queries.stop)
            else:
                group_ranks = tie_ranks[first : first + len(ends)]
                query_ranks = tie_ranks[queries]
            counts = count_groups_among(
                query_vectors,
                grouped_items,
                ends,
                RankTargets(scores, query_ranks),
                places=group_ranks,
                metric=self.metric,
            )
            return np.array(counts, dtype="<i8")
        owner, target = self._pairs(queries)
        scores = np.asarray(self.array(self.scores)[self.pairs_of(queries)])
        counts = count_pairs(
            query_vectors,
            self._items(items),
            owner,
            RankTargets(scores, target - items.start if tie_ranks is None else tie_ranks[target]),
            places=None if tie_ranks is None else np.asarray(tie_ranks[items]),
            **self._exclusion(queries, items),
        )
        return np.array(counts, dtype="<i8")

    def _lists(self, queries: slice, items: slice) -> NDArray[Any]:
        """The best items or groups, as `lists_of`."""
        query_vectors = self._queries(queries)
        tie_ranks = self._tie_ranks
        if self.members:
            grouped_items, ends, first = self._groups(items)
            depth = min(self.width, len(ends))
            if not depth:
                return lists_of(*no_items(query_vectors.n, 0), 0, 0)
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
        depth = min(self.width, item_vectors.n)
        order = None if tie_ranks is None else np.argsort(tie_ranks[items])
        if order is not None:
            item_vectors = _ChosenRows(
                None,
                item_vectors.vectors[order],
                table_path=item_vectors.table_path,
                files=item_vectors.files,
                rows=order + items.start,
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


_MULTIPLIED = ("counts", "lists")
"""Comparisons of all queries with all items."""
_LEAST_MULTIPLIED, _LEAST_READ = 1 << 33, 64 << 20
"""Multiplications of a part of these, a quarter of a second, and bytes that others read, unless
more parts are requested.
"""


class WantedItems(NamedTuple):
    """The pairs whose ranks are counted.

    right: the relevant items of all queries.
    pairs: positions of the pairs among the relevant items.
    scores: scores of the relevant items.
    """

    right: Positives
    pairs: Ints
    scores: Floats

    @classmethod
    def of(
        cls, positives: Positives, scores: Floats, *, transposed: bool, best: bool
    ) -> "WantedItems":
        """scores: of the pairs of `positives`. best: only the best of each query, with those that
        tie.
        """
        right = positives.transposed if transposed else positives
        scores = scores[np.lexsort((positives.owner, positives.items))] if transposed else scores
        return cls(
            right, np.flatnonzero(right.is_best(scores)) if best else np.arange(len(scores)), scores
        )


def _comparisons(options: PlanOptions, round_name: str, layouts: PlanOptions) -> list[Compared]:
    comparisons = options[round_name]
    if round_name == "then":
        comparisons = [follow_up["comparison"] for follow_up in comparisons]
    return [Compared(**comparison, options=options, layouts=layouts) for comparison in comparisons]


def _files(options: PlanOptions) -> dict[str, str]:
    """The files of the tables, and the arrays beside the parts."""
    files = vector_paths({name: path for name, (path, _) in options["tables"].items()})
    return files | {f"array {name}": path for name, path in options["arrays"].items()}


def _grid(compared: Compared, limits: Limits) -> PartGrid:
    _, dimensions, row = compared.shape(compared.items)
    if compared.queries and (query_dimensions := compared.shape(compared.queries)[1]) != dimensions:
        raise BadInput(
            f"{compared.table(compared.queries).label}: the queries have {query_dimensions} "
            f"dimensions, the items {dimensions}; both come from one model."
        )
    state = 8 * dimensions
    state += 24 * width(compared.width) if compared.what == "lists" else 64 * compared.width
    # Shards have 1,000 items per `depth`: as many as keep a processor busy for a moment.
    n = compared.n_queries
    least = (
        _LEAST_MULTIPLIED // max(1, n * dimensions)
        if compared.what in _MULTIPLIED
        else _LEAST_READ // max(1, row)
    )
    grid = PartGrid.of(
        n,
        compared.n_items,
        state=state,
        row=row,
        depth=max(compared.width, -(-least // 1000)),
        limits=limits,
    )
    if compared.members:
        return compared.whole_groups(grid)
    return grid.ending_at(compared.files(compared.items).breaks)


def _cut(options: PlanOptions, limits: Limits) -> Cut:
    """The parts of all comparisons of the first round; the costs are those of both."""
    layouts = {name: VectorFiles(path).described for name, (path, _) in options["tables"].items()}
    first, then = (
        [
            (compared, _grid(compared, limits))
            for compared in _comparisons(options, round_name, layouts)
        ]
        for round_name in ("first", "then")
    )
    costs = {"parts": sum(grid.parts for _, grid in first)}
    if then:
        costs["parts of a second round"] = sum(grid.parts for _, grid in then)
    comparisons = [*first, *then]
    costs |= {
        "items per part": max(-(-grid.items[-1] // grid.shards) for _, grid in comparisons),
        "passes over the items": max(grid.passes for _, grid in comparisons),
    }
    products = multiplications = read = 0
    for compared, grid in comparisons:
        _, dimensions, row = compared.shape(compared.items)
        n_queries, n_items = grid.queries[-1], grid.items[-1]
        if compared.what in _MULTIPLIED:
            products += n_queries * n_items
            multiplications += n_queries * n_items * dimensions
        read += grid.passes * n_items * row
        if queries := compared.queries:
            read += grid.shards * n_queries * compared.shape(queries)[2]
    costs |= {"products": products, "multiplications": multiplications, "bytes read": read}
    return Cut(
        sum(grid.parts for _, grid in first),
        {"grids": [grid._asdict() for _, grid in first], "files": layouts},
        costs,
    )


def _grids(inputs: PartInputs) -> Iterator[tuple[Compared, PartGrid, int]]:
    """The comparisons of a round with their grids and the number of their first parts."""
    start = 0
    grids = inputs.boundaries["grids"]
    layouts = inputs.boundaries["files"]
    for compared, bounds in zip(_comparisons(inputs.options, "first", layouts), grids, strict=True):
        grid = PartGrid(**bounds)
        yield compared, grid, start
        start += grid.parts


def _part(inputs: PartInputs, index: int) -> PartContent:
    for compared, grid, start in _grids(inputs):
        if index < start + grid.parts:
            array, digests = compared.part(*grid.part(index - start))
            return PartContent(".npy", partial(write_array, array), digests)
    raise IndexError(index)


def _second(inputs: PartInputs, files: Sequence[Path], storage: WorkPlace) -> SecondRound | None:
    """The counts of pairs that are known now, or whose scores are."""
    options, layouts = inputs.options, inputs.boundaries["files"]
    if not options["then"]:
        return None
    results = dict[int, Any]()
    comparisons = list[Json]()
    arrays = dict(options["arrays"])
    grids, part_arrays = list(_grids(inputs)), PartArrays(storage)
    for number, follow_up in enumerate(options["then"]):
        comparison, source = follow_up["comparison"], follow_up["of"]
        if source not in results:
            compared, grid, start = grids[source]
            results[source] = _merged(compared, grid, files[start : start + grid.parts], storage)
        compared = grids[source][0]
        if compared.what == "scores":
            new_arrays = _scored_pairs(compared, results[source], follow_up)
        else:
            next_compared = Compared(**comparison, options=options, layouts=layouts)
            # The pairs of lists are counted by other vectors, with their scores by these.
            positions = results[source][0][:, : follow_up["depth"]]
            owner, column = np.nonzero(positions >= 0)
            pairs = np.stack([owner, positions[owner, column]])
            new_arrays = {"pairs": pairs, "scores": next_compared.scores_of(*pairs)}
        for name, array in new_arrays.items():
            arrays[f"{name} {number}"] = part_arrays.keep(array)
            comparison = {**comparison, name: f"{name} {number}"}
        comparisons.append(comparison)
    shared_options = {name: options[name] for name in ("metric", "tables")}
    return SecondRound(
        "counts",
        {**shared_options, "arrays": arrays, "first": comparisons, "then": []},
        divided=True,
    )


def _scored_pairs(compared: Compared, scores: Floats, then: PlanOptions) -> dict[str, NDArray[Any]]:
    """The pairs to count with their scores, or the scores of groups."""
    owner, items = compared.array(compared.pairs)
    right, pairs, scores = WantedItems.of(
        Positives(offsets_from_rows(owner, compared.n_queries), items, compared.n_items),
        scores,
        transposed=then["transposed"],
        best=then["best"],
    )
    if "members" in then["comparison"]:
        return {"scores": right.best(scores)}
    return {"pairs": np.stack([right.owner[pairs], right.items[pairs]]), "scores": scores[pairs]}


def _merged(compared: Compared, grid: PartGrid, files: Sequence[Path], storage: WorkPlace) -> Any:
    """The result of a comparison, from all its parts."""
    if compared.what == "lists":
        return merged_lists(
            grid,
            files,
            storage.folder,
            compared.width,
            np.asarray(compared.array(compared.places)) if compared.places else None,
        )
    parts = [(*grid.part(index), np.asarray(map_npy(file))) for index, file in enumerate(files)]
    if compared.what == "prints":
        return np.concatenate([array for _, _, array in parts])
    if compared.what == "scores":
        items = compared.array(compared.pairs)[1]
        scores = np.empty(len(items))
        for rows, columns, part_scores in parts:
            merged_range = compared.pairs_of(rows)
            inside = (items[merged_range] >= columns.start) & (items[merged_range] < columns.stop)
            scores[merged_range][inside] = part_scores
        return scores
    n = compared.n_queries if compared.members else compared.array(compared.pairs).shape[1]
    counted = np.zeros((3, n), dtype=np.int64)
    for rows, _, part_counts in parts:
        merged_range = rows if compared.members else compared.pairs_of(rows)
        counted[:, merged_range] += part_counts
    return counted


def _merge(inputs: PartInputs, files: Sequence[Path], storage: WorkPlace) -> list[Any]:
    """The results of all comparisons, those of the first round first."""
    rounds = [inputs]
    if inputs.options["then"]:
        rounds.append(read_plan(storage.inside(SECOND)).part_inputs)
    results = list[Any]()
    start = 0
    for round_inputs in rounds:
        for compared, grid, _ in _grids(round_inputs):
            results.append(_merged(compared, grid, files[start : start + grid.parts], storage))
            start += grid.parts
    return results


def _amounts(inputs: PartInputs) -> Amounts:
    """Products of queries with items; exact scores of some pairs and prints of vectors do not
    count.
    """
    amounts = list[int]()
    for compared, grid, _ in _grids(inputs):
        amounts += grid.products if compared.what in _MULTIPLIED else [0] * grid.parts
    return Amounts("products", amounts)


_COMPARISONS = (
    "what is compared differs (models, directions, protocols, ties, measures, or whether "
    "first items are kept)"
)
_KIND = PartKind(
    "counts",
    _files,
    _cut,
    _part,
    _merge,
    second=_second,
    amounts=_amounts,
    derived={
        "arrays": "the rows that are compared differ (positives, mask, sample, labels, or the "
        "order of "
        "ties)",
        "first": _COMPARISONS,
        "then": _COMPARISONS,
    },
)
KINDS.add("counts", _KIND)
