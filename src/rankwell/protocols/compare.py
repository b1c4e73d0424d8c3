"""Compare systems on the same queries: paired differences with intervals, tests, verdicts, groups, and the order of systems.

Give folders that commands wrote with -o, of any protocol, or judgments and runs as `rankwell evaluate` takes them.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from cyclopts import Parameter

from rankwell import report
from rankwell.errors import BadInput, BadUsage, UnknownName
from rankwell.evaluation.comparison import Attribute, Comparison, Correction, Origin, Test, compare_values
from rankwell.files.result_folder import ResultFolder, is_result_folder, read_results
from rankwell.protocols import (
    ConventionOption,
    FormatOption,
    MeasureOption,
    Output,
    OutputOption,
    PerQueryOption,
    Progress,
    present,
)
from rankwell.registry import split_names, suggest
from rankwell.report.difference_tables import difference_text
from rankwell.stats import Intervals
from rankwell.store import refuse_blocked, write_text
from rankwell.tables.values import Values

_TRUTH = ("judgments", "annotations", "gold", "labels", "positives", "schema", "reference", "targets", "queries")
_OWN = ("seed", "version", "intervals", "counts", "measures")


def compare(
    *places: str,
    baseline: str | None = None,
    measure: MeasureOption = None,
    test: Test = "randomisation",
    correction: Correction = "holm",
    group: str | None = None,
    cluster: str | None = None,
    intervals: Intervals = "bootstrap",
    level: float = 0.95,
    power: float = 0.8,
    resamples: Annotated[int, Parameter(name=["--resamples"])] = 10_000,
    seed: int = 0,
    per_query: PerQueryOption = False,
    format: FormatOption = "table",  # noqa: A002
    output: OutputOption = None,
    convention: ConventionOption = "rankwell",
    query_texts: str | None = None,
    progress: Progress = None,
) -> Output:
    """Compare systems on the same queries: paired differences with intervals, tests, verdicts, groups, and the order of systems.

    Two systems are compared the second against the first; more of them all with each other, or with --baseline.

    Parameters
    ----------
    places
        Folders of results (name=FOLDER renames what is in them), or a file of judgments and two files of rankings or more.
    baseline
        The run that all others are held against.
    measure
        Only this measure; repeat it for more. The verdicts are about the first.
    test
        Sign flips at random (exact where queries are few), Student's t, Wilcoxon's signed ranks, the sign test, or the
        studentised bootstrap; all two-sided.
    correction
        For several measures and pairs: Holm, Benjamini and Hochberg's false discovery rate, the largest t under shared sign
        flips, Tukey's HSD by randomisation over all systems of each measure, or none.
    group
        A column of what is known of the queries: each of its values is judged alone.
    cluster
        Such a column too: queries with the same value (of one document, user or session) are drawn and flipped together.
    intervals
        Intervals of the differences by the bootstrap, by Student's t, or none.
    level
        Of the intervals; tests are at 1 less this.
    power
        How surely a difference that is called detectable would be found.
    resamples
        Of the bootstrap and of the tests that draw.
    seed
        Seed of all that is drawn.
    per_query
        One row per query and difference as well.
    format
        How to print.
    output
        Folder for what `rankwell evaluate -o` writes, with the differences, groups.csv, systems.csv, orders.csv, verdicts.txt and
        charts.
    convention
        For judgments and runs: whose words and rules.
    query_texts
        For judgments and runs: file of what the queries say, whose further columns are attributes for --group and --cluster.
    """
    if output is not None:
        refuse_blocked(output, folder=True)
    asked = [name for text in measure or [] for name in split_names(text)]
    gathered = _gather(places, asked, convention, query_texts, details=output is not None, progress=progress)
    result = compare_values(
        gathered.values,
        facts=gathered.facts,
        baseline=baseline,
        measures=asked if gathered.chooses else None,
        test=test,
        correction=correction,
        group=None if group is None else _attribute(gathered, group),
        cluster=None if cluster is None else _attribute(gathered, cluster),
        intervals=intervals,
        level=level,
        power=power,
        resamples=resamples,
        seed=seed,
        origin=gathered.origin,
    )
    others = [] if output is None else write_tables(result, output)
    done = present(result, format=format, per_query=per_query, output=output, tables=result.tables, others=others)
    if format not in ("table", "md", "latex"):
        return done
    terminal = report.terminal_of(sys.stdout)
    rows = list(result.per_query()) if per_query else None
    return replace(done, text=difference_text(result.tables, result.differences, rows, result.describe(), format, terminal))


class _Gathered(NamedTuple):
    """Values of all systems, where they come from, and what is known of the queries.

    chooses: whether the measures that are asked for are still to be chosen.
    """

    values: Sequence[Values]
    facts: Sequence[Mapping[str, Any]]
    origin: Origin
    attributes: Mapping[str, Mapping[str, str]]
    chooses: bool


def write_tables(result: Comparison, folder: Path) -> list[Path]:
    """Writes the tables beside the summary, each whole or not at all, and the verdicts as text; returns their paths."""
    tables = {name: rows for name, rows in result.tables.items() if name not in ("verdicts", "mean_ranks")}
    texts = {f"{name}.csv": report.render_rows(rows, "csv") for name, rows in tables.items()}
    texts["verdicts.txt"] = "".join(f"{text}\n" for text in result.verdicts)
    for name, text in texts.items():
        write_text(folder / name, text)
    return [folder / name for name in texts]


def _gather(
    places: Sequence[str], measures: Sequence[str], convention: str, texts: str | None, *, details: bool, progress: Progress
) -> _Gathered:
    """What the places hold: folders of results, or judgments and runs. Raises BadUsage for a mixture."""
    named = [_split(place) for place in places]
    folders = [is_result_folder(place) for _, place in named]
    if places and all(folders):
        if texts is not None or convention != "rankwell":
            raise BadUsage("--query-texts and --convention are for judgments and runs; folders of results have their own.")
        return _from_folders([(name, read_results(place)) for name, place in named], details=details)
    lost = next((place for _, place in named if Path(place).is_dir() and not is_result_folder(place)), None)
    if any(folders) or lost is not None:
        what = f"{lost} has no per_query.parquet" if lost is not None else "folders of results and files do not go together"
        raise BadUsage(f"{what}; give folders that commands wrote with -o, or judgments and runs.")
    if len(places) < 3:
        raise BadUsage("give two folders of results or more, or judgments and two runs or more: rankwell compare QRELS RUN RUN")
    return _from_runs(places[0], [*places[1:]], measures, convention, texts, details=details, progress=progress)


def _split(place: str) -> tuple[str, str]:
    """The name in front of a place, if any, and the place."""
    name, equals, rest = place.partition("=")
    return (name, rest) if equals and not Path(place).exists() else ("", place)


def _from_runs(
    judgments: str,
    runs: list[str],
    measures: Sequence[str],
    convention: str,
    texts: str | None,
    *,
    details: bool,
    progress: Progress,
) -> _Gathered:
    from rankwell.evaluation.runs import evaluate
    from rankwell.protocols.evaluate import detail_columns, query_columns

    given = dict(_split(run) for run in runs) if all(_split(run)[0] for run in runs) else runs
    result = evaluate(
        judgments,
        given,
        list(measures) or None,
        convention=convention,
        details=details,
        texts=texts,
        intervals="none",
        progress=progress,
    )
    attributes: dict[str, dict[str, str]] = {}
    for query, told in (result.texts.attributes if result.texts else {}).items():
        for name, text in told.items():
            attributes.setdefault(name, {})[query] = text
    origin = Origin(
        rules={name: rule for name, rule in result.describe().items() if name not in ("seed", "intervals")},
        notes=[f"{name}: read as {form}" for name, form in result.formats.items()] + list(result.notes),
        sources=result.sources,
        details=detail_columns(result) if details else None,
        queries=query_columns(result),
    )
    return _Gathered(result.values, [{} for _ in result.values], origin, attributes, chooses=False)


def _from_folders(folders: Sequence[tuple[str, ResultFolder]], *, details: bool) -> _Gathered:
    names = _names(folders)
    values: list[Values] = []
    facts: list[Mapping[str, Any]] = []
    attributes: dict[str, dict[str, str]] = {}
    notes = _differing(folders)
    for (_, folder), renamed in zip(folders, names, strict=True):
        values += [replace(each, run=renamed[each.run]) for each in folder.values]
        facts += folder.facts
        for name, told in folder.attributes.items():
            known = attributes.setdefault(name, {})
            if any(known.get(query, text) != text for query, text in told.items()):
                notes.append(f"{folder.place}: {name} says other things of some queries than an earlier folder, which holds")
            attributes[name] = {**told, **known}
    texts = {query: text for _, folder in reversed(folders) for query, text in folder.texts.items()}
    queries = list(dict.fromkeys(query for each in values for query in each.queries))
    origin = Origin(
        rules=_shared_rules(folders, names),
        notes=notes,
        sources={next(iter(renamed.values())): folder.source for (_, folder), renamed in zip(folders, names, strict=True)},
        details=_details(folders, names) if details else None,
        queries={
            "query": queries,
            "text": [texts.get(query) for query in queries],
            **{name: [told.get(query) for query in queries] for name, told in attributes.items()},
        },
        better={measure: word for _, folder in reversed(folders) for measure, word in folder.better.items()},
    )
    return _Gathered(values, facts, origin, attributes, chooses=True)


def _names(folders: Sequence[tuple[str, ResultFolder]]) -> list[dict[str, str]]:
    """For each folder its runs with the names that they have here: with the folder's name where two runs are called the same."""
    every = [run for name, folder in folders for run in folder.runs if not name]
    found: list[dict[str, str]] = []
    for name, folder in folders:
        label = name or folder.place.resolve().name
        alone = len(folder.runs) == 1
        renamed = {run: label if alone else f"{label}/{run}" for run in folder.runs}
        found.append({run: new if name or every.count(run) > 1 else run for run, new in renamed.items()})
    taken = [new for renamed in found for new in renamed.values()]
    double = next((new for new in taken if taken.count(new) > 1), None)
    if double is not None:
        raise BadUsage(f"two runs are called {double!r}; name their folders apart, as in first=DIR second=DIR.")
    return found


def _differing(folders: Sequence[tuple[str, ResultFolder]]) -> list[str]:
    """What makes results of different folders hard to compare: other judgments, other rules."""
    (_, first), *others = folders
    notes: list[str] = []
    for _, folder in others:
        other = [name for name in _TRUTH if first.inputs.get(name, "") != folder.inputs.get(name, first.inputs.get(name, ""))]
        notes += [f"{first.place} and {folder.place} come of different {name}: their values may not compare" for name in other]
        for name, rule in folder.rules.items():
            known = first.rules.get(name, rule)
            if (
                name not in _OWN
                and isinstance(rule, (str, int, float))
                and isinstance(known, (str, int, float))
                and known != rule
            ):
                notes.append(f"{name} is {known} in {first.place} and {rule} in {folder.place}")
    return notes


def _shared_rules(folders: Sequence[tuple[str, ResultFolder]], names: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """The rules that all folders have in common, the definitions of all measures, and the counts of every run."""
    first = folders[0][1].rules
    shared = {
        name: rule
        for name, rule in first.items()
        if name not in _OWN and isinstance(rule, (str, int, float)) and all(each.rules.get(name) == rule for _, each in folders)
    }
    measures = {name: fact for _, each in folders for name, fact in (each.rules.get("measures") or {}).items()}
    counts = {
        renamed[run]: told
        for (_, each), renamed in zip(folders, names, strict=True)
        for run, told in (each.rules.get("counts") or {}).items()
        if run in renamed
    }
    return shared | {name: rule for name, rule in (("counts", counts), ("measures", measures)) if rule}


def _details(folders: Sequence[tuple[str, ResultFolder]], names: Sequence[Mapping[str, str]]) -> dict[str, list[Any]] | None:
    """The details of all folders with the names of runs that they have here; None where there are none."""
    whole: dict[str, list[Any]] = {name: [] for name in ("run", "query", "item", "rank", "score", "grade", "state", "detail")}
    for (_, folder), renamed in zip(folders, names, strict=True):
        columns = folder.details()
        if columns:
            for name, cells in whole.items():
                cells += columns.get(name) or [None] * len(columns["run"])
            start = len(whole["run"]) - len(columns["run"])
            whole["run"][start:] = [renamed.get(run, run) for run in whole["run"][start:]]
    return whole if whole["run"] else None


def _attribute(gathered: _Gathered, name: str) -> Attribute:
    """What is known of the queries under a name. Raises UnknownName, and BadInput where nothing is known of them."""
    if not gathered.attributes:
        raise BadInput(f"nothing is known of the queries to take {name!r} from; evaluate with --query-texts, and with -o.")
    if name not in gathered.attributes:
        raise UnknownName(f"no query has a column {name!r}; {suggest(name, gathered.attributes)}")
    return Attribute(name, gathered.attributes[name])
