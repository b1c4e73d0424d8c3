"""Folders that commands wrote with `-o` -> the values of all their runs side by side, with the
rules that they have in common.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

from rankwell import store
from rankwell.comparison.data import Origin
from rankwell.data.catalogue import result_kind
from rankwell.data.tables import Values
from rankwell.errors import BadInput, BadUsage
from rankwell.evaluation.bounds import UnjudgedItems
from rankwell.evaluation.judged import joined_weights, notes_on_weights
from rankwell.evaluation.results import DETAIL_DEPTH
from rankwell.io.result_folder import DETAILS, PER_QUERY, SUMMARY, ResultFolder, read_summary

_TRUTH = (
    "judgments",
    "annotations",
    "gold",
    "labels",
    "positives",
    "schema",
    "reference",
    "targets",
    "queries",
)
_RUN_RULES = ("seed", "version", "intervals", "counts", "measures")
# Name or measure the system itself, so that a difference is expected.
_OF_SYSTEM = ("engine", "measurement_itself")
_PLAIN = (str, int, float, type(None))
NamedFolders = Sequence[tuple[str, ResultFolder]]
"""Folders, each with its name, "" where none is given."""


class Gathered(NamedTuple):
    """Values of all systems with their origin and the attributes of queries: name -> query -> text.

    chooses: whether the requested measures are still to be chosen. renamed: of each folder the
    attributes that have another name here, as `query_names` gives it.
    """

    values: Sequence[Values]
    row_attributes: Sequence[Mapping[str, Any]]
    origin: Origin
    attributes: Mapping[str, Mapping[str, str]]
    chooses: bool
    renamed: Sequence[Mapping[str, str]] = ()

    @property
    def runs(self) -> list[str]:
        """The names of the runs, in order."""
        return list(dict.fromkeys(values.run for values in self.values))


def split_name(text: str) -> tuple[str, str]:
    """The name in front of a place, if any, and the place: `first=results/a`."""
    return ("", text) if Path(text).exists() else store.split_name(text)


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
    values: list[Values] = []
    row_attributes: list[Mapping[str, Any]] = []
    attributes: dict[str, dict[str, str]] = {}
    columns, notes = query_names(folders)
    notes = [*differing(folders), *notes]
    for (_, folder), renamed, column_names in zip(folders, names, columns, strict=True):
        values += [replace(run_values, run=renamed[run_values.run]) for run_values in folder.values]
        row_attributes += folder.row_attributes
        for name, texts in folder.attributes.items():
            column_name = column_names.get(name, name)
            attributes[column_name] = {**texts, **attributes.get(column_name, {})}
    protocols = {folder.protocol for _, folder in folders}
    protocol = protocols.pop() if len(protocols) == 1 else "runs"
    notes += _on_whole_figures(folders, protocol)
    notes += notes_on_weights(
        joined_weights([folder.rules.get("grade_weights") or {} for _, folder in folders], names)
    )
    origin = Origin(
        rules=_shared_rules(folders, names),
        notes=notes,
        sources={
            next(iter(renamed.values())): folder.source
            for (_, folder), renamed in zip(folders, names, strict=True)
            if folder.has(PER_QUERY)
        },
        details=_details(folders, names) if details else None,
        unjudged=partial(_unjudged, folders, names),
        items=_items(folders, names) if details else None,
        queries=_queries(folders, columns, values, row_attributes) if details else None,
        better={
            measure: word
            for _, folder in reversed(folders)
            for measure, word in folder.better.items()
        },
        protocol=protocol,
    )
    return Gathered(values, row_attributes, origin, attributes, chooses=True, renamed=columns)


def query_names(folders: NamedFolders) -> tuple[list[dict[str, str]], list[str]]:
    """For each folder the names of those attributes of queries that differ between folders, `NAME
    (FOLDER)`, and a note on them.

    An attribute that depends on the system, such as the stage that failed, differs between results
    of two systems.
    """
    folder_names = _distinct_names(folders)
    counted = [
        {query for run_values in folder.values for query in run_values.queries}
        for _, folder in folders
    ]
    texts_of_queries: dict[str, dict[str, str | None]] = {}
    differ: dict[str, None] = {}
    for (_, folder), queries in zip(folders, counted, strict=True):
        for name, texts in folder.attributes.items():
            column = texts_of_queries.setdefault(name, {})
            if any(
                column.setdefault(query, texts.get(query)) != texts.get(query) for query in queries
            ):
                differ[name] = None
    names = [
        {name: f"{name} ({folder_name})" for name in differ if name in folder.attributes}
        for (_, folder), folder_name in zip(folders, folder_names, strict=True)
    ]
    if not differ:
        return names, []
    first = next(iter(differ))
    examples = " and ".join(repr(new_names[first]) for new_names in names if first in new_names)
    return names, [
        "attributes of queries that differ between folders keep the name of theirs, as "
        f"{examples}: {', '.join(differ)}"
    ]


def _on_whole_figures(folders: NamedFolders, protocol: str) -> list[str]:
    """A note on the figures that lead a summary without a value of single queries, so that they are
    not compared.
    """
    leading: dict[str, None] = {}
    for _, folder in folders:
        query_measures = {values.measure for values in folder.values}
        rows = read_summary(folder) if folder.has(SUMMARY) else []
        leading |= {
            row["label"]: None
            for row in takewhile(
                lambda row, measures=query_measures: row["measure"] not in measures, rows
            )
        }
    singular, plural = result_kind(protocol).noun
    compared = next((values.label for _, folder in folders for values in folder.values), None)
    if not leading or compared is None:
        return []
    why = f"the verdict is by {compared}, the first measure with a value of every {singular}"
    return [f"not compared, as figures of all {plural} together: {', '.join(leading)}; {why}"]


def run_names(folders: NamedFolders) -> list[dict[str, str]]:
    """For each folder its runs with their names here: with the folder's name where two are alike.
    Raises BadUsage.
    """
    all_runs = [run for name, folder in folders for run in folder.runs if not name]
    renamings: list[dict[str, str]] = []
    for name, folder in folders:
        label = name or folder.place.resolve().name
        alone = len(folder.runs) == 1
        renamed = {run: label if alone else f"{label}/{run}" for run in folder.runs}
        renamings.append(
            {run: new if name or all_runs.count(run) > 1 else run for run, new in renamed.items()}
        )
    taken = [new for renamed in renamings for new in renamed.values()]
    double = next((new for new in taken if taken.count(new) > 1), None)
    if double is not None:
        raise BadUsage(
            f"two runs are called {double!r}; give their folders different names, as in "
            "first=DIR second=DIR."
        )
    return renamings


def differing(folders: NamedFolders) -> list[str]:
    """Notes on differences that make results of folders hard to compare: other judgments, other
    rules.
    """
    (_, first), *other_folders = folders
    first_name, *other_names = _distinct_names(folders)
    notes: list[str] = []
    for (_, folder), other_name in zip(other_folders, other_names, strict=True):
        different_inputs = [
            name
            for name in _TRUTH
            if first.inputs.get(name, "") != folder.inputs.get(name, first.inputs.get(name, ""))
        ]
        notes += [
            f"{first_name} and {other_name} come of different {name}: their values may not compare"
            for name in different_inputs
        ]
        for name in dict.fromkeys((*first.rules, *folder.rules)):
            if name in (*_RUN_RULES, *_OF_SYSTEM):
                continue
            first_rule, rule = first.rules.get(name), folder.rules.get(name)
            if first_rule != rule and isinstance(first_rule, _PLAIN) and isinstance(rule, _PLAIN):
                notes.append(_on_rule(name, (first_rule, first_name), (rule, other_name)))
    return notes


def _on_rule(name: str, *of: tuple[Any, str]) -> str:
    """A note on a rule that differs between two folders, or that one of them lacks. of: the rule
    and the folder's name.
    """
    stated = [(rule, folder) for rule, folder in of if rule is not None]
    lacking = [folder for rule, folder in of if rule is None]
    rules = " and ".join(f"{rule} in {folder}" for rule, folder in stated)
    return f"{name.replace('_', '-')} is {rules}" + "".join(
        f"; {folder} was evaluated without it" for folder in lacking
    )


def _distinct_names(folders: NamedFolders) -> list[str]:
    """The names of folders in notes: those given here, else the shortest ends of their paths that
    distinguish them.
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


def _shared_rules(folders: NamedFolders, names: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """The rules that all folders have in common, the definitions of all measures, and the counts of
    every run.
    """
    first = folders[0][1].rules
    shared = {
        name: rule
        for name, rule in first.items()
        if name not in _RUN_RULES
        and isinstance(rule, (str, int, float))
        and all(folder.rules.get(name) == rule for _, folder in folders)
    }
    measures = {
        name: definition
        for _, folder in folders
        for name, definition in (folder.rules.get("measures") or {}).items()
    }
    counts = {
        renamed[run]: run_counts
        for (_, folder), renamed in zip(folders, names, strict=True)
        for run, run_counts in (folder.rules.get("counts") or {}).items()
        if run in renamed
    }
    return shared | {
        name: rule for name, rule in (("counts", counts), ("measures", measures)) if rule
    }


def _queries(
    folders: NamedFolders,
    columns: Sequence[Mapping[str, str]],
    values: Sequence[Values],
    row_attributes: Sequence[Mapping[str, Any]],
) -> dict[str, list[Any]]:
    """The columns of queries.parquet, each cell of the first folder with one; `direction`
    distinguishes queries of one id.
    """
    tables = [
        {column_names.get(name, name): cells for name, cells in folder.query_table().items()}
        for (_, folder), column_names in zip(folders, columns, strict=True)
    ]
    names = dict.fromkeys(name for attributes in row_attributes for name in attributes)
    key_columns = [name for name in names if any(name in table for table in tables)]
    rows_by_key: dict[tuple[Any, ...], dict[str, Any]] = {}
    for table in tables:
        for cells in zip(*table.values(), strict=True):
            row = dict(zip(table, cells, strict=True))
            first = rows_by_key.setdefault(
                (row["query"], *(row.get(name) for name in key_columns)), row
            )
            first.update({name: cell for name, cell in row.items() if first.get(name) is None})
    for run_values, attributes in zip(values, row_attributes, strict=True):
        key = {name: attributes.get(name) for name in key_columns}
        for query in run_values.queries:
            rows_by_key.setdefault((query, *key.values()), {"query": query, **key})
    names = dict.fromkeys(
        ("query", "text", *(name for row in rows_by_key.values() for name in row))
    )
    return {name: [row.get(name) for row in rows_by_key.values()] for name in names}


def _unjudged(folders: NamedFolders, names: Sequence[Mapping[str, str]]) -> UnjudgedItems | None:
    """The unjudged items of all folders; None where a folder has no details."""
    if not all(folder.has(DETAILS) for _, folder in folders):
        return None
    items, where = UnjudgedItems(DETAIL_DEPTH), f"state = 'unjudged' AND rank <= {DETAIL_DEPTH}"
    for (_, folder), renamed in zip(folders, names, strict=True):
        for columns in folder.details_by_run(where):
            items.add(columns, renamed)
    return items


def _details(
    folders: NamedFolders, names: Sequence[Mapping[str, str]]
) -> dict[str, list[Any]] | None:
    """The details of all folders with the names of runs that they have here; None where there are
    none.
    """
    all_details: dict[str, list[Any]] = {
        name: [] for name in ("run", "query", "item", "rank", "score", "grade", "state", "detail")
    }
    for (_, folder), renamed in zip(folders, names, strict=True):
        columns = folder.details("true")
        if columns:
            for name, cells in all_details.items():
                cells += columns.get(name) or [None] * len(columns["run"])
            start = len(all_details["run"]) - len(columns["run"])
            all_details["run"][start:] = [
                renamed.get(run, run) for run in all_details["run"][start:]
            ]
    return all_details if all_details["run"] else None


def _items(
    folders: NamedFolders, names: Sequence[Mapping[str, str]]
) -> dict[str, list[Any]] | None:
    """The attributes of the items in all folders, of each those of the first folder that has it;
    None where there are none.
    """
    rows_by_item: dict[tuple[str, str | None], dict[str, Any]] = {}
    for (_, folder), renamed in zip(folders, names, strict=True):
        columns = folder.items()
        for cells in zip(*columns.values(), strict=True):
            row = dict(zip(columns, cells, strict=True))
            row["of"] = renamed.get(row["of"], row["of"])
            rows_by_item.setdefault((row["item"], row["of"]), row)
    rows = list(rows_by_item.values())
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else None
