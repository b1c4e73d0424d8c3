"""Options that many commands have; and a command's output, from `rankwell.report`."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from rankwell.core.options import Doc, Injected, Input, Option
from rankwell.errors import BadUsage
from rankwell.report import Aside as Aside
from rankwell.report import Format
from rankwell.report import Output as Output
from rankwell.report import present as present

InputPlace = Annotated[str, Input()]
InputOption = Annotated[str | None, Input()]
Progress = Annotated[Callable[[str, int, int], None] | None, Injected()]
PerQueryOption = Annotated[bool, Option(("--per-query", "-q"))]
FormatOption = Annotated[Format, Option(("--format", "-f")), Doc("How to print.")]
OutputOption = Annotated[Path | None, Option(("--output", "-o"))]
FolderOption = Annotated[Path | None, Option(("--output", "-o"), writes="folder")]
PageOption = Annotated[Path | None, Option(("--output", "-o"), writes="page")]
FolderPath = Annotated[Path, Option(("--output", "-o"), writes="folder")]
FileOption = Annotated[Path | None, Option(("--output", "-o"), writes="file")]
FilePath = Annotated[Path, Option(("--output", "-o"), writes="file")]
JobsOption = Annotated[int, Option(("--jobs", "-j"))]
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
