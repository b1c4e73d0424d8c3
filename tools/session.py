"""Types the commands of docs/session.md in a terminal of 80 columns: python tools/session.py

Writes the output of each command of a `console` block below it; those of `sh` blocks run before
(`pip` does not), unrecorded.
"""

import os
import pty
import re
import shlex
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "session.md"
WIDTH = 80
_BLOCK = re.compile(r"^```(sh|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def recorded(page: str, folder: Path) -> str:
    """The page with what its commands print today, typed one after the other in a folder."""

    def _again(block: re.Match[str]) -> str:
        kind, text = block.groups()
        lines = [
            line.removeprefix("$ ")
            for line in text.splitlines()
            if kind == "sh" or line.startswith("$ ")
        ]
        printed = [
            f"$ {line}\n{typed(line, folder)}" for line in lines if not line.startswith("pip ")
        ]
        return block[0] if kind == "sh" else f"```console\n{''.join(printed)}```"

    return _BLOCK.sub(_again, page)


def typed(line: str, folder: Path) -> str:
    """The output of a command line on a terminal without colours."""
    here, there = pty.openpty()
    termios.tcsetwinsize(there, (40, WIDTH))
    words = shlex.split(line)
    environment = {
        name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")
    }
    environment |= {"TERM": "dumb", "NO_COLOR": "1", "PYTHONPATH": str(ROOT / "src")}
    process = subprocess.Popen(
        [sys.executable, "-m", *words],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=there,
        stderr=there,
    )
    os.close(there)
    printed = b""
    try:
        while data := os.read(here, 65536):
            printed += data
    except OSError:  # Linux reports the end of a terminal as an error.
        pass
    os.close(here)
    if code := process.wait():
        raise SystemExit(f"{line}: exit code {code}\n{printed.decode()}")
    return _ESCAPE.sub("", printed.decode().replace("\r\n", "\n"))


def main() -> None:
    """Writes the page anew."""
    with tempfile.TemporaryDirectory() as folder:
        text = recorded(PAGE.read_text(encoding="utf-8"), Path(folder))
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
