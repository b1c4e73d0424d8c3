"""Exact search: the nearest items of each query, and where given items stand among all of them; one
file per backend.

Whatever the backend, block sizes or threads, the results are the same to the last bit: a backend's
products only decide what is clearly above or below, and the rest is scored in float64 by
`rankwell._native.similarity`.
"""

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from rankwell._native import native
from rankwell._native.products import (
    Exclude,
    ExcludedPairs,
    Exclusion,
    Groups,
    Multiplier,
    Shortlist,
    no_items,
    width,
)
from rankwell._native.similarity import (
    Block,
    Metric,
    RankTargets,
    Reals,
    Space,
    TargetsOf,
    plan_passes,
    score_pairs,
)
from rankwell.data.matrices import Embeddings, Vectors, as_embeddings
from rankwell.data.options import CountProgress, takes_options
from rankwell.data.rankings import Ranking
from rankwell.data.registry import Catalogue
from rankwell.data.tables import Floats, Ints, RankCounts
from rankwell.errors import BadInput, BadUsage, flag, needing
from rankwell.threads import blas_threads, in_threads, processors, spare_memory

# Called with the products done and the products in all.
_LOWEST = -1e38  # above minus infinity, which marks who is excluded
_ITEM_BYTES = 12 << 20
_PATIENCE = 8
_BYTES_LISTED = 24  # of a candidate in a shortlist
_FREE = 32
# Scoring a pair exactly costs as much as 32 products of long vectors, and an overhead as of 300
# dimensions; a product in float64 costs twice as much as one in float32.
_PRODUCTS_SCORED, _OVERHEAD = 32, 300
_MOST_WORKERS = 16
_WORTH_A_WORKER = 1 << 22  # products
_READY_BYTES = 48 << 20
_MOST_TILES, _EACH = 32, 4


@dataclass(frozen=True)
class Backend:
    """A search backend.

    open: (queries, query block, item block) -> Multiplier.
    query_block, item_block: suitable numbers of vectors to multiply at once.
    parallel: whether several multipliers work at once, each on a share of the processors.
    device: (task, device's name) -> the whole task on a device, a `TorchSearch`, in place of
        `open`; None where the backend has no devices.
    """

    open: Callable[[Reals, int, int], Multiplier]
    query_block: int
    item_block: int
    parallel: bool = False
    device: Callable[["SearchTask", str | None], Any] | None = None


BACKENDS: Catalogue[Backend] = Catalogue("vectors.neighbours", "search backend")


@dataclass(frozen=True, eq=False)
class TopK:
    """The best k items of each query, best first. Among items with the same score, the one that
    comes first in the table ranks higher.

    positions: (queries, k) rows of the items; -1 where fewer than k remain.
    scores: (queries, k) exact scores, NaN where fewer than k remain; under `l2` the negative
        distance, so that higher is always nearer.
    query_names: names of the queries.
    item_names: names of the items.
    metric: the kind of score: `cosine`, `dot` or `l2`.
    """

    positions: Ints
    scores: Floats
    query_names: Sequence[str]
    item_names: Sequence[str]
    metric: Metric

    def ranking(self) -> Ranking:
        """The lists as a Ranking, best first, queries in the order of their bytes; read it with the
        tie rule `input`.
        """
        is_hit, names, items = self.positions >= 0, self.query_names, self.item_names
        hit_positions: list[int] = self.positions[is_hit].tolist()
        return Ranking.from_rows(
            [names[row] for row in np.nonzero(is_hit)[0].tolist()],
            [items[position] for position in hit_positions],
            self.scores[is_hit],
            all_queries=names,
        )


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """Options of exact search.

    metric: `cosine`, `dot`, or `l2` (negative distance).
    exclude: `self` excludes the item that has the query's name.
    groups: labels that exclude items with the query's label; None excludes none.
    backend: the backend that multiplies: `numpy`, `faiss` or `torch`; the results are the same.
    device: the device for torch; None uses a GPU where there is one.
    query_block, item_block: numbers of vectors that are multiplied at once; None uses those that
        suit the backend.
    memory: number of bytes for queries and the state of each; None uses a quarter of the
        available memory.
    """

    metric: Metric = "cosine"
    exclude: Exclude = "none"
    groups: Groups | None = None
    backend: str = "numpy"
    device: str | None = None
    query_block: int | None = None
    item_block: int | None = None
    memory: int | None = None


@takes_options(SearchOptions)
def search(
    queries: Embeddings | Vectors,
    items: Embeddings | Vectors,
    *,
    k: int,
    options: SearchOptions,
    progress: CountProgress | None = None,
) -> TopK:
    """The k items with the highest scores of each query, exactly.

    queries, items: Embeddings, or arrays (n, d) whose names are their positions; both may be
    memory-mapped and are read block by block. Raises BadInput that names the row of a vector which
    is NaN, infinite, or zero under cosine, and where dimensions differ; BadUsage for k below 1,
    UnknownName for an unknown metric or backend, MissingExtra for a missing backend.
    """
    if k < 1:
        raise BadUsage(f"k is {k}; a search is for one item or more.")
    task = SearchTask(queries, items, options, progress)
    depth = min(k, task.items.n)
    if depth and (device := task.on_device()) is not None:
        positions, scores = device.best(depth)
    else:
        positions, scores = no_items(task.queries.n, depth)
        if depth:
            task.run(
                partial(_BestItems, positions=positions, scores=scores),
                _BYTES_LISTED * width(depth),
            )
    if depth < k:
        missing = (0, 0), (0, k - depth)
        positions = np.pad(positions, missing, constant_values=-1)
        scores = np.pad(scores, missing, constant_values=np.nan)
    return TopK(positions, scores, task.queries.names(), task.items.names(), task.metric)


@takes_options(SearchOptions)
def ranks_of(
    queries: Embeddings | Vectors,
    items: Embeddings | Vectors,
    wanted: Ints | RankTargets,
    *,
    places: Ints | None = None,
    options: SearchOptions,
    progress: CountProgress | None = None,
) -> RankCounts:
    """For each query and each of its wanted items the numbers of items that score higher and the
    same; counted, never sorted.

    wanted: (queries, m) positions of items, -1 for none; or the scores and places of items, which
    need not be among `items`, so that counts of several tables add up. places: (items,) the order
    of items of equal score, None for that of the table. Excluded items are not counted; to request
    one is an error. The rank of an item is `above + 1` at best and `above + tied` at worst. Errors
    are those of `search`; the backend `faiss` cannot count.
    """
    task = SearchTask(queries, items, options, progress)
    targets: TargetsOf
    if isinstance(wanted, RankTargets):
        scores, tie_places = wanted
        targets, m = lambda part: RankTargets(scores[part], tie_places[part]), scores.shape[1]
    else:
        targets, m = _scored(task, wanted, places), wanted.shape[-1]
    if (device := task.on_device()) is not None:
        return device.counts(m, targets, places)
    counts = no_counts(task.queries.n, m)
    task.run(partial(_RankCounts, counts=counts, wanted=targets, places=places), 64 * m)
    return counts


def _scored(task: "SearchTask", wanted: Ints, places: Ints | None) -> TargetsOf:
    """The targets that items of a table are, once some queries are at work. Raises BadInput for
    other positions than those of the table.
    """
    if (
        wanted.ndim != 2
        or len(wanted) != task.queries.n
        or wanted.max(initial=-1) >= task.items.n
        or wanted.min(initial=0) < -1
    ):
        raise BadInput(
            f"wanted positions of shape {wanted.shape} from {wanted.min(initial=0)} to "
            f"{wanted.max(initial=-1)}; there is a row for each of {task.queries.n} queries, of "
            f"positions below {task.items.n}, or -1 for none."
        )

    def _targets(part: slice) -> RankTargets:
        positions = wanted[part]
        is_item, scores = positions >= 0, np.full(positions.shape, np.nan)
        pairs = np.nonzero(is_item)[0] + part.start, positions[is_item]
        task.refuse_excluded(*pairs)
        scores[is_item] = task.score(*pairs)
        return RankTargets(scores, positions if places is None else places[positions])

    return _targets


def no_counts(queries: int, m: int) -> RankCounts:
    """The counts of m targets per query, to be filled in."""
    shape = queries, m
    return RankCounts(
        np.full(shape, np.nan), *(np.full(shape, -1, dtype=np.int64) for _ in range(3))
    )


class QueryRange(NamedTuple):
    """A range of queries of one pass.

    queries: their rows in the table.
    rows: their rows in the vectors of a multiplier, which holds the whole pass.
    block: the vectors in those rows.
    """

    queries: slice
    rows: slice
    block: Block


class SearchTask:
    """The common part of `search` and `ranks_of`: the checked tables, the excluded pairs, and the
    passes over the items.
    """

    def __init__(
        self,
        queries: Embeddings | Vectors,
        items: Embeddings | Vectors,
        options: SearchOptions,
        progress: CountProgress | None,
    ) -> None:
        self.queries, self.items = as_embeddings(queries), as_embeddings(items)
        self.metric: Metric = options.metric
        self._backend = backend = BACKENDS[options.backend]
        self._device, self.memory = options.device, options.memory
        self._progress, self._done, self._lock = progress, 0, Lock()
        item_block = backend.item_block
        if backend.parallel:
            item_block = max(256, min(item_block, _ITEM_BYTES // (4 * self.items.dimensions)))
        self.query_block, self.item_block = (
            suitable if requested is None else requested
            for requested, suitable in (
                (options.query_block, backend.query_block),
                (options.item_block, item_block),
            )
        )
        if min(self.query_block, self.item_block) < 1:
            raise BadUsage(
                f"blocks of {self.query_block} queries and {self.item_block} items; a block "
                "has one or more."
            )
        if options.memory is not None and options.memory < 1:
            raise BadUsage(f"a memory of {options.memory} bytes; it has one or more.")
        self.exclusion = Exclusion(self.queries, self.items, options.exclude, options.groups)

    def on_device(self) -> Any:
        """The task on a device, where the backend does it there."""
        return None if self._backend.device is None else self._backend.device(self, self._device)

    def run(
        self,
        begin: "Callable[[SearchTask, Space, QueryRange], _BestItems | _RankCounts]",
        bytes_each: int,
    ) -> None:
        """Finishes the findings for all queries, each after all items; bytes_each: memory per query
        besides its vector.

        Where one gives up, because products in float32 distinguish too few pairs, it is made again
        in float64.
        """
        n, workers = self.queries.n, 1
        space = Space(self.queries, self.items, self.metric)
        passes = plan_passes(
            n, 8 * space.width + bytes_each, spare_memory() if self.memory is None else self.memory
        )
        if self._backend.parallel:
            workers = min(processors(), _MOST_WORKERS, 1 + n * self.items.n // _WORTH_A_WORKER)
        with blas_threads(workers):
            for number in range(passes):
                rows = range(n * number // passes, n * (number + 1) // passes)
                parts = _ranges_of(rows, self.query_block, workers)
                if unfinished := self._sweep(space, parts, partial(begin, self), workers):
                    space = Space(self.queries, self.items, self.metric, double=True)
                    self._sweep(space, unfinished, partial(begin, self), workers)

    def _sweep(
        self,
        space: Space,
        parts: Sequence[range],
        begin: "Callable[[Space, QueryRange], _BestItems | _RankCounts]",
        workers: int,
    ) -> list[range]:
        """Finishes the findings of every range of queries after all items, in one pass over them;
        the ranges that gave up. Raises as `Space.queries`.
        """
        # Where several blocks are ready at a time, for as many workers, is up to the backend: what
        # copies a block to a device copies it once.
        n_items, item_block, n_ready = self.items.n, self.item_block, 1
        if self._backend.parallel:
            block_bytes = space.dtype.itemsize * space.width * item_block
            n_ready = max(workers, _READY_BYTES // block_bytes)
        lot = item_block * min(n_ready, -(-n_items // item_block))
        ends = np.cumsum([0, *map(len, parts)]).tolist()
        vectors = np.empty((ends[-1], space.width), dtype=space.dtype)
        findings, gave_up = dict[int, _BestItems | _RankCounts](), set[int]()
        spare = list[tuple[Multiplier, int]]()
        """Multipliers, and the first item of the block that each has loaded."""
        # One array: memory in large pages is mapped several times as fast as in small ones. The
        # last blocks are written over.
        buffer = np.empty((min(n_items, lot), space.width), dtype=space.dtype)

        def _load(first: int) -> tuple[int, Block]:
            stop = min(first + item_block, n_items)
            return first, space.items(first, stop, out=buffer[first % lot :][: stop - first])

        def _begin(number: int) -> "_BestItems | _RankCounts":
            queries, rows = parts[number], slice(ends[number], ends[number + 1])
            block = space.queries(queries.start, queries.stop, out=vectors[rows])
            return begin(space, QueryRange(slice(queries.start, queries.stop), rows, block))

        def _take(top: int, ready: Sequence[tuple[int, Block]], number: int) -> None:
            # A gallery that is ready as a whole needs no memory for the findings of more than one
            # range per thread.
            range_findings = findings.pop(number) if top else _begin(number)
            if spare:
                multiplier, loaded = spare.pop()
            else:
                blocks = self.query_block, item_block
                multiplier, loaded = self._backend.open(vectors, *blocks), -1
            for first, block in ready:
                if first != loaded:
                    multiplier.load(block.vectors)
                    loaded = first
                if not range_findings.take(multiplier, first, block):
                    gave_up.add(number)
                    break
            else:
                if top + lot >= n_items:
                    range_findings.finish()
                else:
                    findings[number] = range_findings
            spare.append((multiplier, loaded))

        for top in range(0, n_items, lot):
            blocks = range(top, min(top + lot, n_items), item_block)
            ready = in_threads(_load, blocks, workers=workers)
            in_threads(
                partial(_take, top, ready),
                [number for number in range(len(parts)) if number not in gave_up],
                workers=workers,
            )
        return [parts[number] for number in sorted(gave_up)]

    def advance(self, products: int) -> None:
        """Counts finished products, or takes back a number of them, and reports their number."""
        with self._lock:
            self._done += products
            if self._progress is not None:
                self._progress(self._done, self.queries.n * self.items.n)

    def refuse_excluded(self, rows: Ints, columns: Ints) -> None:
        """Raises BadInput for a pair that is excluded."""
        bad = np.flatnonzero(self.exclusion.is_excluded(rows, columns))
        if len(bad):
            query = self.queries.names()[int(rows[bad[0]])]
            item = self.items.names()[int(columns[bad[0]])]
            raise BadInput(
                f"item {item!r} is both requested and excluded for query {query!r}; request "
                "items that take part."
            )

    def score(self, rows: Ints, columns: Ints) -> Floats:
        """The exact score of each pair."""
        return score_pairs(self.queries.vectors, self.items.vectors, rows, columns, self.metric)


def _ranges_of(rows: range, size: int, workers: int) -> list[range]:
    """Ranges of queries of nearly one length, as many for every worker; several times `size` where
    all workers have some.
    """
    n = len(rows)
    size *= max(1, min(_MOST_TILES, n // (_EACH * workers * size)))
    number = -(-n // size)
    number = min(n, -(-number // workers) * workers)
    return [rows[n * part // number : n * (part + 1) // number] for part in range(number)]


@dataclass(eq=False)
class _Findings:
    """A range of queries, compared with items.

    _task: the search or count of all queries.
    _space: the products.
    _part: the queries.
    _done: number of their products that are done.
    """

    _task: SearchTask
    _space: Space
    _part: QueryRange
    _done: int = 0

    def _tiles(self, start: int, items: Block) -> Iterator[tuple[slice, slice, ExcludedPairs]]:
        """The rows of the queries that are multiplied at once, those in a multiplier, and their
        excluded pairs.
        """
        n, size = len(self._part.block.vectors), len(items.norm_bounds)
        number = -(-n // self._task.query_block)
        for tile in range(number):
            top, end = n * tile // number, n * (tile + 1) // number
            queries, rows = (
                slice(side.start + top, side.start + end)
                for side in (self._part.queries, self._part.rows)
            )
            yield slice(top, end), rows, self._task.exclusion.excluded(queries, start, size)
            self._done += (end - top) * size
            self._task.advance((end - top) * size)

    def _gives_up(self) -> bool:
        """Whether the work is void, which takes back what was reported; False, as `take` returns
        it.
        """
        self._task.advance(-self._done)
        return False


class _BestItems(_Findings):
    """The shortlists of a range of queries.

    positions, scores: (all queries, k) arrays that are filled in.
    """

    def __init__(
        self, task: SearchTask, space: Space, part: QueryRange, positions: Ints, scores: Floats
    ) -> None:
        super().__init__(task, space, part)
        self._results, self._k = (positions, scores), positions.shape[1]
        self._shortlist = Shortlist(
            self._k,
            space,
            part.block.squares,
            lambda rows, items: task.score(rows + part.queries.start, items),
            patience=np.inf if space.double else _PATIENCE,
        )

    def take(self, multiplier: Multiplier, start: int, items: Block) -> bool:
        """Offers a block of items to the shortlists; False where too many products are near the
        k-th for this precision.
        """
        space, bounds = self._space, self._part.block.norm_bounds
        shortlist, k = self._shortlist, self._k
        for rows, item_block, excluded in self._tiles(start, items):
            slack = space.slack(bounds[rows], items.norm_bounds.max())
            cut = _rounded(np.maximum(shortlist.entry[rows] - slack, _LOWEST), space, -np.inf)
            hits = multiplier.hits(item_block, cut, _rounded(slack, space, np.inf), k, excluded)
            offered = hits.rows + rows.start
            bound = space.slack(bounds[offered], items.norm_bounds[hits.columns])
            shortlist.offer(offered, hits.columns + start, hits.products.astype(np.float64), bound)
            if len(offered) > (rows.stop - rows.start) * max(1, k // 4):
                shortlist.raise_entry(rows)
            if shortlist.gave_up:
                break
        return self._gives_up() if shortlist.gave_up else True

    def finish(self) -> None:
        """Writes down the best k of every query, exactly."""
        for column, values in zip(self._results, self._shortlist.best(), strict=True):
            column[self._part.queries] = values


class _RankCounts(_Findings):
    """The rank counts of the wanted items of a range of queries.

    counts: the counts of all queries, which are filled in.
    places: places of all items, as in `ranks_of`.
    """

    def __init__(
        self,
        task: SearchTask,
        space: Space,
        part: QueryRange,
        counts: RankCounts,
        wanted: TargetsOf,
        places: Ints | None,
    ) -> None:
        super().__init__(task, space, part)
        self._results, self._wanted, self._places = counts, wanted(part.queries), places
        self._missing = np.isnan(self._wanted.scores)
        self._place = space.place(
            np.where(self._missing, 0.0, self._wanted.scores), part.block.squares[:, None]
        )
        self._counts = tuple(np.zeros(self._missing.shape, dtype=np.int64) for _ in range(3))
        self._scored, self._free = 0, _FREE * (np.count_nonzero(~self._missing) + 1000)
        self._doubtful = space.width / (_PRODUCTS_SCORED * (space.width + _OVERHEAD))

    def take(self, multiplier: Multiplier, start: int, items: Block) -> bool:
        """Counts a block of items above and tied; False where too many products are near a target
        for this precision.
        """
        space, (above, tied, before) = self._space, self._counts
        for rows, item_block, excluded in self._tiles(start, items):
            slack = space.slack(self._part.block.norm_bounds[rows], items.norm_bounds.max())[
                :, None
            ]
            rounded_scores = self._place[rows]
            low = _rounded(rounded_scores - slack, space, -np.inf)
            high = _rounded(rounded_scores + slack, space, np.inf)
            counted = multiplier.counts(item_block, low, high, excluded)
            self._scored += len(counted.rows)
            if self._scored > self._free + self._done * self._doubtful and not space.double:
                return self._gives_up()
            above[rows] += counted.above
            cells, columns = (counted.rows + rows.start, counted.levels), counted.columns + start
            exact_scores = self._task.score(cells[0] + self._part.queries.start, columns)
            target_scores = self._wanted.scores[cells]
            is_tied = exact_scores == target_scores
            order = columns if self._places is None else self._places[columns]
            np.add.at(above, cells, exact_scores > target_scores)
            np.add.at(tied, cells, is_tied)
            np.add.at(before, cells, is_tied & (order < self._wanted.tie_places[cells]))
        return True

    def finish(self) -> None:
        """Writes down the counts, -1 without an item."""
        counts = [np.where(self._missing, -1, counts) for counts in self._counts]
        for column, values in zip(self._results, (self._wanted.scores, *counts), strict=True):
            column[self._part.queries] = values


# NumPy compares rows with one number each half again as fast from 8,192 numbers a row on, the size
# of its buffers; the compiled kernel is fastest on what is still in the cache.
BACKENDS.add(
    "numpy", Backend(Multiplier, 512, 8192 if native.library is None else 4096, parallel=True)
)


def _rounded(values: Floats, space: Space, towards: float) -> Reals:
    """The values in the type of products, moved towards an infinity, so that rounding leaves none
    on the wrong side.
    """
    # A place beyond float32 is of a vector that is about to be refused.
    with np.errstate(all="ignore"):
        return np.nextafter(values.astype(space.dtype), space.dtype.type(towards))


def optional(module: str, package: str) -> Any:
    """The module of an optional package, imported now. Raises MissingExtra that says how to install
    it.
    """
    with needing(
        f"the backend {module!r} needs {package}: pip install 'rankwell[{module}]', or "
        f"{flag('--backend', 'numpy')}."
    ):
        return importlib.import_module(module)
