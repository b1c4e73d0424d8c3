"""The training set: users, and the items that each interacted with."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rankwell.core.tables import Judgments
from rankwell.core.tables.columns import known_columns
from rankwell.errors import BadInput, BadLine, count_of
from rankwell.io import files as io
from rankwell.io.reader.lines import shorten
from rankwell.store import Head, Source, decode_id, split_part
from rankwell.store.data_sets import is_data_set_id

_NUMBER = re.compile(rb"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_OF_OTHER_FORMS = (b"\0", b",", b";", b"|", b'"', b"{", b"[", b"::")
_NAME_COLUMNS = "name the columns in a first line, separated by tabs or commas, as in user,item,rating"
_TIME = 1e8
"""Seconds since 1970, in 1973: no grade is as large."""


def read_interactions(place: Any) -> io.FoundJudgments:
    """Users as queries, and the items that each interacted with: judgments in any form, tables without grades, lines `user item`.

    Of several rows with the same user and item the one with the highest grade counts. Raises BadInput for lines of numbers whose
    meaning is not certain.
    """
    if isinstance(place, (str, Path)) and not is_data_set_id(place) and not Path(path := split_part(place)[0]).is_dir():
        source = Source(path)
        if _are_pairs(Head.of(source)):
            pairs = dict.fromkeys(_pairs(source))
            users, items = zip(*pairs, strict=True)
            return io.FoundJudgments(Judgments.from_rows(users, items, [1.0] * len(pairs)), "lines")
    return io.find_judgments(place, duplicates="best", ungraded=True)


def _are_pairs(head: Head) -> bool:
    """Whether the first lines are plain text of two fields, without a header.

    Raises BadInput for plain lines of numbers that can be read in two ways.
    """
    if any(mark in head.raw for mark in _OF_OTHER_FORMS) or not head.lines or head.skipped:
        return False
    rows = [line.split() for line in head.lines]
    width = len(rows[0])
    if any(len(fields) != width for fields in rows) or known_columns([decode_id(field) for field in rows[0]]):
        return False
    beginning = f"{head.name}:1: {shorten(head.lines[0])}"
    if width == 2 and len(rows) > 1 and not _are_numbers(rows[:1], 0) and _are_numbers(rows[1:], 0):
        raise BadInput(f"{beginning} before lines of numbers looks like names of columns; {_NAME_COLUMNS}, or remove it.")
    if width == 3 and _are_numbers(rows, 2):
        raise BadInput(f"{beginning} may be a user, an item and a rating, or a user and two items; {_NAME_COLUMNS}.")
    if width == 4 and _are_numbers(rows, 2) and _are_numbers(rows, 3) and _have_times(rows):
        what = "may be a user, an item, a rating and a time, or a user, a group, an item and a grade"
        raise BadInput(f"{beginning} {what}; {_NAME_COLUMNS},timestamp.")
    return width == 2


def _have_times(rows: Sequence[Sequence[bytes]]) -> bool:
    """Whether rows of four fields may be other than judgments, whose second field is the same, and whose fourth is a grade."""
    return len({fields[1] for fields in rows}) > 1 or any(float(fields[3]) >= _TIME for fields in rows)


def _are_numbers(rows: Sequence[Sequence[bytes]], place: int) -> bool:
    """Whether all rows have a number in a field."""
    return all(_NUMBER.fullmatch(fields[place]) is not None for fields in rows)


def _pairs(source: Source) -> Iterator[tuple[str, str]]:
    """The user and the item of each line. Raises BadLine for a line of anything else."""
    for number, line in source.lines():
        fields = line.split()
        if len(fields) != 2:
            where = f"{source.name}:{number}: {shorten(line)} has {count_of(len(fields), 'field')}"
            raise BadLine(
                f"{where}; expected `user item` as in the first line. Give each item a line of its own, or {_NAME_COLUMNS}."
            )
        yield decode_id(fields[0]), decode_id(fields[1])
