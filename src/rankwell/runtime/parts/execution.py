"""Parts computed by an executor, or by an array of a cluster, on machines of known traits."""

import math
import re
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rankwell import __version__
from rankwell.data.matrices import Embeddings
from rankwell.data.options import PartOptions, PartOutcome
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
from rankwell.runtime.parts import KINDS, SECOND, Json, Limits, PartKind
from rankwell.runtime.parts.comparing import PartTable
from rankwell.runtime.parts.lists import write_array
from rankwell.runtime.parts.places import (
    WorkPlace,
    Write,
    digest_of,
    file_digest,
    part_name,
    place_of,
)
from rankwell.runtime.parts.plans import PLAN, file_of_part, input_files, open_plan, read_plan
from rankwell.runtime.parts.running import ATTEMPTS, Progress, complete, merged
from rankwell.runtime.parts.tables import ObjectEmbeddings
from rankwell.runtime.parts.vectors import has_ranges
from rankwell.runtime.parts.work import (
    PartStates,
    PartVanished,
    WorkFolder,
    machines_of,
    mixture_text,
)
from rankwell.store import refuse_blocked, remote_url
from rankwell.threads import requested_threads

_FOLDER = ".arrays"


class PartArrays:
    """The arrays of a work folder. outlined: only their shapes are kept, in files with holes; all
    that a forecast needs.
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
    options: Mapping[str, Json],
    choices: PartOptions,
    command: str,
    progress: Progress | None = None,
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
        return PartOutcome(
            text="".join(
                f"{cost_name:<24}{_format_cost(value):>24}\n" for cost_name, value in costs.items()
            )
        )
    with work_folder(choices) as storage:
        plan, is_new = open_plan(storage, kind, options, command, limits)
        storage.clean()
        first = WorkFolder(storage, plan)
        if executor.open is None:
            return _for_cluster(
                first,
                executor,
                address,
                limits,
                use,
                is_new=is_new,
                gpus=choices.gpus or 0,
                mixed=mixed,
            )
        resources = Resources(requested_threads(), plan.memory, choices.gpus or 0)
        with _opened(partial(executor.open, address, resources)) as run:

            def _complete(work: WorkFolder, label: str) -> None:
                seconds = choices.part_timeout
                code = kind.code_file(options)
                complete(work, run, progress, name=label, seconds=seconds, code=code)

            return PartOutcome(use(_completed(first, _complete, limits, mixed=mixed)))


@contextmanager
def _opened(open_executor: Callable[[], AbstractContextManager[Run]]) -> Generator[Run]:
    """An executor that is opened with the first parts: where all are there, none is needed."""
    with ExitStack() as stack:
        opened = list[Run]()

        def _run(calls: PartCalls) -> Iterator[tuple[int, str]]:
            if not opened:
                opened.append(stack.enter_context(open_executor()))
            return opened[0](calls)

        yield _run


def _completed(
    first: WorkFolder,
    complete_round: Callable[[WorkFolder, str], None],
    limits: Limits,
    *,
    mixed: bool,
) -> Any:
    """The merged result of all rounds of parts."""

    def _merge() -> Any:
        rounds = [first]
        for work in rounds:
            complete_round(work, "parts" if len(rounds) == 1 else "second round")
            rounds += _second_round(work, limits)
        return merged(rounds, mixed=mixed)

    for _ in range(ATTEMPTS - 1):
        with suppress(PartVanished):  # another command on this folder removes cells that failed
            return _merge()
    return _merge()


def executor_of(kind: PartKind, choices: PartOptions) -> tuple[Executor, str, Limits]:
    """The executor, its address, and the limits of its parts.

    Raises BadUsage for GPUs that no part gets, for a time limit that nothing enforces, for memory
    without effect.
    """
    executor, address = find_executor("here" if choices.executor is None else choices.executor)
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


def _second_round(work: WorkFolder, limits: Limits) -> list[WorkFolder]:
    """The folder of the parts that follow those of a folder, which are whole; none where none
    follow.
    """
    plan, kind = work.plan, work.plan.kind_of_part
    second = (
        None
        if kind.second is None
        else kind.second(plan.part_inputs, work.whole().files, work.place)
    )
    if second is None:
        return []
    storage = work.place.inside(SECOND)
    shards = limits.shards if second.divided else None
    limits = limits._replace(memory=plan.memory, shards=shards)
    return [
        WorkFolder(
            storage, open_plan(storage, KINDS[second.kind], second.options, plan.command, limits)[0]
        )
    ]


def second_round(work: WorkFolder) -> WorkFolder | None:
    """The folder of the second round of some work, where it has a plan."""
    storage = work.place.inside(SECOND)
    return None if storage.size(PLAN) is None else WorkFolder(storage, read_plan(storage))


def _format_cost(value: int | str) -> str:
    return f"{value:,}" if isinstance(value, int) else value


@contextmanager
def work_folder(choices: PartOptions) -> Generator[WorkPlace]:
    """The work folder, or a temporary one. Raises BadUsage where machines that do the work could
    not see that.
    """
    work = choices.work
    if work is not None:
        if not work or ("://" in work and remote_url(work) is None):
            raise BadUsage(
                f"{flag('--work')} {shown(work)}: expected a folder that all machines see, or "
                "one of a bucket, s3://…."
            )
        yield place_of(work)
        return
    executor, address = find_executor("here" if choices.executor is None else choices.executor)
    if not choices.dry_run and (executor.open is None or executor.is_shared(address)):
        raise BadUsage(
            f"{flag('--executor', choices.executor)} needs {flag('--work')}: a folder that "
            "all machines see."
        )
    with tempfile.TemporaryDirectory(prefix="rankwell-work-") as folder:
        yield place_of(folder)


def _for_cluster(
    first: WorkFolder,
    executor: Executor,
    address: str,
    limits: Limits,
    use: Callable[[Any], Any],
    *,
    is_new: bool,
    gpus: int,
    mixed: bool,
) -> PartOutcome:
    """The script to submit for the parts that are missing, or the result where there are none."""
    rounds = [first]
    for work in rounds:
        states = work.states(verified=work.place.is_local)
        if not states.missing and not work.place.is_local:
            states = work.states()
        if states.missing:
            return _script(work, states, executor, address, is_new=is_new, gpus=gpus, mixed=mixed)
        rounds += _second_round(work, limits)
    return PartOutcome(use(merged(rounds, mixed=mixed)))


def _script(
    work: WorkFolder,
    states: PartStates,
    executor: Executor,
    address: str,
    *,
    is_new: bool,
    gpus: int,
    mixed: bool,
) -> PartOutcome:
    """The script to submit, with what is missing."""
    if executor.script is None:
        raise ValueError(f"the executor {executor.name} neither runs parts nor submits them")
    threads = requested_threads() or 1
    name = f"./{work.place.name}" if work.place.name.startswith("-") else work.place.name
    code = work.plan.kind_of_part.code_file(work.plan.options)
    command = [
        "rankwell",
        "part",
        name,
        *([] if code is None else ["--bench", code]),
        "--threads",
        str(threads),
    ]
    has_files = work.place.is_local or any(
        "etag" not in input_state for input_state in work.plan.inputs.values()
    )
    job = ArrayJob(
        command,
        states.missing,
        work.plan.parts,
        threads,
        work.plan.memory,
        __version__,
        gpus,
        has_files,
    )
    script = executor.script(address, job)
    part_count = count_of(work.plan.parts, "part")
    missing = len(states.missing)
    verb, them = ("is", "it") if missing == 1 else ("are", "them")
    if is_new:
        note = (
            f"{work.place.name} has the plan of {part_count}; submit {them}, then run this command "
            "again."
        )
        return PartOutcome(text=script, notes=(note,))
    failed = [
        f"part {index} failed: {states.failed[index]}"
        for index in states.missing
        if index in states.failed
    ]
    damaged = [f"part {index} is damaged: {problem}" for index, problem in states.damaged.items()]
    machines = machines_of(states.done)
    mixture = (
        [f"{mixture_text(machines)}; merging them needs {flag('--mixed')}"]
        if len(machines) > 1 and not mixed
        else []
    )
    note = f"{missing} of {part_count} {verb} missing: {slurm_ranges(states.missing)}"
    where = f"{work.place.name}: " if work.place.name.endswith(f"/{SECOND}") else ""
    notes = (
        *failed[:5],
        *damaged[:5],
        *mixture,
        f"{where}{note}; submit {them}, then run this command again.",
    )
    return PartOutcome(text=script, notes=notes, missing=tuple(states.missing))
