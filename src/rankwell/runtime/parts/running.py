"""Parts made one by one, their progress, and a plan brought to its end."""

import json
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from rankwell import errors
from rankwell.data.code import refusing_code
from rankwell.errors import BadUsage, RankwellError, flag
from rankwell.runtime.executors import PartCalls, Run
from rankwell.runtime.parts import Amounts
from rankwell.runtime.parts.places import FULL, place_of
from rankwell.runtime.parts.plans import Plan, file_of_part, read_plan
from rankwell.runtime.parts.work import Measured, WorkFolder

Progress = Callable[[str, int, int], None]
_SCALES = (
    ("", 1),
    (" k", 10**3),
    (" M", 10**6),
    (" G", 10**9),
    (" T", 10**12),
    (" P", 10**15),
    (" E", 10**18),
)


@runtime_checkable
class NotedProgress(Protocol):
    """Progress that has room for a note behind the name, what is done, and the whole."""

    def __call__(self, name: str, done: int, total: int, /) -> None: ...  # noqa: D102

    def noted(self, name: str, done: int, total: int, note: str, /) -> None:
        """Reports as a call does, with a note behind it."""
        ...


def share(done: int, total: int, unit: str) -> str:
    """An amount that is done and the whole, both in the scale of the whole.

    >>> share(1_500_000, 12_000_000, "products")
    '1.5 of 12.0 M products'
    >>> share(20, 250, "texts")
    '20 of 250 texts'
    """
    scale, size = [scale for scale in _SCALES if scale[1] <= max(total, 1)][-1]
    decimals = 0 if size == 1 else 3 - len(str(total // size))
    return (
        " of ".join(f"{amount / size:.{decimals}f}" for amount in (done, total)) + f"{scale} {unit}"
    )


def shown_progress(
    work: WorkFolder, missing: Sequence[int], progress: Progress | None, name: str = "parts"
) -> Callable[[int], None]:
    """What is called with the index of each missing part of a folder that has ended."""
    if progress is None:
        return lambda _: None
    plan = work.plan
    amounts_of = plan.kind_of_part.amounts
    unit, amounts = Amounts("", ()) if amounts_of is None else amounts_of(plan.part_inputs)
    left = set(missing)

    def _show() -> None:
        done = plan.parts - len(left)
        if isinstance(progress, NotedProgress):
            total = sum(amounts)
            amount_left = sum(amounts[index] for index in left) if amounts else 0
            note = share(total - amount_left, total, unit) if total else ""
            progress.noted(name, done, plan.parts, note)
        elif done > plan.parts - len(missing):
            progress(name, done, plan.parts)

    def _end(index: int) -> None:
        left.discard(index)
        _show()

    _show()
    return _end


RUN_PART = "rankwell.runtime.parts.running:run_part"
"""The function that executors call."""
ATTEMPTS = 3
"""Times that parts are computed which are damaged, or which another command has removed."""
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
    not trusted. An error is noted in the folder. Raises CodeRefused for code without it, BadUsage
    for a file that is not the plan's, for a full disk, or too little memory.
    """
    storage = place_of(folder)
    plan = read_plan(storage)
    work = WorkFolder(storage, plan)
    work.refuse_outside(index)
    plan.refuse_other_version()
    code_rules = _code_rules(plan, code, storage.name)
    before = work.record(index)
    if isinstance(before, tuple):
        return before[0]
    try:
        _keep_memory()
        work.forget_failure(index)
        with code_rules:
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
        work.fail(index, error)
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


def compute_for_driver(folder: str, indices: Sequence[int], code: str | None) -> int:
    """Computes parts in a process of a driver, which shows the error that a part has noted; the
    exit code. Raises what could not be noted, as on a full disk.
    """
    for index in indices:
        try:
            compute_part(folder, index, code)
        except RankwellError as error:
            if not WorkFolder(folder, read_plan(folder)).failure(index):
                raise
            return error.exit_code
    return 0


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
        mismatch = (
            f"the plan in {folder} is of {planned}"
            if planned
            else f"the plan in {folder} names no experiment file"
        )
        raise BadUsage(
            f"--bench {code}: {mismatch}; {'name that file' if planned else 'leave it out'}."
        )
    return nullcontext()


def _keep_memory() -> None:
    """Lets the process keep what its arrays leave, so that the next part has no new pages to fill.

    glibc's malloc then returns memory only where more than 64 MiB are free: twice the largest block
    that was mapped and released (mallopt(3), M_MMAP_THRESHOLD). Elsewhere this does nothing; the
    block is never written to.
    """
    np.empty(_LARGEST, dtype=np.uint8)


def _refused(work: WorkFolder, index: int, problem: str) -> BadUsage:
    error = BadUsage(f"{problem}.")
    work.fail(index, error)
    return error


def _reason(error: OSError) -> str:
    text = error.strerror or str(error)
    return f"{text}; free some space, and run the command again" if error.errno in FULL else text


def complete(
    work: WorkFolder,
    run: Run,
    progress: Progress | None = None,
    *,
    name: str = "parts",
    seconds: float | None = None,
    code: str | None = None,
) -> None:
    """Runs the parts that are missing or damaged until there are none. Raises the first error of a
    part as its own class.

    name: of the parts in progress. seconds: that a part may take. code: as of `compute_part`.
    """
    for _ in range(ATTEMPTS):
        missing = work.missing()
        if not missing:
            return
        end = shown_progress(work, [*missing], progress, name)
        for index, answer in run(part_calls(work, missing, seconds, code)):
            _refuse_error(json.loads(answer))
            end(index)
    if left := work.missing():
        raise BadUsage(
            f"{work.place.name}: part {min(left)} is damaged again after {ATTEMPTS} attempts; "
            "check the disk."
        )


def part_calls(
    work: WorkFolder,
    missing: Mapping[int, str],
    seconds: float | None = None,
    code: str | None = None,
) -> PartCalls:
    """What an executor knows of the parts that are missing."""
    folder = work.place.workers_name

    def _argument(index: int) -> str:
        return json.dumps({"work": folder, "part": index, "code": code})

    def _is_done(index: int) -> bool:
        if missing[index]:  # a damaged part has a record already
            return isinstance(work.record(index), tuple)
        return work.has_record(index)

    def _failure(index: int) -> str:
        note = work.failure(index)
        return json.dumps(note) if note else ""

    command = ["part", folder, *([] if code is None else ["--bench", code])]
    return PartCalls([*missing], RUN_PART, _argument, command, _is_done, _failure, seconds)


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
    first = rounds[0]
    completed_rounds = [work.whole(mixed=mixed) for work in rounds]
    inputs = first.plan.part_inputs._replace(machines=completed_rounds[0].machines)
    return first.plan.kind_of_part.merge(
        inputs,
        [file for completed_round in completed_rounds for file in completed_round.files],
        first.place,
    )
