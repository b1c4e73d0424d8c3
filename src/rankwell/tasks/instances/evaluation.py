"""Images of instances, searched by scores or vectors -> values: whether the best reference is
right, and the ranks of others.
"""

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np

from rankwell.conventions import Convention, LabelledMeasure
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.matrices import Scores
from rankwell.data.options import takes_options
from rankwell.data.registry import parse_measure
from rankwell.data.tables import Bools, Floats, Values
from rankwell.errors import BadScore, BadUsage, NothingToEvaluate, flag
from rankwell.evaluation import results
from rankwell.evaluation.bounds import (
    AbstentionRows,
    AbstentionRules,
    Confidence,
    abstention_rows,
    confidence_kinds,
    empty_last,
)
from rankwell.evaluation.details import COMPLETE, Details, detail_columns
from rankwell.evaluation.results import ResultsBuilder, progress_of
from rankwell.io.matrices import note_on_ranks
from rankwell.io.positives import Sides, read_positives
from rankwell.results import Results
from rankwell.stats import check_intervals
from rankwell.store import sources_of
from rankwell.tasks.instances.clusters import (
    DEFINITIONS,
    KMEANS,
    cluster_rows,
    clusters_of,
    unknown_images,
)
from rankwell.tasks.instances.formats import read_images
from rankwell.tasks.instances.images import FilteredImages, Images, InstanceTruth, instance_truth
from rankwell.tasks.instances.judged import InstanceRun, NamedLabels
from rankwell.tasks.instances.options import (
    NAMED,
    InstanceOptions,
    InstanceRules,
    labelled_measures,
)
from rankwell.tasks.instances.runs import InstanceRuns, refuse_unknown

Progress = Callable[[str, int, int], None]
_NAMED_DEFINITION = {
    "definition": "Of the queries whose best reference has a label (PRED), the share whose own "
    "label it is "
    "(TP); where several "
    "references share the first place and no rule orders them, each counts in equal parts.",
    "better": "higher",
    "summary": "mean",
    "source": "evaluation chapter on instance search on CLICIDE and GaRoFou, 2018",
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class InstanceResults(Results):
    """Results of instance search.

    views: run -> the ranks of the relevant references, ties open. by_instance: a row per run and
    instance where references have labels. images: those that took part, None where only positions
    are known. filtered: how many were left out, and why. performance: run -> seconds and numbers of
    vectors; seconds differ from run to run.
    """

    views: Mapping[str, JudgedRankings]
    by_instance: tuple[Mapping[str, Any], ...]
    images: Images | None
    filtered: FilteredImages | None
    performance: Mapping[str, Mapping[str, Any]]

    def worst(self, run: str) -> list[str]:
        """The counted queries of a run from worst to best: by the first measure, then by the next;
        then in the order of the table.
        """
        measured = [
            values for values in self.values if values.run == run and values.measure != NAMED
        ]
        keys = [
            -values.values
            if parse_measure(values.measure).entry.better == "lower"
            else values.values
            for values in measured
        ]
        queries = measured[0].queries
        order: list[int] = np.lexsort((np.arange(len(queries)), *keys[::-1])).tolist()
        return [
            queries[row]
            for row in order
            if not all(np.isnan(values.values[row]) for values in measured)
        ]


@takes_options(InstanceOptions)
def evaluate_instances(
    images: Any = None,
    *,
    options: InstanceOptions,
    details: bool = False,
    rules: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> InstanceResults:
    """Evaluates a search for instances: whether the best reference shows the query's instance, and
    the ranks of the others.

    images: a data set, whatever `read_images` takes; without one, `positives` has the judgments, by
    position or id.
    options: the fields of `InstanceOptions`, as keywords or as one. Among them:
    scores: a row per query and a column per reference, higher is better, whatever `read_scores`
    takes; or embeddings: vectors of all images, by id; or queries and references: vectors of each
    side. Several runs as a list of files, or a mapping name -> run. Rows, columns and vectors of a
    side without ids follow the data set's own lists (`qimlist`, `imlist`) where it has any.
    positives: whatever `read_positives` takes, in place of the images' labels. measures: names, at
    every `k` where they need a cut-off; the convention's where None. transforms: as
    `parse_transform` reads them, one after the other.
    details: keep the first references of each query. rules: further rules for the result, such as
    the name of the data set.
    Raises BadInput, BadUsage, UnknownName, and NothingToEvaluate where no query counts.
    """
    check_intervals(options.intervals, options.seed)
    confidence_kinds(options.confidence, ("max", "diff1"))
    instance_rules = InstanceRules(options, by_id=images is not None)
    labelled, has_named = labelled_measures(options)
    table = None if images is None else read_images(images)
    runs = InstanceRuns.read(options)
    filtered = None
    if table is not None:
        runs = runs.in_order(table.listed)
        refuse_unknown(runs, table)
        filtered = instance_rules.filtered(table)
    truth = _truth(filtered, options.positives, runs, instance_rules)
    is_labelled = any(label is not None for label in truth.reference_instances or ())
    evaluation = _InstanceEvaluation(instance_rules, truth, labelled, has_named and is_labelled)
    for name in runs.tables:
        run = evaluation.add(name, runs, details=details, progress=progress)
        if options.confidence:
            evaluation.add_abstention(run, options)
    clusters = evaluation.add_clusters(options, runs, filtered)
    builder = evaluation.builder
    described = {**(rules or {}), **evaluation.describe(runs, filtered), **clusters}
    taking_part = None if filtered is None else filtered.images
    return builder.results(
        InstanceResults,
        rules=described,
        measures=labelled,
        notes=[
            *_convention_notes(instance_rules.convention, options, labelled),
            *builder.notes,
            *evaluation.abstention.notes,
        ],
        aggregates=tuple(evaluation.abstention.rows),
        sources=runs.sources | sources_of({"images": images, "positives": options.positives}),
        details=detail_columns(map(_detail_rows, evaluation.runs), states=COMPLETE)
        if details
        else None,
        queries=_query_columns(truth, taking_part) if details else None,
        intervals=options.intervals,
        seed=options.seed,
        task="instances",
        views=evaluation.views,
        by_instance=tuple(evaluation.by_instance),
        images=taking_part,
        filtered=filtered,
        performance=evaluation.performance,
    )


def _convention_notes(
    convention: Convention, options: InstanceOptions, labelled: Sequence[LabelledMeasure]
) -> list[str]:
    """The notes of a convention, those on single measures where they are computed."""
    names = {labelled_measure.measure.name for labelled_measure in labelled}
    of_measures = [
        note for name, notes in convention.rule_notes.items() if name in names for note in notes
    ]
    return [*convention.unnamed(options), *convention.notes, *of_measures]


def _truth(
    filtered: FilteredImages | None, positives: Any, runs: InstanceRuns, rules: InstanceRules
) -> InstanceTruth:
    """The judgments by positives, else by the labels of the images."""
    if filtered is not None:
        truth = instance_truth(
            filtered.images,
            exclude=rules.exclude,
            level=rules.reading.level,
            labels=positives is None,
        )
    elif positives is None:
        raise BadUsage(
            f"nothing says what is right: name the data set of images, or {flag('--positives')}."
        )
    else:
        truth = InstanceTruth.unjudged(*runs.names())
    if positives is None:
        return truth
    table = read_positives(positives, Sides(truth.queries, truth.references))
    excluded = zip(truth.owner.tolist(), truth.item.tolist(), strict=True)
    return truth.judged(zip(table.owner.tolist(), table.items.tolist(), strict=True), excluded)


class _InstanceEvaluation:
    """The runs measured so far."""

    def __init__(
        self,
        rules: InstanceRules,
        truth: InstanceTruth,
        measures: Sequence[LabelledMeasure],
        has_named: bool,
    ) -> None:
        self.rules, self.truth, self.measures = rules, truth, measures
        self.has_named = has_named
        self.builder = ResultsBuilder(rules.convention)
        self.views: dict[str, JudgedRankings] = {}
        self.runs: list[InstanceRun] = []
        self.by_instance: list[dict[str, Any]] = []
        self.performance: dict[str, dict[str, Any]] = {}
        self.abstention = AbstentionRows([], {}, [], [])

    def add(
        self, name: str, runs: InstanceRuns, *, details: bool, progress: Progress | None
    ) -> InstanceRun:
        """Measures one run, and returns it."""
        start = time.perf_counter()
        try:
            run = InstanceRun.of(
                name,
                self.truth,
                runs.aligned(name, self.truth),
                self.rules.ties,
                progress_of(progress, name),
            )
        except BadScore:
            runs.refuse_non_finite(name, self.truth)
            raise
        counted = run.counted(self.rules.no_relevant)
        if not counted.any() or run.without_relevant.all():
            raise NothingToEvaluate(
                f"{name}: none of the {len(counted)} queries has a right reference; name at "
                "least one."
            )
        self.builder.add(run, self.measures, counted)
        if isinstance(matrix := runs.tables[name], Scores):
            self.builder.notes += note_on_ranks(name, matrix)
        if self.has_named:
            labels = NamedLabels(run)
            scale, unit = self.builder.convention.shows("share")
            named_values = Values(
                name,
                NAMED,
                NAMED,
                unit,
                "mean",
                tuple(self.truth.queries),
                labels.values * scale,
                labels.weights,
            )
            self.builder.values.append(named_values)
            self.builder.row_attributes.append({"ceiling": None, "chance": None})
            self.by_instance += labels.by_instance(name, self.truth)
        if details:
            self.runs.append(run)
        self.views[name] = run.view
        self._count(run, counted)
        seconds, queries = time.perf_counter() - start, len(run.aligned.queries)
        # Search and measures, without reading files and encoding images.
        self.performance[name] = {
            "dimensions": run.aligned.dimensions,
            "queries": queries,
            "references": len(run.aligned.references),
            "seconds": seconds,
            "seconds_per_query": seconds / queries,
        }
        return run

    def add_abstention(self, run: InstanceRun, options: InstanceOptions) -> None:
        """Adds nAUC, AURC and others of a run, by the scores of the best references of each
        query.
        """
        row_of, (first, second) = (
            {query: row for row, query in enumerate(self.truth.queries)},
            _two(run.first(2)[1]).T,
        )

        def _confidence(queries: Sequence[str], kind: Confidence) -> Floats:
            rows = [row_of[query] for query in queries]
            return empty_last(
                (first if kind == "max" else first - np.where(np.isnan(second), first, second))[
                    rows
                ]
            )

        rules = AbstentionRules.of(
            self.rules.convention,
            options.intervals,
            options.seed,
            self.rules.reading.precision_recall,
        )
        values = [
            measure_values
            for measure_values in self.builder.values
            if measure_values.run == run.name and measure_values.measure != NAMED
        ]
        measured = zip(self.measures, values, strict=True)
        self.abstention.extend(
            abstention_rows(_confidence, confidence_kinds(options.confidence), measured, rules)
        )

    def add_clusters(
        self, options: InstanceOptions, runs: InstanceRuns, filtered: FilteredImages | None
    ) -> dict[str, Any]:
        """Adds NMI and AMI of every run; the rule that names the clusters."""
        if options.clusters is None:
            return {}
        if filtered is None:
            raise BadUsage(
                "--clusters are compared with labels, which only a data set of images has; name it."
            )
        clusters_by_run = clusters_of(options.clusters, runs, filtered.images, options.seed)
        for run, clusters in clusters_by_run.items():
            self.abstention.rows.extend(cluster_rows(run, filtered.images, clusters))
            self.abstention.notes.extend(unknown_images(run, filtered.images, clusters))
        self.abstention.definitions.update(DEFINITIONS)
        is_computed = options.clusters in (KMEANS, [KMEANS])
        return {"clusters": "kmeans (k-means++, 100 iterations)" if is_computed else "given"}

    def _count(self, run: InstanceRun, counted: Bools) -> None:
        counts: dict[str, int] = {
            results.QUERIES_COUNTED: int(counted.sum()),
            results.QUERIES_WITHOUT_RELEVANT: int(run.without_relevant.sum()),
            results.QUERIES_BEST_TIED: run.n_best_tied,
        }
        self.builder.counts[run.name] = counts
        aligned, truth = run.aligned, self.truth
        lost = "those that are right for a query stay so, and are not found"
        for count, run_rows, truth_ids, outcome in (
            (results.QUERIES_MISSING, aligned.queries, truth.queries, "counted as not found"),
            ("references_missing", aligned.references, truth.references, lost),
        ):
            missing, side = len(truth_ids) - len(run_rows), count.removesuffix("_missing")
            if missing:
                counts[count] = missing
                verb = "is" if missing == 1 else "are"
                self.builder.notes.append(
                    f"{run.name}: {missing} of {len(truth_ids)} {side} {verb} not in it; {outcome}"
                )

    def describe(self, runs: InstanceRuns, filtered: FilteredImages | None) -> dict[str, Any]:
        """The rules of the result."""
        instance_rules = self.rules
        rules: dict[str, Any] = {
            "convention": self.builder.convention.name,
            "ties": self.builder.ties(instance_rules.ties),
        }
        rules["no_relevant"] = instance_rules.no_relevant
        if runs.compares_vectors:
            rules["metric"] = runs.metric
        rules["exclude"] = ",".join(instance_rules.exclude) or "none"
        if instance_rules.reading.level != "medium":
            # `level` is the confidence of intervals in the rules of every result.
            rules["marks"] = instance_rules.reading.level
        if filtered is not None:
            rules |= {
                "contentless": instance_rules.contentless,
                "absent": instance_rules.absent,
                "filtered": filtered.counts,
            }
            sizes = {"references": len(self.truth.references), "queries": len(self.truth.queries)}
            rules["images"] = sizes | {"digest": _digest(filtered.images)}
            self.builder.notes += [
                *filtered.images.notes,
                *(f"left out: {note}" for note in filtered.notes),
            ]
        rules |= runs.transform_rules()
        rules["counts"] = self.builder.counts
        for measure, _ in self.measures:
            # Parameters distinguish a measure from others of its name.
            parameters = {"parameters": dict(measure.arguments)} if measure.arguments else {}
            rules.setdefault("measures", {})[str(measure)] = {
                **self.builder.definition(measure),
                **parameters,
            }
        if self.has_named:
            rules["measures"][NAMED] = _NAMED_DEFINITION
        rules["measures"] |= self.abstention.definitions
        return rules | ({"risk_coverage": self.abstention.curves} if self.abstention.curves else {})


def _two(scores: Floats) -> Floats:
    """(queries, 2) the scores of the two best references, NaN where there are fewer."""
    return np.pad(scores, ((0, 0), (0, 2 - scores.shape[1])), constant_values=np.nan)


def _digest(images: Images) -> str:
    """The SHA-256 of ids, labels and sides, which identifies the data set where that is a
    folder.
    """
    columns = (
        images.ids,
        images.instances,
        images.splits,
        images.cameras,
        images.groups,
        images.contentless.tolist(),
    )
    marks = {
        query: query_marks._asdict() for query, query_marks in sorted((images.marks or {}).items())
    }
    return (
        "sha256:"
        + hashlib.sha256(json.dumps([columns, marks], sort_keys=True).encode()).hexdigest()
    )


def _detail_rows(run: InstanceRun) -> tuple[str, Details, list[str]]:
    """A run's rows of details.parquet; `detail` has the label and the first relevant one, and of
    tied ones the possible ranks.
    """
    details = run.details()
    truth, ranks = run.truth, run.open_ranks
    labels = (
        {}
        if truth.reference_instances is None
        else dict(zip(truth.references, truth.reference_instances, strict=True))
    )
    has_first: set[str] = set()
    texts: list[str] = []
    for query, item, state, rank in zip(
        details.query, details.item, details.state, details.rank.tolist(), strict=True
    ):
        detail: dict[str, Any] = {} if labels.get(item) is None else {"label": labels[item]}
        if state == "relevant" and not isnan(rank) and query not in has_first:
            has_first.add(query)
            detail["first_right"] = True
        if (query, item) in ranks:
            detail["ranks"] = ranks[query, item]
        texts.append(json.dumps(detail, ensure_ascii=True))
    return run.name, details, texts


def _query_columns(truth: InstanceTruth, images: Images | None) -> dict[str, list[Any]]:
    """The columns of queries.parquet: the label of each query, its camera and group where images
    have any, and its number of relevant references.
    """
    none = [None] * len(truth.queries)
    columns: dict[str, list[Any]] = {
        "query": list(truth.queries),
        "text": none,
        "instance": list(truth.query_instances or none),
    }
    if images is not None:
        queries = images.queries()
        columns |= {
            name: list(labels)
            for name, labels in (("camera", queries.cameras), ("group", queries.groups))
            if labels
        }
    return columns | {"right_references": truth.n_relevant.tolist()}
