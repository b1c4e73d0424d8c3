"""Measures of sessions: several queries for one need, of which later ones count less."""

from typing import Literal

import numpy as np

from rankwell.data.judged_rankings import SessionRankings
from rankwell.data.registry import Scale, measure
from rankwell.data.tables import Floats
from rankwell.errors import BadUsage

SessionDiscount = Literal["one-plus-log", "shifted-log"]


@measure(
    "SessionDCG",
    source="Järvelin, Price, Delcambre and Nielsen 2008, Discounted cumulated gain based "
    "evaluation of multiple-query IR sessions, as in sDCG.py of the TREC 2017 Dynamic Domain "
    "track; shifted-log: Kanoulas, Carterette, Clough and Sanderson 2011, Evaluating multi-query "
    "sessions",
    scale=Scale((0.0, np.inf), unit="score"),
    aliases="sDCG",
)
def session_dcg(
    sessions: SessionRankings,
    *,
    k: int | None = None,
    b: float = 2,
    bq: float = 4,
    discount: SessionDiscount = "one-plus-log",
) -> Floats:
    """The sum of DCG in the first `k` places over the queries of a session, discounted by the
    query's place in the session.

    Session discounted cumulative gain, for sessions in which users reformulate:

        SessionDCG = Σ(queries m) Σ(i=1…k) g / ((1 + log_b i) · (1 + log_bq m))
        g: the gain of the item at rank i of the m-th query

    Ranks and places start at 1. Grades below 0 have gain 0. b: base of the logarithm of the rank.
    bq: base of the logarithm of the query's place. discount: with `one-plus-log`, the grade divided
    by (1 + log_b rank) · (1 + log_bq place); with `shifted-log`, 2^grade - 1 divided by log_b(rank
    + b - 1) · log_bq(place + bq - 1).

    >>> from rankwell import judged_rankings
    >>> from rankwell.data.judged_rankings import SessionQueries, SessionRankings
    >>> view = judged_rankings(
    ...     {"a": {"x": 1}, "b": {"x": 1, "y": 2}}, {"a": {"z": 2.0, "x": 1.0}, "b": {"y": 1.0}}
    ... )
    >>> session_dcg(SessionRankings.join(view, SessionQueries.from_dict({"s": ["a", "b"]}))).round(
    ...     4
    ... ).tolist()
    [1.8333]
    """
    if not (1 < b < np.inf and 1 < bq < np.inf):
        raise BadUsage(
            f"SessionDCG(b={b:g}, bq={bq:g}): bases of logarithms are above 1; 2 and 4 are usual."
        )
    flat, session_position = sessions.flat, sessions.position
    grades = np.maximum(flat.grades, 0.0)
    if discount == "one-plus-log":
        gain = grades
        divisor = (1 + np.log(flat.ranks) / np.log(b)) * (1 + np.log(session_position) / np.log(bq))
    else:
        gain = np.exp2(grades) - 1
        divisor = (
            np.log(flat.ranks + b - 1) / np.log(b) * np.log(session_position + bq - 1) / np.log(bq)
        )
    return flat.sum_rows(np.where(flat.within(k), gain / divisor, 0.0))


@measure(
    "SessionRBP",
    source="Lipani, Carterette and Yilmaz 2019, From a user model for query sessions to session "
    "rank biased precision (sRBP)",
    scale=Scale((0.0, 1.0)),
    aliases="sRBP",
)
def session_rbp(
    sessions: SessionRankings,
    *,
    b: float,
    p: float = 0.8,
    rel: float = 1,
    max_rel: float | None = None,
    k: int | None = None,
) -> Floats:
    """The expected gain per item inspected, for a user who stops with probability 1 - p and
    reformulates with probability p (1 - b).

    Session rank-biased precision, for sessions in which users reformulate or give up:

        SessionRBP = (1 - p) · Σ(queries m) Σ(i) ((p - bp) / (1 - bp))^(m - 1) · (bp)^(i - 1) · g
        g: the gain of the item at rank i of the m-th query

    For b = 1 this is RBP of the first query. The gain is 1 for a grade of `rel` or more, or the
    grade divided by `max_rel` if that is given.

    p: probability that the user continues, in the same list or with the next query. b: probability
    that a user who continues stays in the same list. max_rel: the highest grade of the scale, for
    graded gains.

    >>> from rankwell import judged_rankings
    >>> from rankwell.data.judged_rankings import SessionQueries, SessionRankings
    >>> view = judged_rankings(
    ...     {"a": {"x": 1}, "b": {"x": 1, "y": 1}}, {"a": {"z": 2.0, "x": 1.0}, "b": {"y": 1.0}}
    ... )
    >>> session_rbp(
    ...     SessionRankings.join(view, SessionQueries.from_dict({"s": ["a", "b"]})), b=0.5
    ... ).round(4).tolist()
    [0.2133]
    """
    if not (0 <= p < 1 and 0 <= b <= 1):
        raise BadUsage(
            f"SessionRBP(b={b:g}, p={p:g}): chances, b from 0 to 1 and p from 0 to below 1."
        )
    if max_rel is not None and (rel != 1 or not 0 < max_rel < np.inf):
        raise BadUsage(
            f"SessionRBP(max_rel={max_rel:g}): expected the highest grade of the scale, above "
            "0, and no rel beside it."
        )
    flat, reformulation = sessions.flat, (p - b * p) / (1 - b * p)
    gain = flat.relevant(rel) if max_rel is None else np.clip(flat.grades / max_rel, 0.0, 1.0)
    weight = reformulation ** (sessions.position - 1.0) * (b * p) ** (flat.ranks - 1.0)
    return (1 - p) * flat.sum_rows(np.where(flat.within(k), gain * weight, 0.0))
