"""States of files: what is said about the bytes of a file, such as their digest, is of the bytes
that were read.
"""

import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import NamedTuple

from rankwell.errors import BadInput


class FileState(NamedTuple):
    """Figures of a file that every change of it moves. changed: when its content, its name or its
    rights changed.
    """

    device: int
    inode: int
    size: int
    modified: int
    changed: int

    @classmethod
    def of(cls, status: os.stat_result) -> "FileState":
        """The state that a system call found."""
        return cls(
            status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
        )


_FIRST: ContextVar[dict[str, FileState] | None] = ContextVar("first states", default=None)
_COARSE_CLOCK, _LONGEST_TICK = 5, 0.02
"""Linux's number of the clock that stamps files on most of its kernels, and more than its longest
step in seconds.
"""


@contextmanager
def reading() -> Generator[None]:
    """A block that expects the files it reads to stay as they were when it first looked at them.
    Inner blocks share it.
    """
    if _FIRST.get() is not None:
        yield
        return
    token = _FIRST.set({})
    try:
        yield
    finally:
        _FIRST.reset(token)


def first_state(path: Path) -> FileState:
    """The state in which the block of `reading` first saw a file; that of now outside such a
    block.
    """
    first_states, name = _FIRST.get(), os.path.abspath(path)  # noqa: PTH100
    if first_states is not None and name in first_states:
        return first_states[name]
    state = FileState.of(path.stat())
    if _is_this_tick(state):
        time.sleep(_LONGEST_TICK)
        state = FileState.of(path.stat())
    if first_states is not None:
        first_states[name] = state
    return state


def _is_this_tick(state: FileState) -> bool:
    """Whether a change of the file from now on may leave its times as they are, since the clock of
    files goes in steps.
    """
    return sys.platform == "linux" and time.clock_gettime_ns(_COARSE_CLOCK) == state.changed


def forget(path: Path) -> None:
    """Takes note that this process itself has replaced a file."""
    if first_states := _FIRST.get():
        first_states.pop(os.path.abspath(path), None)  # noqa: PTH100


def refuse_changed(name: str, path: Path, expected: FileState) -> None:
    """Raises BadInput for a file that is not in this state any more, or not there."""
    try:
        same = FileState.of(path.stat()) == expected
    except OSError:
        same = False
    if not same:
        raise changed(name)


def changed(name: str) -> BadInput:
    """The error for a file that is not what it was when it was read first."""
    return BadInput(f"{name} changed while it was read; run this again once nothing writes to it.")
