"""Measures of rankings whose items have a second grade, such as understandability."""

import numpy as np

from rankwell.data.judged_rankings import SecondJudgedRankings
from rankwell.data.registry import Scale, measure
from rankwell.data.tables import Floats, ratio
from rankwell.errors import BadUsage


@measure(
    "uBpref",
    source="Palotti, Scells and Zuccon 2019, TrecTools; after Zuccon 2016, Understandability "
    "biased evaluation",
    scale=Scale((0.0, np.inf), unit="score"),
    aliases="ubpref",
)
def u_bpref(view: SecondJudgedRankings, *, rel: float = 1, factor: float = 1) -> Floats:
    """Bpref with the term of each relevant item multiplied by its second grade and by `factor`; 0
    if nothing is relevant.

    Understandability-biased preference, for relevance weighted by a second judgment:

        uBpref = factor · Σ(relevant items) u · (1 - min(b, R) / min(N, R)) / R
        u: the second grade of the item
        b, N, R: as for Bpref

    An item without a second grade, or with one below 0, adds 0. It still counts in b if it is
    judged non-relevant.

    factor: multiplies the second grades. With second grades from 0 to m and `factor` 1 / m, values
    are 1 at most.

    >>> from rankwell import Judgments, judged_rankings
    >>> from rankwell.data.judged_rankings import JudgmentPair, SecondJudgedRankings
    >>> from rankwell.io.mapping import find_hits
    >>> first = Judgments.from_dict({"q": {"a": 1, "b": 1, "x": 0, "y": 0}})
    >>> second = Judgments.from_dict({"q": {"a": 2, "b": 3, "x": 3}})
    >>> view = SecondJudgedRankings.join(
    ...     JudgmentPair(first, second), find_hits({"q": {"a": 4.0, "x": 3.0, "b": 2.0}}, first)
    ... )
    >>> u_bpref(view).tolist()
    [1.75]
    """
    if not 0 < factor < np.inf:
        raise BadUsage(
            f"uBpref(factor={factor!r}): expected a number above 0, such as 1 over the "
            "highest second grade."
        )
    flat = view.flat
    relevant, hit = flat.n_relevant(rel), flat.relevant(rel)
    below = np.minimum(flat.n_judged - relevant, relevant)[flat.query_of_row]
    worse = np.minimum(flat.count_so_far(flat.is_judged & ~hit), relevant[flat.query_of_row])
    gain = np.maximum(np.nan_to_num(view.second, nan=0.0), 0.0) * factor
    return ratio(flat.sum_rows(np.where(hit, (1.0 - ratio(worse, below)) * gain, 0.0)), relevant)
