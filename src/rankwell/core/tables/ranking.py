"""Rankings: for each query a list of items with scores; and hits, the judged part of one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from rankwell.core.tables import Bools, Floats, Ints, offsets_of, sort_ids
from rankwell.errors import BadScore, DuplicateItem


@dataclass(frozen=True, eq=False)
class Ranking:
    """Scored items by query; queries in the order of their bytes, the items of a query in the order they were given.

    queries: every query, also one without items. offsets: (queries + 1,). items: (rows,) ids.
    scores: (rows,) finite, higher is better.
    """

    queries: tuple[str, ...]
    offsets: Ints
    items: Sequence[str]
    scores: Floats

    @classmethod
    def from_rows(
        cls,
        queries: Sequence[str],
        items: Sequence[str],
        scores: Sequence[float] | Floats,
        *,
        all_queries: Iterable[str] = (),
        repeated: bool = False,
    ) -> Self:
        """The table of rows given in any order; the rows of a query keep their order.

        repeated: whether a query may list an item twice, which is then retrieved at each of its places.
        Raises BadScore for a score that is NaN or infinite, DuplicateItem if a query lists an item twice, and may not.
        """
        score = np.asarray(scores, dtype=np.float64)
        names = sort_ids({*queries, *all_queries})
        index = {name: position for position, name in enumerate(names)}
        owner = np.fromiter((index[query] for query in queries), dtype=np.int64, count=len(queries))
        order = np.argsort(owner, kind="stable")
        rows: list[int] = order.tolist()
        table = cls(
            queries=tuple(names),
            offsets=offsets_of(np.bincount(owner, minlength=len(names)).astype(np.int64)),
            items=[items[row] for row in rows],
            scores=score[order],
        )
        table._refuse_bad_rows(rows, repeated=repeated)
        return table

    @classmethod
    def from_dict(cls, ranking: Mapping[str, Mapping[str, float]]) -> Self:
        """The table of a mapping query -> item -> score."""
        return cls.from_rows(
            [query for query, scored in ranking.items() for _ in scored],
            [item for scored in ranking.values() for item in scored],
            [score for scored in ranking.values() for score in scored.values()],
            all_queries=ranking,
        )

    def _refuse_bad_rows(self, rows: list[int], *, repeated: bool) -> None:
        bad = np.flatnonzero(~np.isfinite(self.scores))
        if bad.size:
            row = int(bad[0])
            query = self.queries[int(np.searchsorted(self.offsets, row, side="right")) - 1]
            raise BadScore(
                f"query {query!r}, item {self.items[row]!r}: the score is {self.scores[row]}; scores are finite numbers."
            )
        if repeated:
            return
        bounds = self.offsets.tolist()
        for query, start, stop in zip(self.queries, bounds, bounds[1:], strict=False):
            listed = self.items[start:stop]
            if len(set(listed)) < len(listed):
                seen: dict[str, int] = {}
                for row, item in enumerate(listed, start):
                    if item in seen:
                        first, second = sorted((rows[seen[item]] + 1, rows[row] + 1))
                        raise DuplicateItem(
                            f"query {query!r} lists item {item!r} twice, in rows {first} and {second}; keep one of them."
                        )
                    seen[item] = row

    @cached_property
    def index(self) -> dict[str, int]:
        """The position of each query in `queries`."""
        return {query: position for position, query in enumerate(self.queries)}


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
    top: Ranking | None = None
