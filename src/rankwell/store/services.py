"""Services of remote places: buckets of S3, Google Cloud and Azure through obstore, and the Hugging Face Hub.

Credentials come from the environment alone, as each service's own tools read it, and are in no message.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from rankwell.errors import BadInput, BadUsage, MissingExtra

_SECONDS, _MOST_SECONDS = 30, 3600
_SMALL = 8 << 20
_READ_ONLY = "the Hugging Face Hub is only read; write to a folder or a bucket."
_VARIABLES = {
    "s3": "AWS_ACCESS_KEY_ID and others",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS",
    "az": "AZURE_STORAGE_ACCOUNT_NAME and others",
}


class Object(NamedTuple):
    """An object as it was first seen. tag: changes whenever the content does. planned: whether a plan has seen it."""

    url: str
    size: int
    tag: str
    planned: bool = False


class Refused(Exception):
    """An answer that another attempt would not change; the text ends a sentence that begins with the address."""


class Failed(Exception):
    """A failure of our own finding, in words that are shown."""


class Changed(Exception):
    """The object has another tag than it had."""


class Service(Protocol):
    """Requests to one bucket of a service; each raises what its library raises."""

    def head(self, key: str) -> tuple[int, str] | None:
        """Size and tag of an object; None where there is none."""
        ...

    def read(self, key: str, start: int, stop: int, seen: Object) -> bytes:
        """The bytes of a range. Raises Changed where the tag is another."""
        ...

    def whole(self, key: str) -> bytes | None:
        """The bytes of a small object as it is now; None where there is none."""
        ...

    def objects(self, folder: str, begin: str) -> Iterator[tuple[str, int, str]]:
        """Key, size and tag of the objects of a folder whose names begin so, and perhaps of others; the tag may be empty."""
        ...

    def put(self, key: str, content: bytes | Path, *, is_new: bool) -> bool:
        """Writes an object as a whole; where there is one, and it has to be new, nothing is done, and the answer is false."""
        ...

    def remove(self, key: str) -> None:
        """Removes an object, if there is one."""
        ...


def service_of(url: str) -> tuple[Service, str]:
    """The service of an address, and the key in its bucket. Raises BadUsage for a wrong one, MissingExtra without a library."""
    scheme, _, rest = url.partition("://")
    bucket, _, key = rest.partition("/")
    if scheme != "hf" and ("@" in bucket or "?" in rest):
        raise BadUsage(f"an address of {scheme}:// has a user or a query; credentials come from the environment, leave them out.")
    if scheme == "hf":
        return _hub(), rest
    return _bucket(scheme, bucket), key


def forget_services() -> None:
    """Lets this process open services anew, with what is in the environment now."""
    _bucket.cache_clear()
    _hub.cache_clear()


@cache
def _bucket(scheme: str, bucket: str) -> Service:
    try:
        import obstore
        from obstore import store
    except ImportError as error:
        raise MissingExtra(f"{scheme}:// needs obstore: pip install 'rankwell[remote]'.") from error
    endpoint = next(filter(None, map(os.environ.get, ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"))), "")
    plain = {"allow_http": True} if scheme == "s3" and endpoint.startswith("http://") else {}
    make: Any = store.from_url

    def _open(seconds: int) -> Any:
        options: dict[str, Any] = {"timeout": f"{seconds}s", "connect_timeout": "10s", **plain}
        # Attempts are counted in one place for all services; the library would go on for minutes.
        retries: Any = {"max_retries": 0, "retry_timeout": _span(seconds)}
        return make(f"{scheme}://{bucket}", client_options=options, retry_config=retries)

    try:
        return _Bucket(obstore, _open(_SECONDS), _open(_MOST_SECONDS), scheme)
    except Exception:
        known = f"check the name and the variables of the environment ({_VARIABLES[scheme]})"
        raise BadInput(f"{scheme}://{bucket} cannot be opened; {known}.") from None


def _span(seconds: int) -> Any:
    from datetime import timedelta

    return timedelta(seconds=seconds)


class _Bucket:
    """A bucket of S3, Google Cloud or Azure through obstore."""

    def __init__(self, library: Any, store: Any, patient: Any, scheme: str) -> None:
        # patient: for long uploads.
        self._library, self._store, self._patient, self._scheme = library, store, patient, scheme

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
                raise Changed
            if tuple(found.range) != (start, stop):
                raise Failed("the server answers a request for a range with another")
            return bytes(found.bytes())

        try:
            return self._requested(_get)
        except FileNotFoundError as error:
            raise Changed from error

    def whole(self, key: str) -> bytes | None:
        try:
            return self._requested(lambda: bytes(self._library.get(self._store, key).bytes()))
        except FileNotFoundError:
            return None

    def objects(self, folder: str, begin: str) -> Iterator[tuple[str, int, str]]:
        if not begin:
            found = self._requested(lambda: self._library.list_with_delimiter(self._store, folder or None)["objects"])
        else:
            found = self._requested(lambda: self._beginning(folder, begin))
        yield from ((each["path"], each["size"], _etag(each)) for each in found)

    def _beginning(self, folder: str, begin: str) -> list[Any]:
        """The objects whose names begin so; keys are listed in order, and the library knows prefixes of whole names alone."""
        found: list[Any] = []
        for some in self._library.list(self._store, folder or None, offset=folder + begin):
            found += some
            if some and some[-1]["path"] > folder + begin and not some[-1]["path"].startswith(folder + begin):
                break
        return found

    def put(self, key: str, content: bytes | Path, *, is_new: bool) -> bool:
        size = len(content) if isinstance(content, bytes) else content.stat().st_size
        store = self._store if size <= _SMALL else self._patient
        # A condition holds for one request: what has to be new is not sent in pieces.
        how: dict[str, Any] = {"mode": "create", "use_multipart": False} if is_new else {"mode": "overwrite"}
        try:
            self._requested(lambda: self._library.put(store, key, content, **how))
        except self._library.exceptions.AlreadyExistsError:
            return False
        return True

    def remove(self, key: str) -> None:
        with suppress(FileNotFoundError):
            self._requested(lambda: self._library.delete(self._store, key))

    def _requested(self, request: Callable[[], Any]) -> Any:
        errors = self._library.exceptions
        try:
            return request()
        except (errors.UnauthenticatedError, errors.PermissionDeniedError):
            raise Refused(self._denied()) from None
        except errors.AlreadyExistsError:
            raise
        except errors.PreconditionError:
            raise Changed from None
        except errors.NotFoundError as error:
            raise FileNotFoundError from error
        except errors.GenericError as error:
            text = str(error)
            # The service that gives a machine of a cloud its credentials is the last to be looked for.
            if "169.254.169.254" in text:
                raise Refused(f"no credentials are in the environment ({_VARIABLES[self._scheme]}).") from None
            if any(word in text for word in ("ExpiredToken", "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken")):
                raise Refused(self._denied()) from None
            raise

    def _denied(self) -> str:
        return (
            f"access is refused; check the credentials in the environment ({_VARIABLES[self._scheme]}), which may have expired."
        )


def _tag(found: Any) -> str:
    return _etag(found) or str(found["last_modified"])


def _etag(found: Any) -> str:
    # Some services quote it in one answer and not in another.
    return str(found["e_tag"] or "").strip('"')


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
            raise Changed
        return found

    def whole(self, key: str) -> bytes | None:
        try:
            return bytes(self._requested(lambda: self._files.cat_file(key)))
        except FileNotFoundError:
            return None

    def objects(self, folder: str, begin: str) -> Iterator[tuple[str, int, str]]:  # noqa: ARG002 - all of the folder
        found = self._requested(lambda: self._files.ls(folder.rstrip("/"), detail=True, refresh=True))
        yield from ((each["name"], each["size"], str(each.get("blob_id") or "")) for each in found if each["type"] == "file")

    def put(self, key: str, content: bytes | Path, *, is_new: bool) -> bool:  # noqa: ARG002
        raise Refused(_READ_ONLY)

    def remove(self, key: str) -> None:  # noqa: ARG002
        raise Refused(_READ_ONLY)

    def _requested(self, request: Callable[[], Any]) -> Any:
        try:
            return request()
        except FileNotFoundError:
            raise
        except Exception as error:
            status = getattr(getattr(error, "response", None), "status_code", 0)
            if status in (401, 403):
                raise Refused(
                    "access is refused; check the token in the environment (HF_TOKEN), which may have expired."
                ) from None
            raise
