"""Forecasts of precision: near what comes true, and equal to it where everything is known."""

import numpy as np
import pytest

from rankwell.stats.samples import (
    SampledItems,
    cross_fitted,
    estimate,
    expected_shares,
    forecast,
    inclusion,
    priorities,
    query_forecast,
)

N = 60


def drawn_pool(seed):
    """Sixty queries of fifteen items each: query, weight, prior, gain, sizes and permanent
    numbers.
    """
    random = np.random.default_rng(seed)
    query = np.repeat(np.arange(N), 15)
    weight = random.choice([-0.2, -0.1, 0.1, 0.25], len(query))
    prior = random.uniform(0.1, 0.8, len(query))
    gain = (random.random(len(query)) < prior) * random.choice([0.5, 1.0], len(query))
    return (
        query,
        weight,
        prior,
        gain,
        np.abs(weight) * np.sqrt(prior * (1 - prior)),
        random.random(len(query)),
    )


def sample_of(pool, judged):
    query, weight, prior, gain, sizes, u = pool
    ranked = priorities(u, sizes)
    tau = float(np.sort(ranked)[judged]) if judged < len(ranked) else np.inf
    sampled = ranked < tau
    known = np.where(sampled, gain, np.nan)
    return SampledItems(
        n_queries=N,
        query=query,
        weight=weight,
        prediction=prior,
        inclusion=inclusion(sizes, tau),
        sampled=sampled,
        gain=known,
    )


def forecast_of(pool, judged, later):
    items, then = sample_of(pool, judged), sample_of(pool, later)
    shares = cross_fitted(items, np.arange(N) % 2 == 0)
    told = forecast(items, shares, pool[2] * (1 - pool[2]), then.inclusion, then.sampled)
    return told, estimate(then, shares)


@pytest.mark.parametrize("place", [0, 1])
def test_nine_forecasts_in_ten_lie_within_a_quarter_of_what_comes_true(place):
    good = []
    for seed in range(60):
        told, real = forecast_of(drawn_pool(seed), 150, 400)
        realised = (real.sampling_variance**0.5, real.standard_error)[place]
        good.append(
            abs((told.these_queries, told.queries_like_these)[place][0] / realised - 1) <= 0.25
        )

    assert np.mean(good) >= 0.9


def test_a_half_that_has_few_gains_yet_is_forecast_with_the_share_that_it_will_have():
    random, halves, found = (
        np.random.default_rng(4),
        np.arange(N) % 2 == 0,
        list[tuple[float, float]](),
    )
    for seed in range(40):
        query, weight, prior, _, sizes, u = drawn_pool(seed)
        pool = query, weight, prior, (random.random(len(query)) < 0.06) * 1.0, sizes, u
        items, then = sample_of(pool, 90), sample_of(pool, 250)
        if np.count_nonzero(items.gain[items.has_gain] > 0) >= 10:
            continue
        real = estimate(then, cross_fitted(then, halves)).sampling_variance ** 0.5
        variance = prior * (1 - prior)
        now, later = (
            forecast(items, shares, variance, then.inclusion, then.sampled).these_queries[0]
            for shares in (
                cross_fitted(items, halves),
                expected_shares(items, halves, then.inclusion),
            )
        )
        found.append((abs(now / real - 1), abs(later / real - 1)))

    now, later = np.mean(found, axis=0)

    assert len(found) >= 20
    assert later < 0.25 < now


def test_everything_judged_leaves_only_the_queries():
    told, real = forecast_of(drawn_pool(1), 300, 900)

    assert told.these_queries[0] == 0
    assert real.is_exact
    assert told.queries_like_these[0] == pytest.approx(real.standard_error, rel=0.25)


def test_a_forecast_for_the_present_is_the_present():
    told, real = forecast_of(drawn_pool(2), 300, 300)

    assert told.these_queries[0] == pytest.approx(real.sampling_variance**0.5)
    assert told.queries_like_these[0] == pytest.approx(real.standard_error, rel=0.05)
    assert told.these_queries[1] < told.these_queries[0] < told.these_queries[2]


def test_queries_that_are_drawn_narrow_with_their_root_and_the_finite_population():
    values = np.random.default_rng(0).normal(size=20)

    told = query_forecast(values, 50, 100)

    assert told.queries_like_these[0] == pytest.approx(values.std(ddof=1) / 50**0.5)
    assert told.these_queries[0] == pytest.approx(told.queries_like_these[0] * 0.5**0.5)
    assert query_forecast(values, 100, 100).these_queries[0] == 0


def test_few_judgments_with_large_weights_do_not_forecast_far_too_wide_intervals():
    forecasts = [forecast_of(drawn_pool(seed), 12, 900) for seed in range(30)]

    ratios = [told.queries_like_these[0] / real.standard_error for told, real in forecasts]

    assert np.median(ratios) < 1.25
    assert max(ratios) < 1.5
