"""The same data give the same findings in `evaluate`, `check` and `engine run`: the names that one
of them has without a further pass over the data, all of them have.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rankwell as rw
from rankwell.data.findings import FINDINGS, Finding
from rankwell.errors import BadInput
from regression.running import in_process

QUERIES = [f"Q{number}" for number in range(12)]
JUDGED = {
    query: {f"D{query[1:]}a": 2, f"D{query[1:]}b": 1, f"D{query[1:]}c": 0} for query in QUERIES
}
RUN = {
    query: {f"D{query[1:]}{letter}": 3.0 - place for place, letter in enumerate("cab")}
    for query in QUERIES
}


def renamed(run: dict[str, dict[str, float]], name: Callable[[str], str]) -> Any:
    return {query: {name(item): score for item, score in run[query].items()} for query in run}


WORLDS: dict[str, tuple[Any, Any, set[str]]] = {
    "nothing wrong": (JUDGED, RUN, set()),
    "lower-case items": (JUDGED, renamed(RUN, str.lower), {"item-ids-in-two-notations"}),
    "chunks": (JUDGED, renamed(RUN, "{}#c3".format), {"item-ids-in-two-notations"}),
    "foreign items": (JUDGED, renamed(RUN, "x-{}".format), {"no-judged-item"}),
    "one item of a hundred in another case": (
        {f"Q{n}": {f"Doc{n}": 1} for n in range(100)},
        {f"Q{n}": {f"Doc{n}" if n else "doc0": 2.0, "x": 1.0} for n in range(100)},
        {"some-item-ids-in-two-notations"},
    ),
    "unjudged items": (
        JUDGED,
        renamed(RUN, lambda item: item.replace("c", "z")),
        {"unjudged-in-top"},
    ),
    "nothing relevant": (
        {query: dict.fromkeys(items, 0) for query, items in JUDGED.items()},
        RUN,
        {"nothing-relevant"},
    ),
    "a query without relevant items": (
        JUDGED | {"Q1": {"D1a": 0}},
        RUN,
        {"queries-without-relevant"},
    ),
    "relevant items last": (
        {query: {f"D{query[1:]}z": 1} for query in QUERIES},
        {
            query: {
                f"D{query[1:]}{letter}": 26.0 - place for place, letter in enumerate("abcdefghyz")
            }
            for query in QUERIES
        },
        {"relevant-items-last"},
    ),
}


def names_of(findings: Callable[[], Any]) -> set[str]:
    """The names of findings, also of those that stop an evaluation."""
    try:
        return {finding.name for finding in findings() if isinstance(finding, Finding)}
    except BadInput as error:
        _, _, names = str(error).rpartition("(`rankwell explain ")
        return set(names.removesuffix("`)").split(", "))


@pytest.mark.parametrize("world", WORLDS)
def test_the_same_data_give_the_same_findings(world: str):
    judged, run, expected = WORLDS[world]

    evaluated = names_of(lambda: rw.evaluate(judged, {"mine": run}).findings)
    checked = {finding.name for finding in rw.check(judged, {"mine": run})}
    asked = names_of(
        lambda: (
            rw.evaluate_engine(
                lambda query, k: list(run[query].items())[:k],
                {query: query for query in run},
                qrels=judged,
                rounds=1,
                depth=100,
            ).findings
        )
    )

    errors = {name for name in checked if FINDINGS[name].level == "error"}
    assert expected <= evaluated
    assert expected <= asked
    assert evaluated == (errors or evaluated)
    assert evaluated <= checked
    assert {name for name in asked if FINDINGS[name].level == "error"} == errors
    # The lists of an engine have places, no ties; its times have intervals of their own.
    assert evaluated <= asked | {"values-depend-on-ties", "most-judged-queries-missing"}


def test_folders_that_are_compared_show_the_findings_on_their_data(tmp_path: Path):
    judged = {f"Q{n}": {f"Doc{n}": 1} for n in range(30)}
    runs = {
        name: {
            f"Q{n}": {f"Doc{n}" if n else "doc0": 2.0, f"x{(n + shift) % 7}": 1.0}
            for n in range(30)
        }
        for shift, name in enumerate(("one", "two"))
    }
    folders = [str(tmp_path / name) for name in runs]
    for folder, name in zip(folders, runs, strict=True):
        rw.evaluate(judged, {name: runs[name]}).save(folder)

    _, _, shown = in_process(["compare", *folders, "--verbose"])

    assert shown.count("[some-item-ids-in-two-notations]") == 2


def test_findings_of_folders_have_the_names_of_runs_in_the_comparison(tmp_path: Path):
    judged = {f"Q{n}": {f"Doc{n}": 1 + n % 2} for n in range(30)}
    for name, depth in (("old", 25), ("new", 27)):
        run = {f"Q{n}": {f"Doc{n}": 2.0, "x": 1.0} for n in range(depth)}
        rw.evaluate(judged, {"bm25": run}, ["AP", "nDCG"]).save(tmp_path / name)

    _, out, _ = in_process(
        ["compare", *(str(tmp_path / name) for name in ("old", "new")), "-f", "json"]
    )
    findings = json.loads(out)["findings"]

    missing = [each for each in findings if each["name"] == "queries-missing"]
    assert [each["run"] for each in missing] == ["old", "new"]
    assert [each["message"].partition(" queries")[0] for each in missing] == ["old: 5", "new: 3"]
    alike = [each["message"] for each in findings if each["name"] == "grades-alike"]
    assert len(alike) == len(set(alike)) <= 1
