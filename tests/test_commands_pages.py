"""The pages of docs/reference/commands/: examples are typed anew, and every option has a row."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

import commands_page
import typed_pages
from blocks import BLOCK, read_blocks, unread
from rankwell.cli.help import option_groups
from rankwell.compat.trec_eval import HELP
from rankwell.data.catalogue import DROP_IN, command_function, command_summaries
from rankwell.data.options import arguments_of
from rankwell.errors import MissingExtra
from regression.comparing import same_environment

ROOT = Path(__file__).parents[1]
SLOW = {"calibrate", "demos", "embeddings", "engines", "images", "judge", "keywords"}
LONG = {"demos", "images"}
"""Those that draw, resample or search for seconds, or for minutes: `make test-full` types them."""


def marked(file: Path) -> object:
    """A file as a parameter, with the marks of its length."""
    marks = [
        *([pytest.mark.slow] if file.stem in SLOW else []),
        *([pytest.mark.server] if file.stem in LONG else []),
    ]
    return pytest.param(file, id=file.stem, marks=marks)


def steady(page: str, *, has_figures: bool) -> list[str]:
    """The blocks of a page; of those that vary the words before the findings, without figures."""

    def _words(found: re.Match[str]) -> str:
        text = found[0]
        if "<!-- varies: " in found[1]:
            text = re.split(r"\n! |\nno p99", text)[0]
            text = re.sub(r"[\d.]+|─", "", re.sub(r"\bms\b", "s", text))
            return " ".join(text.split())
        return text if has_figures else re.sub(r"[\d.]+", "0", text)

    return [_words(found) for found in BLOCK.finditer(page)]


@pytest.mark.parametrize("file", [*map(marked, sorted(commands_page.EXAMPLES.glob("*.md")))])
def test_examples_print_what_the_pages_show(file: Path, tmp_path: Path):
    page = file.read_text(encoding="utf-8")
    typed_pages.prepare(file, tmp_path)

    try:
        again = typed_pages.recorded_sections(page, tmp_path)
    except ValueError as error:
        if "pip install 'rankwell[" in str(error):
            raise MissingExtra(str(error)) from error
        raise

    # The last digits of products of matrices depend on the processor.
    has_figures = same_environment()
    assert steady(again, has_figures=has_figures) == steady(page, has_figures=has_figures)


@pytest.mark.parametrize("name", [*map(" ".join, command_summaries()), DROP_IN])
def test_a_page_has_two_examples_with_output(name: str):
    page = f"docs/{commands_page.FOLDER}/{name.replace(' ', '-')}.md"

    examples = with_output((ROOT / page).read_text(encoding="utf-8"))

    # The next step after a demo is another command.
    own = "rankwell" if name.startswith("demo") else f"rankwell {name}"
    assert sum(f"{line} ".startswith(f"{own} ") for line in examples) >= 2, examples


def with_output(page: str) -> list[str]:
    """The commands of a page that are run, and below which stands what they print, or what a script
    prints that reads the file they write.
    """
    found, script, writer = list[str](), False, ""
    for block in read_blocks(page):
        if block.language == "console" and block.is_run():
            found += re.findall(r"^\$ (.+)\n(?!\$ |\Z)", block.text, re.MULTILINE)
            writer = block.commands[-1] if " > " in block.commands[-1] else ""
        elif block.language == "text" and script and writer:
            found.append(writer)
        script = block.language == "python" and writer.rpartition(" > ")[2] in block.text
    return found


def test_only_commands_with_what_they_print_are_examples_with_output():
    typed = "```console\n$ a\n$ b\n1\n$ c > d.json\n```\n\n"
    script = '```python\nprint(open("d.json"))\n```\n\n'
    printed = "```text\n2\n```\n"

    assert with_output(typed) == ["b"]
    assert with_output(f"<!-- not run: it needs a model -->\n\n{typed}") == []
    assert with_output(typed + script) == with_output(typed + printed) == ["b"]
    assert with_output(typed + script + printed) == ["b", "c > d.json"]


@pytest.mark.parametrize("name", [*map(" ".join, command_summaries()), DROP_IN])
def test_a_block_of_a_section_is_read_and_its_language_known(name: str):
    _, text = commands_page.sections()[name]

    assert not unread(text)
    assert {block.language for block in read_blocks(text) if not block.title} <= {
        *("console", "python", "sh", "text")
    }


@pytest.mark.parametrize("words", [*command_summaries()], ids=" ".join)
def test_a_page_has_a_row_and_an_anchor_for_each_option(words: tuple[str, ...]):
    page = (ROOT / "docs" / commands_page.FOLDER / f"{'-'.join(words)}.md").read_text("utf-8")

    rows = re.findall(r'^\| <a id="(.+?)"></a>\[`(-.+?)`\]\(#\1\)', page, re.MULTILINE)

    options = [
        option
        for group in option_groups(arguments_of(command_function(words))).values()
        for option in group
    ]
    assert [name for _, name in rows].count("--threads") == 0
    assert sorted(name for _, name in rows) == sorted(longest(each.words) for each in options)
    assert_ids_are_single(page, [anchor for anchor, _ in rows])


def longest(names: Iterable[str]) -> str:
    return max(names, key=len)


def test_the_drop_in_has_the_headings_of_other_commands_and_a_column_of_defaults():
    page = (ROOT / "docs" / commands_page.FOLDER / f"{DROP_IN}.md").read_text("utf-8")

    assert re.findall(r"^### (.+) \{", page, re.MULTILINE) == [
        *("Input", "Measures and rules", "Output")
    ]
    for name, default in (("measure", "official"), ("level_for_rel", "1"), ("version", "")):
        [row] = re.findall(rf'^\| <a id="{name}"></a>.*$', page, re.MULTILINE)
        assert row.endswith(f"| `{default}` |" if default else " |")
        assert "default" not in row
    assert len(re.findall(r'^\| <a id="', page, re.MULTILINE)) == HELP.read_text("utf-8").count(
        "\n  -"
    )


def assert_ids_are_single(page: str, anchors: list[str]) -> None:
    """Checks that no heading takes the anchor of an option."""
    headings = [
        name or title.lower().replace(" ", "-")
        for title, name in re.findall(
            r"^#{1,6} (.+?)(?: \{ #([\w-]+) \})?$",
            re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL),
            re.MULTILINE,
        )
    ]
    ids = [*headings, *anchors]
    assert len(ids) == len({*ids})


def test_a_section_begins_with_the_files_of_the_opening_alone(tmp_path: Path):
    write = "```python\nopen('{}', 'w').close()\n```\n\n"
    listed = "```python\nimport os\n\nprint(os.listdir())\n```\n\n```text\n{}```\n"
    page = f"{write.format('a')}## One\n\n{write.format('b')}## Two\n\n{listed}"

    again = typed_pages.recorded_sections(page.format(""), tmp_path)

    assert again == page.format("['a']\n")


def test_times_may_vary_and_words_may_not():
    block = "<!-- varies: times -->\n\n```console\n$ rankwell\np50 (ms)  {}\n{}\n! busy\n```"
    page = block.format("0.71", "quick")

    assert steady(page, has_figures=True) == steady(block.format("12.3", "quick"), has_figures=True)
    assert steady(page, has_figures=True) != steady(block.format("0.71", "slow"), has_figures=True)


def test_a_command_without_a_section_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(commands_page, "EXAMPLES", tmp_path)

    with pytest.raises(SystemExit, match=r"the section `## rankwell bench`"):
        commands_page.command_pages("")
