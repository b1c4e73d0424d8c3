"""Parts of files on the Hugging Face Hub: read by ranges through its file system, each as the plan
has seen it.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import rankwell
from hub import Hub, hub
from rankwell.cli import main
from rankwell.errors import BadInput, BadUsage, Unfinished
from rankwell.runtime.parts.execution import compute_part
from rankwell.store import remote
from rankwell.vectors.neighbours import TopK
from vector_files import fbin, fvecs, npy

VECTORS = np.random.default_rng(7).integers(1, 5, size=(4000, 8)).astype(np.float32)
VECTORS[3000:] = VECTORS[:1000]


@pytest.fixture
def data(monkeypatch: pytest.MonkeyPatch):
    with hub(monkeypatch) as found:
        yield found


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    np.save(tmp_path / "queries.npy", VECTORS[::200] + np.float32(0.5))
    return tmp_path / "queries.npy"


def parquet(vectors, folder: Path) -> bytes:
    """Row groups of 2,048 rows."""
    import duckdb

    np.savetxt(folder / "vectors.csv", vectors, delimiter=",", fmt="%.9g")
    with duckdb.connect() as session:
        columns = ", ".join(f"column{number}" for number in range(vectors.shape[1]))
        table = f"read_csv('{folder}/vectors.csv', header=false)"
        session.execute(
            f"CREATE TABLE v AS SELECT [{columns}]::FLOAT[{vectors.shape[1]}] AS vector FROM "
            f"{table}"
        )
        session.execute(
            f"COPY v TO '{folder}/v.parquet' (FORMAT parquet, ROW_GROUP_SIZE 2048, "
            "COMPRESSION uncompressed)"
        )
    return (folder / "v.parquet").read_bytes()


def search(base, queries: Path, **options) -> TopK:
    return rankwell.knn(
        queries=str(queries), items=base, **{"neighbours": 20, "metric": "dot", **options}
    )


def bytes_of(found: TopK) -> bytes:
    return found.positions.tobytes() + found.scores.tobytes()


@pytest.fixture
def expected(queries: Path) -> bytes:
    return bytes_of(
        rankwell.knn(queries=np.load(queries), items=VECTORS, neighbours=20, metric="dot")
    )


@pytest.mark.parametrize(
    ("suffix", "write"),
    [
        ("npy", npy),
        pytest.param("fbin", fbin, marks=pytest.mark.slow),
        pytest.param("fvecs", fvecs, marks=pytest.mark.slow),
    ],
)
def test_parts_read_a_header_and_their_rows(
    data: Hub, queries: Path, expected: bytes, tmp_path: Path, suffix: str, write
):
    place = data.put(f"deep/base.{suffix}", write(VECTORS))
    with pytest.raises(Unfinished):
        search(place, queries, executor="array", shards=4, work=str(tmp_path / "work"))
    data.reads.clear()

    for index in range(4):
        remote.forget()
        compute_part(tmp_path / "work", index)

    assert data.bytes_read(f"deep/base.{suffix}") <= len(write(VECTORS)) + 4 * 1024
    assert max(size for _, size in data.reads) <= len(write(VECTORS)) // 4
    assert (
        bytes_of(search(place, queries, executor="array", shards=4, work=str(tmp_path / "work")))
        == expected
    )


@pytest.mark.slow
def test_row_groups_are_read_by_the_parts_that_need_them(data: Hub, queries: Path, tmp_path: Path):
    pytest.importorskip("duckdb")
    pytest.importorskip("fsspec")
    vectors = np.random.default_rng(3).normal(size=(4000, 8)).astype(np.float32)
    content = parquet(vectors, tmp_path)
    place = data.put("base.parquet", content)

    found = search(place, queries, shards=2, executor="here")

    assert bytes_of(found) == bytes_of(
        rankwell.knn(queries=np.load(queries), items=vectors, neighbours=20, metric="dot")
    )
    assert max(size for _, size in data.reads) < 0.6 * len(content)


@pytest.mark.slow
def test_a_folder_of_shards_is_searched_by_processes(data: Hub, queries: Path, expected: bytes):
    for name, rows in {
        "part-1": slice(0, 1700),
        "part-10": slice(1700, 1700),
        "part-2": slice(1700, 4000),
    }.items():
        place = data.put(f"gallery/{name}.npy", npy(VECTORS[rows])).rpartition("/")[0]

    assert bytes_of(search(place, queries, shards=4, executor="processes:2")) == expected
    assert [each.url for each in remote.objects_in(place).values()] == [
        f"{place}/part-{number}.npy" for number in (1, 10, 2)
    ]


def test_a_file_of_the_same_size_that_changes_after_the_plan_is_an_error(
    data: Hub, queries: Path, tmp_path: Path
):
    place, options = (
        data.put("base.npy", npy(VECTORS)),
        {"shards": 2, "executor": "array", "work": str(tmp_path / "work")},
    )
    with pytest.raises(Unfinished):
        search(place, queries, **options)
    data.put("base.npy", npy(VECTORS + 1))

    for _ in range(2):
        with pytest.raises(
            BadInput,
            match=r"hf://datasets/owner/name/base\.npy has changed since the plan was written; "
            r"restore",
        ):
            compute_part(tmp_path / "work", 1)
        with pytest.raises(
            (BadUsage, BadInput),
            match=r"base\.npy(: there is no such object| has changed \(ETag \w+ then, \w+ now\))",
        ):
            search(place, queries, **options)
        data.files.clear()
    assert json.loads((tmp_path / "work" / "plan.json").read_text())["inputs"]["base"].keys() == {
        "path",
        "bytes",
        "etag",
    }


@pytest.mark.parametrize(
    ("place", "status", "message"),
    [
        (
            "hf://datasets/owner/name/none.npy",
            200,
            "there is no such object; list what is there, and name one",
        ),
        (
            "hf://datasets/owner/other/base.npy",
            200,
            "there is no such repository or revision, or it is private; check the address",
        ),
        (
            "hf://datasets/owner/name@v9/base.npy",
            200,
            "there is no such repository or revision, or it is private",
        ),
        ("hf://owner", 200, "expected hf://datasets/OWNER/NAME/FILE"),
        (
            "hf://datasets/owner/name/base.npy",
            403,
            "access is refused; check the token in the environment (HF_TOKEN)",
        ),
    ],
)
def test_what_cannot_be_read_is_one_sentence(
    data: Hub,
    queries: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    place: str,
    status: int,
    message: str,
):
    data.put("base.npy", npy(VECTORS))
    data.status = status
    output, work = queries.with_name("found.run"), queries.with_name("work")
    monkeypatch.setattr(
        "sys.argv", ["rankwell", "knn", place, str(queries), "-o", str(output), "--work", str(work)]
    )

    assert main() == 2

    error = capsys.readouterr().err
    assert f"{place}: {message}" in error
    assert len(error.splitlines()) == 1
    assert not output.exists()
    assert not work.exists()


def test_a_work_folder_on_the_hub_is_refused(data: Hub, queries: Path):
    with pytest.raises(
        BadUsage,
        match=r"work='hf://datasets/owner/name/work': the Hugging Face Hub is only read; name a "
        r"folder",
    ):
        search(str(queries), queries, work="hf://datasets/owner/name/work")
