"""Small tables of text that are kept whole: their rows and the lines that these are."""

import csv
import io
from collections.abc import Sequence
from typing import Any, NamedTuple

from rankwell.errors import BadLine

# A cell may hold a passage: 131,072 characters, where the csv module stops by itself, are too few.
# C's long bounds the number.
csv.field_size_limit((1 << 31) - 1)

TAB = "\t"
"""Between tabs a quotation mark is a character as any other, and a line is a row."""


_DELIMITERS = {",": "commas", ";": "semicolons", "|": "bars"}


def advice_on_cells(delimiter: str) -> str:
    """The advice on a row that has another number of cells than the header."""
    if delimiter == TAB:
        return "take tabs out of cells, which quotes do not protect, or save the table as CSV"
    return f"put cells with {_DELIMITERS[delimiter]} in quotes"


class DelimitedRow(NamedTuple):
    """A row. line: the number of its last line, from 1."""

    line: int
    fields: list[str]

    @property
    def is_blank(self) -> bool:
        """Whether no cell has content."""
        return not "".join(self.fields).strip()


def first_rows(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """The fields of the first lines of a table, which may end within a cell."""
    return (
        [line.split(TAB) for line in lines]
        if delimiter == TAB
        else list(csv.reader(lines, delimiter=delimiter))
    )


def delimited_rows(
    text: str, name: str, delimiter: str, *, is_one_line: bool = False, **options: Any
) -> list[DelimitedRow]:
    """The rows of a table without blank lines; every other line of it is in one of them.

    is_one_line: whether no cell has the end of a line. options: of Python's `csv`, for other
    delimiters than tabs.
    Raises BadLine for a quotation mark that is not closed, or not before the end of a cell, so that
    lines become one.
    """
    if delimiter == TAB:
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return [
            DelimitedRow(number, line.split(TAB))
            for number, line in enumerate(lines, 1)
            if line.strip(" ")
        ]
    lines = list(io.StringIO(text, newline=""))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, **options)
    found, last = list[DelimitedRow](), 0
    try:
        for fields in reader:
            first, last = last, reader.line_num
            if last > first + 1 or last == len(lines):
                rules = {**options, "delimiter": delimiter}
                _refuse_open_quote(
                    f"{name}:{first + 1}", lines[first:last], rules, is_one_line=is_one_line
                )
            if len(fields) > 1 or "".join(fields).strip():
                found.append(DelimitedRow(last, fields))
    except csv.Error as error:
        # An open quote takes in the rest of a long file.
        raise BadLine(
            f"{name}:{reader.line_num or 1}: {error}; close the quote before this line."
        ) from error
    return found


def _refuse_open_quote(
    where: str, lines: Sequence[str], rules: dict[str, Any], *, is_one_line: bool
) -> None:
    """Raises BadLine where a quote is closed by the next cell's or not at all, so that cells and
    lines become one.
    """
    problem = is_one_line and len(lines) > 1
    try:
        list(csv.reader(lines, strict=True, **rules))
    except csv.Error as error:
        problem = len(lines) > 1 or "unexpected end" in str(error)
    if problem:
        shown = lines[0].strip()[:60]
        raise BadLine(
            f"{where}: {shown!r} has a quote that is not closed on its line; close it, or "
            "leave it out."
        )
