"""The paired randomisation test, and Holm's correction for several of them."""

import math

import numpy as np
import pytest

from oracles.paired_randomisation import randomisation_p
from rankwell.errors import BadUsage
from rankwell.stats import on_exact_grid
from rankwell.stats.paired_tests import flipped_sums, paired_randomisation
from rankwell.stats.system_comparisons import holm


def mean_difference(first: np.ndarray, other: np.ndarray, axis: int) -> np.ndarray:
    return (other - first).mean(axis=axis)


def made(seed: int, n: int, lift: float = 0.0, decimals: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Two systems' values with many equal differences, and some that are 0."""
    random = np.random.default_rng(seed)
    first = random.random(n).round(decimals)
    other = (first + random.normal(lift, 0.2, n)).clip(0, 1).round(decimals)
    other[:: max(n // 3, 1)] = first[:: max(n // 3, 1)]
    return first, other


@pytest.mark.parametrize("seed", range(12))
def test_few_queries_are_swapped_in_every_way(seed: int) -> None:
    first, other = made(seed, 3 + seed, lift=0.1 * (seed % 3), decimals=1 + seed % 2)

    [found] = paired_randomisation([other - first])

    assert found == randomisation_p(first.tolist(), other.tolist())


@pytest.mark.parametrize("unit", [1.0, 100.0])
@pytest.mark.parametrize(
    ("up", "down", "same"), [(5, 1, 9), (0, 4, 2), (3, 3, 1), (6, 8, 0), (0, 0, 5)]
)
def test_shares_of_nothing_and_all_are_tested_exactly_however_many_queries_there_are(
    up: int, down: int, same: int, unit: float
) -> None:
    first = np.array([0.0] * up + [unit] * down + [unit] * same)
    other = np.array([unit] * up + [0.0] * down + [unit] * same)

    [found] = paired_randomisation([other - first], resamples=1)

    assert found == randomisation_p(first.tolist(), other.tolist())


def test_the_exact_test_of_thousands_of_hits_is_mcnemars() -> None:
    stats = pytest.importorskip("scipy.stats", reason="could not import scipy")
    first, other = np.zeros(7000), np.zeros(7000)
    first[:1700], other[1500:3300] = 1.0, 1.0
    up, down = 3300 - 1700, 1500

    [found] = paired_randomisation([other - first])

    assert found == pytest.approx(stats.binomtest(up, up + down).pvalue, rel=1e-9)


def test_drawn_swaps_give_what_scipy_draws_up_to_chance() -> None:
    stats = pytest.importorskip("scipy.stats", reason="could not import scipy")
    pairs = [made(seed, 60, lift=0.03 * seed) for seed in range(4)]
    columns = [other - first for first, other in pairs]

    found = paired_randomisation(columns, resamples=20_000, seed=3)

    for (first, other), each in zip(pairs, found, strict=True):
        peer = stats.permutation_test(
            (first, other),
            mean_difference,
            permutation_type="samples",
            n_resamples=20_000,
            vectorized=True,
            rng=1,
        )
        assert each is not None
        assert (each * 20_001) == pytest.approx(round(each * 20_001))
        # Both err by the square root of p (1 - p) / 20,000.
        reach = 5 * math.sqrt(2 * max(peer.pvalue * (1 - peer.pvalue), 1e-4) / 20_000)
        assert each == pytest.approx(peer.pvalue, abs=reach)


def test_drawn_swaps_come_near_the_exact_test() -> None:
    first, other = made(5, 21, lift=0.08)
    [exact], [drawn] = (
        paired_randomisation([other - first], resamples=resamples)
        for resamples in (1 << 21, 50_000)
    )

    assert exact == randomisation_p(first.tolist(), other.tolist())
    assert exact != drawn
    assert drawn == pytest.approx(exact, abs=5 * math.sqrt(exact * (1 - exact) / 50_000))


def test_a_drawn_p_value_counts_the_data_themselves_and_is_never_0() -> None:
    [found] = paired_randomisation([np.linspace(0.1, 0.2, 40)], resamples=999)

    assert found == 1 / 1000


def test_neither_blocks_nor_other_pairs_nor_the_direction_change_a_p_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    columns = [
        other - first for first, other in (made(seed, 70, lift=0.02 * seed) for seed in range(5))
    ]

    whole = paired_randomisation(columns, resamples=500)

    with monkeypatch.context() as patch:
        patch.setattr("rankwell.stats.paired_tests._BUFFER", 7 * 70)
        assert paired_randomisation(columns, resamples=500) == whole
    assert [paired_randomisation([column], resamples=500)[0] for column in columns] == whole
    assert paired_randomisation([-column for column in columns], resamples=500) == whole


def test_the_seed_decides_what_is_drawn() -> None:
    first, other = made(6, 50, lift=0.03)

    p_values = {
        paired_randomisation([other - first], resamples=500, seed=seed)[0] for seed in range(6)
    }

    assert len(p_values) > 1


def test_differences_that_are_equal_except_for_rounding_count_as_equal() -> None:
    """0.1 + 0.2 is not 0.3: every way to swap these is as far from 0 as another in exact numbers
    only.
    """
    first = np.zeros(14)
    other = np.array([0.1, 0.2, -0.3] * 4 + [0.3, 0.0])

    [found] = paired_randomisation([other - first])

    assert found == randomisation_p(first.tolist(), other.tolist())


def test_no_differences_have_no_p_value() -> None:
    assert paired_randomisation([np.zeros(0)]) == [None]


def test_equal_systems_do_not_differ() -> None:
    assert paired_randomisation([np.zeros(40)]) == [1.0]


def test_one_draw_of_signs_serves_all_columns_and_each_sign_falls_as_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rankwell.stats.paired_tests._BUFFER", 300 * 67)
    table = np.ones((67, 2))
    table[:, 1] = -3.0

    sums = np.concatenate([*flipped_sums(table, resamples=4000, seed=1)])

    np.testing.assert_array_equal(sums[:, 1], -3.0 * sums[:, 0])
    assert abs(sums[:, 0].mean()) < 5 * math.sqrt(67 / 4000)
    assert sums[:, 0].var() == pytest.approx(67, rel=0.15)
    assert set((sums[:, 0] % 2).tolist()) == {1.0}


def test_every_query_is_flipped_in_half_of_the_resamples_on_its_own() -> None:
    ones = on_exact_grid(np.eye(130))

    signs = np.concatenate([*flipped_sums(ones, resamples=3000, seed=2)])

    assert set(np.unique(signs).tolist()) == {-1.0, 1.0}
    correlation = signs.T @ signs / 3000 - np.eye(130)
    assert np.abs(signs.mean(axis=0)).max() < 5 / math.sqrt(3000)
    assert np.abs(correlation).max() < 6 / math.sqrt(3000)


# ---- Holm
# --------------------------------------------------------------------------------------------------


def test_holm_multiplies_the_smallest_by_all_and_never_falls() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == [0.03, 0.06, 0.06, 0.02]
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
    assert holm([0.2]) == [0.2]


def test_holm_keeps_the_order_in_which_p_values_were_given() -> None:
    p_values = np.random.default_rng(9).random(30) ** 3
    order = np.argsort(p_values)
    stepped = np.minimum(np.maximum.accumulate(p_values[order] * (30 - np.arange(30))), 1.0)
    wanted = np.empty(30)
    wanted[order] = stepped

    np.testing.assert_allclose(holm(p_values.tolist()), wanted, rtol=1e-15)


@pytest.mark.parametrize("wrong", [-0.1, 1.1, math.nan])
def test_anything_but_a_probability_is_an_error(wrong: float) -> None:
    with pytest.raises(BadUsage, match="not a p-value"):
        holm([0.5, wrong])
