"""Figures do not depend on what the caller told NumPy to do with floating-point errors."""

import numpy as np
import pytest

import rankwell as rw
from rankwell.compat import pytrec_eval

TINY = {f"q{query}": {f"d{item}": 10.0 ** -(44 + item) for item in range(5)} for query in range(12)}
TRUTH = {query: {f"d{place % 5}": 1, "d4": 2} for place, query in enumerate(TINY)}


@pytest.mark.parametrize("convention", ["trec_eval9", "trec_eval10", "ranx", "rankwell"])
def test_scores_below_single_precision_count_as_without_the_callers_errors(convention: str):
    expected = rw.evaluate(TRUTH, TINY, convention=convention, intervals="bootstrap")
    with np.errstate(all="raise"):
        found = rw.evaluate(TRUTH, TINY, convention=convention, intervals="bootstrap")
        assert found.summary == expected.summary
        assert str(found) == str(expected)


def test_drop_ins_do_not_depend_on_it_either():
    judgments = {query: dict(grades) for query, grades in TRUTH.items()}
    expected = pytrec_eval.RelevanceEvaluator(judgments, {"map", "ndcg"}).evaluate(TINY)
    with np.errstate(all="raise"):
        assert pytrec_eval.RelevanceEvaluator(judgments, {"map", "ndcg"}).evaluate(TINY) == expected


def test_a_comparison_and_its_displays_do_not_depend_on_it():
    other = {
        query: dict(zip(scores, reversed(scores.values()), strict=True))
        for query, scores in TINY.items()
    }
    expected = rw.compare_values(rw.evaluate(TRUTH, {"a": TINY, "b": other}).values)
    with np.errstate(all="raise"):
        found = rw.compare_values(rw.evaluate(TRUTH, {"a": TINY, "b": other}).values)
        assert found.differences == expected.differences
        assert found.to_columns() == expected.to_columns()
        assert found.chart() == expected.chart()
