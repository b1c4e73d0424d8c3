"""The table on a terminal, and the same text in a pipe."""

from collections.abc import Sequence
from textwrap import wrap
from typing import NamedTuple

from rankwell.report import Document, Grid, grids, output, rules_line, visible

_NARROW = 60
"""On fewer columns than these a table would be little more than names: blocks show all figures."""


@output("table")
def render_table(document: Document) -> str:
    """Aligned columns with one line of rules below; where they do not fit the terminal, a block of lines per row.

    Before that, what leaves the table first are exact names and units, which stand below it then, the names of runs, which stand
    above their rows, and `sd`, `chance` and `ceiling`, which is said.
    """
    parts = [_styled(visible(document.title), "1", document)] if document.title else []
    parts += [_lay_out(grid, document) for grid in grids(document)]
    rules = rules_line(document.rules)
    if rules:
        parts[-1] += "\n" + _styled("rules: " + rules, "2", document)
    return "\n\n".join(parts) + "\n"


def _lay_out(grid: Grid, document: Document) -> str:
    if not grid.headers:
        return ""
    room = document.terminal.width
    if room is None or _total(grid) <= room:
        return "\n".join(_table(grid, document))
    fitted = _fitted(grid, room)
    if fitted is None:
        return _stack(grid, document)
    below = [_styled(line, "2", document) for text in fitted.below for line in wrap(text, room)]
    return "\n".join([*_table(fitted.grid, document, names=fitted.names), *below])


class _Fitted(NamedTuple):
    """A table made narrower. names: that of each row's run, where it stands above its rows. below: what is said of the rest."""

    grid: Grid
    names: list[str]
    below: list[str]


def _fitted(grid: Grid, room: int) -> _Fitted | None:
    """The summary with no more taken out of it than must be; None where it does not fit without its last figures."""
    if not {"measure", "mean"} <= set(grid.headers):
        return None
    below, names, left = _legend(grid), list[str](), list[str]()
    grid = _without(grid, "exact name", "unit")
    if _total(grid) > room and grid.grouped:
        names, grid = [row[0] for row in grid.rows], _without(grid, "run")
    for name in ("sd", "chance", "ceiling"):
        if room >= _NARROW and _total(grid) > room and name in grid.headers:
            grid, left = _without(grid, name), [*left, name]
    if left:
        below.append(f"left out for want of width: {', '.join(left)}")
    return _Fitted(grid, names, below) if _total(grid) <= room else None


def _legend(grid: Grid) -> list[str]:
    """The exact names and the units of a table without the columns for them."""
    cells = [dict(zip(grid.headers, row, strict=True)) for row in grid.rows]
    said: dict[str, list[str]] = {}
    for row in cells:
        word, exact = row["measure"], row.get("exact name", row["measure"])
        bare = word.partition(" (")[0]
        named = word if exact in (word, bare) else f"{word} = {exact}"
        mine = said.setdefault(row.get("unit", "exact names"), [])
        if named not in mine and ("unit" in row or named != word):
            mine.append(named)
    found = "; ".join(f"{unit}: {', '.join(named)}" for unit, named in said.items() if named)
    return [found] if found else []


def _without(grid: Grid, *names: str) -> Grid:
    kept = [place for place, name in enumerate(grid.headers) if name not in names]
    rows = [[row[place] for place in kept] for row in grid.rows]
    grouped = grid.grouped and "run" not in names
    return Grid([grid.headers[place] for place in kept], [grid.numeric[place] for place in kept], rows, grouped)


def _widths(grid: Grid) -> list[int]:
    return [max(map(_width, column)) for column in zip(grid.headers, *grid.rows, strict=True)]


def _total(grid: Grid) -> int:
    widths = _widths(grid)
    return sum(widths) + 2 * (len(widths) - 1)


def _table(grid: Grid, document: Document, *, names: Sequence[str] = ()) -> list[str]:
    """The lines of a table. names: that of each row's run, which stands above the first of its rows."""
    widths = _widths(grid)
    lines = [_styled(_line(grid.headers, widths, grid.numeric), "1", document), _styled("─" * _total(grid), "2", document)]
    last = ""
    for place, row in enumerate(grid.rows):
        if names and (place == 0 or names[place] != names[place - 1]):
            lines.append(_styled(names[place], "1", document))
        shown = ["", *row[1:]] if grid.grouped and row[0] == last else row
        last = row[0]
        lines.append(_line(shown, widths, grid.numeric))
    return lines


def _line(cells: list[str], widths: list[int], numeric: list[bool]) -> str:
    padded = [
        " " * (width - _width(cell)) + cell if right else cell + " " * (width - _width(cell))
        for cell, width, right in zip(cells, widths, numeric, strict=True)
    ]
    return "  ".join(padded).rstrip()


def _stack(grid: Grid, document: Document) -> str:
    """For a narrow terminal: what the row is about, then its figures with their names, as many to a line as fit."""
    room = max(document.terminal.width or 80, 20)
    texts = next((place for place, number in enumerate(grid.numeric) if number), len(grid.numeric))
    lines: list[str] = []
    for row in grid.rows:
        lines.append(_styled(" · ".join(row[:texts]), "1", document))
        line = ""
        for name, cell in zip(grid.headers[texts:], row[texts:], strict=True):
            figure = f"  {name} {cell}"
            if line and _width(line + figure) > room:
                lines.append(line)
                line = ""
            line += figure
        lines += [line] if line else []
    return "\n".join(lines)


def _styled(text: str, code: str, document: Document) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if document.terminal.colour else text


def _width(text: str) -> int:
    """The columns that the text takes: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
