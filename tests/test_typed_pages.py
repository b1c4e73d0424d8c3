"""The pages as a reader follows them: files are written, commands typed, scripts run, and pages
show what is printed.
"""

import re
from pathlib import Path

import pytest

import typed_pages
from blocks import read_blocks, unread
from regression.comparing import same_environment

DAILY = {"tutorials/question-answering.md", "tutorials/cluster.md"}
LONG = {"tutorials/instance-search.md", "tutorials/agreement.md", "guide/compare.md"}
"""Those that resample or draw for seconds: `make test-full` types them."""
PAGES = [page.relative_to(typed_pages.DOCS).as_posix() for page in typed_pages.pages()]


def marked(name: str) -> object:
    """A page as a parameter, with the marks of its length."""
    marks = (
        [] if name in DAILY else [pytest.mark.slow, *([pytest.mark.server] if name in LONG else [])]
    )
    return pytest.param(name, marks=marks)


@pytest.mark.parametrize("name", list(map(marked, PAGES)))
def test_commands_print_what_the_page_shows(name: str, tmp_path: Path):
    page = (typed_pages.DOCS / name).read_text(encoding="utf-8")
    typed_pages.prepare(typed_pages.DOCS / name, tmp_path)

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
def test_no_other_block_goes_untyped(name: str):
    page = (typed_pages.DOCS / name).read_text(encoding="utf-8")

    found = read_blocks(page)

    assert not unread(page)
    assert {block.language for block in found if not block.title} <= {
        "python",
        "console",
        "sh",
        "text",
    }
