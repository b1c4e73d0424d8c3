"""PCA whitening: directions in which all descriptors vary a lot are penalised."""

from dataclasses import replace

import numpy as np

from rankwell.data.tables import Floats
from rankwell.errors import BadInput, BadUsage
from rankwell.vectors.transforms import (
    Descriptors,
    Matrix,
    check_whole,
    row_ranges,
    transform,
    unit_rows,
)

_VARIES = 1e-9
"""The variance below which a direction is rounding, as a share of the largest."""


@transform(
    "whitening",
    transductive="gallery",
    source="Jégou and Chum 2012, Negative evidences and co-occurences in image retrieval: the "
    "benefit of PCA and whitening",
    works_on="descriptors",
    learns=True,
)
def whitening(descriptors: Descriptors, *, dimensions: int = 0, power: float = 0.5) -> Descriptors:
    """Vectors less their mean, in their principal directions, each divided by its variance to a
    power; all of length 1 again.

    Mean and directions are learnt on `learn`, or on the references where that is None; queries
    never enter. dimensions: how many of the first directions are kept, 0 for all that vary. power:
    0.5 whitens, 0 only rotates (PCA). What is learnt on fewer vectors than dimensions keeps one
    direction less than there are vectors.
    Raises BadUsage for dimensions that the vectors do not have or a negative power; BadInput for
    fewer than two different vectors to learn from, and for a vector that lies on their mean and so
    has no direction left.

    >>> import numpy as np
    >>> from rankwell.vectors.neighbours import search
    >>> descriptors = Descriptors(
    ...     np.array([[1.0, 0.1]]), np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), search
    ... )
    >>> whitened = whitening(descriptors)
    >>> bool(
    ...     np.allclose(
    ...         (whitened.references @ whitened.references.T),
    ...         [[1, -0.5, -0.5], [-0.5, 1, -0.5], [-0.5, -0.5, 1]],
    ...     )
    ... )
    True
    """
    dimensions = check_whole("dimensions", dimensions, least=0)
    if not 0 <= power < float("inf"):
        raise BadUsage(f"power={power!r}: expected a finite number from 0.")
    references, to_learn = unit_rows(descriptors.references, "references"), "vectors to learn from"
    learn = references if descriptors.learn is None else unit_rows(descriptors.learn, to_learn)
    mean, directions, variances = _principal(learn, descriptors.learnt_on)
    if dimensions > len(variances):
        raise BadUsage(
            f"dimensions={dimensions}: {len(learn)} vectors of {descriptors.learnt_on} with "
            f"{learn.shape[1]} dimensions "
            f"vary in {len(variances)} directions; ask for that many at most."
        )
    leading = slice(0, dimensions or len(variances))
    matrix = directions[:, leading] * variances[leading] ** -power

    def _moved(vectors: Matrix, name: str) -> Matrix:
        whitened = np.empty((len(vectors), matrix.shape[1]))
        for rows in row_ranges(vectors):
            np.matmul(vectors[rows] - mean, matrix, out=whitened[rows])
        return unit_rows(whitened, f"whitened {name}").astype(vectors.dtype)

    queries = unit_rows(descriptors.queries, "queries")
    return replace(
        descriptors,
        queries=_moved(queries, "queries"),
        references=_moved(references, "references"),
        learn=None if descriptors.learn is None else _moved(learn, to_learn),
    )


def _principal(vectors: Matrix, name: str) -> tuple[Floats, Floats, Floats]:
    """The mean (d,), the directions in columns (d, m) and their variances (m,), falling; only
    directions that vary.
    """
    mean, square = np.zeros(vectors.shape[1]), np.zeros((vectors.shape[1],) * 2)
    for rows in row_ranges(vectors):
        mean += vectors[rows].sum(axis=0, dtype=np.float64)
    mean /= len(vectors)
    for rows in row_ranges(vectors):
        block = vectors[rows] - mean
        square += block.T @ block
    values, columns = np.linalg.eigh(square / max(len(vectors) - 1, 1))
    values, columns = values[::-1], columns[:, ::-1]
    count = min(len(vectors) - 1, int(np.count_nonzero(values > max(values[0], 0.0) * _VARIES)))
    if count < 1 or values[0] < _VARIES**2:
        raise BadInput(
            f"{name}: {len(vectors)} vectors that do not differ; whitening is learnt on at "
            "least two different ones."
        )
    return mean, columns[:, :count], values[:count]
