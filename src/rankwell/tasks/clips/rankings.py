"""The rankings of a search: lists of an engine or a run, or vectors whose neighbours are
counted.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from rankwell._native.products import Groups
from rankwell._native.similarity import Metric
from rankwell.data.matrices import Embeddings
from rankwell.data.rankings import Hits, Ranking, arrange, hits_of_ranking
from rankwell.data.tables import Ints, Judgments, RankCounts, TieRule, order_ids, segment_offsets
from rankwell.errors import BadInput, flag
from rankwell.store import encode_id
from rankwell.vectors.neighbours import SearchOptions, ranks_of, search

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
        self,
        annotated: Collection[str],
        excluded: Mapping[str, Collection[str]],
        *,
        skip_unknown: bool,
    ) -> "ClipLists":
        """The lists without repeated and excluded items; later items move up."""
        cleaned_lists: dict[str, ClipList] = {}
        unknown: dict[str, None] = {}
        doubled = 0
        for query, (items, similarities) in self.lists.items():
            once: dict[str, float] = {}
            for item, similarity in zip(items, similarities, strict=True):
                doubled += item in once
                once.setdefault(item, similarity)
            unknown |= dict.fromkeys(item for item in once if item not in annotated)
            out = set(excluded.get(query, ()))
            left = [
                item for item in once if item not in out and (item in annotated or not skip_unknown)
            ]
            cleaned_lists[query] = ClipList(left, [once[item] for item in left])
        return replace(self, lists=cleaned_lists, doubled=doubled, unknown=tuple(unknown))

    def hits(self, judgments: Judgments, least: float | None = None) -> Hits:
        """Rank counts of the judged items."""
        owners = [query for query, results in self.lists.items() for _ in results.items]
        items = [item for results in self.lists.values() for item in results.items]
        # The order is the ranking: similarities may be unknown, and need not descend.
        place_scores = [
            -float(position)
            for results in self.lists.values()
            for position in range(len(results.items))
        ]
        ranking = Ranking.from_rows(owners, items, place_scores, all_queries=self.lists)
        hits = hits_of_ranking(ranking, judgments, ties="input")
        similarities = [
            self.lists[judgments.queries[query]].similarities[int(-place_score)]
            for query, place_score in zip(hits.query.tolist(), hits.score.tolist(), strict=True)
        ]
        scored = replace(hits, score=np.array(similarities, dtype=np.float64))
        if least is None:
            return scored
        above = dict.fromkeys(judgments.queries, 0)
        for query, results in self.lists.items():
            if any(map(math.isnan, results.similarities)):
                raise BadInput(
                    f"query {query!r}: its results have no similarity, so that "
                    f"{flag('--min-similarity')} does not apply; leave it out."
                )
            above[query] = sum(similarity >= least for similarity in results.similarities)
        retrieved = [above[query] for query in judgments.queries]
        return _at_least(scored, least, np.array(retrieved, dtype=np.int64))

    def first(self, depth: int) -> Mapping[str, ClipList]:
        """The first items of each query."""
        return {
            query: ClipList(results.items[:depth], results.similarities[:depth])
            for query, results in self.lists.items()
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
    is_kept = hits.score >= least
    columns = {
        name: getattr(hits, name)[is_kept]
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
        row_of = {name: row for row, name in enumerate(self.queries.names())}
        place_of = {name: row for row, name in enumerate(self.items.names())}
        row_of_query = np.array(
            [row_of.get(query, -1) for query in judgments.queries], dtype=np.int64
        )
        item_rows = np.array([place_of.get(item, -1) for item in judgments.items], dtype=np.int64)
        owners, is_searched = judgments.query_of_row, row_of_query >= 0
        rows = np.flatnonzero((item_rows >= 0) & is_searched[owners])
        counts = self._rank_counts(row_of_query, owners[rows], item_rows[rows])
        retrieved = np.where(is_searched, self.items.n - self._excluded(judgments.queries), 0)
        hits = Hits(owners[rows], rows, *counts, retrieved, is_searched)
        if least is None:
            return hits
        return _at_least(hits, least, self._count_at_least(row_of_query, least))

    def first(self, depth: int) -> Mapping[str, ClipList]:
        """The first items of each query; equal similarities in the order of the tie rule, by
        ascending id where it names none.
        """
        neighbours = search(self.queries, self.items, k=depth, options=self._options(self.queries))
        names, lists = list(self.items.names()), dict[str, ClipList]()
        for query, positions, scores in zip(
            self.queries.names(), neighbours.positions, neighbours.scores, strict=True
        ):
            n_found = int((positions >= 0).sum())
            lists[query] = ClipList(
                [names[position] for position in positions[:n_found].tolist()],
                scores[:n_found].tolist(),
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
        items = set(self.items.names())
        labels = self.labels or {}
        sizes = Counter(labels[name] for name in items & labels.keys())
        excluded = [
            sizes[labels[query]] if query in labels else self.exclude_self and query in items
            for query in queries
        ]
        return np.array(excluded, dtype=np.int64)

    def _rank_counts(self, row_of_query: Ints, query: Ints, item: Ints) -> RankCounts:
        """Rank counts of each pair of query and item, in blocks of queries of limited memory."""
        total = len(query)
        above, tied, before = (np.zeros(total, dtype=np.int64) for _ in range(3))
        scores = np.zeros(total)
        counts = np.bincount(query, minlength=len(row_of_query)).astype(np.int64)
        offsets = segment_offsets(counts)
        with_items = np.flatnonzero(counts)
        step = max(1, _PAIRS_AT_ONCE // max(int(counts.max(initial=1)), 1))
        for start in range(0, len(with_items), step):
            part = with_items[start : start + step]
            width = int(counts[part].max())
            inside = np.arange(width)[None, :] < counts[part][:, None]
            rows = (offsets[part][:, None] + np.arange(width)[None, :])[inside]
            targets = np.full((len(part), width), -1, dtype=np.int64)
            targets[inside] = item[rows]
            queries = self.queries.take(row_of_query[part])
            ranked = ranks_of(
                queries, self.items, targets, options=self._options(queries), progress=self.progress
            )
            for column, of_part in (
                (above, ranked.above),
                (tied, ranked.tied),
                (before, ranked.before),
                (scores, ranked.scores),
            ):
                column[rows] = of_part[inside]
        return RankCounts(scores, above, tied, before)

    def _count_at_least(self, row_of_query: Ints, least: float) -> Ints:
        """(queries,) number of items of that similarity or more; only unfinished lists are searched
        deeper.
        """
        counts = np.zeros(len(row_of_query), dtype=np.int64)
        waiting, depth = np.flatnonzero(row_of_query >= 0), _FIRST
        while len(waiting):
            queries = self.queries.take(row_of_query[waiting])
            neighbours = search(
                queries, self.items, k=min(depth, self.items.n), options=self._options(queries)
            )
            counts[waiting] = (neighbours.scores >= least).sum(axis=1)
            waiting = waiting[(counts[waiting] == depth) & (depth < self.items.n)]
            depth *= 8
        return counts


ClipRankings = ClipLists | ClipVectors
"""The rankings of a system: both have `ties`, `in_input_order`, `hits` and `first`."""
