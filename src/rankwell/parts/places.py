"""The place of a work folder: files that appear whole or not at all, and once."""

import contextlib
import hashlib
import os
import platform
import secrets
import zlib
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, BinaryIO, Literal

from rankwell.errors import BadUsage

Puts = Literal["refused", "unique"]
"""A second put of one name is `refused`; where a place cannot refuse it, every content has a `unique` name."""
Write = Callable[[BinaryIO], None]

_DRAFT = ".draft-"


class HashedStream:
    """A stream to write to that takes the SHA-256 and the number of the bytes written."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._sha256, self.size = stream, hashlib.sha256(), 0

    def write(self, content: Any) -> int:
        """Writes bytes, or anything that offers a buffer."""
        self._sha256.update(content)
        self.size += memoryview(content).nbytes
        return self._stream.write(content)

    @property
    def digest(self) -> str:
        """The digest of what has been written so far."""
        return "sha256:" + self._sha256.hexdigest()


def file_digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as stream:
        return "sha256:" + hashlib.file_digest(stream, "sha256").hexdigest()


def put_new(path: Path, content: bytes) -> bool:
    """Puts a small file where there is none; false, and nothing is done, where there is one."""
    with draft_beside(path) as draft:
        with draft.open("wb") as stream:
            stream.write(content)
            _sync(stream)
        is_new = link_new(draft, path)
    # This brings the names of files that were put before to the disk, too, such as the part of a record.
    sync_folder(path.parent)
    return is_new


def link_new(draft: Path, path: Path) -> bool:
    """Gives a finished draft its name; false where the name is taken. Raises OSError where a place has no links."""
    try:
        os.link(draft, path)
    except FileExistsError:
        return False
    return True


@contextlib.contextmanager
def draft_beside(path: Path) -> Generator[Path]:
    """A name to write to in the folder of a path, of this process alone; what is there vanishes when the block ends."""
    draft = path.with_name(f"{_DRAFT}{_host()}-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def write_draft(draft: Path, write: Write) -> tuple[str, int]:
    """Writes a draft down to the disk; its digest and size."""
    with draft.open("wb") as stream:
        hashed = HashedStream(stream)
        write(hashed)  # pyright: ignore[reportArgumentType] - all that writers of arrays use of a stream
        _sync(stream)
    return hashed.digest, hashed.size


def _sync(stream: BinaryIO) -> None:
    stream.flush()
    os.fsync(stream.fileno())


def sync_folder(folder: Path) -> None:
    """Brings the names in a folder to the disk, where the system can."""
    with contextlib.suppress(OSError):  # Windows opens no folders
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def probe(folder: Path) -> Puts:
    """Whether the place refuses to put a name twice. Raises BadUsage where it cannot be written to."""
    name = folder / f".probe-{_host()}-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        return "refused" if put_new(name, b"1") and not put_new(name, b"2") else "unique"
    except OSError as error:
        if not os.access(folder, os.W_OK):
            raise BadUsage(f"{folder} cannot be written to ({error.strerror}); name another work folder.") from error
        return "unique"
    finally:
        name.unlink(missing_ok=True)


def clean_drafts(folder: Path) -> None:
    """Removes the drafts that killed processes of this machine have left."""
    first = f"{_DRAFT}{_host()}-"
    for path in folder.glob(f"{first}*"):
        process = path.name.removeprefix(first).partition("-")[0]
        if process.isdecimal() and not is_running(int(process)):
            path.unlink(missing_ok=True)


def is_running(process: int) -> bool:
    """Whether there is a process of this number on this machine; true where that cannot be found out."""
    if os.name == "nt":
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _host() -> str:
    return f"{zlib.crc32(platform.node().encode()):08x}"
