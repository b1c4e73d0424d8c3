"""hgr_v2t's `eval_q2m` under its own name and with its own results, from counts in place of sorted
rows.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from rankwell._native.matrix_counts import ComparedScores
from rankwell.data.options import own_arithmetic
from rankwell.io.matrices import read_scores
from rankwell.io.positives import Sides, read_positives


@own_arithmetic
def eval_q2m(scores: Any, q2m_gts: Any) -> tuple[float, float, float, float, float]:
    """R@1, R@5 and R@10 in percent, the median and the mean rank of each query's best positive,
    ranks from 1.

    scores: (queries, memory), a NumPy array, a tensor of any device, or lists. q2m_gts: the
    positives of each query, by position, in lists, arrays or a mapping from its position; one alone
    may stand for its list. A query whose list is empty has the rank n + 1 of n items, and so misses
    at every K that they reach. Of equal scores the lower position comes first, where the source's
    unstable sort leaves it open.
    Raises BadInput and BadScore where the source would crash or count what is wrong.
    Source: Chen and others 2020, hgr_v2t, t2vretrieval/models/evaluation.py.

    >>> eval_q2m([[0.9, 0.1], [0.8, 0.3]], [[0], [1]])
    (50.0, 100.0, 100.0, 1.5, 1.5)
    """
    table = read_scores(scores)
    positives = read_positives(_lists(q2m_gts), Sides(table.query_names, table.item_names))
    counts = ComparedScores(table).count(positives, transposed=False, best=True)
    ranks = np.full(positives.n_queries, table.matrix.shape[1] + 1, dtype=np.int64)
    np.minimum.at(ranks, positives.owner[counts.positions], counts.above + counts.before + 1)
    r1, r5, r10 = (100.0 * int(np.count_nonzero(ranks <= k)) / len(ranks) for k in (1, 5, 10))
    return r1, r5, r10, float(np.median(ranks)), float(ranks.mean())


def _lists(q2m_gts: Any) -> Any:
    """The positives of each query, none twice: a list may name one twice, which changes no rank."""
    if isinstance(q2m_gts, Mapping):
        mapping: Mapping[Any, Any] = q2m_gts
        return {query: _once(positives) for query, positives in mapping.items()}
    return [
        _once(positives)
        for positives in (q2m_gts.tolist() if hasattr(q2m_gts, "tolist") else q2m_gts)
    ]


def _once(positives: Any) -> list[Any]:
    values: Any = positives.tolist() if hasattr(positives, "tolist") else positives
    return (
        list(dict.fromkeys(values))
        if isinstance(values, Iterable) and not isinstance(values, str)
        else [values]
    )
