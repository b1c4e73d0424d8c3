"""Aggregates of several recalls: the sum over both directions, the geometric mean and the mean of one direction's."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rankwell.conventions import Convention
from rankwell.core.tables import Values
from rankwell.errors import BadUsage
from rankwell.stats import Intervals
from rankwell.stats.summaries import SummaryRow
from rankwell.tasks.captions.conventions import CaptionConvention
from rankwell.tasks.captions.figure_intervals import figure_interval
from rankwell.tasks.captions.recall_figures import geometric_mean, mean_recall, rsum

_RECALLS = tuple(f"Success@{k}" for k in (1, 5, 10))
_FIGURES: Mapping[str, Callable[[Sequence[float]], float]] = {"rsum": rsum, "gmean": geometric_mean, "r_mean": mean_recall}
DEFINITIONS = {
    name: {"definition": (function.__doc__ or "").split("\n")[0], "better": "higher"} for name, function in _FIGURES.items()
}


Column = tuple[Values, Mapping[str, Any]]
"""The values of one measure in one direction, with the other cells of its summary row."""


def named_aggregates(names: Sequence[str] | None, convention: Convention, which: str) -> tuple[list[str] | None, list[str]]:
    """The measures among the names, and the figures: those named, or the convention's where nothing is named.

    Where figures are named, the recalls that they are made of are among the measures. which: the directions that are asked for.
    Raises BadUsage for a sum over both directions where one is asked for.
    """
    if names is None:
        rules: CaptionConvention = convention.tasks.get("captions", CaptionConvention())
        return None, [name for name in rules.aggregates if name != "rsum" or which == "both"]
    measures = [name for name in names if name not in _FIGURES]
    figures = [name for name in names if name in _FIGURES]
    if "rsum" in figures and which != "both":
        raise BadUsage(f"rsum is the sum over both directions, and only {which} is asked for; leave --direction out.")
    word = "R" if convention.words.get("R") == "Success" else "Success"
    return measures + [f"{word}@{k}" for k in (1, 5, 10) if figures], figures


def aggregate_rows(
    found: Sequence[Column], asked: Sequence[str], intervals: Intervals, seed: int
) -> tuple[list[dict[str, Any]], list[str]]:
    """A summary row per aggregate of one run, and notes on those that cannot be computed.

    `rsum` is of both directions together, the other two of each, and `r_mean` of both too. All need R@1, R@5 and R@10.
    Intervals are those of the bootstrap.
    """
    columns: dict[str, dict[str, Column]] = {}
    for values, attributes in found:
        columns.setdefault(attributes["direction"], {})[values.measure] = values, attributes
    recalls = {name: [own[each] for each in _RECALLS] for name, own in columns.items() if all(each in own for each in _RECALLS)}
    if asked and len(recalls) < len(columns):
        return [], [f"{', '.join(asked)}: these are made of R@1, R@5 and R@10; ask for all three (-k 1,5,10)"]
    pairs = [("t2v", direction) for direction in recalls if direction != "t2v" and "t2v" in recalls]
    rows: list[dict[str, Any]] = []
    for name in asked:
        sets = [] if name == "rsum" else [(direction,) for direction in recalls]
        sets += pairs if name != "gmean" else []
        rows += [_row(name, chosen, [recalls[each] for each in chosen], intervals, seed) for chosen in sets]
    return rows, []


def _row(
    name: str, directions: tuple[str, ...], recalls: Sequence[Sequence[Column]], intervals: Intervals, seed: int
) -> dict[str, Any]:
    figure, every = _FIGURES[name], [each for group in recalls for each in group]
    # The recalls of one direction count the same queries.
    groups = [np.column_stack([values.values[values.counted] for values, _ in group]) for group in recalls]
    bounds = None if intervals == "none" else figure_interval(groups, figure, seed=seed)
    low, high = bounds or (None, None)
    first = every[0][0]
    n = sum(len(group) for group in groups)
    mean = figure([float(mean) for group in groups for mean in group.mean(axis=0)])
    row = SummaryRow.of(first.run, name, name, mean, None, low, high, n, first.unit)
    levels = {
        level: figure([own[level] for _, own in every]) if all(own[level] is not None for _, own in every) else None
        for level in ("ceiling", "chance")
    }
    return row | {"direction": "+".join(directions)} | levels
