"""Work in parts against one process: python benchmarks/parts.py [--rounds 5] [--queries 2000]
[--dimensions 256] [--large]
    [--against REV]

Processor seconds of one thread, in this process for both, which take turns: starting an executor is
not counted. The median of the ratios is printed, and that of the least seconds, which other work on
the machine disturbs least; results are compared. --large adds shards of a million items. Last comes
the peak of memory of a command that only merges, with few and many queries. --against REV races
work in parts with that of an earlier revision.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import revisions

os.environ["RANKWELL_THREADS"] = "1"

import rankwell

# k, items of a shard, shards.
SHARDS = ((10, 10_000, 20), (10, 100_000, 2), (100, 100_000, 2))
LARGE = ((100, 1_000_000, 2),)
CAPTIONS = 20_000


def saved(path: Path, n: int, dimensions: int, seed: int) -> str:
    """A file of normal vectors, written in pieces."""
    rng, step = np.random.default_rng(seed), 100_000
    table = np.lib.format.open_memmap(path, "w+", np.float32, (n, dimensions))
    for start in range(0, n, step):
        table[start : start + step] = rng.standard_normal(
            (min(step, n - start), dimensions), dtype=np.float32
        )
    table.flush()
    return str(path)


def processor_seconds(work: Callable[[], str]) -> tuple[float, str]:
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def race(case: "Case", rounds: int) -> None:
    case.one()
    times: list[tuple[float, float]] = []
    for _ in range(rounds):
        (alone, expected), (divided, found) = (
            processor_seconds(case.one),
            processor_seconds(case.parts),
        )
        if found != expected:
            raise SystemExit(f"{case.name}: parts give another result")
        times.append((alone, divided))
    least = [min(column) for column in zip(*times, strict=True)]
    ratio = median(divided / alone for alone, divided in times)
    print(
        f"{case.name:66}{least[0]:8.2f}{least[1]:8.2f}{ratio:8.2f}{least[1] / least[0]:8.2f}",
        flush=True,
    )


class Case(NamedTuple):
    """Work of one process and the same work in parts; both give their result as text."""

    name: str
    one: Callable[[], str]
    parts: Callable[[], str]


def search(folder: Path, options: argparse.Namespace) -> Iterator[Case]:
    n, d = options.queries, options.dimensions
    queries = saved(folder / "queries.npy", n, d, 1)
    for k, size, shards in (*SHARDS, *(LARGE if options.large else ())):
        base = saved(folder / f"{size * shards}.npy", size * shards, d, 2)

        def _found(k: int = k, base: str = base, **parts: Any) -> str:
            lists = rankwell.knn(queries=queries, items=base, neighbours=k, **parts)
            return lists.positions.tobytes().hex() + lists.scores.tobytes().hex()

        name = f"search, k = {k}, {shards} shards of {size // 1000:,} k items, {n:,} queries x {d}"
        yield Case(name, _found, lambda shards=shards, found=_found: found(shards=shards))


def captions(folder: Path, options: argparse.Namespace) -> Iterator[Case]:
    videos = saved(folder / "videos.npy", CAPTIONS, options.dimensions, 3)
    texts = saved(folder / "captions.npy", CAPTIONS, options.dimensions, 4)
    table = np.load(texts)
    np.save(texts, np.load(videos) + 2 * table)

    def _found(**parts: Any) -> str:
        return repr(
            rankwell.evaluate_crossmodal(
                query_vectors=texts, item_vectors=videos, qrels="counts:1", **parts
            ).to_columns("per_query")
        )

    yield Case(
        f"captions, {CAPTIONS:,} of {CAPTIONS:,} videos, 2 shards x {options.dimensions}",
        _found,
        lambda: _found(shards=2),
    )


CASES = {"search": search, "captions": captions}


def peak(folder: Path, n: int) -> int:
    """MiB that a command takes at most whose parts are computed by another process."""
    base, queries = saved(folder / "few.npy", 20_000, 8, 5), saved(folder / "many.npy", n, 8, 6)
    words = ["search", base, queries, "-k", "20", "-o", str(folder / "lists.hdf5"), "--overwrite"]
    script = (
        "import sys\nfrom rankwell.cli import main\nmain()\n"
        "peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
        "print(int(peak.split()[1]) // 1024)\n"
    )
    command = [
        sys.executable,
        "-c",
        script,
        *words,
        "--executor",
        "processes:1",
        "--shards",
        "2",
        "--memory",
        "4G",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--dimensions", type=int, default=256)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--only", choices=["search", "captions", "peak"])
    parser.add_argument("--against", metavar="REV")
    parser.add_argument(revisions.CASE, help=argparse.SUPPRESS)
    options = parser.parse_args()
    chosen = [make for name, make in CASES.items() if options.only in (None, name)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.case:
            cases = {
                case.name: case
                for make in chosen
                if options.case.startswith(make.__name__)
                for case in make(folder, options)
            }
            revisions.take_turns(cases[options.case].parts)
            return
        if options.against:
            arguments = [
                f"--queries={options.queries}",
                f"--dimensions={options.dimensions}",
                *(["--large"] * options.large),
            ]
            names = [case.name for make in chosen for case in make(folder, options)]
            revisions.race(__file__, names, options.against, options.rounds, arguments)
            return
        print(f"{'processor seconds':66}{'one':>8}{'parts':>8}{'ratio':>8}{'least':>8}")
        for make in chosen:
            for case in make(folder, options):
                race(case, options.rounds)
        if options.only in (None, "peak"):
            few, many = peak(folder, 4000), peak(folder, 400_000)
            print(
                f"peak of the command that merges: {few} MiB at 4,000 queries, {many} MiB at "
                f"400,000: {many / few:.2f} times"
            )


if __name__ == "__main__":
    main()
