"""Lines without a header, whose columns are chosen (`--columns query=1,item=2,score=3`) or can be
nothing else; MS MARCO's `query item rank` and `id text`.
"""

import re
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from rankwell.data.rankings import Ranking
from rankwell.data.tables import Judgments, columns_of
from rankwell.errors import BadInput, BadLine, BadScore, BadUsage
from rankwell.io.formats import Request, Texts, file_format, line_cuts
from rankwell.io.reader import run_lines, scan
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
    settle_ranks,
    settle_run,
)
from rankwell.io.reader.lines import MSMARCO_RUN, Layout, ReadOptions, RunRows, read_rows, shorten
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


@file_format(
    "headerless",
    "run",
    sniff=_sniff_run,
    settle=settle_run,
    cut=line_cuts,
    has_columns=True,
    **run_lines(_layout),
)
def read_run(source: Source, request: Request) -> Ranking:
    """The ranking in lines without a header: `query item score` between white space, unless columns
    are chosen.

    Raises BadLine for a line of another form, DuplicateItem naming both lines.
    """
    choice, delimiter, width = _form(source, request, SCORED)
    layout = layout_of(choice, width)
    if delimiter is None:
        rows = read_rows(source, request.options, layout, progress=request.progress)
    else:
        value = "rank" if layout.by_rank else "score"
        column_indices = layout.query, layout.item, layout.value
        rows = _rows(source, delimiter, width, column_indices, value)
        rows = rows._replace(scores=-rows.scores if layout.by_rank else rows.scores)
    return request.ranking_of(rows, source)


@file_format("headerless", "judgments", sniff=_sniff_judgments, has_columns=True, is_lines=True)
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
    rows = _rows(source, delimiter, width, column_indices, "grade")
    if request.recognised:
        _refuse_other(source, rows)
    return request.judgments_of(rows, source)


def _refuse_other(source: Source, rows: RunRows) -> None:
    """Raises BadInput where three columns may be other than query, item and grade."""
    queries, items, grades = rows.queries, rows.items, rows.scores.tolist()
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
) -> RunRows:
    """The rows of lines with their numbers as scores. Raises BadLine and BadScore."""
    rows = list[tuple[str, str, float, int]]()
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
        rows.append((decode_id(query), decode_id(item), number, line_number))
    queries, items, numbers, lines = columns_of(rows, 4)
    scores = np.array(numbers)
    return RunRows(queries, items, scores, scores, np.array(lines))


def _sniff_ranks(head: Head) -> float:
    """Three fields of which the last counts the lines of each query."""
    rows = _first_rows(head)
    if (
        rows
        and all(row[2].isdigit() for row in rows)
        and order_of((row[0], row[2]) for row in rows).kind == "ranks"
    ):
        return 0.8
    return 0.15 * any(len(line.split()) == 3 for line in head.lines[:1])


def _sniff_texts(head: Head) -> float:
    """An id and a text, or an id, an address, a title and a text; numbers do not count as texts."""
    rows = [line.split(b"\t") for line in head.lines[:20]]
    is_text = not head.raw.startswith(b"PAR1")
    fits = is_text and rows and all(len(row) in (2, 4) and row[0].strip() for row in rows)
    return (
        0.6
        if fits and not all(re.fullmatch(rb"\s*[-+]?[\d.]+\s*", row[-1]) for row in rows)
        else 0.0
    )


def _confirm(source: Source) -> None:
    """Raises BadInput where the first lines alone are in the order of their ranks."""
    no_judgments = Judgments.from_rows([], [], [])
    scan(
        source,
        no_judgments,
        MSMARCO_RUN,
        ReadOptions(),
        unordered=partial(settle_ranks, source, Head.of(source)),
    )


@file_format(
    "msmarco",
    "run",
    sniff=_sniff_ranks,
    cut=line_cuts,
    confirm=_confirm,
    **run_lines(lambda *_: MSMARCO_RUN),
)
def read_ranks(source: Source, request: Request) -> Ranking:
    """The ranking in lines `query item rank`; the score is the rank with its sign turned.

    Raises BadLine for a line of another form, DuplicateItem naming both lines. Source: Bajaj et al.
    2016, MS MARCO.
    """
    rows = read_rows(source, request.options, MSMARCO_RUN, progress=request.progress)
    if request.recognised and not are_ordered(zip(rows.queries, rows.ranks.tolist(), strict=True)):
        settle_ranks(source, Head.of(source))
    return request.ranking_of(rows, source)


@file_format("msmarco", "texts", sniff=_sniff_texts, is_lines=True)
def read_texts(source: Source, request: Request) -> Texts:
    """The texts in lines `id text`, or `id url title text` for documents: all that follows the id
    is text.
    """
    texts = dict[str, str]()
    for number, line in source.lines():
        name, tab, text = decode_id(line.rstrip(b"\r\n")).partition("\t")
        if not tab or not name:
            raise BadLine(
                f"{source.name}:{number}: {name[:60]!r}; a line is an id, a tab and a text."
            )
        if name in texts:
            raise BadInput(
                f"{source.name}:{number}: the id {name!r} already appears in an earlier line; "
                "every text needs its own id."
            )
        texts[name] = "" if request.ids_only else text
    return Texts(texts, {name: {} for name in texts})
