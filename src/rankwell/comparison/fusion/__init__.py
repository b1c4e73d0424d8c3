"""Fusion: several runs of the same queries become one. A file of this folder declares methods, or
what they make of scores.

Nothing here depends on the order of rows, nor on the order of runs where they have no weights:
items of a query stand in the order of ties, and what runs add is added in the order of its size.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeVar, get_args

import numpy as np

from rankwell.data.rankings import Ranking
from rankwell.data.registry import Catalogue, suggest
from rankwell.data.tables import (
    Bools,
    Floats,
    Ints,
    QueryRows,
    offsets_from_rows,
    position_in_segment,
    segment_offsets,
    sort_ids,
)
from rankwell.errors import BadScore, BadUsage, DuplicateItem, UnknownName
from rankwell.vectors.transforms import DocumentedFunction, NamedFunction, parse_named

if TYPE_CHECKING:
    from rankwell.comparison.fusion.methods import Training

Reads = Literal["ranks", "scores"]
Absent = Literal["zero", "lowest", "rest"]
"""Scores of an item that a run lacks where scores are added: 0, that of the run's last item of the
query, or, for the normalisation borda alone, the mean of the places that the run leaves empty.
"""
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, eq=False)
class RunLists(QueryRows):
    """The lists of several runs side by side: a row per query and item that any of them has, in the
    order of ties.

    queries: ids of the queries.
    offsets: (queries + 1,) where the rows of each query begin.
    items: (rows,) ids, in falling order of their bytes within a query.
    ranks: (runs, rows) ranks from 1; 0 where the run lacks the item.
    scores: (runs, rows) NaN where the run lacks the item.
    """

    items: Sequence[str]
    ranks: Ints
    scores: Floats

    @classmethod
    def of(
        cls, rankings: Sequence[Ranking], queries: Sequence[str], *, depth: int | None = None
    ) -> "RunLists":
        """The lists of some queries; a run may lack any of them. depth: how many first items of
        each list are taken.
        """
        items, offsets = list[str](), [0]
        nothing = np.zeros((len(rankings), 0))
        blocks: list[tuple[Ints, Floats]] = [(nothing.astype(np.int64), nothing)]
        for query in queries:
            rows_of_runs = [ranking.rows_of(query) for ranking in rankings]
            items_of_runs = [
                ranking.items[rows] for ranking, rows in zip(rankings, rows_of_runs, strict=True)
            ]
            names = sort_ids(set[str]().union(*items_of_runs))[::-1]
            column_of_item = dict(zip(names, range(len(names)), strict=True))
            items += names
            offsets.append(len(items))
            ranks = np.zeros((len(rankings), len(names)), dtype=np.int64)
            scores = np.full(ranks.shape, np.nan)
            for run, run_items in enumerate(items_of_runs):
                n = len(run_items)
                run_scores = rankings[run].scores[rows_of_runs[run]]
                columns = np.fromiter(map(column_of_item.__getitem__, run_items), np.int64, count=n)
                scores[run, columns] = run_scores
                ranks[run, _best_first(run_scores, columns)] = np.arange(1, n + 1)
                if np.count_nonzero(ranks[run]) < n:
                    raise DuplicateItem(
                        f"run {run + 1} has an item of a query twice; keep one of them before "
                        "runs are fused."
                    )
            blocks.append((ranks, scores))
        ranks, scores = (np.concatenate(parts, axis=1) for parts in zip(*blocks, strict=True))
        if depth is not None:
            scores[ranks > depth] = np.nan
            ranks[ranks > depth] = 0
        lists = cls(tuple(queries), np.array(offsets, dtype=np.int64), items, ranks, scores)
        return lists if depth is None else lists.only(range(len(rankings)))

    @cached_property
    def found(self) -> Bools:
        """Whether each run has each item, (runs, rows)."""
        return self.ranks > 0

    @cached_property
    def counts(self) -> Ints:
        """The number of runs that have each item."""
        return self.found.sum(axis=0)

    @cached_property
    def lengths(self) -> Ints:
        """The number of items in each list, (runs, queries)."""
        runs, rows = np.nonzero(self.found)
        n = len(self.queries)
        cells = runs * n + self.query_of_row[rows]
        return np.bincount(cells, minlength=len(self.ranks) * n).reshape(-1, n)

    def only(self, runs: Sequence[int]) -> "RunLists":
        """The lists of some runs, in the order given, without the items that none of them has."""
        ranks, scores = self.ranks[list(runs)], self.scores[list(runs)]
        rows = np.flatnonzero((ranks > 0).any(axis=0))
        offsets = offsets_from_rows(self.query_of_row[rows], len(self.queries))
        items = self._items_of(rows)
        return RunLists(self.queries, offsets, items, ranks[:, rows], scores[:, rows])

    def ordered(self, scores: Floats) -> list[Ints]:
        """The rows of each query from first to last: by falling score, equal scores in the order of
        ties. scores: (rows,).
        """
        return [
            start + np.argsort(-scores[start:stop], kind="stable")
            for start, stop in pairwise(self.offsets.tolist())
        ]

    def places(self, scores: Floats) -> Ints:
        """The number of rows of its query before each row, by the scores of the rows."""
        positions = np.empty(len(scores), dtype=np.int64)
        positions[np.concatenate(self.ordered(scores))] = position_in_segment(self.offsets)
        return positions

    def ranking(self, scores: Floats, *, top: int | None = None) -> Ranking:
        """The items of each query from first to last. top: how many of each. scores: (rows,)."""
        rows_of_queries = [rows[:top] for rows in self.ordered(scores)]
        rows = np.concatenate([*rows_of_queries, np.zeros(0, dtype=np.int64)])
        lengths = np.array([len(query_rows) for query_rows in rows_of_queries], dtype=np.int64)
        return Ranking(self.queries, segment_offsets(lengths), self._items_of(rows), scores[rows])

    def _items_of(self, rows: Ints) -> list[str]:
        """The ids of some rows, in the order given; an array of objects picks them twice as fast as
        a list.
        """
        items = np.empty(len(self.items), dtype=np.object_)
        items[:] = self.items
        return items[rows].tolist()


def _best_first(scores: Floats, rows: Ints) -> Ints:
    """The rows of one list from first to last. rows: (items,) in the order of the list; lower ones
    come first in a tie.
    """
    if (scores[1:] < scores[:-1]).all():
        return rows
    order = np.argsort(-scores, kind="stable")
    ordered, ordered_rows = scores[order], rows[order]
    is_new_tie = ordered[1:] != ordered[:-1]
    if is_new_tie.all():
        return ordered_rows
    # Integers with the tie in the high digits and the row in the low ones sort faster than two
    # columns.
    width = int(ordered_rows.max()) + 1
    keys = np.concatenate([[0], np.cumsum(is_new_tie)]) * width + ordered_rows
    keys.sort()
    return keys % width


class Segments(NamedTuple):
    """The items of one run by query, as a normalisation reads them. Queries without items in the
    run are left out.

    scores, ranks: (items,) the run's score and rank of each item.
    owner: (items,) the number of each item's query, ascending.
    starts, lengths: (queries,) where the items of each query begin, and how many they are.
    candidates: (queries,) number of items that all runs have together.
    """

    scores: Floats
    ranks: Ints
    owner: Ints
    starts: Ints
    lengths: Ints
    candidates: Ints

    @property
    def lowest(self) -> Floats:
        """The lowest score of each item's query."""
        return np.minimum.reduceat(self.scores, self.starts)[self.owner]

    @property
    def highest(self) -> Floats:
        """The highest score of each item's query."""
        return np.maximum.reduceat(self.scores, self.starts)[self.owner]

    def total(self, values: Floats) -> Floats:
        """The sum of the values of each item's query."""
        return np.bincount(self.owner, weights=values).astype(np.float64, copy=False)[self.owner]


@dataclass(frozen=True)
class Normalisation(DocumentedFunction):
    """A normalisation of a run's scores before they are added.

    absent: the default score of an item that the run lacks.
    lower: whether it is for scores of which lower is better.
    """

    absent: Absent
    lower: bool


NORMALISATIONS: Catalogue[Normalisation] = Catalogue("comparison.fusion", "normalisation")


def normalisation(
    name: str, *, absent: Absent = "zero", lower: bool = False
) -> Callable[[Function], Function]:
    """Registers a function `(segments) -> (items,) values` under a name and returns it
    unchanged.
    """
    return NORMALISATIONS.register(
        name, lambda function: Normalisation(name, function, absent, lower)
    )


@dataclass(frozen=True, eq=False)
class Votes:
    """The input of a fusion method.

    lists: the lists of the runs that take part, with the ranks.
    values: (runs, rows) normalised scores, NaN where a run lacks the item; (runs, 0) for methods
        that use ranks.
    filled_values: `values` with the score of an absent item in place of NaN.
    weights: (runs,) weights of the runs, above 0.
    """

    lists: RunLists
    values: Floats
    filled_values: Floats
    weights: Floats

    @classmethod
    def of(cls, lists: RunLists, normalization: str | None, absent: Absent | None) -> Self:
        """The votes of runs of equal weight. Raises BadScore for scores that cannot be
        normalised.
        """
        weights = np.ones(len(lists.ranks))
        nothing = np.zeros((len(lists.ranks), 0))
        if normalization is None:
            return cls(lists, nothing, nothing, weights)
        entry = NORMALISATIONS[normalization]
        values = np.full(lists.scores.shape, np.nan)
        filled = np.zeros(lists.scores.shape)
        for run, has_item in enumerate(lists.found):
            rows = np.flatnonzero(has_item)
            if not rows.size:
                continue
            present = np.flatnonzero(lists.lengths[run])
            lengths = lists.lengths[run, present]
            starts = segment_offsets(lengths)[:-1]
            owner = np.repeat(np.arange(len(present)), lengths)
            candidates = np.diff(lists.offsets)[present]
            segments = Segments(
                lists.scores[run, rows], lists.ranks[run, rows], owner, starts, lengths, candidates
            )
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                normalised = entry.function(segments)
            _refuse_not_finite(lists, normalised, rows, f"{normalization} makes")
            if (rule := absent or entry.absent) != "zero":
                left = (candidates - lengths + 1) / (2 * candidates)
                floor = np.zeros(len(lists.queries))
                floor[present] = left if rule == "rest" else np.minimum.reduceat(normalised, starts)
                filled[run] = floor[lists.query_of_row]
            values[run, rows] = filled[run, rows] = normalised
        return cls(lists, values, filled, weights)

    def sum(self, parts: Floats) -> Floats:
        """The weighted sum over runs, per row; the same in whatever order they come. parts: (runs,
        rows).
        """
        weighted = parts * self.weights[:, None]
        if len(weighted) > 2:
            weighted.sort(axis=0)
        total = weighted[0].copy()
        for part in weighted[1:]:
            total += part
        return total

    def sum_found(self, parts: Floats) -> Floats:
        """As `sum`, over the runs that have the item."""
        return self.sum(np.where(self.lists.found, parts, 0.0))


@dataclass(frozen=True)
class MethodEntry(NamedFunction):
    """A fusion method as its file declares it.

    reads: whether it uses ranks or scores.
    weighted: whether runs may have weights.
    learns: whether the function first learns from judged lists.

    The function is `(votes, *, parameters) -> (rows,) scores`, or, where it learns, `(training, *,
    parameters) -> (votes) -> (rows,) scores`.
    """

    reads: Reads
    weighted: bool
    learns: bool = False

    @property
    def adds(self) -> bool:
        """Whether scores are added, so that it matters what an absent item counts."""
        return self.reads == "scores" and self.weighted


METHODS: Catalogue[MethodEntry] = Catalogue("comparison.fusion", "fusion method")


def fusion_method(
    name: str, *, reads: Reads, source: str, weighted: bool = True, learns: bool = False
) -> Callable[[Function], Function]:
    """Registers a function under a name and returns it unchanged; see `MethodEntry` for what it
    takes and returns.
    """
    return METHODS.register(
        name, lambda function: MethodEntry(name, function, source, reads, weighted, learns)
    )


def trained_method(name: str, *, reads: Reads, source: str) -> Callable[[Function], Function]:
    """Registers a function that learns from judged lists under a name and returns it unchanged; see
    `MethodEntry`.
    """
    return fusion_method(name, reads=reads, source=source, weighted=False, learns=True)


@dataclass(frozen=True)
class Fusion:
    """A way to fuse runs: a method with all its choices.

    entry: the fusion method.
    arguments: the given parameters, by name; others have their defaults.
    normalization: the name of the normalisation; None for methods that use ranks.
    absent: the score of an item that a run lacks; None for methods that add no scores.
    weights: one for each run, 0 for a run that takes no part; None for equal weights.
    learned: the function `(votes) -> (rows,) scores` that training returned; None before training,
        and for methods that learn nothing.
    """

    entry: MethodEntry
    arguments: Mapping[str, Any]
    normalization: str | None
    absent: Absent | None
    weights: tuple[float, ...] | None = None
    learned: Callable[[Votes], Floats] | None = field(default=None, compare=False, repr=False)

    @property
    def method(self) -> str:
        """The method with its parameters, `rrf(k=10)`."""
        return self.entry.spelled(self.arguments)

    @property
    def runs(self) -> list[int] | None:
        """The places of the runs that take part, those with a weight above 0; None where all do."""
        if self.weights is None:
            return None
        return [run for run, weight in enumerate(self.weights) if weight > 0]

    def with_weights(self, weights: Sequence[float] | None, runs: int) -> "Fusion":
        """The same with other weights. Raises BadUsage where they are not one for each run, from 0
        and not all 0.
        """
        if weights is None:
            return replace(self, weights=None)
        if not self.entry.weighted:
            reason = (
                "learns from judgments" if self.entry.learns else "takes one score and adds none"
            )
            raise BadUsage(
                f"{self.entry.name} {reason}, so runs have no weights in it; leave them out."
            )
        numbers = tuple(float(weight) for weight in weights)
        if len(numbers) != runs:
            raise BadUsage(
                f"{len(numbers)} weight{'s' * (len(numbers) != 1)} for {runs} runs; give one for "
                "each run, in their order."
            )
        if not all(isfinite(number) and number >= 0 for number in numbers) or not any(numbers):
            raise BadUsage(
                f"weights {', '.join(f'{number:g}' for number in numbers)}: expected finite "
                "numbers from 0, not all 0."
            )
        return replace(self, weights=numbers)

    def learn(self, training: "Training") -> "Fusion":
        """The same after training; a method that learns nothing as it is. Raises NothingToEvaluate
        without a relevant item.
        """
        if self.entry.learns:
            return replace(self, learned=self.entry.function(training, **self.arguments))
        return self

    def votes(self, lists: RunLists) -> Votes:
        """The input of the method from the lists of all runs, or of those that take part."""
        return Votes.of(lists, self.normalization, self.absent)

    def scores(self, votes: Votes) -> Floats:
        """The fused score of each row; votes are of the runs that take part. Raises BadScore for
        one that is not finite.
        """
        if self.weights is not None:
            votes = replace(
                votes, weights=np.array([weight for weight in self.weights if weight > 0])
            )
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            # 0.0 and -0.0 are one score, and are written as one.
            fused = (
                self.learned(votes)
                if self.learned
                else self.entry.function(votes, **self.arguments)
            ) + 0.0
        _refuse_not_finite(votes.lists, fused, np.arange(len(fused)), f"{self.method} makes")
        return fused

    def describe(self) -> dict[str, Any]:
        """Its description in the rules of a result."""
        description = {"fusion": self.method}
        says = self.entry.says
        if self.normalization is not None:
            description["normalization"] = self.normalization
            says += f" Scores: {NORMALISATIONS[self.normalization].says}"
        if self.absent:
            description["absent"] = self.absent
        if self.weights is not None:
            description["weights"] = ",".join(f"{weight:g}" for weight in self.weights)
        return description | {"definition": says, "source": self.entry.source}


def parse_fusion(
    method: str = "rrf", *, normalization: str | None = None, absent: str | None = None
) -> Fusion:
    """The way to fuse that texts name: `rrf(k=10)`; scores are normalised by `min-max` by default.
    Raises UnknownName.
    """
    entry, arguments = parse_named(method, METHODS, "fusion method", "rrf(k=60)")
    if entry.reads == "ranks":
        if normalization is not None:
            raise BadUsage(
                f"{entry.name} reads ranks, which no normalisation of scores changes; leave "
                f"{normalization!r} out."
            )
        if absent is not None:
            raise BadUsage(f"{entry.name} has its own rule for absent items; leave {absent!r} out.")
        return Fusion(entry, arguments, None, None)
    normalisation = NORMALISATIONS["min-max" if normalization is None else normalization]
    if absent is not None and not entry.adds:
        raise BadUsage(f"{entry.name} looks only at runs that have the item; leave {absent!r} out.")
    rules: dict[str, Absent] = {
        rule: rule for rule in get_args(Absent) if rule != "rest" or normalisation.absent == "rest"
    }
    if absent is not None and absent not in rules:
        raise UnknownName(f"unknown rule for absent items {absent!r}; {suggest(absent, rules)}")
    usual = normalisation.absent if entry.adds else None
    return Fusion(entry, arguments, normalisation.name, rules[absent] if absent else usual)


def _refuse_not_finite(lists: RunLists, values: Floats, rows: Ints, cause: str) -> None:
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        row = int(rows[bad[0]])
        query = lists.queries[int(lists.query_of_row[row])]
        raise BadScore(
            f"query {query!r}, item {lists.items[row]!r}: {cause} {values[bad[0]]} of its "
            "scores, which are too large, or not "
            "above 0 where they have to be; choose another normalisation, or rrf."
        )
