"""Images of instances, searched by scores or vectors -> values: whether the best reference is
right, and the ranks of others.
"""

import hashlib
import json
import math
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankwell._native.matrix_counts import ComparedScores
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.options import takes_options
from rankwell.data.registry import parse_measure
from rankwell.data.tables import Floats, Values, sort_ids
from rankwell.errors import BadInput, BadUsage, TieRefused, flag
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
from rankwell.io.formats import read_column
from rankwell.io.matrices import like_ranks
from rankwell.io.positives import Sides, read_positives
from rankwell.results import Results
from rankwell.stats import SummaryRow, check_intervals
from rankwell.stats.partitions import k_means, partition_agreement
from rankwell.store import sources_of, split_part
from rankwell.tasks.images.answers import images_answer
from rankwell.tasks.images.findings import images_unmatched
from rankwell.tasks.images.images import (
    FilteredImages,
    Images,
    InstanceTruth,
    instance_truth,
    read_images,
)
from rankwell.tasks.images.measures.clusters import AMI, NMI
from rankwell.tasks.images.options import NAMED, ImageOptions, InstanceRules
from rankwell.tasks.images.runs import InstanceRun, InstanceRuns

Progress = Callable[[str, int, int], None]
_KMEANS = "kmeans"
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

    views: run -> the ranks of the relevant references, before ties are broken.
    by_instance: a row per run and instance where references have labels.
    images: the images that take part; None where only positions are known.
    filtered: the images that take part, and what was left out; None where only positions are known.
    performance: run -> seconds and numbers of vectors; the seconds differ from call to call.
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


@takes_options(ImageOptions)
def evaluate_images(
    images: Any = None,
    *,
    options: ImageOptions,
    details: bool = False,
    rules: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> InstanceResults:
    """Evaluates a search for instances: whether the best reference shows the query's instance, and
    the ranks of the others.

    images: a data set, whatever `read_images` takes; without one, `positives` has the judgments, by
    position or id.
    options: the fields of `ImageOptions`, as keywords or as one. Among them:
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
    if options.confidence is not None:
        confidence_kinds(options.confidence, ("max", "diff1"))
    instance_rules = InstanceRules(options, by_id=images is not None)
    table = None if images is None else read_images(images)
    runs, filtered, truth = read_runs(table, options, instance_rules)
    evaluation = _InstanceEvaluation(options, instance_rules, truth)
    for name in runs.tables:
        evaluation.add(name, runs, details=details, progress=progress)
    builder, abstention = evaluation.builder, evaluation.abstention
    clusters = _add_clusters(abstention, options, runs, filtered)
    taking_part = None if filtered is None else filtered.images
    page: dict[str, Any] = {}
    if details:
        rows = map(_detail_rows, evaluation.runs)
        page["details"] = detail_columns(rows, states=COMPLETE)
        page["queries"] = _query_columns(truth, taking_part)
    described = {**(rules or {}), **evaluation.describe(runs, filtered), **clusters}
    measures = instance_rules.measures
    return builder.results(
        InstanceResults,
        rules=described,
        measures=measures,
        findings=[*runs.findings, *builder.findings, *abstention.findings],
        aggregates=tuple(abstention.rows),
        sources=runs.sources | sources_of({"images": images, "qrels": options.qrels}),
        intervals=options.intervals,
        seed=options.seed,
        task="images",
        answer=images_answer,
        views=evaluation.views,
        by_instance=tuple(evaluation.by_instance),
        images=taking_part,
        filtered=filtered,
        performance=evaluation.performance,
        **page,
    )


def read_runs(
    images: Images | None, options: ImageOptions, rules: InstanceRules
) -> tuple[InstanceRuns, FilteredImages | None, InstanceTruth]:
    """The runs, the images that take part, None where only positions are known, and the truth: by
    positives, else by the labels of the images.
    """
    runs, filtered, positives = InstanceRuns.read(options), None, options.qrels
    if images is not None:
        runs, filtered = runs.of_images(images), rules.filtered(images)
        truth = instance_truth(
            filtered.images,
            exclude=rules.exclude,
            level=rules.reading.level,
            labels=positives is None,
        )
    elif positives is None:
        raise BadUsage(
            f"nothing says what is right: name the data set of images, or {flag('--qrels')}."
        )
    else:
        truth = InstanceTruth.of(*next(iter(runs.tables.values())).names)
    if positives is not None:
        table = read_positives(positives, Sides(truth.queries, truth.references))
        relevant, excluded = (
            zip(owner.tolist(), items.tolist(), strict=True)
            for owner, items in ((table.owner, table.items), (truth.owner, truth.item))
        )
        truth = InstanceTruth.of(truth.queries, truth.references, relevant, excluded, truth.labels)
    return runs, filtered, truth


class _InstanceEvaluation:
    """The runs measured so far."""

    def __init__(self, options: ImageOptions, rules: InstanceRules, truth: InstanceTruth) -> None:
        self.options, self.rules, self.truth = options, rules, truth
        self.has_named = rules.has_named and not truth.labels.keys().isdisjoint(truth.references)
        self.builder = ResultsBuilder(rules.convention)
        self.views: dict[str, JudgedRankings] = {}
        self.runs: list[InstanceRun] = []
        self.by_instance: list[dict[str, Any]] = []
        self.performance: dict[str, dict[str, Any]] = {}
        self.abstention = AbstentionRows([], {}, [], [])

    def add(
        self, name: str, runs: InstanceRuns, *, details: bool, progress: Progress | None
    ) -> None:
        """Measures one run."""
        start, builder, truth = time.perf_counter(), self.builder, self.truth
        run = runs.judged(name, truth, self.rules.ties, progress_of(progress, name))
        counted = run.counted(self.rules.no_relevant)
        n_values = len(builder.values)
        builder.add(run, self.rules.measures, counted)
        measured = builder.values[n_values:]
        if isinstance(table := runs.tables[name], ComparedScores):
            builder.findings += like_ranks(name, table.scores)
        if self.has_named:
            values, rows = _named_labels(run, *builder.convention.shows("share"))
            builder.values.append(values)
            builder.row_attributes.append({"ceiling": None, "chance": None})
            self.by_instance += rows
        if details:
            self.runs.append(run)
        self.views[name] = run.view
        counts = builder.counts[name] = {
            results.QUERIES_COUNTED: int(counted.sum()),
            results.QUERIES_WITHOUT_RELEVANT: int(run.without_relevant.sum()),
            results.QUERIES_BEST_TIED: run.n_best_tied,
        }
        lost = "those that are right for a query stay so, and are not found"
        for count, compared, ids, outcome in (
            (results.QUERIES_MISSING, run.queries, truth.queries, "counted as not found"),
            ("references_missing", run.references, truth.references, lost),
        ):
            missing, side = len(ids) - len(compared), count.removesuffix("_missing")
            if missing:
                counts[count] = missing
                verb = "is" if missing == 1 else "are"
                builder.findings.append(
                    images_unmatched(
                        f"{missing} of {len(ids)} {side} {verb} not in it; {outcome}", name
                    )
                )
        seconds, queries = time.perf_counter() - start, len(run.queries)
        # Search and measures, without reading files and encoding images.
        self.performance[name] = {
            "dimensions": run.dimensions,
            "queries": queries,
            "references": len(run.references),
            "seconds": seconds,
            "seconds_per_query": seconds / queries,
        }
        if self.options.confidence:
            self._add_abstention(run, measured)

    def _add_abstention(self, run: InstanceRun, measured: Sequence[Values]) -> None:
        """Adds nAUC, AURC and others of a run, by the scores of the best references of each
        query.
        """
        row_of = {query: row for row, query in enumerate(self.truth.queries)}
        scores = run.first(2)[1]
        first, second = scores[:, 0], scores[:, -1] if scores.shape[1] > 1 else np.nan
        gap = first - np.where(np.isnan(second), first, second)

        def _confidence(queries: Sequence[str], kind: Confidence) -> Floats:
            confidence = first if kind == "max" else gap
            return empty_last(confidence[[row_of[query] for query in queries]])

        rules = AbstentionRules(
            self.rules.convention,
            self.options.intervals,
            self.options.seed,
            self.rules.reading.precision_recall,
        )
        pairs = zip(self.rules.measures, measured, strict=True)
        self.abstention.extend(
            abstention_rows(_confidence, confidence_kinds(self.options.confidence), pairs, rules)
        )

    def describe(self, runs: InstanceRuns, filtered: FilteredImages | None) -> dict[str, Any]:
        """The rules of the result."""
        own_rules, builder, abstention = self.rules, self.builder, self.abstention
        rules: dict[str, Any] = {
            "convention": builder.convention.name,
            "ties": builder.ties(own_rules.ties),
            "no_relevant": own_rules.no_relevant,
        }
        if runs.compares_vectors:
            rules["metric"] = runs.metric
        rules["exclude"] = ",".join(own_rules.exclude) or "none"
        if own_rules.reading.level != "medium":
            # `level` is the confidence of intervals in the rules of every result.
            rules["marks"] = own_rules.reading.level
        if filtered is not None:
            rules |= {
                "contentless": own_rules.contentless,
                "absent": own_rules.absent,
                "filtered": filtered.counts,
                "images": {
                    "references": len(self.truth.references),
                    "queries": len(self.truth.queries),
                    "digest": _digest(filtered.images),
                },
            }
            builder.findings += filtered.findings()
        rules |= runs.transform_rules()
        rules["counts"] = builder.counts
        definitions: dict[str, Any] = {}
        for measure, _ in self.rules.measures:
            # Parameters distinguish a measure from others of its name.
            parameters = {"parameters": dict(measure.arguments)} if measure.arguments else {}
            definitions[str(measure)] = builder.definition(measure) | parameters
        named = {NAMED: _NAMED_DEFINITION} if self.has_named else {}
        rules["measures"] = {**definitions, **named, **abstention.definitions}
        return rules | ({"risk_coverage": abstention.curves} if abstention.curves else {})


def _named_labels(run: InstanceRun, scale: float, unit: Any) -> tuple[Values, list[dict[str, Any]]]:
    """TP / PRED: the shares of queries that their best references name rightly, NaN where these
    have no label, weighted by the share of them that has one; and a row per instance: number of
    references, of queries, of queries named so (PRED), and of those named rightly (TP).

    Of references with the same score all are the best (`expected`), the first by the rule, or a
    right one (`optimistic`) or a wrong one (`pessimistic`). Raises TieRefused where their labels
    differ, under `error`.
    """
    truth, labels = run.truth, run.truth.labels
    named, right = np.zeros((2, len(truth.queries)))
    named_as, rightly_as = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
    for row, (query, best) in enumerate(zip(truth.queries, run.best(), strict=True)):
        label = labels.get(query)
        names = [labels.get(truth.references[item]) for item in best]
        if run.ties == "error" and len(set(names)) > 1:
            raise TieRefused(
                f"query {query!r}: {len(names)} references of different labels share the first "
                "place; name a tie rule, or break the tie."
            )
        if run.ties in ("optimistic", "pessimistic"):
            # A right one is better than none, and none better than a wrong one.
            worth = [1 if name is None else 2 * (name == label) for name in names]
            extreme = max if run.ties == "optimistic" else min
            names = [names[worth.index(extreme(worth))]] if names else []
        for name, number in Counter(names).items():
            if name is not None:
                share = number / len(names)
                named[row] += share
                named_as[name].append(share)
                if name == label:
                    right[row] = share
                    rightly_as[name].append(share)
    values = np.divide(right, named, out=np.full(len(named), np.nan), where=named > 0)
    weights = None if np.isin(named, (0.0, 1.0)).all() else named
    sides = (truth.references, truth.queries)
    n_references, n_queries = (Counter(map(labels.get, side)) for side in sides)
    rows: list[dict[str, Any]] = []
    for name in sorted(label for label in {*n_references, *n_queries} if label is not None):
        n_named, n_right = _sum(named_as[name]), _sum(rightly_as[name])
        rows.append(
            {
                "run": run.name,
                "instance": name,
                "references": n_references[name],
                "queries": n_queries[name],
                "named": n_named,
                "right": n_right,
                "precision": n_right / n_named if n_named else None,
            }
        )
    queries = tuple(truth.queries)
    return Values(run.name, NAMED, NAMED, unit, "mean", queries, values * scale, weights), rows


def _sum(shares: Iterable[float]) -> float:
    """The sum as an integer where it is one."""
    total = math.fsum(shares)
    return int(total) if total.is_integer() else total


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
    marks = {query: query_marks._asdict() for query, query_marks in (images.marks or {}).items()}
    content = json.dumps([columns, marks], sort_keys=True)
    return f"sha256:{hashlib.sha256(content.encode()).hexdigest()}"


def _detail_rows(run: InstanceRun) -> tuple[str, Details, list[str]]:
    """A run's rows of details.parquet; `detail` has the label and the first relevant one, and of
    tied ones the possible ranks.
    """
    details, labels, ranks = run.details(), run.truth.labels, run.open_ranks
    has_first: set[str] = set()
    texts: list[str] = []
    for query, item, state, rank in zip(
        details.query, details.item, details.state, details.rank.tolist(), strict=True
    ):
        detail: dict[str, Any] = {"label": labels[item]} if item in labels else {}
        if state == "relevant" and not math.isnan(rank) and query not in has_first:
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
    columns: dict[str, list[Any]] = {
        "query": list(truth.queries),
        "text": [None] * len(truth.queries),
        "instance": list(map(truth.labels.get, truth.queries)),
    }
    if images is not None:
        queries = images.queries()
        for name, labels in (("camera", queries.cameras), ("group", queries.groups)):
            if labels:
                columns[name] = list(labels)
    return columns | {"right_references": truth.n_relevant.tolist()}


def _add_clusters(
    rows: AbstentionRows, options: ImageOptions, runs: InstanceRuns, filtered: FilteredImages | None
) -> dict[str, str]:
    """Adds NMI and AMI of every run, of all images with a label; returns the rule that names the
    clusters. Raises BadInput for an image without a cluster.

    They have no interval: copies of an image in a resample are always in one cluster, so that
    resamples agree better.
    """
    sources: Any = options.clusters
    if sources is None:
        return {}
    if filtered is None:
        raise BadUsage(
            f"{flag('--clusters')} are compared with labels, which only a data set of images has; "
            "name it."
        )
    images, labels = filtered.images, filtered.images.labels
    sources = list(sources) if isinstance(sources, (list, tuple)) else [sources]
    is_computed = sources == [_KMEANS]
    if not is_computed and len(sources) != len(runs.tables):
        raise BadUsage(
            f"{flag('--clusters')}: {len(sources)} files for {len(runs.tables)} runs; name one for "
            "each, "
            f"in their order, or {_KMEANS}."
        )
    clusters_by_run: dict[str, Mapping[str, Any]] = {}
    for number, run in enumerate(runs.tables):
        source = None if is_computed else sources[number]
        clusters_by_run[run] = (
            _clusters_made(run, runs, images, options.seed)
            if source is None
            else source
            if isinstance(source, Mapping)
            else _read_clusters(source)
        )
    for run, clusters in clusters_by_run.items():
        if not labels:
            raise BadUsage(
                f"{flag('--clusters')}: no image has a label, so there is nothing that clusters "
                "could agree with; leave it out."
            )
        bare = next((name for name in labels if clusters.get(name) is None), None)
        if bare is not None:
            raise BadInput(
                f"{run}: the image {bare!r} has no cluster; every image with a label needs one."
            )
        agreement = partition_agreement(list(labels.values()), [clusters[name] for name in labels])
        for name, value, chance in (
            ("NMI", agreement.nmi, agreement.nmi_chance),
            ("AMI", agreement.ami, 0.0),
        ):
            row = SummaryRow.of(run, name, name, value, None, None, None, len(labels), "score")
            rows.rows.append(row | {"ceiling": 1.0, "chance": chance})
        if unknown := sort_ids(set(clusters) - set(images.ids)):
            rows.findings.append(
                images_unmatched(
                    f"{len(unknown)} of {len(clusters)} images of {flag('--clusters')} are not "
                    f"among those evaluated and are ignored, for example {unknown[0]!r}",
                    run,
                )
            )
    for figure in (NMI, AMI):
        rows.definitions[figure.name] = {
            "definition": figure.text,
            "better": figure.better,
            "summary": "mean",
            "source": figure.source,
        }
    return {"clusters": "kmeans (k-means++, 100 iterations)" if is_computed else "given"}


def _read_clusters(source: Any) -> dict[str, str]:
    """image -> cluster, from a table with a column `image` and a column `cluster`, or the one
    named, as in `found.csv:group`.
    """
    if not isinstance(source, (str, Path)):
        raise BadUsage(
            f"{flag('--clusters')}: expected kmeans, the path of a table, or a mapping image -> "
            "cluster."
        )
    path, column = split_part(source)
    columns = [read_column(f"{path}:{name}") for name in ("image", column or "cluster")]
    clusters: dict[str, str] = {}
    for row, (image, cluster) in enumerate(zip(*columns, strict=True)):
        if not image or not cluster:
            raise BadInput(
                f"{path}: row {row + 1} has no {'cluster' if image else 'image'}; fill it in, "
                "or remove the row."
            )
        if clusters.setdefault(image, cluster) != cluster:
            raise BadInput(
                f"{path}: row {row + 1} puts {image!r} into the cluster {cluster!r}, an "
                f"earlier row into {clusters[image]!r}."
            )
    return clusters


def _clusters_made(run: str, runs: InstanceRuns, images: Images, seed: int) -> dict[str, int]:
    """The clusters of a run's vectors by k-means from k-means++ seeds, as many as there are labels;
    under cosine, of length 1.
    """
    table = runs.tables[run]
    if isinstance(table, ComparedScores):
        raise BadUsage(
            f"{flag('--clusters', _KMEANS)}: {run} has scores, and k-means clusters vectors; name "
            "a "
            "file of clusters."
        )
    if runs.transforms:
        raise BadUsage(
            f"{flag('--clusters', _KMEANS)} clusters vectors as they are given; leave "
            f"{flag('--transform', name='transforms')} out, or name a file of clusters."
        )
    vectors = {
        name: vector
        for side in (table.queries, table.items)
        for name, vector in zip(side.names(), side.vectors, strict=True)
    }
    labelled = [name for name in images.labels if name in vectors]
    if not labelled:
        raise BadInput(f"{run}: no image with a label has a vector.")
    points = np.array([vectors[name] for name in labelled], dtype=np.float64)
    if runs.metric == "cosine":
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    n_clusters = len({images.labels[name] for name in labelled})
    return dict(zip(labelled, k_means(points, n_clusters, seed=seed).tolist(), strict=True))
