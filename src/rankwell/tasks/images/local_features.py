"""Runs computed from the images: vectors by an encoder, or scores of pairs by local features: SIFT,
the ratio test, and the number of matches that one homography explains.
"""

import math
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, get_args

import numpy as np
from numpy.typing import NDArray

from rankwell.data.matrices import Embeddings, Scores
from rankwell.data.options import NamedProgress, check_value, named_parameters
from rankwell.data.registry import suggest
from rankwell.data.tables import Floats, Ints
from rankwell.errors import BadInput, BadUsage, MissingExtra, UnknownName, flag
from rankwell.evaluation.results import progress_of
from rankwell.processes import Each, crew
from rankwell.store import Cache, Source, split_name
from rankwell.tasks.images.images import Images
from rankwell.tasks.images.options import ENCODER_SETTINGS, ImageSystemOptions
from rankwell.threads import processors
from rankwell.vectors.encoders import ImageSettings, load_image_encoder
from rankwell.vectors.encoders.runs import Failure, cached_arrays, encode_images, keep_arrays
from rankwell.vectors.media.images import read_picture

Singles = NDArray[np.float32]
Descriptor = Literal["rootsift", "sift"]
Score = Literal["inliers", "matches"]

_MOST_PROCESSES = 256
_SIDE = 16
"""Queries and references of a part of the work at most: it takes a second or so, and a reference is
made ready once for all.
"""
_NAMED = ("features", "ratio", "reprojection", "score", "max_size")
"""The parameters that a text may name."""
_CORNERS = 4
"""Any four matches fit a homography: fewer prove nothing."""


class Features(NamedTuple):
    """The features of a picture.

    points: (n, 2) x and y of each point in pixels.
    descriptors: (n, 128) a descriptor of each point; those of SIFT are integers up to 255.
    """

    points: Singles
    descriptors: NDArray[Any]


class MatchCounts(NamedTuple):
    """Numbers of matches between a query and a reference.

    matches: number of features of the query that match one of the reference.
    inliers: number of matches that one homography explains; 0 below four matches, and where matches
        are the score.
    """

    matches: int
    inliers: int


class _Picture(NamedTuple):
    """The SIFT features of a picture, or the problem with the picture.

    features: empty where there is a problem.
    seconds: time that finding the features took, also where they come from the cache.
    cached: whether the features come from the cache.
    problem: why the picture could not be read; empty where it could.
    """

    features: Features
    seconds: float
    cached: bool = False
    problem: str = ""


_NOTHING = Features(np.zeros((0, 2), dtype=np.float32), np.zeros((0, 128), dtype=np.uint8))


@dataclass(frozen=True, eq=False)
class PairMatches:
    """The matches of queries with references, and their cost.

    matches: (queries, references) numbers of features that match.
    inliers: (queries, references) numbers of matches that one homography explains; 0 where matches
        are the score.
    problems: picture -> why it could not be read; its matches are 0.
    feature_seconds: picture -> seconds that finding its features took, without pictures that could
        not be read.
    matching_seconds: (queries,) seconds that matching with all references took.
    cached: number of pictures whose features came from the cache.
    """

    matches: Floats
    inliers: Floats
    problems: dict[Path, str]
    feature_seconds: dict[Path, float]
    matching_seconds: Floats
    cached: int = 0

    def scores(self, score: Score) -> Floats:
        """The inliers or the matches: (queries, references)."""
        return self.inliers if score == "inliers" else self.matches


@dataclass(frozen=True)
class LocalFeatures:
    """Scores of pairs of pictures by their local features.

    Queries are matched to references, not back: two features of a query may have one nearest, and
    score(a, b) is not score(b, a). Both scores are integers, so that many references tie. OpenCV
    and NumPy start no threads of their own; see `crew` for the requirements of processes on a
    script. Results do not depend on the number of threads or processes.
    descriptor: `sift`, or `rootsift`, the square roots of the shares of its numbers.
    score: matches that the best homography explains (`inliers`), or all `matches` of the ratio
        test.
    max_size: pixels of the longer side at most; smaller images stay as they are.
    features: number of features of an image to keep, the strongest.
    ratio: a match is nearer than this times the second nearest.
    reprojection: pixels by which an inlier may miss its place.
    seed: seed of RANSAC, the same for every pair.
    cache: folder in which features are kept by the content of each image.
    executor: `here`, with a thread for each processor, or `processes:N`.

    Raises MissingExtra without OpenCV, BadUsage for numbers out of their range.
    Sources: Lowe 2004, section 7.1 (SIFT, ratio test); Arandjelović and Zisserman 2012 (RootSIFT);
    Fischler and Bolles 1981.
    """

    descriptor: Descriptor = "rootsift"
    score: Score = "inliers"
    max_size: int | None = 640
    features: int = 800
    ratio: float = 0.8
    reprojection: float = 5.0
    seed: int = 0
    cache: Path | None = None
    executor: str | None = None

    @classmethod
    def parse(cls, text: str, **others: Any) -> "LocalFeatures":
        """Those of `sift`, or of `rootsift(features=1600,ratio=0.7)`. others: seed, cache and
        executor. Raises UnknownName, BadUsage.
        """
        parameters = signature(cls).parameters
        known = {name: parameters[name].default for name in _NAMED}

        def _of(name: str) -> dict[str, Any]:
            if name not in get_args(Descriptor):
                raise UnknownName(
                    f"unknown local features {name!r}; {suggest(name, get_args(Descriptor))}"
                )
            return known

        descriptor, values = named_parameters(
            text, _of, "kind of local features", "rootsift(features=1600,ratio=0.7)"
        )
        for name, value in values.items():
            values[name] = check_value(descriptor, parameters[name], value, text)
        return cls(cast("Descriptor", descriptor), **values, **others)

    def __str__(self) -> str:
        values = ", ".join(f"{name}={getattr(self, name)}" for name in _NAMED)
        return f"{self.descriptor}({values}), OpenCV {_opencv().__version__}"

    @property
    def processes(self) -> int:
        """The number of processes; 1 is this one, with its threads."""
        name, colon, number = (self.executor or "here").partition(":")
        if name == "here" and not colon:
            return 1
        if name == "processes" and number.isdecimal() and 0 < int(number) <= _MOST_PROCESSES:
            return int(number)
        raise BadUsage(
            f"{flag('--executor', self.executor)}: expected here, or processes:N with a number "
            f"from 1 to {_MOST_PROCESSES}."
        )

    def __post_init__(self) -> None:
        for name, choices in (("descriptor", get_args(Descriptor)), ("score", get_args(Score))):
            if getattr(self, name) not in choices:
                word = getattr(self, name)
                raise BadUsage(f"{name} {word!r}; {suggest(word, choices)}")
        for name in ("max_size", "features"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise BadUsage(f"{flag(name, number)}; expected a positive integer.")
        _ = self.processes
        if not 0 < self.ratio <= 1 or not self.reprojection > 0:
            raise BadUsage(
                f"ratio {self.ratio}, reprojection {self.reprojection}; expected a share up "
                "to 1 and pixels above 0."
            )
        _opencv()

    def compare(
        self,
        queries: Sequence[Path],
        references: Sequence[Path],
        *,
        progress: NamedProgress | None = None,
    ) -> PairMatches:
        """Every query against every reference; pictures that cannot be read are listed. progress:
        of each step, by its name.
        """
        paths, pictures = list(dict.fromkeys([*queries, *references])), dict[Path, _Picture]()
        with (
            _one_thread_each(),
            crew(self.processes, threads=None, prepare=_spare_threads) as in_parallel,
        ):
            for path, picture in zip(paths, in_parallel(self._read, paths), strict=True):
                pictures[path] = picture
                if progress is not None:
                    progress("local features", len(pictures), len(paths))
            features = [
                [pictures[path].features for path in side] for side in (queries, references)
            ]
            counts, seconds = self._matched(features[0], features[1], in_parallel, progress)
        read = {path: picture for path, picture in pictures.items() if not picture.problem}
        return PairMatches(
            matches=counts[0],
            inliers=counts[1],
            problems={path: pictures[path].problem for path in paths if path not in read},
            feature_seconds={path: picture.seconds for path, picture in read.items()},
            matching_seconds=seconds,
            cached=sum(picture.cached for picture in read.values()),
        )

    def _matched(
        self,
        queries: Sequence[Features],
        references: Sequence[Features],
        in_parallel: Each,
        progress: NamedProgress | None,
    ) -> tuple[Floats, Floats]:
        """Matches and inliers, (2, queries, references), and the seconds, (queries,), from SIFT's
        features.
        """
        counts, seconds = np.zeros((2, len(queries), len(references))), np.zeros(len(queries))
        hands = self.processes if self.processes > 1 else processors()
        side = max(1, min(_SIDE, math.isqrt(len(queries) * len(references) // (8 * hands))))
        blocks = [
            (slice(row, row + side), slice(column, column + side))
            for row in range(0, len(queries), side)
            for column in range(0, len(references), side)
        ]
        parts = [(queries[rows], references[columns]) for rows, columns in blocks]
        for (rows, columns), (block_counts, took) in zip(
            blocks, in_parallel(self._block, parts), strict=True
        ):
            counts[:, rows, columns] = block_counts
            seconds[rows] += took
            if progress is not None and columns.stop >= len(references):
                progress("matching", min(rows.stop, len(queries)), len(queries))
        return counts, seconds

    def _block(self, part: tuple[Sequence[Features], Sequence[Features]]) -> tuple[Floats, Floats]:
        """`_matched` for some pairs."""
        queries, references = part
        begin = time.perf_counter()
        rooted_references = [self._rooted(features) for features in references]
        shared = (time.perf_counter() - begin) / len(queries)
        counts, seconds = np.zeros((2, len(queries), len(references))), np.zeros(len(queries))
        for row, query_features in enumerate(queries):
            begin = time.perf_counter()
            query = self._rooted(query_features)
            matches = [self.match(query, reference) for reference in rooted_references]
            counts[:, row] = np.array(matches).T
            seconds[row] = time.perf_counter() - begin + shared
        return counts, seconds

    def find(self, path: Path) -> Features:
        """The features of a picture, from the cache where they are in it. Raises BadInput where the
        picture cannot be read.
        """
        return self._rooted(self._cached(path).features)

    def _cached(self, path: Path) -> _Picture:
        if self.cache is None:
            return self._detected(path)
        cache, source = Cache(self.cache, self._maker(), {"numpy": np.__version__}), Source(path)
        digest = source.digest()
        arrays = cached_arrays(cache, digest, 3)
        if arrays is not None:
            return _Picture(Features(arrays[0], arrays[1]), float(arrays[2]), cached=True)
        picture = self._detected(path)
        source.refuse_changed()
        keep_arrays(cache, digest, *picture.features, np.array(picture.seconds))
        return picture

    def match(self, query: Features, reference: Features) -> MatchCounts:
        """Number of features that match, and of matches that one homography explains: 0 below four
        matches.
        """
        if len(query.points) == 0 or len(reference.points) < 2:
            return MatchCounts(0, 0)
        (first, nearest), (_, second) = _two_nearest(query.descriptors, reference.descriptors)
        taken = nearest < self.ratio**2 * second
        matches = int(np.count_nonzero(taken))
        if self.score == "matches" or matches < _CORNERS:
            return MatchCounts(matches, 0)
        opencv = _opencv()
        opencv.setRNGSeed(self.seed)
        ends = query.points[taken], reference.points[first[taken]]
        mask = opencv.findHomography(*ends, opencv.RANSAC, self.reprojection)[1]
        return MatchCounts(matches, 0 if mask is None else int(np.count_nonzero(mask)))

    def describe(self) -> dict[str, Any]:
        """The settings that decide the scores, and OpenCV's version."""
        names = ("descriptor", "score", "ratio", "reprojection", "seed")
        settings = {name: getattr(self, name) for name in names}
        return {**self._maker(), **settings, "direction": "query to reference"}

    def _maker(self) -> dict[str, Any]:
        from PIL import __version__

        return {
            "detector": "SIFT",
            "max_size": self.max_size,
            "features": self.features,
            "versions": {"opencv": _opencv().__version__, "pillow": __version__},
        }

    def _detected(self, path: Path) -> _Picture:
        begin = time.perf_counter()
        image = np.asarray(read_picture(path, longest=self.max_size, grey=True))
        keypoints, numbers = _opencv().SIFT_create(self.features).detectAndCompute(image, None)
        points = np.array([point.pt for point in keypoints], dtype=np.float32).reshape(-1, 2)
        features = _NOTHING if numbers is None else Features(points, numbers.astype(np.uint8))
        return _Picture(features, time.perf_counter() - begin)

    def _rooted(self, features: Features) -> Features:
        descriptors = features.descriptors.astype(np.float32)
        if self.descriptor == "rootsift":
            sums = descriptors.sum(axis=1, keepdims=True)
            descriptors = np.sqrt(descriptors / np.where(sums > 0, sums, 1))
        return Features(features.points, descriptors)

    def _read(self, path: Path) -> _Picture:
        try:
            return self._cached(path)
        except (BadInput, MissingExtra) as error:
            return _Picture(_NOTHING, 0.0, problem=str(error))


def _two_nearest(queries: Singles, references: Singles) -> list[tuple[Ints, Floats]]:
    """The nearest and the second nearest reference of each query, with its squared distance,
    (queries,) each; of equals the earlier one.
    """
    # The product says only who is nearest, for |a - b|² = |a|² + |b|² - 2ab; how near is computed
    # from the difference itself.
    closeness = 2 * (queries @ references.T) - np.einsum("ij,ij->i", references, references)
    neighbours: list[tuple[Ints, Floats]] = []
    for _ in range(2):
        nearest = closeness.argmax(axis=1)
        gaps = (queries - references[nearest]).astype(np.float64)
        neighbours.append((nearest, np.einsum("ij,ij->i", gaps, gaps)))
        closeness[np.arange(len(queries)), nearest] = -np.inf
    return neighbours


@contextmanager
def _one_thread_each() -> Generator[None]:
    """Restricts OpenCV and the matrix product to the calling thread: our own threads take one
    picture each.
    """
    from threadpoolctl import threadpool_limits

    opencv = _opencv()
    before = opencv.getNumThreads()
    opencv.setNumThreads(1)
    try:
        with threadpool_limits(1, user_api="blas"):
            yield
    finally:
        opencv.setNumThreads(before)


def _spare_threads() -> None:
    """Does the same for a whole process, one of several."""
    from threadpoolctl import threadpool_limits

    _opencv().setNumThreads(1)
    threadpool_limits(1, user_api="blas")


def _opencv() -> Any:
    try:
        import cv2
    except ImportError as error:
        raise MissingExtra(
            "local features are found by OpenCV: pip install 'rankwell[vision]'."
        ) from error
    return cv2


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
    images: Images | None, options: ImageSystemOptions, *, progress: NamedProgress | None
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
    progress: NamedProgress | None = None,
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
    images: Images | None, features: LocalFeatures, *, progress: NamedProgress | None = None
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
    images: Images, features: LocalFeatures, progress: NamedProgress | None
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
