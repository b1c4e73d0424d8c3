"""The table on a terminal, and the same text in a pipe; where it does not fit the terminal, a block of lines per row.

What leaves the table before that: exact names and units, names of runs, then `sd`, `chance` and `ceiling`, which is said.
"""

from functools import partial
from itertools import compress
from textwrap import wrap

from rankwell.report import Grid, Terminal, output, styled, table_lines, text_table, total_width, width_of

_NARROW = 60
"""On fewer columns than these a table would be little more than names: blocks show all figures."""


def _narrow(grid: Grid, terminal: Terminal) -> str:
    """The table with no more taken out of it than must be; blocks where it does not fit without its last figures."""
    room = terminal.width or 0
    if not {"measure", "mean"} <= set(grid.headers):
        return _stack(grid, terminal, room)
    table, below, names, left = _without(grid, "exact name", "unit"), _legend(grid), list[str](), list[str]()
    if total_width(table) > room and table.grouped:
        table, names = _without(table, "run"), [row[0] for row in table.rows]
    for name in ("sd", "chance", "ceiling"):
        if room >= _NARROW and total_width(table) > room and name in table.headers:
            table, left = _without(table, name), [*left, name]
    if total_width(table) > room:
        return _stack(grid, terminal, room)
    if left:
        below.append(f"left out for want of width: {', '.join(left)}")
    lines = [styled(line, "2", terminal) for text in below for line in wrap(text, room)]
    return "\n".join([*table_lines(table, terminal, names), *lines])


def _legend(grid: Grid) -> list[str]:
    """The exact names and the units of a table without the columns for them."""
    said: dict[str, dict[str, None]] = {}
    for cells in grid.rows:
        row = dict(zip(grid.headers, cells, strict=True))
        word, exact = row["measure"], row.get("exact name", row["measure"])
        named = word if exact in (word, word.partition(" (")[0]) else f"{word} = {exact}"
        if "unit" in row or named != word:
            said.setdefault(row.get("unit", "exact names"), {})[named] = None
    found = "; ".join(f"{unit}: {', '.join(named)}" for unit, named in said.items())
    return [found] if found else []


def _without(grid: Grid, *names: str) -> Grid:
    kept = [name not in names for name in grid.headers]
    rows = [[*compress(row, kept)] for row in grid.rows]
    return Grid([*compress(grid.headers, kept)], [*compress(grid.numeric, kept)], rows, grid.grouped and "run" not in names)


def _stack(grid: Grid, terminal: Terminal, room: int) -> str:
    """The subject of each row, then its figures with their names, as many to a line as fit."""
    texts = [*grid.numeric, True].index(True)
    lines: list[str] = []
    for row in grid.rows:
        lines.append(styled(" · ".join(row[:texts]), "1", terminal))
        line = ""
        for name, cell in zip(grid.headers[texts:], row[texts:], strict=True):
            part = f"  {name} {cell}"
            if line and width_of(line + part) > max(room, 20):
                lines.append(line)
                line = ""
            line += part
        lines += [line] if line else []
    return "\n".join(lines)


output("table")(partial(text_table, narrow=_narrow))
