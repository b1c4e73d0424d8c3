"""The judged items of each query, found again in a run by hash and confirmed by their bytes."""

from collections.abc import Callable

import numpy as np

from rankwell.core.tables import Bools, Ints
from rankwell.core.tables.judgments import Judgments
from rankwell.io.reader.spans import Spans, Words, equal, hashes
from rankwell.store import encode_id

_MIX = np.uint64(0xC2B2AE3D27D4EB4F)


class Lookup:
    """Judgments with one row per query and item, ready to be asked for many items at once.

    names: the queries' bytes. queries: the position of each query, by its bytes.
    """

    def __init__(self, judgments: Judgments) -> None:
        self.names = [encode_id(query) for query in judgments.queries]
        self.queries = {name: position for position, name in enumerate(self.names)}
        self._names = Spans.of(self.names)
        self._name_order, self._name_keys = _sorted(hashes(self._names))
        self._owner = judgments.query_of_row
        self._items = Spans.of([encode_id(item) for item in judgments.items])
        own = hashes(self._items)
        self._order, self._keys = _sorted(_keys(own, self._owner))
        # A table a good deal larger than what it holds says no to nearly every unjudged item, whatever its query.
        bits = min(24, max(16, len(own).bit_length() + 6))
        self._mask = np.uint64((1 << bits) - 1)
        self._seen = np.zeros(1 << bits, dtype=np.bool_)
        self._seen[self._slots(own)] = True

    def _slots(self, item_hashes: Words) -> Ints:
        return (item_hashes & self._mask).view(np.int64)

    def find_items(self, items: Spans, item_hashes: Words, offsets: Ints, queries: Ints) -> tuple[Ints, Ints]:
        """Which rows are judged, ascending, and their rows in the judgments.

        offsets: (groups + 1,) where the rows of each query begin. queries: (groups,) its position.
        """
        maybe = np.flatnonzero(self._seen.take(self._slots(item_hashes)))
        owner = queries[np.searchsorted(offsets, maybe, side="right") - 1]
        found, judged = _match(
            _keys(item_hashes[maybe], owner),
            self._keys,
            lambda asked, known: (
                (self._owner[self._order[known]] == owner[asked])
                & equal(items.take(maybe[asked]), self._items.take(self._order[known]))
            ),
        )
        return maybe[found], self._order[judged]

    def find_queries(self, names: Spans, name_hashes: Words) -> Ints:
        """(rows,) the position of each row's query, -1 for one that nobody judged."""
        found, known = _match(
            name_hashes,
            self._name_keys,
            lambda asked, known: equal(names.take(asked), self._names.take(self._name_order[known])),
        )
        positions = np.full(len(name_hashes), -1, dtype=np.int64)
        positions[found] = self._name_order[known]
        return positions


def _sorted(keys: Words) -> tuple[Ints, Words]:
    order = np.argsort(keys, kind="stable")
    return order, keys[order]


def _keys(item_hashes: Words, owner: Ints) -> Words:
    return item_hashes ^ (owner.view(np.uint64) * _MIX)


def _match(asked: Words, known: Words, confirm: Callable[[Ints, Ints], Bools]) -> tuple[Ints, Ints]:
    """Pairs of places with the same key whose bytes are the same too; each asked place at most once, ascending."""
    left = np.arange(len(asked), dtype=np.int64)
    place = np.searchsorted(known, asked)
    result = np.full(len(asked), -1, dtype=np.int64)
    while len(left) and len(known):
        inside = np.minimum(place[left], len(known) - 1)
        left = left[(place[left] < len(known)) & (known[inside] == asked[left])]
        same = confirm(left, place[left])
        result[left[same]] = place[left[same]]
        left = left[~same]
        place[left] += 1
    found = np.flatnonzero(result >= 0)
    return found, result[found]
