"""Binary files of vectors and scores: NumPy's archives, HDF5, safetensors, MTEB's cache, flat files
of benchmarks; ranges of these and of `.npy` at remote places.
"""

import io
import math
import struct
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from rankwell.data.matrices import (
    MAGIC,
    ArrayLayout,
    Embeddings,
    Scores,
    Vectors,
    as_real,
    choose_array,
    item_ids,
    map_array,
    map_layout,
    npy_header,
    npy_layout,
    read_npy,
    refuse_size,
    row_blocks,
)
from rankwell.data.rankings import Ranking
from rankwell.data.tables import Floats, Ints, Judgments, first_true
from rankwell.documents import parse_json, read_json, unique_keys
from rankwell.errors import BadInput, RankwellError, naming, needing, shown
from rankwell.io.formats import Request, file_format
from rankwell.store import Head, Source, refuse_bomb, replacing
from rankwell.store.remote import RangeStream, existing, read_pieces

_Reader = Callable[[Source, Request], Embeddings]


def _tables(
    name: str, suffixes: tuple[str, ...], **recognised: Any
) -> Callable[[_Reader], _Reader]:
    """Registers a reader of named arrays for embeddings and for scores: tables of numbers, whatever
    they mean.
    """

    def _register(read: _Reader) -> _Reader:
        def _read_scores(source: Source, request: Request) -> Scores:
            table = read(source, request)
            return Scores(table.vectors, table.ids)

        file_format(name, "scores", has_parts=True, **recognised)(_read_scores)
        return file_format(name, "embeddings", suffixes=suffixes, has_parts=True, **recognised)(
            read
        )

    return _register


def _choose_embeddings(
    shapes: Mapping[str, tuple[int, ...]],
    load: Callable[[str], NDArray[Any]],
    source: Source,
    request: Request,
    ids: Sequence[str] = ("ids", "id"),
) -> Embeddings:
    """The array that `choose_array` takes of a container, with ids of a usual name. Raises BadInput
    where these fit no array.
    """
    array_name = choose_array(shapes, request.part, source.name)
    vectors, length = as_real(load(array_name)), shapes[array_name][:1]
    id_name = next(
        (name for name in ids if name != array_name and length and shapes.get(name) == length), None
    )
    row_counts = {shape[:1] for shape in shapes.values() if len(shape) > 1}
    wrong = next(
        (
            name
            for name in ("ids", "id")
            if id_name is None and shapes.get(name) not in (None, length, *row_counts)
        ),
        None,
    )
    if wrong not in (None, array_name):
        sizes = [" × ".join(map(str, shapes[name])) or "1" for name in (wrong, array_name)]
        raise BadInput(
            f"{wrong!r} has {sizes[0]} ids, {array_name!r} is {sizes[1]}; give every row an id, "
            "or none."
        )
    return Embeddings(None if id_name is None else item_ids(load(id_name).tolist()), vectors)


@_tables("npz", (".npz",), magic=b"PK\x03\x04")
def read_npz(source: Source, request: Request) -> Embeddings:
    """The array in an `.npz` archive that is named, alone in having two dimensions, or the one with
    a usual name; read whole.

    A second array `ids` of one dimension and the same length gives the ids.
    """
    import zipfile

    with _parsing("the .npz archive"), zipfile.ZipFile(source.file or Path()) as archive:
        # Python looks for the end of an archive alone, and passes over what stands before its first
        # member.
        if source.packed(4) != b"PK\x03\x04":
            raise zipfile.BadZipFile("its first bytes are others")
        members = {
            name.removesuffix(".npy"): name for name in archive.namelist() if name.endswith(".npy")
        }
        if not members:
            pickled = any(name.endswith("data.pkl") for name in archive.namelist())
            content = (
                "a PyTorch checkpoint, which is pickled and never opened"
                if pickled
                else "a zip archive"
            )
            raise BadInput(f"{content}; save the vectors with numpy.save or as safetensors.")
        shapes = {name: _in_archive(archive, member, None) for name, member in members.items()}
        id_names = ("ids", "id", "keys", "names")
        return _choose_embeddings(
            shapes,
            lambda name: _in_archive(archive, members[name], read_npy),
            source,
            request,
            ids=id_names,
        )


@contextmanager
def _parsing(file_kind: str) -> Generator[None]:
    """Raises BadInput for whatever a library raises that reads a damaged file."""
    try:
        yield
    except (RankwellError, MemoryError):
        raise
    except Exception as error:
        reason = str(error).partition("\n")[0][:120] or type(error).__name__
        raise BadInput(
            f"{file_kind} is damaged, ends early or cannot be unpacked ({reason}); write it again."
        ) from error


def _in_archive(archive: Any, member: str, read: Callable[[Any], Any] | None) -> Any:
    """An array in an archive, or its shape without `read`. Raises BadInput naming the array."""
    info = archive.getinfo(member)
    try:
        refuse_bomb(info.file_size, info.compress_size)
        with archive.open(info) as stream:
            if read is not None:
                return read(stream)
            shape, _, kind = npy_header(stream)
            if stream.tell() + refuse_size(shape, kind) != info.file_size:
                raise BadInput(
                    f"{shown(shape)} {kind.name} do not fill its {info.file_size} bytes; "
                    "write it again."
                )
            return shape
    except BadInput as error:
        raise BadInput(f"array {member.removesuffix('.npy')!r}: {error}") from error


_DISTANCES = {"cosine": "angular", "l2": "euclidean", "dot": "dot"}


def _h5py() -> Any:
    with needing("HDF5 needs h5py: pip install 'rankwell[formats]'."):
        import h5py
    return h5py


_HDF5 = b"\x89HDF\r\n\x1a\n"


@_tables("hdf5", (".hdf5", ".h5"), magic=_HDF5)
def read_hdf5(source: Source, request: Request) -> Embeddings:
    """The named data set, or the only one of two dimensions; ann-benchmarks' `neighbors` and
    `distances` do not count.

    A second data set `ids` of one dimension and the same length gives the ids. Raises MissingExtra
    without h5py.
    """
    h5py = _h5py()
    path = source.file or Path()
    with _parsing("the HDF5 file"), h5py.File(path, "r") as file:
        data_sets: dict[str, Any] = {}
        file.visititems(
            lambda name, entry: (
                data_sets.update({name: entry}) if isinstance(entry, h5py.Dataset) else None
            )
        )
        if odd := next(
            (name for name in ("ids", "id") if name in file and name not in data_sets), None
        ):
            raise BadInput(f"{odd!r} is not a data set; write the ids as one, or rename it.")
        shapes = {
            name: tuple(entry.shape or ())
            for name, entry in data_sets.items()
            if name.rpartition("/")[2] not in ("neighbors", "distances") or name == request.part
        }
        return _choose_embeddings(
            shapes, lambda name: _hdf5_array(path, data_sets[name]), source, request
        )


def _neighbours(source: Source, request: Request) -> tuple[list[str], list[str], Ints]:
    """Queries, items and ranks of the lists of ann-benchmarks, named by position. A part is their
    data set or their length.
    """
    h5py = _h5py()
    with _parsing("the HDF5 file"), h5py.File(source.file or Path(), "r") as file:
        if "neighbors" not in file or not isinstance(file["neighbors"], h5py.Dataset):
            raise BadInput(
                f"no data set 'neighbors'; found are {', '.join(file) or 'none'}. Expected a "
                "file in the format of ann-benchmarks."
            )
        neighbours = _hdf5_array(source.file or Path(), file["neighbors"])
        if neighbours.ndim != 2 or neighbours.dtype.kind not in "iu":
            raise BadInput(
                f"'neighbors' has the shape {neighbours.shape} of {neighbours.dtype}; expected "
                "integers, (queries, neighbours)."
            )
        part = "" if request.part == "neighbors" else request.part
        if part and not (part.isdecimal() and 0 < int(part) <= neighbours.shape[1]):
            raise BadInput(
                f"{part!r}: expected a number of first neighbours, from 1 to {neighbours.shape[1]}."
            )
        near = np.array(neighbours[:, : int(part or neighbours.shape[1])], dtype=np.int64)
    if near.min(initial=0) < -1:
        raise BadInput(
            f"'neighbors' has the position {near.min()}; expected positions from 0, and -1 "
            "after the end of a list."
        )
    rows, ranks = np.nonzero(near >= 0)
    return list(map(str, rows.tolist())), list(map(str, near[rows, ranks].tolist())), ranks + 1


@file_format("hdf5", "judgments", magic=_HDF5, has_parts=True, presumed=True)
def read_true_neighbours(source: Source, request: Request) -> Judgments:
    """Each query's nearest neighbours in ann-benchmarks' HDF5 (`neighbors`), all relevant, for
    recall; ids are positions.

    `truth.hdf5:10` takes the first 10 of each. Raises MissingExtra without h5py.
    """
    queries, items, _ = _neighbours(source, request)
    return Judgments.from_rows(queries, items, np.ones(len(items)))


@file_format("hdf5", "run", magic=_HDF5, has_parts=True)
def read_neighbour_run(source: Source, request: Request) -> Ranking:
    """The lists of neighbours in ann-benchmarks' HDF5 as a run; the score is the rank with its sign
    turned.
    """
    queries, items, ranks = _neighbours(source, request)
    return request.ranking(queries, items, (-ranks).tolist())


def _hdf5_array(path: Path, data: Any) -> NDArray[Any]:
    """The numbers in place, or a copy of what is kept in chunks or compressed. Raises BadInput for
    numbers in other files.
    """
    kind: np.dtype[Any] = data.dtype
    if data.external or data.is_virtual:
        raise BadInput(
            f"the data set {data.name!r} is in other files; name those, or copy it with h5repack."
        )
    offset = data.id.get_offset()
    stored = data.id.get_type()
    if offset is None or kind.hasobject or not stored.equal(_h5py().h5t.py_create(kind)):
        refuse_bomb(refuse_size(data.shape, kind), data.id.get_storage_size())
        return np.asarray(data[:])
    return map_array(path, kind, data.shape, offset=int(offset), last=False)


def write_ground_truth(
    path: Path,
    blocks: Iterable[tuple[slice, Ints, Floats]],
    shape: tuple[int, int],
    metric: str,
    *,
    n_items: int,
) -> None:
    """Writes lists of nearest neighbours in the HDF5 form of ann-benchmarks (`neighbors`,
    `distances`), whole or not at all.

    blocks: ranges of queries with their positions, rows of the base, -1 where fewer than k remain,
    and scores, higher is nearer, NaN there; one is held at a time. shape: number of queries, and k.
    metric: `cosine`, `l2` (scores are negative distances) or `dot`. `distances` are 1 - cosine, the
    distance, or the negative product, in single precision as in ann-benchmarks; `scores` are
    unchanged.
    Raises MissingExtra without h5py.
    """
    h5py = _h5py()
    with replacing(path) as draft, h5py.File(draft, "w", track_order=True) as file:
        file.attrs["distance"] = _DISTANCES[metric]
        kinds = {
            "neighbors": np.int32 if n_items <= 2**31 else np.int64,
            "distances": np.float32,
            "scores": np.float64,
        }
        tables = [file.create_dataset(name, shape, dtype=kind) for name, kind in kinds.items()]
        for rows, positions, scores in blocks:
            distances = 1 - scores if metric == "cosine" else 0.0 - scores
            for table, block in zip(tables, (positions, distances, scores), strict=True):
                table[rows] = block.astype(table.dtype)


_KINDS = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|b1",
}


def _sniff_safetensors(head: Head) -> float:
    if len(head.raw) < 9 or head.raw[8:9] != b"{" or head.path is None:
        return 0.0
    return 0.9 if 8 + struct.unpack("<Q", head.raw[:8])[0] <= head.path.stat().st_size else 0.0


@_tables("safetensors", (".safetensors",), sniff=_sniff_safetensors)
def read_safetensors(source: Source, request: Request) -> Embeddings:
    """The tensor that is named, alone in having two dimensions, or the one with a usual name;
    bfloat16 is read as float32.

    A second tensor `ids` of one dimension and the same length gives integer ids; the metadata may
    hold them as JSON list.
    """
    path = source.file or Path()
    header, begin = _safetensors_header(path)
    metadata = header.pop("__metadata__", {})
    try:
        shapes = {name: _lengths(entry["shape"]) for name, entry in header.items()}
        for name, entry in header.items():
            code, (start, stop) = entry["dtype"], _lengths(entry["data_offsets"])
            # Those of kinds that are not read may have any size.
            if code in _KINDS and stop - start != refuse_size(shapes[name], np.dtype(_KINDS[code])):
                raise BadInput(
                    f"the safetensors header gives {stop - start} bytes to {shapes[name]} {code}; "
                    "write the file again."
                )
        spans = sorted(_lengths(entry["data_offsets"]) for entry in header.values())
        if [0, *(stop for _, stop in spans)] != [
            *(start for start, _ in spans),
            path.stat().st_size - begin,
        ]:
            raise BadInput(
                "the tensors do not cover the safetensors file one after the other; write the "
                "file again."
            )
        table = _choose_embeddings(
            shapes, lambda name: _tensor(path, header[name], begin), source, request
        )
        if table.ids is None and isinstance(metadata, dict) and "ids" in metadata:
            return Embeddings(
                item_ids(parse_json(metadata["ids"], "the metadata 'ids'", "a list of ids")),
                table.vectors,
            )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadInput(
            f"the safetensors header is malformed ({shown(error, 80)}); write the file again."
        ) from error
    return table


def _safetensors_header(path: Path) -> tuple[dict[str, Any], int]:
    """The header, and the beginning of the numbers."""
    with path.open("rb") as stream:
        raw = stream.read(8)
        length = struct.unpack("<Q", raw)[0] if len(raw) == 8 else 0
        if not 2 <= length <= path.stat().st_size - 8:
            raise BadInput("the safetensors header ends early; fetch or write the file again.")
        content = stream.read(length)
    try:
        header = parse_json(
            content.decode("utf-8"), "the safetensors header", "a JSON object", pairs=unique_keys
        )
    except UnicodeDecodeError as error:
        raise BadInput(
            f"the safetensors header is not UTF-8 ({error.reason}); fetch or write the file again."
        ) from error
    if not isinstance(header, dict):
        raise BadInput(
            "the safetensors header is not a JSON object; fetch or write the file again."
        )
    return header, 8 + length


def _tensor(path: Path, entry: Any, begin: int) -> NDArray[Any]:
    code, shape = entry["dtype"], _lengths(entry["shape"])
    if code not in _KINDS:
        raise BadInput(f"the dtype {shown(code)} cannot be read; convert the tensor to float32.")
    kind, start = np.dtype(_KINDS[code]), entry["data_offsets"][0]
    mapped = map_array(path, kind, shape, offset=begin + start, last=False)
    if code != "BF16":
        return mapped
    # The upper halves of float32.
    widened = np.zeros(shape, dtype=np.float32)
    for rows in row_blocks(len(mapped), math.prod(shape[1:])):
        widened[rows] = (mapped[rows].astype(np.uint32) << np.uint32(16)).view(np.float32)
    return widened


def _lengths(values: Any) -> tuple[int, ...]:
    """Lengths or offsets. Raises ValueError for anything but a list of natural numbers."""
    if not isinstance(values, list) or not all(
        type(length) is int and length >= 0 for length in values
    ):
        raise ValueError(f"{shown(values)}; expected a list of natural numbers")
    return tuple(values)


_INDEX, _DIMENSION = "index.json", "dimension"


def _sniff_cache(head: Head) -> float:
    if head.address or head.path is None or head.raw.startswith(MAGIC):
        return 0.0
    return 0.9 if all((head.path.parent / name).is_file() for name in (_INDEX, _DIMENSION)) else 0.0


@file_format("mteb-cache", "embeddings", sniff=_sniff_cache)
def read_cache(source: Source, request: Request) -> Embeddings:  # noqa: ARG001 - one array has no options
    """The vectors of the texts in the index of MTEB's cache, by their hashes: float32 numbers
    without any header.

    The file grows by doubling, so that rows without an id may follow the last one. Source: mteb
    2.20, `NumpyCache`.
    """
    path = source.file or Path()
    text = Source(path.parent / _DIMENSION).head(64).decode("utf-8", "replace").strip()
    if not text.isascii() or not text.isdigit() or len(text) > 9 or int(text) < 1:
        raise BadInput(
            f"{path.parent / _DIMENSION}: {shown(text)}; expected the dimension, a positive "
            "integer."
        )
    rows = read_json(Source(path.parent / _INDEX), "a JSON object hash -> row")
    if not isinstance(rows, dict) or not all(type(row) is int for row in rows.values()):
        raise BadInput(f"{path.parent / _INDEX}: expected a JSON object hash -> row.")
    size, dimension = path.stat().st_size, int(text)
    if size % (4 * dimension):
        raise BadInput(
            f"vectors of {dimension} float32 need {4 * dimension} bytes each, the file has "
            f"{size}; does it end early?"
        )
    names = sorted(rows, key=rows.__getitem__)
    if [rows[name] for name in names] != list(range(len(names))):
        raise BadInput(
            f"{_INDEX} does not number its {len(names)} texts from 0 without gaps; make the "
            "cache again."
        )
    vectors = map_array(path, np.dtype("<f4"), (len(names), dimension), last=False)
    return Embeddings(names, vectors)


_ONE_HEADER = {
    "fbin": ("<f4", (".fbin",)),
    "hbin": ("<f2", (".hbin", ".f16bin")),
    "u8bin": ("|u1", (".u8bin",)),
    "i8bin": ("|i1", (".i8bin",)),
    "ibin": ("<i4", (".ibin",)),
}
_HEADER_EACH = {
    "fvecs": ("<f4", (".fvecs",)),
    "bvecs": ("|u1", (".bvecs",)),
    "ivecs": ("<i4", (".ivecs",)),
}
_HEADER = 1 << 10


def _bin_layout(raw: bytes, size: int, kind: np.dtype[Any]) -> ArrayLayout:
    """One header: rows and dimension as two uint32, or as two uint64 (cuVS); the file's size
    decides which.
    """
    headers = [
        struct.unpack_from(form, raw)
        for form in ("<II", "<QQ")
        if len(raw) >= struct.calcsize(form)
    ]
    for offset, (rows, dimension) in zip((8, 16), headers, strict=False):
        if size == offset + rows * dimension * kind.itemsize:
            if not rows * dimension:
                raise BadInput(
                    f"its header says {rows} vectors of {dimension} numbers; expected at "
                    "least one of each."
                )
            return ArrayLayout(kind, (rows, dimension), offset)
    if not headers:
        raise BadInput(
            f"{size} bytes are too few for a header; expected two counts, rows and dimension, "
            "then the numbers."
        )
    rows, dimension = headers[0]
    problem = (
        f"its header says {rows} vectors of {dimension} {kind.name}, "
        f"{8 + rows * dimension * kind.itemsize} bytes"
    )
    long = (
        "" if len(headers) == 1 else f" (read as 64-bit counts: {headers[1][0]} of {headers[1][1]})"
    )
    raise BadInput(
        f"{problem}{long}; the file has {size}. Does it end early, or does its suffix name the "
        "wrong kind of number?"
    )


def _vecs_layout(raw: bytes, size: int, kind: np.dtype[Any]) -> ArrayLayout:
    """Records of a dimension, an int32, and the vector."""
    raw = raw[:4]
    dimension = struct.unpack("<i", raw)[0] if len(raw) == 4 else 0
    if dimension < 1:
        raise BadInput(
            f"it begins with {raw!r}; expected the dimension of the first vector, an int32 from 1."
        )
    width = 4 + dimension * kind.itemsize
    if size % width or width >= 1 << 31:  # NumPy's records are shorter
        raise BadInput(
            f"vectors of {dimension} {kind.name} need {width} bytes each, the file has {size}, "
            "which is not a multiple; does it end early, or does its suffix name the wrong kind of "
            "number?"
        )
    return ArrayLayout(
        np.dtype([("dimension", "<i4"), ("vector", kind, (dimension,))]), (size // width,), 0
    )


def _vectors_of_rows(layout_rows: NDArray[Any], first: int = 0) -> Vectors:
    """The vectors in rows of a layout. first: the number of the first row. Raises BadInput for a
    record of another dimension.
    """
    if layout_rows.dtype.names is None:
        return as_real(layout_rows)
    dimension = layout_rows["vector"].shape[1]
    if (row := first_true(layout_rows["dimension"] != dimension)) >= 0:
        raise BadInput(
            f"row {first + row} has the dimension {int(layout_rows['dimension'][row])}, row 0 has "
            f"{dimension}; vectors have one length."
        )
    return as_real(layout_rows["vector"])


_LAYOUTS = {
    suffix: partial(layout, kind=np.dtype(kind))
    for forms, layout in ((_ONE_HEADER, _bin_layout), (_HEADER_EACH, _vecs_layout))
    for kind, suffixes in forms.values()
    for suffix in suffixes
}


def _read_flat(source: Source, request: Request, *, suffix: str) -> Embeddings:  # noqa: ARG001 - one array has no options
    path = source.file or Path()
    return Embeddings(
        None,
        _vectors_of_rows(
            map_layout(path, _LAYOUTS[suffix](source.packed(16), path.stat().st_size))
        ),
    )


for _name, (_, _suffixes) in (_ONE_HEADER | _HEADER_EACH).items():
    # Flat files have no magic number: the suffix determines the kind of number, and the size
    # confirms the header.
    file_format(
        _name,
        "embeddings",
        sniff=lambda head, ends=_suffixes: 0.95 * head.name.lower().endswith(ends),
        suffixes=_suffixes,
    )(partial(_read_flat, suffix=_suffixes[0]))


def vectors_layout(name: str, stream: IO[bytes], size: int) -> ArrayLayout | None:
    """The layout of a file, `.npy` or flat; None for one of another kind."""
    raw = stream.read(16)
    if raw.startswith(MAGIC):
        stream.seek(0)
        return npy_layout(stream)
    suffix = next(
        (known_suffix for known_suffix in _LAYOUTS if name.lower().endswith(known_suffix)), None
    )
    return None if suffix is None else _LAYOUTS[suffix](raw, size)


class RemoteVectors:
    """The vectors of an object, `.npy` or a flat file, of which only the requested rows are read,
    by ranges.

    Raises BadInput for a damaged one, and for one that can only be read whole.
    """

    def __init__(self, url: str) -> None:
        self._remote_object = remote_object = existing(url)
        with naming(url):
            layout = vectors_layout(
                url, io.BufferedReader(RangeStream(remote_object), _HEADER), remote_object.size
            )
            if layout is None or (
                layout.is_fortran and len(layout.shape) == 2 and layout.shape[1] != 1
            ):
                raise BadInput(
                    f"{url} can only be read whole; save its vectors as .npy, row by row, to "
                    "work on it in parts."
                )
            layout.refuse_other_size(remote_object.size)
            # Whatever an array of such a kind and shape is refused for.
            empty = Embeddings(
                None, _vectors_of_rows(np.empty((0, *layout.shape[1:]), dtype=layout.kind))
            ).vectors
        self._layout, self.dtype = layout, empty.dtype
        self.shape = (layout.shape[0], empty.shape[1])

    def read(self, start: int, stop: int) -> Vectors:
        """The vectors of some rows, in memory. Raises BadInput as `remote.read_range`."""
        kind, shape, offset, _ = self._layout
        rows = np.empty((stop - start, *shape[1:]), dtype=kind)
        width = kind.itemsize * math.prod(shape[1:])
        filled = rows.reshape(-1).view(np.uint8) if rows.size else rows
        at = 0
        for piece in read_pieces(
            self._remote_object, offset + start * width, offset + stop * width
        ):
            filled[at : at + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
            at += len(piece)
        with naming(self._remote_object.url):
            return np.ascontiguousarray(_vectors_of_rows(rows, start))
