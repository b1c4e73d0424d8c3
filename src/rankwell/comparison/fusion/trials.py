"""Tuning of a fusion: candidates, folds of queries, the measure of every candidate for every query,
and the choice.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from math import comb
from typing import Any

import numpy as np

from rankwell.comparison.fusion import Fusion, RunLists, Votes, parse_fusion
from rankwell.comparison.fusion.trained import Training
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


@dataclass(frozen=True, eq=False)
class CandidateValues:
    """The measure of every candidate for every judged query, by the fold that is left out.

    plain: (fusions, queries) of candidates that learn nothing, the same whichever fold is left out.
    trained: the places of the others. held_out: left-out fold -> (trained, queries) their values.
    training: what they learn from, None where none learns.
    """

    plain: Floats
    trained: tuple[int, ...]
    held_out: dict[int | None, Floats]
    training: Training | None
    fold: Ints

    @classmethod
    def of(
        cls,
        rankings: Sequence[Ranking],
        truth: Judgments,
        fusions: Sequence[Fusion],
        measure: Measure,
        cuts: tuple[int | None, int | None],
        fold: Ints,
        progress: Progress | None,
    ) -> "CandidateValues":
        """Measures all candidates. Raises BadUsage where a method learns and there are two
        folds.
        """
        trained = tuple(index for index, fusion in enumerate(fusions) if fusion.entry.learns)
        fixed = [index for index in range(len(fusions)) if index not in trained]
        plain = np.full((len(fusions), len(fold)), np.nan)
        if fixed:
            plain[fixed] = measure_all(
                rankings, truth, [fusions[index] for index in fixed], measure, cuts, progress
            )
        if not trained:
            return cls(plain, trained, {}, None, fold)
        if int(fold.max()) < 3:
            name = fusions[trained[0]].method
            raise BadUsage(
                f"2 folds: {name} learns from folds other than its own and the one left out; "
                "expected at least 3."
            )
        training = Training.of(rankings, truth, depth=cuts[0])
        taught = [fusions[index] for index in trained]
        return cls(
            plain,
            trained,
            measure_trained(rankings, truth, taught, measure, cuts, training, fold, progress),
            training,
            fold,
        )

    def without(self, left_out: int | None) -> Floats:
        """The values that may choose for a fold, and for new queries: (fusions, queries)."""
        if not self.trained:
            return self.plain
        values = self.plain.copy()
        values[list(self.trained)] = self.held_out[left_out]
        return values

    def taught(self, fusion: Fusion, left_out: int | None) -> Fusion:
        """The fusion after learning from the queries outside a fold, from all of them where none is
        left out.
        """
        if self.training is None:
            return fusion
        return fusion.learn(
            self.training if left_out is None else self.training.only(self.fold != left_out)
        )


def measure_all(
    rankings: Sequence[Ranking],
    truth: Judgments,
    fusions: Sequence[Fusion],
    measure: Measure,
    cuts: tuple[int | None, int | None],
    progress: Progress | None,
) -> Floats:
    """The measure of every candidate for every judged query: (fusions, queries)."""
    depth, top = cuts
    values = np.empty((len(fusions), len(truth.queries)))
    for start in range(0, len(truth.queries), BLOCK):
        queries = truth.queries[start : start + BLOCK]
        block = _Block(RunLists.of(rankings, queries, depth=depth), only_queries(truth, queries))
        for row, fusion in enumerate(fusions):
            view = block.view(fusion)
            values[row, start : start + len(queries)] = measure(
                view if top is None else view.cut(top)
            )
        if progress is not None:
            progress("tune", start + len(queries), len(truth.queries))
    return values


def measure_trained(
    rankings: Sequence[Ranking],
    truth: Judgments,
    fusions: Sequence[Fusion],
    measure: Measure,
    cuts: tuple[int | None, int | None],
    training: Training,
    fold: Ints,
    progress: Progress | None,
) -> dict[int | None, Floats]:
    """The measure of trained candidates, (fusions, queries), by the fold that is left out: None and
    each fold.

    A query is fused by what the queries teach that are neither in its own fold nor in the one left
    out, so that no choice and no measured value depends on judgments that it must not see.
    """
    depth, top = cuts
    folds = range(1, int(fold.max()) + 1)
    values_by_fold: dict[int | None, Floats] = {
        left_out: np.empty((len(fusions), len(fold))) for left_out in (None, *folds)
    }
    for query_fold in folds:
        columns = np.flatnonzero(fold == query_fold)
        learned = {
            out: [
                fusion.learn(training.only((fold != query_fold) & (fold != out)))
                for fusion in fusions
            ]
            for out in folds
        }
        for start in range(0, len(columns), BLOCK):
            block_columns = columns[start : start + BLOCK]
            queries = [truth.queries[column] for column in block_columns.tolist()]
            block = _Block(
                RunLists.of(rankings, queries, depth=depth), only_queries(truth, queries)
            )
            for left_out, trained in learned.items():
                for row, fusion in enumerate(trained):
                    view = block.view(fusion)
                    values_by_fold[left_out][row, block_columns] = measure(
                        view if top is None else view.cut(top)
                    )
        values_by_fold[None][:, columns] = values_by_fold[query_fold][:, columns]
        if progress is not None:
            progress("train", query_fold, len(folds))
    return values_by_fold


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
        rows, judged = list[int](), list[int]()
        for (start, stop), (first, last) in zip(
            *(pairwise(table.offsets.tolist()) for table in (lists, self._truth)), strict=True
        ):
            graded = {self._truth.items[row]: row for row in range(first, last)}
            judged_rows = [row for row in range(start, stop) if lists.items[row] in graded]
            rows += judged_rows
            judged += [graded[lists.items[row]] for row in judged_rows]
        positions, retrieved = np.array(rows, dtype=np.int64), np.diff(lists.offsets)
        nothing = np.zeros(len(rows), dtype=np.int64)
        counts = (nothing.astype(np.float64), np.arange(len(rows)), nothing + 1, nothing)
        hits = Hits(
            lists.query_of_row[positions],
            np.array(judged, dtype=np.int64),
            *counts,
            retrieved,
            retrieved > 0,
        )
        return lists, positions, JudgedRankings.join(self._truth, hits)


def choose(
    fusions: Sequence[Fusion], values: Floats, fold: Ints, left_out: int | None, measure: Measure
) -> Choice:
    """The best candidate over the queries outside a fold. Raises NothingToEvaluate where none of
    them counts.
    """
    counted = ~np.isnan(values).any(axis=0)
    outside = counted if left_out is None else counted & (fold != left_out)
    inside = (
        counted & (fold == left_out)
        if left_out is not None
        else np.zeros(len(fold), dtype=np.bool_)
    )
    if not outside.any():
        raise NothingToEvaluate(f"{measure} counts no query to tune by; name another measure.")
    means = exact_means(values[:, outside].T)
    merit = -means if measure.entry.better == "lower" else means
    # Means that differ by rounding alone are the same, or the order of sums would decide.
    best = int(np.flatnonzero(merit >= merit.max() - _SAME * max(1.0, abs(merit.max())))[0])
    return Choice(
        fold=left_out,
        queries=len(fold) if left_out is None else int((fold == left_out).sum()),
        fusion=fusions[best],
        training=float(means[best]),
        held_out=exact_mean(values[best, inside]) if inside.any() else None,
    )
