"""Locks of outputs: one process writes to a place at a time, and an error names it. Those of dead
processes are free.
"""

import os
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from rankwell.errors import BadUsage, printable, without_credentials

_HELD = dict[Path, int]()
"""The thread that holds each lock of this process."""
_LONGEST = 300


@contextmanager
def locked(place: Path, *, wait: float = 0.0) -> Generator[None]:
    """Holds the lock of an output until the block ends; blocks of one thread inside each other
    share it.

    It is the file `.rankwell.lock` in a folder, `.NAME.lock` beside a file, there only while it is
    held or after a kill.
    wait: seconds to wait for another process. Raises BadUsage naming the process that holds it.
    """
    import platform
    import shlex

    path = (
        place.resolve() / ".rankwell.lock"
        if place.is_dir()
        else place.resolve().with_name(f".{place.name}.lock")
    )
    if _HELD.get(path) == threading.get_ident():
        yield
        return
    end = time.monotonic() + wait
    while (handle := take(path)) is None:
        if time.monotonic() >= end:
            holder = ""
            with suppress(OSError), path.open("rb") as stream:
                holder = printable(stream.read(4 * _LONGEST).decode("utf-8", "replace"))
            raise BadUsage(
                f"{place} is being written by {holder or 'another process'}; wait until "
                "it is finished, or name another place."
            )
        time.sleep(0.05)
    _HELD[path] = threading.get_ident()
    try:
        command = shlex.join([Path(sys.argv[0]).name, *map(without_credentials, sys.argv[1:])])
        command = command if len(command) <= _LONGEST else f"{command[:_LONGEST]} …"
        since = time.strftime("%Y-%m-%d %H:%M:%S %z")
        holder = f"process {os.getpid()} on {platform.node()} ({command}), since {since}"
        with suppress(OSError):  # the name of the holder is not worth an error on a full disk
            os.write(handle, holder.encode("utf-8", "backslashreplace"))
        yield
    finally:
        del _HELD[path]
        remove(path, handle)


def take(path: Path) -> int | None:
    """A descriptor of a file that is made if need be, with its lock, empty; None where another
    process holds the lock.
    """
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        if not _try(handle):
            os.close(handle)
            return None
        # Its last holder may have removed the file since it was opened.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), path.stat()):
                os.truncate(handle, 0)
                return handle
        os.close(handle)


def remove(path: Path, handle: int) -> None:
    """Removes a locked file, and frees its lock."""
    if sys.platform == "win32":
        os.close(handle)
        with suppress(OSError):  # the next process has opened it already
            path.unlink()
    else:
        path.unlink(missing_ok=True)
        os.close(handle)


def _try(handle: int) -> bool:
    """Whether the lock of an open file is free, and then takes it."""
    if sys.platform == "win32":
        import msvcrt

        # A byte that is never written, so that others can read the rest.
        os.lseek(handle, 1 << 30, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        os.lseek(handle, 0, os.SEEK_SET)
        return True
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
