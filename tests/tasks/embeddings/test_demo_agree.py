"""`rankwell demo embeddings`, and that a word can be a command and have commands below it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rankwell import cli
from rankwell.cli.command_line import find_command
from rankwell.data.catalogue import command_function
from rankwell.data.options import bind
from rankwell.io.matrices import read_embeddings
from rankwell.tasks.embeddings.commands import demo_embeddings
from rankwell.vectors.media.python_docs import Entry


@pytest.fixture
def corpus(monkeypatch: pytest.MonkeyPatch) -> list[Entry]:
    """400 entries of words that keep company by subject, in place of the standard library."""
    random = np.random.default_rng(7)
    subjects = random.integers(0, 20, 400)
    words = [
        [f"word{subject * 30 + each}" for each in random.integers(0, 45, 25)]
        for subject in subjects
    ]
    entries = [
        Entry(f"mod.f{row:03}", f"mod.f{row:03}", " ".join(each)) for row, each in enumerate(words)
    ]
    monkeypatch.setattr("rankwell.vectors.media.python_docs.functions", lambda: entries)
    return entries


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["rankwell", *arguments])
    return cli.main()


def test_small_models_are_the_first_axes_of_the_larger_one(corpus: list[Entry], tmp_path: Path):
    large, *small = (
        read_embeddings(path) for path in demo_embeddings.make_models(corpus, tmp_path)
    )

    assert large.vectors.shape == (400, 256)
    assert [each.vectors.shape for each in small] == [(400, 32), (400, 64)]
    assert large.ids == [entry.id for entry in corpus]
    for each in small:
        first = large.vectors[:, : each.vectors.shape[1]]
        assert np.allclose(
            each.vectors, first / np.linalg.norm(first, axis=1, keepdims=True), atol=1e-6
        )


def test_the_demo_ends_with_the_table_and_the_chart(
    corpus: list[Entry], tmp_path: Path, monkeypatch, capsys
):
    assert (
        run(monkeypatch, "demo", "embeddings", "-o", str(tmp_path / "out"), "--samples", "100") == 0
    )
    out = capsys.readouterr().out

    assert re.search(r"Of the 10 nearest neighbours of svd_256, svd_64 keeps \d+\.\d%", out)
    assert "Overlap@10" in out
    assert (tmp_path / "out" / "results" / "metrics_vs_k.png").read_bytes().startswith(b"\x89PNG")
    models = [str(tmp_path / "out" / "models" / f"svd_{axes}.npy") for axes in (256, 32, 64)]
    again = tmp_path / "again"
    words = ("-o", str(again), "--samples", "100", "-c", "scholar-stream")
    assert run(monkeypatch, "embeddings", "--reference", *models, *words) == 0
    out = capsys.readouterr().out
    assert "EVALUATION RESULTS (vs svd_256 as Ground Truth)\n" + 70 * "=" + "\n" in out
    assert out.index("\nsvd_32:\n") < out.index("\nsvd_64:\n")
    for name in ("svd_32", "svd_64"):
        lines = (again / f"{name}_results.csv").read_text().splitlines()
        assert (
            lines[0]
            == "k,recall_mean,recall_std,ndcg_mean,ndcg_std,mrr_mean,mrr_std,map_mean,map_std"
        )
        assert [line.split(",")[0] for line in lines[1:]] == ["1", "3", "5", "10"]


def test_more_axes_keep_more_neighbours(corpus: list[Entry], tmp_path: Path, monkeypatch, capsys):
    assert run(monkeypatch, "demo", "embeddings", "-o", str(tmp_path), "--samples", "200") == 0
    capsys.readouterr()
    rows = json.loads((tmp_path / "results" / "summary.json").read_text())["rows"]
    kept = {row["run"]: row["mean"] for row in rows if row["measure"] == "Overlap@10"}

    assert 10 / 399 < kept["svd_32"] < kept["svd_64"] < 1


def test_the_demo_needs_no_torch():
    code = (
        "import sys, rankwell.tasks.embeddings.commands.demo_embeddings; print(sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "'numpy'" in done.stdout
    assert not {"torch", "sentence_transformers", "scipy", "sklearn"} & set(done.stdout.split("'"))


@pytest.mark.parametrize(
    ("arguments", "words", "named"),
    [
        (["demo"], ("demo",), {}),
        (["demo", "-o", "x"], ("demo",), {"output": Path("x")}),
        (["demo", "embeddings"], ("demo", "embeddings"), {}),
        (["demo", "embeddings", "-o", "y"], ("demo", "embeddings"), {"output": Path("y")}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_word_is_a_command_and_has_commands_below_it(
    arguments: list[str], words: tuple[str, ...], named: dict[str, Path]
):
    found = find_command(arguments)

    assert found == words
    assert bind(command_function(found), arguments[len(found) :]) == ([], named)


@pytest.mark.parametrize(
    ("words", "listed"),
    [(["--help"], ["demo", "judge"]), (["judge", "--help"], ["estimate", "label"])],
)
def test_help_lists_commands_and_imports_none_of_them(words: list[str], listed: list[str]):
    code = (
        f"import sys; from rankwell.cli import main; sys.argv = ['rankwell', *{words}]; main(); "
        "print(sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    help_lines, modules = done.stdout.rsplit("\n[", 1)

    assert all(f"\n  {word}  " in help_lines for word in listed)
    assert not {"numpy", "rankwell.reporting.options"} & set(modules.split("'"))


def test_the_help_of_a_word_shows_its_options_and_the_commands_below_it(monkeypatch, capsys):
    assert run(monkeypatch, "demo", "--help") == 0
    out = capsys.readouterr().out
    assert "--output" in out
    assert "embeddings" in out

    assert run(monkeypatch, "demo", "embeddings", "--help") == 0
    assert "rankwell-demo-embeddings" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [("demo", "agre"), ("demo", "embeddings", "--frob"), ("demo", "embeddings", "rest")],
    ids=" ".join,
)
def test_an_unknown_command_is_refused_in_two_lines(words: tuple[str, ...], monkeypatch, capsys):
    assert run(monkeypatch, *words) == 2
    out, err = capsys.readouterr()

    assert out == ""
    assert len(err.splitlines()) == 2
