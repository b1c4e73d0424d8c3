"""Images of instances, searched by scores or vectors -> values: is the best reference right, and where do the others stand."""

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.conventions import Convention, LabelledMeasure
from rankwell.core.registry import Measure, parse_measure
from rankwell.core.tables import Bools, Floats
from rankwell.core.tables.values import Values
from rankwell.core.views.judged import JudgedRankings
from rankwell.errors import BadUsage, NothingToEvaluate
from rankwell.evaluation.results import Results
from rankwell.io.positives import Sides, read_positives
from rankwell.stats import Intervals, check_intervals
from rankwell.stats.summaries import figure_of
from rankwell.store import Source
from rankwell.tasks.instances.choices import CUTOFFS, NAMED, Choices, asked_for, convention_of
from rankwell.tasks.instances.formats import read_images
from rankwell.tasks.instances.images import Images
from rankwell.tasks.instances.named import Named
from rankwell.tasks.instances.ranked import DETAIL_DEPTH, Ranked
from rankwell.tasks.instances.runs import Runs, refuse_unknown
from rankwell.tasks.instances.tables import detail_columns, joined, query_columns, worst_first
from rankwell.tasks.instances.truth import Filtered, InstanceTruth, instance_truth

Progress = Callable[[str, int, int], None]
_NAMED_DEFINITION = {
    "definition": "Of the queries whose best reference has a label (PRED), the share whose own label it is (TP); where several "
    "references share the first place and no rule orders them, each counts in equal parts.",
    "better": "higher",
    "summary": "mean",
    "source": "evaluation chapter on instance search on CLICIDE and GaRoFou, 2018",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class InstanceResults(Results):
    """The values of every run with their rules; summaries and intervals are computed when first read.

    Every fact has `ceiling` (what a perfect ranker reaches) and `chance`. views: run -> where the right references stand, ties
    open. by_instance: a row per run and instance where references have labels: how often it was named, how often rightly. images:
    those that took part, None where only positions are known. filtered: what was removed. performance: run -> what it took, in
    seconds and numbers of vectors; the seconds differ from one computation to the next.
    """

    views: Mapping[str, JudgedRankings]
    by_instance: tuple[Mapping[str, Any], ...] = ()
    images: Images | None = None
    filtered: Filtered | None = None
    performance: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    task: str = "instances"

    def worst(self, run: str) -> list[str]:
        """The queries of a run that count, from worst to best by its measures in their order."""
        mine = [each for each in self.values if each.run == run and each.measure != NAMED]
        lower = [parse_measure(each.measure).entry.better == "lower" for each in mine]
        return worst_first(mine[0].queries, [(each.values, low) for each, low in zip(mine, lower, strict=True)])


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
) -> InstanceResults:
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
    Raises BadInput, BadUsage, UnknownName, and NothingToEvaluate where no query counts.
    """
    source = convention_of(convention)
    check_intervals(intervals, seed)
    choices = Choices.of(
        source, exclude, contentless, absent, ties, no_relevant, by_id=images is not None, judged=positives is not None
    )
    asked, named = asked_for(source, measures, (k,) if isinstance(k, int) else tuple(k), cut)
    table = None if images is None else read_images(images)
    told = Runs.read(
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
        told = told.in_order(table.listed)
        refuse_unknown(told, table)
        filtered = choices.filtered(table)
    truth = _truth(filtered, positives, told, choices)
    is_labelled = any(label is not None for label in truth.reference_instances or ())
    found = _Found(source, choices, truth, asked, named and is_labelled)
    for name in told.given:
        found.add(name, told, details=details, progress=progress)
    sources = told.sources | {name: Source(place) for name, place in _places(images, positives).items()}
    return InstanceResults(
        values=tuple(found.values),
        row_attributes=tuple(found.facts),
        rules={**(rules or {}), **found.rules(told, filtered)},
        notes=tuple(dict.fromkeys([*source.notes, *_notes_of(source, asked), *found.notes])),
        sources=sources,
        details=joined(found.details) if details else None,
        queries=query_columns(truth, None if filtered is None else filtered.images) if details else None,
        intervals=intervals,
        seed=seed,
        population_sd=source.population_sd,
        views=found.views,
        by_instance=tuple(found.by_instance),
        images=None if filtered is None else filtered.images,
        filtered=filtered,
        performance=found.performance,
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


@dataclass
class _Found:
    """What has been computed so far."""

    convention: Convention
    choices: Choices
    truth: InstanceTruth
    asked: Sequence[LabelledMeasure]
    named: bool
    values: list[Values] = field(default_factory=list[Values])
    facts: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    notes: list[str] = field(default_factory=list[str])
    counts: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    views: dict[str, JudgedRankings] = field(default_factory=dict[str, JudgedRankings])
    details: list[dict[str, list[Any]]] = field(default_factory=list[dict[str, list[Any]]])
    by_instance: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    performance: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])

    def add(self, run: str, runs: Runs, *, details: bool, progress: Progress | None) -> None:
        """Measures one run."""
        start = time.perf_counter()
        aligned = runs.aligned(run, self.truth)
        told = None if progress is None else lambda done, total: progress(run, done, total)
        ranked = Ranked.of(self.truth, aligned, self.choices.ties, told)
        counted = ranked.counted(self.choices.no_relevant)
        if not counted.any() or ranked.without_right.all():
            raise NothingToEvaluate(f"{run}: none of the {len(counted)} queries has a right reference; name at least one.")
        for each in self.asked:
            self._measure(run, ranked, each, counted)
        if self.named:
            self._name(run, Named(ranked))
        if details:
            self.details.append(detail_columns(run, ranked, ranked.first(DETAIL_DEPTH)))
        self.views[run] = ranked.view
        self._count(run, ranked, counted)
        taken = time.perf_counter() - start
        self.performance[run] = _performance(ranked, taken)

    def _measure(self, run: str, ranked: Ranked, asked: LabelledMeasure, counted: Bools) -> None:
        scale, unit = self.convention.shows(asked.measure.entry.unit)
        name, summary = str(asked.measure), asked.measure.entry.summary
        values = ranked.values(asked.measure, counted, self.notes) * scale
        self.values.append(Values(run, name, asked.label, unit, summary, tuple(self.truth.queries), values))
        ceiling, chance = (level(asked.measure, counted) * scale for level in (ranked.ceiling, ranked.chance))
        self.facts.append({"ceiling": figure_of(ceiling, summary), "chance": figure_of(chance, summary)})

    def _name(self, run: str, named: Named) -> None:
        scale, unit = self.convention.shows("share")
        queries = tuple(self.truth.queries)
        values: Floats = named.values * scale
        self.values.append(Values(run, NAMED, NAMED, unit, "mean", queries, values, named.weights))  # pyright: ignore[reportArgumentType]
        self.facts.append({"ceiling": None, "chance": None})
        self.by_instance += named.by_instance(run, self.truth)

    def _count(self, run: str, ranked: Ranked, counted: Bools) -> None:
        aligned = ranked.aligned
        self.counts[run] = {
            "queries_counted": int(counted.sum()),
            "queries_without_relevant": int(ranked.without_right.sum()),
            "queries_best_relevant_tied": ranked.tied,
        }
        for what, here, known in (
            ("queries_missing_from_the_run", aligned.queries, self.truth.queries),
            ("references_missing_from_the_run", aligned.references, self.truth.references),
        ):
            lost = len(known) - len(here)
            if lost:
                self.counts[run][what] = lost
                side = what.split("_")[0]
                so = (
                    "counted as not found" if side == "queries" else "those that are right for a query stay so, and are not found"
                )
                self.notes.append(f"{run}: {lost} of {len(known)} {side} {'is' if lost == 1 else 'are'} not in it; {so}")

    def rules(self, runs: Runs, filtered: Filtered | None) -> dict[str, Any]:
        """What decided the numbers."""
        choices = self.choices
        found: dict[str, Any] = {"convention": self.convention.name, "ties": choices.ties, "no_relevant": choices.no_relevant}
        if runs.compares_vectors:
            found["metric"] = runs.metric
        found["exclude"] = ",".join(choices.exclude) or "none"
        if choices.reading.level != "medium":
            found["level"] = choices.reading.level
        if filtered is not None:
            found |= {"contentless": choices.contentless, "absent": choices.absent, "filtered": filtered.counts}
            sizes = {"references": len(self.truth.references), "queries": len(self.truth.queries)}
            found["images"] = sizes | {"digest": _digest(filtered.images)}
            self.notes += [f"left out: {told}" for told in filtered.told]
        found |= runs.told()
        found["counts"] = self.counts
        found["measures"] = {str(each.measure): _definition(each.measure) for each in self.asked}
        if self.named:
            found["measures"][NAMED] = _NAMED_DEFINITION
        return found


def _definition(measure: Measure) -> dict[str, Any]:
    """What a measure is, with the parameters that it was given, which tell it from others of its name."""
    given = dict(measure.given)
    return {**measure.entry.definition, **({"parameters": given} if given else {})}


def _performance(ranked: Ranked, seconds: float) -> dict[str, Any]:
    """What a run took: search and measures, without reading files and encoding images."""
    asked = len(ranked.aligned.queries)
    return {
        "dimensions": ranked.aligned.dimensions,
        "queries": asked,
        "references": len(ranked.aligned.references),
        "seconds": seconds,
        "seconds_per_query": seconds / asked,
    }


def _digest(images: Images) -> str:
    """The SHA-256 of what the images are called and show, which stands for the data set where that is a folder."""
    columns = (images.ids, images.instances, images.splits, images.cameras, images.groups, images.contentless.tolist())
    marks = {query: mine._asdict() for query, mine in sorted((images.marks or {}).items())}
    return "sha256:" + hashlib.sha256(json.dumps([columns, marks], sort_keys=True).encode()).hexdigest()
