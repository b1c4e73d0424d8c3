"""What can be named: entries that files add to their folder, which is read when one is first asked for."""

import importlib
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

from rankwell.errors import UnknownName

Entry = TypeVar("Entry")
Made = TypeVar("Made", bound=Callable[..., Any])


_PACKAGE = Path(__file__).parent.parent


def folders_of(folder: str) -> list[str]:
    """The packages that hold entries of a folder: its own, where it exists, and that of each task that has one."""
    own = [folder] if _PACKAGE.joinpath(*folder.split(".")).is_dir() else []
    tasks = sorted(_PACKAGE.glob(f"tasks/[a-z]*/{folder.replace('.', '/')}/__init__.py"))
    return [f"rankwell.{each}" for each in [*own, *(f"tasks.{file.relative_to(_PACKAGE).parts[1]}.{folder}" for file in tasks)]]


class Catalogue(Generic[Entry]):
    """The entries of one folder of the package and of the tasks' folders of that name; read when an entry is first requested."""

    def __init__(self, folder: str, kind: str) -> None:
        self._folder, self._kind = folder, kind
        self._entries: dict[str, Entry] = {}
        self._loaded = False

    def add(self, name: str, entry: Entry) -> None:
        """Files an entry. Raises ValueError when two files claim one name: a mistake of the package, not of its user."""
        if name in self._entries:
            raise ValueError(f"two entries in {self._folder} are called {name!r}")
        self._entries[name] = entry

    def register(self, name: str, entry_of: Callable[[Made], Entry]) -> Callable[[Made], Made]:
        """A decorator that files `entry_of` of a function under the name and returns the function unchanged."""

        def _file(function: Made) -> Made:
            self.add(name, entry_of(function))
            return function

        return _file

    def _load(self) -> None:
        import pkgutil

        if not self._loaded:
            self._loaded = True
            for folder in self._folders:
                package = importlib.import_module(folder)
                for module in pkgutil.iter_modules(package.__path__):
                    importlib.import_module(f"{folder}.{module.name}")

    @cached_property
    def _folders(self) -> list[str]:
        return folders_of(self._folder)

    @cached_property
    def _files(self) -> dict[Path, str]:
        """The files of all folders, each with the name of its module."""
        return {
            file: f"{folder}.{file.stem}"
            for folder in self._folders
            for file in sorted(_PACKAGE.joinpath(*folder.split(".")[1:]).glob("[a-z]*.py"))
        }

    @cached_property
    def _texts(self) -> dict[Path, bytes]:
        return {file: file.read_bytes() for file in self._files}

    def _load_files(self, name: str) -> None:
        """Imports the file that is called like an entry, or else those that have its words in quotes, and not the others.

        Of the latter those, if any, where the first word follows a bracket, as it does in a decorator. Where the entry is in
        none of them, the whole folder is read, so that this decides nothing but how long it takes.
        """
        if self._loaded:
            return
        own = [file for file in self._files if file.stem == name.replace("-", "_").lower()]
        for file in own or self._files_with([f'"{word}"'.encode() for word in name.split()]):
            importlib.import_module(self._files[file])

    def _files_with(self, words: list[bytes]) -> list[Path]:
        found = [file for file, text in self._texts.items() if all(word in text for word in words)]
        opened = [file for file in found if any(bracket + words[0] in self._texts[file] for bracket in (b"(", b"(\n    "))]
        return opened or found

    def __getitem__(self, name: str) -> Entry:
        if name not in self:
            raise UnknownName(f"no {self._kind} is called {name!r}; {suggest(name, self._entries)}")
        return self._entries[name]

    def __contains__(self, name: str) -> bool:
        if name not in self._entries:
            self._load_files(name)
        if name not in self._entries:
            self._load()
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        self._load()
        return iter(sorted(self._entries, key=lambda name: (name.lower(), name)))


def suggest(name: str, known: Iterable[str]) -> str:
    """The end of an error message: the nearest known names, or all of them where nothing is near."""
    import difflib

    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    folded = [each for each in names if each.lower() == name.lower()]
    chosen = list(dict.fromkeys(folded + near))
    return f"did you mean {' or '.join(map(repr, chosen))}?" if chosen else f"known are {', '.join(names)}."
