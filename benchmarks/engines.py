"""`rankwell engine run` beside a bare loop: python benchmarks/engines.py [--items 100000]
[--postgres URL] [--chroma URL] [-o DIR]

Each engine indexes the same structured vectors once. Then rankwell and a bare loop take turns over
all settings and engines, round after round: the bare loop calls the engine's own package, or sends
the request itself, on the same index. Printed are the microseconds that rankwell adds to the
median, those that a second bare loop with a connection of its own adds to the first (the noise),
and the median at recall .90, .95 and .99, interpolated, as a ratio to hnswlib by both. The first
round is left out. With -o the results are folders for `rankwell report`.

PostgreSQL with pgvector and Chroma are measured where --postgres and --chroma name one, the others
where they are installed.
"""

import argparse
import gc
import http.client
import importlib.util
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from rankwell.tasks.engine import loops, measuring
from rankwell.tasks.engine.evaluation import RetrieveEvaluation
from rankwell.tasks.engine.inputs import read_inputs
from rankwell.tasks.engine.options import EngineOptions
from rankwell.tasks.engine.task import write

K, DIMENSIONS, LATENT, QUERIES = 10, 64, 16, 200
VALUES = (10, 20, 40, 80, 160, 320)
TARGETS = (0.90, 0.95, 0.99)
Ask = Callable[[Any, int], Any]
"""(vector, value of the setting) -> what the engine returned, as ids and scores."""


def vectors(n: int, seed: int) -> NDArray[np.float32]:
    """Points of 200 clusters on a curved surface of 16 dimensions."""
    shape, own = np.random.default_rng(5), np.random.default_rng(seed)
    centres, first, second = (
        shape.normal(size=size) for size in ((200, LATENT), (LATENT, 128), (128, DIMENSIONS))
    )
    latent = 0.7 * centres[own.integers(0, 200, n)] + own.normal(size=(n, LATENT))
    return (
        np.tanh(latent @ first / 4) @ second / 10 + 0.02 * own.normal(size=(n, DIMENSIONS))
    ).astype(np.float32)


def hnswlib(engine: Any) -> Ask:
    graph, ids = engine.loaded_index, engine.items.ids

    def ask(vector: Any, value: int) -> Any:
        if graph.ef != value:
            graph.set_ef(value)
        labels, distances = graph.knn_query(vector, K, 1)
        return [ids[row] for row in labels[0].tolist()], distances[0].tolist()

    return ask


def faiss(engine: Any) -> Ask:
    table, ids, settings = (
        engine.loaded_index,
        engine.items.ids,
        engine.library.SearchParametersHNSW(),
    )

    def ask(vector: Any, value: int) -> Any:
        settings.efSearch = value
        distances, labels = table.search(vector[None], K, params=settings)
        return [ids[row] for row in labels[0].tolist()], distances[0].tolist()

    return ask


def qdrant(engine: Any) -> Ask:
    import qdrant_edge as edge  # pyright: ignore[reportMissingTypeStubs]

    package: Any = edge
    shard, ids = engine.store._opened(), engine.ids

    def ask(vector: Any, value: int) -> Any:
        nearest = package.Query.Nearest(vector.tolist())
        points = shard.search(
            package.SearchRequest(nearest, K, params=package.SearchParams(hnsw_ef=value))
        )
        return [ids[int(point.id)] for point in points], [point.score for point in points]

    return ask


def pgvector(engine: Any) -> Ask:
    import psycopg

    connection = psycopg.connect(engine.opening.connect["url"], autocommit=True)
    connection.execute("SELECT '[1]'::vector")
    statement: Any = (
        f"SELECT id, -(embedding <-> %s::vector) FROM {engine.table} ORDER BY embedding <-> "
        f"%s::vector LIMIT {K}"
    )
    now: list[int] = []

    def ask(vector: Any, value: int) -> Any:
        if now != [value]:
            connection.execute("SELECT set_config('hnsw.ef_search', %s, false)", (str(value),))
            now[:] = [value]
        text = "[" + ",".join(map(repr, vector.tolist())) + "]"
        rows = connection.execute(statement, (text, text)).fetchall()
        return [row[0] for row in rows], [row[1] for row in rows]

    return ask


def chroma(engine: Any) -> Ask:
    address = urlsplit(engine.opening.connect["url"])
    connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=30)

    def ask(vector: Any, _: int) -> Any:
        body = {"query_embeddings": [vector.tolist()], "n_results": K, "include": ["distances"]}
        connection.request(
            "POST",
            f"{engine.folder}/{engine.key}/query",
            json.dumps(body),
            {"Content-Type": "application/json"},
        )
        found = json.loads(connection.getresponse().read())
        return found["ids"][0], found["distances"][0]

    return ask


class Candidate(NamedTuple):
    """An engine: its name on the command line, its options, the parameter that is tried, and its
    bare loop.
    """

    name: str
    options: Mapping[str, Any]
    parameter: str
    bare: Callable[[Any], Ask]


def candidates(given: argparse.Namespace) -> list[Candidate]:
    """Those that are here. All build the same graph: 16 links, 100 candidates."""
    graph = {"metric": "l2", "m": 16}
    found: list[Candidate] = []
    if importlib.util.find_spec("hnswlib"):
        found.append(Candidate("hnswlib", {**graph, "ef_construction": 100}, "ef", hnswlib))
    if importlib.util.find_spec("faiss"):
        found.append(
            Candidate(
                "faiss", {**graph, "index": "hnsw", "ef_construction": 100}, "ef_search", faiss
            )
        )
    if importlib.util.find_spec("qdrant_edge"):
        found.append(
            Candidate("qdrant", {**graph, "url": "edge", "ef_construct": 100}, "hnsw_ef", qdrant)
        )
    if given.postgres:
        found.append(
            Candidate(
                "pgvector",
                {**graph, "url": given.postgres, "ef_construction": 100},
                "ef_search",
                pgvector,
            )
        )
    if given.chroma:
        found.append(
            Candidate(
                "chroma",
                {**graph, "url": given.chroma, "ef_construction": 100},
                "ef_search",
                chroma,
            )
        )
    return [each for each in found if not given.only or each.name in given.only]


class Run:
    """An engine in this process, asked in turns by rankwell and by its bare loop. bare: setting ->
    (rounds, queries) seconds.
    """

    def __init__(self, candidate: Candidate, options: EngineOptions) -> None:
        sweep = {candidate.parameter: list(VALUES)}
        self.name, self.parameter = candidate.name, candidate.parameter
        self.options = replace(options, option=dict(candidate.options), sweep=sweep)
        self.evaluation = RetrieveEvaluation(read_inputs(self.options), self.options)
        self.work = measuring.plan_work(candidate.name, self.evaluation.inputs, self.options, None)
        started = time.perf_counter()
        self.work.open()
        print(f"{self.name}: indexed in {time.perf_counter() - started:.0f} s", flush=True)
        engines: list[Any] = self.work.hosts[0]._engines  # pyright: ignore[reportAttributeAccessIssue, reportPrivateUsage]
        # One engine serves all values of a setting, or each value is a build of its own.
        copies = len(VALUES) if len(engines) == 1 else 1
        self.asks, self.again = (
            [candidate.bare(engine) for engine in engines] * copies for _ in range(2)
        )
        self.bare, self.second = (
            {place: list[list[float]]() for place in range(len(VALUES))} for _ in range(2)
        )

    def turn(self, rounds: Any, place: int) -> None:
        """A bare loop, rankwell at its next setting, the other bare loop; each asks all queries
        once before it is timed.
        """
        queries, value = self.evaluation.inputs.listed, VALUES[place]
        # In an order of its own, as rankwell asks: a bare loop over neighbouring rows has them in
        # its cache.
        rows: list[Any] = [
            queries[row].vector
            for row in np.random.default_rng(place).permutation(len(queries)).tolist()
        ]
        before = set(self.work.journal.batches)
        loops = [(self.asks[place], self.bare[place]), (self.again[place], self.second[place])]
        # Who goes first alternates: a server may serve the later ones faster.
        first, last = loops if len(self.bare[place]) % 2 else reversed(loops)
        measured(*first, rows, value)
        for vector in rows:
            self.asks[place](vector, value)
        next(rounds)
        if {place} != {setting for setting, _ in set(self.work.journal.batches) - before}:
            raise SystemExit("the settings were asked in another order than this benchmark expects")
        measured(*last, rows, value)

    def recalls(self, exact: NDArray[Any]) -> list[float]:
        """The recall of the bare loop at each setting."""
        rows = np.asarray(self.evaluation.inputs.queries.vectors)
        found: list[float] = []
        for ask, value in zip(self.asks, VALUES, strict=True):
            lists = [set(map(int, ask(vector, value)[0])) for vector in rows]
            found.append(
                float(
                    np.mean(
                        [
                            len(own & set(best)) / K
                            for own, best in zip(lists, exact.tolist(), strict=True)
                        ]
                    )
                )
            )
        return found


def measured(ask: Ask, times: list[list[float]], rows: list[Any], value: int) -> None:
    """Appends the seconds of each query to the times of a bare loop; before, all queries are asked
    once.
    """
    for vector in rows:
        ask(vector, value)
    found = list[float]()
    gc.disable()
    for vector in rows:
        sent = time.perf_counter()
        ask(vector, value)
        found.append(time.perf_counter() - sent)
    gc.enable()
    times.append(found)


def nearest(queries: NDArray[Any], items: NDArray[Any]) -> NDArray[Any]:
    """The exact rows, by squared distances."""
    own = (items.astype(np.float64) ** 2).sum(axis=1)
    found: list[Any] = []
    for start in range(0, len(queries), 50):
        some = queries[start : start + 50].astype(np.float64)
        found.append(np.argsort(own - 2 * some @ items.T.astype(np.float64), axis=1)[:, :K])
    return np.concatenate(found)


def at(target: float, recalls: list[float], times: list[float]) -> float:
    """The time at a recall, interpolated between settings in the logarithm of time; NaN outside of
    them.
    """
    for place in range(1, len(recalls)):
        low, high = recalls[place - 1], recalls[place]
        if low <= target <= high:
            share = 0.0 if high == low else (target - low) / (high - low)
            return float(
                np.exp((1 - share) * np.log(times[place - 1]) + share * np.log(times[place]))
            )
    return float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--postgres", help="postgresql://… of a database with pgvector")
    parser.add_argument("--chroma", help="http://… of a server of Chroma")
    parser.add_argument("--only", nargs="+", help="names of engines, by default all that are here")
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    measuring.ProcessHost = loops.LocalHost  # pyright: ignore[reportAttributeAccessIssue]
    items, queries = vectors(given.items, 1), vectors(QUERIES, 2)
    shared = EngineOptions(
        item_vectors={str(row): each for row, each in enumerate(items)},
        query_vectors={f"q{row}": each for row, each in enumerate(queries)},
        depth=K,
        rounds=given.rounds,
    )
    runs = [Run(each, shared) for each in candidates(given)]
    for number in range(1, given.rounds + 1):
        turns = [(run, run.work.round(number)) for run in runs]
        order = (
            np.random.Generator(np.random.PCG64([shared.seed, number]))
            .permutation(len(VALUES))
            .tolist()
        )
        for place in order:
            for run, rounds in turns:
                run.turn(rounds, place)
    report(runs, nearest(queries, items), given.output)


def report(runs: list[Run], exact: NDArray[Any], output: Path | None) -> None:
    """Prints both tables, and writes the folders."""
    both: dict[str, tuple[list[float], list[float]]] = {}
    print("\nengine      setting  recall    bare ms  rankwell ms  added us  noise us")
    for run in runs:
        taken = run.work.measurement()
        result = run.evaluation.results(taken)
        recalls, by_hand = (
            [float(row[f"Recall@{K}"]) for row in result.tables["settings"]],
            run.recalls(exact),
        )
        timed, bare = list[float](), list[float]()
        for place, value in enumerate(VALUES):
            kept = taken.rounds[1:]
            own = np.median(taken.by_setting[place].times(kept), axis=1)
            other, again = (np.median(each[place][1:], axis=1) for each in (run.bare, run.second))
            timed.append(1000 * float(np.median(own)))
            bare.append(1000 * float(np.median(other)))
            added, noise = (
                1e6 * float(np.median(each)) for each in (own - (other + again) / 2, again - other)
            )
            print(
                f"{run.name:10} {value:8} {recalls[place]:7.4f} {bare[-1]:10.4f} "
                f"{timed[-1]:12.4f} {added:9.2f} {noise:9.2f}"
            )
        both[run.name] = (
            [at(each, recalls, timed) for each in TARGETS],
            [at(each, by_hand, bare) for each in TARGETS],
        )
        if output is not None:
            output.mkdir(parents=True, exist_ok=True)
            write(result, output / run.name)
    print("\nmedian at a recall, as a ratio to hnswlib: rankwell, bare loop, their quotient")
    first = next(iter(both))
    for name, (timed, bare) in both.items():
        cells: list[str] = []
        for place, target in enumerate(TARGETS):
            one, other = timed[place] / both[first][0][place], bare[place] / both[first][1][place]
            cells.append(f"{target:.2f}: {one:7.2f} {other:7.2f} {one / other:6.3f}")
        print(f"{name:10} " + "   ".join(cells))
    for run in runs:
        run.work.close()


if __name__ == "__main__":
    main()
