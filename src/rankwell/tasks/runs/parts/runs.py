"""Runs in parts: a part counts the judged items in some files, or in ranges of them."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from rankwell.data.shared_hits import SharedCounts, join_hits, shared_queries
from rankwell.data.tables import Judgments
from rankwell.io.formats import FoundHits
from rankwell.io.shards import check_prints, check_targets, shard_hits
from rankwell.runtime.parts import (
    KINDS,
    SECOND,
    Amounts,
    PartContent,
    PartInputs,
    PartKind,
    SecondRound,
)
from rankwell.runtime.parts.execution import PartArrays
from rankwell.runtime.parts.places import WorkPlace, local_file
from rankwell.runtime.parts.plans import read_plan
from rankwell.tasks.runs.run_plan import (
    RunPlan,
    Shard,
    StoredRun,
    cut_runs,
    files_of,
    size_of,
    source_of,
)
from rankwell.tasks.runs.stored_hits import (
    StoredShard,
    read_counts,
    read_shared,
    write_shards,
    write_shared,
)


def _part(inputs: PartInputs, index: int) -> PartContent:
    """The hits of the shards of a part."""
    plan = RunPlan(inputs)
    judgments, shards = plan.judgments.flat, list[StoredShard]()
    for shard in plan.parts[index]:
        source, request = plan.source(shard), plan.request
        hits = shard_hits(source, plan.files[shard.file].entry, judgments, request)
        # The manifest of a result has the digests of its files.
        digest = source.digest() if request.keep and shard.start is None else ""
        shards.append(StoredShard(hits, tuple(request.notes), digest))
    return PartContent(".arrays", partial(write_shards, shards, judgments), plan.inputs)


def _second(inputs: PartInputs, files: Sequence[Path], folder: WorkPlace) -> SecondRound | None:
    """The counts of queries that several shards have, in those shards; the file of what to count is
    beside the parts.
    """
    plan = RunPlan(inputs)
    shared = [shared_queries(StoredRun(plan, files, run)) for run in range(len(plan.notes))]
    parts: list[list[list[int | None]]] = [[] for _ in plan.parts]
    for run, queries_of_run in enumerate(shared):
        if len(queries_of_run.queries):
            shards = plan.shards(run)
            sources = [plan.source(shard) for _, shard in shards]
            check_targets(
                queries_of_run, lambda: plan.judgments.flat, sources, plan.entry(run), plan.request
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
    """The hits of runs in files of parts. place: of the first round."""

    def __init__(self, plan: RunPlan, files: Sequence[Path], folder: WorkPlace) -> None:
        self._plan = plan
        self._files = files[: len(plan.parts)]
        self._further = files[len(plan.parts) :]
        self._shared = (
            local_file(read_plan(folder.inside(SECOND)).options["shared"])
            if self._further
            else None
        )
        self.digests: dict[str, str] = {}
        """The digests of files that parts have taken, by the names of the files."""

    def _counts(self, run: int) -> Iterator[tuple[int, SharedCounts]]:
        """The counts of a run, each with the place of its shard."""
        for file in self._further:
            yield from (
                (shard, counts) for owner, shard, counts in read_counts(file) if owner == run
            )

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
        notes, hits = list(plan.notes[run]), None
        for (_, shard), content in zip(shards, stored.stored(), strict=True):
            notes += content.notes
            hits = content.hits if len(shards) == 1 else None
            self.digests |= {plan.files[shard.file].name: content.digest} if content.digest else {}
        if hits is None:
            hits = join_hits(
                stored, shared, self._counts(run), judgments, ties=plan.request.ties, keep=keep
            )
        file = plan.files[shards[0][1].file]
        return FoundHits(hits, file.format, tuple(dict.fromkeys(notes)), source_of(file))


def _merge(inputs: PartInputs, files: Sequence[Path], folder: WorkPlace) -> FoundRuns:
    return FoundRuns(RunPlan(inputs), files, folder)


def _amounts(inputs: PartInputs) -> Amounts:
    """Bytes of the files; a range of rows has its share of them."""
    plan = RunPlan(inputs)
    sizes = [size_of(file) for file in plan.files]
    rows = {
        shard.file: shard.stop
        for part in plan.parts
        for shard in part
        if shard.stop is not None and plan.files[shard.file].of_rows
    }

    def _bytes(shard: Shard) -> int:
        size = sizes[shard.file]
        if shard.start is None or shard.stop is None:
            return size
        return (
            (shard.stop - shard.start) * size // rows[shard.file]
            if shard.file in rows
            else shard.stop - shard.start
        )

    return Amounts("bytes", [sum(map(_bytes, part)) for part in plan.parts])


KINDS.add(
    "runs",
    PartKind(
        "runs",
        "Runs against judgments",
        files_of,
        cut_runs,
        _part,
        _merge,
        second=_second,
        amounts=_amounts,
    ),
)
