"""Ceilings and chance levels: the perfect ranker, the one that knows nothing, and rankings that
queries or items must share.
"""

import itertools
import math
from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from make import grades
from rankwell import judged_rankings
from rankwell.data.judged_rankings import JudgedRankings, expected_values
from rankwell.data.registry import MEASURES, parse_measure
from rankwell.data.tables import Judgments
from rankwell.errors import BadInput
from rankwell.evaluation.judged import constant, ideal, ideal_if_shared
from variants import JUDGED, variants

Truth = dict[str, dict[str, float]]


def counts(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


def value(text: str, view: JudgedRankings, *, expected: bool = False) -> list[float]:
    measure = parse_measure(text)
    return (
        measure.entry.expected(view, **dict(measure.arguments)) if expected else measure(view)
    ).tolist()


def shuffled_lists(
    graded: dict[str, float], others: int, number: int, random: Random
) -> Iterator[dict[str, float]]:
    """Rankings of all judged and some unjudged items in random orders."""
    pool = [*graded, *(f"new{each}" for each in range(others))]
    for _ in range(number):
        yield {item: -float(rank) for rank, item in enumerate(random.sample(pool, len(pool)))}


# ---- the perfect ranker
# --------------------------------------------------------------------------------------------------


def test_the_perfect_ranker_returns_the_best_grades_first() -> None:
    view = ideal(
        Judgments.from_dict(
            {"q": {"a": 1, "b": 3, "c": 0, "d": -1}, "r": {"a": 1, "b": 2}, "s": {}}
        ),
        counts(9, 1, 4),
    )

    assert view.ranks.tolist() == [1, 2, 3, 4, 1]
    assert view.grades.tolist() == [3, 1, 0, -1, 2]
    assert view.n_retrieved.tolist() == [9, 1, 4]
    assert value("nDCG@10", view) == [1.0, 2 / (2 + 1 / math.log2(3)), 0.0]


@pytest.mark.parametrize(
    "name", [name for name in JUDGED if "swap for the better" not in MEASURES[name].exempt]
)
def test_no_order_of_the_same_items_is_better_than_the_perfect_one(name: str) -> None:
    random = Random(1)
    graded = {
        item: max(grade, 0.0)
        for item, grade in grades(random, list("abcdefgh"), relevant=True).items()
    }
    lists = {
        f"{number:03}": scored
        for number, scored in enumerate(shuffled_lists(graded, 5, 60, random))
    }
    drawn = judged_rankings(dict.fromkeys(lists, graded), lists)
    best = ideal(Judgments.from_dict({"q": graded}), counts(13))
    for measure in variants(name):
        if measure.entry.better == "higher" and "gains" not in dict(measure.arguments):
            values = measure(drawn)
            known = values[~np.isnan(values)]  # some leave out queries without a hit
            assert len(known), str(measure)
            assert (known <= measure(best)[0] + 1e-12).all(), str(measure)
        elif measure.entry.better == "lower":
            assert not (measure(drawn) < measure(best)[0] - 1e-12).any(), str(measure)


def test_junk_is_in_no_ideal_ranking() -> None:
    judgments = Judgments.from_rows(["q", "q"], ["a", "b"], [1.0, 1.0], junk=[True, False])

    for view in (ideal(judgments, counts(3)), constant(judgments, counts(3))):
        assert view.judged_grades.tolist() == [1.0]
        assert [judgments.items[row] for row in view.items.tolist()] == ["b"]
        assert view.n_retrieved.tolist() == [3]


# ---- chance
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["Success@1", "Success@5", "P@5", "R@5", "RR", "AP", "nDCG@5", "MnR", "MnR(of='all')"]
)
def test_the_chance_level_is_what_random_orders_of_the_candidates_come_to(text: str) -> None:
    random, graded = Random(2), {"a": 1.0, "b": 2.0, "c": 0.0, "d": 1.0}
    lists = {
        f"{number:04}": scored
        for number, scored in enumerate(shuffled_lists(graded, 14, 3000, random))
    }
    drawn = np.array(value(text, judged_rankings(dict.fromkeys(lists, graded), lists)))

    [chance] = value(text, constant(Judgments.from_dict({"q": graded}), counts(18)), expected=True)

    assert abs(drawn.mean() - chance) <= 5 * drawn.std() / math.sqrt(len(drawn))


def test_one_positive_among_n_is_hit_by_chance_k_times_in_n() -> None:
    view = constant(Judgments.from_dict({"q": {"a": 1.0}}), counts(250))

    assert value("Success@1", view, expected=True) == pytest.approx([1 / 250], rel=1e-12)
    assert value("Success@10", view, expected=True) == pytest.approx([10 / 250], rel=1e-12)
    assert value("MedR", view, expected=True) == [251 / 2]


@pytest.mark.parametrize("name", [name for name in JUDGED if MEASURES[name].expected is not None])
def test_chance_levels_computed_once_for_alike_queries_are_those_of_each(name: str) -> None:
    random = Random(3)
    truth = {
        f"q{number}": {item: float(random.choice((0, 1, 2))) for item in "abc"}
        for number in range(30)
    }
    view = constant(
        Judgments.from_dict(truth),
        np.array([random.choice((5, 9)) for _ in range(30)], dtype=np.int64),
    )
    for measure in variants(name):
        single = np.concatenate(
            [
                measure.entry.expected(view.take(counts(query)), **dict(measure.arguments))
                for query in range(30)
            ]
        )

        np.testing.assert_allclose(expected_values(measure, view), single, rtol=1e-13)


def test_a_measure_without_a_closed_form_has_no_chance_level() -> None:
    view = constant(Judgments.from_dict({"q": {"a": 1.0}}), counts(4))

    assert np.isnan(expected_values(parse_measure("Bpref"), view)).all()


def test_numbers_of_items_that_cannot_be_are_refused_by_query() -> None:
    judgments = Judgments.from_dict({"q": {"a": 1.0, "b": 1.0}, "r": {"a": 1.0}})

    with pytest.raises(BadInput, match="query 'q' has 2 judged items and 1 candidates"):
        constant(judgments, counts(1, 1))


# ---- queries that share a ranking
# -------------------------------------------------------------------------------------------


def shared_by_search(truth: Truth, gallery: str, text: str, lower: bool = False) -> float:
    """The best mean that one ranking for all queries can have: every order of the gallery is
    tried.
    """
    found = []
    for order in itertools.permutations(gallery):
        scored = {item: -float(rank) for rank, item in enumerate(order)}
        found.append(
            float(np.mean(value(text, judged_rankings(truth, dict.fromkeys(truth, scored)))))
        )
    return min(found) if lower else max(found)


@pytest.mark.parametrize("text", ["Success@1", "Success@2", "Success@3", "RR", "MnR"])
@pytest.mark.parametrize(
    "wanted",
    [("a", "b", "a", "c"), ("a", "a", "a"), ("a", "b", "c", "d", "e"), ("ab", "ab", "c", "de")],
)
def test_identical_queries_reach_no_more_than_the_best_ranking_that_they_can_share(
    wanted: tuple[str, ...], text: str
) -> None:
    truth = {f"q{number}": dict.fromkeys(items, 1.0) for number, items in enumerate(wanted)}
    view = ideal_if_shared(Judgments.from_dict(truth), [0] * len(truth), np.full(len(truth), 5))

    assert np.mean(value(text, view)) == pytest.approx(
        shared_by_search(truth, "abcde", text, lower=text == "MnR")
    )


@pytest.mark.parametrize("wanted", [("ab", "bc", "cd", "a"), ("abc", "cd", "de", "ea")])
def test_positives_that_overlap_in_part_still_have_the_best_first_item(
    wanted: tuple[str, ...],
) -> None:
    truth = {f"q{number}": dict.fromkeys(items, 1.0) for number, items in enumerate(wanted)}
    view = ideal_if_shared(Judgments.from_dict(truth), [0] * len(truth), np.full(len(truth), 5))

    assert np.mean(value("Success@1", view)) == shared_by_search(truth, "abcde", "Success@1")


def test_groups_of_queries_do_not_disturb_each_other() -> None:
    truth = {
        "q1": {"a": 1.0},
        "q2": {"b": 1.0},
        "q3": {"a": 1.0},
        "q4": {"b": 1.0, "z": 0.0},
        "q5": {},
    }
    alone = ideal_if_shared(Judgments.from_dict(truth), range(5), np.full(5, 9))
    pairs = ideal_if_shared(Judgments.from_dict(truth), [7, 7, 3, 3, 1], np.full(5, 9))

    assert value("Success@1", alone) == [1.0, 1.0, 1.0, 1.0, 0.0]
    assert value("MedR", pairs) == [1.0, 2.0, 1.0, 2.0, 10.0]


def test_a_ceiling_of_shared_rankings_is_reached_by_no_scorer_that_gives_identical_queries_one_row() -> (  # noqa: E501
    None
):
    generator = np.random.default_rng(4)
    groups = [number // 3 for number in range(30)]
    truth = {f"q{number:02}": {f"g{generator.integers(0, 6)}": 1.0} for number in range(30)}
    ceiling = np.mean(
        value("Success@1", ideal_if_shared(Judgments.from_dict(truth), groups, np.full(30, 6)))
    )

    reached = []
    for _ in range(300):
        rows = generator.random((10, 6))
        run = {
            query: {f"g{item}": rows[groups[number]][item] for item in range(6)}
            for number, query in enumerate(truth)
        }
        reached.append(np.mean(value("Success@1", judged_rankings(truth, run))))

    assert max(reached) <= ceiling < 1.0
