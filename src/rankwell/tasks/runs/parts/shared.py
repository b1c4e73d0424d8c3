"""Queries that several shards of a run have: a part counts their rows in some shards among the
judged items of all.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from rankwell.io.shards import shard_counts
from rankwell.runtime.parts import KINDS, Cut, Json, Limits, PartContent, PartInputs, PartKind
from rankwell.runtime.parts.places import WorkPlace, local_file
from rankwell.tasks.runs.run_plan import RunPlan, Shard, files_of
from rankwell.tasks.runs.stored_hits import read_shared, write_counts


def _files(options: Mapping[str, Json]) -> dict[str, str]:
    return files_of(options["options"]) | {"shared queries": options["shared"]}


def _cut(options: Mapping[str, Json], _: Limits) -> Cut:
    """The parts of the first round that have such queries."""
    parts = options["parts"]
    return Cut(len(parts), parts, {"parts": len(parts)})


def _part(inputs: PartInputs, index: int) -> PartContent:
    """The counts of the shards of a part, each with its run and its place among the run's
    shards.
    """
    options = inputs.options
    plan = RunPlan(PartInputs(options["options"], options["boundaries"]))
    shared = read_shared(local_file(options["shared"]))
    judgments = plan.judgments.flat
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


def _merge(_: PartInputs, files: Sequence[Path], __: WorkPlace) -> Any:
    return list(files)


KINDS.add(
    "shared queries",
    PartKind("shared queries", "Queries in several shards of a run", _files, _cut, _part, _merge),
)
