"""The counted queries, and the names of the counts that results report."""

from collections.abc import Callable, Sequence

import numpy as np

from rankwell.core.tables import Bools
from rankwell.errors import BadInput

QUERIES_COUNTED = "queries_counted"
QUERIES_MISSING = "queries_missing"
QUERIES_UNKNOWN = "queries_unknown"
QUERIES_WITHOUT_RELEVANT = "queries_without_relevant"
QUERIES_TIED = "queries_tied"
QUERIES_MASKED = "queries_masked"
QUERIES_BEST_TIED = "queries_best_relevant_tied"


def counted_queries(
    queries: Sequence[str], bare: Bools, no_relevant: str, *, considered: Bools | None = None, refuse: Callable[[str, int], str]
) -> Bools:
    """(queries,) whether each query counts.

    bare: (queries,) those without anything relevant. no_relevant: `empty` counts them, `skip` leaves them out, `error` refuses
    them. considered: (queries,) those that may count, None for all. refuse: the message for the first bare query and how many
    there are. Raises BadInput under `error`.
    """
    if no_relevant == "error" and bare.any():
        raise BadInput(refuse(queries[int(np.flatnonzero(bare)[0])], int(bare.sum())))
    counted = np.ones(len(bare), dtype=np.bool_) if considered is None else considered.copy()
    return counted & ~bare if no_relevant == "skip" else counted
