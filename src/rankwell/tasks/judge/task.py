"""From runs without judgments to a verdict: the commands of a study that print tables."""

from typing import Literal, TypedDict

from rankwell.task import Task, TaskInput
from rankwell.tasks.judge.agreement import print_agreement, print_model_report
from rankwell.tasks.judge.estimation import print_estimates
from rankwell.tasks.judge.options import (
    AgreementOptions,
    EstimateOptions,
    ModelOptions,
    PlanOptions,
    PoolOptions,
)
from rankwell.tasks.judge.planning import print_forecasts
from rankwell.tasks.judge.pooling import print_pool


class _AgreementKind(TypedDict):
    kind: Literal["coefficient", "confusion", "drift", "quarter", "bias", "sign"]
    judge: str


class AgreementObject(_AgreementKind, total=False):
    """An agreement of raters, a cell of their confusion, or the drift, bias or sign of one."""

    against: str | None
    name: str | None
    grade: float | None
    against_grade: float | None
    run: str | None
    other_run: str | None
    model_alone: str | None
    corrected: str | None
    value: float | None
    low: float | None
    high: float | None
    sample: float | None
    above_others: float | None
    seconds: float | None
    items: int | None
    queries: int | None


class EstimateObject(TypedDict):
    """An estimated mean of a run, or the difference of two, with intervals for these queries and
    for queries like them.
    """

    run: str
    against: str | None
    measure: str
    mean: float | None
    these_low: float | None
    these_high: float | None
    like_low: float | None
    like_high: float | None
    level: float
    queries: int
    judged: int
    unknown: int
    better: str | None


class ForecastObject(TypedDict):
    """Half the width of the intervals of a difference after more judgments."""

    run: str
    against: str
    more: int
    judged: int
    these: float
    these_low: float
    these_high: float
    like: float
    like_low: float
    like_high: float


_STUDY = TaskInput("study", "Folder of the study.", missing="name a study")

pool = Task(
    name="judge pool",
    about="""Choose the items to judge, from two or more runs.

Writes a folder, the study, with the items in the order that estimates need.

Then judge with `rankwell judge label`, and ask for the verdict with `rankwell judge estimate`.""",
    command_lines="""
rankwell judge pool bm25.run dense.run -o study
""",
    options=PoolOptions,
    inputs=(
        TaskInput(
            "runs", "Files of two or more runs; with --add, the folder of the study.", many=True
        ),
    ),
    files="the study",
    prints=print_pool,
)
estimate = Task(
    name="judge estimate",
    about="""Estimate which run is better from the judgments so far.

Prints intervals for these queries and for queries like these.

The verdict is about queries like these. Every estimate after new judgments is a look; intervals \
and verdicts are corrected for the planned looks and pairs. Another estimate on the same data is \
the same look.""",
    command_lines="""
rankwell judge estimate study
""",
    options=EstimateOptions,
    inputs=(
        _STUDY,
        TaskInput("runs", "Names or files of pooled runs. [default: all of them]", many=True),
    ),
    prints=print_estimates,
    json_tables={"rows": EstimateObject},
)
plan = Task(
    name="judge plan",
    about="""Forecast what more judgments would bring.

Prints the width of both intervals, and the number of judgments needed to find a difference.

It shows neither a difference nor its sign, so it is not a look. Half-widths are at the level \
corrected for looks and pairs; each is followed by its 5th and 95th percentiles, given the \
judgments so far.""",
    command_lines="""
rankwell judge plan study
""",
    options=PlanOptions,
    inputs=(_STUDY,),
    prints=print_forecasts,
    json_tables={"rows": ForecastObject},
)
agreement = Task(
    name="judge agreement",
    about="""Show how far judges agree.

Agreement with each other, with themselves, with known grades, and over a session.

Figures are weighted by 1/π to represent the whole pool; beside them are those of the judged \
sample. Intervals resample queries with replacement.""",
    command_lines="""
rankwell judge agreement study
""",
    options=AgreementOptions,
    inputs=(_STUDY,),
    prints=print_agreement,
    json_tables={"rows": AgreementObject},
)
llm = Task(
    name="judge llm",
    about="""Ask a language model for grades, and check them.

Keeps every reply, and compares the model's grades with those of people.

Each reply is kept with the digest of the prompt, the model, its parameters and the time; a second \
run asks only what is unanswered. Replies are not judgments: `rankwell judge estimate --model \
NAME` uses them as predictions.""",
    command_lines="""
rankwell judge llm study --url http://localhost:8000/v1 --model NAME
""",
    options=ModelOptions,
    inputs=(_STUDY,),
    prints=print_model_report,
    json_tables={"rows": AgreementObject},
)
