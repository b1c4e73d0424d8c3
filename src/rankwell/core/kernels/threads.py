"""The same work on several parts at once. Parts share nothing, so results do not depend on how many threads there are."""

import os
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")
_INSIDE = threading.local()
_LIMITS: list[int] = []


def processors() -> int:
    """Number of processors that this process may use."""
    number = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min([number, *_LIMITS])


def limit_threads(number: int) -> None:
    """Lets this process use so many processors at most, as one of several that share the machine."""
    _LIMITS.append(number)


def in_threads(
    work: Callable[[Part], Result], parts: Sequence[Part], *, each: int = 1, workers: int | None = None
) -> list[Result]:
    """The results of the work on every part, in order, by as many threads as there are processors, or workers.

    each: for how many parts a thread is worth starting. What such a thread does in parts again, it does alone.
    """
    threads = min(len(parts) // each, workers or processors())
    if threads < 2 or getattr(_INSIDE, "thread", False):
        return [work(part) for part in parts]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads, initializer=_enter) as pool:
        return list(pool.map(work, parts))


def _enter() -> None:
    _INSIDE.thread = True
