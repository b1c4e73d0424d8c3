"""Parts made one by one, their progress, and a plan brought to its end by an executor, or by an
array of a cluster, on machines of known traits.
"""

import json
import math
import re
import tempfile
import time
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rankwell import __version__, errors
from rankwell.data.code import refusing_code
from rankwell.data.matrices import Embeddings
from rankwell.data.options import NamedProgress, PartOptions, PartOutcome
from rankwell.errors import BadInput, BadUsage, RankwellError, count_of, flag, shown
from rankwell.runtime.executors import (
    ArrayJob,
    Executor,
    PartCalls,
    Resources,
    Run,
    find_executor,
    slurm_ranges,
)
from rankwell.runtime.parts import (
    FULL,
    KINDS,
    SECOND,
    Amounts,
    Limits,
    PartKind,
    PlanOptions,
    WorkPlace,
    Write,
    digest_of,
    file_digest,
    part_name,
    place_of,
)
from rankwell.runtime.parts.plans import (
    PLAN,
    PartStates,
    PartVanished,
    Plan,
    WorkFolder,
    file_of_part,
    input_files,
    machines_of,
    mixture_text,
    open_plan,
)
from rankwell.runtime.parts.tables import ObjectEmbeddings
from rankwell.runtime.parts.vectors import PartTable, has_ranges, write_array
from rankwell.store import refuse_blocked, remote_url
from rankwell.threads import requested_threads

_SCALES = ("", " k", " M", " G", " T", " P", " E")
"""The powers of a thousand."""


def share(done: int, total: int, unit: str) -> str:
    """An amount that is done and the whole, both in the scale of the whole.

    >>> share(1_500_000, 12_000_000, "products")
    '1.5 of 12.0 M products'
    >>> share(20, 250, "texts")
    '20 of 250 texts'
    """
    power = min((len(str(total)) - 1) // 3, len(_SCALES) - 1)
    size = 1000**power
    decimals = 3 - len(str(total // size)) if power else 0
    amounts = " of ".join(f"{amount / size:.{decimals}f}" for amount in (done, total))
    return f"{amounts}{_SCALES[power]} {unit}"


def shown_progress(
    work: WorkFolder, missing: Sequence[int], progress: NamedProgress | None, name: str
) -> Callable[[int], None]:
    """What is called with the index of each missing part of a folder that has ended."""
    if progress is None:
        return lambda _: None
    plan = work.plan
    amounts_of = plan.kind_of_part.amounts
    unit, amounts = Amounts("", ()) if amounts_of is None else amounts_of(plan.part_inputs)
    left = set(missing)
    # Progress that has room for a note behind the name, what is done, and the whole.
    noted = getattr(progress, "noted", None)

    def _show() -> None:
        done = plan.parts - len(left)
        if noted is not None:
            total = sum(amounts)
            amount_left = sum(amounts[index] for index in left) if amounts else 0
            note = share(total - amount_left, total, unit) if total else ""
            noted(name, done, plan.parts, note)
        elif done > plan.parts - len(missing):
            progress(name, done, plan.parts)

    def _end(index: int) -> None:
        left.discard(index)
        _show()

    _show()
    return _end


RUN_PART = "rankwell.runtime.parts.execution:run_part"
"""The function that executors call."""
ATTEMPTS = 3
"""Times that parts are computed which are damaged, or which another command has removed."""
_LARGEST = (32 << 20) - (1 << 16)
"""Bytes of the largest block whose release changes the thresholds of glibc's malloc: 32 MiB with
its own page.
"""


def run_part(argument: str) -> str:
    """Computes one part of a work folder: JSON with `work`, `part` and perhaps `code` to JSON with
    the `record`, or `error` and its `kind`.

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
    work = WorkFolder(storage)
    plan = work.plan
    if not 0 <= index < plan.parts:
        raise BadUsage(
            f"part {index} is outside the plan of {storage.name}; its parts are 0 to "
            f"{plan.parts - 1}."
        )
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
            seconds = time.perf_counter() - start, time.process_time() - processor
            return work.keep(index, content, *seconds)
    except RankwellError as error:
        work.fail(index, error)
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in FULL:
            reason += "; free some space, and run the command again"
        raise _refused(work, index, f"{error.filename or folder}: {reason}") from error
    except MemoryError as error:
        advice = "run it where there is more"
        if plan.kind_of_part.is_sized:
            advice = f"plan smaller ones with {flag('--memory')}"
        raise _refused(work, index, f"part {index} needs more memory; {advice}") from error


def compute_for_driver(folder: str, indices: Sequence[int], code: str | None) -> int:
    """Computes parts in a process of a driver, which shows the error that a part has noted; the
    exit code. Raises what could not be noted, as on a full disk.
    """
    for index in indices:
        try:
            compute_part(folder, index, code)
        except RankwellError as error:
            if not WorkFolder(folder).failure(index):
                raise
            return error.exit_code
    return 0


def _code_rules(plan: Plan, code: str | None, folder: str) -> AbstractContextManager[None]:
    """The block in which a part is computed: code is loaded only where a file that may name it is
    the plan's.
    """
    planned = plan.code_file
    if code is None:
        advice = "it is not run"
        if planned:
            advice = f"repeat that file, --bench {planned}, where you trust it"
        return refusing_code(f"the plan in {folder} names it; {advice}")
    if planned is None or file_of_part(planned) != file_of_part(code):
        mismatch = "names no experiment file; leave it out"
        if planned:
            mismatch = f"is of {planned}; name that file"
        raise BadUsage(f"--bench {code}: the plan in {folder} {mismatch}.")
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


def complete(
    work: WorkFolder, run: Run, progress: NamedProgress | None, name: str, seconds: float | None
) -> None:
    """Runs the parts that are missing or damaged until there are none. Raises the first error of a
    part as its own class.

    name: of the parts in progress. seconds: that a part may take.
    """
    for _ in range(ATTEMPTS):
        missing = work.missing()
        if not missing:
            return
        end = shown_progress(work, [*missing], progress, name)
        for index, answer in run(part_calls(work, missing, seconds)):
            _refuse_error(json.loads(answer))
            end(index)
    if left := work.missing():
        raise BadUsage(
            f"{work.place.name}: part {min(left)} is damaged again after {ATTEMPTS} attempts; "
            "check the disk."
        )


def part_calls(work: WorkFolder, missing: Mapping[int, str], seconds: float | None) -> PartCalls:
    """What an executor knows of the parts that are missing."""
    folder = work.place.workers_name
    code = work.plan.code_file

    def _argument(index: int) -> str:
        return json.dumps({"work": folder, "part": index, "code": code})

    def _is_done(index: int) -> bool:
        if missing[index]:  # a damaged part has a record already
            return isinstance(work.record(index), tuple)
        return work.has_record(index)

    def _failure(index: int) -> str:
        note = work.failure(index)
        return json.dumps(note) if note else ""

    return PartCalls(
        [*missing],
        RUN_PART,
        _argument,
        ["worker", folder, *([] if code is None else ["--bench", code])],
        _is_done,
        _failure,
        seconds,
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
    first = rounds[0]
    completed_rounds = [work.whole(mixed=mixed) for work in rounds]
    return first.plan.kind_of_part.merge(
        first.plan.part_inputs._replace(machines=completed_rounds[0].machines),
        [file for completed_round in completed_rounds for file in completed_round.files],
        first.place,
    )


_FOLDER = ".arrays"


class PartArrays:
    """The arrays of a work folder.

    outlined: whether only their shapes are kept, in sparse files, which is enough for a forecast.
    """

    def __init__(self, work: WorkPlace, *, outlined: bool = False) -> None:
        self._work = work
        self._place = work.inside(_FOLDER)
        self._new = list[str]()
        self.outlined = outlined

    def keep(self, array: NDArray[Any]) -> str:
        """The address of the file of an array, which is written where it is not there."""
        if self.outlined:
            return self.outline(array.shape, array.dtype)
        return self.put("array", ".npy", partial(write_array, np.ascontiguousarray(array)))

    def put(self, stem: str, suffix: str, write: Write) -> str:
        """The address of a file of some content, which is written where it is not there."""
        digest, size = digest_of(write)
        name = part_name(stem, suffix, digest, unique=True)
        size_before = self._place.size(name)
        # Plans know files by their times and tags, so that one that is right stays, also where
        # another command puts it at the same time.
        if size_before != size or file_digest(self._place.file(name)) != digest:
            self._place.open()
            put = partial(self._place.put_part, stem, suffix, write, unique=True)
            try:
                is_new = put(replace=size_before is not None).is_new
            except (OSError, BadInput):  # a place that cannot refuse a second put
                is_new = put(replace=True).is_new
            if is_new:
                self._new.append(name)
        return self._place.address(name)

    def outline(self, shape: tuple[int, ...], kind: DTypeLike = np.int64) -> str:
        """The address of a file for an array of zeros, which takes no space on the disk of this
        machine.
        """
        self._place.open()
        header = {"descr": np.dtype(kind).str, "fortran_order": False, "shape": shape}
        name = f"{len(self._new)}.npy"
        with self._place.file(name).open("xb") as stream:
            np.lib.format.write_array_header_1_0(stream, header)
            stream.truncate(stream.tell() + math.prod(shape) * np.dtype(kind).itemsize)
        self._new.append(name)
        return self._place.address(name)

    def table(self, table: Embeddings, source: Any) -> PartTable:
        """A table that parts read in ranges: its files, or a copy of what can only be read whole,
        or is in memory.
        """
        file = file_of_part(source) if isinstance(source, (str, Path)) else ""
        if (
            file
            and (isinstance(table, ObjectEmbeddings) or isinstance(table.vectors, np.memmap))
            and has_ranges(file)
        ):
            return PartTable(file, file)
        array_address = (
            self.outline((table.n, table.dimensions), table.dtype)
            if self.outlined
            else self.keep(table.vectors)
        )
        return PartTable(array_address, file or "embeddings in memory")

    def forget(self) -> None:
        """Removes new arrays of which no plan is in the folder."""
        with suppress(OSError, RankwellError):  # what has failed before fails again
            plan = (self._work.read(PLAN) or b"") if self._new else b""
            for name in self._new:
                if name.encode() not in plan:
                    self._place.remove(name)
        self._place.close()


@contextmanager
def arrays_of(work: WorkPlace, *, outlined: bool = False) -> Generator[PartArrays]:
    """The arrays of a work folder; where the block fails before there is a plan, nothing is left of
    them. An interruption leaves them for the next command, or for another that works here now.
    """
    if work.is_local:
        refuse_blocked(work.folder, folder=True)
    was_there = work.is_local and work.folder.is_dir()
    arrays = PartArrays(work, outlined=outlined)
    try:
        yield arrays
    except Exception:
        arrays.forget()
        if not was_there:
            work.close()
        raise


_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def memory_size(text: str) -> int:
    """The bytes that a text such as `500M`, `2G` or `1.5GiB` names. Raises BadUsage.

    >>> memory_size("1.5G")
    1610612736
    """
    match = re.fullmatch(r"(\d{1,15}(?:\.\d{1,9})?)\s*([kmgt]?)(?:i?b)?", text.strip().lower())
    size = int(float(match[1]) * _UNITS[match[2]]) if match else 0
    if not size:
        raise BadUsage(f"{flag('--memory')} {text!r}: expected a size such as 500M or 8G.")
    return size


def run_in_parts(
    name: str,
    options: PlanOptions,
    choices: PartOptions,
    command: str,
    progress: NamedProgress | None = None,
    use: Callable[[Any], Any] = lambda result: result,
    *,
    mixed: bool = False,
) -> PartOutcome:
    """Work of a kind of part: its result, or the text to show where there is none yet.

    options: of the kind, as JSON. command: for the plan. use: called with the result while the
    files of the parts are there; the outcome has what it returns. mixed: whether parts of different
    kinds of machine are merged. A folder that is given is kept. Raises BadUsage for a folder with
    the plan of other work, and the first error of a part.
    """
    kind = KINDS[name]
    executor, address, limits = executor_of(kind, choices)
    if choices.dry_run:
        input_files(kind, options)
        costs = kind.cut(options, limits).costs
        numbers = {
            name: f"{cost:,}" if isinstance(cost, int) else cost for name, cost in costs.items()
        }
        return PartOutcome(
            text="".join(f"{name:<24}{number:>24}\n" for name, number in numbers.items())
        )
    with work_folder(choices) as storage:
        plan, is_new = open_plan(storage, kind, options, command, limits)
        storage.clean()
        first = WorkFolder(storage, plan)
        if executor.script is not None:
            finished_rounds = list[WorkFolder]()
            for work in _rounds(first, limits):
                states = work.states(verified=work.place.is_local)
                if not states.missing and not work.place.is_local:
                    states = work.states()
                if states.missing:
                    return PartOutcome(
                        text=executor.script(
                            address, _array_job(work, states.missing, choices.gpus or 0)
                        ),
                        messages=_messages(work, states, is_new=is_new, mixed=mixed),
                        missing=None if is_new else tuple(states.missing),
                    )
                finished_rounds.append(work)
            return PartOutcome(use(merged(finished_rounds, mixed=mixed)))
        resources = Resources(requested_threads(), plan.memory, choices.gpus or 0)
        with _opened(executor, address, resources) as run:

            def _merge() -> Any:
                finished_rounds = list[WorkFolder]()
                for work in _rounds(first, limits):
                    complete(
                        work,
                        run,
                        progress,
                        "second round" if finished_rounds else "parts",
                        choices.part_timeout,
                    )
                    finished_rounds.append(work)
                return merged(finished_rounds, mixed=mixed)

            def _complete() -> Any:
                for _ in range(ATTEMPTS - 1):
                    with suppress(PartVanished):  # another command removes cells that failed
                        return _merge()
                return _merge()

            return PartOutcome(use(_complete()))


@contextmanager
def _opened(executor: Executor, address: str, resources: Resources) -> Generator[Run]:
    """An executor that is opened with the first parts: where all are there, none is needed."""
    open_executor = executor.open
    if open_executor is None:
        raise ValueError(f"the executor {executor.name} neither runs parts nor submits them")
    with ExitStack() as stack:
        opened = cache(lambda: stack.enter_context(open_executor(address, resources)))
        yield lambda calls: opened()(calls)


def executor_of(kind: PartKind, choices: PartOptions) -> tuple[Executor, str, Limits]:
    """The executor, its address, and the limits of its parts.

    Raises BadUsage for GPUs that no part gets, for a time limit that nothing enforces, for memory
    without effect.
    """
    executor, address = find_executor(choices.executor)
    limits = Limits(
        memory_size("2G" if choices.memory is None else choices.memory),
        executor.workers(address),
        choices.shards,
    )
    if choices.gpus is not None and choices.gpus < 1:
        raise BadUsage(f"{flag('--gpus', choices.gpus)}: expected a positive integer.")
    if choices.gpus is not None and not executor.has_gpus:
        raise BadUsage(
            f"{flag('--gpus', choices.gpus)}: this process uses the GPUs that it sees; leave it "
            f"out, or name {flag('--executor', 'processes')}, ray or array."
        )
    if (seconds := choices.part_timeout) is not None:
        limit = flag("--part-timeout", seconds)
        if not 0 < seconds < float("inf"):
            raise BadUsage(f"{limit}: expected a positive number of seconds.")
        if not executor.has_time_limit:
            raise BadUsage(
                f"{limit}: the executor {executor.name} does not start parts again; name "
                f"{flag('--executor', 'processes')} or ray, or leave it out."
            )
    if choices.memory is not None and not (kind.is_sized or executor.has_memory):
        raise BadUsage(
            f"{flag('--memory', choices.memory)}: parts of this work have the same size with any "
            f"memory, and the executor {executor.name} reserves none; leave it out."
        )
    return executor, address, limits


def _rounds(first: WorkFolder, limits: Limits) -> Iterator[WorkFolder]:
    """A work folder, and then that of the parts that follow its own, where some do: their plan is
    made once all of the first are there.
    """
    yield first
    plan = first.plan
    make = plan.kind_of_part.second
    second = make and make(plan.part_inputs, first.whole().files, first.place)
    if second is not None:
        storage = first.place.inside(SECOND)
        limits = limits._replace(
            memory=plan.memory, shards=limits.shards if second.divided else None
        )
        second_plan, _ = open_plan(
            storage, KINDS[second.kind], second.options, plan.command, limits
        )
        yield from _rounds(WorkFolder(storage, second_plan), limits)


def second_round(work: WorkFolder) -> WorkFolder | None:
    """The folder of the second round of some work, where it has a plan."""
    storage = work.place.inside(SECOND)
    return None if storage.size(PLAN) is None else WorkFolder(storage)


@contextmanager
def work_folder(choices: PartOptions) -> Generator[WorkPlace]:
    """The work folder, or a temporary one. Raises BadUsage where machines that do the work could
    not see that.
    """
    if choices.work is not None:
        work = str(choices.work)
        if not work or ("://" in work and remote_url(work) is None):
            raise BadUsage(
                f"{flag('--work')} {shown(work)}: expected a folder that all machines see, or "
                "one of a bucket, s3://…."
            )
        yield place_of(work)
        return
    executor, address = find_executor(choices.executor)
    if not choices.dry_run and (executor.open is None or executor.is_shared(address)):
        raise BadUsage(
            f"{flag('--executor', choices.executor)} needs {flag('--work')}: a folder that "
            "all machines see."
        )
    with tempfile.TemporaryDirectory(prefix="rankwell-work-") as folder:
        yield place_of(folder)


def _array_job(work: WorkFolder, missing: Sequence[int], gpus: int) -> ArrayJob:
    """The parts that are missing, for the script that submits them."""
    plan = work.plan
    threads = requested_threads() or 1
    folder = work.place.name
    command = ["rankwell", "worker", f"./{folder}" if folder.startswith("-") else folder]
    if plan.code_file is not None:
        command += ["--bench", plan.code_file]
    command += ["--threads", str(threads)]
    has_files = work.place.is_local or any("etag" not in state for state in plan.inputs.values())
    return ArrayJob(
        command, missing, plan.parts, threads, plan.memory, __version__, gpus, has_files
    )


def _messages(
    work: WorkFolder, states: PartStates, *, is_new: bool, mixed: bool
) -> tuple[str, ...]:
    """Notes on the script: what is missing, and why."""
    folder = work.place.name
    part_count = count_of(work.plan.parts, "part")
    missing = len(states.missing)
    verb, them = ("is", "it") if missing == 1 else ("are", "them")
    submit = f"submit {them}, then run this command again."
    if is_new:
        return (f"{folder} has the plan of {part_count}; {submit}",)
    failed = [
        f"part {index} failed: {states.failed[index]}"
        for index in states.missing
        if index in states.failed
    ]
    damaged = [f"part {index} is damaged: {problem}" for index, problem in states.damaged.items()]
    messages = [*failed[:5], *damaged[:5]]
    machines = machines_of(states.done)
    if len(machines) > 1 and not mixed:
        messages.append(f"{mixture_text(machines)}; merging them needs {flag('--mixed')}")
    where = f"{folder}: " if folder.endswith(f"/{SECOND}") else ""
    note = f"{missing} of {part_count} {verb} missing: {slurm_ranges(states.missing)}"
    return (*messages, f"{where}{note}; {submit}")
