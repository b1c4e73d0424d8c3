"""Files of Haystack (evaluation results and labels) and of RAGAS."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from rankwell.tasks.answers.formats import answer_format
from rankwell.tasks.answers.formats.content import MISSING, Content, Where, has
from rankwell.tasks.answers.formats.rows import AnswerRows, Joined, QuestionRows, RetrievedRows
from rankwell.tasks.answers.formats.squad import add_answers, literal

_MODES = ("integrated", "isolated")
# A span is a dict in most versions and `Span(start=1, end=2)` in some.
_SPAN = re.compile(r"start\W+(\d+)\W+end\W+(\d+)")

Row = tuple[Where, dict[str, Any]]


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


def _haystack_document(record: dict[str, Any]) -> str | None:
    """The id of a row's document: `document_id`, or the first of `document_ids`."""
    listed = _list(record, "document_ids" if "document_ids" in record else "document_id")
    return str(listed[0]) if listed else None


@answer_format("haystack", "predictions", fits=has("form=table query node rank answer"), parts=_MODES)
def read_haystack(content: Content, rows: AnswerRows) -> None:
    """The answers of a reader, by rank; `haystack:isolated` are those to the gold documents. An empty answer is none."""
    for name, query, listed in _by_question(content, "answer", rows):
        rows.add(listed[0][0], name, query)
        for where, record in listed:
            span = _SPAN.search(str(record.get("offsets_in_document") or ""))
            start, end = (int(span[1]), int(span[2])) if span else (-1, -1)
            score = content.number(record.get("score"), (*where, "score"))
            rows.answer(record.get("answer") or None, document=_haystack_document(record), start=start, end=end, score=score)


@answer_format("haystack", "retrieved", fits=has("form=table query node rank !answer"), parts=_MODES)
def read_documents(content: Content, rows: RetrievedRows) -> None:
    """The documents of a retriever or ranker, by rank, with their texts."""
    for name, query, listed in _by_question(content, "document", rows):
        rows.add(listed[0][0], name, query)
        for where, record in listed:
            document = _haystack_document(record)
            if document is not None:
                text = record.get("context") or record.get("content") or None
                rows.item(document, content.number(record.get("score"), (*where, "score")), text)


@answer_format("haystack", "questions", fits=has("form=table query node rank gold_answers"), parts=_MODES)
def read_haystack_gold(content: Content, rows: QuestionRows) -> None:
    """The questions that the rows were judged by: their answers, documents and positions, as far as the table has them."""
    for name, query, listed in _by_question(content, None, rows):
        where, record = listed[0]
        answers = [str(text) for text in _list(record, "gold_answers")]
        documents = [str(each) for each in _list(record, "gold_document_ids")]
        starts = [int(start) for start, _ in _SPAN.findall(str(record.get("gold_offsets_in_documents") or ""))]
        key = "gold_contexts" if "gold_contexts" in record else "gold_document_contents"
        texts = [str(text) for text in _list(record, key)]
        if record.get("gold_answers", MISSING) is MISSING:
            raise content.wrong((*where, "gold_answers"), MISSING, "a column of right answers")
        rights = [text for text in answers if text.strip()]
        if not rows.add(where, name, query, document=None if rights or not documents else documents[0]):
            continue
        for document, text in zip(documents, texts, strict=False):
            rows.context(document, text, (*where, key))
        for place, text in enumerate(rights):
            document = documents[place] if len(documents) == len(rights) else None
            rows.answer(text, (*where, "gold_answers"), document, starts[place] if len(starts) == len(rights) else -1)
        if documents:
            rows.evidence[rows.last] = tuple((document,) for document in dict.fromkeys(documents))
        rows.end(not rights)


class _Label(NamedTuple):
    """The content of one label. text: blank where it says that there is no answer."""

    text: str
    document: str | None
    start: int
    where: Where


def multilabel_id(query: str, filters: Any) -> str:
    """The id that Haystack 1.x gives all labels of one query under the same filters together."""
    import hashlib

    return hashlib.md5((query + json.dumps(filters, sort_keys=True)).encode("utf-8", "surrogateescape")).hexdigest()


@answer_format("haystack-labels", "questions", fits=has("is_correct_answer"))
def read_labels(content: Content, rows: QuestionRows) -> None:
    """The questions, with all labels of one query and the same filters together, as in Haystack's MultiLabel, and its id.

    Labels that mark an answer or a document as wrong are left out; one without an answer counts where no other has one.
    Labels of one text in several documents may be different questions with one text: a note counts them.
    """
    found: dict[tuple[str, str], list[_Label]] = {}
    for where, record in content.each():
        key = "query" if "query" in record else "question"
        query, document = content.text(record, where, key), _label_document(content, rows, record, where)
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


def _label_document(content: Content, rows: QuestionRows, record: Mapping[str, Any], where: Where) -> str | None:
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


_QUESTION = ("user_input", "question")
_RESPONSE = ("response", "answer")
_REFERENCE = ("reference", "ground_truth", "ground_truths")
_RETRIEVED = ("retrieved_contexts", "contexts")
_FORMS = ("user_input", "[] question contexts|ground_truth|ground_truths !ctxs")
_CONTEXTS = "retrieved_contexts|contexts|retrieved_context_ids"
_RAGAS = has(*_FORMS, sure=0.92)


def _value(record: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, Any]:
    """The key that a record has of several names for the same, and its value."""
    key = next((name for name in names if record.get(name) is not None), names[0])
    return key, record.get(key)


def _begin(content: Content, record: dict[str, Any], where: Where) -> tuple[str | None, str]:
    """The id and the text of a row's question. Raises BadInput for conversations, which have several questions."""
    key, _ = _value(record, _QUESTION)
    return content.id(record.get("id"), (*where, "id")), content.text(record, where, key)


def _texts(content: Content, record: Mapping[str, Any], where: Where, key: str) -> list[str]:
    value = record.get(key)
    if content.form == "table" and isinstance(value, str):
        value = literal(value)
    listed = content.items({key: value}, where, key)
    for index, each in enumerate(listed):
        if not isinstance(each, str) and type(each) is not int:
            raise content.wrong((*where, key, index), each, "a string")
    return [str(each) for each in listed]


def _passages(content: Content, record: Mapping[str, Any], where: Where, texts: str, ids: str) -> list[tuple[str, str | None]]:
    """The id and the text of each passage; without ids a passage goes by its text, which is the same for the same passage."""
    listed, names = _texts(content, record, where, texts), _texts(content, record, where, ids)
    if listed and names and len(listed) != len(names):
        raise content.wrong((*where, ids), record[ids], f"a list of {len(listed)}, as many as {texts} has")
    if not names:
        return [(text, text) for text in listed]
    return list(zip(names, listed, strict=True)) if listed else [(name, None) for name in names]


@answer_format("ragas", "questions", fits=_RAGAS)
def read_ragas(content: Content, rows: QuestionRows) -> None:
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


@answer_format("ragas", "predictions", fits=_RAGAS)
def read_responses(content: Content, rows: AnswerRows) -> None:
    """The response of each row; an empty one, or none, says that there is no answer."""
    for where, record in content.each():
        rows.add(where, *_begin(content, record, where))
        key, _ = _value(record, _RESPONSE)
        rows.answer(content.text(record, where, key, ""))


@answer_format("ragas", "retrieved", fits=has(*(f"{form} {_CONTEXTS}" for form in _FORMS), sure=0.92))
def read_ragas_contexts(content: Content, rows: RetrievedRows) -> None:
    """The retrieved contexts of each row, best first; a context goes by its id, else by its text."""
    for where, record in content.each():
        rows.add(where, *_begin(content, record, where))
        key, _ = _value(record, _RETRIEVED)
        for name, text in _passages(content, record, where, key, "retrieved_context_ids"):
            rows.item(name, text=text)
