"""Result folders that were changed: every command that reads one ends in one sentence, whatever the
change.
"""

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from rankwell.cli import main

DEEP = "[" * 100_000 + "]" * 100_000


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    (folder / "qrels").write_text("q 0 a 1\nq 0 b 0\np 0 a 1\n")
    (folder / "r1").write_text("q Q0 a 1 2 t\np Q0 a 1 2 t\n")
    (folder / "r2").write_text("q Q0 b 1 2 t\np Q0 b 2 1 t\np Q0 a 2 1 t\n")
    command = [
        sys.executable,
        "-m",
        "rankwell",
        "compare",
        "qrels",
        "r1",
        "r2",
        "-m",
        "RR",
        "-o",
        "out",
    ]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    return folder / "out"


def manifest_with(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda content: content.update(changes)


def rules_with(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda content: content["rules"].update(changes)


def row_with(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda content: content["rows"][0].update(changes)


TAMPERED: dict[str, tuple[str, Any]] = {
    "nested lists as manifest": ("manifest.json", DEEP),
    "nested lists as summary": ("summary.json", DEEP),
    "a list as manifest": ("manifest.json", "[]"),
    "a number as summary": ("summary.json", "3"),
    "rules of another kind": ("manifest.json", manifest_with(rules=[1])),
    "inputs of another kind": ("manifest.json", manifest_with(inputs="x")),
    "a list as protocol": ("manifest.json", manifest_with(protocol=["runs"])),
    "a text as version": ("manifest.json", manifest_with(schema_version="2")),
    "a list of counts": ("manifest.json", rules_with(counts=[1])),
    "counts of a run as text": ("manifest.json", rules_with(counts={"r1": "x"})),
    "counts as texts": (
        "manifest.json",
        rules_with(counts={"r1": {"queries_tied": {"RR": "x", "AP": 1}}}),
    ),
    "a list of measures": ("manifest.json", rules_with(measures=[["RR"]])),
    "a level as text": ("manifest.json", rules_with(level="high")),
    "an infinite level": ("manifest.json", rules_with(level=float("inf"))),
    "mean ranks as text": (
        "manifest.json",
        rules_with(mean_ranks=[{"mean_ranks": {"r1": "x", "r2": 1, "r3": 2}}]),
    ),
    "a mean as text": ("summary.json", row_with(mean="high")),
    "a mean that is not finite": ("summary.json", row_with(mean=float("inf"))),
    "a list as run": ("summary.json", row_with(run=["r1"])),
    "a number as label": ("summary.json", row_with(label=3)),
    "an object as number of queries": ("summary.json", row_with(n={})),
    "no number of queries": ("summary.json", row_with(n=None)),
    "an interval of lists": ("summary.json", row_with(ci_low=[], ci_high=[])),
    "rows that are not rows": ("summary.json", lambda content: content["rows"].append(3)),
    "groups that are not rows": ("summary.json", lambda content: content.update(groups=[3])),
    "groups without columns": (
        "summary.json",
        lambda content: content.update(groups=[{"group": "x"}]),
    ),
    "verdicts without text": ("summary.json", lambda content: content.update(verdicts=[{}])),
    "values as texts": ("per_query.parquet", "* REPLACE (value::VARCHAR || 'x' AS value)"),
    "numbers as queries": ("per_query.parquet", "* REPLACE (length(query) AS query)"),
    "lists as runs": ("per_query.parquet", "* REPLACE ([run] AS run)"),
    "missing queries": ("per_query.parquet", "* REPLACE (NULL::VARCHAR AS query)"),
    "lists as an attribute": ("per_query.parquet", "*, [1, 2] AS direction"),
    "texts as ranks": ("details.parquet", "* REPLACE ('x' AS rank)"),
    "lists as details": ("details.parquet", "* REPLACE ([1] AS detail)"),
    "nested details": ("details.parquet", f"* REPLACE ('{DEEP}' AS detail)"),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_a_changed_folder_is_refused_in_one_sentence(
    what: str, results: Path, tmp_path: Path, monkeypatch, capsys
):
    name, change = TAMPERED[what]
    folder = tmp_path / "out"
    folder.mkdir()
    for path in results.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    target = folder / name
    if name.endswith(".parquet"):
        duckdb.sql(f"COPY (SELECT {change} FROM '{results / name}') TO '{target}' (FORMAT parquet)")
    elif callable(change):
        content = json.loads(target.read_bytes())
        change(content)
        target.write_text(json.dumps(content))
    else:
        target.write_text(change)
    if name != "manifest.json":  # whoever changes a file can also state its digest
        manifest = json.loads((folder / "manifest.json").read_bytes())
        manifest["files"][name] = f"sha256:{hashlib.sha256(target.read_bytes()).hexdigest()}"
        (folder / "manifest.json").write_text(json.dumps(manifest))

    refused = 0
    for words in (
        ("gate", folder, "--require", "RR >= 0"),
        ("report", folder, "-o", tmp_path / "page.html"),
        ("compare", folder, results),
    ):
        monkeypatch.setattr(sys, "argv", ["rankwell", *map(str, words)])
        with pytest.raises(SystemExit) as caught:
            raise SystemExit(main())
        error = capsys.readouterr().err
        assert caught.value.code in (0, 1, 2), error[-600:]
        refused += caught.value.code == 2
        assert caught.value.code != 2 or (error.count("\n") == 1 and len(error) < 700), error[:900]
    assert refused
