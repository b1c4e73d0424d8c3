"""Runs that cannot be streamed -> lists of the codes of items: first the queries, then the items of
a block of them at a time.
"""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.data.columns import chosen_columns
from rankwell.data.rankings import Hits, Ranking
from rankwell.data.tables import Ints, Judgments, position_in_segment
from rankwell.io import formats as io
from rankwell.io.formats import Request, identify
from rankwell.io.shards import find_hits_in_shards, shard_hits
from rankwell.store import SourceRange, run_files
from rankwell.tasks.beyond.attributes import ItemAttributes
from rankwell.tasks.beyond.lacking import LackingItems
from rankwell.tasks.beyond.lists import ItemLists
from rankwell.tasks.beyond.options import BeyondOptions

RANGE = 4 << 20
"""Bytes of a file that are read at a time."""
BATCH, PLACES = 20_000, 1 << 20
"""Queries that are read at a time where a file cannot be divided, or has the rows of a query in
several of its ranges; with few first items, so many of these.
"""
_SCATTERED = -1
_NO_QUERY = "\0"


@dataclass(frozen=True, eq=False)
class ListedRun:
    """The lists of a run. queries: those that count. depth: the number of first items that are
    read.

    ranges: of a file that can be divided. range_of_query: (queries,) the range that has all rows of
    a query; -1 for one that is read from the whole run. unknown: queries that do not count. notes:
    of the reader.
    """

    name: str
    run: Any
    options: BeyondOptions
    queries: tuple[str, ...]
    depth: int
    range_of_query: Ints
    ranges: "_Ranges"
    unknown: list[str]
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        name: str,
        run: Any,
        judged: Container[str] | None,
        depth: int | None,
        options: BeyondOptions,
    ) -> "ListedRun":
        """Reads the queries of a run. judged: those that count, None for all. depth: None for all
        items.
        """
        ranges = _Ranges(run, options)
        range_of_query = dict[str, int]()
        lengths = dict[str, int]()
        notes = tuple[str, ...]()
        for number in range(len(ranges)):
            lengths_in_range = ranges.hits(number, (_NO_QUERY,), 0).unknown
            n_repeated = sum(query in range_of_query for query in lengths_in_range)
            if 2 * n_repeated > len(lengths_in_range):
                # Most queries have rows in several ranges.
                ranges = _Ranges(None, options)
                range_of_query = dict[str, int]()
                lengths = dict[str, int]()
                break
            for query, n in lengths_in_range.items():
                range_of_query[query] = _SCATTERED if query in range_of_query else number
                if depth is None:
                    lengths[query] = lengths.get(query, 0) + n
        if not ranges:
            found_hits = _hits(run, (_NO_QUERY,), 0, options)
            lengths, notes = dict(found_hits.hits.unknown), found_hits.notes
            range_of_query = dict.fromkeys(lengths, _SCATTERED)
        queries = tuple(query for query in range_of_query if judged is None or query in judged)
        ranges_of_queries = np.array([range_of_query[query] for query in queries], dtype=np.int64)
        unknown = (
            [] if judged is None else [query for query in range_of_query if query not in judged]
        )
        deepest = max(max(lengths.values(), default=1) if depth is None else depth, 1)
        return cls(
            name,
            run,
            options,
            queries,
            deepest,
            ranges_of_queries,
            ranges,
            unknown,
            notes or tuple(ranges.notes),
        )

    def blocks(self, attributes: ItemAttributes) -> Iterator[ItemLists]:
        """The lists of some queries at a time, each query once. Raises BadInput for an item that an
        input lacks.
        """
        codes, lacking = _Codes(attributes.index), LackingItems(self.name, attributes)
        for number in range(len(self.ranges)):
            rows = np.flatnonzero(self.range_of_query == number)
            if len(rows):
                hits = self.ranges.hits(number, self._names(rows), self.depth)
                yield self._lists(hits.top, attributes, codes, lacking)
        scattered = np.flatnonzero(self.range_of_query == _SCATTERED)
        batch = max(BATCH, PLACES // self.depth)
        for start in range(0, len(scattered), batch):
            found_hits = _hits(
                self.run, self._names(scattered[start : start + batch]), self.depth, self.options
            )
            yield self._lists(found_hits.hits.top, attributes, codes, lacking)

    def _names(self, rows: Ints) -> tuple[str, ...]:
        return tuple(map(self.queries.__getitem__, rows.tolist()))

    def _lists(
        self,
        top: Ranking | None,
        attributes: ItemAttributes,
        codes: "_Codes",
        lacking: LackingItems,
    ) -> ItemLists:
        if top is None:
            raise ValueError("the first items were not kept")
        sizes = np.diff(top.offsets)
        flat = np.fromiter(map(codes.__getitem__, top.items), dtype=np.int64, count=len(top.items))
        lacking.others = list(codes)[len(attributes.items) :]
        lists = np.full((len(top.queries), int(sizes.max(initial=1))), -1, dtype=np.int64)
        lists[np.repeat(np.arange(len(sizes)), sizes), position_in_segment(top.offsets)] = flat
        lacking.refuse(top.queries, lists)
        return ItemLists(tuple(top.queries), lists, attributes)


class _Codes(dict[str, int]):
    """The codes of known items; another item has the next one from its first appearance."""

    def __missing__(self, item: str) -> int:
        return self.setdefault(item, len(self))


class _Ranges:
    """The ranges of a plain file whose format can be divided; none of anything else."""

    def __init__(self, run: Any, options: BeyondOptions) -> None:
        columns = chosen_columns(options.columns, "run")
        self._request = Request(duplicates=options.duplicates, columns=columns)
        self._ranges = list[SourceRange]()
        if not isinstance(run, (str, Path)) or run_files(run):
            return
        source, self._entry, request = identify(run, "run", options.run_format, self._request)
        if request.part or self._entry.cut is None or source.path is None:
            return
        if request.recognised and self._entry.confirm is not None:
            self._entry.confirm(source)
        size = source.path.stat().st_size
        cuts = self._entry.cut(source, range(RANGE, size, RANGE))
        bounds = sorted({0, *(start for start in cuts.starts if start < cuts.end), cuts.end})
        for start, stop in pairwise(bounds):
            part = SourceRange(source.path, start, stop, of_rows=self._entry.name == "parquet")
            part.name = source.name
            self._ranges.append(part)

    def __len__(self) -> int:
        return len(self._ranges) if len(self._ranges) > 1 else 0

    @property
    def notes(self) -> list[str]:
        """The notes of the reader, each once."""
        return list(dict.fromkeys(self._request.notes))

    def hits(self, number: int, queries: Sequence[str], keep: int) -> Hits:
        """The first items of these queries in a range; nothing counts as judged."""
        request = replace(self._request, keep=keep)
        return shard_hits(self._ranges[number], self._entry, _nothing_judged(queries), request)


def _nothing_judged(queries: Sequence[str]) -> Judgments:
    return Judgments.from_rows([], [], [], all_queries=queries)


def _hits(run: Any, queries: Sequence[str], keep: int, options: BeyondOptions) -> io.FoundHits:
    """The first items of these queries in the whole run."""
    if isinstance(run, (str, Path)) and (files := run_files(run)):
        columns = chosen_columns(options.columns, "run")
        request = Request(keep=keep, duplicates=options.duplicates, columns=columns)
        return find_hits_in_shards(files, _nothing_judged(queries), options.run_format, request)
    reading: dict[str, Any] = {
        "format": options.run_format,
        "columns": options.columns,
        "duplicates": options.duplicates,
    }
    return io.find_hits(run, _nothing_judged(queries), keep=keep, **reading)
