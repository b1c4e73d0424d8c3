"""The one runner of experiment files: cells are evaluated by one process or several, with the same bytes by any number."""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TypeVar

from rankwell.core.kernels.workers import crew, limit_threads, processors
from rankwell.errors import BadUsage
from rankwell.report.present import Progress

Part = TypeVar("Part")
Result = TypeVar("Result")
Work = Callable[[Sequence[Part], Progress], Iterator[Result]]
"""Evaluates the parts of a group one after the other. With several jobs it is sent to processes, so it is plain."""


def run(
    work: Work[Part, Result], groups: Sequence[Sequence[Part]], *, jobs: int = 1, progress: Progress = None
) -> Iterator[Result]:
    """The result of every part, in order, as they are made.

    groups: parts that one process evaluates together. jobs: how many processes; the processors' threads are divided among them.
    Raises BadUsage for less than one job.
    """
    if jobs < 1:
        raise BadUsage(f"--jobs {jobs}: expected a positive integer.")
    total = sum(map(len, groups))
    if jobs == 1 or len(groups) < 2:
        yield from _counted(chain.from_iterable(work(group, progress) for group in groups), total, progress)
        return
    jobs = min(jobs, len(groups))
    with crew(jobs, threads=None, prepare=partial(_share_processors, max(1, processors() // jobs))) as each:
        yield from _counted(chain.from_iterable(each(partial(_evaluate, work), groups)), total, progress)


def _counted(results: Iterator[Result], total: int, progress: Progress) -> Iterator[Result]:
    if progress is not None and total:
        progress("cells", 0, total)
    for count, result in enumerate(results, 1):
        if progress is not None:
            progress("cells", count, total)
        yield result


def _evaluate(work: Work[Part, Result], group: Sequence[Part]) -> list[Result]:
    return list(work(group, None))


def _share_processors(threads: int) -> None:
    """Leaves this process so many threads: our own, those of libraries that are loaded, and those of libraries to come."""
    limit_threads(threads)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(threads)
    from threadpoolctl import threadpool_limits

    threadpool_limits(threads)
