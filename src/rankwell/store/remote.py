"""Remote places: objects of S3, Google Cloud, Azure and the Hugging Face Hub, fetched by ranges into files of this process.

Credentials come from the environment alone, as each service's own tools read it, and are in no message.
"""

import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, Protocol

from rankwell.errors import BadInput, BadUsage, MissingExtra
from rankwell.store.drafts import scratch

_RANGE = 8 << 20
_AT_ONCE = 4
_ATTEMPTS = 4
_FIRST_PAUSE = 0.25
_SECONDS = 30
_VARIABLES = {
    "s3": "AWS_ACCESS_KEY_ID and others",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS",
    "az": "AZURE_STORAGE_ACCOUNT_NAME and others",
}
_VARIABLES["hf"] = "HF_TOKEN"


class Object(NamedTuple):
    """An object as it was first seen. tag: changes whenever the content does."""

    url: str
    size: int
    tag: str


class _Refused(Exception):
    """An answer that another attempt would not change; the text ends a sentence that begins with the address."""


class _Failed(Exception):
    """A failure of our own finding, in words that are shown."""


class _Changed(Exception):
    """The object has another tag than it had."""


class Service(Protocol):
    """Requests to one bucket of a service; each raises what its library raises."""

    def head(self, key: str) -> tuple[int, str] | None:
        """Size and tag of an object; None where there is none."""
        ...

    def read(self, key: str, start: int, stop: int, seen: Object) -> bytes:
        """The bytes of a range. Raises _Changed where the tag is another."""
        ...

    def list(self, prefix: str) -> Iterator[str]:
        """The keys that begin with a prefix, in any order."""
        ...


def look(url: str) -> Object | None:
    """The object at an address as it was first seen by this process; None where there is none. Raises BadInput, BadUsage."""
    known = _SEEN.get(url)
    if known is None:
        service, key = _service(url)
        found = _attempted(url, lambda: service.head(key)) if key and not key.endswith("/") else None
        if found is None:
            return None
        known = _SEEN[url] = Object(url, *found)
    return known


_SEEN: dict[str, Object] = {}
_FETCHED: dict[str, Path] = {}
_FETCHING = Lock()


def forget() -> None:
    """Lets this process look at remote places anew, such as in a long session; files that it has fetched stay in use."""
    _SEEN.clear()
    _FETCHED.clear()
    _bucket.cache_clear()
    _hub.cache_clear()


def read_range(seen: Object, start: int, stop: int) -> bytes:
    """The bytes of an object from start to stop. Raises BadInput where it cannot be read, or has changed since it was seen."""
    service, key = _service(seen.url)

    def _read() -> bytes:
        found = service.read(key, start, stop, seen)
        if len(found) != stop - start:
            raise _Failed(f"{len(found)} of {stop - start} bytes came")
        return found

    return _attempted(seen.url, _read)


def fetch(url: str) -> Path:
    """A file with the content of an object, which is fetched once per process. Raises BadInput as `read_range`, and for none."""
    with _FETCHING:
        if url not in _FETCHED:
            seen = look(url)
            if seen is None:
                raise BadInput(f"{url}: there is no such object; list what is there, and name one.")
            handle, name = tempfile.mkstemp(suffix=Path(url).suffix, dir=scratch())
            os.close(handle)
            try:
                _write(seen, Path(name))
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
            _FETCHED[url] = Path(name)
        return _FETCHED[url]


def _write(seen: Object, path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    ranges = [(start, min(start + _RANGE, seen.size)) for start in range(0, seen.size, _RANGE)]
    with path.open("wb") as file, ThreadPoolExecutor(_AT_ONCE) as pool:
        for first in range(0, len(ranges), _AT_ONCE):
            # No more is read ahead than is written next, so that memory stays small.
            for piece in pool.map(lambda each: read_range(seen, *each), ranges[first : first + _AT_ONCE]):
                file.write(piece)


def names_in(url: str) -> list[str]:
    """The names of the objects of a folder, in order of their bytes, without those of folders inside. Raises as `look`."""
    service, key = _service(url)
    prefix = key.rstrip("/") + "/" if key.strip("/") else ""
    keys = _attempted(url, lambda: list(service.list(prefix)))
    names = (each.removeprefix(prefix) for each in keys if each.startswith(prefix))
    return sorted({name for name in names if name and "/" not in name}, key=str.encode)


def _attempted(url: str, work: Callable[[], Any]) -> Any:
    """The result of a request, tried again after growing pauses where it fails for a reason that may pass. Raises BadInput."""
    reason = ""
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(_FIRST_PAUSE * 2 ** (attempt - 1))
        try:
            return work()
        except (BadInput, BadUsage, MissingExtra, MemoryError):
            raise
        except _Changed as error:
            raise BadInput(f"{url} has changed while it was read; run again, when nothing writes there.") from error
        except _Refused as error:
            # The answer of a server may repeat keys and signatures, so it is not shown as a cause.
            raise BadInput(f"{url}: {error}") from None
        except Exception as error:
            reason = _reason(error)
    raise BadInput(f"{url} cannot be read ({reason}, after {_ATTEMPTS} attempts); check the network and the service.") from None


def _reason(error: Exception) -> str:
    """A few words of our own for a failure: messages of libraries repeat answers, which may hold credentials."""
    if isinstance(error, _Failed):
        return str(error)
    text = str(error)
    if status := re.search(r"status: (\d{3})\b", text):
        return f"the server answers with status {status[1]}"
    known = {
        "non-partial": "the server answers a request for a range with the whole object",
        "kind: Connect": "no connection",
        "kind: Timeout": "no answer in time",
        "ConnectError": "no connection",
        "end of file": "the answer ended early",
        "kind: Decode": "the answer ended early",
        "kind: Body": "the answer ended early",
        "IncompleteMessage": "the answer ended early",
    }
    return next((words for part, words in known.items() if part in text), f"a {type(error).__name__}")


def _service(url: str) -> tuple[Service, str]:
    """The service of an address, and the key in its bucket. Raises BadUsage for a wrong one, MissingExtra without a library."""
    scheme, _, rest = url.partition("://")
    bucket, _, key = rest.partition("/")
    if scheme != "hf" and ("@" in bucket or "?" in rest):
        raise BadUsage(f"an address of {scheme}:// has a user or a query; credentials come from the environment, leave them out.")
    if scheme == "hf":
        return _hub(), rest
    return _bucket(scheme, bucket), key


@cache
def _bucket(scheme: str, bucket: str) -> Service:
    try:
        import obstore
        from obstore import store
    except ImportError as error:
        raise MissingExtra(f"{scheme}:// needs obstore: pip install 'rankwell[remote]'.") from error
    endpoint = next(filter(None, map(os.environ.get, ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"))), "")
    options: dict[str, Any] = {"timeout": f"{_SECONDS}s", "connect_timeout": "10s"}
    if scheme == "s3" and endpoint.startswith("http://"):
        options["allow_http"] = True
    # Attempts are counted here, in one place for all services; the library would go on for minutes.
    retries: Any = {"max_retries": 0, "retry_timeout": _span(_SECONDS)}
    try:
        make: Any = store.from_url
        opened = make(f"{scheme}://{bucket}", client_options=options, retry_config=retries)
    except Exception:
        known = f"check the name and the variables of the environment ({_VARIABLES[scheme]})"
        raise BadInput(f"{scheme}://{bucket} cannot be opened; {known}.") from None
    return _Bucket(obstore, opened, scheme)


def _span(seconds: int) -> Any:
    from datetime import timedelta

    return timedelta(seconds=seconds)


class _Bucket:
    """A bucket of S3, Google Cloud or Azure through obstore."""

    def __init__(self, library: Any, store: Any, scheme: str) -> None:
        self._library, self._store, self._scheme = library, store, scheme

    def head(self, key: str) -> tuple[int, str] | None:
        try:
            found = self._requested(lambda: self._library.head(self._store, key))
        except FileNotFoundError:
            return None
        return found["size"], _tag(found)

    def read(self, key: str, start: int, stop: int, seen: Object) -> bytes:
        def _get() -> bytes:
            found = self._library.get(self._store, key, options={"range": (start, stop)})
            if (found.meta["size"], _tag(found.meta)) != (seen.size, seen.tag):
                raise _Changed
            if tuple(found.range) != (start, stop):
                raise _Failed("the server answers a request for a range with another")
            return bytes(found.bytes())

        try:
            return self._requested(_get)
        except FileNotFoundError as error:
            raise _Changed from error

    def list(self, prefix: str) -> Iterator[str]:
        found = self._requested(lambda: [each["path"] for part in self._library.list(self._store, prefix) for each in part])
        yield from found

    def _requested(self, request: Callable[[], Any]) -> Any:
        errors = self._library.exceptions
        try:
            return request()
        except (errors.UnauthenticatedError, errors.PermissionDeniedError):
            raise _Refused(self._denied()) from None
        except errors.PreconditionError:
            raise _Changed from None
        except errors.NotFoundError as error:
            raise FileNotFoundError from error
        except errors.GenericError as error:
            text = str(error)
            if (
                "169.254.169.254" in text
            ):  # the service that gives a machine of a cloud its credentials, the last to be looked for
                raise _Refused(f"no credentials are in the environment ({_VARIABLES[self._scheme]}).") from None
            if any(word in text for word in ("ExpiredToken", "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken")):
                raise _Refused(self._denied()) from None
            raise

    def _denied(self) -> str:
        return (
            f"access is refused; check the credentials in the environment ({_VARIABLES[self._scheme]}), which may have expired."
        )


def _tag(found: Any) -> str:
    return str(found["e_tag"] or found["last_modified"])


@cache
def _hub() -> Service:
    try:
        import huggingface_hub
    except ImportError as error:
        raise MissingExtra("hf:// needs huggingface_hub: pip install 'rankwell[remote]'.") from error
    return _Hub(huggingface_hub.HfFileSystem(use_listings_cache=False))


class _Hub:
    """The Hugging Face Hub through its file system, such as hf://datasets/OWNER/NAME/FILE."""

    def __init__(self, files: Any) -> None:
        self._files = files

    def head(self, key: str) -> tuple[int, str] | None:
        try:
            found = self._requested(lambda: self._files.info(key, refresh=True))
        except FileNotFoundError:
            return None
        return (found["size"], str(found.get("blob_id"))) if found["type"] == "file" else None

    def read(self, key: str, start: int, stop: int, seen: Object) -> bytes:
        found = bytes(self._requested(lambda: self._files.cat_file(key, start=start, end=stop)))
        if self.head(key) != (seen.size, seen.tag):
            raise _Changed
        return found

    def list(self, prefix: str) -> Iterator[str]:
        yield from self._requested(lambda: self._files.ls(prefix.rstrip("/"), detail=False, refresh=True))

    def _requested(self, request: Callable[[], Any]) -> Any:
        try:
            return request()
        except FileNotFoundError:
            raise
        except Exception as error:
            status = getattr(getattr(error, "response", None), "status_code", 0)
            if status in (401, 403):
                raise _Refused(
                    "access is refused; check the token in the environment (HF_TOKEN), which may have expired."
                ) from None
            raise
