"""Shortlists: the items that may still be among the best k of their query, each known to lie between two bounds."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rankwell.core.kernels.similarity import Space
from rankwell.core.tables import Floats, Ints

_PAIRS = 1 << 19  # pairs that are scored exactly at a time
Scorer = Callable[[Ints, Ints], Floats]


class Best(NamedTuple):
    """The best k items of each query. positions: (queries, k), -1 where there are fewer. scores: (queries, k), NaN there."""

    positions: Ints
    scores: Floats


class Shortlist:
    """Up to `width` candidates per query; whoever cannot be among the best k any more is dropped when room is needed.

    Items are offered in ascending position, so that an item which ties with the k-th best comes too late once that one is known
    exactly: however many items tie at the cut, the memory is that of the candidates.
    """

    def __init__(self, k: int, space: Space, squares: Floats, score: Scorer, *, patience: float = np.inf) -> None:
        queries = len(squares)
        self._k, self._space, self._squares, self._score = k, space, squares, score
        self.width = width(k)
        self._count = np.zeros(queries, dtype=np.int64)
        self._position = np.zeros((queries, self.width), dtype=np.int64)
        self._upper = np.full((queries, self.width), -np.inf)
        self._lower = np.full((queries, self.width), -np.inf)
        self._floor = np.full(queries, -np.inf)
        self.entry = np.full(queries, -np.inf)
        """(queries,) the place that an item must be able to reach to be offered at all."""
        self._settled, self._limit = 0, patience * queries * self.width

    @property
    def gave_up(self) -> bool:
        """Whether products distinguish so little that over `patience` times the room was scored exactly; then all is void."""
        return self._settled > self._limit

    def offer(self, rows: Ints, positions: Ints, middle: Floats, slack: Floats) -> None:
        """Adds candidates, ascending by query and then by position; middle, slack: the product and how far it may be off."""
        upper, lower = middle + slack, middle - slack
        while len(rows) and not self.gave_up:
            inside = upper >= self.entry[rows]
            rows, positions, upper, lower = rows[inside], positions[inside], upper[inside], lower[inside]
            if not len(rows):
                return
            starts = np.flatnonzero(np.diff(rows, prepend=-1))
            lengths = np.diff(starts, append=len(rows))
            slot = np.arange(len(rows)) - np.repeat(starts - self._count[rows[starts]], lengths)
            fits = slot < self.width
            at = rows[fits], slot[fits]
            self._position[at], self._upper[at], self._lower[at] = positions[fits], upper[fits], lower[fits]
            self._count[rows[starts]] = np.minimum(self._count[rows[starts]] + lengths, self.width)
            full = rows[starts][self._count[rows[starts]] >= self.width]
            self._tighten(full)
            rows, positions, upper, lower = rows[~fits], positions[~fits], upper[~fits], lower[~fits]

    def raise_entry(self, rows: Ints | slice) -> None:
        """Brings `entry` up to what the candidates of some queries show."""
        lower = self._lower[rows]
        kth = np.partition(lower, self.width - self._k, axis=1)[:, self.width - self._k]
        self._floor[rows] = np.maximum(self._floor[rows], kth)
        self.entry[rows] = np.maximum(self.entry[rows], self._floor[rows])

    def _tighten(self, rows: Ints) -> None:
        """Drops who is clearly below the k-th best; where that leaves no room, the candidates are scored exactly."""
        if not len(rows):
            return
        self.raise_entry(rows)
        stays = self._upper[rows] >= self._floor[rows][:, None]
        stays &= np.arange(self.width) < self._count[rows][:, None]
        self._arrange(rows, np.argsort(~stays, axis=1, kind="stable"), stays.sum(axis=1))
        crowded = rows[self._count[rows] > self._k + (self.width - self._k) // 2]
        if len(crowded):
            self._settle(crowded)

    def _arrange(self, rows: Ints, order: Ints, count: Ints) -> None:
        beyond = np.arange(self.width) >= count[:, None]
        self._position[rows] = np.take_along_axis(self._position[rows], order, axis=1)
        for bounds in (self._upper, self._lower):
            moved = np.take_along_axis(bounds[rows], order, axis=1)
            moved[beyond] = -np.inf
            bounds[rows] = moved
        self._count[rows] = count

    def _settle(self, rows: Ints) -> None:
        """Keeps the exact best k: from here on an item must score higher than the k-th, not the same."""
        self._settled += int(self._count[rows].sum())
        for part in np.array_split(rows, len(rows) * self.width // _PAIRS + 1):
            best = self._exact(part)
            found = best.positions >= 0
            place = self._space.place(np.where(found, best.scores, -np.inf), self._squares[part][:, None])
            self._position[part, : self._k] = best.positions
            self._upper[part, : self._k] = self._lower[part, : self._k] = np.where(found, place, -np.inf)
            self._upper[part, self._k :] = self._lower[part, self._k :] = -np.inf
            self._count[part] = found.sum(axis=1)
            sure = found[:, -1]
            last = best.scores[sure, -1]
            done = part[sure]
            self._floor[done] = np.maximum(self._floor[done], self._space.place(last, self._squares[done]))
            self.entry[done] = np.maximum(self.entry[done], self._space.after(last, self._squares[done]))

    def _exact(self, rows: Ints) -> Best:
        """The best k of some queries' candidates by exact score, then by position."""
        counts = self._count[rows]
        owner = np.repeat(np.arange(len(rows)), counts)
        positions = self._position[rows][np.arange(self.width) < counts[:, None]]
        scores = self._score(rows[owner], positions)
        order = np.lexsort((positions, -scores, owner))
        place = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
        first = place < self._k
        best = Best(np.full((len(rows), self._k), -1, dtype=np.int64), np.full((len(rows), self._k), np.nan))
        best.positions[owner[first], place[first]] = positions[order][first]
        best.scores[owner[first], place[first]] = scores[order][first]
        return best

    def best(self) -> Best:
        """The best k of every query, exactly."""
        rows = np.arange(len(self._count))
        parts: list[Best] = []
        for part in np.array_split(rows, len(rows) * self.width // _PAIRS + 1):
            if len(part):
                self.raise_entry(part)
                stays = self._upper[part] >= self._floor[part][:, None]
                stays &= np.arange(self.width) < self._count[part][:, None]
                self._arrange(part, np.argsort(~stays, axis=1, kind="stable"), stays.sum(axis=1))
            parts.append(self._exact(part))
        return Best(np.concatenate([part.positions for part in parts]), np.concatenate([part.scores for part in parts]))


def width(k: int) -> int:
    """Number of candidates in a shortlist of the best k."""
    return k + max(k, 48)
