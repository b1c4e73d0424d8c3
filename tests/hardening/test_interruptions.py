"""Ctrl-C and SIGTERM: the sentence and the exit code of every command, nothing half-written, and every answer that had come."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
SENTENCE = {signal.SIGINT: "rankwell: interrupted; ", signal.SIGTERM: "rankwell: ended by SIGTERM; "}
QUERIES = 100
ENGINE = """
import os, time

def search(query, k):
    time.sleep(float(os.environ.get("SECONDS_OF_A_QUERY", "0.02")))
    with open("asked.txt", "a") as stream:
        stream.write(query + chr(10))
    return ["a", "b"][:k]
"""


def started(folder: Path, line: str, **variables: str) -> subprocess.Popen[str]:
    """A command in a group of its own, as a terminal starts one."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])}
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
    """Sends a signal, Ctrl-C to the whole group; the standard error of the command, which must be as promised."""
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
    return "retrieve engine:search --queries queries.tsv --qrels qrels -m RR --rounds 1 --warm-up 0 -o out"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("more", ["", " --clients 3", " --rate 60"])
def test_an_interruption_of_retrieve_keeps_every_answer_and_the_same_call_asks_the_rest(tmp_path: Path, number: int, more: str):
    line = retrieving(tmp_path) + more
    child = started(tmp_path, line)
    waited_for(lambda: len(asked(tmp_path)) >= QUERIES // 3)

    interrupt(child, number)

    first = asked(tmp_path)
    assert len(first) < QUERIES
    rows = [json.loads(text) for text in (tmp_path / "out" / "asked.jsonl").read_text().splitlines()[1:]]
    kept = {f"text {request[0]}" for _, _, requests, _ in rows for request in requests if request[4] == "ok"}
    assert kept == set(first)
    again = started(tmp_path, line)
    _, said = again.communicate(timeout=120)
    assert again.returncode == 0, said
    assert sorted(asked(tmp_path)) == sorted(f"text {row}" for row in range(QUERIES))


def test_a_query_that_does_not_end_does_not_hold_an_interruption_for_long(tmp_path: Path):
    child = started(tmp_path, retrieving(tmp_path), SECONDS_OF_A_QUERY="0.3")
    waited_for(lambda: len(asked(tmp_path)) >= 3)
    (tmp_path / "engine.py").write_text(ENGINE)
    began = time.monotonic()

    interrupt(child)

    assert time.monotonic() - began < 20
