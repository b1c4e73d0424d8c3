"""Parquet files with several runs in a column `run`, as `engine run --sweep` writes them."""

from pathlib import Path

import duckdb
import pytest

import rankwell as rw
from rankwell.data.options import refuse_input
from rankwell.errors import BadInput
from rankwell.evaluation.judged import name_runs

QRELS = {"q1": {"a": 1}, "q2": {"b": 1}}
RUNS = {
    "fts words=any": {"q1": {"b": 2.0, "a": 1.0}, "q2": {"b": 2.0, "a": 1.0}},
    "fts words=all": {"q1": {"a": 5.0}, "q2": {"c": 3.0, "b": 2.0}},
}


def write(path: Path, runs: dict[str, dict[str, dict[str, float]]], score: str = "score") -> Path:
    """A table as that of `rankwell engine run`, rows of queries in turns."""
    rows = [
        (run, query, item, rank, value)
        for run, lists in runs.items()
        for query, items in lists.items()
        for rank, (item, value) in enumerate(items.items(), 1)
    ]
    with duckdb.connect() as session:
        session.execute(
            "CREATE TABLE t (run VARCHAR, query VARCHAR, item VARCHAR, rank BIGINT, score DOUBLE)"
        )
        session.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", rows)
        session.execute(
            f"COPY (SELECT run, query, item, rank, {score} AS score FROM t) TO '{path}' "
            "(FORMAT parquet)"
        )
    return path


def test_each_run_of_a_file_is_evaluated_as_if_it_had_one_of_its_own(tmp_path: Path) -> None:
    path = write(tmp_path / "run.parquet", RUNS)
    (tmp_path / "other.run").write_text("q1 Q0 a 1 1 x\n")

    found = rw.evaluate(QRELS, str(path), ["RR", "nDCG@10"], details=True)

    expected = rw.evaluate(QRELS, RUNS, ["RR", "nDCG@10"])
    assert [row["run"] for row in found.summary] == [row["run"] for row in expected.summary]
    assert [row["mean"] for row in found.summary] == [row["mean"] for row in expected.summary]
    assert rw.evaluate(QRELS, f"{path}:fts words=all", "RR")["RR"] == 0.75
    assert list(name_runs([path, tmp_path / "other.run"])) == [*RUNS, "other"]
    with pytest.raises(
        BadInput, match=r"has no run 'fts'; did you mean 'fts words=all' or 'fts words=any'"
    ):
        rw.evaluate(QRELS, f"{path}:fts", "RR")


def test_a_single_run_has_the_name_of_its_file_and_ranks_replace_scores_that_are_null(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "one.parquet", {"fts": RUNS["fts words=any"]}, "NULL::DOUBLE")

    found = rw.evaluate(QRELS, path, "RR")

    assert [row["run"] for row in found.summary] == ["one"]
    assert found["RR"] == 0.75


def test_names_of_runs_may_have_colons(tmp_path: Path) -> None:
    runs = {"pg:ef=10": RUNS["fts words=any"], "http://host:9200/a": RUNS["fts words=all"]}
    path = write(tmp_path / "run.parquet", runs)

    assert [row["run"] for row in rw.evaluate(QRELS, path, "RR").summary] == [*runs]
    assert rw.evaluate(QRELS, f"{path}:http://host:9200/a", "RR")["RR"] == 0.75
    with pytest.raises(rw.BadUsage, match="is an input of this command"):
        refuse_input(path, [f"{path}:http://host:9200/a"])


def test_equal_names_in_two_files_are_distinguished_by_their_folders(tmp_path: Path) -> None:
    paths = [tmp_path / name / "run.parquet" for name in ("a", "b")]
    for path in paths:
        path.parent.mkdir()
        write(path, RUNS)

    assert list(name_runs(paths)) == [f"{folder}/{run}" for folder in "ab" for run in RUNS]
