"""Fuzzers of binary files: arrays, tables in Parquet; read by the format's reference library in a
process of its own.
"""

import contextlib
import json
import struct
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from fuzzing import FORMATS, FUZZERS, Fuzzer, Refused, Undecided
from fuzzing.mutations import binary_file, change_text, zip_file
from fuzzing.reference import ask
from fuzzing.tables import content, drawn, read, table_of, texts_of


def _matrix(rng: Random, kind: str = "<f4") -> np.ndarray:
    shape = rng.randint(1, 5), rng.randint(1, 4)
    return (
        np.random.default_rng(rng.getrandbits(32))
        .integers(-9 if kind != "|u1" else 0, 9, shape)
        .astype(kind)
    )


# Written


def _npy(rng: Random, folder: Path) -> Path:
    path = folder / "input.npy"
    matrix = _matrix(rng, rng.choice(("<f4", "<f8", "<i4", "<f2")))
    np.save(path, np.asfortranarray(matrix) if rng.random() < 0.3 else matrix)
    return path


def _npy_column(rng: Random, folder: Path) -> Path:
    path = folder / "input.npy"
    np.save(path, _matrix(rng)[:, :1] if rng.random() < 0.5 else _matrix(rng)[:, 0])
    return path


def _with_ids(rng: Random) -> dict[str, np.ndarray]:
    matrix = _matrix(rng)
    return {"vectors": matrix} | ({"ids": np.arange(len(matrix)) + 7} if rng.random() < 0.5 else {})


def _npz(rng: Random, folder: Path) -> Path:
    path = folder / "input.npz"
    arrays: dict[str, Any] = dict(_with_ids(rng))
    (np.savez if rng.random() < 0.5 else np.savez_compressed)(path, **arrays)
    return path


def _hdf5(rng: Random, folder: Path) -> Path:
    import h5py

    path = folder / "input.hdf5"
    path.unlink(missing_ok=True)
    with h5py.File(path, "w") as file:
        for name, array in _with_ids(rng).items():
            file.create_dataset(
                name, data=array, **({"compression": "gzip"} if rng.random() < 0.3 else {})
            )
    return path


def _safetensors(rng: Random, folder: Path) -> Path:
    from safetensors.numpy import save_file

    path = folder / "input.safetensors"
    save_file(_with_ids(rng), path)
    return path


_FLAT = {"fbin": "<f4", "hbin": "<f2", "u8bin": "|u1", "i8bin": "|i1", "ibin": "<i4"}
_EACH = {"fvecs": "<f4", "bvecs": "|u1", "ivecs": "<i4"}


def _flat(name: str) -> Callable[[Random, Path], Path]:
    def _write(rng: Random, folder: Path) -> Path:
        path, matrix = folder / f"input.{name}", _matrix(rng, {**_FLAT, **_EACH}[name])
        if name in _FLAT:
            path.write_bytes(struct.pack("<II", *matrix.shape) + matrix.tobytes())
        else:
            path.write_bytes(
                b"".join(struct.pack("<i", len(row)) + row.tobytes() for row in matrix)
            )
        return path

    return _write


def _cache(rng: Random, folder: Path) -> Path:
    path, matrix = folder / "vectors.npy", _matrix(rng)
    path.write_bytes(matrix.tobytes())
    (folder / "index.json").write_text(json.dumps({f"h{row}": row for row in range(len(matrix))}))
    (folder / "dimension").write_text(str(matrix.shape[1]))
    return path


def _change_cache(rng: Random, path: Path) -> Path:
    for name in rng.sample(("index.json", "dimension", path.name), rng.randint(0, 2)):
        place = path.parent / name
        if name == path.name:
            binary_file(rng, place)
        else:
            place.write_text(
                change_text(rng, place.read_text()), encoding="utf-8", errors="surrogateescape"
            )
    return path


# Plain


def _array(found: dict[str, Any]) -> np.ndarray:
    return np.frombuffer(bytes.fromhex(found["bytes"]), dtype="<f8").reshape(found["shape"])


def _values(array: np.ndarray) -> Any:
    with np.errstate(all="ignore"):
        whole = np.where(np.isnan(array), np.nan, array.astype(np.float64)) + 0.0
    return list(array.shape), whole.tobytes()


def _plain_arrays(library: str, holds: str) -> Callable[[Path], Any]:
    def _plain(path: Path) -> Any:
        if holds == "numbers":
            whole = path.with_name("whole.npy")
            whole.write_bytes(content(path))
            path = whole
        try:
            found = ask(library, path)
        except Refused as error:
            if "unknown variant" in str(
                error
            ):  # rankwell reads files of later versions with tensors of other kinds, too
                raise Undecided("a kind of tensor") from error
            raise
        if library == "numpy" and "array" in found:
            chosen, ids = found["array"], None
        else:
            flat = [name for name, each in found.items() if len(each["shape"]) == 2]
            if len(flat) != 1 or not set(found) <= {"vectors", "ids"}:
                raise Undecided(str(list(found)))
            chosen, ids = found[flat[0]], found.get("ids")
        if chosen["kind"] not in "fiub" or (
            ids is not None and ids["shape"] != chosen["shape"][:1]
        ):
            raise Undecided("kinds and shapes")
        if ids is not None and ids["kind"] not in "iu":
            raise Undecided("ids of another kind")
        names = None if ids is None else ids["whole"]
        if holds == "numbers":
            return [each + 0.0 for each in _array(chosen).reshape(-1).tolist()]
        return names, *_values(_array(chosen))

    return _plain


def _plain_flat(path: Path, *, kind: str) -> Any:
    raw, size = path.read_bytes(), np.dtype(kind).itemsize
    for form in ("<II", "<QQ"):
        begin = struct.calcsize(form)
        if len(raw) >= begin:
            rows, width = struct.unpack(form, raw[:begin])
            if len(raw) == begin + rows * width * size:
                return None, *_values(np.frombuffer(raw[begin:], dtype=kind).reshape(rows, width))
    raise Refused("the size is another")


def _plain_each(path: Path, *, kind: str) -> Any:
    raw, rows = path.read_bytes(), list[np.ndarray]()
    while raw:
        width = struct.unpack("<i", raw[:4])[0] if len(raw) >= 4 else -1
        stop = 4 + width * np.dtype(kind).itemsize
        if width < 1 or len(raw) < stop or (rows and len(rows[0]) != width):
            raise Refused("a vector of another length")
        rows.append(np.frombuffer(raw[4:stop], dtype=kind))
        raw = raw[stop:]
    if not rows:
        raise Refused("there is none")
    return None, *_values(np.array(rows))


def _plain_cache(path: Path) -> Any:
    from fuzzing.tables import load_json

    index, width = (
        load_json((path.parent / "index.json").read_text("utf-8-sig", "replace")),
        (path.parent / "dimension").read_text("utf-8-sig", "replace").strip(),
    )
    if not isinstance(index, dict) or not width.isascii() or not width.isdigit() or not int(width):
        raise Refused("the index or the dimension")
    names = sorted(index, key=lambda name: index[name] if type(index[name]) is int else -1)
    raw = path.read_bytes()
    if [index[name] for name in names] != list(range(len(names))) or any(
        type(each) is not int for each in index.values()
    ):
        raise Refused("rows that are not numbered")
    if len(raw) % (4 * int(width)) or len(raw) < 4 * int(width) * len(names):
        raise Refused("the size is another")
    return names, *_values(
        np.frombuffer(raw, "<f4")[: len(names) * int(width)].reshape(len(names), int(width))
    )


def _read(holds: str, form: str) -> Callable[[Path], Any]:
    def _of(path: Path) -> Any:
        from rankwell.io.formats import FORMATS as KNOWN
        from rankwell.io.formats import Request
        from rankwell.store import Source

        table = KNOWN[f"{form} {holds}"].read(Source(path), Request())
        matrix = table.matrix if holds == "scores" else table.vectors
        ids = table.query_ids if holds == "scores" else table.ids
        return None if ids is None else list(ids), *_values(np.asarray(matrix))

    return _of


# Parquet


def _parquet(holds: str) -> Callable[[Random, Path], Path]:
    def _write(rng: Random, folder: Path) -> Path:
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = folder / "input.parquet"
        rows = [
            (query, item, number)
            for query, scored in drawn(rng, whole=holds == "judgments").items()
            for item, number in scored.items()
        ]
        columns: dict[str, Any] = {
            "query": [row[0] for row in rows],
            "item": [row[1] for row in rows],
            "grade" if holds == "judgments" else "score": [row[2] for row in rows],
        }
        if holds in ("texts", "column"):
            columns = {
                "id": [f"{place}{row[1]}" for place, row in enumerate(rows)],
                "text": [row[1] * 2 for row in rows],
            }
        elif holds == "numbers":
            columns = {"score": [row[2] for row in rows]}
        elif holds == "scores":
            columns = {
                "query": [f"q{place}" for place in range(len(rows))],
                **{f"v{n}": [row[2] + n for row in rows] for n in range(3)},
            }
        elif holds == "embeddings":
            columns = {
                "id": [f"x{place}" for place in range(len(rows))],
                "vector": [[row[2], 1.0, 2.0] for row in rows],
            }
        table = pa.table(columns)
        pq.write_table(
            table,
            path,
            compression=rng.choice(("none", "snappy", "zstd")),
            use_dictionary=rng.random() < 0.5,
        )
        return path

    return _write


def _change_parquet(rng: Random, path: Path) -> Path:
    """The same with a column of another type or a column more, or with other bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if rng.random() < 0.5:
        return binary_file(rng, path)
    table = pq.ParquetFile(path).read()
    place = rng.randrange(table.num_columns)
    if rng.random() < 0.7:
        kind = rng.choice(
            (
                pa.large_string(),
                pa.float32(),
                pa.int64(),
                pa.bool_(),
                pa.decimal128(9, 2),
                pa.binary(),
                pa.null(),
            )
        )
        with contextlib.suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
            table = table.set_column(
                place, table.column_names[place], table.column(place).cast(kind, safe=False)
            )
    else:
        table = table.append_column(
            rng.choice(("Score", "QUERY", "more", "", "score")), table.column(place)
        )
    pq.write_table(table, path)
    return path


def _plain_parquet(holds: str) -> Callable[[Path], Any]:
    def _plain(path: Path) -> Any:
        try:
            found = ask("pyarrow", path)
        except Refused as error:
            # DuckDB does not look at parts of a file that only pyarrow has a use for.
            raise Undecided(str(error)) from error
        names, rows = found["names"], found["rows"]
        if len({name.lower() for name in names}) < len(names) or not all(names):
            raise Undecided("names that differ in case alone, or are empty")
        if any(isinstance(cell, dict) for row in rows for cell in row):
            raise Undecided("cells of other kinds")
        if holds in ("run", "judgments"):
            return table_of(names, rows, "parquet", holds)
        if holds == "texts":
            return texts_of(names, rows)
        if holds == "column" and names[:1] == ["id"]:
            return [
                row[0] or None
                if type(row[0]) is str
                else str(row[0])
                if type(row[0]) is int
                else None
                for row in rows
            ]
        if (
            holds == "records"
            and not any(isinstance(cell, dict) for row in rows for cell in row)
            and not any(cell != cell for row in rows for cell in row)
        ):
            return [dict(zip(names, row, strict=True)) for row in rows]
        raise Undecided(holds)

    return _plain


for _name, _write, _change, _library in (
    ("npy", _npy, binary_file, "numpy"),
    ("npz", _npz, zip_file, "numpy"),
    ("hdf5", _hdf5, binary_file, "h5py"),
    ("safetensors", _safetensors, binary_file, "safetensors"),
):
    for _holds in ("embeddings", "scores"):
        FUZZERS[f"{FORMATS}: {_name} {_holds}"] = Fuzzer(
            _write, _change, _read(_holds, _name), _plain_arrays(_library, _holds)
        )
FUZZERS[f"{FORMATS}: npy numbers"] = Fuzzer(
    _npy_column, binary_file, read("numbers", "npy"), _plain_arrays("numpy", "numbers")
)
for _name, _kind in (_FLAT | _EACH).items():
    _plain = _plain_flat if _name in _FLAT else _plain_each
    FUZZERS[f"{FORMATS}: {_name} embeddings"] = Fuzzer(
        _flat(_name),
        binary_file,
        _read("embeddings", _name),
        lambda path, plain=_plain, kind=_kind: plain(path, kind=kind),
    )
FUZZERS[f"{FORMATS}: mteb-cache embeddings"] = Fuzzer(
    _cache, _change_cache, _read("embeddings", "mteb-cache"), _plain_cache
)
for _holds in ("run", "judgments", "texts", "column", "records"):
    FUZZERS[f"{FORMATS}: parquet {_holds}"] = Fuzzer(
        _parquet(_holds), _change_parquet, read(_holds, "parquet"), _plain_parquet(_holds)
    )
FUZZERS[f"{FORMATS}: parquet numbers"] = Fuzzer(
    _parquet("numbers"), _change_parquet, read("numbers", "parquet")
)
for _holds in ("scores", "embeddings"):
    FUZZERS[f"{FORMATS}: parquet {_holds}"] = Fuzzer(
        _parquet(_holds), _change_parquet, _read(_holds, "parquet")
    )
