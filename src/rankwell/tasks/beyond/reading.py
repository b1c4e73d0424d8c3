"""Runs -> lists of the codes of items, some queries at a time, so that memory does not grow with
their number.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from sys import maxsize
from typing import Any, cast

import numpy as np

from rankwell.data.columns import chosen_columns
from rankwell.data.rankings import Hits, Ranking
from rankwell.data.tables import (
    Bools,
    Ints,
    Judgments,
    position_in_segment,
    segment_offsets,
    take_segments,
)
from rankwell.errors import BadInput, flag, naming
from rankwell.io import formats
from rankwell.io.formats import Request, identify
from rankwell.io.reader import Irregular, NumberedLists
from rankwell.io.shards import find_hits_in_shards, shard_hits, shards_format
from rankwell.store import Source, SourceRange, run_files
from rankwell.tasks.beyond.attributes import ItemAttributes
from rankwell.tasks.beyond.lists import ItemLists
from rankwell.tasks.beyond.options import BeyondOptions

CELLS = 1 << 18
"""Places of items that the measures get at a time."""
RANGE = 4 << 20
"""Bytes of a file that are read at a time."""
BATCH, PLACES = 20_000, 1 << 20
"""Queries that are read at a time where a file cannot be divided, or has the rows of a query in
several of its ranges; with few first items, so many of these.
"""
_SCATTERED = -1
_NO_QUERY = "\0"
ReadHits = Callable[[Sequence[str], int], Hits]
"""The hits of some queries, with so many first items."""


class RunLists:
    """The lists of a run.

    depth: number of first items that are read; None for all.
    unknown: the queries that do not count, known after the lists are read.
    notes: notes of the reader, known after the lists are read.
    """

    def __init__(
        self,
        name: str,
        run: Any,
        depth: int | None,
        attributes: ItemAttributes,
        options: BeyondOptions,
    ) -> None:
        self.unknown, self.notes = list[str](), list[str]()
        self._name, self._run, self._depth = name, run, depth
        self._attributes, self._options = attributes, options
        self._columns = chosen_columns(options.columns, "run")
        self._files = run_files(run)
        self._items_without_attributes = list[str]()
        self._inputs = _items_by_input(attributes)
        self._is_complete = np.logical_and.reduce(
            [*self._inputs.values(), np.ones(len(attributes.items) + 1, dtype=np.bool_)]
        )

    def streamed(self) -> Iterator[ItemLists]:
        """The lists of a run whose queries are contiguous, read in one pass, each query once.

        Raises Irregular for a run that must be read another way, BadInput for an item that an input
        lacks.
        """
        grades = self._attributes.grades
        for block in self._stream():
            self._items_without_attributes += block.new
            sizes = np.frombuffer(block.sizes, dtype=np.int64)
            codes = np.frombuffer(block.items, dtype=np.int64)
            rows, judged = np.arange(len(sizes)), None
            if grades is not None:
                judged = grades.rows(block.queries)
                is_judged = judged < len(grades.index)
                self.unknown += [block.queries[row] for row in np.flatnonzero(~is_judged).tolist()]
                rows = np.flatnonzero(is_judged)
            start, offsets = 0, segment_offsets(sizes)
            while start < len(rows):
                stop = start + max(CELLS // int(sizes[rows[start:]].max()), 1)
                block_rows = rows[start:stop]
                positions, starts = take_segments(offsets, block_rows)
                queries = [block.queries[row] for row in block_rows.tolist()]
                lists = self._lists(queries, starts, codes[positions])
                if judged is not None:
                    # They are looked up already.
                    lists.cache[id(grades)] = judged[block_rows]
                yield lists
                start = stop

    def _stream(self) -> Iterator[NumberedLists]:
        if not isinstance(self._run, (str, Path)) or self._options.duplicates != "error":
            raise Irregular
        keep = maxsize if self._depth is None else self._depth
        request = Request(keep=keep, columns=self._columns, notes=self.notes)
        if self._files:
            sources = [Source(file) for file in self._files]
            entry, request = shards_format(sources, self._options.run_format, request)
        else:
            source, entry, request = identify(self._run, "run", self._options.run_format, request)
            sources = [source]
        if entry.lists is None:
            raise Irregular
        with naming(sources[0].name if len(sources) == 1 else ""):
            yield from entry.lists(sources, self._attributes.items, request)

    def listed(self) -> Iterator[ItemLists]:
        """The lists of any run: first its queries are read, then the items of a block of them at a
        time. Raises BadInput for an item that an input lacks.
        """
        request = Request(duplicates=self._options.duplicates, columns=self._columns)
        readers: list[ReadHits] = list(self._range_readers(request))
        range_of_query, lengths = dict[str, int](), dict[str, int]()
        for number, read in enumerate(readers):
            lengths_in_range = read((_NO_QUERY,), 0).unknown
            n_repeated = sum(query in range_of_query for query in lengths_in_range)
            if 2 * n_repeated > len(lengths_in_range):
                # Most queries have rows in several ranges.
                readers = []
                break
            for query, n in lengths_in_range.items():
                range_of_query[query] = _SCATTERED if query in range_of_query else number
                if self._depth is None:
                    lengths[query] = lengths.get(query, 0) + n
        self.notes = list(dict.fromkeys(request.notes))
        if not readers:
            found_hits = self._find((_NO_QUERY,), 0)
            lengths, self.notes = dict(found_hits.hits.unknown), list(found_hits.notes)
            range_of_query = dict.fromkeys(lengths, _SCATTERED)
        judged = self._attributes.judged_queries
        self.unknown = (
            [] if judged is None else [query for query in range_of_query if query not in judged]
        )
        queries = [query for query in range_of_query if judged is None or query in judged]
        ranges = np.array([range_of_query[query] for query in queries], dtype=np.int64)
        depth = max(self._depth or max(lengths.values(), default=1), 1)
        blocks = [(read, np.flatnonzero(ranges == number)) for number, read in enumerate(readers)]
        scattered, batch = np.flatnonzero(ranges == _SCATTERED), max(BATCH, PLACES // depth)
        blocks += [
            (lambda queries, keep: self._find(queries, keep).hits, scattered[start : start + batch])
            for start in range(0, len(scattered), batch)
        ]
        codes = _Codes(self._attributes.index)
        for read, rows in blocks:
            if len(rows):
                top = cast(Ranking, read([queries[row] for row in rows.tolist()], depth).top)
                items = map(codes.__getitem__, top.items)
                flat = np.fromiter(items, dtype=np.int64, count=len(top.items))
                self._items_without_attributes = list(codes)[len(self._attributes.items) :]
                yield self._lists(top.queries, top.offsets, flat)

    def _range_readers(self, request: Request) -> Iterator[ReadHits]:
        """The readers of the ranges of a plain file whose format can be divided; none of anything
        else.
        """
        if not isinstance(self._run, (str, Path)) or self._files:
            return
        source, entry, identified = identify(self._run, "run", self._options.run_format, request)
        if identified.part or entry.cut is None or source.path is None:
            return
        if identified.recognised and entry.confirm is not None:
            entry.confirm(source)
        cuts = entry.cut(source, range(RANGE, source.path.stat().st_size, RANGE))
        bounds = sorted({0, *(start for start in cuts.starts if start < cuts.end), cuts.end})
        if len(bounds) < 3:
            return
        for start, stop in pairwise(bounds):
            part = SourceRange(source.path, start, stop, of_rows=entry.name == "parquet")
            part.name = source.name
            yield lambda queries, keep, part=part: shard_hits(
                part, entry, _nothing_judged(queries), replace(request, keep=keep)
            )

    def _find(self, queries: Sequence[str], keep: int) -> formats.FoundHits:
        """The first items of these queries in the whole run; nothing counts as judged."""
        request = Request(keep=keep, duplicates=self._options.duplicates, columns=self._columns)
        judgments = _nothing_judged(queries)
        form = self._options.run_format
        if files := run_files(self._run):
            return find_hits_in_shards(files, judgments, form, request)
        return formats.find_hits_by(self._run, judgments, form, request)

    def _lists(self, queries: Sequence[str], offsets: Ints, codes: Ints) -> ItemLists:
        """The lists of some queries, whose items lie one list behind the other. Raises BadInput for
        the first item that an input lacks.
        """
        owners = np.repeat(np.arange(len(queries)), np.diff(offsets))
        last = len(self._attributes.items)
        places = np.minimum(codes, last)
        if not self._is_complete[places].all():
            for problem, is_in_input in self._inputs.items():
                lacking = np.flatnonzero(~is_in_input[places])
                if len(lacking):
                    row = int(lacking[0])
                    items = (*self._attributes.items, *self._items_without_attributes)
                    raise BadInput(
                        f"{self._name}: query {queries[owners[row]]!r} lists "
                        f"{items[codes[row]]!r}, which {problem}."
                    )
        lists = np.full((len(queries), int(np.diff(offsets).max(initial=1))), -1, dtype=np.int64)
        lists[owners, position_in_segment(offsets)] = codes
        return ItemLists(tuple(queries), lists, self._attributes)


def _items_by_input(attributes: ItemAttributes) -> dict[str, Bools]:
    """The error of an item that an input lacks -> (items + 1,) whether the input has each item; the
    last place stands for items without attributes.
    """
    categories = flag("--item-categories")
    embeddings = flag("--item-vectors")
    groups = flag("--item-groups")
    add_row = "add a row, with an empty {} for an item without one"
    inputs: dict[str, Bools | None] = {
        "the catalogue lacks; correct the id, or name a file of all items by "
        f"{flag('--documents')}": attributes.in_catalogue,
        f"{categories} lacks; {add_row.format('category')}": attributes.categories
        and attributes.categories.in_input,
        f"{groups} lacks; {add_row.format('group')}": attributes.groups
        and attributes.groups.in_input,
        f"{embeddings} lacks; add its vector": None
        if attributes.vectors is None
        else ~np.isnan(attributes.vectors[:, 0]),
    }
    return {
        problem: np.append(is_in_input, False)
        for problem, is_in_input in inputs.items()
        if is_in_input is not None
    }


class _Codes(dict[str, int]):
    """The codes of known items; another item has the next one from its first appearance."""

    def __missing__(self, item: str) -> int:
        return self.setdefault(item, len(self))


def _nothing_judged(queries: Sequence[str]) -> Judgments:
    return Judgments.from_rows([], [], [], all_queries=queries)
