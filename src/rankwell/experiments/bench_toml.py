"""Benches: a TOML file of data sets and systems; every pair of the two is a cell, with the options of a command."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rankwell.core.registry import suggest
from rankwell.errors import BadInput
from rankwell.store import Source, read_toml

Value = str | int | float | bool | list[str | int | float]
Scope = Literal["options", "dataset", "system", "cell"]
Keys = tuple[str | int, ...]
_TOP = ("title", "options", "table", "comparison", "dataset", "system")
_TABLE = {"measures": list, "baseline": str, "mean": bool, "intervals": bool, "side_by_side": bool}
_COMPARISON = {"test": str, "correction": str, "level": float, "resamples": int, "seed": int}
_WANTED = {str: "a text", list: "a list of texts", bool: "true or false", float: "a number", int: "a whole number"}
_HEADER = re.compile(r"\s*(\[\[?)([^\[\]]+)\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*([\w-]+|"[^"]*"|'[^']*')\s*=""")
_PART = re.compile(r"""\s*([\w-]+|"[^"]*"|'[^']*')\s*\.?""")


@dataclass(frozen=True)
class Given:
    """What the file gives an option. where: file, line and key, for messages.

    scope: for whom it stands there: all data sets, one, a system, or a system on one data set.
    """

    value: Value
    where: str
    scope: Scope


@dataclass(frozen=True)
class Cell:
    """One system on one data set. command: the words of the command that evaluates it. options: by name, with `_` for `-`."""

    dataset: str
    system: str
    command: Given
    options: Mapping[str, Given]

    @property
    def name(self) -> str:
        """`DATASET/SYSTEM`, which is its folder as well."""
        return f"{self.dataset}/{self.system}"


@dataclass(frozen=True)
class Bench:
    """What a bench file says. cells: data sets in the order of the file, then systems.

    titles: what tables call a system or a data set, by name. table, comparison: the settings of these names, as far as given.
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


def read_bench(path: str | Path) -> Bench:
    """Reads a bench.

    `[[dataset]]`: `name`, `command` (`evaluate`, `agree`, `captions`, `answers`, `clips`, `instances`), perhaps `title` and
    `systems`, and options of that command. `[[system]]`: `name`, perhaps `title` and `datasets`, options for all commands that
    have them, and tables `[system.on.DATASET]` of options there. `[options]`: of all. The nearest one holds: of a system on a
    data set, of the system, of the data set, of all. `{dataset}` and `{system}` in texts stand for the names.
    `[table]`: `measures`, `baseline`, `mean`, `intervals`, `side_by_side`. `[comparison]`: `test`, `correction`, `level`,
    `resamples`, `seed`. Paths are relative to the file's folder.
    Raises BadInput that names the file, the line, the key and what is known instead.
    """
    source = Source(path)
    top = _top(source)
    top.allow(_TOP)
    datasets, systems = top.named("dataset"), top.named("system")
    for each in systems.values():
        each.child("on").allow(datasets)
    cells = tuple(_cells(top, datasets, systems))
    if not cells:
        raise BadInput(f"{source.name}: no system is on any data set; mend `systems` and `datasets`.")
    kinds = {"dataset": datasets, "system": systems}
    return Bench(
        file=source.name,
        stem=source.stem,
        folder=Path() if source.file is None else source.file.parent,
        digest=source.digest(),
        title=top.text("title"),
        cells=cells,
        systems=tuple(name for name in systems if any(each.system == name for each in cells)),
        datasets=tuple(name for name in datasets if any(each.dataset == name for each in cells)),
        titles={(kind, name): each.text("title") or name for kind, found in kinds.items() for name, each in found.items()},
        table=top.settings("table", _TABLE),
        comparison=top.settings("comparison", _COMPARISON),
    )


@dataclass(frozen=True)
class _Node:
    """A table of the file with the keys that lead to it, for messages."""

    file: str
    content: Mapping[str, Any]
    lines: Mapping[Keys, int]
    path: Keys = ()
    title: str = ""

    def at(self, name: str) -> str:
        """How a key below is called in messages: with its line, where it was found."""
        line = self.lines.get((*self.path, name))
        place = self.file if line is None else f"{self.file}:{line}"
        words = ".".join(str(part) for part in (*self.path, name) if isinstance(part, str))
        return f"{place}: {f'{self.title}: {name}' if self.title else words}"

    def allow(self, names: Sequence[str] | Mapping[str, Any]) -> None:
        """Raises BadInput for a key that means nothing."""
        unknown = next((name for name in self.content if name not in names), None)
        if unknown is not None:
            raise BadInput(f"{self.at(unknown)}: there is no such key; {suggest(unknown, names)}")

    def child(self, name: str) -> "_Node":
        """The table below, empty where there is none."""
        inner = self.content.get(name, {})
        if not isinstance(inner, dict):
            raise BadInput(f"{self.at(name)} is {inner!r}; a table is wanted.")
        return _Node(self.file, inner, self.lines, (*self.path, name), f"{self.title}: {name}" if self.title else "")

    def named(self, kind: str) -> dict[str, "_Node"]:
        """The tables of an array by their names, which must be names of folders."""
        inner = self.content.get(kind, [])
        if not isinstance(inner, list) or not all(isinstance(each, dict) for each in inner):
            raise BadInput(f"{self.at(kind)} is no list of tables; write [[{kind}]] above each.")
        if not inner:
            raise BadInput(f"{self.file}: no [[{kind}]]; give at least one.")
        found: dict[str, _Node] = {}
        titles: set[str] = set()
        for place, each in enumerate(inner):
            node = _Node(self.file, each, self.lines, (kind, place), f"{kind} {place + 1}")
            name = node.text("name", needed=True)
            if name.startswith(".") or name != name.strip() or not name.isprintable() or set(name) & set('/\\:*?"<>|'):
                raise BadInput(f"{node.at('name')} is {name!r}, but will be that of a folder; take letters and digits.")
            if name.casefold() in (known.casefold() for known in found):
                raise BadInput(f"{node.at('name')}: two of them are called {name!r}; name them apart.")
            found[name] = _Node(self.file, each, self.lines, (kind, place), f"{kind} {name!r}")
            title = node.text("title") or name
            if title in titles:
                raise BadInput(f"{found[name].at('title')}: two of them are shown as {title!r}; tell them apart.")
            titles.add(title)
        return found

    def text(self, name: str, *, needed: bool = False) -> str:
        """The text below, "" where there is none."""
        value = self.content.get(name)
        if value is None and not needed:
            return ""
        if not isinstance(value, str) or not value:
            place = self.at(name) if value is not None else f"{self.at_itself()}: {name}"
            raise BadInput(f"{place} is {'missing' if value is None else repr(value)}; a text is wanted.")
        return value

    def at_itself(self) -> str:
        """How the table itself is called in messages."""
        line = self.lines.get(self.path)
        return f"{self.file if line is None else f'{self.file}:{line}'}: {self.title}"

    def texts(self, name: str, known: Mapping[str, Any], what: str) -> list[str]:
        """The names listed below, all of them known; every known one where there is no list."""
        value = self.content.get(name)
        if value is None:
            return list(known)
        if not _are_texts(value):
            raise BadInput(f"{self.at(name)} is {value!r}; a list of {what}s is wanted.")
        unknown = next((each for each in value if each not in known), None)
        if unknown is not None:
            raise BadInput(f"{self.at(name)}: no {what} is called {unknown!r}; {suggest(unknown, known)}")
        return value

    def settings(self, name: str, kinds: Mapping[str, type]) -> dict[str, Any]:
        """The values of a table whose keys and types are known."""
        table = self.child(name)
        table.allow(kinds)
        for key, value in table.content.items():
            kind = kinds[key]
            right = isinstance(value, (int, float) if kind is float else kind) and (kind is bool or not isinstance(value, bool))
            if not right or (kind is list and not _are_texts(value)):
                raise BadInput(f"{table.at(key)} is {value!r}; {_WANTED[kind]} is wanted.")
        return dict(table.content)

    def options(self, scope: Scope, besides: Sequence[str] = ()) -> dict[str, Given]:
        """Every other key as an option."""
        found: dict[str, Given] = {}
        for key, value in self.content.items():
            if key in besides:
                continue
            parts = value if isinstance(value, list) else [value]
            wrong = next((each for each in parts if not isinstance(each, (str, int, float))), None)
            if wrong is not None or not parts:
                what = "an empty list" if not parts else repr(wrong)
                raise BadInput(f"{self.at(key)} is {what}; texts, numbers, true or false are wanted, or a list.")
            name = key.replace("-", "_")
            if name in found:
                raise BadInput(f"{self.at(key)} stands there twice, with - and with _; keep one.")
            found[name] = Given(value, self.at(key), scope)
        return found


def _top(source: Source) -> _Node:
    text, table = read_toml(source)
    return _Node(source.name, table, _lines(text))


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, str) and each for each in value)


def _cells(top: _Node, datasets: Mapping[str, _Node], systems: Mapping[str, _Node]) -> Iterator[Cell]:
    shared = top.child("options").options("options")
    wanted = {name: each.texts("datasets", datasets, "data set") for name, each in systems.items()}
    for dataset, table in datasets.items():
        command = Given(table.text("command", needed=True), table.at("command"), "dataset")
        own = table.options("dataset", ("name", "title", "command", "systems"))
        meeting = table.texts("systems", systems, "system")
        for system, node in systems.items():
            inner = node.child("on").child(dataset)
            there = inner.options("cell")
            if dataset not in wanted[system] or system not in meeting:
                if inner.content:
                    raise BadInput(f"{inner.at_itself()}: {system!r} and {dataset!r} do not meet; let them, or drop this table.")
                continue
            whole = {**shared, **own, **node.options("system", ("name", "title", "datasets", "on")), **there}
            yield Cell(dataset, system, command, {name: _filled(each, dataset, system) for name, each in whole.items()})


def _filled(given: Given, dataset: str, system: str) -> Given:
    """The option with the names in place of `{dataset}` and `{system}`; other braces are the command's own."""

    def _fill(value: Any) -> Any:
        return value.replace("{dataset}", dataset).replace("{system}", system) if isinstance(value, str) else value

    value: Any = [_fill(each) for each in given.value] if isinstance(given.value, list) else _fill(given.value)
    return Given(value, given.where, given.scope)


def _lines(text: str) -> dict[Keys, int]:
    """Where tables and keys stand, as far as a look at single lines tells: the keys that lead there -> line, from 1."""
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
