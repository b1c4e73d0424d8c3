"""The part of the page above the table of queries: the measures, their means, the differences of runs, the groups of queries."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rankwell.core.registry import parse_measure
from rankwell.errors import BadUsage
from rankwell.report import Row, plain
from rankwell.report.charts import difference_label, is_difference, part_of
from rankwell.report.page import PageSource
from rankwell.stats.verdicts import Family, MeasuredDifference, verdict

FEW = 50
"""A group of fewer queries is called small, as in the verdicts of a comparison."""
_MOST_PAIRS = 3


class Key(NamedTuple):
    """A measure on the page: its exact name, and the part of the result (`t2v`) that it is about, or the empty text."""

    measure: str
    of: str


def measure_table(source: PageSource) -> dict[Key, dict[str, Any]]:
    """The measures of single queries, then figures of whole collections, each with what people should know of it."""
    values = zip(source.values, source.row_attributes, strict=True)
    found = {Key(each.measure, part_of(own, own)): (each.label, each.unit) for each, own in values}
    for row in source.own_rows:
        found.setdefault(key_of(row, source), (row["label"], row["unit"]))
    return {key: _measure(key, label, unit, source) for key, (label, unit) in found.items()}


def key_of(row: Row, source: PageSource) -> Key:
    """The measure that a row of the summary is about, or that its difference is of."""
    return Key(row.get("of") or row["measure"], part_of(row, source.query_columns))


def summary(source: PageSource, measures: Mapping[Key, Any]) -> list[dict[str, Any]]:
    """The figure of each run and measure with its interval."""
    runs, places = {run: place for place, run in enumerate(source.runs)}, {key: place for place, key in enumerate(measures)}
    return [
        {
            "run": runs[row["run"]],
            "measure": places[key_of(row, source)],
            "mean": plain(row["mean"]),
            "low": plain(row["ci_low"]),
            "high": plain(row["ci_high"]),
            "sd": plain(row["sd"]),
            "n": row["n"],
        }
        for row in source.own_rows
        if row["run"] in runs
    ]


def differences(source: PageSource, measures: Mapping[Key, Any]) -> list[dict[str, Any]]:
    """Paired differences, b less a; better, worse, equal: in how many queries b is."""
    runs, places = {run: place for place, run in enumerate(source.runs)}, {key: place for place, key in enumerate(measures)}
    return [
        {
            "a": runs[row["against"]],
            "b": runs[row["run"]],
            "measure": places[key_of(row, source)],
            "difference": plain(row["mean"]),
            "low": plain(row["ci_low"]),
            "high": plain(row["ci_high"]),
            "p": plain(row["p"]),
            "adjusted_p": plain(row["p_adjusted"]),
            "decisive": row["decisive"],
            "better": row["wins"],
            "worse": row["losses"],
            "equal": row["ties"],
        }
        for row in source.rows
        if is_difference(row["measure"]) and key_of(row, source) in places
    ]


def groups(source: PageSource) -> list[dict[str, Any]]:
    """The groups of queries, each with its own verdict by the first measure; of many pairs the number of differences."""
    if not source.groups:
        return []
    first = key_of(source.groups[0], source)
    rows: dict[str, list[Row]] = {}
    for row in source.groups:
        if key_of(row, source) == first:
            rows.setdefault(row["group"], []).append(row)
    return [_group(name, mine, source) for name, mine in rows.items()]


def _measure(key: Key, label: str, unit: str, source: PageSource) -> dict[str, Any]:
    described: Mapping[str, Any] = source.rules.get("measures") or {}
    stored = described.get(key.measure)
    known: Mapping[str, Any] = stored if isinstance(stored, Mapping) else {}
    try:
        own: Mapping[str, Any] = parse_measure(key.measure).entry.definition
    except BadUsage:
        own = {"better": "lower" if unit == "rank" else "higher"}
    return {
        "name": key.measure,
        "label": label,
        "unit": unit,
        "better": source.better.get(key.measure) or known.get("better") or own["better"],
        "of": key.of or None,
        "summary": known.get("summary", "mean"),
        "definition": known.get("definition") or own.get("definition"),
    }


def _group(name: str, rows: Sequence[Row], source: PageSource) -> dict[str, Any]:
    attribute = str(source.rules.get("group", ""))
    value = name.removeprefix(attribute).strip().removeprefix("=").strip() if name.startswith(attribute) else name
    n = max(row["n"] for row in rows)
    decisive = sum(bool(row["decisive"]) for row in rows)
    if len(rows) > _MOST_PAIRS:
        sentence = f"{decisive} of {len(rows)} pairs differ significantly."
    else:
        sentence = " ".join(_sentence(row, source) for row in rows)
    return {"name": attribute, "value": value, "n": n, "verdict": sentence, "decisive": bool(decisive), "small": n < FEW}


def _sentence(row: Row, source: PageSource) -> str:
    interval = None if row["ci_low"] is None or row["ci_high"] is None else (row["ci_low"], row["ci_high"])
    found = MeasuredDifference(
        run=row["run"],
        against=row["against"],
        measure=difference_label(row),
        unit=row["unit"],
        better=row["better"],
        difference=row["mean"],
        interval=interval,
        p=row["p_adjusted"],
        n=row["n"],
        decisive=bool(row["decisive"]),
    )
    level = source.rules.get("level", 0.95)
    return verdict(found, family=Family("none", 1, "", level))
