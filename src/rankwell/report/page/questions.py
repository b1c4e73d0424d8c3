"""The queries of a page: what they say, what is known of them, their values, and which of them have lists."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwell.core.registry import parse_measure
from rankwell.core.tables import Bools, Floats, sort_ids
from rankwell.errors import BadUsage
from rankwell.report.charts import part_of
from rankwell.report.page import MOST_QUERIES, MOST_RELEVANT, MOST_RESULTS, PageSource, cells
from rankwell.report.page.figures import Key
from rankwell.report.page.tables import NEAR, PART, Overview

_APART, _WORST, _BEST = 200, 100, 50
_TAKEN = ("query", "text", "picture_item")
_KEYED = ("captions", "agreement", "answers")
"""Kinds in which a state shows the content of a caption, a reference or an answer key, and the rest is unjudged."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Questions:
    """The queries in the order of their parts and ids, and every value.

    keys: id and part (`t2v`; the empty text where ids distinguish queries). values: (measures, runs, queries), NaN where a query
    is not counted. has_values: (runs, queries) whether the run has a row of values for it. columns: their attributes.
    """

    keys: tuple[tuple[str, str], ...]
    values: Floats
    has_values: Bools
    columns: Mapping[str, Sequence[Any]]

    @property
    def pictures(self) -> list[str | None]:
        """The item whose picture is the query's, as far as there is one."""
        return list(self.columns.get("picture_item", [None] * len(self.keys)))


def questions_of(source: PageSource, measures: Mapping[Key, Any], tables: Sequence[Mapping[str, list[Any]]]) -> Questions:
    """The queries of all values, with what the tables say of them; of each query the first table holds that knows it."""
    parted = any(PART in table for table in tables)
    parts = [str(own.get(PART) or "") if parted else "" for own in source.row_attributes]
    by_part: dict[str, set[str]] = {}
    for each, part in zip(source.values, parts, strict=True):
        by_part.setdefault(part, set()).update(each.queries)
    keys = tuple((query, part) for part, queries in by_part.items() for query in sort_ids(queries))
    place = {key: at for at, key in enumerate(keys)}
    runs = {run: at for at, run in enumerate(source.runs)}
    rows = {key: at for at, key in enumerate(measures)}
    values = np.full((len(rows), len(runs), len(keys)), np.nan)
    has_values = np.zeros((len(runs), len(keys)), dtype=np.bool_)
    known: dict[tuple[str, ...], Any] = {}
    for each, own, part in zip(source.values, source.row_attributes, parts, strict=True):
        # The values of one run are mostly of the same queries by every measure.
        mine = (part, *each.queries)
        if mine not in known:
            known = {mine: np.array([place[query, part] for query in each.queries], dtype=np.int64)}
        at = known[mine]
        values[rows[Key(each.measure, part_of(own, own))], runs[each.run], at] = each.values
        has_values[runs[each.run], at] = True
    return Questions(keys=keys, values=values, has_values=has_values, columns=_columns(keys, tables, parted=parted))


def _columns(
    keys: Sequence[tuple[str, str]], tables: Sequence[Mapping[str, list[Any]]], *, parted: bool
) -> dict[str, Sequence[Any]]:
    """The columns of queries.parquet in the order of the keys, without the empty ones."""
    place = {key: at for at, key in enumerate(keys)}
    found: dict[str, list[Any]] = {}
    for table in tables:
        queries = table.get("query", [])
        parts = [str(part or "") for part in table[PART]] if parted and PART in table else [""] * len(queries)
        rows = [place.get(key) for key in zip(queries, parts, strict=True)]
        for name, column in table.items():
            mine = found.setdefault(name, [None] * len(keys))
            for row, cell in zip(rows, column, strict=True):
                if row is not None and mine[row] is None:
                    mine[row] = cell
    return {name: column for name, column in found.items() if name != "query" and any(cell is not None for cell in column)}


def query_data(
    source: PageSource, questions: Questions, overview: Overview | None, flags: Mapping[str, list[int]]
) -> dict[str, Any]:
    """The data of the queries on the page; see docs/page.md."""
    attributes = {name: _attribute(column) for name, column in questions.columns.items() if name not in _TAKEN}
    n = len(questions.keys)
    return {
        "id": [query for query, _ in questions.keys],
        "text": list(questions.columns.get("text", [None] * n)),
        "attributes": attributes,
        "flags": flags,
        "values": cells(questions.values),
        "relevant": [] if overview is None else overview.relevant.max(axis=0, initial=0).tolist(),
        "first": [] if overview is None else cells(overview.first),
        **({} if overview is None or source.protocol in _KEYED else {"unjudged": overview.unjudged.tolist()}),
    }


def flags_of(source: PageSource, questions: Questions, overview: Overview | None) -> tuple[dict[str, list[int]], list[str]]:
    """Flags of queries: name -> the positions of the queries with it; and in words those of all queries."""
    if overview is None:
        return {}, []
    found: dict[str, Any] = {"no relevant": ~overview.relevant.any(axis=0) & overview.listed.any(axis=0)}
    if source.protocol not in _KEYED:
        found[f"unjudged in the first {NEAR}"] = overview.unjudged.any(axis=0)
    found["tie at the cut"] = overview.tied.any(axis=0)
    for run, name in enumerate(source.runs):
        # A run of another kind, a reader beside a retriever, has no lists for queries that it was never asked.
        if source.protocol != "answers" and overview.listed[run].any():
            found[f"missing from {name}"] = questions.has_values[run] & ~overview.retrieved[run]
    whole = {name for name, column in found.items() if column.all() and len(questions.keys) > 1}
    some = {name: np.flatnonzero(column).tolist() for name, column in found.items() if column.any() and name not in whole}
    return some, [f"{name}: all {len(questions.keys):,} queries" for name in found if name in whole]


def cut_of(measures: Mapping[Key, Any]) -> int | None:
    """The first cut-off of a measure that lists are deep enough for."""
    for key in measures:
        try:
            cut = parse_measure(key.measure).cutoff
        except BadUsage:
            continue
        if cut is not None and cut < MOST_RESULTS:
            return cut
    return None


def choose(questions: Questions, listed: Bools, measure: Mapping[str, Any], seed: int) -> tuple[list[int], str]:
    """The queries that have lists, at most 500, in order, and the sentence that says which they are.

    listed: (queries,) which of them have any. By the first measure: those about which the runs differ most, the worst, the best,
    and of the rest some at random; a query without a value by it comes last everywhere.
    """
    able = np.flatnonzero(listed)
    depth = f"each shows the first {MOST_RESULTS} results of a run and all relevant items (at most {MOST_RELEVANT} beyond them)"
    if len(able) <= MOST_QUERIES:
        whole = len(able) == len(questions.keys)
        who = "All queries have lists" if whole else f"The {len(able):,} queries with results have lists"
        return able.tolist(), f"{who}; {depth}."
    own = questions.values[0][:, able] * (-1.0 if measure["better"] == "lower" else 1.0)
    counted = ~np.isnan(own)
    high, low = np.where(counted, own, -np.inf).max(axis=0), np.where(counted, own, np.inf).min(axis=0)
    mean = np.where(counted, own, 0.0).sum(axis=0) / np.maximum(counted.sum(axis=0), 1)
    known = counted.any(axis=0)
    spread = np.subtract(high, low, out=np.zeros(len(able)), where=counted.sum(axis=0) > 1)
    chosen = np.zeros(len(able), dtype=np.bool_)
    apart = _take(chosen, np.where(spread > 0, -spread, np.inf), _APART)
    worst = _take(chosen, np.where(known, mean, np.inf), _WORST)
    best = _take(chosen, np.where(known, -mean, np.inf), _BEST)
    rest = np.flatnonzero(~chosen)
    drawn = np.random.default_rng(seed).choice(rest, MOST_QUERIES - int(chosen.sum()), replace=False)
    chosen[drawn] = True
    by = measure["label"] + (f" ({measure['of']})" if measure["of"] else "")
    kinds = [
        f"the {apart} about which the runs differ most by {by}" if apart else "",
        f"{'of the others ' if apart else ''}the {worst} worst and the {best} best{'' if apart else f' by {by}'}",
        f"{len(drawn)} drawn at random (seed {seed})",
    ]
    sentence = f"{MOST_QUERIES} of {len(questions.keys):,} queries have lists: {', '.join(filter(None, kinds))}; {depth}."
    return able[chosen].tolist(), sentence


def _take(chosen: Bools, key: Floats, most: int) -> int:
    """Marks the first ones by the key, earlier queries first where it is the same, infinite ones never; returns how many."""
    order = np.argsort(np.where(chosen, np.inf, np.round(key, 12)), kind="stable")
    mine = [place for place in order[:most].tolist() if np.isfinite(key[place]) and not chosen[place]]
    chosen[mine] = True
    return len(mine)


def _attribute(column: Sequence[Any]) -> list[Any]:
    """Numbers rounded for the page, anything else as text."""
    known = [cell for cell in column if cell is not None]
    if all(isinstance(cell, (int, float)) and not isinstance(cell, bool) for cell in known):
        return cells(np.array([np.nan if cell is None else cell for cell in column], dtype=np.float64))
    return [None if cell is None else str(cell) for cell in column]
