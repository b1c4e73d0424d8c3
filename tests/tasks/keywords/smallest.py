"""The smallest command of the task and its inputs."""

from pathlib import Path

import numpy as np

COMMAND = "keywords --annotations clips.csv --item-vectors vectors.npy --item-ids ids.txt"


def write(folder: Path) -> None:
    """Writes the inputs."""
    (folder / "clips.csv").write_text(
        "slice_id,pv_object_type\na,bicyclist\nb,bicyclist\nc,pedestrian\n", encoding="utf-8"
    )
    (folder / "ids.txt").write_text("a\nb\nc\n", encoding="utf-8")
    np.save(folder / "vectors.npy", np.eye(3))
