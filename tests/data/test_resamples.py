"""The counts of bootstrap resamples: against drawing query by query, and against the multinomial
distribution itself.
"""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from oracles import resamples as oracle
from rankwell import threads
from rankwell._native.resamples import MANY, Resamples, over_resamples, sums_over_resamples
from rankwell.stats import on_exact_grid


def drawn(n: int, resamples: int, **options) -> np.ndarray:
    return np.concatenate(over_resamples(n, resamples, np.copy, **{"seed": 0, **options}))


@pytest.mark.parametrize("n", [1, 2, 9, 10, 23, 300, 6980])
def test_counts_are_those_of_drawing_query_by_query(n: int):
    size = Resamples(n, 5, np.float64).piece
    expected = []
    for piece in range(2 if n < 1000 else 1):
        bits = np.random.PCG64(np.random.SeedSequence(5, spawn_key=(piece,)))
        expected += oracle.counts(
            n, size, lambda number, bits=bits: bits.random_raw(number).tolist()
        )

    assert drawn(n, len(expected), seed=5).tolist() == expected


def test_counts_add_up_to_n_and_depend_neither_on_blocks_nor_on_threads(
    monkeypatch: pytest.MonkeyPatch,
):
    for n in (9, 41, 700):
        whole = drawn(n, 1100, seed=3)

        assert whole.shape == (1100, n)
        assert (whole.sum(axis=1) == n).all()
        assert whole.min() == 0
        for block in (64, 371, 512, 5000):
            assert (drawn(n, 1100, seed=3, block=block) == whole).all()
        assert (drawn(n, 30, seed=3, block=1) == whole[:30]).all()
        for number in (1, 3):
            monkeypatch.setattr(threads, "processors", lambda number=number: number)
            assert (drawn(n, 1100, seed=3) == whole).all()
        monkeypatch.undo()


def test_seeds_and_resamples_differ():
    one, other = drawn(50, 600), drawn(50, 600, seed=1)

    assert not (one == other).all(axis=1).any()
    assert len(np.unique(one, axis=0)) == 600


def compare(seen: dict[int, int], chances: dict[int, float], total: int) -> float:
    """The p-value of Pearson's test, rare outcomes taken together."""
    common = [outcome for outcome, chance in chances.items() if chance * total >= 10]
    observed = [seen.get(outcome, 0) for outcome in common]
    expected = [chances[outcome] * total for outcome in common]
    observed.append(total - sum(observed))
    expected.append(total - sum(expected))
    if expected[-1] < 5:
        observed[-2:], expected[-2:] = [sum(observed[-2:])], [sum(expected[-2:])]
    return float(stats.chisquare(observed, np.array(expected) * total / sum(expected)).pvalue)


def tally(numbers: np.ndarray) -> dict[int, int]:
    return dict(
        zip(*(each.tolist() for each in np.unique(numbers, return_counts=True)), strict=True)
    )


# With 40 tests in all, one below this is met once in 2,500 seeds; the seed is fixed.
LEAST = 1e-5


@pytest.mark.parametrize("n", [5, 9, 10, 12, 30])
def test_as_many_queries_are_drawn_at_all_as_the_occupancy_problem_says(n: int):
    counts = drawn(n, 100_000, seed=11)
    # Surjections onto k of n queries, by inclusion and exclusion: how probable exactly k different
    # ones are.
    onto = {
        k: sum((-1) ** (k - j) * math.comb(k, j) * j**n for j in range(k + 1))
        for k in range(1, n + 1)
    }
    chances = {k: math.comb(n, k) * ways / n**n for k, ways in onto.items()}

    assert sum(chances.values()) == pytest.approx(1)
    assert compare(tally((counts > 0).sum(axis=1)), chances, len(counts)) > LEAST


@pytest.mark.parametrize("n", [10, 30, 2000])
def test_a_query_is_drawn_as_often_as_the_binomial_distribution_says(n: int):
    resamples = 100_000 if n < 1000 else 3000
    counts = drawn(n, resamples, seed=2)

    for place in (0, n // 2, n - 1):
        chances = {k: float(stats.binom.pmf(k, n, 1 / n)) for k in range(12)}
        assert compare(tally(counts[:, place].astype(int)), chances, resamples) > LEAST
    halves = counts[:, : n // 2].sum(axis=1).astype(int)
    assert (
        compare(
            tally(halves),
            {k: float(stats.binom.pmf(k, n, (n // 2) / n)) for k in range(n + 1)},
            resamples,
        )
        > LEAST
    )
    squares = (counts**2).sum(axis=1)
    # The mean of the sum of squares is n · (1 + (n - 1) / n); its spread is measured.
    assert abs(squares.mean() - (2 * n - 1)) < 5 * squares.std() / math.sqrt(resamples)


def test_resamples_are_drawn_apart_from_each_other():
    counts = drawn(40, 20_000, seed=4)
    first = counts[:, 0] - 1

    for lag in (1, 511, 512, 1024):
        assert abs(np.corrcoef(first[:-lag], first[lag:])[0, 1]) < 5 / math.sqrt(len(first))
    sizes = [Resamples(n, 0, np.float64).piece for n in (1, 512, 513, 6980, 1 << 18, 10**6)]
    assert sizes[0] == 512
    assert sizes[-1] == 1
    assert all(one >= other for one, other in pairwise(sizes))


def test_sums_of_many_queries_are_those_of_their_counts() -> None:
    table = on_exact_grid(np.random.default_rng(0).random((MANY + 1, 3)))

    found = sums_over_resamples(table, 20, seed=5)

    assert np.array_equal(
        found, np.concatenate(over_resamples(len(table), 20, lambda counts: counts @ table, seed=5))
    )
