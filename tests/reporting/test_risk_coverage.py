"""The chart of risk and coverage, and the page of several folders."""

import json
from pathlib import Path
from typing import Any

import rankwell as rw
from rankwell.comparison.pages import page_source
from rankwell.io.result_folder import read_results
from rankwell.reporting.charts import CHARTS, ChartData
from rankwell.reporting.folder import write_result

JUDGMENTS = {query: {"a": 1} for query in "pqr"}
RUN = {"p": {"a": 3.0, "b": 1.0}, "q": {"b": 2.0, "a": 1.0}, "r": {"a": 1.0, "b": 0.5}}


def spec_of(rules: dict[str, Any]) -> dict[str, Any] | None:
    return CHARTS["risk_coverage"](ChartData([], [], rules))


def test_a_panel_has_the_mean_loss_at_each_share_of_answered_queries():
    result = rw.evaluate(
        JUDGMENTS, {"mine": RUN}, ["Success@1", "RR"], confidence=["max", "diff1"], intervals="none"
    )

    spec = spec_of(dict(result.describe()))

    assert spec is not None
    assert [panel["title"] for panel in spec["concat"]][:2] == [
        "loss of Success@1 by max",
        "loss of Success@1 by diff1",
    ]
    points = [(point["coverage"], point["risk"]) for point in spec["concat"][0]["data"]["values"]]
    assert points == [(1 / 3, 0.0), (2 / 3, 0.5), (1.0, 1 / 3)]


def test_nothing_is_drawn_without_a_confidence():
    assert spec_of({}) is None
    assert spec_of({"risk_coverage": []}) is None


def test_no_text_has_control_characters():
    odd = "x\x1b[31m\x85"
    curve = {"run": odd, "of": odd, "confidence": odd, "points": [[0.5, 0.2], [1.0, 0.4]]}

    spec = spec_of({"risk_coverage": [curve, {**curve, "run": "b"}]})

    assert spec is not None
    assert "\\u001b" not in json.dumps(spec)
    assert "\\u0085" not in json.dumps(spec)
    assert "x1b" in json.dumps(spec)


def test_more_than_six_panels_are_cut_and_said():
    curve = {"run": "a", "confidence": "max", "points": [[0.5, 0.2], [1.0, 0.4]]}

    spec = spec_of({"risk_coverage": [{**curve, "of": f"R@{k}"} for k in range(8)]})

    assert spec is not None
    assert len(spec["concat"]) == 6
    assert "the first 6 of 8 panels" in spec["title"]["subtitle"][0]


def test_a_page_of_several_folders_has_the_curves_of_all_runs(tmp_path: Path):
    for name in ("one", "two"):
        result = rw.evaluate(
            JUDGMENTS, {"run": RUN}, "Success@1", confidence=["max"], intervals="none"
        )
        write_result(result, tmp_path / name, charts=False)
    folders = [(name, read_results(tmp_path / name)) for name in ("one", "two")]

    rules = page_source(folders).rules

    assert [curve["run"] for curve in rules["risk_coverage"]] == ["one", "two"]
