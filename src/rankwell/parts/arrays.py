"""Arrays that parts read beside their inputs: files in `.arrays` of the work folder, named by their content."""

import math
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rankwell.core.tables.matrices import Embeddings
from rankwell.parts.comparing import PartTable
from rankwell.parts.lists import write_array
from rankwell.parts.places import draft_beside, file_digest, write_draft
from rankwell.parts.plans import PLAN, file_of_part
from rankwell.parts.vectors import has_ranges
from rankwell.store import refuse_blocked

_FOLDER = ".arrays"


class PartArrays:
    """The arrays of a work folder. outlined: only their shapes are kept, in files with holes; all that a forecast needs."""

    def __init__(self, folder: Path, *, outlined: bool = False) -> None:
        self._folder, self._new, self.outlined = folder.absolute() / _FOLDER, list[Path](), outlined

    def keep(self, array: NDArray[Any]) -> str:
        """The absolute path of the file of an array, which is written where it is not there."""
        if self.outlined:
            return self.outline(array.shape, array.dtype)
        self._folder.mkdir(parents=True, exist_ok=True)
        with draft_beside(self._folder / "array") as draft:
            digest, _ = write_draft(draft, partial(write_array, np.ascontiguousarray(array)))
            file = self._folder / f"{digest[7:23]}.npy"
            if not file.exists() or file_digest(file) != digest:
                draft.replace(file)
                self._new.append(file)
        return str(file)

    def outline(self, shape: tuple[int, ...], kind: DTypeLike = np.int64) -> str:
        """The absolute path of a file for an array of zeros, which takes no space on the disk."""
        self._folder.mkdir(parents=True, exist_ok=True)
        header = {"descr": np.dtype(kind).str, "fortran_order": False, "shape": shape}
        file = self._folder / f"{len(self._new)}.npy"
        with file.open("xb") as stream:
            np.lib.format.write_array_header_1_0(stream, header)
            stream.truncate(stream.tell() + math.prod(shape) * np.dtype(kind).itemsize)
        self._new.append(file)
        return str(file)

    def table(self, table: Embeddings, place: Any) -> PartTable:
        """A table that parts read in ranges: its files, or a copy of what can only be read whole, or is in memory."""
        if not isinstance(place, (str, Path)):
            return PartTable(self.keep(table.vectors), "embeddings in memory")
        file = file_of_part(place)
        is_ranged = isinstance(table.vectors, np.memmap) and has_ranges(file)
        return PartTable(file if is_ranged else self.keep(table.vectors), file)

    def forget(self) -> None:
        """Removes new arrays of which no plan is in the folder."""
        plan = self._folder.with_name(PLAN)
        named = plan.read_text(encoding="utf-8") if plan.is_file() else ""
        for file in self._new:
            if file.name not in named:
                file.unlink(missing_ok=True)


@contextmanager
def arrays_of(folder: Path, *, outlined: bool = False) -> Generator[PartArrays]:
    """The arrays of a work folder; where the block fails before there is a plan, nothing is left of them."""
    refuse_blocked(folder, folder=True)
    was_there = folder.is_dir()
    arrays = PartArrays(folder, outlined=outlined)
    try:
        yield arrays
    except BaseException:
        arrays.forget()
        with suppress(OSError):
            (folder / _FOLDER).rmdir()
            if not was_there:
                folder.rmdir()
        raise
