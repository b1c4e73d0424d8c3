"""Work folders in buckets of S3, Google Cloud or Azure: every file is put whole, and where there is
none.
"""

from collections.abc import Mapping
from pathlib import Path

from rankwell.errors import BadUsage, flag
from rankwell.parts.places import Write, Written, draft_beside, part_name, write_draft
from rankwell.store import remote
from rankwell.store.drafts import scratch

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
        self.folder = scratch()

    def _url(self, name: str) -> str:
        return f"{self.name}/{name}"

    def listing(self, prefix: str = "") -> Mapping[str, int]:
        """The sizes of its objects by name, in one request for a thousand of them."""
        objects = remote.objects_in(f"{self.name}/", prefix)
        return {
            name: stored_object.size
            for name, stored_object in objects.items()
            if not name.startswith(".")
        }

    def size(self, name: str) -> int | None:
        """The size of an object."""
        stored_object = remote.look(self._url(name), anew=True)
        return None if stored_object is None else stored_object.size

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

    def put_part(
        self, stem: str, suffix: str, write: Write, *, unique: bool, replace: bool = False
    ) -> Written:
        """Writes a file of this machine, and puts its content."""
        with draft_beside(scratch() / stem) as draft:
            digest, size = write_draft(draft, write)
            if size > _MOST and not unique:
                raise BadUsage(
                    f"{self._url(stem)} has {size} bytes, more than one request can put; plan "
                    "smaller parts: --shards."
                )
            name = part_name(stem, suffix, digest, unique=unique)
            is_new = remote.put(self._url(name), draft, is_new=not replace)
            return Written(name, digest, size, is_new)

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
