"""Recipes: everything that decides a result, by its content; a result is kept as long as its recipe is the same."""

import ast
import hashlib
import json
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rankwell.encoders.sentence_transformers import hash_folder
from rankwell.store import Source

RESULTS_VERSION = 1
"""Part of every recipe. Raise it when a figure changes for the same inputs and options; a golden fails until it is raised."""

Recipe = dict[str, Any]


def recipe(command: str, options: Mapping[str, Any], inputs: Mapping[str, Any]) -> Recipe:
    """The recipe of a result. command: what evaluates. inputs: the digests of what it reads, by name."""
    return {"results_version": RESULTS_VERSION, "command": command, "options": dict(options), "inputs": dict(inputs)}


def key_of(content: Any) -> str:
    """The SHA-256 of anything that JSON can hold."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read_record(path: Path) -> Any:
    """The content of a JSON file that an earlier run wrote; None where there is none, or it cannot be read."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None


def changes(before: Recipe, after: Recipe) -> Iterator[str]:
    """The differences of two recipes, in words. Raises KeyError and TypeError where the first is not a recipe."""
    version, options, inputs = before["results_version"], before["options"], before["inputs"]
    if version != after["results_version"]:
        yield f"results version changed: {version} to {after['results_version']}"
    if before["command"] != after["command"]:
        yield f"command changed: {before['command']} to {after['command']}"
    # 1 and true are equal, but not the same value.
    changed = [name for name in {**options, **after["options"]} if repr(options.get(name)) != repr(after["options"].get(name))]
    if changed:
        yield f"options changed: {', '.join(sorted(changed))}"
    moved = [name for name, digest in after["inputs"].items() if inputs.get(name, digest) != digest]
    if moved:
        yield f"input changed: {', '.join(moved)}"
    if not changed and set(inputs) != set(after["inputs"]):
        yield f"inputs came or went: {', '.join(sorted(set(inputs) ^ set(after['inputs'])))}"


def content_of(path: Path) -> str:
    """The digest of a file, or of all files of a folder."""
    return hash_folder(path) if path.is_dir() else Source(path).digest()


def value_content(value: Any) -> Any:
    """A value as part of a recipe: one that names a file or a folder counts by its content as well."""
    try:
        if isinstance(value, str) and value and (Path(value).is_dir() or Path(value).is_file()):
            return [value, content_of(Path(value))]
    except (OSError, ValueError):  # a string that cannot be a path
        pass
    return value


def source_of(module: str) -> str:
    """The SHA-256 over the Python files of a module's outermost package, or its one file, and of what they import from beside it.

    Modules beside it are those in the same folder, and in turn what they import; not where installed packages lie, and not
    rankwell itself, for which `RESULTS_VERSION` stands. The digest of its name where it has no file.
    """
    first = module.partition(".")[0]
    place = getattr(sys.modules.get(first), "__file__", None)
    if place is None or first == __name__.partition(".")[0]:
        return key_of(module)
    path = Path(place).resolve()
    root = path.parent.parent if path.name.startswith("__init__.") else path.parent
    installed = {Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    total = hashlib.sha256()
    for each in sorted(_sources(first, root, beside=root not in installed)):
        total.update(f"{each.relative_to(root).as_posix()}\0".encode())
        total.update(hashlib.sha256(each.read_bytes()).digest())
    return total.hexdigest()


def _sources(name: str, root: Path, *, beside: bool) -> set[Path]:
    """The Python files of a module or package in a folder, and of those beside it that they import, wherever they do."""
    found: set[Path] = set()
    waiting, known = [name], {name, __name__.partition(".")[0]}
    while waiting:
        first = waiting.pop()
        file = root / f"{first}.py"
        own = {file} if file.is_file() else set((root / first).rglob("*.py"))
        found |= own
        names = {each for path in own for each in _imported(path)} - known if beside else set[str]()
        known |= names
        waiting += names
    return found


def _imported(path: Path) -> set[str]:
    """The outermost modules that a Python file imports, anywhere in it, by absolute names; none of one that is not Python."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return set()
    names = [each.name for node in ast.walk(tree) if isinstance(node, ast.Import) for each in node.names]
    names += [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    return {name.partition(".")[0] for name in names}
