"""Estimates from logs of interactions."""

from rankwell.task import Task, TaskInput
from rankwell.tasks.logs.evaluation import evaluate_logs
from rankwell.tasks.logs.options import LogOptions

logs = Task(
    name="logs",
    about="""Estimate the value of policies from a log of what another policy showed: IPS, SNIPS, \
DM, DR, SNDR, and plain click figures.

The log is a table with a row for each item that was shown: the reward (or click), and for \
estimates the propensity, the probability with which the logging policy showed it. docs/logs.md \
explains it.""",
    options=LogOptions,
    inputs=(
        TaskInput(
            "log",
            "Table of what was shown: CSV, TSV, Parquet or JSON lines.",
            missing="name the log",
        ),
    ),
    files="summary.csv, summary.json, per_query.parquet, queries.parquet and charts",
    evaluation=lambda log, *, options, **_: evaluate_logs(log, options=options),
)
