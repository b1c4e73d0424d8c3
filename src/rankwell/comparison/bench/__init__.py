"""The one runner of experiment files: cells with their recipes, evaluated where those changed, by
one process or several.
"""

import ast
import hashlib
import json
import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import Any, Literal, NamedTuple

from rankwell import startup
from rankwell.comparison.bench.files import Cell, CellKind
from rankwell.documents import read_json
from rankwell.errors import BadInput, BadUsage, flag
from rankwell.io.result_folder import MANIFEST, digest_of
from rankwell.reporting.options import Progress
from rankwell.store import Source
from rankwell.threads import crew, limit_threads, processors
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

    record: the file that its evaluation writes last, so that a killed run has evaluated the cells
    that have one. work: what its kind needs to evaluate it. group: cells of one group that follow
    each other are evaluated together, by one process.
    why: the reasons to evaluate it, none where it is done. is_selected: whether it may be evaluated
    now; others are left as they are. inputs: the files and folders whose digests are in the recipe.
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
    """The outcome of a cell: evaluated now (`done`), before (`kept`), neither (`to do`), or
    `failed`, and then by which error.
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
    progress: Progress = None,
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
        raise BadUsage(f"{flag('--jobs', jobs)}: expected a positive integer.")
    jobs = min(jobs, len(groups))
    if jobs < 2:
        yield from chain.from_iterable(kind.evaluate(group, progress) for group in groups)
        return
    prepare = partial(_share_processors, max(1, processors() // jobs))
    with crew(jobs, threads=None, prepare=prepare) as map_groups:
        yield from chain.from_iterable(map_groups(partial(_evaluate, kind), groups))


def _evaluate(kind: CellKind, group: Sequence[PlannedCell]) -> list[str]:
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


def record_name(new_recipe: Any) -> str:
    """The file name of a record that is found by its recipe."""
    return f"{key_of(new_recipe)[:32]}.json"


def results_of(folder: Path) -> dict[str, str]:
    """The digests of the files that tables are made of, as far as they exist; none of a result not
    written to its end.
    """
    if (read_record(folder / MANIFEST) or {}).get("unfinished"):
        return {}
    return {name: digest_of(folder / name) for name in RESULTS if (folder / name).is_file()}


def notes_of(folder: Path) -> list[str]:
    """The notes of the results in a cell's folder."""
    return list(read_json(Source(folder / RESULTS[0])).get("notes", ()))


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
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append(node.module)
    return {name.partition(".")[0] for name in names}
