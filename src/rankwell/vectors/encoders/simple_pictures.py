"""Pictures to vectors without any model: their colours, what remains of them at the size of a
stamp, and their edges.
"""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rankwell.errors import BadUsage
from rankwell.threads import in_threads
from rankwell.vectors.encoders import (
    ImageEncoder,
    ImageSettings,
    Singles,
    image_encoder,
    unit_length,
)
from rankwell.vectors.media.images import read_picture

if TYPE_CHECKING:
    from PIL.Image import Image


def colour_histogram(image: "Image", *, bins: int = 4) -> Singles:
    """The square roots of the shares of pixels in each of bins³ cells of the RGB cube; the length
    is 1.

    With roots, the dot product of two histograms is their Bhattacharyya coefficient, and few pixels
    count against many.
    """
    cells = (np.asarray(image.convert("RGB"), dtype=np.int64).reshape(-1, 3) * bins) // 256
    counts = np.bincount(cells @ (bins**2, bins, 1), minlength=bins**3)
    return np.sqrt(counts / counts.sum()).astype(np.float32)


def small_grey(image: "Image", *, width: int = 16, height: int = 9) -> Singles:
    """The brightness of each pixel of the picture at that size, less its mean; the length is 1, or
    0 for an even picture.

    Invariant to brightness and contrast; what is where decides.
    """
    from PIL.Image import Resampling

    grey = np.asarray(
        image.convert("L").resize((width, height), Resampling.BOX), dtype=np.float64
    ).ravel()
    return unit_length((grey - grey.mean())[None])[0]


def colours_and_shapes(images: Iterable["Image"]) -> Singles:
    """The colour histogram and small grey version of each picture side by side, each with the same
    say; every length is 1. Returns (images, 208).
    """
    rows = [np.concatenate([colour_histogram(image), small_grey(image)]) for image in images]
    return unit_length(np.array(rows, dtype=np.float32).reshape(len(rows), 4**3 + 16 * 9))


def edges(images: Iterable["Image"], part: tuple[float, float, float, float]) -> Singles:
    """Where in a part of each picture its brightness changes, 16 · 12 numbers; the length is 1, or
    0 for an even picture.

    part: left, top, right and bottom as shares of the picture. Day and night look alike, what
    stands there does not.
    """
    from PIL import ImageFilter, ImageOps

    rows = list[Singles]()
    for image in images:
        left, top, right, bottom = (
            round(share * side) for share, side in zip(part, image.size * 2, strict=True)
        )
        edge_picture = (
            image.crop((left, top, right, bottom)).convert("L").filter(ImageFilter.FIND_EDGES)
        )
        # The filter leaves the outermost pixels as they are.
        rows.append(small_grey(ImageOps.crop(edge_picture, 1), height=12))
    return np.array(rows, dtype=np.float32).reshape(len(rows), 16 * 12)


_LONGEST = 256
"""Pixels of the longer side that pictures are looked at with: shares of colours and a stamp hardly
change with more.
"""


@image_encoder("colour-histogram")
def load_colour_histogram(model: str, settings: ImageSettings) -> ImageEncoder:
    """Colours alone; `colour-histogram:8` has 8 x 8 x 8 cells, without a number 4 x 4 x 4."""
    (bins,) = _numbers("colour-histogram:BINS", model or "4")
    if bins > 64:
        raise BadUsage(
            f"colour-histogram:{bins} has {bins**3:,} cells; expected at most 64 x 64 x 64."
        )
    return _simple(f"colour-histogram:{bins}", partial(colour_histogram, bins=bins), settings)


@image_encoder("small-grey")
def load_small_grey(model: str, settings: ImageSettings) -> ImageEncoder:
    """The layout of bright and dark areas; `small-grey:32x32` is 32 pixels wide and high, without
    numbers 16 x 9.
    """
    width, height = _numbers("small-grey:WIDTHxHEIGHT", model or "16x9")
    return _simple(
        f"small-grey:{width}x{height}", partial(small_grey, width=width, height=height), settings
    )


@image_encoder("colours-and-shapes")
def load_colours_and_shapes(model: str, settings: ImageSettings) -> ImageEncoder:
    """Both of the others side by side, 208 numbers."""
    if model:
        raise BadUsage(
            f"colours-and-shapes:{model}; colours-and-shapes has no numbers of its own, leave "
            "them out."
        )
    return _simple("colours-and-shapes", lambda image: colours_and_shapes([image])[0], settings)


def _simple(
    name: str, describe: Callable[["Image"], Singles], settings: ImageSettings
) -> ImageEncoder:
    """An encoder that needs no model. describe: the vector of one picture, the same in any
    company.
    """
    from PIL import __version__

    settings.allow(name, "batch_size")
    description = {
        "family": name.partition(":")[0],
        "model": name,
        "longest": _LONGEST,
        "versions": {"pillow": __version__},
    }

    def _vector(path: Path) -> Singles:
        return describe(read_picture(path, longest=_LONGEST))

    return ImageEncoder(
        name,
        lambda paths: np.stack(in_threads(_vector, paths)),
        description,
        settings.batch_size or 16,
    )


def _numbers(form: str, text: str) -> list[int]:
    """As many numbers as the form has, in the text behind the name of a family."""
    family, _, expected = form.partition(":")
    parts = text.split("x")
    if len(parts) != len(expected.split("x")) or not all(
        part.isdecimal() and 0 < int(part) <= 4096 for part in parts
    ):
        raise BadUsage(f"{family}:{text}; expected integers from 1 to 4096, such as {form}.")
    return [int(part) for part in parts]
