"""Files of gold passages, retrieved chunks and supports -> views; every error names file, line,
text and what to do.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rankwell.core.tables import sort_ids
from rankwell.documents import parse_json, unique_keys
from rankwell.errors import BadInput, DuplicateItem, shown
from rankwell.store import Source
from rankwell.tasks.rag.citations import Citations, CitedStatements, Statement
from rankwell.tasks.rag.passages import DocumentPassage

_GOLD = ("passages", "reference_contexts")
_CHUNKS = ("chunks", "retrieved_contexts")


class JsonRow(NamedTuple):
    """An object of a file with its place, for messages."""

    where: str
    value: Mapping[str, Any]

    def wrong(self, key: str, expected: str) -> BadInput:
        """The error for the value of a key."""
        found = f"is {shown(self.value[key])}" if key in self.value else "is missing"
        return BadInput(f"{self.where}: {key} {found}; expected {expected}.")

    def text(self, key: str) -> str:
        """A string. Raises BadInput."""
        if not isinstance(self.value.get(key), str):
            raise self.wrong(key, "a string")
        return self.value[key]

    def id(self, key: str) -> str:
        """An id: a string or an integer. Raises BadInput."""
        value = self.value.get(key)
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise self.wrong(key, "a string or an integer")
        return str(value)

    def listed(self, key: str) -> list[Any]:
        """A list. Raises BadInput."""
        if not isinstance(self.value.get(key), (list, tuple)):
            raise self.wrong(key, "a list")
        return list(self.value[key])


class QuestionPassages(NamedTuple):
    """A line about a question, with its passages. text: of the question, None where the line has
    none.
    """

    line: JsonRow
    text: str | None
    passages: tuple[DocumentPassage, ...]


def read_lines(place: Any) -> Iterator[JsonRow]:
    """The objects of a file of JSON lines or of one JSON list, or of a sequence of mappings."""
    if not isinstance(place, (str, Path)):
        if not isinstance(place, Sequence):
            raise BadInput(f"{shown(place)}; expected a file, or a list of mappings.")
        name, found = (
            "the data",
            [(f"the data: item {row}", value) for row, value in enumerate(place)],
        )
    else:
        source = Source(place)
        name, content = source.name, source.read()
        if content.lstrip()[:1] == b"[":
            found = [
                (f"{name}[{row}]", value)
                for row, value in enumerate(parse_json(content, name, pairs=unique_keys))
            ]
        else:
            lines = [
                (number, line)
                for number, line in enumerate(content.split(b"\n"), 1)
                if line.strip()
            ]
            form = "a JSON object per line"
            found = [
                (f"{name}:{at}", parse_json(line, name, form, line=at, pairs=unique_keys))
                for at, line in lines
            ]
    if not found:
        raise BadInput(f"{name} is empty; expected a JSON object per line.")
    for where, value in found:
        if not isinstance(value, Mapping):
            raise BadInput(f"{where}: {shown(value)}; expected a JSON object.")
        yield JsonRow(where, value)


def read_gold(place: Any, documents: Mapping[str, str]) -> dict[str, QuestionPassages]:
    """The questions with their gold passages by id, `{id, question, passages: []}`, or RAGAS' rows.

    Raises BadInput for a question without a passage, and for a passage without a letter.
    """
    found = _read(place, _GOLD, documents)
    for name, each in found.items():
        if not each.passages:
            raise BadInput(
                f"{each.line.where}: question {name!r} has no gold passage; leave it out, or "
                "give one."
            )
        blank = next(
            (
                at
                for at, passage in enumerate(each.passages, 1)
                if passage.text is not None and not passage.text.strip()
            ),
            0,
        )
        if blank:
            raise BadInput(
                f"{each.line.where}: gold passage {blank} of question {name!r} has no text; "
                "leave it out, or give it."
            )
    return found


def read_chunks(place: Any, documents: Mapping[str, str]) -> dict[str, QuestionPassages]:
    """The chunks retrieved for each question by its id, best first: `{id, chunks: []}`, or RAGAS'
    rows.
    """
    return _read(place, _CHUNKS, documents)


def read_passages(place: Any, documents: Mapping[str, str]) -> tuple[DocumentPassage, ...]:
    """All chunks of a collection, one a line: `{document, start, end, text}`."""
    return tuple(_passage(line, documents) for line in read_lines(place))


def _read(
    place: Any, keys: tuple[str, str], documents: Mapping[str, str]
) -> dict[str, QuestionPassages]:
    own, ragas = keys
    found: dict[str, QuestionPassages] = {}
    for row, line in enumerate(read_lines(place)):
        key = ragas if ragas in line.value and own not in line.value else own
        # RAGAS' rows have no id; both files list the questions in one order.
        name = str(row) if key == ragas and "id" not in line.value else line.id("id")
        if name in found:
            raise DuplicateItem(
                f"{line.where}: the id {name!r} is that of {found[name].line.where}, too; "
                "keep one of them."
            )
        listed = [
            JsonRow(f"{line.where}: {key}[{at}]", _mapping(line, key, each))
            for at, each in enumerate(line.listed(key))
        ]
        text = line.value.get("user_input" if key == ragas else "question")
        passages = tuple(_passage(each, documents) for each in listed)
        found[name] = QuestionPassages(line, text if isinstance(text, str) else None, passages)
    return found


def _mapping(line: JsonRow, key: str, value: Any) -> Mapping[str, Any]:
    if isinstance(value, str):
        return {"text": value}
    if not isinstance(value, Mapping):
        raise line.wrong(key, "a list of passages {document, start, end, text}, or of texts")
    return value


def _passage(line: JsonRow, documents: Mapping[str, str]) -> DocumentPassage:
    """A passage with a position, a text or both. Raises BadInput for neither, and for a position
    beyond its document.
    """
    value = line.value
    text = line.text("text") if value.get("text") is not None else None
    if "start" not in value and "end" not in value:
        if text is None:
            raise line.wrong("text", "a string, or a position: document, start and end")
        return DocumentPassage(line.id("document") if "document" in value else None, text=text)
    document = line.id("document")
    start, end = (_place(line, key) for key in ("start", "end"))
    if end <= start:
        raise BadInput(
            f"{line.where}: start {start}, end {end}; expected an end after the start: it is "
            "exclusive."
        )
    if document in documents:
        whole = documents[document]
        if end > len(whole):
            raise BadInput(
                f"{line.where}: end {end} is beyond the {len(whole)} characters of "
                f"{document!r}; correct the position."
            )
        if text is not None and text != whole[start:end]:
            what = (
                f"{document!r} has {whole[start:end][:40]!r} from {start} to {end}, the passage "
                f"{text[:40]!r}"
            )
            raise BadInput(f"{line.where}: {what}; positions count characters of the same text.")
        text = whole[start:end]
    return DocumentPassage(document, start, end, text)


def _place(line: JsonRow, key: str) -> int:
    value = line.value.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 1 << 53:
        raise line.wrong(key, "a number of characters from the beginning of the document")
    return value


def read_supports(place: Any) -> CitedStatements:
    """The judged supports, one a line: `{id, statement, citations: [], entailed: true}`.

    id: the question. What a statement cites is the union of its lines' citations. Raises BadInput
    where a set that decides a measure is not judged, DuplicateItem for a set that is judged twice.
    """
    judged: dict[str, dict[str, dict[Citations, bool]]] = {}
    places: dict[tuple[str, str], str] = {}
    for line in read_lines(place):
        query, statement = line.id("id"), line.id("statement")
        citations = Citations(
            JsonRow(f"{line.where}: citations", {"each": each}).id("each")
            for each in line.listed("citations")
        )
        if not isinstance(line.value.get("entailed"), bool):
            raise line.wrong("entailed", "true or false")
        if line.value["entailed"] and not citations:
            raise BadInput(
                f"{line.where}: nothing is cited, and entailed is true; a statement that "
                "cites nothing is not entailed."
            )
        own = judged.setdefault(query, {}).setdefault(statement, {})
        if citations in own:
            raise DuplicateItem(
                f"{line.where}: the same citations of the statement {statement!r} were judged "
                "before; keep one line."
            )
        own[citations] = line.value["entailed"]
        places.setdefault((query, statement), line.where)
    queries = tuple(sort_ids(judged))
    found = tuple(
        tuple(
            Statement(name, Citations().union(*sets), sets) for name, sets in judged[query].items()
        )
        for query in queries
    )
    for query, own in zip(queries, found, strict=True):
        for each in own:
            try:
                _ = each.precise
            except BadInput as error:
                raise BadInput(
                    f"{places[query, each.name]}: question {query!r}: {error}"
                ) from error
    return CitedStatements(queries, found)
