"""kill -9 of a worker, of the driver, of an element of an array, in the middle of other work: only
parts in flight are lost.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benches import RUNS_ALONE, make_bench
from rankwell.runtime.executors import slurm_ranges
from ray_cluster import has_loaded, part_workers_of, wait_for

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


def running(job: str, driver: int) -> int:
    """The process that computes parts for a driver, once the first of a round is done."""
    folder = Path("work/second" if "second" in job else "work")
    wait_for(lambda: (folder / "part-00000.json").exists())
    return wait_for(lambda: part_workers_of(driver))[0]


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
    worker = running(job, driver.pid)
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
    wait_for(lambda: has_loaded(element.pid))
    element.kill()
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


KILLS = 12
"""`KILLS=200 pytest -k random` kills more often."""


def test_random_kills_of_drivers_and_workers_lose_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    words, draw = searched(), random.Random(7)
    expected = run(*words, "-o", "one/found.run")
    assert expected.returncode == 0, expected.stderr
    line = [*words, "--work", "work", "--executor", "processes:2", "--overwrite"]

    kills, finished = 0, 0
    while kills < int(os.environ.get("KILLS", KILLS)):
        before = done()
        driver = start(*line, "-o", "two/found.run")
        time.sleep(draw.uniform(0.2, 4))
        workers = part_workers_of(driver.pid)
        victim = draw.choice([driver.pid, *workers])
        if driver.poll() is None:
            os.kill(victim, signal.SIGKILL)
            kills += 1
        _, error = driver.communicate(timeout=240)
        after = done()
        assert {path: after[path] for path in before} == before
        assert driver.returncode == 0 or victim == driver.pid, error
        wait_for(lambda workers=workers: not any(map(has_loaded, workers)))
        if driver.returncode == 0:
            assert files("two") == files("one")
            shutil.rmtree("work")
            finished += 1

    assert finished
