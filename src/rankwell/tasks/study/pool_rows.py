"""Rows of a pool that a judge needs, read without the others: sizes of batches, the items of one,
and the batches of pairs.
"""

from collections.abc import Collection
from typing import Any

import numpy as np

from rankwell.core.tables import Ints
from rankwell.core.tables.columns import parquet
from rankwell.errors import BadInput
from rankwell.io import connected, undamaged
from rankwell.tasks.study.folder import Study, pool_name

Pair = tuple[str, str]


def batch_sizes(study: Study) -> Ints:
    """(batches,) the number of items in each batch of the last round."""
    found = dict(
        _rows(study, "SELECT {batch}, count(*) FROM {pool} WHERE {batch} IS NOT NULL GROUP BY 1")
    )
    return np.array([found[number] for number in sorted(found)], dtype=np.int64)


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
    columns = {"query": ids[:, 0], "item": ids[:, 1]}
    found = _rows(
        study,
        "SELECT query, item, coalesce({batch}, -1) FROM {pool} SEMI JOIN pairs USING (query, item)",
        columns,
    )
    return {(query, item): batch for query, item, batch in found}


def _rows(study: Study, query: str, pairs: dict[str, Any] | None = None) -> list[Any]:
    """The rows of a query over {pool}, whose last round is {batch}. Raises BadInput for a file that
    is missing or damaged.
    """
    import duckdb

    path = study.place / pool_name(study.rounds)
    if not path.is_file():
        raise BadInput(f"{path} is missing; restore the folder of the study from a copy.")
    with undamaged(f"{path}: ", "restore it from a copy"), connected() as session:
        if pairs is not None:
            session.register("pairs", pairs)
        try:
            return session.execute(
                query.format(pool=parquet(path), batch=f"batch_{study.rounds}")
            ).fetchall()
        except duckdb.BinderException as error:
            raise BadInput(
                f"{path} does not have the columns of a study; restore it from a copy."
            ) from error
