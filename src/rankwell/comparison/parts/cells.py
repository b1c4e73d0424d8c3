"""Cells of an experiment file as parts: a part is an archive of one cell's result folder, or of the
error that it failed by.
"""

import json
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir
from functools import partial
from io import BytesIO
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from rankwell.comparison.bench import (
    CommandCells,
    CommandWork,
    PlannedCell,
    cell_recipe,
    changes,
    command_of,
    evaluate_cell,
    key_of,
    write_record,
)
from rankwell.comparison.bench.files import read_experiment
from rankwell.data.options import PartOptions, PartOutcome, overwriting
from rankwell.data.tables import without_none
from rankwell.errors import BadInput, BadUsage
from rankwell.io.result_folder import MANIFEST
from rankwell.reporting.drafts import drafting, publish, remove_result
from rankwell.reporting.options import Progress
from rankwell.runtime.parts import (
    KINDS,
    Amounts,
    Cut,
    Limits,
    PartContent,
    PartInputs,
    PartKind,
    PlanOptions,
    WorkPlace,
)
from rankwell.runtime.parts.execution import run_in_parts, work_folder
from rankwell.runtime.parts.plans import PLAN, PartVanished, WorkFolder, file_of_part, read_plan

_ERROR = "error"
"""The one member of the archive of a cell that failed; no result has a file of this name."""


def evaluate_in_parts(
    file: str | Path,
    plans: Sequence[PlannedCell],
    choices: PlanOptions,
    parts: PartOptions,
    progress: Progress,
    use: Callable[[CommandCells], Any],
) -> PartOutcome:
    """Evaluates the cells that are to be evaluated as parts; the outcome has what `use` returns for
    the kind that places them.

    choices: of the plans, as JSON. Raises BadUsage for a work folder with cells of other recipes,
    or without one of these cells.
    """
    bench = file_of_part(file)
    if "://" in bench:
        raise BadUsage(
            f"{bench}: a bench and its inputs are files that all machines see; copy them there."
        )
    names = {cell_plan.cell.name for cell_plan in plans if cell_plan.why and cell_plan.is_selected}
    if parts.work is not None:
        with work_folder(parts) as storage:
            names = names if storage.size(PLAN) is None else _planned(storage, bench, plans, names)
    cells = [
        [cell_plan.cell.name, cell_plan.recipe]
        for cell_plan in plans
        if cell_plan.cell.name in names
    ]
    return run_in_parts(
        "cells", {"file": bench, "cells": cells, **choices}, parts, "rankwell bench", progress, use
    )


def _planned(
    storage: WorkPlace, file: str, plans: Sequence[PlannedCell], waiting: set[str]
) -> set[str]:
    """The cells of a folder's plan, some of which may be in place since then; those given where it
    is the plan of other work.
    """
    plan, folder = read_plan(storage), storage.name
    if plan.kind != "cells" or plan.options.get("file") != file:
        return waiting
    planned = dict(plan.options["cells"])
    recipes = {cell_plan.cell.name: cell_plan.recipe for cell_plan in plans}
    for name, planned_recipe in planned.items():
        if name not in recipes:
            raise BadUsage(
                f"{folder} has a part for {name}, which is no longer in {file}; name another "
                "work folder."
            )
        if key_of(recipes[name]) != key_of(planned_recipe):
            raise BadUsage(
                f"{folder} holds the plan of other work: {name}: "
                f"{_changes(planned_recipe, recipes[name])}; name another work folder."
            )
    for name in sorted(waiting):
        if name not in planned:
            raise BadUsage(
                f"{folder} has no part for {name}, which is to be evaluated now; name another "
                "work folder."
            )
    return set(planned)


def _changes(before: Any, after: Any) -> str:
    return "; ".join(changes(before, after)) or "it is written in another way"


def _files(options: PlanOptions) -> dict[str, Path]:
    """The bench and the files that its cells read; a folder is known by its digest, which is in the
    recipe of its cell.
    """
    file = Path(options["file"])
    inputs = {
        name: file.parent / name for _, recipe in options["cells"] for name in recipe["inputs"]
    }
    return {file.name: file} | {name: path for name, path in inputs.items() if not path.is_dir()}


def _cut(options: PlanOptions, _: Limits) -> Cut:
    """One part for each cell."""
    names = [name for name, _ in options["cells"]]
    return Cut(len(names), names, {"parts": len(names)})


def _part(inputs: PartInputs, index: int) -> PartContent:
    """The result of a cell, evaluated into a folder of its own. Raises BadInput where its recipe is
    not that of the plan.
    """
    file, (name, planned_recipe) = Path(inputs.options["file"]), inputs.options["cells"][index]
    with chdir(file.parent):
        cell = next((cell for cell in read_experiment(file).cells if cell.name == name), None)
        if cell is None:
            raise BadInput(
                f"{file} no longer has the cell {name}; restore it, or name another work folder."
            )
        command = command_of(cell)
        recipe, arguments = cell_recipe(cell, command)
        if key_of(recipe) != key_of(planned_recipe):
            raise BadInput(
                f"{name}: {_changes(planned_recipe, recipe)} since the plan was written; restore "
                "it, or name another work folder."
            )
        with TemporaryDirectory(prefix="rankwell-cell-") as scratch:
            folder = Path(scratch) / "result"
            error = evaluate_cell(CommandWork(command, arguments), folder, None)
            members = {_ERROR: error.encode()} if error else _members(folder)
    device = str(planned_recipe["options"].get("device", "cpu"))
    return PartContent(
        ".tar", partial(_write, members), {f"cell {index}": key_of(planned_recipe)[:32]}, device
    )


def _members(folder: Path) -> dict[str, bytes]:
    """The files of a result by their names, in order."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _write(members: Mapping[str, bytes], stream: BinaryIO) -> None:
    """An archive without times and owners, so that the same result has the same bytes."""
    with tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, BytesIO(content))


def _read(file: Path) -> dict[str, bytes]:
    """The members of an archive. Raises BadInput for one that is not a cell's."""
    members = dict[str, bytes]()
    try:
        with tarfile.open(file, mode="r:") as archive:
            for entry in archive:
                content = archive.extractfile(entry) if entry.isreg() else None
                if content is None:
                    raise ValueError(entry.name)
                members[entry.name] = content.read()
        if _ERROR not in members:
            file_names = json.loads(members[MANIFEST])["files"]
            paths = [PurePosixPath(name) for name in file_names]
            if {*file_names, MANIFEST} != set(members) or any(
                path.is_absolute() or ".." in path.parts for path in paths
            ):
                raise ValueError(MANIFEST)
    except (tarfile.TarError, ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"{file} is not the result of a cell ({error}); remove it and its record, and run "
            "it again."
        ) from error
    return members


class PlacedCells(CommandCells):
    """Cells whose results are in files of parts: evaluating one puts its result into its folder.

    The parts of cells that failed are forgotten at the end, so that the same command tries them
    again.
    """

    def __init__(
        self, files: Mapping[str, Path], errors: Mapping[str, str], storage: WorkPlace
    ) -> None:
        self._files = files
        self._errors = errors
        self._place = storage
        self._failed = list[int]()

    def evaluate(self, cells: Sequence[PlannedCell], _: Progress, /) -> Iterator[str]:
        """Places the results of cells; yields the error of each, "" where there is none."""
        for cell_plan in cells:
            name = cell_plan.cell.name
            members = {} if name in self._errors else _read(self._files[name])
            cell_plan.record.unlink(missing_ok=True)
            if name in self._errors:
                self._failed.append([*self._files].index(name))
                remove_result(cell_plan.folder)
                yield self._errors[name]
                continue
            _restore(members, cell_plan.folder)
            write_record(cell_plan)
            yield ""

    def forget_failed(self) -> None:
        """Removes the parts of cells that failed."""
        work = WorkFolder(self._place)
        for index in self._failed:
            work.discard(index)


def _restore(members: Mapping[str, bytes], folder: Path) -> None:
    """Puts a result into the folder of its cell, in place of an earlier one."""
    manifest = json.loads(members[MANIFEST])
    with overwriting(True), drafting(folder) as draft:
        paths = [draft / name for name in manifest.pop("files")]
        for path in paths:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(members[path.relative_to(draft).as_posix()])
        publish(folder, manifest, paths)


def _merge(inputs: PartInputs, files: Sequence[Path], storage: WorkPlace) -> PlacedCells:
    # Cells are placed from the folder of the experiment file.
    absolute = dict(zip(inputs.boundaries, [file.absolute() for file in files], strict=True))
    # Another command on this folder removes cells that failed as soon as it has shown their errors.
    errors = {name: _error_in(file) for name, file in absolute.items()}
    return PlacedCells(absolute, without_none(errors), storage)


def _error_in(file: Path) -> str | None:
    """The error in the archive of a cell that failed."""
    try:
        with tarfile.open(file, mode="r:") as archive:
            first = archive.next()
        if first is None or first.name != _ERROR:
            return None
        return _read(file)[_ERROR].decode()
    except FileNotFoundError as error:
        raise PartVanished(f"{file} has vanished; run the command again.") from error
    except tarfile.TarError:
        return None  # said when it is placed


def _amounts(inputs: PartInputs) -> Amounts:
    """Bytes of the files and folders that each cell reads: cells of larger inputs take longer."""
    folder = Path(inputs.options["file"]).parent
    sizes = {
        name: _size(folder / name)
        for _, recipe in inputs.options["cells"]
        for name in recipe["inputs"]
    }
    return Amounts(
        "bytes of inputs",
        [sum(sizes[name] for name in recipe["inputs"]) for _, recipe in inputs.options["cells"]],
    )


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


KINDS.add(
    "cells",
    PartKind("cells", _files, _cut, _part, _merge, amounts=_amounts, is_sized=False, code="file"),
)
