"""Open-domain question answering: DPR and Pyserini, KILT, TriviaQA, Haystack (evaluation results
and labels) and RAGAS.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping

from rankwell.io.records import MISSING, Record, Where
from rankwell.tasks.qa.formats import answer_format, has
from rankwell.tasks.qa.formats.rows import (
    AnswerRows,
    EntryRows,
    QuestionRows,
    RetrievedRows,
    literal,
)

_PYSERINI = (
    "an object {id: {question, answers, contexts}}",
    "an object with question, answers and contexts",
)
_KILT = has("id output", sure=0.9)


@answer_format("dpr", "questions", fits=has("question answers ctxs|positive_ctxs"))
def read_dpr(rows: QuestionRows) -> None:
    """The questions of retrieval results or training data; of the latter `evidence` holds each
    positive passage.

    Source: Karpukhin et al. 2020.
    """
    for record in rows.records:
        if not rows.add(record.where, record.id(), record.text("question")):
            continue
        rows.add_answers(record.value.get("answers"), (*record.where, "answers"))
        for passage in record.objects("positive_ctxs", _PASSAGE):
            name = passage.id(passage.key(*_IDS) or "id")
            if name is not None:
                rows.add_evidence((name,))
                rows.context(name, passage.text("text", ""), (*passage.where, "text"))
        rows.end()


@answer_format("dpr", "retrieved", fits=has("question ctxs"))
def read_retrieved(rows: RetrievedRows) -> None:
    """The passages of each question, best first, without their titles; scores are numbers or texts
    of numbers.
    """
    for record in rows.records:
        rows.begin(record.where, record.id(), record.text("question", ""))
        _add_passages(rows, record, "ctxs")


@answer_format("pyserini", "questions", fits=has("*.question *.contexts"))
def read_pyserini(rows: QuestionRows) -> None:
    """The questions of `{id: {question, answers, contexts}}`."""
    for name, record in rows.by_id(*_PYSERINI):
        if rows.add(record.where, name, record.text("question")):
            rows.add_answers(record.value.get("answers"), (*record.where, "answers"))
            rows.end()


@answer_format("pyserini", "retrieved", fits=has("*.question *.contexts"))
def read_pyserini_retrieved(rows: RetrievedRows) -> None:
    """The passages of each question, best first: the second line of a text whose first is the
    title.
    """
    for name, record in rows.by_id(*_PYSERINI):
        rows.begin(record.where, name, record.text("question", ""))
        _add_passages(rows, record, "contexts")


_PASSAGE = "an object with id, text and score"
_IDS = ("id", "passage_id", "docid")


def _add_passages(rows: RetrievedRows, record: Record, key: str) -> None:
    for passage in record.objects(key, _PASSAGE):
        name = passage.id(passage.key(*_IDS) or "id")
        if name is None:
            raise rows.content.wrong((*passage.where, "id"), MISSING, "the id of a passage")
        text = passage.text("text") if passage.value.get("text") is not None else None
        # Both scripts look for answers in the passage alone: DPR's has the title apart, Pyserini's
        # takes the second line.
        if key == "contexts" and text is not None and "\n" in text:
            text = text.split("\n")[1]
        claim = passage.value.get("has_answer")
        if claim is not None and not isinstance(claim, bool):
            raise passage.wrong("true or false", "has_answer")
        rows.item(name, passage.number("score"), text, claim=claim)


def _outputs(record: Record, *, single: bool = True) -> Iterator[tuple[Record, list[str]]]:
    """Each output with its pages, each once, in order. single: several are refused, as KILT's own
    script does of a guess.
    """
    outputs = list(record.objects("output", "an object with answer and provenance"))
    if single and len(outputs) > 1:
        raise record.wrong("a list of one output, as a guess has", "output")
    for output in outputs:
        pages: dict[str, None] = {}
        for page in output.objects("provenance", "an object with wikipedia_id"):
            name = page.id("wikipedia_id")
            if name is None:
                raise page.wrong("an id", "wikipedia_id")
            pages[name] = None
        yield output, list(pages)


@answer_format("kilt", "questions", fits=_KILT)
def read_kilt(rows: QuestionRows) -> None:
    """The questions; `evidence` holds the pages of each output, which together are one set. Source:
    Petroni et al. 2021.

    An answer stands in the page of its output where there is a single one; positions inside
    paragraphs are not read.
    """
    for record in rows.records:
        text = record.text("input") if record.value.get("input") is not None else None
        if rows.add(record.where, record.id(), text):
            for output, pages in _outputs(record, single=False):
                if output.value.get("answer") is not None:
                    rows.answer(
                        output.text("answer"), output.where, pages[0] if len(pages) == 1 else None
                    )
                if pages:
                    rows.add_evidence(tuple(pages))
            rows.end()


@answer_format("kilt", "predictions", fits=_KILT)
def read_guesses(rows: AnswerRows) -> None:
    """The answer of each guess. Raises BadInput for a guess with several outputs, as KILT's own
    script does.
    """
    for record in rows.records:
        rows.begin(record.where, record.id(), record.value.get("input"))
        for output, pages in _outputs(record):
            if output.value.get("answer") is not None:
                rows.answer(output.text("answer"), document=pages[0] if pages else None)


@answer_format("kilt", "retrieved", fits=_KILT)
def read_pages(rows: RetrievedRows) -> None:
    """The pages of each guess in order; a page that comes again, as for another of its paragraphs,
    counts once.
    """
    for record in rows.records:
        rows.begin(record.where, record.id(), record.value.get("input"))
        for _, pages in _outputs(record):
            for page in pages:
                rows.item(page)


@answer_format("triviaqa", "questions", fits=has("{} Data[]"))
def read_triviaqa(rows: QuestionRows) -> None:
    """The questions, whose right answers are `NormalizedAliases` and `HumanAnswers`, as in the
    official script.

    In the domain `Web` a question is asked of each of its pages, and goes by `question--page`. Of a
    verified set only verified questions are read. `Value` is an attribute. Source: Joshi et al.
    2017.
    """
    value = rows.content.value
    document = Record(rows.content, value if isinstance(value, Mapping) else {}, ())
    paired = document.value.get("Domain") == "Web"
    verified = document.value.get("VerifiedEval") is True
    for record in document.objects("Data", "an object with QuestionId, Question and Answer"):
        if verified and not record.value.get("QuestionPartOfVerifiedEval"):
            continue
        name, pages = record.id("QuestionId"), dict[str | None, None]()
        for key in ("EntityPages", "SearchResults"):
            for index, page in enumerate(record.items(key)):
                if isinstance(page, Mapping):
                    where = (*record.where, key, index)
                    pages[Record(rows.content, page, where).text("Filename")] = None
        for page in pages if paired and name is not None and pages else [None]:
            _add_trivia(rows, record, name if page is None else f"{name}--{page}", page)


def _add_trivia(rows: QuestionRows, record: Record, name: str | None, page: str | None) -> None:
    where = (*record.where, "Answer")
    answer = rows.content.record(
        record.value.get("Answer"), where, "an object with NormalizedAliases"
    )
    value = {"Value": answer.value["Value"]} if "Value" in answer.value else {}
    if not rows.add(record.where, name, record.text("Question"), document=page, attributes=value):
        return
    for kind in (answer.key("NormalizedAliases") or "Aliases", "HumanAnswers"):
        for index, text in enumerate(answer.items(kind)):
            if not isinstance(text, str):
                raise answer.wrong("a string", kind, index)
            rows.answer(text, (*where, kind, index))
    rows.end()


_MODES = ("integrated", "isolated")
# A span is a dict in most versions and `Span(start=1, end=2)` in some.
_SPAN = re.compile(r"start\W+(\d{1,18})\W+end\W+(\d{1,18})\b")


def _by_question(rows: EntryRows, kind: str | None) -> Iterator[tuple[str, str, list[Record]]]:
    """The id and text of every question with its rows of a kind in one evaluation mode, by rank."""
    mode = rows.part or "integrated"
    groups: dict[str, list[Record]] = {}
    left_out = 0
    for record in rows.records:
        row = record.value
        if kind is not None and row.get("type") not in (None, "", kind):
            continue
        if row.get("eval_mode") in (None, "", mode):
            key = str(row.get("multilabel_id") or row.get("query") or "")
            groups.setdefault(key, []).append(record)
        else:
            left_out += 1
    if left_out:
        name = next(name for name in _MODES if name != mode)
        rows.note(
            f"{left_out} rows of eval_mode {name} are left out; they are format 'haystack:{name}'"
        )
    for name, records in groups.items():
        records.sort(key=lambda record: record.integer("rank"))
        yield name, str(records[0].value.get("query") or ""), records


def _list(record: Record, key: str) -> list[str]:
    value = literal(str(record.value.get(key) or ""))
    if isinstance(value, (list, tuple)):
        return list(map(str, value))
    return [str(value)] if value else []


def _document(record: Record) -> str | None:
    """The id of a row's document: `document_id`, or the first of `document_ids`."""
    return next(iter(_list(record, record.key("document_ids") or "document_id")), None)


@answer_format(
    "haystack", "predictions", fits=has("form=table query node rank answer"), parts=_MODES
)
def read_haystack(rows: AnswerRows) -> None:
    """The answers of a reader, by rank; `haystack:isolated` are those to the gold documents. An
    empty answer is none.
    """
    for name, query, records in _by_question(rows, "answer"):
        rows.begin(records[0].where, name, query)
        for record in records:
            span = _SPAN.search(str(record.value.get("offsets_in_document") or ""))
            start, end = map(int, span.groups()) if span else (-1, -1)
            rows.answer(
                record.value.get("answer") or None,
                document=_document(record),
                start=start,
                end=end,
                score=record.number("score"),
            )


@answer_format(
    "haystack", "retrieved", fits=has("form=table query node rank !answer"), parts=_MODES
)
def read_documents(rows: RetrievedRows) -> None:
    """The documents of a retriever or ranker, by rank, with their texts."""
    for name, query, records in _by_question(rows, "document"):
        rows.begin(records[0].where, name, query)
        for record in records:
            document, row = _document(record), record.value
            if document is not None:
                text = row.get("context") or row.get("content") or None
                rows.item(document, record.number("score"), text)


@answer_format(
    "haystack", "questions", fits=has("form=table query node rank gold_answers"), parts=_MODES
)
def read_haystack_gold(rows: QuestionRows) -> None:
    """The questions that the rows were judged by: their answers, documents and positions, as far as
    the table has them.
    """
    for name, query, (record, *_) in _by_question(rows, None):
        if "gold_answers" not in record.value:
            raise record.wrong("a column of right answers", "gold_answers")
        rights = [text for text in _list(record, "gold_answers") if text.strip()]
        documents = _list(record, "gold_document_ids")
        spans = _SPAN.findall(str(record.value.get("gold_offsets_in_documents") or ""))
        document = None if rights else next(iter(documents), None)
        if not rows.add(record.where, name, query, document=document):
            continue
        key = record.key("gold_contexts") or "gold_document_contents"
        for document, text in zip(documents, _list(record, key), strict=False):
            rows.context(document, text, (*record.where, key))
        for row, text in enumerate(rights):
            document = documents[row] if len(documents) == len(rights) else None
            start = int(spans[row][0]) if len(spans) == len(rights) else -1
            rows.answer(text, (*record.where, "gold_answers"), document, start)
        for document in documents:
            rows.add_evidence((document,))
        rows.end()


@answer_format("haystack-labels", "questions", fits=has("is_correct_answer"))
def read_labels(rows: QuestionRows) -> None:
    """The questions, with all labels of one query and the same filters together, as in Haystack's
    MultiLabel, and its id.

    Labels that mark an answer or a document as wrong are left out; one without an answer counts
    where no other has one.
    Labels of one text in several documents may be different questions with one text: a note counts
    them.
    """
    # Text (blank where it says that there is no answer), document and start of each label, and its
    # place.
    groups: dict[tuple[str, str], list[tuple[str, str | None, int, Where]]] = {}
    for record in rows.records:
        query = record.text(record.key("query") or "question")
        document, row = _label_document(rows, record), record.value
        if not row.get("is_correct_document", True) or not (
            row.get("is_correct_answer", True) or row.get("answer") is None
        ):
            rows.odd("negative", record.where)
            continue
        # The id that Haystack 1.x gives all labels of one query under the same filters together.
        key = query + json.dumps(row.get("filters"), sort_keys=True)
        name = hashlib.md5(key.encode("utf-8", "surrogateescape")).hexdigest()
        text, start = _label(record)
        groups.setdefault((name, query), []).append((text, document, start, record.where))
    several = 0
    for (name, query), labels in groups.items():
        answered = list({label[:3]: label for label in labels if label[0].strip()}.values())
        if rows.add(labels[0][3], name, query, document=None if answered else labels[0][1]):
            for text, document, start, where in answered:
                rows.answer(text, where, document, start)
            rows.end()
        several += len({document for _, document, _, _ in labels}) > 1
    if several:
        rows.note(
            f"{several} questions have labels in several documents; where these are different "
            "questions with one text, give them ids of their own"
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
    span = next(answer.objects("offsets_in_document", "an object with start and end"), None)
    if span is not None and "start" not in span.value:
        raise span.wrong("an integer", "start")
    return answer.text("answer", ""), -1 if span is None else span.integer("start")


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
    texts = record._replace(value={key: value}).items(key)
    for index, text in enumerate(texts):
        if not isinstance(text, str) and type(text) is not int:
            raise record.content.wrong((*record.where, key, index), text, "a string")
    return list(map(str, texts))


def _passages(record: Record, texts: str, ids: str) -> list[tuple[str, str | None]]:
    """The id and the text of each passage; without ids a passage goes by its text, which is the
    same for the same passage.
    """
    contents, names = _texts(record, texts), _texts(record, ids)
    if contents and names and len(contents) != len(names):
        raise record.wrong(f"a list of {len(contents)}, as many as {texts} has", ids)
    return list(zip(names or contents, contents or [None] * len(names), strict=True))


@answer_format("ragas", "questions", fits=_RAGAS)
def read_ragas(rows: QuestionRows) -> None:
    """The questions with their references; `evidence` holds each reference context. Source: Es et
    al. 2024, RAGAS.
    """
    for record in rows.records:
        if rows.add(*_begin(record)):
            key = _key(record, _REFERENCE)
            rows.add_answers(record.value.get(key), (*record.where, key))
            for name, text in _passages(record, "reference_contexts", "reference_context_ids"):
                rows.add_evidence((name,))
                if text is not None:
                    rows.context(name, text, (*record.where, "reference_contexts"))
            rows.end()


@answer_format("ragas", "predictions", fits=_RAGAS)
def read_responses(rows: AnswerRows) -> None:
    """The response of each row; an empty one, or none, says that there is no answer."""
    for record in rows.records:
        rows.begin(*_begin(record))
        rows.answer(record.text(_key(record, _RESPONSE), ""))


@answer_format(
    "ragas", "retrieved", fits=has(*(f"{form} {_CONTEXTS}" for form in _FORMS), sure=0.92)
)
def read_ragas_contexts(rows: RetrievedRows) -> None:
    """The retrieved contexts of each row, best first; a context goes by its id, else by its
    text.
    """
    for record in rows.records:
        rows.begin(*_begin(record))
        for name, text in _passages(record, _key(record, _RETRIEVED), "retrieved_context_ids"):
            rows.item(name, text=text)
