"""`rankwell compare --plan`: the queries that find a difference, without the difference seen."""

import json
import re
from functools import partial

import numpy as np
import pytest

import rankwell
from commanding import with_fields
from rankwell.cli.commands.compare import compare
from rankwell.errors import BadUsage, NothingToEvaluate
from rankwell.stats.paired_tests import queries_needed

forecast = partial(with_fields(compare), plan=True)


@pytest.fixture
def results(tmp_path):
    """Forty queries with one relevant item each, at random ranks of two runs."""
    random = np.random.default_rng(0)
    judged = {f"q{number:02}": {"right": 1} for number in range(40)}
    runs = {
        name: {query: _ranked(int(random.integers(1, 6))) for query in judged}
        for name in ("one", "two")
    }
    rankwell.evaluate(judged, runs, ["RR", "P@1"], details=True).save(tmp_path / "results")
    return rankwell.evaluate(judged, runs, ["RR", "P@1"]), str(tmp_path / "results")


def _ranked(rank):
    return [f"other{place}" for place in range(1, rank)] + ["right"]


def test_the_queries_needed_are_those_of_the_standard_deviation(results):
    result, folder = results
    one, two = (each.values for each in result.values if each.measure == "RR")

    (row,) = json.loads(forecast(folder, measures=["RR"], difference=0.1, format="json").text)[
        "rows"
    ]

    sd = float((two - one).std(ddof=1))
    assert row["queries"] == queries_needed(0.1, sd)
    assert row["queries_low"] < row["queries"] < row["queries_high"]
    assert not {"mean", "p"} & row.keys()


def test_the_same_seed_gives_the_same_bytes(results):
    _, folder = results

    assert forecast(folder).text == forecast(folder).text
    assert "queries for 0.05" in forecast(folder).text


def test_the_answer_is_a_sentence(results):
    _, folder = results

    sentence = " ".join(forecast(folder).text.split())

    assert re.match(
        r"Detecting a difference of 0\.05 RR between two and one takes about \d+ queries "
        r"\(\d+ to \d+\); you have 40\.",
        sentence,
    )


def test_a_difference_that_no_number_of_queries_finds_is_said_so(results):
    _, folder = results

    sentence = " ".join(forecast(folder, measures=["RR"], difference=1e-9).text.split())

    assert "RR between two and one takes more than a billion queries; you have 40." in sentence


def test_few_queries_and_wrong_numbers_are_refused(tmp_path, results):
    _, folder = results
    few = {f"q{number}": {"right": 1} for number in range(5)}
    rankwell.evaluate(
        few,
        {name: {query: _ranked(rank) for query in few} for rank, name in enumerate("ab", 1)},
        ["RR"],
    ).save(tmp_path / "few")

    with pytest.raises(NothingToEvaluate, match="fewer than 10 queries"):
        forecast(str(tmp_path / "few"))
    with pytest.raises(BadUsage, match="above 0"):
        forecast(folder, difference=-1)
    with pytest.raises(BadUsage, match="give two folders of results or more, or judgments"):
        forecast()


def test_a_measure_without_a_better_direction_is_left_out_and_named(tmp_path, results):
    judged = {f"q{number:02}": {"right": 1} for number in range(40)}
    runs = {
        name: {query: _ranked(1 + (number * step) % 4) for number, query in enumerate(judged)}
        for name, step in (("a", 1), ("b", 3))
    }
    rankwell.evaluate(judged, runs, ["Judged@2", "RR"]).save(tmp_path / "counted")

    found = forecast(str(tmp_path / "counted"))
    json_found = forecast(str(tmp_path / "counted"), format="json")

    assert {row["measure"] for row in json.loads(json_found.text)["rows"]} == {"RR"}
    assert "Judged@2: neither higher nor lower values are better; not forecast" in found.findings
    with pytest.raises(
        NothingToEvaluate, match="neither higher nor lower values of Judged@2 are better"
    ):
        forecast(str(tmp_path / "counted"), measures=["Judged@2"])


def test_judgments_and_runs_are_forecast_as_their_folder_is(tmp_path, monkeypatch):
    (tmp_path / "truth.qrels").write_text("".join(f"q{n:02} 0 right 1\n" for n in range(40)))
    for run in ("one", "two"):
        random = np.random.default_rng(len(run) + (run == "two"))
        (tmp_path / f"{run}.run").write_text(
            "".join(
                f"q{n:02} Q0 {item} {rank} {-rank} {run}\n"
                for n in range(40)
                for rank, item in enumerate(_ranked(int(random.integers(1, 6))), 1)
            )
        )
    monkeypatch.chdir(tmp_path)
    files = ("truth.qrels", "one.run", "two.run")
    rankwell.evaluate(files[0], [*files[1:]], ["RR"]).save(tmp_path / "folder")

    assert forecast(*files, measures=["RR"]).text == forecast("folder", measures=["RR"]).text


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"plan": False, "difference": 0.1}, "--difference is for --plan"),
        ({"test": "t"}, "--test is for a comparison"),
        ({"resamples": 100}, "--resamples is for a comparison"),
        ({"group": "type"}, "--plan does not take --group"),
        ({"per_query": True}, "--plan does not take --group"),
    ],
)
def test_options_of_the_other_kind_are_refused(results, option, message):
    _, folder = results

    with pytest.raises(BadUsage, match=message):
        forecast(folder, **option)


def test_a_baseline_chooses_the_pairs(tmp_path):
    random = np.random.default_rng(3)
    judged = {f"q{number:02}": {"right": 1} for number in range(40)}
    runs = {
        name: {query: _ranked(int(random.integers(1, 6))) for query in judged} for name in "abc"
    }
    rankwell.evaluate(judged, runs, ["RR"]).save(tmp_path / "three")

    forecasts = json.loads(forecast(str(tmp_path / "three"), baseline="b", format="json").text)

    assert [(row["run"], row["against"]) for row in forecasts["rows"]] == [("a", "b"), ("c", "b")]
