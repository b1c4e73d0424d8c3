"""Ranks of given items in parts: exact scores from the ranges that have the items, then what is
above them in every range.

Options: `metric`; `tables`, name -> place and name in messages; `arrays`, name -> file; `first`,
the comparisons of the first round; `then`, those of the second, each with the number of the first
one whose `scores` or `lists` are its pairs.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell._native.products import width
from rankwell.data.arrays import map_npy
from rankwell.data.matrices import Positives
from rankwell.data.tables import Floats, Ints, offsets_from_rows
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
    SecondRound,
)
from rankwell.runtime.parts.comparing import Compared, PartComparison
from rankwell.runtime.parts.execution import PartArrays
from rankwell.runtime.parts.lists import PartGrid, merged_lists, write_array
from rankwell.runtime.parts.places import WorkPlace
from rankwell.runtime.parts.plans import read_plan
from rankwell.runtime.parts.vectors import VectorFiles, files_of, named_files

_MULTIPLIED = ("counts", "lists")
"""Comparisons of all queries with all items."""
_LEAST_MULTIPLIED, _LEAST_READ = 1 << 33, 64 << 20
"""Multiplications of a part of these, a quarter of a second, and bytes that others read, unless
more parts are requested.
"""


class WantedItems(NamedTuple):
    """The pairs whose ranks are counted. right: the items of all queries. pairs: positions among
    them. scores: of `right`.
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


def _comparisons(
    options: Mapping[str, Json], round_name: str, layouts: Mapping[str, Json]
) -> list[Compared]:
    comparisons = (
        options[round_name]
        if round_name == "first"
        else [follow_up["comparison"] for follow_up in options[round_name]]
    )
    return [Compared(options, PartComparison(**comparison), layouts) for comparison in comparisons]


def _files(options: Mapping[str, Json]) -> dict[str, str]:
    """The files of the tables, and the arrays beside the parts."""
    files: dict[str, str] = {}
    for name, (path, _) in options["tables"].items():
        files |= named_files(name, files_of(path))
    return files | {f"array {name}": path for name, path in options["arrays"].items()}


def _grid(compared: Compared, limits: Limits) -> PartGrid:
    comparison = compared.is_of
    _, dimensions, row = compared.shape(comparison.items)
    if (
        comparison.queries
        and (query_dimensions := compared.shape(comparison.queries)[1]) != dimensions
    ):
        raise BadInput(
            f"{compared.table(comparison.queries).label}: the queries have {query_dimensions} "
            f"dimensions, the items {dimensions}; both come from one model."
        )
    state = 8 * dimensions + (
        24 * width(comparison.width) if comparison.what == "lists" else 64 * comparison.width
    )
    # Shards have 1,000 items per `depth`: as many as keep a processor busy for a moment.
    n = compared.n_queries
    least = (
        _LEAST_MULTIPLIED // max(1, n * dimensions)
        if comparison.what in _MULTIPLIED
        else _LEAST_READ // max(1, row)
    )
    depth = max(comparison.width, -(-least // 1000))
    grid = PartGrid.of(n, compared.n_items, state=state, row=row, depth=depth, limits=limits)
    if comparison.members:
        return compared.whole_groups(grid)
    return grid.ending_at(compared.files(comparison.items).breaks)


def _cut(options: Mapping[str, Json], limits: Limits) -> Cut:
    """The parts of all comparisons of the first round; the costs are those of both."""
    layouts = {name: VectorFiles(path).described for name, (path, _) in options["tables"].items()}
    first, then = (
        [
            (compared, _grid(compared, limits))
            for compared in _comparisons(options, round_name, layouts)
        ]
        for round_name in ("first", "then")
    )
    costs: dict[str, int | str] = {"parts": sum(grid.parts for _, grid in first)}
    if then:
        costs["parts of a second round"] = sum(grid.parts for _, grid in then)
    comparisons = [*first, *then]
    costs |= {
        "items per part": max(-(-grid.items[-1] // grid.shards) for _, grid in comparisons),
        "passes over the items": max(grid.passes for _, grid in comparisons),
    }
    products = [_products(comparison) for comparison in comparisons]
    read = 0
    for compared, grid in comparisons:
        items, queries = compared.is_of.items, compared.is_of.queries
        read += grid.passes * grid.items[-1] * compared.shape(items)[2]
        read += grid.shards * grid.queries[-1] * compared.shape(queries)[2] if queries else 0
    costs |= {
        "products": sum(products),
        "multiplications": sum(
            n * compared.shape(compared.is_of.items)[1]
            for n, (compared, _) in zip(products, comparisons, strict=True)
        ),
        "bytes read": read,
    }
    return Cut(
        sum(grid.parts for _, grid in first),
        {"grids": [grid._asdict() for _, grid in first], "files": layouts},
        costs,
    )


def _products(part: tuple[Compared, PartGrid]) -> int:
    compared, grid = part
    return grid.queries[-1] * grid.items[-1] if compared.is_of.what in _MULTIPLIED else 0


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
    compared, grid, start = next(
        (compared, grid, start)
        for compared, grid, start in _grids(inputs)
        if index < start + grid.parts
    )
    array, digests = compared.part(*grid.part(index - start))
    return PartContent(".npy", partial(write_array, array), digests)


def _second(inputs: PartInputs, files: Sequence[Path], storage: WorkPlace) -> SecondRound | None:
    """The counts of pairs that are known now, or whose scores are."""
    options, layouts = inputs.options, inputs.boundaries["files"]
    if not options["then"]:
        return None
    results = dict[int, Any]()
    comparisons: list[Json] = []
    arrays = dict(options["arrays"])
    grids, part_arrays = list(_grids(inputs)), PartArrays(storage)
    for number, follow_up in enumerate(options["then"]):
        comparison, source = follow_up["comparison"], follow_up["of"]
        if source not in results:
            compared, grid, start = grids[source]
            results[source] = _merged(compared, grid, files[start : start + grid.parts], storage)
        compared = grids[source][0]
        if compared.is_of.what == "scores":
            new_arrays = _scored_pairs(compared, results[source], follow_up)
        else:
            next_compared = Compared(options, PartComparison(**comparison), layouts)
            new_arrays = _listed_pairs(next_compared, results[source][0][:, : follow_up["depth"]])
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


def _scored_pairs(
    compared: Compared, scores: Floats, then: Mapping[str, Json]
) -> dict[str, NDArray[Any]]:
    """The pairs to count with their scores, or the scores of groups."""
    owner, items = compared.array(compared.is_of.pairs)
    positives = Positives(offsets_from_rows(owner, compared.n_queries), items, compared.n_items)
    right, pairs, scores = WantedItems.of(
        positives, scores, transposed=then["transposed"], best=then["best"]
    )
    if "members" in then["comparison"]:
        return {"scores": right.best(scores)}
    return {"pairs": np.stack([right.owner[pairs], right.items[pairs]]), "scores": scores[pairs]}


def _listed_pairs(compared: Compared, positions: Ints) -> dict[str, NDArray[Any]]:
    """The pairs of lists by their positions, which are to be counted by other vectors, with their
    scores by these.
    """
    owner, column = np.nonzero(positions >= 0)
    pairs = np.stack([owner, positions[owner, column]])
    return {"pairs": pairs, "scores": compared.scores_of(*pairs)}


def _merged(compared: Compared, grid: PartGrid, files: Sequence[Path], storage: WorkPlace) -> Any:
    """The result of a comparison, from all its parts."""
    comparison = compared.is_of
    if comparison.what == "lists":
        tie_ranks = np.asarray(compared.array(comparison.places)) if comparison.places else None
        return merged_lists(grid, files, storage.folder, comparison.width, tie_ranks)
    parts = [(*grid.part(index), np.asarray(map_npy(file))) for index, file in enumerate(files)]
    if comparison.what == "prints":
        return np.concatenate([array for _, _, array in parts])
    if comparison.what == "scores":
        owner, items = compared.array(comparison.pairs)
        scores = np.empty(len(owner))
        for rows, columns, part_scores in parts:
            merged_range = slice(*np.searchsorted(owner, [rows.start, rows.stop]).tolist())
            inside = (items[merged_range] >= columns.start) & (items[merged_range] < columns.stop)
            scores[merged_range][inside] = part_scores
        return scores
    counted = np.zeros(
        (
            3,
            compared.n_queries if comparison.members else compared.array(comparison.pairs).shape[1],
        ),
        dtype=np.int64,
    )
    for rows, _, part_counts in parts:
        merged_range = rows if comparison.members else compared.pairs_of(rows)
        counted[:, merged_range] += part_counts
    return counted


def _merge(inputs: PartInputs, files: Sequence[Path], storage: WorkPlace) -> list[Any]:
    """The results of all comparisons, those of the first round first."""
    rounds = [inputs]
    if inputs.options["then"]:
        rounds.append(read_plan(storage.inside(SECOND)).part_inputs)
    results: list[Any] = []
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
    amounts: list[int] = []
    for compared, grid, _ in _grids(inputs):
        amounts += grid.products if compared.is_of.what in _MULTIPLIED else [0] * grid.parts
    return Amounts("products", amounts)


_COMPARISONS = (
    "what is compared differs (models, directions, protocols, ties, measures, or whether "
    "first items are kept)"
)
_KIND = PartKind(
    "counts",
    "Ranks of given items among embeddings",
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
