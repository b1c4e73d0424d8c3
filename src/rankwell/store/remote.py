"""Remote places: objects of S3, Google Cloud, Azure and the Hugging Face Hub, read by ranges that
are checked, and written.

Every request is repeated here where it fails for a reason that may pass, and every error is in
words of our own.
"""

import io
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from rankwell.errors import BadInput, BadUsage, MissingExtra
from rankwell.store.drafts import scratch
from rankwell.store.services import Changed, Failed, Object, Refused, forget_services, service_of

_RANGE = 8 << 20
_AT_ONCE = 4
_ATTEMPTS = 4
_FIRST_PAUSE = 0.25


_SEEN: dict[str, Object] = {}
_FETCHED: dict[Object, Path] = {}
_FETCHING = Lock()


def look(url: str, *, anew: bool = False) -> Object | None:
    """The object at an address as it was first seen by this process, or is now; None where there is
    none.

    Raises BadInput, BadUsage.
    """
    remote_object = None if anew else _SEEN.get(url)
    if remote_object is None:
        service, key = service_of(url)
        size_and_tag = (
            _attempted(url, lambda: service.head(key)) if key and not key.endswith("/") else None
        )
        if size_and_tag is None:
            return None
        remote_object = _SEEN[url] = Object(url, *size_and_tag)
    return remote_object


def existing(url: str, *, anew: bool = False) -> Object:
    """As `look`. Raises BadInput where there is none."""
    if (remote_object := look(url, anew=anew)) is None:
        raise BadInput(f"{url}: there is no such object; list what is there, and name one.")
    return remote_object


def expect(url: str, size: int, tag: str) -> None:
    """Lets this process read an object only as a plan has seen it."""
    _SEEN[url] = Object(url, size, tag, planned=True)


def forget() -> None:
    """Lets this process look at remote places anew, such as in a long session; files that it has
    fetched stay in use.
    """
    _SEEN.clear()
    _FETCHED.clear()
    forget_services()


def read_range(remote_object: Object, start: int, stop: int) -> bytes:
    """The bytes of an object from start to stop. Raises BadInput where it cannot be read, or has
    changed since it was seen.
    """
    service, key = service_of(remote_object.url)

    def _read() -> bytes:
        content = service.read(key, start, stop, remote_object)
        if len(content) != stop - start:
            raise Failed(f"{len(content)} of {stop - start} bytes came")
        return content

    return _attempted(remote_object.url, _read) if stop > start else b""


def read_whole(url: str) -> bytes | None:
    """The bytes of a small object as it is now, which may be replaced at any time; None where there
    is none. Raises BadInput.
    """
    service, key = service_of(url)
    return _attempted(url, lambda: service.read_whole(key))


def read_pieces(remote_object: Object, start: int, stop: int) -> Iterator[bytes]:
    """The bytes of a long range, piece by piece in order; a few pieces are read at a time. Raises
    as `read_range`.
    """
    from concurrent.futures import ThreadPoolExecutor

    ranges = [(begin, min(begin + _RANGE, stop)) for begin in range(start, stop, _RANGE)]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for first in range(0, len(ranges), _AT_ONCE):
            # No more is read ahead than is used next, so that memory stays small.
            yield from pool.map(
                lambda byte_range: read_range(remote_object, *byte_range),
                ranges[first : first + _AT_ONCE],
            )


class RangeStream(io.RawIOBase):
    """An object as a file: what is read of it is one range, and nothing else comes. Raises as
    `read_range`.

    first_content: the first bytes, where they are known.
    """

    def __init__(self, remote_object: Object, first_content: bytes = b"") -> None:
        self._object, self._position, self._first_content = remote_object, 0, first_content

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always."""
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """The new position."""
        self._position = max(0, (0, self._position, self._object.size)[whence] + offset)
        return self._position

    def readinto(self, buffer: Any, /) -> int:
        """Fills the buffer, as far as the object goes."""
        stop = min(self._position + len(buffer), self._object.size)
        content = self._first_content[self._position : stop] or read_range(
            self._object, self._position, stop
        )
        buffer[: len(content)] = content
        self._position += len(content)
        return len(content)


def stream_object(url: str, size: int) -> RangeStream:
    """An object to read from its beginning, so many bytes of which come at once, and are kept.
    Raises as `existing`.
    """
    remote_object = existing(url)
    return RangeStream(remote_object, _beginning(remote_object, size))


@lru_cache(maxsize=64)
def _beginning(remote_object: Object, size: int) -> bytes:
    return read_range(remote_object, 0, min(size, remote_object.size))


def fetch(url: str, *, anew: bool = False) -> Path:
    """A file with the content of an object, which is fetched once per process, or as it is now.

    Raises BadInput as `read_range`, and where there is none.
    """
    with _FETCHING:
        remote_object = existing(url, anew=anew)
        content = remote_object._replace(planned=False)
        if content not in _FETCHED:
            handle, name = tempfile.mkstemp(suffix=Path(url).suffix, dir=scratch())
            os.close(handle)
            try:
                with Path(name).open("wb") as file:
                    file.writelines(read_pieces(remote_object, 0, remote_object.size))
            except BaseException as error:
                Path(name).unlink(missing_ok=True)
                if isinstance(error, OSError):
                    error.filename = error.filename or str(scratch())  # a full disk
                raise
            _FETCHED[content] = Path(name)
        return _FETCHED[content]


def names_in(url: str) -> list[str]:
    """The names of the objects of a folder, and of the folders inside with a slash behind. Raises
    as `look`.
    """
    inside = set[str]()
    return [*objects_in(url, inside=inside), *sorted(inside)]


def objects_in(url: str, begin: str = "", inside: set[str] | None = None) -> dict[str, Object]:
    """The objects of a folder by name, those that begin so, in order of the names' bytes, without
    those of folders inside.

    inside: gets the names of those folders, with a slash behind. Raises as `look`.
    """
    service, key = service_of(url)
    prefix = key.rstrip("/") + "/" if key.strip("/") else ""
    root = url.removesuffix(key)
    folder = (root if root.endswith("/") else f"{root}/") + prefix
    objects: dict[str, Object] = {}
    for path, size, tag in _attempted(url, lambda: list(service.objects(prefix, begin))):
        name = path.removeprefix(prefix)
        if path.startswith(prefix) and name.startswith(begin) and name and "/" not in name:
            objects[name] = Object(folder + name, size, tag)
        elif path.startswith(prefix) and inside is not None and "/" in name:
            inside.add(name.partition("/")[0] + "/")
    # What a listing says of an object need not be asked of the object.
    _SEEN.update(
        {
            remote_object.url: remote_object
            for remote_object in objects.values()
            if remote_object.tag and remote_object.url not in _SEEN
        }
    )
    return dict(sorted(objects.items(), key=lambda named_object: named_object[0].encode()))


def put(url: str, content: bytes | Path, *, is_new: bool = False) -> bool:
    """Writes an object as a whole; false, and nothing is done, where it has to be new and is there.
    Raises BadInput, BadUsage.
    """
    service, key = service_of(url)
    _SEEN.pop(url, None)
    return _attempted(url, lambda: service.put(key, content, is_new=is_new), "written")


def remove(url: str) -> None:
    """Removes an object, if there is one. Raises as `put`."""
    service, key = service_of(url)
    _SEEN.pop(url, None)
    _attempted(url, lambda: service.remove(key), "removed")


def _attempted(url: str, work: Callable[[], Any], verb: str = "read") -> Any:
    """The result of a request, tried again after growing pauses where it fails for a reason that
    may pass. Raises BadInput.
    """
    reason = ""
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(_FIRST_PAUSE * 2 ** (attempt - 1))
        try:
            return work()
        except (BadInput, BadUsage, MissingExtra, MemoryError):
            raise
        except Changed as error:
            if (remote_object := _SEEN.get(url)) is not None and remote_object.planned:
                raise BadInput(
                    f"{url} has changed since the plan was written; restore it, or name "
                    "another work folder."
                ) from error
            raise BadInput(
                f"{url} has changed while it was read; run again, when nothing writes there."
            ) from error
        except Refused as error:
            # The answer of a server may repeat keys and signatures, so it is not shown as a cause.
            raise BadInput(f"{url}: {error}") from None
        except Exception as error:
            reason = _reason(error)
    raise BadInput(
        f"{url} cannot be {verb} ({reason}, after {_ATTEMPTS} attempts); check the network "
        "and the service."
    ) from None


def _reason(error: Exception) -> str:
    """A few words of our own for a failure: messages of libraries repeat answers, which may hold
    credentials.
    """
    if isinstance(error, Failed):
        return str(error)
    text = str(error)
    if status := re.search(r"status: (\d{3})\b", text):
        return f"the server answers with status {status[1]}"
    reasons = {
        "non-partial": "the server answers a request for a range with the whole object",
        "kind: Connect": "no connection",
        "kind: Timeout": "no answer in time",
        "ConnectError": "no connection",
        "end of file": "the answer ended early",
        "kind: Decode": "the answer ended early",
        "kind: Body": "the answer ended early",
        "IncompleteMessage": "the answer ended early",
    }
    return next(
        (words for part, words in reasons.items() if part in text), f"a {type(error).__name__}"
    )
