"""The plan of an experiment: every cell with its recipe and the reasons to evaluate it again; and its evaluation."""

import difflib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from rankwell.core.registry import suggest
from rankwell.errors import BadInput, RankwellError, UnknownName
from rankwell.experiments.files import Cell, Experiment, OptionValue
from rankwell.experiments.runner import run
from rankwell.experiments.runner.commands import Command, command_of, input_mark, load_command, reject_unknown
from rankwell.experiments.runner.recipes import Recipe, changes, content_of, read_record, recipe
from rankwell.experiments.toml_tables import check_folder_name
from rankwell.io.matrices import IDS_BESIDE
from rankwell.report.folder import digest_of, remove_stale
from rankwell.report.present import Progress
from rankwell.store import STDIN, split_part, write_text

_RECORD = "cell.json"
_RESULTS = ("summary.json", "per_query.parquet")
"""The files of a result that tables and comparisons are made of."""


@dataclass(frozen=True)
class PlannedCell:
    """A cell with the command that evaluates it. folder: of its results. why: the reasons to evaluate it, none where it is done.

    chosen: whether it may be evaluated now; others are left as they are.
    """

    cell: Cell
    command: Command
    arguments: tuple[str, ...]
    folder: Path
    recipe: Recipe
    why: tuple[str, ...]
    chosen: bool


class CellResult(NamedTuple):
    """The outcome of a cell: evaluated now (`done`), before (`kept`), neither (`to do`), or `failed`, and then by which error."""

    plan: PlannedCell
    status: Literal["done", "kept", "to do", "failed"]
    error: str = ""

    @property
    def has_results(self) -> bool:
        """Whether its folder holds results of its recipe."""
        return self.status in ("done", "kept")


class _Job(NamedTuple):
    """A cell as it is sent to a process."""

    stem: str
    arguments: tuple[str, ...]
    folder: Path
    recipe: Recipe


def plan_cells(
    experiment: Experiment, folder: Path, *, only: Sequence[str] = (), force: bool = False, progress: Progress = None
) -> list[PlannedCell]:
    """Every cell, in the file's order. The working directory is the file's own. folder: of all results, absolute.

    only: patterns of `DATASET/SYSTEM`, one of which a cell must fit to be evaluated. force: evaluate all of these.
    Raises BadInput for what a command does not understand and for missing files, UnknownName for a pattern without cells.
    """
    cells = experiment.cells
    unused = next((each for each in only if not any(fnmatchcase(cell.name, each) for cell in cells)), None)
    if unused is not None:
        raise UnknownName(f"--only {unused!r} fits no cell DATASET/SYSTEM; {suggest(unused, [cell.name for cell in cells])}")
    pairs = [(cell, command_of(cell)) for cell in cells]
    reject_unknown(pairs)
    digest = cache(content_of)
    plans: list[PlannedCell] = []
    for place, (cell, command) in enumerate(pairs):
        if progress is not None:
            progress("looking for changes", place, len(pairs))
        if cell.call:
            raise BadInput(f"{cell.where}: `call` runs a system, which `rankwell bench` does not; name the files of its results.")
        check_folder_name(cell.system, f"{cell.where}: the name with its parameters")
        options = {name: each for name, each in cell.options.items() if name in command.options}
        arguments = tuple(command.arguments(options))
        paths = [path for name, each in options.items() for path in _inputs(cell, name, each, command)]
        inputs = {str(path): digest(path) for path in sorted(set(paths))}
        made = recipe(command.words, {name: each.value for name, each in sorted(options.items())}, inputs)
        chosen = not only or any(fnmatchcase(cell.name, each) for each in only)
        own = folder / cell.dataset / cell.system
        why = ("requested",) if force and chosen else tuple(_changes(made, own))
        if why:
            command.read(arguments, f"{experiment.file}: {cell.name}")
        plans.append(PlannedCell(cell, command, arguments, own, made, why, chosen))
    if progress is not None:
        progress("looking for changes", len(pairs), len(pairs))
    _reject_twins(plans, experiment)
    return plans


def evaluate_cells(plans: Sequence[PlannedCell], *, jobs: int = 1, progress: Progress = None) -> Iterator[CellResult]:
    """The outcome of every cell. The working directory is the file's own.

    An evaluated cell leaves its record behind its results: a killed run has evaluated the cells that have one. What an earlier
    run left in the folder of a cell that fails is removed, for it is the result of something else.
    """
    waiting = [each for each in plans if each.why and each.chosen]
    groups = [[_Job(each.command.stem, each.arguments, each.folder, each.recipe)] for each in waiting]
    errors = run(_evaluated, groups, jobs=jobs, progress=progress)
    for each in plans:
        if each.why and each.chosen:
            error = next(errors)
            yield CellResult(each, "failed" if error else "done", error)
        else:
            yield CellResult(each, "to do" if each.why else "kept")


def results_of(folder: Path) -> dict[str, str]:
    """The digests of the files that tables are made of, as far as they exist."""
    return {name: digest_of(folder / name) for name in _RESULTS if (folder / name).is_file()}


def _evaluated(jobs: Sequence[_Job], progress: Progress) -> Iterator[str]:
    """Evaluates cells; yields what went wrong with each, "" where nothing did."""
    for job in jobs:
        error = _evaluate(job, progress)
        if error:
            remove_stale(job.folder, {})
            (job.folder / "manifest.json").unlink(missing_ok=True)
        yield error


def _evaluate(job: _Job, progress: Progress) -> str:
    (job.folder / _RECORD).unlink(missing_ok=True)
    command = load_command(job.stem)
    assert command is not None  # noqa: S101
    try:
        command.read(job.arguments, "")(job.folder, progress)
    except RankwellError as error:
        return str(error)
    except OSError as error:
        return f"{error.filename or 'its files'}: {error.strerror or error}"
    except Exception as error:
        # One cell of many: the results of the others are useful, and this one can be evaluated alone.
        return f"internal error, {type(error).__name__}: {error}; `{command.line(job.arguments)}` shows more"
    record: dict[str, Any] = {"schema_version": 1, "made_of": job.recipe, "results": results_of(job.folder)}
    write_text(job.folder / _RECORD, json.dumps(record, indent=2, ensure_ascii=False) + "\n")
    return ""


def _reject_twins(plans: Sequence[PlannedCell], experiment: Experiment) -> None:
    """Raises BadInput where nothing distinguishes two systems on a data set: a `{system}` was forgotten."""
    seen: dict[str, PlannedCell] = {}
    for each in plans:
        key = json.dumps([each.cell.dataset, each.recipe["command"], each.recipe["options"]])
        if key in seen:
            first, second, dataset = seen[key].cell.system, each.cell.system, each.cell.dataset
            raise BadInput(
                f"{experiment.file}: {first!r} and {second!r} have the same files and options on {dataset!r}; put {{system}} "
                f"into a path, or their differences into [system.on.{dataset}]."
            )
        seen[key] = each


def _inputs(cell: Cell, name: str, option: OptionValue, command: Command) -> Iterator[Path]:
    """The files and folders that an option names, and the files of ids beside them. Raises BadInput where there is none."""
    marked = input_mark(command.options[name])
    if marked is None:
        return
    for text in option.value if isinstance(option.value, list) else [option.value]:
        if text in STDIN:
            raise BadInput(f"{option.where} is standard input, which cannot be read again; save it to a file and name that.")
        found = _located(str(text))
        if not found and not marked.perhaps:
            raise BadInput(f"{option.where} of {cell.name}: there is no {str(text)!r}; {_near(str(text))}")
        for path in found:
            yield path
            yield from (beside for suffix in IDS_BESIDE if path.suffix and (beside := path.with_suffix(suffix)).is_file())


def _located(text: str) -> list[Path]:
    """The places in an option's text: PLACE, NAME=PLACE, PLACE:PART or WORD:PLACE,PLACE; those that exist."""
    if text and Path(text).exists():
        return [Path(text)]
    _, equals, place = text.partition("=")
    if equals and (found := _located(place)):
        return found
    head, part = split_part(text)
    if part:
        return [Path(head)]
    _, colon, places = text.partition(":")
    return [path for each in places.split(",") for path in _located(each)] if colon else []


def _near(text: str) -> str:
    folder = Path(text).parent
    names = [str(each) for each in sorted(folder.iterdir())] if folder.is_dir() else []
    near = difflib.get_close_matches(text, names, n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else "make it first, or correct the path."


def _changes(made: Recipe, folder: Path) -> list[str]:
    """Why the content of a folder is not the result of this recipe."""
    try:
        known = read_record(folder / _RECORD)
        found = list(changes(known["made_of"], made))
        return found if known["results"] == results_of(folder) else [*found, "its results are not what was written"]
    except (KeyError, TypeError, AttributeError):
        return ["new"]
