"""Runs against relevance judgments."""

from rankwell.task import Task, TaskInput
from rankwell.tasks.runs.evaluation import evaluate_runs
from rankwell.tasks.runs.options import EvaluateOptions

evaluate = Task(
    name="evaluate",
    about="""Evaluate runs against judgments: a number per measure with its interval, per query if \
asked.

Without -m the convention's own set is reported. The line under the table lists the rules by which \
the numbers were computed.""",
    options=EvaluateOptions,
    inputs=(
        TaskInput(
            "qrels",
            "File of judgments, a folder of a data set, or irds:ID; `-` is standard input.",
            missing="name the judgments",
        ),
        TaskInput(
            "runs",
            "Files of rankings. A folder is one run, whose rows lie in its files; so is an address "
            "of one (`s3://bucket/runs/`). A Parquet file whose column `run` names several is that "
            "many runs, FILE:RUN one of them.",
            many=True,
            missing="name at least one run after the judgments",
            usage="RUN...",
        ),
    ),
    files="summary.csv, summary.json, per_query.parquet, details.parquet, queries.parquet, "
    "manifest.json and charts",
    evaluation=evaluate_runs,
    advice="for its HTML page: rankwell report",
)
