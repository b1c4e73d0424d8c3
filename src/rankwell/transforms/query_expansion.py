"""Query expansion: a query is searched again together with what it found."""

from dataclasses import replace

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
