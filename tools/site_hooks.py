"""Hooks of MkDocs: pages of the site that lie outside docs/, and the reports of the gallery."""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from gallery import DEMOS, report_file

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "benchmarks/RESULTS.md": "project/benchmarks.md",
}
"""Pages of the repository that the site has too, by their place on it."""
COMMANDS = "reference/commands/"
"""The pages of commands."""
BOOSTS = {
    "understand/": 3,
    "reference/measures/": 2,
    "reference/findings.md": 2,
    "reference/conventions.md": 0.3,
    COMMANDS: 0.3,
    "project/changelog.md": 0.3,
}
"""Weights of pages in a search, by the beginning of their places: long lists come last."""
WIDE = ("index.md", "gallery/index.md")
"""Pages without others beside them, whose navigation would be empty."""
_INLINE = re.compile(r"(?<!</span>)<code>([^<]*--[^<]*)</code>")
_OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages outside docs/ and the reports of the gallery, of which one that is not written
    yet is a line of text.
    """
    for source, place in OUTSIDE.items():
        files.append(
            File.generated(config, place, content=(ROOT / source).read_text(encoding="utf-8"))
        )
    for name in DEMOS:
        place, report = f"gallery/{name}.html", report_file(name)
        if report.is_file():
            files.append(File.generated(config, place, abs_src_path=str(report)))
        else:
            files.append(
                File.generated(
                    config,
                    place,
                    content="<!doctype html><title>rankwell</title>make site writes this report",
                )
            )
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Links of the repository as links of the site; a search lists explanations first and long
    lists last, and the navigation names commands without the program.
    """
    place = page.file.src_uri
    boost = next((BOOSTS[start] for start in BOOSTS if place.startswith(start)), 1)
    page.meta.setdefault("search", {"boost": boost})
    if place.startswith(COMMANDS):
        page.meta["title"] = re.sub("^# (rankwell )?", "", markdown.partition("\n")[0])
    if place in WIDE:
        page.meta.setdefault("hide", ["navigation"])
    source = next((source for source, moved in OUTSIDE.items() if moved == place), f"docs/{place}")

    def moved(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link[1]))
        target = OUTSIDE.get(
            target, "index.md" if target == "README.md" else target.removeprefix("docs/")
        )
        return posixpath.relpath(target, posixpath.dirname(place) or ".")

    return _LINK.sub(moved, markdown) if source in OUTSIDE or "](../" in markdown else markdown


def on_page_content(html: str, **_: Any) -> str:
    """Options in a sentence, which are not broken after their hyphens."""
    return _INLINE.sub(lambda code: f"<code>{_OPTION.sub(_unbroken, code[1])}</code>", html)


def _unbroken(option: re.Match[str]) -> str:
    return f'<span class="option">{option[0]}</span>'
