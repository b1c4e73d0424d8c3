"""Lines without a header, whose columns are chosen (`--columns query=1,item=2,score=3`) or can be
nothing else.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from rankwell.data.columns import unique_rows
from rankwell.data.rankings import Hits, Ranking
from rankwell.data.shared_hits import SharedCounts, SharedQueries
from rankwell.data.tables import Judgments
from rankwell.errors import BadLine, BadScore, BadUsage, DuplicateItem
from rankwell.io.formats import Request, file_format, line_cuts
from rankwell.io.reader import Irregular, ListScan, NumberedLists, count_lines, scan
from rankwell.io.reader.columns import (
    GRADED,
    SCORED,
    SNIFFED,
    ColumnRoles,
    are_numbers,
    are_ordered,
    layout_of,
    number_of,
    option_of,
    order_of,
    refuse_large_grades,
    refuse_missing,
    refuse_readings,
    refuse_repeated,
    separation_of,
    settle_run,
)
from rankwell.io.reader.lines import Layout, RunRows, read_rows, repeated, shorten
from rankwell.store import Head, Source, decode_id


def _sniff_run(head: Head) -> float:
    """Three fields of which the last is a number, and not a rank in the order of the lines."""
    rows = _first_rows(head)
    return 0.7 if rows and order_of((row[0], row[2]) for row in rows).kind != "ranks" else 0.0


def _sniff_judgments(head: Head) -> float:
    """Three fields of which the last is a grade."""
    return 0.7 if _first_rows(head) else 0.0


def _first_rows(head: Head) -> list[list[bytes]]:
    """The fields of the first lines; none unless all have three, of which the last is a number."""
    rows = [line.split() for line in head.lines[:SNIFFED]]
    return rows if all(len(row) == 3 for row in rows) and are_numbers(rows, 2) else []


def _form(
    source: Source, request: Request, usual: Mapping[str, str]
) -> tuple[dict[str, str], bytes | None, int]:
    """The numbers of the columns, what separates them, and how many a line has.

    Raises BadUsage where some are not chosen, or not there.
    """
    choice, holds = dict(request.columns or usual), "judgments" if "grade" in usual else "run"
    missing = {"query", "item"} - choice.keys()
    if missing or len(choice) < len(usual):
        lacking = " and ".join(sorted(missing)) or (
            "grade" if "grade" in usual else "score or rank"
        )
        raise BadUsage(
            f"{source.name} has no header; choose its {lacking} with {option_of(holds)}, too."
        )
    head = Head.of(source)
    separation = separation_of(head, choice)
    if separation is not None and separation.format == "headerless":
        return choice, separation.delimiter, separation.width
    if request.columns:
        refuse_missing(head, holds, choice)
        why = f"has no such columns in {shorten(head.lines[0])}; correct the option."
        if separation is not None:
            why = f"is a table ({separation.format}); leave out the format that you name."
        raise BadUsage(f"{option_of(holds, choice)}: {source.name} {why}")
    return choice, None, len(usual)


def _layout(source: Source, request: Request) -> Layout | None:
    """The layout of lines between white space; None for another separator."""
    choice, delimiter, width = _form(source, request, SCORED)
    return layout_of(choice, width) if delimiter is None else None


def _find_hits(source: Source, judgments: Judgments, request: Request) -> Hits:
    layout = _layout(source, request)
    if layout is None:
        return request.hits(read_run(source, request), judgments)
    return scan(
        source,
        judgments,
        layout,
        request.options._replace(comments=False),
        progress=request.progress,
    )


def _count_shared(
    source: Source, judgments: Judgments, shared: SharedQueries, request: Request
) -> SharedCounts | None:
    layout = _layout(source, request)
    return layout and count_lines(
        source, judgments, shared, layout, request.options._replace(comments=False)
    )


def _lists(
    sources: Sequence[Source], items: Sequence[str], request: Request
) -> Iterator[NumberedLists]:
    layout = _layout(sources[0], request)
    if layout is None:
        raise Irregular
    lists = ListScan(items, layout, request.options._replace(comments=False))
    for source in sources:
        yield from lists.read(source)


@file_format(
    "headerless",
    "run",
    sniff=_sniff_run,
    settle=settle_run,
    find_hits=_find_hits,
    count_shared=_count_shared,
    cut=line_cuts,
    lists=_lists,
    columns=True,
)
def read_run(source: Source, request: Request) -> Ranking:
    """The ranking in lines without a header: `query item score` between white space, unless columns
    are chosen.

    Raises BadLine for a line of another form, DuplicateItem naming both lines.
    """
    choice, delimiter, width = _form(source, request, SCORED)
    layout = layout_of(choice, width)
    if delimiter is None:
        options = request.options._replace(comments=False)
        return request.ranking_of(
            read_rows(source, options, layout, progress=request.progress), source
        )
    value = "rank" if layout.by_rank else "score"
    rows = list(_rows(source, delimiter, width, (layout.query, layout.item, layout.value), value))
    queries, items, numbers, lines = (list(column) for column in zip(*rows, strict=True))
    scores = -np.array(numbers) if layout.by_rank else np.array(numbers)
    return request.ranking_of(RunRows(queries, items, scores, scores, np.array(lines)), source)


@file_format("headerless", "judgments", sniff=_sniff_judgments, columns=True)
def read_judgments(source: Source, request: Request) -> Judgments:
    """The judgments in lines without a header: `query item grade` between white space, unless
    columns are chosen.

    Raises BadLine for a line of another form, DuplicateItem naming both lines, and BadInput where
    their meaning is not certain.
    """
    if request.aspects != "none":
        raise BadUsage(
            f"{source.name} has no header; groups and intents are read from tables that name "
            "them, and from TREC's qrels."
        )
    choice, delimiter, width = _form(source, request, GRADED)
    column_indices = tuple(int(choice[key]) - 1 for key in ("query", "item", "grade"))
    rows = list(_rows(source, delimiter, width, column_indices, "grade"))
    queries, items, grades, lines = (list(column) for column in zip(*rows, strict=True))
    if request.recognised:
        _refuse_other(source, queries, items, grades)
    if request.duplicates != "error":
        queries, items, grades = unique_rows(queries, items, grades, request.duplicates)
    try:
        return Judgments.from_rows(queries, items, grades)
    except DuplicateItem as error:
        pairs = zip(zip(queries, items, strict=True), lines, strict=True)
        raise repeated(source.name, "judges", pairs) or error from error


def _refuse_other(
    source: Source, queries: Sequence[str], items: Sequence[str], grades: Sequence[float]
) -> None:
    """Raises BadInput where three columns may be other than query, item and grade."""
    refuse_large_grades(source.name, grades)
    reason = ""
    if set(items) <= {"0", "Q0"} or (len(items) > 1 and len(set(items)) == 1):
        reason = "the second column is the same in every line, so that it may not be the item"
    elif are_ordered(zip(queries, grades, strict=True)) and len(set(queries)) < len(queries):
        reason = "the numbers count the lines of every query, as ranks of a run do"
    if reason:
        refuse_readings(Head.of(source), "judgments", [ColumnRoles(1, 2, 3, "grade")], reason)
    if len(set(zip(queries, items, strict=True))) < len(items):
        refuse_repeated(Head.of(source))


def _rows(
    source: Source, delimiter: bytes | None, width: int, column_indices: Sequence[int], value: str
) -> Iterator[tuple[str, str, float, int]]:
    """Query, item, number and line of each line. Raises BadLine and BadScore."""
    for line_number, line in source.lines():
        fields = line.rstrip(b"\r\n").split(delimiter)
        where = f"{source.name}:{line_number}: {shorten(line)}"
        if len(fields) != width:
            raise BadLine(
                f"{where} has {len(fields)} columns, the first line has {width}; correct the line."
            )
        query, item, text = (fields[column_index].strip() for column_index in column_indices)
        number = number_of(text)
        if number is None or (value == "rank" and (number < 0 or number % 1)):
            kind = "an integer from 0" if value == "rank" else "a finite number"
            raise BadScore(
                f"{where}: the {value} is {shorten(text)}; expected {kind}. Correct the line, "
                "or choose other columns."
            )
        if not query or not item:
            raise BadLine(f"{where} has no {'item' if query else 'query'}; correct the line.")
        yield decode_id(query), decode_id(item), number, line_number
