"""Limits that control groups of Linux set this process, as containers and batch systems do:
processors and memory.
"""

from functools import lru_cache
from pathlib import Path

_UNLIMITED = 1 << 60
"""Version 1 writes a number near 2^63 for no limit."""


def processor_quota(root: Path = Path("/")) -> int | None:
    """The processors that the quota of the control groups amounts to, rounded up; None without a
    quota.

    Source: the Linux kernel's documentation, cgroup v2 (`cpu.max`) and v1 (`cpu.cfs_quota_us`).
    """
    quotas = list[int]()
    for version, folder in _groups(root, "cpu"):
        if version == 2:
            quota, _, period = _text(folder / "cpu.max").partition(" ")
        else:
            quota, period = _text(folder / "cpu.cfs_quota_us"), _text(folder / "cpu.cfs_period_us")
        if quota.isdecimal() and period.isdecimal() and int(period):
            quotas.append(max(1, -(-int(quota) // int(period))))
    return min(quotas, default=None)


def memory_left(root: Path = Path("/")) -> int | None:
    """The bytes that are left of the memory of the control groups; None without a limit."""
    bytes_left = list[int]()
    for version, folder in _groups(root, "memory"):
        names = (
            ("memory.max", "memory.current")
            if version == 2
            else ("memory.limit_in_bytes", "memory.usage_in_bytes")
        )
        limit, used_bytes = (_text(folder / name) for name in names)
        if limit.isdecimal() and used_bytes.isdecimal() and int(limit) < _UNLIMITED:
            bytes_left.append(max(0, int(limit) - int(used_bytes)))
    return min(bytes_left, default=None)


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
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
