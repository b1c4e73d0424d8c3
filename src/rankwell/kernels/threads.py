"""The same work on several parts at once. Parts share nothing, so results do not depend on how many threads there are."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_threads(work: Callable[[Part], Result], parts: Sequence[Part], *, each: int = 1) -> list[Result]:
    """The results of the work on every part, in order; a thread is worth starting for `each` parts. NumPy frees the others."""
    workers = min(len(parts) // each, processors())
    if workers < 2:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(work, parts))
