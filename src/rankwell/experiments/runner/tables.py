"""Results of cells -> tables of systems × data sets: figures, significant differences, and words
for gaps.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum
from typing import Any, NamedTuple

from rankwell.core.parameters import split_names
from rankwell.core.registry import Better, suggest
from rankwell.core.tables import Values
from rankwell.errors import RankwellError, UnknownName
from rankwell.experiments.comparison.data import ComparisonOptions, Origin
from rankwell.experiments.comparison.folders import differing
from rankwell.experiments.comparison.matrices import exact_name, known_better
from rankwell.experiments.comparison.pairwise import compare_values
from rankwell.experiments.comparison.rows import winners
from rankwell.experiments.files import Experiment
from rankwell.experiments.runner import CellResult, notes_of
from rankwell.io.result_folder import ResultFolder, read_results, read_summary, values_behind
from rankwell.report import SUMMARY_COLUMNS, Row
from rankwell.report.system_table import NO_FIGURE, SystemFigure, SystemTable

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
    shown: tuple[Figure, ...]

    @cached_property
    def better(self) -> dict[Figure, Better]:
        """The better direction of each figure, as far as folders or measures state it."""
        found: dict[Figure, Better] = {}
        for figure in self.shown:
            stated: list[Better | None] = [
                each.folder.better.get(figure.measure) for each in self.results.values()
            ]
            better = next(filter(None, stated), None) or known_better(figure.measure)
            if better is not None:
                found[figure] = better
        return found


def make_tables(
    experiment: Experiment, cells: Sequence[CellResult], shown: TableChoices
) -> tuple[tuple[SystemTable, ...], tuple[str, ...]]:
    """A table for every figure that is shown, with notes; the working directory is that of the
    results. Raises UnknownName.
    """
    parts = [
        _on_dataset(name, [each for each in cells if each.plan.cell.dataset == name], shown)
        for name in experiment.datasets
    ]
    known = {figure for part in parts for each in part.results.values() for figure in each.rows}
    for name in shown.measures if all(part.results for part in parts) else ():
        if not any(_is_named(figure, name) for figure in known):
            raise UnknownName(
                f"no result has a measure {name!r}; "
                f"{suggest(name, {figure.name for figure in known})}"
            )
    better: dict[tuple[str, str, Figure], tuple[str, ...]] = {}
    notes: list[str] = []
    for part in parts:
        found, own_notes = _compared(part, shown)
        better |= found
        notes += [f"{part.name}: {note}" for note in own_notes]
        if part.results and not part.shown:
            notes.append(
                f"{part.name}: none of {', '.join(shown.measures)}, so that no table shows it"
            )
    entries = list(dict.fromkeys(figure for part in parts for figure in part.shown))
    made = [_table(experiment, figure, parts, better, shown) for figure in entries]
    empty = [part for part in parts if not part.results]
    if empty:
        # A data set without any result is in no table of its own; the first one says that it is
        # missing.
        first = (
            made[0]
            if made
            else SystemTable(
                "",
                "–",
                [],
                None,
                systems=[experiment.titles["system", name] for name in experiment.systems],
            )
        )
        gaps = [_gap(experiment, each) for part in empty for each in part.cells]
        made[:1] = [replace(first, cells=[*first.cells, *gaps])]
    return tuple(made), tuple(dict.fromkeys(notes))


def values_shown(
    experiment: Experiment, cells: Sequence[CellResult], shown: TableChoices
) -> list[tuple[Values, dict[str, str]]]:
    """The values of single queries behind the figures of all tables, each with its data set; a
    figure's name is the label.
    """
    parts = [
        _on_dataset(name, [each for each in cells if each.plan.cell.dataset == name], shown)
        for name in experiment.datasets
    ]
    return [
        (
            replace(
                each.values[figure], run=experiment.titles["system", system], label=figure.name
            ),
            {"dataset": experiment.titles["dataset", part.name]},
        )
        for part in parts
        for figure in part.shown
        for system, each in part.results.items()
        if figure in each.values
    ]


def notes_of_cells(cells: Sequence[CellResult]) -> list[str]:
    """Every note of the cells once, behind the cells that have it; a data set stands for all its
    cells with results.
    """
    every: dict[str, list[CellResult]] = {}
    having: dict[str, list[CellResult]] = {}
    for each in cells:
        if each.has_results:
            every.setdefault(each.plan.cell.dataset, []).append(each)
            for note in notes_of(each.plan.folder):
                having.setdefault(note, []).append(each)
    found: list[str] = []
    for note, those in having.items():
        names: list[str] = []
        for dataset, whole in every.items():
            own = [each.plan.cell.name for each in those if each.plan.cell.dataset == dataset]
            names += [dataset] if len(own) == len(whole) else own
        found.append(f"{', '.join(names)}: {note}")
    return found


def side_by_side(tables: Sequence[SystemTable], title: str) -> SystemTable:
    """The tables as one, whose columns are data sets with measures."""
    units = {each.unit for table in tables for each in table.cells if not each.gap}
    entries: list[SystemFigure] = []
    better: dict[str, Better] = {}
    links: dict[tuple[str, str], str] = {}
    for table in tables:
        for each in table.cells:
            cells = {
                known.unit
                for known in table.cells
                if known.dataset == each.dataset and not known.gap
            }
            unit = " (%)" if "percent" in cells and len(units) > 1 else ""
            name = f"{each.dataset}: {table.label}{unit}"
            entries.append(each._replace(dataset=name))
            if each.dataset in table.better:
                better[name] = table.better[each.dataset]
            if (each.system, each.dataset) in table.links:
                links[each.system, name] = table.links[each.system, each.dataset]
    order = {
        name: place for place, name in enumerate(dict.fromkeys(each.dataset for each in entries))
    }
    entries.sort(key=lambda each: order[each.dataset])
    return replace(
        tables[0],
        measure="",
        label="",
        cells=entries,
        better=better,
        links=links,
        name=title or "All measures",
    )


def _on_dataset(name: str, cells: Sequence[CellResult], shown: TableChoices) -> DatasetResults:
    folders = {each.plan.cell.system: each.plan.cell for each in cells if each.has_results}
    read = {system: read_results(cell.name) for system, cell in folders.items()}
    rows = {
        system: [row for row in read_summary(folder) if not row.get("against")]
        for system, folder in read.items()
    }
    apart = _apart(rows)
    results: dict[str, CellFigures] = {}
    for system, folder in read.items():
        own = {_figure(row, apart): row for row in reversed(rows[system])}
        found = {
            figure: values_behind(row, folder.values, folder.row_attributes)
            for figure, row in own.items()
        }
        results[system] = CellFigures(
            folder,
            dict(reversed(own.items())),
            {figure: each for figure, each in found.items() if each is not None},
        )
    known = list(dict.fromkeys(figure for each in results.values() for figure in each.rows))
    if shown.measures:
        chosen = [figure for name in shown.measures for figure in known if _is_named(figure, name)]
    else:
        named = any("measure" in each.plan.recipe["options"] for each in cells)
        chosen = known if named else known[:1]
    return DatasetResults(name, tuple(cells), results, tuple(dict.fromkeys(chosen)))


def _apart(rows: Mapping[str, Sequence[Row]]) -> dict[str, list[str]]:
    """For every label the columns of texts that distinguish its rows within one system; the run
    where nothing else does.
    """
    found: dict[str, list[str]] = {}
    for label in dict.fromkeys(row["label"] for each in rows.values() for row in each):
        alike = [[row for row in each if row["label"] == label] for each in rows.values()]
        names = [
            name
            for name in dict.fromkeys(name for each in alike for row in each for name in row)
            if name not in _NO_FACT
        ]
        texts = [
            name
            for name in names
            if all(isinstance(row.get(name), str | None) for each in alike for row in each)
        ]
        chosen = [
            name
            for name in texts
            if any(len({row.get(name) for row in each}) > 1 for each in alike)
        ]
        if any(
            len({(row["measure"], *(row.get(name) for name in chosen)) for row in each}) < len(each)
            for each in alike
        ):
            chosen.append("run")
        found[label] = chosen
    return found


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
    part: DatasetResults, shown: TableChoices
) -> tuple[dict[tuple[str, str, Figure], tuple[str, ...]], list[str]]:
    """The systems that each one is significantly better than by each figure, by the comparison of
    the data set's systems.
    """
    values, attributes = list[Values](), list[dict[str, Any]]()
    for place, figure in enumerate(part.shown):
        for system, each in part.results.items():
            if figure in each.values:
                values.append(replace(each.values[figure], run=system))
                attributes.append({"figure": place})
    runs = {each.run for each in values}
    if shown.baseline and shown.baseline in {each.plan.cell.system for each in part.cells} - runs:
        return {}, [f"the baseline {shown.baseline} has no values, so that nothing is tested"]
    if len(runs) < 2 or (shown.baseline and shown.baseline not in runs):
        return {}, []
    notes = differing([(system, each.folder) for system, each in part.results.items()])
    try:
        found = compare_values(
            values,
            replace(shown.tests, baseline=shown.baseline or None, intervals="none"),
            row_attributes=attributes,
            origin=Origin(
                better={figure.measure: better for figure, better in part.better.items()}
            ),
        )
    except RankwellError as error:
        return {}, [*notes, f"nothing is tested: {error}"]
    better: dict[tuple[str, str, Figure], tuple[str, ...]] = {}
    for winner, loser, row in winners(found.differences):
        key = (part.name, winner, part.shown[row["figure"]])
        better[key] = (*better.get(key, ()), loser)
    return better, [*notes, *found.notes]


def _table(
    experiment: Experiment,
    figure: Figure,
    parts: Sequence[DatasetResults],
    better: Mapping[tuple[str, str, Figure], tuple[str, ...]],
    shown: TableChoices,
) -> SystemTable:
    mine = [part for part in parts if figure in part.shown]
    entries = [cell for part in mine for cell in _cells(experiment, figure, part, better, shown)]
    column = f"mean of {len(mine)} data sets"
    if shown.mean and len(mine) > 1:
        entries += _means(entries, column, len(mine))
    known: dict[str, Better] = {
        experiment.titles["dataset", part.name]: part.better[figure]
        for part in mine
        if figure in part.better
    }
    if len(known) == len(mine):
        known[column] = next(iter(known.values()))
    return SystemTable(
        figure.measure,
        figure.name,
        entries,
        None,
        _rules(experiment, shown, several=any(len(part.shown) > 1 for part in mine))
        if any(len(part.results) > 1 for part in mine)
        else {},
        better=known,
        systems=[experiment.titles["system", name] for name in experiment.systems],
        name=figure.name,
    )


def _cells(
    experiment: Experiment,
    figure: Figure,
    part: DatasetResults,
    better: Mapping[tuple[str, str, Figure], tuple[str, ...]],
    shown: TableChoices,
) -> Iterator[SystemFigure]:
    for each in part.cells:
        system = each.plan.cell.system
        row = part.results[system].rows.get(figure) if system in part.results else None
        if row is None:
            yield _gap(experiment, each, figure)
            continue
        low, high = (row["ci_low"], row["ci_high"]) if shown.intervals else (None, None)
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


def _gap(experiment: Experiment, each: CellResult, figure: Figure | None = None) -> SystemFigure:
    """The word in place of a missing figure, and why it is missing."""
    cell = each.plan.cell
    lacking = figure if each.has_results else None
    gap, why = (
        (each.status, each.error)
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
    for system in dict.fromkeys(each.system for each in entries):
        own = [each for each in entries if each.system == system and each.mean is not None]
        if len(own) == number and len({each.unit for each in own}) == 1:
            yield SystemFigure(
                system, column, fsum(each.mean or 0.0 for each in own) / number, None, own[0].unit
            )


def _rules(experiment: Experiment, shown: TableChoices, *, several: bool) -> dict[str, Any]:
    pairs = (
        f"every system against {experiment.titles['system', shown.baseline]}"
        if shown.baseline
        else "all pairs"
    )
    whole = "and the measures of" if shown.tests.family == "all" else "by each measure of"
    secondary = (
        "; the first measure is primary, others are secondary"
        if shown.tests.family == "primary" and several
        else ""
    )
    family = f"{_CORRECTIONS[shown.tests.correction]} over {pairs} {whole} a data set{secondary}"
    return {
        "test": f"{shown.tests.test}, two-sided; {family}",
        "alpha": round(1 - shown.tests.level, 12),
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
