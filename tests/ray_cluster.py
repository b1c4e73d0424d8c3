"""A Ray cluster of two nodes on this machine for the tests of every kind of part, and processes to
look for and kill.
"""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

TOKEN = {"RAY_AUTH_MODE": "token"}


def children_of(process: int, word: bytes = b"") -> list[int]:
    """The processes that a process has started, those whose command line has a word."""
    found: list[int] = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            found += (
                [int(place.name)]
                if parent == process and word in (place / "cmdline").read_bytes()
                else []
            )
        except OSError:
            continue
    return found


def part_workers_of(process: int) -> list[int]:
    """The processes in which a process has parts computed."""
    return children_of(process, b"rankwell\0worker\0")


def has_loaded(process: int, library: bytes = b"numpy") -> bool:
    """Whether a process has loaded a library, so that it is in the middle of its work."""
    try:
        return library in Path(f"/proc/{process}/maps").read_bytes()
    except OSError:
        return False


def wait_for(found: Callable[[], Any], seconds: float = 120) -> Any:
    """The first answer that is true."""
    end = time.monotonic() + seconds
    while not (answer := found()):
        assert time.monotonic() < end
        time.sleep(0.005)
    return answer


class RayCluster:
    """A cluster whose nodes are processes of this one, each with one processor, so that parts at
    once are on several nodes.
    """

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        self._nodes: list[subprocess.Popen[bytes]] = []

    def add_node(self) -> int:
        """Starts a node; the process that starts its workers."""
        port = self.address.rpartition(":")[2]
        words = (
            ["--address", self.address]
            if self._nodes
            else ["--head", "--port", port, "--include-dashboard", "false"]
        )
        every = [
            sys.executable,
            "-m",
            "ray.scripts.scripts",
            "start",
            "--block",
            "--num-cpus",
            "1",
            "--disable-usage-stats",
        ]
        every += ["--object-store-memory", str(80 << 20), *words]
        node = subprocess.Popen(
            every, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **TOKEN}
        )
        self._nodes.append(node)
        return wait_for(lambda: children_of(node.pid, b"raylet/raylet"))[0]

    @property
    def is_alive(self) -> bool:
        """Whether its first two nodes are up."""
        return all(children_of(node.pid, b"raylet/raylet") for node in self._nodes[:2])

    def start(self, *words: str, cwd: Path, memory: str = "64M") -> "subprocess.Popen[str]":
        """A command of rankwell that joins it, in a process of its own: Ray reads its environment
        when it is imported.
        """
        every = [
            sys.executable,
            "-m",
            "rankwell",
            *words,
            "--executor",
            f"ray:{self.address}",
            "--memory",
            memory,
        ]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            every, cwd=cwd, env={**os.environ, **TOKEN}, stdout=pipe, stderr=pipe, encoding="utf-8"
        )

    def run(self, *words: str, cwd: Path, memory: str = "64M") -> tuple[int, str]:
        """The same to its end: exit code and standard error."""
        driver = self.start(*words, cwd=cwd, memory=memory)
        _, error = driver.communicate(timeout=240)
        return driver.returncode, error

    def end(self) -> None:
        """Ends all nodes, the head last: a node that has lost its head takes long to end."""
        for node in reversed(self._nodes):
            node.terminate()
            node.wait(60)


@contextmanager
def two_nodes() -> Generator[RayCluster]:
    """A cluster of two nodes. Skips the test without Ray, and where processes cannot be looked
    for.
    """
    pytest.importorskip("ray")
    if not Path("/proc/self").exists():
        pytest.skip("looks for processes in /proc")
    subprocess.run(
        [sys.executable, "-m", "ray.scripts.scripts", "get-auth-token", "--generate"],
        check=True,
        capture_output=True,
    )
    cluster = RayCluster()
    try:
        cluster.add_node()
        cluster.add_node()
        yield cluster
    finally:
        cluster.end()
