"""Set evaluated systems side by side: systems × data sets with intervals and significance, what
each took, published figures.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from rankwell import report
from rankwell.core.options import Doc, Option
from rankwell.core.registry import Better, suggest
from rankwell.core.tables import Values
from rankwell.errors import BadInput, BadUsage
from rankwell.evaluation.results import SCHEMA_VERSION
from rankwell.experiments.comparison.data import ComparisonOptions, Origin, Pair
from rankwell.experiments.comparison.folders import split_name
from rankwell.experiments.comparison.pairwise import compare_values
from rankwell.experiments.comparison.rows import winners
from rankwell.experiments.files import SystemStatement, read_experiment, read_statements
from rankwell.experiments.pages import write_missing_pages
from rankwell.experiments.runner import evaluate_cells
from rankwell.experiments.runner.planning import CommandCells, plan_cells
from rankwell.io.result_folder import (
    ResultFolder,
    read_performance,
    read_results,
    read_summary,
    values_behind,
)
from rankwell.report.drafts import drafting, publish, refuse_foreign, refuse_unclaimed
from rankwell.report.options import FolderOption, JobsOption, Output, Progress
from rankwell.report.page import NAME as PAGE
from rankwell.report.system_formats import link_to, render_system_tables
from rankwell.report.system_table import SystemCost, SystemFigure, SystemTable, TableFormat
from rankwell.stats.granularity import granularity_of
from rankwell.store import refuse_blocked, write_text
from rankwell.tasks.instances.statistics import published_instances

_TASK = ("exclude", "ties", "contentless", "absent", "no_relevant", "marks")
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
    seed: Annotated[int, Doc("Seed of these swaps.")] = 0
    pages: Annotated[
        bool,
        Doc(
            "Write the page of each folder of results that has none, as `rankwell report` "
            "does; table.html links to them."
        ),
    ] = False


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
    randomisation test over
    the queries that both have, with Holm's correction for all pairs of a data set.

    Parameters
    ----------
    results
        Folders that `rankwell instances evaluate -o` wrote, each as FOLDER or DATASET=FOLDER; or an
        experiment file, NAME.toml, whose data sets have command = "instances": cells that have
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
            "name folders that `rankwell instances evaluate -o` wrote; or --published for the "
            "source's figures alone."
        )
    if not 0 < options.alpha < 1:
        raise BadUsage(f"--alpha {options.alpha}: the level must be between 0 and 1, such as 0.05.")
    statements = _statements(options.system or [])
    cells: list[_Cell] = []
    for text in results:
        if text.endswith(".toml") and Path(text).is_file():
            cells += _evaluated(text, statements, options, jobs, progress)
        else:
            name, place = split_name(text)
            cells.append(_Cell(Path(place), name))
    found, source = _read(cells, statements, options.measure), published_instances()
    exact, label = (
        (found[0].row["measure"], found[0].row["label"])
        if found
        else (source.measure, source.label)
    )
    if options.published and exact != source.measure:
        raise BadUsage(
            f"the published figures are {source.measure}, the table shows {exact}; leave one out."
        )
    if options.pages:
        write_missing_pages([each.folder.place for each in found], progress)
    better, notes = _compared(found, options)
    failed = [each for each in cells if each.error]
    gaps = [
        SystemFigure(
            statements[each.system].title,
            each.dataset,
            None,
            None,
            "",
            gap="failed",
            why=each.error,
        )
        for each in failed
    ]
    entries = [
        *(each.figure(better) for each in found),
        *gaps,
        *(_published() if options.published else []),
    ]
    made = SystemTable(exact, label, entries, [each.cost for each in found], _rules(found, options))
    if output is not None:
        pages = {
            (each.shown, each.dataset): page
            for each in found
            if (page := each.folder.place / PAGE).is_file()
        }
        inputs = {f"{each.run} on {each.dataset}": each.folder.source for each in found}
        with drafting(output, inputs.values()) as draft:
            paths = [draft / f"table.{suffix}" for suffix in _WRITTEN.values()]
            for kind, path in zip(_WRITTEN, paths, strict=True):
                linked = replace(
                    made, links={key: link_to(page, output) for key, page in pages.items()}
                )
                write_text(path, render_system_tables([linked], kind, notes=notes))
            read = {
                name: {"file": each.name, "digest": each.digest()} for name, each in inputs.items()
            }
            content = {
                "schema_version": SCHEMA_VERSION,
                "rules": made.rules,
                "inputs": read,
                "notes": notes,
            }
            publish(output, content, paths)
        notes = [*notes, report.Aside(f"wrote {output}/")]
    text = render_system_tables(
        [made], format, notes=notes, terminal=report.terminal_of(sys.stdout)
    )
    said = notes if format not in ("json", "html") else notes[-1:] if output is not None else []
    said = [*said, *(f"{each.system} on {each.dataset} failed: {each.error}" for each in failed)]
    return Output(text=text, notes=tuple(said), exit_code=2 if failed else 0)


class _Cell(NamedTuple):
    """A folder of results, or the error in their place. dataset, system: "" where the folder names
    them.
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
    found, stated = read_experiment(file), read_statements(file)
    folder = (found.folder / f"{found.stem}-results").absolute()
    refuse_blocked(folder, folder=True)
    with chdir(found.folder):
        plans = plan_cells(found, folder, progress=progress)
        other = next(
            (
                each.cell.command
                for each in plans
                if each.work.command.words != "instances evaluate"
            ),
            None,
        )
        if other is not None:
            raise BadInput(
                f"{other.where} is {other.value!r}; expected 'instances', whose results this "
                "table shows."
            )
        done = list(
            evaluate_cells(CommandCells(), plans, jobs=jobs, pages=options.pages, progress=progress)
        )
    for cell in found.cells:
        statements.setdefault(
            cell.system, stated[cell.entry]._replace(title=found.titles["system", cell.system])
        )
    if not any(each.has_results for each in done):
        raise BadInput(
            f"{file}: no cell could be evaluated; first {done[0].plan.cell.name}: {done[0].error}"
        )
    return [
        _Cell(
            each.plan.folder,
            found.titles["dataset", each.plan.cell.dataset],
            each.plan.cell.system,
            each.error,
        )
        for each in done
    ]


def _statements(places: Sequence[str]) -> dict[str, SystemStatement]:
    """The statements of all files by run. Raises BadUsage for two about one run."""
    found: dict[str, SystemStatement] = {}
    for text in places:
        name, place = split_name(text)
        stated = read_statements(place)
        if name and len(stated) > 1:
            raise BadUsage(
                f"--system {text}: the file names {len(stated)} systems itself; leave out {name}=."
            )
        for run, statement in stated.items():
            if (name or run) in found:
                raise BadUsage(
                    f"--system {text}: a second description of the system {name or run!r}; "
                    "leave one out."
                )
            found[name or run] = statement
    return found


def _published() -> Iterator[SystemFigure]:
    source = published_instances()
    for system, dataset, figure in source.systems:
        n = source.datasets[dataset].queries
        granularity = granularity_of(figure, n)
        warning = "" if granularity.possible else str(granularity)
        yield SystemFigure(system, dataset, float(figure), n, printed=figure, warning=warning)


@dataclass(frozen=True, eq=False)
class _Result:
    """One run on one data set. row: of the summary, for the measure. performance: of the whole
    folder.
    """

    run: str
    dataset: str
    folder: ResultFolder
    row: Mapping[str, Any]
    performance: Mapping[str, Any]
    stated: SystemStatement

    @property
    def shown(self) -> str:
        """The name in the table."""
        return self.stated.title or self.run

    @property
    def values(self) -> Values | None:
        """The values of single queries; None of a figure of the whole."""
        return values_behind(self.row, self.folder.values, self.folder.row_attributes)

    @property
    def queries(self) -> set[str]:
        """The queries that count."""
        own = self.values
        return (
            set()
            if own is None
            else {own.queries[place] for place in np.flatnonzero(own.counted).tolist()}
        )

    @property
    def task(self) -> dict[str, str]:
        """The rules that decide which question the figures answer, by name, as far as the folder
        states them.
        """
        rules, positives = self.folder.rules, self.folder.inputs.get("positives")
        found = {name.replace("_", "-"): str(rules[name]) for name in _TASK if name in rules}
        images = rules.get("images")
        if isinstance(images, Mapping) and "digest" in images:
            digest = str(images["digest"]).removeprefix("sha256:")[:8]
            found["gallery"] = (
                f"{images.get('references')} references and {images.get('queries')} queries "
                f"[{digest}]"
            )
        return (
            found
            if positives is None
            else {**found, "positives": positives.removeprefix("sha256:")[:8]}
        )

    def figure(self, better: Mapping[tuple[str, str], tuple[str, ...]]) -> SystemFigure:
        """The cell; shares come in percent."""
        scale, unit = (100.0, "percent") if self.row["unit"] == "share" else (1.0, self.row["unit"])
        names = ("mean", "ci_low", "ci_high", "sd")
        scaled: dict[str, Any] = {
            name: None if self.row.get(name) is None else scale * self.row[name] for name in names
        }
        marks = better.get((self.run, self.dataset), ())
        return SystemFigure(
            self.shown, self.dataset, n=self.row["n"], unit=unit, better_than=marks, **scaled
        )

    @property
    def cost(self) -> SystemCost:
        """The cost, as far as it was measured, and the statements of the system's user."""
        name = str(self.row["run"])
        own: Mapping[str, Any] = self.performance.get("runs", {}).get(name, {})
        machine: Mapping[str, Any] = self.performance.get("machine", {})
        numbers = [
            f"{machine[name]} {name}" for name in ("processors", "threads") if machine.get(name)
        ]
        hardware = [machine.get("processor"), *numbers, machine.get("gpu"), machine.get("system")]
        measured = {
            "encode_seconds_per_image": own.get("encode_seconds_per_image"),
            "seconds_per_query": own.get("seconds_per_query"),
            "evaluation_seconds": own.get("seconds_evaluation"),
            "peak_memory_mib": self.performance.get("peak_memory_mib"),
        }
        stated = self.stated
        return SystemCost(
            self.shown,
            self.dataset,
            **{
                name: float(value) if isinstance(value, (int, float)) else None
                for name, value in measured.items()
            },
            dimension=own.get("dimensions"),
            images=own.get("images"),
            hardware=", ".join(str(part) for part in hardware if part),
            training_time=stated.training_time,
            training_hardware=stated.training_hardware,
            training_data=stated.training_data,
            from_cache=own.get("images_from_cache"),
        )


def _read(
    cells: Sequence[_Cell], statements: Mapping[str, SystemStatement], measure: str
) -> list[_Result]:
    """Every run of every folder. Raises BadInput for a measure that one lacks, and for two results
    of a run on a data set.
    """
    found: dict[tuple[str, str], _Result] = {}
    for cell in cells:
        if cell.error:
            continue
        path = cell.folder
        folder = read_results(path)
        rows, performance = read_summary(folder), read_performance(folder)
        dataset = cell.dataset or str(folder.rules.get("dataset") or "")
        if not dataset:
            raise BadInput(
                f"{path} does not say which data set it is for; name it, as DATASET={path}."
            )
        for run in folder.runs:
            mine = [row for row in rows if row["run"] == run]
            named = [row for row in mine if row["measure"] == measure] or [
                row for row in mine if row["label"] == measure
            ]
            if not named:
                raise BadInput(
                    f"{path}: {run} has no {measure}; "
                    f"{suggest(measure, {str(row['label']) for row in mine})}"
                )
            name = (
                run
                if not cell.system
                else cell.system
                if len(folder.runs) == 1
                else f"{cell.system} {run}"
            )
            if (name, dataset) in found:
                both = (
                    f"{found[name, dataset].folder.place} and {path} both have the run {name!r} "
                    f"on {dataset!r}"
                )
                raise BadInput(f"{both}; leave one out, or name its data set, as DATASET={path}.")
            stated = statements.get(name, SystemStatement())
            found[name, dataset] = _Result(name, dataset, folder, named[0], performance, stated)
    runs = {run for run, _ in found} | {cell.system for cell in cells}
    unknown = next((name for name in statements if name not in runs), None)
    if unknown is not None:
        raise BadUsage(f"--system {unknown}: unknown run; {suggest(unknown, runs - {''})}")
    measures = list(dict.fromkeys(each.row["measure"] for each in found.values()))
    if len(measures) > 1:
        raise BadInput(
            f"{measure} is {measures[0]} in one folder and {measures[1]} in another; name it "
            "exactly."
        )
    return list(found.values())


def _compared(
    found: Sequence[_Result], options: SystemTableOptions
) -> tuple[dict[tuple[str, str], tuple[str, ...]], list[str]]:
    """The systems that each run is better than, on each data set, as `rankwell compare` finds them,
    and notes on the tests.
    """
    better: dict[tuple[str, str], tuple[str, ...]] = {}
    notes: list[str] = []
    power = (1 + options.alpha) / 2
    chosen = ComparisonOptions(
        intervals="none",
        level=1 - options.alpha,
        power=power,
        resamples=options.resamples,
        seed=options.seed,
    )
    for dataset in dict.fromkeys(each.dataset for each in found):
        mine = [each for each in found if each.dataset == dataset]
        _check_queries(mine, notes)
        differing = _differing(mine, notes)
        names = [each.run for each in mine]
        pairs = [
            Pair(names[b], names[a])
            for a, b in combinations(range(len(mine)), 2)
            if (a, b) not in differing
        ]
        values = [replace(each.values, run=each.run) for each in mine if each.values is not None]
        if not pairs or len(values) < len(mine):
            continue
        directions: dict[str, Better] = {
            measure: word for each in reversed(mine) for measure, word in each.folder.better.items()
        }
        compared = compare_values(values, chosen, pairs=pairs, origin=Origin(better=directions))
        shown = {each.run: each.shown for each in mine}
        for winner, loser, _ in winners(compared.differences):
            better[winner, dataset] = (*better.get((winner, dataset), ()), shown[loser])
    return better, notes


def _differing(mine: Sequence[_Result], notes: list[str]) -> set[tuple[int, int]]:
    """The pairs of systems of a data set that differ in any rule, with a note on each rule."""
    tasks = [each.task for each in mine]
    differing: set[tuple[int, int]] = set()
    for rule in dict.fromkeys(rule for task in tasks for rule in task):
        sides: dict[str, list[str]] = {}
        for each, task in zip(mine, tasks, strict=True):
            if rule in task:
                sides.setdefault(task[rule], []).append(each.shown)
        if len(sides) > 1:
            shown = " against ".join(
                f"{value} ({', '.join(those)})" for value, those in sides.items()
            )
            notes.append(
                f"{mine[0].dataset}: {rule} differs, {shown}; such systems have different "
                "tasks and are not tested"
            )
            pairs = combinations(range(len(mine)), 2)
            differing |= {
                (a, b)
                for a, b in pairs
                if len({task[rule] for task in (tasks[a], tasks[b]) if rule in task}) > 1
            }
    return differing


def _check_queries(mine: Sequence[_Result], notes: list[str]) -> None:
    """Notes that the systems of a data set have different queries. Raises BadInput where they have
    none in common.
    """
    queries = [each.queries for each in mine]
    common = set.intersection(*queries)
    if len(common) < len(set.union(*queries)):
        sizes = " and ".join(map(str, sorted({len(each) for each in queries})))
        note = f"{mine[0].dataset}: the systems have {sizes} queries, {len(common)} in common"
        if not common:
            raise BadInput(
                f"{note}; they were evaluated on different data sets, name each, as DATASET=FOLDER."
            )
        notes.append(f"{note}; each pair is tested over the queries that both have")


def _rules(found: Sequence[_Result], options: SystemTableOptions) -> dict[str, Any]:
    """The rules of the table."""
    rules: dict[str, Any] = {}
    conventions = filter(
        None, dict.fromkeys(str(each.folder.rules.get("convention", "")) for each in found)
    )
    if convention := ", ".join(conventions):
        rules["convention"] = convention
    # The transforms of each system, and the data that they look at.
    where: dict[tuple[str, str], list[str]] = {}
    for each in found:
        own = each.folder.rules
        if own.get("transforms"):
            key = each.shown, f"{own['transforms']} (looks at {own.get('transductive')})"
            where.setdefault(key, []).append(each.dataset)
    everywhere = Counter(each.shown for each in found)
    if where:
        rules["transforms"] = "; ".join(
            (
                f"{name}{'' if len(places) == everywhere[name] else ' on ' + ', '.join(places)}: "
                f"{transforms}"
            )
            for (name, transforms), places in where.items()
        )
    if len({each.dataset for each in found}) < len(found):
        rules["test"] = "paired randomisation, two-sided, Holm over the pairs of a data set"
        rules["alpha"] = options.alpha
    if options.published:
        rules["published"] = "as its source printed it, on its own queries"
    return rules
