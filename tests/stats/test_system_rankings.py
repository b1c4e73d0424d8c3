"""Orders of systems: correlations of them, points, mean ranks and their critical
difference.
"""

import math
from itertools import permutations

import numpy as np
import pytest

from oracles import distributions
from oracles import paired as oracle
from rankwell.errors import BadInput
from rankwell.stats.system_comparisons import (
    borda_points,
    connected_groups,
    descending_ranks,
    friedman,
    rank_biased_overlap,
    studentised_range_quantile,
    tau_ap,
)


def scores_of(order):
    """Scores that put systems in this order."""
    scores = np.empty(len(order))
    scores[list(order)] = np.arange(len(order), 0, -1)
    return scores


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_tau_ap_and_rbo_are_what_their_definitions_say(order):
    reference = (2, 0, 3, 1)

    one, other = scores_of(reference), scores_of(order)

    assert tau_ap(one, other) == pytest.approx(oracle.tau_ap(list(reference), list(order)))
    assert rank_biased_overlap(one, other, p=0.8) == pytest.approx(
        oracle.rbo_ext(list(reference), list(order), 0.8)
    )


def test_the_same_order_is_1_and_the_reverse_is_minus_1():
    scores = np.array([0.3, 0.5, 0.1, 0.9, 0.2])

    assert tau_ap(scores, 7 * scores) == 1.0
    assert tau_ap(scores, -scores) == -1.0
    assert rank_biased_overlap(scores, 7 * scores) == pytest.approx(1.0, abs=1e-12)


def test_tied_systems_have_no_order():
    assert tau_ap(np.array([1.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0])) is None
    assert rank_biased_overlap(np.array([1.0, 3.0, 2.0]), np.array([1.0, 2.0, 2.0])) is None


def test_a_swap_at_the_top_costs_more_than_one_at_the_bottom():
    reference = scores_of(range(6))

    assert tau_ap(reference, scores_of([1, 0, 2, 3, 4, 5])) < tau_ap(
        reference, scores_of([0, 1, 2, 3, 5, 4])
    )


def test_borda_points_count_systems_below_and_half_of_those_level():
    # Task 1: c > a = b. Task 2: b > a, c not in it.
    points = borda_points(np.array([[0.2, 0.2, 0.9], [0.1, 0.5, np.nan]]))

    assert points.tolist() == [0.5, 1.5, 2.0]


def test_friedmans_statistic_is_scipys_its_p_that_of_30_digits_and_ranks_share_ties():
    stats = pytest.importorskip("scipy.stats")
    values = np.round(
        np.random.default_rng(2).beta(1, 1, (30, 4)) + np.array([0, 0.05, 0.1, 0.2]), 1
    )

    found = friedman(values)
    theirs = stats.friedmanchisquare(*values.T)

    assert found.chi_square == pytest.approx(theirs.statistic, rel=1e-9)
    assert found.p == pytest.approx(distributions.chi_square_p(found.chi_square, 3), rel=1e-12)
    assert found.ranks == pytest.approx(stats.rankdata(-values, axis=1).mean(axis=0))
    assert descending_ranks(np.array([3.0, 5.0, 5.0])).tolist() == [3.0, 1.5, 1.5]
    assert friedman(np.ones((5, 3))) is None
    with pytest.raises(BadInput, match="1 systems"):
        friedman(np.ones((5, 1)))


# Demšar 2006, table 5: q of the two-tailed Nemenyi test at 0.05 for 2 to 10 classifiers.
@pytest.mark.parametrize(
    ("systems", "q"),
    [
        (2, 1.960),
        (3, 2.343),
        (4, 2.569),
        (5, 2.728),
        (6, 2.850),
        (7, 2.949),
        (8, 3.031),
        (9, 3.102),
        (10, 3.164),
    ],
)
def test_the_critical_difference_is_that_of_demsars_table(systems, q):
    values = np.random.default_rng(systems).random((14, systems))

    found = friedman(values)

    # The table cuts some entries off and rounds others.
    assert found.critical_difference == pytest.approx(
        q * math.sqrt(systems * (systems + 1) / (6 * 14)), rel=4e-4
    )


@pytest.mark.parametrize("systems", [2, 5, 30])
@pytest.mark.parametrize("level", [0.9, 0.99])
def test_quantiles_of_the_studentised_range_leave_the_rest_above_them(systems, level):
    q = studentised_range_quantile(level, systems)

    assert distributions.studentised_range_p(q, systems) == pytest.approx(1 - level, abs=1e-12)


@pytest.mark.parametrize("systems", range(2, 13))
def test_friedmans_p_is_that_of_30_digits(systems):
    found = friedman(np.random.default_rng(systems).random((20, systems)))

    assert found.p == pytest.approx(
        distributions.chi_square_p(found.chi_square, systems - 1), rel=1e-11
    )


def test_bars_join_the_largest_sets_of_neighbours_that_do_not_differ():
    def bars(ranks, apart):
        ranks = np.array(ranks)
        return connected_groups(ranks.tolist(), np.abs(ranks - ranks[:, None]) >= apart)

    assert bars([3.1, 1.0, 1.4, 2.2, 3.0], 1.0) == [(1, 2), (2, 3), (3, 4, 0)]
    assert bars([1.0, 2.0, 3.0], 5.0) == [(0, 1, 2)]
    assert bars([1.0, 2.0, 3.0], 0.5) == []
