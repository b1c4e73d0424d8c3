"""Runs of encoders: vectors are kept as they are made, so that a run that was killed continues."""

import hashlib
import io
import json
import math
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell import __version__
from rankwell.data.matrices import Embeddings, read_npy
from rankwell.data.options import CountProgress, exists_error, refuse_input
from rankwell.data.tables import Floats
from rankwell.documents import read_json
from rankwell.errors import BadInput, BadScore, BadUsage, NothingToEvaluate, RankwellError, flag
from rankwell.store import Cache, Source, reading, refuse_blocked, write_text
from rankwell.store.locks import locked
from rankwell.threads import in_threads
from rankwell.vectors.encoders import ImageEncoder, Singles, TextEncoder, of_no_machine

_MANIFEST = ".manifest.json"


class Failure(NamedTuple):
    """A picture without a vector.

    id: id of the picture.
    path: path of its file.
    message: the reason, with the name of the file.
    """

    id: str
    path: Path
    message: str


class EncodedImages(NamedTuple):
    """The vectors of pictures, and the pictures that failed.

    embeddings: a vector for each picture that has one, in order, with the ids of the pictures.
    encoder: description of the encoder.
    seconds: (vectors,) time to encode the picture's batch, divided by the number of pictures in the
        batch.
    computed: number of pictures that were encoded now.
    cached: number of pictures whose vectors an earlier run had kept.
    failures: the pictures without a vector, in order.

    A picture that is neither computed nor cached has the content of an earlier picture, and its
    vector.
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
    progress: CountProgress | None = None,
) -> EncodedImages:
    """The vectors of pictures; one that cannot be read or encoded, or whose vector is zero or not
    finite, is listed.

    ids: what each picture is called. cache: a folder in which vectors are kept by the content of
    the picture and the encoder, a file each as soon as it is made, except those of an encoder that
    is not `is_known`. Equal contents are encoded once.
    Raises BadInput where none has a vector, NothingToEvaluate for no pictures, BadUsage where the
    encoder does not give a vector per picture, each of as many numbers.
    """
    import PIL

    if not paths:
        raise NothingToEvaluate("there are no pictures to encode.")
    described = dict(encoder.description)
    versions = {"pillow": PIL.__version__, "numpy": np.__version__}
    store = Cache(cache, described, versions) if cache and encoder.is_known else None
    results, by_content, width = list[_Made](), dict[str, _Made](), 0
    with reading():
        for start in range(0, len(paths), encoder.batch_size):
            batch = paths[start : start + encoder.batch_size]
            # A file that cannot be read is left to the encoder, whose words about it are better.
            keys = [
                digest or f"path:{path}" for digest, path in zip(digests(batch), batch, strict=True)
            ]
            to_encode = dict[str, Path]()
            for key, path in zip(keys, batch, strict=True):
                if key in by_content:
                    continue
                arrays = None if store is None else cached_arrays(store, key, 2)
                if arrays is None:
                    to_encode.setdefault(key, path)
                else:
                    by_content[key] = _Made(arrays[0], float(arrays[1]), is_new=False)
            new = _encode(encoder, list(to_encode.values()))
            by_content |= zip(to_encode, new, strict=True)
            results += [by_content[key] for key in keys]
            for n_numbers in (len(made.vector) for made in results[start:]):
                width = width or n_numbers
                if n_numbers not in (0, width):
                    raise BadUsage(
                        f"the encoder gives vectors of {width} and of {n_numbers} numbers; "
                        "expected one length: "
                        "a network that keeps the size of a picture has to pool over it."
                    )
            for (key, path), made in zip(to_encode.items(), new, strict=True):
                if not made.problem and not key.startswith("path:"):
                    Source(path).refuse_changed()
                    if store is not None:
                        keep_arrays(store, key, made.vector, np.array(made.seconds))
            if progress is not None:
                progress(len(results), len(paths))
    failures, good = list[Failure](), dict[str, _Made]()
    for name, path, made in zip(ids, paths, results, strict=True):
        if made.problem:
            failures.append(Failure(name, path, made.problem))
        else:
            good[name] = made
    if not good:
        raise BadInput(
            f"none of {len(paths)} pictures could be encoded; first {failures[0].message}"
        )
    return EncodedImages(
        Embeddings(list(good), np.stack([made.vector for made in good.values()])),
        described,
        np.array([made.seconds for made in good.values()]),
        computed=sum(made.is_new and not made.problem for made in by_content.values()),
        cached=sum(not made.is_new for made in by_content.values()),
        failures=tuple(failures),
    )


def digests(paths: Sequence[Path]) -> list[str]:
    """The SHA-256 of every file, empty where it cannot be read."""

    def _read(read: Callable[..., Any], *path: Path) -> Any:
        try:
            return read(*path)
        except (BadInput, OSError):
            return None

    # In this thread, which knows the block of `reading`.
    sources = [_read(Source, path) for path in paths]
    return in_threads(lambda source: (source and _read(source.digest)) or "", sources)


def cached_arrays(cache: Cache, key: str, n: int) -> list[NDArray[Any]] | None:
    """The n arrays kept under a key; None where there are none, or the file is damaged and to be
    replaced.
    """
    raw = cache.get(key)
    if raw is None:
        return None
    stream = io.BytesIO(raw)
    try:
        return [read_npy(stream) for _ in range(n)]
    except BadInput:
        return None


def keep_arrays(cache: Cache, key: str, *arrays: NDArray[Any]) -> None:
    """Keeps arrays under a key."""
    stream = io.BytesIO()
    for array in arrays:
        np.save(stream, array, allow_pickle=False)
    cache.put(key, stream.getvalue())


class _Made(NamedTuple):
    """The vector of a picture, or the problem with it.

    vector: the vector; empty where the picture could not be encoded.
    seconds: share of its batch's encoding time; NaN where it failed.
    problem: a message that names the file; "" where the vector is good.
    is_new: whether the vector was computed now.
    """

    vector: Singles
    seconds: float
    problem: str = ""
    is_new: bool = True


def _encode(encoder: ImageEncoder, paths: list[Path]) -> list[_Made]:
    """Together, and where that fails one by one, so that the one that fails is known."""
    if not paths:
        return []
    begin = time.perf_counter()
    try:
        vectors = encoder(paths)
    except BadUsage:
        raise
    except Exception as error:
        if len(paths) > 1:
            return [made for path in paths for made in _encode(encoder, [path])]
        message, name = str(error), str(paths[0])
        if not isinstance(error, RankwellError):
            message = f"{type(error).__name__}: {' '.join(message.split())[:200]}"
        if name not in message:
            message = f"{name}: {message}"
        return [_Made(np.zeros(0, np.float32), math.nan, message)]
    seconds = (time.perf_counter() - begin) / len(paths)
    made = list[_Made]()
    for vector, path in zip(vectors, paths, strict=True):
        problem = ""
        if not np.isfinite(vector).all():
            problem = f"{path}: its vector has a number that is not finite; look at the encoder."
        elif not vector.any():
            problem = (
                f"{path}: its vector is zero, which has no direction; the picture may be uniform."
            )
        made.append(_Made(vector, seconds, problem))
    return made


def manifest_of(
    noun: str, count: int, digest: str, encoder: Mapping[str, Any], **settings: Any
) -> dict[str, Any]:
    """What a file of vectors is made of: texts or images of this number and digest, and how."""
    return {
        "schema_version": 1,
        "rankwell": __version__,
        noun: {"count": count, "hash": digest},
        "encoder": dict(encoder),
        **settings,
    }


@dataclass(frozen=True)
class VectorFile:
    """A file of vectors, with the files beside it that say how it was made.

    path: path of the vectors; the other files have other suffixes.
    noun: the word for what has vectors, in the plural.
    suffixes: suffixes of all possible files beside it except the manifest.
    """

    path: Path
    noun: str
    suffixes: Sequence[str]

    def refuse_foreign(self, inputs: Sequence[str], *, overwrite: bool) -> None:
        """Raises BadUsage for files beside it that writing it would replace and that an earlier run
        did not write.

        Such a run's are its manifest, the files that have the digests in it, and, where it did not
        end, `PATH.part`. inputs: what the command reads, which is not replaced with `overwrite`
        either.
        """
        path, manifest = self.path, _read_manifest(self.path)
        overwrite = overwrite or path.exists()
        for suffix in sorted({_MANIFEST, *self.suffixes}):
            candidate = path.with_suffix(suffix)
            if not candidate.exists():
                continue
            refuse_blocked(candidate)
            refuse_input(candidate, inputs)
            is_own = bool(manifest)
            if suffix != _MANIFEST:
                is_own = manifest.get("files", {}).get(candidate.name) == _digest_of(candidate)
            if not (is_own or overwrite):
                raise exists_error(candidate)
        part, plan = _part_files(path)
        for candidate in (part, plan):
            if candidate.exists() and not (Cache.is_one(part) if part.is_dir() else _is_plan(plan)):
                raise BadUsage(
                    f"{candidate} is not of an earlier run of this command, which keeps its "
                    "vectors there; move it elsewhere."
                )

    @contextmanager
    def making(
        self, manifest: Mapping[str, Any], *, overwrite: bool, mixed: bool = False
    ) -> Generator[list[str]]:
        """Holds the lock of the file. Yields notes on one that is there and was made so, where
        nothing is to be done; none where it is to be written.

        mixed: whether the vectors may be of any machine, or of several. Raises BadUsage where the
        file has another manifest beside it, or the files are not those that it describes.
        """
        path = self.path
        refuse_blocked(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path):
            if overwrite or not path.exists():
                yield []
                return
            beside = _read_manifest(path)
            expected = json.loads(json.dumps(manifest))
            expected |= {name: beside.get(name) for name in ("files", "vectors")}
            replace = f"name another file, or {flag('--overwrite', True)}"
            is_of_any_machine = _of_any_machine(beside) == _of_any_machine(expected)
            if is_of_any_machine and "mixed" in beside and not mixed:
                raise BadUsage(
                    f"{path} is there, and its vectors are of several kinds of machine; "
                    f"{flag('--mixed', True)} to accept them, or {replace}."
                )
            if beside != expected and not (mixed and is_of_any_machine):
                raise BadUsage(
                    f"{path} is there and was made from other {self.noun} or in another way; "
                    f"{replace}."
                )
            for name, digest in {path.name: beside["vectors"], **beside["files"]}.items():
                if digest != _digest_of(path.with_name(name)):
                    raise BadUsage(
                        f"{path.with_name(name)} is not the file that "
                        f"{path.with_suffix(_MANIFEST).name} describes; {replace}."
                    )
            yield [
                *filter(None, [mixed_note(path)]),
                f"{path} is there and was made from these {self.noun} in this way; nothing to do",
            ]

    def write_beside(
        self, manifest: Mapping[str, Any], digest: str, contents: Mapping[str, str]
    ) -> None:
        """Writes the files beside vectors that will have this digest: the manifest, which claims
        them, then the others.

        contents: by suffix; other files of earlier vectors are removed.
        """
        for suffix in self.suffixes:
            self.path.with_suffix(suffix).unlink(missing_ok=True)
        files = {
            self.path.with_suffix(suffix).name: "sha256:"
            + hashlib.sha256(content.encode("utf-8", "surrogateescape")).hexdigest()
            for suffix, content in contents.items()
        }
        claimed = {**manifest, "files": files, "vectors": digest}
        contents = {_MANIFEST: json.dumps(claimed, indent=2, sort_keys=True) + "\n", **contents}
        for suffix, content in contents.items():
            write_text(self.path.with_suffix(suffix), content)


def _read_manifest(path: Path) -> dict[str, Any]:
    """The manifest that rankwell wrote beside a file of vectors; empty where there is none, or
    another file.
    """
    with suppress(BadInput, OSError):
        content = read_json(Source(path.with_suffix(_MANIFEST)))
        if isinstance(content, dict) and {"rankwell", "encoder", "vectors"} <= content.keys():
            return content if isinstance(content.get("files"), dict) else {}
    return {}


def _digest_of(file: Path) -> str:
    return Source(file).digest() if file.is_file() else ""


def _is_plan(plan: Path) -> bool:
    """Whether a file is the plan of a part of vectors."""
    try:
        first = json.loads(plan.read_text("utf-8").partition("\n")[0])
    except (OSError, ValueError):
        return False
    return isinstance(first, dict) and {"chunk", "dtype", "shape"} <= first.keys()


def mixed_note(path: Path) -> str:
    """A note on a file of vectors whose manifest lists several kinds of machine; empty for any
    other.
    """
    if "mixed" not in _read_manifest(path):
        return ""
    return (
        f"{path} has vectors by several kinds of machine, which {path.with_suffix(_MANIFEST).name} "
        "lists; no one machine can make it again"
    )


def _of_any_machine(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest without what depends on the machine that made the vectors."""
    encoder = manifest.get("encoder")
    portable = {
        **manifest,
        "encoder": of_no_machine(encoder) if isinstance(encoder, dict) else encoder,
    }
    portable.pop("mixed", None)
    return portable


def write_vectors(
    encoder: TextEncoder,
    texts: Sequence[str],
    path: Path,
    *,
    identity: Mapping[str, Any],
    dtype: str = "float32",
    chunk: int = 1024,
    before: Callable[[str], None] = lambda _: None,
    resume: bool = True,
    progress: CountProgress | None = None,
) -> int:
    """Writes the vectors of the texts as `.npy`; returns how many an earlier run with the same
    identity left in `PATH.part`.

    identity: what decides every byte (hash of the texts, model, settings), as JSON. chunk: texts
    between two writings; a part is kept as far as its chunks have the digests that were noted of
    them, so that a resumed run has the same batches, hence bytes. resume: whether such vectors are
    kept.
    before: called with the digest of the file once an earlier file is removed, before the new one
    gets its name.
    Raises BadScore naming the first text whose vector has a number that is not finite.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    n, kind, header = len(texts), np.dtype(dtype), io.BytesIO()
    shape = n, encoder.dimensions
    run_identity = json.dumps(
        {**identity, "dtype": dtype, "chunk": chunk, "shape": shape}, sort_keys=True
    )
    np.lib.format.write_array_header_1_0(
        header, {"descr": kind.str, "fortran_order": False, "shape": shape}
    )
    head, row_size = header.getvalue(), shape[1] * kind.itemsize
    digest = hashlib.sha256(head)
    # The part that is done: its file ends after the vectors that are there, its header states the
    # final number; the plan has the identity and a digest per chunk.
    file, plan = _part_files(path)
    done, noted, valid = 0, list[str](), list[str]()
    if resume and file.exists() and plan.exists():
        first, *noted = plan.read_text("utf-8", "replace").split("\n")
        noted = noted if first == run_identity else []
    if not noted:
        write_text(plan, f"{run_identity}\n")
    with file.open("r+b" if noted else "w+b") as stream:
        is_kept = stream.read(len(head)) == head
        for expected in noted if is_kept else ():
            raw = stream.read(min(chunk, n - done) * row_size)
            if not raw or hashlib.sha256(raw).hexdigest() != expected:
                break
            digest.update(raw)
            valid.append(expected)
            done = min(done + chunk, n)
        stream.seek(0)
        stream.write(head)
        stream.truncate(len(head) + done * row_size)
        stream.seek(0, io.SEEK_END)
        write_text(plan, "".join(f"{line}\n" for line in (run_identity, *valid)))
        for start in range(done, n, chunk):
            rows = range(start, min(start + chunk, n))
            raw = encoded_rows(encoder, texts, rows, dtype).tobytes()
            stream.write(raw)
            stream.flush()
            digest.update(raw)
            with plan.open("a") as lines:
                lines.write(hashlib.sha256(raw).hexdigest() + "\n")
            if progress is not None:
                progress(rows.stop, n)
    path.unlink(missing_ok=True)
    before(f"sha256:{digest.hexdigest()}")
    file.replace(path)
    plan.unlink()
    return done


def encoded_rows(
    encoder: TextEncoder, texts: Sequence[str], rows: range, dtype: str, place: str = ""
) -> NDArray[Any]:
    """The vectors of some texts, as they are written. place: of the texts, before messages."""
    with np.errstate(over="ignore"):
        vectors = encoder.encode(texts[rows.start : rows.stop]).astype(dtype)
    wrong = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(wrong):
        row = rows[int(wrong[0])]
        raise BadScore(
            f"{place}text {row} (from 0): {texts[row][:60]!r} has a vector with a number "
            f"that is not finite in {dtype}."
        )
    return vectors


def _part_files(path: Path) -> tuple[Path, Path]:
    """The file of a part of vectors, which is not done, and its plan."""
    return path.with_name(path.name + ".part"), path.with_name(path.name + ".part.json")
