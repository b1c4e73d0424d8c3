"""The bytes of files of vectors."""

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray


def npy(vectors: NDArray[Any]) -> bytes:
    stream = io.BytesIO()
    np.save(stream, vectors)
    return stream.getvalue()


def fbin(vectors: NDArray[Any]) -> bytes:
    return np.array(vectors.shape, dtype="<u4").tobytes() + vectors.tobytes()


def fvecs(vectors: NDArray[Any]) -> bytes:
    return b"".join(np.int32(len(row)).tobytes() + row.tobytes() for row in vectors)
