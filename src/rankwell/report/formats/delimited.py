"""Comma- and tab-separated tables, for spreadsheets and scripts."""

import csv
import io
import json
from math import isfinite
from typing import Any

from rankwell.report import Document, output, plain

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_IDS = ("run", "query", "item", "clip", "id")


@output("csv")
def render_csv(document: Document) -> str:
    """One table with a header, floats in full, undefined figures empty; with values of single queries, these and not the summary.

    A text that a spreadsheet would run as a formula (it begins with = + - @ or a control character) gets a leading apostrophe;
    numbers never do, nor do names of runs, queries and items, by which tables are joined: ids of videos begin with - at times.
    Lists and mappings are written as JSON.
    """
    return _delimited(document, ",", guarded=True)


@output("tsv")
def render_tsv(document: Document) -> str:
    """As `csv`, but separated by tabs and with every text as it is: this one is for scripts."""
    return _delimited(document, "\t", guarded=False)


def _delimited(document: Document, delimiter: str, *, guarded: bool) -> str:
    rows, names = document.single
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(names)
    columns = [(name, guarded and name not in _IDS and not name.endswith("_id")) for name in names]
    writer.writerows([_cell(row.get(name), guarded=guard) for name, guard in columns] for row in rows)
    return text.getvalue()


def _cell(value: Any, *, guarded: bool) -> str:
    # A table may have hundreds of thousands of cells, nearly all of them of these two types.
    simple = value if type(value) is str or (type(value) is float and isfinite(value)) else plain(value)
    if simple is None:
        return ""
    if isinstance(simple, str):
        return "'" + simple if guarded and simple.startswith(_FORMULA) else simple
    return json.dumps(simple, ensure_ascii=False) if isinstance(simple, (list, dict)) else repr(simple)
