"""The embedding cache of MTEB: float32 numbers without any header in `vectors.npy`, with `index.json` and `dimension` beside it.

Source: mteb 2.20, `NumpyCache`. The file grows by doubling, so that rows without an id may follow the last one.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.core.kernels.arrays import map_array
from rankwell.core.tables.embeddings import Embeddings
from rankwell.errors import BadInput
from rankwell.io import Request, file_format
from rankwell.store import Head, Source

_INDEX, _DIMENSION = "index.json", "dimension"


def _sniff(head: Head) -> float:
    if head.path is None or head.raw.startswith(b"\x93NUMPY"):
        return 0.0
    return 0.9 if all((head.path.parent / name).is_file() for name in (_INDEX, _DIMENSION)) else 0.0


@file_format("mteb-cache", "embeddings", sniff=_sniff)
def read_cache(source: Source, request: Request) -> Embeddings:  # noqa: ARG001 - one array leaves nothing to ask for
    """The vectors of the texts in the index, by the hashes that MTEB gives them; the rest of the file is spare room."""
    path = source.file or Path()
    dimension, rows = _dimension(path.parent / _DIMENSION), _rows(path.parent / _INDEX)
    size = path.stat().st_size
    if size % (4 * dimension):
        raise BadInput(f"vectors of {dimension} float32 need {4 * dimension} bytes each, the file has {size}; does it end early?")
    names = sorted(rows, key=rows.__getitem__)
    if [rows[name] for name in names] != list(range(len(names))):
        raise BadInput(f"{_INDEX} does not number its {len(names)} texts from 0 without gaps; make the cache again.")
    vectors = map_array(path, np.dtype("<f4"), (len(names), dimension), last=False)
    return Embeddings(names, vectors)


def _dimension(path: Path) -> int:
    text = path.read_text(errors="replace").strip()
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise BadInput(f"{path}: {text[:40]!r}; expected the dimension, a positive integer.")
    return int(text)


def _rows(path: Path) -> dict[str, int]:
    try:
        found: Any = json.loads(path.read_bytes())
    except ValueError as error:
        raise BadInput(f"{path}: {error}; expected a JSON object hash -> row.") from error
    if not isinstance(found, dict) or not all(type(row) is int for row in found.values()):
        raise BadInput(f"{path}: expected a JSON object hash -> row.")
    return found
