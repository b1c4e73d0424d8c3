"""Every task that reads judgments passes on what their reader noted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwell as rw

VECTORS = np.random.default_rng(0).normal(size=(12, 4))
CALLS: dict[str, Callable[[str], Any]] = {
    "embeddings": lambda labels: rw.evaluate_embeddings(
        VECTORS, VECTORS, qrels=labels, k=3, intervals="none", item_ids=list(map(str, range(12)))
    ),
    "beyond": lambda judgments: rw.evaluate_beyond(
        {"1": {"2": 1.0}}, qrels=judgments, intervals="none"
    ),
    "engine": lambda qrels: rw.evaluate_engine(
        lambda query, k: ["2"][:k], {"1": "text"}, qrels=qrels, rounds=1
    ),
}


@pytest.mark.parametrize("task", CALLS)
def test_the_note_of_the_reader_is_among_those_of_the_results(tmp_path: Path, task: str):
    (tmp_path / "marked.qrels").write_bytes(b"\xef\xbb\xbf1 0 2 1\n")

    assert any(
        "byte order mark" in note for note in CALLS[task](str(tmp_path / "marked.qrels")).notes
    )
