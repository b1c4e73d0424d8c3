"""The folder of `-o`: what lies in it, that it can be read, and that it is written whole or not at
all.
"""

import csv
import hashlib
import json
import subprocess
import sys

import duckdb
import numpy as np
import pytest

from rankwell.data.findings.kinds import reading_choice
from rankwell.data.tables import Values
from rankwell.errors import BadInput
from rankwell.io.result_folder import read_results
from rankwell.reporting import folder
from rankwell.reporting.charts import CHARTS
from rankwell.reporting.folder import FolderContent, write_folder
from rankwell.stats import summarise

DETAILS = {
    "run": ["bm25", "bm25", "bm25"],
    "query": ["q1", "q1", "q2"],
    "item": ["d1", "d2", "d3"],
    "rank": [1.0, None, float("nan")],
    "score": np.array([2.5, np.nan, 1.0]),
    "grade": [1.0, 0.5, None],
    "state": ["relevant", "relevant", "unjudged"],
}
QUERIES = {
    "query": ["q1", "q2"],
    "text": ["what is é?", None],
    "length": [3, None],
    "kind": [["a", 1], "plain"],
}


def made_values():
    queries = tuple(f"q{place}" for place in range(12))
    column = np.linspace(0, 1, 12)
    return [
        Values("bm25", "nDCG@10", "nDCG@10", "share", "mean", queries, column),
        Values(
            "bm25",
            "P@5",
            "Recall@5",
            "percent",
            "mean",
            queries,
            np.where(column > 0.5, np.nan, 100 * column),
        ),
    ]


def write(directory, *, charts=True, **changes):
    values = made_values()
    options = {
        "summary": summarise(values, resamples=100),
        "values": values,
        "rules": {"ties": "id-desc", "seed": 0},
        "findings": [reading_choice("a note")],
        "manifest": {"schema_version": 1, "inputs": {"qrels.txt": "sha256:0"}},
        "details": DETAILS,
        "queries": QUERIES,
    }
    return write_folder(directory, FolderContent(**(options | changes)), charts=charts)


def rows(path):
    return duckdb.sql(f"SELECT * FROM '{path}'").fetchall()


def columns(path):
    relation = duckdb.sql(f"SELECT * FROM '{path}'")
    return dict(zip(relation.columns, map(str, relation.types), strict=True))


def test_the_folder_holds_every_file_of_the_design_and_nothing_else(tmp_path):
    paths = write(tmp_path / "new" / "out")

    assert sorted(path.name for path in paths) == sorted(
        path.name for path in (tmp_path / "new" / "out").iterdir()
    )
    drawn = [path for path in paths if path.stem in CHARTS and path.suffix in (".png", ".svg")]
    assert {"intervals.png", "intervals.svg", "per_query.png", "per_query.svg"} <= {
        path.name for path in drawn
    }
    assert [path.name for path in paths if path not in drawn] == [
        "summary.csv",
        "summary.json",
        "per_query.parquet",
        "details.parquet",
        "queries.parquet",
        "manifest.json",
    ]


def test_what_is_not_given_is_not_written(tmp_path):
    write(tmp_path, details=None, queries=None, charts=False)

    assert {path.name for path in tmp_path.iterdir()} == {
        "summary.csv",
        "summary.json",
        "per_query.parquet",
        "manifest.json",
    }


def test_the_summary_reads_back_as_it_was(tmp_path):
    expected = list(summarise(made_values(), resamples=100))
    write(tmp_path, charts=False)

    document = json.loads((tmp_path / "summary.json").read_text())
    assert document == {
        "schema_version": 2,
        "rows": expected,
        "rules": {"ties": "id-desc", "seed": 0},
        "findings": [{"name": "reading-choice", "level": "info", "message": "a note"}],
    }
    with (tmp_path / "summary.csv").open(newline="") as stream:
        read = list(csv.DictReader(stream))
    assert [float(row["mean"]) for row in read] == [row["mean"] for row in expected]


def test_values_per_query_are_a_row_each_and_null_where_not_counted(tmp_path):
    write(tmp_path, charts=False)

    read = rows(tmp_path / "per_query.parquet")

    assert columns(tmp_path / "per_query.parquet") == {
        name: "DOUBLE" if name == "value" else "VARCHAR"
        for name in ("run", "query", "measure", "label", "value", "unit")
    }
    assert len(read) == 24
    assert read[11] == ("bm25", "q11", "nDCG@10", "nDCG@10", 1.0, "share")
    assert read[12] == ("bm25", "q0", "P@5", "Recall@5", 0.0, "percent")
    assert read[23] == ("bm25", "q11", "P@5", "Recall@5", None, "percent")


def test_details_have_the_columns_of_the_design_and_null_for_what_is_not_there(tmp_path):
    write(tmp_path, charts=False)

    assert list(columns(tmp_path / "details.parquet").items()) == list(folder.DETAIL_TYPES.items())
    assert rows(tmp_path / "details.parquet") == [
        ("bm25", "q1", "d1", 1, 2.5, 1.0, "relevant", None),
        ("bm25", "q1", "d2", None, None, 0.5, "relevant", None),
        ("bm25", "q2", "d3", None, 1.0, None, "unjudged", None),
    ]


def test_details_are_kept_as_the_text_they_are(tmp_path):
    write(tmp_path, details={**DETAILS, "detail": ['{"a": 1}', None, "{}"]}, charts=False)

    assert [row[-1] for row in rows(tmp_path / "details.parquet")] == ['{"a": 1}', None, "{}"]


def test_queries_keep_text_numbers_and_everything_else_as_json(tmp_path):
    write(tmp_path, charts=False)

    assert columns(tmp_path / "queries.parquet") == {
        "query": "VARCHAR",
        "text": "VARCHAR",
        "length": "DOUBLE",
        "kind": "VARCHAR",
    }
    assert rows(tmp_path / "queries.parquet") == [
        ("q1", "what is é?", 3.0, '["a", 1]'),
        ("q2", None, None, "plain"),
    ]


def test_ids_that_look_like_numbers_stay_text_and_odd_bytes_are_escaped(tmp_path):
    odd = {**DETAILS, "item": ["007", "x\udcff", "é"], "query": ["1", "2", "3"]}

    write(tmp_path, details=odd, charts=False)

    assert [(row[1], row[2]) for row in rows(tmp_path / "details.parquet")] == [
        ("1", "007"),
        ("2", "x\\udcff"),
        ("3", "é"),
    ]


def test_quotes_in_names_and_places_are_only_letters(tmp_path):
    place = tmp_path / 'it\'s; "here"'

    write(place, queries={**QUERIES, 'a "b" c': [1, 2]}, charts=False)

    assert (
        'a "b" c'
        in duckdb.execute("SELECT * FROM read_parquet(?)", [str(place / "queries.parquet")])
        .df()
        .columns
    )


def test_an_empty_table_has_its_columns(tmp_path):
    write(tmp_path, details={name: [] for name in DETAILS}, charts=False)

    assert list(columns(tmp_path / "details.parquet")) == list(folder.DETAIL_TYPES)
    assert rows(tmp_path / "details.parquet") == []


def test_the_same_result_gives_the_same_bytes(tmp_path):
    first, second = write(tmp_path / "a"), write(tmp_path / "b")

    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_many_rows_keep_their_order(tmp_path):
    size = 300_000
    many = {name: ["x"] * size for name in ("run", "query", "state")} | {
        "item": [f"d{place}" for place in range(size)],
        "rank": np.arange(size),
        "score": np.zeros(size),
        "grade": np.ma.masked_array(np.ones(size), mask=np.arange(size) % 2 == 0),
    }

    write(tmp_path, details=many, charts=False)

    read = duckdb.sql(f"SELECT rank, grade FROM '{tmp_path / 'details.parquet'}'").fetchnumpy()
    assert (read["rank"] == np.arange(size)).all()
    assert read["grade"].mask.tolist() == (np.arange(size) % 2 == 0).tolist()


def test_the_manifest_names_every_file_with_its_digest_and_keeps_what_it_was_given(tmp_path):
    *others, manifest = write(tmp_path)

    read = json.loads(manifest.read_text())

    assert read["inputs"] == {"qrels.txt": "sha256:0"}
    assert read["files"] == {
        path.name: "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest() for path in others
    }


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({**DETAILS, "rank": [1.0]}, "differ in length"),
        (
            {name: column for name, column in DETAILS.items() if name != "state"},
            "no column 'state'",
        ),
    ],
)
def test_columns_that_do_not_fit_are_refused_and_leave_no_file_and_no_draft(
    tmp_path, wrong, message
):
    with pytest.raises(BadInput, match=message):
        write(tmp_path, details=wrong, charts=False)

    assert not list(tmp_path.iterdir())


def test_a_failure_while_writing_keeps_the_file_that_was_there(tmp_path):
    write(tmp_path, charts=False)
    before = (tmp_path / "details.parquet").read_bytes()

    with pytest.raises(duckdb.Error):
        folder.write_parquet(
            tmp_path / "details.parquet", {"rank": [1.0, 1e300]}, {"rank": "BIGINT"}
        )

    assert (tmp_path / "details.parquet").read_bytes() == before
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files")
def test_a_full_disk_ends_a_table_in_one_sentence(tmp_path):
    import resource

    lines = [f"{np.random.default_rng(place).bytes(12).hex()}" for place in range(4000)]
    (tmp_path / "qrels").write_text("".join(f"{line} 0 {line} 1\n" for line in lines))
    (tmp_path / "run").write_text("".join(f"{line} Q0 {line} 1 1.0 t\n" for line in lines))

    done = subprocess.run(
        [sys.executable, "-m", "rankwell", "evaluate", "qrels", "run", "-m", "AP", "-o", "out"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)),
    )

    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr[-800:]
    assert "per_query.parquet cannot be written (File too large)" in done.stderr
    assert not (tmp_path / "out").exists()


def test_what_is_interrupted_says_so_until_it_is_written_again(tmp_path, monkeypatch):
    write(tmp_path)
    whole = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def _interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(folder, "write_parquet", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            write(tmp_path, details=None)

    with pytest.raises(BadInput, match="not written to its end"):
        read_results(tmp_path)
    write(tmp_path, details=None)
    del whole["details.parquet"], whole["manifest.json"]
    assert {
        path.name: path.read_bytes() for path in tmp_path.iterdir() if path.name != "manifest.json"
    } == whole
    assert read_results(tmp_path).runs == ("bm25",)


def test_reports_need_neither_pandas_nor_arrow_and_load_nothing_heavy_before_they_must(tmp_path):
    script = """
import sys
for name in ("pandas", "pyarrow", "polars"):
    sys.modules[name] = None
from pathlib import Path
import rankwell.reporting.folder, rankwell.reporting.charts, rankwell.reporting.outputs.answers
from rankwell import reporting
from rankwell.reporting.folder import FolderContent, write_folder
reporting.render([], None, {"ties": "id-desc"}, [], "table")
assert not {"duckdb", "vl_convert", "rich"} & set(sys.modules), "loaded too early"
content = FolderContent(summary=[], values=[], rules={}, findings=[], manifest={}, queries={"query": ["q"]})
write_folder(Path(sys.argv[1]), content)
assert {"duckdb"} <= set(sys.modules)
"""  # noqa: E501
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert rows(tmp_path / "queries.parquet") == [("q", None)]
