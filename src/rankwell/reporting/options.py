"""Options that many commands have, and the output of a command for a result."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from rankwell import reporting
from rankwell.data.findings import Finding
from rankwell.data.options import Doc, Injected, Input, NamedProgress, Option
from rankwell.errors import BadUsage, typed
from rankwell.reporting import (
    OUTPUTS,
    PAPER,
    Document,
    Format,
    Row,
    TableStyle,
    render,
    render_rows,
)
from rankwell.reporting import Output as Output
from rankwell.reporting import StatusNote as StatusNote
from rankwell.reporting.outputs.answers import answer_of, lines_for

if TYPE_CHECKING:
    from rankwell.evaluation.results import ResultData

InputPlace = Annotated[str, Input()]
InputOption = Annotated[str | None, Input()]
Progress = Annotated[NamedProgress | None, Injected()]
PerQueryOption = Annotated[
    bool,
    Option(("--per-query",)),
    Doc(
        "Print a row for each query. Single-table formats (csv, tsv, jsonl) have these rows "
        "instead of the summary.",
        is_common=True,
    ),
]
Printed = TypeVar("Printed")
PrintedAs = Annotated[Printed, Option(("--format", "-f")), Doc("Output format.")]
FormatOption = PrintedAs[Format]
FolderOption = Annotated[Path | None, Option(("--output", "-o"), writes="folder")]
PageOption = Annotated[Path | None, Option(("--output", "-o"), writes="page")]
FolderPath = Annotated[Path, Option(("--output", "-o"), writes="folder")]
FileOption = Annotated[Path | None, Option(("--output", "-o"), writes="file")]
FilePath = Annotated[Path, Option(("--output", "-o"), writes="file")]
OutputPath = Annotated[Path, Option(("--output", "-o"))]


def option_names(text: str | None, option: str) -> list[str]:
    """The names in an option's text, separated by commas; none without the option. Raises BadUsage
    for an empty name.
    """
    if text is None:
        return []
    names = [part.strip() for part in text.split(",")]
    if not all(names):
        raise BadUsage(f"{option} {text!r} has an empty name; expected names separated by commas.")
    return names


def present(
    result: "ResultData",
    *,
    format: Format = "table",
    per_query: bool = False,
    output: Path | None = None,
    tables: Mapping[str, Sequence[Row]] = {},
    charts: bool = True,
    others: Sequence[Path] = (),
    style: TableStyle | None = None,
) -> Output:
    """The output of a command for a result; `output` is the folder that it is written to as well,
    each file whole or not at all.

    tables: further rows by name. charts: whether charts of any result are drawn. others: files that
    the command has written into the folder already, for the manifest. style: that of the table.
    """
    rows, terminal = (list(result.per_query()) if per_query else None, reporting.terminal_of())
    text = paper_text(result, format, style, rows, tables) or render(
        result.summary,
        rows,
        result.describe(),
        result.findings,
        format,
        terminal=terminal,
        tables=tables,
        answer=answer_of(result),
    )
    if output is not None:
        # Only a call that writes needs it.
        from rankwell.reporting.folder import write_result

        write_result(result, output, tables=tables, charts=charts, others=others)
    return printed_output(text, format, result.findings, output)


def printed_output(
    text: str,
    format: Format,
    findings: Sequence[Finding],
    folder: Path | None,
    *written: StatusNote,
) -> Output:
    """The output of a command, with findings where the text has none, and with the folder that it
    has written, whose page is to be opened next. written: further notes on files.
    """
    printed = Output(text, written, findings=() if format == "json" else tuple(findings))
    if folder is None:
        return printed
    return printed._replace(
        messages=(*written, StatusNote(f"wrote {folder}/")),
        next_step=typed("rankwell", "report", folder, "--open"),
    )


def introduced(introduction: str, printed: Output, page: Path, *written: StatusNote) -> Output:
    """The output of a demo: what it does, in two lines, then what a command printed, and the page
    of its results to open next.

    page: the folder that has the page. written: notes on files.
    """
    terminal = reporting.terminal_of()
    above = lines_for(introduction, terminal)
    return printed._replace(
        text=f"{above}\n\n{printed.text}",
        messages=(*printed.messages, *written),
        next_step=typed("rankwell", "report", page, "--open"),
    )


def paper_text(
    result: "ResultData",
    format: Format,
    style: TableStyle | None,
    per_query: Sequence[Row] | None = None,
    tables: Mapping[str, Sequence[Row]] = {},
) -> str:
    """The scores as a table for a paper, after the values of single queries and before further
    tables; "" in other formats, and where scores make no table of runs by measures.
    """
    if format not in PAPER:
        return ""
    from rankwell.reporting.system_table import for_paper, render_system_tables

    table = result.score_table()
    if table is None:
        return ""
    table = for_paper(table, style or TableStyle(), intervals=False)
    further = [rows for rows in tables.values() if rows]
    return "\n".join(
        [
            *([] if per_query is None else [OUTPUTS[format](Document([], per_query))]),
            render_system_tables([table], format),
            *(render_rows(rows, format) for rows in further),
        ]
    )
