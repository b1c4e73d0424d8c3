"""Convert a run or judgments from one format to another; the target's suffix says which."""

from pathlib import Path
from typing import Annotated, Literal

from rankwell import io
from rankwell.core.options import Option
from rankwell.errors import BadUsage
from rankwell.report.present import Output
from rankwell.store import STDIN


def convert(
    source: str,
    target: Path,
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
        Name of the source's format, where its content does not tell.
    target_format
        Name of the target's format, where its suffix does not tell.
    holds
        Whether the source holds a run or judgments, where its content does not tell.
    duplicates
        An item that a query lists twice: an error, or keep the first or the best-scored.
    """
    if str(target) in STDIN:
        raise BadUsage("the target is a file; its suffix names the format. To print, name /dev/stdout and the format with --to.")
    done = io.convert(
        source, target, holds=holds, source_format=source_format, target_format=target_format, duplicates=duplicates
    )
    lost = [f"{done.lost} queries without rows are not in {target}: the format cannot hold them"] if done.lost else []
    written = f"wrote {target} ({done.rows} rows, {done.target})"
    return Output(notes=(f"{source}: {done.holds} read as {done.source}", *done.notes, written, *lost))
