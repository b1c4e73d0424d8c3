"""Grids of answering systems: result files or callables, evaluated for every combination of parameters; finished work is kept."""

import inspect
import json
import math
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell.core.registry import suggest
from rankwell.core.tables.ranking import Ranking
from rankwell.engines import load_object
from rankwell.errors import BadInput, BadUsage, RankwellError
from rankwell.experiments.files import CELL_KINDS, Cell, Experiment
from rankwell.experiments.runner import (
    PlannedCell,
    content_of,
    evaluate_cells,
    key_of,
    read_record,
    reasons,
    recipe,
    record_name,
    source_of,
    value_content,
)
from rankwell.io.files import read_ranking
from rankwell.report.present import Progress
from rankwell.store import write_text
from rankwell.tasks.answers.answer_pairs import Predictions, Questions
from rankwell.tasks.answers.formats import read_questions

Row = dict[str, Any]
RESERVED = ("run", "system", "measure", "label", "mean", "sd", "ci_low", "ci_high", "n", "unit", "seconds", "date", "hostname")
_FILES = ("gold", "predictions", "retrieved")
_RECORDED = ("rows", "notes", "seconds", "date", "hostname")
_FIGURE = ("run", "label", "mean", "sd", "ci_low", "ci_high", "n", "unit")

Evaluate = Callable[..., Any]
"""`(gold, predictions, *, retrieved, …)` -> results with `summary` and `notes`; files or tables, None where there is none."""


class SystemAnswers(NamedTuple):
    """The output of one system: the documents that it retrieved and its answers, either of them alone, or both."""

    retrieved: Ranking | None
    predictions: Predictions | None


class GridPoint(NamedTuple):
    """A cell of a grid. files: gold, predictions and retrieved, "" where there is none. settings: options of the evaluation.

    answers_key: of the system's answers, by everything that decides them. recipe: of their evaluation: that of the answers, and
    the settings.
    """

    run: str
    cell: Cell
    files: tuple[str, str, str]
    settings: Mapping[str, Any]
    answers_key: str = ""
    recipe: Any = None

    @property
    def values(self) -> Row:
        """The parameters and settings by name."""
        return {**self.cell.parameters, **self.settings}


class PointResult(NamedTuple):
    """A point with its summary rows and the notes on them. seconds: of the system, None for files.

    date: of the evaluation, in UTC. hostname: of the machine. reused: whether an earlier run evaluated it.
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
        return key_of([self.point.cell.entry, dict(self.point.cell.parameters), dict(self.point.settings)])[:12]


def run_grid(
    experiment: Experiment, folder: Path, evaluate: Evaluate, *, fresh: bool = False, jobs: int = 1, progress: Progress = None
) -> Iterator[PointResult]:
    """The result of every cell, in the file's order; all are checked before the first is evaluated.

    The working directory is the file's own. folder: of finished work, absolute. fresh: everything is run and evaluated anew.
    A result is kept by the content of everything that decides it: the questions, the files of results or the source of the
    callable (of its whole package, where it is in one, and of the modules beside it that these import), its parameters (those
    that name a file or a folder by its content), the settings and `RESULTS_VERSION`. What a callable reads besides is not looked
    at. Answers of a callable are kept as well, so that another evaluation of them does not run it again.
    Raises BadUsage for an unknown call, parameter or setting, BadInput for a missing file and for a callable that fails or
    returns something else, with the name of the point.
    """
    points = plan_grid(experiment, evaluate)
    plans = [_planned(each, folder, fresh=fresh) for each in points]
    results = evaluate_cells(GridCells(experiment.file, folder, evaluate, fresh), plans, jobs=jobs, progress=progress)
    for point, plan, result in zip(points, plans, results, strict=True):
        record = read_record(plan.record)
        yield PointResult(point, **{name: record[name] for name in _RECORDED}, reused=result.status == "kept")


def _planned(point: GridPoint, folder: Path, *, fresh: bool) -> PlannedCell:
    record = folder / "rows" / record_name(point.recipe)
    why = ("requested",) if fresh else reasons(point.recipe, record)
    return PlannedCell(point.cell, point.recipe, record, point, point.answers_key, why)


def plan_grid(experiment: Experiment, evaluate: Evaluate) -> list[GridPoint]:
    """The points of an experiment file, checked, with their keys. Raises as `run_grid`."""
    if len(experiment.datasets) > 1:
        raise BadInput(f"{experiment.file}: {len(experiment.datasets)} data sets; a grid has one.")
    points = [_point(each, experiment) for each in experiment.cells]
    known = set(inspect.signature(evaluate).parameters) - {*_FILES, "options", "progress"}
    for point in {each.cell.entry: each for each in points}.values():
        _check(point, known)
    for name, place in zip(_FILES, zip(*(each.files for each in points), strict=True), strict=True):
        missing = next((at for at, each in enumerate(place) if each and not Path(each).exists()), None)
        if missing is not None:
            raise BadInput(f"{points[missing].cell.options[name].where}: there is no file {place[missing]}; make it first.")
    digest = lru_cache(maxsize=None)(lambda text: content_of(Path(text)))
    # A model of hundreds of megabytes may be part of every point.
    content = lru_cache(maxsize=None, typed=True)(value_content)
    return [_with_keys(each, digest, content) for each in points]


def _point(cell: Cell, experiment: Experiment) -> GridPoint:
    gold, predictions, retrieved = (str(cell.options[name].value) if name in cell.options else "" for name in _FILES)
    if not gold:
        raise BadInput(f"{experiment.file}: dataset {cell.dataset!r}: gold is missing; expected a string.")
    if bool(cell.call) == bool(predictions or retrieved):
        found = "both a call and files" if cell.call else "neither a call nor files"
        raise BadInput(f"{cell.where} has {found}; give `call`, or `predictions` and `retrieved` or one of them.")
    settings = {name: each.value for name, each in cell.options.items() if name not in _FILES}
    reserved = next((name for name in (*cell.parameters, *settings) if name in RESERVED), None)
    if reserved is not None:
        raise BadInput(f"{cell.where}: a parameter cannot be named {reserved!r}, like a column of the results; rename it.")
    return GridPoint(experiment.titles["system", cell.system], cell, (gold, predictions, retrieved), settings)


def _check(point: GridPoint, known: set[str]) -> None:
    cell = point.cell
    unknown = next((name for name in point.settings if name not in known), None)
    if unknown is not None:
        raise BadUsage(f"{cell.options[unknown].where}: unknown option; {suggest(unknown, known)}")
    if not cell.call:
        return
    try:
        function = load_object(cell.call)
    except BadUsage as error:
        raise BadUsage(f"{cell.where}: call: {error}") from error
    try:
        inspect.signature(function).bind(None, **cell.parameters)
    except (TypeError, ValueError) as error:
        raise BadUsage(f"{cell.where}: {cell.call} cannot be called with the questions and these parameters: {error}.") from error


def _with_keys(point: GridPoint, digest: Callable[[str], str], content: Callable[[Any], Any]) -> GridPoint:
    cell = point.cell
    inputs = {name: digest(place) for name, place in zip(_FILES, point.files, strict=True) if place}
    if cell.call:
        modules = {cell.call.partition(":")[0], load_object(cell.call).__module__}
        inputs |= {f"source of {name}": source_of(name) for name in modules}
    answers = recipe(cell.call, {name: content(value) for name, value in cell.parameters.items()}, inputs)
    settings = {name: value if isinstance(value, list) else content(value) for name, value in point.settings.items()}
    return point._replace(answers_key=key_of(answers), recipe=[answers, settings])


@dataclass(frozen=True)
class GridCells:
    """Grids of `rankwell answers grid`; earlier files have `gold`, `[systems.NAME]`, `[parameters]`, `[evaluation]`, `[chart]`.

    Cells of one group share their answers.
    """

    file: str
    folder: Path
    judge: Evaluate
    fresh: bool

    def evaluate(self, cells: Sequence[PlannedCell], _: Progress, /) -> Iterator[str]:
        """Evaluates the points and writes their rows. Raises BadInput and others with the name of the point."""
        answers: Row | None = None
        for each in cells:
            point: GridPoint = each.work
            try:
                if point.cell.call:
                    answers = answers or self._answers(point)
                    gold, retrieved, predictions = self._questions(point), *_unpacked(answers)
                else:
                    gold, predictions, retrieved = (place or None for place in point.files)
                judged = self.judge(gold, predictions, retrieved=retrieved, **point.settings)
            except RankwellError as error:
                raise type(error)(f"{self.file}: {point.run}: {error}") from error
            record = {
                "run": point.run,
                "rows": [{name: _plain(cell) for name, cell in row.items()} for row in judged.summary],
                "notes": list(judged.notes),
                "seconds": answers["seconds"] if answers else None,
                "date": datetime.now(UTC).isoformat(timespec="seconds"),
                "hostname": platform.node(),
            }
            write_text(each.record, json.dumps(record, indent=1) + "\n")
            yield ""

    @classmethod
    def convert(cls, _stem: str, content: Mapping[str, Any], /) -> dict[str, Any] | None:
        """One data set, whose `vary` are the options of the evaluation; the systems keep their calls, files and parameters."""
        if not (isinstance(content.get("systems"), dict) or "gold" in content):
            return None
        evaluation = {"vary": content["evaluation"]} if content.get("evaluation") else {}
        dataset = {"name": "questions", "command": "answers", "gold": content.get("gold", ""), **evaluation}
        shared = {name: content[name] for name in ("parameters", "chart") if name in content}
        systems = [{"name": name, **table} for name, table in content.get("systems", {}).items()]
        return {**shared, "dataset": [dataset], "system": systems}

    def _answers(self, point: GridPoint) -> Row:
        """The answers of a callable, as they are kept: seconds, and the columns of both tables."""
        path = self.folder / "answers" / f"{point.answers_key[:32]}.json"
        record = None if self.fresh else read_record(path)
        if record is None:
            call, started = point.cell.call, time.perf_counter()
            try:
                result = load_object(call)(self._questions(point), **point.cell.parameters)
            except RankwellError:
                raise
            except Exception as error:
                raise BadInput(f"{call} failed ({type(error).__name__}: {error}). Correct it, and run the grid again.") from error
            record = {"seconds": round(time.perf_counter() - started, 3), **_packed(_system_answers(result, call))}
            write_text(path, json.dumps(record) + "\n")
        return record

    def _questions(self, point: GridPoint) -> Questions:
        if point.files[0] not in self._tables:
            self._tables[point.files[0]] = read_questions(point.files[0]).table
        return self._tables[point.files[0]]

    @cached_property
    def _tables(self) -> dict[str, Questions]:
        return {}


CELL_KINDS.add("grid", GridCells)


def _system_answers(result: Any, call: str) -> SystemAnswers:
    """The output of a callable: a ranking, answers, or a pair of both in this order, either of which may be None.

    A ranking is a Ranking, or question id -> document -> score; answers are Predictions, or question id ->
    string or list of strings.
    """
    if isinstance(result, Ranking) or _is_run(result):
        return SystemAnswers(_as_ranking(result), None)
    if isinstance(result, Predictions | Mapping):
        return SystemAnswers(None, _as_predictions(result, call))
    if isinstance(result, tuple) and len(result) == 2 and any(each is not None for each in result):
        first, second = result
        if isinstance(first, Ranking | Mapping | None) and isinstance(second, Predictions | Mapping | None):
            ranking = None if first is None else _as_ranking(first)
            return SystemAnswers(ranking, None if second is None else _as_predictions(second, call))
    expected = "a Ranking or {id: {document: score}}, Predictions or {id: string or list of strings}, or a pair of both"
    raise BadInput(f"{call} returns an object of type {type(result).__name__}; expected {expected}.")


def _is_run(result: Any) -> bool:
    return isinstance(result, Mapping) and bool(result) and all(isinstance(each, Mapping) for each in result.values())


def _as_ranking(result: Any) -> Ranking:
    return result if isinstance(result, Ranking) else read_ranking({str(name): dict(row) for name, row in result.items()})


def _as_predictions(result: Any, call: str) -> Predictions:
    if isinstance(result, Predictions):
        return result
    lists = {str(name): list(each) if isinstance(each, (list, tuple)) else [each] for name, each in result.items()}
    wrong = next(((name, text) for name, texts in lists.items() for text in texts if not isinstance(text, str | None)), None)
    if wrong is not None:
        kind = type(wrong[1]).__name__
        raise BadInput(f"{call} answers the question {wrong[0]!r} by an object of type {kind}; expected a string or None.")
    return Predictions.from_texts(lists)


def _packed(answers: SystemAnswers) -> dict[str, Row | None]:
    """The columns of the tables, as JSON."""
    return {
        name: None if table is None else {each.name: _listed(getattr(table, each.name)) for each in fields(table)}
        for name, table in zip(SystemAnswers._fields, answers, strict=True)
    }


def _listed(column: Any) -> Any:
    return column.tolist() if isinstance(column, np.ndarray) else None if column is None else list(column)


def _unpacked(record: Row) -> SystemAnswers:
    """The tables of `_packed`."""
    found, answered = record["retrieved"], record["predictions"]
    ranking = found and Ranking(
        tuple(found["queries"]), np.array(found["offsets"], np.int64), found["items"], np.array(found["scores"], np.float64)
    )
    predictions = answered and Predictions(
        ids=tuple(answered["ids"]),
        texts=tuple(answered["texts"]),
        documents=tuple(answered["documents"]),
        offsets=np.array(answered["offsets"], np.int64),
        starts=np.array(answered["starts"], np.int64),
        ends=np.array(answered["ends"], np.int64),
        scores=np.array(answered["scores"], np.float64),
        no_answer=None if answered["no_answer"] is None else np.array(answered["no_answer"], np.float64),
    )
    return SystemAnswers(ranking, predictions)


def _plain(cell: Any) -> Any:
    """A cell as JSON; None where it is not finite."""
    cell = cell.item() if isinstance(cell, np.generic) else cell
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def wide(done: Sequence[PointResult]) -> list[Row]:
    """One row a run: its parameters, every figure under its label, seconds, date, host and experiment id.

    All rows have the parameters and figures of all, in this order, None where a run has none of a name. Figures of one label are
    distinguished by the columns in which their rows differ. Raises BadInput where a parameter has the name of a figure.
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
            **{"seconds": each.seconds, "date": each.date, "hostname": each.hostname, "experiment_id": each.experiment_id},
        }
        for each, found in zip(done, entries, strict=True)
    ]


def figures_of(rows: Sequence[Row]) -> dict[str, Row]:
    """Summary rows of one run by label; `label (column=value)` where several have one label."""
    found: dict[str, Row] = {}
    for row in rows:
        alike = [each for each in rows if each["label"] == row["label"]]
        apart = [
            f"{name}={row[name]}" for name in row if name not in _FIGURE and len({str(each.get(name)) for each in alike}) > 1
        ]
        found[f"{row['label']} ({', '.join(apart)})" if apart else row["label"]] = row
    return found
