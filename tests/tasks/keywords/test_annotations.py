"""Annotation tables: every shape that people keep them in, and what is odd about them."""

import gzip
import json
from pathlib import Path

import pytest

from rankwell.errors import BadInput, BadLine, DuplicateItem, UnknownName
from rankwell.tasks.keywords.annotations import Annotations, Keyword
from rankwell.tasks.keywords.formats import (
    TextQuery,
    read_annotations,
    read_schema,
    read_text_queries,
)
from rankwell.tasks.keywords.lint import findings

WIDE = (
    'slice_id,pv_object_type,scene_type\nb.mp4,"Bicyclist,  small  vehicle '
    '",urban\na.mp4,,"\'Urban\', rainy"\nc.mp4,nan,\n'
)
ONE = 'slice_id,keywords\nb.mp4,"bicyclist, small vehicle, urban"\na.mp4,"urban, rainy"\n'


def carried(table: Annotations) -> dict[str, dict[str, list[str]]]:
    return {
        clip: table.named(row) for clip, row in zip(table.clips, table.is_annotated, strict=True)
    }


def saved(folder: Path, text: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def schema_of(folder: Path, declared: object) -> object:
    return read_schema(saved(folder, json.dumps(declared), "schema.json"))


def test_spaces_quotes_case_and_nan_do_not_matter(tmp_path: Path):
    table = read_annotations(saved(tmp_path, WIDE))

    assert carried(table) == {
        "a.mp4": {"scene_type": ["rainy", "urban"]},
        "b.mp4": {"pv_object_type": ["bicyclist", "small vehicle"], "scene_type": ["urban"]},
        "c.mp4": {},
    }
    assert table.empty == ("c.mp4",)


def test_one_column_of_keywords_is_one_group_until_a_schema_places_them(tmp_path: Path):
    path = saved(tmp_path, ONE)
    schema = schema_of(
        tmp_path, {"object": ["bicyclist", "other"], "scene": ["urban", "rainy", "other"]}
    )

    assert read_annotations(path).groups == ("keywords",)
    placed = read_annotations(path, schema=schema)
    assert carried(placed)["b.mp4"] == {
        "object": ["bicyclist"],
        "scene": ["urban"],
        "keywords": ["small vehicle"],
    }
    assert placed.undeclared == (Keyword("keywords", "small vehicle"),)


@pytest.mark.parametrize(
    "form", ["semicolon", "tab", "gzip", "jsonl", "json", "parquet", "frame", "mapping"]
)
def test_every_form_of_the_table_reads_alike(tmp_path: Path, form: str):
    rows = [
        {
            "slice_id": "b.mp4",
            "object_type": ["bicyclist", "small vehicle"],
            "scene_type": ["urban"],
        },
        {"slice_id": "a.mp4", "object_type": [], "scene_type": ["rainy", "urban"]},
    ]
    header, cells = (
        list(rows[0]),
        [
            [row["slice_id"], ",".join(row["object_type"]), ",".join(row["scene_type"])]
            for row in rows
        ],
    )
    if form in ("semicolon", "tab"):
        mark = ";" if form == "semicolon" else "\t"
        place: object = saved(tmp_path, "\n".join(mark.join(each) for each in [header, *cells]))
    elif form == "gzip":
        place = tmp_path / "t.csv.gz"
        text = "slice_id,object_type,scene_type\n" + "".join(
            f'{a},"{b}","{c}"\n' for a, b, c in cells
        )
        place.write_bytes(gzip.compress(text.encode()))
    elif form == "jsonl":
        place = saved(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), "t.jsonl")
    elif form == "json":
        place = saved(tmp_path, json.dumps(rows), "t.json")
    elif form == "mapping":
        place = {row["slice_id"]: {name: row[name] for name in header[1:]} for row in rows}
    else:
        pandas = pytest.importorskip("pandas")
        place = pandas.DataFrame(rows)
        if form == "parquet":
            pytest.importorskip("pyarrow")
            place.to_parquet(tmp_path / "t.parquet")
            place = tmp_path / "t.parquet"

    assert carried(read_annotations(place)) == {
        "a.mp4": {"scene_type": ["rainy", "urban"]},
        "b.mp4": {"object_type": ["bicyclist", "small vehicle"], "scene_type": ["urban"]},
    }


def test_the_order_of_rows_and_labels_does_not_show(tmp_path: Path):
    lines = WIDE.splitlines()
    turned = read_annotations(saved(tmp_path, "\n".join([lines[0], *reversed(lines[1:])])))

    assert carried(turned) == carried(read_annotations(saved(tmp_path, WIDE, "other.csv")))
    assert turned.keywords == read_annotations(saved(tmp_path, WIDE)).keywords


def test_aliases_are_read_as_labels_and_narrower_labels_imply_wider_ones(tmp_path: Path):
    declared = {
        "object": [
            {"label": "bicyclist", "aliases": ["cyclist"]},
            "vehicle",
            {"label": "sedan", "parent": "vehicle"},
        ]
    }
    table = read_annotations(
        {"a": {"object": ["Cyclists", "sedan"]}}, schema=schema_of(tmp_path, declared)
    )

    assert carried(table) == {"a": {"object": ["bicyclist", "sedan"]}}
    assert table.named(table.carried[0]) == {"object": ["bicyclist", "vehicle", "sedan"]}
    assert any("'cyclists' read as 'bicyclist'" in note for note in table.findings)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"g": "a"}, "expected"),
        ({"g": [{"label": "a", "parent": "b"}]}, "'b' of 'a' is not a label"),
        ({"g": [{"label": "a", "parent": "b"}, {"label": "b", "parent": "a"}]}, "cycle"),
        ({"g": ["a", "A"]}, "reads the same"),
    ],
)
def test_a_schema_that_cannot_be_says_why(tmp_path: Path, declared: object, message: str):
    with pytest.raises(BadInput, match=message):
        schema_of(tmp_path, declared)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("slice_id,object_type\n", BadInput, "annotates no clip"),
        ("object_type\nx\n", BadInput, "no column for the clip's id"),
        ("slice_id,video_path\na,x\n", BadInput, "no column for the keywords.*'video_path'"),
        ("slice_id,object_type\na,x\na,y\n", DuplicateItem, "'a' is listed in rows 1 and 2"),
        ("slice_id,object_type\na,x,y\n", BadLine, ":2:.*3 fields"),
        ("slice_id,object_type\n,x\n", BadInput, "t.csv:2, column 'slice_id'"),
    ],
)
def test_a_table_that_cannot_be_read_names_the_place(
    tmp_path: Path, text: str, error: type[Exception], message: str
):
    with pytest.raises(error, match=message):
        read_annotations(saved(tmp_path, text))


def test_columns_that_hold_no_keywords_are_attributes_and_are_named(tmp_path: Path):
    table = read_annotations(
        saved(tmp_path, "slice_id,object_type,drive,weather\na,x,d1,fog\n"), groups=["weather"]
    )

    assert table.attributes == {"a": {"drive": "d1"}}
    assert table.groups == ("object_type", "weather")
    assert any("'drive'" in note for note in table.findings)


def test_groups_are_found_without_their_prefix_and_keywords_by_label(tmp_path: Path):
    table = read_annotations(saved(tmp_path, WIDE))

    assert table.find_group("object type") == "pv_object_type"
    assert table.named(table.select(["Object-Type"])) == {
        "pv_object_type": ["bicyclist", "small vehicle"]
    }
    assert table.named(table.select([], ["scene type: urban"])) == {"scene_type": ["urban"]}
    assert table.named(table.select(["object type", "scene_type"], ["urban"])) == {
        "pv_object_type": ["bicyclist", "small vehicle"],
        "scene_type": ["urban"],
    }
    with pytest.raises(UnknownName, match="pv_object_type"):
        table.find_group("colour")
    with pytest.raises(UnknownName, match="bicyclist"):
        table.find("bicyclis")


def test_text_queries_come_from_lines_and_tables_with_their_keywords(tmp_path: Path):
    assert read_text_queries(saved(tmp_path, "a car\n\na bus\n", "t.txt")) == [
        TextQuery("0", "a car"),
        TextQuery("1", "a bus"),
    ]
    table = 'id,text,keywords\nq,a car,"object: car, van; scene: urban"\nr,a bus,\n'
    assert read_text_queries(saved(tmp_path, table)) == [
        TextQuery("q", "a car", ("object: car", "object: van", "scene: urban")),
        TextQuery("r", "a bus", ()),
    ]
    listed = [{"text": "x", "keywords": [["g", "l"], "m"]}, {"text": "y", "keywords": {"g": ["l"]}}]
    found = read_text_queries(saved(tmp_path, json.dumps(listed), "t.json"))
    assert [query.keywords for query in found] == [("g: l", "m"), ("g: l",)]


def test_every_row_whose_text_has_no_word_is_named(tmp_path: Path):
    table = saved(tmp_path, 'id,text\nq," "\nr,a car\ns,???\n', "u.csv")
    listed = saved(tmp_path, json.dumps([{"id": "q"}, {"text": "a bus"}, {"text": 7}]), "u.json")

    with pytest.raises(
        BadInput,
        match=r"u\.csv:2 \(' '\), \S+u\.csv:4 \('\?\?\?'\): the text has no word; write one",
    ):
        read_text_queries(table)
    with pytest.raises(
        BadInput,
        match=r"u\.json: \[0\] \(no column text, query, query_text\), \S+u\.json: \[2\] "
        r"\(7\): ",
    ):
        read_text_queries(listed)
    with pytest.raises(BadInput, match=r"row 20 \('-'\) and 2 more: the text has no word"):
        read_text_queries(["-"] * 22)


def test_blank_lines_may_precede_the_header(tmp_path: Path):
    (tmp_path / "table.csv").write_text(
        "\n \nslice_id, object_type, text\nc1,car,red\n", encoding="utf-8"
    )

    assert read_annotations(tmp_path / "table.csv").keywords == (Keyword("object_type", "car"),)
    assert read_text_queries(tmp_path / "table.csv") == [TextQuery("c1", "red")]


@pytest.mark.parametrize(
    ("delimiter", "advice"), [(";", "put cells with semicolons"), ("\t", "take tabs out of cells")]
)
def test_the_advice_on_a_row_with_too_many_cells_is_that_of_its_delimiter(
    tmp_path: Path, delimiter: str, advice: str
):
    rows = ("slice_id", "object_type"), ("c1", "car", "bus")
    (tmp_path / "table.csv").write_text(
        "".join(f"{delimiter.join(row)}\n" for row in rows), encoding="utf-8"
    )

    with pytest.raises(BadLine, match=f":2: .* has 3 fields, the header 2; {advice}"):
        read_annotations(tmp_path / "table.csv")


def test_lint_finds_what_is_odd(tmp_path: Path):
    declared = {
        "scene": [{"label": "cloudy", "aliases": ["crosswalk"]}, "crosswalk", "fog", "other"],
        "object": ["pedestrian", "other"],
    }
    rows = (
        "slice_id,scene,object,path\na,cloudy,pedestrian,x\nb,cloud,pedestrain,y\nc,,n/a,z\nd,,,w\n"
    )
    table = read_annotations(saved(tmp_path, rows), schema=schema_of(tmp_path, declared))

    found = {(each.kind, each.group, each.label) for each in findings(table)}
    assert found == {
        ("unknown column", "", "path"),
        ("empty row", "", "d"),
        ("not declared", "scene", "cloud"),
        ("not declared", "object", "pedestrain"),
        ("not declared", "object", "n/a"),
        ("near-duplicate", "scene", "cloud"),
        ("near-duplicate", "object", "pedestrain"),
        ("shadowed", "", "crosswalk"),
        ("placeholder", "object", "n/a"),
        ("two groups", "scene", "other"),
        ("two groups", "object", "other"),
        ("never used", "scene", "crosswalk"),
        ("never used", "scene", "fog"),
        ("never used", "scene", "other"),
        ("never used", "object", "other"),
    }
    assert list(findings(read_annotations({"a": {"g": ["x"]}}))) == []


def test_the_real_table_uses_a_label_that_its_schema_lacks(shared: Path):
    table = read_annotations(
        shared / "driving" / "unified_annotation.csv",
        schema=read_schema(shared / "driving" / "schema.json"),
    )

    assert len(table.clips) == 29
    assert table.undeclared == (Keyword("ego_behavior", "ego stationary"),)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('slice_id,keywords\na,"x, y\nb,x\n', 2),
        ('slice_id,keywords\na,x\nb,"x', 3),
        ('slice_id,keywords\na,"x, y\nb,"x"\nc,z\n', 2),
        ('slice_id,keywords\na,x\nb,"' + "x, y\n" * 40_000, None),
    ],
)
def test_a_quote_that_is_not_closed_swallows_nothing(tmp_path: Path, text: str, line: int | None):
    with pytest.raises(BadLine, match="quote") as caught:
        read_annotations(saved(tmp_path, text))
    assert line is None or f"t.csv:{line}:" in str(caught.value)


def test_a_closed_quote_may_hold_a_line_break(tmp_path: Path):
    table = read_annotations(saved(tmp_path, 'slice_id,keywords\na,"x,\ny"\nb,x\n'))

    assert carried(table) == {"a": {"keywords": ["x", "y"]}, "b": {"keywords": ["x"]}}


@pytest.mark.parametrize("other", ["object_type", "Object-Type", "OBJECT TYPE"])
def test_two_columns_that_read_the_same_are_refused(tmp_path: Path, other: str):
    with pytest.raises(BadInput, match="read the same"):
        read_annotations(saved(tmp_path, f"slice_id,object type,{other}\na,car,bus\n"))


@pytest.mark.parametrize("column", ["actor behaviour", "pv_actor_behavior", "Actor-Behaviour"])
@pytest.mark.parametrize("asked", ["actor behaviour", "actor behavior"])
def test_behaviour_is_behavior_with_and_without_a_schema(tmp_path: Path, column: str, asked: str):
    place = saved(tmp_path, f"slice_id,{column}\na,stationary\n")
    declared = schema_of(tmp_path, {"actor_behavior": ["stationary", "turning"]})

    for table in (read_annotations(place), read_annotations(place, schema=declared)):
        assert table.select([asked]).all()
        assert table.attributes == {"a": {}}
        assert table.find(f"{asked}: stationary")[0].label == "stationary"


def test_a_group_that_nearly_has_the_name_is_suggested_and_an_empty_one_is_there():
    table = read_annotations({"a": {"pv_object_type": ["car"]}})

    with pytest.raises(UnknownName, match="did you mean 'pv_object_type'"):
        table.find_group("objct type")


def test_an_unfilled_table_has_its_groups(tmp_path: Path):
    table = read_annotations(saved(tmp_path, "slice_id,pv_object_type,ego_behavior\na,,\n"))

    assert (table.groups, table.bare_groups) == ((), ("pv_object_type", "ego_behavior"))
    assert table.find_group("object type") == "pv_object_type"


def test_how_often_something_is_read_otherwise_is_said_in_words():
    notes = read_annotations(
        {
            "a": {"g": ["!"]},
            "b": {"g": ["wet-road"]},
            "c": {"g": ["wet road"]},
            "d": {"g": ["wet road"]},
        }
    ).findings

    assert [note.rpartition("(")[2] for note in notes] == ["once)", "once)"]
