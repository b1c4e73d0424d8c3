"""Writes docs/statistics.md: what intervals, tests and corrections do, with how well they hold, by simulation.

    python tools/statistics_page.py [--simulations 4000]

The simulations take some minutes; tests/stats/test_statistics_page.py repeats a part of them and compares.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from rankwell.core.tables import Floats
from rankwell.stats.detectable import minimal_detectable_difference
from rankwell.stats.multiple_comparisons import benjamini_hochberg, holm, randomised_tukey_hsd
from rankwell.stats.paired_bootstrap import Differences, paired_bootstrap
from rankwell.stats.paired_randomisation import max_t, paired_randomisation
from rankwell.stats.paired_tests import paired_t, sign_test, wilcoxon

PAGE = Path(__file__).resolve().parent.parent / "docs" / "statistics.md"
SIZES = (10, 20, 50, 200, 1000)
NULL_SIZES = (10, 20, 50, 200)
_BATCH = 250

Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]


def graded(random: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Values like those of nDCG@10: a quarter 0, a tenth 1, the rest between. Mean 0.1 + 0.65 · 1.5 / 2.7."""
    kind = random.random(shape)
    return np.where(kind < 0.25, 0.0, np.where(kind > 0.9, 1.0, random.beta(1.5, 1.2, shape)))


def success(random: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Values of 0 and 1, nine in ten 1."""
    return (random.random(shape) < 0.9).astype(np.float64)


def change(random: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Differences of two systems: 55 % are 0, 25 % up and 20 % down by a beta variate of mean 1/3."""
    kind = random.random(shape)
    return np.where(kind < 0.55, 0.0, np.where(kind < 0.8, 1.0, -1.0) * random.beta(1.0, 2.0, shape))


POPULATIONS: dict[str, tuple[Draw, float]] = {
    "values like nDCG@10": (graded, 0.1 + 0.65 * 1.5 / 2.7),
    "differences, 55 % of them 0": (change, 0.05 / 3),
    "0 or 1, nine in ten 1": (success, 0.9),
}


def coverage(population: str, n: int, simulations: int, *, resamples: int = 10_000, seed: int = 0) -> tuple[float, float]:
    """Share of 95 % intervals that hold the true mean: by the bootstrap, and by Student's t; one without spread does not."""
    draw, truth = POPULATIONS[population]
    random = np.random.default_rng([seed, n])
    held = np.zeros(2)
    for batch in range(0, simulations, _BATCH):
        rows = draw(random, (min(_BATCH, simulations - batch), n))
        boot = paired_bootstrap([Differences(row) for row in rows], resamples=resamples, seed=seed + batch)
        for row, found in zip(rows, boot, strict=True):
            student = paired_t(row)
            for place, interval in enumerate((found.interval, None if student is None else student.interval())):
                held[place] += interval is not None and interval[0] - 1e-12 <= truth <= interval[1] + 1e-12
    return float(held[0] / simulations), float(held[1] / simulations)


def null_differences(random: np.random.Generator, n: int, simulations: int) -> Floats:
    """(n, simulations) differences of two systems whose values are exchanged at random on every query."""
    return np.round(graded(random, (n, simulations)) - graded(random, (n, simulations)), 6)


def false_positives(test: str, n: int, simulations: int, *, seed: int = 1) -> float:
    """Share of tests at 0.05 that reject where nothing differs."""
    random = np.random.default_rng([seed, n])
    rejected = 0
    for batch in range(0, simulations, _BATCH):
        table = null_differences(random, n, min(_BATCH, simulations - batch))
        if test == "randomisation":
            pairs = [(np.zeros(n), column) for column in table.T]
            p = [each.p for each in paired_randomisation(pairs, resamples=1999, seed=seed + batch)]
        elif test == "bootstrap":
            columns = [Differences(column) for column in table.T]
            p = [each.p for each in paired_bootstrap(columns, test=True, resamples=1999, seed=seed + batch)]
        elif test == "t":
            p = [None if found is None else found.p for found in map(paired_t, table.T)]
        else:
            p = [(wilcoxon if test == "wilcoxon" else sign_test)(column).p for column in table.T]
        rejected += sum(each is not None and each <= 0.05 for each in p)
    return rejected / simulations


def families(simulations: int, *, n: int = 50, systems: int = 5, seed: int = 2) -> dict[str, float]:
    """Share of sets of equal systems in which any pair is called different, by correction."""
    random = np.random.default_rng(seed)
    found: dict[str, int] = dict.fromkeys(("none", "holm", "bh", "max-t", "tukey"), 0)
    for turn in range(simulations):
        values = np.round(random.normal(0, 1, (n, 1)) + random.normal(0, 1, (n, systems)), 6)
        table = np.column_stack([values[:, one] - values[:, other] for one in range(systems) for other in range(one)])
        p = [
            each.p
            for each in paired_randomisation([(np.zeros(n), column) for column in table.T], resamples=999, seed=turn)
            if each.p
        ]
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
    """Share of t-tests that find a true difference of the detectable size, of normal differences with sd 0.3."""
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
    said = {}
    for population in POPULATIONS:
        cells = [coverage(population, n, simulations) for n in SIZES]
        said[population] = [
            [name, *(percent(cell[place]) for cell in cells)] for place, name in enumerate(("bootstrap", "Student's t"))
        ]
        sys.stderr.write(f"{population} done\n")
    covered = [[f"{population}, {row[0]}", *row[1:]] for population, rows in said.items() for row in rows]
    tests = ("randomisation", "bootstrap", "t", "wilcoxon", "sign")
    wrong = [[test, *(percent(false_positives(test, n, simulations)) for n in NULL_SIZES)] for test in tests]
    sys.stderr.write("tests done\n")
    several = families(max(simulations // 4, 500))
    return TEXT.format(
        simulations=f"{simulations:,}",
        families=f"{max(simulations // 4, 500):,}",
        coverage=table(["95 % interval of the mean", *(f"n = {n:,}" for n in SIZES)], covered),
        false_positives=table(["test at 5 %", *(f"n = {n}" for n in NULL_SIZES)], wrong),
        several=table(["correction", "any false finding, %"], [[name, percent(share)] for name, share in several.items()]),
        power=", ".join(f"{percent(power(n, simulations))} % with {n} queries" for n in (10, 50, 200)),
    )


TEXT = """# Statistics

Written by `python tools/statistics_page.py`; the figures are of {simulations} simulations with the seeds in that file.

## Intervals

Intervals are over queries: what would the mean be for other queries of the same kind? By default they are percentiles of the
means of 10,000 resamples with replacement (`--intervals bootstrap`; Efron and Tibshirani 1993, 13.3), by Student's t where
requested. Below 10 queries there is none. How often a 95 % interval holds the true mean, in per cent:

{coverage}

From about 200 queries on an interval covers what it says. With few queries it is too narrow, the more so where most values are
the same: with 10 queries of which nine in ten succeed, every third set has no failure at all, and no resample of it has one.
Groups below 50 queries are therefore called small.

## Tests

Every test is two-sided, of paired differences on the queries that count for both systems; differences are rounded to 12 decimals
first, so that a rounding error is neither a win nor a loss.

* `randomisation` (the default): the share of all ways to swap the two values of each query in which the means differ at least as
  much. Exact where there are no more ways than `--resamples`, and where all differences have one size; else drawn. One matrix of
  random bits serves all measures and pairs.
* `t`: Student's paired t-test.
* `wilcoxon`: signed ranks; exact up to 50 differences that are not 0, ties or not; else the normal approximation, corrected for
  ties.
* `sign`: wins against losses, exactly binomial.
* `bootstrap`: the studentised bootstrap about the observed mean (Sakai 2006).

How often each calls a difference at 5 % where two systems are exchangeable, in per cent (by chance up to about 0.7 off):

{false_positives}

The sign test and Wilcoxon's with few queries keep below the level because few p-values are possible.

## Several comparisons

All p-values that one command prints are a family: every pair of systems by every measure; the groups of `--group` are another.
`holm` keeps the chance of any false finding at the level whatever the tests share; `bh` the expected share of false findings
among all; `max-t` the former, by the largest t under shared sign flips, which loses nothing to measures that say the same
(Westfall and Young 1993); `tukey` shuffles the systems on every query and judges all pairs of one measure (Carterette 2012).
Five systems that are alike, 50 queries, ten pairs, {families} simulations:

{several}

## Is the set of queries large enough?

`detectable` is the smallest true difference that a t-test at the level finds with the power (80 % by default), given the spread
of the differences that was seen; `queries_needed` is how many queries would find a difference as large as the one that was seen.
By simulation the detectable difference is found in {power}.

## Clusters

Queries that belong together (of one document, user or session) are not independent evidence. `--cluster COLUMN` resamples and
flips whole clusters, and the t-test takes the spread between them; the mean remains that over queries.

## Orders of systems

Letters (Piepho 2004): two systems share one where no decisive difference was found. Kendall's τ-b, τ-AP (Yilmaz and others 2008:
the top counts more) and RBO (Webber and others 2010, extrapolated, p = 0.9) compare the orders by two measures, and the order
over all queries with that in each group. Borda points count the systems below, measure by measure. The critical-difference
diagram shows mean ranks over queries and joins those within Nemenyi's critical difference (Demšar 2006).
"""


def main() -> None:
    """Simulates and writes the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--simulations", type=int, default=4000)
    PAGE.write_text(page(parser.parse_args().simulations), encoding="utf-8")


if __name__ == "__main__":
    main()
