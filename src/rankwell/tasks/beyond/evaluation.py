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
from rankwell.core.options import takes_options
from rankwell.core.registry import Measure, measure_names
from rankwell.core.tables import Bools, Ints, sort_ids
from rankwell.errors import BadUsage, NothingToEvaluate
from rankwell.evaluation.judged import name_runs
from rankwell.evaluation.results import (
    QUERIES_COUNTED,
    QUERIES_MISSING,
    QUERIES_UNKNOWN,
    ResultsBuilder,
)
from rankwell.io.reader.lists import Irregular
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
    inputs, named, builder = BeyondInputs.read(options), name_runs(runs), ResultsBuilder(convention)
    if not named:
        raise BadUsage("no run is given; name at least one.")
    measures = _measures(options, convention, inputs)
    builder.notes += inputs.notes
    aggregates, undefined, about = (
        list[SummaryRow](),
        ResultsBuilder(convention),
        inputs.attributes(),
    )
    del inputs
    for name, run in named.items():
        found = _values(builder, name, run, about, measures, options)
        aggregates += _keep(builder, undefined, name, found, measures)
    _note_ungrouped(builder, about, measures)
    inputs_of, summarised = {each: getattr(options, each) for each in _PLACES}, len(builder.values)
    builder.values += undefined.values
    builder.row_attributes += [{}] * len(undefined.values)
    return builder.results(
        Results,
        rules=_rules(builder, convention, measures, options, about),
        measures=measures,
        aggregates=tuple(aggregates),
        notes=[*convention.notes, *builder.notes],
        sources=sources_of(inputs_of, named),
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
            f"{name}@{k}" for words, given in allowed.items() if given for name in words.split()
        ]
    measures = choose_measures(names, convention)
    check_views((each.measure for each in measures), ItemLists, ListCollections)
    return measures


def _depth(measures: Sequence[LabelledMeasure]) -> int | None:
    """The number of first items that the measures read, None for all."""
    cutoffs = [each.measure.cutoff for each in measures]
    return None if None in cutoffs else max(each for each in cutoffs if each is not None)


def _values(
    builder: ResultsBuilder,
    name: str,
    run: Any,
    about: ItemAttributes,
    measures: Sequence[LabelledMeasure],
    options: BeyondOptions,
) -> RunValues:
    """The values of a run, whose queries are counted. Raises NothingToEvaluate where none of them
    is judged.
    """
    try:
        lists = StreamedRun(name, run, _depth(measures), options)
        found = RunValues.of(lists.blocks(about), about, measures)
    except Irregular:
        lists = ListedRun.of(name, run, about.judged_queries, _depth(measures), options)
        found = RunValues.of(lists.blocks(about), about, measures)
    missing, unknown = found.missing, sort_ids(lists.unknown)
    if not found.queries:
        raise NothingToEvaluate(f"{name} has no queries.")
    if len(missing) == len(found.queries):
        raise NothingToEvaluate(
            f"{name}: none of its {len(unknown)} queries has judgments; are ids written in "
            "two ways?"
        )
    counts = {
        QUERIES_COUNTED: len(found.queries),
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
    return found


def _keep(
    builder: ResultsBuilder,
    undefined: ResultsBuilder,
    name: str,
    found: RunValues,
    measures: Sequence[LabelledMeasure],
) -> list[SummaryRow]:
    """Adds the values of one run. Returns the rows of measures of all lists, whose values of single
    queries are undefined.
    """
    queries, values = found.queries, found.values
    for each in measures:
        if each.measure.entry.view is ItemLists:
            own = values.pop(0)
            builder.keep(name, each.measure, each.label, queries, own)
            chance = chance_of(each.measure, found.exposures.about)
            builder.row_attributes.append(
                {} if chance is None else {"ceiling": None, "chance": chance}
            )
            _note_undefined(builder, f"{name}: {each.label}", queries, np.isnan(own))
    if any(each.measure.name == "Novelty" for each in measures):
        _note_unseen(builder, name, found.exposures.about, np.flatnonzero(found.shown))
    aggregates: list[SummaryRow] = []
    for each in measures:
        if each.measure.entry.view is not ListCollections:
            continue
        undefined.keep(name, each.measure, each.label, queries, np.full(len(queries), np.nan))
        (value,) = each.measure(ListCollections((name,), (found.exposures,))).tolist()
        scale, unit = builder.convention.shows(each.measure.entry.unit)
        value, ceiling, chance = (
            None if known is None or np.isnan(known) else known * scale
            for known in (value, *levels_of(each.measure, found.exposures))
        )
        row = SummaryRow.of(
            name, str(each.measure), each.label, value, None, None, None, len(queries), unit
        )
        aggregates.append(
            row if ceiling is None else SummaryRow({**row, "ceiling": ceiling, "chance": chance})
        )
    return aggregates


def _note_ungrouped(
    builder: ResultsBuilder, about: ItemAttributes, measures: Sequence[LabelledMeasure]
) -> None:
    """Notes items of the catalogue without a group, which are in no group's target."""
    aimed = [each.label for each in measures if _takes_groups_of_catalogue(each.measure)]
    if not aimed or about.groups is None or about.in_catalogue is None:
        return
    bare = np.flatnonzero(about.in_catalogue & (np.diff(about.groups.offsets)[:-1] == 0))
    if len(bare):
        what = (
            f"{len(bare)} of {int(about.in_catalogue.sum())} items of the catalogue have no group"
        )
        builder.notes.append(
            f"{what}, for example {about.items[bare[0]]!r}; no group's target has their share "
            f"({', '.join(aimed)})"
        )


def _takes_groups_of_catalogue(measure: Measure) -> bool:
    """Whether the target of a measure is made of the groups of all items of the catalogue."""
    given = measure.parameters
    return given.get("target") == "catalogue" or (
        measure.name in ("EER", "EEL") and given["by"] == "groups"
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


def _note_unseen(builder: ResultsBuilder, name: str, about: ItemAttributes, shown: Ints) -> None:
    """Notes retrieved items without interactions, whose self-information is infinite."""
    unseen = shown[about.interactions("Novelty")[shown] == 0]
    if len(unseen):
        what = (
            f"{len(unseen)} of {len(shown)} items have no interactions, for example "
            f"{about.items[int(unseen[0])]!r}"
        )
        builder.notes.append(f"{name}: {what}; Novelty counts each as having one")


def _rules(
    builder: ResultsBuilder,
    convention: Convention,
    measures: Sequence[LabelledMeasure],
    options: BeyondOptions,
    about: ItemAttributes,
) -> dict[str, Any]:
    return {
        "convention": convention.name,
        "ties": "id-desc",
        "queries": "run" if options.judgments is None else "truth",
        **(
            {} if about.in_catalogue is None else {"catalogue_items": int(about.in_catalogue.sum())}
        ),
        "intervals": options.intervals,
        "seed": options.seed,
        "sd": "population" if convention.population_sd else "sample",
        "counts": builder.counts,
        "measures": {str(each.measure): builder.definition(each.measure) for each in measures},
    }
