"""Measures of the exposure that each list gives to groups of items or to items, against what they
should have.
"""

import math
from typing import Literal, NamedTuple

import numpy as np

from rankwell.data.registry import Scale, measure
from rankwell.data.tables import Floats, Ints, position_in_segment, segment_offsets, sum_by
from rankwell.tasks.beyond.lists import (
    Discount,
    ItemLabels,
    ItemLists,
    LabelSums,
    listed_values,
    rank_weights,
)

By = Literal["groups", "items"]
_TAIL = {"unjudged tail": "every item of a list has exposure, judged or not"}
_DIAZ = (
    "Diaz, Mitra, Ekstrand, Biega and Carterette 2020, Evaluating stochastic rankings with "
    "expected exposure"
)
_EXPOSURE = Scale((0.0, math.inf), "neither", "score")


@measure(
    "AWRF",
    source="Sapiezynski and others 2019, Quantifying the impact of user attention on fair group "
    "representation in ranked lists; "
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
    """1 minus the Jensen-Shannon divergence, in nats, between the actual and the target exposure of
    groups; 1 is fair.

    Attention-weighted rank fairness, for whether groups get the attention that they should get:

        AWRF = 1 - JS(exposure, target)
        JS(a, b) = (KL(a, (a + b) / 2) + KL(b, (a + b) / 2)) / 2, KL(a, b) = Σ a · ln(a / b)

    Items without a group have no exposure. An item of several groups is divided equally among them.
    A query without items of any group is not counted. discount: the exposure of a rank: 1 /
    log2(max(rank, 2)) (`log`), p^(rank - 1) (`geometric`) or 1 (`none`). target: the exposure that
    groups should get: their share of the `catalogue`, or `equal` shares.

    >>> import numpy as np
    >>> from rankwell.tasks.beyond.lists import ItemAttributes, ItemLabels
    >>> from rankwell.tasks.beyond.lists import ItemLists
    >>> groups = ItemLabels.of(("a", "b"), {"a": ["new"], "b": ["old"]})
    >>> attributes = ItemAttributes(
    ...     items=("a", "b"), groups=groups, in_catalogue=np.ones(2, dtype=bool)
    ... )
    >>> attention_weighted_rank_fairness(ItemLists(("u",), np.array([[0, 1]]), attributes)).tolist()
    [1.0]
    """
    groups, n = view.attributes.labels("groups", "AWRF"), len(view.queries)
    sizes = (
        view.attributes.group_sizes("AWRF") if target == "catalogue" else np.ones(len(groups.names))
    )
    if not sizes.any():
        return np.full(n, math.nan)
    exposures, shares = _of_groups(view, k, groups, discount, p), sizes / sizes.sum()
    total = exposures.by_owner(exposures.values, n)
    exposure_shares = exposures.values / total[exposures.owners]
    target_shares = shares[exposures.labels]
    middle = (exposure_shares + target_shares) / 2
    # A group without exposure adds ln 2 times the share that it should have.
    unexposed = np.maximum(shares.sum() - exposures.by_owner(target_shares, n), 0) * math.log(2)
    divergence = (
        exposures.by_owner(
            _divergences(exposure_shares, middle) + _divergences(target_shares, middle), n
        )
        + unexposed
    )
    return np.where(total > 0, 1 - divergence / 2, math.nan)


def _divergences(part: Floats, mixture: Floats) -> Floats:
    """The terms of a Kullback-Leibler divergence in nats; no part is 0 where the whole is not."""
    return part * np.log(np.divide(part, mixture, out=np.ones_like(mixture), where=part > 0))


def _of_groups(
    view: ItemLists, k: int | None, groups: ItemLabels, discount: Discount, p: float
) -> LabelSums:
    """The exposure that each list gives to groups. discount, p: of the ranks."""
    key = "exposure of groups", k, discount, p
    if key not in view.cache:
        owners, ranks, codes = view.cells(k)
        cells = view.cache.get(("groups", k)) or groups.cells(owners, codes)
        view.cache["groups", k] = cells
        view.cache[key] = cells.sums(rank_weights(view.codes.shape[1], discount, p)[ranks])
    return view.cache[key]


class _Exposures(NamedTuple):
    """Sums over all groups or items, of the exposure that each list gives and of the target
    exposure; (queries,) each.

    disparity: sum of the squares of the given exposure.
    relevance: sum of the products of given and target exposure.
    target: sum of the squares of the target exposure.
    """

    disparity: Floats
    relevance: Floats
    target: Floats


def _exposures(view: ItemLists, k: int | None, p: float, by: By, measure_name: str) -> _Exposures:
    """The exposures of groups or of items.

    Items of one grade should all have the mean exposure of the ranks that they take in a perfect
    ranking of the catalogue.
    """
    key = "exposures", k, p, by
    if key not in view.cache:
        compute = _of_items if by == "items" else _of_all_groups
        view.cache[key] = compute(view, k, p, measure_name)
    return view.cache[key]


def _of_items(view: ItemLists, k: int | None, p: float, measure_name: str) -> _Exposures:
    codes, n = view.first(k), len(view.attributes.catalogue(measure_name))
    targets, irrelevant_target = _targets(view, n, p, measure_name)
    squares = sum_by(targets.owners, targets.values * targets.values, len(codes))
    n_irrelevant = n - np.bincount(targets.owners, minlength=len(codes))
    relevant = listed_values(targets.owners, targets.codes, targets.values, codes)
    expected = np.where(relevant > 0, relevant, irrelevant_target[:, None])
    exposures = (codes >= 0) * rank_weights(codes.shape[1], "geometric", p)
    return _Exposures(
        (exposures * exposures).sum(axis=1),
        (exposures * expected).sum(axis=1),
        squares + n_irrelevant * irrelevant_target * irrelevant_target,
    )


def _of_all_groups(view: ItemLists, k: int | None, p: float, measure_name: str) -> _Exposures:
    """Every group should have the exposure of an irrelevant item for each of its items, and
    relevant ones the difference, too.
    """
    groups = view.attributes.labels("groups", measure_name)
    sizes = view.attributes.group_sizes(measure_name)
    n = len(view.queries)
    targets, irrelevant_target = _targets(
        view, len(view.attributes.catalogue(measure_name)), p, measure_name
    )
    exposures = _of_groups(view, k, groups, "geometric", p)
    excess = groups.cells(targets.owners, targets.codes).sums(
        targets.values - irrelevant_target[targets.owners]
    )
    of_irrelevant = (
        exposures.by_owner(exposures.values * sizes[exposures.labels], n) * irrelevant_target
    )
    squares = (
        2 * irrelevant_target[excess.owners] * sizes[excess.labels] + excess.values
    ) * excess.values
    return _Exposures(
        exposures.by_owner(exposures.values * exposures.values, n),
        of_irrelevant + excess.by_owner(excess.values * exposures.at(excess.keys), n),
        irrelevant_target * irrelevant_target * (sizes * sizes).sum() + excess.by_owner(squares, n),
    )


class _Targets(NamedTuple):
    """The exposure that each relevant item should have, ascending by list and item.

    owners: (n,) the row of the item's list.
    codes: (n,) the code of the item.
    values: (n,) the mean exposure of the places that the items of its grade can share.
    """

    owners: Ints
    codes: Ints
    values: Floats


def _targets(view: ItemLists, n: int, p: float, measure_name: str) -> tuple[_Targets, Floats]:
    """The exposures of the relevant items of a catalogue of n, and (queries,) that of every other
    item.
    """
    grades, in_catalogue = view.attributes.judged(measure_name), view.attributes.in_catalogue
    entries, owners = grades.entries(view.rows_of(grades))
    is_relevant = (grades.values[entries] > 0) & (
        True if in_catalogue is None else in_catalogue[grades.codes[entries]]
    )
    entries, owners = entries[is_relevant], owners[is_relevant]
    counts = np.bincount(owners, minlength=len(view.queries))
    order = np.lexsort((-grades.values[entries], owners))
    positions, level = position_in_segment(segment_offsets(counts)), grades.values[entries][order]
    # Relevant items by query and grade: a level begins with another query or another grade.
    starts = np.flatnonzero((positions == 0) | (np.diff(level, prepend=np.inf) != 0))
    sizes = np.diff(starts, append=len(level))
    values = np.empty(len(level))
    values[order] = np.repeat(
        _mean_exposures(positions[starts], positions[starts] + sizes, p), sizes
    )
    irrelevant_target = np.where(
        counts < n, _mean_exposures(counts, np.maximum(n, counts + 1), p), 0.0
    )
    return _Targets(owners, grades.codes[entries], values), irrelevant_target


def _mean_exposures(starts: Ints, stops: Ints, p: float) -> Floats:
    """The mean exposure of the ranks from start + 1 to stop, of each range."""
    if p == 1:
        return np.ones(len(starts))
    return (
        (np.power(p, starts) - np.power(p, stops.astype(np.float64))) / (1 - p) / (stops - starts)
    )


@measure(
    "EED", source=_DIAZ, aliases="ee-d", scale=_EXPOSURE._replace(better="lower"), exempt=_TAIL
)
def exposure_disparity(
    view: ItemLists, *, k: int | None = None, p: float = 0.5, by: By = "groups"
) -> Floats:
    """The disparity of expected exposure: the sum of the squared exposures of groups, or of items.

    Expected exposure disparity, for how unevenly attention is spread:

        EED = Σ(groups) e²
        e: the exposure of the group

    The exposure of a rank is p^(rank - 1), as for a user of rank-biased precision. EED by items
    depends only on the length of a list, unless rankings are drawn at random.

    by: exposure of `groups` or of single `items`.

    >>> import numpy as np
    >>> from rankwell.tasks.beyond.lists import ItemAttributes, ItemLabels
    >>> from rankwell.tasks.beyond.lists import ItemLists
    >>> groups = ItemLabels.of(("a", "b"), {"a": ["new"], "b": ["old"]})
    >>> exposure_disparity(
    ...     ItemLists(("u",), np.array([[0, 1]]), ItemAttributes(items=("a", "b"), groups=groups))
    ... ).tolist()
    [1.25]
    """
    codes = view.first(k)
    if by == "items":
        return ((codes >= 0) * rank_weights(codes.shape[1], "geometric", p) ** 2).sum(axis=1)
    exposures = _of_groups(view, k, view.attributes.labels("groups", "EED"), "geometric", p)
    return exposures.by_owner(exposures.values * exposures.values, len(codes))


@measure(
    "EER", source=_DIAZ, aliases="ee-r", scale=_EXPOSURE._replace(better="higher"), exempt=_TAIL
)
def exposure_relevance(
    view: ItemLists, *, k: int | None = None, p: float = 0.5, by: By = "groups"
) -> Floats:
    """The relevance of expected exposure: the sum of actual times target exposure over groups, or
    over items.

    Expected exposure relevance, for whether relevant groups get attention:

        EER = Σ(groups) e · t
        e, t: the actual and the target exposure of the group

    The target exposure of an item is the mean over the ranks that items of its grade take in a
    perfect ranking of the catalogue. EEL is EED - 2 · EER + Σ t². p, by: as for `EED`.

    >>> import numpy as np
    >>> from rankwell.tasks.beyond.lists import ItemAttributes, QueryItems
    >>> from rankwell.tasks.beyond.lists import ItemLists
    >>> judged = QueryItems.of(["u"], np.array([0]), np.array([0]), np.ones(1))
    >>> attributes = ItemAttributes(
    ...     items=("a", "b"), in_catalogue=np.ones(2, dtype=bool), grades=judged
    ... )
    >>> exposure_relevance(ItemLists(("u",), np.array([[0, 1]]), attributes), by="items").tolist()
    [1.25]
    """
    return _exposures(view, k, p, by, "EER").relevance


@measure(
    "EEL",
    source=_DIAZ,
    scale=_EXPOSURE._replace(better="lower"),
    aliases="ee-l",
    exempt=_TAIL | {"empty": "what should have exposure has none"},
)
def exposure_loss(
    view: ItemLists, *, k: int | None = None, p: float = 0.5, by: By = "groups"
) -> Floats:
    """The loss of expected exposure: the squared distance between actual and target exposure of
    groups, or of items.

    Expected exposure loss, for the distance from fair exposure:

        EEL = Σ(groups) (e - t)²
        e, t: the actual and the target exposure of the group

    EEL is EED - 2 · EER + Σ t², and 0 if every group has its target exposure. p, by: as for `EER`.

    >>> import numpy as np
    >>> from rankwell.tasks.beyond.lists import ItemAttributes, QueryItems
    >>> from rankwell.tasks.beyond.lists import ItemLists
    >>> judged = QueryItems.of(["u"], np.array([0]), np.array([0]), np.ones(1))
    >>> attributes = ItemAttributes(
    ...     items=("a", "b"), in_catalogue=np.ones(2, dtype=bool), grades=judged
    ... )
    >>> exposure_loss(ItemLists(("u",), np.array([[1, 0]]), attributes), by="items").tolist()
    [0.5]
    """
    disparity, relevance, target = _exposures(view, k, p, by, "EEL")
    return np.maximum(disparity - 2 * relevance + target, 0)
