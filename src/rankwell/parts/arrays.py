"""Arrays that parts read beside their inputs: files in `.arrays` of the work folder, named by their
content.
"""

import math
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rankwell.core.tables.matrices import Embeddings
from rankwell.errors import BadInput, RankwellError
from rankwell.parts.comparing import PartTable
from rankwell.parts.lists import write_array
from rankwell.parts.places import WorkPlace, Write, digest_of, file_digest, part_name
from rankwell.parts.plans import PLAN, file_of_part
from rankwell.parts.tables import ObjectEmbeddings
from rankwell.parts.vectors import has_ranges
from rankwell.store import refuse_blocked

_FOLDER = ".arrays"


class PartArrays:
    """The arrays of a work folder. outlined: only their shapes are kept, in files with holes; all
    that a forecast needs.
    """

    def __init__(self, work: WorkPlace, *, outlined: bool = False) -> None:
        self._work, self._place, self._new, self.outlined = (
            work,
            work.inside(_FOLDER),
            list[str](),
            outlined,
        )

    def keep(self, array: NDArray[Any]) -> str:
        """The address of the file of an array, which is written where it is not there."""
        if self.outlined:
            return self.outline(array.shape, array.dtype)
        return self.put("array", ".npy", partial(write_array, np.ascontiguousarray(array)))

    def put(self, stem: str, suffix: str, write: Write) -> str:
        """The address of a file of some content, which is written where it is not there."""
        digest, size = digest_of(write)
        name = part_name(stem, suffix, digest, unique=True)
        size_before = self._place.size(name)
        # Plans know files by their times and tags, so that one that is right stays, also where
        # another command puts it at the same time.
        if size_before != size or file_digest(self._place.file(name)) != digest:
            self._place.open()
            put = partial(self._place.put_part, stem, suffix, write, unique=True)
            try:
                is_new = put(replace=size_before is not None).is_new
            except (OSError, BadInput):  # a place that cannot refuse a second put
                is_new = put(replace=True).is_new
            if is_new:
                self._new.append(name)
        return self._place.address(name)

    def outline(self, shape: tuple[int, ...], kind: DTypeLike = np.int64) -> str:
        """The address of a file for an array of zeros, which takes no space on the disk of this
        machine.
        """
        self._place.open()
        header = {"descr": np.dtype(kind).str, "fortran_order": False, "shape": shape}
        name = f"{len(self._new)}.npy"
        with self._place.file(name).open("xb") as stream:
            np.lib.format.write_array_header_1_0(stream, header)
            stream.truncate(stream.tell() + math.prod(shape) * np.dtype(kind).itemsize)
        self._new.append(name)
        return self._place.address(name)

    def table(self, table: Embeddings, source: Any) -> PartTable:
        """A table that parts read in ranges: its files, or a copy of what can only be read whole,
        or is in memory.
        """
        file = file_of_part(source) if isinstance(source, (str, Path)) else ""
        if (
            file
            and (isinstance(table, ObjectEmbeddings) or isinstance(table.vectors, np.memmap))
            and has_ranges(file)
        ):
            return PartTable(file, file)
        array_address = (
            self.outline((table.n, table.dimensions), table.dtype)
            if self.outlined
            else self.keep(table.vectors)
        )
        return PartTable(array_address, file or "embeddings in memory")

    def forget(self) -> None:
        """Removes new arrays of which no plan is in the folder."""
        with suppress(OSError, RankwellError):  # what has failed before fails again
            plan = (self._work.read(PLAN) or b"") if self._new else b""
            for name in self._new:
                if name.encode() not in plan:
                    self._place.remove(name)
        self._place.close()


@contextmanager
def arrays_of(work: WorkPlace, *, outlined: bool = False) -> Generator[PartArrays]:
    """The arrays of a work folder; where the block fails before there is a plan, nothing is left of
    them. An interruption leaves them for the next command, or for another that works here now.
    """
    if work.is_local:
        refuse_blocked(work.folder, folder=True)
    was_there = work.is_local and work.folder.is_dir()
    arrays = PartArrays(work, outlined=outlined)
    try:
        yield arrays
    except Exception:
        arrays.forget()
        if not was_there:
            work.close()
        raise
