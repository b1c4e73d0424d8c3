"""Chance levels: what a candidate without any knowledge would reach, for measures of two lists and for those of judged ones."""

import numpy as np

from rankwell.core.registry import Measure
from rankwell.core.tables import Floats
from rankwell.core.views.judged import JudgedRankings
from rankwell.core.views.ranking_pairs import Gains, RankingPairs


def chance_level(measure: Measure, pairs: RankingPairs, *, gold_depth: int | None = None, gains: Gains = "binary") -> Floats:
    """(queries,) the mean of a measure over all orders of the candidates: P@k gives d / n for d relevant among n of them.

    gold_depth, gains: as in `RankingPairs.judged`, for measures that read judged rankings; their closed form under random order
    of ties is their chance level. NaN where a measure has no closed form, and for a query that it does not count.
    """
    entry = measure.entry
    if entry.view is RankingPairs:
        return np.full(len(pairs.queries), np.nan) if entry.chance is None else entry.chance(pairs, **dict(measure.given))
    return expected_values(measure, pairs.judged_at_random(gold_depth, gains))


def expected_values(measure: Measure, view: JudgedRankings) -> Floats:
    """(queries,) the expected value of a measure on a view in which all items of a query are tied (`views.ideal.constant`).

    That is its chance level. Queries with as many items and the same grades have one, which is computed once for all of them: a
    closed form may take time in proportion to the items. NaN where the measure has no closed form.
    """
    if measure.entry.view is not JudgedRankings or measure.entry.expected is None:
        return np.full(len(view.queries), np.nan)
    kinds = [
        (n, view.judged_grades[start:stop].tobytes())
        for n, start, stop in zip(
            view.retrieved.tolist(), view.judged_offsets[:-1].tolist(), view.judged_offsets[1:].tolist(), strict=True
        )
    ]
    first = {kind: query for query, kind in reversed(list(enumerate(kinds)))}
    chosen = {kind: place for place, kind in enumerate(first)}
    values = measure.entry.expected(view.take(np.array(list(first.values()), dtype=np.int64)), **dict(measure.given))
    return values[np.array([chosen[kind] for kind in kinds], dtype=np.int64)]
