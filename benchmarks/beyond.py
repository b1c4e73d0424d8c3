"""Measures beyond accuracy against `rankwell evaluate` on the same run: python benchmarks/beyond.py
[-k 10] [QUERIES ...]

Processes take turns. Of each the median processor time, wall time and peak memory are printed, and
how many times the processor time of `evaluate` it takes. Memory may grow by what results and
judgments hold alone: the ids of queries, 8 bytes for each value of a measure and a query, and the
judged items.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np

ITEMS, DEPTH, USERS = 5_000, 50, 2_000
QUERIES = (15_000, 60_000, 150_000, 300_000)
RANKWELL = str(Path(sys.executable).parent / "rankwell")
INPUTS = (
    "--documents items.csv:id --interactions seen.txt --item-categories items.csv:genres "
    "--item-groups items.csv:artist"
)
COMMANDS = {
    "evaluate": "evaluate qrels.txt mine.run",
    "beyond, catalogue": "beyond mine.run --documents items.csv:id",
    "beyond, no judgments": f"beyond mine.run {INPUTS}",
    "beyond, all": f"beyond mine.run {INPUTS} --qrels qrels.txt",
}


def write(folder: Path, queries: int) -> None:
    """A run of seeded lists, three relevant items a query, the items and the interactions."""
    draw = np.random.default_rng(queries)
    with (folder / "mine.run").open("w") as run, (folder / "qrels.txt").open("w") as qrels:
        for query in range(queries):
            listed = draw.choice(ITEMS, DEPTH, replace=False).tolist()
            run.write(
                "".join(
                    f"u{query:06d} Q0 i{item:04d} {rank} {DEPTH - rank} x\n"
                    for rank, item in enumerate(listed)
                )
            )
            qrels.write(
                "".join(
                    f"u{query:06d} 0 i{item:04d} 1\n"
                    for item in draw.choice(ITEMS, 3, replace=False).tolist()
                )
            )
    seen = (
        (user, item)
        for user in range(USERS)
        for item in draw.choice(ITEMS, 20, replace=False).tolist()
    )
    (folder / "seen.txt").write_text(
        "".join(f"u{user:06d} 0 i{item:04d} 1\n" for user, item in seen)
    )
    rows = (f"i{item:04d},g{item % 18}|g{item % 7},a{item % 50}\n" for item in range(ITEMS))
    (folder / "items.csv").write_text("id,genres,artist\n" + "".join(rows))


def measure(command: str, folder: Path, k: int) -> tuple[float, float, float]:
    """Processor seconds, wall seconds and peak memory in MiB of one process. k: of the measures
    beyond accuracy.
    """
    begin = time.perf_counter()
    if command.startswith("beyond"):
        command = f"{command} -k {k}"
    words = [RANKWELL, *command.split(), "--intervals", "none"]
    process = subprocess.Popen(
        words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command}: ended with {status}")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - begin, usage.ru_maxrss / 1024


def main() -> None:
    """Prints a line for each command and number of queries."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("queries", nargs="*", type=int, default=QUERIES)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("-k", type=int, default=10)
    given = parser.parse_args()
    for queries in given.queries:
        with tempfile.TemporaryDirectory() as name:
            write(Path(name), queries)
            turns = [
                {label: measure(each, Path(name), given.k) for label, each in COMMANDS.items()}
                for _ in range(given.rounds)
            ]
        for label in COMMANDS:
            processor, wall, peak = (
                median(turn[label][place] for turn in turns) for place in range(3)
            )
            times = median(turn[label][0] / turn["evaluate"][0] for turn in turns)
            shown = (
                f"{processor:6.2f} s processor {wall:6.2f} s wall {peak:7.1f} MiB {times:5.2f} x "
                "evaluate"
            )
            sys.stdout.write(f"{queries:7,} queries  {label:20} {shown}\n")


if __name__ == "__main__":
    main()
