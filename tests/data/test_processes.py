"""Work in processes of their own: in order, with errors that reach the caller, and an end when
somebody wants one.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from process_tasks import pid_after
from rankwell.errors import BadUsage
from rankwell.processes import crew


@pytest.mark.parametrize("processes", [1, 2])
def test_results_come_in_order_and_errors_as_they_are(processes: int):
    with crew(processes, threads=2, prepare=os.getpid) as each:
        assert list(each(abs, range(-50, 0))) == list(range(50, 0, -1))
        assert list(each(abs, [])) == []
        with pytest.raises(ValueError, match="'two'"):
            list(each(int, ["1", "two"]))
        assert list(each(str.upper, ["still", "here"])) == ["STILL", "HERE"]


def test_processes_are_others_and_as_many_as_were_requested():
    with crew(2, threads=None, prepare=os.getpid) as each:
        found = set(each(pid_after, [0.1] * 12))

    assert os.getpid() not in found
    assert 1 <= len(found) <= 2


def _crew_of_two(prepare: Callable[[], object] = os.getpid):
    return crew(2, threads=None, prepare=prepare)


def _stopped(results: Iterator[object]) -> None:
    next(results)
    raise KeyboardInterrupt


def test_a_process_that_dies_ends_the_work_with_a_kind_word():
    with (
        pytest.raises(BadUsage, match=r"one of 2 processes ended early.*ask for fewer"),
        _crew_of_two() as each,
    ):
        list(each(os._exit, [9]))


def test_a_process_that_cannot_begin_is_reported_likewise():
    with pytest.raises(BadUsage, match="ended early"), _crew_of_two(os.abort) as each:
        list(each(abs, [1]))


def test_who_leaves_early_does_not_wait_for_what_has_not_begun():
    begin = time.monotonic()

    with pytest.raises(KeyboardInterrupt), _crew_of_two() as each:
        _stopped(each(time.sleep, [0.1] * 1000))

    assert time.monotonic() - begin < 25


PARENT = """
import os
from process_tasks import pid_after
from rankwell.processes import crew

if __name__ == "__main__":
    with crew(2, threads=None, prepare=os.getpid) as each:
        print(*set(each(pid_after, [0.2] * 8)), flush=True)
        list(each(pid_after, [0.2] * 5000))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="a system without signals")
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM"])
def test_processes_end_with_a_killed_parent(name: str, tmp_path: Path):
    (tmp_path / "parent.py").write_text(PARENT)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        [sys.executable, tmp_path / "parent.py"], stdout=subprocess.PIPE, text=True, env=environment
    ) as parent:
        assert parent.stdout is not None
        workers = [int(each) for each in parent.stdout.readline().split()]
        assert workers
        parent.send_signal(getattr(signal, name))

    end = time.monotonic() + 10
    while any(map(_runs, workers)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not [each for each in workers if _runs(each)]


def _runs(process: int) -> bool:
    """Whether a process is there and has not ended, as a zombie has that no one waits for."""
    try:
        return (
            "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
            if Path("/proc").is_dir()
            else not os.kill(process, 0)
        )
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(
    not hasattr(signal, "pthread_sigmask"), reason="the system has no masks of signals"
)
def test_ctrl_c_waits_although_the_first_process_starts_another_that_lets_it_through():
    script = (
        "import multiprocessing, signal\n"
        "from multiprocessing import resource_tracker\n"
        "from rankwell.processes import starting_processes\n"
        "with starting_processes():\n"
        "    resource_tracker.ensure_running()\n"
        "    assert signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())\n"
        "assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())\n"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")
