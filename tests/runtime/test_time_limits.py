"""Parts that take too long are started again, and parts that need GPUs have their own."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwell
from rankwell.cli import main
from rankwell.errors import BadUsage
from rankwell.processes import start_command
from rankwell.runtime.executors import EXECUTORS, ArrayJob, Resources, find_executor
from ray_cluster import part_workers_of, wait_for

posix = pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")


@posix
@pytest.mark.slow
def test_a_suspended_process_is_replaced_and_no_byte_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    random = np.random.default_rng(0)
    np.save(tmp_path / "items.npy", random.integers(-9, 9, size=(60_000, 32)).astype(np.float32))
    np.save(tmp_path / "queries.npy", random.integers(-9, 9, size=(500, 32)).astype(np.float32))
    places = {name: str(tmp_path / f"{name}.npy") for name in ("queries", "items")}
    suspended = list[int]()

    def _suspend() -> None:
        suspended.append(wait_for(lambda: part_workers_of(os.getpid()))[0])
        os.kill(suspended[0], signal.SIGSTOP)

    thread = threading.Thread(target=_suspend, daemon=True)
    thread.start()
    result = rankwell.knn(
        **places,
        neighbours=10,
        executor="processes:2",
        work=str(tmp_path / "work"),
        shards=3,
        part_timeout=15,
    )
    alone = rankwell.knn(**places, neighbours=10)

    assert "took longer than 15 s; it is started again\n" in capsys.readouterr().err
    assert not Path(f"/proc/{suspended[0]}").exists()
    assert result.positions.tobytes() == alone.positions.tobytes()
    assert result.scores.tobytes() == alone.scores.tobytes()


def test_a_part_that_always_takes_too_long_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    np.save(tmp_path / "base.npy", np.eye(40, dtype=np.float32))
    places = dict.fromkeys(("items", "queries"), str(tmp_path / "base.npy"))

    with pytest.raises(
        BadUsage, match=r"part 0 took longer than part_timeout=0\.01 allows, 4 times; allow more"
    ):
        rankwell.knn(**places, neighbours=2, executor="processes:1", shards=2, part_timeout=0.01)

    line = "part 0 took longer than 0.01 s; it is started again\n"
    assert capsys.readouterr().err == line * 4


def test_a_process_ends_itself_when_its_time_is_over():
    script = (
        "import time, rankwell.errors\n"
        "from rankwell.runtime import executors\n"
        "rankwell.errors.slow = lambda text: time.sleep(float(text)) or text\n"
        "for text in ('0', '60'):\n"
        "    print(executors.call('rankwell.errors:slow', text, 2.0), flush=True)\n"
    )

    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=50)

    assert (ended.returncode, ended.stdout.split()) == (1, [b"0"])
    assert b"Timeout" in ended.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"executor": "here", "part_timeout": 60.0},
            r"part_timeout=60.0: the executor here does not start parts again",
        ),
        (
            {"executor": "processes:1", "part_timeout": 0.0},
            r"part_timeout=0.0: expected a positive number of seconds\.$",
        ),
        (
            {"executor": "processes:1", "part_timeout": float("nan"), "work": "s3://bucket/work"},
            r"part_timeout=nan: expected a positive number of seconds\.$",
        ),
        ({"executor": "here", "gpus": 1}, r"gpus=1: this process uses the GPUs that it sees"),
        ({"executor": "here", "gpus": 0}, r"gpus=0: expected a positive integer"),
    ],
)
def test_what_an_executor_cannot_do_is_refused(
    tmp_path: Path, options: dict[str, Any], message: str
):
    np.save(tmp_path / "base.npy", np.eye(4, dtype=np.float32))

    with pytest.raises(BadUsage, match=message):
        rankwell.knn(
            queries=str(tmp_path / "base.npy"),
            items=str(tmp_path / "base.npy"),
            neighbours=2,
            **options,
        )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--part-timeout 30", "--part-timeout 30: the executor here does not start parts again"),
        ("--gpus 1", "--gpus 1: this process uses the GPUs that it sees"),
        ("--gpus 1 --dry-run", "--gpus 1: this process uses the GPUs that it sees"),
        (
            "--part-timeout -0.5 --executor processes:1",
            "--part-timeout -0.5: expected a positive number of seconds.",
        ),
    ],
)
def test_messages_have_the_seconds_as_they_were_typed_and_nothing_is_written(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: str,
    says: str,
):
    monkeypatch.chdir(tmp_path)
    np.save("base.npy", np.eye(4, dtype=np.float32))
    monkeypatch.setattr(
        "sys.argv",
        f"rankwell knn base.npy base.npy --neighbours 2 -o two.run --work work {words}".split(),
    )

    assert main() == 2

    assert capsys.readouterr().err.startswith(f"rankwell: {says}")
    assert sorted(path.name for path in Path().iterdir()) == ["base.npy"]


def test_each_process_sees_its_own_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,1,0,2")
    np.save(tmp_path / "base.npy", np.eye(40, dtype=np.float32))
    seen = list[str]()

    def _start(words: Sequence[str], variables: Mapping[str, str]) -> "subprocess.Popen[bytes]":
        seen.append(variables["CUDA_VISIBLE_DEVICES"])
        return start_command(words, variables)

    monkeypatch.setattr("rankwell.runtime.executors.processes.start_command", _start)

    places = dict.fromkeys(("items", "queries"), str(tmp_path / "base.npy"))
    rankwell.knn(**places, neighbours=2, executor="processes:2", shards=2, gpus=2)

    assert seen == ["3,1", "0,2"]


@pytest.mark.parametrize(
    ("visible", "message"),
    [
        ("0,1", "gpus=1: 3 processes need 3 GPUs, and this one sees 2; name fewer processes"),
        ("", "gpus=1: this process sees no GPU; leave it out"),
    ],
)
def test_too_few_gpus_are_an_error(monkeypatch: pytest.MonkeyPatch, visible: str, message: str):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    executor, address = find_executor("processes:3")
    assert executor.open is not None

    with pytest.raises(BadUsage, match=message), executor.open(address, Resources(1, 1 << 20, 1)):
        pass


def test_an_array_requests_gpus():
    job = ArrayJob(["rankwell", "worker", "work"], [0], 1, 2, 1 << 30, "1.0", 4)
    script = EXECUTORS["array"].script
    assert script is not None

    text = script("1000", job)

    assert "--mem=2048M --gres=gpu:4 --requeue" in text
    assert "            limits: {cpu: 2, memory: 2048Mi, nvidia.com/gpu: 4}\n" in text
