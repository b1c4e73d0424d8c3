"""Runs computed from the images: vectors by an encoder, or scores of pairs by local features."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell.core.tables.matrices import Embeddings, Scores
from rankwell.encoders import ImageSettings, load_image_encoder, parse_size
from rankwell.encoders.runs import encode_images
from rankwell.errors import BadInput, BadUsage
from rankwell.evaluation.results import Progress as RunProgress
from rankwell.tasks.instances.images import Images
from rankwell.tasks.instances.local_features import LocalFeatures
from rankwell.tasks.instances.options import ImageSystemOptions

Progress = Callable[[str, int, int], None]


class FailedImage(NamedTuple):
    """An image that could not be encoded, and the reason."""

    image: str
    file: str
    problem: str


@dataclass(frozen=True, eq=False)
class ComputedRun:
    """A run and its cost. vectors: of all images that have one, scores: of queries and references; one of the two.

    performance: `encode_seconds_per_image`, where known `seconds_per_query`, `images`, and `seconds_making`, the time from start
    to end. rules: those that decide the numbers.
    """

    run: str
    vectors: Embeddings | None
    scores: Scores | None
    failures: tuple[FailedImage, ...]
    performance: dict[str, Any]
    rules: dict[str, Any]


def compute_run(
    images: Images | None, system: ImageSystemOptions, *, run: str | None, progress: Progress | None = None
) -> ComputedRun | None:
    """The run of the system; None where neither an encoder nor local features are named. Raises BadUsage for both."""
    if system.encoder is not None and system.local_features is not None:
        raise BadUsage(
            "--encoder and --local-features are two systems; evaluate one after the other, then set them side by side."
        )
    if system.encoder is not None:
        settings = ImageSettings(
            size=None if system.size is None else parse_size(system.size),
            output=system.output_name,
            weights=system.weights,
            batch_size=system.batch_size,
            device=system.device,
        )
        return by_encoder(images, system.encoder, settings, run=run, cache=system.cache, progress=progress)
    if system.local_features is not None:
        numbers = {"longest": system.longest, "processes": system.processes}
        chosen: dict[str, Any] = {name: value for name, value in numbers.items() if value is not None}
        features = LocalFeatures(system.local_features, system.score or "inliers", cache=system.cache, **chosen)
        return by_local_features(images, features, run=run, progress=progress)
    return None


def by_encoder(
    images: Images | None,
    encoder: Any,
    settings: ImageSettings | None = None,
    *,
    run: str | None = None,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> ComputedRun:
    """The vectors of all images. encoder: as `load_image_encoder` reads it. cache: as for `encode_images`.

    An image that cannot be encoded is listed; it counts as not found. Raises BadUsage where no image has a file.
    """
    paths = _paths(images, "an encoder")
    start = time.perf_counter()
    model = load_image_encoder(encoder, settings or ImageSettings())
    shown = RunProgress.of(progress, "encoding")
    encoded = encode_images(list(paths), list(paths.values()), model, cache=cache, progress=shown)
    report = encoded.report
    return ComputedRun(
        run=run or _encoder_name(encoder),
        vectors=encoded.embeddings,
        scores=None,
        failures=tuple(FailedImage(each.id, str(each.path), each.message) for each in report.failures),
        performance={
            "images": encoded.embeddings.n,
            "images_from_cache": report.cached,
            "encode_seconds_per_image": float(report.seconds.mean()),
            "seconds_making": time.perf_counter() - start,
        },
        rules={"encoder": report.encoder},
    )


def by_local_features(
    images: Images | None, features: LocalFeatures, *, run: str | None = None, progress: Progress | None = None
) -> ComputedRun:
    """The score of every query with every reference; an image that cannot be read is listed, and counts as not found.

    Raises BadUsage where no image has a file, BadInput where no query or no reference can be read.
    """
    paths = _paths(images, "local features")
    start = time.perf_counter()
    sides = images or Images.from_entries([])
    queries, references = sides.queries().ids, sides.references().ids
    found = features.compare([paths[name] for name in queries], [paths[name] for name in references], progress=progress)
    kept = [np.array([paths[name] not in found.problems for name in side], dtype=np.bool_) for side in (queries, references)]
    if not all(each.any() for each in kept):
        raise BadInput(f"none of the images of one side can be read; first: {next(iter(found.problems.values()))}")
    problems = {name: found.problems[path] for name, path in paths.items() if path in found.problems}
    seconds = np.array(list(found.feature_seconds.values()))
    return ComputedRun(
        run=run or f"{features.descriptor}-{features.score}",
        vectors=None,
        scores=Scores(
            found.scores(features.score)[np.ix_(*kept)],
            [name for name, good in zip(queries, kept[0].tolist(), strict=True) if good],
            [name for name, good in zip(references, kept[1].tolist(), strict=True) if good],
        ),
        failures=tuple(FailedImage(name, str(paths[name]), problem) for name, problem in problems.items()),
        performance={
            "images": len(paths) - len(found.problems),
            "images_from_cache": found.cached,
            "encode_seconds_per_image": float(seconds.mean()),
            "seconds_per_query": float(found.matching_seconds.mean()),
            "seconds_making": time.perf_counter() - start,
        },
        rules={"local_features": features.describe()},
    )


def _paths(images: Images | None, what: str) -> dict[str, Path]:
    """The file of each image."""
    if images is None or images.paths is None:
        raise BadUsage(f"{what}: there are no image files to read; name the data set with its folder (--root for a table).")
    return dict(zip(images.ids, images.paths, strict=True))


def _encoder_name(encoder: Any) -> str:
    """The name of an encoder's run: the text that named it, of a file its name."""
    if not isinstance(encoder, str):
        return type(encoder).__name__
    family, colon, rest = encoder.partition(":")
    if colon and rest.endswith((".onnx", ".pt", ".pth")):
        return f"{family}:{Path(rest).stem}"
    return Path(encoder).stem if encoder.endswith(".onnx") or "/" in encoder else encoder
