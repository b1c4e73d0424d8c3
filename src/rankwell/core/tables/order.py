"""Rank counts: the counts that place an item among the items of its query, under every tie rule.

Nothing is sorted that need not be: an item's rank is one more than the number of items before it.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

import numpy as np

from rankwell.core.tables import Floats, Ints
from rankwell.errors import UnknownName

TieRule = Literal["id-desc", "id-asc", "input", "expected", "optimistic", "pessimistic", "error"]
TIE_RULES: tuple[TieRule, ...] = get_args(TieRule)
MatrixTies = TieRule | Literal["input-desc", "averaged", "multiplied"]
"""Ties in a score matrix: `input` and `input-desc` put the lower and the higher position in the gallery first; `averaged` places
all tied items at the middle of their places (MMT); `multiplied` counts a query once for each place of its tie (CLIP4Clip)."""


class Counts(NamedTuple):
    """For each target item the numbers of items that score higher, that score the same (itself too), and of those before it."""

    above: Ints
    tied: Ints
    before: Ints


def tie_rule(name: str) -> TieRule:
    """The tie rule of this name. Raises UnknownName."""
    for rule in TIE_RULES:
        if rule == name:
            return rule
    raise UnknownName(f"unknown tie rule {name!r}; choose one of {', '.join(TIE_RULES)}.")


def count(scores: Floats, offsets: Ints, targets: Ints, item_bytes: Callable[[int], bytes], ties: TieRule) -> Counts:
    """The counts of the target rows within their queries.

    scores: (rows,) of whole queries in input order. offsets: (queries + 1,) where each query's rows begin.
    targets: (hits,) rows, ascending. item_bytes: row -> id, called for rows inside a tie only.
    Under `expected`, `optimistic`, `pessimistic` and `error`, `before` is that of input order: the view resolves them.
    """
    query = np.searchsorted(offsets, targets, side="right") - 1
    start, stop = offsets[query], offsets[query + 1]
    falls = scores[1:] <= scores[:-1]
    if len(scores) > 1:
        inner = offsets[(offsets > 0) & (offsets < len(scores))]
        falls[inner - 1] = True
    # climbs[i] counts the rows before i that are lower than their successor: a query without any is already sorted.
    climbs = np.concatenate([[0], np.cumsum(~falls)]) if len(scores) else np.zeros(1, dtype=np.int64)
    is_sorted = climbs[np.maximum(stop - 1, 0)] == climbs[start]
    above, tied = _counts_in_sorted(scores, offsets, targets, start)
    unsorted = query[~is_sorted]
    for each in unsorted[np.diff(unsorted, prepend=-1) != 0].tolist():
        mine = slice(*np.searchsorted(query, [each, each + 1]).tolist())
        ordered = np.sort(scores[offsets[each] : offsets[each + 1]])
        left = np.searchsorted(ordered, scores[targets[mine]], side="left")
        right = np.searchsorted(ordered, scores[targets[mine]], side="right")
        above[mine], tied[mine] = len(ordered) - right, right - left
    before = np.zeros(len(targets), dtype=np.int64)
    in_ties = np.flatnonzero(tied > 1)
    # A tie is named by its query and the items above it; its members are put in order once, however many of them are targets.
    order = in_ties[np.lexsort((above[in_ties], start[in_ties]))]
    cuts = np.flatnonzero(np.diff(start[order]) | np.diff(above[order])) + 1
    for group in np.split(order, cuts) if len(order) else ():
        first = int(group[0])
        rivals = start[first] + np.flatnonzero(scores[start[first] : stop[first]] == scores[targets[first]])
        before[group] = _places(targets[group], rivals, item_bytes, ties)
    return Counts(above, tied, before)


def _counts_in_sorted(scores: Floats, offsets: Ints, targets: Ints, start: Ints) -> tuple[Ints, Ints]:
    """Rows above and rows tied of the target rows, right where the query's scores never rise."""
    new = np.ones(len(scores) + 1, dtype=np.bool_)
    if len(scores):
        np.not_equal(scores[1:], scores[:-1], out=new[1:-1])
        new[offsets] = True
    runs = np.flatnonzero(new)
    run = np.searchsorted(runs, targets, side="right") - 1
    return runs[run] - start, runs[np.minimum(run + 1, len(runs) - 1)] - runs[run]


def _places(targets: Ints, rivals: Ints, item_bytes: Callable[[int], bytes], ties: TieRule) -> Ints:
    """The place of each target row, from 0, among the rows it is tied with."""
    if ties not in ("id-desc", "id-asc"):
        return np.searchsorted(rivals, targets)
    ordered = sorted(rivals.tolist(), key=item_bytes, reverse=ties == "id-desc")
    place = {row: position for position, row in enumerate(ordered)}
    return np.array([place[row] for row in targets.tolist()], dtype=np.int64)


def arrange(scores: Floats, item_bytes: Callable[[int], bytes], ties: TieRule) -> Ints:
    """(rows,) the rows of one query from first to last: by score, then by the tie rule (`input` where it names no order)."""
    rows = np.argsort(-scores, kind="stable")
    if ties not in ("id-desc", "id-asc"):
        return rows
    # Compared, not subtracted: scores beyond single precision are infinite there, and all the same.
    ordered = scores[rows]
    edges = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1], [True]]))
    for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        if last - first > 1:
            rows[first:last] = sorted(rows[first:last].tolist(), key=item_bytes, reverse=ties == "id-desc")
    return rows
