"""EngineItems and queries of a call: texts and vectors joined by id, filters, and what replaces an
id.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwell.data.matrices import Embeddings, matching_rows
from rankwell.engines import EngineItems, EngineQuery
from rankwell.errors import BadInput, BadUsage, flag
from rankwell.io.formats import Texts, read_texts
from rankwell.io.matrices import read_embeddings
from rankwell.tasks.retrieve.encoding import QueryEncoder
from rankwell.tasks.retrieve.options import RetrieveOptions


@dataclass(frozen=True, eq=False)
class Things:
    """EngineItems or queries: ids, and what is known of each."""

    ids: Sequence[str]
    texts: Sequence[str] | None
    vectors: NDArray[Any] | None
    attributes: Mapping[str, Mapping[str, str]]

    def column(self, name: str, option: str) -> list[str]:
        """The value of a column for each. Raises BadInput where one has none."""
        values = [self.attributes.get(name_of_row, {}).get(name) for name_of_row in self.ids]
        lacking = next(
            (row_id for row_id, value in zip(self.ids, values, strict=True) if value is None), None
        )
        if lacking is not None:
            columns = sorted(
                {name for attributes in self.attributes.values() for name in attributes}
            )
            raise BadInput(
                f"{option}: {lacking!r} has no column {name!r}; found are "
                f"{', '.join(columns) or 'no further columns'}."
            )
        return [str(value) for value in values]

    def digest(self) -> str:
        """The SHA-256 of ids, texts and vectors."""
        total = hashlib.sha256(
            repr((list(self.ids), self.texts)).encode("utf-8", "backslashreplace")
        )
        if self.vectors is not None:
            total.update(np.ascontiguousarray(self.vectors).tobytes())
        return total.hexdigest()


@dataclass(frozen=True, eq=False)
class RetrieveInputs:
    """The items and queries of a call. filters: field -> (queries,) the value that each query
    requires. collapse: item -> id.
    """

    items: Things | None
    queries: Things
    filters: Mapping[str, Sequence[str]]
    collapse: Mapping[str, str]

    @cached_property
    def listed(self) -> list[EngineQuery]:
        """The queries as engines take them."""
        texts, vectors = self.queries.texts, self.queries.vectors
        return [
            EngineQuery(
                query,
                None if texts is None else texts[row],
                None if vectors is None else vectors[row],
                {name: values[row] for name, values in self.filters.items()} or None,
            )
            for row, query in enumerate(self.queries.ids)
        ]

    def indexed(self) -> EngineItems | None:
        """The items as engines take them, with the fields that filters name."""
        if self.items is None:
            return None
        fields = {
            name: self.items.column(name, f"{flag('--filter', name='filters')} {name}")
            for name in self.filters
        }
        return EngineItems(list(self.items.ids), self.items.texts, self.items.vectors, fields)


def read_inputs(options: RetrieveOptions) -> RetrieveInputs:
    """Reads items, queries and filters. Raises BadInput and BadUsage for what is missing or does
    not fit.
    """
    if options.encoder is not None and (
        options.queries is None or options.query_vectors is not None
    ):
        reason = (
            f"needs the texts of the queries; give {flag('--queries')}"
            if options.queries is None
            else f"replaces {flag('--query-vectors')}"
        )
        raise BadUsage(f"{flag('--encoder', options.encoder)} {reason}.")
    queries = _things(options.queries, options.query_vectors, "queries")
    if queries is None:
        raise BadUsage(
            f"no queries; give {flag('--queries')} with their texts, "
            f"{flag('--query-vectors')}, or both."
        )
    items = _things(options.items, options.item_vectors, "items")
    if options.encoder is not None:
        items, queries = _encoded(options.encoder, items, queries)
    filters: dict[str, Sequence[str]] = {}
    for text in options.filters or ():
        name, equals, value = text.partition("=")
        if not name or (equals and not value) or name in filters:
            raise BadUsage(
                f"{flag('--filter', name='filters')} {text!r}: expected FIELD=VALUE or FIELD, "
                "each field once."
            )
        filters[name] = (
            [value] * len(queries.ids)
            if equals
            else queries.column(name, f"{flag('--filter', name='filters')} {name}")
        )
    collapse: dict[str, str] = {}
    if options.collapse is not None:
        if items is None:
            raise BadUsage(
                f"{flag('--collapse')} takes the ids from a column of the items; give "
                f"{flag('--items')}."
            )
        collapse = dict(
            zip(items.ids, items.column(options.collapse, flag("--collapse")), strict=True)
        )
    return RetrieveInputs(items, queries, filters, collapse)


def _encoded(model: str, items: Things | None, queries: Things) -> tuple[Things | None, Things]:
    """The items and the queries with the vectors of an encoder; items that have vectors keep
    them.
    """
    encoder = QueryEncoder(model, None if items is None else items.texts)
    if items is not None and items.texts is not None and items.vectors is None:
        items = replace(items, vectors=encoder.items(items.texts))
    return items, replace(queries, vectors=encoder.queries(queries.texts or ()))


def _things(texts: Any, vectors: Any, noun: str) -> Things | None:
    if texts is None and vectors is None:
        return None
    read = None if texts is None else _read_texts(texts)
    table = None if vectors is None else read_embeddings(vectors)
    if read is None:
        assert table is not None  # noqa: S101 - one of both is given
        return Things(list(table.names()), None, np.asarray(table.vectors), {})
    ids = list(read.texts)
    rows = None
    if table is not None:
        text_ids = Embeddings(ids, np.zeros((len(ids), 1), dtype=np.float32))
        rows = np.asarray(table.vectors)[
            matching_rows(text_ids, table, f"the texts of the {noun}", f"the vectors of the {noun}")
        ]
    if not ids:
        raise BadInput(f"there are no {noun}; expected at least one.")
    return Things(ids, list(read.texts.values()), rows, read.attributes)


def _read_texts(texts: Any) -> Texts:
    if isinstance(texts, Sequence) and not isinstance(texts, (str, bytes)):
        texts = {str(row): text for row, text in enumerate(texts)}
    return read_texts(texts)


_SNIPPET = 500


def query_columns(inputs: RetrieveInputs) -> dict[str, list[Any]]:
    """The columns of queries.parquet: every query with its text and the other columns of the
    file.
    """
    ids, queries = list(inputs.queries.ids), inputs.queries
    names = dict.fromkeys(
        name
        for attributes in queries.attributes.values()
        for name in attributes
        if name not in ("query", "text")
    )
    columns = {
        name: [queries.attributes.get(query, {}).get(name) for query in ids] for name in names
    }
    return {
        "query": ids,
        "text": list(queries.texts) if queries.texts is not None else [None] * len(ids),
    } | columns


def item_columns(inputs: RetrieveInputs) -> dict[str, list[Any]] | None:
    """The columns of the items with the beginnings of their texts; None where they have no
    texts.
    """
    items = inputs.items
    if items is None or items.texts is None:
        return None
    return {
        "item": list(items.ids),
        "of": [None] * len(items.ids),
        "text": [text[:_SNIPPET] for text in items.texts],
    }
