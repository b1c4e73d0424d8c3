"""Ceilings and chance levels beyond accuracy, against all lists that there could be."""

import random
from collections.abc import Sequence
from itertools import combinations, product
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest

import rankwell as rw
from rankwell.reporting import rules_line
from rankwell.tasks.beyond.measures import diversity

ITEMS = ("a", "b", "c", "d")
WORLDS = {
    "one item twice": (1, 1),
    "lists of several lengths": (2, 1, 3),
    "a list of the whole catalogue": (4, 1),
}


def figures(lists: list[tuple[str, ...]], *names: str) -> list[dict[str, Any]]:
    """The rows of the summary of these lists."""
    run = {f"u{row}": list(items) for row, items in enumerate(lists)}
    return [
        dict(row)
        for row in rw.evaluate_beyond(run, [*names], documents=ITEMS, intervals="none").summary
    ]


@pytest.mark.parametrize("lengths", WORLDS.values(), ids=list(WORLDS))
def test_levels_of_all_lists_are_the_best_and_the_mean_over_all_that_there_could_be(
    lengths: tuple[int, ...],
):
    names = ["ItemCoverage", "Gini", "Gini(divisor='n')", "Entropy", "Entropy(form='nats')"]
    every = [
        figures(list(lists), *names)
        for lists in product(*(combinations(ITEMS, n) for n in lengths))
    ]

    for place, name in enumerate(names):
        rows = [found[place] for found in every]
        best = (min if name.startswith("Gini") else max)(row["mean"] for row in rows)
        assert [row["ceiling"] for row in rows] == pytest.approx([best] * len(rows))
        if name == "ItemCoverage":
            assert [row["chance"] for row in rows] == pytest.approx(
                [fmean(row["mean"] for row in rows)] * len(rows)
            )
        else:
            assert {row["chance"] for row in rows} == {None}


def test_the_cut_off_limits_the_lists_that_are_compared():
    (row,) = figures([("a", "b", "c"), ("a",)], "ItemCoverage@1")

    assert (row["mean"], row["ceiling"], row["chance"]) == pytest.approx((0.25, 0.5, 1 - 0.75**2))


def test_chance_by_interactions_is_the_mean_over_all_lists():
    inputs = {
        "documents": ITEMS,
        "interactions": {"x": {"a": 1, "b": 1}, "y": {"a": 1}},
        "intervals": "none",
    }
    names = ["Novelty@2", "Novelty(of='interactions')@2", "Popularity@2"]

    every = [
        rw.evaluate_beyond({"u": list(items)}, names, **inputs).summary
        for items in combinations(ITEMS, 2)
    ]

    for place in range(len(names)):
        assert every[0][place]["chance"] == pytest.approx(
            fmean(found[place]["mean"] for found in every)
        )
        assert every[0][place]["ceiling"] is None


CATEGORIES = {"a": ["war", "drama"], "b": ["war"], "c": ["war", "drama"], "d": []}
DIVERSITY = ("ILD", "ILD(by='embeddings')")


def labels_and_vectors(folder: Path, items: Sequence[str]) -> dict[str, Any]:
    """Categories and vectors of these items."""
    drawn = np.random.default_rng(4).normal(size=(len(ITEMS), 3)).astype(np.float32)
    np.save(folder / "v.npy", drawn[[ITEMS.index(item) for item in items]])
    (folder / "v.ids.txt").write_text("".join(f"{item}\n" for item in items))
    return {
        "item_categories": {item: CATEGORIES[item] for item in items},
        "item_vectors": folder / "v.npy",
    }


@pytest.mark.parametrize("length", [2, 3, 4])
@pytest.mark.parametrize("name", DIVERSITY)
def test_chance_of_diversity_is_the_mean_over_all_lists_of_any_length(
    name: str, length: int, tmp_path: Path
):
    inputs = {"documents": ITEMS, "intervals": "none", **labels_and_vectors(tmp_path, ITEMS)}

    every = [
        rw.evaluate_beyond({"u": list(items)}, name, **inputs).summary[0]
        for items in combinations(ITEMS, length)
    ]

    assert every[0]["chance"] == pytest.approx(fmean(row["mean"] for row in every))
    assert 0 < every[0]["chance"] < 2
    assert every[0]["ceiling"] is None


@pytest.mark.parametrize("name", DIVERSITY)
def test_chance_of_diversity_is_that_of_the_catalogue_and_not_of_all_items_with_attributes(
    name: str, tmp_path: Path
):
    inputs = {"documents": ITEMS[:2], "intervals": "none", **labels_and_vectors(tmp_path, ITEMS)}

    (row,) = rw.evaluate_beyond({"u": list(ITEMS[:2])}, name, **inputs).summary

    assert row["chance"] == pytest.approx(row["mean"])


@pytest.mark.parametrize("name", DIVERSITY)
def test_chance_of_diversity_is_unknown_where_an_item_of_the_catalogue_has_no_attributes(
    name: str, tmp_path: Path
):
    inputs = {"documents": ITEMS, "intervals": "none", **labels_and_vectors(tmp_path, ITEMS[:3])}

    (row,) = rw.evaluate_beyond({"u": ["a", "b"]}, name, **inputs).summary

    assert "chance" not in row


def test_chance_of_diversity_is_unknown_for_one_item_a_list_and_for_one_in_the_catalogue(
    tmp_path: Path,
):
    inputs = {"intervals": "none", **labels_and_vectors(tmp_path, ITEMS)}

    (row,) = rw.evaluate_beyond({"u": ["a", "b"]}, "ILD@1", documents=ITEMS, **inputs).summary
    (alone,) = rw.evaluate_beyond({"u": ["a"]}, "ILD@2", documents=["a"], **inputs).summary

    assert "chance" not in row
    assert "chance" not in alone


def test_chance_of_diversity_counts_every_pair_of_many_sets_of_categories_once(
    monkeypatch: pytest.MonkeyPatch,
):
    rng = random.Random(5)
    sets = {
        f"i{row}": rng.sample([f"c{column}" for column in range(90)], rng.randint(0, 3))
        for row in range(60)
    }
    pairs = [(set(one), set(other)) for one, other in combinations(sets.values(), 2)]
    distances = [
        1 - len(one & other) / len(one | other) if one | other else 0.0 for one, other in pairs
    ]
    inputs = {"documents": list(sets), "item_categories": sets, "intervals": "none"}

    (row,) = rw.evaluate_beyond({"u": ["i0", "i1"]}, "ILD", **inputs).summary
    monkeypatch.setattr(diversity, "_PAIRS", 60)
    (unknown,) = rw.evaluate_beyond({"u": ["i0", "i1"]}, "ILD", **inputs).summary

    assert row["chance"] == pytest.approx(fmean(distances))
    assert "chance" not in unknown


def test_the_rules_have_the_size_of_the_catalogue():
    known = rw.evaluate_beyond({"u": ["a"]}, "Entropy", documents=ITEMS)
    seen = rw.evaluate_beyond({"u": ["a"]}, "Entropy", interactions={"x": ["a", "b"]})

    assert known.rules["catalogue_items"] == 4
    assert "catalogue-items=4" in rules_line(known.rules)
    assert seen.rules["catalogue_items"] == 2
    assert "catalogue_items" not in rw.evaluate_beyond({"u": ["a"]}, "Entropy").rules


@pytest.mark.parametrize("name", ["Gini(discount='log')", "Entropy(form='mean')"])
def test_levels_without_a_closed_form_are_left_out(name: str):
    (row,) = figures([("a", "b")], name)

    assert "ceiling" not in row


def test_without_a_catalogue_there_are_no_levels():
    (row,) = rw.evaluate_beyond({"u": ["a"]}, ["Entropy"], intervals="none").summary

    assert "ceiling" not in row
