"""Probabilities of alternatives: the largest mean of a score among those that balance quantities,
by linear programming.
"""

import numpy as np

from rankwell.core.tables import Floats


def balanced_mixture(scores: Floats, balances: Floats) -> Floats | None:
    """Probabilities of n alternatives with the largest mean score whose mean balances are all 0;
    None without any.

    scores: (n,). balances: (n, quantities).
    """
    # It takes a fifth of a second to import.
    from scipy.optimize import linprog

    constraints = np.vstack([np.ones(len(scores)), balances.T])
    target = np.zeros(len(constraints))
    target[0] = 1.0
    solution = linprog(-scores, A_eq=constraints, b_eq=target, bounds=(0, 1), method="highs-ds")
    if not solution.success:
        return None
    # A solver's rounding may leave a tiny weight below 0.
    weights = np.where(solution.x > 1e-9, solution.x, 0.0)
    return weights / weights.sum()
