"""Executors: each computes the parts that it is told to, and a lost worker costs only the part in
flight.
"""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

import rankwell
from rankwell.errors import BadInput, BadUsage, UnknownName
from rankwell.processes import start_command
from rankwell.runtime.executors import (
    EXECUTORS,
    ArrayJob,
    PartCalls,
    Resources,
    call,
    find_executor,
    slurm_ranges,
)
from rankwell.runtime.parts.execution import memory_size, part_calls
from rankwell.runtime.parts.plans import WorkFolder, read_plan
from ray_cluster import part_workers_of, wait_for

SMALL = Resources(1, 64 << 20)
posix = pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    np.save(tmp_path / "base.npy", rng.integers(-9, 9, size=(3000, 8)).astype(np.float32))
    np.save(tmp_path / "queries.npy", rng.normal(size=(20, 8)).astype(np.float32))
    return tmp_path


def search(files: Path, **options) -> bytes:
    found = rankwell.knn(
        queries=str(files / "queries.npy"),
        items=str(files / "base.npy"),
        **{"neighbours": 20, "metric": "l2", **options},
    )
    return found.positions.tobytes() + found.scores.tobytes()


@pytest.mark.parametrize("executor", ["here", "processes:2", "processes"])
def test_an_executor_gives_the_bytes_of_one_process(files: Path, executor: str):
    assert search(files, executor=executor, shards=5) == search(files)


def test_an_array_gives_the_bytes_of_one_process(files: Path):
    options = {"executor": "array", "work": str(files / "work"), "shards": 3}
    with pytest.raises(
        rankwell.Unfinished, match=r"has the plan of 3 parts; submit them(.|\n)*sbatch --array=0-2 "
    ):
        search(files, **options)

    for index in range(3):
        call(
            "rankwell.runtime.parts.execution:run_part",
            f'{{"work": "{(files / "work").as_posix()}", "part": {index}}}',
        )

    assert search(files, **options) == search(files)


def test_a_folder_that_begins_with_a_hyphen_has_its_path_in_the_printed_line(
    files: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(files)

    with pytest.raises(rankwell.Unfinished, match=r"--wrap 'rankwell worker \./-w --threads"):
        search(files, executor="array", work="-w", shards=3)


@pytest.mark.parametrize("executor", ["array", "ray:127.0.0.1:1"])
def test_machines_that_share_no_disk_need_a_work_folder(files: Path, executor: str):
    with pytest.raises(BadUsage, match="needs work: a folder that all machines see"):
        search(files, executor=executor)


@pytest.mark.parametrize(
    ("executor", "kind", "message"),
    [
        ("proceses", UnknownName, "did you mean 'processes'"),
        ("processes:0", BadUsage, "expected a positive integer after the colon, as in processes:4"),
        ("processes:two", BadUsage, "expected a positive integer"),
        ("here:1", BadUsage, "takes nothing after the colon"),
        ("array:x", BadUsage, "expected a positive integer"),
    ],
)
def test_an_executor_that_is_misspelt_is_refused(
    files: Path, executor: str, kind: type[Exception], message: str
):
    with pytest.raises(kind, match=message):
        search(files, executor=executor, work=str(files / "work"))


def test_only_functions_of_rankwell_are_called():
    with pytest.raises(ValueError, match="is not a function of rankwell"):
        call("os:system", "true")


def test_processes_end_with_the_block_and_answer_every_call(files: Path):
    executor, address = find_executor("processes:3")
    assert executor.open is not None

    with executor.open(address, SMALL) as run:
        answers = dict(run(planned(files, 7)))

    assert answers == dict.fromkeys(range(7), "{}")
    assert not part_workers_of(os.getpid())


def planned(files: Path, parts: int) -> PartCalls:
    """The parts of a search that is planned, and not begun."""
    with pytest.raises(rankwell.Unfinished):
        search(files, executor="array", work=str(files / "work"), shards=parts)
    work = WorkFolder(files / "work", read_plan(files / "work"))
    return part_calls(work, work.missing(), None)


def test_a_process_computes_several_parts(files: Path, monkeypatch: pytest.MonkeyPatch):
    batches = list[list[str]]()

    def _start(words: Sequence[str], variables: Mapping[str, str]) -> "subprocess.Popen[bytes]":
        batches.append([*words[2:]])
        return start_command(words, variables)

    monkeypatch.setattr("rankwell.runtime.executors.processes.start_command", _start)

    search(files, executor="processes:1", work=str(files / "work"), shards=9)

    assert batches == [[*"01234"], [*"56"], ["7"], ["8"]]


@pytest.fixture
def long(tmp_path: Path) -> Path:
    """A search that takes seconds: it can be killed in the middle."""
    rng = np.random.default_rng(0)
    base = rng.integers(-9, 9, size=(60_000, 48)).astype(np.float32)
    base[50_000:] = base[:10_000]
    np.save(tmp_path / "base.npy", base)
    np.save(tmp_path / "queries.npy", rng.integers(-9, 9, size=(3000, 48)).astype(np.float32))
    return tmp_path


def command(files: Path, *words: str) -> list[str]:
    places = [
        str(files / "base.npy"),
        str(files / "queries.npy"),
        "--neighbours",
        "20",
        "--metric",
        "dot",
    ]
    return [sys.executable, "-m", "rankwell", "knn", *places, *words]


@posix
def test_a_killed_worker_costs_the_part_in_flight_and_no_byte(long: Path):
    expected = search(long, metric="dot")
    killed: list[int] = []

    def kill() -> None:
        wait_for(lambda: (long / "work/part-00000.json").exists())
        killed.append(wait_for(lambda: part_workers_of(os.getpid()))[0])
        os.kill(killed[0], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    found = search(long, metric="dot", executor="processes:2", shards=8, work=str(long / "work"))
    thread.join()

    assert killed
    assert found == expected
    assert not part_workers_of(os.getpid())


@posix
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_a_driver_that_ends_leaves_no_process_and_the_same_command_goes_on(long: Path, sent: int):
    words = ["--executor", "processes:2", "--shards", "8", "--work", str(long / "work")]
    one = long / "one.run"
    subprocess.run(command(long, "-o", str(one)), check=True, capture_output=True)

    driver = subprocess.Popen(
        command(long, "-o", str(long / "parts.run"), *words), stderr=subprocess.PIPE
    )
    wait_for(lambda: (long / "work/part-00001.json").exists())
    children = wait_for(lambda: part_workers_of(driver.pid))
    driver.send_signal(sent)
    driver.communicate(timeout=5)
    wait_for(
        lambda: (
            not any(Path(f"/proc/{child}").exists() and not is_zombie(child) for child in children)
        )
    )
    done = {
        path: path.stat().st_ino
        for path in (long / "work").glob("part-*.npy")
        if path.with_suffix(".json").exists()
    }
    subprocess.run(
        command(long, "-o", str(long / "parts.run"), *words), check=True, capture_output=True
    )

    assert children
    assert done
    assert {path: path.stat().st_ino for path in done} == done
    assert (long / "parts.run").read_bytes() == one.read_bytes()


def is_zombie(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_an_error_of_the_input_is_reported_once_and_not_retried(files: Path):
    vectors = np.load(files / "base.npy")
    vectors[2999] = np.inf
    np.save(files / "base.npy", vectors)

    with pytest.raises(BadInput, match=r"base\.npy, row 2999: number 0 is inf"):
        search(files, executor="processes:2", shards=5, work=str(files / "work"))


def test_numbers_are_written_as_slurm_writes_them():
    assert slurm_ranges([9, 0, 3, 7, 8]) == "0,3,7-9"
    assert slurm_ranges([]) == ""


def test_an_array_longer_than_slurm_allows_is_split_with_offsets():
    job = ArrayJob(
        ["rankwell", "worker", "a b"], [0, 3, 999, 1000, 1001, 2500], 2600, 2, 1 << 30, "1.0"
    )
    script = EXECUTORS["array"].script
    assert script is not None

    lines = [line for line in script("1000", job).splitlines() if line.startswith("sbatch")]

    resources = "--cpus-per-task=2 --mem=2048M --requeue --wrap 'rankwell worker '\"'\"'a b'\"'\"''"
    assert lines == [
        f"sbatch --array=0,3,999 {resources}",
        f"sbatch --array=0-1 --export=ALL,RANKWELL_PART_OFFSET=1000 {resources}",
        f"sbatch --array=500 --export=ALL,RANKWELL_PART_OFFSET=2000 {resources}",
    ]


@pytest.mark.parametrize(
    ("text", "size"), [("500M", 500 << 20), ("2g", 2 << 30), ("1.5GiB", 3 << 29), ("4096", 4096)]
)
def test_sizes_are_read(text: str, size: int):
    assert memory_size(text) == size


@pytest.mark.parametrize("text", ["", "2X", "-1G", "0", "1e9", "G"])
def test_other_sizes_are_refused(text: str):
    with pytest.raises(BadUsage, match="expected a size such as 500M or 8G"):
        memory_size(text)
