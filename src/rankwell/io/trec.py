"""TREC's files, fields between any white space: runs, qrels and preferences.

A run has lines `query Q0 item rank score tag`; neither rank nor tag has an effect here. Qrels have
lines `query 0 item grade`; their second field names the judgment group in some files (trec_eval's
qrels_jg) or the intent (ndeval), and is read on request. Preferences have lines `query group
subgroup item level`.
"""

import re
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankwell.data.columns import known_columns, unique_rows
from rankwell.data.rankings import Ranking
from rankwell.data.tables import Floats, Judgments
from rankwell.errors import BadInput, BadLine, DuplicateItem
from rankwell.io.formats import SURE, Request, file_format, line_cuts
from rankwell.io.reader import read_judged_rows, run_lines
from rankwell.io.reader.columns import (
    are_numbers,
    number_of,
    refuse_large_grades,
    refuse_repeated,
    settle_qrels,
)
from rankwell.io.reader.lines import COMMENT, TREC_RUN, RunRows, read_rows, repeated, shorten
from rankwell.store import Head, Source, decode_id, encode_id

if TYPE_CHECKING:
    from rankwell.data.preferences import Preferences

_WHITE = re.compile(r"[ \t\n\v\f\r]")


def _confidence(head: Head, width: int, number: int) -> float:
    """Confidence by the share of lines with so many fields, of which one is a number; low for a
    table with names of columns.

    Where no line has the number, TREC's constant second column shows what the lines are, unless
    another column of judgments has numbers; their reader names the one at fault.
    """
    rows = head.fields
    good = sum(len(fields) == width and are_numbers([fields], number) for fields in rows)
    if rows and good == len(rows):
        return SURE
    if good and known_columns([decode_id(field) for field in rows[0]]) > 1:
        return 0.3
    marked = rows and all(len(fields) == width and fields[1] in (b"Q0", b"0") for fields in rows)
    if good or (marked and (width == 6 or not are_numbers(rows, 2))):
        return 0.6
    return 0.3 if any(abs(len(fields) - max(width - 1, 4)) <= 1 for fields in rows) else 0.0


_sniff_run, _sniff_judgments = (
    partial(_confidence, width=6, number=4),
    partial(_confidence, width=4, number=3),
)


def _refuse_unwritable(names: Iterable[str], file_kind: str) -> None:
    for name in names:
        if not name or _WHITE.search(name):
            raise BadInput(
                f"{name!r} has white space in it or is empty, and a {file_kind} cannot hold it; "
                "write CSV or Parquet."
            )


def write_run(ranking: Ranking, path: Path, *, tag: str = "rankwell") -> None:
    """Writes a TREC run file: each query's items by falling score, equal scores in the order of the
    table, ranks from 1.

    Scores are written so that reading gives the same doubles. Raises BadInput for an id that is
    empty or holds white space.
    """
    _refuse_unwritable((*ranking.queries, *ranking.items, tag), "TREC run")
    bounds = ranking.offsets.tolist()
    with path.open("wb") as file:
        for query, (start, stop) in zip(ranking.queries, pairwise(bounds), strict=True):
            rows = start + np.argsort(-ranking.scores[start:stop], kind="stable")
            scores = ranking.scores[rows].tolist()
            text = "".join(
                f"{query} Q0 {ranking.items[row]} {rank} {score!r} {tag}\n"
                for rank, (row, score) in enumerate(zip(rows.tolist(), scores, strict=True), 1)
            )
            file.write(encode_id(text))


@file_format(
    "trec",
    "run",
    sniff=_sniff_run,
    write=write_run,
    suffixes=(".run", ".trec", ".txt"),
    cut=line_cuts,
    has_comments=True,
    **run_lines(lambda *_: TREC_RUN),
)
def read_run(source: Source, request: Request | None = None) -> Ranking:
    """The whole run; the items of a query stay in the order of the file.

    Raises DuplicateItem, unless the request says which of two to keep; BadLine, BadScore or
    BadInput as `scan` does.
    """
    request = request or Request()
    rows = read_rows(source, request.options, progress=request.progress)
    if request.oddities is not None:
        request.oddities.contradicting.update(_contradicting(rows))
    return request.ranking_of(rows, source)


def _contradicting(run: RunRows) -> set[str]:
    """Queries in which a better rank has a lower score."""
    ranked = np.flatnonzero(~np.isnan(run.ranks))
    names = (
        np.unique(np.array(run.queries, dtype=object), return_inverse=True)[1]
        if len(ranked)
        else np.zeros(0, dtype=int)
    )
    order = ranked[np.lexsort((-run.scores[ranked], run.ranks[ranked], names[ranked]))]
    rises = (run.scores[order][1:] > run.scores[order][:-1]) & (
        names[order][1:] == names[order][:-1]
    )
    return {run.queries[row] for row in order[1:][rises].tolist()}


class _Form(NamedTuple):
    """A kind of line in a TREC file.

    name: the name of such a line in messages.
    words: the names of its fields, the last of which is a number.
    hints: number of fields -> a question that says what a line with so many fields probably is.
    """

    name: str
    words: tuple[str, ...]
    hints: dict[int, str]


_QRELS = _Form(
    "qrels",
    ("query", "0", "item", "grade"),
    {
        6: "is this a run file?",
        5: "is this a file of preferences?",
        3: "does it have a header or tabs of another format?",
    },
)
_PREFERENCES = _Form(
    "preference",
    ("query", "group", "subgroup", "item", "level"),
    {6: "is this a run file?", 4: "is this a qrels file?"},
)


def _lines(source: Source, *, comments: bool) -> Iterator[tuple[int, bytes, list[bytes]]]:
    """Number, text and fields of each line that has any and is not a comment."""
    return (
        (number, line, line.split())
        for number, line in source.lines()
        if not (comments and line.startswith(b"#"))
    )


def _read_columns(source: Source, form: _Form, *, comments: bool) -> tuple[list[list[str]], Floats]:
    """The fields of all lines but the number, one list per field, and the numbers. Raises BadLine;
    BadInput without a line.
    """
    columns: list[list[str]] = [[] for _ in form.words[1:]]
    numbers, names, grades = list[float](), dict[bytes, str](), dict[bytes, float]()
    for number, line, fields in _lines(source, comments=comments):
        if len(fields) != len(form.words):
            if line.startswith(b"#"):
                raise BadLine(f"{source.name}:{number}: {shorten(line)} {COMMENT}")
            problem = (
                f"{source.name}:{number}: {shorten(line)} has {len(fields)} "
                f"field{'s' * (len(fields) != 1)}"
            )
            raise BadLine(
                f"{problem}, a {form.name} line has {len(form.words)} ({' '.join(form.words)}); "
                f"{form.hints.get(len(fields), 'correct the line, or name another format.')}"
            )
        text = fields.pop()
        if text not in grades:
            if (grade := number_of(text)) is None:
                if line.startswith(b"#"):
                    raise BadLine(f"{source.name}:{number}: {shorten(line)} {COMMENT}")
                raise BadLine(
                    f"{source.name}:{number}: {form.words[-1]} {shorten(text)} in {shorten(line)} "
                    "is not a finite number; write a number such as 1 or 0.5, or take the line out."
                )
            grades[text] = grade
        numbers.append(grades[text])
        # Ids that many lines share are one text.
        for column, raw in zip(columns, fields, strict=True):
            column.append(names[raw] if raw in names else names.setdefault(raw, decode_id(raw)))
    if not numbers:
        raise BadInput(
            f"{source.name} holds no {form.name} line; expected lines `{' '.join(form.words)}`."
        )
    return columns, np.array(numbers)


def _repeated(
    source: Source, fields: tuple[int, ...], verb: str, *, comments: bool
) -> DuplicateItem | None:
    """The error for the first line whose fields of these positions appear in an earlier line."""
    lines = _lines(source, comments=comments)
    return repeated(
        source.name,
        verb,
        (
            (tuple(decode_id(line_fields[field]) for field in fields), number)
            for number, _, line_fields in lines
        ),
    )


def write_judgments(judgments: Judgments, path: Path) -> None:
    """Writes a qrels file in the order of the table; the second field is the group or intent, `0`
    where there are none.

    Grades are written so that reading gives the same doubles. Queries without rows leave no trace.
    Raises BadInput for an id that is empty or holds white space.
    """
    _refuse_unwritable(
        {*judgments.queries, *judgments.items, *(judgments.aspects or ())}, "qrels file"
    )
    owners = [judgments.queries[query] for query in judgments.query_of_row.tolist()]
    aspects = ["0"] * len(owners) if judgments.aspects is None else judgments.aspects
    with path.open("wb") as file:
        for query, aspect, item, grade in zip(
            owners, aspects, judgments.items, judgments.grades.tolist(), strict=True
        ):
            number = int(grade) if grade.is_integer() else repr(grade)
            file.write(encode_id(f"{query} {aspect} {item} {number}\n"))


@file_format(
    "trec",
    "judgments",
    sniff=_sniff_judgments,
    settle=settle_qrels,
    write=write_judgments,
    suffixes=(".qrels", ".qrel", ".trec", ".txt"),
    has_comments=True,
    is_lines=True,
)
def read_judgments(source: Source, request: Request | None = None) -> Judgments:
    """The judgments in a qrels file, of two that judge an item the one that the request says.

    Raises BadLine for a line without four fields or a grade that is not a finite number and
    DuplicateItem for an item that is judged twice, both naming file and line; BadInput for a file
    without lines.
    """
    request = request or Request()
    aspects, comments = request.aspects != "none", request.comments
    # The compiled reader gives nothing where an item is judged twice.
    judged_rows = read_judged_rows(source, comments=comments, aspects=aspects)
    if judged_rows is not None:
        judgments = judged_rows.table()
        refuse_large_grades(source.name, judgments.grades if request.recognised else ())
        return judgments
    (queries, names, items), grades = _read_columns(source, _QRELS, comments=comments)
    refuse_large_grades(source.name, grades if request.recognised else ())
    if request.duplicates != "error":
        # An id holds no white space, so that query and aspect can be joined and separated again.
        owners = (
            [f"{query}\n{name}" for query, name in zip(queries, names, strict=True)]
            if aspects
            else queries
        )
        owners, items, grades = unique_rows(owners, items, grades.tolist(), request.duplicates)
        queries = [owner.partition("\n")[0] for owner in owners]
        names = [owner.partition("\n")[2] for owner in owners]
    try:
        return Judgments.from_rows(queries, items, grades, aspects=names if aspects else None)
    except DuplicateItem as error:
        if request.recognised and not aspects:
            refuse_repeated(Head.of(source))
        raise (
            _repeated(source, (0, 1, 2) if aspects else (0, 2), "judges", comments=comments)
            or error
        ) from error


def _sniff_preferences(head: Head) -> float:
    # Below one half, because a run without its last column looks the same.
    rows = head.fields
    return (
        0.45 if rows and all(len(fields) == 5 for fields in rows) and are_numbers(rows, 4) else 0.1
    )


@file_format("trec", "preferences", sniff=_sniff_preferences, has_comments=True, is_lines=True)
def read_preferences(source: Source, request: Request | None = None) -> "Preferences":
    """The preferences in lines `query group subgroup item level` (trec_eval's format prefs).

    Raises BadLine and DuplicateItem that name file and line, BadInput for a file without lines and
    where the preferences of a group contradict each other.
    """
    from rankwell.data.preferences import Preferences

    comments = request is not None and request.comments
    (queries, groups, subgroups, items), levels = _read_columns(
        source, _PREFERENCES, comments=comments
    )
    try:
        return Preferences.from_rows(queries, groups, subgroups, items, levels)
    except DuplicateItem as error:
        raise _repeated(source, (0, 1, 2, 3), "names", comments=comments) or error from error
    except BadInput as error:
        raise BadInput(f"{source.name}: {error}") from error
