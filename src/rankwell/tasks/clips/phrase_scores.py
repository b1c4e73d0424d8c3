"""How well phrases fit labels: the cosine of the wholes, how their words find each other, and both again in other phrasings."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rankwell.core.tables import Floats, Ints
from rankwell.errors import BadInput, BadScore
from rankwell.tasks.clips.clauses import ClauseWords, content_words

Encode = Callable[[list[str]], Any]
ALIGNED = 0.35
"""The weight of the words beside the whole."""
RECALL = 0.75
"""Of that, the weight of the label's words beside the phrase's: a label that claims more than was said must lose."""
PHRASINGS = ("a {}", "a photo of a {}", "a video of a {}")


class Scores(NamedTuple):
    """plain: (phrases, labels) how well they fit as they stand. rephrased: the same, where the wholes stand in `PHRASINGS`."""

    plain: Floats
    rephrased: Floats


class Labels:
    """Labels that phrases are compared with; each is encoded once, when it is first needed.

    encode: texts -> (texts, dimensions). Raises BadInput for vectors of another shape, BadScore for vectors that are not finite.
    """

    def __init__(self, labels: Sequence[str], encode: Encode) -> None:
        self._labels, self._encode = list(labels), encode
        self._words = [content_words(label) for label in labels]
        self._column = {word: place for place, word in enumerate(dict.fromkeys(word for own in self._words for word in own))}
        self._columns: list[Ints] = [np.array([self._column[word] for word in own]) for own in self._words]
        self._weights = word_weights(self._words)

    def cosines(self, phrases: Sequence[str]) -> Floats:
        """(phrases, labels) the cosine similarity of each phrase with each label; 0 where a vector is zero."""
        return (self._vectors(phrases) @ self._whole.T).round(6)

    def scores(self, words: ClauseWords, spans: Sequence[tuple[int, int]]) -> Scores:
        """How well spans of a text's words fit each label; words are taken in the singular."""
        folded = [token.word for token in words.tokens]
        texts = [" ".join(folded[start:end]) for start, end in spans]
        single = list(dict.fromkeys(folded))
        vectors = self._vectors([*texts, *single, *(form.format(text) for form in PHRASINGS for text in texts)])
        whole, rest = vectors[: len(texts)], vectors[len(texts) :]
        row = {word: place for place, word in enumerate(single)}
        said = [
            np.array([row[folded[place]] for place in range(start, end) if words.content[place]], dtype=np.int64)
            for start, end in spans
        ]
        near = rest[: len(single)] @ self._single.T
        for word in row.keys() & self._column.keys():
            near[row[word], self._column[word]] = 1.0
        aligned = aligned_words(near, said, self._columns, self._weights)
        varied = rest[len(single) :].reshape(len(PHRASINGS), len(texts), -1)
        rephrased = np.mean([one @ other.T for one, other in zip(varied, self._phrased, strict=True)], axis=0)
        mixed = [(1 - ALIGNED) * each + ALIGNED * aligned for each in (whole @ self._whole.T, rephrased)]
        # The last bits of a vector depend on which texts the encoder was given together.
        return Scores(mixed[0].round(6), mixed[1].round(6))

    @cached_property
    def _whole(self) -> Floats:
        return self._check(self._labels)

    @cached_property
    def _single(self) -> Floats:
        return self._check(list(self._column))

    @cached_property
    def _phrased(self) -> list[Floats]:
        readable = [label.replace("_", " ") for label in self._labels]
        return [self._check([form.format(label) for label in readable]) for form in PHRASINGS]

    def _vectors(self, texts: Sequence[str]) -> Floats:
        vectors = self._check(list(texts))
        if vectors.shape[1] != self._whole.shape[1]:
            what = f"the encoder gives {vectors.shape[1]} dimensions, for the labels {self._whole.shape[1]}"
            raise BadInput(f"{what}; all vectors have the same number.")
        return vectors

    def _check(self, texts: list[str]) -> Floats:
        """(texts, dimensions) vectors of length one; zero stays zero."""
        try:
            vectors = np.asarray(self._encode(texts), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise BadInput(f"the encoder's answer to {len(texts)} texts is no table of numbers ({error}).") from error
        if vectors.ndim != 2 or len(vectors) != len(texts) or vectors.shape[1] == 0:
            what = f"the encoder gives an array of shape {vectors.shape} for {len(texts)} texts"
            raise BadInput(f"{what}; (texts, dimensions) is wanted, a row per text.")
        bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        if len(bad):
            raise BadScore(f"the encoder gives {texts[int(bad[0])]!r} a vector with NaN or infinity; finite numbers are wanted.")
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.where(lengths > 0, lengths, 1.0)


def word_weights(labels: Sequence[Sequence[str]]) -> list[Floats]:
    """For each label the weights of its words, their sum 1: log(1 + labels / labels with it), as a common word says less."""
    having = Counter(word for words in labels for word in set(words))
    raw = [np.array([math.log(1 + len(labels) / having[word]) for word in words]) for words in labels]
    return [each / each.sum() for each in raw]


def aligned_words(near: Floats, phrases: Sequence[Ints], labels: Sequence[Ints], weights: Sequence[Floats]) -> Floats:
    """(phrases, labels) how well the words of each find a counterpart in the other, from -1 to 1.

    near: (words of the text, words of the labels) cosines, 1 for the same word. phrases, labels: rows and columns of `near`.
    Each word takes its best counterpart; the label's words count `RECALL` by their weights, the phrase's the rest, evenly.
    """
    found = np.zeros((len(phrases), len(labels)))
    for row, places in enumerate(phrases):
        part = near[places]
        best = part.max(axis=0)
        for column, own in enumerate(labels):
            recall, precision = float(best[own] @ weights[column]), float(part[:, own].max(axis=1).mean())
            found[row, column] = RECALL * recall + (1 - RECALL) * precision
    return found
