"""The plan of a work folder, `plan.json`: written once, and equal for whoever continues the
work.
"""

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import cached_property
from os.path import commonprefix, normpath
from pathlib import Path
from typing import Any

import numpy as np

from rankwell import __version__
from rankwell._native import native
from rankwell.documents import parse_json
from rankwell.errors import BadInput, BadUsage, shown
from rankwell.runtime.parts import KINDS, Json, Limits, PartInputs, PartKind
from rankwell.runtime.parts.places import Puts, WorkPlace, place_of, probe
from rankwell.store import refuse_blocked, refuse_irregular, remote, remote_url
from rankwell.threads import in_threads

PLAN = "plan.json"
_FORMAT = 1
_AT_ONCE = 16
_LONG = 40
"""Characters of a text in messages; of longer ones that differ, what is before is left out."""


@dataclass(frozen=True)
class Plan:
    """The work of a folder. inputs: name -> path, bytes, and modified, in nanoseconds. boundaries:
    for the kind alone.
    """

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
    def part_inputs(self) -> PartInputs:
        """The options and boundaries, for the kind's functions."""
        return PartInputs(self.options, self.boundaries)

    def refuse_changed_inputs(self) -> None:
        """Raises BadInput for an input that is not as it was when the plan was written."""
        for planned_state, state in zip(
            self.inputs.values(),
            _states([planned_state["path"] for planned_state in self.inputs.values()]),
            strict=True,
        ):
            if state != planned_state:
                raise BadInput(
                    f"{planned_state['path']} has changed since the plan was written "
                    f"({_changes(planned_state, state)}); {_ANEW}."
                )

    def expect_inputs(self) -> None:
        """Refuses, as `refuse_changed_inputs`, local files that have changed; objects are refused
        where they are read.
        """
        for planned_state in self.inputs.values():
            if "etag" in planned_state:
                remote.expect(planned_state["path"], planned_state["bytes"], planned_state["etag"])
                continue
            state = _file_state(planned_state["path"])
            if state != planned_state:
                raise BadInput(
                    f"{planned_state['path']} has changed since the plan was written "
                    f"({_changes(planned_state, state)}); {_ANEW}."
                )

    def refuse_other_version(self) -> None:
        """Raises BadUsage where the plan is of another version of rankwell."""
        if self.versions.get("rankwell") != __version__:
            raise BadUsage(
                f"the plan is of rankwell {self.versions.get('rankwell')}, this is {__version__}; "
                "install the same version everywhere, or name another work folder."
            )


_ANEW = "restore it, or name another work folder"


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


def input_files(kind: PartKind, options: Mapping[str, Json]) -> dict[str, dict[str, Any]]:
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


def _changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    if before["bytes"] != now["bytes"]:
        return f"{before['bytes']} bytes then, {now['bytes']} now"
    if "etag" in before or "etag" in now:
        return f"ETag {before.get('etag')} then, {now.get('etag')} now"
    then, later = (
        datetime.fromtimestamp(state["modified"] / 1e9, UTC).isoformat(" ", "milliseconds")
        for state in (before, now)
    )
    return f"modified {then} then, {later} now"


def versions() -> dict[str, str]:
    """The versions that a plan records; rankwell's decides whether a part may be computed."""
    return {
        "rankwell": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "reader": native.name(),
    }


def open_plan(
    storage: WorkPlace, kind: PartKind, options: Mapping[str, Json], command: str, limits: Limits
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
    is_new = not is_there and _put_plan(storage, kind, options, command, limits, inputs)
    plan = read_plan(storage)
    return plan if is_new else _same_plan(plan, storage, kind, options, inputs, limits), is_new


def _put_plan(
    storage: WorkPlace,
    kind: PartKind,
    options: Mapping[str, Json],
    command: str,
    limits: Limits,
    inputs: Mapping[str, Mapping[str, Any]],
) -> bool:
    """Writes a plan; false where another command has done so meanwhile."""
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
        versions(),
    )
    if puts == "refused":
        return storage.put_new(PLAN, plan.text.encode())
    if storage.size(PLAN) is not None:
        return False
    storage.replace(PLAN, plan.text.encode())
    return True


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


def _same_plan(
    plan: Plan,
    storage: WorkPlace,
    kind: PartKind,
    options: Mapping[str, Json],
    inputs: Mapping[str, Any],
    limits: Limits,
) -> Plan:
    plan.refuse_other_version()
    differing = _other_work(plan, storage, kind, options, inputs)
    if not differing and limits.shards is not None:
        cut = kind.cut(options, limits._replace(memory=plan.memory))
        differing += (
            []
            if cut.boundaries == plan.boundaries
            else [f"it has {plan.parts} parts, this has {cut.parts}"]
        )
    if differing:
        raise BadUsage(
            f"{storage.name} holds the plan of other work: {'; '.join(differing)}. Name another "
            "work folder."
        )
    return plan


def _other_work(
    plan: Plan,
    storage: WorkPlace,
    kind: PartKind,
    options: Mapping[str, Json],
    inputs: Mapping[str, Any],
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
        path for path, now in input_states.items() if planned_states.get(path, now) != now
    ]:
        return [
            f"{path} has changed ({_changes(planned_states[path], input_states[path])})"
            for path in changed
        ]
    names = sorted({*plan.options, *options} - {*kind.derived})
    if differences := [
        difference
        for name in names
        for difference in _differences(name, plan.options.get(name), options.get(name))
    ]:
        return differences
    work_address = storage.address()
    added_inputs = [
        f"{path} was not an input"
        for path in input_states
        if path not in planned_states and not path.startswith(work_address)
    ]
    removed_inputs = [
        f"{path} is not an input any more"
        for path in planned_states
        if path not in input_states and not path.startswith(work_address)
    ]
    if added_inputs or removed_inputs:
        return added_inputs + removed_inputs
    derived = [
        kind.derived[name] for name in kind.derived if plan.options.get(name) != options.get(name)
    ]
    return list(dict.fromkeys(derived)) or [
        f"{path} was not an input" for path in input_states if path not in planned_states
    ]


def _differences(name: str, was: Json, now: Json) -> list[str]:
    """The differences between two values of an option, each with the names of the values around
    it.
    """
    if was == now:
        return []
    if isinstance(was, dict) and isinstance(now, dict):
        keys = sorted({*was, *now})
        return [
            difference
            for key in keys
            for difference in _differences(f"{name} {key}", was.get(key), now.get(key))
        ]
    if (
        isinstance(was, list)
        and isinstance(now, list)
        and any(isinstance(member, (dict, list)) for member in [*was, *now])
    ):
        if len(was) != len(now):
            return [f"{name} had {len(was)} entries, has {len(now)}"]
        return [
            difference
            for pair in zip(was, now, strict=True)
            for difference in _differences(name, *pair)
        ]
    if isinstance(was, str) and isinstance(now, str) and max(len(was), len(now)) > _LONG:
        # The beginning of long paths is often the same.
        start = max(0, len(commonprefix([was, now])) - _LONG // 2)  # noqa: RUF071 - of characters
        was, now = (f"…{text[start:]}" if start else text for text in (was, now))
    return [f"{name} was {shown(was, 2 * _LONG)}, is {shown(now, 2 * _LONG)}"]
