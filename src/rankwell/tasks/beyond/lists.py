"""The lists that a run retrieves, as codes of items; and the lists of a whole run, taken together."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from rankwell.core.tables import Floats, Ints
from rankwell.errors import BadUsage
from rankwell.tasks.beyond.attributes import ItemAttributes

Discount = Literal["none", "log", "geometric"]
_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class ItemLists:
    """The first items of each query. codes: (queries, depth) items, best first, -1 behind the end of a list."""

    queries: tuple[str, ...]
    codes: Ints
    about: ItemAttributes

    def take(self, queries: Ints) -> "ItemLists":
        """The view of some queries only, in the order given by their indices."""
        return replace(self, queries=tuple(self.queries[place] for place in queries.tolist()), codes=self.codes[queries])

    def first(self, k: int | None) -> Ints:
        """(queries, k or fewer) the first k items."""
        return self.codes[:, :k]

    def blocks(self, k: int | None, width: int) -> Iterator[tuple[slice, Ints]]:
        """The first k items of some queries at a time, so that `width` numbers for each item fit in memory."""
        codes = self.first(k)
        size = max(_CELLS // max(codes.shape[1] * width, 1), 1)
        for start in range(0, len(codes), size):
            yield slice(start, start + size), codes[start : start + size]


@dataclass(frozen=True, eq=False)
class ListCollections:
    """The lists of whole runs. queries: a name for each collection, of which the measures have one value."""

    queries: tuple[str, ...]
    lists: tuple[ItemLists, ...]

    def take(self, queries: Ints) -> "ListCollections":
        """The view of some collections only, in the order given by their indices."""
        chosen = queries.tolist()
        return ListCollections(tuple(self.queries[each] for each in chosen), tuple(self.lists[each] for each in chosen))

    def exposures(self, k: int | None, discount: Discount, p: float) -> Iterator[tuple[ItemAttributes, Floats]]:
        """Of each collection the (items,) exposure of every known item: the weights of the ranks that it has in all lists."""
        for each in self.lists:
            codes = each.first(k)
            weights = np.broadcast_to(rank_weights(codes.shape[1], discount, p), codes.shape)
            kept = codes >= 0
            exposure = np.bincount(codes[kept], weights=weights[kept], minlength=len(each.about.items))
            yield each.about, exposure.astype(np.float64, copy=False)


def rank_weights(depth: int, discount: Discount, p: float) -> Floats:
    """(depth,) the exposure of each rank: 1; 1 / log2(max(rank, 2)); or p to the power of rank - 1. Raises BadUsage."""
    check_share("p", p)
    ranks = np.arange(1, depth + 1)
    if discount == "log":
        return 1 / np.log2(np.maximum(ranks, 2))
    return np.power(p, ranks - 1.0) if discount == "geometric" else np.ones(depth)


def check_share(name: str, value: float) -> None:
    """Refuses a parameter that is not above 0 and at most 1. Raises BadUsage."""
    if not 0 < value <= 1:
        raise BadUsage(f"{name}={value:g}; expected a number above 0 and at most 1.")
