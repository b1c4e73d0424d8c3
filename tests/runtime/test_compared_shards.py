"""Captions and models whose vectors are folders of shards, or objects, compared in parts: the
result of one process.
"""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwell
from buckets import Bucket
from rankwell.errors import BadInput, BadScore, BadUsage, Unfinished
from rankwell.results import Results
from rankwell.runtime.parts import vectors as reading
from rankwell.runtime.parts.execution import compute_part
from rankwell.runtime.parts.vectors import VectorFiles
from rankwell.store import remote
from vector_files import npy

VIDEOS, CAPTIONS = 40, 120
CUTS = {"a": slice(0, 11), "b": slice(11, 11), "c": slice(11, 40)}


def copies(n: int, seed: int, dimensions: int = 5):
    """Small whole numbers, so that many scores tie; the last rows are exact copies of the first."""
    found = np.random.default_rng(seed).integers(1, 4, size=(n, dimensions)).astype(np.float32)
    found[-n // 8 :] = found[: len(found[-n // 8 :])]
    return found


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """`q` and `g` are files; `shards` has the rows of g."""
    np.save(tmp_path / "q.npy", copies(CAPTIONS, 1))
    np.save(tmp_path / "g.npy", copies(VIDEOS, 2))
    np.save(tmp_path / "other.npy", copies(VIDEOS, 3, 4))
    (tmp_path / "shards").mkdir()
    for name, rows in CUTS.items():
        np.save(tmp_path / "shards" / f"{name}.npy", copies(VIDEOS, 2)[rows])
    return tmp_path


def ranked(files: Path, gallery: object, **options: Any) -> Results:
    positives = json.dumps([[caption * 7 % VIDEOS] for caption in range(CAPTIONS)])
    (files / "positives.json").write_text(positives)
    given = {
        "qrels": str(files / "positives.json"),
        "direction": "t2v,v2t,v2t-videos",
        "intervals": "none",
        **options,
    }
    return rankwell.evaluate_crossmodal(
        query_vectors=str(files / "q.npy"), item_vectors=str(gallery), **given
    )


def compared(files: Path, reference: object, **options: Any) -> Results:
    return rankwell.evaluate_embeddings(
        f"big={reference}", [str(files / "other.npy")], k="1,5", intervals="none", **options
    )


def values(result: Results) -> str:
    details = {name: list(column) for name, column in (result.details or {}).items()}
    return repr([list(result.summary), list(result.per_query()), details])


def test_a_folder_of_shards_is_compared_in_place(files: Path):
    work = str(files / "work")
    found = ranked(files, files / "shards", shards=3, details=True, work=work)

    assert values(found) == values(ranked(files, files / "g.npy", details=True))
    plan = json.loads((files / "work" / "plan.json").read_text())
    assert [name for name in plan["inputs"] if name.startswith("gallery")] == [
        "gallery/a.npy",
        "gallery/b.npy",
        "gallery/c.npy",
    ]
    assert plan["boundaries"]["grids"][0]["items"] == [0, 11, 26, VIDEOS]

    os.utime(files / "shards" / "b.npy", (1, 1))
    with pytest.raises(BadUsage, match=r"b\.npy has changed"):
        ranked(files, files / "shards", shards=3, details=True, work=work)


def test_models_in_folders_of_shards_have_the_agreement_of_files(files: Path):
    found = compared(files, files / "shards", samples=13, shards=3, details=True)

    assert values(found) == values(compared(files, files / "g.npy", samples=13, details=True))
    assert values(
        compared(files, files / "shards", exclude_group=["x", "y"] * 20, shards=2)
    ) == values(compared(files, files / "g.npy", exclude_group=["x", "y"] * 20))


def test_a_bad_vector_is_named_by_its_row_in_the_whole_and_its_shard(files: Path):
    vectors = copies(VIDEOS, 2)[CUTS["c"]]
    vectors[27, 1] = np.nan
    np.save(files / "shards" / "c.npy", vectors)

    with pytest.raises(
        BadScore, match=r"item vectors, row 38, row 27 of .*shards/c\.npy: number 1 is nan"
    ):
        ranked(files, files / "shards", shards=5)


def test_shards_of_parquet_are_copied_to_the_work_folder_and_the_first_may_be_empty(files: Path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    (files / "tables").mkdir()
    for name, rows in {"0": slice(0, 0), **CUTS}.items():
        some = copies(VIDEOS, 2)[rows]
        column = pa.FixedSizeListArray.from_arrays(pa.array(some.ravel()), 5)
        parquet.write_table(pa.table({"embedding": column}), files / "tables" / f"{name}.parquet")

    found = ranked(files, files / "tables", shards=3, work=str(files / "work"))

    assert values(found) == values(ranked(files, files / "g.npy"))
    assert any(
        np.load(path).shape == (VIDEOS, 5) for path in (files / "work" / ".arrays").iterdir()
    )
    alone = rankwell.knn(queries=files / "q.npy", items=files / "g.npy", neighbours=7)
    for options in ({}, {"shards": 4}):
        searched = rankwell.knn(
            queries=str(files / "q.npy"), items=str(files / "tables"), neighbours=7, **options
        )
        assert searched.positions.tobytes() == alone.positions.tobytes()


def test_parts_read_their_rows_of_objects_by_ranges(s3: Bucket, files: Path):
    for name, rows in CUTS.items():
        s3.put(f"g/{name}.npy", content := npy(copies(VIDEOS, 2)[rows]))
    options = {"executor": "array", "shards": 2, "work": str(files / "work")}
    with pytest.raises(Unfinished):
        ranked(files, "s3://bucket/g/", **options)
    plan = json.loads((files / "work" / "plan.json").read_text())
    remote.forget()
    s3.reads.clear()

    compute_part(files / "work", 1)

    assert all(asked is not None for _, asked, _ in s3.reads)
    assert s3.bytes_read("g/c.npy") <= len(content) + 1024
    assert not s3.bytes_read("g/a.npy")
    for folder in ("work", "work/second"):
        for index in range(plan["parts"]):
            compute_part(files / folder, index)
        if folder == "work":
            with pytest.raises(Unfinished):
                ranked(files, "s3://bucket/g/", **options)
    assert values(ranked(files, "s3://bucket/g/", **options)) == values(
        ranked(files, files / "g.npy")
    )
    assert values(compared(files, "s3://bucket/g/", shards=2)) == values(
        compared(files, files / "g.npy")
    )


def test_chosen_rows_of_an_object_are_those_of_the_array(
    s3: Bucket, monkeypatch: pytest.MonkeyPatch
):
    for name, rows in CUTS.items():
        s3.put(f"g/{name}.npy", npy(copies(VIDEOS, 2)[rows]))
    monkeypatch.setattr(reading, "_NEAR", 60)
    monkeypatch.setattr(reading, "_BLOCK", 100)
    chosen = np.array([39, 3, 3, 12, 10, 11, 0, 25, 27, 38])

    found = VectorFiles("s3://bucket/g/").take(chosen)

    assert found.tolist() == copies(VIDEOS, 2)[chosen].tolist()
    assert VectorFiles("s3://bucket/g/").take(chosen[:0]).shape == (0, 5)


def test_a_folder_inside_a_folder_of_shards_is_an_error_at_both_kinds_of_places(
    s3: Bucket, files: Path
):
    for place in ("g/year=1/0.npy", "g/0.npy", "runs/year=1/0.run", "runs/0.run"):
        s3.put(place, npy(copies(VIDEOS, 2)))
    (files / "shards" / "year=1").mkdir()
    (files / "shards" / "_hidden").mkdir()
    (files / "qrels.txt").write_text("q 0 a 1\n")

    for folder in (str(files / "shards"), "s3://bucket/g/", "s3://bucket/g"):
        with pytest.raises(BadInput, match=r"/year=1/ is neither a shard of vectors"):
            rankwell.knn(queries=files / "q.npy", items=folder, neighbours=1)
    with pytest.raises(
        BadInput,
        match=r"s3://bucket/runs/year=1 is a folder; expected the files of one run in one folder",
    ):
        rankwell.evaluate(files / "qrels.txt", "s3://bucket/runs/")
