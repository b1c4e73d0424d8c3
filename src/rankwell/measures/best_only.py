"""Measures that depend on the first relevant item alone, so that the others of a query need not be ranked."""

from rankwell.core.registry import Measure

_FIRST_ONLY = ("Success", "RR", "MedR", "MedRLow", "MedRFloor", "MnR")


def reads_best_only(measure: Measure) -> bool:
    """Whether a measure's value depends on a query's best positive, what ties with it and the number of positives only.

    So does `MnR` unless it is of all positives. Queries have no judged items but positives here.
    """
    return measure.name in _FIRST_ONLY and measure.parameters.get("of", "best") == "best"
