"""`rankwell crossmodal`: where the right videos of captions stand, and the right captions of
videos.
"""

import json
import math
from pathlib import Path
from random import Random
from statistics import mean, median
from typing import Any

import numpy as np
import pytest

import rankwell
from oracles.captions import among_videos, best_rank, q2m, transposed
from rankwell import cli, eval_q2m
from rankwell._native import matrix_counts
from rankwell._native.products import Groups
from rankwell._native.resamples import over_resamples
from rankwell.errors import (
    BadInput,
    BadScore,
    BadUsage,
    DuplicateItem,
    NothingToEvaluate,
    UnknownName,
)
from rankwell.tasks.crossmodal.inputs import read_mask
from rankwell.tasks.crossmodal.task import aggregate_interval


def evaluate_crossmodal(*arguments: Any, **options: Any) -> Any:
    """An evaluation by the words and rules of HGR."""
    return rankwell.evaluate_crossmodal(*arguments, **{"convention": "hgr"} | options)


FIVE = ["Success@1", "Success@5", "Success@10", "MedR", "MnR"]


def means(result: rankwell.Results, direction: str) -> list[Any]:
    return [
        row["mean"]
        for row in result.summary
        if row["direction"] == direction and row["measure"] in FIVE
    ]


def figure(result: rankwell.Results, measure: str, direction: str, column: str = "mean") -> Any:
    (row,) = [
        row for row in result.summary if (row["measure"], row["direction"]) == (measure, direction)
    ]
    return row[column]


def ranks(result: rankwell.Results, direction: str) -> dict[str, float | None]:
    rows = [
        row
        for row in result.per_query()
        if row["measure"] == "MedR" and row["direction"] == direction
    ]
    return {row["query"]: row["value"] for row in rows}


def world(
    seed: int, queries: int, items: int, most: int, empty: int = 0
) -> tuple[np.ndarray, list[list[int]]]:
    """Scores that are all different, and up to `most` positives per query; every so many queries
    have none.
    """
    random = Random(seed)
    scores = np.array(
        random.sample(range(queries * items), queries * items), dtype=np.float32
    ).reshape(queries, items)
    lists = [sorted(random.sample(range(items), random.randint(1, most))) for _ in range(queries)]
    return scores, [[] if empty and row % empty == 0 else each for row, each in enumerate(lists)]


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr("sys.argv", ["rankwell", *map(str, arguments)])
    return cli.main()


# ---- against the source's algorithm
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("most", "empty"), [(1, 0), (20, 0), (20, 4), (3, 2)])
@pytest.mark.parametrize("shape", [(90, 70), (31, 200)])
def test_the_five_numbers_are_those_of_the_source_in_both_directions(
    shape: tuple[int, int], most: int, empty: int
):
    scores, positives = world(most + empty, *shape, most, empty)
    columns, turned = transposed(scores.tolist(), positives)

    result = evaluate_crossmodal(scores, positives, intervals="none")

    assert means(result, "t2v") == pytest.approx(q2m(scores.tolist(), positives), abs=1e-9)
    assert means(result, "v2t") == pytest.approx(q2m(columns, turned), abs=1e-9)


@pytest.mark.parametrize("most", [1, 20])
def test_the_drop_in_returns_what_the_source_returns(most: int):
    scores, positives = world(5, 60, 80, most, empty=5)

    assert eval_q2m(scores, positives) == pytest.approx(q2m(scores.tolist(), positives), abs=1e-9)


def test_the_drop_in_takes_tensors_and_positives_that_are_named_twice():
    torch = pytest.importorskip("torch")
    scores, positives = world(6, 20, 30, 4)

    assert eval_q2m(torch.tensor(scores), [each + each for each in positives]) == eval_q2m(
        scores, positives
    )


@pytest.mark.parametrize(("convention", "r5"), [("hgr", 100.0), ("lavis", 50.0)])
def test_a_query_without_positives_ranks_after_all_items_and_hits_beyond_them_as_in_hgr_alone(
    convention: str, r5: float
):
    scores, positives = [[3.0, 1.0, 2.0], [1.0, 2.0, 3.0]], [[0], []]

    result = evaluate_crossmodal(
        scores,
        positives,
        direction="t2v",
        k=[1, 3, 5],
        measures=["R", "MedR"],
        convention=convention,
    )

    assert ranks(result, "t2v") == {"0": 1.0, "1": 4.0}
    assert [figure(result, f"Success@{k}", "t2v") for k in (1, 3, 5)] == [50.0, 50.0, r5]
    assert [figure(result, "Success@5", "t2v", level) for level in ("ceiling", "chance")] == [
        r5,
        r5,
    ]
    assert result.rules["counts"]["t2v"]["queries_without_relevant"] == 1
    assert any(
        "1 query without positives counts as a hit in R@5" in note for note in result.findings
    ) == (r5 == 100)


def test_queries_without_positives_are_left_out_counted_or_refused_as_the_user_says():
    scores, lists = [[3.0, 1.0], [1.0, 2.0]], [[1], []]

    skipped = evaluate_crossmodal(scores, lists, direction="t2v", no_relevant="skip")

    assert ranks(skipped, "t2v") == {"0": 2.0, "1": None}
    assert figure(skipped, "MedR", "t2v", "n") == 1
    assert skipped.rules["counts"]["t2v"] == {
        "queries_counted": 1,
        "queries_without_relevant": 1,
        "queries_masked": 0,
        "queries_best_relevant_tied": 0,
    }
    with pytest.raises(BadInput, match="query '1' has no positive"):
        evaluate_crossmodal(scores, lists, direction="t2v", no_relevant="error")
    with pytest.raises(NothingToEvaluate, match="none of the 2 queries has a positive"):
        evaluate_crossmodal(scores, [[], []], no_relevant="skip")
    with pytest.raises(NothingToEvaluate, match="none of the 2 queries has a positive"):
        evaluate_crossmodal(scores, [[], []], convention="clip4clip-multi")


def test_queries_of_which_none_has_a_positive_have_the_ranks_of_the_source_with_a_note():
    scores = np.ones((2, 8))

    result = evaluate_crossmodal(scores, [[], []], direction="t2v", convention="hgr")

    assert tuple(means(result, "t2v")) == eval_q2m(scores, [[], []]) == (0.0, 0.0, 100.0, 9.0, 9.0)
    assert any(
        "none of the queries has a positive, so each has the rank 9" in note
        for note in result.findings
    )


@pytest.mark.parametrize(
    ("matrix", "r1", "r5", "r10", "mnr"),
    [
        ("corridor_netvlad", 67.57, 93.69, 99.10, 2.01),
        ("corridor_densevlad", 70.27, 95.50, 98.20, 1.91),
        ("spedtest_netvlad", 67.87, 83.03, 88.30, 9.68),
        ("spedtest_densevlad", 72.82, 86.49, 90.44, 11.15),
    ],
)
def test_published_score_matrices_give_the_known_figures(
    shared: Path, matrix: str, r1: float, r5: float, r10: float, mnr: float
):
    folder = shared / "vpr"
    positives = folder / f"{matrix.partition('_')[0]}_positives.json"

    result = evaluate_crossmodal(
        folder / f"{matrix}_scores.npy", positives, direction="t2v", intervals="none"
    )

    assert means(result, "t2v") == pytest.approx([r1, r5, r10, 1, mnr], abs=0.005)


@pytest.mark.parametrize(("matrix", "total"), [("netvlad", 474.46), ("densevlad", 502.97)])
def test_published_score_matrices_give_the_known_sum_of_both_directions(
    shared: Path, matrix: str, total: float
):
    folder = shared / "vpr"

    result = evaluate_crossmodal(
        folder / f"spedtest_{matrix}_scores.npy", folder / "spedtest_positives.json"
    )

    assert figure(result, "rsum", "t2v+v2t") == pytest.approx(total, abs=0.005)
    assert (
        figure(result, "rsum", "t2v+v2t", "ci_low")
        < total
        < figure(result, "rsum", "t2v+v2t", "ci_high")
    )


# ---- how it is counted
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cells", [1, 300, 1 << 20])
@pytest.mark.parametrize("most", [1, 3, 20])
def test_ranks_do_not_depend_on_the_size_of_blocks_or_the_order_in_memory(
    cells: int, most: int, monkeypatch
):
    scores, positives = world(7, 50, 60, most, empty=9)
    measures = ["MedR", "AP", "R@5"]
    whole = evaluate_crossmodal(scores, positives, measures=measures, intervals="none")
    monkeypatch.setattr(matrix_counts, "_CELLS", cells)

    for other in (scores, np.asfortranarray(scores), scores.astype(">f8"), scores.astype(np.int32)):
        again = evaluate_crossmodal(other, positives, measures=measures, intervals="none")
        assert list(again.per_query()) == list(whole.per_query())


def test_measures_of_the_best_positive_are_the_same_when_every_positive_is_counted():
    random = np.random.default_rng(3)
    scores = random.integers(0, 9, (40, 50))
    _, positives = world(3, 40, 50, 12)
    for ties in (
        "input",
        "input-desc",
        "expected",
        "optimistic",
        "pessimistic",
        "id-asc",
        "averaged",
    ):
        alone = evaluate_crossmodal(
            scores, positives, measures=["R@5", "MedR", "MnR"], ties=ties, intervals="none"
        )
        among = evaluate_crossmodal(
            scores,
            positives,
            measures=["R@5", "MedR", "MnR", "MnR(of='all')"],
            ties=ties,
            intervals="none",
        )

        assert list(alone.per_query()) == [
            row for row in among.per_query() if row["measure"] != "MnR(of='all')"
        ], ties


def test_embeddings_give_the_ranks_of_the_matrix_that_is_never_made():
    random = np.random.default_rng(1)
    queries, gallery = (
        random.integers(-3, 4, (60, 6)).astype(np.float32),
        random.integers(-3, 4, (25, 6)).astype(np.float32),
    )
    positives = [[int(item)] for item in random.integers(0, 25, 60)]
    exact = [[int(one @ other) for other in gallery] for one in queries.astype(int)]
    for ties in ("input", "input-desc", "id-desc", "expected"):
        for measures in (["MedR", "R@5"], ["AP", "R@5"]):
            options: dict[str, Any] = {
                "direction": "t2v,v2t,v2t-videos",
                "measures": measures,
                "ties": ties,
                "intervals": "none",
            }
            matrix = evaluate_crossmodal(exact, positives, **options)

            streamed = evaluate_crossmodal(
                None,
                positives,
                query_vectors=queries,
                item_vectors=gallery,
                metric="dot",
                **options,
            )

            seen = [{**row, "run": ""} for row in streamed.per_query()]
            assert seen == [{**row, "run": ""} for row in matrix.per_query()]


# ---- two ways from video to text
# -----------------------------------------------------------------------------------------


def test_both_protocols_from_video_to_text_agree_at_one_and_only_there():
    scores, _ = world(11, 120, 30, 1)
    positives = [[row // 4] for row in range(120)]
    columns, turned = transposed(scores.tolist(), positives)

    result = evaluate_crossmodal(
        scores, positives, direction="t2v,v2t,v2t-videos", intervals="none"
    )

    among_captions = [best_rank(column, rows) for column, rows in zip(columns, turned, strict=True)]
    collapsed = among_videos(scores.tolist(), positives)
    assert list(ranks(result, "v2t").values()) == among_captions
    assert list(ranks(result, "v2t-videos").values()) == collapsed
    assert figure(result, "Success@1", "v2t") == figure(result, "Success@1", "v2t-videos")
    assert figure(result, "MnR", "v2t") > figure(result, "MnR", "v2t-videos")
    assert {row["direction"] for row in result.summary if row["measure"] == "rsum"} == {
        "t2v+v2t",
        "t2v+v2t-videos",
    }


def test_a_video_without_captions_takes_no_part_among_videos():
    scores = [[5.0, 1.0, 9.0], [1.0, 4.0, 9.0]]

    result = evaluate_crossmodal(scores, [[0], [1]], direction="v2t-videos", no_relevant="skip")

    assert ranks(result, "v2t-videos") == {"0": 1.0, "1": 1.0, "2": None}
    assert result.rules["counts"]["v2t-videos"]["queries_without_relevant"] == 1


def test_a_convention_fixes_the_protocol_the_medians_and_the_ties_of_each_direction():
    scores, positives = world(2, 40, 10, 1)
    multi = evaluate_crossmodal(
        scores, [[row // 4] for row in range(40)], convention="clip4clip-multi", intervals="none"
    )
    frozen = evaluate_crossmodal(scores, positives, convention="frozen", intervals="none")

    assert {row["direction"] for row in multi.summary} == {"t2v", "v2t-videos", "t2v+v2t-videos"}
    assert {(row["measure"], row["label"]) for row in multi.summary if "MedR" in row["label"]} == {
        ("MedRLow", "MedR"),
        ("MedR", "MedR"),
    }
    assert frozen.rules["ties"] == "t2v optimistic, v2t averaged"
    assert "Success@50" in {row["measure"] for row in frozen.summary}


# ---- masks, positives, transforms
# ----------------------------------------------------------------------------------------


def test_masks_are_arrays_of_any_shape_or_lists(tmp_path: Path):
    np.save(tmp_path / "mask.npy", np.array([[1, 0], [0, 1]], dtype=np.float32))
    (tmp_path / "mask.json").write_text("[true, 0, false, 1.0]")

    for place in (
        tmp_path / "mask.npy",
        tmp_path / "mask.json",
        [1, 0, 0, 1],
        np.array([True, False, False, True]),
    ):
        assert read_mask(place, 4).tolist() == [0, 3]
    (tmp_path / "mask.json").write_text("[1, [0]]")
    with pytest.raises(BadInput, match=r"mask.json: .*a mask is an .npy array or a JSON list"):
        read_mask(tmp_path / "mask.json", 2)


def test_a_mask_leaves_captions_out_as_if_their_rows_were_not_there():
    scores, positives = world(4, 30, 10, 2)
    mask = np.array([row % 3 != 1 for row in range(30)], dtype=np.float32)
    scores[mask == 0] = np.nan
    kept = np.flatnonzero(mask)

    result = evaluate_crossmodal(
        scores,
        positives,
        mask=mask.reshape(10, 3),
        direction="t2v,v2t,v2t-videos",
        intervals="none",
    )
    rest = evaluate_crossmodal(
        scores[kept],
        [positives[row] for row in kept],
        direction="t2v,v2t,v2t-videos",
        intervals="none",
    )

    for direction in ("t2v", "v2t", "v2t-videos"):
        assert list(ranks(result, direction).values()) == list(ranks(rest, direction).values())
    assert result.rules["counts"]["t2v"]["queries_masked"] == 10
    assert list(ranks(result, "t2v")) == [str(row) for row in kept]


def test_every_form_of_positives_says_the_same(tmp_path: Path):
    scores, _ = world(8, 6, 3, 1)
    np.save(tmp_path / "scores.npy", scores)
    lists = [[0], [0], [1], [1], [1], [2]]
    (tmp_path / "lists.json").write_text(json.dumps(lists))
    (tmp_path / "object.json").write_text(
        json.dumps({str(row): each for row, each in enumerate(lists)})
    )
    (tmp_path / "counts.txt").write_text("2\n3\n1\n")
    (tmp_path / "labels.txt").write_text("a\na\nb\nb\nb\nc\n")
    (tmp_path / "videos.txt").write_text("a\nb\nc\n")
    (tmp_path / "pairs.csv").write_text(
        "query,item,grade\n" + "".join(f"{row},{each[0]},1\n" for row, each in enumerate(lists))
    )
    (tmp_path / "grades.json").write_text(
        json.dumps({str(row): {str(each[0]): 1} for row, each in enumerate(lists)})
    )
    forms: list[Any] = [
        tmp_path / name for name in ("lists.json", "object.json", "pairs.csv", "grades.json")
    ]
    forms += [
        f"counts:{tmp_path / 'counts.txt'}",
        f"groups:{tmp_path / 'labels.txt'},{tmp_path / 'videos.txt'}",
    ]
    forms += [dict(enumerate(lists)), [2, 3, 1], Groups("aabbbc", "abc"), np.array(lists)]
    expected = list(
        evaluate_crossmodal(tmp_path / "scores.npy", lists, intervals="none").per_query()
    )

    for form in forms:
        assert (
            list(evaluate_crossmodal(tmp_path / "scores.npy", form, intervals="none").per_query())
            == expected
        ), form


def test_one_number_of_captions_for_every_video_and_the_diagonal():
    scores, _ = world(9, 6, 3, 1)

    twice = evaluate_crossmodal(scores, "counts:2", intervals="none")
    square = evaluate_crossmodal(scores[:3], intervals="none")

    assert list(ranks(twice, "t2v").values()) == [
        best_rank(list(row), [at // 2]) for at, row in enumerate(scores)
    ]
    assert list(ranks(square, "t2v").values()) == [
        best_rank(list(row), [at]) for at, row in enumerate(scores[:3])
    ]


def test_ids_name_rows_and_columns_and_decide_the_order_of_queries(tmp_path: Path):
    scores, _ = world(10, 12, 12, 1)
    (tmp_path / "captions.txt").write_text("".join(f"c{row}\n" for row in range(12)))
    videos = [f"v{column}" for column in range(12)]
    positives = {f"c{row}": [f"v{(row + 3) % 12}"] for row in range(12)}
    order = Random(0).sample(range(12), 12)

    result = evaluate_crossmodal(
        scores, positives, query_ids=tmp_path / "captions.txt", item_ids=videos
    )
    other = evaluate_crossmodal(
        scores[order], positives, query_ids=[f"c{row}" for row in order], item_ids=videos
    )

    assert list(ranks(result, "t2v")) == sorted(positives)
    assert ranks(result, "t2v")["c5"] == best_rank(list(scores[5]), [8])
    assert other.summary == result.summary


def test_dual_softmax_is_applied_in_each_direction_and_named_as_transductive():
    random = np.random.default_rng(0)
    scores = random.random((9, 9))
    prior = [[math.exp(scores[row, column] / 0.1) for column in range(9)] for row in range(9)]
    forward = [
        [scores[r, c] * prior[r][c] / sum(prior[i][c] for i in range(9)) for c in range(9)]
        for r in range(9)
    ]
    backward = [
        [scores[r, c] * prior[r][c] / sum(prior[r][j] for j in range(9)) for r in range(9)]
        for c in range(9)
    ]

    result = evaluate_crossmodal(
        scores, transform="dual-softmax(temperature=0.1)", intervals="none"
    )

    assert list(ranks(result, "t2v").values()) == [
        best_rank(row, [at]) for at, row in enumerate(forward)
    ]
    assert list(ranks(result, "v2t").values()) == [
        best_rank(row, [at]) for at, row in enumerate(backward)
    ]
    assert result.rules["transductive"] == "queries"
    assert result.rules["transform"] == "dual-softmax(temperature=0.1)"


def test_a_querybank_is_of_one_direction_and_needs_scores():
    scores = np.array([[0.5, 0.4], [0.1, 0.9]])
    bank = np.array([[0.9, 0.1], [0.8, 0.2]])

    held_down = evaluate_crossmodal(
        scores, transform="querybank", bank=bank, direction="t2v", intervals="none"
    )

    assert ranks(evaluate_crossmodal(scores, direction="t2v"), "t2v") == {"0": 1.0, "1": 1.0}
    assert ranks(held_down, "t2v") == {"0": 2.0, "1": 1.0}
    with pytest.raises(BadUsage, match="one direction"):
        evaluate_crossmodal(scores, transform="querybank", bank=bank)
    with pytest.raises(BadUsage, match="without one"):
        evaluate_crossmodal(
            query_vectors=scores, item_vectors=scores, transform="dual-softmax(temperature=1)"
        )
    with pytest.raises(BadUsage, match="requires a transform"):
        evaluate_crossmodal(scores, bank=bank)


# ---- figures of several recalls, ceilings, chance
# ------------------------------------------------------------------------


def test_rsum_and_its_kin_are_made_of_the_six_recalls():
    scores, positives = world(12, 40, 40, 2)

    result = evaluate_crossmodal(
        scores, positives, measures="R@1 R@5 R@10 rsum gmean r_mean", intervals="none"
    )

    recalls = {
        way: [figure(result, f"Success@{k}", way) for k in (1, 5, 10)] for way in ("t2v", "v2t")
    }
    both = recalls["t2v"] + recalls["v2t"]
    assert figure(result, "rsum", "t2v+v2t") == pytest.approx(sum(both))
    assert figure(result, "r_mean", "t2v+v2t") == pytest.approx(mean(both))
    assert figure(result, "gmean", "v2t") == pytest.approx(math.prod(recalls["v2t"]) ** (1 / 3))
    chance = [figure(result, f"Success@{k}", way, "chance") for way in recalls for k in (1, 5, 10)]
    assert figure(result, "rsum", "t2v+v2t", "chance") == pytest.approx(sum(chance))


def test_rsum_is_not_made_of_less_than_all_six():
    scores, positives = world(12, 20, 20, 1)

    few = evaluate_crossmodal(scores, positives, k=[1, 5], intervals="none")
    one_way = evaluate_crossmodal(scores, positives, direction="v2t", intervals="none")

    assert "rsum" not in {row["measure"] for row in [*few.summary, *one_way.summary]}
    assert any("request all three" in note for note in few.findings)
    assert not any("rsum" in note for note in one_way.findings)
    with pytest.raises(
        BadUsage, match="rsum is the sum over both directions, and only t2v is requested"
    ):
        evaluate_crossmodal(scores, positives, direction="t2v", measures=["rsum"])


def test_the_interval_of_a_sum_draws_pairs_together_and_unequal_sets_apart():
    random = np.random.default_rng(4)
    one, other, wide = random.random((12, 2)), random.random((12, 1)), random.random((20, 1))
    drawn = [
        np.vstack(over_resamples(n, 500, np.copy, seed=seed)) for n, seed in ((12, 3), (20, 4))
    ]
    sums = (drawn[0] @ np.hstack([one, other]) / 12).sum(axis=1) + (drawn[1] @ wide / 20).sum(
        axis=1
    )

    found = aggregate_interval([one, other, wide], sum, resamples=500, seed=3)

    assert found == pytest.approx(np.quantile(sums, [0.025, 0.975]))
    assert aggregate_interval([one[:9]], sum) is None


def test_captions_of_the_same_words_hold_the_ceiling_down():
    texts = ["a dog runs", "a cat sleeps", "a  dog runs", "a dog runs"]
    scores = np.eye(4) + np.array([[0.5, 0.1, 0.2, 0.3]])

    result = evaluate_crossmodal(scores, queries=texts, k=[1, 2])

    assert figure(result, "Success@1", "t2v", "ceiling") == 50.0  # one of three dogs, and the cat
    assert figure(result, "Success@2", "t2v", "ceiling") == 75.0
    assert figure(result, "MnR", "t2v", "ceiling") == (1 + 2 + 3 + 1) / 4
    assert figure(result, "Success@1", "v2t", "ceiling") == pytest.approx(
        100 * (1 / 3 + 1 / 3 + 1 / 3 + 1) / 4
    )
    assert any("3 of 4 captions are the same as another" in note for note in result.findings)


def test_equal_rows_and_columns_are_found_without_texts():
    scores, _ = world(13, 30, 30, 1)
    scores[7] = scores[3]
    scores[:, 9] = scores[:, 20]

    result = evaluate_crossmodal(scores, intervals="none", measures=["R@1", "AP"])

    assert figure(result, "Success@1", "t2v", "ceiling") == pytest.approx(100 * 29 / 30)
    assert figure(result, "Success@1", "v2t", "ceiling") == pytest.approx(100 * 29 / 30)
    assert figure(result, "AP", "t2v", "ceiling") is None
    assert (
        figure(evaluate_crossmodal(scores[:3, :3], measures=["AP"]), "AP", "t2v", "ceiling")
        == 100.0
    )


def test_chance_is_what_random_scores_come_to():
    _, positives = world(14, 20, 15, 6)
    random = np.random.default_rng(14)
    drawn = [
        evaluate_crossmodal(
            random.random((20, 15)), positives, direction="t2v", intervals="none", k=[5]
        )
        for _ in range(60)
    ]

    for measure in ("Success@5", "MnR"):
        found = [figure(each, measure, "t2v") for each in drawn]
        error = np.std(found) / math.sqrt(len(found))
        assert abs(np.mean(found) - figure(drawn[0], measure, "t2v", "chance")) < 4 * error


def test_every_figure_has_an_interval_the_median_too():
    scores, positives = world(15, 60, 60, 1)

    result = evaluate_crossmodal(scores, positives)

    assert all(row["ci_low"] <= row["mean"] <= row["ci_high"] for row in result.summary)
    assert {"MedR", "rsum"} <= {row["measure"] for row in result.summary}
    assert figure(result, "MedR", "t2v") == median(ranks(result, "t2v").values())


def test_several_matrices_are_compared_in_one_table(tmp_path: Path):
    for name, seed in (("one", 1), ("two", 2)):
        np.save(tmp_path / f"{name}.npy", world(seed, 12, 12, 1)[0])

    result = evaluate_crossmodal([tmp_path / "one.npy", tmp_path / "two.npy"], intervals="none")

    assert [row["run"] for row in result.summary] == ["one"] * 11 + ["two"] * 11
    with pytest.raises(BadInput, match="the same rows and columns"):
        evaluate_crossmodal({"a": np.eye(3), "b": np.eye(4)})


# ---- the command
# --------------------------------------------------------------------------------------------------


def test_two_systems_stand_side_by_side_with_chance(tmp_path: Path, monkeypatch, capsys):
    for seed in (1, 2):
        np.save(tmp_path / f"scores{seed}.npy", np.random.default_rng(seed).normal(size=(20, 10)))

    code = run(
        monkeypatch, "crossmodal", *sorted(tmp_path.glob("*.npy")), "--qrels", "counts:2", "-k", "5"
    )
    out, _ = capsys.readouterr()

    assert code == 0
    heading, *rows = [line.split() for line in out.split("\n\n")[1].splitlines()]
    assert heading == ["scores1", "scores2", "chance"]
    chances = {" ".join(row[:2]): float(row[-1]) for row in rows if row[0] == "R@5"}
    # Of 20 captions 5 are drawn, of which 2 are right.
    none_right = (18 * 17 * 16 * 15 * 14) / (20 * 19 * 18 * 17 * 16)
    assert chances == {"R@5 t2v": 50.0, "R@5 v2t": pytest.approx(100 * (1 - none_right), abs=0.005)}


def test_the_command_prints_both_directions_and_writes_what_pages_need(
    tmp_path: Path, monkeypatch, capsys
):
    duckdb = pytest.importorskip("duckdb")
    np.save(tmp_path / "scores.npy", world(16, 30, 30, 1)[0])
    (tmp_path / "texts.txt").write_text("".join(f"caption {row}\n" for row in range(30)))

    code = run(
        monkeypatch,
        "crossmodal",
        tmp_path / "scores.npy",
        "--queries",
        tmp_path / "texts.txt",
        "-o",
        tmp_path / "out",
        "--per-query",
        "-c",
        "hgr",
        "--verbose",
    )
    out, err = capsys.readouterr()

    assert code == 0
    assert "t2v+v2t" in out
    assert "30 queries counted, 0 with no relevant item" in out
    single = duckdb.sql(
        f"from '{tmp_path}/out/per_query.parquet' select distinct direction order by 1"
    ).fetchall()
    assert single == [("t2v",), ("v2t",)]
    rows = duckdb.sql(f"from '{tmp_path}/out/details.parquet' where state = 'relevant'").fetchall()
    assert len(rows) == 60
    assert duckdb.sql(f"select text from '{tmp_path}/out/queries.parquet'").fetchall()[4] == (
        "caption 4",
    )
    assert set(json.loads((tmp_path / "out" / "manifest.json").read_text())["inputs"]) == {
        "scores",
        "queries",
    }
    assert "wrote" in err


def test_the_manifest_names_a_folder_of_vectors_and_a_file_called_as_an_option(
    tmp_path: Path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for side in ("texts", "videos"):
        Path(side).mkdir()
        np.save(f"{side}/vectors.npy", np.eye(3))
    np.save("positives.npy", np.eye(3))
    Path("positives.json").write_text("[[0], [1], [2]]")

    assert (
        run(
            monkeypatch,
            "crossmodal",
            "--query-vectors",
            "texts",
            "--item-vectors",
            "videos",
            "-o",
            "vectors",
        )
        == 0
    )
    assert (
        run(monkeypatch, "crossmodal", "positives.npy", "--qrels", "positives.json", "-o", "scores")
        == 0
    )

    inputs = [
        json.loads(Path(out, "manifest.json").read_text())["inputs"]
        for out in ("vectors", "scores")
    ]
    assert {name: each["file"] for name, each in inputs[0].items()} == {
        "query_vectors": "texts/vectors.npy",
        "item_vectors": "videos/vectors.npy",
    }
    assert sorted(each["file"] for each in inputs[1].values()) == [
        "positives.json",
        "positives.npy",
    ]


def test_details_hold_the_first_items_and_every_positive_with_its_rank():
    scores, _ = world(17, 3, 40, 1)
    positives = [[0, 5], [7], []]

    result = evaluate_crossmodal(scores, positives, direction="t2v", details=True)

    assert result.details is not None
    rows = list(
        zip(*(result.details[name] for name in ("query", "item", "rank", "state")), strict=True)
    )
    order = sorted(range(40), key=lambda item: -scores[1, item])
    assert [int(item) for query, item, _, _ in rows if query == "1"][:20] == order[:20]
    right = {
        item: rank for query, item, rank, state in rows if query == "0" and state == "relevant"
    }
    place = sorted(range(40), key=lambda item: -scores[0, item])
    assert right == {"0": place.index(0) + 1, "5": place.index(5) + 1}


def test_a_printed_figure_is_checked_against_the_number_of_queries(
    tmp_path: Path, monkeypatch, capsys
):
    np.save(tmp_path / "scores.npy", np.eye(165))

    assert (
        run(
            monkeypatch,
            "crossmodal",
            tmp_path / "scores.npy",
            "--check",
            "70.08",
            "--check",
            "64.24",
            "--verbose",
        )
        == 0
    )

    err = capsys.readouterr().err
    assert (
        "t2v: 70.08 is not possible with n = 165: 115 of 165 is 69.70 and 116 of 165 is 70.30"
        in err
    )
    assert "v2t: 64.24 is possible with n = 165: 106 of 165" in err


def test_embeddings_on_the_command_line_have_a_progress_and_no_matrix(
    tmp_path: Path, monkeypatch, capsys
):
    random = np.random.default_rng(2)
    for name in ("a", "b"):
        np.save(tmp_path / f"{name}.npy", random.random((20, 4), dtype=np.float32))
    told: list[tuple[int, int]] = []
    both = evaluate_crossmodal(
        query_vectors=tmp_path / "a.npy",
        item_vectors=tmp_path / "b.npy",
        progress=lambda _, done, total: told.append((done, total)),
    )

    assert (
        run(
            monkeypatch,
            "crossmodal",
            "--query-vectors",
            tmp_path / "a.npy",
            "--item-vectors",
            tmp_path / "b.npy",
            "-c",
            "hgr",
            "-f",
            "json",
        )
        == 0
    )
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["mean"] for row in rows] == [row["mean"] for row in both.summary]
    assert told[-1][0] == told[-1][1]


BAD: dict[str, tuple[Any, Any, str]] = {
    "a positive outside the gallery": (
        [[1.0, 2.0]],
        [[5]],
        r"row 0: the item 5 is not a column of the scores, which has 2",
    ),
    "a negative position": ([[1.0, 2.0]], [[-1]], r"row 0: the item -1 is not a column"),
    "not a number": (
        [[1.0, 2.0], [math.nan, 1.0]],
        [[0], [1]],
        r"row 1, column 0: the score is nan",
    ),
    "infinity": ([[1.0, 2.0], [0.0, -math.inf]], [[0], [1]], r"row 1, column 1: the score is -inf"),
    "a transposed matrix": (
        np.ones((2, 3)),
        [[0], [1], [1]],
        r"3 lists .* 2 rows .* 3 columns .*transposed",
    ),
    "no diagonal": (np.ones((2, 3)), "diagonal", r"2 rows .* 3 columns .* no diagonal"),
    "ragged rows": ([[1.0, 2.0], [1.0]], [[0], [1]], r"row 1 has 1 scores, row 0 has 2"),
    "an empty gallery": (
        np.ones((2, 0)),
        [[], []],
        r"shape \(2, 0\): an empty gallery \(no column\)",
    ),
    "no queries": (np.ones((0, 2)), [], r"no query \(no row\)"),
    "one dimension": (np.ones(3), [[0]], r"shape \(3,\); expected a table"),
    "text": (np.array([["a"]]), [[0]], r"of type <U1; expected real numbers"),
    "a query that is not there": (
        [[1.0, 2.0]],
        {"7": [0]},
        r"the positives: the query '7' is not a row",
    ),
    "a truth value": ([[1.0, 2.0]], [[True]], r"row 0: True names no item"),
    "counts that do not add up": (np.ones((4, 2)), [2, 3], r"2 counts with the sum 5 .* 4 rows"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_refused_by_row_and_column(what: str):
    scores, positives, message = BAD[what]

    with pytest.raises(BadInput, match=message):
        evaluate_crossmodal(scores, positives)


@pytest.mark.parametrize(
    "what", ["not a number", "infinity", "a positive outside the gallery", "a transposed matrix"]
)
def test_bad_input_ends_the_command_with_one_line_and_code_2(
    what: str, tmp_path: Path, monkeypatch, capsys
):
    scores, positives, _ = BAD[what]
    np.save(tmp_path / "scores.npy", np.array(scores))
    (tmp_path / "right.json").write_text(json.dumps(positives))

    code = run(
        monkeypatch, "crossmodal", tmp_path / "scores.npy", "--qrels", tmp_path / "right.json"
    )

    err = capsys.readouterr().err
    assert code == 2
    assert err.count("\n") == 1


@pytest.mark.parametrize("most", [1, 20])
@pytest.mark.parametrize("direction", ["v2t", "v2t-videos"])
def test_an_infinite_score_is_named_by_its_ids_whichever_way_it_is_read(most: int, direction: str):
    scores, _ = world(18, 30, 30, 1)
    positives = [sorted({(row + step) % 30 for step in range(most)}) for row in range(30)]
    scores[21, 4] = np.inf
    ids = [f"v{column}" for column in range(30)]

    with pytest.raises(BadScore, match=r"row 21, column 4 \('v4'\)"):
        evaluate_crossmodal(scores, positives, direction=direction, measures=["AP"], item_ids=ids)


def test_positives_are_refused_where_they_are_named_twice_or_unknown():
    with pytest.raises(DuplicateItem, match="row 0 has the positive 1 twice"):
        evaluate_crossmodal(np.eye(2), [[1, 1], [0]])
    with pytest.raises(BadInput, match=r"row 0 \('a'\): the item 'z' is none of the 2 columns"):
        evaluate_crossmodal(np.eye(2), {"a": ["z"]}, query_ids=["a", "b"], item_ids=["x", "y"])
    with pytest.raises(BadInput, match="no label of the rows"):
        evaluate_crossmodal(np.eye(2), Groups("ab", "cd"))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"direction": "up"}, UnknownName, "direction='up'; known are both, t2v, v2t"),
        ({"ties": "coin"}, UnknownName, "unknown tie rule 'coin'"),
        ({"no_relevant": "maybe"}, UnknownName, "no_relevant: there is no 'maybe'"),
        ({"convention": "nobody"}, UnknownName, "unknown convention 'nobody'"),
        ({"measures": ["R@1", "nonsense"]}, UnknownName, "nonsense"),
        ({"mask": [1, 0]}, BadInput, "the mask has 2 entries, the scores have 3 rows"),
        ({"mask": [1, 0, 2]}, BadInput, "entry 2 of the mask is 2"),
        ({"mask": [0, 0, 0]}, BadInput, "leaves no row"),
        ({"queries": ["a"]}, BadInput, "1 texts for 3 rows"),
        ({"query_vectors": np.eye(3)}, BadUsage, "give scores, or"),
        ({"seed": -1}, BadUsage, "seed"),
    ],
)
def test_what_does_not_exist_or_fit_is_refused(
    options: dict[str, Any], error: type[Exception], message: str
):
    with pytest.raises(error, match=message):
        evaluate_crossmodal(np.eye(3), **options)


def test_a_finding_on_one_direction_names_it():
    scores = np.random.default_rng(0).normal(size=(12, 12)) + 9 * np.eye(12)
    scores[:, 0] += 20

    findings = rankwell.evaluate_crossmodal(scores, k=(1,)).findings
    both = rankwell.evaluate_crossmodal(9 * np.eye(12), k=(1,)).findings

    texts = {finding.name: str(finding) for finding in findings}
    assert texts["equal-values"].endswith(": scores MnR (video to text)")
    assert any(str(finding).endswith(": scores R@1 (video to text)") for finding in findings)
    assert texts["not-above-chance"].endswith(" by R@1 (text to video)")
    assert any(str(finding).endswith(": scores R@1") for finding in both)
