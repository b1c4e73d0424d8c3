"""Runs in eight parts beside one process: python benchmarks/runs_in_parts.py prints processor time,
and the peak of what merges.

A run of 8 million rows, a thousand a query, ten judged items each, lies in one file, in eight files
by query, and in eight files over which every query is scattered. All evaluations run in this
process, so that no start of a worker counts. For peaks, 4,000 and 400,000 queries with ten rows and
one judged item each are merged by a process of their own.
"""

import random
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import rankwell

ROWS, PER_QUERY, SHARDS, ROUNDS = 8_000_000, 1000, 8, 3
MEASURES = ["nDCG@10", "AP", "RR"]
LAYOUTS = ("one", "whole", "scattered")
DRIVER = """
import resource, sys
import rankwell
rankwell.evaluate(sys.argv[1], sys.argv[2], ["nDCG@10", "AP", "RR"], executor="processes:2", shards=8)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""  # noqa: E501


def write(folder: Path, queries: int, rows: int, judged: int) -> None:
    """The same run in each layout, and qrels.txt."""
    draw = random.Random(0)
    with ExitStack() as opened:
        qrels = opened.enter_context((folder / "qrels.txt").open("w"))
        files = {}
        for layout in LAYOUTS:
            (folder / layout).mkdir()
            shards = range(1 if layout == "one" else SHARDS)
            files[layout] = [
                opened.enter_context((folder / layout / f"part-{each}.run").open("w"))
                for each in shards
            ]
        for query in range(queries):
            items = draw.sample(range(8_000_000), rows)
            qrels.writelines(f"q{query} 0 d{item} 1\n" for item in draw.sample(items, judged))
            lines = [
                f"q{query} Q0 d{item} {place} {(rows - place) / 100} t\n"
                for place, item in enumerate(items)
            ]
            files["one"][0].writelines(lines)
            files["whole"][query * SHARDS // queries].writelines(lines)
            for line in lines:
                files["scattered"][draw.randrange(SHARDS)].write(line)


def seconds(folder: Path, run: str, shards: int | None = None) -> float:
    """Processor seconds of an evaluation."""
    start = time.process_time()
    rankwell.evaluate(str(folder / "qrels.txt"), str(folder / run), MEASURES, shards=shards)
    return time.process_time() - start


def times(folder: Path) -> None:
    """Prints processor time in parts, and of folders in one process, as multiples of that of one
    file.
    """
    write(folder, ROWS // PER_QUERY, PER_QUERY, 10)
    ratios: dict[str, list[float]] = {}
    alone = 0.0
    for turn in range(ROUNDS + 1):
        alone = seconds(folder, "one/part-0.run")
        for layout in LAYOUTS[1:]:
            for name, shards in (("one process", None), ("parts", SHARDS)):
                ratio = seconds(folder, layout, shards) / alone
                ratios.setdefault(f"{layout:10} {name:12}", []).extend([ratio] * bool(turn))
    for name, each in ratios.items():
        sys.stdout.write(f"{name} {median(each):5.2f} times one file ({alone:.2f} s)\n")


def peaks(folder: Path) -> None:
    """Prints the peak of the merging command for few and for many queries."""
    for queries in (4_000, 400_000):
        place = folder / str(queries)
        place.mkdir()
        write(place, queries, 10, 1)
        for layout in LAYOUTS[1:]:
            words = [sys.executable, "-c", DRIVER, str(place / "qrels.txt"), str(place / layout)]
            done = subprocess.run(words, capture_output=True, encoding="utf-8", check=True)
            sys.stdout.write(f"{layout:10} {queries:7,} queries {float(done.stdout):6.0f} MiB\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as room:
        peaks(Path(room))  # first: a process begins with the peak of the one that starts it
        times(Path(room))
