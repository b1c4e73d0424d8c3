"""The pipeline of `make embeddings` and `make eval`, with models that need nothing but NumPy."""

import csv
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from rankwell.errors import BadUsage
from rankwell.io.matrices import read_embeddings
from rankwell.vectors.media.python_docs import Entry

TOOL = Path(__file__).parents[3] / "examples" / "agreement_pipeline.py"
spec = importlib.util.spec_from_file_location("agreement_pipeline", TOOL)
assert spec is not None
assert spec.loader is not None
pipeline = importlib.util.module_from_spec(spec)
spec.loader.exec_module(pipeline)

REFERENCE = pipeline.Model("large", "tfidf-svd:40")
CANDIDATES = (pipeline.Model("small", "tfidf-svd:6"), pipeline.Model("middle", "tfidf-svd:15"))


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch) -> list[Entry]:
    random = np.random.default_rng(3)
    texts = [
        " ".join(f"word{12 * (row % 9) + each}" for each in random.integers(0, 20, 15))
        for row in range(300)
    ]
    made = [Entry(f"mod.f{row}", f"mod.f{row}", text) for row, text in enumerate(texts)]
    monkeypatch.setattr("rankwell.vectors.media.python_docs.functions", lambda: made)
    return made


def embed(root: Path) -> None:
    pipeline.embeddings(root, reference=REFERENCE, candidates=CANDIDATES)


def test_held_out_entries_and_the_rest_share_nothing_and_are_all(
    entries: list[Entry], tmp_path: Path
):
    paths = pipeline.write_corpus(tmp_path, entries)
    held_out, rest = (
        {json.loads(line)["id"] for line in path.read_text().splitlines()} for path in paths
    )

    assert held_out | rest == {entry.id for entry in entries}
    assert not held_out & rest
    assert 120 < len(held_out) < 180


def test_every_model_encodes_the_held_out_entries_and_is_fitted_to_the_rest(
    entries: list[Entry], tmp_path: Path
):
    embed(tmp_path)
    held_out = [entry.id for entry in entries if pipeline.is_held_out(entry.id)]

    for model, dimensions in ((REFERENCE, 40), (CANDIDATES[0], 6), (CANDIDATES[1], 15)):
        table = read_embeddings(tmp_path / "models" / model.name / "holdout_embeddings.npy")
        assert table.ids == held_out
        assert table.vectors.shape == (len(held_out), dimensions)
    from rankwell.vectors.encoders.tfidf_svd import TfidfSvd

    rest = [pipeline.text_of(entry) for entry in entries if not pipeline.is_held_out(entry.id)]
    expected = (
        TfidfSvd(6)
        .fit(rest)
        .encode([pipeline.text_of(entry) for entry in entries if pipeline.is_held_out(entry.id)])
    )
    assert np.array_equal(
        read_embeddings(tmp_path / "models" / "small" / "holdout_embeddings.npy").vectors, expected
    )


def test_only_what_is_missing_is_made(entries: list[Entry], tmp_path: Path, capsys):
    embed(tmp_path)
    large, small = (
        tmp_path / "models" / name / "holdout_embeddings.npy" for name in ("large", "small")
    )
    large.write_bytes(b"left alone")
    whole = small.read_bytes()
    small.unlink()
    capsys.readouterr()

    embed(tmp_path)

    assert large.read_bytes() == b"left alone"
    assert small.read_bytes() == whole
    assert f"{large} is there" in capsys.readouterr().err


def test_embeddings_of_other_texts_are_not_taken_for_these(entries: list[Entry], tmp_path: Path):
    embed(tmp_path)
    entries[:] = [entry._replace(text=f"{entry.text} more") for entry in entries]

    with pytest.raises(BadUsage, match="made from other texts"):
        embed(tmp_path)


def test_the_evaluation_writes_the_sources_files_for_every_candidate(
    entries: list[Entry], tmp_path: Path
):
    embed(tmp_path)
    text = pipeline.evaluate(tmp_path, reference=REFERENCE, candidates=CANDIDATES)
    folder = tmp_path / "results" / "ada_eval"

    assert "EVALUATION RESULTS (vs large as Ground Truth)" in text
    assert (folder / "metrics_vs_k.png").read_bytes().startswith(b"\x89PNG")
    recall = {}
    for name in ("small", "middle"):
        with (folder / f"{name}_results.csv").open(newline="") as stream:
            rows = list(csv.DictReader(stream))
        assert [row["k"] for row in rows] == ["1", "3", "5", "10"]
        recall[name] = float(rows[3]["recall_mean"])
    assert 10 / 150 < recall["small"] < recall["middle"] < 1


@pytest.mark.parametrize("arguments", [[], ["frobnicate"], ["eval", "a", "b"]])
def test_bad_usage_is_one_line(arguments: list[str], capsys):
    assert pipeline.main(arguments) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_an_evaluation_without_embeddings_is_one_line(tmp_path: Path, capsys):
    assert pipeline.main(["eval", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
