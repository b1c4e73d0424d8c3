"""The Python reference: every public name has its page, and a page says all that a caller needs."""

import inspect
import re
from pathlib import Path

import pytest

import python_reference
import rankwell

DOCS = Path(__file__).resolve().parent.parent / "docs"
FOLDER = "reference/python/"
PAGES = python_reference.python_pages()
FUNCTIONS = [name for name in rankwell._homes() if inspect.isfunction(getattr(rankwell, name))]
CLASSES = [
    name
    for name in rankwell._homes()
    if name not in FUNCTIONS and python_reference.place(name).startswith(name)
]


def page_of(name: str) -> str:
    return PAGES[FOLDER + python_reference.place(name)]


def test_every_public_name_has_a_page_or_a_place_on_one_and_no_page_is_left_over():
    for name in rankwell._homes():
        page, _, anchor = python_reference.place(name).partition("#")
        heading = f"## {name}" if anchor else f"# rw.{name}"
        assert heading in PAGES[FOLDER + page].splitlines()

    assert {*PAGES} == {
        path.relative_to(DOCS).as_posix() for path in (DOCS / FOLDER).iterdir() if path.is_file()
    }


def test_the_index_lists_every_function_and_class_the_ten_most_needed_first():
    listed = re.findall(r"^\| \[`(\w+)`\]", PAGES[f"{FOLDER}index.md"], re.MULTILINE)

    assert listed[:10] == python_reference.TEN
    assert sorted(listed[10:]) == sorted([*FUNCTIONS, *CLASSES])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_page_of_a_function_describes_each_parameter_and_what_comes_out(name: str):
    page, parameters = page_of(name), inspect.signature(getattr(rankwell, name)).parameters

    assert re.findall(r'^<a id="(\w+)"', page, re.MULTILINE) == list(parameters)
    headings = re.findall(r"^## (.+)$", page, re.MULTILINE)
    assert [each for each in headings if each not in ("Notes", "References")] == [
        *("Parameters", "Returns", "Raises", "Examples", "See also")
    ]
    assert not re.search(r"= ?\.\.\.|default `\.\.\.`|Literal\[|\bNone\[|:   \n", page)


@pytest.mark.parametrize("name", CLASSES)
def test_a_page_of_a_class_has_an_example_and_every_method_of_its_table(name: str):
    page = page_of(name)
    methods = re.findall(r"^\| \[`(\w+)`\]\(#\1\) \| \S", page, re.MULTILINE)

    assert "```pycon\n" in page
    assert re.findall(r"^### (\w+)$", page, re.MULTILINE) == methods


def test_the_defaults_are_those_of_the_function():
    page = page_of("evaluate")

    assert '    intervals: "bootstrap-t" | "bootstrap" | "t" | "none" = "bootstrap-t",\n' in page
    assert "<code>seed</code></a>: `int`, default `0`\n" in page


def test_a_public_name_without_a_docstring_is_an_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rankwell.explain, "__doc__", None)

    with pytest.raises(SystemExit, match=r"^rankwell\.explain has no docstring"):
        python_reference.python_pages()


def test_a_public_name_without_a_group_is_an_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(rankwell._homes(), "explain", "rankwell.elsewhere")

    with pytest.raises(SystemExit, match=r"add rankwell\.elsewhere to GROUPS"):
        python_reference.python_pages()
