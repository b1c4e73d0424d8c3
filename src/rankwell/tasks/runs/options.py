"""The options of runs against judgments."""

from dataclasses import dataclass
from typing import Annotated, Literal

from rankwell.core.options import (
    ConventionName,
    InputData,
    JudgmentColumns,
    MeasureNames,
    Option,
    RunColumns,
)
from rankwell.core.tables.columns import Duplicates
from rankwell.evaluation.abstention import Confidence
from rankwell.parts.options import PartOptions
from rankwell.stats import Intervals


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The choices that decide the values of `evaluate`.

    Parameters
    ----------
    measures
        A measure such as nDCG@10, AP(rel=2)@100 or a convention's word for one; repeat it for more,
        or separate names by blanks.
    convention
        Whose words and rules: rankwell, trec_eval9, trec_eval10, ranx, beir, mteb, st.
    intervals
        95 % intervals over queries: `bootstrap-t` (exact for values of 0 and 1, else the
        studentised bootstrap, at least as wide as Student's t), `bootstrap` (percentiles),
        Student's `t`, or none.
    ties
        Order of items with equal scores: id-desc, id-asc, input, expected, optimistic, pessimistic,
        error.
    queries
        Which queries count: all of the judgments (one without a ranking counts as empty), all of
        the run, or those in both.
    no_relevant
        A query without anything relevant: counts as for an empty ranking, is left out, or is an
        error.
    unjudged
        Unjudged items: count as not relevant, or are taken out of the ranking. An item with a
        negative grade is judged, except under trec_eval's conventions.
    exclude_self
        Take the item whose id is the query's own out of every ranking; a judgment of it stays.
    duplicates
        An item that a query lists twice: an error, or keep the first or the best-scored.
    min_grade
        The lowest grade that counts as relevant.
    texts
        File of what the queries say (BEIR queries.jsonl, a table with an id column), kept with -o
        for pages and groups.
    judgments_format
        Name of the judgments' format, where content does not determine it: trec, letor, beir, csv,
        tsv, jsonl, json, parquet.
    split
        Split of a folder given as judgments, test unless it is named.
    other_judgments
        Second judgments of the same items, such as their understandability, for uBpref.
    sessions
        Table of queries and their sessions, for measures of sessions: the column of ids is query or
        id, the other is named, as in queries.csv:session, and rows are in order; or a column of
        places is named, too: queries.csv:session,position.
    run_format
        Name of the runs' format, likewise; also letor:FEATURE, msmarco, mteb,
        sentence-transformers.
    confidence
        Whether the scores predict which queries are answered well: adds nAUC and AURC of every
        measure, and AUROC, AUPRC and EP of Success and P@1, by each query's highest score (max),
        the deviation of its scores (std), or the gap between the highest two (diff1); repeat it for
        more.
    seed
        Seed of the bootstrap.
    """

    measures: MeasureNames = None
    convention: ConventionName = "rankwell"
    intervals: Intervals = "bootstrap-t"
    ties: str | None = None
    queries: Literal["truth", "run", "both"] | None = None
    no_relevant: Literal["empty", "skip", "error"] | None = None
    unjudged: Literal["nonrelevant", "skip"] = "nonrelevant"
    exclude_self: bool | None = None
    duplicates: Duplicates = "error"
    min_grade: Annotated[float | None, Option(("--min-grade", "-l"))] = None
    texts: Annotated[InputData, Option(("--query-texts",))] = None
    judgments_format: Annotated[str | None, Option(("--qrels-format",))] = None
    qrels_columns: JudgmentColumns = None
    split: str | None = None
    other_judgments: InputData = None
    sessions: InputData = None
    run_format: str | None = None
    columns: RunColumns = None
    confidence: list[Confidence] | None = None
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(RunOptions, PartOptions):
    """Options of `evaluate`: those of runs, and those of the parts in which it is done."""
