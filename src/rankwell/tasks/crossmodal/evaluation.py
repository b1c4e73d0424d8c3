"""Scores of captions and videos -> values: the ranks of the positives, from text to video and from
video to text.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from rankwell.conventions import (
    Convention,
    LabelledMeasure,
    check_views,
    choose_measures,
    find_convention,
)
from rankwell.data.findings.remarks import remark, remarks
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.options import PartOptions, PartOutcome, cutoffs, takes_options
from rankwell.data.registry import Measure, at_each_cutoff, measure_names, parse_measure, suggest
from rankwell.data.tables import TIE_RULES, Values, sort_ids
from rankwell.errors import BadScore, BadUsage, UnknownName, count_of, flag
from rankwell.evaluation import results
from rankwell.evaluation.details import COMPLETE, Details, detail_columns
from rankwell.evaluation.results import ResultsBuilder, progress_of
from rankwell.results import Results
from rankwell.stats import SummaryRow, check_intervals, figure_of
from rankwell.stats.intervals import RANGES
from rankwell.tasks.crossmodal.aggregates import (
    CUTOFFS,
    DEFINITIONS,
    RECALLS,
    Column,
    aggregate_row,
    named_aggregates,
)
from rankwell.tasks.crossmodal.answers import crossmodal_answer
from rankwell.tasks.crossmodal.conventions import CaptionConvention, CaptionTies
from rankwell.tasks.crossmodal.inputs import CaptionInputs, Direction
from rankwell.tasks.crossmodal.options import CrossmodalOptions, CrossmodalPartOptions
from rankwell.tasks.crossmodal.runs import CaptionRun

Progress = Callable[[str, int, int], None]
_SIDES = ("t2v", "v2t", "v2t-videos")
_TIES: tuple[CaptionTies, ...] = (*TIE_RULES, "input-desc", "averaged", "multiplied")
_TIE_NOTES: dict[CaptionTies, str] = {
    "averaged": (
        "a tied positive has the mean of its places as its rank: R@1 needs exactly 1, R@K for "
        "larger K a rank below K + 1; that is not an expected value"
    ),
    "multiplied": "a query with a tied positive counts once for each place of the tie: n is the "
    "number of places, not of queries",
}
_SHOWN = 5


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CaptionResults(Results):
    """Results of text-video search.

    views: (run, direction) -> the ranks that measures read.
    """

    views: Mapping[tuple[str, str], JudgedRankings]


@takes_options(CrossmodalPartOptions)
def evaluate_crossmodal(
    scores: Any = None,
    qrels: Any = "diagonal",
    *,
    options: CrossmodalPartOptions,
    details: bool = False,
    progress: Progress | None = None,
) -> CaptionResults:
    """Ranks the right videos of every caption among all videos, and the right captions of every
    video among all captions.

    scores: a row per caption and a column per video, higher is better: whatever `read_scores`
    takes, several of them in a list or a mapping name -> scores; or query_vectors and item_vectors:
    embeddings of captions and of videos, of which no matrix is ever made. qrels: whatever
    `read_positives` takes; or `counts:FILE`, `counts:20` and `groups:FILE[,FILE]` as texts.
    options: the fields of `CrossmodalOptions`, as keywords or as one; names of rows and columns may
    be lists, the mask an array of 1 for every caption (row) that is there and 0 for none. details:
    keep the first items of each query for a folder of results.
    executor, work and what belongs to them: embeddings are compared in parts, with the same result,
    see docs/scale.md.
    Of the result, `summary` has a row per run, direction and measure, `per_query()` one per query
    besides, `notes` what is to be known, `views` the places of the right items.
    Raises BadInput and BadScore that name row and column, BadUsage and UnknownName,
    NothingToEvaluate where no query counts.

    >>> result = evaluate_crossmodal(
    ...     [[0.9, 0.1], [0.8, 0.3]], [[0], [1]], direction="t2v", k=1, intervals="none"
    ... )
    >>> [(row["label"], row["mean"], row["unit"]) for row in result.summary]
    [('R@1', 50.0, 'percent'), ('MedR', 1.5, 'rank'), ('MnR', 1.5, 'rank')]
    >>> [(row["query"], row["value"]) for row in result.per_query() if row["label"] == "MedR"]
    [('0', 1.0), ('1', 2.0)]
    """
    return caption_results(scores, qrels, options, details=details, progress=progress).finished()


def caption_results(
    scores: Any,
    positives: Any,
    options: CrossmodalOptions,
    *,
    details: bool,
    progress: Progress | None,
) -> PartOutcome:
    """The results of `crossmodal`, or what to show where its parts are not all computed."""
    parts = options if isinstance(options, PartOptions) else PartOptions()
    convention = find_convention(options.convention, "crossmodal")
    names, aggregates = named_aggregates(
        measure_names(options.measures), convention, options.direction
    )
    directions = _directions(convention, names, options)
    check_intervals(options.intervals, options.seed)
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
    convention: Convention, names: Sequence[str] | None, options: CrossmodalOptions
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
        measures, notes = _measures(names, options, convention, name[:3])
        check_views((labelled.measure for labelled in measures), JudgedRankings)
        directions.append(Direction(name, ties, measures, rules.hits_after_last, notes))
    return directions


def _measures(
    texts: Sequence[str] | None, options: CrossmodalOptions, convention: Convention, side: str
) -> tuple[tuple[LabelledMeasure, ...], tuple[str, ...]]:
    """The measures of a direction: those named, or the convention's, at every cut-off where they
    need one; and notes on names that are words of the convention for something else.

    A name with parameters (`R(rel=1)@5`) is that of a measure, whatever the convention means by the
    word.
    """
    words = {**convention.words, **convention.words_of_parts.get(side, {})}
    ks = None if options.k is None else cutoffs(options.k)
    names = list(texts or convention.defaults)
    if texts is None and ks is not None:
        names = list(dict.fromkeys(text.partition("@")[0] for text in names))
    measures, notes = dict[str, LabelledMeasure](), dict[str, str]()
    for text in names:
        rules = convention._replace(words={} if _is_exact(text) else words)
        for spelled in at_each_cutoff(text, ks or CUTOFFS, rules.words):
            (labelled,) = choose_measures([spelled], rules)
            exact = str(labelled.measure)
            if exact not in measures and (meaning := _other_meaning(labelled.measure, words)):
                labelled = labelled._replace(label=spelled.strip())
                notes[exact] = (
                    f"{labelled.label} is the measure {exact} itself; as a word of "
                    f"{convention.name}, {exact} means {meaning}"
                )
            measures.setdefault(exact, labelled)
    return tuple(measures.values()), tuple(notes.values())


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
        options: CrossmodalOptions,
        *,
        details: bool,
    ) -> None:
        self.inputs, self.directions, self.options = inputs, directions, options
        self.has_details = details
        self.no_relevant = options.no_relevant or convention.no_relevant
        self.builder = ResultsBuilder(convention)
        self.aggregates: list[dict[str, Any]] = []
        self.n_summarised: int | None = None
        self.views: dict[tuple[str, str], JudgedRankings] = {}
        self.details: list[tuple[str, str, Details]] = []

    def measure(self, progress: Progress | None) -> None:
        """Measures all directions of all runs."""
        for run in self.inputs.runs:
            try:
                for direction in self.directions:
                    self.add(run, direction, progress)
            except BadScore:
                self.inputs.refuse_non_finite(run)
                raise

    def measure_folds(self, n: int, progress: Progress | None) -> None:
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
            part.builder.findings = [*remarks(part.inputs.notes), *part.builder.findings]
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

    def add(self, name: str, direction: Direction, progress: Progress | None) -> None:
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
        builder.findings += remarks(direction.notes)
        n_shared = int((inputs.positives.counts > 1).sum()) if direction.collapsed else 0
        if n_shared:
            builder.findings.append(
                remark(
                    f"{direction.name}: {n_shared} captions belong to several videos; captions are "
                    "collapsed for a video each, so that such a caption raises all of its videos"
                )
            )
        if bare.all():
            builder.findings.append(
                remark(
                    f"{direction.name}: none of the queries has a positive, so that each has the "
                    f"rank {run.n_items + 1}, as in {builder.convention.name}; check the positives"
                )
            )
        labels = [
            labelled.label
            for labelled in direction.measures
            if (run.hits_beyond(labelled.measure) & counted).any()
        ]
        if labels:
            number = count_of(
                int((bare & counted).sum()),
                "query without positives counts",
                "queries without positives count",
            )
            builder.findings.append(
                remark(
                    f"{direction.name}: {number} as a hit in {', '.join(labels)}, as the gallery "
                    f"has only {run.n_items} items (convention {builder.convention.name}; "
                    f"{flag('--no-relevant', 'skip')} leaves them out)"
                )
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
            self.builder.findings.append(
                remark(
                    f"{', '.join(names)}: these are made of R@1, R@5 and R@10; request all three "
                    "(-k 1,5,10)"
                )
            )
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
            findings=remarks(
                [
                    *_rule_notes(builder.convention, self.directions, options),
                    *inputs.notes,
                    *builder.findings,
                ]
            ),
            query_columns=("direction",),
            aggregates=tuple(self.aggregates),
            n_summarised=self.n_summarised,
            sources=inputs.sources,
            intervals=options.intervals,
            seed=options.seed,
            views=self.views,
            check=lambda result: remarks(_beyond_notes(result)),
            task="crossmodal",
            answer=crossmodal_answer,
            **page,
        )

    def _item_columns(self) -> dict[str, list[Any]]:
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
        columns: dict[str, list[Any]] = {"item": [], "of": [], "text": []}
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

    def _query_columns(self) -> dict[str, list[Any]]:
        """The columns of queries.parquet: the queries of every direction, with their text where it
        is known.
        """
        queries: dict[str, dict[str, None]] = {}
        for (_, direction), view in self.views.items():
            queries.setdefault(direction, {}).update(dict.fromkeys(view.queries))
        columns: dict[str, list[Any]] = {"query": [], "text": [], "direction": []}
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


def _rule_notes(
    convention: Convention, directions: Sequence[Direction], options: CrossmodalOptions
) -> list[str]:
    """Notes on the rules in force, except those that the user replaced; of a convention of other
    tasks, on what is used of it.
    """
    notes: list[str] = []
    for rule, texts in convention.rule_notes.items():
        is_used = rule != "protocol" or any(direction.collapsed for direction in directions)
        if is_used and getattr(options, rule, None) is None:
            notes += texts
    if "crossmodal" not in convention.tasks:
        tie_note = "" if options.ties is not None else f", and ties are {directions[0].ties}"
        notes = [
            f"the convention {convention.name} does not support score matrices: its words, "
            f"measures and unit are used{tie_note}"
        ]
    for rule, note in _TIE_NOTES.items():
        names = [direction.name for direction in directions if direction.ties == rule]
        notes += [f"ties={rule} ({', '.join(names)}): {note}"] if names else []
    return notes


def _beyond_notes(result: Results) -> list[str]:
    """A note on t intervals that go beyond what a measure can be."""
    labels: dict[str, None] = {}
    for row in result.summary if result.intervals == "t" else ():
        low, high = RANGES.get(row["unit"], (-math.inf, math.inf))
        if row["ci_low"] is not None and (row["ci_low"] < low or row["ci_high"] > high):
            labels[f"{row['label']} ({row['direction']})"] = None
    note = (
        f"t intervals of {', '.join(labels)} go beyond what the figures can be, for few or "
        "lopsided values; see the bootstrap's"
    )
    return [note] if labels else []


def _join_folds(
    builder: ResultsBuilder, fold_builders: Sequence[ResultsBuilder], masked: int
) -> list[dict[str, Any]]:
    """Adds the values of all folds to a builder: means over queries that every fold counts alike
    come first.

    Other summaries, such as medians, become rows of their own, the means of the folds' figures.
    masked: the captions that take no part in any fold.
    """
    columns = zip(
        *(zip(part.values, part.row_attributes, strict=True) for part in fold_builders), strict=True
    )
    rows: list[dict[str, Any]] = []
    for column in sorted(columns, key=lambda column: column[0][0].summary != "mean"):
        folds, cells = zip(*column, strict=True)
        builder.values.append(_joined(folds))
        builder.row_attributes.append(_mean_levels(cells))
        if folds[0].summary != "mean":
            rows.append(_fold_row(folds) | _mean_levels(cells))
    for name, counts in fold_builders[0].counts.items():
        builder.counts[name] = {
            count: sum(part.counts[name][count] for part in fold_builders) for count in counts
        }
        if builder.counts[name][results.QUERIES_MASKED]:
            builder.counts[name][results.QUERIES_MASKED] = masked
    for number, part in enumerate(fold_builders, 1):
        builder.in_input_order |= part.in_input_order
        builder.findings += [
            finding
            if all(finding in part.findings for part in fold_builders)
            else finding.under(f"fold {number}")
            for finding in part.findings
        ]
    if rows:
        labels = ", ".join(dict.fromkeys(row["label"] for row in rows))
        builder.findings.append(
            remark(f"{labels}: the mean of the folds' figures, which has no interval")
        )
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


def _mean_levels(folds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The cells of a row with the means of its ceilings and chance levels."""
    cells_of_row = dict(folds[0])
    for level in ("ceiling", "chance"):
        if level in cells_of_row:
            values = [cells_of_fold[level] for cells_of_fold in folds]
            cells_of_row[level] = None if None in values else math.fsum(values) / len(values)
    return cells_of_row
