"""Answers and retrieval that are not what they seem: nothing is scored without a word about what
cannot be right.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import rankwell
from answer_forms import CONTEXT, answers_of, lines, qa, squad, written
from make import own_convention
from rankwell.data.options import overwriting
from rankwell.errors import BadInput, BadUsage, DuplicateItem
from rankwell.reporting import Terminal
from rankwell.results import Results
from rankwell.tasks.qa.answers import show
from rankwell.tasks.qa.evaluation import evaluate_qa
from rankwell.tasks.qa.formats import read_predictions, read_questions, read_retrieved
from rankwell.tasks.qa.formats.records import write_predictions

IMPOSSIBLE = {"id": "none", "question": "Which king?", "answers": [], "is_impossible": True}


def judged(gold: Any, predictions: Any = None, **options: Any) -> Results:
    return evaluate_qa(gold, predictions, **{"intervals": "none", "convention": "piaf"} | options)


def means(result: Results) -> dict[str, float]:
    return {row["label"]: row["mean"] for row in result.summary}


def has_note(result: Results, words: str) -> bool:
    return any(words in note for note in result.findings)


def passages(answer: str, *texts: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "id": "1",
            "question": "How much?",
            "answers": [answer],
            "ctxs": [{"id": f"p{n}", **each} for n, each in enumerate(texts)],
        }
    ]


# ---- DPR
# --------------------------------------------------------------------------------------------------


def test_a_passage_is_searched_without_its_title() -> None:
    results = passages("6,5", {"title": "6,5 title", "text": "6.5 only", "score": "1"})

    assert means(judged(results, retrieved=results, convention="dpr", measures="accuracy@1")) == {
        "accuracy@1": 0
    }


def test_of_pyserinis_passages_the_second_line_is_searched() -> None:
    def accuracy(text: str) -> float:
        results = {
            "1": {
                "question": "How much?",
                "answers": ["6,5"],
                "contexts": [{"docid": 3, "score": 9.5, "text": text}],
            }
        }
        return means(judged(results, retrieved=results, convention="dpr", measures="accuracy@1"))[
            "accuracy@1"
        ]

    assert [
        accuracy(text) for text in ("6,5 title\n6.5 only", "title\nis 6,5 here", "6,5 alone")
    ] == [0, 1, 1]


def test_what_the_file_says_of_its_passages_is_held_against_their_texts() -> None:
    results = passages(
        "6,5",
        {"text": "is 6,5 here", "score": "2", "has_answer": False},
        {"text": "nothing", "score": "1", "has_answer": False},
    )

    found = judged(results, retrieved=results, convention="dpr", measures="accuracy@1")

    assert means(found) == {"accuracy@1": 1}
    assert has_note(
        found,
        "1 of 2 has_answer of the file are not what the texts say (question '1', passage "
        "'p0': false)",
    )


# ---- What is missing or misspelt
# -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("records", "message"),
    [
        (
            [{"id": "q1", "rank": 1, "txt": "a"}, {"id": "q2", "rank": None}],
            r"given\.jsonl:1: text is missing, found are .*; expected a string or null",
        ),
        (
            [{"id": "q0", "rank": None}, {"id": "q1", "txt": "a"}],
            r"given\.jsonl:2: text is missing, found are .*; expected a string or null",
        ),
        (
            [{"id": "q1", "rank": 1, "text": 5}, {"id": "q2", "rank": None}],
            r"given\.jsonl:1: text is 5; expected a string or null",
        ),
    ],
)
def test_a_line_without_a_text_is_refused(records: list[Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=message):
        read_predictions(lines(tmp_path / "given.jsonl", *records), format="ranked")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            {"p": [{"txt": "Paris"}]},
            r"given\.json: p\[0\]\.text is missing, found are .*; expected a string or null",
        ),
        (
            [{"id": "q1", "prediction_txt": "a", "prediction_text": "b"}, {"id": "q2"}],
            r"\[1\]\.prediction_text is missing",
        ),
    ],
)
def test_a_misspelt_key_is_not_read_as_no_answer(
    content: Any, message: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput, match=message):
        read_predictions(written(tmp_path / "given.json", content))


def test_an_empty_list_is_written_and_read_as_one(tmp_path: Path) -> None:
    given = {"a": [], "b": [None], "c": ["", "x"]}

    write_predictions(read_predictions(given).table, tmp_path / "given.jsonl")

    assert json.loads((tmp_path / "given.jsonl").read_text().splitlines()[0]) == {
        "id": "a",
        "rank": None,
    }
    assert answers_of(read_predictions(tmp_path / "given.jsonl").table) == given


def test_lists_of_texts_are_ranked_answers() -> None:
    found = read_predictions({"a": ["no", "x y"], "b": [None]})

    assert found.format == "texts"
    assert answers_of(found.table) == {"a": ["no", "x y"], "b": [None]}
    with pytest.raises(BadInput, match=r"a\[1\] is 5; expected a string, or null for no answer"):
        read_predictions({"a": ["x", 5], "b": ["x"]}, format="texts")


def test_a_question_without_answers_or_a_mark_is_noted(tmp_path: Path) -> None:
    silent = {"id": "q1", "question": "?", "answer": "Paris"}

    found = read_questions(written(tmp_path / "gold.json", squad(qa("q0"), silent)))
    rows = read_questions(
        [{"id": "a", "question": "?", "answers": ["x"]}, {"id": "b", "question": "?"}]
    )

    for each in (found, rows):
        assert each.counts["silent"] == 1
        assert any("neither answers nor is_impossible" in note for note in each.findings)
    assert read_questions(squad(qa("q0"), IMPOSSIBLE)).counts.get("silent", 0) == 0


# ---- Order
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turn", [1, -1])
def test_answers_without_ranks_are_ordered_by_their_scores(turn: int, tmp_path: Path) -> None:
    records = [
        {"id": "q", "text": "low", "score": 0.1},
        {"id": "q", "text": "b", "score": 0.9},
        {"id": "q", "text": "a", "score": 0.9},
    ]

    found = read_predictions(lines(tmp_path / "given.jsonl", *records[::turn]))

    assert answers_of(found.table) == {"q": ["a", "b", "low"]}
    assert any(
        "1 questions have several answers without ranks, which are taken by their scores" in note
        for note in found.findings
    )


def test_answers_without_ranks_and_scores_are_noted_as_in_the_order_of_lines(
    tmp_path: Path,
) -> None:
    found = read_predictions(
        lines(tmp_path / "given.jsonl", {"id": "q", "text": "b"}, {"id": "q", "text": "a"})
    )

    assert answers_of(found.table) == {"q": ["b", "a"]}
    assert any("by the order of their lines" in note for note in found.findings)
    with pytest.raises(
        BadInput,
        match=r"given\.jsonl:2: score is missing; expected a rank, or a score as "
        r"other answers have",
    ):
        read_predictions(
            lines(
                tmp_path / "given.jsonl",
                {"id": "q", "text": "b", "score": 1},
                {"id": "q", "text": "a"},
            )
        )


# ---- Documents and positions
# -----------------------------------------------------------------------------------------------


def test_documents_that_no_question_knows_are_reported_loudly() -> None:
    gold = squad(qa("q1"), id="d1")

    strange = judged(gold, retrieved={"q1": {"doc-1": 1.0, "doc-2": 0.5}})
    known = judged(gold, retrieved={"q1": {"doc-1": 1.0, "d1": 0.5}})
    listed = judged(gold, retrieved={"q1": {"doc-1": 1.0}}, documents={"doc-1": "a", "d1": CONTEXT})

    words = (
        "none of the retrieved documents is known to the questions: these like 'doc-1', those "
        "like 'd1'"
    )
    assert [has_note(each, words) for each in (strange, known, listed)] == [True, False, False]


def answer(**changes: Any) -> dict[str, Any]:
    return {
        "id": "q1",
        "rank": 1,
        "text": "Paris",
        "document": "France#0",
        "start": 0,
        "end": 5,
        **changes,
    }


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"start": 30, "end": 10},
            "1 of 1 answers end before they start, so that they are wrong (question 'q1', rank 1)",
        ),
        (
            {"document": None},
            "1 of 1 answers have a position but no document, so that they are wrong",
        ),
        (
            {"start": 1, "end": 6},
            "1 of 1 answers are not the text at their position, which alone is compared",
        ),
        ({"document": "france-0"}, "none of the answers' documents is known to the questions"),
    ],
)
def test_positions_that_cannot_be_right_are_noted(
    given: dict[str, Any], words: str, tmp_path: Path
) -> None:
    predictions = lines(tmp_path / "given.jsonl", answer(**given))

    assert has_note(judged(squad(qa("q1")), predictions), words)
    assert not has_note(
        judged(squad(qa("q1")), lines(tmp_path / "right.jsonl", answer())), "answers"
    )


# ---- Lists that name a document twice
# --------------------------------------------------------------------------------------


TWICE = "q1 Q0 d1 1 3 x\nq1 Q0 d9 2 2 x\nq1 Q0 d1 3 1 x\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("run.trec", TWICE),
        ("run.tsv", "query\titem\tscore\nq1\td1\t3\nq1\td9\t2\nq1\td1\t1\n"),
        (
            "run.json",
            [
                {
                    "id": "q1",
                    "question": "Which capital?",
                    "answers": ["Paris"],
                    "ctxs": [{"id": name} for name in ("d1", "d9", "d1")],
                }
            ],
        ),
    ],
)
def test_piaf_counts_a_document_at_each_of_its_places(
    name: str, content: Any, tmp_path: Path
) -> None:
    gold, run = squad(qa("q1"), id="d1"), written(tmp_path / name, content)

    kept = judged(gold, retrieved=run)
    once = judged(gold, retrieved=run, duplicates="first")

    # Hits at ranks 1 and 3 for one relevant document: 1/1 + 2/3 over 1.
    assert means(kept) == {"recall": 1, "map": pytest.approx(1 + 2 / 3), "mrr": 1}
    assert has_note(kept, "1 documents appear again in 1 lists, and count at each of their places")
    assert means(once) == {"recall": 1, "map": 1, "mrr": 1}
    for other in ({"duplicates": "error"}, {"convention": "piaf-article"}):
        with pytest.raises(DuplicateItem, match=r"query 'q1'.* item 'd1' twice"):
            judged(gold, retrieved=run, **other)


def test_the_second_place_of_a_document_is_found_where_the_first_is_not_counted(
    tmp_path: Path,
) -> None:
    run = written(tmp_path / "run.trec", TWICE)

    found = read_retrieved(run, duplicates="keep")

    assert list(found.table.items) == ["d1", "d9", "d1"]
    assert found.table.scores.tolist() == [3, 2, 1]
    details = judged(squad(qa("q1"), id="d1"), retrieved=run, details=True).details
    assert details is not None
    assert list(zip(details["item"], details["rank"], strict=True)) == [("d1", 1), ("d9", 2)]


# ---- Haystack
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("listed", [{"d9": 1.0}, {"d1": 1.0}, {}])
def test_haystack_1_gives_a_question_without_an_answer_1_for_every_retriever_metric(
    listed: dict[str, float],
) -> None:
    found = judged(
        squad(qa("q1"), IMPOSSIBLE, id="d1"),
        retrieved={"q1": {"d9": 1.0}, "none": listed},
        convention="haystack-v1",
    )

    by_query = {row["query"]: row["value"] for row in found.per_query()}
    assert by_query == {"none": 1.0, "q1": 0.0}
    assert set(means(found).values()) == {1 / 2}
    assert not has_note(found, "no document is relevant")


# ---- Options
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"relevance": "dpr"}, "relevance='dpr' has no effect without retrieved"),
        ({"ties": "input"}, "ties='input' has no effect without retrieved"),
        ({"duplicates": "first"}, "duplicates='first' has no effect without retrieved"),
        ({"depth": 7}, "depth=7 has no effect without retrieved"),
        (
            {"convention": own_convention("squad2", na_threshold=0.5)},
            "na_threshold = 0.5 has no effect without no-answer numbers",
        ),
        ({"measures": "exact@3"}, "'exact@3': exact of the convention squad2 is cut at 1"),
    ],
)
def test_an_unused_option_is_refused(options: dict[str, Any], message: str) -> None:
    given = {"predictions": {"q1": "Paris"}, "convention": "squad2", **options}

    with pytest.raises(BadUsage, match=message):
        judged(squad(qa("q1")), **given)


def test_a_depth_that_no_measure_looks_at_is_noted() -> None:
    def note(convention: str, **options: Any) -> bool:
        return has_note(
            judged(squad(qa("q1")), {"q1": "Paris"}, convention=convention, **options),
            "k=3 is unused: no measure here",
        )

    assert [note("squad2", k=3), note("squad2"), note("haystack-v1", k=3)] == [True, False, False]


def test_the_language_of_mlqa_is_noted_where_no_option_names_it() -> None:
    gold, given = squad(qa("q1")), {"q1": "Paris"}

    assert has_note(
        judged(gold, given, convention="mlqa"), "the rules are those of en; for other answers name"
    )
    assert not has_note(
        judged(gold, given, convention=own_convention("mlqa", language="de")),
        "the rules are those of",
    )


def test_where_a_convention_differs_is_in_its_explanation() -> None:
    found = judged(squad(qa("q1")), {"q1": "Paris"}, convention="squad2")

    assert found.convention.notes
    assert all(note in str(rankwell.explain("squad2")) for note in found.convention.notes)


def test_numbers_that_are_all_equal_are_noted_as_distinguishing_nothing(tmp_path: Path) -> None:
    def note(*numbers: float) -> bool:
        records = [
            {"id": name, "rank": 1, "text": "Paris", "no_answer": n}
            for name, n in zip(("q1", "none"), numbers, strict=True)
        ]
        given = lines(tmp_path / "given.jsonl", *records)
        return has_note(
            judged(squad(qa("q1"), IMPOSSIBLE), given, convention="squad2"), "distinguish nothing"
        )

    assert [note(0.5, 0.5), note(0.5, 0.25)] == [True, False]
    for odds, is_noted in (({"q1": 0, "none": 0.0}, True), ({"q1": 0, "none": 1}, False)):
        found = judged(
            squad(qa("q1"), IMPOSSIBLE),
            {"q1": "Paris", "none": ""},
            convention="squad2",
            na_probs=odds,
        )
        assert has_note(found, "all 2 no-answer numbers are 0") == is_noted


def test_a_question_without_a_prediction_is_shown_to_have_been_given_nothing() -> None:
    found = judged(squad(qa("q1"), qa("q2")), {"q1": "Paris"}, convention="squad2")

    assert (found.hardest()[0]["answered"], found.hardest()[0]["answer"]) == (False, None)
    assert "Hardest: q2 'Which capital?': expected 'Paris', not answered" in show(found).text


def test_a_folder_keeps_nothing_of_an_earlier_evaluation(tmp_path: Path) -> None:
    gold, run = squad(qa("q1"), IMPOSSIBLE, id="d1"), {"q1": {"d1": 1.0}, "none": {"d1": 1.0}}
    out = tmp_path / "out"
    show(
        judged(
            gold,
            {"q1": "Paris", "none": ""},
            retrieved=run,
            convention="squad2",
            na_probs={"q1": 0.1, "none": 0.9},
        ),
        output=out,
    )
    before = {path.name for path in out.iterdir()}
    assert {"no_answer_numbers.png", "no_answer_curves.csv", "top_k.csv"} < before

    smaller = judged(gold, {"q1": "Paris", "none": ""}, convention="squad2")
    with pytest.raises(BadUsage, match="out holds other results"):
        show(smaller, output=out)
    with overwriting(True):
        show(smaller, output=out)

    left = {path.name for path in out.iterdir()}
    assert not left & {
        "no_answer_numbers.png",
        "no_answer_numbers.svg",
        "no_answer_curves.csv",
        "top_k.csv",
    }
    assert set(json.loads((out / "manifest.json").read_text())["files"]) == left - {"manifest.json"}


def test_lines_fit_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rankwell.reporting.terminal_of", lambda *_: Terminal(80, details=True))

    shown = show(judged(squad(qa("q1")), {"q1": "Paris"}, convention="haystack-v1"))

    assert max(map(len, shown.text.splitlines())) <= 80
    assert "1 query counted, 1 answerable, 0 impossible" in shown.text


def test_kilts_words_say_their_cut_off_and_who_failed_is_judged_by_a_word_of_the_convention() -> (
    None
):
    gold = squad(qa("q1"), id="d1")

    kilt = judged(gold, retrieved={"q1": {"d1": 1.0}}, convention="kilt", depth=5)
    finder = judged(
        gold,
        {"q1": [{"text": "Paris", "document": "d1", "start": 0}]},
        retrieved={"q1": {"d1": 1.0}},
        convention="haystack-finder",
    )

    assert [*means(kilt)] == ["Rprec", "precision@5", "recall@5", "success_rate@5"]
    assert finder.rules["primary_label"] == "reader_top1_accuracy over all questions"


def test_public_names_read_answers() -> None:
    assert isinstance(rankwell.read_questions(squad(qa("q1"))).table, rankwell.Questions)
    assert isinstance(rankwell.read_predictions({"q1": "Paris"}).table, rankwell.Predictions)
