"""Runs, and what is known of items and queries -> results."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwell.conventions import CONVENTIONS, Convention, LabelledMeasure, choose_measures
from rankwell.core.options import takes_options
from rankwell.core.registry import measure_names
from rankwell.errors import BadUsage
from rankwell.evaluation.judged import name_runs
from rankwell.evaluation.results import QUERIES_COUNTED, QUERIES_MISSING, QUERIES_UNKNOWN, Results, ResultsBuilder
from rankwell.stats import SummaryRow, check_intervals
from rankwell.store import sources_of
from rankwell.tasks.beyond.attributes import ItemAttributes
from rankwell.tasks.beyond.inputs import BeyondInputs, FirstItems, first_items, lists_of
from rankwell.tasks.beyond.lists import ItemLists, ListCollections
from rankwell.tasks.beyond.options import BeyondOptions


@takes_options(BeyondOptions, "measures")
def evaluate_beyond(runs: Any, *, options: BeyondOptions) -> Results:
    """Measures beyond accuracy of the lists of runs: coverage, novelty, diversity, calibration and fairness of exposure.

    runs: one run in any form (a file, a mapping query -> item -> score, a data frame), a list of files, or a mapping name -> run.
    options: the fields of `BeyondOptions`; in Python `catalogue` may be a collection of ids, `categories` and `groups` mappings
    item -> names. Measures of whole collections are rows of the summary alone; the others have a value per query.
    Raises BadUsage for a measure whose input is missing, BadInput for bad rows and for items that the catalogue lacks.

    >>> import rankwell as rw
    >>> run = {"u1": {"a": 2.0, "b": 1.0}, "u2": {"a": 2.0, "b": 1.0}}
    >>> rw.evaluate_beyond(run, ["ItemCoverage@2", "Gini@2"], catalogue=["a", "b", "c"]).summary[1].mean
    0.5
    """
    check_intervals(options.intervals, options.seed)
    if options.k is not None and options.k < 1:
        raise BadUsage(f"-k {options.k}; expected a positive integer.")
    convention = CONVENTIONS[options.convention]
    inputs, named, builder = BeyondInputs.read(options), name_runs(runs), ResultsBuilder(convention)
    if not named:
        raise BadUsage("no run is given; name at least one.")
    measures = _measures(options, convention, inputs)
    aggregates, undefined = list[SummaryRow](), ResultsBuilder(convention)
    for name, run in named.items():
        first = first_items(name, run, inputs.judgments, _depth(measures), options)
        about = inputs.attributes(first.top.items)
        _count(builder, name, first)
        lists = lists_of(name, first, about)
        _note_unseen(builder, name, lists, about, measures)
        aggregates += _keep(builder, undefined, name, lists, measures)
    inputs_of, summarised = {each: getattr(options, each) for each in _PLACES}, len(builder.values)
    builder.values += undefined.values
    return builder.results(
        rules=_rules(builder, convention, measures, options),
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


def _measures(options: BeyondOptions, convention: Convention, inputs: BeyondInputs) -> tuple[LabelledMeasure, ...]:
    """The measures that are named, else those of the convention, else those that the inputs allow."""
    names = measure_names(options.measures)
    if names and options.k is not None:
        raise BadUsage(
            f"-k {options.k} is unused beside named measures; write the cut-off into their names, as in Gini@{options.k}."
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
        names = [f"{name}@{k}" for words, given in allowed.items() if given for name in words.split()]
    measures = choose_measures(names, convention)
    for each in measures:
        if each.measure.entry.view not in (ItemLists, ListCollections):
            raise BadUsage(f"{each.label} needs judgments of rankings; `rankwell evaluate` computes it.")
    return measures


def _depth(measures: Sequence[LabelledMeasure]) -> int | None:
    """The number of first items that the measures read, None for all."""
    cutoffs = [each.measure.cutoff for each in measures]
    return None if None in cutoffs else max(each for each in cutoffs if each is not None)


def _count(builder: ResultsBuilder, name: str, first: FirstItems) -> None:
    counts = {QUERIES_COUNTED: len(first.queries), QUERIES_MISSING: len(first.missing), QUERIES_UNKNOWN: len(first.unknown)}
    builder.counts[name] = counts
    builder.notes += first.notes
    if first.missing:
        builder.notes.append(f"{name}: {len(first.missing)} judged queries have no list, for example {first.missing[0]!r}")
    if first.unknown:
        builder.notes.append(
            f"{name}: {len(first.unknown)} queries have no judgments and are ignored, for example {first.unknown[0]!r}"
        )


def _note_unseen(
    builder: ResultsBuilder, name: str, lists: ItemLists, about: ItemAttributes, measures: Sequence[LabelledMeasure]
) -> None:
    """Notes retrieved items without interactions, whose self-information is infinite, where Novelty is measured."""
    if about.popularity is None or all(each.measure.name != "Novelty" for each in measures):
        return
    codes = np.unique(lists.codes[lists.codes >= 0])
    unseen = codes[about.popularity[codes] == 0]
    if len(unseen):
        example = about.items[int(unseen[0])]
        what = f"{len(unseen)} of {len(codes)} items have no interactions, for example {example!r}"
        builder.notes.append(f"{name}: {what}; Novelty counts each as having one")


def _keep(
    builder: ResultsBuilder, undefined: ResultsBuilder, name: str, lists: ItemLists, measures: Sequence[LabelledMeasure]
) -> list[SummaryRow]:
    """Adds the values of one run. Returns the rows of measures of all lists, whose values of single queries are undefined."""
    rows: list[SummaryRow] = []
    for each in measures:
        if each.measure.entry.view is ItemLists:
            builder.keep(name, each.measure, each.label, lists.queries, each.measure(lists))
            continue
        undefined.keep(name, each.measure, each.label, lists.queries, np.full(len(lists.queries), np.nan))
        (value,) = each.measure(ListCollections((name,), (lists,))).tolist()
        scale, unit = builder.convention.shows(each.measure.entry.unit)
        cells = (None if np.isnan(value) else value * scale, None, None, None, len(lists.queries), unit)
        rows.append(SummaryRow.of(name, str(each.measure), each.label, *cells))
    return rows


def _rules(
    builder: ResultsBuilder, convention: Convention, measures: Sequence[LabelledMeasure], options: BeyondOptions
) -> dict[str, Any]:
    return {
        "convention": convention.name,
        "ties": "id-desc",
        "queries": "run" if options.judgments is None else "truth",
        "intervals": options.intervals,
        "seed": options.seed,
        "sd": "population" if convention.population_sd else "sample",
        "counts": builder.counts,
        "measures": {str(each.measure): builder.definition(each.measure) for each in measures},
    }
