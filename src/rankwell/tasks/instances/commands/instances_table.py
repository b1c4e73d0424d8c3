"""Set evaluated systems side by side: systems × data sets with intervals and significance, what each took, published figures."""

import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from rankwell import report
from rankwell.core.options import Option
from rankwell.core.registry import parse_measure, suggest
from rankwell.core.tables import Floats, sort_ids
from rankwell.errors import BadInput, BadUsage, RankwellError
from rankwell.experiments.comparison.folders import split_name
from rankwell.experiments.files import SystemStatement, read_statements
from rankwell.io.result_folder import ResultFolder, read_performance, read_results, read_summary
from rankwell.report.present import Output, OutputOption
from rankwell.report.system_formats import render_system_tables
from rankwell.report.system_table import SystemCost, SystemFigure, SystemTable, TableFormat
from rankwell.stats.granularity import granularity_of
from rankwell.stats.multiple_comparisons import holm
from rankwell.stats.paired_randomisation import paired_randomisation
from rankwell.store import refuse_blocked, write_text
from rankwell.tasks.instances.statistics import published_instances

_TASK = ("exclude", "ties", "contentless", "absent", "no_relevant", "level")
_FILES = {"table": "txt", "latex": "tex"}
_WRITTEN: tuple[TableFormat, ...] = ("csv", "json", "md", "latex", "html")


def table(
    *results: str,
    published: bool = False,
    system: list[str] | None = None,
    measure: Annotated[str, Option(("--measure", "-m"))] = "P@1",
    alpha: float = 0.05,
    resamples: int = 100_000,
    seed: int = 0,
    format: Annotated[TableFormat, Option(("--format", "-f"))] = "table",  # noqa: A002
    output: OutputOption = None,
) -> Output:
    """Set evaluated systems side by side: systems × data sets with intervals and significance, what each took, published figures.

    After a figure stand the letters of the systems that it is significantly better than: by the paired randomisation test over
    the queries that both have, with Holm's correction for all pairs of a data set.

    Parameters
    ----------
    results
        Folders that `rankwell instances evaluate -o` wrote, each as FOLDER or DATASET=FOLDER.
    published
        The figures that the source printed (CLICIDE, GaRoFou; Mean Precision@1) beside them; impossible ones are marked.
    system
        Experiment file with a [[system]] for each run: its name, perhaps a title, notes and [system.training] with time, hardware
        and data. RUN=FILE names the run of a file with one system. Repeat it for more files.
    measure
        The measure in the cells, by its exact name or its label.
    alpha
        Level of the tests.
    resamples
        Swaps that are drawn where not all can be counted.
    seed
        Seed of these swaps.
    format
        How to print; html is a page of its own.
    output
        Folder for the table as CSV, JSON, Markdown, LaTeX and HTML.
    """
    if output is not None:
        refuse_blocked(output, folder=True)
    if not results and not published:
        raise BadUsage("name folders that `rankwell instances evaluate -o` wrote; or --published for the source's figures alone.")
    if not 0 < alpha < 1:
        raise BadUsage(f"--alpha {alpha}: the level lies between 0 and 1, as 0.05 does.")
    found = _Results([_dataset(text) for text in results], _statements(system or []), measure)
    if published and found.measure != published_instances().measure:
        raise BadUsage(
            f"the published figures are {published_instances().measure}, the table shows {found.measure}; leave one out."
        )
    better, notes = found.compared(alpha=alpha, resamples=resamples, seed=seed)
    entries = [*found.entries(better), *(_published() if published else [])]
    made = SystemTable(found.measure, found.label, entries, found.costs(), found.rules(alpha, published=published))
    if output is not None:
        for kind in _WRITTEN:
            write_text(output / f"table.{_FILES.get(kind, kind)}", render_system_tables([made], kind, notes=notes))
        notes = [*notes, f"wrote {output}/"]
    text = render_system_tables([made], format, notes=notes, terminal=report.terminal_of(sys.stdout))
    return Output(text=text, notes=tuple(notes if format not in ("json", "html") else notes[-1:] if output is not None else ()))


def _dataset(text: str) -> tuple[str, Path]:
    """The data set of a folder, "" where only the folder states it, and the folder."""
    name, place = split_name(text)
    return (name, Path(place)) if name else ("", Path(text))


def _statements(places: Sequence[str]) -> dict[str, SystemStatement]:
    """The statements of all files by run. Raises BadUsage for two about one run."""
    found: dict[str, SystemStatement] = {}
    for text in places:
        name, place = split_name(text)
        stated = read_statements(place)
        if name and len(stated) > 1:
            raise BadUsage(f"--system {text}: the file names {len(stated)} systems itself; leave out {name}=.")
        for run, statement in stated.items():
            if (name or run) in found:
                raise BadUsage(f"--system {text}: a second description of the system {name or run!r}; leave one out.")
            found[name or run] = statement
    return found


def _published() -> list[SystemFigure]:
    source = published_instances()
    entries: list[SystemFigure] = []
    for each in source.systems:
        n = source.datasets[each.dataset].queries
        granularity = granularity_of(each.figure, n)
        warning = "" if granularity.possible else str(granularity)
        entries.append(SystemFigure(each.system, each.dataset, float(each.figure), n, printed=each.figure, warning=warning))
    return entries


class _Result(NamedTuple):
    """One run on one data set. row: of the summary, for the measure. performance: of the whole folder."""

    folder: ResultFolder
    row: Mapping[str, Any]
    performance: Mapping[str, Any]

    @property
    def values(self) -> dict[str, float]:
        """The value of every query that counts."""
        own = next(each for each in self.folder.values if (each.run, each.measure) == (self.row["run"], self.row["measure"]))
        pairs = zip(own.queries, own.values.tolist(), strict=True)
        return {query: value for query, value in pairs if not math.isnan(value)}


class _Results:
    """Every run of every folder, with its row for the measure; the keys are run and data set."""

    def __init__(self, places: Sequence[tuple[str, Path]], systems: Mapping[str, SystemStatement], measure: str) -> None:
        self._systems = systems
        self._found: dict[tuple[str, str], _Result] = {}
        for name, path in places:
            self._read(name, path, measure)
        unknown = next((name for name in systems if name not in {run for run, _ in self._found}), None)
        if unknown is not None:
            raise BadUsage(f"--system {unknown}: there is no run named so; {suggest(unknown, {run for run, _ in self._found})}")
        rows = [each.row for each in self._found.values()]
        self.measure: str = rows[0]["measure"] if rows else published_instances().measure
        self.label: str = rows[0]["label"] if rows else published_instances().label
        other = next((row for row in rows if row["measure"] != self.measure), None)
        if other is not None:
            raise BadInput(f"{measure} is {self.measure} in one folder and {other['measure']} in another; name it exactly.")

    def _read(self, name: str, path: Path, measure: str) -> None:
        folder, rows, performance = read_results(path), read_summary(path), read_performance(path)
        dataset = name or str(folder.rules.get("dataset") or "")
        if not dataset:
            raise BadInput(f"{path} does not say which data set it is for; name it, as DATASET={path}.")
        for run in folder.runs:
            mine = [row for row in rows if row["run"] == run]
            named = [row for row in mine if row["measure"] == measure] or [row for row in mine if row["label"] == measure]
            if not named:
                raise BadInput(f"{path}: {run} has no {measure}; {suggest(measure, {str(row['label']) for row in mine})}")
            if (run, dataset) in self._found:
                both = f"{self._found[run, dataset].folder.place} and {path} both have the run {run!r} on {dataset!r}"
                raise BadInput(f"{both}; leave one out, or name its data set, as DATASET={path}.")
            self._found[run, dataset] = _Result(folder, named[0], performance)

    def _shown(self, run: str) -> str:
        return self._systems[run].title or run if run in self._systems else run

    def entries(self, better: Mapping[tuple[str, str], Sequence[str]]) -> list[SystemFigure]:
        """The cells; shares come in percent."""
        found: list[SystemFigure] = []
        for (run, dataset), (_, row, _) in self._found.items():
            scale, unit = (100.0, "percent") if row["unit"] == "share" else (1.0, row["unit"])
            scaled: dict[str, Any] = {
                name: None if row.get(name) is None else scale * row[name] for name in ("mean", "ci_low", "ci_high", "sd")
            }
            marks = tuple(self._shown(other) for other in better.get((run, dataset), ()))
            found.append(SystemFigure(self._shown(run), dataset, n=row["n"], unit=unit, better_than=marks, **scaled))
        return found

    def compared(self, *, alpha: float, resamples: int, seed: int) -> tuple[dict[tuple[str, str], list[str]], list[str]]:
        """The runs that each run is better than, on each data set, and notes on the tests."""
        better: dict[tuple[str, str], list[str]] = {}
        notes: list[str] = []
        sign = -1.0 if _lower_is_better(self.measure) else 1.0
        for dataset in dict.fromkeys(dataset for _, dataset in self._found):
            runs = [run for run, where in self._found if where == dataset]
            columns, note = self._columns(runs, dataset)
            if note:
                notes.append(f"{dataset}: {note}")
            rule_notes, differing = self._differing(runs, dataset)
            notes += rule_notes
            pairs = [pair for pair in combinations(runs, 2) if frozenset(pair) not in differing]
            tests = paired_randomisation([(columns[a], columns[b]) for a, b in pairs], resamples=resamples, seed=seed)
            adjusted = holm([1.0 if test.p is None else test.p for test in tests])
            for (one, other), test, p in zip(pairs, tests, adjusted, strict=True):
                if p <= alpha and test.difference:
                    winner, loser = (other, one) if sign * test.difference > 0 else (one, other)
                    better.setdefault((winner, dataset), []).append(loser)
        return better, notes

    def _differing(self, runs: Sequence[str], dataset: str) -> tuple[list[str], set[frozenset[str]]]:
        """A note on each rule that is not the same for all systems of a data set, and the pairs that differ in any."""
        tasks = {run: _task(self._found[run, dataset].folder) for run in runs}
        notes: list[str] = []
        differing: set[frozenset[str]] = set()
        for rule in dict.fromkeys(rule for task in tasks.values() for rule in task):
            sides: dict[str, list[str]] = {}
            for run, task in tasks.items():
                if rule in task:
                    sides.setdefault(task[rule], []).append(run)
            if len(sides) > 1:
                shown = " against ".join(f"{value} ({', '.join(map(self._shown, those))})" for value, those in sides.items())
                notes.append(f"{dataset}: {rule} differs, {shown}; such systems have different tasks and are not tested")
                groups = combinations(sides.values(), 2)
                differing |= {frozenset((one, other)) for these, those in groups for one in these for other in those}
        return notes, differing

    def _columns(self, runs: Sequence[str], dataset: str) -> tuple[dict[str, Floats], str]:
        """The values of every run over all queries of a data set, NaN where it has none, and a note where that differs."""
        values = {run: self._found[run, dataset].values for run in runs}
        queries = sort_ids({query for each in values.values() for query in each})
        columns = {run: np.array([each.get(query, np.nan) for query in queries]) for run, each in values.items()}
        sizes = sorted({len(each) for each in values.values()})
        common = sum(all(query in each for each in values.values()) for query in queries)
        if common == len(queries):
            return columns, ""
        note = f"the systems have {' and '.join(map(str, sizes))} queries, {common} in common"
        if common == 0:
            raise BadInput(f"{dataset}: {note}; they were evaluated on different data sets, name each, as DATASET=FOLDER.")
        return columns, f"{note}; each pair is tested over the queries that both have"

    def costs(self) -> list[SystemCost]:
        """The cost of every run, as far as it was measured, and the statements of its user."""
        found: list[SystemCost] = []
        for (run, dataset), (_, _, whole) in self._found.items():
            own: Mapping[str, Any] = whole.get("runs", {}).get(run, {})
            stated = self._systems.get(run, SystemStatement())
            found.append(
                SystemCost(
                    self._shown(run),
                    dataset,
                    _number(own.get("encode_seconds_per_image")),
                    _number(own.get("seconds_per_query")),
                    _number(own.get("seconds_evaluation")),
                    _number(whole.get("peak_memory_mib")),
                    own.get("dimensions"),
                    own.get("images"),
                    _hardware(whole.get("machine", {})),
                    stated.training_time,
                    stated.training_hardware,
                    stated.training_data,
                    own.get("images_from_cache"),
                )
            )
        return found

    def rules(self, alpha: float, *, published: bool) -> dict[str, Any]:
        """The rules of the table."""
        rules: dict[str, Any] = {}
        conventions = dict.fromkeys(str(folder.rules.get("convention", "")) for folder, _, _ in self._found.values())
        if any(conventions):
            rules["convention"] = ", ".join(filter(None, conventions))
        if changed := self._transforms():
            rules["transforms"] = "; ".join(changed)
        several = {dataset for _, dataset in self._found if sum(where == dataset for _, where in self._found) > 1}
        if several:
            rules["test"] = "paired randomisation, two-sided, Holm over the pairs of a data set"
            rules["alpha"] = alpha
        if published:
            rules["published"] = "as its source printed it, on its own queries"
        return rules

    def _transforms(self) -> list[str]:
        """The transforms of each system, and the data that they look at."""
        where: dict[tuple[str, str], list[str]] = {}
        for (run, dataset), (folder, _, _) in self._found.items():
            if folder.rules.get("transforms"):
                transforms = f"{folder.rules['transforms']} (looks at {folder.rules.get('transductive')})"
                where.setdefault((run, transforms), []).append(dataset)
        everywhere = Counter(run for run, _ in self._found)
        return [
            f"{self._shown(run)}{'' if len(places) == everywhere[run] else ' on ' + ', '.join(places)}: {transforms}"
            for (run, transforms), places in where.items()
        ]


def _task(folder: ResultFolder) -> dict[str, str]:
    """The rules that decide which question a folder's figures answer, by name, as far as the folder states them."""
    found = {name.replace("_", "-"): str(folder.rules[name]) for name in _TASK if name in folder.rules}
    images = folder.rules.get("images")
    if isinstance(images, Mapping) and "digest" in images:
        digest = str(images["digest"]).removeprefix("sha256:")[:8]
        found["gallery"] = f"{images.get('references')} references and {images.get('queries')} queries [{digest}]"
    if "positives" in folder.inputs:
        found["positives"] = folder.inputs["positives"].removeprefix("sha256:")[:8]
    return found


def _lower_is_better(measure: str) -> bool:
    try:
        return parse_measure(measure).entry.better == "lower"
    except RankwellError:
        # A figure of a protocol's own, as TP/PRED.
        return False


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def _hardware(machine: Mapping[str, Any]) -> str:
    number = machine.get("processors")
    parts = [machine.get("processor"), f"{number} processors" if number else "", machine.get("system")]
    return ", ".join(str(part) for part in parts if part)
