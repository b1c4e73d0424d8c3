"""RAGAS rows: `user_input, response, reference, retrieved_contexts, reference_contexts` and their ids."""

from collections.abc import Mapping
from typing import Any

from rankwell.tasks.answers.formats import answer_format
from rankwell.tasks.answers.formats.content import Content, Where
from rankwell.tasks.answers.formats.gold import add_answers, literal
from rankwell.tasks.answers.formats.rows import AnswerRows, QuestionRows, RetrievedRows

_QUESTION = ("user_input", "question")
_RESPONSE = ("response", "answer")
_REFERENCE = ("reference", "ground_truth", "ground_truths")
_RETRIEVED = ("retrieved_contexts", "contexts")


def _fits(content: Content) -> float:
    old = (
        "question" in content.keys and {"contexts", "ground_truth", "ground_truths"} & content.keys and "ctxs" not in content.keys
    )
    return 0.92 if "user_input" in content.keys or (old and isinstance(content.value, list)) else 0.0


def _fits_retrieved(content: Content) -> float:
    return _fits(content) if {*_RETRIEVED, "retrieved_context_ids"} & content.keys else 0.0


def _value(record: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, Any]:
    """The key that a record has of several names for the same, and its value."""
    key = next((name for name in names if record.get(name) is not None), names[0])
    return key, record.get(key)


def _begin(content: Content, record: dict[str, Any], where: Where) -> tuple[str | None, str]:
    """The id and the text of a row's question. Raises BadInput for conversations, which are no single question."""
    key, _ = _value(record, _QUESTION)
    return content.id(record.get("id"), (*where, "id")), content.text(record, where, key)


def _texts(content: Content, record: Mapping[str, Any], where: Where, key: str) -> list[str]:
    value = record.get(key)
    if content.form == "table" and isinstance(value, str):
        value = literal(value)
    listed = content.items({key: value}, where, key)
    for index, each in enumerate(listed):
        if not isinstance(each, str) and type(each) is not int:
            raise content.wrong((*where, key, index), each, "a text")
    return [str(each) for each in listed]


def _passages(content: Content, record: Mapping[str, Any], where: Where, texts: str, ids: str) -> list[tuple[str, str | None]]:
    """The id and the text of each passage; without ids a passage goes by its text, which is the same for the same passage."""
    told, names = _texts(content, record, where, texts), _texts(content, record, where, ids)
    if told and names and len(told) != len(names):
        raise content.wrong((*where, ids), record[ids], f"a list of {len(told)}, as many as {texts} has,")
    if not names:
        return [(text, text) for text in told]
    return list(zip(names, told, strict=True)) if told else [(name, None) for name in names]


@answer_format("ragas", "questions", fits=_fits)
def read(content: Content, rows: QuestionRows) -> None:
    """The questions with their references; `evidence` holds each reference context. Source: Es et al. 2024, RAGAS."""
    for where, record in content.each():
        if not rows.add(where, *_begin(content, record, where)):
            continue
        key, reference = _value(record, _REFERENCE)
        add_answers(content, rows, reference, (*where, key), None)
        names: dict[str, None] = {}
        for name, text in _passages(content, record, where, "reference_contexts", "reference_context_ids"):
            names[name] = None
            if text is not None:
                rows.context(name, text, (*where, "reference_contexts"))
        if names:
            rows.evidence[rows.last] = tuple((name,) for name in names)
        rows.end(None)


@answer_format("ragas", "predictions", fits=_fits)
def read_responses(content: Content, rows: AnswerRows) -> None:
    """The response of each row; an empty one, or none, says that there is no answer."""
    for where, record in content.each():
        rows.add(where, *_begin(content, record, where))
        key, _ = _value(record, _RESPONSE)
        rows.answer(content.text(record, where, key, ""))


@answer_format("ragas", "retrieved", fits=_fits_retrieved)
def read_retrieved(content: Content, rows: RetrievedRows) -> None:
    """The retrieved contexts of each row, best first; a context goes by its id, else by its text."""
    for where, record in content.each():
        rows.add(where, *_begin(content, record, where))
        key, _ = _value(record, _RETRIEVED)
        for name, text in _passages(content, record, where, key, "retrieved_context_ids"):
            rows.item(name, text=text)
