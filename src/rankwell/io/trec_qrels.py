"""TREC judgments: qrels `query 0 item grade`, and preferences `query group subgroup item level`, between any white space.

The second field of qrels says nothing in most files; in some it tells judgment groups (trec_eval's qrels_jg) or intents (ndeval)
apart, and is read only when asked for.
"""

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwell.core.tables import Floats
from rankwell.core.tables.judgments import Judgments
from rankwell.core.tables.names import unique_rows
from rankwell.errors import BadInput, BadLine, DuplicateItem
from rankwell.io import SURE, Request, file_format
from rankwell.io.reader import judged_rows
from rankwell.store import Head, Source, decode_id, encode_id

if TYPE_CHECKING:
    from rankwell.core.views.preferences import Preferences

_WHITE = re.compile(r"[ \t\n\v\f\r]")
_NUMBER = re.compile(rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
# Split this many bytes at a time, so that the pieces do not all lie in memory at once.
_CHUNK = 1 << 22


class _Form(NamedTuple):
    """A kind of line: what it is called, its fields in words, and what a line with another number of fields may be."""

    name: str
    words: tuple[str, ...]
    number: str
    hints: dict[int, str]


_QRELS = _Form(
    "qrels",
    ("query", "0", "item", "grade"),
    "grade",
    {6: "is this a run file?", 5: "is this a file of preferences?", 3: "does it have a header or tabs of another format?"},
)
_PREFERENCES = _Form(
    "preference",
    ("query", "group", "subgroup", "item", "level"),
    "level",
    {6: "is this a run file?", 4: "is this a qrels file?"},
)


class _Columns(NamedTuple):
    """The fields of all lines but the number, one list per field, and the numbers."""

    ids: list[list[str]]
    numbers: Floats


def _read_columns(source: Source, form: _Form, *, comments: bool, passed_over: int | None = None) -> _Columns:
    """The fields of a file; those of the field `passed_over` are not kept. Raises BadLine, BadInput for a file without lines."""
    width = len(form.words)
    ids: list[list[str]] = [[] for _ in range(width - 1)]
    numbers, done = list[float](), 0
    # Ids that many lines share are one text; items, all different, are decoded in one go.
    known: list[dict[bytes, str]] = [{} for _ in range(width - 2)]
    with source.open() as stream:
        while block := stream.read(_CHUNK):
            block += stream.readline()
            pieces = _split(source, form, block, done, comments=comments)
            for field, names in enumerate(known):
                if field != passed_over:
                    column = pieces[field::width]
                    names.update((raw, decode_id(raw)) for raw in set(column) - names.keys())
                    ids[field] += map(names.__getitem__, column)
            ids[-1] += decode_id(b"\n".join(pieces[width - 2 :: width])).split("\n") if pieces else []
            numbers += _numbers(source, form, block, pieces[width - 1 :: width], done, comments=comments)
            done += block.count(b"\n")
    if not numbers:
        raise BadInput(f"{source.name} holds no {form.name} line; lines `{' '.join(form.words)}` are wanted.")
    return _Columns(ids, np.array(numbers))


def _split(source: Source, form: _Form, block: bytes, before: int, *, comments: bool) -> list[bytes]:
    """The fields of all lines, one after the other. Raises BadLine for a line with another number of them than the form has."""
    if comments and (block.startswith(b"#") or b"\n#" in block):
        lines = block.split(b"\n")
        block = b"\n".join([b"" if line.startswith(b"#") else line for line in lines])
    width = len(form.words)
    text = np.frombuffer(block, dtype=np.uint8)
    white = (text == 32) | ((text >= 9) & (text <= 13))
    begins = ~white
    begins[1:] &= white[:-1]
    ends = np.flatnonzero(text == 10)
    found = np.diff(np.cumsum(begins)[ends], prepend=0) if len(ends) else np.zeros(0, dtype=np.int64)
    last = int(np.count_nonzero(begins)) - int(found.sum())
    wrong = np.flatnonzero((found != 0) & (found != width))
    if len(wrong) or last not in (0, width):
        row = int(wrong[0]) if len(wrong) else len(found)
        count = int(found[row]) if len(wrong) else last
        line = _shown(block.split(b"\n")[row])
        what = f"{source.name}:{before + row + 1}: {line} has {count} field{'s' * (count != 1)}"
        wanted = f"a {form.name} line has {width} ({' '.join(form.words)})"
        raise BadLine(f"{what}, {wanted}; {form.hints.get(count, 'correct the line, or name another format.')}")
    return block.split()


def _numbers(source: Source, form: _Form, block: bytes, texts: list[bytes], before: int, *, comments: bool) -> list[float]:
    """The numbers that the last fields spell. Raises BadLine for one that is none, or not finite."""
    values = {text: _number(text) for text in set(texts)}
    bad = {text for text, value in values.items() if not math.isfinite(value)}
    if not bad:
        return list(map(values.__getitem__, texts))
    number, line = next(
        (number, line)
        for number, line in enumerate(block.split(b"\n"), before + 1)
        if line.split()[-1:] and line.split()[-1] in bad and not (comments and line.startswith(b"#"))
    )
    what = f"{source.name}:{number}: {form.number} {_shown(line.split()[-1])} in {_shown(line)} is not a finite number"
    raise BadLine(f"{what}; write a number such as 1 or 0.5, or take the line out.")


def _number(text: bytes) -> float:
    return float(text) if _NUMBER.fullmatch(text) else math.nan


def _shown(raw: bytes) -> str:
    text = decode_id(raw.strip())
    return repr(text if len(text) <= 80 else text[:79] + "…")


def _sniff(head: Head) -> float:
    rows = head.fields
    good = sum(len(fields) == 4 and _NUMBER.fullmatch(fields[3]) is not None for fields in rows)
    if rows and good == len(rows):
        return SURE
    return 0.6 if good else 0.3 if any(3 <= len(fields) <= 5 for fields in rows) else 0.0


def _sniff_preferences(head: Head) -> float:
    # Below one half, because a run without its last column looks the same.
    rows = head.fields
    return 0.45 if rows and all(len(fields) == 5 and _NUMBER.fullmatch(fields[4]) for fields in rows) else 0.1


def write(judgments: Judgments, path: Path) -> None:
    """Writes a qrels file in the order of the table; the second field is the group or intent, `0` where there are none.

    Grades are written so that reading gives the same doubles. Queries without rows leave no trace.
    Raises BadInput for an id that is empty or holds white space.
    """
    for name in {*judgments.queries, *judgments.items, *(judgments.aspects or ())}:
        if not name or _WHITE.search(name):
            raise BadInput(f"{name!r} has white space in it or is empty, and a qrels file cannot hold it; write CSV or Parquet.")
    owners = [judgments.queries[query] for query in judgments.query_of_row.tolist()]
    aspects = ["0"] * len(owners) if judgments.aspects is None else judgments.aspects
    with path.open("wb") as file:
        for query, aspect, item, grade in zip(owners, aspects, judgments.items, judgments.grades.tolist(), strict=True):
            number = int(grade) if grade.is_integer() else repr(grade)
            file.write(encode_id(f"{query} {aspect} {item} {number}\n"))


@file_format("trec", "judgments", sniff=_sniff, write=write, suffixes=(".qrels", ".qrel", ".trec", ".txt"))
def read_as_asked(source: Source, request: Request) -> Judgments:
    """The judgments in a qrels file, of two that judge an item the one that the request says."""
    return _read(source, aspects=request.aspects != "none", comments=request.comments, request=request)


def read(source: Source, *, aspects: bool = False, comments: bool = False) -> Judgments:
    """The judgments in a qrels file.

    aspects: whether the second field tells judgment groups or intents apart; else it says nothing. comments: lines that begin
    with `#` say nothing, as in trec_eval 10. Raises BadLine for a line without four fields or a grade that is no finite number
    and DuplicateItem for an item that is judged twice, both naming file and line; BadInput for a file without lines.
    """
    return _read(source, aspects=aspects, comments=comments, request=Request())


def _read(source: Source, *, aspects: bool, comments: bool, request: Request) -> Judgments:
    if request.duplicates == "error" and (found := judged_rows.read(source, comments=comments, aspects=aspects)) is not None:
        return found.table()
    (queries, names, items), grades = _read_columns(source, _QRELS, comments=comments, passed_over=None if aspects else 1)
    if request.duplicates != "error":
        # An id holds no white space, so that query and aspect can be held together and taken apart again.
        owners = [f"{query}\n{name}" for query, name in zip(queries, names, strict=True)] if aspects else queries
        owners, items, grades = unique_rows(owners, items, grades.tolist(), request.duplicates)
        queries = [owner.partition("\n")[0] for owner in owners]
        names = [owner.partition("\n")[2] for owner in owners]
    try:
        return Judgments.from_rows(queries, items, grades, aspects=names if aspects else None)
    except DuplicateItem as error:
        raise _duplicate(source, (0, 1, 2) if aspects else (0, 2), "judges", comments=comments) from error


@file_format("trec", "preferences", sniff=_sniff_preferences)
def read_preferences_as_asked(source: Source, request: Request) -> "Preferences":
    """The preferences in lines `query group subgroup item level`."""
    return read_preferences(source, comments=request.comments)


def read_preferences(source: Source, *, comments: bool = False) -> "Preferences":
    """The preferences in a file of lines `query group subgroup item level` (trec_eval's format prefs).

    comments: lines that begin with `#` say nothing. Raises BadLine and DuplicateItem that name file and line, BadInput for a
    file without lines and where the preferences of a group contradict each other.
    """
    from rankwell.core.views.preferences import Preferences

    (queries, groups, subgroups, items), levels = _read_columns(source, _PREFERENCES, comments=comments)
    try:
        return Preferences.from_rows(queries, groups, subgroups, items, levels)
    except DuplicateItem as error:
        raise _duplicate(source, (0, 1, 2, 3), "names", comments=comments) from error
    except BadInput as error:
        raise BadInput(f"{source.name}: {error}") from error


def _duplicate(source: Source, key: tuple[int, ...], verb: str, *, comments: bool) -> DuplicateItem:
    """The error for the first line whose fields `key` stand in an earlier line."""
    seen: dict[tuple[bytes, ...], int] = {}
    with source.open() as stream:
        for number, line in enumerate(stream, 1):
            fields = line.split()
            if not fields or (comments and line.startswith(b"#")):
                continue
            first = seen.setdefault(tuple(fields[field] for field in key), number)
            if first != number:
                query, *_, item = (decode_id(fields[field]) for field in key)
                where = f"in lines {first} and {number}"
                return DuplicateItem(
                    f"{source.name}:{number}: query {query!r} {verb} item {item!r} twice, {where}; keep one of them."
                )
    raise AssertionError(f"{source.name}: no line stands there twice")
