"""Lists of nearest neighbours as ann-benchmarks keeps them: `neighbors` and `distances` in an HDF5 file."""

from pathlib import Path

import numpy as np

from rankwell.core.tables import Floats, Ints
from rankwell.errors import MissingExtra
from rankwell.store import replacing

_DISTANCES = {"cosine": "angular", "l2": "euclidean", "dot": "dot"}


def write_ground_truth(path: Path, positions: Ints, scores: Floats, metric: str) -> None:
    """Writes neighbours whole or not at all.

    positions: (queries, k) rows of the base, -1 where fewer than k remain. scores: (queries, k) higher is nearer, NaN there.
    metric: `cosine`, `l2` (scores are negative distances) or `dot`. `distances` are 1 - cosine, the distance, or the negative
    product, in single precision as in ann-benchmarks; `scores` are kept beside them as they are.
    Raises MissingExtra without h5py.
    """
    try:
        import h5py
    except ImportError as error:
        raise MissingExtra("HDF5 files are written with h5py: pip install 'rankwell[formats]'.") from error
    distances = 1 - scores if metric == "cosine" else 0.0 - scores
    with replacing(path) as draft, h5py.File(draft, "w", track_order=True) as file:
        file.attrs["distance"] = _DISTANCES[metric]
        file.create_dataset("neighbors", data=positions.astype(np.int32 if positions.max(initial=0) < 2**31 else np.int64))
        file.create_dataset("distances", data=distances.astype(np.float32))
        file.create_dataset("scores", data=scores)
