"""The judged lists that a fusion method learns from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from rankwell.core.tables import Bools, Floats, Ints, Judgments
from rankwell.core.tables.ranking import Ranking
from rankwell.errors import BadUsage, NothingToEvaluate
from rankwell.transforms.fusion import RunLists

_BLOCK = 16


@dataclass(frozen=True, eq=False)
class Training:
    """Ranks and grades of the judged items in the lists of several runs, for the queries that a
    method learns from.

    lengths: (runs, queries) number of items of each list, 0 where a run lacks the query.
    run, query, rank, grade: (hits,) the judged items in these lists, by run, query and rank; ranks
    from 1.
    judged_query, judged_grade: (rows,) all judgments of the queries.
    """

    lengths: Ints
    run: Ints
    query: Ints
    rank: Ints
    grade: Floats
    judged_query: Ints
    judged_grade: Floats

    @classmethod
    def of(
        cls, rankings: Sequence[Ranking], truth: Judgments, *, depth: int | None = None
    ) -> "Training":
        """The judged lists of all queries of the judgments. depth: number of first items of each
        list that are read.
        """
        lengths, columns = list[Ints](), list[tuple[Ints, Ints, Ints, Floats]]()
        for start in range(0, len(truth.queries), _BLOCK):
            queries = truth.queries[start : start + _BLOCK]
            lists = RunLists.of(rankings, queries, depth=depth)
            lengths.append(lists.lengths)
            rows, grades = list[int](), list[float]()
            for query, (first, last) in zip(queries, pairwise(lists.offsets.tolist()), strict=True):
                judged = truth.rows_of(query)
                graded = dict(zip(truth.items[judged], truth.grades[judged].tolist(), strict=True))
                judged_rows = [row for row in range(first, last) if lists.items[row] in graded]
                rows += judged_rows
                grades += [graded[lists.items[row]] for row in judged_rows]
            row_array, values = np.array(rows, dtype=np.int64), np.array(grades, dtype=np.float64)
            run, hit = np.nonzero(lists.ranks[:, row_array])
            columns.append(
                (
                    run,
                    start + lists.query_of_row[row_array[hit]],
                    lists.ranks[run, row_array[hit]],
                    values[hit],
                )
            )
        run, query, rank, grade = (np.concatenate(parts) for parts in zip(*columns, strict=True))
        order = np.lexsort((rank, query, run))
        return cls(
            np.concatenate(lengths, axis=1),
            run[order],
            query[order],
            rank[order],
            grade[order],
            truth.query_of_row,
            truth.grades,
        )

    def only(self, is_kept: Bools) -> "Training":
        """The same for some of the queries. kept: (queries,)."""
        number = np.cumsum(is_kept) - 1
        rows, judged = is_kept[self.query], is_kept[self.judged_query]
        return replace(
            self,
            lengths=self.lengths[:, is_kept],
            run=self.run[rows],
            query=number[self.query[rows]],
            rank=self.rank[rows],
            grade=self.grade[rows],
            judged_query=number[self.judged_query[judged]],
            judged_grade=self.judged_grade[judged],
        )

    def relevant(self, rel: float) -> "Training":
        """The same with the relevant hits alone. Raises NothingToEvaluate without one, BadUsage for
        a grade from 0 down.
        """
        if not 0 < rel < float("inf"):
            raise BadUsage(f"rel={rel!r}: expected a grade above 0, from which items are relevant.")
        rows = self.grade >= rel
        if not rows.any():
            raise NothingToEvaluate(
                f"no run has a relevant item (grade {rel:g} or more) for any of the "
                f"{self.lengths.shape[1]} training queries; train on other queries, or on more of "
                "them."
            )
        return replace(
            self,
            run=self.run[rows],
            query=self.query[rows],
            rank=self.rank[rows],
            grade=self.grade[rows],
        )

    def count(self, cell: Ints, cells: int, weights: Floats | None = None) -> Floats:
        """The number of hits of each run in each cell, or the sum of their weights. cell: of each
        hit, from 0. Returns (runs, cells).
        """
        runs = len(self.lengths)
        return (
            np.bincount(self.run * cells + cell, weights, minlength=runs * cells)
            .reshape(runs, cells)
            .astype(np.float64)
        )
