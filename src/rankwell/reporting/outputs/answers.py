"""The answer first: a sentence, one table and its legend. `--verbose` prints the whole summary."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from rankwell.data.catalogue import ResultKind, leading, result_kind
from rankwell.data.options import shown_digits
from rankwell.data.registry import Better
from rankwell.data.tables import format_value
from rankwell.errors import count_of, first_of
from rankwell.reporting import (
    PLAIN,
    SUMMARY_COLUMNS,
    Answer,
    Document,
    Grid,
    Row,
    Rules,
    ScoreCell,
    TableStyle,
    Terminal,
    columns_of,
    folded,
    grid_of,
    grids,
    has_intervals,
    headings,
    holds_figures,
    output,
    per_query_grids,
    plain_grid,
    rules_line,
    runs_of,
    styled,
    visible,
    width_of,
)
from rankwell.reporting.outputs.text_table import at_the_point, fitted
from rankwell.reporting.system_table import for_paper, score_table, wide_rows

_LEADING_ZERO = re.compile(r"(?<![\d.])0(?=\.\d)")
_ABOVE_ONE = re.compile(r"\d\d\.|[2-9]\.")
_CHANCE = "chance"


def answer_of(result: Any) -> Answer:
    """The answer of a result: that of its task, else its scores."""
    return score_answer(result) if result.answer is None else result.answer(result)


def score_answer(result: Any, rows: Sequence[Row] | None = None) -> Answer:
    """The scores with the best run by the first measure that has a best. rows: those of the summary
    that the table shows, by default all.
    """
    rules, kind = result.describe(), result_kind(result.task)
    shown = result.summary if rows is None else rows
    return Answer(
        best_run(leading_rows(shown, kind), rules), caption(shown, rules, kind.noun), rows
    )


def leading_rows(rows: Sequence[Row], kind: ResultKind) -> list[Row]:
    """The rows of a summary, those first whose measure the answer is about."""
    return leading(rows, [row["label"] for row in rows], kind)


@output("table")
def text_table(document: Document) -> str:
    """The answer of a summary, with details all columns and the rules below; rows of any kind as
    they are.
    """
    terminal, rules = document.terminal, rules_line(document.rules)
    if document.summary and not terminal.details:
        grids_of_queries = per_query_grids(document, partial(score_digits, document.rules))
        single = [fitted(grid, terminal) + "\n" for grid in grids_of_queries]
        return "\n".join([*single, answer_text(document)])
    parts = (
        [styled(folded(visible(document.title), terminal), "1", terminal)] if document.title else []
    )
    parts += [fitted(grid, terminal) for grid in grids(document)]
    if rules:
        lines = folded(f"rules: {rules}", terminal).split("\n")
        parts[-1] += "\n" + "\n".join(styled(line, "2", terminal) for line in lines)
    return "\n\n".join(parts) + "\n"


def answer_text(document: Document) -> str:
    """The sentence, the caption, the table and its legend."""
    answer, room = document.answer, document.terminal.page
    above = [lines_for(answer.sentence, room)] if answer.sentence else []
    level = document.rules.get("level", 0.95)
    if answer.table is None:
        rows = document.rows if answer.rows is None else answer.rows
        table = score_text(rows, document.rules, room)
    elif "system" in next(iter(answer.table), ()):
        table = score_lines(answer.table, room)
    else:
        table = fitted(plain_grid(answer.table, level)._replace(ruled=False), room)
    if answer.caption:
        bold = " · best in bold" if "\x1b[1m" in table.partition("\n")[2] else ""
        above.append(styled(lines_for(answer.caption + bold, room), "2", room))
    below = [lines_for(line, room) for line in answer.legend]
    parts = ["\n".join(above), table, "\n".join(below)]
    return "\n\n".join(part for part in parts if part) + "\n"


def lines_for(text: str, terminal: Terminal) -> str:
    """A text on lines that an answer may take."""
    return "\n".join(folded(visible(line), terminal.page) for line in text.split("\n"))


def failed_questions(failures: Sequence[Row], rules: Rules) -> str:
    """One sentence: how many questions fail, and by which stage."""
    failed, is_silent = Counter[str](), True
    for row in failures:
        failed[row["failed"]] += row["questions"]
        is_silent &= row["failed"] != "no-answer" or row["why"].startswith("gave no answer")
    abstained = "because it abstained" if is_silent else "because it abstained or should have"
    total, n_failed = failed.total(), failed.total() - failed.pop("none", 0)
    faults = [
        f"{n:,} {abstained if stage == 'no-answer' else f'by the {stage}'}"
        for stage, n in failed.most_common()
        if n
    ]
    by = f" by {rules['primary_label']}" if "primary_label" in rules else ""
    verb = "fails" if n_failed == 1 else "fail"
    reasons = f": {', '.join(faults)}" if faults else ""
    return f"{n_failed:,} of {total:,} questions {verb}{by}{reasons}."


def best_run(rows: Sequence[Row], rules: Rules) -> str:
    """One sentence: the run with the best mean by the first measure that has a best; "" for a
    single run.
    """
    better = directions(rules)
    names = _attributes(rows)
    compared: list[Row] = []
    for first in rows:
        if better.get(first["measure"], "higher") != "neither":
            same = {"measure", *names}
            compared = [
                row
                for row in rows
                if row["mean"] is not None
                and all(row.get(name) == first.get(name) for name in same)
            ]
        if len(compared) > 1:
            break
    else:
        return ""
    first = compared[0]
    sign = -1 if better.get(first["measure"]) == "lower" else 1
    best = max(compared, key=lambda row: sign * row["mean"])
    text = _figure(best, "mean", rules)
    winners = [row["run"] for row in compared if _figure(row, "mean", rules) == text]
    label = " ".join([first["label"], *(str(first[name]) for name in names if first.get(name))])
    if len(winners) == len(compared):
        return f"All {len(compared)} runs have the same {label}: {text}."
    word = "highest" if sign > 0 else "lowest"
    ends = _ends(best, rules) if len(winners) == 1 else []
    interval = f" ({_level(rules)} {' to '.join(ends)})" if ends else ""
    verb = "has" if len(winners) == 1 else "have"
    names_of_winners = " and ".join(winners) if len(winners) < 3 else first_of(winners, 2)
    return f"{names_of_winners} {verb} the {word} {label}: {text}{interval}"


def _ends(row: Row, rules: Rules) -> list[str]:
    """The ends of the interval; none where there is none."""
    if row.get("ci_low") is None:
        return []
    return [_figure(row, end, rules) for end in ("ci_low", "ci_high")]


def caption(rows: Sequence[Row], rules: Rules, noun: tuple[str, str]) -> str:
    """What the figures are: the run where it is the only one, how many queries, the interval."""
    runs = runs_of(rows)
    sizes = sorted({row["n"] for row in rows if row.get("n") is not None})
    parts = runs if len(runs) == 1 else []
    if sizes:
        few = f"{sizes[0]} to " if len(sizes) > 1 else ""
        parts.append(few + count_of(sizes[-1], *noun))
    word = _word(rows)
    parts.append(f"{word} and {_level(rules)}" if has_intervals(rows) else word)
    if {row["unit"] for row in rows} == {"percent"}:
        parts[-1] += " in percent"
    return " · ".join(parts)


def _word(rows: Sequence[Row]) -> str:
    """What the figures are: means of queries, which have a deviation, or scores of any kind."""
    is_mean = all(row.get("sd") is not None for row in rows if row["mean"] is not None)
    return "mean" if is_mean else "score"


def directions(rules: Rules) -> dict[str, Better]:
    """The direction of better values by the exact name of a measure."""
    measures = rules.get("measures") or {}
    return {
        name: fact["better"]
        for name, fact in measures.items()
        if isinstance(fact, Mapping) and "better" in fact
    }


def score_digits(rules: Rules, unit: str) -> int | None:
    """The decimals of a score: 3 of a share, unless a convention has its own; None for those of the
    unit.
    """
    is_own = rules.get("convention", "rankwell") == "rankwell"
    digits = shown_digits()
    return 3 if digits is None and is_own and unit in ("share", "score") else digits


def _figure(row: Row, name: str, rules: Rules) -> str:
    return format_value(row.get(name), row["unit"], digits=score_digits(rules, row["unit"]))


def _level(rules: Rules) -> str:
    return f"{100 * rules.get('level', 0.95):g}% CI"


def _attributes(rows: Sequence[Row]) -> list[str]:
    """The columns that distinguish rows of one run and measure."""
    further = columns_of(rows, SUMMARY_COLUMNS)[len(SUMMARY_COLUMNS) :]
    return [
        name
        for name in further
        if not holds_figures(rows, name) and len({row.get(name) for row in rows}) > 1
    ]


# ---- the table of scores


def score_text(rows: Sequence[Row], rules: Rules, terminal: Terminal) -> str:
    """The scores as one table: of a single run a row for each measure, else runs by measures,
    turned whichever way takes fewer lines.
    """
    better = directions(rules)
    if len(runs_of(rows)) == 1:
        rows, better = _by_attribute(rows), {}
    table = score_table(rows, better, rules) if len(runs_of(rows)) > 1 else None
    if table is None:
        return _measures(rows, rules, terminal)
    lines = wide_rows(for_paper(table, TableStyle(digits=shown_digits()), intervals=True))
    chances = _shared_chances(rows, rules)
    columns = [name for name in lines[0] if name not in (" ", "system")]
    if len(chances) == len(columns):
        lines.append({"system": _CHANCE, **dict(zip(columns, chances, strict=True))})
    return score_lines(lines, terminal)


def _by_attribute(rows: Sequence[Row]) -> Sequence[Row]:
    """The rows of a run by what distinguishes them, such as a direction, in place of their run;
    unchanged where not each has each measure.
    """
    names = _attributes(rows)
    subjects = [
        " · ".join(
            f"{name} {row[name]}" if str(row[name]).isdecimal() else str(row[name])
            for name in names
            if row.get(name)
        )
        for row in rows
    ]
    labels = [row["label"] for row in rows]
    pairs = {*zip(subjects, labels, strict=True)}
    is_full = len(set(subjects)) * len(set(labels)) == len(rows) == len(pairs)
    if not (names and is_full and all(subjects)):
        return rows
    return [
        {name: row[name] for name in row if name not in names} | {"run": subject}
        for row, subject in zip(rows, subjects, strict=True)
    ]


def _shared_chances(rows: Sequence[Row], rules: Rules) -> list[str]:
    """What chance reaches by each measure, where that is known and the same for all runs."""
    chances: dict[str, set[str]] = {}
    for row, heading in zip(rows, headings(rows), strict=True):
        if row.get(_CHANCE) is None:
            return []
        chances.setdefault(heading, set()).add(_figure(row, _CHANCE, rules))
    return [texts.pop() for texts in chances.values() if len(texts) == 1]


def _measures(rows: Sequence[Row], rules: Rules, terminal: Terminal) -> str:
    """A row for each run and measure."""
    texts = {" ": headings(rows)}
    if several := len(runs_of(rows)) > 1:
        texts = {"run": [row["run"] for row in rows], **texts}
    numbers = {_word(rows): [_figure(row, "mean", rules) for row in rows]}
    intervals = [_ends(row, rules) for row in rows]
    if any(intervals):
        numbers[_level(rules)] = [
            short_interval(f"[{', '.join(ends)}]" if ends else "") for ends in intervals
        ]
    if any(row.get(_CHANCE) is not None for row in rows):
        numbers[_CHANCE] = [_figure(row, _CHANCE, rules) for row in rows]
    return fitted(grid_of(texts, numbers, grouped=several)._replace(ruled=False), terminal)


def short_interval(interval: str) -> str:
    """An interval without zeros before its points, which stay where a bound is above 1, as in
    percent.
    """
    return interval if _ABOVE_ONE.search(interval) else _LEADING_ZERO.sub("", interval)


class _Layout(NamedTuple):
    """An arrangement of scores.

    names, headings: words before each line, and above each column.
    cells: the cells of each line.
    below: whether intervals stand below the figures, not beside them.
    """

    names: Sequence[str]
    headings: Sequence[str]
    cells: Sequence[Sequence[ScoreCell]]
    below: bool

    def lines(self, terminal: Terminal) -> list[str]:
        """The lines of the table."""
        width = max(map(width_of, self.names))
        lines = [" " * width, *(name + " " * (width - width_of(name)) for name in self.names)]
        if self.below:
            lines[1:] = [line for name in lines[1:] for line in (name, " " * width)]
        for heading, column in zip(self.headings, zip(*self.cells, strict=True), strict=True):
            texts = self._texts(column)
            width = max(map(width_of, (heading, *texts)))
            gaps = [" " * (width - width_of(text)) for text in (heading, *texts)]
            places = [0, *(cell.place for cell in column for _ in range(1 + self.below))]
            for number, text in enumerate((heading, *texts)):
                is_bold = number == 0 or (places[number] == 1 and (number % 2 or not self.below))
                figure, blank, interval = text.partition(" [") if number else (text, "", "")
                shown = styled(figure, "1", terminal) if is_bold else figure
                lines[number] += f"  {gaps[number]}{shown}{blank}{interval}"
        # A line without any interval has none below it.
        return [line for line in map(str.rstrip, lines) if line]

    def _texts(self, column: Sequence[ScoreCell]) -> list[str]:
        """The cells of a column on one line each, or on one for the figure and one below."""
        figures = [cell.removesuffix(cell.beside).rstrip() for cell in column]
        intervals = [short_interval(cell.beside) for cell in column]
        if not self.below:
            pairs = zip(figures, intervals, strict=True)
            return at_the_point([f"{figure} {interval}".rstrip() for figure, interval in pairs])
        aligned = zip(at_the_point(figures), at_the_point(intervals), strict=True)
        return [text for pair in aligned for text in pair]


def score_lines(rows: Sequence[Row], terminal: Terminal) -> str:
    """A table of systems by measures: the arrangement with the fewest lines that fits the terminal.
    Where none does, intervals of the first measure alone are shown, and a line says so.

    rows: a row per system with its name and a cell per measure, as `wide_rows` gives them.
    """
    names = [f"{row.get(' ', '')} {visible(row['system'])}".lstrip() for row in rows]
    columns = [name for name in rows[0] if name not in (" ", "system")]
    cells = [
        [cell if isinstance(cell := row[name], ScoreCell) else ScoreCell(cell) for name in columns]
        for row in rows
    ]
    columns = [*map(visible, columns)]
    fewer = [
        [first, *(ScoreCell(cell.figure, cell.marks, "", cell.place) for cell in others)]
        for first, *others in cells
    ]
    hidden = any(cell.beside for _, *others in cells for cell in others)
    note = lines_for("The other intervals need a wider terminal.", terminal)
    for shown, remark in ((cells, ""), (fewer, f"\n\n{note}" if hidden else "")):
        turned = [[*line] for line in zip(*shown, strict=True)]
        layouts = [
            layout
            for below in (False, True)
            for layout in (
                _Layout(names, columns, shown, below),
                _Layout(columns, names, turned, below),
            )
            if max(map(width_of, layout.lines(PLAIN))) <= (terminal.width or 80)
        ]
        if layouts:
            best = min(layouts, key=lambda layout: len(layout.lines(PLAIN)))
            return "\n".join(best.lines(terminal)) + remark
    texts = [[name, *row] for name, row in zip(names, fewer, strict=True)]
    is_figure = [False, *(True for _ in columns)]
    grid = Grid(["system", *columns], is_figure, texts, ruled=False)
    return fitted(grid, terminal) + remark
