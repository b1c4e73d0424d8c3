"""Positions of the words of a text, by a rule of rankwell's own or by a named tokenizer of an
installed library.
"""

import hashlib
import re
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Literal, NamedTuple

from rankwell.errors import BadUsage, MissingExtra, UnknownName

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
