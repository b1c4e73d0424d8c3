"""One run under one truth: the rank counts of the relevant references of every query, and the
labels of its best references.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.matrices import Positives
from rankwell.data.rankings import Hits, Ranking
from rankwell.data.registry import Measure
from rankwell.data.tables import Bools, Floats, Ints, MatrixTies, segment_offsets, tie_order
from rankwell.errors import TieRefused, flag
from rankwell.evaluation.details import Details, details_of
from rankwell.evaluation.judged import Ceiling, JudgedRun, ReferenceLevels
from rankwell.evaluation.results import DETAIL_DEPTH, counted_queries
from rankwell.tasks.instances.images import InstanceTruth
from rankwell.tasks.instances.runs import AlignedRun

_OPEN = ("expected", "optimistic", "pessimistic", "error")
"""The tie rules under which several references can share the first place."""


@dataclass(frozen=True, eq=False, kw_only=True)
class InstanceRun(JudgedRun):
    """A run with the rank counts of its relevant references, ties open. tie_places: that of each
    reference among those of equal score.
    """

    truth: InstanceTruth
    aligned: AlignedRun
    tie_places: Ints | None
    hits: Hits

    @classmethod
    def of(
        cls,
        name: str,
        truth: InstanceTruth,
        aligned: AlignedRun,
        ties: MatrixTies,
        progress: Callable[[int, int], None] | None,
    ) -> "InstanceRun":
        """Counts every relevant reference, and every junk one, of every query."""
        tie_places = tie_order(
            ties, [truth.references[item] for item in map(int, aligned.references)]
        )
        row_of, column_of = (
            np.full(len(truth.queries), -1, dtype=np.int64),
            np.full(len(truth.references), -1, dtype=np.int64),
        )
        row_of[aligned.queries] = np.arange(len(aligned.queries))
        column_of[aligned.references] = np.arange(len(aligned.references))
        rows, columns = row_of[truth.owner], column_of[truth.item]
        pairs_in_run = np.flatnonzero((rows >= 0) & (columns >= 0))
        # Pairs are counted in the order of the run's own table, and kept by their row in the truth.
        order = pairs_in_run[np.lexsort((columns[pairs_in_run], rows[pairs_in_run]))]
        pairs = Positives.of(
            rows[order], columns[order], len(aligned.queries), len(aligned.references)
        )
        counts = aligned.compared.count(
            pairs, transposed=False, best=False, order=tie_places, progress=progress
        )
        present = row_of >= 0
        retrieved = np.where(present, len(aligned.references), 0).astype(np.int64)
        hits = Hits(truth.owner[order], order, *counts[1:], retrieved, present)
        junk = np.bincount(truth.owner[truth.junk], minlength=len(truth.queries))
        # All references that are not junk could be found, whether the run has them or not.
        candidates = (len(truth.references) - junk).astype(np.int64)
        return cls(
            name=name,
            view=JudgedRankings.join(truth.judgments, hits),
            ties=ties,
            levels=ReferenceLevels(truth.judgments, candidates),
            tied_items="tied references keep the order of the table",
            truth=truth,
            aligned=aligned,
            tie_places=tie_places,
            hits=hits,
        )

    @cached_property
    def without_relevant(self) -> Bools:
        """(queries,) whether a query has no relevant reference."""
        return self.truth.n_relevant == 0

    def counted(self, no_relevant: str) -> Bools:
        """(queries,) whether each query counts. Raises BadInput for one without a relevant
        reference under `error`.
        """
        return counted_queries(
            self.view.queries,
            self.without_relevant,
            no_relevant,
            refuse=lambda query, n: (
                f"the query {query!r} has no right reference ({n} queries have none); choose "
                f"{flag('--no-relevant', 'skip')} "
                "(they are left out) or empty (they count as not found), or "
                f"{flag('--absent', 'filter')}."
            ),
        )

    def ceiling(self, measure: Measure, counted: Bools) -> Ceiling:
        """(queries,) the values of a perfect ranker, which returns as many as the run where a share
        is of these.
        """
        if self.levels is None or dict(measure.arguments).get("denom") != "retrieved":
            return super().ceiling(measure, counted)
        lengths, retrieved = self.levels.candidates, self.view.retrieved
        return Ceiling(
            measure(
                self.levels.perfect_of(
                    np.where(retrieved > 0, np.minimum(lengths, retrieved), lengths)
                )
            )
        )

    def first(self, depth: int) -> tuple[Ints, Floats]:
        """The first references of each query that are not junk: positions, -1 where there are no
        more, and scores.
        """
        truth, aligned = self.truth, self.aligned
        junk = np.bincount(truth.owner[truth.junk], minlength=len(truth.queries)).max(initial=0)
        n = len(aligned.references)
        columns, scores = aligned.compared.first_items(
            min(depth + int(junk), n), transposed=False, order=self.tie_places
        )
        positions = aligned.references[columns]
        stride = len(truth.references)
        keys = aligned.queries[:, None] * stride + positions
        is_junk = np.isin(keys, truth.owner[truth.junk] * stride + truth.item[truth.junk])
        order = np.argsort(is_junk, axis=1, kind="stable")
        is_counted = np.take_along_axis(~is_junk, order, axis=1)[:, :depth]
        shape = len(truth.queries), is_counted.shape[1]
        first, first_scores = np.full(shape, -1, dtype=np.int64), np.full(shape, np.nan)
        first[aligned.queries] = np.where(
            is_counted, np.take_along_axis(positions, order, axis=1)[:, :depth], -1
        )
        first_scores[aligned.queries] = np.where(
            is_counted, np.take_along_axis(scores, order, axis=1)[:, :depth], np.nan
        )
        return first, first_scores

    def best(self) -> list[list[int]]:
        """The best references of each query, by position: all of the highest score where the rule
        leaves their order open or depends on it, else the one that it places first; none where
        nothing was found.
        """
        if self.ties not in _OPEN:
            return [[item for item in row if item >= 0] for row in self.first(1)[0].tolist()]
        depth, n = 2, len(self.aligned.references)
        while True:
            positions, scores = self.first(depth)
            same = (scores == scores[:, :1]) & (positions >= 0)
            if depth >= n or not same[:, -1].any():
                break
            depth *= 2
        return [
            [item for item, tied in zip(*row, strict=True) if tied]
            for row in zip(positions.tolist(), same.tolist(), strict=True)
        ]

    @cached_property
    def open_ranks(self) -> dict[tuple[str, str], list[int]]:
        """(query, relevant reference) -> its first and last possible rank, where it is tied and no
        rule places it.
        """
        if self.ties != "expected":
            return {}
        view = self.view
        rows = np.flatnonzero(view.tied > 1).tolist()
        items = self.truth.judgments.items
        ends = np.stack([view.above + 1, view.above + view.tied], axis=1)
        return {
            (view.queries[int(view.query_of_row[row])], items[int(view.items[row])]): ends[
                row
            ].tolist()
            for row in rows
        }

    def details(self) -> Details:
        """The first references of each query, and every relevant and every junk one at any rank."""
        positions, scores = self.first(DETAIL_DEPTH)
        present, names = positions >= 0, self.truth.references
        items = [names[item] for item in map(int, positions[present])]
        top = Ranking(
            tuple(self.truth.queries), segment_offsets(present.sum(axis=1)), items, scores[present]
        )
        view = self.view
        counts = {name: getattr(view, name) for name in ("above", "tied", "before")}
        hits = replace(
            self.hits, query=view.query_of_row, row=view.items, score=view.scores, **counts, top=top
        )
        return details_of(self.truth.judgments, hits, self.resolved)


class NamedLabels:
    """TP / PRED by query and by instance: the labels of the best references. Raises TieRefused
    where these differ, under `error`.

    shares: per query, label -> the share of its best references that have it. Of references with
    the same score all are the best (`expected`), the first by the rule, or a right one
    (`optimistic`) or a wrong one (`pessimistic`). named, right: (queries,) PRED and TP of each
    query.
    """

    def __init__(self, ranked: InstanceRun) -> None:
        truth = ranked.truth
        references = truth.reference_instances or ()
        self.own = list(truth.query_instances or [None] * len(truth.queries))
        self.shares: list[dict[str, float]] = []
        for query, best in enumerate(ranked.best()):
            labels = [references[item] for item in best]
            if ranked.ties == "error" and len(set(labels)) > 1:
                raise TieRefused(
                    f"query {truth.queries[query]!r}: {len(labels)} references of different "
                    "labels share the first place; "
                    "name a tie rule, or break the tie."
                )
            if ranked.ties in ("optimistic", "pessimistic"):
                # A right one is better than none, and none better than a wrong one.
                worth = [
                    1 if label is None else 2 if label == self.own[query] else 0 for label in labels
                ]
                labels = (
                    [labels[worth.index((max if ranked.ties == "optimistic" else min)(worth))]]
                    if labels
                    else []
                )
            self.shares.append(
                {
                    label: labels.count(label) / len(labels)
                    for label in dict.fromkeys(labels)
                    if label is not None
                }
            )
        self.named: Floats = np.array(
            [sum(shares.values()) for shares in self.shares], dtype=np.float64
        )
        self.right: Floats = np.array(
            [
                0.0 if label is None else shares.get(label, 0.0)
                for label, shares in zip(self.own, self.shares, strict=True)
            ],
            dtype=np.float64,
        )

    @property
    def values(self) -> Floats:
        """(queries,) the share of right labels, NaN without a label; their mean, weighted by
        `weights`, is TP / PRED.
        """
        return np.divide(
            self.right, self.named, out=np.full(len(self.named), np.nan), where=self.named > 0
        )

    @property
    def weights(self) -> Floats | None:
        """(queries,) the share of the best references that have a label, None where it is 0 or 1
        for every query.
        """
        return None if np.isin(self.named, (0.0, 1.0)).all() else self.named

    def by_instance(self, run: str, truth: InstanceTruth) -> list[dict[str, Any]]:
        """A row per instance: number of references, of queries, of queries named so (PRED), and of
        those named rightly (TP).
        """
        sides = {
            "references": Counter(truth.reference_instances or ()),
            "queries": Counter(truth.query_instances or ()),
        }
        pairs = list(zip(self.own, self.shares, strict=True))
        n_named = _sums((label, share) for _, shares in pairs for label, share in shares.items())
        right = _sums(
            (label, shares[label])
            for label, shares in pairs
            if label is not None and label in shares
        )
        rows: list[dict[str, Any]] = []
        for name in sorted(
            label for label in {*sides["references"], *sides["queries"]} if label is not None
        ):
            counts = {
                column: counts.get(name, 0)
                for column, counts in {**sides, "named": n_named, "right": right}.items()
            }
            share = counts["right"] / counts["named"] if counts["named"] else None
            rows.append({"run": run, "instance": name, **counts, "precision": share})
        return rows


def _sums(shares: Iterable[tuple[str, float]]) -> dict[str, float | int]:
    """The sum of each label's shares, as an integer where it is one."""
    shares_by_label: dict[str, list[float]] = {}
    for label, share in shares:
        shares_by_label.setdefault(label, []).append(share)
    sums = {label: math.fsum(label_shares) for label, label_shares in shares_by_label.items()}
    return {label: int(value) if value.is_integer() else value for label, value in sums.items()}
