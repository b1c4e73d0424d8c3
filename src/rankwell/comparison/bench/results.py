"""Results of an experiment file: every changed cell is evaluated by its command, and all are set
side by side, in tables of systems × data sets: figures, significant differences, and words for
gaps.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import fsum
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from rankwell import __version__
from rankwell.comparison.bench import (
    CellResult,
    CommandCells,
    PlannedCell,
    evaluate_cells,
    findings_in,
    plan_cells,
)
from rankwell.comparison.bench.files import Experiment, read_experiment
from rankwell.comparison.data import ComparisonOptions, Origin, exact_name, known_better
from rankwell.comparison.folders import differing
from rankwell.comparison.pairwise import compare_values
from rankwell.comparison.parts.cells import PlacedCells, evaluate_in_parts
from rankwell.data.findings import Finding, unignored
from rankwell.data.findings.kinds import not_compared
from rankwell.data.options import (
    Doc,
    ExecutorOption,
    GpusOption,
    MeasureNames,
    MemoryOption,
    Option,
    PartOptions,
    PartOutcome,
    PartTimeoutOption,
    WorkOption,
    may_overwrite,
    overwriting,
    split_names,
    takes_options,
    with_options,
)
from rankwell.data.registry import Better, suggest
from rankwell.data.tables import Values
from rankwell.errors import BadInput, BadUsage, RankwellError, UnknownName, flag, printable
from rankwell.io.result_folder import (
    ResultFolder,
    digest_of,
    read_manifest,
    read_results,
    read_summary,
    values_behind,
)
from rankwell.reporting import FOR_PEOPLE, PLAIN, SUMMARY_COLUMNS, Format, Row, TableStyle, Terminal
from rankwell.reporting.drafts import (
    drafting,
    holding,
    publish,
    refuse_foreign,
    refuse_other_result,
    refuse_unclaimed,
)
from rankwell.reporting.notebook.display import Displayable, Rows
from rankwell.reporting.options import Progress
from rankwell.reporting.page import NAME as PAGE
from rankwell.reporting.system_table import (
    NO_FIGURE,
    SystemFigure,
    SystemTable,
    for_paper,
    link_to,
    long_rows,
    page,
    render_system_tables,
    shared_rules,
    winners,
)
from rankwell.runtime.executors import find_executor, parse_worker_count
from rankwell.store import path_of, refuse_blocked, refuse_file_name, write_text

_NO_FACT = (*SUMMARY_COLUMNS, "against", "group")


@dataclass(frozen=True, kw_only=True)
class TableChoices:
    """What tables show.

    tests: the options of the tests behind the tables.
    measures: measures by label or exact name; empty for those that each data set requests, else its
        first figure.
    baseline: the system that all others are tested against; "" to test all pairs.
    mean: whether there is a column of means.
    intervals: whether 95 % intervals are shown beside the figures; None for all formats but md and
        latex.
    side_by_side: whether one table has all measures as columns; None to do so where no measure is
        shown for two data sets.
    """

    tests: ComparisonOptions
    measures: tuple[str, ...] = ()
    baseline: str = ""
    mean: bool = False
    intervals: bool | None = None
    side_by_side: bool | None = None


class Figure(NamedTuple):
    """The names of a figure.

    name: the label, with what distinguishes the figure from others of that label: `R@1 (t2v)`.
    measure: the exact name of the measure.
    """

    name: str
    measure: str


class CellFigures(NamedTuple):
    """The results of one cell.

    folder: the content of its folder.
    rows_by_figure: figure -> its row of the summary, in the order of the summary.
    values_by_figure: figure -> the values of single queries behind it; figures of a whole
        collection have none and are absent.
    """

    folder: ResultFolder
    rows_by_figure: Mapping[Figure, Row]
    values_by_figure: Mapping[Figure, Values]


@dataclass(frozen=True, eq=False)
class DatasetResults:
    """All cells of a data set.

    name: the data set, as the experiment file names it.
    cells: their outcomes in the order of the file, including cells without results.
    results: system -> the figures of its cell, for cells with results.
    figures: the figures that tables show, in their order.
    better_than: system and figure -> the systems that it is significantly better than; empty until
        the systems are tested.
    """

    name: str
    cells: tuple[CellResult, ...]
    results: Mapping[str, CellFigures]
    figures: tuple[Figure, ...]
    better_than: dict[tuple[str, Figure], list[str]]

    @cached_property
    def better(self) -> dict[Figure, Better]:
        """The better direction of each figure, as far as folders or measures state it."""
        directions = dict[Figure, Better]()
        for figure in self.figures:
            for results in self.results.values():
                if stated := results.folder.better.get(figure.measure):
                    directions.setdefault(figure, stated)
            if figure not in directions and (direction := known_better(figure.measure)):
                directions[figure] = direction
        return directions


def make_tables(
    experiment: Experiment, cells: Sequence[CellResult], choices: TableChoices
) -> tuple[tuple[SystemTable, ...], tuple[Finding, ...]]:
    """A table for every figure that is shown, with findings; the working directory is that of the
    results. Raises UnknownName.
    """
    parts = _datasets(experiment, cells, choices)
    all_figures = {
        figure
        for part in parts
        for results in part.results.values()
        for figure in results.rows_by_figure
    }
    for name in choices.measures if all(part.results for part in parts) else ():
        if not any(_is_named(figure, name) for figure in all_figures):
            raise UnknownName(
                f"no result has a measure {name!r}; "
                f"{suggest(name, {figure.name for figure in all_figures})}"
            )
    findings = list[Finding]()
    for part in parts:
        findings += [finding.under(part.name) for finding in _compare(part, choices)]
        if part.results and not part.figures:
            reason = f"none of {', '.join(choices.measures)}, so that no table shows it"
            findings.append(not_compared(reason).under(part.name))
    entries = dict.fromkeys(figure for part in parts for figure in part.figures)
    tables = [_table(experiment, figure, parts, choices) for figure in entries]
    empty = [part for part in parts if not part.results]
    if empty:
        # A data set without any result is in no table of its own; the first one says that it is
        # missing.
        systems = [experiment.titles["system", name] for name in experiment.systems]
        first, *other_tables = tables or [SystemTable("", "–", [], None, systems=systems)]
        gaps = [gap_of(experiment, cell) for part in empty for cell in part.cells]
        tables = [replace(first, cells=[*first.cells, *gaps]), *other_tables]
    return tuple(tables), tuple(dict.fromkeys(findings))


def findings_of_cells(cells: Sequence[CellResult]) -> list[Finding]:
    """Every finding of the cells once, behind the cells that have it; a data set stands for all its
    cells with results.
    """
    finished_plans = [result.plan for result in cells if result.has_results]
    n_finished = Counter(plan.cell.dataset for plan in finished_plans)
    cells_of_finding = dict[Finding, dict[str, list[str]]]()
    for plan in finished_plans:
        for finding in findings_in(plan.folder):
            cells_of_dataset = cells_of_finding.setdefault(
                finding, {name: [] for name in n_finished}
            )
            cells_of_dataset[plan.cell.dataset].append(plan.cell.name)
    findings = list[Finding]()
    for finding, cells_of_dataset in cells_of_finding.items():
        names = list[str]()
        for dataset, cell_names in cells_of_dataset.items():
            names += [dataset] if len(cell_names) == n_finished[dataset] else cell_names
        findings.append(finding.under(", ".join(names)))
    return findings


def side_by_side(tables: Sequence[SystemTable], title: str) -> SystemTable:
    """The tables as one, whose columns are data sets with measures."""
    units = {figure.unit for table in tables for figure in table.cells if not figure.gap}
    entries = dict[str, list[SystemFigure]]()
    better = dict[str, Better]()
    links = dict[tuple[str, str], str]()
    for table in tables:
        in_percent = {
            figure.dataset for figure in table.cells if figure.unit == "percent" and not figure.gap
        }
        for figure in table.cells:
            system, dataset = figure.system, figure.dataset
            unit = " (%)" if dataset in in_percent and len(units) > 1 else ""
            name = f"{dataset}: {table.label}{unit}"
            entries.setdefault(name, []).append(figure._replace(dataset=name))
            if dataset in table.better:
                better[name] = table.better[dataset]
            if (system, dataset) in table.links:
                links[system, name] = table.links[system, dataset]
    return replace(
        tables[0],
        measure="",
        label="",
        cells=[figure for figures in entries.values() for figure in figures],
        better=better,
        links=links,
        name=title or "All measures",
    )


def _datasets(
    experiment: Experiment, cells: Sequence[CellResult], choices: TableChoices
) -> list[DatasetResults]:
    return [
        _on_dataset(name, [cell for cell in cells if cell.plan.cell.dataset == name], choices)
        for name in experiment.datasets
    ]


def _on_dataset(name: str, cells: Sequence[CellResult], choices: TableChoices) -> DatasetResults:
    folders = {
        cell.plan.cell.system: read_results(cell.plan.cell.name)
        for cell in cells
        if cell.has_results
    }
    rows = {
        system: [row for row in read_summary(folder) if not row.get("against")]
        for system, folder in folders.items()
    }
    apart = _apart(rows)
    results = dict[str, CellFigures]()
    for system, folder in folders.items():
        cell_rows, values = dict[Figure, Row](), dict[Figure, Values]()
        for row in rows[system]:
            if (figure := _figure(row, apart)) not in cell_rows:
                cell_rows[figure] = row
                query_values = values_behind(row, folder.values, folder.row_attributes)
                if query_values is not None:
                    values[figure] = query_values
        results[system] = CellFigures(folder, cell_rows, values)
    figures = list(
        dict.fromkeys(figure for part in results.values() for figure in part.rows_by_figure)
    )
    if choices.measures:
        figures = [
            figure for name in choices.measures for figure in figures if _is_named(figure, name)
        ]
    elif not any("measure" in cell.plan.recipe["options"] for cell in cells):
        figures = figures[:1]
    return DatasetResults(name, tuple(cells), results, tuple(dict.fromkeys(figures)), {})


def _apart(rows: Mapping[str, Sequence[Row]]) -> dict[str, list[str]]:
    """For every label the columns of texts that distinguish its rows within one system; the run
    where nothing else does.
    """
    columns_by_label = dict[str, list[str]]()
    for label in dict.fromkeys(row["label"] for group in rows.values() for row in group):
        groups = [[row for row in group if row["label"] == label] for group in rows.values()]
        label_rows = [row for group in groups for row in group]
        names = dict.fromkeys(name for row in label_rows for name in row if name not in _NO_FACT)
        columns = columns_by_label[label] = [
            name
            for name in names
            if all(isinstance(row.get(name), str | None) for row in label_rows)
            and any(len({row.get(name) for row in group}) > 1 for group in groups)
        ]
        if any(
            len({(row["measure"], *map(row.get, columns)) for row in group}) < len(group)
            for group in groups
        ):
            columns.append("run")
    return columns_by_label


def _compare(part: DatasetResults, choices: TableChoices) -> list[Finding]:
    """Finds the systems that each one is significantly better than by each figure, by the
    comparison of the data set's systems; returns findings.
    """
    values, attributes = list[Values](), list[dict[str, Any]]()
    for number, figure in enumerate(part.figures):
        for system, results in part.results.items():
            if figure in results.values_by_figure:
                values.append(replace(results.values_by_figure[figure], run=system))
                attributes.append({"figure": number})
    runs = {run_values.run for run_values in values}
    baseline = choices.baseline
    if baseline and baseline not in runs:
        if any(cell.plan.cell.system == baseline for cell in part.cells):
            reason = f"the baseline {baseline} has no values, so that nothing is tested"
            return [not_compared(reason)]
        return []
    if len(runs) < 2:
        return []
    findings = differing([(system, results.folder) for system, results in part.results.items()])
    directions: dict[str, Better] = {
        figure.measure: better for figure, better in part.better.items()
    }
    try:
        comparison = compare_values(
            values,
            replace(choices.tests, baseline=baseline or None, intervals="none"),
            row_attributes=attributes,
            origin=Origin(better=directions),
        )
    except RankwellError as error:
        return [*findings, not_compared(f"nothing is tested: {error}")]
    for winner, loser, row in winners(comparison.differences):
        part.better_than.setdefault((winner, part.figures[row["figure"]]), []).append(loser)
    return [*findings, *comparison.data_findings]


def _figure(row: Row, apart: Mapping[str, Sequence[str]]) -> Figure:
    parts = [str(row[name]) for name in apart[row["label"]] if row.get(name) is not None]
    return Figure(f"{row['label']} ({', '.join(parts)})" if parts else row["label"], row["measure"])


def _is_named(figure: Figure, name: str) -> bool:
    return (
        name == figure.name
        or figure.name.startswith(f"{name} (")
        or figure.measure in (name, exact_name(name))
    )


def _table(
    experiment: Experiment, figure: Figure, parts: Sequence[DatasetResults], choices: TableChoices
) -> SystemTable:
    parts = [part for part in parts if figure in part.figures]
    entries = [cell for part in parts for cell in _cells(experiment, figure, part, choices)]
    column = f"mean of {len(parts)} data sets"
    if choices.mean and len(parts) > 1:
        entries += _means(entries, column, len(parts))
    directions: dict[str, Better] = {
        experiment.titles["dataset", part.name]: part.better[figure]
        for part in parts
        if figure in part.better
    }
    if len(directions) == len(parts):
        directions[column] = next(iter(directions.values()))
    rules = dict[str, Any]()
    if any(len(part.results) > 1 for part in parts):
        rules = rules_of_tests(
            experiment, choices, several=any(len(part.figures) > 1 for part in parts)
        )
    return SystemTable(
        figure.measure,
        figure.name,
        entries,
        None,
        rules,
        better=directions,
        systems=[experiment.titles["system", name] for name in experiment.systems],
        name=figure.name,
    )


def _cells(
    experiment: Experiment, figure: Figure, part: DatasetResults, choices: TableChoices
) -> Iterator[SystemFigure]:
    titles = experiment.titles
    for cell in part.cells:
        system = cell.plan.cell.system
        row = part.results[system].rows_by_figure.get(figure) if system in part.results else None
        if row is None:
            yield gap_of(experiment, cell, figure)
            continue
        names = ("ci_low", "ci_high") if choices.intervals is not False else ()
        losers = part.better_than.get((system, figure), ())
        yield SystemFigure(
            titles["system", system],
            titles["dataset", part.name],
            **{name: row[name] for name in ("mean", "n", "unit", "sd", *names)},
            better_than=tuple(titles["system", name] for name in losers),
        )


def gap_of(
    experiment: Experiment, result: CellResult, figure: Figure | None = None
) -> SystemFigure:
    """The word in place of a missing figure, and why it is missing."""
    cell = result.plan.cell
    gap = result.status
    why = result.error
    if result.has_results and figure is not None:
        gap, why = NO_FIGURE, f"its results have no {figure.name}"
    titles = experiment.titles["system", cell.system], experiment.titles["dataset", cell.dataset]
    return SystemFigure(*titles, None, None, "", gap=gap, why=why)


def _means(entries: Sequence[SystemFigure], column: str, number: int) -> Iterator[SystemFigure]:
    """The plain mean of every system that has a figure on all data sets."""
    for system in dict.fromkeys(figure.system for figure in entries):
        figures = [(figure.mean, figure.unit) for figure in entries if figure.system == system]
        means = [mean for mean, _ in figures if mean is not None]
        units = {unit for mean, unit in figures if mean is not None}
        if len(means) == number and len(units) == 1:
            yield SystemFigure(system, column, fsum(means) / number, None, units.pop())


def rules_of_tests(
    experiment: Experiment, choices: TableChoices, *, several: bool
) -> dict[str, Any]:
    """The rules of the tests behind a table. several: whether it has several measures."""
    pairs = "all pairs"
    if choices.baseline:
        pairs = f"every system against {experiment.titles['system', choices.baseline]}"
    return choices.tests.rules_of_tests(pairs, " of a data set", secondary=several)


def requested_measures(texts: Sequence[str]) -> tuple[str, ...]:
    """The measures in texts that may hold several, separated by blanks; a name with a part in
    brackets stays whole.
    """
    names = (name for text in texts for name in ([text] if " (" in text else split_names(text)))
    return tuple(dict.fromkeys(names))


SUFFIXES: dict[Format, str] = {
    "table": "txt",
    "md": "md",
    "latex": "tex",
    "html": "html",
    "csv": "csv",
    "json": "json",
}


@dataclass(frozen=True, eq=False, repr=False)
class BenchResults(Displayable):
    r"""The results of an experiment file: what `bench` returns.

    It gives data frames and charts as `Results` do. A system is a run there, and `dataset` is a
    further column.

    experiment: the content of the file.
    folder: absolute path of the folder of all results; `DATASET/SYSTEM/` holds those of a cell.
    cells: the outcome of each cell, in the order of the file.
    system_tables: one table for every figure.
    shown: what the tables show, by the file and the options.
    comparison_findings: findings on the tables.
    cell_findings: findings on the results behind the tables.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import rankwell as rw
    >>> text = 'dataset = [{name = "d", command = "evaluate", qrels = "qrels", runs = "{system}"}]'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "qrels").write_text("q1 0 a 1\nq2 0 a 1\n")
    ...     _ = Path(folder, "mine").write_text("q1 Q0 a 1 2.0 r\nq2 Q0 b 1 1.0 r\n")
    ...     file = Path(folder, "bench.toml")
    ...     _ = file.write_text(text + '\nsystem = [{name = "mine"}]\n')
    ...     rw.bench(file, measures="RR").failed
    ()
    """

    experiment: Experiment
    folder: Path
    cells: tuple[CellResult, ...]
    system_tables: tuple[SystemTable, ...]
    shown: TableChoices
    comparison_findings: tuple[Finding, ...]
    cell_findings: tuple[Finding, ...]

    def __repr__(self) -> str:
        return (
            f"<BenchResults in {printable(str(self.folder))}: {self.status}; read .summary, "
            ".system_tables, .cells and .findings>"
        )

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, each once."""
        return unignored((*self.comparison_findings, *self.cell_findings))

    @property
    def failed(self) -> tuple[CellResult, ...]:
        """The cells that could not be evaluated, each with its error."""
        return tuple(cell for cell in self.cells if cell.status == "failed")

    @property
    def status(self) -> str:
        """The numbers of cells that were evaluated, failed and left, in words."""
        counts = Counter(cell.status for cell in self.cells)
        parts = [f"{counts['done']} of {len(self.cells)} cells evaluated"]
        if counts["failed"]:
            parts += [f"{counts['failed']} failed"]
        if counts["to do"]:
            parts += [f"{counts['to do']} left for another call"]
        return ", ".join(parts)

    @cached_property
    def summary(self) -> Rows:
        """One row per figure, data set and system, in the columns of table.csv; a missing figure
        has a `gap`.
        """
        return Rows(row for table in self.system_tables for row in long_rows(table))

    @property
    def values(self) -> tuple[Values, ...]:
        """The per-query values behind the summary, from the folders of the cells."""
        return tuple(values for values, _ in self._values)

    @property
    def query_attributes(self) -> tuple[Mapping[str, Any], ...]:
        """The data set of each element of `values`."""
        return tuple(fact for _, fact in self._values)

    def describe(self) -> dict[str, Any]:
        """The rules shown below the tables."""
        return {**shared_rules(self.system_tables), "version": __version__}

    def render(
        self,
        format: Format = "table",
        *,
        style: TableStyle | None = None,
        terminal: Terminal = PLAIN,
    ) -> str:
        """The tables as text in one of the formats; rows of csv, tsv, json and jsonl have full
        precision.
        """
        tables = self.system_tables
        if format in FOR_PEOPLE:
            keeps = format == "table" or self.shown.intervals is not None
            look = style or TableStyle()
            tables = [for_paper(table, look, intervals=keeps) for table in self._laid_out]
        # Each table of LaTeX repeats its findings, so that it has those on itself alone.
        findings = self.comparison_findings if format == "latex" else self.findings
        return render_system_tables(tables, format, findings=findings, terminal=terminal)

    def page(self) -> str:
        """The tables as a page of its own."""
        tables = self._laid_out
        title = self.experiment.title if len(tables) == len(self.system_tables) else ""
        return page(tables, self.findings, title=title)

    def _paper_text(self, format: Format, style: TableStyle) -> str:
        return self.render(format, style=style)

    def _repr_html_(self) -> str:
        return render_system_tables(self._laid_out, "html", findings=self.findings)

    @property
    def _laid_out(self) -> Sequence[SystemTable]:
        """The tables as people read them: apart, or all measures as columns of one; they link to
        the reports of their cells.
        """
        titles = self.experiment.titles
        links = dict[tuple[str, str], str]()
        for plan in (cell.plan for cell in self.cells):
            page = plan.folder / PAGE
            if page.is_file():
                key = titles["system", plan.cell.system], titles["dataset", plan.cell.dataset]
                links[key] = link_to(page, self.folder)
        tables = [replace(table, links=links) for table in self.system_tables]
        wide = self.shown.side_by_side
        if wide is None:
            wide = all(len(table.datasets) == 1 for table in tables)
        return [side_by_side(tables, self.experiment.title)] if wide and len(tables) > 1 else tables

    @cached_property
    def _values(self) -> list[tuple[Values, dict[str, str]]]:
        """The values of single queries behind the figures of all tables, each with its data set; a
        figure's name is the label.
        """
        titles = self.experiment.titles
        with chdir(self.folder):
            return [
                (
                    replace(
                        results.values_by_figure[figure],
                        run=titles["system", system],
                        label=figure.name,
                    ),
                    {"dataset": titles["dataset", part.name]},
                )
                for part in _datasets(self.experiment, self.cells, self.shown)
                for figure in part.figures
                for system, results in part.results.items()
                if figure in results.values_by_figure
            ]


@dataclass(frozen=True, kw_only=True)
class BenchOptions:
    """The cells that are evaluated, and the contents of the tables."""

    measures: Annotated[
        MeasureNames,
        Doc(
            "Measures of the tables, separated by commas, by label or exact name. "
            "[default: those of each data set, else its first]"
        ),
    ] = None
    baseline: Annotated[
        str | None,
        Doc(
            "The system that all others are tested against. [default: all pairs are tested]",
            is_common=True,
        ),
    ] = None
    only: Annotated[
        Sequence[str],
        Option(kind=list[str]),
        Doc(
            'Evaluate only cells that match a pattern of DATASET/SYSTEM, such as "scifact/*"; '
            "repeat it for more. Other cells stay as they are.",
            "Scaling",
        ),
    ] = ()
    executor: ExecutorOption = None
    work: WorkOption = None
    memory: MemoryOption = None
    gpus: GpusOption = None
    part_timeout: PartTimeoutOption = None

    @property
    def jobs(self) -> int:
        """The number of processes of a bench that has no parts. Raises BadUsage for an executor
        that is neither `here` nor `processes`.
        """
        name, _, address = (self.executor or "here").partition(":")
        if name not in ("here", "processes"):
            raise BadUsage(
                f"{flag('--executor', self.executor)} is for a bench whose cells commands "
                "evaluate; expected here or processes:N."
            )
        return parse_worker_count("processes", address, 1)

    @property
    def parts(self) -> PartOptions | None:
        """The choices of parts; None where cells are not evaluated as parts."""
        part_options = PartOptions(
            executor=self.executor,
            work=self.work,
            memory=self.memory,
            gpus=self.gpus,
            part_timeout=self.part_timeout,
        )
        if not part_options.is_used:
            return None
        find_executor(self.executor or "here")
        return part_options


@takes_options(BenchOptions)
def bench(
    file: str | Path,
    output: str | Path | None = None,
    *,
    options: BenchOptions,
    overwrite: bool = False,
    progress: Progress = None,
) -> BenchResults:
    r"""Runs an experiment file: every system on every data set, in one table.

    A cell is evaluated again if its inputs, its options, its results or `RESULTS_VERSION` changed.
    The code of callables and the images listed in a table are not checked. While it runs, the
    working directory of the process is the file's folder.
    Returns the tables, and in `failed` the cells that could not be evaluated.
    Raises BadInput, BadUsage and UnknownName for a file that cannot be understood, before anything
    is evaluated, Unfinished with `executor="array"` while parts are missing; the message says what
    to submit.

    Parameters
    ----------
    file
        The experiment file (TOML).
    output
        Folder of the results (`DATASET/SYSTEM/`), the tables and `bench.json`. By default
        `NAME-results` beside NAME.toml.
    overwrite
        Evaluate unchanged cells as well, and replace existing files.

    >>> import tempfile
    >>> from pathlib import Path
    >>> import rankwell as rw
    >>> text = 'dataset = [{name = "d", command = "evaluate", qrels = "qrels", runs = "{system}"}]'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "qrels").write_text("q1 0 a 1\nq2 0 a 1\n")
    ...     _ = Path(folder, "mine").write_text("q1 Q0 a 1 2.0 r\nq2 Q0 b 1 1.0 r\n")
    ...     file = Path(folder, "bench.toml")
    ...     _ = file.write_text(text + '\nsystem = [{name = "mine"}]\n')
    ...     rw.bench(file, measures="RR").summary[0]["mean"]
    0.5
    """
    with overwriting(overwrite):
        outcome = evaluate_bench(file, output, options, progress)
    return outcome.finished() if isinstance(outcome, PartOutcome) else outcome


def evaluate_bench(
    file: str | Path, output: str | Path | None, options: BenchOptions, progress: Progress = None
) -> BenchResults | PartOutcome:
    """The outcome of `bench`, or what to submit to a cluster where it has not evaluated all
    cells.
    """
    experiment, folder = _read(file, output)
    choices = table_choices(experiment, options)
    parts = options.parts
    with holding(folder):
        _refuse_output(experiment, folder)
        with chdir(experiment.folder):
            plans = plan_cells(
                experiment, folder, only=options.only, again=may_overwrite(), progress=progress
            )

        def _finish(kind: CommandCells) -> BenchResults:
            with chdir(experiment.folder):
                cells = evaluate_cells(kind, plans, pages=experiment.has_pages, progress=progress)
                done = tuple(cells)
            result = _results(experiment, folder, done, choices)
            if isinstance(kind, PlacedCells):
                kind.forget_failed()
            return result

        if parts is None or not any(plan.why and plan.is_selected for plan in plans):
            return _finish(CommandCells())
        selected = {"only": list(options.only), "overwrite": may_overwrite()}
        outcome = evaluate_in_parts(file, plans, selected, parts, progress, _finish)
    return outcome if outcome.result is None else outcome.result


def _results(
    experiment: Experiment, folder: Path, done: tuple[CellResult, ...], choices: TableChoices
) -> BenchResults:
    """The results of cells, with their tables, which are written."""
    with chdir(folder):
        tables, findings = make_tables(experiment, done, choices)
    of_cells = tuple(findings_of_cells(done))
    result = BenchResults(experiment, folder, done, tables, choices, findings, of_cells)
    _write(result)
    return result


def to_do(
    file: str | Path, output: str | Path | None = None, *, only: Sequence[str] = ()
) -> list[PlannedCell]:
    """Every cell of an experiment file with the reasons to evaluate it; evaluates nothing. See
    `bench`.
    """
    experiment, folder = _read(file, output)
    with chdir(experiment.folder):
        return plan_cells(experiment, folder, only=only, again=may_overwrite())


def check_output(file: str | Path, output: str | Path | None) -> None:
    """Raises BadUsage where the results of an experiment file would replace files of the user's."""
    _refuse_output(*_read(file, output))


def _refuse_output(experiment: Experiment, folder: Path) -> None:
    refuse_unclaimed(folder)
    manifest = read_manifest(folder)
    if (
        manifest is not None
        and not may_overwrite()
        and _BENCH in manifest.content.get("inputs", {})
    ):
        refuse_other_result(
            folder, manifest.content, {"inputs": {_BENCH: {"file": Path(experiment.file).name}}}
        )
    refuse_foreign(folder, [f"table.{suffix}" for suffix in SUFFIXES.values()])


def _read(file: str | Path, output: str | Path | None) -> tuple[Experiment, Path]:
    experiment = read_experiment(file)
    if experiment.kind != "commands":
        raise BadInput(
            f"{experiment.file}: `call`, [chart], and costs, published and results of [table] are "
            "for the command `rankwell bench`; leave them out."
        )
    return experiment, folder_of(experiment, output)


def folder_of(experiment: Experiment, output: str | Path | None) -> Path:
    """The absolute path of the folder of all results. Raises BadUsage where it cannot be one."""
    folder = (
        experiment.folder / f"{experiment.stem}-results" if output is None else path_of(output)
    ).absolute()
    refuse_file_name(folder)
    refuse_blocked(folder, folder=True)
    return folder


def table_choices(experiment: Experiment, options: BenchOptions) -> TableChoices:
    """The choices of the file, replaced by those of the options. Raises BadInput for an unknown
    test or level.
    """
    try:
        tests = with_options(ComparisonOptions(), experiment.comparison)
    except RankwellError as error:
        raise BadInput(f"{experiment.file}: comparison: {error}") from error
    shown = [field.name for field in fields(TableChoices)]
    choices = {name: value for name, value in experiment.table.items() if name in shown}
    for name in ("measures", "baseline"):
        if getattr(options, name) is not None:
            choices[name] = getattr(options, name)
    measures = choices.get("measures", ())
    choices["measures"] = requested_measures([measures] if isinstance(measures, str) else measures)
    table_choices = TableChoices(tests=tests, **choices)
    if table_choices.baseline and table_choices.baseline not in experiment.systems:
        raise UnknownName(
            f"{experiment.file}: unknown system {table_choices.baseline!r}; "
            f"{suggest(table_choices.baseline, experiment.systems)}"
        )
    return table_choices


def _write(result: BenchResults) -> None:
    """Writes the tables and the recipes of all cells: no times and no places, so that the same file
    gives the same bytes.
    """
    texts = {
        f"table.{suffix}": result.page() if kind == "html" else result.render(kind)
        for kind, suffix in SUFFIXES.items()
    }
    # A terminal has the findings on standard error.
    texts["table.txt"] += "".join(f"\n{printable(finding)}\n" for finding in result.findings)
    with drafting(result.folder) as draft:
        paths = [draft / name for name in texts]
        for path in paths:
            write_text(path, texts[path.name])
        files = {path.name: digest_of(path) for path in paths}
        inputs = {_BENCH: {"file": Path(result.experiment.file).name}}
        manifest = {"schema_version": 1, "inputs": inputs, "version": __version__}
        publish(result.folder, manifest, paths)
    cells = dict[str, dict[str, Any]]()
    for cell in result.cells:
        # Whether a cell was evaluated now or before does not decide its content.
        entry: dict[str, Any] = {"status": "done" if cell.has_results else cell.status}
        if cell.error:
            entry["error"] = cell.error
        elif cell.has_results:
            entry["findings"] = [finding.as_dict() for finding in findings_in(cell.plan.folder)]
        cells[cell.plan.cell.name] = {**entry, **cell.plan.recipe}
    content = {
        "schema_version": 1,
        "version": __version__,
        "bench": result.experiment.digest,
        "cells": cells,
        "files": files,
    }
    write_text(
        result.folder / "bench.json", json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    )


_BENCH = "bench"
