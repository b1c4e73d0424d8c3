"""Runs computed from the images: vectors by an encoder, or scores of pairs by local features."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankwell.comparison.folders import split_name
from rankwell.data.matrices import Embeddings, Scores
from rankwell.errors import BadInput, BadUsage, flag
from rankwell.evaluation.results import progress_of
from rankwell.tasks.images.images import Images
from rankwell.tasks.images.local_features import LocalFeatures, PairMatches
from rankwell.tasks.images.options import ENCODER_SETTINGS, ImageSystemOptions
from rankwell.vectors.encoders import ImageSettings, load_image_encoder
from rankwell.vectors.encoders.runs import Failure, encode_images

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False, kw_only=True)
class ComputedRun:
    """A run and its cost.

    run: name of the run.
    table: vectors of all images, or scores of queries and references, without images that could not
        be read.
    failures: images that could not be encoded or read.
    performance: numbers of images, and seconds that they took.
    rules: the encoder or the local features, with everything that decides the numbers.
    """

    run: str
    table: Embeddings | Scores
    failures: tuple[Failure, ...]
    performance: dict[str, Any]
    rules: dict[str, Any]


def compute_run(
    images: Images | None, options: ImageSystemOptions, *, progress: Progress | None = None
) -> ComputedRun:
    """The run of the encoder or of the local features that options name. Raises BadUsage for
    both.
    """
    if options.local_features is None:
        settings = ImageSettings(**{name: getattr(options, name) for name in ENCODER_SETTINGS})
        name, encoder = split_name(options.encoder or "")
        return by_encoder(
            images, encoder, settings, run=name or None, cache=options.cache, progress=progress
        )
    if options.encoder is not None:
        raise BadUsage(
            "--encoder and --local-features are two systems; evaluate one after the other, then "
            "set them side by side."
        )
    features = LocalFeatures.parse(
        options.local_features, cache=options.cache, executor=options.executor
    )
    return by_local_features(images, features, progress=progress)


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
        table=encoded.embeddings,
        failures=encoded.failures,
        performance={
            "images": encoded.embeddings.n,
            "images_from_cache": encoded.cached,
            "encode_seconds_per_image": float(encoded.seconds.mean()),
            "seconds_making": time.perf_counter() - start,
        },
        rules={"encoder": encoded.encoder, "method": encoded.encoder.get("model", run)},
    )


def by_local_features(
    images: Images | None, features: LocalFeatures, *, progress: Progress | None = None
) -> ComputedRun:
    """The score of every query with every reference; an image that cannot be read is listed. Raises
    BadUsage, BadInput.
    """
    start = time.perf_counter()
    images, paths = _with_files(images, "local features")
    matches, scores = match_images(images, features, progress)
    return ComputedRun(
        run=f"{features.descriptor}{'-matches' * (features.score == 'matches')}",
        table=scores,
        failures=tuple(
            Failure(name, path, matches.problems[path])
            for name, path in zip(images.ids, paths, strict=True)
            if path in matches.problems
        ),
        performance={
            "images": len(paths) - len(matches.problems),
            "images_from_cache": matches.cached,
            "encode_seconds_per_image": float(np.mean(list(matches.feature_seconds.values()))),
            "seconds_per_query": float(matches.matching_seconds.mean()),
            "seconds_making": time.perf_counter() - start,
        },
        rules={"local_features": features.describe(), "method": str(features)},
    )


def match_images(
    images: Images, features: LocalFeatures, progress: Progress | None
) -> tuple[PairMatches, Scores]:
    """The matches of all queries with all references, and the scores of those that can be read.
    Raises BadInput without any.
    """
    sides = {"query": images.queries(), "reference": images.references()}
    matches = features.compare(*(side.paths or () for side in sides.values()), progress=progress)
    names, rows = list[list[str]](), list[list[int]]()
    for noun, side in sides.items():
        paths = enumerate(side.paths or ())
        rows.append([row for row, path in paths if path not in matches.problems])
        names.append([side.ids[row] for row in rows[-1]])
        if not names[-1]:
            problem = next(iter(matches.problems.values()))
            raise BadInput(f"no {noun} could be read; first {problem}")
    return matches, Scores(matches.scores(features.score)[np.ix_(*rows)], *names)


def _with_files(images: Images | None, system: str) -> tuple[Images, tuple[Path, ...]]:
    if images is None or images.paths is None:
        raise BadUsage(
            f"{system}: there are no image files to read; name the data set with its folder "
            f"({flag('--root')} for a table)."
        )
    return images, images.paths


def _encoder_name(encoder: Any) -> str:
    """The name of an encoder's run: the text that named it, of a file its name."""
    if not isinstance(encoder, str):
        return type(encoder).__name__
    family, colon, file = encoder.partition(":")
    if colon and file.endswith((".onnx", ".pt", ".pth")):
        return f"{family}:{Path(file).stem}"
    return Path(encoder).stem if encoder.endswith(".onnx") or "/" in encoder else encoder
