"""Expansion: a query or a reference is replaced by the mean of itself and of its neighbours."""

from dataclasses import replace

import numpy as np

from rankwell.transforms import Descriptors, transform, unit_rows, with_neighbours


@transform(
    "query-expansion",
    transductive="gallery",
    source="Radenović and others 2019, Fine-tuning CNN image retrieval with no human annotation (αQE)",
    works_on="descriptors",
)
def query_expansion(given: Descriptors, *, k: int = 10, alpha: float = 3.0) -> Descriptors:
    """Each query plus its k nearest references, each times its cosine to the power alpha, or 0 where that is negative.

    The query itself has the weight 1, and where it is among the references it is not found a second time. alpha=0 is the plain
    average (AQE), which takes every reference with a positive cosine alike. Each query is expanded on its own: other queries do
    not matter, the gallery does. With fewer than k references, all. Vectors have length 1 before and after.
    Raises BadUsage for k below 1 or alpha below 0, BadInput for a vector without a direction.

    >>> import numpy as np
    >>> from rankwell.neighbours import search
    >>> given = Descriptors(np.array([[1.0, 0.0]]), np.array([[0.8, 0.6], [0.0, 1.0]]), search)
    >>> query_expansion(given, k=1, alpha=1.0).queries.round(3).tolist()
    [[0.96, 0.281]]
    """
    queries = unit_rows(given.queries, "queries")
    return replace(given, queries=with_neighbours(queries, given, given.same, k, alpha, "expanded queries"))


@transform(
    "database-augmentation",
    transductive="gallery",
    source="Arandjelović and Zisserman 2012, Three things everyone should know to improve object retrieval; weights of αQE as in "
    "Radenović and others 2019",
    works_on="descriptors",
)
def database_augmentation(given: Descriptors, *, k: int = 10, alpha: float = 3.0) -> Descriptors:
    """Each reference plus its k nearest others, each times its cosine to the power alpha, or 0 where that is negative.

    The reference itself has the weight 1. alpha=0 takes every neighbour with a positive cosine alike. No label is looked at: the
    averages over references of one instance that some papers call by this name are another, supervised, thing.
    Queries are searched as they are. With fewer than k others, all. Vectors have length 1 before and after.
    Raises BadUsage for k below 1 or alpha below 0, BadInput for a vector without a direction.

    >>> import numpy as np
    >>> from rankwell.neighbours import search
    >>> given = Descriptors(np.array([[1.0, 0.0]]), np.array([[0.8, 0.6], [0.0, 1.0]]), search)
    >>> database_augmentation(given, k=1, alpha=1.0).references.round(3).tolist()
    [[0.555, 0.832], [0.333, 0.943]]
    """
    references = unit_rows(given.references, "references")
    rows = np.arange(len(references), dtype=np.int64)
    return replace(given, references=with_neighbours(references, given, rows, k, alpha, "augmented references"))
