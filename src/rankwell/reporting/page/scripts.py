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


IMPORT = re.compile(r'^import \{([^{}"]*)\} from "([^"\n]*)";$\n?', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:(?:async )?function|const|class) ([\w$]+))", re.MULTILINE)


def join_modules(root: Traversable, entries: Iterable[str]) -> str:
    """The entries and all that they import as one script: each module once, after its imports, in a
    function scope of its own.

    root: a folder; entries are paths below it. Supported are `import {a, b} from "./file.js";` and
    `export` before a function, a constant or a class, both at the start of a line. The modules of
    the package are checked for anything else by `tests/reporting/test_page_modules.py`.
    """
    numbers: dict[str, int] = {}
    scripts = ["const $modules = [];\n"]

    def add(path: str) -> int:
        """The number of a module, which is added after all that it imports."""
        if path in numbers:
            return numbers[path]
        text, import_lines = root.joinpath(*path.split("/")).read_text(encoding="utf-8"), ""
        for match in IMPORT.finditer(text):
            names = ", ".join(imported_names(match))
            number = add(normpath(join(dirname(path), match[2])))
            import_lines += f"const {{{names}}} = $modules[{number}];\n"
        numbers[path] = len(numbers)
        plain = EXPORT.sub("", IMPORT.sub(lambda match: "\n" * match[0].count("\n"), text))
        scripts.append(
            f"\n// {path}\n$modules[{numbers[path]}] = (() => {{\n{import_lines}"
            + plain.strip("\n")
            + f"\nreturn {{{', '.join(EXPORT.findall(text))}}};\n}})();\n"
        )
        return numbers[path]

    for entry in entries:
        add(entry)
    return "".join(scripts)


def imported_names(match: re.Match[str]) -> list[str]:
    """The names of an import."""
    return [name.strip() for name in match[1].split(",") if name.strip()]
