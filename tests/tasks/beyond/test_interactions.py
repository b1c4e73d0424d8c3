"""Interactions as files in the field have them: with and without grades, with names of columns and
as plain lines.
"""

from pathlib import Path
from typing import Any

import pytest

import rankwell as rw
from rankwell.errors import BadInput, BadLine, BadUsage

SEEN = {"u1": {"a": 1.0, "b": 1.0}, "u2": {"a": 1.0}}
FORMS = {
    "lines.txt": "u1 a\nu1 b\nu2 a\nu1 a\n",
    "tabs.tsv": "u1\ta\nu1\tb\nu2\ta\n",
    "numbers.txt": "1 2\n1 3\n2 2\n",
    "implicit.inter": "user_id:token\titem_id:token\nu1\ta\nu1\tb\nu2\ta\nu2\ta\n",
    "times.inter": "user_id:token\titem_id:token\ttimestamp:float\nu1\ta\t881250949\nu1\tb\t881250950\nu2\ta\t881250951\n",  # noqa: E501
    "rated.inter": "user_id:token\titem_id:token\trating:float\ttime:float\nu1\ta\t3\t8\nu1\tb\t5\t9\nu2\ta\t1\t7\nu2\tb\t0\t7\n",  # noqa: E501
    "ratings.csv": "userId,movieId,rating,timestamp\nu1,a,4.0,964982703\nu1,b,0.5,964981247\nu2,a,2.0,964982224\n",  # noqa: E501
    "pairs.csv": "user,item\nu1,a\nu1,b\nu2,a\nu1,a\n",
    "pairs.jsonl": '{"user": "u1", "item": "a"}\n{"user": "u1", "item": "b"}\n{"user": "u2", '
    '"item": "a"}\n',
    "ratings.dat": "u1::a::5::978300760\nu1::b::0.5::978302109\nu2::a::3::978301968\nu2::b::0::978300275\nu1::a::1::978300760\n",  # noqa: E501
    "qrels.txt": "u1 0 a 1\nu1 0 b 2\nu2 0 a 1\nu2 0 b 0\n",
}


def popularity(seen: Any, items: str = "ab") -> tuple[list[float | None], tuple[str, ...]]:
    """The number of users of each item, and the notes."""
    runs = {item: {"u": [item]} for item in items}
    found = rw.evaluate_beyond(
        runs, "Popularity", documents=list(items), interactions=seen, intervals="none"
    )
    return [row.mean for row in found.summary], found.findings


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_a_training_set_counts_the_users_of_an_item_once(name: str, tmp_path: Path):
    (tmp_path / name).write_text(FORMS[name])

    counts, notes = popularity(tmp_path / name, "23" if name == "numbers.txt" else "ab")

    assert counts == [2, 1]
    assert [note for note in notes if name in note] == []


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_data_frame_needs_no_grades(package: str):
    frame = pytest.importorskip(package).DataFrame(
        {"user_id": ["u1", "u1", "u2", "u1"], "item_id": ["a", "b", "a", "a"]}
    )

    assert popularity(frame)[0] == [2, 1]


def test_columns_of_which_none_is_a_grade_are_named(tmp_path: Path):
    (tmp_path / "plays.csv").write_text("user,item,plays,time\nu1,a,7,1\nu1,b,0,2\nu2,a,1,3\n")

    counts, notes = popularity(tmp_path / "plays.csv")

    assert counts == [2, 1]
    assert (
        f"{tmp_path}/plays.csv: no column holds grades, so each row counts as 1; not read: 'plays'"
        in notes
    )


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            "196\t242\t3\t881250949\n186\t302\t3\t891717742\n",
            "1: .* a rating and a time.*as in user,item,rating,timestamp",
        ),
        ("196 242 3 881250949\n186 242 3 891717742\n", "a user, an item, a rating and a time"),
        ("1 2 5\n1 3 4\n", "a user, an item and a rating, or a user and two items"),
        ("uid sid\n1 2\n3 4\n", "looks like names of columns"),
        ("user sid\nu1 a\n", "interactions"),
        ("1,2\n1,3\n", "names no column of judgments; write a header such as query,item above it"),
    ],
)
def test_lines_that_can_be_read_in_two_ways_are_refused(lines: str, message: str, tmp_path: Path):
    (tmp_path / "interactions.data").write_text(lines)

    with pytest.raises(BadInput, match=message):
        popularity(tmp_path / "interactions.data")


def test_a_later_line_of_another_length_is_named(tmp_path: Path):
    (tmp_path / "seen.txt").write_text("u1 a\n" * 20_000 + "u2 a b\n")

    with pytest.raises(BadLine, match=r"seen\.txt:20001: 'u2 a b' has 3 fields.*`user item`"):
        popularity(tmp_path / "seen.txt")


def test_lines_of_a_user_and_all_of_its_items_are_read_and_said_to_be(tmp_path: Path):
    (tmp_path / "train.txt").write_text("0 2 3\n1 2\n2\n3 5 4 6 2\n")

    counts, notes = popularity(tmp_path / "train.txt", "23")

    assert counts == [3, 1]
    assert (
        f"{tmp_path}/train.txt: each line is read as a user and all of its items, as LightGCN's"
        in notes
    )


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            "0 2 3\n1 2\n" + "".join(f"{user} 2\n" for user in range(2, 30_000)) + "7 4\n",
            "30001: user '7' already has line 8",
        ),
        (
            "0 2 3\n1 2\n" + "".join(f"{user} 2\n" for user in range(2, 30_000)) + "30000 x\n",
            "30001: 'x'; expected integers",
        ),
        ("1::Jumanji::Adventure\n", "1: '1::Jum.*expected user::item::rating::timestamp"),
        ("1::2::5\n", "expected user::item::rating::timestamp"),
        (
            "1::2::5::978300760\n1::3::five::978300760\n",
            r"seen\.dat:2: '1::3::five::978300760'; expected user::item",
        ),
    ],
)
def test_a_line_of_another_form_is_named(lines: str, message: str, tmp_path: Path):
    (tmp_path / "seen.dat").write_text(lines)

    with pytest.raises(BadLine, match=message):
        popularity(tmp_path / "seen.dat")


def test_ids_may_hold_colons(tmp_path: Path):
    (tmp_path / "qrels.txt").write_text("u1 0 std::vector::push 1\nu2 0 std::vector::push 1\n")

    assert (
        rw.evaluate_beyond(
            {"run": {"u": ["std::vector::push"]}},
            "Popularity",
            interactions=tmp_path / "qrels.txt",
            intervals="none",
        )
        .summary[0]
        .mean
        == 2
    )


def test_judgments_are_stricter_than_interactions(tmp_path: Path):
    (tmp_path / "pairs.csv").write_text(FORMS["pairs.csv"])
    (tmp_path / "plays.csv").write_text("user,item,plays\nu1,a,7\n")

    with pytest.raises(BadInput, match="query 'u1' judges item 'a' twice, in rows 1 and 4"):
        rw.evaluate(tmp_path / "pairs.csv", {"u1": {"a": 1.0}})
    with pytest.raises(BadInput, match="no column for the grade"):
        rw.evaluate(tmp_path / "plays.csv", {"u1": {"a": 1.0}})
    with pytest.raises((BadInput, BadUsage)):
        rw.evaluate_beyond({"u1": ["a"]}, "Entropy", qrels=tmp_path / "pairs.csv")
