"""The plan of a work folder, `plan.json`: written once, and equal for whoever continues the work."""

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rankwell import __version__
from rankwell.core.kernels import native
from rankwell.documents import parse_json
from rankwell.errors import BadInput, BadUsage, shown
from rankwell.parts import KINDS, Json, Limits, PartInputs, PartKind
from rankwell.parts.places import Puts, probe, put_new
from rankwell.store import refuse_blocked, refuse_irregular, remote_url, write_text

PLAN = "plan.json"
_FORMAT = 1


@dataclass(frozen=True)
class Plan:
    """The work of a folder. inputs: name -> path, bytes, and modified, in nanoseconds. boundaries: for the kind alone."""

    format: int
    kind: str
    command: str
    options: Mapping[str, Json]
    inputs: Mapping[str, Mapping[str, Any]]
    parts: int
    boundaries: Json
    memory: int
    puts: Puts
    versions: Mapping[str, str]

    @property
    def text(self) -> str:
        """The plan as its file holds it."""
        return json.dumps(asdict(self), indent=1, sort_keys=True) + "\n"

    @cached_property
    def digest(self) -> str:
        """The name of the plan in records."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    @property
    def kind_of_part(self) -> PartKind:
        """The kind's functions."""
        return KINDS[self.kind]

    @property
    def part_inputs(self) -> PartInputs:
        """The options and boundaries, for the kind's functions."""
        return PartInputs(self.options, self.boundaries)

    def refuse_changed_inputs(self) -> None:
        """Raises BadInput for an input file that is not as it was when the plan was written."""
        for each in self.inputs.values():
            now = _file_state(Path(each["path"]))
            if now != each:
                raise BadInput(f"{each['path']} has changed since the plan was written ({_changes(each, now)}); {_ANEW}.")

    def refuse_other_version(self) -> None:
        """Raises BadUsage where the plan is of another version of rankwell."""
        if self.versions.get("rankwell") != __version__:
            what = f"the plan is of rankwell {self.versions.get('rankwell')}, this is {__version__}"
            raise BadUsage(f"{what}; install the same version everywhere, or name another work folder.")


_ANEW = "restore it, or name another work folder"


def file_of_part(place: str | Path) -> str:
    """The absolute path of an input, which every machine can read. Raises BadUsage for an object of a remote place."""
    if url := remote_url(place):
        raise BadUsage(f"{url}: parts are computed from files of a folder that all machines see; copy it there.")
    return str(Path(place).absolute())


def input_files(kind: PartKind, options: Mapping[str, Json]) -> dict[str, dict[str, Any]]:
    """The input files of some work, as a plan lists them."""
    return {name: _file_state(path) for name, path in sorted(kind.files(options).items())}


def _file_state(path: Path) -> dict[str, Any]:
    refuse_irregular(path)
    status = path.stat()
    return {"path": str(path), "bytes": status.st_size, "modified": status.st_mtime_ns}


def _changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    if before["bytes"] != now["bytes"]:
        return f"{before['bytes']} bytes then, {now['bytes']} now"
    then, later = (datetime.fromtimestamp(each["modified"] / 1e9, UTC).isoformat(" ", "milliseconds") for each in (before, now))
    return f"modified {then} then, {later} now"


def versions() -> dict[str, str]:
    """The versions that a plan records; rankwell's decides whether a part may be computed."""
    return {"rankwell": __version__, "python": platform.python_version(), "numpy": np.__version__, "reader": native.name()}


def open_plan(folder: Path, kind: PartKind, options: Mapping[str, Json], command: str, limits: Limits) -> tuple[Plan, bool]:
    """The plan of a folder, and whether it is new: it is written where there is none.

    Raises BadUsage that says what differs where the folder has the plan of other work, and for a folder of other files.
    """
    refuse_blocked(folder, folder=True)
    inputs = input_files(kind, options)
    if (folder / PLAN).exists():
        return _same_plan(read_plan(folder), folder, kind, options, inputs, limits), False
    if folder.is_dir() and (others := sorted(each.name for each in folder.iterdir() if not each.name.startswith("."))):
        raise BadUsage(f"{folder} has no plan, but other files ({others[0]!r}); name an empty folder, or a new one.")
    cut = kind.cut(options, limits)
    if kind.check is not None:
        kind.check(options)
    folder.mkdir(parents=True, exist_ok=True)
    puts = probe(folder)
    plan = Plan(_FORMAT, kind.name, command, options, inputs, cut.parts, cut.boundaries, limits.memory, puts, versions())
    if puts == "refused":
        if not put_new(folder / PLAN, plan.text.encode()):
            raise BadUsage(f"{folder} has just got a plan from another process; wait for its end, or name another folder.")
    else:
        write_text(folder / PLAN, plan.text)
    return read_plan(folder), True


def read_plan(folder: Path) -> Plan:
    """The plan of a folder. Raises BadUsage where there is none, BadInput for a damaged one."""
    path = folder / PLAN
    if not path.is_file():
        raise BadUsage(f"{folder} is not a work folder: it has no {PLAN}; write one with --executor array --work {folder}.")
    values = parse_json(path.read_text(encoding="utf-8"), str(path), "a plan")
    try:
        plan = Plan(**values)
        if plan.format != _FORMAT or plan.parts < 1 or plan.kind not in KINDS:
            raise ValueError(f"format {shown(plan.format)}, kind {shown(plan.kind)}, {shown(plan.parts)} parts")
    except (TypeError, ValueError) as error:
        raise BadInput(f"{path} is damaged, or of another version of rankwell ({error}); name another work folder.") from error
    return plan


def _same_plan(
    plan: Plan, folder: Path, kind: PartKind, options: Mapping[str, Json], inputs: Mapping[str, Any], limits: Limits
) -> Plan:
    plan.refuse_other_version()
    differing = [] if plan.kind == kind.name else [f"its work is {plan.kind}, this is {kind.name}"]
    if not differing:
        names = sorted({*plan.options, *options})
        pairs = [(name, plan.options.get(name), options.get(name)) for name in names]
        differing += [f"{name} was {shown(was)}, is {shown(now)}" for name, was, now in pairs if was != now]
    if not differing:
        for name, each in inputs.items():
            was = plan.inputs.get(name)
            if was != each:
                how = "was not an input" if was is None else _changes(was, each)
                differing.append(f"{each['path']} has changed ({how})")
        gone = [each["path"] for name, each in plan.inputs.items() if name not in inputs]
        differing += [f"{path} is not an input any more" for path in gone]
    if not differing and limits.shards is not None:
        cut = kind.cut(options, limits._replace(memory=plan.memory))
        differing += [] if cut.boundaries == plan.boundaries else [f"it has {plan.parts} parts, this has {cut.parts}"]
    if differing:
        raise BadUsage(f"{folder} holds the plan of other work: {'; '.join(differing)}. Name another work folder.")
    return plan
