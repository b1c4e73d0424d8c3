"""Conventions of search over annotated clips, and their own options."""

from typing import Literal, NamedTuple


class ClipConvention(NamedTuple):
    """Options of a convention for search over annotated clips.

    self_rule: whether the query clip is removed before the list is cut to K, or after, as in ALFA's
        Algorithm 2, which still divides by K.
    no_keywords: whether queries without a selected keyword are left out (`skip`), have no relevant
        clip (`empty`), find every clip relevant (`vacuous`), or are an `error`.
    no_results: whether queries whose best result is below the minimum similarity count as empty
        (`empty`), or are left out (`skip`), as in ALFA's evaluator.
    weight_by: whether a mean weights all queries equally (`uniform`), or by their number of
        relevant clips (`relevant`).
    """

    self_rule: Literal["before", "after"] = "before"
    no_keywords: Literal["skip", "empty", "vacuous", "error"] = "skip"
    no_results: Literal["skip", "empty"] = "empty"
    weight_by: Literal["uniform", "relevant"] = "uniform"
