"""Measures of each list by the interactions of a training set: how popular its items are, and how
surprising.
"""

import math
from typing import Literal

import numpy as np

from rankwell.data.registry import COUNT, Scale, measure
from rankwell.data.tables import Bools, Floats, ratio
from rankwell.errors import BadUsage
from rankwell.tasks.beyond.lists import ItemLists

_TAIL = {"unjudged tail": "every item of a list counts, judged or not"}


def _mean(values: Floats, is_item: Bools) -> Floats:
    """The mean over the items of each query; NaN without one."""
    sizes = is_item.sum(axis=1)
    return np.where(sizes > 0, ratio((values * is_item).sum(axis=1), sizes), math.nan)


@measure(
    "Novelty",
    source="Zhou and others 2010, Solving the apparent diversity-accuracy dilemma of recommender "
    "systems",
    scale=Scale((0.0, math.inf), "higher", "score", math.nan),
    exempt=_TAIL,
)
def novelty(
    view: ItemLists, *, k: int | None = None, of: Literal["users", "interactions"] = "users"
) -> Floats:
    """The mean self-information of the first `k` items, in bits: -log2 of the share of users who
    interacted with the item.

    Novelty (mean self-information), for recommending items that few users know:

        Novelty@k = mean over the first k items of -log2(users of the item / users)

    An item without interactions, whose self-information is infinite, counts as having one. A query
    without items is not counted. of: share of `users` (inverse user frequency) or of all
    `interactions` (free discovery).

    >>> import numpy as np
    >>> from rankwell.tasks.beyond.lists import ItemAttributes
    >>> from rankwell.tasks.beyond.lists import ItemLists
    >>> attributes = ItemAttributes(items=("a", "b"), popularity=np.array([4, 1]), n_users=8)
    >>> novelty(ItemLists(("u",), np.array([[0, 1]]), attributes)).tolist()
    [2.0]
    """
    codes = view.first(k)
    return _mean(view.attributes.self_information(of, "Novelty")[codes], codes >= 0)


@measure(
    "Popularity",
    source="RecBole 1.2.1, AveragePopularity; Ekstrand and others 2018, All the cool kids, how do "
    "they fit in?",
    scale=COUNT._replace(empty=math.nan),
    aliases="averagepopularity",
    exempt=_TAIL,
)
def popularity(view: ItemLists, *, k: int | None = None) -> Floats:
    """The mean number of users who interacted with each of the first `k` items.

    Average popularity, for how much lists follow the crowd:

        Popularity@k = mean over the first k items of (users of the item)

    A query without items is not counted.

    >>> import numpy as np
    >>> from rankwell.tasks.beyond.lists import ItemAttributes
    >>> from rankwell.tasks.beyond.lists import ItemLists
    >>> attributes = ItemAttributes(items=("a", "b"), popularity=np.array([4, 1]), n_users=8)
    >>> popularity(ItemLists(("u",), np.array([[0, 1]]), attributes)).tolist()
    [2.5]
    """
    counts, codes = view.attributes.interactions("Popularity"), view.first(k)
    return _mean(counts[codes].astype(np.float64), codes >= 0)


@measure(
    "Serendipity",
    source="Ge, Delgado-Battenfeld and Jannach 2010, Beyond accuracy: evaluating recommender "
    "systems by coverage and serendipity",
)
def serendipity(view: ItemLists, *, k: int, head: int | None = None, rel: float = 1) -> Floats:
    """The number of relevant items among the first `k` that are not among the `head` most popular
    items, divided by `k`.

    Serendipity, for unexpected hits:

        Serendipity@k = (relevant items in the first k places, without the most popular ones) / k

    head: number of most popular items, which a user expects without any system; k by default. Among
    items with equally many users, the one whose id comes first in byte order is the more popular.

    >>> import numpy as np
    >>> from rankwell.tasks.beyond.lists import ItemAttributes, QueryItems
    >>> from rankwell.tasks.beyond.lists import ItemLists
    >>> judged = QueryItems.of(["u"], np.array([0, 0]), np.array([0, 1]), np.ones(2))
    >>> attributes = ItemAttributes(items=("a", "b"), popularity=np.array([4, 1]), grades=judged)
    >>> serendipity(ItemLists(("u",), np.array([[0, 1]]), attributes), k=2, head=1).tolist()
    [0.5]
    """
    if head is not None and head < 0:
        raise BadUsage(f"head={head}; expected a number of items, 0 or more.")
    expected = view.attributes.head(k if head is None else head, "Serendipity")
    grades, codes = view.attributes.judged("Serendipity"), view.first(k)
    useful = grades.values_of(view.rows_of(grades), codes) >= rel
    return (useful & (codes >= 0) & ~expected[codes]).sum(axis=1) / k
