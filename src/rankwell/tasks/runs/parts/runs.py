"""Runs in parts: a part counts the judged items in some files, or in ranges of them; queries that
several of these shards have are counted once more, among the judged items of all.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain, compress, pairwise
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwell.data.findings import Finding
from rankwell.data.matrices import npy_header, read_npy
from rankwell.data.rankings import (
    Hits,
    Ranking,
    SharedCounts,
    SharedPrints,
    SharedQueries,
    join_hits,
    shared_queries,
)
from rankwell.data.tables import Ints, Judgments, segment_offsets
from rankwell.errors import BadUsage, flag
from rankwell.io.formats import FORMATS, Format, FoundHits, Request
from rankwell.io.shards import check_prints, check_targets, shard_counts, shard_hits, shards_format
from rankwell.runtime.parts import (
    KINDS,
    SECOND,
    Amounts,
    Cut,
    Json,
    Limits,
    PartContent,
    PartInputs,
    PartKind,
    SecondRound,
    WorkPlace,
    local_file,
)
from rankwell.runtime.parts.execution import PartArrays
from rankwell.runtime.parts.plans import read_plan
from rankwell.store import (
    Source,
    SourceRange,
    decode_id,
    encode_id,
    file_states,
    remote,
    remote_url,
    run_files,
)
from rankwell.tasks.runs.evaluation import (
    READING,
    JudgmentOptions,
    RunJudgments,
    read_run_judgments,
)


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


_GROWTH = 16
"""Bytes of memory for a byte of a run, where its rows are counted once more."""
_LEAST = 16 << 20
"""Bytes of a part, unless more parts are requested: below, the start of a process outweighs the
rows.
"""
_UNDIVIDED = 1.25
"""The size of a file, in parts, from which on it is divided."""


class RunFile(NamedTuple):
    """A file of a run.

    run: index of the run.
    path: path or address of the file.
    name: name of the file in messages.
    format: name of its format; empty until it is known.
    of_rows: whether its ranges are counted in rows, not bytes.
    """

    run: int
    path: str
    name: str
    format: str = ""
    of_rows: bool = False

    @property
    def entry(self) -> Format:
        """The format."""
        return FORMATS[f"{self.format} run"]


class Shard(NamedTuple):
    """A file of the plan, or a range of it.

    file: index of the file.
    start, stop: the first byte or row, and the one after the last; None for the whole file.
    """

    file: int
    start: int | None = None
    stop: int | None = None


class RunPlan:
    """The options and boundaries of runs in parts."""

    def __init__(self, inputs: PartInputs) -> None:
        self.options, boundaries = inputs.options, inputs.boundaries
        self.files = [RunFile(*cells) for cells in boundaries["files"]]
        self.parts = [[Shard(*cells) for cells in part] for part in boundaries["parts"]]
        self.findings = [list(map(Finding.of, of_run)) for of_run in boundaries["findings"]]

    @property
    def request(self) -> Request:
        """The options of reading."""
        return Request(**{name: self.options[name] for name in READING})

    @property
    def run_judgments(self) -> RunJudgments:
        """The judgments, which a process reads once for all its parts."""
        options = self.options["judgments"]
        return _judgments(json.dumps(options, sort_keys=True), file_states(options["path"]))

    @property
    def inputs(self) -> dict[str, str]:
        """The digest of the judgments, for the record of a part."""
        path = self.options["judgments"]["path"]
        return {"judgments": _digest(path, file_states(path))}

    def shards(self, run: int) -> list[tuple[int, Shard]]:
        """The shards of a run in order, each with its part."""
        return [
            (part, shard)
            for part, shards in enumerate(self.parts)
            for shard in shards
            if self.files[shard.file].run == run
        ]

    def source(self, shard: Shard) -> Source:
        """The source of a shard."""
        return source_of(self.files[shard.file], shard)

    def entry(self, run: int) -> Format:
        """The format of a run."""
        return next(file for file in self.files if file.run == run).entry


def source_of(file: RunFile, shard: Shard | None = None) -> Source:
    """The source of a file, or of a shard of it."""
    if shard is None or shard.start is None or shard.stop is None:
        source = Source(file.path)
    else:
        source = SourceRange(file.path, shard.start, shard.stop, of_rows=file.of_rows)
    source.name = file.name
    return source


@lru_cache(1)
def _judgments(options: str, _: object) -> RunJudgments:
    keywords = json.loads(options)
    return read_run_judgments(keywords.pop("path"), JudgmentOptions(**keywords))


@lru_cache(1)
def _digest(path: str, _: object) -> str:
    return Source(path).digest()[7:39]


@dataclass(frozen=True, eq=False)
class StoredRun:
    """The hits of a run's shards in files of parts, read anew by every iteration.

    judgments: those of the plan with one row per query and item; None leaves out the first items.
    """

    plan: RunPlan
    files: Sequence[Path]
    run: int
    judgments: Judgments | None = None

    def stored(self) -> Iterator[StoredShard]:
        """The content of the parts for each shard."""
        for file, shards in zip(self.files, self.plan.parts, strict=True):
            is_of_run = [self.plan.files[shard.file].run == self.run for shard in shards]
            if any(is_of_run):
                yield from compress(read_shards(file, self.judgments), is_of_run)

    def __iter__(self) -> Iterator[Hits]:
        return (content.hits for content in self.stored())


def files_of(options: Mapping[str, Json]) -> dict[str, str]:
    """The files that are read: the judgments, and those of every run."""
    runs = {
        f"{name} {file}": file
        for name, _, path in options["runs"]
        for file in run_files(path) or [path]
    }
    return {"judgments": options["judgments"]["path"]} | runs


def size_of(file: RunFile) -> int:
    """The bytes of a file, or of an object."""
    if (url := remote_url(file.path)) is None:
        return Path(file.path).stat().st_size
    return remote.existing(url).size


def cut_runs(options: Mapping[str, Json], limits: Limits) -> Cut:
    """Ranges of about as many bytes, 16 MiB at least; a file that cannot be divided is in the part
    in which its middle lies.

    Objects are not divided: whoever reads one fetches it whole.
    """
    if limits.shards is not None and limits.shards < 1:
        raise BadUsage(f"{flag('--shards', limits.shards)}; expected a positive integer.")
    findings: list[list[Finding]] = [[] for _ in options["runs"]]
    files = [
        run_file
        for run, of_run in enumerate(findings)
        for run_file in _files_of_run(options, run, of_run)
    ]
    sizes = [size_of(file) for file in files]
    total, begin = sum(sizes), 0
    default_parts = max(1, min(2 * limits.workers, total // _LEAST))
    n_parts = limits.shards or max(-(-total * _GROWTH // limits.memory), default_parts)
    parts: list[list[list[int | None]]] = [[] for _ in range(n_parts)]
    for number, size in enumerate(sizes):
        for part, shard in _shards(
            files[number], number, range(begin, begin + size), total, n_parts
        ):
            parts[part].append(list(shard))
        begin += size
    parts = [shards for shards in parts if shards]
    boundaries = {
        "files": list(map(list, files)),
        "parts": parts,
        "findings": [[finding.as_dict() for finding in of_run] for of_run in findings],
    }
    return Cut(
        len(parts), boundaries, {"parts": len(parts), "files": len(files), "bytes read": total}
    )


def _files_of_run(
    options: Mapping[str, Json], run: int, findings: list[Finding]
) -> Iterator[RunFile]:
    """The files of a run, all of one format, on which findings are added."""
    _, name, path = options["runs"][run]
    files = [
        RunFile(run, file, f"{name.rstrip('/')}/{Path(file).name}") for file in run_files(path)
    ]
    files = files or [RunFile(run, path, name)]
    sources = [source_of(file) for file in files]
    entry, request = shards_format(
        sources, options["run_format"], Request(columns=options["columns"], findings=findings)
    )
    if request.recognised and entry.confirm is not None:
        for source in sources:
            entry.confirm(source)
    return (file._replace(format=entry.name, of_rows=entry.name == "parquet") for file in files)


def _shards(
    file: RunFile, number: int, span: range, total: int, parts: int
) -> Iterator[tuple[int, Shard]]:
    """The shards of a file that has the bytes `span` of all files, each with the part that it
    belongs to.
    """
    first, last = span.start * parts // total, (span.stop - 1) * parts // total
    inside = range(first + 1, last + 1 if len(span) * parts > _UNDIVIDED * total else first + 1)
    source, cut = source_of(file), None if remote_url(file.path) else file.entry.cut
    cut_positions = [total * part // parts - span.start for part in inside]
    cuts = (
        cut(source, cut_positions)
        if cut_positions and cut is not None and source.path is not None
        else None
    )
    if cuts is None or not any(0 < start < cuts.end for start in cuts.starts):
        yield (span.start + span.stop) * parts // (2 * total), Shard(number)
        return
    start, part = 0, first
    for following, position in zip([*inside, last], [*cuts.starts, cuts.end], strict=True):
        if start < position:
            yield part, Shard(number, start, position)
            start = position
        part = following


def _part(inputs: PartInputs, index: int) -> PartContent:
    """The hits of the shards of a part."""
    plan = RunPlan(inputs)
    judgments, shards = plan.run_judgments.judgments, list[StoredShard]()
    for shard in plan.parts[index]:
        source, request = plan.source(shard), plan.request
        hits = shard_hits(source, plan.files[shard.file].entry, judgments, request)
        # The manifest of a result has the digests of its files.
        digest = source.digest() if request.keep and shard.start is None else ""
        shards.append(StoredShard(hits, tuple(request.findings), digest))
    return PartContent(".arrays", partial(write_shards, shards, judgments), plan.inputs)


def _second(inputs: PartInputs, files: Sequence[Path], folder: WorkPlace) -> SecondRound | None:
    """The counts of queries that several shards have, in those shards; the file of what to count is
    beside the parts.
    """
    plan = RunPlan(inputs)
    shared = [shared_queries(StoredRun(plan, files, run)) for run in range(len(plan.findings))]
    parts: list[list[list[int | None]]] = [[] for _ in plan.parts]
    for run, queries_of_run in enumerate(shared):
        if len(queries_of_run.queries):
            shards = plan.shards(run)
            sources = [plan.source(shard) for _, shard in shards]
            check_targets(
                queries_of_run,
                lambda: plan.run_judgments.judgments,
                sources,
                plan.entry(run),
                plan.request,
            )
            for number in queries_of_run.shards.tolist():
                part, shard = shards[number]
                parts[part].append([run, number, *shard])
    parts = [shards_of_part for shards_of_part in parts if shards_of_part]
    if not parts:
        return None
    file = PartArrays(folder).put("shared", ".arrays", partial(write_shared, shared))
    first = {"options": inputs.options, "boundaries": inputs.boundaries}
    return SecondRound("shared queries", {**first, "shared": file, "parts": parts})


class FoundRuns:
    """The hits of runs in files of parts.

    folder: the folder of the first round.
    digests: name of a file -> its digest, for files that parts have read.
    """

    def __init__(self, inputs: PartInputs, files: Sequence[Path], folder: WorkPlace) -> None:
        self._plan, self.digests = RunPlan(inputs), dict[str, str]()
        n = len(self._plan.parts)
        self._files, self._files_of_counts = files[:n], files[n:]
        self._shared = None
        if self._files_of_counts:
            self._shared = local_file(read_plan(folder.inside(SECOND)).options["shared"])

    def _counts(self, run: int) -> Iterator[tuple[int, SharedCounts]]:
        """The counts of a run, each with the place of its shard."""
        for owner, shard, counts in chain.from_iterable(map(read_counts, self._files_of_counts)):
            if owner == run:
                yield shard, counts

    def find(self, name: str, judgments: Judgments) -> FoundHits:
        """The hits of a run. Raises DuplicateItem for an item that a judged query lists in two
        shards.
        """
        plan, keep = self._plan, self._plan.request.keep
        run = [name_of_run for name_of_run, *_ in plan.options["runs"]].index(name)
        shards = plan.shards(run)
        stored = StoredRun(plan, self._files, run, judgments if keep else None)
        shared = shared_queries(()) if self._shared is None else read_shared(self._shared)[run]
        prints = [counts.prints for _, counts in self._counts(run)]
        check_prints(
            shared,
            prints,
            judgments,
            [plan.source(shard) for _, shard in shards],
            plan.entry(run),
            plan.request,
        )
        findings, hits = list(plan.findings[run]), None
        for (_, shard), content in zip(shards, stored.stored(), strict=True):
            findings += content.findings
            hits = content.hits if len(shards) == 1 else None
            if content.digest:
                self.digests[plan.files[shard.file].name] = content.digest
        if hits is None:
            hits = join_hits(
                stored, shared, self._counts(run), judgments, ties=plan.request.ties, keep=keep
            )
        file = plan.files[shards[0][1].file]
        return FoundHits(hits, file.format, tuple(dict.fromkeys(findings)), source_of(file))


def _amounts(inputs: PartInputs) -> Amounts:
    """Bytes of the files; a range of rows has its share of them."""
    plan = RunPlan(inputs)
    # The last shard of a file in rows ends at their number.
    rows = {
        shard.file: shard.stop
        for shard in chain.from_iterable(plan.parts)
        if shard.stop is not None and plan.files[shard.file].of_rows
    }
    sizes = [size_of(file) for file in plan.files]

    def _bytes(shard: Shard) -> int:
        if shard.start is None or shard.stop is None:
            return sizes[shard.file]
        n = shard.stop - shard.start
        return n * sizes[shard.file] // rows[shard.file] if shard.file in rows else n

    return Amounts("bytes", [sum(map(_bytes, part)) for part in plan.parts])


KINDS.add(
    "runs", PartKind("runs", files_of, cut_runs, _part, FoundRuns, second=_second, amounts=_amounts)
)


def _shared_files(options: Mapping[str, Json]) -> dict[str, str]:
    return files_of(options["options"]) | {"shared queries": options["shared"]}


def _cut_shared(options: Mapping[str, Json], _: Limits) -> Cut:
    """The parts of the first round that have such queries."""
    parts = options["parts"]
    return Cut(len(parts), parts, {"parts": len(parts)})


def _shared_part(inputs: PartInputs, index: int) -> PartContent:
    """The counts of the shards of a part, each with its run and its place among the run's
    shards.
    """
    options = inputs.options
    plan = RunPlan(PartInputs(options["options"], options["boundaries"]))
    shared = read_shared(local_file(options["shared"]))
    judgments = plan.run_judgments.judgments
    counts = [
        (
            run,
            number,
            shard_counts(
                plan.source(Shard(*shard)), plan.entry(run), judgments, shared[run], plan.request
            ),
        )
        for run, number, *shard in inputs.boundaries[index]
    ]
    return PartContent(".arrays", partial(write_counts, counts), plan.inputs)


KINDS.add(
    "shared queries",
    PartKind(
        "shared queries", _shared_files, _cut_shared, _shared_part, lambda _, files, __: list(files)
    ),
)
