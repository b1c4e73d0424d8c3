"""Shortlists on a device: the candidates of each query with bounds of their places;
`products.Shortlist` in torch.
"""

# Its types are unknown where the package of an extra is not installed.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from rankwell._native.products import width
from rankwell._native.similarity import Space
from rankwell.data.tables import Floats, Ints
from rankwell.vectors.neighbours.torch_device import fused
from rankwell.vectors.neighbours.torch_device.gallery import Outbox

if TYPE_CHECKING:
    import torch
    from torch import Tensor
else:
    from rankwell.vectors.neighbours.torch_device import torch

_CELLS = {"cuda": 1 << 28, "cpu": 1 << 24}
_PATIENCE = 8


class DeviceShortlist:
    """Up to `width` candidates per query, in any order; those that cannot be among the best k any
    more are dropped.

    score: exact scores of (rows, positions). is_excluded: whether the pairs of (rows, positions)
    are excluded, None for none. fuses: whether a kernel drops them.
    """

    def __init__(
        self,
        k: int,
        space: Space,
        squares: Tensor,
        score: Callable[[Tensor, Tensor], Tensor],
        is_excluded: Callable[[Tensor, Tensor], Tensor] | None,
        *,
        fuses: bool,
    ) -> None:
        n, device = len(squares), squares.device
        self._k = k
        self._space = space
        self._squares = squares
        self._score = score
        self._is_excluded = is_excluded
        self._fuses = fuses
        self.width = width(k)
        self._most = k + (self.width - k) // 2
        self.count = torch.zeros(n, dtype=torch.int32, device=device)
        self.position = torch.zeros((n, self.width), dtype=torch.int64, device=device)
        self.upper, self.lower = (
            torch.full((n, self.width), -np.inf, dtype=torch.float64, device=device)
            for _ in range(2)
        )
        self._floor, self.entry = (
            torch.full((n,), -np.inf, dtype=torch.float64, device=device) for _ in range(2)
        )
        self._slots = torch.arange(self.width, device=device)
        self.lists = fused.Lists(self.count, self.position, self.upper, self.lower)
        self._settled, self._limit = 0, _PATIENCE * n * self.width

    def loses_patience(self) -> bool:
        """Whether products distinguish so little that many times the room was scored exactly; the
        count begins anew then.
        """
        loses = self._settled > self._limit
        self._settled = 0 if loses else self._settled
        return loses

    def offer(self, rows: Tensor, positions: Tensor, upper: Tensor, lower: Tensor) -> None:
        """Adds candidates, ascending by query; upper, lower: bounds of their places."""
        while len(rows):
            slot = (
                self.count[rows]
                + torch.arange(len(rows), device=rows.device)
                - torch.searchsorted(rows, rows)
            )
            fits = slot < self.width
            fit_all = bool(fits.all())
            inside = slice(None) if fit_all else fits
            slots = rows[inside], slot[inside]
            self.position[slots], self.upper[slots], self.lower[slots] = (
                positions[inside],
                upper[inside],
                lower[inside],
            )
            self.count.index_add_(0, slots[0], torch.ones_like(slots[0], dtype=torch.int32))
            if fit_all:
                return
            left = torch.nonzero(~fits)[:, 0]
            self.make_room(torch.unique_consecutive(rows[left]))
            left = left[upper[left] >= self.entry[rows[left]]]
            rows, positions, upper, lower = rows[left], positions[left], upper[left], lower[left]

    def make_room(self, rows: Tensor) -> None:
        """Drops candidates that are clearly below the k-th best; where that leaves little room,
        scores the others exactly.
        """
        self.drop(rows)
        crowded = rows[self.count[rows] > self._most]
        for part in self._parts(crowded):
            self._settle(part)

    def crowded(self) -> Tensor:
        """The queries with little room."""
        return torch.nonzero(self.count > self._most)[:, 0]

    def _parts(self, rows: Tensor) -> tuple[Tensor, ...]:
        cells = _CELLS.get(rows.device.type, _CELLS["cpu"])
        return rows.split(max(1, cells // (self.width * 64))) if len(rows) else ()

    def drop(self, rows: Tensor) -> None:
        """Raises `entry` to what the candidates of some queries show, and drops those below it and
        those that are excluded.
        """
        for part in self._parts(rows):
            position = self.position[part]
            if self._fuses:
                excluded = (
                    None
                    if self._is_excluded is None
                    else self._is_excluded(part[:, None].expand_as(position), position)
                )
                fused.prune(part, self.lists, self._floor, self.entry, excluded, self._k)
                continue
            stays = self._slots < self.count[part][:, None]
            if self._is_excluded is not None:
                stays &= ~self._is_excluded(part[:, None].expand_as(position), position)
            lower = torch.where(stays, self.lower[part], -np.inf)
            kth = torch.topk(lower, self._k, dim=1).values[:, -1]
            self._floor[part] = torch.maximum(self._floor[part], kth)
            self.entry[part] = torch.maximum(self.entry[part], self._floor[part])
            stays &= self.upper[part] >= self._floor[part][:, None]
            order = torch.sort((~stays).to(torch.uint8), dim=1, stable=True).indices
            count = stays.sum(dim=1)
            self.position[part] = position.gather(1, order)
            beyond = self._slots >= count[:, None]
            for bounds in (self.upper, self.lower):
                bounds[part] = bounds[part].gather(1, order).masked_fill(beyond, -np.inf)
            self.count[part] = count.to(torch.int32)

    def _settle(self, rows: Tensor) -> None:
        """Keeps the exact best k: from here on an item must score higher than the k-th, not the
        same.
        """
        self._settled += int(self.count[rows].sum())
        positions, scores = self._exact(rows)
        is_item = positions >= 0
        squares = self._squares[rows]
        product_score = torch.where(
            is_item, self._space.place(torch.nan_to_num(scores), squares[:, None]), -np.inf
        )
        self.position[rows, : self._k] = positions.clamp(min=0)
        for bounds in (self.upper, self.lower):
            bounds[rows] = -np.inf
            bounds[rows, : self._k] = product_score
        self.count[rows] = is_item.sum(dim=1).to(torch.int32)
        sure = is_item[:, -1]
        rows, last, squares = rows[sure], scores[sure, -1], squares[sure]
        product_score = self._space.place(last, squares)
        after = (
            product_score
            if self._space.metric == "l2"
            else torch.nextafter(last, torch.full_like(last, np.inf))
        )
        self._floor[rows] = torch.maximum(self._floor[rows], product_score)
        self.entry[rows] = torch.maximum(self.entry[rows], after)

    def _exact(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """The best k of some queries' candidates by exact score, then by position; -1 and NaN where
        there are fewer.
        """
        is_candidate = self._slots < self.count[rows][:, None]
        owner, slot = torch.nonzero(is_candidate, as_tuple=True)
        position = torch.where(is_candidate, self.position[rows], torch.iinfo(torch.int64).max)
        scores = torch.full(position.shape, -np.inf, dtype=torch.float64, device=position.device)
        scores[owner, slot] = self._score(rows[owner], position[owner, slot])
        position, order = torch.sort(position, dim=1)
        scores, best = torch.sort(scores.gather(1, order), dim=1, descending=True, stable=True)
        position, scores = position.gather(1, best)[:, : self._k], scores[:, : self._k]
        is_item = torch.arange(self._k, device=rows.device) < is_candidate.sum(dim=1)[:, None]
        return torch.where(is_item, position, -1), torch.where(is_item, scores, np.nan)

    def best(self, positions: Ints, scores: Floats) -> None:
        """Writes the positions and exact scores of the best items of every query, (queries, k) of
        each.
        """
        all_rows = torch.arange(len(self.count), device=self.count.device)
        self.drop(all_rows)
        outbox, done = Outbox(), 0
        for part in self._parts(all_rows):
            for out, best_values in zip((positions, scores), self._exact(part), strict=True):
                outbox.send(out[done : done + len(part)], best_values)
            done += len(part)
        outbox.close()
