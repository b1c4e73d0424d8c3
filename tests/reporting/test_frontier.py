"""The chart of quality against cost."""

from typing import Any

import pytest

from rankwell.reporting.charts import CHARTS, ChartData, draw_all
from rankwell.stats import SummaryRow

RULES = {"frontier": {"cost": "p50", "quality": "Recall@10"}}


def rows(
    points: dict[str, tuple[float, float]], quality: str = "Recall@10", cost: str = "p50"
) -> list[SummaryRow]:
    made: list[SummaryRow] = []
    for run, (spent, reached) in points.items():
        made.append(
            SummaryRow.of(run, cost, f"{cost} service time", spent, None, None, None, 400, "ms")
        )
        made.append(SummaryRow.of(run, quality, quality, reached, 0.1, None, None, 100, "share"))
    return made


def panel(
    points: dict[str, tuple[float, float]], rules: dict[str, Any], **names: str
) -> dict[str, Any]:
    spec = CHARTS["frontier"](ChartData(rows(points, **names), [], rules))
    assert spec is not None
    return spec["concat"][0]


def test_the_line_joins_the_settings_that_no_other_beats_in_both() -> None:
    drawn = panel({"a": (1.0, 0.9), "b": (2.0, 0.99), "c": (3.0, 0.98), "d": (4.0, 1.0)}, RULES)

    points = {each["run"]: each for each in drawn["data"]["values"]}
    assert [run for run, each in points.items() if each["on"]] == ["a", "b", "d"]
    assert points["b"]["quality"] == pytest.approx(0.01)
    # Half of what one query of 100 could miss stands for nothing missed.
    assert points["d"]["quality"] == pytest.approx(0.005)


def test_a_recall_of_nearly_1_is_below_one_of_1() -> None:
    drawn = panel({"a": (1.0, 0.99), "b": (2.0, 0.9999), "c": (3.0, 1.0)}, RULES)

    points = {each["run"]: each for each in drawn["data"]["values"]}
    assert all(each["on"] for each in points.values())
    assert points["b"]["quality"] == pytest.approx(0.0001)
    assert points["c"]["quality"] < points["b"]["quality"]


def test_other_measures_are_drawn_as_they_are_and_more_throughput_is_cheaper() -> None:
    rules = {"frontier": {"cost": "throughput", "quality": "nDCG@10"}}

    drawn = panel(
        {"a": (10.0, 0.5), "b": (20.0, 0.6), "c": (5.0, 0.7)},
        rules,
        quality="nDCG@10",
        cost="throughput",
    )

    assert {each["run"]: each["on"] for each in drawn["data"]["values"]} == {
        "a": False,
        "b": True,
        "c": True,
    }
    assert [each["quality"] for each in drawn["data"]["values"]] == [0.5, 0.6, 0.7]


def test_one_setting_or_no_frontier_in_the_rules_draws_nothing() -> None:
    assert CHARTS["frontier"](ChartData(rows({"a": (1.0, 0.9)}), [], RULES)) is None
    assert CHARTS["frontier"](ChartData(rows({"a": (1.0, 0.9), "b": (2.0, 0.9)}), [], {})) is None


def test_choices_are_marked_and_the_target_is_a_line() -> None:
    marks = {"best": ["e n=2"], "cheapest": ["e n=4"], "target": 0.95}

    drawn = panel(
        {"e n=1": (1.0, 0.9), "e n=2": (2.0, 0.99), "e n=4": (3.0, 0.98)},
        {"frontier": {**RULES["frontier"], **marks}},
    )

    points = {each["run"]: each["mark"] for each in drawn["data"]["values"]}
    assert points == {
        **{"n=1": "other settings", "n=2": "not significantly different from the best"},
        "n=4": "cheapest that reaches the target",
    }
    [line] = [each for each in drawn["layer"] if each["mark"]["type"] == "rule"]
    assert line["encoding"]["y"]["datum"] == pytest.approx(0.05)


def test_the_chart_can_be_drawn() -> None:
    spec = CHARTS["frontier"](ChartData(rows({"a": (1.0, 0.9), "b": (2.0, 1.0)}), [], RULES))

    assert spec is not None
    assert draw_all([spec])[0].png.startswith(b"\x89PNG")


def test_each_of_several_engines_has_a_line_and_a_colour_of_its_own() -> None:
    points = {
        "a": (1.0, 0.9),
        "b": (2.0, 0.99),
        "c": (3.0, 0.95),
        "d": (4.0, 0.98),
        "e": (5.0, 0.97),
    }
    engines = {run: "fast" if run in "ab" else "slow" for run in points}
    rules = {"frontier": {**RULES["frontier"], "engines": engines}}

    drawn = panel(points, rules)

    assert {each["run"]: each["on"] for each in drawn["data"]["values"]} == {
        "a": True,
        "b": True,
        "c": True,
        "d": True,
        "e": False,
    }
    line = next(layer for layer in drawn["layer"] if layer["mark"]["type"] == "line")
    assert line["encoding"]["color"]["scale"]["domain"] == ["fast", "slow"]
    assert not [layer for layer in drawn["layer"] if layer["mark"]["type"] == "text"]
