"""Tables for papers: what they say, and that LaTeX sets them without an overfull box."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import rankwell as rw
from rankwell.reporting import TableStyle, render_rows
from rankwell.reporting.difference_tables import shown_differences
from rankwell.reporting.system_table import (
    SystemFigure,
    SystemTable,
    for_paper,
    render_system_tables,
)

ARTICLE = r"""\documentclass[twocolumn]{article}
\usepackage[T1]{fontenc}
\usepackage{booktabs}
\begin{document}
%s
\end{document}
"""
MEASURES = ["nDCG@10", "AP", "RR", "R@100", "P@5", "P@10", "Success@1", "Success@10", "Bpref"]


def evaluated(*names: str, measures: list[str] = MEASURES[:3]) -> rw.Results:
    """The results of runs, each better than those before it."""
    random = np.random.default_rng(5)
    qrels = {f"q{query}": {f"d{item}": 1 for item in range(3)} for query in range(40)}
    runs = {
        name: {
            query: {f"d{item}": float(random.normal(place * (item < 3), 1.5)) for item in range(20)}
            for query in qrels
        }
        for place, name in enumerate(names)
    }
    return rw.evaluate(qrels, runs, measures)


def datasets(*names: str, intervals: bool) -> str:
    """A table of three systems on data sets."""
    cells = [
        SystemFigure(
            system,
            name,
            9.5 * (place + 1),
            300,
            ci_low=5.25,
            ci_high=31.0,
            better_than=("bm25", "dense_retriever")[:place],
        )
        for place, system in enumerate(("bm25", "dense_retriever", "hybrid (ours)"))
        for name in names
    ]
    table = SystemTable("nDCG@10", "nDCG@10", cells, None, better=dict.fromkeys(names, "higher"))
    style = TableStyle(underline_second=True)
    return render_system_tables([for_paper(table, style, intervals=intervals)], "latex")


def four_measures(*names: str) -> rw.Results:
    """The results of runs by as many measures as a column has room for."""
    return evaluated(*names, measures=MEASURES[:4])


TABLES = {
    "one run": lambda: evaluated("bm25").to_latex(),
    "two runs": lambda: evaluated("first_sentences", "whole_docs").to_latex(),
    "four measures": lambda: four_measures("first_sentences", "whole_docs").to_latex(),
    "nine measures": lambda: evaluated("bm25", "dense", "hybrid", measures=MEASURES).to_latex(),
    "many measures": lambda: evaluated(
        "bm25", "dense", measures=[f"nDCG(dcg='exp-log2')@{k}" for k in range(1, 22)]
    ).to_latex(),
    "long names": lambda: evaluated(
        "sentence-transformers/msmarco-distilbert-base-dot-prod-v3_reranked_by_monot5-3b-med_msmarco",
        "b" * 90,
    ).to_latex(),
    "odd names": lambda: evaluated("50% of a_b & c#1", "$x^2$ [y] ~z").to_latex(),
    "comparison": lambda: evaluated("a", "b", "c").compare().to_latex(underline_second=True),
    "data sets": lambda: datasets("scifact", "nfcorpus", intervals=False),
    "intervals": lambda: datasets("scifact", "nfcorpus", "fiqa", "arguana", intervals=True),
    "ten data sets": lambda: datasets(*(f"beir-{place}" for place in range(10)), intervals=False),
}


@pytest.mark.parametrize("name", TABLES)
def test_latex_sets_a_table_in_two_columns_without_an_overfull_box(tmp_path: Path, name: str):
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed (Debian: texlive-latex-recommended)")
    (tmp_path / "paper.tex").write_text(ARTICLE % TABLES[name](), encoding="utf-8")

    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )

    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout


def test_a_table_has_a_caption_a_label_and_only_the_measures_asked_for():
    latex = evaluated("weak", "strong").to_latex(caption="Two & one", label="tab:two", digits=2)

    assert r"\caption{Two \& one}" in latex
    assert r"\label{tab:two}" in latex
    assert r"& system & nDCG@10 & AP & RR \\" in latex
    assert re.search(
        r"^b & strong( & \\textbf\{0\.\d\d\}\\textsuperscript\{a\}){3} \\\\$", latex, re.M
    )
    room = r"\\textsuperscript\{\\phantom\{a\}\}"
    assert re.search(rf"^a & weak( & 0\.\d\d{room}){{3}} \\\\$", latex, re.M)


@pytest.mark.parametrize(
    ("environment", "latex"),
    [
        ("table", lambda: four_measures("first_sentences", "whole_docs").to_latex()),
        ("table", lambda: four_measures("bm25", "dense", "hybrid (ours)").to_latex()),
        ("table*", lambda: four_measures("first_sentences", "b" * 40).to_latex()),
        ("table*", TABLES["nine measures"]),
    ],
)
def test_a_table_takes_one_column_where_it_fits(environment: str, latex: Callable[[], str]):
    text = latex()

    assert rf"\begin{{{environment}}}" in text
    assert rf"\end{{{environment}}}" in text


def test_columns_of_figures_are_aligned_as_figures():
    assert r"\begin{tabular}{@{}llccc@{}}" in evaluated("a", "b").to_latex()
    assert r"\begin{tabular}{@{}lccc@{}}" in evaluated("a").to_latex()
    differences = render_rows(shown_differences(evaluated("a", "b").compare().differences), "latex")
    assert r"\begin{tabular}{@{}llllrrrrrrrrr@{}}" in differences


def test_a_run_alone_is_a_row_without_marks():
    latex = evaluated("only").to_latex()

    assert re.search(r"^only( & 0\.\d{3}){3} \\\\$", latex, re.M)
    assert "textbf" not in latex
    assert "Superscripts" not in latex


def test_the_second_best_is_underlined_on_request():
    result = evaluated("low", "middle", "high")

    assert "underline" not in result.to_latex()
    latex = result.to_latex(underline_second=True)
    assert re.search(r"^b & middle( & \\underline\{0\.\d{3}\}\S*){3} \\\\$", latex, re.M)


def test_marks_are_those_of_the_comparison():
    result = evaluated("low", "middle", "high")
    comparison = result.compare()
    beaten = {
        (row["run"], row["measure"]): row["better_than"].split(", ") for row in comparison.systems
    }

    table = result.score_table()

    assert table is not None
    for cell in table.cells:
        assert list(cell.better_than) == [
            name for name in beaten[cell.system, cell.dataset] if name
        ]
    assert table.cells == comparison.score_table().cells


def test_numbers_of_different_lengths_have_their_points_below_one_another():
    latex = datasets("m", intervals=False)

    assert r"& \phantom{0}9.50\textsuperscript{\phantom{ab}} \\" in latex
    assert r"& \underline{19.00}\textsuperscript{a\phantom{b}} \\" in latex
    assert r"& \textbf{28.50}\textsuperscript{ab} \\" in latex


@pytest.mark.parametrize("digits", [-1, 16])
def test_decimals_out_of_range_are_refused(digits: int):
    with pytest.raises(rw.BadUsage, match=r"digits is .*expected a number from 0 to 15"):
        evaluated("a").to_latex(digits=digits)


def test_other_tables_are_tabulars():
    result = evaluated("a", "b")

    assert result.to_latex("per_query").count(r"\begin{tabular}") == 1
    with pytest.raises(rw.UnknownName, match="no table 'nothing'"):
        result.to_latex("nothing")
