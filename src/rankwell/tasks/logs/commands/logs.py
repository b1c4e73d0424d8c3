"""Estimate the value of policies from a log of what another policy showed: IPS, SNIPS, DM, DR,
SNDR, and plain click figures.
"""

from rankwell.report.present import (
    FolderOption,
    FormatOption,
    InputPlace,
    Output,
    PerQueryOption,
    present,
)
from rankwell.tasks.logs.evaluation import evaluate_logs
from rankwell.tasks.logs.options import LogOptions


def logs(
    log: InputPlace,
    /,
    *,
    options: LogOptions,
    per_query: PerQueryOption = False,
    format: FormatOption = "table",
    output: FolderOption = None,
) -> Output:
    """Estimate the value of policies from a log of what another policy showed: IPS, SNIPS, DM, DR,
    SNDR, and plain click figures.

    The log is a table with a row for each item that was shown: the reward (or click), and for
    estimates the propensity, the probability with which the logging policy showed it. docs/logs.md
    explains it.

    Parameters
    ----------
    log
        Table of what was shown: CSV, TSV, Parquet or JSON lines.
    per_query
        Also each query's values.
    output
        Folder for summary.csv, summary.json, per_query.parquet, queries.parquet and charts.
    """
    if output is not None:
        from rankwell.report.drafts import refuse_unclaimed

        refuse_unclaimed(output)
    return present(
        evaluate_logs(log, options=options), format=format, per_query=per_query, output=output
    )
