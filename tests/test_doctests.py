"""The examples in docstrings, of every module that has any."""

import doctest
import importlib
from pathlib import Path

import pytest

import rankwell

ROOT = Path(rankwell.__file__).parent
FILES = [path.relative_to(ROOT.parent) for path in sorted(ROOT.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]
MODULES = [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in FILES]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_give_what_they_show(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))

    assert found.attempted
    assert not found.failed
