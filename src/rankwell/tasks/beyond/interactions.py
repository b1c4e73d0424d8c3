"""The training set: users, and the items that each interacted with."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rankwell.data.columns import known_columns
from rankwell.data.tables import Judgments
from rankwell.errors import BadInput, BadLine, count_of
from rankwell.io import formats as io
from rankwell.io.reader.lines import shorten
from rankwell.store import Head, Source, decode_id, split_part
from rankwell.store.places import is_data_set_id

_NUMBER = re.compile(rb"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_OF_OTHER_FORMS = (b"\0", b",", b";", b"|", b'"', b"{", b"[", b"::")
_INTEGER = re.compile(rb"[0-9]+")
_NAME_COLUMNS = (
    "name the columns in a first line, separated by tabs or commas, as in user,item,rating"
)
_TIME = 1e8
"""Seconds since 1970, in 1973: no grade is as large."""


def read_interactions(place: Any) -> io.FoundJudgments:
    """Users as queries, and the items that each interacted with: judgments in any form, tables
    without grades, lines `user item`.

    Also MovieLens' lines `user::item::rating::timestamp` (Harper and Konstan 2015), and LightGCN's
    of a user and all of its items (He and others 2020). Of several rows with the same user and item
    the one with the highest grade counts. Raises BadInput for lines of numbers whose meaning is not
    certain.
    """
    if (
        isinstance(place, (str, Path))
        and not is_data_set_id(place)
        and not Path(path := split_part(place)[0]).is_dir()
    ):
        source = Source(path)
        head = Head.of(source)
        if _are_ratings(head):
            return _found(_ratings(source), "ratings.dat")
        if _are_items_of_users(head):
            note = f"{head.name}: each line is read as a user and all of its items, as LightGCN's"
            return _found(
                ((user, item, 1.0) for user, item in _items_of_users(source)), "lines", (note,)
            )
        if _are_pairs(head):
            return _found(((user, item, 1.0) for user, item in _pairs(source)), "lines")
    return io.find_judgments(place, duplicates="best", ungraded=True)


def _found(
    rows: Iterable[tuple[str, str, float]], form: str, notes: tuple[str, ...] = ()
) -> io.FoundJudgments:
    """The highest grade of each user and item."""
    grades: dict[tuple[str, str], float] = {}
    for user, item, grade in rows:
        grades[user, item] = max(grade, grades.get((user, item), grade))
    users, items = zip(*grades, strict=True)
    return io.FoundJudgments(Judgments.from_rows(users, items, list(grades.values())), form, notes)


def _are_ratings(head: Head) -> bool:
    """Whether `::` alone separates fields in the first line. Raises BadLine where they are other
    than those of `ratings.dat`.
    """
    first = head.lines[0] if head.lines else b""
    if (
        first.count(b"::") < 2
        or len(first.split()) > 1
        or any(mark in first for mark in _OF_OTHER_FORMS[:-1])
    ):
        return False
    _rating(first, f"{head.name}:{head.skipped + 1}")
    return True


def _ratings(source: Source) -> Iterator[tuple[str, str, float]]:
    for number, line in source.lines():
        if not line.startswith(b"#"):
            yield _rating(line, f"{source.name}:{number}")


def _rating(line: bytes, where: str) -> tuple[str, str, float]:
    """The user, the item and the rating of a line. Raises BadLine for one of anything else."""
    fields = line.rstrip().split(b"::")
    if (
        len(fields) != 4
        or not fields[0]
        or not fields[1]
        or not _are_numbers([fields], 2)
        or not _INTEGER.fullmatch(fields[3])
    ):
        raise BadLine(
            f"{where}: {shorten(line)}; expected user::item::rating::timestamp as in MovieLens' "
            "ratings.dat. Name that file, or separate the fields by tabs or commas below a line "
            "with names of columns."
        )
    return decode_id(fields[0]), decode_id(fields[1]), float(fields[2])


def _are_items_of_users(head: Head) -> bool:
    """Whether the first lines are integers, differ in length, and have a user each: of pairs and
    ratings no line is longer.
    """
    rows = [line.split() for line in head.lines]
    return (
        len({len(fields) for fields in rows}) > 1
        and len({fields[0] for fields in rows}) == len(rows)
        and all(_INTEGER.fullmatch(field) for fields in rows for field in fields)
    )


def _items_of_users(source: Source) -> Iterator[tuple[str, str]]:
    """The user and each item of the lines. Raises BadLine for a field that is not an integer, and
    for a user with two lines.
    """
    lines: dict[bytes, int] = {}
    for number, line in source.lines():
        user, *items = fields = line.split()
        odd = next((field for field in fields if not _INTEGER.fullmatch(field)), None)
        if odd is not None:
            raise BadLine(
                f"{source.name}:{number}: {shorten(odd)}; expected integers, a user and its items."
            )
        if lines.setdefault(user, number) != number:
            raise BadLine(
                f"{source.name}:{number}: user {shorten(user)} already has line {lines[user]}; "
                f"write all items of a user in one line, or {_NAME_COLUMNS}."
            )
        yield from ((decode_id(user), decode_id(item)) for item in items)


def _are_pairs(head: Head) -> bool:
    """Whether the first lines are plain text of two fields, without a header.

    Raises BadInput for plain lines of numbers that can be read in two ways.
    """
    if any(mark in head.raw for mark in _OF_OTHER_FORMS) or not head.lines or head.skipped:
        return False
    rows = [line.split() for line in head.lines]
    width = len(rows[0])
    if any(len(fields) != width for fields in rows) or known_columns(
        [decode_id(field) for field in rows[0]]
    ):
        return False
    beginning = f"{head.name}:1: {shorten(head.lines[0])}"
    if width == 2 and len(rows) > 1 and not _are_numbers(rows[:1], 0) and _are_numbers(rows[1:], 0):
        raise BadInput(
            f"{beginning} before lines of numbers looks like names of columns; "
            f"{_NAME_COLUMNS}, or remove it."
        )
    if width == 3 and _are_numbers(rows, 2):
        raise BadInput(
            f"{beginning} may be a user, an item and a rating, or a user and two items; "
            f"{_NAME_COLUMNS}."
        )
    if width == 4 and _are_numbers(rows, 2) and _are_numbers(rows, 3) and _have_times(rows):
        raise BadInput(
            f"{beginning} may be a user, an item, a rating and a time, or a user, a group, an "
            f"item and a grade; {_NAME_COLUMNS},timestamp."
        )
    return width == 2


def _have_times(rows: Sequence[Sequence[bytes]]) -> bool:
    """Whether rows of four fields may be other than judgments, whose second field is the same, and
    whose fourth is a grade.
    """
    return len({fields[1] for fields in rows}) > 1 or any(
        float(fields[3]) >= _TIME for fields in rows
    )


def _are_numbers(rows: Sequence[Sequence[bytes]], column: int) -> bool:
    """Whether all rows have a number in a field."""
    return all(_NUMBER.fullmatch(fields[column]) is not None for fields in rows)


def _pairs(source: Source) -> Iterator[tuple[str, str]]:
    """The user and the item of each line. Raises BadLine for a line of anything else."""
    for number, line in source.lines():
        fields = line.split()
        if len(fields) != 2:
            raise BadLine(
                f"{source.name}:{number}: {shorten(line)} has {count_of(len(fields), 'field')}; "
                "expected `user item` as in the first line. Give each item a line of its own, or "
                f"{_NAME_COLUMNS}."
            )
        yield decode_id(fields[0]), decode_id(fields[1])
