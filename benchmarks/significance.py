"""Paired randomisation test and bootstrap intervals of 20 measures against scipy: python
benchmarks/significance.py [--rounds 3]

6,980 queries and 10,000 resamples, as for MS MARCO dev. `scipy.stats.permutation_test` (paired,
vectorised) is timed on one measure and 1,000 resamples and scaled to all, for it takes them one
after the other; `scipy.stats.bootstrap` (percentile) on one measure. The p values and intervals of
both stand beside each other.
"""

import argparse
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from rankwell.data.tables import Values
from rankwell.stats import summarise
from rankwell.stats.paired_tests import paired_randomisation

QUERIES, MEASURES, RESAMPLES, TIMED = 6_980, 20, 10_000, 1_000


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    from scipy import stats

    rng = np.random.default_rng(5)
    first = rng.beta(0.3, 0.5, (QUERIES, MEASURES))
    other = np.clip(first + rng.normal(0.001, 0.1, first.shape), 0, 1)
    pairs = [(first[:, column].copy(), other[:, column].copy()) for column in range(MEASURES)]

    def ours() -> list[float | None]:
        return paired_randomisation([other - first for first, other in pairs], resamples=RESAMPLES)

    def theirs(resamples: int = TIMED) -> float:
        def statistic(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
            return np.mean(x - y, axis=axis)

        tested: Any = stats.permutation_test(
            pairs[0],
            statistic,
            permutation_type="samples",
            vectorized=True,
            n_resamples=resamples,
            batch=250,
            rng=rng,
        )
        return tested.pvalue

    own, other_times = [], []
    for _ in range(options.rounds):
        own.append(seconds(ours))
        other_times.append(seconds(theirs) * MEASURES * RESAMPLES / TIMED)
    print(
        f"{QUERIES:,} queries, {MEASURES} measures, {RESAMPLES:,} resamples, {options.rounds} "
        "rounds"
    )
    print(f"rankwell, all measures at once  {median(own):8.3f} s")
    print(
        f"scipy.stats.permutation_test    {median(other_times):8.3f} s, scaled from {TIMED:,} "
        "resamples of one measure"
    )
    print(
        "ratio                           "
        f"{median(b / a for a, b in zip(own, other_times, strict=True)):8.0f}"
    )
    print(
        f"p of the first measure          {ours()[0]:.4f} and {theirs(RESAMPLES):.4f}, equal "
        "except for the drawing"
    )
    compare_intervals(first, options.rounds)


def compare_intervals(table: np.ndarray, rounds: int) -> None:
    from scipy import stats

    queries = tuple(f"q{number}" for number in range(QUERIES))
    columns = [
        Values(
            "run",
            f"measure {place}",
            f"measure {place}",
            "share",
            "mean",
            queries,
            table[:, place].copy(),
        )
        for place in range(MEASURES)
    ]

    def theirs() -> tuple[float, float]:
        found = stats.bootstrap(
            (table[:, 0],),
            np.mean,
            vectorized=True,
            n_resamples=RESAMPLES,
            method="percentile",
            batch=250,
            rng=np.random.default_rng(6),
        )
        return found.confidence_interval.low, found.confidence_interval.high

    own, other = [], []
    for _ in range(rounds):
        own.append(seconds(lambda: summarise(columns, resamples=RESAMPLES)))
        other.append(seconds(theirs) * MEASURES)
    row, scipys = summarise(columns, resamples=RESAMPLES)[0], theirs()
    print(f"\nrankwell, bootstrap intervals    {median(own):8.3f} s")
    print(f"scipy.stats.bootstrap           {median(other):8.3f} s, scaled from one measure")
    print(
        "ratio                           "
        f"{median(b / a for a, b in zip(own, other, strict=True)):8.0f}"
    )
    print(
        f"interval of the first measure   {row.ci_low:.4f} to {row.ci_high:.4f} and "
        f"{scipys[0]:.4f} to {scipys[1]:.4f}"
    )


if __name__ == "__main__":
    main()
