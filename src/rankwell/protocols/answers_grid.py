"""Evaluate retrievers and readers over a grid of parameters, from result files or by running them; a killed run goes on."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from rankwell import __version__, report
from rankwell.errors import BadInput
from rankwell.evaluation.answers import evaluate_answers
from rankwell.evaluation.grid import Done, Runner, figures_of, wide
from rankwell.files.grid_toml import Grid, read_grid, written
from rankwell.protocols import Output, Progress
from rankwell.registry import suggest
from rankwell.report.parameter_chart import parameter_chart
from rankwell.store import Source, refuse_blocked, write_bytes, write_text

_SHOWN = 6


def grid(
    file: Path,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    format: Annotated[report.Format, Parameter(name=["--format", "-f"])] = "table",  # noqa: A002
    progress: Progress = None,
) -> Output:
    """Evaluate retrievers and readers over a grid of parameters, from result files or by running them; a killed run goes on.

    Parameters
    ----------
    file
        The grid, TOML: gold, [evaluation], [parameters], [chart] and a [systems.NAME] each with call = "module:object" or files.
    output
        Folder for results.csv, summary.csv, a chart for each parameter and finished work; by default GRID-results.
    format
        How to print: a row for each run.
    """
    plan = read_grid(file)
    folder = Path(f"{plan.name}-results") if output is None else output
    refuse_blocked(folder, folder=True)
    done: list[Done] = []
    for each in Runner(plan, folder / "kept", evaluate_answers).run(progress=progress):
        done.append(each)
        write_text(folder / "results.csv", report.render_rows(wide(done), "csv"))
    write_text(folder / "summary.csv", report.render_rows(long(done), "csv"))
    labels = _measures(plan, done)
    _draw(folder, done, labels)
    rows, hidden = wide(done), 0
    if format == "table":
        moving = [name for name in labels if len({row.get(name) for row in rows}) > 1] or labels
        chosen = moving if plan.measures else moving[:_SHOWN]
        hidden = len(labels) - len(chosen)
        rows = [{"run": row["run"], **{name: row.get(name) for name in chosen}} for row in rows]
    kept = sum(each.kept for each in done)
    notes = list(dict.fromkeys(f"{each.point.run}: {note}" for each in done for note in each.notes))
    notes += [f"{kept} of {len(done)} runs were done before"] if kept else []
    notes += [f"{hidden} more measure{'s stand' if hidden > 1 else ' stands'} in results.csv"] if hidden else []
    _write_manifest(folder, file, plan, notes)
    text = report.render_rows(rows, format, terminal=report.terminal_of(sys.stdout))
    return Output(text=text, notes=(*notes, f"wrote {folder}/"))


def _write_manifest(folder: Path, file: Path, plan: Grid, notes: Sequence[str]) -> None:
    """What everything was made from; comes last."""
    inputs = {
        name: {"file": str(place), "digest": Source(place).digest()} for name, place in (("grid", file), ("gold", plan.gold))
    }
    content = {"schema_version": 1, "runs": len(plan.points), "inputs": inputs, "notes": list(notes), "version": __version__}
    write_text(folder / "manifest.json", json.dumps(content, indent=2) + "\n")


def long(done: Sequence[Done]) -> list[dict[str, Any]]:
    """The summary rows of all runs, under the names of their points, with the parameters that their own columns do not say."""
    rows: list[dict[str, Any]] = []
    for each in done:
        given = {"system": each.point.system, **each.point.parameters, **each.point.settings, "experiment_id": each.experiment_id}
        rows += [{**row, "run": each.point.run, **{name: given[name] for name in given if name not in row}} for row in each.rows]
    return rows


def _measures(plan: Grid, done: Sequence[Done]) -> list[str]:
    """The labels to show: those that the grid names, else all."""
    known = list(dict.fromkeys(name for each in done for name in figures_of(each.rows)))
    unknown = next((name for name in plan.measures if name not in known), None)
    if unknown is not None:
        raise BadInput(f"{plan.name}: chart.measures: no measure is called {unknown!r}; {suggest(unknown, known)}")
    return list(plan.measures) or known


def _draw(folder: Path, done: Sequence[Done], labels: Sequence[str]) -> None:
    """A chart for each parameter that varies, PNG and SVG."""
    for name in dict.fromkeys(name for each in done for name in each.point.varying):
        tried = [each for each in done if name in each.point.varying]
        alone = len({each.point.system for each in tried}) == 1
        rows = [row for each in tried for row in _against(each, name, labels, alone=alone)]
        if any(row["mean"] is not None for row in rows):
            picture = report.draw(parameter_chart(rows, name))
            write_bytes(folder / f"{name}.png", picture.png)
            write_text(folder / f"{name}.svg", picture.svg)


def _against(each: Done, parameter: str, labels: Sequence[str], *, alone: bool) -> list[dict[str, Any]]:
    """The figures of one run for the chart of one parameter; where there is one system alone, its name tells nothing."""
    every = {**each.point.settings, **each.point.parameters}
    others = [f"{name}={written(every[name])}" for name in each.point.varying if name != parameter]
    series = " ".join(others if alone and others else [each.point.system, *others])
    about = {"system": each.point.system, "series": series, "value": every[parameter]}
    return [{**row, "label": name, **about} for name, row in figures_of(each.rows).items() if name in labels]
