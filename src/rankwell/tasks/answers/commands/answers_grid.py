"""Evaluate retrievers and readers over a grid of parameters, from result files or by running them;
interrupted runs resume.
"""

import sys
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

from rankwell import __version__, reporting
from rankwell.comparison.bench.files import Experiment, read_experiment, written
from rankwell.data.registry import suggest
from rankwell.errors import BadInput
from rankwell.reporting.charts import write_charts
from rankwell.reporting.drafts import drafting, holding, publish, refuse_foreign, refuse_unclaimed
from rankwell.reporting.line_charts import parameter_chart
from rankwell.reporting.options import FolderOption, FormatOption, JobsOption, Output, Progress
from rankwell.store import Source, refuse_blocked, write_text
from rankwell.tasks.answers.evaluation import evaluate_answers
from rankwell.tasks.answers.grid import PointResult, run_grid, wide

_SHOWN = 6
_RESULTS = "results.csv"
_SEARCHED = ("Best(", "BestThreshold(", "AnswerAP(")


def grid(
    file: Path,
    /,
    *,
    output: FolderOption = None,
    format: FormatOption = "table",
    fresh: bool = False,
    jobs: JobsOption = 1,
    progress: Progress = None,
) -> Output:
    """Evaluate retrievers and readers over a grid of parameters, from result files or by running
    them; interrupted runs resume.

    A callable gets the questions and a point's parameters by name, and returns a ranking ({id:
    {document: score}} or a Ranking), answers ({id: string or list of strings} or Predictions), or a
    pair of both. Two come with rankwell: rankwell.tasks.answers.answering:bm25_overlap
    (k_retriever, k_reader, threshold) and :bm25_transformers (model, …). docs/answers.md has a
    whole grid and a whole callable.

    Parameters
    ----------
    file
        Experiment file, TOML: one [[dataset]] with gold and options, and [dataset.vary] with those
        that are tried value by value; a [[system]] each with call = "./FILE.py:OBJECT" or files,
        and [system.parameters]; [chart].
    output
        Folder for results.csv, summary.csv, a chart for each parameter and finished work; by
        default GRID-results.
    format
        How to print: a row for each run.
    fresh
        Run and evaluate everything anew, as after a change that is not looked at: other files that
        a callable reads, or other versions of installed packages.
    jobs
        Processes that run and evaluate systems at the same time; the processors are divided among
        them.
    """
    experiment = read_experiment(file)
    folder = Path(f"{experiment.stem}-results") if output is None else output
    refuse_blocked(folder, folder=True)
    results: list[PointResult] = []
    absolute = folder.absolute()
    with holding(absolute):
        refuse_unclaimed(absolute, (_RESULTS,))
        if not (absolute / "kept").is_dir():
            refuse_foreign(absolute, (_RESULTS, "summary.csv"))
        with chdir(experiment.folder):
            for result in run_grid(
                experiment,
                absolute / "kept",
                evaluate_answers,
                fresh=fresh,
                jobs=jobs,
                progress=progress,
            ):
                results.append(result)
                write_text(absolute / _RESULTS, reporting.render_rows(wide(results), "csv"))
        return _output(results, experiment, file, folder, format)


def _output(
    results: Sequence[PointResult],
    experiment: Experiment,
    file: Path,
    folder: Path,
    format: reporting.Format,
) -> Output:
    """Writes the tables and charts of the runs; what is printed of them."""
    names = _exact_names(results)
    for name in experiment.chart:
        if name not in names:
            raise BadInput(
                f"{experiment.file}: chart.measures: unknown measure {name!r}; "
                f"{suggest(name, names)}"
            )
    labels, drawn = list(experiment.chart or names), experiment.chart or main_figures(results)
    notes, table = _notes(results), wide(results)
    rows, hidden = table, 0
    if format == "table":
        varying = [name for name in labels if len({row.get(name) for row in table}) > 1] or labels
        columns = varying if experiment.chart else varying[:_SHOWN]
        hidden = len(labels) - len(columns)
        rows = [{"run": row["run"], **{name: row.get(name) for name in columns}} for row in table]
    gold = experiment.folder / str(experiment.cells[0].options["gold"].value)
    inputs = {"grid": Source(file), "gold": Source(gold)}
    with drafting(folder, inputs.values(), growing=(_RESULTS,)) as draft:
        tables = {draft / _RESULTS: table, draft / "summary.csv": _long(results)}
        for path, content in tables.items():
            write_text(path, reporting.render_rows(content, "csv"))
        pictures = _draw(draft, results, drawn)
        if pictures and len(drawn) < len(labels):
            notes.append(
                f"charts show {len(drawn)} of {len(labels)} figures, those of all questions; "
                "[chart] measures names others"
            )
        reused = sum(result.reused for result in results)
        if reused:
            notes.append(f"{reused} of {len(results)} runs were done before")
        if hidden:
            notes.append(f"{hidden} more measure{'s are' if hidden > 1 else ' is'} in results.csv")
        manifest = {
            "schema_version": 1,
            "runs": len(experiment.cells),
            "inputs": {
                name: {"file": source.name, "digest": source.digest()}
                for name, source in inputs.items()
            },
            "notes": notes,
            "files": {},
            "version": __version__,
        }
        publish(folder, manifest, [*tables, *pictures])
    text = reporting.render_rows(rows, format, terminal=reporting.terminal_of(sys.stdout))
    if format == "table":
        lines = [f"  {name} = {names[name]}" for name in rows[0] if name in names]
        text += "\n".join(["exact names:", *lines, ""])
    return Output(text=text, notes=(*notes, reporting.Aside(f"wrote {folder}/")))


def _notes(results: Sequence[PointResult]) -> list[str]:
    """The notes on runs, each once, with the number of runs that have it."""
    runs: dict[str, list[str]] = {}
    for result in results:
        for note in dict.fromkeys(result.notes):
            runs.setdefault(note, []).append(result.point.run)
    return [
        f"{names[0] if len(names) == 1 else f'{len(names)} of {len(results)} runs'}: {note}"
        for note, names in runs.items()
    ]


def main_figures(results: Sequence[PointResult]) -> list[str]:
    """The labels of measures over all questions: no thresholds, and no parts of the questions."""
    names = _exact_names(results)
    return [
        label
        for label, measure in names.items()
        if not measure.startswith(_SEARCHED) and "population=" not in measure
    ] or list(names)


def _exact_names(results: Sequence[PointResult]) -> dict[str, str]:
    """The exact names of the measures by the labels of figures."""
    return {
        label: str(row["measure"]) for result in results for label, row in result.figures.items()
    }


def _long(results: Sequence[PointResult]) -> list[dict[str, Any]]:
    """The summary rows of all runs, under the names of their points, with the parameters that no
    column has yet.
    """
    rows: list[dict[str, Any]] = []
    for result in results:
        point = result.point
        about = {"system": point.cell.entry, **point.values, "experiment_id": result.experiment_id}
        for row in result.rows:
            more = {name: value for name, value in about.items() if name not in row}
            rows.append({**row, "run": point.run, **more})
    return rows


def _draw(folder: Path, results: Sequence[PointResult], labels: Sequence[str]) -> list[Path]:
    """The paths of a chart for each parameter that varies, PNG and SVG."""
    specs = dict[str, dict[str, Any]]()
    for name in dict.fromkeys(name for result in results for name in result.point.cell.varying):
        moving = [result for result in results if name in result.point.cell.varying]
        is_alone = len({result.point.cell.entry for result in moving}) == 1
        rows = [row for result in moving for row in _against(result, name, labels, is_alone)]
        if any(row["mean"] is not None for row in rows):
            specs[name] = parameter_chart(rows, name)
    return write_charts(folder, specs)


def _against(
    result: PointResult, parameter: str, labels: Sequence[str], is_alone: bool
) -> list[dict[str, Any]]:
    """The figures of one run for the chart of one parameter; a system alone is not named."""
    cell, values = result.point.cell, result.point.values
    words = [f"{name}={written(values[name])}" for name in cell.varying if name != parameter]
    series = " ".join(words if is_alone and words else [cell.entry, *words])
    about = {"system": cell.entry, "series": series, "value": values[parameter]}
    return [
        {**row, "label": label, **about} for label, row in result.figures.items() if label in labels
    ]
