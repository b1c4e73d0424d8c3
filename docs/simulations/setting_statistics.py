"""Writes docs/reference/simulations/settings.md: how often bounds and the set of the best are
right, and how often they find what is there.

    python docs/simulations/setting_statistics.py [--simulations 2000]

It takes some 15 minutes; tests/stats/test_settings.py repeats a part.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np

from rankwell.data.tables import Floats
from rankwell.stats.paired_tests import set_of_best
from rankwell.stats.settings import lower_bound

PAGE = Path(__file__).resolve().parents[1] / "reference" / "simulations" / "settings.md"
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


TEXT = """# Simulations: settings of an engine

How often is `rankwell engine run --sweep` right about the settings that it names? The target of recall is 0.95, with 1,000 queries. 42 settings share 50 queries.
[Live engines](../../guide/engines.md#choose-a-setting) explains the choice.

Written by `python docs/simulations/setting_statistics.py`, from {simulations:,} simulations:

| | % |
| --- | ---: |
"""  # noqa: E501


def main() -> None:
    """Simulates and writes the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--simulations", type=int, default=2000)
    simulations = parser.parse_args().simulations
    rows = [f"| {name} | {100 * share(name, simulations):.1f} |\n" for name in FIGURES]
    PAGE.write_text(TEXT.format(simulations=simulations) + "".join(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
