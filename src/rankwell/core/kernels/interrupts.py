"""Ctrl-C and SIGTERM: work that keeps what has arrived before it ends, and processes that leave
both to their parent.
"""

import os
import signal
from collections.abc import Generator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

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
    learns of signals, nothing
    is held.
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
