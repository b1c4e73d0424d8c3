"""Scores of captions and videos -> values: the ranks of the positives, from text to video and from
video to text.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankwell._native.matrix_counts import names_of
from rankwell.conventions import (
    Convention,
    LabelledMeasure,
    check_views,
    choose_measures,
    find_convention,
)
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.options import cutoffs, takes_options
from rankwell.data.registry import Measure, at_each_cutoff, measure_names, parse_measure
from rankwell.data.tables import TIE_RULES, Bools, MatrixTies, sort_ids
from rankwell.errors import BadScore, BadUsage, UnknownName, count_of, flag
from rankwell.evaluation import results
from rankwell.evaluation.details import COMPLETE, Details, detail_columns
from rankwell.evaluation.results import ResultsBuilder, progress_of
from rankwell.measures.first_rank import reads_best_only
from rankwell.results import Results
from rankwell.runtime.parts.compared import Question
from rankwell.runtime.parts.options import PartOptions, PartOutcome
from rankwell.stats import check_intervals
from rankwell.stats.intervals import RANGES
from rankwell.tasks.captions.aggregates import (
    CUTOFFS,
    DEFINITIONS,
    RECALLS,
    Column,
    aggregate_row,
    named_aggregates,
)
from rankwell.tasks.captions.conventions import CaptionConvention
from rankwell.tasks.captions.folds import join_folds
from rankwell.tasks.captions.inputs import CaptionInputs
from rankwell.tasks.captions.options import CaptionOptions, CaptionPartOptions
from rankwell.tasks.captions.runs import CaptionRun, Direction, question_of

Progress = Callable[[str, int, int], None]
_TIES: tuple[MatrixTies, ...] = (*TIE_RULES, "input-desc", "averaged", "multiplied")
_TIE_NOTES: dict[MatrixTies, str] = {
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
    """Results of text-video search. views: (run, direction) -> the ranks that measures read."""

    views: Mapping[tuple[str, str], JudgedRankings]


@takes_options(CaptionPartOptions)
def captions(
    scores: Any = None,
    positives: Any = "diagonal",
    *,
    options: CaptionPartOptions,
    details: bool = False,
    progress: Progress | None = None,
) -> CaptionResults:
    """Ranks the right videos of every caption among all videos, and the right captions of every
    video among all captions.

    scores: a row per caption and a column per video, higher is better: whatever `read_scores`
    takes, several of them in a list or a mapping name -> scores; or queries and gallery: embeddings
    of captions and of videos, of which no matrix is ever made. positives: whatever `read_positives`
    takes; or `counts:FILE`, `counts:20` and `groups:FILE[,FILE]` as texts. options: the fields of
    `CaptionOptions`, as keywords or as one; names of rows and columns may be lists, the mask an
    array of 1 for every caption (row) that is there and 0 for none. details: keep the first items
    of each query for a folder of results.
    executor, work and what belongs to them: embeddings are compared in parts, with the same result,
    see docs/scale.md.
    Of the result, `summary` has a row per run, direction and measure, `per_query()` one per query
    besides, `notes` what is to be known, `views` the places of the right items.
    Raises BadInput and BadScore that name row and column, BadUsage and UnknownName,
    NothingToEvaluate where no query counts.

    >>> result = captions(
    ...     [[0.9, 0.1], [0.8, 0.3]], [[0], [1]], direction="t2v", k=1, intervals="none"
    ... )
    >>> [(row["label"], row["mean"], row["unit"]) for row in result.summary]
    [('R@1', 50.0, 'percent'), ('MedR', 1.5, 'rank'), ('MnR', 1.5, 'rank')]
    >>> [(row["query"], row["value"]) for row in result.per_query() if row["label"] == "MedR"]
    [('0', 1.0), ('1', 2.0)]
    """
    # `CaptionOptions` will do, too.
    parts = options if isinstance(options, PartOptions) else PartOptions()  # pyright: ignore[reportUnnecessaryIsInstance]
    return caption_results(
        scores, positives, options, parts, details=details, progress=progress
    ).finished()


def caption_results(
    scores: Any,
    positives: Any,
    options: CaptionOptions,
    parts: PartOptions,
    *,
    details: bool,
    progress: Progress | None,
) -> PartOutcome:
    """The results of `captions`, or what to show where its parts are not all computed."""
    rules = find_convention(options.convention, "captions")
    caption_rules = rules.rules_of("captions", CaptionConvention())
    directions = _directions(rules, caption_rules, options)
    check_intervals(options.intervals, options.seed)
    names, aggregates = named_aggregates(measure_names(options.measures), rules, options.direction)
    ks = None if options.k is None else cutoffs(options.k)
    labelled = {
        direction.name: _labelled_measures(names, ks, rules, direction) for direction in directions
    }
    check_views(
        (
            labelled_measure.measure
            for measures in labelled.values()
            for labelled_measure in measures
        ),
        JudgedRankings,
    )
    if parts.is_used and options.folds is not None:
        raise BadUsage(
            f"{flag('--folds')} are compared in one piece; leave {flag('--executor')} and "
            f"{flag('--work')} out."
        )
    inputs = CaptionInputs(scores, positives, options, directions, in_parts=parts.is_used)
    evaluation = _CaptionEvaluation(
        inputs, rules, options.no_relevant or rules.no_relevant, labelled
    )
    if parts.is_used:
        questions = {
            direction.name: evaluation.question(direction, details=details, sized=parts.dry_run)
            for direction in directions
        }
        outcome = inputs.count_in_parts(questions, parts, progress)
        if outcome.result is None:
            return outcome
    if options.folds is None:
        evaluation.add_runs(directions, details=details, progress=progress)
    else:
        evaluation.add_folds(options.folds, directions, details=details, progress=progress)
    for run in inputs.runs:
        evaluation.add_aggregates(run, aggregates, options)
    return PartOutcome(evaluation.results(directions, options, details=details))


def _directions(
    convention: Convention, caption_rules: CaptionConvention, options: CaptionOptions
) -> list[Direction]:
    """The requested directions. Raises UnknownName for a tie rule that does not exist, BadUsage for
    an unused protocol.
    """
    requested, protocol, ties = options.direction, options.protocol, options.ties
    if protocol is not None and requested == "t2v":
        raise BadUsage(
            f"the protocol {protocol} applies to video to text, and only t2v is requested; "
            "leave one of them out."
        )
    replaced: MatrixTies | None = next((rule for rule in _TIES if rule == ties), None)
    if replaced is None and ties is not None:
        raise UnknownName(f"unknown tie rule {ties!r}; the rules are {', '.join(_TIES)}.")
    t2v, v2t = (
        {**convention.words, **convention.words_of_parts.get(side, {})} for side in ("t2v", "v2t")
    )
    directions = (
        [Direction("t2v", replaced or caption_rules.t2v, t2v)] if requested != "v2t" else []
    )
    for collapsed, name, label in (
        (False, "among-captions", "v2t"),
        (True, "among-videos", "v2t-videos"),
    ):
        if requested != "t2v" and (protocol or caption_rules.protocol) in (name, "both"):
            directions.append(
                Direction(
                    label,
                    replaced or caption_rules.v2t,
                    v2t,
                    video_to_text=True,
                    collapsed=collapsed,
                )
            )
    return directions


def _labelled_measures(
    texts: Sequence[str] | None,
    ks: Sequence[int] | None,
    convention: Convention,
    direction: Direction,
) -> tuple[LabelledMeasure, ...]:
    """The measures of a direction: those named, or the convention's; at every cut-off of `ks` where
    they need one.

    A name with parameters (`R(rel=1)@5`) is that of a measure, whatever the convention means by the
    word.
    """
    # Everything that a matrix ranks has been judged.
    names = list(texts or [text for text in convention.defaults if not text.startswith("Judged")])
    if texts is None and ks is not None:
        names = list(dict.fromkeys(text.partition("@")[0] for text in names))
    labelled: dict[str, LabelledMeasure] = {}
    for text in names:
        rules = convention._replace(words={} if _is_exact(text) else direction.words)
        for spelled in at_each_cutoff(text, ks or CUTOFFS, rules.words):
            (labelled_measure,) = choose_measures([spelled], rules)
            label = (
                spelled.strip()
                if _other_meaning(labelled_measure.measure, direction)
                else labelled_measure.label
            )
            labelled.setdefault(
                str(labelled_measure.measure), labelled_measure._replace(label=label)
            )
    return tuple(labelled.values())


def _other_meaning(measure: Measure, direction: Direction) -> str:
    """The meaning of a measure's exact name as a word of the convention, where that is something
    else; else empty.
    """
    try:
        word_measure = parse_measure(str(measure), direction.words)
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
        no_relevant: str,
        measures: Mapping[str, Sequence[LabelledMeasure]],
    ) -> None:
        self.inputs, self.no_relevant, self.measures = inputs, no_relevant, measures
        self.builder = ResultsBuilder(convention)
        self.aggregates: list[dict[str, Any]] = []
        self.summarised: int | None = None
        self.views: dict[tuple[str, str], JudgedRankings] = {}
        self.details: list[tuple[str, Direction, Details]] = []

    def question(self, direction: Direction, *, details: bool, sized: bool) -> Question:
        """The question of a direction, as `question_of`."""
        inputs, best = self.inputs, self._reads_best(direction, details=details)
        names = names_of(inputs.names[0], inputs.rows), inputs.names[1]
        return question_of(
            direction, names, inputs.positives, best=best, details=details, sized=sized
        )

    def _reads_best(self, direction: Direction, *, details: bool) -> bool:
        return not details and all(
            reads_best_only(labelled_measure.measure)
            for labelled_measure in self.measures[direction.name]
        )

    def add_runs(
        self, directions: Sequence[Direction], *, details: bool, progress: Progress | None
    ) -> None:
        """Measures all directions of all runs."""
        for run in self.inputs.runs:
            try:
                for direction in directions:
                    self.add(run, direction, details=details, progress=progress)
            except BadScore:
                self.inputs.refuse_non_finite(run)
                raise

    def add_folds(
        self, n: int, directions: Sequence[Direction], *, details: bool, progress: Progress | None
    ) -> None:
        """Measures all directions of all runs in each fold; the values are those of all folds
        together.
        """
        parts = [
            _CaptionEvaluation(fold, self.builder.convention, self.no_relevant, self.measures)
            for fold in self.inputs.folds(n)
        ]
        for number, part in enumerate(parts, 1):
            try:
                part.add_runs(directions, details=details, progress=progress)
            except BadScore:
                for run in self.inputs.runs:
                    self.inputs.refuse_non_finite(run)
                raise
            part.builder.notes = [*part.inputs.notes, *part.builder.notes]
            self.details += part.details
            self.views |= {
                (f"{run} fold {number}", direction): view
                for (run, direction), view in part.views.items()
            }
        masked = len(self.inputs.names[0]) - self.inputs.positives.n_queries
        self.aggregates += join_folds(self.builder, [part.builder for part in parts], masked)
        self.summarised = sum(values.summary == "mean" for values in self.builder.values)
        self.inputs.rules["folds"] = (
            f"{n} of {len(self.inputs.names[1]) // n} videos, in the order of the table"
        )

    def add(
        self, name: str, direction: Direction, *, details: bool, progress: Progress | None
    ) -> None:
        """Measures one direction of one run."""
        inputs, builder, measures = self.inputs, self.builder, self.measures[direction.name]
        compared = inputs.compared(name, direction)
        run = CaptionRun.of(
            name,
            compared,
            inputs.positives,
            direction,
            inputs.copies(name),
            best=self._reads_best(direction, details=details),
            hits_after_last=builder.convention.rules_of(
                "captions", CaptionConvention()
            ).hits_after_last,
            progress=progress_of(progress, f"{name} {direction.name}"),
        )
        counted = run.counted(self.no_relevant)
        word = builder.convention.name
        for labelled_measure in measures:
            if other_measure := _other_meaning(labelled_measure.measure, direction):
                exact = str(labelled_measure.measure)
                builder.notes.append(
                    f"{labelled_measure.label} is the measure {exact} itself; as a word of {word}, "
                    f"{exact} means {other_measure}"
                )
        n_shared = int((inputs.positives.counts > 1).sum()) if direction.collapsed else 0
        if n_shared:
            builder.notes.append(
                f"{direction.name}: {n_shared} captions belong to several videos; captions are "
                "collapsed for a video each, so that such a caption raises all of its videos"
            )
        self._note_beyond(run, measures, counted)
        builder.add(run, measures, counted)
        builder.counts[direction.name if len(inputs.runs) == 1 else f"{name} {direction.name}"] = {
            results.QUERIES_COUNTED: int(counted.sum()),
            results.QUERIES_WITHOUT_RELEVANT: int(run.without_positives.sum()),
            results.QUERIES_MASKED: 0
            if direction.video_to_text
            else len(inputs.names[0]) - inputs.positives.n_queries,
            results.QUERIES_BEST_TIED: run.n_best_tied,
        }
        self.views[name, direction.name] = run.view
        if details:
            self.details.append((name, direction, run.details(compared)))

    def _note_beyond(
        self, run: CaptionRun, measures: Sequence[LabelledMeasure], counted: Bools
    ) -> None:
        """Notes the queries without positives that count as hits, which a gallery smaller than K
        allows, and those of none.
        """
        if run.without_positives.all():
            self.builder.notes.append(
                f"{run.direction.name}: none of the queries has a positive, so that each has the "
                f"rank {run.n_items + 1}, as in {self.builder.convention.name}; check the positives"
            )
        labels = [
            labelled_measure.label
            for labelled_measure in measures
            if (run.hits_beyond(labelled_measure.measure) & counted).any()
        ]
        if labels:
            n_bare = int((run.without_positives & counted).sum())
            bare = count_of(
                n_bare, "query without positives counts", "queries without positives count"
            )
            problem = (
                f"{run.direction.name}: {bare} as a hit in {', '.join(labels)}, as the gallery "
                f"has only {run.n_items} items"
            )
            self.builder.notes.append(
                f"{problem} (convention {self.builder.convention.name}; "
                f"{flag('--no-relevant', 'skip')} leaves them out)"
            )

    def add_aggregates(self, run: str, names: Sequence[str], options: CaptionOptions) -> None:
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
            key: [columns_of_direction[recall] for recall in RECALLS]
            for key, columns_of_direction in columns.items()
            if {*RECALLS} <= columns_of_direction.keys()
        }
        if names and len(recalls) < len(columns):
            self.builder.notes.append(
                f"{', '.join(names)}: these are made of R@1, R@5 and R@10; request all three (-k "
                "1,5,10)"
            )
            return
        pairs = [
            ("t2v", direction) for direction in recalls if direction != "t2v" and "t2v" in recalls
        ]
        for name in names:
            sets = [] if name == "rsum" else [(direction,) for direction in recalls]
            sets += pairs if name != "gmean" else []
            self.aggregates += [
                aggregate_row(
                    name,
                    {direction: recalls[direction] for direction in names_of_directions},
                    options,
                )
                for names_of_directions in sets
            ]

    def results(
        self, directions: Sequence[Direction], options: CaptionOptions, *, details: bool
    ) -> CaptionResults:
        """The results of all runs and directions."""
        inputs, builder = self.inputs, self.builder
        measures = [
            labelled_measure for labelled in self.measures.values() for labelled_measure in labelled
        ]
        ties = {direction.name: direction.ties for direction in directions}
        has_several = len(set(ties.values())) > 1
        rule = (
            ", ".join(f"{name} {rule}" for name, rule in ties.items())
            if has_several
            else directions[0].ties
        )
        definitions = {
            str(labelled_measure.measure): builder.definition(labelled_measure.measure)
            for labelled_measure in measures
        }
        rules = {
            "convention": builder.convention.name,
            "ties": builder.ties(rule),
            "no_relevant": self.no_relevant,
            **inputs.rules,
            "counts": builder.counts,
            "measures": definitions
            | {
                row["measure"]: DEFINITIONS[row["measure"]]
                for row in self.aggregates
                if row["measure"] in DEFINITIONS
            },
        }
        rows = (
            (run, details_of_run, json.dumps({"direction": direction.name}))
            for run, direction, details_of_run in self.details
        )
        return builder.results(
            CaptionResults,
            rules=rules,
            measures=measures,
            notes=[
                *_rule_notes(builder.convention, directions, options),
                *inputs.notes,
                *builder.notes,
            ],
            query_columns=("direction",),
            aggregates=tuple(self.aggregates),
            summarised=self.summarised,
            sources=inputs.sources,
            details=detail_columns(rows, states=COMPLETE) if details else None,
            queries=self._query_columns() if details else None,
            items=self._item_columns() if details else None,
            intervals=options.intervals,
            seed=options.seed,
            views=self.views,
            check=_beyond_notes,
            task="captions",
        )

    def _item_columns(self) -> dict[str, list[Any]]:
        """The columns of items.parquet by direction: what the ranked captions say, and of videos
        what their own captions say.
        """
        texts = self.inputs.said
        retrieved = dict[str, set[str]]()
        text_of = dict[str, Mapping[str, str]]()
        if not texts:
            return {}
        captions_of_video = {
            name: _together([texts[caption] for caption in captions])
            for name, captions in self.inputs.captions_of().items()
            if captions
        }
        for _, direction, details in self.details:
            retrieved.setdefault(direction.name, set()).update(details.item)
            text_of[direction.name] = (
                texts if direction.video_to_text and not direction.collapsed else captions_of_video
            )
        rows = [
            (item, name)
            for name, items in retrieved.items()
            for item in sort_ids(items & text_of[name].keys())
        ]
        text = [text_of[name][item] for item, name in rows]
        return {"item": [item for item, _ in rows], "of": [name for _, name in rows], "text": text}

    def _query_columns(self) -> dict[str, list[Any]]:
        """The columns of queries.parquet: the queries of every direction, with their text where it
        is known.
        """
        queries: dict[str, dict[str, None]] = {}
        for (_, direction), view in self.views.items():
            queries.setdefault(direction, {}).update(dict.fromkeys(view.queries))
        rows = [(query, direction) for direction, names in queries.items() for query in names]
        return {
            "query": [query for query, _ in rows],
            "text": [
                self.inputs.said.get(query) if direction == "t2v" else None
                for query, direction in rows
            ],
            "direction": [direction for _, direction in rows],
        }


def _together(texts: Sequence[str]) -> str:
    """The first of different texts, and how many there are besides."""
    distinct = list(dict.fromkeys(texts))
    n_more = [f"{len(distinct) - _SHOWN} more"] if len(distinct) > _SHOWN else []
    return " · ".join([*distinct[:_SHOWN], *n_more])


def _rule_notes(
    convention: Convention, directions: Sequence[Direction], options: CaptionOptions
) -> list[str]:
    """Notes on the rules in force, except those that the user replaced; of a convention of other
    tasks, on what is used of it.
    """
    notes = [*convention.unnamed(options), *convention.notes]
    for rule, texts in convention.rule_notes.items():
        applies = getattr(options, rule, None) is None and (
            rule != "protocol" or any(direction.collapsed for direction in directions)
        )
        notes += texts if applies else ()
    if "captions" not in convention.tasks:
        tie_note = "" if options.ties is not None else f", and ties are {directions[0].ties}"
        notes = [
            f"the convention {convention.name} does not support score matrices: its words, "
            f"measures and unit are used{tie_note}"
        ]
    for rule, note in _TIE_NOTES.items():
        names_with_rule = [direction.name for direction in directions if direction.ties == rule]
        notes += [f"ties={rule} ({', '.join(names_with_rule)}): {note}"] if names_with_rule else []
    return notes


def _beyond_notes(result: Results) -> list[str]:
    """A note on t intervals that go beyond what a measure can be."""
    names: dict[str, None] = {}
    for row in result.summary if result.intervals == "t" else ():
        low, high = RANGES.get(row["unit"], (-math.inf, math.inf))
        if row["ci_low"] is not None and (row["ci_low"] < low or row["ci_high"] > high):
            names[f"{row['label']} ({row['direction']})"] = None
    if not names:
        return []
    labels = ", ".join(names)
    return [
        f"t intervals of {labels} go beyond what the figures can be, for few or lopsided "
        "values; see the bootstrap's"
    ]
