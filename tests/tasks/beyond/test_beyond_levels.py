"""Ceilings and chance levels beyond accuracy, against all lists that there could be."""

from itertools import combinations, product
from statistics import fmean
from typing import Any

import pytest

import rankwell as rw

ITEMS = ("a", "b", "c", "d")
WORLDS = {"one item twice": (1, 1), "lists of several lengths": (2, 1, 3), "a list of the whole catalogue": (4, 1)}


def figures(lists: list[tuple[str, ...]], *names: str) -> list[dict[str, Any]]:
    """The rows of the summary of these lists."""
    run = {f"u{row}": list(items) for row, items in enumerate(lists)}
    return [dict(row) for row in rw.evaluate_beyond(run, [*names], catalogue=ITEMS, intervals="none").summary]


@pytest.mark.parametrize("lengths", WORLDS.values(), ids=list(WORLDS))
def test_levels_of_all_lists_are_the_best_and_the_mean_over_all_that_there_could_be(lengths: tuple[int, ...]):
    names = ["ItemCoverage", "Gini", "Gini(divisor='n')", "Entropy", "Entropy(form='nats')"]
    every = [figures(list(lists), *names) for lists in product(*(combinations(ITEMS, n) for n in lengths))]

    for place, name in enumerate(names):
        rows = [found[place] for found in every]
        best = (min if name.startswith("Gini") else max)(row["mean"] for row in rows)
        assert [row["ceiling"] for row in rows] == pytest.approx([best] * len(rows))
        if name == "ItemCoverage":
            assert [row["chance"] for row in rows] == pytest.approx([fmean(row["mean"] for row in rows)] * len(rows))
        else:
            assert {row["chance"] for row in rows} == {None}


def test_the_cut_off_limits_the_lists_that_are_compared():
    (row,) = figures([("a", "b", "c"), ("a",)], "ItemCoverage@1")

    assert (row["mean"], row["ceiling"], row["chance"]) == pytest.approx((0.25, 0.5, 1 - 0.75**2))


def test_chance_by_interactions_is_the_mean_over_all_lists():
    inputs = {"catalogue": ITEMS, "interactions": {"x": {"a": 1, "b": 1}, "y": {"a": 1}}, "intervals": "none"}
    names = ["Novelty@2", "Novelty(of='interactions')@2", "Popularity@2"]

    every = [rw.evaluate_beyond({"u": list(items)}, names, **inputs).summary for items in combinations(ITEMS, 2)]

    for place in range(len(names)):
        assert every[0][place]["chance"] == pytest.approx(fmean(found[place]["mean"] for found in every))
        assert every[0][place]["ceiling"] is None


@pytest.mark.parametrize("name", ["Gini(discount='log')", "Entropy(form='mean')"])
def test_levels_without_a_closed_form_are_left_out(name: str):
    (row,) = figures([("a", "b")], name)

    assert "ceiling" not in row


def test_without_a_catalogue_there_are_no_levels():
    (row,) = rw.evaluate_beyond({"u": ["a"]}, ["Entropy"], intervals="none").summary

    assert "ceiling" not in row
