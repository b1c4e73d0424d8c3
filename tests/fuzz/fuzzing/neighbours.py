"""Fuzzers of ann-benchmarks' lists of neighbours in HDF5, read as judgments and as a run."""

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from fuzzing import FORMATS, FUZZERS, Fuzzer, Refused, Undecided
from fuzzing.mutations import binary_file
from fuzzing.reference import ask
from fuzzing.tables import read


def _write(rng: Random, folder: Path) -> Path:
    import h5py

    path = folder / "input.hdf5"
    path.unlink(missing_ok=True)
    k = rng.randint(1, 4)
    near = np.array([rng.sample(range(9), k) for _ in range(rng.randint(1, 3))], dtype=np.int32)
    if k > 1 and rng.random() < 0.3:
        near[0, -1] = -1
    with h5py.File(path, "w") as file:
        file.create_dataset(
            "neighbors", data=near, **({"compression": "gzip"} if rng.random() < 0.3 else {})
        )
        file.create_dataset("distances", data=np.zeros(near.shape, dtype=np.float32))
    return path


def _plain(holds: str) -> Callable[[Path], Any]:
    def _of(path: Path) -> Any:
        found = ask("neighbours", path).get("neighbors")
        if found is None or len(found["shape"]) != 2 or found["kind"] not in "iu":
            raise Refused("no neighbours")
        rows = np.array(found["whole"], dtype=object).reshape(found["shape"]).tolist()
        kept = [[item for item in row if int(item) >= 0] for row in rows]
        if any(int(item) < -1 or int(item) >= 1 << 62 for row in rows for item in row):
            raise Undecided("large numbers")
        if any(len(set(row)) < len(row) for row in kept):
            raise Refused("an item is there twice")
        ranks = [[rank for rank, item in enumerate(row, 1) if int(item) >= 0] for row in rows]
        numbers = ranks if holds == "run" else [[1] * len(row) for row in kept]
        sign = -1.0 if holds == "run" else 1.0
        return {
            str(query): {item: sign * number for item, number in zip(items, own, strict=True)}
            for query, (items, own) in enumerate(zip(kept, numbers, strict=True))
            if items
        }

    return _of


for _holds in ("run", "judgments"):
    FUZZERS[f"{FORMATS}: hdf5 {_holds}"] = Fuzzer(
        _write, binary_file, read(_holds, "hdf5"), _plain(_holds)
    )
