"""The randomised Tukey HSD test: which of several systems differ, with one false finding at the level over all pairs of them."""

import numpy as np

from rankwell.core.tables import Floats
from rankwell.errors import BadInput
from rankwell.stats import on_exact_grid

_PIECE = 1 << 19


def randomised_tukey_hsd(
    values: Floats, *, resamples: int = 10_000, seed: int = 0, block: int | None = None
) -> tuple[Floats, Floats]:
    """(systems, systems) differences of means, row less column, and their p-values, 1 on the diagonal.

    A resample shuffles the systems' values within every query; p is the share of resamples, the observed values counting as one,
    whose largest mean lies as far above their smallest as the two means lie apart. values: (queries, systems) finite, at least
    one query. Results do not depend on `block`, the resamples worked on at once. Raises BadInput for fewer than two systems.
    Source: Carterette 2012, Multiple testing in statistical analysis of systems-based information retrieval experiments.
    """
    n, systems = values.shape
    if systems < 2 or not n:
        raise BadInput(f"{n} queries of {systems} systems; the test compares two systems or more on the same queries.")
    table = on_exact_grid(values)
    generator = np.random.Generator(np.random.PCG64(seed))
    size = min(resamples, block or max(1, _PIECE // table.size))
    ranges = np.empty(resamples)
    for start in range(0, resamples, size):
        here = min(size, resamples - start)
        rows = np.broadcast_to(table, (here, n, systems)).reshape(here * n, systems)
        sums = generator.permuted(rows, axis=1).reshape(here, n, systems).sum(axis=1)
        ranges[start : start + here] = sums.max(axis=1) - sums.min(axis=1)
    ranges.sort()
    sums = table.sum(axis=0)
    apart = sums[:, None] - sums[None, :]
    # Means that are equal as decimals may differ in their last bits.
    slack = 1e-12 * np.abs(table).sum()
    beyond = resamples - np.searchsorted(ranges, np.abs(apart) - slack, side="left")
    p = (1 + beyond) / (1 + resamples)
    np.fill_diagonal(p, 1.0)
    return apart / n, p
