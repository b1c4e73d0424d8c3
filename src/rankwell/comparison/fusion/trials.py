"""Tuning of a fusion: candidates, folds of queries, the measure of every candidate for every query,
and the choice.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from math import comb
from typing import Any

import numpy as np

from rankwell.comparison.fusion import Fusion, RunLists, Votes, parse_fusion
from rankwell.comparison.fusion.methods import Training, judged_rows
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.rankings import Hits, Ranking
from rankwell.data.registry import Measure
from rankwell.data.tables import Floats, Ints, Judgments, exact_mean, exact_means, gather
from rankwell.errors import BadUsage, NothingToEvaluate
from rankwell.store import encode_id

Progress = Callable[[str, int, int], None]
BLOCK = 16
"""Number of queries that are fused at once."""
_MOST_CANDIDATES = 5000
_SAME = 1e-12


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The choice of some queries. fold: the one that was left out, None for none; queries: their
    number.

    training, held_out: the mean of the measure over the queries that chose, and over those of the
    fold; None where it has none.
    """

    fold: int | None
    queries: int
    fusion: Fusion
    training: float
    held_out: float | None


def candidates(
    methods: Sequence[str], normalise: Sequence[str], absent: str | None, runs: int, step: float
) -> tuple[Fusion, ...]:
    """All candidates, the most even weights first. Raises BadUsage for too many."""
    steps = round(1 / step) if 0 < step <= 1 else 0
    if not steps or abs(steps * step - 1) > 1e-9:
        raise BadUsage(
            f"step={step!r}: weights are tried in equal steps from 0 to 1; expected a "
            "fraction of 1, such as 0.1."
        )
    fusions: list[Fusion] = []
    scored = [text for text in methods if parse_fusion(text).entry.reads == "scores"]
    adding = [text for text in scored if parse_fusion(text).entry.adds]
    for text in methods:
        # Choices about scores are for the methods that read them; where none does, the parser
        # reports it.
        names = (normalise or [None]) if text in scored or not scored else [None]
        counted = absent if text in adding or not adding else None
        fusions += [parse_fusion(text, normalise=name, absent=counted) for name in names]
    weighted = [fusion for fusion in fusions if fusion.entry.weighted]
    number = len(fusions) + len(weighted) * comb(steps + runs - 1, runs - 1)
    if number > _MOST_CANDIDATES:
        raise BadUsage(
            f"{number} candidates are more than {_MOST_CANDIDATES}; name fewer methods and "
            f"normalisations, or a wider step than {step:g}."
        )
    # All weights in equal steps from 0 that sum to 1; those with more for the earlier runs first.
    edges = [
        (-1, *bars, steps + runs - 1) for bars in combinations(range(steps + runs - 1), runs - 1)
    ][::-1]
    all_weights = [
        tuple((right - left - 1) / steps for left, right in pairwise(bounds)) for bounds in edges
    ]
    uneven = [weights for weights in all_weights if len(set(weights)) > 1]
    uneven.sort(key=lambda weights: round(sum(weight * weight for weight in weights), 9))
    return (
        *fusions,
        *(fusion.with_weights(weights, runs) for weights in uneven for fusion in weighted),
    )


def draw_folds(queries: Sequence[str], folds: int, seed: int) -> dict[str, int]:
    """The fold of each query, from 1. Raises NothingToEvaluate without a query, BadUsage for fewer
    queries than folds.
    """
    if not queries:
        raise NothingToEvaluate(
            "no query of the runs is judged, so there is nothing to tune by; are the ids the same?"
        )
    if not 2 <= folds <= len(queries):
        raise BadUsage(
            f"{folds} folds for {len(queries)} judged queries; expected at least 2 folds with "
            "a query in each."
        )
    key = f"{seed}:".encode()
    drawn = sorted(queries, key=lambda query: hashlib.sha256(key + encode_id(query)).digest())
    fold_of_query = {query: number % folds + 1 for number, query in enumerate(drawn)}
    return {query: fold_of_query[query] for query in queries}


def only_queries(judgments: Judgments, queries: Sequence[str]) -> Judgments:
    """The judgments of some of their queries, in the order of those. Raises BadUsage where items
    are excluded (junk).
    """
    if judgments.junk is not None and judgments.junk.any():
        raise BadUsage(
            "judgments that exclude items of a query (junk) cannot tune a fusion; take those "
            "items out of the runs."
        )
    rows, offsets = gather(
        judgments.offsets, np.array([judgments.index[query] for query in queries], dtype=np.int64)
    )
    row_numbers: list[int] = rows.tolist()
    return Judgments(
        tuple(queries),
        offsets,
        [judgments.items[row] for row in row_numbers],
        judgments.grades[rows],
    )


class Trials:
    """The measure of every candidate for every judged query, (candidates, queries), and the choices
    by it. fold: (queries,) the fold of each query.
    """

    def __init__(
        self,
        rankings: Sequence[Ranking],
        truth: Judgments,
        fusions: Sequence[Fusion],
        measure: Measure,
        cuts: tuple[int | None, int | None],
        fold: Ints,
        progress: Progress | None,
    ) -> None:
        """Measures all candidates. Raises BadUsage where a method learns and there are two
        folds.
        """
        self._rankings = rankings
        self._truth = truth
        self._fusions = fusions
        self._measure = measure
        self._cuts = cuts
        self._fold = fold
        self._learning = [row for row, fusion in enumerate(fusions) if fusion.entry.learns]
        # Candidates that learn nothing have the same values whichever fold is left out.
        self._values = np.full((len(fusions), len(fold)), np.nan)
        fixed = [row for row in range(len(fusions)) if row not in self._learning]
        for columns, block in self._blocks(np.arange(len(fold))) if fixed else ():
            for row in fixed:
                self._values[row, columns] = self._measured(block, fusions[row])
            if progress is not None:
                progress("tune", int(columns[-1]) + 1, len(fold))
        self._training: Training | None = None
        self._held_out: dict[int | None, Floats] = {}
        if not self._learning:
            return
        if int(fold.max()) < 3:
            raise BadUsage(
                f"2 folds: {fusions[self._learning[0]].method} learns from folds other than its "
                "own and the one left out; expected at least 3."
            )
        self._training = Training.of(rankings, truth, depth=cuts[0])
        self._measure_trained(self._training, progress)

    def _measure_trained(self, training: Training, progress: Progress | None) -> None:
        """Measures trained candidates, by the fold that is left out: None and each fold.

        A query is fused by what the queries teach that are neither in its own fold nor in the one
        left out, so that no choice and no measured value depends on judgments that it must not see.
        """
        fold = self._fold
        learning = [self._fusions[row] for row in self._learning]
        folds = range(1, int(fold.max()) + 1)
        self._held_out = {
            left_out: np.empty((len(learning), len(fold))) for left_out in (None, *folds)
        }
        for query_fold in folds:
            own_columns = np.flatnonzero(fold == query_fold)
            learned = {
                left_out: [
                    fusion.learn(training.only((fold != query_fold) & (fold != left_out)))
                    for fusion in learning
                ]
                for left_out in folds
            }
            for columns, block in self._blocks(own_columns):
                for left_out, trained in learned.items():
                    for row, fusion in enumerate(trained):
                        values = self._measured(block, fusion)
                        self._held_out[left_out][row, columns] = values
            self._held_out[None][:, own_columns] = self._held_out[query_fold][:, own_columns]
            if progress is not None:
                progress("train", query_fold, len(folds))

    def _blocks(self, columns: Ints) -> "Iterator[tuple[Ints, _Block]]":
        """Some queries at a time."""
        for start in range(0, len(columns), BLOCK):
            block = columns[start : start + BLOCK]
            queries = [self._truth.queries[column] for column in block.tolist()]
            lists = RunLists.of(self._rankings, queries, depth=self._cuts[0])
            yield block, _Block(lists, only_queries(self._truth, queries))

    def _measured(self, block: "_Block", fusion: Fusion) -> Floats:
        view, (_, top) = block.view(fusion), self._cuts
        return self._measure(view if top is None else view.cut(top))

    def taught(self, fusion: Fusion, left_out: int | None) -> Fusion:
        """The fusion after learning from the queries outside a fold, from all of them where none is
        left out.
        """
        if self._training is None:
            return fusion
        return fusion.learn(
            self._training if left_out is None else self._training.only(self._fold != left_out)
        )

    def choose(self, left_out: int | None) -> Choice:
        """The best candidate over the queries outside a fold. Raises NothingToEvaluate where none
        of them counts.
        """
        values = self._values
        if self._learning:
            values = values.copy()
            values[self._learning] = self._held_out[left_out]
        counted = ~np.isnan(values).any(axis=0)
        is_left_out = self._fold == (left_out or 0)
        outside, inside = counted & ~is_left_out, counted & is_left_out
        if not outside.any():
            raise NothingToEvaluate(
                f"{self._measure} counts no query to tune by; name another measure."
            )
        means = exact_means(values[:, outside].T)
        merit = -means if self._measure.entry.better == "lower" else means
        # Means that differ by rounding alone are the same, or the order of sums would decide.
        best = int(np.flatnonzero(merit >= merit.max() - _SAME * max(1.0, abs(merit.max())))[0])
        return Choice(
            fold=left_out,
            queries=len(self._fold) if left_out is None else int(is_left_out.sum()),
            fusion=self.taught(self._fusions[best], left_out),
            training=float(means[best]),
            held_out=exact_mean(values[best, inside]) if inside.any() else None,
        )


class _Block:
    """Some queries for many candidates, which share intermediate results."""

    def __init__(self, lists: RunLists, truth: Judgments) -> None:
        self._lists, self._truth = lists, truth
        self._judged: dict[tuple[int, ...], tuple[RunLists, Ints, JudgedRankings]] = {}
        self._votes: dict[tuple[Any, ...], Votes] = {}

    def view(self, fusion: Fusion) -> JudgedRankings:
        """The judged ranks of the fused runs."""
        runs = tuple(fusion.runs or range(len(self._lists.ranks)))
        if runs not in self._judged:
            self._judged[runs] = self._find(self._lists.only(runs))
        lists, rows, frame = self._judged[runs]
        key = (runs, fusion.normalise, fusion.absent)
        if key not in self._votes:
            self._votes[key] = fusion.votes(lists)
        scores = fusion.scores(self._votes[key])
        above = lists.places(scores)[rows]
        order = np.lexsort((above, frame.query_of_row))
        items, grades = frame.items[order], frame.grades[order]
        return replace(
            frame, items=items, grades=grades, scores=scores[rows[order]], above=above[order]
        )

    def _find(self, lists: RunLists) -> tuple[RunLists, Ints, JudgedRankings]:
        """The lists, the places of judged items in them, ascending, and a view of these whose order
        is still open.
        """
        rows, judged = judged_rows(lists, self._truth)
        retrieved = np.diff(lists.offsets)
        nothing = np.zeros(len(rows), dtype=np.int64)
        counts = (nothing.astype(np.float64), np.arange(len(rows)), nothing + 1, nothing)
        hits = Hits(lists.query_of_row[rows], judged, *counts, retrieved, retrieved > 0)
        return lists, rows, JudgedRankings.join(self._truth, hits)
