"""Rankings whose items have two grades each: relevance, and another one such as understandability
or trustworthiness.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, Self

import numpy as np

from rankwell.core.tables import Floats, Ints, Judgments, gather
from rankwell.core.tables.ranking import Hits
from rankwell.core.views.judged import JudgedRankings


class JudgmentPair(NamedTuple):
    """Judgments of relevance, and second judgments of the same queries and items; either may lack
    some of the other's rows.
    """

    first: Judgments
    second: Judgments


@dataclass(frozen=True, eq=False)
class SecondJudgedRankings:
    """The judged rankings by relevance. second: (rows,) the second grade of each row, NaN for an
    item that has none.
    """

    needs: ClassVar[str] = "judged rankings and second judgments of their items"
    option: ClassVar[str] = "--other-judgments"
    flat: JudgedRankings
    second: Floats

    @classmethod
    def join(cls, judgments: JudgmentPair, hits: Hits) -> Self:
        """The view of one ranking under two judgments; `hits` are those of the first."""
        flat, second = JudgedRankings.join(judgments.first, hits), judgments.second
        grade_of_pair = dict(
            zip(
                zip(second.row_queries, second.items, strict=True),
                second.grades.tolist(),
                strict=True,
            )
        )
        items: list[str] = [judgments.first.items[row] for row in map(int, flat.items)]
        grades = [
            grade_of_pair.get(pair, np.nan) for pair in zip(flat.row_queries, items, strict=True)
        ]
        return cls(flat, np.array(grades, dtype=np.float64))

    @property
    def queries(self) -> tuple[str, ...]:
        """The ids of the queries."""
        return self.flat.queries

    @property
    def with_unjudged_pool(self) -> Self:
        """The view in which a negative grade leaves an item unjudged, as in trec_eval."""
        return replace(self, flat=self.flat.with_unjudged_pool)

    def take(self, queries: Ints) -> Self:
        """The view of some queries only, in the order given by their indices."""
        rows, _ = gather(self.flat.offsets, queries)
        return replace(self, flat=self.flat.take(queries), second=self.second[rows])
