"""The parts of a work folder and their records: which are done, running, failed, damaged or
missing.
"""

import json
import os
import platform
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from rankwell.core.kernels.workers import in_threads
from rankwell.errors import BadInput, BadUsage, RankwellError
from rankwell.parts import PartContent, PartMachine
from rankwell.parts.machines import machines_of, refuse_mixture
from rankwell.parts.places import WorkPlace, file_digest, is_running, place_of
from rankwell.parts.plans import Plan

MOST_RECORD = 1024
"""Bytes of a record at most."""
_MOST_MESSAGE = 600
_NOTES = (".failed.json", ".running.json")
_AT_ONCE = 16
_DIGEST = len("sha256:") + 64


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
    running: dict[int, str] = field(default_factory=dict)
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
        machine; of those by two, the first by name is taken.
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
            each for each in names if not each.endswith(_NOTES) and (sizes is None or each in sizes)
        ]
        found = [self._checked(index, each, sizes, verified=verified) for each in names]
        wrong = next((each for each in found if isinstance(each, str)), None)
        whole = [each for each in found if isinstance(each, tuple)]
        if wrong is not None or not whole:
            return wrong
        machines = {json.dumps(record.get("machine", {}), sort_keys=True) for record, _ in whole}
        if len({record["digest"] for record, _ in whole}) > len(machines):
            both = " and ".join(names)
            raise BadInput(
                f"{self.place.name}: {both} are one part with two digests; remove the wrong "
                "one, or the folder."
            )
        return whole[0]

    def _checked(
        self, index: int, name: str, sizes: Mapping[str, int] | None, *, verified: bool
    ) -> tuple[Mapping[str, Any], str] | str | None:
        content = self.place.read(name)
        if content is None:
            return None
        try:
            record = json.loads(content)
            owner, number, file = str(record["plan"]), int(record["part"]), str(record["file"])
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
        there = self.place.size(file) if sizes is None else sizes.get(file)
        if there is None:
            return f"{file} is missing"
        if there != size:
            return f"{file} has {there} bytes, its record says {size}"
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
                    what = (
                        f"{self.place.name}/{name} is not a part of this plan, which ends with "
                        f"{last}"
                    )
                    raise BadInput(f"{what}; remove it.")
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
        for index, found in enumerate(self._records(sizes, verified=verified)):
            if isinstance(found, tuple):
                states.done[index] = found[0]
                continue
            states.missing.append(index)
            if found is not None:
                states.damaged[index] = found
            failed, running = (
                self.note(index, each) if self._note(index, each) in sizes else None
                for each in ("failed", "running")
            )
            if failed is not None:
                states.failed[index] = str(failed.get("error", ""))
            if running is not None and self._is_alive(running):
                used = (
                    f", {running['processor_seconds']} processor seconds"
                    if "processor_seconds" in running
                    else ""
                )
                where = f"{running.get('host')}, process {running.get('process')}"
                states.running[index] = f"{where}, since {running.get('since')}{used}"
        return states

    def running(self) -> dict[int, Mapping[str, Any]]:
        """The notes of parts that processes compute, or have computed until they were lost."""
        ending = ".running.json"
        names = [name for name in self.place.listing("part-") if name.endswith(ending)]
        indices = [
            int(text) for name in names if (text := name[len("part-") : -len(ending)]).isdecimal()
        ]
        notes = {index: self.note(index, "running") for index in sorted(indices)}
        return {index: note for index, note in notes.items() if note is not None}

    def missing(self) -> list[int]:
        """The parts that are not whole, in order."""
        return [
            index
            for index, found in enumerate(self._records(self._sizes()))
            if not isinstance(found, tuple)
        ]

    def whole(self, *, mixed: bool = False) -> WholeParts:
        """All parts. Raises BadInput where they read different bytes of one input, are not alike,
        or are mixed and must not be.

        mixed: whether parts of different kinds of machine are accepted.
        """
        seen: dict[str, tuple[int, str]] = {}
        alike: dict[str, tuple[int, str]] = {}
        records: dict[int, Mapping[str, Any]] = {}
        names: list[str] = []
        for index, found in enumerate(self._records(self._sizes())):
            if not isinstance(found, tuple):
                raise BadInput(
                    f"{self.place.name}: part {index} has vanished; run the command again."
                )
            for name, digest in found[0].get("inputs", {}).items():
                first, known = seen.setdefault(name, (index, digest))
                if known != digest:
                    what = (
                        f"{self._place_of(name)}: parts {first} and {index} read different bytes "
                        "of it"
                    )
                    raise BadInput(f"{what}; it changed meanwhile. Name another work folder.")
            for name, value in found[0].get("alike", {}).items():
                first, known = alike.setdefault(name, (index, value))
                if known != value:
                    what = (
                        f"part {first} was made with the {name} {known}, part {index} with {value}"
                    )
                    raise BadInput(
                        f"{self.place.name}: {what}. Remove one, and compute it as the other."
                    )
            records[index] = found[0]
            names.append(found[1])
        machines = machines_of(records)
        if not mixed:
            refuse_mixture(self.place.name, machines)
        return WholeParts([self.place.file(name) for name in names], machines)

    def _place_of(self, block: str) -> str:
        """The input of a block, `base 0-1500`, with its rows in the whole."""
        name, _, rows = block.partition(" ")
        paths = [
            str(each["path"])
            for key, each in self.plan.inputs.items()
            if key == name or key.startswith(f"{name}/")
        ]
        return f"{paths[0]}, {rows}" if len(paths) == 1 else block

    def keep(self, index: int, content: PartContent, measured: Measured) -> Mapping[str, Any]:
        """Writes a part and then its record; both are there whole or not at all. A part that
        another process has kept stays.

        Raises BadInput where that one has another digest, unless another kind of machine computed
        it.
        """
        stem, unique = self.stem(index), self.plan.puts != "refused"
        written = self.place.put_part(stem, content.suffix, content.write, unique=unique)
        if not written.is_new and file_digest(self.place.file(written.name)) != written.digest:
            kept = self.record(index)
            if isinstance(kept, tuple) and kept[0].get("machine", {}) != dict(content.machine):
                return kept[0]
            where = f"{self.place.name}/{written.name}"
            raise BadInput(
                f"{where} is there with another content; remove it, or name another work folder."
            )
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
        if unique:
            self.place.replace(name, text.encode())
        else:
            self.place.put_new(name, text.encode())
        self.forget(index, "failed")
        return record

    def discard(self, index: int) -> None:
        """Removes what is left of a part that is not whole, before it is computed again."""
        for name in self.place.listing(f"{self.stem(index)}."):
            if not name.endswith(_NOTES):
                self._verified = {each for each in self._verified if each[0] != name}
                self.place.remove(name)

    def begin(self, index: int) -> Mapping[str, Any]:
        """Notes that this process computes a part; returns the note."""
        since = time.strftime("%Y-%m-%d %H:%M:%S %z")
        note = {"host": platform.node()[:64], "process": os.getpid(), "since": since}
        self.renew(index, note)
        return note

    def renew(self, index: int, note: Mapping[str, Any]) -> None:
        """Writes the note of a part that is computed."""
        self._write_note(index, "running", note)

    def fail(self, index: int, message: str) -> None:
        """Notes the error of a part."""
        with suppress(OSError, RankwellError):  # the error itself may be that the disk is full
            self._write_note(
                index, "failed", {"error": message[:_MOST_MESSAGE], "host": platform.node()[:64]}
            )

    def forget(self, index: int, what: str) -> None:
        """Removes a note on a part, `running` or `failed`."""
        self.place.remove(self._note(index, what))

    def _note(self, index: int, what: str) -> str:
        return f"{self.stem(index)}.{what}.json"

    def note(self, index: int, what: str) -> Mapping[str, Any] | None:
        """A note on a part, `running` or `failed`; None where there is none."""
        try:
            found = json.loads(self.place.read(self._note(index, what)) or b"")
        except ValueError:
            return None
        return found if isinstance(found, dict) else None

    def _write_note(self, index: int, what: str, note: Mapping[str, Any]) -> None:
        self.place.replace(self._note(index, what), (json.dumps(note) + "\n").encode())

    def _is_alive(self, note: Mapping[str, Any]) -> bool:
        process = note.get("process")
        return (
            note.get("host") != platform.node()[:64]
            or not isinstance(process, int)
            or is_running(process)
        )
