"""Measures of the exposure that each list gives to groups of items or to items, against what they should have."""

import math
from collections.abc import Iterator
from itertools import groupby
from typing import Literal, NamedTuple

import numpy as np

from rankwell.core.registry import Scale, measure
from rankwell.core.tables import Floats
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
        wanted = groups.shares(view.about.catalogue("AWRF")).sum(axis=0)
    wanted = wanted / wanted.sum()
    values = np.full(len(view.queries), math.nan)
    for rows, codes in view.blocks(k, len(groups.names)):
        given = (groups.shares(codes) * rank_weights(codes.shape[1], discount, p)[:, None]).sum(axis=1)
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


class QueryExposures(NamedTuple):
    """The exposure that one list gives and the one that it should give. groups: of groups, else of items of the list alone.

    size: the sum of the squares of the exposure that all items should have.
    """

    given: Floats
    expected: Floats
    size: float


def _exposures(view: ItemLists, k: int | None, p: float, by: By, measure_name: str) -> Iterator[QueryExposures]:
    """The exposures of each query, of its groups or of its items.

    Items of one grade should all have the mean exposure of the ranks that they take in a perfect ranking of the catalogue.
    """
    catalogue, grades = view.about.catalogue(measure_name), view.about.judged(measure_name)
    n, groups = len(catalogue), view.about.labels("groups", measure_name) if by == "groups" else None
    of_all = groups.shares(catalogue).sum(axis=0) if groups else None
    for query, listed in zip(view.queries, view.first(k), strict=True):
        codes = listed[listed >= 0]
        weights = rank_weights(len(codes), "geometric", p)
        target, rest = _targets({code: grade for code, grade in grades.get(query, {}).items() if grade > 0}, n, p)
        if groups is None or of_all is None:
            squares = sum(each * each for each in target.values()) + (n - len(target)) * rest * rest
            yield QueryExposures(weights, np.array([target.get(code, rest) for code in codes.tolist()]), squares)
            continue
        own = np.fromiter(target, dtype=np.int64, count=len(target))
        further = np.fromiter(target.values(), dtype=np.float64, count=len(target)) - rest
        expected = rest * of_all + (groups.shares(own) * further[:, None]).sum(axis=0)
        yield QueryExposures((groups.shares(codes) * weights[:, None]).sum(axis=0), expected, float(expected @ expected))


def _targets(grades: dict[int, float], n: int, p: float) -> tuple[dict[int, float], float]:
    """The exposure that each relevant item should have, and that of every other."""
    found: dict[int, float] = {}
    ranked = sorted(grades, key=lambda code: (-grades[code], code))
    for _, level in groupby(ranked, key=grades.__getitem__):
        same = list(level)
        found |= dict.fromkeys(same, _mean_exposure(len(found), len(found) + len(same), p))
    return found, _mean_exposure(len(found), n, p) if n > len(found) else 0.0


def _mean_exposure(start: int, stop: int, p: float) -> float:
    """The mean exposure of the ranks from start + 1 to stop."""
    return 1.0 if p == 1 else (p**start - p**stop) / (1 - p) / (stop - start)


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
    groups = view.about.labels("groups", "EED") if by == "groups" else None
    values = np.zeros(len(view.queries))
    for rows, codes in view.blocks(k, len(groups.names) if groups else 1):
        weights = (codes >= 0) * rank_weights(codes.shape[1], "geometric", p)
        given = weights if groups is None else (groups.shares(codes) * weights[:, :, None]).sum(axis=1)
        values[rows] = (given * given).sum(axis=1)
    return values


@measure("EER", source=_DIAZ, scale=_EXPOSURE._replace(better="higher"), exempt=_TAIL)
def exposure_relevance(view: ItemLists, *, k: int | None = None, p: float = 0.5, by: By = "groups") -> Floats:
    """The relevance of expected exposure: the product of the exposure that groups, or items, have with the one they should have.

    Items of one grade should have the same: the mean exposure of the ranks that they take in a perfect ranking of the catalogue.
    It is not doubled, as it is in the sum EEL = EED - 2 · EER + Σ expected². p, by: as for `EED`.

    >>> import numpy as np
    >>> from rankwell.tasks.beyond.attributes import ItemAttributes
    >>> from rankwell.tasks.beyond.lists import ItemLists
    >>> about = ItemAttributes(items=("a", "b"), in_catalogue=np.ones(2, dtype=bool), grades={"u": {0: 1.0}})
    >>> exposure_relevance(ItemLists(("u",), np.array([[0, 1]]), about), by="items").tolist()
    [1.25]
    """
    found = [float(each.given @ each.expected) for each in _exposures(view, k, p, by, "EER")]
    return np.array(found, dtype=np.float64)


@measure(
    "EEL", source=_DIAZ, scale=_EXPOSURE._replace(better="lower"), exempt=_TAIL | {"empty": "what should have exposure has none"}
)
def exposure_loss(view: ItemLists, *, k: int | None = None, p: float = 0.5, by: By = "groups") -> Floats:
    """The loss of expected exposure: the squared distance of the exposure of groups, or items, from the one they should have.

    EED - 2 · EER + Σ expected²; 0 where every group has what it should have. p, by: as for `EER`.

    >>> import numpy as np
    >>> from rankwell.tasks.beyond.attributes import ItemAttributes
    >>> from rankwell.tasks.beyond.lists import ItemLists
    >>> about = ItemAttributes(items=("a", "b"), in_catalogue=np.ones(2, dtype=bool), grades={"u": {0: 1.0}})
    >>> exposure_loss(ItemLists(("u",), np.array([[1, 0]]), about), by="items").tolist()
    [0.5]
    """
    found = _exposures(view, k, p, by, "EEL")
    return np.array([max(float(each.given @ each.given - 2 * (each.given @ each.expected)) + each.size, 0) for each in found])
