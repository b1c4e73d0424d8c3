"""Scores of captions and videos -> values: the ranks of the positives, from text to video and from video to text."""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from rankwell.conventions import CONVENTIONS, Convention, LabelledMeasure, NoRelevantRule
from rankwell.core.registry import split_names, suggest
from rankwell.core.views.judged import JudgedRankings
from rankwell.errors import BadScore, BadUsage, UnknownName
from rankwell.evaluation.details import Details
from rankwell.evaluation.results import (
    QUERIES_BEST_TIED,
    QUERIES_COUNTED,
    QUERIES_MASKED,
    QUERIES_WITHOUT_RELEVANT,
    Results,
    ResultsBuilder,
)
from rankwell.evaluation.results import Progress as RunProgress
from rankwell.io.embeddings import read_column
from rankwell.measures.first_rank import reads_best_only
from rankwell.stats import Intervals, check_intervals
from rankwell.tasks.captions.aggregates import DEFINITIONS, aggregate_rows, named_aggregates
from rankwell.tasks.captions.directions import (
    Direction,
    Protocol,
    Which,
    chosen_directions,
    labelled_measures,
    notes_of,
    other_meanings,
)
from rankwell.tasks.captions.inputs import CaptionInputs
from rankwell.tasks.captions.runs import CaptionRun
from rankwell.tasks.captions.tables import caption_detail_columns, item_columns, query_columns

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


def captions(
    scores: Any = None,
    positives: Any = "diagonal",
    *,
    queries: Any = None,
    gallery: Any = None,
    metric: str | None = None,
    query_ids: Any = None,
    item_ids: Any = None,
    direction: Which = "both",
    protocol: Protocol | None = None,
    measures: Sequence[str] | str | None = None,
    k: Sequence[int] | int | str | None = None,
    convention: str = "hgr",
    ties: str | None = None,
    no_relevant: str | None = None,
    mask: Any = None,
    transform: str | None = None,
    bank: Any = None,
    texts: Any = None,
    intervals: Intervals = "bootstrap",
    seed: int = 0,
    details: bool = False,
    progress: Progress | None = None,
) -> Results:
    """Where the right videos of every caption stand among all videos, and the right captions of every video among all captions.

    scores: a row per caption and a column per video, higher is better: whatever `read_scores` takes, several of them in a list or
    a mapping name -> scores; or queries and gallery: embeddings of captions and of videos, of which no matrix is ever made.
    positives: whatever `read_positives` takes; or `counts:FILE`, `counts:20` and `groups:FILE[,FILE]` as texts. query_ids,
    item_ids: names of rows and columns, as lists or as files of them. protocol: `among-captions` ranks a video's best caption
    among all captions, `among-videos` collapses a video's captions to the highest score and ranks the video among videos.
    measures: names, at every `k` where they need a cut-off; `rsum`, `gmean` and `r_mean` among them; the convention's where None.
    ties, no_relevant: what the user has instead of the convention. mask: 1 for every caption (row) that is there, 0 for none.
    transform: as `parse_transform` reads it, with its bank where it needs one. texts: what the captions say, for the ceiling.
    details: keep the first items of each query for a folder of results.
    Of the result, `summary` has a row per run, direction and measure, `per_query()` one per query besides, `notes` what is to be
    known, `views` the places of the right items.
    Raises BadInput and BadScore that name row and column, BadUsage and UnknownName, NothingToEvaluate where no query counts.

    >>> result = captions([[0.9, 0.1], [0.8, 0.3]], [[0], [1]], direction="t2v", k=1, intervals="none")
    >>> [(row["label"], row["mean"], row["unit"]) for row in result.summary]
    [('R@1', 50.0, 'percent'), ('MedR', 1.5, 'rank'), ('MnR', 1.5, 'rank')]
    >>> [(row["query"], row["value"]) for row in result.per_query() if row["label"] == "MedR"]
    [('0', 1.0), ('1', 2.0)]
    """
    rules = CONVENTIONS[convention]
    directions = chosen_directions(rules, direction, protocol, ties)
    check_intervals(intervals, seed)
    policy = rules.no_relevant if no_relevant is None else no_relevant
    if policy not in get_args(NoRelevantRule):
        raise UnknownName(f"no rule is called {policy!r}; {suggest(policy, get_args(NoRelevantRule))}")
    names, aggregates = named_aggregates(split_names(measures) if isinstance(measures, str) else measures, rules, direction)
    ks = _cutoffs(k)
    labelled = {each.name: labelled_measures(names, ks, rules, each) for each in directions}
    inputs = CaptionInputs.read(scores, queries, gallery, metric, _ids(query_ids), _ids(item_ids))
    inputs.prepare(positives, mask, transform, bank, texts, [each.name for each in directions])
    evaluation = _CaptionEvaluation(inputs, rules, policy, labelled)
    own = [name for name, given in (("ties", ties), ("no_relevant", no_relevant), ("protocol", protocol)) if given is not None]
    for run in inputs.runs:
        try:
            for each in directions:
                evaluation.add(run, each, details=details, progress=progress)
        except BadScore as error:
            raise BadScore(f"{inputs.called(run)}{error}") from error
        evaluation.add_aggregates(run, aggregates, intervals, seed)
    builder = evaluation.builder
    return builder.results(
        rules=evaluation.rules(directions),
        measures=[each for every in labelled.values() for each in every],
        notes=[*notes_of(rules, directions, own), *inputs.notes, *builder.notes],
        query_columns=("direction",),
        aggregates=tuple(evaluation.aggregates),
        sources=inputs.sources,
        details=caption_detail_columns(evaluation.details) if details else None,
        queries=query_columns(evaluation.queries, inputs.said) if details else None,
        items=item_columns(evaluation.details, inputs.said, inputs.captions_of) if details else None,
        intervals=intervals,
        seed=seed,
        objects={"views": evaluation.views},
        check=_beyond_notes,
        task="captions",
    )


def _cutoffs(k: Sequence[int] | int | str | None) -> tuple[int, ...] | None:
    """Cut-offs as a text (`1,5,10`), one, or several. Raises BadUsage for what is no whole number from 1."""
    words: list[Any] = k.replace(",", " ").split() if isinstance(k, str) else [k] if isinstance(k, int) else list(k or ())
    if k is None:
        return None
    if not words or not all(str(word).isdecimal() and int(word) for word in words):
        raise BadUsage(f"k={k!r}: cut-offs are whole numbers from 1, as 1,5,10.")
    return tuple(map(int, words))


def _ids(place: Any) -> Any:
    """Names in a list, or those in a file."""
    if isinstance(place, (str, Path)):
        return read_column(place)
    return place


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
