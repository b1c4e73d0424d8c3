"""Check an annotation table before it is used: undeclared and doubled labels, unread columns, clips without a keyword."""

import sys
from collections import Counter
from collections.abc import Sequence

from rankwell import report
from rankwell.report.present import FormatOption, Output, listed
from rankwell.tasks.clips.formats.annotations import read_annotations
from rankwell.tasks.clips.formats.keyword_schema import read_schema
from rankwell.tasks.clips.lint import LintFinding
from rankwell.tasks.clips.lint import lint as find

_HARMLESS = ("never used", "two groups")
_SHOWN = 3


def lint(
    annotations: str,
    /,
    *,
    schema: str | None = None,
    groups: str | None = None,
    strict: bool = False,
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
    named = listed(groups, "--groups")
    table = read_annotations(annotations, schema=declared, groups=named)
    found = find(table)
    counts = Counter(each.kind for each in found)
    size = f"{len(table.clips)} clips, {int((table.uses > 0).sum())} keywords in {len(table.groups)} groups"
    summary = ", ".join(f"{number} × {kind}" for kind, number in counts.items()) if found else "nothing odd"
    shown = _for_people(found) if format in ("table", "md", "latex") else found
    rows = [each._asdict() for each in shown]
    text = report.render_rows(rows, format, terminal=report.terminal_of(sys.stdout)) if found else ""
    if not found and format == "json":
        text = report.render_rows([], format)
    odd = any(each.kind not in _HARMLESS for each in found)
    return Output(text=text, notes=(f"{annotations}: {size}: {summary}",), exit_code=int(strict and odd))


def _for_people(found: Sequence[LintFinding]) -> list[LintFinding]:
    """The findings, with the labels that nobody uses in one line per group at the end."""
    rest = [each for each in found if each.kind != "never used"]
    unused: dict[str, list[str]] = {}
    for each in found:
        if each.kind == "never used":
            unused.setdefault(each.group, []).append(each.label)
    for group, labels in unused.items():
        more = f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else ""
        what = f"{len(labels)} declared and on no clip: {', '.join(labels[:_SHOWN])}{more}"
        rest.append(LintFinding("never used", group, "", 0, what))
    return rest
