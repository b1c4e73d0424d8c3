"""Fusion of three runs of 6,980 queries × 1,000 items in memory, against ranx; the fused scores of
both are compared.

    python benchmarks/fuse.py [--queries 6980] [--depth 1000] [--turns 3]

ranx is optional; it is compiled before it is timed, and its runs are built before. It runs on all
processors, we on one. Times are the best of the turns, all in one process. Min-max of ranx differs
for lists in which all scores are the same, which are not among these; its Borda looks every item up
in a list, and takes minutes.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import rankwell

Scores = dict[str, dict[str, float]]
METHODS = {"rrf": (None, "rrf"), "combsum": ("min-max", "sum"), "combmnz": ("min-max", "mnz")}


def made(queries: int, depth: int) -> list[Scores]:
    """Three runs that share about half of their items; ids as in MS MARCO, no scores tied, whose
    order ranx leaves open.
    """
    runs: list[Scores] = [{} for _ in range(3)]
    for query in range(queries):
        random = np.random.default_rng(query)
        pool = [
            str(item)
            for item in random.choice(8_841_823, size=int(2.5 * depth), replace=False).tolist()
        ]
        for run in runs:
            own = random.permutation(len(pool))[:depth].tolist()
            scores = np.sort(random.gamma(2, 5, depth))[::-1].tolist()
            run[str(1_000_000 + query)] = {
                pool[item]: score for item, score in zip(own, scores, strict=True)
            }
    return runs


def ranx_fuse(runs: list[Scores]) -> Callable[[str], Any] | None:
    """ranx's fusion of these runs by a method of ours, compiled; None where it is not installed."""
    try:
        from ranx import Run, fuse
    except ImportError:
        return None
    theirs = [Run(run) for run in runs]
    few = [Run(dict(list(run.items())[:2])) for run in runs]

    def _fuse(method: str) -> Any:
        return fuse(theirs, norm=METHODS[method][0], method=METHODS[method][1])

    for norm, method in METHODS.values():
        fuse(few, norm=norm, method=method)
    return _fuse


def difference(ours: rankwell.Ranking, theirs: Any, queries: int) -> float:
    """The largest difference of a fused score in the first queries."""
    worst = 0.0
    for place, query in enumerate(ours.queries[:queries]):
        rows = slice(*ours.offsets[place : place + 2].tolist())
        other = theirs.run[query]
        pairs = zip(ours.items[rows], ours.scores[rows].tolist(), strict=True)
        worst = max(worst, *(abs(score - other[item]) for item, score in pairs))
    return worst


def main() -> None:
    """Lets all take turns and prints the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--queries", type=int, default=6980)
    parser.add_argument("--depth", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=3)
    given = parser.parse_args()
    runs = made(given.queries, given.depth)
    rankings = [rankwell.Ranking.from_dict(run) for run in runs]
    peer = ranx_fuse(runs)
    print(
        f"3 runs × {given.queries:,} queries × {given.depth:,} items, best of {given.turns} turns"
    )
    for method in METHODS:
        ours = theirs = float("inf")
        fused: Any = None
        other: Any = None
        for _ in range(given.turns):
            begin = time.perf_counter()
            fused = rankwell.fuse(rankings, method=method)
            ours = min(ours, time.perf_counter() - begin)
            if peer is not None:
                begin = time.perf_counter()
                other = peer(method)
                theirs = min(theirs, time.perf_counter() - begin)
        beside = "" if peer is None else f"  ranx {theirs:7.2f} s  {theirs / ours:6.1f}x"
        apart = (
            "" if peer is None else f"  scores differ by at most {difference(fused, other, 50):.1e}"
        )
        print(f"{method:8} rankwell {ours:7.2f} s, {len(fused.items):,} fused items{beside}{apart}")


if __name__ == "__main__":
    main()
