"""The files of ids are inputs of a result, in its manifest: those that are named, and those beside
vectors and score matrices.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwell.cli import main

IDS = {"clips": [f"c{row}" for row in range(12)], "names": [f"c{row}" for row in range(12)]}
IDS["items"] = [f"v{row}" for row in range(12)]
COMMANDS = {
    "keywords, beside": (
        "keywords --annotations tags.csv --item-vectors clips.npy",
        {"item_vectors ids": "clips.ids.txt"},
    ),
    "keywords, named": (
        "keywords --annotations tags.csv --item-vectors bare.npy --item-ids names.txt",
        {"item_ids": "names.txt"},
    ),
    "embeddings, both": (
        "embeddings --reference clips.npy bare.npy --item-ids names.txt",
        {"item_ids": "names.txt", "clips ids": "clips.ids.txt"},
    ),
    "crossmodal, both": (
        "crossmodal --query-vectors clips.npy --item-vectors bare.npy --item-ids items.txt "
        "--qrels qrels.txt",
        {"item_ids": "items.txt", "query_vectors ids": "clips.ids.txt"},
    ),
    "crossmodal, scores": (
        "crossmodal bare_scores.npy --query-ids names.txt --item-ids items.txt --qrels qrels.txt",
        {"query_ids": "names.txt", "item_ids": "items.txt"},
    ),
    "images, both": (
        "images --query-vectors clips.npy --item-vectors bare.npy --item-ids items.txt "
        "--qrels qrels.txt",
        {"item_ids": "items.txt", "query_vectors ids": "clips.ids.txt"},
    ),
    "images, beside scores": (
        "images --scores scores.npy --qrels qrels.txt",
        {
            "scores ids of queries": "scores.queries.txt",
            "scores ids of references": "scores.references.txt",
        },
    ),
}


@pytest.mark.parametrize("case", COMMANDS)
def test_files_of_ids_are_inputs_with_their_digest(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(12, 6))
    for name in ("clips", "bare"):
        np.save(f"{name}.npy", vectors + rng.normal(size=(12, 6)) / 4)
    for name in ("scores", "bare_scores"):
        np.save(f"{name}.npy", vectors @ vectors.T)
    Path("clips.ids.txt").write_text("\n".join(IDS["clips"]))
    for name in ("names", "items"):
        Path(f"{name}.txt").write_text("\n".join(IDS[name]))
    Path("scores.queries.txt").write_text("\n".join(IDS["names"]))
    Path("scores.references.txt").write_text("\n".join(IDS["items"]))
    Path("qrels.txt").write_text("".join(f"c{row} 0 v{row} 1\n" for row in range(12)))
    Path("tags.csv").write_text(
        "slice_id,scene_type\n" + "".join(f"c{row},{'ab'[row % 2]}\n" for row in range(12))
    )
    line, expected = COMMANDS[case]
    monkeypatch.setattr("sys.argv", ["rankwell", *line.split(), "-o", "result"])

    assert main() == 0, capsys.readouterr().err
    inputs = json.loads(Path("result/manifest.json").read_text())["inputs"]

    of_ids = {name: fact["file"] for name, fact in inputs.items() if "ids" in name}
    assert of_ids == expected
    for name, file in expected.items():
        digest = hashlib.sha256(Path(file).read_bytes()).hexdigest()
        assert inputs[name]["digest"] == f"sha256:{digest}"
