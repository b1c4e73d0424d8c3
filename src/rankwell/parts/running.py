"""Parts computed by whoever is called with the name of a function here and one JSON string; and a
plan brought to its end.
"""

import json
import time
import traceback
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from rankwell import errors
from rankwell.core.code import refusing_code
from rankwell.errors import BadUsage, RankwellError, flag
from rankwell.executors import Run
from rankwell.parts.places import FULL, place_of
from rankwell.parts.plans import Plan, file_of_part, read_plan
from rankwell.parts.progress import Progress, shown_progress
from rankwell.parts.signs import StallWatch, working
from rankwell.parts.work import Measured, WorkFolder

RUN_PART = "rankwell.parts.running:run_part"
"""The function that executors call."""
_ATTEMPTS = 3
_LARGEST = (32 << 20) - (1 << 16)
"""Bytes of the largest block whose release changes the thresholds of glibc's malloc: 32 MiB with
its own page.
"""


def run_part(argument: str) -> str:
    """Computes one part of a work folder: JSON with `work`, `part` and perhaps `code` to JSON with
    the `record`, or `error`
    and its `kind`.

    An error of the input is an answer, so that no executor repeats what would fail again.
    """
    request = json.loads(argument)
    try:
        return json.dumps(
            {"record": compute_part(request["work"], int(request["part"]), request.get("code"))}
        )
    except RankwellError as error:
        return json.dumps({"error": str(error), "kind": type(error).__name__})
    except Exception:
        return json.dumps({"error": traceback.format_exc(), "kind": "internal"})


def compute_part(folder: str | Path, index: int, code: str | None = None) -> Any:
    """Computes a part, unless it is whole, and returns its record.

    code: the file that may name code, which whoever asks for the part has named, too: the plan is
    not trusted. Raises CodeRefused for code without it, BadUsage for a file that is not the plan's,
    for a full disk, or too little memory.
    """
    place = place_of(folder)
    plan = read_plan(place)
    work = WorkFolder(place, plan)
    work.refuse_outside(index)
    plan.refuse_other_version()
    code_rules = _code_rules(plan, code, place.name)
    found = work.record(index, verified=place.is_local)
    if isinstance(found, tuple):
        return found[0]
    try:
        _keep_memory()
        work.discard(index)
        with working(work, index), code_rules:
            plan.expect_inputs()
            start, processor = time.perf_counter(), time.process_time()
            content = plan.kind_of_part.part(plan.part_inputs, index)
            plan.expect_inputs()
            return work.keep(
                index,
                content,
                Measured(time.perf_counter() - start, time.process_time() - processor),
            )
    except RankwellError as error:
        work.fail(index, str(error))
        raise
    except OSError as error:
        raise _refused(work, index, f"{error.filename or folder}: {_reason(error)}") from error
    except MemoryError as error:
        advice = (
            f"plan smaller ones with {flag('--memory')}"
            if plan.kind_of_part.is_sized
            else "run it where there is more"
        )
        raise _refused(work, index, f"part {index} needs more memory; {advice}") from error


def _code_rules(plan: Plan, code: str | None, folder: str) -> AbstractContextManager[None]:
    """The block in which a part is computed: code is loaded only where a file that may name it is
    the plan's.
    """
    planned = plan.kind_of_part.code_file(plan.options)
    if code is None:
        advice = (
            f"repeat that file, --bench {planned}, where you trust it"
            if planned
            else "it is not run"
        )
        return refusing_code(f"the plan in {folder} names it; {advice}")
    if planned is None or file_of_part(planned) != file_of_part(code):
        what = (
            f"the plan in {folder} is of {planned}"
            if planned
            else f"the plan in {folder} names no experiment file"
        )
        raise BadUsage(
            f"--bench {code}: {what}; {'name that file' if planned else 'leave it out'}."
        )
    return nullcontext()


def _keep_memory() -> None:
    """Lets the process keep what its arrays leave, so that the next part has no new pages to fill.

    glibc's malloc then returns memory only where more than 64 MiB are free: twice the largest block
    that was mapped and released (mallopt(3), M_MMAP_THRESHOLD). Elsewhere this does nothing; the
    block is never written to.
    """
    np.empty(_LARGEST, dtype=np.uint8)


def _refused(work: WorkFolder, index: int, what: str) -> BadUsage:
    work.fail(index, what)
    return BadUsage(f"{what}.")


def _reason(error: OSError) -> str:
    text = error.strerror or str(error)
    return f"{text}; free some space, and run the command again" if error.errno in FULL else text


def complete(
    work: WorkFolder,
    run: Run,
    progress: Progress | None = None,
    *,
    name: str = "parts",
    stall: float | None = None,
    code: str | None = None,
) -> None:
    """Runs the parts that are missing or damaged until there are none. Raises the first error of a
    part as its own class.

    name: of the parts in progress. stall: seconds without a sign of life after which a part is
    started again. code: as of `compute_part`.
    """
    work.place.clean()
    for _ in range(_ATTEMPTS):
        missing = work.missing()
        if not missing:
            return
        if not work.place.is_local:  # workers fetch no part to see whether it is damaged
            for index in work.states().damaged:
                work.discard(index)
        arguments = [
            json.dumps({"work": work.place.workers_name, "part": index, "code": code})
            for index in missing
        ]
        with shown_progress(work, missing, progress, name) as end:
            for place, answer in run(
                RUN_PART, arguments, None if stall is None else StallWatch(work, missing, stall)
            ):
                _refuse_error(json.loads(answer))
                end(missing[place])
    left = work.missing()
    if left:
        raise BadUsage(
            f"{work.place.name}: part {left[0]} is damaged again after {_ATTEMPTS} attempts; "
            "check the disk."
        )


def _refuse_error(answer: dict[str, Any]) -> None:
    if "error" not in answer:
        return
    kind = getattr(errors, str(answer.get("kind")), None)
    if isinstance(kind, type) and issubclass(kind, RankwellError):
        raise kind(answer["error"])
    raise RuntimeError(f"a part failed:\n{answer['error']}")


def merged(rounds: Sequence[WorkFolder], *, mixed: bool = False) -> Any:
    """The result of all parts, which are whole. Raises BadInput where inputs have changed since
    they were read.

    mixed: whether parts of different kinds of machine are merged; BadInput where they are not to
    be.
    """
    for work in rounds:
        work.plan.refuse_changed_inputs()
    first, whole = rounds[0], [work.whole(mixed=mixed) for work in rounds]
    inputs = first.plan.part_inputs._replace(machines=whole[0].machines)
    return first.plan.kind_of_part.merge(
        inputs, [file for each in whole for file in each.files], first.place
    )
