"""Details: the first items of each query and every judged one, with rank, score, grade and state; the rows of details.parquet."""

from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from typing import Any, NamedTuple

import numpy as np

from rankwell.core.tables import Floats, Judgments
from rankwell.core.tables.ranking import Hits, Ranking
from rankwell.core.views.judged import JudgedRankings


class Details(NamedTuple):
    """Columns of equal length, by query and rank, items that were not retrieved last. rank and score: NaN where not retrieved.

    state: `relevant`, `nonrelevant`, `unjudged` (also where pooled but not judged) or `junk`. grade: NaN where unjudged or junk.
    """

    query: list[str]
    item: list[str]
    rank: Floats
    score: Floats
    grade: Floats
    state: list[str]


def details_of(judgments: Judgments, hits: Hits, view: JudgedRankings) -> Details:
    """The details of one ranking; `hits.top` gives the first items of each query, `view` the ranks after junk is gone."""
    junk = np.zeros(len(judgments.items), dtype=np.bool_) if judgments.junk is None else judgments.junk
    judged = {
        (query, item): (grade, is_junk)
        for query, item, grade, is_junk in zip(
            judgments.query_of_row.tolist(), judgments.items, judgments.grades.tolist(), junk.tolist(), strict=True
        )
    }
    rows = {} if hits.top is None else _first_items(judgments, hits.top, judged)
    columns = (view.query_of_row.tolist(), view.items.tolist(), view.ranks.tolist(), view.scores.tolist())
    # Of an item that appears twice in a list the first place counts.
    for query, row, rank, score in reversed(list(zip(*columns, strict=True))):
        rows[query, judgments.items[int(row)]] = (float(rank), score)
    missing = (float("nan"), float("nan"))
    everything = {**rows, **{key: rows.get(key, missing) for key in judged}}
    ordered = sorted(everything, key=lambda key: (key[0], not everything[key][0] > 0, everything[key][0], key[1]))
    graded = [judged.get(key) for key in ordered]
    return Details(
        query=[judgments.queries[query] for query, _ in ordered],
        item=[item for _, item in ordered],
        rank=np.array([everything[key][0] for key in ordered]),
        score=np.array([everything[key][1] for key in ordered]),
        grade=np.array([float("nan") if fact is None or fact[1] else fact[0] for fact in graded]),
        state=[_state(fact) for fact in graded],
    )


def _first_items(
    judgments: Judgments, top: Ranking, judged: Mapping[tuple[int, str], tuple[float, bool]]
) -> dict[tuple[int, str], tuple[float, float]]:
    """Rank and score of the first items; junk takes no rank."""
    rows: dict[tuple[int, str], tuple[float, float]] = {}
    for query, start, stop in zip(top.queries, top.offsets[:-1].tolist(), top.offsets[1:].tolist(), strict=True):
        position, rank = judgments.index[query], 0
        for row in range(start, stop):
            key = (position, top.items[row])
            is_junk = key in judged and judged[key][1]
            rank += not is_junk
            rows.setdefault(key, (float("nan") if is_junk else float(rank), float(top.scores[row])))
    return rows


def _state(fact: tuple[float, bool] | None) -> str:
    if fact is None:
        return "unjudged"
    grade, is_junk = fact
    return "junk" if is_junk else "unjudged" if grade < 0 else "relevant" if grade > 0 else "nonrelevant"


DETAIL_COLUMNS = ("run", "query", "item", "rank", "score", "grade", "state", "detail")

COMPLETE = {"unjudged": "nonrelevant"}
"""The states where the judgments are complete: an item that they do not list is not relevant."""


def detail_columns(
    parts: Iterable[tuple[str, Details, Sequence[str | None] | str | None]], *, states: Mapping[str, str] | None = None
) -> dict[str, list[Any]]:
    """The columns of details.parquet; NaN becomes None.

    parts: the name of a run, its details, and what the task knows of the rows as JSON: one text each, one for all, or None.
    states: state -> the task's word for it, such as `unjudged` -> `nonrelevant` where the judgments are complete.
    """
    columns: dict[str, list[Any]] = {name: [] for name in DETAIL_COLUMNS}
    for run, details, attributes in parts:
        n = len(details.query)
        columns["run"] += [run] * n
        columns["detail"] += [attributes] * n if attributes is None or isinstance(attributes, str) else list(attributes)
        for name, values in details._asdict().items():
            columns[name] += values if isinstance(values, list) else [None if isnan(each) else each for each in values.tolist()]
    if states:
        columns["state"] = [states.get(state, state) for state in columns["state"]]
    return columns
