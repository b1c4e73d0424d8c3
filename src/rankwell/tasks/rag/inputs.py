"""Files of gold passages, retrieved chunks and supports -> views; every error names file, line,
text and what to do.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from rankwell.data.columns import row_keys
from rankwell.data.tables import sort_ids
from rankwell.errors import BadInput, DuplicateItem
from rankwell.io.records import Record, load
from rankwell.tasks.rag.citations import Citations, CitedStatements, Statement
from rankwell.tasks.rag.passages import DocumentPassage

_GOLD = ("passages", "reference_contexts")
_CHUNKS = ("chunks", "retrieved_contexts")


class QuestionPassages(NamedTuple):
    """A line about a question, with its passages.

    line: the content of the line, with its place for messages.
    text: text of the question; None where the line has none.
    passages: gold passages or chunks, depending on the file; chunks best first.
    """

    line: Record
    text: str | None
    passages: tuple[DocumentPassage, ...]


def _records(source: Any) -> Iterator[Record]:
    """The objects of a file, of a data frame or of a sequence of mappings."""
    content = load(source, "questions and passages")
    if not content.records:
        raise BadInput(f"{content.name} is empty; expected a JSON object per line.")
    return content.checked_records()


def read_gold(source: Any, documents: Mapping[str, str]) -> dict[str, QuestionPassages]:
    """The questions with their gold passages by id, `{id, question, passages: []}`, or RAGAS' rows.

    Raises BadInput for a question without a passage, and for a passage without a letter.
    """
    questions = _read(source, _GOLD, documents)
    for name, question in questions.items():
        if not question.passages:
            raise BadInput(
                f"{question.line.place}: question {name!r} has no gold passage; leave it out, or "
                "give one."
            )
        for number, passage in enumerate(question.passages, 1):
            if passage.text is not None and not passage.text.strip():
                raise BadInput(
                    f"{question.line.place}: gold passage {number} of question {name!r} has no "
                    "text; leave it out, or give it."
                )
    return questions


def read_chunks(source: Any, documents: Mapping[str, str]) -> dict[str, QuestionPassages]:
    """The chunks retrieved for each question by its id, best first: `{id, chunks: []}`, or RAGAS'
    rows.
    """
    return _read(source, _CHUNKS, documents)


def read_passages(source: Any, documents: Mapping[str, str]) -> tuple[DocumentPassage, ...]:
    """All chunks of a collection, one a line: `{document, start, end, text}`."""
    return tuple(_passage(record, documents) for record in _records(source))


def _read(
    source: Any, keys: tuple[str, str], documents: Mapping[str, str]
) -> dict[str, QuestionPassages]:
    default_key, ragas_key = keys
    questions: dict[str, QuestionPassages] = {}
    for row, record in enumerate(_records(source)):
        key = record.key(*keys) or default_key
        if key not in record.value and row_keys(tuple(record.value), "judgments")[1]:
            raise BadInput(
                f"{record.place}: {key!r} is missing; questions with relevant documents are for "
                f"`rankwell evaluate {record.content.name} retrieved.jsonl`."
            )
        # RAGAS' rows have no id; both files list the questions in one order.
        name = str(row) if key == ragas_key and "id" not in record.value else record.required_id()
        if name in questions:
            raise DuplicateItem(
                f"{record.place}: the id {name!r} is that of {questions[name].line.place}, too; "
                "keep one of them."
            )
        text = record.value.get("user_input" if key == ragas_key else "question")
        text = text if isinstance(text, str) else None
        passages: list[DocumentPassage] = []
        for index, member in enumerate(record.members(key)):
            # A text alone is a passage.
            passage = record.content.record(
                {"text": member} if isinstance(member, str) else member,
                (*record.where, key, index),
                "a passage {document, start, end, text}, or a text",
            )
            passages.append(_passage(passage, documents))
        questions[name] = QuestionPassages(record, text, tuple(passages))
    return questions


def _passage(record: Record, documents: Mapping[str, str]) -> DocumentPassage:
    """A passage with a position, a text or both. Raises BadInput for neither, and for a position
    beyond its document.
    """
    value = record.value
    text = record.text("text") if value.get("text") is not None else None
    if "start" not in value and "end" not in value:
        if text is None:
            raise record.wrong("a string, or a position: document, start and end", "text")
        return DocumentPassage(
            record.required_id("document") if "document" in value else None, text=text
        )
    document = record.required_id("document")
    start, end = (_position(record, key) for key in ("start", "end"))
    if end <= start:
        raise BadInput(
            f"{record.place}: start {start}, end {end}; expected an end after the start: it is "
            "exclusive."
        )
    if document in documents:
        document_text = documents[document]
        if end > len(document_text):
            raise BadInput(
                f"{record.place}: end {end} is beyond the {len(document_text)} characters of "
                f"{document!r}; correct the position."
            )
        if text is not None and text != document_text[start:end]:
            raise BadInput(
                f"{record.place}: {document!r} has {document_text[start:end][:40]!r} from {start} "
                f"to {end}, the passage {text[:40]!r}; positions count characters of the same text."
            )
        text = document_text[start:end]
    return DocumentPassage(document, start, end, text)


def _position(record: Record, key: str) -> int:
    expected = "a number of characters from the beginning of the document"
    position = record.integer(key, expected)
    if not 0 <= position < 1 << 53:
        raise record.wrong(expected, key)
    return position


def read_supports(source: Any) -> CitedStatements:
    """The judged supports, one a line: `{id, statement, citations: [], entailed: true}`.

    id: the question. What a statement cites is the union of its lines' citations. Raises BadInput
    where a set that decides a measure is not judged, DuplicateItem for a set that is judged twice.
    """
    judged: dict[str, dict[str, dict[Citations, bool]]] = {}
    first_records: dict[tuple[str, str], Record] = {}
    for record in _records(source):
        query, statement = record.required_id(), record.required_id("statement")
        cited = record.members("citations")
        citations = Citations(
            record._replace(value={"citations": name}).required_id("citations") for name in cited
        )
        is_entailed = record.truth("entailed")
        if is_entailed and not citations:
            raise BadInput(
                f"{record.place}: nothing is cited, and entailed is true; a statement that "
                "cites nothing is not entailed."
            )
        verdicts = judged.setdefault(query, {}).setdefault(statement, {})
        if citations in verdicts:
            raise DuplicateItem(
                f"{record.place}: the same citations of the statement {statement!r} were judged "
                "before; keep one line."
            )
        verdicts[citations] = is_entailed
        first_records.setdefault((query, statement), record)
    queries, statements = tuple(sort_ids(judged)), list[tuple[Statement, ...]]()
    for query in queries:
        statements.append(
            tuple(
                Statement(name, Citations().union(*sets), sets)
                for name, sets in judged[query].items()
            )
        )
        for statement in statements[-1]:
            try:
                _ = statement.precise
            except BadInput as error:
                first_place = first_records[query, statement.name].place
                raise BadInput(f"{first_place}: question {query!r}: {error}") from error
    return CitedStatements(queries, tuple(statements))
