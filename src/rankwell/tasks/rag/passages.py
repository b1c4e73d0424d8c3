"""Passages of documents, as positions and as texts: the gold ones of a question, and the chunks
retrieved for it; positions of words by our own rule or by a named tokenizer; cited statements; and
the files of all of them, whose errors name file, line, text and what to do.
"""

import hashlib
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from rankwell.data.columns import row_keys
from rankwell.data.tables import sort_ids
from rankwell.errors import (
    BadInput,
    BadUsage,
    DuplicateItem,
    MissingExtra,
    UnknownName,
    flag,
    shown,
    typed,
)
from rankwell.io.records import Record, load

Unit = Literal["characters", "words"] | str
"""characters, words, `tokenizers:PLACE` or `tiktoken:ENCODING`."""
Positions = tuple[list[int], list[int]]
"""The starts and the ends of words in characters, the end exclusive, both ascending."""

_WORD = re.compile(r"\w+|[^\w\s]")
_FILE = "tokenizer.json"


class TextTokenizer(NamedTuple):
    """A tokenizer.

    positions: text -> the positions of its tokens.
    about: library, version and digest, for the rules of a result; "" for words.
    """

    positions: Callable[[str], Positions]
    about: str = ""


@cache
def tokenizer_of(unit: Unit) -> TextTokenizer:
    """The tokenizer that a unit names.

    words: runs of letters, digits and underscores, or any other single character that is not a
    blank. tokenizers: a file `tokenizer.json` or its folder, else a model of the Hugging Face
    cache; special tokens are not added. tiktoken: an encoding, such as cl100k_base. Raises
    UnknownName for another unit, MissingExtra without the library, BadUsage where it has no such
    tokenizer.
    """
    library, colon, name = unit.partition(":")
    if unit == "words":
        return TextTokenizer(_words)
    if not colon or library not in ("tokenizers", "tiktoken") or not name:
        raise UnknownName(
            f"unit={unit!r}; known are 'characters', 'words', 'tokenizers:PLACE' and "
            "'tiktoken:ENCODING'."
        )
    try:
        return _hugging_face(unit, name) if library == "tokenizers" else _tiktoken(unit, name)
    except ImportError as error:
        raise MissingExtra(f"unit={unit!r} needs {library}: pip install {library}.") from error


def _words(text: str) -> Positions:
    words = list(_WORD.finditer(text))
    return [match.start() for match in words], [match.end() for match in words]


def _hugging_face(unit: str, name: str) -> TextTokenizer:
    from tokenizers import Tokenizer

    path = _place(unit, Path(name), name)
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # what it raises has no class of its own
        raise BadUsage(
            f"unit={unit!r}: {path} is not a file of tokenizers ({error}); name a {_FILE}."
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def _positions(text: str) -> Positions:
        offsets = sorted(tokenizer.encode(text, add_special_tokens=False).offsets)
        return [start for start, _ in offsets], [end for _, end in offsets]

    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    return TextTokenizer(_positions, f"tokenizers {version('tokenizers')} sha256:{digest}")


def _place(unit: str, path: Path, name: str) -> Path:
    """The file of a tokenizer: the path itself, in it as a folder, or in the cache of the Hugging
    Face Hub.
    """
    if path.is_file():
        return path
    if (path / _FILE).is_file():
        return path / _FILE
    problem = f"unit={unit!r}: there is no {_FILE} of that name here"
    try:
        from huggingface_hub import try_to_load_from_cache

        cached_path = try_to_load_from_cache(name, _FILE)
    except ImportError:
        raise BadUsage(f"{problem}; name a file, or a folder that has one.") from None
    except ValueError:  # not the name of a repository
        cached_path = None
    if not isinstance(cached_path, str):
        raise BadUsage(
            f"{problem} or in the cache of the Hugging Face Hub; name a file, or download the "
            "model first."
        )
    return Path(cached_path)


def _tiktoken(unit: str, name: str) -> TextTokenizer:
    import tiktoken

    try:
        encoding = tiktoken.get_encoding(name)
    except ValueError as error:
        encodings = ", ".join(tiktoken.list_encoding_names())
        raise BadUsage(
            f"unit={unit!r}: tiktoken has no encoding {name!r}; known are {encodings}."
        ) from error
    except Exception as error:  # it downloads what its cache lacks
        raise BadUsage(
            f"unit={unit!r}: tiktoken cannot load it ({error}); connect once, or set "
            "TIKTOKEN_CACHE_DIR."
        ) from error

    def _positions(text: str) -> Positions:
        _, starts = encoding.decode_with_offsets(encoding.encode_ordinary(text))
        # Tokens that are parts of one character begin at the same one.
        return starts, [max(start + 1, after) for start, after in pairwise([*starts, len(text)])]

    return TextTokenizer(_positions, f"tiktoken {version('tiktoken')}")


Span = tuple[int, int]


class DocumentPassage(NamedTuple):
    """A part of a document.

    document: id of the document; None where only the text is known.
    start, end: positions in characters, end exclusive; -1 where unknown.
    text: text of the passage; None where unknown.
    """

    document: str | None
    start: int = -1
    end: int = -1
    text: str | None = None

    @property
    def span(self) -> Span:
        """The position in characters."""
        return self.start, self.end


@dataclass(frozen=True, eq=False)
class RetrievedPassages:
    """The passages of each question.

    queries: ids of the questions.
    gold: for each question the passages that hold the answer.
    chunks: for each question the retrieved chunks, best first.
    documents: document id -> text, for counts of words.
    every_chunk: all chunks of the collection; empty where they are unknown.
    """

    needs: ClassVar[str] = "retrieved chunks and gold passages with their positions or texts"
    command: ClassVar[str] = "rag"
    queries: tuple[str, ...]
    gold: tuple[tuple[DocumentPassage, ...], ...]
    chunks: tuple[tuple[DocumentPassage, ...], ...]
    documents: Mapping[str, str] = field(default_factory=dict[str, str])
    every_chunk: tuple[DocumentPassage, ...] = ()
    _words: dict[tuple[Unit, str], Positions] = field(
        default_factory=dict[tuple[Unit, str], Positions]
    )

    def spans(self, passages: Iterable[DocumentPassage], unit: Unit) -> dict[str, list[Span]]:
        """The parts of each document that passages cover, in units, as disjoint spans in order.

        A word of `tokenizer_of` is covered where one of its characters is. Raises BadUsage for a
        passage without a position, and for words of an unknown text.
        """
        spans_of_document: dict[str, list[Span]] = {}
        for passage in passages:
            if passage.document is None or passage.start < 0:
                raise BadUsage(
                    f"a passage without a position ({(passage.text or '')[:40]!r}); give document, "
                    "start and end, or choose ContextP and ContextR, which compare texts."
                )
            spans_of_document.setdefault(passage.document, []).append(
                passage.span if unit == "characters" else self._in_words(passage, unit)
            )
        return {document: merged(spans) for document, spans in spans_of_document.items()}

    def _in_words(self, passage: DocumentPassage, unit: Unit) -> Span:
        document = str(passage.document)
        if (unit, document) not in self._words:
            positions = tokenizer_of(unit).positions
            if document not in self.documents:
                problem = f"unit={unit!r}: the text of the document {document!r} is unknown"
                if not self.documents:
                    raise BadUsage(f"{problem}; name a file with it by {flag('--documents')}.")
                ids = f"{shown(next(iter(self.documents)))}{', …' * (len(self.documents) > 1)}"
                raise BadInput(
                    f"{problem}; {flag('--documents')} has texts of {ids}; write its text beside "
                    f'its id, as in {{"id": "{document}", "text": …}}.'
                )
            self._words[unit, document] = positions(self.documents[document])
        starts, ends = self._words[unit, document]
        first = bisect_right(ends, passage.start)
        return first, max(first, bisect_left(starts, passage.end))


def merged(spans: Iterable[Span]) -> list[Span]:
    """The union of spans, as disjoint ones in order."""
    disjoint: list[Span] = []
    for start, end in sorted(spans):
        if disjoint and start <= disjoint[-1][1]:
            disjoint[-1] = disjoint[-1][0], max(disjoint[-1][1], end)
        else:
            disjoint.append((start, end))
    return disjoint


def size(spans: Iterable[Span]) -> int:
    """The sum of the lengths of spans."""
    return sum(end - start for start, end in spans)


def shared(spans: Sequence[Span], other_spans: Sequence[Span]) -> int:
    """The size of the intersection of two unions of spans."""
    return (
        size(spans) + size(other_spans) - size(merged([*spans, *other_spans]))
        if spans and other_spans
        else 0
    )


@lru_cache(maxsize=1 << 12)
def folded(text: str) -> str:
    """A text in one normal form of Unicode (NFC), with one blank for white space and none at its
    ends; case is kept.
    """
    return " ".join(unicodedata.normalize("NFC", text).split())


def holds(text: str, part: str) -> bool:
    """Whether a folded text holds another, which is not empty; a single word as a word, so that
    `9th` is not in `19th`.
    """
    if part == "" or " " in part:
        return part != "" and part in text
    start = text.find(part)
    while start >= 0 and _is_inside_word(text, start, start + len(part)):
        start = text.find(part, start + 1)
    return start >= 0


def _is_inside_word(text: str, start: int, stop: int) -> bool:
    """Whether a letter that has case, or a digit, stands on both sides of an end; other scripts do
    without blanks.
    """
    ends = (text[max(position - 1, 0) : position + 1] for position in (start, stop))
    return any(
        len(end) == 2
        and all(letter.isdecimal() or letter.upper() != letter.lower() for letter in end)
        for end in ends
    )


def are_nested(chunk: str, passage: str) -> bool:
    """Whether a folded chunk holds a folded gold passage or is a part of one; what has no text
    neither holds nor is held.
    """
    return chunk != "" and (holds(chunk, passage) or holds(passage, chunk))


Citations = frozenset[str]


class Statement(NamedTuple):
    """A statement of an answer.

    name: id of the statement, unique in the answer.
    cited: the documents that it cites.
    entailed: set of documents -> whether they entail the statement together.
    """

    name: str
    cited: Citations
    entailed: Mapping[Citations, bool]

    def entails(self, citations: Citations) -> bool:
        """Whether some of the cited documents entail it together. Raises BadInput where that is not
        judged.
        """
        if citations not in self.entailed:
            cited_documents = ", ".join(sorted(citations)) or "nothing"
            raise BadInput(
                f"whether {{{cited_documents}}} entails the statement {self.name!r} is not judged; "
                "add a line for it."
            )
        return self.entailed[citations]

    @property
    def is_supported(self) -> bool:
        """Whether all that it cites entails it; what cites nothing is not supported."""
        return bool(self.cited) and self.entails(self.cited)

    @property
    def precise(self) -> int:
        """The number of citations that support it: in a set that does, by themselves, or as one
        that it cannot do without.
        """
        if not self.is_supported:
            return 0
        if len(self.cited) == 1:
            return 1
        return sum(
            self.entails(Citations([citation])) or not self.entails(self.cited - {citation})
            for citation in self.cited
        )


@dataclass(frozen=True, eq=False)
class CitedStatements:
    """The statements of the answer to each question.

    queries: ids of the questions.
    statements: the statements of the answer to each question.
    """

    needs: ClassVar[str] = "statements with their citations and whether these entail them"
    command: ClassVar[str] = "rag citations"
    queries: tuple[str, ...]
    statements: tuple[tuple[Statement, ...], ...]


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
        # RAGAS' rows have no id; both files list the questions in one order.
        if key not in record.value and row_keys(tuple(record.value), "judgments")[1]:
            other = typed("rankwell", "evaluate", record.content.name, "retrieved.jsonl")
            raise BadInput(
                f"{record.place}: {key!r} is missing; questions with relevant documents are for "
                f"`{other}`."
            )
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
