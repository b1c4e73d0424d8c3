"""Bytes in and out: places to read from, local or remote, and files written whole or not at all,
by drafts that take their place.
"""

import os
import re
import sys
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from rankwell.errors import BadInput, BadUsage, flag, naming, shown
from rankwell.store.places import (
    DESCRIPTORS,
    DRAFT_FOLDER,
    IDS_BESIDE,
    OPEN_DRAFTS,
    STDIN,
    STDIN_NAME,
    Head,
    Source,
    SourceRange,
    decode_id,
    encode_id,
    exists,
    file_states,
    forget,
    ids_beside,
    is_draft,
    line_starts,
    path_of,
    reading,
    refuse_bomb,
    refuse_draft,
    refuse_irregular,
    remote_url,
    run_files,
    shard_files,
    sources_of,
    split_lines,
    split_name,
    split_part,
    unchanged,
)
from rankwell.store.temporary import scratch

__all__ = [
    "DRAFT_FOLDER",
    "DESCRIPTORS",
    "IDS_BESIDE",
    "STDIN",
    "STDIN_NAME",
    "Head",
    "Source",
    "SourceRange",
    "decode_id",
    "encode_id",
    "exists",
    "file_states",
    "forget",
    "ids_beside",
    "line_starts",
    "path_of",
    "naming",
    "reading",
    "is_draft",
    "refuse_bomb",
    "refuse_draft",
    "refuse_irregular",
    "remote_url",
    "run_files",
    "scratch",
    "shard_files",
    "sources_of",
    "split_lines",
    "split_name",
    "split_part",
    "unchanged",
]

KEEPING: ContextVar[bool] = ContextVar("keeping", default=False)
"""Whether a file that is there is replaced only by one of the same content."""
_REMOTE = ("s3:", "gs:", "az:", "hf:", "http:", "https:")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)
"""The first part of an address as a path; a single letter would be a drive."""


@contextmanager
def replacing(path: Path) -> Generator[Path]:
    """A path beside the wanted one to write to; it takes its place when the block ends, and
    vanishes when the block fails.

    A link stays a link, and anything but a file (`/dev/stdout`, a named pipe) is written into once
    the block has ended well. Raises BadUsage where the path is a folder, lies below a file or links
    to none, and for a file to be kept (`KEEPING`).
    """
    import tempfile

    link = path
    path = path.resolve() if path.is_symlink() and not _is_special(path) else path
    refuse_blocked(path)
    if link.is_symlink() and not path.exists():
        raise BadUsage(
            f"{link} is a link to {path}, which does not exist; remove the link, or name "
            "another file."
        )
    if _is_special(path):
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder) / path.name
            path.write_bytes((Path(folder) / path.name).read_bytes())
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    first = f".{path.name}."
    clean_drafts(path.parent, first)
    handle, name = tempfile.mkstemp(
        prefix=f"{draft_names(first)}{os.getpid()}.", suffix=path.suffix, dir=path.parent
    )
    os.close(handle)
    draft = Path(name)
    OPEN_DRAFTS.add(draft)
    try:
        yield draft
        if (
            KEEPING.get()
            and path not in OPEN_DRAFTS
            and path.is_file()
            and path.read_bytes() != draft.read_bytes()
        ):
            raise BadUsage(
                f"{path} exists with different content; move it, name another place, or "
                f"{flag('--overwrite', True)}."
            )
        umask = os.umask(0)
        os.umask(umask)
        draft.chmod(0o666 & ~umask)
        draft.replace(path)
        forget(path)
    finally:
        OPEN_DRAFTS.discard(draft)
        draft.unlink(missing_ok=True)


def draft_names(first: str) -> str:
    """The beginning of the names of drafts of this machine, behind which the number of a process
    stands. first: that of drafts of all machines.
    """
    import zlib

    host = "" if sys.platform == "win32" else os.uname().nodename
    return f"{first}{zlib.crc32(host.encode()):08x}-"


def clean_drafts(folder: Path, first: str) -> None:
    """Removes the drafts in a folder that killed processes of this machine have left. first: as in
    `draft_names`.
    """
    beginning = draft_names(first)
    with os.scandir(folder) as entries:
        drafts = [entry for entry in entries if entry.name.startswith(beginning)]
    for draft in drafts:
        process = re.match("[0-9]+", draft.name.removeprefix(beginning))
        if process and not _is_running(int(process[0])):
            Path(draft).unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    """Whether there is a process of this number on this machine; true where that cannot be found
    out.
    """
    if sys.platform == "win32":
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # another user's
        return True
    return True


@contextmanager
def drafted(folder: Path) -> Generator[None]:
    """A block that writes the files of a result into this folder, and may read them there."""
    OPEN_DRAFTS.add(folder)
    try:
        yield
    finally:
        OPEN_DRAFTS.discard(folder)


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


_FILES = (
    ".csv",
    ".tsv",
    ".json",
    ".jsonl",
    ".ndjson",
    ".parquet",
    ".parq",
    ".arrow",
    ".run",
    ".trec",
    ".qrels",
    ".qrel",
    ".txt",
    ".npy",
    ".npz",
    ".hdf5",
    ".h5",
    ".fvecs",
    ".ivecs",
    ".safetensors",
    ".html",
    ".htm",
    ".md",
    ".tex",
    ".xml",
    ".toml",
    ".png",
    ".svg",
    ".pdf",
    ".xlsx",
    ".ipynb",
    ".gz",
    ".zst",
)
"""Suffixes of files that rankwell writes, or that a user may expect it to write."""


def is_file_name(path: Path) -> bool:
    """Whether a path that is not a folder has the name of a file."""
    return path.suffix.lower() in _FILES and not path.is_dir()


def refuse_file_name(folder: Path) -> None:
    """Raises BadUsage for a folder to write that is not there and has the name of a file."""
    bare = folder
    while is_file_name(bare):
        bare = bare.with_suffix("")
    if bare != folder and not folder.exists():
        raise BadUsage(f"{folder} has the name of a file; expected a folder to write. Name {bare}.")


def refuse_blocked(path: Path, *, folder: bool = False) -> None:
    """Raises BadUsage where no file (or `folder`) can be made at a path: it is remote, or something
    else is in the way.
    """
    first = path.parts[0] if path.parts else ""
    if first in _REMOTE or (
        len(path.parts) > 1 and _SCHEME.fullmatch(first) and not Path(first).is_dir()
    ):
        url = f"{path.parts[0]}//{'/'.join(path.parts[1:])}"
        raise BadUsage(
            f"{url}: results are written to this machine; name a place here, and copy it there."
        )
    if path.is_dir() and not folder:
        raise BadUsage(f"{path} is a folder; name a file to write.")
    for folder_path in (path, *path.parents) if folder else path.parents:
        if folder_path.exists() and not folder_path.is_dir():
            failure = "be a folder" if folder else "be written"
            why = "" if folder_path == path else f", so that {path} cannot {failure}"
            raise BadUsage(f"{folder_path} is a file, not a folder{why}; name another place.")


@contextmanager
def writing_to(place: Path) -> Generator[None]:
    """Raises BadUsage, naming the place, where the system does not let a block write there."""
    if "\0" in str(place):
        raise BadUsage(
            f"{shown(str(place), 400)} has a null character, which no name of a file has; "
            "name another place."
        )
    try:
        yield
    except OSError as error:
        where = error.filename if isinstance(error.filename, str) else place
        raise BadUsage(
            f"{where}: {error.strerror or error}; name another place to write, or correct this one."
        ) from error


@contextmanager
def packing(path: Path) -> Generator[Path]:
    """As `replacing`; what was written is compressed where the path ends in `.gz` or `.zst`, to the
    same bytes every time.
    """
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


def utf8_path(path: Path) -> Path:
    """The path, or a link to it for libraries that take UTF-8 alone. Raises BadInput where there
    can be none.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        from hashlib import sha256

        name = sha256(os.fsencode(path.absolute())).hexdigest()[:32]
        link = scratch() / (name + path.suffix if path.suffix.isascii() else name)
        try:
            link.unlink(missing_ok=True)
            link.symlink_to(path.absolute())
            str(link).encode()
        except (OSError, UnicodeEncodeError):
            raise BadInput(
                f"{path}: the name is not UTF-8; rename the file or its folder."
            ) from error
        return link
    return path


def write_bytes(path: Path, content: bytes) -> None:
    """Writes a file whole or not at all; folders on the way are made."""
    with replacing(path) as draft:
        draft.write_bytes(content)


def write_text(path: Path, text: str) -> None:
    """Writes a text file in UTF-8 whole or not at all; ids that are not UTF-8 keep their bytes."""
    write_bytes(path, text.encode("utf-8", "surrogateescape"))


def write_npy(path: Path, array: Any) -> None:
    """Writes an array as .npy whole or not at all."""
    import numpy as np

    with replacing(path) as draft, draft.open("wb") as stream:
        np.save(stream, array, allow_pickle=False)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Writes a text file of these lines as `write_text` does; each line is ended."""
    write_text(path, "".join(f"{line}\n" for line in lines))


class Cache:
    """Results that are costly to make, by the digest of what each was made from. Each has a file of
    its own, written whole or not at all.

    folder: the folder, which processes may share.
    maker: everything else that decides a result (model, settings), as JSON.
    versions: versions of the packages that compute it; rankwell's is added.

    Results of another maker or version, and damaged ones, are never returned: a file begins with
    the SHA-256 of maker, versions, digest and content. Raises BadUsage where no such folder can be
    made.
    """

    def __init__(self, folder: Path, maker: Mapping[str, Any], versions: Mapping[str, str]) -> None:
        import hashlib
        import json

        from rankwell import __version__

        identity = json.dumps(maker, sort_keys=True)
        refuse_blocked(folder, folder=True)
        self._sha256 = hashlib.sha256
        self._identity = json.dumps(
            [identity, {**versions, "rankwell": __version__}], sort_keys=True
        ).encode()
        self._folder = folder / self._sha256(identity.encode()).hexdigest()[:32]
        if not (self._folder / "maker.json").exists():
            write_text(self._folder / "maker.json", identity + "\n")

    @staticmethod
    def is_one(folder: Path) -> bool:
        """Whether a folder holds nothing but what caches keep: a folder for each maker, named by
        its digest.
        """
        names = [entry.name if entry.is_dir() else "" for entry in folder.iterdir()]
        return all(len(name) == 32 and not set(name) - set("0123456789abcdef") for name in names)

    def _path_of(self, digest: str) -> Path:
        bare = digest.removeprefix("sha256:")
        return self._folder / bare[:2] / bare[2:]

    def get(self, digest: str) -> bytes | None:
        """The result, or None where there is none, or a damaged one."""
        try:
            checked_content = self._path_of(digest).read_bytes()
        except FileNotFoundError:
            return None
        if checked_content[:32] == self._checksum(digest, checked_content[32:]):
            return checked_content[32:]
        return None

    def put(self, digest: str, content: bytes) -> None:
        """Keeps a result."""
        write_bytes(self._path_of(digest), self._checksum(digest, content) + content)

    def _checksum(self, digest: str, content: bytes) -> bytes:
        return self._sha256(
            self._sha256(self._identity + digest.encode()).digest() + content
        ).digest()
