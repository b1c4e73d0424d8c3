"""One run under one truth: where the right references of every query stand, and what it names each query."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from rankwell.core.registry import Measure, suggest
from rankwell.core.tables import Bools, Floats, Ints, order_ids
from rankwell.core.tables.hits import Hits
from rankwell.core.tables.order import TIE_RULES, TieRule
from rankwell.core.tables.ranking import Ranking
from rankwell.core.tables.scores import Positives
from rankwell.core.views.details import Details, details_of
from rankwell.core.views.ideal import constant, ideal
from rankwell.core.views.judged import JudgedRankings
from rankwell.errors import BadInput, UnknownName
from rankwell.measures.chance import expected_values
from rankwell.tasks.instances.runs import Aligned
from rankwell.tasks.instances.truth import InstanceTruth

Ties = TieRule | Literal["input-desc"]
DETAIL_DEPTH = 20
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


@dataclass(frozen=True, eq=False)
class Ranked:
    """A run's right references with their places; how ties are placed is decided when values are asked for.

    place: that of each reference of the run among references of equal score; None for that in the run.
    """

    truth: InstanceTruth
    aligned: Aligned
    ties: Ties
    place: Ints | None
    hits: Hits

    @classmethod
    def of(cls, truth: InstanceTruth, aligned: Aligned, ties: Ties, progress: Callable[[int, int], None] | None) -> "Ranked":
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
        return cls(truth, aligned, ties, place, hits)

    @cached_property
    def view(self) -> JudgedRankings:
        """The view in which ties are still open, without junk."""
        return JudgedRankings.join(self.truth.judgments, self.hits)

    @cached_property
    def without_right(self) -> Bools:
        """(queries,) whether nothing is right for a query."""
        return self.truth.right == 0

    @cached_property
    def tied(self) -> int:
        """How many queries have a best right reference that ties with one that is wrong."""
        view = self.view
        size = np.bincount(view.tie_of_row, minlength=1)[view.tie_of_row] if len(view.ranks) else view.tied
        queries, first = np.unique(view.query_of_row, return_index=True)
        return int((view.tied[first] > size[first]).sum()) if len(queries) else 0

    def counted(self, no_relevant: str) -> Bools:
        """(queries,) which queries count. Raises BadInput for one without a right reference under `error`."""
        bare = self.without_right
        if bare.any() and no_relevant == "error":
            query = self.view.queries[int(np.flatnonzero(bare)[0])]
            raise BadInput(
                f"the query {query!r} has no right reference ({int(bare.sum())} queries have none); choose --no-relevant skip "
                "(they are left out) or empty (they count as not found), or --absent filter."
            )
        return ~bare if no_relevant == "skip" else np.ones(len(bare), dtype=np.bool_)

    def values(self, measure: Measure, counted: Bools, notes: list[str]) -> Floats:
        """(queries,) the values; NaN where a query does not count."""
        view = self.view
        if self.ties == "expected" and (view.tied > 1).any():
            if measure.entry.expected is not None:
                return np.where(counted, measure.entry.expected(view, **dict(measure.given)), np.nan)
            notes.append(f"{measure} has no closed form under random order of ties; tied references keep the order of the table")
        return np.where(counted, measure(view.resolve(_rule(self.ties))), np.nan)

    def ceiling(self, measure: Measure, counted: Bools) -> Floats:
        """(counted queries,) what a perfect ranker reaches, who returns as many as the run where a share is of these."""
        lengths = self._candidates
        if dict(measure.given).get("denom") == "retrieved":
            lengths = np.where(self.view.retrieved > 0, np.minimum(lengths, self.view.retrieved), lengths)
        return measure(ideal(self.truth.judgments, lengths))[counted]

    def chance(self, measure: Measure, counted: Bools) -> Floats:
        """(counted queries,) what a blind ranker reaches; NaN where there is no closed form."""
        return expected_values(measure, constant(self.truth.judgments, self._candidates))[counted]

    @property
    def _candidates(self) -> Ints:
        """(queries,) all references that are not junk, whether the run has them or not."""
        junk = np.bincount(self.truth.owner[self.truth.junk], minlength=len(self.truth.queries))
        return (len(self.truth.references) - junk).astype(np.int64)

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
        return details_of(self.truth.judgments, replace(self.hits, top=top), self.view.resolve(_rule(self.ties)))


def _rule(ties: Ties) -> TieRule:
    """The rule of a single ranking; the order that `input-desc` names is in the counts already."""
    return "input" if ties == "input-desc" else ties


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
