"""Annotated clips, searched by other clips or by texts: relevant is what carries the keywords of the query.

Beside every figure stand what a perfect ranker and one without any knowledge would reach, and how many queries it rests on.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import isnan
from pathlib import Path
from typing import Any

from rankwell.conventions import CONVENTIONS
from rankwell.core.registry import split_names
from rankwell.core.tables import Values
from rankwell.errors import BadInput, BadUsage
from rankwell.evaluation.details import Details, detail_columns
from rankwell.evaluation.results import Results, ResultsBuilder
from rankwell.stats import Intervals
from rankwell.store import STDIN, Source
from rankwell.tasks.clips import choices
from rankwell.tasks.clips.annotations import Schema
from rankwell.tasks.clips.choices import Mode, NoKeywords, NoRelevant, SelfRule, Unjudged, Weights
from rankwell.tasks.clips.explained import explained_details
from rankwell.tasks.clips.formats import read_annotations, read_schema
from rankwell.tasks.clips.notes import empty_groups, mapping_notes, refuse_empty, variant_notes
from rankwell.tasks.clips.runs import ClipLevels
from rankwell.tasks.clips.sources import ClipInputs, ClipQueries, rank_clips
from rankwell.tasks.clips.truth import Relevance, Required
from rankwell.tasks.clips.variant import ClipAnswer, ClipTask, ClipVariant, MeasuredVariant
from rankwell.tasks.clips.vocabulary import Keyword

MapText = Callable[[str], Sequence[Keyword]]
"""What a text means, in keywords; `KeywordMapper(...).map_text(text).keywords` for one."""


def evaluate_clips(
    annotations: Any,
    embeddings: Any = None,
    *,
    mode: Mode = "video",
    ids: Any = None,
    queries: Any = None,
    map_text: MapText | None = None,
    text_embeddings: Any = None,
    text_encoder: Any = None,
    engine: Any = None,
    run: Any = None,
    schema: Any = None,
    groups: str | Sequence[str] = (),
    keywords: str | Sequence[str] = (),
    measures: str | Sequence[str] | None = None,
    k: int | Sequence[int] = (1, 3, 5),
    convention: str = "rankwell",
    relevance: str = "all",
    min_similarity: float | None = None,
    self_rule: SelfRule = "before",
    exclude_group: str | None = None,
    metric: str | None = None,
    ties: str | None = None,
    no_keywords: NoKeywords = "skip",
    no_relevant: NoRelevant = "skip",
    unjudged: Unjudged = "nonrelevant",
    weights: Weights = "uniform",
    intervals: Intervals = "bootstrap",
    seed: int = 0,
    details: bool = False,
    rules: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Results:
    """Evaluates search over annotated clips, by clips (`video`) or by texts.

    annotations, schema: what `read_annotations` and `read_schema` take. embeddings, ids: of the clips, as `read_embeddings` takes
    them. engine: a live engine, an object or `module:object`. run: rankings that are there already.
    queries: texts, as `read_text_queries` takes them; None asks for every keyword once. map_text: what a text means; without it
    the keywords in the file hold, with it both readings are evaluated, as the runs `NAME (mapped)` and `NAME (given)`.
    text_embeddings, text_encoder: vectors of the texts in the space of the clips, or what makes them.
    groups, keywords: what counts of the annotations, in a list or one text with commas; see `Annotations.select`. measures: at
    every `k` where they need a cut-off. metric: `cosine` where nothing is said.
    relevance: `all`, `any`, `jaccard>=T` or `graded`. min_similarity: results below it are not found.
    self_rule: the query clip is removed `before` the list is cut to k, or `after` it, as in Algorithm 2, still divided by k.
    exclude_group: a column of the annotations, or `id:TEXT` for the part of a clip's id before TEXT; clips with the query's value
    are not found. no_keywords, no_relevant: queries that ask for nothing, or for what no other clip has, are left out (`skip`),
    count as they are (`empty`), or are an error; under `vacuous` whatever is found for nothing is right.
    unjudged: results without annotation are wrong, taken out before places are counted, or an error. weights: `relevant`
    weighs each query by its number of relevant clips. details: keep the first results and every relevant clip for a page.
    Raises BadUsage for options that do not go together, UnknownName for names that do not exist, BadInput for bad tables,
    NothingToEvaluate where no query counts.
    """
    choices.check(mode, min_similarity, self_rule, exclude_group, queries, map_text)
    choices.reject_unused_options(mode, embeddings, ids, text_embeddings, text_encoder, engine, run, metric)
    groups, keywords = choices.names(groups), choices.names(keywords)
    declared = schema if schema is None or isinstance(schema, Schema) else read_schema(schema)
    table = read_annotations(annotations, schema=declared, groups=groups)
    selection = table.select(groups, keywords)
    entry = CONVENTIONS[convention]
    ks = choices.cutoffs(k)
    labelled = choices.measures(split_names(measures) if isinstance(measures, str) else measures, ks, entry)
    labels = choices.drives(table, exclude_group) if exclude_group is not None else None
    excluded = choices.exclusions(table, labels, self_rule) if mode == "video" else {}
    listed, given = choices.queries(table, selection, mode, queries)
    titles = choices.titles(listed) if mode == "text" else {}
    searched = (metric or "cosine") if engine is None and run is None else None
    order = ties or ("id-asc" if self_rule == "after" and engine is None and run is None else None)
    ranked = rank_clips(
        ClipInputs(embeddings, ids, text_embeddings, text_encoder, engine, run),
        ClipQueries(
            annotations=table,
            queries=listed,
            mode=mode,
            excluded=excluded,
            labels=labels if mode == "video" else None,
            exclude_self=mode == "video" and self_rule == "before",
            skip_unknown=unjudged == "skip",
            depth=choices.depth(labelled, ks),
            ties=order,
            metric=searched,
            titles=titles,
            progress=progress,
        ),
    )
    task = ClipTask(
        annotations=table,
        selection=selection,
        queries=listed,
        mode=mode,
        relevance=Relevance.parse(relevance),
        convention=entry,
        measures=labelled,
        ks=ks,
        ranked=ranked,
        excluded=excluded,
        titles=titles,
        least=min_similarity,
        after=self_rule == "after",
        no_keywords=no_keywords,
        no_relevant=no_relevant,
        weights=weights,
        intervals=intervals,
        seed=seed,
    )
    if unjudged == "error":
        _refuse_unknown(task)
    variants = _variants(task, given, map_text)
    chosen = {
        "self": self_rule if mode == "video" else None,
        "exclude_group": exclude_group,
        "metric": searched,
        "keywords": ",".join(keywords) or None,
        "unjudged": unjudged,
        **(rules or {}),
    }
    notes = [] if labels is None else choices.drive_notes(table, labels, str(exclude_group))
    notes += empty_groups(table.bare_groups, {name: table.find_group(name) for name in groups})
    return _results(task, variants, chosen, annotations, notes, details=details)


def _rules(task: ClipTask, chosen: Mapping[str, Any], in_input_order: Iterable[str]) -> dict[str, Any]:
    """Every choice that decided a value, by name; a choice that is None decided nothing."""
    table = task.annotations
    groups = dict.fromkeys(each.group for each, on in zip(table.keywords, task.selection.tolist(), strict=True) if on)
    rules = {
        "convention": task.convention.name,
        "mode": task.mode,
        "relevance": str(task.relevance),
        "min_similarity": task.least,
        "ties": task.ranked.rankings.ties,
        "ties_in_input_order": ",".join(in_input_order) or None,
        "groups": ",".join(groups),
        "vocabulary": "declared" if table.schema is not None else "used",
        "no_keywords": task.no_keywords,
        "no_relevant": task.no_relevant,
        "weights": task.weights,
        **chosen,
    }
    return {name: value for name, value in rules.items() if value is not None}


def _refuse_unknown(task: ClipTask) -> None:
    known = task.annotations.index
    unknown = [item for listed in task.first.values() for item in listed.items if item not in known]
    if unknown or task.ranked.others:
        raise BadInput(
            f"the clip {[*unknown, *sorted(task.ranked.others)][0]!r} is found and has no annotation; annotate it, "
            "or choose --unjudged nonrelevant or skip."
        )


def _variants(task: ClipTask, given: Mapping[str, tuple[Keyword, ...]] | None, map_text: MapText | None) -> list[ClipVariant]:
    """The readings of the queries: the clips' own keywords, or those given and those mapped."""
    name, table = task.ranked.name, task.annotations
    if task.mode == "video":
        return [ClipVariant(task, name, Required.of_clips(table, task.selection))]
    readings: dict[str, Mapping[str, Sequence[Keyword]]] = {} if given is None else {"given": given}
    if map_text is not None:
        readings["mapped"] = {query.id: map_text(query.text) for query in task.queries}
    if not readings:
        raise BadUsage("the texts have no keywords: give keywords in the file of queries, or map the texts (map_text).")
    several = len(readings) > 1
    return [
        ClipVariant(task, f"{name} ({how})" if several else name, Required.of_texts(table, meant, task.selection), how)
        for how, meant in readings.items()
    ]


def _results(
    task: ClipTask,
    variants: Sequence[ClipVariant],
    chosen: Mapping[str, Any],
    annotations: Any,
    of_choices: Sequence[str],
    *,
    details: bool,
) -> Results:
    builder = ResultsBuilder(task.convention)
    notes = [*task.annotations.notes, *of_choices, *task.ranked.notes]
    readings: list[MeasuredVariant] = []
    by_group: list[Mapping[str, Any]] = []
    for variant in variants:
        refuse_empty(variant, notes)
        readings.append(variant.measure(builder))
        by_group += variant.by_group(builder)
        notes += variant_notes(readings[-1])
    builder.counts = {variant.name: variant.counts() for variant in variants}
    answers = {variant.name: variant.answers() for variant in variants}
    levels = tuple(each for reading in readings for each in reading.levels)
    by_keyword = tuple(row for each in readings for row in each.variant.by_keyword(each))
    place = {"annotations": Source(annotations)} if isinstance(annotations, (str, Path)) and str(annotations) not in STDIN else {}
    return builder.results(
        rules={
            **_rules(task, chosen, builder.in_input_order),
            "counts": builder.counts,
            "measures": {str(each.measure): each.measure.entry.definition for each in task.measures},
        },
        measures=task.measures,
        notes=[*task.convention.notes, *notes, *builder.notes, *mapping_notes(readings)],
        intervals=task.intervals,
        seed=task.seed,
        task="clips",
        sources={**place, **task.ranked.sources},
        details=_detail_columns(variants) if details else None,
        queries=_query_columns(answers) if details else None,
        tables={"by_group": tuple(by_group), "by_keyword": by_keyword},
        query_rows=partial(_with_answers, levels, answers),
        objects={
            "annotations": task.annotations,
            "answers": answers,
            "levels": levels,
            "k": task.k,
            "worst": partial(_worst, builder.values, by_keyword, answers),
        },
    )


def _worst(
    values: Sequence[Values],
    by_keyword: Sequence[Mapping[str, Any]],
    answers: Mapping[str, Mapping[str, ClipAnswer]],
    run: str,
) -> list[str]:
    """The counted queries of a run, the worst first: by the measure of `by_keyword`, by the others in turn, then by id."""
    mine = [each for each in values if each.run == run]
    shown = {row["measure"] for row in by_keyword}
    ordered = sorted(mine, key=lambda each: each.measure not in shown)
    place = {query: row for row, query in enumerate(mine[0].queries)}
    queries = [query for query, answer in answers[run].items() if answer.status == "counted"]

    def _key(query: str) -> tuple[Any, ...]:
        found = [float(each.values[place[query]]) for each in ordered]
        return *(-1.0 if isnan(value) else value for value in found), query

    return sorted(queries, key=_key)


def _with_answers(
    levels: Sequence[ClipLevels], answers: Mapping[str, Mapping[str, ClipAnswer]], rows: Iterable[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """The rows of single queries with ceiling and chance level, keywords, number of relevant clips, status and results."""
    width = max(map(len, answers.values()), default=0)
    for number, row in enumerate(rows):
        level, place = levels[number // width], number % width
        answer, chance = answers[row["run"]][row["query"]], float(level.chance[place])
        yield row | {
            "ceiling": float(level.ceiling[place]),
            "chance": None if isnan(chance) else chance,
            "text": answer.text,
            "keywords": answer.keywords,
            "relevant": answer.relevant,
            "status": answer.status,
            "retrieved": [result.item for result in answer.results],
            "similarities": [result.similarity for result in answer.results],
            "results": [result.row() for result in answer.results],
        }


def _detail_columns(variants: Sequence[ClipVariant]) -> dict[str, list[Any]]:
    """The columns of details.parquet, one reading after the other."""

    def _part(variant: ClipVariant) -> tuple[str, Details, list[str]]:
        first, queries = variant.task.first, variant.required.queries
        return variant.name, *explained_details(variant.explainer, first, variant.view, queries)

    return detail_columns(map(_part, variants))


def _query_columns(answers: Mapping[str, Mapping[str, ClipAnswer]]) -> dict[str, list[Any]]:
    """The columns of queries.parquet: text, keywords and number relevant; with several readings, a column of each."""
    queries = list(dict.fromkeys(query for of_run in answers.values() for query in of_run))
    columns: dict[str, list[Any]] = {"query": queries}
    for number, (run, of_run) in enumerate(answers.items()):
        suffix = "" if len(answers) == 1 else " " + run.rpartition("(")[2].removesuffix(")")
        rows = [of_run[query] for query in queries]
        if not number:
            columns["text"] = [row.text for row in rows]
        columns[f"keywords{suffix}"] = [row.keywords for row in rows]
        columns[f"relevant{suffix}"] = [row.relevant for row in rows]
        columns[f"status{suffix}"] = [row.status for row in rows]
    return columns
