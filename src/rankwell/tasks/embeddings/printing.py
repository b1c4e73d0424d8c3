"""Output of a comparison with a reference model: the answer, the tables that the source of the
convention prints, and the folder.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwell import reporting
from rankwell.data.catalogue import result_kind
from rankwell.data.frames import Heading
from rankwell.data.tables import MISSING, Floats, format_value
from rankwell.errors import BadUsage, count_of
from rankwell.evaluation.details import Details, detail_columns
from rankwell.reporting import (
    Answer,
    Format,
    PrintedFigure,
    Row,
    TableStyle,
    Terminal,
    has_intervals,
    rules_line,
    runs_of,
    visible,
)
from rankwell.reporting.options import Output, paper_text, printed_output
from rankwell.reporting.outputs.answers import answer_of, leading_rows, score_answer
from rankwell.tasks.embeddings.ranking_pairs import RankingPairs
from rankwell.tasks.embeddings.vectors import Sample

if TYPE_CHECKING:
    from rankwell.tasks.embeddings.evaluation import AgreementResults

_RULE = 70
_COLUMN = 15


def show(
    result: "AgreementResults",
    *,
    format: Format,
    per_query: bool,
    output: Path | None,
    style: TableStyle | None,
) -> Output:
    """Writes a comparison and prints it; details add the relative changes and the vectors."""
    rows = list(result.per_query()) if per_query else None
    summary, tables = [*result.summary, *result.changes], dict[str, Sequence[Row]]()
    terminal = reporting.terminal_of()
    if format == "table":
        summary = result.summary
        tables = {"changes": result.changes, "vectors": result.panel.rows}
    if format == "table" and result.cuts_gold and rows is None:
        text = source_tables(result, terminal)
    else:
        text = paper_text(result, format, style, rows) or reporting.render(
            summary,
            rows,
            result.describe(),
            result.findings,
            format,
            terminal=terminal,
            tables=tables,
            answer=answer_of(result),
        )
    if output is not None:
        write_folder(result, output)
    return printed_output(text, format, result.findings, output)


def embeddings_answer(result: Any) -> Answer:
    """The share of the reference's neighbours that each candidate keeps, and all scores."""
    answer = score_answer(result)
    known = [row for row in result.summary if row["mean"] is not None]
    deepest = next((row["k"] for row in leading_rows(known, result_kind(result.task))), None)
    rows = [row for row in known if row["measure"] == f"Overlap@{deepest}"]
    if not rows:
        return answer
    rows.sort(key=lambda row: row["mean"], reverse=True)
    items = "nearest neighbour" if result.panel.rows else "first result"
    items = items if deepest == 1 else f"{deepest} {items}s"
    kept = [f"{row['run']} keeps {row['mean']:.1%}" for row in rows]
    chance = rows[0].get("chance")
    by_chance = "" if chance is None else f" Chance: {chance:.1%}."
    sentence = f"Of the {items} of {result.reference}, {', '.join(kept)}.{by_chance}"
    return answer._replace(sentence=sentence)


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
    for run in runs_of(result.summary):
        cells = {key: _cell(row) for key, row in _by_place(result.summary, run).items()}
        parts.append(f"{visible(run)}:\n{_grid(cells, terminal)}")
    n_queries = count_of(len(result.sample.rows), "query", "queries")
    spread = f"± is the population standard deviation over {n_queries}"
    parts.append(reporting.folded(f"{spread}\nrules: {rules_line(result.describe())}", terminal))
    for run in runs_of(result.changes):
        rows = _by_place(result.changes, run)
        heading = (
            f"Relative change of {visible(run)} against "
            f"{visible(next(iter(rows.values()))['against'])}"
            f"{' [95 % interval]' * has_intervals(rows.values())}:"
        )
        cells = {key: _change(row) for key, row in rows.items()}
        parts.append(f"{heading}\n{_grid(cells, terminal, gap=5)}")
    if terminal.details:
        parts.append(reporting.render_rows(result.panel.rows, terminal=terminal).rstrip("\n"))
    return "\n\n".join(parts) + "\n"


def _k_columns(rows: Sequence[Row], run: str) -> str:
    """A run's summary as CSV: `k`, then `word_mean` and `word_std` for every measure, in full
    precision.
    """
    cells = _by_place(rows, run)
    columns = {
        f"{word.lower()}_{name}": (word, statistic)
        for word in dict.fromkeys(word for _, word in cells)
        for name, statistic in (("mean", "mean"), ("std", "sd"))
    }
    lines = [
        {"k": k} | {name: cells.get((k, word), {}).get(of) for name, (word, of) in columns.items()}
        for k in sorted({k for k, _ in cells})
    ]
    return reporting.render_rows(lines, "csv")


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


def query_columns(
    sample: Sample, pairs: RankingPairs, depth: int, near_cut: Floats | None
) -> dict[str, Sequence[Any]]:
    """The columns of queries.parquet: the sampled items, rows and labels, and how certain the
    reference's lists end.

    pairs: those of any candidate. depth: the deepest cut-off. near_cut: (queries,) the margin of
    the reference's lists there, None where it was not measured.
    """
    rows: list[int] = sample.rows.tolist()
    columns: dict[str, Sequence[Any]] = {
        "query": sample.names,
        "text": [None] * len(rows),
        "position": rows,
    }
    if sample.labels is not None:
        columns["label"] = [sample.labels[row] for row in rows]
    last, after = (
        pairs.reference.score_at(np.full(len(rows), rank, dtype=np.int64))
        for rank in (depth, depth + 1)
    )
    if not np.isnan(last - after).all():
        columns["margin"] = [None if isnan(gap) else gap for gap in (last - after).tolist()]
    if near_cut is not None:
        columns["near_cut"] = [None if isnan(n) else int(n) for n in near_cut.tolist()]
    return columns


def list_columns(
    pairs_of_run: Mapping[str, RankingPairs], items: Sequence[str], depth: int
) -> Mapping[str, list[Any]]:
    """The columns of details.parquet: the candidates' lists, then the reference's first items that
    they lack.

    `margin`: the similarity under the reference less that of its last relevant item (EverMind-AI
    2026, EverOS issue 332).
    """
    parts: list[tuple[str, Details, list[str]]] = []
    for run, pairs in pairs_of_run.items():
        first, second = pairs.reference, pairs.candidate
        lacking = first.within(depth) & ~(
            (first.other_ranks > 0) & (first.other_ranks <= second.lengths[first.query_of_row])
        )
        last = first.score_at(np.full(len(pairs.queries), depth, dtype=np.int64))
        columns_of_second = second.ranks, second.other_ranks, second.scores, second.other_scores
        columns_of_first = first.other_ranks, first.ranks, first.other_scores, first.scores
        for side, rows, (ranks, reference_ranks, scores, reference_scores) in (
            (second, second.within(None), columns_of_second),
            (first, lacking, columns_of_first),
        ):
            rank, reference_rank = ranks[rows], reference_ranks[rows]
            reference_score, owner = reference_scores[rows], side.query_of_row[rows]
            near = (reference_rank > 0) & (reference_rank <= depth)
            positions: list[int] = side.items[rows].tolist()
            details = Details(
                query=[pairs.queries[query] for query in owner.tolist()],
                item=[items[position] for position in positions],
                rank=np.where(rank == 0, np.nan, rank),
                score=scores[rows],
                grade=near.astype(np.float64),
                state=["relevant" if is_near else "nonrelevant" for is_near in near.tolist()],
            )
            cells = (reference_rank, reference_score, reference_score - last[owner])
            texts = [
                json.dumps(
                    {
                        "reference_rank": of_reference or None,
                        "reference_score": None if isnan(similarity) else similarity,
                        "margin": None if isnan(gap) else gap,
                    }
                )
                for of_reference, similarity, gap in zip(
                    *(column.tolist() for column in cells), strict=True
                )
            ]
            parts.append((run, details, texts))
    return detail_columns(parts)
