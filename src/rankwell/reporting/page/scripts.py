"""The scripts of a page: that of Vega, and its own modules as one classic script, which the page's
policy allows by its hash.
"""

import base64
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import metadata
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import NamedTuple

from rankwell.errors import RankwellError
from rankwell.reporting.drawing import DrawingCall, NotDrawn, call_all, warn
from rankwell.store import Cache


def vega_bundle() -> str:
    """The script of Vega in a scope of its own, fit to stand in a page; kept in the user's cache,
    as making it takes seconds.

    Where it cannot be made under the limits of this process, charts of the page say so in place of
    what they show.
    """
    version = metadata.version("vl-convert-python")
    digest = hashlib.sha256(version.encode()).hexdigest()
    cache = _cache(version)
    cached = None if cache is None else cache.get(digest)
    try:
        script = cached.decode() if cached else str(call_all([DrawingCall("javascript_bundle")])[0])
    except NotDrawn as error:
        warn(error)
        return f"window.vegaEmbed = () => Promise.reject(new Error({json.dumps(str(error))}));\n"
    if cache is not None and not cached:
        with suppress(OSError):
            cache.put(digest, script.encode())
    return "(() => {" + embeddable(script) + "})();\n"


def embeddable(script: str) -> str:
    """A script that no HTML parser ends early: what closes it or opens a comment can only stand in
    its texts and patterns.
    """
    return (
        script.replace("</script", "<\\/script")
        .replace("<!--", "<\\!--")
        .replace("\r\n", "\n")
        .replace("\r", "\n")
    )


def source_hash(text: str) -> str:
    """A script or a style as a content-security policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def task_views() -> list[str]:
    """The scripts of the tasks' views, as paths in the package, in alphabetical order."""
    folders = sorted(files("rankwell.tasks").iterdir(), key=lambda folder: folder.name)
    return [f"tasks/{folder.name}/page.js" for folder in folders if (folder / "page.js").is_file()]


def _cache(version: str) -> Cache | None:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    if not Path(home).is_absolute():
        return None
    try:
        return Cache(Path(home) / "rankwell", {"what": "vega bundle", "vl-convert": version}, {})
    except (OSError, RankwellError):
        return None


_IMPORT = re.compile(r'^import \{([^{}"]*)\} from "([^"\n]*)";$\n?', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:(?:async )?function|const|class) ([\w$]+))", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export)\b.*|\$modules\b", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_$][\w$]*")


class _Import(NamedTuple):
    """An import statement: its location as path:line, the path of the module it names, and the
    names it takes.
    """

    location: str
    path: str
    names: tuple[str, ...]


class _Module(NamedTuple):
    """A module: its path below the root, its imports, the names it exports, and its text without
    both statements' keywords.
    """

    path: str
    imports: tuple[_Import, ...]
    exports: tuple[str, ...]
    text: str


def join_modules(root: Traversable, entries: Iterable[str]) -> str:
    """The entries and all that they import as one script: each module once, after its imports, in a
    function scope of its own.

    root: a folder; entries are paths below it. Supported are `import {a, b} from "./file.js";` and
    `export` before a function,
    a constant or a class, both at the start of a line. Raises ValueError with file and line for
    anything else.
    """
    modules: dict[str, _Module] = {}
    for entry in entries:
        _visit(root, _Import(entry, entry, ()), modules, ())
    numbers = {path: number for number, path in enumerate(modules)}
    return "const $modules = [];\n" + "".join(
        _wrapped(module, numbers) for module in modules.values()
    )


def _visit(
    root: Traversable, target: _Import, modules: dict[str, _Module], above: tuple[str, ...]
) -> None:
    """Adds a module below all that it imports. above: the modules whose imports lead to this
    one.
    """
    if target.path in above:
        circle = " -> ".join((*above[above.index(target.path) :], target.path))
        raise ValueError(
            f"{target.location}: a cycle of imports, {circle}. Move what both need into a third "
            "module."
        )
    if target.path not in modules:
        module = _parsed(root, target)
        for imported in module.imports:
            _visit(root, imported, modules, (*above, target.path))
        modules[target.path] = module
    exports = modules[target.path].exports
    for name in target.names:
        if name not in exports:
            exported = ", ".join(exports) or "nothing"
            raise ValueError(
                f"{target.location}: {target.path} does not export {name!r}; it exports {exported}."
            )


def _parsed(root: Traversable, target: _Import) -> _Module:
    path = target.path
    file = root.joinpath(*path.split("/"))
    if path.startswith("../") or not file.is_file():
        raise ValueError(f"{target.location}: there is no module {path}.")
    text = file.read_text(encoding="utf-8")
    imports = tuple(_imports(path, text))
    exports = tuple(match[1] for match in _EXPORT.finditer(text))
    for verb, names in (
        ("imports", [name for imported in imports for name in imported.names]),
        ("exports", exports),
    ):
        if repeated := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"{path}: it {verb} {repeated[0]!r} twice.")
    plain = _EXPORT.sub("", _IMPORT.sub(lambda match: "\n" * match[0].count("\n"), text))
    if unsupported := _OTHER.search(plain):
        raise ValueError(
            f"{path}:{_line(plain, unsupported)}: {unsupported[0].strip()!r} cannot be joined; "
            "write "
            f'`import {{name}} from "./file.js";`, '
            "or `export` before a function, constant or class."
        )
    return _Module(path, imports, exports, plain.strip("\n"))


def _imports(path: str, text: str) -> Iterator[_Import]:
    for match in _IMPORT.finditer(text):
        location = f"{path}:{_line(text, match)}"
        names = tuple(name.strip() for name in match[1].split(",") if name.strip())
        if wrong := [name for name in names if not _NAME.fullmatch(name)]:
            raise ValueError(f"{location}: expected a name to import, found {wrong[0]!r}.")
        if not match[2].startswith(("./", "../")):
            raise ValueError(
                f"{location}: {match[2]!r} is not a relative path; it begins with ./ or ../."
            )
        yield _Import(location, normpath(join(dirname(path), match[2])), names)


def _line(text: str, match: re.Match[str]) -> int:
    return text.count("\n", 0, match.start()) + 1


def _wrapped(module: _Module, numbers: dict[str, int]) -> str:
    import_lines = "".join(
        f"const {{{', '.join(imported.names)}}} = $modules[{numbers[imported.path]}];\n"
        for imported in module.imports
    )
    return_line = f"return {{{', '.join(module.exports)}}};\n"
    return (
        f"\n// {module.path}\n$modules[{numbers[module.path]}] = (() => "
        f"{{\n{import_lines}{module.text}\n{return_line}}})();\n"
    )
