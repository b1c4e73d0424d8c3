"""The positives of each query of a matrix: lists in JSON, judgments in any format, counts, labels,
the diagonal.
"""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell._native.products import Groups
from rankwell.data.matrices import MAGIC, Positions, Positives
from rankwell.data.tables import Judgments
from rankwell.documents import read_json, unique_keys
from rankwell.errors import (
    BadInput,
    BadLine,
    BadUsage,
    DuplicateItem,
    flag,
    kind_of,
    missing_column,
    shown,
)
from rankwell.io.formats import find_judgments
from rankwell.io.records import Content, load
from rankwell.store import Head, Source, naming

_QUERY_WORDS = ("query", "q", "topic", "caption", "sentence", "text")
_ITEM_WORDS = ("item", "doc", "document", "docno", "video", "clip", "image")


class Sides(NamedTuple):
    """The names of the rows and columns of a matrix.

    queries: ids of the rows, or `Positions` where there are none.
    items: ids of the columns, or `Positions` where there are none.
    """

    queries: Sequence[str]
    items: Sequence[str]

    @property
    def shape(self) -> str:
        """The numbers of rows and columns, for messages."""
        return f"{len(self.queries)} rows (queries) and {len(self.items)} columns (items)"

    def positives(self, pairs: Iterable[tuple[int, int]]) -> Positives:
        """The table of pairs of row and column in any order. Raises DuplicateItem."""
        rows, columns = np.array(list(pairs), dtype=np.int64).reshape(-1, 2).T
        return Positives.of(rows, columns, len(self.queries), len(self.items))


def read_positives(place: Any, sides: Sides) -> Positives:
    """The positives of every query.

    place: `diagonal`; a JSON file, a mapping query -> items, or a list of lists, one per row (an
    item alone may replace its list); counts of queries per item (a list of integers, or one number
    for all), where the queries of an item come one after the other; `Groups` of labels, where equal
    labels belong together; a table of two columns, query and item, each row a positive; judgments
    in any format or as a table, of which grades above 0 count. Queries and items are named by id
    where the scores have ids, or by position, from 0, where no id is a number. Raises BadInput that
    names the row and the item that is not there, and where the numbers do not fit; DuplicateItem.
    """
    if isinstance(place, Positives):
        if (place.n_queries, place.n_items) != (len(sides.queries), len(sides.items)):
            raise BadInput(
                f"positives of {place.n_queries} queries and {place.n_items} items for scores "
                f"of {sides.shape}."
            )
        return place
    if isinstance(place, (str, Path)) and str(place) != "diagonal":
        if not str(place):
            raise BadUsage(
                "positives are named by an empty text; name a file, or leave the option out for "
                "the diagonal."
            )
        source = Source(place)
        with naming(source.name):
            _refuse_objects(source)
            if (thing := _loaded(source)) is not None:
                return _of(thing, sides)
            pairs = _pairs(load(source), sides) if _may_be_pairs(source) else None
            return _of_judgments(place, sides) if pairs is None else pairs
    return _of(place, sides)


_PICKLES = (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")


def _refuse_objects(source: Source) -> None:
    """Raises BadInput for an array or a pickle, with the one form that holds lists of any
    length.
    """
    head = source.head(6)
    content_kind = (
        "a NumPy array"
        if head == MAGIC
        else "a Python pickle, which is never opened"
        if head.startswith(_PICKLES)
        else ""
    )
    if content_kind:
        raise BadInput(
            f"{content_kind}; positives are a JSON list with the items of each row, "
            "json.dump([[0], "
            "[1, 4]], file), of an array "
            "json.dump([numpy.ravel(each).tolist() for each in array], file)."
        )


def _may_be_pairs(source: Source) -> bool:
    """Whether a file may be a table with two columns."""
    begin = Head.of(source)
    if begin.text.startswith(("{", "[", "PAR1")):
        # An object alone maps queries to items.
        return not begin.text.startswith("{") or "\n{" in begin.text
    first = b"".join(begin.lines[:1])
    return first.count(b"\t") == 1 or (len(first.split()) < 3 and 1 in map(first.count, b",;|"))


def _pairs(content: Content, sides: Sides) -> Positives | None:
    """The positives in a table with two columns, query and item, each row of which is a positive;
    None for others.
    """
    if isinstance(content.problem, BadLine):
        raise content.problem
    rows: list[list[Any]] = [row.fields for row in content.texts] or [
        content.names,
        *([*map(record.value.get, content.names)] for record in content.checked_records()),
    ]
    if len(rows[0]) != 2:
        return None
    queries, items = (
        _SideNames(sides.queries, "row", "query"),
        _SideNames(sides.items, "column", "item"),
    )
    has_header = not (queries.knows(rows[0][0]) and items.knows(rows[0][1]))
    turned = has_header and _order(rows[0])
    pairs = [(row[1], row[0]) if turned else (row[0], row[1]) for row in rows[has_header:]]
    return sides.positives(
        (
            queries.find(query, f"row {number}"),
            items.find(item, f"row {number} (query {query!r})", judged=True),
        )
        for number, (query, item) in enumerate(pairs, 1 + has_header)
    )


def _order(header: Sequence[str]) -> bool:
    """Whether a header names the item first. Raises BadInput where it names neither order."""
    first, second = (re.sub(r"(\W|_)*(id|ids|name)?$", "", name.strip().lower()) for name in header)
    if first in _QUERY_WORDS or second in _ITEM_WORDS:
        return False
    if first in _ITEM_WORDS or second in _QUERY_WORDS:
        return True
    raise missing_column({"query": _QUERY_WORDS, "item": _ITEM_WORDS}, header)


def _loaded(source: Source) -> Any:
    """The content of a JSON file; None for any other file, for a mapping query -> item -> grade,
    and for a list of objects.
    """
    head = source.head().lstrip()
    if not head.startswith((b"{", b"[")):
        return None
    try:
        thing: Any = read_json(source, pairs=unique_keys)
    except DuplicateItem:
        raise
    except BadInput:
        if head.startswith(b"{") and b"\n{" in head:
            return None  # JSON lines
        raise
    members = thing.values() if isinstance(thing, dict) else thing
    is_table = isinstance(members, Iterable) and any(isinstance(member, dict) for member in members)
    return None if is_table else thing


def _of(thing: Any, sides: Sides) -> Positives:
    if isinstance(thing, str):
        return Positives.diagonal(len(sides.queries), len(sides.items))
    if isinstance(thing, Groups):
        for axis, labels, names in (
            ("row", thing.queries, sides.queries),
            ("column", thing.items, sides.items),
        ):
            if len(labels) != len(names):
                raise BadInput(
                    f"{len(labels)} labels for scores of {sides.shape}; every {axis} has one."
                )
        members: dict[Hashable, list[int]] = {}
        for column, label in enumerate(thing.items):
            if label is not None:
                members.setdefault(label, []).append(column)
        pairs = [
            (row, column)
            for row, label in enumerate(thing.queries)
            for column in members.get(label, ())
        ]
        if not pairs:
            raise BadInput(
                f"no label of the rows ({thing.queries[0]!r}, …) is one of the columns "
                f"({thing.items[0]!r}, …)."
            )
        return sides.positives(pairs)
    if isinstance(thing, Judgments):
        return _of_judgments(thing, sides)
    if hasattr(thing, "columns"):
        pairs = _pairs(load(thing), sides)
        return _of_judgments(thing, sides) if pairs is None else pairs
    if isinstance(thing, Mapping):
        if any(isinstance(query_items, Mapping) for query_items in thing.values()):
            return _of_judgments(thing, sides)
        rows = _SideNames(sides.queries, "row", "query")
        return _of_lists(
            [(rows.find(key, "the positives"), values) for key, values in thing.items()], sides
        )
    if isinstance(thing, (int, np.integer)):
        thing = [int(thing)] * len(sides.items)
    if not isinstance(thing, Iterable) or getattr(thing, "ndim", 1) == 0:
        raise BadInput(
            f"positives cannot be taken from {kind_of(thing)}; give lists, a mapping, counts "
            "or a file."
        )
    members_by_row = _plain(thing)
    if members_by_row and all(
        isinstance(member, (int, np.integer)) and not isinstance(member, bool)
        for member in members_by_row
    ):
        n, counts = len(sides.queries), list(map(int, members_by_row))
        if len(counts) != len(sides.items) or sum(counts) != n or min(counts) < 0:
            raise BadInput(
                f"{len(counts)} counts with the sum {shown(sum(counts))} for scores of "
                f"{sides.shape}; a count of rows for each column, with the number of rows as their "
                "sum; a single positive a row is a list of one."
            )
        return Positives.of(np.arange(n), np.repeat(np.arange(len(counts)), counts), n, len(counts))
    if len(members_by_row) != len(sides.queries):
        turned = (
            "; is the matrix transposed? Its rows are the queries"
            if len(members_by_row) == len(sides.items)
            else ""
        )
        raise BadInput(
            f"{len(members_by_row)} lists of positives for scores of {sides.shape}{turned}; give "
            "one "
            "list per row."
        )
    return _of_lists(list(enumerate(members_by_row)), sides)


def _plain(thing: Any) -> list[Any]:
    """The things in a list: arrays and tensors, and those in it, as Python lists."""
    name = next((method for method in ("tolist", "to_pylist") if hasattr(thing, method)), None)
    members = list(thing) if name is None else getattr(thing, name)()
    return [member.tolist() if hasattr(member, "tolist") else member for member in members]


def _of_judgments(place: Any, sides: Sides) -> Positives:
    flat = find_judgments(place).judgments.flat
    rows, columns = (
        _SideNames(sides.queries, "row", "query"),
        _SideNames(sides.items, "column", "item"),
    )
    row_of_query = [rows.find(query, "the judgments") for query in flat.queries]
    return sides.positives(
        (row_of_query[query], columns.find(item, f"query {flat.queries[query]!r}", judged=True))
        for query, item, grade in zip(
            flat.query_of_row.tolist(), flat.items, flat.grades.tolist(), strict=True
        )
        if grade > 0
    )


def _of_lists(lists: list[tuple[int, Any]], sides: Sides) -> Positives:
    if (
        isinstance(sides.items, Positions)
        and (positives := _of_positions(lists, sides)) is not None
    ):
        return positives
    columns = _SideNames(sides.items, "column", "item")
    pairs = list[tuple[int, int]]()
    for row, values in lists:
        row_items = values.tolist() if hasattr(values, "tolist") else values
        item_list = (
            list(row_items) if isinstance(row_items, (list, tuple, set, frozenset)) else [row_items]
        )
        name = "" if isinstance(sides.queries, Positions) else f" ({sides.queries[row]!r})"
        pairs += [(row, columns.find(value, f"row {row}{name}")) for value in item_list]
    return sides.positives(pairs)


def _of_positions(lists: list[tuple[int, Any]], sides: Sides) -> Positives | None:
    """The table of lists of positions, many at a time; None where one of them may be wrong, or is
    something else.
    """
    if any(type(values) is not list for _, values in lists):
        return None
    flat = list(chain.from_iterable(values for _, values in lists))
    if any(type(value) is not int for value in flat) or not 0 <= min(flat, default=0) <= max(
        flat, default=-1
    ) < len(sides.items):
        return None
    owner = np.repeat(
        np.array([row for row, _ in lists], dtype=np.int64), [len(values) for _, values in lists]
    )
    return Positives.of(owner, np.array(flat, dtype=np.int64), len(sides.queries), len(sides.items))


class _SideNames:
    """The names of rows or columns."""

    def __init__(self, names: Sequence[str], what: str, role: str) -> None:
        self._names, self._axis, self._role = names, what, role
        self._position_of_name = (
            {} if isinstance(names, Positions) else dict(zip(names, range(len(names)), strict=True))
        )
        # Where ids are numbers themselves, a number that is none of them is a mistake and no
        # position.
        self._by_position = not any(map(str.isdecimal, self._position_of_name))

    def knows(self, value: str) -> bool:
        """Whether a text names a row or column, by id or by position."""
        return value.isdecimal() or value in self._position_of_name

    def find(self, value: Any, where: str, *, judged: bool = False) -> int:
        """The position of what is named by id, or by number where no id is a number. Raises
        BadInput naming it.
        """
        n = len(self._names)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, (str, int, np.integer)) or isinstance(value, bool):
            raise BadInput(
                f"{where}: {shown(value)} names no {self._role}; give an id or a position."
            )
        text = value if isinstance(value, str) else "" if abs(value) >> 63 else str(value)
        if self._position_of_name:
            if text in self._position_of_name:
                return self._position_of_name[text]
            if not self._by_position or not text.isdecimal():
                raise BadInput(
                    f"{where}: the {self._role} {shown(value)} is none of the {n} {self._axis}s of "
                    f"the scores ({self._names[0]!r}, …)."
                )
        # Python reads only so many digits as an integer.
        if not text.isdecimal() or len(text.lstrip("0")) > 18 or int(text) >= n:
            hint = (
                (
                    f"; the scores have no ids, give them with {flag('--item-ids')} or "
                    f"{flag('--query-ids')}"
                )
                if judged and not text.isdecimal()
                else ""
            )
            raise BadInput(
                f"{where}: the {self._role} {shown(value)} is not a {self._axis} of the scores, "
                f"which has {n} of them, 0 to {n - 1}{hint}."
            )
        return int(text.lstrip("0") or 0)
