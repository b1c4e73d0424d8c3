"""What instance search measures: two areas under one name, precision that stops at the last right
one, and the source's sums.
"""

import math
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import rankwell as rw
from oracles import instances as by_hand
from oracles.average_precision import AP
from rankwell.errors import BadInput
from rankwell.tasks.images import task
from rankwell.vectors.neighbours import search


def evaluate_images(*arguments: Any, **options: Any) -> Any:
    """An evaluation by the words and rules of the thesis."""
    return task.evaluate_images(*arguments, **{"convention": "thesis"} | options)


def ranked(marks: str) -> rw.JudgedRankings:
    """One query whose list has a right reference wherever a letter is `r`."""
    items = [f"d{place}" for place in range(len(marks))]
    truth = {item: 1 for item, mark in zip(items, marks, strict=True) if mark == "r"}
    return rw.judged_rankings(
        {"q": truth}, {"q": {item: -float(place) for place, item in enumerate(items)}}
    )


def value(name: str, marks: str) -> float:
    return float(rw.parse_measure(name)(ranked(marks))[0])


@pytest.mark.parametrize(
    ("marks", "plain", "trapezoid"),
    [
        ("r..", 1.0, 1.0),
        (".r.", 1 / 2, 1 / 4),
        ("." * 9 + "r", 1 / 10, 1 / 20),
        ("rr.", 1.0, 1.0),
        ("r.r", (1 + 2 / 3) / 2, (1 + (1 / 2 + 2 / 3) / 2) / 2),
        (".rr", (1 / 2 + 2 / 3) / 2, ((0 + 1 / 2) / 2 + (1 / 2 + 2 / 3) / 2) / 2),
    ],
)
def test_the_two_areas_under_the_name_of_average_precision(
    marks: str, plain: float, trapezoid: float
) -> None:
    assert value("AP", marks) == pytest.approx(plain, abs=1e-15)
    assert value("AP(area='trapezoid')", marks) == pytest.approx(trapezoid, abs=1e-15)


def test_the_trapezoid_is_equal_to_plain_ap_only_where_all_right_ones_come_first() -> None:
    random = Random(7)
    for _ in range(300):
        marks = "".join(random.choice("rw") for _ in range(random.randint(1, 12)))
        if "r" not in marks:
            continue
        plain, trapezoid = value("AP", marks), value("AP(area='trapezoid')", marks)
        comes_first = marks.lstrip("r").count("r") == 0

        assert trapezoid <= plain + 1e-15
        assert math.isclose(plain, trapezoid, abs_tol=1e-15) == comes_first, marks


def test_two_ways_to_write_the_trapezoid_down_agree() -> None:
    random = Random(8)
    for _ in range(200):
        ranking = [f"d{place}" for place in range(random.randint(1, 15))]
        grades = dict.fromkeys(random.sample(ranking, random.randint(1, len(ranking))), 1)
        marks = ["right" if item in grades else "wrong" for item in ranking]

        assert AP(ranking, grades, area="trapezoid") == pytest.approx(
            by_hand.revisited_ap(marks, len(grades)), abs=1e-12
        )


def test_precision_that_stops_at_the_last_right_reference() -> None:
    assert value("P@10", "rr" + "." * 8) == 0.2
    assert value("P(denom='last')@10", "rr" + "." * 8) == 1.0
    assert value("P(denom='last')@10", "r..r......") == 2 / 4
    assert value("P(denom='last')@3", "r..r......") == 1 / 3


def test_precision_to_the_last_right_reference_looks_at_all_places_where_one_is_missing() -> None:
    view = rw.judged_rankings({"q": {"a": 1, "z": 1}}, {"q": {"a": 2.0, "b": 1.0}})

    assert rw.parse_measure("P(denom='last')@4")(view).tolist() == [1 / 4]


def test_other_words_for_the_measures_of_the_field() -> None:
    assert str(rw.parse_measure("cmc@5")) == "Success@5"
    assert str(rw.parse_measure("map_at_r")) == "APatR"
    assert str(rw.parse_measure("AP(area='trapezoid')@20")) == "AP(area='trapezoid')@20"


@pytest.mark.parametrize(
    ("matrix", "first", "plain", "trapezoid"),
    [
        ("corridor_netvlad", 67.57, 51.46, 48.23),
        ("corridor_densevlad", 70.27, 65.41, 62.44),
        ("spedtest_netvlad", 67.87, 74.80, 71.34),
        ("spedtest_densevlad", 72.82, 78.97, 75.90),
    ],
)
def test_real_matrices_have_the_figures_that_others_computed(
    shared: Path, matrix: str, first: float, plain: float, trapezoid: float
) -> None:
    positives = shared / "vpr" / f"{matrix.partition('_')[0]}_positives.json"
    result = evaluate_images(
        scores=shared / "vpr" / f"{matrix}_scores.npy", qrels=positives, intervals="none"
    )
    figures = {row["label"]: round(row["mean"], 2) for row in result.summary}

    assert (figures["MP@1"], figures["MAP"], figures["MAP-trapezoid"]) == (first, plain, trapezoid)
    assert {row["unit"] for row in result.summary} == {"percent"}


# ---- the source's arithmetic
# ---------------------------------------------------------------------------------------------


def unit(n: int, d: int, seed: int) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((n, d))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_the_squared_distance_of_unit_vectors_is_two_less_twice_their_product() -> None:
    one, other = unit(30, 16, 1), unit(40, 16, 2)
    distances = ((one[:, None, :] - other[None, :, :]) ** 2).sum(axis=2)

    assert distances == pytest.approx(2 - 2 * one @ other.T, abs=1e-12)


def test_unit_vectors_are_ranked_alike_by_product_cosine_and_distance() -> None:
    queries, references = unit(30, 16, 3), unit(200, 16, 4)
    lists = [
        search(queries, references, k=200, metric=metric).positions.tolist()
        for metric in ("dot", "cosine", "l2")
    ]

    assert lists[0] == lists[1] == lists[2]


def test_vectors_of_other_lengths_are_ranked_otherwise_by_the_product() -> None:
    references = unit(200, 16, 5) * np.linspace(0.1, 3.0, 200)[:, None]
    lists = [
        search(unit(30, 16, 6), references, k=5, metric=metric).positions.tolist()
        for metric in ("dot", "cosine")
    ]

    assert lists[0] != lists[1]


def test_a_zero_vector_is_refused_with_its_place() -> None:
    references = unit(5, 4, 7)
    references[3] = 0
    truth = {str(query): [0] for query in range(2)}

    with pytest.raises(BadInput, match="row 3"):
        evaluate_images(query_vectors=unit(2, 4, 8), item_vectors=references, qrels=truth)
