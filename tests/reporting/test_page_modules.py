"""Modules joined into one script: order, scopes, and every mistake reported with its file and
line.
"""

import re
from collections.abc import Iterable
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from posixpath import dirname, join, normpath

import pytest

from rankwell.data.catalogue import result_kind
from rankwell.reporting.page.document import render_page
from rankwell.reporting.page.scripts import EXPORT, IMPORT, imported_names, join_modules

OTHER = re.compile(r"^(?:import|export)\b.*|\$modules\b", re.MULTILINE)
NAME = re.compile(r"[A-Za-z_$][\w$]*")


def refuse_unjoinable(root: Traversable, entries: Iterable[str]) -> None:
    """Raises ValueError with file and line for what `join_modules` cannot join."""
    exports_by_path: dict[str, list[str]] = {}

    def check(path: str, place: str, above: tuple[str, ...]) -> list[str]:
        """The exports of a module. place: where it is imported; above: the modules whose imports
        lead to it.
        """
        if path in above:
            circle = " -> ".join((*above[above.index(path) :], path))
            raise ValueError(
                f"{place}: a cycle of imports, {circle}. Move what both need into a third module."
            )
        if path in exports_by_path:
            return exports_by_path[path]
        file = root.joinpath(*path.split("/"))
        if path.startswith("../") or not file.is_file():
            raise ValueError(f"{place}: there is no module {path}.")
        text, imports = file.read_text(encoding="utf-8"), list[str]()
        for match in IMPORT.finditer(text):
            line, names = place_of(path, text, match), imported_names(match)
            if wrong := [name for name in names if not NAME.fullmatch(name)]:
                raise ValueError(f"{line}: expected a name to import, found {wrong[0]!r}.")
            if not match[2].startswith(("./", "../")):
                raise ValueError(
                    f"{line}: {match[2]!r} is not a relative path; it begins with ./ or ../."
                )
            target = normpath(join(dirname(path), match[2]))
            exports = check(target, line, (*above, path))
            if unknown := [name for name in names if name not in exports]:
                exported = ", ".join(exports) or "nothing"
                raise ValueError(
                    f"{line}: {target} does not export {unknown[0]!r}; it exports {exported}."
                )
            imports += names
        exports_by_path[path] = EXPORT.findall(text)
        for verb, names in (("imports", imports), ("exports", exports_by_path[path])):
            if repeated := [name for name in names if names.count(name) > 1]:
                raise ValueError(f"{path}: it {verb} {repeated[0]!r} twice.")
        plain = EXPORT.sub("", IMPORT.sub(lambda match: "\n" * match[0].count("\n"), text))
        if unsupported := OTHER.search(plain):
            raise ValueError(
                f"{place_of(path, plain, unsupported)}: {unsupported[0].strip()!r} cannot be "
                'joined; write `import {name} from "./file.js";`, or `export` before a function, '
                "constant or class."
            )
        return exports_by_path[path]

    for entry in entries:
        check(entry, entry, ())


def place_of(path: str, text: str, match: re.Match[str]) -> str:
    line = text.count("\n", 0, match.start()) + 1
    return f"{path}:{line}"


def tree(folder: Path, modules: dict[str, str]) -> Path:
    for path, text in modules.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


def test_each_module_stands_once_after_its_imports(tmp_path: Path):
    root = tree(
        tmp_path,
        {
            "page/start.js": 'import {b} from "./b.js";\nimport {c} from "./c.js";\n\nb(c);\n',
            "page/b.js": 'import {c} from "./c.js";\n\nexport function b() {\n  return c;\n}\n',
            "page/c.js": "export const c = 1;\n",
            "tasks/t/page.js": "import {\n  b,\n  other,\n} from "
            '"../../page/both.js";\nb(other);\n',
            "page/both.js": "export async function b() {}\nexport class other {}\nconst own = 1;\n",
        },
    )

    script = join_modules(root, ["tasks/t/page.js", "page/start.js"])

    assert re.findall("^// (.*)$", script, re.MULTILINE) == [
        "page/both.js",
        "tasks/t/page.js",
        "page/c.js",
        "page/b.js",
        "page/start.js",
    ]
    assert (
        "$modules[0] = (() => {\nasync function b() {}\nclass other {}\nconst own = "
        "1;\nreturn {b, other};\n})();" in script
    )
    assert (
        "$modules[1] = (() => {\nconst {b, other} = $modules[0];\nb(other);\nreturn {};\n})();"
        in script
    )
    assert "const {b} = $modules[3];\nconst {c} = $modules[2];\nb(c);" in script
    assert not re.search(r"^(import|export)\b", script, re.MULTILINE)


MISTAKES = {
    "a missing module": ('\nimport {b} from "./b.js";\n', {}, r"a\.js:2: there is no module b\.js"),
    "a module outside the root": (
        'import {b} from "../b.js";\n',
        {},
        r"a\.js:1: there is no module \.\./b\.js",
    ),
    "a package": ('import {b} from "b";\n', {}, r"a\.js:1: 'b' is not a relative path"),
    "an unknown export": (
        'import {c} from "./b.js";\n',
        {"b.js": "export const b = 1;\nconst c = 2;\n"},
        r"a\.js:1: b\.js does not export 'c'; it exports b\.",
    ),
    "a cycle": (
        'import {b} from "./b.js";\nexport const a = b;\n',
        {
            "b.js": '\n\nimport {c} from "./c.js";\nexport const b = c;\n',
            "c.js": 'import {b} from "./b.js";\nexport const c = b;\n',
        },
        r"c\.js:1: a cycle of imports, b\.js -> c\.js -> b\.js",
    ),
    "itself": (
        'import {a} from "./a.js";\nexport const a = 1;\n',
        {},
        r"a\.js:1: a cycle of imports, a\.js -> a\.js",
    ),
    "one name from two modules": (
        'import {b} from "./b.js";\nimport {b} from "./c.js";\n',
        {"b.js": "export const b = 1;\n", "c.js": "export const b = 2;\n"},
        r"a\.js: it imports 'b' twice",
    ),
    "two exports of one name": (
        "export const a = 1;\nexport function a() {}\n",
        {},
        r"a\.js: it exports 'a' twice",
    ),
    "another name": (
        'import {b as c} from "./b.js";\n',
        {"b.js": "export const b = 1;\n"},
        r"a\.js:1: .*found 'b as c'",
    ),
    "a default import": (
        '\n\nimport b from "./b.js";\n',
        {"b.js": ""},
        r"a\.js:3: 'import b from \"\./b\.js\";' cannot be joined",
    ),
    "a default export": (
        "export default 1;\n",
        {},
        r"a\.js:1: 'export default 1;' cannot be joined",
    ),
    # What imports it would keep its first value.
    "a variable": ("export let a = 1;\n", {}, r"a\.js:1: 'export let a = 1;' cannot be joined"),
    "a statement after several lines of imports": (
        'import {\n  b,\n} from "./b.js";\nexport {b};\n',
        {"b.js": "export const b = 1;\n"},
        r"a\.js:4: 'export \{b\};' cannot be joined",
    ),
    "the joined script's own name": (
        "const $modules = 1;\n",
        {},
        r"a\.js:1: '\$modules' cannot be joined",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_reported_with_its_place(tmp_path: Path, mistake: str):
    text, others, message = MISTAKES[mistake]

    with pytest.raises(ValueError, match=f"^{message}"):
        refuse_unjoinable(tree(tmp_path, {"a.js": text} | others), ["a.js"])


def test_every_module_of_the_package_can_be_joined():
    package = Path(str(files("rankwell")))
    modules = [path.relative_to(package).as_posix() for path in sorted(package.rglob("*.js"))]

    refuse_unjoinable(package, modules)
    assert len(modules) > 20


def test_the_page_holds_the_view_of_every_task_and_no_module_twice():
    script = render_page("{}", "t", parted=False)

    names = re.findall(r"^// ((?:reporting|tasks)/.*\.js)$", script, re.MULTILINE)
    package = files("rankwell")
    views = sorted(
        f"tasks/{each.name}/page.js"
        for each in (package / "tasks").iterdir()
        if (each / "page.js").is_file()
    )
    own = [name for name in names if name.startswith("tasks/")]
    assert [name for name in own if name.endswith("/page.js")] == views
    assert {name for name in own if name not in views} == {
        view.replace("page.js", "words.js") for view in views
    }
    assert len(views) >= 5
    assets = {
        f"reporting/page/assets/{each.name}"
        for each in (package / "reporting/page/assets").iterdir()
        if each.name.endswith(".js")
    }
    # The page of systems has a script of its own.
    assert set(names) - set(own) == assets - {"reporting/page/assets/systems.js"}, (
        "a module that nothing imports"
    )
    assert len(names) == len(set(names))
    assert names[-1] == "reporting/page/assets/start.js"


def test_kinds_of_results_decide_the_data_of_pages():
    assert result_kind("qa").is_keyed
    assert result_kind("qa").may_skip
    assert result_kind("crossmodal").is_keyed
    assert not result_kind("crossmodal").may_skip
    for name in ("runs", "../runs", "images"):
        assert not result_kind(name).is_keyed
        assert not result_kind(name).may_skip
    assert result_kind("pairs").noun == ("pair", "pairs")
    assert result_kind("crossmodal").noun == ("query", "queries")
