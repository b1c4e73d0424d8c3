"""Vectors written as they are made, to a file beside the wanted one that gets its name when it is whole: a killed run goes on."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell.encoders import TextEncoder
from rankwell.errors import BadScore
from rankwell.store import write_text

# Called with the texts done and the texts in all.
Progress = Callable[[int, int], None]


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
    progress: Progress | None = None,
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
