"""Notes on what makes figures of PostgreSQL doubtful, each of a table in which it happens."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import rankwell as rw

pytestmark = pytest.mark.slow
N = 1000
BY_INDEX = "&options=-c%20enable_seqscan%3Doff"
"""Part of an address: this table is so small that PostgreSQL would rather scan it."""


@pytest.fixture(scope="module")
def vectors() -> Any:
    return np.random.default_rng(4).normal(size=(N, 8)).astype(np.float32)


@pytest.fixture
def table(postgres: str, vectors: Any) -> Iterator[Any]:
    """A table of an application with an HNSW index of its vectors, and a connection to change it."""
    import psycopg

    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute("CREATE TABLE live_items (id int, embedding vector(8), colour text) WITH (autovacuum_enabled = off)")
        with connection.cursor().copy("COPY live_items FROM STDIN") as copy:
            for row, vector in enumerate(vectors):
                copy.write_row((row, str(vector.tolist()), "rare" if row % 100 == 0 else "common"))
        connection.execute("CREATE INDEX ON live_items USING hnsw (embedding vector_cosine_ops)")
        connection.execute("ANALYZE live_items")
        yield connection
        connection.execute("DROP TABLE live_items")


def notes_of(postgres: str, vectors: Any, k: int = 10, *, items: Any = None, filters: Any = None, **option: Any) -> list[str]:
    """The notes on five queries near the items."""
    asked = {f"q{row}": vectors[row] + 0.01 for row in range(5)}
    own = {"table": "live_items", "id": "id", "vector": "embedding"} if "sql" not in option else {}
    result = rw.retrieve(
        postgres + BY_INDEX,
        query_vectors=asked,
        items=items,
        item_vectors={str(row): vector for row, vector in enumerate(vectors)},
        filters=filters,
        k=k,
        rounds=1,
        warm_up=0,
        option={**own, **option},
    )
    return list(result.notes)


def test_the_default_ef_search_limits_lists_of_100(postgres: str, table: Any, vectors: Any) -> None:
    notes = notes_of(postgres, vectors, k=100)

    assert any(
        "5 of 5 queries got 40 to 40 results for k = 100; probably a setting of the engine limits them" in each for each in notes
    )
    assert not [each for each in notes_of(postgres, vectors, k=100, ef_search=200) if "results for k" in each]


def test_a_filter_of_one_percent_is_applied_after_the_search(postgres: str, table: Any, vectors: Any) -> None:
    items = [{"id": str(row), "text": "x", "colour": "rare" if row % 100 == 0 else "common"} for row in range(N)]
    pandas = pytest.importorskip("pandas", reason="could not import pandas")

    notes = notes_of(postgres, vectors, items=pandas.DataFrame(items), filters=["colour=rare"])

    assert any("queries got no results" in each or "the filter is applied after the search" in each for each in notes)


def test_deleted_rows_shorten_lists_until_they_are_vacuumed(postgres: str, table: Any, vectors: Any) -> None:
    # All of the nearest to the queries: the index finds them first, and then leaves them out.
    near = np.argsort(-(vectors[:5] @ vectors.T).max(axis=0))[:400]
    table.execute("DELETE FROM live_items WHERE id = ANY(%s)", (near.tolist(),))

    notes = notes_of(postgres, vectors)
    table.execute("VACUUM live_items")
    after = notes_of(postgres, vectors)

    assert any("got no results" in each or "results for k = 10" in each for each in notes)
    assert not [each for each in after if "got no results" in each or "results for k" in each]


def test_an_order_by_descending_score_uses_no_index(postgres: str, table: Any, vectors: Any) -> None:
    statement = (
        "SELECT id, 1 - (embedding <=> {vector}) AS score FROM live_items ORDER BY 1 - (embedding <=> {vector}) DESC LIMIT {k}"
    )

    notes = notes_of(postgres, vectors, sql=statement, kind="vector", metric="cosine")

    assert any("the plan of the search uses no index, so that it reads every item" in each for each in notes)
