"""Keywords of the query that each result has and lacks, and the reasons why a result does not count."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import Any, NamedTuple

import numpy as np

from rankwell.core.tables import Floats
from rankwell.core.tables.judgments import Judgments
from rankwell.core.views.judged import JudgedRankings
from rankwell.evaluation.details import Details
from rankwell.tasks.clips.annotations import Annotations
from rankwell.tasks.clips.rankings import ClipList
from rankwell.tasks.clips.truth import Required

_Key = tuple[int, int, float, bool]
_BELOW = ("below_threshold",)


class ClipResult(NamedTuple):
    """One clip in the list of one query.

    rank: from 1; None where it was not retrieved. similarity: None where unknown. state: `relevant`, `nonrelevant`, `unjudged`
    (it has no annotation) or `junk` (the query itself). found, missing: group -> labels that the query requires. reasons: why it
    does not count: `missing:LABEL`, `below_threshold`, `unannotated`, `query_itself`.
    """

    item: str
    rank: int | None
    similarity: float | None
    grade: float | None
    state: str
    found: Mapping[str, list[str]]
    missing: Mapping[str, list[str]]
    reasons: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        """Whether it counts: a relevant clip at or above the threshold."""
        return self.state == "relevant" and "below_threshold" not in self.reasons

    @property
    def match(self) -> str:
        """Number of the keywords that it has, in words."""
        found, missing = (sum(map(len, each.values())) for each in (self.found, self.missing))
        word = "Full" if not missing else "Partial" if found else "No"
        return f"{word} match ({found}/{found + missing} keywords)" if found + missing else "no keywords"

    @property
    def groups(self) -> dict[str, dict[str, list[str]]]:
        """group -> the labels found and the labels missing, every group that the query requires."""
        return {
            group: {"found": self.found.get(group, []), "missing": self.missing.get(group, [])}
            for group in dict.fromkeys((*self.found, *self.missing))
        }

    def detail(self) -> dict[str, Any]:
        """Match, groups and reasons, for the column `detail` and for per-query rows."""
        return {"match": self.match, "groups": self.groups, "reasons": list(self.reasons)}

    def row(self) -> dict[str, Any]:
        """All of it, for the rows of single queries."""
        place = {"item": self.item, "rank": self.rank, "similarity": self.similarity, "state": self.state}
        return place | {"grade": self.grade} | self.detail()


class _Match(NamedTuple):
    """The match of clips that have the same part of the required keywords. detail: JSON, written on first use."""

    found: Mapping[str, list[str]]
    missing: Mapping[str, list[str]]
    reasons: tuple[str, ...]
    detail: str = ""


@dataclass(frozen=True, eq=False)
class Explainer:
    """Compares the keywords of clips with those of queries. least: results of a lower similarity do not count."""

    required: Required
    annotations: Annotations
    judgments: Judgments
    least: float | None = None
    clips_search: bool = False

    @cached_property
    def _row(self) -> dict[str, int]:
        return {query: row for row, query in enumerate(self.required.queries)}

    @cached_property
    def _patterns(self) -> tuple[list[int], list[int]]:
        """The keywords of each query and of each clip, a bit per keyword: few sets, even of thousands of clips."""
        one, two = (np.packbits(each, axis=1) for each in (self.required.wanted, self.annotations.carried))
        return [int.from_bytes(row.tobytes()) for row in one], [int.from_bytes(row.tobytes()) for row in two]

    @cached_property
    def _readings(self) -> dict[_Key, "_Match"]:
        return {}

    def grades(self, query: str) -> dict[str, float]:
        """clip -> grade, of the relevant clips of a query."""
        at = self.judgments.index[query]
        rows = range(*self.judgments.offsets[at : at + 2].tolist())
        return {self.judgments.items[row]: float(self.judgments.grades[row]) for row in rows}

    def keywords(self, query: str) -> dict[str, list[str]]:
        """group -> labels that the query requires."""
        return self.annotations.named(self.required.wanted[self._row[query]])

    def results(self, query: str, listed: ClipList) -> list[ClipResult]:
        """The first items as results of the query."""
        grades = self.grades(query)
        return [
            self.result(query, item, rank, similarity, grades)
            for rank, (item, similarity) in enumerate(zip(listed.items, listed.similarities, strict=True), 1)
        ]

    def result(self, query: str, item: str, rank: int | None, similarity: float, grades: Mapping[str, float]) -> ClipResult:
        """One item as a result of the query; rank None: it was not retrieved."""
        known = None if isnan(similarity) else similarity
        below = self.least is not None and known is not None and known < self.least
        row = self._row[query]
        if self.clips_search and item == query:
            return ClipResult(item, None, known, None, "junk", {}, {}, ("query_itself",))
        if item not in self.annotations.index:
            missing = self.annotations.named(self.required.wanted[row])
            return ClipResult(item, rank, known, None, "unjudged", {}, missing, (*_BELOW[:below], "unannotated"))
        grade = grades.get(item, 0.0)
        read = self._read(row, self.annotations.index[item], grade, below)
        state = "relevant" if grade >= 1 else "nonrelevant"
        return ClipResult(item, rank, known, grade, state, read.found, read.missing, read.reasons)

    def detail(self, query: str, result: ClipResult) -> str:
        """Match, groups and reasons of a result, as JSON."""
        if result.grade is None:
            return json.dumps(result.detail())
        below = "below_threshold" in result.reasons[:1]
        place = self.annotations.index[result.item]
        reading = self._read(self._row[query], place, result.grade, below)
        if not reading.detail:
            reading = reading._replace(detail=json.dumps(result.detail()))
            self._readings[self._key(self._row[query], place, result.grade, below)] = reading
        return reading.detail

    def _key(self, row: int, place: int, grade: float, below: bool) -> _Key:
        required, carried = self._patterns
        return required[row], required[row] & carried[place], grade, below

    def _read(self, row: int, place: int, grade: float, below: bool) -> "_Match":
        key = self._key(row, place, grade, below)
        known = self._readings.get(key)
        if known is not None:
            return known
        wanted, carried = self.required.wanted[row], self.annotations.carried[place]
        found, missing = self.annotations.named(wanted & carried), self.annotations.named(wanted & ~carried)
        lacking = [f"missing:{label}" for labels in missing.values() for label in labels] if grade < 1 else []
        return self._readings.setdefault(key, _Match(found, missing, (*_BELOW[:below], *lacking)))


def explained_details(
    explainer: Explainer, first: Mapping[str, ClipList], view: JudgedRankings, queries: Sequence[str]
) -> tuple[Details, list[str]]:
    """The first results of each query and every relevant clip at its rank, and the column `detail` of these rows."""
    ranked: dict[str, dict[str, tuple[int, float]]] = {query: {} for query in view.queries}
    items = explainer.judgments.items
    for at, row, rank, score in zip(
        view.query_of_row.tolist(), view.items.tolist(), view.ranks.tolist(), view.scores.tolist(), strict=True
    ):
        ranked[view.queries[at]][str(items[row])] = (rank, score)
    rows: list[tuple[str, ClipResult]] = []
    for query in queries:
        results = explainer.results(query, first.get(query, ClipList([], [])))
        shown = {result.item for result in results}
        grades, mine = explainer.grades(query), ranked[query]
        later: list[ClipResult] = []
        for item in grades:
            if item not in shown and not (explainer.clips_search and item == query):
                rank, score = mine.get(item, (None, float("nan")))
                later.append(explainer.result(query, item, rank, score, grades))
        later.sort(key=lambda result: (result.rank is None, result.rank or 0))
        rows += [(query, each) for each in (*results, *later)]

    def _floats(column: Iterable[float | None]) -> Floats:
        return np.array([float("nan") if each is None else each for each in column], dtype=np.float64)

    details = Details(
        query=[query for query, _ in rows],
        item=[each.item for _, each in rows],
        rank=_floats(each.rank for _, each in rows),
        score=_floats(each.similarity for _, each in rows),
        grade=_floats(each.grade for _, each in rows),
        state=[each.state for _, each in rows],
    )
    return details, [explainer.detail(query, each) for query, each in rows]


def share_of_missing(
    explainer: Explainer, first: Mapping[str, ClipList], counted: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(keywords,) number of counted queries that require a keyword, of their first k results, and of the results that lack it.

    A result without annotation lacks every keyword.
    """
    annotations, required = explainer.annotations, explainer.required
    queries, results, lacking = (np.zeros(len(annotations.keywords), dtype=np.int64) for _ in range(3))
    for row in np.flatnonzero(counted).tolist():
        query = required.queries[row]
        wanted = required.wanted[row]
        queries += wanted
        for item in first.get(query, ClipList([], [])).items[:k]:
            if explainer.clips_search and item == query:
                continue
            place = annotations.index.get(item)
            results += wanted
            lacking += wanted if place is None else wanted & ~annotations.carried[place]
    return queries, results, lacking
