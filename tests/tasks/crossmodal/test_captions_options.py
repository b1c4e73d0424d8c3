"""`rankwell crossmodal`: what options, words and notes say is what holds, and every form of input
that is promised is read.
"""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwell
from rankwell import eval_q2m
from rankwell.errors import BadInput, BadScore, BadUsage, UnknownName
from test_captions import figure, ranks, run, world


def evaluate_crossmodal(*arguments: Any, **options: Any) -> Any:
    """An evaluation by the words and rules of HGR."""
    return rankwell.evaluate_crossmodal(*arguments, **{"convention": "hgr"} | options)


SQUARE = [[3.0, 1.0, 2.0], [1.0, 1.0, 0.0], [5.0, 4.0, 6.0]]


def values(result: Any) -> list[Any]:
    return [row["value"] for row in result.per_query()]


# ---- what is given
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shapes", [((20, 16), (20, 8)), ((20, 8), (20, 16))])
@pytest.mark.parametrize("direction", ["v2t", "v2t-videos"])
def test_embeddings_of_different_dimensions_are_refused_before_any_is_read(
    shapes, direction: str, monkeypatch, tmp_path, capsys
):
    one, other = (np.random.default_rng(0).random(shape, dtype=np.float32) for shape in shapes)
    np.save(tmp_path / "a.npy", one)
    np.save(tmp_path / "b.npy", other)

    with pytest.raises(
        BadInput, match=f"the queries have {shapes[0][1]} dimensions, the items {shapes[1][1]}"
    ):
        evaluate_crossmodal(query_vectors=one, item_vectors=other, direction=direction)
    assert (
        run(
            monkeypatch,
            "crossmodal",
            "--query-vectors",
            tmp_path / "a.npy",
            "--item-vectors",
            tmp_path / "b.npy",
        )
        == 2
    )
    err = capsys.readouterr().err
    assert f"the queries have {shapes[0][1]} dimensions, the items {shapes[1][1]}" in err
    assert len(err.splitlines()) == 1


def test_a_matrix_as_numpy_writes_it_to_text_keeps_its_first_row(
    tmp_path: Path, monkeypatch, capsys
):
    scores, _ = world(3, 12, 12, 1)
    np.savetxt(tmp_path / "s.csv", scores, delimiter=",", fmt="%d")

    # Whole numbers, all different, might be names.
    assert run(monkeypatch, "crossmodal", tmp_path / "s.csv") == 2
    assert "names of columns, or scores?" in capsys.readouterr().err
    np.savetxt(tmp_path / "s.csv", scores, delimiter=",")
    assert run(monkeypatch, "crossmodal", tmp_path / "s.csv", "-c", "hgr", "-f", "json") == 0

    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["mean"] for row in rows] == [
        row["mean"] for row in evaluate_crossmodal(scores).summary
    ]


def test_several_matrices_in_a_list_are_several_runs():
    one, other = np.array(SQUARE), np.array(SQUARE).T

    both = evaluate_crossmodal([one, other], [[0], [1], [2]], intervals="none")
    named = evaluate_crossmodal(
        {"scores 1": one, "scores 2": other}, [[0], [1], [2]], intervals="none"
    )
    nested = evaluate_crossmodal([one.tolist(), other.tolist()], intervals="none")

    assert {row["run"] for row in both.summary} == {"scores 1", "scores 2"}
    assert both.summary == named.summary == nested.summary


def test_positives_may_be_tensors_in_a_list():
    torch = pytest.importorskip("torch")

    result = evaluate_crossmodal(
        torch.tensor(SQUARE),
        [torch.tensor([0]), torch.tensor([1, 2]), torch.tensor(2)],
        intervals="none",
    )

    assert values(result) == values(
        evaluate_crossmodal(SQUARE, [[0], [1, 2], [2]], intervals="none")
    )


def test_the_labels_of_a_frame_are_ids_where_they_are_not_positions():
    pandas = pytest.importorskip("pandas")
    positives = {"c0": ["v1"], "c1": ["v0"], "c2": ["v2"]}
    frame = pandas.DataFrame(SQUARE, index=["c0", "c1", "c2"], columns=["v0", "v1", "v2"])

    assert ranks(evaluate_crossmodal(frame, positives), "t2v") == {"c0": 3.0, "c1": 1.0, "c2": 1.0}
    assert ranks(evaluate_crossmodal(pandas.DataFrame(SQUARE)), "t2v") == {
        "0": 1.0,
        "1": 2.0,
        "2": 1.0,
    }


def test_two_columns_are_queries_and_what_is_right_for_them(tmp_path: Path):
    lists = [[0], [0], [1], [1, 2]]
    pairs = [(str(row), str(item)) for row, items in enumerate(lists) for item in items]
    scores, _ = world(8, 4, 3, 1)
    expected = values(evaluate_crossmodal(scores, lists, intervals="none"))
    texts = {
        "header.csv": [("query", "item"), *pairs],
        "bare.csv": pairs,
        "turned.csv": [("video_id", "caption"), *(pair[::-1] for pair in pairs)],
        "tabs.tsv": [("query-id", "video"), *pairs],
    }
    for name, rows in texts.items():
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file, delimiter="\t" if name.endswith("tsv") else ",").writerows(rows)

        assert values(evaluate_crossmodal(scores, tmp_path / name, intervals="none")) == expected, (
            name
        )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("query,item\n0,1\n0,9\n", r"row 3 \(query '0'\): the item '9' is not a column"),
        ("query,item\n0,1\n1\n", "p.csv:3: .1. has 1 fields, the header 2"),
        ("left,right\n0,1\n", "no column for the query .*; found are 'left', 'right'"),
    ],
)
def test_a_table_of_two_columns_that_is_wrong_is_refused_by_row(
    content: str, message: str, tmp_path: Path
):
    (tmp_path / "p.csv").write_text(content)

    with pytest.raises(BadInput, match=message) as caught:
        evaluate_crossmodal(SQUARE, tmp_path / "p.csv")

    assert str(caught.value).startswith(str(tmp_path / "p.csv"))


def test_the_drop_in_takes_what_the_source_takes_and_answers_as_it_does():
    expected = eval_q2m(SQUARE, [[0], [1], [2]])

    assert eval_q2m(SQUARE, {0: [0], 1: [1], 2: [2]}) == expected
    assert eval_q2m(SQUARE, np.arange(3)) == expected
    assert eval_q2m(SQUARE, [np.array([0]), (1,), {2}]) == expected
    assert eval_q2m(np.eye(12), [[]] * 12) == (0.0, 0.0, 0.0, 13.0, 13.0)


@pytest.mark.parametrize("k", ["1,5", [1, 5], "5 1"])
def test_cut_offs_are_read_as_text_too(k: Any):
    assert {row["label"] for row in evaluate_crossmodal(SQUARE, k=k).summary} >= {"R@1", "R@5"}


@pytest.mark.parametrize("k", ["", "0", "1,x", [0], [1.5]])
def test_anything_but_a_cut_off_is_refused(k: Any):
    with pytest.raises(BadUsage, match="expected positive integers"):
        evaluate_crossmodal(SQUARE, k=k)


def test_a_result_prints_a_row_for_each_measure_and_direction():
    result = evaluate_crossmodal(SQUARE, intervals="none")

    heading, _, *rows = repr(result.summary).splitlines()[: 2 + len(result.summary)]
    assert {"measure", "direction", "mean"} <= set(heading.split())
    for row, printed in zip(result.summary, rows, strict=True):
        assert {row["label"], f"{row['mean']:.2f}"} <= set(printed.split())


# ---- what is asked
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "l2"}, "the metric l2 compares embeddings, and scores are given"),
        ({"direction": "v2t", "measures": ["rsum"]}, "rsum is the sum over both directions"),
        (
            {"ties": "multiplied", "measures": ["AP"]},
            "AP has no value under the tie rule multiplied",
        ),
        (
            {"ties": "multiplied", "measures": ["nDCG@10"]},
            "nDCG@10 has no value under the tie rule multiplied",
        ),
        ({"qrels": ""}, "positives are named by an empty text"),
    ],
)
def test_what_would_have_no_effect_or_no_meaning_is_refused(options: dict[str, Any], message: str):
    with pytest.raises(BadUsage, match=message):
        evaluate_crossmodal(SQUARE, **options)


def test_an_unknown_direction_is_refused():
    with pytest.raises(UnknownName, match="direction='v2w'; did you mean 'v2t'"):
        evaluate_crossmodal(SQUARE, direction="t2v,v2w")


@pytest.mark.parametrize("convention", ["rankwell", "hgr"])
def test_figures_that_are_named_come_with_the_recalls_that_they_are_made_of(convention: str):
    scores, _ = world(2, 20, 20, 1)

    result = evaluate_crossmodal(
        scores, convention=convention, k="1,5,10", measures=["rsum", "gmean"], intervals="none"
    )

    recalls = [figure(result, f"Success@{k}", way) for way in ("t2v", "v2t") for k in (1, 5, 10)]
    assert figure(result, "rsum", "t2v+v2t") == pytest.approx(sum(recalls))
    assert figure(result, "gmean", "t2v") == pytest.approx(np.prod(recalls[:3]) ** (1 / 3))


def test_a_measure_with_parameters_is_itself_and_no_word_of_the_convention():
    scores, _ = world(4, 30, 30, 1)
    positives = [sorted({row, (row + 1) % 30}) for row in range(30)]
    options: dict[str, Any] = {"direction": "t2v", "intervals": "none"}

    result = evaluate_crossmodal(
        scores, positives, measures=["R(rel=1)@5", "recall@10", "R@5", "Success@10"], **options
    )
    alone = evaluate_crossmodal(
        scores,
        positives,
        convention="trec_eval10",
        measures=["R@5", "R@10"],
        ties="input",
        **options,
    )

    assert [(row["label"], row["measure"]) for row in result.summary] == [
        ("R(rel=1)@5", "R@5"),
        ("recall@10", "R@10"),
        ("R@5", "Success@5"),
        ("Success@10", "Success@10"),
    ]
    assert [row["mean"] for row in result.summary[:2]] == pytest.approx(
        [100 * row["mean"] for row in alone.summary]
    )
    assert any(
        "R(rel=1)@5 is the measure R@5 itself; as a word of hgr, R@5 means Success@5" in note
        for note in result.findings
    )
    assert evaluate_crossmodal(
        scores, positives, measures=["R(denom='relevant')@5"], **options
    ).summary


def test_what_is_left_out_keeps_a_row_without_a_value_and_figures_count_the_rest():
    scores, _ = world(5, 12, 12, 1)
    positives = [[] if row == 3 else [row] for row in range(12)]

    result = evaluate_crossmodal(scores, positives, no_relevant="skip", measures=["rsum"])

    single = [
        row
        for row in result.per_query()
        if row["measure"] == "Success@1" and row["direction"] == "t2v"
    ]
    assert [row["query"] for row in single if row["value"] is None] == ["3"]
    assert len(single) == 12
    total = sum(figure(result, f"Success@{k}", way) for way in ("t2v", "v2t") for k in (1, 5, 10))
    assert figure(result, "rsum", "t2v+v2t") == pytest.approx(total)
    assert figure(result, "rsum", "t2v+v2t", "n") == 22
    assert figure(result, "rsum", "t2v+v2t", "ci_low") <= total


def test_a_source_that_ranks_runs_lends_its_measures():
    result = evaluate_crossmodal(SQUARE, convention="beir", intervals="none")

    assert "nDCG@10" in {row["measure"] for row in result.summary}


# ---- what is said
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("convention", "difference"),
    [
        ("hgr", "lower position"),
        ("hgr", "a miss at every K up to n"),
        ("frozen", "positive's favour"),
        ("mmt", "left out, and reported"),
        ("clip4clip-multi", "by the highest score of its captions"),
        ("vse", "higher position"),
        ("lavis", "higher position"),
    ],
)
def test_how_a_convention_differs_from_its_source_is_explained(convention: str, difference: str):
    assert difference in str(rankwell.explain(convention))


def test_a_rule_that_counts_places_is_flagged_whoever_asks_for_it():
    assert any(
        "ties=multiplied (t2v, v2t): a query with a tied" in note
        for note in evaluate_crossmodal(SQUARE, ties="multiplied").findings
    )


@pytest.mark.parametrize("convention", ["ranx", "oxford", "alfa", "trec_eval10"])
def test_a_source_without_matrices_gives_no_advice_on_them(convention: str):
    notes = evaluate_crossmodal(
        SQUARE, convention=convention, measures=["R@1"], intervals="none"
    ).findings

    assert f"the convention {convention} does not support score matrices" in notes[0]
    assert "ties are expected" in notes[0]
    assert not any("ties keep the order" in note for note in notes)


def test_collapsed_captions_of_several_videos_are_warned_of():
    result = evaluate_crossmodal(SQUARE, [[0, 1], [1], [2]], convention="clip4clip")

    assert any(
        "v2t-videos: 1 captions belong to several videos" in note for note in result.findings
    )


def test_a_score_that_is_not_a_number_is_named_with_its_file(tmp_path: Path):
    for name in ("one", "two"):
        scores = np.array(SQUARE)
        scores[1, 2] = np.nan if name == "two" else 0.0
        np.save(tmp_path / f"{name}.npy", scores)

    with pytest.raises(BadScore, match=r"two\.npy: row 1, column 2: the score is nan"):
        evaluate_crossmodal([tmp_path / "one.npy", tmp_path / "two.npy"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"transform": "dual-softmax(temperature=1)", "direction": "v2t"},
            r"nan\.npy: row 1, column 2: the score is nan",
        ),
        (
            {"transform": "dual-softmax(temperature=1)", "mask": [0, 1, 1]},
            r"nan\.npy: row 1, column 2: the score is nan",
        ),
        (
            {"transform": "querybank", "bank": "nan.npy", "direction": "t2v"},
            r"nan\.npy: row 1, column 2: the score is nan",
        ),
    ],
)
def test_a_transformed_score_that_is_not_a_number_is_named_by_its_place_in_its_file(
    tmp_path: Path, monkeypatch, options: dict[str, Any], message: str
):
    monkeypatch.chdir(tmp_path)
    scores = np.array(SQUARE)
    np.save("good.npy", scores)
    scores[1, 2] = np.nan
    np.save("nan.npy", scores)

    with pytest.raises(BadScore, match=f"^{message}"):
        evaluate_crossmodal("good.npy" if "bank" in options else "nan.npy", **options)


def test_runs_are_named_where_their_files_have_one_name(tmp_path: Path):
    np.save(tmp_path / "S.npy", np.array(SQUARE))
    np.savez(tmp_path / "S.npz", scores=np.array(SQUARE))
    np.savez(tmp_path / "two.npz", one=np.array(SQUARE), other=np.array(SQUARE))

    with pytest.raises(
        BadUsage,
        match=r"two of the matrices of scores are called 'S'; name them, as in dual=a/scores\.npy",
    ):
        evaluate_crossmodal([tmp_path / "S.npy", tmp_path / "S.npz"])
    named = evaluate_crossmodal([f"a={tmp_path}/S.npy", f"b={tmp_path}/S.npz"], intervals="none")
    assert list(dict.fromkeys(row["run"] for row in named.summary)) == ["a", "b"]
    with pytest.raises(BadInput, match="2 arrays with two dimensions"):
        evaluate_crossmodal(tmp_path / "two.npz")


def test_the_demo_says_what_stands_in_its_way(tmp_path: Path, monkeypatch, capsys):
    (tmp_path / "afile").write_text("")

    assert run(monkeypatch, "demo", "crossmodal", "-o", tmp_path / "afile") == 2

    assert "afile is a file" in capsys.readouterr().err


def test_t_intervals_that_leave_the_range_are_pointed_out():
    scores, _ = world(6, 12, 400, 1)
    scores[:11, 0], scores[11, 0] = 1e6, -1e6

    spread, drawn = (
        evaluate_crossmodal(scores, [[0]] * 12, direction="t2v", intervals=each)
        for each in ("t", "bootstrap")
    )

    assert figure(spread, "MnR", "t2v", "ci_low") < 1
    assert any(
        "t intervals of R@1 (t2v), " in note and "MnR (t2v)" in note for note in spread.findings
    )
    assert not any("go beyond" in note for note in drawn.findings)


# ---- printed figures
# --------------------------------------------------------------------------------------------------


def checked(monkeypatch, capsys, *arguments: object) -> list[str]:
    assert run(monkeypatch, "crossmodal", *arguments, "--direction", "t2v", "-f", "json") == 0
    printed = capsys.readouterr()
    checks = json.loads(printed.out)["rules"]["checks"]
    assert [line for line in printed.err.splitlines() if line in checks] == checks
    return checks


def test_a_printed_figure_is_checked_against_what_was_counted_under_the_rule_for_ties(
    tmp_path: Path, monkeypatch, capsys
):
    # Three queries with three tied items each: nine places, of which three are the first.
    np.save(tmp_path / "s.npy", np.ones((3, 3)))
    scores = tmp_path / "s.npy"

    assert checked(monkeypatch, capsys, scores, "--check", "44.44", "--ties", "multiplied") == [
        "t2v: 44.44 is possible with n = 9: 4 of 9"
    ]
    assert checked(monkeypatch, capsys, scores, "-c", "hgr", "--check", "66.67") == [
        "t2v: 66.67 is possible with n = 3: 2 of 3"
    ]
    (told,) = checked(monkeypatch, capsys, scores, "--check", "33.33", "--ties", "expected")
    assert "33.33 cannot be checked: a query that is tied counts in part" in told


def test_verdicts_on_printed_figures_stand_in_the_folder_too(tmp_path: Path, monkeypatch, capsys):
    np.save(tmp_path / "s.npy", np.eye(165))

    assert (
        run(
            monkeypatch,
            "crossmodal",
            tmp_path / "s.npy",
            "--check",
            "70.08",
            "-o",
            tmp_path / "out",
        )
        == 0
    )

    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert any(
        "t2v: 70.08 is not possible with n = 165" in check for check in manifest["rules"]["checks"]
    )
    said = capsys.readouterr().err
    assert [said.count(f"{each}70.08") for each in ("t2v: ", "v2t: ", "")] == [1, 1, 2]
