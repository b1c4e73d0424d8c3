"""Hooks of MkDocs: the pages of the site that lie outside docs/, the order of a search, every page
as Markdown, and a build that ends with an error where the site has a defect.
"""

import logging
import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.utils import write_file
from mkdocs.utils.templates import TemplateContext

from gallery import DEMOS, report_file
from site_check import defects
from site_text import index, plain

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE = {"benchmarks/RESULTS.md": "reference/benchmarks.md"}
"""Pages of the repository that the site has too, by their place on it."""
BOOSTS = {
    "start/": 2.0,
    "guide/": 2.0,
    "faq.md": 2.0,
    "understand/": 1.5,
    "switch/": 1.5,
    "reference/measures/": 1.2,
    "reference/commands/": 0.8,
    "reference/python/": 0.6,
    "reference/conventions.md": 0.3,
    "reference/benchmarks.md": 0.1,
}
"""Weights of a search by the beginning of a page's place: what a reader does comes before lists of
names.
"""
WIDE = {
    "index.md": ["navigation", "toc"],
    "gallery.md": ["navigation", "toc"],
    "faq.md": ["navigation"],
}
"""What pages without others beside them do not show, since it would be empty."""
_INLINE = re.compile(r"(?<!</span>)<code>([^<]*--[^<]*)</code>")
_OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)")
_LOG = logging.getLogger("mkdocs.hooks.site")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Lets warnings through where `--quiet` holds them back: MkDocs counts those alone that it
    shows.
    """
    mkdocs = logging.getLogger("mkdocs")
    mkdocs.setLevel(min(mkdocs.level, logging.WARNING))
    return config


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
            missing = "<!doctype html><title>rankwell</title>make site writes this report"
            files.append(File.generated(config, place, content=missing))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: object) -> str:
    """The page with links of the repository as links of the site, and its weight and its words in a
    search.
    """
    place = page.file.src_uri
    boost = next((boost for start, boost in BOOSTS.items() if place.startswith(start)), 1.0)
    page.meta.setdefault("search", {"boost": boost})
    page.meta.setdefault("tags", config.extra["words"].get(place, []))
    if place.startswith("reference/commands/"):
        page.meta["title"] = re.sub("^# (rankwell )?", "", markdown.partition("\n")[0])
    if place in WIDE:
        page.meta.setdefault("hide", WIDE[place])
    source = next((source for source, moved in OUTSIDE.items() if moved == place), f"docs/{place}")

    def moved(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), link[1]))
        target = OUTSIDE.get(
            target, "index.md" if target == "README.md" else target.removeprefix("docs/")
        )
        return posixpath.relpath(target, posixpath.dirname(place) or ".")

    return _LINK.sub(moved, markdown) if source in OUTSIDE or "](../" in markdown else markdown


def on_page_content(html: str, **_: object) -> str:
    """Options in a sentence, which are not broken after their hyphens."""
    return _INLINE.sub(lambda code: f"<code>{_OPTION.sub(_unbroken, code[1])}</code>", html)


def on_page_context(
    context: TemplateContext, page: Page, config: MkDocsConfig, nav: Navigation
) -> TemplateContext:
    """Writes the page as Markdown, with the first one llms.txt, too."""
    site = Path(config.site_dir)
    write_file(plain(page.markdown or "").encode(), str(site / page.file.src_uri))
    if page.is_homepage:
        text = index(config.site_name, config.site_description or "", nav)
        write_file(text.encode(), str(site / "llms.txt"))
    return context


def on_post_page(output: str, **_: object) -> str:
    """The page with a name for the dialog of its search, which the theme gives none."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1)


def on_post_build(config: MkDocsConfig) -> None:
    """Warns of every defect of the site."""
    for defect in defects(Path(config.site_dir), ignored=("gallery/*.html", "404.html")):
        _LOG.warning(defect)


def _unbroken(option: re.Match[str]) -> str:
    return f'<span class="option">{option[0]}</span>'
