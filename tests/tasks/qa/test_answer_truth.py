"""What is relevant to a question: its own documents, those that hold an answer, those that share
text with its own.
"""

import random
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest

import rankwell as rw
from answer_forms import PIAF_SAMPLE
from make import own_convention
from rankwell.data.judged_rankings import JudgedRankings
from rankwell.data.rankings import Ranking, hits_of_ranking
from rankwell.data.registry import parse_measure
from rankwell.data.tables import Judgments
from rankwell.errors import BadInput, UnknownName
from rankwell.tasks.qa.answer_pairs import Questions
from rankwell.tasks.qa.formats import read_questions
from rankwell.tasks.qa.retrieval import by_answer, by_context, by_document


def questions(**answers: list[Any]) -> Questions:
    """Questions with their right answers, which are texts or {text, document}; those without are
    impossible.
    """
    return read_questions(
        [{"id": name, "question": f"{name}?", "answers": each} for name, each in answers.items()]
    ).table


def relevant(judgments: Judgments) -> dict[str, set[str]]:
    bounds = judgments.offsets.tolist()
    assert set(judgments.grades.tolist()) <= {1.0}
    return {
        name: set(judgments.items[bounds[row] : bounds[row + 1]])
        for row, name in enumerate(judgments.queries)
    }


def mean(text: str, judgments: Judgments, ranking: Ranking) -> float:
    """The mean of a measure over all questions of the truth, items in the order of the list."""
    view = JudgedRankings.join(judgments, hits_of_ranking(ranking, judgments, ties="input"))
    return float(parse_measure(text)(view).mean())


# ---- by document
# --------------------------------------------------------------------------------------------------


def test_the_documents_of_a_question_are_its_own_those_of_its_answers_and_its_evidence() -> None:
    kilt = read_questions(
        [
            {
                "id": "k",
                "input": "?",
                "output": [{"provenance": [{"wikipedia_id": 1}, {"wikipedia_id": 2}]}],
            }
        ]
    ).table
    rows = read_questions(
        [
            {
                "id": "r",
                "question": "?",
                "document": "a",
                "answers": [{"text": "x", "document": "b"}, {"text": "y", "document": "b"}, "z"],
            }
        ]
    ).table

    assert relevant(by_document(kilt)) == {"k": {"1", "2"}}
    assert relevant(by_document(rows)) == {"r": {"a", "b"}}


def test_an_impossible_question_keeps_its_document_unless_it_is_asked_otherwise() -> None:
    qas = [{"id": "i", "question": "?", "answers": [], "is_impossible": True}]
    table = read_questions(
        {"data": [{"title": "T", "paragraphs": [{"context": "c", "qas": qas}]}]}
    ).table

    assert relevant(by_document(table)) == {"i": {"T#0"}}
    assert relevant(by_document(table, impossible=False)) == {"i": set()}


def test_a_question_without_a_document_is_there_all_the_same() -> None:
    assert relevant(by_document(questions(a=["x"]))) == {"a": set()}


def test_piafs_sample_gives_the_recall_map_and_mrr_of_its_own_test(shared: Path) -> None:
    table = read_questions(shared / "qa" / "piaf_tiny.json").table
    documents = sorted(table.contexts)
    # PIAF's own retriever finds thirteen paragraphs first, two second, and nothing for the question
    # that is impossible.
    second = {"p140295443296616", "p140295443281456"}
    rows = []
    for name, own, impossible in zip(
        table.ids, table.documents, table.impossible.tolist(), strict=True
    ):
        others = [document for document in documents if document != own]
        found = (
            [] if impossible else [others[0], own, others[1]] if name in second else [own, *others]
        )
        rows += [(name, item, float(-rank)) for rank, item in enumerate(found)]
    ranking = Ranking.from_rows(*zip(*rows, strict=True), all_queries=table.ids)

    truth = by_document(table)

    assert len(truth.queries) == 16
    for measure, word in (("Success@10", "recall"), ("AP", "map"), ("RR", "mrr")):
        assert mean(measure, truth, ranking) == PIAF_SAMPLE[word], measure


# ---- by answer
# --------------------------------------------------------------------------------------------------

TEXTS = {
    "us": "The U.S. has focus.",
    "accents": "Le café est là.",
    "decomposed": unicodedata.normalize("NFD", "Le café est là."),
    "number": "Une croissance de 6,5 % par an",
    "plain": "Nothing of interest",
}


@pytest.mark.parametrize(
    ("rule", "answer", "holders"),
    [
        ("dpr", "us", set()),
        ("dpr", "u.s.", {"us"}),
        ("dpr", "café", {"accents", "decomposed"}),
        ("dpr", "cafe", set()),
        ("dpr", "6,5", {"number"}),
        ("dpr", "5 %", {"number"}),
        ("dpr", "6.5", set()),
        ("dpr", "interests", set()),
        ("kilt", "U.S.", {"us"}),
        ("kilt", "us", {"us"}),
        ("kilt", "focus", {"us"}),
        ("kilt", "the interest", {"plain"}),
        ("kilt", "65", {"number"}),
        ("lower", "U.S.", {"us"}),
        ("lower", "us", {"us"}),
        ("lower", "CAFÉ", {"accents"}),
        ("raw", "Nothing", {"plain"}),
        ("raw", "nothing", set()),
    ],
)
@pytest.mark.parametrize("pooled", [False, True])
def test_each_rule_finds_an_answer_in_its_own_way(
    rule: str, answer: str, holders: set[str], pooled: bool
) -> None:
    ranking = Ranking.from_rows(["q"] * len(TEXTS), list(TEXTS), [0.0] * len(TEXTS))

    judged = by_answer(
        questions(q=[answer]), TEXTS, rule=rule, retrieved=ranking if pooled else None
    )

    assert relevant(judged) == {"q": holders}


def tokens(text: str) -> list[str]:
    """DPR's tokens, by its definition: runs of letters, numbers and marks, or single characters
    that are no white space.
    """
    found, run = [], ""
    for letter in unicodedata.normalize("NFD", text):
        category = unicodedata.category(letter)[0]
        if category in "LNM":
            run += letter
            continue
        found += [run] if run else []
        run = ""
        found += [letter] if category not in "ZC" else []
    return [token.lower() for token in found + ([run] if run else [])]


def holds(text: list[str], answer: list[str]) -> bool:
    return any(
        text[place : place + len(answer)] == answer for place in range(len(text) - len(answer) + 1)
    )


@pytest.mark.parametrize("seed", range(5))
def test_dprs_rule_agrees_with_its_definition_on_random_texts(seed: int) -> None:
    random_ = random.Random(seed)
    letters = "aab B.,-'é e\u0301ñ1½ \t\u00a0_—漢"

    def some(most: int) -> str:
        return "".join(random_.choices(letters, k=random_.randrange(1, most)))

    texts = {str(n): some(40) for n in range(60)}
    asked = {f"q{n}": [some(4) for _ in range(random_.randrange(1, 4))] for n in range(40)}
    table = questions(**asked)
    lists = [(name, item) for name in table.ids for item in random_.sample(sorted(texts), 20)]
    ranking = Ranking.from_rows(
        [name for name, _ in lists], [item for _, item in lists], [0.0] * len(lists)
    )

    everywhere, pooled = by_answer(table, texts), by_answer(table, texts, retrieved=ranking)

    given = {
        name: [text for text in each if text.strip() and tokens(text)]
        for name, each in asked.items()
    }
    expected = {
        name: {
            item
            for item, text in texts.items()
            if any(holds(tokens(text), tokens(answer)) for answer in each)
        }
        for name, each in given.items()
    }
    assert any(expected.values())
    assert relevant(everywhere) == expected
    listed = {name: {item for other, item in lists if other == name} for name in table.ids}
    assert relevant(pooled) == {name: expected[name] & listed[name] for name in table.ids}


@pytest.mark.parametrize("rule", ["dpr", "kilt", "lower", "raw"])
def test_an_answer_of_which_nothing_is_left_is_in_no_text_or_in_all(rule: str) -> None:
    table = questions(q=["the"] if rule == "kilt" else ["\u200b\u00ad"], r=["Nothing"])
    vanishes = rule in ("kilt", "dpr")

    assert relevant(by_answer(table, TEXTS, rule=rule))["q"] == set()
    assert relevant(by_answer(table, TEXTS, rule=rule, as_published=True))["q"] == (
        set(TEXTS) if vanishes else set()
    )


def test_every_answer_counts_and_a_question_without_any_has_nothing_relevant() -> None:
    assert relevant(by_answer(questions(a=["focus", "croissance"], b=[]), TEXTS)) == {
        "a": {"us", "number"},
        "b": set(),
    }


def test_of_a_pool_only_what_is_listed_for_the_question_counts() -> None:
    ranking = Ranking.from_rows(
        ["q", "q", "q", "other"], ["us", "plain", "number", "number"], [1.0, 0.5, 0.25, 1.0]
    )
    table = questions(q=["focus", "croissance", "café"])

    assert relevant(by_answer(table, TEXTS, retrieved=ranking)) == {"q": {"us", "number"}}


def test_retrieved_documents_without_a_text_are_refused() -> None:
    ranking = Ranking.from_rows(["q", "q"], ["us", "gone"], [1.0, 0.5])

    with pytest.raises(BadInput, match=r"1 retrieved documents have no text \(such as 'gone'\)"):
        by_answer(questions(q=["focus"]), TEXTS, retrieved=ranking)


def test_rules_that_do_not_exist_are_refused() -> None:
    with pytest.raises(UnknownName, match="known are dpr"):
        by_answer(questions(q=["x"]), TEXTS, rule="regex")


def test_piafs_gold_paragraphs_hold_their_answers_by_every_rule(shared: Path) -> None:
    table = read_questions(shared / "qa" / "piaf_tiny.json").table
    own = relevant(by_document(table, impossible=False))

    for rule in ("dpr", "kilt", "lower", "raw"):
        found = relevant(by_answer(table, table.contexts, rule=rule))
        assert all(own[name] <= found[name] for name in table.ids)


# ---- by context
# --------------------------------------------------------------------------------------------------

PASSAGE = (
    "The Normans were the people who in the 10th and 11th centuries gave their name to "
    "Normandy, a region in France."
)
CHUNKS = {
    "first half": "The Normans were the people who in the 10th and 11th centuries",
    "second half": "gave their name to Normandy, a region in France.",
    "window": "An earlier sentence. " + PASSAGE + " They were descended from Norse raiders.",
    "shouted": PASSAGE.upper(),
    "same subject": "Normandy, a region of France, is named after the Normans, a people of the "
    "middle ages.",
    "empty": "",
}


def with_context(*, impossible: bool = False) -> Questions:
    qas = [
        {
            "id": "q",
            "question": "?",
            "answers": [] if impossible else ["Normandy"],
            "is_impossible": impossible,
        }
    ]
    return read_questions(
        {"data": [{"title": "T", "paragraphs": [{"context": PASSAGE, "qas": qas}]}]}
    ).table


def in_context(
    table: Questions, texts: dict[str, str], ranking: Ranking | None = None, **rules: Any
) -> dict[str, set[str]]:
    """The relevant documents, where all texts are retrieved unless a ranking says otherwise."""
    everything = Ranking.from_rows(["q"] * len(texts), list(texts), [0.0] * len(texts))
    return relevant(by_context(table, texts, ranking or everything, **rules))


def test_passages_are_relevant_however_the_text_was_cut() -> None:
    expected = {"first half", "second half", "window", "shouted"}
    ranking = Ranking.from_rows(["q"] * 3, ["window", "same subject", "empty"], [3.0, 2.0, 1.0])

    assert in_context(with_context(), CHUNKS) == {"q": expected}
    assert in_context(with_context(), CHUNKS, ranking) == {"q": {"window"}}


def test_the_share_is_that_of_the_shorter_texts_runs_of_three_words() -> None:
    table = with_context()
    # Six words make four runs, of which the passage has the first three.
    texts = {"x": "the people who in the Alps"}

    assert len(re.findall(r"\w+", texts["x"])) == 6
    assert in_context(table, texts, share=0.75) == {"q": {"x"}}
    assert in_context(table, texts, share=0.76) == {"q": set()}


def test_a_paraphrase_is_relevant_by_a_named_similarity_from_its_threshold_on() -> None:
    table = with_context()
    paraphrase = (
        "Normandy, a region in France, has its name from the Normans, a people of the 10th and "
        "the 11th centuries."
    )
    # Of the passage's 21 words and the four of this one, three are shared: 6 / 25.
    texts = {
        "paraphrase": paraphrase,
        "four": "the Normans, France, Spain",
        "none": "Dogs stay out",
    }
    ranking = Ranking.from_rows(["q"] * 2, ["four", "none"], [2.0, 1.0])

    assert in_context(table, texts) == {"q": set()}
    assert in_context(table, texts, similarity="words") == {"q": {"paraphrase"}}
    assert in_context(table, texts, similarity="words", threshold=0.24) == {
        "q": {"paraphrase", "four"}
    }
    assert in_context(table, texts, similarity="words", threshold=0.25) == {"q": {"paraphrase"}}
    assert in_context(table, texts, ranking, similarity="words", threshold=0.24) == {"q": {"four"}}


def test_a_paraphrase_is_found_and_the_rules_name_similarity_and_threshold() -> None:
    row = {
        "user_input": "When does the museum open?",
        "reference": "at ten",
        "response": "at ten",
        "reference_contexts": [
            "The museum opens at ten in the morning",
            "A ticket costs twelve euro",
        ],
        "retrieved_contexts": [
            "In the morning, the museum opens its doors at ten",
            "Twelve euro is what a ticket costs",
        ],
    }
    given = {"retrieved": [row], "relevance": "context", "measures": "P@2", "intervals": "none"}
    words = {"context_similarity": "words"}

    plain = rw.evaluate_qa([row], **given)
    found = rw.evaluate_qa([row], **given, convention=own_convention("piaf", **words))

    assert (plain["P@2"], found["P@2"]) == (0.0, 1.0)
    assert found.rules["context_similarity"] == "words"
    assert found.rules["context_threshold"] == 0.5
    assert "context_threshold" not in plain.rules


def test_an_impossible_questions_context_counts_unless_it_is_asked_otherwise() -> None:
    table = with_context(impossible=True)

    assert in_context(table, {"x": PASSAGE}) == {"q": {"x"}}
    assert in_context(table, {"x": PASSAGE}, impossible=False) == {"q": set()}


def test_missing_contexts_and_shares_out_of_range_are_refused() -> None:
    with pytest.raises(BadInput, match="relevance by context needs them"):
        in_context(questions(q=["x"]), CHUNKS)
    given = {"retrieved": {"q": {"window": 1.0}}, "relevance": "context", "documents": CHUNKS}
    for share in (0.0, 1.5, float("nan")):
        with pytest.raises(BadInput, match=r"context_share.* expected a number( above 0|\.)"):
            rw.evaluate_qa(
                with_context(), **given, convention=own_convention("piaf", context_share=share)
            )
        with pytest.raises(BadInput, match=r"context_threshold.* expected a number( above 0|\.)"):
            rw.evaluate_qa(
                with_context(),
                **given,
                convention=own_convention(
                    "piaf", context_similarity="words", context_threshold=share
                ),
            )
