"""Chunks by the tokens of a named tokenizer: their positions, their names in the rules, and what is
not a tokenizer.
"""

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import rankwell as rw
from rankwell.errors import BadUsage, MissingExtra, UnknownName
from rankwell.tasks.rag.passages import tokenizer_of

TEXT = "Dogs stay out!! But guide dogs (two) are welcome..."


def evaluated(
    text: str, gold: tuple[int, int], chunk: tuple[int, int], *measures: str
) -> rw.Results:
    """The values of one chunk against one gold passage of a document."""
    spans = [{"document": "d", "start": start, "end": end} for start, end in (gold, chunk)]
    rows = [
        [{"id": "q", name: [span]}]
        for name, span in zip(("passages", "chunks"), spans, strict=True)
    ]
    return rw.evaluate_rag(
        rows[0], rows[1], list(measures), documents={"d": text}, intervals="none"
    )


@pytest.fixture
def by_words(tmp_path: Path) -> Path:
    """A folder with a tokenizer of words, and of all punctuation marks in a row together."""
    tokenizers = pytest.importorskip("tokenizers")
    found = tokenizers.Tokenizer(tokenizers.models.WordLevel({"?": 0}, unk_token="?"))
    found.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    found.enable_truncation(3)
    found.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def test_chunks_are_compared_by_the_tokens_of_a_named_file(by_words: Path):
    gold, chunk = (0, 17), (11, 30)
    tokens = [each.span() for each in re.finditer(r"\w+|[^\w\s]+", TEXT)]
    truth, own = (
        {span for span in tokens if span[0] < end and span[1] > start}
        for start, end in (gold, chunk)
    )
    names = [f"{name}(unit='tokenizers:{by_words}')@1" for name in ("SpanP", "SpanR", "SpanIoU")]

    result = evaluated(TEXT, gold, chunk, *names)

    shared = len(truth & own)
    assert [result[name] for name in names] == [
        shared / len(own),
        shared / len(truth),
        shared / len(truth | own),
    ]
    assert len(truth | own) > 3, "the tokenizer's truncation is not undone"
    assert re.search(
        r"tokenizers:\S+ \(tokenizers [\d.]+ sha256:[0-9a-f]{16}\)", result.rules["tokenizer"]
    )


def test_tokens_that_are_parts_of_one_character_count_each(tmp_path: Path):
    tokenizers = pytest.importorskip("tokenizers")
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    found = tokenizers.Tokenizer(
        tokenizers.models.BPE({letter: place for place, letter in enumerate(letters)}, [])
    )
    found.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    found.save(str(tmp_path / "bytes.json"))

    # Two bytes, four bytes, one byte.
    result = evaluated("é😀a", (0, 1), (0, 2), f"SpanP(unit='tokenizers:{tmp_path}/bytes.json')@1")

    assert next(iter(result.summary)).mean == 2 / 6


def test_encodings_of_tiktoken_have_the_positions_that_it_gives(monkeypatch: pytest.MonkeyPatch):
    # A character in two tokens, then one of two characters, as decode_with_offsets reports them.
    encoding = SimpleNamespace(
        encode_ordinary=lambda text: [1, 2, 3],
        decode_with_offsets=lambda tokens: ("😀ab", [0, 0, 1]),
    )
    module: Any = SimpleNamespace(
        get_encoding=lambda name: encoding, list_encoding_names=lambda: ["x"]
    )
    monkeypatch.setitem(sys.modules, "tiktoken", module)
    monkeypatch.setattr("rankwell.tasks.rag.passages.version", lambda _: "0.14.0")
    tokenizer_of.cache_clear()

    found = tokenizer_of("tiktoken:x")
    tokenizer_of.cache_clear()

    assert found.positions("😀ab") == ([0, 0, 1], [1, 1, 3])
    assert found.about == "tiktoken 0.14.0"


def test_what_is_not_a_tokenizer_is_one_clear_error(
    by_words: Path, monkeypatch: pytest.MonkeyPatch
):
    (by_words / "other.json").write_text(json.dumps({"model": 3}))
    (by_words / "empty").mkdir()
    for unit, error, message in (
        (
            "tokens",
            UnknownName,
            "known are 'characters', 'words', 'tokenizers:PLACE' and 'tiktoken:ENCODING'",
        ),
        ("spacy:en", UnknownName, "known are"),
        ("tokenizers:", UnknownName, "known are"),
        (f"tokenizers:{by_words}/other.json", BadUsage, "is not a file of tokenizers"),
        (f"tokenizers:{by_words}/empty", BadUsage, "no tokenizer.json of that name here"),
        ("tokenizers:nobody/nothing", BadUsage, "no tokenizer.json of that name here"),
    ):
        with pytest.raises(error, match=message):
            evaluated(TEXT, (0, 4), (0, 4), f"SpanP(unit={unit!r})")
    for library in ("tokenizers", "tiktoken"):
        monkeypatch.setitem(sys.modules, library, None)
        tokenizer_of.cache_clear()
        with pytest.raises(MissingExtra, match=f"pip install {library}"):
            evaluated(TEXT, (0, 4), (0, 4), f"SpanP(unit='{library}:{by_words}')")
    with pytest.raises(BadUsage, match="counts characters, not words"):
        evaluated(TEXT, (0, 4), (0, 4), "SpanP(unit='words',rule='chunking_evaluation')")
