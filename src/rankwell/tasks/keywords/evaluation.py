"""Evaluation of search over annotated clips, by clips or by texts, with ceilings, chance levels and
numbers of queries; its tables and notes.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import compress
from math import isnan, nan
from typing import Any, NamedTuple

import numpy as np

from rankwell.data.findings import Finding
from rankwell.data.options import CountProgress, Table, takes_options
from rankwell.data.tables import Bools, Floats, Ints, Values, columns_of, ratio, without_none
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate, count_of, flag
from rankwell.evaluation.details import Columns, Details, detail_columns
from rankwell.evaluation.results import ResultsBuilder
from rankwell.reporting import Row, Rules
from rankwell.results import Results
from rankwell.stats import figure_of, summarise
from rankwell.store import sources_of
from rankwell.tasks.keywords.annotations import Annotations, QueryKeywords
from rankwell.tasks.keywords.findings import (
    mapped_otherwise,
    no_similar_result,
    queries_left_out,
    query_not_in_list,
)
from rankwell.tasks.keywords.inputs import ClipInputs, named
from rankwell.tasks.keywords.options import KeywordOptions, check_options
from rankwell.tasks.keywords.rankings import RankedClips, rank_clips
from rankwell.tasks.keywords.runs import ClipLevels, ClipVariant, KeywordMasks

_MOST_REASONS = 5
_LEFT_OUT = ("no keywords", "no result", "no relevant clip")
"""The statuses of queries that do not count."""


class ClipResult(NamedTuple):
    """One clip in the list of one query.

    item: id of the clip.
    rank: rank from 1; None where the clip was not retrieved or is the query itself.
    similarity: similarity as the system gives it; None where it is unknown.
    state: `relevant` (grade 1), `nonrelevant`, `unjudged` (without annotation) or `junk` (the query
        itself).
    grade: grade from 0 to 1; None for `unjudged` and `junk`.
    detail: JSON with the match, the found and missing labels of each required group, and the
        reasons why the clip does not count.
    """

    item: str
    rank: int | None
    similarity: float | None
    state: str
    grade: float | None
    detail: str

    @property
    def keywords(self) -> dict[str, Any]:
        """Match, groups and reasons."""
        return json.loads(self.detail)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it does not count."""
        return tuple(self.keywords["reasons"])

    @property
    def is_right(self) -> bool:
        """Whether it counts: a relevant clip at or above the threshold."""
        return self.state == "relevant" and "below_threshold" not in self.reasons

    @property
    def match(self) -> str:
        """The number of required keywords that it has, as a message."""
        return self.keywords["match"]

    @property
    def groups(self) -> dict[str, dict[str, list[str]]]:
        """group -> the labels found and the labels missing, for every required group."""
        return self.keywords["groups"]

    def row(self) -> dict[str, Any]:
        """All columns of the result, for the rows of single queries."""
        columns = self._asdict()
        del columns["detail"]
        return columns | self.keywords


class ClipAnswer(NamedTuple):
    """The outcome of one query.

    text: the text of a text query, the id of a query clip.
    keywords: group -> required labels; excluded labels stand under `without`.
    relevant: number of clips with grade 1 that the query can find.
    status: `counted`, or the reason why the query is not: `no keywords`, `no result` or `no
        relevant clip`.
    results: the first results, as many as the largest cut-off.
    """

    text: str
    keywords: Mapping[str, list[str]]
    relevant: int
    status: str
    results: tuple[ClipResult, ...]


MapText = Callable[[str], QueryKeywords]
"""Text -> its keywords; `lambda text: KeywordMapper(...).map_text(text).query_keywords` for one."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ClipResults(Results):
    """Results of search over annotated clips.

    annotations: the clips with their keywords.
    answers: run -> query -> its outcome, with the first `k` results.
    levels: the ceilings and chance levels of each element of `values`.
    k: the largest cut-off.
    measured: each run with its values, one for each measure.
    by_group: rows of means over keywords of one group, for each run, group and measure; empty where
        queries require keywords of one group only.
    by_keyword: rows of means for each run and keyword that counted queries require, by the measure
        at the largest cut-off, or the first measure where none has a cut-off. Within a run the
        keyword that results lack most often comes first.
    """

    annotations: Annotations
    answers: Mapping[str, Mapping[str, ClipAnswer]]
    levels: tuple[ClipLevels, ...]
    k: int
    measured: tuple[tuple[ClipVariant, list[Values]], ...]
    by_group: tuple[Row, ...]
    by_keyword: tuple[Row, ...]

    def worst(self, run: str) -> list[str]:
        """The counted queries of a run, the worst first: by the measure of `by_keyword`, by the
        others in turn, then by id.
        """
        first = {row["measure"] for row in self.by_keyword}
        of_run = [of_measure for of_measure in self.values if of_measure.run == run]
        of_run.sort(key=lambda of_measure: of_measure.measure not in first)
        numbers = np.nan_to_num([of_measure.values for of_measure in of_run], nan=-1.0)
        rows = sorted(zip(*numbers.tolist(), of_run[0].queries, strict=True))
        return [query for *_, query in rows if self.answers[run][query].status == "counted"]


@takes_options(KeywordOptions, "item_vectors")
def evaluate_keywords(
    annotations: Table | Annotations,
    *,
    options: KeywordOptions,
    map_text: MapText | None = None,
    details: bool = False,
    rules: Rules | None = None,
    progress: CountProgress | None = None,
) -> ClipResults:
    """Evaluates search over annotated clips, where keywords decide what is relevant.

    The queries are clips, or the texts in `queries`.
    Raises BadInput for tables and vectors that cannot be read or do not match, BadUsage for options
    that contradict each other, UnknownName for keywords, groups and measures that do not exist,
    NothingToEvaluate where no query counts.

    Parameters
    ----------
    annotations
        The clips with their keywords: anything that `read_annotations` takes, such as a mapping
        clip -> group -> labels, or a list of rows.
    item_vectors
        Vectors of the clips: a mapping id -> vector, an array (n, d) with `item_ids`, or a file in
        any format of `rankwell knn`; ALFA's Parquet has slice_id and embedding.
    keyword_groups
        Groups of keywords that count: a list, or a text such as "object type,actor behavior".
        [default: all]
    keywords
        Single keywords that count in their group: a list, or a text with commas; "group: label" if
        two groups have it. [default: all]
    query_ids
        Clips to use as queries when clips search, by id or by keyword: a list, or a text with
        commas. [default: all]
    queries
        Text queries: a list of texts, a mapping id -> text, a list of rows such as `[{"id": "t1",
        "text": "rain at night", "keywords": ["rain"]}]`, a data frame, a file with a text per line
        or with such a table, or the word `keywords` for one query per keyword. Texts without
        keywords need `map_text`. Without it, every clip is a query for similar clips.
    query_vectors
        Vectors of the text queries, in the space of the clips: a mapping id -> vector, an array or
        lists in the order of the texts, or a file.
    text_encoder
        Model that encodes texts into the space of the clips: the name of one of
        sentence-transformers, a model, or a function texts -> vectors. [default: the model of the
        clips]
    engine
        A live engine: an object, or ./FILE.py:OBJECT, with search_by_text(query, top_k),
        search(query, k) or, for clips, similarity_search(embedding, top_k). Results have ids and
        optionally a similarity, score or similarity_score, or a distance (lower is better).
    run
        One run instead of a search, in any form that `read_ranking` takes.
    schema
        The declared keywords: a Schema, or a JSON file {group: [label, ...]}; without it, the
        keywords in use are the vocabulary.
    item_ids
        Ids of the clips, for vectors without ids of their own: a list, an array, or a file or
        column.
    map_text
        Function that maps a text to its `QueryKeywords`, such as
        `lambda text: mapper.map_text(text).query_keywords` with a `KeywordMapper`. With it, texts
        are evaluated by these keywords and by those in the file of queries, as the runs `NAME
        (mapped)` and `NAME (given)`.
    details
        Keep the first results and every relevant clip for the report.
    rules
        Further rules of the result.
    progress
        Function called with the number of queries done and the total.

    >>> import numpy as np
    >>> import rankwell as rw
    >>> clips = {clip: {"weather": [word]} for clip, word in zip("abc", ["rain", "rain", "sun"])}
    >>> vectors = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    >>> rw.evaluate_keywords(clips, vectors, item_ids=["a", "b", "c"], measures="P@1")["P@1"]
    1.0
    """
    check_options(options, is_mapped=map_text is not None)
    inputs = ClipInputs(annotations, options, progress)
    ranked = rank_clips(inputs)
    _refuse_unknown(ranked)
    variants = _variants(ranked, map_text)
    builder = ResultsBuilder(inputs.convention)
    findings = [*inputs.annotations.findings, *inputs.findings, *ranked.findings]
    by_group, by_keyword = list[Row](), list[Row]()
    levels, measured = list[ClipLevels](), list[tuple[ClipVariant, list[Values]]]()
    variants, empty = split_empty(variants, findings)
    findings += empty
    for variant in variants:
        measured.append((variant, values := variant.measure(builder)))
        levels += variant.levels()
        by_group += group_rows(variant, builder)
        by_keyword += keyword_rows(variant, values)
        findings += findings_of(variant, values)
        builder.counts[variant.name] = variant.counts()
    explainers = [Explainer(variant) for variant in variants]
    answers = {explainer.variant.name: explainer.answers() for explainer in explainers}
    return builder.results(
        ClipResults,
        rules=_rules(ranked, builder, rules or {}),
        measures=inputs.measures,
        findings=[*findings, *builder.findings, *mapping_findings(variants)],
        intervals=options.intervals,
        seed=options.seed,
        task="keywords",
        sources={
            **sources_of(
                {"annotations": annotations},
                {name: getattr(options, name) for name in ("item_ids", "schema", "queries")},
            ),
            **ranked.sources,
        },
        details=detail_columns(explainer.details() for explainer in explainers)
        if details
        else None,
        queries=query_columns(answers) if details else None,
        tables={"by_group": tuple(by_group), "by_keyword": tuple(by_keyword)},
        query_rows=partial(rows_with_answers, levels, answers),
        annotations=inputs.annotations,
        answers=answers,
        levels=tuple(levels),
        k=inputs.k,
        measured=tuple(measured),
        by_group=tuple(by_group),
        by_keyword=tuple(by_keyword),
    )


def _rules(
    ranked: RankedClips, builder: ResultsBuilder, of_mapping: Mapping[str, Any]
) -> dict[str, Any]:
    """Every choice that decided a value, by name; a choice that is None decided nothing."""
    inputs = ranked.inputs
    options, table = inputs.options, inputs.annotations
    groups = dict.fromkeys(
        group for group, _ in compress(table.keywords, inputs.selection.tolist())
    )
    rules = {
        "convention": inputs.convention.name,
        "mode": options.mode,
        "relevance": str(inputs.relevance),
        "min_similarity": options.min_similarity,
        "ties": builder.ties(ranked.ties),
        "groups": ",".join(groups),
        "vocabulary": "declared" if table.schema is not None else "used",
        "no_keywords": inputs.rules.no_keywords,
        "no_relevant": options.no_relevant,
        "no_results": "skip" if inputs.rules.no_results == "skip" else None,
        "weight_by": inputs.rules.weight_by,
        "self_rule": inputs.rules.self_rule if inputs.by_clips else None,
        "exclude_group": options.exclude_group,
        "metric": inputs.metric,
        "keywords": ",".join(inputs.keywords) or None,
        "query_ids": ",".join(inputs.query_ids) or None,
        "unjudged": options.unjudged,
    }
    decided = without_none(rules)
    definitions = {
        str(labelled.measure): builder.definition(labelled.measure) for labelled in inputs.measures
    }
    return {**decided, **of_mapping, "counts": builder.counts, "measures": definitions}


def _refuse_unknown(ranked: RankedClips) -> None:
    """Raises BadInput for a result without annotation where that is an error."""
    annotated = ranked.inputs.annotations.index
    items = (item for results_of_query in ranked.first.values() for item in results_of_query.items)
    unknown = [
        *(item for item in items if item not in annotated),
        *sorted(ranked.unannotated_clips),
    ]
    if ranked.inputs.options.unjudged == "error" and unknown:
        raise BadInput(
            f"the retrieved clip {unknown[0]!r} has no annotation; annotate it, or choose "
            f"{flag('--unjudged', 'nonrelevant')} or skip."
        )


def _variants(ranked: RankedClips, map_text: MapText | None) -> list[ClipVariant]:
    """The sources of the queries' keywords: the clips' own, or those given for texts and those
    mapped. Raises BadUsage for a function that returns something else, such as required keywords
    alone.
    """
    inputs = ranked.inputs
    name, table, selection = ranked.name, inputs.annotations, inputs.selection
    if inputs.by_clips:
        return [
            ClipVariant(ranked, name, KeywordMasks.of_clips(table, selection, list(inputs.texts)))
        ]
    keywords: dict[str, dict[str, QueryKeywords]] = {}
    if inputs.labelled is not None:
        keywords["given"] = inputs.labelled
    for query, text in inputs.texts.items():
        if map_text is None:
            break
        meant: Any = map_text(text)
        if not isinstance(meant, QueryKeywords):
            raise BadUsage(
                f"map_text gives a {type(meant).__name__} for {text!r}; expected "
                "rankwell.QueryKeywords(required, excluded), as "
                "KeywordMapper(...).map_text(text).query_keywords is."
            )
        keywords.setdefault("mapped", {})[query] = meant
    if not keywords:
        raise BadUsage(
            "the texts have no keywords: give keywords in the file of queries, or map the "
            "texts (map_text)."
        )
    return [
        ClipVariant(
            ranked,
            f"{name} ({origin})" if len(keywords) > 1 else name,
            KeywordMasks.of_texts(table, meant, selection),
            origin,
        )
        for origin, meant in keywords.items()
    ]


# Results of single queries


@dataclass(frozen=True, eq=False)
class Explainer:
    """Explains the results of one run by the keywords of clips and queries.

    variant: the run, with the keywords that its queries require.
    """

    variant: ClipVariant
    _details: dict[tuple[Any, ...], str] = field(default_factory=dict[tuple[Any, ...], str])

    def answers(self) -> dict[str, ClipAnswer]:
        """query -> its outcome, with its first results."""
        inputs, answers = self.variant.inputs, dict[str, ClipAnswer]()
        for row, query in enumerate(self.variant.keywords.queries):
            answers[query] = ClipAnswer(
                inputs.texts[query],
                self._keywords(row),
                int(self.variant.run.n_relevant[row]),
                self.variant.status[row],
                tuple(self._first_results(row, self._grades(row), inputs.k)),
            )
        return answers

    def details(self) -> tuple[str, Details, list[str]]:
        """The first results of each query and every relevant clip at its rank, and the column
        `detail` of these rows.
        """
        judgments, view = self.variant.judgments, self.variant.run.view
        places: list[dict[str, tuple[int, float]]] = [{} for _ in view.queries]
        columns = (view.query_of_row, view.items, view.ranks, view.scores)
        for at, item, rank, score in zip(*(column.tolist() for column in columns), strict=True):
            places[at][judgments.items[item]] = rank, score
        queries: list[str] = []
        rows: list[ClipResult] = []
        for row, query in enumerate(self.variant.keywords.queries):
            grades = self._grades(row)
            results = self._first_results(row, grades)
            listed_items = {result.item for result in results}
            if self.variant.inputs.by_clips:
                listed_items.add(query)
            later = [
                self._result(row, item, *places[row].get(item, (None, nan)), grades)
                for item in grades
                if item not in listed_items
            ]
            results += sorted(later, key=lambda result: (result.rank is None, result.rank or 0))
            rows += results
            queries += [query] * len(results)
        items, ranks, similarities, states, grades, details = columns_of(rows, 6)
        rank, score, grade = np.array([ranks, similarities, grades], dtype=np.float64)
        return self.variant.name, Details(queries, items, rank, score, grade, states), details

    def _grades(self, row: int) -> dict[str, float]:
        """clip -> grade, of the relevant clips of a query."""
        judgments = self.variant.judgments
        rows = slice(*judgments.offsets[row : row + 2].tolist())
        return dict(zip(judgments.items[rows], judgments.grades[rows].tolist(), strict=True))

    def _keywords(self, row: int, carried: Bools | None = None) -> dict[str, list[str]]:
        """group -> the labels that a query requires, then those that it excludes behind `without`.
        carried: (keywords,) only what it requires of these, and excludes of the others.
        """
        keywords, annotations = self.variant.keywords, self.variant.inputs.annotations
        required, excluded = keywords.required[row], keywords.excluded[row]
        if carried is not None:
            required, excluded = required & carried, excluded & ~carried
        labels_of = annotations.named(required)
        for group, labels in annotations.named(excluded).items():
            labels_of.setdefault(group, []).extend(f"without {label}" for label in labels)
        return labels_of

    def _first_results(
        self, row: int, grades: Mapping[str, float], max_results: int | None = None
    ) -> list[ClipResult]:
        """The first items as results of the query."""
        items, similarities = self.variant.ranked.first[self.variant.keywords.queries[row]]
        return [
            self._result(row, item, rank, similarity, grades)
            for rank, (item, similarity) in enumerate(
                zip(items[:max_results], similarities[:max_results], strict=True), 1
            )
        ]

    def _result(
        self, row: int, item: str, rank: int | None, similarity: float, grades: Mapping[str, float]
    ) -> ClipResult:
        """One item as a result of the query; rank None: it was not retrieved."""
        variant, annotations = self.variant, self.variant.inputs.annotations
        measured, least = None if isnan(similarity) else similarity, variant.options.min_similarity
        is_below = least is not None and measured is not None and measured < least
        below = ["below_threshold"] * is_below
        if variant.inputs.by_clips and item == variant.keywords.queries[row]:
            detail = _detail({}, {}, ["query_itself"])
            return ClipResult(item, None, measured, "junk", None, detail)
        clip = annotations.index.get(item)
        if clip is None:
            detail = _detail({}, self._keywords(row), [*below, "unannotated"])
            return ClipResult(item, rank, measured, "unjudged", None, detail)
        grade = grades.get(item, 0.0)
        carried = annotations.carried[clip]
        required, excluded = variant.keywords.required[row], variant.keywords.excluded[row]
        # There are few sets of keywords, even of many clips.
        masks = required, required & carried, excluded, excluded & carried
        key = *(mask.tobytes() for mask in masks), grade, is_below
        if key not in self._details:
            sides = (("missing", required & ~carried), ("excluded", excluded & carried))
            lacking = [
                f"{why}:{label}"
                for why, side in sides
                for labels in annotations.named(side).values()
                for label in labels
            ]
            self._details[key] = _detail(
                self._keywords(row, carried),
                self._keywords(row, ~carried),
                [*below, *(lacking if grade < 1 else [])],
            )
        state = "relevant" if grade >= 1 else "nonrelevant"
        return ClipResult(item, rank, measured, state, grade, self._details[key])


def _detail(
    present: Mapping[str, list[str]], missing: Mapping[str, list[str]], reasons: Sequence[str]
) -> str:
    """The match, the groups and the reasons of a result as JSON. present, missing: group ->
    labels.
    """
    n_found, n_missing = (sum(map(len, labels.values())) for labels in (present, missing))
    total = n_found + n_missing
    word = "Full" if not n_missing else "Partial" if n_found else "No"
    groups = {
        group: {"found": present.get(group, []), "missing": missing.get(group, [])}
        for group in {**present, **missing}
    }
    match = f"{word} match ({n_found}/{total} keywords)" if total else "no keywords"
    return json.dumps({"match": match, "groups": groups, "reasons": reasons})


# Tables


def group_rows(variant: ClipVariant, builder_of_all: ResultsBuilder) -> list[Row]:
    """Summary rows for each group alone, where queries require more than one; its findings are
    added to those of the whole.
    """
    options, table = variant.options, variant.inputs.annotations
    groups = np.array([keyword.group for keyword in table.keywords])
    parts = {group: variant.keywords.only(groups == group) for group in table.groups}
    required = {group: part for group, part in parts.items() if part.required.any()}
    rows: list[Row] = []
    for group, part in required.items() if len(required) > 1 else ():
        builder = ResultsBuilder(variant.inputs.convention)
        replace(variant, keywords=part, origin="").measure(builder)
        builder_of_all.findings += builder.findings
        builder_of_all.in_input_order |= builder.in_input_order
        summaries = summarise(builder.values, intervals=options.intervals, seed=options.seed)
        rows += [
            {**row, "group": group, **attributes}
            for row, attributes in zip(summaries, builder.row_attributes, strict=True)
        ]
    return rows


def keyword_rows(variant: ClipVariant, measured: Sequence[Values]) -> list[Row]:
    """A row per keyword that counted queries require, the one that is missing most often first, by
    the deepest measure.

    `missing`: the share of the first k results of these queries that lack the keyword; `by_chance`:
    the share of the clips that could be found that lack it. A keyword has few queries and so no
    interval.
    """
    inputs = variant.inputs
    cutoffs = [labelled.measure.cutoff for labelled in inputs.measures]
    deepest = cutoffs.index(inputs.k) if inputs.k in cutoffs else 0
    values, levels = measured[deepest], variant.levels()[deepest]
    counts, by_chance = _lacking(variant)
    columns: list[int] = np.flatnonzero(counts[0]).tolist()
    masks = [variant.keywords.required[:, column] & values.counted for column in columns]
    over = [replace(values, values=np.where(mask, values.values, np.nan)) for mask in masks]
    rows: list[Row] = []
    for column, mask, row in zip(columns, masks, summarise(over, intervals="none"), strict=True):
        group, label = inputs.annotations.keywords[column]
        n_queries, n_results, n_lacking = counts[:, column].tolist()
        of_levels = {
            name: None
            if np.isnan(level[mask]).any()
            else figure_of(np.where(mask, level, np.nan), values.summary, values.weights)
            for name, level in levels._asdict().items()
        }
        rows.append(
            {
                **row,
                "group": group,
                "keyword": label,
                "clips": int(inputs.annotations.uses[column]),
                "queries": n_queries,
                "k": inputs.k,
                "results": n_results,
                "lacking": n_lacking,
                "missing": n_lacking / n_results if n_results else None,
                "by_chance": float(by_chance[column]),
                **of_levels,
            }
        )

    def _order(row: Row) -> tuple[Any, ...]:
        missing = 1.0 if row["missing"] is None else row["missing"]
        return -missing, row["group"], row["keyword"]

    return sorted(rows, key=_order)


def _lacking(variant: ClipVariant) -> tuple[Ints, Floats]:
    """The numbers of counted queries that require each keyword, of their first k results, and of
    those that lack it, (3, keywords); and the mean over these queries of the share of the clips
    that they could find that lack it, (keywords,).
    """
    inputs, carried = variant.inputs, variant.inputs.annotations.carried
    index, everywhere = inputs.annotations.index, carried.sum(axis=0, dtype=np.int64)
    counts = np.zeros((3, len(everywhere)), np.int64)
    shares, queries = np.zeros((2, len(everywhere)))
    for row in np.flatnonzero(variant.counted).tolist():
        query, required = variant.keywords.queries[row], variant.keywords.required[row]
        excluded, n_candidates = variant.excluded[query], int(variant.candidates[row])
        items = [
            item
            for item in variant.ranked.first[query].items[: inputs.k]
            if not (inputs.by_clips and item == query)
        ]
        clips = [index[item] for item in items if item in index]
        counts[0] += required
        counts[1] += required * len(items)
        counts[2] += required * (len(items) - carried[clips].sum(axis=0, dtype=np.int64))
        if n_candidates > 0:
            out = carried[[index[clip] for clip in excluded]].sum(axis=0, dtype=np.int64)
            shares += required * (1 - (everywhere - out) / n_candidates)
            queries += required
    return counts, np.where(queries > 0, ratio(shares, queries), np.nan)


def query_columns(answers: Mapping[str, Mapping[str, ClipAnswer]]) -> Columns:
    """The columns of queries.parquet: text, keywords and number of relevant clips; with several
    variants, a column of each.
    """
    queries = list(dict.fromkeys(query for of_run in answers.values() for query in of_run))
    columns: Columns = {"query": queries}
    for number, (run, of_run) in enumerate(answers.items()):
        suffix = "" if len(answers) == 1 else " " + run.rpartition("(")[2].removesuffix(")")
        columns |= {} if number else {"text": [of_run[query].text for query in queries]}
        for name in ("keywords", "relevant", "status"):
            columns[f"{name}{suffix}"] = [getattr(of_run[query], name) for query in queries]
    return columns


def rows_with_answers(
    levels: Sequence[ClipLevels],
    answers: Mapping[str, Mapping[str, ClipAnswer]],
    rows: Iterable[dict[str, Any]],
) -> Iterator[dict[str, Any]]:
    """The rows of single queries with ceiling and chance level, keywords, number of relevant clips,
    status and results.
    """
    columns: dict[tuple[str, str], dict[str, Any]] = {
        (run, query): {
            "text": answer.text,
            "keywords": answer.keywords,
            "relevant": answer.relevant,
            "status": answer.status,
            "retrieved": [result.item for result in answer.results],
            "similarities": [result.similarity for result in answer.results],
            "results": [result.row() for result in answer.results],
        }
        for run, of_run in answers.items()
        for query, answer in of_run.items()
    }
    width = max(map(len, answers.values()), default=0)
    for number, row in enumerate(rows):
        ceiling, chance = (float(level[number % width]) for level in levels[number // width])
        levels_of_row = {"ceiling": ceiling, "chance": None if isnan(chance) else chance}
        yield row | levels_of_row | columns[row["run"], row["query"]]


# Notes


def split_empty(
    variants: Sequence[ClipVariant], findings: Sequence[Finding]
) -> tuple[list[ClipVariant], list[Finding]]:
    """The readings by which a query counts, and a finding on each other one.

    Raises NothingToEvaluate, with the findings that may explain it, where none is left.
    """
    counting = [variant for variant in variants if variant.counted.any()]
    empty: dict[str, str] = {}
    for variant in variants:
        status = variant.status
        bare, alone, lost = map(status.count, ("no keywords", "no relevant clip", "no result"))
        relevant = "relevant other" if variant.inputs.by_clips else "relevant"
        if variant not in counting:
            empty[variant.name] = (
                f"none of {count_of(len(status), 'query', 'queries')} counts: "
                f"{bare} name no keyword of the selection, {alone} have no {relevant} clip, and "
                f"{lost} have no result"
            )
    if not counting:
        reasons = "".join(f"; {finding.rstrip('.')}" for finding in findings[:_MOST_REASONS])
        name, reason = next(iter(empty.items()))
        first = variants[0]
        if first.inputs.relevance.kind == "all" and "no relevant clip" in first.status:
            reasons += f"; try {flag('--relevance', 'any')}, or fewer {flag('--keyword-groups')}"
        raise NothingToEvaluate(f"{name}: {reason}{reasons}.")
    return counting, [
        queries_left_out(name, f"{reason}; this reading is left out")
        for name, reason in empty.items()
    ]


def findings_of(variant: ClipVariant, measured: Sequence[Values]) -> Iterator[Finding]:
    """The findings on the queries that are left out, by all or by some measures, and on lists
    without results or without their query.
    """
    run, name, total = variant.run, variant.name, len(variant.status)
    for status in _LEFT_OUT:
        if titles := _titles(variant, np.array(variant.status) == status):
            problem = f"{len(titles)} of {total} queries left out, with {status}: {named(titles)}"
            yield queries_left_out(name, problem)
    titles = _titles(variant, run.without_match)
    if variant.inputs.relevance.kind == "graded" and titles:
        short = [values.label for values in measured if (run.without_match & ~values.counted).any()]
        note = (
            f"for {count_of(len(titles), 'counted query', 'counted queries')} no clip has all the "
            "keywords"
        )
        if short:
            note += f", and {', '.join(short)}, for which a clip is relevant or not, leave them out"
        yield queries_left_out(name, f"{note}: {named(titles)}")
    least = variant.options.min_similarity
    below = variant.counted & run.view.has_ranking & (run.view.n_retrieved == 0)
    if least is not None and (titles := _titles(variant, below)):
        yield no_similar_result(
            name,
            f"{len(titles)} of {total} queries with no result of a similarity of {least:g} or more "
            f"count as empty results (ALFA's evaluator leaves such queries out): {named(titles)}",
        )
    if titles := _titles(variant, run.without_query):
        yield query_not_in_list(
            name,
            f"{count_of(len(titles), 'list does', 'lists do')} not hold the query itself, so that "
            f"nothing is removed after the cut: {named(titles)}",
        )


def _titles(variant: ClipVariant, is_titled: Bools) -> list[str]:
    return list(map(variant.inputs.title, compress(variant.keywords.queries, is_titled.tolist())))


def mapping_findings(variants: Sequence[ClipVariant]) -> Iterator[Finding]:
    """The finding on the queries whose text is mapped to other keywords than their labels."""
    if [variant.origin for variant in variants] != ["given", "mapped"]:
        return
    labelled, mapped = variants
    differing = (
        (labelled.keywords.required != mapped.keywords.required)
        | (labelled.keywords.excluded != mapped.keywords.excluded)
    ).any(axis=1)
    if titles := _titles(labelled, differing):
        verb = "is" if len(titles) == 1 else "are"
        yield mapped_otherwise(
            f"{len(titles)} of {len(differing)} texts {verb} mapped to other than the given "
            f"keywords: {named(titles)}"
        )
