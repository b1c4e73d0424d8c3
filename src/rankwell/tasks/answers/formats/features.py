"""The features by which a form of documents is recognised."""

from collections.abc import Callable

from rankwell.io.records import Content


def has(*patterns: str, sure: float = 0.95) -> Callable[[Content], float]:
    """The confidence `sure` for a document with the features of any pattern, else 0.

    A pattern is a list of features: `key` (of the first records), `key[]` (its first value is a
    list), `*.key` (of the values
    of an object), `a|b` (either), `!a` (absent), `form=table`, `[]` and `{}` (a list, an object),
    `no-header`.
    """
    alternatives = [[word.split("|") for word in pattern.split()] for pattern in patterns]

    def _fits(content: Content) -> float:
        features = content.features
        met = [
            all(
                any((word[0] == "!") != (word.lstrip("!") in features) for word in words)
                for words in pattern
            )
            for pattern in alternatives
        ]
        return sure if any(met) else 0.0

    return _fits
