"""Correlations and the line between two scales: against SciPy and mpmath, every resample drawn, by
hand, and by simulation.
"""

import itertools
import math
import warnings
from functools import partial

import numpy as np
import pytest
from scipy import stats

from oracles import distributions
from rankwell._native.resamples import over_resamples
from rankwell.stats import midranks
from rankwell.stats.correlation import (
    bootstrap_pairs,
    concordance,
    fisher_interval,
    fit_line,
    is_constant,
    kendall,
    kendall_interval,
    kendall_tau,
    pearson,
    spearman,
)
from rankwell.stats.intervals import student_p


def columns(n, kind, seed=0):
    """Two columns that go together: smooth, with ties in one, with ties in both, and on two
    values.
    """
    rng = np.random.default_rng([seed, n])
    first = rng.normal(size=n)
    second = 0.6 * first + 0.8 * rng.normal(size=n)
    if kind == "ties in one":
        first = np.round(first)
    elif kind == "ties in both":
        first, second = np.round(first), np.round(second * 2)
    elif kind == "two values":
        first = (first > 0.3) * 1.0
    first[:2], second[:2] = (0.0, 1.0), (0.0, 1.0)
    return first, second


KINDS = ["smooth", "ties in one", "ties in both", "two values"]
SIZES = [3, 4, 5, 10, 33, 34, 100, 1000]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(
    ("ours", "theirs"), [(pearson, stats.pearsonr), (spearman, stats.spearmanr)]
)
def test_values_are_scipys_and_p_is_that_of_students_t(ours, theirs, n, kind):
    first, second = columns(n, kind)

    found, expected = ours(first, second), theirs(first, second).statistic

    assert found.value == pytest.approx(expected, abs=1e-14)
    rest = 1 - found.value**2
    t = found.value * math.sqrt((n - 2) / rest) if rest else math.inf
    assert found.p == pytest.approx(distributions.t_p(t, n - 2), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", SIZES)
def test_kendalls_value_and_asymptotic_p_are_scipys(n, kind):
    first, second = columns(n, kind)

    found, expected = kendall(first, second), stats.kendalltau(first, second, method="auto")

    assert found.value == kendall_tau(first, second) == pytest.approx(expected.statistic, abs=1e-14)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("seed", range(30))
def test_kendall_without_ties_has_the_p_of_all_orders_counted(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 34))
    first, second = rng.normal(size=n), rng.normal(size=n)

    expected = distributions.kendall_p(n, concordance(first, second).discordant)

    assert kendall(first, second).p == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 64, 65, 200])
@pytest.mark.parametrize("kind", KINDS)
def test_concordance_is_what_looking_at_every_pair_gives(n, kind):
    rng = np.random.default_rng(n)
    first, second = rng.integers(0, 5, n) * 1.0, rng.normal(size=n)
    if kind == "smooth":
        first = rng.normal(size=n)
    elif kind != "ties in one":
        second = rng.integers(0, 4, n) * 1.0

    found = concordance(first, second)

    balance, alike, against = [0] * n, 0, 0
    for one, two in itertools.combinations(range(n), 2):
        sign = int(np.sign(first[one] - first[two]) * np.sign(second[one] - second[two]))
        balance[one] += sign
        balance[two] += sign
        alike += sign > 0
        against += sign < 0
    assert (found.concordant, found.discordant, found.balance.tolist()) == (alike, against, balance)
    assert found.first_ties.tolist() == [int((first == value).sum()) for value in first]


def test_kendall_worked_by_hand():
    # Of the pairs (1,2), (1,3), (1,4), (2,3), (2,4), (3,4) only the last is turned round: (5 - 1) /
    # 6.
    assert kendall(np.array([1.0, 2, 3, 4]), np.array([1.0, 2, 4, 3])).value == pytest.approx(
        4 / 6, abs=1e-15
    )


def test_equal_values_share_the_mean_of_their_ranks():
    assert midranks(np.array([5.0, 1, 5, 0, 5])).tolist() == [4, 2, 4, 1, 4]


@pytest.mark.parametrize("correlate", [pearson, spearman, kendall])
def test_a_constant_column_has_no_correlation(correlate):
    numbers = np.arange(10.0)

    assert correlate(numbers, np.full(10, 0.1)) is None
    assert correlate(np.full(10, 0.1), numbers) is None
    assert is_constant(np.zeros(0))


@pytest.mark.parametrize("correlate", [pearson, spearman, kendall])
def test_two_rows_are_too_few(correlate):
    assert correlate(np.array([1.0, 2.0]), np.array([1.0, 2.0])) is None


@pytest.mark.parametrize("correlate", [pearson, spearman, kendall])
def test_a_column_goes_with_itself_perfectly_and_against_its_negative(correlate):
    numbers = np.random.default_rng(0).normal(size=100)

    assert correlate(numbers, numbers).value == 1.0
    assert correlate(numbers, -numbers).value == -1.0
    assert correlate(numbers, numbers).p < 1e-30


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_very_small_and_very_large_numbers_are_borne(scale):
    first, second = columns(50, "smooth")

    assert pearson(first * scale, second / scale).value == pytest.approx(
        pearson(first, second).value, rel=1e-12
    )


@pytest.mark.parametrize("freedom", [1, 2, 3, 8, 98, 998, 100_000])
@pytest.mark.parametrize("t", [0.0, 1e-9, 0.1, 1.0, -2.5, 7.0, 40.0, 1e5])
def test_students_p_is_that_of_30_digits_however_small(freedom, t):
    assert student_p(t, freedom) == pytest.approx(
        distributions.t_p(t, freedom), rel=1e-11, abs=1e-300
    )
    assert student_p(math.inf, freedom) == student_p(-1e200, freedom) == 0


def test_the_fisher_interval_of_pearson_is_scipys():
    first, second = columns(40, "smooth")

    low, high = fisher_interval(pearson(first, second).value, 40)

    assert (low, high) == pytest.approx(
        tuple(stats.pearsonr(first, second).confidence_interval(0.95)), rel=1e-12
    )


def test_the_fisher_interval_at_its_edges():
    assert fisher_interval(0.5, 3) is None
    assert fisher_interval(1.0, 30) == (1.0, 1.0)
    assert fisher_interval(0.5, 30, ranks=True)[0] < fisher_interval(0.5, 30)[0]


def bivariate(rho, n, rng):
    first = rng.normal(size=n)
    return first, rho * first + math.sqrt(1 - rho * rho) * rng.normal(size=n)


@pytest.mark.slow
def test_analytic_intervals_cover_the_truth_as_often_as_they_say():
    rng, rho, n, rounds = np.random.default_rng(5), 0.6, 150, 1500
    # For a bivariate normal: tau = 2/π asin ρ, and Spearman's ρ = 6/π asin(ρ/2).
    truths = {
        "pearson": rho,
        "spearman": 6 / math.pi * math.asin(rho / 2),
        "kendall": 2 / math.pi * math.asin(rho),
    }
    covered = dict.fromkeys(truths, 0)
    for _ in range(rounds):
        pair = bivariate(rho, n, rng)
        found = {
            "pearson": fisher_interval(pearson(*pair).value, n),
            "spearman": fisher_interval(spearman(*pair).value, n, ranks=True),
            "kendall": kendall_interval(concordance(*pair)),
        }
        for name, (low, high) in found.items():
            covered[name] += low <= truths[name] <= high

    assert all(0.93 <= count / rounds <= 0.97 for count in covered.values()), covered


def test_kendalls_interval_with_ties_has_the_width_of_resampling():
    first, second = columns(300, "ties in both")
    low, high = kendall_interval(concordance(first, second))
    rng = np.random.default_rng(1)
    drawn = [
        stats.kendalltau(first[rows], second[rows]).statistic
        for rows in rng.integers(0, 300, (600, 300))
    ]

    assert (high - low) / (2 * 1.96) == pytest.approx(np.std(drawn), rel=0.08)
    assert (low + high) / 2 == pytest.approx(kendall(first, second).value)


def test_kendalls_interval_of_a_perfect_order_is_a_point():
    numbers = np.arange(20.0)

    assert kendall_interval(concordance(numbers, numbers)) == pytest.approx((1.0, 1.0))


@pytest.mark.parametrize("kind", KINDS)
def test_the_bootstrap_is_that_of_drawing_every_resample(kind):
    target, similarity = columns(60, kind)

    found = bootstrap_pairs(target, similarity, resamples=300, seed=4)

    # Resamples are drawn from the pairs in ascending order of target, then similarity.
    order = np.lexsort((similarity, target))
    counts = np.concatenate(over_resamples(60, 300, np.copy, seed=4)).astype(int)
    rows = [np.repeat(order, row) for row in counts]
    drawn = {"pearson": [], "spearman": [], "calibrated_mae": []}
    for each in rows:
        drawn["pearson"].append(stats.pearsonr(target[each], similarity[each]).statistic)
        drawn["spearman"].append(stats.spearmanr(target[each], similarity[each]).statistic)
        slope, intercept = np.polyfit(similarity[each], target[each], 1)
        drawn["calibrated_mae"].append(
            np.abs(target[each] - slope * similarity[each] - intercept).mean()
        )
    for name, values in drawn.items():
        assert getattr(found, name) == pytest.approx(
            tuple(np.quantile(values, [0.025, 0.975])), rel=1e-8
        ), name


def test_the_bootstrap_depends_neither_on_blocks_nor_on_the_order_of_pairs(monkeypatch):
    target, similarity = columns(200, "ties in one")
    shuffled = np.random.default_rng(0).permutation(200)

    whole = bootstrap_pairs(target, similarity, resamples=200, seed=1)

    assert bootstrap_pairs(target[shuffled], similarity[shuffled], resamples=200, seed=1) == whole
    assert bootstrap_pairs(target, similarity, resamples=200, seed=2) != whole
    for block in (1, 7, 199, 1000):
        monkeypatch.setattr(
            "rankwell.stats.correlation.over_resamples", partial(over_resamples, block=block)
        )
        assert bootstrap_pairs(target, similarity, resamples=200, seed=1) == whole


def test_where_a_resample_may_be_constant_there_is_no_interval():
    target = np.zeros(20)
    target[7] = 1.0

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = bootstrap_pairs(target, np.random.default_rng(0).normal(size=20), resamples=200)

    assert found == (None, None, None)


def test_the_line_is_numpys_least_squares_line():
    target, similarity = columns(50, "smooth")

    line = fit_line(target, similarity)

    slope, intercept = np.polyfit(similarity, target, 1)
    assert line == pytest.approx((slope, intercept), rel=1e-10)
    assert line.predict(similarity) == pytest.approx(slope * similarity + intercept)
    assert fit_line(target, np.ones(50)) is None
    assert fit_line(np.ones(50), similarity) is None
