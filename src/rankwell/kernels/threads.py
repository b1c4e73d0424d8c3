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
    # The thread that calls is one of the workers: it would only wait.
    shares = [parts[share::workers] for share in range(workers)]
    with ThreadPoolExecutor(workers - 1) as pool:
        others = [pool.submit(lambda share: [work(part) for part in share], share) for share in shares[1:]]
        done = [[work(part) for part in shares[0]], *(other.result() for other in others)]
    return [done[at % workers][at // workers] for at in range(len(parts))]
