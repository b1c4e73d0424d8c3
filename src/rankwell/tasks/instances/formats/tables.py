"""Tables: a row per image with its instance and its side, and perhaps camera, group, and whether it shows nothing."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rankwell.errors import BadInput, BadLine
from rankwell.io import FORMATS, Request
from rankwell.store import Head, Source, decode_id
from rankwell.tasks.instances.formats import Found, Wanted, form, split_of
from rankwell.tasks.instances.images import Picture

_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "image": ("image", "file", "filename", "path", "id"),
    "instance": ("instance", "label", "class", "identity"),
    "split": ("split", "side", "set"),
    "camera": ("camera", "cam"),
    "group": ("group", "session", "sequence"),
    "contentless": ("contentless", "no_content", "without_content"),
}
_YES, _NO = ("1", "true", "yes", "y"), ("", "0", "false", "no", "n")
_NOTHING = ("", "nan", "none", "null")


class _Row(NamedTuple):
    """A row of the table, and where it stands."""

    place: str
    cells: Mapping[str, Any]


def _fits(place: Path, wanted: Wanted) -> float:  # noqa: ARG001 - every form is asked alike
    return 0.5 if place.is_file() else 0.0


@form("tables", fits=_fits)
def read_table(place: Path, wanted: Wanted) -> Found:
    """The rows of a CSV, TSV, JSON lines or Parquet table; a row without `instance` shows nothing that has a label."""
    rows = _rows(Source(place))
    if not rows:
        raise BadInput(f"{place} lists no image; a row per image is wanted: image,instance,split.")
    names = list(dict.fromkeys(name for row in rows for name in row.cells))
    columns = {what: _column(names, words) for what, words in _COLUMNS.items()}
    for what in ("image", "instance", "split"):
        if columns[what] is None:
            listed = ", ".join(map(repr, names))
            raise BadInput(
                f"{place}: no column {what} ({', '.join(_COLUMNS[what])}); found are {listed}; wanted is image,instance,split."
            )
    read = [_picture(place, row, columns) for row in rows]
    return Found(_located(place, read, wanted.root))


def _column(names: Sequence[str], words: Sequence[str]) -> str | None:
    plain = {name.strip().casefold(): name for name in reversed(names)}
    return next((plain[word] for word in words if word in plain), None)


def _picture(table: Path, row: _Row, columns: Mapping[str, str | None]) -> Picture:
    def _cell(what: str) -> str | None:
        column = columns[what]
        value = None if column is None else row.cells.get(column)
        text = "" if value is None else str(value).strip()
        return None if text.casefold() in _NOTHING else text

    name, split = _cell("image"), _cell("split")
    where = f"{table}: {row.place}"
    if name is None:
        raise BadInput(f"{where} names no image; fill the column {columns['image']!r}.")
    if split is None:
        raise BadInput(f"{where}, image {name!r}: no split; write reference, query or both.")
    return Picture(
        id=name,
        instance=_cell("instance"),
        split=split_of(split, f"{where}, image {name!r}"),
        camera=_cell("camera"),
        group=_cell("group"),
        contentless=_flag(_cell("contentless"), f"{where}, image {name!r}"),
    )


def _flag(text: str | None, where: str) -> bool:
    word = (text or "").casefold()
    if word not in (*_YES, *_NO):
        raise BadInput(f"{where}: {text!r} does not say whether the image is without content; write yes or no.")
    return word in _YES


def _located(table: Path, pictures: list[Picture], root: Path | None) -> list[Picture]:
    """The pictures with their files, where there are any. Raises BadInput for one that is missing among others."""
    folder = table.parent if root is None else root
    if root is None and not any((folder / each.id).is_file() for each in pictures):
        return pictures
    for each in pictures:
        if not (folder / each.id).is_file():
            hint = (
                "add it, or take its row out"
                if root is not None
                else "others are there: add it, or name the folder of images with --root"
            )
            raise BadInput(f"{table}: the image {each.id!r} is not in {folder}; {hint}.")
    return [each._replace(path=folder / each.id) for each in pictures]


def _rows(source: Source) -> list[_Row]:
    head = Head.of(source)
    head.refuse_foreign()
    if head.raw.startswith(b"PAR1"):
        found: list[dict[str, Any]] = FORMATS["parquet records"].read(source, Request())
        return [_Row(f"row {number}", cells) for number, cells in enumerate(found, 1)]
    text = decode_id(source.read())
    return _objects(source.name, text) if text.lstrip()[:1] in ("{", "[") else _lines(source.name, text)


def _objects(name: str, text: str) -> list[_Row]:
    try:
        if text.lstrip().startswith("["):
            rows = [_Row(f"$[{number}]", each) for number, each in enumerate(json.loads(text))]
        else:
            lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
            rows = [_Row(f"line {number}", json.loads(line)) for number, line in lines]
    except ValueError as error:
        raise BadInput(f"{name}: {error}; an object per line, or a list of objects, is wanted.") from error
    wrong = next((row for row in rows if not isinstance(row.cells, dict)), None)
    if wrong is not None:
        raise BadInput(f"{name}: {wrong.place} is a {type(wrong.cells).__name__}; an object with a value per column is wanted.")
    return rows


def _lines(name: str, text: str) -> list[_Row]:
    first = text.partition("\n")[0]
    delimiter = max((",", ";", "\t"), key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    columns = [each.strip() for each in next(reader)]
    double = next((column for column in columns if columns.count(column) > 1), None)
    if double is not None:
        raise BadInput(f"{name}: two columns are called {double!r}; rename or drop one of them.")
    rows: list[_Row] = []
    for fields in reader:
        if not "".join(fields).strip():
            continue
        if len(fields) != len(columns):
            where = f"{name}:{reader.line_num}: {delimiter.join(fields)[:60]!r}"
            raise BadLine(f"{where} has {len(fields)} fields, the header {len(columns)}; put cells with {delimiter!r} in quotes.")
        rows.append(_Row(f"line {reader.line_num}", dict(zip(columns, fields, strict=True))))
    return rows
