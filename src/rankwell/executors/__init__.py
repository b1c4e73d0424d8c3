"""Executors run calls on one machine or many; each knows only the name of a function, and the JSON
string that it takes.

An executor holds no data: what a call computes is a file when it returns, so that a dead executor
loses only calls in flight.
"""

import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from rankwell.core.catalogue import Catalogue
from rankwell.errors import BadUsage, flag, typed_variables

IsStalled = Callable[[int], bool]
"""Whether the call of a string's place has given no sign of life for too long, so that its worker
counts as lost.
"""
RETRIES = 3
"""Times that a call is made again whose worker was lost."""
TICK = 1.0
"""Seconds after which running calls are looked at again."""


class Run(Protocol):
    """Calls the function of a name with each string; yields the place of each string and its
    answer, as they come.
    """

    def __call__(  # noqa: D102
        self, function: str, arguments: Sequence[str], is_stalled: IsStalled | None = None, /
    ) -> Iterator[tuple[int, str]]: ...


class Resources(NamedTuple):
    """The resources of one call: threads, None for a share of the processors, bytes of memory, and
    GPUs.
    """

    threads: int | None
    memory: int
    gpus: int = 0


class ArrayJob(NamedTuple):
    """Calls that a cluster makes, each as `command` with its index in the environment.

    has_files: whether they read or write files, which all machines have to see, and not objects
    alone.
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
    """An executor. workers: calls at once, of the text behind its name (`processes:16`). open:
    gives what makes calls.

    script: in place of `open`, the text with which users submit the calls themselves. is_shared:
    whether its workers may be on other machines, which must see the work folder. is_watched:
    whether it makes calls again that give no sign of life. has_memory: whether it reserves the
    memory of a call. has_gpus: whether it gives GPUs to a call.
    """

    name: str
    title: str
    workers: Callable[[str], int]
    open: Callable[[str, Resources], AbstractContextManager[Run]] | None = None
    script: Callable[[str, ArrayJob], str] | None = None
    is_shared: Callable[[str], bool] = lambda _: False
    is_watched: bool = False
    has_memory: bool = False
    has_gpus: bool = True


EXECUTORS: Catalogue[Executor] = Catalogue("executors", "executor")


def find_executor(text: str) -> tuple[Executor, str]:
    """The executor that `name` or `name:address` names, with the address. Raises UnknownName."""
    name, _, address = text.partition(":")
    return EXECUTORS[name], address


def call(function: str, argument: str) -> str:
    """The answer of a function of rankwell, `module:name`, to one string."""
    module, _, name = function.partition(":")
    if not module.startswith("rankwell."):
        raise ValueError(f"{function!r} is not a function of rankwell")
    return getattr(importlib.import_module(module), name)(argument)


def worker_variables(threads: int) -> dict[str, str]:
    """The environment in which a process uses so many threads, those of numerical libraries
    included, and speaks as this one.
    """
    names = ("RANKWELL_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return {**dict.fromkeys(names, str(threads)), **typed_variables()}


def number_behind(name: str, address: str, otherwise: int) -> int:
    """The positive integer behind an executor's name, as in `processes:16`. Raises BadUsage."""
    if not address:
        return otherwise
    if not address.isdecimal() or not int(address):
        raise BadUsage(
            f"{flag('--executor', f'{name}:{address}')}: expected a positive integer behind "
            f"the colon, as in {name}:4."
        )
    return int(address)


def lost_too_often(lost: int) -> BadUsage:
    """The error for workers that end again and again."""
    what = (
        f"{lost} workers ended before their work or gave no sign of life, perhaps for want of "
        "memory"
    )
    return BadUsage(
        f"{what}; plan smaller parts with {flag('--shards')}, or run fewer at once. Finished "
        "parts are kept: run it again."
    )


def slurm_ranges(indices: Iterable[int]) -> str:
    """Numbers as Slurm writes them.

    >>> slurm_ranges([0, 3, 7, 8, 9])
    '0,3,7-9'
    """
    runs: list[list[int]] = []
    for index in sorted(indices):
        if runs and runs[-1][1] == index - 1:
            runs[-1][1] = index
        else:
            runs.append([index, index])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
