"""Work folders in buckets of S3, Google Cloud or Azure: every file is put whole, and where there is
none.
"""

import json
import os
import platform
import secrets
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

from rankwell.core.kernels.workers import repeating
from rankwell.errors import BadInput, BadUsage, flag
from rankwell.parts.places import Write, Written, draft_beside, is_running, part_name, write_draft
from rankwell.store import remote
from rankwell.store.drafts import scratch

_LOCK = ".driver.json"
_BEAT, _DEAD = 5.0, 20.0
"""Seconds between the signs of life of who drives work, and without one after which it is taken for
dead.
"""
_MOST = 5 << 30
"""Bytes of an object that one request can put."""


class BucketPlace:
    """A folder of a bucket. Raises BadUsage for a service that is only read."""

    is_local = False

    def __init__(self, url: str) -> None:
        self.name = self.workers_name = url.rstrip("/")
        if url.startswith("hf://"):
            raise BadUsage(
                f"{flag('--work', url)}: the Hugging Face Hub is only read; name a folder, or "
                "one of a bucket."
            )
        self.folder, self._driver = scratch(), secrets.token_hex(4)

    def _url(self, name: str) -> str:
        return f"{self.name}/{name}"

    def listing(self, prefix: str = "") -> Mapping[str, int]:
        """The sizes of its objects by name, in one request for a thousand of them."""
        found = remote.objects_in(f"{self.name}/", prefix)
        return {name: each.size for name, each in found.items() if not name.startswith(".")}

    def size(self, name: str) -> int | None:
        """The size of an object."""
        seen = remote.look(self._url(name), anew=True)
        return None if seen is None else seen.size

    def read(self, name: str) -> bytes | None:
        """The content of a small object, as it is now."""
        return remote.read_whole(self._url(name))

    def put_new(self, name: str, content: bytes) -> bool:
        """Puts an object on the condition that there is none."""
        # A request whose answer was lost is refused when it is repeated.
        return remote.put(self._url(name), content, is_new=True) or self.read(name) == content

    def replace(self, name: str, content: bytes) -> None:
        """Puts an object in place of an earlier one."""
        remote.put(self._url(name), content)

    def put_part(self, stem: str, suffix: str, write: Write, *, unique: bool) -> Written:
        """Writes a file of this machine, and puts its content."""
        with draft_beside(scratch() / stem) as draft:
            digest, size = write_draft(draft, write)
            if size > _MOST and not unique:
                raise BadUsage(
                    f"{self._url(stem)} has {size} bytes, more than one request can put; plan "
                    "smaller parts: --shards."
                )
            name = part_name(stem, suffix, digest, unique=unique)
            return Written(
                name, digest, size, remote.put(self._url(name), draft, is_new=not unique)
            )

    def remove(self, name: str) -> None:
        """Removes an object, if there is one."""
        remote.remove(self._url(name))

    def file(self, name: str) -> Path:
        """A file with the content, fetched by checked ranges."""
        return remote.fetch(self._url(name), anew=True)

    def address(self, name: str = "") -> str:
        """The address of an object."""
        return self._url(name)

    def inside(self, name: str) -> "BucketPlace":
        """A folder in this one."""
        return BucketPlace(self._url(name))

    def open(self) -> None:
        """Nothing: a folder of a bucket is there when it has an object."""

    def close(self) -> None:
        """Nothing: a folder of a bucket is gone with its last object."""

    def clean(self) -> None:
        """Nothing: an object is never there in part."""

    @contextmanager
    def locked(self) -> Generator[None]:
        """An object of who drives work here, renewed every few seconds; one that is not renewed is
        taken over.
        """
        mine = self._owner(0)
        if not self._taken(mine):
            raise BadUsage(
                f"{self.name} is being worked on by {self._holder()}; wait for its end, or "
                "name another folder."
            )
        beats = count(1)

        def _renew() -> None:
            with suppress(BadInput, BadUsage):  # a beat that is lost is made up by the next
                self.replace(_LOCK, self._owner(next(beats)))

        try:
            with repeating(_renew, _BEAT):
                yield
        finally:
            self.remove(_LOCK)

    def _owner(self, beat: int) -> bytes:
        owner = {
            "host": platform.node()[:64],
            "process": os.getpid(),
            "driver": self._driver,
            "beat": beat,
        }
        return json.dumps(owner).encode()

    def _holder(self) -> str:
        try:
            found = json.loads(self.read(_LOCK) or b"")
            return f"process {int(found['process'])} on {str(found['host'])[:64]}"
        except (ValueError, KeyError, TypeError):
            return "another process"

    def _taken(self, mine: bytes) -> bool:
        """Whether this process holds the lock now: it was free, or its holder has shown no sign of
        life.
        """
        if self.put_new(_LOCK, mine):
            return True
        before = self.read(_LOCK)
        if not self._is_dead(before):
            end = time.monotonic() + _DEAD
            while time.monotonic() < end:
                time.sleep(0.5)
                if self.read(_LOCK) != before:
                    return self.put_new(_LOCK, mine)
        self.remove(_LOCK)
        return self.put_new(_LOCK, mine)

    @staticmethod
    def _is_dead(owner: bytes | None) -> bool:
        """Whether the holder was a process of this machine that is no more."""
        try:
            found = json.loads(owner or b"{}")
            return (
                found["host"] == platform.node()[:64]
                and found["process"] != os.getpid()
                and not is_running(found["process"])
            )
        except (ValueError, KeyError, TypeError):
            return False
