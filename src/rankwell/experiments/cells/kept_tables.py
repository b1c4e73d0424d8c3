"""Tables as bench.json has them: made again only when a result, or what is shown of it, has changed."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from rankwell import __version__
from rankwell.experiments.bench_toml import Bench
from rankwell.experiments.cells.figures import TableChoices
from rankwell.experiments.cells.planning import results_of
from rankwell.experiments.cells.running import Done
from rankwell.report.system_table import SystemFigure, SystemTable

_PLAIN = ("measure", "label", "rules", "better", "systems", "name")


class Tables(NamedTuple):
    """The tables of a bench, and what there is to say of them."""

    tables: tuple[SystemTable, ...]
    notes: tuple[str, ...]


def key_of(bench: Bench, done: Sequence[Done], shown: TableChoices) -> str:
    """The same for the same results, names and choices of what is shown."""
    cells = [
        [each.task.cell.name, results_of(each.task.folder) if each.has_results else [each.status, each.error]] for each in done
    ]
    asked = ["measure" in each.task.made_of["options"] for each in done]
    content = [__version__, cells, asked, [[*key, title] for key, title in bench.titles.items()], asdict(shown)]
    return "sha256:" + hashlib.sha256(json.dumps(content).encode()).hexdigest()


def packed(key: str, tables: Tables) -> dict[str, Any]:
    """The tables as JSON has them."""
    return {
        "made_of": key,
        "notes": list(tables.notes),
        "tables": [
            {**{name: getattr(each, name) for name in _PLAIN}, "figures": [cell._asdict() for cell in each.figures]}
            for each in tables.tables
        ],
    }


def kept(path: Path, key: str) -> Tables | None:
    """The tables that a file holds under its key `shown`, None where they are of something else."""
    try:
        found: Mapping[str, Any] = json.loads(path.read_bytes())["shown"]
        if found["made_of"] != key:
            return None
        return Tables(tuple(_table(each) for each in found["tables"]), tuple(found["notes"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _table(found: Mapping[str, Any]) -> SystemTable:
    figures = [SystemFigure(**cell)._replace(better_than=tuple(cell["better_than"])) for cell in found["figures"]]
    return SystemTable(**{name: found[name] for name in _PLAIN}, figures=figures, costs=None)
