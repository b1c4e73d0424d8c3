"""The rows of details.parquet, the same columns for every task."""

from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from typing import Any

from rankwell.core.views.details import Details

DETAIL_COLUMNS = ("run", "query", "item", "rank", "score", "grade", "state", "detail")

COMPLETE = {"unjudged": "nonrelevant"}
"""The states where the judgments are complete: an item that they do not list is not relevant."""


def detail_columns(
    parts: Iterable[tuple[str, Details, Sequence[str | None] | str | None]], *, states: Mapping[str, str] | None = None
) -> dict[str, list[Any]]:
    """The columns of details.parquet; NaN becomes None.

    parts: the name of a run, its details, and what the task knows of the rows as JSON: one text each, one for all, or None.
    states: state -> the task's word for it, such as `unjudged` -> `nonrelevant` where the judgments are complete.
    """
    columns: dict[str, list[Any]] = {name: [] for name in DETAIL_COLUMNS}
    for run, details, attributes in parts:
        n = len(details.query)
        columns["run"] += [run] * n
        columns["detail"] += [attributes] * n if attributes is None or isinstance(attributes, str) else list(attributes)
        for name, values in details._asdict().items():
            columns[name] += values if isinstance(values, list) else [None if isnan(each) else each for each in values.tolist()]
    if states:
        columns["state"] = [states.get(state, state) for state in columns["state"]]
    return columns
