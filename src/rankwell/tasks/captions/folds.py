"""The values of several folds of captions and videos as one: means over folds, as COCO's 1K of five
folds is reported.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from rankwell.data.tables import Values
from rankwell.evaluation import results
from rankwell.evaluation.results import ResultsBuilder
from rankwell.stats import SummaryRow, figure_of

Cells = Mapping[str, Any]


def join_folds(
    builder: ResultsBuilder, parts: Sequence[ResultsBuilder], masked: int
) -> list[dict[str, Any]]:
    """Adds the values of all folds to a builder: means over queries that every fold counts alike
    come first.

    Other summaries, such as medians, become rows of their own, the means of the folds' figures.
    masked: the captions that take no part in any fold.
    """
    columns = zip(
        *(zip(part.values, part.row_attributes, strict=True) for part in parts), strict=True
    )
    rows_of_folds = [
        ([values for values, _ in fold], [cells for _, cells in fold]) for fold in columns
    ]
    rows = [
        _fold_row(values, cells) for values, cells in rows_of_folds if values[0].summary != "mean"
    ]
    for values, cells in sorted(rows_of_folds, key=lambda fold: fold[0][0].summary != "mean"):
        builder.values.append(_joined(values))
        builder.row_attributes.append(_mean_levels(cells))
    for name in parts[0].counts:
        counts_of_folds = [part.counts[name] for part in parts]
        builder.counts[name] = {
            count_name: sum(counts[count_name] for counts in counts_of_folds)
            for count_name in counts_of_folds[0]
        }
        if builder.counts[name][results.QUERIES_MASKED]:
            builder.counts[name][results.QUERIES_MASKED] = masked
    for number, part in enumerate(parts, 1):
        builder.in_input_order |= part.in_input_order
        builder.notes += [
            note if all(note in part.notes for part in parts) else f"fold {number}: {note}"
            for note in part.notes
        ]
    if rows:
        labels = ", ".join(dict.fromkeys(row["label"] for row in rows))
        builder.notes.append(f"{labels}: the mean of the folds' figures, which has no interval")
    return rows


def _joined(folds: Sequence[Values]) -> Values:
    """The values of all folds; each fold has the same weight in a mean."""
    first, counts = folds[0], [int(values.counted.sum()) for values in folds]
    weights = None
    if first.summary == "mean" and len(set(counts)) > 1:
        weights = np.concatenate(
            [np.full(len(values.queries), 1 / n) for values, n in zip(folds, counts, strict=True)]
        )
    queries = tuple(chain.from_iterable(values.queries for values in folds))
    values = np.concatenate([values.values for values in folds])
    return Values(
        first.run, first.measure, first.label, first.unit, first.summary, queries, values, weights
    )


def _fold_row(folds: Sequence[Values], cells: Sequence[Cells]) -> dict[str, Any]:
    first, n = folds[0], sum(int(values.counted.sum()) for values in folds)
    figures = [
        value for values in folds if (value := figure_of(values.values, values.summary)) is not None
    ]
    mean = math.fsum(figures) / len(folds) if len(figures) == len(folds) else None
    return SummaryRow.of(
        first.run, first.measure, first.label, mean, None, None, None, n, first.unit
    ) | _mean_levels(cells)


def _mean_levels(folds: Sequence[Cells]) -> dict[str, Any]:
    """The cells of a row with the means of its ceilings and chance levels."""
    cells_of_row = dict(folds[0])
    for level in ("ceiling", "chance"):
        if level in cells_of_row:
            values = [cells_of_fold[level] for cells_of_fold in folds]
            cells_of_row[level] = None if None in values else math.fsum(values) / len(values)
    return cells_of_row
