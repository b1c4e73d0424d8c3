"""Evaluation: which queries count, which rules hold, and that both are said."""

from pathlib import Path
from typing import Any

import pytest

import rankwell as rw
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate, TieRefused, UnknownName
from rankwell.tasks.runs.evaluation import name_runs

TRUTH = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}, "q3": {"d": 0}, "q4": {"e": 1}}
RUN = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"x": 2.0, "c": 1.0}, "q3": {"d": 1.0}, "q9": {"a": 1.0}}


def values(result: rw.Results) -> dict[str, float]:
    [column] = result.values
    return dict(zip(column.queries, column.values.tolist(), strict=True))


def test_a_query_without_a_ranking_counts_as_empty_and_is_reported():
    result = rw.evaluate(TRUTH, RUN, "RR", intervals="none")

    assert values(result) == {"q1": 1.0, "q2": 0.5, "q3": 0.0, "q4": 0.0}
    counts, left_out = result.counts["run"], result.left_out["run"]
    assert (counts["queries_counted"], counts["queries_without_relevant"]) == (4, 1)
    assert (counts["queries_missing"], counts["queries_unknown"]) == (1, 1)
    assert left_out == {"missing": ["q4"], "unknown": ["q9"]}


@pytest.mark.parametrize(
    ("rule", "queries"), [("judged", "q1 q2 q3 q4"), ("both", "q1 q2 q3"), ("run", "q1 q2 q3 q9")]
)
def test_the_query_rule_names_the_queries_that_count(rule: str, queries: str):
    assert (
        list(values(rw.evaluate(TRUTH, RUN, "RR", average_over=rule, intervals="none")))
        == queries.split()
    )


@pytest.mark.parametrize(
    ("rule", "effect"),
    [
        ("judged", "nothing was retrieved"),
        ("run", "left out of the mean"),
        ("both", "left out of the mean"),
    ],
)
def test_a_missing_query_is_reported_with_what_becomes_of_it(rule: str, effect: str):
    result = rw.evaluate(
        {"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": {"a": 1.0}}, "RR", average_over=rule
    )

    assert f"run: 1 query is missing ('q2'): {effect}" in result.findings


def test_a_query_of_the_run_alone_has_what_an_empty_truth_gives():
    result = rw.evaluate(TRUTH, RUN, ["RR", "NumRet"], average_over="run", intervals="none")

    rank, number = (
        dict(zip(each.queries, each.values.tolist(), strict=True)) for each in result.values
    )
    assert rank["q9"] == 0.0
    assert number["q9"] == 1.0


def test_queries_without_anything_relevant_are_left_out_on_request_or_refused():
    assert "q3" not in values(rw.evaluate(TRUTH, RUN, "RR", no_relevant="skip", intervals="none"))
    with pytest.raises(BadInput, match="'q3' has nothing relevant"):
        rw.evaluate(TRUTH, RUN, "RR", no_relevant="error")


def test_no_common_query_is_nothing_to_evaluate_and_shows_an_id_of_each_side():
    with pytest.raises(NothingToEvaluate, match=r"0 are in both.*'q1'.*'7'"):
        rw.evaluate(TRUTH, {"7": {"a": 1.0}}, "RR")


def test_the_minimum_grade_reaches_every_measure_that_has_one():
    result = rw.evaluate(TRUTH, RUN, ["RR", "nDCG@10", "AP(rel=1)"], min_grade=2, intervals="none")

    assert [each.measure for each in result.values] == ["RR(rel=2)", "nDCG@10", "AP(rel=2)"]
    assert values(rw.evaluate(TRUTH, RUN, "RR", min_grade=2, intervals="none"))["q1"] == 0.0


def test_unjudged_items_can_be_taken_out():
    assert values(rw.evaluate(TRUTH, RUN, "RR", unjudged="skip", intervals="none"))["q2"] == 1.0


def test_the_query_itself_can_be_taken_out_by_id():
    truth, run = (
        {"a": {"b": 1}, "b": {"a": 1}},
        {"a": {"a": 9.0, "b": 8.0}, "b": {"b": 9.0, "a": 9.0}},
    )

    assert values(rw.evaluate(truth, run, "RR", intervals="none")) == {"a": 0.5, "b": 0.5}
    assert values(rw.evaluate(truth, run, "RR", exclude_self=True, intervals="none")) == {
        "a": 1.0,
        "b": 1.0,
    }


# The first query judges its own item relevant: without it in the ranking, one of two relevant items
# is found, at rank 1.
OWN_TRUTH, OWN_RUN = (
    {"7": {"7": 1, "9": 1}, "8": {"3": 1}},
    {"7": {"7": 3.0, "9": 2.0, "5": 1.0}, "8": {"5": 2.0, "3": 1.0}},
)


@pytest.mark.parametrize("convention", ["rankwell", "beir", "mteb", "st", "trec_eval9", "ranx"])
def test_the_query_itself_leaves_the_ranking_and_its_judgment_stays(convention: str):
    # BEIR 2.2.0, EvaluateRetrieval.evaluate: 0.62204, 0.5 and 0.75.
    names = ["nDCG@10", "AP", "R@10"]
    found = rw.evaluate(
        OWN_TRUTH, OWN_RUN, names, convention=convention, exclude_self=True, intervals="none"
    )

    assert [found[name] for name in names] == pytest.approx([0.622038, 0.5, 0.75], abs=1e-6)
    assert any(
        "1 query has a relevant item with the id of the query" in note for note in found.findings
    )


def test_details_list_the_query_itself_without_a_rank():
    rows = rw.evaluate(
        OWN_TRUTH, OWN_RUN, "RR", details=True, exclude_self=True, intervals="none"
    ).details

    listed = list(zip(rows["query"], rows["item"], rows["rank"], rows["state"], strict=True))
    assert listed[:3] == [
        ("7", "9", 1.0, "relevant"),
        ("7", "5", 2.0, "unjudged"),
        ("7", "7", None, "junk"),
    ]


@pytest.mark.parametrize("run", [OWN_RUN, {"7": {"9": 2.0, "5": 1.0}, "8": {"5": 2.0, "3": 1.0}}])
def test_measures_of_intents_leave_out_the_query_itself(
    run: dict[str, dict[str, float]], tmp_path: Path
):
    (tmp_path / "qrels").write_text("7 1 7 1\n7 2 9 1\n8 1 3 1\n")

    found = rw.evaluate(
        tmp_path / "qrels",
        run,
        "StRecall@1",
        qrels_format="trec",
        exclude_self=True,
        intervals="none",
    )

    assert values(found) == {"7": 0.5, "8": 0.0}


def test_measures_of_preferences_refuse_to_leave_out_the_query_itself(tmp_path: Path):
    (tmp_path / "prefs").write_text("7 a 1 9 2\n7 a 1 5 1\n")

    with pytest.raises(BadUsage, match="exclude_self"):
        rw.evaluate(
            tmp_path / "prefs",
            OWN_RUN,
            "prefs_simp",
            qrels_format="prefs",
            exclude_self=True,
            intervals="none",
        )


NEGATIVE = {"q": {"D1": -1, "D2": 1, "D3": 0}}, {"q": {"D1": 4.0, "X": 3.0, "D2": 2.0, "D3": 1.0}}


@pytest.mark.parametrize(
    ("measure", "options", "plain", "pooled"),
    [
        ("P@1", {"unjudged": "skip"}, 0.0, 1.0),
        ("P(judged_only=True)@1", {}, 0.0, 1.0),
        ("RR(judged_only=True)", {}, 0.5, 1.0),
        ("AP(judged_only=True)", {}, 0.5, 1.0),
        ("nDCG(judged_only=True)@1", {}, 0.0, 1.0),
        ("Rprec(judged_only=True)", {}, 0.0, 1.0),
        ("Success(judged_only=True)@1", {}, 0.0, 1.0),
        ("Bpref", {}, 0.0, 1.0),
        ("Judged@4", {}, 0.75, 0.5),
        ("Unj@4", {}, 0.25, 0.5),
        ("NumNonrelJudgedRet", {}, 2.0, 1.0),
        ("RBPResid(p=0.5)", {}, 0.25 + 0.0625, 0.5 + 0.25 + 0.0625),
        # D1 is an item of the pool that nobody judged: it may be relevant.
        ("infAP", {}, 1 / 3 + 2 / 3 * 1 / 2 * 0.5, 1 / 3 + 2 / 3 * 1 / 2 * 0.5),
    ],
)
def test_an_item_with_a_negative_grade_is_judged_except_under_trec_eval(
    measure: str, options: dict[str, Any], plain: float, pooled: float
):
    for convention, value in {
        "rankwell": plain,
        "ranx": plain,
        "trec_eval9": pooled,
        "trec_eval10": pooled,
    }.items():
        found = rw.evaluate(*NEGATIVE, measure, convention=convention, intervals="none", **options)
        assert values(found)["q"] == pytest.approx(value), convention


@pytest.mark.parametrize(("convention", "share"), [("rankwell", "25 %"), ("trec_eval10", "50 %")])
def test_bounds_and_states_take_a_negative_grade_for_a_judgment_except_under_trec_eval(
    convention: str, share: str
):
    found = rw.evaluate(*NEGATIVE, "P@4", convention=convention, details=True, intervals="none")

    states = dict(zip(found.details["item"], found.details["state"], strict=True))
    assert states["D1"] == ("nonrelevant" if convention == "rankwell" else "unjudged")
    assert any(f"{share} of its first 4 are unjudged" in note for note in found.findings)


TIED = {"q": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.5}}
# Of five tied items `d` is the second from above, the fourth from below and the third that is
# written down.
FIVE = {"q": dict.fromkeys("eadbc", 1.0)}


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("id-desc", 1 / 2),
        ("id-asc", 1 / 4),
        ("input", 1 / 3),
        ("optimistic", 1.0),
        ("pessimistic", 1 / 5),
        ("expected", (1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) / 5),
    ],
)
def test_every_tie_rule_has_its_own_value(rule: str, value: float):
    assert values(rw.evaluate({"q": {"d": 1}}, FIVE, "RR", ties=rule, intervals="none"))[
        "q"
    ] == pytest.approx(value, abs=1e-15)


def test_a_tie_with_a_judged_item_is_refused_when_asked():
    with pytest.raises(TieRefused, match=r"'q': 3 items share the score 1.0 at rank 1"):
        rw.evaluate({"q": {"b": 1}}, TIED, "RR", ties="error")
    assert (
        values(rw.evaluate({"q": {"d": 1}}, TIED, "RR", ties="error", intervals="none"))["q"]
        == 0.25
    )


def test_queries_whose_value_hangs_on_the_order_of_ties_are_counted_for_each_measure():
    result = rw.evaluate({"q": {"b": 1}}, TIED, ["P@1", "P@3", "RR", "NumQ"], intervals="none")

    assert result.counts["run"]["queries_tied"] == {"P@1": 1, "P@3": 0, "RR": 1, "NumQ": 0}


def test_a_measure_without_a_closed_form_says_so_under_expected():
    result = rw.evaluate({"q": {"b": 1}}, TIED, "Bpref", ties="expected", intervals="none")

    assert any("Bpref has no closed form" in note for note in result.findings)


def test_runs_are_named_by_file_with_the_folder_where_names_are_equal(tmp_path: Path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "bm25.run").write_text("q1 Q0 a 1 2 t\n")
    (tmp_path / "dense.run.gz").write_bytes(b"")

    assert list(name_runs([tmp_path / "one" / "bm25.run", tmp_path / "dense.run.gz"])) == [
        "bm25",
        "dense",
    ]
    assert list(name_runs([tmp_path / "one" / "bm25.run", tmp_path / "two" / "bm25.run"])) == [
        "one/bm25",
        "two/bm25",
    ]
    with pytest.raises(BadUsage, match="two runs are called"):
        name_runs([tmp_path / "one" / "bm25.run", tmp_path / "one" / "bm25.run"])


def test_a_name_in_front_of_a_file_names_its_run(tmp_path: Path):
    files = [tmp_path / "bm25.run", tmp_path / "a=b.run"]
    for file in files:
        file.write_text("q1 Q0 a 1 2 t\n")

    runs = name_runs([f"old={files[0]}", f"new={files[0]}", str(files[1])])

    assert runs == {"old": str(files[0]), "new": str(files[0]), "a=b": str(files[1])}
    result = rw.evaluate({"q1": {"a": 1}}, f"mine={files[0]}", "RR", intervals="none")
    assert [values.run for values in result.values] == ["mine"]
    with pytest.raises(BadUsage, match="two runs are called 'old'"):
        name_runs([f"old={files[0]}", f"old={files[1]}"])


def test_measures_that_the_lowest_relevant_grade_does_not_change_are_named():
    truth = {"q1": {"a": 1}, "q2": {"a": 2}}
    run = {"q1": ["a"], "q2": ["a"]}

    result = rw.evaluate(truth, run, ["P@1", "nDCG@10"], min_grade=2)

    assert (result["P(rel=2)@1"], result["nDCG@10"]) == (0.5, 1.0)
    assert "queries-without-relevant" in {finding.name for finding in result.findings}
    assert result.describe()["min_grade"] == 2
    messages = {finding.name: str(finding) for finding in result.findings}
    assert messages["min-grade-not-used"] == (
        "nDCG@10 does not use min_grade; nDCG(rel=2)@10 gives lower grades no gain"
    )
    assert "grades-as-binary" not in messages
    plain = rw.evaluate(truth, run, ["P(rel=2)@1", "nDCG(rel=2)@10"], min_grade=2)
    assert "min-grade-not-used" not in {finding.name for finding in plain.findings}


def test_parts_of_a_file_are_runs_and_are_named_by_the_file_and_the_part_where_there_are_several(
    tmp_path: Path,
):
    path = tmp_path / "ranks.txt"
    path.write_text("1 qid:q1 1:0.5 2:0.1 #docid = a\n0 qid:q1 1:0.2 2:0.9 #docid = b\n")

    assert list(name_runs(f"{path}:1")) == ["ranks"]
    result = rw.evaluate(path, [f"{path}:1", f"{path}:2"], "RR", intervals="none")
    assert result["RR"] == {"ranks.txt:1": 1.0, "ranks.txt:2": 0.5}
    (tmp_path / "run.json").write_text('{"q1": {"a": 1.0}}')
    with pytest.raises(
        UnknownName, match="the format 'json' has no parts, so 'bm25' names nothing"
    ):
        rw.evaluate({"q1": {"a": 1}}, f"{tmp_path / 'run.json'}:bm25", "RR")


def test_many_runs_in_one_call_equal_one_call_each():
    other = {query: dict(reversed(items.items())) for query, items in RUN.items()}
    together = rw.evaluate(TRUTH, {"a": RUN, "b": other}, ["RR", "AP"])
    alone = rw.evaluate(TRUTH, {"b": other}, ["RR", "AP"])

    assert [row for row in together.summary if row.run == "b"] == alone.summary


def test_the_result_does_not_depend_on_the_order_of_rows():
    backwards = {query: dict(reversed(items.items())) for query, items in reversed(RUN.items())}
    truth = {query: dict(reversed(items.items())) for query, items in reversed(TRUTH.items())}

    assert list(rw.evaluate(truth, backwards).per_query()) == list(
        rw.evaluate(TRUTH, RUN).per_query()
    )
    assert rw.evaluate(truth, backwards).summary == rw.evaluate(TRUTH, RUN).summary


def test_details_hold_the_first_items_and_every_judged_one():
    result = rw.evaluate(TRUTH, RUN, "RR", details=True, exclude_self=True, intervals="none")
    rows = result.details

    listed = list(zip(rows["query"], rows["item"], rows["state"], strict=True))
    assert ("q2", "x", "unjudged") in listed
    assert ("q4", "e", "relevant") in listed
    place = listed.index(("q4", "e", "relevant"))
    assert rows["rank"][place] is None
    assert rows["rank"][listed.index(("q2", "c", "relevant"))] == 2.0


def test_the_rules_name_every_choice_and_every_definition():
    rules = rw.evaluate(TRUTH, RUN, ["RR", "AP"]).describe()

    assert rules["ties"] == "id-desc"
    assert rules["average_over"] == "judged"
    assert set(rules["measures"]) == {"RR", "AP"}
    assert rules["measures"]["RR"]["source"]
    assert rules["counts"]["run"]["queries_missing"] == 1


def test_a_choice_that_does_not_exist_lists_those_that_do():
    with pytest.raises(UnknownName, match="both, judged, run"):
        rw.evaluate(TRUTH, RUN, average_over="all")
    with pytest.raises(UnknownName, match="id-desc, id-asc"):
        rw.evaluate(TRUTH, RUN, ties="random")


def test_preferences_are_read_from_a_file_and_break_ties_as_trec_eval_does(shared: Path):
    folder = shared / "trec" / "trec_eval_v10"
    result = rw.evaluate(
        folder / "prefs.test",
        folder / "prefs.results.test",
        ["prefs_simp", "prefs_pair"],
        average_over="both",
        intervals="none",
    )
    golden = {
        (fields[1], fields[0]): float(fields[2])
        for fields in (
            line.split() for line in (folder / "out.test.prefs").read_text().splitlines()
        )
        if fields[0] in ("prefs_simp", "prefs_pair") and fields[1] != "all"
    }

    found = {(row["query"], row["label"]): round(row["value"], 4) for row in result.per_query()}
    assert found == golden
    assert result.rules["ties"] == "id-asc"


def test_intents_are_read_from_the_second_field_of_the_judgments(tmp_path: Path):
    (tmp_path / "intents.txt").write_text("q 1 a 1\nq 2 b 1\nq 2 c 0\n")
    (tmp_path / "a.run").write_text("q Q0 a 1 3 t\nq Q0 c 2 2 t\nq Q0 b 3 1 t\n")

    result = rw.evaluate(
        tmp_path / "intents.txt",
        tmp_path / "a.run",
        ["StRecall@2", "StRecall@3", "P@3"],
        intervals="none",
    )

    assert [each.values.tolist() for each in result.values] == [[0.5], [1.0], [2 / 3]]


def test_a_result_prints_its_table():
    result = rw.evaluate(TRUTH, {"mine": RUN}, ["RR", "AP"])

    caption, _, heading, *rows = repr(result).splitlines()
    assert caption == "mine · 4 queries · mean"
    assert heading.split() == ["mean"]
    assert [row.split() for row in rows] == [[name, f"{result[name]:.3f}"] for name in ("RR", "AP")]
    assert str(result) == repr(result)


def test_queries_for_which_a_measure_is_undefined_are_counted_in_a_note():
    judgments = {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1}}
    run = {"a": {"x": 1.0}, "b": {"y": 1.0}, "c": {"y": 1.0}}

    result = rw.evaluate(judgments, run, ["r_precision_at_k@2", "P@1"], intervals="none")

    assert result["r_precision_at_k@2"] == 1.0
    assert [each for each in result.findings if "undefined" in each] == [
        "run: r_precision_at_k@2 is undefined for 2 of 3 queries, which do not count"
    ]
