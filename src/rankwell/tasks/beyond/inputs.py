"""Files about items -> their attributes; and runs -> lists of the codes of items."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell.core.tables import Bools, Floats, Judgments, sort_ids
from rankwell.core.tables.ranking import Ranking
from rankwell.errors import BadInput, BadScore, NothingToEvaluate, flag, shown
from rankwell.io import files as io
from rankwell.io.matrices import read_embeddings
from rankwell.io.shards import find_hits_in_shards
from rankwell.store import run_files, split_part
from rankwell.tasks.beyond.attributes import ItemAttributes, ItemLabels
from rankwell.tasks.beyond.lists import ItemLists
from rankwell.tasks.beyond.options import BeyondOptions

_NO_QUERY = "\0"


class BeyondInputs(NamedTuple):
    """The inputs beside the runs; None where one was not given. labels: item -> names."""

    catalogue: Sequence[str] | None
    interactions: Judgments | None
    categories: Mapping[str, Sequence[str]] | None
    groups: Mapping[str, Sequence[str]] | None
    vectors: Mapping[str, Floats] | None
    judgments: Judgments | None

    @classmethod
    def read(cls, options: BeyondOptions) -> "BeyondInputs":
        """The inputs that the options name. Raises BadInput for bad rows."""
        judgments = io.judgments_file(options.judgments)
        return cls(
            None if options.catalogue is None else _ids(options.catalogue),
            None if options.interactions is None else io.read_judgments(options.interactions, duplicates="best").flat,
            None if options.categories is None else read_labels(options.categories, flag("--item-categories", name="categories")),
            None if options.groups is None else read_labels(options.groups, flag("--item-groups", name="groups")),
            None if options.embeddings is None else _vectors(options.embeddings),
            None if judgments is None else io.read_judgments(judgments, format=options.judgments_format).flat,
        )

    def attributes(self, retrieved: Iterable[str]) -> ItemAttributes:
        """The attributes of all items: those that a file has, and those retrieved."""
        known = set(self.catalogue or ()) | set(retrieved) | set(self.categories or ()) | set(self.groups or ())
        if self.interactions is not None:
            known |= set(self.interactions.items)
        items = tuple(sort_ids(known))
        index = {item: code for code, item in enumerate(items)}
        catalogue = self.catalogue or (None if self.interactions is None else self._interacted())
        popularity, histories = None, dict[str, Any]()
        if self.interactions is not None:
            codes, table = np.array([index[item] for item in self.interactions.items], dtype=np.int64), self.interactions
            counted = table.grades > 0
            popularity = np.bincount(codes[counted], minlength=len(items))
            rows = ((query, table.rows_of(query)) for query in table.queries)
            histories = {query: own for query, row in rows if len(own := codes[row][counted[row]])}
        return ItemAttributes(
            items=items,
            in_catalogue=None if catalogue is None else _among(items, set(catalogue)),
            popularity=popularity,
            n_users=len(histories),
            categories=None if self.categories is None else ItemLabels.of(items, self.categories),
            groups=None if self.groups is None else ItemLabels.of(items, self.groups),
            vectors=None if self.vectors is None else _matrix(items, self.vectors),
            histories=histories,
            grades=None if self.judgments is None else _grades(self.judgments, index),
        )

    def _interacted(self) -> list[str]:
        table = self.interactions
        return (
            [] if table is None else [item for item, grade in zip(table.items, table.grades.tolist(), strict=True) if grade > 0]
        )


def _ids(place: Any) -> list[str]:
    """The ids of a file or of a collection, each once. Raises BadInput for a row without one."""
    found = io.read_column(place) if isinstance(place, (str, Path)) else list(place)
    name = place if isinstance(place, (str, Path)) else "the catalogue"
    for row, item in enumerate(found):
        if not isinstance(item, str) or not item:
            raise BadInput(f"{name}: row {row + 1} has no id; expected a string or an integer.")
    if not found:
        raise BadInput(f"{name} has no item; expected an id per row.")
    return sort_ids(set(filter(None, found)))


def read_labels(place: Any, option: str) -> dict[str, list[str]]:
    """item -> its categories or groups, from two columns of a table or from a mapping; rows of one item are joined.

    Raises BadInput for a row without an item, and where no column is named.
    """
    if isinstance(place, Mapping):
        return {str(item): [each] if isinstance(each, str) else [str(one) for one in each] for item, each in place.items()}
    if not isinstance(place, (str, Path)):
        raise BadInput(f"{option}: {shown(place)}; expected a table, or a mapping item -> categories.")
    path, column = split_part(place)
    if not column:
        raise BadInput(f"{option} {place}: no column is named; name the one of the labels, as in {place}:genres.")
    found: dict[str, list[str]] = {}
    for row, (item, label) in enumerate(zip(io.read_column(path), io.read_column(place), strict=True)):
        if not item:
            raise BadInput(f"{path}: row {row + 1} has no item; give its id, or remove the row.")
        own = found.setdefault(item, [])
        own += [each.strip() for each in (label or "").split("|") if each.strip()]
    return found


def _vectors(place: Any) -> dict[str, Floats]:
    """item -> its vector of length 1. Raises BadInput without ids, BadScore for a vector that is zero."""
    table = read_embeddings(place)
    if table.ids is None:
        raise BadInput(
            f"{flag('--item-embeddings', name='embeddings')}: the vectors have no ids; give them in NAME.ids.txt beside the file."
        )
    vectors = np.asarray(table.vectors, dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1)
    if not lengths.all():
        zero = table.ids[int(np.flatnonzero(lengths == 0)[0])]
        what = f"{flag('--item-embeddings', name='embeddings')}: the vector of {zero!r} is zero and has no direction"
        raise BadScore(f"{what}; correct it, or remove the item.")
    return dict(zip(table.ids, vectors / lengths[:, None], strict=True))


def _matrix(items: Sequence[str], vectors: Mapping[str, Floats]) -> Floats:
    rows = np.full((len(items), len(next(iter(vectors.values())))), np.nan)
    for code, item in enumerate(items):
        if item in vectors:
            rows[code] = vectors[item]
    return rows


def _among(items: Sequence[str], some: set[str]) -> Bools:
    return np.array([item in some for item in items], dtype=np.bool_)


def _grades(judgments: Judgments, index: Mapping[str, int]) -> dict[str, dict[int, float]]:
    found: dict[str, dict[int, float]] = {query: {} for query in judgments.queries}
    for query, item, grade in zip(judgments.row_queries, judgments.items, judgments.grades.tolist(), strict=True):
        if item in index:
            found[query][index[item]] = grade
    return found


class FirstItems(NamedTuple):
    """The first items of each query of a run, as ids. missing: queries without a list. unknown: those that do not count."""

    queries: tuple[str, ...]
    top: Ranking
    missing: list[str]
    unknown: list[str]
    notes: tuple[str, ...]


def first_items(name: str, run: Any, judgments: Judgments | None, depth: int | None, options: BeyondOptions) -> FirstItems:
    """The first `depth` items of each query: of the judgments, or of the run without them; None for all its items.

    The run is read twice where its queries or its depth are not known, and never held whole. Raises NothingToEvaluate where none
    of the queries is in the run.
    """
    known = None if judgments is None else judgments.queries
    if known is None or depth is None:
        first = _hits(run, known or (_NO_QUERY,), 0, options).hits
        known = tuple(sort_ids(first.unknown)) if known is None else known
        lengths = [*first.unknown.values(), *first.retrieved.tolist()] if judgments is None else first.retrieved.tolist()
        depth = depth or max(lengths, default=1)
    found = _hits(run, known, max(depth or 1, 1), options)
    hits, top = found.hits, found.hits.top
    if top is None or not hits.present.any():
        raise NothingToEvaluate(f"{name}: none of its {len(hits.unknown)} queries has judgments; are ids written in two ways?")
    missing = [query for query, present in zip(known, hits.present.tolist(), strict=True) if not present]
    return FirstItems(known, top, missing, sort_ids(hits.unknown), found.notes)


def _hits(run: Any, queries: Sequence[str], keep: int, options: BeyondOptions) -> io.FoundHits:
    """The run's first items of these queries; nothing counts as judged."""
    nothing = Judgments.from_rows([], [], [], all_queries=queries)
    if isinstance(run, (str, Path)) and (files := run_files(run)):
        return find_hits_in_shards(files, nothing, options.run_format, io.Request(keep=keep, duplicates=options.duplicates))
    return io.find_hits(run, nothing, format=options.run_format, keep=keep, duplicates=options.duplicates)


def lists_of(name: str, first: FirstItems, about: ItemAttributes) -> ItemLists:
    """The codes of the first items. Raises BadInput for one that is not in the catalogue, or lacks categories or a vector."""
    top, depth = first.top, int(np.diff(first.top.offsets).max(initial=1))
    codes = np.full((len(first.queries), depth), -1, dtype=np.int64)
    place = {query: row for row, query in enumerate(first.queries)}
    flat = np.array([about.index[item] for item in top.items], dtype=np.int64)
    rows = np.repeat(np.array([place[query] for query in top.queries], dtype=np.int64), np.diff(top.offsets))
    codes[rows, np.arange(len(flat)) - np.repeat(top.offsets[:-1], np.diff(top.offsets))] = flat
    view = ItemLists(first.queries, codes, about)
    categories, embeddings = flag("--item-categories", name="categories"), flag("--item-embeddings", name="embeddings")
    row = "add a row, with an empty category for an item without one"
    lacking = {
        f"the catalogue lacks; correct the id, or name a file of all items by {flag('--catalogue')}": about.in_catalogue,
        f"{categories} lacks; {row}": about.categories and about.categories.listed,
        f"{embeddings} lacks; add its vector": None if about.vectors is None else ~np.isnan(about.vectors[:, 0]),
    }
    for what, has in lacking.items():
        if has is not None and not has[flat].all():
            row = int(np.flatnonzero(~has[flat])[0])
            raise BadInput(f"{name}: query {first.queries[int(rows[row])]!r} lists {top.items[row]!r}, which {what}.")
    return view
