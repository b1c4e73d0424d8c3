"""PostgreSQL with pgvector: foreign tables are only read, settings are read back, plans are seen,
and failures have kinds.
"""

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
    """A table that an application has filled, with names that need quotes, and a connection to
    change it.
    """
    import psycopg

    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute(
            'CREATE TABLE "my items" ("Item Id" int, "the ""text""" text, emb vector(8), '
            "colour text)"
        )
        with connection.cursor().copy('COPY "my items" FROM STDIN') as copy:
            for row, vector in enumerate(vectors):
                words = f"red river {row}" if row % 2 else "blue hill"
                copy.write_row(
                    (row, words, str(vector.tolist()), "rare" if row % 25 == 0 else "common")
                )
        connection.execute('CREATE INDEX ON "my items" USING hnsw (emb vector_cosine_ops)')
        connection.execute('ANALYZE "my items"')
        yield connection
        connection.execute('DROP TABLE "my items"')


COLUMNS = {"table": "my items", "id": "Item Id", "text": 'the "text"', "vector": "emb"}


def nearest(vectors: Any, query: Any, k: int) -> list[str]:
    """The nearest rows under cosine by plain arithmetic."""
    scores = [
        (-float(np.dot(row, query) / np.linalg.norm(row)), number)
        for number, row in enumerate(vectors.astype(float))
    ]
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


def prepared(session: Any) -> tuple[int, int]:
    """The number of prepared searches of a session, and how often one of them ran by a plan for any
    values.
    """
    statement = (
        "SELECT count(*), sum(generic_plans)::int FROM pg_prepared_statements WHERE statement "
        "LIKE '%ORDER BY%'"
    )
    return session._connection.execute(statement, prepare=False).fetchone()


def test_a_session_that_was_asked_before_is_exact_once_it_is_set_so_and_keeps_the_plans_of_each_setting(  # noqa: E501
    postgres: str, shop: Any, vectors: Any
):
    queries = [
        EngineQuery(f"q{each}", vector=row)
        for each, row in enumerate(np.random.default_rng(5).normal(size=(15, 8)))
    ]
    with open_engine(postgres + BY_INDEX, COLUMNS) as engine, engine.session() as session:
        found: list[Any] = []
        counts: list[tuple[int, int]] = []
        plans: list[Any] = []
        for exact in (False, True, False, True):
            session.configure({"ef_search": 5, "exact": exact})
            found.append([session.search(query, 10).ids for query in queries])
            plans.append(session.plan().uses_index)
            counts.append(prepared(session))

    truth = [nearest(vectors, query.vector, 10) for query in queries]
    assert found[1] == found[3] == truth
    assert found[0] == found[2]
    assert {len(ids) for ids in found[0]} == {5}
    assert plans == [True, False, True, False]
    assert [number for number, _ in counts] == [1, 2, 2, 2]
    # A setting that comes again is not planned again.
    assert counts[2][1] - counts[1][1] >= len(queries)


@pytest.mark.parametrize(
    ("mode", "condition"),
    [("force_generic_plan", "= $2)"), ("force_custom_plan", "= 'rare'::text)")],
)
def test_the_plan_of_a_filter_is_the_one_that_runs_for_any_value_or_for_this_one(
    postgres: str, shop: Any, mode: str, condition: str
):
    query = EngineQuery("q", vector=np.ones(8), filter={"colour": "rare"})
    with (
        open_engine(f"{postgres}&options=-c%20plan_cache_mode%3D{mode}", COLUMNS) as engine,
        engine.session() as session,
    ):
        for _ in range(2):
            session.search(query, 10)
            plan = session.plan()

            assert condition in plan.text


def test_integers_of_any_size_of_bigint_filter_by_one_prepared_statement(postgres: str, shop: Any):
    with open_engine(postgres, {**COLUMNS, "exact": True}) as engine, engine.session() as session:
        for number in [*range(8), 70_000, 2**40, 2**70]:
            query = EngineQuery("q", vector=np.ones(8), filter={"Item Id": number})
            expected = [str(number)] if number < N else []
            assert session.search(query, 3).ids == expected
            assert session.plan().uses_index is False
            assert prepared(session)[0] == (1 if number < 2**63 else 2)


def test_a_foreign_table_is_never_written_to(postgres: str, shop: Any):
    statement = 'INSERT INTO "my items" ("Item Id") VALUES (-1) RETURNING {query}'
    with open_engine(postgres, COLUMNS) as engine, pytest.raises(BadUsage, match="only read"):
        engine.index(EngineItems(["a"], vectors=np.ones((1, 8))))
    writing = open_engine(postgres, {"sql": statement, "kind": "lexical"})

    with writing.session() as session, pytest.raises(EngineFailure, match="read-only transaction"):
        session.search(EngineQuery("q", "x"), 1)


def test_lists_end_at_ef_search_and_settings_are_of_their_session(postgres: str, shop: Any):
    query = EngineQuery("q", vector=np.ones(8))
    with (
        open_engine(postgres, COLUMNS) as engine,
        engine.session() as one,
        engine.session() as other,
    ):
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
    form = (
        'SELECT "Item Id", 1 - (emb <=> {{vector}}) AS score FROM "my items" ORDER BY {} LIMIT '
        "{{k}}"
    )
    query = EngineQuery("q", vector=np.ones(8))
    plans: list[Any] = []
    for order in ("score DESC", "emb <=> {vector}"):
        statement = form.replace("{}", order).replace("{{", "{").replace("}}", "}")
        with (
            open_engine(postgres + BY_INDEX, {"sql": statement}) as engine,
            engine.session() as session,
        ):
            assert len(session.search(query, 5).ids) == 5
            plans.append(session.plan().uses_index)

    assert plans == [False, True]


def test_words_of_a_query_are_any_or_all(postgres: str, shop: Any):
    with (
        open_engine(postgres, {**COLUMNS, "kind": "lexical"}) as engine,
        engine.session() as session,
    ):
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
        with (
            open_engine(postgres, {**COLUMNS, "kind": kind}) as engine,
            engine.session() as session,
        ):
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


def test_a_session_whose_server_process_ends_fails_once_and_connects_again(
    postgres: str, shop: Any
):
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
    with (
        open_engine(postgres, slow) as engine,
        engine.session() as session,
        pytest.raises(EngineFailure) as caught,
    ):
        session.search(EngineQuery("q", "x"), 1)

    assert caught.value.kind == "timeout"


def test_its_own_table_is_dropped_unless_it_is_kept(postgres: str, shop: Any):
    def tables() -> list[str]:
        return [
            name
            for (name,) in shop.execute(
                "SELECT tablename FROM pg_tables WHERE tablename LIKE 'rankwell%'"
            ).fetchall()
        ]

    for keep in (False, True):
        with open_engine(postgres, {"keep": keep}) as engine:
            report = engine.index(EngineItems(["a", "b"], vectors=np.eye(2)))
            assert len(tables()) == 1
            assert report.bytes > 0
    [kept] = tables()
    shop.execute(f'DROP TABLE "{kept}"')


def test_a_later_call_drops_a_scratch_table_once_no_session_uses_it_and_no_other_table(
    postgres: str, shop: Any
):
    comment = (
        "scratch table of rankwell: a later call drops it when no session of its own call is left"
    )
    others = {
        "rankwell_0123456789ab": None,
        "rankwell_0123456789ac": "mine",
        "rankwell_notes": comment,
        "mine": comment,
    }
    for name, text in others.items():
        shop.execute(f"CREATE TABLE {name} (id int)")
        if text is not None:
            shop.execute(f"COMMENT ON TABLE {name} IS '{text}'")

    def left_by_a_later_call() -> set[str]:
        open_engine(postgres).close()
        found = shop.execute(
            "SELECT tablename FROM pg_tables WHERE tablename LIKE 'rankwell%' OR tablename = 'mine'"
        ).fetchall()
        return {name for (name,) in found}

    def end(connection: Any) -> None:
        assert shop.execute(
            "SELECT pg_terminate_backend(%s, 5000)", (connection.info.backend_pid,)
        ).fetchone() == (True,)

    items = EngineItems(["a", "b"], vectors=np.eye(2))
    with open_engine(postgres) as killed, open_engine(postgres, {"keep": True}) as kept:
        killed.index(items)
        kept.index(items)
        session: Any = killed.session()
        living = left_by_a_later_call()
        for connection in (killed._holder, kept._holder):
            end(connection)
        searching = left_by_a_later_call()
        end(session._connection)
        with shop.transaction():
            shop.execute(f"SELECT FROM {killed.table}")
            read = left_by_a_later_call()
        after = left_by_a_later_call()
        session.close()
    for name in [*others, kept.table]:
        shop.execute(f"DROP TABLE {name}")

    assert living == searching == read == {*others, killed.table, kept.table}
    assert after == {*others, kept.table}


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
