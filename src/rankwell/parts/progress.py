"""The progress of parts as one line: how many are done, how much of the work that is, and the
slowest that runs.
"""

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from threading import Lock
from typing import Any, Protocol, runtime_checkable

from rankwell.core.kernels.workers import repeating
from rankwell.errors import BadInput
from rankwell.parts import Amounts
from rankwell.parts.signs import beat
from rankwell.parts.work import WorkFolder

Progress = Callable[[str, int, int], None]
_LOOKING_SHARE = 0.05
"""Of the time: with many parts a look at their notes takes long."""
_SCALES = (
    ("", 1),
    (" k", 10**3),
    (" M", 10**6),
    (" G", 10**9),
    (" T", 10**12),
    (" P", 10**15),
    (" E", 10**18),
)


@runtime_checkable
class NotedProgress(Protocol):
    """Progress that has room for a note behind the name, what is done, and the whole."""

    def __call__(self, name: str, done: int, total: int, /) -> None: ...  # noqa: D102

    def noted(self, name: str, done: int, total: int, note: str, /) -> None:
        """Reports as a call does, with a note behind it."""
        ...


def share(done: int, total: int, unit: str) -> str:
    """An amount that is done and the whole, both in the scale of the whole.

    >>> share(1_500_000, 12_000_000, "products")
    '1.5 of 12.0 M products'
    >>> share(20, 250, "texts")
    '20 of 250 texts'
    """
    scale, size = max(
        ((each, size) for each, size in _SCALES if size <= max(total, 1)), key=lambda each: each[1]
    )
    decimals = 0 if size == 1 else 3 - len(str(total // size))
    return " of ".join(f"{each / size:.{decimals}f}" for each in (done, total)) + f"{scale} {unit}"


class _Line:
    """The line of the parts of a folder. missing: those that are computed now."""

    def __init__(self, work: WorkFolder, missing: Sequence[int]) -> None:
        plan = work.plan
        amounts_of = plan.kind_of_part.amounts
        self._unit, self._amounts = (
            Amounts("", ()) if amounts_of is None else amounts_of(plan.part_inputs)
        )
        self._work, self._total = work, sum(self._amounts)
        self._left = set(missing)
        self.done, self.total = plan.parts - len(missing), plan.parts
        self._amount_done = (
            self._total - sum(self._amounts[index] for index in missing) if self._amounts else 0
        )
        self._before, self._since = _starts(work), dict[int, tuple[Any, float]]()
        self._next_look = 0.0

    def end(self, index: int) -> None:
        """Counts a part that has ended."""
        self.done += 1
        self._left.discard(index)
        self._since.pop(index, None)
        self._amount_done += self._amounts[index] if self._amounts else 0

    @property
    def note(self) -> str:
        """The work that is done, and the slowest part with its age."""
        now = time.monotonic()
        if now >= self._next_look:
            with suppress(OSError, BadInput):
                self._look(now)
            self._next_look = now + max(
                beat(self._work.place) / 2, (time.monotonic() - now) / _LOOKING_SHARE
            )
        work = share(self._amount_done, self._total, self._unit) if self._total else ""
        slowest = min(self._since, key=lambda index: self._since[index][1], default=None)
        age = (
            ""
            if slowest is None
            else f"slowest {slowest}: {timedelta(seconds=int(now - self._since[slowest][1]))}"
        )
        return ", ".join(filter(None, (work, age)))

    def _look(self, now: float) -> None:
        # Notes that were there before are of processes that have ended, whatever machine they were
        # on.
        found = {
            index: start
            for index, start in _starts(self._work).items()
            if start != self._before.get(index)
        }
        known = self._since
        self._since = {
            index: known[index] if index in known and known[index][0] == start else (start, now)
            for index, start in found.items()
            if index in self._left
        }


def _starts(work: WorkFolder) -> Mapping[int, Any]:
    """The host, process and time with which each running part began."""
    return {
        index: [note.get(each) for each in ("host", "process", "since")]
        for index, note in work.running().items()
    }


@contextmanager
def shown_progress(
    work: WorkFolder, missing: Sequence[int], progress: Progress | None, name: str = "parts"
) -> Generator[Callable[[int], None]]:
    """A block in which the missing parts of a folder end, each of which is to be reported with its
    index.

    Progress that takes notes is called at least once in a beat of the parts, from a thread of its
    own.
    """
    if progress is None:
        yield lambda _: None
        return
    if not isinstance(progress, NotedProgress):
        ended = work.plan.parts - len(missing)

        def _count(_: int) -> None:
            nonlocal ended
            ended += 1
            progress(name, ended, work.plan.parts)

        yield _count
        return
    line, lock, noted = _Line(work, missing), Lock(), progress.noted

    def _show() -> None:
        with lock:
            noted(name, line.done, line.total, line.note)

    def _end(index: int) -> None:
        with lock:
            line.end(index)
        _show()

    _show()
    with repeating(_show, 1.0):
        yield _end
