"""Runs and judgments in a bucket, evaluated in parts: the result of one process, from objects that have not changed."""

from pathlib import Path

import pytest

import rankwell
from buckets import Bucket, bucket
from rankwell.errors import BadUsage
from rankwell.evaluation.results import Results
from rankwell.store import remote

QUERIES, FILES = 12, 3


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch):
    with bucket(monkeypatch) as found:
        yield found


@pytest.fixture
def files(tmp_path: Path, s3: Bucket) -> Path:
    """Judgments and a run, scattered over files, on the disk and in the bucket."""
    rows = [(query, item, (7 * query + 3 * item) % 10) for query in range(QUERIES) for item in range(20)]
    (tmp_path / "qrels.txt").write_text("".join(f"q{query} 0 d{item} {item % 3}\n" for query, item, _ in rows[::2]))
    (tmp_path / "runs").mkdir()
    for number in range(FILES):
        mine = "".join(f"q{query} Q0 d{item} 1 {score} t\n" for query, item, score in rows[number::FILES])
        (tmp_path / "runs" / f"{number}.run").write_text(mine)
        s3.put(f"runs/{number}.run", mine.encode())
    s3.put("qrels.txt", (tmp_path / "qrels.txt").read_bytes())
    return tmp_path


def all_of(result: Results) -> str:
    return repr([result.summary, list(result.per_query())])


@pytest.mark.parametrize("ties", ["input", "id-desc"])
def test_a_run_in_a_bucket_gives_the_result_of_files(files: Path, ties: str):
    options = {"ties": ties, "intervals": "none"}
    expected = all_of(rankwell.evaluate(files / "qrels.txt", str(files / "runs"), ["AP", "P@5"], **options))

    found = rankwell.evaluate("s3://bucket/qrels.txt", "s3://bucket/runs/", ["AP", "P@5"], **options, executor="here", shards=2)

    assert all_of(found) == expected


def test_an_object_is_not_divided_and_one_that_has_changed_is_refused(files: Path, s3: Bucket):
    options = {"intervals": "none", "work": str(files / "work"), "shards": 5}
    found = rankwell.evaluate(files / "qrels.txt", "s3://bucket/runs/0.run", ["AP"], **options)

    assert all_of(found) == all_of(rankwell.evaluate(files / "qrels.txt", files / "runs" / "0.run", ["AP"], intervals="none"))
    assert [path.name for path in (files / "work").glob("part-*.json")] == ["part-00000.json"]
    s3.put("runs/0.run", b"q1 Q0 d1 1 1 t\n")
    remote.forget()
    with pytest.raises(BadUsage, match=r"s3://bucket/runs/0\.run has changed"):
        rankwell.evaluate(files / "qrels.txt", "s3://bucket/runs/0.run", ["AP"], **options)
