"""Time and memory of `rankwell report`, and the size of its page: python benchmarks/page.py
[--queries 7000]

10 systems with 30 results each over 7,000 queries, 4 measures, no snippets. Each command runs in a
process of its own, its start included; the best of the rounds counts. `compared` has systems tested
on the way, each against the first, `again` finds them tested, as `rankwell compare -o` leaves them,
and `first` has no kept script of the charts either, which vl-convert puts together once.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.comparison.pages import page_source
from rankwell.io.result_folder import read_results
from rankwell.reporting.folder import write_result
from rankwell.tasks.runs.evaluation import evaluate

SYSTEMS, DEPTH, ITEMS, MEASURES = 10, 30, 300, ("nDCG@10", "AP", "RR", "R@20")


def make(folder: Path, n: int) -> None:
    """The folder that `rankwell evaluate -o` writes, without charts, and the same with its
    comparison.
    """
    random = np.random.default_rng(1)
    names = [f"d{at:06}" for at in range(ITEMS)]
    queries = [f"q{at:05}" for at in range(n)]
    qrels = {
        query: {
            names[at]: int(random.integers(1, 4)) for at in random.choice(ITEMS, 3, replace=False)
        }
        for query in queries
    }
    runs = {
        f"system {run}": {
            query: dict(
                zip(
                    (names[at] for at in random.permutation(ITEMS)[:DEPTH]),
                    random.random(DEPTH).tolist(),
                    strict=True,
                )
            )
            for query in queries
        }
        for run in range(SYSTEMS)
    }
    result = evaluate(
        qrels, runs, MEASURES, details=True, queries=dict.fromkeys(queries, "the text of a query")
    )
    write_result(result, folder / "plain", charts=False)
    source = page_source([("", read_results(folder / "plain"))])
    tables = {"verdicts": [{"text": text} for text in source.verdicts]}
    tested: dict[str, Any] = {
        "summary": source.rows,
        "tables": tables,
        "manifest": {**result.manifest(), "rules": source.rules},
    }
    write_result(result, folder / "tested", charts=False, **tested)


def timed(folder: Path, cache: str) -> tuple[float, float, float]:
    """Seconds of the wall clock and of processors, and the peak of memory in MB, of one command."""
    command = [sys.executable, "-m", "rankwell", "report", str(folder)]
    start = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, env={**os.environ, "XDG_CACHE_HOME": cache}
    )
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0
    return time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=7000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        make(folder, options.queries)
        print("page      seconds  processor  peak MB  page MB")
        for name, kind, fresh in (
            ("first", "plain", True),
            ("compared", "plain", False),
            ("again", "tested", False),
        ):
            found = [
                timed(folder / kind, str(folder / (f"cache{each}" if fresh else "cache")))
                for each in range(options.rounds)
            ]
            wall, processor, peak = (min(column) for column in zip(*found, strict=True))
            size = (
                sum(each.stat().st_size for each in (folder / kind).glob("report*/*"))
                + (folder / kind / "report.html").stat().st_size
            )
            print(f"{name:<9} {wall:>7.2f} {processor:>10.2f} {peak:>8.0f} {size / 1e6:>8.2f}")


if __name__ == "__main__":
    main()
