"""Score matrices full of ties, as counts of matched points are: every rule has its own value, and
expectation is what it says.
"""

import json
import math
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import rankwell
from rankwell import cli
from rankwell.data.registry import MEASURES, parse_measure
from rankwell.errors import TieRefused


def evaluate_crossmodal(*arguments: Any, **options: Any) -> Any:
    """An evaluation by the words and rules of HGR."""
    return rankwell.evaluate_crossmodal(*arguments, **{"convention": "hgr"} | options)


N, ORDERS = 40, 10_000
OFFERED = [
    "R@1",
    "R@5",
    "R@10",
    "MedR",
    "MnR",
    "MnR(of='all')",
    "P@5",
    "RR",
    "AP",
    "nDCG@10",
    "recall@5",
    "MedRLow",
]


@cache
def world() -> tuple[np.ndarray, list[list[int]]]:
    """Inlier counts: most pairs have none, right pairs a few more."""
    random = Random(1)
    positives = [sorted(random.sample(range(N), random.choice((1, 1, 2, 3)))) for _ in range(N)]
    scores = np.array([[random.choice((0, 0, 0, 1, 1, 2, 3)) for _ in range(N)] for _ in range(N)])
    for row, items in enumerate(positives):
        scores[row, items[0]] += random.choice((0, 1, 2))
    return scores, positives


def value(ties: str, measure: str, direction: str = "t2v") -> float:
    (row,) = evaluate_crossmodal(
        *world(), direction=direction, measures=[measure], ties=ties, intervals="none"
    ).summary
    return row["mean"]


def per_query(ties: str, measure: str) -> list[float]:
    result = evaluate_crossmodal(
        *world(), direction="t2v", measures=[measure], ties=ties, intervals="none"
    )
    return [row["value"] for row in result.per_query()]


def ranks_in(order: list[int], row: list[int], items: list[int]) -> list[int]:
    ranked = sorted(order, key=lambda item: -row[item])
    return sorted(ranked.index(item) + 1 for item in items)


def by_ranks(measure: str, ranks: list[int], positives: int) -> float:
    """A measure of one query from the ranks of its positives, read straight off the definition."""
    name, _, cut = measure.partition("@")
    k = int(cut) if cut else N
    shown = [rank for rank in ranks if rank <= k]
    if name == "R":
        return 100.0 * bool(shown)
    if name in ("MedR", "MedRLow", "MnR"):
        return float(ranks[0])
    if name == "MnR(of='all')":
        return sum(ranks) / len(ranks)
    if name == "RR":
        return 100.0 / ranks[0]
    if name == "AP":
        return 100.0 * sum(place / rank for place, rank in enumerate(ranks, 1)) / positives
    if name == "nDCG":
        ideal = sum(1 / math.log2(place + 1) for place in range(1, min(positives, k) + 1))
        return 100.0 * sum(1 / math.log2(rank + 1) for rank in shown) / ideal
    return 100.0 * len(shown) / (k if name == "P" else positives)


@cache
def drawn() -> list[list[list[int]]]:
    """For some queries the ranks of their positives in 10,000 random orders of the items before a
    stable sort.
    """
    scores, positives = world()
    random, found = Random(5), []
    for query in range(4):
        row, items = scores[query].tolist(), positives[query]
        high = [item for item in range(N) if row[item] >= min(row[right] for right in items)]
        found.append([ranks_in(random.sample(high, len(high)), row, items) for _ in range(ORDERS)])
    return found


@pytest.mark.parametrize("measure", OFFERED)
def test_the_expected_value_is_the_mean_over_random_orders_of_tied_items(measure: str):
    expected, positives = per_query("expected", measure), world()[1]
    for query, draws in enumerate(drawn()):
        values = np.array([by_ranks(measure, ranks, len(positives[query])) for ranks in draws])

        assert abs(values.mean() - expected[query]) <= 5 * values.std() / math.sqrt(ORDERS) + 1e-9


@pytest.mark.parametrize("measure", OFFERED)
def test_the_expected_value_lies_between_the_best_and_the_worst_order(measure: str):
    name = parse_measure(measure.replace("R@", "Success@").replace("recall@", "R@"))
    low, high = sorted((value("pessimistic", measure), value("optimistic", measure)))

    assert name.entry.expected is not None
    assert low < value("expected", measure) < high
    assert (value("optimistic", measure) == high) == (MEASURES[name.name].better == "higher")


@pytest.mark.parametrize("direction", ["t2v", "v2t", "v2t-videos"])
def test_every_rule_has_a_value_of_its_own(direction: str):
    scores, _ = world()
    options: dict[str, Any] = {"direction": direction}
    rules = [
        "input",
        "input-desc",
        "expected",
        "optimistic",
        "pessimistic",
        "averaged",
        "multiplied",
    ]
    options |= {
        "query_ids": [f"q{each}" for each in range(N)],
        "item_ids": [f"v{(7 * each) % N}" for each in range(N)],
    }
    found = {}
    for rule in [*rules, "id-asc", "id-desc"]:
        result = evaluate_crossmodal(
            scores, "diagonal", measures=["MnR"], ties=rule, intervals="none", **options
        )
        (found[rule],) = (row["mean"] for row in result.summary if row["direction"] == direction)

    # The mean of places is what expectation comes to with one positive a query.
    assert found.pop("averaged") == pytest.approx(found["expected"])
    assert len({round(each, 9) for each in found.values()}) == len(found)
    assert found["optimistic"] == min(found.values())
    assert found["pessimistic"] == max(found[rule] for rule in found if rule != "multiplied")


def test_orders_by_position_and_by_id_are_what_a_stable_sort_makes_of_them():
    scores, positives = world()
    names = [f"v{(7 * each) % N}" for each in range(N)]
    by_name = sorted(range(N), key=lambda item: names[item].encode())
    orders = {
        "input": list(range(N)),
        "input-desc": list(range(N))[::-1],
        "id-asc": by_name,
        "id-desc": by_name[::-1],
    }
    for rule, order in orders.items():
        result = evaluate_crossmodal(
            scores,
            positives,
            direction="t2v",
            measures=["MedR"],
            ties=rule,
            item_ids=names,
            intervals="none",
        )
        wanted = [
            ranks_in(order, row, items)[0]
            for row, items in zip(scores.tolist(), positives, strict=True)
        ]

        assert [row["value"] for row in result.per_query()] == wanted, rule


def test_two_positives_in_one_tie_share_its_places():
    scores, positives = [[1.0, 1.0, 1.0, 0.0]], [[1, 2]]

    found = {
        rule: evaluate_crossmodal(
            scores, positives, direction="t2v", measures=["MnR"], ties=rule, intervals="none"
        ).summary[0]["mean"]
        for rule in ("input", "input-desc", "expected", "optimistic", "pessimistic")
    }

    # Of three places the first of two positives has the first with chance 2/3, else the second.
    assert found == {
        "input": 2,
        "input-desc": 1,
        "expected": pytest.approx(4 / 3),
        "optimistic": 1,
        "pessimistic": 2,
    }


def test_queries_whose_best_positive_ties_with_a_wrong_item_are_counted():
    scores = [[1, 1, 0], [0, 2, 2], [3, 3, 0], [0, 0, 1]]

    result = evaluate_crossmodal(
        scores, [[0], [1, 2], [0, 1, 2], [2]], direction="t2v", measures=["R@1", "AP"]
    )

    assert result.rules["counts"]["t2v"]["queries_best_relevant_tied"] == 1


def test_ties_are_refused_where_the_user_excludes_them():
    with pytest.raises(TieRefused, match="share the score"):
        evaluate_crossmodal(*world(), ties="error")


def test_the_rule_of_the_convention_holds_until_the_user_names_another():
    scores, positives = world()

    by_source = evaluate_crossmodal(scores, positives, intervals="none")
    no_source = evaluate_crossmodal(
        scores, positives, convention="trec_eval10", measures=["Success@1"], intervals="none"
    )

    assert by_source.rules["ties"] == "input"
    assert no_source.rules["ties"] == "expected"
    assert no_source.summary[0]["mean"] * 100 == pytest.approx(value("expected", "R@1"))
    assert no_source.summary[0]["unit"] == "share"


def test_a_measure_without_a_closed_form_says_that_it_keeps_the_order_of_the_table():
    options: dict[str, Any] = {"direction": "t2v", "measures": ["ERR@10"], "intervals": "none"}

    spread = evaluate_crossmodal(*world(), ties="expected", **options)

    assert any("ERR@10 has no closed form" in note for note in spread.findings)
    assert (
        spread.summary[0]["mean"]
        == evaluate_crossmodal(*world(), ties="input", **options).summary[0]["mean"]
    )


def test_real_inlier_counts_change_with_every_rule(
    shared: Path, tmp_path: Path, monkeypatch, capsys
):
    """The corridor's scores in eighths: coarse as counts of matched points are."""
    folder = shared / "vpr"
    coarse = np.floor(8 * np.load(folder / "corridor_densevlad_scores.npy")).astype(np.int32)
    np.save(tmp_path / "coarse.npy", coarse)
    found = {}
    for rule in ("optimistic", "expected", "input", "pessimistic"):
        arguments = [
            "crossmodal",
            tmp_path / "coarse.npy",
            "--qrels",
            folder / "corridor_positives.json",
        ]
        monkeypatch.setattr(
            "sys.argv",
            ["rankwell", *map(str, arguments), "--direction", "t2v", "--ties", rule, "-f", "json"],
        )
        assert cli.main() == 0
        found[rule] = json.loads(capsys.readouterr().out)["rows"][0]["mean"]

    assert found["pessimistic"] < found["expected"] < found["optimistic"]
    assert found["pessimistic"] < found["input"] < found["optimistic"]


def test_clip4clip_counts_a_tied_query_once_for_every_place_of_its_tie():
    result = evaluate_crossmodal(
        [[1.0, 1.0], [0.0, 1.0]], convention="clip4clip", direction="t2v", intervals="none"
    )

    found = {row["label"]: (row["mean"], row["n"]) for row in result.summary}
    # The first query's positive stands at 1 and at 2, the second's at 1.
    assert found["R@1"] == (pytest.approx(200 / 3), 3)
    assert found["MnR"] == (pytest.approx(4 / 3), 3)
    assert [row["query"] for row in result.per_query() if row["label"] == "R@1"] == ["0", "0", "1"]
    assert result.rules["counts"]["t2v"]["queries_counted"] == 2
