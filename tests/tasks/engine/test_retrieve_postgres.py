"""PostgreSQL: notes on what makes figures doubtful, each of a table in which it happens, and a
bench with a password.
"""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
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
    """A table of an application with an HNSW index of its vectors, and a connection to change
    it.
    """
    import psycopg

    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute(
            "CREATE TABLE live_items (id int, embedding vector(8), colour text) WITH "
            "(autovacuum_enabled = off)"
        )
        with connection.cursor().copy("COPY live_items FROM STDIN") as copy:
            for row, vector in enumerate(vectors):
                copy.write_row((row, str(vector.tolist()), "rare" if row % 100 == 0 else "common"))
        connection.execute("CREATE INDEX ON live_items USING hnsw (embedding vector_cosine_ops)")
        connection.execute("ANALYZE live_items")
        yield connection
        connection.execute("DROP TABLE live_items")


def notes_of(
    postgres: str,
    vectors: Any,
    k: int = 10,
    *,
    queries: Any = None,
    items: Any = None,
    filters: Any = None,
    **option: Any,
) -> list[str]:
    """The notes on five queries near the items."""
    asked = {f"q{row}": vectors[row] + 0.01 for row in range(5)}
    own = {"table": "live_items", "id": "id", "vector": "embedding"} if "sql" not in option else {}
    result = rw.evaluate_engine(
        postgres + BY_INDEX,
        queries=queries,
        query_vectors=asked,
        documents=items,
        item_vectors={str(row): vector for row, vector in enumerate(vectors)},
        filters=filters,
        depth=k,
        rounds=1,
        warm_up=0,
        option={**own, **option},
    )
    return list(result.findings)


def test_the_default_ef_search_limits_lists_of_100(postgres: str, table: Any, vectors: Any) -> None:
    notes = notes_of(postgres, vectors, k=100)

    assert any(
        "5 of 5 queries got 40 to 40 results for k = 100; probably a setting of the engine "
        "limits them" in each
        for each in notes
    )
    assert not [
        each
        for each in notes_of(postgres, vectors, k=100, ef_search=200)
        if "results for k" in each
    ]


def test_a_filter_of_one_percent_is_applied_after_the_search(
    postgres: str, table: Any, vectors: Any
) -> None:
    items = [
        {"id": str(row), "text": "x", "colour": "rare" if row % 100 == 0 else "common"}
        for row in range(N)
    ]
    pandas = pytest.importorskip("pandas", reason="could not import pandas")

    notes = notes_of(postgres, vectors, items=pandas.DataFrame(items), filters=["colour=rare"])

    assert any(
        "queries got no results" in each or "the filter is applied after the search" in each
        for each in notes
    )


def test_deleted_rows_shorten_lists_until_they_are_vacuumed(
    postgres: str, table: Any, vectors: Any
) -> None:
    # All of the nearest to the queries: the index finds them first, and then leaves them out.
    near = np.argsort(-(vectors[:5] @ vectors.T).max(axis=0))[:400]
    table.execute("DELETE FROM live_items WHERE id = ANY(%s)", (near.tolist(),))

    notes = notes_of(postgres, vectors)
    table.execute("VACUUM live_items")
    after = notes_of(postgres, vectors)

    assert any("got no results" in each or "results for k = 10" in each for each in notes)
    assert not [each for each in after if "got no results" in each or "results for k" in each]


def test_an_order_by_descending_score_uses_no_index(
    postgres: str, table: Any, vectors: Any
) -> None:
    statement = (
        "SELECT id, 1 - (embedding <=> {vector}) AS score FROM live_items ORDER BY 1 - (embedding "
        "<=> {vector}) DESC LIMIT {k}"
    )

    notes = notes_of(postgres, vectors, sql=statement, kind="vector", metric="cosine")

    assert any("the query plan uses no index and reads every item" in each for each in notes)


def test_a_hybrid_search_without_an_index_of_the_words_is_noted(
    postgres: str, table: Any, vectors: Any
) -> None:
    table.execute("ALTER TABLE live_items ADD text text")
    table.execute(
        "UPDATE live_items SET text = CASE WHEN id % 50 = 0 THEN 'river ' ELSE 'hill ' END || id"
    )
    table.execute("VACUUM ANALYZE live_items")
    asked = dict.fromkeys([f"q{row}" for row in range(5)], "river")
    notes = notes_of(postgres, vectors, queries=asked, kind="hybrid")
    table.execute("CREATE INDEX ON live_items USING gin (to_tsvector('english', text))")
    after = notes_of(postgres, vectors, queries=asked, kind="hybrid")

    assert [
        each
        for each in notes
        if "the query plan uses no index of the texts and reads every item" in each
    ]
    assert not [each for each in after if "uses no index" in each]


def test_exact_searches_that_follow_others_in_a_session_are_the_truth(
    postgres: str, table: Any, vectors: Any
) -> None:
    result = rw.evaluate_engine(
        postgres + BY_INDEX,
        query_vectors={
            f"q{row}": vector
            for row, vector in enumerate(np.random.default_rng(6).normal(size=(20, 8)))
        },
        item_vectors={str(row): vector for row, vector in enumerate(vectors)},
        depth=10,
        rounds=2,
        sweep=["exact=false,true"],
        option={"table": "live_items", "id": "id", "vector": "embedding", "ef_search": 5},
    )
    approximate, exact = (row["mean"] for row in result.summary if row["measure"] == "Recall@10")

    assert (approximate <= 0.5, exact) == (True, 1)


def test_lists_of_ivfflat_that_are_older_than_the_rows_are_noted_until_they_are_built_again(
    postgres: str, table: Any, vectors: Any
) -> None:
    table.execute(
        "CREATE TABLE live_empty (id int, embedding vector(8)) WITH (autovacuum_enabled = off)"
    )
    try:
        table.execute(
            "CREATE INDEX live_lists ON live_empty USING ivfflat (embedding "
            "vector_cosine_ops) WITH (lists = 20)"
        )
        table.execute("INSERT INTO live_empty SELECT id, embedding FROM live_items")
        table.execute("ANALYZE live_empty")
        notes = notes_of(postgres, vectors, table="live_empty", probes=20)
        table.execute("REINDEX INDEX live_lists")
        after = notes_of(postgres, vectors, table="live_empty", probes=20)
    finally:
        table.execute("DROP TABLE live_empty")

    text = (
        "pgvector: the rows of live_empty are newer than the ivfflat index live_lists: lists that "
        "are built on an empty table"
    )
    assert [each for each in notes if each.startswith(text)]
    assert not [each for each in after if "newer than" in each]


BENCH = """
[[dataset]]
name = "faq"
command = "engine run"
documents = "docs.jsonl"
item-vectors = "docs.npy"
queries = "queries.tsv"
query-vectors = "queries.npy"
qrels = "qrels.txt"
measure = ["nDCG@10", "R@100"]
rounds = 2
intervals = "none"

[[system]]
name = "pg"
engine = "pgvector"
url = "postgresql://rankwell_app:${PGPASSWORD}@/postgres?host=HOST"
option = { m = 16, ef_construction = 64 }
sweep = { ef_search = [10, 20, 40, 80, 160] }
"""


@pytest.fixture
def shop(postgres: str, vectors: Any, tmp_path: Path) -> Iterator[Path]:
    """The bench of the documentation, on a server that asks for a password."""
    import psycopg

    (tmp_path / "docs.jsonl").write_text(
        "".join(json.dumps({"_id": f"d{row}", "text": f"item {row}"}) + "\n" for row in range(N))
    )
    (tmp_path / "queries.tsv").write_text("".join(f"q{row}\tquestion {row}\n" for row in range(20)))
    (tmp_path / "qrels.txt").write_text("".join(f"q{row} 0 d{row} 1\n" for row in range(20)))
    np.save(tmp_path / "docs.npy", vectors)
    np.save(tmp_path / "queries.npy", vectors[:20] + np.float32(0.01))
    (tmp_path / "bench.toml").write_text(BENCH.replace("HOST", postgres.partition("host=")[2]))
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute("CREATE ROLE rankwell_app LOGIN PASSWORD 'open sesame 7%'")
        connection.execute("GRANT CREATE ON SCHEMA public TO rankwell_app")
        rules = Path(connection.execute("SHOW hba_file").fetchone()[0])
        known = rules.read_text()
        rules.write_text(f"local all rankwell_app scram-sha-256\n{known}")
        connection.execute("SELECT pg_reload_conf()")
        yield tmp_path
        rules.write_text(known)
        connection.execute("SELECT pg_reload_conf()")
        connection.execute("DROP OWNED BY rankwell_app")
        connection.execute("DROP ROLE rankwell_app")


def test_a_bench_of_pgvector_takes_the_password_from_the_environment_and_shows_it_nowhere(
    shop: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("rankwell.reporting.folder.CHARTS", {})
    monkeypatch.setattr(
        "rankwell.stats.system_comparisons.studentised_range_quantile", lambda *_: 3.0
    )
    monkeypatch.setenv("PGPASSWORD", "wrong")
    refused = rw.bench(shop / "bench.toml")
    monkeypatch.setenv("PGPASSWORD", "open sesame 7%")
    seen: list[str] = []
    ask: Callable[..., Any] = rw.tasks.engine.measuring.EngineWork._ask

    def watched(*given: Any) -> None:
        seen.append(
            subprocess.run(
                ["ps", "axww", "-o", "args"], capture_output=True, text=True, check=True
            ).stdout
        )
        ask(*given)

    monkeypatch.setattr("rankwell.tasks.engine.measuring.EngineWork._ask", watched)
    results = rw.bench(shop / "bench.toml")

    assert len(refused.failed) == 5
    assert all("password authentication failed" in each.error for each in refused.failed)
    assert not results.failed, results.failed[0].error
    assert sorted(
        path.name for path in (shop / "bench-results" / "faq").iterdir() if path.is_dir()
    ) == sorted(f"pg ef_search={value}" for value in (10, 20, 40, 80, 160))
    rows = [row["mean"] for row in results.summary if row["measure"] == "nDCG@10"]
    assert len(rows) == 5
    assert min(rows) > 0.9
    assert any("rankwell_app" in each for each in seen)
    printed = (
        "".join(capfd.readouterr())
        + results.render("json")
        + "".join(each.error for each in refused.failed)
        + "".join(seen)
    )
    written = [path.read_bytes() for path in (shop / "bench-results").rglob("*") if path.is_file()]
    for text in ("open sesame", "open%20sesame"):
        assert text not in printed
        assert not [each for each in written if text.encode() in each]
