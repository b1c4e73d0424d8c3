"""Chroma over HTTP, by its own interface of version 2; nothing to install here."""

import secrets
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import numpy as np

from rankwell.core.kernels.similarity import Metric
from rankwell.engines import (
    ENGINES,
    Engine,
    EngineFailure,
    EngineFamily,
    EngineHits,
    EngineItems,
    EngineQuery,
    Opening,
    Parameter,
    Session,
)
from rankwell.engines.http_client import HttpClient
from rankwell.errors import BadInput, BadUsage

_SPACES: Mapping[Metric, str] = {"cosine": "cosine", "dot": "ip", "l2": "l2"}


class _ChromaEngine(Engine):
    in_process = False
    filters = True

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening)
        where = opening.connect
        if not where["url"]:
            raise BadUsage("chroma: no address; write chroma:http://HOST:PORT, or --option url=http://HOST:PORT.")
        self.metric, self.can_index = where["metric"], where["collection"] is None
        self.collection: str = where["collection"] or f"rankwell_{secrets.token_hex(6)}"
        self.folder = (
            f"/api/v2/tenants/{quote(where['tenant'], safe='')}/databases/{quote(where['database'], safe='')}/collections"
        )
        self.ef_search: int | None = None
        self.key: str | None = None
        self._client = self.client()
        with self.guarding():
            self._version = str(self.ask(self._client, "GET", "/api/v2/version"))
            if not self.can_index:
                try:
                    self._read_shape(self.ask(self._client, "GET", f"{self.folder}/{quote(self.collection, safe='')}"))
                except BaseException:
                    self._client.close()
                    raise

    def client(self) -> HttpClient:
        """A connection of its own."""
        return HttpClient(self.opening.connect["url"], self.opening.connect["timeout"])

    def ask(self, client: HttpClient, method: str, path: str, body: Any = None) -> Any:
        """The answer of the server, with the token in the request."""
        token = self.opening.connect["token"]
        return client.json(method, path, body, {"x-chroma-token": token} if token else {})

    def _read_shape(self, found: Mapping[str, Any]) -> None:
        self.key, self.dimensions = found["id"], found["dimension"]
        graph = (found.get("configuration_json") or {}).get("hnsw") or {}
        known: list[Metric] = [metric for metric, space in _SPACES.items() if space == graph.get("space")]
        self.metric = known[0] if known else self.metric

    def _index(self, items: EngineItems) -> None:
        if not items.ids:
            raise BadInput("chroma: there are no items to index.")
        self._drop()
        build, client, vectors = self.opening.build, self._client, np.asarray(items.vectors)
        graph = {
            "space": _SPACES[self.metric or "cosine"],
            "ef_construction": build["ef_construction"],
            "max_neighbors": build["m"],
        }
        made = self.ask(client, "POST", self.folder, {"name": self.collection, "configuration": {"hnsw": graph}})
        self.key, self.ef_search = made["id"], None
        most = self.ask(client, "GET", "/api/v2/pre-flight-checks").get("max_batch_size", 1000)
        for start in range(0, len(vectors), most):
            rows = range(start, min(start + most, len(vectors)))
            fields = [{name: values[row] for name, values in items.fields.items()} or None for row in rows]
            batch = {
                "ids": [items.ids[row] for row in rows],
                "embeddings": vectors[start : rows.stop].tolist(),
                "metadatas": fields,
            }
            self.ask(client, "POST", f"{self.folder}/{self.key}/upsert", batch)

    def _session(self) -> Session:
        self.built(self.key)
        return _ChromaSession(self)

    def _describe(self) -> dict[str, Any]:
        count = None if self.key is None else self.ask(self._client, "GET", f"{self.folder}/{self.key}/count")
        return {"version": f"Chroma {self._version}", "items": count}

    def _drop(self) -> None:
        if self.key is not None and self.can_index:
            self.ask(self._client, "DELETE", f"{self.folder}/{self.collection}")
        self.key = None

    def close(self) -> None:
        if not self.opening.connect["keep"]:
            with self.guarding():
                self._drop()
        self._client.close()


class _ChromaSession(Session):
    def __init__(self, engine: _ChromaEngine) -> None:
        super().__init__(engine)
        self._chroma, self._client = engine, engine.client()
        self._path = f"{engine.folder}/{engine.key}"
        self._ef_search: int | None = None

    def _search(self, query: EngineQuery, k: int) -> EngineHits:
        self._set_ef_search()
        conditions = [{name: {"$eq": value}} for name, value in (query.filter or {}).items()]
        body: dict[str, Any] = {"query_embeddings": [np.asarray(query.vector).tolist()], "n_results": k, "include": ["distances"]}
        if conditions:
            body["where"] = conditions[0] if len(conditions) == 1 else {"$and": conditions}
        found = self._chroma.ask(self._client, "POST", f"{self._path}/query", body)
        try:
            ids, distances = found["ids"][0], found["distances"][0]
        except (KeyError, IndexError, TypeError) as error:
            raise EngineFailure("malformed", "the answer has no ids or no distances.") from error
        return EngineHits(ids, [0.0 - each for each in distances])

    def _set_ef_search(self) -> None:
        """The collection has one ef_search for all sessions; this one's applies while it searches."""
        if self._ef_search is not None and self._chroma.ef_search != self._ef_search:
            body = {"new_configuration": {"hnsw": {"ef_search": self._ef_search}}}
            self._chroma.ask(self._client, "PUT", self._path, body)
            self._chroma.ef_search = self._ef_search

    def _configure(self, values: Mapping[str, Any]) -> None:
        if not self._chroma.can_index:
            raise BadUsage(f"{self._chroma.label}: ef_search is a setting of the collection, which is only read; leave it out.")
        self._ef_search = values["ef_search"]

    def _parameters(self) -> dict[str, Any]:
        self._set_ef_search()
        found = self._chroma.ask(self._client, "GET", f"{self._chroma.folder}/{quote(self._chroma.collection, safe='')}")
        value = ((found.get("configuration_json") or {}).get("hnsw") or {}).get("ef_search")
        # What the server chose is this session's, too.
        self._ef_search = value if self._ef_search is None and self._chroma.can_index else self._ef_search
        return {"ef_search": value}

    def close(self) -> None:
        self._client.close()


ENGINES.add(
    "chroma",
    EngineFamily(
        "chroma",
        "Chroma, a server over HTTP",
        ("vector",),
        _ChromaEngine,
        connect=(
            Parameter("url", str, "", "address of the server"),
            Parameter("token", str, "", "token of the server, as in ${CHROMA_TOKEN}"),
            Parameter("collection", str, None, "collection that is there, only read; by default one of its own"),
            Parameter("tenant", str, "default_tenant", "tenant"),
            Parameter("database", str, "default_database", "database"),
            Parameter("metric", str, "cosine", "similarity of its own collection", ("cosine", "dot", "l2")),
            Parameter("keep", bool, False, "whether its own collection stays"),
            Parameter("timeout", float, 30.0, "seconds for an answer"),
        ),
        build=(
            Parameter("m", int, 16, "links of an item in each layer"),
            Parameter("ef_construction", int, 100, "candidates while an item is linked"),
        ),
        search=(Parameter("ef_search", int, None, "candidates of a search; 100 by default"),),
    ),
)
