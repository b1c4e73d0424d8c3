"""Rows of values that are made when they are read: the same rows, and the same text, as if each had
been made before.
"""

import numpy as np
import pytest

from rankwell.data.tables import ValueRows, Values
from rankwell.reporting import Document, render
from rankwell.reporting.outputs.rows import render_csv, render_tsv

QUERIES = ("q1", "-x", "a,b", 'say "so"', "tab\there", "two\nlines", "=1+1", "é", "")


def values(
    run: str,
    measure: str,
    *,
    label: str = "",
    unit: str = "share",
    queries: tuple[str, ...] = QUERIES,
) -> Values:
    numbers = np.random.default_rng(len(run + measure)).random(len(queries))
    numbers[1] = np.nan
    numbers[2:4] = 0.0, 1e-300
    return Values(run, measure, label or measure, unit, "mean", queries, numbers)  # pyright: ignore[reportArgumentType]


SETS = {
    "one": [values("a", "AP")],
    "several runs and measures": [
        values(run, name) for run in ("a", "b,c", "=d") for name in ("AP", "nDCG@10", "R@1")
    ],
    "plain ids": [values("a", name, queries=("1", "2", "3", "4")) for name in ("AP", "RR")],
    "words of a convention": [
        values("a", "P@5", label="=Recall@5", unit="percent"),
        values("a", "R(rel=1,2)@5", label='the "R"'),
    ],
}


@pytest.mark.parametrize("what", SETS)
def test_rows_go_by_run_query_and_measure(what: str) -> None:
    rows = ValueRows(SETS[what])

    listed = list(rows)

    assert len(rows) == len(listed) == sum(len(each.queries) for each in SETS[what])
    assert (rows[0], rows[-1], rows[1:3]) == (listed[0], listed[-1], listed[1:3])
    assert {(row["run"], row["query"], row["measure"]) for row in listed} == {
        (each.run, query, each.measure) for each in SETS[what] for query in each.queries
    }
    order = {each.run: place for place, each in reversed(list(enumerate(SETS[what])))}
    keys = [(order[row["run"]], SETS[what][0].queries.index(row["query"])) for row in listed]
    assert keys == sorted(keys)
    assert all(
        (row["value"] is None) == (row["query"] == SETS[what][0].queries[1]) for row in listed
    )
    assert all(set(row) == set(rows.columns) for row in listed)


@pytest.mark.parametrize("what", SETS)
@pytest.mark.parametrize("write", [render_csv, render_tsv])
def test_the_text_is_that_of_rows_made_before(what: str, write) -> None:
    rows = ValueRows(SETS[what])
    document = Document([], rows, {}, ())

    assert write(document) == write(document._replace(per_query=list(rows)))


@pytest.mark.parametrize("form", ["csv", "tsv", "json", "jsonl", "md", "table"])
def test_every_format_takes_them(form) -> None:
    summary = [
        {
            "run": "a",
            "measure": "AP",
            "label": "AP",
            "mean": 0.5,
            "sd": 0.1,
            "ci_low": None,
            "ci_high": None,
            "n": 9,
            "unit": "share",
        }
    ]
    rows = ValueRows(SETS["one"])

    assert render(summary, rows, {}, (), form) == render(summary, iter(list(rows)), {}, (), form)
