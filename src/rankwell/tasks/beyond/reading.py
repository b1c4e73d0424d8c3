"""Runs -> lists of the codes of items, a block of queries at a time, so that memory does not grow with their number."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.core.tables import Ints, Judgments, sort_ids
from rankwell.core.tables.ranking import Hits, Ranking
from rankwell.errors import BadInput, NothingToEvaluate, flag
from rankwell.io import files as io
from rankwell.io.formats import Request, identify
from rankwell.io.shards import find_hits_in_shards, shard_hits
from rankwell.store import SourceRange, run_files
from rankwell.tasks.beyond.attributes import ItemAttributes
from rankwell.tasks.beyond.lists import ItemLists
from rankwell.tasks.beyond.options import BeyondOptions

RANGE = 4 << 20
"""Bytes of a file that are read at a time."""
BATCH = 20_000
"""Queries that are read at a time where a file cannot be divided, or has the rows of a query in several of its ranges."""
_ABSENT, _SCATTERED = -2, -1
_NO_QUERY = "\0"


@dataclass(frozen=True, eq=False)
class ListedRun:
    """The lists of a run. queries: those that count, in order. depth: the number of first items that are read.

    ranges: of a file that can be divided. place: (queries,) the range that has all rows of a query; -1 for one that is read
    from the whole run, -2 for one that it lacks. unknown: queries that do not count. notes: of the reader.
    """

    name: str
    run: Any
    options: BeyondOptions
    queries: tuple[str, ...]
    depth: int
    place: Ints
    ranges: "_Ranges"
    unknown: list[str]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, name: str, run: Any, judgments: Judgments | None, depth: int | None, options: BeyondOptions) -> "ListedRun":
        """Reads the queries of a run. depth: None for all items. Raises NothingToEvaluate where none of them is judged."""
        ranges, lengths, places, notes = _Ranges(run, options), dict[str, int](), dict[str, int](), tuple[str, ...]()
        if ranges:
            for number in range(len(ranges)):
                for query, n in ranges.hits(number, (_NO_QUERY,), 0).unknown.items():
                    places[query] = _SCATTERED if query in places else number
                    if depth is None:
                        lengths[query] = lengths.get(query, 0) + n
        else:
            found = _hits(run, (_NO_QUERY,), 0, options)
            lengths, notes = dict(found.hits.unknown), found.notes
            places = dict.fromkeys(lengths, _SCATTERED)
        queries = tuple(sort_ids(places)) if judgments is None else judgments.queries
        place = np.array([places.get(query, _ABSENT) for query in queries], dtype=np.int64)
        if (place == _ABSENT).all():
            raise NothingToEvaluate(f"{name}: none of its {len(places)} queries has judgments; are ids written in two ways?")
        unknown = [] if judgments is None else sort_ids(query for query in places if query not in judgments.index)
        deepest = max(max(lengths.values(), default=1) if depth is None else depth, 1)
        return cls(name, run, options, queries, deepest, place, ranges, unknown, notes or tuple(ranges.notes))

    @property
    def missing(self) -> list[str]:
        """The queries that the run lacks."""
        return list(self._names(np.flatnonzero(self.place == _ABSENT)))

    def blocks(self, about: ItemAttributes) -> Iterator[tuple[Ints, ItemLists]]:
        """The lists of some queries at a time, each query once, and their places among the queries.

        Raises BadInput for an item that the catalogue, the categories or the vectors lack.
        """
        codes = _Codes(about.index)
        for number in range(len(self.ranges)):
            rows = np.flatnonzero(self.place == number)
            if len(rows):
                yield rows, self._lists(rows, self.ranges.hits(number, self._names(rows), self.depth).top, about, codes)
        others = np.flatnonzero(self.place == _SCATTERED)
        for start in range(0, len(others), BATCH):
            rows = others[start : start + BATCH]
            yield rows, self._lists(rows, _hits(self.run, self._names(rows), self.depth, self.options).hits.top, about, codes)
        absent = np.flatnonzero(self.place == _ABSENT)
        if len(absent):
            yield absent, self._lists(absent, None, about, codes)

    def _names(self, rows: Ints) -> tuple[str, ...]:
        return tuple(map(self.queries.__getitem__, rows.tolist()))

    def _lists(self, rows: Ints, top: Ranking | None, about: ItemAttributes, codes: "_Codes") -> ItemLists:
        queries = self._names(rows)
        if top is None:
            return ItemLists(queries, np.full((len(queries), 1), -1, dtype=np.int64), about)
        sizes = np.diff(top.offsets)
        listed = np.full((len(queries), int(sizes.max(initial=1))), -1, dtype=np.int64)
        flat = np.fromiter(map(codes.__getitem__, top.items), dtype=np.int64, count=len(top.items))
        place = {query: row for row, query in enumerate(queries)}
        owners = np.repeat(np.array([place[query] for query in top.queries], dtype=np.int64), sizes)
        listed[owners, np.arange(len(flat)) - np.repeat(top.offsets[:-1], sizes)] = flat
        self._refuse_lacking(queries, owners, flat, top.items, about)
        return ItemLists(queries, listed, about)

    def _refuse_lacking(
        self, queries: Sequence[str], owners: Ints, codes: Ints, items: Sequence[str], about: ItemAttributes
    ) -> None:
        categories, embeddings = flag("--item-categories", name="categories"), flag("--item-embeddings", name="embeddings")
        groups, add_row = flag("--item-groups", name="groups"), "add a row, with an empty {} for an item without one"
        lacking = {
            f"the catalogue lacks; correct the id, or name a file of all items by {flag('--catalogue')}": about.in_catalogue,
            f"{categories} lacks; {add_row.format('category')}": about.categories and about.categories.listed,
            f"{groups} lacks; {add_row.format('group')}": about.groups and about.groups.listed,
            f"{embeddings} lacks; add its vector": None if about.vectors is None else ~np.isnan(about.vectors[:, 0]),
        }
        for what, has in lacking.items():
            good = np.ones(len(codes), dtype=np.bool_) if has is None else np.append(has, False)[np.minimum(codes, len(has))]
            if not good.all():
                row = int(np.flatnonzero(~good)[0])
                raise BadInput(f"{self.name}: query {queries[int(owners[row])]!r} lists {items[row]!r}, which {what}.")


class _Codes(dict[str, int]):
    """The codes of known items; another item has the next one from its first appearance."""

    def __missing__(self, item: str) -> int:
        return self.setdefault(item, len(self))


class _Ranges:
    """The ranges of a plain file whose format can be divided; none of anything else."""

    def __init__(self, run: Any, options: BeyondOptions) -> None:
        self._request, self._ranges = Request(duplicates=options.duplicates), list[SourceRange]()
        if not isinstance(run, (str, Path)) or run_files(run):
            return
        source, self._entry, found = identify(run, "run", options.run_format, self._request)
        if found.part or self._entry.cut is None or source.path is None:
            return
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
        request = Request(keep=keep, duplicates=self._request.duplicates, notes=self._request.notes)
        return shard_hits(self._ranges[number], self._entry, _nothing_judged(queries), request)


def _nothing_judged(queries: Sequence[str]) -> Judgments:
    return Judgments.from_rows([], [], [], all_queries=queries)


def _hits(run: Any, queries: Sequence[str], keep: int, options: BeyondOptions) -> io.FoundHits:
    """The first items of these queries in the whole run."""
    if isinstance(run, (str, Path)) and (files := run_files(run)):
        request = Request(keep=keep, duplicates=options.duplicates)
        return find_hits_in_shards(files, _nothing_judged(queries), options.run_format, request)
    return io.find_hits(run, _nothing_judged(queries), format=options.run_format, keep=keep, duplicates=options.duplicates)
