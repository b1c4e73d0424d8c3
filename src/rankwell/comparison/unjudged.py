"""Notes on what unjudged items leave open in a comparison: the least and the greatest difference
whatever their grades are.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rankwell.comparison.data import Pair
from rankwell.comparison.matrices import Comparison, QuerySystemMatrix
from rankwell.data.registry import Measure, parse_measure
from rankwell.data.tables import exact_mean, figure
from rankwell.errors import BadUsage, flag
from rankwell.evaluation.bounds import DEFINITE, RankedItems, UnjudgedItems, difference_bounds

_MOST_PAIRS = 6


def notes_on_unjudged(
    comparison: Comparison,
    pairs: Sequence[Pair],
    load_unjudged: Callable[[], UnjudgedItems | None],
    rules: Mapping[str, Any],
) -> list[str]:
    """A note for each of the first pairs, where the rules leave every item one rank and count
    unjudged items.
    """
    counts = rules.get("ties") in DEFINITE and rules.get("unjudged") == "nonrelevant"
    if not counts or (unjudged := load_unjudged()) is None:
        return []
    items, notes, more = unjudged.ranked(comparison.queries), list[str](), 0
    for pair in pairs:
        shared = (
            matrix
            for matrix in comparison.matrices
            if set(pair) <= set(matrix.runs) and matrix.weights is None
        )
        bounded = [
            (matrix, measure)
            for matrix in shared
            if (measure := _bounded_measure(matrix, unjudged.depth))
        ]
        deepest = max((measure.cutoff or 0 for _, measure in bounded), default=0)
        if not any(len(items(run, deepest).rank) for run in pair):
            continue
        if len(notes) == _MOST_PAIRS:
            more += 1
        elif words := [
            text for matrix, measure in bounded for text in _bounds(matrix, measure, pair, items)
        ]:
            notes.append(
                f"{pair.run} and {pair.against}: {', '.join(words)}, depending on unjudged items"
            )
    if more:
        pairs_are = "1 more pair is" if more == 1 else f"{more} more pairs are"
        advice = (
            f"name a {flag('--baseline')}"
            if len({pair.against for pair in pairs}) > 1
            else "compare fewer runs"
        )
        notes.append(f"the bounds of {pairs_are} not listed; {advice}")
    return notes


def _bounded_measure(matrix: QuerySystemMatrix, depth: int) -> Measure | None:
    """The measure of a matrix; None of one that the first `depth` items do not bound."""
    try:
        measure = parse_measure(matrix.measure)
    except BadUsage:
        return None
    return measure if measure.cutoff is not None and measure.cutoff <= depth else None


def _bounds(
    matrix: QuerySystemMatrix,
    measure: Measure,
    pair: Pair,
    items: Callable[[str, int], RankedItems],
) -> Iterator[str]:
    """The bounds of a difference in words; nothing where there are none, or where they are
    equal.
    """
    counts_for_both = ~np.isnan(matrix.differences(pair))
    if not counts_for_both.any():
        return
    scale = 100.0 if matrix.unit == "percent" else 1.0
    values = (
        np.nan_to_num(matrix.column(pair.run)) / scale,
        np.nan_to_num(matrix.column(pair.against)) / scale,
    )
    bounds = difference_bounds(measure, items, (pair.run, pair.against), values)
    if bounds is not None:
        low, high = (exact_mean(bound_values[counts_for_both]) * scale for bound_values in bounds)
        if high - low > 1e-12 * scale:
            yield (
                f"Difference({matrix.label}) is between {figure(low, matrix.unit, signed=True)} "
                f"and {figure(high, matrix.unit, signed=True)}"
            )
