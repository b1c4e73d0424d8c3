"""Tables of vectors by different models brought into one order of items."""

import numpy as np

from rankwell.core.tables import Ints
from rankwell.core.tables.embeddings import Embeddings
from rankwell.errors import BadInput


def align(reference: Embeddings, other: Embeddings, here: str, there: str) -> Embeddings:
    """The other table with its rows in the order and under the names of the reference; not copied where they are in order.

    Rows belong together by id where both have ids, else by position. here, there: what errors call the two.
    Raises BadInput where an id is on one side only, or, without ids on both, where there are not as many vectors of both.
    """
    rows = matching_rows(reference, other, here, there)
    in_order = np.array_equal(rows, np.arange(len(rows)))
    return Embeddings(reference.ids, other.vectors if in_order else other.vectors[rows])


def matching_rows(reference: Embeddings, other: Embeddings, here: str, there: str) -> Ints:
    """(n,) the row of the other table that belongs to each row of the reference; rules and errors are those of `align`."""
    if reference.ids is None or other.ids is None:
        if reference.n != other.n:
            raise BadInput(
                f"{here} has {reference.n} vectors, {there} has {other.n}; without ids on both sides they are matched by "
                "position, which takes as many of both."
            )
        return np.arange(other.n, dtype=np.int64)
    place = {name: row for row, name in enumerate(other.ids)}
    for one, two, names, known in ((here, there, reference.ids, place), (there, here, other.ids, set(reference.ids))):
        lacking = [name for name in names if name not in known]
        if lacking:
            raise BadInput(f"{len(lacking)} ids of {one} are not in {two}, first {lacking[0]!r}; embed the same items.")
    return np.array([place[name] for name in reference.ids], dtype=np.int64)
