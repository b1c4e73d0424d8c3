"""Files of parts of runs: hits and counts as arrays, one `.npy` behind the other."""

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell.data.findings import Finding
from rankwell.data.matrices import npy_header, read_npy
from rankwell.data.rankings import Hits, Ranking, SharedCounts, SharedPrints, SharedQueries
from rankwell.data.tables import Ints, Judgments, segment_offsets
from rankwell.store import decode_id, encode_id


class StoredShard(NamedTuple):
    """The hits of a shard, in the form that a part stores.

    hits: the rows of the shard under the judgments.
    findings: findings of the reader.
    digest: digest of the file; empty where it is unknown.
    """

    hits: Hits
    findings: tuple[Finding, ...] = ()
    digest: str = ""


def _write(stream: BinaryIO, arrays: Sequence[Any]) -> None:
    for array in arrays:
        np.lib.format.write_array(stream, np.ascontiguousarray(array), allow_pickle=False)


def _text(content: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(content, dtype=np.uint8)


def _names(names: Sequence[str]) -> tuple[Ints, NDArray[np.uint8]]:
    """The lengths of ids, and the ids one behind the other."""
    raw = list(map(encode_id, names))
    return np.array(list(map(len, raw)), dtype=np.int64), _text(b"".join(raw))


def _ids(lengths: Ints, text: NDArray[np.uint8]) -> list[str]:
    content = text.tobytes()
    return [
        decode_id(content[start:stop])
        for start, stop in pairwise(segment_offsets(lengths).tolist())
    ]


def write_shards(shards: Sequence[StoredShard], judgments: Judgments, stream: BinaryIO) -> None:
    """Writes the hits of some shards."""
    for hits, findings, digest in shards:
        top = hits.top
        header = {
            "queries": len(judgments.queries),
            "findings": [finding.as_dict() for finding in findings],
            "digest": digest,
            "top": top is not None,
        }
        present = np.flatnonzero(hits.has_ranking | (hits.n_retrieved > 0))
        arrays = [
            _text(json.dumps(header).encode()),
            present,
            hits.has_ranking[present],
            hits.n_retrieved[present],
            *(hits.query, hits.row, hits.score, hits.above, hits.tied, hits.before),
            *_names(list(hits.unknown)),
            np.array(list(hits.unknown.values()), dtype=np.int64),
        ]
        if top is not None:
            queries = np.array([judgments.index[query] for query in top.queries], dtype=np.int64)
            arrays += [queries, top.offsets, *_names(top.items), top.scores]
        _write(stream, arrays)


def _records(file: Path) -> Iterator[BinaryIO]:
    """The stream of a file, at each of its records."""
    size = file.stat().st_size
    with file.open("rb") as stream:
        while stream.tell() < size:
            yield stream


def read_shards(file: Path, judgments: Judgments | None) -> Iterator[StoredShard]:
    """The hits of the shards in a file, one after the other. judgments: that they were counted
    under; None: no first items.
    """
    for stream in _records(file):
        header = json.loads(read_npy(stream).tobytes())
        query_rows, is_present, rows = (read_npy(stream) for _ in range(3))
        retrieved = np.zeros(header["queries"], dtype=np.int64)
        present = np.zeros(header["queries"], dtype=np.bool_)
        retrieved[query_rows], present[query_rows] = rows, is_present
        query, row, score, above, tied, before = (read_npy(stream) for _ in range(6))
        lengths, names, counts = (read_npy(stream) for _ in range(3))
        unknown = dict(zip(_ids(lengths, names), counts.tolist(), strict=True))
        top = _read_top(stream, judgments) if header["top"] else None
        hits = Hits(query, row, score, above, tied, before, retrieved, present, unknown, top)
        yield StoredShard(hits, tuple(map(Finding.of, header["findings"])), header["digest"])


def _read_top(stream: BinaryIO, judgments: Judgments | None) -> Ranking | None:
    queries, offsets, lengths, text, scores = (read_npy(stream) for _ in range(5))
    if judgments is None:
        return None
    return Ranking(
        tuple(map(judgments.queries.__getitem__, queries.tolist())),
        offsets,
        _ids(lengths, text),
        scores,
    )


def write_shared(shared: Sequence[SharedQueries], stream: BinaryIO) -> None:
    """Writes the shared queries of each run, as `read_shared` reads them."""
    for queries_of_run in shared:
        _write(stream, queries_of_run)


def read_shared(file: Path) -> list[SharedQueries]:
    """The shared queries of each run."""
    return [
        SharedQueries(*(read_npy(stream) for _ in SharedQueries._fields))
        for stream in _records(file)
    ]


class StoredArray:
    """Numbers in a file, of which slices are read."""

    def __init__(self, file: Path, stream: BinaryIO) -> None:
        """The array of one dimension at which the stream of the file is; the stream is behind it
        then.
        """
        (self._size,), _, self._kind = npy_header(stream)
        self._file, self._offset = file, stream.tell()
        stream.seek(self._offset + self._size * self._kind.itemsize)

    def __getitem__(self, rows: slice, /) -> NDArray[Any]:
        start, stop, _ = rows.indices(self._size)
        count = max(stop - start, 0)
        return np.fromfile(
            self._file, self._kind, count, offset=self._offset + start * self._kind.itemsize
        )


def write_counts(counts: Sequence[tuple[int, int, SharedCounts]], stream: BinaryIO) -> None:
    """Writes the counts of some shards, each with its run and its place among the run's shards."""
    for run, shard, counts_of_shard in counts:
        _write(
            stream,
            [
                np.array([run, shard], dtype=np.int64),
                *counts_of_shard[:-1],
                *counts_of_shard.prints,
            ],
        )


def read_counts(file: Path) -> Iterator[tuple[int, int, SharedCounts]]:
    """The counts in a file, as `write_counts` takes them; rows and prints stay there."""
    for stream in _records(file):
        run, shard = read_npy(stream).tolist()
        target, above, tied, upto = (read_npy(stream) for _ in range(4))
        prints = SharedPrints(StoredArray(file, stream), StoredArray(file, stream))
        yield run, shard, SharedCounts(target, above, tied, upto, prints)
