"""Files of Haystack (evaluation results and labels) and of RAGAS."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping

from rankwell.io.records import Content, Record, Where
from rankwell.tasks.answers.formats import answer_format
from rankwell.tasks.answers.formats.features import has
from rankwell.tasks.answers.formats.rows import AnswerRows, EntryRows, QuestionRows, RetrievedRows
from rankwell.tasks.answers.formats.squad import add_answers, literal

_MODES = ("integrated", "isolated")
# A span is a dict in most versions and `Span(start=1, end=2)` in some.
_SPAN = re.compile(r"start\W+(\d{1,18})\W+end\W+(\d{1,18})\b")


def _by_question(rows: EntryRows, kind: str | None) -> Iterator[tuple[str, str, list[Record]]]:
    """The id and text of every question with its rows of a kind in one evaluation mode, by rank."""
    mode = rows.part or "integrated"
    found: dict[str, list[tuple[int, Record]]] = {}
    others = 0
    for record in rows.content.checked_records():
        row = record.value
        if kind is not None and row.get("type") not in (None, "", kind):
            continue
        if row.get("eval_mode") not in (None, "", mode):
            others += 1
            continue
        key = str(row.get("multilabel_id") or row.get("query") or "")
        found.setdefault(key, []).append((record.integer("rank"), record))
    if others:
        other = next(each for each in _MODES if each != mode)
        what = f"{rows.content.name}: {others} rows of eval_mode {other} are left out"
        rows.said.append(f"{what}; they are format 'haystack:{other}'")
    for name, ranked in found.items():
        listed = [record for _, record in sorted(ranked, key=lambda each: each[0])]
        yield name, str(listed[0].value.get("query") or ""), listed


def _list(record: Record, key: str) -> list[str]:
    value = literal(str(record.value.get(key) or ""))
    return (
        list(map(str, value)) if isinstance(value, (list, tuple)) else [str(value)] if value else []
    )


def _document(record: Record) -> str | None:
    """The id of a row's document: `document_id`, or the first of `document_ids`."""
    return next(iter(_list(record, record.key("document_ids") or "document_id")), None)


@answer_format(
    "haystack", "predictions", fits=has("form=table query node rank answer"), parts=_MODES
)
def read_haystack(content: Content, rows: AnswerRows) -> None:  # noqa: ARG001 - rows know the content
    """The answers of a reader, by rank; `haystack:isolated` are those to the gold documents. An
    empty answer is none.
    """
    for name, query, listed in _by_question(rows, "answer"):
        rows.begin(listed[0].where, name, query)
        for record in listed:
            span = _SPAN.search(str(record.value.get("offsets_in_document") or ""))
            start, end = map(int, span.groups()) if span else (-1, -1)
            answer = record.value.get("answer") or None
            rows.answer(
                answer,
                document=_document(record),
                start=start,
                end=end,
                score=record.number("score"),
            )


@answer_format(
    "haystack", "retrieved", fits=has("form=table query node rank !answer"), parts=_MODES
)
def read_documents(content: Content, rows: RetrievedRows) -> None:  # noqa: ARG001
    """The documents of a retriever or ranker, by rank, with their texts."""
    for name, query, listed in _by_question(rows, "document"):
        rows.begin(listed[0].where, name, query)
        for record in listed:
            document, row = _document(record), record.value
            if document is not None:
                rows.item(
                    document,
                    record.number("score"),
                    row.get("context") or row.get("content") or None,
                )


@answer_format(
    "haystack", "questions", fits=has("form=table query node rank gold_answers"), parts=_MODES
)
def read_haystack_gold(content: Content, rows: QuestionRows) -> None:  # noqa: ARG001
    """The questions that the rows were judged by: their answers, documents and positions, as far as
    the table has them.
    """
    for name, query, listed in _by_question(rows, None):
        record = listed[0]
        if "gold_answers" not in record.value:
            raise record.wrong("a column of right answers", "gold_answers")
        rights = [text for text in _list(record, "gold_answers") if text.strip()]
        documents = _list(record, "gold_document_ids")
        starts = [
            int(start)
            for start, _ in _SPAN.findall(str(record.value.get("gold_offsets_in_documents") or ""))
        ]
        key = record.key("gold_contexts") or "gold_document_contents"
        if not rows.add(
            record.where, name, query, document=None if rights or not documents else documents[0]
        ):
            continue
        for document, text in zip(documents, _list(record, key), strict=False):
            rows.context(document, text, (*record.where, key))
        for place, text in enumerate(rights):
            document = documents[place] if len(documents) == len(rights) else None
            start = starts[place] if len(starts) == len(rights) else -1
            rows.answer(text, (*record.where, "gold_answers"), document, start)
        for document in documents:
            rows.add_evidence((document,))
        rows.end(not rights)


@answer_format("haystack-labels", "questions", fits=has("is_correct_answer"))
def read_labels(content: Content, rows: QuestionRows) -> None:
    """The questions, with all labels of one query and the same filters together, as in Haystack's
    MultiLabel, and its id.

    Labels that mark an answer or a document as wrong are left out; one without an answer counts
    where no other has one.
    Labels of one text in several documents may be different questions with one text: a note counts
    them.
    """
    # Text (blank where it says that there is no answer), document and start of each label, and its
    # place.
    found: dict[tuple[str, str], list[tuple[str, str | None, int, Where]]] = {}
    for record in content.checked_records():
        query, document = (
            record.text(record.key("query") or "question"),
            _label_document(rows, record),
        )
        row = record.value
        if not row.get("is_correct_document", True) or not (
            row.get("is_correct_answer", True) or row.get("answer") is None
        ):
            rows.odd("negative", record.where)
            continue
        text, start = _label(record)
        # The id that Haystack 1.x gives all labels of one query under the same filters together.
        own = (query + json.dumps(row.get("filters"), sort_keys=True)).encode(
            "utf-8", "surrogateescape"
        )
        labels = found.setdefault((hashlib.md5(own).hexdigest(), query), [])
        labels.append((text, document, start, record.where))
    several = 0
    for (name, query), labels in found.items():
        answered = list({label[:3]: label for label in labels if label[0].strip()}.values())
        if rows.add(labels[0][3], name, query, document=None if answered else labels[0][1]):
            for text, document, start, where in answered:
                rows.answer(text, where, document, start)
            rows.end(not answered)
        several += len({document for _, document, _, _ in labels}) > 1
    if several:
        what = f"{content.name}: {several} questions have labels in several documents"
        rows.said.append(
            f"{what}; where these are different questions with one text, give them ids of their own"
        )


def _label_document(rows: QuestionRows, record: Record) -> str | None:
    """The id of a label's document, whose text is noted."""
    if not isinstance(record.value.get("document"), Mapping):
        return record.id("document_id")
    document = Record(rows.content, record.value["document"], (*record.where, "document"))
    name, key = document.id(), document.key("content") or "text"
    if name is not None and isinstance(document.value.get(key), str):
        rows.context(name, document.value[key], (*document.where, key))
    return name


def _label(record: Record) -> tuple[str, int]:
    """The text and the start of a label."""
    if not isinstance(record.value.get("answer"), Mapping):
        text = "" if record.value.get("no_answer") else record.text("answer", "")
        return text, record.integer("offset_start_in_doc")
    answer = Record(record.content, record.value["answer"], (*record.where, "answer"))
    text, span = (
        answer.text("answer", ""),
        next(answer.objects("offsets_in_document", "an object with start and end"), None),
    )
    if span is not None and "start" not in span.value:
        raise span.wrong("an integer", "start")
    return text, -1 if span is None else span.integer("start")


_QUESTION = ("user_input", "question")
_RESPONSE = ("response", "answer")
_REFERENCE = ("reference", "ground_truth", "ground_truths")
_RETRIEVED = ("retrieved_contexts", "contexts")
_FORMS = ("user_input", "[] question contexts|ground_truth|ground_truths !ctxs")
_CONTEXTS = "retrieved_contexts|contexts|retrieved_context_ids"
_RAGAS = has(*_FORMS, sure=0.92)


def _key(record: Record, names: tuple[str, ...]) -> str:
    """The key of several for the same below which a record has a value."""
    return next((name for name in names if record.value.get(name) is not None), names[0])


def _begin(record: Record) -> tuple[Where, str | None, str]:
    """The place, id and text of a row's question. Raises BadInput for conversations, which have
    several questions.
    """
    return record.where, record.id(), record.text(_key(record, _QUESTION))


def _texts(record: Record, key: str) -> list[str]:
    value = record.value.get(key)
    if record.content.form == "table" and isinstance(value, str):
        value = literal(value)
    listed = record._replace(value={key: value}).items(key)
    for index, each in enumerate(listed):
        if not isinstance(each, str) and type(each) is not int:
            raise record.content.wrong((*record.where, key, index), each, "a string")
    return [str(each) for each in listed]


def _passages(record: Record, texts: str, ids: str) -> list[tuple[str, str | None]]:
    """The id and the text of each passage; without ids a passage goes by its text, which is the
    same for the same passage.
    """
    listed, names = _texts(record, texts), _texts(record, ids)
    if listed and names and len(listed) != len(names):
        raise record.wrong(f"a list of {len(listed)}, as many as {texts} has", ids)
    return list(zip(names or listed, listed or [None] * len(names), strict=True))


@answer_format("ragas", "questions", fits=_RAGAS)
def read_ragas(content: Content, rows: QuestionRows) -> None:
    """The questions with their references; `evidence` holds each reference context. Source: Es et
    al. 2024, RAGAS.
    """
    for record in content.checked_records():
        if rows.add(*_begin(record)):
            key = _key(record, _REFERENCE)
            add_answers(rows, record.value.get(key), (*record.where, key))
            for name, text in _passages(record, "reference_contexts", "reference_context_ids"):
                rows.add_evidence((name,))
                if text is not None:
                    rows.context(name, text, (*record.where, "reference_contexts"))
            rows.end(None)


@answer_format("ragas", "predictions", fits=_RAGAS)
def read_responses(content: Content, rows: AnswerRows) -> None:
    """The response of each row; an empty one, or none, says that there is no answer."""
    for record in content.checked_records():
        rows.begin(*_begin(record))
        rows.answer(record.text(_key(record, _RESPONSE), ""))


@answer_format(
    "ragas", "retrieved", fits=has(*(f"{form} {_CONTEXTS}" for form in _FORMS), sure=0.92)
)
def read_ragas_contexts(content: Content, rows: RetrievedRows) -> None:
    """The retrieved contexts of each row, best first; a context goes by its id, else by its
    text.
    """
    for record in content.checked_records():
        rows.begin(*_begin(record))
        for name, text in _passages(record, _key(record, _RETRIEVED), "retrieved_context_ids"):
            rows.item(name, text=text)
