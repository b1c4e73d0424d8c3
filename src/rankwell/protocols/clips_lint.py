"""Check an annotation table before it is used: undeclared and doubled labels, unread columns, clips without a keyword."""

import sys
from collections import Counter
from typing import Annotated

from cyclopts import Parameter

from rankwell import report
from rankwell.files.annotations import read_annotations
from rankwell.files.keyword_schema import read_schema
from rankwell.protocols import FormatOption, Output
from rankwell.truth.keyword_lint import lint as find

_HARMLESS = ("never used", "two groups")


def lint(
    annotations: str,
    /,
    *,
    schema: str | None = None,
    groups: str | None = None,
    strict: Annotated[bool, Parameter(negative=())] = False,
    format: FormatOption = "table",  # noqa: A002
) -> Output:
    """Check an annotation table before it is used: undeclared and doubled labels, unread columns, clips without a keyword.

    Parameters
    ----------
    annotations
        Table of clips: slice_id and a column of keywords per group, or one column keywords (CSV, TSV, JSON lines, Parquet).
    schema
        JSON file {group: [label, ...]} of the declared keywords.
    groups
        Further columns that hold keywords, with commas between them.
    strict
        Exit code 1 where anything is found but labels that are unused or in two groups.
    format
        How to print.
    """
    declared = None if schema is None else read_schema(schema)
    named = [part.strip() for part in (groups or "").split(",") if part.strip()]
    table = read_annotations(annotations, schema=declared, groups=named)
    found = find(table)
    counts = Counter(each.kind for each in found)
    size = f"{len(table.clips)} clips, {int((table.uses > 0).sum())} keywords in {len(table.groups)} groups"
    summary = ", ".join(f"{number} × {kind}" for kind, number in counts.items()) if found else "nothing odd"
    text = (
        report.render_rows([each._asdict() for each in found], format, terminal=report.terminal_of(sys.stdout)) if found else ""
    )
    if not found and format == "json":
        text = report.render_rows([], format)
    odd = any(each.kind not in _HARMLESS for each in found)
    return Output(text=text, notes=(f"{annotations}: {size}: {summary}",), exit_code=int(strict and odd))
