"""A data set of images with instance labels, made of the real pictures that come with scikit-learn
or scikit-image.

Instances are sub-regions of the pictures; references are photographs of them as a museum takes
them, queries as visitors do: cropped, askew, blurred, too dark or too bright. Among the references
are pictures without content, among the queries some of instances that no reference shows.
"""

from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
import pytest
from PIL import Image

from rankwell.tasks.images.drawn_museum import nothing, photograph


class Museum(NamedTuple):
    """Where it lies, and what is in it: instance -> (references, queries); absent instances have no
    references.
    """

    folder: Path
    instances: dict[str, tuple[int, int]]
    contentless: int

    @property
    def shown(self) -> dict[str, tuple[int, int]]:
        """The instances that are among the references."""
        return {name: counts for name, counts in self.instances.items() if counts[0]}

    @property
    def references(self) -> int:
        return sum(counts[0] for counts in self.instances.values())

    @property
    def queries(self) -> int:
        return sum(counts[1] for counts in self.instances.values())


def real_pictures() -> dict[str, Image.Image]:
    """Name -> picture, of whatever is installed without a download; the test is skipped where
    nothing is.
    """
    pictures: dict[str, Image.Image] = {}
    datasets = pytest.importorskip("sklearn.datasets", reason="could not import sklearn")
    loaded = datasets.load_sample_images()
    for name, pixels in zip(loaded.filenames, loaded.images, strict=True):
        pictures[Path(name).stem] = Image.fromarray(np.asarray(pixels))
    try:
        from skimage import data
    except ImportError:
        return pictures
    for name in ("astronaut", "chelsea", "coffee", "rocket"):
        try:
            pictures[name] = Image.fromarray(np.asarray(getattr(data, name)())[..., :3])
        except (OSError, RuntimeError, ImportError):  # Some of them are fetched when asked for.
            continue
    return pictures


def build_museum(
    folder: Path,
    *,
    across: int = 3,
    down: int = 2,
    absent: int = 2,
    contentless: int = 4,
    seed: int = 7,
) -> Museum:
    """Cuts each picture into across x down instances; the last `absent` of all have no
    reference.
    """
    random = Random(seed)
    regions: dict[str, Image.Image] = {}
    for name, picture in sorted(real_pictures().items()):
        wide, high = picture.width // across, picture.height // down
        for row in range(down):
            for column in range(across):
                box = (column * wide, row * high, (column + 1) * wide, (row + 1) * high)
                regions[f"{name}-{row}{column}"] = picture.crop(box)
    counts: dict[str, tuple[int, int]] = {}
    for place, (name, region) in enumerate(regions.items()):
        here = 0 if place >= len(regions) - absent else 1 + place % 3
        counts[name] = (here, 1 + place % 2)
        for side, number, badness in (("references", here, 0.3), ("queries", counts[name][1], 0.9)):
            for shot in range(number):
                _save(
                    photograph(region, random, badness=badness),
                    folder / side / name / f"{shot}.jpg",
                )
    for shot in range(contentless):
        _save(nothing(random), folder / "references" / "contentless" / f"{shot}.jpg")
    return Museum(folder, counts, contentless)


def _save(image: Image.Image, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path, quality=90)
