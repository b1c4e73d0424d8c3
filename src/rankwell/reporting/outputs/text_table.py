"""The table on a terminal, and the same text in a pipe. What does not fit a terminal is wrapped or
goes on in further panels, which repeat the columns that name the rows. No heading is ever cut.
Decimal points are one below the other.
"""

import re
from collections.abc import Sequence
from itertools import zip_longest

from rankwell.reporting import Grid, PrintedFigure, Terminal, folded, styled, width_of

_NARROW = 60
"""On fewer columns than these a table would be little more than names: blocks show all figures."""
_WRAPPED = 20
"""No text is wrapped to fewer columns than these where there is room for a further panel."""
_BROKEN = 8
"""Names that do not leave room for a single figure are broken into pieces of at least this size."""
_PIECES = re.compile(r"\S+?(?:,|(?=\s|$))\s*")
_ENDS = re.compile(r"(?<=,) | (?=\[)")
_WITH_INTERVAL = 3
"""The parts of a figure with its interval: the figure and both ends."""
_BEFORE_POINT = re.compile(r"[^\d.]*\d*(?:[/,]\d+)*")


def fitted(grid: Grid, terminal: Terminal) -> str:
    """The table, in panels where the terminal is too narrow for it."""
    if not grid.headers:
        return ""
    room, aligned = terminal.width, _aligned(grid)
    widths = _widths(aligned)
    if room is None or _total(widths) <= room:
        return "\n".join(_lines(aligned, range(len(widths)), widths, terminal))
    return _panels(aligned, terminal, room) or _stack(grid, terminal, room)


def _aligned(grid: Grid) -> Grid:
    """The table with columns of figures of equal width, decimal points one below the other."""
    columns = [[row[index] for row in grid.rows] for index in range(len(grid.headers))]
    columns = [
        at_the_point(column) if number else _with_figures(column)
        for column, number in zip(columns, grid.numeric, strict=True)
    ]
    return grid._replace(rows=[[*row] for row in zip(*columns, strict=True)])


def _with_figures(cells: Sequence[str]) -> Sequence[str]:
    """Texts among which are figures: these are aligned, where there are any."""
    aligned_figures = at_the_point(
        [cell if isinstance(cell, PrintedFigure) else "" for cell in cells]
    )
    return [aligned or cell for aligned, cell in zip(aligned_figures, cells, strict=True)]


def at_the_point(cells: Sequence[str]) -> list[str]:
    """Figures padded so that their decimal points stand at one place, and those of either end of an
    interval at another.
    """
    parts = {
        row: _ENDS.split(cell, maxsplit=_WITH_INTERVAL - 1)
        for row, cell in enumerate(cells)
        if any(map(str.isdigit, cell))
    }
    ends = max(map(len, parts.values()), default=0)
    # A figure without an interval stands below those that have one.
    parts = {
        row: figure_parts
        for row, figure_parts in parts.items()
        if len(figure_parts) == ends or (len(figure_parts) == 1 and ends == _WITH_INTERVAL)
    }
    for end in range(ends):
        sides: dict[int, tuple[str, str]] = {}
        for row, figure_parts in parts.items():
            text = figure_parts[end] if end < len(figure_parts) else ""
            after = _BEFORE_POINT.sub("", text, count=1)
            sides[row] = text.removesuffix(after), after
        left, right = (max(map(width_of, column)) for column in zip(*sides.values(), strict=True))
        for row, (before, after) in sides.items():
            padded = (
                " " * (left - width_of(before)) + before + after + " " * (right - width_of(after))
            )
            parts[row][end : end + 1] = [padded]
    return [" ".join(parts[row]) if row in parts else cell for row, cell in enumerate(cells)]


def _widths(grid: Grid) -> list[int]:
    return [max(map(width_of, column)) for column in zip(grid.headers, *grid.rows, strict=True)]


def _total(widths: Sequence[int]) -> int:
    """The columns that a table takes."""
    return sum(widths) + 2 * max(len(widths) - 1, 0)


def _panels(grid: Grid, terminal: Terminal, room: int) -> str:
    """The columns in as many tables as needed, each with those that name the rows: all before the
    first figure, or in a table of texts as many as tell the rows apart. Long texts are wrapped. ""
    without room.
    """
    natural = _widths(grid)
    least = [
        width
        if number
        else max(
            width_of(grid.headers[index]),
            min(width, _WRAPPED),
            *(
                width_of(unbroken.rstrip())
                for row in grid.rows
                for unbroken in _PIECES.findall(row[index])
            ),
        )
        for index, (width, number) in enumerate(zip(natural, grid.numeric, strict=True))
    ]
    first = max([*grid.numeric, True].index(True), 1)
    if first == len(natural):
        counts = range(1, max(first, 2))
        rows = len({*map(tuple, grid.rows)})
        apart = (n for n in counts if len({tuple(row[:n]) for row in grid.rows}) == rows)
        first = next(apart, 1)
    figure_columns = range(first, len(natural))
    # What is the same in all rows is said once, above them.
    same = [
        index
        for index in range(figure_columns.start - 1)
        if len({row[index] for row in grid.rows}) == 1 < len(grid.rows)
    ]
    keys = [index for index in range(figure_columns.start) if index not in same]
    above = folded(
        " · ".join(f"{grid.headers[index]}: {grid.rows[0][index]}" for index in same), terminal
    )

    def _needs(columns: Sequence[int]) -> int:
        return _total([least[index] for index in columns])

    # Long names are broken before short ones, such as the labels of measures.
    for longest in sorted(set(natural), reverse=True):
        if any(_needs([*keys, index]) > room for index in figure_columns):
            least = [
                fitting if number or width < longest else max(width_of(header), min(width, _BROKEN))
                for fitting, header, width, number in zip(
                    least, grid.headers, natural, grid.numeric, strict=True
                )
            ]
    if room < _NARROW or any(_needs([*keys, index]) > room for index in figure_columns):
        return ""
    panels = [keys[:]]
    for index in figure_columns:
        if len(panels[-1]) > len(keys) and _needs([*panels[-1], index]) > room:
            panels.append(keys[:])
        panels[-1].append(index)
    tables: list[str] = []
    for columns in panels:
        cap = max(natural)
        while (
            _total(widths := [max(least[index], min(natural[index], cap)) for index in columns])
            > room
        ):
            cap -= 1
        tables.append("\n".join(_lines(grid, columns, widths, terminal)))
    return "\n\n".join([above] * bool(same) + tables)


def _wrapped(text: str, width: int) -> list[str]:
    """The text on lines of at most this width, broken after blanks and commas, and words where they
    are longer.
    """
    if width_of(text) <= width:
        return [text]
    lines = [""]
    for piece in _PIECES.findall(text):
        if width_of(lines[-1] + piece.rstrip()) > width:
            lines.append("")
        for letter in piece.rstrip():
            if width_of(lines[-1] + letter) > width:
                lines.append("")
            lines[-1] += letter
        lines[-1] += piece[len(piece.rstrip()) :]
    return [line.rstrip() for line in lines if line]


def _lines(
    grid: Grid, columns: Sequence[int], widths: Sequence[int], terminal: Terminal
) -> list[str]:
    """The lines of these columns."""
    numeric = [grid.numeric[index] for index in columns]
    lines = [
        styled(_line([grid.headers[index] for index in columns], widths, numeric), "1", terminal)
    ]
    if grid.ruled:
        lines.append(styled("─" * _total(widths), "2", terminal))
    for row in grid.lines:
        cells = [_wrapped(row[index], width) for index, width in zip(columns, widths, strict=True)]
        lines += [_line(line, widths, numeric) for line in zip_longest(*cells, fillvalue="")]
    return lines


def _line(cells: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    gaps = [" " * (width - width_of(cell)) for cell, width in zip(cells, widths, strict=True)]
    return "  ".join(
        gap + cell if right else cell + gap
        for cell, gap, right in zip(cells, gaps, numeric, strict=True)
    ).rstrip()


def _stack(grid: Grid, terminal: Terminal, room: int) -> str:
    """The subject of each row, then its figures with their names, as many to a line as fit."""
    texts = [*grid.numeric, True].index(True)
    lines: list[str] = []
    for row in grid.rows:
        subject = folded(" · ".join(row[:texts]), terminal)
        lines += [styled(line, "1", terminal) for line in subject.split("\n")]
        line = ""
        for name, cell in zip(grid.headers[texts:], row[texts:], strict=True):
            part = f"  {name} {cell}"
            if line and width_of(line + part) > max(room, 20):
                lines.append(line)
                line = ""
            line += part
        lines += [line] if line else []
    return "\n".join(lines)
