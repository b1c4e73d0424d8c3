"""The pytest plugin: what a test of retrieval quality prints when it fails, and that it costs
nothing where it is not used.
"""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rankwell as rw

ROOT = Path(__file__).parents[2]
PLUGIN = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "entry-points"
]["pytest11"]["rankwell"]
TESTS = """
QRELS, RUN = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 2.0, "x": 1.0}, "q2": {"x": 2.0, "b": 1.0}}

def test_holds(rankwell):
    rankwell.gate(rankwell.evaluate(QRELS, {"mine": RUN}, "RR"), "RR >= 0.7", "RR.min >= 0.5")

def test_public_names(rankwell):
    assert rankwell.read_judgments({"q": ["a"]}).to_dict() == {"q": {"a": 1.0}}

def test_one_text(rankwell):
    rankwell.gate("new", require="RR >= 0.6")

def test_fails(rankwell):
    rankwell.gate(rankwell.evaluate(QRELS, {"mine": RUN}, "RR"), "RR >= 0.9", "RR <= 0.8")

def test_worse_than_baseline(rankwell):
    rankwell.gate("new", baseline="old")

def test_bad_score(rankwell):
    rankwell.evaluate({"q": {"a": 1}}, {"q": {"a": float("nan")}})

def test_unknown_measure(rankwell):
    rankwell.gate("new", "nDCG > 0")

def test_no_folder(rankwell):
    rankwell.gate("no/such/folder", "RR > 0")

def test_no_results(rankwell):
    rankwell.gate(3, "RR > 0")

def test_nothing_required(rankwell):
    rankwell.gate("new")

def test_name_with_codes(rankwell):
    rankwell.gate(rankwell.evaluate(QRELS, {"\\x1b[31m": RUN}, "RR"), "RR >= 0.9")
"""  # noqa: E501


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The output of pytest with the plugin alone on these tests."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "test_search.py").write_text(TESTS, encoding="utf-8")
    qrels = {f"q{number}": {"a": 1} for number in range(12)}
    for name, score in (("old", 2.0), ("new", 0.5)):
        rw.evaluate(qrels, {"mine": {query: {"a": score, "b": 1.0} for query in qrels}}, "RR").save(
            folder / name, charts=False
        )
    return typed_tests(folder)


def typed_tests(folder: Path) -> str:
    """The output of pytest with the plugin alone on the tests of a folder, some of which fail."""
    own = {"PYTHONPATH": str(ROOT / "src"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "COLUMNS": "100"}
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        PLUGIN,
        "-p",
        "no:cacheprovider",
        "--color=no",
        "-q",
        "--rootdir=.",
    ]

    done = subprocess.run(
        words, cwd=folder, env={**os.environ, **own}, capture_output=True, encoding="utf-8"
    )

    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def failure(printed: str) -> Callable[[str], Any]:
    """(name of a test) -> what it failed with; "" for one that passed."""

    def _of(name: str) -> str:
        found = re.search(
            rf"^_+ {name} _+\n(.*?)(?=^_+ test_|^=+ )", printed, re.MULTILINE | re.DOTALL
        )
        return found[1] if found else ""

    return _of


def test_a_gate_that_holds_passes_and_public_names_are_there(
    failure: Callable[[str], str], printed: str
):
    assert failure("test_holds") == failure("test_public_names") == ""
    assert "9 failed, 2 passed" in printed


def test_a_gate_that_fails_prints_sentences_and_table_without_traceback(
    failure: Callable[[str], str], printed: str
):
    text = failure("test_fails")

    assert text.startswith(
        "mine RR: mean is 0.7500 (n = 2), required >= 0.9: 0.1500 too low\nrankwell gate: 1 "
        "of 2 failed\n\n"
    )
    assert "rules: 2 queries counted" in text
    assert "Traceback" not in printed
    assert "pytest_plugin.py" not in printed
    assert "test_search.py:" not in failure("test_fails")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("test_worse_than_baseline", "mine RR is significantly worse than"),
        ("test_one_text", "mine RR: mean is 0.5000 (n = 12), required >= 0.6: 0.1000 too low"),
        ("test_bad_score", "rankwell: query 'q', item 'a'"),
        ("test_unknown_measure", "rankwell: requirement 'nDCG > 0': no measure 'nDCG'"),
        ("test_no_folder", "rankwell: no/such/folder is not a folder"),
        ("test_no_results", "rankwell: results are an integer; expected"),
        ("test_nothing_required", "rankwell: nothing is required"),
        ("test_name_with_codes", "\\x1b[31m RR: mean is 0.7500"),
    ],
)
def test_every_other_failure_is_a_sentence(failure: Callable[[str], str], name: str, sentence: str):
    assert failure(name).startswith(sentence)
    assert "\x1b" not in failure(name)


def test_the_entry_point_imports_nothing_heavy():
    heavy = "print(*sorted({'numpy', 'scipy', 'duckdb', 'rich'} & set(sys.modules)))"

    done = subprocess.run(
        [sys.executable, "-c", f"import sys, {PLUGIN} as plugin; plugin.rankwell; {heavy}"],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert done.stdout.strip() == ""


def test_the_page_shows_what_pytest_prints(tmp_path: Path):
    page = (ROOT / "docs" / "guide" / "gate.md").read_text(encoding="utf-8")
    script = page.split('```python title="test_search.py"\n')[1].partition("```")[0]
    shown = page.split("without a traceback:\n")[1].split("```text\n")[1].partition("…")[0]
    (tmp_path / "test_search.py").write_text(script, encoding="utf-8")
    demo = [sys.executable, "-m", "rankwell", "demo", "-o", "demo", "--quiet"]
    subprocess.run(demo, cwd=tmp_path, capture_output=True, check=True)
    runs = {"results": "whole_docs", "main-results": "first_sentences"}
    for name, run in runs.items():
        files = tmp_path / "demo" / "qrels.txt", tmp_path / "demo" / f"{run}.run"
        rw.evaluate(*files, ["nDCG@10", "RR"]).save(tmp_path / name, charts=False)

    assert shown in typed_tests(tmp_path)
