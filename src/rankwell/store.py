"""Bytes in and out: ids, sources that may be compressed or standard input, files written whole or not at all, content hashes."""

import io
import os
import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Self

from rankwell.errors import BadInput, BadUsage

_GZIP, _ZSTD, _MARK = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xef\xbb\xbf"

_FOREIGN = {
    b"PK\x03\x04": "a zip archive (or a spreadsheet); unpack it, or save it as CSV",
    b"BZh91AY&SY": "compressed with bzip2; unpack it first (bunzip2)",
    b"\xfd7zXZ": "compressed with xz; unpack it first (unxz)",
    b"\x04\x22\x4d\x18": "compressed with lz4; unpack it first (lz4 -d), or save it as JSON from ranx",
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
        "a Python pickle, which is never opened; save it as JSON, CSV or Parquet, arrays with numpy.save",
    ),
}


STDIN = ("-", "/dev/stdin")
"""What standard input is called as a place."""

# A pipe (as in `<(zcat run.gz)`) can be read only once, but is looked at before it is read, and by several readers.
_PIPED: dict[str, bytes] = {}


def encode_id(text: str) -> bytes:
    """The bytes of an id exactly as they stood in its file: bytes that are not UTF-8 come back unharmed."""
    return text.encode("utf-8", "surrogateescape")


def decode_id(raw: bytes) -> str:
    """The text of an id; bytes that are not UTF-8 are kept as lone surrogates, so that `encode_id` restores them."""
    return raw.decode("utf-8", "surrogateescape")


@contextmanager
def naming(name: str) -> Generator[None]:
    """Adds the name of a file or option to an error about its content that lacks it; an empty name adds nothing."""
    try:
        yield
    except BadInput as error:
        if not name or name in str(error):
            raise
        raise type(error)(f"{name}: {error}") from error


class Source:
    """A file to read, or `-` for standard input; gzip and zstd are recognised by their first bytes, whatever the name says.

    A UTF-8 byte order mark at the very beginning is skipped. name: as it appears in messages. stem: the file's name without
    folder and suffixes, `stdin` for standard input. file: on disk, compressed or not; None for standard input and pipes.
    """

    def __init__(self, place: str | Path) -> None:
        if not str(place):
            raise BadUsage("the name of a file is empty.")
        is_stdin = str(place) in STDIN
        self.name = "standard input" if is_stdin else str(place)
        self.file = None if is_stdin else Path(place)
        self._piped, self.stem = b"", "stdin"
        if self.file is None:
            self._piped = _PIPED.get("-") or _PIPED.setdefault("-", sys.stdin.buffer.read())
            return
        if not self.file.exists():
            raise BadInput(f"{self.name}: no such file.")
        if self.file.is_dir():
            raise BadInput(f"{self.name} is a folder; name a file.")
        bare = self.file.name.removesuffix(".gz").removesuffix(".zst")
        self.stem = bare.rpartition(".")[0] or bare
        if not self.file.is_file():
            self._piped = _PIPED.get(self.name) or _PIPED.setdefault(self.name, self.file.read_bytes())
            self.file = None

    @cached_property
    def compression(self) -> str:
        """`gzip`, `zstd` or the empty text."""
        with self._raw() as stream:
            first = stream.read(4)
        return "gzip" if first[:2] == _GZIP else "zstd" if first == _ZSTD else ""

    @cached_property
    def marked(self) -> bool:
        """Whether the content begins with a UTF-8 byte order mark, which is not read as content."""
        with self._content() as stream:
            return stream.read(3) == _MARK

    @property
    def path(self) -> Path | None:
        """The file whose bytes are the content itself; None for standard input, compressed files and behind a byte order mark."""
        return None if self.compression or self.marked else self.file

    def _raw(self) -> io.BytesIO | io.BufferedReader:
        if self.file is None:
            return io.BytesIO(self._piped)
        try:
            return self.file.open("rb")
        except OSError as error:
            raise BadInput(f"{self.name} cannot be opened ({error.strerror}); check who may read it.") from error

    @contextmanager
    def open(self) -> Generator[BinaryIO]:
        """The content as a stream of bytes, decompressed. Raises BadInput where the compressed data ends early or is damaged."""
        with self._content() as stream:
            if self.marked:
                stream.read(len(_MARK))
            yield stream

    @contextmanager
    def _content(self) -> Generator[BinaryIO]:
        with self._raw() as raw:
            if self.compression == "gzip":
                # These modules, and those for writing below, are loaded when they are needed: a small plain file is read sooner.
                import gzip
                import zlib

                try:
                    with gzip.open(raw) as stream:
                        yield stream  # pyright: ignore[reportReturnType]
                except (EOFError, gzip.BadGzipFile, zlib.error) as error:
                    what = f"{self.name}: the gzip data is damaged or ends early ({error})"
                    raise BadInput(f"{what}; fetch or compress it again.") from error
            elif self.compression == "zstd":
                yield io.BufferedReader(_Zstd(raw, self.name), 1 << 20)
            else:
                yield raw

    def read(self) -> bytes:
        """The whole content, decompressed."""
        with self.open() as stream:
            return stream.read()

    def head(self, size: int = 65536) -> bytes:
        """The first bytes of the content, decompressed, for telling formats apart."""
        with self.open() as stream:
            return stream.read(size)

    def digest(self) -> str:
        """The SHA-256 of the file as it lies on disk, or of what came through standard input."""
        import hashlib

        with self._raw() as stream:
            return "sha256:" + hashlib.file_digest(stream, "sha256").hexdigest()


def split_part(place: str | Path) -> tuple[str, str]:
    """The path and the name after the last colon, where the whole is not a path and the part before the colon is one."""
    text = str(place)
    path, colon, part = text.rpartition(":")
    return (path, part) if colon and not Path(text).exists() and Path(path).exists() else (text, "")


def sources_of(*places: Mapping[str, Any]) -> dict[str, Source]:
    """The files among input places by name, in order: of a folder of vectors its `vectors.npy`, without standard input.

    A second file of a name that is taken, such as a run called `positives`, has the name with a number behind it.
    """
    found: dict[str, Source] = {}
    for name, place in ((name, place) for each in places for name, place in each.items() if isinstance(place, (str, Path))):
        path = split_part(place)[0]
        path = f"{Path(path, 'vectors.npy')}" if Path(path).is_dir() else path
        if Path(path).is_file() or path in _PIPED.keys() - STDIN:
            found[name if name not in found else f"{name} {len(found)}"] = Source(path)
    return found


class Head:
    """The first bytes of a source, which determine its format; whether they are the `whole`, and the plain file's path."""

    def __init__(self, name: str, raw: bytes, *, whole: bool, path: Path | None = None) -> None:
        self.name, self.raw, self.whole, self.path = name, raw, whole, path

    @classmethod
    def of(cls, source: Source, size: int = 65536) -> Self:
        """The head of a source. Raises BadInput where it is empty."""
        raw = source.head(size + 1)
        if not raw.strip():
            raise BadInput(f"{source.name} is empty; expected a file with content.")
        return cls(source.name, raw[:size], whole=len(raw) <= size, path=source.path)

    @cached_property
    def lines(self) -> list[bytes]:
        """The lines that are there to their end, without line ends, blank lines and lines that begin with `#`."""
        return list(self._lines())

    def _lines(self) -> Iterator[bytes]:
        parts = self.raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        complete = parts if self.whole or len(parts) == 1 else parts[:-1]
        return (line for line in complete if line.strip() and not line.startswith(b"#"))

    @cached_property
    def fields(self) -> list[list[bytes]]:
        """The white-space-separated fields of the first lines, twenty at most."""
        return [line.split() for line in islice(self._lines(), 20)]

    @cached_property
    def text(self) -> str:
        """The bytes as text without white space at the beginning."""
        return self.raw.decode("utf-8", "replace").lstrip()

    @property
    def seen(self) -> str:
        """The beginning, for messages: 60 characters, escaped."""
        return repr(self.text[:60])

    def refuse_foreign(self, *, binary: bool = False) -> None:
        """Raises BadInput naming content that is neither text nor Parquet, nor other bytes if `binary`; also for web pages."""
        for mark, what in _FOREIGN.items():
            if self.raw.startswith(mark):
                raise BadInput(f"{self.name} is {what}.")
        if self.text[:200].lower().startswith(("<!doctype", "<html", "<?xml")):
            raise BadInput(f"{self.name}:1: {self.seen}: a web page or XML; did a download return an error or a login page?")
        zero = self.raw.find(b"\0", 0, 4096)
        if zero >= 0 and not binary and not self.raw.startswith(b"PAR1"):
            line = self.raw.count(b"\n", 0, zero) + 1
            found = f"a zero byte, so this is not a text file; it begins with {self.raw[:16]!r}"
            raise BadInput(f"{self.name}:{line}: {found}; name a file in a known format.")


class _Zstd(io.RawIOBase):
    """The bytes in one or more zstd frames; unlike the library's own stream it refuses a frame that ends early."""

    def __init__(self, raw: BinaryIO, name: str) -> None:
        import zstandard

        self._raw, self._name, self._ready = raw, name, b""
        self._new, self._failure = zstandard.ZstdDecompressor().decompressobj, zstandard.ZstdError
        self._frame, self._rest = self._new(), b""

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fills the buffer as far as one step of decompression goes; 0 at the end."""
        while not self._ready and self._step():
            pass
        size = min(len(buffer), len(self._ready))
        buffer[:size], self._ready = self._ready[:size], self._ready[size:]
        return size

    def _step(self) -> bool:
        """Decompresses one more piece; False at the end of the last frame."""
        if self._frame.eof:
            self._rest = self._frame.unused_data or self._raw.read(1 << 17)
            if not self._rest:
                return False
            self._frame = self._new()
        else:
            self._rest = self._raw.read(1 << 17)
            if not self._rest:
                raise BadInput(f"{self._name}: the zstd data ends early; fetch or compress it again.")
        try:
            self._ready = self._frame.decompress(self._rest)
        except self._failure as error:
            raise BadInput(f"{self._name}: the zstd data is damaged ({error}); fetch or compress it again.") from error
        return True


@contextmanager
def replacing(path: Path) -> Generator[Path]:
    """A path beside the wanted one to write to; it takes its place when the block ends, and vanishes when the block fails.

    A link stays a link, and anything but a file (`/dev/stdout`, a named pipe) is written into once the block has ended well.
    Raises BadUsage where the path is a folder or lies below a file.
    """
    import tempfile

    path = path.resolve() if path.is_symlink() and not _is_special(path) else path
    refuse_blocked(path)
    if _is_special(path):
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder) / path.name
            path.write_bytes((Path(folder) / path.name).read_bytes())
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=_clean_drafts(path), suffix=path.suffix, dir=path.parent)
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        umask = os.umask(0)
        os.umask(umask)
        draft.chmod(0o666 & ~umask)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _clean_drafts(path: Path) -> str:
    """Removes the drafts of a file by killed processes of this machine; returns the beginning of the names of new ones."""
    if sys.platform == "win32":
        return f".{path.name}."
    import zlib

    first = f".{path.name}.{zlib.crc32(os.uname().nodename.encode()):08x}-"
    with os.scandir(path.parent) as entries:
        drafts = [entry for entry in entries if entry.name.startswith(first)]
    for draft in drafts:
        process = draft.name.removeprefix(first).partition(".")[0]
        try:
            os.kill(int(process), 0)
        except ProcessLookupError:
            Path(draft).unlink(missing_ok=True)
        except (OSError, ValueError, OverflowError):  # another user's, or not a draft
            continue
    return f"{first}{os.getpid()}."


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


def refuse_blocked(path: Path, *, folder: bool = False) -> None:
    """Raises BadUsage where no file (or `folder`) can be made at a path, because something of another kind is in the way."""
    if path.is_dir() and not folder:
        raise BadUsage(f"{path} is a folder; name a file to write.")
    for place in (path, *path.parents) if folder else path.parents:
        if place.exists() and not place.is_dir():
            raise BadUsage(f"{place} is a file, so that {path} cannot be a folder; name another place.")


@contextmanager
def packing(path: Path) -> Generator[Path]:
    """As `replacing`; what was written is compressed where the path ends in `.gz` or `.zst`, to the same bytes every time."""
    with replacing(path) as packed:
        if path.suffix not in (".gz", ".zst"):
            yield packed
            return
        draft = packed.with_name(packed.name + Path(path.stem).suffix)
        try:
            yield draft
            with draft.open("rb") as plain, packed.open("wb") as target:
                if path.suffix == ".gz":
                    import gzip
                    import shutil

                    with gzip.GzipFile(filename="", fileobj=target, mode="wb", mtime=0) as stream:
                        shutil.copyfileobj(plain, stream, 1 << 20)
                else:
                    import zstandard

                    zstandard.ZstdCompressor().copy_stream(plain, target)
        finally:
            draft.unlink(missing_ok=True)


def write_bytes(path: Path, content: bytes) -> None:
    """Writes a file whole or not at all; folders on the way are made."""
    with replacing(path) as draft:
        draft.write_bytes(content)


def write_text(path: Path, text: str) -> None:
    """Writes a text file in UTF-8 whole or not at all; ids that are not UTF-8 keep their bytes."""
    write_bytes(path, text.encode("utf-8", "surrogateescape"))


class Cache:
    """Results that are costly to make, by the digest of what each was made from; a file each, written whole or not at all.

    folder: may be shared by processes. maker: what else decides a result (model, settings), as JSON. versions: of the packages
    that compute it; rankwell's is added. Results of another maker or version, and damaged ones, are never returned: a file begins
    with the SHA-256 of maker, versions, digest and content. Raises BadUsage where no such folder can be made.
    """

    def __init__(self, folder: Path, maker: Mapping[str, Any], versions: Mapping[str, str]) -> None:
        import hashlib
        import json

        from rankwell import __version__

        identity = json.dumps(maker, sort_keys=True)
        refuse_blocked(folder, folder=True)
        self._sha256 = hashlib.sha256
        self._known = json.dumps([identity, {**versions, "rankwell": __version__}], sort_keys=True).encode()
        self._folder = folder / self._sha256(identity.encode()).hexdigest()[:32]
        if not (self._folder / "maker.json").exists():
            write_text(self._folder / "maker.json", identity + "\n")

    def _place(self, digest: str) -> Path:
        bare = digest.removeprefix("sha256:")
        return self._folder / bare[:2] / bare[2:]

    def get(self, digest: str) -> bytes | None:
        """The result, or None where there is none, or a damaged one."""
        try:
            found = self._place(digest).read_bytes()
        except FileNotFoundError:
            return None
        return found[32:] if found[:32] == self._checksum(digest, found[32:]) else None

    def put(self, digest: str, content: bytes) -> None:
        """Keeps a result."""
        write_bytes(self._place(digest), self._checksum(digest, content) + content)

    def _checksum(self, digest: str, content: bytes) -> bytes:
        return self._sha256(self._sha256(self._known + digest.encode()).digest() + content).digest()


def read_toml(source: Source) -> tuple[str, dict[str, Any]]:
    """The text of a file and its table. Raises BadInput where it is not UTF-8 or not TOML."""
    import tomllib

    try:
        text = source.read().decode("utf-8")
        return text, tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise BadInput(f"{source.name} is not UTF-8 text ({error}); save it as UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{source.name} is not valid TOML: {error}.") from error
