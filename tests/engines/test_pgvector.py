"""PostgreSQL with pgvector: foreign tables are only read, settings are read back, plans are seen, and failures have kinds."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from rankwell.engines import EngineFailure, EngineItems, EngineQuery, open_engine
from rankwell.errors import BadInput, BadUsage

pytestmark = pytest.mark.slow
N = 1500
BY_INDEX = "&options=-c%20enable_seqscan%3Doff"
"""Part of an address: these tables are so small that PostgreSQL would rather scan them."""


@pytest.fixture(scope="module")
def vectors() -> Any:
    return np.random.default_rng(1).normal(size=(N, 8)).astype(np.float32)


@pytest.fixture(scope="module")
def shop(postgres: str, vectors: Any) -> Iterator[Any]:
    """A table that an application has filled, with names that need quotes, and a connection to change it."""
    import psycopg

    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute('CREATE TABLE "my items" ("Item Id" int, "the ""text""" text, emb vector(8), colour text)')
        with connection.cursor().copy('COPY "my items" FROM STDIN') as copy:
            for row, vector in enumerate(vectors):
                words = f"red river {row}" if row % 2 else "blue hill"
                copy.write_row((row, words, str(vector.tolist()), "rare" if row % 25 == 0 else "common"))
        connection.execute('CREATE INDEX ON "my items" USING hnsw (emb vector_cosine_ops)')
        connection.execute('ANALYZE "my items"')
        yield connection
        connection.execute('DROP TABLE "my items"')


COLUMNS = {"table": "my items", "id": "Item Id", "text": 'the "text"', "vector": "emb"}


def nearest(vectors: Any, query: Any, k: int) -> list[str]:
    """The nearest rows under cosine by plain arithmetic."""
    scores = [(-float(np.dot(row, query) / np.linalg.norm(row)), number) for number, row in enumerate(vectors.astype(float))]
    return [str(number) for _, number in sorted(scores)[:k]]


def test_a_foreign_table_is_read_by_its_index_and_exactly(postgres: str, shop: Any, vectors: Any):
    query = EngineQuery("q", vector=np.random.default_rng(2).normal(size=8))
    with open_engine(postgres + BY_INDEX, COLUMNS) as engine, engine.session() as session:
        approximate, plan = session.search(query, 10), session.plan()
        session.configure({"exact": True})
        exact, other = session.search(query, 10), session.plan()
        described = engine.describe()

    assert exact.ids == nearest(vectors, query.vector, 10)
    assert len(set(approximate.ids) & set(exact.ids)) >= 8
    assert (plan.uses_index, other.uses_index) == (True, False)
    assert list(exact.scores) == sorted(exact.scores, reverse=True)
    assert (described["items"], described["dimensions"], engine.can_index) == (N, 8, False)
    assert "pgvector" in described["version"]


def test_a_foreign_table_is_never_written_to(postgres: str, shop: Any):
    statement = 'INSERT INTO "my items" ("Item Id") VALUES (-1) RETURNING {query}'
    with open_engine(postgres, COLUMNS) as engine, pytest.raises(BadUsage, match="only read"):
        engine.index(EngineItems(["a"], vectors=np.ones((1, 8))))
    writing = open_engine(postgres, {"sql": statement, "kind": "lexical"})

    with writing.session() as session, pytest.raises(EngineFailure, match="read-only transaction"):
        session.search(EngineQuery("q", "x"), 1)


def test_lists_end_at_ef_search_and_settings_are_of_their_session(postgres: str, shop: Any):
    query = EngineQuery("q", vector=np.ones(8))
    with open_engine(postgres, COLUMNS) as engine, engine.session() as one, engine.session() as other:
        one.configure({"ef_search": 120})

        assert len(one.search(query, 100).ids) == 100
        assert len(other.search(query, 100).ids) == 40
        assert (one.parameters()["ef_search"], other.parameters()["ef_search"]) == (120, 40)
        with pytest.raises(EngineFailure, match="outside the valid range"):
            one.configure({"ef_search": 100_000})


def test_a_rare_filter_shortens_the_list_unless_the_scan_goes_on(postgres: str, shop: Any):
    query = EngineQuery("q", vector=np.ones(8), filter={"colour": "rare"})
    with open_engine(postgres + BY_INDEX, COLUMNS) as engine, engine.session() as session:
        short = session.search(query, 10)
        session.configure({"iterative_scan": "strict_order"})
        full = session.search(query, 10)

    assert len(short.ids) < 10
    assert len(full.ids) == 10
    assert all(int(item) % 25 == 0 for item in full.ids)


def test_a_statement_that_orders_by_score_descending_uses_no_index(postgres: str, shop: Any):
    form = 'SELECT "Item Id", 1 - (emb <=> {{vector}}) AS score FROM "my items" ORDER BY {} LIMIT {{k}}'
    query = EngineQuery("q", vector=np.ones(8))
    plans: list[Any] = []
    for order in ("score DESC", "emb <=> {vector}"):
        statement = form.replace("{}", order).replace("{{", "{").replace("}}", "}")
        with open_engine(postgres + BY_INDEX, {"sql": statement}) as engine, engine.session() as session:
            assert len(session.search(query, 5).ids) == 5
            plans.append(session.plan().uses_index)

    assert plans == [False, True]


def test_words_of_a_query_are_any_or_all(postgres: str, shop: Any):
    with open_engine(postgres, {**COLUMNS, "kind": "lexical"}) as engine, engine.session() as session:
        query = EngineQuery("q", "river 17 hill's \\ & | ! ( '")
        some = session.search(query, N)
        session.configure({"words": "all"})
        every = session.search(EngineQuery("q", "river 17"), N)

    assert len(some.ids) == N
    assert every.ids == ["17"]


def test_a_hybrid_search_is_the_fusion_of_both_lists(postgres: str, shop: Any):
    """Reciprocal rank fusion, naively."""
    query = EngineQuery("q", "river 17 19", np.random.default_rng(3).normal(size=8))
    lists: list[list[str]] = []
    for kind in ("lexical", "vector"):
        with open_engine(postgres, {**COLUMNS, "kind": kind}) as engine, engine.session() as session:
            if kind == "vector":
                session.configure({"ef_search": 50})
            lists.append(list(session.search(query, 30).ids))
    options = {**COLUMNS, "kind": "hybrid", "weight": 0.75, "depth": 30, "ef_search": 50}
    with open_engine(postgres, options) as engine, engine.session() as session:
        found = session.search(query, 10)
    scores: dict[str, float] = {}
    for weight, ids in zip((0.25, 0.75), lists, strict=True):
        for rank, item in enumerate(ids, 1):
            scores[item] = scores.get(item, 0) + weight / (60 + rank)

    assert found.scores == pytest.approx(sorted(scores.values(), reverse=True)[:10])
    assert [scores[item] for item in found.ids] == pytest.approx(found.scores)


def test_a_session_whose_server_process_ends_fails_once_and_connects_again(postgres: str, shop: Any):
    query = EngineQuery("q", vector=np.ones(8))
    with open_engine(postgres, {**COLUMNS, "ef_search": 77}) as engine, engine.session() as session:
        before = session.search(query, 5)
        shop.execute("SELECT pg_terminate_backend(%s)", (session.server_pid,))
        with pytest.raises(EngineFailure) as caught:
            session.search(query, 5)
        after = session.search(query, 5)

        assert caught.value.kind == "disconnected"
        assert after == before
        assert session.parameters()["ef_search"] == 77


def test_a_statement_beyond_the_limit_is_a_timeout(postgres: str):
    slow = {"sql": "SELECT pg_sleep(5)::text || {query}", "kind": "lexical", "timeout": 0.2}
    with open_engine(postgres, slow) as engine, engine.session() as session, pytest.raises(EngineFailure) as caught:
        session.search(EngineQuery("q", "x"), 1)

    assert caught.value.kind == "timeout"


def test_its_own_table_is_dropped_unless_it_is_kept(postgres: str, shop: Any):
    def tables() -> list[str]:
        return [name for (name,) in shop.execute("SELECT tablename FROM pg_tables WHERE tablename LIKE 'rankwell%'").fetchall()]

    for keep in (False, True):
        with open_engine(postgres, {"keep": keep}) as engine:
            report = engine.index(EngineItems(["a", "b"], vectors=np.eye(2)))
            assert len(tables()) == 1
            assert report.bytes > 0
    [kept] = tables()
    shop.execute(f'DROP TABLE "{kept}"')


def test_what_cannot_be_opened_or_set_is_named_and_no_password_is_shown(
    postgres: str, shop: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SHOP_PASSWORD", "hunter2")
    with pytest.raises(EngineFailure) as caught:
        open_engine("postgresql://app:${SHOP_PASSWORD}@127.0.0.1:1/shop")
    with pytest.raises(BadUsage, match="no address"):
        open_engine("pgvector")
    with pytest.raises(EngineFailure, match="absent"):
        open_engine(postgres, {"table": "absent"})
    with pytest.raises(BadInput, match="weight is 2"):
        open_engine(postgres, {**COLUMNS, "kind": "hybrid", "weight": 2}).session()

    assert caught.value.kind == "refused"
    assert "hunter2" not in json.dumps(str(caught.value))
