"""Fuzzers of data sets of images."""

import csv
import json
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

from fuzzing import FUZZERS, IMAGES, Fuzzer, Refused, Undecided
from fuzzing.mutations import LETTERS, text_file
from fuzzing.tables import content, load_json

ROWS = (
    ("a1", "x", "reference"),
    ("a2", "x", "query"),
    ("b1", "y", "reference"),
    ("b2", "y", "query"),
)


def _table(rng: Random, folder: Path) -> Path:
    path = folder / "images.csv"
    rows = [("image", "instance", "split"), *rng.sample(ROWS, rng.randint(1, 4))]
    path.write_text("".join(",".join(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _revisitop(rng: Random, folder: Path) -> Path:
    path, size = folder / "gnd.json", rng.randint(1, 3)
    truth = [{"easy": [0], "hard": [1], "junk": [2], "bbx": [0, 0, 1, 1]} for _ in range(size)]
    path.write_text(
        json.dumps(
            {"imlist": ["a", "b", "c"], "qimlist": [f"q{row}" for row in range(size)], "gnd": truth}
        )
    )
    return path


def _folders(rng: Random, folder: Path) -> Path:
    place = folder / "set"
    for row, (image, instance, split) in enumerate(rng.sample(ROWS, rng.randint(2, 4))):
        path = place / f"{split}s".replace("querys", "queries") / instance / f"{image}{row}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    return place


def _change_folders(rng: Random, place: Path) -> Path:
    files = sorted(place.rglob("*.jpg"))
    for _ in range(rng.choice((0, 1, 1, 2))):
        path = rng.choice(files)
        name = rng.choice(
            (
                path.stem + rng.choice(LETTERS).replace("/", "").replace("\x00", ""),
                "\udcff",
                "x" * 240,
                ".hidden",
                path.name,
            )
        )
        target = (
            rng.choice((path.parent, place, path.parent.parent, place / "wall")) / f"{name}.jpg"
        )
        target.parent.mkdir(exist_ok=True)
        target.write_bytes(b"")
    return place


def _read(path: Path) -> Any:
    from rankwell.tasks.images.images import read_images

    images = read_images(path)
    return sorted(images.ids)


def _plain_table(path: Path) -> Any:
    text = content(path).decode("utf-8", "surrogateescape")
    if '"' in text or "\r" in text or "\x00" in text or any(letter in text for letter in ";\t"):
        raise Undecided("quotes, carriage returns, other delimiters")
    rows = [row for row in csv.reader(StringIO(text, newline="")) if "".join(row).strip()]
    if not rows or rows[0] != ["image", "instance", "split"]:
        raise Undecided("other columns")
    if any(len(row) != 3 for row in rows) or any(
        row[2] not in ("reference", "query") for row in rows[1:]
    ):
        raise Undecided("other rows")
    names = [row[0] for row in rows[1:]]
    if not names:
        raise Refused("there is no image")
    if len(set(names)) < len(names):
        raise Refused("an image twice")
    if any(
        not name or name != name.strip() or name.lower() in ("nan", "none", "null")
        for name in names
    ):
        raise Undecided("an image without a name")
    return sorted(names)


def _plain_revisitop(path: Path) -> Any:
    found = load_json(content(path).decode("utf-8", "surrogateescape"))
    lists: list[Any] = [
        found.get(name) if isinstance(found, dict) else None
        for name in ("imlist", "qimlist", "gnd")
    ]
    if not all(isinstance(each, list) for each in lists) or len(lists[1]) != len(lists[2]):
        raise Refused("lists")
    names = [*lists[0], *lists[1]]
    if not all(isinstance(name, str) and name for name in names) or any(
        len(set(each)) < len(each) for each in lists[:2]
    ):
        raise Refused("names")
    for entry in lists[2]:
        if not isinstance(entry, dict) or not {"easy", "hard", "junk"} & set(entry):
            raise Undecided("entries")
        for kind in ("easy", "hard", "junk"):
            listed = entry.get(kind, [])
            if not isinstance(listed, list):
                raise Undecided("no list")
            if not all(
                (type(each) is int and 0 <= each < len(lists[0]))
                or (type(each) is str and each in lists[0])
                for each in listed
            ):
                raise Refused("a position that is not there")
    return sorted(set(names))


FUZZERS[f"{IMAGES}: tables"] = Fuzzer(_table, text_file, _read, _plain_table)
FUZZERS[f"{IMAGES}: revisitop"] = Fuzzer(_revisitop, text_file, _read, _plain_revisitop)
FUZZERS[f"{IMAGES}: folders"] = Fuzzer(_folders, _change_folders, _read)
