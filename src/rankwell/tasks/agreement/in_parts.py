"""The neighbours of all models, and the ranks of each other's neighbours, found in parts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankwell.core.kernels.similarity import score_pairs
from rankwell.core.tables import Floats, Ints
from rankwell.neighbours import TopK
from rankwell.parts import Json
from rankwell.parts.arrays import PartArrays, arrays_of
from rankwell.parts.comparing import PartComparison
from rankwell.parts.execution import run_in_parts, work_folder
from rankwell.parts.options import PartOptions, PartOutcome
from rankwell.tasks.agreement.inputs import KnownNeighbours, Model, Sample


def neighbours_in_parts(
    models: Sequence[Model],
    places: Mapping[str, Any],
    sample: Sample,
    depths: tuple[int, int],
    *,
    exact: bool,
    parts: PartOptions,
    progress: Callable[[str, int, int], None] | None,
) -> PartOutcome:
    """The `KnownNeighbours`. depths: of the reference's lists, which is the first model, and of the
    others'. exact: with ranks.

    places: of the models by name; others, and those that are not in the order of the reference, are
    copied.
    """
    reference, *others = [each.name for each in models]
    depth = depths[1]
    with (
        work_folder(replace(parts, work=None) if parts.dry_run else parts) as place,
        arrays_of(place, outlined=parts.dry_run) as kept,
    ):
        tables = {each.name: list(kept.table(each.items, places.get(each.name))) for each in models}
        arrays, given = _sampled(kept, sample)
        first = [
            PartComparison(
                what="lists", items=each, queries=each, width=depths[each != reference], **given
            )
            for each in tables
        ]
        pairs = [
            pair for each in others if exact for pair in ((reference, each), (each, reference))
        ]
        then: list[Json] = []
        for model, other in pairs:
            counts = PartComparison(what="counts", items=model, queries=model, width=depth, **given)
            then.append({"comparison": counts.json, "of": [*tables].index(other), "depth": depth})
        options = {"metric": models[0].metric, "tables": tables, "arrays": arrays, "then": then}
        options["first"] = [each.json for each in first]
        chosen = parts if parts.dry_run else replace(parts, work=place.name)
        outcome = run_in_parts("counts", options, chosen, "rankwell agree", progress)
    if outcome.result is None:
        return outcome
    found = dict(zip(tables, outcome.result, strict=False))
    by_name = {each.name: each for each in models}
    ranks = {
        (model, other): _ranks(by_name[model], sample, found[other][0][:, :depth], counts)
        for (model, other), counts in zip(pairs, outcome.result[len(first) :], strict=True)
    }
    tops: dict[str, TopK] = {}
    for name, (positions, scores) in found.items():
        model = by_name[name]
        tops[name] = TopK(positions, scores, sample.names, model.items.names(), model.metric)
    return outcome._replace(result=KnownNeighbours(tops, ranks))


def _sampled(kept: PartArrays, sample: Sample) -> tuple[dict[str, str], dict[str, Any]]:
    """The arrays of the sample and of labels, and the fields of comparisons that name them."""
    arrays, given = {"sample": kept.keep(sample.rows)}, {"own": "sample"}
    if not sample.is_all:
        given["rows"] = "sample"
    if sample.labels is not None:
        known: dict[Any, int] = {}
        numbers = [
            -1 if label is None else known.setdefault(label, len(known)) for label in sample.labels
        ]
        codes = np.array(numbers, dtype=np.int64)
        arrays["labels"] = kept.keep(np.concatenate([codes[sample.rows], codes]))
        given["labels"] = "labels"
    return arrays, given


def _ranks(model: Model, sample: Sample, positions: Ints, counts: Ints) -> tuple[Ints, Floats]:
    """As `Model.exact_ranks`, from the counts of the items that there are."""
    owner, column = np.nonzero(positions >= 0)
    ranks, scores = np.full(positions.shape, -1, dtype=np.int64), np.full(positions.shape, np.nan)
    ranks[owner, column] = counts[0] + counts[2] + 1
    vectors = model.items.vectors
    scores[owner, column] = score_pairs(
        vectors, vectors, sample.rows[owner], positions[owner, column], model.metric
    )
    return ranks, scores
