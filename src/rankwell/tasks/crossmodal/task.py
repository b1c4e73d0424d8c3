"""Text-video retrieval from a matrix of scores or from embeddings: the command; the ranks of the
positives in both directions, aggregates of recalls, and what a person reads first.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress
from typing import Annotated, Any

import numpy as np

from rankwell.conventions import (
    Convention,
    LabelledMeasure,
    check_views,
    choose_measures,
    find_convention,
)
from rankwell.data.findings import Finding
from rankwell.data.frames import Heading
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.options import (
    Doc,
    Input,
    PartOptions,
    PartOutcome,
    Table,
    Vectors,
    cutoffs,
    takes_options,
)
from rankwell.data.registry import Measure, at_each_cutoff, measure_names, parse_measure, suggest
from rankwell.data.tables import (
    TIE_RULES,
    Floats,
    Judgments,
    Values,
    exact_means,
    format_value,
    sort_ids,
)
from rankwell.errors import BadScore, BadUsage, UnknownName, flag
from rankwell.evaluation import results
from rankwell.evaluation.details import COMPLETE, Columns, Details, detail_columns
from rankwell.evaluation.options import PrintedFigures
from rankwell.evaluation.results import ResultsBuilder, progress_of
from rankwell.reporting import Answer, PrintedFigure, Row, has_intervals
from rankwell.reporting.options import Progress
from rankwell.reporting.outputs.answers import score_answer, score_digits, short_interval
from rankwell.results import Results
from rankwell.stats import MIN_QUERIES, SummaryRow, figure_of, resampled_sums
from rankwell.stats.granularity import granularity_of
from rankwell.stats.intervals import RANGES, Interval, percentile_interval
from rankwell.task import Task, TaskInput
from rankwell.tasks.crossmodal import RESULTS
from rankwell.tasks.crossmodal.conventions import CaptionConvention, CaptionTies
from rankwell.tasks.crossmodal.findings import (
    aggregates_left_out,
    captions_of_several_videos,
    convention_of_other_tasks,
    hits_beyond_gallery,
    intervals_beyond_range,
    no_positives,
    places_counted,
    word_of_convention,
)
from rankwell.tasks.crossmodal.inputs import CaptionInputs, Direction
from rankwell.tasks.crossmodal.measures.recall_sums import GMEAN, R_MEAN, RSUM
from rankwell.tasks.crossmodal.options import CrossmodalChoices, CrossmodalOptions
from rankwell.tasks.crossmodal.runs import CaptionRun

CUTOFFS = (1, 5, 10)


def rsum(recalls: Sequence[float]) -> float:
    """The sum of R@1, R@5 and R@10 of both directions, in their own unit: 600 percent at most.
    Source: Lee and others 2018, SCAN.

    Raises BadUsage where there is none.
    """
    return math.fsum(_some(recalls))


def geometric_mean(recalls: Sequence[float]) -> float:
    """The geometric mean of R@1, R@5 and R@10 of one direction; 0 where one is 0. Source: Liu and
    others 2019, Use what you have.

    Raises BadUsage where there is none or one is negative.
    """
    if min(_some(recalls)) < 0:
        raise BadUsage(f"a recall of {min(recalls)}; recalls are from 0.")
    return 0.0 if 0 in recalls else math.exp(math.fsum(map(math.log, recalls)) / len(recalls))


def mean_recall(recalls: Sequence[float]) -> float:
    """The mean of R@1, R@5 and R@10, of one direction or of both (`r_mean`). Source: Li and others
    2023, LAVIS, itm_eval.

    Raises BadUsage where there is none.
    """
    return math.fsum(_some(recalls)) / len(recalls)


def _some(recalls: Sequence[float]) -> Sequence[float]:
    if not recalls:
        raise BadUsage("no recall is given; name at least one, as R@1.")
    return recalls


Column = tuple[Values, Mapping[str, Any]]
"""The values of one measure in one direction, with the other cells of its summary row."""

RECALLS = tuple(f"Success@{k}" for k in CUTOFFS)
AGGREGATES: Mapping[str, Callable[[Sequence[float]], float]] = {
    "rsum": rsum,
    "gmean": geometric_mean,
    "r_mean": mean_recall,
}
DEFINITIONS = {aggregate.name: aggregate.rule for aggregate in (RSUM, GMEAN, R_MEAN)}


def aggregate_interval(
    groups: Sequence[Floats],
    aggregate: Callable[[Sequence[float]], float],
    *,
    resamples: int = 10_000,
    seed: int = 0,
) -> Interval | None:
    """The 95 % percentile bootstrap interval of an aggregate of means; None below 10 queries (Efron
    and Tibshirani 1993, 13.3).

    groups: (queries, means) of each set of queries, in the order of `aggregate`. Sets of as many
    queries are drawn alike, for where captions and videos are in pairs the same pair is drawn for
    both; sets of different sizes are drawn apart.
    """
    if not groups or min(map(len, groups)) < MIN_QUERIES:
        return None
    drawn = {
        n: iter(
            resampled_sums(
                np.hstack([group for group in groups if len(group) == n]),
                resamples,
                seed=seed + number,
            ).T
            / n
        )
        for number, n in enumerate(dict.fromkeys(map(len, groups)))
    }
    means = np.column_stack([next(drawn[len(group)]) for group in groups for _ in group.T])
    return percentile_interval(np.array([aggregate(row) for row in means.tolist()]), 0.95)


def named_aggregates(
    names: Sequence[str] | None, convention: Convention, requested: str
) -> tuple[list[str] | None, list[str]]:
    """The measures among the names, with the recalls of named aggregates, and the aggregates.
    Raises BadUsage.
    """
    sides = requested.split(",")
    is_both = requested == "both" or ("t2v" in sides and len(sides) > 1)
    if names is None:
        rules = convention.rules_of("crossmodal", CaptionConvention())
        return None, [name for name in rules.aggregates if name != "rsum" or is_both]
    measures = [name for name in names if name not in AGGREGATES]
    aggregates = [name for name in names if name in AGGREGATES]
    if "rsum" in aggregates and not is_both:
        raise BadUsage(
            f"rsum is the sum over both directions, and only {requested} is requested; leave "
            f"{flag('--direction')} out."
        )
    word = "R" if convention.words.get("R") == "Success" else "Success"
    return measures + [f"{word}@{k}" for k in CUTOFFS if aggregates], aggregates


def aggregate_row(
    name: str, recalls: Mapping[str, Sequence[Column]], options: CrossmodalChoices
) -> dict[str, Any]:
    """recalls: direction -> R@1, R@5 and R@10."""
    aggregate, low, high = AGGREGATES[name], None, None
    columns = [column for group in recalls.values() for column in group]
    # The recalls of one direction count the same queries.
    groups = [
        np.column_stack([values.values[values.counted] for values, _ in group])
        for group in recalls.values()
    ]
    if options.intervals != "none":
        low, high = aggregate_interval(groups, aggregate, seed=options.seed) or (None, None)
    first, n = columns[0][0], sum(map(len, groups))
    mean = aggregate([mean for group in groups for mean in exact_means(group).tolist()])
    row = SummaryRow.of(first.run, name, name, mean, None, low, high, n, first.unit) | {
        "direction": "+".join(recalls)
    }
    for level in ("ceiling", "chance"):
        levels = [level_of[level] for _, level_of in columns]
        row |= {level: None if None in levels else aggregate(levels)}
    return row


_SIDES = tuple(RESULTS.parts)
_TIES: tuple[CaptionTies, ...] = (*TIE_RULES, "input-desc", "averaged", "multiplied")
_SHOWN = 5


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CaptionResults(Results):
    """Results of text-video search.

    views: (run, direction) -> the ranks that measures read.
    """

    views: Mapping[tuple[str, str], JudgedRankings]


@takes_options(CrossmodalOptions)
def evaluate_crossmodal(
    scores: Vectors | None = None,
    qrels: Table | Judgments = "diagonal",
    *,
    options: CrossmodalOptions,
    details: bool = False,
    progress: Progress = None,
) -> CaptionResults:
    """Evaluates retrieval between captions and videos (or images), in both directions.

    Shares such as R@K are in percent by default. Give scores, or embeddings of both sides in
    `query_vectors` and `item_vectors`, from which no matrix is built. Embeddings can be compared in
    parts, with the same result.
    Returns a row of the summary per run, direction and measure, the values of each query, and the
    ranks of the right items in `views`.
    Raises BadInput and BadScore for scores and labels that cannot be read, with row and column,
    BadUsage for options that do not go together, UnknownName for a measure or convention that does
    not exist, NothingToEvaluate where no query counts.

    Parameters
    ----------
    scores
        A row per caption and a column per video, higher is better: a file, an array or a list of
        rows of numbers. Several systems: a list of files or arrays, or a mapping name -> scores.
    qrels
        The right videos of each caption: `diagonal`, a list with a list of positions per caption
        (`[[0], [1, 2]]`), a mapping caption id -> list of video ids, a file, or texts such as
        `counts:20` and `groups:captions.csv`.
    query_vectors
        Embeddings of the captions, in place of scores: a file, an array (n, d), lists of numbers,
        or a mapping id -> vector.
    item_vectors
        Embeddings of the videos, in the same forms.
    mask
        A list or an array with 1 for each caption that exists and 0 for each that is missing, or
        its file (.npy or JSON). [default: all exist]
    bank
        Training data for a transform, as a file, an array or lists: scores of other queries on the
        same gallery (querybank), or vectors of other images instead of the references (whitening).
    query_ids
        Ids of the captions: a list, an array, or a file with one per line. [default: positions]
    item_ids
        Ids of the videos, in the same forms. [default: positions]
    queries
        Texts of the captions: a list in their order, a mapping id -> text, a list of rows such as
        `[{"id": "c1", "text": "a dog runs"}]`, a data frame, or a file. Captions with equal words
        lower the ceiling, and the report shows the texts. Without it, captions with bit-identical
        scores count as the same.
    details
        Keep the first items of each query for a folder of results.

    >>> import rankwell as rw
    >>> result = rw.evaluate_crossmodal(
    ...     [[0.9, 0.1], [0.8, 0.3]], [[0], [1]], direction="t2v", k=1, intervals="none"
    ... )
    >>> [(row["label"], row["mean"], row["unit"]) for row in result.summary]
    [('R@1', 50.0, 'percent'), ('MedR', 1.5, 'rank'), ('MnR', 1.5, 'rank')]
    >>> [(row["query"], row["value"]) for row in result.per_query() if row["label"] == "MedR"]
    [('0', 1.0), ('1', 2.0)]
    """
    return caption_results(scores, qrels, options, details=details, progress=progress).finished()


def caption_results(
    scores: Any, positives: Any, options: CrossmodalChoices, *, details: bool, progress: Progress
) -> PartOutcome:
    """The results of `crossmodal`, or what to show where its parts are not all computed."""
    parts = options if isinstance(options, PartOptions) else PartOptions()
    convention = find_convention(options.convention, "crossmodal")
    names, aggregates = named_aggregates(
        measure_names(options.measures), convention, options.direction
    )
    directions = _directions(convention, names, options)
    options.check_intervals()
    if parts.is_used and options.folds is not None:
        raise BadUsage(
            f"{flag('--folds')} are compared in one piece; leave {flag('--executor')} and "
            f"{flag('--work')} out."
        )
    inputs = CaptionInputs(scores, positives, options, directions, in_parts=parts.is_used)
    if parts.is_used:
        outcome = inputs.count_in_parts(directions, parts, details=details, progress=progress)
        if outcome.result is None:
            return outcome
    evaluation = _CaptionEvaluation(inputs, convention, directions, options, details=details)
    if options.folds is None:
        evaluation.measure(progress)
    else:
        evaluation.measure_folds(options.folds, progress)
    for run in inputs.runs:
        evaluation.add_aggregates(run, aggregates)
    return PartOutcome(evaluation.results())


def _directions(
    convention: Convention, names: Sequence[str] | None, options: CrossmodalChoices
) -> list[Direction]:
    """The requested directions. Raises UnknownName for a tie rule that does not exist, BadUsage for
    measures that read no rankings.
    """
    rules = convention.rules_of("crossmodal", CaptionConvention())
    names_of_sides = [name.strip() for name in options.direction.split(",")]
    if names_of_sides == ["both"]:
        names_of_sides = ["t2v", "v2t"]
    for name in names_of_sides:
        if name not in _SIDES:
            raise UnknownName(f"{flag('--direction', name)}; {suggest(name, (*_SIDES, 'both'))}")
    if rules.protocol == "among-videos" and "v2t-videos" not in names_of_sides:
        names_of_sides = [name.replace("v2t", "v2t-videos") for name in names_of_sides]
    replaced: CaptionTies | None = next((rule for rule in _TIES if rule == options.ties), None)
    if replaced is None and options.ties is not None:
        raise UnknownName(f"unknown tie rule {options.ties!r}; the rules are {', '.join(_TIES)}.")
    directions: list[Direction] = []
    for name in filter(names_of_sides.__contains__, _SIDES):
        ties = replaced or (rules.t2v if name == "t2v" else rules.v2t)
        measures, findings = _measures(names, options, convention, name[:3])
        check_views((labelled.measure for labelled in measures), JudgedRankings)
        directions.append(Direction(name, ties, measures, rules.hits_after_last, findings))
    return directions


def _measures(
    texts: Sequence[str] | None, options: CrossmodalChoices, convention: Convention, side: str
) -> tuple[tuple[LabelledMeasure, ...], tuple[Finding, ...]]:
    """The measures of a direction: those named, or the convention's, at every cut-off where they
    need one; and findings on names that are words of the convention for something else.

    A name with parameters (`R(rel=1)@5`) is that of a measure, whatever the convention means by the
    word.
    """
    words = {**convention.words, **convention.words_of_parts.get(side, {})}
    ks = None if options.k is None else cutoffs(options.k)
    names = list(texts or convention.defaults)
    if texts is None and ks is not None:
        names = list(dict.fromkeys(text.partition("@")[0] for text in names))
    measures, findings = dict[str, LabelledMeasure](), dict[str, Finding]()
    for text in names:
        rules = convention._replace(words={} if _is_exact(text) else words)
        for spelled in at_each_cutoff(text, ks or CUTOFFS, rules.words):
            (labelled,) = choose_measures([spelled], rules)
            exact = str(labelled.measure)
            if exact not in measures and (meaning := _other_meaning(labelled.measure, words)):
                labelled = labelled._replace(label=spelled.strip())
                findings[exact] = word_of_convention(
                    labelled.label, exact, convention.name, meaning
                )
            measures.setdefault(exact, labelled)
    return tuple(measures.values()), tuple(findings.values())


def _other_meaning(measure: Measure, words: Mapping[str, str]) -> str:
    """The meaning of a measure's exact name as a word of the convention, where that is something
    else; else empty.
    """
    try:
        word_measure = parse_measure(str(measure), words)
    except BadUsage:
        return ""
    return "" if word_measure == measure else str(word_measure)


def _is_exact(text: str) -> bool:
    try:
        parse_measure(text if "@" in text else f"{text}@1")
    except UnknownName:
        return False
    except BadUsage:
        pass
    return "(" in text


class _CaptionEvaluation:
    """The runs and directions measured so far."""

    def __init__(
        self,
        inputs: CaptionInputs,
        convention: Convention,
        directions: Sequence[Direction],
        options: CrossmodalChoices,
        *,
        details: bool,
    ) -> None:
        self.inputs, self.directions, self.options = inputs, directions, options
        self.has_details = details
        self.no_relevant = options.no_relevant or convention.no_relevant
        self.builder = ResultsBuilder(convention)
        self.aggregates: list[Row] = []
        self.n_summarised: int | None = None
        self.views: dict[tuple[str, str], JudgedRankings] = {}
        self.details: list[tuple[str, str, Details]] = []

    def measure(self, progress: Progress) -> None:
        """Measures all directions of all runs."""
        for run in self.inputs.runs:
            try:
                for direction in self.directions:
                    self.add(run, direction, progress)
            except BadScore:
                self.inputs.refuse_non_finite(run)
                raise

    def measure_folds(self, n: int, progress: Progress) -> None:
        """Measures all directions of all runs in each fold; the values are those of all folds
        together.
        """
        parts = [
            _CaptionEvaluation(
                fold,
                self.builder.convention,
                self.directions,
                self.options,
                details=self.has_details,
            )
            for fold in self.inputs.folds(n)
        ]
        for number, part in enumerate(parts, 1):
            try:
                part.measure(progress)
            except BadScore:
                for run in self.inputs.runs:
                    self.inputs.refuse_non_finite(run)
                raise
            part.builder.findings = [*part.inputs.findings, *part.builder.findings]
            self.details += part.details
            self.views |= {
                (f"{run} fold {number}", direction): view
                for (run, direction), view in part.views.items()
            }
        masked = len(self.inputs.names[0]) - self.inputs.positives.n_queries
        self.aggregates += _join_folds(self.builder, [part.builder for part in parts], masked)
        self.n_summarised = sum(values.summary == "mean" for values in self.builder.values)
        self.inputs.rules["folds"] = (
            f"{n} of {len(self.inputs.names[1]) // n} videos, in the order of the table"
        )

    def add(self, name: str, direction: Direction, progress: Progress) -> None:
        """Measures one direction of one run."""
        inputs, builder = self.inputs, self.builder
        run = CaptionRun.of(
            name,
            direction,
            inputs,
            details=self.has_details,
            progress=progress_of(progress, f"{name} {direction.name}"),
        )
        counted, bare = run.counted(self.no_relevant), run.without_positives
        builder.findings += direction.findings
        n_shared = int((inputs.positives.counts > 1).sum()) if direction.collapsed else 0
        if n_shared:
            builder.findings.append(captions_of_several_videos(direction.name, n_shared))
        if bare.all():
            builder.findings.append(
                no_positives(direction.name, run.n_items + 1, builder.convention.name)
            )
        labels = [
            labelled.label
            for labelled in direction.measures
            if (run.hits_beyond(labelled.measure) & counted).any()
        ]
        if labels:
            queries = list(compress(run.view.queries, (bare & counted).tolist()))
            builder.findings.append(
                hits_beyond_gallery(direction.name, queries, labels, run.n_items)
            )
        builder.add(run, direction.measures, counted)
        n_masked = len(inputs.names[0]) - inputs.positives.n_queries
        builder.counts[direction.name if len(inputs.runs) == 1 else f"{name} {direction.name}"] = {
            results.QUERIES_COUNTED: int(counted.sum()),
            results.QUERIES_WITHOUT_RELEVANT: int(bare.sum()),
            results.QUERIES_MASKED: 0 if direction.video_to_text else n_masked,
            results.QUERIES_BEST_TIED: run.n_best_tied,
        }
        self.views[name, direction.name] = run.view
        if self.has_details:
            self.details.append((name, direction.name, run.details()))

    def add_aggregates(self, run: str, names: Sequence[str]) -> None:
        """Adds a summary row per aggregate of one run, or a note where R@1, R@5 or R@10 is
        missing.
        """
        columns: dict[str, dict[str, Column]] = {}
        for values, attributes in zip(
            self.builder.values, self.builder.row_attributes, strict=True
        ):
            if values.run == run:
                columns.setdefault(attributes["direction"], {})[values.measure] = values, attributes
        recalls = {
            direction: [columns_of_direction[recall] for recall in RECALLS]
            for direction, columns_of_direction in columns.items()
            if {*RECALLS} <= columns_of_direction.keys()
        }
        if names and len(recalls) < len(columns):
            self.builder.findings.append(aggregates_left_out(names))
            return
        alone = [(direction,) for direction in recalls]
        pairs = [
            ("t2v", direction) for direction in recalls if direction != "t2v" and "t2v" in recalls
        ]
        sets = {"rsum": pairs, "gmean": alone, "r_mean": [*alone, *pairs]}
        self.aggregates += [
            aggregate_row(
                name, {direction: recalls[direction] for direction in directions}, self.options
            )
            for name in names
            for directions in sets[name]
        ]

    def results(self) -> CaptionResults:
        """The results of all runs and directions."""
        inputs, builder, options = self.inputs, self.builder, self.options
        measures = [labelled for direction in self.directions for labelled in direction.measures]
        ties = {direction.name: direction.ties for direction in self.directions}
        rule = (
            ", ".join(f"{name} {rule}" for name, rule in ties.items())
            if len(set(ties.values())) > 1
            else self.directions[0].ties
        )
        rules = {
            "convention": builder.convention.name,
            "ties": builder.ties(rule),
            "no_relevant": self.no_relevant,
            **inputs.rules,
            "counts": builder.counts,
            "measures": {
                **{str(measure): builder.definition(measure) for measure, _ in measures},
                **{
                    row["measure"]: DEFINITIONS[row["measure"]]
                    for row in self.aggregates
                    if row["measure"] in DEFINITIONS
                },
            },
        }
        page: dict[str, Any] = {}
        if self.has_details:
            rows = (
                (run, details, json.dumps({"direction": direction}))
                for run, direction, details in self.details
            )
            page = {
                "details": detail_columns(rows, states=COMPLETE),
                "queries": self._query_columns(),
                "items": self._item_columns(),
            }
        return builder.results(
            CaptionResults,
            rules=rules,
            measures=measures,
            findings=[
                *_on_convention(builder.convention, self.directions, options),
                *inputs.findings,
                *builder.findings,
            ],
            query_columns=("direction",),
            aggregates=tuple(self.aggregates),
            n_summarised=self.n_summarised,
            sources=inputs.sources,
            intervals=options.intervals,
            seed=options.seed,
            views=self.views,
            check=_beyond_range,
            task="crossmodal",
            answer=crossmodal_answer,
            **page,
        )

    def _item_columns(self) -> Columns:
        """The columns of items.parquet by direction: what the ranked captions say, and of videos
        what their own captions say.
        """
        texts = self.inputs.said
        if not texts:
            return {}
        captions_of_video = {
            video: _together([texts[caption] for caption in captions])
            for video, captions in self.inputs.captions_of().items()
            if captions
        }
        columns: Columns = {"item": [], "of": [], "text": []}
        for direction in self.directions:
            items = set[str]().union(
                *(details.item for _, name, details in self.details if name == direction.name)
            )
            are_captions = direction.video_to_text and not direction.collapsed
            text_of = texts if are_captions else captions_of_video
            names = sort_ids(items & text_of.keys())
            columns["item"] += names
            columns["of"] += [direction.name] * len(names)
            columns["text"] += map(text_of.__getitem__, names)
        return columns

    def _query_columns(self) -> Columns:
        """The columns of queries.parquet: the queries of every direction, with their text where it
        is known.
        """
        queries: dict[str, dict[str, None]] = {}
        for (_, direction), view in self.views.items():
            queries.setdefault(direction, {}).update(dict.fromkeys(view.queries))
        columns: Columns = {"query": [], "text": [], "direction": []}
        for direction, names in queries.items():
            columns["query"] += names
            texts = self.inputs.said if direction == "t2v" else {}
            columns["text"] += map(texts.get, names)
            columns["direction"] += [direction] * len(names)
        return columns


def _together(texts: Sequence[str]) -> str:
    """The first of different texts, and how many there are besides."""
    distinct = list(dict.fromkeys(texts))
    n_more = [f"{len(distinct) - _SHOWN} more"] if len(distinct) > _SHOWN else []
    return " · ".join([*distinct[:_SHOWN], *n_more])


def _on_convention(
    convention: Convention, directions: Sequence[Direction], options: CrossmodalChoices
) -> list[Finding]:
    """The findings on what is used of a convention of other tasks, and on a rule of ties by which n
    is no number of queries.
    """
    findings: list[Finding] = []
    if "crossmodal" not in convention.tasks:
        ties = "" if options.ties is not None else f", and ties are {directions[0].ties}"
        findings = [convention_of_other_tasks(convention.name, ties)]
    names = [direction.name for direction in directions if direction.ties == "multiplied"]
    return [*findings, places_counted(", ".join(names))] if names else findings


def _beyond_range(result: Results) -> list[Finding]:
    """The finding on t intervals that go beyond what a measure can be."""
    labels: dict[str, None] = {}
    for row in result.summary if result.intervals == "t" else ():
        low, high = RANGES.get(row["unit"], (-math.inf, math.inf))
        if row["ci_low"] is not None and (row["ci_low"] < low or row["ci_high"] > high):
            labels[f"{row['label']} ({row['direction']})"] = None
    return [intervals_beyond_range(list(labels))] if labels else []


def _join_folds(
    builder: ResultsBuilder, fold_builders: Sequence[ResultsBuilder], masked: int
) -> list[Row]:
    """Adds the values of all folds to a builder: means over queries that every fold counts alike
    come first.

    Other summaries, such as medians, become rows of their own, the means of the folds' figures.
    masked: the captions that take no part in any fold.
    """
    columns = zip(
        *(zip(part.values, part.row_attributes, strict=True) for part in fold_builders), strict=True
    )
    rows: list[Row] = []
    for column in sorted(columns, key=lambda column: column[0][0].summary != "mean"):
        folds, cells = zip(*column, strict=True)
        builder.values.append(_joined(folds))
        builder.row_attributes.append(_mean_levels(cells))
        if folds[0].summary != "mean":
            rows.append(_fold_row(folds) | _mean_levels(cells))
    for name, counts in fold_builders[0].counts.items():
        totals = builder.counts[name] = {
            count: sum(part.counts[name][count] for part in fold_builders) for count in counts
        }
        if totals[results.QUERIES_MASKED]:
            totals[results.QUERIES_MASKED] = masked
    for number, part in enumerate(fold_builders, 1):
        builder.in_input_order |= part.in_input_order
        builder.findings += [
            finding
            if all(finding in part.findings for part in fold_builders)
            else finding.under(f"fold {number}")
            for finding in part.findings
        ]
    return rows


def _joined(folds: Sequence[Values]) -> Values:
    """The values of all folds; each fold has the same weight in a mean."""
    counts, weights = [int(values.counted.sum()) for values in folds], None
    if folds[0].summary == "mean" and len(set(counts)) > 1:
        weights = np.repeat([1 / n for n in counts], [len(values.queries) for values in folds])
    return replace(
        folds[0],
        queries=tuple(chain.from_iterable(values.queries for values in folds)),
        values=np.concatenate([values.values for values in folds]),
        weights=weights,
    )


def _fold_row(folds: Sequence[Values]) -> dict[str, Any]:
    first, n = folds[0], sum(int(values.counted.sum()) for values in folds)
    figures = [
        figure
        for values in folds
        if (figure := figure_of(values.values, values.summary)) is not None
    ]
    mean = math.fsum(figures) / len(folds) if len(figures) == len(folds) else None
    return SummaryRow.of(
        first.run, first.measure, first.label, mean, None, None, None, n, first.unit
    )


def _mean_levels(folds: Sequence[Row]) -> dict[str, Any]:
    """The cells of a row with the means of its ceilings and chance levels."""
    cells_of_row = dict(folds[0])
    for level in ("ceiling", "chance"):
        if level in cells_of_row:
            values = [cells_of_fold[level] for cells_of_fold in folds]
            cells_of_row[level] = None if None in values else math.fsum(values) / len(values)
    return cells_of_row


def crossmodal_answer(result: Any) -> Answer:
    """Of one run a column for each direction; of several runs their scores."""
    if len({row["run"] for row in result.summary}) > 1:
        return score_answer(result)
    rules, rows = result.describe(), result.summary
    in_table = [row for row in rows if row["direction"] in RESULTS.parts]
    directions = list(dict.fromkeys(row["direction"] for row in in_table))

    def _text(row: Row, value: float | None) -> str:
        return format_value(value, row["unit"], digits=score_digits(rules, row["unit"]))

    def _cell(row: Row | None) -> PrintedFigure:
        if row is None:
            return PrintedFigure("")
        if row["ci_low"] is None:
            return PrintedFigure(_text(row, row["mean"]))
        ends = f"[{_text(row, row['ci_low'])}, {_text(row, row['ci_high'])}]"
        return PrintedFigure(f"{_text(row, row['mean'])} {short_interval(ends)}")

    sizes = {row["direction"]: row["n"] for row in in_table}
    place = {(row["label"], row["direction"]): row for row in rows}
    table = [
        {
            " ": label,
            **{
                Heading(f"{RESULTS.parts[name]} ({sizes[name]})"): _cell(place.get((label, name)))
                for name in directions
            },
        }
        for label in dict.fromkeys(row["label"] for row in in_table)
    ]
    others = [
        f"{row['label']} ({row['direction']}): {_text(row, row['mean'])}"
        for row in rows
        if row["direction"] not in directions
    ]
    label = rows[0]["label"]
    first = [row for row in in_table if row["label"] == label and row["mean"] is not None]
    figures = [f"{RESULTS.parts[row['direction']]} {_reached(row, _text)}" for row in first]
    sentence = f"{rows[0]['run']}: {label} {', '.join(figures)}."
    percent = any(row["unit"] == "percent" for row in rows)
    parts = ["mean"]
    parts += ["95% CI"] if has_intervals(rows) else []
    parts += ["R@K in percent"] if percent else []
    return Answer(
        sentence, " · ".join(parts), table=table, legend=[*others, *_chance(first, _text)]
    )


def _reached(row: Row, text: Any) -> str:
    ceiling, best = row.get("ceiling"), 100.0 if row["unit"] == "percent" else 1.0
    most = f" of at most {text(row, ceiling)}" if ceiling is not None and ceiling < best else ""
    return f"{text(row, row['mean'])}{most}"


def _chance(rows: Sequence[Row], text: Any) -> list[str]:
    known = [row for row in rows if row.get("chance") is not None]
    figures = [f"{text(row, row['chance'])} {RESULTS.parts[row['direction']]}" for row in known]
    return [f"Chance of {known[0]['label']}: {', '.join(figures)}."] if known else []


_WHOLE = (0.0, 1.0, 100.0)
"""The values of a query that counts as a whole, as a share or in percent."""


@dataclass(frozen=True, kw_only=True)
class CrossmodalCommandOptions(CrossmodalOptions):
    """The options of the command."""

    qrels: Annotated[
        str,
        Input(perhaps=True),
        Doc(
            "The right videos of each caption: diagonal; a JSON object (row or id -> list) or list "
            "of lists; judgments as CSV, TREC or any other format, or with two columns, query and "
            "item; counts:FILE or counts:20, captions per video; groups:FILE, each caption's "
            "video, or groups:FILE,FILE.",
            is_common=True,
        ),
    ] = "diagonal"
    check: PrintedFigures = None


def _evaluate(
    scores: Sequence[str], *, options: CrossmodalCommandOptions, details: bool, progress: Progress
) -> PartOutcome:
    """The ranks of the positives in both directions, with the checks of printed figures."""
    if not scores and not options.query_vectors:
        raise BadUsage(
            "name a matrix of scores, or --query-vectors and --item-vectors: rankwell crossmodal "
            "SCORES --qrels FILE."
        )
    outcome = caption_results(
        list(scores) or None, options.qrels, options, details=details, progress=progress
    )
    if outcome.result is None or not options.check:
        return outcome
    result: Results = outcome.result
    checks = [note for figure in options.check for note in _granularity(figure, result)]
    rules: dict[str, Any] = {**result.rules, "checks": checks}
    return outcome._replace(result=replace(result, rules=rules), messages=tuple(checks))


def _granularity(figure: str, result: Results) -> Iterator[str]:
    """Whether a printed figure is possible with what was counted in each direction, in words."""
    by_direction: dict[str, list[Values]] = {}
    for values, attributes in zip(result.values, result.row_attributes, strict=True):
        by_direction.setdefault(attributes["direction"], []).append(values)
    for direction, all_values in by_direction.items():
        hits = [
            values.values[values.counted]
            for values in all_values
            if values.measure.startswith("Success@")
        ]
        highest = [values.max(initial=0.0) for values in hits]
        if all(
            most in _WHOLE and np.isin(values, (0.0, most)).all()
            for values, most in zip(hits, highest, strict=True)
        ):
            n_queries = max(int(values.counted.sum()) for values in all_values)
            note = str(granularity_of(figure, n_queries))
        else:
            note = (
                f"{figure} cannot be checked: a query that is tied counts in part "
                f"(ties={result.rules['ties']}), not as 0 or 1"
            )
        yield f"{direction}: {note}"


crossmodal = Task(
    name="crossmodal",
    about="""Evaluate text–video and text–image search.

To reproduce HGR: -c hgr. CLIP4Clip: -c clip4clip, clip4clip-multi. MMT and Collaborative Experts: \
-c mmt. Frozen in Time: -c frozen. VSE++: -c vse. LAVIS: -c lavis.

Prints R@K in percent, MedR and MnR in both directions, from a matrix of scores or from embeddings.

From embeddings (--query-vectors A.npy --item-vectors B.npy) the matrix is never built, and \
--executor divides the work. Each value comes with its ceiling, which identical captions lower, \
and its chance level.""",
    command_lines="""
rankwell crossmodal scores.npy
rankwell crossmodal --query-vectors texts.npy --item-vectors videos.npy -k 1 5
""",
    options=CrossmodalCommandOptions,
    inputs=(
        TaskInput(
            "scores",
            "Matrices of scores, a row per caption and a column per video; name more to compare "
            "systems (ours=a/scores.npy).",
            many=True,
        ),
    ),
    files="summary.csv, summary.json, per_query.parquet, details.parquet, queries.parquet, "
    "items.parquet, manifest.json and charts",
    evaluation=_evaluate,
)
