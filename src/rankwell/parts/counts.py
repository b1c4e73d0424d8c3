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

from rankwell.core.kernels.products import width
from rankwell.core.tables import Floats, Ints, offsets_from_rows
from rankwell.core.tables.arrays import map_npy
from rankwell.core.tables.matrices import Positives
from rankwell.errors import BadInput
from rankwell.parts import (
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
from rankwell.parts.arrays import PartArrays
from rankwell.parts.comparing import Compared, PartComparison
from rankwell.parts.lists import PartGrid, merged_lists, write_array
from rankwell.parts.places import WorkPlace
from rankwell.parts.plans import read_plan
from rankwell.parts.vectors import VectorFiles, files_of, named_files

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
    options: Mapping[str, Json], which: str, known: Mapping[str, Json]
) -> list[Compared]:
    listed = options[which] if which == "first" else [each["comparison"] for each in options[which]]
    return [Compared(options, PartComparison(**each), known) for each in listed]


def _files(options: Mapping[str, Json]) -> dict[str, str]:
    """The files of the tables, and the arrays beside the parts."""
    found: dict[str, str] = {}
    for name, (place, _) in options["tables"].items():
        found |= named_files(name, files_of(place))
    return found | {f"array {name}": place for name, place in options["arrays"].items()}


def _grid(compared: Compared, limits: Limits) -> PartGrid:
    which = compared.is_of
    _, dimensions, row = compared.shape(which.items)
    if which.queries and (found := compared.shape(which.queries)[1]) != dimensions:
        what = f"the queries have {found} dimensions, the items {dimensions}"
        raise BadInput(f"{compared.table(which.queries).shown}: {what}; both come from one model.")
    state = 8 * dimensions + (
        24 * width(which.width) if which.what == "lists" else 64 * which.width
    )
    # Shards have 1,000 items per `depth`: as many as keep a processor busy for a moment.
    n = compared.n_queries
    least = (
        _LEAST_MULTIPLIED // max(1, n * dimensions)
        if which.what in _MULTIPLIED
        else _LEAST_READ // max(1, row)
    )
    depth = max(which.width, -(-least // 1000))
    grid = PartGrid.of(n, compared.n_items, state=state, row=row, depth=depth, limits=limits)
    return (
        compared.whole_groups(grid)
        if which.members
        else grid.ending_at(compared.files(which.items).breaks)
    )


def _cut(options: Mapping[str, Json], limits: Limits) -> Cut:
    """The parts of all comparisons of the first round; the costs are those of both."""
    known = {name: VectorFiles(place).described for name, (place, _) in options["tables"].items()}
    first, then = (
        [(each, _grid(each, limits)) for each in _comparisons(options, which, known)]
        for which in ("first", "then")
    )
    costs: dict[str, int | str] = {"parts": sum(grid.parts for _, grid in first)}
    if then:
        costs["parts of a second round"] = sum(grid.parts for _, grid in then)
    both = [*first, *then]
    costs |= {
        "items per part": max(-(-grid.items[-1] // grid.shards) for _, grid in both),
        "passes over the items": max(grid.passes for _, grid in both),
    }
    products, read = [_products(each) for each in both], 0
    for compared, grid in both:
        which = compared.is_of
        read += grid.passes * grid.items[-1] * compared.shape(which.items)[2]
        read += (
            grid.shards * grid.queries[-1] * compared.shape(which.queries)[2]
            if which.queries
            else 0
        )
    costs |= {
        "products": sum(products),
        "multiplications": sum(
            n * each.shape(each.is_of.items)[1] for n, (each, _) in zip(products, both, strict=True)
        ),
        "bytes read": read,
    }
    return Cut(
        sum(grid.parts for _, grid in first),
        {"grids": [grid._asdict() for _, grid in first], "files": known},
        costs,
    )


def _products(part: tuple[Compared, PartGrid]) -> int:
    compared, grid = part
    return grid.queries[-1] * grid.items[-1] if compared.is_of.what in _MULTIPLIED else 0


def _grids(inputs: PartInputs) -> Iterator[tuple[Compared, PartGrid, int]]:
    """The comparisons of a round with their grids and the number of their first parts."""
    start = 0
    grids, known = inputs.boundaries["grids"], inputs.boundaries["files"]
    for compared, bounds in zip(_comparisons(inputs.options, "first", known), grids, strict=True):
        grid = PartGrid(**bounds)
        yield compared, grid, start
        start += grid.parts


def _part(inputs: PartInputs, index: int) -> PartContent:
    compared, grid, start = next(each for each in _grids(inputs) if index < each[2] + each[1].parts)
    array, digests = compared.part(*grid.part(index - start))
    return PartContent(".npy", partial(write_array, array), digests)


def _second(inputs: PartInputs, files: Sequence[Path], place: WorkPlace) -> SecondRound | None:
    """The counts of pairs that are known now, or whose scores are."""
    options, files_known = inputs.options, inputs.boundaries["files"]
    if not options["then"]:
        return None
    found = dict[int, Any]()
    comparisons: list[Json] = []
    arrays = dict(options["arrays"])
    grids, kept = list(_grids(inputs)), PartArrays(place)
    for number, each in enumerate(options["then"]):
        which, source = each["comparison"], each["of"]
        if source not in found:
            compared, grid, start = grids[source]
            found[source] = _merged(compared, grid, files[start : start + grid.parts], place)
        compared = grids[source][0]
        if compared.is_of.what == "scores":
            known = _scores_known(compared, found[source], each)
        else:
            other = Compared(options, PartComparison(**which), files_known)
            known = _pairs_known(other, found[source][0][:, : each["depth"]])
        for name, array in known.items():
            arrays[f"{name} {number}"] = kept.keep(array)
            which = {**which, name: f"{name} {number}"}
        comparisons.append(which)
    named = {name: options[name] for name in ("metric", "tables")}
    return SecondRound(
        "counts", {**named, "arrays": arrays, "first": comparisons, "then": []}, divided=True
    )


def _scores_known(
    of: Compared, scores: Floats, then: Mapping[str, Json]
) -> dict[str, NDArray[Any]]:
    """The pairs to count with their scores, or the scores of groups."""
    owner, items = of.array(of.is_of.pairs)
    positives = Positives(offsets_from_rows(owner, of.n_queries), items, of.n_items)
    right, pairs, scores = WantedItems.of(
        positives, scores, transposed=then["transposed"], best=then["best"]
    )
    if "members" in then["comparison"]:
        return {"scores": right.best(scores)}
    return {"pairs": np.stack([right.owner[pairs], right.items[pairs]]), "scores": scores[pairs]}


def _pairs_known(other: Compared, positions: Ints) -> dict[str, NDArray[Any]]:
    """The pairs of lists by their positions, which are to be counted by other vectors, with their
    scores by these.
    """
    owner, column = np.nonzero(positions >= 0)
    pairs = np.stack([owner, positions[owner, column]])
    return {"pairs": pairs, "scores": other.scores_of(*pairs)}


def _merged(compared: Compared, grid: PartGrid, files: Sequence[Path], place: WorkPlace) -> Any:
    """The result of a comparison, from all its parts."""
    which = compared.is_of
    if which.what == "lists":
        places = np.asarray(compared.array(which.places)) if which.places else None
        return merged_lists(grid, files, place.folder, which.width, places)
    parts = [(*grid.part(index), np.asarray(map_npy(file))) for index, file in enumerate(files)]
    if which.what == "prints":
        return np.concatenate([found for _, _, found in parts])
    if which.what == "scores":
        owner, items = compared.array(which.pairs)
        scores = np.empty(len(owner))
        for rows, columns, found in parts:
            some = slice(*np.searchsorted(owner, [rows.start, rows.stop]).tolist())
            inside = (items[some] >= columns.start) & (items[some] < columns.stop)
            scores[some][inside] = found
        return scores
    counted = np.zeros(
        (3, compared.n_queries if which.members else compared.array(which.pairs).shape[1]),
        dtype=np.int64,
    )
    for rows, _, found in parts:
        some = rows if which.members else compared.pairs_of(rows)
        counted[:, some] += found
    return counted


def _merge(inputs: PartInputs, files: Sequence[Path], place: WorkPlace) -> list[Any]:
    """The results of all comparisons, those of the first round first."""
    rounds = [inputs]
    if inputs.options["then"]:
        rounds.append(read_plan(place.inside(SECOND)).part_inputs)
    results: list[Any] = []
    start = 0
    for each in rounds:
        for compared, grid, _ in _grids(each):
            results.append(_merged(compared, grid, files[start : start + grid.parts], place))
            start += grid.parts
    return results


def _amounts(inputs: PartInputs) -> Amounts:
    """Products of queries with items; exact scores of some pairs and prints of vectors do not
    count.
    """
    found: list[int] = []
    for compared, grid, _ in _grids(inputs):
        found += grid.products if compared.is_of.what in _MULTIPLIED else [0] * grid.parts
    return Amounts("products", found)


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
