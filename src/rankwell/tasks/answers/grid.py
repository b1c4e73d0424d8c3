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

from rankwell.comparison import bench
from rankwell.comparison.bench.files import Cell, Experiment
from rankwell.data.code import code_name, load_object
from rankwell.data.rankings import Ranking
from rankwell.data.registry import suggest
from rankwell.errors import BadInput, BadUsage, RankwellError, kind_of
from rankwell.io.formats import read_ranking
from rankwell.reporting import plain
from rankwell.reporting.options import Progress
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
_TRACES = ("seconds", "date", "hostname", "experiment_id")
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
    def figures(self) -> dict[str, Row]:
        """The summary rows by label."""
        return figures_of(self.rows)

    @property
    def experiment_id(self) -> str:
        """The same for the same system, parameters and settings, whatever their files hold."""
        cell, settings = self.point.cell, self.point.settings
        return bench.key_of([cell.entry, dict(cell.parameters), dict(settings)])[:12]


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
    plans: list[bench.PlannedCell] = []
    for point in points:
        record = folder / "rows" / bench.record_name(point.recipe)
        why = ("requested",) if fresh else bench.reasons(point.recipe, record)
        group, inputs = bench.key_of(point.recipe[0]), tuple(map(Path, point.files.values()))
        plans.append(
            bench.PlannedCell(point.cell, point.recipe, record, point, group, why, inputs=inputs)
        )
    kind = GridCells(experiment.file, folder, evaluate, fresh)
    results = bench.evaluate_cells(kind, plans, jobs=jobs, progress=progress)
    for plan, result in zip(plans, results, strict=True):
        record = bench.read_record(plan.record)
        fields = {name: record[name] for name in _RECORDED}
        yield PointResult(plan.work, **fields, reused=result.status == "kept")


def plan_grid(experiment: Experiment, evaluate: Evaluate) -> list[GridPoint]:
    """The points of an experiment file, checked, with their keys. Raises as `run_grid`."""
    if len(experiment.datasets) > 1:
        raise BadInput(f"{experiment.file}: {len(experiment.datasets)} data sets; a grid has one.")
    points = [_point(cell, experiment) for cell in experiment.cells]
    options = set(inspect.signature(evaluate).parameters) - {*_FILES, "options", "progress"}
    for point in {point.cell.entry: point for point in points}.values():
        _check(point, options)
    for name, point in product(_FILES, points):
        if name in point.files and not Path(point.files[name]).exists():
            raise BadInput(
                f"{point.cell.options[name].where}: there is no file {point.files[name]}; "
                "make it first."
            )
    # A model of hundreds of megabytes may be part of every point.
    digest = cache(bench.content_of)
    content = lru_cache(maxsize=None, typed=True)(bench.value_content)
    return [_with_recipe(point, digest, content) for point in points]


def _point(cell: Cell, experiment: Experiment) -> GridPoint:
    options = {name: option.value for name, option in cell.options.items()}
    files = {name: str(options[name]) for name in _FILES if options.get(name)}
    settings = {name: value for name, value in options.items() if name not in _FILES}
    if cell.command.value != "answers":
        raise BadInput(
            f"{cell.command.where} is {cell.command.value!r}; a grid evaluates answers: write "
            "command = 'answers', or run `rankwell bench` for other tasks."
        )
    if "gold" not in files:
        raise BadInput(
            f"{experiment.file}: dataset {cell.dataset!r}: gold is missing; expected a string."
        )
    if bool(cell.call) == (len(files) > 1):
        state = "both a call and files" if cell.call else "neither a call nor files"
        raise BadInput(
            f"{cell.where} has {state}; give `call`, or `predictions` and `retrieved` or one "
            "of them."
        )
    for name in (*cell.parameters, *settings):
        if name in RESERVED:
            raise BadInput(
                f"{cell.where}: a parameter cannot be named {name!r}, like a column of the "
                "results; rename it."
            )
    return GridPoint(experiment.titles["system", cell.system], cell, files, settings)


def _check(point: GridPoint, options: set[str]) -> None:
    cell = point.cell
    for name in point.settings:
        if name not in options:
            raise BadUsage(f"{cell.options[name].where}: unknown option; {suggest(name, options)}")
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


def _with_recipe(
    point: GridPoint, digest: Callable[[Path], str], content: Callable[[Any], Any]
) -> GridPoint:
    cell = point.cell
    inputs = {name: digest(Path(file)) for name, file in point.files.items()}
    if code := code_name(cell.call):
        # The module that defines the callable, and the one that it is named by.
        home = load_object(cell.call).__module__
        modules = {code.module: home} if code.is_file else {code.module: code.module, home: home}
        inputs |= {f"source of {name}": bench.source_of(module) for name, module in modules.items()}
    # A callable is known by its whole package and the modules beside it that these import, a value
    # that names a file by content.
    parameters = {name: content(value) for name, value in cell.parameters.items()}
    settings = {
        name: value if isinstance(value, list) else content(value)
        for name, value in point.settings.items()
    }
    return point._replace(recipe=[bench.recipe(cell.call, parameters, inputs), settings])


@dataclass(frozen=True)
class GridCells:
    """Grids of `rankwell answers grid`; cells of one group share their answers."""

    file: str
    folder: Path
    judge: Evaluate
    fresh: bool

    def evaluate(self, cells: Sequence[bench.PlannedCell], _: Progress, /) -> Iterator[str]:
        """Evaluates the points and writes their rows. Raises BadInput and others with the name of
        the point.
        """
        answers: Row | None = None
        for planned in cells:
            point: GridPoint = planned.work
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
            write_text(planned.record, json.dumps(bench.sealed(record), indent=1) + "\n")
            yield ""

    def _answers(self, point: GridPoint) -> Row:
        """The answers of a callable, as they are kept: seconds, and the columns of both tables."""
        path = self.folder / "answers" / bench.record_name(point.recipe[0])
        record = None if self.fresh else bench.unsealed(bench.read_record(path))
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
                **{name: _columns(table) for name, table in tables},
            }
            write_text(path, json.dumps(bench.sealed(record)) + "\n")
        return record

    @cached_property
    def _read(self) -> Callable[[str], Questions]:
        return cache(lambda file: read_questions(file).table)


def _system_answers(result: Any, call: str) -> tuple[Ranking | None, Predictions | None]:
    """The output of a callable: a ranking, answers, or both in this order, as a table or by
    question id. Raises BadInput.
    """
    pair = result
    if isinstance(result, Ranking):
        pair = (result, None)
    elif isinstance(result, Predictions | Mapping):
        rows = result.values() if isinstance(result, Mapping) else ()
        is_ranking = bool(rows) and all(isinstance(row, Mapping) for row in rows)
        pair = (result, None) if is_ranking else (None, result)
    if isinstance(pair, tuple) and len(pair) == 2 and any(table is not None for table in pair):
        ranking, answers = pair
        if isinstance(ranking, Ranking | Mapping | None) and isinstance(
            answers, Predictions | Mapping | None
        ):
            if isinstance(ranking, Mapping):
                ranking = read_ranking({str(name): dict(row) for name, row in ranking.items()})
            if isinstance(answers, Mapping):
                answers = _as_predictions(answers, call)
            return ranking, answers
    raise BadInput(
        f"{call} returns {kind_of(result)}; expected a Ranking or {{id: {{document: score}}}}, "
        "Predictions or {id: string or list of strings}, or a pair of both."
    )


def _as_predictions(answers: Mapping[Any, Any], call: str) -> Predictions:
    lists = {
        str(name): list(texts) if isinstance(texts, (list, tuple)) else [texts]
        for name, texts in answers.items()
    }
    for name, texts in lists.items():
        for text in texts:
            if not isinstance(text, str | None):
                raise BadInput(
                    f"{call} answers the question {name!r} by {kind_of(text)}; expected a string "
                    "or None."
                )
    return Predictions.from_texts(lists)


_TABLES = {"retrieved": Ranking, "predictions": Predictions}
_ARRAYS = {
    "offsets": np.int64,
    "starts": np.int64,
    "ends": np.int64,
    "scores": np.float64,
    "no_answer": np.float64,
}


def _columns(table: Any) -> Row | None:
    """The columns of a table, as JSON."""
    if table is None:
        return None
    columns = {column.name: getattr(table, column.name) for column in fields(table)}
    return {
        name: column.tolist() if isinstance(column, np.ndarray) else column and list(column)
        for name, column in columns.items()
    }


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


def wide(results: Sequence[PointResult]) -> list[Row]:
    """One row a run: its parameters, every figure under its label, seconds, date, host and
    experiment id. Raises BadInput.
    """
    parameters = dict.fromkeys(name for result in results for name in result.point.values)
    means = [{label: row["mean"] for label, row in result.figures.items()} for result in results]
    labels = dict.fromkeys(label for figures in means for label in figures)
    for name in labels:
        if name in parameters:
            raise BadInput(f"{name!r} is a parameter and a figure; rename the parameter.")
    return [
        {
            "run": result.point.run,
            "system": result.point.cell.entry,
            **{name: result.point.values.get(name) for name in parameters},
            **{label: figures.get(label) for label in labels},
            **{name: getattr(result, name) for name in _TRACES},
        }
        for result, figures in zip(results, means, strict=True)
    ]


def figures_of(rows: Sequence[Row]) -> dict[str, Row]:
    """Summary rows of one run by label; `label (column=value)` where several have one label."""
    figures: dict[str, Row] = {}
    for row in rows:
        alike = [cells for cells in rows if cells["label"] == row["label"]]
        differing = [
            f"{name}={value}"
            for name, value in row.items()
            if name not in _FIGURE and len({str(cells.get(name)) for cells in alike}) > 1
        ]
        label = f"{row['label']} ({', '.join(differing)})" if differing else row["label"]
        figures[label] = row
    return figures
