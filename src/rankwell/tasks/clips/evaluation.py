"""Annotated clips, searched by other clips or by texts: relevant is what carries the keywords of the query.

Beside every figure stand what a perfect ranker and one without any knowledge would reach, and how many queries it rests on.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

from rankwell.conventions import CONVENTIONS
from rankwell.core.registry import split_names
from rankwell.errors import BadInput, BadUsage
from rankwell.evaluation.results import Results
from rankwell.stats import Intervals
from rankwell.store import STDIN, Source
from rankwell.tasks.clips import choices
from rankwell.tasks.clips import sources as ways
from rankwell.tasks.clips.annotations import Annotations, Schema
from rankwell.tasks.clips.choices import Mode, NoKeywords, NoRelevant, SelfRule, Unjudged, Weights
from rankwell.tasks.clips.explained import DETAIL_COLUMNS, detail_columns
from rankwell.tasks.clips.formats.annotations import read_annotations
from rankwell.tasks.clips.formats.keyword_schema import read_schema
from rankwell.tasks.clips.levels import Levels
from rankwell.tasks.clips.notes import Reading, empty_groups, mapping_notes, refuse_empty, variant_notes
from rankwell.tasks.clips.truth import Relevance, Required
from rankwell.tasks.clips.variant import Answer, Task, Variant
from rankwell.tasks.clips.vocabulary import Keyword

MapText = Callable[[str], Sequence[Keyword]]
"""What a text means, in keywords; `KeywordMapper(...).map_text(text).keywords` for one."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ClipResults(Results):
    """The values of every measure with their ceilings and chance levels, and result by result what was found and missing.

    answers: run -> query -> what became of it. levels: for each of `values`. by_group: summary rows of single groups of keywords,
    with a column `group`. by_keyword: a row per keyword, the one missing most often first. clips: what was searched.
    """

    annotations: Annotations
    answers: Mapping[str, Mapping[str, Answer]]
    levels: tuple[Levels, ...]
    by_group: tuple[Mapping[str, Any], ...]
    by_keyword: tuple[Mapping[str, Any], ...]
    k: int
    task: str = "clips"

    def worst(self, run: str) -> list[str]:
        """The counted queries of a run, the worst first: by the measure of `by_keyword`, by the others in turn, then by id."""
        mine = [values for values in self.values if values.run == run]
        shown = {row["measure"] for row in self.by_keyword}
        ordered = sorted(mine, key=lambda values: values.measure not in shown)
        place = {query: row for row, query in enumerate(mine[0].queries)}
        queries = [query for query, answer in self.answers[run].items() if answer.status == "counted"]

        def _key(query: str) -> tuple[Any, ...]:
            found = [float(values.values[place[query]]) for values in ordered]
            return *(-1.0 if isnan(value) else value for value in found), query

        return sorted(queries, key=_key)

    def value_rows(self) -> Iterator[dict[str, Any]]:
        """One row per run, query and measure, without what the query asked for and got."""
        return super().per_query()

    def per_query(self) -> Iterator[dict[str, Any]]:
        """One row per run, query and measure: value, ceiling and chance level, keywords, number relevant, status and results."""
        width = max((len(values.queries) for values in self.values), default=0)
        for number, row in enumerate(super().per_query()):
            levels, place = self.levels[number // width], number % width
            answer = self.answers[row["run"]][row["query"]]
            chance = float(levels.chance[place])
            yield row | {
                "ceiling": float(levels.ceiling[place]),
                "chance": None if isnan(chance) else chance,
                "text": answer.text,
                "keywords": answer.keywords,
                "relevant": answer.relevant,
                "status": answer.status,
                "retrieved": [result.item for result in answer.results],
                "similarities": [result.similarity for result in answer.results],
                "results": [result.row() for result in answer.results],
            }


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
) -> ClipResults:
    """How well annotated clips are found, by clips (`video`) or by texts.

    annotations, schema: what `read_annotations` and `read_schema` take. embeddings, ids: of the clips, as `read_embeddings` takes
    them. engine: a live engine, an object or `module:object`. run: rankings that are there already.
    queries: texts, as `read_text_queries` takes them; None asks for every keyword once. map_text: what a text means; without it
    the keywords in the file hold, with it both readings are evaluated, as the runs `NAME (mapped)` and `NAME (given)`.
    text_embeddings, text_encoder: vectors of the texts in the space of the clips, or what makes them.
    groups, keywords: what counts of the annotations, in a list or one text with commas; see `Annotations.select`. measures: at
    every `k` where they need a cut-off. metric: `cosine` where nothing is said.
    relevance: `all`, `any`, `jaccard>=T` or `graded`. min_similarity: results below it are not found.
    self_rule: the query clip is removed `before` the list is cut to k, or `after` it, as Algorithm 2 has it, still divided by k.
    exclude_group: a column of the annotations, or `id:TEXT` for the part of a clip's id before TEXT; clips with the query's value
    are not found. no_keywords, no_relevant: queries that ask for nothing, or for what no other clip has, are left out (`skip`),
    count as they are (`empty`), or are an error; under `vacuous` whatever is found for nothing is right.
    unjudged: results that nobody annotated are wrong, taken out before places are counted, or an error. weights: `relevant`
    weighs each query by its number of relevant clips. details: keep the first results and every relevant clip for a page.
    Raises BadUsage for options that do not go together, UnknownName for names that do not exist, BadInput for bad tables,
    NothingToEvaluate where no query counts.
    """
    choices.check(mode, min_similarity, self_rule, exclude_group, queries, map_text)
    choices.refuse_idle(mode, embeddings, ids, text_embeddings, text_encoder, engine, run, metric)
    groups, keywords = choices.names(groups), choices.names(keywords)
    declared = schema if schema is None or isinstance(schema, Schema) else read_schema(schema)
    table = read_annotations(annotations, schema=declared, groups=groups)
    selection = table.select(groups, keywords)
    entry = CONVENTIONS[convention]
    ks = choices.cutoffs(k)
    asked = choices.measures(split_names(measures) if isinstance(measures, str) else measures, ks, entry)
    labels = choices.drives(table, exclude_group) if exclude_group is not None else None
    barred = choices.barred(table, labels, self_rule) if mode == "video" else {}
    listed, given = choices.queries(table, selection, mode, queries)
    titles = choices.titles(listed) if mode == "text" else {}
    searched = (metric or "cosine") if engine is None and run is None else None
    order = ties or ("id-asc" if self_rule == "after" and engine is None and run is None else None)
    answered = ways.answer(
        ways.Given(embeddings, ids, text_embeddings, text_encoder, engine, run),
        ways.Asked(
            annotations=table,
            queries=listed,
            mode=mode,
            barred=barred,
            labels=labels if mode == "video" else None,
            exclude_self=mode == "video" and self_rule == "before",
            skip_unknown=unjudged == "skip",
            depth=choices.depth(asked, ks),
            ties=order,
            metric=searched,
            titles=titles,
            progress=progress,
        ),
    )
    task = Task(
        annotations=table,
        selection=selection,
        queries=listed,
        mode=mode,
        relevance=Relevance.parse(relevance),
        convention=entry,
        measures=asked,
        ks=ks,
        answered=answered,
        barred=barred,
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
    said = [] if labels is None else choices.drive_notes(table, labels, str(exclude_group))
    said += empty_groups(table.bare_groups, {name: table.find_group(name) for name in groups})
    return _results(task, variants, _rules(task, chosen), annotations, said, details=details)


def _rules(task: Task, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Every choice that decided a figure, by name; what is None decided nothing."""
    table = task.annotations
    groups = dict.fromkeys(each.group for each, on in zip(table.keywords, task.selection.tolist(), strict=True) if on)
    told = {
        "convention": task.convention.name,
        "mode": task.mode,
        "relevance": str(task.relevance),
        "min_similarity": task.least,
        "ties": task.answered.ranked.ties,
        "groups": ",".join(groups),
        "vocabulary": "declared" if table.schema is not None else "used",
        "no_keywords": task.no_keywords,
        "no_relevant": task.no_relevant,
        "weights": task.weights,
        **chosen,
    }
    return {name: value for name, value in told.items() if value is not None}


def _refuse_unknown(task: Task) -> None:
    known = task.annotations.index
    strange = [item for listed in task.first.values() for item in listed.items if item not in known]
    if strange or task.answered.others:
        raise BadInput(
            f"the clip {[*strange, *sorted(task.answered.others)][0]!r} is found and nobody annotated it; annotate it, "
            "or choose --unjudged nonrelevant or skip."
        )


def _variants(task: Task, given: Mapping[str, tuple[Keyword, ...]] | None, map_text: MapText | None) -> list[tuple[Variant, str]]:
    """The readings of what the queries ask for: the clips' own keywords, or those given and those mapped."""
    name, table = task.answered.name, task.annotations
    if task.mode == "video":
        return [(Variant(task, name, Required.of_clips(table, task.selection)), "")]
    readings: dict[str, Mapping[str, Sequence[Keyword]]] = {} if given is None else {"given": given}
    if map_text is not None:
        readings["mapped"] = {query.id: map_text(query.text) for query in task.queries}
    if not readings:
        raise BadUsage("nobody says what the texts mean: give keywords in the file of queries, or map them (map_text).")
    several = len(readings) > 1
    return [
        (Variant(task, f"{name} ({how})" if several else name, Required.of_texts(table, meant, task.selection)), how)
        for how, meant in readings.items()
    ]


def _results(
    task: Task,
    variants: Sequence[tuple[Variant, str]],
    rules: dict[str, Any],
    annotations: Any,
    said: Sequence[str],
    *,
    details: bool,
) -> ClipResults:
    notes = [*task.annotations.notes, *said, *task.answered.notes]
    readings: list[Reading] = []
    by_group: list[Mapping[str, Any]] = []
    for variant, how in variants:
        refuse_empty(variant, notes)
        readings.append(Reading(how, variant, variant.all_measured()))
        by_group += variant.by_group()
        notes += variant_notes(variant, readings[-1].measured)
    notes = [*task.convention.notes, *notes, *mapping_notes(readings)]
    measured = [figures for each in readings for figures in each.measured]
    counts = {each.variant.run: each.variant.counts(each.measured) for each in readings}
    answers = {each.variant.run: each.variant.answers() for each in readings}
    place = {"annotations": Source(annotations)} if isinstance(annotations, (str, Path)) and str(annotations) not in STDIN else {}
    definitions = {str(each.measure): each.measure.entry.definition for each in task.measures}
    return ClipResults(
        values=tuple(values for values, _ in measured),
        row_attributes=tuple(facts for each in readings for facts in each.facts()),
        rules={**rules, "counts": counts, "measures": definitions},
        notes=tuple(dict.fromkeys(notes)),
        sources={**place, **task.answered.sources},
        details=_detail_columns(task, readings) if details else None,
        queries=_query_columns(answers) if details else None,
        intervals=task.intervals,
        seed=task.seed,
        population_sd=task.convention.population_sd,
        annotations=task.annotations,
        answers=answers,
        levels=tuple(levels for _, levels in measured),
        by_group=tuple(by_group),
        by_keyword=tuple(row for each in readings for row in each.variant.by_keyword(each.measured)),
        k=task.k,
    )


def _detail_columns(task: Task, readings: Sequence[Reading]) -> dict[str, list[Any]]:
    """The columns of details.parquet, one reading after the other."""
    columns: dict[str, list[Any]] = {name: [] for name in DETAIL_COLUMNS}
    for _, variant, _ in readings:
        rows = detail_columns(variant.run, variant.explainer, task.first, variant.bench.view, variant.required.queries)
        for name, column in rows.items():
            columns[name] += column
    return columns


def _query_columns(answers: Mapping[str, Mapping[str, Answer]]) -> dict[str, list[Any]]:
    """The columns of queries.parquet: text, keywords and number relevant; with several readings, a column of each."""
    queries = list(dict.fromkeys(query for told in answers.values() for query in told))
    columns: dict[str, list[Any]] = {"query": queries}
    for number, (run, told) in enumerate(answers.items()):
        suffix = "" if len(answers) == 1 else " " + run.rpartition("(")[2].removesuffix(")")
        rows = [told[query] for query in queries]
        if not number:
            columns["text"] = [row.text for row in rows]
        columns[f"keywords{suffix}"] = [row.keywords for row in rows]
        columns[f"relevant{suffix}"] = [row.relevant for row in rows]
        columns[f"status{suffix}"] = [row.status for row in rows]
    return columns
