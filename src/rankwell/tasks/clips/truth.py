"""Relevance by keywords: relevant to a query are the clips that carry the keywords it requires."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from rankwell.core.tables import Bools, Floats, Ints, offsets_of, sort_ids
from rankwell.core.tables.judgments import Judgments
from rankwell.errors import BadInput, BadUsage
from rankwell.tasks.clips.annotations import Annotations
from rankwell.tasks.clips.vocabulary import Keyword

Kind = Literal["all", "any", "jaccard", "graded"]

_JACCARD = re.compile(r"jaccard\s*(?:>=|≥|=|:)\s*(\d*\.?\d+)")
_BLOCK = 1 << 22


class Relevance(NamedTuple):
    """When a clip is relevant. least: the smallest Jaccard index, for `jaccard` only."""

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
        chosen = _everything(annotations) if selection is None else selection
        return cls(annotations.clips, annotations.given & chosen, chosen)

    @classmethod
    def of_texts(
        cls, annotations: Annotations, keywords: Mapping[str, Sequence[Keyword]], selection: Bools | None = None
    ) -> "Required":
        """Queries with the keywords that their texts mean. Raises BadInput for one that the annotations do not know."""
        chosen = _everything(annotations) if selection is None else selection
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
        """(queries,) number of keywords that each requires."""
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


def _everything(annotations: Annotations) -> Bools:
    return np.ones(len(annotations.keywords), dtype=np.bool_)
