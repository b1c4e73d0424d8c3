"""The lists that a run retrieves, as codes of items; and the lists of a whole run, taken
together.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from rankwell.data.tables import Floats, Ints
from rankwell.errors import BadUsage
from rankwell.tasks.beyond.attributes import ItemAttributes, QueryItems

Discount = Literal["none", "log", "geometric"]
_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class ItemLists:
    """The first items of some queries.

    queries: ids of the queries.
    codes: (queries, depth) codes of the items, best first; -1 after the end of a list.
    attributes: the catalogue and its items' attributes, which define the codes.
    cache: results that several measures of these lists share.
    """

    needs: ClassVar[str] = "all retrieved items of each query, judged or not"
    command: ClassVar[str] = "beyond"
    queries: tuple[str, ...]
    codes: Ints
    attributes: ItemAttributes
    cache: dict[Any, Any] = field(default_factory=dict[Any, Any])

    def first(self, k: int | None) -> Ints:
        """The first k items of each query."""
        return self.codes[:, :k]

    def rows_of(self, items: QueryItems) -> Ints:
        """The row of each query in a table of items of queries."""
        if id(items) not in self.cache:
            self.cache[id(items)] = items.rows(self.queries)
        return self.cache[id(items)]

    def cells(self, k: int | None) -> tuple[Ints, Ints, Ints]:
        """The first k items one list behind the other: the row, the rank from 0 and the code of
        each.
        """
        if ("cells", k) not in self.cache:
            codes = self.first(k)
            rows, ranks = np.nonzero(codes >= 0)
            self.cache["cells", k] = rows, ranks, codes[rows, ranks]
        return self.cache["cells", k]

    def exposure(self, k: int | None, discount: Discount, p: float) -> Floats:
        """The exposure of each item, as of `ExposureCounts`, in these lists alone."""
        counts = ExposureCounts(self.attributes, [(k, discount)])
        counts.add(self)
        return counts.exposure(k, discount, p)

    def blocks(self, width: int) -> Iterator[tuple[slice, "ItemLists"]]:
        """The lists of some queries at a time, so that `width` numbers for each query fit in
        memory.
        """
        size = max(_CELLS // max(width, 1), 1)
        if size >= len(self.codes):
            yield slice(0, len(self.codes)), self
            return
        for start in range(0, len(self.codes), size):
            rows = slice(start, start + size)
            yield rows, ItemLists(self.queries[rows], self.codes[rows], self.attributes)


class ExposureCounts:
    """Counts of each item in lists that are added block by block, by rank where a discount weighs
    ranks.

    needs: cut-offs and discounts of the measures.

    Counts are integers, so that neither blocks nor the order of lists change a sum.
    """

    def __init__(
        self, attributes: ItemAttributes, needs: Iterable[tuple[int | None, Discount]]
    ) -> None:
        self.attributes = attributes
        self._counts: dict[tuple[int | None, bool], list[Ints]] = {
            (k, name != "none"): [] for k, name in needs
        }
        self._lengths: dict[int | None, Ints] = {
            k: np.zeros(1, dtype=np.int64) for k, _ in self._counts
        }

    def add(self, lists: "ItemLists") -> None:
        """Counts the items of further lists."""
        for k, lengths in self._lengths.items():
            self._lengths[k] = _sum(lengths, np.bincount((lists.first(k) >= 0).sum(axis=1)))
        for (k, by_rank), counts in self._counts.items():
            codes = lists.first(k)
            for rank, codes_at_rank in enumerate(codes.T if by_rank else [codes]):
                item_counts = np.bincount(
                    codes_at_rank[codes_at_rank >= 0], minlength=len(self.attributes.items)
                )
                if rank == len(counts):
                    counts.append(item_counts)
                else:
                    counts[rank] = _sum(counts[rank], item_counts)

    def exposure(self, k: int | None, discount: Discount, p: float) -> Floats:
        """The weights of the ranks that each item has in all lists; items beyond the known ones
        come behind them.
        """
        counts = self._counts[k, discount != "none"]
        weights = rank_weights(len(counts), discount, p)
        total = np.zeros(len(self.attributes.items))
        for weight, item_counts in zip(weights.tolist(), counts, strict=True):
            total = _sum(total, weight * item_counts)
        return total

    def lengths(self, k: int | None) -> Ints:
        """The numbers of lists with 0, 1, 2 and so on items among their first k."""
        return self._lengths[k]

    def evenly(self, k: int | None) -> "ExposureCounts":
        """The counts of lists as long that divide their first k places among the items of the
        catalogue as evenly as they can.
        """
        even = ExposureCounts(self.attributes, [(k, "none")])
        catalogue = self.attributes.catalogue("an even exposure")
        lengths, counts = self.lengths(k), np.zeros(len(self.attributes.items), dtype=np.int64)
        quotient, remainder = divmod(int(lengths @ np.arange(len(lengths))), len(catalogue))
        counts[catalogue] = quotient + (np.arange(len(catalogue)) < remainder)
        even._counts[k, False].append(counts)
        return even


def _sum(longer: NDArray[Any], shorter: NDArray[Any]) -> NDArray[Any]:
    """The sum of two columns, of which one may have further items."""
    if len(longer) < len(shorter):
        longer, shorter = shorter, longer
    total = longer.copy()
    total[: len(shorter)] += shorter
    return total


@dataclass(frozen=True, eq=False)
class ListCollections:
    """The lists of whole runs.

    queries: a name for each collection, for which measures have one value.
    lists: the lists of each collection, or their counts where lists are not kept.
    """

    needs: ClassVar[str] = "all retrieved items of whole runs, judged or not"
    command: ClassVar[str] = "beyond"
    queries: tuple[str, ...]
    lists: tuple[ItemLists | ExposureCounts, ...]

    def exposures(
        self, k: int | None, discount: Discount, p: float
    ) -> Iterator[tuple[ItemAttributes, Floats]]:
        """Of each collection the (items,) exposure of every item: the weights of the ranks that it
        has in all lists.
        """
        for lists in self.lists:
            yield lists.attributes, lists.exposure(k, discount, p)


def rank_weights(depth: int, discount: Discount, p: float) -> Floats:
    """The exposure of each rank: 1; 1 / log2(max(rank, 2)); or p to the power of rank - 1. Raises
    BadUsage.
    """
    check_share("p", p)
    ranks = np.arange(1, depth + 1)
    if discount == "log":
        return 1 / np.log2(np.maximum(ranks, 2))
    return np.power(p, ranks - 1.0) if discount == "geometric" else np.ones(depth)


def check_share(name: str, value: float) -> None:
    """Refuses a parameter that is not above 0 and at most 1. Raises BadUsage."""
    if not 0 < value <= 1:
        raise BadUsage(f"{name}={value:g}; expected a number above 0 and at most 1.")
