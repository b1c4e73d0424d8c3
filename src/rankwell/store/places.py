"""Places of bytes: sources that may be compressed, sharded or standard input, their first bytes
and states, by which a change is noticed, and data sets that are folders.
"""

import errno
import io
import os
import re
import stat
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cached_property, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, Self

from rankwell.errors import BadInput, BadUsage, kind_of, naming, shown

FileState = tuple[int, ...]
"""Figures of a file, at least one of which differs after any change: the time of its last change of
content, name or permissions, and of its content alone, in nanoseconds, its size in bytes, and the
numbers of the file system and of the file in it, which another file of the same name has not.
"""


def _state_of(path: Path) -> FileState:
    status = path.stat()
    return (
        *(status.st_ctime_ns, status.st_mtime_ns, status.st_size),
        *(status.st_dev, status.st_ino),
    )


_FIRST: ContextVar[dict[str, FileState] | None] = ContextVar("first states", default=None)
_COARSE_CLOCK, _LONGEST_TICK = 5, 0.02
"""Linux's number of the clock that stamps files on most of its kernels, and more than its longest
step in seconds.
"""


@contextmanager
def reading() -> Generator[None]:
    """A block that expects the files it reads to stay as they were when it first looked at them.
    Inner blocks share it.
    """
    if _FIRST.get() is not None:
        yield
        return
    token = _FIRST.set({})
    try:
        yield
    finally:
        _FIRST.reset(token)


def first_state(path: Path) -> FileState:
    """The state in which the block of `reading` first saw a file; that of now outside such a
    block.
    """
    first_states, name = _FIRST.get(), os.path.abspath(path)  # noqa: PTH100
    if first_states is not None and name in first_states:
        return first_states[name]
    state = _state_of(path)
    # The clock of files goes in steps: a change within this one may leave the times as they are.
    if sys.platform == "linux" and time.clock_gettime_ns(_COARSE_CLOCK) == state[0]:
        time.sleep(_LONGEST_TICK)
        state = _state_of(path)
    if first_states is not None:
        first_states[name] = state
    return state


def forget(path: Path) -> None:
    """Takes note that this process itself has replaced a file."""
    if first_states := _FIRST.get():
        first_states.pop(os.path.abspath(path), None)  # noqa: PTH100


def changed(name: str) -> BadInput:
    """The error for a file that is not what it was when it was read first."""
    return BadInput(f"{name} changed while it was read; run this again once nothing writes to it.")


DRAFT_FOLDER = ".rankwell-draft"
"""The name of the folder, inside that of a result, to which its files are written first."""
_DRAFT = re.compile(
    r"\..+\.[0-9a-f]{8}-[0-9]+\.[0-9a-z_]{8}(\.[^.]*)?|\.draft-[0-9a-f]{8}-.*", re.DOTALL
)
OPEN_DRAFTS = set[Path]()
"""Files that blocks of `replacing` write to, which blocks inside them may replace, and folders of
`drafted`.
"""


def is_draft(path: Path) -> bool:
    """Whether a file, or a folder, is a draft or in one: of another process, or left by one that
    was killed.
    """
    return any(
        folder.name.startswith(".")
        and (folder.name == DRAFT_FOLDER or _DRAFT.fullmatch(folder.name))
        and folder not in OPEN_DRAFTS
        for folder in (path, *path.parents)
    )


def refuse_draft(path: Path) -> None:
    """Raises BadInput for a draft, which is never read: it may be half of what it will be."""
    if is_draft(path):
        raise BadInput(
            f"{path} is a draft of rankwell, unfinished or left by a killed process; name the "
            "output itself."
        )


_MOST_UNPACKED, _RATIO = 1 << 25, 200
_PIECE = 1 << 12


def refuse_bomb(unpacked: int, packed: int, advice: str = "unpack it yourself") -> None:
    """Raises BadInput where content is so much longer than its compressed form that it is made to
    fill the memory.
    """
    if unpacked > max(_MOST_UNPACKED, _RATIO * packed):
        raise BadInput(
            f"{packed} compressed bytes unpack to more than {_RATIO} times as many and "
            f"{_MOST_UNPACKED >> 20} MiB, which can fill the memory; if the content is right, "
            f"{advice} and name the result."
        )


class Unpacked(io.RawIOBase):
    """Decompressed content, piece by piece. Raises BadInput where it is far longer than its file
    suggests.
    """

    def __init__(self, pieces: Iterator[bytes], packed: int, name: str) -> None:
        self._pieces = pieces
        self._packed = packed
        self._name = name
        self._size, self._ready = 0, memoryview(b"")

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fills the buffer as far as one piece goes; 0 at the end."""
        while not self._ready:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._ready, self._size = memoryview(piece), self._size + len(piece)
            with naming(self._name):
                refuse_bomb(self._size, self._packed)
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size


def zstd_pieces(raw: BinaryIO, name: str) -> Iterator[bytes]:
    """The content of zstd frames; a piece that is read, of 4 KiB, has 1,024 blocks at most, and a
    block holds 128 KiB.
    """
    import zstandard

    try:
        piece = raw.read(_PIECE)
        while piece:
            frame = zstandard.ZstdDecompressor().decompressobj()
            while piece and not frame.eof:
                yield frame.decompress(piece)
                piece = frame.unused_data if frame.eof else raw.read(_PIECE)
            if not frame.eof:
                raise BadInput(f"{name}: the zstd data ends early; fetch or compress it again.")
            piece = piece or raw.read(_PIECE)
    except zstandard.ZstdError as error:
        raise BadInput(
            f"{name}: the zstd data is damaged ({error}); fetch or compress it again."
        ) from error


_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_MARK = b"\xef\xbb\xbf"

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
IDS_BESIDE = (".ids.txt", ".ids.json")
"""Suffixes of files of ids that are read without being named: `base.npy` has its ids in
`base.ids.txt`.
"""
_REMOTE = re.compile(r"(s3|gs|az|hf):/{1,2}([^/].*)", re.DOTALL)
_NAMELESS = re.compile(r"(s3|gs|az|hf):(/{0,2}|/{3,}.*)", re.DOTALL)
DESCRIPTORS = ("/dev/fd/", "/proc/self/fd/")
"""Beginnings of the names of pipes, such as a shell's `<(…)`."""

# A pipe (as in `<(zcat run.gz)`) can be read only once, but is looked at before it is read, and by
# several readers.
_PIPED = dict[str, bytes]()


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
        scheme, name = incomplete_address.groups()
        missing_part, form = "a bucket", "BUCKET/NAME"
        if scheme == "hf":
            missing_part, form = "a repository", "datasets/OWNER/NAME/FILE"
        if not name.strip("/"):
            text, missing_part = f"{scheme}://", f"{missing_part} and a name"
        raise BadUsage(f"{shown(text)} lacks {missing_part}; expected {scheme}://{form}.")
    return None


def _remote() -> Any:
    # Loaded only for remote places: a small evaluation starts sooner.
    from rankwell.store import remote

    return remote


def path_of(place: str | Path) -> Path:
    """The path. Raises BadUsage for an object of another kind."""
    if not isinstance(place, (str, Path)):  # pyright: ignore[reportUnnecessaryIsInstance] - what Python passes
        raise BadUsage(f"expected a path, found {kind_of(place)}.")
    return Path(place)


class Source:
    """A file to read, or `-` for standard input. Compression by gzip or zstd is recognised by the
    first bytes, whatever the name says.

    name: the name in messages.
    stem: the file's name without folder and suffixes; `stdin` for standard input.
    known_digest: a digest that was computed earlier; "" for none.
    rows: the first row of a Parquet file to read, and the row after the last; None for all.

    A UTF-8 byte order mark at the beginning is skipped. An object of a remote place (`s3://…`) is
    fetched on the first read, into a file that is deleted when the process ends.
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
            self.name = url
            self.stem = _stem(url.rpartition("/")[2])
            self._url = url
            _remote().existing(url)
            return
        self.file = None if is_stdin else path_of(place)
        if self.file is None:
            if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
                raise BadInput("standard input is closed; name a file.")
            self._piped = _read_piped(sys.stdin.buffer, self.name)
            return
        refuse_draft(self.file)
        is_pipe = refuse_irregular(self.file, pipes=True)
        self.stem = _stem(self.file.name)
        if is_pipe:
            with self._raw() as stream:
                self._piped = _read_piped(stream, self.name)
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
                    raise BadInput(
                        f"{self.name}: the gzip data is damaged or ends early ({error}); fetch or "
                        "compress it again."
                    ) from error
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

        Raises BadInput as `refuse_changed` does.
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
        Python, first looked at it, or not there.
        """
        if self._state is None or self.file is None:
            return
        with suppress(OSError):
            if _state_of(self.file) == self._state:
                return
        raise changed(self.name)


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
    """The content of standard input or of a pipe, which is read once. Raises BadInput for a device
    without an end, and for more than 4 GiB.
    """
    if name in _PIPED:
        return _PIPED[name]
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
            raise BadInput(
                f"{name} has more than {_MOST_PIPED >> 30} GiB, which are kept in memory; save it "
                "to a file and name that."
            )
    _PIPED[name] = content.getvalue()
    return _PIPED[name]


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
    """The name and the place of `NAME=PLACE`; no name where the text itself is a path, or where a
    path or an address is before the sign, which may have a secret behind it.

    >>> split_name("bm25=s3://bucket/run?v=2"), split_name("s3://bucket/run?v=2")
    (('bm25', 's3://bucket/run?v=2'), ('', 's3://bucket/run?v=2'))
    """
    name, equals, path_or_url = text.partition("=")
    is_part = ":" in name and exists(name.partition(":")[0])
    is_named = equals and ":/" not in name and not is_part and not exists(text)
    return (name, path_or_url) if is_named else ("", text)


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
    its shards; and those of ids beside vectors, unless `NAME ids` is a place itself.

    A second file of a name that is taken, such as a run called `positives`, has the name with a
    number behind it.
    """
    sources = dict[str, Source]()
    for name, path_or_url in chain.from_iterable(named_places.items() for named_places in places):
        if not isinstance(path_or_url, (str, Path)):
            continue
        path = split_part(path_or_url)[0]
        if shards := shard_files(path):
            sources |= {f"{name}/{shard.rpartition('/')[2]}": Source(shard) for shard in shards}
            continue
        path = f"{Path(path, 'vectors.npy')}" if exists(path) and Path(path).is_dir() else path
        if (exists(path) and (remote_url(path) or Path(path).is_file())) or (
            STDIN_NAME if path in STDIN else path
        ) in _PIPED:
            sources[name if name not in sources else f"{name} {len(sources)}"] = Source(path)
    id_sources = {
        f"{name} ids": Source(id_file)
        for name, source in sources.items()
        if source.name.endswith(_VECTORS) and (id_file := ids_beside(source.name))
    }
    return sources | id_sources | sources


def ids_beside(file: str) -> str | None:
    """The file of ids beside one of vectors; None where there is none."""
    stem = file.rstrip("/").removesuffix(Path(file).suffix)
    return next((stem + suffix for suffix in IDS_BESIDE if exists(stem + suffix)), None)


def shard_files(place: str | Path) -> list[str]:
    """The files of vectors in a folder, local or remote, in order of their names' bytes; empty for
    another place.

    A folder with `vectors.npy` is one file. Raises BadInput for what is in a folder of vectors and
    neither vectors nor their ids (`*.ids.txt`, `*.ids.json`) nor hidden (`.name`, `_name`).
    """
    folder, names = folder_names(place)
    shards = [name for name in names if name.endswith(_VECTORS)]
    if not shards or "vectors.npy" in shards:
        return []
    for name in names:
        if not name.endswith((*_VECTORS, *IDS_BESIDE)):
            raise BadInput(
                f"{folder}/{name} is neither a shard of vectors ({', '.join(_VECTORS)}) nor ids of "
                f"one ({', '.join(IDS_BESIDE)}); move it elsewhere."
            )
    return [f"{folder}/{name}" for name in shards]


def folder_names(place: str | Path) -> tuple[str, list[str]]:
    """A folder, local or remote, without a slash at its end, and the names in it in order of their
    bytes, folders with one; hidden ones (`.name`, `_name`) are left out.
    """
    url, names = remote_url(place), list[str]()
    if url is None:
        if exists(place) and Path(place).is_dir():
            entries = Path(place).iterdir()
            names = [f"{entry.name}/" if entry.is_dir() else entry.name for entry in entries]
            names.sort(key=os.fsencode)
    elif url.endswith("/") or _remote().look(url) is None:
        names = _remote().names_in(url)
    return str(url or place).rstrip("/") or "/", [
        name for name in names if not name.startswith((".", "_"))
    ]


_OTHERS = {
    "corpus.jsonl": "a BEIR data set",
    "qrels": "a BEIR data set",
    "manifest.json": "a result folder",
    "plan.json": "a work folder",
}
"""Names in folders that are not runs."""
_NEAR = 1 << 20


def run_files(place: Any) -> list[str]:
    """The files of a run in a folder, local or remote, in order of their names' bytes; empty for
    another place, and for rows.

    Hidden files (`.name`, `_name`) are left out. Raises BadInput for a folder of something else: a
    data set, results, the parts of some work, folders, or nothing.
    """
    if not isinstance(place, (str, Path)):
        return []
    is_local = remote_url(place) is None
    if is_local and not (exists(place) and Path(place).is_dir()):
        return []
    if is_local:
        refuse_draft(Path(place))
    folder, names = folder_names(place)
    for mark, kind in _OTHERS.items():
        if mark in names or f"{mark}/" in names:
            raise BadInput(
                f"{folder} is {kind} (it has {mark}), not a run; name a file, or a folder of files "
                "of one run."
            )
    file_names = [name for name in names if not name.endswith("/")]
    if len(file_names) < len(names) or (is_local and not names):
        problem = f"{folder} is a folder without files"
        if names:
            inside = next(name for name in names if name.endswith("/"))
            problem = f"{folder}/{inside.rstrip('/')} is a folder"
        raise BadInput(
            f"{problem}; expected the files of one run in one folder. Folders of pictures "
            "are for rankwell images."
        )
    return [f"{folder}/{name}" for name in file_names]


class SourceRange(Source):
    """Some lines of a plain text file, from byte `start` to byte `stop`; with `of_rows` some rows
    of a Parquet file.

    Messages of readers count lines and rows from the start of the range: read the whole file for
    the place of a mistake.
    """

    def __init__(self, place: str | Path, start: int, stop: int, *, of_rows: bool = False) -> None:
        super().__init__(place)
        self._path_or_url, self._span = place, (start, stop)
        self.rows = (start, stop) if of_rows else None
        self.compression = ""  # ranges are of plain files

    @cached_property
    def marked(self) -> bool:
        """Whether the range begins with the byte order mark of the file."""
        return self.rows is None and self._span[0] == 0 and self.full_source.marked

    @property
    def full_source(self) -> Source:
        """The whole file, of the same name in messages."""
        source = Source(self._path_or_url)
        source.name = self.name
        return source

    @property
    def path(self) -> Path | None:
        """The file, of which `rows` are read; None where the content is a part of the file's
        bytes.
        """
        return None if self.rows is None else self.file

    @property
    def span(self) -> tuple[Path, int, int | None] | None:
        """The file and the range; None where that begins with a byte order mark, and for rows."""
        if self.file is None or self.marked or self.rows is not None:
            return None
        return (self.file, *self._span)

    @contextmanager
    def _content(self, *, begin: bool = False) -> Generator[BinaryIO]:
        with self._raw(begin=begin) as raw:
            if self.rows is not None:
                yield raw
                return
            start, stop = self._span
            raw.seek(start)
            steps = (min(_SMALL, stop - begin) for begin in range(start, stop, _SMALL))
            yield self._unpacked(filter(None, map(raw.read, steps)))


def line_starts(path: Path, offsets: Sequence[int]) -> list[int]:
    """For each place of a file the beginning of a line at it or behind it; the size of the file
    where there is none.

    That of the next line whose first word is another than that of the line before, where one is
    near; else that of the next line.
    """
    starts = list[int]()
    with path.open("rb") as stream:
        for offset in offsets:
            stream.seek(max(offset - 1, 0))
            stream.readline()
            first = stream.tell()
            at = stream.tell()
            before = list[bytes]()
            while at - first < _NEAR and (line := stream.readline()):
                word = line.split(None, 1)[:1]
                if before and word != before:
                    break
                before, at = word, at + len(line)
            starts.append(at if at - first < _NEAR else first)
    return starts


_FOREIGN = {
    b"PK\x03\x04": "a zip archive (or a spreadsheet); unpack it, or save it as CSV",
    b"BZh91AY&SY": "compressed with bzip2; unpack it first (bunzip2)",
    b"\xfd7zXZ": "compressed with xz; unpack it first (unxz)",
    b"\x04\x22\x4d\x18": "compressed with lz4; unpack it first (lz4 -d), or save it as JSON "
    "from ranx",
    b"7z\xbc\xaf": "a 7-Zip archive; unpack it first",
    b"SQLite format 3": "an SQLite database; export the table as CSV or Parquet",
    b"\x89HDF": "an HDF5 file; export the table as CSV or Parquet",
    b"ARROW1": "an Arrow (Feather) file; save it as Parquet",
    b"\xff\xfe": "UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; save it as UTF-8",
    b"\x1f\x8b": "compressed with gzip; unpack it first (gunzip)",
    b"\x28\xb5\x2f\xfd": "compressed with zstd; unpack it first (unzstd)",
    **dict.fromkeys(
        (b"\x80\x02", b"\x80\x03", b"\x80\x04\x95", b"\x80\x05\x95"),
        "a Python pickle, which is never opened; save it as JSON, CSV or Parquet, arrays with "
        "numpy.save",
    ),
}
_LONGEST, _LONGEST_OBJECT = 1 << 26, 1 << 25
"""So much is looked at for the end of the first lines, and of the first object of JSON."""
_OBJECT = re.compile(r"\[?\s*(?=\{)")
_TOPICS = re.compile(r"<(top|topics?)\b")
"""The tags of TREC's topics, the only form of XML that is read."""


def first_bytes(read: Callable[[int], bytes], size: int) -> tuple[bytes, bool]:
    """So many bytes, and whether they are all; more where a header of many columns, or the row
    behind it, is longer than that.
    """
    raw = read(size + 1)
    while HEAD <= size < len(raw) and size < _LONGEST and b"\0" not in raw and raw.count(b"\n") < 2:
        if raw.lstrip()[:1] in b"[{":
            break
        size *= 8
        raw = read(size + 1)
    return raw[:size], len(raw) <= size


def _counts(line: bytes) -> bool:
    return bool(line.strip()) and not line.startswith(b"#")


class Head:
    """The first bytes of a source, which determine its format; `is_whole`: whether they are all.

    packed: whether they are those of the file as it lies on disk, compressed or not.
    """

    def __init__(self, source: Source, size: int = HEAD, *, packed: bool = False) -> None:
        self._source = source
        self._packed = packed
        self.name = source.name
        self.raw, self.is_whole = first_bytes(source.packed if packed else source.head, size)

    @classmethod
    def of(cls, source: Source, size: int = HEAD) -> Self:
        """The head of a source. Raises BadInput where it is empty."""
        head = cls(source, size)
        if not head.raw.strip():
            raise BadInput(f"{source.name} is empty; expected a file with content.")
        return head

    @cached_property
    def with_record(self) -> "Head":
        """The head as far as the end of the first object of JSON; itself where it has that, or
        where 32 MiB do not.
        """
        longer = self
        while not longer.is_whole and longer.ends_within_object():
            if self._packed or len(longer.raw) >= _LONGEST_OBJECT:
                return self
            longer = Head.of(self._source, 8 * len(longer.raw))
        return longer

    def ends_within_object(self) -> bool:
        """Whether the text, or the list that it is, begins with an object of JSON that goes on
        behind its end.
        """
        import json

        start = _OBJECT.match(self.text)
        if start is None:
            return False
        try:
            json.JSONDecoder().raw_decode(self.text, start.end())
        except ValueError:
            return True
        except RecursionError:
            return False
        return False

    @cached_property
    def path(self) -> Path | None:
        """The plain file, for formats that the first bytes do not distinguish; an object is fetched
        for it.
        """
        return self._source.file if self._packed else self._source.path

    @property
    def address(self) -> str:
        """The address of an object that has not been fetched; empty for others."""
        return self._source.address

    @property
    def table(self) -> Path | str | None:
        """The plain file of a table of columns, or the address of an object whose columns are read
        by ranges.
        """
        return self.address or self.path

    @cached_property
    def skipped(self) -> int:
        """Number of blank lines and of lines that begin with `#` before the first other one."""
        return next((number for number, line in enumerate(self._complete()) if _counts(line)), 0)

    def _complete(self) -> list[bytes]:
        parts = self.raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        return parts if self.is_whole or len(parts) == 1 else parts[:-1]

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines that are there to their end, without line ends, blank lines and lines that
        begin with `#`.
        """
        return list(filter(_counts, self._complete()))

    @cached_property
    def fields(self) -> list[list[bytes]]:
        """The white-space-separated fields of the first lines, twenty at most."""
        return [line.split() for line in islice(filter(_counts, self._complete()), 20)]

    @cached_property
    def text(self) -> str:
        """The bytes as text without white space at the beginning."""
        return self.raw.decode("utf-8", "replace").lstrip()

    @property
    def excerpt(self) -> str:
        """The beginning, for messages: 60 characters, escaped."""
        return repr(self.text[:60])

    def refuse_foreign(self, *, binary: bool = False) -> None:
        """Raises BadInput naming content that is neither text nor Parquet, nor other bytes if
        `binary`; also for web pages.
        """
        for mark, file_kind in _FOREIGN.items():
            if self.raw.startswith(mark):
                raise BadInput(f"{self.name} is {file_kind}.")
        is_marked_up = self.text[:200].lower().startswith(("<!doctype", "<html", "<?xml"))
        if is_marked_up and not _TOPICS.search(self.text[:4096]):
            raise BadInput(
                f"{self.name}:1: {self.excerpt}: a web page or XML; did a download return an "
                "error or a login page?"
            )
        zero = self.raw.find(b"\0", 0, 4096)
        if zero >= 0 and not binary and not self.raw.startswith(b"PAR1"):
            line = self.raw.count(b"\n", 0, zero) + 1
            raise BadInput(
                f"{self.name}:{line}: a zero byte, so this is not a text file; it begins with "
                f"{self.raw[:16]!r}; name a file in a known format."
            )


Splits = dict[str, list[Path]]

_ID = "irds:"
_FILE = re.compile(r"(.+?)(?:-\d{5}-of-\d{5})?\.(tsv|jsonl|parquet)(?:\.gz|\.zst)?")
_TEXTS = ("jsonl", "parquet", "arrow")
_TABLES = (".parquet", ".arrow")
# A folder of other files has tables as well: without a name that says what it holds, only
# `save_to_disk` writes Arrow files.
_QRELS = {
    "qrels": ("tsv", "jsonl", "parquet", "arrow"),
    "default": ("parquet", "arrow"),
    "data": ("parquet", "arrow"),
    "": ("arrow",),
}
_EXPECTED_FILES = (
    "name a file of judgments, or a BEIR folder (corpus.jsonl, queries.jsonl, qrels/test.tsv)"
)


def is_data_set_id(place: Any) -> bool:
    """Whether a place is the id of a data set of ir_datasets: `irds:beir/scifact/test`."""
    return isinstance(place, (str, Path)) and str(place).startswith(_ID) and not exists(str(place))


def qrels_splits(folder: Path) -> Splits:
    """The files of judgments of each split in the folder of a data set; empty where there are
    none.
    """
    for name, kinds in _QRELS.items():
        if splits := _splits(folder / name, kinds):
            return splits
    return {}


def qrels_file(folder: str, split: str) -> Path:
    """The judgments of a split in the folder of a data set: the one named, else `test`; those of a
    folder without splits.

    Raises BadInput without judgments, for a split that is not there, listing those that are, and
    for one in several files.
    """
    splits = qrels_splits(Path(folder))
    if not splits:
        raise BadInput(f"{folder} is a folder without qrels/*.tsv; {_EXPECTED_FILES}.")
    split_name = split or ("" if list(splits) == [""] else "test")
    if split_name not in splits:
        first = next(iter(splits))
        raise BadInput(
            f"{folder} has no split {split_name!r}; its splits are "
            f"{', '.join(filter(None, splits)) or 'without a name'}; name one as {folder}"
            f"{f':{first}' if first else ' alone'}."
        )
    if len(splits[split_name]) > 1:
        raise BadInput(
            f"{folder}: the judgments of the split {split_name!r} are {len(splits[split_name])} "
            "files; expected one. Save them as one (num_shards=1), or join the files."
        )
    return splits[split_name][0]


def text_files(place: Any) -> list[Path]:
    """The files of a folder of texts (`scifact/queries`, `scifact/corpus:test`), in order; none for
    another place.

    Raises BadInput for a folder without texts, of several splits without a name, and for an unknown
    split.
    """
    if not isinstance(place, (str, Path)) or remote_url(place) is not None:
        return []
    path, part = split_part(place)
    if not Path(path).is_dir():
        return []
    splits = _splits(Path(path), _TEXTS)
    if not splits or {"corpus", "queries"} <= splits.keys():
        inside = [
            name
            for name in ("queries", "corpus")
            if _splits(Path(path, name), ("parquet", "arrow"))
        ]
        inside += [
            f"{name}.jsonl"
            for name in ("queries", "corpus")
            if Path(path, f"{name}.jsonl").is_file()
        ]
        hint = " or ".join(f"{path}/{name}" for name in inside) or "a file"
        raise BadInput(f"{path} is a folder without texts of its own; name {hint}.")
    if part not in splits and (part or len(splits) > 1):
        problem = f"has no split {part!r}" if part else "has several splits"
        raise BadInput(
            f"{path} {problem}; name one of {', '.join(f'{path}:{split}' for split in splits)}."
        )
    return splits[part] if part in splits else next(iter(splits.values()))


def queries_beside(place: Any) -> Path | str | None:
    """The queries in a folder whose judgments are named (`FOLDER`, `FOLDER:dev`), of their split
    where they have several.
    """
    folder, part = split_part(place)
    if (texts := Path(folder, "queries.jsonl")).is_file():
        return texts
    splits = _splits(Path(folder, "queries"), _TEXTS)
    split_name = part or "test"
    if split_name in splits:
        return f"{folder}/queries:{split_name}"
    if len(splits) == 1:
        return f"{folder}/queries"
    return None


def _splits(folder: Path, kinds: tuple[str, ...]) -> Splits:
    """The files of each split in the folder of one table, whose splits are files or folders; its
    own Arrow files are ``.
    """
    splits: Splits = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.name.startswith((".", "_")):
            continue
        if path.is_dir():
            if inside := [
                file
                for file in sorted(path.iterdir())
                if file.suffix[1:] in kinds and file.suffix in _TABLES
            ]:
                splits[path.name] = inside
        elif path.suffix == ".arrow" and "arrow" in kinds:
            splits.setdefault("", []).append(path)
        elif (name := _FILE.fullmatch(path.name)) and name[2] in kinds:
            splits.setdefault(name[1], []).append(path)
    return splits
