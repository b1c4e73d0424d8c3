"""The folder of a comparison with a reference model, and the tables that the source of the
convention prints.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rankwell import reporting
from rankwell.data.frames import Heading
from rankwell.data.tables import MISSING, format_value
from rankwell.errors import BadUsage, count_of
from rankwell.reporting import PrintedFigure, Row, Terminal, rules_line, visible

if TYPE_CHECKING:
    from rankwell.tasks.embeddings.evaluation import AgreementResults

_RULE = 70
_COLUMN = 15


def write_folder(result: "AgreementResults", folder: Path) -> None:
    """Writes all that a comparison or a page needs later, and the files of the source; each whole
    or not at all.
    """
    from rankwell.reporting.charts import write_charts
    from rankwell.reporting.drafts import drafting
    from rankwell.reporting.folder import write_result
    from rankwell.reporting.line_charts import k_curves
    from rankwell.store import write_text

    files = {run: f"{run.replace('/', '_')}_results.csv" for run in result.candidates}
    uses = Counter(name.lower() for name in files.values())
    for name in files.values():
        if uses[name.lower()] > 1:
            raise BadUsage(
                f"two candidates would be written to {name}; give them names that differ in more "
                "than / and _ or case."
            )
    unlabelled = [row for row in result.summary if "truth='labels'" not in row["measure"]]
    cut = result.cuts_gold
    curves = [row for row in unlabelled if row["k"] is not None and row["run"] != result.reference]
    points = Counter(row["label"].partition("@")[0] for row in curves)
    curves = [
        row for row in curves if cut or points[row["label"].partition("@")[0]] > len(result.pairs)
    ]
    with drafting(folder, result.sources.values()) as draft:
        written = [draft / name for name in files.values() if cut]
        for path, run in zip(written, files, strict=False):
            write_text(path, _k_columns(unlabelled, run))
        if curves:
            title = f"Agreement with {result.reference}"
            chart = k_curves(curves, bands="sd" if cut else "interval", title=title)
            written += write_charts(draft, {"metrics_vs_k": chart})
        summary = [*result.summary, *result.changes]
        write_result(result, folder, summary=summary, charts=False, others=written)


def source_tables(result: "AgreementResults", terminal: Terminal) -> str:
    """The tables that the convention's source prints, mean±sd by k and measure, then the rules and
    the candidates' changes.
    """
    parts = [f"EVALUATION RESULTS (vs {visible(result.reference)} as Ground Truth)\n{'=' * _RULE}"]
    for run in dict.fromkeys(row["run"] for row in result.summary):
        cells = {key: _cell(row) for key, row in _by_place(result.summary, run).items()}
        parts.append(f"{visible(run)}:\n{_grid(cells, terminal)}")
    n_queries = count_of(len(result.sample.rows), "query", "queries")
    spread = f"± is the population standard deviation over {n_queries}"
    parts.append(reporting.folded(f"{spread}\nrules: {rules_line(result.describe())}", terminal))
    for run in dict.fromkeys(row["run"] for row in result.changes):
        rows = _by_place(result.changes, run)
        has_intervals = any(row["ci_low"] is not None for row in rows.values())
        heading = (
            f"Relative change of {visible(run)} against "
            f"{visible(next(iter(rows.values()))['against'])}"
            f"{' [95 % interval]' * has_intervals}:"
        )
        cells = {key: _change(row) for key, row in rows.items()}
        parts.append(f"{heading}\n{_grid(cells, terminal, gap=5)}")
    return "\n\n".join(parts) + "\n"


def _k_columns(rows: Sequence[Row], run: str) -> str:
    """A run's summary as CSV: `k`, then `word_mean` and `word_std` for every measure, in full
    precision.
    """
    cells = _by_place(rows, run)
    words = list(dict.fromkeys(word for _, word in cells))
    names = [f"{word.lower()}_{statistic}" for word in words for statistic in ("mean", "std")]
    lines = [["k", *names]]
    for k in sorted({k for k, _ in cells}):
        of_words = [cells.get((k, word), {}) for word in words]
        numbers = [row.get(name) for row in of_words for name in ("mean", "sd")]
        lines.append([str(k), *("" if number is None else repr(number) for number in numbers)])
    return "".join(f"{','.join(line)}\n" for line in lines)


def _measured(name: str) -> str:
    """The measure whose change a name stands for, or the name itself."""
    bare = name.removeprefix("Change(")
    return name if bare == name else bare.removesuffix(")")


def _by_place(rows: Sequence[Row], run: str) -> dict[tuple[int, str], Row]:
    """The rows of a run with a k, by k and by the label without it."""
    return {
        (row["k"], _measured(row["label"].replace(f"@{row['k']}", "", 1))): row
        for row in rows
        if row["run"] == run and row["k"] is not None
    }


def _grid(cells: Mapping[tuple[int, str], str], terminal: Terminal, *, gap: int = 4) -> str:
    """A table as the source prints it: its figures are a blank nearer to each other than their
    headings, `gap` 5 aligns them.

    One that is wider than the terminal is printed as tables of other results are.
    """
    words = list(dict.fromkeys(word for _, word in cells))
    width = max(_COLUMN, *map(len, words), *(len(text) + 4 for text in cells.values()))
    lines = {
        k: [cells.get((k, word), MISSING) for word in words] for k in sorted({k for k, _ in cells})
    }
    if terminal.width is not None and 9 + len(words) * (width + 1) > terminal.width:
        rows = [
            {"k": k} | dict(zip(map(Heading, words), map(PrintedFigure, line), strict=True))
            for k, line in lines.items()
        ]
        return reporting.render_rows(rows, terminal=terminal).rstrip("\n")
    head = [" ".join([f"{'k':<6}", *(word.ljust(width) for word in words)])]
    head.append(" ".join(["-" * 6, *["-" * width] * len(words)]))
    body = [
        f"{k:<6} {(' ' * gap).join(text.ljust(width - 4) for text in line).rstrip()}"
        for k, line in lines.items()
    ]
    return "\n".join(f"  {line}" for line in [*head, *body])


def _cell(row: Row) -> str:
    return MISSING if row["mean"] is None else f"{row['mean']:.3f}±{row['sd']:.3f}"


def _change(row: Row) -> str:
    mean, low, high = (
        MISSING if row[name] is None else format_value(100 * row[name], "percent", signed=True)
        for name in ("mean", "ci_low", "ci_high")
    )
    if mean == MISSING:
        return mean
    return f"{mean} %" if low == MISSING else f"{mean} % [{low}, {high}]"
