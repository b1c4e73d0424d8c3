"""Percentiles of times over queries and rounds, with intervals that resample both."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rankwell.data.tables import Floats
from rankwell.stats import MIN_QUERIES

_CELLS = 1 << 22
_RESAMPLES = 1000
_ENDS = (1 - 0.95) / 2, (1 + 0.95) / 2


class Percentile(NamedTuple):
    """A percentile of times.

    value: one of the times; None where there are none.
    interval: the interval of the value; None for fewer than 10 queries.
    n: number of times.
    """

    value: float | None
    interval: tuple[float, float] | None
    n: int


def percentiles(times: Floats, shares: Sequence[float], *, seed: int = 0) -> list[Percentile]:
    """The percentile of each share: the least time that at least this share of all times do not
    exceed.

    times: (rounds, queries), NaN where there is none. Times of one query are alike, and so are
    those of one round: a resample draws queries and rounds with replacement, and takes every drawn
    query in every drawn round. The 95 % interval is between percentiles of 1,000 resamples.
    Source: Owen 2007, The pigeonhole bootstrap.
    """
    rounds, queries = times.shape
    round_of, query_of = np.nonzero(~np.isnan(times))
    flat = times[round_of, query_of]
    order = np.argsort(flat, kind="stable")
    ordered, round_of, query_of = flat[order], round_of[order], query_of[order]
    n = len(ordered)
    if not n:
        return [Percentile(None, None, 0)] * len(shares)
    values = [float(ordered[max(0, math.ceil(share * n - 1e-9) - 1)]) for share in shares]
    if len(np.unique(query_of)) < MIN_QUERIES:
        return [Percentile(value, None, n) for value in values]
    generator, figures = np.random.Generator(np.random.PCG64(seed)), list[Floats]()
    size = max(1, _CELLS // n)
    for start in range(0, _RESAMPLES, size):
        rows = min(size, _RESAMPLES - start)
        by_round = generator.multinomial(rounds, np.full(rounds, 1 / rounds), rows)
        by_query = generator.multinomial(queries, np.full(queries, 1 / queries), rows)
        reached = np.cumsum(by_round[:, round_of] * by_query[:, query_of], axis=1)
        total = reached[:, -1:]
        positions = np.stack(
            [(reached < np.ceil(share * total - 1e-9)).sum(axis=1) for share in shares], axis=1
        )
        figures.append(np.where(total > 0, ordered[np.minimum(positions, n - 1)], np.nan))
    ends = np.nanquantile(np.concatenate(figures), _ENDS, axis=0, method="inverted_cdf")
    return [
        Percentile(value, (float(low), float(high)), n)
        for value, low, high in zip(values, *ends, strict=True)
    ]
