"""Experiment files: data sets × systems × parameters in TOML, every combination a cell."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from rankwell.data.options import NamedProgress
from rankwell.data.registry import suggest
from rankwell.documents import read_toml
from rankwell.errors import BadInput
from rankwell.store import Source

Keys = tuple[str | int, ...]
EXPECTED: dict[Any, str] = {
    str: "a string",
    list[str]: "a list of strings",
    bool: "true or false",
    float: "a number",
    int: "an integer",
    float | str: 'a number, or a string such as "1%"',
}
_HEADER = re.compile(r"\s*(\[\[?)([^\[\]]+)\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*([\w-]+|"[^"]*"|'[^']*')\s*=""")
_PART = re.compile(r"""\s*([\w-]+|"[^"]*"|'[^']*')\s*\.?""")


@dataclass(frozen=True)
class TomlTable:
    """A table of a file with the keys that lead to it, for messages.

    lines: key path -> its line, for keys that single lines show.
    """

    file: str
    content: Mapping[str, Any]
    lines: Mapping[Keys, int]
    path: Keys = ()
    title: str = ""

    @classmethod
    def read(cls, source: Source) -> "TomlTable":
        """The outermost table of a file. Raises BadInput where it is not TOML."""
        text, content = read_toml(source)
        return cls(source.name, content, _lines(text))

    def at(self, *names: str) -> str:
        """The place of a key below, or of the table itself, for messages; the nearest line that was
        found.
        """
        keys = (*self.path, *names)
        line = next(
            (self.lines[keys[:n]] for n in range(len(keys), 0, -1) if keys[:n] in self.lines), None
        )
        location = self.file if line is None else f"{self.file}:{line}"
        words = ".".join(str(part) for part in keys if isinstance(part, str))
        return f"{location}: {': '.join((self.title, *names)) if self.title else words}"

    def allow(self, names: Sequence[str] | Mapping[str, Any]) -> None:
        """Raises BadInput for an unknown key."""
        for name in self.content:
            if name not in names:
                raise BadInput(f"{self.at(name)}: unknown key; {suggest(name, names)}")

    def child(self, name: str) -> "TomlTable":
        """The table below, empty where there is none."""
        inner = self.content.get(name, {})
        if not isinstance(inner, dict):
            raise BadInput(f"{self.at(name)} is {inner!r}; expected a table.")
        title = f"{self.title}: {name}" if self.title else ""
        return replace(self, content=inner, path=(*self.path, name), title=title)

    def tables_by_name(self, kind: str, *, required: bool) -> dict[str, "TomlTable"]:
        """The tables of an array by their names, which must be names of folders."""
        inner = self.content.get(kind, [])
        if not isinstance(inner, list) or not all(isinstance(table, dict) for table in inner):
            raise BadInput(f"{self.at(kind)} is not a list of tables; write [[{kind}]] above each.")
        if not inner and required:
            raise BadInput(f"{self.file}: no [[{kind}]]; give at least one.")
        tables = dict[str, TomlTable]()
        titles: set[str] = set()
        for index, content in enumerate(inner):
            path, title = (kind, index), f"{kind} {index + 1}"
            node = replace(self, content=content, path=path, title=title)
            name = node.text("name", required=True)
            check_folder_name(name, node.at("name"))
            if name.casefold() in map(str.casefold, tables):
                raise BadInput(
                    f"{node.at('name')}: a second {kind} named {name!r}; give each a name of "
                    "its own."
                )
            tables[name] = replace(node, title=f"{kind} {name!r}")
            title = node.text("title") or name
            if title in titles:
                raise BadInput(
                    f"{tables[name].at('title')}: a second {kind} is shown as {title!r}; give "
                    "each a title of its own."
                )
            titles.add(title)
        return tables

    def text(self, name: str, *, required: bool = False) -> str:
        """The string below, "" where there is none."""
        value = self.content.get(name, None if required else "")
        if (name in self.content and not value) or not isinstance(value, str):
            raise BadInput(
                f"{self.at(name)} is {'missing' if value is None else repr(value)}; expected "
                "a string."
            )
        return value

    def texts(self, name: str, names: Mapping[str, Any], kind: str) -> list[str]:
        """The names listed below, all of them known; every known one where there is no list."""
        value = self.content.get(name)
        if value is None:
            return list(names)
        if not fits(value, list[str]):
            raise BadInput(f"{self.at(name)} is {value!r}; expected a list of {kind}s.")
        for text in value:
            if text not in names:
                raise BadInput(f"{self.at(name)}: unknown {kind} {text!r}; {suggest(text, names)}")
        return value

    def settings(self, kinds: Mapping[str, Any]) -> dict[str, Any]:
        """The values of keys of these types. Raises BadInput for an unknown key and for a value of
        another type.
        """
        self.allow(kinds)
        for key, value in self.content.items():
            if not fits(value, kinds[key]):
                raise BadInput(f"{self.at(key)} is {value!r}; expected {EXPECTED[kinds[key]]}.")
        return dict(self.content)


def check_folder_name(name: str, where: str) -> None:
    """Raises BadInput for a name that cannot be that of a folder everywhere."""
    if (
        name.startswith(".")
        or name != name.strip()
        or not name.isprintable()
        or set(name) & set('/\\:*?"<>|')
    ):
        raise BadInput(f"{where} is {name!r}, which cannot name a folder; use letters and digits.")


def fits(value: Any, kind: Any) -> bool:
    """Whether a value of TOML is of a type, such as `list[str]`; an integer is a number, too."""
    if isinstance(value, list):
        return (
            kind == list[str]
            and bool(value)
            and all(isinstance(text, str) and text for text in value)
        )
    if isinstance(value, bool) or kind == list[str]:
        return kind is bool
    return isinstance(value, kind) or (isinstance(value, int) and isinstance(0.5, kind))


def _lines(text: str) -> dict[Keys, int]:
    """The lines of tables and keys, as far as single lines show them: the keys that lead there ->
    line, from 1.
    """
    lines = dict[Keys, int]()
    counts = dict[str, int]()
    path: Keys = ()
    quoted = False
    for number, line in enumerate(text.split("\n"), 1):
        inside = quoted
        quoted ^= (line.count('"""') + line.count("'''")) % 2 == 1
        if inside:
            continue
        if header := _HEADER.match(line):
            top, *below = (part.strip("\"'") for part in _PART.findall(header[2]))
            if header[1] == "[[":
                counts[top] = counts.get(top, -1) + 1
            path = (top, *([counts[top]] if top in counts else []), *below)
            lines.setdefault(path, number)
        elif key := _KEY.match(line):
            lines.setdefault((*path, key[1].strip("\"'")), number)
    return lines


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
    "costs": bool,
    "published": bool,
    "pages": bool,
    "results": list[str],
}
_COMPARISON = {"test": str, "correction": str, "level": float, "resamples": int, "seed": int}
_HOLE = re.compile(r"\{(\w+)\}")


class OptionValue(NamedTuple):
    """The value of an option.

    where: file, line and key, for messages.
    scope: the table of the file that sets it.
    """

    value: Value | list[str | int | float]
    where: str
    scope: Scope


@dataclass(frozen=True)
class Cell:
    """One system with one value of every parameter and option, on one data set.

    system: the name of the system with the values that vary (`bm25 k=5`).
    entry: the name of the system in the file.
    command: the words of the command that evaluates it.
    options: options by name, with `_` for `-`.
    call: `./FILE.py:OBJECT`, which answers in place of files; "" for none.
    parameters: the parameters of the system.
    vary: the options that come from the table `vary` of the data set.
    varying: names of the parameters and options that have several values.
    """

    dataset: str
    system: str
    entry: str
    command: OptionValue
    options: Mapping[str, OptionValue]
    call: str = ""
    parameters: Mapping[str, Value] = field(default_factory=dict)
    vary: tuple[str, ...] = ()
    varying: tuple[str, ...] = ()
    where: str = ""

    @property
    def name(self) -> str:
        """`DATASET/SYSTEM`, which is its folder as well."""
        return f"{self.dataset}/{self.system}"


class SystemStatement(NamedTuple):
    """Statements of a user about a system; "" where nothing is stated.

    title: the name of the system in tables.
    """

    title: str = ""
    training_time: str = ""
    training_hardware: str = ""
    training_data: str = ""
    notes: str = ""


@dataclass(frozen=True)
class Experiment:
    """The content of an experiment file.

    cells: the cells by data set, in the order of the file, then by system.
    titles: the titles of systems and data sets, by kind and name.
    table, comparison: the settings in the file (docs/guide/many.md).
    chart: the labels of measures that charts show.
    statements: system, as the file names it -> what its user states.
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
    statements: Mapping[str, SystemStatement]

    @property
    def has_pages(self) -> bool:
        """Whether each folder of results gets the page that it lacks."""
        return bool(self.table.get("pages"))

    @property
    def kind(self) -> Literal["commands", "grid", "costs"]:
        """What evaluates it: the commands of its data sets; for `call` and [chart] a grid of
        parameters; for costs, published figures and kept results the table of costs.
        """
        if self.chart or any(cell.call for cell in self.cells):
            return "grid"
        is_of_costs = any(self.table.get(name) for name in ("costs", "published", "results"))
        return "costs" if is_of_costs else "commands"


def read_experiment(path: str | Path) -> Experiment:
    """Reads an experiment file (docs/guide/many.md); its paths are relative to its folder. Raises
    BadInput with file, line, key.
    """
    source = Source(path)
    top = TomlTable.read(source)
    top.allow(_TOP)
    table_settings = top.child("table").settings(_TABLE)
    is_needed = not (table_settings.get("results") or table_settings.get("published"))
    datasets = top.tables_by_name("dataset", required=is_needed)
    systems = top.tables_by_name("system", required=is_needed)
    for name, table in datasets.items():
        if name.casefold().startswith(("table.", "bench.json", "manifest.json")):
            raise BadInput(
                f"{table.at('name')}: the bench writes a file named {name!r}; give the data set "
                "another name."
            )
    for table in systems.values():
        table.child("on").allow(datasets)
    cells = tuple(_cells(top, datasets, systems))
    if not cells and (datasets or is_needed):
        raise BadInput(
            f"{source.name}: no system is on any data set. Correct `systems` and `datasets`."
        )
    for name, times in Counter(cell.name for cell in cells).items():
        if times > 1:
            raise BadInput(
                f"{source.name}: two cells are named {name!r}: values of their parameters are "
                "written alike."
            )
    entries = list(systems)
    titles = {("dataset", name): table.text("title") or name for name, table in datasets.items()}
    for cell in cells:
        title = systems[cell.entry].text("title") or cell.entry
        titles["system", cell.system] = title + cell.system.removeprefix(cell.entry)
    by_entry = sorted(cells, key=lambda cell: entries.index(cell.entry))
    return Experiment(
        file=source.name,
        stem=source.stem,
        folder=Path() if source.file is None else source.file.parent,
        digest=source.digest(),
        title=top.text("title"),
        cells=cells,
        systems=tuple(dict.fromkeys(cell.system for cell in by_entry)),
        datasets=tuple(dict.fromkeys(cell.dataset for cell in cells)),
        titles=titles,
        table=table_settings,
        comparison=top.child("comparison").settings(_COMPARISON),
        chart=tuple(top.child("chart").settings({"measures": list[str]}).get("measures", ())),
        statements={name: _statement(node) for name, node in systems.items()},
    )


def _statement(system: TomlTable) -> SystemStatement:
    training = system.child("training").settings({"time": str, "hardware": str, "data": str})
    stated = [training.get(key, "") for key in ("time", "hardware", "data")]
    return SystemStatement._make([system.text("title"), *stated, system.text("notes")])


def written(value: Any) -> str:
    """A value in the name of a run or of a file: `true`, `0.5`, `bm25`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _options(table: TomlTable, scope: Scope, besides: Sequence[str] = ()) -> dict[str, OptionValue]:
    """Every other key as an option."""
    options = dict[str, OptionValue]()
    for key, value in table.content.items():
        if key in besides:
            continue
        value = _pairs(value) if isinstance(value, dict) else value
        parts = value if isinstance(value, list) else [value]
        texts = [repr(part) for part in parts if not isinstance(part, Value)]
        if texts or not parts:
            raise BadInput(
                f"{table.at(key)} is {texts[0] if texts else 'an empty list'}; expected strings, "
                "numbers, true or false, or a list of them."
            )
        name = key.replace("-", "_")
        if name in options:
            raise BadInput(f"{table.at(key)} is given twice, with - and with _; keep one.")
        options[name] = OptionValue(value, table.at(key), scope)
    return options


def _pairs(table: Mapping[str, Any]) -> Any:
    """A table as the texts of an option that takes NAME=VALUE, one for each of its keys; itself
    where it is another one.
    """
    plain = bool(table) and all(isinstance(value, Value) for value in table.values())
    return [f"{name}={written(value)}" for name, value in table.items()] if plain else table


def _tried(table: TomlTable, scope: Scope) -> dict[str, list[OptionValue]]:
    """Every key with its values, each of which is tried; or with its only one."""
    values_by_name = dict[str, list[OptionValue]]()
    for name, option in _options(table, scope).items():
        values = option.value if isinstance(option.value, list) else [option.value]
        if not name.isidentifier():
            raise BadInput(
                f"{option.where}: {name!r} cannot name a parameter; use letters, digits and _."
            )
        # 1, 1.0 and true are equal, but not the same value.
        if len({(type(value), value) for value in values}) < len(values):
            raise BadInput(f"{option.where} lists a value twice: {values}; list each once.")
        values_by_name[name] = [option._replace(value=value) for value in values]
    return values_by_name


def _cells(
    top: TomlTable, datasets: Mapping[str, TomlTable], systems: Mapping[str, TomlTable]
) -> Iterator[Cell]:
    shared = _options(top.child("options"), "options")
    parameters = top.child("parameters")
    shared_parameters = _tried(parameters, "options")
    datasets_of_system = {
        name: table.texts("datasets", datasets, "data set") for name, table in systems.items()
    }
    for dataset, table in datasets.items():
        command = OptionValue(table.text("command", required=True), table.at("command"), "dataset")
        dataset_options = {**shared, **_options(table, "dataset", _DATASET)}
        vary = _tried(table.child("vary"), "dataset")
        meeting = table.texts("systems", systems, "system")
        for system, node in systems.items():
            inner = node.child("on").child(dataset)
            cell_options = _options(inner, "cell")
            if dataset not in datasets_of_system[system] or system not in meeting:
                if inner.content:
                    raise BadInput(
                        f"{inner.at()}: {system!r} is not evaluated on {dataset!r}; evaluate it "
                        "there, or drop this table."
                    )
                continue
            # Of a table every combination is a cell; a list is an option of one.
            is_swept = isinstance(node.content.get(_SWEEP), dict)
            sweep = _tried(node.child(_SWEEP), "system") if is_swept else {}
            besides = (*_SYSTEM, *([_SWEEP] if sweep else []))
            options = {**dataset_options, **_options(node, "system", besides), **cell_options}
            first = Cell(
                dataset, system, system, command, options, node.text("call"), where=node.at()
            )
            tried = {**shared_parameters, **_tried(node.child("parameters"), "system")}
            yield from _variants(first, tried, vary, sweep)


_Tried = Mapping[str, list[OptionValue]]


def _variants(cell: Cell, parameters: _Tried, vary: _Tried, sweep: _Tried) -> Iterator[Cell]:
    """A cell for every combination of values; those of options move fastest, then those of a
    sweep.
    """
    double = [name for name in parameters if name in vary or name in cell.options]
    double += [name for name in sweep if name in parameters or name in vary]
    if double:
        raise BadInput(
            f"{({**parameters, **sweep})[double[0]][0].where}: {double[0]!r} is an option of "
            f"{cell.dataset!r} as well; rename the parameter."
        )
    values_by_name = {**parameters, **vary, **sweep}
    varying = tuple(name for name, values in values_by_name.items() if len(values) > 1)
    if not cell.call:
        _check_holes(cell, parameters)
    for combination in product(*values_by_name.values()):
        values = dict(zip(values_by_name, combination, strict=True))
        texts = {name: written(option.value) for name, option in values.items()}
        names = {"dataset": cell.dataset, "system": cell.entry}
        names |= {name: texts[name] for name in parameters}
        options = {**cell.options, **{name: values[name] for name in vary}}
        if sweep:
            pairs = [f"{name}={texts[name]}" for name in sweep]
            options[_SWEEP] = next(iter(sweep.values()))[0]._replace(value=pairs)
        yield replace(
            cell,
            system=" ".join([cell.entry, *(f"{name}={texts[name]}" for name in varying)]),
            options={
                name: option._replace(value=_filled(option.value, names))
                for name, option in options.items()
            },
            parameters={name: values[name].value for name in parameters},
            vary=tuple(vary),
            varying=varying,
        )


def _filled(value: Any, names: Mapping[str, str]) -> Any:
    """The value with the names in place of `{dataset}`, `{system}` and `{parameter}`; other braces
    are the command's own.
    """
    if isinstance(value, list):
        return [_filled(part, names) for part in value]
    if not isinstance(value, str):
        return value
    return _HOLE.sub(lambda hole: names.get(hole[1], hole[0]), value)


def _check_holes(cell: Cell, parameters: Mapping[str, list[OptionValue]]) -> None:
    """Raises BadInput for a parameter that no option holds: cells of the same files would look
    different.
    """
    holes = {
        hole: option.where
        for option in cell.options.values()
        for hole in _HOLE.findall(json.dumps(option.value, ensure_ascii=False))
    }
    for hole, where in holes.items() if parameters else ():
        if hole not in (*parameters, "dataset", "system"):
            raise BadInput(f"{where}: unknown parameter {hole!r}; {suggest(hole, parameters)}")
    for name, values in parameters.items():
        if name not in holes:
            raise BadInput(
                f"{values[0].where}: no option of {cell.name} holds {{{name}}}; put it in, or drop "
                "the parameter."
            )


class CellKind(Protocol):
    """How the cells of a plan are evaluated; plain, since it is sent to processes."""

    def evaluate(self, cells: Sequence[Any], progress: NamedProgress | None, /) -> Iterator[str]:
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
