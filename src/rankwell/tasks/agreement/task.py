"""The share of a reference model's nearest neighbours that other models keep."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from rankwell.data.options import Doc, Option, PartOutcome
from rankwell.errors import BadUsage
from rankwell.reporting.options import InputPlace, Progress
from rankwell.task import Presented, Task, TaskInput
from rankwell.tasks.agreement.evaluation import agreement_results
from rankwell.tasks.agreement.options import AgreementPartOptions
from rankwell.tasks.agreement.printing import show


@dataclass(frozen=True, kw_only=True)
class AgreementCommandOptions(AgreementPartOptions):
    """The options of the command."""

    reference: Annotated[
        InputPlace, Doc("Embeddings by the model whose neighbours are the truth, or a run.")
    ]
    k_values: Annotated[
        list[str] | None, Option(takes_all=True), Doc("Cut-offs, with blanks between them.")
    ] = None
    all_measures: Annotated[
        bool,
        Option(("--all",)),
        Doc(
            "Print every measure in the table, not the main ones alone; other formats and files "
            "always have all."
        ),
    ] = False


def _evaluate(
    candidates: Sequence[str],
    *,
    options: AgreementCommandOptions,
    details: bool,
    progress: Progress,
) -> PartOutcome | Presented:
    # Names of files that follow on the cut-offs are candidates.
    words = options.k_values or []
    cuts = [word for word in words if word.replace(",", "").isdigit()]
    models = [*candidates, *(word for word in words if word not in cuts)]
    if not models:
        raise BadUsage("name at least one candidate: rankwell agree --reference REF CANDIDATE...")
    if words:
        options = replace(options, k=",".join(cuts))
    outcome = agreement_results(
        options.reference, models, options, details=details, progress=progress
    )
    if outcome.result is None:
        return outcome
    return Presented(outcome.result, partial(show, options=options))


agree = Task(
    name="agree",
    about="""Compare models' nearest neighbours with a reference model's: the share that they \
keep, with chance and interval.

The queries are a sample of the items; their neighbours are sought, exactly, among all items. \
Nothing is its own neighbour. Two or more runs are compared likewise, without judgments: \
rankwell agree --reference A.run B.run.""",
    options=AgreementCommandOptions,
    inputs=(
        TaskInput(
            "candidates",
            "Embeddings of the same items by other models, or runs: files, or NAME=PATH; the "
            "others are compared with the first.",
            many=True,
        ),
    ),
    files="summary.csv, summary.json, per_query.parquet, details.parquet, queries.parquet, "
    "manifest.json and charts",
    per_query="Also one row per query.",
    evaluation=_evaluate,
)
