"""A whole workflow in Python: evaluate, compare, gate, save, report; and own measures, on the command line, too."""

import dataclasses
import inspect
from pathlib import Path
from typing import Any

import pytest

import rankwell as rw
from regression.running import in_process

QRELS = {f"q{number}": {"a": 1, "b": 2} for number in range(12)}
RUNS = {"old": {query: {"c": 2.0, "a": 1.0} for query in QRELS}, "new": {query: {"b": 2.0, "a": 1.0} for query in QRELS}}


@pytest.fixture
def result() -> Any:
    return rw.evaluate(QRELS, RUNS, ["RR", "nDCG@10"], details=True)


def first(view: rw.JudgedRankings, rel: float = 1) -> Any:
    """Whether the first item is relevant."""
    return view.first_rank(view.relevant(rel)) == 1


def test_the_steps_follow_each_other(result: Any, tmp_path: Path):
    page = result.compare(baseline="old").gate("nDCG@10 >= 0.2").save(tmp_path / "out").report(tmp_path / "page.html")

    assert page == tmp_path / "page.html"
    assert "new" in page.read_text(encoding="utf-8")
    assert {"summary.csv", "per_query.parquet", "verdicts.txt"} <= {path.name for path in (tmp_path / "out").iterdir()}


def test_a_requirement_that_does_not_hold_is_raised(result: Any):
    with pytest.raises(rw.GateFailed, match="old RR"):
        result.gate("RR >= 0.9")
    with pytest.raises(rw.RankwellError, match="a comparison already"):
        result.compare().compare()


def test_a_measure_is_read_by_its_name(result: Any):
    assert result["RR"] == {"old": 0.5, "new": 1.0}
    assert rw.evaluate(QRELS, {"new": RUNS["new"]}, "RR")["RR"] == 1.0
    with pytest.raises(rw.UnknownName, match="did you mean 'RR'"):
        result["rr"]


def test_printing_shows_the_table_of_the_command_line(result: Any):
    assert str(result).splitlines()[0].split()[:3] == ["run", "measure", "mean"]
    assert str(result.compare()).startswith("new is better than old")
    assert "\x1b" not in str(result)


def test_a_function_is_a_measure():
    found = rw.evaluate(QRELS, RUNS, ["RR", first])

    assert found["first"] == {"old": 0.0, "new": 1.0}
    assert rw.evaluate(QRELS, RUNS, "first(rel=2)")["first(rel=2)"]["new"] == 1.0


@pytest.mark.parametrize(
    ("measures", "message"),
    [
        ([3], "3 is not a measure; expected a name such as nDCG@10, or a function"),
        ([lambda _: 1], "'<lambda>' is not a name"),
        ("no_such_module:thing", "there is no module 'no_such_module'"),
    ],
)
def test_what_is_not_a_measure_is_one_short_error(measures: Any, message: str):
    with pytest.raises(rw.BadUsage, match=message):
        rw.evaluate(QRELS, RUNS, measures)


def test_a_function_that_returns_something_else_is_named():
    def wrong(_: rw.JudgedRankings) -> float:
        return 1.0

    with pytest.raises(rw.BadUsage, match="wrong: expected a number for each of 12 queries"):
        rw.evaluate(QRELS, RUNS, [wrong])
    with pytest.raises(rw.BadUsage, match="'AP' is a measure of rankwell"):
        rw.measure(wrong, name="AP")


def test_the_command_line_takes_module_and_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "my_measures.py").write_text("def top(view):\n    return view.first_rank(view.relevant(1)) == 1\n")
    (tmp_path / "qrels.txt").write_text("q 0 a 1\n")
    (tmp_path / "a.run").write_text("q Q0 a 1 2.0 r\n")
    monkeypatch.chdir(tmp_path)

    code, out, _ = in_process(["evaluate", "qrels.txt", "a.run", "-m", "my_measures:top", "-f", "csv"])

    assert (code, out.splitlines()[1].split(",")[:4]) == (0, ["a", "top", "top", "1.0"])


def test_editors_and_notebooks_see_the_parameters_of_the_steps():
    fields = [each.name for each in dataclasses.fields(rw.ComparisonOptions)]

    assert [*inspect.signature(rw.Results.compare).parameters] == ["result", *fields, "options"]
    assert {"required", "no_regression", "tolerance", "level"} <= {*inspect.signature(rw.Results.gate).parameters}
    for step in (rw.Results.compare, rw.Results.gate, rw.Results.save, rw.Results.report):
        assert step.__doc__
        assert not any(each.kind is each.VAR_KEYWORD for each in inspect.signature(step).parameters.values())


def test_an_unknown_option_is_refused(result: Any):
    with pytest.raises(TypeError, match="base"):
        result.compare(base="old")
    with pytest.raises(rw.UnknownName, match="there is no 'permutation'"):
        result.compare(test="permutation")


def test_a_gate_reads_its_file_of_requirements(result: Any, tmp_path: Path):
    (tmp_path / "gate.toml").write_text('require = ["new:RR >= 1"]\nno_regression = "old"\n')

    assert result.gate(requirements=tmp_path / "gate.toml") is result
    with pytest.raises(rw.GateFailed, match="new RR"):
        result.gate("new:RR <= 0.5", requirements=tmp_path / "gate.toml")
