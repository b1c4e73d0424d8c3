"""Evaluate retrievers and readers over a grid of parameters, from result files or by running them;
interrupted runs resume.
"""

import sys
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

from rankwell import __version__, report
from rankwell.core.registry import suggest
from rankwell.errors import BadInput
from rankwell.experiments.files import Experiment, read_experiment
from rankwell.experiments.files import written as shown
from rankwell.report.charts import write_charts
from rankwell.report.drafts import drafting, holding, publish, refuse_foreign, refuse_unclaimed
from rankwell.report.line_charts import parameter_chart
from rankwell.report.options import FolderOption, FormatOption, JobsOption, Output, Progress
from rankwell.store import Source, refuse_blocked, write_text
from rankwell.tasks.answers.evaluation import evaluate_answers
from rankwell.tasks.answers.grid import PointResult, figures_of, run_grid, wide

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
    plan = read_experiment(file)
    folder = Path(f"{plan.stem}-results") if output is None else output
    refuse_blocked(folder, folder=True)
    done: list[PointResult] = []
    place = folder.absolute()
    with holding(place):
        refuse_unclaimed(place, (_RESULTS,))
        if not (place / "kept").is_dir():
            refuse_foreign(place, (_RESULTS, "summary.csv"))
        with chdir(plan.folder):
            for each in run_grid(
                plan, place / "kept", evaluate_answers, fresh=fresh, jobs=jobs, progress=progress
            ):
                done.append(each)
                write_text(place / _RESULTS, report.render_rows(wide(done), "csv"))
        return _output(done, plan, file, folder, format)


def _output(
    done: Sequence[PointResult], plan: Experiment, file: Path, folder: Path, format: report.Format
) -> Output:
    """Writes the tables and charts of the runs; what is printed of them."""
    exact = _exact_names(done)
    unknown = next((name for name in plan.chart if name not in exact), None)
    if unknown is not None:
        raise BadInput(
            f"{plan.file}: chart.measures: unknown measure {unknown!r}; {suggest(unknown, exact)}"
        )
    labels, drawn = list(plan.chart or exact), plan.chart or main_figures(done)
    notes = _notes(done)
    rows, hidden = wide(done), 0
    if format == "table":
        moving = [name for name in labels if len({row.get(name) for row in rows}) > 1] or labels
        chosen = moving if plan.chart else moving[:_SHOWN]
        hidden = len(labels) - len(chosen)
        rows = [{"run": row["run"], **{name: row.get(name) for name in chosen}} for row in rows]
    reused = sum(each.reused for each in done)
    gold = plan.folder / str(plan.cells[0].options["gold"].value)
    inputs = {"grid": Source(file), "gold": Source(gold)}
    with drafting(folder, inputs.values(), growing=(_RESULTS,)) as draft:
        tables = [draft / _RESULTS, draft / "summary.csv"]
        for path, each in zip(tables, (wide(done), long(done)), strict=True):
            write_text(path, report.render_rows(each, "csv"))
        pictures = _draw(draft, done, drawn)
        if pictures and len(drawn) < len(labels):
            what = "those of all questions; [chart] measures names others"
            notes.append(f"charts show {len(drawn)} of {len(labels)} figures, {what}")
        notes += [f"{reused} of {len(done)} runs were done before"] if reused else []
        notes += (
            [f"{hidden} more measure{'s are' if hidden > 1 else ' is'} in results.csv"]
            if hidden
            else []
        )
        read = {name: {"file": each.name, "digest": each.digest()} for name, each in inputs.items()}
        content = {
            "schema_version": 1,
            "runs": len(plan.cells),
            "inputs": read,
            "notes": notes,
            "files": {},
        }
        publish(folder, {**content, "version": __version__}, [*tables, *pictures])
    text = report.render_rows(rows, format, terminal=report.terminal_of(sys.stdout))
    if format == "table":
        text += "\n".join(
            [
                "exact names:",
                *(f"  {name} = {exact[name]}" for name in rows[0] if name in exact),
                "",
            ]
        )
    return Output(text=text, notes=(*notes, report.Aside(f"wrote {folder}/")))


def _notes(done: Sequence[PointResult]) -> list[str]:
    """The notes on runs, each once, with the number of runs that have it."""
    notes = dict.fromkeys(note for each in done for note in each.notes)
    runs = {note: [each.point.run for each in done if note in each.notes] for note in notes}
    return [
        f"{own[0] if len(own) == 1 else f'{len(own)} of {len(done)} runs'}: {note}"
        for note, own in runs.items()
    ]


def main_figures(done: Sequence[PointResult]) -> list[str]:
    """The labels of measures over all questions: no thresholds, and no parts of the questions."""
    exact = _exact_names(done)
    main = [
        name
        for name, measure in exact.items()
        if not measure.startswith(_SEARCHED) and "population=" not in measure
    ]
    return main or list(exact)


def _exact_names(done: Sequence[PointResult]) -> dict[str, str]:
    """The exact names of the measures by the labels of figures."""
    return {
        name: str(row["measure"]) for each in done for name, row in figures_of(each.rows).items()
    }


def long(done: Sequence[PointResult]) -> list[dict[str, Any]]:
    """The summary rows of all runs, under the names of their points, with the parameters that no
    column has yet.
    """
    rows: list[dict[str, Any]] = []
    for each in done:
        given = {
            "system": each.point.cell.entry,
            **each.point.values,
            "experiment_id": each.experiment_id,
        }
        rows += [
            {
                **row,
                "run": each.point.run,
                **{name: given[name] for name in given if name not in row},
            }
            for row in each.rows
        ]
    return rows


def _draw(folder: Path, done: Sequence[PointResult], labels: Sequence[str]) -> list[Path]:
    """The paths of a chart for each parameter that varies, PNG and SVG."""
    specs = dict[str, dict[str, Any]]()
    for name in dict.fromkeys(name for each in done for name in each.point.cell.varying):
        tried = [each for each in done if name in each.point.cell.varying]
        alone = len({each.point.cell.entry for each in tried}) == 1
        rows = [row for each in tried for row in _against(each, name, labels, alone=alone)]
        if any(row["mean"] is not None for row in rows):
            specs[name] = parameter_chart(rows, name)
    return write_charts(folder, specs)


def _against(
    each: PointResult, parameter: str, labels: Sequence[str], *, alone: bool
) -> list[dict[str, Any]]:
    """The figures of one run for the chart of one parameter; a system alone is not named."""
    every = each.point.values
    others = [
        f"{name}={shown(every[name])}" for name in each.point.cell.varying if name != parameter
    ]
    series = " ".join(others if alone and others else [each.point.cell.entry, *others])
    about = {"system": each.point.cell.entry, "series": series, "value": every[parameter]}
    return [
        {**row, "label": name, **about}
        for name, row in figures_of(each.rows).items()
        if name in labels
    ]
