"""Answers judged with what was retrieved for them: figures worked by hand, and who is to blame for
each question.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from answer_forms import (
    GIVEN,
    GOLD,
    PIAF_SAMPLE,
    READER_FINDER,
    READER_PIAF,
    RETRIEVER,
    RETURNED,
    SQUAD2_BEST,
    SQUAD2_OFFICIAL,
    SQUAD2_OFFICIAL_BY_GROUP,
    answers_by_place,
    in_order,
    lines,
    made_up_numbers,
    piafs_own_lists,
    qa,
    questions_by_place,
    squad,
    squad2_files,
    written,
)
from make import own_convention
from rankwell.data.rankings import Ranking
from rankwell.errors import BadInput, BadUsage, NothingToEvaluate
from rankwell.results import Results
from rankwell.tasks.qa.answer_pairs import Predictions, Questions
from rankwell.tasks.qa.evaluation import evaluate_qa
from rankwell.tasks.qa.formats import read_predictions, read_questions
from rankwell.tasks.qa.marks import overlap
from rankwell.vectors.media.texts import normalizer


def listed(lists: dict[str, list[str]]) -> Ranking:
    return Ranking.from_dict({query: in_order(items) for query, items in lists.items()})


LISTS = listed(RETURNED)


def means(result: Results, part: str | None = None) -> dict[str, float]:
    return {
        row["label"]: row["mean"] for row in result.summary if part is None or row["part"] == part
    }


def plain(gold: Any, predictions: Any = None, **options: Any) -> Results:
    return evaluate_qa(gold, predictions, **{"intervals": "none", "convention": "piaf"} | options)


def test_piaf_divides_by_all_questions():
    assert means(plain(GOLD, GIVEN, retrieved=LISTS)) == pytest.approx(RETRIEVER | READER_PIAF)


def test_the_finder_divides_by_questions_whose_document_was_retrieved():
    found = plain(GOLD, GIVEN, retrieved=LISTS, convention="haystack-finder")

    retriever = {f"retriever_{word}": value for word, value in RETRIEVER.items()}
    assert means(found) == pytest.approx(retriever | READER_FINDER)
    assert {row["n"] for row in found.summary if row["label"] == "reader_topk_f1"} == {3}


def test_the_article_averages_precision_over_what_was_retrieved():
    found = means(plain(GOLD, retrieved=LISTS, convention="piaf-article"))

    assert found == pytest.approx(
        {"recall": RETRIEVER["recall"], "map": (1 + 1 / 2 + 1) / 5, "mrr": RETRIEVER["mrr"]}
    )


def test_documents_behind_the_cut_do_not_count_as_retrieved():
    found = plain(GOLD, GIVEN, retrieved=LISTS, depth=1)

    assert means(found)["recall"] == 2 / 5
    assert [each.failed for each in found.outcomes] == [
        "none",
        "retriever",
        "retriever",
        "none",
        "no-answer",
    ]


def test_every_question_is_the_fault_of_the_first_stage_that_failed_it():
    gold = questions_by_place(
        {
            "lost": [("d1", 0, 4)],
            "wrong": [("d1", 0, 4)],
            "late": [("d1", 0, 4)],
            "mute": [("d1", 0, 4)],
            "bare": [("d1", 0, 4)],
            "fine": [("d1", 0, 4)],
            "trap": [],
            "wise": [],
        },
        {"trap": "d1", "wise": "d1"},
    )
    given = answers_by_place(
        {
            "lost": [("d2", 0, 4)],
            "wrong": [("d1", 50, 54)],
            "late": [("d1", 50, 54), ("d1", 0, 4)],
            "mute": [None, ("d1", 0, 4)],
            "bare": [],
            "fine": [("d1", 2, 5)],
            "trap": [("d1", 0, 4)],
            "wise": [None],
        }
    )
    lists = listed({name: ["d9"] if name == "lost" else ["d1"] for name in gold.ids})

    found = plain(gold, given, retrieved=lists)

    assert {each.query: (each.failed, each.why) for each in found.outcomes} == {
        "lost": ("retriever", "document not retrieved"),
        "wrong": ("reader", "wrong answer"),
        "late": ("reader", "right, but not first"),
        "mute": ("no-answer", "gave no answer although there is one"),
        "bare": ("no-answer", "gave no answer although there is one"),
        "fine": ("none", "right"),
        "trap": ("no-answer", "answered, though impossible"),
        "wise": ("none", "correctly gave no answer"),
    }
    assert [(row["failed"], row["questions"]) for row in found.failures] == [
        ("retriever", 1),
        ("reader", 1),
        ("reader", 1),
        ("no-answer", 2),
        ("no-answer", 1),
        ("none", 1),
        ("none", 1),
    ]
    assert sum(row["share"] for row in found.failures) == pytest.approx(1)


def test_what_the_reader_makes_of_the_right_passage_stands_beside_what_it_made_of_the_retrieved_ones():  # noqa: E501
    alone = answers_by_place(
        {
            "q1": [("d1", 10, 20)],
            "q2": [("d2", 0, 8)],
            "q3": [("d7", 1, 5)],
            "q4": [None],
            "q5": [None],
        }
    )

    found = plain(GOLD, GIVEN, retrieved=LISTS, isolated=alone)
    blame = {(row["failed"], row["why"]): row["right_alone"] for row in found.failures}

    assert means(found, "reader")["reader_top1_accuracy"] == 2 / 5
    assert means(found, "isolated")["reader_top1_accuracy"] == 4 / 5
    assert blame == {
        ("retriever", "document not retrieved"): 0,
        ("reader", "right, but not first"): 1,
        ("no-answer", "gave no answer, in a form that counts as wrong"): 1,
        ("none", "right"): 1,
        ("none", "correctly gave no answer"): 1,
    }
    assert means(
        plain(GOLD, GIVEN, retrieved=LISTS, isolated=alone, convention="haystack-finder"),
        "isolated",
    )["reader_top1_accuracy"] == pytest.approx(4 / 5)


def test_a_retriever_alone_is_judged_alone():
    found = plain(GOLD, retrieved=LISTS)

    assert set(means(found)) == {"recall", "map", "mrr"}
    assert [(row["failed"], row["questions"]) for row in found.failures] == [
        ("retriever", 2),
        ("none", 3),
    ]
    assert found.hardest()[0].keys().isdisjoint({"answer", "value"})


TEXTS = Questions.from_texts(
    {"a": ["The Paris metro"], "b": ["Rome"], "c": ["Oslo", "City of Oslo"], "d": []}
)


def test_conventions_that_compare_texts_need_no_positions():
    found = plain(
        TEXTS,
        Predictions.from_texts({"a": ["Paris metro!"], "b": ["in Rome"], "c": [""], "d": [""]}),
        convention="squad2",
    )

    assert means(found) == pytest.approx(
        {
            "exact": 50,
            "f1": 100 * (1 + 2 / 3 + 1) / 4,
            "HasAns_exact": 100 / 3,
            "HasAns_f1": 100 * (1 + 2 / 3) / 3,
            "NoAns_exact": 100,
            "NoAns_f1": 100,
        }
    )
    assert {each.query: (each.failed, each.why) for each in found.outcomes} == {
        "a": ("none", "right"),
        "b": ("reader", "partly right"),
        "c": ("no-answer", "gave no answer although there is one"),
        "d": ("none", "correctly gave no answer"),
    }


def test_answers_without_positions_are_refused_where_positions_are_compared():
    with pytest.raises(BadUsage, match=r"have no positions .* such as squad2"):
        plain(GOLD, Predictions.from_texts({"q1": ["x"]}))


def test_answers_of_which_some_lack_positions_are_counted():
    given = answers_by_place({"q1": [("d1", 10, 20)], "q2": [("d1", -1, 4)]})

    assert any("1 of 2 answers have no position" in note for note in plain(GOLD, given).findings)


@pytest.mark.parametrize(
    ("missing", "exact", "n"), [("zero", 25, 4), ("empty", 50, 4), ("skip", 50, 2)]
)
def test_missing_predictions_count_as_the_policy_says(missing: Any, exact: float, n: int):
    given = Predictions.from_texts({"a": ["Paris metro"], "b": ["Milan"], "z": ["?"]})

    found = plain(TEXTS, given, convention=own_convention("squad2", missing=missing))
    (row,) = (row for row in found.summary if row["label"] == "exact")

    assert (row["mean"], row["n"]) == (exact, n)
    assert any("2 questions have no prediction" in note for note in found.findings)
    assert any(
        "1 prediction has no question ('z'), and is ignored" in note for note in found.findings
    )
    assert next(iter(found.rules["counts"].values()))["queries_missing"] == 2
    assert [each.failed for each in found.outcomes].count(None) == (2 if missing == "skip" else 0)


def test_missing_and_extra_predictions_can_be_errors():
    given = Predictions.from_texts({"a": ["Paris metro"], "b": [""], "c": [""], "z": ["?"]})

    with pytest.raises(BadInput, match="1 × question without a prediction, the first 'd'"):
        plain(TEXTS, given, convention=own_convention("squad2", missing="error"))
    with pytest.raises(BadInput, match="1 × prediction without a question, the first 'z'"):
        plain(TEXTS, given, convention=own_convention("squad2", extra="error"))


def test_tables_of_another_data_set_leave_nothing_to_evaluate():
    with pytest.raises(
        NothingToEvaluate,
        match=r"none of the 4 questions has a prediction \(questions have ids like 'a'",
    ):
        plain(TEXTS, Predictions.from_texts({"x": ["y"]}), convention="squad2")
    with pytest.raises(NothingToEvaluate, match="none of the 5 questions has retrieved documents"):
        plain(GOLD, retrieved=listed({"x": ["d1"]}))
    with pytest.raises(
        NothingToEvaluate, match="none of the 4 questions has no-answer probabilities"
    ):
        plain(TEXTS, Predictions.from_texts({"a": ["y"]}), na_probs={"x": 0.5}, convention="squad2")


def test_measures_that_ask_what_was_retrieved_are_left_out_and_named_without_a_run():
    given = Predictions.from_texts({"a": ["Paris"], "b": ["Rome"], "c": ["Oslo"], "d": [""]})

    found = plain(TEXTS, given, convention="piaf-article")

    assert set(means(found)) == {
        f"reader_{top}{more}"
        for top in ("top1_f1", "topk_f1", "top1_fk")
        for more in ("", "_has_answer")
    }
    assert any("left out" in note and "reader_top1_em" in note for note in found.findings)
    with pytest.raises(BadUsage, match="reader_topk_em: judged with regard to what was retrieved"):
        plain(TEXTS, given, convention="piaf-article", measures="reader_topk_em")
    with pytest.raises(BadUsage, match="give the retriever's run"):
        plain(GOLD, GIVEN, convention="haystack-finder")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "there is nothing to judge"),
        ({"retrieved": LISTS, "isolated": GIVEN}, "isolated has no effect without PREDICTIONS"),
        (
            {"retrieved": LISTS, "na_probs": {"q1": 1.0}},
            "na_probs has no effect without PREDICTIONS",
        ),
        ({"predictions": GIVEN, "k": 0}, "k is 0;"),
        ({"predictions": GIVEN, "convention": "beir"}, "does not judge answers to questions"),
        (
            {"predictions": GIVEN, "convention": own_convention("piaf", normalizer="french")},
            "normalizer = 'french' is unused: its measures compare positions",
        ),
        ({"predictions": GIVEN, "measures": "recall"}, "'recall' judges retrieved documents"),
        ({"retrieved": LISTS, "measures": "reader_top1_em"}, "'reader_top1_em' judges answers"),
        ({"predictions": GIVEN, "measures": "Overlap@3"}, "'Overlap@3' judges neither"),
        (
            {"predictions": GIVEN, "convention": own_convention("piaf", missing="none")},
            "missing = 'none'; expected",
        ),
        ({"retrieved": LISTS, "relevance": "dpr"}, "retrieved documents have no text"),
        ({"retrieved": LISTS, "ties": "expected"}, "ties: there is no 'expected'"),
    ],
)
def test_options_that_cannot_be_used_are_refused(options: dict[str, Any], message: str):
    with pytest.raises((BadUsage, BadInput), match=message):
        plain(GOLD, **options)


def test_measures_can_be_named_in_the_conventions_words_with_cut_offs_of_their_own():
    found = plain(
        GOLD,
        GIVEN,
        retrieved=LISTS,
        measures="recall@1 map reader_top1_fk AnswerF1(unit='offset')@2",
        k=1,
    )

    assert {row["label"]: row["measure"] for row in found.summary} == {
        "recall@1": "Success@1",
        "map": "AP@10",
        "reader_topk_f1": "AnswerF1(unit='offset',no_answer='explicit')@1",
        "AnswerF1(unit='offset')@2": "AnswerF1(unit='offset')@2",
    }


def test_the_first_measure_decides_who_failed():
    first, later = (
        plain(GOLD, GIVEN, retrieved=LISTS, measures=word).outcomes
        for word in (None, "reader_topk_accuracy")
    )

    assert [each.failed for each in first] == ["none", "reader", "retriever", "none", "no-answer"]
    assert [each.failed for each in later] == ["none", "none", "retriever", "none", "no-answer"]


PASSAGES = [
    {
        "id": "q1",
        "question": "Which capital?",
        "answers": ["Paris"],
        "ctxs": [
            {"id": "p1", "title": "", "text": "Parisian life", "score": "2.5"},
            {"id": "p2", "title": "", "text": "It is Paris.", "score": "1.5"},
        ],
    },
    {
        "id": "q2",
        "question": "What is it?",
        "answers": ["."],
        "ctxs": [{"id": "p3", "title": "", "text": "Nothing", "score": "1"}],
    },
]


def test_documents_are_relevant_that_hold_an_answer_by_the_rule_that_is_named():
    def recall(relevance: Any) -> float:
        return means(plain(PASSAGES, retrieved=PASSAGES, relevance=relevance, measures="recall@1"))[
            "recall@1"
        ]

    # `Parisian` holds the letters of `Paris` and not the word; `.` is in no text, as nothing of it
    # is left for KILT.
    assert (recall("dpr"), recall("kilt"), recall("raw"), recall("lower")) == (
        0,
        1 / 2,
        1 / 2,
        1 / 2,
    )


def test_dpr_counts_questions_with_a_passage_and_says_what_it_cannot_know():
    found = plain(PASSAGES, retrieved=PASSAGES, convention="dpr", measures="accuracy@1 accuracy@2")

    assert means(found) == {"accuracy@1": 0, "accuracy@2": 1 / 2}
    assert any(
        "others count nowhere, without the texts of all (documents)" in note
        for note in found.findings
    )


def test_relevance_by_documents_needs_questions_that_name_some():
    with pytest.raises(
        BadInput, match=r"no question names a document.* take relevance dpr or kilt"
    ):
        plain(PASSAGES, retrieved=PASSAGES)


def test_passages_cut_otherwise_are_found_by_what_they_say():
    context = squad()["data"][0]["paragraphs"][0]["context"]
    gold = squad(qa())
    corpus = {
        "cut": f"Long ago. {context} And so on.",
        "other": "Rome is the capital of Italy, they say.",
    }

    def recall(ranking: dict[str, float]) -> float:
        return means(
            plain(
                gold,
                retrieved={"q1": ranking},
                documents=corpus,
                relevance="context",
                measures="recall@1",
            )
        )["recall@1"]

    assert (recall({"cut": 2.0, "other": 1.0}), recall({"cut": 1.0, "other": 2.0})) == (1, 0)


def test_kilt_counts_answers_only_with_their_evidence(tmp_path: Path):
    def record(name: str, answer: str, *sets: list[str]) -> dict[str, Any]:
        pages = [
            {
                "answer": answer,
                "provenance": [{"wikipedia_id": page, "title": page} for page in each],
            }
            for each in sets
        ]
        return {"id": name, "input": f"{name}?", "output": pages}

    gold = lines(
        tmp_path / "gold.jsonl",
        record("q1", "Paris", ["1", "2"]),
        record("q2", "Rome", ["3"], ["4"]),
    )
    guess = lines(
        tmp_path / "guess.jsonl",
        record("q1", "Paris", ["1", "9", "2"]),
        record("q2", "Rome", ["4", "3"]),
    )

    found = means(plain(gold, guess, retrieved=guess, convention="kilt", depth=5))

    assert (found["em"], found["KILT-em"]) == (1, 1 / 2)
    assert found["Rprec"] == (1 / 2 + 1) / 2


def test_ranks_in_piafs_sample_are_its_own_tests(shared: Path):
    gold = shared / "qa" / "piaf_tiny.json"
    table = read_questions(gold).table
    (outside,) = (name for name, none in zip(table.ids, table.impossible, strict=True) if none)
    own = dict(zip(table.ids, map(str, table.documents), strict=True))

    found = plain(gold, retrieved=listed(piafs_own_lists(own, outside)))

    assert (found.rules["gold"]["questions"], found.rules["gold"]["impossible"]) == (16, 1)
    assert means(found) == PIAF_SAMPLE
    assert [each.query for each in found.outcomes if each.failed == "retriever"] == [outside]


def test_real_predictions_have_the_official_figures(shared: Path):
    found = plain(*squad2_files(shared), convention="squad2")

    assert means(found) == {
        **{label: pytest.approx(value, rel=1e-14) for label, value in SQUAD2_OFFICIAL.items()},
        **{
            label: pytest.approx(value, abs=5e-7)
            for label, value in SQUAD2_OFFICIAL_BY_GROUP.items()
        },
    }


def test_the_best_thresholds_of_real_predictions_are_the_official_ones(shared: Path):
    gold, given = squad2_files(shared)
    numbers = made_up_numbers(json.loads(given.read_text()))

    for ties in ("whole", "official"):
        convention = own_convention("squad2", na_ties=ties)
        found = means(plain(gold, given, convention=convention, na_probs=numbers))
        for label, (value, threshold) in SQUAD2_BEST.items():
            assert found[f"best_{label}"] == pytest.approx(value, rel=1e-14)
            assert found[f"best_{label}_thresh"] == threshold


def test_thresholds_do_not_depend_on_the_order_of_equal_numbers_unless_the_official_quirk_is_requested():  # noqa: E501
    gold = Questions.from_texts({"a": ["x"], "b": []})
    given = Predictions.from_texts({"a": ["x"], "b": ["y"]})

    def best(order: str, ties: Any) -> float:
        return means(
            plain(
                gold,
                given,
                convention=own_convention("squad2", na_ties=ties),
                na_probs=dict.fromkeys(order, 0.0),
            )
        )["best_exact"]

    assert (best("ab", "whole"), best("ba", "whole")) == (50, 50)
    assert (best("ab", "official"), best("ba", "official")) == (100, 50)


def test_a_threshold_is_chosen_over_the_questions_that_have_a_number():
    gold = Questions.from_texts({"a": ["x"], "b": [], "c": ["z"]})
    given = Predictions.from_texts({"a": ["x"], "b": ["y"], "c": ["no"]})

    found = plain(gold, given, convention="squad2", na_probs={"a": 0.1, "b": 0.9})

    assert (means(found)["best_exact"], means(found)["best_exact_thresh"]) == (100, 0.1)
    assert any("1 questions without a no-answer number" in note for note in found.findings)
    assert {row["label"] for row in found.no_answer_curves} == {"exact", "f1", "oracle"}
    assert means(
        plain(
            gold,
            given,
            convention=own_convention("squad2", na_threshold=0.5),
            na_probs={"a": 0.1, "b": 0.9},
        )
    )["exact"] == pytest.approx(200 / 3)


def test_every_cut_off_of_the_curves_is_what_an_evaluation_at_it_gives():
    found = plain(GOLD, GIVEN, retrieved=LISTS, k=2, depth=2)

    labels = ["recall", "map", "mrr", "reader_topk_accuracy", "reader_topk_em", "reader_topk_f1"]
    assert [(row["label"], row["k"]) for row in found.top_k] == [
        (f"{label}@{k}", k) for label in labels for k in (1, 2)
    ]
    for row in found.top_k:
        again = means(plain(GOLD, GIVEN, retrieved=LISTS, k=row["k"], depth=row["k"]))
        assert row["mean"] == again[row["label"].partition("@")[0]]


def test_shared_characters_are_those_at_the_same_place_where_places_are_known():
    both = overlap("the blue sky", "blue", offset=4, normalizer=normalizer("squad"))

    assert both.characters == (((4, 8),), ((0, 4),))
    assert both.tokens == (((4, 8),), ((0, 4),))
    assert (both.char_f1, both.token_f1) == (2 * 4 / (12 + 4), 2 / 3)
    assert overlap("blue", "blue", offset=9, normalizer=normalizer("squad")).characters == ((), ())


def test_shared_pieces_are_found_where_places_are_unknown():
    both = overlap(
        "L'Ouganda voisin", "ouganda, pays", offset=None, normalizer=normalizer("french")
    )

    assert both.characters == (((2, 9),), ((0, 7),))
    assert both.tokens == (((0, 9),), ((0, 8),))
    assert overlap("1909", "1990", offset=None, normalizer=normalizer("squad")).characters == (
        ((0, 2),),
        ((0, 2),),
    )
    assert overlap("cat", "dog", offset=None, normalizer=normalizer("squad")).char_f1 == 0


def test_a_word_that_appears_twice_is_shared_as_often_as_both_have_it():
    both = overlap("new york new york", "york new", offset=None, normalizer=normalizer("squad"))

    assert both.tokens == (((0, 3), (4, 8)), ((0, 4), (5, 8)))
    assert both.token_f1 == 2 * 2 / (4 + 2)


def test_the_hardest_questions_come_first_and_take_turns_by_who_failed():
    names = {"a1": "reader", "a2": "reader", "b1": "no-answer", "c1": "partly"}
    gold = Questions.from_texts({name: ["green tea"] for name in names})
    given = Predictions.from_texts(
        {"a1": ["coffee"], "a2": ["milk"], "b1": [""], "c1": ["black tea"]}
    )

    found = plain(gold, given, convention="squad2")

    assert [row["query"] for row in found.hardest()] == ["a1", "b1", "a2", "c1"]
    assert [row["query"] for row in found.hardest(2)] == ["a1", "b1"]
    last = found.hardest()[-1]
    assert (last["right"], last["answer"], last["partial"]) == ("green tea", "black tea", 1 / 2)
    assert (last["tokens"], last["right_tokens"]) == ([[6, 9]], [[6, 9]])


def test_details_hold_documents_answers_and_what_is_right_but_not_there():
    found = plain(GOLD, GIVEN, retrieved=LISTS, details=True)
    assert found.details is not None
    assert found.queries is not None
    rows = [
        dict(zip(found.details, cells, strict=True))
        for cells in zip(*found.details.values(), strict=True)
    ]

    mine = [row for row in rows if row["query"] == "q2"]
    shown = [(row["run"], row["rank"], row["grade"], row["state"]) for row in mine]
    assert shown == [
        ("retriever", 1, None, "unjudged"),
        ("retriever", 2, 1, "relevant"),
        ("retriever", None, 1, "relevant"),
        ("reader", 1, 0, "nonrelevant"),
        ("reader", 2, 1, "relevant"),
        ("reader", None, 1, "relevant"),
        ("reader", None, 1, "relevant"),
    ]
    detail = json.loads(mine[4]["detail"])
    assert (detail["document"], detail["start"], detail["end"], detail["characters"]) == (
        "d3",
        5,
        11,
        [[0, 6]],
    )
    assert detail["right_characters"] == [[0, 6]]
    assert list(found.queries["failed"]) == ["none", "reader", "retriever", "none", "no-answer"]
    assert list(found.queries["document_rank"]) == [1, 2, None, 1, None]
    assert list(found.queries["answerable"]) == ["yes"] * 3 + ["no"] * 2


def test_results_do_not_depend_on_the_order_of_rows(tmp_path: Path):
    gold = squad(
        qa("q1"), qa("q2"), {"id": "q3", "question": "?!", "answers": [], "is_impossible": True}
    )
    given = {"q1": "Paris", "q2": "in Paris", "q3": "no"}
    turned = squad(*reversed(gold["data"][0]["paragraphs"][0]["qas"]))
    (tmp_path / "turned").mkdir()
    files = [
        (written(tmp_path / "gold.json", gold), written(tmp_path / "given.json", given)),
        (
            written(tmp_path / "turned" / "gold.json", turned),
            written(tmp_path / "turned" / "given.json", dict(reversed(given.items()))),
        ),
    ]

    one, other = (evaluate_qa(*pair, convention="squad2", details=True) for pair in files)

    assert one.summary == other.summary
    assert one.details == other.details
    assert one.hardest() == other.hardest()


def test_tables_that_the_readers_returned_are_evaluated_as_they_are(tmp_path):
    gold, given = TEXTS, Predictions.from_texts({"a": ["Paris"], "b": ["Milan"]})

    found = evaluate_qa(
        read_questions(gold), read_predictions(given), convention="squad2", intervals="none"
    )

    assert found.summary == evaluate_qa(gold, given, convention="squad2", intervals="none").summary


def test_ids_of_documents_that_match_in_part_are_reported():
    articles = [
        squad(qa(f"q{place}"))["data"][0] | {"title": title}
        for place, title in enumerate(("France", "Saint Lucia", "Chad"))
    ]
    gold = {"version": "v2.0", "data": articles}

    found = plain(
        gold,
        retrieved={"q0": {"France#0": 1.0}, "q1": {"Saint_Lucia#0": 1.0}, "q2": {"France#0": 1.0}},
    )

    (note,) = [note for note in found.findings if "written in two ways" in note]
    assert "2 of the 3 documents of the questions are in no list, such as 'Chad#0'" in note
    assert "1 document is of no question, such as 'Saint_Lucia#0'" in note
    whole = plain(
        gold, retrieved={f"q{place}": {"France#0": 1.0, "Chad#0": 0.5} for place in range(3)}
    )
    assert not any("written in two ways" in note for note in whole.findings)
