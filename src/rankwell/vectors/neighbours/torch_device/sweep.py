"""Search and counting with torch: all queries of a pass stay on the device, and the items pass by
in blocks.
"""

# Its types are unknown where the package of an extra is not installed.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwell._native.similarity import Space, TargetsOf, plan_passes
from rankwell.data.tables import Floats, Ints, RankCounts
from rankwell.threads import spare_memory
from rankwell.vectors.neighbours import SearchTask
from rankwell.vectors.neighbours.torch_device import fused
from rankwell.vectors.neighbours.torch_device.gallery import Gallery, free_memory, moved, on_device
from rankwell.vectors.neighbours.torch_device.shortlists import DeviceShortlist
from rankwell.vectors.neighbours.torch_device.vectors import (
    DOUBLE,
    HALF,
    Rows,
    Vectors,
    full_accumulation,
    has_tensor_cores,
    score_rows,
)

if TYPE_CHECKING:
    import torch
    from torch import Tensor
else:
    from rankwell.vectors.neighbours.torch_device import torch

_LOWEST = -3e38  # above minus infinity, which marks excluded pairs
_CELLS, _SHARE = {"cuda": 1 << 30, "cpu": 1 << 22}, 32
"""Products that are made at a time, where they are written to memory: on a GPU one for some bytes
of its free memory at most.
"""
_BLOCK = 1 << 14
"""Items of a block at most where a processor multiplies, so that its caches are of use."""
_GROUP = 64
"""Products of which the best is compared first, which reads all once and writes little."""
_GROWTH = 1.5
# An exact score on a GPU takes as long as about 2,000 products in float32; one product in a
# thousand is in doubt before a tile of queries goes on with the next precision.
_DOUBTFUL, _FREE = 1024, 32


class TorchSearch:
    """A search on a device; `rankwell.vectors.neighbours.DeviceSearch`."""

    def __init__(self, task: SearchTask, device: torch.device) -> None:
        self.task, self.device = task, device
        self.space = Space(task.queries, task.items, task.metric)
        self.append = fused_kernel(device)
        self.vectors = Vectors(
            self.space, device, multiple=1 if self.append is None else fused.INNER
        )
        self.item_block = task.item_block if device.type == "cuda" else min(task.item_block, _BLOCK)
        self.gallery = Gallery(task.items, device, self.item_block)
        cells = _CELLS.get(device.type, _CELLS["cuda"])
        self.cells = min(cells, free_memory(device) // _SHARE) if device.type == "cuda" else cells
        exclusion = task.exclusion
        self._same = None if exclusion.same_name is None else on_device(exclusion.same_name, device)
        self._labels = (
            None
            if exclusion.labels is None
            else tuple(on_device(side, device) for side in exclusion.labels)
        )

    def best(self, k: int) -> tuple[Ints, Floats]:
        """The positions and exact scores of the best items, (queries, k) of each; k is not above
        the number of items.
        """
        shape = self.task.queries.n, k
        with ThreadPoolExecutor(1) as allocator:
            # The first touch of so much memory takes time, in which the device is at work.
            arrays = allocator.submit(
                lambda: (np.full(shape, -1, dtype=np.int64), np.full(shape, np.nan))
            )

            def _finish(lists: _DeviceLists) -> None:
                positions, scores = arrays.result()
                lists.shortlist.best(positions[lists.span], scores[lists.span])

            self._run(
                lambda first, rows: _DeviceLists(self, first, rows, k), _finish, 24 * (2 * k + 48)
            )
            return arrays.result()

    def counts(self, m: int, wanted: TargetsOf, places: Ints | None) -> RankCounts:
        """The rank counts of m targets per query. places: of all items, as in `ranks_of`."""
        shape = self.task.queries.n, m
        counts = RankCounts(
            np.full(shape, np.nan), *(np.full(shape, -1, dtype=np.int64) for _ in range(3))
        )
        order = None if places is None else on_device(places, self.device)

        def _finish(part: _DeviceCounts) -> None:
            for column, part_column in zip(counts, part.found(), strict=True):
                column[part.span] = part_column

        self._run(
            lambda first, rows: _DeviceCounts(self, first, rows, wanted, order), _finish, 64 * m
        )
        return counts

    def _run(
        self, begin: Callable[[int, Rows], Any], finish: Callable[[Any], None], bytes_each: int
    ) -> None:
        n, table = self.task.queries.n, self.task.queries
        if not n:
            return
        state = (10 + table.vectors.dtype.itemsize) * self.vectors.dimensions + bytes_each + 64
        memory = self.task.memory or (
            free_memory(self.device) // 2 if self.device.type == "cuda" else spare_memory()
        )
        passes = plan_passes(n, state, memory).passes
        on_gpu = torch.cuda.device(self.device) if self.device.type == "cuda" else nullcontext()
        with torch.inference_mode(), full_accumulation(), on_gpu:
            for number in range(passes):
                first, stop = n * number // passes, n * (number + 1) // passes
                self._pass(first, stop, begin, finish)

    def _pass(
        self,
        first: int,
        stop: int,
        begin: Callable[[int, Rows], Any],
        finish: Callable[[Any], None],
    ) -> None:
        collector = None
        for start, raw in self.gallery.blocks():
            items = self.vectors.ready(raw)
            if self._is_odd(items):
                self.space.items(start, start + len(raw))
            if collector is None:
                raw = moved(
                    self.task.queries.vectors, range(first, stop), self.item_block, self.device
                )
                queries = self.vectors.ready(raw, by_row=True)
                if self._is_odd(queries):
                    self.space.queries(first, stop)
                collector = begin(first, queries)
            collector.take(start, items)
            self.task.advance(len(items.low) * (stop - first))
        if collector is not None:
            finish(collector)

    def _is_odd(self, rows: Rows) -> bool:
        """Whether some norms are not plainly usable; the space then raises for vectors that cannot
        be compared.
        """
        low, high = (2.0**-249, 2.0**249) if self.vectors.metric == "cosine" else (-1.0, 9.9e8)
        return not bool(((rows.size > low) & (rows.size < high)).all())

    def is_excluded(self, first: int) -> Callable[[Tensor, Tensor], Tensor] | None:
        """Whether pairs of a query, counted from `first`, and a position are excluded; None where
        none is.
        """
        if self._same is None and self._labels is None:
            return None

        def _excluded(rows: Tensor, positions: Tensor) -> Tensor:
            rows = rows + first
            is_pair_excluded = torch.zeros(
                torch.broadcast_shapes(rows.shape, positions.shape),
                dtype=torch.bool,
                device=self.device,
            )
            if self._same is not None:
                is_pair_excluded |= self._same[rows] == positions
            if self._labels is not None:
                is_pair_excluded |= self._labels[0][rows] == self._labels[1][positions]
            return is_pair_excluded

        return _excluded


class _DeviceFindings:
    """A range of queries on the device, and their products with blocks of items."""

    def __init__(self, search: TorchSearch, first: int, queries: Rows) -> None:
        self._search, self._queries, self._first = search, queries, first
        self._vectors, self._task = search.vectors, search.task
        self._n, self.span = len(queries.low), slice(first, first + len(queries.low))
        self._is_excluded = search.is_excluded(first)
        self._squares = self._vectors.squares(queries)
        self._every = torch.arange(self._n, device=search.device)

    def _tiles(self, rows: int, columns: int) -> Iterator[slice]:
        """Ranges of rows whose products with the columns fit the memory."""
        step = max(1, min(self._task.query_block, self._search.cells // max(columns, 1)))
        return (slice(first, min(first + step, rows)) for first in range(0, rows, step))

    def _products(self, rows: Tensor, queries: Rows, start: int, items: Rows, level: int) -> Tensor:
        """The products of some queries, whose rows are named, minus infinity for excluded pairs."""
        products = self._vectors.products(queries, items, level)
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
        self.shortlist = DeviceShortlist(
            k, search.space, self._squares, self._score_positions, self._is_excluded, fuses=fuses
        )

    def _score_positions(self, rows: Tensor, positions: Tensor) -> Tensor:
        gallery = self._search.gallery
        parts = zip(rows.split(gallery.most_rows), positions.split(gallery.most_rows), strict=True)
        return torch.cat([self._score(row, gallery.rows(part)) for row, part in parts])

    def take(self, start: int, items: Rows) -> None:
        """Takes in a block: the first items by and by, so that few of each part reach the bounds
        that those before it set.
        """
        done, n = 0, len(items.low)
        while done < n:
            n_seen = start + done
            step = n_seen // 2 or self.shortlist.width
            stop = min(n, done + (step - step % _GROUP if step > _GROUP else step))
            if n_seen and start + stop > _GROWTH * self._dropped:
                self._dropped = n_seen
                self.shortlist.make_room(self._every)
            self._take(n_seen, items.part(slice(done, stop)) if (done, stop) != (0, n) else items)
            done = stop
            if self._level != DOUBLE and self.shortlist.loses_patience():
                self._level += 1

    def _take(self, start: int, items: Rows) -> None:
        if self._search.append is None or self._level != HALF:
            self._offer(self._every, start, items)
            return
        shortlist, queries, vectors = self.shortlist, self._queries, self._vectors
        unit, slack = vectors.units(queries, HALF), vectors.slack(queries, items, HALF)
        before = shortlist.count.clone()
        self._search.append(
            shortlist.lists,
            queries.low,
            items.low,
            vectors.item_scale(items),
            vectors.offsets(queries, items) if vectors.metric == "l2" else None,
            (_cut(shortlist.entry - slack, unit, torch.float32), unit, slack),
            start,
        )
        crowded = shortlist.crowded()
        overflown = crowded[shortlist.count[crowded] > shortlist.width]
        if len(overflown):
            shortlist.count[overflown] = before[overflown]
            self._offer(overflown, start, items)
        shortlist.make_room(crowded)

    def _offer(self, rows: Tensor, start: int, items: Rows) -> None:
        """Offers the items to some queries, from products that are written to memory."""
        shortlist, vectors, level = self.shortlist, self._vectors, self._level
        queries = self._queries if rows is self._every else self._queries.part(rows)
        unit, slack = vectors.units(queries, level), vectors.slack(queries, items, level)
        for tile in self._tiles(len(rows), len(items.low)):
            tile_rows, tile_unit, tile_slack = rows[tile], unit[tile], slack[tile]
            products = self._products(tile_rows, queries.part(tile), start, items, level)
            cut = _cut(shortlist.entry[tile_rows] - tile_slack, tile_unit, products.dtype)
            groups = products.view(
                len(tile_rows), _GROUP if products.shape[1] % _GROUP == 0 else 1, -1
            )
            reaches = groups.amax(dim=1) >= cut[:, None]
            if int(reaches.sum()) > 4 * self._k * len(tile_rows):
                kth = (
                    torch.topk(products, min(self._k, products.shape[1]), dim=1)
                    .values[:, -1]
                    .double()
                    * tile_unit
                )
                cut = torch.maximum(cut, _cut(kth - 2 * tile_slack, tile_unit, products.dtype))
                reaches = groups.amax(dim=1) >= cut[:, None]
            row, column = _reaching(groups, reaches, cut)
            middle, off = products[row, column].double() * tile_unit[row], tile_slack[row]
            shortlist.offer(tile_rows[row], column + start, middle + off, middle - off)


class _DeviceCounts(_DeviceFindings):
    """The rank counts of the wanted items of a range of queries, each tile of queries at a
    precision of its own.

    order: the places of all items among items of equal score; None for their positions.
    """

    def __init__(
        self,
        search: TorchSearch,
        first: int,
        queries: Rows,
        wanted: TargetsOf,
        order: Tensor | None,
    ) -> None:
        super().__init__(search, first, queries)
        targets = wanted(self.span)
        self._order, self._places = order, on_device(targets.tie_places, search.device)
        self._scores = on_device(targets.scores, search.device)
        self._missing = torch.isnan(self._scores)
        self._place = search.space.place(
            torch.where(self._missing, 0.0, self._scores), self._squares[:, None]
        )
        self._above, self._tied, self._before = (
            torch.zeros_like(self._place, dtype=torch.int64) for _ in range(3)
        )
        self._levels = dict[int, int]()

    def take(self, start: int, items: Rows) -> None:
        """Counts the items of a block."""
        for number, tile in enumerate(self._tiles(self._n, self._search.item_block)):
            level = self._levels.get(number, HALF)
            while not self._count(tile, start, items, level):
                level += 1
            self._levels[number] = level

    def _count(self, tile: slice, start: int, items: Rows, level: int) -> bool:
        """Counts the items for some queries; false, and nothing is counted, where too many products
        are in doubt.
        """
        queries = self._queries.part(tile)
        products = self._products(self._every[tile], queries, start, items, level)
        unit = self._vectors.units(queries, level)
        slack = self._vectors.slack(queries, items, level)
        targets, m = self._place[tile], self._place.shape[1]
        unit, slack = unit[:, None], slack[:, None]
        low = _cut(targets - slack, unit, products.dtype)
        high = -_cut(-(targets + slack), unit, products.dtype)
        above = torch.zeros_like(targets, dtype=torch.int64)
        doubtful: list[tuple[Tensor, Tensor, Tensor]] = []
        for target in range(m):
            greater = products > high[:, target, None]
            above[:, target] = greater.sum(dim=1)
            row, column = torch.nonzero(
                (products >= low[:, target, None]) & ~greater, as_tuple=True
            )
            doubtful.append((row, column, torch.full_like(row, target)))
        row, column, target = (
            (torch.cat(column) for column in zip(*doubtful, strict=True))
            if m
            else (self._every[:0],) * 3
        )
        if level != DOUBLE and len(row) > products.numel() * m // _DOUBTFUL + _FREE * len(products):
            return False
        self._above[tile] += above
        row = row + tile.start
        exact_scores = self._score(row, (items.raw, column))
        target_scores = self._scores[row, target]
        cells = (row, target)
        ones = torch.ones_like(row)
        is_tied, column = exact_scores == target_scores, column + start
        order = column if self._order is None else self._order[column]
        self._above.index_put_(cells, ones * (exact_scores > target_scores), accumulate=True)
        self._tied.index_put_(cells, ones * is_tied, accumulate=True)
        self._before.index_put_(
            cells, ones * (is_tied & (order < self._places[cells])), accumulate=True
        )
        return True

    def found(self) -> RankCounts:
        """The counts, -1 without an item."""
        counts = (
            torch.where(self._missing, -1, counts_of_kind).cpu().numpy()
            for counts_of_kind in (self._above, self._tied, self._before)
        )
        return RankCounts(self._scores.cpu().numpy(), *counts)


def _cut(places: Tensor, unit: Tensor, dtype: torch.dtype) -> Tensor:
    """Places in units of their queries, rounded down in the type of the products, above minus
    infinity.
    """
    products = (places / unit).clamp(min=_LOWEST).to(dtype)
    return torch.nextafter(products, torch.full_like(products, -np.inf))


def _reaching(groups: Tensor, reaches: Tensor, cut: Tensor) -> tuple[Tensor, Tensor]:
    """The rows, ascending, and columns of products, (rows, size, groups), that reach the cut of
    their row in groups that do.
    """
    row, group = torch.nonzero(reaches, as_tuple=True)
    pair, member = torch.nonzero(groups[row, :, group] >= cut[row, None], as_tuple=True)
    return row[pair], member * groups.shape[2] + group[pair]


def fused_kernel(device: torch.device) -> Callable[..., None] | None:
    """The kernel that multiplies, compares and appends; None where Triton or tensor cores are
    missing.
    """
    if not has_tensor_cores(device) and os.environ.get("TRITON_INTERPRET") != "1":
        return None
    if not fused.is_available():
        return None
    tile = fused.tile_for(device)

    def _append(*words: Any) -> None:
        fused.append(*words, tile=tile)

    return _append
