"""Simulates what docs/statistics.md says of settings: how often bounds and the set of the best are
right, and how often they see.

    python docs/simulations/setting_statistics.py [--simulations 2000]

It takes some 15 minutes; tests/stats/test_settings.py repeats a part.
"""

import argparse
import sys
from collections.abc import Callable

import numpy as np

from rankwell.data.tables import Floats
from rankwell.stats.paired_tests import set_of_best
from rankwell.stats.settings import lower_bound

SETTINGS, QUERIES, GAP = 42, 50, 4.0
"""Settings that are compared, the queries that they share, and the gap of the worse one in standard
errors of the difference.
"""
_SPREAD = 0.15


def recalls(random: np.random.Generator, mean: float, n: int) -> Floats:
    """Recall of 10 items whose chance differs between queries: some lose half of them."""
    return random.binomial(10, random.beta(mean, 1 - mean, n)) / 10


def accepted(random: np.random.Generator, mean: float) -> bool:
    """Whether the bound of 1,000 queries reaches 0.95."""
    return lower_bound(recalls(random, mean, 1000)) >= 0.95


def left(random: np.random.Generator, gap: float) -> bool:
    """Whether a setting leaves the set of the best: any of equal ones, or with a gap the one that
    is worse.
    """
    values = random.normal(0, 0.3, (QUERIES, 1)) + random.normal(0, _SPREAD, (QUERIES, SETTINGS))
    values[:, 7] -= gap * _SPREAD * np.sqrt(2 / QUERIES)
    best = set_of_best(values, resamples=1000, seed=int(random.integers(1 << 31)))
    return not (best[7] if gap else best.all())


FIGURES: dict[str, Callable[[np.random.Generator], bool]] = {
    "recall 0.949, target 0.95: accepted": lambda random: accepted(random, 0.949),
    "recall 0.97, target 0.95: accepted": lambda random: accepted(random, 0.97),
    "42 equal settings: any leaves the set of the best": lambda random: left(random, 0.0),
    "one of 42 is 4 standard errors worse: it leaves the set": lambda random: left(random, GAP),
}


def share(name: str, simulations: int, *, seed: int = 0) -> float:
    """The share of simulations in which a statement of `FIGURES` holds."""
    return (
        sum(FIGURES[name](np.random.default_rng([seed, turn])) for turn in range(simulations))
        / simulations
    )


def main() -> None:
    """Prints the table of the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--simulations", type=int, default=2000)
    simulations = parser.parse_args().simulations
    sys.stdout.write(f"| of {simulations:,} simulations | % |\n| --- | ---: |\n")
    for name in FIGURES:
        sys.stdout.write(f"| {name} | {100 * share(name, simulations):.1f} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
