"""The error for a retrieved item that an input lacks."""

from collections.abc import Sequence

import numpy as np

from rankwell.data.tables import Bools, Ints
from rankwell.errors import BadInput, flag
from rankwell.tasks.beyond.attributes import ItemAttributes


class LackingItems:
    """Looks for items that the catalogue, the categories, the groups or the vectors lack.

    others: items without attributes, by the codes behind those of the others.
    """

    def __init__(self, name: str, attributes: ItemAttributes) -> None:
        self._name, self._items, self.others = name, attributes.items, list[str]()
        categories = flag("--item-categories", name="categories")
        embeddings = flag("--item-embeddings", name="embeddings")
        groups = flag("--item-groups", name="groups")
        add_row = "add a row, with an empty {} for an item without one"
        inputs: dict[str, Bools | None] = {
            "the catalogue lacks; correct the id, or name a file of all items by "
            f"{flag('--catalogue')}": attributes.in_catalogue,
            f"{categories} lacks; {add_row.format('category')}": attributes.categories
            and attributes.categories.in_input,
            f"{groups} lacks; {add_row.format('group')}": attributes.groups
            and attributes.groups.in_input,
            f"{embeddings} lacks; add its vector": None
            if attributes.vectors is None
            else ~np.isnan(attributes.vectors[:, 0]),
        }
        # The last place stands for items without attributes.
        self._inputs = {
            problem: np.append(has, False) for problem, has in inputs.items() if has is not None
        }
        self._good = np.logical_and.reduce(
            [*self._inputs.values(), np.ones(len(attributes.items) + 1, dtype=np.bool_)]
        )

    def refuse(self, queries: Sequence[str], codes: Ints) -> None:
        """Raises BadInput for the first item that an input lacks. codes: (queries, depth), -1
        behind the end of a list.
        """
        last = len(self._items)
        if self._good[np.where(codes < 0, 0, np.minimum(codes, last))].all(where=codes >= 0):
            return
        owners, ranks = np.nonzero(codes >= 0)
        flat = codes[owners, ranks]
        for problem, has in self._inputs.items():
            bad = np.flatnonzero(~has[np.minimum(flat, last)])
            if len(bad):
                code, query = int(flat[bad[0]]), queries[int(owners[bad[0]])]
                item = self._items[code] if code < last else self.others[code - last]
                raise BadInput(f"{self._name}: query {query!r} lists {item!r}, which {problem}.")
