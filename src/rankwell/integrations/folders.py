"""Results in memory or in a folder, as the adapters of experiment trackers need them: figures,
rules and files by name.
"""

import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rankwell.comparison.requirements import SummaryFigures, part_of_row
from rankwell.errors import BadUsage, kind_of
from rankwell.io.result_folder import ResultFolder, read_results, read_summary
from rankwell.reporting import Row, plain, rule_pairs, rules_line
from rankwell.results import Results

_FIGURES = ("mean", "ci_low", "ci_high", "n")


@dataclass(frozen=True, eq=False, kw_only=True)
class LoggedResults:
    """Results in the form that an experiment tracker keeps.

    metrics: `RUN/MEASURE/FIGURE` -> number, for mean, ci_low, ci_high and n; undefined figures are
        left out. A name has only letters, digits and ` _.-/`: `@` becomes `_at_`, any other
        character `_`; a repeated name ends in a number.
    parameters: each rule by name, and `rules`, the whole line.
    folder: the folder of the files.
    """

    metrics: Mapping[str, float]
    parameters: Mapping[str, str]
    folder: Path


@contextmanager
def logged(results: Results | str | Path) -> Generator[LoggedResults]:
    """Results, or a folder of results, as a tracker keeps them. Raises BadInput for a folder that
    does not hold results.
    """
    with folder_of(results) as folder:
        written = read_results(folder)
        figures = SummaryFigures(
            read_summary(written), written.values, written.row_attributes, written.rules
        )
        metrics = dict[str, float]()
        for row in figures.rows:
            words = [row["run"], row["label"], part_of_row(row, figures)]
            name = "/".join(_plain(word) for word in words if word)
            number = 1
            while f"{name}/n" in metrics:
                number += 1
                name = f"{name.removesuffix(f' {number - 1}')} {number}"
            metrics |= {
                f"{name}/{figure}": float(row[figure])
                for figure in _FIGURES
                if row.get(figure) is not None
            }
        rules = {_plain(name): value for name, value in rule_pairs(written.rules)}
        yield LoggedResults(
            metrics=metrics, parameters={**rules, "rules": rules_line(written.rules)}, folder=folder
        )


@contextmanager
def folder_of(results: Results | str | Path) -> Generator[Path]:
    """The folder of results; those in memory are written into a temporary one. Raises BadUsage for
    anything else.
    """
    if isinstance(results, (str, Path)):
        yield Path(results)
        return
    _refuse_other(results)
    with TemporaryDirectory() as temporary_folder:
        folder = Path(temporary_folder, "results")
        results.save(folder, charts=False)
        yield folder


def content_of(results: Results | str | Path) -> tuple[ResultFolder, Sequence[Row]]:
    """The content of a folder of results, or of results in memory, with the rows of their summary.
    Raises BadUsage for anything else.
    """
    if isinstance(results, (str, Path)):
        folder = read_results(results)
        return folder, read_summary(folder)
    _refuse_other(results)
    return results.as_folder(), plain(results.summary)


def _refuse_other(results: Any) -> None:
    if not isinstance(results, Results):
        raise BadUsage(
            f"results are {kind_of(results)}; expected the results of an evaluation, or a "
            "folder that a command wrote with -o."
        )


def _plain(word: str) -> str:
    """A word as part of a name that every tracker takes: no separators, and never dots alone, which
    would be a path.
    """
    plain = re.sub(r"[^A-Za-z0-9_.\- ]", "_", word.replace("@", "_at_"))
    return re.sub(r"^\.+", lambda dots: "_" * len(dots[0]), plain)
