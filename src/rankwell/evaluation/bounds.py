"""Bounds under unjudged items: the least and the greatest mean of a run, and difference of two,
whatever their grades are.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell.conventions import Convention, LabelledMeasure
from rankwell.core.exact import exact_mean
from rankwell.core.registry import Measure
from rankwell.core.tables import Bools, Floats, Ints, figure
from rankwell.core.views.judged import JudgedRankings
from rankwell.evaluation.details import DetailColumns
from rankwell.evaluation.judged import JudgedRun
from rankwell.evaluation.linear import LinearMeasure

_SPREAD = np.int64(0x9E3779B97F4A7C15 - (1 << 64))
DEFINITE = ("id-desc", "id-asc", "input", "error")
"""Tie rules that leave every item one rank."""


def is_reciprocal(measure: Measure) -> bool:
    """Whether it is RR with a cut-off, over judged and unjudged items."""
    return (
        measure.name == "RR"
        and measure.cutoff is not None
        and not measure.parameters["judged_only"]
    )


def most_possible(measure: Measure, view: JudgedRankings) -> Floats | None:
    """Value of each query if all its unjudged items had the highest grade; None for a measure
    without bounds.

    The least value is the one under the rule that an unjudged item is not relevant. view: in one
    definite order.
    """
    k = measure.cutoff
    judged = view.is_judged & view.within(k)
    if is_reciprocal(measure):
        bare = judged & ~view.relevant(measure.parameters["rel"])
        # Judged items without relevance that begin a list: those whose rank is their number among
        # them.
        begins = bare & (view.count_so_far(bare) == view.ranks)
        best_rank = view.sum_rows(begins) + 1
        return np.where(best_rank <= view.list_length(k), 1 / best_rank, 0.0)
    linear = LinearMeasure.of(measure)
    if linear is None or k is None:
        return None
    cumulative_weights = np.concatenate([np.zeros(1), np.cumsum(linear.weights)])
    judged_weights = np.where(judged, linear.weights[np.minimum(view.ranks, k) - 1], 0.0)
    return measure(view) + np.maximum(
        cumulative_weights[view.list_length(k)] - view.sum_rows(judged_weights), 0.0
    )


def run_notes(
    run: JudgedRun, measures: Iterable[LabelledMeasure], counted: Bools, convention: Convention
) -> list[str]:
    """A note on the bounds of a run's means by all measures that have some, none where its first
    places are judged.

    counted: (queries,) those in the means.
    """
    if run.ties not in DEFINITE or not counted.any():
        return []
    view, bounds_by_cutoff = run.resolved, dict[int, list[str]]()
    for labelled_measure in measures:
        most = most_possible(labelled_measure.measure, view)
        if (
            most is None
            or (k := labelled_measure.measure.cutoff) is None
            or labelled_measure.measure.entry.summary != "mean"
        ):
            continue
        least, scale = (
            labelled_measure.measure(view),
            convention.shows(labelled_measure.measure.entry.unit),
        )
        low, high = (exact_mean(values[counted]) * scale[0] for values in (least, most))
        if high - low > 1e-12:
            bounds_by_cutoff.setdefault(k, []).append(
                _between(
                    labelled_measure.label, run.name, low, high, scale[1], labelled_measure.measure
                )
            )
    parts = [
        f"{', '.join(words)}: {_share(view, k, counted)} of its first {k} are unjudged"
        for k, words in bounds_by_cutoff.items()
    ]
    return ["; ".join(parts)] if parts else []


def _between(label: str, name: str, low: float, high: float, unit: str, measure: Measure) -> str:
    tail_note = (
        f" (without what lies beyond rank {measure.cutoff})" if measure.name == "RBP" else ""
    )
    return f"{label} of {name} is between {figure(low, unit)} and {figure(high, unit)}{tail_note}"


def _share(view: JudgedRankings, k: int, counted: Bools) -> str:
    lengths = view.list_length(k)[counted]
    judged = view.sum_rows(view.is_judged & view.within(k))[counted]
    share = 100 * (1 - judged.sum() / lengths.sum())
    return f"{share:.0f} %" if share >= 1 else "less than 1 %"


class UnjudgedItems:
    """The unjudged items among the first `depth` of each query, by run, in 13 bytes each."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self._queries: dict[str, int] = {}
        self._runs: dict[str, list[RankedItems]] = {}

    @classmethod
    def of(cls, depth: int, columns: Mapping[str, Any]) -> "UnjudgedItems":
        """Those among the rows of details, by their columns run, query, item, rank and state; none
        where there is no column.
        """
        items = cls(depth)
        if isinstance(columns, DetailColumns):
            for run, rows in columns.by_run("query", "item", "rank", "state"):
                items.add_run(run, rows)
        else:
            items.add(columns)
        return items

    def add(
        self, columns: Mapping[str, Any], renamed: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Adds those among rows of details. renamed: the names of runs here, where they differ."""
        run = np.asarray(columns.get("run", ()), dtype=object)
        # The rows of a run stand together.
        edges = [0, *(np.flatnonzero(run[1:] != run[:-1]) + 1).tolist(), len(run)]
        for start, end in pairwise(edges) if len(run) else ():
            self.add_run(
                renamed.get(run[start], run[start]),
                {name: cells[start:end] for name, cells in columns.items()},
            )

    def add_run(self, run: str, columns: Mapping[str, Any]) -> None:
        """Adds those among rows of details of one run: the columns query, item, rank and state."""
        rank = np.asarray(columns["rank"], dtype=np.float64)  # None is NaN.
        rows = np.flatnonzero(
            (np.asarray(columns["state"], dtype=object) == "unjudged") & (rank <= self.depth)
        )
        queries, items = (
            np.asarray(columns[name], dtype=object)[rows].tolist() for name in ("query", "item")
        )
        query = [self._queries.setdefault(query_id, len(self._queries)) for query_id in queries]
        # Two items of a query would count as one if their ids had one hash, of 2⁶⁴.
        item = np.fromiter(map(hash, items), dtype=np.int64, count=len(items))
        self._runs.setdefault(run, []).append(
            RankedItems(np.array(query, dtype=np.int32), item, rank[rows].astype(np.uint8))
        )

    def ranked(self, queries: Sequence[str]) -> Callable[[str, int], "RankedItems"]:
        """The rows of a run down to a rank, with the places of queries among these; without other
        queries.
        """
        index = {query: number for number, query in enumerate(queries)}
        numbers = np.array([index.get(query, -1) for query in self._queries], dtype=np.int64)

        def _of(run: str, k: int) -> RankedItems:
            parts = self._runs.get(run) or [RankedItems(*np.zeros((3, 0), dtype=np.int64))]
            query, item, rank = (np.concatenate(column) for column in zip(*parts, strict=True))
            owner = numbers[query] if len(query) else query.astype(np.int64)
            rows = np.flatnonzero((owner >= 0) & (rank <= k))
            # One number for a query and an item.
            pair = item[rows] + owner[rows] * _SPREAD
            return RankedItems(owner[rows], pair, rank[rows].astype(np.int64))

        return _of


class RankedItems(NamedTuple):
    """Unjudged items as numbers. query, pair, rank: (rows,); pair is one number per query and
    item.
    """

    query: NDArray[Any]
    pair: Ints
    rank: NDArray[Any]


def difference_bounds(
    measure: Measure,
    items: Callable[[str, int], RankedItems],
    runs: tuple[str, str],
    values: tuple[Floats, Floats],
) -> tuple[Floats, Floats] | None:
    """Least and greatest difference of the first run less the second, per query; None for a measure
    without bounds.

    items: of a run down to a rank. values: (queries,) of both runs with unjudged items as not
    relevant, NaN where a query does not count.
    """
    k = measure.cutoff
    if k is None:
        return None
    first, second = (items(run, k) for run in runs)
    if is_reciprocal(measure):
        return -_most_reciprocal(second, first, values[1], values[0]), _most_reciprocal(
            first, second, values[0], values[1]
        )
    linear = LinearMeasure.of(measure)
    if linear is None:
        return None
    # An item of both lists has one grade, so that its two weights are added before their sign
    # decides.
    pairs, pair_index = np.unique(np.concatenate([first.pair, second.pair]), return_inverse=True)
    weights = np.concatenate([linear.weights[first.rank - 1], -linear.weights[second.rank - 1]])
    net = np.bincount(pair_index, weights=weights, minlength=len(pairs)).astype(np.float64)
    owner = np.zeros(len(pairs), dtype=np.int64)
    owner[pair_index] = np.concatenate([first.query, second.query])
    low, high = (
        np.bincount(owner, weights=part, minlength=len(values[0]))
        for part in (np.minimum(net, 0), np.maximum(net, 0))
    )
    return values[0] - values[1] + low, values[0] - values[1] + high


def _most_reciprocal(
    run_items: RankedItems, against_items: RankedItems, value: Floats, against: Floats
) -> Floats:
    """Greatest difference of the reciprocal ranks of each query: one unjudged item is relevant, or
    none is, in both lists alike.
    """
    most = value - against
    first_rank = np.divide(1.0, value, out=np.full(len(value), np.inf), where=value > 0)
    # Behind its first relevant item an unjudged one adds nothing to the list, and may add to the
    # other.
    candidates = np.flatnonzero(run_items.rank < first_rank[run_items.query] - 0.5)
    order = np.argsort(against_items.pair)
    positions = np.minimum(
        np.searchsorted(against_items.pair[order], run_items.pair[candidates]),
        max(len(order) - 1, 0),
    )
    gain_against = np.zeros(len(candidates))
    if len(order):
        rows = order[positions]
        gain_against = np.where(
            against_items.pair[rows] == run_items.pair[candidates],
            1 / against_items.rank[rows],
            0.0,
        )
    owner = run_items.query[candidates]
    np.maximum.at(
        most, owner, 1 / run_items.rank[candidates] - np.maximum(gain_against, against[owner])
    )
    return most
