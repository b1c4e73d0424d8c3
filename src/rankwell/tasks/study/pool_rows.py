"""Rows of a pool that a judge needs, read without the others: sizes of batches, the items of one,
and the batches of pairs.
"""

from collections.abc import Collection
from typing import Any

import numpy as np

from rankwell.data.columns import parquet
from rankwell.data.tables import Ints
from rankwell.tasks.study.folder import Pair, Study, table_session


def batch_sizes(study: Study) -> Ints:
    """(batches,) the number of items in each batch of the last round."""
    sizes = dict(
        _rows(study, "SELECT {batch}, count(*) FROM {pool} WHERE {batch} IS NOT NULL GROUP BY 1")
    )
    return np.array([sizes[number] for number in sorted(sizes)], dtype=np.int64)


def batch_pairs(study: Study, number: int) -> tuple[Pair, ...]:
    """The pairs of query and item of a batch of the last round, by query, then by u."""
    return tuple(
        _rows(
            study,
            f"SELECT query, item FROM {{pool}} WHERE {{batch}} = {number} ORDER BY query, u",  # noqa: S608
        )
    )


def batches_of(study: Study, pairs: Collection[Pair]) -> dict[Pair, int]:
    """The batch of the last round of each pair in the pool, -1 where it is never asked."""
    if not pairs:
        return {}
    ids = np.array(list(pairs), dtype=object)
    rows = _rows(
        study,
        "SELECT query, item, coalesce({batch}, -1) FROM {pool} SEMI JOIN pairs USING (query, item)",
        {"query": ids[:, 0], "item": ids[:, 1]},
    )
    return {(query, item): batch for query, item, batch in rows}


def _rows(study: Study, query: str, pairs: dict[str, Any] | None = None) -> list[Any]:
    """The rows of a query over {pool}, whose last round is {batch}."""
    pool, batch = parquet(study.pool_file), f"batch_{study.rounds}"
    with table_session(study.pool_file) as session:
        if pairs is not None:
            session.register("pairs", pairs)
        return session.execute(query.format(pool=pool, batch=batch)).fetchall()
