"""Ray: clusters of this machine and two nodes that are joined give the bytes of one process, and a
lost node costs no byte.
"""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rankwell
from benches import RUNS_ALONE, make_bench
from rankwell.errors import BadUsage, MissingExtra
from rankwell.runtime.executors import EXECUTORS, Resources
from rankwell.runtime.executors import ray as executor_ray
from ray_cluster import RayCluster, two_nodes, wait_for
from tasks.runs.run_shards import rows_of, scattered, write_judgments, write_shards


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with two_nodes() as found:
        yield found


def ties(rows: int, dimensions: int, seed: int):
    """Small whole numbers, so that many scores tie; the last rows are copies of the first."""
    vectors = np.random.default_rng(seed).integers(1, 4, size=(rows, dimensions)).astype(np.float32)
    vectors[-rows // 8 :] = vectors[: len(vectors[-rows // 8 :])]
    return vectors


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, rows, dimensions in (
        ("base", 3000, 8),
        ("queries", 40, 8),
        ("captions", 160, 5),
        ("videos", 40, 5),
        ("other", 160, 4),
    ):
        np.save(tmp_path / f"{name}.npy", ties(rows, dimensions, rows + dimensions))
    (tmp_path / "positives.json").write_text(
        json.dumps([[caption % 3 * 7] if caption % 2 else [caption % 37] for caption in range(160)])
    )
    return tmp_path


def files(place: Path) -> dict[str, bytes]:
    """The files of a result, which is a folder or one file."""
    if place.is_file():
        return {place.name: place.read_bytes()}
    return {
        path.relative_to(place).as_posix(): path.read_bytes()
        for path in sorted(place.rglob("*"))
        if path.is_file()
    }


def encoded(folder: Path) -> list[str]:
    draw = random.Random(3)
    words = [f"word{number}" for number in range(60)]
    rows = ({"_id": f"t{row}", "text": " ".join(draw.choices(words, k=9))} for row in range(250))
    (folder / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return [
        "encode",
        "texts.jsonl",
        "--encoder",
        "tfidf-svd:6",
        "--fit",
        "texts.jsonl",
        "--batch-size",
        "1",
        "--shards",
        "4",
    ]


def evaluated(folder: Path) -> list[str]:
    write_judgments(folder / "qrels.txt")
    write_shards(folder / "run", ".run", scattered(rows_of()))
    return ["evaluate", "qrels.txt", "run", "-m", "nDCG@10", "-m", "AP", "--shards", "4"]


def benched(folder: Path) -> list[str]:
    return ["bench", str(make_bench(folder / "inputs", RUNS_ALONE))]


PLACES = ["base.npy", "queries.npy", "-o", "ray.run", "--work", "work"]
SEARCH = "knn base.npy queries.npy --neighbours 20 --metric l2 --shards 5"
AGREE = "embeddings --reference captions.npy other.npy --samples 30 -k 1,5 --shards 3"
CAPTIONS = (
    "crossmodal --query-vectors captions.npy --item-vectors videos.npy --qrels positives.json "
    "--direction t2v,v2t,v2t-videos --shards 3"
)
COMMANDS: dict[str, Callable[[Path], list[str]]] = {
    "crossmodal": lambda _: CAPTIONS.split(),
    "knn": lambda _: SEARCH.split(),
    "embeddings": lambda _: AGREE.split(),
    "evaluate": evaluated,
    "encode": encoded,
    "bench": benched,
}
SUFFIXES = {"knn": ".run", "encode": ".npy"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name == "crossmodal" else pytest.mark.server)
        for name in COMMANDS
    ],
)
def test_two_nodes_give_the_bytes_of_one_process(cluster: RayCluster, folder: Path, name: str):
    words, suffix = COMMANDS[name](folder), SUFFIXES.get(name, "")
    alone = [
        word
        for number, word in enumerate(words)
        if "--shards" not in words[max(0, number - 1) : number + 1]
    ]

    for place in ("one", "two"):
        (folder / place).mkdir()
    subprocess.run(
        [sys.executable, "-m", "rankwell", *alone, "-o", f"one/found{suffix}"],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    code, error = cluster.run(*words, "-o", f"two/found{suffix}", "--work", "work", cwd=folder)

    assert code == 0, error
    assert len(list((folder / "work").rglob("part-*.json"))) > 1
    assert files(folder / "two") == files(folder / "one")


@pytest.mark.slow
def test_an_error_of_the_input_is_that_of_one_process(cluster: RayCluster, folder: Path):
    vectors = np.load(folder / "base.npy")
    vectors[2999] = np.nan
    np.save(folder / "base.npy", vectors)

    code, error = cluster.run("knn", *PLACES, "--shards", "5", cwd=folder)

    assert code == 2
    assert "base.npy, row 2999: number 0 is nan" in error
    assert len(error.splitlines()) == 1
    assert not (folder / "ray.run").exists()


@pytest.mark.slow
def test_a_part_that_no_node_can_hold_is_refused(cluster: RayCluster, folder: Path):
    code, error = cluster.run("knn", *PLACES, cwd=folder, memory="100T")

    assert code == 2
    assert "a part needs 1 processors and 104857600 MiB; the largest node has" in error


def long_tables(folder: Path) -> None:
    rng = np.random.default_rng(0)
    base = rng.integers(-9, 9, size=(60_000, 48)).astype(np.float32)
    base[50_000:] = base[:10_000]
    np.save(folder / "base.npy", base)
    np.save(folder / "small.npy", base[:, :24])
    np.save(folder / "queries.npy", rng.integers(-9, 9, size=(3000, 48)).astype(np.float32))
    (folder / "positives.json").write_text(json.dumps([[query % 50 * 7] for query in range(3000)]))


def long_texts(folder: Path) -> None:
    draw, words = random.Random(3), [f"word{number}" for number in range(400)]
    rows = ({"_id": f"t{row}", "text": " ".join(draw.choices(words, k=30))} for row in range(6000))
    (folder / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def long_runs(folder: Path) -> None:
    """Every row has copies with other items."""
    write_judgments(folder / "qrels.txt")
    rows = scattered(rows_of())
    copies = [
        (query, f"{item}-{copy}" if copy else item, score)
        for query, item, score in rows
        for copy in range(1500)
    ]
    write_shards(folder / "run", ".run", copies, 12)


def long_bench(folder: Path) -> None:
    """Twelve cells."""
    head, _, systems = RUNS_ALONE.partition("[[system]]")
    options, _, data_set = head.partition("[[dataset]]")
    every = [f"[[dataset]]{data_set.replace('runs', f'runs{number}', 1)}" for number in range(6)]
    make_bench(folder / "inputs", f"{options}{''.join(every)}[[system]]{systems}")


TABLES = "--query-vectors queries.npy --item-vectors base.npy --qrels positives.json"
LONG: dict[str, tuple[Callable[[Path], None], str, str]] = {
    "knn": (
        long_tables,
        "work",
        "knn base.npy queries.npy --neighbours 20 --metric dot --shards 12 -o {}/found.run",
    ),
    "crossmodal": (
        long_tables,
        "work/second",
        f"crossmodal {TABLES} --direction t2v --shards 12 -o {{}}/found",
    ),
    "embeddings": (
        long_tables,
        "work/second",
        "embeddings --reference base.npy small.npy --samples 1000 -k 10 --shards 12 -o {}/found",
    ),
    "evaluate": (long_runs, "work/second", "evaluate qrels.txt run -m AP --shards 12 -o {}/found"),
    "encode": (
        long_texts,
        "work",
        "encode texts.jsonl --encoder tfidf-svd:40 --fit texts.jsonl --batch-size 8 --shards 12 "
        "-o {}/found.npy",
    ),
    "bench": (long_bench, "work", "bench inputs/bench.toml -o {}/found"),
}
"""The inputs of work that takes seconds, the folder of the round in which a node is lost, and the
command.
"""


@pytest.mark.slow
@pytest.mark.server
@pytest.mark.parametrize("job", LONG)
def test_a_node_that_is_lost_in_the_middle_costs_no_byte_and_the_cluster_stays(
    cluster: RayCluster, tmp_path: Path, job: str
):
    inputs, work, words = LONG[job]
    inputs(tmp_path)
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
    alone = words.format("one").replace(" --shards 12", "").split()
    subprocess.run(
        [sys.executable, "-m", "rankwell", *alone], cwd=tmp_path, check=True, capture_output=True
    )
    lost = cluster.add_node()

    driver = cluster.start(*words.format("two").split(), "--work", "work", cwd=tmp_path)
    wait_for(lambda: driver.poll() is not None or list((tmp_path / work).glob("part-00003.*")))
    ended = driver.poll()
    os.kill(lost, signal.SIGKILL)
    _, error = driver.communicate(timeout=240)

    assert (ended, driver.returncode) == (None, 0), error
    assert files(tmp_path / "two") == files(tmp_path / "one")
    assert cluster.is_alive


@pytest.mark.slow
def test_a_cluster_of_its_own_gives_the_bytes_of_one_process(folder: Path):
    pytest.importorskip("ray")
    for words in (
        ["one.run"],
        ["ray.run", "--executor", "ray", "--shards", "5", "--memory", "64M"],
    ):
        every = [
            sys.executable,
            "-m",
            "rankwell",
            "knn",
            "base.npy",
            "queries.npy",
            "--neighbours",
            "20",
            "--metric",
            "l2",
            "-o",
            *words,
        ]
        done = subprocess.run(every, cwd=folder, capture_output=True, encoding="utf-8")
        assert done.returncode == 0, done.stderr

    assert (folder / "ray.run").read_bytes() == (folder / "one.run").read_bytes()


class RayThatStartsNothing(SimpleNamespace):
    """What the executor uses of Ray before it reaches a cluster."""

    job_config = SimpleNamespace(JobConfig=SimpleNamespace)

    def is_initialized(self) -> bool:
        return False

    def shutdown(self) -> None: ...


def search(folder: Path, executor: str) -> None:
    rankwell.knn(
        queries=str(folder / "queries.npy"),
        items=str(folder / "base.npy"),
        neighbours=20,
        executor=executor,
        work=str(folder / "work"),
    )


def test_ray_imported_without_a_token_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "ray", object())
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)

    with pytest.raises(BadUsage, match="Ray is already imported without RAY_AUTH_MODE=token"):
        search(folder, "ray")


@pytest.mark.parametrize("address", ["nonsense", "head:", ":6379", "head:port"])
def test_an_address_without_a_host_or_a_port_is_refused(
    monkeypatch: pytest.MonkeyPatch, address: str
):
    monkeypatch.setitem(sys.modules, "ray", RayThatStartsNothing())

    with (
        pytest.raises(BadUsage, match=r"expected ray:HOST:PORT"),
        EXECUTORS["ray"].open(address, Resources(1, 1 << 20)),
    ):
        pass


@pytest.mark.parametrize(
    ("address", "expected"),
    [("", "cannot be started here"), ("auto", "the cluster cannot be joined")],
)
def test_a_node_that_does_not_start_in_time_is_named(
    monkeypatch: pytest.MonkeyPatch, address: str, expected: str
):
    def _fail(**_: Any) -> None:
        # The class that Ray raises.
        raise Exception("The current node timed out during startup.\nA log of Ray.")

    slow = RayThatStartsNothing(init=_fail)
    monkeypatch.setitem(sys.modules, "ray", slow)
    for name, value in executor_ray._CLUSTER_VARIABLES.items():
        monkeypatch.setenv(name, value)

    told = pytest.raises(
        BadUsage, match=rf"{expected} \(The current node timed out during startup\.\)"
    )
    with told, EXECUTORS["ray"].open(address, Resources(1, 1 << 20)):
        pass


def test_ray_that_is_missing_is_named_with_its_extra(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "ray", None)

    with pytest.raises(MissingExtra, match=r"pip install 'rankwell\[ray\]'"):
        search(folder, "ray")


def test_gpus_that_no_node_has_are_refused():
    nodes = [{"Alive": True, "Resources": {"CPU": 8, "memory": 1 << 40, "GPU": 1}}]
    cluster = SimpleNamespace(nodes=lambda: nodes)

    executor_ray._refuse_unfit(cluster, 1, Resources(1, 1 << 20, 1))
    with pytest.raises(BadUsage, match="gpus=2: no node of the cluster has as many; the most is 1"):
        executor_ray._refuse_unfit(cluster, 1, Resources(1, 1 << 20, 2))
