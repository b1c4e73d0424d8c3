"""Options that many commands have, and what a command hands over: the text of a result, its notes, its folder."""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from rankwell import report as reports
from rankwell.core.options import Injected, Input, Option
from rankwell.errors import BadUsage

if TYPE_CHECKING:
    from rankwell.evaluation.results import Results


InputPlace = Annotated[str, Input()]
InputOption = Annotated[str | None, Input()]
Progress = Annotated[Callable[[str, int, int], None] | None, Injected()]
MeasureOption = Annotated[list[str] | None, Option(("--measure", "-m"))]
ConventionOption = Annotated[str, Option(("--convention", "-c"))]

PerQueryOption = Annotated[bool, Option(("--per-query", "-q"))]
FormatOption = Annotated[reports.Format, Option(("--format", "-f"))]
OutputOption = Annotated[Path | None, Option(("--output", "-o"))]
JobsOption = Annotated[int, Option(("--jobs", "-j"))]
OutputPath = Annotated[Path, Option(("--output", "-o"))]


class Output(NamedTuple):
    """The output of a command: `text` goes to standard output, `notes` to standard error, `exit_code` to the shell."""

    text: str = ""
    notes: tuple[str, ...] = ()
    exit_code: int = 0


def listed(text: str | None, option: str) -> list[str]:
    """The names in an option's text, with commas between them; none without the option. Raises BadUsage for an empty name."""
    if text is None:
        return []
    names = [part.strip() for part in text.split(",")]
    if not all(names):
        raise BadUsage(f"{option} {text!r} has an empty name; expected names with commas between them.")
    return names


def present(
    result: "Results",
    *,
    format: reports.Format = "table",  # noqa: A002
    per_query: bool = False,
    output: Path | None = None,
    notes: Sequence[str] = (),
    tables: Mapping[str, Sequence[reports.Row]] | None = None,
    charts: bool = True,
    others: Sequence[Path] = (),
) -> Output:
    """The output of a command for a result; `output` is the folder that it is written to as well, each file whole or not at all.

    notes: the command's own, before those of the result. tables: further rows by name, after the summary.
    charts: whether the charts of any result are drawn; a command may have better ones of its own. others: files that it has
    written into the folder already, for the manifest.
    """
    own = [*result.notes, *result.interval_notes]
    rows = list(result.per_query()) if per_query else None
    said = [*notes, *(own if format != "json" else [])]
    terminal = reports.terminal_of(sys.stdout)
    text = reports.render(result.summary, rows, result.describe(), own, format, terminal=terminal, tables=tables)
    if output is not None:
        from rankwell.report.folder import content_of, write_folder

        content = content_of(result, notes=own, tables=tables or {})
        write_folder(output, content, charts=charts, others=others)
        said.append(f"wrote {output}/")
    return Output(text=text, notes=tuple(said))
