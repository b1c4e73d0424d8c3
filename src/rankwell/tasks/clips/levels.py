"""A measure beside what a perfect ranker and one without any knowledge would reach, also where Algorithm 2 loses a place."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rankwell.core.registry import Measure
from rankwell.core.tables import Bools, Floats, Ints
from rankwell.core.tables.judgments import Judgments
from rankwell.core.tables.order import TieRule
from rankwell.core.views import ratio
from rankwell.core.views.ideal import constant, ideal
from rankwell.core.views.judged import JudgedRankings
from rankwell.measures.chance import expected_values


class Levels(NamedTuple):
    """(queries,) a measure's values, ceiling, chance level (NaN where it has no closed form), and whether ties decide."""

    values: Floats
    ceiling: Floats
    chance: Floats
    tied: Bools


@dataclass(frozen=True, eq=False)
class Bench:
    """A ranking under a truth, with all that its measures are held against.

    view: without the query itself. own_rank: (queries,) where the query itself stands in its list, from 1, 0 where it does not;
    None where it is removed before any cut. candidates: (queries,) how many other items could be found.
    """

    judgments: Judgments
    view: JudgedRankings
    candidates: Ints
    ties: TieRule
    own_rank: Ints | None = None

    def levels(self, measure: Measure) -> Levels:
        """The measure with its ceiling and its chance level.

        With `own_rank` the list is cut to the measure's k, then the query is removed, and no other item comes in. A perfect
        ranker finds the query first, one without knowledge anywhere. Of a list that does not hold its query nothing is removed,
        so that the levels are those without removal.
        """
        k = measure.cutoff
        if self.own_rank is None or k is None:
            return Levels(self._value(measure), measure(self._perfect), self._chance(measure), self._tied(measure))
        lost = (self.own_rank > 0) & (self.own_rank <= k)
        short = measure(self.view.cut(k - 1))
        values = np.where(lost, short, self._value(measure))
        perfect = self._perfect.cut(k - 1)
        at_random = self._chance_of_short(measure, perfect, k)
        share = np.minimum(k / (self.candidates + 1), 1.0)
        chance = share * at_random + (1 - share) * self._chance(measure)
        without = self.without_query
        ceiling = np.where(without, measure(self._perfect), measure(perfect))
        return Levels(values, ceiling, np.where(without, self._chance(measure), chance), self._tied(measure))

    @cached_property
    def without_query(self) -> Bools:
        """(queries,) whether the list is there and does not hold the query, which is to be removed after the cut."""
        if self.own_rank is None:
            return np.zeros(len(self.view.queries), dtype=np.bool_)
        return self.view.present & (self.own_rank == 0)

    def unreachable(self, measure: Measure) -> Bools:
        """(queries,) where even a perfect ranker has nothing that the measure counts, as nothing is relevant to its level."""
        return measure(self._perfect) == 0

    @cached_property
    def _perfect(self) -> JudgedRankings:
        return ideal(self.judgments, self.candidates)

    @cached_property
    def _at_random(self) -> JudgedRankings:
        return constant(self.judgments, self.candidates)

    @cached_property
    def _ends(self) -> tuple[JudgedRankings, ...]:
        """The rankings with tied items at their best and at their worst; none where nothing is tied."""
        return tuple(map(self.view.resolve, ("optimistic", "pessimistic"))) if (self.view.tied > 1).any() else ()

    def _value(self, measure: Measure) -> Floats:
        expected = measure.entry.expected
        if self.ties == "expected" and expected is not None and (self.view.tied > 1).any():
            return expected(self.view, **dict(measure.given))
        return measure(self.view.resolve(self.ties))

    def _chance(self, measure: Measure) -> Floats:
        return expected_values(measure, self._at_random)

    def _chance_of_short(self, measure: Measure, perfect: JudgedRankings, k: int) -> Floats:
        """The chance level at k where the list has k - 1 items.

        A list of k - 1 items has the same gain at k and at k - 1, over what depends on k and the truth alone; the ratio of the
        two is that of the perfect list.
        """
        if k == 1:
            return measure(perfect)
        shorter = measure.with_parameters(k=k - 1)
        return expected_values(shorter, self._at_random) * ratio(measure(perfect), shorter(perfect))

    def _tied(self, measure: Measure) -> Bools:
        """(queries,) whether another order of tied items would change the value."""
        if not self._ends:
            return np.zeros(len(self.view.queries), dtype=np.bool_)
        best, worst = map(measure, self._ends)
        return (best != worst) & ~(np.isnan(best) & np.isnan(worst))
