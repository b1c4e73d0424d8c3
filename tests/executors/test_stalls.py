"""Parts that give no sign of life are started again, and parts that need GPUs have their own."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rankwell
from rankwell.cli import main
from rankwell.errors import BadUsage
from rankwell.executors import EXECUTORS, ArrayJob, Resources, find_executor
from rankwell.parts import signs
from rankwell.parts.signs import StallWatch, working

posix = pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")


class Notes:
    """A work folder that has notes alone."""

    def __init__(self) -> None:
        self.place = SimpleNamespace(is_local=True, name="work")
        self.notes: dict[int, dict[str, Any]] = {}
        self.written: list[float] = []

    def begin(self, index: int) -> dict[str, Any]:
        self.notes[index] = {"host": "here", "process": 7}
        return self.notes[index]

    def renew(self, index: int, note: dict[str, Any]) -> None:
        self.notes[index] = note
        self.written.append(note["processor_seconds"])

    def note(self, index: int, _: str) -> dict[str, Any] | None:
        return self.notes.get(index)

    def forget(self, index: int, _: str) -> None:
        self.notes.pop(index, None)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    now = SimpleNamespace(seconds=100.0)
    monkeypatch.setattr(signs, "time", SimpleNamespace(monotonic=lambda: now.seconds))
    return now


def test_a_part_is_stalled_when_its_note_stays_the_same_for_too_long(
    clock: SimpleNamespace, capsys: pytest.CaptureFixture[str]
):
    folder, found = Notes(), list[tuple[float, bool]]()
    watch: Any = StallWatch(folder, [4, 9], 10)  # pyright: ignore[reportArgumentType]
    for second in range(60):
        clock.seconds = 100.0 + second
        if second == 20:
            folder.begin(9)
        if second in (24, 28):
            folder.notes[9] = {**folder.notes[9], "processor_seconds": second}
        if watch(1):
            found.append((second, True))

    assert found == [(39, True), (51, True)]
    line = "part 9 has given no sign of life for 10 s (here, process 7); it is started again\n"
    assert capsys.readouterr().err == line * 2


@pytest.mark.parametrize(("share", "signs_given"), [(0.0, 0), (0.005, 0), (0.02, 3), (2.0, 3)])
def test_a_part_gives_a_sign_while_it_uses_a_hundredth_of_a_processor(
    monkeypatch: pytest.MonkeyPatch, share: float, signs_given: int
):
    clock = SimpleNamespace(seconds=50.0)

    @contextmanager
    def _repeating(act: Callable[[], None], seconds: float) -> Iterator[None]:
        for _ in range(3):
            clock.seconds += seconds
            act()
        yield

    monkeypatch.setattr(signs, "repeating", _repeating)
    monkeypatch.setattr(
        signs,
        "time",
        SimpleNamespace(
            monotonic=lambda: clock.seconds,
            process_time=lambda: share * clock.seconds,
            thread_time=lambda: 0.0,
        ),
    )
    folder = Notes()

    with working(folder, 0):  # pyright: ignore[reportArgumentType]
        assert folder.notes

    assert len(folder.written) == signs_given
    assert not folder.notes


@posix
@pytest.mark.slow
def test_a_suspended_process_is_replaced_and_no_byte_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    random = np.random.default_rng(0)
    np.save(tmp_path / "base.npy", random.integers(-9, 9, size=(60_000, 32)).astype(np.float32))
    np.save(tmp_path / "queries.npy", random.integers(-9, 9, size=(500, 32)).astype(np.float32))
    places, suspended = [str(tmp_path / "queries.npy"), str(tmp_path / "base.npy")], list[int]()

    def _suspend() -> None:
        while not suspended:
            for file in (tmp_path / "work").glob("*.running.json"):
                try:
                    process = json.loads(file.read_text())["process"]
                except (OSError, ValueError):
                    continue
                os.kill(process, signal.SIGSTOP)
                suspended.append(process)
                break
            time.sleep(0.002)

    thread = threading.Thread(target=_suspend, daemon=True)
    thread.start()
    found = rankwell.search(
        *places, k=10, executor="processes:2", work=str(tmp_path / "work"), shards=3, stall=3
    )
    alone = rankwell.search(*places, k=10)

    assert f"process {suspended[0]}); it is started again" in capsys.readouterr().err
    assert not Path(f"/proc/{suspended[0]}").exists()
    assert found.positions.tobytes() == alone.positions.tobytes()
    assert found.scores.tobytes() == alone.scores.tobytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"executor": "here", "stall": 60.0},
            r"stall=60.0: the executor here does not start parts again",
        ),
        (
            {"executor": "processes:1", "stall": 1.0},
            r"stall=1.0: expected 3 seconds or more; a part gives a sign of life every 1 s\.$",
        ),
        (
            {"executor": "processes:1", "stall": 29, "work": "s3://bucket/work"},
            r"stall=29: expected 30 seconds or more; a part .* every 10 s where its work "
            r"folder is in a bucket\.$",
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
        rankwell.search(str(tmp_path / "base.npy"), str(tmp_path / "base.npy"), k=2, **options)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--stall 30", "--stall 30: the executor here does not start parts again"),
        ("--gpus 1", "--gpus 1: this process uses the GPUs that it sees"),
        ("--gpus 1 --dry-run", "--gpus 1: this process uses the GPUs that it sees"),
        (
            "--stall 0.5 --executor processes:1",
            "--stall 0.5: expected 3 seconds or more; a part gives a sign of life every 1 s.",
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
        "sys.argv", f"rankwell search base.npy base.npy -k 2 -o two.run --work work {words}".split()
    )

    assert main() == 2

    assert capsys.readouterr().err.startswith(f"rankwell: {says}")
    assert sorted(path.name for path in Path().iterdir()) == ["base.npy"]


@posix
def test_each_process_sees_its_own_gpus(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,1,0,2")
    executor, address = find_executor("processes:2")
    assert executor.open is not None
    seen = set[str]()

    with executor.open(address, Resources(1, 1 << 20, 2)) as run:
        answers = run("rankwell.parts.running:run_part", ['{"work": "/nowhere", "part": 1}'] * 2)
        next(answers)
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                words, variables = (
                    (folder / name).read_bytes().split(b"\0") for name in ("cmdline", "environ")
                )
            except OSError:
                continue
            if (
                b"rankwell.executors.worker" in words
                and f"PPid:\t{os.getpid()}\n" in (folder / "status").read_text()
            ):
                seen |= {
                    each.decode() for each in variables if each.startswith(b"CUDA_VISIBLE_DEVICES")
                }
        list(answers)

    assert seen == {"CUDA_VISIBLE_DEVICES=3,1", "CUDA_VISIBLE_DEVICES=0,2"}


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
    job = ArrayJob(["rankwell", "part", "work"], [0], 1, 2, 1 << 30, "1.0", 4)
    script = EXECUTORS["array"].script
    assert script is not None

    text = script("1000", job)

    assert "--mem=2048M --gres=gpu:4 --requeue" in text
    assert "            limits: {cpu: 2, memory: 2048Mi, nvidia.com/gpu: 4}\n" in text
