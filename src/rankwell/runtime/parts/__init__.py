"""Work that is cut into parts: a part is a file in a work folder, and whoever computes it, the
merged bytes are the same. Here are the places of work folders, a folder of this machine or one of a
bucket, and what a kind of part declares.

`plans.py` has the plan of a folder, its parts and their records, `execution.py` makes parts and
brings a plan to its end. A kind of part is one file, here or in `parts/` of experiments or of a
task; nothing else here knows what a part computes.
"""

import contextlib
import errno
import hashlib
import os
import secrets
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Literal, NamedTuple

from rankwell.data.catalogue import Catalogue
from rankwell.errors import BadInput, BadUsage, flag
from rankwell.store import clean_drafts, draft_names, refuse_blocked, remote, remote_url, scratch

Json = Any
"""A value that JSON can hold."""
PlanOptions = Mapping[str, Json]
"""The options of the work of a plan, with places as absolute paths."""


Puts = Literal["refused", "unique"]
"""A second put of one name is `refused`; where a place cannot refuse it, every content has a
`unique` name.
"""
Write = Callable[[BinaryIO], None]

_DRAFT = ".draft-"
FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))


class Written(NamedTuple):
    """A written part.

    name: name of its file in the work folder.
    digest: the hash of its content.
    size: its length in bytes.
    is_new: false where a file of its name was there already.
    """

    name: str
    digest: str
    size: int
    is_new: bool


def local_file(address: str) -> Path:
    """A file of this machine with the content of what `WorkPlace.address` names; an object is
    fetched once per process.
    """
    url = remote_url(address)
    return Path(address) if url is None else remote.fetch(url)


def place_of(place: "str | Path | WorkPlace") -> "WorkPlace":
    """The place of a folder, or of an address of one in a bucket. Raises BadUsage for an address
    that is only read.
    """
    if not isinstance(place, (str, Path)):
        return place
    url = remote_url(place)
    return FolderPlace(Path(place)) if url is None else BucketPlace(url)


class FolderPlace:
    """A folder that all workers see under one path.

    name: the name in messages.
    workers_name: the name for processes with another working directory, and for other machines.
    folder: a folder for files of the merge on this machine.
    """

    is_local = True

    def __init__(self, folder: Path) -> None:
        self.folder, self.name = folder, str(folder)
        try:
            self.workers_name = str(folder.resolve())
        except (OSError, RuntimeError) as error:  # a link to itself
            raise BadUsage(
                f"{folder} cannot be a work folder ({error}); name another place."
            ) from error

    def listing(self, prefix: str = "") -> Mapping[str, int]:
        """The sizes of its files by name, of those that begin so, in any order, without hidden
        ones.
        """
        sizes = dict[str, int]()
        if self.folder.is_dir():
            with os.scandir(self.folder) as entries:
                for directory_entry in entries:
                    name = directory_entry.name
                    if name.startswith(prefix) and not name.startswith("."):
                        with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                            sizes[name] = directory_entry.stat().st_size
        return sizes

    def size(self, name: str) -> int | None:
        """The size of a file; None where there is none."""
        path = self.folder / name
        return path.stat().st_size if path.is_file() else None

    def read(self, name: str) -> bytes | None:
        """The content of a small file; None where there is none."""
        try:
            return (self.folder / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise BadInput(
                f"{self.folder / name} cannot be opened ({error.strerror or error}); check who may "
                "read it, and the disk."
            ) from error

    def put_new(self, name: str, content: bytes) -> bool:
        """Writes a draft of a small file to the disk, and links it; false, and nothing is done,
        where there is a file.
        """
        path = self.folder / name
        with draft_beside(path) as draft:
            with draft.open("wb") as stream:
                stream.write(content)
                _sync(stream)
            is_new = link_new(draft, path)
        # This brings the names of files that were put before to the disk, too, such as the part of
        # a record.
        sync_folder(self.folder)
        return is_new

    def replace(self, name: str, content: bytes) -> None:
        """Writes a draft, which takes the place of an earlier small file."""
        path = self.folder / name
        with draft_beside(path) as draft:
            draft.write_bytes(content)
            draft.replace(path)

    def put_part(
        self, stem: str, suffix: str, write: Write, *, unique: bool, replace: bool = False
    ) -> Written:
        """Writes a draft of a part to the disk, and links it, or gives it the name of another.

        stem: its name; unique: with its digest. replace: in place of one that is there; otherwise
        that one stays.
        """
        with draft_beside(self.folder / stem) as draft:
            digest, size = write_draft(draft, write)
            file = self.folder / part_name(stem, suffix, digest, unique=unique)
            if replace:
                draft.replace(file)
            is_new = replace or link_new(draft, file)
        return Written(file.name, digest, size, is_new)

    def remove(self, name: str) -> None:
        """Removes a file, if there is one."""
        (self.folder / name).unlink(missing_ok=True)

    def file(self, name: str) -> Path:
        """The file itself."""
        return self.folder / name

    def address(self, name: str = "") -> str:
        """The absolute path of a file, as plans name it; without a name what all of them begin
        with.
        """
        return f"{self.folder.absolute()}{os.sep}{name}"

    def inside(self, name: str) -> "FolderPlace":
        """A folder in this one."""
        return FolderPlace(self.folder / name)

    def open(self) -> None:
        """Makes the folder, if need be. Raises BadUsage where something else is in the way."""
        refuse_blocked(self.folder, folder=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        if not os.access(self.folder, os.W_OK):
            raise BadUsage(f"{self.folder} cannot be written to; name another work folder.")

    def close(self) -> None:
        """Removes the folder where nothing is in it."""
        with contextlib.suppress(OSError):
            self.folder.rmdir()

    def clean(self) -> None:
        """Removes the drafts that killed processes of this machine have left."""
        clean_drafts(self.folder, _DRAFT)


def part_name(stem: str, suffix: str, digest: str, *, unique: bool) -> str:
    """The name of a part's file."""
    return f"{stem}.{digest[7:23]}{suffix}" if unique else f"{stem}{suffix}"


def probe(storage: "WorkPlace") -> Puts:
    """Whether the place refuses to put a name twice. Raises BadUsage where it cannot be written
    to.
    """
    name = _draft_name()
    try:
        if storage.put_new(name, b"1") and not storage.put_new(name, b"2"):
            return "refused"
        return "unique"
    except (OSError, BadInput):  # such as a service without conditions
        return "unique"
    finally:
        with contextlib.suppress(OSError, BadInput):
            storage.remove(name)


class HashedStream:
    """A stream to write to that takes the SHA-256 and the number of the bytes written."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self.size, self.sha256 = stream, 0, hashlib.sha256()

    def write(self, content: Any) -> int:
        """Writes bytes, or anything that offers a buffer."""
        self.sha256.update(content)
        self.size += memoryview(content).nbytes
        return self._stream.write(content)


def file_digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as stream:
        return "sha256:" + hashlib.file_digest(stream, "sha256").hexdigest()


def link_new(draft: Path, path: Path) -> bool:
    """Gives a finished draft its name; false where the name is taken. Raises OSError where a place
    has no links.
    """
    with contextlib.suppress(FileExistsError):
        os.link(draft, path)
        return True
    return False


@contextlib.contextmanager
def draft_beside(path: Path) -> Generator[Path]:
    """A name to write to in the folder of a path, of this process alone; what is there vanishes
    when the block ends.

    Raises BadUsage for a full disk.
    """
    draft = path.with_name(_draft_name())
    try:
        yield draft
    except OSError as error:
        where = error.filename if error.filename not in (None, str(draft)) else str(path.parent)
        if error.errno in FULL:
            raise BadUsage(
                f"{where}: {error.strerror}; free some space, and run the command again."
            ) from error
        error.filename = where
        raise
    finally:
        draft.unlink(missing_ok=True)


def write_draft(draft: Path, write: Write) -> tuple[str, int]:
    """Writes a draft down to the disk; its digest and size."""
    with draft.open("wb") as stream:
        written = _hashed(stream, write)
        _sync(stream)
    return written


def digest_of(write: Write) -> tuple[str, int]:
    """The digest and size of what would be written."""
    with Path(os.devnull).open("wb") as stream:
        return _hashed(stream, write)


def _hashed(stream: BinaryIO, write: Write) -> tuple[str, int]:
    hashed = HashedStream(stream)
    write(hashed)  # pyright: ignore[reportArgumentType] - all that writers of arrays use of a stream
    return "sha256:" + hashed.sha256.hexdigest(), hashed.size


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


def _draft_name() -> str:
    return f"{draft_names(_DRAFT)}{os.getpid()}-{secrets.token_hex(4)}"


_MOST = 5 << 30
"""Bytes of an object that one request can put."""


class BucketPlace:
    """A folder of a bucket. Raises BadUsage for a service that is only read."""

    is_local = False

    def __init__(self, url: str) -> None:
        self.name = self.workers_name = url.rstrip("/")
        if url.startswith("hf://"):
            raise BadUsage(
                f"{flag('--work', url)}: the Hugging Face Hub is only read; name a folder, or "
                "one of a bucket."
            )
        self.folder = scratch()

    def listing(self, prefix: str = "") -> Mapping[str, int]:
        """The sizes of its objects by name, in one request for a thousand of them."""
        objects = remote.objects_in(f"{self.name}/", prefix)
        return {
            name: stored_object.size
            for name, stored_object in objects.items()
            if not name.startswith(".")
        }

    def size(self, name: str) -> int | None:
        """The size of an object."""
        stored_object = remote.look(self.address(name), anew=True)
        return None if stored_object is None else stored_object.size

    def read(self, name: str) -> bytes | None:
        """The content of a small object, as it is now."""
        return remote.read_whole(self.address(name))

    def put_new(self, name: str, content: bytes) -> bool:
        """Puts an object on the condition that there is none."""
        # A request whose answer was lost is refused when it is repeated.
        return remote.put(self.address(name), content, is_new=True) or self.read(name) == content

    def replace(self, name: str, content: bytes) -> None:
        """Puts an object in place of an earlier one."""
        remote.put(self.address(name), content)

    def put_part(
        self, stem: str, suffix: str, write: Write, *, unique: bool, replace: bool = False
    ) -> Written:
        """Writes a file of this machine, and puts its content."""
        with draft_beside(scratch() / stem) as draft:
            digest, size = write_draft(draft, write)
            if size > _MOST and not unique:
                raise BadUsage(
                    f"{self.address(stem)} has {size} bytes, more than one request can put; plan "
                    f"smaller parts: {flag('--shards')}."
                )
            name = part_name(stem, suffix, digest, unique=unique)
            return Written(
                name, digest, size, remote.put(self.address(name), draft, is_new=not replace)
            )

    def remove(self, name: str) -> None:
        """Removes an object, if there is one."""
        remote.remove(self.address(name))

    def file(self, name: str) -> Path:
        """A file with the content, fetched by checked ranges."""
        return remote.fetch(self.address(name), anew=True)

    def address(self, name: str = "") -> str:
        """The address of an object."""
        return f"{self.name}/{name}"

    def inside(self, name: str) -> "BucketPlace":
        """A folder in this one."""
        return BucketPlace(self.address(name))

    def open(self) -> None:
        """Nothing: a folder of a bucket is there when it has an object."""

    def close(self) -> None:
        """Nothing: a folder of a bucket is gone with its last object."""

    def clean(self) -> None:
        """Nothing: an object is never there in part."""


WorkPlace = FolderPlace | BucketPlace
"""The place of a work folder, whose files are known by their names."""


SECOND = "second"
"""The folder of a second round in that of the first."""
MAX_SHARDS = 1_000_000
"""Ranges into which an input may be cut: each is a file."""


class Limits(NamedTuple):
    """Limits on the size of parts.

    memory: number of bytes that a part may use.
    workers: number of parts that are computed at once.
    shards: the requested number of shards; None where none is requested.
    """

    memory: int = 2 << 30
    workers: int = 1
    shards: int | None = None

    def shards_or(self, usual: int) -> int:
        """The requested number of shards, else the usual one. Raises BadUsage."""
        if self.shards is not None and not 0 < self.shards <= MAX_SHARDS:
            raise BadUsage(
                f"{flag('--shards', self.shards)}; expected an integer from 1 to {MAX_SHARDS}."
            )
        return usual if self.shards is None else self.shards


class Cut(NamedTuple):
    """How work is cut into parts.

    parts: number of parts.
    boundaries: where the parts begin and end, as JSON in a form of the kind's own.
    costs: name -> number, for the user.
    """

    parts: int
    boundaries: Json
    costs: Mapping[str, int | str]


class PartContent(NamedTuple):
    """The content of a part.

    suffix: suffix of its file.
    write: writes the content to a stream.
    inputs: name of a block of an input -> its digest.
    device: the device that computed it, `cpu` or a GPU.
    alike: properties that must be equal in all parts, such as the model.
    machine: traits of this machine that the bytes depend on, such as its processor; they must be
        equal in all parts, too, unless a mixture is accepted.
    """

    suffix: str
    write: Write
    inputs: Mapping[str, str]
    device: str = "cpu"
    alike: Mapping[str, str] = MappingProxyType({})
    machine: Mapping[str, str] = MappingProxyType({})


class PartMachine(NamedTuple):
    """A kind of machine.

    traits: the traits that the bytes of its parts depend on.
    parts: the parts that it computed, in order.
    """

    traits: Mapping[str, str]
    parts: list[int]


class SecondRound(NamedTuple):
    """Further parts, which need all parts of the first round.

    kind: name of the kind of these parts.
    options: the options of these parts, as in a plan.
    divided: whether a requested number of shards applies to these parts, too.
    """

    kind: str
    options: PlanOptions
    divided: bool = False


class Amounts(NamedTuple):
    """The work of each part, of which `--dry-run` prints the sum.

    unit: the name of what is counted, in the plural (`products`).
    part_amounts: the amount of work of each part, in order.
    """

    unit: str
    part_amounts: Sequence[int]


class PartInputs(NamedTuple):
    """The decisions of a plan that the functions of its kind need.

    options: the kind's own options, as the plan's file has them.
    boundaries: where its parts begin and end, in a form of the kind's own.
    machines: the kinds of machine that computed parts, for a merge.
    """

    options: PlanOptions
    boundaries: Json
    machines: Sequence[PartMachine] = ()


@dataclass(frozen=True)
class PartKind:
    """A kind of part. All functions take options that JSON can hold, with places as absolute paths.

    name: the name of the kind in plans.
    files: options -> the inputs by name, as paths or addresses of objects.
    cut: cuts the work into parts, without reading vectors.
    part: computes one part.
    merge: (inputs, files of parts in order, place of the work folder) -> the result, which may read
        the files later.
    check: raises errors that only reading finds, before any work.
    second: the parts of a second round, or None. Their plan is in the folder `second` of the work
        folder, and merge takes their files after those of the first.
    amounts: the amount of work of every part, for progress.
    derived: option that no user types -> the words for the difference where its value differs.
    is_sized: whether the memory of a part decides the part's size.
    code: name of the option whose file may name code; "" where there is none.
    """

    name: str
    files: Callable[[PlanOptions], Mapping[str, Path | str]]
    cut: Callable[[PlanOptions, Limits], Cut]
    part: Callable[[PartInputs, int], PartContent]
    merge: Callable[[PartInputs, Sequence[Path], WorkPlace], Any]
    check: Callable[[PlanOptions], None] | None = None
    second: Callable[[PartInputs, Sequence[Path], WorkPlace], SecondRound | None] | None = None
    amounts: Callable[[PartInputs], Amounts] | None = None
    derived: Mapping[str, str] = field(default_factory=dict)
    is_sized: bool = True
    code: str = ""


KINDS: Catalogue[PartKind] = Catalogue("runtime.parts", "kind of part")
