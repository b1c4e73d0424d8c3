"""Texts made comparable: normalisers by name, each a list of exact steps in order, and ways to find
one text in another; similarities of two texts from 0 to 1, those of strings by rapidfuzz as in
RAGAS.
"""

import re
import string
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from rankwell.errors import UnknownName, needing

NormalizerName = Literal[
    "none",
    "strip",
    "lower",
    "squad",
    "english",
    "french",
    "french-bench",
    "nq-open",
    "triviaqa",
    "dpr",
    "mlqa-ar",
    "mlqa-de",
    "mlqa-en",
    "mlqa-es",
    "mlqa-hi",
    "mlqa-vi",
    "mlqa-zh",
]
Step = Callable[[str], str]


@dataclass(frozen=True)
class Normalizer:
    """A normalisation that makes texts comparable: `normalizer(text)` is the normal form.

    name: the name in options and results.
    source: the publication or program that defined it.
    steps: the steps in words, in order.
    frozen: whether the result is exactly as published. Otherwise the last form that is not empty is
        kept where a step would leave nothing, so that an answer such as `A+` or `The` does not
        vanish.
    all_steps, batch: functions that do all steps at once, for one text and for many texts of
        printable ASCII, where that is faster.
    """

    name: str
    source: str
    steps: tuple[str, ...]
    frozen: bool = True
    all_steps: Step | None = None
    batch: Callable[[Sequence[str]], list[str]] | None = None

    @cached_property
    def functions(self) -> tuple[Step, ...]:
        """The functions of the steps."""
        return tuple(map(_step, self.steps))

    def __call__(self, text: str) -> str:
        """The normal form of a text."""
        if self.all_steps is not None:
            return self.all_steps(text)
        for step in self.functions:
            shorter = step(text)
            if not self.frozen and not shorter.strip():
                return collapse(text)
            text = shorter
        return text


class _Letters(dict[int, str | int | None]):
    """A table for `str.translate` that decides each character when it first comes."""

    def __init__(self, decide: Callable[[str], str | None]) -> None:
        super().__init__()
        self._decide = decide

    def __missing__(self, code: int) -> str | int | None:
        self[code] = replacement = self._decide(chr(code))
        return replacement


_WITHOUT_ASCII = str.maketrans("", "", string.punctuation)
_ENGLISH = re.compile(r"\b(?:a|an|the)\b")
_FRENCH_WORDS = frozenset(("le", "la", "les", "un", "une", "des", "du", "au", "aux"))


def _is_punctuation(letter: str) -> bool:
    return letter in string.punctuation or unicodedata.category(letter).startswith("P")


def _as_token(letter: str) -> str:
    """A character in DPR's tokenisation: part of a word, a blank, or a token of its own."""
    kind = unicodedata.category(letter)[0]
    return letter if kind in "LNM" else " " if kind in "ZC" else f" {letter} "


def _translated(table: Mapping[int, str | int | None]) -> Step:
    return lambda text: text.translate(table)


def collapse(text: str) -> str:
    """Without white space at the ends, and one blank for each run of it inside; white space as
    defined by Unicode.
    """
    return " ".join(text.split())


_WORDS = "a blank for the words "
_STEPS: Mapping[str, Step] = {
    "lower case": str.lower,
    "NFC": partial(unicodedata.normalize, "NFC"),
    "NFD": partial(unicodedata.normalize, "NFD"),
    "collapse white space": collapse,
    "strip white space at both ends": str.strip,
    "delete ASCII punctuation": _translated(_WITHOUT_ASCII),
    "delete Unicode punctuation": _translated(
        _Letters(lambda letter: None if _is_punctuation(letter) else letter)
    ),
    "a blank for Unicode punctuation": _translated(
        _Letters(lambda letter: " " if _is_punctuation(letter) else letter)
    ),
    "a blank for ASCII punctuation and ‘ ’ ´": _translated(
        str.maketrans(dict.fromkeys(string.punctuation + "‘’´`", " "))
    ),
    "a blank for _": _translated(str.maketrans("_", " ")),
    "' for ’ ‘ ʼ": _translated(str.maketrans(dict.fromkeys("’‘ʼ", "'"))),
    "a blank for l' and d' where a word begins": partial(re.compile(r"(?<!\w)[ld]'").sub, " "),
    "delete the words le, la, les, un, une, des, du, au, aux and collapse white space": lambda text: (  # noqa: E501
        " ".join(word for word in text.split() if word not in _FRENCH_WORDS)
    ),
    # The script of MLQA means a prefix, but its pattern finds the two letters anywhere.
    "a blank for ال anywhere": lambda text: text.replace("ال", " "),
    "a token for each CJK ideograph": _translated(
        _Letters(lambda letter: f" {letter} " if "\u4e00" <= letter <= "\u9fa5" else letter)
    ),
    "tokens: runs of letters, numbers and marks, or one other character": _translated(
        _Letters(_as_token)
    ),
}
"""The steps by what they do; those that begin with `_WORDS` name the words that give way to a
blank.
"""


def _step(words: str) -> Step:
    if words in _STEPS:
        return _STEPS[words]
    pattern = "|".join(words.removeprefix(_WORDS).split(", "))
    return partial(re.compile(rf"\b(?:{pattern})\b").sub, " ")


def _squad(text: str) -> str:
    """SQuAD's steps at once; words of plain text are compared whole, which a regular expression
    does at five times the price.
    """
    text = text.lower().translate(_WITHOUT_ASCII)
    # Control characters end a word for a regular expression and not for `split`, so only printable
    # text takes the short way.
    if not (text.isascii() and text.isprintable()):
        return " ".join(_ENGLISH.sub(" ", text).split())
    words = text.split(" ")
    if "the" in words or "a" in words or "an" in words or "" in words:
        return " ".join([word for word in words if word not in ("the", "a", "an", "")])
    return text


def _squad_batch(texts: Sequence[str]) -> list[str]:
    """SQuAD's steps for many texts of printable ASCII, in a few passes over one long text with a
    line for each.
    """
    long_text = (" " + " \n ".join(texts) + " ").lower().translate(_WITHOUT_ASCII)
    for word, blank in (("  ", " "), (" the ", " "), (" a ", " "), (" an ", " ")):
        # Neighbours share a blank, of which one pass sees every other only.
        while word in long_text:
            long_text = long_text.replace(word, blank)
    return [line.strip(" ") for line in long_text.split("\n")]


_FAST: Mapping[str, Mapping[str, Any]] = {"squad": {"all_steps": _squad, "batch": _squad_batch}}
_DECLARED = tomllib.loads(Path(__file__).with_name("normalizers.toml").read_text(encoding="utf-8"))
NORMALIZERS: Mapping[str, Normalizer] = {
    name: Normalizer(name, **{**entry, "steps": tuple(entry["steps"])}, **_FAST.get(name, {}))
    for name, entry in _DECLARED.items()
}


def normalizer(name: str) -> Normalizer:
    """The normaliser of this name. Raises UnknownName."""
    if name not in NORMALIZERS:
        raise UnknownName(
            f"unknown normalizer {name!r}; choose one of {', '.join(get_args(NormalizerName))}."
        )
    return NORMALIZERS[name]


def normalize_all(texts: Iterable[str], normaliser: Normalizer) -> dict[str, str]:
    """Every distinct text with its normal form, which is worked out once."""
    distinct = list(dict.fromkeys(texts))
    if normaliser.batch is None:
        return {text: normaliser(text) for text in distinct}
    plain = [text for text in distinct if text.isascii() and text.isprintable()]
    done = dict(zip(plain, normaliser.batch(plain), strict=True)) if plain else {}
    return {text: done[text] if text in done else normaliser(text) for text in distinct}


class Containment(NamedTuple):
    """A rule by which a text holds an answer: `holds(prepare(text), prepare(answer))`.

    prepare: makes a text or an answer comparable; texts that are needed often are prepared once.
    whole_tokens: whether the answer's tokens must follow each other among those of the text, so
        that `us` is not in `focus`.
    """

    prepare: Step
    whole_tokens: bool = False

    def holds(self, text: str, answer: str) -> bool:
        """Whether the text holds the answer, both prepared; an answer of nothing is in every text,
        as in the sources.
        """
        if self.whole_tokens:
            return not answer or f" {answer} " in f" {text} "
        return answer in text


CONTAINMENTS: Mapping[str, Containment] = {
    # DPR's has_answer, Karpukhin and others 2020.
    "dpr": Containment(NORMALIZERS["dpr"], whole_tokens=True),
    "kilt": Containment(NORMALIZERS["squad"]),  # KILT's answer in context, Petroni and others 2021
    "lower": Containment(str.lower),  # Haystack's EvalDocuments 2021, PIAF's open domain
    "raw": Containment(str),  # Haystack 1's answer_match 2022
}


def containment(name: str) -> Containment:
    """The rule of this name by which a text holds an answer. Raises UnknownName."""
    if name not in CONTAINMENTS:
        raise UnknownName(
            f"no rule for answers in texts is called {name!r}; known are {', '.join(CONTAINMENTS)}."
        )
    return CONTAINMENTS[name]


TextSimilarity = Literal["levenshtein", "hamming", "jaro", "jaro-winkler", "words"]
_WORD = re.compile(r"\w+")


@cache
def similarity_of(name: TextSimilarity) -> Callable[[str, str], float]:
    """The similarity of a name.

    levenshtein, hamming, jaro, jaro-winkler: 1 less the normalised distance of rapidfuzz (Bachmann
    2020). words: F1 of the words that both texts have, each as often as in either, in lower case,
    as SQuAD's (Rajpurkar and others 2016), but with articles. Raises MissingExtra without
    rapidfuzz.
    """
    if name == "words":
        return word_f1
    with needing(
        f"the similarity {name} needs rapidfuzz: pip install 'rankwell[rag]', or take words."
    ):
        from rapidfuzz import distance
    kinds = {
        "levenshtein": distance.Levenshtein,
        "hamming": distance.Hamming,
        "jaro": distance.Jaro,
        "jaro-winkler": distance.JaroWinkler,
    }
    distance_of = kinds[name].normalized_distance
    return lambda left, right: 1 - distance_of(left, right)


def word_f1(text: str, other_text: str) -> float:
    """2 · shared words / all words of both texts; 1 for two texts without words."""
    first, second = _words(text), _words(other_text)
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 1.0


@lru_cache(maxsize=1 << 12)
def _words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.lower()))
