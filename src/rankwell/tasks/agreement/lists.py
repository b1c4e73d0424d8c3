"""The lists of neighbours of all models, and the ranks of each other's neighbours, found here or in
parts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from rankwell._native.similarity import score_pairs
from rankwell.data.options import PartOptions, PartOutcome
from rankwell.data.ranking_pairs import Listed, RankingPairs
from rankwell.data.tables import Floats, Ints
from rankwell.evaluation.results import progress_of
from rankwell.runtime.parts import Json
from rankwell.runtime.parts.comparing import PartComparison
from rankwell.runtime.parts.execution import PartArrays, arrays_of, run_in_parts, work_folder
from rankwell.tasks.agreement.inputs import Model, Sample
from rankwell.vectors.neighbours import TopK


class NeighbourLists:
    """The lists of all models, the reference first.

    reference_depth, depth: the lengths of the reference's lists, and of the candidates'. exact:
    whether the rank of every item on the other side is found.
    """

    def __init__(
        self,
        sample: Sample,
        models: Sequence[Model],
        reference_depth: int,
        depth: int,
        *,
        exact: bool,
        progress: Callable[[str, int, int], None] | None,
    ) -> None:
        self.sample, self.models, self.reference = sample, models, models[0]
        self.depth, self._reference_depth, self._exact = depth, reference_depth, exact
        self._progress = progress
        self._tops: dict[str, TopK] = {}
        self._ranks: dict[tuple[str, str], tuple[Ints, Floats]] = {}

    @cached_property
    def top(self) -> TopK:
        """The lists of the reference, made once for every candidate and cut-off."""
        return self._nearest(self.reference, self._reference_depth)

    def _nearest(self, model: Model, depth: int) -> TopK:
        if self._tops:
            return self._tops[model.name]
        return model.nearest(self.sample, depth, progress_of(self._progress, model.name))

    def compare(self, candidate: Model) -> tuple[RankingPairs, TopK]:
        """The view of the two models' lists, and the candidate's."""
        reference, first = self.top, self.top.positions[:, : self.depth]
        top = self._nearest(candidate, self.depth)
        shape = reference.positions.shape
        ranks, scores = np.zeros(shape, dtype=np.int64), np.full(shape, np.nan)
        of_candidate: tuple[Ints | None, Floats | None] = None, None
        if self._exact:
            reference_name, candidate_name = self.reference.name, candidate.name
            progress = progress_of(self._progress, candidate.name)
            if self._ranks:
                of_candidate = self._ranks[reference_name, candidate_name]
                of_reference = self._ranks[candidate_name, reference_name]
            else:
                of_candidate = self.reference.exact_ranks(self.sample, top.positions, progress)
                of_reference = candidate.exact_ranks(self.sample, first, progress)
            ranks[:, : first.shape[1]], scores[:, : first.shape[1]] = of_reference
        pairs = RankingPairs.from_top_k(
            self.sample.names,
            Listed(reference.positions, reference.scores, ranks, scores),
            Listed(top.positions, top.scores, *of_candidate),
            n_candidates=self.sample.n_candidates,
        )
        return pairs, top

    def find_in_parts(self, places: Mapping[str, Any], parts: PartOptions) -> PartOutcome:
        """Finds the lists and the ranks in parts; the outcome has a result where all are there.

        places: of the models by name; other models, and those that are not in the order of the
        reference, are copied.
        """
        sample, reference = self.sample, self.reference.name
        with (
            work_folder(replace(parts, work=None) if parts.dry_run else parts) as folder,
            arrays_of(folder, outlined=parts.dry_run) as store,
        ):
            tables = {
                model.name: list(store.table(model.items, places.get(model.name)))
                for model in self.models
            }
            arrays, fields = _sampled(store, sample)
            first = [
                PartComparison(
                    what="lists",
                    items=name,
                    queries=name,
                    width=self._reference_depth if name == reference else self.depth,
                    **fields,
                )
                for name in tables
            ]
            # The model by which items are ranked, and the one that lists them.
            pairs = [
                pair
                for name in tables
                if self._exact and name != reference
                for pair in ((reference, name), (name, reference))
            ]
            then: list[Json] = []
            for model, listing in pairs:
                counts = PartComparison(
                    what="counts", items=model, queries=model, width=self.depth, **fields
                )
                of = [*tables].index(listing)
                then.append({"comparison": counts.json, "of": of, "depth": self.depth})
            options = {
                "metric": self.reference.metric,
                "tables": tables,
                "arrays": arrays,
                "then": then,
                "first": [comparison.json for comparison in first],
            }
            work = parts if parts.dry_run else replace(parts, work=folder.name)
            outcome = run_in_parts("counts", options, work, "rankwell agree", self._progress)
        if outcome.result is not None:
            models = {model.name: model for model in self.models}
            for model, (positions, scores) in zip(self.models, outcome.result, strict=False):
                self._tops[model.name] = TopK(
                    positions, scores, sample.names, model.items.names(), model.metric
                )
            for (model, listing), counts in zip(pairs, outcome.result[len(first) :], strict=True):
                positions = self._tops[listing].positions[:, : self.depth]
                self._ranks[model, listing] = _ranks(models[model], sample, positions, counts)
        return outcome


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
