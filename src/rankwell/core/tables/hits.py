"""Hits: the judged items that a ranking retrieved, each with the counts that place it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankwell.core.tables import Bools, Floats, Ints

if TYPE_CHECKING:
    from rankwell.core.tables.ranking import Ranking


@dataclass(frozen=True, eq=False)
class Hits:
    """The judged part of one ranking: a row per judged item that was retrieved. The unjudged rest is only counted.

    query: (hits,) index into the judgments' queries, ascending. row: (hits,) row of the judgments, in any order within a query.
    score: (hits,). above: items of the query that score strictly higher. tied: items that score the same, this one included.
    before: those of the tied that come earlier in the named order, so that the rank is above + before + 1.
    retrieved: (queries,) the number of items in the ranking. present: (queries,) whether the ranking has the query at all.
    unknown: queries of the ranking that the truth lacks, with their number of items.
    top: the first items of each known query, judged or not, in final order, where requested.
    """

    query: Ints
    row: Ints
    score: Floats
    above: Ints
    tied: Ints
    before: Ints
    retrieved: Ints
    present: Bools
    unknown: Mapping[str, int]
    top: "Ranking | None" = None
