"""Images of instances, searched by scores or vectors -> values: is the best reference right, and where do the others stand."""

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.conventions import Convention, LabelledMeasure
from rankwell.core.registry import Measure, parse_measure
from rankwell.core.tables import Bools, Floats
from rankwell.core.tables.values import Values
from rankwell.core.views.judged import JudgedRankings
from rankwell.errors import BadUsage, NothingToEvaluate
from rankwell.evaluation.results import (
    QUERIES_BEST_TIED,
    QUERIES_COUNTED,
    QUERIES_MISSING,
    QUERIES_WITHOUT_RELEVANT,
    Results,
    ResultsBuilder,
)
from rankwell.evaluation.results import Progress as RunProgress
from rankwell.io.positives import Sides, read_positives
from rankwell.stats import Intervals, check_intervals
from rankwell.store import Source
from rankwell.tasks.instances.choices import CUTOFFS, NAMED, Choices, convention_of, labelled_measures
from rankwell.tasks.instances.formats import read_images
from rankwell.tasks.instances.images import Images
from rankwell.tasks.instances.judged import InstanceRun
from rankwell.tasks.instances.named import Named
from rankwell.tasks.instances.runs import Runs, refuse_unknown
from rankwell.tasks.instances.tables import instance_detail_columns, query_columns, worst_first
from rankwell.tasks.instances.truth import Filtered, InstanceTruth, instance_truth

Progress = Callable[[str, int, int], None]
_NAMED_DEFINITION = {
    "definition": "Of the queries whose best reference has a label (PRED), the share whose own label it is (TP); where several "
    "references share the first place and no rule orders them, each counts in equal parts.",
    "better": "higher",
    "summary": "mean",
    "source": "evaluation chapter on instance search on CLICIDE and GaRoFou, 2018",
}


def _worst(values: Sequence[Values], run: str) -> list[str]:
    """The counted queries of a run, from worst to best by its measures in their order."""
    own = [each for each in values if each.run == run and each.measure != NAMED]
    lower = [parse_measure(each.measure).entry.better == "lower" for each in own]
    return worst_first(own[0].queries, [(each.values, low) for each, low in zip(own, lower, strict=True)])


def evaluate_instances(
    images: Any = None,
    *,
    scores: Any = None,
    embeddings: Any = None,
    queries: Any = None,
    references: Any = None,
    positives: Any = None,
    metric: str = "cosine",
    ids: Any = None,
    query_ids: Any = None,
    reference_ids: Any = None,
    run: str | None = None,
    exclude: Sequence[str] | str | None = None,
    contentless: str = "filter",
    absent: str | None = None,
    measures: Sequence[str] | str | None = None,
    k: Sequence[int] | int = CUTOFFS,
    cut: int | None = None,
    convention: str = "thesis",
    ties: str | None = None,
    no_relevant: str | None = None,
    transforms: Sequence[str] | str = (),
    learn: Any = None,
    intervals: Intervals = "bootstrap",
    seed: int = 0,
    details: bool = False,
    rules: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Results:
    """How well pictures of instances are found: is the best reference one of the query's instance, and where do the others stand.

    images: a data set, whatever `read_images` takes; without one, `positives` says what is right, by position or id.
    scores: a row per query and a column per reference, higher is better, whatever `read_scores` takes; or embeddings: vectors of
    all images, by id; or queries and references: vectors of each side. Several runs as a list of files, or a mapping name -> run.
    Rows, columns and vectors of a side that have no ids go by the data set's own lists (`qimlist`, `imlist`) where it has any.
    positives: whatever `read_positives` takes; it goes before the images' labels. ids, query_ids, reference_ids: names of
    vectors, rows and columns that have none of their own. run: what a single run is called.
    exclude: `self`, `camera`, `group`, or `none`: references that count nowhere for a query; the convention's where None.
    contentless, absent: `filter` or `keep` references without content, and queries of instances that no reference shows.
    measures: names, at every `k` where they need a cut-off; `TP/PRED` among them; the convention's where None. cut: the length of
    a list, for its precision P_q = RR / RET and its recall R_q = RR / REL. ties, no_relevant: in place of the convention's.
    transforms: of vectors or of scores, as `parse_transform` reads them, one after the other; learn: vectors that those which
    learn are learnt on, in place of the references. details: keep the first references of each query. rules:
    what else the result is to say of how it came about, such as the name of the data set.
    The results have the table `by_instance` (a row per run and instance where references have labels) and the objects `views`
    (run -> ranks of the right references, ties open), `images` that took part, None where only positions are known, `filtered`,
    `performance` (run -> seconds and numbers of vectors; seconds differ from run to run) and `worst(run)`.
    Raises BadInput, BadUsage, UnknownName, and NothingToEvaluate where no query counts.
    """
    source = convention_of(convention)
    check_intervals(intervals, seed)
    choices = Choices.of(
        source, exclude, contentless, absent, ties, no_relevant, by_id=images is not None, judged=positives is not None
    )
    measures_labelled, named = labelled_measures(source, measures, (k,) if isinstance(k, int) else tuple(k), cut)
    table = None if images is None else read_images(images)
    given = Runs.read(
        scores,
        embeddings,
        queries,
        references,
        metric=metric,
        query_ids=query_ids,
        reference_ids=reference_ids,
        ids=ids,
        run=run,
    ).transformed([transforms] if isinstance(transforms, str) else list(transforms), learn)
    filtered = None
    if table is not None:
        given = given.in_order(table.listed)
        refuse_unknown(given, table)
        filtered = choices.filtered(table)
    truth = _truth(filtered, positives, given, choices)
    is_labelled = any(label is not None for label in truth.reference_instances or ())
    evaluation = _InstanceEvaluation(source, choices, truth, measures_labelled, named and is_labelled)
    for name in given.given:
        evaluation.add(name, given, details=details, progress=progress)
    builder = evaluation.builder
    described = {**(rules or {}), **evaluation.rules(given, filtered)}
    taking_part = None if filtered is None else filtered.images
    return builder.results(
        rules=described,
        measures=measures_labelled,
        notes=[*source.notes, *_notes_of(source, measures_labelled), *builder.notes],
        sources=given.sources | {name: Source(place) for name, place in _places(images, positives).items()},
        details=instance_detail_columns(evaluation.runs) if details else None,
        queries=query_columns(truth, taking_part) if details else None,
        intervals=intervals,
        seed=seed,
        task="instances",
        objects={
            "views": evaluation.views,
            "by_instance": tuple(evaluation.by_instance),
            "images": taking_part,
            "filtered": filtered,
            "performance": evaluation.performance,
            "worst": partial(_worst, tuple(builder.values)),
        },
    )


def _notes_of(convention: Convention, asked: Sequence[LabelledMeasure]) -> list[str]:
    """What a convention has to say of the measures that are asked for."""
    names = {each.measure.name for each in asked}
    return [note for name, notes in convention.rule_notes.items() if name in names for note in notes]


def _places(images: Any, positives: Any) -> dict[str, str]:
    given = {"images": images, "positives": positives}
    return {name: str(place) for name, place in given.items() if isinstance(place, (str, Path)) and Path(place).is_file()}


def _truth(filtered: Filtered | None, positives: Any, runs: Runs, choices: Choices) -> InstanceTruth:
    if positives is None:
        if filtered is None:
            raise BadUsage("nothing says what is right: name the data set of images, or --positives.")
        return instance_truth(filtered.images, exclude=choices.exclude, level=choices.reading.level)
    junk: list[tuple[int, int]] = []
    if filtered is None:
        names, shown = runs.names(), (None, None)
    else:
        own = instance_truth(filtered.images, exclude=choices.exclude, labels=False)
        names, shown = (own.queries, own.references), (own.query_instances, own.reference_instances)
        junk += zip(own.owner[own.junk].tolist(), own.item[own.junk].tolist(), strict=True)
    table = read_positives(positives, Sides(*names))
    right = dict.fromkeys(zip(table.owner.tolist(), table.items.tolist(), strict=True), False)
    every = sorted((right | dict.fromkeys(junk, True)).items())
    owner, item = (np.array([pair[side] for pair, _ in every], dtype=np.int64) for side in (0, 1))
    bad = np.array([is_junk for _, is_junk in every], dtype=np.bool_)
    return InstanceTruth(names[0], names[1], owner, item, bad, *shown)


class _InstanceEvaluation:
    """The runs measured so far."""

    def __init__(
        self,
        convention: Convention,
        choices: Choices,
        truth: InstanceTruth,
        measures: Sequence[LabelledMeasure],
        named: bool,
    ) -> None:
        self.choices, self.truth, self.measures, self.named = choices, truth, measures, named
        self.builder = ResultsBuilder(convention)
        self.views: dict[str, JudgedRankings] = {}
        self.runs: list[InstanceRun] = []
        self.by_instance: list[dict[str, Any]] = []
        self.performance: dict[str, dict[str, Any]] = {}

    def add(self, name: str, runs: Runs, *, details: bool, progress: Progress | None) -> None:
        """Measures one run."""
        start = time.perf_counter()
        run = InstanceRun.of(name, self.truth, runs.aligned(name, self.truth), self.choices.ties, RunProgress.of(progress, name))
        counted = run.counted(self.choices.no_relevant)
        if not counted.any() or run.without_right.all():
            raise NothingToEvaluate(f"{name}: none of the {len(counted)} queries has a right reference; name at least one.")
        self.builder.add(run, self.measures, counted)
        if self.named:
            self._name(name, Named(run))
        if details:
            self.runs.append(run)
        self.views[name] = run.view
        self._count(run, counted)
        self.performance[name] = _performance(run, time.perf_counter() - start)

    def _name(self, run: str, named: Named) -> None:
        scale, unit = self.builder.convention.shows("share")
        values: Floats = named.values * scale
        self.builder.values.append(Values(run, NAMED, NAMED, unit, "mean", tuple(self.truth.queries), values, named.weights))
        self.builder.row_attributes.append({"ceiling": None, "chance": None})
        self.by_instance += named.by_instance(run, self.truth)

    def _count(self, run: InstanceRun, counted: Bools) -> None:
        counts: dict[str, int] = {
            QUERIES_COUNTED: int(counted.sum()),
            QUERIES_WITHOUT_RELEVANT: int(run.without_right.sum()),
            QUERIES_BEST_TIED: run.n_best_tied,
        }
        self.builder.counts[run.name] = counts
        for what, side, here, known, so in (
            (QUERIES_MISSING, "queries", run.aligned.queries, self.truth.queries, "counted as not found"),
            (
                "references_missing",
                "references",
                run.aligned.references,
                self.truth.references,
                "those that are right for a query stay so, and are not found",
            ),
        ):
            lost = len(known) - len(here)
            if lost:
                counts[what] = lost
                is_are = "is" if lost == 1 else "are"
                self.builder.notes.append(f"{run.name}: {lost} of {len(known)} {side} {is_are} not in it; {so}")

    def rules(self, runs: Runs, filtered: Filtered | None) -> dict[str, Any]:
        """What decided the numbers."""
        choices = self.choices
        found: dict[str, Any] = {
            "convention": self.builder.convention.name,
            "ties": choices.ties,
            "no_relevant": choices.no_relevant,
        }
        if runs.compares_vectors:
            found["metric"] = runs.metric
        found["exclude"] = ",".join(choices.exclude) or "none"
        if choices.reading.level != "medium":
            found["level"] = choices.reading.level
        if filtered is not None:
            found |= {"contentless": choices.contentless, "absent": choices.absent, "filtered": filtered.counts}
            sizes = {"references": len(self.truth.references), "queries": len(self.truth.queries)}
            found["images"] = sizes | {"digest": _digest(filtered.images)}
            self.builder.notes += [f"left out: {told}" for told in filtered.told]
        found |= runs.told()
        found["counts"] = self.builder.counts
        found["measures"] = {str(each.measure): _definition(each.measure) for each in self.measures}
        if self.named:
            found["measures"][NAMED] = _NAMED_DEFINITION
        return found


def _definition(measure: Measure) -> dict[str, Any]:
    """What a measure is, with the parameters that it was given, which tell it from others of its name."""
    given = dict(measure.given)
    return {**measure.entry.definition, **({"parameters": given} if given else {})}


def _performance(run: InstanceRun, seconds: float) -> dict[str, Any]:
    """What a run took: search and measures, without reading files and encoding images."""
    queries = len(run.aligned.queries)
    return {
        "dimensions": run.aligned.dimensions,
        "queries": queries,
        "references": len(run.aligned.references),
        "seconds": seconds,
        "seconds_per_query": seconds / queries,
    }


def _digest(images: Images) -> str:
    """The SHA-256 of what the images are called and show, which stands for the data set where that is a folder."""
    columns = (images.ids, images.instances, images.splits, images.cameras, images.groups, images.contentless.tolist())
    marks = {query: mine._asdict() for query, mine in sorted((images.marks or {}).items())}
    return "sha256:" + hashlib.sha256(json.dumps([columns, marks], sort_keys=True).encode()).hexdigest()
