"""Descriptors to others. Whitening: directions in which all descriptors vary a lot are penalised.
Expansion: a query or a reference is replaced by the mean of itself and of its neighbours.
"""

from dataclasses import replace

import numpy as np

from rankwell.data.tables import Floats
from rankwell.errors import BadInput, BadUsage
from rankwell.vectors.transforms import (
    Descriptors,
    Matrix,
    check_finite,
    check_whole,
    row_ranges,
    transform,
    unit_rows,
    with_neighbours,
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
    check_finite("power", power)
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

    return replace(
        descriptors,
        queries=_moved(unit_rows(descriptors.queries, "queries"), "queries"),
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


@transform(
    "query-expansion",
    transductive="gallery",
    source="Radenović and others 2019, Fine-tuning CNN image retrieval with no human "
    "annotation (αQE)",
    works_on="descriptors",
)
def query_expansion(descriptors: Descriptors, *, k: int = 10, alpha: float = 3.0) -> Descriptors:
    """Each query plus its k nearest references, each times its cosine to the power alpha, or 0
    where that is negative.

    The query itself has the weight 1, and where it is among the references it is not found a second
    time. alpha=0 is the plain average (AQE), which takes every reference with a positive cosine
    alike. Each query is expanded on its own: other queries do not matter, the gallery does. With
    fewer than k references, all. Vectors have length 1 before and after.
    Raises BadUsage for k below 1 or alpha below 0, BadInput for a vector without a direction.

    >>> import numpy as np
    >>> from rankwell.vectors.neighbours import search
    >>> descriptors = Descriptors(
    ...     np.array([[1.0, 0.0]]), np.array([[0.8, 0.6], [0.0, 1.0]]), search
    ... )
    >>> query_expansion(descriptors, k=1, alpha=1.0).queries.round(3).tolist()
    [[0.96, 0.281]]
    """
    return replace(
        descriptors,
        queries=with_neighbours(
            unit_rows(descriptors.queries, "queries"),
            descriptors,
            descriptors.same,
            k,
            alpha,
            "expanded queries",
        ),
    )


@transform(
    "database-augmentation",
    transductive="gallery",
    source="Arandjelović and Zisserman 2012, Three things everyone should know to improve object "
    "retrieval; weights of αQE as in Radenović and others 2019",
    works_on="descriptors",
)
def database_augmentation(
    descriptors: Descriptors, *, k: int = 10, alpha: float = 3.0
) -> Descriptors:
    """Each reference plus its k nearest others, each times its cosine to the power alpha, or 0
    where that is negative.

    The reference itself has the weight 1. alpha=0 takes every neighbour with a positive cosine
    alike. No label is looked at: the averages over references of one instance that some papers call
    by this name are another, supervised, thing.
    Queries are searched as they are. With fewer than k others, all. Vectors have length 1 before
    and after.
    Raises BadUsage for k below 1 or alpha below 0, BadInput for a vector without a direction.

    >>> import numpy as np
    >>> from rankwell.vectors.neighbours import search
    >>> descriptors = Descriptors(
    ...     np.array([[1.0, 0.0]]), np.array([[0.8, 0.6], [0.0, 1.0]]), search
    ... )
    >>> database_augmentation(descriptors, k=1, alpha=1.0).references.round(3).tolist()
    [[0.555, 0.832], [0.333, 0.943]]
    """
    references = unit_rows(descriptors.references, "references")
    return replace(
        descriptors,
        references=with_neighbours(
            references,
            descriptors,
            np.arange(len(references), dtype=np.int64),
            k,
            alpha,
            "augmented references",
        ),
    )


@transform(
    "instance-average",
    transductive="labels",
    source="Instance-Search, test/instance_avg.py, 2018, by the authors of the chapter on instance "
    "search",
    works_on="descriptors",
)
def instance_average(descriptors: Descriptors, *, k: int = 0) -> Descriptors:
    """Each reference plus the n nearest others of its instance, the j-th of them, from 0, times (n
    - j) / (n + 1).

    n is the number of the others, or k where that is smaller; 0 takes all. It looks at the labels
    of the references.
    Queries, and references without an instance, are searched as they are. Vectors have length 1
    before and after.
    Raises BadUsage for k below 0 and without labels, BadInput for a vector without a direction.

    >>> import numpy as np
    >>> from rankwell.vectors.neighbours import search
    >>> descriptors = Descriptors(
    ...     np.array([[1.0, 0.0]]), np.array([[0.8, 0.6], [0.0, 1.0]]), search, labels=["a", "a"]
    ... )
    >>> instance_average(descriptors).references.round(3).tolist()
    [[0.588, 0.809], [0.294, 0.956]]
    """
    k = check_whole("k", k, 0)
    if descriptors.labels is None:
        raise BadUsage(
            "instance-average needs the instances of the references; name a data set whose "
            "images have them."
        )
    references = unit_rows(descriptors.references, "references").astype(np.float64)
    summed, labels = references.copy(), np.array(descriptors.labels, dtype=object)
    for label in dict.fromkeys(label for label in descriptors.labels if label is not None):
        rows = np.flatnonzero(labels == label)
        n = min(k or len(rows) - 1, len(rows) - 1)
        cosine = references[rows] @ references[rows].T
        np.fill_diagonal(cosine, -np.inf)
        nearest = rows[np.argsort(-cosine, axis=1, kind="stable")[:, :n]]
        summed[rows] += np.einsum("j,ijd->id", (n - np.arange(n)) / (n + 1), references[nearest])
    return replace(
        descriptors,
        references=unit_rows(summed, "averaged references").astype(descriptors.references.dtype),
    )
