"""A question or an answer per row: Hugging Face's data sets, NQ-open, DPR's question files, ranked
answers, your own tables.
"""

import json
import math
from itertools import pairwise
from operator import lt
from pathlib import Path
from typing import Any

from rankwell.errors import BadInput, DuplicateItem, count_of
from rankwell.io.records import HEADER, MISSING, Content, Record, Where
from rankwell.store import write_text
from rankwell.tasks.answers.answer_pairs import Predictions
from rankwell.tasks.answers.formats import answer_format
from rankwell.tasks.answers.formats.features import has
from rankwell.tasks.answers.formats.rows import AnswerRows, QuestionRows
from rankwell.tasks.answers.formats.squad import DOCUMENT, add_answers, literal, marked_impossible

_ID = ("id", "question_id", "qid", "query_id")
_QUESTION = ("question", "query")
_ANSWERS = ("answers", "answer", "gold_answers")
_START = ("answer_start", "start")
_OWN = {*_ID, *_QUESTION, *_ANSWERS, *DOCUMENT, *_START, "context", "is_impossible", "impossible"}


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
        more = {
            key: value
            for key, value in record.value.items()
            if key not in _OWN and value is not None and value != ""
        }
        if not rows.add(
            record.where,
            record.id(record.key(*_ID) or "id"),
            text,
            document=document,
            attributes=more,
        ):
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
        known = numbered.setdefault(title, {})
        name = known.setdefault(text, f"{title}#{len(known)}")
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
        expected = "two columns without a header, the question and a list of answers"
        raise BadInput(f"{content.name}: {len(content.header)} columns; expected {expected}.")
    second = content.header[1]
    lines = [
        content.header,
        *(tuple(record.value.values()) for record in content.checked_records()),
    ]
    for row, (question, answers) in enumerate(lines, HEADER):
        where: Where = (row, second)
        found = literal(answers)
        if not isinstance(found, list):
            raise content.wrong(where, answers, "a list of answers, ['Paris', 'Paris, France']")
        if rows.add(where, None, question):
            add_answers(rows, found, where)
            rows.end(None)


def _write_ranked(predictions: Predictions, path: Path) -> None:
    odds = (
        [math.nan] * len(predictions.ids)
        if predictions.no_answer is None
        else predictions.no_answer.tolist()
    )
    columns = (predictions.starts.tolist(), predictions.ends.tolist(), predictions.scores.tolist())
    cells = list(zip(predictions.texts, predictions.documents, *columns, strict=True))
    lines: list[dict[str, Any]] = []
    for name, (begin, stop), odd in zip(
        predictions.ids, pairwise(predictions.offsets.tolist()), odds, strict=True
    ):
        mine: list[dict[str, Any]] = [
            {"id": name, "rank": rank, "text": text, "document": document}
            | {"start": None if start < 0 else start, "end": None if end < 0 else end}
            | {"score": None if math.isnan(score) else score}
            for rank, (text, document, start, end, score) in enumerate(cells[begin:stop], 1)
        ] or [{"id": name, "rank": None}]
        mine[0] |= {} if math.isnan(odd) else {"no_answer": odd}
        lines += mine
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
    found: dict[str, list[tuple[int, Record]]] = {}
    first: dict[str, Where] = {}
    odds: dict[str, float] = {}
    for record in content.checked_records():
        name, no_answer = record.id(), record.value.get("no_answer")
        if name is None:
            raise record.wrong("the id of a question", "id")
        answers = found.setdefault(name, [])
        first.setdefault(name, record.where)
        if no_answer is not None and no_answer != "":
            odds[name] = record.number("no_answer")
        rank = record.integer("rank", "a rank, a positive integer")
        if rank < 1 and record.value.get("rank") not in (None, ""):
            raise record.wrong("a rank, a positive integer", "rank")
        if rank > 0 or not _is_bare(record):
            answers.append((rank, record))
    for name, answers in found.items():
        rows.begin(first[name], name)
        for record in _in_order(rows, name, answers):
            rows.answer_of(record)
        if name in odds:
            rows.no_answer(odds[name])
    if rows.n_climbing:
        what = (
            f"{content.name}: the scores of {count_of(rows.n_climbing, 'question')} do not fall "
            "with their ranks"
        )
        rows.said.append(f"{what}; the ranks order the answers (leave them out for the scores)")
    for what, n in rows.unranked.items():
        rows.said.append(
            f"{content.name}: {n} questions have several answers without ranks, which are "
            f"taken by {what}"
        )


def _is_bare(record: Record) -> bool:
    """Whether a line says only that there is no line of an answer. A table has all columns in every
    row.
    """
    if record.content.form == "table":
        return all(record.value.get(name) in (None, "") for name in ("rank", "text", "score"))
    return record.value.get("rank") is None and set(record.value) <= {"id", "rank", "no_answer"}


def _in_order(rows: AnswerRows, name: str, answers: list[tuple[int, Record]]) -> list[Record]:
    """The answers to a question by rank, else by falling score, equal ones by what they say, else
    in their own order.
    """
    content, ranks = rows.content, dict[int, Record]()
    for rank, record in answers:
        if rank in ranks and rank > 0:
            second = content.place(record.where).removeprefix(content.name).lstrip(": ")
            both = (
                f"{content.place(ranks[rank].where)} and {second} both have rank {rank} of the "
                f"question {name!r}"
            )
            raise DuplicateItem(f"{both}; give each answer a rank of its own.")
        ranks[rank] = record
    if -1 in ranks and len(ranks) > 1:
        raise content.wrong(
            (*ranks[-1].where, "rank"), MISSING, f"a rank, as other answers to {name!r} have"
        )
    if -1 not in ranks or len(answers) == 1:
        ordered = [record for _, record in sorted(answers, key=lambda each: each[0])]
        scores = [record.number("score") for record in ordered]
        rows.n_climbing += any(map(lt, scores, scores[1:]))
        return ordered
    records = [record for _, record in answers]
    scores = [record.number("score") for record in records]
    known = [not math.isnan(score) for score in scores]
    if any(known) and not all(known):
        where = (*records[known.index(False)].where, "score")
        raise content.wrong(where, MISSING, "a rank, or a score as other answers have")
    rows.unranked["their scores" if all(known) else "the order of their lines"] += 1
    if not all(known):
        return records
    keys = [
        (-score, str(each.value.get("text")), repr(each.value))
        for score, each in zip(scores, records, strict=True)
    ]
    return [records[place] for place in sorted(range(len(records)), key=keys.__getitem__)]
