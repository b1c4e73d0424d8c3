"""Tables of vectors by different models brought into one order of items."""

from collections.abc import Sequence

import numpy as np

from rankwell.errors import BadInput
from rankwell.tables import Ints
from rankwell.tables.embeddings import Embeddings


def align(reference: Embeddings, other: Embeddings, here: str, there: str) -> Embeddings:
    """The other table with its rows in the order and under the names of the reference; not copied where they are in order.

    Rows belong together by id where both have ids, else by position. here, there: what errors call the two.
    Raises BadInput where an id is on one side only, or, without ids on both, where there are not as many vectors of both.
    """
    if reference.ids is None or other.ids is None:
        if reference.n != other.n:
            raise BadInput(
                f"{here} has {reference.n} vectors, {there} has {other.n}; without ids on both sides they are matched by "
                "position, which takes as many of both."
            )
        return Embeddings(reference.ids, other.vectors)
    rows = _matching_rows(reference.ids, other.ids, here, there)
    in_order = np.array_equal(rows, np.arange(len(rows)))
    return Embeddings(reference.ids, other.vectors if in_order else other.vectors[rows])


def _matching_rows(mine: Sequence[str], theirs: Sequence[str], here: str, there: str) -> Ints:
    place = {name: row for row, name in enumerate(theirs)}
    for one, two, names, known in ((here, there, mine, place), (there, here, theirs, set(mine))):
        lacking = [name for name in names if name not in known]
        if lacking:
            raise BadInput(f"{len(lacking)} ids of {one} are not in {two}, first {lacking[0]!r}; embed the same items.")
    return np.array([place[name] for name in mine], dtype=np.int64)
