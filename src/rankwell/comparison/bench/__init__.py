"""The one runner of experiment files: cells with their recipes, evaluated where those changed, by
one process or several; and cells that commands evaluate: the command and arguments of each, the
plan of an experiment, and its evaluation.
"""

import ast
import difflib
import hashlib
import json
import os
import shlex
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from functools import cache, partial
from itertools import chain, groupby, pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

from rankwell import startup
from rankwell.comparison.bench.files import (
    EXPECTED,
    Cell,
    CellKind,
    Experiment,
    OptionValue,
    check_folder_name,
    fits,
    toml_key,
)
from rankwell.data.catalogue import command_function, command_summaries
from rankwell.data.code import code_files
from rankwell.data.findings import Finding
from rankwell.data.options import Argument, arguments_of, bind, overwriting
from rankwell.data.registry import suggest
from rankwell.data.secrets import refuse_literal
from rankwell.documents import read_json
from rankwell.errors import BadInput, BadUsage, CodeRefused, RankwellError, UnknownName, flag
from rankwell.io.result_folder import MANIFEST, digest_of
from rankwell.processes import crew
from rankwell.reporting import TableStyle
from rankwell.reporting.drafts import remove_result
from rankwell.reporting.options import Input, Progress
from rankwell.store import STDIN, Source, ids_beside, is_draft, split_part, write_text
from rankwell.threads import limit_threads, processors
from rankwell.vectors.encoders.sentence_transformers import hash_folder

RESULTS_VERSION = 2
"""Part of every recipe. Raise it when a figure changes for the same inputs and options; a golden
fails until it is raised.
"""

RESULTS = ("summary.json", "per_query.parquet")
"""The files of a result that tables and comparisons are made of."""

Recipe = dict[str, Any]


@dataclass(frozen=True)
class PlannedCell:
    """A cell with everything that decides its result.

    cell: the system, data set and options, as the experiment file states them.
    recipe: everything that the result depends on, as JSON: the value of `recipe`, or a list that
        holds one. A cell whose record has another recipe is evaluated anew.
    record: the file that the evaluation writes last, so that even after an interruption a cell that
        has it is complete.
    work: the input of its kind's evaluation, such as `CommandWork`.
    group: cells of one group that follow each other are evaluated together, by one process.
    why: the reasons to evaluate it; empty where its result is up to date.
    is_selected: whether it may be evaluated now; other cells are left as they are.
    inputs: the files and folders whose digests are in the recipe; the cell fails if one of them
        changes during the evaluation.
    """

    cell: Cell
    recipe: Any
    record: Path
    work: Any
    group: str
    why: tuple[str, ...]
    is_selected: bool = True
    inputs: tuple[Path, ...] = ()

    @property
    def folder(self) -> Path:
        """The folder of its record."""
        return self.record.parent


class CellResult(NamedTuple):
    """The outcome of a cell.

    plan: the cell with its recipe and its folder.
    status: `done` if it was evaluated now, `kept` if it was evaluated before, `to do` if neither,
        or `failed`.
    error: the reason for a failure; "" for any other status.
    """

    plan: PlannedCell
    status: Literal["done", "kept", "to do", "failed"]
    error: str = ""

    @property
    def has_results(self) -> bool:
        """Whether its folder holds results of its recipe."""
        return self.status in ("done", "kept")


def evaluate_cells(
    kind: CellKind,
    plans: Sequence[PlannedCell],
    *,
    jobs: int = 1,
    pages: bool = False,
    progress: Progress,
) -> Iterator[CellResult]:
    """The outcome of every cell, in order. jobs: processes, among which the threads are divided.
    Raises BadUsage for none.

    pages: whether each cell with results gets the page that it lacks. Raises BadUsage for another
    file in its place.
    """
    if pages:
        # Only pages need its modules.
        from rankwell.comparison.pages import refuse_pages, write_missing_pages

        refuse_pages(plan.folder for plan in plans)
        done = list(evaluate_cells(kind, plans, jobs=jobs, progress=progress))
        write_missing_pages((result.plan.folder for result in done if result.has_results), progress)
        yield from done
        return
    waiting = [plan for plan in plans if plan.why and plan.is_selected]
    groups = [list(group) for _, group in groupby(waiting, lambda plan: plan.group)]
    errors, n_done = _run(kind, groups, jobs, progress), 0
    if progress is not None and waiting:
        progress("cells", 0, len(waiting))
    for plan in plans:
        if not plan.why or not plan.is_selected:
            yield CellResult(plan, "to do" if plan.why else "kept")
            continue
        error, n_done = next(errors) or _changed(plan), n_done + 1
        if error and startup.interruptions:  # by which the cell failed
            raise KeyboardInterrupt
        if progress is not None:
            progress("cells", n_done, len(waiting))
        yield CellResult(plan, "failed" if error else "done", error)


def _run(
    kind: CellKind, groups: Sequence[Sequence[PlannedCell]], jobs: int, progress: Progress
) -> Iterator[str]:
    if jobs < 1:
        raise BadUsage(f"{flag('--executor', f'processes:{jobs}')}: expected a positive integer.")
    jobs = min(jobs, len(groups))
    if jobs < 2:
        yield from chain.from_iterable(kind.evaluate(group, progress) for group in groups)
        return
    prepare = partial(_share_processors, max(1, processors() // jobs))
    with crew(jobs, threads=None, prepare=prepare) as map_groups:
        yield from chain.from_iterable(map_groups(partial(_evaluate_group, kind), groups))


def _evaluate_group(kind: CellKind, group: Sequence[PlannedCell]) -> list[str]:
    return list(kind.evaluate(group, None))


def _share_processors(threads: int) -> None:
    """Leaves this process so many threads: our own, those of libraries that are loaded, and those
    of libraries to come.
    """
    limit_threads(threads)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(threads)
    from threadpoolctl import threadpool_limits

    threadpool_limits(threads)


def reasons(new_recipe: Any, record: Path) -> tuple[str, ...]:
    """Why a record, by its name or its content, is not that of a recipe, empty where it is: the one
    rule for stale results.
    """
    old_record = read_record(record)
    if record.name == record_name(new_recipe):
        return ("new",) if unsealed(old_record) is None else ()
    try:
        differences = [*changes(old_record["made_of"], new_recipe)]
        if old_record["results"] != results_of(record.parent):
            differences.append("its results are not what was written")
    except (KeyError, TypeError, AttributeError):
        return ("new",)
    return tuple(differences)


def record_name(recipe: Any) -> str:
    """The file name of a record that is found by its recipe."""
    return f"{key_of(recipe)[:32]}.json"


def results_of(folder: Path) -> dict[str, str]:
    """The digests of the files that tables are made of, as far as they exist; none of a result not
    written to its end.
    """
    if (read_record(folder / MANIFEST) or {}).get("unfinished"):
        return {}
    return {name: digest_of(folder / name) for name in RESULTS if (folder / name).is_file()}


def findings_in(folder: Path) -> list[Finding]:
    """The findings of the results in a cell's folder."""
    return list(map(Finding.of, read_json(Source(folder / RESULTS[0])).get("findings", ())))


def recipe(command: str, options: Mapping[str, Any], inputs: Mapping[str, Any]) -> Recipe:
    """The recipe of a result. command: what evaluates. inputs: the digests of what it reads, by
    name.
    """
    return {
        "results_version": RESULTS_VERSION,
        "command": command,
        "options": dict(options),
        "inputs": dict(inputs),
    }


def key_of(content: Any) -> str:
    """The SHA-256 of anything that JSON can hold."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def read_record(path: Path) -> Any:
    """The object in a JSON file that an earlier run wrote; None where there is none, or it cannot
    be read.
    """
    try:
        content = read_json(Source(path))
    except (OSError, BadInput):
        return None
    return content if isinstance(content, dict) else None


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a record with its digest, by which `unsealed` knows it again."""
    return {**content, "record_digest": key_of(content)}


def unsealed(record: Any) -> dict[str, Any] | None:
    """The content of a record; None where it is not what `sealed` returned."""
    if not isinstance(record, dict):
        return None
    content = {name: value for name, value in record.items() if name != "record_digest"}
    return content if record.get("record_digest") == key_of(content) else None


def changes(before: Recipe, after: Recipe) -> Iterator[str]:
    """The differences of two recipes, in words. Raises KeyError and TypeError where the first is
    not a recipe.
    """
    version = before["results_version"]
    options = before["options"]
    inputs = before["inputs"]
    if version != after["results_version"]:
        yield f"results version changed: {version} to {after['results_version']}"
    if before["command"] != after["command"]:
        yield f"command changed: {before['command']} to {after['command']}"
    # 1 and true are equal, but not the same value.
    changed = [
        name
        for name in {**options, **after["options"]}
        if repr(options.get(name)) != repr(after["options"].get(name))
    ]
    if changed:
        yield f"options changed: {', '.join(sorted(changed))}"
    moved = [name for name, digest in after["inputs"].items() if inputs.get(name, digest) != digest]
    if moved:
        yield f"input changed: {', '.join(moved)}"
    if not changed and (other_names := inputs.keys() ^ after["inputs"].keys()):
        yield f"inputs came or went: {', '.join(sorted(other_names))}"


def _changed(planned: PlannedCell) -> str:
    """The error of a cell that was evaluated while its inputs changed, whose record goes; "" for
    any other.
    """
    files = (
        file
        for path in planned.inputs
        for file in (path.rglob("*") if path.is_dir() else [path])
        if file.is_file()
    )
    try:
        for file in files:
            Source(file).refuse_changed()
    except BadInput as error:
        planned.record.unlink(missing_ok=True)
        return str(error)
    return ""


def content_of(path: Path) -> str:
    """The digest of a file, or of all files of a folder."""
    return hash_folder(path) if path.is_dir() else Source(path).digest()


def value_content(value: Any) -> Any:
    """A value as part of a recipe: one that names a file or a folder counts by its content as
    well.
    """
    try:
        if isinstance(value, str) and value and (Path(value).is_dir() or Path(value).is_file()):
            return [value, content_of(Path(value))]
    except (OSError, ValueError):  # a string that cannot be a path
        pass
    return value


def source_of(module: str) -> str:
    """The SHA-256 over the Python files of a module's outermost package, or its one file, and of
    what they import from beside it.

    Modules beside it are those in the same folder, and in turn what they import; not where
    installed packages lie, and not rankwell itself, for which `RESULTS_VERSION` stands. The digest
    of its name where it has no file.
    """
    first = module.partition(".")[0]
    module_file = getattr(sys.modules.get(first), "__file__", None)
    if module_file is None or first == __name__.partition(".")[0]:
        return key_of(module)
    path = Path(module_file).resolve()
    first = first if path.name.startswith("__init__.") else path.stem
    root = path.parent.parent if path.name.startswith("__init__.") else path.parent
    installed = {
        Path(sysconfig.get_path(name)).resolve()
        for name in ("stdlib", "platstdlib", "purelib", "platlib")
    }
    total = hashlib.sha256()
    for source_file in sorted(_sources(first, root, follow_imports=root not in installed)):
        total.update(f"{source_file.relative_to(root).as_posix()}\0".encode())
        total.update(hashlib.sha256(source_file.read_bytes()).digest())
    return total.hexdigest()


def _sources(name: str, root: Path, *, follow_imports: bool) -> set[Path]:
    """The Python files of a module or package in a folder, and of those beside it that they import,
    wherever they do.
    """
    files: set[Path] = set()
    waiting, names = [name], {name, __name__.partition(".")[0]}
    while waiting:
        module = waiting.pop()
        file = root / f"{module}.py"
        module_files = {file} if file.is_file() else set((root / module).rglob("*.py"))
        files |= module_files
        if follow_imports:
            new_names = {imported for path in module_files for imported in _imported(path)} - names
            names |= new_names
            waiting += new_names
    return files


def _imported(path: Path) -> set[str]:
    """The outermost modules that a Python file imports, anywhere in it, by absolute names; none of
    one that is not Python.
    """
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return set()
    names = list[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append(node.module)
    return {name.partition(".")[0] for name in names}


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
    *(field.name for field in fields(TableStyle)),
)
"""Options that the runner sets itself."""


@dataclass(frozen=True)
class Command:
    """A command that can evaluate a cell.

    words: the words after `rankwell` on a command line, such as `pairs evaluate`.
    function: the function that it calls; the keyword `output` is the folder of the results.
    options: key of an experiment file -> the argument that it sets. An argument with several long
        flags has a key for each; arguments that the runner decides have none.
    """

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
    option_flag = max(option.flags, key=lambda flag: flag.startswith("--"), default="")
    if option.kind is bool:
        if not isinstance(value, bool):
            raise BadInput(f"{where} is {value!r}; expected true or false.")
        negative = [option.negative_flag] if option.form == "pair" else []
        return [option_flag] if value else negative
    kind = option.kind if option.kind in (int, float) else str | int | float
    parts = value if isinstance(value, list) else [value]
    if isinstance(value, list) and option.form == "one":
        # Cut-offs are a list to whoever writes them, columns a table, and both one text to the
        # command.
        is_table = all(isinstance(part, str) and "=" in part for part in parts)
        if option.kind is not str or not (is_table or all(fits(part, int) for part in parts)):
            raise BadInput(f"{where} is {value!r}; expected one value.")
        parts = [",".join(map(str, parts))]
    for part in parts:
        if not fits(part, kind):
            expected = EXPECTED.get(kind, "a string")
            raise BadInput(f"{where} is {part!r}; expected {expected}.")
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
    options = dict[str, Argument]()
    for argument in arguments:
        # In an experiment file an option has its long names, or that of its parameter.
        long = [flag[2:].replace("-", "_") for flag in argument.flags if flag.startswith("--")]
        if argument.name not in _RUNNER_OPTIONS:
            options |= dict.fromkeys(long or [argument.name], argument)
    return Command(" ".join(filter(None, (first, last))).replace("_", "-"), function, options)


def input_mark(option: Argument) -> Input | None:
    """The mark of an option that names files, None of others."""
    return next((mark for mark in option.marks if isinstance(mark, Input)), None)


def reject_unknown(cells: Sequence[tuple[Cell, Command]]) -> None:
    """Raises BadInput for an option that its command does not have; options of all need one command
    that has them.
    """
    options_by_source = dict[str, set[str]]()
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
    """The command that evaluates a cell, with its arguments.

    command: the command that is called.
    arguments: the words of the command line after those of the command, without `output`.
    """

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
    only: Sequence[str],
    again: bool,
    progress: Progress = None,
) -> list[PlannedCell]:
    """Every cell, in the file's order. The working directory is the file's own. folder: of all
    results, absolute.

    only: patterns of `DATASET/SYSTEM`, one of which a cell must fit to be evaluated. again:
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
        why = ("requested",) if again and is_selected else reasons(new_recipe, record)
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

    Raises BadInput for an option of another type, for a password that is written out, and for an
    input that is not there.
    """
    options = {name: option for name, option in cell.options.items() if name in command.options}
    for option in options.values():
        # Recipes and tables would hold a password that is written out.
        for value in _as_list(option.value):
            name, equals, text = str(value).partition("=")
            try:
                refuse_literal("", str(value))
                if equals and name.isidentifier():
                    refuse_literal(name, text)
            except BadUsage as error:
                raise BadInput(f"{option.where}: {error}") from error
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
    calls = list[Call]()
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
        options = {**keywords, "output": folder}
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
    record = {"schema_version": 1, "made_of": planned.recipe, "results": results_of(planned.folder)}
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
            paths = sorted(folder.iterdir()) if folder.is_dir() else []
            names = [str(path) for path in paths if not is_draft(path)]
            near = difflib.get_close_matches(str(text), names, n=1, cutoff=0.6)
            advice = f"did you mean {near[0]!r}?" if near else "make it first, or correct the path."
            raise BadInput(f"{option.where} of {cell.name}: there is no {str(text)!r}; {advice}")
        for path in paths:
            yield path
            if path.suffix and (id_file := ids_beside(str(path))):
                yield Path(id_file)


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
