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
from rankwell.core.tables import Values
from rankwell.errors import BadInput, BadUsage
from rankwell.evaluation.bounds import UnjudgedItems
from rankwell.evaluation.grade_weights import joined_weights, notes_on_weights
from rankwell.evaluation.results import DETAIL_DEPTH
from rankwell.experiments.comparison.data import Origin
from rankwell.io.result_folder import DETAILS, PER_QUERY, SUMMARY, ResultFolder, read_summary
from rankwell.report.page.scripts import query_noun

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
_OWN = ("seed", "version", "intervals", "counts", "measures")
# Name or measure the system itself, so that a difference is expected.
_OF_SYSTEM = ("engine", "measurement_itself")
_PLAIN = (str, int, float, type(None))
Named = Sequence[tuple[str, ResultFolder]]
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
        return list(dict.fromkeys(each.run for each in self.values))


def split_name(place: str) -> tuple[str, str]:
    """The name in front of a place, if any, and the place: `first=results/a`."""
    return ("", place) if Path(place).exists() else store.split_name(place)


def from_folders(folders: Named, *, details: bool) -> Gathered:
    """The values of all folders under the names of `run_names`. details: whether rows of items and
    queries are read too.

    Raises BadInput for a folder without a value of a single query, and as `run_names`.
    """
    for _, folder in folders:
        if not folder.values:
            what = (
                f"{folder.place} has no value of any single query, and systems are compared query "
                "by query"
            )
            raise BadInput(f"{what}; evaluate it by a measure that has one for every query.")
    names = run_names(folders)
    values: list[Values] = []
    row_attributes: list[Mapping[str, Any]] = []
    attributes: dict[str, dict[str, str]] = {}
    columns, notes = query_names(folders)
    notes = [*differing(folders), *notes]
    for (_, folder), renamed, own in zip(folders, names, columns, strict=True):
        values += [replace(each, run=renamed[each.run]) for each in folder.values]
        row_attributes += folder.row_attributes
        for name, texts in folder.attributes.items():
            here = own.get(name, name)
            attributes[here] = {**texts, **attributes.get(here, {})}
    protocols = {folder.protocol for _, folder in folders}
    protocol = protocols.pop() if len(protocols) == 1 else "runs"
    notes += _on_whole_figures(folders, protocol)
    notes += notes_on_weights(
        joined_weights([each.rules.get("grade_weights") or {} for _, each in folders], names)
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


def query_names(folders: Named) -> tuple[list[dict[str, str]], list[str]]:
    """For each folder the names of those attributes of queries that differ between folders, `NAME
    (FOLDER)`, and a note on them.

    An attribute that depends on the system, such as the stage that failed, differs between results
    of two systems.
    """
    called = _distinct_names(folders)
    counted = [{query for each in folder.values for query in each.queries} for _, folder in folders]
    known: dict[str, dict[str, str | None]] = {}
    differ: dict[str, None] = {}
    for (_, folder), queries in zip(folders, counted, strict=True):
        for name, texts in folder.attributes.items():
            column = known.setdefault(name, {})
            if any(
                column.setdefault(query, texts.get(query)) != texts.get(query) for query in queries
            ):
                differ[name] = None
    names = [
        {name: f"{name} ({here})" for name in differ if name in folder.attributes}
        for (_, folder), here in zip(folders, called, strict=True)
    ]
    if not differ:
        return names, []
    first = next(iter(differ))
    kept = " and ".join(repr(own[first]) for own in names if first in own)
    return names, [
        "attributes of queries that differ between folders keep the name of theirs, as "
        f"{kept}: {', '.join(differ)}"
    ]


def _on_whole_figures(folders: Named, protocol: str) -> list[str]:
    """A note on the figures that lead a summary without a value of single queries, so that they are
    not compared.
    """
    leading: dict[str, None] = {}
    for _, folder in folders:
        own = {each.measure for each in folder.values}
        rows = read_summary(folder) if folder.has(SUMMARY) else []
        leading |= {
            row["label"]: None
            for row in takewhile(lambda row, own=own: row["measure"] not in own, rows)
        }
    one, many = query_noun(protocol)
    compared = next((each.label for _, folder in folders for each in folder.values), None)
    if not leading or compared is None:
        return []
    why = f"the verdict is by {compared}, the first measure with a value of every {one}"
    return [f"not compared, as figures of all {many} together: {', '.join(leading)}; {why}"]


def run_names(folders: Named) -> list[dict[str, str]]:
    """For each folder its runs with their names here: with the folder's name where two are alike.
    Raises BadUsage.
    """
    every = [run for name, folder in folders for run in folder.runs if not name]
    found: list[dict[str, str]] = []
    for name, folder in folders:
        label = name or folder.place.resolve().name
        alone = len(folder.runs) == 1
        renamed = {run: label if alone else f"{label}/{run}" for run in folder.runs}
        found.append(
            {run: new if name or every.count(run) > 1 else run for run, new in renamed.items()}
        )
    taken = [new for renamed in found for new in renamed.values()]
    double = next((new for new in taken if taken.count(new) > 1), None)
    if double is not None:
        raise BadUsage(
            f"two runs are called {double!r}; give their folders different names, as in "
            "first=DIR second=DIR."
        )
    return found


def differing(folders: Named) -> list[str]:
    """Notes on differences that make results of folders hard to compare: other judgments, other
    rules.
    """
    (_, first), *others = folders
    known_as, *called = _distinct_names(folders)
    notes: list[str] = []
    for (_, folder), name_here in zip(others, called, strict=True):
        other = [
            name
            for name in _TRUTH
            if first.inputs.get(name, "") != folder.inputs.get(name, first.inputs.get(name, ""))
        ]
        notes += [
            f"{known_as} and {name_here} come of different {name}: their values may not compare"
            for name in other
        ]
        for name in dict.fromkeys((*first.rules, *folder.rules)):
            if name in (*_OWN, *_OF_SYSTEM):
                continue
            known, rule = first.rules.get(name), folder.rules.get(name)
            if known != rule and isinstance(known, _PLAIN) and isinstance(rule, _PLAIN):
                notes.append(_on_rule(name, (known, known_as), (rule, name_here)))
    return notes


def _on_rule(name: str, *of: tuple[Any, str]) -> str:
    """A note on a rule that differs between two folders, or that one of them lacks. of: the rule
    and the folder's name.
    """
    has = [(rule, folder) for rule, folder in of if rule is not None]
    lacking = [folder for rule, folder in of if rule is None]
    rules = " and ".join(f"{rule} in {folder}" for rule, folder in has)
    return f"{name.replace('_', '-')} is {rules}" + "".join(
        f"; {folder} was evaluated without it" for folder in lacking
    )


def _distinct_names(folders: Named) -> list[str]:
    """The names of folders in notes: those given here, else the shortest ends of their paths that
    distinguish them.
    """
    parts = [folder.place.resolve().parts for _, folder in folders]
    for depth in range(1, max(map(len, parts)) + 1):
        called = [
            name or "/".join(each[-depth:]) for (name, _), each in zip(folders, parts, strict=True)
        ]
        if len(set(called)) == len(called):
            return called
    return [str(folder.place) for _, folder in folders]


def _shared_rules(folders: Named, names: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """The rules that all folders have in common, the definitions of all measures, and the counts of
    every run.
    """
    first = folders[0][1].rules
    shared = {
        name: rule
        for name, rule in first.items()
        if name not in _OWN
        and isinstance(rule, (str, int, float))
        and all(each.rules.get(name) == rule for _, each in folders)
    }
    measures = {
        name: own for _, each in folders for name, own in (each.rules.get("measures") or {}).items()
    }
    counts = {
        renamed[run]: own
        for (_, each), renamed in zip(folders, names, strict=True)
        for run, own in (each.rules.get("counts") or {}).items()
        if run in renamed
    }
    return shared | {
        name: rule for name, rule in (("counts", counts), ("measures", measures)) if rule
    }


def _queries(
    folders: Named,
    columns: Sequence[Mapping[str, str]],
    values: Sequence[Values],
    row_attributes: Sequence[Mapping[str, Any]],
) -> dict[str, list[Any]]:
    """The columns of queries.parquet, each cell of the first folder with one; `direction`
    distinguishes queries of one id.
    """
    tables = [
        {own.get(name, name): cells for name, cells in folder.query_table().items()}
        for (_, folder), own in zip(folders, columns, strict=True)
    ]
    names = dict.fromkeys(name for each in row_attributes for name in each)
    apart = [name for name in names if any(name in table for table in tables)]
    known: dict[tuple[Any, ...], dict[str, Any]] = {}
    for table in tables:
        for cells in zip(*table.values(), strict=True):
            row = dict(zip(table, cells, strict=True))
            first = known.setdefault((row["query"], *(row.get(name) for name in apart)), row)
            first.update({name: cell for name, cell in row.items() if first.get(name) is None})
    for each, attributes in zip(values, row_attributes, strict=True):
        key = {name: attributes.get(name) for name in apart}
        for query in each.queries:
            known.setdefault((query, *key.values()), {"query": query, **key})
    names = dict.fromkeys(("query", "text", *(name for row in known.values() for name in row)))
    return {name: [row.get(name) for row in known.values()] for name in names}


def _unjudged(folders: Named, names: Sequence[Mapping[str, str]]) -> UnjudgedItems | None:
    """The unjudged items of all folders; None where a folder has no details."""
    if not all(folder.has(DETAILS) for _, folder in folders):
        return None
    items, where = UnjudgedItems(DETAIL_DEPTH), f"state = 'unjudged' AND rank <= {DETAIL_DEPTH}"
    for (_, folder), renamed in zip(folders, names, strict=True):
        for columns in folder.details_by_run(where):
            items.add(columns, renamed)
    return items


def _details(folders: Named, names: Sequence[Mapping[str, str]]) -> dict[str, list[Any]] | None:
    """The details of all folders with the names of runs that they have here; None where there are
    none.
    """
    whole: dict[str, list[Any]] = {
        name: [] for name in ("run", "query", "item", "rank", "score", "grade", "state", "detail")
    }
    for (_, folder), renamed in zip(folders, names, strict=True):
        columns = folder.details("true")
        if columns:
            for name, cells in whole.items():
                cells += columns.get(name) or [None] * len(columns["run"])
            start = len(whole["run"]) - len(columns["run"])
            whole["run"][start:] = [renamed.get(run, run) for run in whole["run"][start:]]
    return whole if whole["run"] else None


def _items(folders: Named, names: Sequence[Mapping[str, str]]) -> dict[str, list[Any]] | None:
    """The attributes of the items in all folders, of each those of the first folder that has it;
    None where there are none.
    """
    known: dict[tuple[str, str | None], dict[str, Any]] = {}
    for (_, folder), renamed in zip(folders, names, strict=True):
        columns = folder.items()
        for cells in zip(*columns.values(), strict=True):
            row = dict(zip(columns, cells, strict=True))
            row["of"] = renamed.get(row["of"], row["of"])
            known.setdefault((row["item"], row["of"]), row)
    rows = list(known.values())
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else None
