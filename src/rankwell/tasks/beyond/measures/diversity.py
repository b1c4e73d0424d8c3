"""Measures of each list by the categories or the vectors of its items: how different they are, and
whether they suit a user.
"""

import math
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell.data.registry import Scale, measure
from rankwell.data.tables import Floats, Ints, ratio
from rankwell.tasks.beyond.lists import (
    Discount,
    ItemAttributes,
    ItemLabels,
    ItemLists,
    check_share,
    rank_weights,
)

# Words of all pairs of sets of categories: 16 384 sets of up to 64 categories take about a second.
_PAIRS = 1 << 28
_TAIL = {"unjudged tail": "every item of a list counts, judged or not"}


@measure(
    "ILD",
    source="Castells, Hurley and Vargas 2015, Novelty and diversity in recommender systems; "
    "Ziegler and others 2005",
    scale=Scale((0.0, 2.0), "higher", "score", math.nan),
    exempt=_TAIL,
)
def intra_list_diversity(
    view: ItemLists, *, k: int | None = None, by: Literal["categories", "embeddings"] = "categories"
) -> Floats:
    """The mean distance between all pairs of the first `k` items; a query with fewer than two items
    is not counted.

    Intra-list diversity, for how different the items of one list are:

        ILD@k = mean of d(i, j) over the pairs of the first k items
        d = 1 - |A ∩ B| / |A ∪ B| for their categories A and B, or 1 - cosine

    by: `categories` (Jaccard distance: 1 minus the share of the two items' categories that both
    have; 0 for two items without categories), or `embeddings` (1 minus the cosine).

    >>> import numpy as np
    >>> from rankwell.tasks.beyond.lists import ItemAttributes, ItemLabels
    >>> from rankwell.tasks.beyond.lists import ItemLists
    >>> labels = ItemLabels.of(("a", "b"), {"a": ["war"], "b": ["war", "drama"]})
    >>> intra_list_diversity(
    ...     ItemLists(
    ...         ("u",), np.array([[0, 1]]), ItemAttributes(items=("a", "b"), categories=labels)
    ...     )
    ... ).tolist()
    [0.5]
    """
    sizes = (view.first(k) >= 0).sum(axis=1)
    pairs = sizes * (sizes - 1) / 2
    distances = (
        _category_distances(view, k) if by == "categories" else _angular_distances(view, k, pairs)
    )
    return np.where(pairs > 0, np.clip(ratio(distances, pairs), 0, 2), math.nan)


def _category_distances(view: ItemLists, k: int | None) -> Floats:
    """The sum of the Jaccard distances of all pairs, per query."""
    labels, depth = view.attributes.labels("categories", "ILD"), view.first(k).shape[1]
    totals, few_sets = np.zeros(len(view.queries)), _few_sets(view.attributes, labels)
    for rows, block in view.blocks(depth * labels.words):
        # One rank of all lists behind the other, so that items at a distance are neighbours in
        # memory.
        codes = np.ascontiguousarray(block.first(k).T)
        is_item, sums = codes >= 0, np.zeros(codes.shape[1])
        all_full = bool(is_item.all())
        distances = _by_bits(labels, codes) if few_sets is None else few_sets.of(codes)
        for distance in range(1, depth):
            # Items are at the beginning of a list, so that the later one of a pair decides whether
            # there is one.
            sums += (
                distances(distance) if all_full else distances(distance) * is_item[distance:]
            ).sum(axis=0)
        totals[rows] = sums
    return totals


class _FewSets(NamedTuple):
    """The sets of labels that items have, where these are few.

    sets: (items + 1,) number of the set of each item; the last entry stands for an item without
        labels.
    distances: (n · n,) distances of all pairs of sets.
    n: number of sets.
    """

    sets: NDArray[np.uint16]
    distances: Floats
    n: int

    def of(self, codes: Ints) -> Callable[[int], Floats]:
        """The distances of the items of lists that are so many ranks apart. codes: (depth,
        queries).
        """
        set_of_item = self.sets[
            np.where((codes < 0) | (codes >= len(self.sets)), len(self.sets) - 1, codes)
        ]
        rows = set_of_item * np.uint16(self.n)
        return lambda distance: self.distances.take(rows[distance:] + set_of_item[:-distance])


def _few_sets(attributes: ItemAttributes, labels: ItemLabels) -> _FewSets | None:
    """None where there are more than 255 sets of labels."""
    if "few sets" not in attributes.cache:
        bits = labels.bits(np.arange(len(attributes.items) + 1))
        unique, sets = np.unique(bits, axis=0, return_inverse=True)
        attributes.cache["few sets"] = None
        if len(unique) < 256:
            sizes = np.bitwise_count(unique).sum(axis=-1, dtype=np.int64)
            shared = np.bitwise_count(unique[:, None] & unique).sum(axis=-1, dtype=np.int64)
            distances = _jaccard(shared, sizes[:, None] + sizes - shared)
            attributes.cache["few sets"] = _FewSets(
                sets.ravel().astype(np.uint16), distances.ravel(), len(unique)
            )
    return attributes.cache["few sets"]


def _by_bits(labels: ItemLabels, codes: Ints) -> Callable[[int], Floats]:
    """The distances of the items of lists that are so many ranks apart. codes: (depth, queries)."""
    sets = labels.bits(codes)
    sizes = np.bitwise_count(sets).sum(axis=-1, dtype=np.int64)

    def _apart(ranks: int) -> Floats:
        shared = np.bitwise_count(sets[ranks:] & sets[:-ranks]).sum(axis=-1, dtype=np.int64)
        return _jaccard(shared, sizes[ranks:] + sizes[:-ranks] - shared)

    return _apart


def _jaccard(shared: Ints, union: Ints) -> Floats:
    return np.where(union > 0, 1 - ratio(shared, union), 0.0)


def _angular_distances(view: ItemLists, k: int | None, pairs: Floats) -> Floats:
    """The sum of 1 less the cosine of all pairs, per query: that of all products is half of |sum|²
    less the number of items.
    """
    vectors = view.attributes.directions("ILD(by='embeddings')")
    products = np.zeros(len(view.queries))
    for rows, block in view.blocks(view.first(k).shape[1] * vectors.shape[1]):
        codes = block.first(k)
        vector_sums = np.where(codes[..., None] >= 0, vectors[codes], 0).sum(axis=1)
        products[rows] = ((vector_sums * vector_sums).sum(axis=1) - (codes >= 0).sum(axis=1)) / 2
    return pairs - products


def catalogue_distance(attributes: ItemAttributes, by: str) -> float | None:
    """The mean distance of all pairs of the catalogue's items, None where it is unknown.

    It is unknown for fewer than two items, where an item has no vector or no row of categories, and
    for more than 16 384 different sets of up to 64 categories.
    """
    key = "catalogue distance", by
    if key not in attributes.cache:
        items = attributes.catalogue("ILD")
        distances = _label_distance if by == "categories" else _vector_distance
        total, pairs = distances(attributes, items), len(items) * (len(items) - 1) / 2
        attributes.cache[key] = (
            None if total is None or not pairs else min(max(total / pairs, 0.0), 2.0)
        )
    return attributes.cache[key]


def _label_distance(attributes: ItemAttributes, items: Ints) -> float | None:
    """The sum of the Jaccard distances of all pairs of some items: of their different sets, each as
    often as it is there.
    """
    labels = attributes.labels("categories", "ILD")
    sets, counts = np.unique(labels.bits(items), axis=0, return_counts=True)
    if not labels.in_input[items].all() or sets.size * len(sets) > _PAIRS:
        return None
    sizes, total = np.bitwise_count(sets).sum(axis=1, dtype=np.int64), 0.0
    for row in range(len(sets) - 1):
        later_sets = sets[row + 1 :]
        shared = np.bitwise_count(later_sets & sets[row]).sum(axis=1, dtype=np.int64)
        total += float(
            counts[row]
            * (_jaccard(shared, sizes[row] + sizes[row + 1 :] - shared) * counts[row + 1 :]).sum()
        )
    return total


def _vector_distance(attributes: ItemAttributes, items: Ints) -> float | None:
    """The sum of 1 less the cosine of all pairs of some items."""
    vectors = attributes.directions("ILD(by='embeddings')")
    if np.isnan(vectors[items, 0]).any():
        return None
    in_catalogue, n = np.zeros((len(vectors), 1), dtype=np.bool_), len(items)
    in_catalogue[items] = True
    vector_sum = vectors.sum(axis=0, where=in_catalogue)
    return n * (n - 1) / 2 - (float((vector_sum * vector_sum).sum()) - n) / 2


@measure(
    "Miscalibration",
    source="Steck 2018, Calibrated recommendations, equations 2, 3, 6 and 7",
    scale=Scale((0.0, math.inf), "lower", "score", math.nan),
    exempt=_TAIL,
)
def miscalibration(
    view: ItemLists,
    *,
    k: int | None = None,
    discount: Discount = "none",
    p: float = 0.5,
    alpha: float = 0.01,
) -> Floats:
    """The Kullback-Leibler divergence, in nats, of the categories of the first `k` items from those
    of the user's interactions.

    Miscalibration, for whether lists reflect their users' tastes:

        Miscalibration = Σ(categories c) p(c) · ln(p(c) / ((1 - alpha) · q(c) + alpha · p(c)))
        p(c), q(c): the shares of the category in the interactions and in the list

    An item is divided equally among its categories. A query is not counted if its list or its
    interactions have no item with a category. discount: weight of a rank in q, as for `Gini`.
    alpha: share of p that is mixed into q, so that the divergence is finite.

    >>> import numpy as np
    >>> from rankwell.tasks.beyond.lists import ItemAttributes, ItemLabels, QueryItems
    >>> from rankwell.tasks.beyond.lists import ItemLists
    >>> labels = ItemLabels.of(("a", "b"), {"a": ["war"], "b": ["drama"]})
    >>> seen = QueryItems.of(["u"], np.array([0, 0]), np.array([0, 1]), np.ones(2))
    >>> attributes = ItemAttributes(items=("a", "b"), categories=labels, histories=seen)
    >>> miscalibration(ItemLists(("u",), np.array([[1, 0]]), attributes)).round(6).tolist()
    [0.0]
    """
    check_share("alpha", alpha)
    labels = view.attributes.labels("categories", "Miscalibration")
    histories = view.attributes.interacted("Miscalibration")
    n, (entries, users) = len(view.queries), histories.entries(view.rows_of(histories))
    owners, ranks, codes = view.cells(k)
    has_history = np.isin(owners, users)
    weights = rank_weights(view.codes.shape[1], discount, p)[ranks[has_history]]
    list_sums = labels.cells(owners[has_history], codes[has_history]).sums(weights)
    history_sums = labels.cells(users, histories.codes[entries]).sums(np.ones(len(entries)))
    totals = [sums.by_owner(sums.values, n) for sums in (history_sums, list_sums)]
    wanted = ratio(history_sums.values, totals[0][history_sums.owners])
    list_shares = ratio(list_sums.at(history_sums.keys), totals[1][history_sums.owners])
    terms = wanted * np.log(wanted / ((1 - alpha) * list_shares + alpha * wanted))
    defined = (totals[0] > 0) & (totals[1] > 0)
    return np.where(defined, np.maximum(history_sums.by_owner(terms, n), 0), math.nan)
