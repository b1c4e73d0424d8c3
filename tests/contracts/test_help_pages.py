"""Pages of help: their length, their groups, and that what they show is true."""

import io
import re
import shlex

import pytest
from rich.console import Console

from rankwell.cli import with_lists
from rankwell.cli.command_line import find_command
from rankwell.cli.help import COMMANDS, page
from rankwell.data.catalogue import DROP_IN, Words, command_function, command_summaries, subcommands
from rankwell.data.options import arguments_of, bind, texts_of
from rankwell.vectors.encoders import IMAGE_ENCODERS

ALL = list(command_summaries())
HIDDEN = {"worker", "completion"}


def shown(words: Words, *, is_short: bool = False) -> list[str]:
    """The lines of a page at 80 columns."""
    stream = io.StringIO()
    Console(file=stream, width=80, color_system=None).print(page(words, 80, is_short=is_short))
    return [line.rstrip() for line in stream.getvalue().splitlines()]


def test_the_page_of_the_program_fits_one_screen():
    lines = shown(())
    names = [name for group in COMMANDS.values() for name in group]

    assert len(lines) <= 45
    assert len(names) <= 26
    assert [line.split()[0] for line in lines if re.match(r"  [a-z]+ {2,}", line)] == names
    assert sum(line.startswith("  rankwell ") for line in lines) == 3


def test_every_command_is_listed_once_or_hidden():
    listed = [name for group in COMMANDS.values() for name in group]
    assert sorted([*listed, *HIDDEN]) == sorted({words[0] for words in ALL})
    assert DROP_IN not in listed


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_the_line_of_a_command_is_short(words: Words):
    assert len(command_summaries()[words]) <= 62


@pytest.mark.parametrize("word", ["encode", "images"])
def test_the_help_names_every_family_of_image_encoders(word: str):
    _, texts = texts_of(command_function((word,)))

    named = {*re.findall(r"[a-z][a-z0-9-]+", texts["encoder"])}

    # A callable is named as ./FILE.py:OBJECT.
    assert {*IMAGE_ENCODERS} - named == {"callable"}


@pytest.mark.parametrize("word", sorted({words[0] for words in ALL}))
def test_the_first_word_lists_its_second_words(word: str):
    lines = "\n".join(shown((word,)))
    for second, summary in subcommands(word).items():
        assert re.search(rf"^  {second[0]} +{re.escape(summary.removesuffix('.'))}", lines, re.M)


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_h_is_short_and_has_what_is_required_or_has_a_letter(words: Words):
    lines = shown(words, is_short=True)

    assert len(lines) <= 40
    assert lines[-1] == f"All options: rankwell {' '.join(words)} --help"
    for argument in arguments_of(command_function(words)):
        if any(len(flag) == 2 for flag in argument.flags):
            assert any(line.startswith(f"  {argument.flags[0]}") for line in lines)


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_no_page_shows_a_default_as_python_writes_it(words: Words):
    text = " ".join(" ".join(shown(words)).split())
    assert not re.search(r"\[default: ?(\(|\[|True|False|None|\])", text)
    assert text.count("[default: ") >= text.count("[default:")


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_the_examples_of_a_page_can_be_typed(words: Words):
    lines = shown(words)
    at = lines.index("Examples") if "Examples" in lines else len(lines)
    examples = [line for line in lines[at:] if line.startswith("  rankwell ")]

    assert examples or words == ("completion",)
    for line in examples:
        typed = shlex.split(line)[1:]
        if ">" in typed:
            typed = typed[: typed.index(">")]
        found = find_command(typed)
        function = command_function(found)
        bind(function, with_lists(function, typed[len(found) :]))


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_options_stand_under_the_headings_of_the_design(words: Words):
    titles = {"Commands", "Arguments", "Examples", "Input", "Output", "Scaling", "Statistics"}
    titles |= {"Measures and rules", "Method"}
    lines = shown(words)
    headings = [
        line
        for before, line, after in zip(lines, lines[1:], lines[2:], strict=False)
        if not before and line and after.startswith("  ") and not line.startswith(" ")
    ]
    assert {*headings} - {lines[2]} <= titles
