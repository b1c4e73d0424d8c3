"""The figures in the text of README and of the comparison are what they are today; their blocks are
typed in test_typed_pages.py.
"""

import re
import shlex
from pathlib import Path

import pytest

from rankwell.cli.command_line import find_command
from rankwell.data.catalogue import DROP_IN
from rankwell.data.tables import TIE_RULES
from rankwell.vectors.media.python_docs import read_needs

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMPARISON = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
NUMBERS = {"five": 5, "six": 6, "seven": 7}


def times_as_fast() -> int:
    """The first figure of trec_eval in the table of speeds, to the nearest ten."""
    row = next(line for line in COMPARISON.splitlines() if line.startswith("| 6.98 million lines"))
    return round(float(row.split("|")[4].strip(" ×")), -1)


SHOWN = {
    r"search engines on (\d+) hand-judged questions": lambda: len(read_needs()),
    r"about (\d+) times as fast as trec_eval": times_as_fast,
    r"\| stated, (\w+) to choose from": lambda: len(TIE_RULES),
}
"""Figures of the text by the words around them, with what they are today."""


@pytest.mark.parametrize("words", SHOWN)
def test_a_figure_of_the_text_is_what_it_is_today(words: str):
    found = re.search(words, README + COMPARISON)

    assert found is not None
    assert (NUMBERS.get(found[1]) or int(found[1])) == SHOWN[words]()


def test_the_sentence_of_the_readme_is_that_of_the_guide():
    guide = (ROOT / "docs" / "guide" / "compare.md").read_text(encoding="utf-8")

    [sentence] = re.findall(r"one sentence: \*(.*?)\*", README, re.DOTALL)

    assert f"\n{' '.join(sentence.split())}\n" in guide


def test_no_other_figure_stands_in_the_text():
    text = re.sub(r"^```\w+\n.*?^```", "", README, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"one sentence: \*.*?\*|`[^`]*`|Python 3\.11", "", text, flags=re.DOTALL)

    assert re.findall(r"\d+\.\d+", text) == []


def test_the_readme_names_commands_that_there_are():
    for words in (shlex.split(text) for text in re.findall(r"`rankwell ([a-z][^`]*)`", README)):
        assert words[0] == DROP_IN or find_command(words), words


def test_the_readme_is_short_and_its_pictures_are_small():
    assert README.count("\n") <= 90
    for picture in (ROOT / "docs" / "pictures").iterdir():
        assert picture.stat().st_size < 100_000, picture.name
