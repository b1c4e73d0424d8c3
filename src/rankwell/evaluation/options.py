"""Options that tasks and commands share; each is declared and documented here alone."""

from dataclasses import dataclass
from typing import Annotated, Literal, get_args

from rankwell.data.columns import Duplicates
from rankwell.data.options import (
    ConventionName,
    Doc,
    IdData,
    Input,
    JudgmentColumns,
    MeasureNames,
    RunColumns,
    Table,
    VectorData,
)
from rankwell.data.tables import Judgments
from rankwell.errors import BadUsage
from rankwell.stats import Intervals

JudgmentData = Annotated[Table | Judgments | None, Input()]
Seed = Annotated[int, Doc("Random seed.", "Statistics")]
Level = Annotated[
    float,
    Doc("Confidence level of two-sided intervals; tests use 1 minus this level.", "Statistics"),
]
Similarity = Annotated[
    Literal["cosine", "dot", "l2"] | None,
    Doc("Similarity of vectors: cosine, dot, or l2 (negative distance). [default: cosine]"),
]
EmbeddingIds = Annotated[
    IdData, Doc("File or column of item ids, for embeddings without ids of their own.")
]
BankOption = Annotated[
    VectorData,
    Doc(
        "Training data for a transform: scores of other queries on the same gallery (querybank), "
        "or vectors of other images instead of the references (whitening)."
    ),
]
PrintedFigures = Annotated[
    list[str] | None,
    Doc(
        "Published percentage to check, such as 70.08: is it possible with this many queries? "
        "Repeat it for more.",
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
            "Order of items with equal scores: id-desc, id-asc, input (also input-desc for "
            "matrices and vectors), expected, optimistic, pessimistic, error. [default: the "
            "convention's]"
        ),
    ] = None
    no_relevant: Annotated[
        Literal["empty", "skip", "error"] | None,
        Doc(
            "A query without relevant items: is scored like an empty ranking, left out (skip), or "
            "an error. [default: the convention's]"
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class IntervalOptions:
    """The intervals beside the means."""

    help_group = "Statistics"

    intervals: Annotated[
        Intervals,
        Doc(
            "95 % confidence intervals over queries: `bootstrap-t` (exact for values of 0 and 1, "
            "otherwise the studentised bootstrap, never narrower than Student's t), `bootstrap` "
            "(percentile), Student's `t`, or none."
        ),
    ] = "bootstrap-t"


@dataclass(frozen=True, kw_only=True)
class StatisticsOptions(IntervalOptions):
    """The intervals beside the means, and their seed."""

    seed: Seed = 0

    def check_intervals(self) -> None:
        """Raises BadUsage for intervals of no known kind, and for a seed below 0."""
        if self.intervals not in get_args(Intervals) or self.seed < 0:
            raise BadUsage(
                f"intervals={self.intervals!r}, seed={self.seed!r}: expected bootstrap-t, "
                "bootstrap, t or none, and a non-negative integer as the seed."
            )


@dataclass(frozen=True, kw_only=True)
class JudgmentFileOptions:
    """How files of relevance judgments are read."""

    help_group = "Input"

    qrels_format: Annotated[
        str | None,
        Doc(
            "Format of the judgments, if their content does not show it: trec, letor, beir, csv, "
            "tsv, jsonl, json, parquet."
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
            "Format of the runs, if their content does not show it; also letor:FEATURE, msmarco, "
            "mteb, sentence-transformers."
        ),
    ] = None
    columns: RunColumns = None


@dataclass(frozen=True, kw_only=True)
class DuplicateOptions:
    """The treatment of items that a query lists twice."""

    help_group = "Input"

    duplicates: Annotated[
        Duplicates,
        Doc(
            "Item listed twice for a query: an error, or keep the first or the highest-scored one."
        ),
    ] = "error"


@dataclass(frozen=True, kw_only=True)
class RunFileOptions(RunFormOptions, DuplicateOptions):
    """How files of runs are read."""
