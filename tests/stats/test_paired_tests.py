"""Paired tests, corrections and intervals: against every way to flip signs, against scipy and
statsmodels, and by simulation.
"""

import math
from functools import partial

import numpy as np
import pytest

from oracles import distributions
from oracles import paired as oracle
from rankwell._native.resamples import over_resamples
from rankwell.errors import BadInput, BadUsage
from rankwell.stats.paired_bootstrap import Differences, cluster_sums, paired_bootstrap
from rankwell.stats.paired_tests import (
    cohen_dz,
    max_t,
    minimal_detectable_difference,
    paired_randomisation,
    paired_t,
    queries_needed,
    sign_test,
    wilcoxon,
)
from rankwell.stats.system_comparisons import benjamini_hochberg, holm, randomised_tukey_hsd

SIMULATIONS = 2000


def differences_of(n, *, seed, shift=0.0, decimals=2):
    """Skewed differences with ties and zeros, as those of measures are."""
    return np.round(np.random.default_rng(seed).laplace(shift, 0.2, n), decimals)


def null_columns(n, simulations, *, seed):
    """Differences of two systems that are exchangeable: values with heaps at 0 and 1, swapped at
    random.
    """
    random = np.random.default_rng(seed)
    shape = random.beta(0.7, 0.9, size=(2, n, simulations))
    heaps = random.random((2, n, simulations))
    one, other = np.where(heaps < 0.2, 0.0, np.where(heaps > 0.9, 1.0, shape))
    return np.round(one - other, 6)


def around(level, simulations, sigmas=4.5):
    """The share of rejections that chance allows a test with this level."""
    return pytest.approx(level, abs=sigmas * math.sqrt(level * (1 - level) / simulations))


def flipped(differences, **options):
    return paired_randomisation([differences], **options)[0]


def test_drawn_sign_flips_agree_with_scipys_permutation_test():
    stats = pytest.importorskip("scipy.stats")
    differences = differences_of(200, seed=1, shift=0.03)

    theirs = stats.permutation_test(
        (differences,),
        np.mean,
        permutation_type="samples",
        n_resamples=20_000,
        vectorized=True,
        rng=np.random.default_rng(0),
    ).pvalue
    ours = flipped(differences, resamples=20_000)

    assert 0.001 < theirs < 0.2
    assert ours == pytest.approx(theirs, abs=5 * math.sqrt(theirs / 20_000))


@pytest.mark.parametrize("n", [2, 3, 12, 80, 3000])
def test_the_paired_t_test_has_scipys_statistic_with_p_and_interval_of_30_digits(n):
    stats = pytest.importorskip("scipy.stats")
    random = np.random.default_rng(n)
    one, other = random.normal(0.1, 1, n), random.normal(0, 1, n)

    theirs = stats.ttest_rel(one, other)
    ours = paired_t(one - other)

    assert ours.t == pytest.approx(theirs.statistic, rel=1e-9)
    assert ours.p == pytest.approx(distributions.t_p(ours.t, n - 1), rel=1e-11)
    mean, reach = (one - other).mean(), distributions.t_quantile(0.9, n - 1) * ours.error
    assert ours.interval(0.9) == pytest.approx((mean - reach, mean + reach), rel=1e-9)


def test_the_paired_t_test_has_words_for_what_has_no_spread():
    assert paired_t(np.zeros(5)).p == 1.0
    assert paired_t(np.full(5, 0.25)) is None
    assert paired_t(np.array([0.5])) is None


def test_a_cluster_of_one_query_each_changes_nothing():
    differences = differences_of(60, seed=3)
    alone = cluster_sums(differences, np.arange(60))

    plain, clustered = paired_t(differences), paired_t(alone.sums, alone.sizes)

    assert clustered == pytest.approx(plain, rel=1e-12)
    assert paired_bootstrap([alone], test=True, resamples=500) == paired_bootstrap(
        [Differences(differences)], test=True, resamples=500
    )


def test_clusters_widen_intervals_where_their_queries_are_alike():
    random = np.random.default_rng(0)
    clusters = np.repeat(np.arange(50), 8)
    differences = np.repeat(random.normal(0.05, 0.2, 50), 8) + random.normal(0, 0.02, 400)

    alone, together = paired_bootstrap(
        [Differences(differences), cluster_sums(differences, clusters)], resamples=2000
    )

    width = [interval[1] - interval[0] for interval in (alone.interval, together.interval)]
    assert width[1] / width[0] == pytest.approx(math.sqrt(8), rel=0.15)


def test_the_cluster_t_test_is_that_of_statsmodels():
    api = pytest.importorskip("statsmodels.api")
    random = np.random.default_rng(5)
    clusters = np.sort(random.integers(0, 30, 200))
    differences = random.normal(0.1, 1, 200) + random.normal(0, 1, 30)[clusters]

    fit = api.OLS(differences, np.ones(200)).fit(
        cov_type="cluster",
        cov_kwds={"groups": clusters, "use_correction": True, "df_correction": True},
        use_t=True,
    )
    column = cluster_sums(differences, clusters)
    ours = paired_t(column.sums, column.sizes)

    # Its small-sample factor has (n - 1) / (n - 1) in it besides ours, for one coefficient.
    assert (ours.error, ours.p) == pytest.approx((fit.bse[0], fit.pvalues[0]), rel=1e-9)


@pytest.mark.parametrize("n", [5, 12, 30, 50, 51, 400])
def test_wilcoxons_test_is_scipys_exact_and_approximate(n):
    stats = pytest.importorskip("scipy.stats")
    without_ties = np.random.default_rng(n).normal(0.2, 1, n)
    with_ties = np.round(without_ties, 1)

    method = "exact" if n <= 50 else "approx"
    assert wilcoxon(without_ties) == pytest.approx(
        stats.wilcoxon(without_ties, method=method).pvalue, rel=1e-9
    )
    if np.count_nonzero(with_ties) > 50:
        theirs = stats.wilcoxon(with_ties, zero_method="wilcox", method="approx")
        assert wilcoxon(with_ties) == pytest.approx(theirs.pvalue, rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_wilcoxons_exact_p_counts_the_very_ranks_with_ties(seed):
    differences = np.round(np.random.default_rng(seed).normal(0.1, 0.3, 11), 1)

    expected = oracle.signed_ranks(differences.tolist())

    assert wilcoxon(differences) == pytest.approx(expected, abs=1e-12)


def test_wilcoxons_test_takes_the_exact_way_up_to_fifty_differences():
    stats = pytest.importorskip("scipy.stats")
    differences = np.arange(1, 61) * np.where(np.arange(60) % 3, 1.0, -1.0)

    for n, method in ((50, "exact"), (51, "approx")):
        theirs = stats.wilcoxon(differences[:n], method=method)
        assert wilcoxon(differences[:n]) == pytest.approx(theirs.pvalue, rel=1e-9)
    assert wilcoxon(np.zeros(9)) == 1.0


@pytest.mark.parametrize(
    ("wins", "losses"), [(0, 5), (3, 9), (7, 7), (60, 40), (1900, 2050), (3600, 3300)]
)
def test_the_sign_test_is_the_exact_binomial_test(wins, losses):
    stats = pytest.importorskip("scipy.stats")
    differences = np.concatenate([np.ones(wins), -np.ones(losses), np.zeros(4)])

    found = sign_test(differences)

    assert (found.wins, found.ties, found.losses) == (wins, 4, losses)
    assert found.p == pytest.approx(stats.binomtest(wins, wins + losses).pvalue, rel=1e-9)


@pytest.mark.parametrize("tests", [1, 2, 7, 40])
def test_corrections_are_those_of_statsmodels(tests):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    p = np.round(np.random.default_rng(tests).beta(0.4, 2, tests), 3).tolist()

    assert holm(p) == pytest.approx(multitest.multipletests(p, method="holm")[1].tolist())
    assert benjamini_hochberg(p) == pytest.approx(
        multitest.multipletests(p, method="fdr_bh")[1].tolist()
    )


def test_corrections_reject_anything_but_a_probability():
    with pytest.raises(BadUsage, match=r"1\.5 is not a p-value"):
        benjamini_hochberg([0.2, 1.5])


@pytest.mark.parametrize("seed", range(4))
def test_max_t_is_the_step_down_test_over_all_sign_patterns(seed):
    random = np.random.default_rng(seed)
    table = random.normal(0, 1, (9, 1)) * 0.8 + random.normal(0.4, 0.6, (9, 4))

    expected = oracle.max_t(table.T.tolist())

    assert max_t(table, resamples=512).tolist() == pytest.approx(expected, abs=1e-12)


def test_max_t_uses_what_columns_have_in_common():
    column = differences_of(300, seed=2, shift=0.05)
    p = flipped(column, resamples=20_000)

    copies = max_t(np.repeat(column[:, None], 10, axis=1), resamples=20_000)

    assert copies.tolist() == pytest.approx([p] * 10, abs=0.01)
    assert 10 * p > 5 * p > p + 0.01, "a correction by the number of tests would be far above"


def test_max_t_leaves_out_what_does_not_count():
    table = np.column_stack(
        [differences_of(40, seed=5, shift=0.2), np.full(40, np.nan), np.zeros(40)]
    )

    found = max_t(table, resamples=1000)

    assert np.isnan(found[1])
    assert found[2] == 1.0
    assert found[0] < 0.05


@pytest.mark.parametrize("block", [1, 7, 64])
def test_blocks_change_nothing(block, monkeypatch):
    table = np.column_stack([differences_of(90, seed=place, shift=0.05) for place in range(3)])
    columns = [Differences(column) for column in table.T]

    def results():
        return (
            paired_bootstrap(columns, test=True, resamples=333),
            max_t(table, resamples=333).tolist(),
            randomised_tukey_hsd(table, resamples=100)[1].tolist(),
        )

    whole = results()
    monkeypatch.setattr(
        "rankwell._native.resamples.over_resamples", partial(over_resamples, block=block)
    )
    monkeypatch.setattr("rankwell.stats.paired_tests._BUFFER", block * len(table))
    monkeypatch.setattr("rankwell.stats.system_comparisons._PIECE", block * table.size)
    assert results() == whole


def test_columns_do_not_depend_on_their_company():
    columns = [Differences(differences_of(90, seed=place)) for place in range(4)]

    together = paired_bootstrap(columns, test=True, resamples=500)

    assert together == [paired_bootstrap([each], test=True, resamples=500)[0] for each in columns]


def test_tukeys_test_is_that_over_all_shuffles():
    rows = np.array([[0.1, 0.5, 0.9], [0.2, 0.3, 0.8], [0.4, 0.1, 0.7], [0.0, 0.6, 0.5]])

    apart, p = randomised_tukey_hsd(rows, resamples=20_000, seed=3)
    expected = oracle.tukey(rows.tolist())

    assert apart[2, 0] == pytest.approx((0.9 + 0.8 + 0.7 + 0.5) / 4 - (0.1 + 0.2 + 0.4) / 4)
    assert p[~np.eye(3, dtype=bool)] == pytest.approx(
        np.array(expected)[~np.eye(3, dtype=bool)], abs=0.015
    )


def test_tukeys_test_agrees_with_the_studentised_range_for_normal_values():
    stats = pytest.importorskip("scipy.stats")
    random = np.random.default_rng(8)
    values = (
        random.normal(0, 1, (60, 4)) + np.array([0, 0.1, 0.3, 0.5]) + random.normal(0, 2, (60, 1))
    )

    apart, p = randomised_tukey_hsd(values, resamples=10_000)
    # The classical test of a randomised block design: residuals after systems and queries.
    residuals = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
    error = math.sqrt((residuals**2).sum() / (59 * 3) / 60)
    classical = stats.studentized_range.sf(np.abs(apart) / error, 4, 59 * 3)

    assert p[np.triu_indices(4, 1)] == pytest.approx(classical[np.triu_indices(4, 1)], abs=0.02)


def test_tukeys_test_requires_two_systems():
    with pytest.raises(BadInput, match="1 systems"):
        randomised_tukey_hsd(np.ones((5, 1)))


def rejected(columns, test):
    """The share of columns whose null is rejected at 0.05."""
    if test == "randomisation":
        p = paired_randomisation(list(columns.T), resamples=999, seed=1)
    elif test == "bootstrap":
        p = [
            each.p
            for each in paired_bootstrap(
                [Differences(each) for each in columns.T], test=True, resamples=999
            )
        ]
    elif test == "t":
        p = [paired_t(each).p for each in columns.T]
    else:
        p = [wilcoxon(each) if test == "wilcoxon" else sign_test(each).p for each in columns.T]
    return float((np.array(p) <= 0.05).mean())


@pytest.mark.parametrize("test", ["randomisation", "bootstrap", "t", "wilcoxon"])
def test_under_the_null_a_test_rejects_as_often_as_it_says(test):
    columns = null_columns(60, SIMULATIONS, seed=11)

    assert rejected(columns, test) == around(0.05, SIMULATIONS)


def test_under_the_null_the_sign_test_rejects_at_most_as_often_as_it_says():
    assert (
        0.01
        < rejected(null_columns(60, SIMULATIONS, seed=12), "sign")
        <= 0.05 + 4.5 * math.sqrt(0.05 * 0.95 / SIMULATIONS)
    )


def test_under_the_null_the_families_of_tests_hold_their_level():
    random = np.random.default_rng(13)
    simulations, families = 400, {"holm": 0, "max-t": 0, "bh": 0, "none": 0, "tukey": 0}
    for seed in range(simulations):
        # Four systems that are exchangeable on each query, which differ among themselves.
        values = np.round(random.normal(0, 1, (40, 1)) + random.normal(0, 1, (40, 4)), 6)
        pairs = [(a, b) for a in range(4) for b in range(a)]
        table = np.column_stack([values[:, a] - values[:, b] for a, b in pairs])
        p = [paired_t(column).p for column in table.T]
        families["none"] += min(p) <= 0.05
        families["holm"] += min(holm(p)) <= 0.05
        families["bh"] += min(benjamini_hochberg(p)) <= 0.05
        families["max-t"] += min(max_t(table, resamples=499, seed=seed)) <= 0.05
        families["tukey"] += randomised_tukey_hsd(values, resamples=499, seed=seed)[1].min() <= 0.05
    bound = 0.05 + 4.5 * math.sqrt(0.05 * 0.95 / simulations)

    assert families["none"] / simulations > bound, (
        "without a correction the level is not held, so that this test can fail"
    )
    assert all(
        families[name] / simulations <= bound for name in ("holm", "max-t", "bh", "tukey")
    ), families
    assert families["tukey"] / simulations == around(0.05, simulations)


@pytest.mark.parametrize("n", [200, 1000])
def test_intervals_of_a_mean_cover_it_as_often_as_they_say(n):
    random = np.random.default_rng(n)
    columns = [
        Differences(each)
        for each in np.where(
            random.random((SIMULATIONS, n)) < 0.3, 0.0, random.beta(0.8, 1.2, (SIMULATIONS, n))
        )
    ]
    truth = 0.7 * 0.8 / 2.0

    bounds = np.array([each.interval for each in paired_bootstrap(columns, resamples=2000, seed=4)])
    student = np.array([paired_t(each.sums).interval() for each in columns])

    for low, high in (bounds.T, student.T):
        assert 0.93 <= ((low <= truth) & (truth <= high)).mean() <= 0.97


@pytest.mark.parametrize(
    ("n", "alpha", "power"),
    [
        (2, 0.05, 0.8),
        (2, 0.01, 0.06),
        (3, 0.001, 0.8),
        *((n, 0.05, 0.8) for n in (5, 10, 50, 400, 7000)),
    ],
)
def test_the_detectable_difference_is_that_of_the_noncentral_t(n, alpha, power):
    size = minimal_detectable_difference(0.3, n, alpha=alpha, power=power)

    beyond = distributions.t_quantile(1 - alpha, n - 1)
    assert distributions.t_power(size / 0.3 * math.sqrt(n), beyond, n - 1) == pytest.approx(
        power, abs=1e-10
    )


@pytest.mark.parametrize(("difference", "sd"), [(0.5, 0.3), (0.1, 0.3), (-0.02, 0.3), (0.004, 0.3)])
def test_the_queries_needed_are_the_fewest_with_which_the_difference_is_detectable(difference, sd):
    n = queries_needed(difference, sd, power=0.9)

    assert minimal_detectable_difference(sd, n, power=0.9) <= abs(difference)
    assert n == 2 or minimal_detectable_difference(sd, n - 1, power=0.9) > abs(difference)


def test_no_number_of_queries_finds_a_difference_of_nothing():
    assert queries_needed(0.0, 0.3) is None
    assert queries_needed(1e-9, 0.3) is None
    with pytest.raises(BadUsage, match=r"the power is 0\.01"):
        minimal_detectable_difference(0.3, 50, power=0.01)


def test_the_effect_size_by_hand():
    differences = np.array([0.5, 0.1, 0.0, -0.2])

    # mean 0.1, squared deviations 0.16 + 0 + 0.01 + 0.09 = 0.26
    assert cohen_dz(differences) == pytest.approx(0.1 / math.sqrt(0.26 / 3))
    assert cohen_dz(np.full(4, 0.1)) is None
