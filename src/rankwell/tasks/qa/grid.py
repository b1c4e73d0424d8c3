"""Grids: the bench of retrievers and readers over parameters, from result files or by running them;
interrupted runs resume.
"""

import inspect
import json
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwell import __version__, reporting
from rankwell.comparison import bench
from rankwell.comparison.bench.files import Cell, Experiment, written
from rankwell.comparison.bench.results import BenchOptions, folder_of
from rankwell.data.code import code_name, load_object
from rankwell.data.findings import Finding
from rankwell.data.options import may_overwrite
from rankwell.data.rankings import Ranking
from rankwell.data.registry import suggest
from rankwell.data.tables import grouped
from rankwell.errors import BadInput, BadUsage, RankwellError, kind_of
from rankwell.io.formats import read_ranking
from rankwell.reporting.charts import write_charts
from rankwell.reporting.drafts import drafting, holding, publish, refuse_foreign, refuse_unclaimed
from rankwell.reporting.line_charts import parameter_chart
from rankwell.reporting.options import Output, Progress
from rankwell.store import Source, write_text
from rankwell.tasks.qa.answer_pairs import Predictions, Questions
from rankwell.tasks.qa.evaluation import evaluate_qa
from rankwell.tasks.qa.formats import read_questions

_SHOWN = 6
_RESULTS = "results.csv"
_SEARCHED = ("Best(", "BestThreshold(", "AnswerAP(")
_FILES = ("gold", "predictions", "retrieved")
_RECORDED = ("rows", "findings", "seconds", "date", "hostname")
_TRACES = ("seconds", "date", "hostname", "experiment_id")
_FIGURE = ("run", "label", "mean", "sd", "ci_low", "ci_high", "n", "unit")
_RESERVED = (*_FIGURE, "system", "measure", "seconds", "date", "hostname")

Row = dict[str, Any]


class GridPoint(NamedTuple):
    """One point of a grid.

    run: the title of its system, with the parameters that vary.
    cell: the combination of parameters and options, as the experiment file gives it.
    files: path by name, among `gold`, `predictions` and `retrieved`.
    settings: the other options of the evaluation.
    """

    run: str
    cell: Cell
    files: Mapping[str, str]
    settings: Mapping[str, Any]

    @property
    def values(self) -> Row:
        """The parameters and settings by name."""
        return {**self.cell.parameters, **self.settings}


class PointResult(NamedTuple):
    """The result of a point.

    point: the evaluated point.
    rows: rows of the summary.
    findings: facts of the findings of the evaluation.
    seconds: time that the callable took; None for files.
    date: date of the evaluation, in UTC.
    hostname: name of the machine that evaluated it.
    reused: whether the result is from an earlier run.
    """

    point: GridPoint
    rows: Sequence[Row]
    findings: Sequence[Mapping[str, Any]]
    seconds: float | None
    date: str
    hostname: str
    reused: bool

    @property
    def figures(self) -> dict[str, Row]:
        """The summary rows by label."""
        return figures_of(self.rows)

    @property
    def experiment_id(self) -> str:
        """The same for the same system, parameters and settings, whatever their files hold."""
        cell, settings = self.point.cell, self.point.settings
        return bench.key_of([cell.entry, dict(cell.parameters), dict(settings)])[:12]


def evaluate_grid(
    experiment: Experiment,
    output: Path | None,
    options: BenchOptions,
    format: reporting.Format,
    progress: Progress = None,
) -> Output:
    """The output of a grid: a row for each run, whose tables, charts and finished work are in the
    folder of the bench.

    A callable gets the questions and a point's parameters by name, and returns a ranking ({id:
    {document: score}} or a Ranking), answers ({id: string or list of strings} or Predictions), or a
    pair of both (docs/guide/question-answering.md).
    """
    folder, results = folder_of(experiment, output), list[PointResult]()
    with holding(folder):
        refuse_unclaimed(folder, (_RESULTS,))
        if not (folder / "kept").is_dir():
            refuse_foreign(folder, (_RESULTS, "summary.csv"))
        with chdir(experiment.folder):
            for result in run_grid(
                experiment,
                folder / "kept",
                again=may_overwrite(),
                jobs=options.jobs,
                progress=progress,
            ):
                results.append(result)
                write_text(folder / _RESULTS, reporting.render_rows(wide(results), "csv"))
        return _output(results, experiment, folder, format)


def run_grid(
    experiment: Experiment,
    folder: Path,
    *,
    again: bool = False,
    jobs: int = 1,
    progress: Progress = None,
) -> Iterator[PointResult]:
    """The result of every cell, in the file's order; all are checked before the first is evaluated.

    folder: of finished work, absolute; results are kept by their recipe, and answers of a callable
    by theirs (docs/guide/question-answering.md). Raises BadUsage and BadInput with the name of
    the point for whatever is unknown, missing or fails.
    """
    if len(experiment.datasets) > 1:
        raise BadInput(f"{experiment.file}: {len(experiment.datasets)} data sets; a grid has one.")
    options = set(inspect.signature(evaluate_qa).parameters) - {*_FILES, "options", "progress"}
    points = [_point(cell, experiment, options) for cell in experiment.cells]
    # A model of hundreds of megabytes may be part of every point.
    digest = cache(bench.content_of)
    content = lru_cache(maxsize=None, typed=True)(bench.value_content)
    plans: list[bench.PlannedCell] = []
    for point in points:
        recipe = _recipe(point, digest, content)
        record = folder / "rows" / bench.record_name(recipe)
        why = ("requested",) if again else bench.reasons(recipe, record)
        group, inputs = bench.key_of(recipe[0]), tuple(map(Path, point.files.values()))
        plans.append(
            bench.PlannedCell(point.cell, recipe, record, point, group, why, inputs=inputs)
        )
    kind = GridCells(experiment.file, folder, again)
    results = bench.evaluate_cells(kind, plans, jobs=jobs, progress=progress)
    for plan, result in zip(plans, results, strict=True):
        record = bench.read_record(plan.record)
        recorded = {name: record[name] for name in _RECORDED}
        yield PointResult(plan.work, **recorded, reused=result.status == "kept")


def _point(cell: Cell, experiment: Experiment, options: set[str]) -> GridPoint:
    """The point of a cell. Raises BadInput and BadUsage for what cannot be evaluated."""
    values = {name: option.value for name, option in cell.options.items()}
    files = {name: str(values[name]) for name in _FILES if values.get(name)}
    settings = {name: value for name, value in values.items() if name not in _FILES}
    if "gold" not in files:
        raise BadInput(
            f"{experiment.file}: dataset {cell.dataset!r}: gold is missing; expected a string."
        )
    if bool(cell.call) == (len(files) > 1):
        state = "both a call and files" if cell.call else "neither a call nor files"
        raise BadInput(
            f"{cell.where} has {state}; give `call`, or `predictions` and `retrieved` or one "
            "of them."
        )
    for name in (*cell.parameters, *settings):
        if name in _RESERVED:
            raise BadInput(
                f"{cell.where}: a parameter cannot be named {name!r}, like a column of the "
                "results; rename it."
            )
    for name in settings:
        if name not in options:
            raise BadUsage(f"{cell.options[name].where}: unknown option; {suggest(name, options)}")
    for name, file in files.items():
        if not Path(file).exists():
            raise BadInput(f"{cell.options[name].where}: there is no file {file}; make it first.")
    try:
        if cell.call:
            inspect.signature(load_object(cell.call)).bind(None, **cell.parameters)
    except BadUsage as error:
        raise BadUsage(f"{cell.where}: call: {error}") from error
    except (TypeError, ValueError) as error:
        raise BadUsage(
            f"{cell.where}: {cell.call} cannot be called with the questions and these "
            f"parameters: {error}."
        ) from error
    return GridPoint(experiment.titles["system", cell.system], cell, files, settings)


def _recipe(
    point: GridPoint, digest: Callable[[Path], str], content: Callable[[Any], Any]
) -> list[Any]:
    """Everything that decides the results: what decides the answers, and the settings."""
    cell = point.cell
    inputs = {name: digest(Path(file)) for name, file in point.files.items()}
    if code := code_name(cell.call):
        # The module that defines the callable, and the one that it is named by.
        home = load_object(cell.call).__module__
        modules = {code.module: home} if code.is_file else {code.module: code.module, home: home}
        inputs |= {f"source of {name}": bench.source_of(module) for name, module in modules.items()}
    # A callable is known by its whole package and the modules beside it that these import, a value
    # that names a file by content.
    parameters = {name: content(value) for name, value in cell.parameters.items()}
    settings = {
        name: value if isinstance(value, list) else content(value)
        for name, value in point.settings.items()
    }
    return [bench.recipe(cell.call, parameters, inputs), settings]


@dataclass(frozen=True)
class GridCells:
    """The cells of a grid. Cells of one group share their answers.

    file: the experiment file, for messages.
    folder: absolute path of the folder of finished work.
    again: whether answers of earlier runs are ignored.
    """

    file: str
    folder: Path
    again: bool

    def evaluate(self, cells: Sequence[bench.PlannedCell], _: Progress, /) -> Iterator[str]:
        """Evaluates the points and writes their rows. Raises BadInput and others with the name of
        the point.
        """
        answers: Row | None = None
        for planned in cells:
            point: GridPoint = planned.work
            inputs: Row = {name: point.files.get(name) for name in _FILES}
            try:
                if point.cell.call:
                    answers = answers or self._answers(planned)
                    tables = {
                        name: _restored(kind, answers[name]) for name, kind in _TABLES.items()
                    }
                    inputs = {"gold": self._read(point.files["gold"]), **tables}
                judged = evaluate_qa(**inputs, **point.settings)
            except RankwellError as error:
                raise type(error)(f"{self.file}: {point.run}: {error}") from error
            record = {
                "run": point.run,
                "rows": reporting.plain(judged.summary),
                "findings": reporting.plain(judged.findings),
                "seconds": answers["seconds"] if answers else None,
                "date": datetime.now(UTC).isoformat(timespec="seconds"),
                "hostname": platform.node(),
            }
            write_text(planned.record, json.dumps(bench.sealed(record), indent=1) + "\n")
            yield ""

    def _answers(self, planned: bench.PlannedCell) -> Row:
        """The answers of a callable, as they are kept: seconds, and the columns of both tables."""
        path, cell = self.folder / "answers" / bench.record_name(planned.recipe[0]), planned.cell
        record = None if self.again else bench.unsealed(bench.read_record(path))
        if record is None:
            call, started = cell.call, time.perf_counter()
            try:
                questions = self._read(planned.work.files["gold"])
                result = load_object(call)(questions, **cell.parameters)
            except RankwellError:
                raise
            except Exception as error:
                raise BadInput(
                    f"{call} failed ({type(error).__name__}: {error}). Correct it, and run "
                    "the grid again."
                ) from error
            tables = zip(_TABLES, _system_answers(result, call), strict=True)
            record = {
                "seconds": round(time.perf_counter() - started, 3),
                **{name: _columns(table) for name, table in tables},
            }
            write_text(path, json.dumps(bench.sealed(record)) + "\n")
        return record

    @cached_property
    def _read(self) -> Callable[[str], Questions]:
        return cache(lambda file: read_questions(file).table)


def _system_answers(result: Any, call: str) -> tuple[Ranking | None, Predictions | None]:
    """The output of a callable: a ranking, answers, or both in this order, as a table or by
    question id. Raises BadInput.
    """
    ranking, answers = None, result
    if isinstance(result, tuple) and len(result) == 2:
        ranking, answers = result
    elif isinstance(result, Ranking) or (
        isinstance(result, Mapping)
        and result
        and all(isinstance(row, Mapping) for row in result.values())
    ):
        ranking, answers = result, None
    if isinstance(ranking, Mapping):
        ranking = read_ranking({str(name): dict(row) for name, row in ranking.items()})
    if isinstance(answers, Mapping):
        answers = _as_predictions(answers, call)
    is_nothing = ranking is None and answers is None
    if (
        isinstance(ranking, Ranking | None)
        and isinstance(answers, Predictions | None)
        and not is_nothing
    ):
        return ranking, answers
    raise BadInput(
        f"{call} returns {kind_of(result)}; expected a Ranking or {{id: {{document: score}}}}, "
        "Predictions or {id: string or list of strings}, or a pair of both."
    )


def _as_predictions(answers: Mapping[Any, Any], call: str) -> Predictions:
    lists = {
        str(name): list(texts) if isinstance(texts, (list, tuple)) else [texts]
        for name, texts in answers.items()
    }
    for name, texts in lists.items():
        for text in texts:
            if not isinstance(text, str | None):
                raise BadInput(
                    f"{call} answers the question {name!r} by {kind_of(text)}; expected a string "
                    "or None."
                )
    return Predictions.from_texts(lists)


_TABLES = {"retrieved": Ranking, "predictions": Predictions}
_DTYPES = {
    **dict.fromkeys(("offsets", "starts", "ends"), np.int64),
    **dict.fromkeys(("scores", "no_answer"), np.float64),
}


def _columns(table: Any) -> Row | None:
    """The columns of a table, as JSON."""
    if table is None:
        return None
    columns = {column.name: getattr(table, column.name) for column in fields(table)}
    return {
        name: column.tolist() if isinstance(column, np.ndarray) else column and list(column)
        for name, column in columns.items()
    }


def _restored(kind: type, columns: Row | None) -> Any:
    """The table of such columns."""
    if columns is None:
        return None
    restored = {
        name: np.array(column, _DTYPES[name]) if name in _DTYPES else tuple(column)
        for name, column in columns.items()
        if column is not None
    }
    return kind(**restored)


def wide(results: Sequence[PointResult]) -> list[Row]:
    """One row a run: its parameters, every figure under its label, seconds, date, host and
    experiment id. Raises BadInput.
    """
    parameters = dict.fromkeys(name for result in results for name in result.point.values)
    means = [{label: row["mean"] for label, row in result.figures.items()} for result in results]
    labels = dict.fromkeys(label for figures in means for label in figures)
    for name in labels:
        if name in parameters:
            raise BadInput(f"{name!r} is a parameter and a figure; rename the parameter.")
    return [
        {
            "run": result.point.run,
            "system": result.point.cell.entry,
            **{name: result.point.values.get(name) for name in parameters},
            **{label: figures.get(label) for label in labels},
            **{name: getattr(result, name) for name in _TRACES},
        }
        for result, figures in zip(results, means, strict=True)
    ]


def figures_of(rows: Sequence[Row]) -> dict[str, Row]:
    """Summary rows of one run by label; `label (column=value)` where several have one label."""
    figures: dict[str, Row] = {}
    for row in rows:
        alike = [cells for cells in rows if cells["label"] == row["label"]]
        differing = [
            f"{name}={value}"
            for name, value in row.items()
            if name not in _FIGURE and len({str(cells.get(name)) for cells in alike}) > 1
        ]
        label = f"{row['label']} ({', '.join(differing)})" if differing else row["label"]
        figures[label] = row
    return figures


def _output(
    results: Sequence[PointResult], experiment: Experiment, folder: Path, format: reporting.Format
) -> Output:
    """Writes the tables and charts of the runs; what is printed of them."""
    names = _exact_names(results)
    for name in experiment.chart:
        if name not in names:
            raise BadInput(
                f"{experiment.file}: chart.measures: unknown measure {name!r}; "
                f"{suggest(name, names)}"
            )
    labels, drawn = list(experiment.chart or names), experiment.chart or main_figures(results)
    findings, messages, table = _findings(results), list[str](), wide(results)
    rows, hidden = table, 0
    if format == "table":
        varying = [name for name in labels if len({row[name] for row in table}) > 1] or labels
        columns = varying if experiment.chart else varying[:_SHOWN]
        hidden = len(labels) - len(columns)
        rows = [{name: row[name] for name in ("run", *columns)} for row in table]
    gold = experiment.folder / str(experiment.cells[0].options["gold"].value)
    inputs = {"grid": Source(experiment.file), "gold": Source(gold)}
    with drafting(folder, inputs.values(), growing=(_RESULTS,)) as draft:
        tables = {draft / _RESULTS: table, draft / "summary.csv": _long(results)}
        for path, content in tables.items():
            write_text(path, reporting.render_rows(content, "csv"))
        pictures = _draw(draft, results, drawn)
        reused = sum(result.reused for result in results)
        if reused:
            messages.append(f"{reused} of {len(results)} runs were done before")
        if hidden:
            more = f"{hidden} more measure{'s are' if hidden > 1 else ' is'}"
            messages.append(f"{more} in results.csv")
        manifest = {
            "schema_version": 1,
            "runs": len(experiment.cells),
            "inputs": {
                name: {"file": source.name, "digest": source.digest()}
                for name, source in inputs.items()
            },
            "findings": reporting.plain(findings),
            "files": {},
            "version": __version__,
        }
        publish(folder, manifest, [*tables, *pictures])
    text = reporting.render_rows(rows, format, terminal=reporting.terminal_of())
    if format == "table":
        lines = [f"  {name} = {names[name]}" for name in rows[0] if name in names]
        text += "\n".join(["exact names:", *lines, ""])
    return Output(text=text, messages=tuple(messages), findings=tuple(findings))


def _findings(results: Sequence[PointResult]) -> list[Finding]:
    """The findings on runs, each once, with the number of runs that have it."""
    runs = grouped(
        (finding, result.point.run)
        for result in results
        for finding in dict.fromkeys(map(Finding.of, result.findings))
    )
    return [
        finding.under(names[0] if len(names) == 1 else f"{len(names)} of {len(results)} runs")
        for finding, names in runs.items()
    ]


def main_figures(results: Sequence[PointResult]) -> list[str]:
    """The labels of measures over all questions: no thresholds, and no parts of the questions."""
    names = _exact_names(results)
    return [
        label
        for label, measure in names.items()
        if not measure.startswith(_SEARCHED) and "population=" not in measure
    ] or list(names)


def _exact_names(results: Sequence[PointResult]) -> dict[str, str]:
    """The exact names of the measures by the labels of figures."""
    return {
        label: str(row["measure"]) for result in results for label, row in result.figures.items()
    }


def _long(results: Sequence[PointResult]) -> list[Row]:
    """The summary rows of all runs, under the names of their points, with the parameters that no
    column has yet.
    """
    rows: list[Row] = []
    for result in results:
        point = result.point
        about = {"system": point.cell.entry, **point.values, "experiment_id": result.experiment_id}
        for row in result.rows:
            more = {name: value for name, value in about.items() if name not in row}
            rows.append({**row, "run": point.run, **more})
    return rows


def _draw(folder: Path, results: Sequence[PointResult], labels: Sequence[str]) -> list[Path]:
    """The paths of a chart for each parameter that varies, PNG and SVG."""
    specs = dict[str, dict[str, Any]]()
    for name in dict.fromkeys(name for result in results for name in result.point.cell.varying):
        moving = [result for result in results if name in result.point.cell.varying]
        is_alone = len({result.point.cell.entry for result in moving}) == 1
        rows = [row for result in moving for row in _against(result, name, labels, is_alone)]
        if any(row["mean"] is not None for row in rows):
            specs[name] = parameter_chart(rows, name)
    return write_charts(folder, specs)


def _against(
    result: PointResult, parameter: str, labels: Sequence[str], is_alone: bool
) -> list[Row]:
    """The figures of one run for the chart of one parameter; a system alone is not named."""
    cell, values = result.point.cell, result.point.values
    words = [f"{name}={written(values[name])}" for name in cell.varying if name != parameter]
    series = " ".join(words if is_alone and words else [cell.entry, *words])
    about = {"system": cell.entry, "series": series, "value": values[parameter]}
    return [
        {**row, "label": label, **about} for label, row in result.figures.items() if label in labels
    ]
