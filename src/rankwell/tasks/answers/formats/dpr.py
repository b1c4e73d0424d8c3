"""DPR's retrieval results and training data, as questions and as retrieved passages, and Pyserini's variant of them."""

from collections.abc import Iterator, Mapping
from typing import Any

from rankwell.tasks.answers.formats import answer_format
from rankwell.tasks.answers.formats.content import MISSING, Content, Where
from rankwell.tasks.answers.formats.gold import add_answers
from rankwell.tasks.answers.formats.rows import QuestionRows, RetrievedRows

_POSITIVE = "positive_ctxs"
_IDS = ("id", "passage_id", "docid")


def _fits(content: Content) -> float:
    return 0.95 if {"question", "answers"} <= content.keys and {"ctxs", _POSITIVE} & content.keys else 0.0


def _fits_retrieved(content: Content) -> float:
    return 0.95 if {"question", "ctxs"} <= content.keys else 0.0


def _fits_pyserini(content: Content) -> float:
    values = list(content.value.values())[:20] if isinstance(content.value, Mapping) else []
    return 0.95 if any(isinstance(each, Mapping) and {"question", "contexts"} <= each.keys() for each in values) else 0.0


@answer_format("dpr", "questions", fits=_fits)
def read(content: Content, rows: QuestionRows) -> None:
    """The questions of retrieval results or training data; of the latter `evidence` holds each positive passage.

    Source: Karpukhin et al. 2020.
    """
    for where, record in content.each():
        if not rows.add(where, content.id(record.get("id"), (*where, "id")), content.text(record, where, "question")):
            continue
        add_answers(content, rows, record.get("answers"), (*where, "answers"), None)
        positive: dict[str, None] = {}
        for place, passage in _passages(content, record, where, _POSITIVE):
            name = _name(content, passage, place)
            if name is not None:
                positive[name] = None
                rows.context(name, content.text(passage, place, "text", ""), (*place, "text"))
        if positive:
            rows.evidence[rows.last] = tuple((name,) for name in positive)
        rows.end(None)


@answer_format("dpr", "retrieved", fits=_fits_retrieved)
def read_retrieved(content: Content, rows: RetrievedRows) -> None:
    """The passages of each question, best first, without their titles; scores are numbers or texts of numbers."""
    for where, record in content.each():
        rows.add(where, content.id(record.get("id"), (*where, "id")), content.text(record, where, "question", ""))
        _add(content, rows, record, where, "ctxs")


@answer_format("pyserini", "questions", fits=_fits_pyserini)
def read_pyserini(content: Content, rows: QuestionRows) -> None:
    """The questions of `{id: {question, answers, contexts}}`."""
    for where, name, record in _by_id(content):
        if rows.add(where, name, content.text(record, where, "question")):
            add_answers(content, rows, record.get("answers"), (*where, "answers"), None)
            rows.end(None)


@answer_format("pyserini", "retrieved", fits=_fits_pyserini)
def read_pyserini_retrieved(content: Content, rows: RetrievedRows) -> None:
    """The passages of each question, best first: the second line of a text whose first is the title."""
    for where, name, record in _by_id(content):
        rows.add(where, name, content.text(record, where, "question", ""))
        _add(content, rows, record, where, "contexts")


def _by_id(content: Content) -> Iterator[tuple[Where, str, Mapping[str, Any]]]:
    content.refuse_repeated_keys()
    if not isinstance(content.value, Mapping):
        raise content.wrong((), content.value, "an object {id: {question, answers, contexts}}")
    for name, record in content.value.items():
        if not isinstance(record, Mapping):
            raise content.wrong((name,), record, "an object with question, answers and contexts")
        yield (name,), name, record


def _passages(content: Content, record: Mapping[str, Any], where: Where, key: str) -> Iterator[tuple[Where, Mapping[str, Any]]]:
    for index, passage in enumerate(content.items(record, where, key)):
        if not isinstance(passage, Mapping):
            raise content.wrong((*where, key, index), passage, "an object with id, text and score")
        yield (*where, key, index), passage


def _name(content: Content, passage: Mapping[str, Any], where: Where) -> str | None:
    key = next((name for name in _IDS if name in passage), "id")
    return content.id(passage.get(key), (*where, key))


def _add(content: Content, rows: RetrievedRows, record: Mapping[str, Any], where: Where, key: str) -> None:
    for place, passage in _passages(content, record, where, key):
        name = _name(content, passage, place)
        if name is None:
            raise content.wrong((*place, "id"), MISSING, "the id of a passage")
        text = content.text(passage, place, "text") if passage.get("text") is not None else None
        # Both scripts look for answers in the passage alone: DPR's has the title apart, Pyserini's takes the second line.
        if key == "contexts" and text is not None and "\n" in text:
            text = text.split("\n")[1]
        claim = passage.get("has_answer")
        if claim is not None and not isinstance(claim, bool):
            raise content.wrong((*place, "has_answer"), claim, "true or false")
        rows.item(name, content.number(passage.get("score"), (*place, "score")), text, claim=claim)
