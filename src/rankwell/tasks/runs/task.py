"""Runs against relevance judgments."""

from collections.abc import Sequence
from dataclasses import fields

from rankwell.data.registry import measure_names
from rankwell.errors import typed
from rankwell.task import Task, TaskInput
from rankwell.tasks.runs.evaluation import evaluate_runs
from rankwell.tasks.runs.options import EvaluateOptions

_SHARED = {"measures", "convention", "intervals", "seed"}
"""The options that a comparison of the same files does not need, or is given as well."""


def _compare(words: Sequence[str], options: EvaluateOptions) -> str:
    """The command that compares the runs, where it would read the files as this one did."""
    changed = {
        field.name for field in fields(options) if getattr(options, field.name) != field.default
    }
    if len(words) < 3 or not changed <= _SHARED:
        return ""
    chosen = ["-c", str(options.convention)] if "convention" in changed else []
    if names := measure_names(options.measures):
        chosen += ["-m", ",".join(names)]
    return typed("rankwell", "compare", *words, *chosen)


evaluate = Task(
    name="evaluate",
    about="""Score runs against relevance judgments.

Each mean comes with its interval; --per-query adds the values of each query.

Without -m, the convention's own measures are reported. --verbose adds the rules by which the \
numbers were computed.""",
    command_lines="""
rankwell evaluate qrels.txt bm25.run dense.run
rankwell evaluate qrels.txt bm25.run -m nDCG@10,RR --per-query
""",
    options=EvaluateOptions,
    inputs=(
        TaskInput(
            "qrels",
            "File of judgments (TREC, CSV, or JSON lines with gold_docs), a folder of a data set, "
            "or irds:ID; `-` is standard input.",
            missing="name the judgments",
        ),
        TaskInput(
            "runs",
            "Files of rankings (TREC, CSV, or JSON lines with chunks), as FILE or name=FILE. A "
            "folder, or the address of one (`s3://bucket/runs/`), is one run in several files. A "
            "Parquet file whose column `run` names several is that many runs; FILE:RUN selects "
            "one.",
            many=True,
            missing="name at least one run after the judgments",
            usage="RUN...",
        ),
    ),
    files="summary.csv, summary.json, per_query.parquet, details.parquet, queries.parquet, "
    "manifest.json and charts",
    evaluation=evaluate_runs,
    next_step=_compare,
)
