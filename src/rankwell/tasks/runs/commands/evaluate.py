"""Evaluate runs against judgments: a number per measure with its interval, per query if asked.

Judgments and runs may be TREC, BEIR, MS MARCO, JSON, CSV, TSV, JSONL or Parquet files, also .gz and .zst; `-` is standard input.
"""

import sys
from pathlib import Path
from typing import Annotated, Literal

from rankwell import report
from rankwell.core.options import Option
from rankwell.core.registry import split_names
from rankwell.errors import BadUsage
from rankwell.evaluation.results import Results
from rankwell.report.present import (
    ConventionOption,
    FormatOption,
    InputOption,
    InputPlace,
    MeasureOption,
    Output,
    OutputOption,
    PerQueryOption,
    Progress,
)
from rankwell.stats import Intervals
from rankwell.store import refuse_blocked
from rankwell.tasks.runs.evaluation import evaluate as evaluate_runs


def evaluate(
    qrels: InputPlace,
    /,
    *runs: InputPlace,
    measure: MeasureOption = None,
    per_query: PerQueryOption = False,
    format: FormatOption = "table",  # noqa: A002
    output: OutputOption = None,
    convention: ConventionOption = "rankwell",
    intervals: Intervals = "bootstrap",
    ties: str | None = None,
    queries: Literal["truth", "run", "both"] | None = None,
    no_relevant: Literal["empty", "skip", "error"] | None = None,
    unjudged: Literal["nonrelevant", "skip"] = "nonrelevant",
    exclude_self: bool | None = None,
    duplicates: Literal["error", "first", "best"] = "error",
    min_grade: Annotated[float | None, Option(("--min-grade", "-l"))] = None,
    query_texts: InputOption = None,
    qrels_format: str | None = None,
    run_format: str | None = None,
    seed: int = 0,
    progress: Progress = None,
) -> Output:
    """Evaluate runs against judgments: a number per measure with its interval, per query if asked.

    Without -m the convention's own set is reported. The line under the table says by which rules the numbers hold.

    Parameters
    ----------
    qrels
        File of judgments; `-` is standard input.
    runs
        Files of rankings.
    measure
        A measure such as nDCG@10, AP(rel=2)@100 or a convention's word for one; repeat it for more, or separate names by blanks.
    per_query
        One row per query: beside the summary, or instead of it where the format holds one table (csv, tsv, jsonl).
    format
        How to print.
    output
        Folder for summary.csv, summary.json, per_query.parquet, details.parquet, queries.parquet, manifest.json and charts.
    convention
        Whose words and rules: rankwell, trec_eval9, trec_eval10, ranx, beir, mteb, st.
    intervals
        95 % intervals by the bootstrap over queries, by Student's t, or none.
    ties
        Order of items with equal scores: id-desc, id-asc, input, expected, optimistic, pessimistic, error.
    queries
        Which queries count: all of the judgments (one without a ranking counts as empty), all of the run, or those in both.
    no_relevant
        A query without anything relevant: counts as for an empty ranking, is left out, or is an error.
    unjudged
        Items that nobody judged: count as not relevant, or are taken out of the ranking.
    exclude_self
        Take the item whose id is the query's own out of every ranking.
    duplicates
        An item that a query lists twice: an error, or keep the first or the best-scored.
    min_grade
        The lowest grade that counts as relevant.
    query_texts
        File of what the queries say (BEIR queries.jsonl, a table with an id column), kept with -o for pages and groups.
    qrels_format
        Name of the judgments' format, where their content does not tell: trec, beir, csv, tsv, jsonl, json, parquet.
    run_format
        Name of the runs' format, likewise; also msmarco, mteb, sentence-transformers.
    seed
        Seed of the bootstrap.
    """
    if output is not None:
        refuse_blocked(output, folder=True)
    if not runs:
        raise BadUsage("name at least one run after the judgments: rankwell evaluate QRELS RUN...")
    result = evaluate_runs(
        qrels,
        list(runs),
        [name for text in measure or [] for name in split_names(text)] or None,
        convention=convention,
        ties=ties,
        queries=queries,
        no_relevant=no_relevant,
        unjudged=unjudged,
        exclude_self=exclude_self,
        min_grade=min_grade,
        duplicates=duplicates,
        judgments_format=qrels_format,
        run_format=run_format,
        intervals=intervals,
        seed=seed,
        details=output is not None,
        texts=query_texts,
        progress=progress,
    )
    notes = [f"{name}: read as {form}" for name, form in result.formats.items()]
    notes += [*result.notes, *result.interval_notes] if format != "json" else []
    if output is not None:
        write(result, output)
        notes.append(f"wrote {output}/; a page of it: rankwell report {output}")
    return Output(text=render(result, format, per_query=per_query), notes=tuple(notes))


def render(result: Results, format: report.Format, *, per_query: bool = False) -> str:  # noqa: A002
    """The result as text in one of the report's formats."""
    rows = result.per_query() if per_query else None
    notes = [*result.notes, *result.interval_notes]
    return report.render(result.summary, rows, result.describe(), notes, format, terminal=report.terminal_of(sys.stdout))


def write(result: Results, folder: Path) -> None:
    """Writes everything a comparison or a page needs later; each file whole or not at all."""
    report.write_folder(
        folder,
        summary=result.summary,
        values=result.values,
        rules=result.describe(),
        notes=[*result.notes, *result.interval_notes],
        manifest=result.manifest(),
        details=result.details,
        queries=result.queries,
    )
