"""Tables in Markdown, as GitHub reads them, and in LaTeX with the rules of booktabs."""

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from rankwell.reporting import (
    MISSING,
    Document,
    Grid,
    PrintedFigure,
    ScoreCell,
    grids,
    output,
    rules_line,
    visible,
)

# Of & and _ those alone that mean something: &amp; and _emphasis_.
_SPECIAL = re.compile(r"[\\|*<>`\[\]~$]|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])")
_INTERVAL = re.compile(r"\\\[([-+\d., ]+)\\\](?![(\[:])")


@output("md")
def render_markdown(document: Document) -> str:
    """Pipe tables with the rules below, a title above, a legend at the end; what Markdown would
    read as markup is escaped.
    """
    parts = [f"**{markdown_text(document.title)}**"] if document.title else []
    parts += ["\n".join(_pipes(grid)) for grid in grids(document)]
    rules = rules_line(document.rules)
    lines = [markdown_text(line) for line in document.legend]
    return (
        "\n\n".join([*parts, *([f"rules: {markdown_text(rules)}"] if rules else []), *lines]) + "\n"
    )


def _pipes(grid: Grid) -> list[str]:
    rows = [
        [
            cell if number else _markdown(cell)
            for cell, number in zip(row, grid.numeric, strict=True)
        ]
        for row in grid.rows
    ]
    headers = [_escape(cell) for cell in grid.headers]
    widths = [max(3, *map(len, column)) for column in zip(headers, *rows, strict=True)]
    marks = [
        "-" * (width - 1) + ":" if number else "-" * width
        for width, number in zip(widths, grid.numeric, strict=True)
    ]
    lines = [headers, marks, *rows]
    pads = [str.rjust if number else str.ljust for number in grid.numeric]
    padded = [
        [pad(cell, width) for pad, cell, width in zip(pads, line, widths, strict=True)]
        for line in lines
    ]
    return [f"| {' | '.join(line)} |" for line in padded]


def _markdown(cell: str) -> str:
    if not isinstance(cell, ScoreCell):
        return _escape(cell)
    figure = ("{}", "**{}**", "<u>{}</u>")[cell.place].format(_escape(cell.figure))
    marks = f"<sup>{cell.marks}</sup>" if cell.marks else ""
    return f"{figure}{marks} {_escape(cell.beside)}".rstrip()


def markdown_text(text: str) -> str:
    """A sentence between tables, which means what it meant; intervals stay readable."""
    return _INTERVAL.sub(r"[\1]", _escape(visible(text)))


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)


_NAMES = {
    "\\": "backslash",
    "^": "asciicircum",
    "~": "asciitilde",
    "<": "less",
    ">": "greater",
    "|": "bar",
    '"': "quotedbl",
}
_FORMULAS = {
    "α": r"\alpha",
    "β": r"\beta",
    "κ": r"\kappa",
    "ρ": r"\rho",
    "τ": r"\tau",
    "φ": r"\phi",
    "Δ": r"\Delta",
    "Ω": r"\Omega",
    "−": "-",
    "≤": r"\le",
    "≥": r"\ge",
    "·": r"\cdot",
    "×": r"\times",
}
_ESCAPES = str.maketrans(
    {mark: f"\\text{name}{{}}" for mark, name in {**_NAMES, "†": "dagger"}.items()}
    | {mark: f"\\{mark}" for mark in "{}$&#%_"}
    # After a line break LaTeX would take a bracket for the length of a gap.
    | {"[": "{[}", "]": "{]}", MISSING: "--"}
    # Letters and signs that pdfLaTeX has in formulas alone.
    | {mark: f"${name}$" for mark, name in _FORMULAS.items()}
)


_NARROWEST, _PIECE = 0.3, 16
"""The share of a table that wrapped names take; letters of a long word between possible breaks."""


class _Layout(NamedTuple):
    """A place for a table in an article of two columns.

    environment: `table` for one column, `table*` for both.
    room: its width in points.
    gap: points on either side of a column.
    size: the size of letters, as a share of the text's.
    """

    environment: str
    room: float
    gap: float
    size: float


_LAYOUTS = [
    _Layout(environment, room, gap, size)
    for environment, room in (("table", 200.0), ("table*", 410.0))
    for gap, size in ((6.0, 1.0), (3.0, 0.9))
]
"""The layouts in the order of preference, with the widths of LaTeX's article in 10 points."""


@output("latex")
def render_latex(document: Document) -> str:
    """A `tabular` (it needs the package booktabs), a rule between runs, the rules of evaluation in
    a comment above.

    With a title it is a whole `table`, as wide as one column or two: the title is its caption, the
    legend stands below in small print.
    """
    rules = rules_line(document.rules)
    parts = [r"% needs \usepackage{booktabs}", *([f"% rules: {rules}"] if rules else [])]
    tables = grids(document)
    if document.title:
        parts += [_float(grid, document) for grid in tables]
    else:
        parts += [_tabular(grid, range(len(grid.headers))) for grid in tables]
    return "\n".join(parts) + "\n"


def _float(grid: Grid, document: Document) -> str:
    """A whole table; columns that no layout has room for follow in a second one below."""
    scores = [isinstance(column[0], PrintedFigure) for column in zip(*grid.rows, strict=True)]
    first = [*scores, True].index(True)
    widths = [max(map(_width, column)) for column in zip(grid.headers, *grid.rows, strict=True)]
    environment, room, gap, size = next(
        (
            layout
            for layout in _LAYOUTS
            if sum(widths) * layout.size + 2 * layout.gap * len(widths) <= layout.room
        ),
        _LAYOUTS[-1],
    )
    most = room * _NARROWEST / size
    wide = sum(widths) * size + 2 * gap * len(widths) > room
    wrapped = [index for index in range(first) if wide and widths[index] > most]
    needed = [
        (most if index in wrapped else width) * size + 2 * gap for index, width in enumerate(widths)
    ]
    panels = [[*range(first)]]
    for column in range(first, len(widths)):
        full = sum(needed[index] for index in panels[-1]) + needed[column] > room
        if full and len(panels[-1]) > first:
            panels.append([*range(first)])
        panels[-1].append(column)
    tables = [_tabular(grid, panel, wrapped) for panel in panels]
    small = [r"\small", rf"\setlength{{\tabcolsep}}{{{gap:g}pt}}"] if size < 1 else []
    legend = [r"\par\smallskip\footnotesize\raggedright"] if document.legend else []
    return "\n".join(
        [
            rf"\begin{{{environment}}}",
            r"\centering",
            rf"\caption{{{_breakable(document.title)}}}",
            rf"\label{{{document.label}}}",
            *small,
            "\n\\par\\medskip\n".join(tables),
            *legend,
            *(rf"{_breakable(line)}\par" for line in document.legend),
            rf"\end{{{environment}}}",
        ]
    )


def _width(cell: str) -> float:
    """The width in points that the text takes at most."""
    if isinstance(cell, ScoreCell):
        return _width(cell.figure) + 0.75 * _width(f"{cell.marks} {cell.beside}".strip())
    return sum(
        3.9
        if sign in "fijlt.,:;'|!()[]I "
        else 10.3
        if sign in "mwMW@%"
        else 7.9
        if sign.isupper() or ord(sign) > 127
        else 5.75
        for sign in cell
    )


def _breakable(text: str) -> str:
    """The text, in which lines may also end inside long words."""
    words = [
        r"\allowbreak{}".join(
            word[start : start + _PIECE].translate(_ESCAPES)
            for start in range(0, len(word), _PIECE)
        )
        for word in visible(text).split(" ")
    ]
    return " ".join(words)


def _tabular(grid: Grid, columns: Sequence[int], wrapped: Collection[int] = ()) -> str:
    """The columns of a table. wrapped: those whose texts go on in further lines."""
    kinds = [
        rf"p{{{_NARROWEST}\linewidth}}" if index in wrapped else "lr"[grid.numeric[index]]
        for index in columns
    ]
    cells = [_cells([row[index] for row in grid.rows], index in wrapped) for index in columns]
    headers = [visible(grid.headers[index]).translate(_ESCAPES) for index in columns]
    lines = [rf"\begin{{tabular}}{{{''.join(kinds)}}}", r"\toprule", _line(headers), r"\midrule"]
    last = grid.rows[0][0] if grid.rows else ""
    for number, row in enumerate(zip(*cells, strict=True)):
        name = grid.rows[number][0]
        repeated = grid.grouped and number > 0 and name == last
        if grid.grouped and name != last:
            lines.append(r"\midrule")
        last = name
        lines.append(_line(["", *row[1:]] if repeated else row))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _line(cells: Sequence[str]) -> str:
    # A star behind the line break above would belong to it.
    line = " & ".join(cells)
    return ("{}" if line.startswith("*") else "") + line + r" \\"


def _cells(column: Sequence[str], wrapped: bool) -> list[str]:
    """The cells of a column; figures have their decimal points one below the other."""
    wholes = [
        cell.figure.partition(".")[0] if isinstance(cell, ScoreCell) else "" for cell in column
    ]
    longest = max(map(len, wholes), default=0)
    return [
        _score(cell, longest - len(whole))
        if isinstance(cell, ScoreCell)
        else rf"\raggedright {_breakable(cell)}"
        if wrapped
        else cell.translate(_ESCAPES)
        for cell, whole in zip(column, wholes, strict=True)
    ]


def _score(cell: ScoreCell, missing_digits: int) -> str:
    """A figure with its marks; `missing_digits` stand before it unseen."""
    figure, beside = cell.figure.translate(_ESCAPES), cell.beside.translate(_ESCAPES)
    parts = [
        rf"\phantom{{{'0' * missing_digits}}}" if missing_digits else "",
        ("{}", r"\textbf{{{}}}", r"\underline{{{}}}")[cell.place].format(figure),
        rf"\textsuperscript{{{cell.marks}}}" if cell.marks else "",
        rf" {{\scriptsize {beside}}}" if beside else "",
    ]
    return "".join(parts)
