"""Exact search against the matrix product alone, faiss and scikit-learn: python
benchmarks/search.py [--rounds 7] [--k 10]
    [--against REV]

All candidates take turns in one process, so that only the ratios of one round count; the median and
the best of the rounds are printed. The vectors are in memory before the clock starts. scikit-learn
and torch take two rounds at most. What is not installed is named and left out. The neighbours are
compared with those of faiss. --against REV races rankwell's candidates with those of an earlier
revision.
"""

import argparse
import importlib.util
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import revisions

from rankwell.vectors.neighbours import search

CASES = Path(__file__).resolve().parent / "cases"
# Items, dimensions, queries.
SIZES = ((10_000, 384, 10_000), (100_000, 384, 5_000))
BACKENDS = ("rankwell numpy", "rankwell numpy, unit vectors")
"""Those that are raced with an earlier revision."""
SLOW = ("rankwell torch", "scikit-learn and argsort")


def vectors(n: int, d: int) -> np.ndarray:
    return np.random.default_rng(11).standard_normal((n, d), dtype=np.float32)


def product(queries: np.ndarray, items: np.ndarray) -> None:
    """Blocks of products into one buffer, and nothing else."""
    rows, columns = 1024, 8192
    space = np.empty(rows * columns, dtype=np.float32)
    for start in range(0, len(items), columns):
        some = items[start : start + columns]
        for top in range(0, len(queries), rows):
            block = queries[top : top + rows]
            np.matmul(
                block, some.T, out=space[: len(block) * len(some)].reshape(len(block), len(some))
            )


def naive(queries: np.ndarray, items: np.ndarray, k: int) -> None:
    """scikit-learn's cosine_similarity and a whole argsort, 1,000 queries at a time or the matrix
    would not fit.
    """
    from sklearn.metrics.pairwise import cosine_similarity

    for top in range(0, len(queries), 1_000):
        similarity = cosine_similarity(queries[top : top + 1_000], items)
        np.argsort(similarity, axis=1)[:, ::-1][:, :k]


def flat(queries: np.ndarray, items: np.ndarray, k: int) -> None:
    import faiss

    faiss.knn(queries, items, k, metric=faiss.METRIC_INNER_PRODUCT)


def flat_cosine(n: int, items: np.ndarray, k: int) -> None:
    """The usual code with faiss for cosine: normalise a copy, search, and take out the query itself
    later.
    """
    import faiss

    unit = items.copy()
    faiss.normalize_L2(unit)
    faiss.knn(unit[:n].copy(), unit, k, metric=faiss.METRIC_INNER_PRODUCT)


def candidates(items: np.ndarray, n: int, k: int) -> dict[str, Callable[[], object]]:
    queries = items[:n].copy()
    unit = items / np.linalg.norm(items, axis=1, keepdims=True)
    queries = unit[:n].copy()
    found: dict[str, Callable[[], object]] = {
        "product alone": lambda: product(queries, unit),
        "rankwell numpy": lambda: search(queries, items, k=k, exclude="self"),
        "rankwell numpy, unit vectors": lambda: search(
            queries, unit, k=k, metric="dot", exclude="self"
        ),
    }
    if importlib.util.find_spec("faiss"):
        found["faiss.knn, unit vectors, k + 1"] = lambda: flat(queries, unit, k + 1)
        found["faiss.knn with its own normalising"] = lambda: flat_cosine(
            len(queries), items, k + 1
        )
        found["rankwell faiss"] = lambda: search(
            queries, items, k=k, exclude="self", backend="faiss"
        )
    if importlib.util.find_spec("torch"):
        found["rankwell torch"] = lambda: search(
            queries, items, k=k, exclude="self", backend="torch"
        )
    if importlib.util.find_spec("sklearn"):
        found["scikit-learn and argsort"] = lambda: naive(queries, items, k)
    return found


def differing(items: np.ndarray, n: int, k: int) -> str:
    """Number of lists of neighbours that are not those of faiss."""
    import faiss

    unit = items.copy()
    faiss.normalize_L2(unit)
    _, theirs = faiss.knn(unit[:n].copy(), unit, k + 1, metric=faiss.METRIC_INNER_PRODUCT)
    ours = search(items[:n].copy(), items, k=k, exclude="self").positions
    others = 0
    for place, (mine, each) in enumerate(zip(ours.tolist(), theirs.tolist(), strict=True)):
        others += mine != [row for row in each if row != place][:k]
    return f"lists that are not those of faiss: {others:,} of {n:,}"


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def race(size: tuple[int, int, int], rounds: int, k: int) -> None:
    n_items, dimensions, n = size
    items = vectors(n_items, dimensions)
    every = candidates(items, n, k)
    taken: dict[str, list[float]] = {name: [] for name in every}
    for number in range(rounds):
        for name, work in every.items():
            if number < 2 or name not in SLOW:
                taken[name].append(seconds(work))
    work = 2 * n_items * dimensions * n
    ours = taken["rankwell numpy, unit vectors"]
    print(f"\n{n_items:,} x {dimensions}, {n:,} queries, k = {k}, cosine, {rounds} rounds")
    print(
        f"{'':36}{'median s':>9}{'best s':>9}{'GFLOP/s':>9}  its time / ours on unit vectors: "
        "median, of the best"
    )
    for name, times in taken.items():
        ratios = median(each / own for each, own in zip(times, ours, strict=False))
        best = min(times)
        print(
            f"{name:36}{median(times):9.2f}{best:9.2f}{work / best / 1e9:9.0f}  {ratios:6.2f} "
            f"{best / min(ours):6.2f}"
        )
    if importlib.util.find_spec("faiss"):
        print(differing(items, n, k))


def mapped(k: int) -> None:
    """Time and largest resident memory of a process that searches a million memory-mapped
    vectors.
    """
    CASES.mkdir(exist_ok=True)
    path = CASES / "million.npy"
    if not path.exists():
        draft = np.lib.format.open_memmap(
            path.with_suffix(".part"), "w+", np.float32, (1_000_000, 128)
        )
        for start in range(0, 1_000_000, 100_000):
            draft[start : start + 100_000] = np.random.default_rng(start).standard_normal(
                (100_000, 128), dtype=np.float32
            )
        draft.flush()
        path.with_suffix(".part").replace(path)
    calls = {
        metric: f"search(items[:1000], items, k=k, metric='{metric}', exclude='self')"
        for metric in ("cosine", "dot", "l2")
    }
    if importlib.util.find_spec("faiss"):
        calls["faiss.knn, dot"] = (
            "faiss.knn(items[:1000].copy(), items, k + 1, metric=faiss.METRIC_INNER_PRODUCT)"
        )
    script = (
        "import sys, time, numpy as np\n"
        "{}\n"
        "items, k = np.load(sys.argv[1], mmap_mode='r'), int(sys.argv[2])\n"
        "start = time.perf_counter()\n"
        "{}\n"
        "taken = time.perf_counter() - start\n"
        "peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
        "print(taken, int(peak.split()[1]) / 1024)\n"
    )
    print("\n1,000,000 x 128 memory-mapped, 1,000 queries, whole process")
    for name, call in calls.items():
        code = script.format(
            "import faiss"
            if call.startswith("faiss")
            else "from rankwell.vectors.neighbours import search",
            call,
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(path), str(k)],
            capture_output=True,
            text=True,
            check=True,
        )
        taken, peak = map(float, done.stdout.split())
        print(f"{name:15} {taken:6.2f} s, {256e9 / taken / 1e9:4.0f} GFLOP/s, peak {peak:,.0f} MiB")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--against", metavar="REV")
    parser.add_argument(revisions.CASE, help=argparse.SUPPRESS)
    options = parser.parse_args()
    cases = {
        f"{backend}, {size[0]:,} x {size[1]}": (backend, size)
        for size in SIZES
        for backend in BACKENDS
    }
    if options.case:
        backend, (n_items, dimensions, n) = cases[options.case]
        items = vectors(n_items, dimensions)
        revisions.take_turns(candidates(items, n, options.k)[backend])
        return
    if options.against:
        revisions.race(__file__, cases, options.against, options.rounds, ["--k", str(options.k)])
        return
    for package in ("faiss", "torch", "sklearn"):
        if not importlib.util.find_spec(package):
            print(f"{package} is not installed and is left out")
    for size in SIZES:
        race(size, options.rounds, options.k)
    mapped(options.k)


if __name__ == "__main__":
    main()
