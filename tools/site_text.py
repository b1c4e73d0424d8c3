"""The site for machines: pages as plain Markdown, and llms.txt, the list of them (llmstxt.org)."""

import re
from collections.abc import Iterator
from html import unescape

from mkdocs.structure import StructureItem
from mkdocs.structure.nav import Navigation, Section
from mkdocs.structure.pages import Page

_PART = re.compile(
    r"""(?P<code> ^\ *```.*?^\ *```$ | (?P<ticks>`+)(?!`)[^\n]*?(?<!`)(?P=ticks)(?!`))
    | <code>(?P<html_code>.*?)</code>
    | \[(?P<linked>(?:`[^`\n]*`|[^]\[`\n])*)\]\(\#[^)\s]*\)
    | (?P<title></?summary>)
    | (?P<character>&\#?\w+;)
    | <!--.*?-->\n* | </?(?:div|details)\b[^>\n]*>\n* | </?(?:a|var)\b[^>\n]*>
    | \ ?\{\ [.\#][^}\n]*\}""",
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
"""What is no plain Markdown, and the code, which may look like it. A link within the page has no
target without the ids.
"""
_LINK = re.compile(r"!?\[([^]]*)\]\([^)]*\)")
_SENTENCE = re.compile(r".*?[.?!](?=\s|$)|.*", re.DOTALL)
_NO_SENTENCE = ("#", "|", "!", "<", "```", "* ", "- ", ":::", "===", "Written by `make")
_HOW = "Every page is here as Markdown too: write `.md` for `.html` at the end of its address."


def plain(markdown: str) -> str:
    """A page without HTML, ids and classes, which are for the site, and without its comments, which
    are for the tests.
    """
    return _PART.sub(_plain_part, markdown).strip() + "\n"


def _plain_part(part: re.Match[str]) -> str:
    if (code := part["html_code"]) is not None:
        return f"`{unescape(code)}`"
    if part["linked"]:
        return plain(part["linked"]).strip()
    return part["code"] or unescape(part["character"] or "") or "**" * bool(part["title"])


def index(name: str, description: str, nav: Navigation) -> str:
    """llms.txt: a section for each part of the site, and a line for each page."""
    lines = [f"# {name}", "", f"> {description}", "", _HOW]
    for item in nav.items:
        pages = [*_pages(item)]
        if pages:
            lines += ["", f"## {item.title}", ""]
        for page in pages:
            said = page.meta.get("description") or summary(page.markdown or "")
            lines.append(f"- [{page.title}]({page.file.src_uri})" + (f": {said}" if said else ""))
    return "\n".join(lines) + "\n"


def summary(text: str) -> str:
    """The first sentence of a page."""
    for paragraph in plain(text).split("\n\n"):
        if not paragraph.startswith(_NO_SENTENCE):
            [sentence] = _SENTENCE.findall(_LINK.sub(r"\1", " ".join(paragraph.split())))[:1]
            return sentence.rstrip(":")
    return ""


def _pages(item: StructureItem) -> Iterator[Page]:
    """The page, or those below a section."""
    if isinstance(item, Page):
        yield item
    elif isinstance(item, Section):
        for child in item.children:
            yield from _pages(child)
