"""`rankwell demo keywords`: the drawn clips, their vectors, and the whole evaluation with its
pictures.
"""

import csv
import json
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pytest
from PIL import Image

from rankwell import cli
from rankwell.errors import BadInput
from rankwell.tasks.keywords.commands.demo_keywords import prepare, read_scenes
from rankwell.tasks.keywords.drawn_scenes import HEIGHT, WIDTH, Scene, draw_clip, draw_frame
from rankwell.tasks.keywords.formats import read_annotations, read_schema, read_text_queries
from rankwell.vectors.encoders.simple_pictures import (
    colour_histogram,
    colours_and_shapes,
    edges,
    small_grey,
)
from rankwell.vectors.media.images import read_picture

USUAL = [
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


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder that the demo leaves, and what it prints."""
    folder = tmp_path_factory.mktemp("demo") / "out"
    done = subprocess.run(
        [sys.executable, "-m", "rankwell", "demo", "keywords", "--verbose", "-o", str(folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    return folder, done.stdout


def rows(path: Path) -> list[dict]:
    found = duckdb.sql(f"SELECT * FROM '{path}'")
    return [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()]


def test_the_demo_prints_every_system_beside_ceiling_and_chance_and_leaves_its_tables_and_sheets(
    demo: tuple[Path, str],
):
    folder, out = demo

    for name in (
        "colours_and_shapes",
        "edges_ahead",
        "Captions (given)",
        "Captions (mapped)",
        "ceiling",
        "chance",
    ):
        assert name in out
    for name in ("colours_and_shapes", "edges_ahead", "texts"):
        written = {path.name for path in (folder / name).iterdir()}
        assert {
            "summary.csv",
            "summary.json",
            "per_query.parquet",
            "details.parquet",
            "queries.parquet",
            "sheets",
        } <= written
        sheets = sorted((folder / name / "sheets").iterdir())
        assert [path.name[:4] for path in sheets] == [
            "001_",
            "002_",
            "003_",
            "004_",
            "005_",
            "006_",
        ]
        assert {read_picture(path).width for path in sheets} == {2400}


def test_what_is_printed_is_what_the_files_say(demo: tuple[Path, str]):
    folder, out = demo

    with (folder / "edges_ahead" / "summary.csv").open(newline="") as stream:
        summary = {row["measure"]: row for row in csv.DictReader(stream)}

    table = out[out.index("\nedges_ahead") :].splitlines()
    line = next(line.split() for line in table if " P@5 " in line)
    line = line[line.index("P@5") + 1 :]
    assert line[0] == f"{float(summary['P@5']['mean']):.4f}"
    assert line[5] == f"{float(summary['P@5']['ceiling']):.4f}"


def test_edges_of_what_is_ahead_find_more_than_chance_and_than_the_colours_of_the_whole_picture(
    demo: tuple[Path, str],
):
    folder, _ = demo

    def mean(name: str) -> tuple[float, float]:
        found = {
            row["measure"]: row
            for row in json.loads((folder / name / "summary.json").read_text())["rows"]
        }
        return found["nDCG@5"]["mean"], found["nDCG@5"]["chance"]

    colours, chance = mean("colours_and_shapes")
    ahead, _ = mean("edges_ahead")
    assert colours < chance < ahead


def test_items_hold_a_picture_of_every_first_result_and_of_every_query(demo: tuple[Path, str]):
    folder, _ = demo

    place = folder / "edges_ahead"
    items = rows(place / "items.parquet")

    shown = {
        row["item"]
        for row in rows(place / "details.parquet")
        if row["rank"] is not None and row["rank"] <= 20
    }
    queries = {row["query"] for row in rows(place / "queries.parquet")}
    assert {row["item"] for row in items} == shown | queries
    assert len(items) == len(shown | queries)
    assert all(row["thumbnail"].startswith("data:image/jpeg;base64,") for row in items)
    assert {(row["width"], row["height"]) for row in items} == {(160, 90)}
    assert all(row["picture_item"] == row["query"] for row in rows(place / "queries.parquet"))
    assert "picture_item" not in rows(folder / "texts" / "queries.parquet")[0]


def test_the_annotations_that_ship_are_declared_and_name_clips_that_are_drawn(tmp_path: Path):
    made = prepare(tmp_path)
    schema = read_schema(made.schema)

    table = read_annotations(made.annotations, schema=schema)

    assert 24 <= len(table.clips) <= 40
    assert (table.undeclared, table.findings, table.empty) == ((), (), ())
    assert schema.vocabulary.shadowing == ()
    assert {path.name for path in made.clips.iterdir()} == set(table.clips)
    with made.annotations.open(newline="") as stream:
        assert next(csv.reader(stream)) == USUAL
    for query in read_text_queries(made.queries):
        assert query.keywords
        for keyword in query.keywords:
            assert table.find(keyword)


def test_every_object_and_behaviour_of_the_schema_is_drawn_in_several_clips(tmp_path: Path):
    made = prepare(tmp_path)

    table = read_annotations(made.annotations, schema=read_schema(made.schema))

    uses = dict(zip(table.keywords, table.uses.tolist(), strict=True))
    assert min(count for keyword, count in uses.items() if keyword.group.startswith("pv_")) >= 2


def scene(
    name: str = "x",
    objects: str = "bicyclist",
    behaviours: str = "stationary",
    places: str = "urban, daytime",
) -> Scene:
    labels = {"pv_object_type": objects, "pv_actor_behavior": behaviours, "scene_type": places}
    return Scene(name, {group: cell.split(", ") for group, cell in labels.items()})


def test_a_clip_moves_and_shows_the_middle_frame(tmp_path: Path):
    drawn = scene(behaviours="straight crossing path")
    (tmp_path / "x.gif").write_bytes(draw_clip(drawn))

    with Image.open(tmp_path / "x.gif") as film:
        assert (film.n_frames, film.size) == (5, (WIDTH, HEIGHT))
    middle, shown = (
        np.asarray(draw_frame(drawn)).astype(int),
        np.asarray(read_picture(tmp_path / "x.gif")).astype(int),
    )
    early = np.asarray(draw_frame(drawn, -1.0)).astype(int)
    assert np.abs(middle - shown).mean() < 4
    assert np.abs(middle - early).mean() > np.abs(middle - shown).mean()


@pytest.mark.parametrize(
    "kind",
    [
        "bicyclist",
        "motorcyclist",
        "pedestrian",
        "small vehicle",
        "large vehicle",
        "stationary object",
    ],
)
@pytest.mark.parametrize(
    "behaviour",
    [
        "entering ego path",
        "straight crossing path",
        "traveling in opposite direction",
        "stationary",
    ],
)
def test_everybody_is_seen_whatever_they_do(kind: str, behaviour: str):
    empty = Scene("x", {"scene_type": ["urban", "daytime"]})

    changed = np.any(
        np.asarray(draw_frame(scene(objects=kind, behaviours=behaviour)))
        != np.asarray(draw_frame(empty)),
        axis=2,
    )

    assert 0.002 < changed.mean() < 0.25


@pytest.mark.parametrize(
    "label",
    [
        "nighttime",
        "rainy",
        "overcast",
        "sunny",
        "highway",
        "intersection",
        "crosswalk",
        "bridge/tunnel",
        "curved road",
    ],
)
def test_place_light_and_weather_are_seen(label: str):
    plain, changed = (
        np.asarray(draw_frame(Scene("x", {"scene_type": labels}))).astype(int)
        for labels in (["a"], [label])
    )

    assert np.abs(plain - changed).mean() > 0.3
    if label == "nighttime":
        assert changed.mean() < plain.mean() / 2


def test_what_is_not_annotated_comes_from_the_name_alone():
    assert draw_clip(scene("a")) == draw_clip(scene("a"))
    assert draw_clip(scene("a")) != draw_clip(scene("b"))


def test_an_object_that_cannot_be_drawn_is_named():
    with pytest.raises(BadInput, match=r"scene 'x': 'tram' cannot be drawn"):
        draw_frame(scene(objects="tram"))


def test_the_scenes_are_those_of_the_table():
    scenes = read_scenes()

    assert len({each.id for each in scenes}) == len(scenes) == 36
    assert all(each.labels["pv_object_type"] for each in scenes)


def test_a_histogram_counts_colours_wherever_they_are():
    image = Image.new("RGB", (4, 4), (255, 0, 0))
    image.paste((0, 0, 255), (0, 0, 4, 1))
    turned = image.transpose(Image.Transpose.ROTATE_180)

    found = colour_histogram(image, bins=2)

    # Cells count red, green, blue as binary digits: 0b100 holds 12 of 16 pixels, 0b001 the other 4.
    wanted = [0, (4 / 16) ** 0.5, 0, 0, (12 / 16) ** 0.5, 0, 0, 0]
    assert found.tolist() == pytest.approx(wanted)
    assert colour_histogram(turned, bins=2).tolist() == found.tolist()


def test_a_small_grey_picture_does_not_change_with_brightness_and_contrast():
    values = np.arange(144, dtype=np.uint8).reshape(9, 16)
    picture, darker = Image.fromarray(values), Image.fromarray(values // 2 + 20)

    assert float(np.linalg.norm(small_grey(picture))) == pytest.approx(1)
    assert float(small_grey(picture) @ small_grey(darker)) > 0.999
    assert float(
        small_grey(picture) @ small_grey(picture.transpose(Image.Transpose.ROTATE_180))
    ) == pytest.approx(-1, abs=1e-5)
    assert not small_grey(Image.new("L", (30, 30), 77)).any()


def test_vectors_have_one_length_and_come_in_order():
    images = [Image.effect_noise((40, 30), 60).convert("RGB") for _ in range(3)]

    both = colours_and_shapes(images)

    assert both.shape == (3, 64 + 144)
    assert np.linalg.norm(both, axis=1).tolist() == pytest.approx([1, 1, 1])
    assert both[1].tolist() == colours_and_shapes(images[1:2])[0].tolist()
    assert colours_and_shapes([]).shape == (0, 64 + 144)


def test_edges_look_at_their_part_of_the_picture_only():
    image = Image.new("RGB", (100, 100), "grey")
    image.paste("white", (80, 80, 90, 90))

    assert not edges([image], part=(0.2, 0.2, 0.7, 0.7)).any()
    assert float(np.linalg.norm(edges([image], part=(0.6, 0.6, 1, 1)))) == pytest.approx(1)
