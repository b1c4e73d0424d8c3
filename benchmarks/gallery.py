"""Ranks and searches in a large gallery, in processor seconds: python benchmarks/gallery.py
[--against REV] [--rounds 3]

    [--only WORDS]

Each case is a process of its own. With --against an earlier revision takes turns and must give the
same bytes; `×` is the median over the rounds of its processor seconds divided by ours. `reads` is
the number of times that this checkout reads an item.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

import numpy as np
from revisions import ROOT, source_of

CASES = {
    "ranks of mid-rank items, 200,000 x 384, 2,000 queries": ("ranks", 200_000, 384, 2_000, 1),
    "ranks of mid-rank items, 200,000 x 768, 2,000 queries": ("ranks", 200_000, 768, 2_000, 1),
    "search, 10,000 x 384, 10,000 queries, k = 10": ("search", 10_000, 384, 10_000, 10),
    "search, 10,000 x 384, 300 queries, k = 10": ("search", 10_000, 384, 300, 10),
    "search, 2,000 x 8, 1,000,000 queries, k = 1": ("search", 2_000, 8, 1_000_000, 1),
}


class Counting(np.ndarray):
    """An array that counts the rows of it that are sliced."""

    rows = 0

    def __getitem__(self, key: object) -> np.ndarray:
        found = np.asarray(self)[key]  # pyright: ignore[reportArgumentType, reportCallIssue]
        if isinstance(key, slice):
            Counting.rows += len(found)
        return found


def run(kind: str, n: int, d: int, n_queries: int, k: int) -> None:
    """One case in this process; prints its processor seconds, the digest of its result, and the
    reads of an item.
    """
    from rankwell.vectors.neighbours import ranks_of, search

    rng = np.random.default_rng(20)
    items, queries = (rng.standard_normal((rows, d), dtype=np.float32) for rows in (n, n_queries))
    # Isotropic vectors of many dimensions are about orthogonal, so that an item at random is in the
    # middle.
    wanted = rng.integers(0, n, (n_queries, k))
    search(queries[:10], items[:100], k=1)
    counted, before = items.view(Counting), _seconds()
    if kind == "ranks":
        found = ranks_of(queries, counted, wanted)
    else:
        listed = search(queries, counted, k=k)
        found = (listed.positions, listed.scores)
    taken = _seconds() - before
    digest = sha256(b"".join(np.ascontiguousarray(each).tobytes() for each in found)).hexdigest()
    print(json.dumps({"seconds": taken, "digest": digest, "reads": Counting.rows / n}))


def _seconds() -> float:
    used = getrusage(RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def timed(source: Path, case: str) -> dict[str, float | str]:
    words = [sys.executable, __file__, "--case", case]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    return json.loads(
        subprocess.run(words, env=environment, check=True, capture_output=True, text=True).stdout
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--against")
    parser.add_argument("--only", default="")
    parser.add_argument("--case")
    options = parser.parse_args()
    if options.case:
        run(*CASES[options.case])
        return
    earlier = source_of(options.against) if options.against else None
    print(f"{'':58}{'cpu s':>8}{'reads':>7}{'×':>7}")
    for case in (case for case in CASES if options.only in case):
        ours, theirs, reads = list[float](), list[float](), 0.0
        for _ in range(options.rounds):
            mine = timed(ROOT / "src", case)
            ours.append(float(mine["seconds"]))
            reads = float(mine["reads"])
            if earlier is not None:
                other = timed(earlier, case)
                theirs.append(float(other["seconds"]))
                if other["digest"] != mine["digest"]:
                    raise SystemExit(f"{case}: the results differ")
        ratio = (
            f"{statistics.median(b / a for a, b in zip(ours, theirs, strict=True)):7.2f}"
            if theirs
            else ""
        )
        print(f"{case:58}{statistics.median(ours):8.2f}{reads:7.2f}{ratio}", flush=True)


if __name__ == "__main__":
    main()
