"""The figures of cases: run, measure and value of what a command prints as JSON or leaves in its
files, in full precision.

`tests/golden/figures/` holds them apart from all wording: a command, an option or a column may
change its name, a figure may not. `python tools/goldens.py figures write` writes them.

The figures of a case are tables by name, in the order of the output: those of the JSON that its
commands print (`rows`, `per_query`, `groups` …), with the number of the line before the name where
a case has several; runs, vectors and results of a demo that it writes; of a Python case the tables
that its result has. Values of queries stand in one row for each run and measure.
"""

import csv
import difflib
import json
import re
import shlex
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from rankwell.cli.command_line import find_command
from rankwell.data.catalogue import DROP_IN
from regression import comparing, running
from regression.cases import CALLS, CASES, LINES, Runner

Row = dict[str, Any]
Tables = dict[str, list[Row]]
FOLDER = Path(__file__).parents[1] / "golden" / "figures"

_FORMAT = re.compile(r"\s(?:-f|--format)[ =]\S+")
_WORDING = re.compile(
    "^(label|unit|text|why|told|explanation|detail|message|definition|source|gap|requirement|warning)$"
)
"""Columns that say something about a figure."""
_MEASURED = re.compile(
    r"seconds|memory|hardware|\((ms|s|queries/s|MB)\)$|"
    r"^(threads|processors|machine|measured_on|date|hostname|experiment_id)$"
)
"""Columns of what differs between two machines."""
_TIMED = re.compile(r"^(ms|s|queries/s|requests/s|MiB|/s)$")
"""Units of what differs between two machines."""
_RUN_FILES = frozenset((".csv", ".tsv", ".run"))
_RENAMED = {"normalization": "normalise"}
"""Columns that had another name when their figures were written."""
_LARGEST_ARRAY = 400


def figures_of(runner: Runner, name: str) -> Tables:
    """The tables of figures that a case gives; none where it gives no figure."""
    if name in CALLS:
        found = runner.workspace.called(CALLS[name])
        values = {table: _plain(value) for table, value in found.items()}
        counts = _counts(values.pop("describe", None))
        return _with_figures({table: _rows(value) for table, value in values.items()} | counts)
    lines = [_as_json(line) for line in map(str.strip, LINES[name].split("\n")) if line]
    printed, written = runner.workspace.printed(lines, _file_figures)
    tables: Tables = {}
    for place, text in enumerate(printed, 1):
        before = f"{place} " if len(lines) > 1 else ""
        tables |= {before + table: rows for table, rows in printed_figures(text).items()}
    if not tables:
        tables = {file: rows for file, rows in written.items() if rows}
    return tables


def cases(pattern: str = "") -> list[str]:
    """The names of the cases that the pattern is found in."""
    return [name for name in CASES if re.search(pattern, name)]


# ---- what a command prints


def _as_json(line: str) -> str:
    """The command with its figures as JSON, where it prints some."""
    words = shlex.split(line)
    words = words[2:] if words[0] == "<" else words
    if words[0] == "fuse" and "--tune" not in words:
        return line  # It writes a run, and has nothing to print.
    if words[0] in ("cp", DROP_IN) or not _has_format(*find_command(words)):
        return line
    return f"{_FORMAT.sub('', line)} -f json"


@cache
def _has_format(*words: str) -> bool:
    """Whether a command has an option of the format; those that describe have no figures."""
    if words in (("explain",), ("engine", "list")):
        return False
    code, out, _ = running.in_process([*words, "--help"])
    return code == 0 and "--format" in out


def printed_figures(text: str) -> Tables:
    if not text.startswith(("{", "[")):
        return {}
    try:
        content = json.loads(text)
    except ValueError:
        return {}
    tables = content if isinstance(content, dict) else {"rows": content}
    found = {name: _rows(value) for name, value in tables.items() if isinstance(value, list)}
    return _with_figures(found | _counts(tables.get("rules")))


def _counts(rules: object) -> Tables:
    """The counts of queries by run, which stand among the rules of a result."""
    counts = rules.get("counts") if isinstance(rules, dict) else None
    if not isinstance(counts, dict):
        return {}
    return {
        "counts": [{"run": run, **each} for run, each in counts.items() if isinstance(each, dict)]
    }


def _with_figures(tables: Mapping[str, list[Row]]) -> Tables:
    """The tables and rows that hold a figure, without words about them."""
    found = {name: list(filter(None, map(_figures, rows))) for name, rows in tables.items()}
    return {name: _by_measure(rows) for name, rows in found.items() if rows}


def _figures(row: Row) -> Row:
    if _TIMED.search(str(row.get("unit") or "")):
        return {}
    kept = {
        _RENAMED.get(key, key): value
        for key, value in row.items()
        if value not in (None, "", [], {})
        and not _WORDING.search(key)
        and not _MEASURED.search(key)
    }
    return kept if any(map(_is_figure, kept.values())) else {}


def _is_figure(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(map(_is_figure, value.values()))
    if isinstance(value, list):
        return any(map(_is_figure, value))
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _by_measure(rows: list[Row]) -> list[Row]:
    """Values of queries as one row for each run, measure and whatever else names a value; None for
    a query that is not counted.
    """
    if not all("query" in row for row in rows) or not any("value" in row for row in rows):
        return rows
    found: dict[tuple[object, ...], Row] = {}
    for row in rows:
        name = {
            key: value
            for key, value in row.items()
            if isinstance(value, str) and key not in ("query", "status")
        }
        values = found.setdefault(tuple(name.items()), {**name, "values": {}})["values"]
        if row["query"] in values:
            return rows
        values[row["query"]] = row.get("value")
    return list(found.values())


def _rows(value: object) -> list[Row]:
    """A table as rows: what is no list of rows becomes one."""
    if isinstance(value, str) or not _is_figure(value):
        return []
    if isinstance(value, list) and all(isinstance(each, dict) for each in value):
        return value
    return [{"values": value}]


def _plain(value: Any) -> Any:
    """A result's value as JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if hasattr(value, "item"):
        return value.item()
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


# ---- what a command writes


def _file_figures(path: Path) -> list[Row]:
    """The figures of a written file: of a run, of vectors, or of a result folder's summary."""
    if path.name == "summary.json":
        return printed_figures(path.read_text("utf-8")).get("rows", [])
    if path.suffix == ".npy":
        import numpy as np

        array = np.load(path)
        return [{"values": array.tolist()}] if array.size <= _LARGEST_ARRAY else []
    if path.suffix in _RUN_FILES and path.parent.name == "out":
        return _run_figures(path)
    return []


def _run_figures(path: Path) -> list[Row]:
    """A row for each query of a run: the scores of its items, best first."""
    text = path.read_text("utf-8")
    if path.suffix == ".run":
        rows = [(line.split()[0], line.split()[2], line.split()[4]) for line in text.splitlines()]
    else:
        table = csv.DictReader(text.splitlines(), delimiter="," if path.suffix == ".csv" else "\t")
        if not {"query", "item", "score"} <= set(table.fieldnames or ()):
            return []
        rows = [(row["query"], row["item"], row["score"]) for row in table]
    found: dict[str, Row] = {}
    for query, item, score in rows:
        found.setdefault(query, {})[item] = float(score)
    return [{"query": query, "scores": scores} for query, scores in found.items()]


# ---- files


def read() -> dict[str, Tables]:
    """The figures of every case that some are kept of."""
    return {
        name: tables
        for file in sorted(FOLDER.glob("*.json"))
        for name, tables in json.loads(file.read_text("utf-8")).items()
    }


def write(figures: Mapping[str, Tables]) -> None:
    """Writes a file for each first part of the cases' names, a row a line, in their order."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for file in FOLDER.glob("*.json"):
        file.unlink()
    groups: dict[str, list[str]] = {}
    for name, tables in figures.items():
        groups.setdefault(name.partition("/")[0], []).append(_text(name, tables))
    for group, texts in groups.items():
        (FOLDER / f"{group}.json").write_text("{\n" + ",\n".join(texts) + "\n}\n", "utf-8")


def _text(name: str, tables: Tables) -> str:
    shown = [
        f"  {json.dumps(table)}: [\n"
        + ",\n".join(f"   {json.dumps(row, ensure_ascii=False)}" for row in rows)
        + "\n  ]"
        for table, rows in tables.items()
    ]
    return f" {json.dumps(name)}: {{\n" + ",\n".join(shown) + "\n }"


def distinct(figures: Mapping[str, Tables]) -> dict[str, Tables]:
    """The cases that are needed for every table of figures to stand in one: others say the same
    figures in another format.
    """
    said = {
        name: [_said(name, *table) for table in tables.items()] for name, tables in figures.items()
    }
    number = Counter(table for tables in said.values() for table in set(tables))
    for name in reversed(list(figures)):
        if all(number[table] > 1 for table in said[name]):
            number.subtract(set(said.pop(name)))
    return {name: tables for name, tables in figures.items() if said.get(name)}


def _said(name: str, table: str, rows: list[Row]) -> str:
    """Figures of a group of cases whatever line of a case prints them."""
    return json.dumps([name.partition("/")[0], table.lstrip("0123456789 "), rows])


# ---- comparison


def differences(kept: Tables, found: Tables) -> list[str]:
    """The rows that differ; last digits differ only where the figures were written."""
    if found == (kept if comparing.same_environment() else nearly(kept)):
        return []
    old, new = (_text("", tables).split("\n") for tables in (kept, found))
    return list(difflib.unified_diff(old, new, "kept", "found", lineterm="", n=0))[2:]


def nearly(tables: Tables) -> object:
    """The figures with the last digits open, for machines whose last bits are others."""
    return _near(tables)


def _near(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _near(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_near(each) for each in value]
    return pytest.approx(value, rel=1e-9, abs=1e-12) if isinstance(value, float) else value
