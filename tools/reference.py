"""Writes the pages of docs/ that are made from the code; with --check it only says whether they are
up to date.
"""

import io
import json
import sys
from pathlib import Path

from rich.console import Console

from conventions_page import conventions_page
from formats_page import formats_page
from measures_page import measure_pages
from page_parts import lead
from python_reference import python_pages
from rankwell.cli.help import page
from rankwell.compat.trec_eval import HELP
from rankwell.data.catalogue import DROP_IN, command_summaries
from rankwell.data.findings import FINDINGS, LEVELS
from rankwell.files.schemas import json_schema, schema_names
from registries import methods_page

DOCS = Path(__file__).resolve().parent.parent / "docs"

LISTS = """\
Lists of measures and cut-offs may be written in three ways: `-m P@10,AP`, `-m P@10 AP` or
`-m P@10 -m AP`, and `-k 1,5,10` or `-k 1 5 10`. With blanks, a further word belongs to the list
where it names a measure or is a whole number, and no file has that name. So a list never takes a
file from the command; commas leave no doubt.

Every command takes `--threads`, `-q` (`--quiet`) and `-v` (`--verbose`). `-h` shows its common
options, `--help` all of them; `rankwell help COMMAND` is the same as `rankwell COMMAND --help`.
"""


def command_page() -> str:
    """Every command with its help, as a terminal of 100 columns shows it."""
    parts = ["# Commands\n\nWritten by `make docs` from the code; do not edit.\n", LISTS]
    for words in command_summaries():
        stream = io.StringIO()
        Console(file=stream, width=100, force_terminal=False, color_system=None).print(
            page(words, 100)
        )
        text = "\n".join(line.rstrip() for line in stream.getvalue().strip().splitlines())
        parts.append(f"## rankwell {' '.join(words)}\n\n```text\n{text}\n```\n")
    parts.append(
        f"## rankwell {DROP_IN}\n\n```text\n{HELP.read_text(encoding='utf-8').strip()}\n```\n"
    )
    return "\n".join(parts)


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
    texts = {
        "commands.md": command_page(),
        "reference/findings.md": findings_page(),
        "reference/conventions.md": conventions_page(),
        "reference/formats.md": formats_page(),
        "reference/methods.md": methods_page(),
        **measure_pages(),
        **python_pages(),
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
    if "--check" in sys.argv[1:]:
        for name in stale:
            sys.stderr.write(f"docs/{name} is not what the code says; run `make docs`.\n")
        return bool(stale)
    for name in stale:
        (DOCS / name).parent.mkdir(parents=True, exist_ok=True)
        (DOCS / name).write_text(pages[name], encoding="utf-8")
        sys.stderr.write(f"wrote docs/{name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
