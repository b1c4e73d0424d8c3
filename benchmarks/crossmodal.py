"""Ranks of positives against sorting every row: python benchmarks/captions.py [--rounds 5]
[--large] [--against REV]

The peer is the way of most papers' code: argsort of each row, then where each positive stands; it
is timed on the first rows and scaled to all of them. All candidates take turns in one process, so
that only the ratios of one round count; the median of the rounds is printed. --large also compares
100,000 captions with 100,000 videos, in a process of its own with its peak of memory. --against REV
races rankwell's candidates with those of an earlier revision.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median

import numpy as np
import revisions

from rankwell._native.matrix_counts import ComparedScores
from rankwell.data.matrices import Embeddings, Positives, Scores
from rankwell.vectors.neighbours import BACKENDS
from rankwell.vectors.neighbours.positive_counts import by_vectors

N, DIMENSIONS, TIMED = 20_000, 512, 400


def vectors(n: int, d: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d), dtype=np.float32)


def unit(table: np.ndarray) -> np.ndarray:
    return table / np.linalg.norm(table, axis=1, keepdims=True)


def positives(n: int, each: int) -> Positives:
    items = (np.arange(n)[:, None] + np.arange(each) * 991) % n
    return Positives.of(np.repeat(np.arange(n), each), items.ravel(), n, n)


def sorting(scores: np.ndarray, right: Positives) -> np.ndarray:
    """The rank of the best positive of the first rows, as eval_q2m of hgr_v2t finds it."""
    ranks = np.empty(TIMED, dtype=np.int64)
    for row in range(TIMED):
        order = np.argsort(-scores[row])
        items = right.items[right.offsets[row] : right.offsets[row + 1]]
        ranks[row] = min(np.where(order == item)[0][0] for item in items)
    return ranks + 1


def counting(
    scores: Scores, right: Positives, *, best: bool, transposed: bool = False
) -> np.ndarray:
    found = ComparedScores(scores).count(right, transposed=transposed, best=best)
    return found.above + found.before + 1


def product(queries: np.ndarray, items: np.ndarray) -> None:
    """The same blocks as are multiplied for the counts, into one buffer, and nothing else."""
    rows, columns = BACKENDS["numpy"].query_block, BACKENDS["numpy"].item_block
    space = np.empty(rows * columns, dtype=np.float32)
    for start in range(0, len(items), columns):
        some = items[start : start + columns]
        for top in range(0, len(queries), rows):
            block = queries[top : top + rows]
            np.matmul(
                block, some.T, out=space[: len(block) * len(some)].reshape(len(block), len(some))
            )


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def race(candidates: "Candidates", rounds: int, title: str, base: str) -> None:
    taken: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, (work, scale) in candidates.items():
            taken[name].append(scale * seconds(work))
    print(
        f"\n{title}, {rounds} rounds\n{'':44}{'median s':>9}  time of {base!r} / its time: median"
    )
    for name, times in taken.items():
        ratio = median(reference / own for reference, own in zip(taken[base], times, strict=True))
        print(f"{name:44}{median(times):9.2f}  {ratio:6.2f}")


Candidates = dict[str, tuple[Callable[[], object], float]]
"""By name: the work, and the factor by which its time is scaled to the whole task."""


def matrix() -> Scores:
    table = np.empty((N, N), dtype=np.float32)
    np.matmul(unit(vectors(N, 64, 1)), unit(vectors(N, 64, 2)).T, out=table)
    return Scores(table)


def of_matrix(scores: Scores, each: int) -> Candidates:
    right = positives(N, each)
    turned = right.transposed
    return {
        f"argsort and where ({TIMED} rows, scaled)": (
            lambda: sorting(scores.matrix, right),
            N / TIMED,
        ),
        "rankwell, best positive, rows are queries": (
            lambda: counting(scores, right, best=True),
            1.0,
        ),
        "rankwell, best positive, columns are queries": (
            lambda: counting(scores, turned, best=True, transposed=True),
            1.0,
        ),
        "rankwell, every positive, rows are queries": (
            lambda: counting(scores, right, best=False),
            1.0,
        ),
    }


def matrices(rounds: int) -> None:
    scores = matrix()
    for each in (1, 20):
        right = positives(N, each)
        assert (sorting(scores.matrix, right) == first_ranks(scores, right)).all(), (
            "the two disagree"
        )
        title = f"{N:,} x {N:,} float32, {each} positive{'s' if each > 1 else ''} per query"
        race(of_matrix(scores, each), rounds, title, f"argsort and where ({TIMED} rows, scaled)")


def first_ranks(scores: Scores, right: Positives) -> np.ndarray:
    found = ComparedScores(scores).count(right, transposed=False, best=True)
    ranks = np.full(right.n_queries, scores.matrix.shape[1] + 1)
    np.minimum.at(ranks, right.owner[found.positions], found.above + found.before + 1)
    return ranks[:TIMED]


def of_embeddings() -> Candidates:
    captions, videos = unit(vectors(N, DIMENSIONS, 3)), unit(vectors(N, DIMENSIONS, 4))
    compared = by_vectors(Embeddings(None, captions), Embeddings(None, videos), "dot")
    right = positives(N, 1)
    return {
        "product alone, same blocks": (lambda: product(captions, videos), 1.0),
        "rankwell, ranks from embeddings": (
            lambda: compared.count(right, transposed=False, best=True, order=None, progress=None),
            1.0,
        ),
    }


def embeddings(rounds: int) -> None:
    race(
        of_embeddings(),
        rounds,
        f"{N:,} x {N:,} from embeddings of {DIMENSIONS} numbers",
        "product alone, same blocks",
    )


REVISION_CASES: dict[str, Callable[[], Candidates]] = {
    "rankwell, best positive, rows are queries": lambda: of_matrix(matrix(), 1),
    "rankwell, best positive, columns are queries": lambda: of_matrix(matrix(), 1),
    "rankwell, every positive, rows are queries": lambda: of_matrix(matrix(), 20),
    "rankwell, ranks from embeddings": of_embeddings,
}


def alone(n: int, d: int) -> None:
    """Time and largest resident memory of a process that ranks from embeddings."""
    script = (
        "import sys, time, numpy as np\n"
        "from rankwell.vectors.neighbours.positive_counts import by_vectors\n"
        "from rankwell.data.matrices import Embeddings, Positives\n"
        "n, d = map(int, sys.argv[1:])\n"
        "tables = [Embeddings(None, np.random.default_rng(s).standard_normal((n, d), "
        "dtype=np.float32)) for s in (3, 4)]\n"
        "start = time.perf_counter()\n"
        "by_vectors(*tables, 'cosine').count(Positives.diagonal(n, n), transposed=False, "
        "best=True, order=None, progress=None)\n"
        "taken = time.perf_counter() - start\n"
        "peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
        "print(taken, int(peak.split()[1]) / 1024)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(n), str(d)], capture_output=True, text=True, check=True
    )
    taken, peak = map(float, done.stdout.split())
    print(
        f"{n:,} x {n:,} from embeddings of {d} numbers, one direction: {taken:.1f} s, peak of "
        f"the process {peak:,.0f} MiB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--against", metavar="REV")
    parser.add_argument(revisions.CASE, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case:
        revisions.take_turns(REVISION_CASES[options.case]()[options.case][0])
        return
    if options.against:
        revisions.race(__file__, REVISION_CASES, options.against, options.rounds)
        return
    matrices(options.rounds)
    embeddings(options.rounds)
    print()
    alone(N, DIMENSIONS)
    if options.large:
        alone(100_000, 128)


if __name__ == "__main__":
    main()
