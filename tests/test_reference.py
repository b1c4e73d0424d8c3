"""The reference has every public name, measure and convention, and none without its texts."""

import re
from pathlib import Path

import pytest

import measures_page
import page_files
import python_reference
import rankwell
from conventions_page import conventions_page
from rankwell.data.registry import MEASURES
from test_pages import run_page


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


def _without_formula() -> None:
    """A sentence.

    >>> 1
    1
    """


def _without_parameter() -> None:
    """A sentence.

    A name, for a purpose:

        RR = 1

    rel: explained.

    >>> 1
    1
    """


@pytest.mark.parametrize(
    ("name", "function", "problem"),
    [
        ("RR", _without_formula, "RR: its documentation needs a full name and a formula"),
        ("RR", _without_parameter, "RR: its documentation does not explain 'judged_only'"),
    ],
)
def test_a_measure_without_formula_or_with_an_unexplained_parameter_is_an_error(
    name, function, problem
):
    with pytest.raises(SystemExit, match=problem):
        measures_page.text_of(MEASURES[name]._replace(function=function))


def test_a_file_of_measures_without_a_family_is_an_error(monkeypatch: pytest.MonkeyPatch):
    families = {
        name: {**family, "modules": [each for each in family["modules"] if each != "gain"]}
        for name, family in measures_page.FAMILIES.items()
    }
    monkeypatch.setattr(measures_page, "FAMILIES", families)

    with pytest.raises(SystemExit, match="no family has the module 'gain'"):
        measures_page.measure_pages()


def test_a_measure_is_found_by_the_words_that_people_search_for():
    pages = "\n".join(measures_page.measure_pages().values())
    headings = "\n".join(re.findall("^## .*", pages, re.MULTILINE)).lower()

    for words in (
        "normalized discounted cumulative gain",
        "mean reciprocal rank",
        "mean average precision",
        "hit rate",
        "precision at k",
        "recall at k",
        "rank-biased overlap",
        "exact match",
    ):
        assert words in headings


def test_a_convention_lists_everything_that_differs_from_the_default():
    section = conventions_page().partition("\n### beir ")[2].partition("\n### ")[0]

    rows = re.findall(r"^\| (.+?) \| (.+) \| (.+) \|$", section, re.MULTILINE)

    assert rows == [
        ("setting or word", "default", "beir"),
        (
            "measures",
            "`nDCG@10`, `AP`, `RR`, `P@10`, `R@100`, `Judged@10`",
            "`NDCG@10`, `MAP@100`, `Recall@100`, `P@10`, `MRR@10`",
        ),
        ("`single-precision`", "no", "yes"),
        ("`average-over`", "`judged`", "`both`"),
        ("`exclude-self`", "no", "yes"),
        ("`Accuracy`", "`Accuracy`", "`Success`"),
    ]


def test_the_command_above_the_table_of_measures_runs(tmp_path: Path, monkeypatch):
    files = tmp_path / "files"
    files.mkdir()
    page_files.searches_as_run(files)

    page = measures_page.measure_pages()["reference/measures/index.md"]
    assert "\n```sh\nrankwell evaluate " in page
    run_page("measures.md", page, files, monkeypatch)
