"""The smallest command of the task and its inputs."""

from pathlib import Path

import numpy as np

COMMAND = "embeddings left.npy --reference right.npy -k 1"


def write(folder: Path) -> None:
    """Writes the inputs."""
    random = np.random.default_rng(1)
    np.save(folder / "left.npy", random.standard_normal((12, 4)))
    np.save(folder / "right.npy", random.standard_normal((12, 5)))
