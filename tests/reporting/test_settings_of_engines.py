"""Settings of engines on a page: parameters, choices, marks, one frontier of several engines, and
exact results as the key.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import rankwell as rw
from rankwell.comparison.pages import page_source
from rankwell.io.result_folder import read_results
from rankwell.reporting import charts
from rankwell.reporting.charts import distinct_parts
from rankwell.reporting.folder import write_result
from rankwell.reporting.page.data import page_data
from rankwell.reporting.page.summaries import charts as page_charts
from rankwell.reporting.page.summaries import settings
from tasks.engine import engines_here


@pytest.fixture(autouse=True)
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures of charts take seconds, and none is looked at here."""
    monkeypatch.setattr(
        "rankwell.reporting.charts.draw_all", lambda specs: [charts.Picture(b"", "") for _ in specs]
    )


def parameters(
    engine: str, tried: dict[str, list[Any]], choices: dict[int, list[str]]
) -> list[dict[str, Any]]:
    """Rows of the table of parameters, one for each value of the only parameter that is tried."""
    [(name, values)] = tried.items()
    return [
        {
            **{
                "run": f"{engine} {name}={value}",
                "tried": [name],
                "values": {"engine": engine, "m": 16, name: value},
            },
            **{"choices": choices.get(place, []), "others": None},
        }
        for place, value in enumerate(values)
    ]


def swept(folder: Path, engine: str, tried: dict[str, list[Any]], cheapest: int) -> Path:
    """A result of so many settings, each with the lists of a function, as a sweep of an engine
    leaves it.
    """
    asked = {f"q{row}": f"{engines_here.WORDS[row % 10]} one" for row in range(24)}
    rows = parameters(engine, tried, {cheapest: ["cheapest"]})
    result = rw.evaluate_engine(
        engines_here.search,
        asked,
        qrels={query: ["one"] for query in asked},
        measures="RR",
        rounds=2,
    )
    own = result.values
    named = [replace(each, run=row["run"]) for row in rows for each in own]
    summary = [{**line, "run": row["run"]} for row in rows for line in result.summary]
    rules = {
        **result.describe(),
        "frontier": {
            "cost": "p50",
            "quality": "RR",
            "best": [],
            "cheapest": [rows[cheapest]["run"]],
        },
    }
    tables = {"verdicts": [{"text": f"The cheapest is {engine}."}], "parameters": rows}
    manifest = {**result.manifest(), "rules": rules}
    write_result(
        result,
        folder,
        charts=False,
        values=named,
        summary=summary,
        manifest=manifest,
        tables=tables,
    )
    return folder


def test_words_that_all_names_begin_with_are_left_out() -> None:
    assert distinct_parts(["faiss m=1 n=2", "faiss m=1 n=4"]) == ["n=2", "n=4"]
    assert distinct_parts(["faiss n=2", "hnswlib ef=2"]) == ["faiss n=2", "hnswlib ef=2"]
    assert distinct_parts(["a", "a b"]) == ["a", "a b"]
    assert distinct_parts(["only one"]) == ["only one"]


def test_two_sweeps_are_one_frontier_with_the_choices_of_both(tmp_path: Path) -> None:
    first = swept(tmp_path / "one", "hnswlib", {"ef": [10, 20, 40, 80]}, 1)
    second = swept(tmp_path / "two", "faiss", {"nprobe": [1, 8]}, 0)

    source = page_source([("one", read_results(first)), ("two", read_results(second))])
    found, drawn = settings(source), {each["id"]: each for each in page_charts(source)}

    assert source.verdicts == ["one: The cheapest is hnswlib.", "two: The cheapest is faiss."]
    assert source.pair is None
    assert found is not None
    assert found["varying"] == ["engine", "ef", "nprobe"]
    assert found["fixed"] == [
        [["engine", "hnswlib"], ["m", "16"]],
        [["engine", "faiss"], ["m", "16"]],
    ]
    assert [row["values"] for row in found["rows"]][3:5] == [
        ["hnswlib", "80", None],
        ["faiss", None, "1"],
    ]
    assert [row["choices"] for row in found["rows"]] == [[], ["cheapest"], [], [], ["cheapest"], []]
    points = drawn["frontier"]["spec"]["concat"][0]["data"]["values"]
    assert [point["run"] for point in points if point["mark"].startswith("cheapest")] == [
        "one/hnswlib ef=20",
        "two/faiss nprobe=1",
    ]
    assert {"over_ef", "over_nprobe"} <= set(drawn)
    assert "intervals" not in drawn
    # Each value is twice the one before.
    assert drawn["over_ef"]["spec"]["concat"][0]["encoding"]["x"]["scale"]["type"] == "log"


def test_settings_of_one_sweep_are_not_compared_with_each_other(tmp_path: Path) -> None:
    folder = swept(tmp_path / "one", "hnswlib", {"ef": [10, 20]}, 0)

    source = page_source([("one", read_results(folder))])

    assert source.verdicts == ["The cheapest is hnswlib."]
    assert not [row for row in source.rows if row.get("against")]


def test_where_exact_results_are_the_key_nothing_is_unjudged(tmp_path: Path) -> None:
    asked = {f"q{row}": f"{engines_here.WORDS[row]} one two" for row in range(8)}
    truth = rw.read_ranking({query: {"one": 2.0, "six": 1.0} for query in asked})
    result = rw.evaluate_engine(engines_here.search, asked, truth=truth, depth=2, rounds=1)
    write_result(result, tmp_path / "out", charts=False, tables=result.tables)

    data = page_data(page_source([("out", read_results(tmp_path / "out"))])).complete()

    assert "unjudged" not in data["queries"]
    assert [
        finding["name"] for finding in data["findings"] if finding["name"] == "unjudged-in-top"
    ] == []
    assert set(result.details["state"]) == {"relevant", "nonrelevant"}
