"""Relevance by keywords: relevant clips carry the keywords that the query requires; each result has and lacks some of them."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwell.core.tables import Bools, Floats, Ints, Judgments, offsets_of, sort_ids
from rankwell.errors import BadInput, BadUsage
from rankwell.tasks.clips.annotations import Annotations, Keyword
from rankwell.tasks.clips.rankings import ClipList

Kind = Literal["all", "any", "jaccard", "graded"]

_JACCARD = re.compile(r"jaccard\s*(?:>=|≥|=|:)\s*(\d*\.?\d+)")
_BLOCK = 1 << 22
_BELOW = ("below_threshold",)


class Relevance(NamedTuple):
    """A rule of relevance. least: the smallest Jaccard index, for `jaccard` only."""

    kind: Kind
    least: float = 0.0

    @classmethod
    def parse(cls, text: str) -> "Relevance":
        """The rule that a text names: `all`, `any`, `graded`, or `jaccard>=0.5`. Raises BadUsage."""
        plain = text.strip().lower()
        for kind in ("all", "any", "graded"):
            if plain == kind:
                return cls(kind)
        match = _JACCARD.fullmatch(plain)
        if match is None or not 0 < float(match[1]) <= 1:
            raise BadUsage(f"relevance {text!r}; write all, any, graded, or jaccard>=T with T above 0 and at most 1.")
        return cls("jaccard", float(match[1]))

    def __str__(self) -> str:
        return f"jaccard>={self.least:g}" if self.kind == "jaccard" else self.kind


@dataclass(frozen=True, eq=False)
class Required:
    """The keywords that each query requires.

    queries: ids in the order of their bytes. wanted: (queries, keywords) in the order of `Annotations.keywords`. selection:
    (keywords,) those that count at all; no other is required.
    """

    queries: tuple[str, ...]
    wanted: Bools
    selection: Bools

    @classmethod
    def of_clips(cls, annotations: Annotations, selection: Bools | None = None) -> "Required":
        """Every clip is a query that requires its own keywords."""
        chosen = np.ones(len(annotations.keywords), dtype=np.bool_) if selection is None else selection
        return cls(annotations.clips, annotations.given & chosen, chosen)

    @classmethod
    def of_texts(
        cls, annotations: Annotations, keywords: Mapping[str, Sequence[Keyword]], selection: Bools | None = None
    ) -> "Required":
        """Queries with the keywords that their texts mean. Raises BadInput for an unknown keyword."""
        chosen = np.ones(len(annotations.keywords), dtype=np.bool_) if selection is None else selection
        queries = tuple(sort_ids(keywords))
        wanted = np.zeros((len(queries), len(annotations.keywords)), dtype=np.bool_)
        for row, query in enumerate(queries):
            for entry in keywords[query]:
                if entry not in annotations.column:
                    raise BadInput(f"query {query!r} requires {entry}, which is neither declared nor used; name one that is.")
                wanted[row, annotations.column[entry]] = True
        return cls(queries, wanted & chosen, chosen)

    def only(self, columns: Bools) -> "Required":
        """The same queries, which require the chosen keywords alone."""
        return Required(self.queries, self.wanted & columns, self.selection & columns)

    @property
    def counts(self) -> Ints:
        """(queries,) number of required keywords."""
        return self.wanted.sum(axis=1, dtype=np.int64)


def judge(
    required: Required,
    annotations: Annotations,
    *,
    relevance: Relevance | str = "all",
    excluded: Mapping[str, Collection[str]] | None = None,
    vacuous: bool = False,
) -> Judgments:
    """The clips that are relevant to each query.

    `all`: those that carry every required keyword, and perhaps more. `any`: at least one. `jaccard`: those whose keywords have a
    Jaccard index of at least `least` with the required ones. `graded`: any, with the grade matched / required, so that a grade of
    1 is `all`; else the grade is 1. A narrower keyword counts as the wider ones that it implies.
    excluded: query -> clips that cannot be found for it (itself, its own drive). A query that requires no keyword has no relevant
    clip; with `vacuous` every clip is relevant to it, as none lacks a keyword.
    """
    rule = Relevance.parse(relevance) if isinstance(relevance, str) else relevance
    clips = len(annotations.clips)
    step = max(1, _BLOCK // max(clips, 1))
    carried, given = (each.astype(np.float32) for each in (annotations.carried, annotations.given & required.selection))
    parts: list[tuple[Ints, Ints, Floats]] = []
    for start in range(0, len(required.queries), step):
        rows = slice(start, min(start + step, len(required.queries)))
        grades = _grades(required.wanted[rows].astype(np.float32), carried, given, rule, vacuous)
        for row in range(rows.start, rows.stop):
            taken = [
                annotations.index[clip] for clip in (excluded or {}).get(required.queries[row], ()) if clip in annotations.index
            ]
            grades[row - rows.start, taken] = 0.0
        query, clip = np.nonzero(grades)
        parts.append((query + rows.start, clip, grades[query, clip]))
    query, clip = (np.concatenate([part[place] for part in parts] or [np.zeros(0, dtype=np.int64)]) for place in range(2))
    grade: Floats = np.concatenate([part[2] for part in parts] or [np.zeros(0)])
    places: list[int] = clip.tolist()
    return Judgments(
        queries=required.queries,
        offsets=offsets_of(np.bincount(query, minlength=len(required.queries)).astype(np.int64)),
        items=[annotations.clips[place] for place in places],
        grades=grade,
    )


def _grades(wanted: np.ndarray, carried: np.ndarray, given: np.ndarray, relevance: Relevance, vacuous: bool) -> Floats:
    """(queries, clips) the grade of each clip; integers up to 2^24 are exact in float32."""
    matched = (wanted @ carried.T).astype(np.float64)
    required = wanted.sum(axis=1, dtype=np.float64)[:, None]
    if relevance.kind == "all":
        grades = ((matched == required) & (required > 0)).astype(np.float64)
    elif relevance.kind == "any":
        grades = (matched > 0).astype(np.float64)
    elif relevance.kind == "graded":
        grades = np.divide(matched, required, out=np.zeros_like(matched), where=required > 0)
    else:
        together = required + given.sum(axis=1, dtype=np.float64) - (wanted @ given.T).astype(np.float64)
        shared = np.divide(matched, together, out=np.zeros_like(matched), where=together > 0)
        grades = ((shared >= relevance.least) & (required > 0)).astype(np.float64)
    return np.where(required == 0, 1.0, grades) if vacuous else grades


@dataclass(frozen=True, eq=False)
class KeywordMatch:
    """The required keywords that clips have and lack, shared by all clips that have the same of them.

    found, missing: group -> required labels. reasons: why such a clip does not count: `missing:LABEL`, `below_threshold`,
    `unannotated`, `query_itself`.
    """

    found: Mapping[str, list[str]]
    missing: Mapping[str, list[str]]
    reasons: tuple[str, ...]

    @cached_property
    def detail(self) -> dict[str, Any]:
        """Match, groups and reasons, for the column `detail` and for the rows of single queries."""
        found, missing = (sum(map(len, each.values())) for each in (self.found, self.missing))
        word = "Full" if not missing else "Partial" if found else "No"
        match = f"{word} match ({found}/{found + missing} keywords)" if found + missing else "no keywords"
        groups = {
            group: {"found": self.found.get(group, []), "missing": self.missing.get(group, [])}
            for group in dict.fromkeys((*self.found, *self.missing))
        }
        return {"match": match, "groups": groups, "reasons": list(self.reasons)}

    @cached_property
    def json(self) -> str:
        """The detail as JSON."""
        return json.dumps(self.detail)


class ClipResult(NamedTuple):
    """One clip in the list of one query.

    rank: from 1; None where it was not retrieved. similarity: None where unknown. state: `relevant`, `nonrelevant`, `unjudged`
    (without annotation) or `junk` (the query itself).
    """

    item: str
    rank: int | None
    similarity: float | None
    grade: float | None
    state: str
    keywords: KeywordMatch

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it does not count; see `KeywordMatch`."""
        return self.keywords.reasons

    @property
    def is_right(self) -> bool:
        """Whether it counts: a relevant clip at or above the threshold."""
        return self.state == "relevant" and "below_threshold" not in self.reasons

    @property
    def match(self) -> str:
        """The number of required keywords that it has, as a message."""
        return self.keywords.detail["match"]

    @property
    def groups(self) -> dict[str, dict[str, list[str]]]:
        """group -> the labels found and the labels missing, for every required group."""
        return self.keywords.detail["groups"]

    def row(self) -> dict[str, Any]:
        """All columns of the result, for the rows of single queries."""
        place = {"item": self.item, "rank": self.rank, "similarity": self.similarity, "state": self.state}
        return place | {"grade": self.grade} | self.keywords.detail


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
    def _matches(self) -> dict[tuple[int, int, float, bool], KeywordMatch]:
        return {}

    def grades(self, query: str) -> dict[str, float]:
        """clip -> grade, of the relevant clips of a query."""
        at = self.judgments.index[query]
        rows = range(*self.judgments.offsets[at : at + 2].tolist())
        return {self.judgments.items[row]: float(self.judgments.grades[row]) for row in rows}

    def keywords(self, query: str) -> dict[str, list[str]]:
        """group -> required labels."""
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
            return ClipResult(item, None, known, None, "junk", KeywordMatch({}, {}, ("query_itself",)))
        if item not in self.annotations.index:
            match = KeywordMatch({}, self.keywords(query), (*_BELOW[:below], "unannotated"))
            return ClipResult(item, rank, known, None, "unjudged", match)
        grade = grades.get(item, 0.0)
        state = "relevant" if grade >= 1 else "nonrelevant"
        return ClipResult(item, rank, known, grade, state, self._match(row, self.annotations.index[item], grade, below))

    def _match(self, row: int, place: int, grade: float, below: bool) -> KeywordMatch:
        patterns, clips = self._patterns
        key = patterns[row], patterns[row] & clips[place], grade, below
        known = self._matches.get(key)
        if known is not None:
            return known
        required, carried = self.required.wanted[row], self.annotations.carried[place]
        found, missing = self.annotations.named(required & carried), self.annotations.named(required & ~carried)
        lacking = [f"missing:{label}" for labels in missing.values() for label in labels] if grade < 1 else []
        return self._matches.setdefault(key, KeywordMatch(found, missing, (*_BELOW[:below], *lacking)))
