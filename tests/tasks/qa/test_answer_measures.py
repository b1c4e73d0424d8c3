"""Right answers and given ones: what counts as right, for which questions, over how many answers,
above which threshold.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from answer_forms import (
    SQUAD2_BEST,
    SQUAD2_OFFICIAL,
    SQUAD2_OFFICIAL_BY_GROUP,
    Span,
    answers_by_place,
    made_up_numbers,
    questions_by_place,
    squad2_files,
)
from oracles import answers as oracle
from rankwell import group_rankings, judged_rankings
from rankwell.data.registry import parse_measure
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate
from rankwell.tasks.qa.answer_pairs import (
    AnswerPairs,
    Predictions,
    Questions,
    answer_pairs,
    unmatched,
)
from rankwell.tasks.qa.measures.answers import answer_accuracy, answer_em, answer_f1
from rankwell.tasks.qa.thresholds import best_threshold, precision_recall


def spans_view(golds: dict[str, list[Span]], given_: dict[str, list[Span | None]]) -> AnswerPairs:
    """The view of positions alone."""
    return AnswerPairs.pair(questions_by_place(golds), answers_by_place(given_))


# ---- positions
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "end", "overlap", "intersect", "f1"),
    [
        (16, 20, 1, 0, 0.0),
        (17, 20, 0, 0, 0.0),
        (11, 11, 1, 0, 0.0),
        (6, 11, 1, 0, 0.0),
        (15, 17, 1, 1, 2 / 7),
        (11, 16, 1, 1, 1.0),
    ],
)
def test_spans_that_touch_overlap_and_share_nothing(
    start: int, end: int, overlap: int, intersect: int, f1: float
):
    view = spans_view({"q": [("d", 11, 16)]}, {"q": [("d", start, end)]})

    assert answer_accuracy(view).tolist() == [overlap]
    assert answer_accuracy(view, match="intersect").tolist() == [intersect]
    assert answer_f1(view, unit="offset").tolist() == pytest.approx([f1])
    assert answer_em(view, match="offset").tolist() == [float(f1 == 1)]


def test_the_same_place_of_another_document_is_wrong():
    view = spans_view({"q": [("d", 11, 16)]}, {"q": [("e", 11, 16)]})

    assert answer_accuracy(view).tolist() == answer_em(view, match="offset").tolist() == [0.0]


def test_an_answer_from_a_wrong_document_keeps_its_rank():
    view = spans_view({"q": [("d", 11, 16)]}, {"q": [("e", 11, 16), ("d", 11, 16)]})

    assert (answer_accuracy(view, k=1).tolist(), answer_accuracy(view, k=2).tolist()) == (
        [0.0],
        [1.0],
    )


def test_rules_about_positions_are_refused_where_there_are_none():
    view = answer_pairs({"q": ["Paris"]}, {"q": ["Paris"]})

    with pytest.raises(BadUsage, match="no positions"):
        answer_accuracy(view)


def test_answers_without_positions_are_refused_by_rules_about_positions():
    questions = Questions(
        ("q",),
        ("",),
        np.array([False]),
        ("d",),
        np.array([0, 1]),
        ("Paris",),
        ("d",),
        np.array([3]),
    )

    with pytest.raises(BadUsage, match="predicted answers have no positions"):
        answer_em(
            AnswerPairs.pair(questions, Predictions.from_texts({"q": ["Paris"]})), match="offset"
        )


def test_a_normaliser_and_positions_do_not_go_together():
    view = spans_view({"q": [("d", 11, 16)]}, {"q": [("d", 11, 16)]})

    with pytest.raises(BadUsage, match="positions are compared"):
        answer_em(view, match="offset", normalizer="squad")


# ---- texts
# --------------------------------------------------------------------------------------------------


def test_characters_may_stand_anywhere():
    dates = answer_pairs({"q": ["1990"]}, {"q": ["1909"]})
    towns = answer_pairs({"q": ["Paris"]}, {"q": ["Paris, France"]})

    assert answer_em(dates, normalizer="none").tolist() == [0.0]
    assert answer_f1(dates, unit="char", normalizer="none").tolist() == [1.0]
    assert answer_f1(towns, unit="char", normalizer="none").tolist() == pytest.approx([10 / 18])


def test_repeated_tokens_count_repeatedly():
    # Given: red red blue; right: red red red. Shared: red twice; P = 2/3, R = 2/3.
    view = answer_pairs({"q": ["red red red"]}, {"q": ["red red blue"]})

    assert answer_f1(view).tolist() == pytest.approx([2 / 3])


def test_the_best_right_answer_counts():
    view = answer_pairs({"q": ["red green blue", "red blue", "grey"]}, {"q": ["red blue black"]})

    assert answer_f1(view).tolist() == pytest.approx([0.8])


def test_two_answers_of_nothing_are_equal_and_share_nothing_in_squad1_and_all_in_squad2():
    view = answer_pairs({"q": ["The"]}, {"q": ["The"]})

    assert (
        answer_em(view, no_answer="refuse").tolist(),
        answer_f1(view, no_answer="refuse").tolist(),
    ) == ([1.0], [0.0])
    assert (
        answer_em(view, no_answer="squad2").tolist(),
        answer_f1(view, no_answer="squad2").tolist(),
    ) == ([1.0], [1.0])


def test_squad2_drops_right_answers_of_nothing_unless_there_is_no_other():
    view = answer_pairs({"one": ["A", "b"], "two": ["A", "The"]}, {"one": ["the"], "two": ["an"]})

    assert answer_em(view, no_answer="squad2").tolist() == [0.0, 1.0]
    assert answer_em(view, no_answer="normalized").tolist() == [1.0, 1.0]


def test_a_question_without_a_right_answer_is_an_error_where_the_source_has_no_rule_for_it():
    view = answer_pairs({"q": []}, {"q": ["x"]})

    with pytest.raises(BadUsage, match="question 'q' has no right answer"):
        answer_em(view, no_answer="refuse")


# ---- no answer
# --------------------------------------------------------------------------------------------------

LISTS: dict[str, list[str | None]] = {
    "a none": [None],
    "b empty text": [""],
    "c blank": ["  "],
    "d empty list": [],
    "e the": ["the"],
    "f text": ["x"],
}


@pytest.mark.parametrize(
    ("rule", "right"),
    [
        ("explicit", "a none"),
        ("blank", "a none,b empty text,c blank,d empty list"),
        ("normalized", "a none,b empty text,c blank,d empty list,e the"),
        ("squad2", "a none,b empty text,c blank,d empty list,e the"),
        ("wrong", ""),
        ("never", ""),
    ],
)
def test_each_rule_for_no_answer_has_a_name(rule: Any, right: str):
    view = answer_pairs({each: [] for each in LISTS}, LISTS)

    for values in (answer_em(view, no_answer=rule), answer_f1(view, no_answer=rule)):
        assert [each for each, value in zip(view.queries, values, strict=True) if value] == [
            each for each in right.split(",") if each
        ]


def test_a_blank_answer_may_equal_a_right_one_that_vanishes_except_in_kilt():
    view = answer_pairs({"q": ["---"]}, {"q": [""]})

    assert answer_em(view, no_answer="wrong").tolist() == [1.0]
    assert answer_em(view, no_answer="never").tolist() == [0.0]


def test_above_the_threshold_no_answer_is_given():
    questions = Questions.from_texts({"a": ["x"], "b": ["x"], "c": [], "d": []})
    predictions = Predictions.from_texts(
        {each: ["x"] for each in "abcd"}, no_answer={"a": 0.5, "b": 0.6, "c": 0.6}
    )
    view = AnswerPairs.pair(questions, predictions)

    assert answer_em(view, na_threshold=0.5).tolist() == [1.0, 0.0, 1.0, 0.0]


def test_an_answer_of_none_later_in_the_list_counts_for_top_k_only():
    view = answer_pairs({"q": []}, {"q": ["x", None]})

    assert (answer_em(view, k=1).tolist(), answer_em(view, k=2).tolist()) == ([0.0], [1.0])


# ---- populations, missing and extra predictions
# -------------------------------------------------------------------------


def test_a_question_outside_the_population_is_not_counted():
    view = answer_pairs({"a": ["x"], "b": []}, {"a": ["x"], "b": ["x"]})

    assert answer_em(view, population="answerable").tolist() == pytest.approx(
        [1.0, math.nan], nan_ok=True
    )
    assert answer_em(view, population="impossible").tolist() == pytest.approx(
        [math.nan, 0.0], nan_ok=True
    )


def test_what_was_not_retrieved_is_left_out_or_zero():
    questions, predictions = (
        kind.from_texts({"a": ["x"], "b": ["x"]}) for kind in (Questions, Predictions)
    )
    view, joined = (
        AnswerPairs.pair(questions, predictions, retrieved=known) for known in (None, {"a": True})
    )

    assert answer_em(joined, retrieval="only").tolist() == pytest.approx(
        [1.0, math.nan], nan_ok=True
    )
    assert answer_em(joined, retrieval="required").tolist() == [1.0, 0.0]
    with pytest.raises(BadUsage, match="retrieved"):
        answer_em(view, retrieval="only")


def test_a_question_that_is_neither_answerable_nor_flagged_is_never_answered_where_the_flag_decides():  # noqa: E501
    questions = Questions.from_texts({"a": [], "b": []}, impossible=["b"])
    predictions = Predictions.from_texts({"a": [None], "b": [None]})

    by_flag = AnswerPairs.pair(questions, predictions, impossible="flagged")
    by_answers = AnswerPairs.pair(questions, predictions, impossible="unanswered")

    assert answer_em(by_flag).tolist() == [0.0, 1.0]
    assert answer_em(by_answers).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("policy", "queries", "values"),
    [("zero", "abc", [1.0, 0.0, 0.0]), ("empty", "abc", [1.0, 0.0, 1.0]), ("skip", "a", [1.0])],
)
def test_questions_without_a_prediction_follow_a_named_policy(
    policy: Any, queries: str, values: list[float]
):
    questions = Questions.from_texts({"a": ["x"], "b": ["x"], "c": []})
    view = AnswerPairs.pair(
        questions, Predictions.from_texts({"a": ["x"], "z": ["x"]}), missing=policy
    )

    assert (view.queries, answer_em(view).tolist()) == (tuple(queries), values)


def test_questions_without_a_prediction_and_predictions_without_a_question_are_named():
    questions, predictions = (
        Questions.from_texts({"a": ["x"], "b": ["x"]}),
        Predictions.from_texts({"a": ["x"], "z": ["x"]}),
    )

    assert unmatched(questions, predictions) == (("b",), ("z",))
    with pytest.raises(BadInput, match="1 × question without a prediction, the first 'b'"):
        AnswerPairs.pair(questions, predictions, missing="error")
    with pytest.raises(BadInput, match="1 × prediction without a question, the first 'z'"):
        AnswerPairs.pair(questions, predictions, extra="error")


def test_predictions_of_another_data_set_are_nothing_to_evaluate():
    with pytest.raises(NothingToEvaluate, match=r"none of the 1 questions.*like 'a'.*like 'z'"):
        answer_pairs({"a": ["x"]}, {"z": ["x"]})


def test_questions_are_joined_by_id_and_equal_texts_stay_apart():
    view = answer_pairs({"1": ["Ouganda"], "2": ["Kenya"]}, {"2": ["Kenya"], "1": ["Kenya"]})

    assert answer_em(view).tolist() == [0.0, 1.0]


# ---- the first k
# --------------------------------------------------------------------------------------------------


def test_the_mean_of_the_first_k_divides_by_the_answers_there_are():
    view = answer_pairs(
        {"a": ["x"], "b": ["x"], "c": []}, {"a": ["y", "x", "x"], "b": ["x"], "c": []}
    )

    assert answer_f1(view, over="mean", k=2).tolist() == [0.5, 1.0, 1.0]
    assert answer_f1(view, over="mean").tolist() == pytest.approx([2 / 3, 1.0, 1.0])


def test_the_measure_at_each_k_looks_at_no_more_answers():
    view = answer_pairs({"a": ["x"], "b": ["x"]}, {"a": ["y", "z", "x"], "b": ["y", "x"]})

    assert [answer_em(view, k=k).tolist() for k in (1, 2, 3, 9)] == [[0, 0], [0, 1], [1, 1], [1, 1]]


def test_normal_forms_and_scores_are_worked_out_once_for_every_cut_off_and_population(
    monkeypatch: pytest.MonkeyPatch,
):
    from rankwell.tasks.qa import answer_pairs as module

    asked: list[str] = []
    real = module.normalize_all
    monkeypatch.setattr(
        module, "normalize_all", lambda texts, how: asked.append(how.name) or real(texts, how)
    )
    view = answer_pairs({"a": ["x"], "b": []}, {"a": ["y x"], "b": ["x"]})
    for text in (
        "AnswerEM",
        "AnswerEM@1",
        "AnswerF1",
        "AnswerF1(population='answerable')@2",
        "AnswerEM(normalizer='french')",
    ):
        parse_measure(text)(view)

    assert asked == ["squad", "french"]


# ---- thresholds
# --------------------------------------------------------------------------------------------------

ROWS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.25, 0.5, 1.0]),
        st.booleans(),
        st.sampled_from([-1.5, 0.0, 0.25, 0.5, 1.0, 3.0]),
    ),
    min_size=1,
    max_size=12,
)


def columns(rows: list[tuple[float, bool, float]]) -> tuple[Any, Any, Any]:
    """Scores (0 or 1 where impossible), answerable, no-answer numbers."""
    scores = [score if answerable else float(score >= 0.5) for score, answerable, _ in rows]
    return np.array(scores), np.array([row[1] for row in rows]), np.array([row[2] for row in rows])


@settings(max_examples=300, deadline=None, derandomize=True)
@given(ROWS)
def test_the_best_threshold_reaches_what_it_says_and_no_threshold_reaches_more(
    rows: list[tuple[float, bool, float]],
):
    scores, answerable, numbers = columns(rows)
    value, threshold = best_threshold(scores, answerable, numbers)

    reached = [
        score if number <= threshold else float(not has)
        for score, has, number in zip(scores, answerable, numbers, strict=True)
    ]

    assert sum(reached) / len(rows) == pytest.approx(value)
    assert value == pytest.approx(
        oracle.best_threshold(scores.tolist(), answerable.tolist(), numbers.tolist())
    )


@settings(max_examples=200, deadline=None, derandomize=True)
@given(ROWS)
def test_the_quirk_of_the_official_script_is_reproduced_on_request(
    rows: list[tuple[float, bool, float]],
):
    scores, answerable, numbers = columns(rows)

    found = best_threshold(scores, answerable, numbers, ties="official")

    assert found == pytest.approx(
        oracle.official_best_threshold(scores.tolist(), answerable.tolist(), numbers.tolist())
    )


def test_where_all_probabilities_tie_the_official_best_depends_on_the_order_and_ours_does_not():
    # Question a is answerable and answered rightly, b is impossible and answered.
    right, has = np.array([1.0, 0.0]), np.array([True, False])
    forth, back = slice(None), slice(None, None, -1)

    official = [
        best_threshold(right[way], has[way], np.zeros(2), ties="official").value
        for way in (forth, back)
    ]
    ours = [best_threshold(right[way], has[way], np.zeros(2)).value for way in (forth, back)]

    assert (official, ours) == ([1.0, 0.5], [0.5, 0.5])


@settings(max_examples=200, deadline=None, derandomize=True)
@given(ROWS.filter(lambda rows: any(row[1] for row in rows)))
def test_average_precision_is_the_area_under_its_points(rows: list[tuple[float, bool, float]]):
    scores, answerable, numbers = columns(rows)
    curve = precision_recall(scores, answerable, numbers)

    assert curve.average_precision == pytest.approx(
        oracle.average_precision(scores.tolist(), answerable.tolist(), numbers.tolist())
    )
    assert (
        len(curve.thresholds)
        == len(curve.precision)
        == len(curve.recall)
        == len(set(numbers.tolist())) + 1
    )


def test_an_oracle_with_perfect_probabilities_has_average_precision_1():
    has = np.array([True, False, True, False])

    assert (
        precision_recall(np.ones(4), has, np.array([0.1, 0.9, 0.2, 0.8])).average_precision == 1.0
    )


def test_recall_needs_an_answerable_question():
    with pytest.raises(NothingToEvaluate, match="no question is answerable"):
        precision_recall(np.ones(1), np.array([False]), np.array([0.5]))


# ---- real predictions
# --------------------------------------------------------------------------------------------------


def subset(shared: Path) -> AnswerPairs:
    """BERT's answers to the questions on the Normans and on computational complexity, with the
    research page's probabilities.
    """
    document, given_ = (json.loads(path.read_text()) for path in squad2_files(shared))
    asked = [
        qa
        for article in document["data"]
        for paragraph in article["paragraphs"]
        for qa in paragraph["qas"]
    ]
    right = {qa["id"]: [answer["text"] for answer in qa["answers"]] for qa in asked}
    predictions = Predictions.from_texts(
        {each: [text] for each, text in given_.items()}, no_answer=made_up_numbers(list(right))
    )
    return AnswerPairs.pair(Questions.from_texts(right), predictions)


@pytest.mark.parametrize(
    ("population", "group"), [("all", ""), ("answerable", "HasAns_"), ("impossible", "NoAns_")]
)
def test_bert_on_squad2_has_the_values_of_the_official_script(
    shared: Path, population: Any, group: str
):
    view = subset(shared)
    official, exactly = (
        (SQUAD2_OFFICIAL_BY_GROUP, {"abs": 5e-7}) if group else (SQUAD2_OFFICIAL, {"rel": 1e-14})
    )

    for label, measure in (("exact", answer_em), ("f1", answer_f1)):
        found = 100 * np.nanmean(measure(view, no_answer="squad2", population=population))
        assert found == pytest.approx(official[group + label], **exactly), label


def test_the_best_thresholds_are_those_of_the_official_script_where_few_probabilities_tie(
    shared: Path,
):
    view = subset(shared)

    for label, measure in (("exact", answer_em), ("f1", answer_f1)):
        found = best_threshold(measure(view, no_answer="squad2"), ~view.impossible, view.no_answer)
        assert (100 * found.value, found.threshold) == pytest.approx(
            SQUAD2_BEST[label], rel=1e-14
        ), label


# ---- other tools' unit values
# -------------------------------------------------------------------------------------------

KILT_PAGES = {
    "q": {"test1": {"1": 1, "2": 1}, "test2": {"5": 1}, "test3": {"7": 1, "9": 1, "11": 1}}
}


@pytest.mark.parametrize(
    ("pages", "expected"),
    [
        (
            "2 5 7 33 1 9 44 88",
            {"EvidenceRprec": 1 / 2, "EvidenceP@1": 1, "EvidenceP@5": 2 / 5, "EvidenceR@5": 2 / 3},
        ),
        ("5", {"EvidenceRprec": 1, "EvidenceP@1": 1, "EvidenceP@5": 1 / 5, "EvidenceR@5": 1 / 3}),
    ],
)
def test_kilt_ranks_sets_of_evidence(pages: str, expected: dict[str, float]):
    run = {"q": {page: -float(rank) for rank, page in enumerate(pages.split())}}
    view = group_rankings(KILT_PAGES, run)

    assert {name: parse_measure(name)(view)[0] for name in expected} == pytest.approx(expected)
    assert parse_measure("EvidenceSuccess@5")(view).tolist() == [1.0]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    st.dictionaries(
        st.sampled_from("xyz"),
        st.dictionaries(st.sampled_from("abcde"), st.sampled_from([0.0, 1.0, 2.0])),
        min_size=1,
    ),
    st.lists(st.sampled_from("abcdefg"), unique=True),
)
def test_sets_of_evidence_take_the_places_that_kilt_gives_them(
    sets: dict[str, dict[str, float]], listed: list[str]
):
    view = group_rankings(
        {"q": sets}, {"q": {item: -float(rank) for rank, item in enumerate(listed)}}
    )

    for name in ("EvidenceP", "EvidenceR", "EvidenceSuccess"):
        for k in (1, 2, 3, 5):
            assert parse_measure(f"{name}@{k}")(view)[0] == pytest.approx(
                getattr(oracle, name)(listed, sets, k=k)
            ), (name, k)


def test_haystack_2_has_the_same_values_for_the_same_lists():
    documents = {
        "1": ("France", "France"),
        "2": ("9th century|9th", "9th century|10th century|9th"),
        "3": ("classical music|classical", "classical|rock music|dubstep"),
        "4": ("11th century|the 11th", "11th|the 11th|11th century"),
        "5": ("Denmark, Iceland and Norway", "Denmark|Norway|Iceland"),
        "6": ("10th century|10th", "10th century|the first half of the 10th century|10th"),
    }
    truth = {query: dict.fromkeys(right.split("|"), 1.0) for query, (right, _) in documents.items()}
    run = {
        query: {item: -float(rank) for rank, item in enumerate(found.split("|"))}
        for query, (_, found) in documents.items()
    }
    view = judged_rankings(truth, run)

    average = parse_measure("AP")(view)
    assert average.tolist() == pytest.approx([1, 5 / 6, 0.5, 7 / 12, 0, 5 / 6])
    assert average.mean() == pytest.approx(0.625)
    # Before August 2026 it divided by what was found, so that half of the third list cost nothing.
    assert parse_measure("AP(denom='found')")(view)[2] == 1.0
    assert parse_measure("Success@10")(view).tolist() == [1, 1, 1, 1, 0, 1]


def test_haystack_2_has_the_same_reciprocal_ranks_and_recalls():
    documents = {
        "1": ("France", "France"),
        "2": ("9th century|9th", "10th century|9th century|9th"),
        "3": ("classical music|classical", "rock music|dubstep|classical"),
        "4": ("11th century|the 11th", "11th|the 11th|11th century"),
        "5": ("Denmark|Iceland|Norway|Denmark, Iceland and Norway", "Denmark|Norway|Iceland"),
        "6": ("10th century|10th", "10th century|the first half of the 10th century|10th"),
    }
    truth = {query: dict.fromkeys(right.split("|"), 1.0) for query, (right, _) in documents.items()}
    run = {
        query: {item: -float(rank) for rank, item in enumerate(found.split("|"))}
        for query, (_, found) in documents.items()
    }
    view = judged_rankings(truth, run)

    assert parse_measure("R")(view).tolist() == [1.0, 1.0, 0.5, 1.0, 0.75, 1.0]
    # The fifth question of Haystack's test of reciprocal ranks has none of its documents retrieved.
    assert parse_measure("RR")(view)[[0, 1, 2, 3, 5]].tolist() == pytest.approx(
        [1, 1 / 2, 1 / 3, 1 / 2, 1]
    )


def test_haystack_2_has_the_same_gains():
    graded = {"doc1": 3.0, "doc2": 2.0, "doc3": 3.0, "doc6": 2.0, "doc7": 3.0, "doc8": 2.0}
    listed = judged_rankings(
        {"q": graded}, {"q": {f"doc{rank}": -float(rank) for rank in range(1, 6)}}
    )
    plain = judged_rankings(
        {"q": {"France": 1, "Paris": 1}}, {"q": {"France": 3.0, "Germany": 2.0, "Paris": 1.0}}
    )
    six = {"doc1": 3.0, "doc2": 2.0, "doc3": 3.0, "doc4": 0.0, "doc5": 1.0, "doc6": 2.0}
    whole = judged_rankings(
        {"q": six}, {"q": {item: -float(rank) for rank, item in enumerate(six)}}
    )
    sorted_ = {"a": 3.0, "b": 3.0, "c": 3.0, "d": 2.0, "e": 2.0, "f": 2.0}
    best = judged_rankings(
        {"q": sorted_}, {"q": {item: -float(rank) for rank, item in enumerate(sorted_)}}
    )

    assert parse_measure("nDCG")(listed)[0] == pytest.approx(0.6592, abs=5.1e-5)
    assert parse_measure("nDCG")(plain)[0] == pytest.approx(0.9197, abs=5.1e-5)
    assert parse_measure("DCG")(whole)[0] == pytest.approx(6.8611, abs=5.1e-5)
    assert parse_measure("DCG")(best)[0] == pytest.approx(8.7403, abs=5.1e-5)


def test_haystack_2_compares_whole_texts():
    right = (
        "France,9th century,9th,classical music,classical,11th century,the "
        "11th,Denmark,Iceland,Norway,10th century,10th"
    )
    said = (
        "France|9th century|10th century|9th|classic music|rock music|dubstep|the 11th|11th "
        "century|"
    )
    said += "Denmark, Iceland and Norway|10th century|10th"
    ids = [f"{number:02}" for number in range(12)]
    view = answer_pairs(
        {each: [text] for each, text in zip(ids, right.split(","), strict=True)},
        {each: [text] for each, text in zip(ids, said.split("|"), strict=True)},
    )

    assert answer_em(view, normalizer="none").tolist() == [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1]
