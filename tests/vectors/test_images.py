"""Pictures of every kind come out upright and in RGB; files that are none say so by name."""

import base64
import io
import struct
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, TiffImagePlugin

from make import touch
from rankwell.errors import BadInput, MissingExtra
from rankwell.vectors.media.images import Thumbnails, data_uri, list_media, locate, read_picture

RED, GREEN, BLUE, WHITE = (200, 30, 20), (20, 160, 40), (30, 40, 200), (255, 255, 255)


def quarters(mode: str = "RGB") -> Image.Image:
    """64 × 32: red upper left, green upper right, blue lower left, white lower right."""
    image = Image.new("RGB", (64, 32))
    for place, colour in zip(
        [(0, 0), (32, 0), (0, 16), (32, 16)], [RED, GREEN, BLUE, WHITE], strict=True
    ):
        image.paste(colour, (*place, place[0] + 32, place[1] + 16))
    return image.convert(mode)


def corners(image: Image.Image) -> list[tuple[int, ...]]:
    """The colours at upper left, upper right, lower left and lower right."""
    x, y = image.width - 4, image.height - 4
    return [image.getpixel(place) for place in [(3, 3), (x, 3), (3, y), (x, y)]]


def close(found: list[tuple[int, ...]], wanted: list[tuple[int, ...]], within: int = 12) -> bool:
    return int(np.abs(np.array(found) - np.array(wanted)).max()) <= within


# Which way a camera stored the upright picture, by the number that EXIF gives it (CIPA DC-008, tag
# Orientation).
STORED = {
    1: None,
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_90,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}


@pytest.mark.parametrize("orientation", STORED)
@pytest.mark.parametrize("longest", [None, 40])
def test_a_picture_is_turned_the_way_it_was_taken(
    tmp_path: Path, orientation: int, longest: int | None
):
    stored = (
        quarters() if STORED[orientation] is None else quarters().transpose(STORED[orientation])
    )
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored.save(tmp_path / "a.jpg", quality=95, subsampling=0, exif=exif)

    image = read_picture(tmp_path / "a.jpg", longest=longest)

    assert (image.mode, image.size) == ("RGB", (64, 32) if longest is None else (40, 20))
    assert close(corners(image), [RED, GREEN, BLUE, WHITE])


@pytest.mark.parametrize(
    ("name", "mode", "within"),
    [
        ("a.png", "RGB", 0),
        ("a.png", "P", 60),
        ("a.bmp", "RGB", 0),
        ("a.webp", "RGB", 12),
        ("a.avif", "RGB", 16),
        ("a.tif", "RGB", 0),
        ("a.tif", "CMYK", 2),
        ("a.jpg", "CMYK", 12),
        ("a.ppm", "RGB", 0),
        ("a.gif", "P", 60),
        ("a.jp2", "RGB", 12),
        ("named.mp4", "RGB", 0),
    ],
)
def test_every_common_kind_becomes_rgb(tmp_path: Path, name: str, mode: str, within: int):
    kind = "PNG" if name == "named.mp4" else None
    quarters(mode).save(
        tmp_path / name, format=kind, **({"quality": 95} if name.endswith(("webp", "avif")) else {})
    )

    image = read_picture(tmp_path / name)

    assert (image.mode, image.size) == ("RGB", (64, 32))
    assert close(corners(image), [RED, GREEN, BLUE, WHITE], within)


def test_what_is_transparent_stands_on_white(tmp_path: Path):
    image = quarters("RGBA")
    image.putalpha(Image.new("L", image.size, 0))
    image.paste((*BLUE, 255), (0, 16, 32, 32))
    image.save(tmp_path / "a.png")
    palette = quarters("P")
    palette.info["transparency"] = palette.getpixel((3, 3))
    palette.save(tmp_path / "p.png")

    assert corners(read_picture(tmp_path / "a.png")) == [WHITE, WHITE, BLUE, WHITE]
    assert corners(read_picture(tmp_path / "p.png"))[0] == WHITE


def test_grey_of_16_bits_keeps_its_brightness(tmp_path: Path):
    values = np.repeat(np.array([[0, 0x3FFF, 0x80FF, 0xFFFF]], dtype=np.uint16), 8, axis=0)
    Image.fromarray(values).save(tmp_path / "a.png")
    Image.fromarray(values).save(tmp_path / "a.tif")
    (tmp_path / "a.pgm").write_bytes(b"P5 4 8 65535\n" + values.astype(">u2").tobytes())

    for name in ("a.png", "a.tif", "a.pgm"):
        image = read_picture(tmp_path / name)
        assert [image.getpixel((x, 4)) for x in range(4)] == [
            (0,) * 3,
            (0x3F,) * 3,
            (0x80,) * 3,
            (0xFF,) * 3,
        ]


def test_floats_are_stretched_from_least_to_largest(tmp_path: Path):
    Image.fromarray(np.array([[-1.0, 0.0, 1.0, np.nan]] * 4, dtype=np.float32)).save(
        tmp_path / "a.tif"
    )

    image = read_picture(tmp_path / "a.tif")

    assert [image.getpixel((x, 0))[0] for x in range(4)] == [0, 128, 255, 0]


@pytest.mark.parametrize(("frames", "middle"), [(1, 0), (2, 1), (3, 1), (4, 2), (7, 3)])
@pytest.mark.parametrize("kind", ["gif", "webp", "png"])
def test_the_middle_frame_of_a_moving_picture_is_shown(
    tmp_path: Path, kind: str, frames: int, middle: int
):
    drawn = [
        Image.new("RGB", (16, 16), (30 * place, 0, 255 - 30 * place)) for place in range(frames)
    ]
    drawn[0].save(
        tmp_path / f"a.{kind}",
        save_all=True,
        append_images=drawn[1:],
        duration=100,
        **({"lossless": True} if kind == "webp" else {}),
    )

    assert close(
        [read_picture(tmp_path / f"a.{kind}").getpixel((8, 8))], [drawn[middle].getpixel((8, 8))], 3
    )


def write_video(path: Path, frames: int, codec: str = "mp4v") -> None:
    cv2 = pytest.importorskip("cv2", exc_type=ImportError)
    film = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*codec), 10, (64, 48))
    for place in range(frames):
        film.write(np.full((48, 64, 3), (0, 0, 20 * place), np.uint8))
    film.release()


@pytest.mark.parametrize(
    ("name", "codec"),
    [("a.mp4", "mp4v"), ("a.avi", "MJPG"), ("a.mkv", "mp4v"), ("no_ending", "mp4v")],
)
@pytest.mark.parametrize("frames", [1, 9, 10])
def test_the_middle_frame_of_a_video_is_shown_in_its_colours(
    tmp_path: Path, name: str, codec: str, frames: int
):
    made = tmp_path / ("film.mp4" if name == "no_ending" else name)
    write_video(made, frames, codec)
    made.rename(tmp_path / name)

    image = read_picture(tmp_path / name, longest=32)

    assert (image.mode, image.size) == ("RGB", (32, 24))
    assert close([image.getpixel((16, 12))], [(20 * (frames // 2), 0, 0)], 8)


def test_a_video_that_cannot_tell_its_length_is_counted(tmp_path: Path, monkeypatch):
    write_video(tmp_path / "a.mp4", 9)
    from rankwell.vectors.media import images

    monkeypatch.setattr(images, "_jump", lambda opencv, path: None)

    assert close([read_picture(tmp_path / "a.mp4").getpixel((16, 12))], [(80, 0, 0)], 8)


def test_a_broken_video_is_named_and_nothing_else_is_printed(tmp_path: Path, capfd):
    write_video(tmp_path / "whole.mp4", 9)
    (tmp_path / "a.mp4").write_bytes((tmp_path / "whole.mp4").read_bytes()[:600])
    capfd.readouterr()

    with pytest.raises(BadInput, match=r"a\.mp4: no frame of this video can be read"):
        read_picture(tmp_path / "a.mp4")
    assert capfd.readouterr() == ("", "")


def test_a_video_without_opencv_says_what_to_install(tmp_path: Path, monkeypatch):
    (tmp_path / "a.mp4").write_bytes(b"\x00\x00\x00\x1cftypisom" + bytes(100))
    monkeypatch.setitem(sys.modules, "cv2", None)

    with pytest.raises(MissingExtra, match=r"a\.mp4 is a video.*pip install 'rankwell\[vision\]'"):
        read_picture(tmp_path / "a.mp4")


def png() -> bytes:
    stream = io.BytesIO()
    Image.effect_noise((64, 64), 50).save(stream, "PNG")
    return stream.getvalue()


def jpeg() -> bytes:
    stream = io.BytesIO()
    Image.effect_noise((64, 64), 50).convert("RGB").save(stream, "JPEG")
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (png()[:900], "the picture is damaged"),
        (png()[:40], "not a complete picture or video"),
        (jpeg()[:700], "the picture is damaged"),
        (b"slice_id,keywords\na,b\n", "not a complete picture or video"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", "not a complete picture or video"),
        (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        (b"\x00\x00\x00\x18ftypheic" + bytes(40), "HEIF"),
    ],
    ids=[
        "empty",
        "cut png",
        "png without pixels",
        "cut jpeg",
        "text",
        "program",
        "pointer",
        "heif",
    ],
)
def test_a_file_that_is_not_a_whole_picture_is_named(tmp_path: Path, content: bytes, said: str):
    (tmp_path / "odd.jpg").write_bytes(content)

    with pytest.raises(BadInput) as caught:
        read_picture(tmp_path / "odd.jpg")

    assert str(tmp_path / "odd.jpg") in str(caught.value)
    assert said in str(caught.value)


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path):
    with pytest.raises(BadInput, match=r"none\.jpg: no such file"):
        read_picture(tmp_path / "none.jpg")
    with pytest.raises(BadInput, match="is a folder"):
        read_picture(tmp_path)


def test_a_small_file_that_would_fill_the_memory_is_refused_before_it_does(tmp_path: Path):
    header = struct.pack(">IIBBBBB", 20_000, 20_000, 8, 2, 0, 0, 0)
    import zlib

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    bomb = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(1000)))
        + chunk(b"IEND", b"")
    )
    (tmp_path / "bomb.png").write_bytes(bomb)

    tracemalloc.start()
    with pytest.raises(BadInput, match=r"bomb\.png: more than 178,956,970 pixels.*raise PIL"):
        read_picture(tmp_path / "bomb.png")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000


def test_a_large_picture_is_read_without_a_warning(tmp_path: Path):
    Image.new("1", (12_000, 8_000)).save(tmp_path / "large.png")

    assert read_picture(tmp_path / "large.png", longest=100).size == (100, 67)


def test_broken_metadata_do_not_hide_a_picture(tmp_path: Path):
    quarters().save(
        tmp_path / "a.jpg", quality=95, exif=b"Exif\x00\x00MM\x00\x2a\xff\xff\xff\xff" + bytes(30)
    )

    assert read_picture(tmp_path / "a.jpg").size == (64, 32)


def test_the_first_page_of_a_tiff_is_the_picture(tmp_path: Path):
    with TiffImagePlugin.AppendingTiffWriter(str(tmp_path / "a.tif"), new=True) as pages:
        for colour in (RED, GREEN, BLUE):
            Image.new("RGB", (8, 8), colour).save(pages, "TIFF")
            pages.newFrame()

    assert read_picture(tmp_path / "a.tif").getpixel((4, 4)) == RED


def test_a_thumbnail_keeps_its_shape_and_never_grows(tmp_path: Path):
    Image.new("RGB", (400, 100)).save(tmp_path / "a.png")

    assert read_picture(tmp_path / "a.png", longest=100).size == (100, 25)
    assert read_picture(tmp_path / "a.png", longest=4000).size == (400, 100)


def test_a_data_address_holds_a_small_jpeg_and_leaves_the_picture_alone():
    image = quarters().resize((640, 320))

    address = data_uri(image, longest=80)

    kind, _, body = address.partition(",")
    assert kind == "data:image/jpeg;base64"
    shown = Image.open(io.BytesIO(base64.b64decode(body)))
    assert (shown.format, shown.size, image.size) == ("JPEG", (80, 40), (640, 320))
    assert data_uri(image, longest=80) == address


def test_media_are_listed_in_the_order_of_their_bytes_without_hidden_and_foreign_files(
    tmp_path: Path,
):
    touch(
        tmp_path, "b.mp4", "Z.JPG", "sub/a.gif", ".hidden.png", ".git/x.png", "notes.txt", "ä.png"
    )

    assert [path.relative_to(tmp_path).as_posix() for path in list_media(tmp_path)] == [
        "Z.JPG",
        "b.mp4",
        "sub/a.gif",
        "ä.png",
    ]
    with pytest.raises(BadInput, match="no such folder"):
        list_media(tmp_path / "none")


def test_an_id_finds_its_file_by_path_name_or_stem(tmp_path: Path):
    touch(tmp_path, "a.mp4", "sub/b.gif", "c.mp4", "c.jpg", "v1.2.mp4", "x/same.png", "y/same.png")
    ids = [
        "a.mp4",
        "a",
        "a.png",
        "sub/b.gif",
        "b",
        "sub/b",
        "c",
        "c.mp4",
        "c.gif",
        "v1.2",
        "x/same.png",
        "none",
        "",
        "../a.mp4",
        "v1",
    ]

    found = {
        name: path.relative_to(tmp_path).as_posix() for name, path in locate(ids, tmp_path).items()
    }

    assert found == {
        "a.mp4": "a.mp4",
        "a": "a.mp4",
        "a.png": "a.mp4",
        "sub/b.gif": "sub/b.gif",
        "b": "sub/b.gif",
        "sub/b": "sub/b.gif",
        "c": "c.jpg",
        "c.mp4": "c.mp4",
        "c.gif": "c.jpg",
        "v1.2": "v1.2.mp4",
        "x/same.png": "x/same.png",
    }


def test_files_of_two_folders_do_not_answer_to_one_id(tmp_path: Path):
    touch(tmp_path, "x/same.png", "y/same.png")

    with pytest.raises(BadInput, match=r"'same\.png' may be .*x/same\.png or .*y/same\.png"):
        locate(["same.png"], tmp_path)


def test_thumbnails_tell_what_cannot_be_read_and_go_on(tmp_path: Path):
    quarters().save(tmp_path / "good.png")
    (tmp_path / "bad.png").write_bytes(png()[:900])
    shown = Thumbnails(
        {name: tmp_path / f"{name}.png" for name in ("good", "bad", "gone")}, longest=32
    )

    found = {name: shown[name] for name in ("bad", "good", "gone", "unknown")}

    assert found["good"].image is not None
    assert found["good"].image.size == (32, 16)
    assert {name: each.problem for name, each in found.items()} == {
        "bad": "cannot be read",
        "good": "",
        "gone": "no file",
        "unknown": "no file",
    }
    assert list(shown.problems) == ["bad", "gone", "unknown"]
    assert str(tmp_path / "bad.png") in shown.problems["bad"]


def test_thumbnails_keep_a_few_and_read_the_others_again(tmp_path: Path):
    for name in "abc":
        quarters().save(tmp_path / f"{name}.png")
    shown = Thumbnails({name: tmp_path / f"{name}.png" for name in "abc"}, keep=2)

    first, second = shown["a"], shown["b"]
    assert shown["a"] is first
    shown["c"]
    assert shown["a"] is first
    assert shown["b"] is not second


def test_pictures_are_loaded_only_when_they_are_read():
    code = "import sys, rankwell.vectors.media.images; print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert not {"PIL", "cv2", "numpy"} & set(done.stdout.split("'"))


def test_photographs_of_a_corridor_are_read(shared: Path):
    places = list_media(shared / "vpr" / "corridor_images")

    assert places
    assert {read_picture(place, longest=80).mode for place in places[:8]} == {"RGB"}
