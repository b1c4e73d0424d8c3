"""Chroma: a script plays its server, with exact distances; `make test-full` installs and asks the
real one.
"""

import contextlib
import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engines.environments import environment
from full_run import record
from oracles.vector_engines import nearest
from rankwell.engines import EngineFailure, EngineItems, EngineQuery, open_engine
from rankwell.errors import BadInput, BadUsage
from rankwell.tasks.engine.commands.engine_check import check
from scripted_server import Received, Reply, ScriptedServer

VECTORS = np.random.default_rng(4).normal(size=(60, 4)).astype(np.float32)
FIELDS = {"colour": ["red", "blue"] * 30, "size": [1, 2, 3] * 20}
ITEMS = EngineItems([f"d{row}" for row in range(60)], vectors=VECTORS, fields=FIELDS)


class Chroma:
    """The part of Chroma's interface that is used, over one collection, under l2."""

    def __init__(self, **forced: int) -> None:
        """forced: parameters of the index that it takes, and sets otherwise."""
        self.forced = forced
        self.collection: dict[str, Any] | None = None
        self.rows: list[tuple[str, list[float], dict[str, Any]]] = []

    def __call__(self, _: int, request: Received) -> Reply:
        last, body = request.path.rpartition("/")[2], request.body
        if last == "version":
            return Reply("1.0.0")
        if last == "pre-flight-checks":
            return Reply({"max_batch_size": 25})
        if last == "collections":
            graph = {**body["configuration"]["hnsw"], **self.forced}
            self.collection = {
                "id": "key",
                "name": body["name"],
                "dimension": 4,
                "configuration_json": {"hnsw": graph},
            }
            self.rows = []
        elif self.collection is None:
            return Reply({"error": "NotFoundError"}, status=404)
        elif last == "upsert":
            self.rows += zip(body["ids"], body["embeddings"], body["metadatas"], strict=True)
        elif last == "count":
            return Reply(len(self.rows))
        elif last == "query":
            return Reply(self.query(body))
        elif request.method == "DELETE":
            self.collection = None
            return Reply({})
        return Reply(self.collection)

    def query(self, body: Any) -> Any:
        where = body.get("where", {})
        wanted = [*where.get("$and", [where] if where else [])]
        kept = [
            row
            for row in self.rows
            if all(row[2][name] == value["$eq"] for each in wanted for name, value in each.items())
        ]
        query = body["query_embeddings"][0]
        distance = {
            item: sum((x - y) ** 2 for x, y in zip(vector, query, strict=True))
            for item, vector, _ in kept
        }
        best = sorted(distance, key=distance.__getitem__)[: body["n_results"]]
        return {"ids": [best], "distances": [[distance[item] for item in best]]}


QUERY = EngineQuery("q", vector=np.array([0.5, 1.0, -1.0, 0.25]))


def expected(rows: Any, k: int) -> list[str]:
    listed = [*rows]
    vectors = VECTORS[listed].astype(float).tolist()
    return [
        f"d{listed[row]}" for row in nearest(np.asarray(QUERY.vector).tolist(), vectors, "l2", k)
    ]


def test_its_own_collection_is_filled_in_batches_searched_and_dropped():
    chroma = Chroma()
    with ScriptedServer(chroma) as server:
        with open_engine(
            f"chroma:{server.url}", {"metric": "l2", "ef_search": 7, "m": 5}
        ) as engine:
            engine.index(ITEMS)
            with engine.session() as session:
                hits = session.search(QUERY, 5)
                both = EngineQuery("q", vector=QUERY.vector, filter={"colour": "red", "size": 1})
                filtered, described = session.search(both, 5), session.describe()
            graph = dict(chroma.collection["configuration_json"]["hnsw"])
        left = chroma.collection

    assert hits.ids == expected(range(60), 5)
    assert list(hits.scores) == sorted(hits.scores, reverse=True)
    assert filtered.ids == expected(range(0, 60, 6), 5)
    assert sum(each.path.endswith("/upsert") for each in server.received) == 3
    assert graph == {"space": "l2", "ef_construction": 100, "max_neighbors": 5, "ef_search": 7}
    assert (described["items"], described["search"], described["version"]) == (
        60,
        {"ef_search": 7},
        "Chroma 1.0.0",
    )
    assert left is None


def test_a_parameter_that_the_server_sets_otherwise_is_refused():
    with (
        ScriptedServer(Chroma(ef_search=64)) as server,
        open_engine(f"chroma:{server.url}", {"ef_search": 7}) as engine,
        pytest.raises(BadInput, match="ef_search was set to 7 and reads back as 64"),
    ):
        engine.index(ITEMS)


def test_a_collection_that_is_there_is_only_read(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CHROMA_TOKEN", "hunter2")
    chroma = Chroma()
    with ScriptedServer(chroma) as server:
        with open_engine(f"chroma:{server.url}", {"metric": "l2", "keep": True}) as engine:
            engine.index(ITEMS)
            name = engine.collection
        before = len(server.received)
        with open_engine(
            f"chroma:{server.url}", {"collection": name, "token": "${CHROMA_TOKEN}"}
        ) as engine:
            with engine.session() as session:
                assert session.search(QUERY, 3).ids == expected(range(60), 3)
                assert session.parameters() == {"ef_search": 100}
            with pytest.raises(BadUsage, match="only read"):
                engine.index(ITEMS)
            assert (engine.metric, engine.dimensions) == ("l2", 4)
            assert "hunter2" not in str(engine.describe())

    asked = server.received[before:]
    assert {
        (each.method, each.path.rpartition("/")[2]) for each in asked if each.method != "GET"
    } == {("POST", "query")}
    assert all(each.headers["x-chroma-token"] == "hunter2" for each in asked)


def test_what_the_server_does_wrong_or_the_user_leaves_out_is_named():
    with pytest.raises(BadUsage, match="no address"):
        open_engine("chroma")
    with ScriptedServer(Chroma()) as server:
        with pytest.raises(EngineFailure, match="HTTP 404") as absent:
            open_engine(f"chroma:{server.url}", {"collection": "absent"})
        with (
            open_engine(f"chroma:{server.url}") as engine,
            pytest.raises(BadInput, match="no items"),
        ):
            engine.index(EngineItems([], vectors=np.empty((0, 4))))
    chroma = Chroma()
    with ScriptedServer(chroma) as server, open_engine(f"chroma:{server.url}") as engine:
        engine.index(ITEMS)
        chroma.query = lambda body: {"ids": [["d0"]], "distances": [[None]]}
        with (
            engine.session() as session,
            pytest.raises(EngineFailure, match="a distance that is not a number"),
        ):
            session.search(QUERY, 1)
    with pytest.raises(EngineFailure) as refused:
        open_engine(f"chroma:{server.url}")

    assert (absent.value.kind, refused.value.kind) == ("status", "refused")


@pytest.fixture
def chroma_url(tmp_path: Path) -> Iterator[str]:
    """The address of a real server, in an environment of its own."""
    programs = environment("chroma", ["chromadb"], with_rankwell=False)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = ["run", "--host", "127.0.0.1", "--port", str(port), "--path", str(tmp_path / "data")]
    settings = {**os.environ, "ANONYMIZED_TELEMETRY": "FALSE", "HOME": str(tmp_path)}
    with (tmp_path / "chroma.log").open("wb") as log:
        server = subprocess.Popen(
            [str(programs / "chroma"), *words], stdout=log, stderr=log, env=settings
        )
    try:
        end = time.monotonic() + 60
        while True:
            with (
                contextlib.suppress(OSError),
                socket.create_connection(("127.0.0.1", port), timeout=1),
            ):
                break
            assert server.poll() is None, (tmp_path / "chroma.log").read_text()
            assert time.monotonic() < end, "60 s without an answer"
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(30)


@pytest.mark.slow
@pytest.mark.server
def test_a_real_server_meets_every_point_and_finds_nearly_all_of_the_nearest(chroma_url: str):
    points = json.loads(check(f"chroma:{chroma_url}", format="json").text)["rows"]
    assert [each for each in points if each["outcome"] == "failed"] == []
    with open_engine(f"chroma:{chroma_url}", {"metric": "l2", "ef_search": 60}) as engine:
        engine.index(ITEMS)
        with engine.session() as session:
            found = session.search(QUERY, 10).ids
        version = engine.describe()["version"]

    assert len(set(found) & set(expected(range(60), 10))) >= 9
    record(
        "chroma",
        {
            "chroma": version,
            "points": sum(each["outcome"] == "ok" for each in points),
            "items": len(ITEMS.ids),
        },
    )
