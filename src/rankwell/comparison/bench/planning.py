"""Cells that commands evaluate: the command and arguments of each, the plan of an experiment, and
its evaluation.
"""

import difflib
import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from rankwell import startup
from rankwell.comparison.bench import PlannedCell, content_of, reasons, recipe, results_of
from rankwell.comparison.bench.files import (
    Cell,
    Experiment,
    OptionValue,
    check_folder_name,
    toml_key,
)
from rankwell.data.catalogue import command_function, command_summaries
from rankwell.data.code import code_files
from rankwell.data.options import Argument, arguments_of, bind, overwriting
from rankwell.data.registry import suggest
from rankwell.data.secrets import refuse_literal
from rankwell.errors import BadInput, BadUsage, CodeRefused, RankwellError, UnknownName, flag
from rankwell.io.matrices import IDS_BESIDE
from rankwell.reporting.drafts import remove_result
from rankwell.reporting.options import Input, Progress
from rankwell.store import STDIN, is_draft, split_part, write_text

Call = tuple[Sequence[Any], Mapping[str, Any], Path]
"""The arguments of a command, those without a name first, and the folder of its results."""

_RUNNER_OPTIONS = (
    "output",
    "overwrite",
    "format",
    "per_query",
    "executor",
    "work",
    "memory",
    "shards",
    "gpus",
    "part_timeout",
    "dry_run",
)
"""Options that the runner sets itself."""


@dataclass(frozen=True)
class Command:
    """A command by its words, with its options by the keys of an experiment file."""

    words: str
    function: Callable[..., Any]
    options: Mapping[str, Argument]

    @property
    def together(self) -> Callable[[Sequence[Call], Progress], Iterator[str]] | None:
        """Evaluates all cells of a data set at once; None for a command that evaluates one."""
        return getattr(self.function, "together", None)

    def arguments(self, options: Mapping[str, OptionValue]) -> list[str]:
        """The command line of these options, without the command's words. Raises BadInput for a
        value of another type.
        """
        said = {
            key: _texts(option, options[key])
            for key, option in self.options.items()
            if key in options
        }
        positional_keys = [key for key, option in self.options.items() if not option.flags]
        for before, key in pairwise(positional_keys):
            if key in options and before not in options:
                raise BadInput(
                    f"{options[key].where}: requires `{before}`, which is missing; give it as well."
                )
        bare = [text for key in positional_keys for text in said.get(key, [])]
        return [
            text for key, texts in said.items() if key not in positional_keys for text in texts
        ] + (["--", *bare] if bare else [])


def _texts(option: Argument, option_value: OptionValue) -> list[str]:
    """An option with its value as words of a command line. Raises BadInput for a value of another
    type.
    """
    value, where = option_value.value, option_value.where
    option_flag = next(
        (flag for flag in option.flags if flag.startswith("--")), next(iter(option.flags), "")
    )
    if option.kind is bool:
        if not isinstance(value, bool):
            raise BadInput(f"{where} is {value!r}; expected true or false.")
        negative = [option.negative_flag] if option.form == "pair" else []
        return [option_flag] if value else negative

    def _fits(part: Any, kind: Any) -> bool:
        wanted = {int: int, float: (int, float)}.get(kind, (str, int, float))
        return isinstance(part, wanted) and not isinstance(part, bool)

    parts: list[Any] = value if isinstance(value, list) else [value]
    if isinstance(value, list) and option.form == "one":
        # Cut-offs are a list to whoever writes them, columns a table, and both one text to the
        # command.
        is_table = all(isinstance(part, str) and "=" in part for part in parts)
        if option.kind is not str or not (is_table or all(_fits(part, int) for part in parts)):
            raise BadInput(f"{where} is {value!r}; expected one value.")
        parts = [",".join(map(str, parts))]
    wrong = next((part for part in parts if not _fits(part, option.kind)), None)
    if wrong is not None:
        words: dict[Any, str] = {int: "an integer", float: "a number"}
        expected = words.get(option.kind, "a string")
        raise BadInput(f"{where} is {wrong!r}; expected {expected}.")
    return [f"{option_flag}={part}" if option.flags else str(part) for part in parts]


def command_of(cell: Cell) -> Command:
    """The command that a cell names. Raises BadInput for an unknown one, or one without files to
    evaluate.
    """
    text = str(cell.command.value)
    stems = ["_".join(words) for words in command_summaries() if words != ("bench",)]
    name = "_".join(text.replace("-", "_").split())
    # A first word alone is that with `evaluate`.
    stem = next((candidate for candidate in (name, f"{name}_evaluate") if candidate in stems), None)
    command = None if stem is None else load_command(stem)
    if command is None:
        command_words = [
            command.words for command in map(load_command, stems) if command is not None
        ]
        raise BadInput(
            f"{cell.command.where}: unknown command {text!r}; {suggest(text, command_words)}"
        )
    return command


@cache
def load_command(stem: str) -> Command | None:
    """The command of a file; None where it writes no results of its own, or names no files that it
    goes by.
    """
    first, _, last = stem.partition("_")
    function = command_function((first, last) if last else (first,))
    arguments = arguments_of(function)
    if "output" not in {argument.name for argument in arguments} or not any(
        map(input_mark, arguments)
    ):
        return None
    options: dict[str, Argument] = {}
    for argument in arguments:
        # In an experiment file an option has its long names, or that of its parameter.
        long = [flag[2:].replace("-", "_") for flag in argument.flags if flag.startswith("--")]
        options |= (
            {}
            if argument.name in _RUNNER_OPTIONS
            else dict.fromkeys(long or [argument.name], argument)
        )
    return Command(" ".join(filter(None, (first, last))).replace("_", "-"), function, options)


def input_mark(option: Argument) -> Input | None:
    """The mark of an option that names files, None of others."""
    return next((mark for mark in option.marks if isinstance(mark, Input)), None)


def reject_unknown(cells: Sequence[tuple[Cell, Command]]) -> None:
    """Raises BadInput for an option that its command does not have; options of all need one command
    that has them.
    """
    options_by_source: dict[str, set[str]] = {}
    for cell, command in cells:
        for name, option in cell.options.items():
            if option.scope in ("options", "system"):
                options_by_source.setdefault(option.where, set()).update(command.options)
            elif name not in command.options:
                raise BadInput(_unknown(name, option, command.words, command.options))
    for cell, command in cells:
        for name, option in cell.options.items():
            known_options = options_by_source.get(option.where)
            if known_options is not None and name not in known_options:
                raise BadInput(_unknown(name, option, command.words, known_options))


def _unknown(name: str, option: OptionValue, words: str, options: Iterable[str]) -> str:
    if name in _RUNNER_OPTIONS:
        return (
            f"{option.where}: `rankwell bench` decides how results are written and where cells are "
            "evaluated; leave it out."
        )
    return f"{option.where}: `rankwell {words}` has no such option; {suggest(name, options)}"


_RECORD = "cell.json"


class CommandWork(NamedTuple):
    """The command that evaluates a cell, with its arguments."""

    command: Command
    arguments: tuple[str, ...]

    @property
    def line(self) -> str:
        """The line that a user would type."""
        return f"rankwell {self.command.words} {shlex.join(self.arguments)}"


def plan_cells(
    experiment: Experiment,
    folder: Path,
    *,
    only: Sequence[str] = (),
    force: bool = False,
    progress: Progress = None,
) -> list[PlannedCell]:
    """Every cell, in the file's order. The working directory is the file's own. folder: of all
    results, absolute.

    only: patterns of `DATASET/SYSTEM`, one of which a cell must fit to be evaluated. force:
    evaluate all of these.
    Raises BadInput for what a command does not understand and for missing files, UnknownName for a
    pattern without cells.
    """
    names = [cell.name for cell in experiment.cells]
    for pattern in only:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise UnknownName(
                f"{flag('--only')} {pattern!r} fits no cell DATASET/SYSTEM; "
                f"{suggest(pattern, names)}"
            )
    pairs = [(cell, command_of(cell)) for cell in experiment.cells]
    reject_unknown(pairs)
    digest = cache(content_of)
    first_cells = dict[str, Cell]()
    plans = list[PlannedCell]()
    for n_done, (cell, command) in enumerate(pairs):
        if progress is not None:
            progress("looking for changes", n_done, len(pairs))
        if cell.call:
            raise BadInput(
                f"{cell.where}: `call` runs a system, which `rankwell bench` does not; name "
                "the files of its results."
            )
        check_folder_name(cell.system, f"{cell.where}: the name with its parameters")
        new_recipe, arguments = cell_recipe(cell, command, digest)
        key = json.dumps([cell.dataset, new_recipe["command"], new_recipe["options"]])
        first = first_cells.setdefault(key, cell)
        if first is not cell:
            # Nothing distinguishes two systems: a `{system}` was forgotten.
            raise BadInput(
                f"{experiment.file}: {first.system!r} and {cell.system!r} have the same files and "
                f"options on {cell.dataset!r}; put {{system}} into a path, or their differences "
                f"into [system.on.{toml_key(cell.dataset)}]."
            )
        is_selected = not only or any(fnmatchcase(cell.name, pattern) for pattern in only)
        record = folder / cell.dataset / cell.system / _RECORD
        why = ("requested",) if force and is_selected else reasons(new_recipe, record)
        if why:
            try:
                bind(command.function, arguments)
            except BadUsage as error:
                raise BadInput(f"{experiment.file}: {cell.name}: {error}") from error
        group = cell.name if command.together is None else cell.dataset
        work = CommandWork(command, arguments)
        inputs = tuple(map(Path, new_recipe["inputs"]))
        plans.append(PlannedCell(cell, new_recipe, record, work, group, why, is_selected, inputs))
    if progress is not None:
        progress("looking for changes", len(pairs), len(pairs))
    return plans


def cell_recipe(
    cell: Cell, command: Command, digest: Callable[[Path], str] = content_of
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The recipe of a cell, and the arguments of its command. The working directory is that of the
    experiment file.

    Raises BadInput for an option of another type, and for an input that is not there.
    """
    options = {name: option for name, option in cell.options.items() if name in command.options}
    for option in options.values():
        _refuse_secrets(option)
    code = [
        path
        for option in options.values()
        for text in _as_list(option.value)
        for path in code_files(str(text))
    ]
    arguments = tuple(command.arguments(options))
    paths = [
        path for name, option in options.items() for path in _inputs(cell, name, option, command)
    ]
    inputs = {str(path): digest(path) for path in sorted({*paths, *code})}
    return recipe(
        command.words, {name: option.value for name, option in sorted(options.items())}, inputs
    ), arguments


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _refuse_secrets(option: OptionValue) -> None:
    """Raises BadInput for a password that is written out: recipes and tables would hold it."""
    for value in _as_list(option.value):
        name, equals, text = str(value).partition("=")
        try:
            refuse_literal("", str(value))
            if equals and name.isidentifier():
                refuse_literal(name, text)
        except BadUsage as error:
            raise BadInput(f"{option.where}: {error}") from error


class CommandCells:
    """Cells that commands evaluate, each into its own folder.

    Files of an earlier run in the folder of a cell that fails are removed: they are results of
    something else.
    """

    def evaluate(self, cells: Sequence[PlannedCell], progress: Progress, /) -> Iterator[str]:
        """Evaluates the cells; yields the error of each, "" where there is none. The record of a
        cell is written as soon as its results are.
        """
        for plan, error in zip(cells, _evaluate(cells, progress), strict=True):
            if error:
                remove_result(plan.folder)
            else:
                write_record(plan)
            yield error


def _evaluate(cells: Sequence[PlannedCell], progress: Progress) -> Iterator[str]:
    """Evaluates cells, at once where their command can; the error of each."""
    together = cells[0].work.command.together if cells else None
    if together is None:
        for plan in cells:
            plan.record.unlink(missing_ok=True)
            yield evaluate_cell(plan.work, plan.folder, progress)
        return
    calls: list[Call] = []
    for plan in cells:
        plan.record.unlink(missing_ok=True)
        plan.folder.mkdir(parents=True, exist_ok=True)
        calls.append((*bind(plan.work.command.function, plan.work.arguments), plan.folder))
    with overwriting(True):
        yield from together(calls, progress)


def evaluate_cell(work: CommandWork, folder: Path, progress: Progress) -> str:
    """Evaluates a cell into a folder; its error, "" where there is none. Raises CodeRefused."""
    function = work.command.function
    try:
        positionals, keywords = bind(function, work.arguments)
        options: dict[str, Any] = {**keywords, "output": folder}
        if "progress" in function.__annotations__:
            options["progress"] = progress
        # Folders of cells are the runner's own: what was changed in them is made again.
        with overwriting(True):
            function(*positionals, **options)
    except CodeRefused:
        raise
    except RankwellError as error:
        return str(error)
    except OSError as error:
        return f"{error.filename or 'its files'}: {error.strerror or error}"
    except Exception as error:
        if startup.is_interruption(error):
            raise KeyboardInterrupt from error
        # One cell of many: the results of the others are useful, and this one can be evaluated
        # alone.
        return f"internal error, {type(error).__name__}: {error}; `{work.line}` shows more"
    return ""


def write_record(planned: PlannedCell) -> None:
    """Writes the record of a cell whose results are in its folder."""
    record: dict[str, Any] = {
        "schema_version": 1,
        "made_of": planned.recipe,
        "results": results_of(planned.folder),
    }
    write_text(planned.record, json.dumps(record, indent=2, ensure_ascii=False) + "\n")


def _inputs(cell: Cell, name: str, option: OptionValue, command: Command) -> Iterator[Path]:
    """The files and folders that an option names, and the files of ids beside them. Raises BadInput
    where there is none.
    """
    marked = input_mark(command.options[name])
    if marked is None:
        return
    for text in _as_list(option.value):
        if text in STDIN:
            raise BadInput(
                f"{option.where} is standard input, which cannot be read again; save it to a "
                "file and name that."
            )
        paths = _located(str(text))
        if not paths and not marked.perhaps:
            folder = Path(str(text)).parent
            names = (
                [str(path) for path in sorted(folder.iterdir()) if not is_draft(path)]
                if folder.is_dir()
                else []
            )
            near = difflib.get_close_matches(str(text), names, n=1, cutoff=0.6)
            advice = f"did you mean {near[0]!r}?" if near else "make it first, or correct the path."
            raise BadInput(f"{option.where} of {cell.name}: there is no {str(text)!r}; {advice}")
        for path in paths:
            yield path
            yield from (
                ids_file
                for suffix in IDS_BESIDE
                if path.suffix and (ids_file := path.with_suffix(suffix)).is_file()
            )


def _located(text: str) -> list[Path]:
    """The places in an option's text: PLACE, NAME=PLACE, PLACE:PART or WORD:PLACE,PLACE; those that
    exist.
    """
    if text and Path(text).exists():
        return [Path(text)]
    _, equals, path_text = text.partition("=")
    if equals and (paths := _located(path_text)):
        return paths
    head, part = split_part(text)
    if part:
        return [Path(head)]
    _, colon, path_list = text.partition(":")
    if colon:
        return [path for path_text in path_list.split(",") for path in _located(path_text)]
    return []
