"""The Python reference names every public name, and none is there without a docstring."""

import re

import pytest

import python_reference
import rankwell


def test_every_public_name_is_on_one_page_and_in_the_index():
    pages = python_reference.python_pages()
    index = pages.pop("reference/python/index.md")

    listed = [
        name
        for text in pages.values()
        for name in re.findall(r"^::: rankwell\.(\w+)$", text, re.MULTILINE)
    ]

    assert sorted([*listed, "__version__"]) == rankwell.__all__
    assert set(re.findall(r"^\| \[`(\w+)`\]", index, re.MULTILINE)) == set(listed)


def test_a_public_name_without_a_docstring_is_an_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rankwell.explain, "__doc__", None)

    with pytest.raises(SystemExit, match=r"^rankwell\.explain has no docstring"):
        python_reference.python_pages()
