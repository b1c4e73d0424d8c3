"""Search for instances among pictures: the command, whether the best reference is right, the ranks
of others, and what a person reads first.
"""

import hashlib
import json
import math
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from rankwell import threads
from rankwell._native.matrix_counts import ComparedScores
from rankwell.data.catalogue import PERFORMANCE
from rankwell.data.json_types import ScoreObject
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.matrices import Scores, named_places
from rankwell.data.options import Rows, takes_options
from rankwell.data.registry import parse_measure
from rankwell.data.tables import Floats, Values, positions_by_id, sort_ids
from rankwell.errors import BadInput, BadUsage, TieRefused, count_of, flag, kind_of, typed
from rankwell.evaluation import results
from rankwell.evaluation.bounds import (
    AbstentionRows,
    AbstentionRules,
    Confidence,
    abstention_rows,
    confidence_kinds,
    empty_last,
)
from rankwell.evaluation.details import COMPLETE, Columns, Details, detail_columns
from rankwell.evaluation.options import PrintedFigures
from rankwell.evaluation.results import ResultsBuilder, progress_of
from rankwell.io.formats import read_column
from rankwell.io.matrices import like_ranks
from rankwell.io.positives import Sides, read_positives
from rankwell.reporting import Answer, Row, Rules, TableStyle, render_rows
from rankwell.reporting.drafts import drafting
from rankwell.reporting.folder import write_result
from rankwell.reporting.options import Format, Output, Progress, StatusNote, present
from rankwell.reporting.outputs.answers import score_answer
from rankwell.results import Results
from rankwell.stats import SummaryRow
from rankwell.stats.granularity import granularity_of
from rankwell.stats.partitions import k_means, partition_agreement
from rankwell.store import sources_of, split_part, write_text
from rankwell.task import Presented, Task, TaskInput
from rankwell.tasks.images.findings import images_unmatched, images_unreadable
from rankwell.tasks.images.images import (
    FilteredImages,
    Images,
    InstanceTruth,
    both_sides,
    instance_truth,
    named_place,
    read_images,
)
from rankwell.tasks.images.local_features import ComputedRun, compute_run
from rankwell.tasks.images.measures.clusters import AMI, NMI, TP_PRED
from rankwell.tasks.images.options import (
    ENCODER_SETTINGS,
    NAMED,
    ImageOptions,
    ImageSetOptions,
    ImageSystemOptions,
    InstanceRules,
)
from rankwell.tasks.images.runs import InstanceRun, InstanceRuns
from rankwell.vectors.media.contact_sheet import picture_columns, pictured, sheets_of, write_sheets
from rankwell.vectors.media.images import Thumbnails

_KMEANS = "kmeans"


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
    by_instance: tuple[Row, ...]
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
    images: Rows | Images | None = None,
    *,
    options: ImageOptions,
    details: bool = False,
    rules: Rules | None = None,
    progress: Progress = None,
) -> InstanceResults:
    """Evaluates image search: whether the best reference shows the query's instance, and the ranks
    of the others.

    Values are in percent, unless the convention gives them from 0 to 1. Give `scores`,
    `item_vectors` of all images by id, or `query_vectors` and `item_vectors` of each side. Pass
    several runs as a list of files or a mapping name -> run. Rows, columns and vectors without ids
    follow the data set's own lists (`qimlist`, `imlist`) where it has any.
    Raises BadInput for images, vectors and scores that cannot be read or do not match, BadUsage for
    options that do not go together, UnknownName for a measure, convention or transform that does
    not exist, NothingToEvaluate where no query counts.

    Parameters
    ----------
    images
        The data set: anything that `read_images` takes, such as a list of rows. Without one,
        `qrels` has the judgments.
    item_vectors
        Vectors of all images: a file in any format of `rankwell knn`, a mapping id -> vector, or an
        array (n, d) with `item_ids`. A list of files, or a mapping name -> vectors, compares
        systems. With `query_vectors`, those of the references.
    query_vectors
        Vectors of the queries, in the same forms, if they are not among `item_vectors`.
    scores
        A matrix with a row per query and a column per reference: a file, an array or a list of rows
        of numbers. A list of files, or a mapping name -> scores, compares systems. Ids in
        NAME.queries.txt and NAME.references.txt beside NAME.npy are read automatically.
    qrels
        Judgments instead of labels: a mapping query -> list of references or query -> reference ->
        grade, a list with the positions of each query's references (`[[0], [1, 2]]`), their JSON
        file, judgments in any format, or `diagonal`.
    item_ids
        Ids of all images for `item_vectors`, of the references for `query_vectors` and the columns
        of `scores`: a list, an array, or a file or column.
    query_ids
        Ids of the queries, for `query_vectors` and the rows of `scores`, in the same forms.
    k
        Cut-offs for measures that name none: a number, a list, or a text such as `1,5,10`.
        [default: 1,5,10]
    bank
        Training data for a transform, in the same forms as the vectors or scores: scores of other
        queries on the same gallery (querybank), or vectors of other images instead of the
        references (whitening).
    clusters
        Add NMI and AMI with the labels: a mapping image -> cluster, a table with the columns image
        and cluster (`found.csv`, or `found.csv:group` for another column), a list with one of these
        for each run, or `kmeans`, which clusters the vectors into as many clusters as there are
        instances, by the seed.
    details
        Keep the first references of each query for the report.
    rules
        Further rules of the result, such as the name of the data set.

    >>> import rankwell as rw
    >>> images = [
    ...     {"image": "a1", "instance": "vase", "split": "reference"},
    ...     {"image": "b1", "instance": "lamp", "split": "reference"},
    ...     {"image": "a2", "instance": "vase", "split": "query"},
    ... ]
    >>> vectors = {"a1": [1.0, 0.0], "b1": [0.0, 1.0], "a2": [0.9, 0.1]}
    >>> rw.evaluate_images(images, item_vectors=vectors, measures="P@1")["P@1"]
    100.0
    """
    options.check_intervals()
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
        self.by_instance: list[Row] = []
        self.performance: dict[str, dict[str, Any]] = {}
        self.abstention = AbstentionRows([], {}, [], [])

    def add(self, name: str, runs: InstanceRuns, *, details: bool, progress: Progress) -> None:
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
        row_of = positions_by_id(self.truth.queries)
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
        named = {NAMED: TP_PRED.rule | {"summary": "mean"}} if self.has_named else {}
        rules["measures"] = {**definitions, **named, **abstention.definitions}
        return rules | ({"risk_coverage": abstention.curves} if abstention.curves else {})


def _named_labels(run: InstanceRun, scale: float, unit: Any) -> tuple[Values, list[Row]]:
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
    rows: list[Row] = []
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


def _query_columns(truth: InstanceTruth, images: Images | None) -> Columns:
    """The columns of queries.parquet: the label of each query, its camera and group where images
    have any, and its number of relevant references.
    """
    columns: Columns = {
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
    is_computed = len(sources) == 1 and isinstance(sources[0], str) and sources[0] == _KMEANS
    if not is_computed and len(sources) != len(runs.tables):
        raise BadUsage(
            f"{flag('--clusters')}: {len(sources)} files for {len(runs.tables)} runs; name one for "
            "each, "
            f"in their order, or {_KMEANS}."
        )
    clusters_by_run: dict[str, Mapping[str, Any]] = {}
    for number, run in enumerate(runs.tables):
        if is_computed:
            clusters_by_run[run] = _clusters_made(run, runs, images, options.seed)
            continue
        source = sources[number]
        runs.sources |= sources_of({f"clusters of {run}": source})
        clusters_by_run[run] = source if isinstance(source, Mapping) else _read_clusters(source)
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
        rows.definitions[figure.name] = figure.rule | {"summary": "mean"}
    return {"clusters": "kmeans (k-means++, 100 iterations)" if is_computed else "given"}


def _read_clusters(source: Any) -> dict[str, str]:
    """image -> cluster, from a table with a column `image` and a column `cluster`, or the one
    named, as in `found.csv:group`.
    """
    if not isinstance(source, (str, Path)):
        raise BadUsage(
            f"{flag('--clusters')} is {kind_of(source)}; expected kmeans, the path of a table, or "
            "a mapping image -> cluster."
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


_WORST = 2


def images_answer(result: Any) -> Answer:
    """The share of queries whose best reference is right, the scores, and the worst queries; of
    several runs the scores.
    """
    answer, rows = score_answer(result), result.summary
    if len(result.views) > 1:
        hint = "The highest mean need not be significantly higher; rankwell compare tests it."
        return answer._replace(legend=[hint])
    run, first = rows[0]["run"], next((row for row in rows if row["measure"] == "P@1"), None)
    if first is None or first["mean"] is None:
        return answer
    whole = 100 if first["unit"] == "percent" else 1
    share = first["mean"] / whole
    known = first.get("chance")
    chance = "" if known is None else f"; chance is {known / whole:.0%}"
    right, n = share * first["n"], first["n"]
    # A tie counts in part.
    is_whole = abs(right - round(right)) < 1e-6
    number, percentage = (f"{right:.0f}", f" ({share:.0%})") if is_whole else (f"{share:.0%}", "")
    sentence = f"{run} recognises {number} of {n} photographs{percentage}{chance}."
    details = result.details or {}
    columns = [details.get(name, ()) for name in ("query", "item", "rank", "detail")]
    taken_for = {
        query: f", taken for {json.loads(detail or '{}').get('label', item)}"
        for query, item, rank, detail in zip(*columns, strict=True)
        if rank == 1
    }
    worst = (query + taken_for.get(query, "") for query in result.worst(run)[:_WORST])
    measures = " and ".join(row["label"] for row in rows[:2])
    legend = [f"Worst by {measures}: {'; '.join(worst)}"] if right < n else []
    return answer._replace(sentence=sentence, legend=legend)


class InstanceObject(TypedDict):
    """How often the first reference is right, of one instance in a run."""

    run: str
    instance: str
    references: int
    queries: int
    named: float
    right: float
    precision: float | None


_SHEETS, _FIRST = 10, 5
"""Contact sheets of each run, and the references on each."""


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Further output."""

    check: PrintedFigures = None


@dataclass(frozen=True, kw_only=True)
class ImageCommandOptions(ImageSetOptions, ImageSystemOptions, ImageOptions, OutputOptions):
    """The options of the command."""


def _evaluate(
    images: str | None, *, options: ImageCommandOptions, details: bool, progress: Progress
) -> Presented:
    """The results of the runs, one of which may be computed from the images."""
    _check_options(images, options)
    table, rules = None, dict[str, Any]()
    if images is not None:
        rules["dataset"], path = named_place(images)
        if options.query_images is not None:
            rules["query_images"] = Path(options.query_images).name
        table = options.read(path)
    start, computed, retrieval = time.perf_counter(), None, options
    if options.encoder or options.local_features:
        if options.query_vectors is not None:
            raise BadUsage(
                "--query-vectors are those of --item-vectors; leave them out beside a system that "
                "looks at the images."
            )
        images_used = None if table is None else _refuse_early(table, options)
        computed = compute_run(images_used, options, progress=progress)
        field = "scores" if isinstance(computed.table, Scores) else "item_vectors"
        files = getattr(options, field) or []
        tables = [(computed.run, computed.table), *(("", file) for file in files)]
        runs = named_places(tables, [computed.run, *files], what="runs", example="own=scores.npy")
        retrieval = replace(options, **{field: runs})
        rules |= computed.rules
    result = evaluate_images(
        table, options=retrieval, details=details, rules=rules, progress=progress
    )
    sizes = dict.fromkeys(counts["queries_counted"] for counts in result.rules["counts"].values())
    checks = [str(granularity_of(figure, n)) for figure in options.check or () for n in sizes]
    if checks:
        result = replace(result, rules={**result.rules, "checks": checks})
    if computed is not None and computed.failures:
        n_failures = count_of(len(computed.failures), "image")
        unread = images_unreadable(n_failures, computed.failures[0].message)
        result = replace(result, data_findings=(unread, *result.data_findings))
    return Presented(result, partial(_present, computed=computed, start=start, checks=checks))


def _refuse_early(images: Images, options: ImageCommandOptions) -> Images:
    """The images that take part. Raises what the evaluation would raise for files of other runs,
    before a run is computed, which takes long.
    """
    rules = InstanceRules(options, by_id=True)
    images_used = rules.filtered(images).images
    both_sides(images_used)
    if options.scores is not None or options.item_vectors is not None:
        runs, _, truth = read_runs(images, options, rules)
        for name in runs.tables:
            runs.matched(name, truth)
    return images_used


def _check_options(images: str | None, options: ImageCommandOptions) -> None:
    """Raises BadUsage for an option that nothing would read, and where nothing returns references
    for the queries.
    """
    if images is None and any(
        getattr(options, field.name) is not None for field in fields(ImageSetOptions)
    ):
        raise BadUsage(
            "--query-images, --root, --pattern and --contentless-images belong to a data set; "
            "name it first."
        )
    by_id = images is not None
    if options.k is not None and not InstanceRules(options, by_id=by_id).takes_cutoffs:
        raise BadUsage(
            f"-k {options.k}: every measure names its own cut-off; name one that does not with -m, "
            "as P, or leave -k out."
        )
    for owners, names in (
        (("encoder",), ENCODER_SETTINGS),
        (("local_features",), ("executor",)),
        (("encoder", "local_features"), ("cache",)),
        (("item_vectors", "scores"), ("item_ids",)),
        (("query_vectors", "scores"), ("query_ids",)),
        (("encoder", "item_vectors"), ("metric",)),
    ):
        unused = [name for name in names if getattr(options, name) is not None]
        if unused and not any(getattr(options, owner) for owner in owners):
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in unused)
            owning = " or ".join(f"--{name.replace('_', '-')}" for name in owners)
            verb = "belongs" if len(unused) == 1 else "belong"
            raise BadUsage(f"{flags} {verb} to {owning}; name one of these, or leave it out.")
    sources = ("encoder", "local_features", "item_vectors", "query_vectors", "scores")
    if not any(getattr(options, name) for name in sources):
        raise BadUsage(
            "nothing says what is found for the queries: name --encoder or --local-features, "
            "which look at the images, "
            "--item-vectors, --query-vectors with --item-vectors, or --scores."
        )


def _present(
    result: InstanceResults,
    *,
    format: Format,
    per_query: bool,
    output: Path | None,
    style: TableStyle | None,
    computed: ComputedRun | None,
    start: float,
    checks: Sequence[str],
) -> Output:
    """The output; JSON has the rows of instances, too. start: of the work, by
    `time.perf_counter`. checks: of printed figures.
    """
    tables = {"by_instance": result.by_instance} if format == "json" and result.by_instance else {}
    printed = present(result, format=format, per_query=per_query, tables=tables, style=style)
    printed = printed._replace(messages=tuple(checks))
    if output is None:
        return printed
    images, details, queries = result.images, result.details or {}, result.queries or {}
    labels, paths, notes = dict[str, str](), dict[str, Path](), list[str]()
    if images is not None:
        labels, paths = images.labels, dict(zip(images.ids, images.paths or (), strict=False))
    pictures, items, contents = Thumbnails(paths), None, dict[str, str]()
    if computed is not None and computed.failures:
        problems = [
            {"image": failure.id, "file": str(failure.path), "problem": failure.message}
            for failure in computed.failures
        ]
        contents["encoding_errors.csv"] = render_rows(problems, "csv")
    performance = _performance(result, computed, time.perf_counter() - start)
    contents[PERFORMANCE] = json.dumps(performance, indent=2) + "\n"
    if result.by_instance:
        contents["by_instance.csv"] = render_rows(result.by_instance, "csv")
    with drafting(output, result.sources.values()) as draft:
        for name, text in contents.items():
            write_text(draft / name, text)
        written = [draft / name for name in contents]
        if paths:
            drawings = sheets_of(
                details,
                pictures,
                first=_FIRST,
                lines={
                    (run, query): [f"shows {label}"]
                    for run in result.views
                    for query, label in labels.items()
                },
                queries=[
                    (run, query) for run in result.views for query in result.worst(run)[:_SHEETS]
                ],
                score="score",
            )
            drawn = write_sheets(draft / "sheets", drawings)
            written += drawn
            notes.append(
                f"drew {count_of(len(drawn), 'contact sheet')} into {output / 'sheets'}/, the "
                f"worst of {len(queries['query'])} queries of {' and of '.join(result.views)} first"
            )
            items = picture_columns(details, pictures, queries=queries["query"])
            queries = pictured(queries, items)
        write_result(result, output, queries=queries, items=items, others=written)
    if paths and pictures.problems:
        number = count_of(len(pictures.problems), "image has", "images have")
        notes.append(f"{number} no picture, first: {next(iter(pictures.problems.values()))}")
    messages = (*printed.messages, *notes, StatusNote(f"wrote {output}/"))
    words = ("report", output, "--open") if len(result.views) == 1 else ("compare", output)
    return printed._replace(messages=messages, next_step=typed("rankwell", *words))


def _performance(
    result: InstanceResults, computed: ComputedRun | None, seconds: float
) -> dict[str, Any]:
    """The cost of the runs on this machine; `seconds` are those of the whole command."""
    runs = {run: dict(costs) for run, costs in result.performance.items()}
    for costs in runs.values():
        costs["seconds_evaluation"] = costs.pop("seconds")
    if computed is not None:
        runs[computed.run]["seconds_evaluation"] += computed.performance["seconds_making"]
        runs[computed.run] |= computed.performance
    return {
        "runs": runs,
        "seconds": seconds,
        "peak_memory_mib": _peak_memory(),
        "machine": threads.machine(),
    }


def _peak_memory() -> float | None:
    """The greatest memory of this process in MiB; None on Windows, which does not state it."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)


images = Task(
    name="images",
    about="""Evaluate search for the same object in photographs.

To reproduce the thesis on CLICIDE and GaRoFou: -c thesis, thesis-code. Oxford and Paris: -c \
oxford, revisited-E, revisited-M, revisited-H. Google Landmarks: -c gldv2. Market-1501: -c \
market1501, torchreid. Metric learning: -c sop. Place recognition: -c vpr.

Checks whether the best reference is right, and where the others rank: paintings in a museum, \
products, places.

Every figure comes with its ceiling (a perfect ranker) and its chance level (a random one). Values \
are in percent, unless the convention gives them from 0 to 1.""",
    command_lines="""
rankwell images museum --encoder clip-ViT-B-32
rankwell images museum.csv --item-vectors photos.npy -o results
""",
    options=ImageCommandOptions,
    inputs=(
        TaskInput(
            "images",
            "Data set as PLACE or NAME=PLACE: a folder with references/INSTANCE/… and "
            "queries/INSTANCE/…, a table with image, instance, split, and perhaps camera, group "
            "and contentless, or a JSON with imlist, qimlist and gnd (easy, hard, junk).",
        ),
    ),
    files="the tables, by_instance.csv (with TP/PRED), per_query.parquet, details.parquet (what "
    "each query found, with rank, score, label and which is the first right one), "
    "queries.parquet, items.parquet (the pictures of both), performance.json, manifest.json, "
    "charts and contact sheets",
    evaluation=_evaluate,
    json_tables={"rows": ScoreObject, "by_instance": InstanceObject},
)
