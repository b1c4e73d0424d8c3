"""Texts to vectors: an encoder, which may be fitted to the items, and the time that the text of a
query takes.
"""

import threading
from collections.abc import Sequence

import numpy as np

from rankwell.engines import EngineFamily, EngineQuery
from rankwell.errors import BadUsage, flag
from rankwell.tasks.retrieve.loops import clock
from rankwell.vectors.encoders import Singles, TextEncoder, load_encoder


class QueryEncoder:
    """The encoder of the queries. A query is encoded alone, as in use, so that its vector is the
    same in every process.

    model: as `rankwell encode` takes it. items: texts of the items, to which an encoder without
    training of its own is fitted.

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
                    f"{flag('--items')}."
                ) from error
        self._lock = threading.Lock()

    def items(self, texts: Sequence[str]) -> Singles:
        """(items, d) the vectors of items."""
        return self._encoder.encode(texts)

    def queries(self, texts: Sequence[str]) -> Singles:
        """(queries, d) the vectors of queries."""
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
