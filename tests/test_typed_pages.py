"""The pages as a reader follows them: files are written, commands typed, scripts run, and pages
show what is printed.
"""

import re
import shlex
from pathlib import Path

import pytest

import typed_pages
from blocks import read_blocks, unread
from rankwell.cli.command_line import find_command
from rankwell.data.catalogue import DROP_IN, command_function
from rankwell.data.options import bind
from rankwell.errors import BadUsage
from regression.comparing import same_environment

DAILY = {"README.md", "docs/faq.md", "docs/guide/question-answering.md", "docs/guide/clusters.md"}
LONG = {"docs/guide/images.md", "docs/guide/embeddings.md"}
"""Those that resample or draw for seconds: `make test-full` types them."""
LANGUAGES = {"python", "console", "sh", "text", "yaml"}
GENERATED = tuple(
    f"docs/reference/{name}" for name in ("commands/", "measures/", "formats.md", "conventions.md")
)
"""Pages whose examples other tests run."""
PAGES = [page.relative_to(typed_pages.ROOT).as_posix() for page in typed_pages.pages()]


def marked(name: str) -> object:
    """A page as a parameter, with the marks of its length."""
    marks = (
        [] if name in DAILY else [pytest.mark.slow, *([pytest.mark.server] if name in LONG else [])]
    )
    return pytest.param(name, marks=marks)


@pytest.mark.parametrize("name", list(map(marked, PAGES)))
def test_commands_print_what_the_page_shows(name: str, tmp_path: Path):
    page = (typed_pages.ROOT / name).read_text(encoding="utf-8")
    typed_pages.prepare(typed_pages.ROOT / name, tmp_path)

    again = typed_pages.recorded(page, tmp_path)

    # The last digits of products of matrices depend on the processor: elsewhere the lines are
    # compared without figures.
    kept = str if same_environment() else lambda text: re.sub(r"[\d.]+", "0", text)
    assert kept(again) == kept(page)


def test_a_command_that_fails_and_a_figure_that_differs_are_reported(tmp_path: Path):
    with pytest.raises(ValueError, match=r"rankwell explain nDGC: exit code 2"):
        typed_pages.recorded("```console\n$ rankwell explain nDGC\n```\n", tmp_path)
    with pytest.raises(ValueError, match=r"rankwell explain nDGC"):
        typed_pages.recorded("```sh\nrankwell explain nDGC\n```\n", tmp_path)
    with pytest.raises(ValueError, match=r"rankwell explain nDGC"):
        typed_pages.recorded("```yaml\n  - run: rankwell explain nDGC\n```\n", tmp_path)
    with pytest.raises(ValueError, match=r"printed '3\\n'; the page shows \['4'\]"):
        typed_pages.recorded("```python\nprint(1 + 2)  # 4\n```\n", tmp_path)


def test_the_output_of_a_script_stands_below_it(tmp_path: Path):
    script, unrelated = "```python\nprint(1 + 2)\n```\n\n", "\n\nAn example:\n\n```text\nq1 d1\n```"

    again = typed_pages.recorded(f"{script}```text\n4\n```{unrelated}", tmp_path)

    assert again == f"{script}```text\n3\n```{unrelated}"


@pytest.mark.parametrize("name", PAGES)
def test_every_block_runs_or_has_a_reason(name: str):
    page = (typed_pages.ROOT / name).read_text(encoding="utf-8")

    assert not unread(page), "a block is indented or open"
    for block in read_blocks(page):
        where = f"{name}:{block.line}"
        assert block.language in LANGUAGES or block.title or not block.is_run(), where
        for words in block.reasons:
            assert words in block.text, f"{where}: no line has {words!r}"
        assert (typed_pages.ROOT / block.elsewhere).exists(), where
        for command in block.commands:
            if command.startswith("rankwell ") and not block.is_run(command):
                check_options(command)


def check_options(command: str) -> None:
    """Refuses a command line whose command or options there are not, also where it cannot run."""
    words = shlex.split(command.partition(" > ")[0], comments=True)[1:]
    if words[0].startswith("-") or words[0] in (DROP_IN, "help"):
        return
    name = find_command(words)
    for option in ("--quiet", "--verbose"):
        words = [word for word in words if word != option]
    bind(command_function(name), words[len(name) :])


def test_an_option_that_there_is_not_is_refused():
    check_options("rankwell report results --open")
    with pytest.raises(BadUsage, match="--opne"):
        check_options("rankwell report results --opne")
    with pytest.raises(BadUsage, match="study"):
        check_options("rankwell study wait")


def test_every_page_with_commands_is_typed():
    others = [
        path.relative_to(typed_pages.ROOT).as_posix()
        for path in typed_pages.DOCS.rglob("*.md")
        if any(block.commands for block in read_blocks(path.read_text(encoding="utf-8")))
    ]

    assert {name for name in others if not name.startswith(GENERATED)} <= {*PAGES}
