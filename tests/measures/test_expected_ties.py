"""The mean under random order of tied items: closed forms against every order, and against orders
drawn at random.
"""

import itertools
import math
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest

from make import grades
from rankwell import judged_rankings
from rankwell.data.registry import MEASURES
from variants import JUDGED, join, variants, world_of

SPREAD = [name for name in JUDGED if MEASURES[name].expected not in (None, MEASURES[name].function)]
FREE = [name for name in JUDGED if MEASURES[name].expected is MEASURES[name].function]
TINY = [
    ({"a": 1.0, "b": 0.0, "e": 2.0}, {"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.5, "e": 0.5, "f": 0.1}),
    ({"a": 1.0, "b": 1.0, "c": 3.0, "d": -1.0, "f": 0.0}, dict.fromkeys("abcdef", 1.0)),
    (
        {"b": 1.0, "c": 1.0, "d": 0.5, "f": 2.0, "z": 1.0},
        {"a": 2.0, "b": 1.0, "c": 1.0, "d": 1.0, "e": 1.0, "f": 0.0},
    ),
]


def orders(
    graded: dict[str, float], scored: dict[str, float], listings: list[tuple[str, ...]]
) -> Any:
    """One query per listing of the items, tied items in the order of the listing."""
    pairs = {
        f"{number:05}": (graded, {item: scored[item] for item in each})
        for number, each in enumerate(listings)
    }
    return join(pairs, "input")


@cache
def every_order(case: int) -> tuple[Any, Any]:
    graded, scored = TINY[case]
    return join({"q": TINY[case]}, "expected"), orders(
        graded, scored, list(itertools.permutations(scored))
    )


@cache
def random_orders() -> tuple[Any, Any]:
    random = Random(8)
    listed = [f"d{number}" for number in range(40)]
    graded = grades(random, random.sample(listed, 12), relevant=True)
    scored = {item: float(random.choice((0, 0, 1, 2))) for item in listed}
    view = join({"q": (graded, scored)}, "expected")
    return view, orders(
        graded, scored, [tuple(random.sample(listed, len(listed))) for _ in range(4000)]
    )


@pytest.mark.parametrize("name", SPREAD)
@pytest.mark.parametrize("case", range(len(TINY)))
def test_the_expected_value_is_the_mean_over_every_order_of_tied_items(
    name: str, case: int
) -> None:
    spread, listed = every_order(case)
    for measure in variants(name):
        expected = MEASURES[name].expected(spread, **dict(measure.arguments))

        assert expected.shape == (1,)
        assert expected[0] == pytest.approx(measure(listed).mean(), abs=1e-12), str(measure)


@pytest.mark.parametrize("name", SPREAD)
def test_the_expected_value_is_what_random_orders_of_tied_items_come_to(name: str) -> None:
    spread, drawn = random_orders()
    for measure in variants(name):
        values = measure(drawn)
        expected = MEASURES[name].expected(spread, **dict(measure.arguments))[0]

        assert abs(values.mean() - expected) <= 5 * values.std() / math.sqrt(len(values)) + 1e-12, (
            str(measure)
        )


@pytest.mark.parametrize("name", FREE)
def test_a_measure_that_looks_at_no_order_has_one_value_for_all_of_them(name: str) -> None:
    _, listed = every_order(0)
    for measure in variants(name):
        assert np.ptp(measure(listed)) == 0, str(measure)


@pytest.mark.parametrize("name", SPREAD)
def test_without_ties_the_expected_value_is_the_value(name: str) -> None:
    world, _ = world_of(name, 9)
    run = {
        query: {item: -float(rank) for rank, item in enumerate(scored)}
        for query, scored in world.run.items()
    }
    view = judged_rankings(world.truth, run, ties="expected")
    for measure in variants(name):
        expected = MEASURES[name].expected(view, **dict(measure.arguments))

        assert expected == pytest.approx(measure(view), abs=1e-12, nan_ok=True), str(measure)
