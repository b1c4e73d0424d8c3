"""The memory of a comparison grows with what it prints, not with the rows of its lists."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

QUERIES, DEPTH = 400, 10


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judgments of one item a query, and 80 runs whose lists have hardly an item in common."""
    folder = tmp_path_factory.mktemp("world")
    (folder / "qrels").write_text(
        "".join(f"q{query} 0 d{query % DEPTH} 1\n" for query in range(QUERIES))
    )
    for run in range(80):
        lines = [
            (
                f"q{query} Q0 "
                f"{f'd{rank}' if rank == (query + run) % DEPTH else f'{run}-{query}-{rank}'} "
                f"{rank + 1} {-rank} r\n"
            )
            for query in range(QUERIES)
            for rank in range(DEPTH)
        ]
        (folder / f"run{run:02}").write_text("".join(lines))
    return folder


def _peak(folder: Path, runs: int, *more: str) -> int:
    """MiB at most of the comparison of so many runs with the first. more: further words of the
    command.
    """
    names = [f"run{run:02}" for run in range(runs)]
    words = [
        "compare",
        "qrels",
        *names,
        "--baseline",
        "run00",
        "-m",
        "RR@10",
        "--intervals",
        "none",
        "--test",
        "sign",
        *more,
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "rankwell", *words], cwd=folder, stdout=subprocess.DEVNULL
    )
    # The usage of one child, which the sum over all children does not tell.
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_maxrss // 1024


def test_forty_more_runs_add_no_rows_of_items(world: Path):
    """160,000 rows of 40 runs take 40 MiB as objects; as numbers, 13 bytes each, they take 2."""
    assert _peak(world, 80) - _peak(world, 40) < 15


@pytest.mark.server
def test_twenty_more_runs_on_a_page_add_their_rows_once(world: Path, tmp_path: Path):
    """The rows of 20 runs with their ids took 89 MiB when each was kept twice, and take 72."""
    with_page = [_peak(world, runs, "-o", str(tmp_path / f"{runs} runs")) for runs in (40, 20)]
    assert with_page[0] - with_page[1] < 82
