"""JSON, TOML and small tables of text: one reader each, whose errors name file and line."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from operator import methodcaller
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell.errors import BadInput, BadLine, DuplicateItem, shown
from rankwell.store import Source, decode_id, encode_id

MOST_COLUMNS = 10_000
"""The number of columns of the widest table."""
MAX_DEPTH = 100
MAX_DIGITS = 300
"""Digits of an integer in JSON; so many are always a finite float64."""
MAX_TOML = 1 << 24
_CHUNK = 1 << 24

_DIGITS_TO_0 = bytes(48 if 48 <= byte <= 57 else byte for byte in range(256))
_NO_MARKS = bytes(byte for byte in range(256) if byte not in b'[]{}"')
# A whole string, or a number.
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[-+.\deE]+')
# Also before a point or an e behind which nothing follows: the parser reads the integer first.
_LONG = re.compile(rb"-?(\d{%d,}+)(?!\.\d|[eE][-+]?\d)" % (MAX_DIGITS + 1))
_PAIR = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
# \udc80 to \udcff stand for the bytes of ids that are not UTF-8; rankwell writes them.
_HALF = re.compile(rb"\\u[dD](?:[89abABd-fD-F][0-9a-fA-F]|[cC][0-7])[0-9a-fA-F]")

# It begins where a part of a key does, so that a long word is read once.
_DOTTED = re.compile(
    rb"""(?<![A-Za-z0-9_-])(?:(?:[A-Za-z0-9_-]++|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){%d}"""
    % MAX_DEPTH
)

Pairs = Callable[[list[tuple[str, Any]]], Any]


def read_json(source: Source, expected: str = "", **rules: Any) -> Any:
    """The value in a JSON file; the arguments and errors are those of `parse_json`."""
    return parse_json(source.read(), source.name, expected, **rules)


def parse_json(
    content: bytes | str,
    name: str,
    expected: str = "",
    *,
    line: int | None = None,
    pairs: Pairs | None = None,
    finite: bool = False,
    keys_of_lines: str = "",
) -> Any:
    """The value of a JSON text; bytes that are not UTF-8 are kept as in `decode_id`.

    name: of the file or place. expected: the form, for messages. line: number of the line that the
    text is. pairs: makes an object of its keys and values, as `unique_keys` does. finite: whether
    NaN, Infinity and 1e999 are refused.
    keys_of_lines: the keys that objects on lines of their own should have, for the message on
    others.
    Raises BadInput (BadLine for a line) for what is not JSON, brackets nested deeper than
    `MAX_DEPTH`, integers of more than `MAX_DIGITS` digits, and half a character (`\\ud83d`);
    whatever `pairs` raises of rankwell's errors begins with the name.
    """
    raw, text = (
        (content, decode_id(content))
        if isinstance(content, bytes)
        else (encode_id(content), content)
    )
    kind = BadInput if line is None else BadLine
    hope = f"expected {expected}." if expected else "is the file whole?"

    def _where(place: int) -> str:
        number = raw.count(b"\n", 0, place) + 1 if line is None else line
        return f"{name}:{number}: {decode_id(raw[max(place - 20, 0) : place + 20])!r}"

    if len(raw) > MAX_DIGITS and b"0" * (MAX_DIGITS + 1) in raw.translate(_DIGITS_TO_0):
        for token in _TOKEN.finditer(raw):
            if integer := _LONG.match(token[0]):
                raise kind(
                    f"{_where(token.start())}: an integer of {len(integer[1])} digits; "
                    f"expected {MAX_DIGITS} at most."
                )
    try:
        numbers = dict.fromkeys(("parse_float", "parse_constant"), _finite) if finite else {}
        document = json.loads(text, object_pairs_hook=pairs, **numbers)
    except json.JSONDecodeError as error:
        if line is None and (keys := _line_keys(error)):
            expectation = keys_of_lines or "one value"
            raise kind(
                f"{name}: JSON lines whose objects have the keys {keys}; expected {expectation}."
            ) from error
        where = (
            f"{name}:{error.lineno if line is None else line}: "
            f"{error.doc[max(error.pos - 20, 0) : error.pos + 20]!r}"
        )
        raise kind(
            f"{where}: {error.msg.removesuffix(' at')} at column {error.colno}; {hope}"
        ) from error
    except RecursionError as error:
        raise kind(_too_deep(name, line)) from error
    except BadInput as error:
        raise (
            type(error)(f"{name}: {error}") if line is None else BadLine(f"{name}:{line}: {error}")
        ) from error
    if _is_deep(raw):
        raise kind(_too_deep(name, line))
    half = _HALF.search(_PAIR.sub(b"_" * 12, raw.replace(rb"\\", b"__"))) if b"\\" in raw else None
    if half is not None:
        escape = half[0].decode("ascii")
        raise kind(
            f"{_where(half.start())}: {escape} is half a character; correct the text, or cut "
            "it between characters."
        )
    return document


def _line_keys(error: json.JSONDecodeError) -> str:
    """The first keys of an object where another one begins on a line of its own behind it; empty
    for other errors.
    """
    before = error.doc[: error.pos]
    if (
        error.msg != "Extra data"
        or not error.doc.startswith("{", error.pos)
        or not before.rstrip(" \t").endswith("\n")
    ):
        return ""
    first = json.loads(before)
    keys = list(first) if isinstance(first, dict) else []
    return ", ".join(shown(key, 40) for key in keys[:8]) + ", …" * (len(keys) > 8)


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise BadInput(f"{shown(text)} is not a finite number; restore the file.")
    return value


def _too_deep(name: str, line: int | None) -> str:
    where = name if line is None else f"{name}:{line}"
    return f"{where}: brackets are nested too deep; expected {MAX_DEPTH} levels at most."


def _is_deep(raw: bytes) -> bool:
    """Whether brackets outside strings are nested too deep, in a text that is JSON."""
    if raw.count(b"[") + raw.count(b"{") <= MAX_DEPTH:
        return False
    if b"\\" in raw:
        raw = raw.replace(rb"\\", b"").replace(rb"\"", b"")
    marks = re.sub(rb'"[^"]*"', b"", raw.translate(None, _NO_MARKS).replace(b'""', b""))
    for _ in range(MAX_DEPTH):
        if not marks:
            return False
        marks = marks.replace(b"[]", b"").replace(b"{}", b"")
    return bool(marks)


def trailing_commas(raw: bytes) -> list[int]:
    """The ends of objects and lists with nothing but white space between a comma and them, in
    strings too.
    """
    cells = np.frombuffer(raw, dtype=np.uint8)
    ends = np.flatnonzero(cells & 0xDF == ord("]"))  # } differs from ] in that bit
    before = ends - 1
    while len(
        blank := np.flatnonzero((before >= 0) & np.isin(cells[before], bytearray(b" \t\r\n")))
    ):
        before[blank] -= 1
    return ends[(before >= 0) & (cells[before] == ord(","))].tolist()


def refuse_trailing_commas(path: Path, name: str) -> None:
    """Raises BadLine for a comma before the end of an object or list in JSON lines, which DuckDB
    reads.
    """
    line = 1
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            chunk, checked = chunk + file.readline(), -1
            for comma_end in trailing_commas(chunk):
                if comma_end > checked:
                    begin, checked = (
                        chunk.rfind(b"\n", 0, comma_end) + 1,
                        chunk.find(b"\n", comma_end) % (len(chunk) + 1),
                    )
                    if text := chunk[begin:checked].strip():
                        parse_json(text, name, line=line + chunk.count(b"\n", 0, begin))
            line += chunk.count(b"\n")


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of its keys and values. Raises DuplicateItem for a key that appears twice."""
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        earlier_keys = set[str]()
        double = next(key for key, _ in pairs if key in earlier_keys or earlier_keys.add(key))
        raise DuplicateItem(
            f"the key {shown(double)} appears twice in one object; keep one of them."
        )
    return mapping


def read_toml(source: Source) -> tuple[str, dict[str, Any]]:
    """The text of a file and its table. Raises BadInput where it is not TOML in UTF-8, or beyond
    the limits of depth and size.
    """
    import tomllib

    raw = source.head(MAX_TOML + 1)
    if len(raw) > MAX_TOML:
        raise BadInput(
            f"{source.name} has more than {MAX_TOML >> 20} MiB; expected a TOML file that a "
            "person writes."
        )
    try:
        text = raw.decode("utf-8")
        # tomllib takes time that grows with the square of a dotted key.
        if _DOTTED.search(raw):
            raise BadInput(f"{source.name}: a key has {MAX_DEPTH} dots or more; expected fewer.")
        table = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise BadInput(f"{source.name} is not UTF-8 text ({error}); save it as UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{source.name} is not valid TOML: {error}.") from error
    except RecursionError as error:
        raise BadInput(_too_deep(source.name, None)) from error
    except ValueError as error:
        raise BadInput(
            f"{source.name}: an integer has too many digits; TOML has integers of 64 bits."
        ) from error
    values_to_check: list[tuple[str, Any, int]] = [("", table, 0)]
    while values_to_check:
        key, value, depth = values_to_check.pop()
        if depth > MAX_DEPTH:
            raise BadInput(_too_deep(source.name, None))
        if isinstance(value, dict):
            values_to_check += (
                (f"{key}.{name}".lstrip("."), nested_value, depth + 1)
                for name, nested_value in value.items()
            )
        elif isinstance(value, list):
            values_to_check += ((key, nested_value, depth + 1) for nested_value in value)
        elif isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise BadInput(f"{source.name}: {key} is {shown(value)}; TOML has integers of 64 bits.")
    return text, table


# A cell may hold a passage: 131,072 characters, where the csv module stops by itself, are too few.
# C's long bounds the number.
csv.field_size_limit((1 << 31) - 1)

TAB = "\t"
"""Between tabs a quotation mark is a character as any other, and a line is a row."""


_DELIMITERS = {",": "commas", ";": "semicolons", "|": "bars"}
_FIRST_LINE = re.compile(r"[\r\n]*[^\r\n]*")
_COMMENTS = re.compile(r"(?:(?:#[^\r\n]*|[ \t]*)(?:\r\n|\r|\n))*")


def advice_on_cells(delimiter: str) -> str:
    """The advice on a row that has another number of cells than the header."""
    if delimiter == TAB:
        return "take tabs out of cells, which quotes do not protect, or save the table as CSV"
    return f"put cells with {_DELIMITERS[delimiter]} in quotes"


class DelimitedRow(NamedTuple):
    """A row of a table of text.

    line: number of the row's last line in the file, from 1.
    fields: the cells as text, without quotation marks around them.
    """

    line: int
    fields: list[str]


def first_rows(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """The fields of the first lines of a table, which may end within a cell."""
    return (
        [line.split(TAB) for line in lines]
        if delimiter == TAB
        else list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
    )


@dataclass(frozen=True, eq=False)
class PlainRows(Sequence[DelimitedRow]):
    """The rows of a table whose lines all have the same number of cells, kept as one list of cells.

    cells: all cells, row by row; every `width`-th cell is in the same column.
    width: number of cells in a row, at least 2.
    first_line: the number of the line of the first row, from 1.
    """

    cells: list[str]
    width: int
    first_line: int

    @classmethod
    def of(cls, text: str, delimiter: str) -> "PlainRows | None":
        """The rows of a table; None where some line is none of them, or a mark may quote."""
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        body = text.lstrip("\n")
        first_line = len(text) - len(body) + 1
        body = body.removesuffix("\n")
        n = body.partition("\n")[0].count(delimiter)
        lines = body.split("\n")
        if n == 0 or set(map(methodcaller("count", delimiter), lines)) != {n}:
            return None
        if delimiter != TAB and ('"' in body or f"{delimiter} " in body or "\n " in body):
            return None
        if not all(map(methodcaller("strip", f"{delimiter} "), lines)):
            return None
        return cls(body.replace("\n", delimiter).split(delimiter), n + 1, first_line)

    def column(self, at: int) -> list[str]:
        """The cells of a column."""
        return self.cells[at :: self.width]

    def __len__(self) -> int:
        return len(self.cells) // self.width

    def __getitem__(self, row: Any) -> Any:
        if isinstance(row, slice):
            return [self[number] for number in range(*row.indices(len(self)))]
        if not 0 <= row < len(self):
            raise IndexError
        begin = row * self.width
        return DelimitedRow(self.first_line + row, self.cells[begin : begin + self.width])


def delimiter_of(text: str) -> str:
    """The delimiter of a table: tabs where its first line has one, else what makes the most columns
    of that line, commas first.
    """
    line = _FIRST_LINE.match(text)[0]  # pyright: ignore[reportOptionalSubscript] - fits any text
    if TAB in line:
        return TAB
    return max(
        _DELIMITERS,
        key=lambda delimiter: len(
            next(csv.reader([line.strip()], delimiter=delimiter, skipinitialspace=True), [])
        ),
    )


def without_comments(text: str) -> str:
    """The text with blank lines in place of those before its first other one that begin with
    `#`.
    """
    comments = _COMMENTS.match(text)[0]  # pyright: ignore[reportOptionalSubscript] - fits any text
    return re.sub(r"[^\r\n]", "", comments) + text[len(comments) :]


def delimited_rows(text: str, name: str, delimiter: str) -> list[DelimitedRow]:
    """The rows of a table without those whose cells are all empty; every other line of it is in one
    of them.

    A blank behind a delimiter is none of the next cell, which may be in quotes; tabs do not quote.
    Raises BadLine for a quotation mark that is not closed, or not before the end of a cell, so that
    lines become one.
    """
    if delimiter == TAB:
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return [
            DelimitedRow(number, line.split(TAB))
            for number, line in enumerate(lines, 1)
            if line.strip()
        ]
    lines = list(io.StringIO(text, newline=""))
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    rows, last = list[DelimitedRow](), 0
    try:
        for fields in reader:
            first, last = last, reader.line_num
            if last > first + 1 or last == len(lines):
                _refuse_open_quote(f"{name}:{first + 1}", lines[first:last], delimiter)
            if fields and (fields[0].strip() or "".join(fields).strip()):
                rows.append(DelimitedRow(last, fields))
    except csv.Error as error:
        # An open quote takes in the rest of a long file.
        raise BadLine(
            f"{name}:{reader.line_num or 1}: {error}; close the quote before this line."
        ) from error
    return rows


def _refuse_open_quote(where: str, lines: Sequence[str], delimiter: str) -> None:
    """Raises BadLine where a quote is closed by the next cell's or not at all, so that cells and
    lines become one.
    """
    try:
        list(csv.reader(lines, strict=True, delimiter=delimiter, skipinitialspace=True))
    except csv.Error as error:
        if len(lines) > 1 or "unexpected end" in str(error):
            beginning = lines[0].strip()[:60]
            raise BadLine(
                f"{where}: {beginning!r} has a quote that is not closed on its line; close it, or "
                "leave it out."
            ) from error


def repeated_name(names: Sequence[str]) -> str:
    """The first name that two columns have; "" where there is none."""
    return next((name for name, number in Counter(names).items() if number > 1), "")


def refuse_wide(columns: int) -> None:
    """Raises BadInput for more columns than can be read within seconds."""
    if columns > MOST_COLUMNS:
        raise BadInput(
            f"{columns} columns; at most {MOST_COLUMNS} are read: keep those of queries, "
            "items and values."
        )


def first_objects(text: str) -> list[dict[str, Any]]:
    """The first objects, at most 50, of a text of JSON lines or of a list of objects."""
    position, objects = 1 if text.startswith("[") else 0, list[dict[str, Any]]()
    try:
        while len(objects) < 50:
            position = re.compile(r"[\s,]*").match(text, position).end()  # pyright: ignore[reportOptionalMemberAccess]
            record, position = json.JSONDecoder().raw_decode(text, position)
            if not isinstance(record, dict) or (
                record and all(isinstance(value, (dict, list)) for value in record.values())
            ):
                return objects
            objects.append(record)
    except (ValueError, RecursionError):
        return objects
    return objects
