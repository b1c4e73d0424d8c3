"""Remote places as a file system for DuckDB: what it reads of an object comes by checked ranges,
and nothing else.
"""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, unquote

from rankwell.errors import BadInput, RankwellError
from rankwell.store.remote import RangeStream, look

PROTOCOL = "rankwell"
_FAILED: list[RankwellError] = []


def file_name(url: str) -> str:
    """The name of an object as DuckDB gets it: without characters that it takes for a pattern, or
    for a service of its own.
    """
    return f"{PROTOCOL}://{quote(url, safe='/')}"


def failure() -> RankwellError | None:
    """The error behind DuckDB's last one, of which DuckDB keeps but a text."""
    return _FAILED.pop() if _FAILED else None


class _Stream(RangeStream):
    def readinto(self, buffer: Any, /) -> int:
        """Reads as its base does; an error is kept for `failure`, since DuckDB keeps but its
        text.
        """
        try:
            return super().readinto(buffer)
        except RankwellError as error:
            _FAILED[:] = [error]
            raise OSError("a range cannot be read") from error


class _RemoteFiles:
    """Objects by the names that `file_name` gives them; the tables that DuckDB reads are never
    written through it.
    """

    protocol = PROTOCOL
    cachable = False

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Name and size of an object."""
        remote_object = look(_url(path))
        if remote_object is None:
            raise FileNotFoundError(path)
        return {"name": path, "size": remote_object.size, "type": "file"}

    def open(self, path: str, mode: str = "rb", **_: Any) -> Any:
        """An object to read by ranges."""
        remote_object = look(_url(path))
        if remote_object is None or mode != "rb":
            raise FileNotFoundError(path)
        return _Stream(remote_object)

    def glob(self, path: str, **_: Any) -> Any:
        """The name itself, which is never a pattern."""
        return [path]

    def modified(self, path: str) -> datetime:  # noqa: ARG002 - any object
        """One time for all: whether an object has changed is known by its tag."""
        return datetime.fromtimestamp(0, UTC)


def remote_files() -> Any:
    """A file system of fsspec, as DuckDB takes it, of objects by the names that `file_name` gives
    them.
    """
    from fsspec.spec import AbstractFileSystem

    base: Any = AbstractFileSystem

    class RemoteFiles(_RemoteFiles, base):
        pass

    return RemoteFiles()


def _url(path: str) -> str:
    url = unquote(path.removeprefix(f"{PROTOCOL}://"))
    if "://" not in url:
        raise BadInput(f"{path}: expected the name of an object.")
    return url
