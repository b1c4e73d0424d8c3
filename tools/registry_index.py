"""Writes the indices of the registries' folders: which module registers which name. With --check it
only compares them.
"""

import importlib
import inspect
import pkgutil
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import rankwell
from rankwell.conventions import CONVENTIONS, read_conventions
from rankwell.data.catalogue import INDEX, Catalogue, command_rows, folders_of

_HEAD = "# Written by `make docs`; do not edit. kind, name, module, text\n"
_SOURCE = Path(__file__).resolve().parent.parent / "src"
_TASKS = _SOURCE / "rankwell" / "tasks"


def indices() -> dict[Path, str]:
    """The text of each index by its path. Every module is imported, and what it registers meanwhile
    is its own.
    """
    rows: dict[str, set[tuple[str, str, str, str]]] = defaultdict(set)

    def _note(self: Catalogue[Any], name: str, entry: object) -> None:
        add(self, name, entry)
        module, packages = _registering_module(), folders_of(self.folder)
        if module in packages:  # its entries are there once the registry is
            return
        package = next(each for each in packages if module.startswith(f"{each}."))
        rows[package].add((self.kind, name, module.removeprefix(f"{package}."), ""))

    add = Catalogue[Any].add
    Catalogue.add = _note
    try:
        for package in folders_of(CONVENTIONS.folder):
            for file in (_SOURCE / package.replace(".", "/")).glob("*.toml"):
                rows[package] |= {
                    (CONVENTIONS.kind, name, file.stem, "") for name in read_conventions(file)
                }
        for each in pkgutil.walk_packages(rankwell.__path__, "rankwell."):
            if not each.name.endswith("__main__"):
                importlib.import_module(each.name)
    finally:
        Catalogue.add = add
    tasks = [f"rankwell.tasks.{file.parent.name}" for file in _TASKS.glob("*/task.py")]
    for package in [*folders_of("cli.commands"), *tasks]:
        rows[package] |= {
            (row.kind, row.name, row.module.removeprefix(f"{package}."), row.text)
            for row in command_rows(package)
        }
    return {
        _SOURCE.joinpath(*package.split("."), INDEX): _HEAD
        + "".join("\t".join(row) + "\n" for row in sorted(found))
        for package, found in rows.items()
    }


def _registering_module() -> str:
    """The module whose top level is being run, the innermost of those under way."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    if frame is None:
        raise RuntimeError("an entry was registered by no module")
    return str(frame.f_globals["__name__"])


def main() -> int:
    """Writes or checks the indices; one whose folder registers nothing any more is deleted."""
    expected = indices()
    obsolete = set((_SOURCE / "rankwell").rglob(INDEX)) - set(expected)
    stale = [
        path
        for path, text in expected.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    for path in sorted([*stale, *obsolete]):
        name = path.relative_to(_SOURCE.parent)
        if "--check" in sys.argv[1:]:
            sys.stderr.write(f"{name} is not what its folder registers; run `make docs`.\n")
            continue
        if path in obsolete:
            path.unlink()
        else:
            path.write_text(expected[path], encoding="utf-8")
        sys.stderr.write(f"wrote {name}\n")
    return bool(stale or obsolete) and "--check" in sys.argv[1:]


if __name__ == "__main__":
    sys.exit(main())
