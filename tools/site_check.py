"""Defects of the built site that MkDocs does not see: dead links and anchors of any element, images
without a text, and Markdown that was not rendered.
"""

import posixpath
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

_UNRENDERED = {"```": "a fence", "~~~": "a fence", ":::": "a directive"}
_UNKNOWN_DEFAULT = re.compile(r"=\s*\.\.\.\s*[,)]")
_ELSEWHERE = re.compile(r"[a-z][a-z+.-]*:|//", re.IGNORECASE)
_VOID = {
    "area",
    "base",
    "br",
    "col",
    "embed",
    "hr",
    "img",
    "input",
    "link",
    "meta",
    "source",
    "wbr",
}


class _Page(HTMLParser):
    """What a page links to, the names in it that can be linked to, and the defects of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.names: set[str] = set()
        self.defects: list[str] = []
        self.whole_text: list[str] = []
        self._unread: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.names.update(filter(None, (given.get("id"), given.get("name"))))
        self.links.extend(filter(None, (given.get("href"), given.get("src"))))
        if tag == "img" and not given.get("alt"):
            self.defects.append(f"an image without a text: {given.get('src')}")
        if (self._unread and tag not in _VOID) or tag in ("code", "pre", "script", "style"):
            self._unread.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._unread and tag not in _VOID:
            self._unread.pop()

    def handle_data(self, data: str) -> None:
        self.whole_text.append(data)
        if not self._unread:
            self.defects += [
                f"{what} that is not rendered: {line.strip()[:60]}"
                for line in data.splitlines()
                for sign, what in _UNRENDERED.items()
                if sign in line
            ]


def _read(file: Path) -> _Page:
    page = _Page()
    page.feed(file.read_text(encoding="utf-8"))
    if shown := _UNKNOWN_DEFAULT.search("".join(page.whole_text)):
        page.defects.append(f"a signature without its default: {shown[0]}")
    return page


def defects(site: Path, ignored: tuple[str, ...] = ()) -> Iterator[str]:
    """The defects of the pages below a folder, each with its page.

    ignored: patterns of files that are no pages of the documentation.
    """
    pages = {
        file.relative_to(site).as_posix(): _read(file)
        for file in sorted(site.rglob("*.html"))
        if not any(file.relative_to(site).match(pattern) for pattern in ignored)
    }
    for place, page in pages.items():
        yield from (f"{place}: {defect}" for defect in page.defects)
        for link in sorted({*page.links}):
            if not _ELSEWHERE.match(link) and (reason := _reason(site, pages, place, link)):
                yield f"{place}: {link}: {reason}"


def _reason(site: Path, pages: dict[str, _Page], place: str, link: str) -> str | None:
    """Why a link leads nowhere."""
    path, _, name = unquote(link).partition("#")
    path = path.partition("?")[0]
    target = posixpath.normpath(posixpath.join(posixpath.dirname(place), path)) if path else place
    if target.startswith(("/", "..")):
        return "a place outside the site"
    if not (site / target).is_file():
        return "there is no such file"
    if name and target in pages and name not in pages[target].names:
        return "the page has no such anchor"
    return None
