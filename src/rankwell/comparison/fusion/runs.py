"""Runs -> one run: fused by a named method, or by one that other queries choose, so that no query
is tuned on itself: candidates, folds of queries, the measure of every candidate, and the choice.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations, pairwise
from math import comb
from typing import Annotated, Any

import numpy as np

from rankwell import __version__
from rankwell.comparison.fusion import NORMALISATIONS, Fusion, RunLists, Votes, parse_fusion
from rankwell.comparison.fusion.methods import Training, judged_rows
from rankwell.conventions import CONVENTIONS, LabelledMeasure, choose_measures
from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import fused_from_some, negative_scores
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.options import Doc, Input, Lists, NamedProgress, Option, Table, takes_options
from rankwell.data.rankings import Hits, Ranking
from rankwell.data.registry import Measure
from rankwell.data.tables import (
    Floats,
    Ints,
    Judgments,
    exact_mean,
    exact_means,
    segment_offsets,
    sort_ids,
    take_segments,
)
from rankwell.errors import BadUsage, NothingToEvaluate, first_of, flag, printable
from rankwell.evaluation.options import JudgmentData, JudgmentFileOptions, RunFileOptions, Seed
from rankwell.io import formats as io
from rankwell.store import encode_id

BLOCK = 16
"""Number of queries that are fused at once."""
_MOST_CANDIDATES = 5000
_SAME = 1e-12


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The fusion for the queries of one fold, chosen on the queries of all other folds.

    fold: number of the fold, from 1; None for the choice on all judged queries.
    n_queries: number of judged queries in the fold, or of all judged queries.
    fusion: the best candidate, trained where it learns.
    training: the mean of the measure over the queries that it was chosen on.
    held_out: the mean over the queries of the fold; None without a fold, and where none of them is
        counted.
    """

    fold: int | None
    n_queries: int
    fusion: Fusion
    training: float
    held_out: float | None


def candidates(options: "FusionTuningOptions", runs: int) -> tuple[Fusion, ...]:
    """All candidates, the most even weights first. Raises BadUsage for too many."""
    methods = options.methods
    step = options.step
    steps = round(1 / step) if 0 < step <= 1 else 0
    if not steps or abs(steps * step - 1) > 1e-9:
        raise BadUsage(
            f"step={step!r}: weights are tried in equal steps from 0 to 1; expected a "
            "fraction of 1, such as 0.1."
        )
    fusions = list[Fusion]()
    scored = [text for text in methods if parse_fusion(text).entry.reads == "scores"]
    adding = [text for text in scored if parse_fusion(text).entry.adds]
    for text in methods:
        # Choices about scores are for the methods that read them; where none does, the parser
        # reports it.
        names = (options.normalization or [None]) if text in scored or not scored else [None]
        counted = options.absent if text in adding or not adding else None
        fusions += [parse_fusion(text, normalization=name, absent=counted) for name in names]
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
    rows, offsets = take_segments(
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
    """The measure of every candidate for every judged query, and the choices by it. The values are
    (candidates, queries).

    fold: (queries,) the fold of each query.
    """

    def __init__(
        self,
        rankings: Sequence[Ranking],
        truth: Judgments,
        fusions: Sequence[Fusion],
        measure: Measure,
        options: "FusionTuningOptions",
        fold: Ints,
        progress: NamedProgress | None,
    ) -> None:
        """Measures all candidates. Raises BadUsage where a method learns and there are two
        folds.
        """
        self._rankings = rankings
        self._truth = truth
        self._fusions = fusions
        self._measure = measure
        self._options = options
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
        self._training = Training.of(rankings, truth, depth=options.depth)
        self._measure_trained(self._training, progress)

    def _measure_trained(self, training: Training, progress: NamedProgress | None) -> None:
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
            lists = RunLists.of(self._rankings, queries, depth=self._options.depth)
            yield block, _Block(lists, only_queries(self._truth, queries))

    def _measured(self, block: "_Block", fusion: Fusion) -> Floats:
        view = block.view(fusion)
        top = self._options.top
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
            n_queries=len(self._fold) if left_out is None else int(is_left_out.sum()),
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
        key = (runs, fusion.normalization, fusion.absent)
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


Row = dict[str, Any]


DepthOption = Annotated[
    int | None, Doc("Number of top items to read from each list. [default: all]")
]
TopOption = Annotated[int | None, Doc("Number of items to keep for each query. [default: all]")]


@dataclass(frozen=True, kw_only=True)
class FusionOptions(RunFileOptions, JudgmentFileOptions):
    """The fusion of runs by one method."""

    method: Annotated[
        str,
        Option(kind=list[str]),
        Doc(
            "Fusion method: rrf (k = 60, or rrf(k=10)), isr, log-isr, logn-isr, rbc(phi=0.9), "
            "borda and condorcet use ranks; combsum, combmnz, combgmnz(gamma=0.5), wmnz, mixed, "
            "combanz, combmin, combmax and combmed use scores. bayesfuse, mapfuse, posfuse, "
            "probfuse(segments=25), segfuse and slidefuse(window=5) learn from judged queries. "
            "Tuning tries several: repeat it, or separate them with commas.",
            is_common=True,
        ),
    ] = "rrf"
    weights: Annotated[
        Sequence[float] | None,
        Option(kind=str),
        Doc(
            "One weight for each run, in order, such as 0.3,0.7; a run with weight 0 is ignored. "
            "[default: the same for all]",
            is_common=True,
        ),
    ] = None
    normalization: Annotated[
        str | None,
        Doc(
            "Normalisation of each list's scores: min-max, min-max-inverted (for distances), "
            "z-score, sum, max, rank, borda, none. Tuning tries several, separated by commas. "
            "[default: min-max]"
        ),
    ] = None
    absent: Annotated[
        str | None,
        Doc(
            "Score of an item that is missing from a run, where scores are added: zero, or "
            "lowest, the score of the run's last item. [default: lowest for z-score, otherwise "
            "zero]"
        ),
    ] = None
    depth: DepthOption = None
    top: TopOption = None
    train_qrels: Annotated[
        JudgmentData,
        Doc("File of judgments to train a method on; their queries must not be fused."),
    ] = None
    train_runs: Annotated[
        Lists | None,
        Option(kind=list[str], takes_all=True),
        Input(),
        Doc("Files of the runs to train on, one for each run, in the same order."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class FusionTuningOptions(RunFileOptions, JudgmentFileOptions):
    """The choice of a fusion by judged queries."""

    measure: Annotated[str, Doc("Measure to optimise.")] = "nDCG@10"
    methods: Annotated[Sequence[str], Doc("Methods to try, as in `FusionOptions`.")] = ("rrf",)
    normalization: Annotated[Sequence[str], Doc("Normalisations to try.")] = ()
    absent: Annotated[
        str | None, Doc("Score of an item that is missing from a run. [default: as for `fuse`]")
    ] = None
    step: Annotated[float, Doc("Step size of the weights to try, which sum to 1.")] = 0.1
    folds: Annotated[int, Doc("Number of folds into which the queries are divided.")] = 5
    seed: Seed = 0
    depth: DepthOption = None
    top: TopOption = None


_Options = FusionOptions | FusionTuningOptions


@takes_options(FusionOptions)
def fuse(runs: Lists, *, options: FusionOptions, progress: NamedProgress | None = None) -> Ranking:
    """Fuses two or more runs into one.

    Items are ordered by descending score, equal scores by descending id. A query that only some
    runs have is fused from those. The order of rows does not matter, nor, without weights, does the
    order of runs.
    Raises BadUsage and UnknownName for choices that exclude each other, and for a training query
    that is fused, NothingToEvaluate where no query is in two runs, or none can be learnt from,
    BadScore and DuplicateItem for runs with such rows.

    Parameters
    ----------
    runs
        Two or more runs: a list, or a mapping name -> run. Each is anything that `read_ranking`
        takes.
    method
        Fusion method: rrf (k = 60, or rrf(k=10)), isr, log-isr, logn-isr, rbc(phi=0.9), borda and
        condorcet use ranks; combsum, combmnz, combgmnz(gamma=0.5), wmnz, mixed, combanz, combmin,
        combmax and combmed use scores. bayesfuse, mapfuse, posfuse, probfuse(segments=25), segfuse
        and slidefuse(window=5) learn from judged queries. `tune_fusion` tries several.
    weights
        One weight for each run, in order, such as `[0.3, 0.7]`; a run with weight 0 is ignored.
        [default: the same for all]
    train_qrels
        Judgments to train a method on, in any form that `read_judgments` takes; their queries must
        not be fused.
    train_runs
        The runs to train on, a list with one for each run, in the same order. Each is anything that
        `read_ranking` takes.
    normalization
        Normalisation of each list's scores: min-max, min-max-inverted (for distances), z-score,
        sum, max, rank, borda, none. `tune_fusion` tries several. [default: min-max]

    >>> import rankwell as rw
    >>> fused = rw.fuse([{"q": {"a": 3.0, "b": 1.0}}, {"q": {"b": 9.0, "c": 4.0}}])
    >>> dict(zip(fused.items, fused.scores.round(4).tolist()))
    {'b': 0.0325, 'a': 0.0164, 'c': 0.0161}
    """
    fusion = parse_fusion(
        options.method, normalization=options.normalization, absent=options.absent
    )
    fusion = fusion.with_weights(options.weights, len(runs))
    rankings_by_name = read_runs(runs, options)
    _check_cuts(options, [fusion])
    rankings = list(rankings_by_name.values())
    all_queries = _queries(rankings_by_name.values())
    if fusion.entry.learns:
        fusion = fusion.learn(_read_training(fusion.method, rankings_by_name, all_queries, options))
    else:
        training_options = {
            flag("--train-qrels"): options.train_qrels,
            flag("--train-runs"): options.train_runs,
            flag("--qrels-format"): options.qrels_format,
            flag("--qrels-columns"): options.qrels_columns,
        }
        for name, setting in training_options.items():
            if setting is not None:
                raise BadUsage(
                    f"{name} has no effect with {fusion.method}, which learns nothing; leave it "
                    "out."
                )
    return _fused(rankings, dict.fromkeys(all_queries, fusion), options, progress)


def _read_training(
    method: str,
    rankings_by_name: Mapping[str, Ranking],
    fused: Sequence[str],
    options: FusionOptions,
) -> Training:
    """The judged lists of other queries. Raises BadUsage where a training query is fused,
    NothingToEvaluate without one.
    """
    judgments, runs = flag("--train-qrels"), flag("--train-runs")
    training_runs = options.train_runs
    if options.train_qrels is None or training_runs is None:
        raise BadUsage(
            f"{method} learns from other queries; name their judgments ({judgments}) and runs "
            f"({runs}), or let it learn from the other folds (--tune QRELS, in Python tune_fusion)."
        )
    if isinstance(training_runs, str) or len(training_runs) != len(rankings_by_name):
        raise BadUsage(
            f"{1 if isinstance(training_runs, str) else len(training_runs)} in {runs} for "
            f"{len(rankings_by_name)} runs; give one for each run, in their order."
        )
    if isinstance(training_runs, Mapping):
        for name in training_runs:
            if name not in rankings_by_name:
                raise BadUsage(
                    f"{runs} has {name!r}; expected the names of the runs: "
                    f"{', '.join(rankings_by_name)}."
                )
        training_runs = [training_runs[name] for name in rankings_by_name]
    teaching = [_read_run(run, options) for run in training_runs]
    truth = io.read_judgments(
        options.train_qrels, format=options.qrels_format, qrels_columns=options.qrels_columns
    ).flat
    queries = [query for query in _queries(teaching) if query in truth.index]
    if not queries:
        raise NothingToEvaluate(
            f"no query of {runs} is judged in {judgments}, so there is nothing to learn from; "
            "are the ids of queries the same?"
        )
    if overlap := sorted(set(queries).intersection(fused)):
        raise BadUsage(
            f"the runs and {runs} share query {first_of(map(repr, overlap), 1)}, so that its own "
            "judgments would decide its fusion; take it out of one of them, or tune by folds "
            "(--tune QRELS, in Python tune_fusion)."
        )
    return Training.of(teaching, only_queries(truth, queries), depth=options.depth)


def _read_run(run: Any, options: _Options, findings: list[Finding] | None = None) -> Ranking:
    return io.read_ranking(
        run,
        format=options.run_format,
        duplicates=options.duplicates,
        columns=options.columns,
        findings=findings,
    )


def read_runs(
    runs: Lists, options: _Options, findings: list[Finding] | None = None
) -> dict[str, Ranking]:
    """The rankings by name, or by number from 1; `findings` receives the reader's.

    Raises BadUsage for fewer than two, NothingToEvaluate if none share a query.
    """
    runs_by_name = (
        dict(runs)
        if isinstance(runs, Mapping)
        else {str(number): run for number, run in enumerate(runs, 1)}
    )
    if len(runs_by_name) < 2:
        raise BadUsage(f"{len(runs_by_name) or 'no'} run given; expected two or more to fuse.")
    rankings = {name: _read_run(run, options, findings) for name, run in runs_by_name.items()}
    earlier_queries: set[str] = set()
    for ranking in rankings.values():
        if not earlier_queries.isdisjoint(ranking.queries):
            return rankings
        earlier_queries.update(ranking.queries)
    examples = ", ".join(
        f"{ranking.queries[0]!r} in {name}" for name, ranking in rankings.items() if ranking.queries
    )
    raise NothingToEvaluate(
        f"no query is in two of the runs ({examples}); are the ids of queries the same?"
    )


def fusion_findings(fusion: Fusion, rankings: Mapping[str, Ranking]) -> list[Finding]:
    """Findings on these runs and on the scores that are added: queries that a run lacks, scores
    below 0.
    """
    all_queries = _queries(rankings.values())
    partial = [
        name for name, ranking in rankings.items() if len(ranking.queries) < len(all_queries)
    ]
    findings = list[Finding]()
    if partial:
        lacking_counts = ", ".join(
            f"{name} {len(all_queries) - len(rankings[name].queries)}" for name in partial
        )
        findings.append(fused_from_some(len(all_queries), lacking_counts))
    negative = any((ranking.scores < 0).any() for ranking in rankings.values())
    below = fusion.normalization == "z-score" or (fusion.normalization == "none" and negative)
    if below and fusion.absent == "zero" and fusion.entry.adds:
        problem = f"some scores are below 0 ({fusion.normalization}), and what a run lacks counts 0"
        findings.append(negative_scores(f"{problem} in it, which is more"))
    if below and fusion.entry.name in ("combmnz", "combgmnz", "wmnz", "mixed"):
        problem = f"{fusion.entry.name} multiplies scores below 0 too ({fusion.normalization})"
        findings.append(negative_scores(f"{problem}: the more runs have such an item, the lower"))
    return findings


@dataclass(frozen=True, eq=False, kw_only=True)
class TunedFusion:
    """A fused run whose method and weights were chosen on other queries: what `tune_fusion`
    returns.

    ranking: the fused run.
    untuned: the same runs fused by the first candidate with equal weights, for comparison.
    names: names of the fused runs.
    measure: the measure that the candidates were chosen by.
    folds: query -> its fold, from 1; queries without judgments are absent.
    choices: one for each fold.
    whole: the choice on all judged queries together, for new queries.
    n_candidates: number of fusions that were tried.
    seed: seed of the folds.

    >>> import rankwell as rw
    >>> queries = [f"q{number}" for number in range(10)]
    >>> qrels = {query: {"a": 1} for query in queries}
    >>> runs = {name: {query: [name, "a"] for query in queries} for name in ("b", "c")}
    >>> tuned = rw.tune_fusion(runs, qrels, measure="RR", step=0.5)
    >>> tuned.names, sorted(set(tuned.folds.values())), tuned.n_candidates
    (('b', 'c'), [1, 2, 3, 4, 5], 3)
    """

    ranking: Ranking
    untuned: Ranking
    names: tuple[str, ...]
    measure: LabelledMeasure
    folds: Mapping[str, int]
    choices: tuple[Choice, ...]
    whole: Choice
    n_candidates: int
    seed: int

    def __repr__(self) -> str:
        return (
            f"<TunedFusion of {printable(', '.join(self.names))} in {len(self.choices)} folds by "
            f"{self.measure.measure}; read .ranking, .rows, .whole and .describe()>"
        )

    @cached_property
    def rows(self) -> list[Row]:
        """A row for each fold and one for all judged queries: the choice, and its means over the
        other folds and over this fold.
        """
        rows = list[Row]()
        for choice in (*self.choices, self.whole):
            fusion = choice.fusion
            weights = fusion.weights or (
                1 / len(self.names) if fusion.entry.weighted else None,
            ) * len(self.names)
            names = [f"weight of {name}" for name in self.names]
            rows.append(
                {
                    "fold": str(choice.fold or "all"),
                    "queries": choice.n_queries,
                    "method": fusion.method,
                    "normalization": fusion.normalization,
                    **dict(zip(names, weights, strict=True)),
                    "training": choice.training,
                    "held_out": choice.held_out,
                }
            )
        return rows

    def describe(self) -> dict[str, Any]:
        """The rules for JSON: the selection, and the definitions of the chosen methods; `rows` has
        the choice of each fold.
        """
        return {
            "tuned": "cross-validated",
            "tuned_by": str(self.measure.measure),
            "folds": len(self.choices),
            "candidates": self.n_candidates,
            "seed": self.seed,
            "definitions": {
                fusion.method: fusion.describe()
                for fusion in (choice.fusion for choice in (*self.choices, self.whole))
            },
            "version": __version__,
        }


@takes_options(FusionTuningOptions)
def tune_fusion(
    runs: Lists,
    judgments: Table | Judgments,
    *,
    options: FusionTuningOptions,
    progress: NamedProgress | None = None,
) -> TunedFusion:
    """Fuses runs with the method and weights that do best on judged queries, never on the query
    itself.

    Queries are divided into folds. Each fold is fused by the candidate that is best on the others.
    Candidates are all weights in steps of `step` that sum to 1, with every method and
    normalisation; methods without weights are tried once. Among candidates with the same mean, the
    one with the most even weights is taken, then the first. Methods that learn also do so from the
    other folds. Folds are of equal size and drawn by hashes of seed and query ids, so neither order
    nor judgments matter.
    Raises BadUsage for a measure without a mean over queries, and for fewer judged queries than
    folds, UnknownName for a method or normalisation that does not exist, NothingToEvaluate where no
    judged query is in a run.

    Parameters
    ----------
    runs
        Two or more runs, as a list or by name. Each is anything that `read_ranking` takes.
    judgments
        The judgments to tune on, as for `read_judgments`.

    >>> import rankwell as rw
    >>> queries = [f"q{number}" for number in range(10)]
    >>> qrels = {query: {"a": 1} for query in queries}
    >>> good = {query: {"a": 2.0, "b": 1.0} for query in queries}
    >>> bad = {query: {"b": 2.0, "a": 1.0} for query in queries}
    >>> tuned = rw.tune_fusion({"good": good, "bad": bad}, qrels, measure="RR", step=0.5)
    >>> rw.evaluate(qrels, tuned.ranking, "RR")["RR"]
    1.0
    """
    labelled = choose_measures([options.measure], CONVENTIONS["rankwell"])[0]
    entry = labelled.measure.entry
    if entry.view is not JudgedRankings:
        raise BadUsage(
            f"{labelled.measure} does not use plain judgments; tune by a measure that does, "
            "such as nDCG@10."
        )
    if entry.summary not in ("mean", "sum") or entry.better == "neither":
        raise BadUsage(
            f"{labelled.measure} has no mean over queries of which more or less is better; tune by "
            "another, such as nDCG@10."
        )
    rankings = read_runs(runs, options)
    tried = candidates(options, len(rankings))
    _check_cuts(options, tried)
    truth = io.read_judgments(
        judgments, format=options.qrels_format, qrels_columns=options.qrels_columns
    ).flat
    all_queries = _queries(rankings.values())
    fold_of_query = draw_folds(
        [query for query in all_queries if query in truth.index], options.folds, options.seed
    )
    judged = only_queries(truth, list(fold_of_query))
    fold = np.fromiter(fold_of_query.values(), dtype=np.int64)
    run_rankings = list(rankings.values())
    measured = Trials(run_rankings, judged, tried, labelled.measure, options, fold, progress)
    choices = {
        left_out: measured.choose(left_out) for left_out in (*range(1, options.folds + 1), None)
    }
    first = {left_out: measured.taught(tried[0], left_out) for left_out in choices}
    plans = (
        {query: fusions[fold_of_query.get(query)] for query in all_queries}
        for fusions in ({out: choice.fusion for out, choice in choices.items()}, first)
    )
    ranking, untuned = (_fused(run_rankings, plan, options, progress) for plan in plans)
    overall_choice = choices.pop(None)
    return TunedFusion(
        ranking=ranking,
        untuned=untuned,
        names=tuple(rankings),
        measure=labelled,
        folds=fold_of_query,
        choices=tuple(choices.values()),
        whole=overall_choice,
        n_candidates=len(tried),
        seed=options.seed,
    )


def _check_cuts(options: _Options, fusions: Iterable[Fusion]) -> None:
    for name in ("depth", "top"):
        number = getattr(options, name)
        if number is not None and number < 1:
            raise BadUsage(f"{name}={number}: expected a positive integer.")
    names = {fusion.normalization for fusion in fusions if fusion.normalization is not None}
    for name in sorted(names) if options.depth is not None else ():
        if NORMALISATIONS[name].lower:
            raise BadUsage(
                f"{name} is for scores of which lower ones are better, and depth keeps the "
                "highest; leave depth out."
            )


def _queries(rankings: Iterable[Ranking]) -> list[str]:
    return sort_ids(set[str]().union(*(ranking.queries for ranking in rankings)))


def _fused(
    rankings: Sequence[Ranking],
    plan: Mapping[str, Fusion],
    options: _Options,
    progress: NamedProgress | None,
) -> Ranking:
    """The ranking of each query by its own fusion; a few queries at a time, which takes little
    memory.
    """
    queries = list(plan)
    parts = list[Ranking]()
    for start in range(0, len(queries), BLOCK):
        block = queries[start : start + BLOCK]
        for fusion in {id(plan[query]): plan[query] for query in block}.values():
            taking = [rankings[run] for run in fusion.runs or range(len(rankings))]
            fused_queries = [query for query in block if plan[query] is fusion]
            lists = RunLists.of(taking, fused_queries, depth=options.depth)
            parts.append(lists.ranking(fusion.scores(fusion.votes(lists)), top=options.top))
        if progress is not None:
            progress("fuse", min(start + BLOCK, len(queries)), len(queries))
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    items = list(chain.from_iterable(part.items for part in parts))
    scores = np.concatenate([part.scores for part in parts])
    fused_ranking = Ranking(
        tuple(chain.from_iterable(part.queries for part in parts)),
        segment_offsets(lengths),
        items,
        scores,
    )
    if fused_ranking.queries == tuple(queries):
        return fused_ranking
    rows, offsets = take_segments(
        fused_ranking.offsets, np.array([fused_ranking.index[query] for query in queries])
    )
    return Ranking(tuple(queries), offsets, [items[row] for row in rows.tolist()], scores[rows])
