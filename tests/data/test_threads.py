"""The number of threads: options and variables before quotas, and quotas as the kernel states
them.
"""

import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from rankwell import threads
from rankwell.cli import main
from rankwell.errors import BadUsage
from rankwell.threads import memory_left, processor_quota


def group(root: Path, cgroup: str, **contents: str) -> Path:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(cgroup)
    for place, content in contents.items():
        path = root / "sys/fs/cgroup" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


@pytest.mark.parametrize(
    ("content", "expected"),
    [("max 100000\n", None), ("250000 100000\n", 3), ("50000 100000\n", 1), ("", None)],
)
def test_the_second_version_states_quota_and_period_in_one_file(tmp_path, content, expected):
    root = group(tmp_path, "0::/\n", **{"cpu.max": content})

    assert processor_quota(root) == expected


def test_groups_above_limit_as_well(tmp_path):
    root = group(
        tmp_path,
        "0::/batch/job/step\n",
        **{"batch/cpu.max": "400000 100000", "batch/job/step/cpu.max": "max 100000"},
    )

    assert processor_quota(root) == 4
    (root / "sys/fs/cgroup/batch/job/cpu.max").write_text("200000 100000\n")
    assert processor_quota(root) == 2


@pytest.mark.parametrize("mount", ["cpu,cpuacct", "cpu"])
def test_the_first_version_has_a_file_each_and_minus_one_for_no_quota(tmp_path, mount):
    period = {f"{mount}/docker/7/cpu.cfs_period_us": "100000\n"}
    root = group(
        tmp_path,
        "9:memory:/\n4:cpu,cpuacct:/docker/7\n0::/\n",
        **{f"{mount}/docker/7/cpu.cfs_quota_us": "-1\n"},
        **period,
    )

    assert processor_quota(root) is None
    (root / f"sys/fs/cgroup/{mount}/docker/7/cpu.cfs_quota_us").write_text("150000\n")
    assert processor_quota(root) == 2


def test_a_container_whose_path_is_that_outside_has_its_quota_at_the_top(tmp_path):
    top = {"cpu/cpu.cfs_quota_us": "300000", "cpu/cpu.cfs_period_us": "100000"}

    assert processor_quota(group(tmp_path, "3:cpu:/kubepods/pod1/abc\n", **top)) == 3


def test_without_groups_there_is_no_quota(tmp_path):
    assert processor_quota(tmp_path) is None
    assert memory_left(tmp_path) is None


def test_the_memory_that_is_left_is_the_limit_without_what_is_used(tmp_path):
    one = group(
        tmp_path / "1",
        "7:memory:/a\n",
        **{"memory/a/memory.limit_in_bytes": "1000", "memory/a/memory.usage_in_bytes": "400"},
    )
    two = group(
        tmp_path / "2",
        "0::/a\n",
        **{"a/memory.max": "5000\n", "a/memory.current": "6000\n", "memory.max": "max"},
    )
    none = group(
        tmp_path / "3",
        "7:memory:/\n",
        **{"memory/memory.limit_in_bytes": str(2**63 - 4096), "memory/memory.usage_in_bytes": "4"},
    )

    assert [memory_left(root) for root in (one, two, none)] == [600, 0, None]


def test_processors_are_the_least_of_affinity_quota_and_omp(monkeypatch):
    monkeypatch.delenv("RANKWELL_THREADS", raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8), raising=False)
    monkeypatch.setattr(threads, "_quota", lambda: None)
    assert threads.processors() == 8

    monkeypatch.setattr(threads, "_quota", lambda: 6)
    assert threads.processors() == 6
    for text, expected in (("4", 4), ("3,2", 3), ("99", 6), ("many", 6), ("0", 6), ("", 6)):
        monkeypatch.setenv("OMP_NUM_THREADS", text)
        assert threads.processors() == expected


def test_the_variable_gives_the_number_and_a_wrong_one_is_refused(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("RANKWELL_THREADS", "5")
    assert threads.processors() == 5

    monkeypatch.setattr(threads, "_LIMITS", [2])
    assert threads.processors() == 2
    for text in ("0", "-1", "two", "1.5", "²"):
        monkeypatch.setenv("RANKWELL_THREADS", text)
        with pytest.raises(BadUsage, match=r"RANKWELL_THREADS .*: expected a positive integer"):
            threads.processors()


def test_the_option_gives_the_number_to_any_command(monkeypatch, capsys):
    seen = list[int]()
    monkeypatch.setenv("RANKWELL_THREADS", "7")
    monkeypatch.setattr(
        "rankwell.data.options.overwriting",
        lambda *_, **__: seen.append(threads.processors()) or nullcontext(),
    )

    for words in (["--threads", "3"], ["--threads=4"], ["--", "--threads=5"]):
        monkeypatch.setattr(sys, "argv", ["rankwell", "engine", "list", *words])
        main()

    assert seen == [3, 4]
    assert "--threads=5" in capsys.readouterr().err
    assert threads.processors() == 7


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["explain", "--threads", "0"], "--threads '0': expected a positive integer"),
        (["explain", "--threads"], "--threads '': expected a positive integer"),
        (["explain", "--threads", "2", "--threads", "2"], "--threads: given twice"),
    ],
)
def test_a_wrong_number_of_threads_exits_with_2(words, says, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["rankwell", *words])

    assert main() == 2
    assert says in capsys.readouterr().err


def test_libraries_of_a_new_process_start_as_many_threads():
    code = (
        "import rankwell.threads as workers\n"
        "with workers.threads_from('1'):\n"
        "    import numpy, threadpoolctl\n"
        "    print(max(each['num_threads'] for each in threadpoolctl.threadpool_info()), "
        "workers.processors())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["1", "1"]
