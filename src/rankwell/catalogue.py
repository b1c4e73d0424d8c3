"""What can be named: entries that files add to their folder, which is read when one is first asked for."""

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from rankwell.errors import UnknownName

Entry = TypeVar("Entry")
Made = TypeVar("Made", bound=Callable[..., Any])


class Catalogue(Generic[Entry]):
    """The entries of one folder of the package, by name; the folder is read when an entry is first asked for."""

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
        if not self._loaded:
            self._loaded = True
            package = importlib.import_module(f"rankwell.{self._folder}")
            for module in pkgutil.iter_modules(package.__path__):
                importlib.import_module(f"rankwell.{self._folder}.{module.name}")

    def _load_file(self, name: str) -> None:
        """Imports the one file that is called like an entry, where there is one: the others need not be waited for."""
        file = name.replace("-", "_").lower()
        if not self._loaded and file.isidentifier():
            path = importlib.import_module(f"rankwell.{self._folder}").__path__
            if any(module.name == file for module in pkgutil.iter_modules(path)):
                importlib.import_module(f"rankwell.{self._folder}.{file}")

    def __getitem__(self, name: str) -> Entry:
        if name not in self._entries:
            self._load_file(name)
        if name not in self._entries:
            # Whoever imported one file of the folder gets its entries without waiting for the others.
            self._load()
        if name not in self._entries:
            raise UnknownName(f"no {self._kind} is called {name!r}; {suggest(name, self._entries)}")
        return self._entries[name]

    def __contains__(self, name: str) -> bool:
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
