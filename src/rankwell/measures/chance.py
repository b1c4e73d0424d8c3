"""Chance levels: what a candidate without any knowledge would reach, for measures of two lists and for those of judged ones."""

import numpy as np

from rankwell.registry import Measure
from rankwell.tables import Floats
from rankwell.views.judged import JudgedRankings
from rankwell.views.ranking_pairs import Gains, RankingPairs


def chance_level(measure: Measure, pairs: RankingPairs, *, gold_depth: int | None = None, gains: Gains = "binary") -> Floats:
    """(queries,) the mean of a measure over all orders of the candidates: P@k gives d / n for d relevant among n of them.

    gold_depth, gains: as in `RankingPairs.judged`, for measures that read judged rankings; their closed form under random order
    of ties is their chance level. NaN where a measure has no closed form, and for a query that it does not count.
    """
    entry, given = measure.entry, dict(measure.given)
    if entry.view is RankingPairs:
        return np.full(len(pairs.queries), np.nan) if entry.chance is None else entry.chance(pairs, **given)
    if entry.view is not JudgedRankings or entry.expected is None:
        return np.full(len(pairs.queries), np.nan)
    # Queries with as many candidates and the same grades have one chance level; a closed form may take time for each.
    view = pairs.judged_at_random(gold_depth, gains)
    kinds = [
        (n, view.judged_grades[start:stop].tobytes())
        for n, start, stop in zip(
            pairs.n_candidates.tolist(), view.judged_offsets[:-1].tolist(), view.judged_offsets[1:].tolist(), strict=True
        )
    ]
    first = {kind: query for query, kind in reversed(list(enumerate(kinds)))}
    chosen = {kind: place for place, kind in enumerate(first)}
    values = entry.expected(view.take(np.array(list(first.values()), dtype=np.int64)), **given)
    return values[np.array([chosen[kind] for kind in kinds], dtype=np.int64)]
