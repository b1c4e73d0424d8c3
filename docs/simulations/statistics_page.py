"""Writes docs/reference/simulations/statistics.md: how well intervals, tests and corrections hold,
by simulation.

    python docs/simulations/statistics_page.py [--simulations 4000]

The simulations take some minutes; tests/stats/test_statistics_page.py repeats a part of them and
compares.
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from rankwell.data.tables import Floats, Values
from rankwell.stats import Intervals, summarise
from rankwell.stats.intervals import skew_of
from rankwell.stats.paired_bootstrap import Differences, paired_bootstrap
from rankwell.stats.paired_tests import (
    max_t,
    minimal_detectable_difference,
    paired_randomisation,
    paired_t,
    sign_test,
    wilcoxon,
)
from rankwell.stats.system_comparisons import benjamini_hochberg, holm, randomised_tukey_hsd

PAGE = Path(__file__).resolve().parents[1] / "reference" / "simulations" / "statistics.md"
SIZES = (10, 15, 20, 30, 50, 100, 200)
NULL_SIZES = (10, 20, 50, 200)
_BATCH = 250

Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]


class Population(NamedTuple):
    """A population of values of one query, or of differences, with its mean. unit: differences have
    none.
    """

    draw: Draw
    mean: float
    unit: Literal["share", "rank", "count"] | None = "share"


def graded(random: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Values like those of nDCG@10: a quarter 0, a tenth 1, the rest between. Mean 0.1 + 0.65 · 1.5
    / 2.7.
    """
    return mixture(0.25, 0.1, 1.5, 1.2).draw(random, shape)


def mixture(zeros: float, ones: float, a: float, b: float) -> Population:
    """A share of zeros, a share of ones, and beta variates."""

    def draw(random: np.random.Generator, shape: tuple[int, int]) -> Floats:
        kind = random.random(shape)
        return np.where(kind < zeros, 0.0, np.where(kind > 1 - ones, 1.0, random.beta(a, b, shape)))

    return Population(draw, ones + (1 - zeros - ones) * a / (a + b))


def success(share: float) -> Population:
    """Values of 0 and 1."""
    return Population(
        lambda random, shape: (random.random(shape) < share).astype(np.float64), share
    )


def reciprocal(first: float, none: float) -> Population:
    """Reciprocal ranks to 10: ranks are geometric, `first` of them 1; `none` of all queries find
    nothing.
    """

    def draw(random: np.random.Generator, shape: tuple[int, int]) -> Floats:
        ranks = random.geometric(first, shape)
        return np.where((ranks <= 10) & (random.random(shape) >= none), 1 / ranks, 0.0)

    return Population(
        draw, (1 - none) * sum(first * (1 - first) ** (rank - 1) / rank for rank in range(1, 11))
    )


def precision(a: float, b: float, k: int) -> Population:
    """Hits among k items of which each is relevant by a chance that a beta variate gives the query:
    few values, many ties.
    """
    return Population(
        lambda random, shape: random.binomial(k, random.beta(a, b, shape)) / k, a / (a + b)
    )


def ranks() -> Population:
    """Ranks to 1,000, log-normal: a long tail to the right."""
    above = [
        1.0,
        *(math.erfc((math.log(rank) - 1.5) / math.sqrt(2)) / 2 for rank in range(1, 1000)),
    ]
    return Population(
        lambda random, shape: np.minimum(np.ceil(random.lognormal(1.5, 1.0, shape)), 1000.0),
        sum(above),
        "rank",
    )


def few_high(share: float) -> Population:
    """A share of high values, the others near 0: many small samples have no high one."""

    def draw(random: np.random.Generator, shape: tuple[int, int]) -> Floats:
        return np.where(
            random.random(shape) < share,
            random.uniform(0.7, 1.0, shape),
            random.uniform(0.0, 0.02, shape),
        )

    return Population(draw, share * 0.85 + (1 - share) * 0.01)


def log_normal(sigma: float) -> Population:
    """Log-normal values without an upper end."""
    return Population(
        lambda random, shape: random.lognormal(0.0, sigma, shape),
        math.exp(sigma * sigma / 2),
        "count",
    )


def change(up: float, lost: float) -> Population:
    """Differences of two systems: a share gains, a share loses a beta variate of mean 1/3, the
    others 0.
    """

    def draw(random: np.random.Generator, shape: tuple[int, int]) -> Floats:
        kind, size = random.random(shape), random.beta(1.0, 2.0, shape)
        return np.where(kind < up, size, np.where(kind < up + lost, -size, 0.0))

    return Population(draw, (up - lost) / 3, None)


def swapped(won: float, lost: float) -> Population:
    """Differences of 0/1 values: a share won, a share lost, the others 0."""

    def draw(random: np.random.Generator, shape: tuple[int, int]) -> Floats:
        kind = random.random(shape)
        return np.where(kind < won, 1.0, np.where(kind < won + lost, -1.0, 0.0))

    return Population(draw, won - lost, None)


POPULATIONS = {
    "0 or 1": {
        f"{share:.0%} are 1".replace("%", " %"): success(share) for share in (0.05, 0.2, 0.5, 0.9)
    },
    "other values": {
        "like nDCG@10": mixture(0.25, 0.1, 1.5, 1.2),
        "like nDCG@10, mostly high": mixture(0.05, 0.3, 4.0, 1.2),
        "like F1, 60 % are 1": mixture(0.2, 0.6, 1.5, 1.5),
        "like RR@10": reciprocal(0.35, 0.2),
        "like RR@10, 62 % are 0": reciprocal(0.25, 0.6),
        "like AP, beta(0.8, 2)": mixture(0.0, 0.0, 0.8, 2.0),
        "like AP, beta(0.4, 2)": mixture(0.0, 0.0, 0.4, 2.0),
        "like P@5, many ties": precision(0.7, 1.2, 5),
        "like P@10, rare hits": precision(0.3, 2.0, 10),
        "ranks, log-normal": ranks(),
        "10 % high, others near 0": few_high(0.1),
        "log-normal, σ = 1.5": log_normal(1.5),
    },
    "differences": {
        "of two like nDCG@10": Population(
            lambda random, shape: graded(random, shape) - graded(random, shape), 0.0, None
        ),
        "55 % are 0": change(0.25, 0.2),
        "70 % are 0, the others gains": change(0.3, 0.0),
        "of 0/1 values, 10 % won, 10 % lost": swapped(0.1, 0.1),
        "of 0/1 values, 20 % won, 10 % lost": swapped(0.2, 0.1),
        "of 0/1 values, 5 % won, 1 % lost": swapped(0.05, 0.01),
    },
}
METHODS: tuple[Intervals, ...] = ("bootstrap-t", "bootstrap", "t")


def coverage(
    population: Population,
    n: int,
    simulations: int,
    *,
    method: Intervals,
    resamples: int = 2000,
    seed: int = 0,
) -> float:
    """Share of 95 % intervals that hold the true mean; one that is undefined does not."""
    random = np.random.default_rng([seed, n])
    held = 0
    for batch in range(0, simulations, _BATCH):
        rows = population.draw(random, (min(_BATCH, simulations - batch), n))
        for interval in intervals(rows, population, method, resamples, seed + batch):
            held += (
                interval is not None and interval[0] - 1e-9 <= population.mean <= interval[1] + 1e-9
            )
    return held / simulations


def intervals(
    rows: Floats, population: Population, method: Intervals, resamples: int, seed: int
) -> Iterator[tuple[float, float] | None]:
    """The interval of each row's mean."""
    if population.unit is None and method == "t":
        yield from (None if each is None else each.interval() for each in map(paired_t, rows))
    elif population.unit is None:
        columns = [Differences(row, largest=1.0) for row in rows]
        drawn = paired_bootstrap(
            columns, studentised=method == "bootstrap-t", resamples=resamples, seed=seed
        )
        yield from (each.interval for each in drawn)
    else:
        queries = tuple(map(str, range(rows.shape[1])))
        values = [Values("", "", "", population.unit, "mean", queries, row) for row in rows]
        for each in summarise(values, intervals=method, resamples=resamples, seed=seed):
            yield (
                None if each.ci_low is None or each.ci_high is None else (each.ci_low, each.ci_high)
            )


def coverage_tables(simulations: int) -> str:
    """For each kind of values a table: populations and methods, by the number of queries."""
    tables: list[str] = []
    for kind, populations in POPULATIONS.items():
        rows: list[list[str]] = []
        for method in METHODS:
            for name, population in populations.items():
                cells = [
                    percent(coverage(population, n, simulations, method=method)) for n in SIZES
                ]
                rows.append([f"{method}: {name}", *cells])
            sys.stderr.write(f"{kind}, {method} done\n")
        tables.append(table([f"{kind}", *(f"n = {n}" for n in SIZES)], rows))
    return "\n\n".join(tables)


def warnings(
    population: Population, n: int, simulations: int, *, seed: int = 1
) -> tuple[float, float]:
    """Shares of the sets of values: with the note on skewed values, and whose interval misses the
    true mean without it.
    """
    drawn = population.draw(np.random.default_rng([seed, n]), (simulations, n))
    found = intervals(drawn, population, "bootstrap-t", 1000, seed)
    missed = np.array(
        [not (each and each[0] - 1e-9 <= population.mean <= each[1] + 1e-9) for each in found]
    )
    warned = np.array([bool(skew_of(row, f"{population.unit}")) for row in drawn])
    return float(warned.mean()), float((missed & ~warned).mean())


def warning_table(simulations: int) -> str:
    """`warnings` of every population of other values, by the number of queries."""
    populations = POPULATIONS["other values"].items()
    rows = [
        [name, *(", ".join(map(percent, warnings(each, n, simulations))) for n in SIZES)]
        for name, each in populations
    ]
    return table(["with the finding, and missed without it", *(f"n = {n}" for n in SIZES)], rows)


def null_differences(random: np.random.Generator, n: int, simulations: int) -> Floats:
    """(n, simulations) differences of two systems whose values are exchanged at random on every
    query.
    """
    return np.round(graded(random, (n, simulations)) - graded(random, (n, simulations)), 6)


def false_positives(test: str, n: int, simulations: int, *, seed: int = 1) -> float:
    """Share of tests at 0.05 that reject where nothing differs."""
    random = np.random.default_rng([seed, n])
    rejected = 0
    for batch in range(0, simulations, _BATCH):
        table = null_differences(random, n, min(_BATCH, simulations - batch))
        if test == "randomisation":
            p = paired_randomisation(list(table.T), resamples=1999, seed=seed + batch)
        elif test == "bootstrap":
            columns = [Differences(column) for column in table.T]
            p = [
                each.p
                for each in paired_bootstrap(columns, test=True, resamples=1999, seed=seed + batch)
            ]
        elif test == "t":
            p = [None if found is None else found.p for found in map(paired_t, table.T)]
        else:
            p = [
                wilcoxon(column) if test == "wilcoxon" else sign_test(column).p
                for column in table.T
            ]
        rejected += sum(each is not None and each <= 0.05 for each in p)
    return rejected / simulations


def families(simulations: int, *, n: int = 50, systems: int = 5, seed: int = 2) -> dict[str, float]:
    """Share of sets of equal systems in which any pair is called different, by correction."""
    random = np.random.default_rng(seed)
    found: dict[str, int] = dict.fromkeys(("none", "holm", "bh", "max-t", "tukey"), 0)
    for turn in range(simulations):
        values = np.round(random.normal(0, 1, (n, 1)) + random.normal(0, 1, (n, systems)), 6)
        table = np.column_stack(
            [values[:, one] - values[:, other] for one in range(systems) for other in range(one)]
        )
        p = [p for p in paired_randomisation(list(table.T), resamples=999, seed=turn) if p]
        smallest = {
            "none": min(p),
            "holm": min(holm(p)),
            "bh": min(benjamini_hochberg(p)),
            "max-t": min(max_t(table, resamples=999, seed=turn).tolist()),
            "tukey": float(randomised_tukey_hsd(values, resamples=999, seed=turn)[1].min()),
        }
        for name, each in smallest.items():
            found[name] += each <= 0.05
    return {name: count / simulations for name, count in found.items()}


def power(n: int, simulations: int, *, seed: int = 3) -> float:
    """Share of t-tests that find a true difference of the detectable size, of normal differences
    with sd 0.3.
    """
    size = minimal_detectable_difference(0.3, n) or 0.0
    rows = np.random.default_rng([seed, n]).normal(size, 0.3, (simulations, n))
    return sum(found is not None and found.p <= 0.05 for found in map(paired_t, rows)) / simulations


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table, its first column left."""
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def percent(share: float) -> str:
    """A share in per cent with one decimal."""
    return f"{100 * share:.1f}"


def page(simulations: int) -> str:
    """The whole page."""
    covered = coverage_tables(simulations // 2)
    tests = ("randomisation", "bootstrap", "t", "wilcoxon", "sign")
    wrong = [
        [test, *(percent(false_positives(test, n, simulations)) for n in NULL_SIZES)]
        for test in tests
    ]
    sys.stderr.write("tests done\n")
    several = families(max(simulations // 4, 500))
    return TEXT.format(
        simulations=f"{simulations:,}",
        families=f"{max(simulations // 4, 500):,}",
        intervals=f"{simulations // 2:,}",
        coverage=covered,
        warnings=warning_table(simulations // 2),
        false_positives=table(["test at 5 %", *(f"n = {n}" for n in NULL_SIZES)], wrong),
        several=table(
            ["correction", "any false finding, %"],
            [[name, percent(share)] for name, share in several.items()],
        ),
        power=", ".join(
            f"{percent(power(n, simulations))} % with {n} queries" for n in (10, 50, 200)
        ),
    )


TEXT = """# Simulations: intervals and tests

Do the intervals and tests of rankwell keep what they promise? This page answers with simulations, in which the truth is known. Read
[Confidence intervals and tests](../../understand/intervals.md) first.

All figures are written by `python docs/simulations/statistics_page.py`, from {simulations} simulations with the seeds in that file.

## How often an interval contains the true mean

In per cent, for intervals at 95 %, from {intervals} simulations with 2,000 resamples each. Chance moves a figure by up to about 1.0. No interval counts
as a miss.

{coverage}

* **Values of 0 and 1.** The default keeps its level with any number of queries. Percentiles do not. Suppose that one query in twenty succeeds: six sets of ten
  queries out of ten have no success at all, and no resample of them has one.
* **Other values.** With 20 queries or more, the default contains the true mean in at least 93 % of the sets, except in the last three rows. With 10 to 19 queries it is 89 to
  98 %, which the finding `small-sample` tells you. Skewed values do worse, and then you get the finding `long-tail`.
* **Differences.** With 20 queries or more it is at least 94 %, unless hardly any query differs. If 6 % of the queries differ, three sets of 20 in ten have no
  difference, and the interval is 0 to 0.

## When a long tail is reported

How often the finding `long-tail` appears, and how often an interval without it misses the true mean, in per cent:

{warnings}

The finding appears in two cases. All values may lie close together, far from an end of their range. Others may then exist that your queries do not show: n queries without
one do not exclude that a share of 1 - 0.05^(1/n) of all are such. If these would move the mean nearly three times as far as Student's interval reaches, you
are told. Values without an upper end are reported if n < 8 G², where G is their skewness (after Cochran 1977, 2.15, with 25).

## How often a test errs

Two systems are exchangeable. How often does each test call a difference at 5 %? In per cent, and chance moves a figure by up to about 0.7:

{false_positives}

The sign test, and Wilcoxon's with few queries, stay below the level because few p-values are possible.

## How often one of several tests errs

Five systems are alike. With 50 queries and ten pairs, from {families} simulations:

{several}

## How often a detectable difference is found

The `detectable` difference should be found with a power of 80 %. It is found in {power}.
"""  # noqa: E501


def main() -> None:
    """Simulates and writes the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--simulations", type=int, default=4000)
    PAGE.write_text(page(parser.parse_args().simulations), encoding="utf-8")


if __name__ == "__main__":
    main()
