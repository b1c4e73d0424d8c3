"""Contact sheets: what is drawn where, in which colours, and that nothing about the input can break
them.
"""

import base64
import io
import json
import os
import re
import subprocess
import sys
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from rankwell.vectors.media.contact_sheet import (
    COLOURS,
    Letters,
    Sheet,
    Tile,
    draw_sheet,
    picture_columns,
    pictured,
    sheets_of,
    write_sheets,
)
from rankwell.vectors.media.images import Thumbnails, read_picture

GREEN, RED, BLUE = ((*bytes.fromhex(COLOURS[name][1:]),) for name in ("right", "wrong", "query"))
LONG = (
    "a_very_long_identifier/without any/blank_2024-05-17T12-33-01Z_front_wide_"
    + "x" * 200
    + "_clip00017.mp4"
)


def picture(colour: str = "#c0a0e0", size: tuple[int, int] = (160, 120)) -> Image.Image:
    return Image.new("RGB", size, colour)


def tile(rank: int, state: str = "right", **changes) -> Tile:
    return Tile(f"clip_{rank}.mp4", state, picture(), rank=rank, score=1 - rank / 20)._replace(
        **changes
    )


def sheet(*tiles: Tile, **changes) -> Sheet:
    return Sheet(**({"name": "q", "title": "cyclist entering ego lane", "tiles": tiles} | changes))


def drawn(made: Sheet, **options) -> np.ndarray:
    """(height, width, 3) the pixels of the sheet."""
    return np.asarray(Image.open(io.BytesIO(draw_sheet(made, **options))).convert("RGB"))


def frames(pixels: np.ndarray, colour: tuple[int, int, int]) -> list[tuple[int, int]]:
    """Where a row of at least 100 pixels of one colour begins, first seen from above: x and y of
    frames' upper edges.
    """
    same = (pixels == colour).all(axis=2)
    found: list[tuple[int, int]] = []
    for y in np.flatnonzero(same.sum(axis=1) >= 100).tolist():
        edges = np.flatnonzero(np.diff(np.concatenate(([0], same[y].view(np.int8), [0]))))
        for start, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            if stop - start >= 100 and not any(x == start and y - top < 12 for x, top in found):
                found.append((start, y))
    return found


def tops(pixels: np.ndarray, colour: tuple[int, int, int]) -> list[tuple[int, int]]:
    """Upper edges alone: a frame has a lower one, too."""
    found = frames(pixels, colour)
    return [
        each
        for place, each in enumerate(found)
        if sum(other[0] == each[0] for other in found[:place]) % 2 == 0
    ]


def test_the_query_comes_first_and_results_follow_in_order_with_their_colours():
    made = sheet(tile(1), tile(2, "wrong"), tile(3), query=Tile("q.mp4", "query", picture()))

    pixels = drawn(made, scale=1)

    (query,), right, (wrong,) = tops(pixels, BLUE), tops(pixels, GREEN), tops(pixels, RED)
    assert query[0] < right[0][0] < wrong[0] < right[1][0]
    assert {y for _, y in (query, *right, wrong)} == {query[1]}


def test_right_and_wrong_differ_in_shape_as_well_as_in_colour():
    """The words and marks are told apart with all colour taken away."""

    def marks(state: str) -> np.ndarray:
        pixels = drawn(sheet(tile(1, state)), scale=2)
        below = pixels[pixels.shape[0] // 2 :]
        return (below.astype(int).sum(axis=2) < 500).astype(int)

    right, wrong = marks("right"), marks("wrong")

    assert right.shape == wrong.shape
    assert np.abs(right - wrong).sum() > 200


@pytest.mark.parametrize("count", [0, 1, 5, 10])
@pytest.mark.parametrize("asked", [True, False])
def test_every_result_has_its_place(count: int, asked: bool):
    query = Tile("q.mp4", "query", picture()) if asked else None
    made = sheet(*(tile(rank) for rank in range(1, count + 1)), query=query)

    pixels = drawn(made, scale=1)

    found = tops(pixels, GREEN)
    assert pixels.shape[1] == 1200
    assert len(found) == count
    assert len(tops(pixels, BLUE)) == asked
    assert found == sorted(found, key=lambda place: (place[1], place[0]))


def test_ten_results_fill_even_rows():
    rows = [
        y for _, y in tops(drawn(sheet(*(tile(rank) for rank in range(1, 11))), scale=1), GREEN)
    ]

    assert sorted(map(rows.count, set(rows))) == [5, 5]


def test_the_same_sheet_is_drawn_to_the_same_bytes():
    made = sheet(
        tile(1, found=("bicyclist",), missing=("entering ego path",)),
        tile(2, "wrong", picture=None),
    )

    assert draw_sheet(made) == draw_sheet(made)
    code = (
        "import sys; sys.path.insert(0, 'tests/vectors'); from test_contact_sheet import *; "
        "import hashlib;"
        "print(hashlib.sha256(draw_sheet(sheet(tile(1), tile(2, 'wrong')))).hexdigest())"
    )
    root = Path(__file__).parents[2]
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


def test_text_stands_out_from_the_ground():
    """WCAG's contrast of at least 4.5 between text and ground, for every colour that writes."""

    def light(colour: str) -> float:
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        ]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for name in ("ink", "quiet", "right", "wrong", "unjudged", "query"):
        low, high = sorted((light(COLOURS["ground"]), light(COLOURS[name])))
        assert (high + 0.05) / (low + 0.05) >= 4.5, name


def test_sheets_have_the_palette_of_the_page():
    style = (files("rankwell.reporting.page") / "assets/base.css").read_text(encoding="utf-8")
    page = dict(re.findall(r"--([\w-]+): light-dark\((#\w{6}),", style))
    names = {"ground": "ground", "card": "faint", "ink": "ink", "quiet": "quiet", "query": "accent"}
    names |= {"right": "good", "wrong": "bad", "unjudged": "unknown"}

    assert {name: page[variable] for name, variable in names.items()} == COLOURS


def test_a_picture_that_is_missing_leaves_a_placeholder_of_the_same_size():
    whole, lacking = (
        drawn(sheet(tile(1), tile(2)), scale=1),
        drawn(sheet(tile(1), tile(2, picture=None)), scale=1),
    )

    assert whole.shape == lacking.shape
    assert tops(whole, GREEN) == tops(lacking, GREEN)
    assert not np.array_equal(whole, lacking)


def test_pictures_of_odd_shapes_stay_inside_their_frames():
    shapes = [(1, 1), (4000, 3), (3, 4000), (640, 480)]
    made = sheet(
        *(tile(rank, picture=picture("#ff00ff", size)) for rank, size in enumerate(shapes, 1))
    )

    pixels = drawn(made, scale=1)

    places = tops(pixels, GREEN)
    shown = np.argwhere((pixels == (255, 0, 255)).all(axis=2))
    assert len(places) == 4
    assert len(shown) > 0
    assert shown[:, 1].min() > places[0][0] + 3
    assert shown[:, 0].min() > places[0][1] + 3


@pytest.mark.parametrize(
    "text",
    [
        LONG,
        "x" * 500,
        "文書_1.mp4",
        "\u202eevil\n\t\x00",
        "odd\udcff.mp4",
        "",
        " ",
        "e\u0301",
        "ʬ" * 80,
        "a b " * 100,
    ],
    ids=[
        "long",
        "without blanks",
        "chinese",
        "control",
        "bytes",
        "empty",
        "blank",
        "accent",
        "unknown",
        "blanks",
    ],
)
def test_no_text_breaks_a_sheet_or_leaves_its_tile(text: str):
    made = sheet(
        tile(1, item=text, label=text, found=(text,), missing=(text,), note=text),
        tile(2),
        title=text,
        lines=(text,),
        name=text,
    )

    pixels = drawn(made, scale=1)

    margin = pixels[:, -8:]
    assert (margin == 255).all()
    assert pixels.shape[0] < 2500


def test_more_keywords_than_fit_are_counted():
    few = drawn(sheet(tile(1, missing=tuple(f"keyword {place}" for place in range(7)))), scale=1)
    many = drawn(sheet(tile(1, missing=tuple(f"keyword {place}" for place in range(60)))), scale=1)

    assert few.shape == many.shape


def test_dots_stand_where_ranks_are_left_out():
    following, later = (
        drawn(sheet(tile(1, "wrong"), tile(2)._replace(rank=rank)), scale=1) for rank in (2, 17)
    )
    (x, top), *_ = tops(following, GREEN)

    assert (following[top : top + 100, x - 12 : x - 2] == 255).all()
    assert not (later[top : top + 100, x - 12 : x - 2] == 255).all()


@pytest.mark.parametrize("width", [60, 90, 150, 400])
@pytest.mark.parametrize("lines", [1, 2, 3])
@pytest.mark.parametrize(
    "text", [LONG, "traveling in opposite direction", "a", "", "urban_cyclist_crossing_001.mp4"]
)
def test_wrapped_text_fits_and_keeps_both_ends(text: str, width: int, lines: int):
    letters = Letters(13)

    broken = letters.wrap(text, width, lines=lines)

    assert 1 <= len(broken) <= lines
    assert all(letters.width(line) <= width for line in broken)
    joined = "".join(broken).replace(" ", "")
    start, _, end = joined.partition("…")
    plain = text.replace(" ", "")
    assert plain.startswith(start)
    assert plain.endswith(end)
    assert "…" in joined or joined == plain


def test_text_breaks_at_blanks_before_signs_and_at_signs_before_letters():
    letters = Letters(13)

    assert letters.wrap(
        "traveling in opposite direction", letters.width("traveling in opposite d")
    ) == ["traveling in opposite", "direction"]
    assert letters.wrap("urban_cyclist_001.mp4", letters.width("urban_cyclist_001.m")) == [
        "urban_cyclist_",
        "001.mp4",
    ]


@pytest.mark.parametrize(
    ("text", "signs"),
    [
        ("Fußgänger", "Fussganger"),
        ("café", "cafe"),
        ("文", "\\u6587"),
        ("a\u202eb", "a\\u202eb"),
        ("\udcff", "\\udcff"),
        ("–", "-"),
        ("\n", "\\n"),
    ],
)
def test_letters_that_the_font_lacks_are_put_together_or_escaped(text: str, signs: str):
    assert Letters(13).line(text)[0] == signs


def test_letters_with_accents_are_not_those_without():
    def written(text: str) -> bytes:
        return draw_sheet(sheet(tile(1, item=text)), scale=2)

    assert len({written(text) for text in ("cafe", "café", "cafè", "cafê", "cafë")}) == 5


DETAILS = {
    "run": ["m"] * 6,
    "query": ["q.png"] * 5 + ["cyclist at night"],
    "item": ["q.png", "a", "b", "c", "d", "a"],
    "rank": [None, 1.0, 2.0, 7.0, None, 1.0],
    "score": [1.0, 0.9, 0.8, 0.2, None, float("nan")],
    "grade": [None, 0.0, 1.0, 1.0, 1.0, None],
    "state": ["junk", "nonrelevant", "relevant", "relevant", "relevant", "unjudged"],
    "detail": [
        None,
        json.dumps(
            {
                "match": "Partial match (1/2 keywords)",
                "groups": {
                    "o": {"found": ["bike"], "missing": []},
                    "b": {"found": [], "missing": ["enters"]},
                },
            }
        ),
        json.dumps(
            {
                "groups": {
                    "o": {"found": ["bike"], "missing": []},
                    "b": {"found": ["enters"], "missing": []},
                },
                "reasons": ["below_threshold"],
            }
        ),
        json.dumps({"found": ["bike", "enters"], "label": "drive 7"}),
        json.dumps({}),
        None,
    ],
}


@pytest.fixture
def pictures(tmp_path: Path) -> Thumbnails:
    for place, name in enumerate(("q", "a", "c")):
        picture(f"#{place}0a0e0").save(tmp_path / f"{name}.png")
    files = {
        "q.png": tmp_path / "q.png",
        "a": tmp_path / "a.png",
        "c": tmp_path / "c.png",
        "b": tmp_path / "gone.png",
    }
    return Thumbnails(files)


def test_details_become_a_sheet_per_query_with_the_first_right_result_at_its_end(
    pictures: Thumbnails,
):
    first, second = sheets_of(
        DETAILS,
        pictures,
        first=2,
        lines={("m", "q.png"): ("Recall@5 0.2",)},
        titles={"q.png": "what"},
    )

    assert (first.name, first.title) == ("q.png", "what")
    assert first.lines == (
        "Recall@5 0.2",
        "asks for bike, enters",
        "0 of the first 2 right · 3 relevant · the first right one at rank 7",
    )
    assert first.query is not None
    assert (first.query.item, first.query.picture is not None) == ("q.png", True)
    assert [
        (each.item, each.rank, each.state, each.found, each.missing) for each in first.tiles
    ] == [
        ("a", 1, "wrong", ("bike",), ("enters",)),
        ("b", 2, "wrong", ("bike", "enters"), ()),
        ("c", 7, "right", ("bike", "enters"), ()),
    ]
    assert [each.note for each in first.tiles] == [
        "Partial match (1/2 keywords)",
        "below the threshold",
        "the first right one",
    ]
    assert [each.problem for each in first.tiles if each.picture is None] == ["no file"]
    assert first.tiles[2].label == "drive 7"
    assert (second.title, second.query, [each.state for each in second.tiles]) == (
        "cyclist at night",
        None,
        ["unjudged"],
    )
    assert second.tiles[0].score is None


def test_queries_are_drawn_in_the_requested_order(pictures: Thumbnails):
    wanted = [("m", "cyclist at night"), ("m", "unknown"), ("m", "q.png")]

    assert [each.name for each in sheets_of(DETAILS, pictures, queries=wanted)] == [
        "cyclist at night",
        "unknown",
        "q.png",
    ]


def test_a_query_that_is_a_clip_without_a_file_has_a_placeholder(tmp_path: Path):
    first, second = sheets_of(DETAILS, Thumbnails({}))

    assert first.query is not None
    assert (first.query.picture, first.query.problem) == (None, "no file")
    assert second.query is None


def shown_in(source: str) -> Image.Image:
    """The picture that a `data:` address holds."""
    kind, _, text = source.partition(",")
    assert kind == "data:image/jpeg;base64"
    return Image.open(io.BytesIO(base64.b64decode(text)))


def test_the_pictures_of_first_results_and_of_queries_are_kept_once_each(
    pictures: Thumbnails, tmp_path: Path
):
    picture(size=(400, 200)).save(tmp_path / "c.png")
    shuffled = {
        name: [column[place] for place in (5, 3, 0, 2, 4, 1)] for name, column in DETAILS.items()
    }

    found = picture_columns(shuffled, pictures, queries=["q.png", "cyclist at night"], first=1)

    # b has rank 2; c, rank 7, is the first right result; d was not retrieved.
    assert found["item"] == ["a", "c", "q.png"]
    sizes = list(zip(found["width"], found["height"], strict=True))
    assert [shown_in(source).size for source in found["thumbnail"]] == sizes
    assert sizes == [(160, 120), (160, 80), (160, 120)]
    assert found["problem"] == [None, None, None]
    assert found == picture_columns(DETAILS, pictures, queries=["q.png"], first=1)


def test_an_item_without_a_picture_has_the_reason(pictures: Thumbnails):
    found = picture_columns(DETAILS, pictures, first=2)

    place = found["item"].index("b")
    assert [found[name][place] for name in ("thumbnail", "width", "height", "problem")] == [
        None,
        None,
        None,
        "no file",
    ]


def test_a_query_is_shown_by_its_own_picture_where_it_has_one(pictures: Thumbnails):
    queries = {"query": ["q.png", "b", "cyclist at night"]}

    items = picture_columns(DETAILS, pictures, queries=queries["query"])

    assert pictured(queries, items) == {**queries, "picture_item": ["q.png", None, None]}


def test_files_are_called_by_place_and_query(tmp_path: Path):
    names = ["car 1.mp4", "../../etc/passwd", "文書", "a" * 300, ""]

    paths = write_sheets(tmp_path / "sheets", (sheet(tile(1), name=name) for name in names))

    assert [path.name for path in paths] == [
        "001_car_1.mp4.png",
        "002_etc_passwd.png",
        "003.png",
        f"004_{'a' * 80}.png",
        "005.png",
    ]
    assert {path.parent for path in paths} == {tmp_path / "sheets"}
    assert {read_picture(path).width for path in paths} == {2400}


def test_sheets_are_made_one_by_one(tmp_path: Path):
    seen: list[int] = []

    def made():
        for rank in range(1, 4):
            seen.append(len(list(tmp_path.glob("*.png"))))
            yield sheet(tile(rank))

    write_sheets(tmp_path, made())

    assert all(after - before == 1 for before, after in pairwise(seen))
