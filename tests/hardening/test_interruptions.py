"""Ctrl-C and SIGTERM: the sentence and the exit code of every command, nothing half-written, and
every answer that had come.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from rankwell.comparison.bench import evaluate_cell
from scripted_server import Reply, ScriptedServer
from tasks.judge.studies import pool_study, write_world

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
SENTENCE = {
    signal.SIGINT: "rankwell: interrupted; ",
    signal.SIGTERM: "rankwell: ended by SIGTERM; ",
}
QUERIES = 100
ENGINE = """
import os, time

def search(query, k):
    open("begun.txt", "w").close()
    time.sleep(float(os.environ.get("SECONDS_OF_A_QUERY", "0.02")))
    with open("asked.txt", "a") as stream:
        stream.write(query + chr(10))
    return ["a", "b"][:k]
"""


def started(folder: Path, line: str, **variables: str) -> subprocess.Popen[str]:
    """A command in a group of its own, as a terminal starts one."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    words = [sys.executable, "-m", "rankwell", *line.split()]
    return subprocess.Popen(
        words,
        cwd=folder,
        env={**environment, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def waited_for(condition: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def interrupt(child: subprocess.Popen[str], number: int = signal.SIGINT) -> str:
    """Sends a signal, Ctrl-C to the whole group; the standard error of the command, which must be
    as promised.
    """
    os.killpg(child.pid, number) if number == signal.SIGINT else child.send_signal(number)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 128 + number, said
    assert "Traceback" not in said
    assert said.splitlines()[-1].startswith(SENTENCE[signal.Signals(number)]), said
    return said


def asked(folder: Path) -> list[str]:
    try:
        return (folder / "asked.txt").read_text().splitlines()
    except FileNotFoundError:
        return []


def retrieving(folder: Path) -> str:
    (folder / "engine.py").write_text(ENGINE)
    (folder / "queries.tsv").write_text("".join(f"q{row}\ttext {row}\n" for row in range(QUERIES)))
    (folder / "qrels").write_text("".join(f"q{row} 0 a 1\n" for row in range(QUERIES)))
    return (
        "engine run engine:search --queries queries.tsv --qrels qrels -m RR --rounds 1 --warm-up 0 "
        "-o out"
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("more", ["", " --clients 3", " --rate 60"])
def test_an_interruption_of_retrieve_keeps_every_answer_and_the_same_call_asks_the_rest(
    tmp_path: Path, number: int, more: str
):
    line = retrieving(tmp_path) + more
    child = started(tmp_path, line)
    waited_for(lambda: len(asked(tmp_path)) >= QUERIES // 3)

    interrupt(child, number)

    first = asked(tmp_path)
    assert len(first) < QUERIES
    rows = [
        json.loads(text) for text in (tmp_path / "out" / "asked.jsonl").read_text().splitlines()[1:]
    ]
    kept = {
        f"text {request[0]}" for row in rows for request in row["requests"] if request[4] == "ok"
    }
    assert kept == set(first)
    again = started(tmp_path, line)
    _, said = again.communicate(timeout=120)
    assert again.returncode == 0, said
    assert sorted(asked(tmp_path)) == sorted(f"text {row}" for row in range(QUERIES))


def test_a_query_that_does_not_end_does_not_hold_an_interruption_for_long(tmp_path: Path):
    child = started(tmp_path, retrieving(tmp_path), SECONDS_OF_A_QUERY="40")
    waited_for(lambda: (tmp_path / "begun.txt").exists())
    began = time.monotonic()

    interrupt(child)

    assert time.monotonic() - began < 20
    rows = [
        json.loads(text) for text in (tmp_path / "out" / "asked.jsonl").read_text().splitlines()[1:]
    ]
    assert {request[4] for row in rows for request in row["requests"]} == {"not_asked"}


def test_answers_of_a_python_object_are_kept_in_the_journal(tmp_path: Path):
    """In the process of the call itself; a request in it cannot be ended, its answers are kept all
    the same.
    """
    code = """
import sys, time
from pathlib import Path
from rankwell.tasks.engine.evaluation import retrieve_into
from rankwell.tasks.engine.options import EngineOptions

def engine(query, k):
    time.sleep(0.02)
    with open("asked.txt", "a") as stream:
        stream.write(query + chr(10))
    return ["a"][:k]

options = EngineOptions(queries={f"q{row}": f"text {row}" for row in range(100)}, qrels={"q1": {"a": 1}}, rounds=1, warm_up=0)
Path("out").mkdir()
retrieve_into(engine, options, Path("out"), None)
"""  # noqa: E501
    child = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    waited_for(lambda: len(asked(tmp_path)) >= QUERIES // 3)
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)

    rows = [
        json.loads(text) for text in (tmp_path / "out" / "asked.jsonl").read_text().splitlines()[1:]
    ]
    kept = {
        f"text {request[0]}" for row in rows for request in row["requests"] if request[4] == "ok"
    }
    # The one that was noted last may not have returned yet.
    assert kept >= set(asked(tmp_path)[:-1])
    assert QUERIES // 3 <= len(kept) + 1 < QUERIES


@pytest.mark.parametrize("jobs", [1, 4])
def test_an_interruption_of_model_judge_keeps_every_reply_that_is_on_its_way(
    tmp_path: Path, jobs: int
):
    write_world(tmp_path)
    study = pool_study(tmp_path)

    def answer(*_: object) -> Reply:
        reply = {"choices": [{"message": {"content": "Grade: 1"}}]}
        return Reply(reply, delay=0.1)

    with ScriptedServer(answer) as server:
        child = started(
            tmp_path, f"judge llm study --url {server.url}/v1 --model m --clients {jobs}"
        )
        waited_for(lambda: len(server.received) >= 9)

        said = interrupt(child)

        paid = len(server.received)
    replies = (study / "models" / "m.jsonl").read_text().splitlines()
    assert "waiting for the replies that are on their way" in said
    assert len(replies) == paid


def inputs(folder: Path) -> None:
    """Files on which every command of the table works for a while."""
    draw = np.random.default_rng(3)
    np.save(folder / "items.npy", draw.normal(size=(40_000, 64)).astype(np.float32))
    np.save(folder / "queries.npy", draw.normal(size=(4_000, 64)).astype(np.float32))
    np.save(folder / "scores.npy", draw.normal(size=(1_500, 1_500)))
    qrels = "".join(f"q{query} 0 d{item} 1\n" for query in range(3_000) for item in range(3))
    (folder / "qrels").write_text(qrels)
    for name in ("one", "two"):
        order = draw.permutation(60).tolist()
        lines = [
            f"q{query} Q0 d{item} {rank} {60 - rank} t\n"
            for query in range(3_000)
            for rank, item in enumerate(order)
        ]
        (folder / f"{name}.run").write_text("".join(lines))
    texts = "".join(
        f"t{row}\t{' '.join(f'w{word}' for word in draw.integers(0, 3000, 40))}\n"
        for row in range(8_000)
    )
    (folder / "texts.tsv").write_text(texts)
    bench = (
        "[[dataset]]\nname = 'd'\ncommand = 'evaluate'\nqrels = 'qrels'\nruns = "
        "'{system}.run'\nmeasure = ['AP', 'nDCG@10']\n"
    )
    (folder / "bench.toml").write_text(
        bench + "[[system]]\nname = 'one'\n[[system]]\nname = 'two'\n"
    )


COMMANDS = {
    "evaluate": "evaluate qrels one.run two.run -m AP -m nDCG@10 -o out",
    "compare": "compare qrels one.run two.run -m AP -m nDCG@10 -o out",
    "two processes": "knn items.npy queries.npy --neighbours 100 --executor processes:2 --work "
    "parts -o out.parquet",
    "knn": "knn items.npy queries.npy --neighbours 100 -o out.parquet",
    "encode": "encode texts.tsv --encoder tfidf-svd:16 --fit texts.tsv -o out.npy",
    "bench": "bench bench.toml -o out",
    "crossmodal": "crossmodal scores.npy -o out",
    "trec-eval": "trec-eval -q -m all_trec qrels one.run",
    "fuse": "fuse one.run two.run -o out.run",
    "engine check": "engine check sqlite-fts5",
    "convert": "convert one.run out.parquet",
    "help": "--help",
}
DELAYS = (0.0, 0.1, 0.5, 1.5)
"""Seconds after the command is ready for an interruption; before that, Python itself ends it."""


def is_ready(child: subprocess.Popen[str]) -> bool:
    """Whether the process catches SIGTERM, as rankwell does from its first line on; or has
    ended.
    """
    try:
        lines = Path(f"/proc/{child.pid}/status").read_text().splitlines()
    except OSError:
        return True
    caught = next((line.split()[1] for line in lines if line.startswith("SigCgt:")), "0")
    return child.poll() is not None or bool(int(caught, 16) >> (signal.SIGTERM - 1) & 1)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    inputs(folder)
    return folder


def place_of(world: Path, folder: Path) -> set[str]:
    for path in world.iterdir():
        (folder / path.name).symlink_to(path)
    return {path.name for path in folder.iterdir()}


def output_of(name: str, world: Path) -> dict[str, bytes]:
    """The files that a command writes when nothing interrupts it."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        before = place_of(world, folder)
        started(folder, COMMANDS[name]).communicate(timeout=120)
        return {
            path.name: path.read_bytes()
            for path in folder.iterdir()
            if path.name not in before and path.is_file()
        }


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(),
    reason="the system does not tell which signals a process catches",
)
@pytest.mark.parametrize("delay", DELAYS)
@pytest.mark.parametrize("name", COMMANDS)
def test_ctrl_c_ends_every_command_with_its_sentence_and_nothing_half_written(
    name: str, delay: float, world: Path, tmp_path: Path
):
    before = place_of(world, tmp_path)
    child = started(tmp_path, COMMANDS[name])
    waited_for(lambda: is_ready(child))
    time.sleep(delay)
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGINT)
    _, said = child.communicate(timeout=120)

    assert "Traceback" not in said
    left = {path.name for path in tmp_path.iterdir()} - before - {"parts", ".cache"}
    if child.returncode in (
        0,
        -signal.SIGINT,
    ):  # it was faster: Python gives signals back to the system when it ends
        return
    assert child.returncode == 130, said
    assert said.splitlines()[-1].startswith("rankwell: interrupted; ")
    for path in left:
        # What is there is whole, or it is the work with which the same command goes on.
        if (tmp_path / path).is_dir():
            is_whole = (tmp_path / path / "manifest.json").exists()
            assert is_whole or (name == "bench" and path == "out"), path
        elif name != "encode":
            assert (tmp_path / path).read_bytes() == output_of(name, world)[path], path


UNRAISABLE = """
import os, signal, sys, time, weakref
from rankwell import startup

class Thing:
    pass

startup.catch_interrupts()
thing = Thing()
number = int(sys.argv[1])
reference = weakref.ref(thing, lambda _: (os.kill(os.getpid(), number), time.sleep(0.1)))
try:
    del thing
    time.sleep(30)
except KeyboardInterrupt:
    sys.exit(100 + startup.end_interrupts())
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_where_nothing_can_be_raised_comes_again(number: int):
    words = [sys.executable, "-c", UNRAISABLE, str(int(number))]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=25)

    assert (ended.returncode, ended.stderr) == (100 + number, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_page_of_judging_ends_by_an_interruption_as_it_says(tmp_path: Path, number: int):
    write_world(tmp_path)
    pool_study(tmp_path)
    child = started(tmp_path, "judge label study --judge anna")
    assert child.stderr is not None
    first = child.stderr.readline()
    child.send_signal(number)
    _, said = child.communicate(timeout=60)

    assert "Ctrl-C ends it" in first
    assert child.returncode == 0, said
    assert "Traceback" not in said


def test_a_cell_that_an_interruption_ended_is_no_cell_that_failed(tmp_path: Path):
    def interrupted(*, output: Path | None = None) -> None:
        """Evaluates nothing."""
        raise RuntimeError("Query interrupted")  # what DuckDB makes of Ctrl-C

    command = SimpleNamespace(function=interrupted)
    with pytest.raises(KeyboardInterrupt):
        evaluate_cell(
            cast(Any, SimpleNamespace(command=command, arguments=[], line="")), tmp_path, None
        )
