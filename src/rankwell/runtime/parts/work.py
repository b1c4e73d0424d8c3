"""The parts of a work folder and their records: which are done, failed, damaged or missing, and
the kinds of machine that computed them.
"""

import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rankwell.errors import BadInput, BadUsage, RankwellError, count_of, flag, printable, typed
from rankwell.runtime.parts import PartContent, PartMachine
from rankwell.runtime.parts.places import WorkPlace, file_digest, place_of
from rankwell.runtime.parts.plans import Plan
from rankwell.threads import in_threads


def machines_of(records: Mapping[int, Mapping[str, Any]]) -> list[PartMachine]:
    """The kinds of machine in the records of parts, in order of their first parts; one where bytes
    depend on none.

    >>> cpu, gpu = {"machine": {"device": "cpu"}}, {"machine": {"device": "cuda:0"}}
    >>> [
    ...     (machine.traits["device"], machine.parts)
    ...     for machine in machines_of({0: cpu, 1: gpu, 2: cpu})
    ... ]
    [('cpu', [0, 2]), ('cuda:0', [1])]
    """
    machines: dict[str, PartMachine] = {}
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
    first, *other_machines = machines
    texts = [
        f"{count_of(len(first.parts), 'part was', 'parts were')} made with "
        f"{machine_text(first, names)}"
    ]
    return ", ".join(
        texts
        + [
            f"{count_of(len(machine.parts), 'part')} with {machine_text(machine, names)}"
            for machine in other_machines
        ]
    )


def refuse_mixture(folder_name: str, machines: Sequence[PartMachine]) -> None:
    """Raises BadInput that names two parts whose machines differ. place: the name of their work
    folder.
    """
    if len(machines) < 2:
        return
    names = traits_that_differ(machines[:2])
    (first, first_text), (second, second_text) = (
        (machine.parts[0], machine_text(machine, names)) for machine in machines[:2]
    )
    difference = (
        f"part {first} was made with {first_text}, part {second} with {second_text}; bytes may "
        "differ"
    )
    advice = (
        "Compute the parts of one machine as the others "
        f"({typed('rankwell', 'part', folder_name, '--status')} lists them)"
    )
    raise BadInput(
        f"{folder_name}: {difference}. {advice}, or accept both ({flag('--mixed', True)}): no one "
        "machine can make such a file again."
    )


MOST_RECORD = 1024
"""Bytes of a record at most."""
_MOST_MESSAGE = 2000
_FAILED = ".failed.json"
_AT_ONCE = 16
_DIGEST = len("sha256:") + 64


class PartVanished(BadInput):
    """A part that was whole, and is no more."""


class Measured(NamedTuple):
    """The time of a part: seconds, and seconds of processors."""

    seconds: float
    processor_seconds: float


@dataclass
class PartStates:
    """The parts of a plan by their state. failed: with messages. damaged: with what is wrong; they
    are missing, too.
    """

    done: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    damaged: dict[int, str] = field(default_factory=dict)
    missing: list[int] = field(default_factory=list)


class WholeParts(NamedTuple):
    """The parts of a plan that is done. files: in order. machines: the kinds of machine that
    computed them.
    """

    files: list[Path]
    machines: list[PartMachine]


class WorkFolder:
    """A folder with a plan. Parts are `part-00017.npy`, or of the suffix that their kind has,
    records `part-00017.json`.
    """

    def __init__(self, folder: str | Path | WorkPlace, plan: Plan) -> None:
        self.place, self.plan = place_of(folder), plan
        self._verified: set[tuple[str, str]] = set()

    def stem(self, index: int) -> str:
        """The beginning of the names of a part's files."""
        return f"part-{index:05d}"

    def refuse_outside(self, index: int) -> None:
        """Raises BadUsage for an index that is not one of the plan."""
        if not 0 <= index < self.plan.parts:
            raise BadUsage(
                f"part {index} is outside the plan of {self.place.name}; its parts are 0 to "
                f"{self.plan.parts - 1}."
            )

    def record(
        self, index: int, sizes: Mapping[str, int] | None = None, *, verified: bool = True
    ) -> tuple[Mapping[str, Any], str] | str | None:
        """The record of a whole part with its file's name; text for what is wrong with a damaged
        one; None where there is none.

        sizes: the listing of the place, where many parts are looked at. verified: whether the
        content is compared with the digest, which fetches a part from a bucket. Raises BadInput for
        a part of another plan or of another number, and for two digests of one part by one kind of
        machine; of those by two, the first by name is taken, and a damaged one beside a whole one
        does not count.
        """
        stem = self.stem(index)
        plain = f"{stem}.json"
        names = [plain]
        if self.plan.puts != "refused":
            among = self.place.listing(f"{stem}.") if sizes is None else sizes
            names = sorted(
                name
                for name in among
                if name.startswith(f"{stem}.") and name.endswith(".json") and name != plain
            )
        names = [
            name
            for name in names
            if not name.endswith(_FAILED) and (sizes is None or name in sizes)
        ]
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
    ) -> tuple[Mapping[str, Any], str] | str | None:
        content = self.place.read(name)
        if content is None:
            return None
        try:
            record = json.loads(content)
            owner = str(record["plan"])
            number = int(record["part"])
            file = str(record["file"])
            size, digest = int(record["bytes"]), str(record["digest"])
            if not all(
                isinstance(record.get(name, {}), dict) for name in ("inputs", "alike", "machine")
            ):
                raise ValueError
            if not (
                file.startswith(f"part-{number:05d}.")
                and file == Path(file).name
                and len(digest) == _DIGEST
            ):
                raise ValueError
        except (ValueError, TypeError, KeyError):
            return f"{name} is damaged"
        if owner != self.plan.digest or number != index:
            whose = (
                f"part {number} of another plan"
                if owner != self.plan.digest
                else f"the record of part {number}"
            )
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
        for name in sorted(sizes):
            if name.startswith("part-"):
                number = name.removeprefix("part-").partition(".")[0]
                if (
                    not number.isdecimal()
                    or int(number) >= self.plan.parts
                    or self.stem(int(number)) != f"part-{number}"
                ):
                    last = self.stem(self.plan.parts - 1)
                    raise BadInput(
                        f"{self.place.name}/{name} is not a part of this plan, which ends with "
                        f"{last}; remove it."
                    )
        return sizes

    def _records(
        self, sizes: Mapping[str, int], *, verified: bool = True
    ) -> list[tuple[Mapping[str, Any], str] | str | None]:
        """Every part as in `record`."""

        def _record(index: int) -> tuple[Mapping[str, Any], str] | str | None:
            return self.record(index, sizes, verified=verified)

        return in_threads(
            _record, range(self.plan.parts), workers=1 if self.place.is_local else _AT_ONCE
        )

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
        names = self.place.listing(f"{self.stem(index)}.")
        return any(name.endswith(".json") and not name.endswith(_FAILED) for name in names)

    def whole(self, *, mixed: bool = False) -> WholeParts:
        """All parts. Raises BadInput where they read different bytes of one input, are not alike,
        or are mixed and must not be.

        mixed: whether parts of different kinds of machine are accepted.
        """
        input_digests: dict[str, tuple[int, str]] = {}
        alike: dict[str, tuple[int, str]] = {}
        records: dict[int, Mapping[str, Any]] = {}
        names: list[str] = []
        for index, state in enumerate(self._records(self._sizes())):
            if not isinstance(state, tuple):
                raise PartVanished(
                    f"{self.place.name}: part {index} has vanished; run the command again."
                )
            for name, digest in state[0].get("inputs", {}).items():
                first_part, first_value = input_digests.setdefault(name, (index, digest))
                if first_value != digest:
                    raise BadInput(
                        f"{self._place_of(name)}: parts {first_part} and {index} read different "
                        "bytes of it; it changed meanwhile. Name another work folder."
                    )
            for name, value in state[0].get("alike", {}).items():
                first_part, first_value = alike.setdefault(name, (index, value))
                if first_value != value:
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

    def keep(self, index: int, content: PartContent, measured: Measured) -> Mapping[str, Any]:
        """Writes a part and then its record; both are there whole or not at all. A whole part that
        another process has put stays, and nothing is ever removed: what is damaged is replaced.

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
                where = f"{self.place.name}/{written.name}"
                raise BadInput(
                    f"{where} is there with another content; remove it, or name another work "
                    "folder."
                )
            written, replaces = put(replace=True), True
        record = {
            "part": index,
            "plan": self.plan.digest,
            "file": written.name,
            "digest": written.digest,
            "bytes": written.size,
            "seconds": round(measured.seconds, 3),
            "processor_seconds": round(measured.processor_seconds, 3),
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
        if replaces or not (self.place.put_new(name, text.encode()) or self._is_whole(index)):
            self.place.replace(name, text.encode())
        return record

    def _is_whole(self, index: int) -> bool:
        return isinstance(self.record(index), tuple)

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

    def failure(self, index: int) -> Mapping[str, Any]:
        """The note on the error of a part; empty where there is none."""
        try:
            note = json.loads(self.place.read(self.stem(index) + _FAILED) or b"")
        except ValueError:
            return {}
        return note if isinstance(note, dict) else {}

    def forget_failure(self, index: int) -> None:
        """Removes the note on the error of a part."""
        self.place.remove(self.stem(index) + _FAILED)
