"""Scores of captions and videos -> values: the ranks of the positives, from text to video and from video to text."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rankwell.conventions import CONVENTIONS, Convention, LabelledMeasure, choose_measures
from rankwell.core.options import cutoffs, takes_options
from rankwell.core.registry import Measure, at_each_cutoff, measure_names, parse_measure
from rankwell.core.tables import TIE_RULES, Floats, MatrixTies, Values, sort_ids
from rankwell.core.views.judged import JudgedRankings
from rankwell.errors import BadScore, BadUsage, UnknownName
from rankwell.evaluation import results
from rankwell.evaluation.details import COMPLETE, Details, detail_columns
from rankwell.evaluation.results import Results, ResultsBuilder, progress_of
from rankwell.measures.first_rank import reads_best_only
from rankwell.stats import MIN_QUERIES, SummaryRow, check_intervals, resampled_sums
from rankwell.stats.intervals import RANGES, percentile_interval
from rankwell.tasks.captions.conventions import CaptionConvention
from rankwell.tasks.captions.inputs import CaptionInputs
from rankwell.tasks.captions.options import CaptionOptions
from rankwell.tasks.captions.runs import CaptionRun, Direction

Progress = Callable[[str, int, int], None]
_CUTOFFS = (1, 5, 10)
_TIES: tuple[MatrixTies, ...] = (*TIE_RULES, "input-desc", "averaged", "multiplied")
_TIE_NOTES: dict[MatrixTies, str] = {
    "averaged": (
        "a tied positive has the mean of its places as its rank: R@1 needs exactly 1, R@K for larger K a rank below K + 1; "
        "that is not an expected value"
    ),
    "multiplied": "a query with a tied positive counts once for each place of the tie: n is the number of places, not of queries",
}
_SHOWN = 5


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
    own = rules.rules_of("captions", CaptionConvention())
    directions = _directions(rules, own, options)
    check_intervals(options.intervals, options.seed)
    names, aggregates = named_aggregates(measure_names(options.measures), rules, options.direction)
    ks = None if options.k is None else cutoffs(options.k)
    labelled = {each.name: _labelled_measures(names, ks, rules, each) for each in directions}
    inputs = CaptionInputs(scores, positives, options, directions)
    evaluation = _CaptionEvaluation(inputs, rules, options.no_relevant or rules.no_relevant, labelled)
    for run in inputs.runs:
        try:
            for each in directions:
                evaluation.add(run, each, details=details, progress=progress)
        except BadScore:
            inputs.refuse_non_finite(run)
            raise
        evaluation.add_aggregates(run, aggregates, options)
    return evaluation.results(directions, options, details=details)


def _directions(convention: Convention, own: CaptionConvention, options: CaptionOptions) -> list[Direction]:
    """The requested directions. Raises UnknownName for a tie rule that does not exist, BadUsage for an unused protocol."""
    which, protocol, ties = options.direction, options.protocol, options.ties
    if protocol is not None and which == "t2v":
        raise BadUsage(f"the protocol {protocol} applies to video to text, and only t2v is requested; leave one of them out.")
    replaced: MatrixTies | None = next((rule for rule in _TIES if rule == ties), None)
    if replaced is None and ties is not None:
        raise UnknownName(f"unknown tie rule {ties!r}; the rules are {', '.join(_TIES)}.")
    t2v, v2t = ({**convention.words, **convention.words_of_parts.get(side, {})} for side in ("t2v", "v2t"))
    found = [Direction("t2v", replaced or own.t2v, t2v)] if which != "v2t" else []
    for collapsed, name, label in ((False, "among-captions", "v2t"), (True, "among-videos", "v2t-videos")):
        if which != "t2v" and (protocol or own.protocol) in (name, "both"):
            found.append(Direction(label, replaced or own.v2t, v2t, video_to_text=True, collapsed=collapsed))
    return found


def _labelled_measures(
    texts: Sequence[str] | None, ks: Sequence[int] | None, convention: Convention, direction: Direction
) -> tuple[LabelledMeasure, ...]:
    """The measures of a direction: those named, or the convention's; at every cut-off of `ks` where they need one.

    A name with parameters (`R(rel=1)@5`) is that of a measure, whatever the convention means by the word.
    """
    # Everything that a matrix ranks has been judged.
    named = list(texts or [text for text in convention.defaults if not text.startswith("Judged")])
    if texts is None and ks is not None:
        named = list(dict.fromkeys(text.partition("@")[0] for text in named))
    found: dict[str, LabelledMeasure] = {}
    for text in named:
        rules = convention._replace(words={} if _is_exact(text) else direction.words)
        for spelled in at_each_cutoff(text, ks or _CUTOFFS, rules.words):
            (chosen,) = choose_measures([spelled], rules)
            label = spelled.strip() if _other_meaning(chosen.measure, direction) else chosen.label
            found.setdefault(str(chosen.measure), chosen._replace(label=label))
    return tuple(found.values())


def _other_meaning(measure: Measure, direction: Direction) -> str:
    """The meaning of a measure's exact name as a word of the convention, where that is something else; else empty."""
    try:
        meant = parse_measure(str(measure), direction.words)
    except BadUsage:
        return ""
    return "" if meant == measure else str(meant)


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
        self, inputs: CaptionInputs, convention: Convention, no_relevant: str, measures: Mapping[str, Sequence[LabelledMeasure]]
    ) -> None:
        self.inputs, self.no_relevant, self.measures = inputs, no_relevant, measures
        self.builder = ResultsBuilder(convention)
        self.aggregates: list[dict[str, Any]] = []
        self.views: dict[tuple[str, str], JudgedRankings] = {}
        self.details: list[tuple[str, Direction, Details]] = []

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
            progress=progress_of(progress, f"{name} {direction.name}"),
        )
        counted = run.counted(self.no_relevant)
        word = builder.convention.name
        for each in measures:
            if meant := _other_meaning(each.measure, direction):
                exact = str(each.measure)
                builder.notes.append(f"{each.label} is the measure {exact} itself; as a word of {word}, {exact} means {meant}")
        many = int((inputs.positives.counts > 1).sum()) if direction.collapsed else 0
        if many:
            builder.notes.append(
                f"{direction.name}: {many} captions belong to several videos; captions are collapsed for a video each, so that "
                "such a caption raises all of its videos"
            )
        builder.add(run, measures, counted)
        builder.counts[direction.name if len(inputs.runs) == 1 else f"{name} {direction.name}"] = {
            results.QUERIES_COUNTED: int(counted.sum()),
            results.QUERIES_WITHOUT_RELEVANT: int(run.without_positives.sum()),
            results.QUERIES_MASKED: 0 if direction.video_to_text else len(inputs.names[0]) - inputs.positives.n_queries,
            results.QUERIES_BEST_TIED: run.n_best_tied,
        }
        self.views[name, direction.name] = run.view
        if details:
            self.details.append((name, direction, run.details(compared)))

    def add_aggregates(self, run: str, names: Sequence[str], options: CaptionOptions) -> None:
        """Adds a summary row per aggregate of one run, or a note where R@1, R@5 or R@10 is missing."""
        columns: dict[str, dict[str, Column]] = {}
        for values, attributes in zip(self.builder.values, self.builder.row_attributes, strict=True):
            if values.run == run:
                columns.setdefault(attributes["direction"], {})[values.measure] = values, attributes
        recalls = {key: [own[each] for each in _RECALLS] for key, own in columns.items() if {*_RECALLS} <= own.keys()}
        if names and len(recalls) < len(columns):
            what = "these are made of R@1, R@5 and R@10; request all three (-k 1,5,10)"
            self.builder.notes.append(f"{', '.join(names)}: {what}")
            return
        pairs = [("t2v", direction) for direction in recalls if direction != "t2v" and "t2v" in recalls]
        for name in names:
            sets = [] if name == "rsum" else [(direction,) for direction in recalls]
            sets += pairs if name != "gmean" else []
            self.aggregates += [_aggregate_row(name, {each: recalls[each] for each in chosen}, options) for chosen in sets]

    def results(self, directions: Sequence[Direction], options: CaptionOptions, *, details: bool) -> Results:
        """The results of all runs and directions."""
        inputs, builder = self.inputs, self.builder
        measures = [each for every in self.measures.values() for each in every]
        ties = {each.name: each.ties for each in directions}
        several = len(set(ties.values())) > 1
        rule = ", ".join(f"{name} {rule}" for name, rule in ties.items()) if several else directions[0].ties
        definitions = {str(each.measure): builder.definition(each.measure) for each in measures}
        rules = {
            "convention": builder.convention.name,
            "ties": builder.ties(rule),
            "no_relevant": self.no_relevant,
            **inputs.rules,
            "counts": builder.counts,
            "measures": definitions | {row["measure"]: DEFINITIONS[row["measure"]] for row in self.aggregates},
        }
        rows = ((run, found, json.dumps({"direction": each.name})) for run, each, found in self.details)
        return builder.results(
            rules=rules,
            measures=measures,
            notes=[*_rule_notes(builder.convention, directions, options), *inputs.notes, *builder.notes],
            query_columns=("direction",),
            aggregates=tuple(self.aggregates),
            sources=inputs.sources,
            details=detail_columns(rows, states=COMPLETE) if details else None,
            queries=self._query_columns() if details else None,
            items=self._item_columns() if details else None,
            intervals=options.intervals,
            seed=options.seed,
            objects={"views": self.views},
            check=_beyond_notes,
            task="captions",
        )

    def _item_columns(self) -> dict[str, list[Any]]:
        """The columns of items.parquet by direction: what the ranked captions say, and of videos what their own captions say."""
        texts, listed, known = self.inputs.said, dict[str, set[str]](), dict[str, Mapping[str, str]]()
        if not texts:
            return {}
        own = {name: _together([texts[each] for each in mine]) for name, mine in self.inputs.captions_of().items() if mine}
        for _, direction, details in self.details:
            listed.setdefault(direction.name, set()).update(details.item)
            known[direction.name] = texts if direction.video_to_text and not direction.collapsed else own
        rows = [(item, name) for name, items in listed.items() for item in sort_ids(items & known[name].keys())]
        text = [known[name][item] for item, name in rows]
        return {"item": [item for item, _ in rows], "of": [name for _, name in rows], "text": text}

    def _query_columns(self) -> dict[str, list[Any]]:
        """The columns of queries.parquet: the queries of every direction, with their text where it is known."""
        queries = {direction: view.queries for (_, direction), view in self.views.items()}
        rows = [(query, direction) for direction, names in queries.items() for query in names]
        return {
            "query": [query for query, _ in rows],
            "text": [self.inputs.said.get(query) if direction == "t2v" else None for query, direction in rows],
            "direction": [direction for _, direction in rows],
        }


def _together(texts: Sequence[str]) -> str:
    """The first of different texts, and how many there are besides."""
    shown = list(dict.fromkeys(texts))
    rest = [f"{len(shown) - _SHOWN} more"] if len(shown) > _SHOWN else []
    return " · ".join([*shown[:_SHOWN], *rest])


def _rule_notes(convention: Convention, chosen: Sequence[Direction], options: CaptionOptions) -> list[str]:
    """Notes on the rules in force, except those that the user replaced; of a convention of other tasks, on what is used of it."""
    notes = [*convention.unnamed(options), *convention.notes]
    for rule, texts in convention.rule_notes.items():
        applies = getattr(options, rule, None) is None and (rule != "protocol" or any(each.collapsed for each in chosen))
        notes += texts if applies else ()
    if "captions" not in convention.tasks:
        kept = "" if options.ties is not None else f", and ties are {chosen[0].ties}"
        notes = [f"the convention {convention.name} does not support score matrices: its words, measures and unit are used{kept}"]
    for rule, note in _TIE_NOTES.items():
        where = [each.name for each in chosen if each.ties == rule]
        notes += [f"ties={rule} ({', '.join(where)}): {note}"] if where else []
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
    listed = ", ".join(names)
    return [f"t intervals of {listed} go beyond what the figures can be, for few or lopsided values; see the bootstrap's"]


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


Column = tuple[Values, Mapping[str, Any]]
"""The values of one measure in one direction, with the other cells of its summary row."""

_RECALLS = tuple(f"Success@{k}" for k in _CUTOFFS)
_AGGREGATES: Mapping[str, Callable[[Sequence[float]], float]] = {"rsum": rsum, "gmean": geometric_mean, "r_mean": mean_recall}
DEFINITIONS = {
    name: {"definition": (function.__doc__ or "").split("\n")[0], "better": "higher"} for name, function in _AGGREGATES.items()
}


def aggregate_interval(
    groups: Sequence[Floats], aggregate: Callable[[Sequence[float]], float], *, resamples: int = 10_000, seed: int = 0
) -> tuple[float, float] | None:
    """The 95 % percentile bootstrap interval of an aggregate of means; None below 10 queries (Efron and Tibshirani 1993, 13.3).

    groups: (queries, means) of each set of queries, in the order of `aggregate`. Sets of as many queries are drawn alike, for
    where captions and videos are in pairs the same pair is drawn for both; sets of different sizes are drawn apart.
    """
    if not groups or min(map(len, groups)) < MIN_QUERIES:
        return None
    drawn = {
        n: iter(resampled_sums(np.hstack([group for group in groups if len(group) == n]), resamples, seed=seed + place).T / n)
        for place, n in enumerate(dict.fromkeys(map(len, groups)))
    }
    means = np.column_stack([next(drawn[len(group)]) for group in groups for _ in group.T])
    return percentile_interval(np.array([aggregate(row) for row in means.tolist()]), 0.95)


def named_aggregates(names: Sequence[str] | None, convention: Convention, which: str) -> tuple[list[str] | None, list[str]]:
    """The measures among the names, with the recalls of named aggregates, and the aggregates. Raises BadUsage."""
    if names is None:
        rules = convention.rules_of("captions", CaptionConvention())
        return None, [name for name in rules.aggregates if name != "rsum" or which == "both"]
    measures = [name for name in names if name not in _AGGREGATES]
    aggregates = [name for name in names if name in _AGGREGATES]
    if "rsum" in aggregates and which != "both":
        raise BadUsage(f"rsum is the sum over both directions, and only {which} is requested; leave --direction out.")
    word = "R" if convention.words.get("R") == "Success" else "Success"
    return measures + [f"{word}@{k}" for k in _CUTOFFS if aggregates], aggregates


def _aggregate_row(name: str, recalls: Mapping[str, Sequence[Column]], options: CaptionOptions) -> dict[str, Any]:
    """recalls: direction -> R@1, R@5 and R@10."""
    aggregate, every = _AGGREGATES[name], [each for group in recalls.values() for each in group]
    # The recalls of one direction count the same queries.
    groups = [np.column_stack([values.values[values.counted] for values, _ in group]) for group in recalls.values()]
    interval = None if options.intervals == "none" else aggregate_interval(groups, aggregate, seed=options.seed)
    low, high = interval or (None, None)
    first, n = every[0][0], sum(map(len, groups))
    mean = aggregate([float(mean) for group in groups for mean in group.mean(axis=0)])
    row = SummaryRow.of(first.run, name, name, mean, None, low, high, n, first.unit) | {"direction": "+".join(recalls)}
    for level in ("ceiling", "chance"):
        known = [own[level] for _, own in every]
        row |= {level: None if None in known else aggregate(known)}
    return row
