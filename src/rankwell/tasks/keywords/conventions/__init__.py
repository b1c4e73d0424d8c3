"""Conventions of search over annotated clips, and their own options."""

from typing import Literal, NamedTuple


class ClipConvention(NamedTuple):
    """Options of a convention for search over annotated clips.

    self_rule: whether the query clip is removed before the list is cut to K, or after it, as in
        ALFA's Algorithm 2, which still divides by K.
    no_keywords: queries without a keyword of the selection are left out (`skip`), count as they are
        (`empty`), as right in everything (`vacuous`), or are an error.
    no_results: queries whose best result is below the least similarity count with an empty result
        (`empty`), or are left out (`skip`), as by ALFA's evaluator.
    weight_by: whether every query counts alike in a mean (`uniform`), or by its number of relevant
        clips (`relevant`).
    """

    self_rule: Literal["before", "after"] = "before"
    no_keywords: Literal["skip", "empty", "vacuous", "error"] = "skip"
    no_results: Literal["skip", "empty"] = "empty"
    weight_by: Literal["uniform", "relevant"] = "uniform"
