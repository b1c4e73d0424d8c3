"""Evaluations in parts that are killed in the middle, and those of a Ray cluster of two nodes: the bytes of one process."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tasks.runs.run_shards import rows_of, scattered, write_judgments, write_shards

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")]
SHARDS = 8


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that takes seconds to count in both rounds: every row has a hundred copies with other items."""
    monkeypatch.chdir(tmp_path)
    write_judgments(Path("qrels.txt"))
    rows = [
        (query, f"{item}-{copy}" if copy else item, score) for query, item, score in scattered(rows_of()) for copy in range(150)
    ]
    write_shards(Path("run"), ".run", rows, SHARDS)
    subprocess.run(command("-o", "one"), check=True, capture_output=True)
    return tmp_path


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "rankwell", "evaluate", "qrels.txt", "run", "-m", "nDCG@10", "-m", "AP", *words]


def parts(*words: str) -> list[str]:
    return command("-o", "parts", "--work", "work", "--shards", str(SHARDS), *words)


def files(result: str) -> dict[str, bytes]:
    return {path.relative_to(result).as_posix(): path.read_bytes() for path in sorted(Path(result).rglob("*")) if path.is_file()}


def wait_for(found: Callable[[], Any]) -> Any:
    end = time.monotonic() + 120
    while not (answer := found()):
        assert time.monotonic() < end
        time.sleep(0.005)
    return answer


def children_of(process: int, word: bytes) -> list[int]:
    """The processes that a process has started whose command line has a word."""
    found: list[int] = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            found += [int(place.name)] if parent == process and word in (place / "cmdline").read_bytes() else []
        except OSError:
            continue
    return found


@pytest.mark.parametrize("part", ["part-00003", "second/part-00003"])
def test_a_killed_worker_costs_the_part_in_flight_and_no_byte(folder: Path, part: str):
    driver = subprocess.Popen(parts("--executor", "processes:2"), stderr=subprocess.PIPE)

    wait_for(lambda: list(Path("work").glob(f"{part}.running.json")))
    os.kill(children_of(driver.pid, b"executors.worker")[0], signal.SIGKILL)
    _, error = driver.communicate(timeout=240)

    assert driver.returncode == 0, error.decode()
    assert files("parts") == files("one")


@pytest.mark.parametrize("part", ["part-00003", "second/part-00003"])
def test_a_killed_driver_goes_on_with_the_parts_that_are_done(folder: Path, part: str):
    driver = subprocess.Popen(parts("--executor", "processes:2"), stderr=subprocess.DEVNULL)
    wait_for(lambda: list(Path("work").glob(f"{part}.running.json")))
    driver.kill()
    driver.wait()
    done = {path: path.stat().st_ino for path in Path("work").rglob("part-*.arrays") if path.with_suffix(".json").exists()}

    subprocess.run(parts("--executor", "processes:2"), check=True, capture_output=True)

    assert done
    assert {path: path.stat().st_ino for path in done} == done
    assert files("parts") == files("one")


def test_a_killed_element_of_an_array_is_listed_and_done_again(folder: Path):
    words = parts("--executor", "array")
    for place in ("work", "work/second"):
        subprocess.run(words, check=False, capture_output=True)
        for index in range(SHARDS):
            element = subprocess.Popen([sys.executable, "-m", "rankwell", "part", place, str(index)], stderr=subprocess.DEVNULL)
            if index == 5:
                wait_for(lambda place=place: list(Path(place).glob("part-00005.running.json")))
                element.kill()
            element.wait()
        found = subprocess.run(words, capture_output=True, encoding="utf-8")
        assert found.returncode == 5
        assert f"1 of {SHARDS} parts are missing: 5; submit them" in found.stderr
        subprocess.run([sys.executable, "-m", "rankwell", "part", place, "5"], check=True, capture_output=True)

    subprocess.run(words, check=True, capture_output=True)

    assert files("parts") == files("one")


def start_node(*words: str) -> "subprocess.Popen[bytes]":
    """A node of a Ray cluster, which ends with this process."""
    every = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--num-cpus", "2", "--disable-usage-stats", *words]
    environment = {**os.environ, "RAY_AUTH_MODE": "token"}
    return subprocess.Popen(every, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)


@pytest.mark.slow
@pytest.mark.server
def test_two_nodes_of_a_ray_cluster_give_the_bytes_of_one_process(folder: Path):
    pytest.importorskip("ray")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    subprocess.run([sys.executable, "-m", "ray.scripts.scripts", "get-auth-token", "--generate"], check=True, capture_output=True)
    nodes = [start_node("--head", "--port", address.rpartition(":")[2], "--include-dashboard", "false")]
    try:
        wait_for(lambda: children_of(nodes[0].pid, b"raylet/raylet"))
        nodes.append(start_node("--address", address))
        wait_for(lambda: children_of(nodes[1].pid, b"raylet/raylet"))
        environment = {**os.environ, "RAY_AUTH_MODE": "token"}

        done = subprocess.run(
            parts("--executor", f"ray:{address}", "--memory", "64M"), capture_output=True, env=environment, timeout=240
        )

        assert done.returncode == 0, done.stderr.decode()
        assert files("parts") == files("one")
    finally:
        for node in reversed(nodes):  # a node that has lost its head takes long to end
            node.terminate()
            node.wait(60)
