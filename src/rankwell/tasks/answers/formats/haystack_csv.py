"""The CSV files that Haystack 1.x's `EvaluationResult.save` writes, one a node: a row per answer or per document."""

import re
from collections.abc import Iterator
from typing import Any

from rankwell.tasks.answers.formats import answer_format
from rankwell.tasks.answers.formats.content import MISSING, Content, Where
from rankwell.tasks.answers.formats.gold import literal
from rankwell.tasks.answers.formats.rows import AnswerRows, Joined, QuestionRows, RetrievedRows

_MODES = ("integrated", "isolated")
# A span is a dict in most versions and `Span(start=1, end=2)` in some.
_SPAN = re.compile(r"start\W+(\d+)\W+end\W+(\d+)")

Row = tuple[Where, dict[str, Any]]


def _is_file(content: Content) -> bool:
    return content.form == "table" and {"query", "node", "rank"} <= content.keys


def _fits_answers(content: Content) -> float:
    return 0.95 if _is_file(content) and "answer" in content.keys else 0.0


def _fits_documents(content: Content) -> float:
    return 0.95 if _is_file(content) and "answer" not in content.keys else 0.0


def _fits_gold(content: Content) -> float:
    return 0.95 if _is_file(content) and "gold_answers" in content.keys else 0.0


def _by_question(content: Content, kind: str | None, rows: Joined | QuestionRows) -> Iterator[tuple[str, str, list[Row]]]:
    """The id and text of every question with its rows of a kind in one evaluation mode, by rank."""
    mode = rows.part or "integrated"
    found: dict[str, list[tuple[int, Row]]] = {}
    others = 0
    for where, record in content.each():
        if kind is not None and record.get("type") not in (None, "", kind):
            continue
        if record.get("eval_mode") not in (None, "", mode):
            others += 1
            continue
        key = record.get("multilabel_id") or record.get("query") or ""
        rank = content.whole(record.get("rank"), (*where, "rank"))
        found.setdefault(str(key), []).append((rank, (where, record)))
    if others:
        other = next(each for each in _MODES if each != mode)
        rows.said.append(f"{content.name}: {others} rows of eval_mode {other} are left out; they are format 'haystack:{other}'")
    for name, ranked in found.items():
        listed = [row for _, row in sorted(ranked, key=lambda each: each[0])]
        yield name, str(listed[0][1].get("query") or ""), listed


def _list(record: dict[str, Any], key: str) -> list[Any]:
    value = literal(str(record.get(key) or ""))
    return list(value) if isinstance(value, (list, tuple)) else [value] if value else []


def _document(record: dict[str, Any]) -> str | None:
    """The id of a row's document: `document_id`, or the first of `document_ids`."""
    listed = _list(record, "document_ids" if "document_ids" in record else "document_id")
    return str(listed[0]) if listed else None


@answer_format("haystack", "predictions", fits=_fits_answers, parts=_MODES)
def read(content: Content, rows: AnswerRows) -> None:
    """The answers of a reader, by rank; `haystack:isolated` are those to the gold documents. An empty answer is none."""
    for name, query, listed in _by_question(content, "answer", rows):
        rows.add(listed[0][0], name, query)
        for where, record in listed:
            span = _SPAN.search(str(record.get("offsets_in_document") or ""))
            start, end = (int(span[1]), int(span[2])) if span else (-1, -1)
            score = content.number(record.get("score"), (*where, "score"))
            rows.answer(record.get("answer") or None, document=_document(record), start=start, end=end, score=score)


@answer_format("haystack", "retrieved", fits=_fits_documents, parts=_MODES)
def read_documents(content: Content, rows: RetrievedRows) -> None:
    """The documents of a retriever or ranker, by rank, with their texts."""
    for name, query, listed in _by_question(content, "document", rows):
        rows.add(listed[0][0], name, query)
        for where, record in listed:
            document = _document(record)
            if document is not None:
                text = record.get("context") or record.get("content") or None
                rows.item(document, content.number(record.get("score"), (*where, "score")), text)


@answer_format("haystack", "questions", fits=_fits_gold, parts=_MODES)
def read_gold(content: Content, rows: QuestionRows) -> None:
    """The questions that the rows were judged by: their answers, documents and positions, as far as they stand in it."""
    for name, query, listed in _by_question(content, None, rows):
        where, record = listed[0]
        answers = [str(text) for text in _list(record, "gold_answers")]
        documents = [str(each) for each in _list(record, "gold_document_ids")]
        starts = [int(start) for start, _ in _SPAN.findall(str(record.get("gold_offsets_in_documents") or ""))]
        key = "gold_contexts" if "gold_contexts" in record else "gold_document_contents"
        texts = [str(text) for text in _list(record, key)]
        if record.get("gold_answers", MISSING) is MISSING:
            raise content.wrong((*where, "gold_answers"), MISSING, "a column of right answers")
        told = [text for text in answers if text.strip()]
        if not rows.add(where, name, query, document=None if told or not documents else documents[0]):
            continue
        for document, text in zip(documents, texts, strict=False):
            rows.context(document, text, (*where, key))
        for place, text in enumerate(told):
            document = documents[place] if len(documents) == len(told) else None
            rows.answer(text, (*where, "gold_answers"), document, starts[place] if len(starts) == len(told) else -1)
        if documents:
            rows.evidence[rows.last] = tuple((document,) for document in dict.fromkeys(documents))
        rows.end(not told)
