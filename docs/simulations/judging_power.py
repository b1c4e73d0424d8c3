"""The section of docs/reference/simulations/judging.md on power: which share of a
pool must be judged to find a difference, by design.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from judging_populations import WEIGHTS, K, QueryPopulation, Sample, ours, whole
from rankwell.data.tables import Bools, Floats
from rankwell.stats.intervals import student_quantile
from rankwell.stats.samples import estimate
from statistics_page import table

DESIGNS = ("depth pool", "uniform", "∝ |c|", "ours")
GRID = tuple(round(0.05 * at, 2) for at in range(1, 21))
"""The shares of a pool that are judged."""
THESE, LIKE = 0, 1
TARGET, EDGE, LOWER, RESAMPLES = 0.8, 0.81, 0.7, 1000
"""The power that a study should have. A pair with less than `EDGE` when everything is judged is
compared at `LOWER`, since the share for the target is then a matter of the Monte Carlo error.
"""


class Pair(NamedTuple):
    """A pair of runs, its power with everything judged, and (designs, repetitions, shares, these
    and like, 2) intervals.
    """

    name: str
    difference: float
    power_of_all: float
    bounds: Floats

    @property
    def found(self) -> Floats:
        """(designs, repetitions, shares, these and like) 1 where the interval excludes 0 on the
        side of the difference.
        """
        excluded = self.bounds[..., 0] > 0 if self.difference > 0 else self.bounds[..., 1] < 0
        return excluded.astype(np.float64)

    @property
    def held(self) -> Bools:
        """(designs, repetitions, shares, these and like) whether the interval holds the
        difference.
        """
        return (self.bounds[..., 0] <= self.difference) & (self.difference <= self.bounds[..., 1])


def pairs_of(population: QueryPopulation, repetitions: int) -> Iterator[Pair]:
    """The pairs of runs that differ by about .05, each with the intervals of all designs."""
    for pair in combinations(range(population.ranks.shape[2]), 2):
        own = QueryPopulation(population.name, population.ranks[..., list(pair)], population.gain)
        values = own.truth((0, 1))
        if abs(values.mean()) >= 0.04:
            name = f"runs {pair[0] + 1} and {pair[1] + 1}, {abs(values.mean()):.3f}"
            yield Pair(
                name,
                float(values.mean()),
                power_of_all(values),
                intervals(own, DESIGNS, GRID, repetitions),
            )


def power_of_all(values: Floats, draws: int = 200_000) -> float:
    """The power at 5 %, in per cent, to find a mean difference with as many queries as there are,
    everything judged.
    """
    random, n, power = np.random.default_rng(6), len(values), 0.0
    for _ in range(10):
        totals = values[random.integers(0, n, (draws // 10, n))] * np.sign(values.mean())
        reach = student_quantile(0.95, n - 1) * totals.std(axis=1, ddof=1) / np.sqrt(n)
        power += float((totals.mean(axis=1) > reach).mean()) / 10
    return 100 * power


def intervals(
    population: QueryPopulation,
    designs: Sequence[str],
    grid: Sequence[float],
    repetitions: int,
    seed: int = 7,
) -> Floats:
    """(designs, repetitions, shares, these and like, 2) 95 % intervals of two runs; NaN where there
    is none.

    All designs see the same queries and random numbers. As many queries like these are drawn as the
    population has.
    """
    random, every = np.random.default_rng(seed), whole(population)
    bounds = np.full((len(designs), repetitions, len(grid), 2, 2), np.nan)
    for repetition in range(repetitions):
        like = Sample.of(population, every.n, random)
        these = every._replace(u=random.random(len(every.u)))
        for at, design in enumerate(designs):
            for step, share in enumerate(grid):
                for place, sample in ((THESE, these), (LIKE, like)):
                    bounds[at, repetition, step, place] = _interval(
                        sample, design, round(share * len(sample.u)), place
                    )
    return bounds


def _interval(sample: Sample, design: str, judged: int, place: int) -> tuple[float, float]:
    """The 95 % interval of a design; a depth pool has none for these queries."""
    if design == "depth pool":
        return _of_depth_pool(sample, judged) if place == LIKE else (np.nan, np.nan)
    if design == "ours":
        found = ours(sample, (0, 1), min(judged, sample.deciding))
    else:
        spread = np.abs(WEIGHTS[sample.ranks[:, 1]] - WEIGHTS[sample.ranks[:, 0]])
        items = sample.items(
            (0, 1), judged, np.ones(len(spread)) if design == "uniform" else spread
        )
        found = estimate(items, np.zeros(sample.n))
    return (found.queries_like_these(0.95) if place == LIKE else found.these_queries(0.95)) or (
        np.nan,
        np.nan,
    )


def _of_depth_pool(sample: Sample, judged: int) -> tuple[float, float]:
    """The interval when the best ranks of all queries come first, and unjudged items count as not
    relevant.
    """
    best = np.where(sample.ranks > 0, sample.ranks, K + 1).min(axis=1) + sample.u
    chosen = np.argsort(best)[:judged]
    weight = WEIGHTS[sample.ranks[:, 1]] - WEIGHTS[sample.ranks[:, 0]]
    totals = np.bincount(
        sample.query[chosen], weights=weight[chosen] * sample.gain[chosen], minlength=sample.n
    )
    reach = student_quantile(0.95, sample.n - 1) * totals.std(ddof=1) / np.sqrt(sample.n)
    return float(totals.mean() - reach), float(totals.mean() + reach)


def reached(grid: Sequence[float], power: Floats, target: float = TARGET) -> float:
    """The share at which the power reaches the target, between the points of the grid; NaN where it
    does not.
    """
    above = np.flatnonzero(power >= target)
    if not len(above) or above[0] == 0:
        return grid[0] if len(above) else np.nan
    at = int(above[0])
    low, high = float(power[at - 1]), float(power[at])
    return grid[at - 1] + (grid[at] - grid[at - 1]) * (target - low) / (high - low)


class NeededShare(NamedTuple):
    """A share in per cent, and its Monte Carlo standard error; NaN where some or all repetitions
    have none.
    """

    value: float
    error: float

    def __str__(self) -> str:
        """As in the table."""
        return "–" if np.isnan(self.value + self.error) else f"{self.value:.1f} ± {self.error:.1f}"


def shares_needed(
    grid: Sequence[float], found: Floats, target: float = TARGET
) -> dict[str, NeededShare]:
    """The share at which each design reaches the target, and "ratio", that of ours to that of
    uniform.

    found: (designs, repetitions, shares), a mean over pairs. Errors: a bootstrap over repetitions,
    common to all designs.
    """
    repetitions = found.shape[1]
    draws = (
        np.random.default_rng(10).multinomial(
            repetitions, np.full(repetitions, 1 / repetitions), RESAMPLES
        )
        / repetitions
    )
    shares, spread = {}, {}
    for design, own in zip(DESIGNS, found, strict=True):
        shares[design] = reached(grid, own.mean(axis=0), target)
        spread[design] = np.array([reached(grid, power, target) for power in draws @ own])
    shares["ratio"], spread["ratio"] = (each["ours"] / each["uniform"] for each in (shares, spread))
    return {
        name: NeededShare(100 * share, 100 * float(spread[name].std(ddof=1)))
        for name, share in shares.items()
    }


def _row(name: str, found: Floats, place: int, power: float) -> list[str]:
    """A row of a table of queries like these, where the power with everything judged may be too
    little, or of these queries.
    """
    shares = shares_needed(GRID, found[..., place])
    cells = [str(shares[design]) for design in (*DESIGNS, "ratio")]
    if place == THESE:
        return [name, *cells[1:]]
    return [name, f"{power:.1f}", *(cells if power >= 100 * EDGE else "–" * len(cells))]


def _short_of_power(pairs: Sequence[Pair]) -> Iterator[str]:
    """A sentence on each pair that too few queries are there for."""
    for pair in pairs:
        if pair.power_of_all < 100 * EDGE:
            shares = shares_needed(GRID, pair.found[..., LIKE], LOWER)
            name = pair.name.partition(",")[0].capitalize()
            yield TEXTS["short"].format(
                name, pair.power_of_all, *(shares[each] for each in ("ours", "uniform", "ratio"))
            )


TEXTS = {
    "power": """## Judgments that 80 % power takes

The pairs of runs of Robust03 that differ by about .05 in SDCG@10: the share of their pool, in per cent, at which the 95 %
interval excludes 0 on the right side in 80 % of studies of {} queries. The first row is that of the mean power over the pairs.
{} repetitions; after ± is the Monte Carlo standard error. All designs judge the same queries by the same random numbers, so that
the ratio is more certain than the shares. – is not reached, or hardly before everything is judged.

The goal is that ours takes at most 75 % of uniform's judgments for queries like these, and 65 % for these queries.
""",  # noqa: E501
    "held": """
A depth pool has no interval for these queries. It counts unjudged items as not relevant, so that its intervals hold too seldom:
with 20 and 50 % judged in {:.0f} and {:.0f} % of studies, ours in {:.0f} and {:.0f} %. Its shares do not recommend it.
""",  # noqa: E501
    "short": """
{} have a power of {:.1f} % with everything judged, so that no part of the pool is enough for 80 %; more queries are.
Their intervals for queries like these reach 70 % with {} % judged by ours and {} % by uniform: {} % of uniform's.
""",  # noqa: E501
}
"""The words around the tables."""


def power_section(population: QueryPopulation, repetitions: int) -> str:
    """The section: a table for each kind of interval, and where a pair or a design has no figure to
    be compared.
    """
    pairs = list(pairs_of(population, repetitions))
    pooled = (
        np.mean([pair.found for pair in pairs], axis=0),
        float(np.mean([pair.power_of_all for pair in pairs])),
    )
    rows = [("all pairs", *pooled), *((pair.name, pair.found, pair.power_of_all) for pair in pairs)]
    names, ratio = [name.replace("|", "\\|") for name in DESIGNS], "ours of uniform, %"
    held = 100 * np.mean([pair.held.mean(axis=1)[..., LIKE] for pair in pairs], axis=0)
    at = [GRID.index(share) for share in (0.2, 0.5)]
    parts = [
        TEXTS["power"].format(len(population.gain), f"{repetitions:,}"),
        table(
            ["queries like these", "everything judged: power, %", *names, ratio],
            [_row(name, found, LIKE, power) for name, found, power in rows],
        ),
        table(
            ["these queries", *names[1:], ratio],
            [_row(name, found, THESE, power) for name, found, power in rows],
        ),
        TEXTS["held"].format(
            *held[DESIGNS.index("depth pool")][at], *held[DESIGNS.index("ours")][at]
        ),
        *_short_of_power(pairs),
    ]
    return "\n\n".join(part.strip("\n") for part in parts)
