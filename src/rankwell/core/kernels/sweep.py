"""A gallery read once for many queries: every block of items is made ready once, for all threads
and all queries of a pass.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from rankwell.core.kernels.similarity import Block, Reals, Space
from rankwell.core.kernels.workers import in_threads
from rankwell.core.tables import Floats, Ints, RankCounts

_READY_BYTES = 48 << 20
_MOST_TILES, _EACH = 32, 4


class RankTargets(NamedTuple):
    """Items whose ranks are counted, (queries, m): exact scores, NaN for none, and places among
    items of equal score.
    """

    scores: Floats
    tie_places: Ints


TargetsOf = Callable[[slice], RankTargets]
"""Gives the targets of a range of queries."""


class DeviceSearch(Protocol):
    """A task that is done on a device as a whole, with the same results and errors."""

    def best(self, k: int) -> tuple[Ints, Floats]:
        """Positions and exact scores of the best items, each (queries, k); k is not above the
        number of items.
        """
        ...

    def counts(self, m: int, wanted: TargetsOf, places: Ints | None) -> RankCounts:
        """Rank counts of targets: (queries, m). places: of all items, as in `ranks_of`."""
        ...


class Loads(Protocol):
    """A multiplier of vectors; every thread has one for all queries of a pass."""

    def load(self, items: Reals) -> None:
        """Sets the (items, width) vectors to multiply."""
        ...


class QueryRange(NamedTuple):
    """A range of queries. queries: their rows in the table. rows: those in a multiplier."""

    queries: slice
    rows: slice
    block: Block


class RangeFindings(Protocol):
    """The findings for a range of queries after some of the items."""

    def take(self, multiplier: Any, start: int, items: Block) -> bool:
        """Takes in the items from `start` on; false where it gives up, because products distinguish
        too few pairs.
        """
        ...


SomeFindings = TypeVar("SomeFindings", bound=RangeFindings)


class Passes(NamedTuple):
    """Number of passes over the items, ⌈queries × state / memory⌉, and the state of a query in
    bytes.
    """

    passes: int
    state: int


def plan_passes(queries: int, state: int, memory: int) -> Passes:
    """The passes for queries of a state in bytes, of which as many are worked on at once as the
    memory holds; one at least.
    """
    return Passes(max(1, -(-queries // max(1, memory // state))), state)


def ranges_of(rows: range, size: int, workers: int) -> list[range]:
    """Ranges of queries of nearly one length, as many for every worker; several times `size` where
    all workers have some.
    """
    size *= max(1, min(_MOST_TILES, len(rows) // (_EACH * workers * size)))
    number = -(-len(rows) // size)
    number = min(len(rows), -(-number // workers) * workers)
    return [
        rows[len(rows) * part // number : len(rows) * (part + 1) // number]
        for part in range(number)
    ]


class Sweep:
    """One pass over the items of a space. start: makes a multiplier for the (queries, width)
    vectors of the pass.

    item_block: items that are multiplied at once. shared: whether several blocks are ready at a
    time, for as many workers; otherwise there is one, so that what copies it to a device copies it
    once.
    """

    def __init__(
        self,
        space: Space,
        n_items: int,
        start: Callable[[Reals], Loads],
        *,
        item_block: int,
        workers: int,
        shared: bool,
    ) -> None:
        self._space, self._n, self._start, self._step, self._workers = (
            space,
            n_items,
            start,
            item_block,
            workers,
        )
        ready = (
            max(workers, _READY_BYTES // (space.dtype.itemsize * space.width * item_block))
            if shared
            else 1
        )
        self._ready = min(ready, -(-n_items // item_block))

    def run(
        self,
        parts: Sequence[range],
        begin: Callable[[QueryRange], SomeFindings],
        finish: Callable[[SomeFindings], None],
    ) -> list[range]:
        """Finishes the findings of every range after all items; those that gave up. Raises as
        `Space.queries`.
        """
        ends = np.cumsum([0, *map(len, parts)]).tolist()
        vectors = np.empty((ends[-1], self._space.width), dtype=self._space.dtype)
        findings: dict[int, SomeFindings] = {}
        gave_up = set[int]()
        spare: list[_Loaded] = []
        # One array: memory in large pages is mapped several times as fast as in small ones.
        buffer = np.empty(
            (min(self._n, self._step * self._ready), self._space.width), dtype=self._space.dtype
        )

        def _begin(number: int) -> SomeFindings:
            rows, queries = (
                slice(ends[number], ends[number + 1]),
                slice(parts[number].start, parts[number].stop),
            )
            return begin(
                QueryRange(
                    queries,
                    rows,
                    self._space.queries(queries.start, queries.stop, out=vectors[rows]),
                )
            )

        for start in range(0, self._n, self._step * self._ready):
            stop = min(start + self._step * self._ready, self._n)
            ready = self._make_ready(range(start, stop, self._step), buffer)
            is_first, is_last = start == 0, stop == self._n

            def _take(
                number: int,
                ready: Sequence[tuple[int, Block]] = ready,
                *,
                is_first: bool = is_first,
                is_last: bool = is_last,
            ) -> None:
                # A gallery that is ready as a whole needs no memory for the findings of more than
                # one range per thread.
                range_findings = _begin(number) if is_first else findings.pop(number)
                multiplier = spare.pop() if spare else _Loaded(self._start(vectors))
                if not all(
                    multiplier.offer(range_findings, first, block) for first, block in ready
                ):
                    gave_up.add(number)
                elif is_last:
                    finish(range_findings)
                else:
                    findings[number] = range_findings
                spare.append(multiplier)

            in_threads(
                _take,
                [number for number in range(len(parts)) if number not in gave_up],
                workers=self._workers,
            )
        return [parts[number] for number in sorted(gave_up)]

    def _make_ready(self, starts: range, buffer: Reals) -> list[tuple[int, Block]]:
        """Blocks of items with the first of each; buffer: that of the last blocks, which are
        written over.
        """

        def _load(first: int) -> tuple[int, Block]:
            stop = min(first + self._step, self._n)
            return first, self._space.items(
                first, stop, out=buffer[first - starts.start : stop - starts.start]
            )

        return in_threads(_load, starts, workers=self._workers)


class _Loaded:
    """A multiplier and the block that it has loaded."""

    def __init__(self, multiplier: Loads) -> None:
        self._multiplier, self._first = multiplier, -1

    def offer(self, findings: RangeFindings, first: int, block: Block) -> bool:
        """Loads a block, once while it stays the same, and hands it to a range of queries; the
        answer is that of `take`.
        """
        if first != self._first:
            self._multiplier.load(block.vectors)
            self._first = first
        return findings.take(self._multiplier, first, block)
