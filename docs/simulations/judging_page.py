"""Writes docs/reference/simulations/judging.md: how well estimates from few judgments hold.

    python docs/simulations/judging_page.py [--repetitions 2000]
        [--data ../shared/data/trec/robust03]

With the default it takes some minutes. Robust03's runs and judgments, where they are there, are
real; the others are drawn from a seed.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np

from judging_populations import (
    QueryPopulation,
    Sample,
    drawn_population,
    kappa_of,
    model_gains,
    ours,
    robust_population,
)
from judging_power import power_section
from rankwell.data.tables import Floats
from rankwell.stats.samples import FOLDS, PredictedQueries, WholeQueries, expected_shares, forecast
from statistics_page import table

PAGE = Path(__file__).resolve().parents[1] / "reference" / "simulations" / "judging.md"
SHARES = (0.05, 0.10, 0.20, 0.50)


class Cell(NamedTuple):
    """Coverage of both intervals, in per cent, and the bias in its standard errors."""

    these: float
    like: float
    bias: float


def coverage(
    population: QueryPopulation, n: int, judged: Sequence[float | int], repetitions: int, seed: int
) -> list[Cell]:
    """The coverage of 95 % intervals at one look, and the bias. judged: shares of the items that
    decide, or numbers of items.
    """
    random, truth = np.random.default_rng(seed), float(population.truth((0, 1)).mean())
    held = np.zeros((len(judged), repetitions, 2))
    errors = np.zeros((len(judged), repetitions))
    for repetition in range(repetitions):
        sample = Sample.of(population, n, random)
        here = sample.truth((0, 1))
        for at, each in enumerate(judged):
            found = ours(
                sample, (0, 1), each if isinstance(each, int) else round(each * sample.deciding)
            )
            like, these = found.queries_like_these(0.95), found.these_queries(0.95)
            held[at, repetition] = (
                these is not None and these[0] <= here <= these[1],
                like is not None and like[0] <= truth <= like[1],
            )
            errors[at, repetition] = found.mean - here
    spread = errors.std(axis=1, ddof=1) / np.sqrt(repetitions)
    bias = np.divide(errors.mean(axis=1), spread, out=np.zeros(len(judged)), where=spread > 0)
    shares = 100 * held.mean(axis=1)
    return [
        Cell(float(these), float(like), float(each))
        for (these, like), each in zip(shares, bias, strict=True)
    ]


def coverage_rows(populations: Sequence[QueryPopulation], repetitions: int) -> Iterator[list[str]]:
    """The rows of the table of coverage: these queries / queries like these / bias, at each share
    and after batches.
    """
    for population in populations:
        for n in (50, 100):
            batch = min(500, max(100, 3 * n))
            cells = coverage(
                population, n, (*SHARES, batch, 2 * batch, 4 * batch), repetitions, seed=n
            )
            yield [
                f"{population.name}, {n} queries",
                *(f"{each.these:.1f} / {each.like:.1f} / {each.bias:+.1f}" for each in cells),
            ]


def joint_coverage(
    population: QueryPopulation, n: int, repetitions: int, seed: int = 1
) -> tuple[float, float]:
    """Joint coverage of three pairs at five planned looks, in per cent: for these queries, and for
    queries like these.
    """
    random, level = np.random.default_rng(seed), 1 - 0.05 / 15
    truths = {pair: float(population.truth(pair).mean()) for pair in combinations(range(3), 2)}
    held = np.ones((repetitions, 2), dtype=bool)
    for repetition in range(repetitions):
        sample = Sample.of(population, n, random)
        for look in range(1, 6):
            for pair, truth in truths.items():
                found = ours(sample, pair, round(look / 5 * 0.5 * sample.deciding))
                like, these, here = (
                    found.queries_like_these(level),
                    found.these_queries(level),
                    sample.truth(pair),
                )
                held[repetition] &= (
                    these is not None and these[0] <= here <= these[1],
                    like is not None and like[0] <= truth <= like[1],
                )
    these, like = (100 * held.mean(axis=0)).tolist()
    return these, like


def wrong_calls(
    population: QueryPopulation, runs: int, repetitions: int, seed: int = 2
) -> dict[str, float]:
    """The share of studies that call runs different that change places at random: at 20 unplanned
    looks, and at five planned.
    """
    random, own = (
        np.random.default_rng(seed),
        QueryPopulation(population.name, population.ranks[..., :runs], population.gain),
    )
    pairs = list(combinations(range(runs), 2))
    level, called = 1 - 0.05 / (5 * len(pairs)), np.zeros((repetitions, 2), dtype=bool)
    for repetition in range(repetitions):
        sample = Sample.of(own, 50, random, swapped=True)
        for look in range(1, 21):
            for pair in pairs:
                found = ours(sample, pair, round(look / 20 * 0.6 * sample.deciding))
                for place, chosen in enumerate((0.95, level)):
                    like = found.queries_like_these(chosen)
                    is_look = place == 0 or look % 4 == 0
                    called[repetition, place] |= (
                        is_look and like is not None and not like[0] <= 0 <= like[1]
                    )
    return dict(zip(("unplanned", "planned"), (100 * called.mean(axis=0)).tolist(), strict=True))


def forecasts(
    population: QueryPopulation, n: int, repetitions: int, seed: int = 5
) -> tuple[float, float]:
    """The share of forecasts from 10 % judged to 20 % whose half-width lies within 25 % of the
    realised one, these and like.
    """
    random, good = np.random.default_rng(seed), np.zeros((repetitions, 2))
    for repetition in range(repetitions):
        sample = Sample.of(population, n, random)
        first, second = round(0.1 * sample.deciding), round(0.2 * sample.deciding)
        items = sample.items((0, 1), first)
        sampled, pi = sample.drawn(second)
        shares = expected_shares(items, np.arange(n) % 2 == 0, pi)
        future = forecast(items, shares, sample.prior * (1 - sample.prior), pi, sampled)
        real = ours(sample, (0, 1), second)
        for place, (expected, realised) in enumerate(
            (
                (future.these_queries[0], np.sqrt(real.sampling_variance)),
                (future.queries_like_these[0], real.standard_error),
            )
        ):
            good[repetition, place] = abs(expected / realised - 1) <= 0.25
    these, like = (100 * good.mean(axis=0)).tolist()
    return these, like


MODELS = {
    "weak": (0.2, 0.0),
    "middling": (0.4, 0.0),
    "good": (0.6, 0.0),
    "good, favours the worse run": (0.6, 0.5),
}
"""Models: the chance to see the grade, and the chance to raise that of an item of the first run."""
BY_PEOPLE, BY_MODEL = (20, 30, 50), 500


class PredictedCell(NamedTuple):
    """Coverage of PPI++ in per cent, its mean width over that of people alone, and the coverage of
    the model alone.
    """

    held: float
    width: float
    alone: float


def predicted_coverage(
    values: Floats, predictions: Floats, n: int, repetitions: int, seed: int = 8
) -> PredictedCell:
    """The coverage of 95 % intervals over all queries, from n queries judged by people and 500
    further ones by a model.

    values, predictions: (queries,) of the population.
    """
    random, truth = np.random.default_rng(seed), float(values.mean())
    held, widths = np.zeros((repetitions, 2), dtype=bool), np.zeros((repetitions, 2))
    for repetition in range(repetitions):
        chosen = random.integers(0, len(values), n + BY_MODEL)
        people, f = values[chosen[:n]], predictions[chosen]
        folds = np.arange(n) % FOLDS
        found = PredictedQueries(
            values=people,
            predictions=f[:n],
            folds=folds,
            other_predictions=f[n:],
            population=len(values),
        )
        powered = found.queries_like_these(0.95) or (0.0, 0.0)
        alone, model = (
            WholeQueries(each, len(values)).queries_like_these(0.95) or (0.0, 0.0)
            for each in (people, f)
        )
        held[repetition] = [low <= truth <= high for low, high in (powered, model)]
        widths[repetition] = [high - low for low, high in (powered, alone)]
    return PredictedCell(
        100 * held[:, 0].mean(), widths[:, 0].mean() / widths[:, 1].mean(), 100 * held[:, 1].mean()
    )


def predicted_rows(population: QueryPopulation, repetitions: int) -> Iterator[list[str]]:
    """The rows of the table of models: κ, the bias alone with its coverage, coverage and width with
    people.
    """
    values = population.truth((0, 1))
    for name, (right, favours) in MODELS.items():
        gains = model_gains(population, right, favours=favours)
        predictions = population._replace(gain=gains).truth((0, 1))
        cells = [predicted_coverage(values, predictions, n, repetitions) for n in BY_PEOPLE]
        alone = f"{predictions.mean() - values.mean():+.3f} / {cells[0].alone:.0f}"
        kappa = f"{kappa_of(population, gains):.2f}"
        yield [name, kappa, alone, *(f"{each.held:.1f} / {each.width:.2f}" for each in cells)]


def predicted_table(population: QueryPopulation, repetitions: int) -> str:
    """The section on models."""
    head = [
        "model",
        "κ",
        "alone: bias / coverage, %",
        *(f"{n} by people: coverage, % / width" for n in BY_PEOPLE),
    ]
    text = TEXTS["models"].format(float(population.truth((0, 1)).mean()))
    return f"{text}\n{table(head, list(predicted_rows(population, repetitions)))}"


TEXTS = {
    "head": """# Simulations: few judgments

Do estimates from few judgments keep what they promise? This page answers with simulations, in which the truth is known. Read
[Label with few judgments](../../guide/label.md) first.

By {} simulations each (half as many for looks, a quarter for forecasts and power). Seeds are in `docs/simulations/judging_page.py` and
`docs/simulations/judging_power.py`. Queries are drawn with replacement, from 2,000 synthetic ones or from the 100 topics of
Robust03.
""",  # noqa: E501
    "coverage": """## Coverage and bias

How often the unadjusted 95 % interval at one look holds the difference of these queries / of all queries, in per cent
/ the bias in its standard errors, by the share of deciding items that is judged, and after batches of the default
size:
""",  # noqa: E501
    "others": """With 6 % relevant and 40 judgments in all, of 50 queries, the intervals hold {:.1f} % and {:.1f} %. All
intervals of three pairs at five planned looks hold together in {:.1f} % (these queries) and {:.1f} % (queries like these) of
studies; 95 % is planned.
""",  # noqa: E501
    "calls": """## Wrong calls

Runs that change places at random in every query, 50 queries: how often a difference is called at any of 20 looks at
95 %, and at five planned ones, in per cent:
""",  # noqa: E501
    "forecasts": """## Forecasts

Share of forecasts at 10 % judged whose half-width at 20 % lies within 25 % of the realised one, for these queries /
queries like these, with 100 queries. λ is 1 while a half of the queries has fewer than five relevant items; the forecast
expects the λ of the time that it is for:
""",  # noqa: E501
    "models": """## Models corrected by people

Whole queries, of which some are judged by people and 500 further ones by a model (PPI++), 35 % relevant, a true difference
of {:+.3f}: how often the 95 % interval holds it, and the mean width over that of people alone. The intervals of the
model alone are those of all its queries:
""",  # noqa: E501
}
"""The words around the tables."""


def page(repetitions: int, data: Path) -> str:
    """The page."""
    graded = drawn_population("35 % relevant", relevant=0.35, noise=(2.2, 1.6, 1.6))
    rare = drawn_population("6 % relevant", relevant=0.06, noise=(2.2, 1.6))
    two = QueryPopulation(graded.name, graded.ranks[..., :2], graded.gain)
    robust = robust_population(data) if data.is_dir() else None
    populations = [
        two,
        rare,
        *(
            [QueryPopulation("Robust03, two runs", robust.ranks[..., 1:3], robust.gain)]
            if robust
            else []
        ),
    ]
    head = [
        "these / like / bias",
        *(f"{100 * share:.0f} %" for share in SHARES),
        "1 batch",
        "2 batches",
        "4 batches",
    ]
    coverages = table(head, list(coverage_rows(populations, repetitions)))
    sparse = coverage(rare, 50, (40,), repetitions, seed=9)[0]
    joint = joint_coverage(graded, 50, repetitions // 2)
    calls = {runs: wrong_calls(graded, runs, repetitions // 2) for runs in (2, 3)}
    planned = {
        population.name: forecasts(population, 100, repetitions // 4) for population in populations
    }
    shares = [[name, f"{each[0]:.0f} / {each[1]:.0f}"] for name, each in planned.items()]
    wrong = [
        [str(n), f"{each['unplanned']:.1f}", f"{each['planned']:.1f}"] for n, each in calls.items()
    ]
    parts = [
        TEXTS["head"].format(f"{repetitions:,}"),
        TEXTS["coverage"],
        coverages,
        TEXTS["others"].format(sparse.these, sparse.like, *joint),
        TEXTS["calls"],
        table(["runs", "20 unplanned looks", "5 planned looks"], wrong),
        TEXTS["forecasts"],
        table(["population", "these / like"], shares),
        predicted_table(two, repetitions),
    ]
    if robust:
        parts.append(power_section(robust, repetitions // 4))
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def main() -> int:
    """Writes the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument(
        "--data", type=Path, default=PAGE.parents[4] / "shared" / "data" / "trec" / "robust03"
    )
    options = parser.parse_args()
    PAGE.write_text(page(options.repetitions, options.data), encoding="utf-8")
    sys.stdout.write(f"wrote {PAGE}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
