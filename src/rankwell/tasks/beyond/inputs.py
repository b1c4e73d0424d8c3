"""Files about items -> their attributes."""

from collections.abc import Collection, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell.data.columns import refuse_unused_columns
from rankwell.data.tables import Bools, Floats, Judgments, sort_ids
from rankwell.errors import BadInput, BadScore, BadUsage, flag, shown
from rankwell.io import formats as io
from rankwell.io.matrices import read_embeddings
from rankwell.store import exists, split_part
from rankwell.tasks.beyond.attributes import ItemAttributes, ItemLabels, QueryItems
from rankwell.tasks.beyond.interactions import read_interactions
from rankwell.tasks.beyond.options import BeyondOptions


class BeyondInputs(NamedTuple):
    """The inputs beside the runs; None where one was not given. notes: of their readers."""

    catalogue: Sequence[str] | None
    interactions: Judgments | None
    categories: Mapping[str, Sequence[str]] | None
    groups: Mapping[str, Sequence[str]] | None
    vectors: Mapping[str, Floats] | None
    judgments: Judgments | None
    notes: tuple[str, ...] = ()

    @classmethod
    def read(cls, options: BeyondOptions) -> "BeyondInputs":
        """The inputs that the options name. Raises BadInput for bad rows."""
        judgments = io.judgments_file(options.judgments)
        if judgments is None:
            refuse_unused_columns(options.qrels_columns, "judgments", flag("--judgments"))
            if options.judgments_format is not None:
                option = flag("--qrels-format", options.judgments_format, name="judgments_format")
                raise BadUsage(
                    f"{option} has no effect without {flag('--judgments')}; give it, or leave "
                    "this out."
                )
        interactions = (
            None if options.interactions is None else read_interactions(options.interactions)
        )
        reading: dict[str, Any] = {
            "format": options.judgments_format,
            "qrels_columns": options.qrels_columns,
        }
        judged = None if judgments is None else io.find_judgments(judgments, **reading)
        return cls(
            None if options.catalogue is None else _ids(options.catalogue),
            None if interactions is None else interactions.table.flat,
            None
            if options.categories is None
            else read_labels(options.categories, flag("--item-categories", name="categories")),
            None
            if options.groups is None
            else read_labels(options.groups, flag("--item-groups", name="groups")),
            None if options.embeddings is None else _vectors(options.embeddings),
            None if judged is None else judged.table.flat,
            tuple(
                note
                for table in (interactions, judged)
                if table is not None
                for note in table.notes
            ),
        )

    def attributes(self) -> ItemAttributes:
        """The attributes of all items that a file has, and the items of each query."""
        item_ids = set(self.catalogue or ()) | set(self.categories or ()) | set(self.groups or ())
        if self.interactions is not None:
            item_ids |= set(self.interactions.items)
        items = tuple(sort_ids(item_ids))
        index = {item: code for code, item in enumerate(items)}
        catalogue = self.catalogue or (None if self.interactions is None else self._interacted())
        popularity, histories = None, None
        if self.interactions is not None:
            histories = _query_items(self.interactions, index, liked=True)
            popularity = np.bincount(histories.codes, minlength=len(items))
        return ItemAttributes(
            items=items,
            in_catalogue=None if catalogue is None else _among(items, set(catalogue)),
            popularity=popularity,
            n_users=0 if histories is None else int(np.count_nonzero(np.diff(histories.offsets))),
            categories=None if self.categories is None else ItemLabels.of(items, self.categories),
            groups=None if self.groups is None else ItemLabels.of(items, self.groups),
            vectors=None if self.vectors is None else _matrix(items, self.vectors),
            histories=histories,
            grades=None if self.judgments is None else _query_items(self.judgments, index),
        )

    def _interacted(self) -> list[str]:
        table = self.interactions
        return (
            []
            if table is None
            else [
                item
                for item, grade in zip(table.items, table.grades.tolist(), strict=True)
                if grade > 0
            ]
        )


def _ids(place: Any) -> list[str]:
    """The ids of a file or of a collection, each once. Raises BadInput for a row without one."""
    ids = io.read_column(place) if isinstance(place, (str, Path)) else list(place)
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
    if not isinstance(place, (str, Path)):
        raise BadInput(
            f"{option}: {shown(place)}; expected a table, or a mapping item -> categories."
        )
    path, column = split_part(place)
    if not exists(path):
        raise BadInput(
            f"{option} {place}: no such file; expected a table and a column of it, as in "
            "items.csv:genres."
        )
    if not column:
        raise BadInput(
            f"{option} {place}: no column is named; name the one of the labels, as in "
            f"{place}:genres."
        )
    labels_of_item: dict[str, list[str]] = {}
    for row, (item, label) in enumerate(
        zip(io.read_column(path), io.read_column(place), strict=True)
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


def _vectors(place: Any) -> dict[str, Floats]:
    """item -> its vector of length 1. Raises BadInput without ids, BadScore for a vector that is
    zero.
    """
    table = read_embeddings(place)
    if table.ids is None:
        raise BadInput(
            f"{flag('--item-embeddings', name='embeddings')}: the vectors have no ids; give "
            "them in NAME.ids.txt beside the file."
        )
    vectors = np.asarray(table.vectors, dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1)
    if not lengths.all():
        zero = table.ids[int(np.flatnonzero(lengths == 0)[0])]
        raise BadScore(
            f"{flag('--item-embeddings', name='embeddings')}: the vector of {zero!r} is zero and "
            "has no direction; correct it, or remove the item."
        )
    return dict(zip(table.ids, vectors / lengths[:, None], strict=True))


def _matrix(items: Sequence[str], vectors: Mapping[str, Floats]) -> Floats:
    rows = np.full((len(items), len(next(iter(vectors.values())))), np.nan)
    for code, item in enumerate(items):
        if item in vectors:
            rows[code] = vectors[item]
    return rows


def _among(items: Sequence[str], members: set[str]) -> Bools:
    return np.array([item in members for item in items], dtype=np.bool_)


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
