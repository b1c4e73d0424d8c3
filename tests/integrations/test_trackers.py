"""What experiment trackers are given, and the packages themselves, each in an environment of its
own.
"""

import json
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import rankwell as rw
from engines.environments import ROOT, environment
from full_run import record
from rankwell.integrations import ranx, wandb
from rankwell.integrations.folders import logged
from rankwell.integrations.ir_measures import measure
from rankwell.integrations.mteb import write_task_result

SCRIPTS = Path(__file__).with_name("scripts")
QRELS = {f"q{number}": {"a": 1} for number in range(12)}


def results(*runs: str) -> Any:
    return rw.evaluate(
        QRELS,
        {run: {query: {"a": 1.0, "b": 2.0} for query in QRELS} for run in runs},
        ["RR", "nDCG@10"],
    )


def test_names_of_metrics_are_plain_and_each_has_its_own():
    with logged(results("a/b", "a|b", "..")) as found:
        names = [name for name in found.metrics if name.endswith("/mean")]

        assert names == [
            *("a_b/RR/mean", "a_b/nDCG_at_10/mean"),
            *("a_b/RR 2/mean", "a_b/nDCG_at_10 2/mean"),
            *("__/RR/mean", "__/nDCG_at_10/mean"),
        ]
        assert found.metrics["a_b/RR/mean"] == 0.5
        assert found.metrics["a_b/RR/n"] == 12
        assert found.parameters["convention"] == "rankwell"
        assert found.parameters["rules"].startswith("12 queries counted")
        assert (found.folder / "summary.json").is_file()
    assert not found.folder.exists()


def test_rows_of_a_measure_in_two_directions_have_names_of_their_own(tmp_path: Path):
    rw.evaluate_crossmodal([[0.9, 0.1], [0.8, 0.2]]).save(tmp_path / "out", charts=False)

    with logged(tmp_path / "out") as found:
        recall = {
            name: value
            for name, value in found.metrics.items()
            if "/R_at_1/" in name and name.endswith("mean")
        }

    assert recall == {"scores/R_at_1/t2v/mean": 50.0, "scores/R_at_1/v2t/mean": 100.0}


def test_what_is_not_results_is_refused():
    for given in (3, None, "nowhere"):
        with (
            pytest.raises(rw.RankwellError, match=r"expected the results|is not a folder"),
            logged(given),
        ):  # pyright: ignore
            pass


def test_a_tracker_without_a_run_and_a_package_that_is_missing_are_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
):
    import sys

    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(run=None))
    with pytest.raises(rw.BadUsage, match="no active run; start one"):
        wandb.log(results("a"))
    monkeypatch.setitem(sys.modules, "ranx", None)
    with pytest.raises(
        rw.MissingExtra, match=r"ranx is not installed: pip install 'rankwell\[ranx\]'"
    ):
        ranx.to_run({"q": {"a": 1.0}})


def test_tables_that_ranx_cannot_hold_are_refused():
    with pytest.raises(rw.BadInput, match=r"'q', item 'a': the grade is 0\.5"):
        ranx.to_qrels({"q": {"a": 0.5}})
    for made in (ranx.to_run, ranx.to_qrels):
        with pytest.raises(rw.RankwellError):
            made({"q": {}})


def test_a_measure_for_ir_measures_reads_frames_with_further_columns(
    monkeypatch: pytest.MonkeyPatch,
):
    import sys

    import pandas as pd

    monkeypatch.setitem(
        sys.modules, "ir_measures", SimpleNamespace(define=lambda values, **_: values)
    )
    judged = pd.DataFrame(
        [("q1", "a", 1), ("q2", "b", 1)], columns=["query_id", "doc_id", "relevance"]
    )
    ranked = pd.DataFrame(
        [("q1", "words", "x", 2.0), ("q1", "words", "a", 1.0)],
        columns=["query_id", "query", "doc_id", "score"],
    )

    assert list(measure("RR")(judged, ranked)) == [("q1", 0.5), ("q2", 0.0)]
    assert list(measure("RR")(judged, ranked[:0])) == []
    with pytest.raises(rw.UnknownName, match="nDGC"):
        measure("nDGC@10")


def test_a_task_result_of_mteb_has_the_scores_of_one_run_and_replaces_nothing(tmp_path: Path):
    path = tmp_path / "SciFact.json"
    whole = results("a", "b")
    named = {"task": "SciFact", "revision": "1", "main_score": "RR"}

    write_task_result(whole, path, run="b", **named)

    written = json.loads(path.read_text(encoding="utf-8"))
    assert written["scores"]["test"][0]["main_score"] == written["scores"]["test"][0]["RR"] == 0.5
    assert (written["task_name"], written["dataset_revision"], written["mteb_version"]) == (
        "SciFact",
        "1",
        None,
    )
    for wrong, words in (
        ({}, "name one of them"),
        ({"run": "c"}, "no run 'c'"),
        ({"run": "a", "main_score": "x"}, "no score 'x'"),
        ({"run": "a"}, "exists; name another file"),
    ):
        with pytest.raises(rw.RankwellError, match=words):
            write_task_result(whole, path, **(named | wrong))


@pytest.mark.slow
@pytest.mark.server
@pytest.mark.parametrize(
    ("tool", "packages"),
    [
        ("mteb", ["mteb", "torch==2.13.0"]),
        ("mlflow", ["mlflow-skinny"]),
        ("wandb", ["wandb"]),
        ("ranx", ["ranx"]),
        ("pt_experiment", ["pyterrier", "ir-measures"]),
    ],
)
def test_an_adapter_passes_the_same_figures_on(tool: str, packages: list[str], tmp_path: Path):
    programs = environment(tool, packages)
    settings = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONWARNINGS": "",
        "HOME": str(tmp_path),
    }

    done = subprocess.run(
        [str(programs / "python"), str(SCRIPTS / f"with_{tool}.py")],
        cwd=tmp_path,
        env=settings,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )

    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout.splitlines()[-1])
    assert shown["figures"]
    assert shown["figures"] == shown["expected"]
    record(f"adapter {tool}", {**shown["packages"], "figures": shown["figures"]})
