"""Options that tasks and commands share; each is declared and documented here alone."""

from dataclasses import dataclass
from typing import Annotated

from rankwell.data.columns import Duplicates
from rankwell.data.options import (
    ConventionName,
    Doc,
    JudgmentColumns,
    MeasureNames,
    Option,
    RunColumns,
)
from rankwell.stats import Intervals


@dataclass(frozen=True, kw_only=True)
class MeasureOptions:
    """The measures that are reported. A task documents which it has.

    measures: names of measures, one or several; None for the convention's.
    convention: name of the convention whose words, rules and units apply.
    """

    measures: MeasureNames = None
    convention: ConventionName = "rankwell"


@dataclass(frozen=True, kw_only=True)
class StatisticsOptions:
    """The intervals beside the means."""

    intervals: Annotated[
        Intervals,
        Doc(
            "95 % intervals over queries: `bootstrap-t` (exact for values of 0 and 1, else the "
            "studentised bootstrap, at least as wide as Student's t), `bootstrap` (percentiles), "
            "Student's `t`, or none."
        ),
    ] = "bootstrap-t"
    seed: Annotated[int, Doc("Seed of the bootstrap.")] = 0


@dataclass(frozen=True, kw_only=True)
class JudgmentFileOptions:
    """How files of relevance judgments are read."""

    judgments_format: Annotated[
        str | None,
        Option(("--qrels-format",)),
        Doc(
            "Name of the judgments' format, where their content does not show it: trec, letor, "
            "beir, csv, tsv, jsonl, json, parquet."
        ),
    ] = None
    qrels_columns: JudgmentColumns = None


@dataclass(frozen=True, kw_only=True)
class RunFileOptions:
    """How files of runs are read."""

    run_format: Annotated[
        str | None,
        Doc(
            "Name of the runs' format, where their content does not show it; also letor:FEATURE, "
            "msmarco, mteb, sentence-transformers."
        ),
    ] = None
    columns: RunColumns = None
    duplicates: Annotated[
        Duplicates,
        Doc("An item that a query lists twice: an error, or keep the first or the best-scored."),
    ] = "error"
