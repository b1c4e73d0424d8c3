"""Entries by name: files of a folder register them, its index says which file has which, and that
file alone is imported. Commands are found by their words: one per file of `cli/commands/` and of
the tasks' `commands/`, and those that a `task.py` declares.
"""

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

from rankwell.errors import BadUsage, UnknownName

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Entry = TypeVar("Entry")
Element = TypeVar("Element")
Made = TypeVar("Made", bound=Callable[..., Any])

INDEX = "index.txt"
_PACKAGE = Path(__file__).parent.parent


class IndexRow(NamedTuple):
    """One entry of a folder, as its index lists it.

    kind: the type of entry, such as `measure` or `command`.
    name: the name that requests it.
    module: full name of the module that registers it.
    text: the summary line of a command; "" for other kinds.
    """

    kind: str
    name: str
    module: str
    text: str


@cache
def folders_of(folder: str) -> tuple[str, ...]:
    """The packages that hold entries of a folder: its own, where it exists, those of the same name
    in `comparison` and in tasks, and tasks with a module of that name.
    """
    path, name = folder.replace(".", "/"), folder.rpartition(".")[2]
    tasks = sorted(_PACKAGE.glob(f"tasks/[a-z]*/{name}/__init__.py"))
    tasks += sorted(_PACKAGE.glob(f"tasks/[a-z]*/{name}.py"))
    homes = [_PACKAGE / path, _PACKAGE / "comparison" / name, *(file.parent for file in tasks)]
    return tuple(
        ".".join(["rankwell", *home.relative_to(_PACKAGE).parts])
        for home in dict.fromkeys(homes)
        if (home / "__init__.py").is_file()
    )


def index_of(package: str) -> list[IndexRow] | None:
    """The rows (kind, name, module, text, with tabs between them) of a package's index, which `make
    docs` writes, or None.
    """
    try:
        lines = (
            _PACKAGE.joinpath(*package.split(".")[1:], INDEX)
            .read_text(encoding="utf-8")
            .splitlines()
        )
    except FileNotFoundError:
        return None
    rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return [IndexRow(kind, name, f"{package}.{module}", text) for kind, name, module, text in rows]


def modules_of(package: str) -> list[str]:
    """The modules and the TOML files of a package by their full names, in alphabetical order."""
    import pkgutil

    folder = importlib.import_module(package).__path__[0]
    names = [module.name for module in pkgutil.iter_modules([folder])] + [
        file.stem for file in Path(folder).glob("*.toml")
    ]
    return [f"{package}.{name}" for name in sorted(names)]


@cache
def entry_points_of(group: str) -> "dict[str, EntryPoint]":
    """The entry points of installed packages in a group, by their names."""
    # Loaded when no index has a name: it looks at every installed package.
    from importlib.metadata import entry_points

    return {entry_point.name: entry_point for entry_point in entry_points(group=group)}


def load_entry_point(group: str, name: str) -> Any:
    """The object of another package's entry point. Raises BadUsage where that package cannot be
    imported.
    """
    point = entry_points_of(group)[name]
    try:
        return point.load()
    except Exception as error:
        package = point.dist.name if point.dist else "of unknown name"
        raise BadUsage(
            f"{name!r} ({point.value}, in the package {package}) cannot be loaded: "
            f"{type(error).__name__}: {error}; update or remove that package."
        ) from error


class Catalogue(Generic[Entry]):
    """The entries of one kind in a folder of the package, in the folders of that name in
    `comparison` and in tasks, and in other packages.

    group: the entry points of other packages that add entries; read only for a name that no index
        has, and for lists of all names.
    read: reads the entries of a TOML file, where the folder holds such files in place of modules.
    """

    def __init__(
        self,
        folder: str,
        kind: str,
        group: str | None = None,
        read: Callable[[Path], Mapping[str, Entry]] | None = None,
    ) -> None:
        self.folder, self.kind, self._group, self._read = folder, kind, group, read
        self._entries: dict[str, Entry] = {}

    def add(self, name: str, entry: Entry) -> None:
        """Files an entry. Raises ValueError when two files claim one name: a mistake of the
        package, not of its user.
        """
        if name in self._entries:
            raise ValueError(f"two entries in {self.folder} are named {name!r}")
        self._entries[name] = entry

    def replace(self, name: str, entry: Entry) -> None:
        """Files an entry in place of the one that the name had."""
        self._entries[name] = entry

    def register(
        self, name: str, entry_of: Callable[[Any], Entry] = lambda function: function
    ) -> Callable[[Made], Made]:
        """A decorator that files a function, or `entry_of` it, under the name and returns the
        function unchanged.
        """

        def _file(function: Made) -> Made:
            self.add(name, entry_of(function))
            return function

        return _file

    @cached_property
    def _homes(self) -> dict[str, str]:
        """The module of each entry that an index has. Modules of folders without an index are
        imported.
        """
        homes: dict[str, str] = {}
        for package in folders_of(self.folder):
            rows = index_of(package)
            homes.update((row.name, row.module) for row in rows or () if row.kind == self.kind)
            if rows is None:
                for module in modules_of(package):
                    self._load(module)
        return homes

    def _load(self, module: str) -> None:
        """Registers what a module or a TOML file has."""
        if self._read is None:
            importlib.import_module(module)
            return
        file = _PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".toml")
        for name, entry in self._read(file).items():
            self._entries.setdefault(name, entry)

    def home(self, name: str) -> str:
        """The full name of the module or file whose entry an index has; empty for an entry of
        another package.
        """
        return self._homes.get(name, "")

    @property
    def plugin_names(self) -> frozenset[str]:
        """The names that entry points of other packages add."""
        return (
            frozenset()
            if self._group is None
            else frozenset(entry_points_of(self._group)) - self.builtin_names
        )

    @property
    def builtin_names(self) -> frozenset[str]:
        """The names that rankwell has itself, or that have been registered; no entry point is
        looked at.
        """
        return frozenset({*self._homes, *self._entries})

    def __getitem__(self, name: str) -> Entry:
        if name not in self:
            raise UnknownName(f"unknown {self.kind} {name!r}; {suggest(name, self)}")
        return self._entries[name]

    def __contains__(self, name: str) -> bool:
        if name in self._entries:
            return True
        if name in self._homes:
            self._load(self._homes[name])
        elif self._group is not None and name in self.plugin_names:
            load_entry_point(self._group, name)
            if name not in self._entries:
                raise BadUsage(
                    f"{entry_points_of(self._group)[name].value} is an entry point of "
                    f"{self._group}, but registers no {self.kind} named {name!r}."
                )
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(
            sorted(self.builtin_names | self.plugin_names, key=lambda name: (name.lower(), name))
        )


def suggest(name: str, candidates: Iterable[str], otherwise: str = "") -> str:
    """The end of an error message: the known names that begin with the word, else those of the same
    letters, else the nearest, or all where nothing is near.

    otherwise: the end where nothing is near, in place of all names.
    """
    import difflib

    names = sorted(candidates)
    lower = name.lower()
    folded = [spelling for spelling in names if spelling.lower() == lower]
    begun = [spelling for spelling in names if spelling.lower().startswith(lower)]
    near = folded + sorted(begun if len(name) > 1 else (), key=len)[:3]
    if not near and len(name) > 2:
        letters = sorted(lower)
        near = [spelling for spelling in names if sorted(spelling.lower()) == letters]
    if not near:
        spellings = {spelling.lower(): spelling for spelling in reversed(names)}
        near = [spellings[match] for match in difflib.get_close_matches(lower, spellings)]
    suggestions = list(dict.fromkeys(near))
    return (
        f"did you mean {' or '.join(map(repr, suggestions))}?"
        if suggestions
        else otherwise or f"known are {', '.join(names)}."
    )


@cache
def _everyday_names() -> Mapping[str, Mapping[str, str]]:
    import tomllib

    return tomllib.loads((_PACKAGE / "data/everyday.toml").read_text(encoding="utf-8"))


def everyday_meaning(
    kind: Literal["commands", "measures", "instead"], text: str, *, is_near: bool = False
) -> str:
    """What people mean by a word or by words, as `everyday.toml` has it, with the cut-off of the
    words in place of one there; "" where it has none.

    is_near: whether a near spelling will do.
    """
    import difflib
    import re

    names = _everyday_names()[kind]
    text, _, cutoff = text.strip().partition("@")
    word = "-".join(text.lower().replace("_", " ").replace("'", "").split())
    if is_near and word not in names:
        word = "".join(difflib.get_close_matches(word, names, n=1, cutoff=0.8))
    meaning = names.get(word, "")
    return re.sub(r"@\d+", f"@{cutoff}", meaning) if cutoff.isdecimal() else meaning


PERFORMANCE = "performance.json"
"""The file of what each run and the machine took, of tasks that measure it."""


class ResultKind(NamedTuple):
    """The facts about a task's results that code for the results of all tasks reads, the task's
    `RESULTS`.

    noun: the task's word for one query, and for several.
    parts: the words for each part of the queries (`t2v`) that measures cover.
    is_keyed: whether results have a key of right answers, so that no other item is unjudged.
    may_skip: whether a run may leave out queries.
    leads_deepest: whether answers are about the first measure at its deepest cut-off, not at its
        first.
    files: the files that it adds to those of every result; `*` stands for any part of a name.
    timed: files that hold times, so that they are never the same twice.
    tables: further tables of summary.json, with the columns that each has.
    inputs: the inputs that its manifest states beside the runs, where it states all of them; else
        empty.
    confidence: the command that has an option `--confidence`; "" where none has.
    grid: the module whose `evaluate_grid` evaluates a bench of systems that it runs itself; ""
        where there is none.
    published: the function, as `module:name`, that gives published figures; "" where there is none.
    pictures: the function, so named, that reads a data set of pictures; "" where there is none.
    """

    noun: tuple[str, str] = ("query", "queries")
    parts: Mapping[str, str] = MappingProxyType({})
    is_keyed: bool = False
    may_skip: bool = False
    leads_deepest: bool = False
    files: tuple[str, ...] = ()
    timed: tuple[str, ...] = ()
    tables: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    inputs: tuple[str, ...] = ()
    confidence: str = ""
    grid: str = ""
    published: str = ""
    pictures: str = ""


def leading(elements: Sequence[Element], labels: Sequence[str], kind: ResultKind) -> list[Element]:
    """The elements, each with the label of a measure, those first that an answer is about."""
    if not kind.leads_deepest:
        return list(elements)
    first = labels[0].partition("@")[0] if labels else ""

    def _depth(number: int) -> int:
        name, _, k = labels[number].partition("@")
        return int(k) if k.isdigit() and name == first else 0

    return [elements[number] for number in sorted(range(len(labels)), key=_depth, reverse=True)]


@cache
def result_kinds() -> Mapping[str, ResultKind]:
    """The kinds of results by the names of the tasks that declare one."""
    tasks = sorted(file.parent.name for file in _PACKAGE.glob("tasks/[a-z]*/__init__.py"))
    modules = {name: importlib.import_module(f"rankwell.tasks.{name}") for name in tasks}
    return {name: module.RESULTS for name, module in modules.items() if hasattr(module, "RESULTS")}


def result_kind(name: str) -> ResultKind:
    """The kind of results of this name, with the words of the field where no task declares it."""
    return result_kinds().get(name, ResultKind())


Words = tuple[str, ...]

DROP_IN = "trec-eval"
"""The command of `compat/`, which reads its own words."""
HELP = frozenset({"--help", "-h"})


@cache
def _commands() -> Mapping[Words, IndexRow]:
    tasks = [f"rankwell.tasks.{file.parent.name}" for file in _PACKAGE.glob("tasks/*/task.py")]
    rows: list[IndexRow] = []
    for package in [*folders_of("cli.commands"), *tasks]:
        index = index_of(package)
        rows += command_rows(package) if index is None else index
    commands = [row for row in rows if row.kind == "command"]
    return {tuple(row.name.split()): row for row in sorted(commands, key=lambda row: row.name)}


def command_rows(package: str) -> list[IndexRow]:
    """The commands of a package: one of each module, or those that its `task.py` declares."""
    if not package.endswith(".commands"):
        module = f"{package}.task"
        declared = vars(importlib.import_module(module)).values()
        return [
            IndexRow("command", value.name, module, _first_line(value.about))
            for value in declared
            if hasattr(value, "command") and not isinstance(value, type)
        ]
    return [
        IndexRow(
            "command",
            module.rpartition(".")[2].replace("_", " ", 1).replace("_", "-"),
            module,
            _first_line(importlib.import_module(module).__doc__ or ""),
        )
        for module in modules_of(package)
    ]


def _first_line(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split())


@cache
def command_summaries() -> Mapping[Words, str]:
    """The line that says what each command does, by the command's words, in alphabetical order; no
    command is imported.
    """
    return MappingProxyType({words: row.text for words, row in _commands().items()})


def subcommands(word: str) -> dict[Words, str]:
    """The second words of the commands of two words that begin with this one, each with its
    line.
    """
    return {
        words[1:]: line
        for words, line in command_summaries().items()
        if len(words) == 2 and words[0] == word
    }


def command_function(words: Words) -> Callable[..., Any]:
    """The function of a command, or the one that a task's declaration makes."""
    # NumPy's import makes the most calls. Deeper in the stack, as from a command, Python 3.11 maps
    # and unmaps a piece of its stack for 1,800 of them (16 ms).
    importlib.import_module("numpy")
    module = importlib.import_module(_commands()[words].module)
    value = getattr(module, words[-1].replace("-", "_"))
    return value.command() if hasattr(value, "command") else value
