"""Findings that change how to read the values of runs."""

import numpy as np

import rankwell as rw
from rankwell.data.findings import Finding
from rankwell.evaluation.results import ResultData


def named(result: ResultData, name: str) -> list[Finding]:
    return [finding for finding in result.findings if finding.name == name]


QRELS = {f"q{query}": {f"d{query}-{item}": 1 for item in range(8)} for query in range(12)}
SHORT = {
    query: {item: 9.0 - place for place, item in enumerate(list(items)[:5])}
    for query, items in QRELS.items()
}
LONG = {
    query: {f"x{place}": 50.0 - place for place in range(22)}
    | {item: 20.0 - place for place, item in enumerate(items)}
    for query, items in QRELS.items()
}


def test_a_run_that_is_shorter_than_a_cut_off_and_another_run_is_named():
    result = rw.evaluate(QRELS, {"short": SHORT, "long": LONG}, ["R@100", "P@5", "RR"])

    (finding,) = named(result, "lists-shorter-than-cutoff")
    assert finding == (
        "short: its lists have at most 5 items, those of other runs up to 30: R@100, RR favour "
        "longer lists"
    )
    assert named(rw.evaluate(QRELS, {"a": SHORT, "b": SHORT}), finding.name) == []
    assert named(rw.evaluate(QRELS, {"short": SHORT}, "R@100"), finding.name) == []
    compared = result.compare()
    assert finding in compared.findings


def test_grades_that_binary_measures_take_alike_are_named_with_the_option():
    graded = {
        query: dict.fromkeys(items, 1) | {next(iter(items)): 3} for query, items in QRELS.items()
    }

    (finding,) = named(
        rw.evaluate(graded, {"run": LONG}, ["nDCG@10", "AP", "RR"]), "grades-as-binary"
    )

    assert finding == "AP, RR treat the grades 1 to 3 alike: 1 or more is relevant; try min_grade"
    assert named(rw.evaluate(graded, {"run": LONG}, "AP", min_grade=3), finding.name) == []
    assert named(rw.evaluate(graded, {"run": LONG}, "nDCG@10"), finding.name) == []
    assert named(rw.evaluate(QRELS, {"run": LONG}, "AP"), finding.name) == []


def test_a_system_whose_interval_is_not_wholly_better_than_chance_is_named():
    right = np.eye(40) + np.random.default_rng(0).random((40, 40)) / 10

    (finding,) = named(rw.evaluate_crossmodal({"inverted": -right}), "not-above-chance")

    assert finding == (
        "inverted: it is not significantly better than chance by R@1, R@5, R@10, MedR"
    )
    (finding,) = named(
        rw.evaluate_crossmodal({"random": np.random.default_rng(1).random((40, 40))}),
        "not-above-chance",
    )
    assert (
        finding == "random: it is not significantly better than chance by R@1, R@5, R@10, MedR, MnR"
    )
    assert named(rw.evaluate_crossmodal({"right": right}), "not-above-chance") == []


def test_queries_that_count_or_do_not_are_named_once_for_all_runs():
    qrels = QRELS | {"q12": {"d": 0}, "q13": {"d": 1}}
    tied = {query: dict.fromkeys(items, 1.0) | {"x": 1.0} for query, items in SHORT.items()}
    runs = {"a": tied | {"other": {"d": 1.0}}, "b": SHORT}

    result = rw.evaluate(qrels, runs, "nDCG@5")

    assert named(result, "queries-without-relevant")[0].queries == ["q12"]
    assert len(named(result, "queries-without-relevant")) == 1
    assert [each.queries for each in named(result, "queries-missing")] == [["q12", "q13"]] * 2
    assert [each.queries for each in named(result, "queries-unknown")] == [["other"]]
    (ties,) = named(result, "values-depend-on-ties")
    assert ties.as_dict()["run"] == "a"
    assert set(ties.queries) == set(QRELS)
    assert named(rw.evaluate(qrels, runs, "nDCG@5", ties="expected"), ties.name) == []
