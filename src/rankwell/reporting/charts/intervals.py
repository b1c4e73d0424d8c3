"""Means with their intervals, every run and measure on one page."""

from collections.abc import Mapping, Sequence
from typing import Any

from rankwell.reporting import Row, Rules, charts, has_intervals, runs_of
from rankwell.reporting.charts import ACCENT, STEP, ChartData, Spec

_WIDTH = 250


@charts.chart("intervals")
def intervals(data: ChartData) -> Spec | None:
    """A dot for each mean and a line for its interval: runs compared measure by measure, or a
    single run's measures by unit.

    Every panel has a scale of its own, which need not begin at 0: dots and lines are read by place.
    The parts of a result (directions) stand side by side on one scale, and figures of several parts
    together below them. Differences have charts of their own. None where no row has a mean.
    """
    mean_rows = [row for row in data.rows if not charts.is_difference(row["measure"])]
    rows = [row for row in mean_rows if row["mean"] is not None]
    if not rows:
        return None
    runs = runs_of(mean_rows)
    parts, combined = _parts(rows, data.row_attributes)
    names = charts.short_names(runs) if len(runs) > 1 else None

    # A sum and a mean of the same recalls share no scale.
    def panel(title: str, title_rows: Sequence[Row], is_first: bool) -> Spec:
        return _panel(title_rows, names, title=title, has_names=names is None or is_first)

    columns = None
    if len(parts) > 1:
        columns, panels = _in_columns(parts, names)
        titled = ((f"{part}: {_title(row)}", row) for part in combined for row in combined[part])
        panels += charts.by_title(titled, panel, columns)
    elif names is None:
        # Measures under each other, a panel per unit.
        columns, units = 1, list(dict.fromkeys(row["unit"] for row in rows))
        room = 0 if len(units) == 1 else max(len(_title(row)) for row in rows) * 6
        panels = [
            _panel([row for row in rows if row["unit"] == unit], None, room=room) for unit in units
        ]
    else:
        panels = charts.by_title(((_title(row), row) for row in rows), panel)
    single_rows = [row for part_rows in parts.values() for row in part_rows] or rows
    return charts.page(
        _heading(rows, data.rules), _subtitle(single_rows, runs, data.noun), panels, columns=columns
    )


def _parts(
    rows: Sequence[Row], row_attributes: Sequence[Row]
) -> tuple[dict[str, list[Row]], dict[str, list[Row]]]:
    """The rows of each part of a result, and those of each group of parts together, such as a sum
    over both directions.
    """
    keys = dict.fromkeys(key for attributes in row_attributes for key in attributes)
    part_names = {charts.part_of(attributes, keys) for attributes in row_attributes}
    parts, combined = dict[str, list[Row]](), dict[str, list[Row]]()
    for row in rows:
        part = charts.part_of(row, keys)
        group = parts if not row_attributes or part in part_names else combined
        group.setdefault(part, []).append(row)
    return parts, combined


def _in_columns(
    parts: Mapping[str, Sequence[Row]], runs: dict[str, str] | None
) -> tuple[int, list[Spec]]:
    """A column per part: of several runs a panel per measure, of a single one a panel per unit; and
    how many columns.
    """
    room = (
        0 if runs else max(len(_title(row, "share")) for rows in parts.values() for row in rows) * 6
    )
    # The rows on one scale: runs by one word, or a single run's measures in one unit.
    kinds: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for part, part_rows in parts.items():
        for row in part_rows:
            kind = row["label"] if runs else "", row["unit"]
            kinds.setdefault(kind, {name: [] for name in parts})[part].append(row)
    # Without a scale that parts share, there is nothing to stand beside.
    no_shared_scale = all(sum(map(bool, sets.values())) == 1 for sets in kinds.values())
    panels: list[Spec] = []
    for (_, unit), rows_by_part in kinds.items():
        domain_rows = [row for part_rows in rows_by_part.values() for row in part_rows]
        previous_names: list[str] = []
        for part, part_rows in rows_by_part.items():
            if part_rows:
                title = part if unit == "share" else f"{part}, {unit}"
                title = f"{part}: {_title(part_rows[0])}" if runs else title
                names = [row["run"] if runs else _title(row, "share") for row in part_rows]
                is_new, previous_names = names != previous_names, names
                panels.append(
                    _panel(
                        part_rows,
                        runs,
                        title=title,
                        has_names=is_new,
                        room=room,
                        domain_rows=domain_rows,
                    )
                )
            elif not no_shared_scale:
                gap = {"data": {"values": []}, "mark": "point", "width": _WIDTH, "height": STEP}
                panels.append(gap)
    return charts.columns_for(len(panels)) if no_shared_scale else len(parts), panels


def _heading(rows: Sequence[Row], rules: Rules) -> str:
    measures: Mapping[str, Any] = rules.get("measures", {})
    definitions = [measures.get(row["measure"], {}) for row in rows]
    are_means = not any(row["sd"] is None and (row["n"] or 0) > 1 for row in rows) and all(
        definition.get("summary", "mean") == "mean"
        for definition in definitions
        if isinstance(definition, Mapping)
    )
    word = "Means" if are_means else "Figures"
    if not has_intervals(rows):
        return word
    return f"{word} with {100 * rules.get('level', 0.95):g} % intervals"


def _title(row: Row, unit: str | None = None) -> str:
    return charts.panel_title(row["label"], row["measure"], row["unit"] if unit is None else unit)


def _subtitle(rows: Sequence[Row], runs: Sequence[str], noun: tuple[str, str]) -> str:
    # A mean over data sets has no number of queries of its own.
    sizes = sorted({row["n"] for row in rows if row["n"] is not None})
    numbers = " to ".join(f"{size:,}" for size in dict.fromkeys((sizes[0], sizes[-1])))
    counted = f"over {numbers} {noun[sizes != [1]]}"
    return f"{runs[0]}, {counted}" if len(runs) == 1 else counted


def _panel(
    rows: Sequence[Row],
    runs: dict[str, str] | None,
    *,
    title: str = "",
    has_names: bool = True,
    room: int = 0,
    domain_rows: Sequence[Row] = (),
) -> Spec:
    """Runs under each other where there are several, else measures. has_names: whether names stand
    beside, in that much room. domain_rows: those that the scale covers.
    """
    unit = "share" if title else None
    marks = [
        charts.interval_mark(row, runs[row["run"]] if runs else _title(row, unit)) for row in rows
    ]
    ends = [charts.bounds(row) for row in domain_rows or rows]
    panel = charts.interval_panel(
        marks,
        list(runs.values()) if runs else [mark["name"] for mark in marks],
        charts.nice_domain(min(low for low, _ in ends), max(high for _, high in ends)),
        axis={"labels": has_names, "minExtent": room if has_names else 0},
        point={"filled": True, "size": 70, "color": ACCENT, "opacity": 1},
        width=_WIDTH if runs or title else 2 * _WIDTH,
    )
    return {"title": title, **panel} if title else panel
