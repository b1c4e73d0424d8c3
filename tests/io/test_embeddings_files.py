"""Embeddings from files and arrays: every format by its real writer, ids from everywhere, one clear
line for everything wrong.
"""

import json
import pickle
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rankwell.errors import BadInput, BadScore, DuplicateItem, UnknownName
from rankwell.io.formats import read_column
from rankwell.io.matrices import read_embeddings

ROWS, DIMENSION = 7, 5
VECTORS = np.random.default_rng(3).normal(size=(ROWS, DIMENSION)).astype(np.float32)
WHOLE = np.random.default_rng(4).integers(-128, 128, size=(ROWS, DIMENSION)).astype(np.int8)
IDS = ["b", "a", "Ω", "7", "with space", "x,y", "z"]


def write_npy(path: Path, vectors: np.ndarray) -> None:
    np.save(path, vectors)


def write_npz(path: Path, vectors: np.ndarray) -> None:
    np.savez(path, vectors)


def write_npz_compressed(path: Path, vectors: np.ndarray) -> None:
    np.savez_compressed(path, some=vectors)


def write_bin(path: Path, vectors: np.ndarray) -> None:
    path.write_bytes(struct.pack("<II", *vectors.shape) + vectors.tobytes())


def write_long_bin(path: Path, vectors: np.ndarray) -> None:
    path.write_bytes(struct.pack("<QQ", *vectors.shape) + vectors.tobytes())


def write_vecs(path: Path, vectors: np.ndarray) -> None:
    path.write_bytes(
        b"".join(struct.pack("<i", vectors.shape[1]) + row.tobytes() for row in vectors)
    )


def write_mteb(path: Path, vectors: np.ndarray) -> None:
    """As mteb 2.20 does: room for more rows than there are, then the index and the dimension."""
    room = np.memmap(path, dtype="float32", mode="w+", shape=(100, vectors.shape[1]))
    room[: len(vectors)] = vectors
    room.flush()
    (path.parent / "index.json").write_text(
        json.dumps({f"hash{row}": row for row in range(len(vectors))}, indent=2)
    )
    (path.parent / "dimension").write_text(str(vectors.shape[1]))


def write_safetensors(path: Path, vectors: np.ndarray) -> None:
    pytest.importorskip("safetensors.numpy").save_file({"embeddings": vectors}, path)


def write_hdf5(path: Path, vectors: np.ndarray) -> None:
    with pytest.importorskip("h5py").File(path, "w") as file:
        file["train"] = vectors
        file["neighbors"] = np.zeros((2, 100), dtype=np.int32)
        file["distances"] = np.zeros((2, 100), dtype=np.float32)
        file.attrs["distance"] = "angular"


def write_hdf5_compressed(path: Path, vectors: np.ndarray) -> None:
    with pytest.importorskip("h5py").File(path, "w") as file:
        file.create_dataset("deep/train", data=vectors, chunks=(2, 2), compression="gzip")


def write_parquet_list(path: Path, vectors: np.ndarray) -> None:
    pq.write_table(
        pa.table(
            {"emb": vectors.tolist() if vectors.dtype != np.float32 else pa.array(list(vectors))}
        ),
        path,
    )


def write_parquet_array(path: Path, vectors: np.ndarray) -> None:
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    pq.write_table(pa.table({"emb": column}), path, row_group_size=3)


FORMS = {
    "npy": ("e.npy", write_npy, VECTORS, True),
    "npy in Fortran order": (
        "e.npy",
        lambda path, vectors: np.save(path, np.asfortranarray(vectors)),
        VECTORS,
        True,
    ),
    "npy in float16": ("e.npy", write_npy, VECTORS.astype(np.float16), True),
    "npy in float64, big endian": ("e.npy", write_npy, VECTORS.astype(">f8"), True),
    "npy under another name": (
        "e.fbin.bak",
        lambda path, vectors: write_stream(path, vectors),
        VECTORS,
        True,
    ),
    "npz": ("e.npz", write_npz, VECTORS, False),
    "npz, compressed": ("e.npz", write_npz_compressed, VECTORS, False),
    "fbin": ("e.fbin", write_bin, VECTORS, True),
    "fbin with the long header": ("e.fbin", write_long_bin, VECTORS, True),
    "hbin": ("e.hbin", write_bin, VECTORS.astype(np.float16), True),
    "hbin with the long header": ("e.hbin", write_long_bin, VECTORS.astype(np.float16), True),
    "u8bin": ("e.u8bin", write_bin, WHOLE.view(np.uint8), True),
    "i8bin": ("e.i8bin", write_bin, WHOLE, True),
    "ibin": ("e.ibin", write_bin, WHOLE.astype(np.int32), False),
    "i8bin with the long header": ("e.i8bin", write_long_bin, WHOLE, True),
    "fvecs": ("e.fvecs", write_vecs, VECTORS, True),
    "bvecs": ("e.bvecs", write_vecs, WHOLE.view(np.uint8), True),
    "ivecs": ("e.ivecs", write_vecs, WHOLE.astype(np.int32), False),
    "mteb-cache": ("vectors.npy", write_mteb, VECTORS, True),
    "safetensors": ("e.safetensors", write_safetensors, VECTORS, True),
    "safetensors under another name": (
        "e.bin",
        write_safetensors,
        VECTORS.astype(np.float16),
        True,
    ),
    "hdf5": ("e.hdf5", write_hdf5, VECTORS, True),
    "hdf5, compressed": ("e.h5", write_hdf5_compressed, VECTORS, False),
    "parquet lists": ("e.parquet", write_parquet_list, VECTORS, False),
    "parquet lists in float64": (
        "e.parquet",
        write_parquet_list,
        VECTORS.astype(np.float64),
        False,
    ),
    "parquet arrays": ("e.parquet", write_parquet_array, VECTORS, False),
}


def write_stream(path: Path, vectors: np.ndarray) -> None:
    with path.open("wb") as stream:
        np.save(stream, vectors)


def is_mapped(array: np.ndarray) -> bool:
    while array is not None and not isinstance(array, np.memmap):
        array = getattr(array, "base", None)
    return array is not None


@pytest.mark.parametrize("form", list(FORMS))
def test_every_format_is_recognised_by_content_and_read_as_it_was_written(
    form: str, tmp_path: Path
):
    name, write, vectors, mapped = FORMS[form]
    write(tmp_path / name, vectors)

    table = read_embeddings(tmp_path / name)

    assert np.array_equal(table.vectors, vectors)
    assert table.vectors.dtype == (vectors.dtype if vectors.dtype != np.int32 else np.float64)
    assert is_mapped(table.vectors) == mapped
    assert (table.ids is None) == (form != "mteb-cache")


@pytest.mark.parametrize("form", list(FORMS))
def test_a_file_that_ends_early_is_refused_by_name(form: str, tmp_path: Path):
    name, write, vectors, _ = FORMS[form]
    path = tmp_path / name
    write(path, vectors)
    path.write_bytes(path.read_bytes()[:-3])

    with pytest.raises(BadInput, match=name) as caught:
        read_embeddings(path)
    assert "\n" not in str(caught.value)


def test_bytes_behind_an_array_are_refused(tmp_path: Path):
    with (tmp_path / "e.npy").open("wb") as stream:
        np.save(stream, VECTORS)
        np.save(stream, VECTORS)

    with pytest.raises(BadInput, match=r"e\.npy: \d+ bytes follow after 7 × 5 float32"):
        read_embeddings(tmp_path / "e.npy")


@pytest.mark.parametrize(
    ("rows", "looks_like"),
    [(0x8B1F, b"\x1f\x8b"), (0xBFBBEF, b"\xef\xbb\xbf")],
    ids=["gzip", "byte order mark"],
)
def test_a_count_of_rows_that_looks_like_a_mark_is_a_count_of_rows(
    rows: int, looks_like: bytes, tmp_path: Path
):
    vectors = np.arange(rows, dtype=np.uint32).view(np.uint8)[:rows].reshape(-1, 1)
    write_bin(tmp_path / "e.u8bin", vectors)

    assert (tmp_path / "e.u8bin").read_bytes().startswith(looks_like)
    assert np.array_equal(read_embeddings(tmp_path / "e.u8bin").vectors, vectors)


class Trap:
    """An object whose unpickling would leave a trace."""

    def __reduce__(self):
        return (print, ("a pickle was opened",))


def test_an_archive_behind_other_bytes_is_refused(tmp_path: Path):
    write_npz(tmp_path / "e.npz", VECTORS)
    (tmp_path / "e.npz").write_bytes(b"\x1f\x8b" + (tmp_path / "e.npz").read_bytes())

    with pytest.raises(BadInput, match=r"e.npz.*its first bytes are others"):
        read_embeddings(tmp_path / "e.npz", format="npz")


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_nothing_pickled_is_ever_opened(protocol: int, tmp_path: Path, capsys):
    objects = np.array([[Trap(), 1.0]], dtype=object)
    np.save(tmp_path / "e.npy", objects, allow_pickle=True)
    np.savez(tmp_path / "e.npz", objects)
    (tmp_path / "e.pkl").write_bytes(pickle.dumps(objects, protocol))

    for name in ("e.npy", "e.npz", "e.pkl"):
        with pytest.raises(BadInput, match=rf"{name}.*pickle.*never opened"):
            read_embeddings(tmp_path / name)
    assert capsys.readouterr().out == ""


def test_a_torch_checkpoint_is_refused_as_pickled(tmp_path: Path):
    torch = pytest.importorskip("torch")
    torch.save(torch.zeros(3, 2), tmp_path / "e.pt")

    with pytest.raises(BadInput, match=r"e\.pt: a PyTorch checkpoint, which is pickled"):
        read_embeddings(tmp_path / "e.pt")


def test_one_of_several_arrays_is_named_behind_a_colon(tmp_path: Path):
    np.savez(tmp_path / "e.npz", train=VECTORS, test=VECTORS[:2])

    with pytest.raises(
        BadInput,
        match=r"2 arrays with two dimensions.*'train' \(7 × 5\), 'test' \(2 × 5\).*e\.npz:train",
    ):
        read_embeddings(tmp_path / "e.npz")
    assert read_embeddings(f"{tmp_path}/e.npz:test").n == 2
    assert read_embeddings(tmp_path / "e.npz", format="npz:train").n == 7
    with pytest.raises(BadInput, match="there is no array named 'dev'"):
        read_embeddings(f"{tmp_path}/e.npz:dev")


def test_an_archive_may_hold_the_ids(tmp_path: Path):
    np.savez(tmp_path / "e.npz", embeddings=VECTORS, map=VECTORS[:, :2], ids=np.array(IDS))

    table = read_embeddings(tmp_path / "e.npz")

    assert table.ids == IDS
    assert np.array_equal(table.vectors, VECTORS)


@pytest.mark.parametrize(("ids", "said"), [(IDS[:3], "3"), ([IDS], "1 × 7"), ("a", "1")])
def test_ids_of_another_number_than_the_rows_are_an_error(tmp_path: Path, ids: object, said: str):
    np.savez(tmp_path / "e.npz", embeddings=VECTORS, ids=np.array(ids))

    with pytest.raises(
        BadInput, match=rf"e\.npz:embeddings: 'ids' has {said} ids, 'embeddings' is 7 × 5"
    ):
        read_embeddings(tmp_path / "e.npz:embeddings")


def test_tensors_of_ids_of_another_number_than_the_rows_are_an_error(tmp_path: Path):
    torch = pytest.importorskip("torch")
    save = pytest.importorskip("safetensors.torch").save_file
    save({"emb": torch.tensor(VECTORS), "ids": torch.arange(3)}, tmp_path / "e.safetensors")

    with pytest.raises(BadInput, match=r"e\.safetensors: 'ids' has 3 ids, 'emb' is 7 × 5"):
        read_embeddings(tmp_path / "e.safetensors")


def test_names_distinguish_the_two_sets_of_a_benchmark(tmp_path: Path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "glove.hdf5", "w") as file:
        file["train"], file["test"], file["ids"] = VECTORS, VECTORS[:2], IDS

    with pytest.raises(BadInput, match=r"'train' \(7 × 5\).*glove\.hdf5:t"):
        read_embeddings(tmp_path / "glove.hdf5")
    assert read_embeddings(f"{tmp_path}/glove.hdf5:train").ids == IDS
    assert read_embeddings(f"{tmp_path}/glove.hdf5:test").ids is None


def test_bfloat16_is_read_as_the_float32_that_it_means(tmp_path: Path):
    torch = pytest.importorskip("torch")
    save = pytest.importorskip("safetensors.torch").save_file
    halves = torch.tensor(VECTORS).to(torch.bfloat16)
    save(
        {"emb": halves, "other": torch.zeros(3)},
        tmp_path / "e.safetensors",
        metadata={"ids": json.dumps(IDS)},
    )

    table = read_embeddings(tmp_path / "e.safetensors")

    assert table.vectors.dtype == np.float32
    assert np.array_equal(table.vectors, halves.float().numpy())
    assert table.ids == IDS
    assert np.array_equal(read_embeddings(halves).vectors, halves.float().numpy())


def test_a_parquet_column_may_be_named_and_its_neighbour_gives_the_ids(tmp_path: Path):
    columns = {"_id": IDS, "text": IDS, "one": list(VECTORS), "two": list(-VECTORS)}
    pq.write_table(pa.table(columns), tmp_path / "e.parquet")

    with pytest.raises(
        BadInput, match=r"2 columns of lists of numbers.*'_id' \(VARCHAR\).*e\.parquet:one"
    ):
        read_embeddings(tmp_path / "e.parquet")
    table = read_embeddings(f"{tmp_path}/e.parquet:two")
    assert table.ids == IDS
    assert np.array_equal(table.vectors, -VECTORS)


def test_the_spare_rows_of_an_mteb_cache_are_not_read_and_its_folder_may_be_named(tmp_path: Path):
    write_mteb(tmp_path / "vectors.npy", VECTORS)
    (tmp_path / "index.json").write_text(json.dumps({"second": 1, "first": 0, "third": 2}))

    table = read_embeddings(tmp_path)

    assert table.ids == ["first", "second", "third"]
    assert np.array_equal(table.vectors, VECTORS[:3])


@pytest.mark.parametrize(
    ("name", "content", "wanted"),
    [
        ("dimension", "five", "'five'"),
        ("index.json", "[1]", "hash -> row"),
        ("index.json", '{"a": 0, "b": 2}', "without gaps"),
        ("index.json", json.dumps({f"h{row}": row for row in range(101)}), "ends early"),
        ("dimension", "7", "vectors of 7 float32 need 28 bytes each, the file has 2000"),
    ],
)
def test_a_damaged_mteb_cache_is_refused(name: str, content: str, wanted: str, tmp_path: Path):
    write_mteb(tmp_path / "vectors.npy", VECTORS)
    (tmp_path / name).write_text(content)

    with pytest.raises(BadInput, match=wanted):
        read_embeddings(tmp_path / "vectors.npy")


IDS_FILES = {
    "lines": ("ids.txt", "\n".join(IDS), ""),
    "lines with an end": ("ids.txt", "\r\n".join(IDS) + "\r\n", ""),
    "a JSON list": ("ids.json", json.dumps(IDS), ""),
    "a CSV column": ("items.csv", "id,n\n" + "".join(f'"{name}",1\n' for name in IDS), ""),
    "a named CSV column": (
        "items.csv",
        "n,key\n" + "".join(f'1,"{name}"\n' for name in IDS),
        ":key",
    ),
    "a TSV column": (
        "items.tsv",
        "doc_id\ttext\n" + "".join(f"{name}\tsome\n" for name in IDS),
        "",
    ),
    "JSON lines": (
        "corpus.jsonl",
        "".join(json.dumps({"_id": name, "text": "t"}) + "\n" for name in IDS),
        "",
    ),
}


@pytest.mark.parametrize("form", list(IDS_FILES))
def test_ids_come_from_any_file_of_text(form: str, tmp_path: Path):
    name, content, part = IDS_FILES[form]
    (tmp_path / name).write_bytes(content.encode())

    assert read_embeddings(VECTORS, ids=f"{tmp_path / name}{part}").ids == IDS


def test_ids_come_from_a_parquet_column_integers_as_text(tmp_path: Path):
    pq.write_table(pa.table({"n": range(10, 17), "id": IDS}), tmp_path / "items.parquet")

    assert read_embeddings(VECTORS, ids=tmp_path / "items.parquet").ids == IDS
    assert read_embeddings(VECTORS, ids=f"{tmp_path}/items.parquet:n").ids == [
        str(n) for n in range(10, 17)
    ]


def test_ids_may_be_any_sequence():
    assert read_embeddings(VECTORS, ids=IDS).ids == IDS
    assert read_embeddings(VECTORS, ids=np.arange(ROWS)).ids == list("0123456")
    assert read_embeddings(VECTORS, ids=np.array(IDS)).ids == IDS


def test_ids_beside_are_taken_without_asking_and_left_when_asked(tmp_path: Path):
    np.save(tmp_path / "base.npy", VECTORS)
    (tmp_path / "base.ids.txt").write_text("\n".join(IDS))

    assert read_embeddings(tmp_path / "base.npy").ids == IDS
    assert read_embeddings(tmp_path / "base.npy", ids=False).ids is None
    assert read_embeddings(tmp_path / "base.npy", ids=list("abcdefg")).ids == list("abcdefg")


@pytest.mark.parametrize(
    ("ids", "error", "wanted"),
    [
        ("a\nb\n", BadInput, "2 ids for 7 vectors"),
        ("a\nb\nc\nd\ne\nf\na\n", DuplicateItem, "'a' appears in rows 0 and 6"),
        ("a\nb\n\nd\ne\nf\ng\n", BadInput, r"row 2 has nothing"),
    ],
)
def test_ids_that_do_not_fit_are_refused(
    ids: str, error: type[Exception], wanted: str, tmp_path: Path
):
    (tmp_path / "ids.txt").write_text(ids)
    np.save(tmp_path / "e.npy", VECTORS)

    with pytest.raises(error, match=wanted):
        read_embeddings(tmp_path / "e.npy", ids=tmp_path / "ids.txt")


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_is_refused_with_its_place(
    kind: type, value: float, tmp_path: Path
):
    wrong = VECTORS.astype(kind)
    wrong[4, 2] = wrong[6, 0] = value
    np.save(tmp_path / "e.npy", wrong)

    with pytest.raises(BadScore, match=r"e\.npy: row 4 \(id 'with space'\), column 2: -?(nan|inf)"):
        read_embeddings(tmp_path / "e.npy", ids=IDS)
    assert read_embeddings(tmp_path / "e.npy", check=False).n == ROWS


def test_large_finite_numbers_are_accepted():
    largest = np.full((3, 4), np.finfo(np.float32).max, dtype=np.float32)

    assert read_embeddings(largest).n == 3


@pytest.mark.parametrize(
    ("thing", "wanted"),
    [
        (np.zeros(3), r"shape \(3,\)"),
        (np.zeros((2, 3, 4)), r"shape \(2, 3, 4\)"),
        (np.zeros((0, 3)), "no vector in it"),
        (np.zeros((2, 2), dtype=complex), "complex128"),
        (np.zeros((2, 2), dtype=bool), "bool"),
        (np.array([["1", "2"]]), "<U1"),
        ([[1.0, 2.0], [1.0]], r"row 1 has 1 numbers, row 0 has 2"),
        ([[1.0, None]], "object"),
        ("nowhere.npy", "no such file"),
        (3.0, "cannot be read from a builtins.float"),
    ],
)
def test_anything_but_a_table_of_real_numbers_is_refused(thing: object, wanted: str):
    with pytest.raises(BadInput, match=wanted):
        read_embeddings(thing)


class Exchanged:
    """An array of another library that speaks DLPack only."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    def __dlpack__(self, **options: object) -> object:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()


def test_python_arrays_of_any_kind_are_read():
    assert np.array_equal(read_embeddings(VECTORS.tolist()).vectors, VECTORS)
    assert np.array_equal(read_embeddings(tuple(VECTORS)).vectors, VECTORS)
    assert np.array_equal(read_embeddings(Exchanged(VECTORS)).vectors, VECTORS)
    assert read_embeddings(VECTORS).vectors is VECTORS
    mapped = read_embeddings(dict(zip(IDS, VECTORS, strict=True)))
    assert mapped.ids == IDS
    assert np.array_equal(mapped.vectors, VECTORS)
    assert read_embeddings(mapped) is mapped


def test_a_tensor_that_learns_is_read():
    torch = pytest.importorskip("torch")

    assert np.array_equal(
        read_embeddings(torch.tensor(VECTORS, requires_grad=True)).vectors, VECTORS
    )


@pytest.mark.parametrize(
    ("name", "content", "wanted"),
    [
        ("e.npy", b"", "empty"),
        ("e.npy", b"\x1f\x8b\x08\0rest", "compressed with gzip"),
        ("e.txt", b"0.1 0.2\n", "no known form of embeddings; known are .*fbin.*npy"),
        ("e.fbin", b"\1\0\0\0", "4 bytes are too few for a header"),
        (
            "e.u8bin",
            struct.pack("<QQ", 2**61, 0),
            "its header says 2305843009213693952 vectors of 0 numbers",
        ),
        ("e.fvecs", b"\0\0\0\0", "the dimension of the first vector"),
        (
            "e.fvecs",
            struct.pack("<ifif", 1, 0.5, 2, 0.5),
            r"row 1 has the dimension 2, row 0 has 1",
        ),
        (
            "e.safetensors",
            struct.pack("<Q", 4) + b"{ab}" + b"\0" * 9,
            "header:1: .*at column 2; expected a JSON object",
        ),
        ("e.npy", b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f4'", "header is damaged"),
        ("e.xlsx", b"PK\x03\x04rubbish", "damaged"),
    ],
)
def test_bad_files_are_refused_in_one_line(name: str, content: bytes, wanted: str, tmp_path: Path):
    (tmp_path / name).write_bytes(content)

    with pytest.raises(BadInput, match=wanted) as caught:
        read_embeddings(tmp_path / name)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("column", "wanted"),
    [
        ([[1.0, 2.0], None], r"row 1, column 'emb': nothing"),
        (
            [[1.0, 2.0], [1.0], [3.0, 4.0]],
            r"row 1, column 'emb': 1 numbers; expected a vector of 2",
        ),
        ([[1.0, 2.0], [1.0, None]], r"row 1, column 'emb': a missing number"),
        ([1.0, 2.0], "no column of lists"),
    ],
)
def test_a_parquet_column_that_is_not_a_matrix_is_refused_with_its_row(
    column: list, wanted: str, tmp_path: Path
):
    pq.write_table(pa.table({"emb": column}), tmp_path / "e.parquet")

    with pytest.raises(BadInput, match=rf"e\.parquet.*{wanted}"):
        read_embeddings(tmp_path / "e.parquet")


def test_a_part_of_what_has_no_parts_is_refused(tmp_path: Path):
    np.save(tmp_path / "e.npy", VECTORS)
    (tmp_path / "ids.txt").write_text("\n".join(IDS))

    with pytest.raises(
        BadInput, match=r"format npy holds one thing, 'train' names nothing in it; leave :train out"
    ):
        read_embeddings(f"{tmp_path}/e.npy:train")
    with pytest.raises(BadInput, match="'key' names nothing in it"):
        read_embeddings(VECTORS, ids=f"{tmp_path}/ids.txt:key")


def test_an_unknown_format_is_refused_with_the_nearest(tmp_path: Path):
    np.save(tmp_path / "e.npy", VECTORS)

    with pytest.raises(UnknownName, match="'fbinn'; did you mean 'fbin'"):
        read_embeddings(tmp_path / "e.npy", format="fbinn")


def test_a_column_keeps_the_order_of_its_rows_and_what_is_missing(tmp_path: Path):
    (tmp_path / "t.csv").write_text("text,n\nsecond,2\n,1\nfirst,0\n")

    assert read_column(f"{tmp_path}/t.csv:text") == ["second", None, "first"]
    with pytest.raises(BadInput, match="'text', 'n'"):
        read_column(tmp_path / "t.csv")
