"""Relative changes of the further candidates against the first."""

from collections.abc import Mapping, Sequence
from typing import Any

from rankwell.evaluation.results import ResultsBuilder
from rankwell.stats import MIN_QUERIES, Intervals, SummaryRow
from rankwell.stats.paired_bootstrap import relative_changes


def relative_changes_of(
    builder: ResultsBuilder, candidates: Sequence[str], intervals: Intervals, seed: int
) -> list[dict[str, Any]]:
    """Relative changes of the means of the further candidates against the first's, over queries
    that count in both, as rows.
    """
    first = candidates[0]
    base = {
        values.measure: values
        for values in builder.values
        if values.run == first and values.summary == "mean"
    }
    compared = [
        (base[values.measure], values, attributes["k"])
        for values, attributes in zip(builder.values, builder.row_attributes, strict=True)
        if values.run in candidates[1:] and values.measure in base
    ]
    pairs = [(before.values, after.values) for before, after, _ in compared]
    rows: list[dict[str, Any]] = []
    for (_, values, k), change in zip(
        compared, relative_changes(pairs, bootstrap=intervals != "none", seed=seed), strict=True
    ):
        low, high = change.interval or (None, None)
        names = (f"Change({name})" for name in (values.measure, values.label))
        row = SummaryRow.of(values.run, *names, change.value, None, low, high, change.n, "share")
        rows.append({**row, "k": k, "chance": None, "against": first})
    return rows


def notes_on_changes(rows: Sequence[Mapping[str, Any]], intervals: Intervals) -> list[str]:
    """A note on changes without an interval, as one resample whose first mean is not above 0 leaves
    none.
    """
    lacking = [
        row
        for row in rows
        if row["mean"] is not None and row["ci_low"] is None and row["n"] >= MIN_QUERIES
    ]
    if intervals == "none" or not lacking:
        return []
    labels, first = ", ".join(dict.fromkeys(row["label"] for row in lacking)), lacking[0]["against"]
    return [
        f"no interval, as the mean of {first} is 0 or less in a resample of the queries, so "
        f"that the change has no bound: {labels}"
    ]
