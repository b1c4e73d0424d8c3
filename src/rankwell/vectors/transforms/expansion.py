"""Expansion: a query or a reference is replaced by the mean of itself and of its neighbours."""

from dataclasses import replace

import numpy as np

from rankwell.errors import BadUsage
from rankwell.vectors.transforms import (
    Descriptors,
    check_whole,
    transform,
    unit_rows,
    with_neighbours,
)


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
    queries = unit_rows(descriptors.queries, "queries")
    return replace(
        descriptors,
        queries=with_neighbours(
            queries, descriptors, descriptors.same, k, alpha, "expanded queries"
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
    rows = np.arange(len(references), dtype=np.int64)
    return replace(
        descriptors,
        references=with_neighbours(references, descriptors, rows, k, alpha, "augmented references"),
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
