"""`rankwell keywords template`: an empty annotation table for whatever names the clips."""

import csv
import io
import sys
from pathlib import Path

import pytest

from make import touch
from rankwell import cli
from rankwell.tasks.keywords.commands.keywords_template import GROUPS
from rankwell.tasks.keywords.formats import read_annotations

HEADER = [
    "slice_id",
    "pv_object_type",
    "pv_actor_behavior",
    "pv_spatial_relation",
    "ego_behavior",
    "scene_type",
]


def run(monkeypatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["rankwell", *map(str, words)])
    return cli.main()


def table(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def ids(text: str) -> list[str]:
    return [row[0] for row in table(text)[1:]]


def test_a_folder_gives_a_row_per_clip_and_an_empty_cell_per_group(
    tmp_path: Path, monkeypatch, capsys
):
    touch(tmp_path, "b.mp4", "a.gif", "drive 2/c.jpg", "notes.txt")

    assert run(monkeypatch, "keywords", "template", tmp_path) == 0

    assert table(capsys.readouterr().out) == [
        HEADER,
        *([name, "", "", "", "", ""] for name in ("a.gif", "b.mp4", "drive 2/c.jpg")),
    ]


def test_a_still_beside_its_video_has_no_row_and_is_counted(tmp_path: Path, monkeypatch, capsys):
    touch(tmp_path, "a.mp4", "a.jpg", "b.jpg", "sub/a.jpg")

    assert run(monkeypatch, "keywords", "template", tmp_path) == 0
    out, err = capsys.readouterr()

    assert ids(out) == ["a.mp4", "b.jpg", "sub/a.jpg"]
    assert "1 picture beside a video of the same name gets no row" in err


def test_files_and_patterns_are_known_by_their_names(tmp_path: Path, monkeypatch, capsys):
    touch(tmp_path, "x1.mp4", "x2.mp4", "y.mov")

    assert run(monkeypatch, "keywords", "template", tmp_path / "y.mov", tmp_path / "x*.mp4") == 0

    assert ids(capsys.readouterr().out) == ["y.mov", "x1.mp4", "x2.mp4"]


@pytest.mark.parametrize(
    ("name", "content", "part"),
    [
        ("ids.txt", "a.mp4\nb c.mp4\n\n", ""),
        ("ids.csv", "slice_id,embedding\na.mp4,1\nb c.mp4,2\n", ""),
        ("ids.csv", "other,file\n1,a.mp4\n2,b c.mp4\n", ":file"),
        ("ids.json", '["a.mp4", "b c.mp4"]', ""),
    ],
    ids=["lines", "table", "column", "json"],
)
def test_a_list_of_ids_keeps_its_order(
    tmp_path: Path, monkeypatch, capsys, name: str, content: str, part: str
):
    (tmp_path / name).write_text(content)

    assert run(monkeypatch, "keywords", "template", f"{tmp_path / name}{part}") == 0

    assert ids(capsys.readouterr().out) == ["a.mp4", "b c.mp4"]


def test_ids_with_commas_quotes_and_foreign_letters_come_back_as_they_were(
    tmp_path: Path, monkeypatch
):
    names = ["a,b.mp4", 'say "x".mp4', "文書.mp4", "odd\udcff.mp4"]
    touch(tmp_path / "clips", *names)
    written = tmp_path / "out" / "table.csv"

    assert run(monkeypatch, "keywords", "template", tmp_path / "clips", "-o", written) == 0

    read = table(written.read_bytes().decode("utf-8", "surrogateescape"))
    assert sorted(row[0] for row in read[1:]) == sorted(names)
    assert {len(row) for row in read} == {6}


def test_what_is_written_is_what_the_evaluation_reads(tmp_path: Path, monkeypatch):
    touch(tmp_path / "clips", "a.mp4", "b.mp4")
    written = tmp_path / "table.csv"

    assert run(monkeypatch, "keywords", "template", tmp_path / "clips", "-o", written) == 0
    empty = read_annotations(written)
    written.write_text(written.read_text().replace("a.mp4,,", 'a.mp4,"bicyclist, small vehicle",'))
    filled = read_annotations(written)

    assert (empty.clips, empty.empty) == (("a.mp4", "b.mp4"), ("a.mp4", "b.mp4"))
    assert [(each.group, each.label) for each in filled.keywords] == [
        (GROUPS[0], "bicyclist"),
        (GROUPS[0], "small vehicle"),
    ]


def test_a_schema_gives_the_columns_and_its_labels_are_said(tmp_path: Path, monkeypatch, capsys):
    (tmp_path / "ids.txt").write_text("a\n")
    (tmp_path / "schema.json").write_text(
        '{"weather": ["rain", {"label": "fog", "aliases": ["mist"]}], "road": ["wet"]}'
    )

    assert (
        run(
            monkeypatch,
            "keywords",
            "template",
            tmp_path / "ids.txt",
            "--schema",
            tmp_path / "schema.json",
        )
        == 0
    )
    out, err = capsys.readouterr()

    assert table(out) == [["slice_id", "weather", "road"], ["a", "", ""]]
    assert err.splitlines() == ["weather: rain, fog", "road: wet"]


def test_groups_of_ones_own_are_the_columns(tmp_path: Path, monkeypatch, capsys):
    (tmp_path / "ids.txt").write_text("a\n")

    assert (
        run(
            monkeypatch,
            "keywords",
            "template",
            tmp_path / "ids.txt",
            "--keyword-groups",
            "weather, road",
        )
        == 0
    )

    assert table(capsys.readouterr().out)[0] == ["slice_id", "weather", "road"]


def test_a_table_that_may_hold_annotations_is_not_replaced(tmp_path: Path, monkeypatch, capsys):
    (tmp_path / "ids.txt").write_text("a\n")
    (tmp_path / "table.csv").write_text("work of a week")

    assert (
        run(monkeypatch, "keywords", "template", tmp_path / "ids.txt", "-o", tmp_path / "table.csv")
        == 2
    )
    assert "table.csv exists; name another file, or --overwrite" in capsys.readouterr().err
    assert (tmp_path / "table.csv").read_text() == "work of a week"

    assert (
        run(
            monkeypatch,
            "keywords",
            "template",
            tmp_path / "ids.txt",
            "-o",
            tmp_path / "table.csv",
            "--overwrite",
        )
        == 0
    )
    assert table((tmp_path / "table.csv").read_text())[0] == HEADER


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("none",), 2, "no such file or folder"),
        (("clips", "clips/a.mp4"), 2, "clip 'a.mp4' is named by the folder clips and clips/a.mp4"),
        (("clips/a.mp4", "clips/a.mp4"), 2, "clip 'a.mp4' is named twice by clips/a.mp4"),
        (("double.txt",), 2, "named by double.txt, row 1 and double.txt, row 3"),
        (("bare",), 4, "there is no clip in it"),
        (("clips", "-o", "table.xlsx"), 2, "written as CSV"),
        (("clips", "--keyword-groups", "a,a"), 2, "different names"),
        (("clips", "--keyword-groups", "a,"), 2, "'a,' has an empty name"),
        (("clips", "--keyword-groups", "slice_id"), 2, "different names"),
        (("clips", "--keyword-groups", "a", "--schema", "schema.json"), 2, "leave one of them out"),
        (("two.csv",), 2, "no column for the id"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_bad_input_is_refused_by_name(
    tmp_path: Path, monkeypatch, capsys, words: tuple[str, ...], code: int, said: str
):
    monkeypatch.chdir(tmp_path)
    touch(tmp_path, "clips/a.mp4")
    (tmp_path / "bare").mkdir()
    (tmp_path / "double.txt").write_text("a\nb\na\n")
    (tmp_path / "two.csv").write_text("left,right\n1,2\n")
    (tmp_path / "schema.json").write_text('{"g": ["x"]}')

    assert run(monkeypatch, "keywords", "template", *words) == code
    out, err = capsys.readouterr()

    assert out == ""
    assert said in err
    assert len(err.splitlines()) == 1


def test_the_clips_of_an_annotation_table_make_a_new_one(shared: Path, monkeypatch, capsys):
    source = shared / "driving" / "unified_annotation.csv"

    assert (
        run(
            monkeypatch,
            "keywords",
            "template",
            source,
            "--schema",
            shared / "driving" / "schema.json",
        )
        == 0
    )
    made = table(capsys.readouterr().out)

    with source.open(newline="") as stream:
        assert [row[0] for row in made] == [row[0] for row in csv.reader(stream)]
    assert made[0] == HEADER
    assert not any(cell for row in made[1:] for cell in row[1:])


def test_empty_lines_of_a_list_are_skipped_and_counted(tmp_path: Path, monkeypatch, capsys):
    (tmp_path / "gap.txt").write_text("a\n\nb\n\n")

    assert run(monkeypatch, "keywords", "template", tmp_path / "gap.txt") == 0
    out, err = capsys.readouterr()

    assert [row[0] for row in table(out)] == ["slice_id", "a", "b"]
    assert "gap.txt: 1 row without an id skipped (first 2)" in err


def test_an_unfilled_template_has_its_groups_and_nothing_to_evaluate(
    tmp_path: Path, monkeypatch, capsys
):
    (tmp_path / "ids.txt").write_text("a\nb\n")
    assert (
        run(monkeypatch, "keywords", "template", tmp_path / "ids.txt", "-o", tmp_path / "t.csv")
        == 0
    )
    (tmp_path / "kept.run").write_text("a Q0 b 1 1 r\n")
    words = (
        "--annotations",
        tmp_path / "t.csv",
        "--run",
        tmp_path / "kept.run",
        "--keyword-groups",
        "actor behaviour",
    )

    assert run(monkeypatch, "keywords", *words) == 4
    assert "'actor behaviour' is a group without any keyword" in capsys.readouterr().err
