r"""LaTeX tables with booktabs' rules, to be put between `\begin{table}` and `\caption`, or whole ones where they have a title."""

from rankwell.report import MISSING, Document, Grid, Strong, grids, output, rules_line, visible

_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "$": r"\$",
        "&": r"\&",
        "#": r"\#",
        "%": r"\%",
        "_": r"\_",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
        # After a line break LaTeX would take a bracket for the length of a gap.
        "[": "{[}",
        "]": "{]}",
        MISSING: "--",
        "†": r"\textdagger{}",
    }
)


@output("latex")
def render_latex(document: Document) -> str:
    """A `tabular` (it needs the package booktabs), a rule between runs, the rules of evaluation in a comment above.

    With a title it is a whole `table`: the title is its caption, the legend stands below in small print.
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
    for place, row in enumerate(grid.rows):
        repeated = grid.grouped and place > 0 and row[0] == last
        if grid.grouped and row[0] != last:
            lines.append(r"\midrule")
        last = row[0]
        lines.append(_line(["", *row[1:]] if repeated else row))
    return [*lines, r"\bottomrule", r"\end{tabular}"]


def _line(cells: list[str]) -> str:
    return " & ".join(map(_cell, cells)) + r" \\"


def _cell(cell: str) -> str:
    first, blank, rest = cell.translate(_ESCAPES).partition(" ")
    return rf"\textbf{{{first}}}{blank}{rest}" if isinstance(cell, Strong) else f"{first}{blank}{rest}"
