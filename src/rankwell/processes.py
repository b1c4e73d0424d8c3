"""Processes that this package starts: how all of them begin and end, work in one that may end
alone, and the same work in several at once.

None of them imports from the working directory, prints where results are printed, or outlives the
process that started it.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any, Protocol, TypeVar

from rankwell.errors import BadUsage
from rankwell.startup import SAFE_PATH
from rankwell.threads import environment, in_threads, processors

INTERRUPTS = (signal.SIGINT, signal.SIGTERM)
_pending: list[int] = []


def is_interrupted() -> bool:
    """Whether an interruption waits for the end of a block of `interrupts_held`, in any thread."""
    return bool(_pending)


@contextmanager
def interrupts_held(notice: str = "") -> Generator[None]:
    """A block that ends itself where `is_interrupted`; the interruption is raised behind it, a
    second one at once.

    notice: for standard error, when the interruption comes. Outside the main thread, which alone
    learns of signals, nothing is held.
    """
    handlers: dict[int, Any] = {}

    def _hold(number: int, frame: FrameType | None) -> None:
        _pending.append(number)
        if len(_pending) > 1:
            handlers[number](number, frame)
        elif notice:
            with suppress(OSError):
                os.write(2, f"{notice}\n".encode())

    try:
        for number in INTERRUPTS:
            # Only what Python handles can be held: a process may ignore Ctrl-C, or leave SIGTERM to
            # the system.
            if callable(handler := signal.getsignal(number)):
                signal.signal(number, _hold)
                handlers[number] = handler
    except ValueError:  # another thread
        yield
        return
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        arrived = _pending[:1]
        _pending.clear()
        if arrived:
            handlers[arrived[0]](arrived[0], None)


def leave_interrupts_to_parent() -> None:
    """Ignores Ctrl-C in this process, which the one that started it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


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
    root = str(Path(__file__).resolve().parents[1])
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


def safe_path() -> AbstractContextManager[None]:
    """A block in which libraries start Python without the working directory: `multiprocessing`
    passes no option for it.
    """
    return environment({SAFE_PATH: "1"})


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


Part = TypeVar("Part")
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
    its own work below `if __name__ == "__main__":`. Raises ProcessEnded where it ends first, as by
    `os._exit` or by a fault in compiled code.
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


class Each(Protocol):
    """The results of the work on every part, in order, as they are made."""

    def __call__(
        self, work: Callable[[Part], Result], parts: Sequence[Part], /
    ) -> Iterator[Result]:
        """Yields a result per part. With several processes, work, parts and results are sent
        between them, so they are plain.
        """
        ...


@contextmanager
def crew(processes: int, *, threads: int | None, prepare: Callable[[], object]) -> Generator[Each]:
    """Processes that wait for work until the block ends; of one, it is threads of this process that
    work.

    threads: of the one process, None for as many as there are processors. prepare: called first in
    every new process, a function of a module. Processes are spawned; a script that calls this keeps
    its own work below `if __name__ == "__main__":`.
    Raises BadUsage where a process dies. Where the block is left early, as by Ctrl-C, what is not
    begun is never done.
    """
    if processes == 1:
        # Parts done before their results are handed on: more would keep progress waiting, fewer the
        # threads.
        step = 4 * (threads or processors())

        def _map(work: Callable[[Part], Result], parts: Sequence[Part], /) -> Iterator[Result]:
            for start in range(0, len(parts), step):
                yield from in_threads(work, parts[start : start + step], workers=threads)

        yield _map
        return
    # They are loaded only where they are needed: loading takes longer than a small evaluation.
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    context = multiprocessing.get_context("spawn")
    with safe_path():
        pool = ProcessPoolExecutor(
            processes, mp_context=context, initializer=_begin, initargs=(prepare,)
        )

    def _map_apart(work: Callable[[Part], Result], parts: Sequence[Part], /) -> Iterator[Result]:
        with starting_processes():  # they start when work comes
            return pool.map(work, parts)

    try:
        yield _map_apart
    except BrokenProcessPool as error:
        raise BadUsage(
            f"one of {processes} processes ended early, perhaps for lack of memory; "
            "ask for fewer, or for one, which "
            "uses threads. A Python script that asks for several must do so under `if __name__ "
            "== '__main__':`."
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(prepare: Callable[[], object]) -> None:
    begin_child()
    prepare()
