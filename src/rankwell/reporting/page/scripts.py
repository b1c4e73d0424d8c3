"""The scripts of a page: that of Vega, and its own modules as one classic script, which the page's
policy allows by its hash.
"""

import base64
import hashlib
import json
import os
import re
from collections.abc import Iterable
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


def asset(name: str) -> str:
    """The text of a file of the page."""
    return (files("rankwell.reporting.page") / "assets" / name).read_text(encoding="utf-8")


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


class _Module(NamedTuple):
    """A module of a joined script.

    number: its position in the joined script, from 0.
    exports: the names that other modules may import.
    """

    number: int
    exports: list[str]


def join_modules(root: Traversable, entries: Iterable[str]) -> str:
    """The entries and all that they import as one script: each module once, after its imports, in a
    function scope of its own.

    root: a folder; entries are paths below it. Supported are `import {a, b} from "./file.js";` and
    `export` before a function, a constant or a class, both at the start of a line. Raises
    ValueError with file and line for anything else.
    """
    modules: dict[str, _Module] = {}
    scripts = ["const $modules = [];\n"]

    def add(path: str, place: str, above: tuple[str, ...]) -> _Module:
        """Adds a module after all that it imports. place: where it is imported; above: the modules
        whose imports lead to it.
        """
        if path in above:
            circle = " -> ".join((*above[above.index(path) :], path))
            raise ValueError(
                f"{place}: a cycle of imports, {circle}. Move what both need into a third module."
            )
        if path in modules:
            return modules[path]
        file = root.joinpath(*path.split("/"))
        if path.startswith("../") or not file.is_file():
            raise ValueError(f"{place}: there is no module {path}.")
        text, imports, import_lines = file.read_text(encoding="utf-8"), list[str](), ""
        for match in _IMPORT.finditer(text):
            line = _place(path, text, match)
            names = [name.strip() for name in match[1].split(",") if name.strip()]
            if wrong := [name for name in names if not _NAME.fullmatch(name)]:
                raise ValueError(f"{line}: expected a name to import, found {wrong[0]!r}.")
            if not match[2].startswith(("./", "../")):
                raise ValueError(
                    f"{line}: {match[2]!r} is not a relative path; it begins with ./ or ../."
                )
            target_path = normpath(join(dirname(path), match[2]))
            target = add(target_path, line, (*above, path))
            if unknown := [name for name in names if name not in target.exports]:
                exported = ", ".join(target.exports) or "nothing"
                raise ValueError(
                    f"{line}: {target_path} does not export {unknown[0]!r}; it exports {exported}."
                )
            imports += names
            import_lines += f"const {{{', '.join(names)}}} = $modules[{target.number}];\n"
        module = _Module(len(modules), _EXPORT.findall(text))
        for verb, names in (("imports", imports), ("exports", module.exports)):
            if repeated := [name for name in names if names.count(name) > 1]:
                raise ValueError(f"{path}: it {verb} {repeated[0]!r} twice.")
        plain = _EXPORT.sub("", _IMPORT.sub(lambda match: "\n" * match[0].count("\n"), text))
        if unsupported := _OTHER.search(plain):
            raise ValueError(
                f"{_place(path, plain, unsupported)}: {unsupported[0].strip()!r} cannot be joined; "
                'write `import {name} from "./file.js";`, or `export` before a function, constant '
                "or class."
            )
        modules[path] = module
        scripts.append(
            f"\n// {path}\n$modules[{module.number}] = (() => {{\n{import_lines}"
            + plain.strip("\n")
            + f"\nreturn {{{', '.join(module.exports)}}};\n}})();\n"
        )
        return module

    for entry in entries:
        add(entry, entry, ())
    return "".join(scripts)


def _place(path: str, text: str, match: re.Match[str]) -> str:
    line = text.count("\n", 0, match.start()) + 1
    return f"{path}:{line}"
