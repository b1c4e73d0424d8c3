"""Several tests at once: corrections of p-values, fixed orders, the randomised Tukey HSD test,
letters of systems.
"""

from collections.abc import Sequence
from itertools import accumulate, combinations, product
from string import ascii_lowercase

import numpy as np

from rankwell.data.tables import Bools, Floats
from rankwell.errors import BadInput, BadUsage
from rankwell.stats import on_exact_grid


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values as they are after Holm's step-down correction, in the given order: at level α
    all that are at most α hold.

    The chance of even one wrong one among them is at most α, whatever the tests have in common.
    Each is at most 1, and never smaller than that of a smaller p-value. Raises BadUsage for a
    number that is not a probability.
    Source: Holm 1979, A simple sequentially rejective multiple test procedure.

    >>> holm([0.04, 0.01, 0.03])
    [0.06, 0.03, 0.06]
    """
    adjusted, reached = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(_ascending(p_values)):
        reached = max(reached, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = reached
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """The p-values as they are after Benjamini and Hochberg's step-up correction, in the given
    order.

    At level α all that are at most α hold, and on average no more than a share of α of them is
    wrong, where the tests are independent or positively dependent. Raises BadUsage for a number
    that is not a probability.
    Source: Benjamini and Hochberg 1995, Controlling the false discovery rate.

    >>> benjamini_hochberg([0.04, 0.01, 0.03])
    [0.04, 0.03, 0.04]
    """
    adjusted, reached = [0.0] * len(p_values), 1.0
    for rank, index in reversed(list(enumerate(_ascending(p_values)))):
        reached = min(reached, len(p_values) * p_values[index] / (rank + 1))
        adjusted[index] = reached
    return adjusted


def fixed_sequence(p_values: Sequence[float]) -> list[float]:
    """The p-values as they are after testing in a fixed order until the first failure: at level α
    all that are at most α hold.

    The chance of even one wrong one among them is at most α, without a correction, if the order
    does not depend on the values that are tested. Raises BadUsage for a number that is not a
    probability.
    Source: Maurer, Hothorn and Lehmacher 1995, Multiple comparisons in drug clinical trials, with
    a-priori ordered hypotheses.

    >>> fixed_sequence([0.01, 0.04, 0.02])
    [0.01, 0.04, 0.04]
    """
    _ascending(p_values)
    return list(accumulate(p_values, max))


def _ascending(p_values: Sequence[float]) -> list[int]:
    wrong = next((p for p in p_values if not 0 <= p <= 1), None)
    if wrong is not None:
        raise BadUsage(f"{wrong!r} is not a p-value; expected a number from 0 to 1.")
    return sorted(range(len(p_values)), key=p_values.__getitem__)


_PIECE = 1 << 19


def randomised_tukey_hsd(
    values: Floats, *, resamples: int = 10_000, seed: int = 0
) -> tuple[Floats, Floats]:
    """Differences of means, row less column, and their p-values, 1 on the diagonal: two tables of
    (systems, systems).

    A resample shuffles the systems' values within every query; p is the share of resamples, the
    observed values counting as one, whose largest mean lies as far above their smallest as the two
    means lie apart. values: (queries, systems) finite, at least one query. Raises BadInput for
    fewer than two systems. Source: Carterette 2012, Multiple testing in statistical analysis of
    systems-based information retrieval experiments.
    """
    n, systems = values.shape
    if systems < 2 or not n:
        raise BadInput(
            f"{n} queries of {systems} systems; the test compares two systems or more on the "
            "same queries."
        )
    table = on_exact_grid(values)
    generator = np.random.Generator(np.random.PCG64(seed))
    size = max(1, min(resamples, _PIECE // table.size))
    ranges = np.empty(resamples)
    for start in range(0, resamples, size):
        n_drawn = min(size, resamples - start)
        rows = np.broadcast_to(table, (n_drawn, n, systems)).reshape(n_drawn * n, systems)
        sums = generator.permuted(rows, axis=1).reshape(n_drawn, n, systems).sum(axis=1)
        ranges[start : start + n_drawn] = sums.max(axis=1) - sums.min(axis=1)
    ranges.sort()
    sums = table.sum(axis=0)
    differences = sums[:, None] - sums[None, :]
    # Means that are equal as decimals may differ in their last bits.
    slack = 1e-12 * np.abs(table).sum()
    n_larger = resamples - np.searchsorted(ranges, np.abs(differences) - slack, side="left")
    p = (1 + n_larger) / (1 + resamples)
    np.fill_diagonal(p, 1.0)
    return differences / n, p


def significance_letters(is_significant: Bools, order: Sequence[int]) -> list[str]:
    """The letters of each system, so that two systems share one exactly where their difference is
    not significant.

    is_significant: (systems, systems) whether two differ significantly. order: the systems, best
    first: `a` begins with the best. Past the 26th come `aa`, `ab`, …; several of one system are
    separated by commas.
    Source: Piepho 2004, An algorithm for a letter-based representation of all-pairwise comparisons
    (insert and absorb).
    """
    groups: list[frozenset[int]] = [frozenset(range(len(order)))]
    rank_of = {system: rank for rank, system in enumerate(order)}
    for first, second in combinations(order, 2):
        if not is_significant[first, second]:
            continue
        pair = {rank_of[first], rank_of[second]}
        split = [
            group - {rank} if pair <= group else group
            for group in groups
            for rank in (pair if pair <= group else (-1,))
        ]
        unique = list(dict.fromkeys(split))
        groups = [group for group in unique if not any(group < larger for larger in unique)]
    groups.sort(key=sorted)
    names = [*ascii_lowercase, *("".join(pair) for pair in product(ascii_lowercase, repeat=2))]
    names += [f"{number}" for number in range(len(groups) - len(names))]
    separator = "," if len(groups) > len(ascii_lowercase) else ""
    return [
        separator.join(
            names[index] for index, group in enumerate(groups) if rank_of[system] in group
        )
        for system in range(len(order))
    ]
