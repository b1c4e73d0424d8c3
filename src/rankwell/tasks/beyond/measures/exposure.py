"""Measures of the exposure that each list gives to groups of items or to items, against what they should have."""

import math
from typing import Literal, NamedTuple

import numpy as np

from rankwell.core.registry import Scale, measure
from rankwell.core.tables import Floats, Ints, offsets_of, position_in_segment
from rankwell.tasks.beyond.attributes import ItemLabels, listed_values
from rankwell.tasks.beyond.lists import Discount, ItemLists, rank_weights

By = Literal["groups", "items"]
_TAIL = {"unjudged tail": "every item of a list has exposure, judged or not"}
_DIAZ = "Diaz, Mitra, Ekstrand, Biega and Carterette 2020, Evaluating stochastic rankings with expected exposure"
_EXPOSURE = Scale((0.0, math.inf), "neither", "score")


@measure(
    "AWRF",
    source="Sapiezynski and others 2019, Quantifying the impact of user attention on fair group representation in ranked lists; "
    "Raj and Ekstrand 2022, Measuring fairness in ranked results; TREC 2022 Fair Ranking, awrf.py",
    scale=Scale((1 - math.log(2), 1.0), "higher", "score", math.nan),
    exempt=_TAIL,
)
def attention_weighted_rank_fairness(
    view: ItemLists,
    *,
    k: int | None = None,
    discount: Discount = "log",
    p: float = 0.5,
    target: Literal["catalogue", "equal"] = "catalogue",
) -> Floats:
    """1 less the Jensen-Shannon divergence, in nats, of the exposure of groups from the one they should have: 1 is fair.

    The exposure of a rank is 1 / log2(max(rank, 2)) (log), p^(rank - 1) (geometric) or 1 (none); items without a group have none.
    An item of several groups is divided equally among them. target: the groups' shares of the catalogue, or equal ones. A query
    without items of any group is not counted.

    >>> import numpy as np
    >>> from rankwell.tasks.beyond.attributes import ItemAttributes, ItemLabels
    >>> from rankwell.tasks.beyond.lists import ItemLists
    >>> groups = ItemLabels.of(("a", "b"), {"a": ["new"], "b": ["old"]})
    >>> about = ItemAttributes(items=("a", "b"), groups=groups, in_catalogue=np.ones(2, dtype=bool))
    >>> attention_weighted_rank_fairness(ItemLists(("u",), np.array([[0, 1]]), about)).tolist()
    [1.0]
    """
    groups = view.about.labels("groups", "AWRF")
    wanted = np.ones(len(groups.names))
    if target == "catalogue":
        catalogue = view.about.catalogue("AWRF")
        wanted = groups.sums(np.zeros_like(catalogue), catalogue, np.ones(len(catalogue)), 1)[0]
    values = np.full(len(view.queries), math.nan)
    if not wanted.any():
        return values
    wanted = wanted / wanted.sum()
    for rows, block in view.blocks(len(groups.names)):
        given = _of_groups(block, k, groups, discount, p)
        total = given.sum(axis=1, keepdims=True)
        given = given / np.where(total > 0, total, 1)
        middle = (given + wanted) / 2
        values[rows] = np.where(total[:, 0] > 0, 1 - (_divergence(given, middle) + _divergence(wanted, middle)) / 2, math.nan)
    return values


def _divergence(part: Floats, whole: Floats) -> Floats:
    """(queries,) the Kullback-Leibler divergence in nats; no part is 0 where the whole is not."""
    part = np.broadcast_to(part, whole.shape)
    quotient = np.divide(part, whole, out=np.ones_like(whole), where=part > 0)
    return (part * np.log(quotient)).sum(axis=-1)


def _of_groups(view: ItemLists, k: int | None, groups: ItemLabels, discount: Discount, p: float) -> Floats:
    """(queries, groups) the exposure that each list gives to groups. discount, p: of the ranks."""
    key = "exposure of groups", k, discount, p
    if key not in view.cache:
        weights = rank_weights(view.codes.shape[1], discount, p)
        owners, ranks, codes = view.cells(k)
        view.cache[key] = groups.sums(owners, codes, weights[ranks], len(view.queries))
    return view.cache[key]


class QueryExposures(NamedTuple):
    """The exposure that lists give and the one that they should give: (queries, groups), or (queries, k) of the listed items.

    sizes: (queries,) the sum of the squares of the exposure that all groups or items should have.
    """

    given: Floats
    expected: Floats
    sizes: Floats


def _exposures(view: ItemLists, k: int | None, p: float, groups: ItemLabels | None, measure_name: str) -> QueryExposures:
    """The exposures of the groups, or without them of the items.

    Items of one grade should all have the mean exposure of the ranks that they take in a perfect ranking of the catalogue.
    """
    key = "exposures", k, p, groups is None
    if key not in view.cache:
        view.cache[key] = _new_exposures(view, k, p, groups, measure_name)
    return view.cache[key]


def _new_exposures(view: ItemLists, k: int | None, p: float, groups: ItemLabels | None, measure_name: str) -> QueryExposures:
    catalogue, codes = view.about.catalogue(measure_name), view.first(k)
    own, rest = _targets(view, len(catalogue), p, measure_name)
    if groups is None:
        squares = np.bincount(own.owners, weights=own.values * own.values, minlength=len(codes))
        others = len(catalogue) - np.bincount(own.owners, minlength=len(codes))
        relevant = listed_values(own.owners, own.codes, own.values, codes)
        expected = np.where(relevant > 0, relevant, rest[:, None])
        weights = rank_weights(codes.shape[1], "geometric", p)
        return QueryExposures((codes >= 0) * weights, expected, squares + others * rest * rest)
    of_all = groups.sums(np.zeros_like(catalogue), catalogue, np.ones(len(catalogue)), 1)
    expected = rest[:, None] * of_all + groups.sums(own.owners, own.codes, own.values - rest[own.owners], len(codes))
    return QueryExposures(_of_groups(view, k, groups, "geometric", p), expected, (expected * expected).sum(axis=1))


class _Targets(NamedTuple):
    """The exposure that each relevant item should have: its list's row, its code and its value, ascending by row and code."""

    owners: Ints
    codes: Ints
    values: Floats


def _targets(view: ItemLists, n: int, p: float, measure_name: str) -> tuple[_Targets, Floats]:
    """The exposures of the relevant items of a catalogue of n, and (queries,) that of every other item."""
    grades, in_catalogue = view.about.judged(measure_name), view.about.in_catalogue
    entries, owners = grades.entries(grades.rows(view.queries))
    kept = (grades.values[entries] > 0) & (True if in_catalogue is None else in_catalogue[grades.codes[entries]])
    entries, owners = entries[kept], owners[kept]
    counts = np.bincount(owners, minlength=len(view.queries))
    order = np.lexsort((-grades.values[entries], owners))
    places, level = position_in_segment(offsets_of(counts)), grades.values[entries][order]
    # Relevant items by query and grade: a level begins with another query or another grade.
    starts = np.flatnonzero((places == 0) | (np.diff(level, prepend=np.inf) != 0))
    sizes = np.diff(starts, append=len(level))
    values = np.empty(len(level))
    values[order] = np.repeat(_mean_exposures(places[starts], places[starts] + sizes, p), sizes)
    rest = np.where(counts < n, _mean_exposures(counts, np.maximum(n, counts + 1), p), 0.0)
    return _Targets(owners, grades.codes[entries], values), rest


def _mean_exposures(starts: Ints, stops: Ints, p: float) -> Floats:
    """The mean exposure of the ranks from start + 1 to stop, of each range."""
    if p == 1:
        return np.ones(len(starts))
    return (np.power(p, starts) - np.power(p, stops.astype(np.float64))) / (1 - p) / (stops - starts)


@measure("EED", source=_DIAZ, scale=_EXPOSURE._replace(better="lower"), exempt=_TAIL)
def exposure_disparity(view: ItemLists, *, k: int | None = None, p: float = 0.5, by: By = "groups") -> Floats:
    """The disparity of expected exposure: the sum of the squares of the exposure that groups have, or items.

    The exposure of a rank is p^(rank - 1), as of a user of rank-biased precision. By items it depends on the length of a list
    alone unless rankings are drawn at random.

    >>> import numpy as np
    >>> from rankwell.tasks.beyond.attributes import ItemAttributes, ItemLabels
    >>> from rankwell.tasks.beyond.lists import ItemLists
    >>> groups = ItemLabels.of(("a", "b"), {"a": ["new"], "b": ["old"]})
    >>> exposure_disparity(ItemLists(("u",), np.array([[0, 1]]), ItemAttributes(items=("a", "b"), groups=groups))).tolist()
    [1.25]
    """
    codes = view.first(k)
    if by == "items":
        return ((codes >= 0) * rank_weights(codes.shape[1], "geometric", p) ** 2).sum(axis=1)
    groups, values = view.about.labels("groups", "EED"), np.zeros(len(view.queries))
    for rows, block in view.blocks(len(groups.names)):
        given = _of_groups(block, k, groups, "geometric", p)
        values[rows] = (given * given).sum(axis=1)
    return values


@measure("EER", source=_DIAZ, scale=_EXPOSURE._replace(better="higher"), exempt=_TAIL)
def exposure_relevance(view: ItemLists, *, k: int | None = None, p: float = 0.5, by: By = "groups") -> Floats:
    """The relevance of expected exposure: the product of the exposure that groups, or items, have with the one they should have.

    Items of one grade should have the same: the mean exposure of the ranks that they take in a perfect ranking of the catalogue.
    It is not doubled, as it is in the sum EEL = EED - 2 · EER + Σ expected². p, by: as for `EED`.

    >>> import numpy as np
    >>> from rankwell.tasks.beyond.attributes import ItemAttributes, QueryItems
    >>> from rankwell.tasks.beyond.lists import ItemLists
    >>> judged = QueryItems.of(["u"], np.array([0]), np.array([0]), np.ones(1))
    >>> about = ItemAttributes(items=("a", "b"), in_catalogue=np.ones(2, dtype=bool), grades=judged)
    >>> exposure_relevance(ItemLists(("u",), np.array([[0, 1]]), about), by="items").tolist()
    [1.25]
    """
    groups = view.about.labels("groups", "EER") if by == "groups" else None
    values = np.zeros(len(view.queries))
    for rows, block in view.blocks(len(groups.names) if groups else view.codes.shape[1]):
        found = _exposures(block, k, p, groups, "EER")
        values[rows] = (found.given * found.expected).sum(axis=1)
    return values


@measure(
    "EEL", source=_DIAZ, scale=_EXPOSURE._replace(better="lower"), exempt=_TAIL | {"empty": "what should have exposure has none"}
)
def exposure_loss(view: ItemLists, *, k: int | None = None, p: float = 0.5, by: By = "groups") -> Floats:
    """The loss of expected exposure: the squared distance of the exposure of groups, or items, from the one they should have.

    EED - 2 · EER + Σ expected²; 0 where every group has what it should have. p, by: as for `EER`.

    >>> import numpy as np
    >>> from rankwell.tasks.beyond.attributes import ItemAttributes, QueryItems
    >>> from rankwell.tasks.beyond.lists import ItemLists
    >>> judged = QueryItems.of(["u"], np.array([0]), np.array([0]), np.ones(1))
    >>> about = ItemAttributes(items=("a", "b"), in_catalogue=np.ones(2, dtype=bool), grades=judged)
    >>> exposure_loss(ItemLists(("u",), np.array([[1, 0]]), about), by="items").tolist()
    [0.5]
    """
    groups = view.about.labels("groups", "EEL") if by == "groups" else None
    values = np.zeros(len(view.queries))
    for rows, block in view.blocks(len(groups.names) if groups else view.codes.shape[1]):
        given, expected, sizes = _exposures(block, k, p, groups, "EEL")
        values[rows] = np.maximum((given * given - 2 * given * expected).sum(axis=1) + sizes, 0)
    return values
