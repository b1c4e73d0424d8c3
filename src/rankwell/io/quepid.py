"""Quepid: ratings as CSV with the header `query,docid,rating`, in which a query is its text."""

import csv
import re
from dataclasses import replace
from pathlib import Path

from rankwell.data.tables import Judgments
from rankwell.errors import BadInput, shown
from rankwell.io.formats import FORMATS, Request, file_format
from rankwell.store import Head, Source

_HEADER = ("query", "docid", "rating")
_RATING = re.compile(r",[^,\n]*, *[-+.\d][-+.\deE]*\r?\n")
"""The end of a line of ratings, and of no text."""


def _sniff(head: Head) -> float:
    return 0.95 * bool(re.match(rb'"?query"?,"?docid"?,"?rating"?\r?\n', head.raw))


def _write(table: Judgments, path: Path) -> None:
    if table.aspects is not None:
        raise BadInput(
            "Quepid's ratings cannot hold groups or intents; write TREC, CSV or Parquet."
        )
    bounds, grades = table.offsets.tolist(), table.grades.tolist()
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(_HEADER)
        for query, start, stop in zip(table.queries, bounds, bounds[1:], strict=False):
            for item, grade in zip(table.items[start:stop], grades[start:stop], strict=True):
                writer.writerow((query, item, int(grade) if grade.is_integer() else grade))


@file_format("quepid", "judgments", sniff=_sniff, write=_write, kind_of="csv", by_text=True)
def read_judgments(source: Source, request: Request) -> Judgments:
    """The ratings that Quepid exports and imports; queries go by their texts. Source: Quepid 8,
    Export Ratings, CSV.

    Raises BadInput for a query in which a rating stands: a quotation mark that is not closed takes
    in the lines behind it.
    """
    table = FORMATS["csv judgments"].read(
        source, replace(request, columns={"grade": _HEADER[-1]}, by_text=True)
    )
    for query in table.queries:
        if _RATING.search(query):
            problem = (
                f"{source.name}: the query {shown(query)} holds a rating, as where a quotation "
                "mark is not closed"
            )
            raise BadInput(f"{problem}; close or remove the mark.")
    return table
