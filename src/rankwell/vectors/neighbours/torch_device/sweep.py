"""Search and counting with torch: all queries of a pass stay on the device, and the items pass by
in blocks.
"""

# Its types are unknown where the package of an extra is not installed.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwell._native.products import Best, no_items, width
from rankwell._native.similarity import Space, TargetsOf, plan_passes
from rankwell.data.tables import Ints, RankCounts
from rankwell.threads import spare_memory
from rankwell.vectors.neighbours import SearchTask, no_counts
from rankwell.vectors.neighbours.torch_device import fused
from rankwell.vectors.neighbours.torch_device.vectors import (
    DOUBLE,
    HALF,
    Array,
    Gallery,
    Rows,
    TableRows,
    Vectors,
    free_memory,
    full_accumulation,
    has_tensor_cores,
    moved,
    on_device,
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
_LISTED = {"cuda": 1 << 22, "cpu": 1 << 18}
"""Places of shortlists that are worked on at a time."""
_BLOCK = 1 << 14
"""Items of a block at most where a processor multiplies, so that its caches are of use."""
_GROUP = 64
"""Products of which the best is compared first, which reads all once and writes little."""
_GROWTH = 1.5
_PATIENCE = 8
# An exact score on a GPU takes as long as about 2,000 products in float32; one product in a
# thousand is in doubt before a tile of queries goes on with the next precision.
_DOUBTFUL, _FREE = 1024, 32

Begin = Callable[["TorchSearch", int, Rows], "_DeviceLists | _DeviceCounts"]
"""Begins the findings of queries, the number of the first of which is given."""


class TorchSearch:
    """A search on a device as a whole, with the results and errors of one on the processor."""

    def __init__(self, task: SearchTask, device: torch.device) -> None:
        self.task, self.device = task, device
        self.space = Space(task.queries, task.items, task.metric)
        # A kernel multiplies, compares and appends where Triton and tensor cores are there.
        can_fuse = has_tensor_cores(device) or os.environ.get("TRITON_INTERPRET") == "1"
        self.append: Callable[..., None] | None = None
        if can_fuse and fused.is_available():
            self.append = partial(fused.append, tile=fused.tile_for(device))
        self.vectors = Vectors(
            self.space, device, multiple=1 if self.append is None else fused.INNER
        )
        self.item_block = task.item_block if device.type == "cuda" else min(task.item_block, _BLOCK)
        self.gallery = Gallery(task.items, device, self.item_block)
        cells = _CELLS.get(device.type, _CELLS["cuda"])
        self.cells = min(cells, free_memory(device) // _SHARE) if device.type == "cuda" else cells
        same, labels = task.exclusion.same_name, task.exclusion.labels
        self.same_name = None if same is None else on_device(same, device)
        self.labels = None if labels is None else tuple(on_device(side, device) for side in labels)

    def best(self, k: int) -> Best:
        """The positions and exact scores of the best items, (queries, k) of each; k is not above
        the number of items.
        """
        with ThreadPoolExecutor(1) as allocator:
            # The first touch of so much memory takes time, in which the device is at work.
            results = allocator.submit(no_items, self.task.queries.n, k)
            self._run(partial(_DeviceLists, k=k, results=results), 24 * (2 * k + 48))
            return results.result()

    def counts(self, m: int, wanted: TargetsOf, places: Ints | None) -> RankCounts:
        """The rank counts of m targets per query. places: of all items, as in `ranks_of`."""
        counts = no_counts(self.task.queries.n, m)
        order = None if places is None else on_device(places, self.device)
        self._run(partial(_DeviceCounts, wanted=wanted, order=order, results=counts), 64 * m)
        return counts

    def _run(self, begin: Begin, bytes_each: int) -> None:
        n, table = self.task.queries.n, self.task.queries
        if not n:
            return
        state = (10 + table.vectors.dtype.itemsize) * self.vectors.dimensions + bytes_each + 64
        memory, on_gpu = self.task.memory, nullcontext()
        if self.device.type == "cuda":
            on_gpu, memory = torch.cuda.device(self.device), memory or free_memory(self.device) // 2
        passes = plan_passes(n, state, memory or spare_memory())
        with torch.inference_mode(), full_accumulation(), on_gpu:
            for number in range(passes):
                self._pass(n * number // passes, n * (number + 1) // passes, begin)

    def _pass(self, first: int, stop: int, begin: Begin) -> None:
        findings = None
        for start, raw in self.gallery.blocks():
            items = self.vectors.ready(raw)
            if self._is_odd(items):
                self.space.items(start, start + len(raw))
            if findings is None:
                raw = moved(
                    self.task.queries.vectors, range(first, stop), self.item_block, self.device
                )
                queries = self.vectors.ready(raw, by_row=True)
                if self._is_odd(queries):
                    self.space.queries(first, stop)
                findings = begin(self, first, queries)
            findings.take(start, items)
            self.task.advance(len(items.low) * (stop - first))
        if findings is not None:
            findings.finish()

    def _is_odd(self, rows: Rows) -> bool:
        """Whether some norms are not plainly usable; the space then raises for vectors that cannot
        be compared.
        """
        low, high = (2.0**-249, 2.0**249) if self.vectors.metric == "cosine" else (-1.0, 9.9e8)
        return not bool(((rows.size > low) & (rows.size < high)).all())


class _DeviceFindings:
    """A range of queries on the device, and their products with blocks of items."""

    def __init__(self, search: TorchSearch, first: int, queries: Rows) -> None:
        self._search, self._queries, self._first = search, queries, first
        self._vectors, self._space = search.vectors, search.space
        self._n, self._span = len(queries.low), slice(first, first + len(queries.low))
        self._squares = self._vectors.squares(queries)
        self._every = torch.arange(self._n, device=search.device)

    def _tiles(self, rows: int, columns: int) -> Iterator[slice]:
        """Ranges of rows whose products with the columns fit the memory."""
        search = self._search
        step = max(1, min(search.task.query_block, search.cells // max(columns, 1)))
        return (slice(first, min(first + step, rows)) for first in range(0, rows, step))

    def _excluded(self, rows: Tensor, positions: Tensor) -> Tensor | None:
        """Whether pairs of a query and a position are excluded; None where none is."""
        same_name, labels, rows = self._search.same_name, self._search.labels, rows + self._first
        has_name = None if same_name is None else same_name[rows] == positions
        if labels is None:
            return has_name
        has_label = labels[0][rows] == labels[1][positions]
        return has_label if has_name is None else has_name | has_label

    def _products(self, rows: Tensor, queries: Rows, start: int, items: Rows, level: int) -> Tensor:
        """The products of some queries, whose rows are named, minus infinity for excluded pairs."""
        products = self._vectors.products(queries, items, level)
        positions = torch.arange(start, start + len(items.low), device=rows.device)
        if (excluded := self._excluded(rows[:, None], positions[None, :])) is not None:
            products.masked_fill_(excluded, -np.inf)
        return products

    def _score(self, rows: Tensor, items: TableRows) -> Tensor:
        """Exact scores of queries with rows of a table of vectors as stored."""
        return score_rows((self._queries.raw, rows), items, self._vectors.metric)


class _DeviceLists(_DeviceFindings):
    """Up to `width` candidates of each query, in any order, with bounds of their places; those that
    cannot be among the best k any more are dropped: `products.Shortlist` in torch.

    results: the positions and scores of all queries, to be filled in.
    """

    def __init__(
        self, search: TorchSearch, first: int, queries: Rows, k: int, results: Future[Best]
    ) -> None:
        super().__init__(search, first, queries)
        self._k, self._level, self._dropped, self._results = k, HALF, 0, results
        n, device, self._width = self._n, search.device, width(k)
        table = n, self._width
        self._most = k + (self._width - k) // 2
        self._count = torch.zeros(n, dtype=torch.int32, device=device)
        self._position = torch.zeros(table, dtype=torch.int64, device=device)
        self._upper, self._lower, self._floor, self._entry = (
            torch.full(shape, -np.inf, dtype=torch.float64, device=device)
            for shape in (table, table, (n,), (n,))
        )
        self._lists = fused.Lists(self._count, self._position, self._upper, self._lower)
        self._slots = torch.arange(self._width, device=device)
        self._settled = 0

    def take(self, start: int, items: Rows) -> None:
        """Takes in a block: the first items by and by, so that few of each part reach the bounds
        that those before it set.
        """
        done, n = 0, len(items.low)
        while done < n:
            n_seen = start + done
            step = n_seen // 2 or self._width
            stop = min(n, done + (step - step % _GROUP if step > _GROUP else step))
            if n_seen and start + stop > _GROWTH * self._dropped:
                self._dropped = n_seen
                self._make_room(self._every)
            self._take(n_seen, items.part(slice(done, stop)) if (done, stop) != (0, n) else items)
            done = stop
            # Products distinguish so little that many times the room was scored exactly.
            if self._level != DOUBLE and self._settled > _PATIENCE * self._n * self._width:
                self._level, self._settled = self._level + 1, 0

    def _take(self, start: int, items: Rows) -> None:
        if self._search.append is None or self._level != HALF:
            self._multiply(self._every, start, items)
            return
        queries, vectors = self._queries, self._vectors
        unit, slack = vectors.units(queries, HALF), vectors.slack(queries, items, HALF)
        before = self._count.clone()
        self._search.append(
            self._lists,
            queries.low,
            items.low,
            vectors.item_scale(items),
            vectors.offsets(queries, items) if vectors.metric == "l2" else None,
            (_cut(self._entry - slack, unit, torch.float32), unit, slack),
            start,
        )
        crowded = torch.nonzero(self._count > self._most)[:, 0]
        overflown = crowded[self._count[crowded] > self._width]
        if len(overflown):
            self._count[overflown] = before[overflown]
            self._multiply(overflown, start, items)
        self._make_room(crowded)

    def _multiply(self, rows: Tensor, start: int, items: Rows) -> None:
        """Offers the items to some queries, from products that are written to memory."""
        vectors, level = self._vectors, self._level
        queries = self._queries if rows is self._every else self._queries.part(rows)
        unit, slack = vectors.units(queries, level), vectors.slack(queries, items, level)
        for tile in self._tiles(len(rows), len(items.low)):
            tile_rows, tile_unit, tile_slack = rows[tile], unit[tile], slack[tile]
            products = self._products(tile_rows, queries.part(tile), start, items, level)
            cut = _cut(self._entry[tile_rows] - tile_slack, tile_unit, products.dtype)
            groups = products.view(
                len(tile_rows), _GROUP if products.shape[1] % _GROUP == 0 else 1, -1
            )
            reaches = groups.amax(dim=1) >= cut[:, None]
            if int(reaches.sum()) > 4 * self._k * len(tile_rows):
                best = torch.topk(products, min(self._k, products.shape[1]), dim=1).values
                kth = best[:, -1].double() * tile_unit
                cut = torch.maximum(cut, _cut(kth - 2 * tile_slack, tile_unit, products.dtype))
                reaches = groups.amax(dim=1) >= cut[:, None]
            row, column = _reaching(groups, reaches, cut)
            middle, off = products[row, column].double() * tile_unit[row], tile_slack[row]
            self._offer(tile_rows[row], column + start, middle + off, middle - off)

    def _offer(self, rows: Tensor, positions: Tensor, upper: Tensor, lower: Tensor) -> None:
        """Adds candidates, ascending by query; upper, lower: bounds of their places."""
        while len(rows):
            places = torch.arange(len(rows), device=rows.device) - torch.searchsorted(rows, rows)
            slot = self._count[rows] + places
            fits = slot < self._width
            fit_all = bool(fits.all())
            inside = slice(None) if fit_all else fits
            slots = rows[inside], slot[inside]
            for table, values in zip(self._lists[1:], (positions, upper, lower), strict=True):
                table[slots] = values[inside]
            self._count.index_add_(0, slots[0], torch.ones_like(slots[0], dtype=torch.int32))
            if fit_all:
                return
            left = torch.nonzero(~fits)[:, 0]
            self._make_room(torch.unique_consecutive(rows[left]))
            left = left[upper[left] >= self._entry[rows[left]]]
            rows, positions, upper, lower = rows[left], positions[left], upper[left], lower[left]

    def _make_room(self, rows: Tensor) -> None:
        """Drops candidates that are clearly below the k-th best; where that leaves little room,
        scores the others exactly.
        """
        self._drop(rows)
        for part in self._parts(rows[self._count[rows] > self._most]):
            self._settle(part)

    def _parts(self, rows: Tensor) -> tuple[Tensor, ...]:
        cells = _LISTED.get(rows.device.type, _LISTED["cpu"])
        return rows.split(max(1, cells // self._width)) if len(rows) else ()

    def _drop(self, rows: Tensor) -> None:
        """Raises `_entry` to what the candidates of some queries show, and drops those below it and
        those that are excluded.
        """
        for part in self._parts(rows):
            position = self._position[part]
            excluded = self._excluded(part[:, None], position)
            if self._search.append is not None:
                fused.prune(part, self._lists, self._floor, self._entry, excluded, self._k)
                continue
            stays = self._slots < self._count[part][:, None]
            if excluded is not None:
                stays &= ~excluded
            lower = torch.where(stays, self._lower[part], -np.inf)
            kth = torch.topk(lower, self._k, dim=1).values[:, -1]
            self._floor[part] = torch.maximum(self._floor[part], kth)
            self._entry[part] = torch.maximum(self._entry[part], self._floor[part])
            stays &= self._upper[part] >= self._floor[part][:, None]
            order = torch.sort((~stays).to(torch.uint8), dim=1, stable=True).indices
            count = stays.sum(dim=1)
            self._position[part] = position.gather(1, order)
            beyond = self._slots >= count[:, None]
            for bounds in (self._upper, self._lower):
                bounds[part] = bounds[part].gather(1, order).masked_fill(beyond, -np.inf)
            self._count[part] = count.to(torch.int32)

    def _settle(self, rows: Tensor) -> None:
        """Keeps the exact best k: from here on an item must score higher than the k-th, not the
        same.
        """
        self._settled += int(self._count[rows].sum())
        positions, scores = self._exact(rows)
        is_item, squares = positions >= 0, self._squares[rows]
        product_score = torch.where(
            is_item, self._space.place(torch.nan_to_num(scores), squares[:, None]), -np.inf
        )
        self._position[rows, : self._k] = positions.clamp(min=0)
        for bounds in (self._upper, self._lower):
            bounds[rows] = -np.inf
            bounds[rows, : self._k] = product_score
        self._count[rows] = is_item.sum(dim=1).to(torch.int32)
        sure = is_item[:, -1]
        rows, last, squares = rows[sure], scores[sure, -1], squares[sure]
        product_score = self._space.place(last, squares)
        after = (
            product_score
            if self._space.metric == "l2"
            else torch.nextafter(last, torch.full_like(last, np.inf))
        )
        self._floor[rows] = torch.maximum(self._floor[rows], product_score)
        self._entry[rows] = torch.maximum(self._entry[rows], after)

    def _exact(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """The best k of some queries' candidates by exact score, then by position; -1 and NaN where
        there are fewer.
        """
        is_candidate = self._slots < self._count[rows][:, None]
        owner, slot = torch.nonzero(is_candidate, as_tuple=True)
        position = torch.where(is_candidate, self._position[rows], torch.iinfo(torch.int64).max)
        scores = torch.full(position.shape, -np.inf, dtype=torch.float64, device=position.device)
        gallery, pairs = self._search.gallery, (rows[owner], position[owner, slot])
        parts = zip(*(side.split(gallery.most_rows) for side in pairs), strict=True)
        scores[owner, slot] = torch.cat(
            [self._score(queries, gallery.rows(items)) for queries, items in parts]
        )
        position, order = torch.sort(position, dim=1)
        scores, best = torch.sort(scores.gather(1, order), dim=1, descending=True, stable=True)
        position, scores = position.gather(1, best)[:, : self._k], scores[:, : self._k]
        is_item = self._slots[: self._k] < is_candidate.sum(dim=1)[:, None]
        return torch.where(is_item, position, -1), torch.where(is_item, scores, np.nan)

    def finish(self) -> None:
        """Writes down the positions and exact scores of the best items of every query."""
        self._drop(self._every)
        results = [table[self._span] for table in self._results.result()]
        outbox, done = Outbox(), 0
        for part in self._parts(self._every):
            for table, best_values in zip(results, self._exact(part), strict=True):
                outbox.send(table[done : done + len(part)], best_values)
            done += len(part)
        outbox.empty()


class Outbox:
    """Results on their way to arrays of the host: each is copied while the next is made, through
    memory that is not paged.
    """

    def __init__(self) -> None:
        self._sent: list[tuple[Array, Tensor, Any]] = []

    def send(self, out: Array, tensor: Tensor) -> None:
        """Copies a tensor to an array of its shape, which has it after the next but one is sent, or
        after `empty`.
        """
        buffer, done = tensor, None
        if tensor.device.type == "cuda":
            buffer = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True).copy_(
                tensor, non_blocking=True
            )
            done = torch.cuda.current_stream(tensor.device).record_event()
        self._sent.append((out, buffer, done))
        self.empty(2)

    def empty(self, left: int = 0) -> None:
        """Waits for what was sent, but for the last so many."""
        while len(self._sent) > left:
            out, buffer, done = self._sent.pop(0)
            if done is not None:
                done.synchronize()
            out[...] = buffer.numpy()


class _DeviceCounts(_DeviceFindings):
    """The rank counts of the wanted items of a range of queries. Each tile of queries has a
    precision of its own.

    order: the places of all items among items of equal score; None for their positions.
    results: the counts of all queries, which are filled in.
    """

    def __init__(
        self,
        search: TorchSearch,
        first: int,
        queries: Rows,
        wanted: TargetsOf,
        order: Tensor | None,
        results: RankCounts,
    ) -> None:
        super().__init__(search, first, queries)
        self._order, self._results = order, results
        self._scores, self._places = (on_device(side, search.device) for side in wanted(self._span))
        self._missing = torch.isnan(self._scores)
        self._place = self._space.place(
            torch.where(self._missing, 0.0, self._scores), self._squares[:, None]
        )
        self._counts = [torch.zeros_like(self._place, dtype=torch.int64) for _ in range(3)]
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
        unit = self._vectors.units(queries, level)[:, None]
        slack = self._vectors.slack(queries, items, level)[:, None]
        targets, m = self._place[tile], self._place.shape[1]
        low = _cut(targets - slack, unit, products.dtype)
        high = -_cut(-(targets + slack), unit, products.dtype)
        n_above = torch.zeros_like(targets, dtype=torch.int64)
        doubtful = [(self._every[:0],) * 3]
        for target in range(m):
            greater = products > high[:, target, None]
            n_above[:, target] = greater.sum(dim=1)
            row, column = torch.nonzero(
                (products >= low[:, target, None]) & ~greater, as_tuple=True
            )
            doubtful.append((row, column, torch.full_like(row, target)))
        row, column, target = (torch.cat(column) for column in zip(*doubtful, strict=True))
        if level != DOUBLE and len(row) > products.numel() * m // _DOUBTFUL + _FREE * len(products):
            return False
        above, tied, before = self._counts
        above[tile] += n_above
        row = row + tile.start
        exact_scores = self._score(row, (items.raw, column))
        target_scores = self._scores[row, target]
        cells, ones = (row, target), torch.ones_like(row)
        is_tied, column = exact_scores == target_scores, column + start
        order = column if self._order is None else self._order[column]
        is_before = is_tied & (order < self._places[cells])
        for counts, is_one in (
            (above, exact_scores > target_scores),
            (tied, is_tied),
            (before, is_before),
        ):
            counts.index_put_(cells, ones * is_one, accumulate=True)
        return True

    def finish(self) -> None:
        """Writes down the counts, -1 without an item."""
        counts = (torch.where(self._missing, -1, counts) for counts in self._counts)
        for column, values in zip(self._results, (self._scores, *counts), strict=True):
            column[self._span] = values.cpu().numpy()


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
