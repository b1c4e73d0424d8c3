"""Ceilings: no matrix of scores passes them, and some matrix reaches them, tried with every matrix
of a small world.
"""

import math
from functools import cache
from itertools import product
from statistics import median

import numpy as np
import pytest

from rankwell import evaluate_crossmodal
from test_captions import figure

TEXTS = ["x", "y", "x", "y", "x"]
POSITIVES = [[0], [1], [1], [2], [0]]
VIDEOS, LEVELS = 3, (0, 1, 2)
RULES = ["input", "input-desc", "optimistic", "pessimistic", "expected", "averaged"]
Query = tuple[list[int], list[int]]
"""The scores of a query's items, and which items are right."""


@cache
def worlds() -> list[list[list[int]]]:
    """Every matrix in which captions of equal words have equal scores."""
    rows = list(product(LEVELS, repeat=VIDEOS))
    return [
        [list(one if text == "x" else other) for text in TEXTS]
        for one, other in product(rows, rows)
    ]


def queries(scores: list[list[int]], direction: str) -> list[Query]:
    """What is asked in a direction, from a matrix."""
    if direction == "t2v":
        return list(zip(scores, POSITIVES, strict=True))
    captions_of = [
        [row for row, right in enumerate(POSITIVES) if video in right] for video in range(VIDEOS)
    ]
    columns = [[row[video] for row in scores] for video in range(VIDEOS)]
    if direction == "v2t":
        return list(zip(columns, captions_of, strict=True))
    return [
        ([max(column[row] for row in rows) for rows in captions_of], [at])
        for at, column in enumerate(columns)
    ]


def standing(query: Query) -> tuple[int, int, int]:
    """How many items score above the best right one, how many the same, how many of those are
    right.
    """
    scores, right = query
    best = max(scores[item] for item in right)
    return (
        sum(s > best for s in scores),
        sum(s == best for s in scores),
        sum(scores[item] == best for item in right),
    )


def rank(query: Query, ties: str) -> float:
    """The rank of the best right item, by every rule that makes it one number."""
    above, tied, right = standing(query)
    best = max(query[0][item] for item in query[1])
    same = [item for item, score in enumerate(query[0]) if score == best]
    order = same if ties == "input" else same[::-1]
    first = next(place for place, item in enumerate(order) if item in query[1])
    return (
        above
        + {
            "input": first + 1,
            "input-desc": first + 1,
            "optimistic": 1,
            "pessimistic": tied - right + 1,
            "averaged": (tied + 1) / 2,
            "expected": (tied + 1) / (right + 1),
        }[ties]
    )


def hit(query: Query, ties: str, k: int) -> float:
    if ties == "expected":
        above, tied, right = standing(query)
        shown = min(max(k - above, 0), tied)
        return 1 - math.comb(tied - right, shown) / math.comb(tied, shown)
    found = rank(query, ties)
    return float(found == 1 if ties == "averaged" and k == 1 else found < k + 1)


@cache
def best(ties: str, direction: str) -> dict[str, float]:
    """The best figures over all matrices."""
    asked = [queries(scores, direction) for scores in worlds()]
    means = {
        f"Success@{k}": max(100 * sum(hit(q, ties, k) for q in each) / len(each) for each in asked)
        for k in (1, 2)
    }
    means["MnR"] = min(sum(rank(q, ties) for q in each) / len(each) for each in asked)
    means["MedR"] = min(median(rank(q, ties) for q in each) for each in asked)
    return means


@pytest.mark.parametrize("direction", ["t2v", "v2t", "v2t-videos"])
@pytest.mark.parametrize("ties", RULES)
def test_the_ceiling_is_the_best_that_any_matrix_reaches_under_the_rule_for_ties(
    ties: str, direction: str
):
    scores = np.array(worlds()[345], dtype=float)

    result = evaluate_crossmodal(
        scores,
        POSITIVES,
        queries=TEXTS,
        direction="t2v,v2t,v2t-videos",
        ties=ties,
        k=[1, 2],
        intervals="none",
    )

    for measure, reached in best(ties, direction).items():
        ceiling = figure(result, measure, direction, "ceiling")
        if ceiling is None:
            # Medians fall by ties of their own, and the second video has its captions in two sets
            # of equal ones.
            assert (
                direction == "t2v" and measure == "MedR" and ties in ("expected", "averaged")
            ) or (direction == "v2t" and measure != "Success@1" and ties == "expected")
            assert any(note.startswith(f"{direction}: no ceiling for ") for note in result.findings)
        else:
            assert ceiling == pytest.approx(reached), measure


def test_where_a_query_counts_more_often_by_ties_no_ceiling_is_named_and_the_reason_is():
    scores = np.array(worlds()[345], dtype=float)

    result = evaluate_crossmodal(
        scores, POSITIVES, queries=TEXTS, ties="multiplied", intervals="none"
    )

    assert {row["ceiling"] for row in result.summary} == {None}
    assert any(
        "no ceiling for R@1, R@5, R@10, MedR, MnR: under the tie rule multiplied" in note
        for note in result.findings
    )


def test_measures_of_all_positives_have_no_ceiling_where_captions_are_the_same_and_the_reason_is_said():  # noqa: E501
    scores = np.array(worlds()[345], dtype=float)

    result = evaluate_crossmodal(
        scores, POSITIVES, queries=TEXTS, direction="v2t", measures=["AP"], intervals="none"
    )

    assert figure(result, "AP", "v2t", "ceiling") is None
    assert any(
        "v2t: no ceiling for AP: what measures of all positives can reach" in note
        for note in result.findings
    )


def test_captions_of_equal_words_whose_positives_overlap_in_part_have_a_ceiling_at_one_alone():
    texts, positives = ["a", "a", "a"], [[0, 1], [1, 2], [2]]

    result = evaluate_crossmodal(
        np.tile([1.0, 2.0, 3.0], (3, 1)),
        positives,
        queries=texts,
        direction="t2v",
        k=[1, 2],
        intervals="none",
    )

    assert figure(result, "Success@1", "t2v", "ceiling") == pytest.approx(200 / 3)
    assert figure(result, "Success@2", "t2v", "ceiling") is None
    assert any("overlap in part" in note for note in result.findings)


@pytest.mark.parametrize("vectors", [False, True])
def test_scores_that_distinguish_captions_of_equal_words_are_noted(vectors: bool):
    scores = np.eye(5) if vectors else np.eye(5)[:, :VIDEOS]
    given = (
        {"query_vectors": scores, "item_vectors": scores[:VIDEOS]}
        if vectors
        else {"scores": scores}
    )

    result = evaluate_crossmodal(qrels=POSITIVES, queries=TEXTS, intervals="none", **given)
    alike = evaluate_crossmodal(
        np.array(worlds()[345], dtype=float), POSITIVES, queries=TEXTS, intervals="none"
    )

    assert any(
        "3 captions have the words of an earlier one and other scores" in note
        for note in result.findings
    )
    assert not any("other scores" in note for note in alike.findings)
