"""Parts of generated pages of the reference: the mark, leads from tools/pages/, tables, anchors."""

import re
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

NOTE = "<!-- Written by `make docs` from the code; do not edit. -->"
_PAGES = Path(__file__).parent / "pages"


def lead(title: str, name: str) -> str:
    """The beginning of a page: its title, the mark, and the text that people write."""
    return f"# {title}\n\n{NOTE}\n\n{(_PAGES / f'{name}.md').read_text(encoding='utf-8')}"


def data(name: str) -> dict[str, Any]:
    """The texts of a page that people write, by section."""
    return tomllib.loads((_PAGES / f"{name}.toml").read_text(encoding="utf-8"))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, with an empty line below."""
    texts = [" | ".join(cell.replace("|", "\\|") for cell in row) for row in rows]
    return "\n".join(
        [
            f"| {' | '.join(head)} |",
            "|---" * len(head) + "|",
            *(f"| {text} |" for text in texts),
            "",
        ]
    )


def anchor(name: str) -> str:
    """The anchor of a name."""
    return re.sub(r"[^\w-]+", "-", name.lower()).strip("-")
