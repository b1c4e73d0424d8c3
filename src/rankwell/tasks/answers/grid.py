"""A grid of answering systems: every point is run where it must be, evaluated, and kept, so that a killed run goes on."""

import ast
import hashlib
import inspect
import json
import math
import platform
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from rankwell.core.registry import suggest
from rankwell.core.tables.ranking import Ranking
from rankwell.encoders.sentence_transformers import hash_folder
from rankwell.engines import load_object
from rankwell.errors import BadInput, BadUsage, RankwellError
from rankwell.io import read_ranking
from rankwell.store import Source, write_text
from rankwell.tasks.answers.formats import read_questions
from rankwell.tasks.answers.grid_toml import Grid, Point, Value
from rankwell.tasks.answers.questions import Predictions, Questions

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
    callable (of its whole package, where it lies in one, and of the modules beside it that these import), its parameters (those
    that name a file or a folder by what it holds), the settings and the source of rankwell itself. What a callable reads besides
    is not looked at. Answers of a callable are kept as well, so that another evaluation of them does not run it again.
    fresh: everything is run and evaluated anew, and kept in place of what was there.
    """

    grid: Grid
    folder: Path
    evaluate: Evaluate
    fresh: bool = False

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
                raise BadUsage(f"{self.grid.file}: evaluation.{unknown}: there is no such option; {suggest(unknown, known)}")
            if point.call:
                self._check_call(point)
        for point in self.grid.points:
            for key, place in (("predictions", point.predictions), ("retrieved", point.retrieved)):
                if place and not Path(place).exists():
                    raise BadInput(f"{self.grid.file}: systems.{point.system}.{key}: there is no file {place}; make it first.")

    def _check_call(self, point: Point) -> None:
        where = f"{self.grid.file}: systems.{point.system}"
        try:
            function = load_object(point.call)
        except BadUsage as error:
            raise BadUsage(f"{where}.call: {error}") from error
        try:
            inspect.signature(function).bind(None, **point.parameters)
        except (TypeError, ValueError) as error:
            raise BadUsage(f"{where}: {point.call} cannot be called with the questions and these parameters: {error}.") from error

    def _kept(self, point: Point, key: str) -> Done | None:
        found = None if self.fresh else _read(self._path("rows", key))
        if found is None:
            return None
        return Done(point, **{name: found[name] for name in _KEPT}, kept=True)

    def _do(self, point: Point, key: str, answers_key: str) -> Done:
        try:
            seconds, retrieved, predictions = self._results(point, answers_key)
            gold = self._questions if point.call else self.grid.gold
            judged: Judged = self.evaluate(gold, predictions, retrieved=retrieved, **point.settings)
        except RankwellError as error:
            raise type(error)(f"{self.grid.file}: {point.run}: {error}") from error
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
        found: dict[str, Any] | None = None if self.fresh and path not in self._made else _read(path)
        if found is None:
            self._made.add(path)
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
    def _made(self) -> set[Path]:
        """The answers that this run has made, which its other evaluations take."""
        return set()

    @cached_property
    def _questions(self) -> Questions:
        return read_questions(self.grid.gold).table

    def _path(self, kind: str, key: str) -> Path:
        return self.folder / kind / f"{key[:32]}.json"


def _answered(result: Any, call: str) -> Answered:
    """What a callable gave: what it found, what it answered, or both of them in this order, either of which may be None.

    Found is a Ranking, or question id -> document -> score; answered are Predictions, or question id -> a text, a list of texts.
    """
    if isinstance(result, Ranking) or _is_run(result):
        return Answered(_as_ranking(result), None)
    if isinstance(result, Predictions | Mapping):
        return Answered(None, _as_predictions(result, call))
    if isinstance(result, tuple):
        pair: tuple[Any, ...] = result
        known = (
            len(pair) == 2 and isinstance(pair[0], Ranking | Mapping | None) and isinstance(pair[1], Predictions | Mapping | None)
        )
        if known and (pair[0] is not None or pair[1] is not None):
            retrieved = None if pair[0] is None else _as_ranking(pair[0])
            return Answered(retrieved, None if pair[1] is None else _as_predictions(pair[1], call))
    wanted = "a Ranking or {id: {document: score}}, Predictions or {id: text or list of texts}, or a pair of both is wanted"
    raise BadInput(f"{call} returns an object of type {type(result).__name__}; {wanted}.")


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
        raise BadInput(
            f"{call} answers the question {wrong[0]!r} by an object of type {type(wrong[1]).__name__}; a text or None is wanted."
        )
    return Predictions.from_texts(lists)


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
    modules = dict.fromkeys((point.call.partition(":")[0], load_object(point.call).__module__))
    return [package_digest(name) for name in modules]


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
    """The SHA-256 over the Python files of a module's outermost package, or its one file, and of what they import from beside it.

    Modules beside it are those in the same folder, and in turn what they import; not where installed packages lie. Its name
    where it has no file.
    """
    outermost = sys.modules.get(module.partition(".")[0])
    place = getattr(outermost, "__file__", None)
    if place is None:
        return _hash([module])
    path = Path(place).resolve()
    root = path.parent.parent if path.name.startswith("__init__.") else path.parent
    installed = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    total = hashlib.sha256()
    for each in sorted(_sources(module.partition(".")[0], root, beside=root not in installed)):
        total.update(f"{each.relative_to(root).as_posix()}\0".encode())
        total.update(hashlib.sha256(each.read_bytes()).digest())
    return total.hexdigest()


def _sources(name: str, root: Path, *, beside: bool) -> set[Path]:
    """The Python files of a module or package in a folder, and of those beside it that they import, wherever they do."""
    found: set[Path] = set()
    waiting, known = [name], {name}
    while waiting:
        first = waiting.pop()
        package = root / first
        mine = (
            {root / f"{first}.py"}
            if (root / f"{first}.py").is_file()
            else set(package.rglob("*.py"))
            if package.is_dir()
            else set()
        )
        found |= mine
        names = {each for path in mine for each in _imported(path)} - known if beside else set()
        known |= names
        waiting += names
    return found


def _imported(path: Path) -> set[str]:
    """The outermost modules that a Python file imports, anywhere in it, by absolute names; none of one that is no Python."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return set()
    names = [each.name for node in ast.walk(tree) if isinstance(node, ast.Import) for each in node.names]
    names += [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    return {name.partition(".")[0] for name in names}


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

    All rows have the parameters and figures of all, in this order, None where a run has none of a name. Figures of one label are
    told apart by the columns in which their rows differ. Raises BadInput where a parameter has the name of a figure.
    """
    given = [{**each.point.parameters, **each.point.settings} for each in done]
    figures = [{name: row["mean"] for name, row in figures_of(each.rows).items()} for each in done]
    parameters = dict.fromkeys(name for each in given for name in each)
    labels = dict.fromkeys(name for each in figures for name in each)
    both = next((name for name in labels if name in parameters), None)
    if both is not None:
        raise BadInput(f"{both!r} is a parameter and a figure; call the parameter otherwise.")
    return [
        {
            "run": each.point.run,
            "system": each.point.system,
            **{name: mine.get(name) for name in parameters},
            **{name: found.get(name) for name in labels},
            **{"seconds": each.seconds, "date": each.date, "hostname": each.hostname, "experiment_id": each.experiment_id},
        }
        for each, mine, found in zip(done, given, figures, strict=True)
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


_FIGURE = ("run", "label", "mean", "sd", "ci_low", "ci_high", "n", "unit")
