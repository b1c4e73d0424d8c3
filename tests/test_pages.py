"""The pages of the site as a reader types them: every block runs, or a comment above it has the
reason why it cannot.
"""

import contextlib
import csv
import io
import json
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import vl_convert

import page_files
from blocks import SHELL, Block, read_blocks, unread
from rankwell import cli
from rankwell.data.catalogue import command_function, find_command
from rankwell.data.options import bind
from rankwell.errors import MissingExtra

ROOT = Path(__file__).resolve().parent.parent
ELSEWHERE = {
    "README.md": "tests/test_readme.py",
    "benchmarks/RESULTS.md": "benchmarks/everybody.py",
    "docs/commands.md": "tools/reference.py",
    "docs/comparison.md": "tests/test_readme.py",
    "docs/explanation/": "tests/test_guides.py",
    "docs/guides/": "tests/test_guides.py",
    "docs/reference/formats.md": "tests/io/test_format_examples.py",
    "docs/reference/measures/": "tests/test_doctests.py",
    "docs/session.md": "tests/test_session.py",
    "docs/tour.md": "tests/test_readme.py",
    "docs/tutorials/": "tests/test_tutorials.py",
}
"""Pages and folders whose blocks another test runs, or which are written from what has run."""
SITE = [
    path.relative_to(ROOT).as_posix()
    for path in sorted(
        [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")]
    )
    if read_blocks(path.read_text(encoding="utf-8")) or unread(path.read_text(encoding="utf-8"))
]
PAGES = [page for page in SITE if not page.startswith((*ELSEWHERE,))]


@pytest.fixture(autouse=True)
def as_imported(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Modules of a page and the search path are forgotten."""
    known = {*sys.modules}
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    for name in {*sys.modules} - known:
        if name.startswith("my_"):
            del sys.modules[name]


def words_of(command: str) -> list[str]:
    """The words of a command line, without the file that its output goes to."""
    return shlex.split(command.partition(" > ")[0], comments=True)


def without_threads(words: list[str]) -> list[str]:
    """The words without `--threads N`, which every command takes."""
    place = words.index("--threads") if "--threads" in words else len(words)
    return words[:place] + words[place + 2 :]


def checked(command: str) -> list[str]:
    """The words of a command line, whose command and options there are."""
    words = words_of(command)
    if words[:1] == ["rankwell"]:
        name = find_command(words[1:])
        bind(
            command_function(name),
            [
                word
                for word in without_threads(words[1 + len(name) :])
                if word not in ("--quiet", "--verbose")
            ],
        )
    return words


def typed(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The output of a command line; what an earlier one left in the places that it writes is
    gone.
    """
    for words, write in page_files.BEFORE.items():
        if words in command:
            write(folder)
    for old, new in page_files.STAND_INS.items():
        command = command.replace(old, new)
    words = words_of(command)
    assert words[:1] == ["rankwell"], (
        f"{command}: not a command of rankwell, and without a reason why it is not run"
    )
    for option, place in pairwise(words):
        if option in ("-o", "--work"):
            shutil.rmtree(place, ignore_errors=True)
            Path(place).unlink(missing_ok=True)
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "argv", words)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = cli.main()
    if "pip install 'rankwell[" in err.getvalue():
        raise MissingExtra(err.getvalue())
    assert code == 0, f"{command}: exit code {code}\n{err.getvalue()}"
    return out.getvalue()


def parse(block: Block) -> None:
    """Reads a block of data. Raises ValueError where it is none."""
    if block.language == "json":
        try:
            json.loads(block.text)
        except ValueError:
            [json.loads(line) for line in block.text.splitlines()]
    elif block.language == "toml":
        tomllib.loads(block.text)
    elif block.language == "csv":
        assert len({len(row) for row in csv.reader(block.text.splitlines())}) == 1
    else:
        raise ValueError(
            f"a block of {block.language or 'no language'} neither runs nor has a reason why "
            "it cannot"
        )


def run_page(page: str, text: str, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs the blocks of a page, each with the files of the page in a folder of its own."""
    blocks, room, printed = read_blocks(text), page_files.names(Path(page).stem), ""
    assert not unread(text), f"{page} has a block that is indented or open"
    for block in blocks:
        if block.title:
            (files / block.title).write_text(block.text, encoding="utf-8")
    for block in blocks:
        where = f"{page}:{block.line}"
        folder = files.parent / f"line-{block.line}"
        shutil.copytree(files, folder)
        monkeypatch.chdir(folder)
        monkeypatch.syspath_prepend(str(folder))
        if block.language in SHELL:
            lines = [
                typed(line, folder, monkeypatch)
                for line in block.commands
                if checked(line) and block.is_run(line)
            ]
            printed = "".join(lines) or printed
            is_shown = block.language == "console" and len(lines) > 0
            shown = [
                line for line in block.text.splitlines() if is_shown and not line.startswith("$ ")
            ]
        elif not block.is_run():
            continue
        elif block.language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile("\n" * block.line + block.text, page, "exec"), room)
            printed, shown = out.getvalue(), []
        elif block.language == "text":
            shown = block.text.splitlines()
        else:
            parse(block)
            continue
        missing = [
            line for line in shown if line.rstrip() not in map(str.rstrip, printed.splitlines())
        ]
        assert not missing, f"{where}: not printed: {missing}\n{printed}"


@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_a_page_runs_and_prints_what_it_shows(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(vl_convert, "vegalite_to_png", lambda *_, **__: b"")
    monkeypatch.setattr(vl_convert, "vegalite_to_svg", lambda *_, **__: "<svg/>")
    files = tmp_path / "files"
    files.mkdir()
    if write := page_files.FILES.get(Path(page).stem):
        write(files)

    run_page(page, (ROOT / page).read_text(encoding="utf-8"), files, monkeypatch)


@pytest.mark.parametrize("page", SITE)
def test_a_reason_is_about_words_of_its_block_and_the_test_that_it_names_is_there(page: str):
    for block in read_blocks((ROOT / page).read_text(encoding="utf-8")):
        for words in block.reasons:
            assert words in block.text, f"{page}:{block.line}: no line has {words!r}"
        assert (ROOT / block.elsewhere).exists(), (
            f"{page}:{block.line}: there is no {block.elsewhere}"
        )


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("```sh\nkubectl apply\n```", "kubectl"),
        ("```sh\nrankwell explain nDGC\n```", "exit code 2"),
        (
            '<!-- not run "wait": it waits -->\n```sh\nrankwell study wait\n```',
            "no command 'study'",
        ),
        ("```perl\nprint 1\n```", "a block of perl neither runs nor has a reason"),
        ("```\nprint 1\n```", "a block of no language neither runs"),
        ("```python\nprint(2)\n```\n\n```text\n1\n```", "not printed"),
        ("* item\n\n  ```sh\n  rankwell\n  ```", "indented or open"),
    ],
)
def test_a_new_block_that_neither_runs_nor_has_a_reason_fails(
    block: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "files").mkdir()

    with pytest.raises(Exception, match=re.escape(reason)):
        run_page("planted.md", f"# A\n\n{block}\n", tmp_path / "files", monkeypatch)


def test_every_other_page_names_what_runs_its_blocks():
    for page, place in ELSEWHERE.items():
        assert (ROOT / page).exists(), page
        assert Path(page).stem in (ROOT / place).read_text(encoding="utf-8"), (page, place)
