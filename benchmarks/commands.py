"""Commands as whole processes, seconds and peak memory: python benchmarks/commands.py [--rounds 5]
[--against REV]

    [--large] [--only WORDS]

Start-up, the commands of a small evaluation, and what reads 700,000 lines: convert, check, fuse,
and lines in a random order with and without a folder of results; --large adds the run of 6.98
million lines. With --against the same commands of an earlier revision, built in build/versions/REV,
take turns with those of this checkout; `×` is the median over the rounds of our time divided by its
time.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import make_cases
import numpy as np
from revisions import built, source_of

ROOT = Path(__file__).resolve().parents[1]
FEW, MANY = 1_000, 700
"""Queries of 100 lines each for `compare`, and of 1,000 lines each for what reads long files."""


def run_file(path: Path, queries: int, depth: int, seed: int, scattered: bool = False) -> Path:
    """A run with other scores for each seed."""
    rng = np.random.default_rng(seed)
    lines = [
        f"{query} Q0 {item} {rank} {score:.6f} r{seed}\n"
        for query in make_cases.query_ids(queries)
        for rank, (item, score) in enumerate(
            zip(
                make_cases.item_numbers(query, depth),
                -np.sort(-rng.random(depth) * 30),
                strict=True,
            ),
            1,
        )
    ]
    if scattered:
        rng.shuffle(lines)
    path.write_text("".join(lines), encoding="ascii")
    return path


def judgments(path: Path, queries: int, depth: int) -> Path:
    """Ten judged items of each query, some of them in the run."""
    lines = [
        f"{query} 0 {item} {place % 3}\n"
        for query in make_cases.query_ids(queries)
        for place, item in enumerate(make_cases.item_numbers(query, depth)[:: max(1, depth // 10)])
    ]
    path.write_text("".join(lines), encoding="ascii")
    return path


def commands(folder: Path, large: bool) -> dict[str, list[str]]:
    """Every command by its name; `OUT` becomes a new path in each turn."""
    small = [str(make_cases.make("qrels-small")), str(make_cases.make("small"))]
    few = [
        str(judgments(folder / "few.qrels", FEW, 100)),
        *(str(run_file(folder / f"{n}.run", FEW, 100, n)) for n in (1, 2)),
    ]
    truth = str(judgments(folder / "many.qrels", MANY, 1_000))
    first, second = (str(run_file(folder / f"many{n}.run", MANY, 1_000, n)) for n in (1, 2))
    shuffled = str(run_file(folder / "shuffled.run", MANY, 1_000, 1, scattered=True))
    found = {
        "--version": ["--version"],
        "--help": ["--help"],
        "evaluate, 50 queries": ["evaluate", *small],
        "trec-eval -q, 50 queries": ["trec-eval", "-q", *small],
        "compare, 1,000 queries": ["compare", *few],
        "convert, 700,000 lines": ["convert", first, "OUT.parquet"],
        "check, 700,000 lines": ["check", truth, first],
        "fuse, 2 x 700,000 lines": ["fuse", first, second, "-o", "OUT.run"],
        "evaluate, 700,000 lines": ["evaluate", truth, first],
        "evaluate, scattered lines": ["evaluate", truth, shuffled],
        "evaluate, scattered lines, -o": ["evaluate", truth, shuffled, "-o", "OUT"],
    }
    if large:
        files = [str(make_cases.make("qrels")), str(make_cases.make("numeric"))]
        found["evaluate, 6.98 million lines"] = ["evaluate", *files, "--intervals", "none"]
        found["trec-eval -q, 6.98 million lines"] = ["trec-eval", "-q", *files]
    return found


def turn(source: Path | None, words: list[str], folder: Path) -> tuple[float, float]:
    """Seconds and peak memory in MiB of one process."""
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    given = [word.replace("OUT", str(out / "result")) for word in words]
    environment = os.environ | ({"PYTHONPATH": str(source)} if source else {})
    start = time.perf_counter()
    # The usage of one child, which the sum over all children does not tell.
    process = subprocess.Popen(
        [sys.executable, "-m", "rankwell", *given],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    complaint = process.stderr.read() if process.stderr else ""
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"rankwell {' '.join(given)}\n{complaint}")
    return seconds, usage.ru_maxrss / 1024


def main() -> None:
    """Lets the processes take turns and prints their times."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--against", metavar="REV")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--only", default="", help="commands whose name has this in it")
    given = parser.parse_args()
    # The installed package.
    sources = [built(ROOT), source_of(given.against)] if given.against else [None]
    print(
        f"{'':34} {'median s':>9} {'MiB':>5}"
        + (f" {given.against:>12} {'MiB':>5} {'×':>6}" if given.against else "")
    )
    with tempfile.TemporaryDirectory() as place:
        with (
            ProcessPoolExecutor(1) as pool
        ):  # what this process holds would count as the peak of every process that it starts
            listed = pool.submit(commands, Path(place), given.large).result()
        for name, words in listed.items():
            if given.only not in name:
                continue
            rounds = [
                [turn(source, words, Path(place)) for source in sources]
                for _ in range(given.rounds + 1)
            ][1:]
            line = f"{name:34}"
            for each, width in zip(range(len(sources)), (9, 12), strict=False):
                line += f" {statistics.median(found[each][0] for found in rounds):{width}.3f}"
                line += f" {statistics.median(found[each][1] for found in rounds):5.0f}"
            if given.against:
                line += f" {statistics.median(ours[0] / theirs[0] for ours, theirs in rounds):6.2f}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
