"""Executors: each calls what it is told to, by name and with one string, and a lost worker costs only the call that it made."""

import json
import os
import platform
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import rankwell
from rankwell.errors import BadInput, BadUsage, MissingExtra, UnknownName
from rankwell.executors import EXECUTORS, ArrayJob, Resources, call, find_executor, slurm_ranges
from rankwell.executors import ray as executor_ray
from rankwell.parts.execution import memory_size

SMALL = Resources(1, 64 << 20)
posix = pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")


def children_of(process: int) -> list[int]:
    """The processes that a process has started."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        found += [int(folder.name)] if parent == process else []
    return found


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    np.save(tmp_path / "base.npy", rng.integers(-9, 9, size=(3000, 8)).astype(np.float32))
    np.save(tmp_path / "queries.npy", rng.normal(size=(20, 8)).astype(np.float32))
    return tmp_path


def search(files: Path, **options) -> bytes:
    found = rankwell.search(str(files / "queries.npy"), str(files / "base.npy"), **{"k": 20, "metric": "l2", **options})
    return found.positions.tobytes() + found.scores.tobytes()


@pytest.mark.parametrize("executor", ["here", "processes:2", "processes"])
def test_an_executor_gives_the_bytes_of_one_process(files: Path, executor: str):
    assert search(files, executor=executor, shards=5) == search(files)


def test_an_array_gives_the_bytes_of_one_process(files: Path):
    options = {"executor": "array", "work": str(files / "work"), "shards": 3}
    with pytest.raises(rankwell.Unfinished, match=r"has the plan of 3 parts; submit them(.|\n)*sbatch --array=0-2 "):
        search(files, **options)

    for index in range(3):
        call("rankwell.parts.running:run_part", f'{{"work": "{(files / "work").as_posix()}", "part": {index}}}')

    assert search(files, **options) == search(files)


def by_ray(files: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A search by a cluster of its own, in a process of its own: Ray reads its environment when it is imported."""
    pytest.importorskip("ray")
    places = [str(files / "base.npy"), str(files / "queries.npy"), "-k", "20", "--metric", "l2", "-o", str(files / "ray.run")]
    every = [sys.executable, "-m", "rankwell", "search", *places, "--executor", "ray", *words]
    return subprocess.run(every, capture_output=True, encoding="utf-8")


@pytest.mark.slow
def test_ray_gives_the_bytes_of_one_process(files: Path):
    done = by_ray(files, "--shards", "5", "--memory", "64M")

    assert done.returncode == 0, done.stderr
    found = rankwell.search(str(files / "queries.npy"), str(files / "base.npy"), k=20, metric="l2")
    rankwell.write_run(found.ranking(), files / "one.run")
    assert (files / "ray.run").read_bytes() == (files / "one.run").read_bytes()


@pytest.mark.slow
def test_ray_reports_an_error_of_the_input_as_one_process_does(files: Path):
    vectors = np.load(files / "base.npy")
    vectors[2999] = np.nan
    np.save(files / "base.npy", vectors)

    done = by_ray(files, "--shards", "5", "--memory", "64M")

    assert done.returncode == 2
    assert "base.npy, row 2999: number 0 is nan" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_a_part_that_no_node_can_hold_is_refused(files: Path):
    done = by_ray(files, "--memory", "100T")

    assert done.returncode == 2
    assert "a part needs 1 processors and 104857600 MiB; the largest node has" in done.stderr


def start_node(*words: str) -> "subprocess.Popen[bytes]":
    """A node of a Ray cluster, which ends with this process."""
    every = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--num-cpus", "2", "--disable-usage-stats", *words]
    environment = {**os.environ, "RAY_AUTH_MODE": "token"}
    return subprocess.Popen(every, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)


def raylets(node: int) -> list[int]:
    """The process of a node that starts its workers."""
    return [child for child in children_of(node) if b"raylet/raylet" in Path(f"/proc/{child}/cmdline").read_bytes()]


@posix
@pytest.mark.slow
@pytest.mark.server
def test_a_cluster_that_is_joined_survives_the_search_and_the_search_a_lost_node(long: Path):
    pytest.importorskip("ray")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    words = ["--executor", f"ray:{address}", "--memory", "64M", "--shards", "12", "--work", str(long / "work")]
    one, parts = long / "one.run", long / "parts.run"
    subprocess.run(command(long, "-o", str(one)), check=True, capture_output=True)
    subprocess.run([sys.executable, "-m", "ray.scripts.scripts", "get-auth-token", "--generate"], check=True, capture_output=True)

    nodes = [start_node("--head", "--port", address.rpartition(":")[2], "--include-dashboard", "false")]
    try:
        wait_for(lambda: raylets(nodes[0].pid))
        nodes.append(start_node("--address", address))
        lost = wait_for(lambda: raylets(nodes[1].pid))[0]
        environment = {**os.environ, "RAY_AUTH_MODE": "token"}
        driver = subprocess.Popen(command(long, "-o", str(parts), *words), stderr=subprocess.PIPE, env=environment)
        wait_for(lambda: list((long / "work").glob("part-00003.running.json")))
        os.kill(lost, signal.SIGKILL)
        _, error = driver.communicate(timeout=240)

        assert driver.returncode == 0, error.decode()
        assert parts.read_bytes() == one.read_bytes()
        assert raylets(nodes[0].pid)
    finally:
        for node in nodes:
            node.terminate()
            node.wait(30)


def test_ray_imported_without_a_token_is_refused(files: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "ray", object())
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)

    with pytest.raises(BadUsage, match="Ray is already imported without RAY_AUTH_MODE=token"):
        search(files, executor="ray")


def test_a_cluster_that_cannot_be_reached_is_refused_at_once(files: Path):
    pytest.importorskip("ray")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    with pytest.raises(BadUsage, match=rf"executor='ray:127\.0\.0\.1:{port}': the cluster cannot be joined"):
        search(files, executor=f"ray:127.0.0.1:{port}", work=str(files / "work"))


def test_ray_that_is_missing_is_named_with_its_extra(files: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "ray", None)

    with pytest.raises(MissingExtra, match=r"pip install 'rankwell\[ray\]'"):
        search(files, executor="ray")


class ClusterOfOtherVersion:
    """What the executor uses of Ray, with one node whose rankwell is another one."""

    __version__ = "2.60"

    def nodes(self):
        return [{"Alive": True, "NodeID": "1", "NodeManagerHostname": "node-1"}, {"Alive": False}]

    def remote(self, function):
        return self

    def options(self, **_):
        return SimpleNamespace(remote=lambda name, argument: (name, argument))

    def get(self, reference, timeout):
        assert reference == ("rankwell.executors.ray:versions", "")
        return json.dumps({"python": platform.python_version(), "ray": "2.60", "rankwell": "0.0.1"})


def test_another_version_on_a_node_is_refused_with_the_name_of_the_node(monkeypatch: pytest.MonkeyPatch):
    cluster = ClusterOfOtherVersion()
    strategies = SimpleNamespace(NodeAffinitySchedulingStrategy=lambda node, soft: node)
    for name, module in (("ray", cluster), ("ray.util", strategies), ("ray.util.scheduling_strategies", strategies)):
        monkeypatch.setitem(sys.modules, name, module)

    with pytest.raises(BadUsage, match=rf"the node node-1 has rankwell 0\.0\.1, this machine {rankwell.__version__}; install"):
        executor_ray._refuse_other_versions(cluster)


@pytest.mark.parametrize("executor", ["array", "ray:127.0.0.1:1"])
def test_machines_that_share_no_disk_need_a_work_folder(files: Path, executor: str):
    with pytest.raises(BadUsage, match="needs work: a folder that all machines see"):
        search(files, executor=executor)


@pytest.mark.parametrize(
    ("executor", "kind", "message"),
    [
        ("proceses", UnknownName, "did you mean 'processes'"),
        ("processes:0", BadUsage, "expected a positive integer behind the colon, as in processes:4"),
        ("processes:two", BadUsage, "expected a positive integer"),
        ("here:1", BadUsage, "takes nothing behind the colon"),
        ("array:x", BadUsage, "expected a positive integer"),
    ],
)
def test_an_executor_that_is_misspelt_is_refused(files: Path, executor: str, kind: type[Exception], message: str):
    with pytest.raises(kind, match=message):
        search(files, executor=executor, work=str(files / "work"))


def test_only_functions_of_rankwell_are_called():
    with pytest.raises(ValueError, match="is not a function of rankwell"):
        call("os:system", "true")


def test_processes_end_with_the_block_and_answer_every_call():
    executor, address = find_executor("processes:3")
    assert executor.open is not None

    with executor.open(address, SMALL) as run:
        answers = dict(run("rankwell.parts.running:run_part", ['{"work": "/nowhere", "part": 1}'] * 7))

    assert sorted(answers) == list(range(7))
    assert all('"kind": "BadUsage"' in each for each in answers.values())
    assert not workers_of(os.getpid())


def workers_of(process: int) -> list[int]:
    """The worker processes that a process has started."""
    return [child for child in children_of(process) if b"executors.worker" in Path(f"/proc/{child}/cmdline").read_bytes()]


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
    places = [str(files / "base.npy"), str(files / "queries.npy"), "-k", "20", "--metric", "dot"]
    return [sys.executable, "-m", "rankwell", "search", *places, *words]


def wait_for(found) -> object:
    end = time.monotonic() + 60
    while not (answer := found()):
        assert time.monotonic() < end
        time.sleep(0.005)
    return answer


@posix
def test_a_killed_worker_costs_the_part_in_flight_and_no_byte(long: Path):
    expected = search(long, metric="dot")
    killed: list[int] = []

    def kill() -> None:
        wait_for(lambda: list((long / "work").glob("part-00002.running.json")))
        killed.append(workers_of(os.getpid())[0])
        os.kill(killed[0], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    found = search(long, metric="dot", executor="processes:2", shards=8, work=str(long / "work"))
    thread.join()

    assert killed
    assert found == expected
    assert not workers_of(os.getpid())


@posix
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_a_driver_that_ends_leaves_no_process_and_the_same_command_goes_on(long: Path, sent: int):
    words = ["--executor", "processes:2", "--shards", "8", "--work", str(long / "work")]
    one = long / "one.run"
    subprocess.run(command(long, "-o", str(one)), check=True, capture_output=True)

    driver = subprocess.Popen(command(long, "-o", str(long / "parts.run"), *words), stderr=subprocess.PIPE)
    wait_for(lambda: list((long / "work").glob("part-00003.running.json")))
    children = workers_of(driver.pid)
    driver.send_signal(sent)
    driver.communicate(timeout=5)
    wait_for(lambda: not any(Path(f"/proc/{child}").exists() and not is_zombie(child) for child in children))
    done = {path: path.stat().st_ino for path in (long / "work").glob("part-*.npy") if path.with_suffix(".json").exists()}
    subprocess.run(command(long, "-o", str(long / "parts.run"), *words), check=True, capture_output=True)

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
    job = ArrayJob(["rankwell", "part", "a b"], [0, 3, 999, 1000, 1001, 2500], 2600, 2, 1 << 30, "1.0")
    script = EXECUTORS["array"].script
    assert script is not None

    lines = [line for line in script("1000", job).splitlines() if line.startswith("sbatch")]

    resources = "--cpus-per-task=2 --mem=2048M --requeue --wrap 'rankwell part '\"'\"'a b'\"'\"''"
    assert lines == [
        f"sbatch --array=0,3,999 {resources}",
        f"sbatch --array=0-1 --export=ALL,RANKWELL_PART_OFFSET=1000 {resources}",
        f"sbatch --array=500 --export=ALL,RANKWELL_PART_OFFSET=2000 {resources}",
    ]


@pytest.mark.parametrize(("text", "size"), [("500M", 500 << 20), ("2g", 2 << 30), ("1.5GiB", 3 << 29), ("4096", 4096)])
def test_sizes_are_read(text: str, size: int):
    assert memory_size(text) == size


@pytest.mark.parametrize("text", ["", "2X", "-1G", "0", "1e9", "G"])
def test_other_sizes_are_refused(text: str):
    with pytest.raises(BadUsage, match="expected a size such as 500M or 8G"):
        memory_size(text)
