"""The lists that a run retrieves, as codes of items, and those of a whole run taken together; and
what is known of items and queries: interactions, categories, groups and vectors.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import repeat
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankwell.data.tables import (
    Bools,
    Floats,
    Ints,
    positions_by_id,
    segment_offsets,
    sum_by,
    take_segments,
)
from rankwell.errors import BadUsage, flag

Value = TypeVar("Value")
_INTERACTIONS = "the interactions of a training set; name a file of them"


class ItemLabels(NamedTuple):
    """The categories or groups of items.

    names: names of all categories or groups, sorted.
    in_input: (items,) whether the input has the item.
    offsets: (items + 2,) where the labels of each item begin; the last item stands for unknown
        items and has no label.
    labels: (rows,) positions of the labels in `names`.
    """

    names: tuple[str, ...]
    in_input: Bools
    offsets: Ints
    labels: Ints

    @classmethod
    def of(cls, items: Sequence[str], labels: Mapping[str, Iterable[str]]) -> "ItemLabels":
        """The labels of items, each item's once."""
        item_labels = [sorted(set(labels.get(item, ()))) for item in items]
        names = tuple(sorted({name for item_names in labels.values() for name in item_names}))
        columns = positions_by_id(names)
        counts = np.array([*map(len, item_labels), 0], dtype=np.int64)
        flat = np.array(
            [columns[name] for names_of_item in item_labels for name in names_of_item],
            dtype=np.int64,
        )
        return cls(
            names,
            np.array([item in labels for item in items], dtype=np.bool_),
            segment_offsets(counts),
            flat,
        )

    def of_items(self, codes: Ints) -> tuple[Ints, Ints]:
        """The labels of some items, one item behind the other, and where each item's begin; none of
        unknown items.
        """
        none = len(self.offsets) - 2
        rows, starts = take_segments(
            self.offsets, np.where((codes < 0) | (codes >= none), none, codes)
        )
        return self.labels[rows], starts

    def cells(self, owners: Ints, codes: Ints) -> "LabelCells":
        """The labels that the items of each owner have. owners: (entries,) 0 or above. codes:
        (entries,) items.
        """
        labels, starts = self.of_items(codes)
        counts = np.diff(starts)
        rows = np.repeat(np.arange(len(codes)), counts)
        label_keys = owners[rows] * len(self.names) + labels
        size = int(label_keys.max(initial=-1)) + 1
        if size > 16 * len(label_keys):
            keys, cells = np.unique(label_keys, return_inverse=True)
        else:
            is_present = np.zeros(size, dtype=np.bool_)
            is_present[label_keys] = True
            keys, cells = np.flatnonzero(is_present), (np.cumsum(is_present) - 1)[label_keys]
        return LabelCells(keys, cells, rows, counts, max(len(self.names), 1))

    def bits(self, codes: Ints) -> NDArray[np.uint64]:
        """The set of each item's labels, a bit for each label. codes: (…). Returns (…, words)."""
        none = len(self.offsets) - 2
        if codes.size > 2 * (none + 1):
            # Fewer items than places: each item's set once.
            return self.bits(np.arange(none + 1))[
                np.where((codes < 0) | (codes >= none), none, codes)
            ]
        labels, starts = self.of_items(codes.ravel())
        bits = np.zeros((codes.size, self.words), dtype=np.uint64)
        owners = np.repeat(np.arange(codes.size), np.diff(starts))
        np.bitwise_or.at(
            bits, (owners, labels // 64), np.uint64(1) << (labels % 64).astype(np.uint64)
        )
        return bits.reshape(*codes.shape, self.words)

    @property
    def words(self) -> int:
        """The number of words of 64 bits that a set of labels takes."""
        return max(-(-len(self.names) // 64), 1)


class LabelCells(NamedTuple):
    """The pairs of an owner and a label of its items. Only pairs that occur are stored, so that
    memory does not grow with all labels.

    keys: (cells,) owner · n + label of each pair, ascending.
    cell_of_label, rows: (labels of all items,) the cell and the item of each.
    counts: (items,) number of labels of each item.
    n: number of labels, at least 1.
    """

    keys: Ints
    cell_of_label: Ints
    rows: Ints
    counts: Ints
    n: int

    def sums(self, weights: Floats) -> "LabelSums":
        """The sum of the weights of each cell's items. weights: (items,) each is divided equally
        among the labels of its item.
        """
        shares = (weights / np.maximum(self.counts, 1))[self.rows]
        values = sum_by(self.cell_of_label, shares, len(self.keys))
        return LabelSums(self.keys, self.keys // self.n, self.keys % self.n, values)


class LabelSums(NamedTuple):
    """Sums by owner and label, for pairs that occur.

    keys, owners, labels, values: (cells,) the pairs and their sums, ascending by key.
    """

    keys: Ints
    owners: Ints
    labels: Ints
    values: Floats

    def by_owner(self, terms: Floats, n: int) -> Floats:
        """The sum of the terms of each of n owners' cells."""
        return sum_by(self.owners, terms, n)

    def at(self, keys: Ints) -> Floats:
        """The values of some cells, 0 for those that are not there."""
        if not len(self.keys):
            return np.zeros(len(keys))
        positions = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[positions] == keys, self.values[positions], 0.0)


@dataclass(frozen=True, eq=False)
class QueryItems:
    """Items of queries, each with a number: grades, or 1 for every item that a user interacted
    with.

    index: query -> its row.
    offsets: (rows + 2,) where each row begins; the last row stands for other queries and is empty.
    codes: (entries,) codes of the items, ascending in a row.
    values: (entries,) the numbers of the items.
    """

    index: Mapping[str, int]
    offsets: Ints
    codes: Ints
    values: Floats

    @classmethod
    def of(cls, queries: Sequence[str], owners: Ints, codes: Ints, values: Floats) -> "QueryItems":
        """The items of queries, each once, from rows in any order. owners: (entries,) positions in
        `queries`.
        """
        keys = owners * (int(codes.max(initial=0)) + 1) + codes
        if (np.diff(keys) < 0).any():
            order = np.argsort(keys, kind="stable")
            codes, values = codes[order], values[order]
        counts = np.bincount(owners, minlength=len(queries) + 1)
        index = positions_by_id(queries)
        return cls(index, segment_offsets(counts), codes, values.astype(np.float64))

    def rows(self, queries: Iterable[str]) -> Ints:
        """The row of each query."""
        no_row = len(self.offsets) - 2
        return np.fromiter(map(self.index.get, queries, repeat(no_row)), dtype=np.int64)

    def entries(self, rows: Ints) -> tuple[Ints, Ints]:
        """The entries of some rows, one row behind the other, and for each entry the place of its
        row among these.
        """
        positions, starts = take_segments(self.offsets, rows)
        return positions, np.repeat(np.arange(len(rows)), np.diff(starts))

    def values_of(self, rows: Ints, codes: Ints) -> Floats:
        """The number of each listed item, 0 for one that is not there. codes: (rows, k), the shape
        of the result.
        """
        positions, owners = self.entries(rows)
        return listed_values(owners, self.codes[positions], self.values[positions], codes)


def listed_values(owners: Ints, items: Ints, values: Floats, codes: Ints) -> Floats:
    """The value of each listed item, 0 for one without: an array of the shape of `codes`. owners,
    items: (entries,) row and item, both ascending.
    """
    if len(items) <= codes.size:
        item_values = np.zeros(codes.shape)
        entries, ranks = np.nonzero(codes[owners] == items[:, None])
        item_values[owners[entries], ranks] = values[entries]
        return item_values
    stride = int(max(codes.max(initial=0), items.max(initial=0))) + 1
    keys = owners * stride + items
    wanted = np.where(codes < 0, -1, np.arange(len(codes))[:, None] * stride + codes)
    positions = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    return (
        np.where(keys[positions] == wanted, values[positions], 0.0)
        if len(keys)
        else np.zeros(codes.shape)
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class ItemAttributes:
    """The data that measures read beside the lists. Data that were not given are None, and a
    measure that needs them raises an error.

    items: ids of the items of the inputs, sorted; other items have codes after theirs.
    in_catalogue: (items,) whether it may be retrieved.
    popularity: (items,) number of users with an interaction.
    n_users: number of users with any interaction.
    categories, groups: the categories and the groups of items.
    vectors: (items, dimensions) vectors of length 1, NaN where unknown.
    histories: the items that each query's user interacted with.
    grades: the judged items of each query.
    cache: results that are computed once for all lists.
    """

    items: tuple[str, ...]
    in_catalogue: Bools | None = None
    popularity: Ints | None = None
    n_users: int = 0
    categories: ItemLabels | None = None
    groups: ItemLabels | None = None
    vectors: Floats | None = None
    histories: QueryItems | None = None
    grades: QueryItems | None = None
    cache: dict[Any, Any] = field(default_factory=dict[Any, Any])

    @cached_property
    def index(self) -> dict[str, int]:
        """The code of each item."""
        return positions_by_id(self.items)

    @property
    def judged_queries(self) -> Mapping[str, int] | None:
        """The queries that count, in order, each with its row; None where all do."""
        return None if self.grades is None else self.grades.index

    def catalogue(self, measure: str) -> Ints:
        """The items that may be retrieved. Raises BadUsage where they are not known."""
        need = "all items that could be retrieved; name a file of their ids"
        return np.flatnonzero(_required(self.in_catalogue, measure, need, flag("--documents")))

    def interactions(self, measure: str) -> Ints:
        """The popularity of each item. Raises BadUsage where there are no interactions."""
        return _required(self.popularity, measure, _INTERACTIONS, flag("--interactions"))

    def interacted(self, measure: str) -> QueryItems:
        """The items of each user. Raises BadUsage where there are no interactions."""
        return _required(self.histories, measure, _INTERACTIONS, flag("--interactions"))

    def labels(self, by: str, measure: str) -> ItemLabels:
        """The categories or the groups. Raises BadUsage where there are none."""
        labels = self.categories if by == "categories" else self.groups
        option = flag(f"--item-{by}")
        return _required(labels, measure, f"the {by} of items; name a table with them", option)

    def directions(self, measure: str) -> Floats:
        """The vectors of the items, a row each. Raises BadUsage where there are none."""
        option = flag("--item-vectors")
        return _required(self.vectors, measure, "vectors of items; name a file of them", option)

    def judged(self, measure: str) -> QueryItems:
        """The judged items. Raises BadUsage where nothing is judged."""
        need = "judgments; name a file of them"
        return _required(self.grades, measure, need, flag("--qrels"))

    def self_information(self, of: str, measure: str) -> Floats:
        """-log2 of the share of users, or of interactions, that have each item; an item without any
        counts as having one.
        """
        key = "self-information", of
        if key not in self.cache:
            popularity = self.interactions(measure)
            total = self.n_users if of == "users" else int(popularity.sum())
            self.cache[key] = -np.log2(np.maximum(popularity, 1) / max(total, 1))
        return self.cache[key]

    def head(self, n: int, measure: str) -> Bools:
        """Whether each item is among the n most popular; of equally popular items the first ones
        are.
        """
        key = "head", n
        if key not in self.cache:
            popularity = self.interactions(measure)
            is_head = np.zeros(len(popularity), dtype=np.bool_)
            is_head[np.argsort(-popularity, kind="stable")[:n]] = True
            self.cache[key] = is_head
        return self.cache[key]

    def group_sizes(self, measure: str) -> Floats:
        """The number of the catalogue's items in each group; an item of several groups is divided
        equally. Raises BadUsage without groups or a catalogue.
        """
        key = "group sizes"
        if key not in self.cache:
            groups, catalogue = self.labels("groups", measure), self.catalogue(measure)
            sums = groups.cells(np.zeros_like(catalogue), catalogue).sums(np.ones(len(catalogue)))
            sizes = np.zeros(len(groups.names))
            sizes[sums.labels] = sums.values
            self.cache[key] = sizes
        return self.cache[key]


def _required(value: Value | None, measure: str, need: str, option: str) -> Value:
    if value is None:
        raise BadUsage(f"{measure} needs {need} by {option}.")
    return value


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
