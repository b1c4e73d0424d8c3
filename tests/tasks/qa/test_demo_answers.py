"""The questions that ship with the package, and that the example retriever and reader have
something to do with them.
"""

import json
import re
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from rankwell import cli
from rankwell.tasks.qa.answer_pairs import Predictions, Questions
from rankwell.tasks.qa.answering import (
    OverlapReader,
    bm25_overlap,
    gold_passages,
    question_texts,
    read_answers,
)
from rankwell.tasks.qa.commands import demo_qa
from rankwell.tasks.qa.formats import read_questions


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return json.loads(
        (files("rankwell.tasks.qa") / "data" / "questions.json").read_text(encoding="utf-8")
    )


@pytest.fixture(scope="module")
def questions(document: dict[str, Any]) -> Questions:
    return read_questions(document).table


def asked_in(document: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (paragraph["context"], question)
        for article in document["data"]
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]


def test_every_answer_stands_where_it_is_said_to_stand_as_whole_words(document: dict[str, Any]):
    for context, question in asked_in(document):
        assert question["is_impossible"] is (not question["answers"]), question["id"]
        for answer in question["answers"]:
            start, end = answer["answer_start"], answer["answer_start"] + len(answer["text"])
            assert context[start:end] == answer["text"]
            assert not re.match(r"\w\w", context[max(start - 1, 0) : start + 1]), question["id"]
            assert not re.match(r"\w\w", context[end - 1 : end + 1]), question["id"]


def test_no_question_appears_twice_and_there_are_enough_of_both_kinds(document: dict[str, Any]):
    listed = [question for _, question in asked_in(document)]

    assert (
        len({question["id"] for question in listed})
        == len({question["question"] for question in listed})
        == len(listed)
    )
    assert Counter(question["is_impossible"] for question in listed)[True] >= 10
    assert len(listed) >= 40
    assert sum(len(article["paragraphs"]) for article in document["data"]) >= 30


def test_the_file_is_read_as_squad_without_a_note(document: dict[str, Any]):
    found = read_questions(document)

    assert found.format == "squad"
    assert not found.findings


def hits(questions: Questions, predictions: Predictions) -> set[str]:
    """Questions whose first answer is right to the letter, an impossible one's being none."""
    found: set[str] = set()
    for place, name in enumerate(questions.ids):
        gold = questions.answers[questions.offsets[place] : questions.offsets[place + 1]] or (None,)
        if predictions.texts[predictions.offsets[place]] in gold:
            found.add(name)
    return found


def test_the_example_finds_most_paragraphs_and_more_of_them_the_deeper_it_looks(
    questions: Questions,
):
    found = []
    for k in (1, 3, 10):
        retrieved, _ = bm25_overlap(questions, k_retriever=k)
        lists = [
            retrieved.items[a:b]
            for a, b in zip(retrieved.offsets, retrieved.offsets[1:], strict=False)
        ]
        found.append(
            sum(
                document in items
                for document, items in zip(questions.documents, lists, strict=True)
            )
        )

    assert len(questions.ids) / 2 < found[0] < found[1] < found[2] < len(questions.ids)


def test_the_example_answers_some_fails_on_others_and_is_silent_where_it_should_be(
    questions: Questions,
):
    _, predictions = bm25_overlap(questions)
    right = hits(questions, predictions)
    impossible = {
        name for name, none in zip(questions.ids, questions.impossible, strict=True) if none
    }

    assert len(right & impossible) > len(impossible) / 2
    assert 10 < len(right - impossible) < len(questions.ids) - 10


def test_a_threshold_of_0_never_keeps_silent_where_a_word_is_shared_and_one_above_1_always_does(
    questions: Questions,
):
    never, always = (bm25_overlap(questions, threshold=each)[1] for each in (0.0, 1.5))
    firsts = [always.texts[place] for place in always.offsets[:-1]]

    assert set(firsts) == {None}
    assert sum(never.texts[place] is None for place in never.offsets[:-1]) < len(questions.ids) / 10


def test_the_right_paragraph_helps_the_reader(questions: Questions):
    reader = OverlapReader(questions.contexts.values(), threshold=0.0)
    everywhere = bm25_overlap(questions, threshold=0.0)[1]
    alone = read_answers(
        reader, question_texts(questions), gold_passages(questions), questions.contexts, k=5
    )

    possible = {
        name for name, none in zip(questions.ids, questions.impossible, strict=True) if not none
    }
    assert len(hits(questions, alone) & possible) >= len(hits(questions, everywhere) & possible)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder that the demo wrote, and what it printed."""
    folder = tmp_path_factory.mktemp("demo")
    return folder, demo_qa.qa(output=folder).text


def test_the_demo_names_who_failed_and_leaves_its_results(demo: tuple[Path, str]):
    folder, text = demo

    assert "47 of 83 questions fail by accuracy: 31 by the reader, 14 because it abstained" in text
    assert re.search(r"(?m)^Why: .*right, but not first \(19\)", text)
    assert len(text.splitlines()) <= 25
    assert {"details.parquet", "queries.parquet", "top_k.png", "manifest.json"} <= {
        each.name for each in (folder / "results").iterdir()
    }


def test_the_command_over_its_files_prints_what_the_demo_prints(
    demo: tuple[Path, str], monkeypatch, capsys
):
    folder, text = demo
    files = {name: str(folder / name) for name in ("questions.json", "answers.jsonl", "bm25.run")}
    words = ["qa", files["questions.json"], files["answers.jsonl"], "--retrieved"]
    words += [files["bm25.run"], "--isolated", str(folder / "isolated.jsonl"), "-k", "5"]

    monkeypatch.setattr("sys.argv", ["rankwell", *words, "--depth", "3"])
    assert cli.main() == 0

    assert text.endswith(capsys.readouterr().out)


def test_the_demo_writes_the_same_bytes_every_time(demo: tuple[Path, str], tmp_path: Path):
    demo_qa.prepare(tmp_path)

    for name in ("questions.json", "bm25.run", "answers.jsonl", "isolated.jsonl"):
        assert (tmp_path / name).read_bytes() == (demo[0] / name).read_bytes()
