"""Statistics of choices among settings: bounds that are never of zero width, tests in order, the
set of the best, and gains.
"""

import re
from pathlib import Path

import numpy as np
import pytest

import setting_statistics
from oracles.settings import best_set, betting_bound, capital, out_of_fold
from rankwell.errors import BadInput, BadUsage
from rankwell.stats.paired_tests import set_of_best
from rankwell.stats.settings import exceeds_p, interval, lower_bound, selection_gain
from rankwell.stats.system_comparisons import fixed_sequence

PAGE = (
    Path(__file__).resolve().parents[2] / "docs" / "reference" / "simulations" / "settings.md"
).read_text(encoding="utf-8")


def drawn(values: np.ndarray, seed: int = 0) -> list[float]:
    return np.random.Generator(np.random.PCG64(seed)).permutation(np.sort(values)).tolist()


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_is_that_of_the_plain_gambler(seed: int) -> None:
    values = setting_statistics.recalls(np.random.default_rng(seed), 0.9 - 0.2 * seed, 30 + seed)

    found = lower_bound(values, seed=seed)

    assert 0 <= found - betting_bound(drawn(values, seed), 0.975) < 0.001


def test_the_p_value_is_one_over_the_largest_capital() -> None:
    values = setting_statistics.recalls(np.random.default_rng(7), 0.95, 80)

    assert exceeds_p(values, 0.8) == pytest.approx(1 / capital(drawn(values), 0.8, 0.975), rel=1e-9)
    of_five = lower_bound(values, tests=5)
    assert exceeds_p(values, of_five - 1e-6) <= 0.005 < exceeds_p(values, of_five + 1e-6)
    assert (
        exceeds_p(values, lower_bound(values) - 1e-6)
        <= 0.025
        < exceeds_p(values, lower_bound(values) + 1e-6)
    )


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_equal_values_have_an_interval_with_a_width(value: float) -> None:
    low, high = interval(np.full(200, value))

    assert low < high
    assert low <= value <= high
    assert (low, high) == (
        pytest.approx(max(value - 0.03, 0), abs=0.03),
        pytest.approx(min(value + 0.03, 1), abs=0.03),
    )


def test_the_order_of_the_queries_has_no_effect_on_the_bound() -> None:
    values = setting_statistics.recalls(np.random.default_rng(1), 0.9, 50)

    assert lower_bound(values[::-1]) == lower_bound(values)


def test_no_values_have_the_bound_zero_and_impossible_ones_are_refused() -> None:
    assert lower_bound(np.zeros(0)) == 0
    with pytest.raises(BadInput, match=r"a value is 1\.2; a bound"):
        lower_bound(np.array([0.5, 1.2]))
    with pytest.raises(BadInput, match="a value is nan"):
        lower_bound(np.array([0.5, np.nan]))


def test_a_sequence_of_tests_ends_at_its_first_failure() -> None:
    assert fixed_sequence([0.01, 0.2, 0.001]) == [0.01, 0.2, 0.2]
    assert fixed_sequence([]) == []
    with pytest.raises(BadUsage, match="not a p-value"):
        fixed_sequence([0.1, 1.5])


@pytest.mark.parametrize("seed", range(5))
def test_the_set_of_the_best_is_that_of_all_flips(seed: int) -> None:
    random = np.random.default_rng(seed)
    values = (random.random((9, 4)) + np.array([0.0, 0.1, 0.4, 0.9]) * (seed % 3)).round(2)

    assert set_of_best(values).tolist() == best_set(values.tolist(), 0.95)


def test_settings_with_the_same_values_are_all_among_the_best() -> None:
    assert set_of_best(np.repeat(np.random.default_rng(0).random((30, 1)), 5, axis=1)).all()
    assert set_of_best(np.random.default_rng(0).random((30, 1))).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_gain_out_of_fold_is_that_of_the_other_folds_choice(seed: int) -> None:
    random = np.random.default_rng(seed)
    values, folds = random.random((40, 6)), random.permutation(np.arange(40) % 5)

    found = selection_gain(values, folds, 2)

    apparent, held_out = out_of_fold(values.tolist(), folds.tolist(), 2)
    assert found.apparent == pytest.approx(apparent, abs=1e-12)
    assert found.out_of_fold.tolist() == pytest.approx(held_out, abs=1e-12)
    with pytest.raises(BadInput, match="1 folds of 40 queries"):
        selection_gain(values, np.zeros(40, dtype=np.int64), 2)


@pytest.mark.slow
def test_a_gain_among_equal_settings_is_only_apparent() -> None:
    random, found = np.random.default_rng(3), []
    for _ in range(300):
        gain = selection_gain(
            random.normal(size=(60, 20)), random.permutation(np.arange(60) % 10), 0
        )
        found.append((gain.apparent, gain.out_of_fold.mean()))

    apparent, held_out = np.mean(found, axis=0)

    assert apparent > 0.2
    assert abs(held_out) < 4 * np.std([each for _, each in found]) / np.sqrt(300)


@pytest.mark.slow
@pytest.mark.parametrize("name", setting_statistics.FIGURES)
def test_levels_and_power_are_those_of_the_statistics_page(name: str) -> None:
    printed = float(re.search(rf"\| {re.escape(name)} \| ([\d.]+) \|", PAGE)[1]) / 100
    simulations = 40 if "set" in name.split(":")[1] else 200

    found = setting_statistics.share(name, simulations, seed=77)

    spread = max(printed * (1 - printed), 0.01)
    assert found == pytest.approx(printed, abs=4 * np.sqrt(spread * (1 / simulations + 1 / 2000)))


def test_the_page_keeps_what_settings_were_promised() -> None:
    shares = [
        float(each)
        for each in re.findall(
            r"^\| (?:recall|42|one of 42)[^|]* \| ([\d.]+) \|$", PAGE, re.MULTILINE
        )
    ]
    accepted, seen, lost, found = shares

    assert accepted <= 3.5
    assert lost <= 6
    assert min(seen, found) >= 80
