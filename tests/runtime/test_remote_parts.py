"""Parts of objects and shards: only what a part needs is read, by ranges; work folders in a bucket
are those of a disk.
"""

import io
import json
from pathlib import Path

import numpy as np
import pytest

import rankwell
from buckets import SECRET, Bucket
from rankwell.errors import BadInput, BadScore, BadUsage, DuplicateItem, Unfinished
from rankwell.runtime.parts import place_of
from rankwell.runtime.parts.execution import compute_part
from rankwell.runtime.parts.plans import WorkFolder, read_plan
from rankwell.runtime.parts.vectors import VectorFiles
from rankwell.store import remote
from rankwell.vectors.neighbours import TopK
from vector_files import fbin, fvecs, npy

VECTORS = np.random.default_rng(7).integers(1, 5, size=(4000, 8)).astype(np.float32)
VECTORS[3000:] = VECTORS[:1000]
QUERIES = VECTORS[::200] + np.float32(0.5)
SHARDS = {"part-1": slice(0, 1700), "part-10": slice(1700, 1700), "part-2": slice(1700, 4000)}


def write_shards(folder: Path, shards: dict[str, slice] = SHARDS) -> Path:
    folder.mkdir()
    for name, rows in shards.items():
        np.save(folder / f"{name}.npy", VECTORS[rows])
    return folder


def put_shards(s3: Bucket) -> str:
    for name, rows in SHARDS.items():
        s3.put(f"gallery/{name}.npy", npy(VECTORS[rows]))
    s3.put("gallery/_SUCCESS", b"")
    return "s3://bucket/gallery/"


def search(base: object, queries: object, **options) -> TopK:
    return rankwell.knn(
        queries=str(queries), items=str(base), **{"neighbours": 15, "metric": "l2", **options}
    )


def bytes_of(found: TopK) -> bytes:
    return found.positions.tobytes() + found.scores.tobytes()


EXPECTED = bytes_of(rankwell.knn(queries=QUERIES, items=VECTORS, neighbours=15, metric="l2"))


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    np.save(tmp_path / "queries.npy", QUERIES)
    return tmp_path / "queries.npy"


def test_a_folder_of_shards_is_searched_in_place(queries: Path, tmp_path: Path):
    folder = write_shards(tmp_path / "g")

    assert bytes_of(search(folder, queries, shards=7)) == EXPECTED
    assert bytes_of(
        search(
            folder, write_shards(tmp_path / "q", {"a": slice(0, 9), "b": slice(9, 20)}), shards=2
        )
    ) == bytes_of(rankwell.knn(queries=VECTORS[:20], items=VECTORS, neighbours=15, metric="l2"))


def test_shards_end_where_files_end_if_that_is_near(tmp_path: Path, queries: Path):
    search(write_shards(tmp_path / "g"), queries, shards=2, work=str(tmp_path / "work"))

    assert json.loads((tmp_path / "work" / "plan.json").read_text())["boundaries"]["items"] == [
        0,
        1700,
        4000,
    ]


@pytest.mark.parametrize(("suffix", "write"), [("npy", npy), ("fbin", fbin), ("fvecs", fvecs)])
def test_a_part_reads_its_rows_of_an_object_and_a_header(
    s3: Bucket, queries: Path, tmp_path: Path, suffix: str, write
):
    place = s3.put(f"base.{suffix}", content := write(VECTORS))
    with pytest.raises(Unfinished):
        search(place, queries, shards=4, executor="array", work=str(tmp_path / "work"))
    planned = s3.bytes_read(f"base.{suffix}")
    remote.forget()
    s3.reads.clear()

    compute_part(tmp_path / "work", 2)

    assert planned <= 1024
    assert len(content) // 4 <= s3.bytes_read(f"base.{suffix}") <= len(content) // 4 + 1024 + 16
    assert all(asked is not None for name, asked, _ in s3.reads if "base" in name)
    for index in (0, 1, 3):
        compute_part(tmp_path / "work", index)
    assert (
        bytes_of(search(place, queries, shards=4, executor="array", work=str(tmp_path / "work")))
        == EXPECTED
    )


def test_shards_in_a_bucket_are_read_once_and_no_more(s3: Bucket, queries: Path):
    place, asked = put_shards(s3), s3.put("queries.npy", npy(QUERIES))

    found = search(place, asked, shards=5, work="s3://bucket/work")

    assert bytes_of(found) == EXPECTED
    read = sum(size for name, _, size in s3.reads if name.startswith("/bucket/gallery/part-"))
    assert VECTORS.nbytes <= read <= VECTORS.nbytes + 5 * 1024
    assert all(
        asked is not None for name, asked, _ in s3.reads if name.startswith("/bucket/gallery/")
    )


@pytest.mark.slow
@pytest.mark.server
def test_a_million_queries_that_fit_the_memory_read_the_gallery_once(s3: Bucket, tmp_path: Path):
    rng = np.random.default_rng(11)
    gallery = rng.standard_normal((20_000, 8), dtype=np.float32)
    asked = rng.standard_normal((1_000_000, 8), dtype=np.float32)
    np.save(tmp_path / "queries.npy", asked)
    for shard in range(4):
        s3.put(f"gallery/{shard}.npy", npy(gallery[5000 * shard : 5000 * (shard + 1)]))
    s3.reads.clear()

    found = search(
        "s3://bucket/gallery/",
        tmp_path / "queries.npy",
        neighbours=10,
        shards=2,
        memory="4G",
        work=str(tmp_path / "work"),
    )

    read = sum(size for name, _, size in s3.reads if name.startswith("/bucket/gallery/"))
    assert gallery.nbytes <= read <= 1.05 * gallery.nbytes
    assert json.loads((tmp_path / "work" / "plan.json").read_text())["boundaries"]["queries"] == [
        0,
        1_000_000,
    ]
    some = rankwell.knn(queries=asked[::1000], items=gallery, neighbours=10, metric="l2")
    assert found.positions[::1000].tobytes() == some.positions.tobytes()
    assert found.scores[::1000].tobytes() == some.scores.tobytes()


def test_row_groups_of_parquet_are_read_by_the_parts_that_need_them(
    s3: Bucket, queries: Path, tmp_path: Path
):
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("fsspec")
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(40_000, 8)).astype(np.float32)
    np.save(tmp_path / "all.npy", vectors)
    table = "SELECT 'item-' || i AS id, v AS vector, repeat('x', 40) || i AS text FROM rows"
    with duckdb.connect() as session:
        session.register(
            "found", {"i": np.arange(40_000), **{f"c{at}": vectors[:, at] for at in range(8)}}
        )
        session.execute(
            "CREATE TABLE rows AS SELECT i, "
            f"[{', '.join(f'c{at}' for at in range(8))}]::FLOAT[] AS v FROM found"
        )
        session.execute(
            f"COPY ({table} ORDER BY i) TO '{tmp_path}/b.parquet' (ROW_GROUP_SIZE 10240)"
        )
    content = (tmp_path / "b.parquet").read_bytes()
    one, two = tmp_path / "one", tmp_path / "two"
    s3.put("g/a.parquet", content)

    expected = search(tmp_path / "all.npy", queries, shards=4, work=str(one))
    local = search(tmp_path / "b.parquet", queries, shards=4)
    found = search("s3://bucket/g/", queries, shards=4, work=str(two))

    plan = json.loads((two / "plan.json").read_text())
    assert plan["boundaries"]["items"] == [0, 10240, 20480, 30720, 40_000]
    assert bytes_of(found) == bytes_of(local) == bytes_of(expected)
    assert found.item_names[int(found.positions[0, 0])] == f"item-{found.positions[0, 0]}"
    assert all(asked is not None for name, asked, _ in s3.reads if name.endswith(".parquet"))


def test_ids_of_shards_are_checked_and_named(tmp_path: Path, queries: Path):
    folder = write_shards(tmp_path / "g")
    for name, rows in SHARDS.items():
        if rows.start < rows.stop:
            (folder / f"{name}.ids.txt").write_text(
                "".join(f"item-{row}\n" for row in range(rows.start, rows.stop))
            )
    (folder / "part-10.ids.json").write_text("[]")

    found = search(folder, queries, shards=5)
    assert [found.item_names[each] for each in found.positions[0, :3].tolist()] == [
        f"item-{each}" for each in found.positions[0, :3]
    ]

    (folder / "part-2.ids.txt").write_text("".join(f"item-{row}\n" for row in range(1699, 3999)))
    with pytest.raises(
        DuplicateItem,
        match=r"id 'item-1699' appears in .*part-1\.ids\.txt and in .*part-2\.ids\.txt",
    ):
        search(folder, queries, shards=5)
    (folder / "part-2.ids.txt").unlink()
    with pytest.raises(BadInput, match=r"part-1\.npy has ids and .*part-2\.npy none"):
        search(folder, queries, shards=5)


@pytest.mark.parametrize("excluded", [True, False])
def test_ids_and_vectors_of_a_bucket_may_exclude_the_query_itself(
    s3: Bucket, tmp_path: Path, excluded: bool
):
    place = put_shards(s3)
    for name, rows in SHARDS.items():
        s3.put(
            f"gallery/{name}.ids.json",
            json.dumps([f"{row}" for row in range(rows.start, rows.stop)]).encode(),
        )
    np.save(tmp_path / "q.npy", VECTORS[:9])
    (tmp_path / "q.ids.txt").write_text("".join(f"{row}\n" for row in range(9)))

    found = search(place, tmp_path / "q.npy", shards=4, exclude_self=excluded)

    assert (found.positions[:, 0].tolist() == list(range(9))) is not excluded
    assert found.item_names[int(found.positions[3, 1])] == str(found.positions[3, 1])


BAD_SHARDS = {
    "other dimensions": (
        VECTORS[:5, :4],
        BadInput,
        r"part-3\.npy has 4 dimensions, .*part-1\.npy 8; shards are alike",
    ),
    "other numbers": (
        VECTORS[:5].astype(np.float64),
        BadInput,
        r"part-3\.npy has float64 numbers, .*part-1\.npy float32",
    ),
    "nan": (
        np.where(np.arange(40).reshape(5, 8) == 13, np.nan, VECTORS[:5]),
        BadScore,
        r"row 4001, row 1 of .*part-3\.npy: number 5 is nan",
    ),
}


@pytest.mark.parametrize("case", BAD_SHARDS)
def test_a_bad_shard_is_named(tmp_path: Path, queries: Path, case: str):
    vectors, error, message = BAD_SHARDS[case]
    folder = write_shards(tmp_path / "g")
    np.save(
        folder / "part-3.npy", vectors if case == "other numbers" else vectors.astype(np.float32)
    )

    with pytest.raises(error, match=message):
        search(folder, queries, shards=3)


def test_an_object_that_changes_between_plan_and_part_is_an_error(
    s3: Bucket, queries: Path, tmp_path: Path
):
    place = s3.put("base.npy", npy(VECTORS))
    with pytest.raises(Unfinished):
        search(place, queries, shards=2, executor="array", work=str(tmp_path / "work"))
    plan = json.loads((tmp_path / "work" / "plan.json").read_text())
    s3.put("base.npy", npy(VECTORS + 1))

    with pytest.raises(
        BadInput, match=r"s3://bucket/base\.npy has changed since the plan was written; restore it"
    ):
        compute_part(tmp_path / "work", 1)
    with pytest.raises(BadUsage, match=r"base\.npy has changed \(ETag \w+ then, \w+ now\)"):
        search(place, queries, shards=2, executor="array", work=str(tmp_path / "work"))
    assert plan["inputs"]["base"].keys() == {"path", "bytes", "etag"}


def test_a_shard_that_is_gone_or_new_is_other_work(s3: Bucket, queries: Path, tmp_path: Path):
    place, work = put_shards(s3), str(tmp_path / "work")
    search(place, queries, shards=2, work=work)

    remote.remove("s3://bucket/gallery/part-2.npy")
    with pytest.raises(BadUsage, match=r"part-2\.npy is not an input any more"):
        search(place, queries, shards=2, work=work)
    s3.put("gallery/part-2.npy", npy(VECTORS[1700:]))
    s3.put("gallery/part-3.npy", npy(VECTORS[:1]))
    with pytest.raises(BadUsage, match=r"part-3\.npy was not an input"):
        search(place, queries, shards=2, work=work)


def test_what_can_only_be_read_whole_is_refused_by_name(s3: Bucket, queries: Path):
    stream = io.BytesIO()
    np.savez(stream, VECTORS)
    s3.put("base.npz", stream.getvalue())
    s3.put("turned.npy", npy(np.asfortranarray(VECTORS)))

    for name in ("base.npz", "turned.npy"):
        with pytest.raises(
            BadInput, match=rf"s3://bucket/{name} can only be read whole; save its vectors as \.npy"
        ):
            search(f"s3://bucket/{name}", queries, shards=2)


# Work folders in a bucket


WORK = "s3://bucket/work"


def in_bucket(queries: Path, **options) -> bytes:
    return bytes_of(
        search(queries.parent / "base.npy", queries, work=WORK, **{"shards": 3, **options})
    )


@pytest.fixture
def base(queries: Path) -> Path:
    np.save(queries.parent / "base.npy", VECTORS)
    return queries


def test_a_work_folder_in_a_bucket_has_plan_parts_and_records_and_no_credential(
    s3: Bucket, base: Path
):
    assert in_bucket(base) == EXPECTED

    place = place_of(WORK)
    names = [f"part-0000{index}.{suffix}" for index in range(3) for suffix in ("json", "npy")]
    assert sorted(place.listing()) == [*names, "plan.json"]
    assert json.loads(place.read("plan.json") or b"")["puts"] == "refused"
    written = b"".join(place.file(name).read_bytes() for name in place.listing())
    assert SECRET.encode() not in written
    assert b"id-of-the-test" not in written


def test_parts_in_a_bucket_that_are_done_are_not_computed_again_and_damaged_ones_are(
    s3: Bucket, base: Path
):
    in_bucket(base)
    place = place_of(WORK)
    tags = {name: remote.look(f"{WORK}/{name}", anew=True) for name in place.listing()}
    place.remove("part-00001.json")
    whole = place.file("part-00002.npy").read_bytes()
    place.replace("part-00002.npy", whole[:-1] + bytes([whole[-1] ^ 1]))

    assert in_bucket(base) == EXPECTED
    assert remote.look(f"{WORK}/part-00000.npy", anew=True) == tags["part-00000.npy"]
    assert place.file("part-00002.npy").read_bytes() == whole


def test_an_array_works_through_a_bucket(s3: Bucket, base: Path):
    with pytest.raises(Unfinished, match=r"sbatch --array=0-2 .*rankwell worker s3://bucket/work"):
        in_bucket(base, executor="array")
    for index in range(3):
        compute_part(WORK, index)
    states = WorkFolder(WORK, read_plan(WORK)).states(verified=False)

    assert sorted(states.done) == [0, 1, 2]
    assert in_bucket(base, executor="array") == EXPECTED


def test_other_work_in_a_bucket_is_refused(s3: Bucket, base: Path):
    in_bucket(base)

    with pytest.raises(
        BadUsage, match=r"s3://bucket/work holds the plan of other work: neighbours was 15, is 4"
    ):
        in_bucket(base, neighbours=4)
    s3.put("thesis.tex", b"x")
    with pytest.raises(BadUsage, match=r"s3://bucket has no plan, but other files"):
        bytes_of(search(base.parent / "base.npy", base, work="s3://bucket", shards=2))
    with pytest.raises(BadUsage, match="the Hugging Face Hub is only read"):
        bytes_of(search(base.parent / "base.npy", base, work="hf://datasets/a/b", shards=2))


def test_a_service_that_overwrites_gives_each_part_its_name_and_refuses_two_digests(
    s3: Bucket, base: Path, monkeypatch: pytest.MonkeyPatch
):
    put = remote.put
    monkeypatch.setattr(remote, "put", lambda url, content, is_new=False: put(url, content))

    assert in_bucket(base) == EXPECTED
    place = place_of(WORK)
    assert json.loads(place.read("plan.json") or b"")["puts"] == "unique"
    record = json.loads(
        place.read(
            name := next(
                each
                for each in place.listing()
                if each.startswith("part-00000.") and each.endswith("json")
            )
        )
        or b""
    )
    other = "part-00000.0123456789abcdef"
    content = place.file(record["file"]).read_bytes() + b"x"
    place.replace(f"{other}.npy", content)
    changed = {
        "file": f"{other}.npy",
        "bytes": len(content),
        "digest": "sha256:" + __import__("hashlib").sha256(content).hexdigest(),
    }
    place.replace(f"{other}.json", json.dumps({**record, **changed}).encode())
    assert name != f"{other}.json"
    with pytest.raises(BadInput, match="are one part with two digests"):
        in_bucket(base)


@pytest.mark.parametrize("mode", ["drop", "truncate", "busy"])
def test_a_server_that_fails_now_and_then_gives_the_right_bytes(s3: Bucket, base: Path, mode: str):
    place = put_shards(s3)
    s3.mode, s3.times = mode, 2

    assert bytes_of(search(place, base, shards=3, work=WORK)) == EXPECTED


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("whole", "answers a request for a range with the whole object"),
        ("expired", "access is refused; check the credentials"),
    ],
)
def test_a_server_that_always_fails_is_one_error_without_credentials(
    s3: Bucket, base: Path, tmp_path: Path, mode: str, message: str
):
    place = put_shards(s3)
    VectorFiles(place)
    with pytest.raises(Unfinished):
        search(place, base, shards=2, work=str(tmp_path / "work"), executor="array")
    remote.forget()
    s3.mode = mode

    with pytest.raises(BadInput, match=message) as caught:
        compute_part(tmp_path / "work", 1)

    assert SECRET not in str(caught.value)
    assert SECRET.encode() not in b"".join(
        each.read_bytes() for each in (tmp_path / "work").iterdir()
    )
