"""Convert runs and judgments between formats."""

from pathlib import Path
from typing import Annotated

from rankwell.data.options import Option
from rankwell.files.conversion import ConvertOptions, convert_file
from rankwell.reporting.options import Output


def convert(
    source: str, target: Annotated[Path, Option(writes="file")], /, *, options: ConvertOptions
) -> Output:
    """Convert runs and judgments between formats.

    The suffix of the target names the format.

      rankwell convert run.json run.txt

    Parameters
    ----------
    source
        File to read; `-` is standard input. A folder of a data set or a study, or irds:ID, stands
        for its judgments; STUDY:NAME for those of one judge, or the grades of a model, which are
        not judgments (STUDY:model where there is one model).
    target
        File to write, whole or not at all: .run, .trec, .qrels or .txt (TREC), .parquet, .csv,
        .tsv, .json; with --to quepid or opensearch, what those import.
    """
    return Output(messages=convert_file(source, target, options).messages)
