"""Tables in Markdown, as GitHub reads them, in HTML, and in LaTeX with the rules of booktabs."""

import re
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from rankwell.reporting import (
    MISSING,
    Document,
    Format,
    Grid,
    PrintedFigure,
    ScoreCell,
    escaped,
    grids,
    output,
    prose,
    rules_line,
    visible,
)

# Of & and _ those alone that mean something: &amp; and _emphasis_.
_SPECIAL = re.compile(r"[\\|*<>`\[\]~$]|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])")
_INTERVAL = re.compile(r"\\\[([-+\d., ]+)\\\](?![(\[:])")


@output("md")
def render_markdown(document: Document) -> str:
    """Pipe tables with a title above, the legend and the rules below; what Markdown would read as
    markup is escaped.
    """
    parts = [f"**{markdown_text(document.title)}**"] if document.title else []
    parts += ["\n".join(_pipes(grid)) for grid in grids(document)]
    parts += map(markdown_text, document.legend)
    return "\n\n".join([*parts, *_rules(document, markdown_text)]) + "\n"


def _rules(document: Document, sentence: Callable[[str], str]) -> list[str]:
    """The line of rules; a comment below a table that has a title. sentence: makes markup."""
    rules = rules_line(document.rules)
    line = f"<!-- rules: {escaped(rules)} -->" if document.title else sentence(f"rules: {rules}")
    return [line] if rules else []


def _pipes(grid: Grid) -> list[str]:
    rows = [[_marked(cell, "**{}**", markdown_text) for cell in row] for row in grid.rows]
    headers = [*map(markdown_text, grid.headers)]
    widths = [max(3, *map(len, column)) for column in zip(headers, *rows, strict=True)]
    # Figures with marks do not end at one place.
    has_marks = any("<sup>" in cell for row in rows for cell in row)
    numeric = [number and not has_marks for number in grid.numeric]
    marks = [
        "-" * (width - 1) + ":" if number else "-" * width
        for width, number in zip(widths, numeric, strict=True)
    ]
    lines = [headers, marks, *rows]
    pads = [str.rjust if number else str.ljust for number in numeric]
    padded = [
        [pad(cell, width) for pad, cell, width in zip(pads, line, widths, strict=True)]
        for line in lines
    ]
    return [f"| {' | '.join(line)} |" for line in padded]


def _marked(cell: str, bold: str, text: Callable[[str], str], room: str = "") -> str:
    """A cell in Markdown or HTML. bold, room: the markup of the best figure, and of letters that
    are not seen. text: makes a text of the markup.
    """
    if not isinstance(cell, ScoreCell):
        return text(cell)
    figure = ("{}", bold, "<u>{}</u>")[cell.place].format(text(cell.figure))
    marks = cell.marks + (room.format(cell.room) if cell.room else "")
    return f"{figure}{f'<sup>{marks}</sup>' * bool(marks)} {text(cell.beside)}".rstrip()


def markdown_text(text: str) -> str:
    """A sentence between tables, which means what it meant; intervals stay readable."""
    return _INTERVAL.sub(r"[\1]", _SPECIAL.sub(r"\\\g<0>", visible(text)))


@output("html")
def render_html(document: Document) -> str:
    """Tables for a page of the reader's, without colours and scripts: the title is the caption, the
    legend and the rules stand below; everything is escaped.
    """
    parts = [
        html_table(grid, title=document.title, label=document.label) for grid in grids(document)
    ]
    parts += map(small_print, document.legend)
    return "\n".join([*parts, *_rules(document, small_print)]) + "\n"


def html_table(grid: Grid, *, title: str = "", label: str = "", most: int | None = None) -> str:
    """The table; a name that the row above has as well is left out, as on a terminal. most: how
    many rows are shown.
    """
    sides = [
        f"text-align:{'right;white-space:nowrap' if number else 'left'};padding:.2em .6em"
        for number in grid.numeric
    ]

    def _row(cells: Sequence[str], tag: str = "td") -> str:
        # Figures with marks and without end at one place.
        room = '<span style="visibility:hidden">{}</span>'
        marked = [_marked(cell, "<strong>{}</strong>", escaped, room) for cell in cells]
        texts = "".join(
            f'<{tag} style="{side}">{text}</{tag[:2]}>'
            for text, side in zip(marked, sides, strict=True)
        )
        return f"<tr>{texts}</tr>"

    lines = [_row(row) for row in grid.lines[:most]]
    if more := len(grid.rows) - len(lines):
        lines.append(
            f'<tr><td colspan="{len(sides)}">and {more:,} rows more: .to_pandas()</td></tr>'
        )
    style = "border-collapse:collapse;border:solid;border-width:2px 0;font-variant-numeric"
    caption = f'<caption style="padding:.4em">{escaped(title)}</caption>'
    named = f' id="{escaped(label)}">\n{caption}' if title else ">"
    heads = _row(grid.headers, 'th scope="col"')
    return "\n".join(
        [
            f'<table style="{style}:tabular-nums"{named}',
            f'<thead style="border-bottom:1px solid">{heads}</thead>',
            '<tbody style="vertical-align:baseline">',
            *lines,
            "</tbody>\n</table>",
        ]
    )


def small_print(text: str) -> str:
    """A sentence in small print below a table."""
    return f'<p style="{QUIET}">{escaped(text)}</p>'


QUIET = "opacity:.75;font-size:90%;margin:.4em 0"
"""The style of small print."""
SENTENCES = {
    "md": markdown_text,
    "latex": lambda text: f"% {visible(text)}",
    "html": lambda text: f"<p>{escaped(text)}</p>",
}
"""What makes a sentence between tables, by format; a comment in LaTeX."""


def sentences(text: str, format: Format) -> str:
    """The lines of a text between tables, folded where standard output is a terminal."""
    if format == "table":
        return prose(text)
    return "".join(f"{SENTENCES[format](line)}\n" for line in text.splitlines())


_NAMES = {
    "\\": "backslash",
    "^": "asciicircum",
    "~": "asciitilde",
    "<": "less",
    ">": "greater",
    "|": "bar",
    '"': "quotedbl",
    "†": "dagger",
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
    {mark: f"\\text{name}{{}}" for mark, name in _NAMES.items()}
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

    def needs(self, widths: Sequence[float]) -> float:
        """The width of a table of columns that are so wide in letters of the text's size."""
        return sum(widths) * self.size + 2 * self.gap * (len(widths) - 1)


_LAYOUTS = [
    _Layout(environment, room, gap, size)
    for environment, room in (("table", 229.0), ("table*", 460.0))
    for gap, size in ((6.0, 1.0), (4.0, 1.0), (3.0, 0.9))
]
"""The layouts in the order of preference, with the widths of an article in 10 points."""


@output("latex")
def render_latex(document: Document) -> str:
    """A `tabular` (it needs the package booktabs), a rule between runs, the rules of evaluation in
    a comment above.

    With a title it is a whole `table`, as wide as one column or two: the title is its caption, the
    legend stands below in small print.
    """
    rules = rules_line(document.rules)
    parts = [r"% needs \usepackage{booktabs}", *([f"% rules: {rules}"] if rules else [])]
    parts += [
        _float(grid, document) if document.title else _tabular(grid, range(len(grid.headers)))
        for grid in grids(document)
    ]
    return "\n".join(parts) + "\n"


def _float(grid: Grid, document: Document) -> str:
    """A whole table; columns that no layout has room for follow in a second one below."""
    scores = [isinstance(column[0], PrintedFigure) for column in zip(*grid.rows, strict=True)]
    first = [*scores, True].index(True)
    widths = [max(map(_width, column)) for column in zip(grid.headers, *grid.rows, strict=True)]
    fitting = [layout for layout in _LAYOUTS if layout.needs(widths) <= layout.room]
    layout = [*fitting, _LAYOUTS[-1]][0]
    environment, room, gap, size = layout
    most = room * _NARROWEST / size
    wrapped = [index for index in range(first) if not fitting and widths[index] > most]
    for index in wrapped:
        widths[index] = most
    panels = [[*range(first)]]
    for column in range(first, len(widths)):
        needed = layout.needs([widths[index] for index in [*panels[-1], column]])
        if needed > room and len(panels[-1]) > first:
            panels.append([*range(first)])
        panels[-1].append(column)
    tables = [_tabular(grid, panel, wrapped) for panel in panels]
    small = [r"\small"] if size < 1 else []
    small += [rf"\setlength{{\tabcolsep}}{{{gap:g}pt}}"] if gap < 6 else []
    legend = [r"\par\smallskip\footnotesize\raggedright"] if document.legend else []
    return "\n".join(
        [
            rf"\begin{{{environment}}}",
            r"\centering",
            rf"\caption{{{_breakable(document.title)}}}",
            rf"\label{{{document.label}}}\smallskip",
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
        beside = _width(f"{cell.marks}{cell.room} {cell.beside}".strip())
        return (1.15 if cell.place == 1 else 1) * _width(cell.figure) + 0.75 * beside
    return sum(
        4.0
        if sign in "fijlrst.,:;'|!()[]I- "
        else 8.4
        if sign in "mw@%&=+"
        else 10.3
        if sign in "MW"
        else 7.9
        if sign.isupper() or ord(sign) > 127
        else 5.0
        if sign.isdigit()
        else 5.6
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
    # Scores are of one width; other figures end at one place.
    figures = "rc"[any(isinstance(cell, ScoreCell) for row in grid.rows for cell in row)]
    kinds = [
        rf"p{{{_NARROWEST}\linewidth}}"
        if index in wrapped
        else figures
        if grid.numeric[index]
        else "l"
        for index in columns
    ]
    cells = [_cells([row[index] for row in grid.lines], index in wrapped) for index in columns]
    headers = [grid.headers[index].translate(_ESCAPES) for index in columns]
    kinds = f"@{{}}{''.join(kinds)}@{{}}"
    lines = [rf"\begin{{tabular}}{{{kinds}}}", r"\toprule", _line(headers), r"\midrule"]
    for number, row in enumerate(zip(*cells, strict=True)):
        if grid.grouped and number and row[0]:
            lines.append(r"\midrule")
        lines.append(_line(row))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _line(cells: Sequence[str]) -> str:
    # A star behind the line break above would belong to it.
    line = " & ".join(cells)
    return ("{}" if line.startswith("*") else "") + line + r" \\"


def _cells(column: Sequence[str], wrapped: bool) -> list[str]:
    """The cells of a column; figures have their decimal points one below the other."""
    scores = [cell for cell in column if isinstance(cell, ScoreCell)]
    whole = max((len(cell.figure.partition(".")[0]) for cell in scores), default=0)
    beside = max((len(cell.beside) for cell in scores), default=0)
    return [
        _score(cell, whole, beside)
        if isinstance(cell, ScoreCell)
        else rf"\raggedright {_breakable(cell)}"
        if wrapped
        else cell.translate(_ESCAPES)
        for cell in column
    ]


def _score(cell: ScoreCell, whole: int, beside: int) -> str:
    """A figure with its marks, as wide as the others of its column. whole, beside: the most letters
    before a point, and of what stands beside a figure.
    """
    figure, small_print = cell.figure.translate(_ESCAPES), cell.beside.translate(_ESCAPES)
    marks = cell.marks + _phantom(cell.room)
    small_print += _phantom("0" * (beside - len(cell.beside)))
    parts = [
        _phantom("0" * (whole - len(cell.figure.partition(".")[0]))),
        ("{}", r"\textbf{{{}}}", r"\underline{{{}}}")[cell.place].format(figure),
        rf"\textsuperscript{{{marks}}}" if marks else "",
        rf" {{\scriptsize {small_print}}}" if small_print else "",
    ]
    return "".join(parts)


def _phantom(text: str) -> str:
    """Room for the text, which is not seen."""
    return rf"\phantom{{{text}}}" if text else ""
