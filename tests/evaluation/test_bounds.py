"""Bounds under unjudged items: equal to trying every completion, printed as notes, and left out
where they do not hold.
"""

import random

import numpy as np
import pytest

import rankwell
from oracles import bounds as oracle
from rankwell import judged_rankings
from rankwell.data.registry import parse_measure
from rankwell.evaluation.bounds import UnjudgedItems, difference_bounds, most_possible

K, MOST = 3, 2
MEASURES = {
    f"P@{K}": lambda ranking, grades: oracle.P(ranking, grades, K),
    f"RR@{K}": lambda ranking, grades: oracle.RR(ranking, grades, K),
    f"SDCG(max_rel={MOST})@{K}": lambda ranking, grades: oracle.SDCG(ranking, grades, K, MOST),
    f"RBP(p=0.7,rel=1)@{K}": lambda ranking, grades: oracle.RBP(ranking, grades, K, 0.7),
}


def small_worlds(n):
    """A judged part of six items and two lists for each of n queries; some lists are short, some
    empty.
    """
    draw, judged, one, other = random.Random(7), {}, {}, {}
    for number in range(n):
        items = [f"d{place}" for place in range(6)]
        query = f"q{number:04}"
        judged[query] = {
            item: draw.randint(0, MOST) for item in draw.sample(items, draw.randint(2, 5))
        }
        one[query], other[query] = (draw.sample(items, draw.randint(0, 5)) for _ in range(2))
    return judged, one, other


@pytest.mark.parametrize("name", MEASURES)
def test_bounds_of_runs_and_differences_equal_brute_force_over_1000_worlds(name):
    judged, one, other = small_worlds(1000)
    formula, measure = MEASURES[name], parse_measure(name)
    whole = rankwell.evaluate(
        judged, {"one": one, "other": other}, [name], details=True, ties="input"
    )
    items = UnjudgedItems.of(20, whole.details).ranked(tuple(judged))
    values = {each.run: each.values for each in whole.values}

    most = most_possible(measure, judged_rankings(judged, one, ties="input"))
    low, high = difference_bounds(
        measure, items, ("one", "other"), (values["one"], values["other"])
    )

    for place, query in enumerate(judged):
        every = [f"d{number}" for number in range(6)]
        pairs = [
            (formula(one[query], grades), formula(other[query], grades))
            for grades in oracle.completions(every, judged[query], MOST)
        ]
        assert values["one"][place] == pytest.approx(min(first for first, _ in pairs), abs=1e-12), (
            query
        )
        assert most[place] == pytest.approx(max(first for first, _ in pairs), abs=1e-12), query
        assert low[place] == pytest.approx(
            min(first - second for first, second in pairs), abs=1e-12
        ), query
        assert high[place] == pytest.approx(
            max(first - second for first, second in pairs), abs=1e-12
        ), query


def half_judged():
    judged = {f"q{number}": {"a": 1, "b": 0} for number in range(12)}
    return (
        judged,
        {query: ["a", "x", "b", "y"] for query in judged},
        {query: ["x", "a", "b", "z"] for query in judged},
    )


def test_a_finding_states_the_bounds_of_a_run_and_the_share_of_unjudged_items():
    judged, run, _ = half_judged()

    result = rankwell.evaluate(judged, {"bm25": run}, ["P@4"])

    assert (
        "bm25: P@4 is between 0.2500 and 0.7500: 50 % of its first 4 are unjudged; try "
        "unjudged='skip'" in result.findings
    )


def test_one_information_says_that_only_relevant_items_are_judged():
    judged, run, other = half_judged()
    relevant = {query: {"a": 1} for query in judged}
    runs = {"run": run, "other": other}
    sentence = "judgments: they list relevant items only; all others count as not relevant"

    result = rankwell.evaluate(relevant, runs, ["P@4"], details=True)

    findings = [note for note in result.findings if "unjudged" in note or "relevant" in note]
    assert [(note, note.level) for note in findings] == [(sentence, "info")]
    assert not any("unjudged" in note for note in result.compare().findings)
    assert [note for note in rankwell.check(relevant, runs) if "relevant items only" in note] == [
        sentence
    ]
    # A single item of grade 0 says that others were judged, too.
    one_more = relevant | {"q0": {"a": 1, "b": 0}}
    notes = rankwell.evaluate(one_more, runs, ["P@4"]).findings
    assert sum("are unjudged" in note for note in notes) == 2
    assert sentence not in notes
    # So do grades below those that count.
    graded = {query: {"a": 3, "b": 1} for query in judged}
    notes = rankwell.evaluate(graded, runs, ["P@4"], min_grade=3).findings
    assert sum("are unjudged" in note for note in notes) == 2
    assert sentence not in notes


def test_an_item_of_both_lists_has_one_grade_in_the_bounds_of_a_difference():
    judged, run, other = half_judged()

    found = rankwell.evaluate(
        judged, {"run": run, "other": other}, ["P@2", "P@4"], details=True
    ).compare()

    # Both lists have x in their first two, so that their difference is known there; y and z may
    # differ.
    assert (
        "other minus run: P@4 is between -0.2500 and +0.2500, depending on unjudged items"
        in found.findings
    )


def test_rbp_leaves_out_what_lies_beyond_its_cut_off_and_says_so():
    judged, run, _ = half_judged()

    (note,) = (
        each
        for each in rankwell.evaluate(judged, run, ["RBP(rel=1)@2"]).findings
        if "between" in each
    )

    assert "(without what lies beyond rank 2)" in note


@pytest.mark.parametrize(
    ("measures", "options"),
    [
        (["P@4"], {"unjudged": "skip"}),
        (["nDCG@4", "AP", "RR", "R@4", "P(judged_only=True)@4", "RBP(rel=1)"], {}),
        (["P@1"], {}),
    ],
)
def test_there_is_no_note_without_bounds(measures, options):
    judged, run, _ = half_judged()

    result = rankwell.evaluate(judged, run, measures, **options)

    assert not any("is between" in note for note in result.findings)


def test_folders_of_results_compare_with_the_bounds_of_the_files(tmp_path):
    judged, run, other = half_judged()
    for name, each in (("one", run), ("two", other)):
        rankwell.evaluate(judged, {name: each}, ["P@4", "RR@4"], details=True).save(tmp_path / name)
    files = rankwell.evaluate(
        judged, {"one": run, "two": other}, ["P@4", "RR@4"], details=True
    ).compare()

    from rankwell.cli.commands.compare import ComparedQueries, compare
    from rankwell.comparison.data import ComparisonOptions
    from rankwell.reporting import TableStyle

    done = compare(
        str(tmp_path / "one"),
        str(tmp_path / "two"),
        options=ComparisonOptions(),
        inputs=ComparedQueries(),
        style=TableStyle(),
    )

    expected = [note for note in files.findings if "depending on unjudged" in note]
    assert len(expected) == 1
    assert [note for note in done.findings if "depending on unjudged" in note] == expected


def test_values_in_per_cent_have_bounds_in_per_cent():
    judged, run, _ = half_judged()

    result = rankwell.evaluate(judged, {"run": run}, ["P@4"], convention="mteb")

    (row,) = result.summary
    factor = 100 if row["unit"] == "percent" else 1
    (note,) = (each for each in result.findings if "is between" in each)
    assert f"{0.25 * factor:.{2 if factor == 100 else 4}f}" in note


def test_bounds_without_any_unjudged_item_are_the_values():
    view = judged_rankings({"q": {"a": 1, "b": 0}}, {"q": {"a": 2.0, "b": 1.0}})

    assert np.array_equal(most_possible(parse_measure("P@2"), view), [0.5])
