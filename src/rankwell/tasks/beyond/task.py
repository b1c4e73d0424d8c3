"""Measures beyond accuracy: runs, and what is known of items and queries -> results."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from rankwell.conventions import (
    Convention,
    LabelledMeasure,
    Measures,
    check_views,
    choose_measures,
    find_convention,
)
from rankwell.data.findings.kinds import queries_missing, queries_unknown
from rankwell.data.options import Table, takes_options
from rankwell.data.rankings import Ranking
from rankwell.data.registry import Measure, at_cutoffs, cutoffs_of_defaults, measure_names
from rankwell.data.tables import Floats, Ints, order_ids, sort_ids
from rankwell.errors import BadUsage, NothingToEvaluate
from rankwell.evaluation.judged import name_runs
from rankwell.evaluation.results import (
    QUERIES_COUNTED,
    QUERIES_MISSING,
    QUERIES_UNKNOWN,
    ResultsBuilder,
)
from rankwell.io.reader import Irregular
from rankwell.results import Results
from rankwell.stats import SummaryRow
from rankwell.store import sources_of
from rankwell.task import Task, TaskInput
from rankwell.tasks.beyond.findings import items_ungrouped, items_unseen
from rankwell.tasks.beyond.inputs import RunLists, read_attributes
from rankwell.tasks.beyond.lists import ExposureCounts, ItemAttributes, ItemLists, ListCollections
from rankwell.tasks.beyond.measures.diversity import catalogue_distance
from rankwell.tasks.beyond.options import BeyondOptions


@takes_options(BeyondOptions, "measures")
def evaluate_beyond(runs: Table | Ranking, *, options: BeyondOptions) -> Results:
    """Measures recommendations beyond accuracy: coverage, novelty, diversity, calibration and
    fairness of exposure.

    Measures of a whole collection are rows of the summary alone; the others have a value per query.
    In Python, `documents` may be a collection of ids, and `item_categories` and `item_groups`
    mappings item -> names.
    Raises BadUsage for a measure whose input is missing, BadInput for bad rows and for items
    missing from the catalogue, UnknownName for a measure or convention that does not exist,
    NothingToEvaluate where a run has no queries.

    Parameters
    ----------
    runs
        One run in any form (a file, a mapping query -> item -> score, a data frame), a list of
        files, or a mapping name -> run.

    >>> import rankwell as rw
    >>> run = {"u1": {"a": 2.0, "b": 1.0}, "u2": {"a": 2.0, "b": 1.0}}
    >>> rw.evaluate_beyond(run, ["ItemCoverage@2", "Gini@2"], documents=["a", "b", "c"]).summary[
    ...     1
    ... ].mean
    0.5
    """
    options.check_intervals()
    ks = cutoffs_of_defaults(options.k, options.measures, "Gini") or (10,)
    convention = find_convention(options.convention, "beyond")
    attributes, findings = read_attributes(options)
    run_inputs = name_runs(runs)
    if not run_inputs:
        raise BadUsage("no run is given; name at least one.")
    measures = _measures(options, ks, convention, attributes)
    evaluation = _BeyondEvaluation(options, convention, attributes, measures)
    builder = evaluation.builder
    builder.findings += findings
    for name, run in run_inputs.items():
        evaluation.add(name, run)
    evaluation.note_ungrouped()
    n_summarised, undefined = len(builder.values), evaluation.undefined.values
    builder.values += undefined
    builder.row_attributes += [{}] * len(undefined)
    catalogue = attributes.in_catalogue
    return builder.results(
        Results,
        rules={
            "convention": convention.name,
            "ties": "id-desc",
            "average_over": "run" if options.qrels is None else "judged",
            **({} if catalogue is None else {"catalogue_items": int(catalogue.sum())}),
            **builder.rules(measures, options),
        },
        measures=measures,
        aggregates=tuple(evaluation.aggregates),
        findings=builder.findings,
        sources=sources_of({name: getattr(options, name) for name in _PLACES}, run_inputs),
        intervals=options.intervals,
        seed=options.seed,
        by_query=True,
        n_summarised=n_summarised,
    )


_PLACES = ("documents", "interactions", "item_categories", "item_groups", "item_vectors", "qrels")


def _measures(
    options: BeyondOptions, ks: Sequence[int], convention: Convention, attributes: ItemAttributes
) -> tuple[LabelledMeasure, ...]:
    """The measures that are named, else those of the convention, else those that the inputs
    allow.
    """
    names = measure_names(options.measures)
    if names is None and convention.origin != "rankwell":
        names = at_cutoffs(convention.defaults, ks)
    elif names is None:
        has_catalogue = attributes.in_catalogue is not None
        has_interactions = attributes.popularity is not None
        has_categories = attributes.categories is not None
        has_groups = attributes.groups is not None
        has_judgments = attributes.grades is not None
        allowed = {
            "ItemCoverage Gini": has_catalogue,
            "Entropy": True,
            "Novelty Popularity": has_interactions,
            "Serendipity": has_interactions and has_judgments,
            "ILD": has_categories,
            "ILD(by='embeddings')": attributes.vectors is not None,
            "Miscalibration": has_interactions and has_categories,
            "AWRF": has_groups and has_catalogue,
            "EED": has_groups,
            "EER EEL": has_groups and has_judgments and has_catalogue,
        }
        possible = [words for words, is_possible in allowed.items() if is_possible]
        names = at_cutoffs(" ".join(possible).split(), ks)
    measures = choose_measures(names, convention)
    check_views((labelled.measure for labelled in measures), ItemLists, ListCollections)
    return measures


class _BeyondEvaluation:
    """The runs measured so far. undefined: values of single queries by measures of all lists."""

    def __init__(
        self,
        options: BeyondOptions,
        convention: Convention,
        attributes: ItemAttributes,
        measures: Measures,
    ) -> None:
        self.builder, self.undefined = ResultsBuilder(convention), ResultsBuilder(convention)
        self.aggregates = list[SummaryRow]()
        self._options, self._attributes, self._measures = options, attributes, measures
        self._of_lists, self._of_collections = (
            [labelled for labelled in measures if labelled.measure.entry.view is view]
            for view in (ItemLists, ListCollections)
        )
        cutoffs = [labelled.measure.cutoff for labelled in measures]
        self._depth = None if None in cutoffs else max(filter(None, cutoffs))

    def add(self, name: str, run: Any) -> None:
        """Measures one run. Raises NothingToEvaluate where none of its queries is judged."""
        builder, attributes = self.builder, self._attributes
        lists = RunLists(name, run, self._depth, attributes, self._options)
        try:
            values = _RunValues(lists.streamed(), attributes, self._of_lists, self._of_collections)
        except Irregular:
            values = _RunValues(lists.listed(), attributes, self._of_lists, self._of_collections)
        queries, missing, unknown = values.queries, values.missing, sort_ids(lists.unknown)
        if not queries:
            raise NothingToEvaluate(f"{name} has no queries.")
        if len(missing) == len(queries):
            raise NothingToEvaluate(
                f"{name}: none of its {len(unknown)} queries has judgments; are ids written in "
                "two ways?"
            )
        builder.counts[name] = {
            QUERIES_COUNTED: len(queries),
            QUERIES_MISSING: len(missing),
            QUERIES_UNKNOWN: len(unknown),
        }
        builder.findings += lists.findings
        if missing:
            builder.findings.append(queries_missing(name, missing, ("query", "queries")))
        if unknown:
            builder.findings.append(
                queries_unknown(name, unknown, ("query", "queries"), "relevance judgments")
            )
        for labelled, column in zip(self._of_lists, values.columns(), strict=True):
            builder.keep(name, labelled.measure, labelled.label, queries, column)
            chance = _chance(labelled.measure, attributes)
            builder.row_attributes.append(
                {} if chance is None else {"ceiling": None, "chance": chance}
            )
            builder.find_undefined(name, labelled.label, np.isnan(column), queries)
        if any(labelled.measure.name == "Novelty" for labelled in self._measures):
            self._note_unseen(name, np.flatnonzero(values.is_retrieved))
        for labelled in self._of_collections:
            self._aggregate(name, labelled, values)

    def _note_unseen(self, name: str, items: Ints) -> None:
        """Notes retrieved items without interactions, whose self-information is infinite."""
        unseen = items[self._attributes.interactions("Novelty")[items] == 0]
        if len(unseen):
            self.builder.findings.append(
                items_unseen(name, len(unseen), len(items), self._attributes.items[int(unseen[0])])
            )

    def _aggregate(self, name: str, labelled: LabelledMeasure, values: "_RunValues") -> None:
        """Adds the row of a measure of all lists, whose values of single queries are undefined."""
        measure, n = labelled.measure, len(values.queries)
        self.undefined.keep(name, measure, labelled.label, values.queries, np.full(n, np.nan))
        (value,) = measure(ListCollections((name,), (values.exposures,))).tolist()
        scale, unit = self.builder.convention.shows(measure.entry.unit)
        value, ceiling, chance = (
            None if level is None or math.isnan(level) else level * scale
            for level in (value, *_levels(measure, values.exposures))
        )
        row = SummaryRow.of(name, str(measure), labelled.label, value, None, None, None, n, unit)
        if ceiling is not None:
            row = SummaryRow({**row, "ceiling": ceiling, "chance": chance})
        self.aggregates.append(row)

    def note_ungrouped(self) -> None:
        """Notes items of the catalogue without a group, which are in no group's target."""
        aimed = [
            labelled.label
            for labelled in self._measures
            if labelled.measure.parameters.get("target") == "catalogue"
            or (
                labelled.measure.name in ("EER", "EEL")
                and labelled.measure.parameters["by"] == "groups"
            )
        ]
        groups, in_catalogue = self._attributes.groups, self._attributes.in_catalogue
        if not aimed or groups is None or in_catalogue is None:
            return
        bare = np.flatnonzero(in_catalogue & (np.diff(groups.offsets)[:-1] == 0))
        if len(bare):
            self.builder.findings.append(
                items_ungrouped(
                    len(bare), int(in_catalogue.sum()), self._attributes.items[bare[0]], aimed
                )
            )


class _RunValues:
    """The values of a run, whose lists are measured some queries at a time; nothing is kept of them
    but values and counts.

    queries: those that count, in order. missing: those of them that the run lacks: where there are
    judgments, their queries count, and a list that is not there is empty. exposures: of all lists.
    is_retrieved: (items,) whether any list has the item.
    """

    def __init__(
        self,
        blocks: Iterable[ItemLists],
        attributes: ItemAttributes,
        of_lists: Measures,
        of_collections: Measures,
    ) -> None:
        self.exposures = ExposureCounts(
            attributes,
            [
                (labelled.measure.cutoff, labelled.measure.parameters.get("discount", "none"))
                for labelled in of_collections
            ],
        )
        self.is_retrieved = np.zeros(len(attributes.items), dtype=np.bool_)
        self._measures = [labelled.measure for labelled in of_lists]
        self._parts = [list[Floats]() for _ in of_lists]
        grades, names, rows = attributes.grades, list[str](), list[Ints]()
        for block in blocks:
            self._add(block)
            if grades is None:
                names += block.queries
            else:
                # With judgments, none of the run's ids is kept.
                rows.append(block.rows_of(grades))
        self.missing: list[str] = []
        if grades is None:
            self._order = order_ids(names)
            self.queries = tuple(map(names.__getitem__, self._order.tolist()))
            return
        self.queries = tuple(grades.index)
        is_missing = np.ones(len(self.queries), dtype=np.bool_)
        for rows_of_block in rows:
            is_missing[rows_of_block] = False
        rows.append(np.flatnonzero(is_missing))
        self._order = np.argsort(np.concatenate(rows))
        self.missing = [self.queries[row] for row in rows[-1].tolist()]
        if self.missing:
            nothing = np.full((len(self.missing), 1), -1, dtype=np.int64)
            self._add(ItemLists(tuple(self.missing), nothing, attributes))

    def _add(self, block: ItemLists) -> None:
        for measure, parts in zip(self._measures, self._parts, strict=True):
            parts.append(np.array(measure(block), dtype=np.float64))
        self.exposures.add(block)
        codes = block.codes
        self.is_retrieved[codes[(codes >= 0) & (codes < len(self.is_retrieved))]] = True

    def columns(self) -> Iterator[Floats]:
        """The values of each measure of lists, (queries,), which are given away: one at a time, so
        that no two copies of all values are in memory.
        """
        while self._parts:
            yield np.concatenate(self._parts.pop(0))[self._order]


def _levels(measure: Measure, exposures: ExposureCounts) -> tuple[float | None, float | None]:
    """The ceiling and the chance level of a measure of all lists, None where they are unknown.

    Ceiling: of lists of the same lengths that expose all items of the catalogue alike, which lists
    of different items always can. It is unknown without a catalogue, under a discount, and for
    `Entropy(form='mean')`, which falls with the number of items. Chance: the expected value for
    lists whose items are drawn at random without replacement, independently of each other; only
    that of coverage has a closed form, 1 - Π (1 - length / items).
    """
    parameters, attributes = measure.parameters, exposures.attributes
    if (
        attributes.in_catalogue is None
        or parameters.get("discount", "none") != "none"
        or parameters.get("form") == "mean"
    ):
        return None, None
    (ceiling,) = measure(ListCollections(("",), (exposures.evenly(measure.cutoff),))).tolist()
    chance = (
        _expected_coverage(exposures, measure.cutoff) if measure.name == "ItemCoverage" else None
    )
    return None if math.isnan(ceiling) else ceiling, chance


def _chance(measure: Measure, attributes: ItemAttributes) -> float | None:
    """The chance level of a measure of a list, None where it is unknown or there is no catalogue.

    The mean over items of a random list, in expectation, is that over the catalogue; so is the mean
    over its pairs of items.
    """
    if attributes.in_catalogue is None:
        return None
    if measure.name == "ILD":
        return (
            None
            if measure.cutoff == 1
            else catalogue_distance(attributes, measure.parameters["by"])
        )
    if measure.name not in ("Novelty", "Popularity"):
        return None
    catalogue_list = ItemLists(("",), attributes.catalogue(measure.name)[np.newaxis], attributes)
    return float(measure.with_parameters(k=None)(catalogue_list)[0])


def _expected_coverage(exposures: ExposureCounts, k: int | None) -> float:
    lists = exposures.lengths(k)
    with np.errstate(divide="ignore"):  # a list of the whole catalogue leaves out no item
        missed = np.log1p(
            -np.arange(len(lists)) / len(exposures.attributes.catalogue("ItemCoverage"))
        )
    return -math.expm1(float((lists * missed)[lists > 0].sum()))


beyond = Task(
    name="beyond",
    about="""Measure coverage, novelty, diversity and fairness of lists.

Also serendipity, calibration and exposure of groups.

All retrieved items count, judged or not, and most measures need no judgments. Without -m, all \
that the inputs allow are reported. docs/guide/recommenders.md explains them.""",
    command_lines="""
rankwell beyond recommended.run --interactions ratings.csv
""",
    options=BeyondOptions,
    inputs=(
        TaskInput(
            "runs",
            "Files of rankings, as for `rankwell evaluate`; name more to compare them.",
            many=True,
            missing="name at least one run",
            usage="RUN...",
        ),
    ),
    files="summary.csv, summary.json, per_query.parquet, queries.parquet and charts",
    evaluation=lambda runs, *, options, **_: evaluate_beyond(runs, options=options),
)
