"""Ranks of the best positive from score matrices: the papers' code written plainly, every rule for
ties, the three medians.
"""

import json
import math
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from rankwell import judged_rankings
from rankwell._native.resamples import over_resamples
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.rankings import Hits
from rankwell.data.registry import MEASURES, parse_measure
from rankwell.data.tables import Judgments, Values
from rankwell.errors import BadUsage
from rankwell.stats import summarise
from rankwell.tasks.crossmodal.runs import averaged, multiplied
from variants import JUDGED, variants

Scores = list[list[float]]
Positives = list[list[int]]
Five = tuple[float, float, float, float, float]


# ---- worlds: matrices as plain lists
# --------------------------------------------------------------------------------------


def random_matrix(
    seed: int, queries: int, gallery: int, n_positive: int, levels: int = 10**9
) -> tuple[Scores, Positives]:
    """Scores of so many levels, and positives for all queries but every seventh; three items are
    nobody's.
    """
    random = Random(seed)
    scores = [[float(random.randrange(levels)) for _ in range(gallery)] for _ in range(queries)]
    positives = [
        random.sample(range(3, gallery), n_positive if query % 7 != 3 else 0)
        for query in range(queries)
    ]
    return scores, positives


def view_of(scores: Scores, positives: Positives, ties: Any = "input") -> JudgedRankings:
    """The matrix as a view; ids of the gallery do not sort as its positions do."""
    truth = {
        f"q{query:04}": {f"g{item}": 1.0 for item in wanted}
        for query, wanted in enumerate(positives)
    }
    run = {
        f"q{query:04}": {f"g{item}": score for item, score in enumerate(row)}
        for query, row in enumerate(scores)
    }
    return judged_rankings(truth, run, ties=ties)


def value(text: str, view: JudgedRankings, *, expected: bool = False) -> np.ndarray:
    measure = parse_measure(text)
    return measure.entry.expected(view, **dict(measure.arguments)) if expected else measure(view)


def figure(text: str, values: np.ndarray) -> float:
    """The summary over queries, as a row of the output has it."""
    entry = parse_measure(text).entry
    queries = tuple(map(str, range(len(values))))
    (row,) = summarise(
        [Values("run", text, text, entry.unit, entry.summary, queries, values)], intervals="none"
    )
    return 100 * row.mean if entry.unit == "share" else row.mean


def five(values: Callable[[str], np.ndarray]) -> Five:
    return tuple(
        figure(text, values(text))
        for text in ("Success@1", "Success@5", "Success@10", "MedR", "MnR")
    )


# ---- the sources' algorithms
# ----------------------------------------------------------------------------------------------


def figures_of(ranks: Sequence[float]) -> Five:
    """R@1, R@5, R@10, median and mean of 0-based ranks, as eval_q2m makes them."""
    shares = [100 * sum(rank < k for rank in ranks) / len(ranks) for k in (1, 5, 10)]
    return (*shares, statistics.median(ranks) + 1, statistics.fmean(ranks) + 1)


def hgr(scores: Scores, positives: Positives, order: Callable[[int], Any]) -> Five:
    """eval_q2m with a sort that puts tied items in the order of a key."""
    ranks = []
    for row, wanted in zip(scores, positives, strict=True):
        listed = sorted(range(len(row)), key=lambda item, row=row: (-row[item], order(item)))
        ranks.append(min([listed.index(item) for item in wanted], default=len(row)))
    return figures_of(ranks)


def mmt(scores: Scores, positives: Positives) -> Five:
    """MMT's v2t_metrics: each positive's rank is the mean of its tied places; a query without any
    has no finite rank there.
    """
    ranks = []
    for row, wanted in zip(scores, positives, strict=True):
        listed = sorted(-score for score in row)
        means = [
            statistics.fmean([place for place, each in enumerate(listed) if each == -row[item]])
            for item in wanted
        ]
        ranks.append(min(means, default=len(row)))
    found = figures_of(ranks)
    return (100 * sum(rank == 0 for rank in ranks) / len(ranks), *found[1:])


def clip4clip(scores: Scores, positives: Positives) -> tuple[Five, int]:
    """compute_metrics: the positions where the sorted row equals the positive's score, all of
    them.
    """
    ranks = []
    for row, (wanted,) in zip(scores, positives, strict=True):
        ranks += [
            place for place, each in enumerate(sorted(row, reverse=True)) if each - row[wanted] == 0
        ]
    return figures_of(ranks), len(ranks)


# ---- without ties
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_positive", [1, 20])
@pytest.mark.parametrize("turned", [False, True])
def test_five_figures_are_those_of_the_source_for_one_and_many_positives_and_none(
    n_positive: int, turned: bool
) -> None:
    scores, positives = random_matrix(1, 40, 55, n_positive)
    if turned:
        back: Positives = [
            [query for query, wanted in enumerate(positives) if item in wanted]
            for item in range(55)
        ]
        scores, positives = [list(column) for column in zip(*scores, strict=True)], back

    found = five(lambda text: value(text, view_of(scores, positives)))

    assert any(not wanted for wanted in positives)
    assert found == pytest.approx(hgr(scores, positives, lambda item: item), rel=1e-12)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("corridor_netvlad", (67.57, 93.69, 99.10, 1, 2.01)),
        ("corridor_densevlad", (70.27, 95.50, 98.20, 1, 1.91)),
        ("spedtest_netvlad", (67.87, 83.03, 88.30, 1, 9.68)),
        ("spedtest_densevlad", (72.82, 86.49, 90.44, 1, 11.15)),
    ],
)
def test_real_matrices_have_the_published_figures(shared: Path, name: str, expected: Five) -> None:
    scores = np.load(shared / "vpr" / f"{name}_scores.npy").tolist()
    listed = json.loads((shared / "vpr" / f"{name.split('_')[0]}_positives.json").read_text())
    positives = [listed[str(query)] for query in range(len(scores))]

    found = five(lambda text: value(text, view_of(scores, positives)))

    assert tuple(round(each, 2) for each in found) == expected


# ---- ties
# --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def full_of_ties() -> tuple[Scores, Positives]:
    """Inlier counts: whole scores with few levels, the diagonal positive."""
    scores, _ = random_matrix(2, 45, 45, 1, levels=7)
    return scores, [[query] for query in range(45)]


def every_rule(scores: Scores, positives: Positives) -> dict[str, Five]:
    found: dict[str, Five] = {}
    for ties in ("id-desc", "id-asc", "input", "optimistic", "pessimistic"):
        view = view_of(scores, positives, ties).resolve(ties)
        found[ties] = five(lambda text, view=view: value(text, view))
    spread = view_of(scores, positives, "expected")
    found["expected"] = five(lambda text: value(text, spread, expected=True))
    found["averaged"] = five(lambda text: averaged(parse_measure(text), spread))
    wide, _ = multiplied(spread)
    found["multiplied"] = five(lambda text: value(text, wide))
    return found


def test_every_rule_for_ties_has_its_own_figures_and_they_are_those_of_its_source(
    full_of_ties: tuple[Scores, Positives],
) -> None:
    scores, positives = full_of_ties
    by_bytes = sorted(range(len(scores[0])), key=lambda item: f"g{item}".encode())

    found = every_rule(scores, positives)

    assert found["input"] == pytest.approx(hgr(scores, positives, lambda item: item))
    assert found["id-asc"] == pytest.approx(hgr(scores, positives, by_bytes.index))
    assert found["id-desc"] == pytest.approx(
        hgr(scores, positives, lambda item: -by_bytes.index(item))
    )
    assert found["averaged"] == pytest.approx(mmt(scores, positives))
    assert found["multiplied"] == pytest.approx(clip4clip(scores, positives)[0])
    assert len(set(found.values())) == len(found)


def test_best_and_worst_places_are_counted_off_the_rows(
    full_of_ties: tuple[Scores, Positives],
) -> None:
    scores, positives = full_of_ties
    higher = [sum(each > row[query] for each in row) for query, row in enumerate(scores)]
    equal = [sum(each == row[query] for each in row) for query, row in enumerate(scores)]

    found = every_rule(scores, positives)

    assert found["optimistic"] == pytest.approx(figures_of(higher))
    assert found["pessimistic"] == pytest.approx(
        figures_of([h + e - 1 for h, e in zip(higher, equal, strict=True)])
    )


def test_multiplied_queries_are_the_places_that_clip4clip_counts(
    full_of_ties: tuple[Scores, Positives],
) -> None:
    scores, positives = full_of_ties
    view = view_of(scores, positives)

    wide, source = multiplied(view)

    assert len(wide.queries) == clip4clip(scores, positives)[1] > len(scores)
    assert [wide.queries[place] for place in range(len(source))] == [
        view.queries[query] for query in source.tolist()
    ]
    assert (wide.tied == 1).all()


def test_multiplying_changes_nothing_without_ties_and_keeps_queries_that_find_nothing() -> None:
    scores, positives = random_matrix(3, 20, 30, 2)
    view = view_of(scores, positives)

    wide, source = multiplied(view)

    assert source.tolist() == list(range(20))
    assert any(not wanted for wanted in positives)
    for text in ("Success@5", "MedR", "MnR"):
        assert value(text, wide).tobytes() == value(text, view).tobytes()


def test_several_positives_in_one_tie_are_averaged_as_mmt_averages_them() -> None:
    scores, positives = random_matrix(4, 30, 25, 4, levels=5)
    view = view_of(scores, positives, "expected")

    assert five(lambda text: averaged(parse_measure(text), view)) == pytest.approx(
        mmt(scores, positives)
    )


def test_a_tie_of_two_at_the_top_is_not_a_hit_at_one_where_ties_are_averaged() -> None:
    view = view_of([[1.0, 1.0, 0.0]], [[0]], "expected")

    assert averaged(parse_measure("Success@1"), view).tolist() == [0.0]
    assert averaged(parse_measure("MedR"), view).tolist() == [1.5]
    assert value("Success@1", view, expected=True).tolist() == [0.5]


def test_averaging_is_refused_for_measures_that_its_source_does_not_have() -> None:
    view = view_of([[1.0, 1.0]], [[0]], "expected")

    for text in ("AP", "nDCG@10", "Success(judged_only=True)@1"):
        with pytest.raises(BadUsage, match="averaged"):
            averaged(parse_measure(text), view)


def test_the_mean_place_of_all_positives_is_the_same_averaged_and_expected() -> None:
    view = view_of(*random_matrix(5, 20, 15, 3, levels=3), "expected")

    assert (
        averaged(parse_measure("MnR(of='all')"), view).tobytes()
        == value("MnR(of='all')", view, expected=True).tobytes()
    )


# ---- expected values against 10,000 orders of tied items
# ----------------------------------------------------------------

DRAWS = 10_000
SPREAD = [name for name in JUDGED if MEASURES[name].expected not in (None, MEASURES[name].function)]


def drawn(row: list[float], graded: dict[str, float], seed: int) -> JudgedRankings:
    """The rankings of one query in so many random orders of its tied items, each a query of its
    own; places by sorting keys.
    """
    generator = np.random.default_rng(seed)
    places = np.empty((DRAWS, len(row)), dtype=np.int64)
    for draw in range(DRAWS):
        places[draw, np.lexsort((generator.random(len(row)), -np.array(row)))] = np.arange(len(row))
    items = [f"g{item:03}" for item in range(len(row))]
    names = [f"{draw:05}" for draw in range(DRAWS)]
    judgments = Judgments.from_rows(
        [name for name in names for _ in graded],
        list(graded) * DRAWS,
        list(graded.values()) * DRAWS,
        all_queries=names,
    )
    found = [items.index(item) for item in judgments.items]
    above = places[judgments.query_of_row, found]
    ones = np.ones(len(found), dtype=np.int64)
    lengths = np.full(DRAWS, len(row), dtype=np.int64)
    hits = Hits(
        query=judgments.query_of_row,
        row=np.arange(len(found), dtype=np.int64),
        score=-above.astype(np.float64),
        above=above,
        tied=ones,
        before=ones - 1,
        n_retrieved=lengths,
        has_ranking=lengths > 0,
        unknown={},
    )
    return JudgedRankings.join(judgments, hits)


@pytest.fixture(scope="module")
def orders() -> list[tuple[JudgedRankings, JudgedRankings]]:
    """Rows of an inlier matrix with one positive, some positives and graded ones: tied as they are,
    and in random orders.
    """
    random, found = Random(6), []
    for number, grades in enumerate(([1.0], [1.0, 1.0, 1.0, 1.0], [3.0, 1.0, 2.0, 0.0, 1.0, -1.0])):
        row = [float(random.choice((0, 0, 0, 1, 1, 2, 3))) for _ in range(24)]
        items = random.sample(range(24), len(grades))
        graded = {f"g{item:03}": grade for item, grade in zip(items, grades, strict=True)}
        run = {"q": {f"g{item:03}": score for item, score in enumerate(row)}}
        found.append(
            (judged_rankings({"q": graded}, run, ties="expected"), drawn(row, graded, number))
        )
    return found


@pytest.mark.parametrize("name", SPREAD)
def test_the_expected_value_is_the_mean_of_ten_thousand_orders_and_between_best_and_worst(
    name: str, orders: list[tuple[JudgedRankings, JudgedRankings]]
) -> None:
    for view, random_orders in orders:
        for measure in variants(name):
            expected = measure.entry.expected(view, **dict(measure.arguments))[0]
            values = measure(random_orders)
            if math.isnan(expected):
                assert np.isnan(values).all(), str(measure)
                continue
            error = 5 * values.std() / math.sqrt(DRAWS) + 1e-12
            assert abs(values.mean() - expected) <= error, str(measure)
            is_ordered = (
                measure.entry.better != "neither"
                and "swap for the better" not in measure.entry.exempt
            )
            if is_ordered and "gains" not in dict(measure.arguments):
                ends = sorted(
                    float(measure(view.resolve(ties))[0]) for ties in ("optimistic", "pessimistic")
                )
                assert ends[0] - 1e-12 <= expected <= ends[1] + 1e-12, str(measure)


# ---- queries without anything found, and the three medians
# -----------------------------------------------------------------


def test_what_is_not_found_ranks_after_everything_or_is_left_out() -> None:
    view = judged_rankings(
        {"a": {"x": 1}, "b": {}, "c": {"x": 1}}, {"a": {"y": 2.0, "z": 1.0}, "b": {"y": 1.0}}
    )

    assert value("MedR", view).tolist()[:2] == [3.0, 2.0]
    assert math.isnan(value("MedR", view)[2])
    assert value("MedR(n_items=50)", view).tolist() == [51.0, 51.0, 51.0]
    assert np.isnan(value("MnR(missing='skip')", view)).all()


def test_a_collection_smaller_than_a_list_is_refused() -> None:
    view = judged_rankings({"a": {"x": 1}}, {"a": {"y": 2.0, "z": 1.0}})

    with pytest.raises(BadUsage, match=r"n_items=1, and query 'a' ranks 2 items"):
        value("MedR(n_items=1)", view)


def test_mean_ranks_of_all_positives_count_those_that_are_not_found() -> None:
    view = judged_rankings({"q": {"a": 1, "b": 1, "z": 1}}, {"q": {"a": 3.0, "x": 2.0, "b": 1.0}})

    assert value("MnR(of='all')", view).tolist() == [(1 + 3 + 4) / 3]
    assert value("MnR(of='all',missing='skip')", view).tolist() == [2.0]
    assert value("MnR(of='all',n_items=9)", view).tolist() == [(1 + 3 + 10) / 3]


MEDIANS: dict[str, Callable[[Sequence[float]], float]] = {
    "median": statistics.median,
    "median_low": statistics.median_low,
    "median_floor": lambda ranks: math.floor(statistics.median(ranks)),
}


@pytest.mark.parametrize("summary", list(MEDIANS))
@pytest.mark.parametrize("ranks", [[1.0, 2.0, 3.0, 4.0], [7.0, 1.0, 1.0], [1.0, 2.5], [5.0]])
def test_the_three_medians_differ_where_the_number_of_queries_is_even(
    summary: str, ranks: list[float]
) -> None:
    (row,) = summarise(
        [
            Values(
                "run",
                "MedR",
                "MedR",
                "rank",
                summary,
                tuple(map(str, range(len(ranks)))),
                np.array(ranks),
            )
        ]
    )

    assert row.mean == MEDIANS[summary](ranks)


@pytest.mark.parametrize(
    ("name", "summary"), list(zip(("MedR", "MedRLow", "MedRFloor"), MEDIANS, strict=True))
)
def test_each_median_is_a_measure_of_its_own(name: str, summary: str) -> None:
    assert MEASURES[name].summary == summary


@pytest.mark.parametrize("summary", list(MEDIANS))
@pytest.mark.parametrize("n", [11, 12])
def test_intervals_of_medians_are_percentiles_of_medians_of_resamples(summary: str, n: int) -> None:
    random = Random(7)
    ranks = [float(random.randrange(1, 40)) for _ in range(n)]
    values = Values(
        "run", "MedR", "MedR", "rank", summary, tuple(map(str, range(n))), np.array(ranks)
    )

    (row,) = summarise([values], resamples=500, seed=3)

    counts = np.concatenate(over_resamples(n, 500, np.copy, seed=3)).astype(int)
    drawn_figures = [MEDIANS[summary](np.repeat(ranks, each).tolist()) for each in counts]
    assert (row.ci_low, row.ci_high) == pytest.approx(
        tuple(np.quantile(drawn_figures, [0.025, 0.975]))
    )
