"""Figures of two whole collections of embeddings, without a value per query: linear CKA, and how hubs crowd neighbourhoods."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rankwell.core.tables import Floats, Ints
from rankwell.errors import BadInput, BadUsage
from rankwell.stats import rounded

_NAN = float("nan")


@dataclass(frozen=True, eq=False)
class Representation:
    """Embeddings of some items by one model, read a block of rows at a time; what one model alone contributes is computed once.

    vectors: (items, dimensions) finite numbers of any real type, also memory-mapped. block: rows in float64 at a time.
    Raises BadInput for an array of another shape.
    """

    vectors: Any
    block: int = 1024

    def __post_init__(self) -> None:
        if len(self.vectors.shape) != 2:
            raise BadInput(f"the embeddings have the shape {self.vectors.shape}; (items, dimensions) is wanted.")

    @cached_property
    def mean(self) -> Floats:
        """(dimensions,) the mean vector. Raises BadInput where it is not finite."""
        total = np.zeros(self.vectors.shape[1])
        for start in range(0, len(self.vectors), self.block):
            total += self.vectors[start : start + self.block].astype(np.float64).sum(axis=0)
        if not np.isfinite(total).all():
            raise BadInput("the embeddings hold NaN or infinite values; leave such items out.")
        return total / max(len(self.vectors), 1)

    def rows(self, start: int, size: int) -> Floats:
        """(rows, dimensions) a block of the vectors less their mean."""
        return self.vectors[start : start + size].astype(np.float64) - self.mean

    @cached_property
    def is_constant(self) -> bool:
        """Whether all vectors are equal, but for what rounding leaves of their differences from the mean."""
        return self.own.first <= 1e-24 * len(self.vectors) * float(self.mean @ self.mean)

    @cached_property
    def own(self) -> "Products":
        """The products of the representation with itself."""
        return _products(self, self)


@dataclass(frozen=True)
class Products:
    """What two Gram matrices K and L of centred vectors have in common, from products of their vectors.

    whole: Σ K_ij L_ij over all i and j. diagonal: Σ K_ii L_ii. first, second: Σ K_ii and Σ L_ii.
    """

    items: int
    whole: float
    diagonal: float
    first: float
    second: float

    @property
    def unbiased(self) -> float:
        """n (n - 3) times the unbiased estimate of Hilbert-Schmidt independence (Song and others 2012, equation 5)."""
        n = self.items
        # Without its diagonal a row of K sums to -K_ii, since the vectors are centred.
        return self.whole - self.diagonal + self.first * self.second / ((n - 1) * (n - 2)) - 2 * self.diagonal / (n - 2)


@dataclass(frozen=True)
class Cka:
    """Linear centred kernel alignment of two representations with 10 significant digits; NaN where it is undefined.

    linear: from 0 to 1, above 0 by chance where there are few items for the dimensions. debiased: 0 in the mean by chance.
    items: the number of items.
    """

    linear: float
    debiased: float
    items: int


def linear_cka(reference: Representation, candidate: Representation) -> Cka:
    """How alike the geometry of the same items is in two spaces, whatever their rotation, scale and number of dimensions.

    Undefined where all vectors of a model are equal; the debiased one also below 4 items, and where an estimate is not positive.
    Time grows with the product of the dimensions, memory with that and one block.
    Raises BadInput where the numbers of items differ.
    Source: Kornblith and others 2019, Similarity of neural network representations revisited; debiased: Nguyen, Raghu and
    Kornblith 2021, after Song and others 2012.
    """
    n = len(reference.vectors)
    if n != len(candidate.vectors):
        raise BadInput(
            f"the reference has {n} items and the candidate {len(candidate.vectors)}; give the same items in one order."
        )
    if n < 2 or reference.is_constant or candidate.is_constant:
        return Cka(_NAN, _NAN, n)
    both = _products(reference, candidate)
    linear = _normalised(both.whole, reference.own.whole, candidate.own.whole)
    debiased = _NAN if n < 4 else _normalised(both.unbiased, reference.own.unbiased, candidate.own.unbiased)
    return Cka(linear, debiased, n)


def _normalised(product: float, first: float, second: float) -> float:
    return rounded(product / math.sqrt(first * second)) if first > 0 and second > 0 else _NAN


def _products(reference: Representation, candidate: Representation) -> Products:
    n, size = len(reference.vectors), min(reference.block, candidate.block)
    cross = np.zeros((reference.vectors.shape[1], candidate.vectors.shape[1]))
    diagonal = first = second = 0.0
    for start in range(0, n, size):
        mine = reference.rows(start, size)
        theirs = mine if candidate is reference else candidate.rows(start, size)
        cross += mine.T @ theirs
        norms = np.einsum("ij,ij->i", mine, mine), np.einsum("ij,ij->i", theirs, theirs)
        diagonal += float(norms[0] @ norms[1])
        first, second = first + float(norms[0].sum()), second + float(norms[1].sum())
    return Products(n, float(np.vdot(cross, cross)), diagonal, first, second)


@dataclass(frozen=True)
class Hubness:
    """How unevenly items are somebody's neighbours. skewness: of the counts, 0 where even; NaN where all counts are equal.

    largest: the count of the most frequent neighbour. never: the share of items that are nobody's neighbour.
    """

    skewness: float
    largest: int
    never: float


def hubness(positions: Ints, n_items: int, *, k: int | None = None) -> Hubness:
    """The skewness of the k-occurrences: how often each of all items stands among the first `k` neighbours of a query.

    positions: (queries, depth) items as numbers, -1 after the end of a list. n_items: how many there are. Only the queries that
    are given count, so that a sample shows fewer hubs than the whole.
    Raises BadUsage for a number of items that a position exceeds.
    Source: Radovanović, Nanopoulos and Ivanović 2010, Hubs in space.
    """
    listed = positions[:, :k]
    listed = listed[listed >= 0]
    if n_items < 1 or listed.max(initial=0) >= n_items:
        raise BadUsage(f"n_items={n_items}: a list holds item {int(listed.max(initial=0))}; count all items.")
    counts = np.bincount(listed, minlength=n_items)
    apart = counts - counts.mean()
    spread = float((apart**2).mean())
    skewness = float((apart**3).mean()) / spread**1.5 if spread > 0 else _NAN
    return Hubness(rounded(skewness), int(counts.max()), float((counts == 0).mean()))
