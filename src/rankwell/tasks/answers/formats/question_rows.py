"""A question per row: Hugging Face's data sets, NQ-open, DPR's question files, and tables of one's own."""

from collections.abc import Mapping
from typing import Any

from rankwell.tasks.answers.formats import answer_format
from rankwell.tasks.answers.formats.content import Content, Where
from rankwell.tasks.answers.formats.gold import add_answers, literal, marked_impossible
from rankwell.tasks.answers.formats.rows import AnswerRows, QuestionRows

_ID = ("id", "question_id", "qid", "query_id")
_QUESTION = ("question", "query")
_ANSWERS = ("answers", "answer", "gold_answers")
_DOCUMENT = ("document", "document_id", "doc_id")
_START = ("answer_start", "start")
_OWN = {*_ID, *_QUESTION, *_ANSWERS, *_DOCUMENT, *_START, "context", "is_impossible", "impossible"}


def _key(names: tuple[str, ...], keys: Any) -> str | None:
    return next((name for name in names if name in keys), None)


def _fits(content: Content) -> float:
    if not _key(_QUESTION, content.keys) or not _key(_ANSWERS, content.keys):
        return 0.0
    return 0.4 if {"ctxs", "contexts", "paragraphs"} & content.keys else 0.6


@answer_format("rows", "questions", fits=_fits)
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


def _fits_nq(content: Content) -> float:
    return 0.9 if {"question", "answer"} <= content.keys and isinstance(content.first("answer"), list) else 0.0


@answer_format("nq-open", "questions", fits=_fits_nq)
def read_nq_open(content: Content, rows: QuestionRows) -> None:
    """NQ-open's lines `{question, answer: [text]}`; a question goes by its number, from 0. Source: Lee et al. 2019."""
    read(content, rows)


def _fits_nq_predictions(content: Content) -> float:
    return 0.9 if {"question", "prediction"} <= content.keys else 0.0


@answer_format("nq-open", "predictions", fits=_fits_nq_predictions)
def read_nq_predictions(content: Content, rows: AnswerRows) -> None:
    """NQ-open's lines `{question, prediction}`, which belong to questions by their text."""
    for where, record in content.each():
        name = content.id(record.get("id"), (*where, "id"))
        rows.add(where, name, content.text(record, where, "question"))
        rows.answer(content.text_or_null(record, where, "prediction") or "")


def _fits_hf(content: Content) -> float:
    return 0.9 if "prediction_text" in content.keys else 0.0


@answer_format("hf", "predictions", fits=_fits_hf)
def read_hf(content: Content, rows: AnswerRows) -> None:
    """The rows `{id, prediction_text, no_answer_probability}` that Hugging Face's `squad` and `squad_v2` are given."""
    for where, record in content.each():
        rows.add(where, content.id(record.get("id"), (*where, "id")))
        rows.answer(content.text_or_null(record, where, "prediction_text") or "")
        if record.get("no_answer_probability") is not None:
            rows.no_answer(content.number(record["no_answer_probability"], (*where, "no_answer_probability")))


def _fits_dpr_questions(content: Content) -> float:
    return 0.9 if content.form == "table" and len(content.header) == 2 and content.header[1][:1] == "[" else 0.0


@answer_format("dpr-questions", "questions", fits=_fits_dpr_questions)
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
