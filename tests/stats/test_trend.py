"""Slopes with intervals over clusters."""

import numpy as np
import pytest

from rankwell.stats.agreement import trend


def line(seed, n=200, slope=0.5):
    random = np.random.default_rng(seed)
    x = random.random(n) * 10
    clusters = np.arange(n) % 40
    return x, slope * x + random.normal(size=n) + random.normal(size=40)[clusters], clusters


def test_the_slope_is_that_of_least_squares_within_its_interval():
    x, y, clusters = line(1)

    found = trend(x, y, clusters)

    assert found.slope == pytest.approx(np.polyfit(x, y, 1)[0])
    assert found.interval[0] < found.slope < found.interval[1]


def test_95_of_100_intervals_hold_the_slope():
    held = [
        low <= 0.5 <= high
        for seed in range(200)
        for low, high in [trend(*line(seed), resamples=500).interval]
    ]

    assert 0.88 <= np.mean(held) <= 0.99


def test_equal_places_have_no_slope_and_nine_clusters_no_interval():
    x, y, clusters = line(2)

    assert trend(np.ones(200), y, clusters).slope is None
    assert trend(x, y, clusters % 9).interval is None
    assert trend(np.array([]), np.array([]), np.array([])).slope is None
