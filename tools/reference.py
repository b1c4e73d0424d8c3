"""Writes the pages of docs/ that are made from the code; with --check it only says whether they are
up to date.
"""

import json
import sys
from pathlib import Path

from commands_page import NOTE, command_pages
from measures_page import measures_page
from python_reference import python_pages
from rankwell.data.findings import FINDINGS, LEVELS
from rankwell.files.schemas import json_schema, schema_names
from registries import registry_page

DOCS = Path(__file__).resolve().parent.parent / "docs"


def findings_page() -> str:
    """Every kind of finding, the most serious first."""
    kinds = sorted(map(FINDINGS.__getitem__, FINDINGS), key=lambda kind: LEVELS.index(kind.level))
    parts = [
        "# Findings\n\nWritten by `make docs` from the code; do not edit.\n",
        "A finding says something about your data, or about how to read a number. An *error* makes "
        "a number wrong: it stops every command that would print one, and `rankwell check` exits "
        "with 1. A *warning* changes how to read a number, an *info* is worth knowing. A terminal "
        "shows the three most serious, `--verbose` all with their names; `--ignore NAME` leaves "
        "out a warning or an info. In Python they are `result.findings`, in JSON `findings`.\n",
    ]
    for kind in kinds:
        parts.append(f"## {kind.name}\n\n*{kind.level}*\n")
        parts += [f"{' '.join(paragraph.split())}\n" for paragraph in kind.paragraphs]
        if kind.resolves:
            parts.append(f"What resolves it: `{kind.resolves}`\n")
    return "\n".join(parts)


def main() -> int:
    """Writes or checks the pages."""
    python = python_pages()
    texts = {
        "measures.md": measures_page(),
        "findings.md": findings_page(),
        "registries.md": registry_page(),
        **python,
        **command_pages(python["reference/python/index.md"]),
        **{
            f"reference/schemas/{name.replace(' ', '-')}.json": json.dumps(
                json_schema(name), indent=1
            )
            for name in schema_names()
        },
    }
    pages = {name: text.rstrip() + "\n" for name, text in texts.items()}
    stale = [
        name
        for name, text in pages.items()
        if not (DOCS / name).exists() or (DOCS / name).read_text(encoding="utf-8") != text
    ]
    gone = [
        name
        for page in sorted(DOCS.rglob("*.md"))
        if (name := page.relative_to(DOCS).as_posix()) not in pages
        and NOTE in page.read_text(encoding="utf-8")
    ]
    if "--check" in sys.argv[1:]:
        for name in [*stale, *gone]:
            sys.stderr.write(f"docs/{name} is not what the code says; run `make docs`.\n")
        return bool(stale or gone)
    for name in gone:
        (DOCS / name).unlink()
        sys.stderr.write(f"removed docs/{name}\n")
    for name in stale:
        (DOCS / name).parent.mkdir(exist_ok=True)
        (DOCS / name).write_text(pages[name], encoding="utf-8")
        sys.stderr.write(f"wrote docs/{name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
