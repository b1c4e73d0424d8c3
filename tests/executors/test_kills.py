"""kill -9 of a worker, of the driver, of an element of an array, in the middle of other work: only
parts in flight are lost.
"""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benches import RUNS_ALONE, make_bench
from rankwell.executors import slurm_ranges
from ray_cluster import wait_for

pytestmark = [
    pytest.mark.slow,
    pytest.mark.server,
    pytest.mark.skipif(not Path("/proc/self").exists(), reason="kills processes by their numbers"),
]


def searched() -> list[str]:
    chance = np.random.default_rng(2)
    for name, rows in (("base", 60_000), ("queries", 1000)):
        np.save(f"{name}.npy", chance.integers(-9, 9, size=(rows, 48)).astype(np.float32))
    return ["search", "base.npy", "queries.npy", "-k", "20", "--metric", "dot", "--shards", "5"]


def captioned() -> list[str]:
    chance = np.random.default_rng(0)
    np.save("captions.npy", chance.integers(1, 9, size=(1000, 16)).astype(np.float32))
    np.save("videos.npy", chance.integers(1, 9, size=(20_000, 16)).astype(np.float32))
    Path("positives.json").write_text(json.dumps([[caption % 50] for caption in range(1000)]))
    tables = [
        "--queries",
        "captions.npy",
        "--gallery",
        "videos.npy",
        "--positives",
        "positives.json",
    ]
    return ["captions", *tables, "--direction", "t2v", "--shards", "3"]


def agreed() -> list[str]:
    chance = np.random.default_rng(1)
    for name, dimensions in (("big", 16), ("small", 8)):
        np.save(f"{name}.npy", chance.integers(1, 9, size=(20_000, dimensions)).astype(np.float32))
    return [
        "agree",
        "--reference",
        "big.npy",
        "small.npy",
        "--samples",
        "1000",
        "-k",
        "10",
        "--shards",
        "3",
    ]


def encoded() -> list[str]:
    draw, words = random.Random(3), [f"word{number}" for number in range(400)]
    rows = ({"_id": f"t{row}", "text": " ".join(draw.choices(words, k=30))} for row in range(6000))
    Path("texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return [
        "encode",
        "texts.jsonl",
        "--model",
        "tfidf-svd:40",
        "--fit",
        "texts.jsonl",
        "--batch-size",
        "8",
        "--shards",
        "8",
    ]


def benched() -> list[str]:
    return ["bench", str(make_bench(Path("inputs"), RUNS_ALONE))]


JOBS: dict[str, tuple[Callable[[], list[str]], str]] = {
    "search": (searched, ".run"),
    "captions": (captioned, ""),
    "captions, second round": (captioned, ""),
    "agree": (agreed, ""),
    "agree, second round": (agreed, ""),
    "encode": (encoded, ".npy"),
    "bench": (benched, ""),
}
"""The command, and the suffix of its output."""


def run(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "rankwell", *words],
        capture_output=True,
        encoding="utf-8",
        timeout=240,
    )


def start(*words: str) -> "subprocess.Popen[str]":
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-m", "rankwell", *words], stdout=pipe, stderr=pipe, encoding="utf-8"
    )


def files(folder: str) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in Path(folder).rglob("*")
        if path.is_file()
    }


def done() -> dict[Path, int]:
    """The files of parts with a record, each with its number."""
    records = [path for path in Path("work").rglob("part-*.json") if path.name.count(".") == 1]
    return {
        path: path.stat().st_ino
        for record in records
        for path in record.parent.glob(f"{record.stem}.*")
    }


def running(job: str) -> int:
    """The process that computes part 1, once it does."""
    folder = Path("work/second" if "second" in job else "work")

    def _process() -> int:
        try:
            return json.loads((folder / "part-00001.running.json").read_text())["process"]
        except (OSError, ValueError):
            return 0

    return wait_for(_process)


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, job: str) -> list[str]:
    """The command of a job, whose result in one process is in `one`; that of parts is to be in
    `two`.
    """
    monkeypatch.chdir(tmp_path)
    inputs, suffix = JOBS[job]
    found = inputs()
    alone = [
        word for at, word in enumerate(found) if "--shards" not in found[max(0, at - 1) : at + 1]
    ]
    one = run(*alone, "-o", f"one/found{suffix}")
    assert one.returncode == 0, one.stderr
    return [*found, "-o", f"two/found{suffix}", "--work", "work"]


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("killed", ["worker", "driver"])
def test_a_killed_process_costs_the_parts_in_flight_and_no_byte(
    words: list[str], job: str, killed: str
):
    driver = start(*words, "--executor", "processes:1")
    worker = running(job)
    before = done()
    os.kill(worker if killed == "worker" else driver.pid, signal.SIGKILL)
    _, error = driver.communicate(timeout=240)

    if killed == "driver":
        before = done()
        again = run(*words, "--executor", "processes:1")
        assert again.returncode == 0, again.stderr
    else:
        assert driver.returncode == 0, error
    after = done()

    assert before
    assert {path: after[path] for path in before} == before
    assert files("two") == files("one")


@pytest.mark.parametrize("job", [job for job in JOBS if "second" not in job])
def test_a_killed_element_of_an_array_is_listed_and_done_again(words: list[str], job: str):
    assert run(*words, "--executor", "array").returncode == 0
    parts = json.loads(Path("work/plan.json").read_text())["parts"]
    assert run("part", "work", "0").returncode == 0
    element = start("part", "work", "1")
    os.kill(running(job), signal.SIGKILL)
    element.communicate(timeout=60)

    unfinished, before = run(*words, "--executor", "array"), done()
    finished = run(*words, "--executor", "processes:1")

    assert unfinished.returncode == 5
    verb, them = ("is", "it") if parts == 2 else ("are", "them")
    missing = (
        f"{parts - 1} of {parts} parts {verb} missing: {slurm_ranges(range(1, parts))}; submit "
        f"{them}"
    )
    assert missing in unfinished.stderr
    assert finished.returncode == 0, finished.stderr
    assert before
    assert {path: done()[path] for path in before} == before
    assert files("two") == files("one")
