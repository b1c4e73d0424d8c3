"""A grid of answering systems: every point is run where it must be, evaluated, and kept, so that a killed run goes on."""

import hashlib
import inspect
import json
import math
import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from rankwell.encode.sentence_transformers import hash_folder
from rankwell.errors import BadInput, BadUsage, RankwellError
from rankwell.files.answers import read_questions
from rankwell.files.grid_toml import Grid, Point, Value
from rankwell.registry import suggest
from rankwell.store import Source, write_text
from rankwell.systems import load_object
from rankwell.tables.answers import Predictions, Questions
from rankwell.tables.ranking import Ranking

Row = dict[str, Any]
Progress = Callable[[str, int, int], None]


_KEPT = ("rows", "notes", "seconds", "date", "hostname")


class Answered(NamedTuple):
    """What one system gave: the documents that it found and its answers, either of them alone, or both."""

    retrieved: Ranking | None
    predictions: Predictions | None


class Judged(Protocol):
    """What comes out of an evaluation, `rankwell.evaluation.Results` for one."""

    @property
    def summary(self) -> Sequence[Mapping[str, Any]]:
        """Rows with `measure, label, mean, sd, ci_low, ci_high, n, unit` and further columns."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """What there is to say of it."""
        ...


Evaluate = Callable[..., Any]
"""`(gold, predictions, *, retrieved, …)` -> Judged; files or tables, None where there is none; `[evaluation]` sets the others."""


class Done(NamedTuple):
    """A point with its summary rows and what there is to say of them. seconds: what the system took, None for files.

    date: when it was evaluated, in UTC. hostname: where. kept: whether an earlier run had done it.
    """

    point: Point
    rows: Sequence[Row]
    notes: Sequence[str]
    seconds: float | None
    date: str
    hostname: str
    kept: bool

    @property
    def experiment_id(self) -> str:
        """The same for the same system, parameters and settings, whatever their files hold."""
        return _hash([self.point.system, dict(self.point.parameters), dict(self.point.settings)])[:12]


@dataclass(frozen=True)
class Runner:
    """Runs the points of a grid one by one. folder: where finished work is kept.

    What is kept is known by the content of everything that decides it: the questions, the results' files or the source of the
    callable (of its whole package, where it lies in one), its parameters (those that name a file or a folder by what it holds),
    the settings and the source of rankwell itself. Answers of a callable are kept as well, so that another evaluation of them
    does not run it again.
    """

    grid: Grid
    folder: Path
    evaluate: Evaluate

    def run(self, *, progress: Progress | None = None) -> Iterator[Done]:
        """Every point when it is done, in the grid's order; all of them are checked before the first is run.

        Raises BadUsage for a call, a parameter or a setting that does not exist, BadInput for a file that is missing and for a
        callable that fails or returns something else, with the name of the point.
        """
        self._check()
        gold_digest, own = Source(self.grid.gold).digest(), package_digest("rankwell")
        # A model of hundreds of megabytes may be part of every point.
        content = lru_cache(maxsize=None, typed=True)(_content)
        for place, point in enumerate(self.grid.points):
            inputs = _inputs(point)
            answered = [gold_digest, point.call, inputs, {name: content(value) for name, value in point.parameters.items()}]
            key = _hash([*answered, dict(point.settings), own])
            yield self._kept(point, key) or self._do(point, key, _hash([*answered, own]))
            if progress is not None:
                progress("points", place + 1, len(self.grid.points))

    def _check(self) -> None:
        known = set(inspect.signature(self.evaluate).parameters) - {"gold", "predictions", "retrieved", "progress"}
        for point in {each.system: each for each in self.grid.points}.values():
            unknown = next((name for name in point.settings if name not in known), None)
            if unknown is not None:
                raise BadUsage(f"{self.grid.name}: evaluation.{unknown}: there is no such option; {suggest(unknown, known)}")
            if point.call:
                self._check_call(point)
        for point in self.grid.points:
            for key, place in (("predictions", point.predictions), ("retrieved", point.retrieved)):
                if place and not Path(place).exists():
                    raise BadInput(f"{self.grid.name}: systems.{point.system}.{key}: there is no file {place}; make it first.")

    def _check_call(self, point: Point) -> None:
        where = f"{self.grid.name}: systems.{point.system}"
        try:
            function = load_object(point.call)
        except BadUsage as error:
            raise BadUsage(f"{where}.call: {error}") from error
        try:
            inspect.signature(function).bind(None, **point.parameters)
        except (TypeError, ValueError) as error:
            raise BadUsage(f"{where}: {point.call} cannot be called with the questions and these parameters: {error}.") from error

    def _kept(self, point: Point, key: str) -> Done | None:
        found = _read(self._path("rows", key))
        if found is None:
            return None
        return Done(point, **{name: found[name] for name in _KEPT}, kept=True)

    def _do(self, point: Point, key: str, answers_key: str) -> Done:
        try:
            seconds, retrieved, predictions = self._results(point, answers_key)
            gold = self._questions if point.call else self.grid.gold
            judged: Judged = self.evaluate(gold, predictions, retrieved=retrieved, **point.settings)
        except RankwellError as error:
            raise type(error)(f"{point.run}: {error}") from error
        date = datetime.now(UTC).isoformat(timespec="seconds")
        rows = [{name: _plain(cell) for name, cell in row.items()} for row in judged.summary]
        done = Done(point, rows, list(judged.notes), seconds, date, platform.node(), kept=False)
        content = {"run": point.run, **{name: getattr(done, name) for name in _KEPT}}
        write_text(self._path("rows", key), json.dumps(content, indent=1) + "\n")
        return done

    def _results(self, point: Point, key: str) -> tuple[float | None, Any, Any]:
        """The seconds that the system took, what it retrieved and what it answered: files or tables, None where there is none."""
        if not point.call:
            return None, point.retrieved or None, point.predictions or None
        path = self._path("answers", key)
        found: dict[str, Any] | None = _read(path)
        if found is None:
            function = load_object(point.call)
            started = time.perf_counter()
            try:
                result = function(self._questions, **point.parameters)
            except RankwellError:
                raise
            except Exception as error:
                raise BadInput(f"{point.call} failed ({type(error).__name__}: {error}); mend it and go on.") from error
            seconds = round(time.perf_counter() - started, 3)
            found = {"seconds": seconds, **_packed(_answered(result, point.call))}
            write_text(path, json.dumps(found) + "\n")
        return found["seconds"], _ranking(found["retrieved"]), _predictions(found["predictions"])

    @cached_property
    def _questions(self) -> Questions:
        return read_questions(self.grid.gold).table

    def _path(self, kind: str, key: str) -> Path:
        return self.folder / kind / f"{key[:32]}.json"


def _answered(result: Any, call: str) -> Answered:
    """What a callable gave: a Ranking, Predictions, or both of them in this order, either of which may be None."""
    if isinstance(result, Ranking):
        return Answered(result, None)
    if isinstance(result, Predictions):
        return Answered(None, result)
    if isinstance(result, tuple) and len(result) == 2:
        retrieved, predictions = result
        fits = isinstance(retrieved, Ranking | None) and isinstance(predictions, Predictions | None)
        if fits and (retrieved is not None or predictions is not None):
            return Answered(retrieved, predictions)
    raise BadInput(f"{call} returns a {type(result).__name__}; a Ranking, Predictions, or a pair of them is wanted.")


def _packed(answered: Answered) -> dict[str, dict[str, Any] | None]:
    """The columns of the tables, as JSON has them."""
    return {
        name: None if table is None else {each.name: _listed(getattr(table, each.name)) for each in fields(table)}
        for name, table in zip(Answered._fields, answered, strict=True)
    }


def _listed(column: Any) -> Any:
    return column.tolist() if isinstance(column, np.ndarray) else None if column is None else list(column)


def _ranking(columns: Mapping[str, Any] | None) -> Ranking | None:
    if columns is None:
        return None
    offsets, scores = np.array(columns["offsets"], dtype=np.int64), np.array(columns["scores"], dtype=np.float64)
    return Ranking(tuple(columns["queries"]), offsets, columns["items"], scores)


def _predictions(columns: Mapping[str, Any] | None) -> Predictions | None:
    if columns is None:
        return None
    numbers = {name: np.array(columns[name], dtype=np.int64) for name in ("offsets", "starts", "ends")}
    return Predictions(
        ids=tuple(columns["ids"]),
        texts=tuple(columns["texts"]),
        documents=tuple(columns["documents"]),
        scores=np.array(columns["scores"], dtype=np.float64),
        no_answer=None if columns["no_answer"] is None else np.array(columns["no_answer"], dtype=np.float64),
        **numbers,
    )


def _inputs(point: Point) -> list[str]:
    """The content of a point's files, or of the source of its callable."""
    if not point.call:
        return [Source(place).digest() if place else "" for place in (point.predictions, point.retrieved)]
    return [package_digest(load_object(point.call).__module__)]


def _content(value: Value) -> Any:
    """A parameter as part of a key: what names a file or a folder counts by its content."""
    path = Path(value) if isinstance(value, str) and value else None
    try:
        if path is not None and path.is_dir():
            return [value, hash_folder(path)]
        if path is not None and path.is_file():
            return [value, Source(path).digest()]
    except (OSError, ValueError):  # no text that could be a path
        return value
    return value


def package_digest(module: str) -> str:
    """The SHA-256 over the Python files of a module's outermost package, or over its one file; its name where it has none."""
    outermost = sys.modules.get(module.partition(".")[0])
    place = getattr(outermost, "__file__", None)
    if place is None:
        return _hash([module])
    folder = Path(place).parent if Path(place).name.startswith("__init__.") else None
    paths = [Path(place)] if folder is None else sorted(folder.rglob("*.py"))
    total = hashlib.sha256()
    for path in paths:
        total.update(f"{path.name if folder is None else path.relative_to(folder).as_posix()}\0".encode())
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def _hash(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _plain(cell: Any) -> Any:
    """A cell as JSON has it; what is not finite is None."""
    cell = cell.item() if isinstance(cell, np.generic) else cell
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def _read(path: Path) -> dict[str, Any] | None:
    """What was kept; None where nothing is, or nothing that can be read."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None


def wide(done: Sequence[Done]) -> list[Row]:
    """One row a run: what it is, its parameters, every figure under its label, seconds, date, host and experiment id.

    Figures of one label are told apart by the columns in which their rows differ. Raises BadInput where a parameter has the name
    of a figure.
    """
    rows: list[Row] = []
    for each in done:
        given = {"run": each.point.run, "system": each.point.system, **each.point.parameters, **each.point.settings}
        figures = figures_of(each.rows)
        both = next((name for name in figures if name in given), None)
        if both is not None:
            raise BadInput(f"{each.point.run}: {both!r} is a parameter and a figure; call the parameter otherwise.")
        ends = {"seconds": each.seconds, "date": each.date, "hostname": each.hostname, "experiment_id": each.experiment_id}
        rows.append({**given, **{name: row["mean"] for name, row in figures.items()}, **ends})
    return rows


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


_FIGURE = ("run", "label", "mean", "sd", "ci_low", "ci_high", "n", "unit")
