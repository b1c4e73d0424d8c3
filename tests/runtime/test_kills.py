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
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from benches import RUNS_ALONE, make_bench
from buckets import Bucket, SignedPut
from rankwell.runtime.executors import RETRIES, slurm_ranges
from rankwell.runtime.parts import place_of
from rankwell.runtime.parts.plans import WorkFolder, read_plan
from rankwell.store.remote import names_in
from ray_cluster import has_loaded, part_workers_of, wait_for

pytestmark = [
    pytest.mark.slow,
    pytest.mark.server,
    pytest.mark.skipif(not Path("/proc/self").exists(), reason="kills processes by their numbers"),
]


def searched(rows: int = 60_000, queries: int = 1000, k: int = 20, shards: int = 5) -> list[str]:
    chance = np.random.default_rng(2)
    for name, size in (("base", rows), ("queries", queries)):
        np.save(f"{name}.npy", chance.integers(-9, 9, size=(size, 48)).astype(np.float32))
    words = ["knn", "base.npy", "queries.npy", "--neighbours", str(k), "--metric", "dot"]
    return [*words, "--shards", str(shards)]


def captioned() -> list[str]:
    chance = np.random.default_rng(0)
    np.save("captions.npy", chance.integers(1, 9, size=(1000, 16)).astype(np.float32))
    np.save("videos.npy", chance.integers(1, 9, size=(20_000, 16)).astype(np.float32))
    Path("positives.json").write_text(json.dumps([[caption % 50] for caption in range(1000)]))
    tables = [
        "--query-vectors",
        "captions.npy",
        "--item-vectors",
        "videos.npy",
        "--qrels",
        "positives.json",
    ]
    return ["crossmodal", *tables, "--direction", "t2v", "--shards", "3"]


def agreed() -> list[str]:
    chance = np.random.default_rng(1)
    for name, dimensions in (("big", 16), ("small", 8)):
        np.save(f"{name}.npy", chance.integers(1, 9, size=(20_000, dimensions)).astype(np.float32))
    return [
        "embeddings",
        "--reference",
        "big.npy",
        "small.npy",
        "--samples",
        "1000",
        "--neighbours",
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
        "--encoder",
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
    "knn": (searched, ".run"),
    "crossmodal": (captioned, ""),
    "captions, second round": (captioned, ""),
    "embeddings": (agreed, ""),
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
    assert run("worker", "work", "0").returncode == 0
    element = start("worker", "work", "1")
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
"""`KILLS=200 pytest -rP -k random` kills more often."""


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


class RepeatedCommand:
    """A command on a work folder in the bucket that is started again where it was killed.

    output: its folder. starts: the id of the credentials of each run, with the number of puts that
    the bucket had seen when it began.
    """

    def __init__(self, words: list[str], output: str, s3: Bucket) -> None:
        self.output, self.words, self.s3 = output, [*words, "-o", f"{output}/found.run"], s3
        self.starts = dict[str, int]()
        self.start()

    def start(self) -> None:
        key_id = f"{self.output}-{len(self.starts)}"
        self.starts[key_id], self.lost_workers = len(self.s3.signed_puts), 0
        # Workers that outlive their driver for a moment would keep a pipe open.
        with Path(f"{key_id}.txt").open("w") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "rankwell", *self.words],
                stdout=errors,
                stderr=errors,
                env={**os.environ, "AWS_ACCESS_KEY_ID": key_id},
            )

    def errors(self) -> str:
        return "".join(Path(f"{key_id}.txt").read_text() for key_id in self.starts)

    def is_done(self) -> bool:
        code = self.process.poll()
        assert code in (None, 0, -signal.SIGKILL), self.errors()
        return code == 0

    def kill(self, draw: random.Random) -> str:
        """Kills the driver, or a worker where it may lose one more; says which, and nothing where
        that had ended.
        """
        if self.process.poll() is not None:
            return ""
        if draw.random() < 0.4:
            self.process.kill()
            return "driver" if self.process.wait() else ""
        workers = part_workers_of(self.process.pid) if self.lost_workers < RETRIES else []
        with suppress(IndexError, ProcessLookupError):
            os.kill(draw.choice(workers), signal.SIGKILL)
            self.lost_workers += 1
            return "worker"
        return ""


def wait_at_random(s3: Bucket, draw: random.Random) -> None:
    """Waits for some puts, so that there is work to kill however slow the machine is, or for some
    seconds.
    """
    puts, end = len(s3.signed_puts) + draw.randrange(40), time.monotonic() + draw.uniform(0, 4)
    while len(s3.signed_puts) < puts and time.monotonic() < end:
        time.sleep(0.002)
    time.sleep(draw.uniform(0, 0.1))


def counted_puts(
    requests: list[SignedPut], names: set[str], starts: dict[str, int]
) -> Counter[str]:
    """The puts of parts: `new`; refused since the part was there, `in flight`, before it had a
    record, or `at once`, by a run that had begun before that; `torn`, half of one.

    Fails for an object that is put twice, and so for one that was lost, and for a part that a run
    computes which has put its record, or began when that was there.
    """
    written, puts = dict[str, tuple[int, str]](), Counter[str]()
    for at, (name, key_id, is_done) in enumerate(requests):
        if name not in names:
            continue
        assert not (is_done and name in written), (name, key_id)
        if name.endswith(".npy"):
            record_at, owner = written.get(f"{name.removesuffix('.npy')}.json", (at, ""))
            assert record_at >= starts[key_id], (name, key_id)
            assert owner != key_id, name
            refused = "at once" if owner else "in flight"
            puts["new" if is_done else refused if name in written else "torn"] += 1
        if is_done:
            written[name] = at, key_id
    assert written.keys() == names
    return puts


def test_random_kills_of_two_drivers_on_one_prefix_of_a_bucket_lose_nothing(
    s3: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    # Parts take longer together than a command that was killed takes to be at work again.
    words = searched(rows=150_000, queries=4000, k=3, shards=100)
    draw = random.Random(7)
    expected = run(*words[:-2], "-o", "one/found.run")
    assert expected.returncode == 0, expected.stderr

    kills, most, puts = Counter[str](), int(os.environ.get("KILLS", KILLS)), Counter[str]()
    rounds = 0
    while kills.total() < most:
        place = place_of(f"s3://bucket/work-{rounds}")
        line = [*words, "--work", place.name, "--executor", "processes:2", "--overwrite"]
        s3.signed_puts.clear()
        drivers = [RepeatedCommand(line, f"{name}-{rounds}", s3) for name in ("two", "three")]
        rounds += 1
        end = time.monotonic() + 600
        try:
            while running := [driver for driver in drivers if not driver.is_done()]:
                assert time.monotonic() < end, [driver.errors() for driver in running]
                for driver in running:
                    if driver.process.poll() and draw.random() < 0.8:
                        driver.start()
                wait_at_random(s3, draw)
                if kills.total() < most and (killed := draw.choice(running).kill(draw)):
                    kills[killed] += 1
        finally:
            for driver in drivers:
                driver.process.kill()
                driver.process.wait()

        for driver in drivers:
            assert files(driver.output) == files("one")
            assert "Traceback" not in driver.errors()
        work = WorkFolder(place, read_plan(place))
        assert not work.missing()
        stems = map(work.stem, range(work.plan.parts))
        names = {"plan.json", *(f"{stem}.{suffix}" for stem in stems for suffix in ("npy", "json"))}
        left = set(names_in(f"{place.name}/")) - names
        # A driver that was killed while it tried whether the place refuses a second put.
        assert all(name.startswith(".draft-") and place.read(name) == b"1" for name in left), left
        assert len(left) <= kills["driver"]
        starts = {key_id: at for driver in drivers for key_id, at in driver.starts.items()}
        prefix = place.name.removeprefix("s3://bucket/")
        puts += counted_puts(s3.signed_puts, {f"{prefix}/{name}" for name in names}, starts)

    assert kills.keys() == {"driver", "worker"}
    sys.stdout.write(f"{rounds} rounds; kills: {dict(kills)}; parts put: {dict(puts)}\n")
