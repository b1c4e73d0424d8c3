"""The power of results: the queries that find a difference, without showing the difference seen."""

import json

import numpy as np
import pytest

import rankwell
from rankwell.cli.commands.power import power
from rankwell.errors import BadUsage, NothingToEvaluate
from rankwell.stats.paired_tests import queries_needed


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

    (row,) = json.loads(power(folder, measure=["RR"], difference=0.1, format="json").text)["rows"]

    sd = float((two - one).std(ddof=1))
    assert row["queries"] == queries_needed(0.1, sd)
    assert row["queries_low"] < row["queries"] < row["queries_high"]
    assert not {"mean", "p"} & row.keys()


def test_the_same_seed_gives_the_same_bytes(results):
    _, folder = results

    assert power(folder).text == power(folder).text
    assert "queries for 0.05" in power(folder).text


def test_few_queries_and_wrong_numbers_are_refused(tmp_path, results):
    _, folder = results
    few = {f"q{number}": {"right": 1} for number in range(5)}
    rankwell.evaluate(
        few,
        {name: {query: _ranked(rank) for query in few} for rank, name in enumerate("ab", 1)},
        ["RR"],
    ).save(tmp_path / "few")

    with pytest.raises(NothingToEvaluate, match="fewer than 10 queries"):
        power(str(tmp_path / "few"))
    with pytest.raises(BadUsage, match="above 0"):
        power(folder, difference=-1)
    with pytest.raises(BadUsage, match="name a folder"):
        power()


def test_a_measure_without_a_better_direction_is_left_out_and_named(tmp_path, results):
    judged = {f"q{number:02}": {"right": 1} for number in range(40)}
    runs = {
        name: {query: _ranked(1 + (number * step) % 4) for number, query in enumerate(judged)}
        for name, step in (("a", 1), ("b", 3))
    }
    rankwell.evaluate(judged, runs, ["Judged@2", "RR"]).save(tmp_path / "counted")

    found = power(str(tmp_path / "counted"))
    json_found = power(str(tmp_path / "counted"), format="json")

    assert {row["measure"] for row in json.loads(json_found.text)["rows"]} == {"RR"}
    assert "Judged@2: neither higher nor lower values are better; not forecast" in found.findings
    with pytest.raises(
        NothingToEvaluate, match="neither higher nor lower values of Judged@2 are better"
    ):
        power(str(tmp_path / "counted"), measure=["Judged@2"])
