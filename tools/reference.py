"""Writes the pages of docs/ that are made from the code; with --check it only says whether they are
up to date.
"""

import json
import sys
from pathlib import Path

from commands_page import NOTE, command_pages
from conventions_page import conventions_page
from formats_page import formats_page
from measures_page import measure_pages
from page_parts import lead
from python_reference import python_pages
from rankwell.data.findings import FINDINGS, LEVELS
from rankwell.files.schemas import json_schema, schema_names
from registries import methods_page

DOCS = Path(__file__).resolve().parent.parent / "docs"


def findings_page() -> str:
    """Every kind of finding, the most serious first."""
    parts = [lead("Findings", "findings")]
    kinds = list(map(FINDINGS.__getitem__, FINDINGS))
    for level, title in zip(LEVELS, ("Errors", "Warnings", "Information"), strict=True):
        parts.append(f"## {title}\n")
        for kind in (kind for kind in kinds if kind.level == level):
            parts.append(f"### {kind.name}\n")
            text = " ".join(" ".join(kind.paragraphs).split())
            parts.append(text + f" Try `{kind.resolves}`." * bool(kind.resolves) + "\n")
    return "\n".join(parts)


def main() -> int:
    """Writes or checks the pages."""
    python = python_pages()
    texts = {
        "reference/findings.md": findings_page(),
        "reference/conventions.md": conventions_page(),
        "reference/formats.md": formats_page(),
        "reference/methods.md": methods_page(),
        **measure_pages(),
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
        (DOCS / name).parent.mkdir(parents=True, exist_ok=True)
        (DOCS / name).write_text(pages[name], encoding="utf-8")
        sys.stderr.write(f"wrote docs/{name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
