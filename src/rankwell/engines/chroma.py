"""Chroma over HTTP, by its own interface of version 2; nothing to install here."""

import secrets
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import numpy as np

from rankwell.engines import (
    ENGINES,
    METRICS,
    SPACES,
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


class _ChromaEngine(Engine):
    in_process = False
    distances = True
    filters = True
    needs_items = True

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening)
        connect = opening.connect
        if not connect["url"]:
            raise BadUsage(
                "chroma: no address; write chroma:http://HOST:PORT, or the option "
                "url=http://HOST:PORT."
            )
        self.metric, self.can_index = connect["metric"], connect["collection"] is None
        self.collection: str = connect["collection"] or f"rankwell_{secrets.token_hex(6)}"
        tenant, database = quote(connect["tenant"], safe=""), quote(connect["database"], safe="")
        self.folder = f"/api/v2/tenants/{tenant}/databases/{database}/collections"
        self.key: str | None = None
        self._client = self.client()
        with self.guarding():
            self._version()  # a server that does not answer fails here
            if not self.can_index:
                try:
                    collection = self.read_collection(self._client)
                except BaseException:
                    self._client.close()
                    raise
                self.key, self.dimensions = collection["id"], collection["dimension"]
                metrics: Any = {name: metric for metric, name in SPACES.items()}
                self.metric = metrics.get(_graph(collection).get("space"), self.metric)

    def client(self) -> HttpClient:
        """A new connection to the server."""
        return HttpClient(self.opening.connect["url"], self.opening.connect["timeout"])

    def ask(self, client: HttpClient, method: str, path: str, body: Any = None) -> Any:
        """The answer of the server, with the token in the request."""
        token = self.opening.connect["token"]
        return client.json(method, path, body, {"x-chroma-token": token} if token else {})

    def read_collection(self, client: HttpClient) -> Mapping[str, Any]:
        """The collection, as the server describes it."""
        return self.ask(client, "GET", f"{self.folder}/{quote(self.collection, safe='')}")

    def _index(self, items: EngineItems) -> None:
        self._drop()
        build, client = self.opening.build, self._client
        graph = {
            "space": SPACES[str(self.metric)],
            "ef_construction": build["ef_construction"],
            "max_neighbors": build["m"],
            "ef_search": build["ef_search"],
        }
        collection = self.ask(
            client, "POST", self.folder, {"name": self.collection, "configuration": {"hnsw": graph}}
        )
        self.key = collection["id"]
        for name, value in _graph(collection).items():
            if graph.get(name, value) != value:
                raise BadInput(
                    f"{self.label}: {name} was set to {graph[name]!r} and reads back as {value!r}."
                )
        most = self.ask(client, "GET", "/api/v2/pre-flight-checks").get("max_batch_size", 1000)
        for rows, vectors, fields in items.batches(most):
            batch = {
                "ids": [items.ids[row] for row in rows],
                "embeddings": vectors,
                "metadatas": [values or None for values in fields],
            }
            self.ask(client, "POST", f"{self.folder}/{self.key}/upsert", batch)

    def _session(self) -> Session:
        self.built(self.key)
        return _ChromaSession(self)

    def _describe(self) -> dict[str, Any]:
        items, count = None, f"{self.folder}/{self.key}/count"
        if self.key is not None:
            items = self.stated("count", lambda: self.ask(self._client, "GET", count))
        return {"version": self._version(), "items": items}

    def _version(self) -> str | None:
        return self.stated(
            "version", lambda: f"Chroma {self.ask(self._client, 'GET', '/api/v2/version')}"
        )

    def _drop(self) -> None:
        if self.key is not None and self.can_index:
            self.ask(self._client, "DELETE", f"{self.folder}/{self.collection}")
        self.key = None

    def close(self) -> None:
        """Drops the collection, unless it is to be kept, and ends the connection."""
        if not self.opening.connect["keep"]:
            with self.guarding():
                self._drop()
        self._client.close()


def _graph(collection: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters of its index, as the server states them."""
    return (collection.get("configuration_json") or {}).get("hnsw") or {}


class _ChromaSession(Session):
    def __init__(self, engine: _ChromaEngine) -> None:
        super().__init__(engine)
        self._client = engine.client()
        self._path = f"{engine.folder}/{engine.key}"

    def _search(self, query: EngineQuery, k: int) -> EngineHits:
        conditions = [{name: {"$eq": value}} for name, value in (query.filter or {}).items()]
        body: dict[str, Any] = {
            "query_embeddings": [np.asarray(query.vector).tolist()],
            "n_results": k,
            "include": ["distances"],
        }
        if conditions:
            body["where"] = conditions[0] if len(conditions) == 1 else {"$and": conditions}
        answer = self.engine.ask(self._client, "POST", f"{self._path}/query", body)
        try:
            ids, distances = answer["ids"][0], answer["distances"][0]
        except (KeyError, IndexError, TypeError) as error:
            raise EngineFailure("malformed", "the answer has no ids or no distances.") from error
        if not all(isinstance(distance, (int, float)) for distance in distances):
            raise EngineFailure("malformed", "the answer has a distance that is not a number.")
        return EngineHits(ids, distances)

    def _parameters(self) -> dict[str, Any]:
        return {"ef_search": _graph(self.engine.read_collection(self._client)).get("ef_search")}

    def close(self) -> None:
        """Ends the connection of this session."""
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
            Parameter(
                "collection", str, None, "existing collection, only read; by default a new one"
            ),
            Parameter("tenant", str, "default_tenant", "tenant"),
            Parameter("database", str, "default_database", "database"),
            Parameter("metric", str, "cosine", "similarity of its own collection", METRICS),
            Parameter("keep", bool, False, "whether its own collection stays"),
            Parameter("timeout", float, 30.0, "seconds for an answer"),
        ),
        build=(
            Parameter("m", int, 16, "links of an item in each layer"),
            Parameter("ef_construction", int, 100, "candidates while an item is linked"),
            # A server keeps the value with which it opened the index: one that is set later is
            # stored, and not used.
            Parameter("ef_search", int, 100, "candidates of a search"),
        ),
    ),
)
