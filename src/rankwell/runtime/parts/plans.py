"""A work folder: its plan, `plan.json`, written once and equal for whoever continues the work; the
records of its parts, which are done, failed, damaged or missing; and the kinds of machine that
computed them.
"""

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import cached_property, partial
from os.path import commonprefix, normpath
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell import __version__
from rankwell._native import native
from rankwell.documents import parse_json
from rankwell.errors import (
    BadInput,
    BadUsage,
    RankwellError,
    count_of,
    flag,
    printable,
    shown,
    typed,
)
from rankwell.runtime.parts import (
    KINDS,
    Json,
    Limits,
    PartContent,
    PartInputs,
    PartKind,
    PartMachine,
    PlanOptions,
    Puts,
    WorkPlace,
    file_digest,
    place_of,
    probe,
)
from rankwell.store import refuse_blocked, refuse_irregular, remote, remote_url
from rankwell.threads import in_threads

Record = Mapping[str, Any]
"""The record of a part, or the state of an input, as JSON."""
PartState = tuple[Record, str] | str | None
"""The record of a whole part with its file's name; text for what is wrong with a damaged one; None
where there is none.
"""
PLAN = "plan.json"
_FORMAT = 1
_AT_ONCE = 16
_LONG = 40
"""Characters of a text in messages; of longer ones that differ, what is before is left out."""


@dataclass(frozen=True)
class Plan:
    """The work of a folder, as its plan file describes it.

    format: version of the plan file's format.
    kind: name of the kind of its parts.
    command: the words of rankwell that made it, without options.
    options: the options of the kind, with which every part is computed.
    inputs: name -> path, number of bytes, and time of change in nanoseconds; for an object its
        entity tag in place of the time.
    parts: number of parts.
    boundaries: where the parts begin and end, in a form of the kind's own.
    memory: number of bytes that a part may use.
    puts: whether the place refuses a second file of one name (`refused`), or every content has a
        name of its own (`unique`).
    versions: package -> its version where the plan was made. Parts refuse another version of
        rankwell.
    """

    format: int
    kind: str
    command: str
    options: PlanOptions
    inputs: Mapping[str, Record]
    parts: int
    boundaries: Json
    memory: int
    puts: Puts
    versions: Mapping[str, str]

    @property
    def text(self) -> str:
        """The plan as its file holds it."""
        return json.dumps(self._values(), indent=1, sort_keys=True) + "\n"

    @cached_property
    def digest(self) -> str:
        """The name of the plan in records."""
        # Each part reads the plan: without indents it is written by C, and fields are not copied.
        return hashlib.sha256(json.dumps(self._values(), sort_keys=True).encode()).hexdigest()[:16]

    def _values(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def kind_of_part(self) -> PartKind:
        """The kind's functions."""
        return KINDS[self.kind]

    @property
    def code_file(self) -> str | None:
        """The file that may name code."""
        kind = self.kind_of_part
        return self.options[kind.code] if kind.code else None

    @property
    def part_inputs(self) -> PartInputs:
        """The options and boundaries, for the kind's functions."""
        return PartInputs(self.options, self.boundaries)

    def refuse_changed_inputs(self) -> None:
        """Raises BadInput for an input that is not as it was when the plan was written."""
        planned_states = self.inputs.values()
        states = _states([planned_state["path"] for planned_state in planned_states])
        for planned_state, state in zip(planned_states, states, strict=True):
            _refuse_changed(planned_state, state)

    def expect_inputs(self) -> None:
        """Refuses, as `refuse_changed_inputs`, local files that have changed; objects are refused
        where they are read.
        """
        for planned_state in self.inputs.values():
            if "etag" in planned_state:
                remote.expect(planned_state["path"], planned_state["bytes"], planned_state["etag"])
            else:
                _refuse_changed(planned_state, _file_state(planned_state["path"]))

    def refuse_other_version(self) -> None:
        """Raises BadUsage where the plan is of another version of rankwell."""
        if self.versions.get("rankwell") != __version__:
            raise BadUsage(
                f"the plan is of rankwell {self.versions.get('rankwell')}, this is {__version__}; "
                "install the same version everywhere, or name another work folder."
            )


def _refuse_changed(planned_state: Record, state: Record) -> None:
    if state != planned_state:
        raise BadInput(
            f"{planned_state['path']} has changed since the plan was written "
            f"({_changes(planned_state, state)}); restore it, or name another work folder."
        )


def file_of_part(source: str | Path) -> str:
    """The name of an input that every machine can read: an absolute path, without `..`, or the
    address of an object.
    """
    if (url := remote_url(source)) is not None:
        return url
    path = Path(source).absolute()
    plain = normpath(path)
    with suppress(OSError):  # behind a link of a folder, `..` is not the folder before it
        if ".." in path.parts and path.samefile(plain):
            return plain
    return str(path)


def input_files(kind: PartKind, options: PlanOptions) -> dict[str, dict[str, Any]]:
    """The inputs of some work, as a plan lists them."""
    files = {name: str(path) for name, path in sorted(kind.files(options).items())}
    return dict(zip(files, _states(list(files.values())), strict=True))


def _states(paths: Sequence[str]) -> list[dict[str, Any]]:
    """The states of some inputs, each as it is now."""
    are_remote = any(remote_url(path) for path in paths)
    return in_threads(_file_state, paths, workers=_AT_ONCE if are_remote else 1)


def _file_state(path: str) -> dict[str, Any]:
    """Size and time of a file, or size and tag of an object. Raises BadInput for neither."""
    if (url := remote_url(path)) is not None:
        stored_object = remote.existing(url, anew=True)
        return {"path": url, "bytes": stored_object.size, "etag": stored_object.tag}
    refuse_irregular(Path(path))
    status = Path(path).stat()
    return {"path": path, "bytes": status.st_size, "modified": status.st_mtime_ns}


def _changes(before: Record, now: Record) -> str:
    if before["bytes"] != now["bytes"]:
        return f"{before['bytes']} bytes then, {now['bytes']} now"
    if "etag" in before or "etag" in now:
        return f"ETag {before.get('etag')} then, {now.get('etag')} now"
    then, later = (
        datetime.fromtimestamp(state["modified"] / 1e9, UTC).isoformat(" ", "milliseconds")
        for state in (before, now)
    )
    return f"modified {then} then, {later} now"


def open_plan(
    storage: WorkPlace, kind: PartKind, options: PlanOptions, command: str, limits: Limits
) -> tuple[Plan, bool]:
    """The plan of a work folder, and whether it is new: it is written where there is none.

    Raises BadUsage that says what differs where the folder has the plan of other work, and for a
    folder of other files.
    """
    if storage.is_local:
        refuse_blocked(storage.folder, folder=True)
    inputs = input_files(kind, options)
    is_there = storage.size(PLAN) is not None
    if not is_there and (other_files := sorted(storage.listing())):
        # Another command may have put it meanwhile.
        if storage.size(PLAN) is None:
            raise BadUsage(
                f"{storage.name} has no plan, but other files ({other_files[0]!r}); name an empty "
                "folder, or a new one."
            )
        is_there = True
    if not is_there:
        cut = kind.cut(options, limits)
        if kind.check is not None:
            kind.check(options)
        storage.open()
        puts = probe(storage)
        plan = Plan(
            _FORMAT,
            kind.name,
            command,
            options,
            inputs,
            cut.parts,
            cut.boundaries,
            limits.memory,
            puts,
            {
                "rankwell": __version__,
                "python": platform.python_version(),
                "numpy": np.__version__,
                "reader": native.name(),
            },
        )
        content = plan.text.encode()
        # Another command may have written one meanwhile.
        if puts == "refused" and storage.put_new(PLAN, content):
            return read_plan(storage), True
        if puts != "refused" and storage.size(PLAN) is None:
            storage.replace(PLAN, content)
            return read_plan(storage), True
    plan = read_plan(storage)
    plan.refuse_other_version()
    differing = _other_work(plan, storage, kind, options, inputs)
    if not differing and limits.shards is not None:
        cut = kind.cut(options, limits._replace(memory=plan.memory))
        if cut.boundaries != plan.boundaries:
            differing = [f"it has {plan.parts} parts, this has {cut.parts}"]
    if differing:
        raise BadUsage(
            f"{storage.name} holds the plan of other work: {'; '.join(differing)}. Name another "
            "work folder."
        )
    return plan, False


def read_plan(folder: str | Path | WorkPlace) -> Plan:
    """The plan of a folder. Raises BadUsage where there is none, BadInput for a damaged one."""
    storage = place_of(folder)
    content = storage.read(PLAN)
    if content is None:
        raise BadUsage(
            f"{storage.name} is not a work folder: it has no {PLAN}; name the folder that "
            "--work made."
        )
    path = f"{storage.name}/{PLAN}"
    values = parse_json(content.decode("utf-8", "replace"), path, "a plan")
    try:
        plan = Plan(**values)
        if plan.format != _FORMAT or plan.parts < 1 or plan.kind not in KINDS:
            raise ValueError(
                f"format {shown(plan.format)}, kind {shown(plan.kind)}, {shown(plan.parts)} parts"
            )
    except (TypeError, ValueError) as error:
        problem = "its keys are not those of a plan" if isinstance(error, TypeError) else error
        raise BadInput(
            f"{path} is damaged, or of another version of rankwell ({problem}); name another "
            "work folder."
        ) from error
    return plan


def _other_work(
    plan: Plan, storage: WorkPlace, kind: PartKind, options: PlanOptions, inputs: Record
) -> list[str]:
    """The differences from a plan: those of inputs and options, else those of what is derived from
    them.
    """
    if plan.kind != kind.name:
        return [f"its work is {plan.kind}, this is {kind.name}"]
    planned_states, input_states = (
        {state["path"]: state for state in named_states.values()}
        for named_states in (plan.inputs, inputs)
    )
    if changed := [
        path
        for path in input_states
        if planned_states.get(path, input_states[path]) != input_states[path]
    ]:
        return [
            f"{path} has changed ({_changes(planned_states[path], input_states[path])})"
            for path in changed
        ]
    differences = list[str]()
    for name in sorted({*plan.options, *options} - {*kind.derived}):
        differences += _differences(name, plan.options.get(name), options.get(name))
    if differences:
        return differences
    added_inputs = {
        path: f"{path} was not an input" for path in input_states if path not in planned_states
    }
    removed_inputs = {
        path: f"{path} is not an input any more"
        for path in planned_states
        if path not in input_states
    }
    derived = [
        text for name, text in kind.derived.items() if plan.options.get(name) != options.get(name)
    ]
    # Inputs in the work folder are arrays that are derived from the others.
    return (
        [
            text
            for path, text in [*added_inputs.items(), *removed_inputs.items()]
            if not path.startswith(storage.address())
        ]
        or list(dict.fromkeys(derived))
        or list(added_inputs.values())
    )


def _differences(name: str, was: Json, now: Json) -> list[str]:
    """The differences between two values of an option, each with the names of the values around
    it.
    """
    if was == now:
        return []
    differences = list[str]()
    if isinstance(was, dict) and isinstance(now, dict):
        for key in sorted({*was, *now}):
            differences += _differences(f"{name} {key}", was.get(key), now.get(key))
        return differences
    if (
        isinstance(was, list)
        and isinstance(now, list)
        and any(isinstance(member, (dict, list)) for member in [*was, *now])
    ):
        if len(was) != len(now):
            return [f"{name} had {len(was)} entries, has {len(now)}"]
        for pair in zip(was, now, strict=True):
            differences += _differences(name, *pair)
        return differences
    if isinstance(was, str) and isinstance(now, str) and max(len(was), len(now)) > _LONG:
        # The beginning of long paths is often the same.
        start = max(0, len(commonprefix([was, now])) - _LONG // 2)  # noqa: RUF071 - of characters
        was, now = (f"…{text[start:]}" if start else text for text in (was, now))
    return [f"{name} was {shown(was, 2 * _LONG)}, is {shown(now, 2 * _LONG)}"]


def machines_of(records: Mapping[int, Record]) -> list[PartMachine]:
    """The kinds of machine in the records of parts, in order of their first parts; one where bytes
    depend on none.

    >>> cpu, gpu = {"machine": {"device": "cpu"}}, {"machine": {"device": "cuda:0"}}
    >>> [
    ...     (machine.traits["device"], machine.parts)
    ...     for machine in machines_of({0: cpu, 1: gpu, 2: cpu})
    ... ]
    [('cpu', [0, 2]), ('cuda:0', [1])]
    """
    machines = dict[str, PartMachine]()
    for index, record in records.items():
        traits = record.get("machine", {})
        machines.setdefault(
            json.dumps(traits, sort_keys=True), PartMachine(traits, [])
        ).parts.append(index)
    return list(machines.values())


def traits_that_differ(machines: Sequence[PartMachine]) -> list[str]:
    """The names of the traits in which kinds of machine differ, in order."""
    names = sorted({name for machine in machines for name in machine.traits})
    return [
        name for name in names if len({str(machine.traits.get(name)) for machine in machines}) > 1
    ]


def machine_text(machine: PartMachine, names: Iterable[str]) -> str:
    """Some traits of a kind of machine in words.

    >>> machine_text(
    ...     PartMachine({"device": "cpu", "processor": "x86_64 AVX2"}, [0]), ["device", "processor"]
    ... )
    'the device cpu and the processor x86_64 AVX2'
    """
    return printable(" and ".join(f"the {name} {machine.traits.get(name)}" for name in names))


def mixture_text(machines: Sequence[PartMachine]) -> str:
    """The number of parts of each kind of machine, in words.

    >>> mixture_text(
    ...     [PartMachine({"device": "cpu"}, [0, 2]), PartMachine({"device": "cuda:0"}, [1])]
    ... )
    '2 parts were made with the device cpu, 1 part with the device cuda:0'
    """
    names = traits_that_differ(machines)
    first_text, *texts = (f"with {machine_text(machine, names)}" for machine in machines)
    counts = [len(machine.parts) for machine in machines]
    clauses = [f"{count_of(counts[0], 'part was', 'parts were')} made {first_text}"]
    clauses += [f"{count_of(n, 'part')} {text}" for n, text in zip(counts[1:], texts, strict=True)]
    return ", ".join(clauses)


def refuse_mixture(folder_name: str, machines: Sequence[PartMachine]) -> None:
    """Raises BadInput that names two parts whose machines differ. folder_name: that of their
    work folder.
    """
    if len(machines) < 2:
        return
    names = traits_that_differ(machines[:2])
    (first, first_text), (second, second_text) = (
        (machine.parts[0], machine_text(machine, names)) for machine in machines[:2]
    )
    raise BadInput(
        f"{folder_name}: part {first} was made with {first_text}, part {second} with "
        f"{second_text}; bytes may differ. Compute the parts of one machine as the others "
        f"({typed('rankwell', 'worker', folder_name, '--status')} lists them), or accept both "
        f"({flag('--mixed', True)}): no one machine can make such a file again."
    )


MOST_RECORD = 1024
"""Bytes of a record at most."""
_MOST_MESSAGE = 2000
_FAILED = ".failed.json"
_DIGEST = len("sha256:") + 64


def _is_record(name: str, stem: str) -> bool:
    """Whether a file is a record of a part."""
    return name.startswith(f"{stem}.") and name.endswith(".json") and not name.endswith(_FAILED)


class PartVanished(BadInput):
    """A part that was whole, and is no more."""


@dataclass
class PartStates:
    """The parts of a plan by their state. A part is given by its index.

    done: part -> its record.
    failed: part -> the message of its error.
    damaged: part -> what is wrong with its file.
    missing: the parts without a usable file, failed and damaged ones among them.
    """

    done: dict[int, Record] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    damaged: dict[int, str] = field(default_factory=dict)
    missing: list[int] = field(default_factory=list)


class WholeParts(NamedTuple):
    """The parts of a plan when all are done.

    files: their files, in order.
    machines: the kinds of machine that computed them.
    """

    files: list[Path]
    machines: list[PartMachine]


class WorkFolder:
    """A folder with a plan. Parts are `part-00017.npy`, or of the suffix that their kind has,
    records `part-00017.json`.
    """

    def __init__(self, folder: str | Path | WorkPlace, plan: Plan | None = None) -> None:
        self.place = place_of(folder)
        self.plan = plan or read_plan(self.place)
        self._verified = set[tuple[str, str]]()

    def stem(self, index: int) -> str:
        """The beginning of the names of a part's files."""
        return f"part-{index:05d}"

    def record(
        self, index: int, sizes: Mapping[str, int] | None = None, *, verified: bool = True
    ) -> PartState:
        """The record of a whole part with its file's name; text for what is wrong with a damaged
        one; None where there is none.

        sizes: the listing of the place, where many parts are looked at. verified: whether the
        content is compared with the digest, which fetches a part from a bucket. Raises BadInput for
        a part of another plan or of another number, and for two digests of one part by one kind of
        machine; of those by two, the first by name is taken, and a damaged one beside a whole one
        does not count.
        """
        stem = self.stem(index)
        names = [f"{stem}.json"]
        if self.plan.puts != "refused":
            among = self.place.listing(f"{stem}.") if sizes is None else sizes
            names = sorted({name for name in among if _is_record(name, stem)} - {*names})
        elif sizes is not None:
            names = [name for name in names if name in sizes]
        states = [self._checked(index, name, sizes, verified=verified) for name in names]
        whole_records = [state for state in states if isinstance(state, tuple)]
        if not whole_records:
            return next((state for state in states if isinstance(state, str)), None)
        machines = {
            json.dumps(record.get("machine", {}), sort_keys=True) for record, _ in whole_records
        }
        if len({record["digest"] for record, _ in whole_records}) > len(machines):
            record_names = " and ".join(names)
            raise BadInput(
                f"{self.place.name}: {record_names} are one part with two digests; remove the "
                "wrong one, or the folder."
            )
        return whole_records[0]

    def _checked(
        self, index: int, name: str, sizes: Mapping[str, int] | None, *, verified: bool
    ) -> PartState:
        content = self.place.read(name)
        if content is None:
            return None
        try:
            record = json.loads(content)
            owner = str(record["plan"])
            number = int(record["part"])
            file = str(record["file"])
            size, digest = int(record["bytes"]), str(record["digest"])
            traits = (record.get(name, {}) for name in ("inputs", "alike", "machine"))
            if not (
                all(isinstance(trait, dict) for trait in traits)
                and file.startswith(f"part-{number:05d}.")
                and file == Path(file).name
                and len(digest) == _DIGEST
            ):
                raise ValueError
        except (ValueError, TypeError, KeyError):
            return f"{name} is damaged"
        if owner != self.plan.digest or number != index:
            whose = f"the record of part {number}"
            if owner != self.plan.digest:
                whose = f"part {number} of another plan"
            raise BadInput(
                f"{self.place.name}/{name} is {whose}; remove it and {file}, or name another "
                "work folder."
            )
        actual_size = None if sizes is None else sizes.get(file)
        if actual_size is None:
            actual_size = self.place.size(file)  # a listing may have missed it, which has just come
        if actual_size is None:
            return f"{file} is missing"
        if actual_size != size:
            return f"{file} has {actual_size} bytes, its record says {size}"
        if verified and (file, digest) not in self._verified:
            if file_digest(self.place.file(file)) != digest:
                return f"{file} is not what its record says"
            self._verified.add((file, digest))
        return record, file

    def _sizes(self) -> Mapping[str, int]:
        """The sizes of all files. Raises BadInput for parts and records that no part of the plan
        has.
        """
        sizes = self.place.listing()
        stems = set(map(self.stem, range(self.plan.parts)))
        for name in sorted(sizes):
            if name.startswith("part-") and name.partition(".")[0] not in stems:
                raise BadInput(
                    f"{self.place.name}/{name} is not a part of this plan, which ends with "
                    f"{self.stem(self.plan.parts - 1)}; remove it."
                )
        return sizes

    def _records(self, sizes: Mapping[str, int], *, verified: bool = True) -> list[PartState]:
        """Every part as in `record`."""

        record = partial(self.record, sizes=sizes, verified=verified)
        workers = 1 if self.place.is_local else _AT_ONCE
        return in_threads(record, range(self.plan.parts), workers=workers)

    def states(self, *, verified: bool = True) -> PartStates:
        """The state of every part. Raises as `record`, and BadInput for files of no part."""
        states, sizes = PartStates(), self._sizes()
        for index, state in enumerate(self._records(sizes, verified=verified)):
            if isinstance(state, tuple):
                states.done[index] = state[0]
                continue
            states.missing.append(index)
            if state is not None:
                states.damaged[index] = state
            if self.stem(index) + _FAILED in sizes:
                states.failed[index] = str(self.failure(index).get("error", ""))
        return states

    def missing(self) -> dict[int, str]:
        """The parts that are not whole, in order, each with what is wrong with a damaged one."""
        return {
            index: state or ""
            for index, state in enumerate(self._records(self._sizes()))
            if not isinstance(state, tuple)
        }

    def has_record(self, index: int) -> bool:
        """Whether a part has a record, which it gets when it is whole."""
        if self.plan.puts == "refused":
            return self.place.size(f"{self.stem(index)}.json") is not None
        stem = self.stem(index)
        return any(_is_record(name, stem) for name in self.place.listing(f"{stem}."))

    def whole(self, *, mixed: bool = False) -> WholeParts:
        """All parts. Raises BadInput where they read different bytes of one input, are not alike,
        or are mixed and must not be.

        mixed: whether parts of different kinds of machine are accepted.
        """
        first_values = dict[tuple[str, str], tuple[int, str]]()
        records = dict[int, Record]()
        names = list[str]()
        for index, state in enumerate(self._records(self._sizes())):
            if not isinstance(state, tuple):
                raise PartVanished(
                    f"{self.place.name}: part {index} has vanished; run the command again."
                )
            traits = [
                (kind, *trait)
                for kind in ("inputs", "alike")
                for trait in state[0].get(kind, {}).items()
            ]
            for kind, name, value in traits:
                first_part, first_value = first_values.setdefault((kind, name), (index, value))
                if first_value == value:
                    continue
                if kind == "inputs":
                    raise BadInput(
                        f"{self._place_of(name)}: parts {first_part} and {index} read different "
                        "bytes of it; it changed meanwhile. Name another work folder."
                    )
                raise BadInput(
                    f"{self.place.name}: part {first_part} was made with the {name} "
                    f"{first_value}, part {index} with {value}. Remove one, and compute it as "
                    "the other."
                )
            records[index] = state[0]
            names.append(state[1])
        machines = machines_of(records)
        if not mixed:
            refuse_mixture(self.place.name, machines)
        return WholeParts([self.place.file(name) for name in names], machines)

    def _place_of(self, block: str) -> str:
        """The input of a block, `base 0-1500`, with its rows in the whole."""
        name, _, rows = block.partition(" ")
        paths = [
            str(input_state["path"])
            for key, input_state in self.plan.inputs.items()
            if key == name or key.startswith(f"{name}/")
        ]
        return f"{paths[0]}, {rows}" if len(paths) == 1 else block

    def keep(
        self, index: int, content: PartContent, seconds: float, processor_seconds: float
    ) -> Record:
        """Writes a part and then its record; both are there whole or not at all. A whole part that
        another process has put stays, and nothing is ever removed: what is damaged is replaced.

        seconds: time on the clock that it took. processor_seconds: that of all threads together.
        Raises BadInput where that one has another digest, unless another kind of machine computed
        it.
        """
        stem, unique = self.stem(index), self.plan.puts != "refused"
        put = partial(self.place.put_part, stem, content.suffix, content.write, unique=unique)
        written, replaces = put(replace=unique), unique
        if not written.is_new and file_digest(self.place.file(written.name)) != written.digest:
            existing_record = self.record(index)
            if isinstance(existing_record, tuple):
                if existing_record[0].get("machine", {}) != dict(content.machine):
                    return existing_record[0]
                raise BadInput(
                    f"{self.place.name}/{written.name} exists with different content; remove it, "
                    "or name another work folder."
                )
            written, replaces = put(replace=True), True
        record = {
            "part": index,
            "plan": self.plan.digest,
            "file": written.name,
            "digest": written.digest,
            "bytes": written.size,
            "seconds": round(seconds, 3),
            "processor_seconds": round(processor_seconds, 3),
            "host": platform.node()[:64],
            "device": content.device[:64],
            "inputs": dict(content.inputs),
            "alike": dict(content.alike),
            "machine": dict(content.machine),
        }
        text = json.dumps(record, sort_keys=True) + "\n"
        if len(text) > MOST_RECORD:
            raise ValueError(f"a record of {len(text)} bytes; a kind of part names fewer blocks")
        name = f"{written.name.removesuffix(content.suffix)}.json"
        content_bytes = text.encode()
        if replaces or not (
            self.place.put_new(name, content_bytes) or isinstance(self.record(index), tuple)
        ):
            self.place.replace(name, content_bytes)
        return record

    def discard(self, index: int) -> None:
        """Removes a part, its record first."""
        names = self.place.listing(f"{self.stem(index)}.")
        for name in sorted(names, key=lambda name: not name.endswith(".json")):
            self.place.remove(name)

    def fail(self, index: int, error: Exception) -> None:
        """Notes the error of a part."""
        note = {
            "error": str(error)[:_MOST_MESSAGE],
            "kind": type(error).__name__,
            "host": platform.node()[:64],
        }
        with suppress(OSError, RankwellError):  # the error itself may be that the disk is full
            text = json.dumps(note) + "\n"
            self.place.replace(self.stem(index) + _FAILED, text.encode())

    def failure(self, index: int) -> Record:
        """The note on the error of a part; empty where there is none."""
        try:
            note = json.loads(self.place.read(self.stem(index) + _FAILED) or b"")
        except ValueError:
            return {}
        return note if isinstance(note, dict) else {}

    def forget_failure(self, index: int) -> None:
        """Removes the note on the error of a part."""
        self.place.remove(self.stem(index) + _FAILED)
