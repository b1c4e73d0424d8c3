"""Small tables of text that are kept whole: their rows and the lines that these are."""

import csv
import io
import re
from collections.abc import Sequence
from operator import methodcaller
from typing import NamedTuple, overload

from rankwell.errors import BadLine

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
    """A row. line: the number of its last line, from 1."""

    line: int
    fields: list[str]


def first_rows(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """The fields of the first lines of a table, which may end within a cell."""
    return (
        [line.split(TAB) for line in lines]
        if delimiter == TAB
        else list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
    )


class PlainRows(Sequence[DelimitedRow]):
    """The rows of a table whose lines have one number of cells each, as a list of all cells, whose
    columns are slices.
    """

    def __init__(self, cells: list[str], width: int, first_line: int) -> None:
        self._cells, self._width, self._first_line = cells, width, first_line

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
        return self._cells[at :: self._width]

    def __len__(self) -> int:
        return len(self._cells) // self._width

    @overload
    def __getitem__(self, row: int) -> DelimitedRow: ...
    @overload
    def __getitem__(self, row: slice) -> list[DelimitedRow]: ...
    def __getitem__(self, row: int | slice) -> DelimitedRow | list[DelimitedRow]:
        if isinstance(row, slice):
            return [self[number] for number in range(*row.indices(len(self)))]
        if not 0 <= row < len(self):
            raise IndexError
        begin = row * self._width
        return DelimitedRow(self._first_line + row, self._cells[begin : begin + self._width])


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
            if not _is_blank(fields):
                rows.append(DelimitedRow(last, fields))
    except csv.Error as error:
        # An open quote takes in the rest of a long file.
        raise BadLine(
            f"{name}:{reader.line_num or 1}: {error}; close the quote before this line."
        ) from error
    return rows


def _is_blank(fields: Sequence[str]) -> bool:
    return not fields or (not fields[0].strip() and not "".join(fields).strip())


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
