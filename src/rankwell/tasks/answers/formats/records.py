"""A question or an answer per row: Hugging Face's data sets, NQ-open, DPR's question files, ranked
answers, your own tables.
"""

import json
import math
from collections import Counter
from collections.abc import Sequence
from operator import lt
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.errors import BadInput, DuplicateItem, count_of
from rankwell.io.records import HEADER, MISSING, Content, Record, Where
from rankwell.store import write_text
from rankwell.tasks.answers.answer_pairs import Predictions, place_or_none
from rankwell.tasks.answers.formats import answer_format
from rankwell.tasks.answers.formats.features import has
from rankwell.tasks.answers.formats.rows import AnswerRows, QuestionRows
from rankwell.tasks.answers.formats.squad import DOCUMENT, add_answers, literal, marked_impossible

_ID = ("id", "question_id", "qid", "query_id")
_QUESTION = ("question", "query")
_ANSWERS = ("answers", "answer", "gold_answers")
_START = ("answer_start", "start")
_NAMED = {*_ID, *_QUESTION, *_ANSWERS, *DOCUMENT, *_START, "context", "is_impossible", "impossible"}


@answer_format(
    "rows",
    "questions",
    fits=has("question|query answers|answer|gold_answers !ctxs !contexts !paragraphs", sure=0.6),
)
def read(content: Content, rows: QuestionRows) -> None:
    """The question of each row: `id`, `question`, `answers`, and where known `context`, `title`,
    `document`, `impossible`.

    answers: {text: [], answer_start: []}, a list of texts or of {text, answer_start, document}, or
    one text (`answer`). A document without an id is `title#index`, numbered as SQuAD's paragraphs
    are. Other columns are attributes.
    """
    numbered: dict[str, dict[str, str]] = {}
    for record in content.checked_records():
        question, answers = record.key(*_QUESTION), record.key(*_ANSWERS)
        text = None if question is None or record.value[question] is None else record.text(question)
        document = _document(rows, record, numbered)
        attributes = {
            key: value
            for key, value in record.value.items()
            if key not in _NAMED and value is not None and value != ""
        }
        name = record.id(record.key(*_ID) or "id")
        if not rows.add(record.where, name, text, document=document, attributes=attributes):
            continue
        if answers is not None:
            value, start = record.value[answers], record.key(*_START)
            if start is None or not isinstance(value, str) or not isinstance(literal(value), str):
                add_answers(rows, value, (*record.where, answers), document)
            elif value:
                # A single answer may have its position in a column of its own.
                rows.answer(value, (*record.where, answers), document, record.integer(start))
        marked = marked_impossible(record)
        if answers is None and marked is None:
            rows.odd("silent", record.where)
        rows.end(marked)


def _document(
    rows: QuestionRows, record: Record, numbered: dict[str, dict[str, str]]
) -> str | None:
    """The id of a row's document: its own, or its title and the number of its context among those
    of the title.
    """
    name = record.id(record.key(*DOCUMENT) or DOCUMENT[0])
    if record.value.get("context") in (None, ""):
        return name
    text = record.text("context")
    if name is None:
        title = record.text("title", "")
        names = numbered.setdefault(title, {})
        name = names.setdefault(text, f"{title}#{len(names)}")
    rows.context(name, text, (*record.where, "context"))
    return name


@answer_format("nq-open", "questions", fits=has("question answer[]", sure=0.9))
def read_nq_open(content: Content, rows: QuestionRows) -> None:
    """NQ-open's lines `{question, answer: [text]}`; a question goes by its number, from 0. Source:
    Lee et al. 2019.
    """
    read(content, rows)


@answer_format("nq-open", "predictions", fits=has("question prediction", sure=0.9))
def read_nq_predictions(content: Content, rows: AnswerRows) -> None:
    """NQ-open's lines `{question, prediction}`, which belong to questions by their text."""
    for record in content.checked_records():
        rows.begin(record.where, record.id(), record.text("question"))
        rows.answer(record.text_or_null("prediction") or "")


@answer_format("hf", "predictions", fits=has("prediction_text", sure=0.9))
def read_hf(content: Content, rows: AnswerRows) -> None:
    """The rows `{id, prediction_text, no_answer_probability}` that Hugging Face's `squad` and
    `squad_v2` are given.
    """
    for record in content.checked_records():
        rows.begin(record.where, record.id())
        rows.answer(record.text_or_null("prediction_text") or "")
        if record.value.get("no_answer_probability") is not None:
            rows.no_answer(record.number("no_answer_probability"))


@answer_format("dpr-questions", "questions", fits=has("form=table no-header", sure=0.9))
def read_dpr_questions(content: Content, rows: QuestionRows) -> None:
    """DPR's question files without a header: question, tab, a Python list of answers. Source:
    Karpukhin et al. 2020.
    """
    if len(content.header) != 2:
        raise BadInput(
            f"{content.name}: {len(content.header)} columns; expected two columns without a "
            "header, the question and a list of answers."
        )
    lines = [
        content.header,
        *(tuple(record.value.values()) for record in content.checked_records()),
    ]
    for row, (question, cell) in enumerate(lines, HEADER):
        where: Where = (row, content.header[1])
        answers = literal(cell)
        if not isinstance(answers, list):
            raise content.wrong(where, cell, "a list of answers, ['Paris', 'Paris, France']")
        if rows.add(where, None, question):
            add_answers(rows, answers, where)
            rows.end(None)


def _write_ranked(predictions: Predictions, path: Path) -> None:
    lines: list[dict[str, Any]] = []
    for row, (name, answers) in enumerate(predictions.ranked.items()):
        rows: list[dict[str, Any]] = [
            {
                "id": name,
                **answer._asdict(),
                "start": place_or_none(answer.start),
                "end": place_or_none(answer.end),
                "score": None if math.isnan(answer.score) else answer.score,
            }
            for answer in answers
        ] or [{"id": name, "rank": None}]
        if predictions.no_answer is not None and not np.isnan(predictions.no_answer[row]):
            rows[0]["no_answer"] = float(predictions.no_answer[row])
        lines += rows
    write_text(path, "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines))


@answer_format(
    "ranked",
    "predictions",
    fits=has("id rank|text !question", sure=0.8),
    write=_write_ranked,
    suffixes=(".jsonl", ".ndjson"),
)
def read_ranked(content: Content, rows: AnswerRows) -> None:
    """The answers `{id, rank, text, document, start, end, score}`, one a line; text null says that
    there is no answer.

    Ranks order the answers, whatever their scores, which a note says where these do not fall.
    Without ranks the scores of a question's answers order them, the highest first, and without
    scores the lines do, with a note.
    A line of an `id` alone, or with `rank` null, is that of a question to which nothing, not even
    that, was answered. `no_answer` may stand in any line of a question. Raises BadInput for a rank
    that appears twice and for a line that lacks `text`.
    """
    answers_of: dict[str, list[tuple[int, Record]]] = {}
    first: dict[str, Where] = {}
    odds: dict[str, float] = {}
    for record in content.checked_records():
        name, no_answer = record.id(), record.value.get("no_answer")
        if name is None:
            raise record.wrong("the id of a question", "id")
        answers = answers_of.setdefault(name, [])
        first.setdefault(name, record.where)
        if no_answer is not None and no_answer != "":
            odds[name] = record.number("no_answer")
        rank = record.integer("rank", "a rank, a positive integer")
        if rank < 1 and record.value.get("rank") not in (None, ""):
            raise record.wrong("a rank, a positive integer", "rank")
        if rank > 0 or not _is_bare(record):
            answers.append((rank, record))
    climbing, unranked = 0, Counter[str]()
    for name, answers in answers_of.items():
        rows.begin(first[name], name)
        is_ranked = _check_ranks(content, name, answers)
        records = [record for _, record in sorted(answers, key=lambda answer: answer[0])]
        scores = [record.number("score") for record in records]
        if is_ranked:
            climbing += any(map(lt, scores, scores[1:]))
        elif all(map(math.isnan, scores)):
            unranked["the order of their lines"] += 1
        else:
            unranked["their scores"] += 1
            records = _by_score(content, records, scores)
        for record in records:
            rows.answer_of(record)
        if name in odds:
            rows.no_answer(odds[name])
    if climbing:
        rows.note(
            f"the scores of {count_of(climbing, 'question')} do not fall with their ranks; the "
            "ranks order the answers (leave them out for the scores)"
        )
    for order, n in unranked.items():
        rows.note(f"{n} questions have several answers without ranks, which are taken by {order}")


def _is_bare(record: Record) -> bool:
    """Whether a line says only that there is no line of an answer. A table has all columns in every
    row.
    """
    if record.content.form == "table":
        return all(record.value.get(name) in (None, "") for name in ("rank", "text", "score"))
    return record.value.get("rank") is None and set(record.value) <= {"id", "rank", "no_answer"}


def _check_ranks(content: Content, name: str, answers: Sequence[tuple[int, Record]]) -> bool:
    """Whether ranks order the answers to a question. Raises DuplicateItem for a rank that comes
    twice, BadInput where some have none.
    """
    first: dict[int, Record] = {}
    for rank, record in answers:
        if first.setdefault(rank, record) is not record and rank > 0:
            second = content.place(record.where).removeprefix(content.name).lstrip(": ")
            raise DuplicateItem(
                f"{content.place(first[rank].where)} and {second} both have rank {rank} of the "
                f"question {name!r}; give each answer a rank of its own."
            )
    if -1 in first and len(first) > 1:
        unranked = [record for rank, record in answers if rank < 0][-1]
        expected = f"a rank, as other answers to {name!r} have"
        raise content.wrong((*unranked.where, "rank"), MISSING, expected)
    return -1 not in first or len(answers) == 1


def _by_score(content: Content, records: Sequence[Record], scores: Sequence[float]) -> list[Record]:
    """Answers by falling score, equal ones by what they say. Raises BadInput where one has none."""
    for record, score in zip(records, scores, strict=True):
        if math.isnan(score):
            expected = "a rank, or a score as other answers have"
            raise content.wrong((*record.where, "score"), MISSING, expected)
    keys = [
        (-score, str(record.value.get("text")), repr(record.value))
        for score, record in zip(scores, records, strict=True)
    ]
    return [records[row] for row in sorted(range(len(records)), key=keys.__getitem__)]
