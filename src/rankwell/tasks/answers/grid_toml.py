"""Grids: a TOML file that says which systems are judged with which parameters; every combination is a point."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from rankwell.core.registry import suggest
from rankwell.errors import BadInput
from rankwell.store import Source, read_toml

Value = str | int | float | bool
RESERVED = ("run", "system", "measure", "label", "mean", "sd", "ci_low", "ci_high", "n", "unit", "seconds", "date", "hostname")
_SYSTEM_KEYS = ("call", "predictions", "retrieved", "parameters")
_KEYS = ("gold", "evaluation", "parameters", "systems", "chart")
_HOLE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Point:
    """One system with one value of every parameter, evaluated in one way.

    call: `module:object`, or "" where `predictions` and `retrieved` name the files of its results ("" where there is none).
    parameters: those of the system. settings: those of the evaluation. varying: the names of both that have several values.
    """

    system: str
    call: str
    predictions: str
    retrieved: str
    parameters: Mapping[str, Value]
    settings: Mapping[str, Value]
    varying: tuple[str, ...]

    @property
    def run(self) -> str:
        """The system's name with what varies."""
        every = {**self.settings, **self.parameters}
        return " ".join([self.system, *(f"{name}={written(every[name])}" for name in self.varying)])


@dataclass(frozen=True)
class Grid:
    """What a grid file says. gold: the file of the questions. points: in the order of the file, evaluation settings innermost.

    measures: the labels that its charts show, none for the main ones. file: its name, for messages.
    """

    name: str
    gold: str
    points: tuple[Point, ...]
    measures: tuple[str, ...]
    file: str = "the grid"


def written(value: Value) -> str:
    """A value as it stands in the name of a run or of a file: `true`, `0.5`, `bm25`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_grid(path: str | Path) -> Grid:
    """Reads a grid.

    `gold`: the questions' file. `[systems.NAME]`: each with `call = "module:object"`, or with paths `predictions` and `retrieved`
    of result files, in which `{parameter}` stands for a value. `[systems.NAME.parameters]` and `[parameters]` (of all systems): a
    value, or a list of values to try. `[evaluation]`: options of the evaluation, lists as well. `[chart]`: `measures`, a list.
    Paths are relative to the grid's folder. Raises BadInput naming the file and the key.
    """
    source = Source(path)
    _, table = read_toml(source)
    found = _Table(source.name, "", table)
    found.allow(_KEYS)
    folder = Path() if source.file is None else source.file.parent
    systems = found.table("systems")
    if not systems.content:
        raise BadInput(f"{source.name}: no [systems.NAME]; give at least one system.")
    shared, settings = found.table("parameters").values(), found.table("evaluation").values()
    points = [point for name in systems.content for point in _points(systems.table(name), name, shared, settings, folder)]
    chart = found.table("chart")
    chart.allow(("measures",))
    measures = chart.content.get("measures", [])
    if not isinstance(measures, list) or not all(isinstance(each, str) for each in measures):
        raise BadInput(f"{source.name}: chart.measures is {measures!r}; a list of labels is wanted.")
    _refuse_equal_runs(points, source.name)
    return Grid(source.stem, str(folder / found.text("gold")), tuple(points), tuple(measures), source.name)


@dataclass(frozen=True)
class _Table:
    """A table of the file with the key that leads to it, for messages."""

    file: str
    key: str
    content: Mapping[str, Any]

    def at(self, name: str) -> str:
        """How a key below is called in messages."""
        return f"{self.file}: {self.key}.{name}" if self.key else f"{self.file}: {name}"

    def allow(self, names: Sequence[str]) -> None:
        """Raises BadInput for a key that means nothing."""
        unknown = next((name for name in self.content if name not in names), None)
        if unknown is not None:
            raise BadInput(f"{self.at(unknown)}: there is no such key; {suggest(unknown, names)}")

    def table(self, name: str) -> "_Table":
        """The table below, empty where there is none."""
        inner = self.content.get(name, {})
        if not isinstance(inner, dict):
            raise BadInput(f"{self.at(name)} is {inner!r}; a table is wanted.")
        return _Table(self.file, f"{self.key}.{name}" if self.key else name, inner)

    def text(self, name: str, *, needed: bool = True) -> str:
        """The text below, empty where there is none."""
        if name not in self.content and not needed:
            return ""
        value = self.content.get(name)
        if not isinstance(value, str) or not value:
            raise BadInput(f"{self.at(name)} is {'missing' if value is None else repr(value)}; a text is wanted.")
        return value

    def values(self) -> dict[str, list[Value]]:
        """What every key may be: its values, or the one that it has."""
        found: dict[str, list[Value]] = {}
        for name, given in self.content.items():
            values = given if isinstance(given, list) else [given]
            if name in RESERVED or not name.isidentifier():
                raise BadInput(f"{self.at(name)}: a parameter cannot be called {name!r}; call it otherwise.")
            wrong = next((each for each in values if not isinstance(each, Value)), None)
            if wrong is not None or not values:
                what = "an empty list" if not values else f"{type(wrong).__name__} {wrong!r}"
                raise BadInput(f"{self.at(name)} is {what}; texts, numbers, true or false are wanted, or a list of them.")
            # 1, 1.0 and true are equal, but not the same value.
            if len({(type(each), each) for each in values}) < len(values):
                raise BadInput(f"{self.at(name)} lists a value twice: {values}; list each once.")
            found[name] = values
        return found


def _points(
    table: _Table, name: str, shared: Mapping[str, list[Value]], settings: Mapping[str, list[Value]], folder: Path
) -> Iterator[Point]:
    table.allow(_SYSTEM_KEYS)
    call, predictions, retrieved = (table.text(key, needed=False) for key in _SYSTEM_KEYS[:3])
    if bool(call) == bool(predictions or retrieved):
        wanted = "give `call`, or `predictions` and `retrieved` or one of them"
        raise BadInput(
            f"{table.file}: {table.key} has {'both a call and files' if call else 'neither a call nor files'}; {wanted}."
        )
    own = {**shared, **table.table("parameters").values()}
    both = next((key for key in own if key in settings), None)
    if both is not None:
        raise BadInput(f"{table.file}: {both!r} is a parameter of {table.key} and of evaluation; a name has one meaning.")
    if not call:
        _check_holes(table, own)
    varying = tuple(key for key, values in (*own.items(), *settings.items()) if len(values) > 1)
    for chosen in product(*own.values()):
        parameters = dict(zip(own, chosen, strict=True))
        files = [text and str(folder / _filled(text, parameters)) for text in (predictions, retrieved)]
        for way in product(*settings.values()):
            yield Point(name, call, files[0], files[1], parameters, dict(zip(settings, way, strict=True)), varying)


def _check_holes(table: _Table, parameters: Mapping[str, Any]) -> None:
    """Every hole of a path has its parameter, and every parameter a hole: points of the same files would look different."""
    used: set[str] = set()
    for key in ("predictions", "retrieved"):
        holes = _HOLE.findall(table.text(key, needed=False))
        unknown = next((hole for hole in holes if hole not in parameters), None)
        if unknown is not None:
            told = suggest(unknown, parameters) if parameters else "give it in the system's parameters."
            raise BadInput(f"{table.at(key)}: no parameter is called {unknown!r}; {told}")
        used.update(holes)
    unused = next((name for name in parameters if name not in used), None)
    if unused is not None:
        raise BadInput(f"{table.file}: the paths of {table.key} do not hold {{{unused}}}; put it in, or drop the parameter.")


def _filled(text: str, parameters: Mapping[str, Value]) -> str:
    return _HOLE.sub(lambda match: written(parameters[match.group(1)]), text)


def _refuse_equal_runs(points: Sequence[Point], name: str) -> None:
    seen: set[str] = set()
    for point in points:
        if point.run in seen:
            raise BadInput(f"{name}: two points are called {point.run!r}; values that are written alike cannot be told apart.")
        seen.add(point.run)
