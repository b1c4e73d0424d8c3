"""Predictions, no-answer probabilities and retrieval results in every form that people keep them
in.
"""

import csv
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from answer_forms import CONTEXT, answers_of, columns, lines, qa, squad, written
from rankwell.errors import BadInput, DuplicateItem, NothingToEvaluate
from rankwell.tasks.qa.answer_pairs import Predictions
from rankwell.tasks.qa.formats import (
    answer_formats,
    read_na_probs,
    read_predictions,
    read_questions,
    read_retrieved,
)
from rankwell.tasks.qa.formats.records import write_predictions

# ---- retrieval results
# --------------------------------------------------------------------------------------------------

DPR = [
    {
        "question": "who?",
        "answers": ["Bob"],
        "ctxs": [
            {"id": "p7", "title": "T", "text": "Bob did.", "score": "81.5", "has_answer": True},
            {"id": "p2", "title": "", "text": "Nobody.", "score": "80.0", "has_answer": False},
        ],
    },
    {"question": "why?", "answers": ["so"], "ctxs": []},
]


def test_dprs_results_are_questions_and_a_ranking_with_scores_that_are_texts(
    tmp_path: Path,
) -> None:
    path = written(tmp_path / "dpr.json", DPR)

    gold, retrieved = read_questions(path), read_retrieved(path)

    assert (gold.format, retrieved.format) == ("dpr", "dpr")
    assert answers_of(gold.table) == {"0": ["Bob"], "1": ["so"]}
    assert retrieved.table.queries == ("0", "1")
    assert list(retrieved.table.items) == ["p7", "p2"]
    assert retrieved.table.scores.tolist() == [81.5, 80.0]
    assert retrieved.contexts == {"p7": "Bob did.", "p2": "Nobody."}
    assert retrieved.ordered


def test_results_without_ids_find_their_questions_by_text(tmp_path: Path) -> None:
    gold = read_questions(
        [
            {"id": "x", "question": "why?", "answers": ["so"]},
            {"id": "y", "question": "who? ", "answers": ["Bob"]},
        ]
    ).table

    found = read_retrieved(written(tmp_path / "dpr.json", DPR), questions=gold)

    assert found.table.queries == ("x", "y")
    assert np.diff(found.table.offsets).tolist() == [0, 2]
    assert any("by their text" in note for note in found.findings)


def test_a_text_that_several_questions_share_is_answered_for_each_or_refused(
    tmp_path: Path,
) -> None:
    gold = read_questions(
        [{"id": str(n), "question": "who?", "answers": ["Bob"]} for n in range(12)]
    ).table
    one = [{"question": "who?", "prediction": "Bob"}]
    twelve = [{"question": "who?", "prediction": str(n)} for n in range(12)]

    assert answers_of(read_predictions(one, questions=gold).table) == {
        str(n): ["Bob"] for n in range(12)
    }
    assert answers_of(read_predictions(twelve, questions=gold).table) == {
        str(n): [str(n)] for n in range(12)
    }
    with pytest.raises(BadInput, match=r"appears 2 times here and 12 times among the questions"):
        read_predictions(twelve[:2], questions=gold)


def test_lists_whose_scores_do_not_fall_keep_their_order(tmp_path: Path) -> None:
    results = [
        {
            "question": "who?",
            "answers": ["x"],
            "ctxs": [
                {"id": "a", "score": "1"},
                {"id": "b", "score": "2"},
                {"id": "c", "score": "2"},
            ],
        }
    ]

    found = read_retrieved(written(tmp_path / "dpr.json", results))

    assert list(found.table.items) == ["a", "b", "c"]
    assert found.table.scores.tolist() == [-1.0, -2.0, -3.0]
    assert any("order of the list is taken" in note for note in found.findings)


def test_a_document_twice_in_a_list_is_refused_or_kept_once(tmp_path: Path) -> None:
    results = [
        {
            "question": "?",
            "answers": ["x"],
            "ctxs": [{"id": "a", "score": "2"}, {"id": "a", "score": "1"}],
        }
    ]
    path = written(tmp_path / "dpr.json", results)

    with pytest.raises(DuplicateItem, match="lists item 'a' twice"):
        read_retrieved(path)
    kept = read_retrieved(path, duplicates="first")
    assert list(kept.table.items) == ["a"]
    assert kept.table.scores.tolist() == [2.0]
    assert any("1 documents appear again" in note for note in kept.findings)


def test_a_score_that_is_not_a_number_is_reported_by_its_path(tmp_path: Path) -> None:
    for score in ("x", "nan", True, "1_0"):
        with pytest.raises(BadInput, match=r"\[0\]\.ctxs\[0\]\.score is"):
            read_retrieved(
                written(
                    tmp_path / "dpr.json",
                    [{"question": "?", "answers": ["x"], "ctxs": [{"id": "a", "score": score}]}],
                )
            )


def test_dprs_training_data_has_positive_passages_as_evidence(tmp_path: Path) -> None:
    item = {
        "question": "?",
        "answers": ["x"],
        "positive_ctxs": [{"title": "T", "text": "x.", "passage_id": 9}],
        "hard_negative_ctxs": [],
    }

    table = read_questions(written(tmp_path / "train.json", [item])).table

    assert table.evidence == {"0": (("9",),)}
    assert table.contexts == {"9": "x."}


def test_pyserinis_variant_is_keyed_by_the_id(tmp_path: Path) -> None:
    results = {
        "8": {
            "question": "who?",
            "answers": ["Bob"],
            "contexts": [{"docid": 3, "score": 9.5, "text": '"T"\nBob.', "has_answer": True}],
        },
        "11": {"question": "why?", "answers": ["so"], "contexts": []},
    }
    path = written(tmp_path / "pyserini.json", results)

    gold, retrieved = read_questions(path), read_retrieved(path)

    assert (gold.format, retrieved.format) == ("pyserini", "pyserini")
    assert gold.table.ids == retrieved.table.queries == ("11", "8")
    assert list(retrieved.table.items) == ["3"]
    assert retrieved.contexts == {"3": "Bob."}


def test_any_run_file_is_what_was_retrieved(tmp_path: Path) -> None:
    trec = read_retrieved(written(tmp_path / "run.txt", "q1 Q0 d1 1 0.5 tag\nq1 Q0 d2 2 0.7 tag\n"))
    mapping = read_retrieved(written(tmp_path / "run.json", {"q1": {"d1": 0.5, "d2": 0.7}}))
    table = read_retrieved(
        written(tmp_path / "run.csv", "query,item,score\nq1,d1,0.5\nq1,d2,0.7\n")
    )

    assert (trec.format, mapping.format, table.format) == ("trec", "json", "csv")
    for found in (trec, mapping, table):
        assert list(found.table.items) == ["d1", "d2"]
        assert found.contexts == {}
        assert not found.ordered
    assert any("1 query has ranks that contradict the scores" in note for note in trec.findings)
    with pytest.raises(
        DuplicateItem, match=r"run\.txt:2: query 'q1' lists item 'd1' twice, in lines 1 and 2"
    ):
        read_retrieved(written(tmp_path / "run.txt", "q1 Q0 d1 1 0.5 tag\nq1 Q0 d1 2 0.7 tag\n"))


# ---- Haystack and RAGAS
# --------------------------------------------------------------------------------------------------


def label(
    query: str, text: str | None, document: str, start: int = 0, **more: Any
) -> dict[str, Any]:
    """A label of Haystack 1.x."""
    answer = (
        None
        if text is None
        else {"answer": text, "offsets_in_document": [{"start": start, "end": start + len(text)}]}
    )
    judged = {"is_correct_answer": True, "is_correct_document": True}
    return {
        "id": f"{query}{text}",
        "query": query,
        "document": {"id": document, "content": CONTEXT},
        "answer": answer,
        **judged,
        **more,
    }


def test_haystack_labels_of_one_query_and_filters_are_one_question(tmp_path: Path) -> None:
    labels = [
        label("Capital?", "Paris", "d1"),
        label("Capital?", "Paris", "d1"),
        label("Capital?", "", "d2"),
        label("Capital?", "France", "d3", 24),
        label("Capital?", "Lyon", "d1", 3, is_correct_answer=False),
        label("Capital?", "Paris", "d1", filters={"year": ["2020"]}),
        label("King?", None, "d2"),
    ]

    found = read_questions(written(tmp_path / "labels.json", labels))

    by_text: dict[str, list[list[str]]] = {}
    for name, text in zip(found.table.ids, found.table.texts, strict=True):
        by_text.setdefault(text, []).append(answers_of(found.table)[name])
    assert found.format == "haystack-labels"
    assert sorted(by_text["Capital?"]) == [["Paris"], ["Paris", "France"]]
    assert by_text["King?"] == [[]]
    assert found.table.impossible.sum() == 1
    assert found.counts["negative"] == 1
    assert found.counts.get("misaligned", 0) == 0
    assert any("labels in several documents" in note for note in found.findings)


def test_haystack_0_labels_are_understood(tmp_path: Path) -> None:
    common = {"is_correct_answer": True, "is_correct_document": True, "document_id": "d1"}
    labels = [
        {
            "id": 1,
            "question": "Capital?",
            "answer": "Paris",
            "offset_start_in_doc": 5,
            "no_answer": False,
            **common,
        },
        {
            "id": 2,
            "question": "King?",
            "answer": "",
            "offset_start_in_doc": 0,
            "no_answer": True,
            **common,
        },
    ]

    table = read_questions(written(tmp_path / "labels.json", labels)).table

    assert sorted(answers_of(table).values()) == [[], ["Paris"]]
    assert table.starts.tolist() == [5]
    assert table.answer_documents == ("d1",)


GOLD_CELLS = {
    "gold_answers": "['Paris', \"O'Paris\"]",
    "gold_contexts": "['Paris is.', 'x']",
    "gold_document_ids": "['d1', 'd2']",
    "gold_offsets_in_documents": "[{'start': 0, 'end': 5}, {'start': 9, 'end': 16}]",
}


def reader_row(
    name: str, query: str, answer: str, rank: int, document: str, span: str, mode: str, **gold: str
) -> dict[str, str]:
    """A row of `Reader.csv`; cells that are lists are Python literals."""
    cells = {
        "multilabel_id": name,
        "query": query,
        "filters": "b'null'",
        "answer": answer,
        "rank": f"{rank}.0",
    }
    more = {
        "document_ids": document,
        "offsets_in_document": span,
        "type": "answer",
        "node": "Reader",
        "eval_mode": mode,
    }
    return cells | more | (gold or GOLD_CELLS)


def reader_csv(path: Path) -> Path:
    nothing = {
        "gold_answers": "['']",
        "gold_contexts": "[]",
        "gold_document_ids": "[]",
        "gold_offsets_in_documents": "[]",
    }
    rows = [
        reader_row("m1", "Capital?", "Lyon", 2, "['d1']", "[{'start': 3, 'end': 7}]", "integrated"),
        reader_row("m1", "Capital?", "Paris", 1, "['d1']", "[Span(start=0, end=5)]", "integrated"),
        reader_row(
            "m1", "Capital?", "Paris!", 1, "['d2']", "[{'start': 9, 'end': 15}]", "isolated"
        ),
        reader_row("m2", "King?", "", 1, "[]", "[]", "integrated", **nothing),
    ]
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_haystacks_reader_csv_holds_answers_of_two_modes_and_what_they_were_judged_by(
    tmp_path: Path,
) -> None:
    path = reader_csv(tmp_path / "Reader.csv")

    integrated, isolated = (
        read_predictions(path),
        read_predictions(path, format="haystack:isolated"),
    )
    gold = read_questions(path)

    assert integrated.format == "haystack"
    assert answers_of(integrated.table) == {"m1": ["Paris", "Lyon"], "m2": [None]}
    assert integrated.table.starts.tolist() == [0, 3, -1]
    assert integrated.table.ends.tolist() == [5, 7, -1]
    assert integrated.table.documents == ("d1", "d1", None)
    assert answers_of(isolated.table) == {"m1": ["Paris!"]}
    assert any("1 rows of eval_mode isolated are left out" in note for note in integrated.findings)
    assert answers_of(gold.table) == {"m1": ["Paris", "O'Paris"], "m2": []}
    assert gold.table.starts.tolist() == [0, 9]
    assert gold.table.impossible.tolist() == [False, True]
    assert gold.table.contexts == {"d1": "Paris is.", "d2": "x"}


def test_haystacks_answers_find_the_questions_of_another_file_by_text(tmp_path: Path) -> None:
    gold = read_questions(squad(qa("q7", "Capital?"), qa("q8", "King?"))).table

    found = read_predictions(reader_csv(tmp_path / "Reader.csv"), questions=gold)

    assert answers_of(found.table) == {"q7": ["Paris", "Lyon"], "q8": [None]}


def test_haystacks_retriever_csv_holds_the_retrieved_documents(tmp_path: Path) -> None:
    text = (
        "multilabel_id,query,filters,context,gold_contexts,gold_id_match,rank,document_id,gold_document_ids,type,node,eval_mode\n"
        '"m1","Capital?","b\'null\'","Lyon.","[]",0.0,2.0,"d9","[\'d1\']","document","Retriever","integrated"\n'
        '"m1","Capital?","b\'null\'","Paris.","[]",1.0,1.0,"d1","[\'d1\']","document","Retriever","integrated"\n'
    )

    found = read_retrieved(written(tmp_path / "Retriever.csv", text))

    assert found.format == "haystack"
    assert list(found.table.items) == ["d1", "d9"]
    assert found.contexts == {"d1": "Paris.", "d9": "Lyon."}
    assert found.ordered


RAGAS = [
    {
        "user_input": "Capital?",
        "response": "Paris",
        "reference": "Paris, France",
        "retrieved_contexts": ["x", CONTEXT],
        "reference_contexts": [CONTEXT],
    },
    {
        "user_input": "King?",
        "response": "",
        "reference": "",
        "retrieved_contexts": [],
        "reference_contexts": [],
    },
]


def test_ragas_rows_are_questions_predictions_and_retrieved_contexts(tmp_path: Path) -> None:
    path = lines(tmp_path / "ragas.jsonl", *RAGAS)

    gold, predictions, retrieved = (
        read_questions(path),
        read_predictions(path),
        read_retrieved(path),
    )

    assert {gold.format, predictions.format, retrieved.format} == {"ragas"}
    assert answers_of(gold.table) == {"0": ["Paris, France"], "1": []}
    assert answers_of(predictions.table) == {"0": ["Paris"], "1": [""]}
    assert gold.table.evidence == {"0": ((CONTEXT,),)}
    assert list(retrieved.table.items) == ["x", CONTEXT]
    assert retrieved.table.queries == ("0", "1")


def test_ragas_context_ids_name_the_contexts(tmp_path: Path) -> None:
    row = {**RAGAS[0], "retrieved_context_ids": [4, "b"], "reference_context_ids": ["b"]}

    assert list(read_retrieved([row]).table.items) == ["4", "b"]
    assert read_questions([row]).table.evidence == {"0": (("b",),)}
    with pytest.raises(
        BadInput, match=r"retrieved_context_ids is a list of 1; expected a list of 2"
    ):
        read_retrieved([{**row, "retrieved_context_ids": ["b"]}])


def test_ragas_rows_of_older_versions_are_understood(tmp_path: Path) -> None:
    row = {"question": "Capital?", "answer": "Lyon", "contexts": ["x"], "ground_truth": "Paris"}

    assert answers_of(read_questions([row]).table) == {"0": ["Paris"]}
    assert answers_of(read_predictions([row]).table) == {"0": ["Lyon"]}
    assert list(read_retrieved([row]).table.items) == ["x"]


# ---- predictions
# --------------------------------------------------------------------------------------------------


def test_official_predictions_are_one_text_each(tmp_path: Path) -> None:
    found = read_predictions(
        written(tmp_path / "predictions.json", {"b": "Paris", "a": "", "c": None})
    )

    assert found.format == "predictions"
    assert answers_of(found.table) == {"a": [""], "b": ["Paris"], "c": [None]}
    assert found.table.no_answer is None


def test_a_key_that_json_readers_would_overwrite_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DuplicateItem, match=r"'a' appears twice, as entries 1 and 3"):
        read_predictions(written(tmp_path / "predictions.json", '{"a": "x", "b": "y", "a": "z"}'))


@pytest.mark.parametrize(
    "rows",
    [
        '[{"id": "a", "rank": 1, "text": "x", "text": "y"}]',
        '{"id": "a", "rank": 1, "text": "x", "text": "y"}\n' * 2,
    ],
)
def test_a_key_twice_in_a_row_of_answers_is_refused(tmp_path: Path, rows: str) -> None:
    with pytest.raises(BadInput, match="'text' appears twice in one object"):
        read_predictions(written(tmp_path / "ranked.jsonl", rows))


def test_mixed_kinds_of_predictions_are_reported_by_their_key(tmp_path: Path) -> None:
    with pytest.raises(
        BadInput, match=r'predictions\.json: \["5a"\] is 3; expected a string, or null'
    ):
        read_predictions(written(tmp_path / "predictions.json", {"4": "x", "5a": 3}))


def test_n_best_answers_keep_their_order_and_tell_the_probability_of_none(tmp_path: Path) -> None:
    n_best = {
        "b": [
            {"text": "Paris", "probability": 0.6, "start_logit": 5.1},
            {"text": "", "probability": 0.3},
            {"text": "Lyon", "probability": 0.1},
        ],
        "a": [{"text": "Rome", "probability": 1.0, "start": 3, "document": "d"}],
    }

    found = read_predictions(written(tmp_path / "nbest.json", n_best))

    assert found.format == "n-best"
    assert answers_of(found.table) == {"a": ["Rome"], "b": ["Paris", "", "Lyon"]}
    assert found.table.scores.tolist() == [1.0, 0.6, 0.3, 0.1]
    assert (found.table.starts[0], found.table.ends[0], found.table.documents[0]) == (3, 7, "d")
    assert found.table.no_answer is not None
    assert np.isnan(found.table.no_answer[0])
    assert found.table.no_answer[1] == 0.3


def test_hugging_face_predictions_carry_their_no_answer_probability(tmp_path: Path) -> None:
    found = read_predictions(
        [
            {"id": "a", "prediction_text": "x", "no_answer_probability": 0.25},
            {"id": "b", "prediction_text": ""},
        ]
    )

    assert found.format == "hf"
    assert found.table.no_answer is not None
    assert found.table.no_answer[0] == 0.25


def test_no_answer_probabilities_and_null_odds_are_distinguished(tmp_path: Path) -> None:
    probabilities = read_na_probs(written(tmp_path / "na.json", {"a": 0.25, "b": 1}))
    odds = read_na_probs(written(tmp_path / "odds.json", {"a": -3.5, "b": 0.5}))

    assert probabilities.table == {"a": 0.25, "b": 1.0}
    assert probabilities.findings == ()
    assert "1 of 2 values are not between 0 and 1" in odds.findings[0]
    for wrong in (
        '{"a": 0.3, "b": "x"}',
        '{"a": 0.3, "b": NaN}',
        '{"a": 0.3, "b": true}',
        '{"a": 0.3, "b": null}',
    ):
        with pytest.raises(BadInput, match=r"na\.json: b is .*; expected a finite number"):
            read_na_probs(written(tmp_path / "na.json", wrong))


def test_no_answer_probabilities_join_predictions_by_id() -> None:
    table = read_predictions({"a": "x", "b": "y"}).table.with_no_answer({"b": 0.75, "c": 0.5})

    assert table.no_answer is not None
    assert np.isnan(table.no_answer[0])
    assert table.no_answer[1] == 0.75


def test_ranked_answers_are_lines_in_any_order(tmp_path: Path) -> None:
    records = [
        {"id": "b", "rank": 2, "text": None, "score": 0.25},
        {
            "id": "b",
            "rank": 1,
            "text": "Paris",
            "document": "d1",
            "start": 3,
            "end": 8,
            "score": 0.5,
            "no_answer": 0.125,
        },
        {"id": "a", "rank": None},
        {"id": 7, "text": "x", "start": 4},
        {"id": 7, "text": "y"},
    ]

    found = read_predictions(lines(tmp_path / "answers.jsonl", *records))

    assert found.format == "ranked"
    assert answers_of(found.table) == {"7": ["x", "y"], "a": [], "b": ["Paris", None]}
    assert found.table.starts.tolist() == [4, -1, 3, -1]
    assert found.table.ends.tolist() == [5, -1, 8, -1]
    assert found.table.no_answer is not None
    assert found.table.no_answer[2] == 0.125


def test_two_answers_of_one_rank_are_refused_with_both_places(tmp_path: Path) -> None:
    records = [
        {"id": "a", "rank": 1, "text": "x"},
        {"id": "b", "rank": 1, "text": "x"},
        {"id": "a", "rank": 1, "text": "y"},
    ]

    with pytest.raises(
        DuplicateItem, match=r"answers\.jsonl:1 and 3 both have rank 1 of the question 'a'"
    ):
        read_predictions(lines(tmp_path / "answers.jsonl", *records))
    with pytest.raises(
        BadInput, match=r"answers\.jsonl:1: rank is 0; expected a rank, a positive integer"
    ):
        read_predictions(
            lines(
                tmp_path / "answers.jsonl",
                {"id": "a", "rank": 0, "text": "x"},
                {"id": "b", "rank": 1, "text": "x"},
            )
        )


def ranked(seed: int) -> Predictions:
    """Predictions with everything that may be missing missing somewhere."""
    random_ = random.Random(seed)
    records: list[dict[str, Any]] = []
    for name in ("a", "é", "q 1", "10", "2", "line\nbreak"):
        n = random_.randrange(4)
        if not n:
            records.append(
                {"id": name, "rank": None, **({"no_answer": 0.5} if random_.random() < 0.5 else {})}
            )
        for rank in range(1, n + 1):
            record = {
                "id": name,
                "rank": rank,
                "text": random_.choice([None, "", "Paris", "L’été\t"]),
            }
            more = {
                "document": "d#1",
                "start": 3,
                "end": 9,
                "score": random_.random(),
                "no_answer": 0.25,
            }
            records.append(
                record | {key: value for key, value in more.items() if random_.random() < 0.5}
            )
    return read_predictions(records, format="ranked").table


@pytest.mark.parametrize("seed", range(8))
def test_ranked_answers_come_back_as_they_were_written(seed: int, tmp_path: Path) -> None:
    table = ranked(seed)

    write_predictions(table, tmp_path / "answers.jsonl")

    assert columns(read_predictions(tmp_path / "answers.jsonl").table) == columns(table)


def test_predictions_without_any_are_nothing_to_evaluate(tmp_path: Path) -> None:
    with pytest.raises(NothingToEvaluate, match="no prediction"):
        read_predictions({}, format="predictions")


def test_every_format_that_content_distinguishes_can_be_named() -> None:
    for holds in ("questions", "predictions", "na-probs", "retrieved"):
        assert answer_formats(holds)
    assert {
        "squad",
        "rows",
        "nq-open",
        "triviaqa",
        "kilt",
        "dpr",
        "pyserini",
        "haystack",
        "haystack-labels",
        "ragas",
    } <= {entry.name for entry in answer_formats("questions")}
