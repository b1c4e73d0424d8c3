"""The documentation site: defects end its build, machines can read it, and it fits a phone."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mkdocs")

import links
from accessibility import WCAG_AA, violations, window
from accessibility import axe as axe
from gallery import DEMOS
from site_check import defects
from site_text import plain, summary

ROOT = Path(__file__).resolve().parent.parent
PHONE = 390, 844
WIDTHS = "[document.scrollingElement.scrollWidth, document.scrollingElement.clientWidth]"
TOO_WIDE = """Array.from(document.querySelectorAll('.md-content *'))
  .filter(each => each.getBoundingClientRect().right > document.scrollingElement.clientWidth && !each.closest('pre, .md-typeset__scrollwrap, .tabbed-labels'))
  .slice(0, 3).map(each => each.tagName + ' ' + each.textContent.trim().slice(0, 40))"""  # noqa: E501
MOUSE = """const asked = matchMedia.bind(window);
window.matchMedia = query => query === "(hover)" ? asked("all") : asked(query)"""
BLOCKS = """\
# Blocks

Every block of a page, with `code`, **strong** words and a [link](../index.md).

/// tab | Command line

```console
$ rankwell evaluate qrels.txt old.run -m nDCG@10   # a comment
nDCG@10  0.571
```

///
/// tab | Python

```python
import rankwell as rw

result: rw.Results = rw.evaluate({"q1": {"d1": 1}}, [0.5, None], f"{1 + 1}")  # a comment
@property
def value(self) -> bool: return not True
```

///

```toml
[data]
name = "text"   # a comment
number = 0.5
```

```json
{"name": [true, null, 1e-5, "text"]}
```

```yaml
steps:
  - uses: actions/checkout@v5   # a comment
```

```sh
export NAME="text"; for each in *.run; do echo "$each" | sort > file; done   # a comment
```

```diff
- old
+ new
```

| measure | value |
| --- | --- |
| `nDCG@10` | 0.571 |

!!! note "A note"

    With `code`.

??? warning "Details"

    With more.
"""


Done = subprocess.CompletedProcess[str]


def built(folder: Path, text: str, *options: str) -> Done:
    """A site of one page in the folder's `site`, built with the configuration of ours."""
    (folder / "docs" / "guide").mkdir(parents=True)
    (folder / "docs" / "index.md").write_text("# Home\n\nStart here. And then go on.\n")
    (folder / "docs" / "guide" / "blocks.md").write_text(text)
    for name in ("site.css", "iframe-worker.js"):
        shutil.copy(ROOT / "docs" / name, folder / "docs")
    (folder / "mkdocs.yml").write_text(
        f"INHERIT: {ROOT}/mkdocs.yml\ndocs_dir: docs\nsite_dir: site\n"
        f"hooks: [{ROOT}/tools/site_hooks.py]\n"
    )
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "-f", folder / "mkdocs.yml", *options],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": "tools", "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("html", "defect"),
    [
        ('<a href="gone.html">x</a>', "gone.html: there is no such file"),
        ('<a href="gallery/captions.html">x</a>', "gallery/captions.html: there is no such file"),
        ('<a href="other.html#gone">x</a>', "other.html#gone: the page has no such anchor"),
        ('<a href="#gone">x</a>', "#gone: the page has no such anchor"),
        ('<a href="/other.html">x</a>', "/other.html: a place outside the site"),
        ('<img src="other.html">', "an image without a text: other.html"),
        ('<img src="other.html" alt="">', "an image without a text: other.html"),
        ("<p>text\n```</p>", "a fence that is not rendered: ```"),
        ("<p>::: rankwell.evaluate</p>", "a directive that is not rendered: ::: rankwell.evaluate"),
        ("<pre>f(a, b<span>=</span>...)</pre>", "a signature without its default: =...)"),
    ],
)
def test_a_defect_is_reported_with_its_page(html: str, defect: str, tmp_path: Path):
    good = '<h1 id="here">x</h1><a href="page.html">x</a><a href="https://a.b">x</a>'
    (tmp_path / "other.html").write_text(good)
    fine = '<img src="other.html" alt="x"><a href="other.html#here">x</a><code>``` ::: </code>'
    (tmp_path / "page.html").write_text(f"<body>{fine}{html}</body>")

    assert list(defects(tmp_path)) == [f"page.html: {defect}"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[x](gone.md)", "'gone.md'"),
        ("[x](#gone)", "'#gone'"),
        ('<a href="gone.html">x</a>', "guide/blocks.html: gone.html: there is no such file"),
        ("* item\n\n  ```sh\nls\n", "a fence that is not rendered"),
    ],
)
def test_a_defect_ends_a_quiet_build(text: str, words: str, tmp_path: Path):
    done = built(tmp_path, f"# Blocks\n\n{text}\n", "--quiet")

    assert (done.returncode, words in done.stderr) == (1, True), done.stderr


@pytest.mark.slow
def test_machines_find_every_page_as_markdown(tmp_path: Path):
    text = (
        "---\ndescription: In short.\n---\n\n# A\n\n<!-- not run: x -->\n\n```sh\nls\n```\n\n"
        "[Speed](../../benchmarks/RESULTS.md)\n"
    )

    done = built(tmp_path, text, "--no-strict")

    assert done.returncode == 0, done.stderr
    site = tmp_path / "site"
    assert (site / "guide" / "blocks.md").read_text() == (
        "# A\n\n```sh\nls\n```\n\n[Speed](../reference/benchmarks.md)\n"
    )
    listed = (site / "llms.txt").read_text()
    assert listed.startswith("# rankwell\n\n> Find out which search system is better")
    assert "\n- [Home](index.md): Start here.\n" in listed
    assert "](guide/blocks.md): In short.\n" in listed
    assert '<meta name="description" content="In short.">' in (
        (site / "guide" / "blocks.html").read_text()
    )
    for target in re.findall(r"\]\((\S+)\)", listed):
        assert (site / target).is_file(), target
    pages = {page for page in site.rglob("*.html") if page.parent.name != "gallery"}
    without = {page.name for page in pages if not page.with_suffix(".md").is_file()}
    assert without == {"404.html"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("# A\n\n<!-- c -->\n\n![x](y.png)\n\nOne [page](p.md) at 0.5. Two.", "One page at 0.5."),
        ("# A\n\n* item\n\nIt says:", "It says"),
        ("# A\n\n```sh\nls\n```", ""),
        ("# A\n\n`rankwell -h` shows the options. Two.", "`rankwell -h` shows the options."),
    ],
)
def test_a_page_is_summed_up_by_its_first_sentence(text: str, sentence: str):
    assert summary(text) == sentence


def test_comments_within_a_block_of_code_stay():
    assert plain("<!-- a -->\n# A\n\n```html\n<!-- b -->\n```\n") == (
        "# A\n\n```html\n<!-- b -->\n```\n"
    )


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ('<a id="k" href="#k"><code>a &lt; b</code></a>: `int`', "`a < b`: `int`"),
        ('| <a id="k"></a>[`-k`](#k) <var>N</var> | a [list](#k) |', "| `-k` N | a list |"),
        ('<div class="options" markdown>\n\n| a |\n\n</div>\n\n## B', "| a |\n\n## B"),
        ("## RR { #rr }\n\n![p](p.png){ .wide }", "## RR\n\n![p](p.png)"),
        (
            '<details markdown="1">\n<summary>More</summary>\n\nText.\n\n</details>',
            "**More**\n\nText.",
        ),
        ("[other](page.md#k), 1 &lt;= 2", "[other](page.md#k), 1 <= 2"),
        ("`<var>{ #k }</var>` ``a`<a>`` `[k](#k)`", "`<var>{ #k }</var>` ``a`<a>`` `[k](#k)`"),
        ("```html\n<div>&lt;</div>\n```", "```html\n<div>&lt;</div>\n```"),
    ],
)
def test_a_page_as_markdown_is_plain(markdown: str, text: str):
    assert plain(markdown) == f"{text}\n"


def test_no_page_has_html_as_markdown():
    code = re.compile(r"^ *```.*?^ *```$|(`+).*?\1", re.MULTILINE | re.DOTALL)
    marks = re.compile(r"</?[a-z][^>\n]*>|\{ [.#][^}\n]*\}|&\w+;|\]\(#")
    found = {
        path.relative_to(ROOT).as_posix(): marks.findall(
            code.sub("", plain(path.read_text("utf-8")))
        )
        for path in (ROOT / "docs").rglob("*.md")
    }

    assert {page: some for page, some in found.items() if some} == {}


def test_the_gallery_shows_every_demo_with_a_picture():
    page = ROOT / "docs" / "gallery.md"
    targets = [target for _, target in links.links(page)]

    shown = {Path(target).stem for target in targets if target.startswith("gallery/")}
    assert shown == set(DEMOS)
    assert sum(target.startswith("pictures/") for target in targets) == len(DEMOS)


def test_no_page_is_wider_than_a_phone(browser: Any, site: Path):
    wide: dict[str, Any] = {}
    with window(browser, *PHONE, "light"):
        for page in sorted(site.rglob("*.html")):
            if page.parent.name == "gallery" or page.name == "404.html":
                continue
            browser.open(page)
            content, screen = browser.run(WIDTHS)
            if content > screen:
                wide[page.relative_to(site).as_posix()] = content, browser.run(TOO_WIDE)

    assert not wide


@contextmanager
def opened(browser: Any, page: Path, scheme: str, width: int) -> Generator[Any]:
    """The page in a scheme of colours and with a mouse, without which the theme lets no key scroll
    a block of code.
    """
    script = {"source": MOUSE}
    mouse = browser.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", script)
    with window(browser, width, 900, scheme):
        browser.open(page).run("localStorage.clear()")  # the scheme of an earlier page
        browser.open(page)
        shown = {"light": "default", "dark": "slate"}[scheme]
        assert browser.run("document.body.dataset.mdColorScheme") == shown
        yield browser
    browser.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", mouse)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, PHONE[0]])
def test_every_kind_of_block_is_accessible(
    scheme: str, width: int, browser: Any, axe: str, tmp_path: Path
):
    done = built(tmp_path, BLOCKS, "--no-strict")
    assert done.returncode == 0, done.stderr

    place = tmp_path / "site" / "guide" / "blocks.html"
    with opened(browser, place, scheme, width) as page:
        shown = ".tabbed-set", ".highlight", ".admonition", "details", "table"
        assert all(page.run("document.querySelector(arguments[0])", each) for each in shown)
        assert violations(page, axe, WCAG_AA) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("place", ["index.html", "gallery.html", "guide/compare.html"])
def test_pages_of_the_site_are_accessible(
    place: str, scheme: str, browser: Any, axe: str, site: Path
):
    with opened(browser, site / place, scheme, 1440) as page:
        assert violations(page, axe, WCAG_AA) == []
