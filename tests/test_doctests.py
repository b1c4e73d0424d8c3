"""The examples in docstrings, of every module that has any."""

import doctest
import importlib
import re
from pathlib import Path

import pytest

import rankwell
from rankwell.data.registry import FIGURES, MEASURES

ROOT = Path(rankwell.__file__).parent
EXAMPLE = re.compile(r"^ *>>> ", re.MULTILINE)
TEXTS = {
    path.relative_to(ROOT.parent): path.read_text(encoding="utf-8")
    for path in sorted(ROOT.rglob("*.py"))
}
FILES = [path for path, text in TEXTS.items() if EXAMPLE.search(text) and "add_figure" not in text]
"""Modules with examples; those of figures, which are no docstrings, are on pages of measures."""
PAGES = "\n".join(
    path.read_text(encoding="utf-8")
    for path in sorted(Path(__file__).parents[1].glob("docs/reference/measures/*.md"))
)
KINDS = ("text", "python")
"""The blocks of a section: a formula, and a worked example."""
SECTIONS = [
    (name, *(re.findall(rf"^```{kind}\n(.*?)^```", text, re.M | re.S) for kind in KINDS))
    for name, text in re.findall(
        r"^## ([^:\n]+?)(?:: [^\n]+)? \{ #[^\n]*\n(.*?)(?=^## |^# |\Z)", PAGES, re.M | re.S
    )
]
PYTHON = [
    pytest.param(block, id=f"{path.stem}-{number}")
    for path in sorted(Path(__file__).parents[1].glob("docs/reference/python/*.md"))
    for number, block in enumerate(
        re.findall(r"^```pycon\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S), 1
    )
]
EXAMPLES = [(name, block) for name, _, blocks in SECTIONS for block in blocks]
ENTRIES = [*MEASURES, *FIGURES]
"""What has a section: without an exception."""
MODULES = [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in FILES]


PACKAGES = {"answer_rouge(": "rouge_score", "answer_bleu(": "sacrebleu"}
"""Packages of extras that examples need, by what they call."""


def need_packages(text: str) -> None:
    for called, package in PACKAGES.items():
        if f">>> {called}" in text:
            pytest.importorskip(package)


def paste(block: str) -> None:
    """Runs an example by itself, with nothing imported before."""
    need_packages(block)
    found = doctest.DocTestRunner(verbose=False).run(
        doctest.DocTestParser().get_doctest(block, {}, "page", None, None)
    )
    assert found.attempted
    assert not found.failed


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_give_what_they_show(name: str) -> None:
    module = importlib.import_module(name)
    need_packages(Path(str(module.__file__)).read_text(encoding="utf-8"))

    found = doctest.testmod(module)

    assert found.attempted
    assert not found.failed


@pytest.mark.parametrize(
    "block", [block for _, block in EXAMPLES], ids=[name for name, _ in EXAMPLES]
)
def test_an_example_of_the_pages_of_measures_runs_when_pasted(block: str) -> None:
    paste(block)


@pytest.mark.parametrize("block", PYTHON)
def test_an_example_of_the_python_reference_runs_when_pasted(block: str) -> None:
    paste(block)


@pytest.mark.parametrize("name", sorted(set(ENTRIES)))
def test_a_measure_has_its_formula_and_an_example_with_its_outcome(name: str) -> None:
    sections = [blocks for heading, *blocks in SECTIONS if heading == name]

    assert len(sections) == ENTRIES.count(name)
    for formulas, examples in sections:
        assert [bool(formula.strip()) for formula in formulas] == [True]
        assert [bool(re.search(r"^(?!>>>|\.\.\.)\S", block, re.M)) for block in examples] == [True]


def test_the_pages_of_measures_have_entries_with_a_section_alone() -> None:
    assert sorted(name for name, *_ in SECTIONS) == sorted(ENTRIES)
