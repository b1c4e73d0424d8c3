"""Processes that this package starts: how all of them begin, and how they end.

None imports from the working directory, prints where results are printed, or outlives the process
that started it.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rankwell.core.kernels.interrupts import leave_interrupts_to_parent
from rankwell.core.startup import SAFE_PATH

_CHILD = "RANKWELL_CHILD"
"""The variable of a command that rankwell has started, whose standard input ends with its
parent.
"""


def python_command(module: str) -> list[str]:
    """The command that runs a module of rankwell by this Python."""
    return [sys.executable, "-P", "-m", module]


def python_variables() -> dict[str, str]:
    """The environment of such a command: this one, with this rankwell before the PYTHONPATH of the
    user.
    """
    root = str(Path(__file__).resolve().parents[3])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, SAFE_PATH: "1", "PYTHONPATH": os.pathsep.join(paths)}


def start_command(words: Sequence[str], variables: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    """Starts a command of rankwell, which calls `begin_child`. variables: of its environment,
    beside those of this process.
    """
    with starting_processes():
        return subprocess.Popen(  # noqa: S603 - this Python, and rankwell
            [*python_command("rankwell"), *words],
            stdin=subprocess.PIPE,
            stdout=2,
            env={**python_variables(), **variables, _CHILD: "1"},
        )


def start_function(
    work: Callable[..., None], *arguments: Any, daemon: bool = False
) -> tuple[Any, Any]:
    """Starts a function of a module, which calls `begin_child`, in a spawned process; the process,
    and this end of the pipe whose other end is the function's first argument.

    daemon: whether it ends with this process without being asked, and starts no others.
    """
    import multiprocessing

    context = multiprocessing.get_context("spawn")
    parent_end, child_end = context.Pipe()
    process = context.Process(target=work, args=(child_end, *arguments), daemon=daemon)
    with starting_processes():
        process.start()
    child_end.close()
    return process, parent_end


def is_started_command() -> bool:
    """Whether this process is a command that `start_command` has started, and has not begun."""
    return _CHILD in os.environ


def begin_child(*, grace: float = 0.0, leaves_interrupts: bool = True) -> None:
    """Begins the work of a process that rankwell has started: what libraries print is no result.

    grace: seconds that it has when its parent has ended, before it ends, too. leaves_interrupts:
    whether Ctrl-C is left to the parent, which ends it.
    """
    # A process that this one starts is a child of another kind.
    is_command = os.environ.pop(_CHILD, "") != ""
    threading.Thread(target=_end_with_parent, args=(grace, is_command), daemon=True).start()
    os.dup2(2, 1)
    if is_command:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # its parent says that it was interrupted
    if leaves_interrupts:
        leave_interrupts_to_parent()
    elif hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGINT,))


def _end_with_parent(grace: float, is_command: bool) -> None:
    """Ends this process when the pipe from its parent closes, however that ended."""
    import multiprocessing

    if is_command:
        while os.read(0, 1024):
            pass
    elif (parent := multiprocessing.parent_process()) is not None:
        parent.join()
    else:
        return
    time.sleep(grace)
    os._exit(1)


@contextmanager
def safe_path() -> Generator[None]:
    """A block in which libraries start Python without the working directory: `multiprocessing`
    passes no option for it.
    """
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(SAFE_PATH, None)
        else:
            os.environ[SAFE_PATH] = before


@contextmanager
def starting_processes() -> Generator[None]:
    """A block that starts processes, as in `safe_path`. Ctrl-C reaches every process of a terminal:
    theirs waits until they are ready.
    """
    with safe_path():
        if not hasattr(signal, "pthread_sigmask"):  # as on Windows
            yield
            return
        if "multiprocessing" in sys.modules:
            from multiprocessing import resource_tracker

            resource_tracker.ensure_running()  # its start lets Ctrl-C through again
        before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
