"""Markdown tables, as GitHub reads them."""

import re

from rankwell.report import Document, Grid, Strong, grids, output, rules_line, visible

_SPECIAL = re.compile(r"[\\|*<>`\[\]~]|(?<![^\W_])_|_(?![^\W_])")


@output("md")
def render_markdown(document: Document) -> str:
    """Pipe tables with the rules below, a title above, a legend at the end; what Markdown would read as markup is escaped."""
    parts = [f"**{_escape(visible(document.title))}**"] if document.title else []
    parts += ["\n".join(_lines(grid)) for grid in grids(document)]
    rules = rules_line(document.rules)
    lines = [_escape(visible(line)) for line in document.legend]
    return "\n\n".join([*parts, *([f"rules: {_escape(rules)}"] if rules else []), *lines]) + "\n"


def _lines(grid: Grid) -> list[str]:
    rows = [[_cell(cell) if not number else cell for cell, number in zip(row, grid.numeric, strict=True)] for row in grid.rows]
    headers = [_escape(cell) for cell in grid.headers]
    widths = [max(3, *map(len, column)) for column in zip(headers, *rows, strict=True)]
    marks = ["-" * (width - 1) + ":" if number else "-" * width for width, number in zip(widths, grid.numeric, strict=True)]
    lines = [headers, marks, *rows]
    return ["| " + " | ".join(_pad(*cell) for cell in zip(line, widths, grid.numeric, strict=True)) + " |" for line in lines]


def _pad(cell: str, width: int, number: bool) -> str:
    return cell.rjust(width) if number else cell.ljust(width)


def _cell(cell: str) -> str:
    first, blank, rest = cell.partition(" ")
    return f"**{_escape(first)}**{blank}{_escape(rest)}" if isinstance(cell, Strong) else _escape(cell)


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)
