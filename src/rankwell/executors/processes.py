"""Processes of this machine, `processes:N`, each with a share of its processors; a lost one is replaced, its call repeated."""

import json
import os
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import rankwell
from rankwell.core.kernels.workers import processors
from rankwell.executors import EXECUTORS, RETRIES, Executor, Resources, Run, lost_too_often, number_behind, thread_variables

_WORKER = "rankwell.executors.worker"


class _Worker:
    """A process that answers lines of JSON with lines of JSON. It ends when this process does, whatever ends it."""

    def __init__(self, threads: int, answers: "queue.SimpleQueue[tuple[_Worker, str]]") -> None:
        root = str(Path(rankwell.__file__).resolve().parent.parent)
        paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = {**os.environ, **thread_variables(threads), "PYTHONPATH": os.pathsep.join(paths)}
        self._process = subprocess.Popen(  # noqa: S603 - this Python, and a module of ours
            [sys.executable, "-m", _WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, encoding="utf-8"
        )
        self.place = -1
        """The place of the call that it works on, -1 for none."""
        threading.Thread(target=self._read, args=(answers,), daemon=True).start()

    def _read(self, answers: "queue.SimpleQueue[tuple[_Worker, str]]") -> None:
        for line in self._process.stdout or ():
            answers.put((self, line))
        answers.put((self, ""))

    def send(self, place: int, function: str, argument: str) -> None:
        """Gives it a call; that it has ended shows when its answer is read."""
        self.place = place
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.write(json.dumps([function, argument]) + "\n")
                self._process.stdin.flush()

    def end(self) -> None:
        """Ends it at once."""
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        self._process.wait()


def _workers(address: str) -> int:
    return number_behind("processes", address, processors())


@contextmanager
def _open(address: str, resources: Resources) -> Generator[Run]:
    workers: list[_Worker] = []
    threads = resources.threads or max(1, processors() // _workers(address))
    try:
        yield partial(_run, workers, _workers(address), threads)
    finally:
        for worker in workers:
            worker.end()


def _run(workers: list[_Worker], most: int, threads: int, function: str, arguments: Sequence[str]) -> Iterator[tuple[int, str]]:
    waiting, lost = deque(range(len(arguments))), dict.fromkeys(range(len(arguments)), 0)
    answers: queue.SimpleQueue[tuple[_Worker, str]] = queue.SimpleQueue()
    for _ in range(min(most, len(arguments))):
        workers.append(_Worker(threads, answers))
        workers[-1].send(place := waiting.popleft(), function, arguments[place])
    left = len(arguments)
    while left:
        worker, answer = answers.get()
        place = worker.place
        if answer.endswith("\n"):
            left -= 1
            yield place, answer
            worker.place = -1
        else:
            worker.end()
            workers.remove(worker)
            if place < 0:
                continue
            lost[place] += 1
            if lost[place] > RETRIES:
                raise lost_too_often(lost[place])
            waiting.append(place)
            workers.append(worker := _Worker(threads, answers))
        if waiting:
            worker.send(place := waiting.popleft(), function, arguments[place])


EXECUTORS.add("processes", Executor("processes", "Processes of this machine, `processes:16`", _workers, _open))
