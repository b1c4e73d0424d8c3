"""Matrices of scores in every format: the same numbers, mapped where they can be, and plain words
where they do not fit.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwell.data.matrices import Positions, Positives, Scores
from rankwell.errors import BadInput, BadScore, DuplicateItem, UnknownName
from rankwell.io.column_tables.table import ColumnTable
from rankwell.io.formats import formats
from rankwell.io.matrices import read_scores
from rankwell.io.positives import Sides, read_positives

MATRIX = np.array([[0.5, -1.0, 2.25], [3.0, 0.125, -0.75]], dtype=np.float32)
IDS, ITEMS = ["c1", "c2"], ["v1", "v2", "ü 3"]


def table(path: Path, delimiter: str, header: list[str], ids: bool) -> Path:
    rows = [
        [*([name] if ids else []), *map(str, row)]
        for name, row in zip(IDS, MATRIX.tolist(), strict=True)
    ]
    path.write_text("".join(delimiter.join(row) + "\n" for row in [header, *rows]))
    return path


def parquet(path: Path, columns: dict[str, Any]) -> Path:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table(columns), path)
    return path


def every_file(folder: Path) -> dict[str, Any]:
    """The same matrix in files of each kind; those with ids in their names have ids."""
    np.save(folder / "plain.npy", MATRIX)
    np.save(folder / "turned.npy", np.asfortranarray(MATRIX))
    np.savez(folder / "named.npz", t2v=MATRIX, other=MATRIX[:1])
    np.savez(folder / "ids.npz", scores=MATRIX, ids=np.array(IDS))
    columns = dict(zip(ITEMS, MATRIX.T, strict=True))
    return {
        "npy": folder / "plain.npy",
        "npy in Fortran order": folder / "turned.npy",
        "npz": f"{folder / 'named.npz'}:t2v",
        "npz with ids": folder / "ids.npz",
        "csv with ids and items": table(folder / "a.csv", ",", ["query", *ITEMS], True),
        "csv with items": table(folder / "b.csv", ",", ITEMS, False),
        "tsv with ids and items": table(folder / "a.tsv", "\t", ["", *ITEMS], True),
        "parquet with ids and items": parquet(folder / "a.parquet", {"caption_id": IDS, **columns}),
        "parquet with items": parquet(folder / "b.parquet", columns),
        "parquet of lists with ids": parquet(
            folder / "c.parquet", {"id": IDS, "scores": MATRIX.tolist()}
        ),
    }


def test_every_format_gives_the_same_scores_with_the_names_that_it_has(tmp_path: Path):
    for what, place in every_file(tmp_path).items():
        found = read_scores(place)

        assert np.array_equal(found.matrix, MATRIX), what
        assert (found.query_ids is not None and list(found.query_ids) == IDS) == ("ids" in what), (
            what
        )
        assert (found.item_ids is not None and list(found.item_ids) == ITEMS) == (
            "items" in what
        ), what


def test_hdf5_and_safetensors_are_read_too(tmp_path: Path):
    h5py, safetensors = pytest.importorskip("h5py"), pytest.importorskip("safetensors.numpy")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["t2v"] = MATRIX
    safetensors.save_file({"t2v": MATRIX}, tmp_path / "a.safetensors")

    for name in ("a.h5", "a.safetensors"):
        found = read_scores(tmp_path / name).matrix
        assert np.array_equal(found, MATRIX)
        assert isinstance(found, np.memmap)


def test_an_npy_file_is_mapped_and_keeps_its_type(tmp_path: Path):
    for kind in ("<f2", ">f4", "<f8", "|i1", "<i4", "<u8", "|b1"):
        np.save(tmp_path / "a.npy", np.ones((2, 3), dtype=kind))

        found = read_scores(tmp_path / "a.npy").matrix

        assert isinstance(found, np.memmap)
        assert found.dtype == np.dtype(kind)


def test_arrays_tensors_and_lists_are_scores():
    torch = pytest.importorskip("torch")

    for thing in (
        MATRIX,
        MATRIX.tolist(),
        torch.tensor(MATRIX),
        torch.tensor(MATRIX).requires_grad_(),
    ):
        assert np.array_equal(read_scores(thing).matrix, MATRIX)
    half = read_scores(torch.tensor(MATRIX).bfloat16()).matrix
    assert half.dtype == np.float32
    assert read_scores(Scores(MATRIX, IDS)).query_ids == IDS


def test_names_that_are_given_go_before_those_in_the_file(tmp_path: Path):
    path = table(tmp_path / "a.csv", ",", ["query", *ITEMS], True)

    found = read_scores(path, query_ids=[7, 8], item_ids=np.array(["x", "y", "z"]))

    assert (found.query_ids, found.item_ids) == (["7", "8"], ["x", "y", "z"])


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        ("query,a,b\nq,1,\n", BadScore, r"row 0 \(from 0\), column 'b': not a finite score"),
        ("query,a,b\nq,1,2\nr,nan,2\n", BadScore, r"row 1 \(from 0\), column 'a'"),
        ("query,a,b\nq,1\n", BadInput, r"m.csv:2"),
        ("query,a,a\nq,1,2\n", BadInput, "two columns are called 'a'"),
        ("query,a\nq,1\nq,2\n", DuplicateItem, "id 'q' stands for rows 0 and 1"),
        ("", BadInput, "empty"),
        ("just words\n", BadInput, "no known form of a matrix"),
    ],
)
def test_tables_that_are_not_a_matrix_are_refused_by_row_and_column(
    content: str, error: type[Exception], message: str, tmp_path
):
    (tmp_path / "m.csv").write_text(content)

    with pytest.raises(error, match=message) as caught:
        read_scores(tmp_path / "m.csv")

    assert "m.csv" in str(caught.value)


WIDE = np.random.default_rng(3).normal(size=(3, 700)).round(4)


@pytest.mark.parametrize(
    ("change", "one_pass"),
    [
        (lambda text: text, True),
        (lambda text: text.replace("\n", "\r\n"), True),
        (
            lambda text: text.replace("query,", "# a comment\n\nquery,").replace(
                "ü,", "ü+-\u2028,"
            ),
            True,
        ),
        (lambda text: text.replace("b,", '"b",'), False),
        (lambda text: text + "\n", False),
    ],
)
def test_a_matrix_of_many_columns_is_read_in_one_pass_unless_its_lines_are_odd(
    change, one_pass, tmp_path: Path, monkeypatch
):
    lines = [
        ",".join([name, *map(repr, row)]) for name, row in zip("aüb", WIDE.tolist(), strict=True)
    ]
    text = change("\n".join([",".join(["query", *map(str, range(700))]), *lines]) + "\n")
    (tmp_path / "m.csv").write_text(text, newline="")
    passes = list[str]()
    run = ColumnTable.run
    monkeypatch.setattr(
        ColumnTable, "run", lambda self, sql, **how: passes.append(sql) or run(self, sql, **how)
    )

    found = read_scores(tmp_path / "m.csv")

    assert np.array_equal(found.matrix, WIDE)
    assert list(found.query_ids or ()) == ["a", "ü+-\u2028" if "\u2028" in text else "ü", "b"]
    assert found.item_ids == [str(place) for place in range(700)]
    assert (not passes) == one_pass


@pytest.mark.parametrize(
    ("cell", "error", "message"),
    [
        ("", BadScore, r"row 1 \(from 0\), column '699'"),
        ("1_0", BadScore, "column '699'"),
        ("٣", BadScore, "column '699'"),
        ("1e999", BadScore, "column '699'"),
        ("1,2", BadInput, "m.csv:3"),
    ],
)
def test_a_bad_cell_among_many_columns_is_named(
    cell: str, error: type[Exception], message: str, tmp_path: Path
):
    lines = [
        ",".join([name, *["1"] * 699, last]) for name, last in (("a", "2"), ("b", cell), ("c", "2"))
    ]
    (tmp_path / "m.csv").write_text(
        "\n".join([",".join(["query", *map(str, range(700))]), *lines]) + "\n"
    )

    with pytest.raises(error, match=message):
        read_scores(tmp_path / "m.csv")


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_a_first_row_of_plain_numbers_is_scores(delimiter: str, tmp_path: Path):
    np.savetxt(tmp_path / "m.txt", MATRIX, delimiter=delimiter)

    found = read_scores(tmp_path / "m.txt")

    assert np.array_equal(found.matrix, MATRIX)
    assert found.query_ids is None
    assert found.item_ids is None


@pytest.mark.parametrize("first", ["0.5,0.5", "1.0,2.0", "-1,2", "3,3", "1e-3,2", ".5,1.", "nan,1"])
def test_whatever_is_a_number_and_no_name_is_a_score(first: str, tmp_path: Path):
    (tmp_path / "m.csv").write_text(f"{first}\n7,8\n")

    if "nan" in first:
        with pytest.raises(BadScore, match=r"row 0 \(from 0\), column 'column 0'"):
            read_scores(tmp_path / "m.csv")
    else:
        assert read_scores(tmp_path / "m.csv").matrix.tolist() == [
            list(map(float, first.split(","))),
            [7.0, 8.0],
        ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("0,1,2\n.9,.1,.2\n", "the first row is 0, 1, 2: names of columns, or scores?"),
        ("7010,7011\n3,4\n", "the first row is 7010, 7011: names of columns, or scores?"),
        ("0,.9\n1,.8\n2,.7\n", r"the first column counts the rows \(0, 1, 2, …\) and no header"),
    ],
)
def test_numbers_that_may_be_names_are_refused(content: str, message: str, tmp_path: Path):
    (tmp_path / "m.csv").write_text(content)

    with pytest.raises(BadInput, match=message):
        read_scores(tmp_path / "m.csv")


def test_damaged_pickled_and_foreign_files_are_refused(tmp_path: Path):
    np.save(tmp_path / "whole.npy", MATRIX)
    raw = (tmp_path / "whole.npy").read_bytes()
    (tmp_path / "short.npy").write_bytes(raw[:-4])
    np.save(tmp_path / "pickled.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.save(tmp_path / "cube.npy", np.ones((2, 2, 2)))
    (tmp_path / "pickle").write_bytes(b"\x80\x04\x95")

    for name, message in {
        "short.npy": "the file ends early: 2 × 3 float32 need 152 bytes, it has 148",
        "pickled.npy": "pickled",
        "cube.npy": r"shape \(2, 2, 2\); expected a table",
        "pickle": "pickle, which is never opened",
        "absent.npy": "no such file",
    }.items():
        with pytest.raises(BadInput, match=message):
            read_scores(tmp_path / name)


def test_a_format_is_named_where_content_does_not_tell(tmp_path: Path):
    path = table(tmp_path / "scores", ",", ["query", *ITEMS], True)

    assert np.array_equal(read_scores(path, format="csv").matrix, MATRIX)
    with pytest.raises(UnknownName, match="unknown format of scores 'xml'"):
        read_scores(path, format="xml")
    assert {entry.name for entry in formats("scores")} == {
        "csv",
        "hdf5",
        "npy",
        "npz",
        "parquet",
        "safetensors",
        "tsv",
    }


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["a"], "1 ids for 2 rows of scores"),
        (["a", "a"], "id 'a' stands for rows 0 and 1"),
        (["a", ""], "row 1 has nothing; expected an id"),
    ],
)
def test_ids_are_one_for_each_row_and_all_different(ids: list[str], message: str):
    with pytest.raises(BadInput, match=message):
        read_scores(MATRIX, query_ids=ids)


# ---- positives and masks
# -------------------------------------------------------------------------------------------------

SIDES = Sides(Positions(3), Positions(4))


def lists_of(found: Positives) -> list[list[int]]:
    return [
        found.items[start:stop].tolist()
        for start, stop in zip(found.offsets[:-1].tolist(), found.offsets[1:].tolist(), strict=True)
    ]


def test_a_query_that_is_not_named_has_no_positive():
    assert lists_of(read_positives({"2": [3, 0], 0: 1}, SIDES)) == [[1], [], [0, 3]]


@pytest.mark.parametrize("rows", ['a,"b\nb,c"\n', '"a,b\nb",c\n', '"a\n",b\n'])
def test_a_mark_that_takes_in_another_positive_is_refused(rows: str, tmp_path: Path):
    (tmp_path / "p.csv").write_text(f"query,item\n{rows}c,a\n")

    with pytest.raises(BadInput, match=r"^\S+p\.csv: row 2\b"):
        read_positives(tmp_path / "p.csv", Sides(list("abc"), list("abc")))


def test_only_grades_above_zero_are_positives(tmp_path: Path):
    (tmp_path / "q.txt").write_text("0 0 3 2\n0 0 1 0\n2 0 0 1\n2 0 2 -1\n")

    assert lists_of(read_positives(tmp_path / "q.txt", SIDES)) == [[3], [], [0]]


def test_positives_seen_from_the_other_side_are_the_same_pairs():
    found = read_positives([[3, 1], [], [1]], SIDES)

    assert lists_of(found.transposed) == [[], [0, 2], [], [0]]
    assert lists_of(found.transposed.transposed) == lists_of(found)
    assert lists_of(found.only(np.array([2, 0]))) == [[1], [1, 3]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"0": [1], "0": [2]}', "the key '0' appears twice"),
        ('{"0": [1', ":1: .*at column 9; is the file whole"),
        ("[[0], [1]]", "2 lists of positives for scores of 3 rows"),
        (
            '[[0], ["x"], [1]]',
            "row 1: the item 'x' is not a column of the scores, which has 4 of them, 0 to 3",
        ),
        ("[[0], [null], [1]]", "row 1: None names no item"),
    ],
)
def test_positives_in_json_are_refused_with_file_and_row(
    content: str, message: str, tmp_path: Path
):
    (tmp_path / "right.json").write_text(content)

    with pytest.raises(BadInput, match=message) as caught:
        read_positives(tmp_path / "right.json", SIDES)

    assert str(caught.value).startswith(str(tmp_path / "right.json"))


def test_numbers_are_positions_only_where_no_id_is_a_number():
    words, numbers = Sides(["a", "b"], ["x", "y"]), Sides(["a", "b"], ["10", "y"])

    assert lists_of(read_positives([[1], [0]], words)) == [[1], [0]]
    assert lists_of(read_positives({"0": ["y"]}, words)) == [[1], []]
    assert lists_of(read_positives([[10], ["y"]], numbers)) == [[0], [1]]
    with pytest.raises(BadInput, match="the item 1 is none of the 2 columns"):
        read_positives([[1], [0]], numbers)
