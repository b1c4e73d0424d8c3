"""The note where a convention's nDCG takes all relevant grades alike."""

import rankwell as rw

TRUTH = {"q1": {"a": 3, "b": 1, "c": 1}}
RUNS = {"one": {"q1": {"b": 3.0, "c": 2.0}}, "two": {"q1": {"a": 3.0, "x": 2.0}}}


def notes(truth: dict[str, dict[str, int]], runs: object, convention: str = "st") -> list[str]:
    found = rw.evaluate(truth, runs, "ndcg@10", convention=convention, intervals="none")
    return [note for note in found.findings if "alike" in note]


def test_another_run_leads_where_grades_are_weighed():
    [note] = notes(TRUTH, RUNS)

    assert note == (
        "ndcg@10 treats the grades 1 to 3 alike: one leads; two leads by nDCG@10, which weighs them"
    )


def test_the_mean_of_the_only_run_is_given_by_both():
    [note] = notes(TRUTH, {"one": RUNS["one"]})

    weighed = rw.evaluate(TRUTH, {"one": RUNS["one"]}, "nDCG@10", intervals="none")["nDCG@10"]
    assert f"the mean of one is {weighed:.4f} by nDCG@10" in note


def test_nothing_is_said_with_one_relevant_grade_or_with_weights():
    assert notes({"q1": {"a": 1, "b": 0, "c": 1}}, RUNS) == []
    assert notes(TRUTH, RUNS, "mteb") == []
