"""The values of several folds of captions and videos as one: means over folds, as COCO's 1K of five
folds is reported.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from rankwell.core.tables import Values
from rankwell.evaluation import results
from rankwell.evaluation.results import ResultsBuilder
from rankwell.stats import SummaryRow, figure_of

Cells = Mapping[str, Any]


def join_folds(
    whole: ResultsBuilder, parts: Sequence[ResultsBuilder], masked: int
) -> list[dict[str, Any]]:
    """Adds the values of all folds to a builder: means over queries that every fold counts alike
    come first.

    Other summaries, such as medians, become rows of their own, the means of the folds' figures.
    masked: the captions that take no part in any fold.
    """
    columns = zip(
        *(zip(part.values, part.row_attributes, strict=True) for part in parts), strict=True
    )
    joined = [([values for values, _ in fold], [cells for _, cells in fold]) for fold in columns]
    rows = [_fold_row(values, cells) for values, cells in joined if values[0].summary != "mean"]
    for values, cells in sorted(joined, key=lambda fold: fold[0][0].summary != "mean"):
        whole.values.append(_joined(values))
        whole.row_attributes.append(_mean_levels(cells))
    for name in parts[0].counts:
        own = [part.counts[name] for part in parts]
        whole.counts[name] = {what: sum(each[what] for each in own) for what in own[0]}
        if whole.counts[name][results.QUERIES_MASKED]:
            whole.counts[name][results.QUERIES_MASKED] = masked
    for number, part in enumerate(parts, 1):
        whole.in_input_order |= part.in_input_order
        whole.notes += [
            note if all(note in each.notes for each in parts) else f"fold {number}: {note}"
            for note in part.notes
        ]
    if rows:
        labels = ", ".join(dict.fromkeys(row["label"] for row in rows))
        whole.notes.append(f"{labels}: the mean of the folds' figures, which has no interval")
    return rows


def _joined(folds: Sequence[Values]) -> Values:
    """The values of all folds; each fold has the same weight in a mean."""
    first, counts = folds[0], [int(each.counted.sum()) for each in folds]
    weights = None
    if first.summary == "mean" and len(set(counts)) > 1:
        weights = np.concatenate(
            [np.full(len(each.queries), 1 / n) for each, n in zip(folds, counts, strict=True)]
        )
    queries = tuple(chain.from_iterable(each.queries for each in folds))
    values = np.concatenate([each.values for each in folds])
    return Values(
        first.run, first.measure, first.label, first.unit, first.summary, queries, values, weights
    )


def _fold_row(folds: Sequence[Values], cells: Sequence[Cells]) -> dict[str, Any]:
    first, n = folds[0], sum(int(each.counted.sum()) for each in folds)
    known = [value for each in folds if (value := figure_of(each.values, each.summary)) is not None]
    mean = math.fsum(known) / len(folds) if len(known) == len(folds) else None
    return SummaryRow.of(
        first.run, first.measure, first.label, mean, None, None, None, n, first.unit
    ) | _mean_levels(cells)


def _mean_levels(folds: Sequence[Cells]) -> dict[str, Any]:
    """The cells of a row with the means of its ceilings and chance levels."""
    found = dict(folds[0])
    for level in ("ceiling", "chance"):
        if level in found:
            values = [each[level] for each in folds]
            found[level] = None if None in values else math.fsum(values) / len(values)
    return found
