"""Aggregates of several recalls, such as the sum over both directions, and their bootstrap intervals."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rankwell.conventions import Convention
from rankwell.core.tables import Floats, Values
from rankwell.errors import BadUsage
from rankwell.stats import MIN_QUERIES, Intervals, percentile_interval, resampled_sums
from rankwell.stats.summaries import SummaryRow
from rankwell.tasks.captions.conventions import CaptionConvention


def rsum(recalls: Sequence[float]) -> float:
    """The sum of R@1, R@5 and R@10 of both directions, in their own unit: 600 percent at most. Source: Lee and others 2018, SCAN.

    Raises BadUsage where there is none.
    """
    _check(recalls)
    return math.fsum(recalls)


def geometric_mean(recalls: Sequence[float]) -> float:
    """The geometric mean of R@1, R@5 and R@10 of one direction; 0 where one is 0. Source: Liu and others 2019, Use what you have.

    Raises BadUsage where there is none or one is negative.
    """
    _check(recalls)
    if min(recalls) < 0:
        raise BadUsage(f"a recall of {min(recalls)}; recalls are from 0.")
    return 0.0 if 0 in recalls else math.exp(math.fsum(map(math.log, recalls)) / len(recalls))


def mean_recall(recalls: Sequence[float]) -> float:
    """The mean of R@1, R@5 and R@10, of one direction or of both (`r_mean`). Source: Li and others 2023, LAVIS, itm_eval.

    Raises BadUsage where there is none.
    """
    _check(recalls)
    return math.fsum(recalls) / len(recalls)


def _check(recalls: Sequence[float]) -> None:
    if not recalls:
        raise BadUsage("no recall is given; name at least one, as R@1.")


Aggregate = Callable[[Sequence[float]], float]


def aggregate_interval(
    groups: Sequence[Floats], aggregate: Aggregate, *, resamples: int = 10_000, seed: int = 0, level: float = 0.95
) -> tuple[float, float] | None:
    """The percentile bootstrap interval of an aggregate of means; queries are drawn with replacement.

    groups: for each set of queries (queries, means) the averaged values, in the order in which `aggregate` takes the means.
    Sets of as many queries are drawn alike, for where captions and videos are in pairs the same pair is drawn for both; sets of
    different sizes are drawn apart. None below 10 queries in any set. Source: Efron and Tibshirani 1993, 13.3.
    """
    if not groups or min(map(len, groups)) < MIN_QUERIES:
        return None
    sizes = list(dict.fromkeys(map(len, groups)))
    drawn = {
        n: _means([group for group in groups if len(group) == n], n, resamples, seed + place) for place, n in enumerate(sizes)
    }
    taken = {
        n: iter(np.split(means, _edges([group for group in groups if len(group) == n]), axis=1)) for n, means in drawn.items()
    }
    columns = np.hstack([next(taken[len(group)]) for group in groups])
    return percentile_interval(np.array([aggregate(row) for row in columns.tolist()]), level)


def _edges(groups: Sequence[Floats]) -> list[int]:
    return np.cumsum([group.shape[1] for group in groups])[:-1].tolist()


def _means(groups: Sequence[Floats], n: int, resamples: int, seed: int) -> Floats:
    """(resamples, columns) the means of all columns of sets of n queries that are drawn alike."""
    return resampled_sums(np.hstack(groups), resamples, seed=seed) / n


_RECALLS = tuple(f"Success@{k}" for k in (1, 5, 10))
_AGGREGATES: Mapping[str, Callable[[Sequence[float]], float]] = {"rsum": rsum, "gmean": geometric_mean, "r_mean": mean_recall}
DEFINITIONS = {
    name: {"definition": (function.__doc__ or "").split("\n")[0], "better": "higher"} for name, function in _AGGREGATES.items()
}


Column = tuple[Values, Mapping[str, Any]]
"""The values of one measure in one direction, with the other cells of its summary row."""


def named_aggregates(names: Sequence[str] | None, convention: Convention, which: str) -> tuple[list[str] | None, list[str]]:
    """The measures among the names, and the aggregates: those named, or the convention's where nothing is named.

    Where aggregates are named, the recalls that they are made of are among the measures. which: the requested directions.
    Raises BadUsage for a sum over both directions where only one is requested.
    """
    if names is None:
        rules: CaptionConvention = convention.tasks.get("captions", CaptionConvention())
        return None, [name for name in rules.aggregates if name != "rsum" or which == "both"]
    measures = [name for name in names if name not in _AGGREGATES]
    aggregates = [name for name in names if name in _AGGREGATES]
    if "rsum" in aggregates and which != "both":
        raise BadUsage(f"rsum is the sum over both directions, and only {which} is requested; leave --direction out.")
    word = "R" if convention.words.get("R") == "Success" else "Success"
    return measures + [f"{word}@{k}" for k in (1, 5, 10) if aggregates], aggregates


def aggregate_rows(
    found: Sequence[Column], names: Sequence[str], intervals: Intervals, seed: int
) -> tuple[list[dict[str, Any]], list[str]]:
    """A summary row per aggregate of one run, and notes on those that cannot be computed.

    `rsum` is of both directions together, the other two of each, and `r_mean` of both too. All need R@1, R@5 and R@10.
    Intervals are those of the bootstrap.
    """
    columns: dict[str, dict[str, Column]] = {}
    for values, attributes in found:
        columns.setdefault(attributes["direction"], {})[values.measure] = values, attributes
    recalls = {key: [own[each] for each in _RECALLS] for key, own in columns.items() if all(each in own for each in _RECALLS)}
    if names and len(recalls) < len(columns):
        return [], [f"{', '.join(names)}: these are made of R@1, R@5 and R@10; request all three (-k 1,5,10)"]
    pairs = [("t2v", direction) for direction in recalls if direction != "t2v" and "t2v" in recalls]
    rows: list[dict[str, Any]] = []
    for name in names:
        sets = [] if name == "rsum" else [(direction,) for direction in recalls]
        sets += pairs if name != "gmean" else []
        rows += [_row(name, chosen, [recalls[each] for each in chosen], intervals, seed) for chosen in sets]
    return rows, []


def _row(
    name: str, directions: tuple[str, ...], recalls: Sequence[Sequence[Column]], intervals: Intervals, seed: int
) -> dict[str, Any]:
    aggregate, every = _AGGREGATES[name], [each for group in recalls for each in group]
    # The recalls of one direction count the same queries.
    groups = [np.column_stack([values.values[values.counted] for values, _ in group]) for group in recalls]
    bounds = None if intervals == "none" else aggregate_interval(groups, aggregate, seed=seed)
    low, high = bounds or (None, None)
    first = every[0][0]
    n = sum(len(group) for group in groups)
    mean = aggregate([float(mean) for group in groups for mean in group.mean(axis=0)])
    row = SummaryRow.of(first.run, name, name, mean, None, low, high, n, first.unit)
    levels = {
        level: aggregate([own[level] for _, own in every]) if all(own[level] is not None for _, own in every) else None
        for level in ("ceiling", "chance")
    }
    return row | {"direction": "+".join(directions)} | levels
