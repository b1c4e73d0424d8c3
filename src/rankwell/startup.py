"""Start-up tricks, each with the processor time that it saves: the median of 200 interleaved starts
(ADR 4).
"""

import _signal  # pyright: ignore[reportMissingImports] - `signal` makes enumerations of its numbers, in 2 ms
import os
import sys

SAFE_PATH = "PYTHONSAFEPATH"
"""The variable by which Python puts neither the working directory nor the folder of a script before
all other folders.
"""


def leave_working_directory() -> None:
    """Takes the working directory, which `python -m` puts first, from the path of this process and
    of all that it starts.

    What PYTHONPATH names stays.
    """
    os.environ[SAFE_PATH] = "1"
    try:
        folder = os.getcwd()  # noqa: PTH109 - pathlib is not loaded yet
    except OSError:
        folder = ""
    if not sys.flags.safe_path and sys.path[:1] in ([""], [folder]):
        del sys.path[0]


_ARENA_MAX = -8
"""M_ARENA_MAX of mallopt(3)."""


def share_arenas() -> None:
    """Lets the threads of a process with little address space share one arena of glibc's malloc:
    others reserve 64 MB each.
    """
    try:
        import resource
    except ImportError:  # not on Windows
        return
    if resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        return
    import contextlib
    import ctypes

    os.environ.setdefault("MALLOC_ARENA_MAX", "1")  # of processes that this one starts
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)


def collect_garbage_rarely() -> None:
    """Raises the garbage collector's threshold: a short process spends a tenth of its time on
    garbage. Saves 12 ms.
    """
    import gc

    gc.set_threshold(100_000)


_LEAN = (["evaluate"], ["trec-eval"], ["beyond"])
"""Commands that multiply no large matrices and run no code of others."""


def start_one_thread(arguments: list[str]) -> None:
    """OpenBLAS starts its threads on import; these commands compute in threads of their own, or in
    one. Saves 110 ms.
    """
    if arguments[:1] in _LEAN and "numpy" not in sys.modules:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


interruptions: list[int] = []
"""The numbers of the signals by which this process was interrupted, in order."""


def is_interruption(error: BaseException) -> bool:
    """Whether an error is what was made of an interruption, as DuckDB makes a RuntimeError of
    it.
    """
    return bool(interruptions) or str(error) == "Query interrupted"


def catch_interrupts() -> None:
    """Ctrl-C and SIGTERM raise KeyboardInterrupt, and are noted, whatever the code that they meet
    makes of it.
    """
    process = os.getpid()

    def _interrupt(number: int, _: object) -> None:
        if os.getpid() != process:  # a copy of this process, which ends as any other
            _signal.signal(number, _signal.SIG_DFL)
            os.kill(os.getpid(), number)
        interruptions.append(number)
        raise KeyboardInterrupt

    show = sys.unraisablehook

    def _send_again(unraisable: "sys.UnraisableHookArgs") -> None:
        if not interruptions or unraisable.exc_type is not KeyboardInterrupt:
            show(unraisable)
            return
        import contextlib
        import threading

        with contextlib.suppress(RuntimeError):  # a process that ends starts no thread
            threading.Timer(0.01, os.kill, (process, interruptions[-1])).start()

    # Code that Python calls, such as the callback of a weak reference, can raise nothing.
    sys.unraisablehook = _send_again
    for number in (_signal.SIGINT, _signal.SIGTERM):
        # `nohup` and shells in the background have them ignored.
        if _signal.getsignal(number) in (_signal.default_int_handler, _signal.SIG_DFL):
            _signal.signal(number, _interrupt)


def end_interrupts() -> int:
    """The number of the signal that interrupted this process; none interrupts it from now on."""
    for number in (_signal.SIGINT, _signal.SIGTERM) if interruptions else ():
        _signal.signal(number, _signal.SIG_IGN)
    return interruptions[0] if interruptions else _signal.SIGINT


_INTERRUPTED = 128


def leave(arguments: list[str], code: int) -> None:
    """Ends the process without taking modules apart, after functions registered with atexit. Saves
    37 ms.

    What an interrupted command still does in threads is not waited for.
    """
    if arguments[:1] not in _LEAN and code < _INTERRUPTED:
        # Other commands take longer, and run code of others that may want to tidy up.
        sys.exit(code)
    import atexit
    import contextlib

    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)
