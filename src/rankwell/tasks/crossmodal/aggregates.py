"""Aggregates of recalls: rsum, and the geometric and the arithmetic mean, with their intervals."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rankwell.conventions import Convention
from rankwell.data.tables import Floats, Values, exact_means
from rankwell.errors import BadUsage, flag
from rankwell.stats import MIN_QUERIES, SummaryRow, resampled_sums
from rankwell.stats.intervals import percentile_interval
from rankwell.tasks.crossmodal.conventions import CaptionConvention
from rankwell.tasks.crossmodal.measures.recall_sums import GMEAN, R_MEAN, RSUM
from rankwell.tasks.crossmodal.options import CrossmodalOptions

CUTOFFS = (1, 5, 10)


def rsum(recalls: Sequence[float]) -> float:
    """The sum of R@1, R@5 and R@10 of both directions, in their own unit: 600 percent at most.
    Source: Lee and others 2018, SCAN.

    Raises BadUsage where there is none.
    """
    return math.fsum(_some(recalls))


def geometric_mean(recalls: Sequence[float]) -> float:
    """The geometric mean of R@1, R@5 and R@10 of one direction; 0 where one is 0. Source: Liu and
    others 2019, Use what you have.

    Raises BadUsage where there is none or one is negative.
    """
    if min(_some(recalls)) < 0:
        raise BadUsage(f"a recall of {min(recalls)}; recalls are from 0.")
    return 0.0 if 0 in recalls else math.exp(math.fsum(map(math.log, recalls)) / len(recalls))


def mean_recall(recalls: Sequence[float]) -> float:
    """The mean of R@1, R@5 and R@10, of one direction or of both (`r_mean`). Source: Li and others
    2023, LAVIS, itm_eval.

    Raises BadUsage where there is none.
    """
    return math.fsum(_some(recalls)) / len(recalls)


def _some(recalls: Sequence[float]) -> Sequence[float]:
    if not recalls:
        raise BadUsage("no recall is given; name at least one, as R@1.")
    return recalls


Column = tuple[Values, Mapping[str, Any]]
"""The values of one measure in one direction, with the other cells of its summary row."""

RECALLS = tuple(f"Success@{k}" for k in CUTOFFS)
AGGREGATES: Mapping[str, Callable[[Sequence[float]], float]] = {
    "rsum": rsum,
    "gmean": geometric_mean,
    "r_mean": mean_recall,
}
DEFINITIONS = {
    aggregate.name: {
        "definition": aggregate.text,
        "better": aggregate.better,
        "source": aggregate.source,
    }
    for aggregate in (RSUM, GMEAN, R_MEAN)
}


def aggregate_interval(
    groups: Sequence[Floats],
    aggregate: Callable[[Sequence[float]], float],
    *,
    resamples: int = 10_000,
    seed: int = 0,
) -> tuple[float, float] | None:
    """The 95 % percentile bootstrap interval of an aggregate of means; None below 10 queries (Efron
    and Tibshirani 1993, 13.3).

    groups: (queries, means) of each set of queries, in the order of `aggregate`. Sets of as many
    queries are drawn alike, for where captions and videos are in pairs the same pair is drawn for
    both; sets of different sizes are drawn apart.
    """
    if not groups or min(map(len, groups)) < MIN_QUERIES:
        return None
    drawn = {
        n: iter(
            resampled_sums(
                np.hstack([group for group in groups if len(group) == n]),
                resamples,
                seed=seed + number,
            ).T
            / n
        )
        for number, n in enumerate(dict.fromkeys(map(len, groups)))
    }
    means = np.column_stack([next(drawn[len(group)]) for group in groups for _ in group.T])
    return percentile_interval(np.array([aggregate(row) for row in means.tolist()]), 0.95)


def named_aggregates(
    names: Sequence[str] | None, convention: Convention, requested: str
) -> tuple[list[str] | None, list[str]]:
    """The measures among the names, with the recalls of named aggregates, and the aggregates.
    Raises BadUsage.
    """
    sides = requested.split(",")
    is_both = requested == "both" or ("t2v" in sides and len(sides) > 1)
    if names is None:
        rules = convention.rules_of("crossmodal", CaptionConvention())
        return None, [name for name in rules.aggregates if name != "rsum" or is_both]
    measures = [name for name in names if name not in AGGREGATES]
    aggregates = [name for name in names if name in AGGREGATES]
    if "rsum" in aggregates and not is_both:
        raise BadUsage(
            f"rsum is the sum over both directions, and only {requested} is requested; leave "
            f"{flag('--direction')} out."
        )
    word = "R" if convention.words.get("R") == "Success" else "Success"
    return measures + [f"{word}@{k}" for k in CUTOFFS if aggregates], aggregates


def aggregate_row(
    name: str, recalls: Mapping[str, Sequence[Column]], options: CrossmodalOptions
) -> dict[str, Any]:
    """recalls: direction -> R@1, R@5 and R@10."""
    aggregate, low, high = AGGREGATES[name], None, None
    columns = [column for group in recalls.values() for column in group]
    # The recalls of one direction count the same queries.
    groups = [
        np.column_stack([values.values[values.counted] for values, _ in group])
        for group in recalls.values()
    ]
    if options.intervals != "none":
        low, high = aggregate_interval(groups, aggregate, seed=options.seed) or (None, None)
    first, n = columns[0][0], sum(map(len, groups))
    mean = aggregate([mean for group in groups for mean in exact_means(group).tolist()])
    row = SummaryRow.of(first.run, name, name, mean, None, low, high, n, first.unit) | {
        "direction": "+".join(recalls)
    }
    for level in ("ceiling", "chance"):
        levels = [level_of[level] for _, level_of in columns]
        row |= {level: None if None in levels else aggregate(levels)}
    return row
