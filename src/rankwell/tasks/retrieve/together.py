"""Calls that are carried out together, as the cells of a bench: one index for a build, rounds
interleaved over all.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from rankwell.errors import RankwellError
from rankwell.tasks.retrieve.encoding import check_encoder
from rankwell.tasks.retrieve.evaluation import RetrieveEvaluation
from rankwell.tasks.retrieve.inputs import RetrieveInputs, read_inputs
from rankwell.tasks.retrieve.journal import JoinedJournal
from rankwell.tasks.retrieve.measuring import (
    EngineWork,
    Measurement,
    Progress,
    ask_rounds,
    check_requests,
    plan_work,
)
from rankwell.tasks.retrieve.options import RetrieveOptions
from rankwell.tasks.retrieve.settings import chosen_family, join_settings

_READ = ("items", "item_vectors", "queries", "query_vectors", "encoder", "filters", "collapse")


class RetrieveCall(NamedTuple):
    """A call of `rankwell retrieve`, and the folder of its results."""

    engine: str
    options: RetrieveOptions
    folder: Path


class CallResult(NamedTuple):
    """A call that was carried out: its evaluation, everything that was asked, and its work, whose
    journal is of no more use.
    """

    evaluation: RetrieveEvaluation
    measured: Measurement
    work: EngineWork


@dataclass(eq=False)
class _Group:
    """Calls that differ in their sweeps alone, by their numbers, and their work as one engine.
    error: why there is none.
    """

    members: list[int]
    work: EngineWork
    measured: Measurement | None = None
    error: RankwellError | OSError | None = None


def ask_together(
    calls: Sequence[RetrieveCall], progress: Progress | None = None
) -> Iterator[CallResult | RankwellError | OSError]:
    """The result of each call, or the error by which it failed. Calls that differ in their sweeps
    alone share their indexes.

    All are asked before the first result is there, in rounds that are interleaved over all settings
    of all engines. A failure of an engine fails all calls that share it.
    """
    planned = _planned(calls)
    groups: dict[tuple[str, str], list[int]] = {}
    for number, (call, plan) in enumerate(zip(calls, planned, strict=True)):
        if isinstance(plan, CallPlan):
            groups.setdefault((call.engine, repr(replace(call.options, sweep=None))), []).append(
                number
            )
    works = [_joined(members, planned) for members in groups.values()]
    try:
        _measure(works, progress)
    finally:
        for group in works:
            with suppress(RankwellError, OSError):
                group.work.close()
    owners = {number: group for group in works for number in group.members}
    for number, plan in enumerate(planned):
        if not isinstance(plan, CallPlan):
            yield plan
        elif (group := owners[number]).measured is None:
            yield group.error or RankwellError("it was not asked.")
        else:
            yield CallResult(plan.evaluation, _part(group, number, planned), plan.work)


class CallPlan(NamedTuple):
    """A call of which nothing is done yet."""

    evaluation: RetrieveEvaluation
    work: EngineWork


def _planned(calls: Sequence[RetrieveCall]) -> list[CallPlan | RankwellError | OSError]:
    """The plan of each call, or why there is none. Inputs that several calls name are read once."""
    read: dict[str, RetrieveInputs] = {}
    plans: list[CallPlan | RankwellError | OSError] = []
    for call in calls:
        key = repr([getattr(call.options, name) for name in _READ])
        try:
            check_encoder(chosen_family(call.engine, call.options), call.options.encoder)
            if key not in read:
                read[key] = read_inputs(call.options)
            evaluation = RetrieveEvaluation(read[key], call.options, call.engine)
            plans.append(
                CallPlan(evaluation, plan_work(call.engine, read[key], call.options, call.folder))
            )
        except (RankwellError, OSError) as error:
            plans.append(error)
    return plans


def _joined(members: list[int], planned: Sequence[Any]) -> _Group:
    """Calls of one engine as one work."""
    works: list[EngineWork] = [planned[number].work for number in members]
    journal_settings = [
        (work.journal, setting) for work in works for setting in range(len(work.settings.settings))
    ]
    settings = join_settings([work.settings for work in works])
    return _Group(
        members,
        replace(works[0], settings=settings, journal=JoinedJournal(journal_settings), hosts=[]),
    )


def _measure(groups: Sequence[_Group], progress: Progress | None) -> None:
    """Opens all engines, asks them, and keeps what was found, or the error, with each group."""
    for group in groups:
        try:
            check_requests(
                group.work.engine, group.work.settings, group.work.inputs, group.work.options
            )
            group.work.open()
        except (RankwellError, OSError) as error:
            group.error = error
    running = [group for group in groups if group.error is None]
    for group, error in zip(
        running, ask_rounds([group.work for group in running], progress), strict=True
    ):
        try:
            group.error = error
            group.measured = None if error is not None else group.work.measurement()
        except (RankwellError, OSError) as problem:
            group.error = problem


def _part(group: _Group, number: int, planned: Sequence[Any]) -> Measurement:
    """The requests of one call of a group, as if it were alone."""
    group_measured, call_work = group.measured, planned[number].work
    assert group_measured is not None  # noqa: S101 - the caller has looked
    before = group.members[: group.members.index(number)]
    first = sum(len(planned[member].work.settings.settings) for member in before)
    builds = [group_measured.settings.builds.index(build) for build in call_work.settings.builds]
    traits = group_measured.traits._replace(
        indexes=[group_measured.traits.indexes[build] for build in builds],
        described=[group_measured.traits.described[build] for build in builds],
    )
    batches = {
        (setting - first, round_): batch._replace(setting=setting - first)
        for (setting, round_), batch in group_measured.batches.items()
        if first <= setting < first + len(call_work.settings.settings)
    }
    return replace(
        group_measured,
        settings=call_work.settings,
        traits=traits,
        options=call_work.options,
        batches=batches,
    )
