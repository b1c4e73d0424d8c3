"""The bench of systems with what each took: evaluated cells and kept results side by side by one
measure, with intervals and significance, and published figures.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from itertools import chain, combinations, compress
from pathlib import Path
from typing import Any, NamedTuple

from rankwell import reporting
from rankwell.comparison.bench import CellResult, CommandCells, evaluate_cells, plan_cells
from rankwell.comparison.bench.files import Experiment, SystemStatement
from rankwell.comparison.bench.results import (
    SUFFIXES,
    BenchOptions,
    TableChoices,
    folder_of,
    gap_of,
    rules_of_tests,
    table_choices,
)
from rankwell.comparison.data import ComparisonOptions, Origin, Pair
from rankwell.comparison.pages import write_missing_pages
from rankwell.comparison.pairwise import compare_values
from rankwell.data.catalogue import result_kinds
from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import different_rules, queries_of_some_systems
from rankwell.data.options import may_overwrite
from rankwell.data.registry import Better, suggest
from rankwell.data.tables import Values
from rankwell.errors import BadInput, BadUsage
from rankwell.evaluation.results import SCHEMA_VERSION
from rankwell.io.result_folder import (
    ResultFolder,
    read_performance,
    read_results,
    read_summary,
    values_behind,
)
from rankwell.reporting.drafts import drafting, holding, publish, refuse_foreign, refuse_unclaimed
from rankwell.reporting.options import Output, Progress
from rankwell.reporting.page import NAME as PAGE
from rankwell.reporting.system_table import (
    SystemCost,
    SystemFigure,
    SystemTable,
    link_to,
    page,
    render_system_tables,
    winners,
)
from rankwell.stats.granularity import granularity_of
from rankwell.store import split_name, write_text

_RULES = ("exclude", "ties", "contentless", "absent", "no_relevant", "marks")
_WRITTEN = [*SUFFIXES.items()][1:]
"""The formats but the first, which a terminal shows, and their suffixes."""


def evaluate_systems(
    experiment: Experiment,
    output: Path | None,
    options: BenchOptions,
    format: reporting.Format,
    style: reporting.TableStyle | None = None,
    progress: Progress = None,
) -> Output:
    """The output of a bench of costs, whose tables are in its folder.

    Superscripts are the systems that a figure is significantly better than: by the paired
    randomisation test over the queries that both have, with Holm's correction for all pairs of a
    data set. Pairs whose rules differ have different tasks and are not tested.
    """
    folder = folder_of(experiment, output)
    choices = table_choices(experiment, options)
    plain = TableChoices(tests=choices.tests, measures=choices.measures[:1])
    if choices != plain:
        raise BadInput(
            f"{experiment.file}: the table of costs has one measure, all pairs and intervals, and "
            "no means; leave out the other settings of [table], or costs, published and results."
        )
    with holding(folder):
        refuse_unclaimed(folder)
        refuse_foreign(folder, [f"table.{suffix}" for _, suffix in _WRITTEN])
        return _tabulated(experiment, folder, options, choices, format, style, progress)


def _tabulated(
    experiment: Experiment,
    folder: Path,
    options: BenchOptions,
    choices: TableChoices,
    format: reporting.Format,
    style: reporting.TableStyle | None,
    progress: Progress,
) -> Output:
    """The table, written into the folder; a cell that fails is a gap with its reason."""
    evaluated = _evaluated(experiment, folder, options, progress) if experiment.cells else []
    failed = [result for result in evaluated if result.error]
    titles = experiment.titles
    cells = [
        _Cell(result.plan.folder, titles["dataset", cell.dataset], cell.system)
        for result in evaluated
        if result.has_results
        for cell in [result.plan.cell]
    ]
    for word in experiment.table.get("results", ()):
        dataset, place = split_name(word)
        cells.append(_Cell(experiment.folder / place, dataset))
    published = _published_tables() if experiment.table.get("published") else None
    measure, label = next(iter(choices.measures), ""), ""
    run_results = _read(cells, experiment, measure)
    if run_results:
        measure, label = run_results[0].row["measure"], run_results[0].row["label"]
    elif published is not None:
        measure, label = published.measure, published.label
    if published is not None and measure != published.measure:
        raise BadUsage(
            f"the published figures are {published.measure}, the table shows {measure}; leave one "
            "out."
        )
    if experiment.has_pages:
        write_missing_pages([result.folder.place for result in run_results], progress)
    figures, findings = list[SystemFigure](), list[Finding]()
    for dataset in dict.fromkeys(result.dataset for result in run_results):
        on_dataset = [result for result in run_results if result.dataset == dataset]
        findings += _findings(dataset, on_dataset)
        better = _compared(on_dataset, choices.tests)
        figures += [result.figure(better.get(result.run, ())) for result in on_dataset]
    figures += [gap_of(experiment, result) for result in failed]
    figures += () if published is None else _published_figures(published)
    costs = [result.cost for result in run_results] if experiment.table.get("costs") else None
    rules = _rules(run_results, experiment, choices)
    system_table = SystemTable(measure, label, figures, costs, rules)
    _write(folder, system_table, run_results, findings)
    text = render_system_tables(
        [replace(system_table, style=style or reporting.TableStyle())],
        format,
        findings=findings,
        terminal=reporting.terminal_of(),
    )
    errors = [f"{result.plan.cell.name} failed: {result.error}" for result in failed]
    return Output(
        text=text,
        messages=tuple(errors),
        exit_code=2 if failed else 0,
        findings=() if format == "json" else tuple(findings),
    )


def _write(
    folder: Path,
    system_table: SystemTable,
    run_results: Sequence["_RunResult"],
    findings: Sequence[Finding],
) -> None:
    """Writes the table in every form; the files link to the pages of their cells."""
    links = {
        (result.shown, result.dataset): link_to(report, folder)
        for result in run_results
        if (report := result.folder.place / PAGE).is_file()
    }
    linked = replace(system_table, links=links)
    sources = {f"{result.run} on {result.dataset}": result.folder.source for result in run_results}
    with drafting(folder, sources.values()) as draft:
        paths = [draft / f"table.{suffix}" for _, suffix in _WRITTEN]
        for (kind, _), path in zip(_WRITTEN, paths, strict=True):
            text = (
                page([linked], findings)
                if kind == "html"
                else render_system_tables([linked], kind, findings=findings)
            )
            write_text(path, text)
        content = {
            "schema_version": SCHEMA_VERSION,
            "rules": system_table.rules,
            "inputs": {
                name: {"file": source.name, "digest": source.digest()}
                for name, source in sources.items()
            },
            "findings": [finding.as_dict() for finding in findings],
        }
        publish(folder, content, paths)


class _Cell(NamedTuple):
    """A folder of results.

    folder: where the results are.
    dataset: name of the data set; empty where the folder names it.
    system: name of the system; empty where the runs in the folder name it.
    """

    folder: Path
    dataset: str
    system: str = ""


def _evaluated(
    experiment: Experiment, folder: Path, options: BenchOptions, progress: Progress
) -> list[CellResult]:
    """The cells of the file, evaluated where they have changed. Raises BadInput where none has
    results.
    """
    with chdir(experiment.folder):
        plans = plan_cells(
            experiment, folder, only=options.only, again=may_overwrite(), progress=progress
        )
        cells = list(
            evaluate_cells(
                CommandCells(),
                plans,
                jobs=options.jobs,
                pages=experiment.has_pages,
                progress=progress,
            )
        )
    if not any(cell.has_results for cell in cells):
        raise BadInput(
            f"{experiment.file}: no cell has results; first {cells[0].plan.cell.name}: "
            f"{cells[0].error or 'left for another call'}."
        )
    return cells


def _published_tables() -> Any:
    """The published figures of the task that has some."""
    module, _, name = next(
        kind.published for kind in result_kinds().values() if kind.published
    ).partition(":")
    return getattr(import_module(module), name)()


def _published_figures(published: Any) -> Iterator[SystemFigure]:
    for system, dataset, figure in published.systems:
        n_queries = published.datasets[dataset].queries
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
        performance = read_performance(self.folder)
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


def _read(cells: Sequence[_Cell], experiment: Experiment, measure: str) -> list[_RunResult]:
    """Every run of every folder. Raises BadInput for a measure that one lacks, for two results of a
    run on a data set, and for a system of the file that has none.

    measure: the measure of the table; "" for the first of the first folder.
    """
    statements = {**experiment.statements} | {
        cell.system: experiment.statements[cell.entry]._replace(
            title=experiment.titles["system", cell.system]
        )
        for cell in experiment.cells
    }
    run_results: dict[tuple[str, str], _RunResult] = {}
    for cell in cells:
        path, folder = cell.folder, read_results(cell.folder)
        summary = read_summary(folder)
        dataset = cell.dataset or str(folder.rules.get("dataset") or "")
        if not dataset:
            raise BadInput(
                f"{path} does not say which data set it is for; name it, as DATASET={path}."
            )
        for run in folder.runs:
            rows = [row for row in summary if row["run"] == run]
            measure = measure or rows[0]["label"]
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
    runs = {run for run, _ in run_results}
    entries = {cell.entry for cell in experiment.cells}
    for name in experiment.statements:
        if name not in runs | entries:
            raise BadInput(
                f"{experiment.file}: system {name!r} is no run of any result; {suggest(name, runs)}"
            )
    measures = list(dict.fromkeys(result.row["measure"] for result in run_results.values()))
    if len(measures) > 1:
        raise BadInput(
            f"{measure} is {measures[0]} in one folder and {measures[1]} in another; name it "
            "exactly."
        )
    return list(run_results.values())


def _compared(
    on_dataset: Sequence[_RunResult], tests: ComparisonOptions
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
    comparison = compare_values(
        values,
        options=replace(tests, intervals="none"),
        pairs=pairs,
        origin=Origin(better=directions),
    )
    titles = {result.run: result.shown for result in on_dataset}
    better: dict[str, tuple[str, ...]] = {}
    for winner, loser, _ in winners(comparison.differences):
        better[winner] = (*better.get(winner, ()), titles[loser])
    return better


def _findings(dataset: str, on_dataset: Sequence[_RunResult]) -> Iterator[Finding]:
    """The findings on the queries and the rules in which the systems of a data set differ. Raises
    BadInput where they have no query in common.
    """
    queries = [result.queries for result in on_dataset]
    common = set.intersection(*queries)
    if len(common) < len(set.union(*queries)):
        sizes = " and ".join(map(str, sorted(set(map(len, queries)))))
        difference = f"{dataset}: the systems have {sizes} queries, {len(common)} in common"
        if not common:
            raise BadInput(
                f"{difference}; they were evaluated on different data sets, name each, as "
                "DATASET=FOLDER."
            )
        yield queries_of_some_systems(difference)
    for rule in dict.fromkeys(chain.from_iterable(result.question for result in on_dataset)):
        systems: dict[str, list[str]] = {}
        for result in on_dataset:
            if rule in result.question:
                systems.setdefault(result.question[rule], []).append(result.shown)
        if len(systems) > 1:
            sides = [f"{value} ({', '.join(names)})" for value, names in systems.items()]
            yield different_rules(
                f"{dataset}: {rule} differs, {' against '.join(sides)}; such systems have "
                "different tasks and are not tested"
            )


def _rules(
    run_results: Sequence[_RunResult], experiment: Experiment, choices: TableChoices
) -> dict[str, Any]:
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
        rules |= rules_of_tests(experiment, choices, several=False)
    if experiment.table.get("published"):
        rules["published"] = "as its source printed it, on its own queries"
    return rules
