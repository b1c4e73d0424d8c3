"""The items of a catalogue: their interactions, categories, groups and vectors, and what is known of each query."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rankwell.core.tables import Bools, Floats, Ints, gather, offsets_of
from rankwell.errors import BadUsage, flag


class ItemLabels(NamedTuple):
    """The categories or groups of items. names: of all of them, sorted. listed: (items,) whether the input has the item.

    offsets: (items + 2,) where the labels of each item begin; the last item stands for none and has no label. labels: (rows,).
    """

    names: tuple[str, ...]
    listed: Bools
    offsets: Ints
    labels: Ints

    @classmethod
    def of(cls, items: Sequence[str], labels: Mapping[str, Iterable[str]]) -> "ItemLabels":
        """The labels of items, each item's once."""
        own = [sorted(set(labels.get(item, ()))) for item in items]
        names = tuple(sorted({name for each in labels.values() for name in each}))
        place = {name: column for column, name in enumerate(names)}
        counts = np.array([*map(len, own), 0], dtype=np.int64)
        flat = np.array([place[name] for each in own for name in each], dtype=np.int64)
        return cls(names, np.array([item in labels for item in items], dtype=np.bool_), offsets_of(counts), flat)

    def has(self, codes: Ints) -> Floats:
        """(…, labels) 1 for each label that an item has. codes: (…) items, -1 for none."""
        flat = codes.ravel()
        rows, starts = gather(self.offsets, np.where(flat < 0, len(self.offsets) - 2, flat))
        found = np.zeros((len(flat), len(self.names)))
        found[np.repeat(np.arange(len(flat)), np.diff(starts)), self.labels[rows]] = 1
        return found.reshape(*codes.shape, len(self.names))

    def shares(self, codes: Ints) -> Floats:
        """(…, labels) 1 divided equally among the labels of an item, 0 for an item without labels."""
        has = self.has(codes)
        return has / np.maximum(has.sum(axis=-1, keepdims=True), 1)


@dataclass(frozen=True, eq=False, kw_only=True)
class ItemAttributes:
    """All that measures read beside the lists; what was not given is None, and a measure that needs it says so.

    items: every known item, sorted. in_catalogue: (items,) whether it may be retrieved. popularity: (items,) users with an
    interaction. n_users: users with one. categories, groups: labels. vectors: (items, dimensions) of length 1, NaN where unknown.
    histories: query -> the items that its user interacted with. grades: query -> item -> its grade.
    """

    items: tuple[str, ...]
    in_catalogue: Bools | None = None
    popularity: Ints | None = None
    n_users: int = 0
    categories: ItemLabels | None = None
    groups: ItemLabels | None = None
    vectors: Floats | None = None
    histories: Mapping[str, Ints] = field(default_factory=dict[str, Ints])
    grades: Mapping[str, Mapping[int, float]] | None = None

    @cached_property
    def index(self) -> dict[str, int]:
        """The code of each item."""
        return {item: code for code, item in enumerate(self.items)}

    def catalogue(self, measure: str) -> Ints:
        """The items that may be retrieved. Raises BadUsage where they are not known."""
        if self.in_catalogue is None:
            raise BadUsage(
                f"{measure} needs all items that could be retrieved; name a file of their ids by {flag('--catalogue')}."
            )
        return np.flatnonzero(self.in_catalogue)

    def interactions(self, measure: str) -> Ints:
        """(items,) the popularity of each. Raises BadUsage where there are no interactions."""
        if self.popularity is None:
            raise BadUsage(
                f"{measure} needs the interactions of a training set; name a file of them by {flag('--interactions')}."
            )
        return self.popularity

    def labels(self, by: str, measure: str) -> ItemLabels:
        """The categories or the groups. Raises BadUsage where there are none."""
        found = self.categories if by == "categories" else self.groups
        if found is None:
            raise BadUsage(f"{measure} needs the {by} of items; name a table with them by {flag(f'--item-{by}', name=by)}.")
        return found

    def directions(self, measure: str) -> Floats:
        """(items, dimensions) the vectors. Raises BadUsage where there are none."""
        if self.vectors is None:
            raise BadUsage(
                f"{measure} needs vectors of items; name a file of them by {flag('--item-embeddings', name='embeddings')}."
            )
        return self.vectors

    def judged(self, measure: str) -> Mapping[str, Mapping[int, float]]:
        """query -> item -> grade. Raises BadUsage where nothing is judged."""
        if self.grades is None:
            raise BadUsage(f"{measure} needs judgments; name a file of them by {flag('--judgments')}.")
        return self.grades
