"""Exact search: the nearest items of each query, and where given items stand among all of them; one file per backend.

Whatever the backend, block sizes or threads, the results are the same to the last bit: a backend's products only decide
what is clearly above or below, and the rest is scored in float64 by `rankwell.core.kernels.similarity`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol, TypeVar

import numpy as np

from rankwell.core.kernels.products import Best, Counted, Exclude, ExcludedPairs, Exclusion, Groups, ProductHits, Shortlist, width
from rankwell.core.kernels.similarity import Block, Metric, Reals, Space, score_pairs
from rankwell.core.kernels.workers import in_threads, processors
from rankwell.core.options import takes_options
from rankwell.core.registry import Catalogue
from rankwell.core.tables import Floats, Ints, RankCounts
from rankwell.core.tables.matrices import Embeddings, Vectors, as_embeddings
from rankwell.core.tables.ranking import Ranking
from rankwell.errors import BadInput, BadUsage, MissingExtra

# Called with the products done and the products in all.
Progress = Callable[[int, int], None]
_LOWEST = -1e38  # above minus infinity, which marks who is excluded
_QUERY_BYTES = 96 << 20
_ITEM_BYTES = 12 << 20  # of each thread that works on blocks of its own
_PATIENCE = 8
_MOST_WORKERS = 16
_WORTH_A_WORKER = 1 << 22  # products
PartResult = TypeVar("PartResult")


class Multiplier(Protocol):
    """Multiplies blocks of vectors; made for one set of queries."""

    def load(self, items: Reals) -> None:
        """Sets the (items, width) vectors to multiply; they may change once another block is loaded."""
        ...

    def hits(self, rows: slice, cut: Reals, slack: Reals, keep: int, excluded: ExcludedPairs) -> ProductHits:
        """All pairs with a product of at least `cut` that are not excluded; cut, slack: (queries,).

        A pair may be missing if `keep` others of its query have products above its own by more than twice the slack.
        """
        ...

    def counts(self, rows: slice, low: Reals, high: Reals, excluded: ExcludedPairs) -> Counted:
        """Number of items above `high` that are not excluded, and the pairs in between; low, high: (queries, m)."""
        ...


@dataclass(frozen=True)
class Backend:
    """A search backend. open: (queries, query block, item block, device) -> Multiplier. The block sizes are those that suit it.

    parallel: whether several multipliers work at once, each on a share of the processors.
    """

    name: str
    open: Callable[[Reals, int, int, str | None], Multiplier]
    query_block: int
    item_block: int
    parallel: bool = False


BACKENDS: Catalogue[Backend] = Catalogue("neighbours", "search backend")


@dataclass(frozen=True, eq=False)
class TopK:
    """The best k items of each query, best first; of items with the same score the one that stands first in the table.

    positions: (queries, k) rows of the items, -1 where fewer than k remain. scores: (queries, k) exact, NaN there; under `l2`
    the negative distance, so that higher is always nearer. query_names, item_names: the names of rows.
    """

    positions: Ints
    scores: Floats
    query_names: Sequence[str]
    item_names: Sequence[str]
    metric: Metric

    def ranking(self) -> Ranking:
        """The lists as a Ranking, best first, queries in the order of their bytes; read it with the tie rule `input`."""
        found = self.positions >= 0
        names, items = self.query_names, self.item_names
        owner: list[int] = np.repeat(np.arange(len(self.positions)), found.sum(axis=1)).tolist()
        listed: list[int] = self.positions[found].tolist()
        return Ranking.from_rows(
            [names[row] for row in owner], [items[position] for position in listed], self.scores[found], all_queries=names
        )


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """Options of exact search.

    metric: `cosine`, `dot`, or `l2` (negative distance). exclude: `self` excludes the item whose name is the query's.
    groups: excludes items with the query's label. device: of torch; None takes a GPU where there is one.
    query_block, item_block: numbers of vectors that are multiplied at once; None takes those that suit the backend.
    """

    metric: Metric = "cosine"
    exclude: Exclude = "none"
    groups: Groups | None = None
    backend: str = "numpy"
    device: str | None = None
    query_block: int | None = None
    item_block: int | None = None


@takes_options(SearchOptions)
def search(
    queries: Embeddings | Vectors,
    items: Embeddings | Vectors,
    *,
    k: int,
    options: SearchOptions,
    progress: Progress | None = None,
) -> TopK:
    """The k items with the highest scores of each query, exactly.

    queries, items: Embeddings, or arrays (n, d) whose names are their positions; both may be memory-mapped and are read block by
    block. Raises BadInput that names the row of a vector which is NaN, infinite, or zero under cosine, and where dimensions
    differ; BadUsage for k below 1, UnknownName for an unknown metric or backend, MissingExtra for a missing backend.
    """
    if k < 1:
        raise BadUsage(f"k is {k}; a search is for one item or more.")
    task = _Task(queries, items, options, progress)
    depth = min(k, task.items.n)
    parts = task.run(lambda part: _search_part(task, part, depth), 24 * width(depth)) if depth else []
    shape = task.queries.n, k
    positions, scores = np.full(shape, -1, dtype=np.int64), np.full(shape, np.nan)
    if parts:
        positions[:, :depth] = np.concatenate([part.positions for part in parts])
        scores[:, :depth] = np.concatenate([part.scores for part in parts])
    return TopK(positions, scores, task.queries.names(), task.items.names(), task.metric)


@takes_options(SearchOptions)
def ranks_of(
    queries: Embeddings | Vectors,
    items: Embeddings | Vectors,
    wanted: Ints,
    *,
    options: SearchOptions,
    progress: Progress | None = None,
) -> RankCounts:
    """For each query and each of its wanted items the numbers of items that score higher and the same; counted, never sorted.

    wanted: (queries, m) positions of items, -1 for none. Excluded items are not counted; to request one is an error. The rank
    of an item is `above + 1` at best and `above + tied` at worst. Errors are those of `search`; the backend `faiss` cannot count.
    """
    task = _Task(queries, items, options, progress)
    if wanted.ndim != 2 or len(wanted) != task.queries.n or wanted.max(initial=-1) >= task.items.n or wanted.min(initial=0) < -1:
        raise BadInput(
            f"wanted positions of shape {wanted.shape} from {wanted.min(initial=0)} to {wanted.max(initial=-1)}; there is a row "
            f"for each of {task.queries.n} queries, of positions below {task.items.n}, or -1 for none."
        )
    parts = task.run(lambda part: _rank_part(task, part, wanted[part.start : part.stop]), 64 * wanted.shape[1])
    if not parts:
        none = np.zeros(wanted.shape, np.int64)
        return RankCounts(np.zeros(wanted.shape), none, none, none)
    return RankCounts(*(np.concatenate(column) for column in zip(*parts, strict=True)))


@dataclass
class _QueryRange:
    """A range of queries, their vector space, and the number of their products that are done."""

    start: int
    stop: int
    space: Space
    done: int = 0


class _Task:
    """The common part of `search` and `ranks_of`: the checked tables, the excluded pairs, and the tiles of work."""

    def __init__(
        self, queries: Embeddings | Vectors, items: Embeddings | Vectors, options: SearchOptions, progress: Progress | None
    ) -> None:
        self.queries, self.items = as_embeddings(queries), as_embeddings(items)
        self.metric: Metric = options.metric
        self._backend, self._device, self._progress, self._done = BACKENDS[options.backend], options.device, progress, 0
        self._double, self._lock = False, Lock()
        self.query_block = self._backend.query_block if options.query_block is None else options.query_block
        self.item_block = self._backend.item_block if options.item_block is None else options.item_block
        if options.item_block is None and self._backend.parallel:
            self.item_block = max(256, min(self.item_block, _ITEM_BYTES // (4 * self.items.dimensions)))
        if min(self.query_block, self.item_block) < 1:
            raise BadUsage(f"blocks of {self.query_block} queries and {self.item_block} items; a block has one or more.")
        self.exclusion = Exclusion(self.queries, self.items, options.exclude, options.groups)

    def run(self, work: Callable[["_QueryRange"], PartResult | None], bytes_each: int) -> list[PartResult]:
        """The result of the work for every part of the queries, in order; bytes_each: memory per query besides its vector.

        Where the work gives up, because products in float32 distinguish too few pairs, it is done again in float64.
        """
        width, n = self.space().width, self.queries.n
        workers = min(processors(), _MOST_WORKERS, 1 + n * self.items.n // _WORTH_A_WORKER) if self._backend.parallel else 1
        rows = max(1, min(_QUERY_BYTES // workers // (8 * width + bytes_each), -(-n // workers)))

        def _done(start: int) -> PartResult:
            part = _QueryRange(start, min(start + rows, n), self.space())
            result = work(part)
            if result is None:
                self.advance(part, -part.done)
                self._double, part.space = True, self.space(double=True)
                result = work(part)
            if result is None:
                raise RuntimeError("products in float64 are never given up")
            return result

        if workers == 1:
            return in_threads(_done, range(0, n, rows), workers=1)
        from threadpoolctl import threadpool_limits

        with threadpool_limits(max(1, processors() // workers), user_api="blas"):
            return in_threads(_done, range(0, n, rows), workers=workers)

    def space(self, *, double: bool = False) -> Space:
        """The space in which vectors are multiplied; float64 once float32 has distinguished too few pairs."""
        return Space(self.queries, self.items, self.metric, double=double or self._double)

    def advance(self, part: "_QueryRange", products: int) -> None:
        """Counts finished products and reports their number."""
        with self._lock:
            part.done += products
            self._done += products
            if self._progress is not None:
                self._progress(self._done, self.queries.n * self.items.n)

    def open(self, block: Block) -> Multiplier:
        """The multiplier for some queries."""
        return self._backend.open(block.vectors, self.query_block, self.item_block, self._device)

    def tiles(
        self, part: "_QueryRange", block: Block, multiplier: Multiplier
    ) -> Iterator[tuple[slice, int, Block, ExcludedPairs]]:
        """The rows of each tile, its first item, its items, and its excluded pairs; the items in ascending order."""
        for start in range(0, self.items.n, self.item_block):
            loaded = part.space.items(start, min(start + self.item_block, self.items.n))
            multiplier.load(loaded.vectors)
            for top in range(0, len(block.vectors), self.query_block):
                rows = slice(top, min(top + self.query_block, len(block.vectors)))
                queries = slice(part.start + rows.start, part.start + rows.stop)
                yield rows, start, loaded, self.exclusion.excluded(queries, start, len(loaded.reach))
                self.advance(part, (rows.stop - rows.start) * len(loaded.reach))

    def score(self, rows: Ints, columns: Ints) -> Floats:
        """(pairs,) exact scores."""
        return score_pairs(self.queries.vectors, self.items.vectors, rows, columns, self.metric)


def _search_part(task: _Task, part: _QueryRange, k: int) -> Best | None:
    """The best k of a range of queries; None where float32 products leave too many pairs to be scored exactly."""
    space, first = part.space, part.start
    block = space.queries(first, part.stop)
    patience = np.inf if space.double else _PATIENCE

    shortlist = Shortlist(k, space, block.squares, lambda rows, columns: task.score(rows + first, columns), patience=patience)
    multiplier = task.open(block)
    for rows, start, loaded, excluded in task.tiles(part, block, multiplier):
        reach = block.reach[rows]
        slack = space.slack(reach, loaded.reach.max())
        cut = _rounded(np.maximum(shortlist.entry[rows] - slack, _LOWEST), space, -np.inf)
        hits = multiplier.hits(rows, cut, _rounded(slack, space, np.inf), k, excluded)
        offered = hits.rows + rows.start
        bound = space.slack(reach[hits.rows], loaded.reach[hits.columns])
        shortlist.offer(offered, hits.columns + start, hits.products.astype(np.float64), bound)
        if len(offered) > (rows.stop - rows.start) * max(1, k // 4):
            shortlist.raise_entry(rows)
        if shortlist.gave_up:
            return None
    return shortlist.best()


def _rank_part(task: _Task, part: _QueryRange, wanted: Ints) -> RankCounts | None:
    """The rank counts of the wanted items of a range of queries; None as for `_search_part`."""
    space, first = part.space, part.start
    block = space.queries(first, part.stop)
    row, column = np.nonzero(wanted >= 0)
    is_excluded = task.exclusion.is_excluded(row + first, wanted[row, column])
    if is_excluded.any():
        bad = int(np.flatnonzero(is_excluded)[0])
        query, item = task.queries.names()[int(row[bad]) + first], task.items.names()[int(wanted[row[bad], column[bad]])]
        raise BadInput(f"item {item!r} is both requested and excluded for query {query!r}; request items that take part.")
    scores = np.full(wanted.shape, np.nan)
    scores[row, column] = task.score(row + first, wanted[row, column])
    place = space.place(np.where(wanted >= 0, scores, 0.0), block.squares[:, None])
    above, tied, before = (np.zeros(wanted.shape, dtype=np.int64) for _ in range(3))
    multiplier, scored = task.open(block), 0
    for rows, start, loaded, excluded in task.tiles(part, block, multiplier):
        slack = space.slack(block.reach[rows], loaded.reach.max())[:, None]
        low, high = _rounded(place[rows] - slack, space, -np.inf), _rounded(place[rows] + slack, space, np.inf)
        counted = multiplier.counts(rows, low, high, excluded)
        scored += len(counted.rows)
        if scored > 4 * _PATIENCE * (len(row) + 1000) and not space.double:
            return None
        above[rows] += counted.above
        at = counted.rows + rows.start, counted.which
        columns = counted.columns + start
        near, mine = task.score(at[0] + first, columns), scores[at]
        np.add.at(above, at, near > mine)
        np.add.at(tied, at, near == mine)
        np.add.at(before, at, (near == mine) & (columns < wanted[at]))
    for counts in (above, tied, before):
        counts[wanted < 0] = -1
    return RankCounts(scores, above, tied, before)


def _rounded(values: Floats, space: Space, towards: float) -> Reals:
    """The values in the type of products, moved towards an infinity, so that rounding leaves none on the wrong side."""
    with np.errstate(all="ignore"):  # a place beyond float32 is of a vector that is about to be refused
        return np.nextafter(values.astype(space.dtype), space.dtype.type(towards))


def optional(module: str, package: str, extra: str) -> Any:
    """An optional package, imported now. Raises MissingExtra that says how to install it."""
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"the backend {extra!r} needs {package}, which is not installed; pip install 'rankwell[{extra}]', or --backend numpy."
        ) from error
