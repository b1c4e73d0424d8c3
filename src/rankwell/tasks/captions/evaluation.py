"""Scores of captions and videos -> values: the ranks of the positives, from text to video and from video to text."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rankwell.conventions import CONVENTIONS, Convention, LabelledMeasure
from rankwell.core.options import cutoffs, takes_options
from rankwell.core.registry import measure_names
from rankwell.core.tables import sort_ids
from rankwell.core.views.judged import JudgedRankings
from rankwell.errors import BadScore
from rankwell.evaluation.details import COMPLETE, Details, detail_columns
from rankwell.evaluation.results import (
    QUERIES_BEST_TIED,
    QUERIES_COUNTED,
    QUERIES_MASKED,
    QUERIES_WITHOUT_RELEVANT,
    Results,
    ResultsBuilder,
)
from rankwell.evaluation.results import Progress as RunProgress
from rankwell.measures.first_rank import reads_best_only
from rankwell.stats import Intervals, check_intervals
from rankwell.tasks.captions.aggregates import DEFINITIONS, aggregate_rows, named_aggregates
from rankwell.tasks.captions.inputs import CaptionInputs
from rankwell.tasks.captions.options import (
    CaptionOptions,
    Direction,
    chosen_directions,
    labelled_measures,
    notes_of,
    other_meanings,
)
from rankwell.tasks.captions.runs import CaptionRun

Progress = Callable[[str, int, int], None]


def _beyond_notes(result: Results) -> list[str]:
    """A note on t intervals that go beyond what a measure can be."""
    beyond = [row for row in result.summary if row["ci_low"] is not None and result.intervals == "t" and _is_beyond(row)]
    if not beyond:
        return []
    names = ", ".join(dict.fromkeys(f"{row['label']} ({row['direction']})" for row in beyond))
    return [f"t intervals of {names} go beyond what the figures can be, for few or lopsided values; see the bootstrap's"]


def _is_beyond(row: Mapping[str, Any]) -> bool:
    low, high = {"percent": (0.0, 100.0), "share": (0.0, 1.0), "rank": (1.0, math.inf)}.get(row["unit"], (-math.inf, math.inf))
    return bool(row["ci_low"] < low or row["ci_high"] > high)


@takes_options(CaptionOptions)
def captions(
    scores: Any = None,
    positives: Any = "diagonal",
    *,
    options: CaptionOptions,
    details: bool = False,
    progress: Progress | None = None,
) -> Results:
    """Ranks the right videos of every caption among all videos, and the right captions of every video among all captions.

    scores: a row per caption and a column per video, higher is better: whatever `read_scores` takes, several of them in a list or
    a mapping name -> scores; or queries and gallery: embeddings of captions and of videos, of which no matrix is ever made.
    positives: whatever `read_positives` takes; or `counts:FILE`, `counts:20` and `groups:FILE[,FILE]` as texts. options: the
    fields of `CaptionOptions`, as keywords or as one; names of rows and columns may be lists, the mask an array of 1 for every
    caption (row) that is there and 0 for none. details: keep the first items of each query for a folder of results.
    Of the result, `summary` has a row per run, direction and measure, `per_query()` one per query besides, `notes` what is to be
    known, `views` the places of the right items.
    Raises BadInput and BadScore that name row and column, BadUsage and UnknownName, NothingToEvaluate where no query counts.

    >>> result = captions([[0.9, 0.1], [0.8, 0.3]], [[0], [1]], direction="t2v", k=1, intervals="none")
    >>> [(row["label"], row["mean"], row["unit"]) for row in result.summary]
    [('R@1', 50.0, 'percent'), ('MedR', 1.5, 'rank'), ('MnR', 1.5, 'rank')]
    >>> [(row["query"], row["value"]) for row in result.per_query() if row["label"] == "MedR"]
    [('0', 1.0), ('1', 2.0)]
    """
    rules = CONVENTIONS[options.convention]
    directions = chosen_directions(rules, options.direction, options.protocol, options.ties)
    check_intervals(options.intervals, options.seed)
    names, aggregates = named_aggregates(measure_names(options.measures), rules, options.direction)
    ks = None if options.k is None else cutoffs(options.k)
    labelled = {each.name: labelled_measures(names, ks, rules, each) for each in directions}
    inputs = CaptionInputs.read(scores, positives, options, [each.name for each in directions])
    evaluation = _CaptionEvaluation(inputs, rules, options.no_relevant or rules.no_relevant, labelled)
    for run in inputs.runs:
        try:
            for each in directions:
                evaluation.add(run, each, details=details, progress=progress)
        except BadScore as error:
            raise BadScore(f"{inputs.called(run)}{error}") from error
        evaluation.add_aggregates(run, aggregates, options.intervals, options.seed)
    own = [name for name in ("ties", "no_relevant", "protocol") if getattr(options, name) is not None]
    return evaluation.results(directions, notes_of(rules, directions, own), options, details=details)


class _CaptionEvaluation:
    """The runs and directions measured so far."""

    def __init__(
        self, inputs: CaptionInputs, convention: Convention, no_relevant: str, measures: Mapping[str, Sequence[LabelledMeasure]]
    ) -> None:
        self.inputs, self.no_relevant, self.measures = inputs, no_relevant, measures
        self.builder = ResultsBuilder(convention)
        self.aggregates: list[dict[str, Any]] = []
        self.views: dict[tuple[str, str], JudgedRankings] = {}
        self.details: list[tuple[str, Direction, Details]] = []
        self.queries: dict[str, Sequence[str]] = {}

    def add(self, name: str, direction: Direction, *, details: bool, progress: Progress | None) -> None:
        """Measures one direction of one run."""
        inputs, builder, measures = self.inputs, self.builder, self.measures[direction.name]
        compared = inputs.compared(name, direction)
        run = CaptionRun.of(
            name,
            compared,
            inputs.positives,
            direction,
            inputs.copies(name),
            best=not details and all(reads_best_only(each.measure) for each in measures),
            progress=RunProgress.of(progress, f"{name} {direction.name}"),
        )
        counted = run.counted(self.no_relevant)
        builder.notes += other_meanings(measures, builder.convention, direction)
        if direction.collapsed and (inputs.positives.counts > 1).any():
            many = int((inputs.positives.counts > 1).sum())
            builder.notes.append(
                f"{direction.name}: {many} captions belong to several videos; captions are collapsed for a video each, so that "
                "such a caption raises all of its videos"
            )
        builder.add(run, measures, counted)
        key = direction.name if len(inputs.runs) == 1 else f"{name} {direction.name}"
        builder.counts[key] = {
            QUERIES_COUNTED: int(counted.sum()),
            QUERIES_WITHOUT_RELEVANT: int(run.without_positives.sum()),
            QUERIES_MASKED: 0 if direction.video_to_text else inputs.masked,
            QUERIES_BEST_TIED: run.n_best_tied,
        }
        self.views[name, direction.name] = run.view
        self.queries[direction.name] = run.view.queries
        if details:
            self.details.append((name, direction, run.details(compared)))

    def add_aggregates(self, run: str, names: Sequence[str], intervals: Intervals, seed: int) -> None:
        """Adds the aggregates of several recalls of a run."""
        pairs = zip(self.builder.values, self.builder.row_attributes, strict=True)
        rows, notes = aggregate_rows([pair for pair in pairs if pair[0].run == run], names, intervals, seed)
        self.aggregates += rows
        self.builder.notes += notes

    def results(
        self, directions: Sequence[Direction], notes: Sequence[str], options: CaptionOptions, *, details: bool
    ) -> Results:
        """The results of all runs and directions. notes: those of the rules."""
        inputs, builder = self.inputs, self.builder
        return builder.results(
            rules=self.rules(directions),
            measures=[each for every in self.measures.values() for each in every],
            notes=[*notes, *inputs.notes, *builder.notes],
            query_columns=("direction",),
            aggregates=tuple(self.aggregates),
            sources=inputs.sources,
            details=caption_detail_columns(self.details) if details else None,
            queries=query_columns(self.queries, inputs.said) if details else None,
            items=item_columns(self.details, inputs.said, inputs.captions_of) if details else None,
            intervals=options.intervals,
            seed=options.seed,
            objects={"views": self.views},
            check=_beyond_notes,
            task="captions",
        )

    def rules(self, directions: Sequence[Direction]) -> dict[str, Any]:
        """Every choice that decided a number."""
        every = [each.measure for measures in self.measures.values() for each in measures]
        return {
            "convention": self.builder.convention.name,
            "ties": _joined({each.name: each.ties for each in directions}),
            "no_relevant": self.no_relevant,
            **self.inputs.rules,
            "counts": self.builder.counts,
            "measures": {str(each): each.entry.definition for each in every}
            | {row["measure"]: DEFINITIONS[row["measure"]] for row in self.aggregates},
        }


def _joined(by_direction: Mapping[str, str]) -> str:
    """One rule where all directions have it, else each with its direction."""
    rules = set(by_direction.values())
    return rules.pop() if len(rules) == 1 else ", ".join(f"{direction} {rule}" for direction, rule in by_direction.items())


_SHOWN = 5


def caption_detail_columns(found: Sequence[tuple[str, Direction, Details]]) -> dict[str, list[Any]]:
    """The columns of details.parquet, with the direction as `detail`."""
    return detail_columns(
        ((run, details, json.dumps({"direction": direction.name})) for run, direction, details in found), states=COMPLETE
    )


def item_columns(
    found: Sequence[tuple[str, Direction, Details]],
    texts: Mapping[str, str],
    captions_of: Callable[[], Mapping[str, Sequence[str]]],
) -> dict[str, list[Any]]:
    """The columns of items.parquet: what the captions say that are ranked, and of videos what their own captions say.

    `of` is the direction, for a caption and a video may have the same name. texts: caption -> what it says. captions_of: gives
    the captions of each video; not asked where no text is known.
    """
    if not texts:
        return {}
    own = {video: _together([texts[each] for each in captions]) for video, captions in captions_of().items() if captions}
    listed: dict[str, set[str]] = {}
    known: dict[str, Mapping[str, str]] = {}
    for _, direction, details in found:
        listed.setdefault(direction.name, set()).update(details.item)
        known[direction.name] = texts if direction.video_to_text and not direction.collapsed else own
    rows = [(item, name) for name, items in listed.items() for item in sort_ids(items & known[name].keys())]
    return {
        "item": [item for item, _ in rows],
        "of": [name for _, name in rows],
        "text": [known[name][item] for item, name in rows],
    }


def _together(texts: Sequence[str]) -> str:
    """The first of different texts, and how many there are besides."""
    shown = list(dict.fromkeys(texts))
    rest = [f"{len(shown) - _SHOWN} more"] if len(shown) > _SHOWN else []
    return " · ".join([*shown[:_SHOWN], *rest])


def query_columns(queries: Mapping[str, Sequence[str]], texts: Mapping[str, str]) -> dict[str, list[Any]]:
    """The columns of queries.parquet: the queries of every direction, with their text where it is known.

    queries: direction -> names. texts: caption -> what it says.
    """
    rows = [(query, direction) for direction, names in queries.items() for query in names]
    return {
        "query": [query for query, _ in rows],
        "text": [texts.get(query) if direction == "t2v" else None for query, direction in rows],
        "direction": [direction for _, direction in rows],
    }
