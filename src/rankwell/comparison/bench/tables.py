"""Results of cells -> tables of systems × data sets: figures, significant differences, and words
for gaps.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum
from typing import Any, NamedTuple

from rankwell.comparison.bench import CellResult, notes_of
from rankwell.comparison.bench.files import Experiment
from rankwell.comparison.data import ComparisonOptions, Origin
from rankwell.comparison.folders import differing
from rankwell.comparison.matrices import exact_name, known_better
from rankwell.comparison.pairwise import compare_values
from rankwell.comparison.rows import winners
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
    """All cells of a data set. results: those that have any, by system."""

    name: str
    cells: tuple[CellResult, ...]
    results: Mapping[str, CellFigures]
    figures: tuple[Figure, ...]

    @cached_property
    def better(self) -> dict[Figure, Better]:
        """The better direction of each figure, as far as folders or measures state it."""
        directions: dict[Figure, Better] = {}
        for figure in self.figures:
            stated: list[Better | None] = [
                cell_figures.folder.better.get(figure.measure)
                for cell_figures in self.results.values()
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
    parts = [
        _on_dataset(name, [cell for cell in cells if cell.plan.cell.dataset == name], choices)
        for name in experiment.datasets
    ]
    all_figures = {
        figure
        for part in parts
        for cell_figures in part.results.values()
        for figure in cell_figures.rows
    }
    for name in choices.measures if all(part.results for part in parts) else ():
        if not any(_is_named(figure, name) for figure in all_figures):
            raise UnknownName(
                f"no result has a measure {name!r}; "
                f"{suggest(name, {figure.name for figure in all_figures})}"
            )
    better: dict[tuple[str, str, Figure], tuple[str, ...]] = {}
    notes: list[str] = []
    for part in parts:
        part_better, part_notes = _compared(part, choices)
        better |= part_better
        notes += [f"{part.name}: {note}" for note in part_notes]
        if part.results and not part.figures:
            notes.append(
                f"{part.name}: none of {', '.join(choices.measures)}, so that no table shows it"
            )
    entries = list(dict.fromkeys(figure for part in parts for figure in part.figures))
    tables = [_table(experiment, figure, parts, better, choices) for figure in entries]
    empty = [part for part in parts if not part.results]
    if empty:
        # A data set without any result is in no table of its own; the first one says that it is
        # missing.
        first = (
            tables[0]
            if tables
            else SystemTable(
                "",
                "–",
                [],
                None,
                systems=[experiment.titles["system", name] for name in experiment.systems],
            )
        )
        gaps = [_gap(experiment, cell) for part in empty for cell in part.cells]
        tables[:1] = [replace(first, cells=[*first.cells, *gaps])]
    return tuple(tables), tuple(dict.fromkeys(notes))


def values_shown(
    experiment: Experiment, cells: Sequence[CellResult], choices: TableChoices
) -> list[tuple[Values, dict[str, str]]]:
    """The values of single queries behind the figures of all tables, each with its data set; a
    figure's name is the label.
    """
    parts = [
        _on_dataset(name, [cell for cell in cells if cell.plan.cell.dataset == name], choices)
        for name in experiment.datasets
    ]
    return [
        (
            replace(
                cell_figures.values[figure],
                run=experiment.titles["system", system],
                label=figure.name,
            ),
            {"dataset": experiment.titles["dataset", part.name]},
        )
        for part in parts
        for figure in part.figures
        for system, cell_figures in part.results.items()
        if figure in cell_figures.values
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
    entries: list[SystemFigure] = []
    better: dict[str, Better] = {}
    links: dict[tuple[str, str], str] = {}
    for table in tables:
        for figure in table.cells:
            cells = {
                other_figure.unit
                for other_figure in table.cells
                if other_figure.dataset == figure.dataset and not other_figure.gap
            }
            unit = " (%)" if "percent" in cells and len(units) > 1 else ""
            name = f"{figure.dataset}: {table.label}{unit}"
            entries.append(figure._replace(dataset=name))
            if figure.dataset in table.better:
                better[name] = table.better[figure.dataset]
            if (figure.system, figure.dataset) in table.links:
                links[figure.system, name] = table.links[figure.system, figure.dataset]
    order = {
        name: position
        for position, name in enumerate(dict.fromkeys(figure.dataset for figure in entries))
    }
    entries.sort(key=lambda figure: order[figure.dataset])
    return replace(
        tables[0],
        measure="",
        label="",
        cells=entries,
        better=better,
        links=links,
        name=title or "All measures",
    )


def _on_dataset(name: str, cells: Sequence[CellResult], choices: TableChoices) -> DatasetResults:
    folders = {cell.plan.cell.system: cell.plan.cell for cell in cells if cell.has_results}
    read = {system: read_results(cell.name) for system, cell in folders.items()}
    rows = {
        system: [row for row in read_summary(folder) if not row.get("against")]
        for system, folder in read.items()
    }
    apart = _apart(rows)
    results: dict[str, CellFigures] = {}
    for system, folder in read.items():
        rows_by_figure = {_figure(row, apart): row for row in reversed(rows[system])}
        values_by_figure = {
            figure: values_behind(row, folder.values, folder.row_attributes)
            for figure, row in rows_by_figure.items()
        }
        results[system] = CellFigures(
            folder,
            dict(reversed(rows_by_figure.items())),
            {figure: values for figure, values in values_by_figure.items() if values is not None},
        )
    all_figures = list(
        dict.fromkeys(figure for cell_figures in results.values() for figure in cell_figures.rows)
    )
    if choices.measures:
        shown_figures = [
            figure for name in choices.measures for figure in all_figures if _is_named(figure, name)
        ]
    else:
        has_measures = any("measure" in cell.plan.recipe["options"] for cell in cells)
        shown_figures = all_figures if has_measures else all_figures[:1]
    return DatasetResults(name, tuple(cells), results, tuple(dict.fromkeys(shown_figures)))


def _apart(rows: Mapping[str, Sequence[Row]]) -> dict[str, list[str]]:
    """For every label the columns of texts that distinguish its rows within one system; the run
    where nothing else does.
    """
    columns_by_label: dict[str, list[str]] = {}
    for label in dict.fromkeys(
        row["label"] for system_rows in rows.values() for row in system_rows
    ):
        rows_by_system = [
            [row for row in system_rows if row["label"] == label] for system_rows in rows.values()
        ]
        names = [
            name
            for name in dict.fromkeys(
                name for system_rows in rows_by_system for row in system_rows for name in row
            )
            if name not in _NO_FACT
        ]
        texts = [
            name
            for name in names
            if all(
                isinstance(row.get(name), str | None)
                for system_rows in rows_by_system
                for row in system_rows
            )
        ]
        key_columns = [
            name
            for name in texts
            if any(
                len({row.get(name) for row in system_rows}) > 1 for system_rows in rows_by_system
            )
        ]
        if any(
            len({(row["measure"], *(row.get(name) for name in key_columns)) for row in system_rows})
            < len(system_rows)
            for system_rows in rows_by_system
        ):
            key_columns.append("run")
        columns_by_label[label] = key_columns
    return columns_by_label


def _figure(row: Row, apart: Mapping[str, Sequence[str]]) -> Figure:
    parts = [str(row[name]) for name in apart[row["label"]] if row.get(name) is not None]
    return Figure(f"{row['label']} ({', '.join(parts)})" if parts else row["label"], row["measure"])


def _is_named(figure: Figure, name: str) -> bool:
    return (
        name == figure.name
        or figure.name.startswith(f"{name} (")
        or figure.measure in (name, exact_name(name))
    )


def _compared(
    part: DatasetResults, choices: TableChoices
) -> tuple[dict[tuple[str, str, Figure], tuple[str, ...]], list[str]]:
    """The systems that each one is significantly better than by each figure, by the comparison of
    the data set's systems.
    """
    values, attributes = list[Values](), list[dict[str, Any]]()
    for number, figure in enumerate(part.figures):
        for system, cell_figures in part.results.items():
            if figure in cell_figures.values:
                values.append(replace(cell_figures.values[figure], run=system))
                attributes.append({"figure": number})
    runs = {run_values.run for run_values in values}
    if (
        choices.baseline
        and choices.baseline in {cell.plan.cell.system for cell in part.cells} - runs
    ):
        return {}, [f"the baseline {choices.baseline} has no values, so that nothing is tested"]
    if len(runs) < 2 or (choices.baseline and choices.baseline not in runs):
        return {}, []
    notes = differing(
        [(system, cell_figures.folder) for system, cell_figures in part.results.items()]
    )
    try:
        comparison = compare_values(
            values,
            replace(choices.tests, baseline=choices.baseline or None, intervals="none"),
            row_attributes=attributes,
            origin=Origin(
                better={figure.measure: better for figure, better in part.better.items()}
            ),
        )
    except RankwellError as error:
        return {}, [*notes, f"nothing is tested: {error}"]
    better: dict[tuple[str, str, Figure], tuple[str, ...]] = {}
    for winner, loser, row in winners(comparison.differences):
        key = (part.name, winner, part.figures[row["figure"]])
        better[key] = (*better.get(key, ()), loser)
    return better, [*notes, *comparison.notes]


def _table(
    experiment: Experiment,
    figure: Figure,
    parts: Sequence[DatasetResults],
    better: Mapping[tuple[str, str, Figure], tuple[str, ...]],
    choices: TableChoices,
) -> SystemTable:
    shown_parts = [part for part in parts if figure in part.figures]
    entries = [
        cell for part in shown_parts for cell in _cells(experiment, figure, part, better, choices)
    ]
    column = f"mean of {len(shown_parts)} data sets"
    if choices.mean and len(shown_parts) > 1:
        entries += _means(entries, column, len(shown_parts))
    directions: dict[str, Better] = {
        experiment.titles["dataset", part.name]: part.better[figure]
        for part in shown_parts
        if figure in part.better
    }
    if len(directions) == len(shown_parts):
        directions[column] = next(iter(directions.values()))
    return SystemTable(
        figure.measure,
        figure.name,
        entries,
        None,
        _rules(experiment, choices, several=any(len(part.figures) > 1 for part in shown_parts))
        if any(len(part.results) > 1 for part in shown_parts)
        else {},
        better=directions,
        systems=[experiment.titles["system", name] for name in experiment.systems],
        name=figure.name,
    )


def _cells(
    experiment: Experiment,
    figure: Figure,
    part: DatasetResults,
    better: Mapping[tuple[str, str, Figure], tuple[str, ...]],
    choices: TableChoices,
) -> Iterator[SystemFigure]:
    for cell in part.cells:
        system = cell.plan.cell.system
        row = part.results[system].rows.get(figure) if system in part.results else None
        if row is None:
            yield _gap(experiment, cell, figure)
            continue
        low, high = (row["ci_low"], row["ci_high"]) if choices.intervals else (None, None)
        yield SystemFigure(
            experiment.titles["system", system],
            experiment.titles["dataset", part.name],
            row["mean"],
            row["n"],
            row["unit"],
            low,
            high,
            row["sd"],
            tuple(
                experiment.titles["system", name]
                for name in better.get((part.name, system, figure), ())
            ),
        )


def _gap(experiment: Experiment, result: CellResult, figure: Figure | None = None) -> SystemFigure:
    """The word in place of a missing figure, and why it is missing."""
    cell = result.plan.cell
    lacking = figure if result.has_results else None
    gap, why = (
        (result.status, result.error)
        if lacking is None
        else (NO_FIGURE, f"its results have no {lacking.name}")
    )
    return SystemFigure(
        experiment.titles["system", cell.system],
        experiment.titles["dataset", cell.dataset],
        None,
        None,
        "",
        gap=gap,
        why=why,
    )


def _means(entries: Sequence[SystemFigure], column: str, number: int) -> Iterator[SystemFigure]:
    """The plain mean of every system that has a figure on all data sets."""
    for system in dict.fromkeys(figure.system for figure in entries):
        system_figures = [
            figure for figure in entries if figure.system == system and figure.mean is not None
        ]
        if len(system_figures) == number and len({figure.unit for figure in system_figures}) == 1:
            yield SystemFigure(
                system,
                column,
                fsum(figure.mean or 0.0 for figure in system_figures) / number,
                None,
                system_figures[0].unit,
            )


def _rules(experiment: Experiment, choices: TableChoices, *, several: bool) -> dict[str, Any]:
    pairs = (
        f"every system against {experiment.titles['system', choices.baseline]}"
        if choices.baseline
        else "all pairs"
    )
    scope_text = "and the measures of" if choices.tests.family == "all" else "by each measure of"
    secondary = (
        "; the first measure is primary, others are secondary"
        if choices.tests.family == "primary" and several
        else ""
    )
    family = (
        f"{_CORRECTIONS[choices.tests.correction]} over {pairs} {scope_text} a data set{secondary}"
    )
    return {
        "test": f"{choices.tests.test}, two-sided; {family}",
        "alpha": round(1 - choices.tests.level, 12),
    }


def requested_measures(texts: Sequence[str]) -> tuple[str, ...]:
    """The measures in texts that may hold several, separated by blanks; a name with a part in
    brackets stays whole.
    """
    return tuple(
        dict.fromkeys(
            name for text in texts for name in ([text] if " (" in text else split_names(text))
        )
    )
