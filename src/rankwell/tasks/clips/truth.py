"""Relevance by keywords: relevant clips carry the keywords that the query requires; each result has
and lacks some of them.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan
from typing import Any, Literal, NamedTuple

import numpy as np

from rankwell.data.tables import Bools, Floats, Ints, Judgments, segment_offsets, sort_ids
from rankwell.errors import BadInput, BadUsage
from rankwell.tasks.clips.annotations import Annotations, QueryKeywords
from rankwell.tasks.clips.rankings import ClipList

Kind = Literal["all", "any", "jaccard", "graded"]

_JACCARD = re.compile(r"jaccard\s*(?:>=|≥|=|:)\s*(\d*\.?\d+)", re.ASCII)
_BLOCK = 1 << 22


class Relevance(NamedTuple):
    """A rule of relevance. least: the smallest Jaccard index, for `jaccard` only."""

    kind: Kind
    least: float = 0.0

    @classmethod
    def parse(cls, text: str) -> "Relevance":
        """The rule that a text names: `all`, `any`, `graded`, or `jaccard>=0.5`. Raises
        BadUsage.
        """
        plain = text.strip().lower()
        if plain in ("all", "any", "graded"):
            return cls(plain)
        match = _JACCARD.fullmatch(plain)
        if match is None or not 0 < float(match[1]) <= 1:
            raise BadUsage(
                f"relevance {text!r}; write all, any, graded, or jaccard>=T with T above 0 "
                "and at most 1."
            )
        return cls("jaccard", float(match[1]))

    def __str__(self) -> str:
        return f"jaccard>={self.least:g}" if self.kind == "jaccard" else self.kind


@dataclass(frozen=True, eq=False)
class Required:
    """The keywords that each query requires: (queries, keywords) of a selection. queries: ids in
    the order of their bytes.

    unwanted: (queries, keywords) those that no relevant clip has.
    """

    queries: tuple[str, ...]
    wanted: Bools
    unwanted: Bools
    selection: Bools

    @classmethod
    def of_clips(
        cls,
        annotations: Annotations,
        selection: Bools | None = None,
        clips: Sequence[str] | None = None,
    ) -> "Required":
        """Clips, all by default, are queries that require their own keywords. clips: in the order
        of the table.
        """
        selected = (
            np.ones(len(annotations.keywords), dtype=np.bool_) if selection is None else selection
        )
        queries = annotations.clips if clips is None else tuple(clips)
        wanted = annotations.given[[annotations.index[clip] for clip in queries]] & selected
        return cls(queries, wanted, np.zeros_like(wanted), selected)

    @classmethod
    def of_texts(
        cls,
        annotations: Annotations,
        keywords: Mapping[str, QueryKeywords],
        selection: Bools | None = None,
    ) -> "Required":
        """Queries with the keywords that their texts mean. Raises BadInput for an unknown
        keyword.
        """
        selected = (
            np.ones(len(annotations.keywords), dtype=np.bool_) if selection is None else selection
        )
        queries = tuple(sort_ids(keywords))
        wanted, unwanted = np.zeros((2, len(queries), len(annotations.keywords)), dtype=np.bool_)
        for row, query in enumerate(queries):
            sides = zip((wanted, unwanted), ("requires", "excludes"), keywords[query], strict=True)
            for cells, verb, entries in sides:
                for entry in entries:
                    if entry not in annotations.column:
                        raise BadInput(
                            f"query {query!r} {verb} {entry}, which is neither declared nor "
                            "used; name one that is."
                        )
                    cells[row, annotations.column[entry]] = True
        return cls(queries, wanted & selected, unwanted & selected, selected)

    def only(self, columns: Bools) -> "Required":
        """The same queries, which require the chosen keywords alone; what they exclude stays
        excluded.
        """
        return Required(
            self.queries, self.wanted & columns, self.unwanted, self.selection & columns
        )

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
    """The clips that are relevant to each query. Without a required keyword there are none, or with
    `vacuous` all.

    `all`: those that carry every required keyword. `any`: at least one. `jaccard`: those whose
    keywords have a Jaccard index of at least `least` with the required ones. `graded`: any, with
    the grade matched / required; else the grade is 1. A narrower keyword counts as the wider ones
    that it implies. By every rule a clip that carries an excluded keyword is not relevant.
    excluded: query -> clips that cannot be found for it (itself, its own drive).
    """
    rule = Relevance.parse(relevance) if isinstance(relevance, str) else relevance
    step = max(1, _BLOCK // max(len(annotations.clips), 1))
    carried = annotations.carried.astype(np.float32)
    selected = (annotations.given & required.selection).astype(np.float32)
    items: list[str] = []
    counts, parts = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    for start in range(0, len(required.queries), step):
        queries = required.queries[start : start + step]
        wanted, unwanted = (
            side[start : start + step].astype(np.float32)
            for side in (required.wanted, required.unwanted)
        )
        grades = _grades(wanted, carried, selected, rule, vacuous)
        grades[unwanted @ carried.T > 0] = 0.0
        for row, query in enumerate(queries):
            clips = (excluded or {}).get(query, ())
            grades[
                row, [annotations.index[clip] for clip in clips if clip in annotations.index]
            ] = 0.0
        rows, clips = np.nonzero(grades)
        items += [annotations.clips[clip] for clip in clips.tolist()]
        counts.append(np.bincount(rows, minlength=len(queries)).astype(np.int64))
        parts.append(grades[rows, clips])
    return Judgments(
        required.queries, segment_offsets(np.concatenate(counts)), items, np.concatenate(parts)
    )


def _grades(
    wanted: np.ndarray,
    carried: np.ndarray,
    annotated: np.ndarray,
    relevance: Relevance,
    vacuous: bool,
) -> Floats:
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
        together = (
            required
            + annotated.sum(axis=1, dtype=np.float64)
            - (wanted @ annotated.T).astype(np.float64)
        )
        shared = np.divide(matched, together, out=np.zeros_like(matched), where=together > 0)
        grades = ((shared >= relevance.least) & (required > 0)).astype(np.float64)
    return np.where(required == 0, 1.0, grades) if vacuous else grades


class ClipResult(NamedTuple):
    """One clip in the list of one query; its rank is None where it was not retrieved.

    state: `relevant`, `nonrelevant`, `unjudged` (without annotation) or `junk` (the query itself).
    detail: as JSON the match, the found and missing labels of each required group, and the reasons
    why the clip does not count.
    """

    item: str
    rank: int | None
    similarity: float | None
    grade: float | None
    state: str
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
        columns = {
            "item": self.item,
            "rank": self.rank,
            "similarity": self.similarity,
            "state": self.state,
        }
        return columns | {"grade": self.grade} | self.keywords


@dataclass(frozen=True, eq=False)
class Explainer:
    """Compares the keywords of clips with those of queries. least: results of a lower similarity do
    not count.
    """

    required: Required
    annotations: Annotations
    judgments: Judgments
    least: float | None = None
    clips_search: bool = False
    _details: dict[tuple[Any, ...], str] = field(default_factory=dict[tuple[Any, ...], str])

    @cached_property
    def _row(self) -> dict[str, int]:
        return {query: row for row, query in enumerate(self.required.queries)}

    @cached_property
    def _patterns(self) -> list[list[int]]:
        """The keywords that queries require and exclude, and each clip's, a bit per keyword: few
        sets, even of many clips.
        """
        tables = (self.required.wanted, self.required.unwanted, self.annotations.carried)
        return [
            [int.from_bytes(row.tobytes()) for row in np.packbits(bits, axis=1)] for bits in tables
        ]

    def grades(self, query: str) -> dict[str, float]:
        """clip -> grade, of the relevant clips of a query."""
        at = self.judgments.index[query]
        rows = slice(*self.judgments.offsets[at : at + 2].tolist())
        return dict(
            zip(self.judgments.items[rows], self.judgments.grades[rows].tolist(), strict=True)
        )

    def keywords(self, query: str) -> dict[str, list[str]]:
        """group -> required labels, and excluded ones behind `without`."""
        row = self._row[query]
        return self._named(self.required.wanted[row], self.required.unwanted[row])

    def _named(self, required: Bools, unwanted: Bools) -> dict[str, list[str]]:
        """group -> labels of (keywords,) rows, those of the second behind `without`."""
        labels_of = self.annotations.named(required)
        for group, labels in self.annotations.named(unwanted).items():
            labels_of.setdefault(group, []).extend(f"without {label}" for label in labels)
        return labels_of

    def results(self, query: str, ranked: ClipList) -> list[ClipResult]:
        """The first items as results of the query."""
        grades = self.grades(query)
        ranked_items = enumerate(zip(ranked.items, ranked.similarities, strict=True), 1)
        return [
            self.result(query, item, rank, similarity, grades)
            for rank, (item, similarity) in ranked_items
        ]

    def result(
        self,
        query: str,
        item: str,
        rank: int | None,
        similarity: float,
        grades: Mapping[str, float],
    ) -> ClipResult:
        """One item as a result of the query; rank None: it was not retrieved."""
        measured = None if isnan(similarity) else similarity
        is_below = self.least is not None and measured is not None and measured < self.least
        below = ["below_threshold"] * is_below
        if self.clips_search and item == query:
            return ClipResult(item, None, measured, None, "junk", _detail({}, {}, ["query_itself"]))
        clip = self.annotations.index.get(item)
        if clip is None:
            detail = _detail({}, self.keywords(query), [*below, "unannotated"])
            return ClipResult(item, rank, measured, None, "unjudged", detail)
        grade, row = grades.get(item, 0.0), self._row[query]
        wanted, unwanted, of_clip = (
            patterns[at] for patterns, at in zip(self._patterns, (row, row, clip), strict=True)
        )
        key = wanted, wanted & of_clip, unwanted, unwanted & of_clip, grade, is_below
        if key not in self._details:
            required, excluded = self.required.wanted[row], self.required.unwanted[row]
            carried = self.annotations.carried[clip]
            present = self._named(required & carried, excluded & ~carried)
            missing = self._named(required & ~carried, excluded & carried)
            lacking = self._lacking(required, excluded, carried) if grade < 1 else []
            self._details[key] = _detail(present, missing, [*below, *lacking])
        state = "relevant" if grade >= 1 else "nonrelevant"
        return ClipResult(item, rank, measured, grade, state, self._details[key])

    def _lacking(self, required: Bools, excluded: Bools, carried: Bools) -> list[str]:
        """Why a clip that carries some keywords is not a full match."""
        sides = (("missing", required & ~carried), ("excluded", excluded & carried))
        return [
            f"{why}:{label}"
            for why, row in sides
            for labels in self.annotations.named(row).values()
            for label in labels
        ]


def _detail(
    present: Mapping[str, list[str]], missing: Mapping[str, list[str]], reasons: Sequence[str]
) -> str:
    """The match, the groups and the reasons of a result as JSON. found, missing: group ->
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
