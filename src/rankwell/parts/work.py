"""The parts of a work folder and their records: which are done, running, failed, damaged or missing."""

import json
import os
import platform
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from rankwell.errors import BadInput, BadUsage
from rankwell.parts import PartContent
from rankwell.parts.places import draft_beside, file_digest, is_running, link_new, put_new, sync_folder, write_draft
from rankwell.parts.plans import Plan

MOST_RECORD = 1024
"""Bytes of a record at most."""
_MOST_MESSAGE = 600
_DIGEST = len("sha256:") + 64


class Measured(NamedTuple):
    """The time of a part: seconds, and seconds of processors."""

    seconds: float
    processor_seconds: float


@dataclass
class PartStates:
    """The parts of a plan by their state. failed: with messages. damaged: with what is wrong; they are missing, too."""

    done: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    running: dict[int, str] = field(default_factory=dict)
    failed: dict[int, str] = field(default_factory=dict)
    damaged: dict[int, str] = field(default_factory=dict)
    missing: list[int] = field(default_factory=list)


class WorkFolder:
    """A folder with a plan. Parts are `part-00017.npy`, or of the suffix that their kind has, records `part-00017.json`."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder, self.plan = folder, plan
        self._verified: set[Path] = set()

    def stem(self, index: int) -> str:
        """The beginning of the names of a part's files."""
        return f"part-{index:05d}"

    def refuse_outside(self, index: int) -> None:
        """Raises BadUsage for an index that is not one of the plan."""
        if not 0 <= index < self.plan.parts:
            raise BadUsage(f"part {index} is outside the plan of {self.folder}; its parts are 0 to {self.plan.parts - 1}.")

    def record(self, index: int) -> tuple[Mapping[str, Any], Path] | str | None:
        """The record of a whole part with its file; text for what is wrong with a damaged one; None where there is none.

        Raises BadInput for a part of another plan or of another number, and for two digests of one part.
        """
        stem = self.stem(index)
        plain = [self.folder / f"{stem}.json"]
        files = plain if self.plan.puts == "refused" else sorted(self.folder.glob(f"{stem}.*.json"))
        records = [each for each in files if not each.name.endswith((".failed.json", ".running.json")) and each.exists()]
        found = [self._checked(index, each) for each in records]
        wrong = next((each for each in found if isinstance(each, str)), None)
        if wrong is not None or not found:
            return wrong
        whole = [each for each in found if not isinstance(each, str)]
        if len({record["digest"] for record, _ in whole}) > 1:
            names = " and ".join(path.name for _, path in whole)
            raise BadInput(f"{self.folder}: {names} are one part with two digests; remove the wrong one, or the folder.")
        return whole[0]

    def _checked(self, index: int, path: Path) -> tuple[Mapping[str, Any], Path] | str:
        try:
            record = json.loads(path.read_bytes())
            owner, number, name = str(record["plan"]), int(record["part"]), str(record["file"])
            size, digest = int(record["bytes"]), str(record["digest"])
            if not (name.startswith(f"part-{number:05d}.") and name == Path(name).name and len(digest) == _DIGEST):
                raise ValueError
        except (ValueError, TypeError, KeyError):
            return f"{path.name} is damaged"
        if owner != self.plan.digest or number != index:
            whose = f"part {number} of another plan" if owner != self.plan.digest else f"the record of part {number}"
            raise BadInput(f"{path} is {whose}; remove it and {name}, or name another work folder.")
        file = self.folder / name
        if not file.is_file():
            return f"{name} is missing"
        if file.stat().st_size != size:
            return f"{name} has {file.stat().st_size} bytes, its record says {size}"
        if file not in self._verified and file_digest(file) != digest:
            return f"{name} is not what its record says"
        self._verified.add(file)
        return record, file

    def refuse_foreign(self) -> None:
        """Raises BadInput for parts and records that no part of the plan has."""
        for path in self.folder.glob("part-*"):
            number = path.name.removeprefix("part-").partition(".")[0]
            if not number.isdecimal() or int(number) >= self.plan.parts or self.stem(int(number)) != f"part-{number}":
                last = self.stem(self.plan.parts - 1)
                raise BadInput(f"{path} is not a part of this plan, which ends with {last}; remove it.")

    def states(self) -> PartStates:
        """The state of every part. Raises as `record` and `refuse_foreign` do."""
        self.refuse_foreign()
        states = PartStates()
        for index in range(self.plan.parts):
            found = self.record(index)
            if found is not None and not isinstance(found, str):
                states.done[index] = found[0]
                continue
            states.missing.append(index)
            if found is not None:
                states.damaged[index] = found
            failed = self._note(index, "failed")
            if failed is not None:
                states.failed[index] = str(failed.get("error", ""))
            running = self._note(index, "running")
            if running is not None and self._is_alive(running):
                states.running[index] = f"{running.get('host')}, process {running.get('process')}, since {running.get('since')}"
        return states

    def missing(self) -> list[int]:
        """The parts that are not whole, in order."""
        self.refuse_foreign()
        return [index for index in range(self.plan.parts) if not isinstance(self.record(index), tuple)]

    def files(self) -> list[Path]:
        """The file of every part, in order. Raises BadInput where parts read different bytes of one input, or are not alike."""
        seen: dict[str, tuple[int, str]] = {}
        alike: dict[str, tuple[int, str]] = {}
        files: list[Path] = []
        for index in range(self.plan.parts):
            found = self.record(index)
            if not isinstance(found, tuple):
                raise BadInput(f"{self.folder}: part {index} has vanished; run the command again.")
            for name, digest in found[0].get("inputs", {}).items():
                first, known = seen.setdefault(name, (index, digest))
                if known != digest:
                    what = f"{name}: parts {first} and {index} read different bytes of it"
                    raise BadInput(f"{what}; it changed meanwhile. Name another work folder.")
            for name, value in found[0].get("alike", {}).items():
                first, known = alike.setdefault(name, (index, value))
                if known != value:
                    what = f"part {first} was made with the {name} {known}, part {index} with {value}"
                    raise BadInput(f"{self.folder}: {what}; bytes may differ. Remove one, and compute it as the other.")
            files.append(found[1])
        return files

    def keep(self, index: int, content: PartContent, measured: Measured) -> Mapping[str, Any]:
        """Writes a part and then its record; both are there whole or not at all. A part that another process has kept stays.

        Raises BadInput where that one has another digest.
        """
        stem = self.stem(index)
        with draft_beside(self.folder / stem) as draft:
            digest, size = write_draft(draft, content.write)
            unique = "" if self.plan.puts == "refused" else f".{digest[7:23]}"
            file = self.folder / f"{stem}{unique}{content.suffix}"
            if unique:
                draft.replace(file)
            elif not link_new(draft, file) and file_digest(file) != digest:
                raise BadInput(f"{file} is there with another content; remove it, or name another work folder.")
        record = {
            "part": index,
            "plan": self.plan.digest,
            "file": file.name,
            "digest": digest,
            "bytes": size,
            "seconds": round(measured.seconds, 3),
            "processor_seconds": round(measured.processor_seconds, 3),
            "host": platform.node()[:64],
            "device": content.device[:64],
            "inputs": dict(content.inputs),
            "alike": dict(content.alike),
        }
        text = json.dumps(record, sort_keys=True) + "\n"
        if len(text) > MOST_RECORD:
            raise ValueError(f"a record of {len(text)} bytes; a kind of part names fewer blocks")
        if unique:
            _replace(file.with_suffix(".json"), text)
            sync_folder(self.folder)
        else:
            put_new(self.folder / f"{stem}.json", text.encode())
        self.forget(index, "failed")
        return record

    def discard(self, index: int) -> None:
        """Removes what is left of a part that is not whole, before it is computed again."""
        stem = self.stem(index)
        for path in self.folder.glob(f"{stem}.*"):
            if not path.name.endswith((".failed.json", ".running.json")):
                self._verified.discard(path)
                path.unlink(missing_ok=True)

    def begin(self, index: int) -> None:
        """Notes that this process computes a part."""
        since = time.strftime("%Y-%m-%d %H:%M:%S %z")
        note = {"host": platform.node()[:64], "process": os.getpid(), "since": since}
        _replace(self.folder / f"{self.stem(index)}.running.json", json.dumps(note) + "\n")

    def fail(self, index: int, message: str) -> None:
        """Notes the error of a part."""
        with suppress(OSError):  # the error itself may be that the disk is full
            note = {"error": message[:_MOST_MESSAGE], "host": platform.node()[:64]}
            _replace(self.folder / f"{self.stem(index)}.failed.json", json.dumps(note) + "\n")

    def forget(self, index: int, what: str) -> None:
        """Removes a note on a part, `running` or `failed`."""
        (self.folder / f"{self.stem(index)}.{what}.json").unlink(missing_ok=True)

    def _note(self, index: int, what: str) -> Mapping[str, Any] | None:
        try:
            found = json.loads((self.folder / f"{self.stem(index)}.{what}.json").read_bytes())
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def _is_alive(self, note: Mapping[str, Any]) -> bool:
        process = note.get("process")
        return note.get("host") != platform.node()[:64] or not isinstance(process, int) or is_running(process)


def _replace(path: Path, text: str) -> None:
    """Writes a note or a record in place of an earlier one."""
    with draft_beside(path) as draft:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
