"""Similarities of two texts by name, from 0 to 1; those of strings are rapidfuzz's, as in RAGAS."""

import re
from collections import Counter
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Literal

from rankwell.errors import MissingExtra

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
    try:
        from rapidfuzz import distance
    except ImportError as error:
        raise MissingExtra(
            f"the similarity {name} needs rapidfuzz: pip install 'rankwell[rag]', or take words."
        ) from error
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
