"""Rankings of clips held to one set of judgments, also where the query clip is removed after the cut (Algorithm 2 of ALFA)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from rankwell.core.registry import Measure
from rankwell.core.tables import Bools, Floats, Ints, ratio
from rankwell.core.views.ideal import expected_values
from rankwell.core.views.judged import JudgedRankings
from rankwell.evaluation.judged import Ceiling, JudgedRun, MeasuredQueries, ReferenceLevels


class ClipLevels(NamedTuple):
    """(queries,) the ceiling of a measure, and its chance level, NaN where the measure has no closed form."""

    ceiling: Floats
    chance: Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class ClipRun(JudgedRun):
    """The rankings of clips under one set of judgments; the view never holds the query clip itself.

    counted: (queries,) whether each counts. own_rank: (queries,) rank of the query clip in its own list, from 1; 0 if not
    listed; None where it is removed before any cut. Otherwise each list is cut to the k of a measure, then the query clip is
    removed, and no other clip moves up. no_relevant: the rule for counted queries in which a measure finds nothing relevant,
    although some clips have part of the keywords. weighted: whether a mean weighs each query by its number of relevant clips.
    reordered: gives the same run with tied clips in the order of the input.
    """

    # Clips always have a known number of candidates.
    levels: ReferenceLevels  # pyright: ignore[reportGeneralTypeIssues]
    counted: Bools
    own_rank: Ints | None = None
    no_relevant: Literal["skip", "empty", "error"] = "skip"
    weighted: bool = False
    reordered: Callable[[], "ClipRun"] | None = None

    @property
    def in_input_order(self) -> "ClipRun":
        """The same run with tied clips in the order of the embeddings; their rank counts otherwise follow the clips' ids."""
        return self if self.reordered is None else self.reordered()

    @cached_property
    def n_relevant(self) -> Ints:
        """(queries,) number of clips with the grade 1; under graded relevance only clips with all keywords have it."""
        return self.view.n_relevant(1).astype(np.int64)

    @cached_property
    def without_match(self) -> Bools:
        """(queries,) counted queries for which some clip has part of the keywords, and no clip has all of them."""
        return self.counted & (self.n_relevant == 0) & (self.view.sum_judged(self.view.judged_grades > 0) > 0)

    @cached_property
    def without_query(self) -> Bools:
        """(queries,) whether the query should be removed after the cut, and its list does not hold it."""
        if self.own_rank is None:
            return np.zeros(len(self.view.queries), dtype=np.bool_)
        return self.view.present & (self.own_rank == 0)

    def unmatched(self, measure: Measure) -> Bools:
        """(queries,) counted queries that a measure leaves out, as no clip has all keywords and it reads no partial grades."""
        if self.no_relevant == "empty" or measure.entry.unit != "share" or not self.without_match.any():
            return np.zeros(len(self.counted), dtype=np.bool_)
        return self.without_match & (measure(self.levels.perfect) == 0)

    def counted_by(self, measure: Measure, counted: Bools) -> Bools:
        """(queries,) the counted queries without those for which the measure calls no clip relevant."""
        return counted & ~self.unmatched(measure)

    def weights(self, measure: Measure) -> Floats | None:
        """(queries,) number of relevant clips where it is the weight of a query, for means only."""
        return self.n_relevant.astype(np.float64) if self.weighted and measure.entry.summary == "mean" else None

    def measured(self, measure: Measure) -> MeasuredQueries:
        """The values of a measure; a list that loses its query within the first k has k - 1 clips left."""
        found, k = super().measured(measure), measure.cutoff
        run = self.in_input_order if found.in_input_order else self
        if run.own_rank is None or k is None:
            return found
        lost = (run.own_rank > 0) & (run.own_rank <= k)
        return found._replace(values=np.where(lost, measure(run.view.cut(k - 1)), found.values))

    def reference(self, measure: Measure) -> ClipLevels:
        """The ceiling and the chance level of each query.

        With `own_rank` a perfect ranker finds the query clip first, a random one anywhere. Nothing is removed from a list
        without its query, so its levels are those without removal.
        """
        if str(measure) not in self._references:
            self._references[str(measure)] = self._reference(measure)
        return self._references[str(measure)]

    def ceiling(self, measure: Measure, counted: Bools) -> Ceiling:
        """(queries,) the values of a perfect ranker, None where a counted query has none."""
        values = self.reference(measure).ceiling
        return Ceiling(values if np.isfinite(values[counted]).all() else None)

    def chance(self, measure: Measure) -> Floats | None:
        """(queries,) the values expected of a random ranker, None where a counted query has none."""
        values = self.reference(measure).chance
        return values if np.isfinite(values[self.counted_by(measure, self.counted)]).all() else None

    @cached_property
    def _references(self) -> dict[str, ClipLevels]:
        return {}

    def _reference(self, measure: Measure) -> ClipLevels:
        k, levels = measure.cutoff, self.levels
        ceiling, chance = measure(levels.perfect), expected_values(measure, levels.random)
        if self.own_rank is None or k is None:
            return ClipLevels(ceiling, chance)
        perfect = levels.perfect.cut(k - 1)
        share = np.minimum(k / (levels.candidates + 1), 1.0)
        mixed = share * self._chance_of_short(measure, perfect, k) + (1 - share) * chance
        without = self.without_query
        return ClipLevels(np.where(without, ceiling, measure(perfect)), np.where(without, chance, mixed))

    def _chance_of_short(self, measure: Measure, perfect: JudgedRankings, k: int) -> Floats:
        """The chance level at k of a list with k - 1 clips.

        Such a list has the same gain at k and at k - 1, divided by different constants of k and the judgments; the perfect list
        has the same ratio of the two.
        """
        if k == 1:
            return measure(perfect)
        shorter = measure.with_parameters(k=k - 1)
        return expected_values(shorter, self.levels.random) * ratio(measure(perfect), shorter(perfect))
