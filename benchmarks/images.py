"""Instance search at the size of CLICIDE: 165 queries among 3,245 references of 2,048 dimensions,
against a plain script.

    python benchmarks/instances.py [--turns 7] [--large 100000]

Vectors are made from a seed: 7 references per instance, queries that are noisy references. The
plain script
multiplies, sorts every row, and computes MP@1 and both MAPs in a loop over queries; its figures are
compared with ours. What is timed on our side is search, all measures of the convention, and what
the best reference names; start-up and loading are not.
The large case reads references from a memory-mapped file in a process of its own and prints the
most memory that the process had, mapped pages included.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from rankwell.data.matrices import Embeddings
from rankwell.tasks.images.images import ImageEntry, Images
from rankwell.tasks.images.task import evaluate_images

QUERIES, REFERENCES, DIMENSIONS, PER_INSTANCE = 165, 3245, 2048, 7


def make(references: int, seed: int = 2018) -> tuple[Images, Embeddings, Embeddings]:
    """Images with labels, the vectors of queries, and those of references."""
    random = np.random.default_rng(seed)
    n = references // PER_INSTANCE
    labels = random.permutation(np.arange(references) % n)
    centres = random.standard_normal((n, DIMENSIONS), dtype=np.float32)
    vectors = np.empty((references, DIMENSIONS), dtype=np.float32)
    for start in range(0, references, 4096):
        mine = labels[start : start + 4096]
        vectors[start : start + 4096] = centres[mine] + 3 * random.standard_normal(
            (len(mine), DIMENSIONS), dtype=np.float32
        )
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    chosen = random.choice(n, QUERIES, replace=False)
    vectors_of_queries = centres[chosen] + 8 * random.standard_normal(
        (QUERIES, DIMENSIONS), dtype=np.float32
    )
    vectors_of_queries /= np.linalg.norm(vectors_of_queries, axis=1, keepdims=True)
    pictures = [
        ImageEntry(f"r{row:07}", f"i{label}", "reference")
        for row, label in enumerate(labels.tolist())
    ]
    pictures += [
        ImageEntry(f"q{row:07}", f"i{label}", "query") for row, label in enumerate(chosen.tolist())
    ]
    return (
        Images.from_entries(pictures),
        Embeddings([f"q{row:07}" for row in range(QUERIES)], vectors_of_queries),
        Embeddings([f"r{row:07}" for row in range(references)], vectors),
    )


def plain_script(images: Images, queries: Embeddings, references: Embeddings) -> dict[str, float]:
    """The usual way: the whole product, a full sort of each row, and a loop."""
    shown = dict(zip(images.ids, images.instances, strict=True))
    labels = np.array([shown[name] for name in references.names()])
    scores = queries.vectors @ references.vectors.T
    order = np.argsort(-scores, axis=1)
    first, plain, trapezoid = [], [], []
    for row, name in enumerate(queries.names()):
        right = np.flatnonzero(labels[order[row]] == shown[name])
        found = np.arange(1, len(right) + 1)
        height = found / (right + 1)
        before = np.where(right > 0, (found - 1) / np.maximum(right, 1), 1.0)
        first.append(float(right[0] == 0))
        plain.append(height.mean())
        trapezoid.append(((height + before) / 2).mean())
    return {
        "MP@1": 100 * float(np.mean(first)),
        "MAP": 100 * float(np.mean(plain)),
        "MAP-trapezoid": 100 * float(np.mean(trapezoid)),
    }


def ours(images: Images, queries: Embeddings, references: Embeddings) -> dict[str, float]:
    """The same, with the other figures of the convention."""
    result = evaluate_images(
        images, query_vectors=queries, item_vectors=references, intervals="none"
    )
    return {row["label"]: row["mean"] for row in result.summary}


def large(folder: Path) -> None:
    """The large case, from files, in this process; prints what it took as JSON."""
    images, queries = _saved(folder)
    start = time.perf_counter()
    result = evaluate_images(
        images, query_vectors=queries, item_vectors=str(folder / "references.npy"), intervals="none"
    )
    taken = time.perf_counter() - start
    print(
        json.dumps({"seconds": taken, "peak_mib": _peak_mib(), "MP@1": result.summary[0]["mean"]})
    )


def _peak_mib() -> float:
    """The most memory that this process had; what `getrusage` says would count that of its parent,
    too.
    """
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _saved(folder: Path) -> tuple[Images, Embeddings]:
    labels = json.loads((folder / "labels.json").read_text())
    pictures = [
        ImageEntry(name, label, "query" if name.startswith("q") else "reference")
        for name, label in labels.items()
    ]
    vectors = np.load(folder / "queries.npy")
    return Images.from_entries(pictures), Embeddings(
        [f"q{row:07}" for row in range(len(vectors))], vectors
    )


def measure_large(references: int) -> dict[str, float]:
    """Writes the large case to files and runs it in a fresh process."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        images, queries, items = make(references)
        np.save(folder / "queries.npy", queries.vectors)
        np.save(folder / "references.npy", items.vectors)
        (folder / "references.ids.txt").write_text("".join(f"{each}\n" for each in items.names()))
        (folder / "labels.json").write_text(
            json.dumps(dict(zip(images.ids, images.instances, strict=True)))
        )
        del items
        command = [sys.executable, __file__, "--read", name]
        return json.loads(
            subprocess.run(
                command, check=True, capture_output=True, text=True, env=dict(os.environ)
            ).stdout
        )


def main() -> None:
    """Lets both sides take turns, prints times, the ratio and the figures; then the large case."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument(
        "--large", type=int, default=100_000, help="references of the large case; 0 leaves it out"
    )
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.read is not None:
        large(given.read)
        return
    inputs = make(REFERENCES)
    theirs, mine = plain_script(*inputs), ours(*inputs)
    for label, value in theirs.items():
        print(f"{label:14} {value:7.3f} by the plain script, {mine[label]:7.3f} by rankwell")
        if (
            abs(value - mine[label]) > 1e-3
        ):  # the script's order of nearly equal products is that of their rounding
            raise SystemExit(f"{label} differs")
    taken: dict[str, list[float]] = {"plain script": [], "rankwell": []}
    for _ in range(given.turns):
        for name, work in (("plain script", plain_script), ("rankwell", ours)):
            start = time.perf_counter()
            work(*inputs)
            taken[name].append(time.perf_counter() - start)
    middle = {name: statistics.median(each) for name, each in taken.items()}
    print(
        f"{QUERIES} queries x {REFERENCES} references x {DIMENSIONS}: "
        + ", ".join(f"{n} {t:.3f} s" for n, t in middle.items())
    )
    print(f"ratio {middle['plain script'] / middle['rankwell']:.2f}")
    if given.large:
        found = measure_large(given.large)
        print(
            f"{given.large} references, memory-mapped: {found['seconds']:.2f} s, at most "
            f"{found['peak_mib']:.0f} MiB"
        )


if __name__ == "__main__":
    main()
