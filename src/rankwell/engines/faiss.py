"""Faiss in this process: exact search, inverted lists (IVF) and a graph (HNSW)."""

from typing import Any

import numpy as np

from rankwell.engines import (
    ENGINES,
    METRICS,
    EngineFamily,
    EngineHits,
    EngineItems,
    EngineQuery,
    MemoryEngine,
    MemorySession,
    Opening,
    Parameter,
    ParameterValues,
)
from rankwell.errors import BadInput, BadUsage


class _FaissSession(MemorySession):
    def __init__(self, engine: "_FaissEngine") -> None:
        super().__init__(engine)
        self._prepare, self._shape = engine.prepared, engine.shape
        suffix = "" if engine.shape == "flat" else engine.shape.upper()
        self._settings = getattr(engine.library, f"SearchParameters{suffix}")()

    def _search(self, query: EngineQuery, k: int) -> EngineHits:
        rows, settings = self._prepare(np.asarray(query.vector)[None]), self._settings
        if query.filter:
            # Kept until the search is over: the settings only point to it.
            self._selector = settings.sel = self.engine.library.IDSelectorBatch(
                np.array(self._items.matching(query.filter), dtype=np.int64)
            )
        try:
            scores, labels = self._index.search(rows, k, params=settings)
        finally:
            if query.filter:
                settings.sel = None
        numbers: list[int] = labels[0].tolist()
        if numbers[-1] < 0:  # -1 fills short lists
            numbers = numbers[: numbers.index(-1)]
        ids = self._ids
        return EngineHits([ids[row] for row in numbers], scores[0, : len(numbers)].tolist())

    def _configure(self, values: ParameterValues) -> None:
        for name, value in values.items():
            if {"nprobe": "ivf", "ef_search": "hnsw"}[name] != self._shape:
                raise BadUsage(
                    f"faiss: {name} has no effect on an index of the kind {self._shape}; "
                    "leave it out."
                )
            setattr(self._settings, {"nprobe": "nprobe", "ef_search": "efSearch"}[name], value)

    def _parameters(self) -> dict[str, Any]:
        if self._shape == "ivf":
            # More lists than there are count as all.
            return {"nprobe": min(int(self._settings.nprobe), int(self._index.nlist))}
        return {"ef_search": int(self._settings.efSearch)} if self._shape == "hnsw" else {}


class _FaissEngine(MemoryEngine):
    module, sessions = "faiss", _FaissSession

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening)
        self.shape: str = opening.build["index"]
        self.exact_parameters = {
            "flat": {},
            "ivf": {"nprobe": opening.build["nlist"]},
            "hnsw": None,
        }[self.shape]
        self.distances = self.metric == "l2"  # the others are similarities

    def _index(self, items: EngineItems) -> int:
        build, faiss = self.opening.build, self.library
        rows = self.prepared(items.vectors)
        n, dimensions = rows.shape
        if self.shape == "ivf" and n < build["nlist"]:
            raise BadInput(f"faiss: {build['nlist']} lists for {n} items; lower nlist.")
        metric = faiss.METRIC_L2 if self.metric == "l2" else faiss.METRIC_INNER_PRODUCT
        if self.shape == "hnsw":
            table = faiss.IndexHNSWFlat(dimensions, build["m"], metric)
            table.hnsw.efConstruction = build["ef_construction"]
        else:
            table = faiss.IndexFlat(dimensions, metric)
        if self.shape == "ivf":
            table = faiss.IndexIVFFlat(table, dimensions, build["nlist"], metric)
            table.cp.seed = build["seed"]
            # Faiss warns on standard output of few items per list.
            table.cp.min_points_per_centroid = 1
            table.train(rows)
        table.add(rows)
        self.loaded_index, self.items = table, items
        return self._size()

    def prepared(self, vectors: Any) -> Any:
        """The vectors as float32, of length one under cosine."""
        rows = np.ascontiguousarray(vectors, dtype=np.float32)
        if self.metric != "cosine":
            return rows
        wide = rows.astype(np.float64)
        return (wide / np.sqrt(np.einsum("ij,ij->i", wide, wide))[:, None]).astype(np.float32)

    def _size(self) -> int:
        sizes = list[int]()
        self.library.write_index(
            self.loaded_index, self.library.PyCallbackIOWriter(lambda part: sizes.append(len(part)))
        )
        return sum(sizes)


ENGINES.add(
    "faiss",
    EngineFamily(
        "faiss",
        "Faiss in this process: exact search, inverted lists (IVF), or a graph (HNSW)",
        ("vector",),
        _FaissEngine,
        connect=(
            Parameter(
                "metric", str, "cosine", "similarity; vectors are normalised for cosine", METRICS
            ),
        ),
        build=(
            Parameter("index", str, "flat", "kind of index", ("flat", "ivf", "hnsw")),
            Parameter("nlist", int, 256, "lists of ivf"),
            Parameter("m", int, 32, "links of an item, of hnsw"),
            Parameter("ef_construction", int, 40, "candidates while an item is linked, of hnsw"),
            Parameter("seed", int, 1234, "seed of the centroids of ivf"),
        ),
        search=(
            Parameter("nprobe", int, None, "lists that a search reads, of ivf; 1 by default"),
            Parameter("ef_search", int, None, "candidates of a search, of hnsw; 16 by default"),
        ),
        package="faiss-cpu",
        extra="engines",
    ),
)
