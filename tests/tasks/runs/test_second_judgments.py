"""uBpref: `evaluate --other-qrels`, a second grade of the same items."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import rankwell
from rankwell import cli
from rankwell.errors import BadUsage, NothingToEvaluate

TRUTH = {"q": {"a": 1, "b": 1, "x": 0, "y": 0}, "p": {"a": 2, "c": 0}}
SECOND = {"q": {"a": 1, "b": 3, "x": 3, "y": 0}, "p": {"a": 2, "c": 1}}
RUN = {"run": {"q": {"b": 3.0, "x": 2.0, "a": 1.0}, "p": {"c": 2.0, "a": 1.0}}}


def test_the_term_of_each_relevant_item_is_multiplied_by_its_second_grade() -> None:
    found = rankwell.evaluate(
        TRUTH, RUN, ["uBpref", "uBpref(factor=0.5)", "Bpref"], other_qrels=SECOND
    ).to_dict()["run"]

    assert found["q"] == {
        "uBpref": (3 + 1 / 2) / 2,
        "uBpref(factor=0.5)": (3 + 1 / 2) / 4,
        "Bpref": (1 + 1 / 2) / 2,
    }
    assert found["p"] == {"uBpref": 0.0, "uBpref(factor=0.5)": 0.0, "Bpref": 0.0}


def test_second_grades_of_one_make_bpref() -> None:
    ones = {query: dict.fromkeys(each, 1) for query, each in TRUTH.items()}

    found = rankwell.evaluate(TRUTH, RUN, ["uBpref", "Bpref"], other_qrels=ones)

    assert found["uBpref"] == found["Bpref"] > 0


def test_items_without_a_second_grade_count_nothing_and_are_noted() -> None:
    lacking = {"q": {"b": 3}}

    found = rankwell.evaluate(TRUTH, RUN, ["uBpref"], other_qrels=lacking)

    assert found.to_dict()["run"]["q"]["uBpref"] == 1.5
    assert "5 of 6 judged items have no second judgment; it counts as 0" in found.findings


@pytest.mark.parametrize(
    ("measures", "second", "error", "said"),
    [
        (["uBpref"], None, BadUsage, "name the second ones"),
        (["AP"], SECOND, BadUsage, "no effect without a measure of two judgments"),
        (["uBpref"], {"q": {"z": 1}}, NothingToEvaluate, "no judged item has a second judgment"),
        (["uBpref(factor=0.0)"], SECOND, BadUsage, "above 0"),
    ],
)
def test_second_judgments_that_make_no_sense_are_refused(
    measures: list[str], second: Any, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        rankwell.evaluate(TRUTH, RUN, measures, other_qrels=second)


def test_parts_give_the_values_of_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, table in (("first", TRUTH), ("second", SECOND)):
        rankwell.write_judgments(rankwell.Judgments.from_dict(table), tmp_path / f"{name}.txt")
    rankwell.write_run(rankwell.Ranking.from_dict(RUN["run"]), tmp_path / "run.run")
    line = "rankwell evaluate first.txt run.run -m uBpref --other-qrels second.txt -f json"

    printed = []
    for further in ("", " --executor here --work work"):
        monkeypatch.setattr(sys, "argv", (line + further).split())
        assert cli.main() == 0
        printed.append(json.loads(capsys.readouterr().out)["rows"])

    assert printed[0] == printed[1]
    assert printed[0][0]["mean"] == pytest.approx((3.5 / 2 + 0) / 2)
