"""LETOR files: grades and single features with the items of their comments, and lines that are
refused.
"""

from pathlib import Path

import pytest

import rankwell as rw
from rankwell.errors import BadInput, BadLine, BadScore, DuplicateItem
from rankwell.io.formats import find_judgments, read_judgments, read_ranking

NAMED = """# LETOR 4.0
2 qid:10 1:0.5 25:3.5 #docid = GX-1 inc = 1 prob = 0.02
0 qid:10 1:0.25 25:7 #docid = GX-2 inc = 0
1 qid:11 25:-1 ##docid = GX-1
"""
BARE = "2 qid:1 1:0.5\n0 qid:1 1:0.75\n1 qid:2 1:1e-3\n"


def written(folder: Path, text: str) -> str:
    (folder / "test.txt").write_text(text)
    return str(folder / "test.txt")


def test_grades_and_features_are_read_by_the_same_ids(tmp_path: Path):
    place = written(tmp_path, NAMED)

    found = find_judgments(place)

    assert found.format == "letor"
    assert found.judgments.to_dict() == {"10": {"GX-1": 2.0, "GX-2": 0.0}, "11": {"GX-1": 1.0}}
    assert read_ranking(f"{place}:25").to_dict() == {
        "10": {"GX-1": 3.5, "GX-2": 7.0},
        "11": {"GX-1": -1.0},
    }
    assert read_ranking(f"{place}:1").to_dict()["11"] == {"GX-1": 0.0}
    assert rw.evaluate(place, place, "RR", run_format="letor:25")["RR"] == 0.75


def test_without_docids_items_are_places_in_their_query(tmp_path: Path):
    place = written(tmp_path, BARE)

    assert read_judgments(place, format="letor").to_dict() == {
        "1": {"0": 2.0, "1": 0.0},
        "2": {"0": 1.0},
    }
    assert read_ranking(place, format="letor").to_dict() == {
        "1": {"0": 0.5, "1": 0.75},
        "2": {"0": 0.001},
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 qid:1 1:2\n1 quid:1 1:2\n", r"test\.txt:2: .*LETOR line"),
        ("1 qid: 1:2\n", "LETOR line"),
        ("x qid:1 1:2\n", "the grade 'x'"),
        ("1e999 qid:1 1:2\n", "not a finite number"),
        ("1 qid:1 a:2\n", "a feature is not a number"),
        (
            "1 qid:1 1:2\n1 qid:1 1:2 2:abc\n",
            r"test\.txt:2: .*a feature is not a number, a colon and a number",
        ),
        ("1 qid:1 1:2 2:1_0\n", "a feature is not a number"),
        ("1 qid:1 1:2 2:--1\n", "a feature is not a number"),
        ("1 qid:1 1:2 # docid = a\n1 qid:1 1:2\n", r"test\.txt:2: .* has no docid"),
        (
            "1 qid:1 1:2 #😀docid = a\n",
            r"test\.txt:1: .*: the comment names no item; write `docid = item`",
        ),
        ("1 qid:1 1:2 # docid: a\n", r"test\.txt:1: .*: the comment names no item"),
        ("1 qid:1 1:2 # docid =\n", r"test\.txt:1: .*: the comment names no item"),
    ],
)
def test_another_line_is_named(text: str, message: str, tmp_path: Path):
    with pytest.raises(BadLine, match=message):
        read_judgments(written(tmp_path, text), format="letor")


def test_a_run_needs_one_feature_of_finite_values(tmp_path: Path):
    with pytest.raises(BadInput, match=r"2 features.*letor:1"):
        read_ranking(written(tmp_path, NAMED), format="letor")
    with pytest.raises(BadInput, match="no line has the feature 7"):
        read_ranking(f"{tmp_path}/test.txt:7", format="letor")
    with pytest.raises(BadScore, match=r"test\.txt:1: the feature 1 is 'nan'"):
        read_ranking(written(tmp_path, "1 qid:1 1:nan\n"), format="letor")
    with pytest.raises(BadLine, match="appears twice"):
        read_ranking(written(tmp_path, "1 qid:1 1:3 1:4\n"), format="letor")


def test_an_item_that_a_query_has_twice_is_refused_with_both_lines(tmp_path: Path):
    place = written(
        tmp_path, "1 qid:1 1:2 # docid = a\n0 qid:2 1:2 # docid = a\n2 qid:1 1:3 # docid = a\n"
    )

    for read in (read_judgments, read_ranking):
        with pytest.raises(DuplicateItem, match="lines 1 and 3"):
            read(place, format="letor")
    assert read_judgments(place, format="letor", duplicates="best").to_dict()["1"] == {"a": 2.0}


@pytest.mark.parametrize("value", ["1e-3", "-.5", "+2.", "nan", "Infinity", "-inf"])
def test_a_feature_that_is_not_read_may_be_any_number(value: str, tmp_path: Path):
    assert read_ranking(
        f"{written(tmp_path, f'1 qid:1 1:2 2:{value}')}:1", format="letor"
    ).to_dict() == {"1": {"0": 2.0}}
