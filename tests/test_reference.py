"""The reference has every public name, measure and convention, and none without its texts."""

import builtins
import collections.abc
import inspect
import re
import typing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import measures_page
import public_stub
import python_reference
import rankwell
import typed_pages
from conventions_page import conventions_page
from rankwell.data.registry import FIGURES, MEASURES

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

    hidden = python_reference.internal(getattr(rankwell, name))
    assert re.findall(r'^<a id="(\w+)"', page, re.MULTILINE) == [
        each for each in parameters if each not in hidden
    ]
    headings = re.findall(r"^## (.+)$", page, re.MULTILINE)
    assert [each for each in headings if each not in ("Notes", "References")] == [
        *("Parameters", "Returns", "Raises", "Examples", "See also")
    ]
    assert not re.search(r"= ?\.\.\.|default `\.\.\.`|Literal\[|\bNone\[|:   \n", page)


@pytest.mark.parametrize("name", [*FUNCTIONS, *CLASSES])
def test_every_parameter_of_a_page_has_a_type_in_its_signature_and_in_its_text(name: str):
    page = page_of(name)

    signatures = "".join(re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL))
    untyped = re.findall(r"^    (?!\*,$)(\*{0,2}\w+(?:=.*)?,)$", signatures, re.MULTILINE)
    assert untyped == []
    described = re.findall(r'^<a id="([\w.]+)" .*</a>(?!: \[?`[^`]+`)', page, re.MULTILINE)
    assert described == []


@pytest.mark.parametrize("page", [page for page in PAGES if page.endswith(".md")])
def test_no_id_is_twice_on_a_page(page: str):
    headings = re.findall(r"^#+ (.+)$", PAGES[page], re.MULTILINE)
    ids = [heading.lower().replace(" ", "-") for heading in headings]
    ids += re.findall(r'<a id="([^"]+)"', PAGES[page])

    assert sorted(ids) == sorted({*ids})


def test_an_input_shows_every_kind_that_it_takes_as_help_and_the_stub_do():
    kinds = "str | Path | Sequence | Mapping | DataFrame | Judgments"

    assert f"    judgments: {kinds},\n" in page_of("evaluate")
    linked = kinds.replace(" Judgments", "` [`Judgments`](Judgments.md)")
    assert f"<code>judgments</code></a>: `{linked}\n" in page_of("evaluate")
    typed = re.sub("(Sequence|Mapping)", r"\1[Any]", kinds).replace(
        "Mapping[Any]", "Mapping[Any, Any]"
    )
    assert f"\n    judgments: {typed},\n" in public_stub.PUBLIC.read_text("utf-8")
    assert f"\njudgments: {typed}\n" in inspect.getdoc(rankwell.evaluate)


def test_a_type_within_another_is_a_link():
    kind = "`Sequence[`[`Values`](Values.md)`]`"

    assert f"<code>values</code></a>: {kind}\n" in page_of("compare_values")
    options = "[`ComparisonOptions`](options.md#comparisonoptions) `| None`"
    assert f"<code>options</code></a>: {options}, default `None`\n" in page_of("compare_values")


STANDARD = {*dir(builtins), *dir(typing), *dir(collections.abc), *dir(np), "Path"}
"""Names that a program has from elsewhere."""


def _types(function: Any) -> dict[str, set[str]]:
    """The names of the types of each parameter that a page shows."""
    hidden = python_reference.internal(function)
    typed, _ = public_stub.Stub(rankwell.__all__).typed(function)
    return {
        each.name: {*re.findall(r"[A-Za-z]\w*", re.sub('"[^"]*"', "", each.type))}
        for each in typed
        if each.name not in hidden
    }


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_type_of_a_parameter_is_one_that_a_program_can_name(name: str):
    known = {*STANDARD, *rankwell.__all__, "DataFrame", "Array"}
    unknown = {
        parameter: names - known
        for parameter, names in _types(getattr(rankwell, name)).items()
        if names - known
    }

    assert unknown == {}


def test_the_options_of_every_method_are_public():
    kinds = {
        name: _types(function)["options"] - STANDARD - {*rankwell.__all__}
        for owner in CLASSES
        for name, function in inspect.getmembers(getattr(rankwell, owner), inspect.isfunction)
        if name[0] != "_" and "options" in inspect.signature(function).parameters
    }

    assert kinds.keys() >= {"compare", "gate", "to_html"}
    assert {name: some for name, some in kinds.items() if some} == {}


def test_the_fields_of_options_are_links_to_the_parameters_of_functions_and_methods():
    page = PAGES[f"{FOLDER}options.md"]
    targets = re.findall(r"\]\((\w+\.md)#([\w.]+)\)", page)

    assert {"evaluate.md", "Results.md", "BenchResults.md"} <= {page for page, _ in targets}
    for target, anchor in targets:
        text = PAGES[FOLDER + target]
        assert f'<a id="{anchor}" ' in text or f"### {anchor}\n" in text, (target, anchor)
    for name in rankwell._homes():
        if python_reference.place(name).startswith("options.md"):
            section = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
            assert "\nFields, as keywords of [" in section, name


def test_what_a_function_returns_has_methods_as_they_are_called_and_attributes_as_they_are_read():
    members = {
        name: re.findall(r"^\| `(.+?)` \|", page_of(name), re.MULTILINE)
        for name in ("knn", "check", "ranking_pairs", "group_rankings")
    }

    assert {"ranking()", "positions"} <= {*members["knn"]}
    assert {"errors", "text(format=…)"} <= {*members["check"]}
    assert {"prefixes(k, ties=…)", "shared(k)"} <= {*members["ranking_pairs"]}
    # What makes another object from others is no part of this one.
    assert not {"join", "from_top_k"} & {
        each.partition("(")[0] for names in members.values() for each in names
    }


def test_a_method_that_only_refuses_is_not_shown():
    assert "ComparisonResults.compare(" not in page_of("ComparisonResults")
    assert "## Methods" not in page_of("ComparisonResults")
    assert "\nResults.compare(\n" in page_of("Results")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_field_of_a_returned_object_has_a_meaning_of_its_own(name: str):
    returned = page_of(name).partition("## Returns")[2].partition("\n## ")[0]
    meanings = re.findall(r"^\| `.+?` \| (.+) \|$", returned, re.MULTILINE)

    assert sorted(meanings) == sorted({*meanings})


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


@pytest.mark.parametrize(
    ("details", "problem"),
    [
        ("", "p50: its documentation needs a full name and a formula"),
        ("A name, for a purpose:\n\nOne.\n\n>>> 1\n1", "p50: .* a full name and a formula"),
        (
            "A name, for a purpose:\n\n    p50 = 1\n\nMore.",
            "p50: its documentation needs a worked example",
        ),
    ],
)
def test_a_figure_without_formula_or_example_is_an_error(details: str, problem: str):
    with pytest.raises(SystemExit, match=problem):
        measures_page.text_of(FIGURES["p50"]._replace(details=details))


def test_a_figure_has_the_words_of_other_tools_and_what_it_has_a_value_for():
    page = measures_page.measure_pages()["reference/measures/engines.md"]
    sections = dict(re.findall(r"^## [^\n]*\{ #(\S+) \}\n(.*?)(?=^## |\Z)", page, re.M | re.S))

    assert "| `qps` | ann-benchmarks, VectorDBBench |" in sections["throughput"]
    assert "in other tools" not in sections["p50"]
    assert "**Values**: one for each query, lower is better." in sections["latency"]
    assert "**Values**: one for a whole collection, lower is better." in sections["p50"]


def test_a_table_of_other_names_says_which_tool_has_each():
    for name, page in measures_page.measure_pages().items():
        tables = re.findall(r"^\| name \| in \|.*\n\|-.*\n((?:\|.*\n)+)", page, re.MULTILINE)
        cells = [row.split(" | ") for table in tables for row in table.splitlines()]
        assert [row for row in cells if not row[1].strip(" |")] == [], name
    assert (
        "\nAlso understood: `rank_biased_overlap`, `rbo50` (`RBO("
        in (measures_page.measure_pages()["reference/measures/agreement.md"])
    )


def test_a_listed_name_of_a_tool_is_of_a_measure_of_its_page():
    pages = measures_page.measure_pages()
    for name, family in measures_page.FAMILIES.items():
        for place, tools in family.get("names", {}).items():
            section = pages[f"reference/measures/{name}.md"].partition(f"{{ #{place} }}")[2]
            for tool, word in tools.items():
                assert f"| `{word}` | {tool} |" in section.partition("\n## ")[0], (place, tool)


def test_a_measure_says_what_stands_for_a_run_in_words():
    page = measures_page.measure_pages()["reference/measures/reciprocal-rank.md"]

    said = re.findall(r"^\* \*\*Over queries\*\*: (.*)\.$", page, re.MULTILINE)

    assert said == [
        *("the median", "the median, rounded down"),
        "the median, or the lower of two middle values",
    ]


def test_the_index_of_measures_has_a_table_for_each_family():
    page = measures_page.measure_pages()["reference/measures/index.md"]

    for name, family in measures_page.FAMILIES.items():
        assert f"\n### [{family['title']}]({name}.md)\n" in page
    assert "| [`Success`](precision-and-recall.md#success) | Hit rate |" in page
    assert not re.search(r"^\|.*\|  \|", page, re.MULTILINE)


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


def test_a_convention_shows_its_lists_whole_and_links_to_those_of_the_default():
    page = conventions_page()
    section = page.partition("{ #piaf }")[2].partition("\n### ")[0]

    assert "… (" not in page
    assert "<details><summary>14 words</summary>`reader_top1_accuracy`, `reader_top1_acc" in section
    assert "| `refusals` of qa | [43 words](#rankwell-qa) | none |" in section
    assert "{ #rankwell-qa }" in page


def test_the_command_above_the_table_of_measures_runs(tmp_path: Path):
    (tmp_path / "qrels.txt").write_text("q1 0 d1 2\nq2 0 d2 1\n", encoding="utf-8")
    (tmp_path / "run.txt").write_text("q1 Q0 d1 1 2.0 x\nq2 Q0 d3 1 1.0 x\n", encoding="utf-8")

    page = measures_page.measure_pages()["reference/measures/index.md"]

    assert "\n```sh\nrankwell evaluate " in page
    assert typed_pages.recorded(page, tmp_path) == page
