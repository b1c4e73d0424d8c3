"""Evaluate retrievers and readers over a grid of parameters, from result files or by running them; a killed run goes on."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankwell import __version__, report
from rankwell.core.registry import suggest
from rankwell.errors import BadInput
from rankwell.report.folder import digest_of, remove_stale
from rankwell.report.parameter_chart import parameter_chart
from rankwell.report.present import FormatOption, Output, OutputOption, Progress
from rankwell.store import Source, refuse_blocked, write_bytes, write_text
from rankwell.tasks.answers.evaluation import evaluate_answers
from rankwell.tasks.answers.grid import Done, Runner, figures_of, wide
from rankwell.tasks.answers.grid_toml import Grid, read_grid
from rankwell.tasks.answers.grid_toml import written as shown

_SHOWN = 6
_SEARCHED = ("Best(", "BestThreshold(", "AnswerAP(")


def grid(
    file: Path,
    /,
    *,
    output: OutputOption = None,
    format: FormatOption = "table",  # noqa: A002
    fresh: bool = False,
    progress: Progress = None,
) -> Output:
    """Evaluate retrievers and readers over a grid of parameters, from result files or by running them; a killed run goes on.

    A callable gets the questions and a point's parameters by name, and returns what it found ({id: {document: score}} or a
    Ranking), what it answered ({id: text or list of texts} or Predictions), or a pair of both. Two come with rankwell:
    rankwell.tasks.answers.answering:bm25_overlap (k_retriever, k_reader, threshold) and :bm25_transformers (model, …).
    docs/answers.md has a whole grid and a whole callable.

    Parameters
    ----------
    file
        The grid, TOML: gold, [evaluation], [parameters], [chart] and a [systems.NAME] each with call = "module:object" or files.
    output
        Folder for results.csv, summary.csv, a chart for each parameter and finished work; by default GRID-results.
    format
        How to print: a row for each run.
    fresh
        Run and evaluate everything anew, as after a change that the kept work cannot know of: other files that a callable reads,
        or other versions of installed packages.
    """
    plan = read_grid(file)
    folder = Path(f"{plan.name}-results") if output is None else output
    refuse_blocked(folder, folder=True)
    done: list[Done] = []
    for each in Runner(plan, folder / "kept", evaluate_answers, fresh=fresh).run(progress=progress):
        done.append(each)
        write_text(folder / "results.csv", report.render_rows(wide(done), "csv"))
    write_text(folder / "summary.csv", report.render_rows(long(done), "csv"))
    labels = _measures(plan, done)
    drawn = plan.measures or main_figures(done)
    pictures = _draw(folder, done, drawn)
    rows, hidden = wide(done), 0
    if format == "table":
        moving = [name for name in labels if len({row.get(name) for row in rows}) > 1] or labels
        chosen = moving if plan.measures else moving[:_SHOWN]
        hidden = len(labels) - len(chosen)
        rows = [{"run": row["run"], **{name: row.get(name) for name in chosen}} for row in rows]
    kept = sum(each.kept for each in done)
    notes = _notes(done)
    if pictures and len(drawn) < len(labels):
        notes.append(f"charts show {len(drawn)} of {len(labels)} figures, those of all questions; [chart] measures names others")
    notes += [f"{kept} of {len(done)} runs were done before"] if kept else []
    notes += [f"{hidden} more measure{'s stand' if hidden > 1 else ' stands'} in results.csv"] if hidden else []
    _write_manifest(folder, file, plan, notes, [folder / "results.csv", folder / "summary.csv", *pictures])
    text = report.render_rows(rows, format, terminal=report.terminal_of(sys.stdout))
    if format == "table":
        exact = {name: row["measure"] for each in done for name, row in figures_of(each.rows).items()}
        text += "\n".join(["exact names:", *(f"  {name} = {exact[name]}" for name in rows[0] if name in exact), ""])
    return Output(text=text, notes=(*notes, f"wrote {folder}/"))


def _notes(done: Sequence[Done]) -> list[str]:
    """What is said of runs, each thing once, with how many runs it is said of."""
    said: dict[str, list[str]] = {}
    for each in done:
        for note in each.notes:
            said.setdefault(note, []).append(each.point.run)
    return [f"{runs[0]}: {note}" if len(runs) == 1 else f"{len(runs)} of {len(done)} runs: {note}" for note, runs in said.items()]


def main_figures(done: Sequence[Done]) -> list[str]:
    """The labels of measures over all questions: no thresholds, and no parts of the questions."""
    found = {name: row for each in done for name, row in figures_of(each.rows).items()}
    main = [
        name
        for name, row in found.items()
        if not str(row["measure"]).startswith(_SEARCHED) and "population=" not in str(row["measure"])
    ]
    return main or list(found)


def _write_manifest(folder: Path, file: Path, plan: Grid, notes: Sequence[str], paths: Sequence[Path]) -> None:
    """What everything was made from, and what was written; files of an earlier grid in the folder are removed. Comes last."""
    inputs = {
        name: {"file": str(place), "digest": Source(place).digest()} for name, place in (("grid", file), ("gold", plan.gold))
    }
    listed = {path.relative_to(folder).as_posix(): digest_of(path) for path in paths}
    remove_stale(folder, listed)
    made = {"inputs": inputs, "notes": list(notes), "files": listed, "version": __version__}
    content = {"schema_version": 1, "runs": len(plan.points), **made}
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


def _draw(folder: Path, done: Sequence[Done], labels: Sequence[str]) -> list[Path]:
    """The paths of a chart for each parameter that varies, PNG and SVG."""
    written: list[Path] = []
    for name in dict.fromkeys(name for each in done for name in each.point.varying):
        tried = [each for each in done if name in each.point.varying]
        alone = len({each.point.system for each in tried}) == 1
        rows = [row for each in tried for row in _against(each, name, labels, alone=alone)]
        if any(row["mean"] is not None for row in rows):
            picture = report.draw(parameter_chart(rows, name))
            write_bytes(folder / f"{name}.png", picture.png)
            write_text(folder / f"{name}.svg", picture.svg)
            written += [folder / f"{name}.png", folder / f"{name}.svg"]
    return written


def _against(each: Done, parameter: str, labels: Sequence[str], *, alone: bool) -> list[dict[str, Any]]:
    """The figures of one run for the chart of one parameter; where there is one system alone, its name tells nothing."""
    every = {**each.point.settings, **each.point.parameters}
    others = [f"{name}={shown(every[name])}" for name in each.point.varying if name != parameter]
    series = " ".join(others if alone and others else [each.point.system, *others])
    about = {"system": each.point.system, "series": series, "value": every[parameter]}
    return [{**row, "label": name, **about} for name, row in figures_of(each.rows).items() if name in labels]
