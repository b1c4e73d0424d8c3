"""Experiment files: data sets × systems × parameters in TOML; every combination is a cell, evaluated by a command."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple

from rankwell.core.registry import suggest
from rankwell.errors import BadInput
from rankwell.experiments.former_files import is_former
from rankwell.store import Source, read_toml

Value = str | int | float | bool
Scope = Literal["options", "dataset", "system", "cell"]
Keys = tuple[str | int, ...]
_TOP = ("title", "options", "parameters", "table", "comparison", "chart", "dataset", "system")
_DATASET = ("name", "title", "command", "systems", "vary")
_SYSTEM = ("name", "title", "datasets", "on", "call", "parameters", "notes", "training")
_TABLE = {"measures": list, "baseline": str, "mean": bool, "intervals": bool, "side_by_side": bool}
_COMPARISON = {"test": str, "correction": str, "level": float, "resamples": int, "seed": int}
_TRAINING = {"time": str, "hardware": str, "data": str}
_EXPECTED = {str: "a string", list: "a list of strings", bool: "true or false", float: "a number", int: "an integer"}
_HEADER = re.compile(r"\s*(\[\[?)([^\[\]]+)\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*([\w-]+|"[^"]*"|'[^']*')\s*=""")
_PART = re.compile(r"""\s*([\w-]+|"[^"]*"|'[^']*')\s*\.?""")
_HOLE = re.compile(r"\{(\w+)\}")


class OptionValue(NamedTuple):
    """The value of an option. where: file, line and key, for messages. scope: the table it comes from."""

    value: Value | list[str | int | float]
    where: str
    scope: Scope


@dataclass(frozen=True)
class Cell:
    """One system with one value of every parameter and option, on one data set.

    system: its name with the values that vary (`bm25 k=5`); entry: its name in the file. command: the words of the command that
    evaluates it. options: by name, with `_` for `-`. call: `module:object` that answers instead of files, or "". parameters:
    those of the system. vary: the options that come from the data set's table of this name. varying: names of several values.
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

    titles: those of systems and data sets, by kind and name. table, comparison: the settings of these tables, as far as given.
    chart: the labels of measures that charts show.
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
    """Statements of a user about a system; "" where nothing is stated. title: its name in tables."""

    title: str = ""
    training_time: str = ""
    training_hardware: str = ""
    training_data: str = ""
    notes: str = ""


def read_experiment(path: str | Path) -> Experiment:
    """Reads an experiment file; docs/benches.md describes it. Paths in it are relative to its folder.

    Raises BadInput that names the file, the line, the key and what is known instead.
    """
    source = Source(path)
    top = _top(source)
    datasets, systems = top.named("dataset"), top.named("system")
    for each in systems.values():
        each.child("on").allow(datasets)
    cells = tuple(_cells(top, datasets, systems))
    if not cells:
        raise BadInput(f"{source.name}: no system is on any data set. Correct `systems` and `datasets`.")
    _reject_duplicate_cells(cells, source.name)
    chart = top.settings("chart", {"measures": list})
    return Experiment(
        file=source.name,
        stem=source.stem,
        folder=Path() if source.file is None else source.file.parent,
        digest=source.digest(),
        title=top.text("title"),
        cells=cells,
        systems=tuple(each for name in systems for each in dict.fromkeys(cell.system for cell in cells if cell.entry == name)),
        datasets=tuple(name for name in datasets if any(each.dataset == name for each in cells)),
        titles={("dataset", name): each.text("title") or name for name, each in datasets.items()}
        | {("system", each.system): _title(systems[each.entry], each) for each in cells},
        table=top.settings("table", _TABLE),
        comparison=top.settings("comparison", _COMPARISON),
        chart=tuple(chart.get("measures", ())),
    )


def read_statements(path: str | Path) -> dict[str, SystemStatement]:
    """The statements about every `[[system]]` of an experiment file, by name: `title`, `notes` and `training`.

    Raises BadInput as `read_experiment`; data sets are not looked at.
    """
    found: dict[str, SystemStatement] = {}
    for name, node in _top(Source(path)).named("system").items():
        training = {f"training_{key}": text for key, text in node.settings("training", _TRAINING).items()}
        found[name] = SystemStatement(node.text("title"), notes=node.text("notes"), **training)
    return found


def written(value: Value) -> str:
    """A value in the name of a run or of a file: `true`, `0.5`, `bm25`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class _Node:
    """A table of the file with the keys that lead to it, for messages."""

    file: str
    content: Mapping[str, Any]
    lines: Mapping[Keys, int]
    path: Keys = ()
    title: str = ""

    def at(self, *names: str) -> str:
        """The place of a key below, or of the table itself, for messages; the nearest line that was found."""
        keys = (*self.path, *names)
        line = next((self.lines[keys[:n]] for n in range(len(keys), 0, -1) if keys[:n] in self.lines), None)
        place = self.file if line is None else f"{self.file}:{line}"
        words = ".".join(str(part) for part in keys if isinstance(part, str))
        return f"{place}: {': '.join((self.title, *names)) if self.title else words}"

    def allow(self, names: Sequence[str] | Mapping[str, Any]) -> None:
        """Raises BadInput for an unknown key."""
        unknown = next((name for name in self.content if name not in names), None)
        if unknown is not None:
            raise BadInput(f"{self.at(unknown)}: unknown key; {suggest(unknown, names)}")

    def child(self, name: str) -> "_Node":
        """The table below, empty where there is none."""
        inner = self.content.get(name, {})
        if not isinstance(inner, dict):
            raise BadInput(f"{self.at(name)} is {inner!r}; expected a table.")
        return _Node(self.file, inner, self.lines, (*self.path, name), f"{self.title}: {name}" if self.title else "")

    def named(self, kind: str) -> dict[str, "_Node"]:
        """The tables of an array by their names, which must be names of folders."""
        inner = self.content.get(kind, [])
        if not isinstance(inner, list) or not all(isinstance(each, dict) for each in inner):
            raise BadInput(f"{self.at(kind)} is not a list of tables; write [[{kind}]] above each.")
        if not inner:
            raise BadInput(f"{self.file}: no [[{kind}]]; give at least one.")
        found: dict[str, _Node] = {}
        titles: set[str] = set()
        for place, each in enumerate(inner):
            node = _Node(self.file, each, self.lines, (kind, place), f"{kind} {place + 1}")
            name = node.text("name", required=True)
            check_folder_name(name, node.at("name"))
            if name.casefold() in (known.casefold() for known in found):
                raise BadInput(f"{node.at('name')}: a second {kind} named {name!r}; give each a name of its own.")
            found[name] = _Node(self.file, each, self.lines, (kind, place), f"{kind} {name!r}")
            title = node.text("title") or name
            if title in titles:
                raise BadInput(f"{found[name].at('title')}: a second {kind} is shown as {title!r}; give each a title of its own.")
            titles.add(title)
        return found

    def text(self, name: str, *, required: bool = False) -> str:
        """The string below, "" where there is none."""
        value = self.content.get(name)
        if value is None and not required:
            return ""
        if not isinstance(value, str) or not value:
            raise BadInput(f"{self.at(name)} is {'missing' if value is None else repr(value)}; expected a string.")
        return value

    def texts(self, name: str, known: Mapping[str, Any], kind: str) -> list[str]:
        """The names listed below, all of them known; every known one where there is no list."""
        value = self.content.get(name)
        if value is None:
            return list(known)
        if not _are_texts(value):
            raise BadInput(f"{self.at(name)} is {value!r}; expected a list of {kind}s.")
        unknown = next((each for each in value if each not in known), None)
        if unknown is not None:
            raise BadInput(f"{self.at(name)}: unknown {kind} {unknown!r}; {suggest(unknown, known)}")
        return value

    def settings(self, name: str, kinds: Mapping[str, type]) -> dict[str, Any]:
        """The values of a table whose keys and types are known."""
        table = self.child(name)
        table.allow(kinds)
        for key, value in table.content.items():
            kind = kinds[key]
            right = isinstance(value, (int, float) if kind is float else kind) and (kind is bool or not isinstance(value, bool))
            if not right or (kind is list and not _are_texts(value)):
                raise BadInput(f"{table.at(key)} is {value!r}; expected {_EXPECTED[kind]}.")
        return dict(table.content)

    def options(self, scope: Scope, besides: Sequence[str] = ()) -> dict[str, OptionValue]:
        """Every other key as an option."""
        found: dict[str, OptionValue] = {}
        for key, value in self.content.items():
            if key in besides:
                continue
            parts = value if isinstance(value, list) else [value]
            wrong = next((each for each in parts if not isinstance(each, Value)), None)
            if wrong is not None or not parts:
                what = "an empty list" if not parts else repr(wrong)
                raise BadInput(f"{self.at(key)} is {what}; expected strings, numbers, true or false, or a list of them.")
            name = key.replace("-", "_")
            if name in found:
                raise BadInput(f"{self.at(key)} is given twice, with - and with _; keep one.")
            found[name] = OptionValue(value, self.at(key), scope)
        return found

    def variants(self, scope: Scope) -> dict[str, list[OptionValue]]:
        """Every key with its values, each of which is tried; or the one that it has."""
        found: dict[str, list[OptionValue]] = {}
        for name, given in self.options(scope).items():
            values: list[Any] = given.value if isinstance(given.value, list) else [given.value]
            if not name.isidentifier():
                raise BadInput(f"{given.where}: {name!r} cannot name a parameter; use letters, digits and _.")
            # 1, 1.0 and true are equal, but not the same value.
            if len({(type(each), each) for each in values}) < len(values):
                raise BadInput(f"{given.where} lists a value twice: {values}; list each once.")
            found[name] = [given._replace(value=each) for each in values]
        return found


def _top(source: Source) -> _Node:
    text, table = read_toml(source)
    if is_former(table):
        command = f"rankwell convert experiment {source.name} NEW.toml"
        raise BadInput(f"{source.name} is in a format of an earlier version. Convert it once: {command}")
    top = _Node(source.name, table, _lines(text))
    top.allow(_TOP)
    return top


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, str) and each for each in value)


def check_folder_name(name: str, where: str) -> None:
    """Raises BadInput for a name that cannot be that of a folder everywhere."""
    if name.startswith(".") or name != name.strip() or not name.isprintable() or set(name) & set('/\\:*?"<>|'):
        raise BadInput(f"{where} is {name!r}, which cannot name a folder; use letters and digits.")


def _cells(top: _Node, datasets: Mapping[str, _Node], systems: Mapping[str, _Node]) -> Iterator[Cell]:
    shared, parameters = top.child("options").options("options"), top.child("parameters").variants("options")
    wanted = {name: each.texts("datasets", datasets, "data set") for name, each in systems.items()}
    for dataset, table in datasets.items():
        command = OptionValue(table.text("command", required=True), table.at("command"), "dataset")
        own, vary = {**shared, **table.options("dataset", _DATASET)}, table.child("vary").variants("dataset")
        meeting = table.texts("systems", systems, "system")
        for system, node in systems.items():
            inner = node.child("on").child(dataset)
            there = inner.options("cell")
            if dataset not in wanted[system] or system not in meeting:
                if inner.content:
                    raise BadInput(f"{inner.at()}: {system!r} is not evaluated on {dataset!r}; let it, or drop this table.")
                continue
            options = {**own, **node.options("system", _SYSTEM), **there}
            first = Cell(dataset, system, system, command, options, node.text("call"), where=node.at())
            yield from _variants(first, {**parameters, **node.child("parameters").variants("system")}, vary)


def _variants(cell: Cell, parameters: Mapping[str, list[OptionValue]], vary: Mapping[str, list[OptionValue]]) -> Iterator[Cell]:
    """A cell for every combination of values; those of options move fastest."""
    both = next((name for name in parameters if name in vary or name in cell.options), None)
    if both is not None:
        raise BadInput(f"{parameters[both][0].where}: {both!r} is an option of {cell.dataset!r} as well; rename the parameter.")
    varying = tuple(name for name, values in (*parameters.items(), *vary.items()) if len(values) > 1)
    if not cell.call:
        _check_holes(cell, parameters)
    for chosen in product(*parameters.values(), *vary.values()):
        values = dict(zip((*parameters, *vary), chosen, strict=True))
        own: dict[str, Any] = {name: values[name].value for name in parameters}
        system = _run(cell.entry, [(name, values[name].value) for name in varying])
        names = {"dataset": cell.dataset, "system": cell.entry, **{name: written(each) for name, each in own.items()}}
        options = {**cell.options, **{name: values[name] for name in vary}}
        filled = {name: each._replace(value=_filled(each.value, names)) for name, each in options.items()}
        yield Cell(cell.dataset, system, cell.entry, cell.command, filled, cell.call, own, tuple(vary), varying, cell.where)


def _run(entry: str, values: Sequence[tuple[str, Any]]) -> str:
    """The name of a system with the values that vary."""
    return " ".join([entry, *(f"{name}={written(value)}" for name, value in values)])


def _title(node: _Node, cell: Cell) -> str:
    return (node.text("title") or cell.entry) + cell.system.removeprefix(cell.entry)


def _filled(value: Any, names: Mapping[str, str]) -> Any:
    """The value with the names in place of `{dataset}`, `{system}` and `{parameter}`; other braces are the command's own."""
    if isinstance(value, list):
        return [_filled(each, names) for each in value]
    return _HOLE.sub(lambda hole: names.get(hole[1], hole[0]), value) if isinstance(value, str) else value


def _check_holes(cell: Cell, parameters: Mapping[str, list[OptionValue]]) -> None:
    """Raises BadInput for a parameter that no option holds: cells of the same files would look different."""
    texts = [
        (each, text) for each in cell.options.values() for text in (each.value if isinstance(each.value, list) else [each.value])
    ]
    holes = {hole: each.where for each, text in texts if isinstance(text, str) for hole in _HOLE.findall(text)}
    unknown = next((hole for hole in holes if parameters and hole not in (*parameters, "dataset", "system")), None)
    if unknown is not None:
        raise BadInput(f"{holes[unknown]}: unknown parameter {unknown!r}; {suggest(unknown, parameters)}")
    unused = next((name for name in parameters if name not in holes), None)
    if unused is not None:
        raise BadInput(
            f"{parameters[unused][0].where}: no option of {cell.name} holds {{{unused}}}; put it in, or drop the parameter."
        )


def _reject_duplicate_cells(cells: Sequence[Cell], file: str) -> None:
    """Raises BadInput where values that are written alike give two cells one name."""
    seen: set[str] = set()
    for each in cells:
        if each.name in seen:
            raise BadInput(f"{file}: two cells are named {each.name!r}: values of their parameters are written alike.")
        seen.add(each.name)


def _lines(text: str) -> dict[Keys, int]:
    """The lines of tables and keys, as far as single lines show them: the keys that lead there -> line, from 1."""
    found: dict[Keys, int] = {}
    counts: dict[str, int] = {}
    path: Keys = ()
    quoted = False
    for number, line in enumerate(text.splitlines(), 1):
        inside = quoted
        quoted ^= (line.count('"""') + line.count("'''")) % 2 == 1
        if inside:
            continue
        if header := _HEADER.match(line):
            parts = [part.strip("\"'") for part in _PART.findall(header[2])]
            if header[1] == "[[":
                counts[parts[0]] = counts.get(parts[0], -1) + 1
            path = (parts[0], *([counts[parts[0]]] if parts[0] in counts else []), *parts[1:])
            found.setdefault(path, number)
        elif key := _KEY.match(line):
            found.setdefault((*path, key[1].strip("\"'")), number)
    return found
