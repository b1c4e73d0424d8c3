"""Runs of encoders: vectors are kept as they are made, so that a run that was killed continues.

Those of texts go to a file `PATH.part` that gets its name when it is whole; those of pictures are kept by content.
"""

import io
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell.core.kernels.workers import in_threads
from rankwell.core.tables import Floats
from rankwell.core.tables.matrices import Embeddings
from rankwell.encoders import ImageEncoder, Singles, TextEncoder
from rankwell.errors import BadInput, BadScore, BadUsage, NothingToEvaluate, RankwellError
from rankwell.store import Cache, Source, write_text


class Failure(NamedTuple):
    """A picture without a vector, and why; the message names the file."""

    id: str
    path: Path
    message: str


class EncodedImages(NamedTuple):
    """Vectors of those pictures that have one, in order, and the outcome of all.

    encoder: its description. seconds: (vectors,) time of each when it was made: its batch's time, reading and decoding
    included, divided by the pictures in the batch. computed: pictures encoded now. cached: those encoded by an earlier run.
    failures: those without a vector, in order. The others have the content of an earlier one, and its vector.
    """

    embeddings: Embeddings
    encoder: dict[str, Any]
    seconds: Floats
    computed: int
    cached: int
    failures: tuple[Failure, ...]


def encode_images(
    ids: Sequence[str],
    paths: Sequence[Path],
    encoder: ImageEncoder,
    *,
    cache: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> EncodedImages:
    """The vectors of pictures; one that cannot be read or encoded, or whose vector is zero or not finite, is listed.

    ids: what each picture is called. cache: a folder in which vectors are kept by the content of the picture and the encoder, a
    file each as soon as it is made: a killed run goes on, with the same batches. None keeps nothing; neither are the vectors of
    an encoder kept that is not `is_known`. progress: called with the pictures done and the pictures in all.
    Pictures with the same content are encoded once. Raises BadInput where none has a vector, NothingToEvaluate for no pictures,
    BadUsage where the encoder does not give a vector per picture, each of as many numbers.
    """
    if not paths:
        raise NothingToEvaluate("there are no pictures to encode.")
    described = dict(encoder.description)
    work = _Encoding(encoder, Cache(cache, described) if cache is not None and encoder.is_known else None)
    made: list[_Made] = []
    for start in range(0, len(paths), encoder.batch_size):
        made += work.batch(paths[start : start + encoder.batch_size])
        if progress is not None:
            progress(len(made), len(paths))
    rows = [row for row, each in enumerate(made) if not each.problem]
    failures = [Failure(ids[row], paths[row], each.problem) for row, each in enumerate(made) if each.problem]
    if not rows:
        raise BadInput(f"none of {len(paths)} pictures could be encoded; first {failures[0].message}")
    return EncodedImages(
        Embeddings([ids[row] for row in rows], np.stack([made[row].vector for row in rows])),
        described,
        np.array([made[row].seconds for row in rows]),
        work.computed,
        work.cached,
        tuple(failures),
    )


def digests(paths: Sequence[Path]) -> list[str]:
    """The SHA-256 of every file, empty where it cannot be read."""

    def _digest(path: Path) -> str:
        try:
            return Source(path).digest()
        except (BadInput, OSError):
            return ""

    return in_threads(_digest, paths)


def cached_arrays(cache: Cache, key: str, n: int) -> list[NDArray[Any]] | None:
    """The n arrays kept under a key; None where there are none, or the file is damaged and to be replaced."""
    raw = cache.get(key)
    if raw is None:
        return None
    stream = io.BytesIO(raw)
    try:
        return [np.load(stream, allow_pickle=False) for _ in range(n)]
    except (ValueError, EOFError, OSError):
        return None


def keep_arrays(cache: Cache, key: str, *arrays: NDArray[Any]) -> None:
    """Keeps arrays under a key."""
    stream = io.BytesIO()
    for each in arrays:
        np.save(stream, each, allow_pickle=False)
    cache.put(key, stream.getvalue())


class _Made(NamedTuple):
    """A vector and the seconds that it took, or the problem."""

    vector: Singles
    seconds: float
    problem: str = ""


class _Encoding:
    """A run over pictures, batch by batch."""

    def __init__(self, encoder: ImageEncoder, cache: Cache | None) -> None:
        self._encoder, self._cache = encoder, cache
        self._known: dict[str, _Made] = {}
        self._width = 0
        self.computed = self.cached = 0

    def batch(self, paths: Sequence[Path]) -> list[_Made]:
        """The vectors of some pictures, in order."""
        # A file that cannot be read is left to the encoder, whose words about it are better.
        keys = [digest or f"path:{path}" for digest, path in zip(digests(paths), paths, strict=True)]
        wanted: dict[str, Path] = {}
        for key, path in zip(keys, paths, strict=True):
            if key not in self._known and not self._recall(key):
                wanted.setdefault(key, path)
        for key, each in zip(wanted, self._encode(list(wanted.values())), strict=True):
            self._known[key] = each
            if not each.problem:
                self.computed += 1
                if self._cache is not None and not key.startswith("path:"):
                    keep_arrays(self._cache, key, each.vector, np.array(each.seconds))
        return [self._known[key] for key in keys]

    def _recall(self, key: str) -> bool:
        found = None if self._cache is None else cached_arrays(self._cache, key, 2)
        if found is None:
            return False
        self._known[key] = _Made(self._of_one_width(found[0]), float(found[1]))
        self.cached += 1
        return True

    def _encode(self, paths: list[Path]) -> list[_Made]:
        """Together, and where that fails one by one, so that the one that fails is known."""
        if not paths:
            return []
        begin = time.perf_counter()
        try:
            vectors = self._encoder(paths)
        except BadUsage:
            raise
        except Exception as error:
            if len(paths) > 1:
                return [each for path in paths for each in self._encode([path])]
            said = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
            message, name = str(error) if isinstance(error, RankwellError) else said, str(paths[0])
            return [_Made(np.zeros(0, np.float32), math.nan, message if name in message else f"{name}: {message}")]
        seconds = (time.perf_counter() - begin) / len(paths)
        made: list[_Made] = []
        for vector, path in zip(vectors, paths, strict=True):
            problem = "" if vector.any() else f"{path}: its vector is zero, which has no direction; the picture may be uniform."
            if not np.isfinite(vector).all():
                problem = f"{path}: its vector has a number that is not finite; look at the encoder."
            made.append(_Made(self._of_one_width(vector), seconds, problem))
        return made

    def _of_one_width(self, vector: Singles) -> Singles:
        self._width = self._width or len(vector)
        if len(vector) != self._width:
            raise BadUsage(
                f"the encoder gives vectors of {self._width} and of {len(vector)} numbers; expected one length: "
                "a network that keeps the size of a picture has to pool over it."
            )
        return vector


class Written(NamedTuple):
    """The number of texts written in all, and by an earlier run."""

    texts: int
    resumed: int


def write_vectors(
    encoder: TextEncoder,
    texts: Sequence[str],
    path: Path,
    *,
    identity: Mapping[str, Any],
    dtype: str = "float32",
    chunk: int = 1024,
    before: Callable[[], None] = lambda: None,
    progress: Callable[[int, int], None] | None = None,
) -> Written:
    """Writes the vectors of the texts as `.npy`; what an earlier run with the same identity left in `PATH.part` is kept.

    identity: what decides every byte (hash of the texts, model, settings), as JSON; the numbers of a part with another one are
    made again. chunk: texts between two writings; a part is kept to full chunks, so that a resumed run has the same
    batches, hence bytes, as one that was not killed. before: called when all vectors are there, before the file gets its name.
    Raises BadScore naming the first text whose vector has a number that is not finite.
    """
    part, plan = path.with_name(path.name + ".part"), path.with_name(path.name + ".part.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    width = encoder.dimensions
    whole = json.dumps({**identity, "dtype": dtype, "chunk": chunk, "shape": [len(texts), width]}, sort_keys=True)
    done = _begin(part, plan, whole, (len(texts), width), np.dtype(dtype), chunk)
    with part.open("ab") as stream:
        for start in range(done, len(texts), chunk):
            with np.errstate(over="ignore"):
                vectors = encoder.encode(texts[start : start + chunk]).astype(dtype)
            wrong = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
            if len(wrong):
                row = start + int(wrong[0])
                raise BadScore(
                    f"text {row} (from 0): {texts[row][:60]!r} has a vector with a number that is not finite in {dtype}."
                )
            stream.write(np.ascontiguousarray(vectors).tobytes())
            stream.flush()
            if progress is not None:
                progress(min(start + chunk, len(texts)), len(texts))
    before()
    part.replace(path)
    plan.unlink(missing_ok=True)
    return Written(len(texts), done)


def _begin(part: Path, plan: Path, whole: str, shape: tuple[int, int], dtype: np.dtype[Any], chunk: int) -> int:
    """The number of texts done; the part ends after them, its header states the final number."""
    if part.exists() and plan.exists() and plan.read_text("utf-8") == whole:
        with part.open("r+b") as stream:
            np.lib.format.read_magic(stream)
            np.lib.format.read_array_header_1_0(stream)
            offset, row = stream.tell(), shape[1] * dtype.itemsize
            rows = (part.stat().st_size - offset) // row
            done = rows if rows == shape[0] else rows // chunk * chunk
            stream.truncate(offset + done * row)
        return done
    with part.open("wb") as stream:
        header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(stream, header)
    write_text(plan, whole)
    return 0
