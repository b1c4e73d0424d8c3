"""Tables and notes that only this task has: keywords of results, values by group and by keyword,
queries left out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Any, NamedTuple

import numpy as np

from rankwell.data.tables import Bools, Floats, Values, figure
from rankwell.errors import NothingToEvaluate, count_of
from rankwell.evaluation.details import Details
from rankwell.evaluation.results import ResultsBuilder
from rankwell.stats import figure_of, summarise
from rankwell.tasks.clips.inputs import named
from rankwell.tasks.clips.rankings import ClipList
from rankwell.tasks.clips.runs import ClipLevels, ClipVariant
from rankwell.tasks.clips.truth import ClipResult

_MOST_NOTES = 5
_LEFT_OUT = {
    "no keywords": (
        "asks for no keyword of the selection and is",
        "ask for no keyword of the selection and are",
    ),
    "no result": (
        "has no result of the least similarity and is",
        "have no result of the least similarity and are",
    ),
    "no relevant clip": ("has no relevant clip and is", "have no relevant clip and are"),
}
"""Status of a query -> its note, for one and for several queries."""


class ClipAnswer(NamedTuple):
    """The outcome of one query. status: `counted`, or why it is not.

    keywords: group -> required labels, and excluded ones behind `without`.
    """

    text: str
    keywords: Mapping[str, list[str]]
    relevant: int
    status: str
    results: tuple[ClipResult, ...]


def answers_of(variant: ClipVariant) -> dict[str, ClipAnswer]:
    """query -> its outcome, with its first results."""
    explainer, inputs, relevant = variant.explainer, variant.inputs, variant.run.n_relevant
    answers = dict[str, ClipAnswer]()
    for row, query in enumerate(variant.required.queries):
        items, similarities = variant.first[query]
        results = explainer.results(query, ClipList(items[: inputs.k], similarities[: inputs.k]))
        answers[query] = ClipAnswer(
            inputs.texts.get(query, query),
            explainer.keywords(query),
            int(relevant[row]),
            variant.status[row],
            tuple(results),
        )
    return answers


def group_rows(variant: ClipVariant, builder_of_all: ResultsBuilder) -> list[dict[str, Any]]:
    """Summary rows for each group alone, where queries require more than one; its notes are added
    to those of the whole.
    """
    inputs, table = variant.inputs, variant.inputs.annotations
    columns = {
        group: np.array([keyword.group == group for keyword in table.keywords], dtype=np.bool_)
        for group in table.groups
    }
    required = [group for group in columns if (variant.required.wanted & columns[group]).any()]
    rows: list[dict[str, Any]] = []
    for group in required if len(required) > 1 else ():
        builder = ResultsBuilder(inputs.convention)
        of_group = variant.required.only(columns[group])
        replace(variant, required=of_group, origin="").measure(builder)
        builder_of_all.notes += builder.notes
        builder_of_all.in_input_order |= builder.in_input_order
        summaries = summarise(
            builder.values, intervals=inputs.options.intervals, seed=inputs.options.seed
        )
        rows += [
            {**row, "group": group, **attributes}
            for row, attributes in zip(summaries, builder.row_attributes, strict=True)
        ]
    return rows


def keyword_rows(variant: ClipVariant, measured: Sequence[Values]) -> list[dict[str, Any]]:
    """A row per keyword that counted queries require, the one that is missing most often first, by
    the deepest measure.

    `missing`: the share of the first k results of these queries that lack the keyword; `by_chance`:
    the share of the clips that could be found that lack it. A keyword has few queries and so no
    interval.
    """
    inputs = variant.inputs
    deepest = next(
        (
            number
            for number, labelled in enumerate(inputs.measures)
            if labelled.measure.cutoff == inputs.k
        ),
        0,
    )
    values, levels = measured[deepest], variant.levels()[deepest]
    queries, results, lacking = _lacking(variant)
    by_chance = _lacking_by_chance(variant)
    columns: list[int] = np.flatnonzero(queries).tolist()
    masks = [variant.required.wanted[:, column] & values.counted for column in columns]
    over = [replace(values, values=np.where(mask, values.values, np.nan)) for mask in masks]
    rows: list[dict[str, Any]] = []
    for column, mask, row in zip(columns, masks, summarise(over, intervals="none"), strict=True):
        group, label = inputs.annotations.keywords[column]
        n_results, n_lacking = int(results[column]), int(lacking[column])
        weights = None if values.weights is None else values.weights[mask]
        of_levels = {
            name: None
            if np.isnan(level[mask]).any()
            else figure_of(level[mask], values.summary, weights)
            for name, level in levels._asdict().items()
        }
        rows.append(
            {
                **row,
                "group": group,
                "keyword": label,
                "clips": int(inputs.annotations.uses[column]),
                "queries": int(queries[column]),
                "k": inputs.k,
                "results": n_results,
                "lacking": n_lacking,
                "missing": n_lacking / n_results if n_results else None,
                "by_chance": float(by_chance[column]),
                **of_levels,
            }
        )
    return sorted(
        rows,
        key=lambda row: (
            -1.0 if row["missing"] is None else -row["missing"],
            row["group"],
            row["keyword"],
        ),
    )


def _lacking(variant: ClipVariant) -> np.ndarray:
    """(3, keywords) numbers of counted queries that require each keyword, of their first k results,
    and of those that lack it.
    """
    table, required = variant.inputs.annotations, variant.required
    numbers = np.zeros((3, len(table.keywords)), dtype=np.int64)
    for row in np.flatnonzero(variant.counted).tolist():
        query, wanted = required.queries[row], required.wanted[row]
        numbers[0] += wanted
        for item in variant.first[query].items[: variant.inputs.k]:
            if variant.inputs.by_clips and item == query:
                continue
            clip = table.index.get(item)
            numbers[1] += wanted
            numbers[2] += wanted if clip is None else wanted & ~table.carried[clip]
    return numbers


def _lacking_by_chance(variant: ClipVariant) -> Floats:
    """(keywords,) the share of the clips that a query could find that lack a keyword, the mean over
    queries that require it.
    """
    table, required, candidates = variant.inputs.annotations, variant.required, variant.candidates
    everywhere = table.carried.sum(axis=0, dtype=np.int64)
    shares, counts = np.zeros(len(table.keywords)), np.zeros(len(table.keywords), dtype=np.int64)
    for row in np.flatnonzero(variant.counted & (candidates > 0)).tolist():
        out = [
            table.index[clip]
            for clip in variant.excluded[required.queries[row]]
            if clip in table.index
        ]
        left = everywhere - table.carried[out].sum(axis=0, dtype=np.int64)
        shares += required.wanted[row] * (1 - left / candidates[row])
        counts += required.wanted[row]
    return np.divide(shares, counts, out=np.full(len(shares), np.nan), where=counts > 0)


def details_of_clips(variant: ClipVariant) -> tuple[str, Details, list[str]]:
    """The first results of each query and every relevant clip at its rank, and the column `detail`
    of these rows.
    """
    explainer, view = variant.explainer, variant.run.view
    ranked: dict[str, dict[str, tuple[int, float]]] = {query: {} for query in view.queries}
    columns = (view.query_of_row, view.items, view.ranks, view.scores)
    for at, row, rank, score in zip(*(column.tolist() for column in columns), strict=True):
        ranked[view.queries[at]][str(explainer.judgments.items[row])] = (rank, score)
    queries: list[str] = []
    rows: list[ClipResult] = []
    for query in variant.required.queries:
        results, grades = explainer.results(query, variant.first[query]), explainer.grades(query)
        listed_items = {result.item for result in results} | (
            {query} if explainer.clips_search else set()
        )
        later = [
            explainer.result(query, item, *ranked[query].get(item, (None, float("nan"))), grades)
            for item in grades
            if item not in listed_items
        ]
        later.sort(key=lambda result: (result.rank is None, result.rank or 0))
        rows += [*results, *later]
        queries += [query] * (len(results) + len(later))

    def _floats(name: str) -> Floats:
        return np.array([getattr(row, name) for row in rows], dtype=np.float64)

    rank, score, grade = map(_floats, ("rank", "similarity", "grade"))
    details = Details(
        queries, [row.item for row in rows], rank, score, grade, [row.state for row in rows]
    )
    return variant.name, details, [row.detail for row in rows]


def query_columns(answers: Mapping[str, Mapping[str, ClipAnswer]]) -> dict[str, list[Any]]:
    """The columns of queries.parquet: text, keywords and number of relevant clips; with several
    variants, a column of each.
    """
    queries = list(dict.fromkeys(query for of_run in answers.values() for query in of_run))
    columns: dict[str, list[Any]] = {"query": queries}
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
    columns_of: dict[tuple[str, str], dict[str, Any]] = {}
    width = max(map(len, answers.values()), default=0)
    for number, row in enumerate(rows):
        level, position, key = levels[number // width], number % width, (row["run"], row["query"])
        if key not in columns_of:
            answer = answers[row["run"]][row["query"]]
            columns_of[key] = {
                "text": answer.text,
                "keywords": answer.keywords,
                "relevant": answer.relevant,
                "status": answer.status,
                "retrieved": [result.item for result in answer.results],
                "similarities": [result.similarity for result in answer.results],
                "results": [result.row() for result in answer.results],
            }
        chance = float(level.chance[position])
        levels_of_row = {
            "ceiling": float(level.ceiling[position]),
            "chance": None if isnan(chance) else chance,
        }
        yield row | levels_of_row | columns_of[key]


def worst_queries(
    values: Sequence[Values],
    shown_measures: set[str],
    answers: Mapping[str, Mapping[str, ClipAnswer]],
    run: str,
) -> list[str]:
    """The counted queries of a run, the worst first: by the shown measures, by the others in turn,
    then by id.
    """
    of_run = sorted(
        (of_measure for of_measure in values if of_measure.run == run),
        key=lambda of_measure: of_measure.measure not in shown_measures,
    )
    row_of = {query: row for row, query in enumerate(of_run[0].queries)}

    def _key(query: str) -> tuple[Any, ...]:
        numbers = [float(of_measure.values[row_of[query]]) for of_measure in of_run]
        return *(-1.0 if isnan(number) else number for number in numbers), query

    return sorted(
        (query for query, answer in answers[run].items() if answer.status == "counted"), key=_key
    )


# Notes


def split_empty(
    variants: Sequence[ClipVariant], notes: Sequence[str]
) -> tuple[list[ClipVariant], list[str]]:
    """The readings by which a query counts, and a note on each other one.

    Raises NothingToEvaluate, with the notes that may explain it, where none is left.
    """
    counting = [variant for variant in variants if variant.counted.any()]
    empty = [_on_empty(variant) for variant in variants if not variant.counted.any()]
    if not counting:
        reasons = "".join(f"; {note.rstrip('.')}" for note in notes[:_MOST_NOTES])
        raise NothingToEvaluate(f"{empty[0]}{reasons}.")
    return counting, [f"{note}; this reading is left out" for note in empty]


def _on_empty(variant: ClipVariant) -> str:
    status = variant.status
    bare, alone, lost = map(status.count, ("no keywords", "no relevant clip", "no result"))
    relevant = "relevant other" if variant.inputs.by_clips else "relevant"
    return (
        f"{variant.name}: none of {count_of(len(status), 'query', 'queries')} counts: {bare} name "
        f"no keyword of the selection, {alone} have no {relevant} clip, and {lost} have no result"
    )


def variant_notes(variant: ClipVariant, measured: Sequence[Values]) -> list[str]:
    """Notes on the queries that are left out, by all or by some measures, and on lists without
    results or without their query.
    """
    run, total = variant.run, len(variant.status)
    notes: list[str] = []
    for status, (singular, plural) in _LEFT_OUT.items():
        if titles := _titles(variant, np.array(variant.status) == status):
            verb = singular if len(titles) == 1 else plural
            notes.append(f"{len(titles)} of {total} queries {verb} left out: {named(titles)}")
    titles = _titles(variant, run.without_match)
    if variant.inputs.relevance.kind == "graded" and titles:
        short = [values.label for values in measured if (run.without_match & ~values.counted).any()]
        note = (
            f"for {count_of(len(titles), 'counted query', 'counted queries')} no clip has all the "
            "keywords"
        )
        if short:
            note += f", and {', '.join(short)}, for which a clip is relevant or not, leave them out"
        notes.append(f"{note}: {named(titles)}")
    least = variant.inputs.options.min_similarity
    below = variant.counted & run.view.present & (run.view.retrieved == 0)
    if least is not None and (titles := _titles(variant, below)):
        has, counts, them = (
            ("has", "it counts as an empty result", "it")
            if len(titles) == 1
            else ("have", "they count as empty results", "them")
        )
        notes.append(
            f"{len(titles)} of {total} queries {has} no result with a similarity of {least:g} or "
            f"more; {counts} (ALFA's evaluator leaves {them} out): {named(titles)}"
        )
    if titles := _titles(variant, run.without_query):
        notes.append(
            f"{count_of(len(titles), 'list does', 'lists do')} not hold the query itself, so that "
            f"nothing is removed after the cut: {named(titles)}"
        )
    return [f"{variant.name}: {note}" for note in notes]


def _titles(variant: ClipVariant, is_titled: Bools) -> list[str]:
    return [
        variant.inputs.title(variant.required.queries[row])
        for row in np.flatnonzero(is_titled).tolist()
    ]


def mapping_notes(measured: Sequence[tuple[ClipVariant, Sequence[Values]]]) -> list[str]:
    """Notes on the queries whose text is mapped to other keywords than their labels, and the means
    over the common queries.
    """
    if [variant.origin for variant, _ in measured] != ["given", "mapped"]:
        return []
    (labelled, of_given), (mapped, of_mapped) = measured
    differing = (
        (labelled.required.wanted != mapped.required.wanted)
        | (labelled.required.unwanted != mapped.required.unwanted)
    ).any(axis=1)
    notes: list[str] = []
    if titles := _titles(labelled, differing):
        verb = "is" if len(titles) == 1 else "are"
        notes.append(
            f"{len(titles)} of {len(differing)} texts {verb} mapped to other than the given "
            f"keywords: {named(titles)}"
        )
    means_of: dict[int, list[str]] = {}
    for pair in zip(of_given, of_mapped, strict=True):
        first, second = pair
        common = first.counted & second.counted
        if not common.any() or np.array_equal(first.counted, second.counted):
            continue
        means = [
            figure_of(np.where(common, values.values, np.nan), values.summary, values.weights)
            for values in pair
        ]
        if None not in means:
            texts = [figure(mean, first.unit) for mean in means]
            means_of.setdefault(int(common.sum()), []).append(
                f"{first.label} {texts[0]} given, {texts[1]} mapped"
            )
    for count, texts in means_of.items():
        queries = count_of(count, "query that counts", "queries that count")
        notes.append(f"over the {queries} in both readings: {'; '.join(texts)}")
    return notes
