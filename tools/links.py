"""Checks the links of every page of the repository to files and headings of it: python
tools/links.py [--external]

Exit code 1 for dead ones. --external lists the addresses elsewhere, which are not looked at, with
their pages.
"""

import argparse
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from gallery import DEMOS

ROOT = Path(__file__).resolve().parent.parent
_CODE = re.compile(
    r"^( *)(`{3,}|~{3,}).*?^\1\2 *$|(`+)(?!`).+?\3|<!--.*?-->", re.MULTILINE | re.DOTALL
)
_LINK = re.compile(
    r"(?<!\\)\]\(\s*<?([^)\s>]+)[^)]*\)|<(https?://[^>\s]+)>|(?:src|href)=\"([^\"]+)\""
)
_HEADING = re.compile(r"^#{1,6} +(.+?)(?: *\{ *#([\w.-]+)[^}]*\})? *#*$", re.MULTILINE)
_SHOWN_BY_THE_SITE = re.compile(rf"gallery/(?:{'|'.join(DEMOS)})\.html$")
"""Targets that only the site has; its build checks them."""


def pages(root: Path) -> list[Path]:
    """The Markdown files that people read."""
    return sorted(
        [
            *root.glob("*.md"),
            *root.glob("docs/**/*.md"),
            *root.glob("benchmarks/*.md"),
            *root.glob("src/**/*.md"),
        ]
    )


def links(page: Path) -> Iterator[tuple[int, str]]:
    """The targets of a page's links with their lines; code and comments have none."""
    text = _CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), page.read_text(encoding="utf-8"))
    for match in _LINK.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, next(filter(None, match.groups()))


@cache
def anchors(page: Path) -> frozenset[str]:
    """The names of a page's headings in links, numbered where one appears again."""
    text = re.sub(
        r"^( *)(`{3,}|~{3,}).*?^\1\2 *$",
        "",
        page.read_text(encoding="utf-8"),
        flags=re.MULTILINE | re.DOTALL,
    )
    found: set[str] = set()
    for title, name in _HEADING.findall(text):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", r"\1", title)
        slug = name or re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")
        number = 0
        while (each := slug + (f"_{number}" if number else "")) in found:
            number += 1
        found.add(each)
    return frozenset(found | set(re.findall(r"id=\"([^\"]+)\"", text)))


def problem(page: Path, target: str) -> str | None:
    """The reason why a link inside the repository is dead."""
    if _SHOWN_BY_THE_SITE.search((page.parent / target).as_posix()):
        return None
    place, _, anchor = target.partition("#")
    file = (page.parent / place).resolve() if place else page
    if target.startswith("/"):
        return "an absolute place; write it relative to this page"
    if not file.exists():
        return "there is no such file"
    if anchor and file.suffix == ".md" and anchor not in anchors(file):
        return f"{file.name} has no heading of that name"
    return None


def main() -> int:
    """Prints the dead links, or the external ones."""
    parser = argparse.ArgumentParser(
        description="Checks the links between the pages of the repository."
    )
    parser.add_argument("root", nargs="?", type=Path, default=ROOT, help="folder of the repository")
    parser.add_argument(
        "--external", action="store_true", help="list addresses elsewhere, and their pages"
    )
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    found = [(page, line, target) for page in pages(root) for line, target in links(page)]
    elsewhere = [each for each in found if re.match(r"[a-z]+:", each[2])]
    if arguments.external:
        for address in sorted({target for _, _, target in elsewhere}):
            named = sorted(
                {
                    page.relative_to(root).as_posix()
                    for page, _, target in elsewhere
                    if target == address
                }
            )
            sys.stdout.write(f"{address}  {', '.join(named)}\n")
        return 0
    dead = 0
    for page, line, target in found:
        if not re.match(r"[a-z]+:", target) and (reason := problem(page, target)):
            sys.stdout.write(f"{page.relative_to(root).as_posix()}:{line}: {target}: {reason}\n")
            dead += 1
    return bool(dead)


if __name__ == "__main__":
    sys.exit(main())
