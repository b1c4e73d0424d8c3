"""Signs of life: a part that is computed renews its note while it uses its processor, and who runs
it notices when it stops.
"""

import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from rankwell.core.kernels.workers import repeating
from rankwell.errors import BadUsage, RankwellError, flag, printable
from rankwell.parts.places import WorkPlace
from rankwell.parts.work import WorkFolder

_BEAT, _REMOTE_BEAT = 1.0, 10.0
"""Seconds between two signs, in a folder and in a bucket, where each is a request."""
_LEAST_BEATS = 3
_LEAST_SHARE = 0.01
"""Of one processor since the last sign: threads of packages that wait use less."""


def beat(place: WorkPlace) -> float:
    """Seconds between two signs of life of a part in a place."""
    return _BEAT if place.is_local else _REMOTE_BEAT


@contextmanager
def working(work: WorkFolder, index: int) -> Generator[None]:
    """A block that computes a part: its note is there meanwhile, and says how much processor time
    the process has used.

    A process that waits for ever or is suspended uses next to none, so that its note stays as it
    is.
    """
    note, (used, seen) = work.begin(index), (time.process_time(), time.monotonic())

    def _renew() -> None:
        nonlocal used, seen
        own, now = time.process_time() - time.thread_time(), time.monotonic()
        if own - used > _LEAST_SHARE * (now - seen):
            with suppress(OSError, RankwellError):  # a full disk ends the part itself
                work.renew(index, {**note, "processor_seconds": round(own, 2)})
            used, seen = own, now

    try:
        with repeating(_renew, beat(work.place)):
            yield
    finally:
        work.forget(index, "running")


def check_stall(place: WorkPlace, seconds: float | None) -> None:
    """Raises BadUsage for fewer seconds than parts need for their signs of life."""
    least = _LEAST_BEATS * beat(place)
    if seconds is not None and not least <= seconds < float("inf"):
        where = "" if place.is_local else " where its work folder is in a bucket"
        what = f"{flag('--stall', seconds)}: expected {least:g} seconds or more"
        raise BadUsage(f"{what}; a part gives a sign of life every {beat(place):g} s{where}.")


class StallWatch:
    """Whether the part of a place among `indices` has given no sign of life for so many seconds, by
    this machine's clock.

    A part that has not begun is not stalled. A stalled one is named on standard error, and has the
    same time again.
    """

    def __init__(self, work: WorkFolder, indices: Sequence[int], seconds: float) -> None:
        self._work, self._indices, self._seconds = work, indices, seconds
        self._seen = dict[int, tuple[Mapping[str, Any] | None, float]]()
        self._looked = dict[int, float]()

    def __call__(self, place: int) -> bool:
        """Whether the part at a place among those that were given is stalled; it is named then."""
        index, now = self._indices[place], time.monotonic()
        if now - self._looked.get(index, -_REMOTE_BEAT) < beat(self._work.place):
            return False
        self._looked[index] = now
        note = self._work.note(index, "running")
        sign, since = self._seen.setdefault(index, (note, now))
        if note is None or note != sign:
            self._seen[index] = note, now
            return False
        if now - since <= self._seconds:
            return False
        del self._seen[index]
        where = printable(f"{note.get('host')}, process {note.get('process')}")
        sys.stderr.write(
            f"part {index} has given no sign of life for {self._seconds:g} s ({where}); it is "
            "started again\n"
        )
        return True
