"""One run under one truth: the rank counts of the right references of every query, and the labels of its best references."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from rankwell.core.registry import Measure, suggest
from rankwell.core.tables import TIE_RULES, Bools, Floats, Ints, TieRule, order_ids
from rankwell.core.tables.ranking import Hits, Ranking
from rankwell.core.tables.scores import Positives
from rankwell.core.views.judged import JudgedRankings
from rankwell.errors import UnknownName
from rankwell.evaluation.details import Details, details_of
from rankwell.evaluation.judged import Ceiling, JudgedRun, ReferenceLevels
from rankwell.evaluation.results import counted_queries
from rankwell.tasks.instances.runs import Aligned
from rankwell.tasks.instances.truth import InstanceTruth

Ties = TieRule | Literal["input-desc"]
_OPEN = ("expected", "optimistic", "pessimistic", "error")


def ties_of(name: str) -> Ties:
    """The tie rule of this name. Raises UnknownName."""
    known: tuple[Ties, ...] = (*TIE_RULES, "input-desc")
    for rule in known:
        if rule == name:
            return rule
    raise UnknownName(f"no tie rule of a gallery is called {name!r}; {suggest(name, known)}")


class First(NamedTuple):
    """The first references of each query of the truth: positions in it, -1 where there are no more; and their scores."""

    positions: Ints
    scores: Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class InstanceRun(JudgedRun):
    """A run with the rank counts of its right references, ties open.

    place: that of each reference of the run among references of equal score; None for that in the run.
    """

    truth: InstanceTruth
    aligned: Aligned
    place: Ints | None
    hits: Hits

    @classmethod
    def of(
        cls, name: str, truth: InstanceTruth, aligned: Aligned, ties: Ties, progress: Callable[[int, int], None] | None
    ) -> "InstanceRun":
        """Counts every right reference, and every junk one, of every query."""
        place = _order(ties, truth, aligned)
        row_of, column_of = np.full(len(truth.queries), -1, dtype=np.int64), np.full(len(truth.references), -1, dtype=np.int64)
        row_of[aligned.queries] = np.arange(len(aligned.queries))
        column_of[aligned.references] = np.arange(len(aligned.references))
        rows, columns = row_of[truth.owner], column_of[truth.item]
        there = np.flatnonzero((rows >= 0) & (columns >= 0))
        # Pairs are counted in the order of the run's own table, and remembered by their row in the truth.
        order = there[np.lexsort((columns[there], rows[there]))]
        pairs = Positives.of(rows[order], columns[order], len(aligned.queries), len(aligned.references))
        counts = aligned.compared.count(pairs, transposed=False, best=False, order=place, progress=progress)
        present = row_of >= 0
        hits = Hits(
            query=truth.owner[order],
            row=order,
            score=counts.scores,
            above=counts.above,
            tied=counts.tied,
            before=counts.before,
            retrieved=np.where(present, len(aligned.references), 0).astype(np.int64),
            present=present,
            unknown={},
        )
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
            place=place,
            hits=hits,
        )

    @cached_property
    def without_right(self) -> Bools:
        """(queries,) whether a query has no right reference."""
        return self.truth.right == 0

    def counted(self, no_relevant: str) -> Bools:
        """(queries,) which queries count. Raises BadInput for one without a right reference under `error`."""
        return counted_queries(
            self.view.queries,
            self.without_right,
            no_relevant,
            refuse=lambda query, n: (
                f"the query {query!r} has no right reference ({n} queries have none); choose --no-relevant skip "
                "(they are left out) or empty (they count as not found), or --absent filter."
            ),
        )

    def ceiling(self, measure: Measure, counted: Bools) -> Ceiling:
        """(queries,) the values of a perfect ranker, which returns as many as the run where a share is of these."""
        if self.levels is None or dict(measure.given).get("denom") != "retrieved":
            return super().ceiling(measure, counted)
        lengths, retrieved = self.levels.candidates, self.view.retrieved
        return Ceiling(measure(self.levels.perfect_of(np.where(retrieved > 0, np.minimum(lengths, retrieved), lengths))))

    def first(self, depth: int) -> First:
        """The first references of each query that are not junk."""
        truth, aligned = self.truth, self.aligned
        junk = np.bincount(truth.owner[truth.junk], minlength=len(truth.queries)).max(initial=0)
        n = len(aligned.references)
        columns, scores = aligned.compared.first_items(min(depth + int(junk), n), transposed=False, order=self.place)
        positions = aligned.references[columns]
        stride = len(truth.references)
        keys = aligned.queries[:, None] * stride + positions
        bad = np.isin(keys, truth.owner[truth.junk] * stride + truth.item[truth.junk])
        order = np.argsort(bad, axis=1, kind="stable")
        kept = np.take_along_axis(~bad, order, axis=1)[:, :depth]
        shape = len(truth.queries), kept.shape[1]
        found, told = np.full(shape, -1, dtype=np.int64), np.full(shape, np.nan)
        found[aligned.queries] = np.where(kept, np.take_along_axis(positions, order, axis=1)[:, :depth], -1)
        told[aligned.queries] = np.where(kept, np.take_along_axis(scores, order, axis=1)[:, :depth], np.nan)
        return First(found, told)

    def best(self) -> list[list[int]]:
        """The best references of each query, by position: all that share the highest score where the rule leaves their order open
        or looks at it itself, else the one that it places first; none where nothing was found."""
        if self.ties not in _OPEN:
            return [[item for item in row if item >= 0] for row in self.first(1).positions.tolist()]
        depth, n = 2, len(self.aligned.references)
        while True:
            first = self.first(depth)
            same = (first.scores == first.scores[:, :1]) & (first.positions >= 0)
            if depth >= n or not same[:, -1].any():
                break
            depth *= 2
        return [
            [item for item, tied in zip(*row, strict=True) if tied]
            for row in zip(first.positions.tolist(), same.tolist(), strict=True)
        ]

    @cached_property
    def open_ranks(self) -> dict[tuple[str, str], list[int]]:
        """(query, right reference) -> its first and last possible rank, where it is tied and no rule places it."""
        if self.ties != "expected":
            return {}
        view = self.view
        rows = np.flatnonzero(view.tied > 1).tolist()
        items = self.truth.judgments.items
        ends = np.stack([view.above + 1, view.above + view.tied], axis=1)
        return {(view.queries[int(view.query_of_row[row])], items[int(view.items[row])]): ends[row].tolist() for row in rows}

    def details(self, first: First) -> Details:
        """The first references of each query, and every right one and every junk one wherever it stands."""
        there = first.positions >= 0
        listed: list[int] = first.positions[there].tolist()
        offsets = np.zeros(len(self.truth.queries) + 1, dtype=np.int64)
        np.cumsum(there.sum(axis=1), out=offsets[1:])
        names = self.truth.references
        top = Ranking(tuple(self.truth.queries), offsets, [names[item] for item in listed], first.scores[there])
        return details_of(self.truth.judgments, replace(self.hits, top=top), self.resolved)


def _order(ties: Ties, truth: InstanceTruth, aligned: Aligned) -> Ints | None:
    """(references of the run,) the place of each among references of equal score where the rule names one."""
    n = len(aligned.references)
    if ties == "input-desc":
        return np.arange(n)[::-1].copy()
    if ties not in ("id-asc", "id-desc"):
        return None
    names: Sequence[str] = [truth.references[item] for item in map(int, aligned.references)]
    place = np.empty(n, dtype=np.int64)
    place[order_ids(names)] = np.arange(n)
    return place if ties == "id-asc" else n - 1 - place
