"""Processes of this machine, `processes:N`, each with a share of its processors; a lost one is
replaced, its call repeated.
"""

import json
import os
import queue
import subprocess
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial

from rankwell.core.kernels.children import python_command, python_variables, starting_processes
from rankwell.core.kernels.workers import processors
from rankwell.errors import BadUsage, MissingExtra, flag
from rankwell.executors import (
    EXECUTORS,
    RETRIES,
    TICK,
    Executor,
    IsStalled,
    Resources,
    Run,
    lost_too_often,
    number_behind,
    worker_variables,
)

_WORKER = "rankwell.executors.worker"


class _Worker:
    """A process that answers lines of JSON with lines of JSON. It ends when this process does,
    whatever ends it.
    """

    def __init__(
        self, variables: Mapping[str, str], answers: "queue.SimpleQueue[tuple[_Worker, str]]"
    ) -> None:
        self.variables = variables
        environment = {**python_variables(), **variables}
        with starting_processes():
            self._process = subprocess.Popen(  # noqa: S603 - this Python, and a module of ours
                python_command(_WORKER),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment,
                encoding="utf-8",
            )
        self.place = -1
        """The place of the call that it works on, -1 for none."""
        threading.Thread(target=self._read, args=(answers,), daemon=True).start()

    def _read(self, answers: "queue.SimpleQueue[tuple[_Worker, str]]") -> None:
        with suppress(ValueError):  # closed by `end`
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

    def kill(self) -> None:
        """Kills the process; that it has ended shows when its answer is read."""
        self._process.kill()

    def end(self) -> None:
        """Ends it at once."""
        self.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        self._process.wait()


def _workers(address: str) -> int:
    return number_behind("processes", address, processors())


def _devices(processes: int, gpus: int) -> list[dict[str, str]]:
    """The variables with which each process sees its own GPUs. Raises BadUsage where this machine
    has too few.
    """
    if not gpus:
        return [{}] * processes
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        try:
            from torch import cuda
        except ImportError as error:
            what = (
                f"{flag('--gpus', gpus)} counts the GPUs of this machine with PyTorch: pip "
                "install 'rankwell[torch]'"
            )
            raise MissingExtra(f"{what}; or set CUDA_VISIBLE_DEVICES.") from error
        visible = ",".join(map(str, range(cuda.device_count())))
    known = [each.strip() for each in visible.split(",") if each.strip()]
    if len(known) < processes * gpus:
        what = (
            f"{flag('--gpus', gpus)}: {processes} processes need {processes * gpus} GPUs, and "
            f"this one sees {len(known)}"
        )
        if not known:
            raise BadUsage(f"{flag('--gpus', gpus)}: this process sees no GPU; leave it out.")
        raise BadUsage(f"{what}; name fewer processes, as in {flag('--executor', 'processes:1')}.")
    return [
        {"CUDA_VISIBLE_DEVICES": ",".join(known[place * gpus : (place + 1) * gpus])}
        for place in range(processes)
    ]


@contextmanager
def _open(address: str, resources: Resources) -> Generator[Run]:
    workers: list[_Worker] = []
    most = _workers(address)
    threads = resources.threads or max(1, processors() // most)
    variables = [{**worker_variables(threads), **own} for own in _devices(most, resources.gpus)]
    try:
        yield partial(_run, workers, variables)
    finally:
        for worker in workers:
            worker.end()


def _run(
    workers: list[_Worker],
    variables: Sequence[Mapping[str, str]],
    function: str,
    arguments: Sequence[str],
    is_stalled: IsStalled | None = None,
) -> Iterator[tuple[int, str]]:
    waiting, lost = deque(range(len(arguments))), dict.fromkeys(range(len(arguments)), 0)
    answers: queue.SimpleQueue[tuple[_Worker, str]] = queue.SimpleQueue()
    for own in variables[: len(arguments)]:
        workers.append(_Worker(own, answers))
        workers[-1].send(place := waiting.popleft(), function, arguments[place])
    left, looked = len(arguments), time.monotonic()
    while left:
        if is_stalled is not None and time.monotonic() - looked >= TICK:
            looked = time.monotonic()
            for worker in workers:
                if worker.place >= 0 and is_stalled(worker.place):
                    worker.kill()
        try:
            worker, answer = answers.get(timeout=None if is_stalled is None else TICK)
        except queue.Empty:
            continue
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
            workers.append(worker := _Worker(worker.variables, answers))
        if waiting:
            worker.send(place := waiting.popleft(), function, arguments[place])


EXECUTORS.add(
    "processes",
    Executor(
        "processes", "Processes of this machine, `processes:16`", _workers, _open, is_watched=True
    ),
)
