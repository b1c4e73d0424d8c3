"""Measures beyond accuracy."""

from rankwell.task import Task, TaskInput
from rankwell.tasks.beyond.evaluation import evaluate_beyond
from rankwell.tasks.beyond.options import BeyondOptions

beyond = Task(
    name="beyond",
    about="""Measure coverage, novelty, diversity and fairness of lists.

Also serendipity, calibration and exposure of groups.

All retrieved items count, judged or not, and most measures need no judgments. Without -m those \
are reported that the inputs allow. docs/beyond.md explains them.""",
    command_lines="""
rankwell beyond recommended.run --interactions ratings.csv
""",
    options=BeyondOptions,
    inputs=(
        TaskInput(
            "runs",
            "Files of rankings, as for `rankwell evaluate`; name more to compare them.",
            many=True,
            missing="name at least one run",
            usage="RUN...",
        ),
    ),
    files="summary.csv, summary.json, per_query.parquet, queries.parquet and charts",
    evaluation=lambda runs, *, options, **_: evaluate_beyond(runs, options=options),
)
