"""Runs, and what is known of items and queries -> results."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwell.conventions import (
    Convention,
    LabelledMeasure,
    check_views,
    choose_measures,
    find_convention,
)
from rankwell.data.options import takes_options
from rankwell.data.registry import Measure, measure_names
from rankwell.data.tables import Bools, Ints, sort_ids
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
from rankwell.stats import SummaryRow, check_intervals
from rankwell.store import sources_of
from rankwell.tasks.beyond.attributes import ItemAttributes
from rankwell.tasks.beyond.collecting import RunValues
from rankwell.tasks.beyond.inputs import BeyondInputs
from rankwell.tasks.beyond.levels import chance_of, levels_of
from rankwell.tasks.beyond.lists import ItemLists, ListCollections
from rankwell.tasks.beyond.options import BeyondOptions
from rankwell.tasks.beyond.reading import ListedRun
from rankwell.tasks.beyond.streaming import StreamedRun


@takes_options(BeyondOptions, "measures")
def evaluate_beyond(runs: Any, *, options: BeyondOptions) -> Results:
    """Measures beyond accuracy of the lists of runs: coverage, novelty, diversity, calibration and
    fairness of exposure.

    runs: one run in any form (a file, a mapping query -> item -> score, a data frame), a list of
    files, or a mapping name -> run. options: the fields of `BeyondOptions`; in Python `catalogue`
    may be a collection of ids, `categories` and `groups` mappings item -> names. Measures of whole
    collections are rows of the summary alone; the others have a value per query.
    Raises BadUsage for a measure whose input is missing, BadInput for bad rows and for items that
    the catalogue lacks.

    >>> import rankwell as rw
    >>> run = {"u1": {"a": 2.0, "b": 1.0}, "u2": {"a": 2.0, "b": 1.0}}
    >>> rw.evaluate_beyond(run, ["ItemCoverage@2", "Gini@2"], catalogue=["a", "b", "c"]).summary[
    ...     1
    ... ].mean
    0.5
    """
    check_intervals(options.intervals, options.seed)
    if options.k is not None and options.k < 1:
        raise BadUsage(f"-k {options.k}; expected a positive integer.")
    convention = find_convention(options.convention, "beyond")
    inputs = BeyondInputs.read(options)
    run_inputs = name_runs(runs)
    builder = ResultsBuilder(convention)
    if not run_inputs:
        raise BadUsage("no run is given; name at least one.")
    measures = _measures(options, convention, inputs)
    builder.notes += inputs.notes
    aggregates = list[SummaryRow]()
    undefined = ResultsBuilder(convention)
    attributes = inputs.attributes()
    del inputs
    for name, run in run_inputs.items():
        run_values = _values(builder, name, run, attributes, measures, options)
        aggregates += _keep(builder, undefined, name, run_values, measures)
    _note_ungrouped(builder, attributes, measures)
    inputs_of = {option: getattr(options, option) for option in _PLACES}
    summarised = len(builder.values)
    builder.values += undefined.values
    builder.row_attributes += [{}] * len(undefined.values)
    return builder.results(
        Results,
        rules=_rules(builder, convention, measures, options, attributes),
        measures=measures,
        aggregates=tuple(aggregates),
        notes=[*convention.notes, *builder.notes],
        sources=sources_of(inputs_of, run_inputs),
        intervals=options.intervals,
        seed=options.seed,
        by_query=True,
        summarised=summarised,
    )


_PLACES = ("catalogue", "interactions", "categories", "groups", "embeddings", "judgments")


def _measures(
    options: BeyondOptions, convention: Convention, inputs: BeyondInputs
) -> tuple[LabelledMeasure, ...]:
    """The measures that are named, else those of the convention, else those that the inputs
    allow.
    """
    names = measure_names(options.measures)
    if names and options.k is not None:
        raise BadUsage(
            f"-k {options.k} is unused beside named measures; write the cut-off into their "
            f"names, as in Gini@{options.k}."
        )
    k = options.k or 10
    if names is None and convention.name != "rankwell":
        names = [f"{name}@{k}" for name in convention.defaults]
    elif names is None:
        catalogue = inputs.catalogue is not None or inputs.interactions is not None
        allowed = {
            "ItemCoverage Gini": catalogue,
            "Entropy": True,
            "Novelty Popularity": inputs.interactions is not None,
            "Serendipity": inputs.interactions is not None and inputs.judgments is not None,
            "ILD": inputs.categories is not None,
            "ILD(by='embeddings')": inputs.vectors is not None,
            "Miscalibration": inputs.interactions is not None and inputs.categories is not None,
            "AWRF": inputs.groups is not None and catalogue,
            "EED": inputs.groups is not None,
            "EER EEL": inputs.groups is not None and inputs.judgments is not None and catalogue,
        }
        names = [
            f"{name}@{k}"
            for words, possible in allowed.items()
            if possible
            for name in words.split()
        ]
    measures = choose_measures(names, convention)
    check_views((labelled.measure for labelled in measures), ItemLists, ListCollections)
    return measures


def _depth(measures: Sequence[LabelledMeasure]) -> int | None:
    """The number of first items that the measures read, None for all."""
    cutoffs = [labelled.measure.cutoff for labelled in measures]
    return None if None in cutoffs else max(cutoff for cutoff in cutoffs if cutoff is not None)


def _values(
    builder: ResultsBuilder,
    name: str,
    run: Any,
    attributes: ItemAttributes,
    measures: Sequence[LabelledMeasure],
    options: BeyondOptions,
) -> RunValues:
    """The values of a run, whose queries are counted. Raises NothingToEvaluate where none of them
    is judged.
    """
    try:
        lists = StreamedRun(name, run, _depth(measures), options)
        run_values = RunValues.of(lists.blocks(attributes), attributes, measures)
    except Irregular:
        lists = ListedRun.of(name, run, attributes.judged_queries, _depth(measures), options)
        run_values = RunValues.of(lists.blocks(attributes), attributes, measures)
    missing, unknown = run_values.missing, sort_ids(lists.unknown)
    if not run_values.queries:
        raise NothingToEvaluate(f"{name} has no queries.")
    if len(missing) == len(run_values.queries):
        raise NothingToEvaluate(
            f"{name}: none of its {len(unknown)} queries has judgments; are ids written in "
            "two ways?"
        )
    counts = {
        QUERIES_COUNTED: len(run_values.queries),
        QUERIES_MISSING: len(missing),
        QUERIES_UNKNOWN: len(unknown),
    }
    builder.counts[name] = counts
    builder.notes += lists.notes
    if missing:
        builder.notes.append(
            f"{name}: {len(missing)} judged queries have no list, for example {missing[0]!r}"
        )
    if unknown:
        builder.notes.append(
            f"{name}: {len(unknown)} queries have no judgments and are ignored, for example "
            f"{unknown[0]!r}"
        )
    return run_values


def _keep(
    builder: ResultsBuilder,
    undefined: ResultsBuilder,
    name: str,
    run_values: RunValues,
    measures: Sequence[LabelledMeasure],
) -> list[SummaryRow]:
    """Adds the values of one run. Returns the rows of measures of all lists, whose values of single
    queries are undefined.
    """
    queries, values = run_values.queries, run_values.values
    for labelled in measures:
        if labelled.measure.entry.view is ItemLists:
            query_values = values.pop(0)
            builder.keep(name, labelled.measure, labelled.label, queries, query_values)
            chance = chance_of(labelled.measure, run_values.exposures.attributes)
            builder.row_attributes.append(
                {} if chance is None else {"ceiling": None, "chance": chance}
            )
            _note_undefined(builder, f"{name}: {labelled.label}", queries, np.isnan(query_values))
    if any(labelled.measure.name == "Novelty" for labelled in measures):
        _note_unseen(
            builder, name, run_values.exposures.attributes, np.flatnonzero(run_values.is_retrieved)
        )
    aggregates: list[SummaryRow] = []
    for labelled in measures:
        if labelled.measure.entry.view is not ListCollections:
            continue
        undefined.keep(
            name, labelled.measure, labelled.label, queries, np.full(len(queries), np.nan)
        )
        (value,) = labelled.measure(ListCollections((name,), (run_values.exposures,))).tolist()
        scale, unit = builder.convention.shows(labelled.measure.entry.unit)
        value, ceiling, chance = (
            None if level is None or np.isnan(level) else level * scale
            for level in (value, *levels_of(labelled.measure, run_values.exposures))
        )
        row = SummaryRow.of(
            name, str(labelled.measure), labelled.label, value, None, None, None, len(queries), unit
        )
        aggregates.append(
            row if ceiling is None else SummaryRow({**row, "ceiling": ceiling, "chance": chance})
        )
    return aggregates


def _note_ungrouped(
    builder: ResultsBuilder, attributes: ItemAttributes, measures: Sequence[LabelledMeasure]
) -> None:
    """Notes items of the catalogue without a group, which are in no group's target."""
    aimed = [
        labelled.label for labelled in measures if _takes_groups_of_catalogue(labelled.measure)
    ]
    if not aimed or attributes.groups is None or attributes.in_catalogue is None:
        return
    bare = np.flatnonzero(attributes.in_catalogue & (np.diff(attributes.groups.offsets)[:-1] == 0))
    if len(bare):
        builder.notes.append(
            f"{len(bare)} of {int(attributes.in_catalogue.sum())} items of the catalogue have no "
            f"group, for example {attributes.items[bare[0]]!r}; no group's target has their share "
            f"({', '.join(aimed)})"
        )


def _takes_groups_of_catalogue(measure: Measure) -> bool:
    """Whether the target of a measure is made of the groups of all items of the catalogue."""
    parameters = measure.parameters
    return parameters.get("target") == "catalogue" or (
        measure.name in ("EER", "EEL") and parameters["by"] == "groups"
    )


def _note_undefined(
    builder: ResultsBuilder, name: str, queries: Sequence[str], undefined: Bools
) -> None:
    """Notes lists for which a measure has no value, as ILD of a single item."""
    if (n := int(undefined.sum())) > 0:
        first = queries[int(undefined.argmax())]
        builder.notes.append(
            f"{name} is undefined for {n} of {len(queries)} lists, such as that of {first!r}; "
            "its mean leaves them out"
        )


def _note_unseen(
    builder: ResultsBuilder, name: str, attributes: ItemAttributes, items: Ints
) -> None:
    """Notes retrieved items without interactions, whose self-information is infinite."""
    unseen = items[attributes.interactions("Novelty")[items] == 0]
    if len(unseen):
        builder.notes.append(
            f"{name}: {len(unseen)} of {len(items)} items have no interactions, for example "
            f"{attributes.items[int(unseen[0])]!r}; Novelty counts each as having one"
        )


def _rules(
    builder: ResultsBuilder,
    convention: Convention,
    measures: Sequence[LabelledMeasure],
    options: BeyondOptions,
    attributes: ItemAttributes,
) -> dict[str, Any]:
    return {
        "convention": convention.name,
        "ties": "id-desc",
        "queries": "run" if options.judgments is None else "truth",
        **(
            {}
            if attributes.in_catalogue is None
            else {"catalogue_items": int(attributes.in_catalogue.sum())}
        ),
        "intervals": options.intervals,
        "seed": options.seed,
        "sd": "population" if convention.population_sd else "sample",
        "counts": builder.counts,
        "measures": {
            str(labelled.measure): builder.definition(labelled.measure) for labelled in measures
        },
    }
