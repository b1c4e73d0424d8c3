"""JSON: one document with rows, rules and notes, or one row per line."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from rankwell.evaluation.results import SCHEMA_VERSION
from rankwell.report import PER_QUERY_COLUMNS, SUMMARY_COLUMNS, Document, Row, columns_of, output, plain


@output("json")
def render_json(document: Document) -> str:
    """`{"schema_version": 2, "rows": [...], "rules": {...}, "notes": [...]}`, and `per_query` after `rows` on request.

    One row to a line; undefined is null; floats in full. A text with bytes that are not UTF-8 is written in ASCII escapes.
    """
    names = columns_of(document.rows, SUMMARY_COLUMNS if document.summary else ())
    parts = {"schema_version": str(SCHEMA_VERSION), "rows": _array(_full(document.rows, names))}
    if document.per_query is not None:
        parts["per_query"] = _array(_full(document.per_query, columns_of(document.per_query, PER_QUERY_COLUMNS)))
    parts |= {name: _array(_full(rows, columns_of(rows, ()))) for name, rows in document.tables.items()}
    parts |= {"rules": _json(document.rules), "notes": _array(document.notes)}
    return "{" + ",\n ".join(f'"{name}": {text}' for name, text in parts.items()) + "}\n"


@output("jsonl")
def render_jsonl(document: Document) -> str:
    """One JSON object per line; with values of single queries, these and not the summary."""
    return "".join(_json(row) + "\n" for row in _full(*document.single))


def _full(rows: Sequence[Row], names: Sequence[str]) -> list[dict[str, Any]]:
    return [{name: row.get(name) for name in names} for row in rows]


def _array(entries: Iterable[Any]) -> str:
    lines = [_json(each) for each in entries]
    return "[\n  " + ",\n  ".join(lines) + "\n ]" if lines else "[]"


def _json(value: Any) -> str:
    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(plain(value), allow_nan=False)
    return text
