"""Modules joined into one script: order, scopes, and every mistake reported with its file and
line.
"""

import re
from importlib.resources import files
from pathlib import Path

import pytest

from rankwell.data.catalogue import result_kind
from rankwell.reporting.page.document import render_page
from rankwell.reporting.page.scripts import join_modules


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
        join_modules(tree(tmp_path, {"a.js": text} | others), ["a.js"])


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
