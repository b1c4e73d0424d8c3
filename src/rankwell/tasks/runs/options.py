"""The options of runs against judgments."""

from dataclasses import dataclass
from typing import Annotated, Literal

from rankwell.data.options import (
    ConventionName,
    Doc,
    MappingData,
    MeasureNames,
    Option,
    PartOptions,
    QueryTexts,
)
from rankwell.evaluation.bounds import Confidence
from rankwell.evaluation.options import (
    JudgmentData,
    JudgmentFileOptions,
    MeasureOptions,
    RunFileOptions,
    StatisticsOptions,
    TieOptions,
)


@dataclass(frozen=True, kw_only=True)
class JudgedRunOptions(TieOptions, RunFileOptions, JudgmentFileOptions):
    """The choices that decide how judgments and runs are read, and what counts."""

    convention: Annotated[
        ConventionName,
        Doc(
            "Convention for names and rules: rankwell, trec_eval9, trec_eval10, ranx, beir, mteb, "
            "st."
        ),
    ] = "rankwell"
    average_over: Annotated[
        Literal["judged", "run", "both"] | None,
        Doc(
            "Queries to average over: all judged queries (one without a ranking counts as empty), "
            "all queries of the run, or those in both. [default: the convention's]"
        ),
    ] = None
    unjudged: Annotated[
        Literal["nonrelevant", "skip"],
        Doc(
            "Unjudged items: count as not relevant, or are removed from the ranking. An item with "
            "a negative grade is judged, except under trec_eval's conventions."
        ),
    ] = "nonrelevant"
    exclude_self: Annotated[bool, Doc("Leave out the item with the query's own id.")] = False
    min_grade: Annotated[
        float | None,
        Option(("--min-grade", "-l")),
        Doc(
            "The lowest grade that counts as relevant. [default: the `rel` of a measure, which is "
            "1 unless you set it]"
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class RunOptions(JudgedRunOptions, StatisticsOptions, MeasureOptions):
    """The choices that decide the values of `evaluate`."""

    measures: Annotated[
        MeasureNames,
        Doc(
            "Measures, separated by commas, such as nDCG@10,AP(rel=2)@100, or a convention's "
            "names for them. [default: the convention's]"
        ),
    ] = None
    queries: QueryTexts = None
    other_qrels: Annotated[
        JudgmentData,
        Doc("Second judgments of the same items, such as their understandability, for uBpref."),
    ] = None
    sessions: Annotated[
        MappingData,
        Doc(
            "Table of queries and their sessions, for session measures: ids are in the column "
            "query or id; name the other, as in queries.csv:session, with rows in order, or also "
            "a column of positions: queries.csv:session,position."
        ),
    ] = None
    confidence: Annotated[
        list[Confidence] | Confidence | None,
        Doc(
            "Whether the scores predict which queries are answered well: adds nAUC and AURC of "
            "every measure, and AUROC, AUPRC and EP of Success and P@1, by each query's highest "
            "score (max), the deviation of its scores (std), or the gap between the two highest "
            "(diff1); repeat it for more."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(RunOptions, PartOptions):
    """Options of `evaluate`: those of runs, and those of the parts in which it is done."""
