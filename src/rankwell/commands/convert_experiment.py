"""Convert a file of an earlier version, as of grids and systems, to an experiment file; bench files
are such files already.
"""

from pathlib import Path
from typing import Annotated

from rankwell.core.options import Option
from rankwell.experiments.files import convert_former, read_experiment, read_statements
from rankwell.report.options import Aside, Output
from rankwell.store import Source, write_text


def experiment(source: Path, target: Annotated[Path, Option(writes="file")], /) -> Output:
    """Convert a file of an earlier version, as of grids and systems, to an experiment file; bench
    files are such files already.

    Write it into the same folder: paths in an experiment file are relative to it. Comments are
    lost.

    Parameters
    ----------
    source
        File of an earlier version, TOML.
    target
        Experiment file to write; docs/benches.md describes it.
    """
    text = convert_former(Source(source))
    write_text(target, text)
    # Names that an earlier version accepted may be errors now, which are reported with their lines
    # in the new file.
    if "[[dataset]]" in text:
        read_experiment(target)
    else:
        read_statements(target)
    return Output(notes=(Aside(f"wrote {target}"),))
