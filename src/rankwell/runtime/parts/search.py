"""Exact search in parts: a part is the best items of some queries in a range of the items, and
lists merge by exact score.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

from rankwell._native.products import Groups, width
from rankwell.data.matrices import Positions
from rankwell.errors import BadInput, BadUsage, flag
from rankwell.io.formats import read_column
from rankwell.runtime.parts import (
    KINDS,
    Amounts,
    Cut,
    Limits,
    PartContent,
    PartInputs,
    PartKind,
    PlanOptions,
    WorkPlace,
)
from rankwell.runtime.parts.tables import Ids
from rankwell.runtime.parts.vectors import (
    ListBlock,
    PartGrid,
    VectorFiles,
    VectorRange,
    lists_of,
    merged_blocks,
    merged_lists,
    read_range,
    vector_paths,
    write_array,
)
from rankwell.vectors.neighbours import TopK, search


def _files(options: PlanOptions) -> dict[str, str]:
    """The files that a search reads."""
    names = [f"{name}{kind}" for name in ("base", "queries") for kind in ("", "_ids", "_groups")]
    return vector_paths({name.replace("_", " "): options[name] for name in names})


def _cut(options: PlanOptions, limits: Limits) -> Cut:
    """Passes over shards of the items, as `PartGrid.of` says; shards end where files and row groups
    end that are near.
    """
    items = VectorFiles(options["base"])
    queries = VectorFiles(options["queries"])
    if items.shape[1] != queries.shape[1]:
        raise BadInput(
            f"{options['queries']}: the queries have {queries.shape[1]} dimensions, the items "
            f"{items.shape[1]}; both come from one model."
        )
    (n, dimensions), m, k = items.shape, queries.shape[0], options["neighbours"]
    if k < 1:
        raise BadUsage(f"k is {k}; a search is for one item or more.")
    row = dimensions * items.dtype.itemsize
    grid = PartGrid.of(m, n, state=8 * dimensions + 24 * width(k), row=row, depth=k, limits=limits)
    grid = grid.ending_at(items.breaks)
    written = sum(16 * m * min(k, stop - start) for start, stop in pairwise(grid.items))
    costs = {
        "parts": grid.parts,
        "items per part": -(-n // grid.shards),
        "passes over the items": grid.passes,
        "products": m * n,
        "multiplications": m * n * dimensions,
        "bytes read": grid.passes * n * row + grid.shards * m * dimensions * queries.dtype.itemsize,
        "bytes written by parts": written,
    }
    files = {"base": items.described, "queries": queries.described}
    return Cut(grid.parts, {"queries": grid.queries, "items": grid.items, "files": files}, costs)


def _check(options: PlanOptions) -> None:
    """Raises the errors of ids, of labels and of their numbers."""
    files = {name: VectorFiles(options[name]) for name in ("base", "queries")}
    base, queries = (Ids(side, options[f"{name}_ids"]) for name, side in files.items())
    if options["exclude"] == "self" and base.is_named != queries.is_named:
        raise BadUsage(
            f"{flag('--exclude-self', True)} compares ids, but one side has none; name them with "
            f"{flag('--item-ids')} and {flag('--query-ids')}."
        )
    base.check()
    queries.check()
    if options["base_groups"] is not None:
        labels = {name: len(read_column(options[f"{name}_groups"])) for name in ("queries", "base")}
        numbers = {name: files[name].shape[0] for name in labels}
        if labels != numbers:
            raise BadInput(
                f"{labels['queries']} and {labels['base']} group labels for {numbers['queries']} "
                f"queries and {numbers['base']} items; each has one, or None."
            )


def _grid(inputs: PartInputs) -> PartGrid:
    return PartGrid(inputs.boundaries["queries"], inputs.boundaries["items"])


def _part(inputs: PartInputs, index: int) -> PartContent:
    """The best items of a shard for the queries of a pass: int64 (2, queries, depth), positions and
    the bits of scores.
    """
    options = inputs.options
    rows, columns = _grid(inputs).part(index)
    tables = list[VectorRange]()
    digests = dict[str, str]()
    for name, part in (("queries", rows), ("base", columns)):
        layout = inputs.boundaries["files"][name]
        names = None
        if options["exclude"] == "self":
            # Positions in the whole table where it has no ids.
            ids = Ids(VectorFiles(options[name], layout), options[f"{name}_ids"])
            names = ids.range(part.start, part.stop) or Positions(range(part.start, part.stop))
        table, digest = read_range(options[name], part, names, layout)
        tables.append(table)
        digests[f"{name} {part.start}-{part.stop}"] = digest
    groups = None
    if options["base_groups"] is not None:
        groups = Groups(
            read_column(options["queries_groups"])[rows],
            read_column(options["base_groups"])[columns],
        )
    search_options = {name: options[name] for name in ("metric", "exclude", "backend", "device")}
    depth = min(options["neighbours"], columns.stop - columns.start)
    top_k = search(tables[0], tables[1], k=max(depth, 1), groups=groups, **search_options)
    return PartContent(
        ".npy",
        partial(write_array, lists_of(top_k.positions, top_k.scores, columns.start, depth)),
        digests,
        options["device"] or "cpu",
    )


@dataclass(frozen=True, eq=False)
class MergedSearch:
    """The lists of a search, which are merged as they are read, as long as the files of the parts
    are there.
    """

    _inputs: PartInputs
    _files: Sequence[Path]
    _storage: WorkPlace

    @property
    def shape(self) -> tuple[int, int]:
        """The number of queries, and the length of a list."""
        return _grid(self._inputs).queries[-1], self._inputs.options["neighbours"]

    @property
    def n_items(self) -> int:
        """Number of items."""
        return _grid(self._inputs).items[-1]

    def blocks(self) -> Iterator[ListBlock]:
        """The best items of all shards, for some queries at a time."""
        return merged_blocks(_grid(self._inputs), self._files, self._storage.folder, self.shape[1])

    def top_k(self) -> TopK:
        """The best items of all shards, in memory, with their names."""
        options = self._inputs.options
        positions, scores = merged_lists(
            _grid(self._inputs), self._files, self._storage.folder, self.shape[1]
        )
        layouts = self._inputs.boundaries["files"]
        base, queries = (
            Ids(VectorFiles(options[name], layouts[name]), options[f"{name}_ids"])
            for name in ("base", "queries")
        )
        return TopK(
            positions,
            scores,
            queries.names(),
            base.names_of(positions[positions >= 0]),
            options["metric"],
        )


KINDS.add(
    "search",
    PartKind(
        "search",
        _files,
        _cut,
        _part,
        MergedSearch,
        _check,
        amounts=lambda inputs: Amounts("products", _grid(inputs).products),
    ),
)
