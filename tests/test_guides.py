"""The guides and explanations as a reader types them: every block of code runs, and prints what
stands under it.
"""

import contextlib
import io
import re
import shlex
import shutil
from pathlib import Path

import pytest

import migration_files
from rankwell import cli

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGES = sorted([*(DOCS / "guides").glob("*.md"), *(DOCS / "explanation").glob("*.md")])
BLOCK = re.compile(r"^(<!-- theirs -->\n+)?```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="session")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("guides")
    migration_files.write(folder)
    return folder


def typed(line: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    """The exit code and output of a command line of rankwell."""
    out = io.StringIO()
    monkeypatch.setattr("sys.argv", shlex.split(re.sub(r" > \S+$", "", line), comments=True))
    with contextlib.redirect_stdout(out):
        code = cli.main()
    return code, out.getvalue()


def comparable(text: str) -> list[str]:
    """Its lines without the version and blanks at their ends."""
    return [line.rstrip() for line in re.sub(r"version=\S+", "version", text).splitlines()]


def run_console(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Types the lines at a prompt; lines below one are its output, and those below `echo $?` its
    exit code.
    """
    code = 0
    for command, shown in re.findall(
        r"^\$ (.*(?:\\\n.*)*)\n((?:(?!\$ ).*\n)*)", text, re.MULTILINE
    ):
        if command == "echo $?":
            assert shown.strip() == str(code), text
            code = 0
            continue
        assert code == 0, text
        code, printed = typed(command.replace("\\\n", " "), monkeypatch)
        if shown:
            assert comparable(printed) == comparable(shown)
    assert code == 0, text


def run_workflow(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs rankwell's commands of a job."""
    lines = [
        line.strip().removeprefix("- ").removeprefix("run: ").strip() for line in text.splitlines()
    ]
    commands = [line for line in lines if line.startswith("rankwell ")]
    assert commands
    for line in commands:
        words, _, target = line.partition(" >> ")
        code, printed = typed(words, monkeypatch)
        assert code == 0, (line, printed)
        assert bool(printed) or not target


def run_python(text: str, name: str, room: dict[str, object]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(text, name, "exec"), room)
    return out.getvalue()


@pytest.mark.parametrize("page", PAGES, ids=[f"{path.parent.name}/{path.stem}" for path in PAGES])
def test_every_block_of_a_page_runs_and_prints_what_stands_under_it(
    page: Path, drawn: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "typed"
    shutil.copytree(drawn, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "110")
    printed: str | None = None
    room: dict[str, object] = {"__name__": "page"}

    for theirs, language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if theirs:
            printed = None
        elif language == "python":
            printed = run_python(text, page.name, room)
        elif language == "console":
            run_console(text, monkeypatch)
            printed = None
        elif language == "text":
            assert printed is not None, f"output of nothing: {text}"
            assert printed == text
        elif language == "yaml":
            run_workflow(text, monkeypatch)
        elif language in ("toml", "json"):
            first, _, rest = text.partition("\n")
            Path(first.lstrip("# ").strip()).write_text(
                text if language == "toml" else rest, encoding="utf-8"
            )
        elif language == "latex":
            assert (
                text in printed
                if printed
                else Path("table.tex").read_text(encoding="utf-8") == text
            )
        else:
            pytest.fail(f"a block of {language} is not run: {text}")


def test_every_page_has_one_title():
    assert len(PAGES) >= 10
    for page in PAGES:
        text = re.sub(
            r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
        )
        assert text.startswith("# ")
        assert len(re.findall(r"^# ", text, re.MULTILINE)) == 1, page
