"""Qdrant: a server, its client's memory (which searches exactly), or Qdrant Edge, the index of the
server in this process.
"""

import secrets
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.engines import (
    ENGINES,
    METRICS,
    Engine,
    EngineFailure,
    EngineFamily,
    EngineHits,
    EngineItems,
    EnginePlan,
    EngineQuery,
    FailureKind,
    Opening,
    Parameter,
    ParameterValues,
    Session,
)
from rankwell.errors import BadUsage

_DISTANCES = {"cosine": "Cosine", "dot": "Dot", "l2": "Euclid"}
_BATCH = 500


class _Client:
    """A collection of a server, or of the client's memory. The ids of its points are the rows of
    the items, or those of a foreign collection.
    """

    def __init__(self, engine: "_QdrantEngine", collection: str) -> None:
        self._engine, self._collection = engine, collection
        self._connect: ParameterValues = engine.opening.connect
        package = engine.family.need("qdrant_client")
        self._models = package.models
        if engine.is_memory:
            self._client = package.QdrantClient(":memory:")
            return
        self._client = package.QdrantClient(
            url=self._connect["url"],
            api_key=self._connect["api_key"] or None,
            timeout=max(1, round(self._connect["timeout"])),
            check_compatibility=False,
        )

    def create(self, items: EngineItems, metric: str, build: ParameterValues) -> None:
        """Makes the collection anew and writes the items in batches."""
        models = self._models
        shape = {name: build[name] for name in ("m", "ef_construct", "full_scan_threshold")}
        self._drop()
        self._client.create_collection(
            self._collection,
            vectors_config=models.VectorParams(
                size=np.asarray(items.vectors).shape[1],
                distance=models.Distance[_DISTANCES[metric].upper()],
            ),
            hnsw_config=models.HnswConfigDiff(**shape),
            optimizers_config=models.OptimizersConfigDiff(
                indexing_threshold=build["indexing_threshold"]
            ),
        )
        for rows, vectors, payloads in items.batches(_BATCH):
            self._client.upsert(
                self._collection,
                points=models.Batch(ids=[*rows], vectors=vectors, payloads=payloads),
                wait=True,
            )
        # A server goes on indexing after it has the points; searches meanwhile scan what is not
        # indexed.
        deadline = time.monotonic() + 3600
        while str(getattr(self._info().status, "value", "green")) != "green":
            if time.monotonic() > deadline:
                raise EngineFailure("timeout", "the collection is not indexed within an hour.")
            time.sleep(0.05)

    def _info(self) -> Any:
        return self._client.get_collection(self._collection)

    def _drop(self) -> None:
        if self._client.collection_exists(self._collection):
            self._client.delete_collection(self._collection)

    def points(self, query: EngineQuery, k: int, settings: ParameterValues) -> Sequence[Any]:
        """The k nearest points of those that pass the query's filter."""
        models, id_field = self._models, self._connect["id_field"]
        conditions = [
            models.FieldCondition(key=name, match=models.MatchValue(value=value))
            for name, value in (query.filter or {}).items()
        ]
        return self._client.query_points(
            self._collection,
            query=np.asarray(query.vector).tolist(),
            using=self._connect["vector_name"] or None,
            limit=k,
            query_filter=models.Filter(must=conditions) if conditions else None,
            search_params=models.SearchParams(**settings) if settings else None,
            with_payload=[id_field] if id_field else False,
        ).points

    def counts(self) -> tuple[int | None, int | None]:
        """The numbers of points and of indexed vectors, as the server states them."""
        info = self._info()
        return info.points_count, info.indexed_vectors_count

    def shape(self) -> tuple[int, str]:
        """Dimensions and metric of a foreign collection. Raises BadUsage where it has several
        vectors and none is named.
        """
        name, vectors = self._connect["vector_name"], self._info().config.params.vectors
        if isinstance(vectors, dict):
            if name not in vectors:
                vector_names = ", ".join(sorted(vectors))
                raise BadUsage(
                    f"qdrant: the collection has the vectors {vector_names}; name one with the "
                    "option vector_name=…."
                )
            vectors = vectors[name]
        metrics = {distance.upper(): metric for metric, distance in _DISTANCES.items()}
        return int(vectors.size), metrics.get(vectors.distance.name, "cosine")

    def close(self) -> None:
        """Drops an own collection, unless it is to be kept, and ends the connection."""
        if self._engine.can_index and not self._connect["keep"]:
            self._drop()
        self._client.close()


class _Edge:
    """A shard of Qdrant Edge in a folder of its own."""

    def __init__(self, engine: "_QdrantEngine") -> None:
        self._edge: Any = engine.family.need("qdrant_edge", "qdrant-edge-py")
        self._folder = Path(tempfile.mkdtemp(prefix="rankwell_"))
        self._shard: Any = None

    def create(self, items: EngineItems, metric: str, build: ParameterValues) -> int:
        """Makes the shard anew in its folder and writes the items in batches."""
        edge, size = self._edge, np.asarray(items.vectors).shape[1]
        self.close()
        self._folder.mkdir(exist_ok=True)
        config = edge.EdgeConfig(
            vectors=edge.EdgeVectorParams(size, getattr(edge.Distance, _DISTANCES[metric])),
            hnsw_config=edge.HnswIndexConfig(
                build["m"], build["ef_construct"], build["full_scan_threshold"]
            ),
            optimizers=edge.EdgeOptimizersConfig(indexing_threshold=build["indexing_threshold"]),
        )
        shard = edge.EdgeShard.create(str(self._folder), config)
        for batch in items.batches(_BATCH):
            shard.update(
                edge.UpdateOperation.upsert_points(
                    [edge.Point(*point) for point in zip(*batch, strict=True)]
                )
            )
        # Until then nothing is indexed: `indexed_only` finds nothing, and other searches scan
        # everything.
        shard.optimize()
        shard.flush()
        self._shard = shard
        return sum(file.stat().st_size for file in self._folder.rglob("*") if file.is_file())

    def points(self, query: EngineQuery, k: int, settings: ParameterValues) -> Sequence[Any]:
        """The k nearest points of those that pass the query's filter."""
        edge = self._edge
        conditions = [
            edge.FieldCondition(name, edge.MatchValue(value))
            for name, value in (query.filter or {}).items()
        ]
        request = edge.SearchRequest(
            edge.Query.Nearest(np.asarray(query.vector).tolist()),
            k,
            filter=edge.Filter(must=conditions) if conditions else None,
            params=edge.SearchParams(**settings),
        )
        return self._shard.search(request)

    def counts(self) -> tuple[int | None, int | None]:
        """The numbers of points and of indexed vectors; None where the shard is not open."""
        if self._shard is None:
            return None, None
        info = self._shard.info()
        return info.points_count, info.indexed_vectors_count

    def close(self) -> None:
        """Closes the shard and removes its folder."""
        if self._shard is not None:
            self._shard.close()
        self._shard = None
        shutil.rmtree(self._folder, ignore_errors=True)


class _QdrantEngine(Engine):
    filters = True
    needs_items = True

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening)
        url, collection = opening.connect["url"], opening.connect["collection"]
        self.metric = opening.connect["metric"]
        self.can_index, self.in_process = collection is None, url in (":memory:", "edge")
        if self.in_process and not self.can_index:
            raise BadUsage(
                "qdrant: an existing collection needs the address of its server, "
                "the option url=http://…."
            )
        self.is_memory = url == ":memory:"
        self.exact_parameters = {} if self.is_memory else {"exact": True}
        self.ids: Sequence[str] | None = None
        self.store: Any = None
        if url == "edge":
            self.store = _Edge(self)
        else:
            self.store = _Client(self, collection or f"rankwell_{secrets.token_hex(6)}")
        if not self.can_index:
            with self.guarding():
                self.dimensions, self.metric = self.store.shape()
        self.distances = self.metric == "l2"  # the others are similarities

    def _index(self, items: EngineItems) -> int | None:
        size = self.store.create(items, str(self.metric), self.opening.build)
        self.ids = items.ids
        return size

    def _session(self) -> Session:
        if self.can_index:
            self.built(self.ids)
        return _QdrantSession(self)

    def _describe(self) -> dict[str, Any]:
        points, indexed = None, None
        if self.ids is not None or not self.can_index:
            points, indexed = self.store.counts()
        return {"items": points, "indexed_vectors": indexed}

    def _failure_kind(self, error: BaseException) -> FailureKind:
        text = f"{type(error).__name__} {error}"
        if "UnexpectedResponse" in text:
            return "status"
        if "ResponseHandlingException" in text:
            if "timed out" in text:
                return "timeout"
            return "refused" if "refused" in text else "disconnected"
        return super()._failure_kind(error)

    def close(self) -> None:
        """Closes the store; a second call does nothing."""
        store, self.store, self.ids = self.store, None, None
        if store is not None:
            with self.guarding():
                store.close()


class _QdrantSession(Session):
    def __init__(self, engine: _QdrantEngine) -> None:
        super().__init__(engine)
        self._store, self._ids = engine.store, engine.ids
        if not engine.is_memory:
            self.settings = {"hnsw_ef": None, "exact": False, "indexed_only": False}

    def _search(self, query: EngineQuery, k: int) -> EngineHits:
        points = self._store.points(query, k, self.settings)
        id_field = self.engine.opening.connect["id_field"]
        if self._ids is not None:
            ids = [self._ids[int(point.id)] for point in points]
        else:
            ids = [str(point.payload[id_field] if id_field else point.id) for point in points]
        return EngineHits(ids, [point.score for point in points])

    def _configure(self, values: ParameterValues) -> None:
        if not self.settings:
            raise BadUsage(
                "qdrant: the client's memory always searches exactly and has no search "
                "parameters; leave them out."
            )
        super()._configure(values)

    def _plan(self) -> EnginePlan | None:
        points, indexed = self._store.counts()
        if not self.settings or indexed is None or points is None:
            return None
        return EnginePlan(
            f"{indexed} of {points} vectors are in an index",
            bool(indexed) and not self.settings["exact"],
        )


ENGINES.add(
    "qdrant",
    EngineFamily(
        "qdrant",
        "Qdrant: a server, its client's memory (exact), or Qdrant Edge in this process",
        ("vector",),
        _QdrantEngine,
        connect=(
            Parameter(
                "url",
                str,
                ":memory:",
                "address of the server, :memory: for the client's, or edge for Qdrant Edge",
            ),
            Parameter("api_key", str, "", "key of the server, as in ${QDRANT_API_KEY}"),
            Parameter(
                "collection", str, None, "existing collection, only read; by default a new one"
            ),
            Parameter(
                "vector_name", str, "", "vector to search by, where the collection has several"
            ),
            Parameter(
                "id_field",
                str,
                "",
                "field of the payload that holds the ids; by default the points' ids",
            ),
            Parameter("metric", str, "cosine", "similarity of its own collection", METRICS),
            Parameter("keep", bool, False, "whether its own collection stays on the server"),
            Parameter("timeout", float, 30.0, "seconds for an answer, at least 1"),
        ),
        build=(
            Parameter("m", int, 16, "links of an item in each layer"),
            Parameter("ef_construct", int, 100, "candidates while an item is linked"),
            Parameter(
                "full_scan_threshold",
                int,
                10_000,
                "kilobytes of vectors below which a segment is scanned",
            ),
            Parameter(
                "indexing_threshold",
                int,
                10_000,
                "kilobytes of vectors from which a segment is indexed",
            ),
        ),
        search=(
            Parameter("hnsw_ef", int, None, "candidates of a search; ef_construct by default"),
            Parameter("exact", bool, None, "whether the search scans everything"),
            Parameter(
                "indexed_only", bool, None, "whether the search leaves out what is not indexed yet"
            ),
        ),
        package="qdrant-client",
        extra="qdrant",
    ),
)
