"""SQuAD's own files, and what others have made of them: questions, predictions, no-answer probabilities, n-best answers."""

import ast
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rankwell.store import write_text
from rankwell.tasks.answers.answer_pairs import Predictions
from rankwell.tasks.answers.formats import answer_format
from rankwell.tasks.answers.formats.content import MISSING, Content, Where
from rankwell.tasks.answers.formats.rows import AnswerRows, QuestionRows

_OWN = {"id", "question", "answers", "is_impossible"}


def _fits_squad(content: Content) -> float:
    if "paragraphs" in content.keys:
        return 0.95
    whole = content.value if isinstance(content.value, Mapping) else {}
    # Nothing in `data`, or something else than a list of articles, is reported with its path.
    return 0.6 if "data" in whole and (not content.keys or not content.prefix) else 0.0


@answer_format("squad", "questions", fits=_fits_squad)
def read(content: Content, rows: QuestionRows) -> None:
    """The questions of every paragraph. A document is a paragraph: its id is its own `id`, else `title#index`.

    Paragraphs of a title that comes again are numbered on. What else an article, a paragraph or a question says is an attribute
    of the question. Source: Rajpurkar et al. 2016 and 2018.
    """
    if isinstance(content.value, Mapping) and "data" in content.value and not content.prefix:
        raise content.wrong(("data",), content.value["data"], "a list of articles")
    numbered: Counter[str] = Counter()
    for number, (where, article) in enumerate(content.each()):
        title = article.get("title", article.get("displaytitle"))
        title = str(number) if title is None or title == "" else content.text({"title": title}, where, "title")
        if numbered[title]:
            rows.odd("same_title", where)
        about = _plain(article, "article", {"paragraphs"})
        if "paragraphs" not in article:
            raise content.wrong((*where, "paragraphs"), MISSING, "a list of paragraphs, each with context and qas")
        for index, paragraph in enumerate(content.items(article, where, "paragraphs")):
            place = (*where, "paragraphs", index)
            if not isinstance(paragraph, dict):
                raise content.wrong(place, paragraph, "an object with context and qas")
            own = content.id(paragraph.get("id"), (*place, "id"))
            document = own or f"{title}#{numbered[title]}"
            numbered[title] += 1
            rows.context(document, content.text(paragraph, place, "context"), (*place, "context"))
            attributes = about | _plain(paragraph, "paragraph", {"context", "qas", "id"})
            _read_paragraph(content, rows, paragraph, place, document, attributes)


def _read_paragraph(
    content: Content, rows: QuestionRows, paragraph: dict[str, Any], place: Where, document: str, attributes: dict[str, Any]
) -> None:
    if paragraph.get("qas") == "":
        rows.odd("no_list", (*place, "qas"))
    for index, question in enumerate(content.items(paragraph, place, "qas")):
        where = (*place, "qas", index)
        if not isinstance(question, dict):
            raise content.wrong(where, question, "an object with id, question and answers")
        text = question.get("question", MISSING)
        if not isinstance(text, str):
            raise content.wrong((*where, "question"), text, "a string")
        name = question.get("id")
        if type(name) is not str or not name:
            name = content.id(name, (*where, "id"))
        more = {key: value for key, value in question.items() if key not in _OWN} if len(question) > 3 else {}
        added = rows.add(
            where,
            name,
            text,
            document=document,
            otherwise=f"{document}#{index}",
            attributes=attributes | more if more else attributes,
        )
        if added:
            if question.get("answers") == "":
                rows.odd("no_list", (*where, "answers"))
            add_answers(content, rows, question.get("answers"), (*where, "answers"), document)
            marked = marked_impossible(content, question, where)
            if "answers" not in question and marked is None:
                rows.odd("silent", where)
            rows.end(marked)


def _plain(thing: Mapping[str, Any], kind: str, without: set[str]) -> dict[str, Any]:
    """The plain values of an article or a paragraph; its `id` under a name that is not the question's."""
    return {
        f"{kind}_id" if key == "id" else key: value
        for key, value in thing.items()
        if key not in without and isinstance(value, (str, int, float, bool))
    }


_TRUTHS: dict[Any, bool] = {
    True: True,
    False: False,
    "true": True,
    "false": False,
    "yes": True,
    "no": False,
    "1": True,
    "0": False,
}
_TEXT = ("text", "answer")
_START = ("answer_start", "start", "start_character")
_DOCUMENT = ("document", "document_id", "doc_id")


def add_answers(content: Content, rows: QuestionRows, value: Any, where: Where, document: str | None) -> None:
    """Adds the right answers of a question: a list of texts or of {text, answer_start}, {text: [], answer_start: []}, one text.

    document: where they stand, unless an answer names a document itself. A table's cell may hold a list in JSON or Python.
    """
    if isinstance(value, str) and content.form == "table":
        value = literal(value)
    if value is None or value == "":
        return
    if isinstance(value, str):
        rows.answer(value, where, document)
    elif isinstance(value, Mapping):
        _add_columns(content, rows, value, where, document)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            _add_one(content, rows, each, (*where, index), document)
    else:
        raise content.wrong(where, value, "a list of answers")


def _add_one(content: Content, rows: QuestionRows, each: Any, where: Where, document: str | None) -> None:
    if isinstance(each, str):
        rows.answer(each, where, document)
        return
    if not isinstance(each, Mapping):
        raise content.wrong(where, each, "an answer, {text, answer_start}")
    key = next((key for key in _TEXT if key in each), "text")
    start = next((name for name in _START if name in each), "answer_start")
    owner = next((name for name in _DOCUMENT if each.get(name) is not None), None)
    if owner is not None:
        document = content.id(each[owner], (*where, owner))
    text = each.get(key, MISSING)
    if not isinstance(text, str):
        if text is not None:
            raise content.wrong((*where, key), text, "a string")
        text = ""
    begin = each.get(start)
    rows.answer(text, where, document, begin if type(begin) is int else content.whole(begin, (*where, start)))


def _add_columns(content: Content, rows: QuestionRows, value: Mapping[str, Any], where: Where, document: str | None) -> None:
    """The answers in Hugging Face's columns, or the only answer as an object."""
    texts = value.get("text", MISSING)
    if not isinstance(texts, (list, tuple)):
        _add_one(content, rows, value, where, document)
        return
    starts = value.get("answer_start")
    starts = [None] * len(texts) if starts is None else list(starts)
    if len(starts) != len(texts):
        raise content.wrong((*where, "answer_start"), starts, f"a list of {len(texts)}, as many as there are texts")
    for index, (text, start) in enumerate(zip(texts, starts, strict=True)):
        if not isinstance(text, str):
            raise content.wrong((*where, "text", index), text, "a string")
        rows.answer(text, (*where, "text", index), document, content.whole(start, (*where, "answer_start", index)))


def marked_impossible(content: Content, thing: Mapping[str, Any], where: Where) -> bool | None:
    """Whether a question says that it is impossible to answer; None where it has no such mark."""
    key = "is_impossible" if "is_impossible" in thing else "impossible"
    value = thing.get(key)
    if isinstance(value, bool) or value is None:
        return value
    if value == "":
        return None
    known = _TRUTHS.get(value.lower() if isinstance(value, str) else value if value in (0, 1) else MISSING)
    if known is None:
        raise content.wrong((*where, key), value, "true or false")
    return known


def literal(text: str) -> Any:
    """The value of a cell of a table: a list or an object as JSON or as a Python literal; any other text is itself."""
    if text[:1] not in ("[", "{", "("):
        return text
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _first(content: Content, is_one: Callable[[Any], bool]) -> bool:
    """Whether the document is an object, half or more of whose first values are of a kind."""
    values = list(content.value.values())[:21] if isinstance(content.value, Mapping) else []
    return bool(values) and 2 * sum(map(is_one, values)) >= len(values)


def _fits_predictions(content: Content) -> float:
    return 0.8 if _first(content, lambda value: value is None or isinstance(value, str)) and not content.prefix else 0.0


def _write_predictions(predictions: Predictions, path: Path) -> None:
    begins = predictions.offsets.tolist()
    chosen = {
        name: (predictions.texts[begin] or "") if begin < end else ""
        for name, begin, end in zip(predictions.ids, begins, begins[1:], strict=False)
    }
    write_text(path, json.dumps(chosen, ensure_ascii=False, indent=0) + "\n")


def _each(content: Content, wanted: str) -> Mapping[str, Any]:
    if not isinstance(content.value, Mapping):
        raise content.wrong((), content.value, wanted)
    content.refuse_repeated_keys()
    return content.value


@answer_format("predictions", "predictions", fits=_fits_predictions, write=_write_predictions, suffixes=(".json",))
def read_official_predictions(content: Content, rows: AnswerRows) -> None:
    """The official form `{id: text}`; an empty text, or null, says that there is no answer. Source: Rajpurkar et al. 2018."""
    for name, text in _each(content, "an object {id: text}").items():
        if text is not None and not isinstance(text, str):
            raise content.wrong((name,), text, "a string, or null for no answer")
        rows.add((name,), name)
        rows.answer(text)


def _fits_number(content: Content) -> float:
    return 0.8 if _first(content, lambda value: isinstance(value, (int, float)) and not isinstance(value, bool)) else 0.0


@answer_format("na-probs", "na-probs", fits=_fits_number)
def read_na_probs(content: Content, rows: None) -> dict[str, float]:  # noqa: ARG001 - numbers need no rows
    """The form `{id: number}`: probabilities that there is no answer, or null odds, a score of that."""
    found: dict[str, float] = {}
    for name, value in _each(content, "an object {id: number}").items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise content.wrong((name,), value, "a finite number")
        found[name] = float(value)
    return found


def _listed(content: Content, kind: Callable[[Any], bool]) -> float:
    """Confidence that the document is lists of one kind by id; empty lists alone are lists of anything."""
    values = list(content.value.values())[:21] if isinstance(content.value, Mapping) and not content.prefix else []
    lists: list[list[Any]] = [value for value in values if isinstance(value, list)]
    filled = [value for value in lists if value]
    fits = len(lists) == len(values) and 2 * sum(all(map(kind, value[:3])) for value in filled) >= max(len(filled), 1)
    return 0.9 if values and fits else 0.0


def _fits_n_best(content: Content) -> float:
    return _listed(content, lambda each: isinstance(each, Mapping) and not {"question", "answers"} & set(each))


def _fits_texts(content: Content) -> float:
    return _listed(content, lambda each: each is None or isinstance(each, str))


@answer_format("texts", "predictions", fits=_fits_texts)
def read_texts(content: Content, rows: AnswerRows) -> None:
    """The form `{id: [text, ...]}`, best first; an empty text, or null, says that there is no answer. An empty list is none."""
    for name, listed in _each(content, "an object {id: [text]}").items():
        if not isinstance(listed, list):
            raise content.wrong((name,), listed, "a list of strings, best first")
        rows.add((name,), name)
        for rank, text in enumerate(listed):
            if text is not None and not isinstance(text, str):
                raise content.wrong((name, rank), text, "a string, or null for no answer")
            rows.answer(text)


@answer_format("n-best", "predictions", fits=_fits_n_best)
def read_n_best(content: Content, rows: AnswerRows) -> None:
    """The form `{id: [{text, probability}]}` of `nbest_predictions.json`, best first.

    The probability of the empty text is that of there being no answer. Answers may carry `start`, `end` and `document`, and
    `score` in place of `probability`. Source: transformers, `run_qa.py`.
    """
    for name, listed in _each(content, "an object {id: [{text, probability}]}").items():
        if not isinstance(listed, list):
            raise content.wrong((name,), listed, "a list of answers, best first")
        rows.add((name,), name)
        for rank, each in enumerate(listed):
            where = (name, rank)
            if not isinstance(each, Mapping):
                raise content.wrong(where, each, "an object with text and probability")
            text = content.text_or_null(each, where, "text")
            key = "probability" if "probability" in each else "score"
            score = content.number(each.get(key), (*where, key))
            rows.answer(
                text,
                document=content.id(each.get("document"), (*where, "document")),
                start=content.whole(each.get("start"), (*where, "start")),
                end=content.whole(each.get("end"), (*where, "end")),
                score=score,
            )
            if not text and not math.isnan(score):
                rows.no_answer(score)
