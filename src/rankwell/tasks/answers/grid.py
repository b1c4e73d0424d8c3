"""Grids of answering systems: result files or callables, evaluated for every combination of
parameters; finished work is kept.
"""

import inspect
import json
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import cache, cached_property, lru_cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell.core.code import code_name, load_object
from rankwell.core.registry import suggest
from rankwell.core.tables.ranking import Ranking
from rankwell.errors import BadInput, BadUsage, RankwellError, kind_of
from rankwell.experiments import runner
from rankwell.experiments.files import Cell, Experiment
from rankwell.io.files import read_ranking
from rankwell.report import plain
from rankwell.report.options import Progress
from rankwell.store import write_text
from rankwell.tasks.answers.answer_pairs import Predictions, Questions
from rankwell.tasks.answers.formats import read_questions

Row = dict[str, Any]
RESERVED = (
    "run",
    "system",
    "measure",
    "label",
    "mean",
    "sd",
    "ci_low",
    "ci_high",
    "n",
    "unit",
    "seconds",
    "date",
    "hostname",
)
_FILES = ("gold", "predictions", "retrieved")
_RECORDED = ("rows", "notes", "seconds", "date", "hostname")
_FIGURE = ("run", "label", "mean", "sd", "ci_low", "ci_high", "n", "unit")

Evaluate = Callable[..., Any]
"""`(gold, predictions, *, retrieved, …)` -> results with `summary` and `notes`; files or tables,
None where there is none.
"""


class GridPoint(NamedTuple):
    """A cell of a grid: its files by name, its options, and the recipe of everything that decides
    the results.
    """

    run: str
    cell: Cell
    files: Mapping[str, str]
    settings: Mapping[str, Any]
    recipe: Any = None

    @property
    def values(self) -> Row:
        """The parameters and settings by name."""
        return {**self.cell.parameters, **self.settings}


class PointResult(NamedTuple):
    """A point with its summary rows and notes. seconds: of the system, None for files. date: of the
    evaluation, in UTC.
    """

    point: GridPoint
    rows: Sequence[Row]
    notes: Sequence[str]
    seconds: float | None
    date: str
    hostname: str
    reused: bool

    @property
    def experiment_id(self) -> str:
        """The same for the same system, parameters and settings, whatever their files hold."""
        return runner.key_of(
            [self.point.cell.entry, dict(self.point.cell.parameters), dict(self.point.settings)]
        )[:12]


def run_grid(
    experiment: Experiment,
    folder: Path,
    evaluate: Evaluate,
    *,
    fresh: bool = False,
    jobs: int = 1,
    progress: Progress = None,
) -> Iterator[PointResult]:
    """The result of every cell, in the file's order; all are checked before the first is evaluated.

    folder: of finished work, absolute; results are kept by their recipe, and answers of a callable
    by theirs (docs/answers.md). Raises BadUsage and BadInput with the name of the point for
    whatever is unknown, missing or fails.
    """
    points = plan_grid(experiment, evaluate)
    plans: list[runner.PlannedCell] = []
    for each in points:
        record = folder / "rows" / runner.record_name(each.recipe)
        why = ("requested",) if fresh else runner.reasons(each.recipe, record)
        group, inputs = runner.key_of(each.recipe[0]), tuple(map(Path, each.files.values()))
        plans.append(
            runner.PlannedCell(each.cell, each.recipe, record, each, group, why, inputs=inputs)
        )
    results = runner.evaluate_cells(
        GridCells(experiment.file, folder, evaluate, fresh), plans, jobs=jobs, progress=progress
    )
    for point, plan, result in zip(points, plans, results, strict=True):
        record = runner.read_record(plan.record)
        yield PointResult(
            point, **{name: record[name] for name in _RECORDED}, reused=result.status == "kept"
        )


def plan_grid(experiment: Experiment, evaluate: Evaluate) -> list[GridPoint]:
    """The points of an experiment file, checked, with their keys. Raises as `run_grid`."""
    if len(experiment.datasets) > 1:
        raise BadInput(f"{experiment.file}: {len(experiment.datasets)} data sets; a grid has one.")
    points = [_point(each, experiment) for each in experiment.cells]
    known = set(inspect.signature(evaluate).parameters) - {*_FILES, "options", "progress"}
    for point in {each.cell.entry: each for each in points}.values():
        _check(point, known)
    for name, point in product(_FILES, points):
        if name in point.files and not Path(point.files[name]).exists():
            raise BadInput(
                f"{point.cell.options[name].where}: there is no file {point.files[name]}; "
                "make it first."
            )
    # A model of hundreds of megabytes may be part of every point.
    digest, content = (
        cache(runner.content_of),
        lru_cache(maxsize=None, typed=True)(runner.value_content),
    )
    return [_with_keys(each, digest, content) for each in points]


def _point(cell: Cell, experiment: Experiment) -> GridPoint:
    files = {
        name: str(cell.options[name].value)
        for name in _FILES
        if name in cell.options and cell.options[name].value
    }
    if cell.command.value != "answers":
        what = f"{cell.command.where} is {cell.command.value!r}"
        raise BadInput(
            f"{what}; a grid evaluates answers: write command = 'answers', or run `rankwell "
            "bench` for other tasks."
        )
    if "gold" not in files:
        raise BadInput(
            f"{experiment.file}: dataset {cell.dataset!r}: gold is missing; expected a string."
        )
    if bool(cell.call) == (len(files) > 1):
        found = "both a call and files" if cell.call else "neither a call nor files"
        raise BadInput(
            f"{cell.where} has {found}; give `call`, or `predictions` and `retrieved` or one "
            "of them."
        )
    settings = {name: each.value for name, each in cell.options.items() if name not in _FILES}
    reserved = next((name for name in (*cell.parameters, *settings) if name in RESERVED), None)
    if reserved is not None:
        raise BadInput(
            f"{cell.where}: a parameter cannot be named {reserved!r}, like a column of the "
            "results; rename it."
        )
    return GridPoint(experiment.titles["system", cell.system], cell, files, settings)


def _check(point: GridPoint, known: set[str]) -> None:
    cell = point.cell
    unknown = next((name for name in point.settings if name not in known), None)
    if unknown is not None:
        raise BadUsage(f"{cell.options[unknown].where}: unknown option; {suggest(unknown, known)}")
    if not cell.call:
        return
    try:
        inspect.signature(load_object(cell.call)).bind(None, **cell.parameters)
    except BadUsage as error:
        raise BadUsage(f"{cell.where}: call: {error}") from error
    except (TypeError, ValueError) as error:
        raise BadUsage(
            f"{cell.where}: {cell.call} cannot be called with the questions and these "
            f"parameters: {error}."
        ) from error


def _with_keys(
    point: GridPoint, digest: Callable[[Path], str], content: Callable[[Any], Any]
) -> GridPoint:
    cell = point.cell
    inputs = {name: digest(Path(place)) for name, place in point.files.items()}
    if name := code_name(cell.call):
        own = load_object(cell.call).__module__
        modules = (
            {name.module: own} if name.is_file else {each: each for each in (name.module, own)}
        )
        inputs |= {
            f"source of {each}": runner.source_of(module) for each, module in modules.items()
        }
    # A callable is known by its whole package and the modules beside it that these import, a value
    # that names a file by content.
    answers = runner.recipe(
        cell.call, {name: content(value) for name, value in cell.parameters.items()}, inputs
    )
    settings = {
        name: value if isinstance(value, list) else content(value)
        for name, value in point.settings.items()
    }
    return point._replace(recipe=[answers, settings])


@dataclass(frozen=True)
class GridCells:
    """Grids of `rankwell answers grid`; cells of one group share their answers."""

    file: str
    folder: Path
    judge: Evaluate
    fresh: bool

    def evaluate(self, cells: Sequence[runner.PlannedCell], _: Progress, /) -> Iterator[str]:
        """Evaluates the points and writes their rows. Raises BadInput and others with the name of
        the point.
        """
        answers: Row | None = None
        for each in cells:
            point: GridPoint = each.work
            inputs: Row = {name: point.files.get(name) for name in _FILES}
            try:
                if point.cell.call:
                    answers = answers or self._answers(point)
                    inputs = {"gold": self._read(point.files["gold"])}
                    inputs |= {
                        name: _restored(kind, answers[name]) for name, kind in _TABLES.items()
                    }
                judged = self.judge(
                    inputs.pop("gold"), inputs.pop("predictions"), **inputs, **point.settings
                )
            except RankwellError as error:
                raise type(error)(f"{self.file}: {point.run}: {error}") from error
            record = {
                "run": point.run,
                "rows": plain(judged.summary),
                "notes": list(judged.notes),
                "seconds": answers["seconds"] if answers else None,
                "date": datetime.now(UTC).isoformat(timespec="seconds"),
                "hostname": platform.node(),
            }
            write_text(each.record, json.dumps(runner.sealed(record), indent=1) + "\n")
            yield ""

    def _answers(self, point: GridPoint) -> Row:
        """The answers of a callable, as they are kept: seconds, and the columns of both tables."""
        path = self.folder / "answers" / runner.record_name(point.recipe[0])
        record = None if self.fresh else runner.unsealed(runner.read_record(path))
        if record is None:
            call, started = point.cell.call, time.perf_counter()
            try:
                result = load_object(call)(self._read(point.files["gold"]), **point.cell.parameters)
            except RankwellError:
                raise
            except Exception as error:
                raise BadInput(
                    f"{call} failed ({type(error).__name__}: {error}). Correct it, and run "
                    "the grid again."
                ) from error
            tables = zip(_TABLES, _system_answers(result, call), strict=True)
            record = {
                "seconds": round(time.perf_counter() - started, 3),
                **{name: _listed(table) for name, table in tables},
            }
            write_text(path, json.dumps(runner.sealed(record)) + "\n")
        return record

    @cached_property
    def _read(self) -> Callable[[str], Questions]:
        return cache(lambda place: read_questions(place).table)


def _system_answers(result: Any, call: str) -> tuple[Ranking | None, Predictions | None]:
    """The output of a callable: a ranking, answers, or both in this order, as a table or by
    question id. Raises BadInput.
    """
    pair = result
    if (
        isinstance(result, Mapping)
        and result
        and all(isinstance(each, Mapping) for each in result.values())
    ):
        pair = (result, None)
    elif isinstance(result, Ranking | Predictions | Mapping):
        pair = (result, None) if isinstance(result, Ranking) else (None, result)
    if isinstance(pair, tuple) and len(pair) == 2 and any(each is not None for each in pair):
        first, second = pair
        if isinstance(first, Ranking | Mapping | None) and isinstance(
            second, Predictions | Mapping | None
        ):
            ranking = (
                read_ranking({str(name): dict(row) for name, row in first.items()})
                if isinstance(first, Mapping)
                else first
            )
            return ranking, _as_predictions(second, call) if isinstance(second, Mapping) else second
    expected = (
        "a Ranking or {id: {document: score}}, Predictions or {id: string or list of strings}, or "
        "a pair of both"
    )
    raise BadInput(f"{call} returns {kind_of(result)}; expected {expected}.")


def _as_predictions(answers: Mapping[Any, Any], call: str) -> Predictions:
    lists = {
        str(name): list(each) if isinstance(each, (list, tuple)) else [each]
        for name, each in answers.items()
    }
    for name, text in ((name, text) for name, texts in lists.items() for text in texts):
        if not isinstance(text, str | None):
            what = f"{call} answers the question {name!r} by {kind_of(text)}"
            raise BadInput(f"{what}; expected a string or None.")
    return Predictions.from_texts(lists)


_TABLES = {"retrieved": Ranking, "predictions": Predictions}
_ARRAYS = {
    "offsets": np.int64,
    "starts": np.int64,
    "ends": np.int64,
    "scores": np.float64,
    "no_answer": np.float64,
}


def _listed(table: Any) -> Row | None:
    """The columns of a table, as JSON."""
    columns = (
        {} if table is None else {each.name: getattr(table, each.name) for each in fields(table)}
    )
    return {
        name: column.tolist() if isinstance(column, np.ndarray) else column and list(column)
        for name, column in columns.items()
    } or None


def _restored(kind: type, columns: Row | None) -> Any:
    """The table of such columns."""
    if columns is None:
        return None
    arrays = {
        name: np.array(columns[name], dtype)
        for name, dtype in _ARRAYS.items()
        if columns.get(name) is not None
    }
    lists = {name: None if column is None else tuple(column) for name, column in columns.items()}
    return kind(**lists | arrays)


def wide(done: Sequence[PointResult]) -> list[Row]:
    """One row a run: its parameters, every figure under its label, seconds, date, host and
    experiment id. Raises BadInput.
    """
    entries = [{name: row["mean"] for name, row in figures_of(each.rows).items()} for each in done]
    parameters = dict.fromkeys(name for each in done for name in each.point.values)
    labels = dict.fromkeys(name for each in entries for name in each)
    both = next((name for name in labels if name in parameters), None)
    if both is not None:
        raise BadInput(f"{both!r} is a parameter and a figure; rename the parameter.")
    return [
        {
            "run": each.point.run,
            "system": each.point.cell.entry,
            **{name: each.point.values.get(name) for name in parameters},
            **{name: found.get(name) for name in labels},
            **{
                "seconds": each.seconds,
                "date": each.date,
                "hostname": each.hostname,
                "experiment_id": each.experiment_id,
            },
        }
        for each, found in zip(done, entries, strict=True)
    ]


def figures_of(rows: Sequence[Row]) -> dict[str, Row]:
    """Summary rows of one run by label; `label (column=value)` where several have one label."""
    found: dict[str, Row] = {}
    for row in rows:
        alike = [each for each in rows if each["label"] == row["label"]]
        names = [
            name
            for name in row
            if name not in _FIGURE and len({str(each.get(name)) for each in alike}) > 1
        ]
        apart = [f"{name}={row[name]}" for name in names]
        found[f"{row['label']} ({', '.join(apart)})" if apart else row["label"]] = row
    return found
