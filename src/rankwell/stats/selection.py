"""The gain of choosing the best of several settings: as it appears on the queries that chose, and
on queries left out.
"""

from typing import NamedTuple

import numpy as np

from rankwell.data.tables import Floats, Ints, exact_means
from rankwell.errors import BadInput


class SelectionGain(NamedTuple):
    """apparent: mean of the best setting less that of the baseline, over the queries that chose it.

    out_of_fold: (queries,) the same for each query, with the setting that the other folds chose.
    best: index of the setting that all queries choose. best_by_fold: (folds,) that of each fold,
    which was left out.
    """

    apparent: float
    out_of_fold: Floats
    best: int
    best_by_fold: Ints


def selection_gain(values: Floats, folds: Ints, baseline: int) -> SelectionGain:
    """The gain of the best of several settings over a baseline. Of equal means the first setting is
    the best.

    values: (queries, settings) finite, higher is better. folds: (queries,) the fold of each query.
    baseline: index of a setting. Raises BadInput for fewer than two folds.
    Source: Stone 1974, Cross-validatory choice and assessment of statistical predictions; Varma and
    Simon 2006 on the bias.
    """
    names, fold_index = np.unique(folds, return_inverse=True)
    if len(names) < 2:
        raise BadInput(
            f"{len(names)} folds of {len(folds)} queries; expected at least two, so that "
            "others choose for each."
        )
    means = exact_means(values)
    best = int(np.argmax(means))
    best_by_fold = np.array(
        [int(np.argmax(exact_means(values[fold_index != fold]))) for fold in range(len(names))],
        dtype=np.int64,
    )
    gains = values[np.arange(len(values)), best_by_fold[fold_index]] - values[:, baseline]
    return SelectionGain(float(means[best] - means[baseline]), gains, best, best_by_fold)
