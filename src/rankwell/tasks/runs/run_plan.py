"""The plan of runs in parts: the files of each run, and the shards, files or ranges of them, of
which each part has some.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from rankwell.core.tables.ranking import Hits
from rankwell.errors import BadUsage, flag, kind_of, typed
from rankwell.io.formats import FORMATS, Format, Request
from rankwell.io.shards import shards_format
from rankwell.parts import Cut, Json, Limits, PartInputs
from rankwell.parts.plans import file_of_part
from rankwell.store import (
    STDIN,
    Source,
    SourceRange,
    file_states,
    remote,
    remote_url,
    run_files,
    split_part,
)
from rankwell.store.data_sets import is_data_set_id
from rankwell.tasks.runs.judgments import JudgmentOptions, RunJudgments, read_run_judgments
from rankwell.tasks.runs.stored_hits import StoredShard, read_shards

_GROWTH = 16
"""Bytes of memory for a byte of a run, where its rows are counted once more."""
_LEAST = 16 << 20
"""Bytes of a part, unless more parts are requested: below, the start of a process outweighs the
rows.
"""
_UNDIVIDED = 1.25
"""The size of a file, in parts, from which on it is divided."""


class RunFile(NamedTuple):
    """A file of a run. run: its index. name: as in messages. of_rows: whether ranges of it are
    rows, not bytes.
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
    """A file of the plan, or a range of it. file: its index."""

    file: int
    start: int | None = None
    stop: int | None = None


def part_options(
    judgments: Any,
    reading: JudgmentOptions,
    runs: Mapping[str, Any],
    run_format: str | None,
    request: Request,
) -> dict[str, Json]:
    """The options of a plan. Raises BadUsage for judgments and runs that are not files."""
    places = [_file_of_part(judgments), *map(_file_of_part, runs.values())]
    return {
        "judgments": {"path": places[0], **asdict(reading)},
        "runs": [
            [name, str(run), path]
            for (name, run), path in zip(runs.items(), places[1:], strict=True)
        ],
        "run_format": run_format,
        "ties": request.ties,
        "single_precision": request.single_precision,
        "keep": request.keep,
        "duplicates": request.duplicates,
        "columns": dict(request.columns),
    }


def refuse_unnamed(places: Iterable[Any]) -> None:
    """Raises BadUsage for inputs that are not files, before any is read."""
    for place in places:
        if not isinstance(place, (str, Path)):
            raise BadUsage(
                f"parts are computed from files; this is {kind_of(place)}; save it and name "
                "its file."
            )
        if str(place) in STDIN:
            raise BadUsage("standard input cannot be read by several processes; save it as a file.")
        if is_data_set_id(place):
            saving = typed("rankwell", "convert", place, "qrels.txt")
            raise BadUsage(f"parts are computed from files; save the judgments with `{saving}`.")


def _file_of_part(place: str | Path) -> str:
    if split_part(place)[1]:
        raise BadUsage(
            f"{place} is a part of a file, which is not read in parts; save it as a file of "
            "its own."
        )
    return file_of_part(place)


class RunPlan:
    """The options and boundaries of runs in parts."""

    def __init__(self, inputs: PartInputs) -> None:
        self.options, boundaries = inputs.options, inputs.boundaries
        self.files = [RunFile(*each) for each in boundaries["files"]]
        self.parts = [[Shard(*each) for each in part] for part in boundaries["parts"]]
        self.notes: list[list[str]] = boundaries["notes"]

    @property
    def request(self) -> Request:
        """The options of reading."""
        given = self.options
        further: Any = {"duplicates": given["duplicates"], "columns": given["columns"]}
        return Request(given["ties"], given["single_precision"], given["keep"], **further)

    @property
    def judgments(self) -> RunJudgments:
        """The judgments, which a process reads once for all its parts."""
        given = self.options["judgments"]
        return _judgments(json.dumps(given, sort_keys=True), file_states(given["path"]))

    @property
    def inputs(self) -> dict[str, str]:
        """The digest of the judgments, for the record of a part."""
        path = self.options["judgments"]["path"]
        return {"judgments": _digest(path, file_states(path))}

    def shards(self, run: int) -> list[tuple[int, Shard]]:
        """The shards of a run in order, each with its part."""
        return [
            (part, each)
            for part, own in enumerate(self.parts)
            for each in own
            if self.files[each.file].run == run
        ]

    def source(self, shard: Shard) -> Source:
        """The source of a shard."""
        return source_of(self.files[shard.file], shard)

    def entry(self, run: int) -> Format:
        """The format of a run."""
        return next(each for each in self.files if each.run == run).entry


def source_of(file: RunFile, shard: Shard | None = None) -> Source:
    """The source of a file, or of a shard of it."""
    if shard is None or shard.start is None or shard.stop is None:
        found = Source(file.path)
    else:
        found = SourceRange(file.path, shard.start, shard.stop, of_rows=file.of_rows)
    found.name = file.name
    return found


@lru_cache(1)
def _judgments(options: str, _: object) -> RunJudgments:
    given = json.loads(options)
    return read_run_judgments(given.pop("path"), JudgmentOptions(**given))


@lru_cache(1)
def _digest(path: str, _: object) -> str:
    return Source(path).digest()[7:39]


class StoredRun:
    """The hits of a run's shards in files of parts, read anew by every iteration.

    judgments: those of the plan with one row per query and item; None leaves out the first items.
    """

    def __init__(
        self, plan: RunPlan, files: Sequence[Path], run: int, judgments: Any = None
    ) -> None:
        self._plan, self._files, self._run, self._judgments = plan, files, run, judgments

    def stored(self) -> Iterator[StoredShard]:
        """The content of the parts for each shard."""
        for file, own in zip(self._files, self._plan.parts, strict=True):
            mine = [self._plan.files[each.file].run == self._run for each in own]
            if any(mine):
                yield from (
                    each
                    for each, is_mine in zip(read_shards(file, self._judgments), mine, strict=True)
                    if is_mine
                )

    def __iter__(self) -> Iterator[Hits]:
        return (each.hits for each in self.stored())


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
    notes: list[list[str]] = [[] for _ in options["runs"]]
    files = [each for run, own in enumerate(notes) for each in _files_of_run(options, run, own)]
    sizes = [size_of(file) for file in files]
    total, begin = sum(sizes), 0
    usual = max(1, min(2 * limits.workers, total // _LEAST))
    wanted = limits.shards or max(-(-total * _GROWTH // limits.memory), usual)
    parts: list[list[list[int | None]]] = [[] for _ in range(wanted)]
    for number, size in enumerate(sizes):
        for part, shard in _shards(
            files[number], number, range(begin, begin + size), total, wanted
        ):
            parts[part].append(list(shard))
        begin += size
    parts = [each for each in parts if each]
    boundaries = {"files": list(map(list, files)), "parts": parts, "notes": notes}
    return Cut(
        len(parts), boundaries, {"parts": len(parts), "files": len(files), "bytes read": total}
    )


def _files_of_run(options: Mapping[str, Json], run: int, notes: list[str]) -> Iterator[RunFile]:
    """The files of a run, all of one format, on which notes are added."""
    _, shown, path = options["runs"][run]
    found = [
        RunFile(run, file, f"{shown.rstrip('/')}/{Path(file).name}") for file in run_files(path)
    ]
    found = found or [RunFile(run, path, shown)]
    sources = [source_of(each) for each in found]
    entry, request = shards_format(
        sources, options["run_format"], Request(columns=options["columns"], notes=notes)
    )
    if request.recognised and entry.confirm is not None:
        for source in sources:
            entry.confirm(source)
    return (each._replace(format=entry.name, of_rows=entry.name == "parquet") for each in found)


def _shards(
    file: RunFile, number: int, span: range, total: int, parts: int
) -> Iterator[tuple[int, Shard]]:
    """The shards of a file that has the bytes `span` of all files, each with the part that it
    belongs to.
    """
    first, last = span.start * parts // total, (span.stop - 1) * parts // total
    inside = range(first + 1, last + 1 if len(span) * parts > _UNDIVIDED * total else first + 1)
    source, cut = source_of(file), None if remote_url(file.path) else file.entry.cut
    places = [total * part // parts - span.start for part in inside]
    cuts = cut(source, places) if places and cut is not None and source.path is not None else None
    if cuts is None or not any(0 < start < cuts.end for start in cuts.starts):
        yield (span.start + span.stop) * parts // (2 * total), Shard(number)
        return
    start, part = 0, first
    for following, place in zip([*inside, last], [*cuts.starts, cuts.end], strict=True):
        if start < place:
            yield part, Shard(number, start, place)
            start = place
        part = following
