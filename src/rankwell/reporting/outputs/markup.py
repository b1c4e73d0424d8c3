"""Tables in Markdown, as GitHub reads them, and in LaTeX with the rules of booktabs."""

import re

from rankwell.reporting import MISSING, Document, Grid, Strong, grids, output, rules_line, visible

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
    first, blank, tail = cell.partition(" ")
    return (
        f"**{_escape(first)}**{blank}{_escape(tail)}" if isinstance(cell, Strong) else _escape(cell)
    )


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
    **{
        "α": r"\alpha",
        "β": r"\beta",
        "κ": r"\kappa",
        "ρ": r"\rho",
        "τ": r"\tau",
        "φ": r"\phi",
        "Δ": r"\Delta",
        "Ω": r"\Omega",
    },
    **{"−": "-", "≤": r"\le", "≥": r"\ge", "·": r"\cdot", "×": r"\times"},
}
_ESCAPES = str.maketrans(
    {mark: f"\\text{name}{{}}" for mark, name in {**_NAMES, "†": "dagger"}.items()}
    | {mark: f"\\{mark}" for mark in "{}$&#%_"}
    # After a line break LaTeX would take a bracket for the length of a gap.
    | {"[": "{[}", "]": "{]}", MISSING: "--"}
    # Letters and signs that pdfLaTeX has in formulas alone.
    | {mark: f"${name}$" for mark, name in _FORMULAS.items()}
)


@output("latex")
def render_latex(document: Document) -> str:
    """A `tabular` (it needs the package booktabs), a rule between runs, the rules of evaluation in
    a comment above.

    With a title it is a whole `table`: the title is its caption, the legend stands below in small
    print.
    """
    rules = rules_line(document.rules)
    parts = [f"% rules: {rules}"] if rules else []
    tables = ["\n".join(_lines(grid)) for grid in grids(document)]
    if document.title:
        small = [r"\par\smallskip\footnotesize"] if document.legend else []
        lines = [rf"{visible(line).translate(_ESCAPES)}\par" for line in document.legend]
        head = [r"\begin{table}", rf"\caption{{{visible(document.title).translate(_ESCAPES)}}}"]
        tables = [*head, *tables, *small, *lines, r"\end{table}"]
    return "\n".join([*parts, *tables]) + "\n"


def _lines(grid: Grid) -> list[str]:
    kinds = "".join("r" if number else "l" for number in grid.numeric)
    lines = [rf"\begin{{tabular}}{{{kinds}}}", r"\toprule", _line(grid.headers), r"\midrule"]
    last = grid.rows[0][0] if grid.rows else ""
    for index, row in enumerate(grid.rows):
        repeated = grid.grouped and index > 0 and row[0] == last
        if grid.grouped and row[0] != last:
            lines.append(r"\midrule")
        last = row[0]
        lines.append(_line(["", *row[1:]] if repeated else row))
    return [*lines, r"\bottomrule", r"\end{tabular}"]


def _line(cells: list[str]) -> str:
    # A star behind the line break above would belong to it.
    line = " & ".join(map(_cell, cells))
    return ("{}" if line.startswith("*") else "") + line + r" \\"


def _cell(cell: str) -> str:
    first, blank, tail = cell.translate(_ESCAPES).partition(" ")
    return (
        rf"\textbf{{{first}}}{blank}{tail}" if isinstance(cell, Strong) else f"{first}{blank}{tail}"
    )
