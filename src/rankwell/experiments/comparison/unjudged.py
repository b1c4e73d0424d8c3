"""Notes on what unjudged items leave open in a comparison: the least and the greatest difference whatever their grades are."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rankwell.core.exact import exact_mean
from rankwell.core.registry import parse_measure
from rankwell.core.tables import figure
from rankwell.errors import BadUsage, flag
from rankwell.evaluation.bounds import DEFINITE, RankedItems, UnjudgedItems, difference_bounds
from rankwell.experiments.comparison.matrices import Comparison, Pair, QuerySystemMatrix

_MOST_PAIRS = 6


def notes_on_unjudged(
    comparison: Comparison, pairs: Sequence[Pair], known: Callable[[], UnjudgedItems | None], rules: Mapping[str, Any]
) -> list[str]:
    """A note for each of the first pairs, where the rules leave every item one rank and count unjudged items."""
    counts = rules.get("ties") in DEFINITE and rules.get("unjudged") == "nonrelevant"
    if not counts or (unjudged := known()) is None:
        return []
    items, notes, more = unjudged.ranked(comparison.queries), list[str](), 0
    for pair in pairs:
        matrices = [each for each in comparison.matrices if set(pair) <= set(each.runs) and each.weights is None]
        bounded = {k for each in matrices if (k := _depth(each, unjudged.depth))}
        if not any(len(items(run, max(bounded)).rank) for run in pair if bounded):
            continue
        if len(notes) == _MOST_PAIRS:
            more += 1
        elif words := [text for matrix in matrices for text in _bounds(matrix, pair, items, unjudged.depth)]:
            notes.append(f"{pair.run} and {pair.against}: {', '.join(words)}, depending on unjudged items")
    advice = f"name a {flag('--baseline')}" if len({pair.against for pair in pairs}) > 1 else "compare fewer runs"
    return [*notes, *([f"the bounds of {more} more pairs are not listed; {advice}"] if more else [])]


def _depth(matrix: QuerySystemMatrix, depth: int) -> int | None:
    """The cut-off of a measure that has bounds from the first `depth` items; None of others."""
    try:
        k = parse_measure(matrix.measure).cutoff
    except BadUsage:
        return None
    return None if k is None or k > depth else k


def _bounds(matrix: QuerySystemMatrix, pair: Pair, items: Callable[[str, int], RankedItems], depth: int) -> Iterator[str]:
    """The bounds of a difference in words; nothing where there are none, or where they are equal."""
    both = ~np.isnan(matrix.differences(pair))
    if not both.any() or _depth(matrix, depth) is None:
        return
    measure = parse_measure(matrix.measure)
    scale = 100.0 if matrix.unit == "percent" else 1.0
    values = (np.nan_to_num(matrix.column(pair.run)) / scale, np.nan_to_num(matrix.column(pair.against)) / scale)
    found = difference_bounds(measure, items, (pair.run, pair.against), values)
    if found is not None:
        low, high = (exact_mean(each[both]) * scale for each in found)
        if high - low > 1e-12 * scale:
            yield (
                f"Difference({matrix.label}) is between {figure(low, matrix.unit, signed=True)} "
                f"and {figure(high, matrix.unit, signed=True)}"
            )
