"""Measures as metrics and scorers of scikit-learn, against its own figures."""

import pickle

import numpy as np
import pytest

import rankwell as rw
from rankwell.integrations.sklearn import RankingMetric, ranking_scorer

metrics = pytest.importorskip("sklearn.metrics")


@pytest.mark.parametrize("tied", [False, True])
def test_ndcg_of_rows_is_that_of_scikit_learn_with_ties_and_without(tied: bool):
    rng = np.random.default_rng(5)
    for _ in range(12):
        shape = rng.integers(1, 9), rng.integers(2, 12)
        grades = rng.integers(0, 4, shape)
        scores = rng.integers(0, 4, shape) if tied else rng.random(shape)
        for k in (1, 3, 20):
            assert RankingMetric(f"nDCG@{k}")(grades, scores) == pytest.approx(
                metrics.ndcg_score(grades, scores, k=k), abs=1e-12
            )


def test_an_order_of_ties_is_chosen_as_everywhere():
    grades, scores = [[1, 0]], [[1.0, 1.0]]

    assert RankingMetric("RR", ties="id-asc")(grades, scores) == 1.0
    assert RankingMetric("RR", ties="id-desc")(grades, scores) == 0.5
    assert RankingMetric("RR")(grades, scores) == 0.75


def test_samples_in_groups_are_the_items_of_a_query():
    grades, scores, groups = [1, 0, 0, 1], [0.2, 0.9, 0.1, 0.8], ["a", "a", "b", "b"]

    assert RankingMetric("RR")(grades, scores, groups=groups) == 0.75


def test_a_search_of_parameters_takes_a_scorer_of_rows_and_of_groups():
    from sklearn import config_context
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GroupKFold, cross_val_score

    rng = np.random.default_rng(3)
    features, groups = rng.random((40, 3)), np.repeat(np.arange(8), 5)
    labels = (features @ rng.random((3, 6)) > 0.8).astype(int)

    by_row = cross_val_score(Ridge(), features, labels, scoring=ranking_scorer("nDCG@3"), cv=4)
    with config_context(enable_metadata_routing=True):
        scorer = ranking_scorer("RR").set_score_request(groups=True)
        by_group = cross_val_score(
            Ridge(),
            features,
            labels[:, 0],
            scoring=scorer,
            cv=GroupKFold(4),
            params={"groups": groups},
        )

    folds = np.split(np.arange(40), 4)
    expected = [
        metrics.ndcg_score(
            labels[fold],
            Ridge()
            .fit(np.delete(features, fold, 0), np.delete(labels, fold, 0))
            .predict(features[fold]),
            k=3,
        )
        for fold in folds
    ]
    assert by_row == pytest.approx(expected, abs=1e-12)
    assert len(by_group) == 4
    assert ((by_group > 0) & (by_group <= 1)).all()


def test_a_measure_of_which_lower_values_are_better_has_its_sign_turned():
    assert "greater_is_better=False" in repr(ranking_scorer("MedR_first"))


@pytest.mark.parametrize(
    ("arguments", "groups", "words"),
    [
        (([[1, 0]], [[1.0, 0.0, 2.0]]), None, "expected the same shape"),
        (([1, 0], [1.0, 0.0]), None, "groups are missing"),
        (([1, 0], [1.0, 0.0]), ["a"], "groups have the shape"),
        (([[1, 0]], [[1.0, 0.0]]), ["a"], "groups belong to one-dimensional y"),
        (([[1, 0]], [[1.0, float("nan")]]), None, "scores are finite numbers"),
    ],
)
def test_arrays_of_another_shape_are_refused(
    arguments: tuple[object, object], groups: object, words: str
):
    with pytest.raises(rw.BadInput, match=words):
        RankingMetric("nDCG@10")(*arguments, groups=groups)


def test_a_metric_goes_to_other_processes():
    metric = pickle.loads(pickle.dumps(RankingMetric("nDCG@10")))

    assert metric == RankingMetric("nDCG@10")
    assert metric.__name__ == "nDCG@10"
    with pytest.raises(rw.UnknownName, match="nDGC"):
        ranking_scorer("nDGC@10")
