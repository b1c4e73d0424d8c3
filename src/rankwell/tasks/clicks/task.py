"""Estimates from logs of interactions, and tests by clicks on interleaved lists."""

from rankwell.comparison.pages import present_differences
from rankwell.data.json_types import DifferenceObject, TextObject
from rankwell.task import Presented, Task, TaskInput
from rankwell.tasks.clicks.inputs import evaluate_clicks
from rankwell.tasks.clicks.options import ClickOptions
from rankwell.tasks.clicks.preference import InterleavingTestOptions, evaluate_interleaving

clicks = Task(
    name="clicks",
    about="""Estimate the value of policies from click logs.

Prints IPS, SNIPS, DM, DR and SNDR estimates, and plain click figures.

The log is a table with a row for each item that was shown: the reward (or click) and, for \
estimates, the propensity, the probability that the logging policy showed it. docs/guide/clicks.md \
explains it.""",
    command_lines="""
rankwell clicks log.csv
""",
    options=ClickOptions,
    inputs=(
        TaskInput(
            "log",
            "Table of what was shown: CSV, TSV, Parquet or JSON lines.",
            missing="name the log",
        ),
    ),
    files="summary.csv, summary.json, per_query.parquet, queries.parquet and charts",
    evaluation=lambda log, *, options, **_: evaluate_clicks(log, options=options),
)
credit = Task(
    name="clicks credit",
    about="""Credit clicks on interleaved lists to the two runs.

Tests whether users prefer one of them.

Each impression is won, tied or lost by the rule of the method that made its list. \
docs/guide/clicks.md explains them.""",
    command_lines="""
rankwell clicks credit lists.jsonl clicks.csv
""",
    options=InterleavingTestOptions,
    inputs=(
        TaskInput(
            "lists",
            "File of lists that `rankwell clicks interleave` wrote.",
            missing="name the lists",
        ),
        TaskInput(
            "clicks",
            "Table with the list (or query) and the item of each click; a column `click` if it "
            "also has unclicked items, and a column `impression` if a list was shown more than "
            "once.",
            missing="name the table of clicks",
        ),
    ),
    files="summary.csv, summary.json, per_query.parquet, verdicts.txt, manifest.json and charts",
    evaluation=lambda lists, clicks, *, options, **_: Presented(
        evaluate_interleaving(lists, clicks, options=options), present_differences
    ),
    json_tables={"rows": DifferenceObject, "verdicts": TextObject},
)
