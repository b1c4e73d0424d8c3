"""Runs -> lists in one pass, some queries at a time, where the compiled reader can take the run
so.
"""

from collections.abc import Iterator
from pathlib import Path
from sys import maxsize
from typing import Any

import numpy as np

from rankwell.data.columns import chosen_columns
from rankwell.data.tables import Ints, gather, position_in_segment, segment_offsets
from rankwell.errors import naming
from rankwell.io.formats import Request, identify
from rankwell.io.reader import Irregular, NumberedLists
from rankwell.io.shards import shards_format
from rankwell.store import Source, run_files
from rankwell.tasks.beyond.attributes import ItemAttributes
from rankwell.tasks.beyond.lacking import LackingItems
from rankwell.tasks.beyond.lists import ItemLists
from rankwell.tasks.beyond.options import BeyondOptions

CELLS = 1 << 18
"""Places of items that the measures get at a time."""


class StreamedRun:
    """The lists of a run whose queries are contiguous.

    depth: the number of first items, None for all. unknown: the queries that do not count. notes:
    of the reader.
    """

    def __init__(self, name: str, run: Any, depth: int | None, options: BeyondOptions) -> None:
        self.name, self.unknown, self.notes = name, list[str](), list[str]()
        self._run, self._options = run, options
        self._depth = maxsize if depth is None else depth

    def blocks(self, attributes: ItemAttributes) -> Iterator[ItemLists]:
        """The lists of some queries at a time, each query once.

        Raises Irregular for a run that must be read another way, BadInput for an item that an input
        lacks.
        """
        lacking = LackingItems(self.name, attributes)
        for block in self._read(attributes):
            lacking.others += block.new
            sizes = np.frombuffer(block.sizes, dtype=np.int64)
            codes = np.frombuffer(block.items, dtype=np.int64)
            judged = None if attributes.grades is None else attributes.grades.rows(block.queries)
            rows = (
                np.arange(len(sizes))
                if judged is None
                else self._counted(block.queries, judged, attributes)
            )
            start = 0
            while start < len(rows):
                stop = start + max(CELLS // int(sizes[rows[start:]].max()), 1)
                queries = tuple(map(block.queries.__getitem__, rows[start:stop].tolist()))
                codes_of_lists = _padded(sizes, codes, rows[start:stop])
                lacking.refuse(queries, codes_of_lists)
                lists = ItemLists(queries, codes_of_lists, attributes)
                if attributes.grades is not None and judged is not None:
                    lists.keep_rows(attributes.grades, judged[rows[start:stop]])
                yield lists
                start = stop

    def _read(self, attributes: ItemAttributes) -> Iterator[NumberedLists]:
        if not isinstance(self._run, (str, Path)) or self._options.duplicates != "error":
            raise Irregular
        request = Request(
            keep=self._depth, columns=chosen_columns(self._options.columns, "run"), notes=self.notes
        )
        if files := run_files(self._run):
            sources = [Source(file) for file in files]
            entry, request = shards_format(sources, self._options.run_format, request)
        else:
            source, entry, request = identify(self._run, "run", self._options.run_format, request)
            sources = [source]
        if entry.lists is None:
            raise Irregular
        with naming(sources[0].name if len(sources) == 1 else ""):
            yield from entry.lists(sources, attributes.items, request)

    def _counted(self, queries: list[str], judged: Ints, attributes: ItemAttributes) -> Ints:
        """The places of the queries that count. judged: their rows among the judged ones, of others
        the one behind all.
        """
        no_row = len(attributes.judged_queries or ())
        self.unknown += [queries[row] for row in np.flatnonzero(judged == no_row).tolist()]
        return np.flatnonzero(judged != no_row)


def _padded(sizes: Ints, codes: Ints, rows: Ints) -> Ints:
    """The items of some lists, a row each, -1 behind the end of a list."""
    positions, starts = gather(segment_offsets(sizes), rows)
    lists = np.full((len(rows), int(sizes[rows].max())), -1, dtype=np.int64)
    lists[np.repeat(np.arange(len(rows)), sizes[rows]), position_in_segment(starts)] = codes[
        positions
    ]
    return lists
