"""Evaluations in parts that are killed in the middle: the bytes of one process."""

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from ray_cluster import has_loaded, part_workers_of, wait_for
from tasks.runs.run_shards import rows_of, scattered, write_judgments, write_shards

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc"),
]
SHARDS = 8


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that the plain reader takes seconds to count in both rounds: every row has a hundred
    copies with other items.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RANKWELL_KERNEL", "numpy")
    write_judgments(Path("qrels.txt"))
    rows = [
        (query, f"{item}-{copy}" if copy else item, score)
        for query, item, score in scattered(rows_of())
        for copy in range(150)
    ]
    write_shards(Path("run"), ".run", rows, SHARDS)
    subprocess.run(command("-o", "one"), check=True, capture_output=True)
    return tmp_path


def command(*words: str) -> list[str]:
    return [
        sys.executable,
        "-m",
        "rankwell",
        "evaluate",
        "qrels.txt",
        "run",
        "-m",
        "nDCG@10",
        "-m",
        "AP",
        *words,
    ]


def parts(*words: str) -> list[str]:
    return command("-o", "parts", "--work", "work", "--shards", str(SHARDS), *words)


def files(result: str) -> dict[str, bytes]:
    return {
        path.relative_to(result).as_posix(): path.read_bytes()
        for path in sorted(Path(result).rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("part", ["part-00001", "second/part-00001"])
def test_a_killed_worker_costs_the_part_in_flight_and_no_byte(folder: Path, part: str):
    driver = subprocess.Popen(parts("--executor", "processes:2"), stderr=subprocess.PIPE)

    wait_for(lambda: Path(f"work/{part}.json").exists())
    os.kill(wait_for(lambda: part_workers_of(driver.pid))[0], signal.SIGKILL)
    _, error = driver.communicate(timeout=240)

    assert driver.returncode == 0, error.decode()
    assert files("parts") == files("one")


@pytest.mark.parametrize("part", ["part-00001", "second/part-00001"])
def test_a_killed_driver_goes_on_with_the_parts_that_are_done(folder: Path, part: str):
    driver = subprocess.Popen(parts("--executor", "processes:2"), stderr=subprocess.DEVNULL)
    wait_for(lambda: Path(f"work/{part}.json").exists())
    driver.kill()
    driver.wait()
    done = {
        path: path.stat().st_ino
        for path in Path("work").rglob("part-*.arrays")
        if path.with_suffix(".json").exists()
    }

    subprocess.run(parts("--executor", "processes:2"), check=True, capture_output=True)

    assert done
    assert {path: path.stat().st_ino for path in done} == done
    assert files("parts") == files("one")


def test_a_killed_element_of_an_array_is_listed_and_done_again(folder: Path):
    words = parts("--executor", "array")
    for place in ("work", "work/second"):
        subprocess.run(words, check=False, capture_output=True)
        for index in range(SHARDS):
            element = subprocess.Popen(
                [sys.executable, "-m", "rankwell", "worker", place, str(index)],
                stderr=subprocess.DEVNULL,
            )
            if index == 5:
                wait_for(partial(has_loaded, element.pid))
                element.kill()
            element.wait()
        found = subprocess.run(words, capture_output=True, encoding="utf-8")
        assert found.returncode == 5
        assert f"1 of {SHARDS} parts is missing: 5; submit it" in found.stderr
        subprocess.run(
            [sys.executable, "-m", "rankwell", "worker", place, "5"],
            check=True,
            capture_output=True,
        )

    subprocess.run(words, check=True, capture_output=True)

    assert files("parts") == files("one")
