"""Means over folds of captions and videos, such as COCO's 1K: each fold is ranked by itself."""

import json
import math
from statistics import mean, median
from typing import Any

import numpy as np
import pytest

import rankwell
from oracles.captions import q2m, transposed, vse_folds
from rankwell.errors import BadInput, BadScore, BadUsage

FOLDS = 5


def coco(seed: int, images: int = 40) -> np.ndarray:
    """Scores without ties of five captions for each image, which often find it."""
    dice = np.random.default_rng(seed)
    scores = dice.standard_normal((5 * images, images))
    scores[np.arange(5 * images), np.arange(5 * images) // 5] += 1.5
    return scores


def summary_of(result: Any) -> dict[tuple[str, str], float]:
    return {(row["direction"], row["label"]): row["mean"] for row in result.summary}


def test_figures_are_those_that_the_code_of_vse_prints() -> None:
    scores = coco(1)

    found = summary_of(
        rankwell.evaluate_crossmodal(scores, "counts:5", convention="vse", folds=FOLDS)
    )

    right = vse_folds(scores.tolist(), FOLDS)
    labels = [
        (direction, label)
        for direction in ("v2t", "t2v")
        for label in ("R@1", "R@5", "R@10", "MedR", "MnR")
    ]
    assert [found[each] for each in labels] == pytest.approx(right, rel=1e-12)
    assert found["t2v+v2t", "rsum"] == pytest.approx(sum(right[:3]) + sum(right[5:8]), rel=1e-12)
    assert found["t2v", "r_mean"] == pytest.approx(sum(right[5:8]) / 3, rel=1e-12)


def test_ranks_among_all_images_are_worse_than_in_folds() -> None:
    scores = coco(2)

    whole, folded = (
        summary_of(rankwell.evaluate_crossmodal(scores, "counts:5", convention="vse", folds=each))
        for each in (None, FOLDS)
    )

    assert all(
        whole[each] < folded[each] for each in whole if each[1] in ("R@1", "R@5", "R@10", "rsum")
    )
    assert all(whole[each] > folded[each] for each in whole if each[1] == "MnR")


def uneven(seed: int) -> tuple[np.ndarray, list[list[int]]]:
    """Videos with 1 to 3 captions each."""
    dice = np.random.default_rng(seed)
    videos = np.repeat(np.arange(12), dice.integers(1, 4, 12))
    return dice.standard_normal((len(videos), 12)), [[int(video)] for video in videos]


@pytest.mark.parametrize("measure", ["R@1", "MedR", "MnR", "AP", "nDCG@3"])
def test_every_fold_has_the_same_weight_whatever_its_evaluate_crossmodal(measure: str) -> None:
    scores, positives = uneven(3)

    folded = rankwell.evaluate_crossmodal(
        scores, positives, measures=measure, folds=3, direction="t2v", ties="input"
    )

    alone = []
    for start in (0, 4, 8):
        rows = [row for row, (video,) in enumerate(positives) if start <= video < start + 4]
        part = [[positives[row][0] - start] for row in rows]
        own = scores[rows, start : start + 4]
        alone.append(
            rankwell.evaluate_crossmodal(
                own, part, measures=measure, direction="t2v", ties="input"
            ).summary[0]
        )
    row = folded.summary[0]
    assert row["mean"] == pytest.approx(mean(each["mean"] for each in alone), rel=1e-12)
    assert row["chance"] == (
        None
        if alone[0]["chance"] is None
        else pytest.approx(mean(each["chance"] for each in alone))
    )
    assert row["n"] == len(scores)
    assert (row["ci_low"] is None) == (measure == "MedR")


def test_both_directions_follow_the_plain_definition() -> None:
    scores, positives = uneven(4)

    found = summary_of(
        rankwell.evaluate_crossmodal(
            scores, positives, k=[1, 5, 10], folds=2, convention="hgr", ties="input"
        )
    )

    figures: dict[str, list[tuple[float, ...]]] = {"t2v": [], "v2t": []}
    for start in (0, 6):
        rows = [row for row, (video,) in enumerate(positives) if start <= video < start + 6]
        part, right = (
            scores[rows, start : start + 6].tolist(),
            [[positives[row][0] - start] for row in rows],
        )
        figures["t2v"].append(q2m(part, right))
        figures["v2t"].append(q2m(*transposed(part, right)))
    for direction, values in figures.items():
        means = [mean(each) for each in zip(*values, strict=True)]
        assert [
            found[direction, label] for label in ("R@1", "R@5", "R@10", "MedR", "MnR")
        ] == pytest.approx(means, rel=1e-12)


def test_embeddings_ids_and_masks_give_what_scores_give() -> None:
    dice = np.random.default_rng(5)
    queries, gallery = dice.standard_normal((30, 7)), dice.standard_normal((10, 7))
    unit = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in (queries, gallery)]
    there = np.ones(30, dtype=int)
    there[[2, 17, 18]] = 0
    given = {"folds": 2, "mask": there, "measures": ["R@1", "MnR", "MedR"]}

    vectors = rankwell.evaluate_crossmodal(
        query_vectors=queries, item_vectors=gallery, qrels="counts:3", **given
    )
    scores = rankwell.evaluate_crossmodal(unit[0] @ unit[1].T, "counts:3", **given)
    named = rankwell.evaluate_crossmodal(
        unit[0] @ unit[1].T,
        "counts:3",
        query_ids=[f"c{n}" for n in range(30)],
        item_ids=[f"v{n}" for n in range(10)],
        **given,
    )

    assert summary_of(vectors) == pytest.approx(summary_of(scores))
    assert summary_of(named) == pytest.approx(summary_of(scores))
    assert scores.counts["t2v"]["queries_masked"] == 3
    assert scores.counts["t2v"]["queries_counted"] == 27
    assert scores.counts["v2t"]["queries_counted"] == 10
    assert {row["query"] for row in scores.per_query() if row["direction"] == "v2t"} == {
        str(n) for n in range(10)
    }
    assert {row["query"] for row in named.per_query() if row["direction"] == "v2t"} == {
        f"v{n}" for n in range(10)
    }


def test_a_result_folder_has_every_query_with_its_first_items(tmp_path: Any) -> None:
    result = rankwell.evaluate_crossmodal(
        coco(6, 10), "counts:5", convention="vse", folds=FOLDS, details=True
    )

    result.save(tmp_path / "out")

    rules = json.loads((tmp_path / "out" / "manifest.json").read_text())["rules"]
    details = result.details or {}
    assert rules["folds"] == "5 of 2 videos, in the order of the table"
    assert len(details["item"]) == 50 * 2 + 10 * 10
    assert result.queries is not None
    assert len(result.queries["query"]) == 60
    assert [row["ci_low"] for row in result.summary if row["label"] == "MedR"] == [None, None]


def test_transforms_see_one_fold_alone() -> None:
    scores, positives = coco(7, 10), "counts:5"
    given = {"transform": "dual-softmax(temperature=0.5)", "measures": "R@1", "direction": "t2v"}

    folded = rankwell.evaluate_crossmodal(scores, positives, folds=2, **given).summary[0]["mean"]

    parts = [
        rankwell.evaluate_crossmodal(
            scores[25 * n : 25 * n + 25, 5 * n : 5 * n + 5], positives, **given
        ).summary[0]["mean"]
        for n in (0, 1)
    ]
    assert folded == pytest.approx(mean(parts))


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"folds": 3}, BadUsage, "4 videos cannot be cut into so many equal parts"),
        ({"folds": 1}, BadUsage, "two or more"),
        ({"folds": 2, "qrels": [[0], [1], [2], []]}, BadInput, "caption '3' has no positive"),
        (
            {"folds": 2, "qrels": [[0], [1, 2], [2], [3]]},
            BadInput,
            "caption '1' has positives in folds 1 and 2",
        ),
        (
            {"folds": 2, "qrels": [[0], [1], [1], [0]]},
            BadInput,
            "fold 2 of 2, videos 2 to 3, has no caption",
        ),
        (
            {
                "folds": 2,
                "transform": "querybank(beta=20)",
                "bank": [[1.0] * 4],
                "direction": "t2v",
            },
            BadUsage,
            "bank",
        ),
    ],
)
def test_folds_that_make_no_sense_are_refused(
    given: dict[str, Any], error: type[Exception], said: str
) -> None:
    scores = np.arange(16.0).reshape(4, 4)

    with pytest.raises(error, match=said):
        rankwell.evaluate_crossmodal(scores, **{"qrels": "diagonal", **given})


def test_parts_of_work_are_refused(tmp_path: Any) -> None:
    vectors = np.eye(4, dtype=np.float32)

    with pytest.raises(BadUsage, match="compared in one piece"):
        rankwell.evaluate_crossmodal(
            query_vectors=vectors,
            item_vectors=vectors,
            folds=2,
            executor="here",
            work=str(tmp_path / "work"),
        )


def test_a_score_that_is_not_finite_is_named_by_its_place_in_the_whole_table() -> None:
    scores = np.arange(16.0).reshape(4, 4)
    scores[3, 2] = math.nan

    with pytest.raises(BadScore, match="row 3, column 2"):
        rankwell.evaluate_crossmodal(scores, folds=2)


def test_the_mean_of_medians_is_not_the_median_of_all() -> None:
    scores, positives = uneven(9)

    folded = summary_of(
        rankwell.evaluate_crossmodal(
            scores, positives, folds=3, direction="t2v", measures="MedR", ties="input"
        )
    )
    ranks = [
        row["value"]
        for row in rankwell.evaluate_crossmodal(
            scores, positives, folds=3, direction="t2v", measures="MnR", ties="input"
        ).per_query()
    ]

    assert folded["t2v", "MedR"] != median(ranks)
