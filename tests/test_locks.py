"""Locks: one writer at a time, who is named, and none after its end."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from rankwell.errors import BadUsage
from rankwell.store.locks import locked

HOLDER = """
import sys, time
from pathlib import Path
from rankwell.store.locks import locked

with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""


def hold(place: Path, seconds: float) -> subprocess.Popen[str]:
    """A process that holds the lock of a place."""
    line = [sys.executable, "-c", HOLDER, str(place), str(seconds)]
    holder = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


@pytest.mark.parametrize("place", ["folder", "file.npy"])
def test_the_second_names_the_first_and_a_killed_one_holds_nothing(place: str, tmp_path: Path):
    (tmp_path / "folder").mkdir()
    with hold(tmp_path / place, 600) as holder:
        with (
            pytest.raises(
                BadUsage, match=rf"being written by process {holder.pid} on .*600.*, since 20"
            ),
            locked(tmp_path / place),
        ):
            pass
        holder.kill()
        holder.wait()
        with locked(tmp_path / place):
            pass

    assert {path.name for path in tmp_path.rglob("*")} == {"folder"}


def test_one_who_waits_gets_it_when_the_other_ends(tmp_path: Path):
    with hold(tmp_path, 0.5), locked(tmp_path, wait=60):
        pass

    assert not list(tmp_path.iterdir())


def test_a_thread_holds_it_as_often_as_it_likes_and_another_does_not(tmp_path: Path):
    refused: list[str] = []

    def _try() -> None:
        try:
            with locked(tmp_path):
                pass
        except BadUsage as error:
            refused.append(str(error))

    with locked(tmp_path), locked(tmp_path):
        other = threading.Thread(target=_try)
        other.start()
        other.join()

    assert len(refused) == 1
    assert f"process {os.getpid()}" in refused[0]
    with locked(tmp_path):
        pass


def test_a_holder_cannot_write_to_the_terminal_of_another(tmp_path: Path):
    line = [
        sys.executable,
        "-c",
        HOLDER.replace("sys.argv[2]", "600"),
        str(tmp_path),
        "\x1b[31mred",
    ]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(BadUsage, match=r"\\x1b\[31mred"), locked(tmp_path):
            pass
        holder.kill()
