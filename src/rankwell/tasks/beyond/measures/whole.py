"""Measures of all lists of a run together: how many items of the catalogue they expose, and how
evenly.
"""

import math
from typing import Literal

import numpy as np

from rankwell.data.registry import Scale, measure
from rankwell.data.tables import Floats
from rankwell.tasks.beyond.lists import Discount, ListCollections

_CASTELLS = (
    "Castells, Hurley and Vargas 2022, Novelty and diversity in recommender systems, section 3"
)
_NONE = math.nan


@measure(
    "ItemCoverage",
    source="Ge, Delgado-Battenfeld and Jannach 2010, Beyond accuracy: evaluating recommender "
    "systems by coverage and serendipity",
    aliases="itemcoverage catalog_coverage",
)
def item_coverage(view: ListCollections, *, k: int | None = None) -> Floats:
    """The share of the catalogue's items that are among the first `k` of at least one list.

    Item coverage, catalogue coverage, for how much of the catalogue is ever recommended:

        ItemCoverage@k = (items in the first k places of any list) / (items of the catalogue)

    >>> import numpy as np
    >>> from rankwell.tasks.beyond.lists import ItemAttributes
    >>> from rankwell.tasks.beyond.lists import ItemLists, ListCollections
    >>> attributes = ItemAttributes(items=("a", "b", "c", "d"), in_catalogue=np.ones(4, dtype=bool))
    >>> item_coverage(
    ...     ListCollections(
    ...         ("run",), (ItemLists(("u1", "u2"), np.array([[0, 1], [1, 0]]), attributes),)
    ...     )
    ... ).tolist()
    [0.5]
    """
    exposures = view.exposures(k, "none", 1.0)
    return np.array(
        [
            (exposure[attributes.catalogue("ItemCoverage")] > 0).mean()
            for attributes, exposure in exposures
        ],
        dtype=np.float64,
    )


@measure(
    "Gini",
    source=_CASTELLS,
    scale=Scale(better="lower", empty=_NONE),
    aliases="giniindex gini_index",
)
def gini(
    view: ListCollections,
    *,
    k: int | None = None,
    discount: Discount = "none",
    p: float = 0.5,
    divisor: Literal["n-1", "n"] = "n-1",
) -> Floats:
    """The Gini index of the exposure of catalogue items: 0 if all get the same exposure, 1 if one
    item gets all of it.

    Gini index, for how concentrated recommendations are:

        Gini = Σ(j=1…n) (2j - n - 1) · share(j) / (n - 1)
        share(j): the share of exposure of the j-th of n items, in ascending order

    divisor: `n-1`, as in the source, or `n`, as in RecBole and LensKit, which never gives 1.
    discount: the exposure of a rank: 1 (`none`), 1 / log2(max(rank, 2)) (`log`), or p^(rank - 1)
    (`geometric`).

    >>> import numpy as np
    >>> from rankwell.tasks.beyond.lists import ItemAttributes
    >>> from rankwell.tasks.beyond.lists import ItemLists, ListCollections
    >>> attributes = ItemAttributes(items=("a", "b", "c"), in_catalogue=np.ones(3, dtype=bool))
    >>> gini(
    ...     ListCollections(
    ...         ("run",), (ItemLists(("u1", "u2"), np.array([[0, 1], [0, 1]]), attributes),)
    ...     )
    ... ).tolist()
    [0.5]
    """
    values: list[float] = []
    for attributes, exposure in view.exposures(k, discount, p):
        shares = np.sort(exposure[attributes.catalogue("Gini")])
        n, total = len(shares), float(shares.sum())
        spread = float(((2 * np.arange(1, n + 1) - n - 1) * shares).sum())
        values.append(spread / total / max(n - 1 if divisor == "n-1" else n, 1) if total else _NONE)
    return np.array(values, dtype=np.float64)


@measure(
    "Entropy",
    source=_CASTELLS,
    scale=Scale((0.0, math.inf), "higher", "score", _NONE),
    aliases="shannonentropy(form='mean')",
)
def entropy(
    view: ListCollections,
    *,
    k: int | None = None,
    discount: Discount = "none",
    p: float = 0.5,
    form: Literal["bits", "nats", "mean"] = "bits",
) -> Floats:
    """The Shannon entropy of item exposure: log2 of the number of items if all get the same, 0 if
    one item gets all of it.

    Shannon entropy, for how evenly recommendations are spread:

        Entropy = -Σ(items) s · log2(s)
        s: the share of exposure of the item

    It needs no catalogue, since items without exposure add nothing. form: in `bits`, in `nats`, or
    the `mean` contribution of an exposed item in nats, which RecBole calls the entropy. discount:
    as for `Gini`.

    >>> import numpy as np
    >>> from rankwell.tasks.beyond.lists import ItemAttributes
    >>> from rankwell.tasks.beyond.lists import ItemLists, ListCollections
    >>> attributes = ItemAttributes(items=("a", "b", "c"))
    >>> entropy(
    ...     ListCollections(
    ...         ("run",), (ItemLists(("u1", "u2"), np.array([[0, 1], [0, 1]]), attributes),)
    ...     )
    ... ).tolist()
    [1.0]
    """
    values: list[float] = []
    for _, exposure in view.exposures(k, discount, p):
        shares = np.sort(exposure[exposure > 0]) / max(exposure.sum(), 1e-300)
        nats = -float((shares * np.log(shares)).sum()) + 0.0
        divisor = {"bits": math.log(2), "nats": 1.0, "mean": float(max(len(shares), 1))}[form]
        values.append(max(nats, 0.0) / divisor if len(shares) else _NONE)
    return np.array(values, dtype=np.float64)
