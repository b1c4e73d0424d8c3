"""Set evaluated systems side by side: systems × data sets with intervals and significance, what
each took, published figures.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, combinations, compress
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from rankwell import reporting
from rankwell.comparison.bench import CommandCells, evaluate_cells, plan_cells
from rankwell.comparison.bench.files import SystemStatement, read_experiment, read_statements
from rankwell.comparison.data import ComparisonOptions, Origin, Pair
from rankwell.comparison.folders import split_name
from rankwell.comparison.pages import write_missing_pages
from rankwell.comparison.pairwise import compare_values, winners
from rankwell.data.options import Doc, Option
from rankwell.data.registry import Better, suggest
from rankwell.data.tables import Values
from rankwell.errors import BadInput, BadUsage
from rankwell.evaluation.options import Seed
from rankwell.evaluation.results import SCHEMA_VERSION
from rankwell.io.result_folder import (
    ResultFolder,
    read_performance,
    read_results,
    read_summary,
    values_behind,
)
from rankwell.reporting.drafts import drafting, publish, refuse_foreign, refuse_unclaimed
from rankwell.reporting.options import (
    FolderOption,
    JobsOption,
    MissingPagesOption,
    Output,
    Progress,
)
from rankwell.reporting.page import NAME as PAGE
from rankwell.reporting.system_table import (
    SystemCost,
    SystemFigure,
    SystemTable,
    TableFormat,
    link_to,
    render_system_tables,
)
from rankwell.stats.granularity import granularity_of
from rankwell.store import refuse_blocked, write_text
from rankwell.tasks.images import PERFORMANCE
from rankwell.tasks.images.statistics import published_instances

_RULES = ("exclude", "ties", "contentless", "absent", "no_relevant", "marks")
_WRITTEN: Mapping[TableFormat, str] = {
    "csv": "csv",
    "json": "json",
    "md": "md",
    "latex": "tex",
    "html": "html",
}


@dataclass(frozen=True, kw_only=True)
class SystemTableOptions:
    """Options of a table of systems."""

    published: Annotated[
        bool,
        Doc(
            "The figures that the source printed (CLICIDE, GaRoFou; Mean Precision@1) "
            "beside them; impossible ones are marked."
        ),
    ] = False
    system: Annotated[
        list[str] | None,
        Doc(
            "Experiment file with a [[system]] for each run: its name, perhaps a title, "
            "notes and [system.training] with time, hardware and data. RUN=FILE names the "
            "run of a file with one system. Repeat it for more files."
        ),
    ] = None
    measure: Annotated[
        str,
        Option(("--measure", "-m")),
        Doc("The measure in the cells, by its exact name or its label."),
    ] = "P@1"
    alpha: Annotated[float, Doc("Level of the tests.")] = 0.05
    resamples: Annotated[int, Doc("Swaps that are drawn where not all can be counted.")] = 10_000
    seed: Seed = 0
    pages: MissingPagesOption = False


def table(
    *results: str,
    options: SystemTableOptions,
    jobs: JobsOption = 1,
    format: Annotated[TableFormat, Option(("--format", "-f"))] = "table",
    output: FolderOption = None,
    progress: Progress = None,
) -> Output:
    """Set evaluated systems side by side: systems × data sets with intervals and significance, what
    each took, published figures.

    After a figure are letters of the systems that it is significantly better than: by the paired
    randomisation test over the queries that both have, with Holm's correction for all pairs of a
    data set.

    Parameters
    ----------
    results
        Folders that `rankwell images -o` wrote, each as FOLDER or DATASET=FOLDER; or an
        experiment file, NAME.toml, whose data sets have command = "images": cells that have
        changed are evaluated into NAME-results, as in bench.
    jobs
        Processes that evaluate cells of an experiment file at the same time; the processors are
        divided among them.
    format
        How to print; html is a page of its own.
    output
        Folder for the table as CSV, JSON, Markdown, LaTeX and HTML.
    """
    if output is not None:
        refuse_unclaimed(output)
        refuse_foreign(output, [f"table.{suffix}" for suffix in _WRITTEN.values()])
    if not results and not options.published:
        raise BadUsage(
            "name folders that `rankwell images -o` wrote; or --published for the "
            "source's figures alone."
        )
    if not 0 < options.alpha < 1:
        raise BadUsage(f"--alpha {options.alpha}: the level must be between 0 and 1, such as 0.05.")
    statements = _statements(options.system or [])
    cells: list[_Cell] = []
    for word in results:
        if word.endswith(".toml") and Path(word).is_file():
            cells += _evaluated(word, statements, options, jobs, progress)
        else:
            dataset, folder = split_name(word)
            cells.append(_Cell(Path(folder), dataset))
    run_results, source = _read(cells, statements, options.measure), published_instances()
    measure, label = source.measure, source.label
    if run_results:
        measure, label = run_results[0].row["measure"], run_results[0].row["label"]
    if options.published and measure != source.measure:
        raise BadUsage(
            f"the published figures are {source.measure}, the table shows {measure}; leave one out."
        )
    if options.pages:
        write_missing_pages([result.folder.place for result in run_results], progress)
    figures, notes = list[SystemFigure](), list[str]()
    better: dict[str, dict[str, tuple[str, ...]]] = {}
    for dataset in dict.fromkeys(result.dataset for result in run_results):
        on_dataset = [result for result in run_results if result.dataset == dataset]
        notes += _notes(dataset, on_dataset)
        better[dataset] = _compared(on_dataset, options)
    figures += [result.figure(better[result.dataset].get(result.run, ())) for result in run_results]
    failed = [cell for cell in cells if cell.error]
    for cell in failed:
        title = statements[cell.system].title
        figures.append(
            SystemFigure(title, cell.dataset, None, None, "", gap="failed", why=cell.error)
        )
    figures += _published() if options.published else []
    costs = [result.cost for result in run_results]
    system_table = SystemTable(measure, label, figures, costs, _rules(run_results, options))
    if output is not None:
        # The files link to the pages of their cells.
        links = {
            (result.shown, result.dataset): link_to(page, output)
            for result in run_results
            if (page := result.folder.place / PAGE).is_file()
        }
        linked = replace(system_table, links=links)
        sources = {
            f"{result.run} on {result.dataset}": result.folder.source for result in run_results
        }
        with drafting(output, sources.values()) as draft:
            paths = [draft / f"table.{suffix}" for suffix in _WRITTEN.values()]
            for kind, path in zip(_WRITTEN, paths, strict=True):
                write_text(path, render_system_tables([linked], kind, notes=notes))
            content = {
                "schema_version": SCHEMA_VERSION,
                "rules": system_table.rules,
                "inputs": {
                    name: {"file": source.name, "digest": source.digest()}
                    for name, source in sources.items()
                },
                "notes": notes,
            }
            publish(output, content, paths)
        notes.append(reporting.StatusNote(f"wrote {output}/"))
    text = render_system_tables(
        [system_table], format, notes=notes, terminal=reporting.terminal_of(sys.stdout)
    )
    if format in ("json", "html"):
        notes = [note for note in notes if isinstance(note, reporting.StatusNote)]
    errors = [f"{cell.system} on {cell.dataset} failed: {cell.error}" for cell in failed]
    return Output(text=text, notes=(*notes, *errors), exit_code=2 if failed else 0)


class _Cell(NamedTuple):
    """A folder of results, or the error in place of results.

    folder: where the results are, or would be.
    dataset: name of the data set; empty where the folder names it.
    system: name of the system; empty where the runs in the folder name it.
    error: why there are no results; empty where there are.
    """

    folder: Path
    dataset: str = ""
    system: str = ""
    error: str = ""


def _evaluated(
    file: str,
    statements: dict[str, SystemStatement],
    options: SystemTableOptions,
    jobs: int,
    progress: Progress,
) -> list[_Cell]:
    """The cells of an experiment file, evaluated where they have changed; the statements in it join
    the others.
    """
    experiment, stated = read_experiment(file), read_statements(file)
    folder = (experiment.folder / f"{experiment.stem}-results").absolute()
    refuse_blocked(folder, folder=True)
    with chdir(experiment.folder):
        plans = plan_cells(experiment, folder, progress=progress)
        for plan in plans:
            if plan.work.command.words != "images":
                command = plan.cell.command
                raise BadInput(
                    f"{command.where} is {command.value!r}; expected 'images', whose results "
                    "this table shows."
                )
        cells = list(
            evaluate_cells(CommandCells(), plans, jobs=jobs, pages=options.pages, progress=progress)
        )
    if not any(cell.has_results for cell in cells):
        raise BadInput(
            f"{file}: no cell could be evaluated; first {cells[0].plan.cell.name}: {cells[0].error}"
        )
    titles = experiment.titles
    for cell in experiment.cells:
        statement = stated[cell.entry]._replace(title=titles["system", cell.system])
        statements.setdefault(cell.system, statement)
    return [
        _Cell(result.plan.folder, titles["dataset", cell.dataset], cell.system, result.error)
        for result in cells
        for cell in [result.plan.cell]
    ]


def _statements(words: Sequence[str]) -> dict[str, SystemStatement]:
    """The statements of all files by run. Raises BadUsage for two about one run."""
    statements: dict[str, SystemStatement] = {}
    for word in words:
        name, file = split_name(word)
        stated = read_statements(file)
        if name and len(stated) > 1:
            raise BadUsage(
                f"--system {word}: the file names {len(stated)} systems itself; leave out {name}=."
            )
        for run, statement in stated.items():
            if (name or run) in statements:
                raise BadUsage(
                    f"--system {word}: a second description of the system {name or run!r}; "
                    "leave one out."
                )
            statements[name or run] = statement
    return statements


def _published() -> Iterator[SystemFigure]:
    source = published_instances()
    for system, dataset, figure in source.systems:
        n_queries = source.datasets[dataset].queries
        granularity = granularity_of(figure, n_queries)
        warning = "" if granularity.possible else str(granularity)
        yield SystemFigure(
            system, dataset, float(figure), n_queries, printed=figure, warning=warning
        )


@dataclass(frozen=True, eq=False)
class _RunResult:
    """One run on one data set.

    run: name of the run, or of the system where a cell names it.
    dataset: name of the data set.
    folder: the results.
    row: the row of the summary for the measure of the table.
    stated: statements of the system's user.
    """

    run: str
    dataset: str
    folder: ResultFolder
    row: Mapping[str, Any]
    stated: SystemStatement

    @property
    def shown(self) -> str:
        """The name in the table."""
        return self.stated.title or self.run

    @cached_property
    def values(self) -> Values | None:
        """The values of single queries; None of a figure of the whole."""
        return values_behind(self.row, self.folder.values, self.folder.row_attributes)

    @property
    def queries(self) -> set[str]:
        """The queries that count."""
        values = self.values
        return set() if values is None else {*compress(values.queries, values.counted.tolist())}

    @cached_property
    def question(self) -> dict[str, str]:
        """The rules that decide which question the figures answer, by name, as far as the folder
        states them.
        """
        rules = self.folder.rules
        question = {name.replace("_", "-"): str(rules[name]) for name in _RULES if name in rules}
        images = rules.get("images")
        if isinstance(images, Mapping) and "digest" in images:
            question["gallery"] = (
                f"{images.get('references')} references and {images.get('queries')} queries "
                f"[{_short(images['digest'])}]"
            )
        if "qrels" in self.folder.inputs:
            question["qrels"] = _short(self.folder.inputs["qrels"])
        return question

    def figure(self, better_than: tuple[str, ...]) -> SystemFigure:
        """The cell; shares come in percent."""
        scale, unit = (100.0, "percent") if self.row["unit"] == "share" else (1.0, self.row["unit"])
        numbers = {name: self.row.get(name) for name in ("mean", "ci_low", "ci_high", "sd")}
        scaled: dict[str, Any] = {
            name: None if number is None else scale * number for name, number in numbers.items()
        }
        return SystemFigure(
            self.shown, self.dataset, n=self.row["n"], unit=unit, better_than=better_than, **scaled
        )

    @property
    def cost(self) -> SystemCost:
        """The cost, as far as it was measured, and the statements of the system's user."""
        performance = read_performance(self.folder, PERFORMANCE)
        of_run: Mapping[str, Any] = performance.get("runs", {}).get(str(self.row["run"]), {})
        machine: Mapping[str, Any] = performance.get("machine", {})
        numbers = [
            f"{machine[name]} {name}" for name in ("processors", "threads") if machine.get(name)
        ]
        hardware = [machine.get("processor"), *numbers, machine.get("gpu"), machine.get("system")]
        seconds, memory = of_run.get("seconds_evaluation"), performance.get("peak_memory_mib")
        return SystemCost(
            self.shown,
            self.dataset,
            encode_seconds_per_image=_number(of_run.get("encode_seconds_per_image")),
            seconds_per_query=_number(of_run.get("seconds_per_query")),
            evaluation_seconds=_number(seconds),
            peak_memory_mib=_number(memory),
            dimension=of_run.get("dimensions"),
            images=of_run.get("images"),
            hardware=", ".join(str(part) for part in hardware if part),
            training_time=self.stated.training_time,
            training_hardware=self.stated.training_hardware,
            training_data=self.stated.training_data,
            from_cache=of_run.get("images_from_cache"),
        )


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def _short(digest: object) -> str:
    return str(digest).removeprefix("sha256:")[:8]


def _read(
    cells: Sequence[_Cell], statements: Mapping[str, SystemStatement], measure: str
) -> list[_RunResult]:
    """Every run of every folder. Raises BadInput for a measure that one lacks, and for two results
    of a run on a data set.
    """
    run_results: dict[tuple[str, str], _RunResult] = {}
    for cell in cells:
        if cell.error:
            continue
        path, folder = cell.folder, read_results(cell.folder)
        summary = read_summary(folder)
        dataset = cell.dataset or str(folder.rules.get("dataset") or "")
        if not dataset:
            raise BadInput(
                f"{path} does not say which data set it is for; name it, as DATASET={path}."
            )
        for run in folder.runs:
            rows = [row for row in summary if row["run"] == run]
            row = next(
                (row for key in ("measure", "label") for row in rows if row[key] == measure), None
            )
            if row is None:
                labels = {str(row["label"]) for row in rows}
                raise BadInput(f"{path}: {run} has no {measure}; {suggest(measure, labels)}")
            name = cell.system or run
            if cell.system and len(folder.runs) > 1:
                name = f"{cell.system} {run}"
            stated = statements.get(name, SystemStatement())
            result = _RunResult(name, dataset, folder, row, stated)
            earlier = run_results.setdefault((name, dataset), result)
            if earlier is not result:
                raise BadInput(
                    f"{earlier.folder.place} and {path} both have the run {name!r} on {dataset!r}; "
                    f"leave one out, or name its data set, as DATASET={path}."
                )
    runs = {run for run, _ in run_results} | {cell.system for cell in cells}
    for name in statements:
        if name not in runs:
            raise BadUsage(f"--system {name}: unknown run; {suggest(name, runs - {''})}")
    measures = list(dict.fromkeys(result.row["measure"] for result in run_results.values()))
    if len(measures) > 1:
        raise BadInput(
            f"{measure} is {measures[0]} in one folder and {measures[1]} in another; name it "
            "exactly."
        )
    return list(run_results.values())


def _compared(
    on_dataset: Sequence[_RunResult], options: SystemTableOptions
) -> dict[str, tuple[str, ...]]:
    """The systems of one data set that each run is better than, as `rankwell compare` finds them;
    those of different rules have different tasks and are not tested.
    """
    pairs = [
        Pair(second.run, first.run)
        for first, second in combinations(on_dataset, 2)
        if all(second.question.get(rule, value) == value for rule, value in first.question.items())
    ]
    values = [
        replace(result.values, run=result.run) for result in on_dataset if result.values is not None
    ]
    if not pairs or len(values) < len(on_dataset):
        return {}
    directions: dict[str, Better] = {}
    for result in reversed(on_dataset):
        directions |= result.folder.better
    tests = ComparisonOptions(
        intervals="none",
        level=1 - options.alpha,
        power=(1 + options.alpha) / 2,
        resamples=options.resamples,
        seed=options.seed,
    )
    comparison = compare_values(
        values, options=tests, pairs=pairs, origin=Origin(better=directions)
    )
    titles = {result.run: result.shown for result in on_dataset}
    better: dict[str, tuple[str, ...]] = {}
    for winner, loser, _ in winners(comparison.differences):
        better[winner] = (*better.get(winner, ()), titles[loser])
    return better


def _notes(dataset: str, on_dataset: Sequence[_RunResult]) -> Iterator[str]:
    """Notes on the queries and the rules in which the systems of a data set differ. Raises BadInput
    where they have no query in common.
    """
    queries = [result.queries for result in on_dataset]
    common = set.intersection(*queries)
    if len(common) < len(set.union(*queries)):
        sizes = " and ".join(map(str, sorted(set(map(len, queries)))))
        note = f"{dataset}: the systems have {sizes} queries, {len(common)} in common"
        if not common:
            raise BadInput(
                f"{note}; they were evaluated on different data sets, name each, as DATASET=FOLDER."
            )
        yield f"{note}; each pair is tested over the queries that both have"
    for rule in dict.fromkeys(chain.from_iterable(result.question for result in on_dataset)):
        systems: dict[str, list[str]] = {}
        for result in on_dataset:
            if rule in result.question:
                systems.setdefault(result.question[rule], []).append(result.shown)
        if len(systems) > 1:
            sides = [f"{value} ({', '.join(names)})" for value, names in systems.items()]
            yield (
                f"{dataset}: {rule} differs, {' against '.join(sides)}; such systems have "
                "different tasks and are not tested"
            )


def _rules(run_results: Sequence[_RunResult], options: SystemTableOptions) -> dict[str, Any]:
    """The rules of the table."""
    rules: dict[str, Any] = {}
    conventions = dict.fromkeys(
        str(result.folder.rules.get("convention", "")) for result in run_results
    )
    if convention := ", ".join(filter(None, conventions)):
        rules["convention"] = convention
    # The transforms of each system, and the data that they look at.
    datasets: dict[tuple[str, str], list[str]] = {}
    for result in run_results:
        folder_rules = result.folder.rules
        if transforms := folder_rules.get("transforms"):
            looks = f"{transforms} (looks at {folder_rules.get('transductive')})"
            datasets.setdefault((result.shown, looks), []).append(result.dataset)
    n_datasets = Counter(result.shown for result in run_results)
    if datasets:
        rules["transforms"] = "; ".join(
            f"{system}{'' if len(names) == n_datasets[system] else ' on ' + ', '.join(names)}: "
            f"{transforms}"
            for (system, transforms), names in datasets.items()
        )
    if len({result.dataset for result in run_results}) < len(run_results):
        rules["test"] = "paired randomisation, two-sided, Holm over the pairs of a data set"
        rules["alpha"] = options.alpha
    if options.published:
        rules["published"] = "as its source printed it, on its own queries"
    return rules
