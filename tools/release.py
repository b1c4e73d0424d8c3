"""Checks before a release the address, the version and the changelog: `python tools/release.py
[--tag v1.2.3]`.
"""

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import rankwell

ROOT = Path(__file__).resolve().parent.parent
GATE_PAGE = "docs/guide/gate.md"
PLACEHOLDERS = {"OWNER/rankwell@": GATE_PAGE, "https://…/": "integrations/gitlab.yml"}
"""Words in place of the project's address, with their file beside pyproject.toml."""


def problems(root: Path, version: str, tag: str | None) -> Iterator[str]:
    """A sentence for each thing to do before this version is released."""
    address = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "rankwell"
    ]["repository"]
    if ".invalid" in address:
        yield (
            f"pyproject.toml: the address {address} is a placeholder; fill in the repository "
            "under [tool.rankwell]"
        )
    for words, file in PLACEHOLDERS.items():
        if words in (root / file).read_text(encoding="utf-8"):
            yield f"{file}: '{words}' is a placeholder; fill in the repository"
    page = (root / GATE_PAGE).read_text(encoding="utf-8")
    for named in re.findall(r"uses: \S+/rankwell@(\S+)", page):
        if named != f"v{version}":
            yield f"{GATE_PAGE}: the action has the tag {named}; expected v{version}"
    heading = re.search(
        r"^## (.+)$", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    if heading is None or not re.fullmatch(
        rf"{re.escape(version)} — \d{{4}}-\d\d-\d\d", heading[1]
    ):
        yield (
            f"CHANGELOG.md: expected '## {version} — YYYY-MM-DD' first, found "
            f"'{heading and heading[1]}'"
        )
    if tag is not None and tag != f"v{version}":
        yield f"the tag is {tag}, but src/rankwell/__init__.py has the version {version}"


def main() -> int:
    """Prints the problems."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(": `")[0])
    parser.add_argument("--tag", help="the tag that is released")
    found = list(problems(ROOT, rankwell.__version__, parser.parse_args().tag))
    for each in found:
        sys.stderr.write(f"{each}.\n")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
