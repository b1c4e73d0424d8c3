"""Python in processes that are started: none of them imports from the working directory."""

import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from rankwell.core.startup import SAFE_PATH


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
