"""hgr_v2t's `eval_q2m` under its own name and with its own results, from counts in place of sorted rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwell.errors import NothingToEvaluate
from rankwell.files.positives import Sides, read_positives
from rankwell.files.scores import read_scores
from rankwell.kernels.matrix_counts import Side, count


def eval_q2m(scores: Any, q2m_gts: Sequence[Sequence[int]]) -> tuple[float, float, float, float, float]:
    """R@1, R@5 and R@10 in percent, the median and the mean rank of each query's best positive, ranks from 1.

    scores: (queries, memory), a NumPy array, a tensor of any device, or lists. q2m_gts: the positives of each query, by position.
    A query whose list is empty misses at every K and has the rank n + 1. Of equal scores the lower position comes first, where
    the source's unstable sort leaves it open. Raises BadInput and BadScore where the source would crash or count what is wrong.
    Source: Chen and others 2020, hgr_v2t, t2vretrieval/models/evaluation.py.

    >>> eval_q2m([[0.9, 0.1], [0.8, 0.3]], [[0], [1]])
    (50.0, 100.0, 100.0, 1.5, 1.5)
    """
    table = read_scores(scores)
    # A list may name a positive twice, which changes no rank.
    lists = [sorted(set(map(int, each))) for each in q2m_gts]
    if not any(lists):
        raise NothingToEvaluate("no query has a positive; name at least one.")
    positives = read_positives(lists, Sides(table.query_names, table.item_names))
    counts = count(Side(table, None, down=False), positives, best=True)
    ranks = np.full(positives.n_queries, table.matrix.shape[1] + 1, dtype=np.int64)
    np.minimum.at(ranks, positives.owner[counts.pairs], counts.above + counts.before + 1)
    r1, r5, r10 = (100.0 * int(np.count_nonzero(ranks <= k)) / len(ranks) for k in (1, 5, 10))
    return r1, r5, r10, float(np.median(ranks)), float(ranks.mean())
