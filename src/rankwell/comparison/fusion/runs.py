"""Runs -> one run: fused by a named method, or by one that other queries choose, so that no query
is tuned on itself.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Annotated, Any

import numpy as np

from rankwell import __version__
from rankwell.comparison.fusion import NORMALISATIONS, Fusion, RunLists, parse_fusion, trials
from rankwell.comparison.fusion.methods import Training
from rankwell.comparison.fusion.trials import BLOCK, Choice, Progress
from rankwell.conventions import CONVENTIONS, LabelledMeasure, choose_measures
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.options import Doc, Input, InputData, Option, takes_options
from rankwell.data.rankings import Ranking
from rankwell.data.tables import gather, segment_offsets, sort_ids
from rankwell.errors import BadUsage, NothingToEvaluate, flag, printable
from rankwell.evaluation.options import JudgmentFileOptions, RunFileOptions
from rankwell.io import formats as io

__all__ = [
    "Choice",
    "FusionOptions",
    "FusionTuningOptions",
    "TunedFusion",
    "fuse",
    "fusion_notes",
    "read_runs",
    "tune_fusion",
]

Runs = Sequence[Any] | Mapping[str, Any]
Row = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class FusionOptions(RunFileOptions, JudgmentFileOptions):
    """The fusion of runs by one method."""

    method: Annotated[
        str,
        Option(kind=list[str]),
        Doc(
            "rrf (k = 60, or rrf(k=10)), isr, log-isr, logn-isr, rbc(phi=0.9), borda and "
            "condorcet read ranks; combsum, combmnz, combgmnz(gamma=0.5), wmnz, mixed, "
            "combanz, combmin, combmax and combmed read scores. bayesfuse, mapfuse, "
            "posfuse, probfuse(segments=25), segfuse and slidefuse(window=5) learn from "
            "judged queries. With --tune several may be tried: repeat it, or separate "
            "them by blanks."
        ),
    ] = "rrf"
    weights: Annotated[
        Sequence[float] | None,
        Option(kind=str),
        Doc(
            "One for each run, in their order, such as 0.3,0.7; a run with weight 0 takes no part."
        ),
    ] = None
    normalise: Annotated[
        str | None,
        Option(("--normalise", "--normalize")),
        Doc(
            "Normalisation of each list's scores: min-max (the default), min-max-inverted "
            "(for distances), z-score, sum, max, rank, borda, none. With --tune several "
            "may be tried, separated by commas."
        ),
    ] = None
    absent: Annotated[
        str | None,
        Doc(
            "Score of an item in a run that lacks it, where scores are added: zero, or "
            "lowest, that of the run's last item. The default is lowest for z-score and "
            "zero for all others."
        ),
    ] = None
    depth: Annotated[
        int | None, Doc("Number of first items of each list that are read; all by default.")
    ] = None
    top: Annotated[
        int | None, Doc("Number of items of each query that are kept; all by default.")
    ] = None
    train_judgments: Annotated[
        InputData,
        Doc("File of judgments that a method learns from; their queries may not be fused."),
    ] = None
    train_runs: Annotated[
        Runs | None,
        Option(kind=list[str], takes_all=True),
        Input(),
        Doc("Files of the runs that it learns from, one for each run, in their order."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class FusionTuningOptions(RunFileOptions, JudgmentFileOptions):
    """The choice of a fusion by judged queries."""

    measure: Annotated[str, Doc("Measure to tune by.")] = "nDCG@10"
    methods: Annotated[Sequence[str], Doc("Methods to try, as in `FusionOptions`.")] = ("rrf",)
    normalise: Annotated[Sequence[str], Doc("Normalisations to try.")] = ()
    absent: Annotated[str | None, Doc("Score of an item in a run that lacks it.")] = None
    step: Annotated[float, Doc("Weights are tried in steps of this that sum to 1.")] = 0.1
    folds: Annotated[int, Doc("Number of parts into which the queries are drawn.")] = 5
    seed: Annotated[int, Doc("Seed of the folds.")] = 0
    depth: Annotated[
        int | None, Doc("Number of first items of each list that are read; all by default.")
    ] = None
    top: Annotated[
        int | None, Doc("Number of items of each query that are kept; all by default.")
    ] = None


@takes_options(FusionOptions)
def fuse(runs: Runs, *, options: FusionOptions, progress: Progress | None = None) -> Ranking:
    """One ranking of all items that any run has for a query, by falling score, equal scores by
    falling bytes of the item's id.

    runs: two or more, each whatever `read_ranking` takes; or by name. options: the fields of
    `FusionOptions`, as keywords or as one. A query that only some runs have is fused from those.
    The result depends neither on the order of rows nor, without weights, on that of runs. A method
    that learns takes `train_judgments` and `train_runs` of other queries. Raises BadUsage and
    UnknownName for choices that exclude each other and for a training query that is fused,
    NothingToEvaluate where no query is in two runs or none teaches anything, BadScore and
    DuplicateItem as readers do.

    >>> fused = fuse([{"q": {"a": 3.0, "b": 1.0}}, {"q": {"b": 9.0, "c": 4.0}}])
    >>> dict(zip(fused.items, fused.scores.round(4).tolist()))
    {'b': 0.0325, 'a': 0.0164, 'c': 0.0161}
    """
    fusion = parse_fusion(options.method, normalise=options.normalise, absent=options.absent)
    fusion = fusion.with_weights(options.weights, len(runs))
    rankings_by_name = read_runs(runs, options)
    _check_cuts(options.depth, options.top, [fusion])
    rankings = list(rankings_by_name.values())
    all_queries = _queries(rankings_by_name.values())
    if fusion.entry.learns:
        fusion = fusion.learn(_read_training(fusion.method, rankings_by_name, all_queries, options))
    else:
        training_options = {
            flag("--train-judgments"): options.train_judgments,
            flag("--train-runs"): options.train_runs,
            flag("--qrels-format", name="judgments_format"): options.judgments_format,
            flag("--qrels-columns"): options.qrels_columns,
        }
        if unused := next(
            (
                option_name
                for option_name, setting in training_options.items()
                if setting is not None
            ),
            None,
        ):
            raise BadUsage(
                f"{unused} has no effect with {fusion.method}, which learns nothing; leave it out."
            )
    return _fused(
        rankings, dict.fromkeys(all_queries, fusion), options.depth, options.top, progress
    )


def _read_training(
    method: str,
    rankings_by_name: Mapping[str, Ranking],
    fused: Sequence[str],
    options: FusionOptions,
) -> Training:
    """The judged lists of other queries. Raises BadUsage where a training query is fused,
    NothingToEvaluate without one.
    """
    judgments, runs = flag("--train-judgments"), flag("--train-runs")
    training_runs = options.train_runs
    if options.train_judgments is None or training_runs is None:
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
        if unknown := next((name for name in training_runs if name not in rankings_by_name), None):
            raise BadUsage(
                f"{runs} has {unknown!r}; expected the names of the runs: "
                f"{', '.join(rankings_by_name)}."
            )
        training_runs = [training_runs[name] for name in rankings_by_name]
    teaching = [_read_run(run, options) for run in training_runs]
    truth = io.read_judgments(
        options.train_judgments,
        format=options.judgments_format,
        qrels_columns=options.qrels_columns,
    ).flat
    queries = [query for query in _queries(teaching) if query in truth.index]
    if not queries:
        raise NothingToEvaluate(
            f"no query of {runs} is judged in {judgments}, so there is nothing to learn from; "
            "same ids?"
        )
    if overlap := sorted(set(queries).intersection(fused)):
        more = f" and {len(overlap) - 1} more" if len(overlap) > 1 else ""
        raise BadUsage(
            f"query {overlap[0]!r}{more} would be fused by what its own judgments teach; take it "
            f"out of the runs or of {runs}, or tune by folds (--tune QRELS, in Python tune_fusion)."
        )
    return Training.of(teaching, trials.only_queries(truth, queries), depth=options.depth)


def _read_run(
    run: Any, options: FusionOptions | FusionTuningOptions, notes: list[str] | None = None
) -> Ranking:
    return io.read_ranking(
        run,
        format=options.run_format,
        duplicates=options.duplicates,
        columns=options.columns,
        notes=notes,
    )


def read_runs(
    runs: Runs, options: FusionOptions | FusionTuningOptions, notes: list[str] | None = None
) -> dict[str, Ranking]:
    """The rankings by name, or by number from 1; `notes` receives the reader's.

    Raises BadUsage for fewer than two, NothingToEvaluate if none share a query.
    """
    runs_by_name = (
        dict(runs)
        if isinstance(runs, Mapping)
        else {str(number): run for number, run in enumerate(runs, 1)}
    )
    if len(runs_by_name) < 2:
        raise BadUsage(f"{len(runs_by_name) or 'no'} run given; expected two or more to fuse.")
    rankings = {name: _read_run(run, options, notes) for name, run in runs_by_name.items()}
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


def fusion_notes(fusion: Fusion, rankings: Mapping[str, Ranking]) -> list[str]:
    """Notes on these runs and on the scores that are added: queries that a run lacks, scores below
    0.
    """
    all_queries = _queries(rankings.values())
    partial = [
        name for name, ranking in rankings.items() if len(ranking.queries) < len(all_queries)
    ]
    notes: list[str] = []
    if partial:
        lacking_counts = ", ".join(
            f"{name} {len(all_queries) - len(rankings[name].queries)}" for name in partial
        )
        notes.append(
            f"{len(all_queries)} queries, of which some runs lack some ({lacking_counts}); those "
            "are fused from the other runs"
        )
    negative = any((ranking.scores < 0).any() for ranking in rankings.values())
    below = fusion.normalise == "z-score" or (fusion.normalise == "none" and negative)
    if below and fusion.absent == "zero" and fusion.entry.adds:
        notes.append(
            f"some scores are below 0 ({fusion.normalise}), and what a run lacks counts 0 in it, "
            f"which is more: see {flag('--absent')}"
        )
    if below and fusion.entry.name in ("combmnz", "combgmnz", "wmnz", "mixed"):
        notes.append(
            f"{fusion.entry.name} multiplies scores below 0 too ({fusion.normalise}): the "
            "more runs have such an item, the lower"
        )
    return notes


@dataclass(frozen=True, eq=False, kw_only=True)
class TunedFusion:
    """A run in which every judged query is fused as the queries of other folds chose.

    ranking: the run. untuned: the same runs fused by the first candidate, with equal weights; one
    that learns does so from the other folds. names: of the runs.
    folds: query -> the fold, from 1, that it is in; queries without judgments are in none. choices:
    one for each fold.
    whole: the choice of all judged queries together, for unjudged queries and for new ones.
    """

    ranking: Ranking
    untuned: Ranking
    names: tuple[str, ...]
    measure: LabelledMeasure
    folds: Mapping[str, int]
    choices: tuple[Choice, ...]
    whole: Choice
    candidates: int
    seed: int

    def __repr__(self) -> str:
        folds = f"{len(self.choices)} folds by {self.measure.measure}"
        return (
            f"<TunedFusion of {printable(', '.join(self.names))} in {folds}; read .ranking, "
            ".rows, .whole and .describe()>"
        )

    @cached_property
    def rows(self) -> list[Row]:
        """A row for each fold and one for all judged queries: the choice, and its means over other
        folds and over this one.
        """
        rows: list[Row] = []
        for choice in (*self.choices, self.whole):
            fusion = choice.fusion
            weights = fusion.weights or (
                1 / len(self.names) if fusion.entry.weighted else None,
            ) * len(self.names)
            row = {
                "fold": str(choice.fold or "all"),
                "queries": choice.queries,
                "method": fusion.method,
            }
            row |= {"normalise": fusion.normalise}
            row |= {
                f"weight of {name}": weight
                for name, weight in zip(self.names, weights, strict=True)
            }
            rows.append(row | {"training": choice.training, "held_out": choice.held_out})
        return rows

    def describe(self) -> dict[str, Any]:
        """The rules for JSON: the selection, and the definitions of the chosen methods; `rows` has
        the choice of each fold.
        """
        return {
            "tuned": "out of fold",
            "tuned_by": str(self.measure.measure),
            "folds": len(self.choices),
            "candidates": self.candidates,
            "seed": self.seed,
            "definitions": {
                fusion.method: fusion.describe()
                for fusion in (choice.fusion for choice in (*self.choices, self.whole))
            },
            "version": __version__,
        }


@takes_options(FusionTuningOptions)
def tune_fusion(
    runs: Runs, judgments: Any, *, options: FusionTuningOptions, progress: Progress | None = None
) -> TunedFusion:
    """The runs fused so that no query is tuned on itself: each by the best candidate over the
    queries of the other folds.

    Candidates are all weights in steps of `step` that sum to 1, and equal ones, with every given
    method and normalisation; methods without weights once. Of candidates with the same mean, the
    one with the most even weights is taken, then the first. Methods that learn do so for each fold
    from the queries of the others, and are tried on queries that they did not learn from. Folds are
    of equal size, drawn by hashes of seed and query ids: no order of the input shows, and no
    judgment.
    The means are over judged queries that are in a run. options: the fields of
    `FusionTuningOptions`, as keywords or as one. Raises BadUsage for measures without a mean of
    single queries and where there are fewer such queries than folds.
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
    cuts = options.depth, options.top
    rankings = read_runs(runs, options)
    tried = trials.candidates(
        options.methods, options.normalise, options.absent, len(rankings), options.step
    )
    _check_cuts(*cuts, tried)
    truth = io.read_judgments(
        judgments, format=options.judgments_format, qrels_columns=options.qrels_columns
    ).flat
    all_queries = _queries(rankings.values())
    fold_of_query = trials.draw_folds(
        [query for query in all_queries if query in truth.index], options.folds, options.seed
    )
    judged = trials.only_queries(truth, list(fold_of_query))
    fold = np.fromiter(fold_of_query.values(), dtype=np.int64)
    run_rankings = list(rankings.values())
    measured = trials.Trials(run_rankings, judged, tried, labelled.measure, cuts, fold, progress)
    choices = {
        left_out: measured.choose(left_out) for left_out in (*range(1, options.folds + 1), None)
    }
    first = {left_out: measured.taught(tried[0], left_out) for left_out in choices}
    plans = (
        {query: fusions[fold_of_query.get(query)] for query in all_queries}
        for fusions in ({out: choice.fusion for out, choice in choices.items()}, first)
    )
    ranking, untuned = (_fused(run_rankings, plan, *cuts, progress) for plan in plans)
    overall_choice = choices.pop(None)
    return TunedFusion(
        ranking=ranking,
        untuned=untuned,
        names=tuple(rankings),
        measure=labelled,
        folds=fold_of_query,
        choices=tuple(choices.values()),
        whole=overall_choice,
        candidates=len(tried),
        seed=options.seed,
    )


def _check_cuts(depth: int | None, top: int | None, fusions: Iterable[Fusion]) -> None:
    for name, number in (("depth", depth), ("top", top)):
        if number is not None and number < 1:
            raise BadUsage(f"{name}={number}: expected a positive integer.")
    names = {fusion.normalise for fusion in fusions if fusion.normalise is not None}
    lower = next((name for name in sorted(names) if NORMALISATIONS[name].lower), None)
    if depth is not None and lower is not None:
        raise BadUsage(
            f"{lower} is for scores of which lower ones are better, and depth keeps the "
            "highest; leave depth out."
        )


def _queries(rankings: Iterable[Ranking]) -> list[str]:
    return sort_ids(set[str]().union(*(ranking.queries for ranking in rankings)))


def _fused(
    rankings: Sequence[Ranking],
    plan: Mapping[str, Fusion],
    depth: int | None,
    top: int | None,
    progress: Progress | None,
) -> Ranking:
    """The ranking of each query by its own fusion; a few queries at a time, which takes little
    memory.
    """
    queries = list(plan)
    parts: list[Ranking] = []
    for start in range(0, len(queries), BLOCK):
        block = queries[start : start + BLOCK]
        for fusion in {id(plan[query]): plan[query] for query in block}.values():
            taking = [rankings[run] for run in fusion.runs or range(len(rankings))]
            lists = RunLists.of(
                taking, [query for query in block if plan[query] is fusion], depth=depth
            )
            parts.append(lists.ranking(fusion.scores(fusion.votes(lists)), top=top))
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
    rows, offsets = gather(
        fused_ranking.offsets, np.array([fused_ranking.index[query] for query in queries])
    )
    return Ranking(tuple(queries), offsets, [items[row] for row in rows.tolist()], scores[rows])
