"""The same work on several parts at once, in threads, within the limits of control groups.

Results do not depend on the number of threads.
"""

import os
import platform
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeVar

from rankwell.errors import BadUsage

_UNLIMITED = 1 << 60
"""Version 1 writes a number near 2^63 for no limit."""


def processor_quota(root: Path = Path("/")) -> int | None:
    """The processors that the quota of the control groups amounts to, rounded up; None without a
    quota.

    Source: the Linux kernel's documentation, cgroup v2 (`cpu.max`) and v1 (`cpu.cfs_quota_us`).
    """
    quotas = _pairs(root, "cpu", ("cpu.cfs_quota_us", "cpu.cfs_period_us"), ("cpu.max",))
    return min((max(1, -(-quota // period)) for quota, period in quotas if period), default=None)


def memory_left(root: Path = Path("/")) -> int | None:
    """The bytes that are left of the memory of the control groups; None without a limit."""
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes"), ("memory.max", "memory.current")
    limits = _pairs(root, "memory", *names)
    return min((max(0, limit - used) for limit, used in limits if limit < _UNLIMITED), default=None)


def _pairs(root: Path, controller: str, *names: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The two numbers in the files of each control group. names: of the files of both versions."""
    for version, folder in _groups(root, controller):
        words = [word for name in names[version - 1] for word in _text(folder / name).split()]
        if len(words) == 2 and all(map(str.isdecimal, words)):
            yield int(words[0]), int(words[1])


@lru_cache(maxsize=4)
def _groups(root: Path, controller: str) -> list[tuple[int, Path]]:
    """The version and the folder of each control group of this process and of those above it, which
    limit it as well.
    """
    groups: list[tuple[int, Path]] = []
    for line in _text(root / "proc/self/cgroup").splitlines():
        number, _, controllers_and_group = line.partition(":")
        controllers, _, group = controllers_and_group.partition(":")
        if number == "0" and not controllers:
            # Where both versions are mounted, the second has a folder of its own.
            mounts, version = (root / "sys/fs/cgroup", root / "sys/fs/cgroup/unified"), 2
        elif controller in controllers.split(","):
            mounts, version = (
                (root / "sys/fs/cgroup" / controllers, root / "sys/fs/cgroup" / controller),
                1,
            )
        else:
            continue
        parts = [part for part in group.split("/") if part and part != ".."]
        # In a container the folder at the top is often the group itself, whatever its path outside.
        groups += (
            (version, mount.joinpath(*parts[:depth]))
            for mount in mounts
            for depth in range(len(parts) + 1)
        )
    return groups


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


Part = TypeVar("Part")
Result = TypeVar("Result")
_INSIDE = threading.local()
_LIMITS: list[int] = []
THREADS = "RANKWELL_THREADS"
"""The variable that gives the number of threads; processes that are started inherit it."""


def processors() -> int:
    """Number of processors that this process may use, and so of its threads.

    The number in RANKWELL_THREADS (`--threads`); else the least of its affinity, its container's
    quota, rounded up, and the first number in OMP_NUM_THREADS. Raises BadUsage for a
    RANKWELL_THREADS that is not a positive integer.
    """
    if wanted := requested_threads():
        return min([wanted, *_LIMITS])
    number = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    first = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    openmp = int(first) if first.isascii() and first.isdecimal() and len(first) < 10 else None
    return min(filter(None, [number, _quota(), openmp, *_LIMITS]))


@cache
def _quota() -> int | None:
    return processor_quota()


@contextmanager
def environment(variables: Mapping[str, str]) -> Generator[None]:
    """A block with other variables of the environment."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            os.environ.update({} if value is None else {name: value})


@contextmanager
def threads_from(text: str) -> Generator[None]:
    """Works with as many threads as a text gives. Raises BadUsage as `--threads`."""
    number = str(read_threads("--threads", text))
    # Libraries look at theirs when they are loaded, and processes inherit all.
    libraries = (
        ()
        if "numpy" in sys.modules
        else ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    )
    with environment(dict.fromkeys((THREADS, *libraries), number)):
        yield


def read_threads(name: str, text: str) -> int:
    """The number of threads that an option or a variable of a name gives. Raises BadUsage for
    anything but a positive integer.
    """
    if not text.isascii() or not text.isdecimal() or len(text) > 9 or not int(text):
        raise BadUsage(f"{name} {text!r}: expected a positive integer.")
    return int(text)


def requested_threads() -> int | None:
    """The number of threads in RANKWELL_THREADS (`--threads`), None where the user named none.
    Raises as `processors`.
    """
    wanted = os.environ.get(THREADS, "")
    return read_threads(THREADS, wanted) if wanted else None


def spare_memory() -> int:
    """Bytes of memory that one piece of work may take: a quarter of what is available, 256 MiB
    where that is unknown.
    """
    memory = (
        line.split()[1]
        for line in _text(Path("/proc/meminfo")).splitlines()
        if line.startswith("MemAvailable:")
    )
    available, left = int(next(memory, 1 << 20)) << 10, memory_left()
    return (available if left is None else min(available, left)) // 4


def machine() -> dict[str, Any]:
    """The system, its processor by name, the numbers of processors and of threads, and the GPU
    where torch uses one.
    """
    processor_names = (
        line.partition(":")[2].strip()
        for line in _text(Path("/proc/cpuinfo")).splitlines()
        if line.startswith("model name")
    )
    torch = sys.modules.get("torch")
    gpu = torch.cuda if torch is not None and torch.cuda.is_available() else None
    return {
        "system": platform.platform(),
        "processor": next(processor_names, "") or platform.processor() or platform.machine(),
        "processors": os.cpu_count(),
        "threads": processors(),
        **({} if gpu is None else {"gpu": gpu.get_device_name()}),
    }


def limit_threads(number: int) -> None:
    """Lets this process use so many processors at most, as one of several that share the
    machine.
    """
    _LIMITS.append(number)


def in_threads(
    work: Callable[[Part], Result],
    parts: Sequence[Part],
    *,
    parts_per_thread: int = 1,
    workers: int | None = None,
) -> list[Result]:
    """The results of the work on every part, in order, by as many threads as there are processors,
    or workers.

    parts_per_thread: number of parts for which a thread is worth starting. Work that such a thread
    divides again, it does alone.
    """
    threads = min(len(parts) // parts_per_thread, workers or processors())
    if threads < 2 or getattr(_INSIDE, "thread", False):
        return [work(part) for part in parts]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(
        threads, initializer=setattr, initargs=(_INSIDE, "thread", True)
    ) as pool:
        return list(pool.map(work, parts))


@contextmanager
def blas_threads(workers: int) -> Generator[None]:
    """Divides the processors among workers while they multiply."""
    if workers == 1 and processors() >= (os.cpu_count() or 1):
        yield
        return
    with _blas(len(sys.modules)).limit(limits=max(1, processors() // workers), user_api="blas"):
        yield


@lru_cache(maxsize=1)
def _blas(_: int) -> Any:
    """The BLAS libraries that are loaded. They come with modules, whose number says whether to look
    again.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
