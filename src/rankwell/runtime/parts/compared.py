"""Two tables of embeddings compared in parts: what is asked of them becomes comparisons, and their
results the answers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from rankwell._native.matrix_counts import PositiveCounts, Progress
from rankwell.data.matrices import Positives
from rankwell.data.options import NamedProgress, PartOptions, PartOutcome
from rankwell.data.tables import Floats, Ints
from rankwell.runtime.parts import Json
from rankwell.runtime.parts.comparing import PRINT, PartComparison, WantedItems
from rankwell.runtime.parts.execution import PartArrays, arrays_of, run_in_parts, work_folder
from rankwell.vectors.neighbours.positive_counts import ComparedVectors


class Question(NamedTuple):
    """One way to compare tables.

    transposed: whether items are compared with queries, not queries with items.
    grouped: whether items are compared in groups, which are the `positives` of each query.
    order: (items,) or, grouped, (queries,) places among items of equal score; empty for a forecast.
    best: whether only the best positive of each query counts.
    depth: length of the lists that are made besides; 0 for none.
    """

    transposed: bool
    grouped: bool
    order: Ints | None
    best: bool
    depth: int


@dataclass(frozen=True, eq=False)
class CountedVectors(ComparedVectors):
    """Embeddings that were compared in parts. They answer the planned questions and no others.

    positives: the relevant items of each query.
    scores: (pairs,) exact scores of the positives, in the order of the positives.
    questions: the questions that were planned.
    answers: (kind of question, whether transposed) -> arrays that the parts computed.
    """

    positives: Positives
    scores: Floats
    questions: Sequence[Question]
    answers: Mapping[tuple[str, bool], Any]

    def _answer(
        self, name: str, transposed: bool, order: Ints | None, depth: int | None = None
    ) -> Any:
        """The arrays of a question that was asked before the parts were planned."""
        matches = (
            (question.transposed, question.grouped, depth or question.depth)
            == (transposed, name.startswith("group "), question.depth)
            and np.array_equal(question.order, order)  # pyright: ignore[reportArgumentType]
            for question in self.questions
        )
        if not any(matches):
            raise ValueError("this was not asked before the parts were planned")
        return self.answers[name, transposed]

    def count(
        self,
        positives: Positives,
        *,
        transposed: bool,
        best: bool,
        order: Ints | None = None,
        progress: Progress | None = None,
    ) -> PositiveCounts:
        """The counts of a question, which has this order."""
        arrays = self._answer("counts", transposed, order)
        wanted = WantedItems.of(self.positives, self.scores, transposed=transposed, best=best)
        return _reported(
            PositiveCounts(wanted.pairs, wanted.scores[wanted.pairs], *arrays), positives, progress
        )

    def count_groups(
        self, groups: Positives, *, order: Ints | None = None, progress: Progress | None = None
    ) -> PositiveCounts:
        """The counts of a question about groups, which has this order."""
        arrays = self._answer("group counts", True, order)
        counts = PositiveCounts(
            np.flatnonzero(groups.counts),
            groups.best(
                WantedItems.of(self.positives, self.scores, transposed=True, best=False).scores
            ),
            *arrays,
        )
        return _reported(counts, groups, progress)

    def first_items(
        self, depth: int, *, transposed: bool, order: Ints | None = None
    ) -> tuple[Ints, Floats]:
        """The lists of a question, which has this depth and order."""
        return self._answer("lists", transposed, order, depth)

    def first_groups(
        self, groups: Positives, depth: int, *, order: Ints | None = None
    ) -> tuple[Ints, Floats]:
        """The lists of a question about groups, which has this depth and order."""
        positions, scores = self._answer("group lists", True, order, depth)
        return np.flatnonzero(groups.counts)[positions], scores

    def copies(self, *, transposed: bool) -> Ints | None:
        """As in `ComparedScores`, by prints of 128 bits."""
        _, first_rows, print_index = np.unique(
            self.answers["prints", transposed].view(f"V{PRINT}")[:, 0],
            return_index=True,
            return_inverse=True,
        )
        return first_rows[print_index]


def _reported(
    counts: PositiveCounts, positives: Positives, progress: Progress | None
) -> PositiveCounts:
    """Counts that were made before, reported as done."""
    if progress is not None:
        progress(positives.n_queries, positives.n_queries)
    return counts


class _PairSizes(NamedTuple):
    """Numbers of positives.

    n_queries: number of all queries, with and without positives.
    n_some: number of queries with positives.
    most: the largest number of positives of a query, at least 1.
    """

    n_queries: int
    n_some: int
    most: int

    @classmethod
    def of(cls, n_queries: int, owner: Ints) -> "_PairSizes":
        """owner: (pairs,) the query of each pair."""
        # Sorting: there may be many more queries than pairs.
        _, counts = np.unique(owner, return_counts=True)
        return cls(n_queries, len(counts), int(counts.max(initial=1)))


class _Asking:
    """The comparisons that answer questions, in two rounds.

    sides: the tables of the queries and of the items.
    """

    def __init__(self, arrays: PartArrays, sides: tuple[str, str], positives: Positives) -> None:
        self._store = arrays
        self._sides = sides
        self._positives = positives
        self._sizes = (
            _PairSizes.of(positives.n_queries, positives.owner),
            _PairSizes.of(positives.n_items, positives.items),
        )
        self.arrays = dict[str, str]()
        # The comparisons of both rounds, by what they answer and whether sides are exchanged.
        self.first = dict[tuple[str, bool], Json]()
        self.then = dict[tuple[str, bool], Json]()

    def _keep(self, name: str, shape: tuple[int, ...], compute: Callable[[], Ints]) -> str:
        """Keeps an array, or its shape where a forecast needs no more."""
        self.arrays[name] = (
            self._store.outline(shape) if self._store.outlined else self._store.keep(compute())
        )
        return name

    def pairs(self) -> None:
        """Asks for the scores of all pairs; this comes first."""
        positives = self._positives
        pairs = self._keep(
            "positives",
            (2, len(positives.items)),
            lambda: np.stack([positives.owner, positives.items]),
        )
        queries, items = self._sides
        self.first["scores", False] = PartComparison(
            what="scores", items=items, queries=queries, width=self._sizes[0].most, pairs=pairs
        ).json

    def prints(self, *, transposed: bool) -> None:
        """Asks for the prints of the queries, or of the items."""
        self.first["prints", transposed] = PartComparison(
            what="prints", items=self._sides[transposed]
        ).json

    def ask(self, name: str, question: Question) -> None:
        """Asks a question. name: for its arrays."""
        transposed = question.transposed
        order = question.order
        sizes = self._sizes[transposed]
        queries, items = self._sides[::-1] if transposed else self._sides
        array_names = dict[str, str]()
        rows = dict[str, str]()

        def _answered() -> Ints:
            right = self._positives.transposed if transposed else self._positives
            return np.flatnonzero(right.counts)

        def _members() -> Ints:
            right = self._positives.transposed if transposed else self._positives
            number = np.cumsum(right.counts > 0) - 1
            return np.stack([number[right.owner], right.items])

        if question.grouped:
            shape = 2, len(self._positives.items)
            array_names["members"] = self._keep(f"{name} members", shape, _members)
            if sizes.n_some < sizes.n_queries:
                rows["rows"] = self._keep(f"{name} queries", (sizes.n_some,), _answered)
            if order is not None:
                array_names["places"] = self._keep(
                    f"{name} order", (sizes.n_some,), lambda: order[_answered()]
                )
        elif order is not None:
            array_names["places"] = self._keep(
                f"{name} order", (self._sizes[not transposed].n_queries,), lambda: order
            )
        key = "group " * question.grouped
        if question.depth:
            self.first[f"{key}lists", transposed] = PartComparison(
                what="lists", items=items, queries=queries, width=question.depth, **array_names
            ).json
        counts = PartComparison(
            what="counts",
            items=items,
            queries=queries,
            width=1 if question.best or question.grouped else sizes.most,
            **array_names,
            **rows,
        )
        self.then[f"{key}counts", transposed] = {
            "comparison": counts.json,
            "of": 0,
            "transposed": transposed,
            "best": question.best and not question.grouped,
        }


def compare_in_parts(
    compared: ComparedVectors,
    places: Mapping[str, Any],
    positives: Positives,
    questions: Mapping[str, Question],
    *,
    prints: tuple[bool, bool],
    parts: PartOptions,
    command: str,
    progress: NamedProgress | None,
) -> PartOutcome:
    """The answers to questions about two tables, as `CountedVectors`. prints: whether equal
    queries, and items, are looked for.

    places: of the two tables by name, None for one in memory. positives: the items of each query,
    not transposed. Raises as `run_in_parts` and `neighbours.search` do.
    """
    with (
        work_folder(replace(parts, work=None) if parts.dry_run else parts) as storage,
        arrays_of(storage, outlined=parts.dry_run) as arrays,
    ):
        tables = {
            name: arrays.table(table, file)
            for (name, file), table in zip(
                places.items(), (compared.queries, compared.items), strict=True
            )
        }
        first, second = tables
        asking = _Asking(arrays, (first, second), positives)
        asking.pairs()
        for transposed in (False, True):
            if prints[transposed]:
                asking.prints(transposed=transposed)
        for name, question in questions.items():
            asking.ask(name, question)
        options = {
            "metric": compared.metric,
            "tables": {name: list(table) for name, table in tables.items()},
            "arrays": asking.arrays,
            "first": list(asking.first.values()),
            "then": list(asking.then.values()),
        }
        outcome = run_in_parts(
            "counts",
            options,
            parts if parts.dry_run else replace(parts, work=storage.name),
            command,
            progress,
        )
    if outcome.result is None:
        return outcome
    answers = dict(zip([*asking.first, *asking.then], outcome.result, strict=True))
    counted = CountedVectors(
        compared.queries,
        compared.items,
        compared.metric,
        positives,
        answers.pop(("scores", False)),
        tuple(questions.values()),
        answers,
    )
    return outcome._replace(result=counted)
