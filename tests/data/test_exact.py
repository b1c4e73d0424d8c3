"""Sums, means and standard deviations against rational arithmetic, which shares no code with
them.
"""

import math
import statistics
from fractions import Fraction

import numpy as np
import pytest

from rankwell.data.tables import Floats, exact_mean, exact_means, exact_ratio, exact_sd, exact_sum


def _drawn(kind: int, generator: np.random.Generator) -> Floats:
    """Values of one of seven kinds: 1 to 300 of them."""
    n = int(generator.integers(1, 300))
    tiny = np.array([5e-324, 1e-310, -1e-310, 2.5e-308])
    return {
        0: generator.random(n),
        1: 1 / generator.integers(1, 1_000, n),
        2: generator.standard_normal(n),
        3: generator.standard_normal(n) * 10.0 ** generator.integers(-300, 300, n),
        4: np.full(n, generator.random()),
        5: generator.choice([1.5e308, -1.5e308, 1.0, 0.0], n),
        6: generator.choice(tiny, n),
    }[kind]


def _nearest(number: Fraction) -> float:
    return number.numerator / number.denominator


@pytest.mark.parametrize("kind", range(7))
def test_means_are_the_nearest_float_to_the_mean(kind: int) -> None:
    generator = np.random.default_rng(kind)
    for _ in range(200):
        values = _drawn(kind, generator)
        whole = sum(map(Fraction, values.tolist()), Fraction())
        assert exact_mean(values) == _nearest(whole / len(values))
        assert exact_mean(generator.permutation(values)) == exact_mean(values)
        if kind != 5:
            assert exact_sum(values) == _nearest(whole)


def test_a_mean_of_differences_is_that_of_the_rounded_differences_of_each_query() -> None:
    generator = np.random.default_rng(8)
    for _ in range(200):
        first, other = generator.random((2, int(generator.integers(1, 300))))
        pairs = [
            Fraction(one - two) for one, two in zip(other.tolist(), first.tolist(), strict=True)
        ]
        assert exact_mean(other - first) == _nearest(sum(pairs, Fraction()) / len(pairs))


@pytest.mark.parametrize("kind", range(5))
def test_standard_deviations_are_off_by_two_units_in_the_last_place_at_most(kind: int) -> None:
    generator = np.random.default_rng(kind)
    for _ in range(200):
        values = _drawn(kind, generator)
        for population, reference in ((True, statistics.pstdev), (False, statistics.stdev)):
            if population or len(values) > 1:
                # The standard library's is rounded once, of rational sums.
                expected = reference(list(map(Fraction, values.tolist())))
                assert abs(
                    exact_sd(values, population=population) - float(expected)
                ) <= 2 * math.ulp(float(expected))


def test_a_sum_above_the_largest_float_is_infinite() -> None:
    assert (exact_sum(np.full(2, 1e308)), exact_sum(np.full(2, -1e308))) == (math.inf, -math.inf)
    assert math.isnan(exact_ratio(np.full(2, 1e308), np.array([1.0, math.inf])))


def test_a_hundred_tenths_have_the_mean_of_a_tenth_and_no_spread() -> None:
    values = np.full(100, 0.1)
    assert values.mean() != 0.1
    assert values.std() > 0
    assert (exact_mean(values), exact_sd(values)) == (0.1, 0.0)


def test_weighted_means_are_ratios_of_exact_sums() -> None:
    generator = np.random.default_rng(9)
    for _ in range(100):
        sums, sizes = generator.random((2, 50))
        above, below = (sum(map(Fraction, each.tolist()), Fraction()) for each in (sums, sizes))
        assert exact_ratio(sums, sizes) == _nearest(above / below)
        assert exact_mean(sums, sizes) == exact_ratio(sums * sizes, sizes)
    table = generator.random((30, 4))
    assert exact_means(table).tolist() == [exact_mean(column) for column in table.T]


def test_what_has_no_mean_has_nan() -> None:
    none = np.zeros(0)
    assert math.isnan(exact_mean(none))
    assert math.isnan(exact_mean(np.ones(3), np.zeros(3)))
    assert math.isnan(exact_sd(np.ones(1)))
    assert exact_sum(none) == 0
    assert math.isnan(exact_mean(np.array([1.0, np.nan])))
    assert exact_mean(np.array([1.0, np.inf])) == math.inf
