"""Runs computed from the images: vectors by an encoder, or scores of pairs by local features."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.core.tables.matrices import Embeddings, Scores
from rankwell.encoders import ImageSettings, load_image_encoder
from rankwell.encoders.runs import Failure, encode_images
from rankwell.errors import BadInput, BadUsage, flag
from rankwell.evaluation.results import progress_of
from rankwell.tasks.instances.images import Images
from rankwell.tasks.instances.local_features import LocalFeatures, PairMatches
from rankwell.tasks.instances.options import ENCODER_SETTINGS, ImageSystemOptions

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False, kw_only=True)
class ComputedRun:
    """A run and its cost: vectors of all images, or scores of queries and references. failures:
    images not encoded.
    """

    run: str
    vectors: Embeddings | None = None
    scores: Scores | None = None
    failures: tuple[Failure, ...]
    performance: dict[str, Any]
    rules: dict[str, Any]


def compute_run(
    images: Images | None,
    system: ImageSystemOptions,
    *,
    run: str | None,
    progress: Progress | None = None,
) -> ComputedRun | None:
    """The run of the system; None where neither an encoder nor local features are named. Raises
    BadUsage for both.
    """
    if system.encoder is not None and system.local_features is not None:
        what = "--encoder and --local-features are two systems"
        raise BadUsage(f"{what}; evaluate one after the other, then set them side by side.")
    if system.encoder is not None:
        settings = ImageSettings(**{name: getattr(system, name) for name in ENCODER_SETTINGS})
        return by_encoder(
            images, system.encoder, settings, run=run, cache=system.cache, progress=progress
        )
    if system.local_features is not None:
        numbers = {"longest": system.longest, "processes": system.processes}
        chosen: dict[str, Any] = {
            name: value for name, value in numbers.items() if value is not None
        }
        features = LocalFeatures(
            system.local_features, system.score or "inliers", cache=system.cache, **chosen
        )
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
    """The vectors of all images; one that cannot be encoded is listed. Raises BadUsage where no
    image has a file.
    """
    start = time.perf_counter()
    images, paths = _with_files(images, "an encoder")
    model = load_image_encoder(encoder, settings or ImageSettings())
    encoded = encode_images(
        images.ids, paths, model, cache=cache, progress=progress_of(progress, "encoding")
    )
    return ComputedRun(
        run=run or _encoder_name(encoder),
        vectors=encoded.embeddings,
        failures=encoded.failures,
        performance={
            "images": encoded.embeddings.n,
            "images_from_cache": encoded.cached,
            "encode_seconds_per_image": float(encoded.seconds.mean()),
            "seconds_making": time.perf_counter() - start,
        },
        rules={"encoder": encoded.encoder},
    )


def by_local_features(
    images: Images | None,
    features: LocalFeatures,
    *,
    run: str | None = None,
    progress: Progress | None = None,
) -> ComputedRun:
    """The score of every query with every reference; an image that cannot be read is listed. Raises
    BadUsage, BadInput.
    """
    start = time.perf_counter()
    images, paths = _with_files(images, "local features")
    found, scores = matched(images, features, progress)
    problems = [
        (name, path) for name, path in zip(images.ids, paths, strict=True) if path in found.problems
    ]
    return ComputedRun(
        run=run or f"{features.descriptor}-{features.score}",
        scores=scores,
        failures=tuple(Failure(name, path, found.problems[path]) for name, path in problems),
        performance={
            "images": len(paths) - len(found.problems),
            "images_from_cache": found.cached,
            "encode_seconds_per_image": float(np.mean(list(found.feature_seconds.values()))),
            "seconds_per_query": float(found.matching_seconds.mean()),
            "seconds_making": time.perf_counter() - start,
        },
        rules={"local_features": features.describe()},
    )


def matched(
    images: Images, features: LocalFeatures, progress: Progress | None
) -> tuple[PairMatches, Scores]:
    """The matches of all queries with all references, and the scores of those that can be read.
    Raises BadInput without any.
    """
    sides = images.queries(), images.references()
    paths = [side.paths or () for side in sides]
    found = features.compare(*paths, progress=progress)
    kept = [
        np.array([path not in found.problems for path in side], dtype=np.bool_) for side in paths
    ]
    for what, rows in zip(("query", "reference"), kept, strict=True):
        if not rows.any():
            raise BadInput(f"no {what} could be read; first {next(iter(found.problems.values()))}")
    names = [
        [name for name, good in zip(side.ids, rows.tolist(), strict=True) if good]
        for side, rows in zip(sides, kept, strict=True)
    ]
    return found, Scores(found.scores(features.score)[np.ix_(*kept)], *names)


def _with_files(images: Images | None, what: str) -> tuple[Images, tuple[Path, ...]]:
    if images is None or images.paths is None:
        raise BadUsage(
            f"{what}: there are no image files to read; name the data set with its folder "
            f"({flag('--root')} for a table)."
        )
    return images, images.paths


def _encoder_name(encoder: Any) -> str:
    """The name of an encoder's run: the text that named it, of a file its name."""
    if not isinstance(encoder, str):
        return type(encoder).__name__
    family, colon, rest = encoder.partition(":")
    if colon and rest.endswith((".onnx", ".pt", ".pth")):
        return f"{family}:{Path(rest).stem}"
    return Path(encoder).stem if encoder.endswith(".onnx") or "/" in encoder else encoder
