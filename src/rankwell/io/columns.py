"""One column: numbers or strings, one a line, in a JSON list, or an array of one dimension. Tables
have formats of their own.
"""

import json
import re
from pathlib import Path
from typing import Any, cast

import numpy as np

from rankwell.core.tables import Floats
from rankwell.core.tables.arrays import MAGIC, read_only_npy
from rankwell.core.tables.columns import id_text
from rankwell.documents import read_json
from rankwell.errors import BadInput, BadLine, BadScore, kind_of
from rankwell.io.formats import SURE, Place, Request, Texts, file_format, scored
from rankwell.store import Head, Source, decode_id, naming, split_lines

_WITHOUT_COLUMNS = ("npy", "lines", "json")


def read_numbers(place: Place, *, column: str = "") -> Floats:
    """(n,) the numbers in a file, in order, as float64.

    place: text with one number a line, a JSON list, an `.npy` array of shape (n,) or (n, 1), CSV,
    TSV, JSON lines or Parquet, all but Parquet also .gz and .zst; `-` is standard input. column:
    the table's, which may be left out where there is only one. Raises BadInput that names file and
    place for anything but a number, and BadScore where one is not finite.
    """
    source = Source(place)
    head = Head.of(source)
    if not head.raw.startswith(MAGIC):
        head.refuse_foreign()
    likely = [
        entry
        for _, entry in scored(head, "numbers")
        if not (column and entry.name in _WITHOUT_COLUMNS)
    ]
    if not likely:
        expected = "a table with that column" if column else "one number a line, or a table,"
        raise BadInput(f"{head.name}:1: {head.excerpt}; expected {expected}.")
    with naming(source.name):
        numbers = likely[0].read(source, Request(part=column))
        wrong = np.flatnonzero(~np.isfinite(numbers))
        if len(wrong):
            problem = f"row {wrong[0]} (from 0) is {numbers[wrong[0]]}; expected finite numbers"
            raise BadScore(f"{problem}. Correct it, or drop the pair on both sides.")
    return numbers


@file_format("npy", "numbers", sniff=lambda head: 0.49 * head.raw.startswith(MAGIC))
def read_array(source: Source, request: Request) -> Floats:  # noqa: ARG001 - an array has no options
    """The numbers of an `.npy` array with one dimension, or with one column; nothing pickled is
    opened.
    """
    with source.open() as stream:
        array = read_only_npy(stream)
    if array.dtype.kind not in "fiub" or array.size != len(array if array.ndim else [0]):
        raise BadInput(
            f"an array of {array.dtype} of shape {array.shape}; expected a single column of "
            "numbers."
        )
    return array.reshape(-1).astype(np.float64)


def _parse_number(text: str) -> float | None:
    try:
        # Python reads 1_000 as a thousand, and Arabic digits; no other reader of numbers does.
        return float(text) if text.isascii() and "_" not in text else None
    except ValueError:
        return None


@file_format(
    "lines",
    "numbers",
    sniff=lambda head: 0.1 if _parse_number("".join(map(decode_id, head.lines[:1]))) is None else 0.45,
)
def read_number_lines(source: Source, request: Request) -> Floats:  # noqa: ARG001 - lines have no options
    """One number a line; empty lines are allowed at the end only, where they cannot shift a row
    against the other side.
    """
    with source.open() as stream:
        lines = split_lines(stream.read().decode("utf-8", "replace"))
    while lines and not lines[-1].strip():
        lines.pop()
    numbers = [_parse_number(line) for line in lines]
    for row, number in enumerate(numbers):
        if number is None or not np.isfinite(number):
            kind = BadScore if number is not None else BadLine
            hint = "; name a table's column as in table.csv:score" if row == 0 else ""
            raise kind(
                f"{source.name}:{row + 1}: {lines[row][:60]!r}; expected a finite number{hint}."
            )
    return np.array(numbers, dtype=np.float64)


@file_format("json", "numbers", sniff=lambda head: 0.4 * head.text.startswith("["))
def read_number_list(source: Source, request: Request) -> Floats:  # noqa: ARG001 - a list has no options
    """The numbers of a JSON list."""
    values = _list(source, "numbers")
    for row, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise BadInput(f"row {row} (from 0) is {json.dumps(value)[:60]}; expected a number.")
    return np.array(values, dtype=np.float64)


def _sniff_lines(head: Head) -> float:
    """Sure of lines that no table and no list begins with, in a file of no other suffix."""
    plain = (
        head.lines
        and not re.search(rb"""[,;|\t"\[{]|PAR1""", head.lines[0])
        and Path(head.name).suffix in ("", ".txt")
    )
    return SURE if plain else 0.3 if head.lines else 0.0


@file_format("lines", "column", sniff=_sniff_lines, suffixes=(".txt",))
def read_lines(source: Source, request: Request) -> list[str | None]:  # noqa: ARG001 - lines have no options
    """The lines of a text file without their ends; an empty line is an empty text."""
    with source.open() as stream:
        return [decode_id(line.rstrip(b"\r\n")) for line in stream]


@file_format(
    "json", "column", sniff=lambda head: 0.6 * head.text.startswith("["), suffixes=(".json",)
)
def read_list(source: Source, request: Request) -> list[str | None]:  # noqa: ARG001 - a list has no options
    """The strings and integers of a JSON list."""
    return list(map(id_text, _list(source, "strings or integers")))


def _list(source: Source, members: str) -> list[Any]:
    json_list: Any = read_json(source, f"a JSON list of {members}")
    if not isinstance(json_list, list):
        raise BadInput(f"{source.name}: {kind_of(json_list)}; expected a list of {members}.")
    return cast("list[Any]", json_list)


def _sniff_texts(head: Head) -> float:
    """Less certain than any table: a file of lines is recognised by its name alone."""
    return (
        0.4 if head.name.lower().removesuffix(".gz").removesuffix(".zst").endswith(".txt") else 0.0
    )


@file_format("lines", "texts", sniff=_sniff_texts)
def read_texts(source: Source, request: Request) -> Texts:
    """A text per line, its id the position of the line, from 0."""
    lines = read_lines(source, request)
    return Texts(
        {str(row): line or "" for row, line in enumerate(lines)},
        {str(row): {} for row in range(len(lines))},
    )
