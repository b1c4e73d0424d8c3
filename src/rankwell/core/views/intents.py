"""Rankings judged for several intents of each query (the subtopics of ndeval)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rankwell.core.tables import Bools
from rankwell.core.views.aspects import AspectRankings


class Serving(NamedTuple):
    """The intents that items serve in one query. query: its index. serves: (items, intents) which intents each item serves."""

    query: int
    serves: Bools


@dataclass(frozen=True, eq=False)
class IntentRankings(AspectRankings):
    """A ranking per query and a truth per query and intent; the aspects are the intents."""

    @cached_property
    def condensed(self) -> "IntentRankings":
        """The view of rankings without the items that are judged for no intent."""
        return replace(self, flat=self.flat.condensed)

    def serving(self, rel: float) -> Iterator[Serving]:
        """For each query that has any: the items with grade `rel` or more for an intent, by the bytes of their ids descending.

        Intents that nothing serves have no column.
        """
        good = np.flatnonzero(self.truth_grades >= max(rel, 0))
        owner = self.query_of_aspect[self.aspect_of_truth[good]]
        edges = np.flatnonzero(np.diff(owner, prepend=-1, append=-1))
        for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            items, row = np.unique(-self.truth_items[good[start:stop]], return_inverse=True)
            intents, column = np.unique(self.aspect_of_truth[good[start:stop]], return_inverse=True)
            serves = np.zeros((len(items), len(intents)), dtype=np.bool_)
            serves[row, column] = True
            yield Serving(int(owner[start]), serves)
