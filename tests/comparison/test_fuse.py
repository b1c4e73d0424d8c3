"""Fusion: methods and normalisations against their definitions in plain Python, and tuning that may
not look at its own query.
"""

import json
import math
import random
import statistics
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import rankwell
from rankwell import cli
from rankwell.comparison.fusion import METHODS, NORMALISATIONS, parse_fusion
from rankwell.comparison.fusion.runs import fuse, tune_fusion
from rankwell.errors import BadScore, BadUsage, DuplicateItem, NothingToEvaluate, UnknownName

Scores = dict[str, dict[str, float]]


def test_weights_that_are_no_list_of_numbers_are_refused():
    runs = [{"q": {"a": 2.0, "b": 1.0}}, {"q": {"b": 2.0}}]

    for weights in ("0.3,0.7", {"a": 0.3, "b": 0.7}, ["0.3", "0.7"], 1.0):
        with pytest.raises(BadUsage, match=r"^weights is .*; expected a list of numbers\.$"):
            rankwell.fuse(runs, weights=weights)  # pyright: ignore[reportArgumentType]


def made(seed: int, runs: int = 3, queries: int = 8, *, lowest: float = 0.5) -> list[Scores]:
    """Runs with ties, constant lists, single items, and queries that some of them lack."""
    dice = random.Random(seed)
    pool = [f"d{number}" for number in range(14)] + ["é", "z", "Z"]
    found: list[Scores] = []
    for run in range(runs):
        scores: Scores = {}
        for query in range(queries):
            if (query + run) % 7 == 5:
                continue
            items = dice.sample(pool, dice.choice([1, 4, 9]))
            constant = dice.random() < 0.2
            scores[f"q{query}"] = {
                item: 2.0 if constant else lowest + dice.randrange(6) / 4 for item in items
            }
        found.append(scores)
    return found


def ordered(scored: dict[str, float]) -> list[str]:
    """By falling score, and by falling bytes in a tie."""
    return sorted(
        sorted(scored, key=lambda item: item.encode(), reverse=True), key=lambda item: -scored[item]
    )


def normalised(scored: dict[str, float], how: str, candidates: int) -> dict[str, float]:
    values = list(scored.values())
    low, high, n = min(values), max(values), len(values)
    if how == "min-max":
        return {
            item: (score - low) / (high - low) if high > low else 1.0
            for item, score in scored.items()
        }
    if how == "min-max-inverted":
        return {
            item: (high - score) / (high - low) if high > low else 1.0
            for item, score in scored.items()
        }
    if how == "sum":
        total = math.fsum(score - low for score in values)
        return {
            item: (score - low) / total if high > low else 1 / n for item, score in scored.items()
        }
    if how == "max":
        return {item: score / high for item, score in scored.items()}
    if how == "z-score":
        sd = statistics.pstdev(values)
        return {
            item: (score - statistics.mean(values)) / sd if high > low else 0.0
            for item, score in scored.items()
        }
    if how in ("rank", "borda"):
        return {
            item: 1 - place / (n if how == "rank" else candidates)
            for place, item in enumerate(ordered(scored))
        }
    return scored


def oracle(
    runs: list[Scores],
    method: str,
    how: str = "none",
    *,
    weights: list[float] | None = None,
    absent: str = "",
    depth: int = 99,
) -> Scores:
    """The definitions, read off item by item."""
    name, _, inner = method.rstrip(")").partition("(")
    number = float(inner.partition("=")[2]) if inner else 60.0
    weighted = [
        (run, weight)
        for run, weight in zip(runs, weights or [1.0] * len(runs), strict=True)
        if weight
    ]
    fused: Scores = {}
    for query in {query for run, _ in weighted for query in run}:
        lists = []
        for run, weight in weighted:
            cut = {item: run[query][item] for item in ordered(run.get(query, {}))[:depth]}
            lists.append((cut, weight))
        every = {item for cut, _ in lists for item in cut}
        fused[query] = {}
        for item in every:
            parts, points, of_ranks = [], [], []
            for cut, weight in lists:
                values = normalised(cut, how, len(every)) if cut else {}
                rank = ordered(cut).index(item) + 1 if item in cut else None
                missing = 0.0
                if (absent or ("lowest" if how == "z-score" else "zero")) == "lowest" and values:
                    missing = min(values.values())
                elif how == "borda" and not absent and values:
                    places = range(len(cut) + 1, len(every) + 1)
                    missing = (
                        statistics.mean(1 - (place - 1) / len(every) for place in places)
                        if places
                        else 0.0
                    )
                parts.append(weight * values.get(item, missing))
                points.append(
                    weight * (len(every) - rank + 1 if rank else (len(every) - len(cut) + 1) / 2)
                )
                if rank:
                    of_ranks.append((rank, weight, values[item]))
            found, values = len(of_ranks), [value for _, _, value in of_ranks]
            square = math.fsum(weight / rank**2 for rank, weight, _ in of_ranks)
            fused[query][item] = {
                "rrf": lambda: math.fsum(weight / (number + rank) for rank, weight, _ in of_ranks),  # noqa: B023
                "isr": lambda: found * square,  # noqa: B023
                "log-isr": lambda: math.log(found) * square,  # noqa: B023
                "borda": lambda: math.fsum(points),  # noqa: B023
                "logn-isr": lambda: math.log(found + (number if inner else 0.01)) * square,  # noqa: B023
                "rbc": lambda: math.fsum(
                    weight * (1 - number) * number ** (rank - 1)
                    for rank, weight, _ in of_ranks  # noqa: B023
                ),
                "wmnz": lambda: math.fsum(values) * math.fsum(weight for _, weight, _ in of_ranks),  # noqa: B023
                "mixed": lambda: (
                    math.sqrt(found) * math.fsum(weight * value for _, weight, value in of_ranks)  # noqa: B023
                ),
                "combsum": lambda: math.fsum(parts),  # noqa: B023
                "combmnz": lambda: found * math.fsum(parts),  # noqa: B023
                "combgmnz": lambda: found**number * math.fsum(parts),  # noqa: B023
                "combanz": lambda: math.fsum(values) / found,  # noqa: B023
                "combmin": lambda: min(values),  # noqa: B023
                "combmax": lambda: max(values),  # noqa: B023
                "combmed": lambda: statistics.median(values),  # noqa: B023
            }[name]()
    return fused


def scores_of(ranking: rankwell.Ranking) -> Scores:
    bounds = ranking.offsets.tolist()
    return {
        query: dict(
            zip(ranking.items[start:stop], ranking.scores[start:stop].tolist(), strict=True)
        )
        for query, start, stop in zip(ranking.queries, bounds[:-1], bounds[1:], strict=True)
    }


def assert_same(found: rankwell.Ranking, expected: Scores) -> None:
    """Close scores for the same items, which stand by falling score and falling bytes."""
    fused = scores_of(found)
    assert fused.keys() == expected.keys()
    for query, scored in fused.items():
        assert scored == pytest.approx(expected[query], rel=1e-12, abs=1e-12)
        assert list(scored) == ordered(scored)


BY_RANK = [
    "rrf",
    "rrf(k=0)",
    "rrf(k=10.5)",
    "isr",
    "log-isr",
    "logn-isr",
    "logn-isr(sigma=0.5)",
    "rbc(phi=0.8)",
    "borda",
]
BY_SCORE = [
    "combsum",
    "combmnz",
    "combgmnz(gamma=0.5)",
    "wmnz",
    "mixed",
    "combanz",
    "combmin",
    "combmax",
    "combmed",
]
HOW = ["none", "min-max", "min-max-inverted", "sum", "max", "z-score", "rank", "borda"]


def test_every_method_and_normalisation_has_an_oracle() -> None:
    learn = {
        name for name in METHODS if METHODS[name].learns
    }  # tests/comparison/test_trained_fusion.py
    assert {text.partition("(")[0] for text in BY_RANK + BY_SCORE} | {"condorcet"} | learn == set(
        METHODS
    )
    assert set(HOW) == set(NORMALISATIONS)


@pytest.mark.parametrize("depth", [99, 3])
@pytest.mark.parametrize("runs", [2, 3, 5])
@pytest.mark.parametrize("method", BY_RANK)
def test_methods_of_ranks_follow_their_definitions(method: str, runs: int, depth: int) -> None:
    world = made(runs, runs)

    assert_same(fuse(world, method=method, depth=depth), oracle(world, method, depth=depth))


@pytest.mark.parametrize("weights", [None, [0.5, 0.3, 0.2]])
@pytest.mark.parametrize("seed", range(4))
def test_condorcet_puts_no_item_behind_one_that_a_majority_ranks_below_it(
    seed: int, weights: list[float] | None
) -> None:
    world = made(40 + seed)
    fused = scores_of(fuse(world, method="condorcet", weights=weights))

    circular = 0
    for query, scored in fused.items():
        lists = [ordered(run.get(query, {})) for run in world]

        def margin(item: str, other: str) -> float:
            """By how much more weight the item is ranked above the other one than below it."""
            places = [
                [own.index(each) if each in own else math.inf for each in (item, other)]
                for own in lists  # noqa: B023
            ]
            return round(
                sum(
                    weight * ((a < b) - (a > b))
                    for weight, (a, b) in zip(weights or [1.0] * 3, places, strict=True)
                ),
                9,
            )

        order = list(scored)
        assert list(scored.values()) == list(range(len(order), 0, -1))
        assert all(margin(item, after) >= 0 for item, after in pairwise(order))
        beaten = [
            margin(item, after) < 0
            for place, item in enumerate(order)
            for after in order[place + 1 :]
        ]
        circular += any(beaten)
        if not any(
            margin(item, other) == 0 for item in order for other in order if item != other
        ) and not any(beaten):
            wins = {item: sum(margin(item, other) > 0 for other in order) for item in order}
            assert order == sorted(order, key=lambda item: -wins[item])
    assert circular < len(fused)


def test_condorcet_does_not_depend_on_the_order_of_runs() -> None:
    world = made(47, 5)

    assert scores_of(fuse(world, method="condorcet")) == scores_of(
        fuse(world[::-1], method="condorcet")
    )


def test_the_sum_of_borda_scores_is_the_borda_count_over_the_number_of_items() -> None:
    world = made(48)
    counted, summed = (
        scores_of(fuse(world, **words))
        for words in ({"method": "borda"}, {"method": "combsum", "normalization": "borda"})
    )

    for query, scored in counted.items():
        present = sum(query in run for run in world)
        # What a run without the query gives each item.
        empty = (len(world) - present) * (len(scored) + 1) / 2
        assert {
            item: (score - empty) / len(scored) for item, score in scored.items()
        } == pytest.approx(summed[query])


def test_distances_are_refused_with_a_depth_that_keeps_the_highest_scores() -> None:
    with pytest.raises(
        BadUsage, match="min-max-inverted is for scores of which lower ones are better"
    ):
        fuse(made(1), method="combsum", normalization="min-max-inverted", depth=5)


@pytest.mark.parametrize("runs", [2, 3, 4])
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("method", BY_SCORE)
def test_methods_of_scores_follow_their_definitions_after_every_normalisation(
    method: str, how: str, runs: int
) -> None:
    world = made(10 + runs, runs)

    depth = None if how == "min-max-inverted" else 5

    assert_same(
        fuse(world, method=method, normalization=how, depth=depth),
        oracle(world, method, how, depth=depth or 99),
    )


def test_a_range_that_overflows_is_refused_and_makes_no_equal_scores() -> None:
    run = {"q": {"a": 1.7e308, "b": 1.6e308, "c": -1.6e308}}

    with pytest.raises(BadScore, match="z-score makes nan"):
        fuse([run, run], method="combsum", normalization="z-score")


@pytest.mark.parametrize("absent", ["zero", "lowest"])
@pytest.mark.parametrize("how", ["none", "min-max", "z-score", "rank"])
def test_what_an_absent_item_counts_can_be_said(how: str, absent: str) -> None:
    world = made(3, 3, lowest=-4.0)

    assert_same(
        fuse(world, method="combsum", normalization=how, absent=absent),
        oracle(world, "combsum", how, absent=absent),
    )


@pytest.mark.parametrize("weights", [[0.3, 0.7, 2.0], [1.0, 0.0, 0.5]])
@pytest.mark.parametrize(
    "method", ["rrf", "isr", "log-isr", "borda", "combsum", "combmnz", "combgmnz(gamma=2)"]
)
def test_weights_multiply_what_a_run_adds_and_a_run_of_weight_0_takes_no_part(
    method: str, weights: list[float]
) -> None:
    world, how = made(4, 3), None if method in (*BY_RANK, "borda") else "sum"
    expected = oracle(world, method, how or "none", weights=weights)
    lacking = {query: {} for run in world for query in run if query not in expected}

    assert_same(fuse(world, method=method, normalization=how, weights=weights), expected | lacking)


def test_values_known_from_ranx() -> None:
    """The worlds and values of ranx's own unit tests (tests/unit/ranx/fusion at 0.3.21)."""
    runs = [
        {"q1": {"d1": 1, "d2": 2, "d3": 3}, "q2": {"d1": 1, "d2": 2}},
        {"q1": {"d1": 3, "d2": 2}, "q2": {"d1": 1, "d3": 3}},
        {"q1": {"d3": 1}, "q2": {"d2": 2, "d3": 3}},
    ]

    rrf, borda = scores_of(fuse(runs, method="rrf")), scores_of(fuse(runs, method="borda"))
    median = scores_of(fuse(runs, method="combmed", normalization="none"))
    zero_mean = scores_of(fuse([runs[0], {"q1": {}}], method="combmax", normalization="z-score"))

    assert rrf["q1"] == pytest.approx(
        {"d1": 1 / 63 + 1 / 61, "d2": 2 / 62, "d3": 2 / 61}, rel=1e-15
    )
    assert rrf["q2"] == pytest.approx(
        {"d1": 2 / 62, "d2": 1 / 61 + 1 / 62, "d3": 2 / 61}, rel=1e-15
    )
    assert borda == {
        "q1": {"d1": 5.5, "d2": 5.5, "d3": 7.0},
        "q2": {"d1": 5.0, "d2": 6.0, "d3": 7.0},
    }
    assert median["q1"] == {"d1": 2.0, "d2": 2.0, "d3": 2.0}
    assert zero_mean["q1"] == pytest.approx(
        {"d1": -1 / 0.816496580927726, "d2": 0, "d3": 1 / 0.816496580927726}, abs=1e-12
    )


def test_an_item_that_was_found_alone_counts_more_than_one_that_was_not() -> None:
    """A list of one item, or of equal scores, normalises to 1 by min-max; ranx makes it 0, as if
    nothing had been found.
    """
    fused = scores_of(fuse([{"q": {"a": 5.0}}, {"q": {"b": 2.0, "c": 1.0}}], method="combsum"))

    assert fused["q"] == {"b": 1.0, "a": 1.0, "c": 0.0}


def test_bytes_depend_neither_on_the_order_of_rows_nor_on_that_of_runs(tmp_path: Path) -> None:
    world = made(5, 4, 20)
    dice = random.Random(0)
    shuffled = []
    for run in world:
        queries = dice.sample(list(run), len(run))
        shuffled.append(
            {
                query: dict(dice.sample(list(run[query].items()), len(run[query])))
                for query in queries
            }
        )

    for method, how in [
        ("rrf", None),
        ("borda", None),
        ("combsum", "z-score"),
        ("combmnz", "sum"),
        ("combanz", "max"),
    ]:
        rankwell.write_run(
            fuse(world, method=method, normalization=how), tmp_path / "one.run", overwrite=True
        )
        rankwell.write_run(
            fuse([shuffled[at] for at in (2, 0, 3, 1)], method=method, normalization=how),
            tmp_path / "other.run",
            overwrite=True,
        )
        assert (tmp_path / "one.run").read_bytes() == (tmp_path / "other.run").read_bytes()


def test_a_query_is_fused_the_same_whatever_others_stand_beside_it() -> None:
    world = made(6, 3, 40)
    whole = scores_of(fuse(world, method="combsum", normalization="z-score"))

    for query in ("q0", "q17", "q39"):
        alone = scores_of(
            fuse(
                [{query: run.get(query, {})} for run in world],
                method="combsum",
                normalization="z-score",
            )
        )
        assert alone[query] == whole[query]


def test_top_keeps_the_first_items_and_depth_forgets_the_rest() -> None:
    world = made(7, 3)
    whole = scores_of(fuse(world))

    assert scores_of(fuse(world, top=2)) == {
        query: dict(list(scored.items())[:2]) for query, scored in whole.items()
    }
    assert_same(fuse(world, depth=1), oracle(world, "rrf", depth=1))


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"method": "rff"}, UnknownName, "rrf"),
        ({"method": "rrf(x=1)"}, UnknownName, "no parameter 'x'"),
        ({"method": "rrf(k=-1)"}, BadUsage, "from 0"),
        ({"method": "combgmnz"}, BadUsage, "needs gamma"),
        ({"method": "combsum", "normalization": "minmax"}, UnknownName, "min-max"),
        ({"normalization": "min-max"}, BadUsage, "reads ranks"),
        ({"absent": "zero"}, BadUsage, "own rule"),
        ({"method": "combmax", "absent": "zero"}, BadUsage, "only at runs that have"),
        ({"method": "combsum", "absent": "none"}, UnknownName, "zero"),
        ({"method": "combmax", "weights": [1, 2]}, BadUsage, "no weights"),
        ({"weights": [1]}, BadUsage, "1 weight for 2 runs"),
        ({"weights": [1, -1]}, BadUsage, "from 0"),
        ({"weights": [0, 0]}, BadUsage, "not all 0"),
        ({"weights": [1, math.nan]}, BadUsage, "finite"),
        ({"depth": 0}, BadUsage, "depth=0"),
        ({"top": 0}, BadUsage, "top=0"),
    ],
)
def test_choices_that_do_not_go_together_are_refused(
    given: dict, error: type[Exception], said: str
) -> None:
    world = [{"q": {"a": 1.0, "b": 2.0}}, {"q": {"c": 1.0}}]

    with pytest.raises(error, match=said):
        fuse(world, **given)


def test_runs_that_cannot_be_fused_are_refused() -> None:
    with pytest.raises(BadUsage, match="two or more"):
        fuse([{"q": {"a": 1.0}}])
    with pytest.raises(NothingToEvaluate, match="no query is in two"):
        fuse([{"q": {"a": 1.0}}, {"p": {"a": 1.0}}])
    with pytest.raises(BadScore, match="nan"):
        fuse([{"q": {"a": math.nan}}, {"q": {"a": 1.0}}])
    for scores, how in (
        ({"a": -1.0, "b": -2.0}, "max"),
        ({"a": 1e308, "b": -1e308}, "min-max"),
        ({"a": 1.7e308}, "none"),
    ):
        with pytest.raises(BadScore, match=r"query 'q', item '[ab]'"):
            fuse([{"q": scores}, {"q": scores}], method="combsum", normalization=how)
    twice = rankwell.Ranking.from_rows(["q", "q"], ["a", "a"], [2.0, 1.0], repeated=True)
    with pytest.raises(DuplicateItem, match="run 2"):
        fuse([{"q": {"a": 1.0}}, twice])


def test_fused_runs_can_be_evaluated_as_they_are() -> None:
    fused = rankwell.fuse([{"q": {"a": 1.0, "b": 2.0}}, {"q": {"a": 3.0}}])

    assert rankwell.evaluate({"q": {"a": 1}}, fused, "RR").summary[0].mean == 1.0


# Tuning


def opposed(queries: int) -> tuple[list[Scores], Scores]:
    """Two runs that share no item: the first is right about half of the queries, the second about
    the others.
    """
    first = {
        f"q{number}": {f"a{place}": 9.0 - place for place in range(3)} for number in range(queries)
    }
    second = {
        f"q{number}": {f"b{place}": 9.0 - place for place in range(3)} for number in range(queries)
    }
    return [first, second], {f"q{number}": {"ab"[number % 2] + "0": 1} for number in range(queries)}


def test_no_query_is_tuned_on_itself() -> None:
    """Left out of 6, a query sees 2 of its own kind and 3 of the other, whose run it is given; on
    itself it would see a draw.
    """
    runs, judged = opposed(6)

    tuned = tune_fusion(runs, judged, measure="RR@1", methods=["combsum"], folds=6)

    fused = scores_of(tuned.ranking)
    assert {query: next(iter(fused[query])) for query in judged} == {
        query: "b0" if "a0" in right else "a0" for query, right in judged.items()
    }
    assert all(choice.held_out == 0.0 and choice.training == 0.6 for choice in tuned.choices)


def graded(seed: int, queries: int) -> tuple[list[Scores], Scores]:
    """Runs of different quality over the same queries, and judgments."""
    dice = random.Random(seed)
    pool = [f"d{number:02}" for number in range(30)]
    judged = {
        f"q{query}": {item: dice.choice([1, 2]) for item in dice.sample(pool, 4)}
        for query in range(queries)
    }
    runs = [
        {
            query: {
                item: round(quality * right.get(item, 0) + dice.gauss(0, 1), 2)
                for item in dice.sample(pool, 20)
            }
            for query, right in judged.items()
        }
        for quality in (0.3, 0.8, 0.6)
    ]
    return runs, judged


def test_the_labels_of_a_query_change_nothing_in_how_it_is_fused() -> None:
    runs, judged = graded(1, 12)
    plain = tune_fusion(runs, judged, methods=["combsum"], step=0.25, folds=4)
    others_changed = 0

    for query in judged:
        absurd = judged | {query: dict.fromkeys(ordered(runs[0][query])[:5], 3)}
        tuned = tune_fusion(runs, absurd, methods=["combsum"], step=0.25, folds=4)
        fold = plain.folds[query]
        assert tuned.folds == plain.folds
        assert tuned.choices[fold - 1].fusion == plain.choices[fold - 1].fusion
        assert scores_of(tuned.ranking)[query] == scores_of(plain.ranking)[query]
        others_changed += scores_of(tuned.ranking) != scores_of(plain.ranking)

    assert others_changed, "labels that no choice depends on would show nothing"


def test_what_folds_report_is_what_the_run_reaches() -> None:
    runs, judged = graded(2, 15)

    tuned = tune_fusion(
        runs,
        judged,
        measure="nDCG@5",
        methods=["combsum", "rrf(k=5)"],
        normalization=["min-max", "z-score"],
        folds=3,
    )

    reached = rankwell.evaluate(judged, tuned.ranking, "nDCG@5").summary[0].mean
    assert sum(
        choice.n_queries * choice.held_out for choice in tuned.choices
    ) / 15 == pytest.approx(reached, rel=1e-12)
    for choice in tuned.choices:
        way = choice.fusion
        fused = fuse(runs, method=way.method, normalization=way.normalization, weights=way.weights)
        each = rankwell.evaluate(judged, fused, "nDCG@5").values[0]
        values = dict(zip(each.queries, each.values.tolist(), strict=True))
        training = [values[query] for query, fold in tuned.folds.items() if fold != choice.fold]
        assert statistics.mean(training) == pytest.approx(choice.training, rel=1e-12)


def test_the_best_of_all_weights_is_found() -> None:
    runs, judged = graded(3, 10)

    tuned = tune_fusion(runs, judged, measure="AP", methods=["combsum"], step=0.5, folds=2)

    halves = [(a / 2, b / 2, (2 - a - b) / 2) for a in range(3) for b in range(3 - a)]
    ways = [fuse(runs, method="combsum", weights=weights) for weights in [(1, 1, 1), *halves]]
    means = [rankwell.evaluate(judged, way, "AP").summary[0].mean for way in ways]
    assert tuned.whole.training == pytest.approx(max(means), rel=1e-12)
    assert tuned.n_candidates == 7


def test_a_measure_of_which_less_is_better_is_lowered() -> None:
    runs, judged = opposed(8)
    judged = {query: {"a0": 1} for query in judged}

    tuned = tune_fusion(runs, judged, measure="MnR", methods=["combsum"], folds=2)

    assert all(choice.training == 1.0 for choice in tuned.choices)


def test_folds_are_even_and_drawn_by_id_and_seed_alone() -> None:
    runs, judged = graded(4, 23)
    tuned = tune_fusion(runs, judged, step=0.5, folds=5)

    backwards = [
        {
            query: dict(reversed(list(scored.items())))
            for query, scored in reversed(list(run.items()))
        }
        for run in runs
    ]
    again = tune_fusion(backwards, dict(reversed(list(judged.items()))), step=0.5, folds=5)

    sizes = [list(tuned.folds.values()).count(fold) for fold in range(1, 6)]
    assert max(sizes) - min(sizes) <= 1
    assert again.folds == tuned.folds
    assert again.rows == tuned.rows
    assert scores_of(again.ranking) == scores_of(tuned.ranking)
    assert tune_fusion(runs, judged, step=0.5, folds=5, seed=1).folds != tuned.folds


def test_queries_without_judgments_are_fused_as_all_others_choose() -> None:
    runs, judged = graded(5, 10)
    del judged["q3"]

    tuned = tune_fusion(runs, judged, methods=["combsum"], step=0.5, folds=3)

    way = tuned.whole.fusion
    assert "q3" not in tuned.folds
    expected = fuse([{"q3": run["q3"]} for run in runs], method="combsum", weights=way.weights)
    assert scores_of(tuned.ranking)["q3"] == scores_of(expected)["q3"]


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"folds": 1}, BadUsage, "at least 2 folds"),
        ({"folds": 7}, BadUsage, "7 folds for 6"),
        ({"step": 0.3}, BadUsage, "step=0.3"),
        ({"step": 0.0001}, BadUsage, "more than 5000"),
        ({"measure": "MedR"}, BadUsage, "no mean"),
        ({"measure": "alpha_nDCG@10"}, BadUsage, "plain judgments"),
        ({"methods": ["rrf"], "normalization": ["sum"]}, BadUsage, "reads ranks"),
    ],
)
def test_tuning_that_makes_no_sense_is_refused(
    given: dict, error: type[Exception], said: str
) -> None:
    runs, judged = opposed(6)

    with pytest.raises(error, match=said):
        tune_fusion(runs, judged, **given)
    with pytest.raises(NothingToEvaluate, match="no query of the runs is judged"):
        tune_fusion(runs, {"other": {"a0": 1}})


def test_the_page_on_fusion_names_every_method_and_normalisation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "guide" / "fusion.md").read_text(encoding="utf-8")

    assert all(f"`{name}" in page for name in (*METHODS, *NORMALISATIONS))


# The command


def written(folder: Path, runs: list[Scores], judged: Scores | None = None) -> list[str]:
    paths = []
    for place, run in enumerate(runs):
        path = folder / f"{'abcdef'[place]}.run"
        rankwell.write_run(rankwell.Ranking.from_dict(run), path)
        paths.append(str(path))
    if judged is not None:
        rankwell.write_judgments(rankwell.Judgments.from_dict(judged), folder / "judged.qrels")
    return paths


def call(*arguments: object, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["rankwell", "fuse", *map(str, arguments)])
    return cli.main()


@pytest.mark.parametrize("suffix", ["run", "parquet", "csv", "json", "run.gz"])
def test_the_command_writes_what_python_returns(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, _ = graded(6, 5)
    target = tmp_path / f"fused.{suffix}"

    options = [
        "--method",
        "combmnz",
        "--normalization",
        "sum",
        "--weights",
        "1,2,0.5",
        "--top",
        4,
        "--depth",
        10,
    ]
    assert call(*written(tmp_path, runs), "-o", target, *options, monkeypatch=monkeypatch) == 0

    expected = fuse(
        runs, method="combmnz", normalization="sum", weights=[1, 2, 0.5], top=4, depth=10
    )
    assert scores_of(rankwell.read_ranking(target)) == scores_of(expected)


@pytest.mark.parametrize(
    "options", [["--run-format", "trec"], ["--columns", "query=1,item=3,score=5"]]
)
def test_the_command_reads_runs_as_it_is_told(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, out = written(tmp_path, graded(6, 5)[0]), tmp_path / "fused.run"

    assert call(*files, *options, "-o", out, monkeypatch=monkeypatch) == 0

    assert scores_of(rankwell.read_ranking(out)) == scores_of(fuse(files))


def test_the_command_tunes_and_lists_its_choices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    runs, judged = graded(7, 20)
    paths = written(tmp_path, runs, judged)
    target = tmp_path / "fused.run"
    tuning = [
        "--tune",
        tmp_path / "judged.qrels",
        "--folds",
        4,
        "-m",
        "nDCG@5",
        "-m",
        "AP",
        "-f",
        "json",
    ]

    assert (
        call(*paths, "-o", target, *tuning, "--method", "combsum rrf", monkeypatch=monkeypatch) == 0
    )

    said = capsys.readouterr()
    found = json.loads(said.out)
    tuned = tune_fusion(runs, judged, measure="nDCG@5", methods=["combsum", "rrf"], folds=4)
    reached = rankwell.evaluate(judged, {"fused": tuned.ranking}, ["nDCG@5", "AP"]).summary
    assert "tuned by nDCG@5 in 4-fold cross-validation" in said.err
    assert scores_of(rankwell.read_ranking(target)) == scores_of(tuned.ranking)
    assert list(dict.fromkeys(row["run"] for row in found["rows"])) == [
        "a",
        "b",
        "c",
        "fused (untuned)",
        "fused",
    ]
    assert [row["mean"] for row in found["rows"][-2:]] == [row.mean for row in reached]
    assert all(row["ci_low"] < row["mean"] < row["ci_high"] for row in found["rows"])
    assert found["rules"]["tuned"] == "cross-validated"
    assert [row["fold"] for row in found["choices"]] == ["1", "2", "3", "4", "all"]
    assert [row["normalization"] for row in found["choices"]] == [
        row["normalization"] for row in tuned.rows
    ]
    # Methods of ranks have no normalisation, which is no text.
    assert {row["normalization"] for row in tune_fusion(runs, judged, step=1.0, folds=2).rows} == {
        None
    }


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-m", "AP"], "--measure has no effect without --tune"),
        (["--folds", "3"], "--folds has no effect without --tune"),
        (["--seed", "1"], "--seed has no effect without --tune"),
        (["-f", "csv"], "--format has no effect without --tune"),
        (["--method", "rrf combsum"], "with --tune QRELS only"),
        (["--weights", "a,b"], "numbers separated by commas"),
        (["--weights", "1,2", "--tune", "judged.qrels"], "--tune finds the weights itself"),
        (["--tune", "nowhere.qrels"], "nowhere.qrels: no such file"),
    ],
)
def test_unused_options_are_an_error(
    options: list[str], said: str, tmp_path: Path, monkeypatch, capsys
) -> None:
    paths = written(tmp_path, *opposed(4))
    monkeypatch.chdir(tmp_path)

    assert call(*paths, "-o", "fused.run", *options, monkeypatch=monkeypatch) == 2

    assert said in capsys.readouterr().err
    assert not (tmp_path / "fused.run").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("q Q0 a 2 nan t", r"b.run:2.*nan"),
        ("q Q0 a 2 x t", r"b.run:2.*x"),
        ("q Q0 a 2", r"b.run:2"),
        ("q Q0 b 2 1 t", r"b.run:2.*'b' twice, in lines 1 and 2"),
    ],
)
def test_bad_lines_are_named(line: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("q Q0 a 1 2.0 t\n")
    (tmp_path / "b.run").write_text(f"q Q0 b 1 2.0 t\n{line}\n")

    with pytest.raises(rankwell.errors.BadInput, match=said):
        fuse([tmp_path / "a.run", tmp_path / "b.run"])


def test_notes_say_what_scores_below_0_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    paths = written(tmp_path, [{"q": {"a": -1.0, "b": -2.0}, "p": {"a": 1.0}}, {"q": {"c": -3.0}}])

    assert (
        call(
            *paths,
            "-o",
            tmp_path / "f.run",
            "--method",
            "combmnz",
            "--normalization",
            "none",
            "--verbose",
            monkeypatch=monkeypatch,
        )
        == 0
    )

    said = capsys.readouterr().err
    assert "fused by combmnz: a, b; normalization none, absent zero" in said
    assert "some runs lack some of the 2 queries (b 1)" in said
    assert "counts 0 in it, which is more" in said
    assert "multiplies scores below 0" in said


def test_another_hash_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    paths = written(tmp_path, *graded(8, 6))
    found = []
    for seed in ("1", "2"):
        target = tmp_path / seed / "fused.run"
        target.parent.mkdir()
        arguments = ["fuse", *paths, "-o", str(target), "--tune", str(tmp_path / "judged.qrels")]
        script = [sys.executable, "-c", "from rankwell.cli import script; script()", *arguments]
        done = subprocess.run(script, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True)
        found.append((done.stdout, target.read_bytes()))

    assert found[0] == found[1]


def test_real_runs_are_fused_as_the_definition_says(shared: Path) -> None:
    paths = sorted((shared / "trec" / "robust03").glob("*.run.gz"))
    assert paths
    runs = [scores_of(rankwell.read_ranking(path)) for path in paths]

    for query in ("303", "344"):
        few = [{query: run[query]} for run in runs]
        assert_same(fuse(few, depth=200), oracle(few, "rrf", depth=200))


def test_ways_are_written_as_they_are_read() -> None:
    assert parse_fusion("rrf(k=10)").method == "rrf(k=10)"
    assert parse_fusion("combsum").normalization == "min-max"
    assert parse_fusion("combsum", normalization="z-score").absent == "lowest"
    assert np.isclose(parse_fusion("combgmnz(gamma=0.5)").arguments["gamma"], 0.5)


@pytest.mark.parametrize(
    ("second", "message"),
    [("x", "fused does not beat its best input, a: AP 0.5000 against 0.5000"), ("y", "")],
)
def test_a_fusion_that_does_not_beat_its_best_input_is_reported(
    second, message, tmp_path: Path, monkeypatch, capsys
) -> None:
    queries = [f"q{each}" for each in range(6)]
    runs = [{query: {item: 2.0, "z": 1.0} for query in queries} for item in ("x", second)]
    paths = written(tmp_path, runs, {query: {"x": 1, "y": 1} for query in queries})
    tuning = ["--tune", tmp_path / "judged.qrels", "--folds", 2, "-m", "AP"]

    assert call(*paths, "-o", tmp_path / "fused.run", *tuning, monkeypatch=monkeypatch) == 0

    said = capsys.readouterr().err
    assert message in said
    assert ("does not beat" in said) == bool(message)


@pytest.mark.parametrize("tuning", [[], ["--tune", "qrels", "--folds", "2"]])
def test_what_the_readers_of_runs_say_is_among_the_notes(
    tuning, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("near.csv").write_text("query,item,distance\nq1,a,0.1\nq1,b,0.2\nq2,a,0.1\n")
    Path("other.run").write_text("q1 Q0 a 1 3 x\nq1 Q0 b 2 2 x\nq2 Q0 a 1 3 x\n")
    Path("qrels").write_text("q1 0 a 1\nq2 0 a 1\n")
    monkeypatch.setattr(
        "sys.argv", ["rankwell", "fuse", "near.csv", "other.run", "-o", "fused.run", *tuning]
    )

    assert cli.main() == 0

    assert "near.csv: 'distance' is a distance: the smallest ranks first" in capsys.readouterr().err
