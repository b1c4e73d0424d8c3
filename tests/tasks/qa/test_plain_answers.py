"""The plain measures of answers, which no convention has to be named for."""

from pathlib import Path
from typing import Any

import pytest

import rankwell as rw
from answer_forms import answers_by_place, in_order, qa, questions_by_place, squad, written
from rankwell.conventions import find_convention
from rankwell.results import Results
from rankwell.tasks.qa.answer_pairs import Predictions, Questions

RIGHT = Questions.from_texts({"q1": ["Paris"], "q2": ["the Eiffel Tower"], "q3": []})


def means(result: Results) -> dict[str, float]:
    return {row["label"]: row["mean"] for row in result.summary}


def plain(answers: dict[str, Any], **options: Any) -> Results:
    given = Predictions.from_texts(answers)
    return rw.evaluate_qa(RIGHT, given, **{"intervals": "none"} | options)


def test_the_report_is_of_the_first_answer_and_of_the_first_k():
    answers = {
        "q1": ["Lyon", "paris!"],
        "q2": ["It is the Eiffel Tower.", "tower"],
        "q3": ["None", "Lyon"],
    }

    assert means(plain(answers, k=2)) == pytest.approx(
        {
            "accuracy": 2 / 3,
            "accuracy@2": 1,
            "EM": 1 / 3,
            "EM@2": 2 / 3,
            # Two of four words, both of two; one word of two.
            "F1": (0 + 2 / 3 + 1) / 3,
            "F1@2": (1 + 2 / 3 + 1) / 3,
        }
    )


def test_with_one_answer_the_report_has_each_measure_once():
    assert list(means(plain({"q1": ["Paris"]}, k=1))) == ["accuracy", "EM", "F1"]


@pytest.mark.parametrize("k", ["1,2,3", "3 1 2", [1, 2, 3]])
@pytest.mark.parametrize("convention", ["rankwell", "piaf"])
def test_every_cut_off_of_a_list_has_the_values_of_a_call_with_it_alone(convention: str, k: Any):
    gold = questions_by_place({"q1": [("d1", 0, 4)], "q2": [("d1", 0, 4)], "q3": [("d2", 0, 4)]})
    given = answers_by_place({"q1": [("d1", 0, 4)], "q2": [("d2", 5, 9), ("d1", 0, 4)]})
    retrieved = {
        query: in_order(documents)
        for query, documents in {"q1": ["d1"], "q2": ["x", "d1"], "q3": ["x", "y", "d2"]}.items()
    }

    def evaluated(k: Any) -> dict[str, float]:
        options: dict[str, Any] = {"retrieved": retrieved, "convention": convention}
        return means(rw.evaluate_qa(gold, given, **options, k=k, intervals="none"))

    together, alone = evaluated(k), {number: evaluated(number) for number in (1, 2, 3)}

    # Beside others, a measure names its cut-off. PIAF's words for the first ten documents and for
    # the first answer stay as they are.
    once = {"recall", "map", "mrr"} if convention == "piaf" else set[str]()
    expected = {
        label
        if "@" in label or label in once or label.startswith("reader_top1")
        else f"{label}@{cutoff_of(label, number)}": value
        for number, values in alone.items()
        for label, value in values.items()
    }
    assert together == expected
    if convention == "rankwell":
        words = ("recall", "MRR", "accuracy", "EM", "F1")
        assert list(together) == [f"{word}@{number}" for word in words for number in (1, 2, 3)]
        assert together["recall@2"] == pytest.approx(2 / 3)


def cutoff_of(word: str, k: int) -> int:
    """The cut-off of a word that does not name it, in a call with one."""
    return 10 if word in ("recall", "map", "mrr") else k if "topk" in word else 1


def test_the_first_answer_is_measured_beside_larger_cut_offs():
    assert list(means(plain({"q1": ["Lyon", "Paris"]}, k=[2, 3]))) == [
        *("accuracy@1", "accuracy@2", "accuracy@3"),
        *("EM@1", "EM@2", "EM@3"),
        *("F1@1", "F1@2", "F1@3"),
    ]


def test_the_largest_cut_off_says_which_documents_were_retrieved_unless_a_depth_does():
    gold = questions_by_place({"q1": [("d1", 0, 4)]})
    retrieved = {"q1": in_order(["x", "y", "d1"])}

    def failed(**options: Any) -> str | None:
        result = rw.evaluate_qa(gold, retrieved=retrieved, intervals="none", **options)
        return result.outcomes[0].failed

    assert [failed(k=[1, 3]), failed(k=2), failed(k=2, depth=3)] == ["none", "retriever", "none"]
    assert list(means(rw.evaluate_qa(gold, retrieved=retrieved, k=[1, 3], depth=2))) == [
        "recall@2",
        "MRR@2",
    ]


def test_the_curves_have_each_cut_off_once():
    gold = questions_by_place({"q1": [("d1", 0, 4)]})
    result = rw.evaluate_qa(gold, retrieved={"q1": in_order(["x", "d1"])}, k="1,2,3")

    assert [(row["label"], row["k"]) for row in result.top_k] == [
        (f"{word}@{k}", k) for word in ("recall", "MRR") for k in (1, 2, 3)
    ]


def test_words_look_at_the_first_answer_and_take_a_cut_off():
    found = means(plain({"q1": ["Lyon", "Paris"]}, measures="accuracy accuracy@2 f1"))

    assert found == pytest.approx({"accuracy": 0, "accuracy@2": 1 / 3, "f1": 0})


def test_a_retriever_is_judged_by_recall_and_reciprocal_rank(tmp_path: Path):
    gold = written(tmp_path / "gold.json", squad(qa("q1"), qa("q2")))
    retrieved = {"q1": in_order(["other", "France#0"]), "q2": in_order(["other", "further"])}

    result = rw.evaluate_qa(gold, retrieved=retrieved, depth=2, intervals="none")

    assert means(result) == pytest.approx({"recall@2": 0.5, "MRR@2": 0.25})


@pytest.mark.parametrize(
    "text",
    [
        "",
        None,
        "No answer.",
        "I don't know",
        "I don’t know the answer to that.",
        "There is no answer in the context.",
        "unanswerable",
        "The context does not mention it.",
    ],
)
def test_a_refusal_is_right_for_an_impossible_question_alone(text: str | None):
    result = plain({"q1": [text], "q3": [text]}, measures="accuracy EM F1")

    assert means(result) == pytest.approx(dict.fromkeys(["accuracy", "EM", "F1"], 1 / 3))
    assert [outcome.why for outcome in result.outcomes] == [
        "gave no answer although there is one",
        "no prediction",
        "correctly gave no answer",
    ]


@pytest.mark.parametrize("text", ["Unknown Pleasures", "nobody", "no answers here"])
def test_what_only_begins_like_a_refusal_is_an_answer(text: str):
    assert means(plain({"q3": [text]}, measures="EM")) == {"EM": 0}


def test_a_refusal_that_is_a_right_answer_is_an_answer():
    gold = Questions.from_texts({"q1": ["Unknown"]})
    result = rw.evaluate_qa(gold, Predictions.from_texts({"q1": ["unknown"]}), measures="EM")

    assert means(result) == {"EM": 1}


def test_a_file_of_the_user_adds_refusals(tmp_path: Path):
    own = tmp_path / "own.toml"
    own.write_text('base = "rankwell"\n[tasks.qa]\nmore_refusals = ["weiß ich nicht*"]\n')
    answers = {"q3": ["Weiß ich nicht genau"]}

    assert means(plain(answers, measures="EM")) == {"EM": 0}
    assert means(plain(answers, measures="EM", convention=str(own))) == pytest.approx({"EM": 1 / 3})


def test_the_plain_convention_says_nothing_about_itself():
    assert not [finding for finding in plain({"q1": ["Paris"]}).findings if "convention" in finding]


def test_piaf_knows_no_refusals():
    assert find_convention("piaf", "qa").tasks["qa"].get("refusals", ()) == ()
