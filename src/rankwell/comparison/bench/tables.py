"""Results of cells -> tables of systems × data sets: figures, significant differences, and words
for gaps.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import fsum
from typing import Any, NamedTuple

from rankwell.comparison.bench import CellResult, notes_of
from rankwell.comparison.bench.files import Experiment
from rankwell.comparison.data import ComparisonOptions, Origin, exact_name, known_better
from rankwell.comparison.folders import differing
from rankwell.comparison.pairwise import compare_values, winners
from rankwell.data.options import split_names
from rankwell.data.registry import Better, suggest
from rankwell.data.tables import Values
from rankwell.errors import RankwellError, UnknownName
from rankwell.io.result_folder import ResultFolder, read_results, read_summary, values_behind
from rankwell.reporting import SUMMARY_COLUMNS, Row
from rankwell.reporting.system_table import NO_FIGURE, SystemFigure, SystemTable

_CORRECTIONS = {
    "holm": "Holm",
    "bh": "Benjamini and Hochberg",
    "max-t": "max-T",
    "tukey": "Tukey's HSD",
    "none": "no correction",
}
_NO_FACT = (*SUMMARY_COLUMNS, "against", "group")


@dataclass(frozen=True, kw_only=True)
class TableChoices:
    """Choices of tables. measures: by label or exact name; none: those that each data set requests,
    else its first figure.

    baseline: the system that all others are tested against; "": all pairs are. mean: whether there
    is a column of means. side_by_side: whether all measures are columns of one table; None: where
    no measure is shown of two data sets. tests: the options of the tests behind the tables.
    """

    tests: ComparisonOptions
    measures: tuple[str, ...] = ()
    baseline: str = ""
    mean: bool = False
    intervals: bool = True
    side_by_side: bool | None = None


class Figure(NamedTuple):
    """The names of a figure: its label, with what distinguishes it from namesakes (`R@1 (t2v)`),
    and its exact name.
    """

    name: str
    measure: str


class CellFigures(NamedTuple):
    """One cell's results: the summary row and, where there are any, the values of single queries of
    every figure.
    """

    folder: ResultFolder
    rows: Mapping[Figure, Row]
    values: Mapping[Figure, Values]


@dataclass(frozen=True, eq=False)
class DatasetResults:
    """All cells of a data set. results: those that have any, by system. better_than: the systems
    that a system is significantly better than by a figure.
    """

    name: str
    cells: tuple[CellResult, ...]
    results: Mapping[str, CellFigures]
    figures: tuple[Figure, ...]
    better_than: dict[tuple[str, Figure], list[str]] = field(
        default_factory=dict[tuple[str, Figure], list[str]]
    )

    @cached_property
    def better(self) -> dict[Figure, Better]:
        """The better direction of each figure, as far as folders or measures state it."""
        directions: dict[Figure, Better] = {}
        for figure in self.figures:
            stated: list[Better | None] = [
                results.folder.better.get(figure.measure) for results in self.results.values()
            ]
            better = next(filter(None, stated), None) or known_better(figure.measure)
            if better is not None:
                directions[figure] = better
        return directions


def make_tables(
    experiment: Experiment, cells: Sequence[CellResult], choices: TableChoices
) -> tuple[tuple[SystemTable, ...], tuple[str, ...]]:
    """A table for every figure that is shown, with notes; the working directory is that of the
    results. Raises UnknownName.
    """
    parts = _datasets(experiment, cells, choices)
    all_figures = {
        figure for part in parts for results in part.results.values() for figure in results.rows
    }
    for name in choices.measures if all(part.results for part in parts) else ():
        if not any(_is_named(figure, name) for figure in all_figures):
            raise UnknownName(
                f"no result has a measure {name!r}; "
                f"{suggest(name, {figure.name for figure in all_figures})}"
            )
    notes: list[str] = []
    for part in parts:
        notes += [f"{part.name}: {note}" for note in _compare(part, choices)]
        if part.results and not part.figures:
            notes.append(
                f"{part.name}: none of {', '.join(choices.measures)}, so that no table shows it"
            )
    entries = dict.fromkeys(figure for part in parts for figure in part.figures)
    tables = [_table(experiment, figure, parts, choices) for figure in entries]
    empty = [part for part in parts if not part.results]
    if empty:
        # A data set without any result is in no table of its own; the first one says that it is
        # missing.
        systems = [experiment.titles["system", name] for name in experiment.systems]
        first, *other_tables = tables or [SystemTable("", "–", [], None, systems=systems)]
        gaps = [_gap(experiment, cell) for part in empty for cell in part.cells]
        tables = [replace(first, cells=[*first.cells, *gaps]), *other_tables]
    return tuple(tables), tuple(dict.fromkeys(notes))


def values_shown(
    experiment: Experiment, cells: Sequence[CellResult], choices: TableChoices
) -> list[tuple[Values, dict[str, str]]]:
    """The values of single queries behind the figures of all tables, each with its data set; a
    figure's name is the label.
    """
    titles = experiment.titles
    return [
        (
            replace(results.values[figure], run=titles["system", system], label=figure.name),
            {"dataset": titles["dataset", part.name]},
        )
        for part in _datasets(experiment, cells, choices)
        for figure in part.figures
        for system, results in part.results.items()
        if figure in results.values
    ]


def notes_of_cells(cells: Sequence[CellResult]) -> list[str]:
    """Every note of the cells once, behind the cells that have it; a data set stands for all its
    cells with results.
    """
    cells_of_dataset: dict[str, list[CellResult]] = {}
    having: dict[str, list[CellResult]] = {}
    for cell in cells:
        if cell.has_results:
            cells_of_dataset.setdefault(cell.plan.cell.dataset, []).append(cell)
            for note in notes_of(cell.plan.folder):
                having.setdefault(note, []).append(cell)
    notes: list[str] = []
    for note, noted_cells in having.items():
        names: list[str] = []
        for dataset, dataset_cells in cells_of_dataset.items():
            cell_names = [
                cell.plan.cell.name for cell in noted_cells if cell.plan.cell.dataset == dataset
            ]
            names += [dataset] if len(cell_names) == len(dataset_cells) else cell_names
        notes.append(f"{', '.join(names)}: {note}")
    return notes


def side_by_side(tables: Sequence[SystemTable], title: str) -> SystemTable:
    """The tables as one, whose columns are data sets with measures."""
    units = {figure.unit for table in tables for figure in table.cells if not figure.gap}
    entries: dict[str, list[SystemFigure]] = {}
    better: dict[str, Better] = {}
    links: dict[tuple[str, str], str] = {}
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
    results: dict[str, CellFigures] = {}
    for system, folder in folders.items():
        cell_rows, values = dict[Figure, Row](), dict[Figure, Values]()
        for row in rows[system]:
            if (figure := _figure(row, apart)) not in cell_rows:
                cell_rows[figure] = row
                query_values = values_behind(row, folder.values, folder.row_attributes)
                if query_values is not None:
                    values[figure] = query_values
        results[system] = CellFigures(folder, cell_rows, values)
    figures = list(dict.fromkeys(figure for part in results.values() for figure in part.rows))
    if choices.measures:
        figures = [
            figure for name in choices.measures for figure in figures if _is_named(figure, name)
        ]
    elif not any("measure" in cell.plan.recipe["options"] for cell in cells):
        figures = figures[:1]
    return DatasetResults(name, tuple(cells), results, tuple(dict.fromkeys(figures)))


def _apart(rows: Mapping[str, Sequence[Row]]) -> dict[str, list[str]]:
    """For every label the columns of texts that distinguish its rows within one system; the run
    where nothing else does.
    """
    columns_by_label: dict[str, list[str]] = {}
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


def _compare(part: DatasetResults, choices: TableChoices) -> list[str]:
    """Finds the systems that each one is significantly better than by each figure, by the
    comparison of the data set's systems; returns notes.
    """
    values, attributes = list[Values](), list[dict[str, Any]]()
    for number, figure in enumerate(part.figures):
        for system, results in part.results.items():
            if figure in results.values:
                values.append(replace(results.values[figure], run=system))
                attributes.append({"figure": number})
    runs = {run_values.run for run_values in values}
    baseline = choices.baseline
    if baseline and baseline not in runs:
        if any(cell.plan.cell.system == baseline for cell in part.cells):
            return [f"the baseline {baseline} has no values, so that nothing is tested"]
        return []
    if len(runs) < 2:
        return []
    notes = differing([(system, results.folder) for system, results in part.results.items()])
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
        return [*notes, f"nothing is tested: {error}"]
    for winner, loser, row in winners(comparison.differences):
        part.better_than.setdefault((winner, part.figures[row["figure"]]), []).append(loser)
    return [*notes, *comparison.notes]


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
    rules: dict[str, Any] = {}
    if any(len(part.results) > 1 for part in parts):
        rules = _rules(experiment, choices, several=any(len(part.figures) > 1 for part in parts))
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
        row = part.results[system].rows.get(figure) if system in part.results else None
        if row is None:
            yield _gap(experiment, cell, figure)
            continue
        names = ("ci_low", "ci_high") if choices.intervals else ()
        losers = part.better_than.get((system, figure), ())
        yield SystemFigure(
            titles["system", system],
            titles["dataset", part.name],
            **{name: row[name] for name in ("mean", "n", "unit", "sd", *names)},
            better_than=tuple(titles["system", name] for name in losers),
        )


def _gap(experiment: Experiment, result: CellResult, figure: Figure | None = None) -> SystemFigure:
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


def _rules(experiment: Experiment, choices: TableChoices, *, several: bool) -> dict[str, Any]:
    tests = choices.tests
    pairs = "all pairs"
    secondary = ""
    if choices.baseline:
        pairs = f"every system against {experiment.titles['system', choices.baseline]}"
    if tests.family == "primary" and several:
        secondary = "; the first measure is primary, others are secondary"
    scope = "and the measures of" if tests.family == "all" else "by each measure of"
    family = f"{_CORRECTIONS[tests.correction]} over {pairs} {scope} a data set{secondary}"
    return {"test": f"{tests.test}, two-sided; {family}", "alpha": round(1 - tests.level, 12)}


def requested_measures(texts: Sequence[str]) -> tuple[str, ...]:
    """The measures in texts that may hold several, separated by blanks; a name with a part in
    brackets stays whole.
    """
    return tuple(
        dict.fromkeys(
            name for text in texts for name in ([text] if " (" in text else split_names(text))
        )
    )
