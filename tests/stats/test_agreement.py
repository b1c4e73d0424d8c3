"""Coefficients of agreement: published tables, the packages krippendorff and irrCAC, weights,
intervals, undefined values.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from rankwell.stats.agreement import COHEN, SHARED, Ratings, agreement, coefficients, confusion

PEERS = json.loads(
    (Path(__file__).parents[1] / "golden" / "agreement.json").read_text(encoding="utf-8")
)["cases"]
TOLERANCE = {"Krippendorff": 1e-12}
"""irrCAC rounds to five decimals."""

# Krippendorff 2011, Computing Krippendorff's alpha-reliability, section C; Gwet 2014, chapter 5,
# uses the same table.
FOUR_OBSERVERS = """1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 ."""

# Wikipedia, Fleiss' kappa: ten items, 14 raters, five categories.
FOURTEEN_RATERS = """0 0 0 0 14
0 2 6 4 2
0 0 3 5 6
0 3 9 2 0
2 2 8 1 1
7 7 0 0 0
3 2 6 3 0
2 5 3 2 2
6 5 2 1 0
0 2 2 3 7"""


def ratings(rows, scale, **more):
    grades = [[np.nan if grade in (None, ".") else float(grade) for grade in row] for row in rows]
    return Ratings(grades=np.array(grades), scale=scale, **more)


def drawn(seed, n=300, judges=2, scale=(0, 1, 2, 3)):
    random = np.random.default_rng(seed)
    truth = random.choice(scale, n)
    own = [np.where(random.random(n) < 0.6, truth, random.choice(scale, n)) for _ in range(judges)]
    return np.column_stack(own).astype(np.float64)


@pytest.mark.parametrize(
    "case", PEERS, ids=lambda case: f"{len(case['items'][0])} judges {len(case['scale'])} grades"
)
def test_coefficients_equal_those_of_krippendorff_and_irrcac(case):
    found = coefficients(ratings(case["items"], case["scale"]))

    assert set(case["values"]) >= set(found) - {"agreement"}
    for name, value in case["values"].items():
        assert found[name] == pytest.approx(
            value, rel=0, abs=TOLERANCE.get(name.split("'")[0], 1e-5)
        ), name


def test_the_published_table_of_four_observers():
    rows = list(zip(*(line.split() for line in FOUR_OBSERVERS.splitlines()), strict=True))

    found = coefficients(ratings(rows, [1, 2, 3, 4, 5]))

    published = {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849}
    assert [round(found[f"Krippendorff's alpha ({name})"], 3) for name in published] == list(
        published.values()
    )
    assert (round(found["Fleiss' kappa"], 4), round(found["Gwet's AC1"], 4)) == (0.7612, 0.7754)


def test_the_published_table_of_fourteen_raters():
    rows = [[int(number) for number in line.split()] for line in FOURTEEN_RATERS.splitlines()]

    found = coefficients(ratings([np.repeat(range(5), row) for row in rows], range(5)))

    assert (round(found["agreement"], 3), round(found["Fleiss' kappa"], 3)) == (0.378, 0.210)


def test_the_published_table_of_two_diagnosticians():
    # Fleiss, Cohen and Everitt 1969, Large sample standard errors of kappa and weighted kappa,
    # table 1, in per cent.
    table = [[53, 5, 2], [11, 14, 5], [1, 6, 3]]
    rows = [
        (row, column) for row in range(3) for column in range(3) for _ in range(table[row][column])
    ]

    own = ratings(rows, range(3))

    assert confusion(own).tolist() == table
    assert round(coefficients(own)["Cohen's kappa"], 3) == 0.429


def test_an_item_of_weight_three_counts_as_three_items():
    grades = drawn(1, 40)
    weights = np.arange(40) % 3 + 1

    weighted = coefficients(
        Ratings(grades=grades, scale=(0, 1, 2, 3), weights=weights.astype(np.float64))
    )

    assert weighted == pytest.approx(
        coefficients(Ratings(grades=np.repeat(grades, weights, axis=0), scale=(0, 1, 2, 3)))
    )


def test_judges_who_always_agree_have_1_and_a_single_grade_leaves_most_undefined():
    same = coefficients(ratings([(0, 0), (1, 1), (1, 1)], (0, 1)))
    single = coefficients(ratings([(1, 1), (1, 1)], (0, 1)))

    assert set(same.values()) == {1.0}
    assert [
        single[name] for name in (*COHEN, "Fleiss' kappa", "Krippendorff's alpha (ordinal)")
    ] == [None] * 4
    assert single["agreement"] == single["Gwet's AC1"] == 1


def test_a_grade_outside_the_scale_is_refused():
    with pytest.raises(ValueError, match="not on the scale"):
        coefficients(ratings([(0, 7)], (0, 1)))


def test_intervals_draw_queries_and_need_ten_of_them():
    grades, queries = drawn(2), np.arange(300) % 30

    found = agreement(Ratings(grades=grades, scale=(0, 1, 2, 3), queries=queries), resamples=2000)
    few = agreement(Ratings(grades=grades, scale=(0, 1, 2, 3), queries=queries % 9), resamples=200)

    # Two judges agree where both see the truth, or by chance: .6² + (1 − .6²)/4 = .52.
    assert found["agreement"].interval == pytest.approx((0.52 - 0.0577, 0.52 + 0.0577), abs=0.06)
    assert set(found) == {*SHARED, *COHEN}
    assert all(low < each.value < high for each in found.values() for low, high in [each.interval])
    assert all(each.interval is None and each.value is not None for each in few.values())


def test_an_interval_of_equal_queries_is_narrow_and_of_few_pairs_is_none():
    # Each query has the same confusion, so that no resample differs from another.
    equal = np.tile([(0.0, 0.0), (1.0, 1.0), (0.0, 1.0)], (20, 1))
    found = agreement(
        Ratings(grades=equal, scale=(0, 1), queries=np.repeat(np.arange(20), 3)), resamples=200
    )
    # One query in ten has the only disagreement and the only second grade: a third of the resamples
    # have neither.
    lone = np.array([(0.0, 0.0)] * 9 + [(0.0, 1.0)])
    undefined = agreement(Ratings(grades=lone, scale=(0, 1)), resamples=2000)

    assert found["Cohen's kappa"].interval == pytest.approx((0.4, 0.4))
    assert undefined["Cohen's kappa"].interval is None
    assert undefined["agreement"].interval is not None


def test_half_of_the_intervals_of_half_the_level_hold_the_truth():
    truth = coefficients(Ratings(grades=drawn(99, 200_000), scale=(0, 1, 2, 3)))["Cohen's kappa"]

    held = [
        low <= truth <= high
        for seed in range(120)
        for found in [
            agreement(
                Ratings(grades=drawn(seed, 150), scale=(0, 1, 2, 3)), level=0.5, resamples=400
            )
        ]
        for low, high in [found["Cohen's kappa"].interval]
    ]

    # Four standard errors of a share of one half in 120.
    assert np.mean(held) == pytest.approx(0.5, abs=4 * (0.25 / 120) ** 0.5)
