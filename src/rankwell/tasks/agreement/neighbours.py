"""Neighbours of a sample of items among all items under several models, as the pairs of lists that agreement measures read."""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rankwell.core.tables import Floats, Ints
from rankwell.core.tables.embeddings import Embeddings
from rankwell.core.views.ranking_pairs import Listed, RankingPairs
from rankwell.errors import BadInput, BadUsage
from rankwell.neighbours import Groups, TopK, ranks_of, search

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Sample:
    """The items that are asked about, none of which is its own neighbour, nor is an item with the same label.

    rows: (queries,) where they stand among the items. items: (items,) the names of all. labels: (items,) or None; None is none.
    """

    rows: Ints
    items: Sequence[str]
    labels: Sequence[Hashable] | None = None

    @classmethod
    def draw(cls, items: Sequence[str], size: int | None, seed: int, labels: Sequence[Hashable] | None = None) -> "Sample":
        """`size` items without replacement, as NumPy's `RandomState(seed).choice` draws them; all in their order for None."""
        if size is None or size >= len(items):
            return cls(np.arange(len(items), dtype=np.int64), items, labels)
        if size < 1 or not 0 <= seed < 1 << 32:
            raise BadUsage(f"{size} samples with the seed {seed}; one sample or more, and a seed from 0 to 4294967295.")
        return cls(np.random.RandomState(seed).choice(len(items), size, replace=False).astype(np.int64), items, labels)

    @property
    def n_items(self) -> int:
        """How many items there are, those that are asked about among them."""
        return len(self.items)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """(queries,) the names of the items that are asked about."""
        rows: list[int] = self.rows.tolist()
        return tuple(self.items[row] for row in rows)

    @cached_property
    def n_candidates(self) -> Ints:
        """(queries,) how many items may be neighbours of each."""
        barred = np.ones(len(self.rows), dtype=np.int64)
        if self.labels is not None:
            alike = Counter(label for label in self.labels if label is not None)
            rows: list[int] = self.rows.tolist()
            barred = np.array([alike.get(self.labels[row], 1) for row in rows], dtype=np.int64)
        return len(self.items) - barred

    @property
    def groups(self) -> Groups | None:
        """The labels as `search` wants them."""
        rows: list[int] = self.rows.tolist()
        return None if self.labels is None else Groups([self.labels[row] for row in rows], self.labels)


@dataclass(frozen=True, eq=False)
class Model:
    """The vectors of all items by one model, in the order that the sample has."""

    name: str
    items: Embeddings
    metric: str

    def nearest(self, sample: Sample, k: int, progress: Progress | None = None) -> TopK:
        """The first k neighbours of each item of the sample. Raises BadInput that names the model and the vector at fault."""
        try:
            return search(
                self._asked(sample),
                self.items,
                k=k,
                metric=self.metric,
                exclude="self",
                groups=sample.groups,
                progress=progress,
            )
        except BadInput as error:
            raise type(error)(f"{self.name}: {error}") from error

    def standing(self, sample: Sample, wanted: Ints, progress: Progress | None = None) -> "Exact":
        """Where other items stand for each item of the sample. wanted: (queries, m) rows of items, -1 for none."""
        found = ranks_of(
            self._asked(sample),
            self.items,
            wanted,
            metric=self.metric,
            exclude="self",
            groups=sample.groups,
            progress=progress,
        )
        return Exact(found.above + found.before + 1, found.scores)

    def _asked(self, sample: Sample) -> Embeddings:
        vectors = self.items.vectors
        in_order = np.array_equal(sample.rows, np.arange(len(vectors)))
        return Embeddings(sample.names, vectors if in_order else vectors[sample.rows])


class Exact(NamedTuple):
    """(queries, m) the rank among all candidates, from 1, 0 where none was asked for, and the similarity."""

    ranks: Ints
    scores: Floats

    def columns(self, start: int, stop: int) -> "Exact":
        """What was asked in some of the columns."""
        return Exact(self.ranks[:, start:stop], self.scores[:, start:stop])


def side_by_side(
    sample: Sample, reference: TopK, candidate: TopK, *, of_candidate: Exact | None = None, of_reference: Exact | None = None
) -> RankingPairs:
    """The view of two models' lists.

    of_candidate: where the candidate's items stand under the reference, a column per place of its list. of_reference: where the
    first items of the reference stand under the candidate; there may be fewer columns than the reference's list has places.
    """
    shape = reference.positions.shape
    ranks, scores = np.zeros(shape, dtype=np.int64), np.full(shape, np.nan)
    if of_reference is not None:
        known = of_reference.ranks.shape[1]
        ranks[:, :known], scores[:, :known] = of_reference.ranks, of_reference.scores
    other = (None, None) if of_candidate is None else (of_candidate.ranks, of_candidate.scores)
    return RankingPairs.from_top_k(
        sample.names,
        Listed(reference.positions, reference.scores, ranks, scores),
        Listed(candidate.positions, candidate.scores, *other),
        n_candidates=sample.n_candidates,
    )


class Teacher:
    """A reference's lists, made once: for every candidate and cut-off.

    depth: how many first places the candidates' lists have. deep: how many the reference's own has, or as many as there are.
    """

    def __init__(self, sample: Sample, model: Model, depth: int, deep: int, progress: Progress | None = None) -> None:
        self.sample, self.model, self.depth = sample, model, depth
        most = int(sample.n_candidates.max())
        self.top = model.nearest(sample, min(deep, most), progress)

    def beside(self, student: Model, *, exact: bool, progress: Progress | None = None) -> tuple[RankingPairs, TopK]:
        """The view of the two models' lists, and the student's. exact: with every item's rank on the other side."""
        top = student.nearest(self.sample, self.depth, progress)
        if not exact:
            return side_by_side(self.sample, self.top, top), top
        of_candidate = self.model.standing(self.sample, top.positions, progress)
        of_reference = student.standing(self.sample, self.top.positions[:, : self.depth], progress)
        return side_by_side(self.sample, self.top, top, of_candidate=of_candidate, of_reference=of_reference), top
