"""The tie rules that papers on text-video retrieval have to themselves."""

from dataclasses import replace

import numpy as np

from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.registry import Measure
from rankwell.data.tables import Floats, Ints, position_in_segment, segment_offsets
from rankwell.errors import BadUsage
from rankwell.measures.first_rank import median_rank, reads_best_only


def averaged(measure: Measure, view: JudgedRankings) -> Floats:
    """The values of a measure where tied items all stand at the middle of their places: the rule of
    Collaborative Experts and MMT.

    That is not the mean of the measure (`expected`): a positive tied with one other at the top has
    the rank 1.5, which `Success@1` does not accept. Raises BadUsage for other measures. Source: Liu
    and others 2019, Use what you have.
    """
    parameters = measure.parameters
    if measure.name == "MnR" and parameters["of"] == "all":
        # The mean place of a tied item is the middle of its places anyway.
        return measure(view.with_random_order)
    if measure.name in ("MedR", "MedRLow", "MedRFloor", "MnR"):
        return measure(_best_alone(view, parameters["rel"]).with_random_order)
    if measure.name == "Success" and not parameters["judged_only"]:
        best = _best_alone(view, parameters["rel"]).with_random_order
        rank, k = median_rank(best, rel=parameters["rel"], missing="skip"), parameters["k"]
        return (rank == 1 if k == 1 else rank < k + 1).astype(np.float64)
    raise BadUsage(
        f"{measure} has no value under the tie rule averaged, as Success@k, MedR, MedRLow, "
        "MedRFloor and MnR have; name another tie rule."
    )


def multiplied_values(measure: Measure, view: JudgedRankings) -> tuple[Floats, Ints]:
    """The values of a measure where a query whose positive is tied counts once for every place of
    the tie, the rule of CLIP4Clip; and the query of each.

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
    best = _best_alone(view, 1)
    n_places = np.ones(len(view.queries), dtype=np.int64)
    n_places[best.query_of_row] = best.tied
    source = np.repeat(np.arange(len(n_places), dtype=np.int64), n_places)
    wide = best.take(source)
    place, ones = position_in_segment(segment_offsets(n_places)), np.ones_like(wide.tied)
    return replace(
        wide, above=wide.above + place[wide.query_of_row], tied=ones, before=ones - 1
    ), source


def _best_alone(view: JudgedRankings, rel: float) -> JudgedRankings:
    """The view without all but the first positive of each query."""
    positives = np.flatnonzero(view.relevant(rel))
    first = np.unique(view.query_of_row[positives], return_index=True)[1]
    return view.keep(np.isin(np.arange(len(view.items)), positives[first]))
