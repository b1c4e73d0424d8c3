"""Changes to valid content: of bytes, tokens, lines and structure, and of how it is compressed."""

import gzip
import json
import re
import struct
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import zstandard

HUGE = (
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "-9223372036854775809",
    "9" * 5000,
    "1e999",
    "-1e999",
)
NUMBERS = (
    *(
        *HUGE,
        "0",
        "-0",
        "-0.0",
        "1",
        "-1",
        "0.1",
        "1e22",
        "1e-400",
        "NaN",
        "nan",
        "inf",
        "Infinity",
        "1_000",
        "0x1F",
        "1.",
        ".5",
    ),
    *(
        "007",
        "+1",
        "1e5",
        "9007199254740993",
        "4294967296",
        "2147483648",
        "١",
        "true",
        "null",
        "None",
        "1,5",
        " 1 ",
        "--1",
        "1e",
    ),
)
LETTERS = (
    *(
        "\u2028",
        "\u0085",
        "\x0b",
        "\x0c",
        "\x1c",
        "\x1b[31m",
        "\x00",
        "\r",
        "\r\n",
        "\n",
        "\t",
        " ",
        "\u00a0",
        "\u202e",
        "\ufeff",
    ),
    *(
        "é",
        "文",
        "😀",
        "#",
        '"',
        "'",
        "\\",
        ",",
        ";",
        "|",
        "<b>",
        "$",
        "%s",
        "{",
        "}",
        "[",
        "]",
        ":",
        "/",
        "../",
        "=",
    ),
)
BYTES = (
    b"\xff",
    b"\xed\xa0\x80",
    b"\xc3",
    b"\x00",
    b"\x1a",
    b"\xef\xbb\xbf",
    b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd",
    b"PAR1",
    b"PK\x03\x04",
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_WORD = re.compile(r"\w+")


class Raw(str):
    """A text that stands in JSON as it is."""


class Pairs(list[Any]):
    """An object of JSON as its pairs, so that a key can be there twice."""


ODD = (
    *tuple(
        map(
            Raw,
            (
                "null",
                "true",
                "false",
                '""',
                '" "',
                "[]",
                "{}",
                "[[]]",
                "[null]",
                '{"a": 1}',
                '"1"',
                '"nan"',
                "NaN",
                *HUGE,
            ),
        )
    ),
    *tuple(
        map(
            Raw,
            (
                '"\\ud800"',
                '"\\udc80"',
                '"\\u0000"',
                '"\\u2028"',
                "Infinity",
                "0",
                "-1",
                "1.5",
                "-0.0",
                "[1, 2]",
                '["a", "a"]',
            ),
        )
    ),
    *(Raw('"' + "x" * 300 + '"'),),
)


def _deep(rng: Random) -> Raw:
    size, (left, right) = (
        rng.choice((10, 200, 900, 2_000, 100_000)),
        rng.choice((("[", "]"), ('{"a":', "}"), ('[{"a":', "}]"))),
    )
    return Raw(left * size + "1" + right * size)


def dump(value: Any) -> str:
    """JSON with keys that repeat and with parts that are not JSON."""
    if isinstance(value, Raw):
        return value
    if isinstance(value, Pairs):
        return (
            "{"
            + ", ".join(
                f"{each[0] if isinstance(each[0], Raw) else json.dumps(each[0])}: {dump(each[1])}"
                for each in value
            )
            + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(dump, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _places(value: Any, found: list[tuple[Any, int]]) -> list[tuple[Any, int]]:
    """Every container with the position of each thing in it."""
    if isinstance(value, list):
        for position, each in enumerate(value):
            found.append((value, position))
            _places(each[1] if isinstance(value, Pairs) else each, found)
    return found


def change_json(rng: Random, text: str) -> str:
    """JSON with some values, keys and parts changed."""
    tree = json.loads(text, object_pairs_hook=Pairs)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        places = _places(tree, [])
        if not places:
            break
        container, position = rng.choice(places)
        keyed, what = isinstance(container, Pairs), rng.randrange(10)
        value = container[position][1] if keyed else container[position]
        if what <= 3:
            value = rng.choice(ODD)
        elif what == 4:
            value = _deep(rng) if rng.random() < 0.2 else [value]
        elif what == 5:
            other, place = rng.choice(places)
            other = other[place][1] if isinstance(other, Pairs) else other[place]
            # A copy, for a container that is in itself has no end.
            value = deepcopy(other) if len(dump(other)) < 2000 else value
        elif what == 6 and isinstance(value, str):
            cut = rng.randint(0, len(value))
            value = Raw(
                json.dumps(
                    value[:cut] + rng.choice(LETTERS) + value[cut:], ensure_ascii=rng.random() < 0.5
                )
            )
        if what == 7:
            del container[position]
        elif what == 8:
            container.insert(rng.randint(0, len(container)), container[position])
        elif what == 9 and keyed:
            key = rng.choice(
                (
                    rng.choice([each[0] for each in container]),
                    Raw('"\\ud800"'),
                    rng.choice(LETTERS),
                    "",
                    "id",
                    "text",
                )
            )
            container[position] = (key, value)
        else:
            container[position] = (container[position][0], value) if keyed else value
    return dump(tree)


def change_text(rng: Random, text: str) -> str:
    """A text with tokens, characters and lines changed."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        what, lines = rng.randrange(12), text.split("\n")
        place, line = rng.randint(0, len(text)), rng.randrange(len(lines))
        if what <= 2 and (found := list(_NUMBER.finditer(text))):
            one = rng.choice(found)
            text = text[: one.start()] + rng.choice(NUMBERS) + text[one.end() :]
        elif what == 3 and (found := list(_WORD.finditer(text))):
            one = rng.choice(found)
            text = (
                text[: one.start()]
                + rng.choice((rng.choice(found)[0], "", "x" * 300))
                + text[one.end() :]
            )
        elif what <= 5:
            text = text[:place] + rng.choice(LETTERS) + text[place + rng.choice((0, 0, 1)) :]
        elif what == 6:
            lines.insert(
                rng.randint(0, len(lines)),
                rng.choice((lines[line], "", "#comment", " ", lines[0], ",", "\r")),
            )
            text = "\n".join(lines)
        elif what == 7:
            del lines[line]
            text = "\n".join(lines)
        elif what == 8:
            other = rng.randrange(len(lines))
            lines[line], lines[other] = lines[other], lines[line]
            text = "\n".join(lines)
        elif what == 9:
            text = rng.choice(
                (
                    text.replace("\n", "\r\n"),
                    text.replace("\n", "\r"),
                    text.rstrip("\n"),
                    "\ufeff" + text,
                    "\n" + text,
                )
            )
        elif what == 10:
            text = text.replace(
                rng.choice(',;\t| "'),
                rng.choice((",", ";", "\t", "|", "  ", '"', "")),
                rng.choice((1, 1, -1)),
            )
        else:
            text = (
                text[:place]
                + rng.choice(("x" * 70_000, "[" * 5_000, "-" * 5_000, text[:place]))
                + text[place:]
            )
    return text


def change_bytes(rng: Random, raw: bytes, head: int | None = None) -> bytes:
    """Bytes with some changed. head: where most changes are made, as the rest is numbers."""
    data = bytearray(raw)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        place = rng.randint(
            0, min(len(data), head or len(data)) if rng.random() < 0.7 else len(data)
        )
        stop, what = place + rng.choice((1, 1, 2, 4, 8)), rng.randrange(8)
        if what == 0:
            data[place:] = b""
        elif what == 1:
            data[place:place] = rng.choice((*BYTES, rng.randbytes(4)))
        elif what == 2:
            data[place:stop] = b""
        elif what == 3:
            data[place:stop] = rng.randbytes(stop - place)
        elif what == 4:
            number = rng.choice((0, 1, 2**31 - 1, 2**31, 2**32 - 1, 255, 65_535, 10))
            data[place - place % 4 : place - place % 4 + 4] = struct.pack("<I", number)
        elif what == 5:
            number = rng.choice((0, 1, 2**63 - 1, 2**63, 2**64 - 1, 2**40))
            data[place - place % 8 : place - place % 8 + 8] = struct.pack("<Q", number)
        elif what == 6 and place < len(data):
            data[place] ^= 1 << rng.randrange(8)
        else:
            data += rng.choice((b"\x00", b"\n", rng.randbytes(8), bytes(data[:place])))
    return bytes(data)


def _packed(rng: Random, raw: bytes) -> bytes:
    """Content that is compressed, not always as it should be."""
    pack: Callable[[bytes], bytes] = rng.choice((gzip.compress, zstandard.compress))
    data = pack(raw)
    how = rng.randrange(5)
    if how == 0:
        return data[: rng.randint(0, len(data))]
    if how == 1:
        cut = rng.randint(0, len(raw))
        return pack(raw[:cut]) + pack(raw[cut:])
    if how == 2:
        return change_bytes(rng, data)
    return pack(data) if how == 3 else data


def text_file(rng: Random, path: Path) -> Path:
    """Changes a file of text or JSON in place; one time in eight it stays as it is, or is only
    compressed.
    """
    raw = path.read_bytes()
    if rng.random() > 0.12:
        text = raw.decode("utf-8", "surrogateescape")
        kind = rng.random()
        if kind < 0.15:
            raw = change_bytes(rng, raw)
        elif kind < 0.6 and text[:1] in "{[" and _is_json(text):
            raw = change_json(rng, text).encode("utf-8", "surrogateescape")
        elif kind < 0.6 and text[:1] == "{":
            lines = [line for line in text.split("\n") if line]
            place = rng.randrange(len(lines))
            lines[place] = change_json(rng, lines[place])
            raw = ("\n".join(lines) + "\n").encode("utf-8", "surrogateescape")
        else:
            raw = change_text(rng, text).encode("utf-8", "surrogateescape")
    if rng.random() < 0.08:
        raw = _packed(rng, raw)
    path.write_bytes(raw)
    return path


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def binary_file(rng: Random, path: Path) -> Path:
    """Changes a file of arrays in place, most often in its first bytes."""
    raw = path.read_bytes()
    if rng.random() > 0.12:
        if raw.startswith(b"\x93NUMPY") and rng.random() < 0.6:
            raw = _change_npy_header(rng, raw)
        elif raw[8:9] == b"{" and rng.random() < 0.7:
            size = struct.unpack("<Q", raw[:8])[0]
            header = change_json(rng, raw[8 : 8 + size].decode()).encode("utf-8", "surrogateescape")
            raw = struct.pack("<Q", len(header)) + header + raw[8 + size :]
        else:
            raw = change_bytes(rng, raw, rng.choice((16, 128, 4096)))
    if rng.random() < 0.04:
        raw = _packed(rng, raw)
    path.write_bytes(raw)
    return path


_SHAPES = (
    "(-3,-4)",
    "(True,12)",
    "(3,)",
    "()",
    "(9223372036854775807, 2)",
    "(2**63,)",
    "(3, 4, 5)",
    "(1e3,)",
    "(0, 4)",
    "[3, 4]",
    "(" * 300,
)


def _change_npy_header(rng: Random, raw: bytes) -> bytes:
    """An array's file with another header, padded or not as it should be."""
    size = struct.unpack("<H", raw[8:10])[0]
    header = raw[10 : 10 + size].decode("latin-1")
    if rng.random() < 0.5:
        header = re.sub(r"\([^)]*\)", lambda _: rng.choice(_SHAPES), header)
    else:
        header = rng.choice(
            (
                change_text(rng, header),
                header.replace("}", ""),
                "  " + header,
                header.replace(
                    "<f4",
                    rng.choice(
                        (
                            "<f8",
                            ">f4",
                            "O",
                            "V4",
                            "<M8[s]",
                            "<U3",
                            "|b1",
                            "<c8",
                            "<f2",
                            "x",
                            "[('a', '<f4')]",
                        )
                    ),
                ),
                header.replace("False", rng.choice(("True", "1", "None"))),
                "-" * 9_000 + "1",
            )
        )
    data = header.encode("utf-8", "surrogateescape")
    version = rng.choice((raw[6:8], raw[6:8], b"\x02\x00", b"\x03\x00", b"\x09\x09", b"\x01\x01"))
    length = struct.pack("<H" if version[:1] == b"\x01" else "<I", min(len(data), 65_535))
    return raw[:6] + version + length + data + raw[10 + size :]


def zip_file(rng: Random, path: Path) -> Path:
    """Changes an archive of arrays: its members, how they are compressed, or its bytes."""
    import zipfile

    if rng.random() < 0.4:
        return binary_file(rng, path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    kinds: Sequence[int] = (
        zipfile.ZIP_STORED,
        zipfile.ZIP_DEFLATED,
        zipfile.ZIP_BZIP2,
        zipfile.ZIP_LZMA,
    )
    with zipfile.ZipFile(path, "w", rng.choice(kinds)) as archive:
        for name, raw in members.items():
            if rng.random() < 0.5:
                raw = (
                    _change_npy_header(rng, raw)
                    if rng.random() < 0.6
                    else change_bytes(rng, raw, 128)
                )
            archive.writestr(rng.choice((name, name, name, "../x.npy", "ids.npy", "vectors")), raw)
    return path
