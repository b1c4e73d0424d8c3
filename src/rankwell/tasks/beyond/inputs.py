"""Files about items -> their attributes; and runs -> lists of the codes of items, some queries at a
time, so that memory does not grow with their number.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, repeat
from pathlib import Path
from sys import maxsize
from typing import Any, cast

import numpy as np

from rankwell.data.columns import chosen_columns, known_columns, refuse_unused_columns
from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import reading_choice
from rankwell.data.matrices import Embeddings, item_ids
from rankwell.data.rankings import Hits, Ranking
from rankwell.data.tables import (
    Bools,
    Ints,
    Judgments,
    position_in_segment,
    positions_by_id,
    segment_offsets,
    sort_ids,
    take_segments,
)
from rankwell.errors import BadInput, BadLine, BadScore, BadUsage, count_of, flag, naming, shown
from rankwell.io import formats
from rankwell.io.formats import Request, identify
from rankwell.io.matrices import read_embeddings
from rankwell.io.reader import Irregular, NumberedLists
from rankwell.io.reader.lines import shorten
from rankwell.io.shards import find_hits_in_shards, shard_hits, shards_format
from rankwell.store import Head, Source, SourceRange, decode_id, run_files, split_part
from rankwell.store.places import is_data_set_id
from rankwell.tasks.beyond.lists import ItemAttributes, ItemLabels, ItemLists, QueryItems
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
    findings: findings of the reader, known after the lists are read.
    """

    def __init__(
        self,
        name: str,
        run: Any,
        depth: int | None,
        attributes: ItemAttributes,
        options: BeyondOptions,
    ) -> None:
        self.unknown, self.findings = list[str](), list[Finding]()
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
        request = Request(keep=keep, columns=self._columns, findings=self.findings)
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
        self.findings = list(dict.fromkeys(request.findings))
        if not readers:
            found_hits = self._find((_NO_QUERY,), 0)
            lengths, self.findings = dict(found_hits.hits.unknown), list(found_hits.findings)
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


_NUMBER = re.compile(rb"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_OF_OTHER_FORMS = (b"\0", b",", b";", b"|", b'"', b"{", b"[", b"::")
_INTEGER = re.compile(rb"[0-9]+")
_NAME_COLUMNS = (
    "name the columns in a first line, separated by tabs or commas, as in user,item,rating"
)
_TIME = 1e8
"""Seconds since 1970, in 1973: no grade is as large."""


def read_attributes(options: BeyondOptions) -> tuple[ItemAttributes, list[Finding]]:
    """The attributes of all items that a file has, and the items of each query, with the findings
    of the readers. Raises BadInput for bad rows.
    """
    judgments, judged = formats.judgments_file(options.qrels), None
    if judgments is not None:
        judged = formats.find_judgments(
            judgments, format=options.qrels_format, qrels_columns=options.qrels_columns
        )
    else:
        refuse_unused_columns(options.qrels_columns, "judgments", flag("--qrels"))
        if options.qrels_format is not None:
            option = flag("--qrels-format", options.qrels_format)
            raise BadUsage(
                f"{option} has no effect without {flag('--qrels')}; give it, or leave this out."
            )
    interactions = None
    if options.interactions is not None:
        interactions = read_interactions(options.interactions)
    tables = [table for table in (interactions, judged) if table is not None]
    catalogue = None if options.documents is None else _ids(options.documents)
    categories, groups = (
        None if table is None else read_labels(table, flag(f"--item-{name}"))
        for name, table in (
            ("categories", options.item_categories),
            ("groups", options.item_groups),
        )
    )
    directions = None if options.item_vectors is None else _directions(options.item_vectors)
    user_items = None if interactions is None else interactions.judgments.flat
    item_ids = {*(catalogue or ()), *(categories or ()), *(groups or ())}
    item_ids.update(user_items.items if user_items else (), (directions and directions.ids) or ())
    items = tuple(sort_ids(item_ids))
    index = positions_by_id(items)
    vectors = None
    if directions is not None:
        vectors = np.full((len(items), directions.dimensions), np.nan)
        vectors[[index[item] for item in directions.ids or ()]] = directions.vectors
    histories, popularity, n_users = None, None, 0
    if user_items is not None:
        histories = _query_items(user_items, index, liked=True)
        popularity = np.bincount(histories.codes, minlength=len(items))
        n_users = int(np.count_nonzero(np.diff(histories.offsets)))
    in_catalogue = None if popularity is None else popularity > 0
    if catalogue is not None:
        members = set(catalogue)
        in_catalogue = np.array([item in members for item in items], dtype=np.bool_)
    return ItemAttributes(
        items=items,
        in_catalogue=in_catalogue,
        popularity=popularity,
        n_users=n_users,
        categories=None if categories is None else ItemLabels.of(items, categories),
        groups=None if groups is None else ItemLabels.of(items, groups),
        vectors=vectors,
        histories=histories,
        grades=None if judged is None else _query_items(judged.judgments.flat, index),
    ), [finding for table in tables for finding in table.findings]


def _ids(place: Any) -> list[str]:
    """The ids of a file or of a collection, each once. Raises BadInput for a row without one."""
    if isinstance(place, (set, frozenset)):
        place = list(place)
    ids = formats.read_column(place) if isinstance(place, (str, Path)) else item_ids(place)
    name = place if isinstance(place, (str, Path)) else "the catalogue"
    for row, item in enumerate(ids):
        if not isinstance(item, str) or not item:
            raise BadInput(f"{name}: row {row + 1} has no id; expected a string or an integer.")
    if not ids:
        raise BadInput(f"{name} has no item; expected an id per row.")
    return sort_ids(set(filter(None, ids)))


def read_labels(place: Any, option: str) -> dict[str, list[str]]:
    """item -> its categories or groups, from two columns of a table or from a mapping; rows of one
    item are joined.

    Raises BadInput for a row without an item, where no column is named, and without the file.
    """
    if isinstance(place, Mapping):
        return {str(item): _names(labels, item, option) for item, labels in place.items()}
    path, _ = formats.table_and_column(
        place, option, "item -> categories", "labels", "items.csv:genres"
    )
    labels_of_item: dict[str, list[str]] = {}
    for row, (item, label) in enumerate(
        zip(formats.read_column(path), formats.read_column(place), strict=True)
    ):
        if not item:
            raise BadInput(f"{path}: row {row + 1} has no item; give its id, or remove the row.")
        names = labels_of_item.setdefault(item, [])
        names += [name.strip() for name in (label or "").split("|") if name.strip()]
    return labels_of_item


def _names(labels: Any, item: Any, option: str) -> list[str]:
    """The names that a mapping has for an item: one, several, or None or "" for none. Raises
    BadInput for anything else.
    """
    candidates: list[Any] = (
        list(labels) if isinstance(labels, Collection) and not isinstance(labels, str) else [labels]
    )
    names = [name for name in candidates if name is not None and name != ""]
    for candidate in names:
        if isinstance(candidate, bool) or not isinstance(candidate, (str, int)):
            raise BadInput(
                f"{option}: item {item!r} has {shown(candidate)}; expected a name, or a list of "
                "names."
            )
    return list(map(str, names))


def _directions(embeddings: Any) -> Embeddings:
    """The vectors of items, of length 1. Raises BadInput without ids, BadScore for a vector that is
    zero.
    """
    option, table = flag("--item-vectors"), read_embeddings(embeddings)
    if table.ids is None:
        raise BadInput(
            f"{option}: the vectors have no ids; give them in NAME.ids.txt beside the file."
        )
    vectors = np.asarray(table.vectors, dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1)
    if not lengths.all():
        raise BadScore(
            f"{option}: the vector of {table.ids[int(lengths.argmin())]!r} is zero and has no "
            "direction; correct it, or remove the item."
        )
    return Embeddings(table.ids, vectors / lengths[:, None])


def _query_items(
    judgments: Judgments, index: Mapping[str, int], *, liked: bool = False
) -> QueryItems:
    """The known items of each query. liked: those with a grade above 0."""
    codes = np.fromiter(
        map(index.get, judgments.items, repeat(-1)), dtype=np.int64, count=len(judgments.items)
    )
    is_counted = (codes >= 0) & (judgments.grades > 0) if liked else codes >= 0
    return QueryItems.of(
        judgments.queries,
        judgments.query_of_row[is_counted],
        codes[is_counted],
        judgments.grades[is_counted],
    )


def read_interactions(place: Any) -> formats.FoundJudgments:
    """Users as queries, and the items that each interacted with: judgments in any form, tables
    without grades, lines `user item`.

    Also MovieLens' lines `user::item::rating::timestamp` (Harper and Konstan 2015), and LightGCN's
    of a user and all of its items (He and others 2020). Of several rows with the same user and item
    the one with the highest grade counts. Raises BadInput for lines of numbers whose meaning is not
    certain.
    """
    if (
        isinstance(place, (str, Path))
        and not is_data_set_id(place)
        and not Path(path := split_part(place)[0]).is_dir()
    ):
        source = Source(path)
        head = Head.of(source)
        if _are_ratings(head):
            ratings = (
                _rating(line, f"{source.name}:{number}")
                for number, line in source.lines()
                if not line.startswith(b"#")
            )
            return _found(ratings, "ratings.dat")
        if _are_items_of_users(head):
            reading = "each line is read as a user and all of its items, as LightGCN's"
            return _found(
                ((user, item, 1.0) for user, item in _items_of_users(source)),
                "lines",
                (reading_choice(reading, head.name),),
            )
        if _are_pairs(head):
            return _found(((user, item, 1.0) for user, item in _pairs(source)), "lines")
    return formats.find_judgments(place, duplicates="best", ungraded=True)


def _found(
    rows: Iterable[tuple[str, str, float]], form: str, findings: tuple[Finding, ...] = ()
) -> formats.FoundJudgments:
    """The highest grade of each user and item."""
    grades: dict[tuple[str, str], float] = {}
    for user, item, grade in rows:
        grades[user, item] = max(grade, grades.get((user, item), grade))
    users, items = zip(*grades, strict=True)
    return formats.FoundJudgments(
        Judgments.from_rows(users, items, list(grades.values())), form, findings
    )


def _are_ratings(head: Head) -> bool:
    """Whether `::` alone separates fields in the first line. Raises BadLine where they are other
    than those of `ratings.dat`.
    """
    first = head.lines[0] if head.lines else b""
    if (
        first.count(b"::") < 2
        or len(first.split()) > 1
        or any(mark in first for mark in _OF_OTHER_FORMS[:-1])
    ):
        return False
    _rating(first, f"{head.name}:{head.skipped + 1}")
    return True


def _rating(line: bytes, where: str) -> tuple[str, str, float]:
    """The user, the item and the rating of a line. Raises BadLine for one of anything else."""
    fields = line.rstrip().split(b"::")
    if (
        len(fields) != 4
        or not fields[0]
        or not fields[1]
        or not _are_numbers([fields], 2)
        or not _INTEGER.fullmatch(fields[3])
    ):
        raise BadLine(
            f"{where}: {shorten(line)}; expected user::item::rating::timestamp as in MovieLens' "
            "ratings.dat. Name that file, or separate the fields by tabs or commas below a line "
            "with names of columns."
        )
    return decode_id(fields[0]), decode_id(fields[1]), float(fields[2])


def _are_items_of_users(head: Head) -> bool:
    """Whether the first lines are integers, differ in length, and have a user each: of pairs and
    ratings no line is longer.
    """
    rows = [line.split() for line in head.lines]
    return (
        len({len(fields) for fields in rows}) > 1
        and len({fields[0] for fields in rows}) == len(rows)
        and all(_INTEGER.fullmatch(field) for fields in rows for field in fields)
    )


def _items_of_users(source: Source) -> Iterator[tuple[str, str]]:
    """The user and each item of the lines. Raises BadLine for a field that is not an integer, and
    for a user with two lines.
    """
    lines: dict[bytes, int] = {}
    for number, line in source.lines():
        user, *items = fields = line.split()
        odd = next((field for field in fields if not _INTEGER.fullmatch(field)), None)
        if odd is not None:
            raise BadLine(
                f"{source.name}:{number}: {shorten(odd)}; expected integers, a user and its items."
            )
        if lines.setdefault(user, number) != number:
            raise BadLine(
                f"{source.name}:{number}: user {shorten(user)} already has line {lines[user]}; "
                f"write all items of a user in one line, or {_NAME_COLUMNS}."
            )
        yield from ((decode_id(user), decode_id(item)) for item in items)


def _are_pairs(head: Head) -> bool:
    """Whether the first lines are plain text of two fields, without a header.

    Raises BadInput for plain lines of numbers that can be read in two ways.
    """
    if any(mark in head.raw for mark in _OF_OTHER_FORMS) or not head.lines or head.skipped:
        return False
    rows = [line.split() for line in head.lines]
    width = len(rows[0])
    if any(len(fields) != width for fields in rows) or known_columns(
        [decode_id(field) for field in rows[0]]
    ):
        return False
    beginning = f"{head.name}:1: {shorten(head.lines[0])}"
    if width == 2 and len(rows) > 1 and not _are_numbers(rows[:1], 0) and _are_numbers(rows[1:], 0):
        raise BadInput(
            f"{beginning} before lines of numbers looks like names of columns; "
            f"{_NAME_COLUMNS}, or remove it."
        )
    if width == 3 and _are_numbers(rows, 2):
        raise BadInput(
            f"{beginning} may be a user, an item and a rating, or a user and two items; "
            f"{_NAME_COLUMNS}."
        )
    if width == 4 and _are_numbers(rows, 2) and _are_numbers(rows, 3):
        # The second field of judgments is the same, and the fourth a grade.
        has_times = any(float(fields[3]) >= _TIME for fields in rows)
        if has_times or len({fields[1] for fields in rows}) > 1:
            raise BadInput(
                f"{beginning} may be a user, an item, a rating and a time, or a user, a group, an "
                f"item and a grade; {_NAME_COLUMNS},timestamp."
            )
    return width == 2


def _are_numbers(rows: Sequence[Sequence[bytes]], column: int) -> bool:
    """Whether all rows have a number in a field."""
    return all(_NUMBER.fullmatch(fields[column]) is not None for fields in rows)


def _pairs(source: Source) -> Iterator[tuple[str, str]]:
    """The user and the item of each line. Raises BadLine for a line of anything else."""
    for number, line in source.lines():
        fields = line.split()
        if len(fields) != 2:
            raise BadLine(
                f"{source.name}:{number}: {shorten(line)} has {count_of(len(fields), 'field')}; "
                "expected `user item` as in the first line. Give each item a line of its own, or "
                f"{_NAME_COLUMNS}."
            )
        yield decode_id(fields[0]), decode_id(fields[1])
