"""Haystack's labels as JSON, of version 0.x and 1.x: an annotation each, of which a question may have several."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from rankwell.tasks.answers.formats import answer_format
from rankwell.tasks.answers.formats.content import MISSING, Content, Where
from rankwell.tasks.answers.formats.rows import QuestionRows


class _Label(NamedTuple):
    """What one label says. text: blank where it says that there is no answer."""

    text: str
    document: str | None
    start: int
    where: Where


def _fits(content: Content) -> float:
    return 0.95 if "is_correct_answer" in content.keys else 0.0


def multilabel_id(query: str, filters: Any) -> str:
    """The id that Haystack 1.x gives all labels of one query under the same filters together."""
    import hashlib

    return hashlib.md5((query + json.dumps(filters, sort_keys=True)).encode("utf-8", "surrogateescape")).hexdigest()


@answer_format("haystack-labels", "questions", fits=_fits)
def read(content: Content, rows: QuestionRows) -> None:
    """The questions, with all labels of one query and the same filters together, as Haystack's MultiLabel has them, and its id.

    Labels that mark an answer or a document as wrong are left out; one without an answer counts where no other has one.
    Labels of one text in several documents may be different questions with one text: a note counts them.
    """
    found: dict[tuple[str, str], list[_Label]] = {}
    for where, record in content.each():
        key = "query" if "query" in record else "question"
        query, document = content.text(record, where, key), _document(content, rows, record, where)
        if not record.get("is_correct_document", True) or (
            not record.get("is_correct_answer", True) and record.get("answer") is not None
        ):
            rows.odd("negative", where)
            continue
        labels = found.setdefault((multilabel_id(query, record.get("filters")), query), [])
        labels.append(_label(content, record, where, document))
    several = 0
    for (name, query), labels in found.items():
        answered = list({label[:3]: label for label in labels if label.text.strip()}.values())
        document = None if answered else labels[0].document
        if rows.add(labels[0].where, name, query, document=document):
            for label in answered:
                rows.answer(label.text, label.where, label.document, label.start)
            rows.end(not answered)
        several += len({label.document for label in labels}) > 1
    if several:
        what = f"{content.name}: {several} questions have labels in several documents"
        rows.said.append(f"{what}; where these are different questions with one text, give them ids of their own")


def _document(content: Content, rows: QuestionRows, record: Mapping[str, Any], where: Where) -> str | None:
    """The id of a label's document, whose text is noted."""
    document = record.get("document")
    if not isinstance(document, Mapping):
        return content.id(record.get("document_id"), (*where, "document_id"))
    name = content.id(document.get("id"), (*where, "document", "id"))
    key = "content" if "content" in document else "text"
    if name is not None and isinstance(document.get(key), str):
        rows.context(name, document[key], (*where, "document", key))
    return name


def _label(content: Content, record: Mapping[str, Any], where: Where, document: str | None) -> _Label:
    answer = record.get("answer")
    if not isinstance(answer, Mapping):
        text = "" if record.get("no_answer") else content.text(record, where, "answer", "")
        return _Label(text, document, content.whole(record.get("offset_start_in_doc"), (*where, "offset_start_in_doc")), where)
    place = (*where, "answer")
    text = content.text(answer, place, "answer", "")
    spans = content.items(answer, place, "offsets_in_document")
    start = -1
    if spans:
        inside = (*place, "offsets_in_document", 0)
        if not isinstance(spans[0], Mapping):
            raise content.wrong(inside, spans[0], "an object with start and end")
        start = content.whole(spans[0].get("start", MISSING), (*inside, "start"))
    return _Label(text, document, start, where)
