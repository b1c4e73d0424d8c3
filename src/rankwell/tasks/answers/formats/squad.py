"""SQuAD's own files, and what others have made of them: questions, predictions, no-answer
probabilities, n-best answers.
"""

import ast
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from rankwell.documents import parse_json
from rankwell.errors import BadInput
from rankwell.io.records import MOST_START, Content, Record, Where
from rankwell.store import write_text
from rankwell.tasks.answers.answer_pairs import Predictions
from rankwell.tasks.answers.formats import answer_format
from rankwell.tasks.answers.formats.rows import AnswerRows, EntryRows, QuestionRows

_KEYS = {"id", "question", "answers", "is_impossible"}


def _fits_squad(content: Content) -> float:
    if "paragraphs" in content.keys:
        return 0.95
    top = content.value if isinstance(content.value, Mapping) else {}
    # Nothing in `data`, or something else than a list of articles, is reported with its path.
    return 0.6 if "data" in top and (not content.keys or not content.prefix) else 0.0


@answer_format("squad", "questions", fits=_fits_squad)
def read(content: Content, rows: QuestionRows) -> None:
    """The questions of every paragraph. A document is a paragraph: its id is its own `id`, else
    `title#index`.

    Paragraphs of a title that comes again are numbered on. What else an article, a paragraph or a
    question says is an attribute of the question. Source: Rajpurkar et al. 2016 and 2018.
    """
    if isinstance(content.value, Mapping) and "data" in content.value and not content.prefix:
        raise content.wrong(("data",), content.value["data"], "a list of articles")
    numbered: Counter[str] = Counter()
    for number, article in enumerate(content.checked_records()):
        title = article.value.get("title", article.value.get("displaytitle"))
        title = (
            str(number)
            if title is None or title == ""
            else article._replace(value={"title": title}).text("title")
        )
        if numbered[title]:
            rows.odd("same_title", article.where)
        about = _plain(article, "article", {"paragraphs"})
        if "paragraphs" not in article.value:
            raise article.wrong("a list of paragraphs, each with context and qas", "paragraphs")
        for paragraph in article.objects("paragraphs", "an object with context and qas"):
            document = paragraph.id() or f"{title}#{numbered[title]}"
            numbered[title] += 1
            rows.context(document, paragraph.text("context"), (*paragraph.where, "context"))
            attributes = about | _plain(paragraph, "paragraph", {"context", "qas", "id"})
            if paragraph.value.get("qas") == "":
                rows.odd("no_list", (*paragraph.where, "qas"))
            for index, question in enumerate(paragraph.items("qas")):
                _add_question(
                    rows, question, (*paragraph.where, "qas", index), document, attributes
                )


def _add_question(
    rows: QuestionRows, value: Any, where: Where, document: str, attributes: dict[str, Any]
) -> None:
    name, text = (value.get("id"), value.get("question")) if type(value) is dict else (None, None)
    # A Record is slow, and SQuAD's own form, of which files have a hundred thousand, needs none.
    if not name or type(name) is not str or type(text) is not str:
        question = rows.content.record(value, where, "an object with id, question and answers")
        name, text = question.id(), question.text("question")
    if len(value) > 3:
        attributes = attributes | {key: value[key] for key in value if key not in _KEYS}
    otherwise = f"{document}#{where[-1]}"
    if rows.add(where, name, text, document=document, otherwise=otherwise, attributes=attributes):
        answers, below = value.get("answers"), (*where, "answers")
        if answers == "":
            rows.odd("no_list", below)
        add_answers(rows, answers, below, document)
        marked = value.get("is_impossible", value.get("impossible"))
        if marked is not None and type(marked) is not bool:
            marked = marked_impossible(Record(rows.content, value, where))
        if marked is None and "answers" not in value:
            rows.odd("silent", where)
        rows.end(marked)


def _plain(record: Record, kind: str, without: set[str]) -> dict[str, Any]:
    """The plain values of an article or a paragraph; its `id` under a name that is not the
    question's.
    """
    return {
        f"{kind}_id" if key == "id" else key: value
        for key, value in record.value.items()
        if key not in without and isinstance(value, (str, int, float, bool))
    }


_TRUTHS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}
_START = ("answer_start", "start", "start_character")
DOCUMENT = ("document", "document_id", "doc_id")


def add_answers(rows: QuestionRows, value: Any, where: Where, document: str | None = None) -> None:
    """Adds the right answers of a question in any of SQuAD's forms; a table's cell may hold a list
    in JSON or Python.
    """
    if isinstance(value, str) and rows.content.form == "table":
        value = literal(value)
    if isinstance(value, list):
        for index, answer in enumerate(value):
            _add_one(rows, answer, (*where, index), document)
    elif isinstance(value, Mapping) and isinstance(value.get("text"), (list, tuple)):
        _add_columns(rows, Record(rows.content, value, where), document)
    elif isinstance(value, (str, Mapping)):
        if value != "":
            _add_one(rows, value, where, document)
    elif value is not None:
        raise rows.content.wrong(where, value, "a list of answers")


def _add_one(rows: QuestionRows, value: Any, where: Where, document: str | None) -> None:
    if isinstance(value, str):
        rows.answer(value, where, document)
        return
    # SQuAD's own form, of which files have a hundred thousand.
    if type(value) is dict and len(value) == 2 and isinstance(value.get("text"), str):
        start = value.get("answer_start")
        if type(start) is int and start < MOST_START:
            rows.answer(value["text"], where, document, start)
            return
    answer = rows.content.record(value, where, "an answer, {text, answer_start}")
    key = answer.key("text", "answer")
    text = answer.text("text") if key is None else answer.text(key, "")
    start = answer.integer(answer.key(*_START) or "answer_start")
    for name in DOCUMENT:
        if answer.value.get(name) is not None:
            document = answer.id(name)
            break
    rows.answer(text, where, document, start)


def _add_columns(rows: QuestionRows, answers: Record, document: str | None) -> None:
    """The answers in Hugging Face's columns."""
    texts, starts = answers.value["text"], answers.value.get("answer_start")
    starts = [None] * len(texts) if starts is None else starts
    if not isinstance(starts, (list, tuple)) or len(starts) != len(texts):
        raise answers.wrong(f"a list of {len(texts)}, as many as there are texts", "answer_start")
    for index, (text, start) in enumerate(zip(texts, starts, strict=True)):
        if not isinstance(text, str):
            raise answers.wrong("a string", "text", index)
        begin = answers.content.integer(start, (*answers.where, "answer_start", index))
        rows.answer(text, (*answers.where, "text", index), document, begin)


def marked_impossible(record: Record) -> bool | None:
    """Whether a question says that it is impossible to answer; None where it has no such mark."""
    key = record.key("is_impossible") or "impossible"
    value = record.value.get(key)
    if isinstance(value, bool) or value is None or value == "":
        return None if value == "" else value
    word = value.lower() if isinstance(value, str) else str(int(value)) if value in (0, 1) else ""
    if word not in _TRUTHS:
        raise record.wrong("true or false", key)
    return _TRUTHS[word]


def literal(text: str) -> Any:
    """The value of a cell of a table: a list or an object as JSON or as a Python literal; any other
    text is itself.
    """
    if text[:1] not in ("[", "{", "("):
        return text
    with suppress(BadInput):
        return parse_json(text, "the cell")
    with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
        return ast.literal_eval(text)
    return text


def _first(content: Content, is_one: Callable[[Any], bool]) -> float:
    """Confidence that the document is an object, half or more of whose first values are of a
    kind.
    """
    values = list(content.value.values())[:21] if isinstance(content.value, Mapping) else []
    return 0.8 if values and 2 * sum(map(is_one, values)) >= len(values) else 0.0


def _is_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _write_predictions(predictions: Predictions, path: Path) -> None:
    first = {
        name: next((answer.text for answer in answers), None) or ""
        for name, answers in predictions.ranked.items()
    }
    write_text(path, json.dumps(first, ensure_ascii=False, indent=0) + "\n")


@answer_format(
    "predictions",
    "predictions",
    fits=lambda content: 0.0 if content.prefix else _first(content, _is_text),
    write=_write_predictions,
    suffixes=(".json",),
)
def read_official_predictions(content: Content, rows: AnswerRows) -> None:
    """The official form `{id: text}`; an empty text, or null, says that there is no answer. Source:
    Rajpurkar et al. 2018.
    """
    document = content.record(content.value, (), "an object {id: text}")
    for name, text in document.value.items():
        rows.begin((name,), name)
        rows.answer(
            text
            if type(text) is str
            else document.text_or_null(name, "a string, or null for no answer")
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


@answer_format("na-probs", "na-probs", fits=lambda content: _first(content, _is_number))
def read_na_probs(content: Content, rows: EntryRows) -> dict[str, float]:  # noqa: ARG001 - numbers need no rows
    """The form `{id: number}`: probabilities that there is no answer, or null odds, a score of
    that.
    """
    document = content.record(content.value, (), "an object {id: number}")
    for name, value in document.value.items():
        if not (_is_number(value) and math.isfinite(value)):
            raise document.wrong("a finite number", name)
    return {name: float(value) for name, value in document.value.items()}


def _fits_lists(content: Content, kind: Callable[[Any], bool]) -> float:
    """Confidence that the document is lists of one kind by id; empty lists alone are lists of
    anything.
    """
    if not isinstance(content.value, Mapping) or content.prefix:
        return 0.0
    values = list(content.value.values())[:21]
    lists: list[list[Any]] = [value for value in values if isinstance(value, list)]
    filled = [value for value in lists if value]
    fitting = sum(all(map(kind, value[:3])) for value in filled)
    is_form = len(lists) == len(values) and 2 * fitting >= max(len(filled), 1)
    return 0.9 if values and is_form else 0.0


def _lists(content: Content, form: str, kind: str) -> Iterator[tuple[str, list[Any]]]:
    """The ids and lists of an object {id: list}."""
    document = content.record(content.value, (), f"an object {{id: [{form}]}}")
    for name, value in document.value.items():
        if not isinstance(value, list):
            raise content.wrong((name,), value, f"a list of {kind}, best first")
        yield name, value


@answer_format("texts", "predictions", fits=lambda content: _fits_lists(content, _is_text))
def read_texts(content: Content, rows: AnswerRows) -> None:
    """The form `{id: [text, ...]}`, best first; an empty text, or null, says that there is no
    answer. An empty list is none.
    """
    for name, texts in _lists(content, "text", "strings"):
        rows.begin((name,), name)
        for rank, text in enumerate(texts):
            if not _is_text(text):
                raise content.wrong((name, rank), text, "a string, or null for no answer")
            rows.answer(text)


def _is_answer(value: Any) -> bool:
    return isinstance(value, Mapping) and not {"question", "answers"} & set(value)


@answer_format("n-best", "predictions", fits=lambda content: _fits_lists(content, _is_answer))
def read_n_best(content: Content, rows: AnswerRows) -> None:
    """The form `{id: [{text, probability}]}` of `nbest_predictions.json`, best first.

    The probability of the empty text is that of there being no answer. Answers may carry `start`,
    `end` and `document`, and `score` in place of `probability`. Source: transformers, `run_qa.py`.
    """
    for name, values in _lists(content, "{text, probability}", "answers"):
        rows.begin((name,), name)
        for rank, value in enumerate(values):
            answer = content.record(value, (name, rank), "an object with text and probability")
            score = rows.answer_of(answer, answer.key("probability") or "score")
            if not answer.value["text"] and not math.isnan(score):
                rows.no_answer(score)
