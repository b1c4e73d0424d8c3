"""Runs and judgments in a bucket, evaluated in parts: the result of one process, from objects that
have not changed.
"""

import gzip
from pathlib import Path

import pytest

import rankwell
from buckets import Bucket, bucket
from rankwell.errors import BadUsage, Unfinished
from rankwell.results import Results
from rankwell.runtime.parts.execution import compute_part
from rankwell.store import places, remote
from rankwell.store.places import HEAD

QUERIES, FILES = 12, 3


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch):
    with bucket(monkeypatch) as found:
        yield found


@pytest.fixture
def files(tmp_path: Path, s3: Bucket) -> Path:
    """Judgments and a run, scattered over files, on the disk and in the bucket."""
    rows = [
        (query, item, (7 * query + 3 * item) % 10) for query in range(QUERIES) for item in range(20)
    ]
    (tmp_path / "qrels.txt").write_text(
        "".join(f"q{query} 0 d{item} {item % 3}\n" for query, item, _ in rows[::2])
    )
    (tmp_path / "runs").mkdir()
    for number in range(FILES):
        mine = "".join(
            f"q{query} Q0 d{item} 1 {score} t\n" for query, item, score in rows[number::FILES]
        )
        (tmp_path / "runs" / f"{number}.run").write_text(mine)
        s3.put(f"runs/{number}.run", mine.encode())
    s3.put("qrels.txt", (tmp_path / "qrels.txt").read_bytes())
    return tmp_path


def all_of(result: Results) -> str:
    return repr([list(result.summary), list(result.per_query())])


@pytest.mark.parametrize("ties", ["input", "id-desc"])
def test_a_run_in_a_bucket_gives_the_result_of_files(files: Path, ties: str):
    options = {"ties": ties, "intervals": "none"}
    expected = all_of(
        rankwell.evaluate(files / "qrels.txt", str(files / "runs"), ["AP", "P@5"], **options)
    )

    found = rankwell.evaluate(
        "s3://bucket/qrels.txt",
        "s3://bucket/runs/",
        ["AP", "P@5"],
        **options,
        executor="here",
        shards=2,
    )

    assert all_of(found) == expected


def test_an_object_is_not_divided_and_one_that_has_changed_is_refused(files: Path, s3: Bucket):
    options = {"intervals": "none", "work": str(files / "work"), "shards": 5}
    found = rankwell.evaluate(files / "qrels.txt", "s3://bucket/runs/0.run", ["AP"], **options)

    assert all_of(found) == all_of(
        rankwell.evaluate(files / "qrels.txt", files / "runs" / "0.run", ["AP"], intervals="none")
    )
    assert [path.name for path in (files / "work").glob("part-*.json")] == ["part-00000.json"]
    s3.put("runs/0.run", b"q1 Q0 d1 1 1 t\n")
    remote.forget()
    with pytest.raises(BadUsage, match=r"s3://bucket/runs/0\.run has changed"):
        rankwell.evaluate(files / "qrels.txt", "s3://bucket/runs/0.run", ["AP"], **options)


def long_rows(shard: int) -> list[tuple[str, str, float]]:
    """Rows of all queries, most of items without judgments; right items are among the first."""
    return [
        (f"q{query}", f"d{item}", round(item % 3 + 1 / (item + 2), 6))
        for query in range(QUERIES)
        for item in range(shard, 2400, FILES)
    ]


def lines_of(rows: list[tuple[str, str, float]]) -> bytes:
    ordered = sorted(rows, key=lambda row: (row[0], -row[2]))
    return "".join(f"{query} Q0 {item} 1 {score} t\n" for query, item, score in ordered).encode()


def columns_of(rows: list[tuple[str, str, float]]) -> bytes:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pytest.importorskip("fsspec")
    columns = dict(
        zip(("query_id", "doc_id", "score"), map(list, zip(*rows, strict=True)), strict=True)
    )
    columns["text"] = [f"{row * 7919 % 10007:09}" * 40 for row in range(len(rows))]
    parquet.write_table(
        pa.table(columns),
        found := pa.BufferOutputStream(),
        compression="none",
        use_dictionary=False,
    )
    return found.getvalue().to_pybytes()


@pytest.mark.parametrize(
    ("suffix", "write", "most"),
    [
        (".run", lines_of, HEAD + 1),
        (".run.gz", lambda rows: gzip.compress(lines_of(rows), 0), 1 << 20),
        (".parquet", columns_of, 2 << 20),
    ],
)
def test_whoever_plans_and_merges_reads_the_beginning_of_large_objects(
    files: Path, s3: Bucket, monkeypatch: pytest.MonkeyPatch, suffix: str, write, most: int
):
    monkeypatch.setattr(places, "_SMALL", HEAD)
    (files / "long").mkdir()
    for shard in range(FILES):
        content = write(long_rows(shard))
        (files / "long" / f"{shard}{suffix}").write_bytes(content)
        s3.put(f"long/{shard}{suffix}", content)
    options = {"intervals": "none", "executor": "array", "shards": 2}
    s3.reads.clear()

    def evaluated(work: Path) -> Results:
        return rankwell.evaluate(
            "s3://bucket/qrels.txt", "s3://bucket/long/", ["AP", "P@5"], **options, work=str(work)
        )

    for work in ("work", "work/second"):
        with pytest.raises(Unfinished):
            evaluated(files / "work")
        remote.forget()
        assert len(content) > most or suffix == ".run.gz"  # a mebibyte is unpacked at a time
        assert all(s3.bytes_read(f"long/{shard}{suffix}") <= most for shard in range(FILES))
        for index in range(2):
            compute_part(files / work, index)
        remote.forget()
        s3.reads.clear()
    found = evaluated(files / "work")

    assert all(s3.bytes_read(f"long/{shard}{suffix}") <= most for shard in range(FILES))
    alone = rankwell.evaluate(files / "qrels.txt", files / "long", ["AP", "P@5"], intervals="none")
    assert all_of(found) == all_of(alone)
