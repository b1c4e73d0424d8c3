"""One table or document for programs: CSV and TSV, JSON and JSON lines."""

import csv
import json
import re
from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from math import isfinite, isnan
from typing import Any

from rankwell.data.tables import ValueRows, Values
from rankwell.evaluation.results import SCHEMA_VERSION
from rankwell.reporting import (
    PER_QUERY_COLUMNS,
    SUMMARY_COLUMNS,
    Document,
    Row,
    columns_of,
    output,
    plain,
)

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_CONTROLS = {
    ",": re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"),
    "\t": re.compile(r"[\0-\x1f\x7f-\x9f]"),
}
"""Characters that are written as escapes, by the delimiter: fields between tabs have no quotation
marks to hold their own.
"""
# JSON escapes the others by itself.
_UNSEEN = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_IDS = ("run", "query", "item", "clip", "id")


@output("csv")
def render_csv(document: Document) -> str:
    """One table with a header, floats in full, undefined figures empty; with values of single
    queries, these and not the summary.

    A text that a spreadsheet would run as a formula (it begins with = + - @ or a control character)
    gets a leading apostrophe; numbers never do, nor do names of runs, queries and items, by which
    tables are joined: ids of videos begin with - at times. Lists and mappings are written as JSON,
    control characters but tabs and ends of lines as escapes.
    """
    return _delimited(document, ",")


@output("tsv")
def render_tsv(document: Document) -> str:
    """As `csv`, but separated by tabs, without apostrophes and quotation marks: this one is for
    scripts.

    Tabs and ends of lines in a text are written as escapes.
    """
    return _delimited(document, "\t")


def _delimited(document: Document, delimiter: str) -> str:
    rows, names = _single(document)
    head = _table_lines([[_harmless(name, delimiter) for name in names]], delimiter)
    columns = [
        (name, delimiter == "," and name not in _IDS and not name.endswith("_id")) for name in names
    ]
    if isinstance(rows, ValueRows) and names == [*rows.columns]:
        return head + "".join(_value_lines(group, delimiter) for group in rows.groups)
    cells = (
        [_cell(row.get(name), delimiter, guarded=guard) for name, guard in columns] for row in rows
    )
    return head + _table_lines(cells, delimiter)


class _Lines(list[str]):
    """Lines that a writer of the csv module has made."""

    write = list[str].append


def _table_lines(rows: Iterable[Sequence[str]], delimiter: str) -> str:
    """The lines of a table; between tabs escapes have left nothing to quote."""
    if delimiter == "\t":
        return "".join(["\t".join(row) + "\n" for row in rows])
    lines = _Lines()
    # A carriage return is quoted because lines end in one, which then goes.
    csv.writer(lines, lineterminator="\r\n").writerows(rows)
    return "".join([f"{line[:-2]}\n" for line in lines])


def _harmless(text: str, delimiter: str) -> str:
    """Text with control characters as escapes, those excepted that quotation marks hold."""
    return (
        text
        if text.isprintable()
        else _CONTROLS[delimiter].sub(lambda match: ascii(match[0])[1:-1], text)
    )


def _value_lines(group: Sequence[Values], delimiter: str) -> str:
    """The lines of one run's values; the cells of a measure other than query and value are joined
    once.
    """
    run = _quoted(group[0].run, delimiter) + delimiter
    # Most tables have no id that needs quotes or escapes.
    all_queries = "".join(group[0].queries)
    odd = not all_queries.isprintable() or _needs_quotes(all_queries, delimiter)
    begins = [run + (_quoted(query, delimiter) if odd else query) for query in group[0].queries]
    pieces: list[Iterable[str]] = []
    for column in group:
        words = [
            _quoted(_cell(word, delimiter, guarded=delimiter == ","), delimiter)
            for word in (column.measure, column.label, column.unit)
        ]
        numbers = ["" if isnan(value) else repr(value) for value in column.values.tolist()]
        pieces += [
            begins,
            repeat(delimiter.join(("", *words[:2], ""))),
            numbers,
            repeat(f"{delimiter}{words[2]}\n"),
        ]
    return "".join(chain.from_iterable(zip(*pieces, strict=False)))


def _quoted(text: str, delimiter: str) -> str:
    text = _harmless(text, delimiter)
    return '"' + text.replace('"', '""') + '"' if _needs_quotes(text, delimiter) else text


def _needs_quotes(text: str, delimiter: str) -> bool:
    return delimiter == "," and any(mark in text for mark in (delimiter, '"', "\n", "\r"))


def _cell(value: Any, delimiter: str, *, guarded: bool) -> str:
    # A table may have hundreds of thousands of cells, nearly all of them of these two types.
    simple = (
        value if type(value) is str or (type(value) is float and isfinite(value)) else plain(value)
    )
    if simple is None:
        return ""
    if isinstance(simple, str):
        return "'" * (guarded and simple.startswith(_FORMULA)) + _harmless(simple, delimiter)
    return (
        json.dumps(simple, ensure_ascii=False) if isinstance(simple, (list, dict)) else repr(simple)
    )


@output("json")
def render_json(document: Document) -> str:
    """`{"schema_version": 2, "rows": [...], "rules": {...}, "findings": [...]}`, and `per_query`
    after `rows` on request.

    One row to a line; undefined is null; floats in full. A text with bytes that are not UTF-8 is
    written in ASCII escapes.
    """
    names = columns_of(document.rows, SUMMARY_COLUMNS if document.summary else ())
    parts = {"schema_version": str(SCHEMA_VERSION), "rows": _array(_full(document.rows, names))}
    if document.per_query is not None:
        parts["per_query"] = _array(
            _full(document.per_query, columns_of(document.per_query, PER_QUERY_COLUMNS))
        )
    parts |= {
        name: _array(_full(rows, columns_of(rows, ()))) for name, rows in document.tables.items()
    }
    parts |= {"rules": _json(document.rules), "findings": _array(document.findings)}
    return "{" + ",\n ".join(f'"{name}": {text}' for name, text in parts.items()) + "}\n"


@output("jsonl")
def render_jsonl(document: Document) -> str:
    """One JSON object per line; with values of single queries, these and not the summary."""
    return "".join(_json(row) + "\n" for row in _full(*_single(document)))


def _single(document: Document) -> tuple[Sequence[Row], list[str]]:
    """The rows of the one table, and their columns: those of single queries where there are any,
    else the others.
    """
    if document.per_query is not None:
        return document.per_query, columns_of(document.per_query, PER_QUERY_COLUMNS)
    return document.rows, columns_of(document.rows, SUMMARY_COLUMNS if document.summary else ())


def _full(rows: Sequence[Row], names: Sequence[str]) -> list[Row]:
    return [{name: row.get(name) for name in names} for row in rows]


def _array(entries: Iterable[Any]) -> str:
    lines = [_json(entry) for entry in entries]
    return "[\n  " + ",\n  ".join(lines) + "\n ]" if lines else "[]"


def _json(value: Any) -> str:
    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False)
    if text.isprintable():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(plain(value), allow_nan=False)
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
