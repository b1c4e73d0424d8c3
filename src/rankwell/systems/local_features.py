"""Pictures compared by their local features: SIFT, the ratio test, and how many matches one homography explains."""

import io
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from rankwell.errors import BadInput, BadUsage, MissingExtra
from rankwell.images import read_picture
from rankwell.kernels.threads import in_threads, processors
from rankwell.registry import suggest
from rankwell.store import Cache, Source
from rankwell.tables import Floats, Ints

Singles = NDArray[np.float32]
Descriptor = Literal["rootsift", "sift"]
Score = Literal["inliers", "matches"]
Progress = Callable[[str, int, int], None]
Thing = TypeVar("Thing")
Result = TypeVar("Result")

_CORNERS = 4
"""A homography goes through any four matches: fewer say nothing."""


class Features(NamedTuple):
    """What stands out in a picture. points: (n, 2) x and y in pixels. descriptors: (n, 128)."""

    points: Singles
    descriptors: Singles


class Matched(NamedTuple):
    """How many features of a query fit one of a reference, and how many of these fit one homography."""

    matches: int
    inliers: int


@dataclass(frozen=True, eq=False)
class Compared:
    """Pairs of pictures.

    matches, inliers: (queries, references) whole numbers. problems: path -> why a picture could not be read; its row or column is
    0. feature_seconds: path -> what finding the features took, or taking them from the cache. matching_seconds: (queries,) what
    a query against all references took.
    """

    matches: Floats
    inliers: Floats
    problems: dict[Path, str]
    feature_seconds: dict[Path, float]
    matching_seconds: Floats


@dataclass(frozen=True)
class LocalFeatures:
    """Scores of pairs of pictures by their local features.

    descriptor: `rootsift` compares the square roots of SIFT's numbers divided by their sum, `sift` the numbers themselves.
    score: `inliers` counts the matches that the best homography of RANSAC explains, `matches` those of the ratio test. Both are
    whole numbers, so that many references tie. longest: pictures are scaled down to so many pixels on the longer side, never up.
    features: the strongest ones are kept. ratio: a match is a feature of the query whose nearest of the reference is nearer than
    `ratio` times its second nearest. reprojection: pixels of the reference by which an inlier may miss its place.
    Queries are matched to references, not back: two features of a query may have one nearest, and score(a, b) is not score(b, a).
    seed: of RANSAC, the same for every pair. workers: threads, by default as many as there are processors; OpenCV and NumPy leave
    them alone with their work, and nothing depends on how many. cache: a folder in which features are kept by picture's content.
    Raises MissingExtra without OpenCV, BadUsage for numbers out of their range.
    Sources: Lowe 2004, section 7.1 (SIFT, ratio test); Arandjelović and Zisserman 2012 (RootSIFT); Fischler and Bolles 1981.
    """

    descriptor: Descriptor = "rootsift"
    score: Score = "inliers"
    longest: int | None = 640
    features: int = 800
    ratio: float = 0.8
    reprojection: float = 5.0
    seed: int = 0
    workers: int | None = None
    cache: Path | None = None

    def __post_init__(self) -> None:
        for name, value, known in (("descriptor", self.descriptor, Descriptor), ("score", self.score, Score)):
            if value not in get_args(known):
                raise BadUsage(f"{name} {value!r}; {suggest(value, get_args(known))}")
        for name, number in (("longest", self.longest), ("features", self.features), ("workers", self.workers)):
            if number is not None and number < 1:
                raise BadUsage(f"{name} {number}; a whole number from 1 is wanted.")
        if not 0 < self.ratio <= 1 or not self.reprojection > 0:
            raise BadUsage(
                f"ratio {self.ratio}, reprojection {self.reprojection}; a share up to 1 and pixels above 0 are wanted."
            )
        _opencv()

    def scores(self, queries: Sequence[Path], references: Sequence[Path], *, progress: Progress | None = None) -> Floats:
        """(queries, references) the score of every pair, as float64. Raises BadInput for a picture that cannot be read."""
        found = self.compare(queries, references, progress=progress)
        for message in found.problems.values():
            raise BadInput(message)
        return found.inliers if self.score == "inliers" else found.matches

    def compare(self, queries: Sequence[Path], references: Sequence[Path], *, progress: Progress | None = None) -> Compared:
        """Every query against every reference; pictures that cannot be read are listed.

        Where `score` is `matches`, no homography is looked for and inliers are 0. progress: called with the name of the step, how
        much of it is done, and of how much.
        """
        with _one_thread_each():
            paths = list(dict.fromkeys([*queries, *references]))
            known = dict(zip(paths, self._each(self._found, paths, "local features", progress), strict=True))
            others = [known[path].features for path in references]
            rows = self._each(lambda path: self._row(known[path].features, others), queries, "matching", progress)
        counts = np.array([pair for row in rows for pair in row.pairs], dtype=np.float64)
        matches, inliers = np.moveaxis(counts.reshape(len(queries), len(references), 2), 2, 0)
        return Compared(
            matches=matches,
            inliers=inliers,
            problems={path: each.problem for path, each in known.items() if each.problem},
            feature_seconds={path: each.seconds for path, each in known.items() if not each.problem},
            matching_seconds=np.array([row.seconds for row in rows]),
        )

    def find(self, path: Path) -> Features:
        """The features of a picture, from the cache where they are in it. Raises BadInput where the picture cannot be read."""
        if self.cache is None:
            return self._rooted(*self._detected(path))
        cache, digest = Cache(self.cache, self._maker()), Source(path).digest()
        raw = cache.get(digest)
        if raw is not None:
            try:
                stream = io.BytesIO(raw)
                return self._rooted(np.load(stream, allow_pickle=False), np.load(stream, allow_pickle=False))
            except (ValueError, EOFError, OSError):
                # Whatever damaged the file, finding the features again mends it.
                pass
        points, numbers = self._detected(path)
        stream = io.BytesIO()
        np.save(stream, points, allow_pickle=False)
        np.save(stream, numbers, allow_pickle=False)
        cache.put(digest, stream.getvalue())
        return self._rooted(points, numbers)

    def match(self, query: Features, reference: Features) -> Matched:
        """How many features match, and how many of the matches one homography explains: 0 below four matches."""
        if len(query.points) == 0 or len(reference.points) < 2:
            return Matched(0, 0)
        first, second = _two_nearest(query.descriptors, reference.descriptors)
        nearest, next_ = (_distances(query.descriptors, reference.descriptors[rows]) for rows in (first, second))
        taken = nearest < self.ratio**2 * next_
        matches = int(np.count_nonzero(taken))
        if self.score == "matches" or matches < _CORNERS:
            return Matched(matches, 0)
        return Matched(matches, self._inliers(query.points[taken], reference.points[first[taken]]))

    def describe(self) -> dict[str, Any]:
        """What decides the scores, OpenCV's version with it."""
        chosen = {name: getattr(self, name) for name in ("descriptor", "score", "ratio", "reprojection", "seed")}
        return {**self._maker(), **chosen, "direction": "query to reference"}

    def _maker(self) -> dict[str, Any]:
        from PIL import __version__

        versions = {"opencv": _opencv().__version__, "pillow": __version__}
        return {"detector": "SIFT", "longest": self.longest, "features": self.features, "versions": versions}

    def _detected(self, path: Path) -> tuple[Singles, NDArray[np.uint8]]:
        image = np.asarray(read_picture(path, longest=self.longest, grey=True))
        found, numbers = _opencv().SIFT_create(self.features).detectAndCompute(image, None)
        points = np.array([point.pt for point in found], dtype=np.float32).reshape(-1, 2)
        # SIFT's numbers are whole and at most 255.
        return points, np.zeros((0, 128), dtype=np.uint8) if numbers is None else numbers.astype(np.uint8)

    def _rooted(self, points: Singles, numbers: NDArray[np.uint8]) -> Features:
        descriptors = numbers.astype(np.float32)
        if self.descriptor == "rootsift":
            sums = descriptors.sum(axis=1, keepdims=True)
            descriptors = np.sqrt(descriptors / np.where(sums > 0, sums, 1))
        return Features(points, descriptors)

    def _inliers(self, start: Singles, end: Singles) -> int:
        opencv = _opencv()
        opencv.setRNGSeed(self.seed)
        mask = opencv.findHomography(start, end, opencv.RANSAC, self.reprojection)[1]
        return 0 if mask is None else int(np.count_nonzero(mask))

    def _found(self, path: Path) -> "_Found":
        begin = time.perf_counter()
        try:
            return _Found(self.find(path), time.perf_counter() - begin)
        except (BadInput, MissingExtra) as error:
            nothing = self._rooted(np.zeros((0, 2), dtype=np.float32), np.zeros((0, 128), dtype=np.uint8))
            return _Found(nothing, 0.0, str(error))

    def _row(self, query: Features, references: Sequence[Features]) -> "_Row":
        begin = time.perf_counter()
        pairs = [self.match(query, reference) for reference in references]
        return _Row(pairs, time.perf_counter() - begin)

    def _each(
        self, work: Callable[[Thing], Result], things: Sequence[Thing], name: str, progress: Progress | None
    ) -> list[Result]:
        step = 8 * (self.workers or processors())
        made: list[Result] = []
        for start in range(0, len(things), step):
            made += in_threads(work, things[start : start + step], workers=self.workers)
            if progress is not None:
                progress(name, len(made), len(things))
        return made


class _Found(NamedTuple):
    """The features of a picture, the seconds they took, or the problem."""

    features: Features
    seconds: float
    problem: str = ""


class _Row(NamedTuple):
    """A query against all references, and the seconds that took."""

    pairs: list[Matched]
    seconds: float


def _two_nearest(queries: Singles, references: Singles) -> tuple[Ints, Ints]:
    """(queries,) the nearest and the second nearest reference of each; of equals the earlier one."""
    # The product says only who is nearest, for |a - b|² = |a|² + |b|² - 2ab; how near is computed from the difference itself.
    closeness = 2 * (queries @ references.T) - np.einsum("ij,ij->i", references, references)
    first = closeness.argmax(axis=1)
    closeness[np.arange(len(queries)), first] = -np.inf
    return first, closeness.argmax(axis=1)


def _distances(first: Singles, second: Singles) -> Floats:
    """(rows,) squared Euclidean distances."""
    gaps = (first - second).astype(np.float64)
    return np.einsum("ij,ij->i", gaps, gaps)


@contextmanager
def _one_thread_each() -> Generator[None]:
    """Lets OpenCV and the matrix product work in the thread that calls them: the threads are ours, one for each picture."""
    from threadpoolctl import threadpool_limits

    opencv = _opencv()
    before = opencv.getNumThreads()
    opencv.setNumThreads(1)
    try:
        with threadpool_limits(1, user_api="blas"):
            yield
    finally:
        opencv.setNumThreads(before)


def _opencv() -> Any:
    try:
        import cv2
    except ImportError as error:
        raise MissingExtra("local features are found by OpenCV: pip install 'rankwell[vision]'.") from error
    return cv2
