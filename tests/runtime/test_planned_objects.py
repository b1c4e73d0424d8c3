"""Captions and models in buckets: who plans reads headers and ids, and the result is that of
files.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwell
from buckets import Bucket
from rankwell.errors import BadInput, BadScore, DuplicateItem, Unfinished
from rankwell.results import Results
from rankwell.runtime.parts.tables import ObjectEmbeddings, planned_embeddings
from rankwell.store import remote
from vector_files import fbin, fvecs, npy

VIDEOS, CAPTIONS = 600, 40
GALLERY = np.random.default_rng(3).integers(1, 5, size=(VIDEOS, 8)).astype(np.float32)
QUERIES = GALLERY[:: VIDEOS // CAPTIONS] + np.float32(0.5)
OTHER = np.random.default_rng(4).integers(1, 5, size=(VIDEOS, 5)).astype(np.float32)
HEADER = 1024


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    np.save("g.npy", GALLERY)
    np.save("q.npy", QUERIES)
    np.save("other.npy", OTHER)
    Path("positives.json").write_text(
        json.dumps([[caption * 7 % VIDEOS] for caption in range(CAPTIONS)])
    )
    return tmp_path


def ranked(queries: str, gallery: str, **options: Any) -> Results:
    given: dict[str, Any] = {"qrels": "positives.json", "intervals": "none", **options}
    return rankwell.evaluate_crossmodal(query_vectors=queries, item_vectors=gallery, **given)


def compared(reference: str, other: str, **options: Any) -> Results:
    given: dict[str, Any] = {"k": "1,5", "samples": 13, "intervals": "none", **options}
    return rankwell.evaluate_embeddings(f"big={reference}", [f"small={other}"], **given)


def values(result: Results) -> str:
    return repr([list(result.summary), list(result.per_query()), result.notes])


@pytest.mark.parametrize(("suffix", "write"), [("npy", npy), ("fbin", fbin), ("fvecs", fvecs)])
def test_a_plan_reads_the_headers_of_objects(s3: Bucket, folder: Path, suffix: str, write: Any):
    gallery, queries, other = (
        s3.put(f"{name}.{suffix}", write(vectors))
        for name, vectors in (("g", GALLERY), ("q", QUERIES), ("o", OTHER))
    )
    with pytest.raises(Unfinished):
        ranked(queries, gallery, executor="array", work="crossmodal", shards=2)
    with pytest.raises(Unfinished):
        compared(gallery, other, executor="array", work="embeddings", shards=2)

    assert len(write(GALLERY)) > 10 * HEADER
    assert all(asked is not None for _, asked, _ in s3.reads)
    assert {name for name, _, _ in s3.reads} == {f"/bucket/{name}.{suffix}" for name in "gqo"}
    assert all(s3.bytes_read(f"{name}.{suffix}") <= HEADER for name in "gqo")

    assert values(ranked(queries, gallery, work="crossmodal", shards=2)) == values(
        ranked("q.npy", "g.npy")
    )
    found, alone = (
        compared(gallery, other, work="embeddings", shards=2),
        compared("g.npy", "other.npy"),
    )
    assert values(found) == values(alone)
    assert found.panel.rows == alone.panel.rows


def test_of_parquet_a_plan_reads_ids_and_copies_vectors_without_other_columns(
    s3: Bucket, folder: Path
):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    pytest.importorskip("fsspec")
    texts = [
        "".join(map(chr, row))
        for row in np.random.default_rng(0).integers(33, 126, size=(VIDEOS, 9000))
    ]
    columns = {"id": [f"v{row}" for row in range(VIDEOS)], "text": texts}
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(GALLERY.ravel()), 8)
    parquet.write_table(
        pa.table({**columns, "embedding": vectors}), "g.parquet", compression="none"
    )
    content = Path("g.parquet").read_bytes()
    place = s3.put("g.parquet", content)
    positives = [[f"v{caption * 7}"] for caption in range(CAPTIONS)]
    Path("positives.json").write_text(
        json.dumps({str(at): each for at, each in enumerate(positives)})
    )

    found = ranked("q.npy", place, work="work", shards=2)

    assert s3.bytes_read("g.parquet") < len(content) / 2
    assert values(found) == values(ranked("q.npy", "g.parquet"))
    assert planned_embeddings(place).ids == columns["id"]


def put_ids(s3: Bucket, name: str, ids: list[str]) -> None:
    s3.put(f"{name}.ids.txt", "".join(f"{each}\n" for each in ids).encode())


def test_models_of_objects_in_another_order_are_matched_by_id(s3: Bucket, folder: Path):
    names, turned = (
        [f"v{row}" for row in range(VIDEOS)],
        np.random.default_rng(1).permutation(VIDEOS),
    )
    for name, vectors, ids in (
        ("g", GALLERY, names),
        ("o", OTHER[turned], [names[row] for row in turned]),
    ):
        s3.put(f"{name}.npy", npy(vectors))
        put_ids(s3, name, ids)
        np.save(f"{name}.npy", vectors)
        Path(f"{name}.ids.txt").write_text("".join(f"{each}\n" for each in ids))

    found = compared("s3://bucket/g.npy", "s3://bucket/o.npy", shards=2, ceiling=True)

    assert values(found) == values(compared("g.npy", "o.npy", ceiling=True))


def test_ids_of_objects_are_those_beside_them_the_given_ones_or_none(s3: Bucket, folder: Path):
    place = s3.put("g/a.npy", npy(GALLERY[:200]))
    s3.put("g/b.npy", npy(GALLERY[200:]))
    names = [f"v{row}" for row in range(VIDEOS)]
    put_ids(s3, "g/a", names[:200])
    put_ids(s3, "g/b", names[200:])
    Path("ids.txt").write_text("".join(f"w{row}\n" for row in range(VIDEOS)))

    table = planned_embeddings("s3://bucket/g/")

    assert isinstance(table, ObjectEmbeddings)
    assert (table.n, table.dimensions, table.dtype.name, table.ids) == (VIDEOS, 8, "float32", names)
    assert table.place(201) == "row 201 (id 'v201'), row 1 of s3://bucket/g/b.npy"
    assert planned_embeddings(place, ids=False).ids is None
    assert planned_embeddings("s3://bucket/g/", ids="ids.txt").ids[7] == "w7"
    assert planned_embeddings("s3://bucket/g/", ids=list(range(VIDEOS))).ids[7] == "7"
    assert not any(asked is None for name, asked, _ in s3.reads if name.endswith(".npy"))
    assert np.array_equal(table.vectors, GALLERY)


@pytest.mark.parametrize(
    ("first", "second", "error", "message"),
    [
        (
            ["v"] * 199,
            None,
            BadInput,
            r"a\.ids\.txt: 199 ids for 200 vectors; every vector has one id",
        ),
        ([f"v{row}" for row in range(201)], None, BadInput, "201 ids for 200 vectors"),
        (
            [f"v{row}" for row in range(200)],
            399,
            DuplicateItem,
            "id 'v199' appears in rows 199 and 200",
        ),
        ([*"abc", "", *map(str, range(196))], None, BadInput, "row 3 has nothing; expected an id"),
    ],
)
def test_bad_ids_of_objects_are_named(
    s3: Bucket,
    folder: Path,
    first: list[str],
    second: int | None,
    error: type[Exception],
    message: str,
):
    s3.put("g/a.npy", npy(GALLERY[:200]))
    s3.put("g/b.npy", npy(GALLERY[200:]))
    put_ids(s3, "g/a", first)
    put_ids(
        s3, "g/b", [f"v{row}" for row in range(199 if second else 1000, 599 if second else 1400)]
    )

    with pytest.raises(error, match=message):
        ranked("q.npy", "s3://bucket/g/", shards=2)


def test_a_number_of_an_object_that_is_not_finite_is_named_by_its_part(s3: Bucket, folder: Path):
    wrong = GALLERY.copy()
    wrong[431, 2] = np.nan
    place = s3.put("g.npy", npy(wrong))

    for find in (
        lambda: ranked("q.npy", place, shards=3),
        lambda: compared(place, "other.npy", shards=3),
    ):
        with pytest.raises(BadScore, match=r"s3://bucket/g\.npy, row 431: number 2 is nan"):
            find()


def test_runs_in_a_bucket_are_runs(s3: Bucket, folder: Path):
    for name in ("one", "two"):
        Path(f"{name}.run").write_text(
            "".join(f"q{query} Q0 d{(query + len(name)) % 3} 1 {query}.5 t\n" for query in range(9))
        )
        s3.put(f"{name}.run", Path(f"{name}.run").read_bytes())
    given: dict[str, Any] = {"k": "1", "intervals": "none"}

    found = rankwell.evaluate_embeddings("s3://bucket/one.run", ["s3://bucket/two.run"], **given)

    assert found.summary == rankwell.evaluate_embeddings("one.run", ["two.run"], **given).summary


def test_an_object_that_changes_behind_its_plan_is_refused(s3: Bucket, folder: Path):
    place = s3.put("g.npy", npy(GALLERY))
    table = planned_embeddings(place)
    s3.put("g.npy", npy(GALLERY + 1))

    with pytest.raises(BadInput, match=r"s3://bucket/g\.npy has changed while it was read"):
        _ = table.vectors
    remote.forget()
