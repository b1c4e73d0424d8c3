"""The neighbours of all models, and the ranks of each other's neighbours, found in parts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankwell._native.similarity import score_pairs
from rankwell.data.tables import Floats, Ints
from rankwell.runtime.parts import Json
from rankwell.runtime.parts.comparing import PartComparison
from rankwell.runtime.parts.execution import PartArrays, arrays_of, run_in_parts, work_folder
from rankwell.runtime.parts.options import PartOptions, PartOutcome
from rankwell.tasks.agreement.inputs import KnownNeighbours, Model, Sample
from rankwell.vectors.neighbours import TopK


def neighbours_in_parts(
    models: Sequence[Model],
    sources: Mapping[str, Any],
    sample: Sample,
    depths: tuple[int, int],
    *,
    exact: bool,
    parts: PartOptions,
    progress: Callable[[str, int, int], None] | None,
) -> PartOutcome:
    """The `KnownNeighbours`. depths: of the reference's lists, which is the first model, and of the
    candidates'. exact: with ranks.

    sources: of the models by name; other models, and those that are not in the order of the
    reference, are copied.
    """
    reference, *candidates = [model.name for model in models]
    depth = depths[1]
    with (
        work_folder(replace(parts, work=None) if parts.dry_run else parts) as folder,
        arrays_of(folder, outlined=parts.dry_run) as store,
    ):
        tables = {
            model.name: list(store.table(model.items, sources.get(model.name))) for model in models
        }
        arrays, fields = _sampled(store, sample)
        first = [
            PartComparison(
                what="lists", items=name, queries=name, width=depths[name != reference], **fields
            )
            for name in tables
        ]
        pairs = [
            pair for name in candidates if exact for pair in ((reference, name), (name, reference))
        ]
        then: list[Json] = []
        for model, listing in pairs:
            counts = PartComparison(
                what="counts", items=model, queries=model, width=depth, **fields
            )
            of = [*tables].index(listing)
            then.append({"comparison": counts.json, "of": of, "depth": depth})
        options = {
            "metric": models[0].metric,
            "tables": tables,
            "arrays": arrays,
            "then": then,
            "first": [comparison.json for comparison in first],
        }
        work = parts if parts.dry_run else replace(parts, work=folder.name)
        outcome = run_in_parts("counts", options, work, "rankwell agree", progress)
    if outcome.result is None:
        return outcome
    lists = dict(zip(tables, outcome.result, strict=False))
    by_name = {model.name: model for model in models}
    ranks = {
        (model, listing): _ranks(by_name[model], sample, lists[listing][0][:, :depth], counts)
        for (model, listing), counts in zip(pairs, outcome.result[len(first) :], strict=True)
    }
    tops: dict[str, TopK] = {}
    for model in models:
        positions, scores = lists[model.name]
        tops[model.name] = TopK(positions, scores, sample.names, model.items.names(), model.metric)
    return outcome._replace(result=KnownNeighbours(tops, ranks))


def _sampled(store: PartArrays, sample: Sample) -> tuple[dict[str, str], dict[str, Any]]:
    """The arrays of the sample and of labels, and the fields of comparisons that name them."""
    arrays, fields = {"sample": store.keep(sample.rows)}, {"own": "sample"}
    if not sample.is_all:
        fields["rows"] = "sample"
    if sample.labels is not None:
        numbers: dict[Any, int] = {None: -1}
        codes = np.array(
            [numbers.setdefault(label, len(numbers) - 1) for label in sample.labels], dtype=np.int64
        )
        arrays["labels"] = store.keep(np.concatenate([codes[sample.rows], codes]))
        fields["labels"] = "labels"
    return arrays, fields


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
