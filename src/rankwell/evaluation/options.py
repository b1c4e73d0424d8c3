"""Options that tasks and commands share; each is declared and documented here alone."""

from dataclasses import dataclass
from typing import Annotated, Literal

from rankwell.data.columns import Duplicates
from rankwell.data.options import (
    ConventionName,
    Doc,
    InputData,
    JudgmentColumns,
    MeasureNames,
    RunColumns,
)
from rankwell.stats import Intervals

Seed = Annotated[int, Doc("Seed of everything that is drawn.", "Statistics")]
Level = Annotated[
    float, Doc("Level of the two-sided intervals; tests are at 1 minus this level.", "Statistics")
]
Similarity = Annotated[
    Literal["cosine", "dot", "l2"] | None,
    Doc("Similarity of vectors: cosine, dot, or l2 (negative distance). [default: cosine]"),
]
EmbeddingIds = Annotated[
    InputData, Doc("File or column of the items' ids, for embeddings that have none of their own.")
]
BankOption = Annotated[
    InputData,
    Doc(
        "What a transform learns on: scores of other queries with the same gallery (querybank), or "
        "vectors of other images in place of the references (whitening)."
    ),
]
PrintedFigures = Annotated[
    list[str] | None,
    Doc(
        "A printed share in percent, such as 70.08: is it possible with as many queries? Repeat it "
        "for more.",
        "Statistics",
    ),
]


@dataclass(frozen=True, kw_only=True)
class MeasureOptions:
    """The measures to report. Each task documents its own.

    measures: names of measures, one or several; None for the defaults of the convention.
    convention: name of the convention whose words, rules and units apply.
    """

    measures: MeasureNames = None
    convention: ConventionName = "rankwell"


@dataclass(frozen=True, kw_only=True)
class TieOptions:
    """The treatment of ties, and of queries without anything relevant."""

    ties: Annotated[
        str | None,
        Doc(
            "Order of items with equal scores: id-desc, id-asc, input (of matrices and vectors "
            "input-desc, too), expected, optimistic, pessimistic, error. [default: the "
            "convention's]"
        ),
    ] = None
    no_relevant: Annotated[
        Literal["empty", "skip", "error"] | None,
        Doc(
            "A query without anything relevant: counts as for an empty ranking, is left out "
            "(skip), or is an error. [default: the convention's]"
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class IntervalOptions:
    """The intervals beside the means."""

    help_group = "Statistics"

    intervals: Annotated[
        Intervals,
        Doc(
            "95 % intervals over queries: `bootstrap-t` (exact for values of 0 and 1, else the "
            "studentised bootstrap, at least as wide as Student's t), `bootstrap` (percentiles), "
            "Student's `t`, or none."
        ),
    ] = "bootstrap-t"


@dataclass(frozen=True, kw_only=True)
class StatisticsOptions(IntervalOptions):
    """The intervals beside the means, and their seed."""

    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class JudgmentFileOptions:
    """How files of relevance judgments are read."""

    help_group = "Input"

    qrels_format: Annotated[
        str | None,
        Doc(
            "Name of the judgments' format, where their content does not show it: trec, letor, "
            "beir, csv, tsv, jsonl, json, parquet."
        ),
    ] = None
    qrels_columns: JudgmentColumns = None


@dataclass(frozen=True, kw_only=True)
class RunFormOptions:
    """The form of files of runs."""

    help_group = "Input"

    run_format: Annotated[
        str | None,
        Doc(
            "Name of the runs' format, where their content does not show it; also letor:FEATURE, "
            "msmarco, mteb, sentence-transformers."
        ),
    ] = None
    columns: RunColumns = None


@dataclass(frozen=True, kw_only=True)
class DuplicateOptions:
    """The treatment of items that a query lists twice."""

    help_group = "Input"

    duplicates: Annotated[
        Duplicates,
        Doc("An item that a query lists twice: an error, or keep the first or the best-scored."),
    ] = "error"


@dataclass(frozen=True, kw_only=True)
class RunFileOptions(RunFormOptions, DuplicateOptions):
    """How files of runs are read."""
