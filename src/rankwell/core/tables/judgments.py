"""Judgments: what is relevant to each query, and how much."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from rankwell.core.tables import Bools, Floats, Ints, offsets_of, order_ids, query_counts
from rankwell.errors import BadInput, DuplicateItem


@dataclass(frozen=True, eq=False)
class Judgments:
    """The judged items of each query, sorted by the bytes of query, aspect and item, so that no order of input rows shows.

    queries: every query, also one without rows. offsets: (queries + 1,) where the rows of each query begin.
    items: (rows,) ids. grades: (rows,) finite; below 0 means pooled but not judged, as in trec_eval.
    aspects: (rows,) the judgment group or the intent (subtopic) of a row, or None where a query's items are judged once.
    junk: (rows,) items to remove from every ranking and from the truth (the query itself, its own recording or camera).
    """

    queries: tuple[str, ...]
    offsets: Ints
    items: Sequence[str]
    grades: Floats
    aspects: Sequence[str] | None = None
    junk: Bools | None = None

    @classmethod
    def from_rows(
        cls,
        queries: Sequence[str],
        items: Sequence[str],
        grades: Sequence[float] | Floats,
        *,
        aspects: Sequence[str] | None = None,
        junk: Sequence[bool] | Bools | None = None,
        all_queries: Iterable[str] = (),
    ) -> Self:
        """The table of rows given in any order; `all_queries` adds queries that have no row.

        Raises DuplicateItem if a query judges an item twice (within one aspect), BadInput if a grade is not finite.
        """
        grade = np.asarray(grades, dtype=np.float64)
        if not np.isfinite(grade).all():
            row = int(np.flatnonzero(~np.isfinite(grade))[0])
            raise BadInput(f"query {queries[row]!r}, item {items[row]!r}: the grade is {grade[row]}; grades are finite numbers.")
        order = order_ids(queries, items) if aspects is None else order_ids(queries, aspects, items)
        rows: list[int] = order.tolist()
        names, counts = query_counts(queries, all_queries)
        table = cls(
            queries=tuple(names),
            offsets=offsets_of(counts),
            items=[items[row] for row in rows],
            grades=grade[order],
            aspects=None if aspects is None else [aspects[row] for row in rows],
            junk=None if junk is None else np.asarray(junk, dtype=np.bool_)[order],
        )
        table._refuse_duplicates(rows)
        return table

    @classmethod
    def from_dict(cls, judgments: Mapping[str, Mapping[str, float]]) -> Self:
        """The table of a mapping query -> item -> grade."""
        return cls.from_rows(
            [query for query, graded in judgments.items() for _ in graded],
            [item for graded in judgments.values() for item in graded],
            [grade for graded in judgments.values() for grade in graded.values()],
            all_queries=judgments,
        )

    def _refuse_duplicates(self, rows: list[int]) -> None:
        starts = set(self.offsets.tolist())
        items, aspects = self.items, self.aspects
        for row in range(1, len(items)):
            if items[row] == items[row - 1] and row not in starts and (aspects is None or aspects[row] == aspects[row - 1]):
                query = self.queries[int(np.searchsorted(self.offsets, row, side="right")) - 1]
                first, second = sorted((rows[row - 1] + 1, rows[row] + 1))
                raise DuplicateItem(
                    f"query {query!r} judges item {items[row]!r} twice, in rows {first} and {second}; keep one of them."
                )

    @cached_property
    def query_of_row(self) -> Ints:
        """(rows,) the index of each row's query."""
        return np.repeat(np.arange(len(self.queries), dtype=np.int64), np.diff(self.offsets))

    @cached_property
    def index(self) -> dict[str, int]:
        """The position of each query in `queries`."""
        return {query: position for position, query in enumerate(self.queries)}

    @cached_property
    def flat(self) -> "Judgments":
        """One row per query and item: an item judged under several aspects keeps its highest grade."""
        if self.aspects is None:
            return self
        best: dict[tuple[int, str], tuple[float, bool]] = {}
        junk = np.zeros(len(self.items), dtype=np.bool_) if self.junk is None else self.junk
        for query, item, grade, bad in zip(
            self.query_of_row.tolist(), self.items, self.grades.tolist(), junk.tolist(), strict=True
        ):
            known = best.get((query, item))
            best[query, item] = (grade, bad) if known is None else (max(grade, known[0]), bad or known[1])
        return Judgments.from_rows(
            [self.queries[query] for query, _ in best],
            [item for _, item in best],
            [grade for grade, _ in best.values()],
            junk=None if self.junk is None else [bad for _, bad in best.values()],
            all_queries=self.queries,
        )

    @cached_property
    def row_in_flat(self) -> Ints:
        """(rows,) the row of `flat` that holds each row's query and item."""
        if self.aspects is None:
            return np.arange(len(self.items), dtype=np.int64)
        flat = self.flat
        place = {pair: row for row, pair in enumerate(zip(flat.query_of_row.tolist(), flat.items, strict=True))}
        pairs = zip(self.query_of_row.tolist(), self.items, strict=True)
        return np.fromiter((place[pair] for pair in pairs), dtype=np.int64, count=len(self.items))

    def with_junk(self, excluded: Mapping[str, Iterable[str]]) -> "Judgments":
        """The same truth with further items of some queries marked as junk, whether they are judged or not.

        excluded: query -> items that must not count in it, such as the query itself. Unknown queries are skipped.
        """
        if self.aspects is not None:
            raise BadInput("items cannot be excluded from judgments with groups or intents; use the flat table.")
        marks = {(query, item) for query, items in excluded.items() if query in self.index for item in items}
        owners = [self.queries[position] for position in self.query_of_row.tolist()]
        known = set(zip(owners, self.items, strict=True))
        added = sorted(marks - known)
        old = np.zeros(len(self.items), dtype=np.bool_) if self.junk is None else self.junk
        junk = [bad or pair in marks for bad, pair in zip(old.tolist(), zip(owners, self.items, strict=True), strict=True)]
        return Judgments.from_rows(
            owners + [query for query, _ in added],
            [*self.items, *(item for _, item in added)],
            np.concatenate([self.grades, np.zeros(len(added))]),
            junk=junk + [True] * len(added),
            all_queries=self.queries,
        )
