"""A comparison for people: sentences, the differences, the groups, the order of systems."""

from collections.abc import Mapping, Sequence
from typing import Any

from rankwell.report import MISSING, PLAIN, Format, Row, Terminal, figure, plain, render_rows, rules_line, visible
from rankwell.report.charts import difference_label


def difference_text(
    tables: Mapping[str, Sequence[Row]],
    differences: Sequence[Row],
    per_query: Sequence[Row] | None,
    rules: Mapping[str, Any],
    format: Format,  # noqa: A002
    terminal: Terminal = PLAIN,
) -> str:
    """The text of a comparison in a format for people, ending in a line break.

    tables: `verdicts`, and where there are any `groups`, `systems`, `orders`, `borda`; of groups those by the first measure are
    shown. differences: rows of summaries with what belongs to differences. per_query: rows of single queries, of which those of
    differences are shown.
    """
    parts = [_sentences(tables.get("verdicts", ()), format)]
    if per_query is not None:
        singles = [_single(row) for row in per_query if row.get("against") is not None]
        parts.append(render_rows(singles, format, terminal=terminal))
    parts.append(render_rows(shown_differences(differences), format, terminal=terminal))
    if tables.get("groups"):
        first = tables["groups"][0]["of"]
        groups = [row for row in tables["groups"] if row["of"] == first]
        parts.append(render_rows(shown_differences(groups), format, terminal=terminal))
    if tables.get("systems"):
        parts.append(render_rows(_systems(tables["systems"], tables.get("borda", ())), format, terminal=terminal))
    if tables.get("orders"):
        names = {
            "first": "order by",
            "second": "and by",
            "tau": "Kendall's τ",
            "tau_ap": "τ-AP",
            "rbo": "RBO",
            "systems": "systems",
        }
        rows = [{word: row[name] for name, word in names.items()} for row in tables["orders"]]
        parts.append(render_rows(rows, format, terminal=terminal))
    line = rules_line(rules)
    # A comment in LaTeX, a paragraph elsewhere.
    parts += [f"{'% ' if format == 'latex' else ''}rules: {line}"] if line else []
    return "\n\n".join(part.rstrip("\n") for part in parts if part) + "\n"


def _sentences(verdicts: Sequence[Row], format: Format) -> str:  # noqa: A002
    mark = {"latex": "% "}.get(format, "")
    return "\n".join(mark + visible(row["text"]) for row in verdicts)


def shown_differences(rows: Sequence[Row]) -> list[Row]:
    """The columns of differences that people read, figures as text."""
    # Columns that distinguish a measure's rows lie between the columns of every summary and those of differences.
    names = list(rows[0]) if rows else []
    attributes = names[names.index("unit") + 1 : names.index("against")] if rows else []
    corrected = any(row["p_adjusted"] != row["p"] for row in rows)
    shown: list[Row] = []
    for row in rows:
        unit = row["unit"]
        cells: dict[str, Any] = {"run": row["run"], "against": row["against"], "measure": _word(row)}
        cells |= {name: row.get(name) for name in attributes}
        cells |= {"group": row["group"]} if "group" in row else {}
        cells |= {name: figure(row[source], unit) for name, source in (("its mean", "mean_run"), ("other's", "mean_against"))}
        cells["difference"] = _signed(row["mean"], unit)
        cells["interval"] = _interval(row)
        cells["p"] = _p(row["p"])
        cells |= {"adjusted p": _p(row["p_adjusted"])} if corrected else {}
        cells["effect"] = MISSING if row["effect_size"] is None else f"{row['effect_size']:+.2f}"
        cells["won/tied/lost"] = f"{row['wins']}/{row['ties']}/{row['losses']}"
        cells["detectable"] = figure(row["detectable"], unit)
        cells["n"] = row["n"]
        shown.append(cells)
    return shown


def _single(row: Row) -> Row:
    return {
        "run": row["run"],
        "against": row["against"],
        "query": row["query"],
        "measure": row["label"],
        "difference": _signed(row["value"], row["unit"]),
    }


def _systems(rows: Sequence[Row], borda: Sequence[Row]) -> list[Row]:
    """A row per system, best first: its mean by each measure with its letters, and its Borda points over the measures."""
    points = {row["run"]: row["points"] for row in borda}
    first = rows[0]["measure"]
    ranks = {row["run"]: row["rank"] for row in rows if row["measure"] == first}
    runs = sorted(dict.fromkeys(row["run"] for row in rows), key=lambda run: ranks.get(run, len(rows)))
    shown: list[Row] = []
    for run in runs:
        cells: dict[str, Any] = {"system": run}
        for row in rows:
            if row["run"] == run:
                letters = f" {row['letters']}" if row["letters"] else ""
                attributes = [str(cell) for name, cell in row.items() if name not in _SYSTEM and cell is not None]
                cells[" ".join([row["measure"], *attributes])] = figure(row["mean"], row["unit"]) + letters
        shown.append(cells | ({"Borda points": f"{points[run]:g}"} if run in points else {}))
    return shown


_SYSTEM = frozenset(("run", "measure", "mean", "rank", "mean_rank", "letters", "unit"))


def _word(row: Row) -> str:
    label = difference_label(row)
    return label if label == row["of"] else f"{label} = {row['of']}"


def _signed(value: Any, unit: str) -> str:
    number = plain(value)
    if number is None:
        return MISSING
    text = figure(number, unit)
    return f"+{text}" if number > 0 else text


def _interval(row: Row) -> str:
    if row["ci_low"] is None or row["ci_high"] is None:
        return MISSING
    return f"[{_signed(row['ci_low'], row['unit'])}, {_signed(row['ci_high'], row['unit'])}]"


def _p(value: float | None) -> str:
    if value is None:
        return MISSING
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"
