"""Qdrant's memory, Qdrant Edge with its real index, and a server that a script plays."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oracles.vector_engines import nearest
from rankwell.engines import EngineFailure, EngineItems, EngineQuery, open_engine
from rankwell.errors import BadInput, BadUsage
from scripted_server import Received, Reply, ScriptedServer

pytest.importorskip("qdrant_client")
RNG = np.random.default_rng(6)
VECTORS = RNG.normal(size=(600, 8)).astype(np.float32)
ITEMS = EngineItems(
    [f"d{row}" for row in range(600)], vectors=VECTORS, fields={"colour": ["red", "blue"] * 300}
)
QUERIES = [
    EngineQuery(f"q{row}", vector=vector) for row, vector in enumerate(RNG.normal(size=(8, 8)))
]
INDEXED = {"indexing_threshold": 1, "full_scan_threshold": 1}


def opened(url: str, **options: Any) -> Any:
    if url == "edge":
        pytest.importorskip("qdrant_edge")
    engine = open_engine(f"qdrant:{url}", options)
    engine.index(ITEMS)
    return engine


@pytest.mark.parametrize("metric", ["cosine", "dot", "l2"])
@pytest.mark.parametrize("url", [":memory:", "edge"])
def test_an_exact_search_finds_the_nearest(url: str, metric: str):
    with opened(url, metric=metric, **INDEXED) as engine, engine.session() as session:
        if url == "edge":
            session.configure({"exact": True})
        found = [session.search(query, 10) for query in QUERIES]

    rows = [
        nearest(
            np.asarray(query.vector, dtype=float).tolist(),
            VECTORS.astype(float).tolist(),
            metric,
            10,
        )
        for query in QUERIES
    ]
    assert [list(each.ids) for each in found] == [[f"d{row}" for row in listed] for listed in rows]
    assert all(list(each.scores) == sorted(each.scores, reverse=True) for each in found)


def test_the_index_of_edge_is_seen_and_its_setting_changes_the_results():
    with (
        opened("edge", m=4, ef_construct=8, **INDEXED) as engine,
        engine.session() as narrow,
        engine.session() as wide,
    ):
        narrow.configure({"hnsw_ef": 1})
        wide.configure({"hnsw_ef": 600})
        lists = [[set(each.search(query, 10).ids) for query in QUERIES] for each in (narrow, wide)]
        described = narrow.describe()

    shared = [len(one & other) for one, other in zip(*lists, strict=True)]
    assert described["items"] == 600
    assert described["indexed_vectors"] > 0
    assert described["uses_index"] is True
    assert described["search"] == {"hnsw_ef": 1, "exact": False, "indexed_only": False}
    assert min(shared) < 10


def test_edge_removes_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with opened("edge") as engine:
        report = engine.index(ITEMS)
        folders = [each.name for each in tmp_path.iterdir()]

    assert report.bytes > VECTORS.nbytes
    assert [name.startswith("rankwell_") for name in folders] == [True]
    assert [*tmp_path.iterdir()] == []


def test_the_memory_of_the_client_has_no_settings_and_takes_no_collection():
    with (
        opened(":memory:") as engine,
        engine.session() as session,
        pytest.raises(BadUsage, match="always searches exactly"),
    ):
        session.configure({"hnsw_ef": 10})
    with pytest.raises(BadUsage, match="needs the address of its server"):
        open_engine("qdrant", {"collection": "shop"})
    with pytest.raises(BadInput, match="no items"):
        open_engine("qdrant").index(EngineItems([], vectors=np.empty((0, 2))))


def collection(vectors: Any) -> dict[str, Any]:
    """What Qdrant's documentation shows of a collection."""
    params = {
        "vectors": vectors,
        "shard_number": 1,
        "replication_factor": 1,
        "write_consistency_factor": 1,
        "on_disk_payload": True,
    }
    config = {
        "params": params,
        "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10000},
        "optimizer_config": {
            "deleted_threshold": 0.2,
            "vacuum_min_vector_number": 1000,
            "default_segment_number": 0,
            "flush_interval_sec": 5,
        },
    }
    found = {
        "status": "green",
        "optimizer_status": "ok",
        "points_count": 2,
        "indexed_vectors_count": 0,
        "segments_count": 1,
        "config": config,
        "payload_schema": {},
    }
    return {"result": found, "status": "ok", "time": 0.001}


def server(vectors: Any = None, failing: bool = False) -> ScriptedServer:
    shape = {"size": 2, "distance": "Dot"} if vectors is None else vectors

    def answer(_: int, request: Received) -> Reply:
        if request.path.endswith("/points/query"):
            points = [{"id": 7, "version": 1, "score": 0.5, "payload": {"sku": "shoe"}}]
            return (
                Reply("broken", status=500)
                if failing
                else Reply({"result": {"points": points}, "status": "ok", "time": 0.001})
            )
        return Reply(collection(shape))

    return ScriptedServer(answer)


def test_a_collection_of_a_server_is_only_read_with_its_shape_and_ids(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("QDRANT_API_KEY", "hunter2")
    query = EngineQuery("q", vector=np.ones(2), filter={"colour": "red"})
    with server() as one:
        options = {"collection": "shop", "id_field": "sku", "hnsw_ef": 64}
        with open_engine(f"qdrant:{one.url}", options) as engine, engine.session() as session:
            hits, described = session.search(query, 3), session.describe()
            with pytest.raises(BadUsage, match="only read"):
                engine.index(ITEMS)

    [sent] = [each for each in one.received if each.path.endswith("/points/query")]
    assert (hits.ids, hits.scores) == (["shoe"], [0.5])
    assert sent.body["query"] == {"nearest": [1.0, 1.0]}
    assert sent.body["params"]["hnsw_ef"] == 64
    assert sent.body["filter"]["must"][0]["key"] == "colour"
    assert (engine.metric, engine.dimensions, described["uses_index"]) == ("dot", 2, False)
    assert {each.method for each in one.received} <= {"GET", "POST"}


def test_what_a_server_does_wrong_is_a_failure():
    query = EngineQuery("q", vector=np.ones(2))
    with server(failing=True) as one:
        engine = open_engine(f"qdrant:{one.url}", {"collection": "shop"})
        with engine, engine.session() as session, pytest.raises(EngineFailure) as broken:
            session.search(query, 3)
    with pytest.raises(EngineFailure) as refused:
        open_engine(f"qdrant:{one.url}", {"collection": "shop"})
    with server(
        {"text": {"size": 2, "distance": "Dot"}, "image": {"size": 3, "distance": "Dot"}}
    ) as several:
        with pytest.raises(BadUsage, match="has the vectors image, text"):
            open_engine(f"qdrant:{several.url}", {"collection": "shop"})
        with open_engine(
            f"qdrant:{several.url}", {"collection": "shop", "vector_name": "image"}
        ) as engine:
            assert engine.dimensions == 3

    assert (broken.value.kind, refused.value.kind) == ("status", "refused")
