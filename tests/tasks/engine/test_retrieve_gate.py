"""A gate on folders of `engine run`: quality is compared with a baseline, times of queries only
where they are named.
"""

import time
from pathlib import Path

import pytest

import rankwell as rw
from rankwell.comparison.data import GateOptions
from rankwell.comparison.gate import check_requirements
from rankwell.errors import BadUsage
from rankwell.io.result_folder import read_results, read_summary

QUERIES = {f"q{row}": f"text {row}" for row in range(30)}
JUDGED = {query: {"a": 1 + row % 3, "b": 1} for row, query in enumerate(QUERIES)}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of an engine, and of another one that returns the same lists later."""
    place = tmp_path_factory.mktemp("gate")
    for name, seconds in (("fast", 0.0), ("slow", 0.004)):

        def engine(query: str, k: int, seconds: float = seconds) -> list[str]:
            time.sleep(seconds)
            return ["a", "x", "b"][int(query.split()[1]) % 2 :][:k]

        for more, judged in (("", JUDGED), ("-times", None)):
            measures = ["nDCG@10", "RR"] if judged else None
            rw.evaluate_engine(engine, QUERIES, qrels=judged, measures=measures, rounds=1).save(
                place / (name + more), charts=False
            )
    return place


def checked(folders: Path, name: str, **options: object) -> tuple[dict[str, bool], list[str]]:
    chosen = GateOptions(baseline=str(folders / f"fast{name}"), **options)  # type: ignore[arg-type]
    results = read_results(folders / f"slow{name}")
    lines, notes = check_requirements(results, read_summary(results), chosen)
    return {each.measure: each.passed for each in lines}, notes


def test_times_are_compared_with_a_baseline_only_where_they_are_named(folders: Path):
    passed, notes = checked(folders, "")

    assert passed == {"nDCG@10": True, "RR": True}
    assert any(note.startswith("latency: times differ from call to call") for note in notes)
    assert checked(folders, "", measures=["latency"])[0] == {"latency (mean)": False}
    assert checked(folders, "", measures=["RR", "latency"])[0] == {
        "RR": True,
        "latency (mean)": False,
    }


def test_results_that_have_only_times_are_not_compared_in_silence(folders: Path):
    with pytest.raises(
        BadUsage,
        match="only times, which differ from call to call; measures='latency' compares them",
    ):
        checked(folders, "-times")
    assert checked(folders, "-times", measures=["latency"])[0] == {"latency (mean)": False}
