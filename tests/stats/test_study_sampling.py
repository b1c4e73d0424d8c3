"""Priority samples, the difference estimator and whole queries: equal to plain formulas, and
unbiased.
"""

import math
from random import Random

import numpy as np
import pytest

from oracles import sampling as oracle
from rankwell.stats.samples import (
    SampledItems,
    WholeQueries,
    cross_fitted,
    estimate,
    inclusion,
    most_and_least,
    permanent_numbers,
    prior_relevance,
    priorities,
    sampling_sizes,
)

N_QUERIES = 12


def small_sample(seed, n=40):
    """A sample of half of a drawn pool: query, c, m, sizes, u, and the gains of the judged ones."""
    draw = Random(seed)
    query = sorted(draw.randrange(N_QUERIES) for _ in range(2 * n))
    c = [draw.choice((-0.3, -0.1, 0.0, 0.2, 0.4)) for _ in query]
    m = [draw.uniform(0.03, 0.9) for _ in query]
    sizes = [
        abs(weight) * math.sqrt(chance * (1 - chance)) for weight, chance in zip(c, m, strict=True)
    ]
    u = [draw.random() for _ in query]
    chosen, tau = oracle.drawn(u, sizes, n)
    pi = [min(1.0, tau * size) if tau < math.inf else 1.0 for size in sizes]
    gain = {at: draw.choice((0.0, 0.0, 0.5, 1.0)) for at in chosen}
    return query, c, m, sizes, u, pi, gain


def sampled_items(query, c, m, pi, gain):
    grades = np.full(len(query), np.nan)
    grades[list(gain)] = list(gain.values())
    arrays = {
        "query": np.array(query),
        "weight": np.array(c),
        "prediction": np.array(m),
        "inclusion": np.array(pi),
        "gain": grades,
    }
    return SampledItems(n_queries=N_QUERIES, sampled=~np.isnan(grades), **arrays)


def test_permanent_numbers_are_the_first_53_bits_of_the_digest():
    pairs = [(b"q1", b"d1"), (b"q1", b"d\x00 /2"), (b"", b"q1d1"), (b"q" * 10_000, b"d")]

    found = permanent_numbers(7, *zip(*pairs, strict=True)).tolist()

    assert found == [oracle.permanent_number(7, *pair) for pair in pairs]
    assert found != permanent_numbers(8, *zip(*pairs, strict=True)).tolist()


def test_lengths_keep_ids_apart_that_read_the_same_together():
    one, other = permanent_numbers(0, [b"ab", b"a"], [b"c", b"bc"]).tolist()

    assert one != other


@pytest.mark.parametrize("seed", range(20))
def test_estimate_and_intervals_equal_the_plain_formulas(seed):
    query, c, m, sizes, u, pi, gain = small_sample(seed)
    halves = [number % 2 == 0 for number in range(N_QUERIES)]
    even, odd = (
        {number for number in range(N_QUERIES) if halves[number] is half} for half in (True, False)
    )
    shares = [
        oracle.share(query, c, m, pi, gain, odd if halves[number] else even)
        for number in range(N_QUERIES)
    ]
    values = oracle.totals(N_QUERIES, query, c, m, pi, gain, shares)

    items = sampled_items(query, c, m, pi, gain)
    found = estimate(items, cross_fitted(items, np.array(halves)))

    _, tau = oracle.drawn(u, sizes, len(gain))
    assert inclusion(np.array(sizes), tau) == pytest.approx(np.where(np.array(sizes) > 0, pi, 0))
    assert (priorities(np.array(u), np.array(sizes)) < tau).tolist() == items.sampled.tolist()
    assert cross_fitted(items, np.array(halves)) == pytest.approx(shares)
    assert found.values == pytest.approx(values)
    assert found.these_queries(0.9) == pytest.approx(
        oracle.these_queries(values, query, c, m, pi, gain, shares, 0.9)
    )
    assert found.queries_like_these(0.9) == pytest.approx(oracle.queries_like_these(values, 0.9))


def test_the_estimate_is_unbiased_wherever_one_stops():
    draw = np.random.default_rng(3)
    query = np.repeat(np.arange(N_QUERIES), 8)
    weight = draw.choice([-0.3, 0.1, 0.4], len(query))
    prior = draw.uniform(0.05, 0.9, len(query))
    gain = (draw.random(len(query)) < prior).astype(float)
    sizes = np.abs(weight) * np.sqrt(prior * (1 - prior))
    truth = float((weight * gain).sum()) / N_QUERIES
    found = []

    for n in (10, 40):
        for _ in range(600):
            ranked = priorities(draw.random(len(query)), sizes)
            tau = np.sort(ranked)[n]
            sampled = ranked < tau
            items = SampledItems(
                n_queries=N_QUERIES,
                query=query,
                weight=weight,
                prediction=prior,
                inclusion=inclusion(sizes, float(tau)),
                sampled=sampled,
                gain=np.where(sampled, gain, np.nan),
            )
            found.append(estimate(items, np.ones(N_QUERIES)).mean)

    assert abs(np.mean(found) - truth) < 4 * np.std(found) / math.sqrt(len(found))


def test_everything_judged_is_exact_for_these_queries():
    items = sampled_items(
        [0, 1, 2], [0.5, -0.5, 0.2], [0.3, 0.3, 0.3], [1.0, 1.0, 1.0], {0: 1.0, 1: 0.0, 2: 1.0}
    )

    found = estimate(items, np.ones(N_QUERIES))

    assert found.is_exact
    assert found.these_queries(0.95) == (found.mean, found.mean)
    assert found.mean == pytest.approx(0.7 / N_QUERIES)


def test_unknown_gains_bound_the_mean_by_the_sign_of_their_weights():
    items = sampled_items([0, 1], [0.5, -0.5], [0.4, 0.4], [1.0, 1.0], {})
    items = SampledItems(**{**vars(items), "sampled": np.array([True, True])})

    least, most = (
        estimate(items, np.ones(N_QUERIES), each).mean for each in most_and_least(items, 1.0)
    )

    assert (least, most) == pytest.approx((-0.5 / N_QUERIES, 0.5 / N_QUERIES))


def test_sizes_are_the_spread_of_weights_and_for_means_the_largest():
    weights, chance = np.array([[0.4, 0.1], [0.2, 0.2]]), np.array([0.5, 0.5])

    assert sampling_sizes(weights, chance).tolist() == pytest.approx([0.15, 0.0])
    assert sampling_sizes(weights, chance, for_means=True).tolist() == pytest.approx([0.2, 0.1])


def test_the_prior_falls_with_the_best_rank_and_stays_within_its_ends():
    found = prior_relevance(np.array([1, 4, 4, 10_000]), np.array([True, True, False, False]))

    assert found == pytest.approx([0.7, 0.425, 0.275, 0.03])


def test_no_interval_for_queries_like_these_below_10():
    values = np.arange(9.0)

    assert WholeQueries(values, 20).queries_like_these(0.95) is None
    assert WholeQueries(values, 9).these_queries(0.95) == (4.0, 4.0)


def test_drawn_queries_have_the_correction_for_a_finite_population():
    values = np.random.default_rng(0).normal(size=30)
    found = WholeQueries(values, 40)

    like, these = found.queries_like_these(0.9), found.these_queries(0.9)

    assert like == pytest.approx(oracle.queries_like_these(values.tolist(), 0.9))
    assert these[1] - these[0] == pytest.approx((like[1] - like[0]) * math.sqrt(1 - 30 / 40))
