"""`rankwell clips evaluate` and `rankwell clips lint`: what they print, write and refuse."""

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from rankwell.cli import main


def run(*words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> tuple[int, str, str]:
    monkeypatch.setattr("sys.argv", ["rankwell", *words])
    code = main()
    out = capsys.readouterr()
    return code, out.out, out.err


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    random = Random(3)
    names = [f"c{number}" for number in range(24)]
    table = {
        name: {
            "g": random.sample(["car", "bus", "day"], random.randint(0, 2)),
            "h": random.sample(["x", "y"], random.randint(0, 1)),
        }
        for name in names
    }
    vectors = {name: [random.gauss(0, 1) for _ in range(4)] for name in names}
    lines = ["slice_id,g,h", *(f'{clip},"{", ".join(each["g"])}","{", ".join(each["h"])}"' for clip, each in table.items())]
    (tmp_path / "clips.csv").write_text("\n".join(lines))
    np.save(tmp_path / "v.npy", np.array(list(vectors.values()), dtype=np.float32))
    (tmp_path / "v.ids.txt").write_text("\n".join(vectors) + "\n")
    return {"annotations": str(tmp_path / "clips.csv"), "embeddings": str(tmp_path / "v.npy"), "out": str(tmp_path / "out")}


def test_the_command_prints_ceiling_chance_and_the_tables(files: dict[str, str], capsys: Any, monkeypatch: Any):
    words = ["clips", "evaluate", "--annotations", files["annotations"], "--embeddings", files["embeddings"], "--groups", "g,h"]
    code, out, err = run(*words, "-c", "alfa", "-q", capsys=capsys, monkeypatch=monkeypatch)
    assert code == 0
    for word in ("Recall@5", "P@5", "ceiling", "chance", "coverage", "interval", "missing", "by chance", "match ("):
        assert word in out, word
    assert "no relevant clip" in err


def test_the_command_writes_everything_and_json_holds_each_result(files: dict[str, str], capsys: Any, monkeypatch: Any):
    import duckdb

    words = ["clips", "evaluate", "--annotations", files["annotations"], "--embeddings", files["embeddings"], "--groups", "g,h"]
    code, out, _ = run(*words, "-q", "-f", "json", "-o", files["out"], "--sheets", "2", capsys=capsys, monkeypatch=monkeypatch)
    assert code == 0
    found = json.loads(out)
    assert {"rows", "per_query", "by_group", "by_keyword", "rules", "notes"} <= set(found)
    row = next(row for row in found["per_query"] if row["status"] == "counted")
    assert len(row["retrieved"]) == len(row["similarities"]) == 5
    assert set(row["results"][0]) >= {"item", "rank", "similarity", "match", "groups", "reasons"}
    folder = Path(files["out"])
    assert len(list((folder / "sheets").glob("*.png"))) == 2
    names = {path.name for path in folder.iterdir()}
    assert {"by_group.csv", "by_keyword.csv", "details.parquet", "queries.parquet", "manifest.json", "per_query.parquet"} <= names
    details = duckdb.sql(f"SELECT rank, state, detail FROM '{folder / 'details.parquet'}' ORDER BY query, rank").fetchall()
    assert {state for _, state, _ in details} == {"relevant", "nonrelevant"}
    assert all("match" in json.loads(detail) for _, _, detail in details)
    queries = duckdb.sql(f"SELECT query, keywords, relevant FROM '{folder / 'queries.parquet'}'").fetchall()
    assert len(queries) == 24


@pytest.mark.parametrize(
    ("extra", "code", "message"),
    [
        (["--groups", "g,colour"], 2, "no group is called 'colour'"),
        (["--sheets", "2"], 2, "name one with -o"),
        (["--mode", "text", "--engine", "no_such_module_here:x"], 2, "no_such_module_here"),
        (["--keyword-threshold", "0.5"], 2, "--mode text"),
    ],
)
def test_the_command_refuses_with_a_line(
    files: dict[str, str], extra: list[str], code: int, message: str, capsys: Any, monkeypatch: Any
):
    words = ["clips", "evaluate", "--annotations", files["annotations"], "--embeddings", files["embeddings"], "--groups", "g,h"]
    words = words[:-2] if "--groups" in extra else words
    found, _, err = run(*words, *extra, capsys=capsys, monkeypatch=monkeypatch)
    assert (found, message in err) == (code, True), err


def test_an_empty_table_is_bad_input(tmp_path: Path, capsys: Any, monkeypatch: Any):
    (tmp_path / "t.csv").write_text("slice_id,object_type\n")
    code, _, err = run("clips", "evaluate", "--annotations", str(tmp_path / "t.csv"), capsys=capsys, monkeypatch=monkeypatch)
    assert (code, "annotates no clip" in err) == (2, True)


def test_lint_prints_what_is_odd_and_strict_makes_it_an_error(tmp_path: Path, capsys: Any, monkeypatch: Any):
    (tmp_path / "t.csv").write_text("slice_id,scene_type\na,cloud\nb,cloudy\nc,\n")
    words = ["clips", "lint", str(tmp_path / "t.csv")]
    code, out, err = run(*words, "-f", "json", capsys=capsys, monkeypatch=monkeypatch)
    assert {(row["kind"], row["label"]) for row in json.loads(out)["rows"]} == {("empty row", "c"), ("near-duplicate", "cloud")}
    assert (code, "3 clips" in err) == (0, True)
    assert run(*words, "--strict", capsys=capsys, monkeypatch=monkeypatch)[0] == 1
    (tmp_path / "t.csv").write_text("slice_id,scene_type\na,cloudy\n")
    assert run(*words, "--strict", capsys=capsys, monkeypatch=monkeypatch)[0] == 0
