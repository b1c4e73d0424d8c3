"""Calibration: the straight line that takes one scale of numbers to another with the smallest squared error."""

from typing import NamedTuple

import numpy as np

from rankwell.core.tables import Floats


class FittedLine(NamedTuple):
    """Target ≈ slope · similarity + intercept."""

    slope: float
    intercept: float

    def at(self, similarities: Floats) -> Floats:
        """(n,) the targets that the line predicts."""
        return self.slope * similarities + self.intercept


def fit_line(targets: Floats, similarities: Floats) -> FittedLine | None:
    """The least-squares line from similarities to targets; None where either is constant or there is none.

    A constant similarity has no slope; a constant target would be met exactly by a line that looks at nothing.
    targets, similarities: (n,) finite. Source: Legendre 1805.
    """
    if not len(targets) or np.ptp(similarities) == 0 or np.ptp(targets) == 0:
        return None
    centre, middle = float(similarities.mean()), float(targets.mean())
    moved = similarities - centre
    slope = float((moved * (targets - middle)).sum() / (moved * moved).sum())
    return FittedLine(slope, middle - slope * centre)
