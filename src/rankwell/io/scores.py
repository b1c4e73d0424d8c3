"""Matrices of scores from any file or array: the format from the content, mapped into memory where the layout allows it."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.core.kernels.arrays import item_ids as as_ids
from rankwell.core.registry import suggest
from rankwell.core.tables.scores import Matrix, Scores
from rankwell.errors import BadInput, UnknownName
from rankwell.io import FORMATS, Format, Request, file_format, formats
from rankwell.store import Head, Source, split_part

_AS_VECTORS = ("npz", "hdf5", "safetensors")
"""Formats that hold a table of numbers, whatever it means: rows of scores are read as rows of vectors are."""


def read_scores(
    place: Any,
    *,
    query_ids: Sequence[Any] | None = None,
    item_ids: Sequence[Any] | None = None,
    format: str | None = None,  # noqa: A002 - the word that users know
) -> Scores:
    """A score for every query (row) and item (column).

    place: a path to `.npy` (mapped into memory), `.npz`, HDF5 or safetensors (`data.npz:t2v` names one of several arrays), to
    CSV, TSV or Parquet with a column per item, whose name is the item's id, after one for the queries' ids, to CSV or TSV of
    plain numbers, or to Parquet with a column of lists; any array (NumPy, PyTorch), lists of numbers, Scores. query_ids,
    item_ids: names of rows and columns, in place of those in the file. format: a name from `formats('scores')`; None reads it
    from the content.
    Raises BadInput that names file, row and column; NaN and infinity are looked for when the scores are counted.
    """
    name = str(place) if isinstance(place, (str, Path)) else ""
    try:
        found = place if isinstance(place, Scores) else _read(name, format) if name else _of_array(place)
        rows = found.query_ids if query_ids is None else as_ids(_listed(query_ids))
        columns = found.item_ids if item_ids is None else as_ids(_listed(item_ids))
        return Scores(found.matrix, rows, columns)
    except BadInput as error:
        if not name or split_part(name)[0] in str(error):
            raise
        raise type(error)(f"{name}: {error}") from error


def _listed(values: Any) -> Iterable[Any]:
    return values.tolist() if hasattr(values, "tolist") else values


def _read(name: str, form: str | None) -> Scores:
    text, part = split_part(name)
    source = Source(text)
    if source.file is None:
        raise BadInput("a matrix is read in place; save it to a file and name that.")
    with source.file.open("rb") as stream:
        raw = stream.read(65537)
    if not raw:
        raise BadInput("the file is empty; expected a matrix of scores.")
    head = Head(source.name, raw[:65536], whole=len(raw) <= 65536, path=source.path)
    if form is not None:
        known = [entry.name for entry in formats("scores")]
        if form not in known:
            raise UnknownName(f"unknown format of scores {form!r}; {suggest(form, known)}")
        return FORMATS[f"{form} scores"].read(source, Request(part=part))
    entry = _recognised(head)
    if part and not entry.parts:
        raise BadInput(f"a file of the format {entry.name} holds one matrix, {part!r} names nothing in it; leave :{part} out.")
    return entry.read(source, Request(part=part))


def _recognised(head: Head) -> Format:
    scored = sorted(((entry.sniff(head), entry) for entry in formats("scores")), key=lambda each: (-each[0], each[1].name))
    if scored[0][0] > 0:
        return scored[0][1]
    head.refuse_foreign()
    known = ", ".join(entry.name for entry in formats("scores"))
    raise BadInput(f"{head.seen}: no known form of a matrix of scores; known are {known}; convert it, or name the format.")


def _of_array(thing: Any) -> Scores:
    """Scores in an array of any library, or in lists of numbers; a pandas frame's labels are ids unless they are positions.

    Raises BadInput for rows of different length.
    """
    if all(hasattr(thing, name) for name in ("index", "columns", "to_numpy")):
        return Scores(thing.to_numpy(), _labels(thing.index), _labels(thing.columns))
    if isinstance(thing, np.ndarray):
        return Scores(thing)
    if isinstance(thing, (list, tuple)):
        rows: list[Any] = list(thing)
        for row, each in enumerate(rows):
            if not isinstance(each, (list, tuple, np.ndarray)) or len(each) != len(rows[0]):
                what = f"{len(each)} scores" if hasattr(each, "__len__") else "no list"
                raise BadInput(f"row {row} has {what}, row 0 has {len(rows[0])}; every query has a score for every item.")
        try:
            return Scores(np.asarray(rows))
        except (TypeError, ValueError) as error:
            raise BadInput(f"the lists are not a table of numbers ({str(error).splitlines()[0]}).") from error
    return Scores(FORMATS["python array embeddings"].read(thing, Request()).vectors)


def _labels(labels: Any) -> list[str] | None:
    listed: list[Any] = labels.tolist()
    return None if listed == list(range(len(listed))) else as_ids(listed)


def _sniff_npy(head: Head) -> float:
    return 1.0 if head.raw.startswith(b"\x93NUMPY") else 0.0


@file_format("npy", "scores", sniff=_sniff_npy, suffixes=(".npy",))
def read_npy(source: Source, request: Request) -> Scores:  # noqa: ARG001 - one array leaves nothing to ask for
    """The array in an `.npy` file as a memory map; nothing pickled is opened."""
    try:
        matrix: Matrix = np.load(source.file or Path(), mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        what = str(error).splitlines()[0]
        raise BadInput(f"the .npy file is damaged, ends early, or is pickled ({what}); save numbers with numpy.save.") from error
    return Scores(matrix)


def _register(name: str) -> None:
    def _sniff(head: Head) -> float:
        return FORMATS[f"{name} embeddings"].sniff(head)

    def _read(source: Source, request: Request) -> Scores:
        try:
            table = FORMATS[f"{name} embeddings"].read(source, request)
        except BadInput as error:
            # The reader of vectors reports files that may be either.
            raise type(error)(str(error).replace("may be the vectors", "may be the scores")) from error
        return Scores(table.vectors, table.ids)

    file_format(name, "scores", sniff=_sniff, parts=True)(_read)


for _name in _AS_VECTORS:
    _register(_name)
