"""Re-ranking by k-reciprocal neighbours: two images are alike where the same others are near
both.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from rankwell.data.tables import (
    Floats,
    Ints,
    offsets_from_rows,
    segment_of_row,
    segment_offsets,
    take_segments,
)
from rankwell.errors import BadUsage
from rankwell.vectors.transforms import (
    Descriptors,
    Matrix,
    Transformed,
    check_whole,
    row_ranges,
    transform,
    unit_rows,
)

_PIECE = 1 << 14


@transform(
    "reciprocal",
    transductive="queries",
    source="Zhong and others 2017, Re-ranking person re-identification with k-reciprocal encoding",
    works_on="reranking",
)
def reciprocal(
    descriptors: Descriptors, *, k1: int = 20, k2: int = 6, weight: float = 0.3
) -> Transformed:
    """Minus a mix of two distances: weight times that of the vectors, the rest times the Jaccard
    distance of their neighbours.

    Neighbours are looked for among queries and references together, so that other queries decide as
    well. As in the published code: distances of vectors are 2 - 2 · cosine over the largest one
    that the query has, the k1 + 1 first neighbours count the image itself, sets are widened by
    those of half as many neighbours of which more than two thirds are shared, and sets are averaged
    over the first k2. Only the neighbours are kept, never a matrix of all by all.
    Raises BadUsage for k1 or k2 below 1 or a weight outside 0 to 1, BadInput for a vector without a
    direction.

    >>> import numpy as np
    >>> from rankwell.vectors.neighbours import search
    >>> descriptors = Descriptors(
    ...     np.array([[1.0, 0.1]]), np.array([[1.0, 0.0], [0.9, 0.3], [0.0, 1.0]]), search
    ... )
    >>> reciprocal(descriptors, k1=2, k2=1).whole().round(2).tolist()
    [[-0.01, -0.03, -1.0]]
    """
    k1, k2 = check_whole("k1", k1), check_whole("k2", k2)
    if not 0 <= weight <= 1:
        raise BadUsage(f"weight={weight!r}: expected a number from 0 to 1.")
    references = unit_rows(descriptors.references, "references")
    queries = unit_rows(descriptors.queries, "queries")
    is_new = descriptors.same < 0
    # A query that is among the references is one image, and would be its own nearest neighbour as
    # two.
    images = np.concatenate([references, queries[is_new].astype(references.dtype)])
    rows = np.where(is_new, len(references) + np.cumsum(is_new) - 1, descriptors.same)
    nearest = _itself_first(descriptors.nearest(images, images, k=max(k1 + 1, k2)).positions)
    farthest = _farthest(images)
    sets = _Sets.of(
        _averaged(_Sets.of(_neighbourhoods(images, nearest, k1, farthest)), nearest[:, :k2])
    )
    columns = sets.transposed(len(images))

    def _read(start: int, stop: int) -> Floats:
        images_of_rows = rows[start:stop]
        overlaps = np.array(
            [_shared(sets, columns, row)[: len(references)] for row in images_of_rows.tolist()]
        )
        overlaps = 1 - overlaps / (2 - overlaps)
        distances = 2 - 2 * np.matmul(images[images_of_rows], references.T, dtype=np.float64)
        return -(
            (1 - weight) * overlaps + weight * distances.clip(0.0) / farthest[images_of_rows, None]
        )

    return Transformed((len(queries), len(references)), _read)


class _Sets(NamedTuple):
    """Weighted sets of images, one set for each image.

    offsets: (images + 1,) where the members of each set begin.
    members: rows of the images, ascending.
    weights: weights of the members, whose sum is 1 in each set.
    """

    offsets: Ints
    members: Ints
    weights: Floats

    @classmethod
    def of(cls, sets: Iterable[tuple[Ints, Floats]]) -> "_Sets":
        """Sets of (members, weights) each."""
        members, weights = zip(*sets, strict=True)
        return cls(
            segment_offsets(np.array(list(map(len, members)), dtype=np.int64)),
            np.concatenate(members),
            np.concatenate(weights),
        )

    def transposed(self, n: int) -> "_Sets":
        """For each image the sets that it is a member of."""
        order = np.argsort(self.members, kind="stable")
        owners = segment_of_row(self.offsets)
        return _Sets(offsets_from_rows(self.members, n), owners[order], self.weights[order])


def _itself_first(nearest: Ints) -> Ints:
    """The lists with each image at the head of its own, where equal vectors may have pushed it back
    or out.
    """
    rows = np.arange(len(nearest))
    order = np.argsort(nearest != rows[:, None], axis=1, kind="stable")
    sorted_lists = np.take_along_axis(nearest, order, axis=1)
    pushed_out = sorted_lists[:, 0] != rows
    sorted_lists[pushed_out, 1:] = sorted_lists[pushed_out, :-1]
    sorted_lists[:, 0] = rows
    return sorted_lists


def _farthest(images: Matrix) -> Floats:
    """The largest distance 2 - 2 · cosine of each image to any; 1 where all are the same."""
    lowest = np.full(len(images), np.inf)
    for rows in row_ranges(images):
        for first in range(0, len(images), _PIECE):
            piece = np.matmul(images[rows], images[first : first + _PIECE].T, dtype=np.float64)
            lowest[rows] = np.minimum(lowest[rows], piece.min(axis=1))
    farthest = 2 - 2 * lowest
    return np.where(farthest > 0, farthest, 1.0)


def _reciprocal_sets(nearest: Ints) -> list[set[int]]:
    """For each image those of its nearest that have it among theirs."""
    sets = list[set[int]]()
    for rows in row_ranges(nearest):
        block, numbers = nearest[rows], np.arange(len(nearest))[rows, None, None]
        mutual = (nearest[block] == numbers).any(axis=2) & (block >= 0)
        sets += [set(row[is_mutual].tolist()) for row, is_mutual in zip(block, mutual, strict=True)]
    return sets


def _neighbourhoods(
    images: Matrix, nearest: Ints, k1: int, farthest: Floats
) -> Iterator[tuple[Ints, Floats]]:
    # Half of an odd number goes to the even side, as NumPy's `around` in the published code has it.
    wide = _reciprocal_sets(nearest[:, : k1 + 1])
    narrow = _reciprocal_sets(nearest[:, : round(k1 / 2) + 1])
    for row, neighbours in enumerate(wide):
        candidates = (narrow[neighbour] for neighbour in neighbours)
        widened = neighbours.union(
            *(others for others in candidates if 3 * len(others & neighbours) > 2 * len(others))
        )
        members = np.array(sorted(widened), dtype=np.int64)
        distances = 2 - 2 * np.matmul(images[members], images[row], dtype=np.float64)
        likeness = np.exp(-distances.clip(0.0) / farthest[row])
        yield members, likeness / likeness.sum()


def _averaged(sets: _Sets, nearest: Ints) -> Iterator[tuple[Ints, Floats]]:
    """The mean set of each image's nearest, the image itself among them."""
    for row in nearest:
        neighbours = row[row >= 0]
        entries, _ = take_segments(sets.offsets, neighbours)
        members, member_rows = np.unique(sets.members[entries], return_inverse=True)
        yield members, np.bincount(member_rows, sets.weights[entries]) / len(neighbours)


def _shared(sets: _Sets, columns: _Sets, row: int) -> Floats:
    """The weight that an image's set shares with that of each other."""
    span = slice(*sets.offsets[row : row + 2].tolist())
    entries, starts = take_segments(columns.offsets, sets.members[span])
    own_weights = np.repeat(sets.weights[span], np.diff(starts))
    shared = np.minimum(own_weights, columns.weights[entries])
    return np.bincount(columns.members[entries], shared, len(sets.offsets) - 1).astype(np.float64)
