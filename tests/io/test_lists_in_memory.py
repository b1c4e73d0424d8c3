"""Judgments and runs as people hold them in Python: lists, tuples and sets of ids, pairs of id and
score.
"""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rankwell
from rankwell.errors import BadInput, BadScore, DuplicateItem

GRADES = {"q1": {"d1": 1.0, "d2": 1.0}, "q2": {"d3": 1.0}}
SCORES = {"q1": {"d3": 0.9, "d1": 0.5, "d2": 0.1}, "q2": {"d3": 2.0}}


def judgments_of(table: rankwell.Judgments):
    return [
        *zip(table.query_of_row.tolist(), table.items, table.grades.tolist(), strict=True)
    ], table.queries


@pytest.mark.parametrize(
    "held",
    [
        {query: list(items) for query, items in GRADES.items()},
        {query: tuple(items) for query, items in GRADES.items()},
        {query: set(items) for query, items in GRADES.items()},
        {query: frozenset(items) for query, items in GRADES.items()},
        {query: np.array(list(items)) for query, items in GRADES.items()},
        {query: list(items.items()) for query, items in GRADES.items()},
        {"q1": ["d2", "d1"], "q2": {"d3": 1.0}},
    ],
)
def test_ids_in_any_collection_are_judgments_of_grade_1(held):
    assert judgments_of(rankwell.read_judgments(held)) == judgments_of(
        rankwell.read_judgments(GRADES)
    )
    assert (
        rankwell.evaluate(held, SCORES, intervals="none").summary
        == rankwell.evaluate(GRADES, SCORES, intervals="none").summary
    )


@pytest.mark.parametrize(
    "held",
    [
        {query: list(items) for query, items in SCORES.items()},
        {query: tuple(items) for query, items in SCORES.items()},
        {query: np.array(list(items)) for query, items in SCORES.items()},
        {query: list(items.items()) for query, items in SCORES.items()},
        {
            query: [[item, score] for item, score in items.items()]
            for query, items in SCORES.items()
        },
        {"q1": ["d3", "d1", "d2"], "q2": {"d3": 2.0}},
    ],
)
def test_lists_of_ids_and_pairs_are_runs(held):
    for runs in (held, {"run": held}, [held]):
        summary = rankwell.evaluate(
            GRADES, runs, measures=["AP", "nDCG@2"], intervals="none"
        ).summary
        assert (
            summary
            == rankwell.evaluate(
                GRADES, SCORES, measures=["AP", "nDCG@2"], intervals="none"
            ).summary
        )
    truth = rankwell.read_judgments(GRADES)
    found, expected = rankwell.find_hits(held, truth).hits, rankwell.find_hits(SCORES, truth).hits
    assert (found.above.tolist(), found.row.tolist()) == (
        expected.above.tolist(),
        expected.row.tolist(),
    )
    assert (
        rankwell.judged_rankings(truth, held).ranks.tolist()
        == rankwell.judged_rankings(GRADES, SCORES).ranks.tolist()
    )


def test_pairs_are_ordered_by_their_scores_and_lists_by_their_places():
    assert rankwell.judged_rankings({"q": ["a"]}, {"q": [("b", 1), ("a", 2)]}).ranks.tolist() == [1]
    assert rankwell.judged_rankings({"q": ["a"]}, {"q": ["b", "a"]}).ranks.tolist() == [2]


def test_integers_are_ids_and_an_empty_list_is_a_query_without_items():
    table = rankwell.read_judgments({1: [7, 8], 2: []})
    assert (table.queries, list(table.items)) == (("1", "2"), ["7", "8"])
    assert rankwell.read_ranking({1: [7], 2: []}).queries == ("1", "2")


def test_lists_judge_for_groups_and_intents_as_mappings_do():
    for rankings, measure in (
        (rankwell.group_rankings, "P_avgjg@1"),
        (rankwell.intent_rankings, "ERR_IA@2"),
    ):
        listed = rankings({"q": {"1": ["a"], "2": {"b", "c"}}}, {"q": ["c", "a"]})
        mapped = rankings(
            {"q": {"1": {"a": 1.0}, "2": {"b": 1.0, "c": 1.0}}}, {"q": {"c": 2.0, "a": 1.0}}
        )
        value = rankwell.parse_measure(measure)
        assert value(listed).tolist() == value(mapped).tolist() != [0.0]


@pytest.mark.parametrize(
    ("run", "kind", "message"),
    [
        (
            {"q": {"a", "b"}},
            BadInput,
            "query 'q' has a set, which has no order.*Give a list of ids",
        ),
        ({"q": ["a", "b", "a"]}, DuplicateItem, "query 'q' lists item 'a' twice"),
        ({"q": [("a", 1.0), ("a", 2.0)]}, DuplicateItem, "query 'q' lists item 'a' twice"),
        ({"q": [7, "7"]}, DuplicateItem, "query 'q' lists item '7' twice"),
        ({"q": ["a", ("b", 1.0)]}, BadInput, "query 'q' lists ids and pairs"),
        ({"q": [("a", "1")]}, BadScore, "query 'q', item 'a': the score is '1'"),
        ({"q": [("a", float("nan"))]}, BadScore, "query 'q', item 'a': the score is nan"),
        ({"q": ["a", None]}, BadInput, "the id None is nothing"),
        ({7: ["a"], "7": ["b"]}, BadInput, "7 and '7'"),
    ],
)
def test_lists_that_make_no_ranking_are_refused_with_their_query(run, kind, message):
    with pytest.raises(kind, match=message):
        rankwell.evaluate({"q": ["a"]}, run)


def test_a_judged_item_twice_is_refused_unless_duplicates_say_which_counts():
    with pytest.raises(DuplicateItem, match="query 'q' lists item 'a' twice"):
        rankwell.read_judgments({"q": ["a", "a"]})
    assert list(rankwell.read_judgments({"q": ["a", "a"]}, duplicates="first").items) == ["a"]
    best = rankwell.read_ranking({"q": [("a", 1.0), ("b", 1.5), ("a", 2.0)]}, duplicates="best")
    assert dict(zip(best.items, best.scores.tolist(), strict=True)) == {"a": 2.0, "b": 1.5}


def test_runs_and_judgments_come_back_as_dictionaries_and_frames():
    run, judgments = rankwell.read_ranking(SCORES), rankwell.read_judgments(GRADES)
    assert (run.to_dict(), judgments.to_dict()) == (SCORES, GRADES)
    for frame in (pd.DataFrame, pl.DataFrame):
        assert rankwell.read_ranking(frame(run.to_columns())).to_dict() == SCORES
        assert rankwell.read_judgments(frame(judgments.to_columns())).to_dict() == GRADES
    assert list(rankwell.evaluate(judgments, {"a": run}, "AP").to_pandas()["run"]) == ["a"]
