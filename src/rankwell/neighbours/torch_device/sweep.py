"""Search and counting with torch: all queries of a pass stay on the device, and the items pass by in blocks."""

# Its types are unknown where the package of an extra is not installed.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwell.core.kernels.similarity import Space
from rankwell.core.kernels.sweep import TargetsOf, plan_passes
from rankwell.core.kernels.workers import spare_memory
from rankwell.core.tables import Floats, Ints, RankCounts
from rankwell.neighbours import SearchTask
from rankwell.neighbours.torch_device import fused
from rankwell.neighbours.torch_device.gallery import Gallery, free_memory, on_device
from rankwell.neighbours.torch_device.shortlists import DeviceShortlist
from rankwell.neighbours.torch_device.vectors import DOUBLE, HALF, Rows, Vectors, full_accumulation, has_tensor_cores, score_rows

if TYPE_CHECKING:
    import torch
    from torch import Tensor
else:
    from rankwell.neighbours.torch_device import torch

_LOWEST = -3e38  # above minus infinity, which marks excluded pairs
_CELLS = {"cuda": 1 << 27, "cpu": 1 << 22}
"""Products that are made at a time, where they are written to memory."""
_GROWTH = 1.5
_FIRST = 8
"""Items of the first part for each of the best k."""
# An exact score on a GPU takes as long as about 2,000 products in float32; one product in a thousand is in doubt before a tile of
# queries goes on with the next precision.
_DOUBTFUL, _FREE = 1024, 32


class TorchSearch:
    """A search on a device; `rankwell.neighbours.DeviceSearch`."""

    def __init__(self, task: SearchTask, device: torch.device) -> None:
        self.task, self.device = task, device
        self.space = Space(task.queries, task.items, task.metric)
        self.vectors = Vectors(self.space, device)
        self.gallery = Gallery(task.items, device, task.item_block)
        exclusion = task.exclusion
        self._same = None if exclusion.same_name is None else on_device(exclusion.same_name, device)
        self._labels = None if exclusion.labels is None else tuple(on_device(side, device) for side in exclusion.labels)
        self.append = fused_kernel(device)

    def best(self, k: int) -> tuple[Ints, Floats]:
        """(queries, k) positions and exact scores of the best items; k is not above the number of items."""
        shape = self.task.queries.n, k
        positions, scores = np.full(shape, -1, dtype=np.int64), np.full(shape, np.nan)

        def _finish(found: _DeviceLists) -> None:
            best = found.shortlist.best()
            positions[found.span], scores[found.span] = (each.numpy() for each in best)

        self._run(lambda first, rows: _DeviceLists(self, first, rows, k), _finish, 24 * (2 * k + 48))
        return positions, scores

    def counts(self, m: int, wanted: TargetsOf, places: Ints | None) -> RankCounts:
        """(queries, m) the rank counts of targets. places: of all items, as in `ranks_of`."""
        shape = self.task.queries.n, m
        found = RankCounts(np.full(shape, np.nan), *(np.full(shape, -1, dtype=np.int64) for _ in range(3)))
        order = None if places is None else on_device(places, self.device)

        def _finish(part: _DeviceCounts) -> None:
            for whole, some in zip(found, part.found(), strict=True):
                whole[part.span] = some

        self._run(lambda first, rows: _DeviceCounts(self, first, rows, wanted, order), _finish, 64 * m)
        return found

    def _run(self, begin: Callable[[int, Rows], Any], finish: Callable[[Any], None], bytes_each: int) -> None:
        n, table = self.task.queries.n, self.task.queries
        if not n:
            return
        state = (10 + table.vectors.dtype.itemsize) * self.vectors.dimensions + bytes_each + 64
        memory = self.task.memory or (free_memory(self.device) // 2 if self.device.type == "cuda" else spare_memory())
        passes = plan_passes(n, state, memory).passes
        on_gpu = torch.cuda.device(self.device) if self.device.type == "cuda" else nullcontext()
        with torch.inference_mode(), full_accumulation(), on_gpu:
            for number in range(passes):
                first, stop = n * number // passes, n * (number + 1) // passes
                self._pass(first, stop, begin, finish)

    def _pass(self, first: int, stop: int, begin: Callable[[int, Rows], Any], finish: Callable[[Any], None]) -> None:
        found = None
        for start, raw in self.gallery.blocks():
            items = self.vectors.ready(raw)
            if self._is_odd(items):
                self.space.items(start, start + len(raw))
            if found is None:
                raw = on_device(np.asarray(self.task.queries.vectors[first:stop]), self.device)
                queries = self.vectors.ready(raw, each=True)
                if self._is_odd(queries):
                    self.space.queries(first, stop)
                found = begin(first, queries)
            found.take(start, items)
            self.task.advance(len(items.low) * (stop - first))
        if found is not None:
            finish(found)

    def _is_odd(self, rows: Rows) -> bool:
        """Whether some norms are not plainly usable; the space then raises for vectors that cannot be compared."""
        low, high = (2.0**-249, 2.0**249) if self.vectors.metric == "cosine" else (-1.0, 9.9e8)
        return not bool(((rows.size > low) & (rows.size < high)).all())

    def is_excluded(self, first: int) -> Callable[[Tensor, Tensor], Tensor] | None:
        """Whether pairs of a query, counted from `first`, and a position are excluded; None where none is."""
        if self._same is None and self._labels is None:
            return None

        def _excluded(rows: Tensor, positions: Tensor) -> Tensor:
            rows = rows + first
            found = torch.zeros(torch.broadcast_shapes(rows.shape, positions.shape), dtype=torch.bool, device=self.device)
            if self._same is not None:
                found |= self._same[rows] == positions
            if self._labels is not None:
                found |= self._labels[0][rows] == self._labels[1][positions]
            return found

        return _excluded


class _DeviceFindings:
    """A range of queries on the device, and their products with blocks of items."""

    def __init__(self, search: TorchSearch, first: int, queries: Rows) -> None:
        self._search, self._queries, self._first = search, queries, first
        self._vectors, self._task = search.vectors, search.task
        self._n, self.span = len(queries.low), slice(first, first + len(queries.low))
        self._is_excluded = search.is_excluded(first)
        self._squares = self._vectors.squares(queries)

    def _tiles(self, rows: Tensor, columns: int) -> Iterator[Tensor]:
        """The rows in tiles whose products with the columns fit the memory."""
        cells = _CELLS.get(self._search.device.type, _CELLS["cuda"])
        yield from rows.split(max(1, min(self._task.query_block, cells // max(columns, 1))))

    def _products(self, rows: Tensor, start: int, items: Rows, level: int) -> Tensor:
        """The products of some queries, minus infinity for excluded pairs."""
        products = self._vectors.products(self._queries.part(rows), items, level)
        if self._is_excluded is not None:
            positions = torch.arange(start, start + len(items.low), device=rows.device)
            products.masked_fill_(self._is_excluded(rows[:, None], positions[None, :]), -np.inf)
        return products

    def _score(self, rows: Tensor, items: tuple[Tensor, Tensor]) -> Tensor:
        """Exact scores of queries with rows of a table of vectors as stored."""
        return score_rows((self._queries.raw, rows), items, self._vectors.metric)


class _DeviceLists(_DeviceFindings):
    """The shortlists of a range of queries."""

    def __init__(self, search: TorchSearch, first: int, queries: Rows, k: int) -> None:
        super().__init__(search, first, queries)
        self._k, self._level, self._dropped = k, HALF, 0
        fuses = search.append is not None
        self.shortlist = DeviceShortlist(k, search.space, self._squares, self._score_positions, self._is_excluded, fuses=fuses)
        self._every = torch.arange(self._n, device=search.device)

    def _score_positions(self, rows: Tensor, positions: Tensor) -> Tensor:
        gallery = self._search.gallery
        parts = zip(rows.split(gallery.most_rows), positions.split(gallery.most_rows), strict=True)
        return torch.cat([self._score(row, gallery.rows(part)) for row, part in parts])

    def take(self, start: int, items: Rows) -> None:
        """Takes in a block: the first items by and by, so that few of each part reach the bounds that those before it set."""
        done, n = 0, len(items.low)
        while done < n:
            seen = start + done
            stop = min(n, done + max(seen // 2, _FIRST * self._k))
            part = items.part(slice(done, stop)) if (done, stop) != (0, n) else items
            self._take(seen, part)
            done = stop
            if start + done >= _GROWTH * self._dropped:
                self._dropped = start + done
                self.shortlist.make_room(self._every)
            if self._level != DOUBLE and self.shortlist.loses_patience():
                self._level += 1

    def _take(self, start: int, items: Rows) -> None:
        if self._search.append is None or not start or self._level != HALF:
            self._offer(self._every, start, items)
            return
        shortlist, queries = self.shortlist, self._queries
        unit, slack = self._vectors.units(queries, HALF), self._vectors.slack(queries, items, HALF)
        before = shortlist.count.clone()
        self._search.append(
            (shortlist.count, shortlist.position, shortlist.upper, shortlist.lower), (queries.low, items.low),
            (items.scale.float(), self._vectors.offsets(queries, items) if self._vectors.metric == "l2" else None),
            (_cut(shortlist.entry - slack, unit, torch.float32), unit, slack), start,
        )  # fmt: skip
        overflown = torch.nonzero(shortlist.count > shortlist.width)[:, 0]
        if len(overflown):
            shortlist.count[overflown] = before[overflown]
            self._offer(overflown, start, items)
        shortlist.make_room(shortlist.crowded())

    def _offer(self, rows: Tensor, start: int, items: Rows) -> None:
        """Offers the items to some queries, from products that are written to memory."""
        shortlist, vectors, level = self.shortlist, self._vectors, self._level
        for tile in self._tiles(rows, len(items.low)):
            queries = self._queries.part(tile)
            products = self._products(tile, start, items, level)
            unit, slack = vectors.units(queries, level), vectors.slack(queries, items, level)
            cut = _cut(shortlist.entry[tile] - slack, unit, products.dtype)
            mask = products >= cut[:, None]
            if products.shape[1] > self._k and int(mask.sum()) > 4 * self._k * len(tile):
                kth = torch.topk(products, self._k, dim=1).values[:, -1].double() * unit
                cut = torch.maximum(cut, _cut(kth - 2 * slack, unit, products.dtype))
                mask = products >= cut[:, None]
            row, column = torch.nonzero(mask, as_tuple=True)
            middle, off = products[row, column].double() * unit[row], slack[row]
            shortlist.offer(tile[row], column + start, middle + off, middle - off)


class _DeviceCounts(_DeviceFindings):
    """The rank counts of the wanted items of a range of queries, each tile of queries at a precision of its own.

    order: the places of all items among items of equal score; None for their positions.
    """

    def __init__(self, search: TorchSearch, first: int, queries: Rows, wanted: TargetsOf, order: Tensor | None) -> None:
        super().__init__(search, first, queries)
        targets = wanted(self.span)
        self._order, self._places = order, on_device(targets.places, search.device)
        self._scores = on_device(targets.scores, search.device)
        self._missing = torch.isnan(self._scores)
        self._place = search.space.place(torch.where(self._missing, 0.0, self._scores), self._squares[:, None])
        self._above, self._tied, self._before = (torch.zeros_like(self._place, dtype=torch.int64) for _ in range(3))
        self._levels = dict[int, int]()

    def take(self, start: int, items: Rows) -> None:
        """Counts the items of a block."""
        for number, tile in enumerate(self._tiles(torch.arange(self._n, device=self._place.device), self._task.item_block)):
            level = self._levels.get(number, HALF)
            while not self._count(tile, start, items, level):
                level += 1
            self._levels[number] = level

    def _count(self, tile: Tensor, start: int, items: Rows, level: int) -> bool:
        """Counts the items for some queries; false, and nothing is counted, where too many products are in doubt."""
        queries = self._queries.part(tile)
        products = self._products(tile, start, items, level)
        unit, slack = self._vectors.units(queries, level), self._vectors.slack(queries, items, level)
        place, m = self._place[tile], self._place.shape[1]
        unit, slack = unit[:, None], slack[:, None]
        low, high = _cut(place - slack, unit, products.dtype), -_cut(-(place + slack), unit, products.dtype)
        above = torch.zeros_like(place, dtype=torch.int64)
        doubtful: list[tuple[Tensor, Tensor, Tensor]] = []
        for which in range(m):
            greater = products > high[:, which, None]
            above[:, which] = greater.sum(dim=1)
            row, column = torch.nonzero((products >= low[:, which, None]) & ~greater, as_tuple=True)
            doubtful.append((row, column, torch.full_like(row, which)))
        row, column, which = (torch.cat(each) for each in zip(*doubtful, strict=True)) if m else (tile[:0],) * 3
        if level != DOUBLE and len(row) > products.numel() * m // _DOUBTFUL + _FREE * len(tile):
            return False
        self._above[tile] += above
        row = tile[row]
        near, mine = self._score(row, (items.raw, column)), self._scores[row, which]
        at, one = (row, which), torch.ones_like(row)
        is_tied, column = near == mine, column + start
        order = column if self._order is None else self._order[column]
        self._above.index_put_(at, one * (near > mine), accumulate=True)
        self._tied.index_put_(at, one * is_tied, accumulate=True)
        self._before.index_put_(at, one * (is_tied & (order < self._places[at])), accumulate=True)
        return True

    def found(self) -> RankCounts:
        """The counts, -1 without an item."""
        counts = (torch.where(self._missing, -1, each).cpu().numpy() for each in (self._above, self._tied, self._before))
        return RankCounts(self._scores.cpu().numpy(), *counts)


def _cut(places: Tensor, unit: Tensor, dtype: torch.dtype) -> Tensor:
    """Places in units of their queries, rounded down in the type of the products, above minus infinity."""
    found = (places / unit).clamp(min=_LOWEST).to(dtype)
    return torch.nextafter(found, torch.full_like(found, -np.inf))


def fused_kernel(device: torch.device) -> Callable[..., None] | None:
    """The kernel that multiplies, compares and appends; None where Triton or tensor cores are missing."""
    if not has_tensor_cores(device) and os.environ.get("TRITON_INTERPRET") != "1":
        return None
    if not fused.is_available():
        return None
    tile = fused.KernelTile() if device.type == "cuda" else fused.KernelTile(32, 128, 64)

    def _append(lists: Any, vectors: Any, factors: Any, bounds: Any, first: int) -> None:
        queries, items = (each.contiguous() for each in vectors)
        scale, offsets = factors
        fused.append(fused.Lists(*lists), queries, items, scale, offsets, bounds, first, tile)

    return _append
