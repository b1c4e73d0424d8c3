"""Sign flips and the bootstrap: 6,980 queries, 10,000 resamples, 20 measures in one call, against a
loop and scipy.

    python benchmarks/tests_and_bootstrap.py [--turns 5]

Ours runs whole. The others would take minutes, so they run on a share and are scaled, as the table
says: the loops on one measure and a tenth of the resamples, scipy on one measure and a fiftieth,
ranx (where it is installed) on one and a twentieth, after
its compilation. All take turns in one process; times are the best of the turns.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from rankwell.stats.paired_bootstrap import Differences, paired_bootstrap
from rankwell.stats.paired_tests import max_t, paired_randomisation
from rankwell.stats.system_comparisons import randomised_tukey_hsd

QUERIES, RESAMPLES, MEASURES = 6980, 10_000, 20


def made() -> np.ndarray:
    """(queries, measures) differences of one system from another: most small, many 0."""
    random = np.random.default_rng(0)
    shared = random.laplace(0.002, 0.15, (QUERIES, 1))
    return np.where(
        random.random((QUERIES, MEASURES)) < 0.3,
        0.0,
        shared + random.laplace(0, 0.1, (QUERIES, MEASURES)),
    )


def flip_loop(column: np.ndarray, resamples: int) -> float:
    """The usual code: a vector of signs for each resample."""
    random = np.random.default_rng(1)
    seen = abs(column.mean())
    beyond = 0
    for _ in range(resamples):
        beyond += (
            abs(column @ (random.integers(0, 2, len(column), dtype=np.int8) * 2.0 - 1))
            / len(column)
            >= seen
        )
    return (1 + beyond) / (1 + resamples)


def flip_scipy(column: np.ndarray, resamples: int) -> float:
    """Vectorised, in batches that fit the memory."""
    tested: Any = stats.permutation_test(
        (column,),
        np.mean,
        permutation_type="samples",
        n_resamples=resamples,
        batch=250,
        vectorized=True,
        rng=np.random.default_rng(1),
    )
    return tested.pvalue


def boot_loop(column: np.ndarray, resamples: int) -> tuple[float, float]:
    """A sample with replacement for each resample."""
    random = np.random.default_rng(1)
    means = [column[random.integers(0, len(column), len(column))].mean() for _ in range(resamples)]
    return float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))


def boot_scipy(column: np.ndarray, resamples: int) -> tuple[float, float]:
    """Percentiles, vectorised in batches."""
    found = stats.bootstrap(
        (column,),
        np.mean,
        n_resamples=resamples,
        method="percentile",
        batch=250,
        rng=np.random.default_rng(1),
    ).confidence_interval
    return float(found.low), float(found.high)


def ranx_flips(table: np.ndarray) -> Callable[[], object] | None:
    """ranx's randomisation test of one measure on a twentieth of the resamples, compiled; None
    where it is not installed.
    """
    try:
        from ranx.statistical_tests.fisher import fisher_randomization_test as test
    except ImportError:
        return None
    zeros = np.zeros(QUERIES)
    test(zeros, table[:, 0].copy(), n_permutations=10, max_p=0.05)
    return lambda: test(zeros, table[:, 0].copy(), n_permutations=RESAMPLES // 20, max_p=0.05)


def main() -> None:
    """Lets all take turns and prints the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=5)
    turns = parser.parse_args().turns
    table = made()
    columns = [Differences(column) for column in table.T]
    systems = np.cumsum(np.abs(table[:1000, :6]), axis=1)
    work: dict[str, tuple[Callable[[], object], int]] = {
        "sign flips: rankwell, all at once": (
            lambda: paired_randomisation(list(table.T), resamples=RESAMPLES),
            1,
        ),
        "sign flips: rankwell, with max-T": (lambda: max_t(table, resamples=RESAMPLES), 1),
        "sign flips: a loop": (lambda: flip_loop(table[:, 0], RESAMPLES // 10), 10 * MEASURES),
        "sign flips: scipy.stats.permutation_test": (
            lambda: flip_scipy(table[:, 0], RESAMPLES // 50),
            50 * MEASURES,
        ),
        "bootstrap: rankwell, all at once": (
            lambda: paired_bootstrap(columns, resamples=RESAMPLES),
            1,
        ),
        "bootstrap: a loop": (lambda: boot_loop(table[:, 0], RESAMPLES // 10), 10 * MEASURES),
        "bootstrap: scipy.stats.bootstrap": (
            lambda: boot_scipy(table[:, 0], RESAMPLES // 50),
            50 * MEASURES,
        ),
        "Tukey's HSD: rankwell, 1,000 queries × 6 systems": (
            lambda: randomised_tukey_hsd(systems, resamples=RESAMPLES),
            1,
        ),
    }
    ranx = ranx_flips(table)
    if ranx is not None:
        work["sign flips: ranx, compiled"] = (ranx, 20 * MEASURES)
    best = dict.fromkeys(work, float("inf"))
    for _ in range(turns):
        for name, (run, _scale) in work.items():
            begin = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - begin)
    print(
        f"{QUERIES:,} queries × {RESAMPLES:,} resamples × {MEASURES} measures, best of "
        f"{turns} turns"
    )
    for name, (_, scale) in work.items():
        ours = (
            best[f"{name.split(':')[0]}: rankwell, all at once"]
            if not name.startswith("Tukey")
            else best[name]
        )
        seconds = best[name] * scale
        timed = "whole" if scale == 1 else f"1/{scale} of the work timed: {best[name]:.3f} s"
        print(f"{name:50} {seconds:9.3f} s  {seconds / ours:7.1f}x  ({timed})")


if __name__ == "__main__":
    main()
