"""Work in a process of its own, whose end is not the end of this one."""

import signal
from collections.abc import Callable, Generator, Iterable
from contextlib import suppress
from typing import Any, TypeVar

from rankwell.core.kernels.children import begin_child, start_function
from rankwell.core.kernels.interrupts import leave_interrupts_to_parent

Result = TypeVar("Result")
_GRACE = 10.0
"""Seconds in which a process that is no longer needed may clean up."""


class ProcessEnded(Exception):
    """A process that ended before its work; the message is its exit code or its signal."""


def exit_text(code: int | None) -> str:
    """The exit code of a process, or the name of the signal that ended it."""
    if code is None or code >= 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return signal.Signals(-code).name
    return f"signal {-code}"


def apart(work: Callable[..., Iterable[Result]], *arguments: Any) -> Generator[Result]:
    """The results of a function of a module that runs in a process of its own, each as it comes;
    its errors are raised here.

    What it prints goes to standard error. The process is spawned; a script that calls this keeps
    its own work below
    `if __name__ == "__main__":`. Raises ProcessEnded where it ends first, as by `os._exit` or by a
    fault in compiled code.
    """
    process, pipe = start_function(_serve, work, arguments)
    try:
        while True:
            word, content = _next(pipe, process)
            if word == "ended":
                process.join()
                raise ProcessEnded(exit_text(process.exitcode))
            if word == "error":
                raise content
            if word == "done":
                return
            yield content
    finally:
        pipe.close()
        process.join(_GRACE)
        process.kill()
        process.join()


def _next(pipe: Any, process: Any) -> tuple[str, Any]:
    """The next word of a process with what it sends, `ended` where there is none."""
    from multiprocessing.connection import wait

    # A process that it has started may keep the pipe open.
    if pipe in wait([pipe, process.sentinel]):
        with suppress(EOFError, OSError):
            return pipe.recv()
    return "ended", None


def _serve(pipe: Any, work: Callable[..., Iterable[Any]], arguments: tuple[Any, ...]) -> None:
    # Ctrl-C reaches this process, too, which cleans up; the one that started it reports it.
    with suppress(KeyboardInterrupt):
        try:
            begin_child(leaves_interrupts=False)
            for result in work(*arguments):
                pipe.send(("result", result))
            pipe.send(("done", None))
        except Exception as error:  # every error is raised in the other process
            pipe.send(("error", error))
        finally:
            leave_interrupts_to_parent()
