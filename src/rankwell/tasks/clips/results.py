"""Tables and notes that only this task has: keywords of results, values by group and by keyword,
queries left out.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Any, NamedTuple

import numpy as np

from rankwell.core.tables import Bools, Floats, Values, figure
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
    explainer, inputs, found = variant.explainer, variant.inputs, dict[str, ClipAnswer]()
    relevant: list[int] = variant.run.n_relevant.tolist()
    for row, query in enumerate(variant.required.queries):
        items, similarities = variant.first[query]
        results = tuple(
            explainer.results(query, ClipList(items[: inputs.k], similarities[: inputs.k]))
        )
        text = inputs.texts.get(query, query)
        found[query] = ClipAnswer(
            text, explainer.keywords(query), relevant[row], variant.status[row], results
        )
    return found


def group_rows(variant: ClipVariant, whole: ResultsBuilder) -> list[dict[str, Any]]:
    """Summary rows for each group alone, where queries require more than one; its notes are added
    to those of the whole.
    """
    inputs, table = variant.inputs, variant.inputs.annotations
    columns = [
        (group, np.array([each.group == group for each in table.keywords], dtype=np.bool_))
        for group in table.groups
    ]
    required = [(group, mine) for group, mine in columns if (variant.required.wanted & mine).any()]
    rows: list[dict[str, Any]] = []
    for group, mine in required if len(required) > 1 else ():
        builder = ResultsBuilder(inputs.convention)
        replace(variant, required=variant.required.only(mine), origin="").measure(builder)
        whole.notes += builder.notes
        whole.in_input_order |= builder.in_input_order
        summaries = summarise(
            builder.values, intervals=inputs.options.intervals, seed=inputs.options.seed
        )
        rows += [
            {**row, "group": group, **own}
            for row, own in zip(summaries, builder.row_attributes, strict=True)
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
        (place for place, each in enumerate(inputs.measures) if each.measure.cutoff == inputs.k), 0
    )
    values, levels = measured[deepest], variant.levels()[deepest]
    queries, results, lacking = _lacking(variant)
    by_chance = _lacking_by_chance(variant)
    places: list[int] = np.flatnonzero(queries).tolist()
    masks = [variant.required.wanted[:, place] & values.counted for place in places]
    over = [replace(values, values=np.where(mine, values.values, np.nan)) for mine in masks]
    rows: list[dict[str, Any]] = []
    for place, mine, row in zip(places, masks, summarise(over, intervals="none"), strict=True):
        group, label = inputs.annotations.keywords[place]
        counts = {
            "clips": int(inputs.annotations.uses[place]),
            "queries": int(queries[place]),
            "k": inputs.k,
        }
        counts |= {"results": int(results[place]), "lacking": int(lacking[place])}
        missing = float(lacking[place] / results[place]) if results[place] else None
        shares = {"missing": missing, "by_chance": float(by_chance[place])}
        weights = None if values.weights is None else values.weights[mine]
        for name, level in levels._asdict().items():
            shares[name] = (
                None
                if np.isnan(level[mine]).any()
                else figure_of(level[mine], values.summary, weights)
            )
        rows.append({**row, "group": group, "keyword": label, **counts, **shares})
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
    found = np.zeros((3, len(table.keywords)), dtype=np.int64)
    for row in np.flatnonzero(variant.counted).tolist():
        query, mine = required.queries[row], required.wanted[row]
        found[0] += mine
        for item in variant.first[query].items[: variant.inputs.k]:
            if variant.inputs.by_clips and item == query:
                continue
            place = table.index.get(item)
            found[1] += mine
            found[2] += mine if place is None else mine & ~table.carried[place]
    return found


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
    columns = (
        view.query_of_row.tolist(),
        view.items.tolist(),
        view.ranks.tolist(),
        view.scores.tolist(),
    )
    for at, row, rank, score in zip(*columns, strict=True):
        ranked[view.queries[at]][str(explainer.judgments.items[row])] = (rank, score)
    queries: list[str] = []
    rows: list[ClipResult] = []
    for query in variant.required.queries:
        results, grades = explainer.results(query, variant.first[query]), explainer.grades(query)
        shown = {result.item for result in results} | ({query} if explainer.clips_search else set())
        places = {
            item: ranked[query].get(item, (None, float("nan")))
            for item in grades
            if item not in shown
        }
        later = [explainer.result(query, item, *place, grades) for item, place in places.items()]
        later.sort(key=lambda result: (result.rank is None, result.rank or 0))
        rows += [*results, *later]
        queries += [query] * (len(results) + len(later))

    def _floats(name: str) -> Floats:
        return np.array(
            [float("nan") if (cell := getattr(each, name)) is None else cell for each in rows],
            dtype=np.float64,
        )

    rank, score, grade = map(_floats, ("rank", "similarity", "grade"))
    details = Details(
        queries, [each.item for each in rows], rank, score, grade, [each.state for each in rows]
    )
    return variant.name, details, [each.detail for each in rows]


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
    known: dict[tuple[str, str], dict[str, Any]] = {}
    width = max(map(len, answers.values()), default=0)
    for number, row in enumerate(rows):
        level, place, key = levels[number // width], number % width, (row["run"], row["query"])
        if key not in known:
            answer = answers[key[0]][key[1]]
            known[key] = {
                name: getattr(answer, name) for name in ("text", "keywords", "relevant", "status")
            } | {
                "retrieved": [result.item for result in answer.results],
                "similarities": [result.similarity for result in answer.results],
                "results": [result.row() for result in answer.results],
            }
        chance = float(level.chance[place])
        yield (
            row
            | {"ceiling": float(level.ceiling[place]), "chance": None if isnan(chance) else chance}
            | known[key]
        )


def worst_queries(
    values: Sequence[Values],
    shown: set[str],
    answers: Mapping[str, Mapping[str, ClipAnswer]],
    run: str,
) -> list[str]:
    """The counted queries of a run, the worst first: by the shown measures, by the others in turn,
    then by id.
    """
    mine = sorted(
        (each for each in values if each.run == run), key=lambda each: each.measure not in shown
    )
    place = {query: row for row, query in enumerate(mine[0].queries)}

    def _key(query: str) -> tuple[Any, ...]:
        found = [float(each.values[place[query]]) for each in mine]
        return *(-1.0 if isnan(value) else value for value in found), query

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
    counting = [each for each in variants if each.counted.any()]
    empty = [_on_empty(each) for each in variants if not each.counted.any()]
    if not counting:
        reasons = "".join(f"; {note.rstrip('.')}" for note in notes[:_MOST_NOTES])
        raise NothingToEvaluate(f"{empty[0]}{reasons}.")
    return counting, [f"{each}; this reading is left out" for each in empty]


def _on_empty(variant: ClipVariant) -> str:
    status = variant.status
    bare, alone, lost = (
        status.count(each) for each in ("no keywords", "no relevant clip", "no result")
    )
    other = "other " if variant.inputs.by_clips else ""
    why = (
        f"{bare} name no keyword of the selection, {alone} have no relevant {other}clip, and "
        f"{lost} have no result"
    )
    return f"{variant.name}: none of {count_of(len(status), 'query', 'queries')} counts: {why}"


def variant_notes(variant: ClipVariant, measured: Sequence[Values]) -> list[str]:
    """Notes on the queries that are left out, by all or by some measures, and on lists without
    results or without their query.
    """
    run, total = variant.run, len(variant.status)
    notes: list[str] = []
    for status, (one, several) in _LEFT_OUT.items():
        mine = _titles(variant, np.array([each == status for each in variant.status]))
        if mine:
            notes.append(
                f"{len(mine)} of {total} queries {one if len(mine) == 1 else several} left "
                f"out: {named(mine)}"
            )
    if variant.inputs.relevance.kind == "graded" and (mine := _titles(variant, run.without_match)):
        short = [values.label for values in measured if (run.without_match & ~values.counted).any()]
        what = (
            f"for {count_of(len(mine), 'counted query', 'counted queries')} no clip has all the "
            "keywords"
        )
        so = (
            f", and {', '.join(short)}, for which a clip is relevant or not, leave them out"
            if short
            else ""
        )
        notes.append(f"{what}{so}: {named(mine)}")
    least, below = (
        variant.inputs.options.min_similarity,
        variant.counted & run.view.present & (run.view.retrieved == 0),
    )
    if least is not None and (mine := _titles(variant, below)):
        has = "has" if len(mine) == 1 else "have"
        what = (
            f"{len(mine)} of {total} queries {has} no result with a similarity of {least:g} or more"
        )
        counts, them = (
            ("it counts as an empty result", "it")
            if len(mine) == 1
            else ("they count as empty results", "them")
        )
        notes.append(f"{what}; {counts} (ALFA's evaluator leaves {them} out): {named(mine)}")
    if mine := _titles(variant, run.without_query):
        what = (
            f"{count_of(len(mine), 'list does', 'lists do')} not hold the query itself, so that "
            "nothing is removed after the cut"
        )
        notes.append(f"{what}: {named(mine)}")
    return [f"{variant.name}: {note}" for note in notes]


def _titles(variant: ClipVariant, chosen: Bools) -> list[str]:
    return [
        variant.inputs.title(variant.required.queries[row])
        for row in np.flatnonzero(chosen).tolist()
    ]


def mapping_notes(measured: Sequence[tuple[ClipVariant, Sequence[Values]]]) -> list[str]:
    """Notes on the queries whose text is mapped to other keywords than their labels, and the means
    over the common queries.
    """
    if [variant.origin for variant, _ in measured] != ["given", "mapped"]:
        return []
    (given, values), (mapped, others) = measured
    sides = (
        (given.required.wanted, mapped.required.wanted),
        (given.required.unwanted, mapped.required.unwanted),
    )
    differing = np.any([(one != other).any(axis=1) for one, other in sides], axis=0)
    notes: list[str] = []
    if mine := _titles(given, differing):
        is_ = "is" if len(mine) == 1 else "are"
        notes.append(
            f"{len(mine)} of {len(differing)} texts {is_} mapped to other than the given "
            f"keywords: {named(mine)}"
        )
    means_of: dict[int, list[str]] = {}
    for one, two in zip(values, others, strict=True):
        both = one.counted & two.counted
        if not both.any() or (
            np.array_equal(one.counted, both) and np.array_equal(two.counted, both)
        ):
            continue
        means = [
            figure_of(np.where(both, each.values, np.nan), each.summary, each.weights)
            for each in (one, two)
        ]
        if None not in means:
            shown = [figure(mean, one.unit) for mean in means]
            means_of.setdefault(int(both.sum()), []).append(
                f"{one.label} {shown[0]} given, {shown[1]} mapped"
            )
    for count, each in means_of.items():
        what = count_of(count, "query that counts", "queries that count")
        notes.append(f"over the {what} in both readings: {'; '.join(each)}")
    return notes
