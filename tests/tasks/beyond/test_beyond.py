"""Measures beyond accuracy: the figures of peers, the forms of inputs, and what is refused."""

import gzip
import json
import random
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwell as rw
from rankwell.errors import BadInput, BadLine, BadScore, BadUsage, DuplicateItem, NothingToEvaluate
from rankwell.io import reader
from rankwell.tasks.beyond import inputs, lists
from tasks.beyond import smallest

PEERS = json.loads(
    (Path(__file__).parents[2] / "golden" / "beyond.json").read_text(encoding="utf-8")
)["cases"]
RUN = {"u1": ["a", "b", "c"], "u2": ["a", "c", "d"]}


def given(case: dict[str, Any]) -> dict[str, Any]:
    """The inputs of a case of peers."""
    return {
        "documents": case["items"],
        "interactions": {
            user: dict.fromkeys(items, 1) for user, items in case["interactions"].items()
        },
    }


# ---- peers
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", PEERS, ids=lambda case: f"{len(case['lists'])} lists")
def test_the_convention_recbole_has_its_figures(case: dict[str, Any]):
    expected = case["figures"]["recbole"]

    result = rw.evaluate_beyond(case["lists"], list(expected), convention="recbole", **given(case))

    assert {row.label: row.mean for row in result.summary} == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("case", PEERS, ids=lambda case: f"{len(case['lists'])} lists")
def test_novelty_and_diversity_are_those_of_recmetrics(case: dict[str, Any], tmp_path: Path):
    np.save(tmp_path / "vectors.npy", np.array(list(case["vectors"].values()), dtype=np.float32))
    (tmp_path / "vectors.ids.txt").write_text("".join(f"{item}\n" for item in case["vectors"]))
    expected = case["figures"]["recmetrics"]
    names = ["Novelty@5", "ILD(by='embeddings')@5"]

    result = rw.evaluate_beyond(
        case["lists"], names, item_vectors=tmp_path / "vectors.npy", **given(case)
    )

    assert result[names[0]] == pytest.approx(expected["novelty"])
    assert 1 - result[names[1]] == pytest.approx(expected["intra_list_similarity"])


# ---- what is read
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "runs", [{}, {"full": {"u": ["a"]}, "run": {}}], ids=["alone", "beside another"]
)
def test_a_run_without_queries_is_named(runs: dict[str, Any]):
    with pytest.raises(NothingToEvaluate, match=r"^run has no queries\.$"):
        rw.evaluate_beyond(runs, "Entropy")


def test_without_names_the_inputs_decide_what_is_measured(tmp_path: Path):
    smallest.write(tmp_path)

    def labels(**options: Any) -> set[str]:
        return {
            row.label.partition("@")[0]
            for row in rw.evaluate_beyond(tmp_path / "mine.run", k=3, **options).summary
        }

    items = f"{tmp_path}/items.csv"
    assert labels() == {"Entropy"}
    assert labels(documents=f"{items}:id") == {"Entropy", "ItemCoverage", "Gini"}
    assert labels(item_categories=f"{items}:genres") == {"Entropy", "ILD"}
    assert labels(documents=f"{items}:id", item_groups=f"{items}:artist") >= {"AWRF", "EED"}
    assert labels(
        documents=f"{items}:id", interactions=tmp_path / "seen.txt", qrels=tmp_path / "qrels.txt"
    ) >= {"Novelty", "Popularity", "Serendipity"}


@pytest.mark.parametrize("k", ["1,3", "3 1", [1, 3]])
def test_every_cut_off_of_a_list_has_the_values_of_a_call_with_it_alone(tmp_path: Path, k: Any):
    smallest.write(tmp_path)
    items = f"{tmp_path}/items.csv"

    def evaluated(k: Any) -> dict[str, float | None]:
        result = rw.evaluate_beyond(
            tmp_path / "mine.run",
            k=k,
            documents=f"{items}:id",
            item_categories=f"{items}:genres",
            intervals="none",
        )
        return {row.label: row.mean for row in result.summary}

    # Nothing is diverse in a list of one item, which is no number.
    assert repr(sorted(evaluated(k).items())) == repr(sorted((evaluated(1) | evaluated(3)).items()))
    assert len(evaluated(k)) == 8


def test_figures_of_all_lists_have_no_value_of_a_query_and_are_not_compared(tmp_path: Path):
    runs = {
        "one": {f"u{n}": ["a", "b"] for n in range(12)},
        "two": {f"u{n}": ["c", "a"] for n in range(12)},
    }

    names = ["Gini@2", "EED(by='items')@2", "Popularity@1"]
    result = rw.evaluate_beyond(
        runs, names, documents=list("abcd"), interactions={"u1": ["a", "c"]}
    )

    assert {row["value"] for row in result.per_query() if row["measure"] == "Gini@2"} == {None}
    assert [(row.label, row.n, row.ci_low) for row in result.summary if row.run == "one"][-1] == (
        "Gini@2",
        12,
        None,
    )
    compared = result.compare()
    assert not any("Gini" in row["measure"] for row in compared.summary)
    assert any("Gini@2" in note for note in compared.findings)


def test_shards_and_names_of_runs_are_read_as_everywhere(tmp_path: Path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "a").write_text("u1 Q0 a 1 2 x\n")
    (tmp_path / "runs" / "b").write_text("u2 Q0 b 1 2 x\n")

    result = rw.evaluate_beyond(tmp_path / "runs", "ItemCoverage", documents=["a", "b", "c", "d"])

    assert result["ItemCoverage"] == 0.5
    assert result.counts["runs"]["queries_counted"] == 2


def test_the_order_of_rows_has_no_effect_and_ties_are_broken_by_id():
    rows = [("u1", "a", 1.0), ("u1", "b", 1.0), ("u2", "b", 3.0), ("u2", "a", 2.0)]
    runs = []
    for seed in range(3):
        some = random.Random(seed).sample(rows, len(rows))
        runs.append(
            {
                user: {item: score for name, item, score in some if name == user}
                for user in ("u1", "u2")
            }
        )

    values = [
        rw.evaluate_beyond(run, "ItemCoverage@1", documents=["a", "b"])["ItemCoverage@1"]
        for run in runs
    ]

    assert values == [0.5, 0.5, 0.5]


def test_judgments_decide_which_queries_count():
    known = {"interactions": {"x": ["a", "b"]}, "documents": list("abcd")}

    result = rw.evaluate_beyond(RUN, "Serendipity@3", qrels={"u1": ["c"], "u9": ["d"]}, **known)

    assert result.to_dict()["run"] == {"u1": {"Serendipity@3": 0.0}, "u9": {"Serendipity@3": 0.0}}
    assert result.counts["run"] == {
        "queries_counted": 2,
        "queries_missing": 1,
        "queries_unknown": 1,
    }
    assert len(result.data_findings) == 2
    head = "Serendipity(head=1)@3"
    assert rw.evaluate_beyond(RUN, head, qrels={"u1": ["c"]}, **known)[head] == 1 / 3


def test_an_item_without_interactions_counts_as_having_one_and_is_noted():
    result = rw.evaluate_beyond(
        {"u": ["b"]}, "Novelty", interactions={"x": ["a"], "y": ["a"]}, documents=["a", "b"]
    )

    assert result["Novelty"] == 1.0
    assert any("'b'" in note for note in result.findings)


@pytest.mark.filterwarnings("error")
def test_items_may_have_an_empty_group_and_without_any_grouped_item_there_is_no_fairness():
    one = {"a": "x", "b": "", "c": [], "d": None}

    assert rw.evaluate_beyond({"u": ["b", "a"]}, "EED@2", item_groups=one)["EED@2"] == 0.25
    for groups in (dict.fromkeys("abcd", ""), dict.fromkeys("abcd", "") | {"e": "x"}):
        result = rw.evaluate_beyond(RUN, "AWRF@3", item_groups=groups, documents=list("abcd"))
        assert (result.summary[0].mean, result.summary[0].n) == (None, 0)


# ---- what is refused
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "option"),
    [
        ("ItemCoverage@3", "by documents"),
        ("Novelty@3", "by interactions"),
        ("ILD@3", "by item_categories"),
        ("ILD(by='embeddings')@3", "by item_vectors"),
        ("EED@3", "by item_groups"),
        ("EEL(by='items')@3", "by documents"),
        ("nDCG@3", "rankwell evaluate"),
        ("Entropy(discount='geometric',p=0)", "at most 1"),
    ],
)
def test_a_measure_names_the_option_that_it_needs(measure: str, option: str):
    with pytest.raises(BadUsage, match=option):
        rw.evaluate_beyond(RUN, measure)


def test_items_that_inputs_lack_are_named(tmp_path: Path):
    with pytest.raises(BadInput, match="'u2' lists 'd', which the catalogue lacks"):
        rw.evaluate_beyond(RUN, "Gini@3", documents=["a", "b", "c"])
    with pytest.raises(BadInput, match="'u1' lists 'b', which item_categories lacks"):
        rw.evaluate_beyond(RUN, "ILD@3", item_categories={"a": "x", "c": ["x", "y"], "d": []})
    with pytest.raises(
        BadInput, match="'u1' lists 'b', which item_groups lacks; add a row, with an empty group"
    ):
        rw.evaluate_beyond(RUN, "EED@3", item_groups={"a": "x", "c": "y", "d": "x"})
    np.save(tmp_path / "v.npy", np.zeros((2, 2)))
    with pytest.raises(BadInput, match="no ids"):
        rw.evaluate_beyond(RUN, "ILD(by='embeddings')", item_vectors=tmp_path / "v.npy")
    (tmp_path / "v.ids.txt").write_text("a\nb\n")
    with pytest.raises(BadScore, match="'a' is zero"):
        rw.evaluate_beyond(RUN, "ILD(by='embeddings')", item_vectors=tmp_path / "v.npy")


def test_vectors_are_enough_to_know_the_items(tmp_path: Path):
    np.save(tmp_path / "v.npy", np.eye(4))
    (tmp_path / "v.ids.txt").write_text("a\nb\nc\nd\n")

    found = rw.evaluate_beyond(RUN, "ILD(by='embeddings')@2", item_vectors=tmp_path / "v.npy")

    assert found["ILD(by='embeddings')@2"] == 1
    (tmp_path / "v.ids.txt").write_text("a\nx\nc\nd\n")
    with pytest.raises(BadInput, match="lists 'b', which item_vectors lacks; add its vector"):
        rw.evaluate_beyond(RUN, "ILD(by='embeddings')@2", item_vectors=tmp_path / "v.npy")


def test_bad_tables_name_file_row_and_what_to_do(tmp_path: Path):
    table = tmp_path / "items.csv"
    table.write_text("id,genres\na,x\n,y\n")
    with pytest.raises(BadInput, match=r"items\.csv: row 2 has no item"):
        rw.evaluate_beyond(RUN, item_categories=f"{table}:genres")
    with pytest.raises(BadInput, match=r"nowhere\.csv:genres: no such file"):
        rw.evaluate_beyond(RUN, item_categories=f"{tmp_path}/nowhere.csv:genres")
    with pytest.raises(BadInput, match="no column is named"):
        rw.evaluate_beyond(RUN, item_categories=table)
    with pytest.raises(BadInput, match="row 2 has no id"):
        rw.evaluate_beyond(RUN, documents=f"{table}:id")
    with pytest.raises(NothingToEvaluate, match="written in two ways"):
        rw.evaluate_beyond(RUN, qrels={"x": ["a"]})
    with pytest.raises(BadUsage, match="k is 0;"):
        rw.evaluate_beyond(RUN, k=0)
    with pytest.raises(BadUsage, match="has no effect with named"):
        rw.evaluate_beyond(RUN, "Entropy@3", k=3)


# ---- blocks
# --------------------------------------------------------------------------------------------------


def drawn_rows(rng: random.Random) -> list[tuple[str, str, float]]:
    lists = {f"u{number}": rng.sample("abcdefgh", rng.randint(1, 6)) for number in range(40)}
    return [
        (user, item, 9.5 - rank) for user, items in lists.items() for rank, item in enumerate(items)
    ]


def write_form(form: str, rows: list[tuple[str, str, float]], folder: Path) -> Any:
    """The rows of a run in a file or a folder of this form, or in memory."""
    place = folder / f"mine.{form}"
    if form == "memory":
        return {
            user: [item for _, item, _ in own] for user, own in groupby(rows, lambda row: row[0])
        }
    lines = [f"{user} Q0 {item} 1 {score} tag\n" for user, item, score in rows]
    if form == "csv":
        place.write_text(
            "query,item,score\n" + "".join(f"{user},{item},{score}\n" for user, item, score in rows)
        )
    elif form == "folder":
        place.mkdir()
        cut = next(
            row for row in range(len(rows) // 2, len(rows)) if rows[row][0] != rows[row - 1][0]
        )
        (place / "1.run").write_text("".join(lines[:cut]))
        (place / "2.run").write_text("".join(lines[cut:]))
    else:
        place.write_bytes(
            gzip.compress("".join(lines).encode()) if form == "gz" else "".join(lines).encode()
        )
    return place


def all_inputs(folder: Path) -> dict[str, Any]:
    smallest.write(folder)
    items = f"{folder}/items.csv"
    inputs = {
        "documents": f"{items}:id",
        "item_categories": f"{items}:genres",
        "item_groups": f"{items}:artist",
    }
    return inputs | {"interactions": folder / "seen.txt", "qrels": folder / "qrels.txt"}


MEASURES = (
    "Gini(discount='log')@4 Gini Entropy ItemCoverage@1 ILD@5 Novelty Serendipity@3 "
    "Miscalibration AWRF EED EER EEL"
)


def results(place: Any, given: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Everything that decides a byte of the outputs, with all inputs and with none."""
    found = [rw.evaluate_beyond(place, MEASURES, **given), rw.evaluate_beyond(place)]
    return [
        (*(each.values.tobytes() for each in one.values), one.summary, one.findings, one.rules)
        for one in found
    ]


@pytest.mark.parametrize("form", ["run", "scattered", "gz", "memory", "csv", "folder"])
def test_results_do_not_depend_on_how_a_run_is_divided(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    rng = random.Random(form)
    rows, given = drawn_rows(rng), all_inputs(tmp_path)
    if form == "scattered":
        rng.shuffle(rows)
    place = write_form(form, rows, tmp_path)
    whole = results(place, given)
    monkeypatch.setattr(reader, "_LEAST", 1)
    monkeypatch.setattr(reader, "BLOCK", 300)
    monkeypatch.setattr(inputs, "CELLS", 20)

    streamed = results(place, given)
    monkeypatch.setattr(inputs.RunLists, "streamed", irregular)
    monkeypatch.setattr(inputs, "RANGE", 150)
    monkeypatch.setattr(inputs, "BATCH", 7)
    monkeypatch.setattr(inputs, "PLACES", 7)
    divided = results(place, given)

    assert streamed == whole
    assert divided == whole


def irregular(*_: Any) -> Any:
    raise reader.Irregular


def test_a_mistake_behind_many_good_lines_is_named_by_its_line(tmp_path: Path):
    place = tmp_path / "mine.run"
    good = "".join(f"u{number} Q0 a 1 1.0 x\n" for number in range(500))

    for bad, error, message in (
        ("u0 Q0 b 1\n", BadLine, r"mine\.run:501: 4 fields"),
        ("u9 Q0 a 1 one x\n", BadScore, r"mine\.run:501"),
        ("u999 Q0 a 1 1 x\nu999 Q0 a 2 2 x\n", DuplicateItem, "line 502.*line 501|501.*502"),
    ):
        place.write_text(good + bad)
        with pytest.raises(error, match=message):
            rw.evaluate_beyond(place)


def test_a_run_without_a_line_and_a_folder_with_such_a_file_are_refused(tmp_path: Path):
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "1.run").write_text("u1 Q0 a 1 1.0 x\n")
    (folder / "2.run").write_text("\n")

    for place in (folder, folder / "2.run"):
        with pytest.raises(BadInput, match=r"2\.run"):
            rw.evaluate_beyond(place)


def test_no_block_of_queries_takes_time_by_the_whole_catalogue(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    rows, given = drawn_rows(random.Random(1)), all_inputs(tmp_path)
    place, sizes = write_form("run", rows, tmp_path), list[int]()
    of_all = lists.ItemLabels.cells

    def counted(self: Any, owners: Any, codes: Any) -> Any:
        sizes.append(len(codes))
        return of_all(self, owners, codes)

    monkeypatch.setattr(inputs, "CELLS", 6)
    monkeypatch.setattr(lists.ItemLabels, "cells", counted)

    given["qrels"] = {user: ["a"] for user, _, _ in rows}

    rw.evaluate_beyond(place, ["AWRF@3", "EER@3", "EEL@3", "EED@3"], **given)

    assert len(sizes) > 40
    assert sum(size > 6 for size in sizes) == 1


def test_lists_for_which_a_measure_is_undefined_are_counted_and_named():
    run = {"u1": ["a", "b"], "u2": ["a"], "u3": ["b"]}

    found = rw.evaluate_beyond(run, ["ILD@2"], item_categories={"a": ["x"], "b": ["y"]})

    (finding,) = (each for each in found.findings if each.name == "undefined-values")
    assert finding == "run: ILD@2 is undefined for 2 of 3 queries, which do not count"
    assert finding.queries == ["u2", "u3"]
    assert found.summary[0].n == 1


def test_items_of_the_catalogue_without_a_group_are_noted_where_a_target_lacks_them():
    groups, catalogue = {"a": ["x"], "b": ["y"], "c": ["x"], "d": ["y"], "e": []}, list("abcdef")

    aimed = rw.evaluate_beyond(
        RUN, ["AWRF@3", "EED@3"], item_groups=groups, documents=catalogue
    ).findings
    equal = rw.evaluate_beyond(
        RUN, ["AWRF(target='equal')@3", "EED@3"], item_groups=groups, documents=catalogue
    ).findings

    what = (
        "2 of 6 items of the catalogue have no group, for example 'e'; their share is in "
        "no group's target (AWRF@3)"
    )
    assert what in aimed
    assert not [note for note in equal if "have no group" in note]


@pytest.mark.parametrize("names", [{"a": 1.5}, {"a": ["war", float("nan")]}, {"a": True}])
def test_a_category_that_is_not_a_name_is_refused(names: dict[str, Any]):
    with pytest.raises(
        BadInput, match=r"categories: item 'a' has .*expected a name, or a list of names"
    ):
        rw.evaluate_beyond({"u": {"a": 1.0}}, ["ILD@2"], item_categories=names)


def test_names_of_categories_may_be_integers():
    found = rw.evaluate_beyond(
        {"u": {"a": 2.0, "b": 1.0}},
        ["ILD@2"],
        item_categories={"a": 1, "b": [1, 2]},
        intervals="none",
    )

    assert found["ILD@2"] == 0.5


def test_a_negative_number_of_popular_items_is_refused():
    given = {"interactions": {"u": {"a": 1}}, "qrels": {"u": {"a": 1}}}

    with pytest.raises(BadUsage, match="head=-1; expected a number of items, 0 or more"):
        rw.evaluate_beyond({"u": {"a": 1.0}}, ["Serendipity(head=-1)@2"], **given)
