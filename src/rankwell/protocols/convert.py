"""Convert a run or judgments from one format to another; the target's suffix says which."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from rankwell import files
from rankwell.protocols import Output


def convert(
    source: str,
    target: Path,
    /,
    *,
    source_format: Annotated[str | None, Parameter(name=["--from"])] = None,
    target_format: Annotated[str | None, Parameter(name=["--to"])] = None,
    kind: Literal["run", "judgments"] | None = None,
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
    kind
        Whether the source is a run or judgments, where its content does not tell.
    """
    done = files.convert(source, target, source_format=source_format, target_format=target_format, kind=kind)
    return Output(notes=(f"{source}: read as {done.source_format}", f"wrote {target} ({done.rows} rows, {done.target_format})"))
