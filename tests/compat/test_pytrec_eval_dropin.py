"""rankwell.compat.pytrec_eval against pytrec-eval-terrier itself."""

import gzip
import io
import math
import random

import pytest

from rankwell.compat import pytrec_eval as ours
from rankwell.errors import BadScore

theirs = pytest.importorskip("pytrec_eval")

WITH_PARAMETERS = {
    *(
        "ndcg_cut.3,7",
        "P_1,2",
        "iprec_at_recall.0.33",
        "Rprec_mult.0.3,5",
        "set_F.0.5",
        "success_2",
        "recall.2",
    ),
    *("map_cut.1,2", "relative_P.3", "11pt_avg.0.5,0.25"),
}
JUDGED = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"x": 1}}
RUN = {"q1": {"a": 1.0, "z": 2.0, "c": 0.5}, "q3": {"a": 1.0}}


def evaluate(module, judged, run, measures, **options):
    return module.RelevanceEvaluator(judged, measures, **options).evaluate(run)


def assert_same(found, expected):
    assert list(found) == list(expected)
    for query, values in expected.items():
        assert list(found[query]) == list(values)
        for measure, value in values.items():
            assert found[query][measure] == pytest.approx(value, rel=0, abs=1e-9, nan_ok=True), (
                query,
                measure,
            )


def random_world(seed):
    """Few or many items, tied scores, unjudged items, negative grades, queries that one side lacks,
    empty rankings.
    """
    draw = random.Random(seed)
    items = [f"d{number}" for number in range(draw.choice([3, 10, 60]))] + ["é", "Z", "a b"]
    grades = draw.choice([[0, 1], [0, 1, 2, 3], [-2, -1, 0, 1, 2], [0], [1], [0, 1, 12]])
    judged = {
        f"q{number}": {
            item: draw.choice(grades) for item in draw.sample(items, draw.randint(1, len(items)))
        }
        for number in range(draw.randint(1, 6))
    }
    for row in judged.values():
        if max(row.values()) < 0:
            row[items[0]] = (
                0  # with negative grades alone, trec_eval reads memory that it never wrote
            )
    scores = [1.0, 0.5, 1.00000001, 2, -3]
    run = {
        f"q{number}": {
            item: draw.choice([*scores, draw.random()])
            for item in draw.sample(items, draw.randint(0, len(items)))
        }
        for number in draw.sample(range(8), draw.randint(1, 8))
    }
    return judged, run, draw


@pytest.mark.parametrize("seed", range(40))
def test_random_worlds_get_the_same_values_in_the_same_order(seed):
    judged, run, draw = random_world(seed)
    measures = theirs.supported_measures | (WITH_PARAMETERS if draw.random() < 0.5 else set())
    options = {
        "relevance_level": draw.choice([1, 1, 2]),
        "judged_docs_only_flag": draw.random() < 0.3,
    }

    found = evaluate(ours, judged, run, measures, **options)

    assert_same(found, evaluate(theirs, judged, run, measures, **options))


@pytest.mark.parametrize("name", ["NLPR03vb10", "Sel50", "pircRBa1", "uic0301"])
def test_robust_2003_gets_the_same_values_for_every_query_and_measure(name, shared):
    robust = shared / "trec" / "robust03"
    with (
        gzip.open(robust / "qrels.txt.gz", "rt") as judgments,
        gzip.open(robust / f"{name}.run.gz", "rt") as results,
    ):
        judged, run = ours.parse_qrel(judgments), ours.parse_run(results)

    found = evaluate(ours, judged, run, {"all_trec"})

    assert len(found) == 100
    assert_same(found, evaluate(theirs, judged, run, {"all_trec"}))


def test_supported_measures_and_nicknames_are_the_same():
    assert ours.supported_measures == theirs.supported_measures
    assert ours.supported_nicknames == theirs.supported_nicknames


@pytest.mark.parametrize("text", ["a 0 b 1\na 0 c -1\nd 0 b 3\n", ""])
def test_qrels_are_parsed_the_same(text):
    assert ours.parse_qrel(io.StringIO(text)) == theirs.parse_qrel(io.StringIO(text))


def test_a_run_is_parsed_the_same():
    text = "a Q0 b 1 2.5 t\na\tQ0 c  2 1e-3 t\nd Q0 b 1 -4 t\n"
    assert ours.parse_run(io.StringIO(text)) == theirs.parse_run(io.StringIO(text))


@pytest.mark.parametrize(
    ("parse", "text"),
    [("parse_run", "a Q0 b 1 2 t\na Q0 b 2 1 t\n"), ("parse_qrel", "a 0 b 1\na 0 b 0\n")],
)
def test_an_item_that_appears_twice_in_a_query_fails_the_same(parse, text):
    for module in (ours, theirs):
        with pytest.raises(AssertionError):
            getattr(module, parse)(io.StringIO(text))


@pytest.mark.parametrize(
    ("judged", "measures", "options"),
    [
        ({"q": {"a": 1.5}}, {"map"}, {}),
        ({"q": {"a": "1"}}, {"map"}, {}),
        ({1: {"a": 1}}, {"map"}, {}),
        ({"q": {1: 1}}, {"map"}, {}),
        ({"q": ["a"]}, {"map"}, {}),
        ([1], {"map"}, {}),
        (JUDGED, {"foo"}, {}),
        (JUDGED, {"prefs"}, {}),
        (JUDGED, {"yaap"}, {}),
        (JUDGED, "map", {}),
        (JUDGED, {"map"}, {"relevance_level": 0}),
        (JUDGED, {"map"}, {"relevance_level": 1.5}),
    ],
)
def test_a_wrong_evaluator_raises_the_same_error(judged, measures, options):
    with pytest.raises((TypeError, ValueError, AttributeError)) as expected:
        theirs.RelevanceEvaluator(judged, measures, **options)

    with pytest.raises(expected.type):
        ours.RelevanceEvaluator(judged, measures, **options)


@pytest.mark.parametrize(
    "run",
    [
        [1],
        {"q1": ["a"]},
        {1: {"a": 1.0}},
        {"q1": {1: 1.0}},
        {"q1": {"a": "1"}},
        {"q1": {"a": None}},
    ],
)
def test_a_wrong_run_raises_the_same_error(run):
    with pytest.raises(TypeError) as expected:
        evaluate(theirs, JUDGED, run, {"map"})

    with pytest.raises(TypeError, match=str(expected.value)):
        evaluate(ours, JUDGED, run, {"map"})


@pytest.mark.parametrize(
    "run", [{}, None, {"q9": {"a": 1.0}}, {"q1": {}}, {"q1": {}, "q2": {"x": 1}}]
)
def test_empty_runs_and_rankings_give_the_same(run):
    for judged in (JUDGED, {}, {"q1": {}}):
        assert evaluate(ours, judged, run, {"map", "num_q"}) == evaluate(
            theirs, judged, run, {"map", "num_q"}
        )


@pytest.mark.parametrize(
    "measures",
    [
        ["P", "P.7"],
        ["P_5", "P.5"],
        ["P_5,10", "P.15"],
        ["P.23.4"],
        ["map.5"],
        ["relstring", "runid"],
        ["official"],
        ["set"],
        [],
    ],
)
def test_measures_are_put_together_the_same(measures):
    assert_same(evaluate(ours, JUDGED, RUN, measures), evaluate(theirs, JUDGED, RUN, measures))


def test_an_evaluator_can_be_used_twice():
    evaluator = ours.RelevanceEvaluator(JUDGED, {"ndcg_cut.5,2"})
    assert evaluator.evaluate(RUN) == evaluator.evaluate(RUN)


@pytest.mark.parametrize("score", [math.nan, math.inf])
def test_a_score_that_is_not_finite_is_an_error_that_names_it(score):
    with pytest.raises(BadScore, match=r"query 'q1', item 'a'"):
        evaluate(ours, JUDGED, {"q1": {"a": score}}, {"map"})


@pytest.mark.parametrize("measure", ["ndcg.5", "P_0", "P.5,5.0", "success.1x"])
def test_parameters_that_make_no_sense_are_an_error(measure):
    with pytest.raises(ValueError, match=measure.split(".", maxsplit=1)[0].split("_")[0]):
        ours.RelevanceEvaluator(JUDGED, {measure})


@pytest.mark.parametrize(
    ("measure", "values", "expected"),
    [
        ("num_ret", [1, 2.0], 3.0),
        ("map", [0.5, 0.25], 0.375),
        ("gm_map", [math.log(0.5), math.log(0.125)], 0.25),
    ],
)
def test_figures_over_queries_are_sums_means_or_geometric_means(measure, values, expected):
    assert ours.compute_aggregated_measure(measure, values) == pytest.approx(expected)
    assert theirs.compute_aggregated_measure(measure, values) == pytest.approx(expected)


def test_aggregate_gives_the_figure_of_each_measure():
    results = {"q1": {"map": 0.5, "num_ret": 3.0}, "q2": {"map": 0.25, "num_ret": 4.0}}
    assert ours.aggregate(results) == {"map": 0.375, "num_ret": 7.0}
    assert ours.aggregate({}) == {}
