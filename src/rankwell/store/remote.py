"""Remote places: objects of S3, Google Cloud, Azure and the Hugging Face Hub, read by ranges that
are checked, and as a file system for DuckDB.
"""

import io
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from rankwell.errors import CREDENTIALS, BadInput, BadUsage, MissingExtra, RankwellError, needing
from rankwell.store.temporary import scratch

_SECONDS, _MOST_SECONDS = 30, 3600
_SMALL = 8 << 20
_DENIALS = ("ExpiredToken", "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken")
_ENTITY_TAG = r"[^\s\"]+"
"""A strong tag without its quotation marks; a time, which stands for it where a service has none,
has a blank.
"""
_VARIABLES = {
    "s3": "AWS_ACCESS_KEY_ID and others",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS",
    "az": "AZURE_STORAGE_ACCOUNT_NAME and others",
}


class Object(NamedTuple):
    """An object as it was first seen.

    url: address of the object.
    size: size in bytes.
    tag: entity tag, which changes whenever the content does.
    planned: whether the object is part of a plan.
    """

    url: str
    size: int
    tag: str
    planned: bool = False


class Refused(Exception):
    """An answer that another attempt would not change; the text ends a sentence that begins with
    the address.
    """


class Failed(Exception):
    """A failure of our own finding, in words that are shown."""


class Changed(Exception):
    """The object has another tag than it had."""


def service_of(url: str) -> tuple[Any, str]:
    """The service of an address, a `_Bucket` or the `_Hub`, which is only read, and the key in its
    bucket. Raises BadUsage for a wrong one, MissingExtra without a library.
    """
    scheme, _, path = url.partition("://")
    bucket, _, key = path.partition("/")
    if scheme != "hf" and re.search(r"[\[\]]|:\d*$", bucket) and "@" not in url and "?" not in path:
        raise BadUsage(
            f"{scheme}://{bucket} is the address of a server, not the name of a bucket; "
            f"expected {scheme}://BUCKET/NAME."
        )
    if re.match(CREDENTIALS, url) or (
        scheme != "hf" and ("@" in bucket or ":" in bucket or "?" in path)
    ):
        raise BadUsage(
            f"an address of {scheme}:// has a user or a query; credentials come from the "
            "environment, leave them out."
        )
    if scheme == "hf":
        return _hub(), path
    return _bucket(scheme, bucket), key


@cache
def _bucket(scheme: str, bucket: str) -> "_Bucket":
    with needing(f"{scheme}:// needs obstore: pip install 'rankwell[remote]'."):
        import obstore
        from obstore import store
    endpoint = next(
        filter(
            None, map(os.environ.get, ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"))
        ),
        "",
    )
    plain = {"allow_http": True} if scheme == "s3" and endpoint.startswith("http://") else {}
    make: Any = store.from_url

    def _open(seconds: int) -> Any:
        options: dict[str, Any] = {"timeout": f"{seconds}s", "connect_timeout": "10s", **plain}
        # Attempts are counted in one place for all services; the library would go on for minutes.
        retries: Any = {"max_retries": 0, "retry_timeout": timedelta(seconds=seconds)}
        return make(f"{scheme}://{bucket}", client_options=options, retry_config=retries)

    try:
        return _Bucket(obstore, _open(_SECONDS), _open(_MOST_SECONDS), scheme)
    except Exception:
        advice = f"check the name and the variables of the environment ({_VARIABLES[scheme]})"
        raise BadInput(f"{scheme}://{bucket} cannot be opened; {advice}.") from None


@dataclass
class _Bucket:
    """A bucket of S3, Google Cloud or Azure through obstore; each request raises what the library
    raises.

    _library: the package.
    _store, _patient: the bucket, and the same for long uploads.
    _scheme: the service, as addresses name it.
    """

    _library: Any
    _store: Any
    _patient: Any
    _scheme: str

    def head(self, key: str) -> tuple[int, str] | None:
        """Size and tag of an object by a request without content; None where there is none."""
        try:
            metadata = self._requested(lambda: self._library.head(self._store, key))
        except FileNotFoundError:
            return None
        return metadata["size"], _tag(metadata)

    def read(self, key: str, start: int, stop: int, remote_object: Object) -> bytes:
        """The bytes of a range. Raises Changed where size or tag is another, Failed for another
        range than requested.
        """

        options: dict[str, Any] = {"range": (start, stop)}
        if re.fullmatch(_ENTITY_TAG, remote_object.tag):
            options["if_match"] = f'"{remote_object.tag}"'

        def _get() -> bytes:
            answer = self._library.get(self._store, key, options=options)
            if (answer.meta["size"], _tag(answer.meta)) != (remote_object.size, remote_object.tag):
                raise Changed
            if tuple(answer.range) != (start, stop):
                raise Failed("the server answers a request for a range with another")
            return bytes(answer.bytes())

        try:
            return self._requested(_get)
        except FileNotFoundError as error:
            raise Changed from error

    def read_whole(self, key: str) -> bytes | None:
        """The bytes of an object in one request; None where there is none."""
        try:
            return self._requested(lambda: bytes(self._library.get(self._store, key).bytes()))
        except FileNotFoundError:
            return None

    def objects(self, folder: str, begin: str) -> Iterator[tuple[str, int, str]]:
        """Key, size and tag of the objects of a folder whose names begin so, and perhaps of others;
        the tag may be empty.

        Where every name does, also the folders inside, with a slash behind.
        """
        if not begin:
            listing = self._requested(
                lambda: self._library.list_with_delimiter(self._store, folder or None)
            )
            yield from ((f"{prefix.rstrip('/')}/", 0, "") for prefix in listing["common_prefixes"])
            objects = listing["objects"]
        else:
            objects = self._requested(lambda: self._beginning(folder, begin))
        yield from ((metadata["path"], metadata["size"], _etag(metadata)) for metadata in objects)

    def _beginning(self, folder: str, begin: str) -> list[Any]:
        """The objects whose names begin so; keys are listed in order, and the library knows
        prefixes of whole names alone.
        """
        objects = list[Any]()
        for batch in self._library.list(self._store, folder or None, offset=folder + begin):
            objects += batch
            if (
                batch
                and batch[-1]["path"] > folder + begin
                and not batch[-1]["path"].startswith(folder + begin)
            ):
                break
        return objects

    def put(self, key: str, content: bytes | Path, *, is_new: bool) -> bool:
        """Writes an object; what has to be new by a conditional request, whose refusal is the
        answer false.
        """
        size = len(content) if isinstance(content, bytes) else content.stat().st_size
        store = self._store if size <= _SMALL else self._patient
        # A condition holds for one request: what has to be new is not sent in pieces.
        how: dict[str, Any] = (
            {"mode": "create", "use_multipart": False} if is_new else {"mode": "overwrite"}
        )
        try:
            self._requested(lambda: self._library.put(store, key, content, **how))
        except self._library.exceptions.AlreadyExistsError:
            return False
        return True

    def remove(self, key: str) -> None:
        """Removes an object, if there is one."""
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
            # The service that gives a machine of a cloud its credentials is the last to be looked
            # for.
            if "169.254.169.254" in text:
                raise Refused(
                    f"no credentials are in the environment ({_VARIABLES[self._scheme]})."
                ) from None
            status = re.search(r"status code: (\d{3})", text)
            if any(word in text for word in _DENIALS) or (status and status[1] in ("401", "403")):
                raise Refused(self._denied()) from None
            if (
                status and status[1] == "400"
            ):  # S3's answer to an expired token, without words where it has no body
                raise Refused(
                    self._denied("the request is refused (status 400)", "the name, the region and ")
                ) from None
            raise

    def _denied(self, problem: str = "access is refused", besides: str = "") -> str:
        return (
            f"{problem}; check {besides}the credentials in the environment "
            f"({_VARIABLES[self._scheme]}), which may have expired."
        )


def _tag(metadata: Any) -> str:
    return _etag(metadata) or str(metadata["last_modified"])


def _etag(metadata: Any) -> str:
    # Some services quote it in one answer and not in another.
    return str(metadata["e_tag"] or "").strip('"')


@cache
def _hub() -> "_Hub":
    with needing("hf:// needs huggingface_hub: pip install 'rankwell[remote]'."):
        import huggingface_hub
    # Its own process-wide instance would know a place as it was, and servers of an earlier
    # environment.
    return _Hub(huggingface_hub.HfFileSystem(skip_instance_cache=True), huggingface_hub.HfApi())


@dataclass
class _Hub:
    """The Hugging Face Hub through its file system, such as hf://datasets/OWNER/NAME/FILE.

    _files: the file system.
    _api: its other requests.

    The tag is the blob's: the file system leaves it out of what it says of a file, so that it comes
    from a request of its own.
    """

    _files: Any
    _api: Any

    def _locate(self, key: str) -> tuple[str, dict[str, Any]]:
        """The path in its repository, and the repository's names."""
        try:
            resolved_path = self._requested(lambda: self._files.resolve_path(key))
        except (ValueError, NotImplementedError):
            raise Refused(
                "expected hf://datasets/OWNER/NAME/FILE, or hf://OWNER/NAME/FILE of a model."
            ) from None
        except FileNotFoundError:
            raise Refused(
                "there is no such repository or revision, or it is private; check the address "
                "and the token (HF_TOKEN)."
            ) from None
        if not hasattr(resolved_path, "repo_id"):
            raise Refused(
                "only files of repositories are read, hf://datasets/OWNER/NAME/FILE; copy it "
                "there, or to a disk."
            )
        return resolved_path.path_in_repo, {
            "repo_id": resolved_path.repo_id,
            "repo_type": resolved_path.repo_type,
            "revision": resolved_path.revision,
        }

    def head(self, key: str) -> tuple[int, str] | None:
        """Size and hash of a file of a repository; None where there is none."""
        path, repository = self._locate(key)
        files = self._requested(lambda: self._api.get_paths_info(paths=[path], **repository))
        return next(((file.size, file.blob_id) for file in files if hasattr(file, "blob_id")), None)

    def read(self, key: str, start: int, stop: int, remote_object: Object) -> bytes:
        """The bytes of a range. Raises Changed where the file is gone, or has another size or hash
        after the request.
        """

        def _range() -> bytes:
            # With a size it asks for none, and without a cache it reads no more than the range.
            with self._files.open(key, "rb", size=remote_object.size, cache_type="none") as file:
                file.seek(start)
                return bytes(file.read(stop - start))

        try:
            content = self._requested(_range)
        except FileNotFoundError:
            raise Changed from None
        if self.head(key) != (remote_object.size, remote_object.tag):
            raise Changed
        return content

    def read_whole(self, key: str) -> bytes | None:
        """The bytes of a file in one request; None where there is none."""
        try:
            return bytes(self._requested(lambda: self._files.cat_file(key)))
        except FileNotFoundError:
            return None

    def objects(self, folder: str, begin: str) -> Iterator[tuple[str, int, str]]:  # noqa: ARG002 - all of the folder
        """Key, size and hash of all files of a folder."""
        path, repository = self._locate(folder.rstrip("/"))
        try:
            files = self._requested(
                lambda: list(self._api.list_repo_tree(path_in_repo=path or None, **repository))
            )
        except FileNotFoundError:
            return
        for file in files:
            name = folder + file.path.rpartition("/")[2]
            yield (
                (name, file.size, file.blob_id) if hasattr(file, "blob_id") else (f"{name}/", 0, "")
            )

    def _requested(self, request: Callable[[], Any]) -> Any:
        try:
            return request()
        except FileNotFoundError:
            raise
        except Exception as error:
            status = getattr(getattr(error, "response", None), "status_code", 0)
            if status == 404:
                raise FileNotFoundError from None
            if status in (401, 403):
                raise Refused(
                    "access is refused; check the token in the environment (HF_TOKEN), which "
                    "may have expired."
                ) from None
            raise


_RANGE = 8 << 20
_AT_ONCE = 4
_ATTEMPTS = 4
_FIRST_PAUSE = 0.25


_SEEN = dict[str, Object]()
_FETCHED = dict[Object, Path]()
_FETCHING = Lock()


def look(url: str, *, anew: bool = False) -> Object | None:
    """The object at an address as it was first seen by this process, or is now; None where there is
    none.

    Raises BadInput, BadUsage.
    """
    remote_object = None if anew else _SEEN.get(url)
    if remote_object is None:
        service, key = service_of(url)
        size_and_tag = None
        if key and not key.endswith("/"):
            size_and_tag = _attempted(url, lambda: service.head(key))
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
    """Lets this process look at remote places anew, such as in a long session, and open services
    with what is in the environment now; files that it has fetched stay in use.
    """
    _SEEN.clear()
    _FETCHED.clear()
    _bucket.cache_clear()
    _hub.cache_clear()


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


@dataclass(eq=False)
class RangeStream(io.RawIOBase):
    """An object as a file: what is read of it is one range, and nothing else comes. Raises as
    `read_range`.

    _object: the object.
    _first_content: the first bytes, where they are known.
    _position: where the next bytes are read.
    """

    _object: Object
    _first_content: bytes = b""
    _position: int = 0

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
    objects = dict[str, Object]()
    for path, size, tag in _attempted(url, lambda: list(service.objects(prefix, begin))):
        name = path.removeprefix(prefix)
        if path.startswith(prefix) and name.startswith(begin) and name and "/" not in name:
            objects[name] = Object(folder + name, size, tag)
        elif path.startswith(prefix) and inside is not None and "/" in name:
            inside.add(name.partition("/")[0] + "/")
    # What a listing says of an object need not be asked of the object.
    for remote_object in objects.values():
        if remote_object.tag:
            _SEEN.setdefault(remote_object.url, remote_object)
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


PROTOCOL = "rankwell"
_FAILED = list[RankwellError]()


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

    return type("RemoteFiles", (_RemoteFiles, AbstractFileSystem), {})()


def _url(path: str) -> str:
    url = unquote(path.removeprefix(f"{PROTOCOL}://"))
    if "://" not in url:
        raise BadInput(f"{path}: expected the name of an object.")
    return url
