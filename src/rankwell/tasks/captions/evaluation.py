"""Scores of captions and videos -> values: the ranks of the positives, from text to video and from video to text."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rankwell.conventions import CONVENTIONS, Convention, LabelledMeasure
from rankwell.core.options import cutoffs, takes_options
from rankwell.core.registry import measure_names
from rankwell.core.tables import Floats, Values, sort_ids
from rankwell.core.views.judged import JudgedRankings
from rankwell.errors import BadScore, BadUsage
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
from rankwell.stats import MIN_QUERIES, Intervals, SummaryRow, check_intervals, percentile_interval, resampled_sums
from rankwell.tasks.captions.conventions import CaptionConvention
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


def rsum(recalls: Sequence[float]) -> float:
    """The sum of R@1, R@5 and R@10 of both directions, in their own unit: 600 percent at most. Source: Lee and others 2018, SCAN.

    Raises BadUsage where there is none.
    """
    _check(recalls)
    return math.fsum(recalls)


def geometric_mean(recalls: Sequence[float]) -> float:
    """The geometric mean of R@1, R@5 and R@10 of one direction; 0 where one is 0. Source: Liu and others 2019, Use what you have.

    Raises BadUsage where there is none or one is negative.
    """
    _check(recalls)
    if min(recalls) < 0:
        raise BadUsage(f"a recall of {min(recalls)}; recalls are from 0.")
    return 0.0 if 0 in recalls else math.exp(math.fsum(map(math.log, recalls)) / len(recalls))


def mean_recall(recalls: Sequence[float]) -> float:
    """The mean of R@1, R@5 and R@10, of one direction or of both (`r_mean`). Source: Li and others 2023, LAVIS, itm_eval.

    Raises BadUsage where there is none.
    """
    _check(recalls)
    return math.fsum(recalls) / len(recalls)


def _check(recalls: Sequence[float]) -> None:
    if not recalls:
        raise BadUsage("no recall is given; name at least one, as R@1.")


Aggregate = Callable[[Sequence[float]], float]


def aggregate_interval(
    groups: Sequence[Floats], aggregate: Aggregate, *, resamples: int = 10_000, seed: int = 0, level: float = 0.95
) -> tuple[float, float] | None:
    """The percentile bootstrap interval of an aggregate of means; queries are drawn with replacement.

    groups: for each set of queries (queries, means) the averaged values, in the order in which `aggregate` takes the means.
    Sets of as many queries are drawn alike, for where captions and videos are in pairs the same pair is drawn for both; sets of
    different sizes are drawn apart. None below 10 queries in any set. Source: Efron and Tibshirani 1993, 13.3.
    """
    if not groups or min(map(len, groups)) < MIN_QUERIES:
        return None
    sizes = list(dict.fromkeys(map(len, groups)))
    drawn = {
        n: _means([group for group in groups if len(group) == n], n, resamples, seed + place) for place, n in enumerate(sizes)
    }
    taken = {
        n: iter(np.split(means, _edges([group for group in groups if len(group) == n]), axis=1)) for n, means in drawn.items()
    }
    columns = np.hstack([next(taken[len(group)]) for group in groups])
    return percentile_interval(np.array([aggregate(row) for row in columns.tolist()]), level)


def _edges(groups: Sequence[Floats]) -> list[int]:
    return np.cumsum([group.shape[1] for group in groups])[:-1].tolist()


def _means(groups: Sequence[Floats], n: int, resamples: int, seed: int) -> Floats:
    """(resamples, columns) the means of all columns of sets of n queries that are drawn alike."""
    return resampled_sums(np.hstack(groups), resamples, seed=seed) / n


_RECALLS = tuple(f"Success@{k}" for k in (1, 5, 10))
_AGGREGATES: Mapping[str, Callable[[Sequence[float]], float]] = {"rsum": rsum, "gmean": geometric_mean, "r_mean": mean_recall}
DEFINITIONS = {
    name: {"definition": (function.__doc__ or "").split("\n")[0], "better": "higher"} for name, function in _AGGREGATES.items()
}


Column = tuple[Values, Mapping[str, Any]]
"""The values of one measure in one direction, with the other cells of its summary row."""


def named_aggregates(names: Sequence[str] | None, convention: Convention, which: str) -> tuple[list[str] | None, list[str]]:
    """The measures among the names, and the aggregates: those named, or the convention's where nothing is named.

    Where aggregates are named, the recalls that they are made of are among the measures. which: the requested directions.
    Raises BadUsage for a sum over both directions where only one is requested.
    """
    if names is None:
        rules: CaptionConvention = convention.tasks.get("captions", CaptionConvention())
        return None, [name for name in rules.aggregates if name != "rsum" or which == "both"]
    measures = [name for name in names if name not in _AGGREGATES]
    aggregates = [name for name in names if name in _AGGREGATES]
    if "rsum" in aggregates and which != "both":
        raise BadUsage(f"rsum is the sum over both directions, and only {which} is requested; leave --direction out.")
    word = "R" if convention.words.get("R") == "Success" else "Success"
    return measures + [f"{word}@{k}" for k in (1, 5, 10) if aggregates], aggregates


def aggregate_rows(
    found: Sequence[Column], names: Sequence[str], intervals: Intervals, seed: int
) -> tuple[list[dict[str, Any]], list[str]]:
    """A summary row per aggregate of one run, and notes on those that cannot be computed.

    `rsum` is of both directions together, the other two of each, and `r_mean` of both too. All need R@1, R@5 and R@10.
    Intervals are those of the bootstrap.
    """
    columns: dict[str, dict[str, Column]] = {}
    for values, attributes in found:
        columns.setdefault(attributes["direction"], {})[values.measure] = values, attributes
    recalls = {key: [own[each] for each in _RECALLS] for key, own in columns.items() if all(each in own for each in _RECALLS)}
    if names and len(recalls) < len(columns):
        return [], [f"{', '.join(names)}: these are made of R@1, R@5 and R@10; request all three (-k 1,5,10)"]
    pairs = [("t2v", direction) for direction in recalls if direction != "t2v" and "t2v" in recalls]
    rows: list[dict[str, Any]] = []
    for name in names:
        sets = [] if name == "rsum" else [(direction,) for direction in recalls]
        sets += pairs if name != "gmean" else []
        rows += [_row(name, chosen, [recalls[each] for each in chosen], intervals, seed) for chosen in sets]
    return rows, []


def _row(
    name: str, directions: tuple[str, ...], recalls: Sequence[Sequence[Column]], intervals: Intervals, seed: int
) -> dict[str, Any]:
    aggregate, every = _AGGREGATES[name], [each for group in recalls for each in group]
    # The recalls of one direction count the same queries.
    groups = [np.column_stack([values.values[values.counted] for values, _ in group]) for group in recalls]
    bounds = None if intervals == "none" else aggregate_interval(groups, aggregate, seed=seed)
    low, high = bounds or (None, None)
    first = every[0][0]
    n = sum(len(group) for group in groups)
    mean = aggregate([float(mean) for group in groups for mean in group.mean(axis=0)])
    row = SummaryRow.of(first.run, name, name, mean, None, low, high, n, first.unit)
    levels = {
        level: aggregate([own[level] for _, own in every]) if all(own[level] is not None for _, own in every) else None
        for level in ("ceiling", "chance")
    }
    return row | {"direction": "+".join(directions)} | levels
