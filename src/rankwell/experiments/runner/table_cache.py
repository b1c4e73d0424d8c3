"""Tables as JSON: made again only when a result, or the choice of what is shown, has changed."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from rankwell.experiments.files import Experiment
from rankwell.experiments.runner.planning import CellResult, results_of
from rankwell.experiments.runner.recipes import RESULTS_VERSION, key_of, read_record
from rankwell.experiments.runner.tables import TableChoices
from rankwell.report.system_table import SystemFigure, SystemTable

_PLAIN = ("measure", "label", "rules", "better", "systems", "name")


class CachedTables(NamedTuple):
    """The tables of an experiment, and the notes on them."""

    tables: tuple[SystemTable, ...]
    notes: tuple[str, ...]


def tables_key(experiment: Experiment, cells: Sequence[CellResult], shown: TableChoices) -> str:
    """The same for the same results, names and choices of what is shown."""
    results = [
        [each.plan.cell.name, results_of(each.plan.folder) if each.has_results else [each.status, each.error]] for each in cells
    ]
    named = ["measure" in each.plan.recipe["options"] for each in cells]
    titles = [[*key, title] for key, title in experiment.titles.items()]
    return "sha256:" + key_of([RESULTS_VERSION, results, named, titles, asdict(shown)])


def packed(key: str, tables: CachedTables) -> dict[str, Any]:
    """The tables as JSON."""
    return {
        "made_of": key,
        "notes": list(tables.notes),
        "tables": [
            {**{name: getattr(each, name) for name in _PLAIN}, "figures": [cell._asdict() for cell in each.cells]}
            for each in tables.tables
        ],
    }


def cached(path: Path, key: str) -> CachedTables | None:
    """The tables that a file holds under its key `shown`, None where it holds others."""
    try:
        found: Mapping[str, Any] = read_record(path)["shown"]
        if found["made_of"] != key:
            return None
        return CachedTables(tuple(_table(each) for each in found["tables"]), tuple(found["notes"]))
    except (ValueError, KeyError, TypeError):
        return None


def _table(found: Mapping[str, Any]) -> SystemTable:
    entries = [SystemFigure(**cell)._replace(better_than=tuple(cell["better_than"])) for cell in found["figures"]]
    return SystemTable(**{name: found[name] for name in _PLAIN}, cells=entries, costs=None)
