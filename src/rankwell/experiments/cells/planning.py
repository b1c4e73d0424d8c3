"""What a bench has to do: every cell with the content of what it reads, and why it must be evaluated again."""

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from rankwell import __version__
from rankwell.core.registry import suggest
from rankwell.encoders.sentence_transformers import hash_folder
from rankwell.errors import BadInput, UnknownName
from rankwell.experiments.bench_toml import Bench, Cell, Given
from rankwell.experiments.cells.commands import Command, Work, command_of, input_mark, refuse_unknown
from rankwell.io.embeddings import IDS_BESIDE
from rankwell.report.folder import digest_of
from rankwell.report.present import Progress
from rankwell.store import STDIN, Source, split_part

RECORD = "cell.json"
RESULTS = ("summary.json", "per_query.parquet")
"""The files of a result that tables and comparisons are made of."""


@dataclass(frozen=True)
class Task:
    """A cell with the command that evaluates it. folder: of its results. why: the reasons to evaluate it, none where it is done.

    made_of: what decides its results: the command, its options, the content of its inputs by their names, the version.
    chosen: whether it may be evaluated now; others are left as they are. work: what evaluates it, where there is a reason.
    """

    cell: Cell
    command: Command
    arguments: tuple[str, ...]
    folder: Path
    made_of: Mapping[str, Any]
    why: tuple[str, ...]
    chosen: bool
    work: Work | None


def plan(bench: Bench, folder: Path, *, only: Sequence[str] = (), force: bool = False, progress: Progress = None) -> list[Task]:
    """Every cell of a bench, in its order. The working directory is the bench's own. folder: of all results, absolute.

    only: patterns of `DATASET/SYSTEM`, one of which a cell must fit to be evaluated. force: do so with all of these.
    Raises BadInput for what a command does not understand and for missing files, UnknownName for a pattern without cells.
    """
    names = [cell.name for cell in bench.cells]
    idle = next((each for each in only if not any(fnmatchcase(name, each) for name in names)), None)
    if idle is not None:
        raise UnknownName(f"--only {idle!r} fits no cell DATASET/SYSTEM; {suggest(idle, names)}")
    pairs = [(cell, command_of(cell)) for cell in bench.cells]
    refuse_unknown(pairs)
    digest = cache(_digest)
    tasks: list[Task] = []
    for place, (cell, command) in enumerate(pairs):
        if progress is not None:
            progress("looking for changes", place, len(pairs))
        given = {name: each for name, each in cell.options.items() if name in command.options}
        arguments = command.arguments(given)
        paths = [path for name, each in given.items() for path in _inputs(cell, name, each, command)]
        made_of = {
            "version": __version__,
            "command": command.words,
            "options": {name: each.value for name, each in sorted(given.items())},
            "inputs": {str(path): digest(path) for path in sorted(set(paths))},
        }
        chosen = not only or any(fnmatchcase(cell.name, each) for each in only)
        there = folder / cell.dataset / cell.system
        why = ("asked for",) if force and chosen else tuple(_changes(made_of, there))
        work = command.read(arguments, f"{bench.file}: {cell.name}") if why else None
        tasks.append(Task(cell, command, tuple(arguments), there, made_of, why, chosen, work))
    if progress is not None:
        progress("looking for changes", len(pairs), len(pairs))
    _refuse_twins(tasks, bench)
    return tasks


def _refuse_twins(tasks: Sequence[Task], bench: Bench) -> None:
    """Raises BadInput where two systems are told apart by nothing on a data set: a `{system}` was forgotten."""
    seen: dict[str, Task] = {}
    for task in tasks:
        key = json.dumps([task.cell.dataset, task.made_of["command"], task.made_of["options"]])
        if key in seen:
            first, second, where = seen[key].cell.system, task.cell.system, task.cell.dataset
            raise BadInput(
                f"{bench.file}: {first!r} and {second!r} have the same files and options on {where!r}; put {{system}} into a "
                f"path, or what tells them apart into [system.on.{where}]."
            )
        seen[key] = task


def _inputs(cell: Cell, name: str, given: Given, command: Command) -> Iterator[Path]:
    """The files and folders that an option names, and the files of ids beside them. Raises BadInput where there is none."""
    marked = input_mark(command.options[name])
    if marked is None:
        return
    for text in given.value if isinstance(given.value, list) else [given.value]:
        if text in STDIN:
            raise BadInput(f"{given.where} is standard input, which cannot be read again; save it to a file and name that.")
        found = _located(str(text))
        if not found and not marked.perhaps:
            raise BadInput(f"{given.where} of {cell.name}: there is no {str(text)!r}; {_near(str(text))}")
        for path in found:
            yield path
            yield from (beside for suffix in IDS_BESIDE if path.suffix and (beside := path.with_suffix(suffix)).is_file())


def _located(text: str) -> list[Path]:
    """The places in an option's text: PLACE, NAME=PLACE, PLACE:PART or WORD:PLACE,PLACE; those that are there."""
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
    return f"did you mean {near[0]!r}?" if near else "make it first, or mend the path."


def _digest(path: Path) -> str:
    return hash_folder(path) if path.is_dir() else Source(path).digest()


def _changes(made_of: Mapping[str, Any], folder: Path) -> Iterator[str]:
    """Why what a folder holds is not the result of this."""
    try:
        known: dict[str, Any] = json.loads((folder / RECORD).read_bytes())
        before, results = known["made_of"], known["results"]
        options, inputs = before["options"], before["inputs"]
    except (OSError, ValueError, KeyError, TypeError):
        yield "new"
        return
    if before["version"] != made_of["version"]:
        yield f"version changed: {before['version']} to {made_of['version']}"
    if before["command"] != made_of["command"]:
        yield f"command changed: {before['command']} to {made_of['command']}"
    # 1 and true are equal, but not the same value.
    told = [name for name in {**options, **made_of["options"]} if repr(options.get(name)) != repr(made_of["options"].get(name))]
    if told:
        yield f"options changed: {', '.join(sorted(told))}"
    moved = [name for name in made_of["inputs"] if inputs.get(name, made_of["inputs"][name]) != made_of["inputs"][name]]
    if moved:
        yield f"input changed: {', '.join(moved)}"
    if not told and set(inputs) != set(made_of["inputs"]):
        yield f"inputs came or went: {', '.join(sorted(set(inputs) ^ set(made_of['inputs'])))}"
    if results != results_of(folder):
        yield "its results are not what was written"


def results_of(folder: Path) -> dict[str, str]:
    """The content of what tables are made of, as far as it is there."""
    return {name: digest_of(folder / name) for name in RESULTS if (folder / name).is_file()}
