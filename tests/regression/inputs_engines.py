"""Inputs of the cases of `engine list`: two queries with their vectors."""

from pathlib import Path

import numpy as np


def write(folder: Path) -> None:
    """Two queries with their vectors."""
    (folder / "engine_queries.tsv").write_text("q1\tred river\nq2\tblue hill\n")
    np.save(folder / "engine_queries.npy", np.eye(2, dtype=np.float32))
