"""Measures of each list by the categories or the vectors of its items: how different they are, and whether they suit a user."""

import math
from typing import Literal

import numpy as np

from rankwell.core.registry import Scale, measure
from rankwell.core.tables import Floats, ratio
from rankwell.tasks.beyond.lists import Discount, ItemLists, check_share, rank_weights

_TAIL = {"unjudged tail": "every item of a list counts, judged or not"}


@measure(
    "ILD",
    source="Castells, Hurley and Vargas 2015, Novelty and diversity in recommender systems; Ziegler and others 2005",
    scale=Scale((0.0, 2.0), "higher", "score", math.nan),
    exempt=_TAIL,
)
def intra_list_diversity(
    view: ItemLists, *, k: int | None = None, by: Literal["categories", "embeddings"] = "categories"
) -> Floats:
    """The mean distance of all pairs of the first `k` items; a query with fewer than two items is not counted.

    by: categories (Jaccard distance, 1 less the share of the categories of both that both have; 0 for two items without any), or
    embeddings (1 less the cosine).

    >>> import numpy as np
    >>> from rankwell.tasks.beyond.attributes import ItemAttributes, ItemLabels
    >>> from rankwell.tasks.beyond.lists import ItemLists
    >>> labels = ItemLabels.of(("a", "b"), {"a": ["war"], "b": ["war", "drama"]})
    >>> intra_list_diversity(ItemLists(("u",), np.array([[0, 1]]), ItemAttributes(items=("a", "b"), categories=labels))).tolist()
    [0.5]
    """
    values = np.full(len(view.queries), math.nan)
    labels = view.about.labels("categories", "ILD") if by == "categories" else None
    vectors = None if labels else view.about.directions("ILD(by='embeddings')")
    width = len(labels.names) if labels else vectors.shape[1] if vectors is not None else 0
    for rows, codes in view.blocks(k, max(width, view.first(k).shape[1])):
        has = labels.has(codes) if labels else np.where(codes[..., None] < 0, 0, vectors[codes] if vectors is not None else 0)
        shared = has @ has.transpose(0, 2, 1)
        if labels:
            sizes = has.sum(axis=-1)
            union = sizes[:, :, None] + sizes[:, None, :] - shared
            distance = np.where(union > 0, 1 - ratio(shared, union), 0)
        else:
            distance = 1 - shared
        kept = codes >= 0
        pairs = np.triu(kept[:, :, None] & kept[:, None, :], 1)
        n = pairs.sum(axis=(1, 2))
        values[rows] = np.where(n > 0, ratio(np.where(pairs, distance, 0).reshape(len(codes), -1).sum(axis=1), n), math.nan)
    return np.clip(values, 0, 2)


@measure(
    "Miscalibration",
    source="Steck 2018, Calibrated recommendations, equations 2, 3, 6 and 7",
    scale=Scale((0.0, math.inf), "lower", "score", math.nan),
    exempt=_TAIL,
)
def miscalibration(
    view: ItemLists, *, k: int | None = None, discount: Discount = "none", p: float = 0.5, alpha: float = 0.01
) -> Floats:
    """The Kullback-Leibler divergence, in nats, of the categories of the first `k` items from those of the user's interactions.

    Σ p(c) · log(p(c) / ((1 - alpha) q(c) + alpha p(c))): p over the items that the query's user interacted with, q over the list;
    an item is divided equally among its categories. discount: weight of a rank in q, as for `Gini`. A query is not counted
    without items, or without interactions with items that have a category.

    >>> import numpy as np
    >>> from rankwell.tasks.beyond.attributes import ItemAttributes, ItemLabels
    >>> from rankwell.tasks.beyond.lists import ItemLists
    >>> labels = ItemLabels.of(("a", "b"), {"a": ["war"], "b": ["drama"]})
    >>> about = ItemAttributes(items=("a", "b"), categories=labels, popularity=np.ones(2, int), histories={"u": np.array([0, 1])})
    >>> miscalibration(ItemLists(("u",), np.array([[1, 0]]), about)).round(6).tolist()
    [0.0]
    """
    check_share("alpha", alpha)
    labels = view.about.labels("categories", "Miscalibration")
    view.about.interactions("Miscalibration")
    values = np.full(len(view.queries), math.nan)
    for rows, codes in view.blocks(k, len(labels.names)):
        listed = (labels.shares(codes) * rank_weights(codes.shape[1], discount, p)[:, None]).sum(axis=1)
        known = np.zeros_like(listed)
        for place, query in enumerate(view.queries[rows]):
            known[place] = labels.shares(view.about.histories.get(query, _NOTHING)).sum(axis=0)
        wanted, got = (ratio(each, each.sum(axis=1, keepdims=True)) for each in (known, listed))
        ratios = ratio(wanted, (1 - alpha) * got + alpha * wanted)
        terms = np.where(wanted > 0, wanted * np.log(np.where(wanted > 0, ratios, 1)), 0)
        defined = (known.sum(axis=1) > 0) & (listed.sum(axis=1) > 0)
        values[rows] = np.where(defined, np.maximum(terms.sum(axis=1), 0), math.nan)
    return values


_NOTHING = np.zeros(0, dtype=np.int64)
