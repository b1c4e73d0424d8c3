"""Compute parts of a work folder."""

import os
from pathlib import Path

from rankwell.errors import BadUsage, flag, printable, shown
from rankwell.processes import begin_child, is_started_command
from rankwell.reporting.options import Output, StatusNote
from rankwell.runtime.executors import slurm_ranges
from rankwell.runtime.parts.execution import compute_for_driver, compute_part, second_round
from rankwell.runtime.parts.plans import (
    PartStates,
    WorkFolder,
    machine_text,
    machines_of,
    read_plan,
    traits_that_differ,
)

_VARIABLES = ("SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX")
_OFFSET = "RANKWELL_PART_OFFSET"


def worker(work: str, /, *indices: int, bench: Path | None = None, status: bool = False) -> Output:
    """Compute parts of a work folder.

    Runs as one element of an array job; also shows the state of all parts.

      rankwell worker work --status

    Parameters
    ----------
    work
        The work folder, with a plan written by `--executor array` or another command.
    indices
        The parts, from 0, computed one after the other.
        [env: SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX, AWS_BATCH_JOB_ARRAY_INDEX]
    bench
        The experiment file of the plan, if it names code: code named only by a plan is not run.
    status
        Show which parts are done, failed and missing, and compute nothing.
    """
    if status:
        if indices:
            raise BadUsage(f"--status shows all parts; leave out {indices[0]}.")
        if bench is not None:
            raise BadUsage("--bench has no effect with --status, which runs no code; leave it out.")
        folder = WorkFolder(work)
        lines = _lines(folder.states(verified=folder.place.is_local), folder.plan.parts)
        if (second := second_round(folder)) is not None:
            states = second.states(verified=second.place.is_local)
            counts = (
                f"{len(states.done)} of {second.plan.parts} done, missing "
                f"{slurm_ranges(states.missing) or 'none'}"
            )
            lines.append(f"second   {second.place.name}: {counts}")
        return Output("\n".join(lines) + "\n")
    code = None if bench is None else str(bench)
    if is_started_command():
        begin_child()
        return Output(exit_code=compute_for_driver(work, indices, code))
    if not indices:
        read_plan(work)  # a folder without a plan is refused before a missing index
        indices = (_number_of_job(),)
    messages = list[StatusNote]()
    for index in indices:
        record = compute_part(work, index, code)
        size = f"{record['seconds']:.3g} s, {record['bytes']} bytes"
        messages.append(StatusNote(f"part {index} of {work} is done ({size})"))
    return Output(messages=tuple(messages))


def _number_of_job() -> int:
    """The index of the array's element. Raises BadUsage where the environment has none, or two
    different ones.
    """
    variables = {name: os.environ[name] for name in (*_VARIABLES, _OFFSET) if os.environ.get(name)}
    for name, text in variables.items():
        if not text.isdecimal() or len(text) > 18:
            raise BadUsage(f"{name} is {shown(text)}; expected an integer.")
    offset = int(variables.pop(_OFFSET, "0"))
    if not variables:
        raise BadUsage(
            "the index of a part is missing, and no array job sets "
            f"{', '.join(_VARIABLES)}; name a part, or --status."
        )
    if len(set(variables.values())) > 1:
        raise BadUsage(
            f"{' and '.join(f'{name} is {text}' for name, text in variables.items())}; name the "
            "part."
        )
    return int(next(iter(variables.values()))) + offset


def _lines(states: PartStates, parts: int) -> list[str]:
    """A line for each state, and the costs of what is done."""
    lines = [f"parts    {parts}", f"done     {len(states.done)}"]
    lines += [f"failed   {index}: {printable(message)}" for index, message in states.failed.items()]
    lines += [
        f"damaged  {index}: {printable(problem)}" for index, problem in states.damaged.items()
    ]
    lines.append(f"missing  {slurm_ranges(states.missing) or 'none'}")
    if states.done:
        seconds = {index: float(record.get("seconds", 0)) for index, record in states.done.items()}
        slowest = max(seconds, key=lambda index: seconds[index])
        total = sum(float(record.get("processor_seconds", 0)) for record in states.done.values())
        lines.append(
            f"slowest  {slowest}: {seconds[slowest]:.3g} s; {total:.3g} processor seconds in all"
        )
    machines = machines_of(states.done)
    if len(machines) > 1:
        names = traits_that_differ(machines)
        lines += [
            f"machine  {slurm_ranges(machine.parts)}: {machine_text(machine, names)}"
            for machine in machines
        ]
        lines.append(
            f"mixed    by {len(machines)} kinds of machine; merging them needs {flag('--mixed')}"
        )
    return lines
