"""Passages of documents: the gold ones of a question, and the chunks retrieved for it, as positions
and as texts; positions of words by our own rule or by a named tokenizer.
"""

import hashlib
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

from rankwell.errors import BadUsage, MissingExtra, UnknownName, flag

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
                raise BadUsage(
                    f"unit={unit!r}: the text of the document {document!r} is unknown; name a file "
                    f"with it by {flag('--documents')}."
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
