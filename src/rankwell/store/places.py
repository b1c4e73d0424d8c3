"""Places of bytes: ids, sources that may be compressed or standard input, their first bytes,
content hashes.
"""

import errno
import io
import os
import re
import stat
import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any, BinaryIO

from rankwell.errors import BadInput, BadUsage, shown
from rankwell.store.compression import Unpacked, zstd_pieces
from rankwell.store.drafts import refuse_draft
from rankwell.store.states import FileState, first_state, refuse_changed

_GZIP, _ZSTD, _MARK = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xef\xbb\xbf"

STDIN = ("-", "/dev/stdin")
"""Names of standard input as a place."""
STDIN_NAME = "standard input"
"""Its name in messages and manifests."""

_MOST_PIPED = 1 << 32
_SMALL = 1 << 20
"""Bytes of an object that is fetched at once, rather than its beginning first."""
HEAD = 1 << 16
"""Bytes at the beginning that usually determine a format."""
_VECTORS = (".npy", ".fbin", ".hbin", ".u8bin", ".i8bin", ".fvecs", ".bvecs", ".parquet")
_ID_SUFFIXES = (".ids.txt", ".ids.json")
_REMOTE = re.compile(r"(s3|gs|az|hf):/{1,2}([^/].*)", re.DOTALL)
_NAMELESS = re.compile(r"(s3|gs|az|hf):(/{0,2}|/{3,}.*)", re.DOTALL)
DESCRIPTORS = ("/dev/fd/", "/proc/self/fd/")
"""Beginnings of the names of pipes, such as a shell's `<(…)`."""

# A pipe (as in `<(zcat run.gz)`) can be read only once, but is looked at before it is read, and by
# several readers.
_PIPED: dict[str, bytes] = {}


def encode_id(text: str) -> bytes:
    """The bytes of an id exactly as they stood in its file. Raises BadInput for half a character,
    which no file holds.
    """
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise BadInput(
            f"the id {shown(text)} has half a character; correct the id, or cut it between "
            "characters."
        ) from error


def decode_id(raw: bytes) -> str:
    """The text of an id; bytes that are not UTF-8 are kept as lone surrogates, so that `encode_id`
    restores them.
    """
    return raw.decode("utf-8", "surrogateescape")


def split_lines(text: str) -> list[str]:
    """The lines of a text without their ends. Unlike `str.splitlines` it takes no other character
    for an end (U+2028, U+0085, form feed), so that the lines of a file have the same numbers for
    every reader.
    """
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


def remote_url(place: object) -> str | None:
    """The address that a place names, of two slashes also where a path has made them one; None for
    a local place.

    Raises BadUsage for an address without a bucket, or of the Hub without a repository.
    """
    text = str(place)
    if address := _REMOTE.fullmatch(text):
        return f"{address[1]}://{address[2]}"
    if incomplete_address := _NAMELESS.fullmatch(text):
        missing_part, form = (
            ("repository", "datasets/OWNER/NAME/FILE")
            if incomplete_address[1] == "hf"
            else ("bucket", "BUCKET/NAME")
        )
        has_name = bool(incomplete_address[2].strip("/"))
        text, missing_part = (
            (text, f"a {missing_part}")
            if has_name
            else (f"{incomplete_address[1]}://", f"a {missing_part} and a name")
        )
        raise BadUsage(
            f"{shown(text)} lacks {missing_part}; expected {incomplete_address[1]}://{form}."
        )
    return None


def _remote() -> Any:
    # Loaded only for remote places: a small evaluation starts sooner.
    from rankwell.store import remote

    return remote


class Source:
    """A file to read, or `-` for standard input; gzip and zstd are recognised by their first bytes,
    whatever the name says.

    A UTF-8 byte order mark at the very beginning is skipped. name: as it appears in messages. stem:
    the file's name without folder and suffixes, `stdin` for standard input. An object of a remote
    place (`s3://…`) is fetched, once something is read, into a file that ends with the process.
    known_digest: taken before, "" if not. rows: the first row of a Parquet file that is read, and
    that behind the last; None for all.
    """

    known_digest: str = ""
    rows: tuple[int, int] | None = None
    _url: str = ""
    _state: FileState | None = None

    def __init__(self, place: str | Path) -> None:
        if not str(place):
            raise BadUsage("the name of a file is empty.")
        is_stdin = str(place) in STDIN
        self.name = STDIN_NAME if is_stdin else str(place)
        self._piped, self.stem = b"", "stdin"
        if not is_stdin and (url := remote_url(place)) is not None:
            self.name, self.stem, self._url = url, _stem(url.rpartition("/")[2]), url
            _remote().existing(url)
            return
        self.file = None if is_stdin else Path(place)
        if self.file is None:
            if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
                raise BadInput("standard input is closed; name a file.")
            self._piped = _PIPED.get("-") or _PIPED.setdefault(
                "-", _read_piped(sys.stdin.buffer, self.name)
            )
            return
        refuse_draft(self.file)
        is_pipe = refuse_irregular(self.file, pipes=True)
        self.stem = _stem(self.file.name)
        if is_pipe:
            with self._raw() as stream:
                self._piped = _PIPED.get(self.name) or _PIPED.setdefault(
                    self.name, _read_piped(stream, self.name)
                )
            self.file = None
        else:
            self._state = first_state(self.file)

    @cached_property
    def file(self) -> Path | None:
        """The file on disk, compressed or not; None for standard input and pipes. An object is
        fetched when it is needed.
        """
        return _remote().fetch(self._url)

    @property
    def size(self) -> int:
        """Bytes as they lie on disk or at a remote place, or came through a pipe."""
        if self._url and "file" not in vars(self):
            return _remote().existing(self._url).size
        return len(self._piped) if self.file is None else self.file.stat().st_size

    @property
    def address(self) -> str:
        """The address of a large object that has not been fetched; empty for all others, whose file
        is as good as there.
        """
        return self._url if self._url and "file" not in vars(self) and self.size > _SMALL else ""

    @cached_property
    def compression(self) -> str:
        """`gzip`, `zstd` or the empty text."""
        with self._raw(begin=True) as stream, self._reading():
            first = stream.read(4)
        return "gzip" if first[:2] == _GZIP else "zstd" if first == _ZSTD else ""

    @cached_property
    def marked(self) -> bool:
        """Whether the content begins with a UTF-8 byte order mark, which is not read as content."""
        with self._content(begin=True) as stream:
            return stream.read(3) == _MARK

    @property
    def path(self) -> Path | None:
        """The file whose bytes are the content itself; None for standard input, compressed files
        and behind a byte order mark.
        """
        return None if self.compression or self.marked else self.file

    @property
    def span(self) -> tuple[Path, int, int | None] | None:
        """The file whose bytes, from one place to another, or to its end, are the content itself;
        None as for `path`.
        """
        return None if self.path is None else (self.path, 0, None)

    def _raw(self, *, begin: bool = False) -> io.BytesIO | io.BufferedReader:
        """The file as it lies there. begin: only its first bytes are needed, for which no object is
        fetched.
        """
        if begin and self.address:
            return io.BufferedReader(_remote().stream_object(self._url, HEAD + 1), HEAD)
        if self.file is None:
            return io.BytesIO(self._piped)
        try:
            return self.file.open("rb")
        except OSError as error:
            raise BadInput(
                f"{self.name} cannot be opened ({error.strerror}); check who may read it."
            ) from error

    @contextmanager
    def open(self, *, begin: bool = False) -> Generator[BinaryIO]:
        """The content as a stream of bytes, decompressed. Raises BadInput where the compressed data
        ends early or is damaged.

        begin: only the first bytes are needed, for which no object is fetched.
        """
        with self._content(begin=begin) as stream:
            if self.marked:
                stream.read(len(_MARK))
            yield stream

    @contextmanager
    def _reading(self) -> Generator[None]:
        """A block that reads. Raises BadInput where the system cannot, as of a damaged disk or of
        `/proc/self/mem`.
        """
        try:
            yield
        except OSError as error:
            # What is written in the same block has other reasons to fail.
            if error.errno == errno.EIO and error.filename is None:
                raise BadInput(
                    f"{self.name} cannot be read ({error.strerror}); name another file, or a copy."
                ) from error
            raise

    @contextmanager
    def _content(self, *, begin: bool = False) -> Generator[BinaryIO]:
        with self._raw(begin=begin) as raw, self._reading():
            if self.compression == "gzip":
                # These modules, and those for writing below, are loaded when they are needed: a
                # small plain file is read sooner.
                import gzip
                import zlib

                try:
                    with gzip.open(raw) as stream:
                        yield self._unpacked(iter(partial(stream.read, 1 << 17), b""))
                except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                    problem = f"{self.name}: the gzip data is damaged or ends early ({error})"
                    raise BadInput(f"{problem}; fetch or compress it again.") from error
            elif self.compression == "zstd":
                yield self._unpacked(zstd_pieces(raw, self.name))
            else:
                yield raw

    def _unpacked(self, pieces: Iterator[bytes]) -> io.BufferedReader:
        return io.BufferedReader(Unpacked(pieces, self.size, self.name), 1 << 20)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines of the content that are not blank, with their numbers from 1."""
        with self.open() as stream:
            yield from ((number, line) for number, line in enumerate(stream, 1) if line.strip())

    def read(self) -> bytes:
        """The whole content, decompressed."""
        with self.open() as stream:
            return stream.read()

    def head(self, size: int = HEAD) -> bytes:
        """The first bytes of the content, decompressed, for telling formats apart."""
        with self.open(begin=True) as stream:
            return stream.read(size)

    def packed(self, size: int) -> bytes:
        """The first bytes as they lie on disk, compressed or not."""
        with self._raw(begin=True) as stream, self._reading():
            return stream.read(size)

    def digest(self) -> str:
        """The SHA-256 of the file as it lies on disk, or of what came through standard input; of
        the bytes that were read.

        Raises BadInput as `refuse_changed`.
        """
        if self.known_digest:
            return self.known_digest
        import hashlib

        with self._raw() as stream, self._reading():
            digest = "sha256:" + hashlib.file_digest(stream, "sha256").hexdigest()
        self.refuse_changed()
        return digest

    def refuse_changed(self) -> None:
        """Raises BadInput for a file that is not as it was when the command, or the function of
        Python, first looked at it.
        """
        if self._state is not None and self.file is not None:
            refuse_changed(self.name, self.file, self._state)


def unchanged(sources: Mapping[str, Source]) -> Mapping[str, Source]:
    """The sources of a result. Raises BadInput for one that changed while it was read."""
    for source in sources.values():
        source.refuse_changed()
    return sources


def _stem(name: str) -> str:
    bare = name.removesuffix(".gz").removesuffix(".zst")
    return bare.rpartition(".")[0] or bare


def refuse_irregular(path: Path, *, pipes: bool = False) -> bool:
    """Raises BadInput for a place that is not a regular file; true for a shell's `<(…)`, which
    `pipes` allows.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError as error:
        if path.parts[:1] in (("http:",), ("https:",)):
            url = f"{path.parts[0]}//{'/'.join(path.parts[1:])}"
            raise BadInput(
                f"{url}: nothing is read from the web; download it, and name the file."
            ) from error
        raise BadInput(f"{path}: no such file.") from error
    except (OSError, ValueError) as error:
        name = str(path) if len(str(path)) <= 255 else f"{str(path)[:80]}…"
        raise BadInput(
            f"{name}: no such file ({getattr(error, 'strerror', None) or error})."
        ) from error
    if stat.S_ISDIR(mode):
        raise BadInput(f"{path} is a folder; name a file.")
    is_pipe = pipes and stat.S_ISFIFO(mode) and str(path).startswith(DESCRIPTORS)
    if not is_pipe and not stat.S_ISREG(mode):
        kind = "a named pipe" if stat.S_ISFIFO(mode) else "a device or a socket"
        raise BadInput(
            f"{path} is {kind}; name a regular file, or write - and send the content to "
            "standard input."
        )
    return is_pipe


def _read_piped(stream: BinaryIO, name: str) -> bytes:
    """The content of standard input or of a pipe. Raises BadInput for a device without an end, and
    for more than 4 GiB.
    """
    with suppress(OSError, ValueError):  # a stream in memory has no number
        status = os.fstat(stream.fileno())
        if (
            stat.S_ISCHR(status.st_mode)
            and not stream.isatty()
            and status.st_rdev != os.stat(os.devnull).st_rdev  # noqa: PTH116
        ):
            raise BadInput(f"{name} is a device; name a file, or send its content through a pipe.")
    content = io.BytesIO()
    while piece := stream.read(1 << 20):
        content.write(piece)
        if content.tell() > _MOST_PIPED:
            problem = f"{name} has more than {_MOST_PIPED >> 30} GiB, which are kept in memory"
            raise BadInput(f"{problem}; save it to a file and name that.")
    return content.getvalue()


def split_part(place: str | Path) -> tuple[str, str]:
    """The path and the name after a colon, where the whole is not a path and the part before the
    colon is one.

    Of several colons it is the last with a path before it: a name may have colons.

    Raises BadInput for half a character, which no name of a file has.
    """
    text = remote_url(place) or str(place)
    try:
        os.fsencode(text)
    except UnicodeEncodeError as error:
        raise BadInput(
            f"{shown(text)} has half a character, as no name of a file has; correct the name."
        ) from error
    start = text.index("://") + 3 if remote_url(text) else 0
    colons = [at for at in range(len(text) - 1, start, -1) if text[at] == ":"]
    if colons and not exists(text):
        for at in colons:
            if exists(text[:at]):
                return text[:at], text[at + 1 :]
    return text, ""


def split_name(text: str) -> tuple[str, str]:
    """The name and the place of `NAME=PLACE`; no name where there is none: an address may have the
    sign, and a secret behind it.

    >>> split_name("bm25=s3://bucket/run?v=2"), split_name("s3://bucket/run?v=2")
    (('bm25', 's3://bucket/run?v=2'), ('', 's3://bucket/run?v=2'))
    """
    name, equals, path_or_url = text.partition("=")
    return (name, path_or_url) if equals and ":/" not in name else ("", text)


def exists(place: str | Path) -> bool:
    """Whether there is a file, a folder or an object at a place; unlike `Path.exists`, false for a
    name that is too long.
    """
    if (url := remote_url(place)) is not None:
        return _remote().look(url) is not None
    return os.path.exists(place)  # noqa: PTH110


def file_states(*places: str | Path) -> tuple[tuple[str, int, int], ...]:
    """Names, sizes and times of files, and of all files of folders: what was read from them is true
    while these are the same.
    """
    paths = [Path(path_or_url) for path_or_url in places if exists(path_or_url)]
    files = [
        file for path in paths for file in (sorted(path.rglob("*")) if path.is_dir() else [path])
    ]
    return tuple(
        (str(file), status.st_size, status.st_mtime_ns)
        for file in files
        if file.is_file()
        for status in [file.stat()]
    )


def sources_of(*places: Mapping[str, Any]) -> dict[str, Source]:
    """The files among input places by name, in order: of a folder of vectors its `vectors.npy` or
    its shards.

    A second file of a name that is taken, such as a run called `positives`, has the name with a
    number behind it.
    """
    sources: dict[str, Source] = {}
    for name, path_or_url in (
        (name, path_or_url)
        for named_places in places
        for name, path_or_url in named_places.items()
        if isinstance(path_or_url, (str, Path))
    ):
        path = split_part(path_or_url)[0]
        if shards := shard_files(path):
            sources |= {f"{name}/{shard.rpartition('/')[2]}": Source(shard) for shard in shards}
            continue
        path = f"{Path(path, 'vectors.npy')}" if exists(path) and Path(path).is_dir() else path
        if (
            (exists(path) and (remote_url(path) or Path(path).is_file()))
            or path in _PIPED
            or (path in STDIN and "-" in _PIPED)
        ):
            sources[name if name not in sources else f"{name} {len(sources)}"] = Source(path)
    return sources


def shard_files(place: str | Path) -> list[str]:
    """The files of vectors in a folder, local or remote, in order of their names' bytes; empty for
    another place.

    A folder with `vectors.npy` is one file. Raises BadInput for what is in a folder of vectors and
    neither vectors nor
    their ids (`*.ids.txt`, `*.ids.json`) nor hidden (`.name`, `_name`).
    """
    folder, names = folder_names(place)
    shards = [name for name in names if name.endswith(_VECTORS) and not name.startswith((".", "_"))]
    if not shards or "vectors.npy" in shards:
        return []
    odd = [
        name
        for name in names
        if name not in shards
        and not name.startswith((".", "_"))
        and not name.endswith(_ID_SUFFIXES)
    ]
    if odd:
        problem = (
            f"{folder}/{odd[0]} is neither a shard of vectors ({', '.join(_VECTORS)}) nor ids of "
            f"one ({', '.join(_ID_SUFFIXES)})"
        )
        raise BadInput(f"{problem}; move it elsewhere.")
    return [f"{folder}/{name}" for name in shards]


def folder_names(place: str | Path) -> tuple[str, list[str]]:
    """A folder, local or remote, without a slash at its end, and the names in it in order of their
    bytes, folders with one.
    """
    url = remote_url(place)
    if url is None:
        is_folder = exists(place) and Path(place).is_dir()
        names = (
            [f"{entry.name}/" if entry.is_dir() else entry.name for entry in Path(place).iterdir()]
            if is_folder
            else []
        )
        return f"{place}".rstrip("/") or "/", sorted(names, key=os.fsencode)
    return url.rstrip("/"), _remote().names_in(url) if url.endswith("/") or _remote().look(
        url
    ) is None else []
