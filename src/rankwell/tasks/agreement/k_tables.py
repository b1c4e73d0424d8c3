"""Figures over the cut-off: a line per k and a column per measure, as some papers' own scripts print and save them."""

from collections.abc import Mapping, Sequence
from typing import Any

from rankwell.report import MISSING, Row, visible

_RULE = 70
_COLUMN = 15


def k_table(rows: Sequence[Row], title: str) -> str:
    """A title, a rule, and for each run its name and a table with a line per k; cells are mean±sd with 3 decimals.

    rows: summary rows with `k`, of measures whose labels are `Word@k`.
    """
    parts = [f"{title}\n{'=' * _RULE}"]
    for run in dict.fromkeys(row["run"] for row in rows):
        cells = {key: _cell(row) for key, row in _by_place(rows, run).items()}
        parts.append(f"{visible(run)}:\n{_grid(cells)}")
    return "\n\n".join(parts) + "\n"


def change_table(rows: Sequence[Row]) -> str:
    """For each run a table of its relative changes, in per cent, with their intervals where there are any; empty without rows."""
    parts: list[str] = []
    for run in dict.fromkeys(row["run"] for row in rows):
        mine = _by_place(rows, run)
        level = "" if all(row["ci_low"] is None for row in mine.values()) else " [95 % interval]"
        heading = f"Relative change of {visible(run)} against {visible(next(iter(mine.values()))['against'])}{level}:"
        parts.append(f"{heading}\n{_grid({key: _change(row) for key, row in mine.items()})}")
    return "\n\n".join(parts) + "\n" if parts else ""


def k_columns(rows: Sequence[Row], run: str) -> str:
    """A run's figures as CSV: `k`, then `word_mean` and `word_std` for every measure, in full precision."""
    cells = _by_place(rows, run)
    words = list(dict.fromkeys(word for _, word in cells))
    lines = [",".join(["k", *(f"{word.lower()}_{what}" for word in words for what in ("mean", "std"))])]
    for k in sorted({k for k, _ in cells}):
        found = [cells.get((k, word), {}) for word in words]
        lines.append(",".join([str(k), *(_full(each.get(what)) for each in found for what in ("mean", "sd"))]))
    return "\n".join(lines) + "\n"


def _by_place(rows: Sequence[Row], run: str) -> dict[tuple[int, str], Row]:
    """The rows of a run with a k, by k and by the label without it."""
    own = [row for row in rows if row["run"] == run and row["k"] is not None]
    return {(row["k"], _word(row)): row for row in own}


def _word(row: Row) -> str:
    word = row["label"].replace(f"@{row['k']}", "", 1)
    return word.removeprefix("Change(").removesuffix(")") if row["measure"].startswith("Change(") else word


def _grid(cells: Mapping[tuple[int, str], str]) -> str:
    words = list(dict.fromkeys(word for _, word in cells))
    width = max(_COLUMN, *(len(text) + 2 for text in [*words, *cells.values()]))
    lines = ["k".ljust(5) + "".join(word.ljust(width) for word in words)]
    lines += [
        str(k).ljust(5) + "".join(cells.get((k, word), MISSING).ljust(width) for word in words)
        for k in sorted({k for k, _ in cells})
    ]
    return "\n".join(line.rstrip() for line in lines)


def _cell(row: Row) -> str:
    mean, sd = row["mean"], row["sd"]
    return MISSING if mean is None else f"{mean:.3f}±{MISSING if sd is None else f'{sd:.3f}'}"


def _change(row: Row) -> str:
    if row["mean"] is None:
        return MISSING
    interval = "" if row["ci_low"] is None else f" [{100 * row['ci_low']:+.1f}, {100 * row['ci_high']:+.1f}]"
    return f"{100 * row['mean']:+.1f} %{interval}"


def _full(value: Any) -> str:
    return "" if value is None else repr(value)
