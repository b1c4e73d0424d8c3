"""Right answers as the files of different people hold them, and whether a question is marked as impossible."""

import ast
import json
from collections.abc import Mapping
from typing import Any

from rankwell.tasks.answers.formats.content import MISSING, Content, Where
from rankwell.tasks.answers.formats.rows import QuestionRows

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

    document: where they stand, unless an answer names a document itself. A table's cell may hold a list as JSON or Python has it.
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
            raise content.wrong((*where, key), text, "a text")
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
        raise content.wrong((*where, "answer_start"), starts, f"a list of {len(texts)}, as many as there are texts,")
    for index, (text, start) in enumerate(zip(texts, starts, strict=True)):
        if not isinstance(text, str):
            raise content.wrong((*where, "text", index), text, "a text")
        rows.answer(text, (*where, "text", index), document, content.whole(start, (*where, "answer_start", index)))


def marked_impossible(content: Content, thing: Mapping[str, Any], where: Where) -> bool | None:
    """Whether a question says that it is impossible to answer; None where it says nothing."""
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
    """What a cell of a table means: a list or an object as JSON or as a Python literal; any other text is itself."""
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
