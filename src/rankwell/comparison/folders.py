"""Folders that commands wrote with `-o` -> the values of all their runs side by side, with the
rules that they have in common.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

from rankwell.comparison.data import Origin
from rankwell.data.catalogue import result_kind
from rankwell.data.findings import Finding
from rankwell.data.findings.kinds import (
    attributes_differ,
    different_inputs,
    different_rules,
    grades_alike,
    not_compared,
)
from rankwell.data.tables import Values
from rankwell.errors import BadInput, BadUsage
from rankwell.evaluation.bounds import UnjudgedItems
from rankwell.evaluation.judged import findings_on_weights, joined_weights
from rankwell.evaluation.results import DETAIL_DEPTH, RowAttributes
from rankwell.io.result_folder import (
    DETAILS,
    ITEMS,
    PER_QUERY,
    QUERIES,
    SUMMARY,
    ResultFolder,
    read_further,
    read_summary,
)
from rankwell.stats import SUMMARY_KINDS
from rankwell.store import Source

_TRUTH = (
    "judgments",
    "annotations",
    "gold",
    "labels",
    "qrels",
    "schema",
    "reference",
    "targets",
    "queries",
)
_RUN_RULES = ("seed", "version", "intervals", "counts", "measures")
# Name or measure the system itself, so that a difference is expected.
_OF_SYSTEM = ("engine", "method", "measurement_itself")
_PLAIN = (str, int, float, type(None))
NamedFolders = Sequence[tuple[str, ResultFolder]]
"""Folders, each with its name, "" where none is given."""


class GatheredFolder(NamedTuple):
    """A folder of results, with names that are unique among several folders.

    folder: the content of the folder.
    runs: run in the folder -> its name here.
    attributes: attribute of queries in the folder -> its name here, for attributes that are
        renamed; see `query_names`.
    """

    folder: ResultFolder
    runs: Mapping[str, str]
    attributes: Mapping[str, str]


class Gathered(NamedTuple):
    """Values of all systems, to be compared.

    values: one for each run and measure, under the names that runs have here.
    row_attributes: the distinguishing columns of each element of `values`.
    origin: the rules, findings and sources of the values.
    attributes: attribute of queries -> query -> text.
    has_all_measures: whether the values cover all measures that folders hold, so that the requested
        ones are still to be chosen; false where only the requested ones were evaluated.
    folders: the folders that the values are from, in order; empty where values were evaluated for
        the comparison.
    """

    values: Sequence[Values]
    row_attributes: Sequence[RowAttributes]
    origin: Origin
    attributes: Mapping[str, Mapping[str, str]]
    has_all_measures: bool
    folders: Sequence[GatheredFolder] = ()

    @property
    def runs(self) -> list[str]:
        """The names of the runs, in order."""
        return list(dict.fromkeys(values.run for values in self.values))


def from_folders(folders: NamedFolders, *, details: bool) -> Gathered:
    """The values of all folders under the names of `run_names`. details: whether rows of items and
    queries are read too.

    Raises BadInput for a folder without a value of a single query, and as `run_names`.
    """
    for _, folder in folders:
        if not folder.values:
            raise BadInput(
                f"{folder.place} has no value of any single query, and systems are compared query "
                "by query; evaluate it by a measure that has one for every query."
            )
    names = run_names(folders)
    columns, on_names = query_names(folders)
    gathered = [
        GatheredFolder(folder, runs, column_names)
        for (_, folder), runs, column_names in zip(folders, names, columns, strict=True)
    ]
    values, sources = list[Values](), dict[str, Source]()
    row_attributes = list[RowAttributes]()
    attributes = dict[str, dict[str, str]]()
    for folder, runs, column_names in gathered:
        values += [replace(run_values, run=runs[run_values.run]) for run_values in folder.values]
        row_attributes += folder.row_attributes
        if folder.has(PER_QUERY):
            run = next(iter(runs.values()))
            sources[str(folder.place) if run in sources else run] = folder.source
        for name, texts in folder.attributes.items():
            name = column_names.get(name, name)
            attributes[name] = {**texts, **attributes.get(name, {})}
    protocols = {folder.protocol for _, folder in folders}
    protocol = protocols.pop() if len(protocols) == 1 else "runs"
    weights = joined_weights(
        [folder.rules.get("grade_weights") or {} for _, folder in folders], names
    )
    return Gathered(
        values,
        row_attributes,
        Origin(
            rules=_shared_rules(gathered),
            findings=[
                *_stored(gathered),
                *differing(folders),
                *on_names,
                *_on_whole_figures(folders, protocol),
                *findings_on_weights(weights),
            ],
            sources=sources,
            details=_details(gathered) if details else None,
            unjudged=partial(_unjudged, gathered),
            items=_items(gathered) if details else None,
            queries=_queries(gathered, values, row_attributes) if details else None,
            better={
                measure: word
                for _, folder in reversed(folders)
                for measure, word in folder.better.items()
            },
            task=protocol,
        ),
        attributes,
        has_all_measures=True,
        folders=gathered,
    )


def query_names(folders: NamedFolders) -> tuple[list[dict[str, str]], list[Finding]]:
    """For each folder the names of those attributes of queries that differ between folders, `NAME
    (FOLDER)`, and a finding on them.

    An attribute that depends on the system, such as the stage that failed, differs between results
    of two systems.
    """
    first_texts = dict[str, dict[str, str | None]]()
    differ = dict[str, None]()
    for _, folder in folders:
        queries = {query for run_values in folder.values for query in run_values.queries}
        for name, texts in folder.attributes.items():
            column = first_texts.setdefault(name, {})
            if any(
                column.setdefault(query, texts.get(query)) != texts.get(query) for query in queries
            ):
                differ[name] = None
    names = [
        {name: f"{name} ({folder_name})" for name in differ if name in folder.attributes}
        for (_, folder), folder_name in zip(folders, _distinct_names(folders), strict=True)
    ]
    if not differ:
        return names, []
    first = next(iter(differ))
    examples = " and ".join(repr(new_names[first]) for new_names in names if first in new_names)
    return names, [attributes_differ(examples, list(differ))]


def _on_whole_figures(folders: NamedFolders, protocol: str) -> list[Finding]:
    """A finding on the figures that lead a summary without a value of single queries, so that they
    are not compared.
    """
    leading = dict[str, None]()
    for _, folder in folders:
        query_measures = {values.measure for values in folder.values}
        for row in read_summary(folder) if folder.has(SUMMARY) else []:
            if row["measure"] in query_measures:
                break
            leading[row["label"]] = None
    if not leading:
        return []
    singular, plural = result_kind(protocol).noun
    compared = folders[0][1].values[0].label
    why = f"the verdict is by {compared}, the first measure with a value of every {singular}"
    figures = f"not compared, as figures of all {plural} together: {', '.join(leading)}"
    return [not_compared(f"{figures}; {why}")]


def run_names(folders: NamedFolders) -> list[dict[str, str]]:
    """For each folder its runs with their names here: with the folder's name where two are alike.
    A run that two folders measure in different ways is one. Raises BadUsage.
    """
    shared = {
        run
        for (name, folder), (other_name, other) in combinations(folders, 2)
        if not (name or other_name) and _are_rivals(folder, other)
        for run in {*folder.runs} & {*other.runs}
    }
    renamings = list[dict[str, str]]()
    for name, folder in folders:
        label = name or folder.place.resolve().name
        names = {run: f"{label}/{run}" for run in folder.runs}
        if len(names) == 1:
            names = dict.fromkeys(names, label)
        renamings.append({run: new if name or run in shared else run for run, new in names.items()})
    for (names, (_, folder)), (others, (_, other)) in combinations(
        zip(renamings, folders, strict=True), 2
    ):
        for new in {*names.values()} & {*others.values()} if _are_rivals(folder, other) else ():
            raise BadUsage(
                f"two runs are called {new!r}; give their folders different names, as in "
                "first=DIR second=DIR."
            )
    return renamings


def _are_rivals(folder: ResultFolder, other: ResultFolder) -> bool:
    """Whether a run of both is two systems: both have its lists, or a measure of it."""
    measures, others = ({values.measure for values in each.values} for each in (folder, other))
    return not measures.isdisjoint(others) or (folder.has(DETAILS) and other.has(DETAILS))


def _stored(gathered: Sequence[GatheredFolder]) -> list[Finding]:
    """The findings of the folders on their data, each once, under the names that runs have here."""
    made_here = {kind.name for kind in (*SUMMARY_KINDS, grades_alike)}
    findings = dict[Finding, None]()
    for folder, names, _ in gathered:
        # Results in memory have theirs at hand.
        stored = read_further(folder).get("findings", ()) if folder.has(SUMMARY) else ()
        for facts in stored:
            run = facts.get("run")
            if names.get(run, run) != run:
                sentence = facts["message"].removeprefix(f"{run}: ")
                facts = facts | {"run": names[run], "message": f"{names[run]}: {sentence}"}
            if facts["name"] not in made_here:
                findings[Finding.of(facts)] = None
    return list(findings)


def differing(folders: NamedFolders) -> list[Finding]:
    """Findings on differences that make results of folders hard to compare: other judgments, other
    rules.
    """
    (_, first), *others = folders
    first_name, *names = _distinct_names(folders)
    findings = list[Finding]()
    for (_, folder), name in zip(others, names, strict=True):
        findings += [
            different_inputs(first_name, name, truth)
            for truth in _TRUTH
            if first.inputs.get(truth, "") != folder.inputs.get(truth, first.inputs.get(truth, ""))
        ]
        for rule in dict.fromkeys((*first.rules, *folder.rules)):
            settings = first.rules.get(rule), folder.rules.get(rule)
            if (
                rule not in (*_RUN_RULES, *_OF_SYSTEM)
                and (None not in settings or _are_rivals(first, folder))
                and settings[0] != settings[1]
                and all(isinstance(setting, _PLAIN) for setting in settings)
            ):
                setting_of_folder = dict(zip((first_name, name), settings, strict=True))
                findings.append(different_rules(_on_rule(rule, setting_of_folder)))
    return findings


def _on_rule(name: str, settings: Mapping[str, Any]) -> str:
    """The sentence on a rule that differs between two folders, or that one of them lacks."""
    rules = [f"{rule} in {folder}" for folder, rule in settings.items() if rule is not None]
    lacking = [folder for folder, rule in settings.items() if rule is None]
    return f"{name.replace('_', '-')} is {' and '.join(rules)}" + "".join(
        f"; {folder} was evaluated without it" for folder in lacking
    )


def _distinct_names(folders: NamedFolders) -> list[str]:
    """The names of folders in findings: those given here, else the shortest ends of their paths
    that distinguish them.
    """
    parts = [folder.place.resolve().parts for _, folder in folders]
    for depth in range(1, max(map(len, parts)) + 1):
        called = [
            name or "/".join(path_parts[-depth:])
            for (name, _), path_parts in zip(folders, parts, strict=True)
        ]
        if len(set(called)) == len(called):
            return called
    return [str(folder.place) for _, folder in folders]


def _shared_rules(gathered: Sequence[GatheredFolder]) -> dict[str, Any]:
    """The rules that all folders have in common, the definitions of all measures, and the counts of
    every run.
    """
    shared = {
        name: rule
        for name, rule in gathered[0].folder.rules.items()
        if name not in _RUN_RULES
        and isinstance(rule, (str, int, float))
        and all(folder.rules.get(name) == rule for folder, _, _ in gathered)
    }
    counts, measures = dict[str, Any](), dict[str, Any]()
    for folder, runs, _ in gathered:
        measures |= folder.rules.get("measures") or {}
        folder_counts = folder.rules.get("counts") or {}
        counts |= {runs[run]: folder_counts[run] for run in folder_counts if run in runs}
    tables = {"counts": counts, "measures": measures}
    return shared | {name: table for name, table in tables.items() if table}


def _queries(
    gathered: Sequence[GatheredFolder],
    values: Sequence[Values],
    row_attributes: Sequence[RowAttributes],
) -> dict[str, list[Any]]:
    """The columns of queries.parquet, each cell of the first folder with one; `direction`
    distinguishes queries of one id.
    """
    tables = [
        {column_names.get(name, name): cells for name, cells in folder.table(QUERIES).items()}
        for folder, _, column_names in gathered
    ]
    names = dict.fromkeys(name for attributes in row_attributes for name in attributes)
    key_columns = [name for name in names if any(name in table for table in tables)]
    rows_by_key = dict[tuple[Any, ...], dict[str, Any]]()
    for table in tables:
        for row in _rows(table):
            key = (row["query"], *map(row.get, key_columns))
            first = rows_by_key.setdefault(key, row)
            first.update({name: cell for name, cell in row.items() if first.get(name) is None})
    for run_values, attributes in zip(values, row_attributes, strict=True):
        key_cells = {name: attributes.get(name) for name in key_columns}
        for query in run_values.queries:
            rows_by_key.setdefault((query, *key_cells.values()), {"query": query, **key_cells})
    rows = rows_by_key.values()
    names = dict.fromkeys(("query", "text", *(name for row in rows for name in row)))
    return {name: [row.get(name) for row in rows] for name in names}


def _unjudged(gathered: Sequence[GatheredFolder]) -> UnjudgedItems | None:
    """The unjudged items of all folders; None where a folder has no details."""
    if not all(folder.has(DETAILS) for folder, _, _ in gathered):
        return None
    items = UnjudgedItems(DETAIL_DEPTH)
    where = f"state = 'unjudged' AND rank <= {DETAIL_DEPTH}"
    for folder, runs, _ in gathered:
        for columns in folder.details_by_run(where):
            items.add(columns, runs)
    return items


def _details(gathered: Sequence[GatheredFolder]) -> dict[str, list[Any]] | None:
    """The details of all folders with the names of runs that they have here; None where there are
    none.
    """
    columns: dict[str, list[Any]] = {
        name: [] for name in ("run", "query", "item", "rank", "score", "grade", "state", "detail")
    }
    for folder, runs, _ in gathered:
        if table := folder.table(DETAILS):
            table["run"] = [runs.get(run, run) for run in table["run"]]
            for name, cells in columns.items():
                cells += table.get(name) or [None] * len(table["run"])
    return columns if columns["run"] else None


def _items(gathered: Sequence[GatheredFolder]) -> dict[str, list[Any]] | None:
    """The attributes of the items in all folders, of each those of the first folder that has it;
    None where there are none.
    """
    rows = dict[tuple[str, str | None], dict[str, Any]]()
    for folder, runs, _ in gathered:
        for row in _rows(folder.table(ITEMS)):
            row["of"] = runs.get(row["of"], row["of"])
            rows.setdefault((row["item"], row["of"]), row)
    first = next(iter(rows.values()), None)
    return first and {name: [row[name] for row in rows.values()] for name in first}


def _rows(columns: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    for cells in zip(*columns.values(), strict=True):
        yield dict(zip(columns, cells, strict=True))
