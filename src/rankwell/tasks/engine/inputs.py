"""Items and queries of a call: texts and vectors joined by id, filters, what replaces an id, and
the encoder of the queries.
"""

import hashlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwell.data.matrices import Embeddings, align
from rankwell.engines import EngineFamily, EngineItems, EngineQuery
from rankwell.errors import BadInput, BadUsage, flag, missing_column
from rankwell.io.formats import read_texts
from rankwell.io.matrices import read_embeddings
from rankwell.tasks.engine.loops import clock
from rankwell.tasks.engine.options import EngineOptions
from rankwell.vectors.encoders import Singles, TextEncoder, load_encoder

_SNIPPET = 500


@dataclass(frozen=True, eq=False)
class Entries:
    """Items or queries with their texts, vectors and attributes.

    ids: ids, all different.
    texts: one for each; None where only vectors are known.
    vectors: (n, d) a row for each; None where there are none.
    attributes: id -> column -> value, for further columns of the texts.
    """

    ids: Sequence[str]
    texts: Sequence[str] | None
    vectors: NDArray[Any] | None
    attributes: Mapping[str, Mapping[str, str]]

    def cells(self, name: str) -> list[str | None]:
        """The value of a column for each; None where one has none."""
        return [self.attributes.get(row_id, {}).get(name) for row_id in self.ids]

    def names(self) -> dict[str, None]:
        """The columns."""
        return dict.fromkeys(name for cells in self.attributes.values() for name in cells)

    def column(self, name: str, option: str) -> list[str]:
        """The value of a column for each. Raises BadInput where one has none."""
        cells, names = self.cells(name), self.names()
        if name not in names:
            raise missing_column(name, names, place=option)
        if None in cells:
            raise BadInput(
                f"{option}: {self.ids[cells.index(None)]!r} has nothing in column {name!r}; add it."
            )
        return [str(cell) for cell in cells]

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
    """The items and queries of a call.

    items: the items; None where the call names none.
    queries: the queries, with a text, a vector or both.
    filters: field -> (queries,) the value that each query requires; empty without filters.
    collapse: item -> the id that stands for it in results; empty where items stand for themselves.
    """

    items: Entries | None
    queries: Entries
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
        items = self.items
        if items is None:
            return None
        fields = {name: items.column(name, filter_option(name)) for name in self.filters}
        return EngineItems(list(items.ids), items.texts, items.vectors, fields)

    def query_columns(self) -> dict[str, list[Any]]:
        """The columns of queries.parquet: every query with its text and the other columns of the
        file.
        """
        ids, texts = list(self.queries.ids), self.queries.texts
        columns: dict[str, list[Any]] = {
            "query": ids,
            "text": [None] * len(ids) if texts is None else list(texts),
        }
        for name in self.queries.names():
            if name not in columns:
                columns[name] = self.queries.cells(name)
        return columns

    def item_columns(self) -> dict[str, list[Any]] | None:
        """The columns of the items with the beginnings of their texts; None where they have no
        texts.
        """
        items = self.items
        if items is None or items.texts is None:
            return None
        return {
            "item": list(items.ids),
            "of": [None] * len(items.ids),
            "text": [text[:_SNIPPET] for text in items.texts],
        }


def filter_option(name: str) -> str:
    """The option of a filter, for messages."""
    return f"{flag('--filter', name='filters')} {name}"


def read_inputs(options: EngineOptions) -> RetrieveInputs:
    """Reads items, queries and filters. Raises BadInput and BadUsage for what is missing or does
    not fit.
    """
    if options.encoder is not None:
        reason = ""
        if options.queries is None:
            reason = f"needs the texts of the queries; give {flag('--queries')}"
        elif options.query_vectors is not None:
            reason = f"replaces {flag('--query-vectors')}"
        if reason:
            raise BadUsage(f"{flag('--encoder', options.encoder)} {reason}.")
    queries = _entries(options.queries, options.query_vectors, "queries")
    if queries is None:
        raise BadUsage(
            f"no queries; give {flag('--queries')} with their texts, "
            f"{flag('--query-vectors')}, or both."
        )
    items = _entries(options.documents, options.item_vectors, "items")
    if options.encoder is not None:
        encoder = QueryEncoder(options.encoder, None if items is None else items.texts)
        if items is not None and items.texts is not None and items.vectors is None:
            items = replace(items, vectors=encoder.items(items.texts))
        queries = replace(queries, vectors=encoder.queries(queries.texts or ()))
    filters: dict[str, Sequence[str]] = {}
    for text in options.filters or ():
        name, equals, value = text.partition("=")
        if not name or (equals and not value) or name in filters:
            raise BadUsage(
                f"{filter_option(repr(text))}: expected FIELD=VALUE or FIELD, each field once."
            )
        filters[name] = (
            [value] * len(queries.ids) if equals else queries.column(name, filter_option(name))
        )
    collapse: dict[str, str] = {}
    if options.collapse is not None:
        if items is None:
            raise BadUsage(
                f"{flag('--collapse')} takes the ids from a column of the items; give "
                f"{flag('--documents')}."
            )
        names = items.column(options.collapse, flag("--collapse"))
        collapse = dict(zip(items.ids, names, strict=True))
    return RetrieveInputs(items, queries, filters, collapse)


def _entries(texts: Any, vectors: Any, noun: str) -> Entries | None:
    if isinstance(texts, Sequence) and not isinstance(texts, (str, bytes)):
        texts = {str(row): text for row, text in enumerate(texts)}
    content = None if texts is None else read_texts(texts)
    table = None if vectors is None else read_embeddings(vectors)
    if content is None:
        return table and Entries(list(table.names()), None, np.asarray(table.vectors), {})
    ids, rows = list(content.texts), None
    if table is not None:
        text_ids = Embeddings(ids, np.zeros((len(ids), 1), dtype=np.float32))
        names = f"the texts of the {noun}", f"the vectors of the {noun}"
        rows = np.asarray(align(text_ids, table, *names).vectors)
    if not ids:
        raise BadInput(f"there are no {noun}; expected at least one.")
    return Entries(ids, list(content.texts.values()), rows, content.attributes)


class QueryEncoder:
    """The encoder of the queries. Each query is encoded alone, as in practice, so that its vector
    is the same in every process.

    model: a model, as in `rankwell encode`.
    items: texts of the items, on which an encoder without training of its own is fitted.

    Raises BadUsage for such an encoder without items.
    """

    def __init__(self, model: str, items: Sequence[str] | None) -> None:
        loaded = load_encoder(model)
        self._encoder: TextEncoder = loaded if items is None else loaded.fit(items)
        if items is None:
            try:
                loaded.describe()
            except BadUsage as error:
                raise BadUsage(
                    f"{flag('--encoder', model)} is fitted to the texts of the items; give "
                    f"{flag('--documents')}."
                ) from error
        self._lock = threading.Lock()

    def items(self, texts: Sequence[str]) -> Singles:
        """The vectors of items: (items, d)."""
        return self._encoder.encode(texts)

    def queries(self, texts: Sequence[str]) -> Singles:
        """The vectors of queries: (queries, d)."""
        return np.concatenate([self._encoder.encode([text]) for text in texts])

    def encode(self, query: EngineQuery) -> float:
        """Encodes a query again; the seconds that it took. Clients take turns."""
        with self._lock:
            started = clock()
            query.vector = self._encoder.encode([query.text or ""])[0]
            return clock() - started


def check_encoder(family: EngineFamily, model: str | None) -> None:
    """Raises BadUsage for an encoder of queries that an engine takes as texts."""
    if model is not None and family.kinds == ("lexical",):
        raise needless_encoder(family.name, model)


def needless_encoder(engine: str, model: str) -> BadUsage:
    """The refusal of an encoder whose vectors the engine does not take."""
    return BadUsage(f"{flag('--encoder', model)}: {engine} takes texts, not vectors; leave it out.")
