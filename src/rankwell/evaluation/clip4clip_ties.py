"""The tie rule of CLIP4Clip: a query whose positive is tied counts once for every place of the
tie.
"""

from dataclasses import replace

import numpy as np

from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.registry import Measure
from rankwell.data.tables import Floats, Ints, position_in_segment, segment_offsets
from rankwell.errors import BadUsage
from rankwell.measures.first_rank import reads_best_only


def multiplied_values(measure: Measure, view: JudgedRankings) -> tuple[Floats, Ints]:
    """The values of a measure at every place of a tie, and the query of each.

    Raises BadUsage for a measure of all positives.
    """
    if not reads_best_only(measure):
        raise BadUsage(
            f"{measure} has no value under the tie rule multiplied, which places best "
            "positives alone, as Success@k, RR, "
            "MedR, MedRLow, MedRFloor and MnR read them; name another tie rule."
        )
    wide, source = multiplied(view)
    return measure(wide), source


def multiplied(view: JudgedRankings) -> tuple[JudgedRankings, Ints]:
    """The view with a query of its own for every place that the best positive may take by its ties,
    and the query of each.

    A query without a positive stays one. Source: Luo and others 2021, CLIP4Clip, metrics.py.
    """
    hit = np.flatnonzero(view.relevant(1))
    owner, first = np.unique(view.query_of_row[hit], return_index=True)
    best = hit[first]
    n_places = np.ones(len(view.queries), dtype=np.int64)
    n_places[owner] = view.tied[best]
    source = np.repeat(np.arange(len(n_places), dtype=np.int64), n_places)
    position = position_in_segment(segment_offsets(n_places))
    row_of = np.full(len(n_places), -1)
    row_of[owner] = best
    has_positive = row_of[source] >= 0
    rows = row_of[source][has_positive]
    ones = np.ones(len(rows), dtype=np.int64)
    expanded = replace(
        view.take(source),
        offsets=segment_offsets(has_positive.astype(np.int64)),
        items=view.items[rows],
        grades=view.grades[rows],
        scores=view.scores[rows],
        above=view.above[rows] + position[has_positive],
        tied=ones,
        before=ones - 1,
    )
    return expanded, source
