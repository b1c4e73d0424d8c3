"""The table on a terminal, and the same text in a pipe."""

from rankwell.report import Document, Grid, grids, output, rules_line


@output("table")
def render_table(document: Document) -> str:
    """Aligned columns with one line of rules below; where they do not fit the terminal, a block of lines per row."""
    parts = [_lay_out(grid, document) for grid in grids(document)]
    rules = rules_line(document.rules)
    if rules:
        parts[-1] += "\n" + _styled("rules: " + rules, "2", document)
    return "\n\n".join(parts) + "\n"


def _lay_out(grid: Grid, document: Document) -> str:
    if not grid.headers:
        return ""
    widths = [max(map(_width, column)) for column in zip(grid.headers, *grid.rows, strict=True)]
    total = sum(widths) + 2 * (len(widths) - 1)
    if document.terminal.width is not None and total > document.terminal.width:
        return _stack(grid, document)
    lines = [_styled(_line(grid.headers, widths, grid.numeric), "1", document), _styled("─" * total, "2", document)]
    last = ""
    for row in grid.rows:
        shown = ["", *row[1:]] if grid.grouped and row[0] == last else row
        last = row[0]
        lines.append(_line(shown, widths, grid.numeric))
    return "\n".join(lines)


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
