"""The share of a reference model's nearest neighbours that other models keep."""

from dataclasses import dataclass
from typing import Annotated

from rankwell.data.options import Doc
from rankwell.reporting.options import InputPlace
from rankwell.task import Task, TaskInput
from rankwell.tasks.embeddings.evaluation import evaluate_candidates
from rankwell.tasks.embeddings.options import EmbeddingOptions


@dataclass(frozen=True, kw_only=True)
class EmbeddingCommandOptions(EmbeddingOptions):
    """The options of the command."""

    reference: Annotated[
        InputPlace,
        Doc("Embeddings by the reference model, whose neighbours are the truth, or a run."),
    ]


embeddings = Task(
    name="embeddings",
    about="""Compare embedding models by their nearest neighbours.

To reproduce Scholar Stream: -c scholar-stream.

Prints the share of a reference model's neighbours that each model keeps, with chance level and \
interval.

The queries are a sample of the items; their exact neighbours are found among all items. No item \
is its own neighbour. Two or more runs are compared in the same way, without judgments: rankwell \
embeddings --reference A.run B.run.""",
    command_lines="""
rankwell embeddings --reference large.npy small.npy
""",
    options=EmbeddingCommandOptions,
    inputs=(
        TaskInput(
            "candidates",
            "Embeddings of the same items by other models, or runs: files, or NAME=PATH; the "
            "others are compared with the first.",
            many=True,
            missing="name at least one candidate",
            usage="--reference REF CANDIDATE...",
        ),
    ),
    files="summary.csv, summary.json, per_query.parquet, details.parquet, queries.parquet, "
    "manifest.json and charts",
    evaluation=evaluate_candidates,
)
