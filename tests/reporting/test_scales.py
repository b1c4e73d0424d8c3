"""Panels of one chart share a scale, or the chart says that they do not."""

from typing import Any

import numpy as np
import pytest

from rankwell.data.tables import Values
from rankwell.reporting.charts import CHARTS, ChartData, draw_all
from rankwell.reporting.line_charts import k_curves, parameter_chart
from rankwell.results import compare_values
from rankwell.stats import summarise
from rankwell.tasks.keywords.presentation import heat_map
from rankwell.tasks.qa.charts import no_answer_chart
from rankwell.tasks.qa.thresholds import ThresholdSearch

SENTENCE = "scales differ between panels"
REACHES = (("em", 0.1), ("F1", 0.2))
QUERIES = tuple(f"q{number}" for number in range(40))


def values(runs: str, *reaches: float) -> list[Values]:
    """A measure from 0 to each of the reaches, which every run has on all queries."""
    rng = np.random.default_rng(3)
    ramp = np.linspace(0, 1, len(QUERIES))
    return [
        Values(
            run,
            name,
            name,
            "score",
            "mean",
            QUERIES,
            reach * (rng.permutation(ramp) + place * (ramp == 1)),
        )
        for place, run in enumerate(runs)
        for name, reach in ((f"M{number}", reach) for number, reach in enumerate(reaches))
    ]


def evaluated(name: str, *reaches: float, runs: str = "ab") -> dict[str, Any] | None:
    made = values(runs, *reaches)
    return CHARTS[name](ChartData(list(summarise(made, resamples=50)), made, {}))


def compared(name: str, *reaches: float, runs: str = "ab") -> dict[str, Any] | None:
    found = compare_values(values(runs, *reaches), resamples=50, family="all")
    return CHARTS[name](ChartData(found.summary, found.values, found.describe()))


def curve(unit: str, k: int) -> dict[str, Any]:
    ends = {"ci_low": None, "ci_high": None}
    mean = k * (3.0 if unit == "rank" else 0.1)
    return {
        "run": "a",
        "label": f"{unit}@{k}",
        "k": k,
        "mean": mean,
        "sd": None,
        **ends,
        "unit": unit,
    }


def point(label: str, reach: float, value: int) -> dict[str, Any]:
    return {"system": "a", "series": "a", "value": value, "label": label, "mean": reach * value}


ONE_SCALE = {
    "means of one measure": lambda: evaluated("intervals", 1.0),
    "one unit under each other": lambda: evaluated("intervals", 1.0, 5.0, runs="a"),
    "values of one measure": lambda: evaluated("per_query", 1.0),
    "one difference": lambda: compared("differences", 1.0),
    "single differences of one measure": lambda: compared("deltas", 1.0, runs="abc"),
    "mean ranks of as many systems": lambda: compared("critical_difference", 1.0, 5.0, runs="abc"),
    "curves of one unit": lambda: k_curves(
        [curve("share", k) for k in (1, 5)] + [{**curve("share", 1), "label": "P@1"}]
    ),
    "one parameter chart": lambda: parameter_chart(
        [point("em", 0.1, value) for value in (1, 5)], "k"
    ),
    "a heat map": lambda: heat_map(
        [
            {"run": "a", "group": group, "keyword": group, "queries": 2, "P@5": 0.5}
            for group in "xy"
        ],
        [Values("a", "P@5", "P@5", "share", "mean", ("q",), np.ones(1))],
    ),
}
SEVERAL = {
    "means": lambda: evaluated("intervals", 1.0, 5.0),
    "values": lambda: evaluated("per_query", 1.0, 5.0),
    "differences": lambda: compared("differences", 1.0, 5.0),
    "single differences": lambda: compared("deltas", 1.0, 5.0),
    "curves of two units": lambda: k_curves(
        [curve(unit, k) for unit in ("share", "rank") for k in (1, 5)]
    ),
    "parameter charts": lambda: parameter_chart(
        [point(*each, value) for each in (("em", 0.1), ("F1", 0.2)) for value in (1, 5)], "k"
    ),
    "two heights of bars": lambda: no_answer_chart(
        ThresholdSearch("r", (), None, np.array([True, True, False]), np.array([0.1, 0.4, 0.9]), ())
    ),
}


@pytest.mark.parametrize("chart", ONE_SCALE)
def test_panels_on_one_scale_need_no_word(chart: str) -> None:
    assert SENTENCE not in draw_all([ONE_SCALE[chart]()])[0].svg


@pytest.mark.parametrize("chart", SEVERAL)
def test_a_chart_whose_panels_have_scales_of_their_own_says_so_once(chart: str) -> None:
    assert draw_all([SEVERAL[chart]()])[0].svg.count(f">{SENTENCE}<") == 1
