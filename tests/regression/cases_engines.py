"""Command lines of engines; the list of them has the versions of this machine and is in
tests/engines/test_conformance.py.
"""

from pathlib import Path

import numpy as np


def write(folder: Path) -> None:
    """Two queries with their vectors."""
    (folder / "engine_queries.tsv").write_text("q1\tred river\nq2\tblue hill\n")
    np.save(folder / "engine_queries.npy", np.eye(2, dtype=np.float32))


CASES = {
    "engines/check": "engines check sqlite-fts5 --option words=all",
    "engines/check-json": "engines check sqlite-fts5 --format json",
    "engines/check-failing": "engines check textwrap:wrap --queries engine_queries.tsv "
    "--query-vectors "
    "engine_queries.npy",
    "engines/check-unknown": "engines check sqlite",
}
