"""hnswlib: an approximate index, a hierarchical navigable small world, in this process."""

from typing import Any

import numpy as np

from rankwell.engines import (
    ENGINES,
    METRICS,
    SPACES,
    EngineFamily,
    EngineHits,
    EngineItems,
    EngineQuery,
    MemoryEngine,
    MemorySession,
    Parameter,
    ParameterValues,
)


class _HnswSession(MemorySession):
    def __init__(self, engine: Any) -> None:
        super().__init__(engine)
        self._ef = int(self._index.ef)

    def _search(self, query: EngineQuery, k: int) -> EngineHits:
        # Every call and every step through NumPy counts beside a search of some microseconds.
        graph, ids = self._index, self._ids
        if graph.ef != self._ef:
            self._set_ef()
        if k > len(ids):
            k = len(ids)
        if query.filter:
            rows = set(self._items.matching(query.filter))
            if not rows:
                return EngineHits([], [])
            neighbours = graph.knn_query(query.vector, min(k, len(rows)), 1, rows.__contains__)
        else:
            neighbours = graph.knn_query(query.vector, k, 1)
        labels: list[int] = neighbours[0].tolist()[0]
        return EngineHits([ids[label] for label in labels], neighbours[1].tolist()[0])

    def _set_ef(self) -> None:
        """The index has one ef for all sessions; this one's applies while it searches."""
        if self._index.ef != self._ef:
            self._index.set_ef(self._ef)

    def _configure(self, values: ParameterValues) -> None:
        self._ef = values["ef"]
        self._set_ef()

    def _parameters(self) -> dict[str, Any]:
        self._set_ef()
        return {"ef": int(self._index.ef)}


class _HnswEngine(MemoryEngine):
    module, sessions = "hnswlib", _HnswSession
    distances = True

    def _index(self, items: EngineItems) -> int:
        vectors, build = np.asarray(items.vectors), self.opening.build
        graph = self.library.Index(space=SPACES[str(self.metric)], dim=vectors.shape[1])
        graph.init_index(
            max_elements=len(vectors),
            M=build["m"],
            ef_construction=build["ef_construction"],
            random_seed=build["seed"],
        )
        graph.add_items(vectors, np.arange(len(vectors)), num_threads=build["threads"])
        self.loaded_index, self.items = graph, items
        return self._size()

    def _size(self) -> int:
        return int(self.loaded_index.index_file_size())


ENGINES.add(
    "hnswlib",
    EngineFamily(
        "hnswlib",
        "An approximate index of vectors in this process: a hierarchical navigable small world",
        ("vector",),
        _HnswEngine,
        connect=(Parameter("metric", str, "cosine", "similarity", METRICS),),
        build=(
            Parameter("m", int, 16, "links of an item in each layer"),
            Parameter("ef_construction", int, 200, "candidates while an item is linked"),
            Parameter("seed", int, 100, "seed of the layers"),
            Parameter(
                "threads", int, 1, "threads of the build; with more than one each build differs"
            ),
        ),
        search=(
            Parameter(
                "ef", int, 10, "candidates of a search; where it is below k, k candidates are taken"
            ),
        ),
        package="hnswlib",
        extra="engines",
    ),
)
