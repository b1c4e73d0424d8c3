"""Experiment files: data sets × systems × parameters in TOML, every combination a cell."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from rankwell.core.registry import suggest
from rankwell.errors import BadInput
from rankwell.experiments.toml_tables import TomlTable
from rankwell.store import Source

Value = str | int | float | bool
Scope = Literal["options", "dataset", "system", "cell"]
_TOP = ("title", "options", "parameters", "table", "comparison", "chart", "dataset", "system")
_DATASET = ("name", "title", "command", "systems", "vary")
_SYSTEM = ("name", "title", "datasets", "on", "call", "parameters", "notes", "training")
_SWEEP = "sweep"
_TABLE = {
    "measures": list[str],
    "baseline": str,
    "mean": bool,
    "intervals": bool,
    "side_by_side": bool,
}
_COMPARISON = {"test": str, "correction": str, "level": float, "resamples": int, "seed": int}
_HOLE = re.compile(r"\{(\w+)\}")


class OptionValue(NamedTuple):
    """The value of an option. where: file, line and key, for messages. scope: the table that has
    it.
    """

    value: Value | list[str | int | float]
    where: str
    scope: Scope


@dataclass(frozen=True)
class Cell:
    """One system with one value of every parameter and option, on one data set.

    system: its name with the values that vary (`bm25 k=5`); entry: its name in the file. command:
    the words of the command that evaluates it. options: by name, with `_` for `-`. call:
    `./FILE.py:OBJECT` that answers instead of files, or "". parameters: those of the system. vary:
    the options that come from the data set's table of this name. varying: names of several values.
    """

    dataset: str
    system: str
    entry: str
    command: OptionValue
    options: Mapping[str, OptionValue]
    call: str = ""
    parameters: Mapping[str, Value] = field(default_factory=dict[str, Value])
    vary: tuple[str, ...] = ()
    varying: tuple[str, ...] = ()
    where: str = ""

    @property
    def name(self) -> str:
        """`DATASET/SYSTEM`, which is its folder as well."""
        return f"{self.dataset}/{self.system}"


@dataclass(frozen=True)
class Experiment:
    """The content of an experiment file. cells: data sets in the order of the file, then systems.

    titles: those of systems and data sets, by kind and name. table, comparison: the settings in the
    file (docs/benches.md). chart: the labels of measures that charts show.
    """

    file: str
    stem: str
    folder: Path
    digest: str
    title: str
    cells: tuple[Cell, ...]
    systems: tuple[str, ...]
    datasets: tuple[str, ...]
    titles: Mapping[tuple[str, str], str]
    table: Mapping[str, Any]
    comparison: Mapping[str, Any]
    chart: tuple[str, ...]


class SystemStatement(NamedTuple):
    """Statements of a user about a system; "" where nothing is stated. title: its name in
    tables.
    """

    title: str = ""
    training_time: str = ""
    training_hardware: str = ""
    training_data: str = ""
    notes: str = ""


def read_experiment(path: str | Path) -> Experiment:
    """Reads an experiment file (docs/benches.md); its paths are relative to its folder. Raises
    BadInput with file, line, key.
    """
    source = Source(path)
    top = _top(source)
    datasets, systems = top.named("dataset"), top.named("system")
    own = next(
        (
            name
            for name in datasets
            if name.casefold().startswith(("table.", "bench.json", "manifest.json"))
        ),
        None,
    )
    if own is not None:
        raise BadInput(
            f"{datasets[own].at('name')}: the bench writes a file named {own!r}; give the "
            "data set another name."
        )
    for each in systems.values():
        each.child("on").allow(datasets)
    cells = tuple(_cells(top, datasets, systems))
    if not cells:
        raise BadInput(
            f"{source.name}: no system is on any data set. Correct `systems` and `datasets`."
        )
    double = next(
        (name for name, times in Counter(cell.name for cell in cells).items() if times > 1), None
    )
    if double is not None:
        raise BadInput(
            f"{source.name}: two cells are named {double!r}: values of their parameters are "
            "written alike."
        )
    return Experiment(
        file=source.name,
        stem=source.stem,
        folder=Path() if source.file is None else source.file.parent,
        digest=source.digest(),
        title=top.text("title"),
        cells=cells,
        systems=tuple(
            each
            for name in systems
            for each in dict.fromkeys(cell.system for cell in cells if cell.entry == name)
        ),
        datasets=tuple(name for name in datasets if any(each.dataset == name for each in cells)),
        titles={("dataset", name): each.text("title") or name for name, each in datasets.items()}
        | {
            ("system", each.system): (systems[each.entry].text("title") or each.entry)
            + each.system.removeprefix(each.entry)
            for each in cells
        },
        table=top.child("table").settings(_TABLE),
        comparison=top.child("comparison").settings(_COMPARISON),
        chart=tuple(top.child("chart").settings({"measures": list[str]}).get("measures", ())),
    )


def read_statements(path: str | Path) -> dict[str, SystemStatement]:
    """The title, notes and training of every `[[system]]` of an experiment file, by name; data sets
    are not looked at.
    """
    found: dict[str, SystemStatement] = {}
    for name, node in _top(Source(path)).named("system").items():
        training = node.child("training").settings({"time": str, "hardware": str, "data": str})
        stated = [training.get(key, "") for key in ("time", "hardware", "data")]
        found[name] = SystemStatement._make([node.text("title"), *stated, node.text("notes")])
    return found


def written(value: Any) -> str:
    """A value in the name of a run or of a file: `true`, `0.5`, `bm25`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _top(source: Source) -> TomlTable:
    top = TomlTable.read(source)
    top.allow(_TOP)
    return top


def _options(table: TomlTable, scope: Scope, besides: Sequence[str] = ()) -> dict[str, OptionValue]:
    """Every other key as an option."""
    found: dict[str, OptionValue] = {}
    for key, value in table.content.items():
        if key in besides:
            continue
        value = _pairs(value) if isinstance(value, dict) else value
        parts = value if isinstance(value, list) else [value]
        wrong = next((each for each in parts if not isinstance(each, Value)), None)
        if wrong is not None or not parts:
            what = "an empty list" if not parts else repr(wrong)
            raise BadInput(
                f"{table.at(key)} is {what}; expected strings, numbers, true or false, or a "
                "list of them."
            )
        name = key.replace("-", "_")
        if name in found:
            raise BadInput(f"{table.at(key)} is given twice, with - and with _; keep one.")
        found[name] = OptionValue(value, table.at(key), scope)
    return found


def _pairs(table: Mapping[str, Any]) -> Any:
    """A table as the texts of an option that takes NAME=VALUE, one for each of its keys; itself
    where it is another one.
    """
    plain = bool(table) and all(isinstance(value, Value) for value in table.values())
    return [f"{name}={written(value)}" for name, value in table.items()] if plain else table


def _tried(table: TomlTable, scope: Scope) -> dict[str, list[OptionValue]]:
    """Every key with its values, each of which is tried; or with its only one."""
    found: dict[str, list[OptionValue]] = {}
    for name, given in _options(table, scope).items():
        values: list[Any] = given.value if isinstance(given.value, list) else [given.value]
        if not name.isidentifier():
            raise BadInput(
                f"{given.where}: {name!r} cannot name a parameter; use letters, digits and _."
            )
        # 1, 1.0 and true are equal, but not the same value.
        if len({(type(each), each) for each in values}) < len(values):
            raise BadInput(f"{given.where} lists a value twice: {values}; list each once.")
        found[name] = [given._replace(value=each) for each in values]
    return found


def _cells(
    top: TomlTable, datasets: Mapping[str, TomlTable], systems: Mapping[str, TomlTable]
) -> Iterator[Cell]:
    shared, parameters = (
        _options(top.child("options"), "options"),
        _tried(top.child("parameters"), "options"),
    )
    named = {name: each.texts("datasets", datasets, "data set") for name, each in systems.items()}
    for dataset, table in datasets.items():
        command = OptionValue(table.text("command", required=True), table.at("command"), "dataset")
        own, vary = (
            {**shared, **_options(table, "dataset", _DATASET)},
            _tried(table.child("vary"), "dataset"),
        )
        meeting = table.texts("systems", systems, "system")
        for system, node in systems.items():
            inner = node.child("on").child(dataset)
            there = _options(inner, "cell")
            if dataset not in named[system] or system not in meeting:
                if inner.content:
                    what = f"{inner.at()}: {system!r} is not evaluated on {dataset!r}"
                    raise BadInput(f"{what}; evaluate it there, or drop this table.")
                continue
            # Of a table every combination is a cell; a list is an option of one.
            sweep = (
                _tried(node.child(_SWEEP), "system")
                if isinstance(node.content.get(_SWEEP), dict)
                else {}
            )
            options = {
                **own,
                **_options(node, "system", (*_SYSTEM, *([_SWEEP] if sweep else []))),
                **there,
            }
            first = Cell(
                dataset, system, system, command, options, node.text("call"), where=node.at()
            )
            yield from _variants(
                first, {**parameters, **_tried(node.child("parameters"), "system")}, vary, sweep
            )


_Tried = Mapping[str, list[OptionValue]]


def _variants(cell: Cell, parameters: _Tried, vary: _Tried, sweep: _Tried) -> Iterator[Cell]:
    """A cell for every combination of values; those of options move fastest, then those of a
    sweep.
    """
    both = next((name for name in parameters if name in vary or name in cell.options), None)
    both = both or next((name for name in sweep if name in parameters or name in vary), None)
    if both is not None:
        where = {**parameters, **sweep}[both][0].where
        raise BadInput(
            f"{where}: {both!r} is an option of {cell.dataset!r} as well; rename the parameter."
        )
    every = {**parameters, **vary, **sweep}
    varying = tuple(name for name, values in every.items() if len(values) > 1)
    if not cell.call:
        _check_holes(cell, parameters)
    for chosen in product(*every.values()):
        values = dict(zip(every, chosen, strict=True))
        own: dict[str, Any] = {name: values[name].value for name in parameters}
        system = " ".join(
            [cell.entry, *(f"{name}={written(values[name].value)}" for name in varying)]
        )
        names = {
            "dataset": cell.dataset,
            "system": cell.entry,
            **{name: written(each) for name, each in own.items()},
        }
        options = {**cell.options, **{name: values[name] for name in vary}}
        if sweep:
            pairs = [f"{name}={written(values[name].value)}" for name in sweep]
            options[_SWEEP] = next(iter(sweep.values()))[0]._replace(value=pairs)
        filled = {
            name: each._replace(value=_filled(each.value, names)) for name, each in options.items()
        }
        yield Cell(
            cell.dataset,
            system,
            cell.entry,
            cell.command,
            filled,
            cell.call,
            own,
            tuple(vary),
            varying,
            cell.where,
        )


def _filled(value: Any, names: Mapping[str, str]) -> Any:
    """The value with the names in place of `{dataset}`, `{system}` and `{parameter}`; other braces
    are the command's own.
    """
    if isinstance(value, list):
        return [_filled(each, names) for each in value]
    return (
        _HOLE.sub(lambda hole: names.get(hole[1], hole[0]), value)
        if isinstance(value, str)
        else value
    )


def _check_holes(cell: Cell, parameters: Mapping[str, list[OptionValue]]) -> None:
    """Raises BadInput for a parameter that no option holds: cells of the same files would look
    different.
    """
    values = [(each, json.dumps(each.value, ensure_ascii=False)) for each in cell.options.values()]
    holes = {hole: each.where for each, text in values for hole in _HOLE.findall(text)}
    unknown = next(
        (hole for hole in holes if parameters and hole not in (*parameters, "dataset", "system")),
        None,
    )
    if unknown is not None:
        raise BadInput(
            f"{holes[unknown]}: unknown parameter {unknown!r}; {suggest(unknown, parameters)}"
        )
    unused = next((name for name in parameters if name not in holes), None)
    if unused is not None:
        what = f"{parameters[unused][0].where}: no option of {cell.name} holds {{{unused}}}"
        raise BadInput(f"{what}; put it in, or drop the parameter.")


class CellKind(Protocol):
    """How the cells of a plan are evaluated; plain, since it is sent to processes."""

    def evaluate(
        self, cells: Sequence[Any], progress: Callable[[str, int, int], None] | None, /
    ) -> Iterator[str]:
        """Evaluates planned cells of a group and writes their records; yields the error of each, ""
        where there is none.

        An exception ends the whole run.
        """
        ...


def toml_key(name: str) -> str:
    """A key of TOML, quoted where it needs to be."""
    if name.isascii() and name.replace("-", "").replace("_", "").isalnum():
        return name
    # JSON leaves one control character as it is, which TOML does not allow.
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")
