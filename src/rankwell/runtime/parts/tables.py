"""Embeddings as the command that plans needs them: of objects their sizes and ids; vectors come
where something needs them.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np

from rankwell.data.matrices import Embeddings, Vectors, item_ids, refuse_other_table
from rankwell.errors import BadInput, BadUsage
from rankwell.io.matrices import read_embeddings
from rankwell.runtime.parts.ids import Ids
from rankwell.runtime.parts.plans import file_of_part
from rankwell.runtime.parts.vectors import VectorFiles
from rankwell.store import remote_url, scratch, split_part
from rankwell.store.remote import existing


class ObjectEmbeddings(Embeddings):
    """Embeddings of objects, whose headers and ids have been read; the vectors are fetched once
    something needs them.

    Raises as `Embeddings` does.
    """

    def __init__(self, files: VectorFiles, ids: Sequence[str] | None) -> None:
        refuse_other_table(ids, files.shape, files.dtype)
        shards = list(zip(files.files, files.starts, strict=False)) if len(files.files) > 1 else ()
        vars(self).update(ids=ids, shards=shards, _files=files)

    @cached_property
    def vectors(self) -> Vectors:  # pyright: ignore[reportIncompatibleVariableOverride] - what is read once is read late
        """The vectors, in a mapped file that ends with the process."""
        files: VectorFiles = vars(self)["_files"]
        size = sum(existing(file).size for file in files.files)
        is_parquet = any(file.lower().endswith(".parquet") for file in files.files)
        if not is_parquet or 2 * size < 3 * int(np.prod(files.shape)) * files.dtype.itemsize:
            return read_embeddings(files.place, ids=False, check=False).vectors
        # There are other columns, of which nothing is read.
        with NamedTemporaryFile(dir=scratch(), delete=False) as file:
            for start, stop in pairwise(files.starts):
                file.write(files.read(start, stop).data)
        return np.memmap(Path(file.name), dtype=files.dtype, mode="r", shape=files.shape)

    @property
    def n(self) -> int:
        """Number of vectors."""
        return vars(self)["_files"].shape[0]

    @property
    def dimensions(self) -> int:
        """Number of dimensions of a vector."""
        return vars(self)["_files"].shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The kind of their numbers."""
        return vars(self)["_files"].dtype

    def named(self, ids: Sequence[str] | None) -> "ObjectEmbeddings":
        """The same vectors with other ids."""
        return ObjectEmbeddings(vars(self)["_files"], ids)


def planned_embeddings(source: Any, *, ids: Any = None) -> Embeddings:
    """Embeddings whose numbers are unchecked. place, ids: as in `read_embeddings`, which reads all
    places but objects.

    Raises as `read_embeddings` does.
    """
    if not isinstance(source, (str, Path)) or remote_url(split_part(source)[0]) is None:
        return read_embeddings(source, ids=ids, check=False)
    address = file_of_part(source)
    try:
        files = VectorFiles(address)
    except (BadInput, BadUsage):  # it can only be read whole, or not at all
        return read_embeddings(source, ids=ids, check=False)
    if ids is not None and not isinstance(ids, (str, Path)):
        names = None if ids is False else item_ids(ids)
    else:
        names = Ids(address, None if ids is None else str(ids)).all_ids(files.shape[0])
    return ObjectEmbeddings(files, names)
