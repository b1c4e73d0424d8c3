"""Evaluation of search over annotated clips, by clips or by texts, with ceilings, chance levels and
numbers of queries.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import compress
from typing import Any

from rankwell.data.options import takes_options
from rankwell.data.tables import Values
from rankwell.errors import BadInput, BadUsage, flag
from rankwell.evaluation.details import detail_columns
from rankwell.evaluation.results import DETAIL_DEPTH, ResultsBuilder
from rankwell.results import Results
from rankwell.store import sources_of
from rankwell.tasks.clips import results
from rankwell.tasks.clips.annotations import Annotations, QueryKeywords
from rankwell.tasks.clips.inputs import ClipInputs
from rankwell.tasks.clips.options import ClipOptions, check_options, names
from rankwell.tasks.clips.rankings import ClipList
from rankwell.tasks.clips.results import ClipAnswer
from rankwell.tasks.clips.runs import ClipLevels, ClipVariant
from rankwell.tasks.clips.sources import RankedClips, rank_clips
from rankwell.tasks.clips.truth import Required

MapText = Callable[[str], QueryKeywords]
"""Text -> its keywords; `lambda text: KeywordMapper(...).map_text(text).query_keywords` for one."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ClipResults(Results):
    """Results of search over annotated clips.

    annotations: the clips with their keywords. answers: run -> query -> its outcome, with the first
    `k` results. levels: the ceilings and chance levels of each element of `values`. measured: the
    values of each run. by_group, by_keyword: the means of groups of keywords and of keywords.
    """

    annotations: Annotations
    answers: Mapping[str, Mapping[str, ClipAnswer]]
    levels: tuple[ClipLevels, ...]
    k: int
    measured: tuple[tuple[ClipVariant, list[Values]], ...]
    by_group: tuple[Mapping[str, Any], ...]
    by_keyword: tuple[Mapping[str, Any], ...]

    def worst(self, run: str) -> list[str]:
        """The counted queries of a run, the worst first."""
        measures = {row["measure"] for row in self.by_keyword}
        return results.worst_queries(self.values, measures, self.answers, run)


@takes_options(ClipOptions, "embeddings")
def evaluate_clips(
    annotations: Any,
    *,
    options: ClipOptions,
    map_text: MapText | None = None,
    details: bool = False,
    rules: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ClipResults:
    """Evaluates search over annotated clips, by clips (`video`) or by texts.

    annotations: a file or table for `read_annotations`. options: the fields of `ClipOptions`, as
    keywords or as one; embeddings may follow the annotations. In Python embeddings, ids and text
    embeddings may be arrays, queries a list or a mapping, engine and text_encoder objects, schema
    the result of `read_schema`.
    map_text: maps a text to keywords; without it the keywords in the file of queries hold, with it
    both are evaluated, as the runs `NAME (mapped)` and `NAME (given)`. details: keep the first
    results and every relevant clip for a page. rules: further rules of the result.
    Raises BadUsage for options that contradict each other, UnknownName for unknown names, BadInput
    for bad tables, NothingToEvaluate where no query counts.
    """
    check_options(options, is_mapped=map_text is not None)
    inputs = ClipInputs(annotations, options, progress)
    ranked = rank_clips(inputs)
    lists = ranked.rankings.first(max(DETAIL_DEPTH, inputs.k))
    first = {query.id: lists.get(query.id, ClipList([], [])) for query in inputs.queries}
    _refuse_unknown(inputs, ranked, first)
    variants = _variants(inputs, ranked, first, map_text)
    builder = ResultsBuilder(inputs.convention)
    on_convention = [*inputs.convention.unnamed(options), *inputs.convention.notes]
    # A text is not a clip that could be removed.
    on_convention += inputs.convention.rule_notes.get("self_rule", ()) if inputs.by_clips else ()
    notes = [*inputs.annotations.notes, *inputs.notes, *ranked.notes]
    by_group, by_keyword = list[Mapping[str, Any]](), list[Mapping[str, Any]]()
    levels, measured = list[ClipLevels](), list[tuple[ClipVariant, list[Values]]]()
    variants, empty = results.split_empty(variants, notes)
    notes += empty
    for variant in variants:
        measured.append((variant, values := variant.measure(builder)))
        levels += variant.levels()
        by_group += results.group_rows(variant, builder)
        by_keyword += results.keyword_rows(variant, values)
        notes += results.variant_notes(variant, values)
        builder.counts[variant.name] = variant.counts()
    answers = {variant.name: results.answers_of(variant) for variant in variants}
    return builder.results(
        ClipResults,
        rules=_rules(inputs, ranked, builder, rules or {}),
        measures=inputs.measures,
        notes=[*on_convention, *notes, *builder.notes, *results.mapping_notes(measured)],
        intervals=options.intervals,
        seed=options.seed,
        task="clips",
        sources={**sources_of({"annotations": annotations}), **ranked.sources},
        details=detail_columns(map(results.details_of_clips, variants)) if details else None,
        queries=results.query_columns(answers) if details else None,
        tables={"by_group": tuple(by_group), "by_keyword": tuple(by_keyword)},
        query_rows=partial(results.rows_with_answers, levels, answers),
        annotations=inputs.annotations,
        answers=answers,
        levels=tuple(levels),
        k=inputs.k,
        measured=tuple(measured),
        by_group=tuple(by_group),
        by_keyword=tuple(by_keyword),
    )


def _rules(
    inputs: ClipInputs, ranked: RankedClips, builder: ResultsBuilder, of_mapping: Mapping[str, Any]
) -> dict[str, Any]:
    """Every choice that decided a value, by name; a choice that is None decided nothing."""
    options, table = inputs.options, inputs.annotations
    groups = dict.fromkeys(
        group for group, _ in compress(table.keywords, inputs.selection.tolist())
    )
    rules = {
        "convention": inputs.convention.name,
        "mode": options.mode,
        "relevance": str(inputs.relevance),
        "min_similarity": options.min_similarity,
        "ties": builder.ties(ranked.rankings.ties),
        "groups": ",".join(groups),
        "vocabulary": "declared" if table.schema is not None else "used",
        "no_keywords": options.no_keywords,
        "no_relevant": options.no_relevant,
        "no_results": options.no_results if options.no_results == "skip" else None,
        "weights": options.weights,
        "self": options.self_rule if inputs.by_clips else None,
        "exclude_group": options.exclude_group,
        "metric": inputs.metric,
        "keywords": ",".join(inputs.keywords) or None,
        "query_clips": ",".join(names(options.query_clips, flag("--query-clips"))) or None,
        "unjudged": options.unjudged,
    }
    decided = {name: value for name, value in rules.items() if value is not None}
    definitions = {
        str(labelled.measure): builder.definition(labelled.measure) for labelled in inputs.measures
    }
    return {**decided, **of_mapping, "counts": builder.counts, "measures": definitions}


def _refuse_unknown(inputs: ClipInputs, ranked: RankedClips, first: Mapping[str, ClipList]) -> None:
    """Raises BadInput for a result without annotation where that is an error."""
    annotated = inputs.annotations.index
    listed_items = (item for results_of_query in first.values() for item in results_of_query.items)
    unknown = [item for item in listed_items if item not in annotated]
    if inputs.options.unjudged == "error" and (unknown or ranked.others):
        raise BadInput(
            f"the retrieved clip {[*unknown, *sorted(ranked.others)][0]!r} has no annotation; "
            f"annotate it, or choose {flag('--unjudged', 'nonrelevant')} or skip."
        )


def _variants(
    inputs: ClipInputs, ranked: RankedClips, first: Mapping[str, ClipList], map_text: MapText | None
) -> list[ClipVariant]:
    """The sources of the queries' keywords: the clips' own, or those given for texts and those
    mapped.
    """
    name, table = ranked.name, inputs.annotations
    if inputs.by_clips:
        required = Required.of_clips(
            table, inputs.selection, [query.id for query in inputs.queries]
        )
        return [ClipVariant(inputs, ranked, first, name, required)]
    keywords: dict[str, Mapping[str, QueryKeywords]] = (
        {} if inputs.labelled is None else {"given": inputs.labelled}
    )
    if map_text is not None:
        keywords["mapped"] = {query.id: _mapped(map_text, query.text) for query in inputs.queries}
    if not keywords:
        raise BadUsage(
            "the texts have no keywords: give keywords in the file of queries, or map the "
            "texts (map_text)."
        )
    return [
        ClipVariant(
            inputs,
            ranked,
            first,
            f"{name} ({origin})" if len(keywords) > 1 else name,
            Required.of_texts(table, meant, inputs.selection),
            origin,
        )
        for origin, meant in keywords.items()
    ]


def _mapped(map_text: MapText, text: str) -> QueryKeywords:
    """The keywords of a text. Raises BadUsage for a function that returns something else, such as
    required keywords alone.
    """
    keywords: Any = map_text(text)
    if not isinstance(keywords, QueryKeywords):
        problem = (
            f"map_text gives a {type(keywords).__name__} for {text!r}; expected "
            "rankwell.QueryKeywords(required, excluded)"
        )
        raise BadUsage(f"{problem}, as KeywordMapper(...).map_text(text).query_keywords is.")
    return keywords
