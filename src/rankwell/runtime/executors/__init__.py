"""Executors compute parts on one machine or many; each knows only the name of a function with the
JSON string that it takes, or a command with the index of a part.

An executor holds no data: a part is a file when it is done, so that a dead executor loses only
parts in flight.
"""

import faulthandler
import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple

from rankwell.data.catalogue import Catalogue
from rankwell.errors import BadUsage, flag, typed_variables

RETRIES = 3
"""Times that a part is started again whose worker was lost."""


@dataclass(frozen=True)
class PartCalls:
    """Parts to compute.

    indices: numbers of the parts in the plan, from 0.
    function: name of the function that computes a part from the JSON string of its index.
    argument: index -> that JSON string.
    command: words of rankwell that indices follow.
    is_done: whether another process has finished a part.
    failure: index -> the result that `function` would return for a part that failed in another
        process.
    seconds: time that a part may take; None for no limit.
    """

    indices: Sequence[int]
    function: str
    argument: Callable[[int], str]
    command: Sequence[str]
    is_done: Callable[[int], bool]
    failure: Callable[[int], str]
    seconds: float | None = None


Answers = Iterator[tuple[int, str]]
"""The index and the answer of each part, as they come."""
Run = Callable[[PartCalls], Answers]
"""Computes parts."""


class Resources(NamedTuple):
    """The resources of one call.

    threads: number of threads; None for a share of the processors.
    memory: number of bytes that it may use.
    gpus: number of GPUs that no other call uses.
    """

    threads: int | None
    memory: int
    gpus: int = 0


class ArrayJob(NamedTuple):
    """The calls of a cluster's array job, each of which runs `command` with its index in the
    environment.

    command: the program and its arguments.
    indices: the missing parts, which the calls compute.
    size: number of all parts of the plan.
    threads: number of processors for a call.
    memory: number of bytes that a call uses by the plan; twice as many are requested.
    version: the version of rankwell that the machines must have.
    gpus: number of GPUs for a call.
    has_files: whether the calls read or write files, which all machines have to see, and not
        objects alone.
    """

    command: Sequence[str]
    indices: Sequence[int]
    size: int
    threads: int
    memory: int
    version: str
    gpus: int = 0
    has_files: bool = True


@dataclass(frozen=True)
class Executor:
    """A way to run calls, such as processes of this machine or jobs of a cluster.

    name: the name by which it is chosen, which a number of workers may follow (`processes:16`).
    workers: text after the name -> number of calls at once.
    open: opens what makes the calls, as a context; None where users submit them.
    script: writes the text with which users submit the calls, in place of `open`.
    is_shared: whether its workers may be on other machines, which must see the work folder.
    has_time_limit: whether it ends parts that take too long and starts them again.
    has_memory: whether it reserves memory for a call.
    has_gpus: whether it can give GPUs to a call.
    """

    name: str
    workers: Callable[[str], int]
    open: Callable[[str, Resources], AbstractContextManager[Run]] | None = None
    script: Callable[[str, ArrayJob], str] | None = None
    is_shared: Callable[[str], bool] = lambda _: False
    has_time_limit: bool = False
    has_memory: bool = False
    has_gpus: bool = True


EXECUTORS: Catalogue[Executor] = Catalogue("runtime.executors", "executor")


def find_executor(text: str | None) -> tuple[Executor, str]:
    """The executor that `name` or `name:address` names, with the address; `here` for None. Raises
    UnknownName.
    """
    name, _, address = ("here" if text is None else text).partition(":")
    return EXECUTORS[name], address


def call(function: str, argument: str, seconds: float | None = None) -> str:
    """The answer of a function of rankwell, `module:name`, to one string.

    seconds: after which this process ends, whatever keeps it.
    """
    module, _, name = function.partition(":")
    if not module.startswith("rankwell."):
        raise ValueError(f"{function!r} is not a function of rankwell")
    if seconds is None:
        return getattr(importlib.import_module(module), name)(argument)
    faulthandler.dump_traceback_later(seconds, exit=True, file=2)
    try:
        return call(function, argument)
    finally:
        faulthandler.cancel_dump_traceback_later()


def worker_variables(threads: int) -> dict[str, str]:
    """The environment in which a process uses so many threads, those of numerical libraries
    included, and speaks as this one.
    """
    names = ("RANKWELL_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return {**dict.fromkeys(names, str(threads)), **typed_variables()}


def parse_worker_count(name: str, address: str, otherwise: int) -> int:
    """The positive integer behind an executor's name, as in `processes:16`. Raises BadUsage."""
    if not address:
        return otherwise
    if not address.isdecimal() or not int(address):
        raise BadUsage(
            f"{flag('--executor', f'{name}:{address}')}: expected a positive integer after "
            f"the colon, as in {name}:4."
        )
    return int(address)


def lost_too_often(lost: int, seconds: float | None = None) -> BadUsage:
    """The error for workers that end again and again. seconds: that a part may take."""
    reason, more = "perhaps for lack of memory", ""
    if seconds is not None:
        limit = flag("--part-timeout", seconds)
        reason = f"for lack of memory, or because of {limit}"
        more = ", allow more time"
    return BadUsage(
        f"{lost} workers ended early, {reason}; plan smaller parts with "
        f"{flag('--shards')}{more}, or run fewer at once. Finished parts are kept: run it again."
    )


def slurm_ranges(indices: Iterable[int]) -> str:
    """Numbers as Slurm writes them.

    >>> slurm_ranges([0, 3, 7, 8, 9])
    '0,3,7-9'
    """
    runs = joined_ranges((index, index + 1) for index in sorted(indices))
    return ",".join(
        str(first) if stop == first + 1 else f"{first}-{stop - 1}" for first, stop in runs
    )


def joined_ranges(ranges: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Ranges from a first number to the one behind the last, those that meet as one.

    >>> joined_ranges([(0, 32), (32, 64), (96, 100)])
    [[0, 64], [96, 100]]
    """
    joined = list[list[int]]()
    for start, stop in ranges:
        if joined and joined[-1][1] == start:
            joined[-1][1] = stop
        else:
            joined.append([start, stop])
    return joined
