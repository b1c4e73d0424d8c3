"""Every figure that a command prints, in full precision, apart from all wording: see
tests/regression/figures.py.
"""

from collections.abc import Iterator

import pytest

from regression import figures
from regression.cases import Runner

FIGURES = figures.read()


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as opened:
        yield opened


@pytest.mark.parametrize("name", FIGURES)
def test_the_figures_of_a_case_are_those_that_are_kept(name: str, runner: Runner) -> None:
    if reason := runner.absent(name):
        pytest.skip(reason)

    found = figures.figures_of(runner, name)

    assert figures.differences(FIGURES[name], found) == []


def test_a_changed_digit_is_seen_here_and_a_last_bit_only_where_the_figures_were_written() -> None:
    kept = {"rows": [{"run": "a", "measure": "AP", "mean": 0.123456789012, "n": 3}]}
    last_bit = {"rows": [{"run": "a", "measure": "AP", "mean": 0.12345678901200001, "n": 3}]}
    digit = {"rows": [{"run": "a", "measure": "AP", "mean": 0.123456799012, "n": 3}]}
    count = {"rows": [{"run": "a", "measure": "AP", "mean": 0.123456789012, "n": 4}]}

    assert last_bit != kept
    assert last_bit == figures.nearly(kept)
    assert digit != figures.nearly(kept)
    assert count != figures.nearly(kept)


def test_wording_is_no_figure_and_counts_alone_are_one() -> None:
    printed = (
        '{"schema_version": 2, "rows": [{"run": "a", "label": "MAP", "unit": "share", "n": 3}, '
        '{"run": "b", "why": "none"}], "rules": {"counts": {"a": {"queries_counted": 3}}}, '
        '"notes": ["14 queries"]}'
    )

    assert figures.printed_figures(printed) == {
        "rows": [{"run": "a", "n": 3}],
        "counts": [{"run": "a", "queries_counted": 3}],
    }


def test_values_of_queries_stand_in_a_row_for_each_measure() -> None:
    printed = (
        '{"per_query": [{"run": "a", "query": "q1", "measure": "AP", "value": 0.5},'
        ' {"run": "a", "query": "q1", "measure": "RR", "value": 1.0},'
        ' {"run": "a", "query": "q2", "measure": "AP", "value": 0.25}]}'
    )

    assert figures.printed_figures(printed)["per_query"] == [
        {"run": "a", "measure": "AP", "values": {"q1": 0.5, "q2": 0.25}},
        {"run": "a", "measure": "RR", "values": {"q1": 1.0}},
    ]


def test_of_cases_with_the_same_figures_one_is_kept() -> None:
    rows = [{"measure": "AP", "mean": 0.5}]
    found = {
        "evaluate/plain": {"rows": rows},
        "evaluate/csv": {"rows": rows},
        "evaluate/per-query": {"rows": rows, "per_query": [{"values": {"q1": 0.5}}]},
        "compare/other": {"2 rows": rows},
        "evaluate/none": {},
    }

    assert list(figures.distinct(found)) == ["evaluate/per-query", "compare/other"]


def test_every_case_with_figures_is_one() -> None:
    assert [name for name in FIGURES if name not in figures.cases()] == []
