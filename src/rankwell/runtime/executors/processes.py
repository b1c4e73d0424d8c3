"""Processes of this machine, `processes:N`, each with a share of its processors: `rankwell worker`
with some indices, as in an array. A lost one is replaced, its part started again.
"""

import json
import os
import sys
import time
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial

from rankwell.errors import BadUsage, flag, needing
from rankwell.processes import start_command
from rankwell.runtime.executors import (
    EXECUTORS,
    RETRIES,
    Answers,
    Executor,
    PartCalls,
    Resources,
    Run,
    lost_too_often,
    parse_worker_count,
    worker_variables,
)
from rankwell.threads import processors

_TICK, _LOOK = 0.05, 1.0
"""Seconds between two looks at processes, and at the records of their parts."""
_ERROR_CODES = (2, 3, 4, 5)
"""The exit codes of a command that has said what is wrong; any other process was lost."""


class _Worker:
    """A process that computes parts in order, and ends when this process does.

    indices: indices of the unfinished parts. It has been computing the first of them since `since`.
    """

    def __init__(
        self, command: Sequence[str], indices: Iterable[int], variables: Mapping[str, str]
    ) -> None:
        self.indices, self.variables = deque(indices), variables
        self.since = self.looked = time.monotonic()
        self.is_late = False
        self.process = start_command([*command, *map(str, self.indices)], variables)

    def finished(self, calls: PartCalls) -> Iterator[int]:
        """The parts that it has finished since the last look, every one where it has ended well."""
        code, now = self.process.poll(), time.monotonic()
        if code is None and now - self.looked < _LOOK:
            return
        self.looked = now
        while self.indices and (code == 0 or calls.is_done(self.indices[0])):
            self.since = now
            yield self.indices.popleft()

    def end_late(self, calls: PartCalls) -> None:
        """Kills it where its part takes longer than it may, and says so."""
        if calls.seconds is None or self.is_late or not self.indices:
            return
        is_over_time = time.monotonic() - self.since > calls.seconds
        if is_over_time and not calls.is_done(self.indices[0]):
            self.is_late = True
            self.process.kill()
            sys.stderr.write(
                f"part {self.indices[0]} took longer than {calls.seconds:g} s; it is started "
                "again\n"
            )

    def end(self) -> None:
        """Ends it at once."""
        self.process.kill()
        if self.process.stdin is not None:
            with suppress(OSError):
                self.process.stdin.close()
        self.process.wait()


def _workers(address: str) -> int:
    return parse_worker_count("processes", address, processors())


def _devices(processes: int, gpus: int) -> list[dict[str, str]]:
    """The variables with which each process sees its own GPUs. Raises BadUsage where this machine
    has too few.
    """
    if not gpus:
        return [{}] * processes
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is None:
        with needing(
            f"{flag('--gpus', gpus)} counts the GPUs of this machine with PyTorch: pip install "
            "'rankwell[torch]'; or set CUDA_VISIBLE_DEVICES."
        ):
            from torch import cuda
        visible = ",".join(map(str, range(cuda.device_count())))
    gpus_seen = [gpu.strip() for gpu in visible.split(",") if gpu.strip()]
    if len(gpus_seen) < processes * gpus:
        if not gpus_seen:
            raise BadUsage(f"{flag('--gpus', gpus)}: this process sees no GPU; leave it out.")
        raise BadUsage(
            f"{flag('--gpus', gpus)}: {processes} processes need {processes * gpus} GPUs, and "
            f"this one sees {len(gpus_seen)}; name fewer processes, as in "
            f"{flag('--executor', 'processes:1')}."
        )
    return [
        {"CUDA_VISIBLE_DEVICES": ",".join(gpus_seen[process * gpus : (process + 1) * gpus])}
        for process in range(processes)
    ]


@contextmanager
def _open(address: str, resources: Resources) -> Generator[Run]:
    workers = list[_Worker]()
    number = _workers(address)
    threads = resources.threads or max(1, processors() // number)
    variables = [
        {**worker_variables(threads), **devices} for devices in _devices(number, resources.gpus)
    ]
    try:
        yield partial(_run, workers, variables)
    finally:
        for worker in workers:
            worker.end()


def _run(
    workers: list[_Worker], variables: Sequence[Mapping[str, str]], calls: PartCalls
) -> Answers:
    waiting, idle = deque(calls.indices), deque(variables)
    lost = Counter[int]()
    while waiting or workers:
        while waiting and idle:
            # Large batches load a model once, small ones at the end keep all processes at work.
            size = -(-len(waiting) // (2 * len(variables)))
            workers.append(
                _Worker(calls.command, [waiting.popleft() for _ in range(size)], idle.popleft())
            )
        time.sleep(_TICK)
        for worker in [*workers]:
            code = worker.process.poll()
            for index in worker.finished(calls):
                yield index, "{}"
            if code is None:
                worker.end_late(calls)
                continue
            worker.end()
            workers.remove(worker)
            idle.append(worker.variables)
            if worker.indices and code in _ERROR_CODES:
                # A process that could only print its error has noted none.
                kind = "internal" if code == 3 else "BadUsage"
                message = "a part failed; the lines above say why."
                note = calls.failure(worker.indices[0])
                yield worker.indices[0], note or json.dumps({"error": message, "kind": kind})
            elif worker.indices:
                _count_lost(lost, worker, calls.seconds)
                waiting.extendleft(reversed(worker.indices))


def _count_lost(lost: Counter[int], worker: _Worker, seconds: float | None) -> None:
    """Counts a process that was lost in the middle of a part. Raises BadUsage for one too many."""
    lost[index := worker.indices[0]] += 1
    if lost[index] <= RETRIES:
        return
    if worker.is_late and seconds is not None:
        raise BadUsage(
            f"part {index} took longer than {flag('--part-timeout', seconds)} allows, "
            f"{lost[index]} times; allow more time, or plan smaller parts with "
            f"{flag('--shards')}. Finished parts are kept: run it again."
        )
    raise lost_too_often(lost[index])


EXECUTORS.add("processes", Executor("processes", _workers, _open, has_time_limit=True))
