"""Conventions for answers: what each source's words mean, seen on the fixtures that tell the
sources apart.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from answer_forms import (
    GIVEN,
    GOLD,
    PIAF_SAMPLE,
    READER_FINDER,
    READER_PIAF,
    RELEVANT,
    RETRIEVER,
    RETURNED,
    in_order,
    piafs_own_lists,
)
from make import own_convention
from rankwell import judged_rankings
from rankwell.conventions import CONVENTIONS
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.registry import parse_measure
from rankwell.errors import BadUsage, UnknownName
from rankwell.tasks.qa.answer_pairs import AnswerPairs, Predictions, Questions, answer_pairs
from rankwell.tasks.qa.options import QaOptions
from rankwell.tasks.qa.plan import AnswerPlan

JUDGES = [entry.name for entry in map(CONVENTIONS.__getitem__, CONVENTIONS) if "qa" in entry.tasks]


def retriever_view() -> JudgedRankings:
    """What the fixture's retriever returned, against the relevant documents."""
    truth = {query: dict.fromkeys(documents, 1.0) for query, documents in RELEVANT.items()}
    return judged_rankings(
        truth, {query: in_order(documents) for query, documents in RETURNED.items()}
    )


def words(name: str, k: int = 5, depth: int = 10, **rules: Any) -> AnswerPlan:
    convention = own_convention(name, **rules) if rules else name
    return AnswerPlan(QaOptions(convention=convention, k=k, depth=depth), has_answers=True)


def reader_view() -> AnswerPairs:
    """The fixture's answers, with what was retrieved."""
    found = {
        query: bool({*RELEVANT[query]} & {*documents}) for query, documents in RETURNED.items()
    }
    return AnswerPairs.pair(GOLD, GIVEN, retrieved=found)


def report(name: str, view: AnswerPairs, k: int = 5, **rules: Any) -> dict[str, float]:
    """The mean of every measure that a convention reports of answers, by its label; percentages
    where the source has them.
    """
    scale = 100 if CONVENTIONS[name].unit == "percent" else 1
    asked = words(name, k, **rules).reader_measures(None)
    return {label: scale * float(np.nanmean(measure(view))) for measure, label in asked}


def of_texts(
    right: dict[str, list[str]], given: dict[str, list[str | None]], retrieved: str = ""
) -> AnswerPairs:
    known = {query: query in retrieved.split() if retrieved else True for query in right}
    return AnswerPairs.pair(
        Questions.from_texts(right), Predictions.from_texts(given), retrieved=known
    )


# ---- PIAF and Haystack
# --------------------------------------------------------------------------------------------------


def test_piaf_divides_by_all_questions():
    assert report("piaf", reader_view()) == pytest.approx(READER_PIAF)


def test_haystacks_finder_divides_by_the_questions_whose_document_was_retrieved():
    assert report("haystack-finder", reader_view()) == pytest.approx(READER_FINDER)


@pytest.mark.parametrize(
    ("name", "prefix", "average"),
    [
        ("piaf", "", RETRIEVER["map"]),
        ("haystack-finder", "retriever_", RETRIEVER["map"]),
        ("piaf-article", "", (1 + 1 / 2 + 1) / 5),
    ],
)
def test_the_retriever_is_judged_over_all_questions(name: str, prefix: str, average: float):
    view = retriever_view()

    found = {
        label: float(measure(view).mean()) for measure, label in words(name).retriever_measures()
    }

    assert found == pytest.approx(
        {f"{prefix}{word}": value for word, value in (RETRIEVER | {"map": average}).items()}
    )


def test_the_words_of_piafs_article_are_understood_and_reported_by_the_codes_names():
    asked = words("piaf", 3).reader_measures(["reader_top1_fk", "reader_top1_fk_has_answer"])

    assert [(each.label, str(each.measure)) for each in asked] == [
        ("reader_topk_f1", "AnswerF1(unit='offset',no_answer='explicit')@3"),
        (
            "reader_topk_f1_has_answer",
            "AnswerF1(unit='offset',no_answer='explicit',population='answerable')@3",
        ),
    ]


def test_piaf_gives_no_credit_for_an_empty_list_or_text():
    texts: dict[str, list[str | None]] = {"a": [None], "b": [""], "c": []}
    view = answer_pairs({"a": [], "b": [], "c": []}, texts)

    assert parse_measure("reader_top1_no_answer_accuracy", CONVENTIONS["piaf"].words)(
        view
    ).tolist() == [1, 0, 0]


# ---- PIAF's article
# --------------------------------------------------------------------------------------------------


def test_the_articles_examples_of_the_retriever_come_out():
    words = CONVENTIONS["piaf-article"].words
    ranks = {"a": (1,), "b": (2,), "c": (4,), "two": (2, 4)}
    truth = {
        query: {f"d{rank}": 1.0 for rank in hits} | {"never": 1.0} for query, hits in ranks.items()
    }
    view = judged_rankings(
        truth, {query: in_order([f"d{rank}" for rank in range(1, 6)]) for query in ranks}
    )

    assert parse_measure("map@5", words)(view)[3] == pytest.approx((1 / 2 + 2 / 4) / 2)
    assert parse_measure("map@5", CONVENTIONS["piaf"].words)(view)[3] == pytest.approx(
        (1 / 2 + 2 / 4) / 3
    )
    assert parse_measure("mrr@5", words)(view)[:3].mean() == pytest.approx((1 + 1 / 2 + 1 / 4) / 3)
    assert parse_measure("recall@1", words)(view).mean() == 1 / 4


def test_the_article_compares_characters_and_whole_texts():
    dates = report("piaf-article", of_texts({"q": ["1990"]}, {"q": ["1909"]}))
    towns = report("piaf-article", of_texts({"q": ["Paris"]}, {"q": ["Paris, France"]}))

    assert (dates["reader_top1_em"], dates["reader_top1_f1"]) == (0, 1)
    assert (towns["reader_top1_em"], towns["reader_top1_f1"]) == (0, pytest.approx(10 / 18))
    assert (dates["reader_top1_accuracy"], towns["reader_top1_accuracy"]) == (0, 1)


def test_the_article_counts_accuracy_and_em_over_correct_retrievals_and_f1_over_all():
    view = of_texts(
        {"a": ["x"], "b": ["x"], "c": []},
        {"a": ["y", "x"], "b": ["x"], "c": ["x"]},
        retrieved="a c",
    )

    assert report("piaf-article", view) == pytest.approx(
        {
            "reader_top1_accuracy": 0,
            "reader_top1_accuracy_has_answer": 0,
            "reader_topk_accuracy": 1 / 2,
            "reader_topk_accuracy_has_answer": 1,
            "reader_top1_em": 0,
            "reader_top1_em_has_answer": 0,
            "reader_topk_em": 1 / 2,
            "reader_topk_em_has_answer": 1,
            "reader_top1_f1": 1 / 3,
            "reader_top1_f1_has_answer": 1 / 2,
            "reader_topk_f1": 2 / 3,
            "reader_topk_f1_has_answer": 1,
            "reader_top1_fk": (1 / 2 + 1 + 0) / 3,
            "reader_top1_fk_has_answer": (1 / 2 + 1) / 2,
        }
    )


@pytest.mark.parametrize("nothing", [[None], [""], []])
def test_in_the_article_none_an_empty_text_and_an_empty_list_all_say_that_there_is_none(
    nothing: list[str | None],
):
    assert set(
        report("piaf-article", of_texts({"a": [], "b": ["x"]}, {"a": nothing, "b": ["x"]})).values()
    ) == {1.0}


# ---- PIAF's own test data
# -----------------------------------------------------------------------------------------------


def test_piafs_own_test_of_the_retriever_comes_out(shared: Path):
    document = json.loads((shared / "qa" / "piaf_tiny.json").read_text())
    paragraphs = [paragraph for article in document["data"] for paragraph in article["paragraphs"]]
    asked = {
        f"{place}-{number}": f"p{place}"
        for place, each in enumerate(paragraphs)
        for number, qa in enumerate(each["qas"])
        if qa["question"]
    }
    lists = piafs_own_lists(asked, nowhere=list(asked)[-1])
    truth = {query: {paragraph: 1.0} for query, paragraph in asked.items()}
    view = judged_rankings(
        truth, {query: in_order(paragraphs) for query, paragraphs in lists.items()}
    )

    found = {
        label: float(measure(view).mean()) for measure, label in words("piaf").retriever_measures()
    }

    assert len(asked) == 16
    assert found == pytest.approx(PIAF_SAMPLE)


# ---- the others
# --------------------------------------------------------------------------------------------------


def test_squad2_reports_both_groups_in_percent():
    view = of_texts(
        {"a": ["x y"], "b": ["x"], "c": [], "d": []},
        {"a": ["x"], "b": ["The X!"], "c": [""], "d": ["x"]},
    )

    assert report("squad2", view) == pytest.approx(
        {
            "exact": 50,
            "f1": 100 * (2 / 3 + 1 + 1) / 4,
            "HasAns_exact": 50,
            "HasAns_f1": 100 * (2 / 3 + 1) / 2,
            "NoAns_exact": 50,
            "NoAns_f1": 50,
        }
    )


def test_squad2_gives_no_answer_only_above_its_threshold():
    questions = Questions.from_texts({"a": ["x"], "b": []})
    view = AnswerPairs.pair(
        questions, Predictions.from_texts({"a": ["x"], "b": ["x"]}, no_answer={"a": 0.2, "b": 1.0})
    )

    assert report("squad2", view)["exact"] == 50
    assert report("squad2", view, na_threshold=0.5)["exact"] == 100


def test_squad1_and_squad2_differ_where_an_answer_vanishes():
    view = of_texts({"q": ["The"]}, {"q": ["The"]})

    assert report("squad1", view) == {"exact_match": 100, "f1": 0}
    assert (
        report("squad2", of_texts({"q": ["The"], "r": []}, {"q": ["The"], "r": ["x"]}))["HasAns_f1"]
        == 100
    )


def test_squad1_refuses_a_question_without_a_right_answer():
    with pytest.raises(BadUsage, match="no right answer"):
        report("squad1", of_texts({"q": []}, {"q": ["x"]}))


def test_french_answers_are_equal_under_french_and_not_under_squad2():
    view = of_texts(
        {"a": ["Ouganda"], "b": ["L'Ouganda"], "c": []},
        {"a": ["L’Ouganda"], "b": ["Ouganda"], "c": [""]},
    )

    assert report("french", view)["exact"] == 100
    assert report("squad2", view)["HasAns_exact"] == 0


def test_english_articles_make_french_sentences_equal_under_squad2_only():
    view = of_texts({"a": ["il y a un an"], "b": []}, {"a": ["il y un"], "b": [""]})

    assert (report("squad2", view)["HasAns_exact"], report("french", view)["HasAns_exact"]) == (
        100,
        0,
    )


@pytest.mark.parametrize(
    ("language", "right", "given"),
    [
        ("de", "Die Katze", "Katze"),
        ("es", "la casa", "casa"),
        ("zh", "北京。", "北京"),
        ("ar", "الكتاب", "كتاب"),
    ],
)
def test_mlqa_follows_the_language_that_is_named(language: str, right: str, given: str):
    view = of_texts({"q": [right]}, {"q": [given]})

    assert report("mlqa", view, language=language) == {"exact_match": 100, "f1": 100}
    assert report("squad1", view)["exact_match"] == 0


def test_mlqa_shares_characters_in_chinese():
    # Two of the three ideographs of the right answer: P = 1, R = 2/3.
    assert report("mlqa", of_texts({"q": ["北京市"]}, {"q": ["北京"]}), language="zh")[
        "f1"
    ] == pytest.approx(80)


@pytest.mark.parametrize(
    ("name", "language", "message"),
    [("mlqa", "fr", "it has en, ar.*convention french"), ("squad2", "de", "one rule for all")],
)
def test_a_language_that_a_convention_does_not_have_is_refused(
    name: str, language: str, message: str
):
    with pytest.raises(BadUsage, match=message):
        words(name, language=language).reader_measures(None)


def test_accents_may_be_composed_or_not_in_nq_open():
    view = of_texts({"q": ["Café"]}, {"q": ["the Cafe\u0301"]})

    assert report("nq-open", view) == {"exact_match": 1}
    assert report("dpr", view) == {"exact_match": 0}


def test_punctuation_separates_in_triviaqa_and_joins_in_squad():
    view = of_texts({"q": ["well_known man"]}, {"q": ["well-known man"]})

    assert report("triviaqa", view)["exact_match"] == 100
    assert (
        report("squad1", of_texts({"q": ["wellknown"]}, {"q": ["well-known"]}))["exact_match"]
        == 100
    )


def test_kilts_unit_values_come_out():
    right = {"1": ["suicide"], "2": ["suicide"], "3": ["it was suicide"]}
    view = of_texts(right, {"1": ["suicide"], "2": ["a suicide"], "3": ["suicide"]}, retrieved="1")

    found = report("kilt", view)

    assert found == pytest.approx(
        {
            "accuracy": 1 / 3,
            "em": 2 / 3,
            "f1": 0.8333333333333334,
            "KILT-accuracy": 1 / 3,
            "KILT-em": 1 / 3,
            "KILT-f1": 1 / 3,
        }
    )


def test_kilts_long_answers_come_out():
    right = (
        "this page includes the show transcript use the transcript to help students with "
        "reading comprehension and     "
        "vocabulary at the bottom of the page , comment for a chance to be mentioned on cnn "
        "student news . you must be a "
        "teac    her or a student age # # or older to request a mention on the cnn student "
        "news roll call . the weekly "
        "newsquiz tests     students ' knowledge of even ts in the news"
    )
    given = (
        "the #### transcript is a written version of each day 's cnn student news program use "
        "this transcript to he    lp "
        "students with reading comprehension and vocabulary use the weekly newsquiz to test "
        "your knowledge of storie s you     "
        "saw on cnn student news"
    )
    found = report(
        "kilt", of_texts({"1": [right], "2": [right]}, {"1": [given], "2": [given]}, retrieved="1")
    )

    assert (found["em"], found["f1"], found["KILT-f1"]) == pytest.approx(
        (0, 0.5102040816326531, 0.25510204081632654)
    )


def test_haystack_1_takes_an_empty_list_for_no_answer_and_reports_top_1_beside_all():
    view = of_texts({"a": [], "b": ["x"]}, {"a": [], "b": ["y", "the x"]})

    assert report("haystack-v1", view) == {
        "exact_match": 1,
        "f1": 1,
        "exact_match_top_1": 0.5,
        "f1_top_1": 0.5,
    }


# ---- all of them
# --------------------------------------------------------------------------------------------------


def test_the_conventions_of_the_issue_are_there():
    wanted = (
        "dpr french haystack-finder haystack-v1 kilt mlqa nq-open piaf piaf-article rankwell "
        "squad1 squad2 triviaqa"
    )

    assert sorted(JUDGES) == wanted.split()


@pytest.mark.parametrize("name", JUDGES)
def test_every_label_means_a_measure_of_answers_or_of_the_retriever(name: str):
    chosen = words(name, 4, 7)
    rules = chosen.rules

    readers = chosen.reader_measures(None)
    retrievers = chosen.retriever_measures()

    assert [each.label for each in readers] == [
        f"{word}4" if word.endswith("@") else word for word in rules.labels
    ]
    assert {each.measure.entry.view.__name__ for each in readers} == {"AnswerPairs"}
    assert [each.label for each in retrievers] == [
        f"{word}7" if word.endswith("@") else word for word in rules.retriever
    ]
    assert {each.measure.cutoff for each in readers} <= {1, 4}
    assert {each.measure.cutoff for each in retrievers} <= {7, None}
    assert set(rules.other_words.values()) <= set(rules.labels)


def test_a_normaliser_goes_into_measures_of_texts_and_not_of_positions():
    asked = words("piaf", normalizer="french").reader_measures(["reader_top1_em", "AnswerF1@1"])

    assert [str(each.measure) for each in asked] == [
        "AnswerEM(match='offset',no_answer='explicit')@1",
        "AnswerF1(normalizer='french')@1",
    ]


def test_a_convention_about_runs_judges_no_answers():
    with pytest.raises(BadUsage, match=r"beir does not judge answers.*squad2"):
        words("beir").reader_measures(None)
    with pytest.raises(UnknownName, match="squad2"):
        words("squad3").reader_measures(None)
