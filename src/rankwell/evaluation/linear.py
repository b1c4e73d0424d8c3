"""Linear measures: sums over the first k places of a weight of the rank times a gain of the grade,
with a fixed denominator.
"""

from dataclasses import dataclass

import numpy as np

from rankwell.core.registry import Measure
from rankwell.core.tables import Floats


@dataclass(frozen=True, eq=False)
class LinearMeasure:
    """The parts of a measure that is linear in the gains of items.

    weights: (k,) the weight of each rank from 1, normalisation included. rel: the lowest grade that
    counts as relevant, with gain 1; None where the gain is the grade scaled from `least` to 0 and
    from `most` to 1, and clipped.
    """

    weights: Floats
    rel: float | None = None
    least: float = 0.0
    most: float = 1.0

    @classmethod
    def of(cls, measure: Measure) -> "LinearMeasure | None":
        """The parts of P, SDCG and RBP with a cut-off and a known highest gain; None for any other
        measure.
        """
        parameters, k = measure.parameters, measure.cutoff
        if k is None or measure.name not in ("P", "SDCG", "RBP") or parameters.get("judged_only"):
            return None
        ranks = np.arange(1.0, k + 1)
        if measure.name == "P":
            return (
                cls(np.full(k, 1 / k), max(parameters["rel"], 0.0))
                if parameters["denom"] == "cutoff"
                else None
            )
        if measure.name == "SDCG":
            discounts = 1 / np.log2(ranks + 1)
            return cls(
                discounts / float(np.cumsum(discounts)[-1]),
                None,
                parameters["min_rel"],
                parameters["max_rel"],
            )
        weights = (1 - parameters["p"]) * parameters["p"] ** (ranks - 1)
        if parameters["gains"] is None and (
            parameters["rel"] is not None or parameters["scale"] == "max"
        ):
            return cls(
                weights,
                None if parameters["rel"] is None else max(parameters["rel"], 0.0),
                most=parameters["max_rel"] or 1.0,
            )
        return None

    def gains(self, grades: Floats) -> Floats:
        """The gain of each grade, from 0 to 1; 0 for negative ones."""
        if self.rel is not None:
            return (grades >= self.rel).astype(np.float64)
        return np.where(
            grades < 0,
            0.0,
            (np.clip(grades, self.least, self.most) - self.least) / (self.most - self.least),
        )
