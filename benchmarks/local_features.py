"""Matching local features against OpenCV's own matcher: python benchmarks/local_features.py [--rounds 5] [--features 800]

Features are drawn: 60 of each picture are those of all, a little moved. The peer is what most code does: BFMatcher.knnMatch, the
ratio test in a loop, findHomography. All candidates take turns in one process, so that only the ratios of one round count; the
median of the rounds is printed. Threads and processes do the same rows; processes are started and fed before the clock.
"""

import argparse
import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from statistics import median

import cv2
import numpy as np
from threadpoolctl import threadpool_limits

from rankwell.kernels.threads import processors
from rankwell.systems.local_features import Features, LocalFeatures, Matched

QUERIES, REFERENCES, SHARED = 8, 40, 60
SYSTEM = LocalFeatures()
KNOWN: list[Features] = []


def drawn(features: int, n: int, seed: int) -> list[Features]:
    common, chance = np.random.default_rng(0), np.random.default_rng(seed)
    descriptors, points = common.random((SHARED, 128)), common.random((SHARED, 2)) * 600
    made = []
    for _ in range(n):
        numbers, places = chance.random((features, 128)), chance.random((features, 2)) * 600
        numbers[:SHARED] = descriptors + 0.05 * chance.random((SHARED, 128))
        places[:SHARED] = points + chance.normal(size=(SHARED, 2))
        rooted = np.sqrt(numbers / numbers.sum(axis=1, keepdims=True))
        made.append(Features(places.astype(np.float32), rooted.astype(np.float32)))
    return made


def prepare(references: list[Features]) -> None:
    KNOWN[:] = references
    cv2.setNumThreads(1)
    threadpool_limits(1)


def row(query: Features) -> list[Matched]:
    return [SYSTEM.match(query, reference) for reference in KNOWN]


def peer(query: Features) -> list[Matched]:
    found = []
    for reference in KNOWN:
        pairs = cv2.BFMatcher(cv2.NORM_L2).knnMatch(query.descriptors, reference.descriptors, k=2)
        taken = [(near.queryIdx, near.trainIdx) for near, next_ in pairs if near.distance < SYSTEM.ratio * next_.distance]
        if len(taken) < 4:
            found.append(Matched(len(taken), 0))
            continue
        starts, ends = (np.array(column) for column in zip(*taken, strict=True))
        mask = cv2.findHomography(query.points[starts], reference.points[ends], cv2.RANSAC, SYSTEM.reprojection)[1]
        found.append(Matched(len(taken), 0 if mask is None else int(mask.sum())))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--features", type=int, default=800)
    asked = parser.parse_args()
    references, queries = drawn(asked.features, REFERENCES, 1), drawn(asked.features, QUERIES, 2)
    prepare(references)
    workers = min(processors(), QUERIES)
    context = multiprocessing.get_context("spawn")
    with (
        ThreadPoolExecutor(workers) as threads,
        ProcessPoolExecutor(workers, mp_context=context, initializer=prepare, initargs=(references,)) as processes,
    ):
        candidates: dict[str, Callable[[], list[list[Matched]]]] = {
            "one thread": lambda: [row(query) for query in queries],
            f"{workers} threads": lambda: list(threads.map(row, queries)),
            f"{workers} processes": lambda: list(processes.map(row, queries)),
            "OpenCV's matcher, one thread": lambda: [peer(query) for query in queries],
        }
        list(processes.map(row, queries))
        times: dict[str, list[float]] = {name: [] for name in candidates}
        results = []
        for _ in range(asked.rounds):
            for name, candidate in candidates.items():
                begin = time.perf_counter()
                results.append(candidate())
                times[name].append(time.perf_counter() - begin)
    same = sum(each == results[0] for each in results)
    print(f"{QUERIES} x {REFERENCES} pairs of {asked.features} features; {same} of {len(results)} results are the same")
    base = times["one thread"]
    for name, seconds in times.items():
        ratio = median(one / other for one, other in zip(base, seconds, strict=True))
        print(f"{name:<30} {1000 * median(seconds) / (QUERIES * REFERENCES):8.3f} ms per pair   {ratio:5.2f} x")


if __name__ == "__main__":
    main()
