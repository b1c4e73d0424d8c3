"""What `--dry-run` prints of tables that no machine holds: it needs their sizes alone."""

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commanding import with_fields
from rankwell.tasks.crossmodal.task import crossmodal
from rankwell.tasks.embeddings.task import embeddings

ITEMS = 10**9
_MOST = 64 << 20
"""Bytes of memory; an array of an integer for each item has 8 GB."""


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """Tables with holes, which have no blocks on the disk."""
    for name, rows, dimensions in (
        ("base", ITEMS, 768),
        ("small", ITEMS, 384),
        ("queries", 1000, 768),
    ):
        with (tmp_path / f"{name}.npy").open("wb") as stream:
            header = {"descr": "<f4", "fortran_order": False, "shape": (rows, dimensions)}
            np.lib.format.write_array_header_1_0(stream, header)
            stream.truncate(stream.tell() + 4 * rows * dimensions)
    return tmp_path


def forecast(command: Callable[..., Any], *places: str, **options: Any) -> dict[str, str]:
    """The lines of a dry run, which has little memory."""
    tracemalloc.start()
    try:
        output = with_fields(command)(*places, dry_run=True, executor="array", **options)
        assert tracemalloc.get_traced_memory()[1] < _MOST
    finally:
        tracemalloc.stop()
    return dict(line.rsplit(None, 1) for line in output.text.splitlines())


@pytest.mark.parametrize(
    ("samples", "queries"), [("1000", 1000), ("1000000", 10**6), ("all", ITEMS)]
)
def test_models_of_a_billion_items_need_no_sample(tables: Path, samples: str, queries: int):
    costs = forecast(
        embeddings.command(),
        str(tables / "small.npy"),
        reference=str(tables / "base.npy"),
        samples=samples,
    )

    # The lists of both models, then the ranks of either's neighbours by the other.
    assert costs["products"] == f"{4 * queries * ITEMS:,}"


@pytest.mark.parametrize("ties", ["expected", "input-desc", "id-asc"])
def test_a_billion_videos_need_no_array_of_them(tables: Path, ties: str):
    (tables / "positives.json").write_text(
        json.dumps([[7 * (caption // 2)] for caption in range(1000)])
    )
    places = {
        "query_vectors": str(tables / "queries.npy"),
        "item_vectors": str(tables / "base.npy"),
    }

    costs = forecast(
        crossmodal.command(),
        **places,
        qrels=str(tables / "positives.json"),
        ties=ties,
        direction="t2v,v2t,v2t-videos",
    )

    # Among videos only those that have captions are compared.
    assert costs["products"] == f"{2 * 1000 * ITEMS + 500 * 1000:,}"
