"""Notes of `engine run` on quality are those of `evaluate` on the same lists."""

from pathlib import Path
from typing import Any

import pytest

import rankwell as rw
from rankwell.tasks.engine.evaluation import retrieve_into
from rankwell.tasks.engine.options import EngineOptions

QUERIES = {f"Q{row}": f"text {row}" for row in range(12)}
JUDGED = {
    query: {f"D{query[1:]}a": 2, f"D{query[1:]}b": 1, f"D{query[1:]}c": 0} for query in QUERIES
}


def run_of(pattern: str) -> dict[str, list[tuple[str, float]]]:
    """A run of three items a query, by a pattern of the query's number and the item's letter."""
    return {
        query: [
            (pattern.format(number=query[1:], letter=letter), 3.0 - place)
            for place, letter in enumerate("cab")
        ]
        for query in QUERIES
    }


WORLDS: dict[str, tuple[Any, Any, Any]] = {
    "foreign ids": (JUDGED, run_of("x{number}-{letter}"), ["nDCG@10"]),
    "unjudged items": (
        JUDGED,
        {q: [(f"u{q}", 9.0), *found] for q, found in run_of("D{number}{letter}").items()},
        ["P@2", "RR@3"],
    ),
    "nothing relevant for a measure": (
        JUDGED,
        run_of("D{number}{letter}"),
        ["P(rel=3)@2", "nDCG@10"],
    ),
    "a measure without bounds": (JUDGED, run_of("D{number}{letter}"), ["RBP", "AP"]),
    "nothing wrong": (JUDGED, run_of("D{number}{letter}"), ["nDCG@3"]),
}


def said_of(evaluated: Any) -> list[str]:
    """The findings on the run, without those on grades, intervals and ties that most data have,
    and without the options of one of the commands.
    """
    usual = ("grades-as-binary", "equal-values", "small-sample", "values-depend-on-ties")
    return [
        finding.partition("; try ")[0]
        for finding in evaluated.findings
        if finding.name not in usual
    ]


NOTED = ("foreign ids", "unjudged items")
"""The worlds about which there is something to say."""


@pytest.mark.parametrize("world", WORLDS)
def test_all_notes_of_evaluate_are_those_of_retrieve(world: str):
    judged, run, measures = WORLDS[world]
    number = {text: query for query, text in QUERIES.items()}

    def search(query: str, k: int) -> list[tuple[str, float]]:
        return run[number[query]][:k]

    asked = rw.evaluate_engine(search, QUERIES, qrels=judged, measures=measures, rounds=1)

    name = "object"
    scores = {query: dict(found) for query, found in run.items()}
    evaluated = rw.evaluate(judged, {name: scores}, measures, ties="input")
    expected = said_of(evaluated)
    assert [note for note in said_of(asked) if note in expected] == expected
    assert [asked[measure] for measure in measures] == [evaluated[measure] for measure in measures]
    assert bool(expected) == (world in NOTED)


OWN_RULES: dict[str, tuple[str, Any, dict[str, list[str]], list[str]]] = {
    "own items are excluded": (
        "beir",
        {"7": {"7": 1, "9": 1}, "8": {"3": 1}},
        {"7": ["7", "9", "5"], "8": ["5", "3"]},
        ["ndcg@10"],
    ),
    "negative grades are no judgments": (
        "trec_eval10",
        {"7": {"a": 1, "b": -1, "c": 0}},
        {"7": ["b", "c", "a"]},
        ["Judged@3", "bpref"],
    ),
}


@pytest.mark.parametrize("world", OWN_RULES)
def test_a_convention_has_the_same_rules_for_own_items_and_negative_grades(world: str):
    convention, judged, lists, measures = OWN_RULES[world]
    rules: dict[str, Any] = {"qrels": judged, "measures": measures, "convention": convention}

    asked = rw.evaluate_engine(
        lambda text, k: lists[text][:k], {query: query for query in lists}, rounds=1, **rules
    )

    evaluated = rw.evaluate(judged, lists, measures, convention=convention)
    plain = rw.evaluate(judged, lists, measures)
    assert [asked[measure] for measure in measures] == [evaluated[measure] for measure in measures]
    assert [evaluated[measure] for measure in measures] != [plain[measure] for measure in measures]
    own = [note for note in evaluated.findings if "a relevant item with the id" in note]
    assert [note for note in asked.findings if "a relevant item with the id" in note] == own
    assert bool(own) == (convention == "beir")


def test_query_ids_in_two_notations_are_named():
    judged = {
        query.lower() if row < 4 else query: grades
        for row, (query, grades) in enumerate(JUDGED.items())
    }
    run = run_of("D{number}{letter}")

    with pytest.raises(rw.BadInput) as of_engine:
        rw.evaluate_engine(
            lambda text, k: run[f"Q{text.split()[1]}"][:k],
            QUERIES,
            qrels=judged,
            measures="RR",
            rounds=1,
        )

    runs = {"object": {query: dict(found) for query, found in run.items()}}
    with pytest.raises(rw.BadInput) as of_run:
        rw.evaluate(judged, runs, "RR", average_over="both")
    assert "differences of case" in str(of_run.value)
    assert "RR would stay 0.5000" in str(of_run.value)
    assert str(of_engine.value) == str(of_run.value)


def test_columns_of_no_run_are_refused_before_anything_is_asked():
    asked: list[str] = []
    with pytest.raises(rw.BadUsage, match="columns='query=1' has no effect without a run as truth"):
        rw.evaluate_engine(lambda text, _: asked.append(text), QUERIES, columns="query=1")
    assert asked == []


def test_notes_on_the_exact_results_of_a_run_are_kept(tmp_path: Path):
    (tmp_path / "exact.run").write_bytes(b"\xef\xbb\xbfq Q0 a 1 2 t\n")

    found = rw.evaluate_engine(
        lambda query, k: ["a"][:k],
        {"q": "text"},
        truth=str(tmp_path / "exact.run"),
        depth=1,
        rounds=1,
    )

    assert any("byte order mark" in note for note in found.findings)


def test_a_call_that_goes_on_asks_anew_where_the_file_of_the_engine_has_changed(tmp_path: Path):
    file = tmp_path / "engine.py"
    options = EngineOptions(
        queries={"q": "text"}, qrels={"q": {"a": 1}}, measures="RR", rounds=1, warm_up=0, depth=1
    )
    ranks: list[Any] = []
    for item in "ba":
        file.write_text(f"def search(query, k):\n    return [{item!r}]\n", encoding="utf-8")
        ranks.append(retrieve_into(f"{file}:search", options, tmp_path, None)["RR"])
    assert ranks == [0.0, 1.0]
