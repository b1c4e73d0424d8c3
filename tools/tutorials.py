"""Types the tutorials: python tools/tutorials.py [PAGE ...] writes what their commands print today
below each command.

A block with a title is a file that the reader writes, and `python` blocks are scripts. The commands
of `console` blocks, after `$`, run in one folder and in the order of the page, on a terminal of 80
columns without colours. So do those of `sh` blocks, whose output is not shown, except where a
comment has the reason why they cannot (tools/blocks.py).
"""

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path
from unittest import mock

from blocks import BLOCK, read_blocks
from rankwell import cli

PAGES = Path(__file__).resolve().parents[1] / "docs" / "tutorials"


class Screen(io.StringIO):
    """A terminal that keeps what it shows."""

    def isatty(self) -> bool:
        """Whether this is a terminal."""
        return True


@contextlib.contextmanager
def terminal(folder: Path) -> Generator[None]:
    """A terminal of 80 columns whose working directory is the folder."""
    words = {"COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"}
    with (
        contextlib.chdir(folder),
        mock.patch.dict(os.environ, words),
        mock.patch.object(sys, "argv", ["rankwell"]),
    ):
        yield


def typed(line: str) -> str:
    """The output of a command line. Raises ValueError where its exit code is not the one that its
    comment announces, or 0.
    """
    screen = Screen()
    sys.argv = shlex.split(line, comments=True)
    with contextlib.redirect_stdout(screen), contextlib.redirect_stderr(screen):
        code = cli.main()
    # A bar of progress, which work of more than a second has, leaves an empty line.
    text = "".join(f"{row.rstrip()}\n" for row in screen.getvalue().lstrip("\n").splitlines())
    expected = re.search(r"# exits with (\d)$", line)
    if code != int(expected[1] if expected else 0):
        raise ValueError(f"{line}: exit code {code}\n{text}")
    return text


def ran(text: str) -> None:
    """Runs a script. Raises ValueError where a comment after `print` shows something else than is
    printed.
    """
    screen = Screen()
    with contextlib.redirect_stdout(screen):
        exec(compile(text, "tutorial", "exec"), {"__name__": "__main__"})  # noqa: S102 - code of our own page
    shown = re.findall(r"^ *print\(.*\)  # (.*)$", text, re.MULTILINE)
    if [line for line in screen.getvalue().splitlines() if line in shown] != shown:
        raise ValueError(f"printed {screen.getvalue()!r}; the page shows {shown}")


def recorded(page: str, folder: Path) -> str:
    """The page with what its commands print today."""

    def _again(block: re.Match[str]) -> str:
        [found] = read_blocks(block[0])
        if found.title:
            Path(found.title).parent.mkdir(parents=True, exist_ok=True)
            Path(found.title).write_text(found.text, encoding="utf-8")
        elif found.language == "python":
            ran(found.text)
        printed = [(line, typed(line)) for line in found.commands if found.is_run(line)]
        if found.language == "console":
            return (
                f"{block[1]}```console\n"
                + "".join(f"$ {line}\n{text}" for line, text in printed)
                + "```"
            )
        return block[0]

    with terminal(folder):
        return BLOCK.sub(_again, page)


def main() -> None:
    """Writes the pages anew."""
    for page in list(map(Path, sys.argv[1:])) or sorted(PAGES.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            text = recorded(text, Path(folder))
        page.write_text(text, encoding="utf-8")
        sys.stderr.write(f"{page.name}\n")


if __name__ == "__main__":
    main()
