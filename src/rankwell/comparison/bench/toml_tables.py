"""Tables of a TOML file whose keys and types are known; every message names file, line and key."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rankwell.data.registry import suggest
from rankwell.documents import read_toml
from rankwell.errors import BadInput
from rankwell.store import Source

Keys = tuple[str | int, ...]
_EXPECTED: dict[Any, str] = {
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
    """A table of a file with the keys that lead to it, for messages. lines: of keys, as far as
    single lines show them.
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
        unknown = next((name for name in self.content if name not in names), None)
        if unknown is not None:
            raise BadInput(f"{self.at(unknown)}: unknown key; {suggest(unknown, names)}")

    def child(self, name: str) -> "TomlTable":
        """The table below, empty where there is none."""
        inner = self.content.get(name, {})
        if not isinstance(inner, dict):
            raise BadInput(f"{self.at(name)} is {inner!r}; expected a table.")
        title = f"{self.title}: {name}" if self.title else ""
        return replace(self, content=inner, path=(*self.path, name), title=title)

    def tables_by_name(self, kind: str) -> dict[str, "TomlTable"]:
        """The tables of an array by their names, which must be names of folders."""
        inner = self.content.get(kind, [])
        if not isinstance(inner, list) or not all(isinstance(table, dict) for table in inner):
            raise BadInput(f"{self.at(kind)} is not a list of tables; write [[{kind}]] above each.")
        if not inner:
            raise BadInput(f"{self.file}: no [[{kind}]]; give at least one.")
        tables: dict[str, TomlTable] = {}
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
        if not _fits(value, list[str]):
            raise BadInput(f"{self.at(name)} is {value!r}; expected a list of {kind}s.")
        unknown = next((name for name in value if name not in names), None)
        if unknown is not None:
            raise BadInput(
                f"{self.at(name)}: unknown {kind} {unknown!r}; {suggest(unknown, names)}"
            )
        return value

    def settings(self, kinds: Mapping[str, Any]) -> dict[str, Any]:
        """The values of keys of these types. Raises BadInput for an unknown key and for a value of
        another type.
        """
        self.allow(kinds)
        for key, value in self.content.items():
            if not _fits(value, kinds[key]):
                raise BadInput(f"{self.at(key)} is {value!r}; expected {_EXPECTED[kinds[key]]}.")
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


def _fits(value: Any, kind: Any) -> bool:
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
    lines: dict[Keys, int] = {}
    counts: dict[str, int] = {}
    path: Keys = ()
    quoted = False
    for number, line in enumerate(text.split("\n"), 1):
        inside = quoted
        quoted ^= (line.count('"""') + line.count("'''")) % 2 == 1
        if inside:
            continue
        if header := _HEADER.match(line):
            parts = [part.strip("\"'") for part in _PART.findall(header[2])]
            if header[1] == "[[":
                counts[parts[0]] = counts.get(parts[0], -1) + 1
            path = (parts[0], *([counts[parts[0]]] if parts[0] in counts else []), *parts[1:])
            lines.setdefault(path, number)
        elif key := _KEY.match(line):
            lines.setdefault((*path, key[1].strip("\"'")), number)
    return lines
