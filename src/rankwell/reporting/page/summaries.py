"""The part of the page above the table of queries: measures, means, differences, groups of queries,
charts.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rankwell.data.registry import parse_measure
from rankwell.errors import BadUsage
from rankwell.reporting import Row, grouped, has_intervals, plain
from rankwell.reporting.charts import (
    CHARTS,
    ChartData,
    Spec,
    difference_label,
    is_difference,
    part_of,
)
from rankwell.reporting.line_charts import k_curves, parameter_chart
from rankwell.reporting.outputs.answers import failed_questions, leading_rows
from rankwell.reporting.page import Facts, PageSource
from rankwell.stats.verdicts import Family, MeasuredDifference, verdict

FEW = 50
"""A group of fewer queries is called small, as in the verdicts of a comparison."""
_MOST_PAIRS = 3


class Key(NamedTuple):
    """A measure on the page.

    measure: its exact name.
    of: the part of the result (`t2v`) that the measure covers; empty for the whole.
    """

    measure: str
    of: str


def measure_table(source: PageSource) -> dict[Key, Facts]:
    """The measures in the order of the summary, the primary one first, each with what people should
    know of it.
    """
    labels = {key_of(row, source): (row["label"], row["unit"]) for row in source.own_rows}
    for column, attributes in zip(source.values, source.row_attributes, strict=True):
        labels.setdefault(
            Key(column.measure, part_of(attributes, attributes)), (column.label, column.unit)
        )
    return {key: _measure(key, label, unit, source) for key, (label, unit) in labels.items()}


def key_of(row: Row, source: PageSource) -> Key:
    """The measure that a row of the summary is about, or that its difference is of."""
    return Key(row.get("of") or row["measure"], part_of(row, source.query_columns))


def cutoff_of(measure: str) -> int | None:
    """The cut-off of a measure, None where it has none or is not a measure of rankwell."""
    try:
        return parse_measure(measure).cutoff
    except BadUsage:
        return None


def lead(source: PageSource, measures: Mapping[Key, Any]) -> int:
    """The measure that the headline is about."""
    rows = [row for row in source.rows if is_difference(row["measure"])]
    keys = [key_of(row, source) for row in rows or leading_rows(source.own_rows, source.kind)]
    return next(([*measures].index(key) for key in keys if key in measures), 0)


def summary(source: PageSource, measures: Mapping[Key, Any]) -> list[Facts]:
    """The figure of each run and measure with its interval, and with its ceiling and its chance
    level where they are known.
    """
    runs, measure_keys = source.runs, [*measures]
    return [
        {
            "run": runs.index(row["run"]),
            "measure": measure_keys.index(key_of(row, source)),
            **_cells(row, _FIGURES),
            **{
                name: plain(row[name])
                for name in ("ceiling", "chance")
                if row.get(name) is not None
            },
        }
        for row in source.own_rows
        if row["run"] in runs
    ]


def differences(source: PageSource, measures: Mapping[Key, Any]) -> list[Facts]:
    """Paired differences, b less a; better, worse, equal: the number of queries in which b is. The
    headline's pair comes first, in its direction.
    """
    runs, measure_keys, comparisons = source.runs, [*measures], list[Facts]()
    for row in source.rows:
        key = key_of(row, source)
        if not is_difference(row["measure"]) or key not in measure_keys:
            continue
        a, b, cells = row["against"], row["run"], _cells(row, _DIFFERENCE)
        if (b, a) == source.pair:
            a, b = b, a
            ends = {"difference": "difference", "low": "high", "high": "low"}
            cells |= {
                name: None if cells[opposite] is None else 0.0 - cells[opposite]
                for name, opposite in ends.items()
            }
            cells |= {"better": cells["worse"], "worse": cells["better"]}
        compared = {"a": runs.index(a), "b": runs.index(b), "measure": measure_keys.index(key)}
        comparisons.append({**compared, **cells, "role": row.get("role")})
    return sorted(
        comparisons, key=lambda row: source.pair not in (None, (runs[row["a"]], runs[row["b"]]))
    )


def verdicts(source: PageSource) -> list[str]:
    """The sentences of the page, the headline first: who fails where stages are judged, else the
    comparison's.
    """
    finding = [failed_questions(source.failures, source.rules)] if source.failures else []
    return [*finding, *source.verdicts]


def failures(source: PageSource) -> list[Facts]:
    """The number of queries that each stage failed, and why; alone: how many of them are right from
    the right passage.
    """
    return [
        {
            **{name: row[name] for name in ("failed", "why", "share")},
            "n": row["questions"],
            "alone": row.get("right_alone"),
        }
        for row in source.failures
    ]


def settings(source: PageSource) -> Facts | None:
    """The parameters that vary between the settings of an engine, and by engine those that do not;
    None for other runs.

    choices: words of the choices that a run belongs to. others: processors that other processes
    used.
    """
    rows = [row for row in source.settings if row["run"] in source.runs]
    if not rows:
        return None
    parameters = (str(name) for row in rows for name in (*row["tried"], *row["values"]))
    names = list(dict.fromkeys(["engine", *parameters]))
    setting_values = [{name: _parameter(row["values"].get(name)) for name in names} for row in rows]
    engines = grouped((values["engine"], values) for values in setting_values).values()
    varying = [
        name
        for name in names
        if any(len({values[name] for values in engine}) > 1 for engine in engines)
    ]
    fixed = [
        [
            [name, value]
            for name, value in first.items()
            if name not in varying and value is not None
        ]
        for first, *_ in engines
    ]
    varying = ["engine", *varying] if len(engines) > 1 else varying
    return {
        "varying": varying,
        "fixed": fixed,
        "rows": [
            {
                "run": source.runs.index(row["run"]),
                "values": [values[name] for name in varying],
                "choices": list(row["choices"]),
                "others": plain(row["others"]),
            }
            for row, values in zip(rows, setting_values, strict=True)
        ],
    }


def _parameter(value: Any) -> str | None:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else value and str(value)


_FIGURES = {"mean": "mean", "low": "ci_low", "high": "ci_high", "sd": "sd", "n": "n"}
_DIFFERENCE = {
    "difference": "mean",
    "low": "ci_low",
    "high": "ci_high",
    "p": "p",
    "adjusted_p": "p_adjusted",
    "decisive": "decisive",
    "better": "wins",
    "worse": "losses",
    "equal": "ties",
}
"""Names of the page's figures, and their columns in the summary."""


def _cells(row: Row, names: Mapping[str, str]) -> Facts:
    return {name: plain(row[column]) for name, column in names.items()}


def groups(source: PageSource) -> list[Facts]:
    """The groups of queries, each with its own verdict by the first measure; of many pairs the
    number of differences.
    """
    rows = grouped(
        (row["group"], row)
        for row in source.groups
        if key_of(row, source) == key_of(source.groups[0], source)
    )
    return [_group(name, group_rows, source) for name, group_rows in rows.items()]


def _measure(key: Key, label: str, unit: str, source: PageSource) -> Facts:
    stored = (source.rules.get("measures") or {}).get(key.measure)
    stored_definition: Mapping[str, Any] = stored if isinstance(stored, Mapping) else {}
    try:
        registered: Mapping[str, Any] = parse_measure(key.measure).entry.definition
    except BadUsage:
        registered = {"better": "lower" if unit == "rank" else "higher"}
    return {
        "name": key.measure,
        "label": label,
        "unit": unit,
        "better": source.better.get(key.measure)
        or stored_definition.get("better")
        or registered["better"],
        "of": source.kind.parts.get(key.of, key.of) or None,
        "summary": stored_definition.get("summary", "mean"),
        "definition": stored_definition.get("definition") or registered.get("definition"),
    }


def _group(name: str, rows: Sequence[Row], source: PageSource) -> Facts:
    attribute = str(source.rules.get("group", ""))
    value = (
        name.removeprefix(attribute).strip().removeprefix("=").strip()
        if name.startswith(attribute)
        else name
    )
    n = max(row["n"] for row in rows)
    decisive = sum(bool(row["decisive"]) for row in rows)
    sentence = (
        f"{decisive} of {len(rows)} pairs differ significantly by {difference_label(rows[0])}."
    )
    if len(rows) <= _MOST_PAIRS:
        sentence = " ".join(_sentence(row, source) for row in rows)
    return {
        "name": attribute,
        "value": value,
        "n": n,
        "verdict": sentence,
        "decisive": bool(decisive),
        "small": n < FEW,
    }


def _sentence(row: Row, source: PageSource) -> str:
    family = Family("none", 1, "", source.rules.get("level", 0.95), noun=source.kind.noun[1])
    return verdict(MeasuredDifference.of_row(row, difference_label(row)), family=family)


_MOST_CURVES, _MOST_PANELS = 6, 3


def charts(source: PageSource) -> list[Facts]:
    """`{"id", "title", "note", "spec"}` of every chart that has something to draw, limited as its
    note says; see docs/reference/results.md.
    """
    rules = source.rules
    frontier = rules.get("frontier")
    if isinstance(frontier, Mapping):
        engines = {
            row["run"]: row["values"]["engine"]
            for row in source.settings
            if "engine" in row["values"]
        }
        frontier = {**frontier, "engines": engines}
    run_curves = [row for row in rules.get("risk_coverage") or () if row["run"] in source.runs]
    ranked = [row for row in rules.get("mean_ranks") or () if len(row["mean_ranks"]) > 2]

    def draw(name: str, rows: Sequence[Row], **changes: Any) -> Spec | None:
        attributes, noun = source.row_attributes, source.kind.noun
        return CHARTS[name](ChartData(rows, source.values, {**rules, **changes}, attributes, noun))

    drawn: dict[str, _Drawn] = {
        "frontier": (draw("frontier", source.own_rows, frontier=frontier), ""),
        **_parameter_curves(source),
    }
    drawn["k_curves"] = _curves(source)
    drawn["risk_coverage"] = draw("risk_coverage", (), risk_coverage=run_curves), ""
    diagram = draw("critical_difference", (), mean_ranks=ranked[:1])
    drawn["critical_difference"] = diagram, _first(1, len(ranked))
    return [_entry(name, spec, limit) for name, (spec, limit) in drawn.items() if spec is not None]


_Drawn = tuple[Spec | None, str]
"""A chart, None where there is nothing to draw, and which part of the results it is limited to."""


def _parameter_curves(source: PageSource) -> dict[str, _Drawn]:
    """For each parameter that was tried with several values the measures over it, a line for each
    value of the others.
    """
    values_of_run = {row["run"]: row["values"] for row in source.settings}
    tried = list(dict.fromkeys(str(name) for row in source.settings for name in row["tried"]))
    means: dict[str, list[tuple[str, float | None]]] = {
        row["measure"]: []
        for row in source.own_rows
        if row["run"] in values_of_run and row["mean"] is not None
    }
    for row in source.own_rows:
        means.get(row["measure"], []).append((row["run"], row["mean"]))
    # Quality and recall come first; of the costs only that of the frontier. A measure that has the
    # means of an earlier one draws nothing new.
    per_query_measures = {column.measure for column in source.values}
    quality = [
        measure
        for index, measure in enumerate(means)
        if measure in per_query_measures and means[measure] not in [*means.values()][:index]
    ]
    frontier: Any = source.rules.get("frontier")
    cost = frontier.get("cost") if isinstance(frontier, Mapping) else None
    measures = [*quality[:_MOST_PANELS], *({cost} & means.keys())]
    curves: dict[str, _Drawn] = {}
    for name in tried:
        lines = [
            _curve_row(row, values_of_run[row["run"]], name, tried)
            for row in source.own_rows
            if row["measure"] in measures and name in values_of_run.get(row["run"], ())
        ]
        if lines:
            curves[f"over_{name}"] = parameter_chart(lines, name, point="setting"), ""
    return curves


def _curve_row(row: Row, values: Row, name: str, tried: Sequence[str]) -> Facts:
    other_parameters = " ".join(
        f"{parameter}={_parameter(values[parameter])}"
        for parameter in tried
        if parameter != name and parameter in values
    )
    return {
        **row,
        # The intervals of lines that cross would hide them; the table of settings has them.
        "ci_low": None,
        "ci_high": None,
        "system": str(values.get("engine", "")),
        "series": other_parameters or str(values.get("engine", row["run"])),
        "value": values[name],
    }


def _first(n_drawn: int, n_measures: int) -> str:
    words = f"the first {n_drawn}" if n_drawn > 1 else "the first"
    return "" if n_drawn == n_measures else f"{words} of {n_measures} measures"


def _curves(source: PageSource) -> _Drawn:
    """The first measures over their cut-offs that have several; None where there are none."""
    points: dict[str, dict[int, list[Row]]] = {}
    for row in source.own_rows:
        k = None if row["mean"] is None else row.get("k") or cutoff_of(row["measure"])
        part = part_of(row, source.query_columns)
        word, _, cut = str(row["label"]).rpartition("@")
        if k is not None and cut == str(k) and (word or part):
            word = f"{source.kind.parts.get(part, part)}: {word}" if part else word
            points.setdefault(word, {}).setdefault(int(k), []).append(
                {**row, "label": f"{word}@{cut}", "k": int(k)}
            )
    curves = [rows_by_k for rows_by_k in points.values() if len(rows_by_k) > 1]
    curves_drawn = curves[:_MOST_CURVES]
    rows = [row for rows_by_k in curves_drawn for k in sorted(rows_by_k) for row in rows_by_k[k]]
    if not rows:
        return None, ""
    bands = "interval" if has_intervals(rows) else "sd"
    return k_curves(rows, bands=bands), _first(len(curves_drawn), len(curves))


def _entry(name: str, spec: Spec, beyond: str) -> Facts:
    """A chart without what the page brings itself: its title, its ground, its theme."""
    title = spec["title"]
    meaning, *scales = title["subtitle"]
    panels = {
        key: part
        for key, part in spec.items()
        if key not in ("title", "background", "padding", "config")
    }
    return {
        "id": name,
        "title": title["text"],
        "note": "; ".join(filter(None, (meaning, beyond, *scales))),
        "spec": _with_names(panels),
    }


def _with_names(spec: Any) -> Any:
    """The spec with names beside every panel: the page puts as many panels in a row as there is
    room for.
    """
    if isinstance(spec, dict):
        return {
            key: True if key == "labels" and child is False else _with_names(child)
            for key, child in spec.items()
        }
    return (
        [_with_names(child) for child in spec]
        if isinstance(spec, Sequence) and not isinstance(spec, str)
        else spec
    )
