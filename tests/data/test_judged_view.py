"""The view that the classical measures read: junk, ties and unjudged items are settled here and
nowhere else.
"""

import itertools
from random import Random

import numpy as np
import pytest

from make import MAKERS, final_order
from rankwell import judged_rankings
from rankwell.data.tables import Judgments
from rankwell.errors import TieRefused
from rankwell.measures.average_precision import ap
from rankwell.measures.gain import ndcg

TRUTH = {"q": {"a": 1, "b": 0, "c": 2, "d": -1}}
TIED = {"q": dict.fromkeys("abcdx", 1.0)}


def columns(view) -> list:
    """Everything a measure can read of a view."""
    names = (
        "queries",
        "offsets",
        "grades",
        "ranks",
        "above",
        "tied",
        "n_retrieved",
        "has_ranking",
        "judged_offsets",
        "judged_grades",
    )
    return [np.asarray(getattr(view, name)).tolist() for name in names]


def test_rows_stand_at_their_ranks_and_a_negative_grade_is_a_judgment_except_in_trec_eval():
    view = judged_rankings(TRUTH, {"q": {"x": 5.0, "c": 4.0, "d": 3.0, "a": 2.0}})

    assert view.ranks.tolist() == [2, 3, 4]
    assert view.grades.tolist() == [2.0, -1.0, 1.0]
    assert view.relevant(-5).tolist() == [True, False, True]
    assert view.n_relevant(-5).tolist() == [3.0]
    assert view.condensed.ranks.tolist() == [1, 2, 3]
    assert view.condensed.n_retrieved.tolist() == [3]
    assert view.with_unjudged_pool.condensed.ranks.tolist() == [1, 2]
    assert view.with_unjudged_pool.condensed.n_retrieved.tolist() == [2]


@pytest.mark.parametrize("seed", range(20))
def test_junk_leaves_the_ranking_and_the_truth_as_if_it_had_never_been_there(seed: int):
    random = Random(seed)
    world = MAKERS["JudgedRankings"].world(seed)
    everything = {
        query: {*graded, *world.run.get(query, {})} for query, graded in world.truth.items()
    }
    junk = {
        query: set(random.sample(sorted(items), len(items) // 4))
        for query, items in everything.items()
    }

    view = judged_rankings(Judgments.from_dict(world.truth).with_junk(junk), world.run)

    clean = judged_rankings(
        {
            query: {item: grade for item, grade in graded.items() if item not in junk[query]}
            for query, graded in world.truth.items()
        },
        {
            query: {item: score for item, score in scored.items() if item not in junk[query]}
            for query, scored in world.run.items()
        },
    )
    assert columns(view) == columns(clean)


@pytest.mark.parametrize("seed", range(10))
def test_the_condensed_view_is_that_of_a_ranking_without_unjudged_items(seed: int):
    world = MAKERS["JudgedRankings"].world(seed)

    view = judged_rankings(world.truth, world.run)

    for condensed, least in ((view.condensed, -9), (view.with_unjudged_pool.condensed, 0)):
        judged = {
            query: {item for item, grade in graded.items() if grade >= least}
            for query, graded in world.truth.items()
        }
        run = {
            query: {item: score for item, score in scored.items() if item in judged[query]}
            for query, scored in world.run.items()
        }
        assert columns(condensed) == columns(judged_rankings(world.truth, run))


def test_a_cut_view_is_that_of_a_shorter_ranking():
    world = MAKERS["JudgedRankings"].world(3)
    run = {
        query: {item: -float(rank) for rank, item in enumerate(final_order(scored))}
        for query, scored in world.run.items()
    }

    view = judged_rankings(world.truth, run).cut(7)

    shorter = {query: dict(list(scored.items())[:7]) for query, scored in run.items()}
    assert columns(view) == columns(judged_rankings(world.truth, shorter))


def test_optimistic_and_pessimistic_are_the_best_and_the_worst_of_all_orders():
    scores = {"q": {"a": 2.0, "x": 2.0, "b": 2.0, "c": 1.0, "y": 1.0, "d": 1.0}}
    listings = [
        {item: scores["q"][item] for item in each} for each in itertools.permutations(scores["q"])
    ]
    every = judged_rankings(
        {f"{number}": TRUTH["q"] for number in range(len(listings))},
        {f"{n}": each for n, each in enumerate(listings)},
        ties="input",
    )
    for measure in (ap, ndcg):
        values = measure(every)

        assert measure(judged_rankings(TRUTH, scores, ties="optimistic"))[0] == pytest.approx(
            values.max()
        )
        assert measure(judged_rankings(TRUTH, scores, ties="pessimistic"))[0] == pytest.approx(
            values.min()
        )


def test_a_tie_with_a_judged_item_is_refused_when_asked_and_one_without_is_not():
    with pytest.raises(TieRefused, match=r"query 'q': 5 items share the score 1\.0 at rank 1"):
        judged_rankings(TRUTH, TIED, ties="error")

    assert judged_rankings(
        TRUTH, {"q": {"a": 2.0, "x": 1.0, "y": 1.0}}, ties="error"
    ).ranks.tolist() == [1]


def test_the_chance_to_stand_above_the_cut_counts_unjudged_items_of_the_tie():
    view = judged_rankings(TRUTH, TIED, ties="expected")

    assert view.chance_within(2).tolist() == [0.4] * 4
    assert view.chance_within(9).tolist() == [1.0] * 4
    assert view.mean_over_ties(lambda rank: 1.0 / rank, 2).tolist() == pytest.approx(
        [(1 + 1 / 2) / 5] * 4
    )
    assert view.condensed.chance_within(2).tolist() == [1 / 2] * 4
    assert view.with_unjudged_pool.condensed.chance_within(2).tolist() == pytest.approx([2 / 3] * 3)


def test_nothing_at_all_is_a_view_too():
    for truth, run in (({}, {}), ({"q": {}}, {}), ({"q": {}}, {"q": {}}), ({}, {"q": {"a": 1.0}})):
        view = judged_rankings(truth, run)

        assert ap(view).tolist() == [0.0] * len(truth)
        assert ndcg(view.condensed).tolist() == [0.0] * len(truth)
