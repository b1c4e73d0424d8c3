"""A question or an answer per row: Hugging Face's data sets, NQ-open, DPR's question files, ranked answers, your own tables."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankwell.errors import DuplicateItem
from rankwell.store import write_text
from rankwell.tasks.answers.answer_pairs import Predictions
from rankwell.tasks.answers.formats import answer_format
from rankwell.tasks.answers.formats.content import MISSING, Content, Where, has
from rankwell.tasks.answers.formats.rows import AnswerRows, QuestionRows
from rankwell.tasks.answers.formats.squad import add_answers, literal, marked_impossible

_ID = ("id", "question_id", "qid", "query_id")
_QUESTION = ("question", "query")
_ANSWERS = ("answers", "answer", "gold_answers")
_DOCUMENT = ("document", "document_id", "doc_id")
_START = ("answer_start", "start")
_OWN = {*_ID, *_QUESTION, *_ANSWERS, *_DOCUMENT, *_START, "context", "is_impossible", "impossible"}


def _key(names: tuple[str, ...], keys: Any) -> str | None:
    return next((name for name in names if name in keys), None)


@answer_format("rows", "questions", fits=has("question|query answers|answer|gold_answers !ctxs !contexts !paragraphs", sure=0.6))
def read(content: Content, rows: QuestionRows) -> None:
    """The question of each row: `id`, `question`, `answers`, and where known `context`, `title`, `document`, `impossible`.

    answers: {text: [], answer_start: []}, a list of texts or of {text, answer_start, document}, or one text (`answer`). A
    document without an id is `title#index`, numbered as SQuAD's paragraphs are. Other columns are attributes.
    """
    numbered: dict[str, dict[str, str]] = {}
    for where, record in content.each():
        question = _key(_QUESTION, record)
        text = None if question is None or record[question] is None else content.text(record, where, question)
        own, document = _key(_ID, record), _document(content, rows, record, where, numbered)
        more = {key: value for key, value in record.items() if key not in _OWN and value is not None and value != ""}
        name = None if own is None else content.id(record[own], (*where, own))
        if not rows.add(where, name, text, document=document, attributes=more):
            continue
        key = _key(_ANSWERS, record)
        if key is not None:
            _add(content, rows, record, (*where, key), document)
        marked = marked_impossible(content, record, where)
        if key is None and marked is None:
            rows.odd("silent", where)
        rows.end(marked)


def _add(content: Content, rows: QuestionRows, record: Mapping[str, Any], where: Where, document: str | None) -> None:
    """The answers of a row; a single one may have its position in a column of its own."""
    value, start = record[str(where[-1])], _key(_START, record)
    if start is not None and isinstance(value, str) and isinstance(literal(value), str):
        rows.answer(value, where, document, content.whole(record[start], (*where[:-1], start))) if value else None
    else:
        add_answers(content, rows, value, where, document)


def _document(
    content: Content, rows: QuestionRows, record: Mapping[str, Any], where: Where, numbered: dict[str, dict[str, str]]
) -> str | None:
    """The id of a row's document: its own, or its title and the number of its context among those of the title."""
    key, context = _key(_DOCUMENT, record), record.get("context")
    name = None if key is None else content.id(record[key], (*where, key))
    if context is None or context == "":
        return name
    text = content.text(record, where, "context")
    if name is None:
        title = content.text(record, where, "title", "")
        known = numbered.setdefault(title, {})
        name = known.setdefault(text, f"{title}#{len(known)}")
    rows.context(name, text, (*where, "context"))
    return name


@answer_format("nq-open", "questions", fits=has("question answer[]", sure=0.9))
def read_nq_open(content: Content, rows: QuestionRows) -> None:
    """NQ-open's lines `{question, answer: [text]}`; a question goes by its number, from 0. Source: Lee et al. 2019."""
    read(content, rows)


@answer_format("nq-open", "predictions", fits=has("question prediction", sure=0.9))
def read_nq_predictions(content: Content, rows: AnswerRows) -> None:
    """NQ-open's lines `{question, prediction}`, which belong to questions by their text."""
    for where, record in content.each():
        name = content.id(record.get("id"), (*where, "id"))
        rows.add(where, name, content.text(record, where, "question"))
        rows.answer(content.text_or_null(record, where, "prediction") or "")


@answer_format("hf", "predictions", fits=has("prediction_text", sure=0.9))
def read_hf(content: Content, rows: AnswerRows) -> None:
    """The rows `{id, prediction_text, no_answer_probability}` that Hugging Face's `squad` and `squad_v2` are given."""
    for where, record in content.each():
        rows.add(where, content.id(record.get("id"), (*where, "id")))
        rows.answer(content.text_or_null(record, where, "prediction_text") or "")
        if record.get("no_answer_probability") is not None:
            rows.no_answer(content.number(record["no_answer_probability"], (*where, "no_answer_probability")))


@answer_format("dpr-questions", "questions", fits=has("form=table no-header", sure=0.9))
def read_dpr_questions(content: Content, rows: QuestionRows) -> None:
    """DPR's question files without a header: question, tab, a Python list of answers. Source: Karpukhin et al. 2020."""
    first, second = content.header
    lines = [(first, second), *((record[first], record[second]) for record in content.records)]
    for number, (question, answers) in enumerate(lines):
        where: Where = (number - 1, second) if number else ()
        found = literal(answers)
        if not isinstance(found, list):
            raise content.wrong(where, answers, "a list of answers, ['Paris', 'Paris, France']")
        if rows.add(where, None, question):
            add_answers(content, rows, found, where, None)
            rows.end(None)


def _write_ranked(predictions: Predictions, path: Path) -> None:
    begins = predictions.offsets.tolist()
    odds = None if predictions.no_answer is None else predictions.no_answer.tolist()
    lines: list[str] = []
    for question, name in enumerate(predictions.ids):
        begin, end = begins[question], begins[question + 1]
        own: dict[str, Any] = {} if odds is None or math.isnan(odds[question]) else {"no_answer": odds[question]}
        if begin == end:
            lines.append(json.dumps({"id": name, "rank": None, **own}, ensure_ascii=False))
        for row in range(begin, end):
            lines.append(json.dumps({"id": name, **_ranked_row(predictions, row, row - begin + 1), **own}, ensure_ascii=False))
            own = {}
    write_text(path, "".join(f"{line}\n" for line in lines))


def _ranked_row(predictions: Predictions, row: int, rank: int) -> dict[str, Any]:
    start, end, score = int(predictions.starts[row]), int(predictions.ends[row]), float(predictions.scores[row])
    return {
        "rank": rank,
        "text": predictions.texts[row],
        "document": predictions.documents[row],
        "start": None if start < 0 else start,
        "end": None if end < 0 else end,
        "score": None if math.isnan(score) else score,
    }


@answer_format(
    "ranked", "predictions", fits=has("id rank|text !question", sure=0.8), write=_write_ranked, suffixes=(".jsonl", ".ndjson")
)
def read_ranked(content: Content, rows: AnswerRows) -> None:
    """The answers `{id, rank, text, document, start, end, score}`, one a line; text null says that there is no answer.

    Without ranks the scores of a question's answers order them, the highest first, and without scores the lines do, with a note.
    A line of an `id` alone, or with `rank` null, is that of a question to which nothing, not even that, was answered. `no_answer`
    may stand in any line of a question. Raises BadInput for a rank that appears twice and for a line that lacks `text`.
    """
    found: dict[str, list[tuple[int, Where, dict[str, Any]]]] = {}
    first: dict[str, Where] = {}
    odds: dict[str, float] = {}
    for where, record in content.each():
        name = content.id(record.get("id", MISSING), (*where, "id"))
        if name is None:
            raise content.wrong((*where, "id"), record.get("id", MISSING), "the id of a question")
        answers = found.setdefault(name, [])
        first.setdefault(name, where)
        if record.get("no_answer") not in (None, ""):
            odds[name] = content.number(record["no_answer"], (*where, "no_answer"))
        rank = content.whole(record.get("rank"), (*where, "rank"), "a rank, a positive integer")
        if rank < 1 and record.get("rank") not in (None, ""):
            raise content.wrong((*where, "rank"), record["rank"], "a rank, a positive integer")
        if not _is_bare(content, record):
            answers.append((rank, where, record))
    for name, answers in found.items():
        rows.add(first[name], name)
        for where, record in _in_order(content, rows, name, answers):
            _add_ranked(content, rows, record, where)
        if name in odds:
            rows.no_answer(odds[name])
    for what, n in rows.unranked.items():
        rows.said.append(f"{content.name}: {n} questions have several answers without ranks, which are taken by {what}")


def _is_bare(content: Content, record: dict[str, Any]) -> bool:
    """Whether a line says only that there is no line of an answer. A table has all columns in every row."""
    if content.form == "table":
        return all(record.get(name) in (None, "") for name in ("rank", "text", "score"))
    return record.get("rank") is None and set(record) <= {"id", "rank", "no_answer"}


def _in_order(
    content: Content, rows: AnswerRows, name: str, answers: list[tuple[int, Where, dict[str, Any]]]
) -> list[tuple[Where, dict[str, Any]]]:
    ranks: dict[int, Where] = {}
    for rank, where, _ in answers:
        if rank in ranks and rank > 0:
            both = f"{content.place(ranks[rank])} and {content.place(where).removeprefix(content.name).lstrip(': ')}"
            raise DuplicateItem(f"{both} both have rank {rank} of the question {name!r}; give each answer a rank of its own.")
        ranks[rank] = where
    if -1 in ranks and len(ranks) > 1:
        raise content.wrong((*ranks[-1], "rank"), MISSING, f"a rank, as other answers to {name!r} have")
    if -1 in ranks and len(answers) > 1:
        return _by_score(content, rows, [(where, record) for _, where, record in answers])
    return [(where, record) for _, where, record in sorted(answers, key=lambda each: each[0])]


def _by_score(
    content: Content, rows: AnswerRows, answers: list[tuple[Where, dict[str, Any]]]
) -> list[tuple[Where, dict[str, Any]]]:
    """The answers to a question, the highest score first, equal ones by what they say; in their own order without scores."""
    scores = [content.number(record.get("score"), (*where, "score")) for where, record in answers]
    known = [not math.isnan(score) for score in scores]
    if any(known) and not all(known):
        raise content.wrong((*answers[known.index(False)][0], "score"), MISSING, "a rank, or a score as other answers have")
    rows.unranked["their scores" if all(known) else "the order of their lines"] += 1
    if not all(known):
        return answers
    keys = [(-score, str(record.get("text")), repr(record)) for score, (_, record) in zip(scores, answers, strict=True)]
    return [answers[place] for place in sorted(range(len(answers)), key=keys.__getitem__)]


def _add_ranked(content: Content, rows: AnswerRows, record: dict[str, Any], where: Where) -> None:
    rows.answer(
        content.text_or_null(record, where, "text"),
        document=content.id(record.get("document"), (*where, "document")),
        start=content.whole(record.get("start"), (*where, "start")),
        end=content.whole(record.get("end"), (*where, "end")),
        score=content.number(record.get("score"), (*where, "score")),
    )
