"""A column of numbers: a file with one a line, a JSON list, an array of one dimension, or a table's column."""

import io
import json
from typing import Any

import numpy as np

from rankwell.core.tables import Floats
from rankwell.errors import BadInput, BadLine, BadScore
from rankwell.io import FORMATS, Format, Place, Request, file_format, formats
from rankwell.store import Head, Source

_MAGIC = b"\x93NUMPY"


def read_numbers(place: Place, *, column: str = "") -> Floats:
    """(n,) the numbers in a file, in order, as float64.

    place: text with one number a line, a JSON list, an `.npy` array of shape (n,) or (n, 1), CSV, TSV, JSON lines or Parquet, all
    but Parquet also .gz and .zst; `-` is standard input. column: the table's, which may be left out where there is only one.
    Raises BadInput that names file and place for anything but a number, and BadScore where one is not finite.
    """
    source = Source(place)
    head = Head.of(source)
    if not head.raw.startswith(_MAGIC):
        head.refuse_foreign()
    entry = _chosen(head, tables_only=bool(column))
    try:
        found = entry.read(source, Request(part=column))
        _refuse_non_finite(found)
    except BadInput as error:
        if source.name in str(error):
            raise
        raise type(error)(f"{source.name}: {error}") from error
    return found


def _chosen(head: Head, *, tables_only: bool) -> Format:
    """The format that the content has most surely; with a column's name it is a table."""
    entries = [entry for entry in formats("numbers") if not (tables_only and entry.name in _WITHOUT_COLUMNS)]
    sure, chosen = max(((entry.sniff(head), entry.name) for entry in entries), key=lambda each: each[0])
    if sure == 0:
        wanted = "a table with that column" if tables_only else "one number a line, or a table,"
        raise BadInput(f"{head.name}:1: {head.seen}; expected {wanted}.")
    return FORMATS[f"{chosen} numbers"]


def _refuse_non_finite(found: Floats) -> None:
    wrong = np.flatnonzero(~np.isfinite(found))
    if len(wrong):
        row = int(wrong[0])
        raise BadScore(
            f"row {row} (from 0) is {found[row]}; expected finite numbers. Correct it, or drop the pair on both sides."
        )


def _sniff_array(head: Head) -> float:
    return 0.49 if head.raw.startswith(_MAGIC) else 0.0


@file_format("npy", "numbers", sniff=_sniff_array)
def read_array(source: Source, request: Request) -> Floats:  # noqa: ARG001 - an array leaves nothing to ask for
    """The numbers of an `.npy` array with one dimension, or with one column; nothing pickled is opened."""
    try:
        array: Any = np.lib.format.read_array(io.BytesIO(source.read()), allow_pickle=False)
    except (ValueError, EOFError) as error:
        what = str(error).splitlines()[0]
        raise BadInput(f"the .npy file is damaged, ends early, or is pickled ({what}); save numbers with numpy.save.") from error
    if array.dtype.kind not in "fiub" or array.size != len(array if array.ndim else [0]):
        raise BadInput(f"an array of {array.dtype} of shape {array.shape}; expected a single column of numbers.")
    return array.reshape(-1).astype(np.float64)


def _number(text: str) -> float | None:
    try:
        # Python reads 1_000 as a thousand; no other reader of numbers does.
        return None if "_" in text else float(text)
    except ValueError:
        return None


def _sniff_lines(head: Head) -> float:
    first = head.lines[0].decode("utf-8", "replace") if head.lines else ""
    return 0.45 if _number(first) is not None else 0.1


@file_format("lines", "numbers", sniff=_sniff_lines)
def read_lines(source: Source, request: Request) -> Floats:  # noqa: ARG001 - lines leave nothing to ask for
    """One number a line; empty lines may stand at the end only, where they cannot shift a row against the other side."""
    with source.open() as stream:
        lines = stream.read().decode("utf-8", "replace").splitlines()
    while lines and not lines[-1].strip():
        lines.pop()
    numbers = [_number(line) for line in lines]
    for row, number in enumerate(numbers):
        if number is None or not np.isfinite(number):
            kind = BadScore if number is not None else BadLine
            hint = "; name a table's column as in table.csv:score" if row == 0 else ""
            raise kind(f"{source.name}:{row + 1}: {lines[row][:60]!r}; expected a finite number{hint}.")
    return np.array(numbers, dtype=np.float64)


def _sniff_list(head: Head) -> float:
    return 0.4 if head.text.startswith("[") else 0.0


@file_format("json", "numbers", sniff=_sniff_list)
def read_list(source: Source, request: Request) -> Floats:  # noqa: ARG001 - a list leaves nothing to ask for
    """The numbers of a JSON list."""
    try:
        found: Any = json.loads(source.read())
    except ValueError as error:
        raise BadInput(f"{error}; expected a JSON list of numbers.") from error
    values: list[Any] = found
    for row, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise BadInput(f"row {row} (from 0) is {json.dumps(value)[:60]}; expected a number.")
    return np.array(values, dtype=np.float64)


_WITHOUT_COLUMNS = ("npy", "lines", "json")
