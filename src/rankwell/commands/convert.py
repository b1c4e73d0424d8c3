"""Convert a run or judgments from one format to another; the target's suffix says which."""

from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import numpy as np

from rankwell.core.options import Option
from rankwell.core.tables.columns import Holds
from rankwell.errors import BadUsage
from rankwell.io import files as io
from rankwell.report.present import Aside, Output
from rankwell.store import STDIN, Head, Source


class Conversion(NamedTuple):
    """A converted file: the formats that were read and written, the rows, and notes on both."""

    path: Path
    holds: Literal["run", "judgments"]
    source_format: str
    target_format: str
    rows: int
    notes: tuple[str, ...]


def convert(
    source: str,
    target: Annotated[Path, Option(writes="file")],
    /,
    *,
    source_format: Annotated[str | None, Option(("--from",))] = None,
    target_format: Annotated[str | None, Option(("--to",))] = None,
    holds: Literal["run", "judgments"] | None = None,
    duplicates: io.Duplicates = "error",
) -> Output:
    """Convert a run or judgments from one format to another; the target's suffix says which.

    Parameters
    ----------
    source
        File to read; `-` is standard input.
    target
        File to write, whole or not at all: .run, .trec, .qrels or .txt (TREC), .parquet, .csv, .tsv, .json.
    source_format
        Name of the source's format, where its content does not determine it.
    target_format
        Name of the target's format, where its suffix does not determine it.
    holds
        Whether the source holds a run or judgments, where its content does not determine it.
    duplicates
        An item that a query lists twice: an error, or keep the first or the best-scored.
    """
    done = convert_file(
        source, target, source_format=source_format, target_format=target_format, holds=holds, duplicates=duplicates
    )
    return Output(notes=done.notes)


def convert_file(
    source: str | Path,
    target: Path,
    *,
    source_format: str | None = None,
    target_format: str | None = None,
    holds: Literal["run", "judgments"] | None = None,
    duplicates: io.Duplicates = "error",
) -> Conversion:
    """Writes what a file holds in another format. Raises BadUsage where it may be a run or judgments."""
    if str(target) in STDIN:
        raise BadUsage("the target is a file; its suffix names the format. To print, name /dev/stdout and the format with --to.")
    opened = Source(source)
    known = holds or _kind(Head.of(opened), source_format)
    request = io.Request(duplicates=duplicates)
    table, name = io.read_as(opened, known, source_format, request)
    written = (io.write_run if known == "run" else io.write_judgments)(table, target, format=target_format)
    wrote = f"wrote {target} ({len(table.items)} rows, {written})"
    notes = [Aside(f"{source}: {known} read as {name}"), *request.notes, Aside(wrote)]
    # Only JSON holds queries without rows.
    lost = 0 if written == "json" else int((np.diff(table.offsets) == 0).sum())
    notes += [f"{lost} queries without rows are not in {target}: the format cannot hold them"] if lost else []
    return Conversion(target, known, name, written, len(table.items), tuple(notes))


def _kind(head: Head, name: str | None) -> Literal["run", "judgments"]:
    """Whether content is a run or judgments. Raises BadUsage where it may be either."""
    head.refuse_foreign()
    sure: dict[Holds, float] = {"run": 0.0, "judgments": 0.0}
    for each, entry in io.scored(head):
        if name is None or name.partition(":")[0] == entry.name:
            sure[entry.holds] = max(each, sure.get(entry.holds, 0.0))
    if sure["run"] == sure["judgments"]:
        raise BadUsage(f"{head.name}: {head.seen} may be a run or judgments; say which of them it is.")
    return "run" if sure["run"] > sure["judgments"] else "judgments"
