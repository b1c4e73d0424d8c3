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
                found = [row for row in range(first, last) if lists.items[row] in graded]
                rows += found
                grades += [graded[lists.items[row]] for row in found]
            places, values = np.array(rows, dtype=np.int64), np.array(grades, dtype=np.float64)
            run, hit = np.nonzero(lists.ranks[:, places])
            columns.append(
                (
                    run,
                    start + lists.query_of_row[places[hit]],
                    lists.ranks[run, places[hit]],
                    values[hit],
                )
            )
        run, query, rank, grade = (np.concatenate(each) for each in zip(*columns, strict=True))
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

    def only(self, kept: Bools) -> "Training":
        """The same for some of the queries. kept: (queries,)."""
        number = np.cumsum(kept) - 1
        rows, judged = kept[self.query], kept[self.judged_query]
        return replace(
            self,
            lengths=self.lengths[:, kept],
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
            what = (
                f"no run has a relevant item (grade {rel:g} or more) for any of the "
                f"{self.lengths.shape[1]} training queries"
            )
            raise NothingToEvaluate(f"{what}; train on other queries, or on more of them.")
        return replace(
            self,
            run=self.run[rows],
            query=self.query[rows],
            rank=self.rank[rows],
            grade=self.grade[rows],
        )

    def count(self, cell: Ints, cells: int, weights: Floats | None = None) -> Floats:
        """(runs, cells) the number of hits of each run in each cell, or the sum of their weights.
        cell: (hits,) from 0.
        """
        runs = len(self.lengths)
        return (
            np.bincount(self.run * cells + cell, weights, minlength=runs * cells)
            .reshape(runs, cells)
            .astype(np.float64)
        )
