"""The rankings of a search: lists of an engine or a run, or vectors whose neighbours are
counted.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from rankwell.core.kernels.products import Groups
from rankwell.core.kernels.similarity import Metric
from rankwell.core.tables import Ints, Judgments, RankCounts, TieRule, order_ids, segment_offsets
from rankwell.core.tables.matrices import Embeddings
from rankwell.core.tables.ranking import Hits, Ranking, arrange, hits_of_ranking
from rankwell.errors import BadInput, flag
from rankwell.neighbours import SearchOptions, ranks_of, search
from rankwell.store import encode_id

Progress = Callable[[int, int], None]
_PAIRS_AT_ONCE = 1 << 22
_FIRST = 64


class ClipList(NamedTuple):
    """The items of one query from first to last, with their similarities, NaN where unknown."""

    items: list[str]
    similarities: list[float]


@dataclass(frozen=True, eq=False)
class ClipLists:
    """Definite lists of an engine or a run. failed: query -> error. doubled: repeated items.
    unknown: without annotation.
    """

    lists: Mapping[str, ClipList]
    failed: Mapping[str, str] = field(default_factory=dict[str, str])
    doubled: int = 0
    unknown: tuple[str, ...] = ()
    ties: TieRule = "input"

    @property
    def in_input_order(self) -> "ClipLists":
        """The lists themselves, which are in a definite order."""
        return self

    def cleaned(
        self, known: Collection[str], excluded: Mapping[str, Collection[str]], *, skip_unknown: bool
    ) -> "ClipLists":
        """The lists without repeated and excluded items; later items move up."""
        kept: dict[str, ClipList] = {}
        unknown: dict[str, None] = {}
        doubled = 0
        for query, (items, similarities) in self.lists.items():
            once: dict[str, float] = {}
            for item, similarity in zip(items, similarities, strict=True):
                doubled += item in once
                once.setdefault(item, similarity)
            unknown |= dict.fromkeys(item for item in once if item not in known)
            out = set(excluded.get(query, ()))
            left = [
                item for item in once if item not in out and (item in known or not skip_unknown)
            ]
            kept[query] = ClipList(left, [once[item] for item in left])
        return replace(self, lists=kept, doubled=doubled, unknown=tuple(unknown))

    def hits(self, judgments: Judgments, least: float | None = None) -> Hits:
        """Rank counts of the judged items."""
        owners = [query for query, listed in self.lists.items() for _ in listed.items]
        items = [item for listed in self.lists.values() for item in listed.items]
        # The order is the ranking: similarities may be unknown, and need not descend.
        places = [
            -float(place) for listed in self.lists.values() for place in range(len(listed.items))
        ]
        found = hits_of_ranking(
            Ranking.from_rows(owners, items, places, all_queries=self.lists),
            judgments,
            ties="input",
        )
        similarities = [
            self.lists[judgments.queries[query]].similarities[int(-place)]
            for query, place in zip(found.query.tolist(), found.score.tolist(), strict=True)
        ]
        scored = replace(found, score=np.array(similarities, dtype=np.float64))
        if least is None:
            return scored
        for query, listed in self.lists.items():
            if any(map(math.isnan, listed.similarities)):
                what = (
                    f"query {query!r}: its results have no similarity, so that "
                    f"{flag('--min-similarity')} does not apply"
                )
                raise BadInput(f"{what}; leave it out.")
        above = {
            query: sum(each >= least for each in listed.similarities)
            for query, listed in self.lists.items()
        }
        return _at_least(
            scored,
            least,
            np.array([above.get(query, 0) for query in judgments.queries], dtype=np.int64),
        )

    def first(self, depth: int) -> Mapping[str, ClipList]:
        """The first items of each query."""
        return {
            query: ClipList(listed.items[:depth], listed.similarities[:depth])
            for query, listed in self.lists.items()
        }


def lists_of(ranking: Ranking, ties: TieRule) -> dict[str, ClipList]:
    """The lists of a run in the order of the scores and the tie rule."""
    lists: dict[str, ClipList] = {}
    for query, start, stop in zip(
        ranking.queries, ranking.offsets[:-1].tolist(), ranking.offsets[1:].tolist(), strict=True
    ):
        items, scores = list(ranking.items[start:stop]), ranking.scores[start:stop]
        order = arrange(scores, lambda row, items=items: encode_id(items[row]), ties)
        lists[query] = ClipList([items[row] for row in order.tolist()], scores[order].tolist())
    return lists


def _at_least(hits: Hits, least: float, retrieved: Ints) -> Hits:
    """The hits of that similarity or more. retrieved: (queries,) number of such items."""
    kept = hits.score >= least
    columns = {
        name: getattr(hits, name)[kept]
        for name in ("query", "row", "score", "above", "tied", "before")
    }
    return replace(hits, **columns, retrieved=retrieved)


@dataclass(frozen=True, eq=False)
class ClipVectors:
    """An exact search over vectors, the items in the order of the tie rule. order: (items,) their
    rows in the input.
    """

    queries: Embeddings
    items: Embeddings
    metric: Metric
    ties: TieRule
    exclude_self: bool
    labels: Mapping[str, str] | None = None
    progress: Progress | None = None
    order: Ints | None = None

    def ordered(self) -> "ClipVectors":
        """The same vectors with the items in the order of the tie rule."""
        if self.ties == "input":
            return self
        rows = order_ids(self.items.names())
        order = rows[::-1] if self.ties == "id-desc" else rows
        return replace(self, items=self.items.take(order), order=order)

    @property
    def in_input_order(self) -> "ClipVectors":
        """The same with the items, and so tied ones, in the order of the input."""
        items = self.items if self.order is None else self.items.take(np.argsort(self.order))
        return replace(self, items=items, ties="input", order=None)

    def hits(self, judgments: Judgments, least: float | None = None) -> Hits:
        """Rank counts of the judged items, by counting and not by sorting."""
        own = {name: row for row, name in enumerate(self.queries.names())}
        place = {name: row for row, name in enumerate(self.items.names())}
        row_of_query = np.array([own.get(query, -1) for query in judgments.queries], dtype=np.int64)
        listed = np.array([place.get(item, -1) for item in judgments.items], dtype=np.int64)
        rows = np.flatnonzero((listed >= 0) & (row_of_query[judgments.query_of_row] >= 0))
        counts = self._rank_counts(row_of_query, judgments.query_of_row[rows], listed[rows])
        retrieved = np.where(row_of_query >= 0, self.items.n - self._excluded(judgments.queries), 0)
        found = Hits(judgments.query_of_row[rows], rows, *counts, retrieved, row_of_query >= 0)
        return (
            found
            if least is None
            else _at_least(found, least, self._count_at_least(row_of_query, least))
        )

    def first(self, depth: int) -> Mapping[str, ClipList]:
        """The first items of each query; equal similarities in the order of the tie rule, by
        ascending id where it names none.
        """
        found = search(self.queries, self.items, k=depth, options=self._options(self.queries))
        names, lists = list(self.items.names()), dict[str, ClipList]()
        for query, places, scores in zip(
            self.queries.names(), found.positions, found.scores, strict=True
        ):
            n_found = int((places >= 0).sum())
            lists[query] = ClipList(
                [names[each] for each in places[:n_found].tolist()], scores[:n_found].tolist()
            )
        return lists

    def _options(self, queries: Embeddings) -> SearchOptions:
        """The options of a search with some of the queries."""
        sides = (queries.names(), self.items.names())
        groups = (
            None
            if self.labels is None
            else Groups(*([self.labels.get(name) for name in names] for names in sides))
        )
        return SearchOptions(
            metric=self.metric, exclude="self" if self.exclude_self else "none", groups=groups
        )

    def _excluded(self, queries: Sequence[str]) -> Ints:
        """(queries,) number of items that are excluded for each."""
        inside = set(self.items.names())
        alone = np.array(
            [self.exclude_self and query in inside for query in queries], dtype=np.int64
        )
        if self.labels is None:
            return alone
        sizes = Counter(self.labels[name] for name in inside & set(self.labels))
        places = zip(queries, alone.tolist(), strict=True)
        excluded = [
            sizes[self.labels[query]] if query in self.labels else one for query, one in places
        ]
        return np.array(excluded, dtype=np.int64)

    def _rank_counts(self, row_of_query: Ints, query: Ints, item: Ints) -> RankCounts:
        """Rank counts of each pair of query and item, in blocks of queries of limited memory."""
        total = len(query)
        above, tied, before = (np.zeros(total, dtype=np.int64) for _ in range(3))
        scores = np.zeros(total)
        counts = np.bincount(query, minlength=len(row_of_query)).astype(np.int64)
        offsets = segment_offsets(counts)
        some = np.flatnonzero(counts)
        step = max(1, _PAIRS_AT_ONCE // max(int(counts.max(initial=1)), 1))
        for start in range(0, len(some), step):
            part = some[start : start + step]
            width = int(counts[part].max())
            inside = np.arange(width)[None, :] < counts[part][:, None]
            rows = (offsets[part][:, None] + np.arange(width)[None, :])[inside]
            targets = np.full((len(part), width), -1, dtype=np.int64)
            targets[inside] = item[rows]
            queries = self.queries.take(row_of_query[part])
            found = ranks_of(
                queries, self.items, targets, options=self._options(queries), progress=self.progress
            )
            above[rows], tied[rows], before[rows] = (
                found.above[inside],
                found.tied[inside],
                found.before[inside],
            )
            scores[rows] = found.scores[inside]
        return RankCounts(scores, above, tied, before)

    def _count_at_least(self, row_of_query: Ints, least: float) -> Ints:
        """(queries,) number of items of that similarity or more; only unfinished lists are searched
        deeper.
        """
        counts = np.zeros(len(row_of_query), dtype=np.int64)
        waiting, depth = np.flatnonzero(row_of_query >= 0), _FIRST
        while len(waiting):
            queries = self.queries.take(row_of_query[waiting])
            found = search(
                queries, self.items, k=min(depth, self.items.n), options=self._options(queries)
            )
            counts[waiting] = (found.scores >= least).sum(axis=1)
            waiting = waiting[(counts[waiting] == depth) & (depth < self.items.n)]
            depth *= 8
        return counts


ClipRankings = ClipLists | ClipVectors
"""The rankings of a system: both have `ties`, `in_input_order`, `hits` and `first`."""
