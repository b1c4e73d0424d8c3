"""Latent semantic analysis: weighted counts of words, cut down by a singular value decomposition.
Needs NumPy alone.

Source: Deerwester et al. 1990; the randomised decomposition is algorithm 4.4 of Halko, Martinsson
and Tropp 2011.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np

from rankwell.data.tables import (
    Floats,
    Ints,
    offsets_from_rows,
    positions_by_id,
    segment_of_row,
    segment_offsets,
)
from rankwell.errors import BadInput, BadUsage, count_of, flag
from rankwell.vectors.encoders import Settings, Singles, encoder, hash_all, unit_length

_WORD = re.compile(r"\w\w+")
_EXACT_BELOW = 1500
_EXTRA, _POWERS = 10, 4
_PIECE = 1 << 21


@dataclass(frozen=True, eq=False)
class TfidfSvd:
    """Encodes texts by their words: term frequency times smoothed inverse document frequency, in
    rows of length one, projected on the strongest axes of a corpus.

    dimensions: number of axes to keep.
    min_texts: number of texts from which on a word counts.
    max_words: largest number of words, of which those in the most texts are kept.
    normalize: whether vectors have length one.
    seed: seed of the randomised decomposition, which is used where texts and words are both more
        than 1,500.
    words: word -> its column, in sorted order; empty before `fit`.
    rarity: (words,) the smoothed inverse document frequency of each; None before `fit`.
    axes: (words, dimensions) axes, the strongest first; None before `fit`.
    fitted_on: SHA-256 of the corpus; "" before `fit`.

    A text without a known word has a zero vector. Words are runs of two or more letters, digits and
    `_`, in lower case.

    >>> corpus = [
    ...     "the cat sat",
    ...     "the dog sat",
    ...     "a cat and a dog",
    ...     "stocks fell sharply",
    ...     "stocks rose",
    ... ]
    >>> vectors = TfidfSvd(dimensions=2).fit(corpus).encode(["cat dog", "stocks"])
    >>> vectors.shape, bool(abs(vectors[0] @ vectors[1]) < 1e-6)
    ((2, 2), True)
    """

    dimensions: int = 256
    min_texts: int = 2
    max_words: int = 50_000
    normalize: bool = True
    seed: int = 0
    words: Mapping[str, int] = field(default_factory=dict)
    rarity: Floats | None = None
    axes: Floats | None = None
    fitted_on: str = ""

    def fit(self, texts: Sequence[str]) -> Self:
        """The encoder with the words and axes of a corpus. Raises BadInput where the corpus has
        fewer axes than requested.
        """
        counted = [Counter(_WORD.findall(text.lower())) for text in texts]
        frequency = Counter(word for words in counted for word in words)
        common = [word for word, n_texts in frequency.items() if n_texts >= self.min_texts]
        common.sort(key=lambda word: (-frequency[word], word))
        vocabulary = sorted(common[: self.max_words])
        words = positions_by_id(vocabulary)
        counts = np.array([frequency[word] for word in vocabulary], dtype=np.float64)
        rarity = np.log((1 + len(texts)) / (1 + counts)) + 1
        most = min(len(texts), len(vocabulary))
        if self.dimensions > most:
            raise BadInput(
                f"{count_of(len(texts), 'text')} with {count_of(len(vocabulary), 'word')} in "
                f"{self.min_texts} of them or more: at most {count_of(most, 'axis', 'axes')}, "
                f"fewer than the {self.dimensions} requested; "
                "request fewer or give more texts."
            )
        from threadpoolctl import threadpool_limits

        # Sums of several threads differ in their last bits, and workers of an executor have fewer.
        with threadpool_limits(1, user_api="blas"):
            axes = _axes(_weighed(counted, words, rarity), self.dimensions, self.seed)
        return replace(self, words=words, rarity=rarity, axes=axes, fitted_on=hash_all(texts))

    def encode(self, texts: Sequence[str]) -> Singles:
        """One vector per text, the same whatever other texts are given. Raises BadUsage before
        `fit`.
        """
        rarity, axes = self._fitted()
        vectors = _weighed(
            [Counter(_WORD.findall(text.lower())) for text in texts], self.words, rarity
        ).times(axes)
        return unit_length(vectors) if self.normalize else vectors.astype(np.float32)

    def _fitted(self) -> tuple[Floats, Floats]:
        if self.rarity is None or self.axes is None:
            raise BadUsage(
                f"tfidf-svd has no words yet; fit it to a corpus first ({flag('--fit')})."
            )
        return self.rarity, self.axes

    def describe(self) -> dict[str, Any]:
        """The settings, the number of words, the hash of the corpus, and NumPy's version. Raises
        BadUsage before `fit`.
        """
        self._fitted()
        return {
            "family": "tfidf-svd",
            "model": f"tfidf-svd:{self.dimensions}",
            **{
                name: getattr(self, name)
                for name in ("dimensions", "min_texts", "max_words", "normalize", "seed")
            },
            "words": len(self.words),
            "fitted_on": self.fitted_on,
            "versions": {"numpy": np.__version__},
        }


@encoder("tfidf-svd")
def load(model: str, settings: Settings) -> TfidfSvd:
    """Words weighted by TF-IDF, cut down by a singular value decomposition of your texts (latent
    semantic analysis); `tfidf-svd:128` has 128 dimensions, without a number 256.

    Raises BadUsage for anything but a positive integer.
    """
    if model and not re.fullmatch(r"[1-9]\d*", model):
        raise BadUsage(
            f"tfidf-svd:{model}; expected the number of dimensions, as in tfidf-svd:128."
        )
    if settings.device is not None:
        raise BadUsage("tfidf-svd computes with NumPy on the CPU; leave the device out.")
    return TfidfSvd(
        settings.dimensions or int(model or 256),
        normalize=settings.normalize is not False,
        seed=settings.seed or 0,
    )


class _Sparse(NamedTuple):
    """A matrix by rows, in which most numbers are zero.

    offsets: (rows + 1,) where the numbers of each row begin.
    columns, values: (numbers,) column and value of every number that is not zero, columns ascending
        in a row.
    width: number of columns.
    """

    offsets: Ints
    columns: Ints
    values: Floats
    width: int

    def times(self, dense: Floats) -> Floats:
        """The product with a dense matrix (width, k); each row is summed in the order of its
        columns.
        """
        rows, first = len(self.offsets) - 1, 0
        product = np.zeros((rows, dense.shape[1]))
        while first < rows:
            # Rows whose terms fit the cache together; one row at least.
            last = (
                int(
                    np.searchsorted(
                        self.offsets,
                        self.offsets[first] + max(1, _PIECE // dense.shape[1]),
                        side="right",
                    )
                )
                - 1
            )
            last = min(max(last, first + 1), rows)
            start, stop = self.offsets[first], self.offsets[last]
            terms = dense[self.columns[start:stop]]
            terms *= self.values[start:stop, None]
            filled = first + np.flatnonzero(np.diff(self.offsets[first : last + 1]))
            if len(filled):
                # reduceat on an empty segment returns the next row instead of 0, so empty rows are
                # left out and stay 0.
                product[filled] = np.add.reduceat(terms, self.offsets[filled] - start, axis=0)
            first = last
        return product

    def turned(self) -> "_Sparse":
        """The matrix with rows and columns exchanged."""
        order = np.argsort(self.columns, kind="stable")
        rows, offsets = segment_of_row(self.offsets), offsets_from_rows(self.columns, self.width)
        return _Sparse(offsets, rows[order], self.values[order], len(self.offsets) - 1)


def _weighed(
    counted: Sequence[Mapping[str, int]], words: Mapping[str, int], rarity: Floats
) -> _Sparse:
    """Counts times rarity, each row of length one."""
    rows = [
        sorted((words[word], count) for word, count in counts.items() if word in words)
        for counts in counted
    ]
    offsets = segment_offsets(np.array([len(row) for row in rows], dtype=np.int64))
    flat = np.array([pair for row in rows for pair in row], dtype=np.int64).reshape(-1, 2)
    values = flat[:, 1] * rarity[flat[:, 0]]
    row_of = segment_of_row(offsets)
    lengths = np.sqrt(np.bincount(row_of, weights=values**2, minlength=len(rows)))
    return _Sparse(offsets, flat[:, 0], values / lengths[row_of], len(words))


def _axes(matrix: _Sparse, dimensions: int, seed: int) -> Floats:
    """The strongest right singular vectors, in columns, each with its largest entry positive."""
    small = min(len(matrix.offsets) - 1, matrix.width) <= _EXACT_BELOW
    axes = _exact_axes(matrix, dimensions) if small else _random_axes(matrix, dimensions, seed)
    return axes * np.where(axes[np.abs(axes).argmax(axis=0), np.arange(dimensions)] < 0, -1.0, 1.0)


def _exact_axes(matrix: _Sparse, dimensions: int) -> Floats:
    """From the products of all pairs of rows, or of all pairs of columns, whichever are fewer."""
    turned = matrix.turned()
    narrow, wide = (matrix, turned) if turned.width <= matrix.width else (turned, matrix)
    energies, vectors = np.linalg.eigh(narrow.times(wide.times(np.eye(wide.width))))
    energies, vectors = energies[::-1][:dimensions], vectors[:, ::-1][:, :dimensions]
    rank = int((energies > energies[0] * len(vectors) * np.finfo(np.float64).eps).sum())
    if rank < dimensions:
        raise BadInput(
            f"the corpus has {rank} different directions, fewer than the {dimensions} "
            "dimensions requested; request fewer."
        )
    return vectors if narrow is turned else turned.times(vectors) / np.sqrt(energies)


def _random_axes(matrix: _Sparse, dimensions: int, seed: int) -> Floats:
    """From the range that some random directions, multiplied a few times, are drawn to."""
    turned = matrix.turned()
    width = min(dimensions + _EXTRA, matrix.width, len(matrix.offsets) - 1)
    generator = np.random.Generator(np.random.PCG64(seed))
    basis = matrix.times(generator.standard_normal((matrix.width, width)))
    for _ in range(_POWERS):
        basis = matrix.times(np.linalg.qr(turned.times(np.linalg.qr(basis).Q)).Q)
    return np.linalg.svd(turned.times(np.linalg.qr(basis).Q), full_matrices=False).U[:, :dimensions]
